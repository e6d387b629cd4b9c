"""How often links of a kind led to a page of a pair: rates of groups, each leaning on its parent's while it is young."""

from array import array
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

LEAN = 3.0  # Visits that a parent's rate counts for.
_ROOT = 0  # above all groups; its rate is the prior


class Yields:
    """Groups in a tree; a visit counts for a group and for all above it."""

    def __init__(self, prior: float) -> None:
        self._prior = prior
        self._numbers: dict[Hashable, int] = {}
        # By number, where numpy can read them: a visit changes a few, and few are asked for.
        self._parents = array("q", [_ROOT])
        self._visits = array("f", [0.0])
        self._gains = array("f", [0.0])

    def group(self, path: Sequence[Hashable]) -> int:
        """The group at the end of a path from the root: its number, by which it is asked for and counted."""
        number = _ROOT
        for name in path:
            key = (number, name)
            found = self._numbers.get(key)
            if found is None:
                found = self._numbers[key] = len(self._parents)
                self._parents.append(number)
                self._visits.append(0.0)
                self._gains.append(0.0)
            number = found
        return number

    def count(self, group: int, visits: float, gain: float) -> None:
        """So many visits more, and so much of them was gain; either may be negative, to take back what was believed."""
        while group != _ROOT:
            self._visits[group] += visits
            self._gains[group] += gain
            group = self._parents[group]

    def rates(self) -> Floats:
        """Of all groups, by number."""
        return self.rates_of(np.arange(len(self._parents)))

    def rates_of(self, groups: NDArray[np.int64]) -> Floats:
        """In the shape of what is asked for; the other groups cost next to nothing, however many they are."""
        asked = np.zeros(len(self._parents), bool)
        asked[groups] = True
        rates = np.empty(len(asked), np.float32)
        some = np.flatnonzero(asked)
        rates[some] = self._leaning(some)
        found: Floats = rates[groups]
        return found

    def rate(self, group: int) -> float:
        """Of one group."""
        if group == _ROOT:
            return self._prior
        return (self._gains[group] + LEAN * self.rate(self._parents[group])) / (self._visits[group] + LEAN)

    def _leaning(self, groups: NDArray[np.int64]) -> Floats:
        """From the root down, a step at a time for all."""
        parents = np.frombuffer(self._parents, np.int64)
        visits, gains = (np.frombuffer(counts, np.float32) for counts in (self._visits, self._gains))
        way = [groups]
        while (above := parents[way[-1]]).any():
            way.append(above)
        rates = np.full(len(groups), self._prior, np.float32)
        for level in reversed(way):
            np.copyto(rates, (gains[level] + LEAN * rates) / (visits[level] + LEAN), where=level != _ROOT)
        return rates
