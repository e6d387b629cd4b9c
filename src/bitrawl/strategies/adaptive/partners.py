"""Pairs of one site as they come in: which visited pages are translations of each other, by a glance at each.

The pairs of the corpus are found later, from all pages and all evidence (pair/). Here the question is only whether a
visit paid, asked after each of them: two addresses that declarations, marks, learned patterns or aligned links of
paired pages put side by side, and two texts of different languages, similar length and similar build.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from rapidfuzz.distance import Indel

from bitrawl.languages import claimed_language, same_language
from bitrawl.model import UNDETERMINED, Alternate, Language, Page
from bitrawl.url import Url
from bitrawl.urls.marks import named_languages, skeleton

NEAR = 6  # bits of 64 in which the signatures of a page and of its untranslated copy differ at most
MIN_RATIO = 0.25  # of the lengths of two texts; scripts without an alphabet need a third of the characters
MIN_LIKENESS = 0.35  # of the fingerprints of two pages: anything below was chance on the site packs
MAX_FINGERPRINT = 600  # letters that are compared
MAX_BUCKET = 12  # addresses of one key that are looked at
MAX_BESIDE = 4  # addresses that stood beside one
MAX_HOPS = 5  # redirects
MAX_ALIGNED = 1500  # tags of a page that are aligned


@dataclass(slots=True)
class Sketch:
    """What is remembered of a visited page."""

    language: Language  # one of those asked for, or "und"
    length: int = 0
    signature: int = 0
    fingerprint: str = ""
    partners: set[Url] = field(default_factory=set)
    declares: bool = False  # versions in other languages, whichever
    places: tuple[tuple[int, Url], ...] = ()  # links by their place in the tag sequence, until it is paired
    tags: tuple[str, ...] = ()


class Couples:
    """What a site's addresses and visited pages say of each other, for two languages or more."""

    def __init__(self, languages: Sequence[Language]) -> None:
        self.languages = tuple(languages)
        self.visited: dict[Url, Sketch | None] = {}  # None for what came to nothing
        self.pairs: set[tuple[Url, Url]] = set()
        self.examined = 0
        self._buckets: dict[str, list[Url]] = defaultdict(list)
        self._keys: dict[Url, tuple[str, ...]] = {}
        self._marks: dict[Url, tuple[Language, ...]] = {}
        self._declared: dict[Url, set[Url]] = defaultdict(set)
        self._beside: dict[Url, set[Url]] = defaultdict(set)
        self._aliases: dict[Url, Url] = {}
        self._claims: dict[Url, Language] = {}

    def meet(self, url: Url) -> None:
        """An address that was not known."""
        if url in self._keys:
            return
        keys = tuple(dict.fromkeys(skeleton(url, language) for language in self._named(url) or [UNDETERMINED]))
        self._keys[url] = keys
        for key in keys:
            self._buckets[key].append(url)

    def key(self, url: Url) -> str:
        """What is left of a known address without the marks of its language."""
        return self._keys[url][0]

    def marks(self, url: Url) -> tuple[Language, ...]:
        """Those of the languages asked for that the address names."""
        return self._named(url)

    def declare(self, group: Iterable[Url]) -> None:
        """Somebody names these as versions of each other."""
        urls = list(islice(dict.fromkeys(group), MAX_BUCKET))
        for url in urls:
            known = self._declared[url]
            known.update(islice((other for other in urls if other != url), max(0, MAX_BUCKET - len(known))))

    def moved(self, old: Url, new: Url) -> None:
        """An address that redirects: what was said of it is said of its target."""
        self._aliases[old] = new
        for relation in (self._declared, self._beside):
            relation[new] |= relation.get(old, set()) - {new}

    def candidates(self, url: Url) -> Iterator[Url]:
        """Addresses that may be the other version of that one, the best evidence first; visited or not."""
        seen = {url}
        for found in (*sorted(self._declared.get(url, ())), *self._same_key(url)):
            landed = self._landed(found)
            if landed not in seen:
                seen.add(landed)
                yield landed
        if len(seen) == 1:
            yield from sorted(self._beside.get(url, ()))

    def is_beside(self, url: Url) -> bool:
        """Whether only its place on paired pages says what its partner may be."""
        return url in self._beside and not self._declared.get(url) and next(self._same_key(url), None) is None

    def _landed(self, url: Url) -> Url:
        for _ in range(MAX_HOPS):
            url = self._aliases.get(url, url)
        return url

    def _same_key(self, url: Url) -> Iterator[Url]:
        mine = self._named(url)
        for key in self._keys.get(url, ()):
            yield from (found for found in self._buckets[key][:MAX_BUCKET] if self._named(found) != mine)

    def twins(self, url: Url) -> Iterator[Url]:
        """Other spellings of the address: with or without a slash at the end, an index file, an extension."""
        mine = self._named(url)
        for key in self._keys.get(url, ()):
            yield from (
                other for other in self._buckets[key][:MAX_BUCKET] if other != url and self._named(other) == mine
            )

    def is_declared(self, url: Url) -> bool:
        """Whether something names it as a version of another page."""
        return bool(self._declared.get(url))

    def missed(self, url: Url) -> None:
        """A visit that brought no page."""
        self.visited.setdefault(url, None)

    def arrived(self, page: Page) -> list[Url]:
        """A page was visited: the partners that it finds among those before it."""
        language = next((wanted for wanted in self.languages if same_language(page.language, wanted)), UNDETERMINED)
        self.meet(page.url)
        text = sum(len(p.text) for p in page.paragraphs if not p.boilerplate)
        sketch = Sketch(language, text, page.signature, page.fingerprint[:MAX_FINGERPRINT])
        self.visited[page.url] = sketch
        sketch.declares = any(other.url != page.url for other in page.alternates)
        self._listen(page)
        if language == UNDETERMINED or not self._as_claimed(page.url, language):
            return []
        sketch.places = tuple((link.position, link.url) for link in page.links if 0 <= link.position < MAX_ALIGNED)
        sketch.tags = page.tags[:MAX_ALIGNED]
        found = []
        for other in list(self.candidates(page.url)):
            seen = self.visited.get(other)
            if seen is None or not self._open(sketch, seen):
                continue
            self.examined += 1
            if alike(sketch, seen):
                self.pairs.add((page.url, other))
                sketch.partners.add(other)
                seen.partners.add(page.url)
                found.append(other)
                self._align(sketch, seen)
        return found

    def waits(self, other: Url, url: Url) -> bool:
        """Whether the visited page `other` may find its partner at that address.

        It must be what its own address and declarations say, and not in the language that the other address names: an
        English text below /tr/ waits for nothing, and its original below /en/ has no Turkish version.
        """
        sketch = self.visited.get(other)
        if sketch is None or sketch.language == UNDETERMINED or not self._as_claimed(other, sketch.language):
            return False
        named = self._named(other)
        if (named and sketch.language not in named) or sketch.language in self._named(url):
            return False
        return len(sketch.partners) < len(self.languages) - 1

    def silent(self, other: Url, url: Url) -> bool:
        """Whether a visited page names its translations, and that address is none of them."""
        sketch = self.visited.get(other)
        return sketch is not None and sketch.declares and url not in self._declared.get(other, ())

    def paired(self, url: Url) -> bool:
        """Whether that visited page has a partner."""
        sketch = self.visited.get(url)
        return sketch is not None and bool(sketch.partners)

    def _listen(self, page: Page) -> None:
        """What the page says of its own translations, as far as they are wanted."""
        for other in self.wanted(page.alternates):
            if other != page.url:
                self.declare((page.url, other))

    def wanted(self, alternates: Iterable[Alternate]) -> list[Url]:
        """Those that may be in a language asked for; what is claimed of each is remembered."""
        found = []
        for alternate in alternates:
            claimed = claimed_language(alternate.language) if alternate.language else UNDETERMINED
            if claimed != UNDETERMINED:
                self._claims.setdefault(alternate.url, claimed)
            if claimed == UNDETERMINED or any(same_language(claimed, wanted) for wanted in self.languages):
                found.append(alternate.url)
        return found

    def claim(self, url: Url) -> Language:
        """The language that a page or a sitemap says it is in; "und" where nobody says."""
        return self._claims.get(url, UNDETERMINED)

    def _as_claimed(self, url: Url, language: Language) -> bool:
        """An English page that is declared French is an original that nobody translated."""
        claimed = self.claim(url)
        return claimed == UNDETERMINED or same_language(claimed, language)

    def _open(self, a: Sketch, b: Sketch) -> bool:
        """Two languages that are asked for, and neither page has a partner in the other's yet."""
        if UNDETERMINED in (a.language, b.language) or a.language == b.language:
            return False
        return not any(
            (seen := self.visited.get(partner)) and seen.language == other.language
            for one, other in ((a, b), (b, a))
            for partner in one.partners
        )

    def _align(self, a: Sketch, b: Sketch) -> None:
        """Links at the same place of two paired pages may lead to another pair (Liu et al., section 5)."""
        for first, second in aligned_links(a.tags, a.places, b.tags, b.places):
            # The links of a menu are known to stand so from the pairs before.
            if second in self._beside.get(first, ()) and first in self._beside.get(second, ()):
                continue
            if first != second and first.site == second.site:
                for one, other in ((first, second), (second, first)):
                    if len(self._beside[one]) < MAX_BESIDE:
                        self._beside[one].add(other)
        if len(self.languages) == 2:  # neither has another partner to find
            a.places = b.places = ()
            a.tags = b.tags = ()

    def _named(self, url: Url) -> tuple[Language, ...]:
        found = self._marks.get(url)
        if found is None:
            named = named_languages(url)
            found = tuple(wanted for wanted in self.languages if any(same_language(mark, wanted) for mark in named))
            self._marks[url] = found
        return found


class Measured(Protocol):
    """A text by its measures."""

    @property
    def length(self) -> int:
        """In characters."""
        ...

    @property
    def signature(self) -> int:
        """As `Page.signature`."""
        ...


def comparable(a: Measured, b: Measured) -> bool:
    """Whether two texts have similar lengths, and are not nearly the same: an untranslated copy is no translation."""
    shorter, longer = sorted((a.length, b.length))
    return shorter > 0 and shorter >= MIN_RATIO * longer and (a.signature ^ b.signature).bit_count() > NEAR


def alike(a: Sketch, b: Sketch) -> bool:
    """Whether two texts in different languages may be translations: length, build, and not the same text."""
    return comparable(a, b) and Indel.normalized_similarity(a.fingerprint, b.fingerprint) >= MIN_LIKENESS


def aligned_links(
    tags_a: Sequence[str],
    places_a: Sequence[tuple[int, Url]],
    tags_b: Sequence[str],
    places_b: Sequence[tuple[int, Url]],
) -> Iterator[tuple[Url, Url]]:
    """Targets of links that stand at the same place once the tag sequences are aligned."""
    names = {tag: chr(number + 32) for number, tag in enumerate(dict.fromkeys([*tags_a, *tags_b]))}
    first = "".join([names[tag] for tag in tags_a])
    second = "".join([names[tag] for tag in tags_b])
    targets_a, targets_b = dict(places_a), dict(places_b)
    linked = sorted(targets_a)
    for block in Indel.opcodes(first, second):
        if block.tag != "equal":
            continue
        shift = block.dest_start - block.src_start
        for place in linked[bisect_left(linked, block.src_start) : bisect_left(linked, block.src_end)]:
            target = targets_b.get(place + shift)
            if target is not None:
                yield targets_a[place], target
