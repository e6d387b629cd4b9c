"""Search for bilingual sites: the same crawl as any other, and beside it the list of what was found so far."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec

from bitrawl import files
from bitrawl.assemble.fetching import FetchPolicy
from bitrawl.config import BudgetSection, DiscoverySection, Job
from bitrawl.crawl.ending import Ending
from bitrawl.discover.backlinks import Backlinks
from bitrawl.discover.graph_files import without_www
from bitrawl.discover.site_lists import from_json_lines, json_lines, ranked, seed_list, seeds_of, table
from bitrawl.discover.verdict import Answer, SiteVerdict
from bitrawl.discover.walk import DiscoveryWalk, WalkFacts, gather
from bitrawl.discover.walk_plan import BACKLINKS
from bitrawl.errors import GraphError
from bitrawl.jobs.crawling import Started, finished, opened
from bitrawl.jobs.folder import JobFolder
from bitrawl.jobs.graphs import open_backlinks
from bitrawl.model import Capture, Link, Skip, Visit
from bitrawl.protocols import Clock, Fetcher
from bitrawl.show.discovery_report import write as write_report

SITES_JSON, SITES_TABLE, SEEDS, FACTS = "sites.jsonl", "sites.tsv", "sites.txt", "discovery.json"
MINED = "mined"  # the folder of the job that mines what was found
WRITE_EVERY = 2.0  # seconds between two versions of the files; judgement


class Discovered(msgspec.Struct, frozen=True):
    """What came of a search."""

    ending: Ending
    why: str  # it ended
    sites: tuple[SiteVerdict, ...]  # the bilingual ones, the surest first
    facts: WalkFacts


async def discover(  # noqa: PLR0913 - listeners
    job: Job,
    folder: JobFolder,
    *,
    observe: Callable[[Visit], None] = lambda _visit: None,
    started: Started = lambda _parts: None,
    found: Callable[[SiteVerdict], None] = lambda _verdict: None,
    tell: Callable[[str], None] = lambda _line: None,
    fresh: bool = False,
) -> Discovered:
    """Search until nothing is left or a budget is spent; the same job in the same folder resumes.

    `found` is told of each bilingual site, `tell` what is read before the search begins.
    """
    sites = _FoundSites(job, folder, found)
    async with AsyncExitStack() as stack:
        source = await _source(job, folder, stack, tell, fresh=fresh)
        if job.discovery.host_languages:
            tell(f"Reading the languages of hosts in {job.discovery.host_languages} …")
        parts = await stack.enter_async_context(
            opened(job, folder, sites.observing(observe), verb="discover", fresh=fresh, backlinks=source)
        )
        if parts.walk is None:
            raise AssertionError("a job without [discovery] searches for no sites")
        if source is not None:
            parts.crawl.fetcher = _AskingFetcher(parts.crawl.fetcher, source, parts.walk)
        sites.begin(parts.walk, parts.crawl.clock)
        started(parts)
        ending = await finished(parts)
        facts = sites.write()
        why = str(parts.ledger.last_run().ended or "")
        return Discovered(ending, why, tuple(parts.walk.found), facts)


def draw_report(folder: JobFolder) -> Path | None:
    """The report of a search again, as it stood last; None if the folder holds none."""
    facts, sites = folder.path / FACTS, folder.path / SITES_JSON
    if not facts.exists() or not sites.exists():
        return None
    verdicts = from_json_lines(sites.read_bytes())
    return write_report(folder.path, msgspec.json.decode(facts.read_bytes(), type=WalkFacts), verdicts)


def mining_job(job: Job, found: Discovered) -> Job:
    """The job that mines the sites found: the same languages, topic and manners, and no budget of the search."""
    seeds = [str(url) for site in found.sites for url in seeds_of(site)]
    return msgspec.structs.replace(job, seeds=seeds, discovery=DiscoverySection(), budget=BudgetSection())


async def _source(
    job: Job, folder: JobFolder, stack: AsyncExitStack, tell: Callable[[str], None], *, fresh: bool
) -> Backlinks | None:
    """The job's link graphs, None without any. A service is asked again for what an earlier run knew."""
    if not job.discovery.backlinks:
        return None
    seeds = [url.host for url in job.seed_urls()]
    opening = open_backlinks(job.discovery.backlinks, seeds=seeds, policy=FetchPolicy.of(job), tell=tell)
    source = await stack.enter_async_context(opening)
    found = [] if fresh else _found_before(folder.path / SITES_JSON)
    await source.prefetch(dict.fromkeys(map(without_www, (*seeds, *found))), BACKLINKS)
    return source


def _found_before(path: Path) -> list[str]:
    """Bilingual sites of an earlier run."""
    verdicts = from_json_lines(path.read_bytes()) if path.exists() else []
    return [one.site for one in verdicts if one.verdict is Answer.BILINGUAL]


class _AskingFetcher:
    """Asks services who cites a site as soon as a second page of it is fetched: only then can it turn out bilingual."""

    def __init__(self, inner: Fetcher, source: Backlinks, walk: DiscoveryWalk) -> None:
        self._inner = inner
        self._source = source
        self._walk = walk

    async def fetch(self, link: Link) -> Capture | Skip:
        host = without_www(link.url.host)
        if self._walk.near.pages_of[host]:
            try:
                await self._source.prefetch([host], BACKLINKS)
            except GraphError as error:  # the search goes on with what is known
                self._walk.plan.notes.append(f"{error}. Nobody was asked who cites {host}.")
        return await self._inner.fetch(link)


class _FoundSites:
    """The files of the folder that grow while the search runs."""

    def __init__(self, job: Job, folder: JobFolder, found: Callable[[SiteVerdict], None]) -> None:
        self._job = job
        self._folder = folder
        self._found = found
        self._walk: DiscoveryWalk | None = None
        self._clock: Clock | None = None
        self._told = self._written = 0
        self._at = 0.0

    def begin(self, walk: DiscoveryWalk, clock: Clock) -> None:
        """A search is about to begin, or to go on: what an earlier run found is written, and not told again."""
        self._walk, self._clock = walk, clock
        self._told = len(walk.verdicts)
        self.write()

    def observing(self, observe: Callable[[Visit], None]) -> Callable[[Visit], None]:
        """The same, and new verdicts are told and written."""

        def observed(visit: Visit) -> None:
            observe(visit)
            self._look()

        return observed

    def write(self) -> WalkFacts:
        """All files, each complete under its name."""
        walk, path = self._walk, self._folder.path
        if walk is None:
            raise AssertionError("the search has not begun")
        verdicts = ranked(walk.standing)
        files.write(path / SITES_JSON, json_lines(verdicts))
        files.write(path / SITES_TABLE, table(verdicts))
        files.write(path / SEEDS, seed_list(verdicts))
        facts = gather(walk, str(self._job.discovery.walk), tuple(self._job.langs))
        files.write(path / FACTS, msgspec.json.encode(facts))
        write_report(path, facts, verdicts)
        self._written = len(walk.verdicts)
        return facts

    def _look(self) -> None:
        if self._walk is None or self._clock is None:
            return
        new, self._told = self._walk.verdicts[self._told :], len(self._walk.verdicts)
        for verdict in new:
            if verdict.verdict is Answer.BILINGUAL:
                self._found(verdict)
        if len(self._walk.verdicts) > self._written and self._clock.now() - self._at >= WRITE_EVERY:
            self._at = self._clock.now()
            self.write()
