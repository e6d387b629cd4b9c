"""Sources of backlinks: what each file, folder or URL is, and the graph that is built of Common Crawl's files."""

import gzip
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from bitrawl import config
from bitrawl.assemble import fetching
from bitrawl.assemble.fetching import POLITE, FetchPolicy
from bitrawl.discover.backlinks import (
    MEDIA_TYPES,
    Backlinks,
    BacklinkService,
    LinkRows,
    is_table,
    is_wat,
    page_links,
    read_table,
    read_wat,
)
from bitrawl.discover.graph_build import DEFAULT_CAPS, Progress, build_graph
from bitrawl.discover.graph_files import graph_files, host_of, is_graph
from bitrawl.discover.graph_index import Caps, GraphIndex, GraphMeta, is_index, no_seed_in
from bitrawl.errors import ConfigError, GraphError
from bitrawl.jobs.folder import JobFolder
from bitrawl.model import Capture, Page
from bitrawl.store.outlinks import outlinks
from bitrawl.store.replay import open_archives

# Bytes of a graph, as downloaded, that are indexed on the way, each time: two seconds. Larger ones are built once.
SMALL_GRAPH = 32_000_000

Tell = Callable[[str], None]


class Kind(StrEnum):
    """What a source of backlinks is, by what it holds and not by its name."""

    SERVICE = "service"
    INDEX = "index"
    GRAPH = "graph"
    JOB = "job"
    WAT = "wat"
    WARC = "warc"
    TABLE = "table"


class Place(NamedTuple):
    kind: Kind
    where: str


@asynccontextmanager
async def open_backlinks(
    places: Iterable[str],
    *,
    seeds: Sequence[str] = (),
    policy: FetchPolicy = POLITE,
    tell: Tell = lambda _line: None,
) -> AsyncIterator[Backlinks]:
    """All of them as one source: indexes, downloaded graphs, tables, job folders, WAT and WARC files, URLs of services.

    Raises `ConfigError` or `GraphError` for what is none of these, and if none of them knows any of the seeds.
    """
    found = [each for place in places for each in recognised(place)]
    async with AsyncExitStack() as stack:
        graphs: list[GraphIndex] = []
        services: list[BacklinkService] = []
        rows = stack.enter_context(LinkRows())
        for kind, where in found:
            match kind:
                case Kind.SERVICE:
                    web = fetching.api_web(policy, MEDIA_TYPES)
                    services.append(BacklinkService(where, await stack.enter_async_context(web)))
                case Kind.INDEX:
                    graphs.append(GraphIndex(Path(where)))
                case Kind.GRAPH:
                    graphs.append(_indexed(Path(where), stack, tell))
                case _:
                    tell(f"Reading the links of {where} …")
                    await _add_rows(rows, kind, Path(where))
        local: list[GraphIndex | LinkRows] = [*graphs, *([rows] if len(rows) else [])]
        if not services:
            _check_seeds(local, [host_of(seed) for seed in seeds], [where for _, where in found])
        yield Backlinks(local, services)


def recognised(place: str) -> list[Place]:
    """What it is; a folder of tables or of archives is several. Raises `ConfigError` or `GraphError` for anything else."""
    if "://" in place:
        return [Place(Kind.SERVICE, place)]
    path = Path(place)
    if path.is_dir():
        return _folder(path)
    if path.is_file():
        return [Place(_file(path), place)]
    raise ConfigError(f"{place} does not exist; give a file, a folder or a URL with https://")


def build(
    folder: Path,
    out: Path,
    *,
    around: Path | None = None,
    caps: Caps = DEFAULT_CAPS,
    progress: Progress = lambda _done, _all: None,
) -> GraphMeta:
    """Build the index of a downloaded graph, around the hosts or URLs that a file lists."""
    if out.exists() and not (is_index(out) or _is_empty(out)):
        raise ConfigError(f"{out} holds something else than a link graph, which would be lost; choose another --out")
    hosts: list[str] = []
    if around is not None:
        try:
            listed = config.seeds_from(around.read_bytes(), str(around))
        except OSError as error:
            raise ConfigError(f"{around} cannot be read: {error.strerror}") from error
        hosts = list(dict.fromkeys(map(host_of, listed)))
        if not hosts:
            raise ConfigError(f"{around} lists no hosts; write one host or URL on each line")
    return build_graph(folder, out, around=hosts, caps=caps, progress=progress)


def _folder(path: Path) -> list[Place]:
    if is_index(path):
        return [Place(Kind.INDEX, str(path))]
    if JobFolder(path).ledger.exists():
        return [Place(Kind.JOB, str(path))]
    if is_graph(path):
        return [Place(Kind.GRAPH, str(path))]
    names = (".warc", ".warc.gz", ".wat", ".wat.gz", ".tsv", ".tsv.gz")
    inside = sorted(each for each in path.iterdir() if each.is_file() and each.name.endswith(names))
    if inside:
        return [Place(_file(each), str(each)) for each in inside]
    if next(path.rglob("*.parquet"), None):
        raise GraphError(_parquet(path))
    graph_files(path)  # says what is missing, if it is half a graph or one in another format
    raise AssertionError


def _file(path: Path) -> Kind:
    start = _start(path)
    if start.startswith(b"PAR1"):
        raise GraphError(_parquet(path))
    if start.startswith(b"WARC/"):
        return Kind.WAT if is_wat(path) else Kind.WARC
    if b"\t" not in start.partition(b"\n")[0]:
        raise GraphError(
            f"{path} is no source of backlinks: neither a table of links (with tabs), nor a WARC or WAT file. Give the "
            "folder of a link graph or of a job, a file, or a URL with {url}"
        )
    first, second = start.partition(b"\n")[0].split(b"\t")[:2]
    if first.isdigit():
        kind = "edges" if second.isdigit() else "vertices"
        raise GraphError(f"{path} is a file of {kind}, one part of a graph; give the folder that has both parts")
    return Kind.TABLE if is_table(path) else Kind.WARC


def _start(path: Path) -> bytes:
    """The first bytes, unpacked if need be."""
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with gzip.open(path) if packed else path.open("rb") as text:
            return text.read(4096)
    except EOFError as error:
        raise GraphError(f"{path} is cut off: its gzip stream has no end; download it again") from error
    except OSError as error:
        raise GraphError(f"{path} cannot be read: {error.strerror or error}") from error


def _parquet(path: Path) -> str:
    return f"{path} is Parquet, which has no links; Common Crawl's columnar index only counts languages"


def _indexed(folder: Path, stack: AsyncExitStack, tell: Tell) -> GraphIndex:
    size = graph_files(folder).bytes
    if size > SMALL_GRAPH:
        raise GraphError(
            f"{folder} is a graph as downloaded, of {size / 1e6:,.0f} MB. Build an index of it once: "
            f"bitrawl discover graph build {folder} --around seeds.txt --out graph"
        )
    tell(f"Indexing the graph in {folder} …")
    out = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bitrawl-graph-"))) / "graph"
    build_graph(folder, out)
    return GraphIndex(out)


async def _add_rows(rows: LinkRows, kind: Kind, path: Path) -> None:
    if kind is Kind.TABLE:
        rows.add(read_table(path))
    elif kind is Kind.WAT:
        rows.add(read_wat(path))
    elif kind is Kind.JOB:
        ledger = JobFolder(path).reading()
        try:
            rows.add(outlinks(ledger))
        finally:
            ledger.close()
    else:
        await _add_pages(rows, path)


async def _add_pages(rows: LinkRows, path: Path) -> None:
    with open_archives([path], fetching.codec()) as archives:
        async with fetching.loose_analyser() as analyser:
            for url in archives.urls():
                answer = archives.answer(url)
                page = await analyser.analyse(answer) if isinstance(answer, Capture) else None
                if isinstance(page, Page):
                    rows.add(page_links(page.url, page.links))


def _check_seeds(sources: Sequence[GraphIndex | LinkRows], hosts: Sequence[str], places: Sequence[str]) -> None:
    if not hosts or not places or any(host in source for source in sources for host in hosts):
        return
    if len(sources) == 1 and isinstance(sources[0], GraphIndex):
        raise GraphError(no_seed_in(sources[0].meta, hosts, Path(places[0])))
    count = "The seed is not" if len(hosts) == 1 else f"None of the {len(hosts)} seeds is"
    raise GraphError(
        f"{count} in {', '.join(places)}: {', '.join(hosts[:3])}{' …' if len(hosts) > 3 else ''}. Are these the links of "
        "another web? Leave --backlinks out to go on without"
    )


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())
