"""How often links of a kind led to a page of a pair: rates of groups, each close to its parent's until it has visits."""

from array import array
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Groups = NDArray[np.integer]

PARENT_VISITS = 3.0  # judgement: visits that a parent's rate counts for
_ROOT = 0  # above all groups; its rate is the prior
HOST_DEPTH = 3  # steps from the root to a host in the paths that `novelty` is asked about ("marks", fr, host)


class Rates:
    """Groups in a tree; a visit counts for a group and for all above it."""

    def __init__(self, prior: float) -> None:
        self._prior = prior
        self._numbers: dict[Hashable, int] = {}
        # By number, where numpy can read them: a visit changes a few, and few are asked for.
        self._parents = array("i", [_ROOT])
        self._visits = array("f", [0.0])
        self._gains = array("f", [0.0])
        self._depths = array("B", [0])  # steps from the root, as far as they matter
        self._hosts = array("i", [_ROOT])  # the group at HOST_DEPTH on the path to each
        self._visited_below = array("f", [0.0])  # groups directly below that have visits
        self._gaining_below = array("f", [0.0])  # those of them that gained something

    def group(self, path: Sequence[Hashable]) -> int:
        """The group at the end of a path from the root: its number, by which it is asked for and counted."""
        number = _ROOT
        for name in path:
            key = (number, name)
            found = self._numbers.get(key)
            if found is None:
                found = self._numbers[key] = self.below(number)
            number = found
        return number

    def below(self, parent: int) -> int:
        """A new group without a name, for whoever remembers its number."""
        number = len(self._parents)
        depth = min(self._depths[parent] + 1, HOST_DEPTH + 1)
        self._parents.append(parent)
        self._depths.append(depth)
        self._hosts.append(number if depth == HOST_DEPTH else self._hosts[parent])
        for counts in (self._visits, self._gains, self._visited_below, self._gaining_below):
            counts.append(0.0)
        return number

    def count(self, group: int, visits: float, gain: float) -> None:
        """Add visits and what they gained; either may be negative, to correct what was counted before."""
        while group != _ROOT:
            parent = self._parents[group]
            visited, gained = self._visits[group] > 0, self._gains[group] > 0
            self._visits[group] += visits
            self._gains[group] += gain
            self._visited_below[parent] += (self._visits[group] > 0) - visited
            self._gaining_below[parent] += (self._gains[group] > 0) - gained
            group = parent

    def rate(self, group: int) -> float:
        if group == _ROOT:
            return self._prior
        above = PARENT_VISITS * self.rate(self._parents[group])
        return (self._gains[group] + above) / (self._visits[group] + PARENT_VISITS)

    def visits(self, groups: Groups) -> Floats:
        """How many were counted, of each group."""
        found: Floats = np.frombuffer(self._visits, np.float32)[groups]
        return found

    def gains(self, groups: Groups) -> Floats:
        """What they brought, of each group."""
        found: Floats = np.frombuffer(self._gains, np.float32)[groups]
        return found

    def novelty(self, groups: Groups) -> Floats:
        """0 for a group with visits. For one without, the share of its visited siblings that gained something, of 1 at first.

        Divided by the visits of its host as long as that has gained nothing: a host has directories without end, and a
        few of them tell what the others are worth.
        """
        visits, gains, visited, gaining = (
            np.frombuffer(counts, np.float32)
            for counts in (self._visits, self._gains, self._visited_below, self._gaining_below)
        )
        found: Floats = np.zeros(len(groups), np.float32)
        new = np.flatnonzero(visits[groups] == 0)
        parents, hosts = (np.frombuffer(numbers, np.int32)[groups[new]] for numbers in (self._parents, self._hosts))
        share = (1 + gaining[parents]) / (1 + visited[parents])
        found[new] = share / np.where(gains[hosts] > 0, np.float32(1), 1 + visits[hosts])
        return found

    def rates(self, groups: Groups) -> Floats:
        """In the shape of what is asked for; the other groups cost next to nothing, however many they are."""
        asked = np.zeros(len(self._parents), bool)
        asked[groups] = True
        rates = np.empty(len(asked), np.float32)
        some = np.flatnonzero(asked)
        rates[some] = self._from_the_root(some)
        found: Floats = rates[groups]
        return found

    def _from_the_root(self, groups: Groups) -> Floats:
        """As `rate`, a level at a time for all groups."""
        parents = np.frombuffer(self._parents, np.int32)
        visits, gains = (np.frombuffer(counts, np.float32) for counts in (self._visits, self._gains))
        levels = [groups]
        while (above := parents[levels[-1]]).any():
            levels.append(above)
        rates = np.full(len(groups), self._prior, np.float32)
        for level in reversed(levels):
            rate = (gains[level] + PARENT_VISITS * rates) / (visits[level] + PARENT_VISITS)
            np.copyto(rates, rate, where=level != _ROOT)
        return rates
