"""A text as a search compares it: without case, accents, vowel points and invisible characters."""

import re
import unicodedata
from functools import lru_cache

from bitrawl.text.words import is_unspaced

# Soft hyphens, stretched Arabic letters, zero-width spaces (between Khmer and Thai words), marks of direction
_INVISIBLE = "\u00ad\u0640\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
# Canonical combining classes (Unicode Standard Annex 44). The first are the points of Hebrew and Arabic, which are mostly
# not written. The second are accents. Vowel signs, viramas, nuktas, voicing marks and Thai tones have other classes: they
# make other words.
_POINTS, _ACCENTS = range(10, 37), range(202, 241)


class _Kept(dict[int, str | None]):
    """A table for `str.translate`, filled as it is used."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        mark = unicodedata.combining(character)
        if character == "\0" or unicodedata.category(character) == "Cs":  # SQLite takes neither
            self[code] = " "
        else:
            self[code] = None if character in _INVISIBLE or mark in _POINTS or mark in _ACCENTS else character
        return self[code]


_KEPT = _Kept()


def folded(text: str) -> str:
    """What two texts have in common that a reader calls the same: `Été` and `ete`, `مُدَرِّس` and `مدرس`."""
    if text.isascii():
        return text.replace("\0", " ").lower()
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFC", decomposed.translate(_KEPT))


def places(text: str, phrase: str) -> list[tuple[int, int]]:
    """Where the phrase begins and ends in a text as it is written, to mark it there."""
    pattern = _pattern(folded(phrase))
    if pattern is None:
        return []
    pieces = [_folded_character(character) for character in text]
    origins = [number for number, piece in enumerate(pieces) for _ in piece]
    inside = "".join(pieces)
    found = (one.span() for one in pattern.finditer(inside))
    return [
        (origins[start], origins[end - 1] + 1)
        for start, end in found
        if not _is_in_a_word(inside, start) and not _is_in_a_word(inside, end)
    ]


def _is_in_a_word(text: str, place: int) -> bool:
    """Whether the characters before and after that place belong to one word."""
    around = text[place - 1 : place + 1] if place else ""
    return len(around) == 2 and around.isalnum() and not any(map(is_unspaced, around))


@lru_cache(maxsize=256)
def _pattern(phrase: str) -> re.Pattern[str] | None:
    """None if nothing of it can be searched for."""
    tokens = "".join(c if c.isalnum() or unicodedata.category(c)[0] == "M" else " " for c in phrase).split()
    if not tokens:
        return None
    return re.compile(r"[\W_]+".join(map(re.escape, tokens)))


@lru_cache(maxsize=10_000)
def _folded_character(character: str) -> str:
    return folded(character)
