"""Columns of numbers as .npy files that grow while they are written, and lists of neighbours made of them."""

import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bitrawl.discover.graph.numbers import Edges, Ids

Pairs = NDArray[np.uint64]
"""Two ids as one number, the key in the upper half: sorted by key, then by value."""

_MAGIC = b"\x93NUMPY\x01\x00"
HEADER = 128  # bytes; numpy reads any length, and this leaves room for the length of the column
_CHUNK = 1 << 21  # pairs in memory at a time: 16 MB; judgement


class Column:
    """Appends arrays to one file. numpy's own writer must know the length before it begins."""

    def __init__(self, path: Path, kind: str) -> None:
        self._file = path.open("wb")
        self._file.write(b" " * HEADER)
        self._kind = np.dtype(kind)
        self.length = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._file as file:
            head = f"{{'descr': '{self._kind.str}', 'fortran_order': False, 'shape': ({self.length},), }}"
            size = HEADER - len(_MAGIC) - 2
            file.seek(0)
            file.write(_MAGIC + struct.pack("<H", size) + head.encode().ljust(size - 1) + b"\n")

    def write(self, values: NDArray[Any]) -> None:
        self._file.write(np.ascontiguousarray(values, self._kind).data)
        self.length += len(values)


class Neighbours:
    """Lists of ids by id, in bounded memory: pairs go to files by the range of their key, each is sorted in its place."""

    def __init__(self, folder: Path, nodes: int, parts: int) -> None:
        folder.mkdir()
        self._folder, self._nodes = folder, nodes
        self._width = max(-(-nodes // parts), 1)  # keys in a part
        self._paths = [folder / f"part-{number}" for number in range(parts)]
        self._files = [path.open("wb") for path in self._paths]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for file in self._files:
            file.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def add(self, keys: Ids, values: Ids) -> None:
        pairs = paired(keys, values)
        if len(self._files) == 1:
            self._files[0].write(pairs.data)
            return
        parts = keys // np.uint32(self._width)
        order = np.argsort(parts, kind="stable")
        edges = np.searchsorted(parts[order], np.arange(len(self._files) + 1))
        pairs = pairs[order]
        for number in np.flatnonzero(np.diff(edges)):
            self._files[number].write(pairs[edges[number] : edges[number + 1]].data)

    def write(self, starts: Path, values: Path) -> int:
        """How many pairs there are, each counted once. The list of key k is `values[starts[k]:starts[k + 1]]`."""
        for file in self._files:
            file.close()
        with Column(starts, "<u8") as first, Column(values, "<u4") as column:
            first.write(np.zeros(1))
            for number, path in enumerate(self._paths):
                base = number * self._width
                counts = np.zeros(max(min(self._width, self._nodes - base), 0), np.uint64)
                before = column.length
                for pairs in sorted_pairs(path):
                    keys = (pairs >> np.uint64(32)).astype(np.int64) - base
                    low, high = int(keys[0]), int(keys[-1])
                    counts[low : high + 1] += np.bincount(keys - low, minlength=high - low + 1).astype(np.uint64)
                    column.write(pairs.astype(np.uint32))  # the lower half
                path.unlink()
                first.write(np.cumsum(counts, dtype=np.uint64) + np.uint64(before))
            return column.length


def paired(keys: Ids, values: Ids) -> Pairs:
    return keys.astype(np.uint64) << np.uint64(32) | values


def unpaired(pairs: Pairs) -> Edges:
    return Edges((pairs >> np.uint64(32)).astype(np.uint32), pairs.astype(np.uint32))


def sorted_pairs(path: Path) -> Iterator[Pairs]:
    """The pairs of a file in order, each once, some at a time. The file is sorted in its place."""
    if not path.stat().st_size:
        return
    pairs = np.memmap(path, "<u8", "r+")
    pairs.sort()
    last = None
    for start in range(0, len(pairs), _CHUNK):
        chunk = np.asarray(pairs[start : start + _CHUNK])
        new = np.empty(len(chunk), bool)
        new[0] = last is None or chunk[0] != last
        new[1:] = chunk[1:] != chunk[:-1]
        last = chunk[-1]
        if new.any():
            yield chunk[new]
