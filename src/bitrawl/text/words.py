"""From a text to its words, for any script, in the form in which two texts are compared."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache

import Stemmer

from bitrawl.model import Language

# Scripts that put no space between words: Han with kana and bopomofo, Thai, Lao, Myanmar, Khmer, Tai. Their words are
# pairs of neighbouring characters: the commonest length of a Chinese word, and no model is needed for any of them.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aad\u3005-\u3007\u3041-\u312f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaaff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
# 1.234.567,50; a date (12.5.1957, split later), 3.5, 1957
_NUMBER = r"\d+(?:[.,'’\u00a0\u202f ]\d{3})+(?![\d])(?:[.,]\d+(?![.,]?\d))?|\d+(?:[.,]\d+)*"
_THOUSANDS = re.compile(r"[.,'’\u00a0\u202f ](?=\d{3}(?!\d))")
_LAST_CODE_POINT = 0x12000  # beyond it are no marks that words are written with, or in no living script
# Judgement: where Snowball has no stemmer, a word is its beginning: endings are what most languages inflect. Hangul and other
# syllabaries say in two letters what an alphabet says in five.
_PREFIX, _SYLLABIC_PREFIX = 5, 2
_SYLLABIC = re.compile("[\u1200-\u137f\uac00-\ud7af]")


def words(text: str, language: Language) -> list[str]:
    """Casefolded words and numbers in order, cut to their stems; the same word has the same form wherever it stands.

    Numbers are written alike however their digits are grouped (1.234.567, 1 234 567). A run of characters of a script
    without spaces gives its pairs of neighbours.
    """
    found = _pattern().findall(unicodedata.normalize("NFKC", text).casefold())
    tokens: list[str] = []
    stem = stemmer(language)
    for token in found:
        first = token[0]
        if first.isdecimal():
            tokens += _numbers(token)
        elif first >= "\u0e00" and _unspaced().match(first):
            tokens += _pairs(token)
        else:
            tokens.append(stem(token) or token)  # Snowball leaves nothing of Greek "όταν" or of an Arabic vowel mark
    return tokens


@lru_cache(maxsize=64)
def stemmer(language: Language) -> Callable[[str], str]:
    """Cuts a casefolded word to its stem: Snowball's way where it knows the language, else its beginning."""
    bare = language.split("-")[0]
    code = {"nb": "no", "nn": "no"}.get(bare, bare)
    try:
        stem = Stemmer.Stemmer(code, 100_000).stemWord
    except KeyError:
        return _beginning
    return stem  # type: ignore[no-any-return]


def _numbers(token: str) -> list[str]:
    """In ASCII digits without grouping, decimals after a point; the parts of a date or a version each alone."""
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
    return re.compile(f"[{_UNSPACED}]")


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    # Python's \w leaves out the combining marks that half of the world's scripts write their vowels with.
    marks = "".join(chr(c) for c in range(0x300, _LAST_CODE_POINT) if unicodedata.category(chr(c))[0] == "M")
    # (?!) would read better than subtracting them by hand, at half the speed.
    marks = "".join(mark for mark in marks if not _unspaced().match(mark))
    word = rf"(?:[^\W\d_{_UNSPACED}]|[{marks}])+"
    return re.compile(rf"{_NUMBER}|[{_UNSPACED}]+|{word}")
