"""The one way to sample for people: even over sites and score ranges, the same for the same seed, and no entry twice."""

from collections.abc import Callable, Iterable
from hashlib import blake2b
from heapq import heappop, heappush
from itertools import count
from typing import Generic, TypeVar

from bitrawl.store.samples import SCORE_RANGES

Entry = TypeVar("Entry")
Place = tuple[str, float, tuple[str, ...]]
"""The site and the score of an entry, and the texts that tell it from others."""

_Stratum = tuple[str, int]
"""A site and a score range."""


def sampled(entries: Iterable[Entry], size: int, place: Callable[[Entry], Place], *, seed: int = 0) -> list[Entry]:
    """At most `size` entries, sorted by site and score, with the same number from each site and score range.

    A stratum with fewer entries gives all that it has. The entries are read once, and `size` of them are kept in memory.
    The order in which they come does not matter.
    """
    sample: SpreadSample[Entry] = SpreadSample(size, seed)
    for entry in entries:
        sample.offer(entry, *place(entry))
    return sample.entries()


class SpreadSample(Generic[Entry]):
    """A sample of entries that are offered one by one, as `sampled` makes it.

    Each unit has a random number. A stratum keeps its units with the smallest numbers.

    When one unit too many is kept, the largest stratum drops its last. A stratum that has dropped a unit never again
    takes a unit with a larger number, so its units are a random choice of all that it had: the level to which strata
    are filled only falls. If there are more strata than places, those with the smallest numbers of their own stay.
    """

    def __init__(self, size: int, seed: int = 0) -> None:
        self._size = size
        self._numbers: set[int] = set()  # of what is kept
        self._salt = str(seed).encode()
        self._kept: dict[_Stratum, list[tuple[int, int, float, Entry]]] = {}  # heaps, the largest number on top
        self._limits: dict[_Stratum, int] = {}  # of the strata that have dropped a unit
        self._last_stratum = 1 << 64  # strata from this number on have been dropped
        self._total = 0
        self._order = count()  # so that no two entries are ever compared

    def offer(self, entry: Entry, site: str, score: float, texts: tuple[str, ...]) -> None:
        stratum = (site, min(int(score * SCORE_RANGES), SCORE_RANGES - 1))
        number = self._number(*texts)
        if number >= self._limits.get(stratum, 1 << 64) or number in self._numbers:
            return
        if stratum not in self._kept and self._of_stratum(stratum) >= self._last_stratum:
            return
        self._numbers.add(number)
        heappush(self._kept.setdefault(stratum, []), (-number, next(self._order), score, entry))
        self._total += 1
        if self._total > self._size:
            self._give_one_up()

    def _give_one_up(self) -> None:
        largest = max(self._kept, key=lambda stratum: (len(self._kept[stratum]), self._of_stratum(stratum)))
        number, _, _, _ = heappop(self._kept[largest])
        self._total -= 1
        self._numbers.discard(-number)
        self._limits[largest] = -number
        if not self._kept[largest]:
            del self._kept[largest], self._limits[largest]
            self._last_stratum = self._of_stratum(largest)

    def entries(self) -> list[Entry]:
        return [
            entry
            for _, kept in sorted(self._kept.items())
            for _, _, _, entry in sorted(kept, key=lambda row: (row[2], -row[0]))
        ]

    def _of_stratum(self, stratum: _Stratum) -> int:
        return self._number(stratum[0], str(stratum[1]))

    def _number(self, *texts: str) -> int:
        data = "\0".join(texts).encode("utf-8", "surrogatepass")
        return int.from_bytes(blake2b(data, digest_size=8, key=self._salt).digest(), "big")
