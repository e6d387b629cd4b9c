"""The words of a text, for any script, in a form that can be compared; its weight; and its forms for files."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
import Stemmer
from numpy.typing import NDArray

from bitrawl.languages import base_language, script_of
from bitrawl.model import Language
from bitrawl.text.arrays import Bools

# Scripts without spaces between words: Han with kana and bopomofo, Thai, Lao, Myanmar, Khmer, Tai. Their words are
# pairs of neighbouring characters: that is the most common length of a Chinese word, and none of them needs a model.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aad\u3005-\u3007\u3041-\u312f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaaff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
# The same by their codes (ISO 15924).
_UNSPACED_SCRIPTS = frozenset(
    ("Bopo", "Hanb", "Hani", "Hans", "Hant", "Jpan", "Khmr", "Lana", "Laoo", "Mymr", "Tale", "Talu", "Tavt", "Thai")
)
# 1.234.567,50; a date (12.5.1957, split later), 3.5, 1957
_NUMBER = r"\d+(?:[.,'’\u00a0\u202f ]\d{3})+(?![\d])(?:[.,]\d+(?![.,]?\d))?|\d+(?:[.,]\d+)*"
_THOUSANDS = re.compile(r"[.,'’\u00a0\u202f ](?=\d{3}(?!\d))")
# The words of Latin, Greek and Cyrillic text, in a third of the time of the full pattern, and where they are not enough:
# combining marks and other scripts.
_LETTERS = re.compile(r"[^\W\d_]+")
_OTHER = re.compile("[\u0300-\u036f\u0483-\u0489\u0591-\u1dff\u2070-\U0010ffff]")
_LAST_CODE_POINT = 0x12000  # later code points hold no marks that words are written with, or none of a living script
# Judgement: if Snowball has no stemmer, the stem is the beginning of the word, because most languages inflect the end.
# Hangul and other syllabaries say in two letters what an alphabet says in five.
_PREFIX, _SYLLABIC_PREFIX = 5, 2
_SYLLABIC = re.compile("[\u1200-\u137f\uac00-\ud7af]")
_REMEMBERED, _LONGEST_REMEMBERED = 100_000, 50  # words of a language, letters of a word: at most 20 MB
_SHORT_TEXT = 500  # characters of a text whose words are remembered: at most 30 MB
# Combining marks and scripts without spaces are among these characters. A text without any of them (Latin, Greek,
# Cyrillic, Hangul as they are usually written) is read five times faster by the plain pattern.
_ELABORATE = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0590-\u1dff\u20d0-\u20ff\u2c00-\uabff\ud7b0-\uffff\U00010000-\U0010ffff]"
)
# A set of Latin letters is looked up faster than the categories of any letter are.
_PLAIN = re.compile(rf"[a-zß-öø-ÿ]++[^\W\d_]*+|[^\W\d_]++|{_NUMBER}")


class Span(NamedTuple):
    """Where something begins and ends in a text as it is written, in characters."""

    start: int
    end: int


def words(text: str, language: Language) -> list[str]:
    """Casefolded words and numbers in order, reduced to their stems. The same word always has the same form.

    Numbers are written alike however their digits are grouped (1.234.567, 1 234 567). In a script without spaces, each
    pair of neighbouring characters is a word.
    """
    return list(chain.from_iterable(map(stems_of(language).__getitem__, written_words(text))))


def sentence_words(text: str, language: Language) -> Sequence[str]:
    """The `words` of a sentence, remembered: it is aligned and judged, teaches words, and may be aligned with another language."""
    return _remembered_words(text, language) if len(text) <= _SHORT_TEXT else words(text, language)


@lru_cache(maxsize=1 << 15)
def _remembered_words(text: str, language: Language) -> tuple[str, ...]:
    return tuple(words(text, language))


def written_words(text: str) -> list[str]:
    """Casefolded words as they are written, numbers as they are grouped, and runs of a script without spaces."""
    text = unicodedata.normalize("NFKC", text).casefold()
    if not is_elaborate(text):
        return _PLAIN.findall(text)
    # Line by line, because a foreign name would otherwise slow down a whole article. No word goes over the end of a line.
    return [word for line in text.split("\n") for word in (_pattern() if is_elaborate(line) else _PLAIN).findall(line)]


def word_places(text: str) -> list[tuple[int, int]]:
    """Where each written word begins and ends, in a text that is in NFKC and in its own case."""
    return [match.span() for match in (_pattern() if is_elaborate(text) else _PLAIN).finditer(text)]


def is_elaborate(text: str) -> bool:
    """Whether it may have combining marks, or a script without spaces. If not, it has neither."""
    return not text.isascii() and _ELABORATE.search(text) is not None


class StemsOfWords(dict[str, tuple[str, ...]]):
    """The stems of written words, made when they are asked for: one of a word, several of a run without spaces."""

    def __init__(self, language: Language) -> None:
        self._stem = stemmer(language)

    def __missing__(self, written: str) -> tuple[str, ...]:
        first = written[0]
        if first.isdecimal():
            stems = tuple(_numbers(written))
        elif is_unspaced(first):
            return tuple(_pairs(written))  # too various to remember
        else:
            # Snowball leaves nothing of Greek "όταν" or of an Arabic vowel mark
            stems = (self._stem(written) or written,)
        if len(written) <= _LONGEST_REMEMBERED:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[written] = stems
        return stems


@lru_cache(maxsize=64)
def stems_of(language: Language) -> StemsOfWords:
    """What `words` makes of each written word of that language."""
    return StemsOfWords(language)


def is_unspaced(character: str) -> bool:
    """Whether its script puts no spaces between words."""
    return character >= "\u0e00" and _unspaced().match(character) is not None


def is_unspaced_language(language: Language) -> bool:
    """Whether it is written, or mostly written, without spaces between words."""
    return script_of(language) in _UNSPACED_SCRIPTS


def unspaced_count(text: str) -> int:
    """How many of its characters belong to scripts that put no spaces between words."""
    return 0 if text.isascii() else len(_unspaced().findall(text))


def plain_words(text: str) -> list[str]:
    """Casefolded words as they are written, without numbers; of a script without spaces, pairs of neighbouring characters."""
    text = unicodedata.normalize("NFKC", text).casefold()
    if not _OTHER.search(text):
        return _LETTERS.findall(text)
    tokens: list[str] = []
    for token in _plain_pattern().findall(text):
        first = token[0]
        if first >= "\u0e00" and _unspaced().match(first):
            tokens += _pairs(token)
        else:
            tokens.append(token)
    return tokens


@lru_cache(maxsize=64)
def stemmer(language: Language) -> Callable[[str], str]:
    """Reduces a casefolded word to its stem: Snowball's if it knows the language, otherwise its beginning."""
    bare = base_language(language)
    code = {"nb": "no", "nn": "no"}.get(bare, bare)
    try:
        stem: Callable[[str], str] = Stemmer.Stemmer(code, 0).stemWord  # `StemsOfWords` remembers
    except KeyError:
        return lambda word: word[: _SYLLABIC_PREFIX if _SYLLABIC.match(word) else _PREFIX]
    return stem


def _numbers(token: str) -> list[str]:
    """In ASCII digits without grouping, decimals after a point.

    The parts of a date or a version are separate numbers.
    """
    if not token.isascii():
        token = "".join(str(int(c)) if c.isdecimal() else c for c in token)
    if token.isdecimal():
        return [token]
    plain = _THOUSANDS.sub("", token).replace(",", ".")
    return [plain] if plain.count(".") <= 1 else plain.split(".")


def _pairs(run: str) -> Iterable[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


@lru_cache(maxsize=1)
def _unspaced() -> re.Pattern[str]:
    return re.compile(f"[{UNSPACED}]")


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    return re.compile(rf"{_NUMBER}|{_plain_pattern().pattern}")


@lru_cache(maxsize=1)
def _plain_pattern() -> re.Pattern[str]:
    # (?!) would read better than subtracting the unspaced scripts here, but is half as fast.
    word = rf"(?:[^\W\d_{UNSPACED}]|[{marks_of_words()}])+"
    return re.compile(rf"[{UNSPACED}]+|{word}")


@lru_cache(maxsize=1)
def marks_of_words() -> str:
    """The combining marks that half of the world's scripts write vowels with, for a pattern: Python takes them for no letters."""
    marks = "".join(chr(c) for c in range(0x300, _LAST_CODE_POINT) if unicodedata.category(chr(c))[0] == "M")
    return "".join(mark for mark in marks if not _unspaced().match(mark))


# A character of these scripts counts as three of an alphabet. On the true pairs of debian-manuals and
# installation-guide (2026-11, medians over about 50 pages each), a Chinese character corresponds to 3.4 characters of
# English, a Japanese one to 2.1.
_DENSE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]")


def text_key(text: str) -> int:
    """64 bits, the same in every process."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def weight(text: str) -> int:
    """The length in characters of an alphabet, so that a text and its translation weigh about the same."""
    return len(text) + (0 if text.isascii() else 2 * len(_DENSE.findall(text)))


_UNKNOWN, _KEPT, _DROPPED, _DIGIT = range(4)
_SPACE = ord(" ")
_kinds = np.full(0x110000, _UNKNOWN, dtype=np.uint8)  # by code point, filled as it is used


def bare_texts(texts: Sequence[str]) -> list[str]:
    """Letters, digits and symbols of each text, casefolded. But 1.5 is not 15, and a text of punctuation stays as it is.

    A hundred texts together take a tenth of the time that they take one by one.
    """
    if not texts:
        return []
    folded = [text.casefold() for text in texts]
    ends = np.cumsum([len(text) for text in folded])
    codes = np.frombuffer(bytearray("".join(folded).encode("utf-32-le", "surrogatepass")), dtype="<u4")
    kinds = _kinds_of(codes)
    stays = kinds != _DROPPED
    _keep_one_space_between_figures(codes, kinds, stays, ends)
    rest = codes[stays].tobytes().decode("utf-32-le", "surrogatepass")
    before = np.concatenate(([0], np.cumsum(stays)))  # how much is kept before each character
    places = [0, *before[ends].tolist()]
    return [rest[start:end] or text for text, (start, end) in zip(texts, pairwise(places), strict=True)]


def _kinds_of(codes: NDArray[np.uint32]) -> NDArray[np.uint8]:
    kinds = _kinds[codes]
    new = np.unique(codes[kinds == _UNKNOWN])
    if new.size:
        _kinds[new] = [_kind(code) for code in new.tolist()]
        kinds = _kinds[codes]
    return kinds


def _kind(code: int) -> int:
    """Punctuation, separators and control characters are dropped."""
    category = unicodedata.category(chr(code))
    return _DROPPED if category[0] in "PZC" else _DIGIT if category == "Nd" else _KEPT


def _keep_one_space_between_figures(
    codes: NDArray[np.uint32], kinds: NDArray[np.uint8], stays: Bools, ends: NDArray[np.int_]
) -> None:
    """Between two digits of the same text that had something dropped between them; `codes` and `kept` change."""
    digits = np.flatnonzero(kinds == _DIGIT)
    left, right = digits[:-1], digits[1:]
    apart = np.flatnonzero(right > left + 1)
    left, right = left[apart], right[apart]
    keeping = np.concatenate(([0], np.cumsum(stays)))
    only_dropped = keeping[right] == keeping[left + 1]
    same_text = np.searchsorted(ends, left, side="right") == np.searchsorted(ends, right, side="right")
    places = left[only_dropped & same_text] + 1
    codes[places] = _SPACE
    stays[places] = True


# Control characters, and what Python's splitlines and others treat as the end of a line: each segment is one line.
_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
# Also what XML 1.0 (section 2.2, Char) excludes: surrogates, which are half a character, and U+FFFE and U+FFFF.
_NO_CHARACTERS = re.compile("[\ud800-\udfff\ufffe\uffff]")
_MARKUP = re.compile('[&<>"]')


def one_line(text: str) -> str:
    """The text in the form that the corpus uses: one line of XML 1.0 characters. Inner spaces and bidi marks stay."""
    if text.isprintable():  # then it has none of the others; a quarter of the time of looking for them
        return text.strip()
    return _NO_CHARACTERS.sub("\ufffd", _BREAKS.sub(" ", text)).strip()


def xml(text: str) -> str:
    """One line, escaped for the content of an element or for an attribute in double quotes."""
    return escaped(one_line(text))


def escaped(line: str) -> str:
    """A text that is one line already, escaped for the content of an element or for an attribute in double quotes."""
    if not _MARKUP.search(line):
        return line
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
