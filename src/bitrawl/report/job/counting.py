"""Counts items of a stream in constant memory: curves, histograms, samples."""

import random
from collections import Counter
from collections.abc import Callable, Hashable
from itertools import chain, zip_longest
from typing import Generic, TypeVar

BINS = 20  # of a histogram from 0 to 1; judgement
STEPS = 60  # points of a curve: about 8 pixels apart, so that you can point at each
SEED = 20261  # Any number would do. The same job shows the same samples.
BANDS = 5  # of scores; a sample contains items of each; judgement
MOST_GROUPS = 200  # groups that a sample tells apart: limits the memory to 30,000 items; judgement

Histogram = tuple[int, ...]
"""Counts of values between 0 and 1, in `BINS` bins of the same width."""

Points = tuple[tuple[int, int], ...]
"""The points of a curve: answers so far, count so far."""


class Steps:
    """The fetches of a job cut into equal steps, in which events are counted as they happen."""

    def __init__(self, fetches: int) -> None:
        self._fetches = fetches
        self._steps = max(min(STEPS, fetches), 1)
        self._counts: dict[str, Counter[int]] = {}

    def add(self, name: str, seq: int) -> None:
        """Count one more of that name, at the fetch with that number."""
        step = (seq - 1) * self._steps // max(self._fetches, 1)
        self._counts.setdefault(name, Counter())[min(step, self._steps - 1)] += 1

    def curves(self) -> dict[str, Points]:
        """The highest curve first."""
        ranked = sorted(self._counts.items(), key=lambda item: (-item[1].total(), item[0]))
        return {name: self._points(counts) for name, counts in ranked}

    def _points(self, counts: Counter[int]) -> Points:
        points, total = [(0, 0)], 0
        for step in range(self._steps):
            total += counts[step]
            points.append((-(-(step + 1) * self._fetches // self._steps), total))
        return tuple(points)


Item = TypeVar("Item")


class Reservoir(Generic[Item]):
    """A sample of a stream of any length, in which each item has the same probability (Vitter's algorithm R)."""

    def __init__(self, size: int) -> None:
        self.items: list[Item] = []
        self._size = size
        self._offered = 0
        self._random = random.Random(SEED)  # noqa: S311 (nothing secret)

    def offer(self, item: Item) -> None:
        self._offered += 1
        if len(self.items) < self._size:
            self.items.append(item)
        elif (place := self._random.randrange(self._offered)) < self._size:
            self.items[place] = item


class SpreadSample(Generic[Item]):
    """A sample that contains items of each group and each band of scores, whether they are large or small."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._groups: set[Hashable] = set()
        self._strata: dict[int, dict[Hashable, Reservoir[Item]]] = {band: {} for band in range(BANDS)}

    def offer(self, item: Item, group: Hashable, score: float) -> None:
        if group not in self._groups and len(self._groups) >= MOST_GROUPS:
            group = None  # all others together
        self._groups.add(group)
        band = self._strata[min(max(int(score * BANDS), 0), BANDS - 1)]
        band.setdefault(group, Reservoir(self._size)).offer(item)

    def items(self, key: Callable[[Item], Hashable]) -> list[Item]:
        """At most `size` items, no two with the same key: one of each group and band in turn, until there are enough."""
        shuffled = random.Random(SEED)  # noqa: S311 (nothing secret)
        bands = [[reservoir.items for reservoir in band.values()] for band in self._strata.values()]
        for band in bands:
            shuffled.shuffle(band)
        unique: dict[Hashable, Item] = {}
        for item in _in_turn(_in_turn(bands)):
            unique.setdefault(key(item), item)
        return list(unique.values())[: self._size]


def _in_turn(lists: list[list[Item]]) -> list[Item]:
    """The first of each list, then the second of each, and so on."""
    missing = object()
    mixed = chain.from_iterable(zip_longest(*lists, fillvalue=missing))
    return [item for item in mixed if item is not missing]  # type: ignore[misc]


class Bins:
    """A histogram that grows."""

    def __init__(self) -> None:
        self._counts = [0] * BINS

    def add(self, value: float) -> None:
        """Count one more. Values below 0 or above 1 count in the first or last bin."""
        self._counts[min(max(int(value * BINS), 0), BINS - 1)] += 1

    def histogram(self) -> Histogram:
        return tuple(self._counts)
