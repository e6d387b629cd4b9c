"""Names of languages in each other's languages, as people type them, and the codes that sites use.

The names are CLDR's (Unicode licence v3). lab/tools/language_names.py writes the table.
"""

import gzip
import re
import unicodedata
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import langcodes
from langcodes import data_dicts

TABLE = Path(__file__).parent / "language_names.tsv.gz"

_ACCENTS = re.compile("[\u0300-\u036f]")
# Not \W, which would end a word at the vowel signs of Indic scripts.
_BETWEEN = re.compile(
    "[\\s\x00-/:-@\\[-`{-\xbf\u2000-\u200a\u2010-\u206f\u2190-\u2bff\u3000-\u303f\ufe0f\uff00-\uff0f\U0001f000-\U0001ffff]+"
)
_CODE = re.compile(r"([a-z]{2,3})(?:[-_]([a-z]{2}|hans|hant|latn|cyrl))?")
_NO_COUNTRY = re.compile("aa|ez|q[m-z]|un|x[a-jl-z]|zz")  # unions, and codes for private use


class NamedLanguage(NamedTuple):
    """A line of the table. The names are `spaced`."""

    code: str  # BCP 47, in lower case
    endonyms: tuple[str, ...]
    others: tuple[str, ...]  # names in other languages


def language_table() -> list[NamedLanguage]:
    """The table in the package. Each call reads it again, so keep the result."""
    return [_parsed(line) for line in gzip.decompress(TABLE.read_bytes()).decode().splitlines()]


def _parsed(line: str) -> NamedLanguage:
    """Code, endonyms and other names, separated by tabs. Names are separated by "|"."""
    code, endonyms, others = line.rstrip("\n").split("\t")
    return NamedLanguage(code, _names(endonyms), _names(others))


def _names(field: str) -> tuple[str, ...]:
    return tuple(field.split("|")) if field else ()


def folded(text: str) -> str:
    """Without case and without the accents that people leave out ("Francais"). Signs of Indic scripts stay."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold())))


def spaced(text: str) -> str:
    """Folded, with one space between words: the form of the names in the table."""
    return _BETWEEN.sub(" ", folded(text)).strip()


@lru_cache(maxsize=4096)
def language_code(text: str) -> str:
    """The language that a site means by a code: "en", "pt-br", "eng", and "cz" or "jp" for a country's language.

    Empty if there is none. Two letters that are both a language and a country (uk, br) mean the language.
    """
    match = _CODE.fullmatch(text.strip().lower())
    if not match:
        return ""
    code, variety = match[1], match[2]
    if code in data_dicts.LANGUAGE_ALPHA3:
        return f"{code}-{variety}" if variety else code
    if len(code) == 3:
        return three_letter_codes().get(code, "")
    if _NO_COUNTRY.fullmatch(code):
        return ""
    country = langcodes.Language.make(territory=code.upper())
    if variety or not country.is_valid():
        return ""
    language = country.maximize().language or ""
    return language if len(language) == 2 else ""  # "tv" is television, not Tuvaluan


@lru_cache(maxsize=1)
def three_letter_codes() -> dict[str, str]:
    """From three letters to two, if a language has both, including the bibliographic codes ("ger")."""
    pairs = [*data_dicts.LANGUAGE_ALPHA3.items(), *data_dicts.LANGUAGE_ALPHA3_BIBLIOGRAPHIC.items()]
    return {three: two for two, three in pairs}
