"""What the functions of the front door take. A wrong type is a `ConfigError` that names the argument and what it takes."""

from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from bitrawl.config import listed
from bitrawl.errors import ConfigError
from bitrawl.languages import parse_language
from bitrawl.model import Language

_LANGUAGES = "codes, as in 'en,fr' or ['en', 'fr']"
_SHOWN = 60  # characters of a wrong value

TERM_PAIRS = 500  # as many as a person will look through
# Judgement, from reading lilypond en-fr and gimp-help en-de (2026-11): of 39 pairs from 0.5 to 0.6 about 31 are right, of 55
# from 0.3 to 0.5 about 35.
TERM_PAIR_SCORE = 0.5


def wrong(name: str, value: object, takes: str) -> ConfigError:
    shown = repr(value)
    return ConfigError(f"{name} is {shown if len(shown) <= _SHOWN else shown[:_SHOWN] + '…'}; give {takes}")


def folder_path(name: str, value: Any) -> Path:
    if not isinstance(value, str | PathLike) or not isinstance(fspath(value), str) or not fspath(value):
        raise wrong(name, value, "the path of a folder")
    return Path(value)


def text(name: str, value: Any, takes: str) -> str:
    if not isinstance(value, str):
        raise wrong(name, value, takes)
    return value


def texts(name: str, value: Any, takes: str) -> list[str]:
    """One text, or several."""
    several = [value] if isinstance(value, str | PathLike) else value
    if isinstance(several, bytes | bytearray | Mapping) or not isinstance(several, Iterable):
        raise wrong(name, value, takes)
    given = list(several)
    if any(not isinstance(item, str | PathLike) for item in given):
        raise wrong(name, given, takes)
    return [fspath(item) for item in given]


def languages(name: str, value: Any) -> list[Language]:
    return [parse_language(code) for given in texts(name, value, _LANGUAGES) for code in listed(given)]


def two_languages(name: str, value: Any) -> tuple[Language, Language]:
    codes = languages(name, value)
    if len(codes) != 2:
        raise wrong(name, value, "two languages, as in 'en,fr' or ['en', 'fr']")
    return codes[0], codes[1]


def pair_or_none(name: str, value: Any) -> tuple[Language, ...]:
    """Two languages, or nothing for all."""
    return two_languages(name, value) if not isinstance(value, tuple | list | str) or value else ()


def whole_number(name: str, value: Any, least: int | None = None) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or (least is not None and value < least):
        raise wrong(name, value, "a whole number" if least is None else f"a whole number of at least {least}")
    return value


def share(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise wrong(name, value, "a number from 0 to 1")
    return float(value)


def yes_or_no(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise wrong(name, value, "True or False")
    return value
