"""The URLs of a site, and what each of them is by itself and beside the others."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Language
from bitrawl.url import Url
from bitrawl.urls.marked_tokens import PAGE_WORDS, MarkedTokens, is_word, marked_tokens
from bitrawl.urls.parallel.comparison import Comparison, compare
from bitrawl.urls.sitewide import sides
from bitrawl.urls.sitewide.candidates import UrlNumbers
from bitrawl.urls.sitewide.ordering import Placed

ChangePattern = tuple[tuple[str, str], ...]
# Judgement; the models of both rounds were trained with those that make features.
_SURELY = 0.6  # of a third language: then it is no candidate
_BY_WORDS = 0.4  # weight of what the words of a URL say of its side, where a mark has 1
_BY_COMPARISON = 0.5  # the same of what the comparison with its partner says
_SEPARATORS = frozenset("/*-_.")
_GLUED = 4  # letters that a habit puts before a name, or after it
_ALNUM = re.compile(r"[^\W_]+")


class SiteUrls:
    """The URLs of a site, which of two languages each seems to be in, and the comparisons made among them."""

    def __init__(
        self,
        urls: Sequence[Url],
        languages: tuple[Language, Language],
        language_of: Mapping[Url, Language],
        settled: Sequence[UrlNumbers] | None = None,
    ) -> None:
        """If the language of every URL is known, `settled` are the pairs that need no judge; otherwise None."""
        self.urls, self.languages, self.settled = urls, languages, settled
        self.tokens = [marked_tokens(url) for url in urls]
        self.frequency = Counter(token for one in self.tokens for token in set(one.tokens))
        self.carriers = Carriers(self.tokens, self.frequency)
        self.contents = [
            frozenset(token for token in one.tokens if token.isalnum() and token not in PAGE_WORDS)
            for one in self.tokens
        ]
        self.told = [sides.side_of(language_of[url], languages) if url in language_of else 0 for url in urls]
        self._read_sides()
        self.sides = self.marked
        self.ordered: dict[UrlNumbers, Placed] = {}
        self._runs: dict[int, float] = {}
        self.templates = [_template(one) for one in self.tokens]
        self._comparisons: dict[UrlNumbers, Comparison] = {}

    def _read_sides(self) -> None:
        """What marks and words say of each URL's language, unless all is known."""
        none = [0.0] * len(self.urls)
        if self.settled is not None:
            self.third = [False] * len(self.urls)
            self.marked, self.worded, self.foreign = [*map(float, self.told)], none, none
            return
        third, marked = sides.in_third(self.tokens, self.languages), sides.by_marks(self.tokens, self.languages)
        self.third = [third and not told for told, third in zip(self.told, third, strict=True)]
        self.marked = [
            0.0 if third else told or side for told, third, side in zip(self.told, self.third, marked, strict=True)
        ]
        self.worded = sides.by_words(self.tokens, self.languages)
        self.foreign = sides.foreign(self.tokens, self.languages, self.marked)

    def comparison(self, pair: UrlNumbers) -> Comparison:
        """Made once for each two."""
        found = self._comparisons.get(pair)
        if found is None:
            found = compare(self.tokens[pair[0]], self.tokens[pair[1]], self.languages)
            self._comparisons[pair] = found
        return found

    def pattern(self, pair: UrlNumbers) -> ChangePattern:
        """In what the two differ; numbers that run side by side all differ in the same way."""
        pattern = self.comparison(pair).pattern
        if pair not in self.ordered:
            return pattern
        return tuple(("#", "#") if old.isdecimal() and new.isdecimal() else (old, new) for old, new in pattern)

    def place(self, ordered: Mapping[UrlNumbers, Placed]) -> None:
        """Numbered pages that run side by side, beside those that are known."""
        for pair, placed in ordered.items():
            self.ordered[pair] = placed.beside(self.ordered.get(pair, placed))
        self._runs = {}
        for pair, placed in self.ordered.items():
            for end in pair:
                self._runs[end] = max(self._runs.get(end, 0.0), placed.run * min(1.0, placed.odds))

    def displaced(self, pair: UrlNumbers) -> float:
        """How well numbers run side by side that give one of the two another partner."""
        return 0.0 if pair in self.ordered else max(self._runs.get(end, 0.0) for end in pair)

    def certain(self) -> dict[int, UrlNumbers]:
        """By its two numbers each pair that differs in its marks alone, one of each language, when no third is so."""
        if self.settled is not None:
            return {end: pair for pair in self.settled for end in pair}
        alike: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        for number, one in enumerate(self.tokens):
            if not self.third[number]:
                alike[one.bare].append(number)
        pairs = ((group[0], group[1]) for group in alike.values() if len(group) == 2)
        return {end: pair for pair in pairs if self.marked[pair[0]] * self.marked[pair[1]] < 0 for end in pair}

    def plausible(self, pairs: Iterable[UrlNumbers]) -> list[UrlNumbers]:
        """Without those that are in one language, or in a third."""
        return [(a, b) for a, b in pairs if not self._one_language(a, b)]

    def _one_language(self, a: int, b: int) -> bool:
        if self.told[a] and self.told[b]:
            return self.told[a] == self.told[b]
        if self.marked[a] * self.marked[b] >= 1 or max(self.foreign[a], self.foreign[b]) > _SURELY:
            return True
        return self.third[a] or self.third[b]

    def learn_sides(self, matched: Sequence[UrlNumbers]) -> None:
        """From partners that are known, on to all URLs."""
        if self.settled is not None:
            return
        known = np.array(self.marked, np.float64) + _BY_WORDS * np.array(self.worded, np.float64)
        for a, b in matched:
            side = _BY_COMPARISON * self.comparison((a, b)).side
            known[a] += side
            known[b] -= side
        self.sides = sides.by_partners(self.tokens, known, matched)

    def apart(self, pair: UrlNumbers) -> bool:
        """Whether marks, or what is told, set the two in different languages."""
        return self.comparison(pair).side != 0 or self.marked[pair[0]] * self.marked[pair[1]] < 0

    def direction(self, pair: UrlNumbers) -> float:
        """Positive when the first of the two is in the first language, as far as is known."""
        return self.comparison(pair).side + self.sides[pair[0]] - self.sides[pair[1]]


class Carriers:
    """How many URLs of a site have a text that a change takes out, puts in or replaces; and which."""

    def __init__(self, urls: Sequence[MarkedTokens], frequency: Mapping[str, int]) -> None:
        self._urls, self._frequency = urls, frequency
        self._glued: Counter[str] | None = None
        self._parameters: Counter[str] | None = None

    def count(self, text: str) -> float:
        """0 for no text."""
        if text in self._frequency:
            return self._frequency[text]
        if not text:
            return 0.0
        if text.startswith("^") or text.endswith("$"):
            return self._by_glue()[text]
        if "=" in text and (found := self._by_parameter()[text]):
            return found
        parts = [self._frequency[token] for token in _ALNUM.findall(text) if token in self._frequency]
        return min(parts, default=0.0)

    def have(self, text: str) -> NDArray[np.bool_]:
        """Of each URL, whether it has the text."""
        return np.array([_has(one, text) for one in self._urls], bool)

    def _by_glue(self) -> Counter[str]:
        if self._glued is None:
            self._glued = Counter()
            for token, count in self._frequency.items():
                if is_word(token):
                    for size in range(1, min(_GLUED, len(token) - 1) + 1):
                        self._glued[f"^{token[:size]}"] += count
                        self._glued[f"{token[-size:]}$"] += count
        return self._glued

    def _by_parameter(self) -> Counter[str]:
        if self._parameters is None:
            self._parameters = Counter(
                parameter for one in self._urls if "?" in one.tokens for parameter in _parameters(one.tokens)
            )
        return self._parameters


def _parameters(tokens: Sequence[str]) -> list[str]:
    return "".join(tokens[tokens.index("?") + 1 :]).split("&") if "?" in tokens else []


def _has(one: MarkedTokens, text: str) -> bool:
    if text.startswith("^"):
        return any(len(token) > len(text) - 1 and token.startswith(text[1:]) for token in one.tokens)
    if text.endswith("$"):
        return any(len(token) > len(text) - 1 and token.endswith(text[:-1]) for token in one.tokens)
    if text.isalnum():
        return text in one.tokens
    return text in _parameters(one.tokens) if "=" in text else text in "".join(one.tokens)


def _template(one: MarkedTokens) -> tuple[str, ...]:
    """Numbers and the last segment's words masked: what pages of one kind have in common."""
    words = [("#" if token.isdecimal() else token) for token in one.tokens]
    last = len(words) - words[::-1].index("/") if "/" in words else 0
    kept = words[:last] + ["*" if is_word(token) and "?" not in words[last:] else token for token in words[last:]]
    return tuple(token for token, mark in zip(kept, one.marks, strict=True) if token not in _SEPARATORS and not mark)


def pairs_by_template(view: SiteUrls, numbers: Iterable[int], limit: int) -> list[UrlNumbers]:
    """All pairs of one side with the other among those numbers, by template, as long as they are not too many."""
    groups: defaultdict[object, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for number in numbers:
        if view.sides[number]:
            groups[view.templates[number]][view.sides[number] < 0].append(number)
    found = []
    for first, second in groups.values():
        if len(first) * len(second) <= limit:
            found += [(min(a, b), max(a, b)) for a, b in product(first, second)]
    return found
