"""Writes src/bitrawl/text/number_words.tsv.gz: how languages write numbers and months in words.

Needs babel (months and words such as "million", from CLDR) and the system's ICU (numerals spelled out by CLDR's rules):
pip install babel, apt install libicu72 or later, then python -m lab.tools.number_words.

One line a language and value: code, value, words separated by "|", folded as `text.numbers` folds a text. A numeral of
more than one word is left out: `text.numbers` adds up its parts.
"""

import collections
import ctypes
import ctypes.util
import gzip
import re
from typing import Any

from babel import Locale
from babel.localedata import locale_identifiers

from bitrawl.text.numbers import TABLE, spoken

CARDINALS = (*range(32), 40, 50, 60, 70, 80, 90, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000)
ORDINALS = (*range(1, 32), 40, 50, 60, 70, 80, 90, 100)
SPELLOUT, DEFAULT_RULESET, PUBLIC_RULESETS = 5, 6, 7  # unum.h

Words = dict[tuple[str, int], set[str]]


class Speller:
    """ICU's numerals of one language, through its C interface: no package of Python has them."""

    def __init__(self, language: str) -> None:
        self._icu, self._suffix = _icu()
        self._status = ctypes.c_int(0)
        opened = self._function("unum_open")
        opened.restype = ctypes.c_void_p
        self._format = ctypes.c_void_p(opened(SPELLOUT, None, 0, language.encode(), None, self._error()))

    def forms(self, numbers: tuple[int, ...], *, ordinal: bool) -> dict[int, set[str]]:
        found: dict[int, set[str]] = {number: set() for number in numbers}
        for rules in self._text(PUBLIC_RULESETS).strip(";").split(";"):
            if "spellout" in rules and "year" not in rules and ("ordinal" in rules) == ordinal:
                wide = _utf16(rules)
                self._function("unum_setTextAttribute")(self._format, DEFAULT_RULESET, wide, len(wide), self._error())
                for number in numbers:
                    found[number].add(self._spelled(number))
        return found

    def _spelled(self, number: int) -> str:
        buffer = (ctypes.c_uint16 * 400)()
        size = self._function("unum_formatInt64")(
            self._format, ctypes.c_int64(number), buffer, 400, None, self._error()
        )
        return bytes(bytearray(buffer))[: 2 * size].decode("utf-16-le")

    def _text(self, attribute: int) -> str:
        buffer = (ctypes.c_uint16 * 8000)()
        size = self._function("unum_getTextAttribute")(self._format, attribute, buffer, 8000, self._error())
        return bytes(bytearray(buffer))[: 2 * size].decode("utf-16-le")

    def _function(self, name: str) -> Any:
        return self._icu[name + self._suffix]

    def _error(self) -> Any:
        self._status.value = 0
        return ctypes.byref(self._status)


def _icu() -> tuple[ctypes.CDLL, str]:
    name = ctypes.util.find_library("icui18n")
    if name is None:
        raise SystemExit("ICU is missing: apt install libicu-dev")
    version = name.rpartition(".")[2]
    return ctypes.CDLL(name), f"_{version}"


def _utf16(text: str) -> Any:
    data = text.encode("utf-16-le")
    return (ctypes.c_uint16 * (len(data) // 2)).from_buffer_copy(data)


def _spelled_out(language: str, words: Words) -> None:
    speller = Speller(language)
    for ordinal, numbers in ((False, CARDINALS), (True, ORDINALS)):
        for number, forms in speller.forms(numbers, ordinal=ordinal).items():
            words[language, number] |= forms


def _months(locale: Locale, words: Words) -> None:
    for context in ("format", "stand-alone"):
        for width in ("wide", "abbreviated"):
            for number, name in locale.months[context][width].items():
                words[locale.language, number].add(name.rstrip("."))


def _scales(locale: Locale, words: Words) -> None:
    """Words like "million", from CLDR's patterns for compact numbers: 0 million."""
    for patterns in locale.compact_decimal_formats.get("long", {}).values():
        for size, pattern in patterns.items():
            zeros = str(pattern.pattern).count("0")
            name = re.sub(r"[0'.¤\s]+", " ", str(pattern.pattern)).strip()
            if name and zeros:
                words[locale.language, int(size) // 10 ** (zeros - 1)].add(name)


def main() -> None:
    words: Words = collections.defaultdict(set)
    locales = [Locale.parse(name) for name in sorted(locale_identifiers()) if name != "root"]
    for language in sorted({locale.language for locale in locales}):
        _spelled_out(language, words)
    for locale in locales:
        _months(locale, words)
        _scales(locale, words)
    lines = []
    for (language, number), forms in sorted(words.items()):
        # A name with a digit in it (1月) is found by its digit.
        whole = (spoken(form) for form in forms if not re.search(r"\d", form))
        # "one hundred", "o sută": the second word alone is the value.
        single = {tokens[-1] for tokens in whole if len(tokens) == 1 or (len(tokens) == 2 and number in (100, 1000))}
        kept = sorted(word for word in single if len(word) > 1 or not word.isascii())
        if kept:
            lines.append(f"{language}\t{number}\t{'|'.join(kept)}\n")
    TABLE.write_bytes(gzip.compress("".join(lines).encode(), 9, mtime=0))
    languages = len({line.partition("\t")[0] for line in lines})
    print(f"{TABLE}: {languages} languages, {len(lines)} values, {TABLE.stat().st_size} bytes")  # noqa: T201


if __name__ == "__main__":
    main()
