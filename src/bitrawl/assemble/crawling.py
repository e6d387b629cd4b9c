"""From a job's description to a crawl."""

import asyncio
import os
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from enum import Enum
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

from bitrawl import config
from bitrawl.assemble.strategies import UrlModelNames, strategy
from bitrawl.cleaning import Cleaner, without_template
from bitrawl.config import Job
from bitrawl.crawl.addresses import Endpoint
from bitrawl.crawl.decompress import Expansion, content_codings, expand
from bitrawl.crawl.fetch import PROJECT_PAGE, FetchSettings, HttpFetcher, user_agent
from bitrawl.crawl.frontier import Budget, Frontier, Politeness, Purse
from bitrawl.crawl.loop import Crawl, LoopSettings
from bitrawl.crawl.proxies import Proxies
from bitrawl.crawl.robots import InMemoryRobots, RobotsFetcher
from bitrawl.crawl.scope import Scope, Sites
from bitrawl.crawl.sniff import media_type
from bitrawl.crawl.traps import Traps
from bitrawl.errors import ConfigError, StoreError
from bitrawl.model import Link, LinkKind, Page, Reason, Skip, Visit
from bitrawl.page.sandbox import Rejects, SandboxedAnalyser
from bitrawl.protocols import Fetcher, LinkScorer
from bitrawl.reading import page_reader
from bitrawl.store.archive import ArchivingFetcher, WarcArchive
from bitrawl.store.database import locked
from bitrawl.store.ledger import Ledger
from bitrawl.store.queue import LedgerQueue
from bitrawl.store.replay import Archives, Codec, ReplayFetcher, open_archives
from bitrawl.store.robots import LedgerRobots
from bitrawl.strategies.breadth_first import Unlearning

MEGABYTE = 1_000_000
MAX_WORKERS = 4  # more than that a polite crawl never needs


class Ending(Enum):
    """How a run came to its end."""

    DONE = "done"  # nothing left, or a budget spent
    FAILED = "failed"  # no host has answered
    STOPPED = "stopped"  # by the user, with all in flight finished
    CANCELLED = "cancelled"  # by the user, at once


class SystemClock:
    """The real time."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """As asyncio does."""
        await asyncio.sleep(seconds)


class Opened(NamedTuple):
    """A job's crawl, ready to run, and where it writes."""

    crawl: Crawl
    ledger: Ledger
    queue: LedgerQueue


Started = Callable[[Crawl, Callable[[], int]], None]


async def run(
    job: Job,
    folder: Path,
    observe: Callable[[Visit], None],
    started: Started = lambda *_: None,
    *,
    fresh: bool = False,
) -> Ending:
    """Crawl until nothing is left, a budget is spent or somebody stops it; `started` gets the crawl, to stop it by.

    `fresh` removes what the folder held; that, and job.toml, happen when all is ready to begin.
    """
    async with opened(job, folder, observe, fresh=fresh) as parts:
        started(parts.crawl, lambda: len(parts.queue))
        return await finished(parts)


@asynccontextmanager
async def opened(
    job: Job, folder: Path, observe: Callable[[Visit], None], *, fresh: bool = False
) -> AsyncIterator[Opened]:
    """A crawl that has not begun, with what earlier runs left of it; the folder's job is this one from now on."""
    if fresh:
        start_over(folder)
    async with AsyncExitStack() as stack:
        sites = Sites(job.scope.one_site)
        ledger = Ledger(folder / "job.sqlite", site_of=sites.of)
        stack.callback(ledger.close)
        queue = LedgerQueue(ledger, sites.of)
        crawl = await _crawl(job, folder, ledger, queue, stack, observe)
        config.write(job, folder / "job.toml")
        for word in ("ended", "mining"):
            ledger.remember(word, "")
        if not isinstance(crawl.scorer, Unlearning):
            crawl.recall(ledger.visits(), queue.links())
        crawl.frontier.wake(queue.hosts())
        yield Opened(crawl, ledger, queue)


async def finished(parts: Opened) -> Ending:
    """Run it to its end, and write down how it ended."""
    crawl, ledger, queue = parts
    began = crawl.clock.now()
    try:
        await crawl.run()
    finally:
        ledger.remember("seconds", float(ledger.recall("seconds") or 0) + crawl.clock.now() - began)
    ending, why = _ending(crawl, ledger, queue)
    ledger.remember("ended", why)
    return ending


async def _crawl(
    job: Job, folder: Path, ledger: Ledger, queue: LedgerQueue, stack: AsyncExitStack, observe: Callable[[Visit], None]
) -> Crawl:
    clock = SystemClock()
    sites = Sites(job.scope.one_site)
    archives = _archives(job, stack)
    seeds = job.seed_urls() if archives is None or job.seeds else list(archives.urls())
    web = await _web(job, folder, ledger, archives, stack, clock)
    manners = 0.0 if archives is not None else job.politeness.delay
    robots = RobotsFetcher(web, LedgerRobots(ledger), clock, pause=manners, reservations=job.politeness.opt_outs)
    workers = job.analysis.workers or min(os.cpu_count() or 1, MAX_WORKERS)
    analyser = await stack.enter_async_context(
        SandboxedAnalyser(
            page_reader,
            workers=workers,
            seconds=job.analysis.seconds,
            megabytes=job.analysis.megabytes,
            rejects=Rejects(folder / "rejected"),
        )
    )
    whole = bool(job.warc)
    crawl = Crawl(
        _frontier(job, ledger, queue, sites, robots, clock),
        fetcher=web if whole else robots,
        analyser=analyser,
        scorer=_scorer(job),
        ledger=ledger,
        scope=Scope(sites, seeds, include=job.scope.include, exclude=job.scope.exclude, depth=job.scope.depth),
        clock=clock,
        settings=LoopSettings(
            parallel=job.politeness.parallel,
            attempts=job.politeness.attempts,
            follow=not whole,
            sitemaps=job.scope.sitemaps,
            probe=job.scope.probe and archives is None,
            opt_outs=job.politeness.opt_outs,
            exhaustive=job.exhaustive,
        ),
        traps=_traps(ledger),
        sitemaps_of=robots.sitemaps,
        observe=observe,
    )
    kind = LinkKind.ARCHIVE if whole else LinkKind.SEED
    crawl.seed([Link(url, kind) for url in seeds])
    return crawl


def _scorer(job: Job) -> LinkScorer:
    return strategy(job.strategy, job.languages(), named=UrlModelNames(job.url_language_model, job.url_pair_model))


def check(job: Job) -> None:
    """Raise `ConfigError` for what only shows when the parts are made, before anything is written."""
    settings = _fetch_settings(job)
    user_agent(settings.contact)
    Sites(job.scope.one_site)
    if job.url_language_model or job.url_pair_model:
        _scorer(job)


def start_over(folder: Path) -> None:
    """Remove what jobs have written into that folder, and nothing else; not while one runs there."""
    with locked(folder / "job.sqlite"):
        try:
            for name in ("job.toml", "job.sqlite", "job.sqlite-wal", "job.sqlite-shm", "report.html"):
                (folder / name).unlink(missing_ok=True)
            for part in (folder / "warc", folder / "rejected", folder / "corpus"):
                if part.exists():
                    shutil.rmtree(part)
        except OSError as error:
            raise StoreError(f"{folder} cannot be emptied: {error}") from error


def _archives(job: Job, stack: AsyncExitStack) -> Archives | None:
    names = job.replay or job.warc
    if not names:
        return None
    return stack.enter_context(open_archives([Path(name) for name in names], codec()))


def codec() -> Codec:
    """Archives are understood as the live web is."""
    return Codec(expand=_expanded, sniff=media_type)


def _expanded(payload: bytes, header: str) -> bytes | Reason:
    codings = content_codings(header)
    return Reason.CONTENT_ENCODING if codings is None else expand(payload, codings, Expansion())


async def _web(
    job: Job, folder: Path, ledger: Ledger, archives: Archives | None, stack: AsyncExitStack, clock: SystemClock
) -> Fetcher:
    """The web itself with an archive of what it answered, or an archive in its place."""
    if archives is not None:
        return ReplayFetcher(archives)
    live = await stack.enter_async_context(HttpFetcher(_fetch_settings(job), clock))
    info = {"robots": "classic", "format": "WARC File Format 1.1"}
    archive = stack.enter_context(WarcArchive(folder / "warc", clock=clock, info=info, known=ledger.last_places()))
    return ArchivingFetcher(live, archive)


def _fetch_settings(job: Job) -> FetchSettings:
    fetch = job.fetch
    size = int(fetch.megabytes * MEGABYTE)
    return FetchSettings(
        contact=fetch.contact or PROJECT_PAGE,
        languages=tuple(job.languages()),
        proxies=Proxies.for_all(fetch.proxy) if fetch.proxy else Proxies.of_environment(os.environ),
        connect_to={host: _endpoint(raw) for host, raw in fetch.connect_to.items()},
        allow_private=fetch.allow_private,
        cookies=fetch.cookies,
        connections=job.politeness.parallel,
        connections_per_host=job.politeness.per_host,
        total_time=fetch.timeout,
        max_payload=size,
        expansion=Expansion(size=2 * size),
    )


def _endpoint(raw: str) -> Endpoint:
    address, mark, port = raw.rpartition(":")
    if not mark or not port.isdigit():
        raise ConfigError(f"connect_to {raw!r} is not understood; write it as 127.0.0.1:8000")
    return address.strip("[]"), int(port)


def _frontier(
    job: Job, ledger: Ledger, queue: LedgerQueue, sites: Sites, robots: RobotsFetcher, clock: SystemClock
) -> Frontier:
    budget, manners, live = job.budget, job.politeness, not (job.replay or job.warc)
    purses = {known.site: Purse(known.pages, known.bytes) for known in ledger.sites()}
    spent = Purse(
        pages=sum(purse.pages for purse in purses.values()),
        bytes=sum(purse.bytes for purse in purses.values()),
        seconds=float(ledger.recall("seconds") or 0),
    )
    return Frontier(
        queue,
        clock,
        sites.of,
        Politeness(
            delay=manners.delay if live else 0.0,
            connections=manners.per_host if live else manners.parallel,
            attempts=manners.attempts,
            backoff=manners.backoff,
        ),
        floor=robots.delay if live else lambda _host: 0.0,
        budget=Budget(budget.pages, _bytes(budget.megabytes), budget.minutes),
        site_budget=Budget(budget.site_pages, _bytes(budget.site_megabytes), budget.site_minutes),
        purse=spent,
        purses=purses,
        left={} if job.exhaustive else {known.site: known.left for known in ledger.sites() if known.left},
    )


def _bytes(megabytes: float | None) -> int | None:
    return None if megabytes is None else int(megabytes * MEGABYTE)


def _traps(ledger: Ledger) -> Traps:
    traps = Traps()
    for url, signature in ledger.signatures():
        traps.visited(url, signature)
    return traps


def _ending(crawl: Crawl, ledger: Ledger, queue: LedgerQueue) -> tuple[Ending, str]:
    left = f"; {waiting} links are still queued" if (waiting := len(queue)) else ""
    if crawl.stopped:
        return Ending.STOPPED, f"stopped by the user{left}; the same command resumes"
    if spent := crawl.frontier.spent():
        return Ending.DONE, f"the budget of {spent} is spent{left}"
    if crawl.frontier.left and waiting:
        site, why = next(iter(crawl.frontier.left.items()))
        others = f", and {len(crawl.frontier.left) - 1} other sites" if len(crawl.frontier.left) > 1 else ""
        said = f"{site} left: {why}{others}{left}; --exhaustive goes on"
    elif parked := crawl.frontier.parked():
        host, why = next(iter(parked.items()))
        others = f" and {len(parked) - 1} other hosts" if len(parked) > 1 else ""
        said = f"{host}{others} left: {why}{left}; the same command tries again"
    else:
        said = "done: nothing is left to visit"
    return (Ending.DONE if ledger.answered() else Ending.FAILED), said


async def clean_pages(
    sources: Sequence[str], stdin: BinaryIO, *, allow_private: bool = False
) -> AsyncIterator[tuple[str, Page | Skip]]:
    """Pages from files, folders, URLs and standard input, each with its name."""
    clock = SystemClock()
    settings = FetchSettings(allow_private=allow_private, proxies=Proxies.of_environment(os.environ))
    async with (
        HttpFetcher(settings, clock) as live,
        SandboxedAnalyser(page_reader, workers=1) as analyser,
    ):
        cleaner = Cleaner(analyser, RobotsFetcher(live, InMemoryRobots(), clock))
        for source in sources:
            if (Path(source) / "job.sqlite").exists():
                for page in job_pages(Path(source)):
                    yield page.url, page
                continue
            async for named in cleaner.clean(source, stdin):
                yield named


def job_pages(folder: Path) -> Iterator[Page]:
    """What a job has found, site by site, with each site's template told from its content."""
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    try:
        for site in [known.site for known in ledger.sites()]:
            yield from without_template(partial(ledger.pages, site=site))
    finally:
        ledger.close()
