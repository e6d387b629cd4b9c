"""How often a stem occurs in a language in general, whatever the subject."""

import zlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Language
from bitrawl.model_files import model_file

# A stem is known by this many bits of its CRC-32. With the largest table (30,000 stems), one in 560 stems that are not in
# the table is taken for one that is.
KEY_MASK = (1 << 24) - 1
# A rate is a byte: 0.1 * 10 ** (byte / 40) occurrences per million, so at most 237,000. A step is 6 %.
STEPS_PER_TENFOLD, LOWEST_RATE = 40, 0.1
# Of a stem that the language's table lacks: half of the rate of the rarest stem that a table may have. Judgement.
UNSEEN_RATE = 0.25
# Of every stem of a language without a table: rare, and all alike, so that only a text's own counts tell its words apart.
EQUAL_RATE = 20.0  # of a language with 50,000 equally frequent words; judgement

# Languages that are written with the words of another one's table. Those of a table are stems as `words` makes them for
# exactly these codes, so Serbian, which has a stemmer, cannot share a table with Croatian, which has none.
_SHARED = {"no": "nb", "nn": "nb", "hr": "sh", "bs": "sh", "cnr": "sh", "tl": "fil"}


def rate(stems: Sequence[str], language: Language) -> NDArray[np.float32]:
    """Expected occurrences of each stem in a million words. Stems are as `text.words.words` makes them.

    A number is as frequent as all numbers with as many digits together: it never looks like a rare word. In a language
    without a table (`known`), every stem is equally rare.
    """
    return rate_of_keys(keys_of(stems), language)


def rate_of_keys(keys: NDArray[np.int32], language: Language) -> NDArray[np.float32]:
    """`rate` of stems that only their keys (`keys_of`) are kept of."""
    table = _table(_file(), _code(language))
    if table is None:
        return np.full(len(keys), EQUAL_RATE, np.float32)
    places = np.minimum(np.searchsorted(table.keys, keys), len(table.keys) - 1)
    return np.where(table.keys[places] == keys, table.rates[places], np.float32(UNSEEN_RATE))


def typical_keys(count: int, language: Language, random: np.random.Generator) -> NDArray[np.int32]:
    """Keys of words drawn as general language uses them; in a language without a table, of words that nobody has seen."""
    table = _table(_file(), _code(language))
    if table is None:
        return random.integers(KEY_MASK, size=count, dtype=np.int32)
    return random.choice(table.keys, count, p=table.rates / table.rates.sum(dtype=np.float64))


def known(language: Language) -> bool:
    """Whether there is a table of that language."""
    return _code(language) in _languages(_file())


def keys_of(stems: Iterable[str]) -> NDArray[np.int32]:
    """What a table knows the stems by. All numbers with the same number of digits have the same key."""
    return np.array([key_of(stem) for stem in stems], np.int32)


def key_of(stem: str) -> int:
    """`keys_of` one stem, for those that remember it."""
    return zlib.crc32((_shape(stem) if stem[:1].isdecimal() else stem).encode()) & KEY_MASK


class Table(NamedTuple):
    """One language: the keys in order, and the rate of each in occurrences per million."""

    keys: NDArray[np.int32]
    rates: NDArray[np.float32]


def read_tables(path: Path) -> dict[str, Table | None]:
    """All that the file has, to check it."""
    return {code: _table(path, code) for code in _languages(path)}


def _file() -> Path:
    return model_file("frequencies.npz")


def _shape(number: str) -> str:
    return "".join("0" if c.isdecimal() else c for c in number)


def _code(language: Language) -> str:
    bare = language.split("-")[0]
    return _SHARED.get(bare, bare)


@lru_cache(maxsize=2)
def _languages(path: Path) -> frozenset[str]:
    with np.load(path) as data:
        return frozenset(name.partition(".")[0] for name in data.files)


@lru_cache(maxsize=8)  # a job has two or three languages; a table has 0.3 MB in memory
def _table(path: Path, code: str) -> Table | None:
    if code not in _languages(path):
        return None
    with np.load(path) as data:
        gaps, steps = data[f"{code}.gaps"], data[f"{code}.steps"]
    rates = 10 ** (steps.astype(np.float32) / STEPS_PER_TENFOLD) * LOWEST_RATE
    return Table(np.cumsum(gaps, dtype=np.int32), rates.astype(np.float32))
