"""From the text files of a graph to an index, in bounded memory: a whole graph, or what lies around some hosts."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np

from bitrawl.discover.graph.around import Caps, Neighbourhood
from bitrawl.discover.graph.columns import Column, Neighbours, paired, sorted_pairs, unpaired
from bitrawl.discover.graph.id_set import IdSet
from bitrawl.discover.graph.index import META, GraphMeta, no_seed_in
from bitrawl.discover.graph.names import look_reversed
from bitrawl.discover.graph.numbers import Edges, Ids, edges_in
from bitrawl.discover.graph.shards import GraphFiles, Read, blocks, graph_files
from bitrawl.discover.graph.vertices import HostScan, Numbering, vertex_blocks, write_names
from bitrawl.errors import GraphError
from bitrawl.files import replacing_folder, write

Progress = Callable[[int, int], None]
"""Is told how many bytes of how many were read."""

# Edges in a part that is sorted at once: 128 MB, mapped from a file. Judgement.
_PART_EDGES = 1 << 24
_BYTES_PER_EDGE = 4  # compressed; Common Crawl's graph of hosts of July 2020 has 4.5 (13.7 GB, 3.02 G edges)
_MOST_PARTS = 256  # open files
_MISSING = 20  # hosts that meta.json names
_ROWS = 1 << 20  # of a column that are in memory at a time; judgement
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
    def __init__(self, total: int, progress: Progress) -> None:
        self._done, self._total, self._progress = 0, total, progress

    def __call__(self, size: int) -> None:
        self._done = min(self._done + size, self._total)
        self._progress(self._done, self._total)


def _whole(files: GraphFiles, draft: Path, read: Read, _hosts: Sequence[str], _caps: Caps) -> GraphMeta:
    scan = HostScan()
    numbering = write_names(scan.passing(vertex_blocks(files.vertices, read)), draft, None)
    scan.check(files.vertices[0])
    size = sum(path.stat().st_size for path in files.edges)
    parts = _parts(size // _BYTES_PER_EDGE)
    counted = _Counted(_edges(files, scan.size, read))
    kept = _write_edges(draft, scan.count, parts, (_renumbered(edges, numbering, files) for edges in counted))
    with Column(draft / "degrees.npy", "<u4") as degrees, Column(draft / "given.npy", "<u4"):
        for lengths in _lengths(draft / "cites_starts.npy"):
            degrees.write(lengths)
    return GraphMeta(hosts=scan.count, edges=kept, edges_read=counted.count)


def _around(files: GraphFiles, draft: Path, read: Read, hosts: Sequence[str], caps: Caps) -> GraphMeta:
    scan = HostScan(hosts)
    for _ in scan.passing(vertex_blocks(files.vertices, read)):
        pass
    scan.check(files.vertices[0])
    missing = tuple(host for host in hosts if host not in scan.found)
    if not scan.found:
        raise GraphError(_no_host(scan.count, hosts, files))
    given = np.unique(np.array([one for ids in scan.found.values() for one in ids], np.uint32))
    near = _neighbourhood(files, given, scan.size, caps, draft, read)
    kept = IdSet(scan.size, given)
    for edges in near.kept():
        kept.add(edges.sources)
        kept.add(edges.targets)
    numbering = write_names(vertex_blocks(files.vertices, read), draft, kept)
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


def _neighbourhood(files: GraphFiles, given: Ids, size: int, caps: Caps, draft: Path, read: Read) -> Neighbourhood:
    with Neighbourhood(given, size, caps, draft / "hubs") as near:
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
    with Neighbourhood(given, size, caps, draft / "hubs") as again:
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
        Neighbours(draft / "cites-parts", count, parts) as cites,
        Neighbours(draft / "cited-parts", count, parts) as by,
    ):
        for sources, targets in edges:
            cites.add(sources, targets)
            by.add(targets, sources)
        by.write(draft / "cited_starts.npy", draft / "cited.npy")
        return cites.write(draft / "cites_starts.npy", draft / "cites.npy")


def _write_degrees(draft: Path, near: Neighbourhood, given: Ids, numbering: Numbering) -> None:
    """How many hosts each hub cites in the whole graph, and how many of the given ones."""
    hubs, found = near.degrees()
    places = numbering.places(hubs)
    known = places < numbering.count
    degrees, of_given = np.zeros(numbering.count, np.uint32), np.zeros(numbering.count, np.uint32)
    degrees[places[known]] = found[known]
    starts, referrers = np.load(draft / "cited_starts.npy"), np.load(draft / "cited.npy", mmap_mode="r")
    for one in numbering.places(given):
        of_given[referrers[int(starts[one]) : int(starts[one + 1])]] += 1
    for name, values in (("degrees", degrees), ("given", of_given)):
        with Column(draft / f"{name}.npy", "<u4") as column:
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
