"""How often links of a group led to a page of a pair.

A group's rate starts near its parent's and moves with its visits.
"""

from array import array
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

PARENT_VISITS = 3.0  # judgement: a parent's rate counts as much as this many visits
_ROOT = 0  # the ancestor of all groups; its rate is the prior


class Rates:
    """Groups in a tree. A visit counts for its group and all ancestors."""

    def __init__(self, prior: float) -> None:
        self._prior = prior
        self._numbers: dict[Hashable, int] = {}
        # By group number, in arrays that numpy can read. A visit changes few of them, and few are read.
        self._parents = array("q", [_ROOT])
        self._visits = array("f", [0.0])
        self._gains = array("f", [0.0])

    def group(self, path: Sequence[Hashable]) -> int:
        """The number of the group at the end of a path from the root."""
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
        """Add visits and what they gained. Either may be negative, to correct an earlier count."""
        while group != _ROOT:
            self._visits[group] += visits
            self._gains[group] += gain
            group = self._parents[group]

    def rate(self, group: int) -> float:
        if group == _ROOT:
            return self._prior
        above = PARENT_VISITS * self.rate(self._parents[group])
        return (self._gains[group] + above) / (self._visits[group] + PARENT_VISITS)

    def rates(self, groups: NDArray[np.int64]) -> Floats:
        """Rates in the shape of `groups`. The cost depends on these groups only, not on how many there are."""
        asked = np.zeros(len(self._parents), bool)
        asked[groups] = True
        rates = np.empty(len(asked), np.float32)
        some = np.flatnonzero(asked)
        rates[some] = self._from_the_root(some)
        found: Floats = rates[groups]
        return found

    def _from_the_root(self, groups: NDArray[np.int64]) -> Floats:
        """Like `rate`, for all groups, one level of the tree at a time."""
        parents = np.frombuffer(self._parents, np.int64)
        visits, gains = (np.frombuffer(counts, np.float32) for counts in (self._visits, self._gains))
        levels = [groups]
        while (above := parents[levels[-1]]).any():
            levels.append(above)
        rates = np.full(len(groups), self._prior, np.float32)
        for level in reversed(levels):
            rate = (gains[level] + PARENT_VISITS * rates) / (visits[level] + PARENT_VISITS)
            np.copyto(rates, rate, where=level != _ROOT)
        return rates
