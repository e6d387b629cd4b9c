"""Words and their translations that ship: what is believed of two languages before anything is learned of them.

A file for each language, with English. Two languages without English are read by way of it.
"""

import lzma
import struct
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Language
from bitrawl.model_files import PACKAGE, WORDS
from bitrawl.text.arrays import Floats, bounds
from bitrawl.text.lexicon import Lexicon, Links

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
_HEADER = struct.Struct("<2I")
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 20}]


class WordTable(NamedTuple):
    """The words of a language, and the English words that each may translate."""

    words: list[str]
    counts: NDArray[np.uint8]  # of each word, how many it has
    english: NDArray[np.uint16]  # by their numbers in the list of English words, word after word, ascending
    forward: NDArray[np.uint8]  # levels of p(English | word)
    backward: NDArray[np.uint8]  # levels of p(word | English)

    def packed(self) -> bytes:
        """The content of a file. Equal tables have equal bytes."""
        shared = bytes(map(_shared, ["", *self.words[:-1]], self.words))
        ends = "\n".join(word[count:] for word, count in zip(self.words, shared, strict=True)).encode()
        steps = np.diff(self.english.astype(np.int32), prepend=0).astype(np.uint16)
        starts = bounds(self.counts.astype(np.int64))[:-1][self.counts > 0]
        steps[starts] = self.english[starts]
        planes = (steps >> 8).astype(np.uint8).tobytes() + (steps & 255).astype(np.uint8).tobytes()
        scores = (self.forward << 4 | self.backward).astype(np.uint8).tobytes()
        body = b"".join((shared, self.counts.astype(np.uint8).tobytes(), planes, scores, ends))
        return lzma.compress(
            _HEADER.pack(len(self.words), len(self.english)) + body,
            format=lzma.FORMAT_RAW,
            filters=_FILTERS,
        )

    @classmethod
    def unpacked(cls, content: bytes) -> "WordTable":
        raw = lzma.decompress(content, format=lzma.FORMAT_RAW, filters=_FILTERS)
        words, links = _HEADER.unpack_from(raw)
        arrays = np.frombuffer(raw, np.uint8, 2 * words + 3 * links, _HEADER.size)
        shared, counts, high, low, scores = np.split(arrays, np.cumsum([words, words, links, links]))
        names, before = [], ""
        ends = raw[_HEADER.size + len(arrays) :].decode().split("\n") if words else []
        for count, end in zip(shared.tolist(), ends, strict=True):
            before = before[:count] + end
            names.append(before)
        steps = np.cumsum(high.astype(np.int64) << 8 | low)
        starts = bounds(counts.astype(np.int64))
        english = steps - np.repeat(np.append(0, steps)[starts[:-1]], counts)
        return cls(names, counts, english.astype(np.uint16), scores >> np.uint8(4), scores & np.uint8(15))


def levels(probabilities: Floats) -> NDArray[np.uint8]:
    """The nearest level of each; 0 is next to nothing."""
    rounded = np.rint(LEVELS - 1 + np.log(np.maximum(probabilities, 1e-9)) / STEP)
    return np.clip(rounded, 0, LEVELS - 1).astype(np.uint8)


def _probabilities(of_levels: NDArray[np.uint8]) -> Floats:
    probabilities = np.exp(STEP * np.arange(1 - LEVELS, 1))
    probabilities[0] = 0.0
    found: Floats = probabilities[of_levels]
    return found


def _shared(before: str, word: str) -> int:
    """With how many letters of the word before it begins."""
    count = 0
    while count < min(len(before), len(word), 255) and before[count] == word[count]:
        count += 1
    return count


def known_languages() -> list[Language]:
    """The languages that have words with English."""
    return sorted(Language(path.stem) for path in FOLDER.glob(f"*{SUFFIX}") if path.stem != ENGLISH)


class KnownWords(Lexicon):
    """What ships of two languages: where it is pickled, only their names are."""

    def __init__(self, languages: tuple[Language, Language], lexicon: Lexicon) -> None:
        super().__init__(lexicon.ids_a, lexicon.ids_b, lexicon.links)
        self._languages = languages

    def __reduce__(self) -> tuple[Callable[[Language, Language], "KnownWords | None"], tuple[Language, Language]]:
        return known_words, self._languages


@lru_cache(maxsize=4)
def known_words(a: Language, b: Language) -> KnownWords | None:
    """What ships of two languages; None if there is nothing."""
    bare_a, bare_b = (language.split("-")[0] for language in (a, b))
    files = [_file(bare) for bare in (bare_a, bare_b)]
    if None in files or files[0] == files[1]:
        return None
    if bare_b == ENGLISH:
        return KnownWords((a, b), _with_english(str(files[0])))
    of_english = _with_english(str(files[1])).turned()
    return KnownWords(
        (a, b), of_english if bare_a == ENGLISH else _with_english(str(files[0])).through(of_english, PIVOT)
    )


def _file(bare: str) -> Path | None:
    path = FOLDER / f"{_SAME.get(bare, bare)}{SUFFIX}"
    return path if path.is_file() else None


@lru_cache(maxsize=4)
def _with_english(path: str) -> Lexicon:
    table = WordTable.unpacked(Path(path).read_bytes())
    words = {word: number for number, word in enumerate(table.words)}
    a = np.repeat(np.arange(len(words)), table.counts)
    links = Links(a, table.english.astype(np.int64), _probabilities(table.forward), _probabilities(table.backward))
    return Lexicon(words, _english_words(), links)


@lru_cache(maxsize=1)
def _english_words() -> dict[str, int]:
    table = WordTable.unpacked((FOLDER / f"{ENGLISH}{SUFFIX}").read_bytes())
    return {word: number for number, word in enumerate(table.words)}
