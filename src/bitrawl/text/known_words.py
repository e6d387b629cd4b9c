"""Words and their translations that are known before anything is learned: those that ship, and those of a user's dictionary.

A file for each language, with English. Two languages without English are read by way of it.
"""

import lzma
import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Language
from bitrawl.model_files import PACKAGE, WORDS
from bitrawl.text.arrays import Floats, bounds
from bitrawl.text.lexicon import Lexicon, Links, read_dictionary

FOLDER, SUFFIX = PACKAGE / WORDS, ".words"
ENGLISH = Language("en")
# Languages that have the words of another: members of it, or the same stems.
_SAME = {
    "nb": "no",
    "fil": "tl",
    "prs": "fa",
    "bs": "hr",
    "sh": "hr",
    "cnr": "hr",
    "cmn": "zh",
    "wuu": "zh",
    "zsm": "ms",
}
LEVELS, STEP = 16, 0.3  # a probability is one of so many, each e**0.3 times the one before; the highest is 1
# What is left of a probability by way of English. From .3 to 1, F1 on Text+Berg (de–fr) is the same within .3 points (2026-11).
PIVOT = 0.7
DICTIONARY_WEIGHT = 3.0  # an entry of a user's dictionary counts as this many occurrences; a judgement
HEADER = struct.Struct("<2I")
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 20}]


class WordTable(NamedTuple):
    """The words of a language, and the English words that each may translate."""

    words: list[str]
    counts: NDArray[np.uint8]  # of each word, how many it has
    english: NDArray[np.uint16]  # by their numbers in the list of English words, word after word, ascending
    forward: NDArray[np.uint8]  # levels of p(English | word)
    backward: NDArray[np.uint8]  # levels of p(word | English)

    @classmethod
    def unpacked(cls, content: bytes) -> "WordTable":
        raw = lzma.decompress(content, format=lzma.FORMAT_RAW, filters=FILTERS)
        words, links = HEADER.unpack_from(raw)
        arrays = np.frombuffer(raw, np.uint8, 2 * words + 3 * links, HEADER.size)
        shared, counts, high, low, scores = np.split(arrays, np.cumsum([words, words, links, links]))
        names, before = [], ""
        ends = raw[HEADER.size + len(arrays) :].decode().split("\n") if words else []
        for count, end in zip(shared.tolist(), ends, strict=True):
            before = before[:count] + end
            names.append(before)
        steps = np.cumsum(high.astype(np.int64) << 8 | low)
        starts = bounds(counts.astype(np.int64))
        english = steps - np.repeat(np.append(0, steps)[starts[:-1]], counts)
        return cls(names, counts, english.astype(np.uint16), scores >> np.uint8(4), scores & np.uint8(15))

    def links(self) -> Links:
        """The links of its words with the English ones, by their numbers."""
        a, english = np.repeat(np.arange(len(self.words)), self.counts), self.english.astype(np.int64)
        return Links(a, english, _probabilities(self.forward), _probabilities(self.backward))


def _probabilities(of_levels: NDArray[np.uint8]) -> Floats:
    probabilities = np.exp(STEP * np.arange(1 - LEVELS, 1))
    probabilities[0] = 0.0
    found: Floats = probabilities[of_levels]
    return found


class Dictionary(NamedTuple):
    """A user's file of words of two languages, as it was at that time: it is learned once in a process."""

    path: str
    languages: tuple[Language, Language]
    changed: int

    @classmethod
    def of(cls, path: str, languages: Sequence[Language]) -> "Dictionary | None":
        """Of the first two of the languages; None without a file or a second language. Raises `ConfigError`."""
        if not path or len(languages) < 2:
            return None
        file = Path(path)
        dictionary = cls(path, (languages[0], languages[1]), file.stat().st_mtime_ns if file.exists() else 0)
        _learned(dictionary)
        return dictionary

    def words(self, a: Language, b: Language) -> Lexicon | None:
        """In that direction, whichever way the user wrote it; None if it is of other languages."""
        if self.languages == (a, b):
            return _learned(self)
        return _learned(self).back if self.languages == (b, a) else None


class KnownWords(Lexicon):
    """What is known of two languages: where it is pickled, only their names are."""

    def __init__(self, names: tuple[Language, Language, Dictionary | None], lexicon: Lexicon) -> None:
        super().__init__(lexicon.ids_a, lexicon.ids_b, lexicon.links)
        self._names = names

    def __reduce__(self) -> tuple[Callable[..., "KnownWords | None"], tuple[Language, Language, Dictionary | None]]:
        return known_words, self._names


@lru_cache(maxsize=4)
def known_words(a: Language, b: Language, dictionary: Dictionary | None = None) -> KnownWords | None:
    """What ships of two languages, below the user's own words of them; None if there is nothing."""
    shipped, own = _shipped(a, b), dictionary.words(a, b) if dictionary else None
    both = own.added_to(shipped) if own is not None and shipped is not None else shipped or own
    return None if both is None else KnownWords((a, b, dictionary), both)


@lru_cache(maxsize=2)
def _learned(dictionary: Dictionary) -> Lexicon:
    entries = read_dictionary(Path(dictionary.path), dictionary.languages)
    return Lexicon.learn(entries, weights=[DICTIONARY_WEIGHT] * len(entries))


def _shipped(a: Language, b: Language) -> Lexicon | None:
    paths = [_path(language.split("-")[0]) for language in (a, b)]
    if paths[0] == paths[1] or not all(path.is_file() for path in paths):
        return None
    tables = [None if path.stem == ENGLISH else WordTable.unpacked(path.read_bytes()) for path in paths]
    links = [table.links() for table in tables if table]
    if tables[0] is None:
        links[0] = links[0].turned()
    elif tables[1] is not None:
        links[0] = links[0].through(links.pop().turned(), PIVOT)
    ids = [_numbers(table.words) if table else _english_words() for table in tables]
    return Lexicon(ids[0], ids[1], links[0])


def _path(bare: str) -> Path:
    return FOLDER / f"{_SAME.get(bare, bare)}{SUFFIX}"


@lru_cache(maxsize=1)
def _english_words() -> dict[str, int]:
    return _numbers(WordTable.unpacked(_path(ENGLISH).read_bytes()).words)


def _numbers(words: Sequence[str]) -> dict[str, int]:
    return {word: number for number, word in enumerate(words)}
