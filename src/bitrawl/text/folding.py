"""A text as a search compares it: without case, accents, vowel points and invisible characters."""

import re
import unicodedata
from functools import lru_cache

from bitrawl.text.words import is_unspaced

# Soft hyphens, stretched Arabic letters, zero-width spaces (between Khmer and Thai words), marks of direction
_INVISIBLE = "\u00ad\u0640\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff"
_NO_CHARACTERS = re.compile("[\0\ud800-\udfff]")
# Canonical combining classes (Unicode Standard Annex 44). The first are the points of Hebrew and Arabic, which are mostly
# not written. The second are accents. Vowel signs, viramas, nuktas, voicing marks and Thai tones have other classes: they
# make other words.
_POINTS, _ACCENTS = range(10, 37), range(202, 241)


def folded(text: str) -> str:
    """What two texts have in common that a reader calls the same: `Été` and `ete`, `مُدَرِّس` and `مدرس`."""
    text = _NO_CHARACTERS.sub(" ", text)
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFC", _dropped().sub("", decomposed))


def places(text: str, phrase: str) -> list[tuple[int, int]]:
    """Where the phrase begins and ends in a text as it is written, to mark it there."""
    pattern = _pattern(folded(phrase))
    if pattern is None:
        return []
    pieces = [_folded_character(character) for character in text]
    origins = [number for number, piece in enumerate(pieces) for _ in piece]
    found = pattern.finditer("".join(pieces))
    return [(origins[one.start()], origins[one.end() - 1] + 1) for one in found if one.end() > one.start()]


@lru_cache(maxsize=256)
def _pattern(phrase: str) -> re.Pattern[str] | None:
    """None if nothing of it can be searched for."""
    tokens = "".join(c if c.isalnum() or unicodedata.category(c)[0] == "M" else " " for c in phrase).split()
    if not tokens:
        return None
    start = "" if is_unspaced(phrase.strip()[0]) else r"(?<!\w)"
    end = "" if is_unspaced(phrase.strip()[-1]) else r"(?!\w)"
    return re.compile(start + r"[\W_]+".join(map(re.escape, tokens)) + end)


@lru_cache(maxsize=10_000)
def _folded_character(character: str) -> str:
    return folded(character)


@lru_cache(maxsize=1)
def _dropped() -> re.Pattern[str]:
    marks = (chr(c) for c in range(0x300, 0x20000) if unicodedata.combining(chr(c)) in (*_POINTS, *_ACCENTS))
    return re.compile(f"[{_INVISIBLE}{''.join(marks)}]")
