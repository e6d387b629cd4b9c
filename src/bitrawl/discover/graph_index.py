"""A graph as our own folder of memory-mapped columns: who cites a host, and whom a host cites, in well under a millisecond.

`HostNeighbourhood` chooses what lies around some hosts, the hubs that cite them and what those hubs cite, in one pass over edges
sorted by source. `HostLanguages` says which languages a host has, from Common Crawl's index in Parquet: a first guess that
needs no visit.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from bitrawl.discover.graph_files import (
    HEADER,
    Edges,
    Ids,
    IdSet,
    home_page,
    host_of,
    paired,
    reversed_host,
    spellings,
    unpaired,
    without_www,
)
from bitrawl.discover.settings import HUB_LINKS, REFERRERS
from bitrawl.errors import GraphError
from bitrawl.files import NO_JSON
from bitrawl.languages import base_language, claimed_language
from bitrawl.model import Language, Link, LinkKind
from bitrawl.packages import extra
from bitrawl.url import Url

META = "meta.json"
FORMAT = "bitrawl link graph"
VERSION = 1
# Referrers that are ranked; of more, as many are taken evenly from the list: 3 ms.
_RANKED = 100_000
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing: spreads ids that follow each other

_CHUNK = 1 << 20  # edges in memory at a time
HOST, LANGUAGES = "url_host_name", "content_languages"
_ROWS = 1 << 16  # of a batch, in memory
_COUNTED = 1 << 20  # hosts and languages that are held before they are summed up: some 100 MB
# A language is believed to have this share of a host's pages before any is counted, and that belief weighs as much
# as two pages: one page in English says little against French, a hundred say much.
SHARE, BELIEF = 0.05, 2.0
MOST_ODDS = 4.0  # that counts may speak for a language, or against it


class GraphMeta(msgspec.Struct, frozen=True, kw_only=True):
    """meta.json. It is written last: a folder that has it is complete."""

    format: str = FORMAT
    version: int = VERSION
    domains: bool = False  # whether the names are registrable domains and not hosts
    hosts: int
    edges: int
    given: int = 0  # hosts that it was built around; 0 for a whole graph
    missing: tuple[str, ...] = ()  # the first of those that the graph does not have
    files: tuple[str, ...] = ()  # what it was made of
    edges_read: int = 0
    links_cap: int = 0  # 0 for none
    referrers_cap: int = 0


class GraphIndex:
    """A `BacklinkSource` of hosts. Memory is the operating system's: nothing is loaded but what is looked up."""

    def __init__(self, folder: Path) -> None:
        """Raises `GraphError` if the folder holds no index, or one that this version does not read."""
        self.meta = read_meta(folder)
        try:
            self._names = _column(folder, "names")
            self._name_starts = _column(folder, "name_starts")
            self._by_name = _column(folder, "by_name") if (folder / "by_name.npy").exists() else None
            self._cites, self._cites_starts = _column(folder, "cites"), _column(folder, "cites_starts")
            self._cited, self._cited_starts = _column(folder, "cited"), _column(folder, "cited_starts")
            self._degrees = _column(folder, "degrees")
            self._given = _column(folder, "given")
        except (OSError, EOFError, ValueError) as error:
            raise GraphError(f"{folder} is damaged: {error}; build the graph again") from error
        if len(self._name_starts) != self.meta.hosts + 1 or len(self._cites) != self.meta.edges:
            raise GraphError(
                f"{folder} is damaged: its columns do not have the length that {META} says; build it again"
            )

    def __len__(self) -> int:
        return self.meta.hosts

    def __contains__(self, host: str) -> bool:
        return bool(self._ids(host))

    def referrers(self, target: Url | str, limit: int) -> list[Link]:
        url = target if isinstance(target, Url) else home_page(host_of(target))
        return [Link(url, LinkKind.BACKLINK, source=home_page(host)) for host in self.referring_hosts(target, limit)]

    def referring_hosts(self, target: Url | str, limit: int) -> list[str]:
        """Those first that cite most of the hosts that the graph was built around, then those that cite fewest others.

        A host that cites nothing else comes last: it leads nowhere.
        """
        ids = spread(self._neighbours(self._cited, self._cited_starts, target), _RANKED)
        degrees = self._degrees[ids]
        given = self._given[ids] if len(self._given) else np.zeros(len(ids), np.uint32)
        order = np.lexsort((degrees, degrees < 2, -given.astype(np.int64)))
        return [self._host(number) for number in ids[order[:limit]]]

    def cites(self, target: Url | str, limit: int) -> list[str]:
        """Whom it cites; if that is more than the limit, evenly from all of them."""
        ids = spread(self._neighbours(self._cites, self._cites_starts, target), limit)
        return [self._host(number) for number in ids]

    def degree(self, host: str) -> int:
        """How many hosts it cites in the whole graph, also if the index has only some of them; 0 if it is unknown."""
        return sum(int(self._degrees[number]) for number in self._ids(host))

    def hosts(self) -> Iterator[str]:
        return (self._host(number) for number in range(len(self)))

    def _neighbours(self, values: NDArray[Any], starts: NDArray[Any], target: Url | str) -> Ids:
        """Of both spellings of a host, without itself."""
        own = self._ids(target)
        lists = [values[int(starts[number]) : int(starts[number + 1])] for number in own]
        return np.setdiff1d(np.concatenate(lists), own) if lists else np.empty(0, np.uint32)

    def _ids(self, target: Url | str) -> list[int]:
        host = host_of(target)
        if self.meta.domains:
            host = Url.known(f"http://{host}/").site
        numbers = (self._find(reversed_host(name).encode()) for name in spellings(host))
        return [number for number in numbers if number is not None]

    def _find(self, name: bytes) -> int | None:
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            number = middle if self._by_name is None else int(self._by_name[middle])
            there = self._name(number)
            if there == name:
                return number
            low, high = (middle + 1, high) if there < name else (low, middle)
        return None

    def _name(self, number: int) -> bytes:
        return self._names[int(self._name_starts[number]) : int(self._name_starts[number + 1]) - 1].tobytes()

    def _host(self, number: int) -> str:
        return reversed_host(self._name(number).decode("utf-8", "replace"))


def is_index(folder: Path) -> bool:
    return (folder / META).is_file()


def read_meta(folder: Path) -> GraphMeta:
    try:
        meta = msgspec.json.decode((folder / META).read_bytes(), type=GraphMeta)
    except OSError as error:
        raise GraphError(
            f"{folder} holds no link graph. Run: bitrawl discover graph build DOWNLOADED --out {folder}"
        ) from error
    except NO_JSON as error:
        raise GraphError(f"{folder / META} cannot be read: {error}; build the graph again") from error
    if (meta.format, meta.version) != (FORMAT, VERSION):
        raise GraphError(
            f"{folder} is a link graph of another version ({meta.version}, this one reads {VERSION}); build it again"
        )
    return meta


def no_seed_in(meta: GraphMeta, seeds: Sequence[str], where: Path) -> str:
    """What to say if a graph has none of the hosts that it is asked about."""
    count = "the seed is not" if len(seeds) == 1 else f"none of the {len(seeds)} seeds is"
    built = f", built around {meta.given} other hosts" if meta.given else ""
    hint = f"; build it again with these hosts in --around{built}" if meta.given else ""
    return (
        f"{count} in the graph {where} ({meta.hosts:,} {'domains' if meta.domains else 'hosts'}): {', '.join(seeds[:3])}"
        f"{' …' if len(seeds) > 3 else ''}. Is it a graph of another time or of another web{hint}?"
    )


class Caps(NamedTuple):
    """How much is kept of what is popular."""

    links: int = HUB_LINKS
    referrers: int = REFERRERS


class HostNeighbourhood:
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

    def __exit__(self, _kind: object, error: object, _traceback: object) -> None:
        """Finish the index after the last edge."""
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

    def _close(self, hub: "_OpenHub") -> None:
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


class HostLanguages:
    """Pages of each host in the languages asked for, and in all. 16 to 24 bytes a host, and some 300 while the index is read."""

    def __init__(self, languages: Sequence[Language], counts: Mapping[str, Sequence[int]]) -> None:
        """`counts` has the pages in each of the languages for each host, and then those in any."""
        self.languages = tuple(languages)
        names = np.fromiter((hash(host) for host in counts), np.int64, len(counts))
        order = np.argsort(names)
        self._names: NDArray[np.int64] = names[order]
        rows = np.array(list(counts.values()), np.uint32).reshape(len(names), len(self.languages) + 1)
        self._counts: NDArray[np.uint32] = rows[order]

    @classmethod
    def read(cls, path: Path, languages: Sequence[Language], *, most: int = _COUNTED) -> Self:
        """From a Parquet file, or a folder of them, in one pass. At most so many rows are held before they are summed up.

        Raises `GraphError` for a file without the columns, and `ConfigError` without the extra `parquet`.
        """
        bases = [base_language(language) for language in languages]
        counts: dict[str, list[int]] = {}
        for host, spoken, pages in _counted(path, most):
            row = counts.setdefault(without_www(host), [0] * (len(bases) + 1))
            row[-1] += pages
            main = base_language(claimed_language(spoken or "und"))  # the first of several is the main one
            for place, base in enumerate(bases):
                row[place] += pages * (base == main)
        return cls(languages, counts)

    def __len__(self) -> int:
        return len(self._names)

    def counts(self, host: str) -> tuple[int, ...]:
        """Pages in each of the languages, and in any; empty for a host that the index does not have."""
        name = hash(without_www(host_of(host)))
        place = int(np.searchsorted(self._names, name))
        is_there = place < len(self._names) and self._names[place] == name
        return tuple(self._counts[place].tolist()) if is_there else ()

    def odds(self, host: str) -> dict[Language, float]:
        """How far the counts speak for each language, as a logarithm; below 0 they speak against it. Empty if they say nothing."""
        *counts, pages = self.counts(host) or (0,)
        shares = ((count + BELIEF * SHARE) / (pages + BELIEF) for count in counts)
        odds = (max(-MOST_ODDS, min(MOST_ODDS, log(share / SHARE))) for share in shares)
        return dict(zip(self.languages, odds, strict=False))

    def evidence(self, host: str) -> float:
        """How far the counts speak for a site in two of the languages: the rarer of the two that it has most of decides."""
        odds = sorted(self.odds(host).values())
        return odds[-2] if len(odds) > 1 else 0.0


def spread(ids: Ids, most: int) -> Ids:
    """At most that many, evenly from the whole list: ids follow the alphabet, so the first ones are of one country."""
    if len(ids) <= most:
        return ids
    return ids[np.linspace(0, len(ids) - 1, most).astype(np.int64)]


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


def _joined(parts: list[Ids]) -> Ids:
    return np.concatenate(parts) if parts else np.empty(0, np.uint32)


def _column(folder: Path, name: str) -> NDArray[Any]:
    path = folder / f"{name}.npy"
    # Nothing can be mapped of an empty column. An array is quicker than the class that numpy maps files with.
    return np.asarray(np.load(path, mmap_mode="r" if path.stat().st_size > HEADER else None))


def _counted(path: Path, most: int) -> Iterator[tuple[str, str | None, int]]:
    """Host, languages and pages. A host comes several times if the index is large."""
    with extra("parquet", "Common Crawl's index needs pyarrow"):
        import pyarrow as pa  # type: ignore[import-untyped,unused-ignore]  # noqa: PLC0415 - an extra
        from pyarrow import parquet as pq  # noqa: PLC0415
    held: list[Any] = []
    for file in _files(path):
        try:
            with pq.ParquetFile(file) as parquet:
                _check_columns(parquet.schema_arrow.names, file)
                for batch in parquet.iter_batches(_ROWS, columns=[HOST, LANGUAGES]):
                    rows = pa.Table.from_batches([batch]).combine_chunks()
                    held.append(rows.group_by([HOST, LANGUAGES]).aggregate([([], "count_all")]))
                    if sum(map(len, held)) > most:
                        yield from _summed(pa.concat_tables(held))
                        held.clear()
        except (pa.ArrowInvalid, OSError) as error:
            raise GraphError(f"{file} cannot be read as Parquet: {error}; download it again") from error
    if held:
        yield from _summed(pa.concat_tables(held))


def _summed(table: Any) -> Iterator[tuple[str, str | None, int]]:
    for row in table.group_by([HOST, LANGUAGES]).aggregate([("count_all", "sum")]).to_pylist():
        if row[HOST]:
            yield row[HOST], row[LANGUAGES], row["count_all_sum"]


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    files = sorted(path.rglob("*.parquet")) if path.is_dir() else []
    if not files:
        raise GraphError(f"{path} has no Parquet files; give a file or a folder of Common Crawl's columnar index")
    return files


def _check_columns(names: Iterable[str], file: Path) -> None:
    missing = [name for name in (HOST, LANGUAGES) if name not in names]
    if missing:
        raise GraphError(
            f"{file} has no column {' and no column '.join(missing)}; it is not a part of Common Crawl's columnar index"
        )
