"""The URLs of a site, and which of two languages each is in: by marks, by words, and by the partners that are known.

A sign is a number from 1, surely the first language, to -1, surely the second.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product

import langcodes
import numpy as np

from bitrawl.languages import claimed_language, same_language
from bitrawl.model import Language
from bitrawl.text.arrays import Bools, Floats
from bitrawl.text.language import language_ngrams, sample
from bitrawl.url import Url
from bitrawl.urls.pair_model import UrlComparison, compare
from bitrawl.urls.site_candidates import NumberFit, UrlNumbers
from bitrawl.urls.tokens import MarkedTokens, Tokens, is_content, is_word, read_tokens, sign_of

Signs = list[float]  # 1 for the first language, -1 for the second, 0 for no idea

# All judgement; the models of both rounds were trained with them.
_SCALE = 300.0  # of the difference of log-likelihoods: two or three words that are clearly of one language
_ROUNDS = 10  # of spreading; signs hardly move after them
_SURELY = 0.6  # share of a mark's URLs that show it to be one of a third language
_OUTWEIGHED = 4  # how many times one language is marked oftener than the other, where unmarked means the other
_UNMARKED = 0.5  # how surely it does
_BY_TOKENS, _BY_PARTNER = 1.5, 0.5  # weights of what a URL's tokens and its partner say of its sign
_FIRST_GUESS = 0.5  # sign of the URLs that have the token which tells most, where nothing is known


ChangePattern = tuple[tuple[str, str], ...]
# Judgement; the models of both rounds were trained with those that make features.
_BY_WORDS = 0.4  # weight of what the words of a URL say of its sign, where a mark has 1
_BY_COMPARISON = 0.5  # the same of what the comparison with its partner says
_SEPARATORS = frozenset("/*-_.")
_GLUED = 4  # letters that a site puts before a name, or after it
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
        self.tokens = [read_tokens(url) for url in urls]
        self.frequency = Counter(token for url_tokens in self.tokens for token in set(url_tokens.tokens))
        self.carriers = Carriers(self.tokens, self.frequency)
        self.told = [sign_of(languages, language_of[url]) if url in language_of else 0 for url in urls]
        self._read_signs()
        self.signs = self.marked
        self.ordered: dict[UrlNumbers, NumberFit] = {}
        self._runs: dict[int, float] = {}
        templates = map(_template, self.tokens)
        once: dict[Tokens, Tokens] = {}
        self.templates = [once.setdefault(template, template) for template in templates]
        self._comparisons: dict[UrlNumbers, UrlComparison] = {}

    def _read_signs(self) -> None:
        """What marks and words say of each URL's language, unless all is known."""
        none = [0.0] * len(self.urls)
        if self.settled is not None:
            self.third = [False] * len(self.urls)
            self.marked, self.worded, self.foreign = [*map(float, self.told)], none, none
            return
        third, marked = in_third(self.tokens, self.languages), by_marks(self.tokens, self.languages)
        self.third = [third and not told for told, third in zip(self.told, third, strict=True)]
        self.marked = [
            0.0 if third else told or sign for told, third, sign in zip(self.told, self.third, marked, strict=True)
        ]
        self.worded = by_words(self.tokens, self.languages)
        self.foreign = foreign(self.tokens, self.languages, self.marked)

    def fewest(self, pair: UrlNumbers) -> int:
        """How many URLs have the rarest word or number that two of them share; 0 if they share none."""
        shared = set(self.tokens[pair[0]].tokens).intersection(self.tokens[pair[1]].tokens)
        return min((self.frequency[token] for token in shared if is_content(token)), default=0)

    def comparison(self, pair: UrlNumbers) -> UrlComparison:
        """In what two URLs are alike and differ; compared once."""
        if pair not in self._comparisons:
            self._comparisons[pair] = compare(self.tokens[pair[0]], self.tokens[pair[1]], self.languages)
        return self._comparisons[pair]

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
        for number, url in enumerate(self.tokens):
            if not self.third[number]:
                alike[url.bare].append(number)
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

    def learn_signs(self, matched: Sequence[UrlNumbers]) -> None:
        """From partners that are known, on to all URLs."""
        if self.settled is not None:
            return
        signs = np.array(self.marked, np.float64) + _BY_WORDS * np.array(self.worded, np.float64)
        for a, b in matched:
            sign = _BY_COMPARISON * self.comparison((a, b)).sign
            signs[a] += sign
            signs[b] -= sign
        self.signs = by_partners(self.tokens, signs, matched)

    def apart(self, pair: UrlNumbers) -> bool:
        """Whether marks, or what is told, set the two in different languages."""
        return self.comparison(pair).sign != 0 or self.marked[pair[0]] * self.marked[pair[1]] < 0

    def direction(self, pair: UrlNumbers) -> float:
        """Positive when the first of the two is in the first language, as far as is known."""
        return self.comparison(pair).sign + self.signs[pair[0]] - self.signs[pair[1]]


def by_marks(urls: Sequence[MarkedTokens], languages: tuple[Language, Language]) -> Signs:
    """What the marks of each URL say. Where a site marks only one of the languages, the rest is in the other, more likely than not.

    What all URLs have tells none of them apart: the .de of a host in both languages.
    """
    common = _on_all(urls) if len(urls) > 1 else frozenset()
    marked = [
        sum(
            sign_of(languages, mark)
            for token, mark in zip(url.tokens, url.marks, strict=True)
            if mark and token not in common
        )
        for url in urls
    ]
    signs = [float((sign > 0) - (sign < 0)) for sign in marked]
    first, second = signs.count(1.0), signs.count(-1.0)
    unmarked = _UNMARKED * ((second > _OUTWEIGHED * first) - (first > _OUTWEIGHED * second))
    return [sign or unmarked for sign in signs]


def foreign(urls: Sequence[MarkedTokens], languages: tuple[Language, Language], marked: Signs) -> list[float]:
    """How surely each is in a third language, by its marks.

    A mark that is no language's here (/de/ for "documents") stands alone; one of a third language stands beside the
    versions in the two languages that are asked for.
    """
    versions: defaultdict[tuple[str, ...], set[float]] = defaultdict(set)
    for url, sign in zip(urls, marked, strict=True):
        if not _third(url, languages):
            versions[url.bare].add(float(np.sign(sign)))
    beside: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    thirds = [_third(url, languages) for url in urls]
    for url, names in zip(urls, thirds, strict=True):
        (beside if {1.0, -1.0} <= versions.get(url.bare, set()) else alone).update(names)
    return [max((beside[name] / (beside[name] + alone[name] + 1) for name in names), default=0.0) for names in thirds]


def in_third(urls: Sequence[MarkedTokens], languages: tuple[Language, Language]) -> list[bool]:
    """Which are surely in a third language: marked so, on a site where that mark tells versions apart.

    A mark does when it stands where others name a language that is asked for (/deutsch/ and /english/), or when the
    same address is there without it (/de/x and /x); one that a mark of the two goes with (/fr/it/) is a word.
    """
    common = _on_all(urls)
    marked = [any(sign_of(languages, mark) for mark in url.marks if mark) for url in urls]
    unmarked = {1, -1} - {sign_of(languages, mark) for url in urls for mark in url.marks if mark}
    thirds = [
        [
            place
            for place in _third_places(url, languages, common)
            if _country_sign(url, place, languages) not in unmarked
        ]
        for url in urls
    ]
    slots = {slot for url in urls for slot in _slots(url, languages)}
    versions: defaultdict[tuple[str, ...], list[frozenset[str]]] = defaultdict(list)
    for url, places in zip(urls, thirds, strict=True):
        versions[url.bare].append(frozenset(url.tokens[place] for place in places))
    telling: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    for url, places, is_marked in zip(urls, thirds, marked, strict=True):
        for place in places:
            name = url.tokens[place]
            in_slot = url.whole[place] and url.tokens[:place] in slots
            tells = not is_marked and (in_slot or any(name not in others for others in versions[url.bare]))
            (telling if tells else alone)[name] += 1
    sure = {name for name, count in telling.items() if count / (count + alone[name] + 0.5) > _SURELY}
    return [
        not is_marked and any(url.tokens[place] in sure for place in places)
        for url, places, is_marked in zip(urls, thirds, marked, strict=True)
    ]


def _third_places(url: MarkedTokens, languages: tuple[Language, Language], common: frozenset[str]) -> list[int]:
    """Where a third language may be named; what all URLs have names none."""
    places = []
    for place, (token, mark) in enumerate(zip(url.tokens, url.marks, strict=True)):
        if not mark or token in common or sign_of(languages, mark) or (place < url.host_end and not url.whole[place]):
            continue
        if place > url.host_end and url.tokens[place - 1].isalnum():  # glued to a number: 0600te is no Telugu
            continue
        if place == url.host_end - 1 and _language_of_country(token) != mark:  # .be is no Belarusian, .ch no Chamorro
            continue
        places.append(place)
    return places


def _country_sign(url: MarkedTokens, place: int, languages: tuple[Language, Language]) -> int:
    """Of the language that is spoken there, where the mark is a country's code too: /uk/ beside /fr/ is English."""
    country = _language_of_country(url.tokens[place])
    return sign_of(languages, country) if country else 0


def _slots(url: MarkedTokens, languages: tuple[Language, Language]) -> Iterator[tuple[str, ...]]:
    """What stands before each whole mark of the two languages."""
    for place, (mark, whole) in enumerate(zip(url.marks, url.whole, strict=True)):
        if mark and whole and sign_of(languages, mark):
            yield url.tokens[:place]


def _on_all(urls: Sequence[MarkedTokens]) -> frozenset[str]:
    return frozenset.intersection(*(frozenset(url.tokens) for url in urls)) if urls else frozenset()


@lru_cache(maxsize=4096)
def _language_of_country(token: str) -> Language | None:
    """The main one, by CLDR's likely subtags; None for what is no country's code."""
    if len(token) != 2 or not (token.isascii() and token.isalpha()):
        return None
    tag = langcodes.Language.get(f"und-{token}")  # und-uk is read as und-GB
    language = tag.maximize().language if tag.is_valid() else None
    return claimed_language(language) if language else None


def _third(url: MarkedTokens, languages: tuple[Language, Language]) -> set[str]:
    """Marks of other languages in the path; the country of a host says little."""
    return {
        token
        for token, mark in zip(url.tokens[url.host_end :], url.marks[url.host_end :], strict=True)
        if mark and not sign_of(languages, mark)
    }


def by_words(urls: Sequence[MarkedTokens], languages: tuple[Language, Language]) -> Signs:
    """What the language model makes of the words of each, between the two languages alone."""
    model = language_ngrams()
    columns = [
        next((n for n, label in enumerate(model.labels) if same_language(label, language)), -1)
        for language in languages
    ]
    if min(columns) < 0 or not urls:
        return [0.0] * len(urls)
    texts = [" ".join(filter(is_word, url.bare)) for url in urls]
    scores, _ = model.score([sample(text) for text in texts])
    difference = np.round(scores[:, columns[0]] - scores[:, columns[1]])
    # Words that all pages of a site have say nothing of one of them.
    signs = np.tanh((difference - np.median(difference)) / _SCALE)
    return [float(sign) for sign in signs]


def by_partners(urls: Sequence[MarkedTokens], signs: Floats, matched: Sequence[UrlNumbers]) -> Signs:
    """Spread what is known from URL to URL over the tokens that partners differ in.

    Where nothing is known at all, one sign is called the first: which of the two it is, may be wrong.
    """
    carried = [_in_context(url) for url in urls]
    telling: Counter[str] = Counter()
    for a, b in matched:
        telling.update(sorted(carried[a] ^ carried[b]))
    carried = [{token for token in tokens if telling[token] > 1} for tokens in carried]
    if not np.abs(signs).max(initial=0.0) and telling:
        seed = telling.most_common(1)[0][0]
        signs = np.array([_FIRST_GUESS if seed in tokens else 0.0 for tokens in carried])
    return _spread(np.clip(signs, -1, 1), carried, matched)


def _spread(start: Floats, carried: Sequence[set[str]], matched: Sequence[UrlNumbers]) -> Signs:
    """A token is as its URLs are, a URL as its tokens and the contrary of its partner; again and again."""
    numbers: dict[str, int] = {}
    links = [(url, numbers.setdefault(token, len(numbers))) for url, tokens in enumerate(carried) for token in tokens]
    of_url, of_token = (np.array(ends, np.int64) for ends in (zip(*links, strict=True) if links else ((), ())))
    ends = np.array([*matched, *((b, a) for a, b in matched)], np.int64).reshape(-1, 2)
    carriers = np.bincount(of_token, minlength=len(numbers)) + 1.0
    carrying = np.maximum(np.bincount(of_url, minlength=len(start)), 1.0)
    signs = start
    for _ in range(_ROUNDS):
        by_token = np.bincount(of_token, signs[of_url], len(numbers)) / carriers
        spread = _BY_TOKENS * np.bincount(of_url, by_token[of_token], len(start)) / carrying
        spread[ends[:, 0]] -= _BY_PARTNER * signs[ends[:, 1]]
        signs = np.clip(start + spread, -1, 1)
    return [float(sign) for sign in signs]


def _in_context(url: MarkedTokens) -> set[str]:
    """Tokens; numbers and single letters with what stands before them."""
    tokens = url.tokens
    context = set()
    for place, token in enumerate(tokens):
        if token.isalnum():
            context.add(token if len(token) > 2 and is_word(token) else "".join(tokens[max(0, place - 2) : place + 1]))
            if len(token) <= 2 and is_word(token):
                context.add(token)
    return context


class Carriers:
    """How many URLs of a site have a text that a change takes out, puts in or replaces; and which."""

    def __init__(self, urls: Sequence[MarkedTokens], frequency: Mapping[str, int]) -> None:
        self._urls, self._frequency = urls, frequency
        self._glued: Counter[str] | None = None
        self._parameters: Counter[str] | None = None

    def count(self, text: str) -> float:
        """How many URLs have the text; 0 for an empty one."""
        if text in self._frequency:
            return self._frequency[text]
        if not text:
            return 0.0
        if text.startswith("^") or text.endswith("$"):
            return self._by_glue()[text]
        if "=" in text and (count := self._by_parameter()[text]):
            return count
        parts = [self._frequency[token] for token in _ALNUM.findall(text) if token in self._frequency]
        return min(parts, default=0.0)

    def have(self, text: str) -> Bools:
        """Whether each URL has the text."""
        return np.array([_has(url, text) for url in self._urls], bool)

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
                parameter for url in self._urls if "?" in url.tokens for parameter in _parameters(url.tokens)
            )
        return self._parameters


def _parameters(tokens: Sequence[str]) -> list[str]:
    return "".join(tokens[tokens.index("?") + 1 :]).split("&") if "?" in tokens else []


def _has(url: MarkedTokens, text: str) -> bool:
    if text.startswith("^"):
        return any(len(token) > len(text) - 1 and token.startswith(text[1:]) for token in url.tokens)
    if text.endswith("$"):
        return any(len(token) > len(text) - 1 and token.endswith(text[:-1]) for token in url.tokens)
    if text.isalnum():
        return text in url.tokens
    return text in _parameters(url.tokens) if "=" in text else text in "".join(url.tokens)


def _template(url: MarkedTokens) -> tuple[str, ...]:
    """Numbers and the last segment's words masked: what pages of one kind have in common."""
    words = [("#" if token.isdecimal() else token) for token in url.tokens]
    last = len(words) - words[::-1].index("/") if "/" in words else 0
    masked = words[:last] + ["*" if is_word(token) and "?" not in words[last:] else token for token in words[last:]]
    return tuple(token for token, mark in zip(masked, url.marks, strict=True) if token not in _SEPARATORS and not mark)


def pairs_by_template(view: SiteUrls, numbers: Iterable[int], limit: int) -> list[UrlNumbers]:
    """All pairs of one language with the other among those numbers, by template, as long as they are not too many."""
    groups: defaultdict[object, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for number in numbers:
        if view.signs[number]:
            groups[view.templates[number]][view.signs[number] < 0].append(number)
    pairs = []
    for first, second in groups.values():
        if len(first) * len(second) <= limit:
            pairs += [(min(a, b), max(a, b)) for a, b in product(first, second)]
    return pairs
