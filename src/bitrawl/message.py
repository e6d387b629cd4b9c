"""What people are told, as a value: an English sentence with names in braces, and what fills them.

The sentence is the key of the web app's catalogues. `str` says it in English, `web/messages.py` in the reader's language.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Self, TypeAlias, Union

import msgspec

from bitrawl.languages import language_name

QUOTED = "{quoted}"


class Code(msgspec.Struct, frozen=True):
    """A language, to be named in the language of the reader."""

    code: str

    def __str__(self) -> str:
        return language_name(self.code)


class Unit(StrEnum):
    """Units of quantities, by their names in CLDR."""

    MINUTE = "duration-minute"
    BYTE = "digital-byte"
    KILOBYTE = "digital-kilobyte"
    MEGABYTE = "digital-megabyte"


_UNITS = {Unit.MINUTE: "minute", Unit.BYTE: "B", Unit.KILOBYTE: "kB", Unit.MEGABYTE: "MB"}


class Amount(msgspec.Struct, frozen=True):
    """A number with its unit."""

    number: float
    unit: Unit

    def __str__(self) -> str:
        several = "s" if self.unit is Unit.MINUTE and self.number != 1 else ""
        return f"{_english(self.number)} {_UNITS[self.unit]}{several}"


class Cause(msgspec.Struct, frozen=True):
    """Why something failed: in short, which can be translated, and as the program says it, in English."""

    label: str
    detail: str = ""

    def __str__(self) -> str:
        return self.detail or self.label


class Share(msgspec.Struct, frozen=True):
    """A part of a whole, in per cent. Only nothing is shown as 0 %, and only everything as 100 %."""

    part: float
    whole: float

    def __str__(self) -> str:
        percent = 100 * self.part / self.whole if self.whole else 0.0
        if 0 < percent < 1:
            return "under 1 %"
        return f"{99 if 99 < percent < 100 else percent:.0f} %"


Value: TypeAlias = Union[int, float, str, Code, Amount, Cause, Share, "Message", "tuple[Value, ...]"]


class Message(msgspec.Struct, frozen=True):
    """`text` is the sentence; `plural` is the same for any number {n} but one."""

    text: str
    values: dict[str, Value] = {}
    plural: str = ""

    def __str__(self) -> str:
        text = self.plural if self.plural and self.values["n"] != 1 else self.text
        return text.format_map({name: _english(value) for name, value in self.values.items()})

    @property
    def is_quoted(self) -> bool:
        """Whether it is a sentence of the program, not of the app: English in every language of the interface."""
        return self.text == QUOTED


class Wording(StrEnum):
    """A closed set of sentences. A row has a name, the sentence, and the same for any number {n} but one."""

    text: str
    plural: str

    def __new__(cls, name: str, text: str = "", plural: str = "") -> Self:
        row = str.__new__(cls, name)
        row._value_, row.text, row.plural = name, text, plural
        return row

    def message(self, **values: Value) -> Message:
        return Message(self.text, values, self.plural)


def _english(value: Value) -> str:
    match value:
        case float() if not value.is_integer():
            return f"{value:g}"
        case int() | float():
            return f"{value:,.0f}"
        case tuple():
            return enumerated(map(_english, value))
        case _:
            return str(value)


def enumerated(parts: Iterable[str]) -> str:
    """A, b and c."""
    *most, last = list(parts) or ["none"]
    return f"{', '.join(most)} and {last}" if most else last
