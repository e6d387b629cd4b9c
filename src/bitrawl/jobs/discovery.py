"""Search for bilingual sites: the same crawl as any other, and beside it the list of what was found so far."""

from collections.abc import Callable

import msgspec

from bitrawl import files
from bitrawl.config import BudgetSection, DiscoverySection, Job
from bitrawl.crawl.ending import Ending
from bitrawl.discover.site_list import json_lines, ranked, seed_list, seeds_of, table
from bitrawl.discover.verdict import Answer, SiteVerdict
from bitrawl.discover.walk.facts import WalkFacts, gather
from bitrawl.discover.walk.walk import Walk
from bitrawl.jobs.crawling import Started, finished, opened
from bitrawl.jobs.folder import JobFolder
from bitrawl.model import Visit
from bitrawl.protocols import Clock
from bitrawl.report.discovery.render import write as write_report

SITES_JSON, SITES_TABLE, SEEDS, FACTS = "sites.jsonl", "sites.tsv", "sites.txt", "discovery.json"
MINED = "mined"  # the folder of the job that mines what was found
WRITE_EVERY = 2.0  # seconds between two versions of the files; judgement


class Discovered(msgspec.Struct, frozen=True):
    """What came of a search."""

    ending: Ending
    why: str  # it ended
    sites: tuple[SiteVerdict, ...]  # the bilingual ones, the surest first
    facts: WalkFacts


async def discover(
    job: Job,
    folder: JobFolder,
    *,
    observe: Callable[[Visit], None] = lambda _visit: None,
    started: Started = lambda _parts: None,
    found: Callable[[SiteVerdict], None] = lambda _verdict: None,
    fresh: bool = False,
) -> Discovered:
    """Search until nothing is left or a budget is spent; the same job in the same folder resumes.

    `found` is told of each bilingual site.
    """
    sites = _FoundSites(job, folder, found)
    async with opened(job, folder, sites.observing(observe), verb="discover", fresh=fresh) as parts:
        if parts.walk is None:
            raise AssertionError("a job without [discovery] searches for no sites")
        sites.begin(parts.walk, parts.crawl.clock)
        started(parts)
        ending = await finished(parts)
        facts = sites.write()
        why = str(parts.ledger.recall("ended") or "")
        return Discovered(ending, why, tuple(parts.walk.found), facts)


def mining_job(job: Job, found: Discovered) -> Job:
    """The job that mines the sites found: the same languages, topic and manners, and no budget of the search."""
    seeds = [str(url) for site in found.sites for url in seeds_of(site)]
    return msgspec.structs.replace(job, seeds=seeds, discovery=DiscoverySection(), budget=BudgetSection())


class _FoundSites:
    """The files of the folder that grow while the search runs."""

    def __init__(self, job: Job, folder: JobFolder, found: Callable[[SiteVerdict], None]) -> None:
        self._job = job
        self._folder = folder
        self._found = found
        self._walk: Walk | None = None
        self._clock: Clock | None = None
        self._told = self._written = 0
        self._at = 0.0

    def begin(self, walk: Walk, clock: Clock) -> None:
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
        verdicts = ranked(walk.verdicts)
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
