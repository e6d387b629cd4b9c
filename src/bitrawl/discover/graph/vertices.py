"""The hosts of a graph: which ids the hosts asked for have, and the names behind the ids that are kept."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import le
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bitrawl.discover.graph.columns import Column
from bitrawl.discover.graph.id_set import IdSet
from bitrawl.discover.graph.names import look_reversed, reversed_host, spellings
from bitrawl.discover.graph.numbers import Ids, Vertices, vertices_in
from bitrawl.discover.graph.shards import Read, blocks
from bitrawl.errors import GraphError

_SAMPLES = 50  # names of a block that are looked at for their order of labels; judgement
_MOST_SAMPLES = 20_000
_PRIMES = tuple(np.uint64(prime) for prime in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9))


class HostScan:
    """Looks for the ids of some hosts while the vertices pass by, and at how the names are written."""

    def __init__(self, hosts: Iterable[str] = ()) -> None:
        self.size = 0  # one more than the last id
        self.count = 0
        self.found: dict[str, list[int]] = {}  # ids by the host asked for
        self._wanted = _spelled(hosts)
        self._keys = np.sort(_keys_of(self._wanted)) if self._wanted else np.empty(0, np.uint64)
        self._samples: list[str] = []

    def passing(self, vertices: Iterable[Vertices]) -> Iterator[Vertices]:
        for block in vertices:
            self.count += len(block.ids)
            self.size = int(block.ids[-1]) + 1
            self._find(block)
            if len(self._samples) < _MOST_SAMPLES:
                self._samples += _some_names(block)
            yield block

    def check(self, path: Path) -> None:
        """Raises `GraphError` if there was no host, or if the hosts are not reversed."""
        if not self.count:
            raise GraphError(f"{path} is empty; download it again")
        if look_reversed(self._samples) is False:
            name = next(one for one in self._samples if look_reversed([one]) is False)
            raise GraphError(
                f"{path} has its hosts as {name}; a graph of Common Crawl has them reversed, as {reversed_host(name)}. "
                "Reverse the labels in the second column"
            )

    def _find(self, vertices: Vertices) -> None:
        if not len(self._keys):
            return
        keys = _keys(vertices.text, vertices.starts, vertices.ends)
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        for row in map(int, np.flatnonzero(self._keys[places] == keys)):
            for host in self._wanted.get(vertices.name(row), ()):
                self.found.setdefault(host, []).append(int(vertices.ids[row]))


def vertex_blocks(paths: Sequence[Path], read: Read) -> Iterator[Vertices]:
    """Raises `GraphError` if ids do not ascend from the first file to the last."""
    last = -1
    for path in paths:
        for block in blocks(path, read):
            vertices = vertices_in(block, path)
            if int(vertices.ids[0]) <= last or (vertices.ids[1:] <= vertices.ids[:-1]).any():
                raise GraphError(
                    f"the ids of {path} do not ascend; sort the file by its first column: sort -n, and name the parts "
                    "so that the first ids come first"
                )
            last = int(vertices.ids[-1])
            yield vertices


class Numbering:
    """The ids that are kept, in ascending order: the index counts them from 0.

    Ids that follow each other, as those of a whole graph do, take no memory.
    """

    def __init__(self) -> None:
        self.count = 0
        self._first = 0
        self._ids: list[Ids] = []  # empty as long as they follow each other

    def add(self, ids: Ids) -> None:
        """The next ones, greater than those before."""
        self._first = self._first if self.count else int(ids[0])
        follow = int(ids[0]) == self._first + self.count and int(ids[-1]) - int(ids[0]) + 1 == len(ids)
        if not self._ids and not follow:
            self._ids = [np.arange(self._first, self._first + self.count, dtype=np.uint32)]
        if self._ids:
            self._ids.append(ids)
        self.count += len(ids)

    def places(self, ids: Ids) -> Ids:
        """The numbers of these in the index, or its size for those that are not kept."""
        if not self._ids:
            shifted = ids.astype(np.int64) - self._first
            return np.where((shifted < 0) | (shifted > self.count), self.count, shifted).astype(np.uint32)
        if len(self._ids) > 1:
            self._ids = [np.concatenate(self._ids)]
        places = np.searchsorted(self._ids[0], ids)
        known = self._ids[0][np.minimum(places, self.count - 1)] == ids
        return np.where(known, places, self.count).astype(np.uint32)


def write_names(vertices: Iterable[Vertices], folder: Path, kept: IdSet | None) -> Numbering:
    """Write the names of the ids kept, or of all (None), in the order of the ids.

    Names that are not in alphabetical order get a list by which they can be searched.
    """
    numbering = Numbering()
    last, in_order = b"", True
    with Column(folder / "names.npy", "u1") as names, Column(folder / "name_starts.npy", "<u8") as starts:
        starts.write(np.zeros(1))
        for block in vertices:
            rows = slice(None) if kept is None else np.flatnonzero(kept.has(block.ids))
            ids = block.ids[rows]
            if not len(ids):
                continue
            letters = _letters(block, rows)
            lines = letters.tobytes().split(b"\n")[:-1]
            in_order = in_order and last <= lines[0] and all(map(le, lines, lines[1:]))
            last = lines[-1]
            starts.write(np.cumsum(block.ends[rows] - block.starts[rows] + 1) + names.length)
            names.write(letters)
            numbering.add(ids)
    if not in_order:
        _write_order(folder)
    return numbering


def _letters(vertices: Vertices, rows: slice | NDArray[np.int64]) -> NDArray[np.uint8]:
    """The names of these rows, each with a newline after it."""
    letters = np.frombuffer(vertices.text, np.uint8)
    inside = np.zeros(len(letters) + 1, np.int8)
    inside[vertices.starts[rows]] += 1
    inside[vertices.ends[rows] + 1] -= 1
    chosen = letters[np.cumsum(inside[:-1], dtype=np.int8).astype(bool)]
    return np.where(chosen == ord("\t"), np.uint8(ord("\n")), chosen)


def _write_order(folder: Path) -> None:
    """Takes memory for all names; Common Crawl's are in order."""
    names = np.load(folder / "names.npy").tobytes().split(b"\n")[:-1]
    order = sorted(range(len(names)), key=names.__getitem__)
    with Column(folder / "by_name.npy", "<u4") as column:
        column.write(np.array(order, np.uint32))


def _spelled(hosts: Iterable[str]) -> dict[bytes, list[str]]:
    wanted: dict[bytes, list[str]] = {}
    for host in hosts:
        for name in spellings(host):
            wanted.setdefault(reversed_host(name).encode(), []).append(host)
    return wanted


def _keys_of(names: Mapping[bytes, object]) -> NDArray[np.uint64]:
    text = b"0" * 16 + b"\n".join(names) + b"\n" * 8
    lengths = np.fromiter((len(name) for name in names), np.int64, len(names))
    ends = 16 + np.cumsum(lengths + 1) - 1
    return _keys(text, ends - lengths, ends)


def _keys(text: bytes, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A number for each name, of its length, its first eight letters and its last eight: equal for equal names."""
    eights: NDArray[np.uint64] = np.ndarray((len(text) - 7,), "<u8", buffer=text, strides=(1,))
    lengths = ends - starts
    before = ((8 - np.minimum(lengths, 8)) << 3).astype(np.uint64)
    last = eights[ends - 8] >> before
    first = np.where(lengths > 8, eights[np.where(lengths > 8, starts, 0)], np.uint64(0))
    keys: NDArray[np.uint64] = (last * _PRIMES[0]) ^ (first * _PRIMES[1]) ^ (lengths.astype(np.uint64) * _PRIMES[2])
    return keys


def _some_names(vertices: Vertices) -> list[str]:
    rows = np.unique(np.linspace(0, len(vertices.ids) - 1, _SAMPLES).astype(np.int64))
    return [vertices.name(int(row)).decode("utf-8", "replace") for row in rows]
