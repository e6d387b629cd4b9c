"""Personal data in a text: what is written in a form that is known, and has a checksum or a registry behind it.

A value is told by what it is, not by what stands beside it: many languages put no space between it and a word or an ending.
What can be part of a value or of a longer name are ASCII letters and digits; other letters are words of the text.

Names and postal addresses are not found. IP addresses of private networks say nothing of a person, and stay.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cache, lru_cache
from importlib import import_module
from ipaddress import ip_address, ip_network
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple, Self

import langcodes

from bitrawl.model import Language
from bitrawl.packages import extra
from bitrawl.text.words import marks_of_words
from bitrawl.url import has_registry

if TYPE_CHECKING:
    import phonenumbers

EXTRA = "privacy"


class PersonalKind(StrEnum):
    """A kind of personal data; in capitals it is the placeholder."""

    # A row has its name, and what people call one of it and several.
    one: str
    several: str

    def __new__(cls, name: str, one: str = "", several: str = "") -> Self:
        row = str.__new__(cls, name)
        row._value_, row.one, row.several = name, one, several or f"{one}s"
        return row

    EMAIL = ("email", "e-mail address", "e-mail addresses")
    IBAN = ("iban", "IBAN")
    CARD = ("card", "card number")
    ID = ("id", "national number")  # of a person
    IP = ("ip", "IP address", "IP addresses")
    PHONE = ("phone", "telephone number")


def placeholder(kind: PersonalKind, number: int = 0) -> str:
    """What stands for a value in a corpus: [EMAIL], or [EMAIL2] where there are several."""
    return f"[{kind.upper()}{number or ''}]"


class Found(NamedTuple):
    """Where something stands in a text, and what it is: the same value, however it is written."""

    start: int
    end: int
    kind: PersonalKind
    value: str


Finding = tuple[int, int, str]
"""A beginning, an end and a value."""

# The zeros of the scripts that write their own digits.
_ZEROS = (
    "\u0660\u06f0\u07c0\u0966\u09e6\u0a66\u0ae6\u0b66\u0be6\u0c66\u0ce6\u0d66\u0e50\u0ed0\u0f20\u1040\u17e0\u1810\uff10"
)
_DIGITS = "".join(f"{zero}-{chr(ord(zero) + 9)}" for zero in _ZEROS)
_WIDE = "\uff08\uff09\uff0b\uff0d\uff0e\uff0f\uff20-\uff3a\uff3f\uff41-\uff5a"  # ()+-./@_ and letters, not :,=
_UNSEEN = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff"
_ODD, _SEEN = re.compile(f"[{_DIGITS}{_WIDE}{_UNSEEN}]"), re.compile(f"[^{_UNSEEN}]")
_AS_ASCII = {ord(zero) + n: str(n) for zero in _ZEROS for n in range(10)} | {
    code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F) if re.match(f"[{_WIDE}]", chr(code))
}
# One look at each text: nothing is found where there is no digit, at sign or bracket, as in "(at)". A set of characters takes
# .4 µs a segment, \d and an alternative 2.2 (2026-11).
_WORTH = re.compile(f"[0-9@([{{<{_DIGITS}\uff08\uff20]")


def may_have_personal_data(text: str) -> bool:
    """A look that costs next to nothing; if it says no, `personal_data` finds nothing."""
    return _WORTH.search(text) is not None


def personal_data(text: str, regions: Sequence[str] = ()) -> list[Found]:
    """All of it, in order. Telephone numbers without a country code and most national numbers are those of these regions.

    Raises `ConfigError` if the extra `privacy` is not installed.
    """
    if not may_have_personal_data(text):
        return []
    if _ODD.search(text):
        places = [match.start() for match in _SEEN.finditer(text)]
        plain = "".join(_SEEN.findall(text)).translate(_AS_ASCII)
        values = _in_plain(plain, regions)
        return [value._replace(start=places[value.start], end=places[value.end - 1] + 1) for value in values]
    return _in_plain(text, regions)


def _in_plain(text: str, regions: Sequence[str]) -> list[Found]:
    """In a text with ASCII digits, and without characters that nobody sees."""
    values: list[Found] = []
    for kind in [kind for gate, kinds in _GATES.items() if gate.search(text) for kind in kinds]:
        ends, end_before = [earlier.end for earlier in values], 0
        for start, end, value in list(_FINDERS[kind](text, regions)):
            place = bisect_right(ends, start)
            is_free = place == len(ends) or end <= values[place].start
            if is_free and start >= end_before:
                end_before = end
                values.append(Found(start, end, kind, value))
        values.sort()
    return values


def check_libraries() -> None:
    """Raise `ConfigError` if the extra `privacy` is not installed."""
    _phone_numbers()
    _number_module("iban")


@lru_cache(maxsize=10_000)
def regions_of(host: str, language: Language) -> tuple[str, ...]:
    """Where the numbers on a page are probably from: the country of its host, and the one that speaks its language."""
    top = host.partition(":")[0].rpartition(".")[2].upper()
    home = langcodes.Language.get(language).maximize().territory or ""
    regions = dict.fromkeys(("GB" if top == "UK" else top, home))
    return tuple(region for region in regions if region in _phone_numbers().SUPPORTED_REGIONS)


def regions_among(hosts: Iterable[str], languages: Sequence[Language]) -> tuple[str, ...]:
    """The countries whose numbers may stand on pages of these hosts in these languages, each once."""
    return tuple(dict.fromkeys(region for host in hosts for code in languages for region in regions_of(host, code)))


_LATIN = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"
# What precedes and follows a number that is no part of a longer number or of a name of a file, a version, a program: not a
# letter or digit of ASCII, or one behind an underscore or a hyphen; but an ending may follow: "-nak", "re". Hebrew puts a
# hyphen before a foreign word.
_LEFT = r"(?<![0-9A-Za-z])(?<![^\W_]_)(?<![\x00-\x7f]-)(?<!^-)(?<![0-9]:)"
_ENDING = r"(?=[a-z]{2})[a-z]{0,30}[g-z][a-z]{0,30}(?![0-9A-Za-z_])"  # "ff" may be a part of a number too
_RIGHT = rf"(?![0-9]|_[^\W_]|-[A-Za-z]{{0,30}}[0-9]|(?!{_ENDING})[A-Za-z])"
_GAP = r"[ \u00a0\u2007\u2009\u202f\u2010-\u2015-]"

_AT = re.compile(r"@|%40|\s?[\[({<]\s?at\s?[\])}>]\s?", re.IGNORECASE)
_DOT = re.compile(r"\.|\s?[\[({<]\s?dot\s?[\])}>]\s?", re.IGNORECASE)
_SIGNS = ".+%'_-"  # of a local part, beside letters and digits
_ALL_MARKS = f"{marks_of_words()}\u0e31\u0e34-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3"
# The local part has 64 characters at most (RFC 5321), a label of a domain 63. It is read from its end, and ends where another
# script begins.
_LOCAL = re.compile(rf"[{_LATIN}0-9{_SIGNS}]{{1,64}}")
_OTHER_LOCAL = re.compile(rf"(?:[^\W{_LATIN}]|[{_ALL_MARKS}{_SIGNS}]){{1,64}}")
_LABEL = rf"(?:[\w-]|[{_ALL_MARKS}]){{1,63}}"
_DOMAIN = re.compile(rf"{_LABEL}(?:(?:{_DOT.pattern}){_LABEL}){{1,8}}", re.IGNORECASE)
# A top-level domain with what is glued to it: those of RFC 1591 and "info" with any letters, others up to a capital letter.
_TOP = re.compile(r"(?P<whole>xn--[a-z0-9-]++|[A-Za-z]++)(?![0-9])|[^\x00-\x7f]{2,24}")
_GLUED_TOP = re.compile(r"(?:com|edu|gov|mil|net|org|info)(?=[a-z])|[a-z]{2,}(?=[A-Z])")


def _emails(text: str, _regions: Sequence[str]) -> Iterator[Finding]:
    for at in _AT.finditer(text):
        if not (match := _DOMAIN.match(text, at.end())):
            continue
        end = _domain_end(match)
        domain = _DOT.sub(".", text[at.end() : end])
        before = text[max(0, at.start() - 64) : at.start()][::-1]
        local = _LOCAL.match(before)
        if local is None or not (domain.isascii() or re.search(r"[^\W\d_]", local[0])):
            local = _OTHER_LOCAL.match(before) or local
        if end and local and (name := local[0][::-1].lstrip(_SIGNS)):
            yield at.start() - len(name), end, f"{name}@{domain}".casefold()


def _domain_end(match: re.Match[str]) -> int:
    """Where it ends: with the last top-level domain that there is; 0 if there is none."""
    starts = [dot.end() for dot in _DOT.finditer(match.string, match.start(), match.end())]
    for start in reversed(starts):
        if top := _TOP.match(match.string, start, match.end()):
            if top["whole"]:
                glued = _GLUED_TOP.match(top[0])
                names = [top[0], *([glued[0]] if glued else [])]
            else:
                names = [top[0][:size] for size in range(len(top[0]), 1, -1)]
            if size := next((len(name) for name in names if has_registry(name)), 0):
                return start + size
    return 0


_IBAN = re.compile(rf"(?<![0-9])([A-Z]{{2}}){_GAP}?[0-9]{{2}}")


def _ibans(text: str, _regions: Sequence[str]) -> Iterator[Finding]:
    """As long as those of its country: what follows may be in capitals too."""
    for match in _IBAN.finditer(text):
        rest = _account(match[1])
        if rest and (account := rest.match(text, match.end())):
            compact = re.sub(_GAP, "", text[match.start() : account.end()])
            as_digits = "".join(str(int(sign, 36)) for sign in compact[4:] + compact[:4])
            if int(as_digits) % 97 == 1 and _number_module("iban").is_valid(compact):
                yield match.start(), account.end(), compact


@cache
def _account(country: str) -> re.Pattern[str] | None:
    """What follows the check digits of an IBAN; None if that country has none."""
    structure = _number_module("iban")._ibandb.info(country + "00")[0][1].get("bban", "")  # noqa: SLF001 (nothing else tells)
    size = sum(map(int, re.findall(r"(\d+)!", structure)))
    return re.compile(rf"(?:{_GAP}?[A-Z0-9]){{{size}}}(?![0-9])") if size else None


# In one piece, in groups of four, or as American Express (4-6-5) and Diners Club (4-6-4) write it.
_CARD = re.compile(
    rf"(?<![.,/+#=]){_LEFT}(?:[0-9]{{14,19}}|[0-9]{{4}}(?P<by>{_GAP})[0-9]{{4}}(?P=by)[0-9]{{4}}(?P=by)[0-9]{{4}}"
    rf"(?:(?P=by)[0-9]{{1,3}})?|[0-9]{{4}}(?P<of>{_GAP})[0-9]{{6}}(?P=of)[0-9]{{4,5}})(?!/|[.,][0-9]){_RIGHT}"
)
# Which numbers the networks give, by their first digits and their length (ISO/IEC 7812).
_NETWORKS = re.compile(
    r"4\d{15}(?:\d{3})?|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}"
    r"|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|62\d{14,17}|220[0-4]\d{12}"
)


def _cards(text: str, _regions: Sequence[str]) -> Iterator[Finding]:
    for match in _CARD.finditer(text):
        compact = re.sub(_GAP, "", match[0])
        if _NETWORKS.fullmatch(compact) and _number_module("luhn").is_valid(compact):
            yield match.start(), match.end(), compact


class NationalNumber(NamedTuple):
    """A number that a state gives to a person, and how it is written. One that is only digits counts in its own country."""

    module: str  # of python-stdnum, which knows its checksum: its package is the code of the country
    pattern: str

    @property
    def region(self) -> str:
        return self.module.partition(".")[0].strip("_").upper()

    @property
    def is_distinctive(self) -> bool:
        """Whether letters or marks tell it from other numbers."""
        return not re.fullmatch(r"(?:\\d|\{\d+\}|\?| )+", self.pattern)

    def is_valid(self, number: str) -> bool:
        """By its checksum. python-stdnum 2.2 raises a `KeyError` for a Chinese number whose county it does not know."""
        try:
            return bool(_number_module(self.module).is_valid(number))
        except LookupError:
            return False


# Chosen on six of the sites in ../shared/sites (2026-11): every candidate but four was never found in their 1,030,813 segments,
# in whichever country. A row of nine or ten digits, or of four and six, was (at.vnr, bg.egn, nl.bsn, ua.rntrc): left out.
NATIONAL_NUMBERS = (
    NationalNumber("be.nn", r"\d\d\.\d\d\.\d\d-\d{3}\.\d\d"),
    NationalNumber("br.cpf", r"\d{3}\.\d{3}\.\d{3}-\d\d"),
    NationalNumber("ca.sin", r"\d{3} \d{3} \d{3}"),
    NationalNumber("ch.ssn", r"756\.\d{4}\.\d{4}\.\d\d"),
    NationalNumber("cl.rut", r"\d{1,2}\.\d{3}\.\d{3}-[\dK]"),
    NationalNumber("cn.ric", r"[1-8]\d{5}(?:19|20)\d{9}[\dX]"),
    NationalNumber("cz.rc", r"\d{6}/\d{3,4}"),
    NationalNumber("de.idnr", r"\d{2} \d{3} \d{3} \d{3}"),
    NationalNumber("do.cedula", r"\d{3}-\d{7}-\d"),
    NationalNumber("ee.ik", r"\d{11}"),
    NationalNumber("es.dni", r"\d{8}-?[A-Z]"),
    NationalNumber("es.nie", r"[XYZ]-?\d{7}-?[A-Z]"),
    NationalNumber("fi.hetu", r"\d{6}[-+A-FU-Y]\d{3}[0-9A-Y]"),
    NationalNumber("fr.nir", r"[12] \d\d \d\d (?:\d\d|2[AB]) \d{3} \d{3} \d\d"),
    NationalNumber("gb.nhs", r"\d{3} \d{3} \d{4}"),
    NationalNumber("gr.amka", r"\d{11}"),
    NationalNumber("hr.oib", r"\d{11}"),
    NationalNumber("ie.pps", r"\d{7}[A-W][ABHTWX]?"),
    NationalNumber("il.idnr", r"\d{7}-\d"),
    NationalNumber("in_.aadhaar", r"\d{4} \d{4} \d{4}"),
    NationalNumber("is_.kennitala", r"\d{6}-\d{4}"),
    NationalNumber("it.codicefiscale", r"[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]"),
    NationalNumber("kr.rrn", r"\d{6}-\d{7}"),
    NationalNumber("lt.asmens", r"\d{11}"),
    NationalNumber("mx.curp", r"[A-Z]{4}\d{6}[HM][A-Z]{5}[0-9A-Z]\d"),
    NationalNumber("no.fodselsnummer", r"\d{6} ?\d{5}"),
    NationalNumber("pl.pesel", r"\d{11}"),
    NationalNumber("pt.cc", r"\d{8} \d [A-Z0-9]{2}\d"),
    NationalNumber("ro.cnp", r"\d{13}"),
    NationalNumber("se.personnummer", r"\d{6}[-+]\d{4}"),
    NationalNumber("si.emso", r"\d{13}"),
    NationalNumber("th.pin", r"\d-\d{4}-\d{5}-\d\d-\d"),
    NationalNumber("tr.tckimlik", r"\d{11}"),
    NationalNumber("ve.rif", r"[VE]-\d{8}-\d"),
    NationalNumber("za.idnr", r"\d{13}"),
)


@cache
def _national(regions: Sequence[str]) -> tuple[re.Pattern[str], tuple[tuple[NationalNumber, re.Pattern[str]], ...]]:
    numbers = [number for number in NATIONAL_NUMBERS if number.is_distinctive or number.region in regions]
    alone = tuple((number, re.compile(number.pattern, re.ASCII)) for number in numbers)
    either = "|".join(number.pattern for number in numbers)
    return re.compile(rf"(?<![.,/+=]){_LEFT}(?=({either})(?!/|[.,][0-9]){_RIGHT})", re.ASCII), alone


def _national_numbers(text: str, regions: Sequence[str]) -> Iterator[Finding]:
    any_of, alone = _national(tuple(regions))
    for match in any_of.finditer(text):
        for number, pattern in alone:
            if pattern.fullmatch(match[1]) and number.is_valid(match[1]):
                yield match.start(1), match.end(1), f"{number.region}{re.sub(r'[^0-9A-Z]', '', match[1])}"
                break


# With a slash and the length of its prefix it is a network.
_IP = re.compile(
    rf"(?<![.]){_LEFT}(?:(?P<v4>\d{{1,3}}(?:\.\d{{1,3}}){{3}}){_RIGHT}(?!\.[0-9A-Za-z]|/(?:[12]?\d|3[01])(?!\d))"
    r"|(?<!::)[23][0-9a-fA-F]{3}:(?:[0-9a-fA-F]{0,4}:){1,6}[0-9a-fA-F]{0,4}"
    rf"{_RIGHT}(?!\.[0-9]|:[0-9A-Fa-f]{{1,4}}(?![A-Za-z])|/(?:\d{{1,2}}|1[01]\d|12[0-7])(?!\d)))",
    re.ASCII,
)
_DOCUMENTATION = [ip_network(net) for net in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32")]
_LARGE = 30  # of the 256 numbers; two numbers of a random public address are at least so large in 99.4 %


def _ip_addresses(text: str, _regions: Sequence[str]) -> Iterator[Finding]:
    """Of the public internet, and examples of such. Four small numbers are a version: of an address, two are at least 30."""
    for match in _IP.finditer(text):
        if match["v4"] and sum(int(part) >= _LARGE for part in match["v4"].split(".")) < 2:
            continue
        try:
            address = ip_address(match[0])
        except ValueError:
            continue
        is_example = any(address in network for network in _DOCUMENTATION)
        if is_example or (address.is_global and not address.is_multicast):
            yield match.start(), match.end(), str(address)


# The same for telephone numbers, which can also be a part of a path, of an assignment, of a table of numbers, or an amount of
# money.
_BEGINS = re.compile(rf"{_LEFT}(?<![/=#%])(?<!\d[.,:\s])(?<!\d\s\s)(?<![$£¥\u20a0-\u20cf])(?<![$£¥\u20a0-\u20cf]\s)")
_ENDS = re.compile(rf"{_RIGHT}(?!(?:[.,:]|\s{{1,2}})\d|[/=%]|\s?[$£¥\u20a0-\u20cf])")
_INTERNATIONAL = ("+", "00")


# Seven digits or more with what stands between the digits of telephone numbers: a look that costs a hundredth of the library's.
_LIKE_PHONE = re.compile(r"[+(]{0,2}\d(?:[\s.()/\u2010-\u2015-]{0,3}\d){6,60}")
_GLUED, _SUFFIX = (
    re.compile(rf"[^\W\x00-\x7f]|[{_ALL_MARKS}]"),
    re.compile(_ENDING),
)  # the library would refuse the number
_AROUND = 3  # characters before and after a number that the library looks at


def _phones(text: str, regions: Sequence[str]) -> Iterator[Finding]:
    for like in _LIKE_PHONE.finditer(text):
        begin = max(0, like.start() - _AROUND)
        end = like.end() if _SUFFIX.match(text, like.end()) else like.end() + _AROUND
        part = _GLUED.sub(" ", text[begin:end])
        is_international = like[0].lstrip("(").startswith(_INTERNATIONAL)
        if not is_international and (_OTHER.fullmatch(like[0]) or not _is_whole(text, *like.span())):
            continue
        for region in regions[:1] or ("",) if is_international else regions:
            for start, end, value, is_clear in _numbers_of(part, region):
                if is_clear or (
                    _is_whole(text, begin + start, begin + end)
                    and not _BOOK.search(text[max(0, begin + start - _BEFORE) : begin + start])
                ):
                    yield begin + start, begin + end, value


class _PhoneNumber(NamedTuple):
    start: int
    end: int
    value: str
    is_international: bool


@lru_cache(maxsize=10_000)
def _numbers_of(part: str, region: str) -> tuple[_PhoneNumber, ...]:
    """Those of a region, or with the code of another one. What a site says on every page is looked at once."""
    library = _phone_numbers()
    numbers = []
    for match in library.PhoneNumberMatcher(part, region or None, library.Leniency.STRICT_GROUPING):
        raw = match.raw_string
        is_international = raw.lstrip("(").startswith(_INTERNATIONAL)
        if is_international or _is_written_as_phone(match):
            is_open = raw[0] in "([" and not re.search(r"[)\]]", raw)
            value = library.format_number(match.number, library.PhoneNumberFormat.E164)
            numbers.append(_PhoneNumber(match.start + is_open, match.end, value, is_international))
    return tuple(numbers)


def _is_whole(text: str, start: int, end: int) -> bool:
    return _BEGINS.match(text, start) is not None and _ENDS.match(text, end) is not None


# How other numbers are written: a decimal number, a column of a table that begins with 0, an American postal code, a date, an
# IP address.
_OTHER = re.compile(
    r"\d+\.\d+|0\s\d+|\d{5}-\d{4}|\d{4}-\d\d-\d\d(?:\s\d\d)?|\d\d?([./-])\d\d?\1(?:19|20)\d\d|(?:\d{1,3}\.){3}\d{1,3}"
)
_BOOK = re.compile(r"IS[BS]N\W{0,3}(?:1[03]\W{1,3})?$")
_BEFORE = 12  # characters that say what a number is


def _is_written_as_phone(match: "phonenumbers.PhoneNumberMatch") -> bool:
    """Digits alone are a telephone number if they begin with 0, or if it is a mobile number."""
    raw = match.raw_string.strip("()[] ")
    if _OTHER.fullmatch(raw):
        return False
    library = _phone_numbers()
    is_mobile = library.number_type(match.number) == library.PhoneNumberType.MOBILE
    return not raw.isdecimal() or raw.startswith("0") or is_mobile


_FINDERS: dict[PersonalKind, Callable[[str, Sequence[str]], Iterator[Finding]]] = {
    PersonalKind.EMAIL: _emails,
    PersonalKind.IBAN: _ibans,
    PersonalKind.CARD: _cards,
    PersonalKind.ID: _national_numbers,
    PersonalKind.IP: _ip_addresses,
    PersonalKind.PHONE: _phones,
}


_GATES = {
    _AT: (PersonalKind.EMAIL,),
    re.compile(rf"[A-Z]{{2}}{_GAP}?[0-9]{{2}}{_GAP}?[A-Z0-9]{{4}}"): (PersonalKind.IBAN,),
    re.compile(r"[0-9](?:\.[0-9]{1,3}\.[0-9]|[0-9a-fA-F]{0,3}:[0-9a-fA-F]{0,4}:)"): (PersonalKind.IP,),
    re.compile(r"\d(?:\D{0,3}\d){5}"): (PersonalKind.CARD, PersonalKind.ID, PersonalKind.PHONE),
}
"""Without which a text has nothing of these kinds, in the order in which they are looked for: what is found first, counts."""


@cache
def _phone_numbers() -> "ModuleType":
    return _library("phonenumbers")


@cache
def _number_module(name: str) -> "ModuleType":
    return _library(f"stdnum.{name}")


def _library(name: str) -> ModuleType:
    with extra(EXTRA, "--anonymise needs phonenumberslite and python-stdnum"):
        return import_module(name)
