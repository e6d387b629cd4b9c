"""Dynamic programming over many texts at once: the probability of every bead, and the beads that are right most often."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.text.arrays import Floats, Ints

Shape = tuple[int, int]  # sentences on either side of a bead

INSERTION, DELETION = (0, 1), (1, 0)
_NEVER = -1e30  # stands for minus infinity, which would turn into NaN when subtracted from itself
LEAP = 192  # sentences: each costs a column in every row
# Exponents that float64 holds, less a margin for sums.
_RANGE = 500.0
_LEAST = 1e-250  # keeps sums from vanishing where others in their row have grown too much
_RESCALED = 16  # rows between two looks at how large the sums have grown
_UNLIKELY = 1e-6  # probability of a bead that is not looked at
# What a bead costs, right or wrong. F1 is greatest where beads are worth having that are right with half its own value;
# swept 0–0.4 on Text+Berg and MAC dev (2026-11): F1 .865 .872 .868 and .818 .825 .829 with 0, 0.2, 0.4.
COST = 0.3


class Lattices(NamedTuple):
    """Many lattices of nodes (i, j): after i sentences of a, j of b; each from (0, 0) to its own end.

    Tables are [i, lattice, j - low[i]]. Lattices that are searched whole have `low` 0 everywhere; one that is searched in a
    band is alone. What is known of a bead is in the node where it ends. Whatever stands beyond a lattice's end changes
    nothing.
    """

    low: Ints  # never falling
    width: int
    sizes_a: Ints
    sizes_b: Ints

    @classmethod
    def whole(cls, sizes_a: Ints, sizes_b: Ints) -> "Lattices":
        return cls(np.zeros(int(sizes_a.max()) + 1, np.int64), int(sizes_b.max()) + 1, sizes_a, sizes_b)

    @classmethod
    def around(cls, path: Floats, size_b: int, width: int) -> "Lattices":
        """A band along a path that gives the j at which each i is reached; wider by the longest leap from one to the next.

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
        return cls(np.maximum.accumulate(low), width, np.array([len(path) - 1]), np.array([size_b]))

    @property
    def shape(self) -> tuple[int, int, int]:
        return len(self.low), len(self.sizes_a), self.width

    @property
    def straight(self) -> bool:
        return not self.low[-1]

    def columns(self) -> Ints:
        """The j of every node of a band."""
        return self.low[:, None] + np.arange(self.width)

    def at_columns(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values by lattice and j, so that they fit a table."""
        return values[None, :, : self.width] if self.straight else values[0][self.columns()][:, None, :]

    def moved(self, table: Floats, rows: int, columns: int, outside: float) -> Floats:
        """The table with each node's value taken from so many rows and columns before it."""
        moved = np.full(table.shape, outside, table.dtype)
        count, _, width = table.shape
        if rows >= count or (self.straight and columns >= width):
            return moved
        if self.straight:
            moved[rows:, :, columns:] = table[: count - rows, :, : width - columns]
            return moved
        source = (self.low[rows:] - self.low[: count - rows] - columns)[:, None] + np.arange(width)
        values = np.take_along_axis(table[: count - rows, 0], np.clip(source, 0, width - 1), axis=1)
        moved[rows:, 0] = np.where((source >= 0) & (source < width), values, outside)
        return moved


class Posteriors(NamedTuple):
    """How probable each bead and each node is among all chains of beads."""

    beads: dict[Shape, Floats]
    nodes: Floats


class Chains(NamedTuple):
    """The beads of many lattices, one lattice after the other: shape, the node where each ends, and its probability."""

    lattice: Ints
    ka: Ints
    kb: Ints
    i: Ints
    j: Ints
    probability: Floats


def posteriors(lattices: Lattices, gains: Mapping[Shape, Floats]) -> Posteriors:
    """By sums over all chains; `gains` are a bead's log-odds.

    Every shape takes a sentence of a, but the insertion, which must be among them. Sums are relative to the best chain
    to each node: nothing overflows however much better one chain is than another.
    """
    best = _highest(lattices, gains)
    outside = np.arange(lattices.width) > lattices.sizes_b[:, None] if lattices.straight else None
    shares = {}
    for shape, gain in gains.items():
        if shape[0]:
            share = lattices.moved(best, *shape, _NEVER)
            share += gain
            share -= best
            shares[shape] = np.exp(np.minimum(share, 0.0, out=share), out=share)
            if outside is not None:
                shares[shape][:, outside] = 0.0
    # An insertion leads from a column to the next. Relative to the best chains its weights telescope, so that what
    # comes along a row is a running sum.
    along = _weights_along(lattices, best - _along(lattices, gains))
    sums, scale = _sums(lattices, shares, along)
    _make_conditional(lattices, shares, sums, scale)
    return _passed_back(lattices, shares, sums * along)


def best_chains(lattices: Lattices, probabilities: Mapping[Shape, Floats], cost: float = COST) -> Chains:
    """For each lattice the chain of beads with the greatest sum of probabilities, each less the cost.

    It is the one that has most beads right, whereas the likeliest chain is the one that most probably has none wrong.
    """
    values = {
        shape: np.where(table > _UNLIKELY, table - cost, _NEVER) if all(shape) else table - cost
        for shape, table in probabilities.items()
    }
    return _traced(lattices, _highest(lattices, values), values, cost)


@lru_cache(maxsize=4096)
def _overlap(shift: int, width: int) -> tuple[slice, slice]:
    """Columns of a row, and of the row that lies beside it moved by so many."""
    begin = min(max(0, -shift), width)
    end = max(begin, min(width, width - shift))
    return slice(begin, end), slice(max(begin + shift, 0), max(end + shift, 0))


def _along(lattices: Lattices, gains: Mapping[Shape, Floats]) -> Floats:
    gain = gains[INSERTION]
    summed = np.cumsum(np.broadcast_to(gain, (*gain.shape[:2], lattices.width)), axis=2)
    return np.broadcast_to(summed, lattices.shape)


def _weights_along(lattices: Lattices, along: Floats) -> Floats:
    """What nodes of a row weigh for insertions, relative to the last one; it never falls."""
    last = np.minimum(lattices.sizes_b - lattices.low[:, None], lattices.width - 1)[:, :, None]
    along -= np.take_along_axis(along, last, axis=2)
    np.minimum(along, 0.0, out=along)  # Beyond the end nothing matters, but it must be finite.
    along += _RANGE
    weights: Floats = np.exp(along, out=along)
    # Where a chain is so much worse than another in its row, insertions are not followed: those nodes weigh nothing.
    weights[weights < np.exp(-_RANGE)] = 0.0
    return weights


def _highest(lattices: Lattices, gains: Mapping[Shape, Floats]) -> Floats:
    """The gain of the best chain to each node."""
    low, width = lattices.low.tolist(), lattices.width
    along = _along(lattices, gains)
    steps = [(shape, np.broadcast_to(gain, lattices.shape)) for shape, gain in gains.items() if shape[0]]
    table = np.full(lattices.shape, _NEVER)
    table[0, :, 0] = 0.0
    for i in range(len(table)):
        row = table[i]
        for (ka, kb), gain in steps:
            if ka <= i:
                here, there = _overlap(low[i] - low[i - ka] - kb, width)
                target = row[:, here]
                np.maximum(target, table[i - ka, :, there] + gain[i, :, here], out=target)
        row -= along[i]
        np.maximum.accumulate(row, axis=1, out=row)
        row += along[i]
    return table


def _sums(lattices: Lattices, shares: Mapping[Shape, Floats], along: Floats) -> tuple[Floats, Floats]:
    """How many times as much as its best chain all chains to a node weigh, and the power of two that rows are scaled by."""
    low, width = lattices.low.tolist(), lattices.width
    sums = np.zeros(lattices.shape)
    scale = np.zeros((*lattices.shape[:2], 1))
    sums[0, :, 0] = 1.0
    for i in range(len(sums)):
        row = sums[i]
        for (ka, kb), share in shares.items():
            if ka <= i:
                here, there = _overlap(low[i] - low[i - ka] - kb, width)
                row[:, here] += share[i, :, here] * sums[i - ka, :, there]
        if i:
            scale[i] = scale[i - 1]
        np.cumsum(row * along[i], axis=1, out=row)
        np.divide(row, along[i], out=row, where=along[i] > 0)
        np.maximum(row, np.maximum(np.exp2(-scale[i]), _LEAST), out=row)  # The best chain itself weighs 1.
        if i % _RESCALED == _RESCALED - 1:
            # By powers of two, which change no digit: a lattice gives the same whatever is beside it.
            live = slice(max(0, i - 5), i + 1)
            most = np.floor(np.log2(row.max(axis=1, keepdims=True)))
            sums[live] *= np.exp2(-most)
            scale[live] += most
    return sums, scale


def _make_conditional(lattices: Lattices, shares: Mapping[Shape, Floats], sums: Floats, scale: Floats) -> None:
    """From a bead's share in the best chain to the probability that it comes last in a chain to its node."""
    for (ka, kb), share in shares.items():
        np.multiply(share, lattices.moved(sums, ka, kb, 0.0), out=share)
        np.divide(share, sums, out=share)
        if len(sums) >= _RESCALED:
            share[ka:] *= np.exp2(scale[:-ka] - scale[ka:])


def _passed_back(lattices: Lattices, conditional: dict[Shape, Floats], summed: Floats) -> Posteriors:
    """From the end, where every chain is, backwards."""
    low, width = lattices.low.tolist(), lattices.width
    nodes = np.zeros(lattices.shape)
    end = lattices.sizes_b - lattices.low[lattices.sizes_a]
    nodes[lattices.sizes_a, np.arange(lattices.shape[1]), end] = 1.0
    for i in range(len(low) - 1, -1, -1):
        row = nodes[i]
        # Where chains differ too much for their sums, both keep what cannot be told any more from overflowing.
        np.minimum(row, 2.0, out=row)
        live = summed[i] > _LEAST
        flow = np.divide(row, summed[i], out=np.zeros(row.shape), where=live)
        flow = np.cumsum(flow[:, ::-1], axis=1)[:, ::-1]
        np.multiply(flow, summed[i], out=row, where=live)
        for (ka, kb), table in conditional.items():
            if ka <= i:
                here, there = _overlap(low[i] - low[i - ka] - kb, width)
                table[i] *= row
                nodes[i - ka, :, there] += table[i, :, here]
            else:
                table[i] = 0.0
    inserted = np.zeros(lattices.shape)
    np.divide(summed[:, :, :-1], summed[:, :, 1:], out=inserted[:, :, 1:], where=summed[:, :, 1:] > 0)
    inserted *= nodes
    return Posteriors({**conditional, INSERTION: inserted}, nodes)


def _traced(lattices: Lattices, table: Floats, values: Mapping[Shape, Floats], cost: float) -> Chains:
    which = np.arange(lattices.shape[1])
    i, j = lattices.sizes_a, lattices.sizes_b
    shapes = np.array(list(values))
    beads = []
    while len(which):
        here = j - lattices.low[i]
        totals = np.full((len(shapes), len(which)), -np.inf)
        gains = np.empty(totals.shape)
        for number, (ka, kb) in enumerate(shapes.tolist()):
            row = np.maximum(i - ka, 0)
            column = j - kb - lattices.low[row]
            inside = (i >= ka) & (column >= 0) & (column < lattices.width)
            gains[number] = values[ka, kb][i, which, here]
            before = table[row, which, np.clip(column, 0, lattices.width - 1)]
            totals[number, inside] = before[inside] + gains[number, inside]
        chosen = totals.argmax(axis=0)
        ka, kb = shapes[chosen].T
        beads.append((which, ka, kb, i, j, gains[chosen, np.arange(len(which))] + cost))
        i, j = i - ka, j - kb
        going = (i > 0) | (j > 0)
        which, i, j = which[going], i[going], j[going]
    columns = [np.concatenate(column[::-1]) for column in zip(*beads, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    return Chains._make(column[order] for column in columns)
