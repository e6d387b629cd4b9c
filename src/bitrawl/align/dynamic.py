"""Dynamic programming in a band: the probability of every bead, and the beads that are right most often."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Bead

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Shape = tuple[int, int]  # sentences on either side of a bead

INSERTION, DELETION = (0, 1), (1, 0)
_NEVER = -1e30  # stands for minus infinity, which would turn into NaN when subtracted from itself
LEAP = 192  # sentences; a judgement: each costs a column in every row
_UNLIKELY = 1e-6  # probability of a bead that is not looked at: judgement
# What a bead costs, right or wrong. F1 is greatest where beads are worth having that are right with half its own value;
# swept 0–0.4 on Text+Berg and MAC dev (2026-11): F1 .865 .872 .868 and .818 .825 .829 with 0, 0.2, 0.4.
COST = 0.3


class Band(NamedTuple):
    """The nodes (i, j) that are looked at: after i sentences of a, j of b for `low[i]` <= j < `low[i]` + `width`.

    What is known of nodes is in tables of a row for each i; what is known of beads, in the node where they end.
    """

    low: Ints  # one more than a has sentences, never falling
    width: int
    size_b: int

    @property
    def size_a(self) -> int:
        """Sentences of a."""
        return len(self.low) - 1

    @property
    def whole(self) -> bool:
        """Whether no node is left out."""
        return self.width > self.size_b

    def columns(self) -> Ints:
        """The j of every node."""
        return self.low[:, None] + np.arange(self.width)

    @classmethod
    def around(cls, path: Floats, size_b: int, width: int) -> "Band":
        """Along a path that gives the j at which each i is reached; wider by the longest leap from one to the next.

        A leap is a run of sentences that b has alone. Beyond `LEAP` it is spread over the rows that follow, so that
        the width stays bounded, and a sentence or two after a gap of so many hundred may be lost.
        """
        rows = np.arange(len(path))
        most = max(LEAP, -(-size_b // max(len(path) - 1, 1)))
        path = np.minimum.accumulate(path - most * rows) + most * rows
        path = np.maximum(path, size_b - most * rows[::-1])
        leap = int(np.ceil(np.diff(path).max(initial=0.0)))
        margin, width = width // 2, min(width + leap, size_b + 1)
        low = np.clip(np.round(path).astype(np.int64) - margin, 0, size_b + 1 - width)
        low[0], low[-1] = 0, size_b + 1 - width
        return cls(np.maximum.accumulate(low), width, size_b)

    def transposed(self) -> "Band":
        """The smallest band of the exchanged texts that has all of these nodes."""
        high = self.low + self.width  # each column's rows are from the first whose end is beyond it to the last begun
        columns = np.arange(self.size_b + 1)
        first = np.searchsorted(high, columns, side="right")
        last = np.searchsorted(self.low, columns, side="right")
        width = int((last - first).max())
        low = np.minimum(first, self.size_a + 1 - width)
        return Band(np.maximum(low, 0), width, self.size_a)

    def moved(self, table: Floats, rows: int, columns: int, outside: float) -> Floats:
        """The table with each node's value taken from so many rows and columns before it."""
        at = np.arange(len(self.low)) - rows
        source = self.low - self.low[np.maximum(at, 0)] - columns
        column = source[:, None] + np.arange(self.width)
        inside = (column >= 0) & (column < self.width) & (at >= 0)[:, None]
        return np.where(inside, table[np.maximum(at, 0)[:, None], np.clip(column, 0, self.width - 1)], outside)


class Step(NamedTuple):
    """A bead of a chain: its shape, the node that it ends in, and its probability."""

    shape: Shape
    i: int
    j: int
    probability: float


def posteriors(band: Band, gains: Mapping[Shape, Floats]) -> dict[Shape, Floats]:
    """The probability of each bead among all chains of beads through the band, by forward and backward sums.

    `gains` are a bead's log-odds. Every shape takes a sentence of a, but the insertion, which must be among them.
    """
    forward, backward = _forward(band, gains), _backward(band, gains)
    total = forward[-1, band.size_b - band.low[-1]]
    return {
        shape: np.exp(np.minimum(band.moved(forward, *shape, _NEVER) + gain + backward - total, 0.0))
        for shape, gain in gains.items()
    }


def best_chain(band: Band, probabilities: Mapping[Shape, Floats], cost: float = COST) -> list[Step]:
    """The chain of beads with the greatest sum of probabilities, each less the cost.

    It is the one that has most beads right, whereas the likeliest chain is the one that most probably has none wrong.
    """
    table = _best(band, probabilities, cost)
    i, j = band.size_a, band.size_b
    chain = []
    while i or j:
        step = _last_step(band, table, probabilities, (i, j), cost)
        chain.append(step)
        i, j = i - step.shape[0], j - step.shape[1]
    return chain[::-1]


def as_bead(step: Step) -> Bead:
    """By the numbers of its sentences."""
    (ka, kb), i, j, probability = step
    return Bead(tuple(range(i - ka, i)), tuple(range(j - kb, j)), round(probability, 4))


def _forward(band: Band, gains: Mapping[Shape, Floats]) -> Floats:
    rows = _Rows(band, gains)
    for i in range(len(band.low)):
        arriving = [rows.seen(i, i - ka, -kb) + gain[i] for (ka, kb), gain in rows.steps if ka <= i]
        along = np.cumsum(gains[INSERTION][i])
        rows.put(i, np.logaddexp.accumulate(_log_sum([*arriving, rows.start(i, 0, 0)]) - along) + along)
    return rows.table()


def _backward(band: Band, gains: Mapping[Shape, Floats]) -> Floats:
    rows = _Rows(band, gains)
    padded = [(shape, _Rows.padded(band, gain)) for shape, gain in rows.steps]
    for i in range(band.size_a, -1, -1):
        leaving = [
            rows.seen(i, i + ka, kb) + rows.seen(i, i + ka, kb, gain)
            for (ka, kb), gain in padded
            if i + ka <= band.size_a
        ]
        # An insertion leads from a column to the next and has its gain in the node where it ends.
        along = np.append(np.cumsum(gains[INSERTION][i][:0:-1])[::-1], 0.0)
        row = _log_sum([*leaving, rows.start(i, band.size_a, band.size_b)])
        rows.put(i, np.logaddexp.accumulate((row - along)[::-1])[::-1] + along)
    return rows.table()


def _best(band: Band, probabilities: Mapping[Shape, Floats], cost: float) -> Floats:
    rows = _Rows(band, probabilities)
    # Of fifteen shapes one or two are likely anywhere in most rows; the deletion keeps all nodes connected.
    likely = {shape: (table.max(axis=1) > _UNLIKELY).tolist() for shape, table in rows.steps}
    likely[DELETION] = [True] * len(band.low)
    for i in range(len(band.low)):
        arriving = [
            rows.seen(i, i - ka, -kb) + (table[i] - cost)
            for (ka, kb), table in rows.steps
            if ka <= i and likely[ka, kb][i]
        ]
        along = np.cumsum(probabilities[INSERTION][i] - cost)
        row = np.max([*arriving, rows.start(i, 0, 0)], axis=0)
        rows.put(i, np.maximum.accumulate(row - along) + along)
    return rows.table()


class _Rows:
    """A table that is filled row by row, with a margin that is never reached, so that rows can be read side by side."""

    def __init__(self, band: Band, gains: Mapping[Shape, Floats]) -> None:
        self.band, self.low = band, band.low.tolist()
        self.steps = [(shape, gain) for shape, gain in gains.items() if shape[0]]
        self._cells = self.padded(band, np.full((len(band.low), band.width), _NEVER))

    @staticmethod
    def padded(band: Band, table: Floats) -> Floats:
        return np.pad(table, ((0, 0), (band.width, band.width)), constant_values=_NEVER)

    def seen(self, i: int, at: int, shift: int, cells: Floats | None = None) -> Floats:
        """Row `at` as it lies beside row i, moved by so many columns."""
        width = self.band.width
        begin = min(max(self.low[i] - self.low[at] + shift + width, 0), 2 * width)
        row: Floats = (self._cells if cells is None else cells)[at, begin : begin + width]
        return row

    def start(self, i: int, at_i: int, at_j: int) -> Floats:
        """A row that is never reached, but for the node where the chains begin."""
        row = np.full(self.band.width, _NEVER)
        if i == at_i:
            row[at_j - self.low[i]] = 0.0
        return row

    def put(self, i: int, row: Floats) -> None:
        self._cells[i, self.band.width : 2 * self.band.width] = row

    def table(self) -> Floats:
        return self._cells[:, self.band.width : 2 * self.band.width]


def _last_step(
    band: Band, table: Floats, probabilities: Mapping[Shape, Floats], node: tuple[int, int], cost: float
) -> Step:
    i, j = node
    best, chosen = -np.inf, Step(INSERTION if j else DELETION, i, j, 0.0)
    for shape, probability in probabilities.items():
        row, column = i - shape[0], j - shape[1]
        here = float(probability[i, j - band.low[i]])
        if row < 0 or not 0 <= column - band.low[row] < band.width:
            continue
        if here <= _UNLIKELY and all(shape):
            continue
        total = float(table[row, column - band.low[row]]) + here - cost
        if total > best:
            best, chosen = total, Step(shape, i, j, here)
    return chosen


def _log_sum(rows: list[Floats]) -> Floats:
    stacked = np.array(rows)
    top = stacked.max(axis=0)
    total: Floats = np.log(np.exp(stacked - top).sum(axis=0)) + top
    return total
