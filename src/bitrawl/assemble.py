"""Builds the objects that a job's description asks for. It is the only module that names implementations."""

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from bitrawl.config import FOCUSED, Job, Reach, Strategy, TopicModel, TopicSection, Walk
from bitrawl.crawl.addresses import Endpoint
from bitrawl.crawl.decompress import Expansion, content_codings, expand
from bitrawl.crawl.fetch import PROJECT_PAGE, FetchSettings, HttpFetcher, user_agent
from bitrawl.crawl.frontier import Budget, Frontier, Politeness, Spent
from bitrawl.crawl.loop import Crawl, LoopSettings
from bitrawl.crawl.preview import Previewer
from bitrawl.crawl.proxies import Proxies
from bitrawl.crawl.robots import InMemoryRobots, RobotsFetcher
from bitrawl.crawl.scope import Scope, ScopeRules, Sites
from bitrawl.crawl.sniff import JSON, media_type
from bitrawl.crawl.traps import Traps
from bitrawl.discover.predictor import LinkPredictor
from bitrawl.discover.site_check import CheckSettings, DeclaredSiteCheck
from bitrawl.discover.suggestions import SiteJudges
from bitrawl.discover.verdict import SiteCheck
from bitrawl.discover.walk.back_and_forth import BackAndForth
from bitrawl.discover.walk.cocitation import Cocitation
from bitrawl.discover.walk.forward import Forward
from bitrawl.discover.walk.neighbourhood import Neighbourhood
from bitrawl.discover.walk.plan import Plan
from bitrawl.discover.walk.walk import NewCheck
from bitrawl.discover.walk.walk import Walk as SiteWalk
from bitrawl.discover.walk.words import LinkWords
from bitrawl.errors import ConfigError
from bitrawl.mining import Miner
from bitrawl.model import Language, Link, LinkKind, Method, Page, Reason, Visit
from bitrawl.page.analyser import page_reader
from bitrawl.page.sandbox import Rejects, SandboxedAnalyser
from bitrawl.pair.content import Lexicons
from bitrawl.pair.evidence import ALL
from bitrawl.pair.pairing import THRESHOLD, Pairing, PairingSettings
from bitrawl.pair.verification import MIN_WEIGHT
from bitrawl.protocols import (
    BacklinkSource,
    Encoder,
    Fetcher,
    LinkScorer,
    RelevanceModel,
    UrlLanguageModel,
    UrlPairModel,
)
from bitrawl.store.archive import ArchivingFetcher, WarcArchive
from bitrawl.store.ledger import Ledger
from bitrawl.store.queue import LedgerQueue
from bitrawl.store.replay import Archives, Codec, ReplayFetcher, home_pages, open_archives, warc_files
from bitrawl.store.robots import LedgerRobots
from bitrawl.strategies.adaptive.scorer import Adaptive, column_weights
from bitrawl.strategies.adaptive.topical import TopicalAdaptive
from bitrawl.strategies.breadth_first import BreadthFirst
from bitrawl.strategies.guarded import GuardedScorer
from bitrawl.strategies.language_filter import LanguageFilter
from bitrawl.strategies.perplexity import Perplexity
from bitrawl.strategies.perplexity import score_of as perplexity_score
from bitrawl.strategies.terms import Terms
from bitrawl.strategies.url_models import UrlModels
from bitrawl.strategies.url_patterns.scorer import UrlPatterns
from bitrawl.text.encoder import load_encoder
from bitrawl.text.frequencies import known, rate
from bitrawl.text.language import NgramLanguageIdentifier
from bitrawl.text.lexicon import read_dictionary
from bitrawl.text.ngrams.arpa import read_arpa
from bitrawl.text.ngrams.kneser_ney import train
from bitrawl.text.ngrams.model import NgramModel
from bitrawl.text.ngrams.sequences import sequences
from bitrawl.topic.judge import TopicJudge
from bitrawl.topic.keyness import learn_terms
from bitrawl.topic.learned import LearnedRelevance
from bitrawl.topic.perplexity import PerplexityRelevance
from bitrawl.topic.term_list import TermList, read_terms
from bitrawl.topic.terms import TermRelevance, TermThresholds
from bitrawl.url import Url
from bitrawl.urls.language.model import LinearUrlLanguageModel
from bitrawl.urls.language.rules import RuleUrlLanguageModel
from bitrawl.urls.language.transformer import load_language_transformer
from bitrawl.urls.parallel.model import TreeUrlPairModel
from bitrawl.urls.parallel.rules import RuleUrlPairModel
from bitrawl.urls.parallel.transformer import load_pair_transformer

MEGABYTE = 1_000_000
MAX_WORKERS = 4  # a polite crawl never needs more
MAX_HOSTS = 1000  # of one site in a search for sites, where each host may be a site of its own; judgement


class SystemClock:
    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


# Crawling


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
    web = await _web(job, folder, ledger, archives, stack, clock)
    pause = 0.0 if archives is not None else job.politeness.delay
    robots = RobotsFetcher(web, LedgerRobots(ledger), clock, pause=pause, reservations=job.politeness.opt_outs)
    topic = Topic(judge.model, job.topic, sites.of) if judge is not None else None
    site_walk = None
    if job.discovery.walk is not None:
        check = new_site_check(job.languages(), robots.sitemaps)
        site_walk = walk(job.discovery.walk, job.languages(), backlinks, check)
    whole, strategy_asked = bool(job.warc), site_walk or scorer(job, topic)
    made = Crawl(
        _frontier(job, ledger, queue, sites, robots, clock),
        fetcher=web if whole else robots,
        analyser=await stack.enter_async_context(_analyser(job, folder)),
        # A walk that fails must not become a crawl of everything: its fault costs the visit.
        scorer=site_walk or GuardedScorer(strategy_asked, ledger.record_fault),
        ledger=ledger,
        scope=Scope(sites, seeds, scope_rules(job)),
        clock=clock,
        settings=LoopSettings(
            parallel=job.politeness.parallel,
            attempts=job.politeness.attempts,
            follow=not whole,
            sitemaps=job.scope.sitemaps and site_walk is None,  # The check of a site asks for what it needs.
            probe=job.scope.probe and archives is None and site_walk is None,
            opt_outs=job.politeness.opt_outs,
            exhaustive=job.exhaustive,
            site_hosts=job.budget.site_hosts if site_walk is None else MAX_HOSTS,
        ),
        traps=_traps(ledger),
        sitemaps_of=robots.sitemaps,
        observe=observe,
        judge=judge or (lambda _link, page: page),
    )
    for host in ledger.hosts_asked():
        made.hosts.ask(host)
    for url, signature in ledger.signatures():
        made.hosts.answered(url, signature)
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
    """Raise `ConfigError` for mistakes that only show when the objects are built, before anything is written."""
    user_agent(_fetch_settings(job).contact)
    Scope(Sites(job.scope.one_site), job.seed_urls(), scope_rules(job))
    if job.url_language_model or job.url_pair_model:
        scorer(job)
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


def codec() -> Codec:
    """Decodes archived answers in the same way as live ones."""
    return Codec(expand=_expanded, sniff=media_type)


def loose_web(
    *, allow_private: bool, contact: str = "", pause: float = 1.0
) -> tuple[HttpFetcher, Callable[[HttpFetcher], RobotsFetcher]]:
    """A fetcher without a job, to be entered as a context, and a function that wraps it to respect robots.txt."""
    clock = SystemClock()
    settings = FetchSettings(
        contact=contact or PROJECT_PAGE, allow_private=allow_private, proxies=Proxies.of_environment(os.environ)
    )
    return HttpFetcher(settings, clock), lambda live: RobotsFetcher(live, InMemoryRobots(), clock, pause=pause)


def api_web(*, allow_private: bool, contact: str = "", media_types: frozenset[str] = frozenset({JSON})) -> HttpFetcher:
    """A fetcher of JSON, to be entered as a context. It asks without robots.txt: see `topic.wiki.client.WikiClient`."""
    settings = FetchSettings(
        contact=contact or PROJECT_PAGE,
        allow_private=allow_private,
        proxies=Proxies.of_environment(os.environ),
        media_types=media_types,
    )
    return HttpFetcher(settings, SystemClock())


def loose_analyser() -> SandboxedAnalyser:
    """Reads pages without a job."""
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
    """Without seeds: the home pages of an archive that replaces the web, or every page of an archive that is read as a whole."""
    if archives is None or job.seeds:
        return job.seed_urls()
    return home_pages(archives) if job.replay else list(archives.urls())


def _expanded(payload: bytes, header: str) -> bytes | Reason:
    codings = content_codings(header)
    return Reason.CONTENT_ENCODING if codings is None else expand(payload, codings, Expansion())


async def _web(
    job: Job, folder: Path, ledger: Ledger, archives: Archives | None, stack: AsyncExitStack, clock: SystemClock
) -> Fetcher:
    """The live web, with an archive of its answers, or an archive that replaces it."""
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
        raise ConfigError(f"connect_to: {raw!r} is not HOST:PORT; write it like this: 127.0.0.1:8000")
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
        budget=Budget(budget.pages, _bytes(budget.megabytes), budget.minutes, job.discovery.downloads),
        site_budget=Budget(budget.site_pages, _bytes(budget.site_megabytes), budget.site_minutes),
        spent=spent,
        spent_on=spent_on,
        left={} if job.exhaustive else {known.site: known.left for known in ledger.sites() if known.left},
        ranked=job.discovery.is_set or (job.topic.is_set and job.strategy in (*FOCUSED, Strategy.ADAPTIVE)),
        steps=bucket_scores(job),
    )


def bucket_scores(job: Job) -> tuple[float, ...]:
    """Scores that are worth waiting for: the boundaries of the strategy perplexity, Remus, section 3.3."""
    return tuple(map(perplexity_score, job.topic.buckets)) if job.strategy is Strategy.PERPLEXITY else ()


def _bytes(megabytes: float | None) -> int | None:
    return None if megabytes is None else int(megabytes * MEGABYTE)


def _traps(ledger: Ledger) -> Traps:
    traps = Traps()
    for url, signature in ledger.signatures():
        traps.visited(url, signature)
    return traps


# Strategies


class UrlModelNames(NamedTuple):
    """Names or paths of transformer models. An empty name means the model in the package."""

    language: str = ""
    pair: str = ""


BUNDLED = UrlModelNames()

# These keep nothing between visits, so a resumed crawl need not replay the earlier visits for them.
STATELESS = (BreadthFirst, LanguageFilter)


class Topic(NamedTuple):
    """What a strategy must know of the job's topic."""

    model: RelevanceModel
    section: TopicSection = TopicSection()
    site_of: Callable[[str], str] = Sites().of


def scorer(job: Job, topic: Topic | None = None) -> LinkScorer:
    named = UrlModelNames(job.url_language_model, job.url_pair_model)
    return strategy(job.strategy, job.languages(), named=named, topic=topic)


def strategy(
    name: Strategy,
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
    _check_asked(name, named)
    if topic is not None and name in (Strategy.TERMS, Strategy.PERPLEXITY, Strategy.ADAPTIVE):
        return _focused(name, languages, topic, models=models, named=named)
    match name:
        case Strategy.BREADTH_FIRST:
            return BreadthFirst()
        case Strategy.LANGUAGE_FILTER:
            return LanguageFilter(languages)
        case Strategy.URL_MODELS:
            return _url_models(languages, named, models=models)
        case Strategy.URL_PATTERNS:
            return UrlPatterns(languages)
        case Strategy.ADAPTIVE:
            read = column_weights(weights) if weights else None
            pairs = Adaptive(languages, _language_model(named.language) if models else None, read)
            return pairs if len(languages) > 1 else LanguageFilter(languages)  # one language has no pairs to look for
        case Strategy.TERMS | Strategy.PERPLEXITY:
            raise ConfigError(f"the strategy {name} needs a topic")


def _focused(
    name: Strategy, languages: Sequence[Language], topic: Topic, *, models: bool, named: UrlModelNames
) -> LinkScorer:
    if name is Strategy.TERMS:
        return Terms(languages, topic.model)
    if name is Strategy.PERPLEXITY:
        return Perplexity()
    pairs = Adaptive(languages, _language_model(named.language) if models else None) if len(languages) > 1 else None
    return TopicalAdaptive(languages, topic.model, topic.site_of, pairs)


def _url_models(languages: Sequence[Language], named: UrlModelNames, *, models: bool) -> UrlModels:
    """Without `models`, use the rules that the paper compares with."""
    if not models:
        return UrlModels(languages, RuleUrlLanguageModel(languages), RuleUrlPairModel())
    two = (languages[0], languages[1]) if len(languages) == 2 else None
    pairs: UrlPairModel = _transformer_pairs(named.pair) if named.pair else TreeUrlPairModel(languages=two)
    return UrlModels(languages, _language_model(named.language), pairs)


def _check_asked(name: Strategy, named: UrlModelNames) -> None:
    if named.language and name not in (Strategy.URL_MODELS, Strategy.ADAPTIVE):
        raise ConfigError(f"the strategy {name} does not use url_language_model; only url-models and adaptive do")
    if named.pair and name is not Strategy.URL_MODELS:
        raise ConfigError(f"the strategy {name} does not use url_pair_model; only url-models does")


def _language_model(name: str) -> UrlLanguageModel:
    return _transformer_languages(name) if name else LinearUrlLanguageModel()


@cache
def _transformer_languages(name: str) -> UrlLanguageModel:
    """Loaded once per process: it is checked before a crawl, and it may be a gigabyte."""
    return load_language_transformer(name)


@cache
def _transformer_pairs(name: str) -> UrlPairModel:
    return load_pair_transformer(name)


# Topics


class Examples(NamedTuple):
    """What the user showed, by language."""

    texts: Mapping[Language, Sequence[str]] = {}
    against: Mapping[Language, Sequence[str]] = {}


def topic_judge(job: Job, shown: Examples) -> TopicJudge:
    """What judges the pages of a job with a topic. Raises `ConfigError` if the topic cannot be learned from that."""
    topic, languages = job.topic, job.languages()
    terms = _terms(job, shown)
    model: RelevanceModel
    match job.topic_model():
        case TopicModel.TERMS if terms is not None:
            model = terms
        case TopicModel.PERPLEXITY:
            model = PerplexityRelevance(_language_models(job, shown), maximum=topic.max_perplexity)
        case _:
            given = terms if topic.terms else None
            model = LearnedRelevance(
                shown.texts, languages, against=shown.against, terms=given, threshold=topic.threshold
            )
    examples = frozenset(_seed_examples(job))
    return TopicJudge(model, terms.annotated if terms else lambda page: page, examples)


def _seed_examples(job: Job) -> list[Url]:
    """The seeds are about the topic, unless they are hubs; the pages that it is like always are."""
    return [Url.parse(raw) for raw in job.topic.like] if job.topic.hub else job.seed_urls()


def _terms(job: Job, shown: Examples) -> TermRelevance | None:
    """The user's list, or one out of the texts, which only explains."""
    topic, languages = job.topic, job.languages()
    thresholds = TermThresholds(topic.content_terms, topic.distinct_terms, topic.density)
    if topic.terms:
        return TermRelevance(read_terms(Path(topic.terms), languages), languages, thresholds)
    found = [term for language, texts in shown.texts.items() for term in learned_terms(texts, language).terms]
    return TermRelevance(TermList(tuple(found)), languages, thresholds) if found else None


def learned_terms(texts: Sequence[str], language: Language, against: Sequence[str] = ()) -> TermList:
    """What tells the texts from general language, where its frequencies are known."""
    return learn_terms(texts, language, background=rate if known(language) else None, against=against)


def _language_models(job: Job, shown: Examples) -> dict[Language, NgramModel]:
    read = dict(_named_model(raw) for raw in job.topic.language_models)
    return {
        language: train(one for text in texts for one in sequences(text)) for language, texts in shown.texts.items()
    } | read


def _named_model(raw: str) -> tuple[Language, NgramModel]:
    code, _, path = raw.partition("=")
    return Language(code), read_arpa(Path(path))


# Finding bilingual sites


def walk(name: Walk, languages: Sequence[Language], source: BacklinkSource | None, new_check: NewCheck) -> SiteWalk:
    """A new walk that knows nothing yet. The source is None without a link graph."""
    near = Neighbourhood(LinkWords(languages), source)
    plan: Plan
    match name:
        case Walk.COCITATION:
            plan = Cocitation(near)
        case Walk.OBFC | Walk.COBFC:
            plan = BackAndForth(near, classifiers=name is Walk.COBFC)
        case Walk.FC | Walk.FOCUSED:
            plan = Forward(near, focused=name is Walk.FOCUSED)
    return SiteWalk(near, plan, new_check)


def new_site_check(
    languages: Sequence[Language], sitemaps_of: Callable[[str], Sequence[Url]] = lambda _origin: ()
) -> NewCheck:
    """Begins the check of a site at its entry page."""
    judges = site_judges(sitemaps_of)
    return lambda entry: site_check(entry, languages, judges)


def site_judges(sitemaps_of: Callable[[str], Sequence[Url]] = lambda _origin: ()) -> SiteJudges:
    """What the checks of many sites share, for any languages. `sitemaps_of` is what robots.txt names, by origin."""
    return SiteJudges(
        translation_check(Pairing()),
        LinearUrlLanguageModel(),
        LinkPredictor.load(),
        sitemaps_of,
    )


def site_check(
    entry: Link, languages: Sequence[Language], judges: SiteJudges, settings: CheckSettings | None = None
) -> SiteCheck:
    """A new check of the site of that entry page."""
    return DeclaredSiteCheck(entry, languages, judges, settings)


def translation_check(pairer: Pairing) -> Callable[[Page, Page], float]:
    """Whether mining would pair two pages, given nothing else of the site: 0–1.

    Mining takes the template off first, which two pages do not show. If the whole pages are no pair, their main text
    alone is compared.
    """

    def score(a: Page, b: Page) -> float:
        whole = _pair_score(pairer, a, b)
        bare = [without_boilerplate(page) for page in (a, b)]
        if whole >= THRESHOLD or min(sum(len(one.text) for one in page.paragraphs) for page in bare) < MIN_WEIGHT:
            return whole
        return max(whole, _pair_score(pairer, *bare))

    return score


def _pair_score(pairer: Pairing, a: Page, b: Page) -> float:
    return max((pair.score for pair in pairer.pairs([a, b], [a.language, b.language]).pairs), default=0.0)


def without_boilerplate(page: Page) -> Page:
    """The page with its main text alone."""
    kept = tuple(paragraph for paragraph in page.paragraphs if not paragraph.boilerplate)
    return msgspec.structs.replace(page, paragraphs=kept)


# Mining


def miner(job: Job) -> Miner:
    """The miner for the sites of a job. It loads the job's encoder once per process."""
    sentences = encoder(job)
    return Miner(job.languages(), pairing(job, sentences), NgramLanguageIdentifier(), encoder=sentences)


def encoder(job: Job) -> Encoder | None:
    """Raises `ConfigError` if the encoder cannot be loaded."""
    return _encoder(job.encoder) if job.encoder else None


@cache
def _encoder(model: str) -> Encoder:
    """Loaded once per process, because every site needs it, and again as the site grows."""
    return load_encoder(model)


def pairing(job: Job, sentences: Encoder | None = None) -> Pairing:
    """The pairing that the job asks for. Raises `ConfigError`."""
    unknown = sorted(set(job.pair.methods) - set(Method))
    if unknown:
        raise ConfigError(
            f"pair.methods: there is no method {', '.join(unknown)}; the methods are {''.join(sorted(Method))}"
        )
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
        raise ConfigError(f"{raw!r} is not a URL pair; write it like this: en=fr")
    return a, b


def _lexicons(job: Job) -> Lexicons | None:
    """A dictionary applies to the first two languages of the job."""
    languages = job.languages()
    if not job.pair.dictionary or len(languages) < 2:
        return None
    both = (languages[0], languages[1])
    return Lexicons({both: read_dictionary(Path(job.pair.dictionary), both)})
