"""The objects of a job: a crawl with its frontier, scope and ledger, its strategy, and the walk of a search for sites."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import NamedTuple

from bitrawl.archive.archived_web import Archives
from bitrawl.config import Job
from bitrawl.crawling import (
    Crawl,
    Frontier,
    HostRules,
    LoopSettings,
    PageSource,
    RobotsFetcher,
    Sites,
    Spending,
    most_waiting,
    open_rendering,
)
from bitrawl.discover.backlinks import Backlinks
from bitrawl.discover.graph_index import HostLanguages
from bitrawl.discover.site_check import new_site_check
from bitrawl.discover.walk import AskingFetcher, new_walk
from bitrawl.discover.walk import DiscoveryWalk as SiteWalk
from bitrawl.file_names import LEDGER
from bitrawl.job.described import scope, strategy_inputs
from bitrawl.job.fetching import (
    LedgerRobots,
    SystemClock,
    fetch_settings,
    job_analyser,
    seeds_of,
)
from bitrawl.job.fetching import web as open_web
from bitrawl.job.retrying import FETCHED_AGAIN, JUDGED_AGAIN, added_seeds, changed_settings, reasons_of, retry_seeds
from bitrawl.model import DocumentType, Link, LinkKind
from bitrawl.protocols import UNWANTED, Fetcher, Topic
from bitrawl.reasons import Reason
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_queue import LedgerQueue
from bitrawl.strategies import FOCUSED, BreadthFirst, GuardedScorer, Strategy, strategy
from bitrawl.topic.judge import TopicJudge

MANY = (
    200  # pages of an archive for which one more reader is started at once: reading eighty takes as long as its start
)
MAX_HOSTS = 1000  # of one site in a search for sites, where each host may be a site of its own


class WiredCrawl(NamedTuple):
    """A job's crawl, ready to run, and where it writes."""

    crawl: Crawl
    ledger: Ledger
    queue: LedgerQueue
    learns: bool  # whether the strategy must be told the visits of earlier runs
    walk: SiteWalk | None = None  # in a search for bilingual sites
    steps: Callable[[Sequence[float]], tuple[float, ...]] = lambda _perplexities: ()  # see `LinkScorer`
    doubtful: Sequence[Reason] = ()  # why links were refused that may belong to the job now


async def crawl(
    job: Job,
    folder: Path,
    archives: Archives | None,
    stack: AsyncExitStack,
    judge: TopicJudge | None = None,
    backlinks: Backlinks | None = None,
) -> WiredCrawl:
    """Everything that a crawl of the web, or of archives, needs. What must be closed is put on the stack.

    `judge` is what `topic_judge` made, in a job with a topic. `backlinks` are for a search for sites.
    """
    clock, sites = SystemClock(), Sites(job.scope.one_site)
    ledger = Ledger(folder / LEDGER, site_of=sites.of, keeps_gone=job.scope.keeps_gone)
    stack.callback(ledger.close)
    if not job.scope.keeps_gone:
        ledger.drop_gone()
    queue = LedgerQueue(ledger, sites.of)
    seeds = seeds_of(job, archives)
    analyser = await stack.enter_async_context(job_analyser(job, folder))
    if job.warc:
        analyser.get_ready(1 + len(seeds) // MANY)
        await asyncio.sleep(0)  # They start while the rest is made.
    web = await open_web(job, folder, ledger, archives, stack, clock)
    politeness = job.politeness if archives is None else job.politeness.to_archives
    robots = RobotsFetcher(web.fetcher, clock, politeness, LedgerRobots(ledger))
    topic = Topic(judge.model, sites.of, judge.terms) if judge is not None else None
    site_walk = None
    if job.discovery.walk is not None:
        path = job.discovery.host_languages
        counted = HostLanguages.read(Path(path), job.languages()) if path else None
        check = new_site_check(job.languages(), robots.sitemaps, counted)
        site_walk = new_walk(job.discovery.walk, job.languages(), backlinks, check, counted)
    whole = bool(job.warc)
    # Archives that are taken whole follow no links: no strategy has anything to say, and none is loaded.
    strategy_asked = site_walk or (BreadthFirst() if whole else strategy(job.strategy, strategy_inputs(job, topic)))
    fetcher: Fetcher = web.fetcher if whole else robots
    if site_walk is not None and backlinks is not None:
        fetcher = AskingFetcher(fetcher, backlinks, site_walk)
    orders = not whole and not getattr(strategy_asked, "is_stateless", False)
    drawing = None  # an archive has what a browser drew
    if web.keep is not None:
        fetching, labels = fetch_settings(job), partial(_language_of_labels, job)
        drawing = await open_rendering(
            job.render, fetching, robots, sites, web.keep, clock=clock, stack=stack, labels=labels
        )
    made = Crawl(
        _frontier(job, ledger, queue, sites, robots, clock, orders=orders),
        PageSource(fetcher, analyser, robots.sitemaps, drawing),
        # A walk that fails must not become a crawl of everything: its fault costs the visit.
        scorer=site_walk or GuardedScorer(strategy_asked, ledger.record_fault),
        ledger=ledger,
        scope=scope(job, sites, seeds),
        settings=_loop_settings(job, live=archives is None, searching=site_walk is not None),
        judge=judge,
    )
    steps = getattr(strategy_asked, "steps", lambda _perplexities: ())
    made.frontier.compare(steps(job.topic.buckets))
    for host in ledger.hosts_asked():
        made.hosts.ask(host)
    for host in {*ledger.hosts_asked(), *queue.hosts()}:
        made.scope.add_host(host)
    made.remember(ledger.sightings())
    if made.source.rendering is not None:
        made.source.rendering.remember(ledger.visits())
    changed = changed_settings(job, ledger)
    for reason in (Reason.KILLED, *reasons_of(FETCHED_AGAIN, changed)):
        queue.try_again(reason)
    if made.settings.exhaustive:
        queue.take_back(Reason.STRATEGY, UNWANTED)
    if archives is None:  # an archive answers as before
        retry_seeds(queue, ledger, seeds)
    added = added_seeds(queue, ledger, seeds) if not whole else []
    made.seed([Link(url, LinkKind.ARCHIVE if whole else LinkKind.SEED) for url in seeds], added)
    learns = judge is not None or orders
    return WiredCrawl(made, ledger, queue, learns, site_walk, steps, reasons_of(JUDGED_AGAIN, changed))


def _language_of_labels(job: Job) -> Callable[[str], str]:
    from bitrawl.page import LanguageNames  # noqa: PLC0415 - 20 ms

    return partial(LanguageNames.load().one_of, job.languages())


def _loop_settings(job: Job, *, live: bool, searching: bool) -> LoopSettings:
    """A search visits only what it looks for: the check of a site asks for what it needs.

    A replay makes one visit at a time: then nothing that is slow or busy changes its order.
    """
    parallel = 1 if job.replay else job.politeness.parallel
    return LoopSettings(
        parallel=parallel,
        waiting=most_waiting(parallel) if live else 0,  # an archive answers at once
        attempts=job.politeness.attempts,
        follow=not job.warc,
        sitemaps=job.scope.sitemaps and not searching,
        feeds=DocumentType.FEED in job.scope.types and not searching,
        probe=job.scope.probe and live and not searching,
        opt_outs=job.politeness.opt_outs,
        exhaustive=job.exhaustive and not searching,
        leave=not job.exhaustive,
        site_hosts=MAX_HOSTS if searching else job.budget.site_hosts,
    )


def _frontier(  # noqa: PLR0913 - collaborators
    job: Job,
    ledger: Ledger,
    queue: LedgerQueue,
    sites: Sites,
    robots: RobotsFetcher,
    clock: SystemClock,
    *,
    orders: bool,
) -> Frontier:
    budget, politeness, live = job.budget, job.politeness, not (job.replay or job.warc)
    seconds = float(ledger.recall("seconds") or 0) - ledger.rounds.start.seconds
    steered = job.discovery.is_set or (job.topic.is_set and job.strategy in (*FOCUSED, Strategy.ADAPTIVE))
    made = Frontier(
        queue,
        clock,
        sites.of,
        politeness if live else politeness.to_archives,
        crawl_delay=robots.crawl_delay if live else lambda _host: 0.0,
        spending=Spending.resumed(budget, job.discovery.downloads, _spent(ledger), seconds),
        rules=HostRules(
            ranked=steered or (orders and budget.pages is not None),
            explores=job.discovery.is_set,
            returns=steered,
            orders=orders,
        ),
        has_more=queue.has_more,
    )
    if not job.exhaustive:
        made.left.update((site.site, site.left) for site in ledger.sites() if site.left and site.pages)
    queue.left = made.left
    return made


def _spent(ledger: Ledger) -> Iterable[tuple[str, int, int]]:
    """Pages and bytes of each site. A budget is that of a round."""
    if ledger.rounds.number > 1:
        return ledger.rounds.spent()
    return ((site.site, site.pages, site.bytes) for site in ledger.sites())
