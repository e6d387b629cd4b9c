"""Sites whose URLs differ in one way, made up on real lists of URLs.

Public lists have few sites for each kind, and none without marks for most. The made-up sites take the URLs of a real
host in one language and change them in one way, with strings drawn by chance, so that a kind can be left out of the
training data and measured.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from bitrawl.model import UNDETERMINED, Language
from bitrawl.url import Url
from bitrawl.urls import mark_language
from bitrawl.urls.tokens import marked_tokens
from lab.train.url_examples import Example
from lab.train.url_kinds import Kind
from lab.train.url_negatives import UrlPair

MADE_UP = "made up"  # the source of such an example


MADE_UP_KINDS = tuple(kind for kind in Kind if kind not in {Kind.SLUG, Kind.NONE})


Change = Callable[[str], str]  # of what comes after the host
_LANGUAGES = ("en fr", "en de", "es en", "pt it", "nl en", "pl cs", "en ru", "fi sv", "en ja", "fr ar")
_LETTERS = ("bcdfghklmnprstvwz", "aeiouy")
_EXTENSION = re.compile(r"(?:\.\w{2,5})?$")
# Words of addresses that are no language's name, as against strings by chance: a third of the sites has them.
_WORDS = [
    "site",
    "start",
    "portal",
    "v2",
    "new",
    "old",
    "web",
    "info",
    "public",
    "general",
    "data",
    "area",
    "zone",
    "mobile",
    "text",
    "plain",
    "view",
    "set",
    "group",
    "east",
    "west",
    "north",
    "alpha",
    "beta",
    "one",
    "two",
    "b2b",
    "int",
    "ext",
    "cms",
    "www2",
    "docs",
    "pages",
    "content",
    "base",
    "int1",
    "abroad",
    "domestic",
    "visitors",
    "guests",
]


_ONE_TABLE = 10  # steps that are small enough for one table of pages


class _Base(NamedTuple):
    """The pages of one language of a real host, without marks; the host apart."""

    site: str
    paths: tuple[str, ...]


def made_up(examples: Sequence[Example], kinds: Iterable[Kind] = MADE_UP_KINDS, seed: int = 5) -> list[Example]:
    """For each host with pages enough one site of each kind."""
    bases = list(_bases(examples))
    found = []
    for kind in kinds:
        rng = random.Random(f"{seed} {kind}")  # noqa: S311 (repeatable, not secret)
        found += [example for base in bases if (example := _site(kind, base, rng)) is not None]
    return found


def is_made_up(example: Example) -> bool:
    return example.source.startswith(MADE_UP)


def made_up_kind(example: Example) -> Kind:
    """Of an example that `made_up` made."""
    return Kind(example.source.removeprefix(f"{MADE_UP}, "))


def _bases(examples: Sequence[Example]) -> Iterator[_Base]:
    pages: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for example in examples:
        if example.source == "numbered":
            continue
        place = [str(language) for language in example.languages].index("en")
        for pair in example.pairs:
            pages[example.site][unmarked(pair[place])] = None
    for site, paths in sorted(pages.items()):
        usable = sorted({path.strip("/") for path in paths} - {""})
        if len(usable) >= 4:
            yield _Base(site, tuple(usable))


def unmarked(url: Url) -> str:
    """After the host, without the tokens that name a language."""
    one = marked_tokens(url)
    kept = [token for token, mark in zip(one.tokens, one.marks, strict=True)][one.host_end :]
    marks = one.marks[one.host_end :]
    text = "".join("\0" if mark else token for token, mark in zip(kept, marks, strict=True))
    text = re.sub(r"[?&]\w+=\0", lambda match: match[0][0], text)
    return re.sub(r"[?&]+$", "", re.sub(r"([?&])&+", r"\1", re.sub(r"[-_.]?\0", "", text).replace("//", "/")))


def _site(kind: Kind, base: _Base, rng: random.Random) -> Example | None:
    """As many pages as sites of WMT16 have: few, most often."""
    a, b = map(Language, rng.choice(_LANGUAGES).split())
    count = min(len(base.paths), rng.choice((5, 8, 12, 20, 40, 80)))
    paths = rng.sample(base.paths, count)
    others = _distractors(paths, rng)
    pairs, alone = _MAKERS[kind](paths, others, (a, b), rng)
    host = f"{base.site.removeprefix('www.')}"
    known = dict.fromkeys(_pair(host, one, other) for one, other in pairs)
    usable = tuple(pair for pair in known if pair[0] != pair[1])
    ends = Counter(url for pair in usable for url in pair)
    usable = tuple(pair for pair in usable if all(ends[url] == 1 for url in pair))
    beside = [Url.parse(_address(host, path)) for path in alone]
    if len(usable) < 3:
        return None
    return Example(base.site, f"{MADE_UP}, {kind}", (a, b), usable, tuple(url for url in beside if url not in ends))


def _pair(host: str, one: str, other: str) -> UrlPair:
    return Url.parse(_address(host, one)), Url.parse(_address(host, other))


def _address(host: str, path: str) -> str:
    """A path that begins with its own subdomain has it before a bar."""
    label, bar, rest = path.partition("|")
    name = f"{label}{host}" if bar else f"www.{host}"
    return f"http://{name}/{(rest if bar else path).lstrip('/')}"


def _distractors(paths: Sequence[str], rng: random.Random) -> list[str]:
    """Pages of one language that sites have beside their texts: pages of lists, months, categories, items."""
    stem = rng.choice(("news", "archive", "list", "blog", "search", "items"))
    count = rng.choice((0, 2, 5, max(2, len(paths) // 4)))
    return [_distractor(kind, number, stem, rng) for kind in rng.sample(range(4), 2) for number in range(count)]


def _distractor(kind: int, number: int, stem: str, rng: random.Random) -> str:
    if kind == 0:
        return f"{stem}?page={number + 1}"
    if kind == 1:
        return f"{stem}/{2008 + number // 12}/{number % 12 + 1:02}"
    if kind == 2:
        return f"category/{string_by_chance(rng, 4, 8)}"
    return f"{stem}/{string_by_chance(rng, 3, 7)}-{rng.randrange(100, 9999)}.html"


def string_by_chance(rng: random.Random, low: int, high: int, *, glued: bool = False) -> str:
    """One that can be spoken, most often, and that names no language, unless it is glued to a name: then it is no mark."""
    while True:
        size = rng.randint(low, high)
        text = "".join(rng.choice(_LETTERS[(place + rng.randrange(5) // 4) % 2]) for place in range(size))
        if glued or mark_language(text) == UNDETERMINED:
            return text


def name_by_chance(rng: random.Random, low: int = 2, high: int = 9) -> str:
    """Of a directory or a parameter."""
    while True:
        name = rng.choice(_WORDS) if rng.random() < 0.35 else string_by_chance(rng, low, high)
        if mark_language(name) == UNDETERMINED:
            return name


Made = tuple[list[tuple[str, str]], list[str]]
Maker = Callable[[Sequence[str], Sequence[str], tuple[Language, Language], random.Random], Made]


def _by(ends: Callable[[tuple[Language, Language], random.Random], tuple[Change, Change]]) -> Maker:
    """Distractors are changed as the pages of one language are, or the other, never both."""

    def make(
        paths: Sequence[str], others: Sequence[str], languages: tuple[Language, Language], rng: random.Random
    ) -> Made:
        first, second = ends(languages, rng)
        pairs = [(first(path), second(path)) for path in paths]
        return pairs, [rng.choice((first, second))(path) for path in others]

    return make


def _unchanged(path: str) -> str:
    return path


def _one_or_both(one: Change, other: Change, rng: random.Random, alone: float = 0.5) -> tuple[Change, Change]:
    """Most often one of the languages is the default, and has nothing."""
    ends = [one, _unchanged if rng.random() < alone else other]
    rng.shuffle(ends)
    return ends[0], ends[1]


def _marked(languages: tuple[Language, Language], rng: random.Random) -> tuple[Change, Change]:
    form = rng.choice(("{0}/{1}", "{0}/{1}", "{1}_{0}", "{1}lang={0}", "{0}.|{1}"))
    ends: list[Change] = []
    for language in languages:
        if form == "{1}_{0}":
            ends.append(_glue(f"_{language}", before=False))
        elif form == "{1}lang={0}":
            ends.append(_with_parameter("lang", str(language), first=False))
        else:
            ends.append(_formatted(form, str(language)))
    return _one_or_both(ends[0], ends[1], rng, 0.3)


def _formatted(form: str, text: str) -> Change:
    return lambda path: form.format(text, path)


def _parameter(_: tuple[Language, Language], rng: random.Random) -> tuple[Change, Change]:
    value = rng.choice((str(rng.randint(0, 12)), string_by_chance(rng, 1, 6)))
    added = _with_parameter(name_by_chance(rng, 1, 6), value, first=rng.random() < 0.3)
    return _one_or_both(added, _unchanged, rng)


def _value(_: tuple[Language, Language], rng: random.Random) -> tuple[Change, Change]:
    name, first = name_by_chance(rng, 1, 6), rng.random() < 0.3
    values = (
        rng.sample(range(10), 2) if rng.random() < 0.5 else [string_by_chance(rng, 1, 3), string_by_chance(rng, 4, 7)]
    )
    one, other = (_with_parameter(name, str(value), first=first) for value in values)
    return one, other


def _with_parameter(name: str, value: str, *, first: bool) -> Change:
    def change(path: str) -> str:
        start, mark, query = path.partition("?")
        added = f"{name}={value}"
        return (
            f"{start}?{added}" + (f"&{query}" if query else "")
            if first
            else (f"{path}&{added}" if mark else f"{path}?{added}")
        )

    return change


def _glued(_: tuple[Language, Language], rng: random.Random) -> tuple[Change, Change]:
    before = rng.random() < 0.4
    separator = rng.choice(("", "", "_", "-"))
    size = rng.choice((1, 2, 2, 3, 4))
    capitals = rng.random() < 0.2
    glued = not separator and not capitals
    texts = [
        string_by_chance(rng, size, size, glued=glued),
        string_by_chance(rng, size, size + rng.randrange(4) // 3, glued=glued),
    ]
    while texts[0] == texts[1]:
        texts[1] = string_by_chance(rng, size, size, glued=glued)
    texts = [text.upper() if capitals else text for text in texts]
    texts = [f"{text}{separator}" if before else f"{separator}{text}" for text in texts]
    one, other = (_glue(text, before=before) for text in texts)
    return _one_or_both(one, other, rng)


def _glue(text: str, *, before: bool) -> Change:
    """To the name of the last segment."""

    def change(path: str) -> str:
        start, mark, query = path.partition("?")
        folder, slash, name = start.rpartition("/")
        extension = _EXTENSION.search(name)
        stem, end = (name[: extension.start()], extension[0]) if extension and extension.start() else (name, "")
        name = f"{text}{stem}{end}" if before else f"{stem}{text}{end}"
        return f"{folder}{slash}{name}{mark}{query}"

    return change


def _directory(_: tuple[Language, Language], rng: random.Random) -> tuple[Change, Change]:
    return _one_or_both(_within(name_by_chance(rng), rng.choice((0, 0, 0, 1, -1))), _unchanged, rng, 1.0)


def _substituted(_: tuple[Language, Language], rng: random.Random) -> tuple[Change, Change]:
    place = rng.choice((0, 0, 0, 1, -1))
    one, other = name_by_chance(rng), name_by_chance(rng)
    while one == other:
        other = name_by_chance(rng)
    return _within(one, place), _within(other, place)


def added_folder(name: str) -> Change:
    """At the beginning of the path."""
    return _within(name, 0)


def glued_letters(text: str) -> Change:
    """At the end of the page's name."""
    return _glue(text, before=False)


def _within(name: str, place: int) -> Change:
    def change(path: str) -> str:
        start, mark, query = path.partition("?")
        segments = start.split("/")
        at = min(place, len(segments) - 1) if place >= 0 else len(segments) - 1
        return "/".join([*segments[:at], name, *segments[at:]]) + mark + query

    return change


def _hosts(_: tuple[Language, Language], rng: random.Random) -> tuple[Change, Change]:
    one, other = (_formatted("{0}.|{1}", name_by_chance(rng)) for _ in range(2))
    return _one_or_both(one, other, rng)


def _mixed(languages: tuple[Language, Language], rng: random.Random) -> tuple[Change, Change]:
    makers = (_parameter, _value, _glued, _directory, _substituted)
    (one, other), (further, last) = (maker(languages, rng) for maker in rng.sample(makers, 2))
    return (lambda path: further(one(path))), (lambda path: last(other(path)))


def _numbers(*, constant: bool) -> Maker:
    """Pages known by a number: the sides differ in a mark or in a habit without one, and in their numbers."""

    def make(
        paths: Sequence[str], others: Sequence[str], languages: tuple[Language, Language], rng: random.Random
    ) -> Made:
        form = rng.choice(("{0}node/{1}", "{0}article.php?id={1}", "{0}view-{1}.html", "{0}docs/doc{1}.htm"))
        folder = paths[0].rpartition("/")[0]
        form = f"{folder}/{form}" if folder and "?" not in folder and rng.random() < 0.5 else form
        ends = rng.choice((_marked, _marked, _substituted, _directory, _value, _parameter))(languages, rng)
        numbers = _constant_steps(rng, len(paths)) if constant else _varying_steps(rng, len(paths))
        first, second = ends
        pairs = [(first(form.format("", a)), second(form.format("", b))) for a, b in numbers]
        return pairs, [rng.choice(ends)(path) for path in others]

    return make


def _constant_steps(rng: random.Random, count: int) -> list[tuple[int, int]]:
    """Of one table, where a number is given to one page only, by small steps; of two by any."""
    number, step = rng.randrange(5, 4000), rng.choice((1, 1, 2, 10, 100, 1000, rng.randrange(3, 3000)))
    found: list[tuple[int, int]] = []
    given: set[int] = set()
    while len(found) < count:
        if step > _ONE_TABLE or given.isdisjoint((number, number + step)):
            found.append((number, number + step))
            given.update(found[-1])
        number += rng.choice((1, 1, 1, 2, 3, 5, 9))
    return found


def _varying_steps(rng: random.Random, count: int) -> list[tuple[int, int]]:
    """Numbers given out as pages are written: a translation soon after its original, other pages between them."""
    number = rng.randrange(5, 4000)
    found = []
    for _ in range(count):
        step = rng.choice((1, 1, 1, 2, 2, 3, 4))
        found.append((number, number + step) if rng.random() < 0.9 else (number + step, number))
        number += step + rng.choice((1, 1, 2, 3, 5, 8, 13))
    return found


_MAKERS: dict[Kind, Maker] = {
    Kind.MARK: _by(_marked),
    Kind.PARAMETER: _by(_parameter),
    Kind.VALUE: _by(_value),
    Kind.GLUED: _by(_glued),
    Kind.DIRECTORY: _by(_directory),
    Kind.SUBSTITUTED: _by(_substituted),
    Kind.HOST: _by(_hosts),
    Kind.STEP: _numbers(constant=True),
    Kind.STEPS: _numbers(constant=False),
    Kind.MIXED: _by(_mixed),
}
