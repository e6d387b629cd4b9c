"""What each part of a URL tells about its language: marks, countries, and the words whose n-grams are looked up."""

import re
from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from bitrawl.languages import base_language
from bitrawl.model import UNDETERMINED
from bitrawl.urls.tokens import UrlParts, host_name, is_address, locales, mark_language, parameters, readable_words

# Common names for languages that URLs do not tell apart.
JOINED = {"nb": "no", "fil": "tl", "sh": "sr", "prs": "fa"}
_COUNTRY_OF_DOMAIN = {"uk": "gb", "su": "ru", "ac": "sh", "edu": "us", "gov": "us", "mil": "us"} | {
    # Cities and regions with a domain of their own (IANA's root zone, 2026).
    domain: country
    for country, domains in {
        "at": "wien tirol",
        "be": "brussels gent vlaanderen",
        "br": "rio",
        "ch": "swiss zuerich",
        "de": "bayern berlin cologne hamburg koeln nrw ruhr saarland",
        "es": "barcelona madrid",
        "fi": "helsinki",
        "fr": "alsace corsica paris",
        "gb": "london",
        "hu": "budapest",
        "it": "roma",
        "jp": "kyoto nagoya okinawa osaka ryukyu tokyo yokohama",
        "nl": "amsterdam",
        "ru": "moscow",
        "se": "stockholm",
        "tr": "ist istanbul",
        "tw": "taipei",
        "us": "boston miami nyc vegas",
    }.items()
    for domain in domains.split()
}
# Domains of a language.
_LANGUAGE_OF_DOMAIN = {
    "bzh": "br",
    "cat": "ca",
    "cymru": "cy",
    "eus": "eu",
    "frl": "fy",
    "gal": "gl",
    "krd": "ku",
    "quebec": "fr",
    "tatar": "tt",
    "wales": "cy",
}
# Host labels at universities, where they are seldom languages: cs.example.ac.th, eng.example.edu.
_DEPARTMENTS = frozenset(["bio", "cs", "ee", "eng", "is", "it", "ma", "mat", "me", "mi", "se", "st"])
# Letters of a word whose n-grams are looked up. The model was trained with it.
_LONGEST_WORD = 40
_ENOUGH_LETTERS = 2
_PAGE = re.compile(
    r"\.(?:[a-z]?html?\d?|php\d?|aspx?|jspx?|cfm|cgi|do|xml|md|txt|pdf|epub|docx?|pptx?|ps|zip|gz)$", re.IGNORECASE
)
# Fewer cuts than `tokens.pieces`: the n-grams were trained on words cut in this way.
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_DIGIT = re.compile(r"\d")
# Wider than the one in `marks`, and used in training: here a wrong name costs a little weight, there it loses a
# parameter.
_LANGUAGE_PARAMETER = re.compile(
    r"\w*(?:lang|locale|idioma|sprache|lingua|taal|jezyk|jazyk|dil\b)\w*|[hg]?l|lng|lg|uselang|ui|setlng", re.IGNORECASE
)


class UrlPlace(IntEnum):
    """Where in a URL a mark is."""

    PARAMETER = 0  # the value of a parameter for languages: lang=fr
    VALUE = 1  # the value of any other parameter
    FIRST = 2  # the first directory
    DIRECTORY = 3
    FILE = 4  # at the end of the file's name: news_fr.html
    TOKEN = 5  # somewhere in the path
    LABEL = 6  # a label of the host
    LABEL_TOKEN = 7  # a part of a label


class Form(IntEnum):
    """How a mark is written."""

    CODE = 0  # fr
    WORD = 1  # a code that is also a word: it, no, is
    LONG = 2  # fra
    LOCALE = 3  # fr-ca
    NAME = 4  # francais, french
    COUNTRY = 5  # cn, for the language of that country


KINDS = len(UrlPlace) * len(Form)
# Places where a code is hardly there by chance.
MEANT = frozenset((UrlPlace.PARAMETER, UrlPlace.FIRST, UrlPlace.DIRECTORY, UrlPlace.FILE, UrlPlace.LABEL))


class UrlMark(NamedTuple):
    """A token that names a language."""

    kind: int  # place and form
    language: int


class PartEvidence(NamedTuple):
    """What a host, a segment of the path or a query tells."""

    marks: tuple[UrlMark, ...] = ()
    countries: tuple[int, ...] = ()  # rows of the table of countries that it could name
    words: bytes = b""  # for the n-grams: lower case, with a space before and after each


class UrlReader:
    """Takes URLs apart. It remembers what it found in each host and segment."""

    def __init__(
        self,
        languages: Sequence[str],
        countries: Sequence[str],
        stopped: frozenset[str],
        codelike: tuple[frozenset[str], frozenset[str]],
    ) -> None:
        self._languages = {language: number for number, language in enumerate(languages)}
        self._countries = {country: number for number, country in enumerate(countries)}
        self._stopped = stopped
        self._wordlike, self._particles = codelike
        self.host = lru_cache(maxsize=8192)(self._host)
        self.segment = lru_cache(maxsize=4096)(self._segment)  # folders come again soon, and file names never
        self.query = lru_cache(maxsize=8192)(self._query)

    def pieces(self, url: str) -> tuple[str, list[PartEvidence]]:
        """The host's name, and what each part of the path and the query tells."""
        host, segments, query = UrlParts.of(url)
        last = len(segments) - 1
        pieces = [
            self.segment(segment, UrlPlace.FIRST if not number else UrlPlace.DIRECTORY, number == last)
            for number, segment in enumerate(segments)
            if segment
        ]
        if query:
            pieces.append(self.query(query))
        return host, pieces

    def domain(self, host: str) -> tuple[str, int | None]:
        """The top-level domain, and the row of its country."""
        label = host.partition(":")[0].rpartition(".")[2]
        return label, self._countries.get(_COUNTRY_OF_DOMAIN.get(label, label))

    def _host(self, host: str) -> PartEvidence:
        if is_address(host):
            return PartEvidence()
        subdomains, registered, suffix = host_name(host)
        registered = _readable(registered)
        marks: list[UrlMark] = []
        countries: list[int] = []
        places = (UrlPlace.LABEL, UrlPlace.LABEL_TOKEN)
        abroad = self.domain(host)[1] is not None
        labels = [_readable(label) for label in subdomains if label != "www"]
        names = [label for label in labels if not (abroad and label in _DEPARTMENTS)]
        words = [self._read(label, places, marks, countries) for label in names]
        self._read_tokens(registered, UrlPlace.LABEL_TOKEN, marks)
        if (language := _LANGUAGE_OF_DOMAIN.get(suffix)) is not None:
            self._mark(language, UrlPlace.LABEL, marks)
        return PartEvidence(
            tuple(marks),
            tuple(countries),
            self._words([*words, registered, _readable(suffix) if "xn--" in suffix else ""]),
        )

    def _segment(self, segment: str, place: UrlPlace, last: bool) -> PartEvidence:  # noqa: FBT001 (a cache's key)
        text = unquote(segment) if "%" in segment else segment
        marks: list[UrlMark] = []
        countries: list[int] = []
        if last:
            stem = _PAGE.sub("", text)
            if stem != text:
                text, place = stem, UrlPlace.FILE
        text = self._read(text, (place, UrlPlace.TOKEN), marks, countries)
        return PartEvidence(tuple(marks), tuple(countries), self._words([text]))

    def _query(self, query: str) -> PartEvidence:
        marks: list[UrlMark] = []
        words = []
        for name, value in parameters(query):
            text = unquote(value.replace("+", " "))
            if _LANGUAGE_PARAMETER.fullmatch(name):
                self._mark(text.replace("_", "-"), UrlPlace.PARAMETER, marks)
            elif text and not _DIGIT.search(text):
                self._mark(text, UrlPlace.VALUE, marks)
                if text.islower() or " " in text:  # An id made of letters only contains capitals.
                    words.append(text)
        return PartEvidence(tuple(marks), (), self._words(words))

    def _read(self, text: str, places: tuple[UrlPlace, UrlPlace], marks: list[UrlMark], countries: list[int]) -> str:
        """Find what the whole text or parts of it name. Returns the rest, which is read as words."""
        whole, part = places
        if len(text) == 2 and (country := self._countries.get(text.lower())) is not None:
            countries.append(country)
        if 2 <= len(text) <= 8 and self._mark(text, whole, marks):
            return ""
        self._read_tokens(text, part, marks)
        return text

    def _read_tokens(self, text: str, place: UrlPlace, marks: list[UrlMark]) -> None:
        rest = text
        for locale in locales(text):
            if self._mark(locale, place, marks):
                rest = rest.replace(locale, " ")
        tokens = readable_words(rest)
        for number, token in enumerate(tokens):
            at_end = place is UrlPlace.TOKEN and number == len(tokens) - 1 > 0
            self._mark(token, UrlPlace.FILE if at_end else place, marks)

    def _mark(self, token: str, place: UrlPlace, marks: list[UrlMark]) -> bool:
        named = mark_language(token)
        if named == UNDETERMINED:
            return False
        base = base_language(named)
        language = self._languages.get(JOINED.get(base, base))
        if language is None:
            return False
        marks.append(UrlMark(place * len(Form) + self._form(token, base, place), language))
        return True

    def _form(self, token: str, base: str, place: UrlPlace) -> Form:
        token = token.lower()
        if len(token) > 3:
            return Form.LOCALE if "-" in token or "_" in token else Form.NAME
        if token in (self._particles if place in (UrlPlace.TOKEN, UrlPlace.LABEL_TOKEN) else self._wordlike):
            return Form.WORD
        if len(token) == 3:
            return Form.LONG
        return Form.CODE if token == base else Form.COUNTRY

    def _words(self, texts: Sequence[str]) -> bytes:
        """Leaves out tokens with digits inside, and words that the web uses in any language."""
        words = []
        for text in texts:
            if not text.islower():
                text = _CAMEL.sub(" ", text)  # noqa: PLW2901
            for token in readable_words(text):
                word = token.strip("0123456789").lower()
                if (
                    _ENOUGH_LETTERS <= len(word) <= _LONGEST_WORD
                    and word not in self._stopped
                    and not _DIGIT.search(word)
                ):
                    words.append(word)
        return f" {' '.join(words)} ".encode().replace(b"\xef\xbf\xbd", b"") if words else b""


def _readable(label: str) -> str:
    """A label as its owner writes it."""
    if "xn--" not in label:
        return label
    try:
        return label.encode().decode("idna")
    except UnicodeError:
        return ""
