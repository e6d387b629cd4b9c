"""A crawl with its frontier, scope and ledger, and a look ahead."""

import os
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import NamedTuple

from bitrawl.assemble.discovery import host_languages, new_site_check, walk
from bitrawl.assemble.fetching import MEGABYTE, SystemClock, fetch_settings, loose_analyser, most_waiting, seeds_of
from bitrawl.assemble.fetching import web as open_web
from bitrawl.assemble.models import check_models
from bitrawl.assemble.strategies import STATELESS, Topic, scorer
from bitrawl.config import FOCUSED, Job, Reach, Strategy
from bitrawl.crawl.fetch import HttpFetcher, user_agent
from bitrawl.crawl.frontier import Budget, Frontier, Politeness, Spent
from bitrawl.crawl.loop import UNWANTED, Crawl, LoopSettings
from bitrawl.crawl.preview import Previewer
from bitrawl.crawl.robots import InMemoryRobots, RobotsFetcher
from bitrawl.crawl.scope import Scope, ScopeRules, Sites
from bitrawl.discover.walk import DiscoveryWalk as SiteWalk
from bitrawl.errors import ConfigError
from bitrawl.model import Link, LinkKind, Reason, Visit
from bitrawl.page.analyser import page_reader
from bitrawl.page.sandbox import Rejects, SandboxedAnalyser
from bitrawl.protocols import (
    BacklinkSource,
    Fetcher,
)
from bitrawl.store.ledger import Ledger
from bitrawl.store.queue import LedgerQueue
from bitrawl.store.replay import Archives, ReplayFetcher
from bitrawl.store.robots import LedgerRobots
from bitrawl.strategies.arrival import GuardedScorer
from bitrawl.strategies.papers.perplexity import score_of as perplexity_score
from bitrawl.topic.judge import TopicJudge
from bitrawl.topic.term_list import read_terms

MAX_WORKERS = 4  # a polite crawl never needs more


MAX_HOSTS = 1000  # of one site in a search for sites, where each host may be a site of its own; judgement


class Parts(NamedTuple):
    """A job's crawl, ready to run, and where it writes."""

    crawl: Crawl
    ledger: Ledger
    queue: LedgerQueue
    learns: bool  # whether the strategy must be told the visits of earlier runs
    walk: SiteWalk | None = None  # in a search for bilingual sites


async def crawl(  # noqa: PLR0913, PLR0917 - collaborators
    job: Job,
    folder: Path,
    archives: Archives | None,
    stack: AsyncExitStack,
    observe: Callable[[Visit], None],
    judge: TopicJudge | None = None,
    backlinks: BacklinkSource | None = None,
) -> Parts:
    """Everything that a crawl of the web, or of archives, needs. What must be closed is put on the stack.

    `judge` is what `topic_judge` made, in a job with a topic. `backlinks` are for a search for sites.
    """
    clock, sites = SystemClock(), Sites(job.scope.one_site)
    ledger = Ledger(folder / "job.sqlite", site_of=sites.of)
    stack.callback(ledger.close)
    queue = LedgerQueue(ledger, sites.of)
    seeds = seeds_of(job, archives)
    web = await open_web(job, folder, ledger, archives, stack, clock)
    pause = 0.0 if archives is not None else job.politeness.delay
    robots = RobotsFetcher(web, LedgerRobots(ledger), clock, pause=pause, reservations=job.politeness.opt_outs)
    topic = Topic(judge.model, job.topic, sites.of, judge.terms) if judge is not None else None
    site_walk = None
    if job.discovery.walk is not None:
        counted = host_languages(job)
        check = new_site_check(job.languages(), robots.sitemaps, counted)
        site_walk = walk(job.discovery.walk, job.languages(), backlinks, check, counted)
    whole, strategy_asked = bool(job.warc), site_walk or scorer(job, topic)
    orders = not whole and not isinstance(strategy_asked, STATELESS)
    made = Crawl(
        _frontier(job, ledger, queue, sites, robots, clock, orders=orders),
        fetcher=web if whole else robots,
        analyser=await stack.enter_async_context(_analyser(job, folder)),
        # A walk that fails must not become a crawl of everything: its fault costs the visit.
        scorer=site_walk or GuardedScorer(strategy_asked, ledger.record_fault),
        ledger=ledger,
        scope=Scope(sites, seeds, scope_rules(job)),
        clock=clock,
        settings=LoopSettings(
            parallel=job.politeness.parallel,
            waiting=most_waiting(job.politeness.parallel) if archives is None else 0,  # an archive answers at once
            attempts=job.politeness.attempts,
            follow=not whole,
            sitemaps=job.scope.sitemaps and site_walk is None,  # The check of a site asks for what it needs.
            probe=job.scope.probe and archives is None and site_walk is None,
            opt_outs=job.politeness.opt_outs,
            exhaustive=job.exhaustive and site_walk is None,  # A search visits only what it looks for.
            leave=not job.exhaustive,
            site_hosts=job.budget.site_hosts if site_walk is None else MAX_HOSTS,
        ),
        sitemaps_of=robots.sitemaps,
        observe=observe,
    )
    if judge is not None:
        made.judge, made.redirected = judge, judge.redirected
    for host in ledger.hosts_asked():
        made.hosts.ask(host)
    made.remember(ledger.sightings())
    queue.try_again(Reason.KILLED)
    if made.settings.exhaustive:
        queue.take_back(Reason.STRATEGY, UNWANTED)
    made.seed([Link(url, LinkKind.ARCHIVE if whole else LinkKind.SEED) for url in seeds])
    learns = judge is not None or not isinstance(strategy_asked, STATELESS)
    return Parts(made, ledger, queue, learns, site_walk)


async def previewer(job: Job, archives: Archives | None, stack: AsyncExitStack) -> Previewer:
    """Asks the seeds' hosts a few questions, or the archives that replace them. It stores nothing."""
    clock = SystemClock()
    web: Fetcher
    if archives is not None:
        web = ReplayFetcher(archives)
    else:
        web = await stack.enter_async_context(HttpFetcher(fetch_settings(job), clock))
    pause = 0.0 if archives is not None else job.politeness.delay
    return Previewer(
        RobotsFetcher(web, InMemoryRobots(), clock, pause=pause, reservations=job.politeness.opt_outs),
        await stack.enter_async_context(loose_analyser(job.languages())),
        Scope(Sites(job.scope.one_site), seeds_of(job, archives), scope_rules(job)),
        clock,
        Politeness(delay=pause),
        job.politeness.opt_outs,
    )


def check(job: Job) -> None:
    """Raise `ConfigError` for mistakes that only show when the objects are built, before anything is written."""
    user_agent(fetch_settings(job).contact)
    Scope(Sites(job.scope.one_site), job.seed_urls(), scope_rules(job))
    check_models(job.models)
    if job.url_language_model or job.url_pair_model:
        scorer(job)
    for name in job.topic.files():
        if not os.path.exists(name):  # noqa: PTH110 - also for a name that no file can have
            raise ConfigError(f"there is no file or folder {name}")
    if job.topic.terms:
        read_terms(Path(job.topic.terms), job.languages())


def scope_rules(job: Job) -> ScopeRules:
    scope = job.scope
    return ScopeRules(
        include=scope.include,
        exclude=scope.exclude,
        depth=scope.depth,
        same_host=scope.same_host,
        under=scope.under,
        whole_web=scope.reach is Reach.WEB or job.discovery.is_set,
    )


def _analyser(job: Job, folder: Path) -> SandboxedAnalyser:
    return SandboxedAnalyser(
        partial(page_reader, tuple(job.languages())),
        workers=job.analysis.workers or min(os.cpu_count() or 1, MAX_WORKERS),
        seconds=job.analysis.seconds,
        megabytes=job.analysis.megabytes,
        rejects=Rejects(folder / "rejected"),
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
    budget, manners, live = job.budget, job.politeness, not (job.replay or job.warc)
    spent_on = {known.site: Spent(known.pages, known.bytes) for known in ledger.sites()}
    spent = Spent(
        pages=sum(each.pages for each in spent_on.values()),
        bytes=sum(each.bytes for each in spent_on.values()),
        seconds=float(ledger.recall("seconds") or 0),
    )
    return Frontier(
        queue,
        clock,
        sites.of,
        Politeness(
            delay=manners.delay if live else 0.0,
            # An archive minds no number of connections; a strategy that orders wants to have read what came before.
            connections=manners.per_host if live else 1 if orders else manners.parallel,
            attempts=manners.attempts,
            backoff=manners.backoff,
        ),
        floor=robots.delay if live else lambda _host: 0.0,
        budget=Budget(budget.pages, _bytes(budget.megabytes), budget.minutes, job.discovery.downloads),
        site_budget=Budget(budget.site_pages, _bytes(budget.site_megabytes), budget.site_minutes),
        spent=spent,
        spent_on=spent_on,
        left={} if job.exhaustive else {known.site: known.left for known in ledger.sites() if known.left},
        ranked=job.discovery.is_set or (job.topic.is_set and job.strategy in (*FOCUSED, Strategy.ADAPTIVE)),
        steps=bucket_scores(job),
        orders=orders,
    )


def bucket_scores(job: Job) -> tuple[float, ...]:
    """Scores that are worth waiting for: the boundaries of the strategy perplexity, Remus, section 3.3."""
    return tuple(map(perplexity_score, job.topic.buckets)) if job.strategy == Strategy.PERPLEXITY else ()


def _bytes(megabytes: float | None) -> int | None:
    return None if megabytes is None else int(megabytes * MEGABYTE)
