"""Merges the shards of many jobs: each text once, in memory that does not grow with the corpus.

The rows are distributed over buckets by their key, so that nearly equal ones meet in the same bucket. A bucket is sorted
in memory. What it finds goes into two files on disk, by the number of the row.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bitrawl.files import write_fault
from bitrawl.model import PagePair, SegmentPair, TranslationUnit, UnitSource, Unpacker
from bitrawl.store.shard import Counts, Shards, different

# Judgement. One bucket of a million rows took 150 MB more than the program alone (2026-11); larger ones were not measured.
BUCKET_ROWS = 2_000_000
_CHUNK = 4096  # rows that are read together; judgement
_FOUND = np.dtype([("exact", "<i8"), ("near", "<i8"), ("score", "<f8"), ("number", "<i8")])

Numbers = npt.NDArray[np.int64]
Told = Callable[[int], None]


class Groups:
    """Which rows are nearly equal. Row numbers are stored plus one, because a new file is full of zeros."""

    def __init__(self, shards: Shards, best: Numbers, following: Numbers, exact: int) -> None:
        self.shards = shards
        self._best = best  # by the first row of a group: the row that represents it
        self._following = following  # by row: the next row of the same group
        self._exact = exact

    @property
    def counts(self) -> Counts:
        chunks = range(0, len(self.shards), BUCKET_ROWS)
        groups = sum(int(np.count_nonzero(self._best[first : first + BUCKET_ROWS])) for first in chunks)
        return Counts(len(self.shards), self._exact, groups)

    def represented(self, starts: Sequence[int]) -> list[int]:
        """How many groups are represented by a row of each range; `starts` are where the ranges begin, from 0 on."""
        counts = np.zeros(len(starts), dtype=np.int64)
        borders = np.asarray(starts, dtype=np.int64)
        for first in range(0, len(self.shards), BUCKET_ROWS):
            best = self._best[first : first + BUCKET_ROWS]
            ranges = np.searchsorted(borders, best[best > 0] - 1, side="right") - 1
            counts += np.bincount(ranges, minlength=len(starts))
        return [int(count) for count in counts]

    def units(self, told: Told = lambda _: None) -> Iterator[TranslationUnit]:
        """As `unit_merger.merged` of all pairs in the order of the shards. `told` hears the rows that are done."""
        unpack: Unpacker[SegmentPair] = Unpacker(SegmentPair)
        for data, members in self._in_order(told):
            pair = unpack(data)
            yield self._unit(pair, members, unpack) if members else TranslationUnit.alone(pair)

    def page_pairs(self) -> Iterator[PagePair]:
        """The best scored of equal ones."""
        unpack: Unpacker[PagePair] = Unpacker(PagePair)
        for data, _ in self._in_order(lambda _: None):
            yield unpack(data)

    def _unit(self, best: SegmentPair, members: list[int], unpack: Unpacker[SegmentPair]) -> TranslationUnit:
        found = (UnitSource.of(unpack(self.shards.data(number))) for number in members)
        sources = dict.fromkeys([UnitSource.of(best), *found])
        texts = {self.shards.exact(number) for number in members}
        return TranslationUnit(best, tuple(sources), variants=len(texts) - 1)

    def _in_order(self, told: Told) -> Iterator[tuple[bytes, list[int]]]:
        """What represents each group, and the rows of a group of several."""
        for shard, keys in enumerate(self.shards.keys):
            begin = self.shards.starts[shard]
            for first in range(0, len(keys), _CHUNK):
                last = min(first + _CHUNK, len(keys))
                best = self._best[begin + first : begin + last]
                following = self._following[begin + first : begin + last].tolist()
                block = self.shards.block(shard, first, last)
                for place in np.flatnonzero(best).tolist():
                    if following[place]:
                        yield self.shards.data(int(best[place]) - 1), self._members(begin + first + place)
                    else:
                        yield block[place], []
                told(begin + last)

    def _members(self, number: int) -> list[int]:
        members = [number]
        while following := int(self._following[members[-1]]):
            members.append(following - 1)
        return members


@contextmanager
def grouped(paths: Sequence[Path], scratch: Path, bucket_rows: int = BUCKET_ROWS) -> Iterator[Groups]:
    """Find out which rows are nearly equal. The files in `scratch` are needed until the block ends."""
    with closing(Shards(paths)) as shards:
        best, following = (_numbers(scratch / name, len(shards)) for name in ("best", "following"))
        exact = 0
        for found in _buckets(shards, scratch, bucket_rows):
            exact += different(found["exact"])
            _group(found, best, following)
        yield Groups(shards, best, following, exact)


def _numbers(path: Path, count: int) -> Numbers:
    """One number for each row, on disk."""
    if not count:
        return np.empty(0, dtype=np.int64)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            zeros = bytes(8 * _CHUNK)  # really written: a full disk shows here, and not as a crash of the process
            for first in range(0, count, _CHUNK):
                file.write(zeros[: 8 * min(_CHUNK, count - first)])
        return np.memmap(path, dtype=np.int64, mode="r+", shape=(count,))
    except OSError as error:
        raise write_fault(path, error) from error


def _buckets(shards: Shards, scratch: Path, bucket_rows: int) -> Iterator[npt.NDArray[np.void]]:
    count = -(-len(shards) // bucket_rows)
    if count <= 1:
        yield np.concatenate([np.empty(0, dtype=_FOUND), *_found(shards)])
        return
    paths = [scratch / f"bucket-{number}" for number in range(count)]
    try:
        for found in _found(shards):
            buckets = found["near"].astype(np.uint64) % np.uint64(count)
            for number in np.unique(buckets).tolist():
                with paths[int(number)].open("ab") as file:
                    found[buckets == number].tofile(file)
    except OSError as error:
        raise write_fault(scratch, error) from error
    for path in paths:
        if path.exists():
            yield np.fromfile(path, dtype=_FOUND)
            path.unlink()


def _found(shards: Shards) -> Iterator[npt.NDArray[np.void]]:
    for begin, keys in zip(shards.starts, shards.keys, strict=False):
        for first in range(0, len(keys), BUCKET_ROWS):
            part = keys[first : first + BUCKET_ROWS]
            found = np.empty(len(part), dtype=_FOUND)
            for name in ("exact", "near", "score"):
                found[name] = part[name]
            found["number"] = np.arange(begin + first, begin + first + len(part))
            yield found


def _group(found: npt.NDArray[np.void], best: Numbers, following: Numbers) -> None:
    if not len(found):
        return
    order = np.argsort(found["near"], kind="stable")  # so that rows of a group stay in their order
    near, score, number = (found[name][order] for name in ("near", "score", "number"))
    is_first = np.concatenate(([True], near[1:] != near[:-1]))
    starts = np.flatnonzero(is_first)
    sizes = np.diff(np.append(starts, len(near)))
    is_highest = score == np.repeat(np.maximum.reduceat(score, starts), sizes)
    highest = np.flatnonzero(is_highest)
    group = np.cumsum(is_first)[highest]
    first_highest = highest[np.concatenate(([True], group[1:] != group[:-1]))]
    best[number[starts]] = number[first_highest] + 1
    inside = np.flatnonzero(~is_first)
    following[number[inside - 1]] = number[inside] + 1
