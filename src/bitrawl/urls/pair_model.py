"""The probability that two URLs name versions of one page, from what they share and how they differ.

`RuleUrlPairModel` is the baseline of WMT16's shared task (Buck and Koehn 2016): URLs that are the same without their
language identifiers. It is extended to any language as García-Romero et al. 2024 describe: name in English, endonym, codes
of two and three letters, code with country.
"""

import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from rapidfuzz.distance import Indel

from bitrawl.languages import same_language
from bitrawl.model import UNDETERMINED, Language
from bitrawl.model_files import model_file
from bitrawl.text.arrays import Floats32, Trees
from bitrawl.url import Url
from bitrawl.urls.tokens import (
    PARTS,
    MarkedTokens,
    Tokens,
    bare_tokens,
    changes,
    is_content,
    is_word,
    language_spellings,
    mark_language,
    marked_tokens,
    number_value,
    sign_of,
)

FEATURES = (
    "marks_on_both",  # changes that replace one language's mark with another's
    "mark_on_one",  # changes that insert a mark
    "initials",  # changes of the letters that begin the names of two languages
    "wrong_language",  # marks in changes that name neither of the requested languages
    "shared_mark",  # marks that both URLs have
    "contrary",  # a URL with marks of both the first and the second language
    "short_numbers",  # changes of a number of at most two digits
    "long_numbers",
    "loose_numbers",  # numbers that only one of them has
    "short_text",  # changes of at most two letters
    "words",  # changes of words
    "loose_words",
    "similarity",  # of the changed words as strings
    "ngrams",  # the same without order: runs of three letters that both have
    "cognates",  # share of the changed words that begin alike
    "changed",  # letters and digits that differ, apart from marks and page names
    "shared",  # letters and digits that are the same
    "shared_share",
    "shared_numbers",  # digits of the longest number that both have
    "shared_words",
    "first_change",  # segment, counted from the end
    "changed_segments",
    "length_ratio",
    "words_ratio",
    "same",  # nothing differs except case, accents or the scheme
    "page_names",  # changes of index, home, html and the like
    "host",  # changes within the host
)
# Judgement. The model was trained with them.
_PREFIX = 4  # letters by which cognates are recognised
_SHORT = 2  # digits or letters
_GLUED = 4  # letters that may be put before or after a name
_AROUND = "/-_.&?"


class MatchedUrls(NamedTuple):
    """A page and its version in the other language; the score is 0–1."""

    url_a: Url
    url_b: Url
    score: float


class UrlComparison(NamedTuple):
    """Numbers in the order of `FEATURES`, and what they were counted from."""

    values: "array[float]"  # of 32 bits, as the model takes them: a tuple takes three times the memory
    pattern: tuple[tuple[str, str], ...]  # text that is replaced and its replacement, from left to right
    words_a: Tokens  # changed words that are not marks
    words_b: Tokens
    numbers: tuple[tuple[int, int], ...]  # numbers that correspond to each other
    # 1 if the marks say that the first URL is in the first language, -1 if in the second, 0 if they say nothing
    sign: int


def compare(a: MarkedTokens, b: MarkedTokens, languages: tuple[Language, Language] | None = None) -> UrlComparison:
    """If the requested languages are given, marks of other languages count against the pair."""
    count = _Count(a, b, languages)
    for change in changes(a.tokens, b.tokens):
        count.add(*change)
    return count.result()


class _Count:
    """Counts the features of two URLs, one change after the other."""

    def __init__(self, a: MarkedTokens, b: MarkedTokens, languages: tuple[Language, Language] | None) -> None:
        self.a, self.b, self.languages = a, b, languages
        self.values: dict[str, float] = dict.fromkeys(FEATURES, 0)
        self.values["first_change"] = -1
        self.sign = 0
        self.words_a: list[str] = []
        self.words_b: list[str] = []
        self.numbers: list[tuple[int, int]] = []
        self.pattern: list[tuple[str, str]] = []
        self.touched: set[int] = set()
        self.segments: set[int] = set()

    def add(self, start: int, end: int, low: int, high: int) -> None:
        """Count a `Change`."""
        a, b, values = self.a, self.b, self.values
        old, new = a.tokens[start:end], b.tokens[low:high]
        self.touched.update(range(start, end))
        self.pattern.append(_stripped("".join(old), "".join(new)))
        if start < a.host_end:
            values["host"] += 1
        marks_a = [mark for mark in a.marks[start:end] if mark]
        marks_b = [mark for mark in b.marks[low:high] if mark]
        if (marks_a or marks_b) and self._marked(marks_a, marks_b, old, new):
            return
        rest_a, rest_b = _rest(old), _rest(new)
        if not rest_a.content and not rest_b.content:
            values["page_names"] += 1
            return
        before = a.tokens[:start].count("/")
        if values["first_change"] < 0:
            values["first_change"] = a.tokens.count("/") - before
        self.segments.add(before)
        values["changed"] += rest_a.size + rest_b.size
        if len(rest_a.content) == 1 == len(rest_b.content):
            self._replaced(rest_a.content[0], rest_b.content[0])
        else:
            self._loose(rest_a, rest_b)

    def _marked(self, marks_a: list[Language], marks_b: list[Language], old: Tokens, new: Tokens) -> bool:
        """Whether the change consists of marks only."""
        # Only separators and page names besides the mark: at most one token of content on each side.
        only_marks = len(_rest(old).content) <= 1 and len(_rest(new).content) <= 1
        sign_a, sign_b = self._sign(marks_a), self._sign(marks_b)
        if self.languages is not None:
            if (marks_a and not sign_a) or (marks_b and not sign_b):
                self.values["wrong_language"] += 1
            if not sign_a and not sign_b:
                return only_marks
        if marks_a and marks_b and same_language(marks_a[0], marks_b[0]):
            return only_marks
        self.values["marks_on_both" if marks_a and marks_b else "mark_on_one"] += 1
        self.sign += sign_a - sign_b
        return only_marks

    def _sign(self, marks: Iterable[Language]) -> int:
        return sign_of(self.languages, *marks) if self.languages is not None else 0

    def _replaced(self, old: str, new: str) -> None:
        if old.isdecimal() and new.isdecimal():
            self.numbers.append((number_value(old), number_value(new)))
            self.values["short_numbers" if len(old) <= _SHORT and len(new) <= _SHORT else "long_numbers"] += 1
            return
        self._initials(old, new)
        self._words((old,), (new,))

    def _initials(self, old: str, new: str) -> None:
        left, right = _stripped(old, new)
        left, right = left.strip("^$"), right.strip("^$")
        if len(left) > _SHORT or len(right) > _SHORT:
            return
        self.values["short_text"] += 1
        if self.languages is None:
            if len(left) == 1 == len(right):
                self.values["initials"] += 1
            return
        first, second = (_initials_of(language) for language in self.languages)
        if (left in first and (right in second or not right)) or (not left and right in second):
            self.values["initials"] += 1
            self.sign += 1
        elif (left in second and (right in first or not right)) or (not left and right in first):
            self.values["initials"] += 1
            self.sign -= 1

    def _loose(self, rest_a: "_Rest", rest_b: "_Rest") -> None:
        old, new = rest_a.content, rest_b.content
        self.values["loose_numbers"] += abs(rest_a.numbers - rest_b.numbers)
        if len(old) + len(new) == 1 and len(alone := (old or new)[0]) <= _SHORT and not alone.isdecimal():
            self._initials(*(("", alone) if new else (alone, "")))
        self._words(rest_a.words, rest_b.words)

    def _words(self, old: Tokens, new: Tokens) -> None:
        self.values["words"] += min(len(old), len(new))
        self.values["loose_words"] += abs(len(old) - len(new))
        self.words_a += old
        self.words_b += new

    def result(self) -> UrlComparison:
        a, b, touched, words_a, words_b = self.a, self.b, self.touched, self.words_a, self.words_b
        shared = _rest(tuple([a.tokens[place] for place in a.content_places if place not in touched]))
        changed = self.values["changed"]
        self.values.update(
            shared_mark=len([place for place in a.mark_places if place not in touched]),
            contrary=self._contrary(),
            similarity=Indel.normalized_similarity("".join(words_a), "".join(words_b)) if changed else 1.0,
            ngrams=_common_ngrams(words_a, words_b),
            cognates=_cognates(words_a, words_b),
            shared=shared.size,
            shared_share=shared.size / (shared.size + changed) if shared.size + changed else 0.0,
            shared_numbers=shared.longest_number,
            shared_words=len(shared.words),
            changed_segments=len(self.segments),
            length_ratio=min(a.size, b.size) / max(a.size, b.size, 1),
            words_ratio=(1 + min(len(words_a), len(words_b))) / (1 + max(len(words_a), len(words_b))),
            same=not self.pattern,
        )
        values, numbers, pattern = array("f", [*self.values.values()]), tuple(self.numbers), tuple(self.pattern)
        sign = (self.sign > 0) - (self.sign < 0)
        return UrlComparison(values, pattern, tuple(words_a), tuple(words_b), numbers, sign)

    def _contrary(self) -> int:
        """How many of the two URLs have marks of both languages."""
        both = (self.a.marked_languages, self.b.marked_languages)
        return sum(len(marks) > 1 and {self._sign([mark]) for mark in marks} >= {1, -1} for marks in both)


class _Rest(NamedTuple):
    """The tokens that are not page names."""

    content: Tokens
    words: Tokens
    size: int
    numbers: int
    longest_number: int


@lru_cache(maxsize=PARTS)
def _rest(tokens: Tokens) -> _Rest:
    """Cached, because the links of a page differ from it in the same folders, and share the same."""
    content = tuple([token for token in tokens if is_content(token)])
    numbers = [len(token) for token in content if token.isdecimal()]
    words = tuple([token for token in content if is_word(token)])
    return _Rest(content, words, sum(map(len, content)), len(numbers), max(numbers, default=0))


@lru_cache(maxsize=PARTS)
def _stripped(old: str, new: str) -> tuple[str, str]:
    """Of two texts the part that differs, with a sign of where it stands: news1, news1f give "", "f$".

    What is put in is named without the separators that go with it: they depend on what stands beside.
    """
    if not old or not new:
        return old.strip(_AROUND) or old, new.strip(_AROUND) or new
    if not (old.isalpha() and new.isalpha()):
        return old, new
    shorter = min(len(old), len(new))
    start = _common_start(old, new)
    end = _common_start(old[::-1], new[::-1])
    if max(len(old), len(new)) - max(start, end) > _GLUED or max(start, end) < min(2, shorter):
        return old, new
    if start >= end:
        return _signed(old[start:], "{}$"), _signed(new[start:], "{}$")
    return _signed(old[: len(old) - end], "^{}"), _signed(new[: len(new) - end], "^{}")


def _common_start(old: str, new: str) -> int:
    shorter = min(len(old), len(new))
    return next((place for place in range(shorter) if old[place] != new[place]), shorter)


def _signed(text: str, form: str) -> str:
    return form.format(text) if text else ""


def _common_ngrams(old: Sequence[str], new: Sequence[str]) -> float:
    if not old or not new:
        return float(not old and not new)
    grams_a, grams_b = set().union(*map(_ngrams, old)), set().union(*map(_ngrams, new))
    return 2 * len(grams_a & grams_b) / (len(grams_a) + len(grams_b))


@lru_cache(maxsize=PARTS)
def _ngrams(word: str) -> frozenset[str]:
    padded = f" {word} "
    return frozenset(padded[place : place + 3] for place in range(len(padded) - 2))


def _cognates(old: Sequence[str], new: Sequence[str]) -> float:
    if not old or not new:
        return float(not old and not new)
    heads_a, heads_b = {word[:_PREFIX] for word in old}, {word[:_PREFIX] for word in new}
    return len(heads_a & heads_b) / min(len(heads_a), len(heads_b))


@lru_cache(maxsize=64)
def _initials_of(language: Language) -> frozenset[str]:
    """One or two letters with which the codes and names of a language begin: e and en for English."""
    names = [name for name in language_spellings(language) if name.isascii()]
    return frozenset(name[:width] for name in names for width in (1, 2))


_WRONG = FEATURES.index("wrong_language")
# What is left of a probability if a mark names a language that was not requested: sites do mislabel pages, and 7 of
# 1624 pairs of WMT16 have such a mark. The value itself is a judgement.
_THIRD = 0.05
# Paths with no number and no beginning of a word in common, like most links of a page and the page itself, are not
# compared further, which saves most of the time. Judgement: a probability below every threshold, but not 0.
_NOTHING_SHARED = 0.01


class TreeUrlPairModel:
    """The default model; see models/url-pairs.md.

    If the two requested languages are given, marks of other languages count against a pair.
    """

    def __init__(self, trees: Trees | None = None, *, languages: tuple[Language, Language] | None = None) -> None:
        self._trees, self._languages = trees or _trees(model_file("url-pairs.npz")), languages

    @classmethod
    def load(cls, path: Path | None = None) -> Self:
        """The package's model, or one that `python -m lab.train url-pairs` wrote."""
        return cls(_trees(path or model_file("url-pairs.npz")))

    def parallel(self, pairs: Sequence[tuple[Url, Url]]) -> Floats32:
        chances = np.full(len(pairs), _NOTHING_SHARED, np.float32)
        places = [place for place, (a, b) in enumerate(pairs) if _share_something(a, b)]
        rows = feature_rows([pairs[place] for place in places], self._languages)
        compared = self._trees.probability(rows)
        if self._languages is not None:
            compared[rows[:, _WRONG] > 0] *= _THIRD
        chances[places] = compared
        return chances


@lru_cache(maxsize=2)
def _trees(path: Path) -> Trees:
    with np.load(path) as arrays:
        return Trees.named("pair", arrays)


def _share_something(a: Url, b: Url) -> bool:
    """Whether a word of one begins like a word of the other, or one of them has no words."""
    heads_a, heads_b = _heads(a), _heads(b)
    return not heads_a or not heads_b or not heads_a.isdisjoint(heads_b)


@lru_cache(maxsize=PARTS)
def _heads(url: Url) -> frozenset[str]:
    """First letters of the path's words, and its numbers; without marks."""
    read = marked_tokens(url)
    return frozenset(
        [token[:_PREFIX] for token in bare_tokens(read.tokens[read.host_end :], read.marks[read.host_end :])]
    )


def feature_rows(pairs: Sequence[tuple[Url, Url]], languages: tuple[Language, Language] | None = None) -> Floats32:
    """What the model weighs: one row per pair."""
    values = [compare(marked_tokens(min(pair)), marked_tokens(max(pair)), languages).values for pair in pairs]
    return np.array(values, np.float32).reshape(len(pairs), len(FEATURES))


# The tokens of the published rule: a locale counts anywhere, not only if it stands alone as in `tokens.locales`.
_TOKEN = re.compile(r"[a-z]{2,3}[-_][a-z]{2}(?![a-z])|[^\W\d_]+", re.IGNORECASE)
_SEPARATORS = re.compile(r"[\W_]+")


class RuleUrlPairModel:
    """1 for two URLs that are the same without identifiers of any languages, 0 for others."""

    def parallel(self, pairs: Sequence[tuple[Url, Url]]) -> Floats32:
        return np.array(
            [float(a != b and _without_marks(a, None) == _without_marks(b, None)) for a, b in pairs], np.float32
        )


def rule_pairs(urls: Iterable[Url], lang_a: Language, lang_b: Language) -> list[MatchedUrls]:
    """URLs of one site that are the same without the first language's identifiers in one and the second's in the other."""
    first: defaultdict[str, list[Url]] = defaultdict(list)
    second: defaultdict[str, list[Url]] = defaultdict(list)
    unique = list(dict.fromkeys(urls))
    for url in unique:
        first[_without_marks(url, lang_a)].append(url)
        second[_without_marks(url, lang_b)].append(url)
    taken: set[Url] = set()
    pairs = []
    for key, candidates in first.items():
        for a in candidates:
            b = next((b for b in second.get(key, ()) if b != a and b not in taken), None)
            if a not in taken and b is not None:
                taken.update((a, b))
                pairs.append(MatchedUrls(a, b, 1.0))
    return pairs


def _without_marks(url: Url, language: Language | None) -> str:
    """Separators are removed too: /en/x and /x are the same."""
    text = url.partition("://")[2].lower()
    return _SEPARATORS.sub(
        "/", _TOKEN.sub(lambda match: "" if _identifies(match[0], language) else match[0], text)
    ).strip("/")


def _identifies(token: str, language: Language | None) -> bool:
    if language is None:
        return mark_language(token) != UNDETERMINED
    return token.partition("-")[0].partition("_")[0] in language_spellings(language)
