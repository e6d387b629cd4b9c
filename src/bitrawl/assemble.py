"""From a job's description to objects: the only module that names implementations. It wires, and does nothing else."""

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import cache
from pathlib import Path
from typing import NamedTuple

from bitrawl.config import Job, Strategy
from bitrawl.crawl.addresses import Endpoint
from bitrawl.crawl.decompress import Expansion, content_codings, expand
from bitrawl.crawl.fetch import PROJECT_PAGE, FetchSettings, HttpFetcher, user_agent
from bitrawl.crawl.frontier import Budget, Frontier, Politeness, Spent
from bitrawl.crawl.loop import Crawl, LoopSettings
from bitrawl.crawl.preview import Previewer
from bitrawl.crawl.proxies import Proxies
from bitrawl.crawl.robots import InMemoryRobots, RobotsFetcher
from bitrawl.crawl.scope import Scope, ScopeRules, Sites
from bitrawl.crawl.sniff import media_type
from bitrawl.crawl.traps import Traps
from bitrawl.errors import ConfigError
from bitrawl.mining import Doing, Miner
from bitrawl.model import Language, Link, LinkKind, Method, Reason, Visit
from bitrawl.page.analyser import page_reader
from bitrawl.page.sandbox import Rejects, SandboxedAnalyser
from bitrawl.pair.content import Lexicons
from bitrawl.pair.evidence import ALL
from bitrawl.pair.pairing import Pairing, PairingSettings
from bitrawl.protocols import Encoder, Fetcher, LinkScorer, UrlLanguageModel, UrlPairModel
from bitrawl.store.archive import ArchivingFetcher, WarcArchive
from bitrawl.store.ledger import Ledger
from bitrawl.store.queue import LedgerQueue
from bitrawl.store.replay import Archives, Codec, ReplayFetcher, home_pages, open_archives, warc_files
from bitrawl.store.robots import LedgerRobots
from bitrawl.strategies.adaptive.scorer import Adaptive, column_weights
from bitrawl.strategies.breadth_first import BreadthFirst
from bitrawl.strategies.language_filter import LanguageFilter
from bitrawl.strategies.url_models import UrlModels
from bitrawl.strategies.url_patterns.scorer import UrlPatterns
from bitrawl.text.encoder import load_encoder
from bitrawl.text.language import NgramLanguageIdentifier
from bitrawl.text.lexicon import read_dictionary
from bitrawl.url import Url
from bitrawl.urls.language.model import LinearUrlLanguageModel
from bitrawl.urls.language.rules import RuleUrlLanguageModel
from bitrawl.urls.language.transformer import load_language_transformer
from bitrawl.urls.parallel.model import TreeUrlPairModel
from bitrawl.urls.parallel.rules import RuleUrlPairModel
from bitrawl.urls.parallel.transformer import load_pair_transformer

MEGABYTE = 1_000_000
MAX_WORKERS = 4  # more than that a polite crawl never needs


class SystemClock:
    """The real time."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """As asyncio does."""
        await asyncio.sleep(seconds)


# A crawl.


class Parts(NamedTuple):
    """A job's crawl, ready to run, and where it writes."""

    crawl: Crawl
    ledger: Ledger
    queue: LedgerQueue


async def crawl(
    job: Job, folder: Path, archives: Archives | None, stack: AsyncExitStack, observe: Callable[[Visit], None]
) -> Parts:
    """All that a crawl of the web, or of archives, needs; what must be closed goes on the stack."""
    clock, sites = SystemClock(), Sites(job.scope.one_site)
    ledger = Ledger(folder / "job.sqlite", site_of=sites.of)
    stack.callback(ledger.close)
    queue = LedgerQueue(ledger, sites.of)
    seeds = seeds_of(job, archives)
    web = await _web(job, folder, ledger, archives, stack, clock)
    pause = 0.0 if archives is not None else job.politeness.delay
    robots = RobotsFetcher(web, LedgerRobots(ledger), clock, pause=pause, reservations=job.politeness.opt_outs)
    whole = bool(job.warc)
    made = Crawl(
        _frontier(job, ledger, queue, sites, robots, clock),
        fetcher=web if whole else robots,
        analyser=await stack.enter_async_context(_analyser(job, folder)),
        scorer=scorer(job),
        ledger=ledger,
        scope=Scope(sites, seeds, scope_rules(job)),
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
    made.seed([Link(url, LinkKind.ARCHIVE if whole else LinkKind.SEED) for url in seeds])
    return Parts(made, ledger, queue)


async def previewer(job: Job, archives: Archives | None, stack: AsyncExitStack) -> Previewer:
    """Asks a few questions of the seeds' hosts, or of the archives that stand for them; keeps nothing."""
    clock = SystemClock()
    web: Fetcher
    if archives is not None:
        web = ReplayFetcher(archives)
    else:
        web = await stack.enter_async_context(HttpFetcher(_fetch_settings(job), clock))
    pause = 0.0 if archives is not None else job.politeness.delay
    return Previewer(
        RobotsFetcher(web, InMemoryRobots(), clock, pause=pause, reservations=job.politeness.opt_outs),
        await stack.enter_async_context(loose_analyser()),
        Scope(Sites(job.scope.one_site), seeds_of(job, archives), scope_rules(job)),
        clock,
        Politeness(delay=pause),
        job.politeness.opt_outs,
    )


def check(job: Job) -> None:
    """Raise `ConfigError` for what only shows when the parts are made, before anything is written."""
    user_agent(_fetch_settings(job).contact)
    Scope(Sites(job.scope.one_site), job.seed_urls(), scope_rules(job))
    if job.url_language_model or job.url_pair_model:
        scorer(job)


def scope_rules(job: Job) -> ScopeRules:
    """Which links belong to the job."""
    scope = job.scope
    return ScopeRules(
        include=scope.include, exclude=scope.exclude, depth=scope.depth, same_host=scope.same_host, under=scope.under
    )


def codec() -> Codec:
    """Archives are understood as the live web is."""
    return Codec(expand=_expanded, sniff=media_type)


def loose_web(*, allow_private: bool) -> tuple[HttpFetcher, Callable[[HttpFetcher], Fetcher]]:
    """A fetcher apart from any job, to be entered, and what makes it honour robots.txt."""
    clock = SystemClock()
    settings = FetchSettings(allow_private=allow_private, proxies=Proxies.of_environment(os.environ))
    return HttpFetcher(settings, clock), lambda live: RobotsFetcher(live, InMemoryRobots(), clock)


def loose_analyser() -> SandboxedAnalyser:
    """Reads pages apart from any job."""
    return SandboxedAnalyser(page_reader, workers=1)


def _analyser(job: Job, folder: Path) -> SandboxedAnalyser:
    return SandboxedAnalyser(
        page_reader,
        workers=job.analysis.workers or min(os.cpu_count() or 1, MAX_WORKERS),
        seconds=job.analysis.seconds,
        megabytes=job.analysis.megabytes,
        rejects=Rejects(folder / "rejected"),
    )


def archives(job: Job, stack: AsyncExitStack) -> Archives | None:
    """What stands for the web; None for the web itself. Raises `ArchiveError` for a file that is no archive."""
    names = job.replay or job.warc
    if not names:
        return None
    return stack.enter_context(open_archives(warc_files([Path(name) for name in names]), codec()))


def seeds_of(job: Job, archives: Archives | None) -> list[Url]:
    """Without seeds: home pages of an archive that stands for the web; every page of one that is taken whole."""
    if archives is None or job.seeds:
        return job.seed_urls()
    return home_pages(archives) if job.replay else list(archives.urls())


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
            connections=manners.per_host if live else manners.parallel,
            attempts=manners.attempts,
            backoff=manners.backoff,
        ),
        floor=robots.delay if live else lambda _host: 0.0,
        budget=Budget(budget.pages, _bytes(budget.megabytes), budget.minutes),
        site_budget=Budget(budget.site_pages, _bytes(budget.site_megabytes), budget.site_minutes),
        spent=spent,
        spent_on=spent_on,
        left={} if job.exhaustive else {known.site: known.left for known in ledger.sites() if known.left},
    )


def _bytes(megabytes: float | None) -> int | None:
    return None if megabytes is None else int(megabytes * MEGABYTE)


def _traps(ledger: Ledger) -> Traps:
    traps = Traps()
    for url, signature in ledger.signatures():
        traps.visited(url, signature)
    return traps


# A strategy.


class UrlModelNames(NamedTuple):
    """Transformers by name or path; the bundled models where nothing is named."""

    language: str = ""
    pair: str = ""


BUNDLED = UrlModelNames()

# They keep nothing from one visit to the next, so a resumed crawl need not tell them its earlier visits.
STATELESS = (BreadthFirst, LanguageFilter)


def scorer(job: Job) -> LinkScorer:
    """The strategy that the job asks for."""
    return strategy(job.strategy, job.languages(), named=UrlModelNames(job.url_language_model, job.url_pair_model))


def strategy(
    name: Strategy,
    languages: Sequence[Language],
    *,
    models: bool = True,
    named: UrlModelNames = BUNDLED,
    weights: Mapping[str, float] | None = None,
) -> LinkScorer:
    """A fresh one that has learned nothing yet.

    Without `models` it goes without the models of URLs; `weights` are `adaptive`'s, in place of the package's. Raises
    `ConfigError` for a named model that cannot be loaded, or that the strategy would never ask.
    """
    _check_asked(name, named)
    match name:
        case Strategy.BREADTH_FIRST:
            return BreadthFirst()
        case Strategy.LANGUAGE_FILTER:
            return LanguageFilter(languages)
        case Strategy.URL_MODELS:
            return _url_models(languages, named, models=models)
        case Strategy.URL_PATTERNS:
            return UrlPatterns(languages)
        case Strategy.ADAPTIVE if len(languages) > 1:
            read = column_weights(weights) if weights else None
            return Adaptive(languages, _language_model(named.language) if models else None, read)
        case Strategy.ADAPTIVE:  # one language has no pairs to look for
            return LanguageFilter(languages)


def _url_models(languages: Sequence[Language], named: UrlModelNames, *, models: bool) -> UrlModels:
    """With the rules that the paper compares with, where nothing trained is wanted."""
    if not models:
        return UrlModels(languages, RuleUrlLanguageModel(languages), RuleUrlPairModel())
    two = (languages[0], languages[1]) if len(languages) == 2 else None
    pairs: UrlPairModel = _transformer_pairs(named.pair) if named.pair else TreeUrlPairModel(languages=two)
    return UrlModels(languages, _language_model(named.language), pairs)


def _check_asked(name: Strategy, named: UrlModelNames) -> None:
    if named.language and name not in (Strategy.URL_MODELS, Strategy.ADAPTIVE):
        raise ConfigError(
            f"url_language_model is for the strategies url-models and adaptive; {name} asks no such model"
        )
    if named.pair and name is not Strategy.URL_MODELS:
        raise ConfigError(f"url_pair_model is for the strategy url-models; {name} asks no such model")


def _language_model(name: str) -> UrlLanguageModel:
    return _transformer_languages(name) if name else LinearUrlLanguageModel()


@cache
def _transformer_languages(name: str) -> UrlLanguageModel:
    """Loaded once in a process: it is checked before a crawl, and may be a gigabyte."""
    return load_language_transformer(name)


@cache
def _transformer_pairs(name: str) -> UrlPairModel:
    return load_pair_transformer(name)


# Mining.


def miner(job: Job, report: Callable[[Doing], None]) -> Miner:
    """What mines the sites of a job; loads the encoder that it names, once in a process."""
    sentences = encoder(job)
    return Miner(job.languages(), pairing(job, sentences), NgramLanguageIdentifier(), encoder=sentences, report=report)


def encoder(job: Job) -> Encoder | None:
    """Raises `ConfigError` for one that cannot be loaded."""
    return _encoder(job.encoder) if job.encoder else None


@cache
def _encoder(model: str) -> Encoder:
    """Sites come one after the other, and again as they grow."""
    return load_encoder(model)


def pairing(job: Job, sentences: Encoder | None = None) -> Pairing:
    """As the job asks; raises `ConfigError`."""
    unknown = sorted(set(job.pair.methods) - set(Method))
    if unknown:
        raise ConfigError(f"there is no method {', '.join(unknown)}; the methods are {''.join(sorted(Method))}")
    methods = frozenset(map(Method, job.pair.methods)) or ALL
    settings = PairingSettings(
        methods=methods,
        threshold=job.pair.threshold,
        url_pairs=tuple(_url_pair(raw) for raw in job.pair.url_pairs),
        keep_machine_translated=job.pair.machine_translated,
    )
    return Pairing(settings, lexicons=_lexicons(job), encoder=sentences)


def _url_pair(raw: str) -> tuple[str, str]:
    a, mark, b = raw.partition("=")
    if not (a and mark and b):
        raise ConfigError(f"the URL pair {raw!r} is not understood; write it as en=fr")
    return a, b


def _lexicons(job: Job) -> Lexicons | None:
    """A dictionary is for the first two languages asked for."""
    languages = job.languages()
    if not job.pair.dictionary or len(languages) < 2:
        return None
    both = (languages[0], languages[1])
    return Lexicons({both: read_dictionary(Path(job.pair.dictionary), both)})
