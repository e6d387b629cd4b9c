"""From the text files of a graph to an index, in bounded memory: a whole graph, or what lies around some hosts."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import le
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from bitrawl.discover.graph_files import (
    Edges,
    GraphFiles,
    Ids,
    IdSet,
    NeighbourLists,
    NumberColumn,
    Read,
    Vertices,
    blocks,
    edges_in,
    graph_files,
    look_reversed,
    paired,
    reversed_host,
    sorted_pairs,
    spellings,
    unpaired,
    vertices_in,
)
from bitrawl.discover.graph_index import META, Caps, GraphMeta, HostNeighbourhood, no_seed_in
from bitrawl.errors import GraphError
from bitrawl.files import replacing_folder, write

_SAMPLES = 50  # names of a block that are looked at for their order of labels
_MOST_SAMPLES = 20_000
_PRIMES = tuple(np.uint64(prime) for prime in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9))
Progress = Callable[[int, int], None]
"""Is told how many bytes of how many were read."""

# Edges in a part that is sorted at once: 128 MB, mapped from a file.
_PART_EDGES = 1 << 24
_BYTES_PER_EDGE = 4  # compressed; Common Crawl's graph of hosts of July 2020 has 4.5 (13.7 GB, 3.02 G edges)
_MOST_PARTS = 256  # open files
_MISSING = 20  # hosts that meta.json names
_ROWS = 1 << 20  # of a column that are in memory at a time
DEFAULT_CAPS = Caps()


def build_graph(
    folder: Path,
    out: Path,
    *,
    around: Sequence[str] = (),
    caps: Caps = DEFAULT_CAPS,
    progress: Progress = lambda _done, _all: None,
) -> GraphMeta:
    """Write the index of a graph as downloaded into `out`, which is replaced as a whole when it is complete.

    With hosts to build `around`: their hubs, and what these cite. Raises `GraphError`.
    """
    files = graph_files(folder)
    passes = sum(path.stat().st_size for path in files.vertices) * (2 if around else 1)
    read = _Meter(passes + sum(path.stat().st_size for path in files.edges), progress)
    with replacing_folder(out) as draft:
        maker = _around if around else _whole
        meta = maker(files, draft, read, around, caps)
        meta = msgspec.structs.replace(
            meta, domains=files.is_of_domains, files=tuple(path.name for path in (*files.vertices, *files.edges))
        )
        write(draft / META, msgspec.json.format(msgspec.json.encode(meta)))
    return meta


class _Meter:
    """Tells how many bytes were read."""

    def __init__(self, total: int, progress: Progress) -> None:
        self._done, self._total, self._progress = 0, total, progress

    def __call__(self, size: int) -> None:
        self._done = min(self._done + size, self._total)
        self._progress(self._done, self._total)


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
            name = next(sample for sample in self._samples if look_reversed([sample]) is False)
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
        """More numbers, all greater than those before."""
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
        is_there = self._ids[0][np.minimum(places, self.count - 1)] == ids
        return np.where(is_there, places, self.count).astype(np.uint32)


def write_names(vertices: Iterable[Vertices], folder: Path, chosen: IdSet | None) -> Numbering:
    """Write the names of the ids kept, or of all (None), in the order of the ids.

    Names that are not in alphabetical order get a list by which they can be searched.
    """
    numbering = Numbering()
    last, in_order = b"", True
    with NumberColumn(folder / "names.npy", "u1") as names, NumberColumn(folder / "name_starts.npy", "<u8") as starts:
        starts.write(np.zeros(1))
        for block in vertices:
            rows = slice(None) if chosen is None else np.flatnonzero(chosen.has(block.ids))
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
    with NumberColumn(folder / "by_name.npy", "<u4") as column:
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


def _whole(files: GraphFiles, draft: Path, read: Read, _hosts: Sequence[str], _caps: Caps) -> GraphMeta:
    scan = HostScan()
    numbering = write_names(scan.passing(vertex_blocks(files.vertices, read)), draft, None)
    scan.check(files.vertices[0])
    size = sum(path.stat().st_size for path in files.edges)
    parts = _parts(size // _BYTES_PER_EDGE)
    counted = _Counted(_edges(files, scan.size, read))
    edge_count = _write_edges(draft, scan.count, parts, (_renumbered(edges, numbering, files) for edges in counted))
    with NumberColumn(draft / "degrees.npy", "<u4") as degrees, NumberColumn(draft / "given.npy", "<u4"):
        for lengths in _lengths(draft / "cites_starts.npy"):
            degrees.write(lengths)
    return GraphMeta(hosts=scan.count, edges=edge_count, edges_read=counted.count)


def _around(files: GraphFiles, draft: Path, read: Read, hosts: Sequence[str], caps: Caps) -> GraphMeta:
    scan = HostScan(hosts)
    for _ in scan.passing(vertex_blocks(files.vertices, read)):
        pass
    scan.check(files.vertices[0])
    missing = tuple(host for host in hosts if host not in scan.found)
    if not scan.found:
        raise GraphError(_no_host(scan.count, hosts, files))
    given = np.unique(np.array([number for ids in scan.found.values() for number in ids], np.uint32))
    near = _neighbourhood(files, given, scan.size, caps, draft, read)
    chosen = IdSet(scan.size, given)
    for edges in near.kept():
        chosen.add(edges.sources)
        chosen.add(edges.targets)
    numbering = write_names(vertex_blocks(files.vertices, read), draft, chosen)
    renumbered = (_renumbered(edges, numbering, files) for edges in near.kept())
    edges_kept = _write_edges(draft, numbering.count, _parts(near.path.stat().st_size // 8), renumbered)
    _write_degrees(draft, near, given, numbering)
    near.path.unlink()
    return GraphMeta(
        hosts=numbering.count,
        edges=edges_kept,
        given=len(scan.found),
        missing=missing[:_MISSING],
        edges_read=near.edges_read,
        links_cap=caps.links,
        referrers_cap=caps.referrers,
    )


def _neighbourhood(files: GraphFiles, given: Ids, size: int, caps: Caps, draft: Path, read: Read) -> HostNeighbourhood:
    with HostNeighbourhood(given, size, caps, draft / "hubs") as near:
        for edges in _edges(files, size, read):
            near.add(edges)
    if near.is_sorted:
        return near
    # The edges of a source do not follow each other, which Common Crawl's do. Read the files once more, for the edges
    # of the hubs alone, and sort these.
    unsorted = draft / "unsorted"
    with unsorted.open("wb") as file:
        for sources, targets in _edges(files, size, lambda _bytes: None):
            of_hubs = near.hubs.has(sources)
            file.write(paired(sources[of_hubs], targets[of_hubs]).data)
    with HostNeighbourhood(given, size, caps, draft / "hubs") as again:
        for pairs in sorted_pairs(unsorted):
            again.add(unpaired(pairs))
    again.edges_read = near.edges_read
    unsorted.unlink()
    return again


def _edges(files: GraphFiles, size: int, read: Read) -> Iterator[Edges]:
    for path in files.edges:
        for block in blocks(path, read):
            edges = edges_in(block, path)
            last = max(int(edges.sources.max()), int(edges.targets.max()))
            if last >= size:
                raise _unknown_id(path, last, files)
            yield edges


class _Counted:
    def __init__(self, edges: Iterable[Edges]) -> None:
        self.count = 0
        self._edges = edges

    def __iter__(self) -> Iterator[Edges]:
        for edges in self._edges:
            self.count += len(edges.sources)
            yield edges


def _renumbered(edges: Edges, numbering: Numbering, files: GraphFiles) -> Edges:
    """With the numbers of the index."""
    new = Edges(numbering.places(edges.sources), numbering.places(edges.targets))
    for old, places in zip(edges, new, strict=True):
        if len(strange := old[places == numbering.count]):
            raise _unknown_id(files.edges[0], int(strange[0]), files)
    return new


def _parts(edges: int) -> int:
    return min(max(edges // _PART_EDGES, 1), _MOST_PARTS)


def _write_edges(draft: Path, count: int, parts: int, edges: Iterable[Edges]) -> int:
    """The lists in both directions. Returns how many edges there are, each counted once."""
    with (
        NeighbourLists(draft / "cites-parts", count, parts) as cites,
        NeighbourLists(draft / "cited-parts", count, parts) as by,
    ):
        for sources, targets in edges:
            cites.add(sources, targets)
            by.add(targets, sources)
        by.write(draft / "cited_starts.npy", draft / "cited.npy")
        return cites.write(draft / "cites_starts.npy", draft / "cites.npy")


def _write_degrees(draft: Path, near: HostNeighbourhood, given: Ids, numbering: Numbering) -> None:
    """How many hosts each hub cites in the whole graph, and how many of the given ones."""
    hubs, counts = near.degrees()
    places = numbering.places(hubs)
    is_there = places < numbering.count
    degrees, of_given = np.zeros(numbering.count, np.uint32), np.zeros(numbering.count, np.uint32)
    degrees[places[is_there]] = counts[is_there]
    starts, referrers = np.load(draft / "cited_starts.npy"), np.load(draft / "cited.npy", mmap_mode="r")
    for place in numbering.places(given):
        of_given[referrers[int(starts[place]) : int(starts[place + 1])]] += 1
    for name, values in (("degrees", degrees), ("given", of_given)):
        with NumberColumn(draft / f"{name}.npy", "<u4") as column:
            column.write(values)


def _lengths(starts: Path) -> Iterator[Ids]:
    column = np.load(starts, mmap_mode="r")
    for first in range(0, len(column) - 1, _ROWS):
        yield np.diff(column[first : first + _ROWS + 1]).astype(np.uint32)


def _unknown_id(path: Path, last: int, files: GraphFiles) -> GraphError:
    return GraphError(
        f"{path} has the id {last}, which is not in {files.vertices[0].name}; are all parts of vertices and edges here, and "
        "of one release?"
    )


def _no_host(count: int, hosts: Sequence[str], files: GraphFiles) -> str:
    if look_reversed(list(hosts)):
        return (
            f"none of the {len(hosts)} hosts is in the graph, and they look reversed ({hosts[0]}); write them as people do, "
            "for example www.example.org"
        )
    return no_seed_in(GraphMeta(hosts=count, edges=0, domains=files.is_of_domains), hosts, files.vertices[0].parent)
