"""The one merger: each text once, with every place where it was found, in memory that does not grow with the corpus.

What is merged stands in shards: rows of keys that have a fixed width, and beside them what each row stands for. A shard is two
files, `NAME.keys` and `NAME.data`. Both are written once and read many times, also far from the job.

The rows of all shards are distributed over buckets by their key, so that nearly equal ones meet in the same bucket. A bucket is
sorted in memory. What it finds goes into files on disk, by the number of the row.
"""

import tempfile
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from hashlib import blake2b
from itertools import accumulate, islice, pairwise
from os import pread
from pathlib import Path
from struct import Struct
from typing import IO, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from bitrawl.errors import StoreError
from bitrawl.files import replacing, write_fault
from bitrawl.model import PagePair, SegmentPair, TranslationUnit, UnitSource, Unpacker, pack
from bitrawl.text.words import bare_texts

DUPLICATE, NEAR_DUPLICATE = "duplicate", "near-duplicate"  # flags, with ILSP-FC's names
ROW = np.dtype([("exact", "<i8"), ("near", "<i8"), ("score", "<f8"), ("end", "<i8")])
_PACKED_ROW = Struct("<qqdq")
_OPEN_FILES = 64  # many systems allow a process 256 or 1,024
# `bare_texts` of 20,000 made-up pairs (2026-11), CPU µs per pair: 81 one by one, 6.4 in batches of 20 and of 128 pairs,
# 9.7 of 512. The two hashes of a pair take 2.6.
_BATCH = 128  # pairs
# Judgement. One bucket of a million rows took 150 MB more than the program alone (2026-11); larger ones were not measured.
BUCKET_ROWS = 2_000_000
_CHUNK = 4096  # rows that are read together
_FOUND = np.dtype([("exact", "<i8"), ("near", "<i8"), ("score", "<f8"), ("number", "<i8")])

Numbers = npt.NDArray[np.int64]
Told = Callable[[int], None]
WriteRow = Callable[["UnitKeys", float, bytes], None]


def merged(pairs: Iterable[SegmentPair], *, keep_duplicates: bool = False) -> Iterator[TranslationUnit]:
    """Units in the order in which they were first found. The best scored of equal pairs represents all of them.

    Equal means the same texts. Nearly equal means the same letters, digits and symbols: case, punctuation and spaces do
    not count. The best scored of nearly equal pairs represents all of them too. Its unit has the places of all. With
    `keep_duplicates` each pair is a unit of its own and all but the best are flagged, as with ILSP-FC's -keepdup and
    -keepneardup.
    """
    with tempfile.TemporaryDirectory(prefix="bitrawl-merge-") as scratch:
        shard = Path(scratch, "segments")
        with shard_writer(shard) as write:
            for pair, keys in keyed(pairs):
                write(keys, pair.score, pack(pair))
        with grouped([shard], Path(scratch), keep_duplicates=keep_duplicates) as groups:
            yield from groups.units()


class SourcePair(msgspec.Struct, frozen=True):
    """A row of a shard of page pairs: with the licences that the two pages state."""

    pair: PagePair
    licences: tuple[str, str]


class UnitKeys(NamedTuple):
    """Nearly equal means the same letters, digits and symbols: case, punctuation and spaces do not count."""

    exact: int
    near: int


def keyed(pairs: Iterable[SegmentPair]) -> Iterator[tuple[SegmentPair, UnitKeys]]:
    """Each pair with its keys, in order."""
    rest = iter(pairs)
    while batch := list(islice(rest, _BATCH)):
        texts = [text for pair in batch for text in (pair.a.text, pair.b.text)]
        bare = bare_texts(texts)
        for number, pair in enumerate(batch):
            a, b = 2 * number, 2 * number + 1
            yield pair, UnitKeys(_key(texts[a], texts[b]), _key(bare[a], bare[b]))


def page_pair_keys(pair: PagePair) -> UnitKeys:
    """A pair of pages is equal to another if the URLs are, whatever the evidence says."""
    key = _key(pair.url_a, pair.url_b)
    return UnitKeys(key, key)


def _key(a: str, b: str) -> int:
    # 64 bits: among ten million pairs, the probability that any two share a key by accident is 3 in a million.
    data = f"{a}\0{b}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big", signed=True)


@contextmanager
def shard_writer(path: Path) -> Iterator[WriteRow]:
    """`path` is the name without an ending. Nothing is there under that name unless the block ends without error."""
    end = 0
    with replacing(keys_file(path)) as keys, replacing(data_file(path)) as data:

        def write(unit_keys: UnitKeys, score: float, packed: bytes) -> None:
            nonlocal end
            end += len(packed)
            data.write(packed)
            keys.write(_PACKED_ROW.pack(unit_keys.exact, unit_keys.near, score, end))

        yield write


def keys_file(path: Path) -> Path:
    return path.with_name(path.name + ".keys")


def data_file(path: Path) -> Path:
    return path.with_name(path.name + ".data")


class Block(NamedTuple):
    """Rows of a shard that follow each other."""

    shard: int
    first: int
    last: int  # is not among them


class Counts(NamedTuple):
    """How many rows there are, how many different texts, and how many that are not even nearly equal."""

    rows: int
    exact: int
    near: int


def read_keys(path: Path) -> npt.NDArray[np.void]:
    """The rows of a shard, not yet read from disk. Raises `StoreError` if the files are not what a writer leaves."""
    keys, data = keys_file(path), data_file(path)
    try:
        size = keys.stat().st_size
        rows = np.memmap(keys, dtype=ROW, mode="r") if size else np.empty(0, dtype=ROW)
        complete = data.stat().st_size == (int(rows["end"][-1]) if size else 0)
    except (OSError, ValueError) as error:
        raise StoreError(f"{keys} cannot be read: {error}; delete {path.parent} and merge again") from error
    if not complete:
        raise StoreError(f"{data} is not complete; delete {path.parent} and merge again")
    return rows


def shard_counts(path: Path) -> Counts:
    rows = read_keys(path)
    return Counts(len(rows), different(rows["exact"]), different(rows["near"]))


def different(keys: npt.NDArray[np.int64]) -> int:
    """How many different keys there are. `np.unique` of numpy 2.4 took 20 times as long for a million (2026-11)."""
    ordered = np.sort(keys)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + bool(len(ordered))


class Shards:
    """Several shards as one: a row has a number that counts through all of their blocks, which need not be in order."""

    def __init__(self, paths: Sequence[Path], blocks: Sequence[Block] = ()) -> None:
        """Without `blocks`, each shard is one."""
        self._paths = paths
        self.keys = [read_keys(path) for path in paths]
        self.blocks = _joined(blocks or [Block(shard, 0, len(keys)) for shard, keys in enumerate(self.keys)])
        # Plain arrays: a look-up in a memmap of rows takes 4 µs, in one of its columns 0.1 µs.
        self._exact = [np.asarray(keys["exact"]) for keys in self.keys]
        self._ends = [np.asarray(keys["end"]) for keys in self.keys]
        self.starts = [0, *accumulate(last - first for _, first, last in self.blocks)]
        self._open: dict[int, IO[bytes]] = {}
        if len(self) != sum(map(len, self.keys)):
            raise StoreError(f"{paths[0].parent} does not have the rows that are told of it; delete it and merge again")

    def __len__(self) -> int:
        return self.starts[-1]

    def close(self) -> None:
        for file in self._open.values():
            file.close()
        self._open.clear()

    def exact(self, number: int) -> int:
        """The key of the texts of a row."""
        shard, row = self._row(number)
        return int(self._exact[shard][row])

    def data(self, number: int) -> bytes:
        """What a row stands for, wherever it is."""
        shard, row = self._row(number)
        ends = self._ends[shard]
        start = int(ends[row - 1]) if row else 0
        return self._read(shard, start, int(ends[row]))

    def read(self, block: Block) -> list[bytes]:
        """What its rows stand for."""
        shard, first, last = block
        ends = self._ends[shard]
        start = int(ends[first - 1]) if first else 0
        places = [0, *(ends[first:last] - start).tolist()]
        data = self._read(shard, start, start + places[-1])
        return [data[a:b] for a, b in pairwise(places)]

    def _row(self, number: int) -> tuple[int, int]:
        """The shard of a row, and its place there."""
        block = bisect_right(self.starts, number) - 1
        shard, first, _ = self.blocks[block]
        return shard, first + number - self.starts[block]

    def _read(self, shard: int, start: int, end: int) -> bytes:
        try:
            data = pread(self._file(shard).fileno(), end - start, start)
        except OSError as error:
            raise StoreError(f"{data_file(self._paths[shard])} cannot be read: {error}") from error
        if len(data) != end - start:
            raise StoreError(f"{data_file(self._paths[shard])} was cut off while it was read; merge again")
        return data

    def _file(self, shard: int) -> IO[bytes]:
        if shard not in self._open:
            if len(self._open) >= _OPEN_FILES:
                self._open.pop(next(iter(self._open))).close()
            self._open[shard] = data_file(self._paths[shard]).open("rb", buffering=0)
        return self._open[shard]


class Groups:
    """Which rows are nearly equal. Row numbers are stored plus one, because a new file is full of zeros."""

    def __init__(self, shards: Shards, scratch: Path, *, keep_duplicates: bool) -> None:
        self.shards = shards
        self._best = _numbers(scratch / "best", len(shards))  # by the first row of a group: the row that represents it
        self._following = _numbers(scratch / "following", len(shards))  # by row: the next row of the same group
        # By row: 2 for the best of nearly equal ones, 1 for the best of equal ones, 0 for others
        self._rank = _numbers(scratch / "rank", len(shards)) if keep_duplicates else None
        self._exact = 0

    def add(self, rows: npt.NDArray[np.void]) -> None:
        """All rows of some groups."""
        self._exact += different(rows["exact"])
        first, best, inside = _runs(rows["near"], rows)
        self._best[first] = best + 1
        self._following[inside[0]] = inside[1] + 1
        if self._rank is not None:
            self._rank[_runs(rows["exact"], rows).best] = 1
            self._rank[best] = 2

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

    def units(self, tell: Told = lambda _: None) -> Iterator[TranslationUnit]:
        """As `merged` of all pairs in the order of the shards. `told` hears the rows that are done."""
        unpack: Unpacker[SegmentPair] = Unpacker(SegmentPair)
        if self._rank is not None:
            yield from map(TranslationUnit.alone, self._flagged(unpack, tell))
            return
        for data, members in self._in_order(tell):
            pair = unpack(data)
            yield self._unit(pair, members, unpack) if members else TranslationUnit.alone(pair)

    def page_pairs(self) -> Iterator[SourcePair]:
        """The best scored of equal ones."""
        unpack: Unpacker[SourcePair] = Unpacker(SourcePair)
        for data, _ in self._in_order(lambda _: None):
            yield unpack(data)

    def _unit(self, best: SegmentPair, members: list[int], unpack: Unpacker[SegmentPair]) -> TranslationUnit:
        others = (UnitSource.of(unpack(self.shards.data(number))) for number in members)
        sources = dict.fromkeys([UnitSource.of(best), *others])
        texts = {self.shards.exact(number) for number in members}
        return TranslationUnit(best, tuple(sources), variants=len(texts) - 1)

    def _in_order(self, tell: Told) -> Iterator[tuple[bytes, list[int]]]:
        """What represents each group, and the rows of a group of several."""
        for begin, block in self._blocks(tell):
            best = self._best[begin : begin + len(block)]
            following = self._following[begin : begin + len(block)].tolist()
            for place in np.flatnonzero(best).tolist():
                if following[place]:
                    yield self.shards.data(int(best[place]) - 1), self._members(begin + place)
                else:
                    yield block[place], []

    def _flagged(self, unpack: Unpacker[SegmentPair], tell: Told) -> Iterator[SegmentPair]:
        """All pairs. Those that others represent say so."""
        flags = ((DUPLICATE,), (NEAR_DUPLICATE,), ())
        for begin, block in self._blocks(tell):
            ranks = self._rank[begin : begin + len(block)].tolist() if self._rank is not None else []
            for data, rank in zip(block, ranks, strict=True):
                pair = unpack(data)
                yield msgspec.structs.replace(pair, flags=(*pair.flags, *flags[rank])) if flags[rank] else pair

    def _blocks(self, tell: Told) -> Iterator[tuple[int, list[bytes]]]:
        """What some rows stand for, with the number of the first."""
        for start, block in zip(self.shards.starts, self.shards.blocks, strict=False):
            for part in _parts(block, _CHUNK):
                begin = start + part.first - block.first
                yield begin, self.shards.read(part)
                tell(begin + part.last - part.first)

    def _members(self, number: int) -> list[int]:
        members = [number]
        while following := int(self._following[members[-1]]):
            members.append(following - 1)
        return members


@contextmanager
def grouped(
    paths: Sequence[Path],
    scratch: Path,
    bucket_rows: int = BUCKET_ROWS,
    *,
    blocks: Sequence[Block] = (),
    keep_duplicates: bool = False,
) -> Iterator[Groups]:
    """Find out which rows are nearly equal. The files in `scratch` are needed until the block ends.

    All rows of the shards are in `blocks`, in the order of the result.
    """
    with closing(Shards(paths, blocks)) as shards:
        groups = Groups(shards, scratch, keep_duplicates=keep_duplicates)
        for rows in _buckets(shards, scratch, bucket_rows):
            groups.add(rows)
        yield groups


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
        for rows in _found(shards):
            buckets = rows["near"].astype(np.uint64) % np.uint64(count)
            for number in np.unique(buckets).tolist():
                with paths[int(number)].open("ab") as file:
                    rows[buckets == number].tofile(file)
    except OSError as error:
        raise write_fault(scratch, error) from error
    for path in paths:
        if path.exists():
            yield np.fromfile(path, dtype=_FOUND)
            path.unlink()


def _found(shards: Shards) -> Iterator[npt.NDArray[np.void]]:
    for start, block in zip(shards.starts, shards.blocks, strict=False):
        for shard, first, last in _parts(block, BUCKET_ROWS):
            part, begin = shards.keys[shard][first:last], start + first - block.first
            rows = np.empty(len(part), dtype=_FOUND)
            for name in ("exact", "near", "score"):
                rows[name] = part[name]
            rows["number"] = np.arange(begin, begin + len(part))
            yield rows


def _joined(blocks: Iterable[Block]) -> list[Block]:
    """The same rows in the same order, in as few blocks as possible."""
    joined: list[Block] = []
    for block in blocks:
        if joined and (joined[-1].shard, joined[-1].last) == (block.shard, block.first):
            joined[-1] = joined[-1]._replace(last=block.last)
        elif block.first < block.last:
            joined.append(block)
    return joined


def _parts(block: Block, rows: int) -> Iterator[Block]:
    """Of at most so many rows."""
    for first in range(block.first, block.last, rows):
        yield block._replace(first=first, last=min(first + rows, block.last))


class _Runs(NamedTuple):
    """Rows that have the same key, by their numbers."""

    first: Numbers
    best: Numbers  # the first of those with the highest score
    inside: tuple[Numbers, Numbers]  # rows that another one of the run follows, and those


def _runs(key: Numbers, rows: npt.NDArray[np.void]) -> _Runs:
    if not len(rows):
        empty = np.empty(0, dtype=np.int64)
        return _Runs(empty, empty, (empty, empty))
    order = np.argsort(key, kind="stable")  # so that rows of a run stay in their order
    key, score, number = key[order], rows["score"][order], rows["number"][order]
    is_first = np.concatenate(([True], key[1:] != key[:-1]))
    starts = np.flatnonzero(is_first)
    sizes = np.diff(np.append(starts, len(key)))
    highest = np.flatnonzero(score == np.repeat(np.maximum.reduceat(score, starts), sizes))
    run = np.cumsum(is_first)[highest]
    first_highest = highest[np.concatenate(([True], run[1:] != run[:-1]))]
    inside = np.flatnonzero(~is_first)
    return _Runs(number[starts], number[first_highest], (number[inside - 1], number[inside]))
