"""Run a job: crawl its sites, mine each of them while it grows, mine or export again, or only look ahead.

`crawl` and `mine` resume what an earlier run left in the same folder. `preview` writes nothing: it is `--dry-run`.
"""

import asyncio
import hashlib
import logging
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from math import ceil
from pathlib import Path
from typing import Any

import msgspec

from bitrawl import config
from bitrawl.config import Job
from bitrawl.corpus import FORMATS, Anonymise, CorpusFolder, CorpusHeader
from bitrawl.crawling import Crawl, Preview
from bitrawl.discover.backlinks import Backlinks
from bitrawl.endings import (
    CrawlEnd,
    Doing,
    Ending,
    FailedSeed,
    Failing,
    HostRest,
    MiningStep,
    ParkReason,
    crawl_end,
    ending,
    seed_skips,
)
from bitrawl.errors import BitrawlError, ConfigError, TopicError
from bitrawl.job import fetching
from bitrawl.job.crawl_wiring import WiredCrawl
from bitrawl.job.crawl_wiring import crawl as new_crawl
from bitrawl.job.exporting import write_corpus
from bitrawl.job.opened import StartOver
from bitrawl.job.refreshing import begin_round, check_refresh, note_findings
from bitrawl.job.retrying import note_settings, refused_links
from bitrawl.job.site_mining import USUAL, MiningPlan, SiteMiner, Watch, together
from bitrawl.job.topics import read_examples, topic_judge
from bitrawl.job.workers import Workers, pairing
from bitrawl.languages import asked_language
from bitrawl.model import Language, Page, SiteKnowledge, Skip, Visit
from bitrawl.model_files import models_digest, models_from
from bitrawl.protocols import Clock
from bitrawl.reasons import HARMLESS, TRANSIENT, Reason
from bitrawl.store.folder import JobFolder, not_mined
from bitrawl.store.folder_kinds import FolderKind, kind_of
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_facts import queued_links, relevant_pages
from bitrawl.store.own_files import corpus_files, is_part_of_job
from bitrawl.store.stored_findings import Findings, made_from
from bitrawl.strategies import Strategy
from bitrawl.text.personal_data import check_libraries
from bitrawl.topic.judge import TopicJudge
from bitrawl.url import Url
from bitrawl.version import __version__

LONG_REST = 5.0  # seconds: shorter ones are the usual delay between two visits
COUNT_EVERY = 10.0  # seconds of a budget of minutes that a kill may cost
REST = 5  # times as long as writing the corpus took it is not written again: writing takes a sixth of the time at most
SHORTEST_REST = 10.0  # seconds
MOST_WORKERS = 2  # a child that mines holds a third of a gigabyte
# Each holds its pairs and the words that it has learned: with all 2,000 sites of a job at once, a process had 1.6 GB (2026-11-18).
SITES_AT_ONCE = 4
WHAT_TO_ADD = "Name a page with a few paragraphs about it with --like, or texts about it with --texts"

Observe = Callable[[Visit], None]
Started = Callable[[WiredCrawl], None]
"""Is handed a crawl before it begins: to stop it by, or to watch it."""

_log = logging.getLogger(__name__)


async def crawl(
    job: Job,
    folder: JobFolder,
    *,
    observe: Observe = lambda _visit: None,
    started: Started = lambda _parts: None,
    fresh: StartOver = StartOver.NO,
    refresh: bool = False,
) -> Ending:
    """Visit what the job asks for; the same job in the same folder resumes.

    `fresh` removes what the folder held; that, and job.toml, happen when all is ready to begin. `refresh` begins a new
    round of a job that is finished.
    """
    async with opened(job, folder, observe, verb="crawl", fresh=fresh, refresh=refresh) as wired:
        started(wired)
        ending = await finished(wired, job.seed_urls())
        wired.ledger.rounds.end()
        return ending


async def mine(  # noqa: PLR0913 - who watches it
    job: Job,
    folder: JobFolder,
    *,
    observe: Observe = lambda _visit: None,
    started: Started = lambda _parts: None,
    watch: Watch = lambda _doing: None,
    fresh: StartOver = StartOver.NO,
    refresh: bool = False,
    plan: MiningPlan = USUAL,
) -> Ending:
    """Crawl, and mine each site while it grows: what is found so far is in corpus/ at any time; as `crawl`."""
    check(job)
    with models_from(job.models):
        async with (
            _workers(job, folder) as workers,
            opened(job, folder, observe, verb="mine", fresh=fresh, refresh=refresh) as wired,
        ):
            mining = _Mining(job, folder, wired.ledger, workers, wired.crawl.clock, plan=plan, watch=watch)
            wired.crawl.observers.append(mining.growth_observer(wired.crawl.scope.sites.of))
            meanwhile = asyncio.ensure_future(mining.mine_due())
            started(wired)
            try:
                ending = await finished(wired, job.seed_urls(), job.languages())
                mining.due.put_nowait("")  # The end: what is being mined is kept.
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
        async with _workers(job, folder) as workers:
            config.write(job, folder.description)
            ledger.remember("verb", "align" if known_pairs else "pair")
            plan = MiningPlan(known_pairs=known_pairs, learns_anew=True)
            mining = _Mining(job, folder, ledger, workers, fetching.SystemClock(), plan=plan, watch=watch)
            await mining.mine_all(again=True)


def export(folder: JobFolder, settings: Mapping[str, Any], *, only: bool = False) -> None:
    """Write the corpus of what was mined, with other settings, which are the job's then.

    Formats that the corpus has already are written again too, so that none is lost or stale; with `only` they are removed.
    What the job is asked for is read by the holder of the lock: somebody may just have changed it.
    """
    with folder.writing() as ledger:
        job = _with_present(folder.changed(settings), folder.corpus, only=only)
        check(job)
        CorpusFolder(folder.corpus).check_card()
        _check_mined(folder, ledger)
        config.write(job, folder.description)  # The report reads it.
        with models_from(job.models):
            write_corpus(job, folder.path)


def export_copy(job: Job, folder: JobFolder, to: Path, *, only: bool = False) -> None:
    """Write the corpus as it is now into another folder, with the thresholds of this job; the job may be running.

    Formats that the other folder has already are kept and written again, as `export` does.
    """
    if kind_of(to) not in (FolderKind.COPY, FolderKind.OTHER) or to.is_file():
        raise ConfigError(f"{to} {'is a file' if to.is_file() else f'holds a {kind_of(to)}'}; choose another --to")
    job = _with_present(job, to, only=only)
    check(job)
    if is_part_of_job(to):
        raise ConfigError(f"{to} is a part of a job; choose another --to")
    corpus_files(job.languages()).check_new(to, "--to")
    with folder.reading() as ledger:
        _check_mined(folder, ledger)
    write_corpus(job, folder.path, to)


def _with_present(job: Job, corpus: Path, *, only: bool) -> Job:
    """With the formats that a corpus folder has, so that none is lost or outdated."""
    formats = CorpusFolder(corpus).formats(CorpusHeader.of(job.languages()), job.export.formats, only=only)
    return msgspec.structs.replace(job, export=msgspec.structs.replace(job.export, formats=formats))


async def preview(job: Job) -> list[Preview]:
    """What a job would meet: one for each host of the seeds, in their order."""
    async with AsyncExitStack() as stack:
        stack.enter_context(models_from(job.models))
        archives = fetching.archives(job, stack)
        previewer = await fetching.previewer(job, archives, stack)
        return await previewer.preview(fetching.seeds_of(job, archives))


def check(job: Job) -> None:
    """Raise `ConfigError` for what would only show when a site is paired or the corpus written."""
    pairing(job)
    if job.export.anonymise is not Anonymise.OFF:
        check_libraries()
    FORMATS.check(job.export.formats, len(job.languages()), "leave the format out (bitrawl export --only)")


def _check_mined(folder: JobFolder, ledger: Ledger) -> None:
    if not Findings(ledger).begun():
        raise not_mined(folder.path, ledger)


@asynccontextmanager
async def opened(  # noqa: PLR0913 - how to begin
    job: Job,
    folder: JobFolder,
    observe: Observe,
    *,
    verb: str,
    fresh: StartOver = StartOver.NO,
    refresh: bool = False,
    backlinks: Backlinks | None = None,
) -> AsyncIterator[WiredCrawl]:
    """A crawl that has not begun, with what earlier runs left of it; the folder's job is this one from now on.

    The verb is the command that resumes it.
    """
    if refresh:
        check_refresh(job)
    async with AsyncExitStack() as stack:
        stack.enter_context(models_from(job.models))
        archives = fetching.archives(job, stack)  # One that cannot be read costs neither a new folder nor an old job.
        judge = topic_judge(job, await read_examples(job)) if job.topic.is_set else None
        if fresh:
            folder.start_over(delete_archive=fresh is StartOver.DELETE_ARCHIVE)
        if refresh:
            begin_round(job, folder, fetching.SystemClock())
        wired = await new_crawl(job, folder.path, archives, stack, judge, backlinks)
        wired.crawl.observers.append(observe)
        folder.discard_drafts()
        config.write(job, folder.description)
        if job.strategy == Strategy.PERPLEXITY:
            wired.crawl.observers.append(_tuning_observer(wired, folder))
        if judge is not None and job.topic.is_only_like:
            wired.crawl.observers.append(_examples_observer(wired.crawl, judge, job.topic.like))
        wired.ledger.remember("verb", verb)
        for word in ("ended", "mining", "resting"):
            wired.ledger.remember(word, "")
        if wired.learns:
            wired.crawl.recall(wired.ledger.visits(), wired.queue.links())
        wired.crawl.reconsider(refused_links(wired.queue, wired.doubtful))
        note_settings(job, wired.ledger)
        if wired.walk is not None:
            wired.crawl.frontier.spending.job.downloads = wired.walk.downloads
        wired.crawl.frontier.wake(wired.queue.hosts())
        yield wired


def _examples_observer(crawl: Crawl, judge: TopicJudge, like: Sequence[str]) -> Observe:
    """Ends the crawl when all pages that the topic is like were visited, and none of them says what the topic is."""
    waiting = {Url.parse(raw) for raw in like}
    skipped: dict[Url, str] = {}

    def observe(visit: Visit) -> None:
        link, outcome = visit.lease.link, visit.outcome
        if link.url not in waiting or judge.learned:
            return
        if isinstance(outcome, Skip):
            if outcome.reason in TRANSIENT and visit.lease.attempt < crawl.settings.attempts:
                return
            skipped[link.url] = f"it could not be read ({outcome.detail or outcome.reason})"
        waiting.discard(link.url)
        if isinstance(outcome, Skip) and outcome.target is not None:
            waiting.add(outcome.target)
            del skipped[link.url]
        if not waiting:
            why = "; ".join(f"{url}: {reason}" for url, reason in (skipped | judge.lacking).items())
            crawl.fail(TopicError(f"nothing says what the topic is. {why}. {WHAT_TO_ADD}"))

    return observe


def _tuning_observer(wired: WiredCrawl, folder: JobFolder) -> Observe:
    """Looks at the job file after each visit: its buckets may be moved while the crawl runs (`bitrawl tune`).

    A file that is missing or wrong, as it may be while somebody edits it, changes nothing.
    """

    def changed_at() -> int | None:
        try:
            return folder.description.stat().st_mtime_ns
        except OSError:
            return None

    last_change = changed_at()

    def observe(_visit: Visit) -> None:
        nonlocal last_change
        if (change := changed_at()) == last_change:
            return
        last_change = change
        try:
            wired.crawl.frontier.compare(wired.steps(folder.job().topic.buckets))
        except BitrawlError as error:
            _log.warning("the buckets stay as they are: %s", error)

    return observe


async def finished(wired: WiredCrawl, seeds: Sequence[Url] = (), wanted: Sequence[Language] = ()) -> Ending:
    """Run it to its end, and write down how it ended and, now and then, how long all runs took: a kill leaves that.

    `seeds` that failed are named if others did not, `wanted` are the languages that something is mined in.
    """
    crawl, ledger = wired.crawl, wired.ledger
    earlier, began = float(ledger.recall("seconds") or 0), crawl.clock.now()
    counted = began

    def count() -> None:
        nonlocal counted
        counted = crawl.clock.now()
        ledger.remember("seconds", earlier + counted - began)

    def observe(_visit: Visit) -> None:
        if crawl.clock.now() - counted >= COUNT_EVERY:
            count()

    crawl.observers += [observe, rest_observer(crawl, ledger)]
    try:
        await crawl.run()
    finally:
        count()
    end = _end(wired, seeds, wanted)
    ledger.remember("ended", end)
    return ending(end)


def rest_observer(crawl: Crawl, ledger: Ledger) -> Observe:
    """Writes down which host is waited for, if that takes long."""
    is_noted = False

    def observe(_visit: Visit) -> None:
        nonlocal is_noted
        pause = crawl.frontier.pause()
        is_long = pause is not None and pause[1] >= LONG_REST
        if pause is not None and is_long:
            ledger.remember("resting", HostRest(pause[0], crawl.clock.date() + pause[1]))
        elif is_noted:
            ledger.remember("resting", None)
        is_noted = is_long

    return observe


def _end(wired: WiredCrawl, seeds: Sequence[Url], wanted: Sequence[Language]) -> CrawlEnd:
    crawl, ledger, parked = wired.crawl, wired.ledger, wired.crawl.frontier.parked()
    pages = (
        sum(site.pages for site in ledger.sites()) if ledger.rounds.number > 1 else crawl.frontier.spending.job.pages
    )
    end = crawl_end(
        stopped=crawl.stopped,
        budget=crawl.frontier.budget_reached(),
        queued=len(wired.queue),
        left=crawl.frontier.left,
        parked=parked,
        pages=pages,
        relevant=relevant_pages(ledger),
        seeds=() if pages else seed_skips(crawl.seeds, ledger.skip_of),
    )
    if not pages or crawl.stopped:
        return end
    failed = tuple(_failed_seeds(seeds, ledger, parked))
    return msgspec.structs.replace(end, failed=failed, languages=tuple(_missing(ledger, wanted)))


def _missing(ledger: Ledger, wanted: Sequence[Language]) -> Sequence[Language]:
    """The languages that no page is in, if too few are left to mine."""
    counts = [site.languages for site in ledger.sites()]
    found = {asked_language(Language(code), wanted) for count in counts for code, pages in count.items() if pages}
    missing = [language for language in wanted if language not in found]
    return missing if len(wanted) - len(missing) < min(len(wanted), 2) else ()


def _failed_seeds(seeds: Sequence[Url], ledger: Ledger, parked: Mapping[str, ParkReason]) -> Iterator[FailedSeed]:
    """Those that brought no page, though others did: each with its reason."""
    for found in seed_skips(seeds, ledger.skip_of):
        if found.skip.reason not in HARMLESS:
            yield FailedSeed(str(found.seed), found.skip.reason, found.skip.detail)
    for seed in seeds:
        why = parked.get(seed.host)
        if isinstance(why, Failing) and not ledger.digest(seed) and ledger.skip_of(seed) is None:
            yield FailedSeed(str(seed), why.reason, why.detail)


@asynccontextmanager
async def _workers(job: Job, folder: JobFolder) -> AsyncIterator[Workers]:
    """Raises `ConfigError` if the job's encoder cannot be loaded."""
    count = job.mining.workers or min(os.cpu_count() or 1, MOST_WORKERS)
    async with Workers(job, folder.path, workers=count) as workers:
        if job.encoder:
            await workers.load_models()
        if job.warc:  # An archive is soon read; a crawl need not hold the memory of a miner before a site is due.
            workers.get_ready(1)
        yield workers


class _Mining:
    """Has sites mined by the workers, and keeps what they find."""

    def __init__(  # noqa: PLR0913 - collaborators
        self,
        job: Job,
        folder: JobFolder,
        ledger: Ledger,
        workers: Workers,
        clock: Clock,
        *,
        plan: MiningPlan = USUAL,
        watch: Watch = lambda _doing: None,
    ) -> None:
        self.due: asyncio.Queue[str] = asyncio.Queue()  # sites that have grown enough to be mined; "" ends it
        self._waiting: set[str] = set()  # the same, and the one that is being mined
        self._tried: dict[str, int] = {}  # how many pages a site had when its pairing failed, or was put off
        self._job, self._folder = job, folder
        self._ledger = ledger
        self._findings = Findings(ledger)
        self._settings = _fingerprint(job)
        self._miner = SiteMiner(
            ledger,
            workers,
            clock,
            settings=self._settings,
            rejected=folder.path / "rejected",
            watch=self._tell,
            plan=plan,
        )
        self._workers = workers
        self._clock = clock
        self._plan = plan
        self._watch = watch
        self._unwritten = False
        self._rest_until = 0.0

    def growth_observer(self, site_of: Callable[[str], str]) -> Observe:
        """Looks after each page whether its site is due."""
        earliest = self._clock.now() + self._plan.soon

        def observe(visit: Visit) -> None:
            if not isinstance(visit.outcome, Page) or self._clock.now() < earliest:
                return
            host = visit.outcome.url.host
            site = site_of(host)
            if site not in self._waiting and self.is_due(site, host):
                self._waiting.add(site)
                self.due.put_nowait(site)

        return observe

    def is_due(self, site: str, host: str) -> bool:
        """Whether the site has grown enough since it was mined last, and its host has as much before it again."""
        earlier = self._findings.mined(site)
        before = max(earlier.pages if earlier else 0, self._tried.get(site, 0))
        pages = self._ledger.knowledge(site).pages
        if pages < max(self._plan.first, self._plan.growth * before):
            return False
        ahead = ceil((self._plan.growth - 1) * pages)
        if queued_links(self._ledger, ahead, host) < ahead:
            self._tried[site] = pages  # It is mined when it has been visited, or when it turns out to be much larger.
            return False
        return True

    async def mine_due(self) -> None:
        """One site after the other, until an empty name comes; the corpus is written now and then."""
        while site := await self.due.get():
            await self._mine(site)
            self._waiting.discard(site)  # Only now: what has come meanwhile may be most of the site.
            if self._unwritten and self._clock.now() >= self._rest_until:
                await self._write()
            if self.due.empty():
                self._tell(None)  # until the next site is due, nothing is mined

    async def mine_all(self, *, again: bool = False) -> None:
        """What has not been mined as it is now and with these settings, several sites at a time; then the corpus."""
        sites = [site.site for site in self._ledger.sites() if again or self._is_stale(site)]
        # Until the corpus is written, and the round noted: whatever ends this before leaves an interrupted job.
        self._ledger.remember("mining", Doing(MiningStep.PAIRING, what="sites", total=len(sites)))
        places = asyncio.Semaphore(SITES_AT_ONCE)

        async def mine(site: str) -> None:
            async with places:
                await self._mine(site)

        await together(map(mine, sites))
        await self._write()
        if self._ledger.rounds.number > 1:
            note_findings(self._job, self._folder, self._ledger)
            self._ledger.rounds.end()
        self._tell(None)

    def _is_stale(self, site: SiteKnowledge) -> bool:
        earlier = self._findings.mined(site.site)
        if earlier is None:
            return site.pages > 0
        return earlier.made_from != made_from(self._settings, self._ledger.extent(site.site))

    async def _mine(self, site: str) -> None:
        earlier = self._findings.mined(site)
        if self._plan.known_pairs and earlier is None:
            return  # It has no pairs to align again.
        findings, alignments, faults = await self._miner.mine(site)
        if findings is None:
            self._tried[site] = self._ledger.knowledge(site).pages
            self._findings.failed(site, faults)
            return
        killed = any(fault.reason is Reason.KILLED for fault in faults)
        if (
            self._plan.known_pairs and earlier and not killed
        ):  # Its pairs were made of those pages, with those settings.
            findings = msgspec.structs.replace(findings, pages=earlier.pages, made_from=earlier.made_from)
        self._findings.replace(findings, alignments, faults)
        self._unwritten = True

    async def _write(self) -> None:
        self._tell(Doing(MiningStep.WRITING))
        began = self._clock.now()
        await self._workers.write_corpus()
        now = self._clock.now()
        self._rest_until = now + max(SHORTEST_REST, REST * (now - began))
        self._unwritten = False

    def _tell(self, doing: Doing | None) -> None:
        self._ledger.remember("mining", doing)
        self._watch(doing)


def _fingerprint(job: Job) -> str:
    """Of all that pairs and alignment depend on, but for the pages."""
    words = Path(job.pair.dictionary).read_bytes() if job.pair.dictionary and len(job.languages()) > 1 else b""
    settings = msgspec.json.encode((__version__, job.languages(), job.encoder, job.pair, job.align))
    return hashlib.blake2b(settings + words + models_digest(job.models), digest_size=16).hexdigest()
