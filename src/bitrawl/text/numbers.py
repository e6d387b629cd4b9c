"""The numbers of a text by their value: in digits of any script, in words, in Chinese or Roman numerals, in dates."""

import gzip
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

from bitrawl.languages import base_language
from bitrawl.model import Language
from bitrawl.text.words import Span

TABLE = Path(__file__).parent / "number_words.tsv.gz"

# Digits with their grouping: 1,234,567.50, 1 234 567,50; or a decimal, a date, a version: 3.5, 12.5.1957, 4.0.12.
_NUMBER = re.compile(
    r"\d{1,3}(?P<group>[.,'’ ٬])\d{3}(?:(?P=group)\d{3})*(?!\d)(?:[.,٫]\d+(?![.,]?\d))?|\d+(?:[.,٫]\d+)*"
)
_GROUPING = re.compile(r"(?<=\d)[.,'’ ٬](?=\d{3}(?!\d))")
# i18n, l10n, a11y, k8s: letters that are counted; a translation mostly writes the word.
_NUMERONYM = re.compile(r"\b[a-z]\d{1,2}[a-z]\b", re.IGNORECASE)
# "1 つ" is "a", "1 year" is "года": an article or a singular stands for it.
_SINGLE = frozenset("1")
# What languages have many words for: none, both, double, thrice, двойка. Missing where no other number stands in its place, it
# says nothing. (Of the flags that rested on these alone, half were wrong: read, 2026-11.)
_SMALL = frozenset("0123")
_RUN = re.compile(r"\d+")
_POSSIBLE_DIGIT = re.compile("[\\d\u00b2-\u00be\u2070-\U0010ffff]")  # nothing else is compatible with one
# Footnote marks and exponents: m² is no 2.
_RAISED = re.compile("[\u00b2\u00b3\u00b9\u2070-\u2079\u2080-\u2089]")
_FRACTION = re.compile("([\u00bc-\u00be\u2150-\u215e])")
_ACCENTS = re.compile("[\u00ad\u0300-\u036f]")  # of Latin, Greek and Cyrillic; other scripts write vowels with theirs
# What stands between words. Combining marks are part of a word, as half of the world's scripts write their vowels with them.
_BETWEEN = re.compile(r"[\s\d!-/:-@\[-`{-~\u00a1-\u00bf\u2010-\u205e\u3000-\u3004\u3008-\u3020，．：；！？（）]+")
_ROMAN = re.compile(r"\b(?=[IVXLCDM])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})\b")
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_HALF_DAY = re.compile(r"\s*[ap]\.?\s?m\b", re.IGNORECASE)
_HOURS = frozenset(map(str, range(1, 13)))
_CHINESE = re.compile("[〇零一二三四五六七八九十百千万萬亿億两兩壹贰叁肆伍陆柒捌玖拾]+")
_CHINESE_DIGITS = dict(
    zip("〇零一二三四五六七八九两兩壹贰叁肆伍陆柒捌玖", (0, *range(10), 2, 2, *range(1, 10)), strict=True)
)
_CHINESE_UNITS = {"十": 10, "拾": 10, "百": 100, "千": 1000}
_CHINESE_SCALES = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
# After digits, what multiplies them; 5 千 is 5000, but 5 十 is not written.
_AFTER_DIGITS = {"百": 100, "千": 1000, **_CHINESE_SCALES, "만": 10**4, "억": 10**8}
_MOST_NUMERAL = 30  # characters of a Chinese numeral, or words of another; a longer run is no number
_BEGINNING = 4  # letters by which an inflected numeral is known; judgement
_LONG_TEXT = 20_000  # characters: no sentence, and not worth more than a look at its digits
_LONG = 40  # digits; what is longer is a key or a row of a table, and compared as it is written


class Numbers:
    """The numbers of one text.

    What is `written` in digits is a number in any translation. What is only `spoken` may be one ("two", "May", "IV") or
    not ("one of them", "I", "may"): it can stand for a number of the other text, but nothing has to stand for it.
    """

    def __init__(self, text: str, language: Language) -> None:
        self._written, self._text, self._language = text, _NUMERONYM.sub(_blank, _plain(text)), language

    @property
    def length(self) -> int:
        return len(self._written)

    @cached_property
    def runs(self) -> Counter[str]:
        """Its digits without any reading of the marks between them."""
        return Counter(map(_stripped, _RUN.findall(self._text)))

    @property
    def written(self) -> Counter[str]:
        """Grouping undone, decimals after a point: "1234567", "3.5"; the parts of a date or a version each alone."""
        return self._read[0]

    @cached_property
    def named(self) -> frozenset[str]:
        """In words, or in Chinese or Roman numerals."""
        return _spoken(self._text, self._language)

    @property
    def spoken(self) -> frozenset[str]:
        return self._read[1] | self.named

    def places(self, values: AbstractSet[str], *, by_run: bool = False) -> list[Span]:
        """Where one of these values is written; with `by_run`, where one of these runs of digits is."""
        text = self._text
        spans = [
            match.span()
            for match in (_RUN if by_run else _NUMBER).finditer(text)
            if not values.isdisjoint([_stripped(match.group())] if by_run else self._values(match))
        ]
        if not spans or len(text) == len(self._written):
            return [Span(*span) for span in spans]
        ends = list(accumulate(len(_plain(character)) for character in self._written))
        return [Span(bisect_right(ends, start), bisect_left(ends, end) + 1) for start, end in spans]

    @cached_property
    def _read(self) -> tuple[Counter[str], frozenset[str]]:
        """What is written, and how else some of it may be meant."""
        written: list[str] = []
        otherwise: set[str] = set()
        for match in _NUMBER.finditer(self._text):
            values = self._values(match)
            if len(values) == 1 and (plain := _parts(match.group())) != values:
                otherwise.update(plain)  # "2 million" is 2 000 000, or "2 Mio."
            if len(values) == 1 and values[0] in _HOURS and _HALF_DAY.match(self._text, match.end()):
                otherwise.update((values[0], str(int(values[0]) + 12)))  # 3 pm is 15:00, but also 下午3点
            else:
                written += values
                otherwise.update(_year(values[0]))
        return Counter(written), frozenset(otherwise)

    def _values(self, match: re.Match[str]) -> list[str]:
        """Of a number in the text, multiplied by the word after it."""
        values = _parts(match.group())
        if len(values) == 1 and (factor := _factor(self._text, match.end(), self._language)) > 1:
            return [_scaled(values[0], factor)]
        return values


class NumberAgreement(NamedTuple):
    """How many numbers in digits two texts share, and how many only one of them has in any form."""

    shared: int
    different: int


class _Compared(NamedTuple):
    """What two texts share, and what only the first and only the second has."""

    shared: int
    only_a: AbstractSet[str]
    only_b: AbstractSet[str]

    @property
    def different(self) -> int:
        return len(self.only_a) + len(self.only_b)


def values(text: str, language: Language) -> Counter[str]:
    """Each value as often as the text has it, those in words included: "May 2, 2024" has 2, 2024 and 5."""
    numbers = Numbers(text, language)
    return numbers.written + Counter(numbers.spoken - numbers.written.keys())


def agreement(a: str, b: str, languages: tuple[Language, Language]) -> NumberAgreement:
    """By value, or else by runs of digits, whichever agrees better; how often does not count, nor the order.

    The first takes 1,000 and 1 000 for equal, the second 5/12 and 12.05.
    """
    if not (_POSSIBLE_DIGIT.search(a) or _POSSIBLE_DIGIT.search(b)):
        return NumberAgreement(0, 0)
    first, second = Numbers(a, languages[0]), Numbers(b, languages[1])
    if first.runs.keys() == second.runs.keys():
        return NumberAgreement(len(first.runs), 0)
    by_value, by_run = _both_ways(first, second)
    better = min(by_value, by_run, key=lambda either: either.different)
    return NumberAgreement(better.shared, better.different)


def places_of_difference(a: str, b: str, languages: tuple[Language, Language]) -> tuple[list[Span], list[Span]]:
    """Where in each text the numbers stand that the other has in no form."""
    first, second = Numbers(a, languages[0]), Numbers(b, languages[1])
    if first.runs.keys() == second.runs.keys():
        return [], []
    by_value, by_run = _both_ways(first, second)
    is_run = by_run.different < by_value.different
    better = by_run if is_run else by_value
    return first.places(better.only_a, by_run=is_run), second.places(better.only_b, by_run=is_run)


def _both_ways(first: Numbers, second: Numbers) -> tuple[_Compared, _Compared]:
    """By value and by runs of digits; of texts that are no sentences by runs alone."""
    a, b = first.runs.keys(), second.runs.keys()
    if max(first.length, second.length) > _LONG_TEXT:
        by_run = _Compared(len(a & b), a - b, b - a)
        return by_run, by_run
    return _compared((first, first.written.keys()), (second, second.written.keys())), _compared((first, a), (second, b))


def _compared(first: tuple[Numbers, AbstractSet[str]], second: tuple[Numbers, AbstractSet[str]]) -> _Compared:
    (text_a, a), (text_b, b) = first, second
    only_a, only_b = a - b - text_b.spoken - _SINGLE, b - a - text_a.spoken - _SINGLE
    if not only_b and only_a <= _SMALL and text_b.named <= a:
        only_a = frozenset()
    if not only_a and only_b <= _SMALL and text_a.named <= b:
        only_b = frozenset()
    return _Compared(len(a | b) - len(only_a) - len(only_b), only_a, only_b)


def spoken(text: str) -> list[str]:
    """Its words as the table of number words has them: no capitals, no accents, no soft hyphens."""
    folded = _ACCENTS.sub("", unicodedata.normalize("NFKD", text).casefold())
    return [word for word in _BETWEEN.split(folded) if word]


def _plain(text: str) -> str:
    """In ASCII digits, compatible characters made one; nothing raised, and fractions apart from the number before."""
    if not text.isascii():
        text = _FRACTION.sub(r" \1 ", _RAISED.sub(" ", text))
        text = unicodedata.normalize("NFKC", text)
        text = re.sub(r"[^\W\D0-9]|(?![0-9])\d", lambda digit: str(unicodedata.decimal(digit.group())), text)
    return text


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _parts(number: str) -> list[str]:
    """Its value; the values of its parts where it is a date or a version."""
    if len(number) > _LONG:
        return _RUN.findall(number)
    if number.isdecimal():
        return [_stripped(number)]
    plain = re.sub("[,٫]", ".", _GROUPING.sub("", number) if _is_grouped(number) else number)
    whole, _, decimals = plain.partition(".")
    if "." in decimals:
        return [_stripped(part) for part in plain.split(".")]
    decimals = decimals.rstrip("0")
    return [f"{_stripped(whole)}.{decimals}" if decimals else _stripped(whole)]


def _is_grouped(number: str) -> bool:
    match = _NUMBER.fullmatch(number)
    return bool(match and match.group("group"))


def _year(value: str) -> Iterator[str]:
    """The 1980s are the 80s."""
    if len(value) == 4 and value.startswith("19"):
        yield _stripped(value[2:])
    elif len(value) == 2 and value.isdecimal():
        yield f"19{value}"


def _stripped(digits: str) -> str:
    return digits.lstrip("0") or "0"


def _scaled(value: str, factor: int) -> str:
    whole, _, decimals = value.partition(".")
    zeros = len(str(factor)) - 1
    if len(decimals) > zeros:
        return value
    return _stripped(whole + decimals.ljust(zeros, "0"))


def _factor(text: str, end: int, language: Language) -> int:
    """What the word after a number multiplies it by; 1 for most."""
    after = text[end : end + 20].lstrip(" ")  # no scale's name is longer
    if not after[:1].isalpha():
        return 1
    if after[0] in _AFTER_DIGITS:
        return _AFTER_DIGITS[after[0]]
    words = spoken(after)
    table = _words(_base(language))
    meanings = (table.get(words[0]) or _inflected(words[0], table)) if words else ()
    return max((value for value in meanings if value >= 1000 and str(value).strip("0") == "1"), default=1)


def _spoken(text: str, language: Language) -> frozenset[str]:
    values = {str(value) for value in _in_words(text, language)}
    values.update(str(_roman(numeral)) for numeral in _ROMAN.findall(text) if numeral)
    for run in _CHINESE.findall(text):
        values.update(map(str, _chinese(run)))
    return frozenset(values)


def _in_words(text: str, language: Language) -> Iterator[int]:
    """Each numeral and each month alone; and numerals in a row, with at most one other word between, as one number."""
    table = _words(_base(language))
    run: list[int] = []
    gap = 0
    for word in spoken(text) if table else ():
        meanings = table.get(word) or _inflected(word, table)
        if meanings:
            yield from meanings
            run.append(max(meanings))
        gap = 0 if meanings else gap + 1
        if gap == 2:
            yield from _added_up(run)
            run = []
    yield from _added_up(run)


def _inflected(word: str, table: Mapping[str, frozenset[int]]) -> frozenset[int]:
    """What it may be by its beginning: "cinquantaine" is 50, as "cinquante" is."""
    beginnings = (f"{word[:size]}-" for size in range(len(word) - 1, _BEGINNING - 1, -1))
    return next((table[beginning] for beginning in beginnings if beginning in table), frozenset())


def _added_up(numerals: Sequence[int]) -> Iterator[int]:
    """Of "one thousand and thirty" 1030, of "noventa y nueve" 99; of "three or four" 7 as well, which does no harm."""
    if not 1 < len(numerals) <= _MOST_NUMERAL:
        return
    total = current = 0
    for numeral in numerals:
        if numeral >= 1000:
            total, current = total + (current or 1) * numeral, 0
        else:
            current = (current or 1) * numeral if numeral == 100 else current + numeral
    yield total + current


def _roman(numeral: str) -> int:
    digits = [_ROMAN_DIGITS[letter] for letter in numeral]
    return sum(-digit if digit < after else digit for digit, after in pairwise([*digits, 0]))


def _chinese(run: str) -> Iterable[int]:
    """The value of a numeral; of 二〇二四, which is digits, both readings are one."""
    if len(run) > _MOST_NUMERAL:
        return ()
    if all(letter in _CHINESE_DIGITS for letter in run):
        together = int("".join(str(_CHINESE_DIGITS[letter]) for letter in run))
        return {together, *(_CHINESE_DIGITS[letter] for letter in run)}
    total = section = digit = 0
    for letter in run:
        if letter in _CHINESE_DIGITS:
            digit = _CHINESE_DIGITS[letter]
        elif letter in _CHINESE_UNITS:
            section, digit = section + (digit or 1) * _CHINESE_UNITS[letter], 0
        else:
            total, section, digit = total + ((section + digit) or 1) * _CHINESE_SCALES[letter], 0, 0
    return (total + section + digit,)


def _base(language: Language) -> str:
    code = base_language(language)
    return {"nb": "no", "iw": "he", "in": "id"}.get(code, code)


@lru_cache(maxsize=64)
def _words(language: str) -> Mapping[str, frozenset[int]]:
    """What number or month each word may be in that language; empty where nothing is known."""
    meanings: dict[str, set[int]] = {}
    for code, value, names in _table():
        if code == language:
            for name in names.split("|"):
                meanings.setdefault(name, set()).add(value)
                if len(name) >= _BEGINNING:  # no word has a hyphen in it
                    meanings.setdefault(f"{name[: max(_BEGINNING, len(name) - 1)]}-", set()).add(value)
    return {name: frozenset(numbers) for name, numbers in meanings.items()}


@lru_cache(maxsize=1)
def _table() -> tuple[tuple[str, int, str], ...]:
    rows = (line.split("\t") for line in gzip.decompress(TABLE.read_bytes()).decode().splitlines())
    return tuple((code, int(value), names) for code, value, names in rows)
