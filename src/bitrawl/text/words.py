"""The words of a text, for any script, in a form that can be compared."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import chain

import Stemmer

from bitrawl.model import Language

# Scripts without spaces between words: Han with kana and bopomofo, Thai, Lao, Myanmar, Khmer, Tai. Their words are
# pairs of neighbouring characters: that is the most common length of a Chinese word, and none of them needs a model.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aad\u3005-\u3007\u3041-\u312f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaaff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
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
_REMEMBERED, _LONGEST_REMEMBERED = 100_000, 50  # words of a language, letters of a word: at most 20 MB; judgement
# Combining marks and scripts without spaces are among these characters. A text without any of them (Latin, Greek,
# Cyrillic, Hangul as they are usually written) is read five times faster by the plain pattern.
_ELABORATE = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0590-\u1dff\u20d0-\u20ff\u2c00-\uabff\ud7b0-\uffff\U00010000-\U0010ffff]"
)
# A set of Latin letters is looked up faster than the categories of any letter are.
_PLAIN = re.compile(rf"[a-zß-öø-ÿ]++[^\W\d_]*+|[^\W\d_]++|{_NUMBER}")


def words(text: str, language: Language) -> list[str]:
    """Casefolded words and numbers in order, reduced to their stems. The same word always has the same form.

    Numbers are written alike however their digits are grouped (1.234.567, 1 234 567). In a script without spaces, each
    pair of neighbouring characters is a word.
    """
    return list(chain.from_iterable(map(stems_of(language).__getitem__, written_words(text))))


def written_words(text: str) -> list[str]:
    """Casefolded words as they are written, numbers as they are grouped, and runs of a script without spaces."""
    text = unicodedata.normalize("NFKC", text).casefold()
    if not is_elaborate(text):
        return _PLAIN.findall(text)
    # Line by line, because a foreign name would otherwise slow down a whole article. No word goes over the end of a line.
    return [word for line in text.split("\n") for word in (_pattern() if is_elaborate(line) else _PLAIN).findall(line)]


def word_places(text: str) -> list[tuple[int, int]]:
    """Where each written word begins and ends, in a text that is in NFKC and in its own case."""
    return [found.span() for found in (_pattern() if is_elaborate(text) else _PLAIN).finditer(text)]


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


def unspaced_count(text: str) -> int:
    """How many of its characters belong to scripts that put no spaces between words."""
    return 0 if text.isascii() else len(_unspaced().findall(text))


def plain_words(text: str) -> list[str]:
    """As `words`, but not stemmed, and without numbers."""
    text = unicodedata.normalize("NFKC", text).casefold()
    if not _OTHER.search(text):
        found: list[str] = _LETTERS.findall(text)
        return found
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
    bare = language.split("-")[0]
    code = {"nb": "no", "nn": "no"}.get(bare, bare)
    try:
        stem = Stemmer.Stemmer(code, 0).stemWord  # `StemsOfWords` remembers
    except KeyError:
        return _beginning
    return stem  # type: ignore[no-any-return]


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


def _beginning(word: str) -> str:
    return word[: _SYLLABIC_PREFIX if _SYLLABIC.match(word) else _PREFIX]


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
    # Python's \w lacks the combining marks that half of the world's scripts use to write vowels.
    marks = "".join(chr(c) for c in range(0x300, _LAST_CODE_POINT) if unicodedata.category(chr(c))[0] == "M")
    # (?!) would read better than subtracting them here, but is half as fast.
    marks = "".join(mark for mark in marks if not _unspaced().match(mark))
    word = rf"(?:[^\W\d_{UNSPACED}]|[{marks}])+"
    return re.compile(rf"[{UNSPACED}]+|{word}")
