"""How often links of a kind led to a page of a pair: rates of groups, each leaning on its parent's while it is young."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

LEAN = 3.0  # Visits that a parent's rate counts for.


class Yields:
    """Groups in a tree; a visit counts for a group and for all above it."""

    def __init__(self, prior: float) -> None:
        self._prior = prior
        self._numbers: dict[Hashable, int] = {}
        self._parents: list[int] = []
        self._levels: list[list[int]] = []
        self._depths: list[int] = []
        self._visits: list[float] = []
        self._gains: list[float] = []

    def group(self, path: Sequence[Hashable]) -> int:
        """The group at the end of a path from the root: its number, by which it is asked for and counted."""
        number = -1
        for depth in range(len(path)):
            key = (number, path[depth])
            found = self._numbers.get(key)
            if found is None:
                found = self._numbers[key] = len(self._parents)
                self._parents.append(number)
                self._depths.append(depth)
                self._visits.append(0.0)
                self._gains.append(0.0)
                if depth == len(self._levels):
                    self._levels.append([])
                self._levels[depth].append(found)
            number = found
        return number

    def count(self, group: int, visits: float, gain: float) -> None:
        """So many visits more, and so much of them was gain; either may be negative, to take back what was believed."""
        while group >= 0:
            self._visits[group] += visits
            self._gains[group] += gain
            group = self._parents[group]

    def rates(self) -> Floats:
        """Of all groups, by number."""
        visits = np.asarray(self._visits, np.float32)
        gains = np.asarray(self._gains, np.float32)
        parents = np.asarray(self._parents, np.int64)
        rates = np.full(len(visits), self._prior, np.float32)
        for depth, members in enumerate(self._levels):
            some = np.asarray(members, np.int64)
            above = rates[parents[some]] if depth else np.full(len(some), self._prior, np.float32)
            rates[some] = (gains[some] + LEAN * above) / (visits[some] + LEAN)
        return rates

    def rate(self, group: int) -> float:
        """Of one group."""
        above = self.rate(self._parents[group]) if self._parents[group] >= 0 else self._prior
        return (self._gains[group] + LEAN * above) / (self._visits[group] + LEAN)
