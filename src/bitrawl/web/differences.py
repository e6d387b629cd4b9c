"""Where two texts that should say the same differ by what can be seen: numbers, names, the end, brackets and quotes.

A mark is a hint for a reader and decides nothing. What may be good style is not marked: other brackets, an exclamation
mark for a full stop. `python -m lab.bench.differences` counts the marks in good corpora.
"""

import re
import unicodedata
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from bitrawl.languages import script_of
from bitrawl.model import Language
from bitrawl.text.numbers import places_of_difference
from bitrawl.text.words import Span

_WORD = re.compile(r"[^\W_]+")
_LATIN = re.compile(r"[a-zß-öø-ÿ\u0100-\u024f\d]+", re.IGNORECASE)
_SHORTEST = 3  # letters of a name
# IPv6, GitHub: no ordinary word of any language. A plural of capitals (DVDs) is one.
_INVENTED = re.compile(r"[^\W\d_]\d|[a-zß-öø-ÿ][A-ZÀ-ÖØ-Þ]")
_CLOSING = ("Pe", "Pf", "Pi", "Zs")  # quotes are of both kinds, by language
# Where Unicode has brackets and quotation marks for running text.
_BLOCKS = (range(0x100), range(0x2000, 0x2070), range(0x3000, 0x3040), range(0xFF00, 0xFFF0))
_LONGEST = 5000  # characters: more is no segment, and not worth the time


class DifferenceKind(StrEnum):
    """What only one of two texts has."""

    NUMBER = "number"
    NAME = "name"
    ENDING = "ending"  # a question mark; or a stop or a colon, and the other text ends with none
    UNPAIRED = "unpaired"  # a bracket or a quotation mark without its partner


class Difference(NamedTuple):
    """A part of a text that has nothing in its place in the other one."""

    kind: DifferenceKind
    start: int
    end: int


class Differences(NamedTuple):
    """What only one of two texts has, for each in the order of its text."""

    a: tuple[Difference, ...] = ()
    b: tuple[Difference, ...] = ()


def differences(a: str, b: str, languages: tuple[Language, Language]) -> Differences:
    """What only one of two texts in these languages has."""
    if max(len(a), len(b)) > _LONGEST:
        return Differences()
    numbers = places_of_difference(a, b, languages)
    names = _names(a, b, languages), _names(b, a, (languages[1], languages[0]))
    endings = _endings(a, b, languages)
    unpaired = _unpaired(a, b)
    own = [
        (
            *(Difference(DifferenceKind.NUMBER, *span) for span in numbers[side]),
            *(Difference(DifferenceKind.NAME, *span) for span in names[side]),
            *(Difference(DifferenceKind.ENDING, *span) for span in endings[side]),
            *(Difference(DifferenceKind.UNPAIRED, *span) for span in unpaired[side]),
        )
        for side in (0, 1)
    ]
    return Differences(*(tuple(sorted(marks, key=lambda mark: mark.start)) for marks in own))


def _names(text: str, other: str, languages: tuple[Language, Language]) -> list[Span]:
    """Words in Latin letters that no translation changes, and that the other text does not have.

    In a text that is written otherwise, any Latin word with a capital is one, if the other language is written in Latin
    letters. Between two languages with Latin letters, a capital says little: London is Londres.
    """
    any_capital = not _is_latin(languages[0]) and _is_latin(languages[1])
    words = [match for match in _WORD.finditer(text) if _is_name(match.group(), any_capital=any_capital)]
    if not words:
        return []
    bare = _bare(other)
    return [Span(*match.span()) for match in words if _bare(match.group()) not in bare]


def _is_name(word: str, *, any_capital: bool) -> bool:
    if len(word) < _SHORTEST or word[0].isdecimal() or not _LATIN.fullmatch(word):
        return False
    return _INVENTED.search(word) is not None or (any_capital and word[0].isupper())


def _is_latin(language: Language) -> bool:
    return script_of(language) == "Latn"


def _bare(text: str) -> str:
    """Its letters and digits, without accents and capitals."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", text).casefold()))


class _Ending(StrEnum):
    """With what a text ends."""

    QUESTION = "?"
    STOP = "."  # also an exclamation mark and dots
    COLON = ":"
    OTHER = ","  # a comma, a semicolon, a dash
    NONE = ""


_ENDINGS = {
    "QUESTION MARK": _Ending.QUESTION,
    "EXCLAMATION MARK": _Ending.STOP,
    "FULL STOP": _Ending.STOP,
    "DANDA": _Ending.STOP,
    "ELLIPSIS": _Ending.STOP,
    "SEMICOLON": _Ending.OTHER,
    "COLON": _Ending.COLON,
}
"""By what the name of the character ends with, in Unicode."""


def _endings(a: str, b: str, languages: tuple[Language, Language]) -> tuple[list[Span], list[Span]]:
    place_a, place_b = _last(a), _last(b)
    if place_a < 0 or place_b < 0:
        return [], []
    end_a, end_b = _ending(a[place_a], languages[0]), _ending(b[place_b], languages[1])
    differ = end_a is not end_b and (_Ending.QUESTION in (end_a, end_b) or _Ending.NONE in (end_a, end_b))
    marked = (_Ending.QUESTION, _Ending.STOP, _Ending.COLON)
    return (
        [Span(place_a, place_a + 1)] if differ and end_a in marked else [],
        [Span(place_b, place_b + 1)] if differ and end_b in marked else [],
    )


def _last(text: str) -> int:
    """The place of the last character that is no quotation mark, bracket or space; -1 if there is none."""
    for place in range(len(text) - 1, -1, -1):
        character = text[place]
        if character not in "\"'" and unicodedata.category(character) not in _CLOSING:
            return place
    return -1


def _ending(character: str, language: Language) -> _Ending:
    if character == ";" and script_of(language) == "Grek":
        return _Ending.QUESTION
    if unicodedata.category(character)[0] != "P":
        return _Ending.NONE
    name = unicodedata.name(character, "")
    return next((ending for end, ending in _ENDINGS.items() if name.endswith(end)), _Ending.OTHER)


def _unpaired(a: str, b: str) -> tuple[list[Span], list[Span]]:
    """Where only one of the two texts has any: lists count a), b) on both sides."""
    in_a, in_b = list(_without_partner(a)), list(_without_partner(b))
    return ([], []) if in_a and in_b else (in_a, in_b)


def _without_partner(text: str) -> Iterator[Span]:
    open_brackets: list[int] = []
    quotes: list[int] = []
    for match in _pairing_marks().finditer(text):
        place, character = match.start(), match.group()
        if _is_quote(character):
            quotes.append(place)
        elif unicodedata.category(character) == "Ps":
            open_brackets.append(place)
        elif open_brackets:
            open_brackets.pop()
        else:
            yield Span(place, place + 1)
    odd = [quotes[-1]] if len(quotes) % 2 else []
    yield from (Span(place, place + 1) for place in (*open_brackets, *odd))


def _is_quote(character: str) -> bool:
    """Whether it is a double quotation mark. Which one opens depends on the language; a single one may be an apostrophe."""
    name = unicodedata.name(character, "")
    return name.endswith("QUOTATION MARK") and "SINGLE" not in name


@lru_cache(maxsize=1)
def _pairing_marks() -> re.Pattern[str]:
    """Brackets and double quotation marks."""
    characters = [chr(code) for block in _BLOCKS for code in block]
    marks = [
        c
        for c in characters
        if _is_quote(c) or (unicodedata.category(c) in ("Ps", "Pe") and "QUOT" not in unicodedata.name(c))
    ]
    return re.compile(f"[{re.escape(''.join(marks))}]")
