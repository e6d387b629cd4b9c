"""The objects of a job: a crawl with its frontier, scope and ledger, its strategy with the models that it asks, the
check of a site and the walk that looks for more of them.

`check` finds the mistakes that only show when they are built, before anything is written.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import msgspec

from bitrawl import config
from bitrawl.archive.archived_web import Archives, ReplayFetcher
from bitrawl.choices import MEGABYTE, loaded
from bitrawl.config import Job
from bitrawl.crawling.connections import Routes
from bitrawl.crawling.fetch import HttpFetcher, user_agent
from bitrawl.crawling.frontier import Budget, Frontier, Politeness, Spent
from bitrawl.crawling.loop import UNWANTED, Crawl, LoopSettings
from bitrawl.crawling.preview import Previewer
from bitrawl.crawling.robots import InMemoryRobots, RobotsFetcher
from bitrawl.crawling.scope import Scope, ScopeRules, Sites
from bitrawl.crawling.settings import Gone, Reach
from bitrawl.discover.backlinks import Backlinks
from bitrawl.discover.barbosa import BackAndForth, Forward
from bitrawl.discover.cocitation import Cocitation
from bitrawl.discover.graph_files import without_www
from bitrawl.discover.graph_index import HostLanguages
from bitrawl.discover.settings import Walk
from bitrawl.discover.site_check import DeclaredSiteCheck
from bitrawl.discover.site_lists import SiteCheck
from bitrawl.discover.suggestions import LinkPredictor, SiteJudges
from bitrawl.discover.walk import DiscoveryWalk as SiteWalk
from bitrawl.discover.walk import NewCheck
from bitrawl.discover.walk_plan import BACKLINKS, Neighbourhood, PlacedLinkWords, Plan
from bitrawl.errors import ConfigError, GraphError
from bitrawl.job.fetching import (
    LedgerRobots,
    SystemClock,
    fetch_settings,
    loose_analyser,
    most_waiting,
    rendering,
    seeds_of,
)
from bitrawl.job.fetching import web as open_web
from bitrawl.job.retrying import FETCHED_AGAIN, JUDGED_AGAIN, added_seeds, changed_settings, reasons_of, retry_seeds
from bitrawl.job.site_mining import lexicons
from bitrawl.mining.evidence import MIN_WEIGHT
from bitrawl.mining.page_score import ScoreModel
from bitrawl.mining.pairing import THRESHOLD, Pairing
from bitrawl.mining.segment_score import SegmentScore
from bitrawl.model import Capture, DocumentType, Language, Link, LinkKind, Page, Skip
from bitrawl.model_files import check_model_names, replacements
from bitrawl.page import Rejects, SandboxedAnalyser, page_reader
from bitrawl.protocols import BacklinkSource, Fetcher, LinkScorer, RelevanceModel, UrlLanguageModel, UrlPairModel
from bitrawl.reasons import Reason
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_queue import LedgerQueue
from bitrawl.store.own_files import check_inputs, inputs_of
from bitrawl.strategies.adaptive.monolingual import Monolingual
from bitrawl.strategies.adaptive.site_scorer import Adaptive, column_weights, read_weights
from bitrawl.strategies.adaptive.topical import TopicalAdaptive
from bitrawl.strategies.arrival import GuardedScorer
from bitrawl.strategies.papers.perplexity import Perplexity
from bitrawl.strategies.papers.perplexity import score_of as perplexity_score
from bitrawl.strategies.papers.terms import Terms
from bitrawl.strategies.papers.url_models import BreadthFirst, LanguageFilter, UrlModels
from bitrawl.strategies.papers.url_patterns import UrlPatterns, plain_queue
from bitrawl.strategies.papers.verification import Verification
from bitrawl.strategies.table import FOCUSED, STRATEGIES, Strategy, strategy_maker
from bitrawl.text.frequencies import read_tables
from bitrawl.text.language import LanguageNgrams
from bitrawl.topic.judge import TopicJudge
from bitrawl.topic.settings import TopicSection
from bitrawl.topic.term_list import read_terms
from bitrawl.url import Url
from bitrawl.urls.language_model import LinearUrlLanguageModel, RuleUrlLanguageModel, UrlLanguageData
from bitrawl.urls.pair_model import RuleUrlPairModel, TreeUrlPairModel, load_trees
from bitrawl.urls.site_pairs import MatchingModels
from bitrawl.urls.transformers import load_language_transformer, load_pair_transformer
from bitrawl.version import install_command

MANY = (
    200  # pages of an archive for which one more reader is started at once: reading eighty takes as long as its start
)
MAX_HOSTS = 1000  # of one site in a search for sites, where each host may be a site of its own


class Parts(NamedTuple):
    """A job's crawl, ready to run, and where it writes."""

    crawl: Crawl
    ledger: Ledger
    queue: LedgerQueue
    learns: bool  # whether the strategy must be told the visits of earlier runs
    walk: SiteWalk | None = None  # in a search for bilingual sites
    doubtful: Sequence[Reason] = ()  # why links were refused that may belong to the job now


async def crawl(
    job: Job,
    folder: Path,
    archives: Archives | None,
    stack: AsyncExitStack,
    judge: TopicJudge | None = None,
    backlinks: Backlinks | None = None,
) -> Parts:
    """Everything that a crawl of the web, or of archives, needs. What must be closed is put on the stack.

    `judge` is what `topic_judge` made, in a job with a topic. `backlinks` are for a search for sites.
    """
    clock, sites = SystemClock(), Sites(job.scope.one_site)
    ledger = Ledger(folder / "job.sqlite", site_of=sites.of, keeps_gone=job.scope.gone is Gone.KEEP)
    stack.callback(ledger.close)
    if job.scope.gone is Gone.DROP:
        ledger.drop_gone()
    queue = LedgerQueue(ledger, sites.of)
    seeds = seeds_of(job, archives)
    analyser = await stack.enter_async_context(_analyser(job, folder))
    if job.warc:
        analyser.get_ready(1 + len(seeds) // MANY)
        await asyncio.sleep(0)  # They start while the rest is made.
    web = await open_web(job, folder, ledger, archives, stack, clock)
    pause = 0.0 if archives is not None else job.politeness.delay
    robots = RobotsFetcher(web.fetcher, LedgerRobots(ledger), clock, pause=pause, reservations=job.politeness.opt_outs)
    topic = Topic(judge.model, job.topic, sites.of, judge.terms) if judge is not None else None
    site_walk = None
    if job.discovery.walk is not None:
        counted = host_languages(job)
        check = new_site_check(job.languages(), robots.sitemaps, counted)
        site_walk = walk(job.discovery.walk, job.languages(), backlinks, check, counted)
    whole = bool(job.warc)
    # Archives that are taken whole follow no links: no strategy has anything to say, and none is loaded.
    strategy_asked = site_walk or (BreadthFirst() if whole else scorer(job, topic))
    fetcher: Fetcher = web.fetcher if whole else robots
    if site_walk is not None and backlinks is not None:
        fetcher = _AskingFetcher(fetcher, backlinks, site_walk)
    orders = not whole and not isinstance(strategy_asked, STATELESS)
    made = Crawl(
        _frontier(job, ledger, queue, sites, robots, clock, orders=orders),
        fetcher=fetcher,
        analyser=analyser,
        # A walk that fails must not become a crawl of everything: its fault costs the visit.
        scorer=site_walk or GuardedScorer(strategy_asked, ledger.record_fault),
        ledger=ledger,
        scope=Scope(sites, seeds, scope_rules(job)),
        clock=clock,
        settings=_loop_settings(job, live=archives is None, searching=site_walk is not None),
        sitemaps_of=robots.sitemaps,
        rendering=await rendering(job, web, robots, sites, stack, clock),
        judge=judge or (lambda _link, page: page),
        redirected=judge.redirected if judge is not None else lambda _source, _target: None,
    )
    for host in ledger.hosts_asked():
        made.hosts.ask(host)
    for host in {*ledger.hosts_asked(), *queue.hosts()}:
        made.scope.add_host(host)
    made.remember(ledger.sightings())
    if made.rendering is not None:
        made.rendering.remember(ledger.visits())
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
    return Parts(made, ledger, queue, learns, site_walk, reasons_of(JUDGED_AGAIN, changed))


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


class _AskingFetcher:
    """Asks services who cites a site as soon as a second page of it is fetched: only then can it turn out bilingual."""

    def __init__(self, inner: Fetcher, source: Backlinks, walk: SiteWalk) -> None:
        self._inner = inner
        self._source = source
        self._walk = walk

    async def fetch(self, link: Link) -> Capture | Skip:
        host = without_www(link.url.host)
        if self._walk.near.pages_of[host]:
            try:
                await self._source.prefetch([host], BACKLINKS)
            except GraphError as error:  # the search goes on with what is known
                self._walk.plan.notes.append(f"{error}. No links to {host} were looked up.")
        return await self._inner.fetch(link)


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


def described_job(
    settings: Mapping[str, Any],
    folder: JobFolder,
    *,
    file: Path | None = None,
    inputs: Sequence[Path | None] = (),
    fresh: object = False,
) -> Job:
    """The job to be done, checked, with nothing written yet.

    Settings win over the job file; where neither says where to begin, the job that the folder holds goes on. Raises
    `ConfigError` when the folder holds another job, unless it is to be started over (`fresh`), when it holds files of
    others, and when something that is read lies in it: what the job names, its file, or one of the other `inputs`.
    """
    own_file = file is not None and not fresh and file.resolve() == folder.description.resolve()
    check_inputs(folder.path, [path for path in (None if own_file else file, *inputs) if path is not None])
    held = folder.description
    earlier = config.resolve(config.read(held), where=str(held)) if held.exists() and not fresh else None
    described = config.read(file) if file is not None else {}
    if earlier is not None and not described and not any(settings.get(key) for key in ("seeds", "warc", "replay")):
        described = config.read(held)
    job = config.resolve(config.merged(described, settings), where=str(file) if file else "")
    check_inputs(folder.path, [name for name in inputs_of(job) if earlier is None or name not in inputs_of(earlier)])
    folder.check_writable(fresh=bool(fresh))
    if earlier is not None:
        config.continues(job, earlier)
    check(job)
    return job


def check(job: Job) -> None:
    """Raise `ConfigError` for mistakes that only show when the objects are built, before anything is written."""
    user_agent(job.fetch.public_contact)
    Routes(job.fetch.connect_to)
    Scope(Sites(job.scope.one_site), job.seed_urls(), scope_rules(job))
    check_models(job.models)
    if job.render.is_asked_for and find_spec("playwright") is None:
        raise ConfigError(f"drawing pages with a browser needs Playwright. Run: {install_command('browser')}")
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
        reach=Reach.WEB if job.discovery.is_set else scope.reach,
        languages=job.languages(),
        include=scope.include,
        exclude=scope.exclude,
        depth=scope.depth,
        same_host=scope.same_host,
        under=scope.under,
        types=scope.types,
    )


def _analyser(job: Job, folder: Path) -> SandboxedAnalyser:
    return SandboxedAnalyser(
        partial(page_reader, tuple(job.languages())),
        job.analysis,
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
    budget, politeness, live = job.budget, job.politeness, not (job.replay or job.warc)
    spent_on = {site: Spent(pages, size) for site, pages, size in _spent(ledger)}
    spent = Spent(
        pages=sum(each.pages for each in spent_on.values()),
        bytes=sum(each.bytes for each in spent_on.values()),
        seconds=float(ledger.recall("seconds") or 0) - ledger.rounds.start.seconds,
    )
    left = {} if job.exhaustive else {site.site: site.left for site in ledger.sites() if site.left and site.pages}
    queue.left = left
    steered = job.discovery.is_set or (job.topic.is_set and job.strategy in (*FOCUSED, Strategy.ADAPTIVE))
    return Frontier(
        queue,
        clock,
        sites.of,
        Politeness(
            delay=politeness.delay if live else 0.0,
            connections=politeness.per_host if live else politeness.parallel,  # an archive minds no number of them
            attempts=politeness.attempts,
            backoff=politeness.backoff,
        ),
        floor=robots.delay if live else lambda _host: 0.0,
        budget=Budget(budget.pages, _bytes(budget.megabytes), budget.minutes, job.discovery.downloads),
        site_budget=Budget(budget.site_pages, _bytes(budget.site_megabytes), budget.site_minutes),
        spent=spent,
        spent_on=spent_on,
        left=left,
        ranked=steered or (orders and budget.pages is not None),
        explores=job.discovery.is_set,
        returns=steered,
        steps=bucket_scores(job),
        orders=orders,
        has_more=queue.has_more,
    )


def _spent(ledger: Ledger) -> Iterable[tuple[str, int, int]]:
    """Pages and bytes of each site. A budget is that of a round."""
    if ledger.rounds.number > 1:
        return ledger.rounds.spent()
    return ((site.site, site.pages, site.bytes) for site in ledger.sites())


def bucket_scores(job: Job) -> tuple[float, ...]:
    """Scores that are worth waiting for: the boundaries of the strategy perplexity, Remus, section 3.3."""
    return tuple(map(perplexity_score, job.topic.buckets)) if job.strategy == Strategy.PERPLEXITY else ()


def _bytes(megabytes: float | None) -> int | None:
    return None if megabytes is None else int(megabytes * MEGABYTE)


class UrlModelNames(NamedTuple):
    """Names or paths of transformer models. An empty name means the model in the package."""

    language: str = ""
    pair: str = ""


BUNDLED = UrlModelNames()


# These keep nothing between visits, so a resumed crawl need not replay the earlier visits for them.
STATELESS = (BreadthFirst, LanguageFilter, Monolingual)


class Topic(NamedTuple):
    """What a strategy must know of the job's topic."""

    model: RelevanceModel
    section: TopicSection = TopicSection()
    site_of: Callable[[str], str] = Sites().of
    terms: RelevanceModel | None = None  # a list out of the texts that the model was made from


# Strategies that look words up.
VERIFYING = {Strategy.URL_PATTERNS: UrlPatterns, Strategy.PLAIN_QUEUE: plain_queue}


def scorer(job: Job, topic: Topic | None = None) -> LinkScorer:
    if job.strategy in VERIFYING and (dictionary := lexicons(job)):
        make = VERIFYING[Strategy(job.strategy)]
        return make(job.languages(), lambda languages: Verification(languages, dictionary.of(languages)))
    named = UrlModelNames(job.url_language_model, job.url_pair_model)
    return strategy(job.strategy, job.languages(), named=named, topic=topic)


def strategy(
    name: str,
    languages: Sequence[Language],
    *,
    models: bool = True,
    named: UrlModelNames = BUNDLED,
    weights: Mapping[str, float] | None = None,
    topic: Topic | None = None,
) -> LinkScorer:
    """A new strategy that has learned nothing yet.

    Without `models` it uses no URL models. `weights` replace the package's weights of `adaptive`. Raises `ConfigError`
    if a named model cannot be loaded or if the strategy would not use it.
    """
    _check_models_used(name, named)
    if name in FOCUSED and topic is None:
        raise ConfigError(f"the strategy {name} needs a topic")
    if make := strategy_maker(name):
        scorer: LinkScorer = make(languages)
        return _of_package(name, package, scorer) if (package := STRATEGIES.package_of(name)) else scorer
    # Those that need models or a topic. The others are made of the languages, by their row in `strategies.table`.
    match Strategy(name):
        case Strategy.BREADTH_FIRST:
            return BreadthFirst()
        case Strategy.URL_MODELS:
            return _url_models(languages, named, models=models)
        case Strategy.PERPLEXITY:
            return Perplexity(languages)
        case Strategy.TERMS if topic is not None:
            return Terms(languages, topic.model)
    model = _language_model(named.language) if models and len(languages) > 1 else None
    return _adaptive(languages, model, weights, topic)


def _of_package(name: str, package: str, scorer: Any) -> Any:
    """The strategy of another package; what it raises is told as an error that names the package."""
    methods: dict[str, Any] = {method: getattr(scorer, method, None) for method in ("score", "learn", "advise")}
    if not all(callable(call) for call in methods.values()):
        raise ConfigError(f"the strategy {name!r} of the package {package} is not a bitrawl.protocols.LinkScorer")
    return SimpleNamespace(**{method: STRATEGIES.blamed(name, call) for method, call in methods.items()})


def _adaptive(
    languages: Sequence[Language],
    model: UrlLanguageModel | None,
    weights: Mapping[str, float] | None,
    topic: Topic | None,
) -> LinkScorer:
    """One language has no pairs to look for."""
    columns = column_weights(weights) if weights and topic is None else None
    pairs = Adaptive(languages, model, columns) if len(languages) > 1 else None
    if topic is not None:
        return TopicalAdaptive(languages, topic.model, topic.site_of, pairs, terms=topic.terms)
    return pairs or Monolingual(languages)


def _url_models(languages: Sequence[Language], named: UrlModelNames, *, models: bool) -> UrlModels:
    """Without `models`, use the rules that the paper compares with."""
    if not models:
        return UrlModels(languages, RuleUrlLanguageModel(languages), RuleUrlPairModel())
    two = (languages[0], languages[1]) if len(languages) == 2 else None
    pairs: UrlPairModel = _transformer_pairs(named.pair) if named.pair else TreeUrlPairModel(languages=two)
    return UrlModels(languages, _language_model(named.language), pairs)


def _check_models_used(name: str, named: UrlModelNames) -> None:
    if named.language and name not in (Strategy.URL_MODELS, Strategy.ADAPTIVE):
        raise ConfigError(f"the strategy {name} does not use url_language_model; only url-models and adaptive do")
    if named.pair and name != Strategy.URL_MODELS:
        raise ConfigError(f"the strategy {name} does not use url_pair_model; only url-models does")


def _language_model(name: str) -> UrlLanguageModel:
    return _transformer_languages(name) if name else LinearUrlLanguageModel()


# Loaded once per process: a transformer is checked before a crawl, and may be a gigabyte.
_transformer_languages = cache(load_language_transformer)
_transformer_pairs = cache(load_pair_transformer)


def walk(
    name: Walk,
    languages: Sequence[Language],
    source: BacklinkSource | None,
    new_check: NewCheck,
    counted: HostLanguages | None = None,
) -> SiteWalk:
    """A new walk that knows nothing yet. The source is None without a link graph, `counted` without an index of languages."""
    near = Neighbourhood(PlacedLinkWords(languages), source)
    plan: Plan
    match name:
        case Walk.COCITATION:
            plan = Cocitation(near, counted.evidence if counted else None)
        case Walk.OBFC | Walk.COBFC:
            plan = BackAndForth(near, classifiers=name is Walk.COBFC)
        case Walk.FC | Walk.FOCUSED:
            plan = Forward(near, focused=name is Walk.FOCUSED)
    return SiteWalk(near, plan, new_check)


def host_languages(job: Job) -> HostLanguages | None:
    """Read from the index that the job names, if it names one."""
    path = job.discovery.host_languages
    return HostLanguages.read(Path(path), job.languages()) if path else None


def new_site_check(
    languages: Sequence[Language],
    sitemaps_of: Callable[[str], Sequence[Url]] = lambda _origin: (),
    counted: HostLanguages | None = None,
) -> NewCheck:
    """Begins the check of a site at its entry page."""
    judges = site_judges(sitemaps_of)

    def begin(entry: Link) -> SiteCheck:
        return DeclaredSiteCheck(entry, languages, judges, odds=counted.odds(entry.url.host) if counted else None)

    return begin


def site_judges(sitemaps_of: Callable[[str], Sequence[Url]] = lambda _origin: ()) -> SiteJudges:
    """What the checks of many sites share, for any languages. `sitemaps_of` is what robots.txt names, by origin."""
    return SiteJudges(translation_check(Pairing()), LinearUrlLanguageModel(), LinkPredictor.load(), sitemaps_of)


def translation_check(pairer: Pairing) -> Callable[[Page, Page], float]:
    """Whether mining would pair two pages, given nothing else of the site: 0–1.

    Mining takes the template off first, which two pages do not show. If the whole pages are no pair, their main text
    alone is compared.
    """

    def score(a: Page, b: Page) -> float:
        whole = _pair_score(pairer, a, b)
        bare = [without_boilerplate(page) for page in (a, b)]
        if (
            whole >= THRESHOLD
            or min(sum(len(paragraph.text) for paragraph in page.paragraphs) for page in bare) < MIN_WEIGHT
        ):
            return whole
        return max(whole, _pair_score(pairer, *bare))

    return score


def _pair_score(pairer: Pairing, a: Page, b: Page) -> float:
    return max((pair.score for pair in pairer.pairs([a, b], [a.language, b.language]).pairs), default=0.0)


def without_boilerplate(page: Page) -> Page:
    """The page with its main text alone."""
    content = tuple(paragraph for paragraph in page.paragraphs if not paragraph.boilerplate)
    return msgspec.structs.replace(page, paragraphs=content)


LOADERS: dict[str, tuple[Callable[[Path], object], ...]] = {
    "adaptive.json": (read_weights,),
    "boilerplate.npz": (lambda path: loaded("bitrawl.page.boilerplate:BoilerplateClassifier").load(path),),
    "frequencies.npz": (read_tables,),
    "language.npz": (LanguageNgrams.load,),
    "link-predictor.npz": (LinkPredictor.load,),
    "pairs.npz": (ScoreModel.load,),
    "segments.npz": (SegmentScore.load,),
    "url-language.npz": (UrlLanguageData.load,),
    "url-pairs.npz": (load_trees, MatchingModels.load),
}


def check_models(folder: str) -> None:
    """Raise `ConfigError` if a model in the folder cannot be loaded."""
    check_model_names(folder)
    for path in replacements(folder):
        for load in LOADERS[path.name]:
            try:
                load(path)
            except Exception as error:
                # Not the error's own words: numpy's advice for a damaged file is to load it unsafely.
                raise ConfigError(
                    f"models: {path} is damaged, or is not a model of the kind {path.stem};"
                    f" make it again in a clone of bitrawl: python -m lab.train {path.stem}"
                ) from error
