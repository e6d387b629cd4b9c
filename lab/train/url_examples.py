"""Sites whose pairs are known, to learn from and to measure by: WMT16's training hosts, MDN, site packs, made-up ids."""

import csv
import gzip
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bitrawl.model import Language
from bitrawl.url import Url
from bitrawl.urls.site_urls import SiteUrls
from lab.train.site_packs import known_pairs
from lab.train.url_negatives import UrlPair

# Judgement, all of these: no source may speak for the web.
_MDN_PAIRS = 160  # of one locale that make a site
_MDN_UNTRANSLATED = 0.08  # the share of MDN's pairs that is kept where the slug is the English one: most are
_PACK_PAIRS = 150
_PACK_LEAST = 20  # pairs of two languages, to be taken of a pack; more than so many
_FOREIGN = 120  # URLs in other languages beside them
_NUMBERED = 24  # made-up sites


class Example(NamedTuple):
    """The pairs of a site, and URLs in other languages that are about as well."""

    site: str
    source: str
    languages: tuple[Language, Language]
    pairs: tuple[UrlPair, ...]
    others: tuple[Url, ...] = ()


class Case(NamedTuple):
    """A list of URLs as a matcher gets it, and the pairs that it should find, by their numbers."""

    example: Example
    view: SiteUrls
    gold: frozenset[tuple[int, int]]


def case_of(example: Example, *, loss: float = 0.0, seed: int = 1) -> Case:
    """`loss` is the share of pairs that lose their first URL, and the share that lose their second."""
    rng = random.Random(seed)  # noqa: S311 (repeatable, not secret)
    urls = dict.fromkeys(example.others)
    kept = []
    for a, b in example.pairs:
        chance = rng.random()
        if chance >= 2 * loss:
            kept.append((a, b))
        urls |= dict.fromkeys([a] if chance < loss else [b] if chance < 2 * loss else [a, b])
    order = sorted(urls)
    rng.shuffle(order)
    numbers = {url: number for number, url in enumerate(order)}
    gold = {(min(numbers[a], numbers[b]), max(numbers[a], numbers[b])) for a, b in kept if a != b}
    return Case(example, SiteUrls(order, example.languages, {}), frozenset(gold))


def wmt16(path: Path) -> list[Example]:
    """One site a host of `wmt16-train.pairs.tsv`."""
    hosts: defaultdict[str, list[UrlPair]] = defaultdict(list)
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            a, b = Url.parse(row["url_en"]), Url.parse(row["url_fr"])
            hosts[a.host].append((a, b))
    languages = (Language("en"), Language("fr"))
    return [Example(host, "wmt16", languages, tuple(pairs)) for host, pairs in sorted(hosts.items())]


def mdn(path: Path, seed: int = 7) -> list[Example]:
    """Two sites a locale, mostly of pages with translated slugs; in the second the language is not marked."""
    rng = random.Random(seed)  # noqa: S311 (repeatable, not secret)
    locales: defaultdict[str, list[tuple[Url, Url, bool]]] = defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["translated_slug"] == "1" or rng.random() < _MDN_UNTRANSLATED:
                entry = (Url.parse(row["url_en"]), Url.parse(row["url"]), row["translated_slug"] == "1")
                locales[row["locale"]].append(entry)
    found = []
    for locale, entries in sorted(locales.items()):
        languages = (Language("en"), Language(locale.partition("-")[0]))
        step = _MDN_PAIRS // 2
        starts = rng.sample(range(0, max(step, len(entries) - _MDN_PAIRS), step), 2) if len(entries) > 2 * step else [0]
        for number, start in enumerate(starts):
            chosen = sorted(entries)[start : start + _MDN_PAIRS]
            pairs = [(a, b) for a, b, _ in chosen]
            if number:
                pairs = [(_without(a, "en-US"), _without(b, locale)) for a, b, translated in chosen if translated]
            found.append(Example("mdn", "mdn", languages, tuple((a, b) for a, b in pairs if a != b)))
    return found


def packs(folder: Path, seed: int = 3) -> list[Example]:
    """Of each site two language pairs with English; beside the second, URLs in its other languages."""
    rng = random.Random(seed)  # noqa: S311 (repeatable, not secret)
    found = []
    for truth in sorted(folder.glob("*/truth.tsv")):
        pairs: defaultdict[tuple[str, str], list[UrlPair]] = defaultdict(list)
        urls: defaultdict[str, set[Url]] = defaultdict(set)
        for row in known_pairs(truth):
            pairs[row.lang_a, row.lang_b].append((row.url_a, row.url_b))
            urls[row.lang_a].add(row.url_a)
            urls[row.lang_b].add(row.url_b)
        usable = [languages for languages in sorted(pairs) if "en" in languages and len(pairs[languages]) > _PACK_LEAST]
        for number, (first, second) in enumerate(rng.sample(usable, min(2, len(usable)))):
            known = pairs[first, second]
            others = sorted(url for language, some in urls.items() if language not in (first, second) for url in some)
            beside = rng.sample(others, min(_FOREIGN, len(others))) if number else []
            chosen = tuple(rng.sample(known, min(_PACK_PAIRS, len(known))))
            languages = (Language(first), Language(second))
            found.append(Example(truth.parent.name, "packs", languages, chosen, tuple(beside)))
    return found


def numbered(count: int = _NUMBERED, seed: int = 11) -> list[Example]:
    """Made up: sites that number the pages of their languages in runs, which no public data has enough of.

    The forms, sizes and chances are judgement.
    """
    rng = random.Random(seed)  # noqa: S311 (repeatable, not secret)
    found = []
    for number in range(count):
        a, b = (
            Language(code)
            for code in rng.choice(("en fr", "en de", "es en", "pt it", "nl en", "pl cs", "en ru")).split()
        )
        form = rng.choice(("/{}node/{}", "/{}article.php?id={}", "/x/{}view-{}.html", "/{}docs/doc{}.htm"))
        marks = rng.choice(((f"{a}/", f"{b}/"), ("", f"{b}/"), ("", f"{b}/"), (f"{a}/", "")))
        host = f"http://numbered{number}.test"
        pairs = [
            (Url.parse(host + form.format(marks[0], one)), Url.parse(host + form.format(marks[1], other)))
            for one, other in _runs(rng, rng.choice((20, 40, 80)))
        ]
        found.append(Example(f"numbered{number % 5}", "numbered", (a, b), tuple(pairs)))
    return found


def _runs(rng: random.Random, count: int) -> Iterator[tuple[int, int]]:
    a = rng.randrange(10, 3000)
    b = rng.choice((rng.randrange(10, 3000), a + rng.randrange(1, 400), a + rng.randrange(2000, 20000)))
    breaks = rng.choice((1, 2, 4, 8)) / count
    for _ in range(count):
        if rng.random() < breaks:
            a, b = a + rng.randrange(1, 60), b + rng.randrange(1, 60)
        yield a, b
        step = rng.choice((1, 1, 1, 2, 3))
        a, b = a + step, b + (step if rng.random() < 0.9 else rng.choice((1, 2, 4)))


def all_examples(data: Path) -> list[Example]:
    """Of all that is in the folder, or for the site packs beside it."""
    found = wmt16(data / "wmt16-train.pairs.tsv")
    if (path := data / "mdn-url-pairs.tsv.gz").exists():
        found += mdn(path)
    for folder in (data / "sites", data.parent / "sites"):
        found += packs(folder)
    return found + numbered()


def hard_negatives(path: Path) -> list[tuple[UrlPair, bool]]:
    """WMT16's pairs of similar content, and whether they are translations."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [((Url.parse(row["url_a"]), Url.parse(row["url_b"])), row["label"] == "1") for row in rows]


def _without(url: Url, locale: str) -> Url:
    return Url.known(url.replace(f"/{locale}/", "/", 1))


def sampled(pairs: Sequence[UrlPair], count: int, rng: random.Random) -> list[UrlPair]:
    """At most so many."""
    return rng.sample(list(pairs), min(count, len(pairs)))
