"""Which URLs of a site are versions of each other, where the language of each page is known; for any number of languages.

Pages whose URLs differ in their language marks alone are settled at once. What is left of two languages goes through
the two rounds of `matching`, which learn the habits of the site from the settled pairs, too.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from bitrawl.languages import same_language
from bitrawl.model import Language
from bitrawl.url import Url
from bitrawl.urls.marked_tokens import MarkedTokens, read_tokens
from bitrawl.urls.marks import abbreviates
from bitrawl.urls.sitewide.candidates import KeysOfUrls, UrlNumbers
from bitrawl.urls.sitewide.matching import MatchingModels, bundled_models, first_round, second_round
from bitrawl.urls.sitewide.site_urls import SiteUrls

# Judgements.
SETTLED = 0.99  # Score of two URLs that differ in their marks alone; the models give most of them 0.98 to 1.
LEAST = 0.1  # Score below which nothing is said.
_SHOWN = 1000  # Settled pairs of two languages that the habits of the site are learned from.

TwoLanguages = tuple[Language, Language]


class Marks(IntEnum):
    """What the marks of a URL say of the language that its page is in."""

    CONTRARY = 0  # they name others
    NONE = 1
    OWN = 2


class ReadUrl(NamedTuple):
    """What settles a URL: its words and numbers without marks, hashed, and its marks."""

    bare: int
    marks: Marks


class Versions:
    """The URLs of a site, each with the language of its page."""

    def __init__(
        self, urls: Sequence[Url], languages: Sequence[Language], models: MatchingModels | None = None
    ) -> None:
        self._urls, self._languages = urls, languages
        self._models = models or bundled_models()
        self._by_language: defaultdict[Language, list[int]] = defaultdict(list)
        for number in sorted(range(len(urls)), key=urls.__getitem__):
            self._by_language[languages[number]].append(number)
        self._settled, self._spare = _settled(_read(urls, languages), languages)

    def scores(self, known: Iterable[UrlNumbers] = ()) -> dict[UrlNumbers, float]:
        """For pairs of URLs in two languages, the smaller number first: 0 to 1. Pairs that are `known` teach the habits."""
        taught: defaultdict[TwoLanguages, list[UrlNumbers]] = defaultdict(list)
        for pair in known:
            taught[_in_order(*(self._languages[number] for number in pair))].append(pair)
        keys = KeysOfUrls()
        found: dict[UrlNumbers, float] = {}
        for two in combinations(sorted(self._by_language), 2):
            found.update(dict.fromkeys(self._settled.get(two, ()), SETTLED))
            found.update(self._judged(two, taught.get(two, ()), keys))
        return found

    def _judged(self, two: TwoLanguages, known: Sequence[UrlNumbers], keys: KeysOfUrls) -> Mapping[UrlNumbers, float]:
        """What the models say of the URLs that are not settled."""
        settled = self._settled.get(two, [])
        done = {number for pair in settled for number in pair} | self._spare.get(two, set())
        left = [[number for number in self._by_language[language] if number not in done] for language in two]
        if not all(left):
            return {}
        shown = settled[:: 1 + len(settled) // _SHOWN]
        numbers = sorted((*left[0], *left[1], *(end for pair in shown for end in pair)), key=self._urls.__getitem__)
        place = {number: at for at, number in enumerate(numbers)}
        view = SiteUrls(
            [self._urls[number] for number in numbers],
            two,
            {self._urls[number]: self._languages[number] for number in numbers},
            [_ordered(place[a], place[b]) for a, b in shown],
        )
        inside = [_ordered(place[a], place[b]) for a, b in known if a in place and b in place]
        return {
            _ordered(numbers[a], numbers[b]): score
            for (a, b), score in _two_rounds(view, self._models, inside, keys)
            if score >= LEAST
        }


def _two_rounds(
    view: SiteUrls, models: MatchingModels, known: Sequence[UrlNumbers], keys: KeysOfUrls
) -> Iterator[tuple[UrlNumbers, float]]:
    pairs, rows = first_round(view, keys)
    scores = dict(zip(pairs, models.first.probability(rows).tolist(), strict=True))
    scores.update(dict.fromkeys(view.settled or (), SETTLED))
    pairs, rows = second_round(view, scores, known, keys)
    return zip(pairs, models.second.probability(rows).tolist(), strict=True)


def _read(urls: Sequence[Url], languages: Sequence[Language]) -> list[ReadUrl]:
    """What all URLs have, like the .de of a host, is no mark."""
    common: set[str] | None = None
    marked: list[list[tuple[str, Language]]] = []
    bare: list[int] = []
    for url in urls:
        one = read_tokens(url)
        common = set(one.tokens) if common is None else common.intersection(one.tokens)
        marked.append([(token, mark) for token, mark in zip(one.tokens, one.marks, strict=True) if mark])
        bare.append(hash(one.bare))
    everywhere = common if common and len(urls) > 1 else set()
    return [
        ReadUrl(key, _marks([mark for token, mark in marks if token not in everywhere], language))
        for key, marks, language in zip(bare, marked, languages, strict=True)
    ]


def _marks(marks: Sequence[Language], language: Language) -> Marks:
    if not marks:
        return Marks.NONE
    return Marks.OWN if any(_names(mark, language) for mark in marks) else Marks.CONTRARY


@lru_cache(maxsize=4096)
def _names(mark: Language, language: Language) -> bool:
    return same_language(mark, language) or same_language(language, mark) or abbreviates(mark, language)


def _settled(
    read: Sequence[ReadUrl], languages: Sequence[Language]
) -> tuple[dict[TwoLanguages, list[UrlNumbers]], dict[TwoLanguages, set[int]]]:
    """By languages: the pairs that differ in their marks alone, with no third; and copies that pass for another language.

    At least one of the two must name its language, and neither may name only others.
    """
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for number, one in enumerate(read):
        groups[one.bare].append(number)
    pairs: defaultdict[TwoLanguages, list[UrlNumbers]] = defaultdict(list)
    spare: defaultdict[TwoLanguages, set[int]] = defaultdict(set)
    for group in groups.values():
        proper: defaultdict[Language, list[int]] = defaultdict(list)
        copies: defaultdict[Language, list[int]] = defaultdict(list)
        for number in group:
            (copies if read[number].marks is Marks.CONTRARY else proper)[languages[number]].append(number)
        alone = sorted((language, numbers[0]) for language, numbers in proper.items() if len(numbers) == 1)
        for (first, a), (second, b) in combinations(alone, 2):
            if Marks.OWN in (read[a].marks, read[b].marks):
                pairs[first, second].append(_ordered(a, b))
                spare[first, second].update(copies.get(first, ()), copies.get(second, ()))
    return pairs, spare


def _in_order(first: Language, second: Language) -> TwoLanguages:
    return (first, second) if first < second else (second, first)


def _ordered(a: int, b: int) -> UrlNumbers:
    return (a, b) if a < b else (b, a)
