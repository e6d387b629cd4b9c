"""Arrays of numbers: short names for their types, runs of values in a flat array, and decision trees over rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Ints = NDArray[np.int64]
Ints32 = NDArray[np.int32]
Bools = NDArray[np.bool_]
Number = TypeVar("Number", bound=np.number)


def bounds(sizes: NDArray[Any] | Sequence[int]) -> NDArray[Any]:
    """Where runs of those sizes begin in a flat array, and the end of the last."""
    return np.concatenate([[0], np.cumsum(sizes)])


def ranges(starts: Ints, ends: Ints) -> Ints:
    """All numbers from each start to its end, one range after the other."""
    counts = ends - starts
    offsets = np.cumsum(counts) - counts
    return np.repeat(starts - offsets, counts) + np.arange(counts.sum())


def firsts(ordered: NDArray[Any]) -> Ints:
    """Where each different value of a sorted array begins."""
    return np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])


def distinct(values: NDArray[Number]) -> NDArray[Number]:
    """Each value once, ascending.

    `np.unique` by itself puts them into a hash table. For millions of them that takes a hundred times as long as to sort
    them, and several times the memory (numpy 2.4).
    """
    ordered = np.sort(values)
    return ordered[firsts(ordered)]


def in_order(keys: Ints) -> tuple[Ints, Ints]:
    """The keys, which are not negative, in order, and where each stood; equal ones in the order in which they stood."""
    # Sorting numbers is several times faster than finding their order: the place goes into the low bits.
    bits = len(keys).bit_length()
    if int(keys.max(initial=0)).bit_length() + bits < 63:
        keys = (keys << bits) | np.arange(len(keys))
        keys.sort()
        order = keys & ((1 << bits) - 1)
        keys >>= bits
        return keys, order
    order = np.argsort(keys, kind="stable")
    return keys[order], order


def places_in(ordered: NDArray[Any], values: NDArray[Any]) -> Ints:
    """Where each value stands in a sorted array; -1 if it does not."""
    if not len(ordered):
        return np.full(len(values), -1, np.int64)
    places = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return np.where(ordered[places] == values, places, -1)


class RememberedRows:
    """Rows of numbers by key, for rows that are expensive to compute. It is emptied when it is full."""

    def __init__(self, compute: Callable[[Sequence[Any]], Floats32], room: int, width: int = 0) -> None:
        self._compute, self._room = compute, room
        self._table = np.zeros((0, width), np.float32)
        self._places: dict[Any, int] = {}

    def rows(self, keys: Sequence[Any]) -> Floats32:
        """One row for each key, in their order; a copy."""
        places = self._places
        new = list({key: None for key in keys if key not in places})
        if len(places) + len(new) > self._room:
            places.clear()
            new = list(dict.fromkeys(keys))
            if len(new) > self._room:
                half = len(keys) // 2
                return np.concatenate([self.rows(keys[:half]), self.rows(keys[half:])])
        if new:
            rows, first = self._compute(new), len(places)
            if not len(self._table):
                self._table = np.zeros((self._room, rows.shape[1]), np.float32)
            self._table[first : first + len(new)] = rows
            places.update(zip(new, range(first, first + len(new)), strict=True))
        return self._table.take([places[key] for key in keys], axis=0)


_ROWS = 1024  # evaluated together, so that they stay in the processor's cache


@dataclass(frozen=True, slots=True)
class Trees:
    """Complete binary trees of equal depth.

    Node n has the children 2n+1 and 2n+2; rows above the threshold go right.
    """

    feature: NDArray[np.int16]  # trees × inner nodes
    threshold: Floats32
    leaf: Floats32  # trees × leaves

    def probability(self, rows: Floats32) -> Floats32:
        """The probability of each row: the logistic function of the sum of its leaves."""
        trees, inner = self.threshold.shape
        feature, threshold, leaf = (array.ravel() for array in (self.feature, self.threshold, self.leaf))
        first = np.arange(trees)[:, None] * inner
        total = np.empty(len(rows), np.float64)
        for start in range(0, len(rows), _ROWS):
            part = np.ascontiguousarray(rows[start : start + _ROWS])
            begin = np.arange(len(part)) * part.shape[1]
            node = np.zeros((trees, len(part)), np.intp)
            for _ in range((inner + 1).bit_length() - 1):
                at = node + first
                above = part.ravel().take(begin + feature.take(at)) > threshold.take(at)
                node = 2 * node + 1 + above
            total[start : start + _ROWS] = leaf.take(node - inner + np.arange(trees)[:, None] * (inner + 1)).sum(axis=0)
        return (1 / (1 + np.exp(-total))).astype(np.float32)

    @classmethod
    def named(cls, name: str, arrays: Mapping[str, NDArray[Any]]) -> "Trees":
        """The trees of that name in a file of several models."""
        return cls(arrays[f"{name}.feature"], arrays[f"{name}.threshold"], arrays[f"{name}.leaf"])
