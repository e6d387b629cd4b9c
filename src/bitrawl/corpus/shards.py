"""What a merge reads: rows of keys that have a fixed width, and beside them what each row stands for.

A shard is two files, `NAME.keys` and `NAME.data`, and holds the segments or the page pairs of one corpus. Both are written once
and read many times. With `part.json`, which is written last, the folder of the shards of a job is enough for a merge, on any
machine.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from itertools import accumulate, islice, pairwise, tee
from os import pread
from pathlib import Path
from struct import Struct
from typing import IO, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from bitrawl import files
from bitrawl.corpus.anonymising import Anonymiser
from bitrawl.corpus.export import CorpusHeader
from bitrawl.corpus.figures import CorpusPart, JobPart, SiteRows
from bitrawl.corpus.formats import Anonymise
from bitrawl.errors import StoreError
from bitrawl.files import replacing
from bitrawl.mining import Rejection, ThresholdFilter, Thresholds, revised
from bitrawl.model import Language, PagePair, SegmentPair, TranslationUnit, UnitSource, Verdict, Verdicts, pack
from bitrawl.text.arrays import distinct
from bitrawl.text.words import bare_texts
from bitrawl.url import Url

PART = "part.json"
_FORMAT = b"6"  # of the shards; another one is written anew
ROW = np.dtype([("exact", "<i8"), ("near", "<i8"), ("score", "<f8"), ("end", "<i8")])
_PACKED_ROW = Struct("<qqdq")
_OPEN_FILES = 64  # many systems allow a process 256 or 1,024
# `bare_texts` of 20,000 made-up pairs (2026-11), CPU µs per pair: 81 one by one, 6.4 in batches of 20 and of 128 pairs,
# 9.7 of 512. The two hashes of a pair take 2.6.
_BATCH = 128  # pairs

WriteRow = Callable[["UnitKeys", float, bytes], None]


class Choice(msgspec.Struct, frozen=True):
    """What decides what gets into the corpora of a job, and how it stands there."""

    thresholds: Thresholds
    languages: Sequence[Language]
    accepted_only: bool
    anonymise: Anonymise
    verdicts: Verdicts

    def fingerprint(self, findings: bytes) -> str:
        """Of all that the shards depend on."""
        encoded = msgspec.json.encode(self, order="sorted")
        return blake2b(_FORMAT + encoded + findings, digest_size=16).hexdigest()


class SitePairs(NamedTuple):
    """What was found on one site in two languages, in the order of the corpus. It is read when it is asked for."""

    site: str
    segments: Iterable[SegmentPair]
    page_pairs: Iterable[PagePair]


class SourcePair(msgspec.Struct, frozen=True):
    """A row of a shard of page pairs: with the licences that the two pages state."""

    pair: PagePair
    licences: tuple[str, str]


class Sharded(NamedTuple):
    """A job that can be merged."""

    name: str  # as the user gave it
    folder: "ShardFolder"
    part: JobPart
    is_running: bool = False


class ShardFolder(NamedTuple):
    """Where the shards of a job are."""

    path: Path

    def segments(self, languages: tuple[str, str]) -> Path:
        """The name of the shard of these languages, which are sorted."""
        return self.path / "-".join(languages)

    def page_pairs(self, languages: tuple[str, str]) -> Path:
        return self.path / f"{'-'.join(languages)}.documents"

    def part(self) -> JobPart | None:
        """What was written of the job; None if that cannot be read."""
        try:
            return msgspec.json.decode(files.checked((self.path / PART).read_bytes()), type=JobPart)
        except (OSError, ValueError, *files.NO_JSON):
            return None

    def made_with(self, fingerprint: str) -> JobPart | None:
        """The part, if the shards are whole and were made of the same."""
        part = self.part()
        return part if part and part.fingerprint == fingerprint and not self._changed_file(part) else None

    def remove_part(self) -> None:
        files.discard(self.path / PART)

    def write(self, part: JobPart) -> None:
        files.write(self.path / PART, files.with_sum(msgspec.json.format(msgspec.json.encode(part))))

    def fault(self) -> str:
        """What is wrong with the shards; empty if they are as they were written, or if there are none."""
        if not (self.path / PART).exists():
            return ""
        part = self.part()
        return f"{PART} is not what was written" if part is None else self._changed_file(part)

    def sums(self, corpora: Iterable[CorpusPart]) -> dict[str, int]:
        shards = [shard(corpus.languages) for corpus in corpora for shard in (self.segments, self.page_pairs)]
        return {path.name: files.checksum(path) for shard in shards for path in (keys_file(shard), data_file(shard))}

    def _changed_file(self, part: JobPart) -> str:
        """Says of a file that it is not as it was written; empty if all are."""
        for name, written in part.sums.items():
            try:
                if files.checksum(self.path / name) != written:
                    return f"{name} is not what was written"
            except OSError as error:
                return f"{name} cannot be read: {error.strerror}"
        return ""

    def write_corpus(
        self, header: CorpusHeader, choice: Choice, sites: Iterable[SitePairs], licence: Callable[[Url], str]
    ) -> CorpusPart:
        """Write the shards of one corpus. `licence` says what a page states."""
        languages = header.in_order
        turned, verdicts = languages != header.languages, choice.verdicts
        good_enough = ThresholdFilter(choice.thresholds, verdicts, accepted_only=choice.accepted_only)
        hide = Anonymiser(choice.anonymise, choice.languages)
        rows: list[SiteRows] = []
        with (
            shard_writer(self.page_pairs(languages)) as write_pair,
            shard_writer(self.segments(languages)) as write_segment,
        ):
            for site in sites:
                pairs = partial = segments = 0
                needed: set[tuple[Url, Url]] = set()
                good = good_enough.accepted(revised(site.segments, verdicts))
                both = ((pair, public) for pair in good if (public := hide.public(pair, header.languages)) is not None)
                found, kept = tee(both)
                written = keyed(turned_segments(public) if turned else public for _, public in kept)
                for (as_found, _), (segment, keys) in zip(found, written, strict=True):
                    accepted = verdicts.of_segment(as_found) is Verdict.ACCEPT
                    if accepted:
                        needed.add((as_found.url_a, as_found.url_b))
                    # What a person accepted represents others.
                    write_segment(keys, segment.score + accepted, pack(segment))
                    segments += 1
                good_pairs = good_enough.accepted_pairs(site.page_pairs, needed)
                for pair in map(turned_pages, good_pairs) if turned else good_pairs:
                    a, b = (hide.everywhere(licence(url), [url.host]) for url in (pair.url_a, pair.url_b))
                    # What another job found to be translated as a whole represents both.
                    row = pack(SourcePair(hide.page_pair(pair), (a, b)))
                    write_pair(page_pair_keys(pair), pair.score - pair.partial, row)
                    partial += pair.partial
                    pairs += not pair.partial
                rows.append(SiteRows(site.site, pairs, segments, partial))
        counts = shard_counts(self.segments(languages))
        good_enough.rejections += Counter({Rejection.PERSONAL_DATA: hide.dropped})
        return CorpusPart(
            languages,
            segment_pairs=counts.rows,
            units=counts.near,
            page_pairs=sum(row.page_pairs for row in rows),
            rejected=_by_name(good_enough.rejections),
            rejected_pairs=_by_name(good_enough.rejected_pairs),
            sites=tuple(rows),
            personal_data=dict(hide.counts),
        )


def _by_name(rejections: Counter[Rejection]) -> dict[str, int]:
    return {str(reason): count for reason, count in sorted(rejections.items())}


def turned_pages(pair: PagePair) -> PagePair:
    """The same pair with its sides exchanged."""
    sides = {"url_a": pair.url_b, "url_b": pair.url_a, "lang_a": pair.lang_b, "lang_b": pair.lang_a}
    return msgspec.structs.replace(pair, **sides)


def turned_segments(pair: SegmentPair) -> SegmentPair:
    """The same pair with its sides exchanged: also in its type and in the names of its scores."""
    other = {"a": "b", "b": "a"}
    scores = {
        f"{name[:-1]}{other[name[-1]]}" if name[-2:] in {"_a", "_b"} else name: value
        for name, value in pair.scores.items()
    }
    kind = ":".join(reversed(pair.type.split(":")))
    return SegmentPair(pair.url_b, pair.url_a, pair.b, pair.a, pair.score, kind, scores, pair.flags)


def turned_unit(unit: TranslationUnit) -> TranslationUnit:
    sources = tuple(
        UnitSource(s.url_b, s.url_a, s.paragraph_b, s.paragraph_a, s.sentence_b, s.sentence_a) for s in unit.sources
    )
    return TranslationUnit(turned_segments(unit.pair), sources, unit.variants)


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
    return Counts(len(rows), len(distinct(rows["exact"])), len(distinct(rows["near"])))


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


def _joined(blocks: Iterable[Block]) -> list[Block]:
    """The same rows in the same order, in as few blocks as possible."""
    joined: list[Block] = []
    for block in blocks:
        if joined and (joined[-1].shard, joined[-1].last) == (block.shard, block.first):
            joined[-1] = joined[-1]._replace(last=block.last)
        elif block.first < block.last:
            joined.append(block)
    return joined
