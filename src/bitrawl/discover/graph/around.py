"""What lies around some hosts: the hubs that cite them, and what those hubs cite. One pass over edges sorted by source."""

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bitrawl.discover.graph.columns import paired, unpaired
from bitrawl.discover.graph.id_set import IdSet
from bitrawl.discover.graph.numbers import Edges, Ids

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing: spreads ids that follow each other

_CHUNK = 1 << 20  # edges in memory at a time; judgement


class Caps(NamedTuple):
    """How much is kept of what is popular. Judgement: a hub that cites more is a directory of the whole web, and ten
    thousand hubs of one host say what they have to say together.
    """

    links: int = 1000  # of a hub; the given hosts among them are always kept
    referrers: int = 10_000  # of a given host, about


class _OpenHub:
    """The source of the last edge: the next block may have more of its edges."""

    def __init__(self, source: int) -> None:
        self.source = source
        self.given: list[Ids] = []
        self.others: list[Ids] = []
        self.held = 0  # of the others
        self.degree = 0

    def add(self, targets: Ids, given: NDArray[np.bool_], most: int) -> None:
        """The others are thinned when there are many times more than will be kept."""
        self.degree += len(targets)
        self.given.append(targets[given])
        self.others.append(targets[~given])
        self.held += len(self.others[-1])
        if self.held > 64 * most:
            self.others = [spread(np.concatenate(self.others), 16 * most)]
            self.held = len(self.others[0])


class Neighbourhood:
    """Takes all edges of a graph, block by block, and writes those of the hubs to a file of pairs.

    `is_sorted` becomes false if the edges of a source do not follow each other. Then only `hubs` is of use: the edges of
    these are to be sorted, and given to another neighbourhood.
    """

    def __init__(self, given: Ids, size: int, caps: Caps, path: Path) -> None:
        self.is_sorted = True
        self.hubs = IdSet(size)
        self.edges_read = 0
        self._given, self._size, self._caps = np.unique(given), size, caps
        self._wanted = IdSet(size, given)
        self._open: _OpenHub | None = None
        self.path, self._file = path, path.open("wb")
        # A given host keeps the hubs whose hash is below its limit, which halves whenever there are too many of them:
        # a sample from the whole graph, where the first ones would all be of one top-level domain.
        self._limits = np.full(len(self._given), np.iinfo(np.uint64).max, np.uint64)
        self._counts = np.zeros(len(self._given), np.int64)
        self._sources: list[Ids] = []
        self._degrees: list[Ids] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """After the last edge."""
        with self._file:
            if error is None and self._open is not None:
                self._close(self._open)
        self._open = None

    def add(self, edges: Edges) -> None:
        sources, targets = edges
        if not len(sources):
            return
        self.edges_read += len(sources)
        wanted = self._wanted.has(targets)
        self.hubs.add(sources[wanted])
        last = self._open.source if self._open else 0
        self.is_sorted = self.is_sorted and int(sources[0]) >= last and bool((sources[1:] >= sources[:-1]).all())
        if self.is_sorted:
            self._add_sorted(sources, targets, wanted)

    def degrees(self) -> Edges:
        """The hubs that were written, and how many hosts each cites in the whole graph."""
        return Edges(_joined(self._sources), _joined(self._degrees))

    def kept(self) -> Iterator[Edges]:
        """The edges of the hubs, without those that the limits leave out now that all are known."""
        chosen = IdSet(self._size)
        for sources, targets in self._written():
            given = self._wanted.has(targets)
            chosen.add(sources[given][self._within(sources[given], targets[given])])
        for sources, targets in self._written():
            of_chosen = chosen.has(sources)
            yield Edges(sources[of_chosen], targets[of_chosen])

    def _written(self) -> Iterator[Edges]:
        with self.path.open("rb") as file:
            while data := file.read(8 * _CHUNK):
                yield unpaired(np.frombuffer(data, "<u8"))

    def _add_sorted(self, sources: Ids, targets: Ids, wanted: NDArray[np.bool_]) -> None:
        starts = np.concatenate(([0], np.flatnonzero(sources[1:] != sources[:-1]) + 1, [len(sources)]))
        first, last = int(starts[1]), int(starts[-2])
        if self._open is not None and self._open.source == sources[0]:
            self._open.add(targets[:first], wanted[:first], self._caps.links)
            if len(starts) == 2:
                return
            starts = starts[1:]
        if self._open is not None:
            self._close(self._open)
        if len(starts) > 2:
            self._add_whole(Edges(sources, targets), wanted, starts[:-1])
        self._open = _OpenHub(int(sources[last]))
        self._open.add(targets[last:], wanted[last:], self._caps.links)

    def _add_whole(self, edges: Edges, wanted: NDArray[np.bool_], starts: NDArray[np.int64]) -> None:
        """Sources whose edges are all in this block, from the first start to the last one."""
        hits = np.flatnonzero(wanted[starts[0] : starts[-1]]) + starts[0]
        hits = hits[self._count(edges.sources[hits], edges.targets[hits])]
        if not len(hits):
            return
        runs = np.unique(np.searchsorted(starts, hits, side="right") - 1)
        lengths = (starts[1:] - starts[:-1])[runs]
        short = lengths <= self._caps.links
        is_kept = np.zeros(len(wanted) + 1, np.int8)
        is_kept[starts[runs[short]]] += 1
        is_kept[starts[runs[short] + 1]] -= 1
        rows = np.flatnonzero(np.cumsum(is_kept[:-1], dtype=np.int8))
        self._file.write(paired(edges.sources[rows], edges.targets[rows]).data)
        self._sources.append(edges.sources[starts[runs[short]]])
        self._degrees.append(lengths[short].astype(np.uint32))
        for run in runs[~short]:
            part = slice(starts[run], starts[run + 1])
            self._write(int(edges.sources[part.start]), edges.targets[part], wanted[part])

    def _close(self, hub: _OpenHub) -> None:
        given = np.concatenate(hub.given)
        source = np.full(len(given), hub.source, np.uint32)
        if not self._count(source, given).any():
            return
        targets = np.concatenate([given, *hub.others])
        self._write(hub.source, targets, np.arange(len(targets)) < len(given), hub.degree)

    def _write(self, source: int, targets: Ids, given: NDArray[np.bool_], degree: int = 0) -> None:
        chosen = np.concatenate((targets[given], spread(targets[~given], self._caps.links)))
        self._file.write(paired(np.full(len(chosen), source, np.uint32), chosen).data)
        self._sources.append(np.array([source], np.uint32))
        self._degrees.append(np.array([degree or len(targets)], np.uint32))

    def _count(self, sources: Ids, given: Ids) -> NDArray[np.bool_]:
        """Which of these edges are within the limits of the given hosts. They are counted, and may lower the limits."""
        within = self._within(sources, given)
        np.add.at(self._counts, np.searchsorted(self._given, given[within]), 1)
        while len(many := np.flatnonzero(self._counts > self._caps.referrers)):
            self._counts[many] //= 2
            self._limits[many] //= np.uint64(2)
        return within

    def _within(self, sources: Ids, given: Ids) -> NDArray[np.bool_]:
        hashes = sources.astype(np.uint64) * _GOLDEN
        return hashes <= self._limits[np.searchsorted(self._given, given)]


def spread(ids: Ids, most: int) -> Ids:
    """At most that many, evenly from the whole list: ids follow the alphabet, so the first ones are of one country."""
    if len(ids) <= most:
        return ids
    return ids[np.linspace(0, len(ids) - 1, most).astype(np.int64)]


def _joined(parts: list[Ids]) -> Ids:
    return np.concatenate(parts) if parts else np.empty(0, np.uint32)
