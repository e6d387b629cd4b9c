"""Counting what streams by, in memory that does not grow with it: curves, histograms, samples, the order of fetches."""

import random
from array import array
from collections import Counter
from typing import Generic, TypeVar

import numpy as np

from bitrawl.store.ledger import Ledger

BINS = 20  # of a histogram from 0 to 1
STEPS = 60  # of a curve: as many as there are places to point at
SEED = 20261  # The same job shows the same samples.

Histogram = tuple[int, ...]
"""Counts of values between 0 and 1, in `BINS` bins of the same width."""

Points = tuple[tuple[int, int], ...]
"""Of a curve: answers so far, count so far."""


class Steps:
    """The log cut into equal steps, in which things are counted as they happen."""

    def __init__(self, fetches: int) -> None:
        self._fetches = fetches
        self._steps = max(min(STEPS, fetches), 1)
        self._counts: dict[str, Counter[int]] = {}

    def add(self, name: str, seq: int) -> None:
        """One more of that name, at that place in the log."""
        step = (seq - 1) * self._steps // max(self._fetches, 1)
        self._counts.setdefault(name, Counter())[min(step, self._steps - 1)] += 1

    def curves(self) -> dict[str, Points]:
        """The highest first."""
        ranked = sorted(self._counts.items(), key=lambda item: (-item[1].total(), item[0]))
        return {name: self._points(counts) for name, counts in ranked}

    def _points(self, counts: Counter[int]) -> Points:
        points, total = [(0, 0)], 0
        for step in range(self._steps):
            total += counts[step]
            points.append((-(-(step + 1) * self._fetches // self._steps), total))
        return tuple(points)


class Order:
    """When each page was fetched: 16 bytes a page, whatever its address."""

    def __init__(self, ledger: Ledger, fetches: int) -> None:
        self._last = fetches
        keys, seqs = array("q"), array("q")
        for url, seq in ledger.connection.execute("SELECT url, seq FROM fetches WHERE outcome = 'page' ORDER BY seq"):
            keys.append(hash(url))
            seqs.append(seq)
        unsorted = np.frombuffer(keys, dtype=np.int64)
        order = np.argsort(unsorted, kind="stable")
        self._keys, self._seqs = unsorted[order], np.frombuffer(seqs, dtype=np.int64)[order]

    def __call__(self, url: str) -> int:
        """Its first place in the log; the log's end for a page that is not in it."""
        key = hash(url)
        place = int(np.searchsorted(self._keys, key))
        return int(self._seqs[place]) if place < len(self._keys) and self._keys[place] == key else self._last


Item = TypeVar("Item")


class Reservoir(Generic[Item]):
    """So many of a stream of any length, each with the same chance (Vitter's algorithm R)."""

    def __init__(self, size: int) -> None:
        self.items: list[Item] = []
        self._size = size
        self._met = 0
        self._random = random.Random(SEED)  # noqa: S311 (nothing secret)

    def offer(self, item: Item) -> None:
        """The next of the stream."""
        self._met += 1
        if len(self.items) < self._size:
            self.items.append(item)
        elif (place := self._random.randrange(self._met)) < self._size:
            self.items[place] = item


class Bins:
    """A histogram that grows."""

    def __init__(self) -> None:
        self._counts = [0] * BINS

    def add(self, value: float) -> None:
        """One more; what is beyond 0 and 1 counts for the end."""
        self._counts[min(max(int(value * BINS), 0), BINS - 1)] += 1

    def histogram(self) -> Histogram:
        """As it is now."""
        return tuple(self._counts)
