"""Search for bilingual sites: the same crawl as any other, and beside it the list of what was found so far.

`open_backlinks` makes one source of all that a search may ask who links where: it recognises each file, folder or URL.
"""

import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec

from bitrawl import files
from bitrawl.archive.archived_web import Archives
from bitrawl.config import Job
from bitrawl.crawling import Budget
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
from bitrawl.discover.graph_files import blocks, graph_files, host_of, is_graph, without_www
from bitrawl.discover.graph_index import Caps, GraphIndex, GraphMeta, is_index, no_seed_in
from bitrawl.discover.settings import DiscoverySection
from bitrawl.discover.site_lists import (
    SiteAnswer,
    SiteVerdict,
    from_json_lines,
    json_lines,
    ranked,
    seed_list,
    seeds_of,
    table,
)
from bitrawl.discover.walk import DiscoveryWalk, WalkFacts, gather
from bitrawl.discover.walk_plan import BACKLINKS
from bitrawl.endings import Ending
from bitrawl.errors import ConfigError, DamagedError, GraphError
from bitrawl.file_names import FOUND_SITES, REPORT, SEARCHED, SITES_JSON, SITES_TABLE
from bitrawl.folder_files import check_inputs
from bitrawl.job import fetching
from bitrawl.job.fetching import POLITE, FetchPolicy
from bitrawl.job.opened import StartOver
from bitrawl.job.running import Started, finished, opened
from bitrawl.model import Capture, Page, Visit
from bitrawl.protocols import Clock
from bitrawl.show import report_of_search
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import outlinks
from bitrawl.url import seeds_from

WRITE_EVERY = 2.0  # seconds between two versions of the files
# Bytes of a graph, as downloaded, that are indexed on the way, each time: two seconds. Larger ones are built once.
SMALL_GRAPH = 32_000_000

Tell = Callable[[str], None]


class Discovered(msgspec.Struct, frozen=True):
    """What came of a search."""

    ending: Ending
    why: str  # it ended
    sites: tuple[SiteVerdict, ...]  # the bilingual ones, the surest first
    facts: WalkFacts

    def mining_job(self, job: Job) -> Job:
        """The job that mines the sites found: the same languages, topic and politeness, and no budget of the search."""
        seeds = [str(url) for site in self.sites for url in seeds_of(site)]
        return msgspec.structs.replace(job, seeds=seeds, discovery=DiscoverySection(), budget=Budget())


async def discover(  # noqa: PLR0913 - listeners
    job: Job,
    folder: JobFolder,
    *,
    observe: Callable[[Visit], None] = lambda _visit: None,
    started: Started = lambda _parts: None,
    found: Callable[[SiteVerdict], None] = lambda _verdict: None,
    tell: Callable[[str], None] = lambda _line: None,
    fresh: StartOver = StartOver.NO,
) -> Discovered:
    """Search until nothing is left or a budget is spent; the same job in the same folder resumes.

    `found` is told of each bilingual site, `tell` what is read before the search begins.
    """
    async with AsyncExitStack() as stack:
        source = await _source(job, folder, stack, tell, fresh=fresh)
        if job.discovery.host_languages:
            tell(f"Reading the languages of hosts in {job.discovery.host_languages} …")
        parts = await stack.enter_async_context(
            opened(job, folder, observe, verb="discover", fresh=fresh, backlinks=source)
        )
        assert parts.walk is not None, "a job without [discovery] does not search for sites"
        sites = _FoundSites(job, folder, parts.walk, parts.crawl.clock, found)
        parts.crawl.observers.append(sites.observe)
        started(parts)
        ending = await finished(parts)
        facts = sites.write()
        why = str(parts.ledger.last_run().ended or "")
        return Discovered(ending, why, tuple(parts.walk.found), facts)


def draw_report(folder: JobFolder) -> Path | None:
    """The report of a search again, as it stood last; None if the folder holds none."""
    facts, sites = folder.path / SEARCHED, folder.path / SITES_JSON
    if not facts.exists() or not sites.exists():
        return None
    try:
        verdicts = from_json_lines(sites.read_bytes())
        walk = msgspec.json.decode(facts.read_bytes(), type=WalkFacts)
    except files.NO_JSON as error:
        raise DamagedError(f"{facts} or {sites} is damaged: {error}; the same search writes them again") from error
    files.write(folder.report, report_of_search(walk, verdicts))
    return folder.report


async def _source(
    job: Job, folder: JobFolder, stack: AsyncExitStack, tell: Callable[[str], None], *, fresh: StartOver
) -> Backlinks | None:
    """The job's link graphs, None without any. A service is asked again for what an earlier run knew."""
    if not job.discovery.backlinks:
        return None
    seeds = [url.host for url in job.seed_urls()]
    opening = open_backlinks(job.discovery.backlinks, seeds=seeds, policy=FetchPolicy.of(job), tell=tell)
    source = await stack.enter_async_context(opening)
    bilingual = [] if fresh else _bilingual_before(folder.path / SITES_JSON)
    await source.prefetch(dict.fromkeys(map(without_www, (*seeds, *bilingual))), BACKLINKS)
    return source


def _bilingual_before(path: Path) -> list[str]:
    """Bilingual sites of an earlier run."""
    verdicts = from_json_lines(path.read_bytes()) if path.exists() else []
    return [verdict.site for verdict in verdicts if verdict.verdict is SiteAnswer.BILINGUAL]


class _FoundSites:
    """The files of the folder that grow while the search runs."""

    def __init__(
        self, job: Job, folder: JobFolder, walk: DiscoveryWalk, clock: Clock, found: Callable[[SiteVerdict], None]
    ) -> None:
        """What an earlier run found is written, and not told again."""
        self._job = job
        self._folder = folder
        self._walk = walk
        self._clock = clock
        self._found = found
        self._told = len(walk.verdicts)
        self._written_at = 0.0
        self.write()

    def observe(self, _visit: Visit) -> None:
        """Tell and write the verdicts that are new."""
        verdicts = self._walk.verdicts
        new, self._told = verdicts[self._told :], len(verdicts)
        for verdict in new:
            if verdict.verdict is SiteAnswer.BILINGUAL:
                self._found(verdict)
        if len(verdicts) > self._written and self._clock.now() - self._written_at >= WRITE_EVERY:
            self._written_at = self._clock.now()
            self.write()

    def write(self) -> WalkFacts:
        """All files, each complete under its name."""
        path, verdicts = self._folder.path, ranked(self._walk.standing)
        files.write(path / SITES_JSON, json_lines(verdicts))
        files.write(path / SITES_TABLE, table(verdicts))
        files.write(path / FOUND_SITES, seed_list(verdicts))
        facts = gather(self._walk, str(self._job.discovery.walk), tuple(self._job.langs))
        files.write(path / SEARCHED, msgspec.json.encode(facts))
        files.write(path / REPORT, report_of_search(facts, verdicts))
        self._written = len(self._walk.verdicts)
        return facts


class SourceKind(StrEnum):
    """What a source of backlinks is, by what it holds and not by its name."""

    SERVICE = "service"
    INDEX = "index"
    GRAPH = "graph"
    JOB = "job"
    WAT = "wat"
    WARC = "warc"
    TABLE = "table"


class RecognisedSource(NamedTuple):
    kind: SourceKind
    where: str


@asynccontextmanager
async def open_backlinks(
    places: Iterable[str], *, seeds: Sequence[str] = (), policy: FetchPolicy = POLITE, tell: Tell = lambda _line: None
) -> AsyncIterator[Backlinks]:
    """All of them as one source: indexes, downloaded graphs, tables, job folders, WAT and WARC files, URLs of services.

    Raises `ConfigError` or `GraphError` for what is none of these, and if none of them knows any of the seeds.
    """
    sources = [each for place in places for each in recognised(place)]
    async with AsyncExitStack() as stack:
        graphs: list[GraphIndex] = []
        services: list[BacklinkService] = []
        rows = stack.enter_context(LinkRows())
        for kind, where in sources:
            match kind:
                case SourceKind.SERVICE:
                    web = fetching.api_web(policy, MEDIA_TYPES)
                    services.append(BacklinkService(where, await stack.enter_async_context(web)))
                case SourceKind.INDEX:
                    graphs.append(GraphIndex(Path(where)))
                case SourceKind.GRAPH:
                    graphs.append(_indexed(Path(where), stack, tell))
                case _:
                    tell(f"Reading the links of {where} …")
                    await _add_rows(rows, kind, Path(where))
        local: list[GraphIndex | LinkRows] = [*graphs, *([rows] if len(rows) else [])]
        if not services:
            _check_seeds(local, [host_of(seed) for seed in seeds], [where for _, where in sources])
        yield Backlinks(local, services)


def recognised(place: str) -> list[RecognisedSource]:
    """What it is; a folder of tables or of archives is several. Raises `ConfigError` or `GraphError` for anything else."""
    if "://" in place:
        return [RecognisedSource(SourceKind.SERVICE, place)]
    path = Path(place)
    if path.is_dir():
        return _folder(path)
    if path.is_file():
        return [RecognisedSource(_file(path), place)]
    raise ConfigError(f"{place} does not exist; give a file, a folder or a URL with https://")


def build_index(
    folder: Path,
    out: Path,
    *,
    around: Path | None = None,
    caps: Caps = DEFAULT_CAPS,
    progress: Progress = lambda _done, _all: None,
) -> GraphMeta:
    """Build the index of a downloaded graph, around the hosts or URLs that a file lists."""
    check_inputs(out, [folder, *([around] if around is not None else [])])
    if out.exists() and not (is_index(out) or (out.is_dir() and not any(out.iterdir()))):
        raise ConfigError(f"{out} holds something other than a link graph, which would be lost; choose another --out")
    hosts: list[str] = []
    if around is not None:
        try:
            listed = seeds_from(around.read_bytes(), str(around))
        except OSError as error:
            raise ConfigError(f"{around} cannot be read: {error.strerror}") from error
        hosts = list(dict.fromkeys(map(host_of, listed)))
        if not hosts:
            raise ConfigError(f"{around} lists no hosts; write one host or URL on each line")
    return build_graph(folder, out, around=hosts, caps=caps, progress=progress)


def _folder(path: Path) -> list[RecognisedSource]:
    if is_index(path):
        return [RecognisedSource(SourceKind.INDEX, str(path))]
    if JobFolder(path).ledger.exists():
        return [RecognisedSource(SourceKind.JOB, str(path))]
    if is_graph(path):
        return [RecognisedSource(SourceKind.GRAPH, str(path))]
    names = (".warc", ".warc.gz", ".wat", ".wat.gz", ".tsv", ".tsv.gz")
    inside = sorted(each for each in path.iterdir() if each.is_file() and each.name.endswith(names))
    if inside:
        return [RecognisedSource(_file(each), str(each)) for each in inside]
    if next(path.rglob("*.parquet"), None):
        raise GraphError(_parquet(path))
    graph_files(path)  # says what is missing, if it is half a graph or one in another format
    raise AssertionError


def _file(path: Path) -> SourceKind:
    start = next(blocks(path), b"")
    if start.startswith(b"PAR1"):
        raise GraphError(_parquet(path))
    if start.startswith(b"WARC/"):
        return SourceKind.WAT if is_wat(path) else SourceKind.WARC
    if b"\t" not in start.partition(b"\n")[0]:
        raise GraphError(
            f"{path} is not a source of backlinks: it is neither a table of links (with tabs) nor a WARC or WAT "
            "file. Give the folder of a link graph or of a job, a file, or a URL with {url}"
        )
    first, second = start.partition(b"\n")[0].split(b"\t")[:2]
    if first.isdigit():
        kind = "edges" if second.isdigit() else "vertices"
        raise GraphError(f"{path} is a file of {kind}, one part of a graph; give the folder that has both parts")
    return SourceKind.TABLE if is_table(path) else SourceKind.WARC


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


async def _add_rows(rows: LinkRows, kind: SourceKind, path: Path) -> None:
    if kind is SourceKind.TABLE:
        rows.add(read_table(path))
    elif kind is SourceKind.WAT:
        rows.add(read_wat(path))
    elif kind is SourceKind.JOB:
        with JobFolder(path).reading() as ledger:
            rows.add(outlinks(ledger))
    else:
        await _add_pages(rows, path)


async def _add_pages(rows: LinkRows, path: Path) -> None:
    with Archives([path]) as archives:
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
        "another web? Leave --backlinks out to go on without them"
    )
