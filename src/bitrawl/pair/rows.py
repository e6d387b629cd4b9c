"""A row of numbers for each page of a site, all rows in one array: a list of small ones would cost ten times as much."""

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]
Ints = NDArray[np.int64]


class Rows:
    """The rows in the order of the pages; `values` runs beside `flat`: how often, how heavy, where."""

    def __init__(self, starts: Ints, flat: Numbers, values: Numbers) -> None:
        self.starts, self.flat, self.values = starts, flat, values

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, number: int) -> Numbers:
        return self.flat[self.starts[number] : self.starts[number + 1]]

    def values_of(self, number: int) -> Numbers:
        """Of the numbers of that row, in their order."""
        return self.values[self.starts[number] : self.starts[number + 1]]

    def lengths(self) -> Ints:
        """Of each row."""
        return np.diff(self.starts)

    def owners(self) -> NDArray[np.int32]:
        """For each element of `flat`, the page that it belongs to."""
        return np.repeat(np.arange(len(self), dtype=np.int32), self.lengths())

    def kept(self, mask: NDArray[np.bool_]) -> "Rows":
        """Only those elements."""
        filled = self.lengths() > 0
        counts = np.zeros(len(self), np.int64)
        if filled.any():
            counts[filled] = np.add.reduceat(mask, self.starts[:-1][filled], dtype=np.int64)
        values = self.values[mask] if len(self.values) else self.values
        return Rows(np.concatenate([[0], np.cumsum(counts)]), self.flat[mask], values)


class RowWriter:
    """Takes the rows in any order of their pages; the type codes are those of `array`."""

    def __init__(self, flat: str, values: str = "") -> None:
        self._flat = array(flat)
        self._values = array(values) if values else None
        self._numbers, self._lengths = array("l"), array("l")

    def write(self, number: int, row: Sequence[int], values: Sequence[int] = ()) -> None:
        """The row of that page."""
        self._flat.extend(row)
        if self._values is not None:
            self._values.extend(values)
        self._numbers.append(number)
        self._lengths.append(len(row))

    def rows(self, count: int) -> Rows:
        """Of so many pages; one that was not written has an empty row. The writer is empty after it."""
        numbers, lengths = np.array(self._numbers, np.int64), np.array(self._lengths, np.int64)
        of_number = np.zeros(count, np.int64)
        of_number[numbers] = lengths
        starts = np.concatenate([[0], np.cumsum(of_number)])
        targets = None if (np.diff(numbers) > 0).all() else starts[numbers]
        flat, self._flat = _arranged(self._flat, lengths, targets), array(self._flat.typecode)
        if self._values is None:
            return Rows(starts, flat, np.zeros(0, np.uint8))
        values, self._values = _arranged(self._values, lengths, targets), array(self._values.typecode)
        return Rows(starts, flat, values)


def _arranged(source: "array[int]", lengths: Ints, targets: Ints | None) -> Numbers:
    """What was written as an array, each row moved to where it belongs; None where all are there already."""
    written = np.frombuffer(source, source.typecode) if len(source) else np.zeros(0, source.typecode)
    if targets is None:
        return written
    flat = np.empty_like(written)
    ends = np.cumsum(lengths)
    for start, end, target in zip((ends - lengths).tolist(), ends.tolist(), targets.tolist(), strict=True):
        flat[target : target + end - start] = written[start:end]
    return flat


def ranges(starts: Ints, ends: Ints) -> Ints:
    """The numbers from each start to its end, one range after the other."""
    lengths = ends - starts
    total = int(lengths.sum())
    if not total:
        return np.zeros(0, np.int64)
    steps = np.repeat(starts - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
    result: Ints = steps + np.arange(total)
    return result


def places_in(ordered: Numbers, wanted: Numbers) -> Ints:
    """Where each stands in the ascending array; -1 where it does not."""
    if not len(ordered):
        return np.full(len(wanted), -1, np.int64)
    places = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
    result: Ints = np.where(ordered[places] == wanted, places, -1)
    return result
