"""Texts and addresses that name a language: endonyms, names in other languages, codes, short phrases around them.

The names are CLDR's (Unicode licence v3), written to a table by tools/language_names.py.
"""

import gzip
import re
import unicodedata
from enum import IntEnum
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

import langcodes
from langcodes import data_dicts

from bitrawl.url import Url

TABLE = "language_names.tsv.gz"
MAX_WORDS = 4  # "Switch to English", "Version en français", "Lue lisää suomeksi": more is a sentence.
MAX_LENGTH = 40

_MARKS = re.compile("[\u0300-\u036f]")
# Not \W, which takes the vowel signs of Indic scripts for the end of a word.
_BETWEEN = re.compile(
    "[\\s\x00-/:-@\\[-`{-\xbf\u2000-\u200a\u2010-\u206f\u2190-\u2bff\u3000-\u303f\ufe0f\uff00-\uff0f\U0001f000-\U0001ffff]+"
)
_CODE = re.compile(r"([a-z]{2,3})(?:[-_]([a-z]{2}|hans|hant|latn|cyrl))?")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
_IN_QUERY = re.compile(
    r"(?:^|&)(?:lang|language|locale|hl|lng|lg|l|langid|idioma|langue|sprache|set_?lang\w*)=([A-Za-z_\-]{2,7})(?=&|$)",
    re.IGNORECASE,
)
_SUFFIX = re.compile(r"([._\-])([A-Za-z]{2})(?:\.(?:s?html?|php\d?|aspx?|jsp|xml|cfm))?$")  # page_fr.html, index.php.fr
_NO_COUNTRY = re.compile("aa|ez|q[m-z]|un|x[a-jl-z]|zz")  # unions, and codes for private use
_STEM = 4  # Letters of an endonym that an inflected form of it must begin with, at the least.


class Naming(IntEnum):
    """How a text names a language, the surest last."""

    PHRASE = 1  # a name or an inflected endonym among a few other words
    CODE = 2
    NAME = 3  # in another language
    ENDONYM = 4


class Reading(NamedTuple):
    """A language that a text names, as a lower-case BCP 47 code."""

    code: str
    naming: Naming


class LanguageNames:
    """The table, ready to be asked."""

    def __init__(self, lines: list[str]) -> None:
        self._names: dict[str, Reading] = {}
        self._stems: dict[str, str] = {}
        for line in lines:
            code, endonyms, others = line.rstrip("\n").split("\t")
            reading = Reading(code, Naming.NAME)
            self._names.update(dict.fromkeys(others.split("|"), reading))
            for name in endonyms.split("|"):
                self._names[name] = Reading(code, Naming.ENDONYM)
                self._add_stem(name, code)
        self._names.pop("", None)
        self.read = lru_cache(maxsize=8192)(self._read)

    @classmethod
    def load(cls) -> "LanguageNames":
        """The bundled table."""
        packed = (resources.files("bitrawl.page") / TABLE).read_bytes()
        return cls(gzip.decompress(packed).decode().splitlines())

    def _add_stem(self, name: str, code: str) -> None:
        """What inflection leaves of an endonym, to find "po polsku" and "по-русски"; "" where two share it."""
        stem = name[:-2] if len(name) > _STEM + 2 else name[:-1]
        if len(stem) >= _STEM and name.isalpha():
            base = code.partition("-")[0]
            self._stems[stem] = base if self._stems.get(stem, base) == base else ""

    def _read(self, text: str) -> Reading | None:
        """None where the text names no language, or says too much beside."""
        if len(text) > MAX_LENGTH:
            return None
        key = spaced(text)
        words = key.split(" ")
        whole = self._names.get(key)
        if whole is not None and _tells(key):
            return whole
        if code := language_code(key if len(words) == 1 else text.strip(" ()[]|/")):
            return Reading(code, Naming.CODE)
        return self._phrase(words) if len(words) <= MAX_WORDS else None

    def _phrase(self, words: list[str]) -> Reading | None:
        for length in range(len(words), 0, -1):  # the longest name first: "norsk nynorsk" before "norsk"
            for start in range(len(words) - length + 1):
                found = self._names.get(" ".join(words[start : start + length]))
                if found and (length > 1 or _tells(words[start], 4)):
                    return Reading(found.code, Naming.PHRASE)
        for word in words:
            if code := self._inflected(word) or self._prefixed(word):
                return Reading(code, Naming.PHRASE)
        return None

    def _inflected(self, word: str) -> str:
        """Up to five letters more than an endonym's stem: "magyarul", "française", "українською"."""
        for length in range(len(word), max(_STEM, len(word) - 5) - 1, -1):
            if code := self._stems.get(word[:length]):
                return code
        return ""

    def _prefixed(self, word: str) -> str:
        """A name with a few characters about it where words are not spaced: "英文版", "한국어판"."""
        if not _UNSPACED.fullmatch(word) or len(word) > 2 * MAX_WORDS:
            return ""
        for length in range(len(word) - 1, 1, -1):
            for start in range(len(word) - length + 1):
                if found := self._names.get(word[start : start + length]):
                    return found.code
        return ""


def _tells(word: str, letters: int = 3) -> bool:
    """Two Latin letters are a code or chance, though they be somebody's name for Ga."""
    return len(word) >= letters or not word.isascii()


def spaced(text: str) -> str:
    """Folded, with one space for whatever stands between words: the form in which the table has its names."""
    return _BETWEEN.sub(" ", folded(text)).strip()


def folded(text: str) -> str:
    """Without case and without the accents that people leave out ("Francais"); signs of Indic scripts stay."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFKD", text.casefold())))


@lru_cache(maxsize=4096)
def language_code(text: str) -> str:
    """The language that a code of a page's own making means: "en", "pt-br", "eng", and "cz" or "jp" for a country's.

    Empty where it is none. Two letters that are both a language and a country (uk, br) are taken for the language.
    """
    match = _CODE.fullmatch(text.strip().lower())
    if not match:
        return ""
    code, variety = match[1], match[2]
    if code in data_dicts.LANGUAGE_ALPHA3:
        return f"{code}-{variety}" if variety else code
    if len(code) == 3:
        return _three_letter_codes().get(code, "")
    if _NO_COUNTRY.fullmatch(code):
        return ""
    country = langcodes.Language.make(territory=code.upper())
    if variety or not country.is_valid():
        return ""
    language = country.maximize().language or ""
    return language if len(language) == 2 else ""  # "tv" is television, not Tuvaluan


@lru_cache(maxsize=1)
def _three_letter_codes() -> dict[str, str]:
    """Those of languages that have a code of two letters, the bibliographic ones ("ger") too."""
    pairs = [*data_dicts.LANGUAGE_ALPHA3.items(), *data_dicts.LANGUAGE_ALPHA3_BIBLIOGRAPHIC.items()]
    return {three: two for two, three in pairs}


@lru_cache(maxsize=8192)
def address_languages(url: Url, beside: Url | None = None) -> frozenset[str]:
    """The languages that an address names where addresses do: a parameter, a folder, the host's first label, a suffix.

    A folder counts when it is the first, has others below it, or stands where `beside` has a language too: the last
    one of /tag/it/ is a subject.
    """
    tokens = [named[1] for named in _IN_QUERY.finditer(url.query)]
    host = url.host.split(".")
    if len(host) > 2:
        tokens.append(host[0])
    folders = url.path.split("/")[1:]
    others = beside.path.split("/")[1:] if beside else []
    last = len(folders) - (2 if not folders[-1] else 1)
    for place, folder in enumerate(folders):
        if place == 0 or place < last or (place < len(others) and language_code(others[place])):
            tokens.append(folder)
    # "how-to.html" is not Tongan; a hyphen counts only where something else speaks for that language.
    if (suffix := _SUFFIX.search(folders[-1])) and (suffix[1] != "-" or beside):
        tokens.append(suffix[2])
    return frozenset(code for token in tokens if 2 <= len(token) <= 7 and (code := language_code(token)))
