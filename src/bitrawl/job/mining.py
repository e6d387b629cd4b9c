"""Mine the sites of a job: each while it grows, and what is left at the end."""

import asyncio
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from bitrawl import config
from bitrawl.config import Job
from bitrawl.config.choices import check_formats
from bitrawl.corpus.export import corpus_headers, with_present
from bitrawl.crawl.ending import Ending
from bitrawl.facts import Doing, Step
from bitrawl.job.crawl_wiring import Parts
from bitrawl.job.crawling import Started, finished, opened
from bitrawl.job.export import write_corpus
from bitrawl.job.fetching import SystemClock
from bitrawl.job.findings import Findings, made_from
from bitrawl.job.folder import JobFolder, not_mined
from bitrawl.job.ledger import Ledger
from bitrawl.job.site_mining import MiningWorkers, SiteMiner, Watch, pairing
from bitrawl.model import Page, Reason, SiteKnowledge, Visit
from bitrawl.model_files import models_digest, models_from
from bitrawl.protocols import Clock
from bitrawl.version import __version__

FIRST = 8  # pages of a site before it is mined for the first time; judgement
GROWTH = 4.5  # of a site since it was mined last: all rounds together cost at most 1.3 times the last one
REST = 5  # times as long as writing the corpus took it is not written again: writing takes a sixth of the time at most
SHORTEST_REST = 10.0  # seconds; judgement
MOST_WORKERS = 2  # a child that mines holds a third of a gigabyte


async def mine(
    job: Job,
    folder: JobFolder,
    *,
    observe: Callable[[Visit], None] = lambda _visit: None,
    started: Started = lambda _parts: None,
    watch: Watch = lambda _doing: None,
    fresh: bool = False,
) -> Ending:
    """Crawl, and mine each site while it grows: what is found so far is in corpus/ at any time; as `crawling.crawl`."""
    check(job)
    with models_from(job.models):
        async with MiningWorkers(job, folder.path, workers=_workers(job)) as workers:
            if job.encoder:
                await workers.load_models()
            growth = _Growth()
            async with opened(job, folder, growth.observing(observe), verb="mine", fresh=fresh) as parts:
                mining = _Mining(job, folder, parts.ledger, workers, parts.crawl.clock, watch=watch)
                growth.begin(parts, mining)
                meanwhile = asyncio.ensure_future(mining.mine_due(growth.due))
                started(parts)
                try:
                    ending = await finished(parts)
                    growth.due.put_nowait("")  # The end: what is being mined is kept.
                    await meanwhile
                    await mining.mine_all()
                finally:
                    meanwhile.cancel()
                    await asyncio.gather(meanwhile, return_exceptions=True)
                return ending


async def mine_again(
    job: Job, folder: JobFolder, *, known_pairs: bool = False, watch: Watch = lambda _doing: None
) -> None:
    """Pair, align and export what a job has, with other settings, without fetching; or only align and export.

    The folder's job is this one from the moment when all is ready to begin.
    """
    check(job)
    with models_from(job.models), folder.writing() as ledger:
        if known_pairs:
            _check_mined(folder, ledger)
        async with MiningWorkers(job, folder.path, workers=_workers(job)) as workers:
            if job.encoder:
                await workers.load_models()
            config.write(job, folder.description)
            ledger.remember("verb", "align" if known_pairs else "pair")
            mining = _Mining(job, folder, ledger, workers, SystemClock(), known_pairs=known_pairs, watch=watch)
            await mining.mine_all(again=True)


def export(job: Job, folder: JobFolder, *, only: bool = False) -> None:
    """Write the corpus of what was mined, with the thresholds of this job, which is the folder's then.

    Formats that the corpus has already are written again too, so that none is lost or stale; with `only` they are removed.
    """
    formats = with_present(folder.corpus, corpus_headers(job.languages(), 0.0), job.export.formats, only=only)
    job = msgspec.structs.replace(job, export=msgspec.structs.replace(job.export, formats=formats))
    check(job)
    with models_from(job.models), folder.writing() as ledger:
        _check_mined(folder, ledger)
        write_corpus(job, folder.path)
        config.write(job, folder.description)


def export_copy(job: Job, folder: JobFolder, to: Path) -> None:
    """Write the corpus as it is now into another folder, with the thresholds of this job; the job may be running."""
    check(job)
    ledger = folder.reading()
    try:
        _check_mined(folder, ledger)
    finally:
        ledger.close()
    write_corpus(job, folder.path, to)


def _workers(job: Job) -> int:
    return job.mining.workers or min(os.cpu_count() or 1, MOST_WORKERS)


def check(job: Job) -> None:
    """Raise `ConfigError` for what would only show when a site is paired or the corpus written."""
    pairing(job)
    check_formats(job.export.formats, len(job.languages()), "leave the format out (bitrawl export --only)")


def _check_mined(folder: JobFolder, ledger: Ledger) -> None:
    if not Findings(ledger).begun():
        raise not_mined(folder.path, ledger)


class _Growth:
    """Which sites have grown enough to be mined, while the crawl goes on."""

    def __init__(self) -> None:
        self.due: asyncio.Queue[str] = asyncio.Queue()  # "" ends it
        self._parts: Parts | None = None
        self._mining: _Mining | None = None

    def begin(self, parts: Parts, mining: "_Mining") -> None:
        """The crawl is about to begin."""
        self._parts, self._mining = parts, mining

    def observing(self, observe: Callable[[Visit], None]) -> Callable[[Visit], None]:
        """The same, and each page is counted."""

        def observed(visit: Visit) -> None:
            if isinstance(visit.outcome, Page):
                self._grew(visit.outcome)
            observe(visit)

        return observed

    def _grew(self, page: Page) -> None:
        if self._parts is None or self._mining is None:
            return
        site = self._parts.crawl.scope.sites.of(page.url.host)
        if self._mining.is_due(site) and site not in self._mining.queued:
            self._mining.queued.add(site)
            self.due.put_nowait(site)


class _Mining:
    """Has sites mined by the workers, and keeps what they find."""

    def __init__(  # noqa: PLR0913 - collaborators
        self,
        job: Job,
        folder: JobFolder,
        ledger: Ledger,
        workers: MiningWorkers,
        clock: Clock,
        *,
        known_pairs: bool = False,
        watch: Watch = lambda _doing: None,
    ) -> None:
        self.queued: set[str] = set()
        self._tried: dict[str, int] = {}  # how many pages a site had when its pairing failed
        self._ledger = ledger
        self._findings = Findings(ledger)
        self._settings = _fingerprint(job)
        self._miner = SiteMiner(
            ledger, workers, clock, settings=self._settings, rejected=folder.path / "rejected", watch=self._tell
        )
        self._workers = workers
        self._clock = clock
        self._known_pairs = known_pairs
        self._watch = watch
        self._unwritten = False
        self._rest_until = 0.0

    def is_due(self, site: str) -> bool:
        """Whether the site has grown enough since it was mined last."""
        mined = self._findings.mined(site)
        earlier = max(mined.pages if mined else 0, self._tried.get(site, 0))
        return self._ledger.knowledge(site).pages >= max(FIRST, GROWTH * earlier)

    async def mine_due(self, due: "asyncio.Queue[str]") -> None:
        """One site after the other, until an empty name comes; the corpus is written now and then."""
        while site := await due.get():
            self.queued.discard(site)
            await self._mine(site)
            if self._unwritten and self._clock.now() >= self._rest_until:
                await self._write()

    async def mine_all(self, *, again: bool = False) -> None:
        """What has not been mined as it is now and with these settings, several sites at a time; then the corpus."""
        sites = [known.site for known in self._ledger.sites() if again or self._is_stale(known)]
        # Until the corpus is written: whatever ends this before leaves a job that is interrupted, and not done.
        self._ledger.remember("mining", Doing(Step.PAIRING, what="sites", total=len(sites)))
        tasks = [asyncio.ensure_future(self._mine(site)) for site in sites]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
        await self._write()

    def _is_stale(self, known: SiteKnowledge) -> bool:
        earlier = self._findings.mined(known.site)
        if earlier is None:
            return known.pages > 0
        return earlier.made_from != made_from(self._settings, self._ledger.extent(known.site))

    async def _mine(self, site: str) -> None:
        earlier = self._findings.mined(site)
        if self._known_pairs and earlier is None:
            return  # It has no pairs to align again.
        mined = await self._miner.mine(site, known_pairs=self._known_pairs)
        found = mined.found
        if found is None:
            self._tried[site] = self._ledger.knowledge(site).pages
            self._findings.failed(site, mined.faults)
            return
        killed = any(fault.reason is Reason.KILLED for fault in mined.faults)
        if self._known_pairs and earlier and not killed:  # The pairs were made of those pages, with those settings.
            found = msgspec.structs.replace(found, pages=earlier.pages, made_from=earlier.made_from)
        self._findings.replace(found, mined.alignments, mined.faults)
        self._unwritten = True

    async def _write(self) -> None:
        self._tell(Doing(Step.WRITING))
        began = self._clock.now()
        await self._workers.write_corpus()
        now = self._clock.now()
        self._rest_until = now + max(SHORTEST_REST, REST * (now - began))
        self._unwritten = False
        self._tell(None)

    def _tell(self, doing: Doing | None) -> None:
        self._ledger.remember("mining", doing)
        self._watch(doing)


def _fingerprint(job: Job) -> str:
    """Of all that pairs and alignment depend on, but for the pages."""
    words = Path(job.pair.dictionary).read_bytes() if job.pair.dictionary and len(job.languages()) > 1 else b""
    settings = msgspec.json.encode((__version__, job.languages(), job.encoder, job.pair, job.align))
    return hashlib.blake2b(settings + words + models_digest(job.models), digest_size=16).hexdigest()
