"""The URLs of a site, and what each of them is by itself and beside the others.

Which of two languages each URL of a site is in, its side: by marks, by words, and by the partners that are known.

A side is a number from 1, surely the first language, to -1, surely the second.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from pathlib import Path

import langcodes
import numpy as np

from bitrawl.languages import claimed_language, same_language
from bitrawl.model import Language
from bitrawl.model_files import model_file
from bitrawl.text.arrays import Bools, Floats
from bitrawl.text.language import LanguageNgrams, sample
from bitrawl.url import Url
from bitrawl.urls.pair_model import UrlComparison, compare
from bitrawl.urls.site_candidates import NumberFit, UrlNumbers
from bitrawl.urls.tokens import PAGE_WORDS, MarkedTokens, abbreviates, is_word, marked_tokens

Sides = list[float]  # 1 for the first language, -1 for the second, 0 for no idea

# All judgement; the models of both rounds were trained with them.
_SCALE = 300.0  # of the difference of log-likelihoods: two or three words that are clearly of one language
_ROUNDS = 10  # of spreading; sides hardly move after them
_SURELY = 0.6  # share of a mark's URLs that show it to be one of a third language
_OUTWEIGHED = 4  # how many times one language is marked oftener than the other, where unmarked means the other
_UNMARKED = 0.5  # how surely it does
_BY_TOKENS, _BY_PARTNER = 1.5, 0.5  # weights of what a URL's tokens and its partner say of its side
_FIRST_GUESS = 0.5  # side of the URLs that have the token which tells most, where nothing is known


def by_marks(urls: Sequence[MarkedTokens], languages: tuple[Language, Language]) -> Sides:
    """Of a site that marks one of the languages only, what is unmarked is in the other, more likely than not.

    What all URLs have tells none of them apart: the .de of a host in both languages.
    """
    common = _on_all(urls) if len(urls) > 1 else frozenset()
    marked = [
        sum(
            side_of(mark, languages)
            for token, mark in zip(one.tokens, one.marks, strict=True)
            if mark and token not in common
        )
        for one in urls
    ]
    sides = [float((side > 0) - (side < 0)) for side in marked]
    first, second = sides.count(1.0), sides.count(-1.0)
    unmarked = _UNMARKED * ((second > _OUTWEIGHED * first) - (first > _OUTWEIGHED * second))
    return [side or unmarked for side in sides]


def foreign(urls: Sequence[MarkedTokens], languages: tuple[Language, Language], marked: Sides) -> list[float]:
    """How surely each is in a third language, by its marks.

    A mark that is no language's here (/de/ for "documents") stands alone; one of a third language stands beside the
    versions in the two languages that are asked for.
    """
    versions: defaultdict[tuple[str, ...], set[float]] = defaultdict(set)
    for one, side in zip(urls, marked, strict=True):
        if not _third(one, languages):
            versions[one.bare].add(float(np.sign(side)))
    beside: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    thirds = [_third(one, languages) for one in urls]
    for one, names in zip(urls, thirds, strict=True):
        (beside if {1.0, -1.0} <= versions.get(one.bare, set()) else alone).update(names)
    return [max((beside[name] / (beside[name] + alone[name] + 1) for name in names), default=0.0) for names in thirds]


def in_third(urls: Sequence[MarkedTokens], languages: tuple[Language, Language]) -> list[bool]:
    """Which are surely in a third language: marked so, on a site where that mark tells versions apart.

    A mark does when it stands where others name a language that is asked for (/deutsch/ and /english/), or when the
    same address is there without it (/de/x and /x); one that a mark of the two goes with (/fr/it/) is a word.
    """
    common = _on_all(urls)
    marked = [any(side_of(mark, languages) for mark in one.marks if mark) for one in urls]
    unmarked = {1, -1} - {side_of(mark, languages) for one in urls for mark in one.marks if mark}
    thirds = [
        [
            place
            for place in _third_places(one, languages, common)
            if _country_side(one, place, languages) not in unmarked
        ]
        for one in urls
    ]
    slots = {slot for one in urls for slot in _slots(one, languages)}
    versions: defaultdict[tuple[str, ...], list[frozenset[str]]] = defaultdict(list)
    for one, places in zip(urls, thirds, strict=True):
        versions[one.bare].append(frozenset(one.tokens[place] for place in places))
    telling: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    for one, places, asked in zip(urls, thirds, marked, strict=True):
        for place in places:
            name = one.tokens[place]
            in_slot = one.whole[place] and one.tokens[:place] in slots
            tells = not asked and (in_slot or any(name not in others for others in versions[one.bare]))
            (telling if tells else alone)[name] += 1
    sure = {name for name, count in telling.items() if count / (count + alone[name] + 0.5) > _SURELY}
    return [
        not asked and any(one.tokens[place] in sure for place in places)
        for one, places, asked in zip(urls, thirds, marked, strict=True)
    ]


def _third_places(one: MarkedTokens, languages: tuple[Language, Language], common: frozenset[str]) -> list[int]:
    """Where a third language may be named; what all URLs have names none."""
    found = []
    for place, (token, mark) in enumerate(zip(one.tokens, one.marks, strict=True)):
        if not mark or token in common or side_of(mark, languages) or (place < one.host_end and not one.whole[place]):
            continue
        if place > one.host_end and one.tokens[place - 1].isalnum():  # glued to a number: 0600te is no Telugu
            continue
        if place == one.host_end - 1 and _language_of_country(token) != mark:  # .be is no Belarusian, .ch no Chamorro
            continue
        found.append(place)
    return found


def _country_side(one: MarkedTokens, place: int, languages: tuple[Language, Language]) -> int:
    """Of the language that is spoken there, where the mark is a country's code too: /uk/ beside /fr/ is English."""
    country = _language_of_country(one.tokens[place])
    return side_of(country, languages) if country else 0


def _slots(one: MarkedTokens, languages: tuple[Language, Language]) -> Iterator[tuple[str, ...]]:
    """What stands before each whole mark of the two languages."""
    for place, (mark, whole) in enumerate(zip(one.marks, one.whole, strict=True)):
        if mark and whole and side_of(mark, languages):
            yield one.tokens[:place]


def _on_all(urls: Sequence[MarkedTokens]) -> frozenset[str]:
    return frozenset.intersection(*(frozenset(one.tokens) for one in urls)) if urls else frozenset()


@lru_cache(maxsize=4096)
def _language_of_country(token: str) -> Language | None:
    """The main one, by CLDR's likely subtags; None for what is no country's code."""
    if len(token) != 2 or not (token.isascii() and token.isalpha()):
        return None
    tag = langcodes.Language.get(f"und-{token}")  # und-uk is read as und-GB
    language = tag.maximize().language if tag.is_valid() else None
    return claimed_language(language) if language else None


def _third(one: MarkedTokens, languages: tuple[Language, Language]) -> set[str]:
    """Marks of other languages in the path; the country of a host says little."""
    return {
        token
        for token, mark in zip(one.tokens[one.host_end :], one.marks[one.host_end :], strict=True)
        if mark and not side_of(mark, languages)
    }


def by_words(urls: Sequence[MarkedTokens], languages: tuple[Language, Language]) -> Sides:
    """What the language model makes of the words of each, between the two languages alone."""
    model = _model(model_file("language.npz"))
    columns = [next((n for n, label in enumerate(model.labels) if same_language(label, one)), -1) for one in languages]
    if min(columns) < 0 or not urls:
        return [0.0] * len(urls)
    texts = [" ".join(filter(is_word, one.bare)) for one in urls]
    scores, _ = model.score([sample(text) for text in texts])
    difference = np.round(scores[:, columns[0]] - scores[:, columns[1]])
    # Words that all pages of a site have say nothing of one of them.
    sides = np.tanh((difference - np.median(difference)) / _SCALE)
    return [float(side) for side in sides]


def by_partners(urls: Sequence[MarkedTokens], known: Floats, matched: Sequence[UrlNumbers]) -> Sides:
    """Spread what is known from URL to URL over the tokens that partners differ in.

    Where nothing is known at all, one side is called the first: which of the two it is, may be wrong.
    """
    carried = [_in_context(one) for one in urls]
    telling: Counter[str] = Counter()
    for a, b in matched:
        telling.update(sorted(carried[a] ^ carried[b]))
    carried = [{token for token in tokens if telling[token] > 1} for tokens in carried]
    if not np.abs(known).max(initial=0.0) and telling:
        seed = telling.most_common(1)[0][0]
        known = np.array([_FIRST_GUESS if seed in tokens else 0.0 for tokens in carried])
    return _spread(np.clip(known, -1, 1), carried, matched)


def _spread(start: Floats, carried: Sequence[set[str]], matched: Sequence[UrlNumbers]) -> Sides:
    """A token is as its URLs are, a URL as its tokens and the contrary of its partner; again and again."""
    numbers: dict[str, int] = {}
    links = [(url, numbers.setdefault(token, len(numbers))) for url, tokens in enumerate(carried) for token in tokens]
    of_url, of_token = (np.array(ends, np.int64) for ends in (zip(*links, strict=True) if links else ((), ())))
    ends = np.array([*matched, *((b, a) for a, b in matched)], np.int64).reshape(-1, 2)
    carriers = np.bincount(of_token, minlength=len(numbers)) + 1.0
    carrying = np.maximum(np.bincount(of_url, minlength=len(start)), 1.0)
    sides = start
    for _ in range(_ROUNDS):
        by_token = np.bincount(of_token, sides[of_url], len(numbers)) / carriers
        spread = _BY_TOKENS * np.bincount(of_url, by_token[of_token], len(start)) / carrying
        spread[ends[:, 0]] -= _BY_PARTNER * sides[ends[:, 1]]
        sides = np.clip(start + spread, -1, 1)
    return [float(side) for side in sides]


def _in_context(one: MarkedTokens) -> set[str]:
    """Tokens; numbers and single letters with what stands before them."""
    tokens = one.tokens
    found = set()
    for place, token in enumerate(tokens):
        if token.isalnum():
            found.add(token if len(token) > 2 and is_word(token) else "".join(tokens[max(0, place - 2) : place + 1]))
            if len(token) <= 2 and is_word(token):
                found.add(token)
    return found


@lru_cache(maxsize=4096)
def side_of(mark: Language, languages: tuple[Language, Language]) -> int:
    """1 for the first of the two languages, -1 for the second, 0 for another."""
    for side, language in zip((1, -1), languages, strict=True):
        if same_language(mark, language) or same_language(language, mark):
            return side
    for side, language in zip((1, -1), languages, strict=True):
        if abbreviates(mark, language):
            return side
    return 0


@lru_cache(maxsize=2)
def _model(path: Path) -> LanguageNgrams:
    return LanguageNgrams.load(path)


ChangePattern = tuple[tuple[str, str], ...]
# Judgement; the models of both rounds were trained with those that make features.
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
        self.told = [side_of(language_of[url], languages) if url in language_of else 0 for url in urls]
        self._read_sides()
        self.sides = self.marked
        self.ordered: dict[UrlNumbers, NumberFit] = {}
        self._runs: dict[int, float] = {}
        self.templates = [_template(one) for one in self.tokens]
        self._comparisons: dict[UrlNumbers, UrlComparison] = {}

    def _read_sides(self) -> None:
        """What marks and words say of each URL's language, unless all is known."""
        none = [0.0] * len(self.urls)
        if self.settled is not None:
            self.third = [False] * len(self.urls)
            self.marked, self.worded, self.foreign = [*map(float, self.told)], none, none
            return
        third, marked = in_third(self.tokens, self.languages), by_marks(self.tokens, self.languages)
        self.third = [third and not told for told, third in zip(self.told, third, strict=True)]
        self.marked = [
            0.0 if third else told or side for told, third, side in zip(self.told, self.third, marked, strict=True)
        ]
        self.worded = by_words(self.tokens, self.languages)
        self.foreign = foreign(self.tokens, self.languages, self.marked)

    def comparison(self, pair: UrlNumbers) -> UrlComparison:
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

    def place(self, ordered: Mapping[UrlNumbers, NumberFit]) -> None:
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
        self.sides = by_partners(self.tokens, known, matched)

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

    def have(self, text: str) -> Bools:
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
