"""From archives to replays of them under several strategies."""

import re
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import msgspec

from bitrawl.assemble import codec, pairing, strategy
from bitrawl.config import Job, Strategy
from bitrawl.crawl.frontier import Frontier, Politeness
from bitrawl.crawl.loop import Crawl, LoopSettings
from bitrawl.crawl.memory_queue import MemoryQueue
from bitrawl.crawl.robots import InMemoryRobots, RobotsFetcher
from bitrawl.crawl.scope import Scope, Sites
from bitrawl.errors import ConfigError
from bitrawl.model import (
    OPT_OUTS,
    Capture,
    Directive,
    Language,
    Link,
    LinkKind,
    Page,
    PagePair,
    Reason,
    Sitemap,
    Skip,
    Stage,
)
from bitrawl.page.analyser import page_reader
from bitrawl.page.sandbox import SandboxedAnalyser
from bitrawl.protocols import Analyser, Fetcher, LinkScorer
from bitrawl.simulation.measure import (
    Counted,
    Diary,
    Pair,
    Replayed,
    Run,
    SiteTrials,
    Truth,
    best_harvest,
    in_order,
    landed,
    measure,
    replay,
)
from bitrawl.store.analyses import Analyses
from bitrawl.store.replay import Archives, ReplayFetcher, open_archives
from bitrawl.text.template import without_template
from bitrawl.url import Url

KEPT_PAGES = 4000  # analysed pages in memory, at about 150 kB; of the others the cache on disk knows
KEPT_BYTES = 256_000_000  # of bodies in memory; the others are read from the archive again
MOST_HOMES = 50  # of a host
_INDEX = re.compile(r"/(?:(?:index|default|home)\b[^/]*)?$")
_MISHAPS = frozenset({Reason.ANALYSIS_TIMEOUT, Reason.ANALYSIS_CRASH})  # of a busy machine, perhaps: never kept
_UNKEPT = OPT_OUTS | {Directive.NOINDEX}  # directives with which the loop drops a page


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What to replay an archive with."""

    languages: tuple[Language, ...]
    strategies: tuple[Strategy, ...] = tuple(Strategy)
    alternates: bool = True  # False hides what pages and sitemaps declare as translations
    models: bool = True  # False goes without what was trained beforehand
    weights: dict[str, float] = {}  # of `adaptive`, in place of the package's
    stop: bool = False  # leave a site when the strategy says so, and not only note where


class ReplayClock:
    """Time that passes only where somebody sleeps, so that a replay never depends on the machine."""

    def __init__(self) -> None:
        self._now = 0.0

    def now(self) -> float:
        """Seconds since the replay began."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """At once."""
        self._now += seconds


@asynccontextmanager
async def opened_replay(
    archives: Sequence[Path], *, cache: Path | None = None, one_site: Sequence[Sequence[str]] = ()
) -> AsyncIterator["Replay"]:
    """Archives that can be replayed any number of times; each page is analysed once, with a `cache` once for all."""
    async with AsyncExitStack() as stack:
        folder = cache or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bitrawl-")))
        analyses = Analyses(folder, archives)
        stack.callback(analyses.close)
        opened = stack.enter_context(open_archives(archives, codec()))
        analyser = await stack.enter_async_context(SandboxedAnalyser(page_reader, workers=1, megabytes=1024))
        yield Replay(opened, _Remembered(analyser, analyses), Sites(one_site))


class Replay:
    """Archives as a web that strategies can be tried on."""

    def __init__(self, archives: Archives, analyser: "_Remembered", sites: Sites) -> None:
        self._archives = archives
        self._fetcher = _Read(ReplayFetcher(archives))
        self._analyser = analyser
        self._sites = sites
        self._scopes: dict[tuple[Url, ...], _Scope] = {}
        self._references: dict[tuple[tuple[Url, ...], bool], Run] = {}

    def home_pages(self) -> list[Url]:
        """Each host's root where it is archived, else its uppermost index pages, else its shortest address."""
        hosts: dict[str, list[Url]] = {}
        for url in self._archives.urls():
            hosts.setdefault(url.host, []).append(url)
        return [home for urls in hosts.values() for home in self._homes(urls)]

    def _homes(self, urls: Sequence[Url]) -> list[Url]:
        root = Url.parse(f"{urls[0].origin}/")
        if isinstance(self._archives.answer(root), Capture):
            return [root]
        # Of ten archived sites seven have no root, and the shortest address of one of them is 404.html (2026-11).
        depth = min(url.path.count("/") for url in urls)
        index = sorted(url for url in urls if url.path.count("/") == depth and _INDEX.search(url.path))
        return index[:MOST_HOMES] or [min(urls, key=lambda url: (len(url), url))]

    async def landed(self, pairs: frozenset[Pair]) -> frozenset[Pair]:
        """The pairs by the addresses that the archive has the pages at."""
        return frozenset([in_order((await landed(self._fetcher, a), await landed(self._fetcher, b))) for a, b in pairs])

    async def found_pairs(self, languages: Sequence[Language]) -> list[PagePair]:
        """What bitrawl pairs when it has read the archives whole."""
        sites: dict[str, list[Page]] = {}
        for page in await self.pages():
            sites.setdefault(self._sites.of(page.url.host), []).append(page)
        pairer = pairing(Job(langs=list(languages)))
        pairs: list[PagePair] = []
        for pages in sites.values():
            sitemaps = await self.sitemaps(pages)
            pairs += pairer.pairs(list(without_template(partial(iter, pages))), languages, sitemaps).pairs
        return sorted(pairs, key=lambda pair: (pair.url_a, pair.url_b))

    async def pages(self) -> list[Page]:
        """Every archived page that a crawl would keep, in the order of the addresses."""
        outcomes = [await self._outcome(url) for url in sorted(self._archives.urls())]
        return [one for one in outcomes if isinstance(one, Page) and not _UNKEPT & set(one.directives)]

    async def sitemaps(self, pages: Iterable[Page]) -> list[Sitemap]:
        """Those of the hosts of these pages: where they are by custom, and those that these name."""
        found: dict[Url, Sitemap] = {}
        waiting = [Url.parse(f"{origin}/sitemap.xml") for origin in dict.fromkeys(page.url.origin for page in pages)]
        while waiting:
            url = waiting.pop()
            outcome = await self._outcome(url, index=True)
            if isinstance(outcome, Sitemap):
                found[url] = outcome
                waiting += [link.url for link in outcome.links if link.kind is LinkKind.INDEX and link.url not in found]
        return list(found.values())

    async def trials(
        self, settings: Settings, truth: Truth, seeds: Sequence[Url], tell: Callable[[str, str], None] = lambda *_: None
    ) -> list[SiteTrials]:
        """Every strategy on every site of the seeds; `tell` hears of each before it begins."""
        sites: dict[str, list[Url]] = {}
        for seed in seeds:
            sites.setdefault(self._sites.of(seed.host), []).append(seed)
        if not sites:
            raise ConfigError("the archives hold no page to begin with; name one with --seed-url")
        return [
            await self._site(site, tuple(urls), settings, truth.of(site, self._sites.of), tell)
            for site, urls in sites.items()
        ]

    async def _site(
        self, site: str, seeds: tuple[Url, ...], settings: Settings, truth: Truth, tell: Callable[[str, str], None]
    ) -> SiteTrials:
        tell(site, "exhaustively")
        reference = await self._reference(seeds, settings)
        figures = []
        for name in settings.strategies:
            tell(site, name)
            run = reference
            if name is not Strategy.BREADTH_FIRST:
                scorer = self.strategy(name, settings)
                run = await replay(name, scorer, self.prepared(seeds, settings))
            figures.append(measure(run, truth, reference))
        length = len(reference.kept)
        pages = sum(url is not None for url in reference.kept)
        reachable = measure(reference, truth, reference).pairs
        best = best_harvest(truth.pairs, length)
        return SiteTrials(site, truth, length, pages, reachable, best, tuple(figures))

    def strategy(self, name: Strategy, settings: Settings) -> LinkScorer:
        """A fresh one, as the settings want it."""
        return strategy(name, settings.languages, models=settings.models, weights=settings.weights)

    async def _reference(self, seeds: tuple[Url, ...], settings: Settings) -> Run:
        """Breadth-first goes the same way whatever the languages."""
        key = (seeds, settings.alternates)
        if key not in self._references:
            scorer = strategy(Strategy.BREADTH_FIRST, settings.languages)
            run = await replay(Strategy.BREADTH_FIRST, scorer, self.prepared(seeds, settings))
            self._references[key] = run
        return self._references[key]

    def prepared(self, seeds: Sequence[Url], settings: Settings) -> Callable[[LinkScorer], Replayed]:
        """What makes a crawl of those seeds for any strategy."""
        analyser: Analyser = self._analyser if settings.alternates else _WithoutAlternates(self._analyser)
        scope = self._scopes.setdefault(tuple(seeds), _Scope(self._sites, seeds))

        def prepare(scorer: LinkScorer) -> Replayed:
            clock, diary, counted = ReplayClock(), Diary(self._sites.of), Counted(self._fetcher)
            robots = RobotsFetcher(counted, InMemoryRobots(), clock, pause=0.0)
            crawl = Crawl(
                Frontier(MemoryQueue(), clock, self._sites.of, Politeness(delay=0.0)),
                fetcher=robots,
                analyser=analyser,
                scorer=scorer,
                ledger=diary,
                scope=scope,
                clock=clock,
                settings=LoopSettings(parallel=1, probe=False, exhaustive=not settings.stop),
                sitemaps_of=robots.sitemaps,
            )
            crawl.seed([Link(url, LinkKind.SEED) for url in seeds])
            return Replayed(crawl, diary, counted)

        return prepare

    async def _outcome(self, url: Url, *, index: bool = False) -> Page | Sitemap | Skip:
        answer = await self._fetcher.fetch(Link(url, LinkKind.ARCHIVE))
        if isinstance(answer, Skip) or answer.status >= 300:
            return answer if isinstance(answer, Skip) else Skip(url, Stage.FETCH, Reason.REDIRECT)
        return await self._analyser.analyse(answer, index=index)


class _Scope(Scope):
    """The same verdicts, each reached once: the links of an archive are the same for all strategies.

    On apisix, 1,653 fetches with 132,000 links, a replay takes 1.1 s of CPU and not 1.5 (2026-11).
    """

    def __init__(self, sites: Sites, seeds: Sequence[Url]) -> None:
        super().__init__(sites, seeds)
        self._known: dict[tuple[Url, Url | None, LinkKind, str], Skip | None] = {}

    def refusal(self, link: Link) -> Skip | None:
        """As `Scope` says; only where there are parameters does it matter where a link was found."""
        key = (link.url, link.source if "?" in link.url else None, link.kind, link.rel)
        if key not in self._known:
            self._known[key] = super().refusal(link)
        return self._known[key]


class _Read:
    """Answers that are wanted again for each strategy, in memory as far as they fit."""

    def __init__(self, inner: Fetcher) -> None:
        self._inner = inner
        self._answers: dict[Url, Capture | Skip] = {}
        self._bytes = 0

    async def fetch(self, link: Link) -> Capture | Skip:
        """As `protocols.Fetcher`."""
        known = self._answers.get(link.url)
        if known is not None:
            return known
        answer = await self._inner.fetch(link)
        size = len(answer.body) if isinstance(answer, Capture) else 0
        if self._bytes + size <= KEPT_BYTES:
            self._bytes += size
            self._answers[link.url] = answer
        return answer


class _Remembered:
    """Each page is analysed once: then it comes from memory, or from the cache on disk."""

    def __init__(self, inner: Analyser, analyses: Analyses) -> None:
        self._inner = inner
        self._analyses = analyses
        self._outcomes: dict[tuple[Url, bool], Page | Sitemap | Skip] = {}

    async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        """As `protocols.Analyser`."""
        key = (capture.url, index)
        known = self._outcomes.get(key)
        if known is not None:
            return known
        outcome = self._analyses.get(capture.url, index=index)
        mishap = False
        if outcome is None:
            outcome = await self._inner.analyse(capture, index=index)
            mishap = isinstance(outcome, Skip) and outcome.reason in _MISHAPS
            if not mishap:
                self._analyses.put(capture.url, outcome, index=index)
        if mishap or len(self._outcomes) < KEPT_PAGES:
            self._outcomes[key] = outcome
        return outcome


class _WithoutAlternates:
    """As if no page and no sitemap declared a translation: the links remain, as links like any other."""

    def __init__(self, inner: Analyser) -> None:
        self._inner = inner

    async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        """As `protocols.Analyser`."""
        outcome = await self._inner.analyse(capture, index=index)
        if isinstance(outcome, Skip):
            return outcome
        kind = LinkKind.PAGE if isinstance(outcome, Page) else LinkKind.SITEMAP
        links = tuple(_undeclared(link, kind) for link in outcome.links)
        return msgspec.structs.replace(outcome, links=links, alternates=())


def _undeclared(link: Link, kind: LinkKind) -> Link:
    if link.kind is not LinkKind.ALTERNATE and not link.hreflang:
        return link
    return msgspec.structs.replace(link, kind=kind if link.kind is LinkKind.ALTERNATE else link.kind, hreflang="")
