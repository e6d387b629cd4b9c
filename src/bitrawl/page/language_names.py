"""Recognises link texts that name a language: endonyms, names in other languages, codes, short phrases around them."""

import re
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from bitrawl.text.language_names import NamedLanguage, language_code, language_table, spaced

MAX_WORDS = 4  # "Switch to English", "Version en français", "Lue lisää suomeksi". More words make a sentence.
MAX_LENGTH = 40  # Characters; judgement: four long words.

_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
_STEM = 4  # An inflected form must begin with at least this many letters of the endonym; judgement.


class Naming(IntEnum):
    """How a text names a language, from the least to the most certain."""

    PHRASE = 1  # a name or an inflected endonym among a few other words
    CODE = 2
    NAME = 3  # in another language
    ENDONYM = 4


class Reading(NamedTuple):
    """A language that a text names, as a lower-case BCP 47 code."""

    code: str
    naming: Naming


class LanguageNames:
    """The table of names, ready for lookups."""

    def __init__(self, languages: list[NamedLanguage]) -> None:
        self._names: dict[str, Reading] = {}
        self._stems: dict[str, str] = {}
        for code, endonyms, others in languages:
            self._names.update(dict.fromkeys(others, Reading(code, Naming.NAME)))
            for name in endonyms:
                self._names[name] = Reading(code, Naming.ENDONYM)
                self._add_stem(name, code)
        self._words = {word for name in self._names for word in name.split(" ")}
        self.read = lru_cache(maxsize=8192)(self._read)

    @classmethod
    def load(cls) -> "LanguageNames":
        """The table in the package."""
        return cls(language_table())

    def _add_stem(self, name: str, code: str) -> None:
        """Add the part of an endonym that inflection leaves, to find "po polsku" and "по-русски"; "" if two languages
        share it.
        """
        stem = name[:-2] if len(name) > _STEM + 2 else name[:-1]
        if len(stem) >= _STEM and name.isalpha():
            base = code.partition("-")[0]
            self._stems[stem] = base if self._stems.get(stem, base) == base else ""

    def _read(self, text: str) -> Reading | None:
        """None if the text names no language, or says too much else."""
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
        if self._words.isdisjoint(words):
            return self._altered(words)
        for length in range(len(words), 0, -1):  # the longest name first: "norsk nynorsk" before "norsk"
            for start in range(len(words) - length + 1):
                found = self._names.get(" ".join(words[start : start + length]))
                if found and (length > 1 or _tells(words[start], 4)):
                    return Reading(found.code, Naming.PHRASE)
        return self._altered(words)

    def _altered(self, words: list[str]) -> Reading | None:
        for word in words:
            if code := self._inflected(word) or self._prefixed(word):
                return Reading(code, Naming.PHRASE)
        return None

    def _inflected(self, word: str) -> str:
        """Finds an endonym's stem with up to five more letters: "magyarul", "française", "українською"."""
        for length in range(len(word), max(_STEM, len(word) - 5) - 1, -1):
            if code := self._stems.get(word[:length]):
                return code
        return ""

    def _prefixed(self, word: str) -> str:
        """Finds a name with a few characters around it in scripts without spaces: "英文版", "한국어판"."""
        if word.isascii() or not _UNSPACED.fullmatch(word) or len(word) > 2 * MAX_WORDS:
            return ""
        for length in range(len(word) - 1, 1, -1):
            for start in range(len(word) - length + 1):
                if found := self._names.get(word[start : start + length]):
                    return found.code
        return ""


def _tells(word: str, letters: int = 3) -> bool:
    """Whether the word is long enough.

    Two Latin letters are a code or chance, even if some language calls Ga by them.
    """
    return len(word) >= letters or not word.isascii()
