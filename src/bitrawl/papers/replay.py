"""Replays archives, so that strategies can be compared.

    async with opened_replay([Path("site.warc.gz")]) as replay:
        trials = await replay.trials(settings, truth, replay.home_pages())

What every strategy asks of an archive is remembered, so that it is computed only once.
"""

import asyncio
import heapq
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec

from bitrawl.archive.archived_web import Archives, ReplayFetcher, home_pages
from bitrawl.crawling import (
    Crawl,
    Frontier,
    LoopSettings,
    PageSource,
    Politeness,
    Reach,
    RobotsFetcher,
    Scope,
    ScopeRules,
    Sites,
    most_waiting,
)
from bitrawl.errors import ConfigError, UrlError
from bitrawl.folder_files import warc_files
from bitrawl.mining.pairing import Pairing
from bitrawl.model import (
    MAX_REDIRECTS,
    OPT_OUTS,
    Capture,
    Directive,
    Language,
    Link,
    LinkKind,
    Page,
    PagePair,
    Sitemap,
    Skip,
)
from bitrawl.page import AnalysisSection, SandboxedAnalyser, page_reader
from bitrawl.papers.measure import SiteTrials, best_harvest, measure
from bitrawl.papers.trial import (
    CountingFetcher,
    MemoryQueue,
    Replayed,
    ReplayLedger,
    ReplayRun,
    Truth,
    UrlPair,
    in_order,
    run_trial,
)
from bitrawl.protocols import Analyser, Fetcher, LinkScorer, StrategyInputs
from bitrawl.reasons import Reason, Stage
from bitrawl.store.analyses import Analyses
from bitrawl.strategies import UNFOCUSED, BreadthFirst, Strategy, strategy
from bitrawl.text.template import without_template
from bitrawl.url import Url

TURNS = 50  # of the event loop, in which everybody acts at the current time
QUICKEST, SPREAD = 0.05, 0.3  # seconds until an answer: the least, and how much hosts and pages differ
KEPT_PAGES = 4000  # analysed pages in memory, about 150 kB each; the others are read from the cache on disk
KEPT_BYTES = 256_000_000  # of bodies in memory; the others are read from the archive again
_MISHAPS = frozenset(
    {Reason.ANALYSIS_TIMEOUT, Reason.ANALYSIS_CRASH, Reason.KILLED}
)  # A busy machine may cause these, so they are never stored on disk.


class RememberedScope(Scope):
    """Decides on each link once, because the links of an archive are the same for all strategies.

    On apisix (1,653 fetches with 132,000 links), a replay takes 1.1 s of CPU instead of 1.5 s (2026-11).
    """

    def __init__(self, sites: Sites, seeds: Sequence[Url]) -> None:
        super().__init__(sites, seeds, ScopeRules(reach=Reach.DOMAIN))
        self._known: dict[tuple[Url, Url | None, LinkKind, str], Skip | None] = {}

    def refusal(self, link: Link) -> Skip | None:
        """Decides as `Scope` does. Where a link was found matters only if it has parameters."""
        key = (link.url, link.source if "?" in link.url else None, link.kind, link.rel)
        if key not in self._known:
            self._known[key] = super().refusal(link)
        return self._known[key]


class RememberedAnswers:
    """Keeps answers in memory as long as they fit, because each strategy asks for them again."""

    def __init__(self, inner: Fetcher) -> None:
        self._inner = inner
        self._answers: dict[Url, Capture | Skip] = {}
        self._bytes = 0

    async def fetch(self, link: Link) -> Capture | Skip:
        answer = self._answers.get(link.url)
        if answer is not None:
            return answer
        answer = await self._inner.fetch(link)
        size = len(answer.body) if isinstance(answer, Capture) else 0
        if self._bytes + size <= KEPT_BYTES:
            self._bytes += size
            self._answers[link.url] = answer
        return answer


class RememberedAnalyses:
    """Analyses each page once. After that it comes from memory, or from the cache on disk."""

    def __init__(self, inner: Analyser, analyses: Analyses) -> None:
        self._inner = inner
        self._analyses = analyses
        self._outcomes: dict[tuple[Url, bool], Page | Sitemap | Skip] = {}

    async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        key = (capture.url, index)
        outcome = self._outcomes.get(key)
        if outcome is not None:
            return outcome
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


_UNKEPT = OPT_OUTS | {Directive.NOINDEX}  # the loop drops pages with these directives


class ReplaySettings(msgspec.Struct, frozen=True, kw_only=True):
    """How to replay an archive."""

    languages: tuple[Language, ...]
    strategies: tuple[str, ...] = UNFOCUSED
    alternates: bool = True  # False hides the translations that pages and sitemaps declare
    models: bool = True  # False uses no trained models
    weights: dict[str, float] = {}  # of `adaptive`; they replace the package's weights
    exhaustive: bool = False  # visit what a strategy would not follow, too, after all else
    stop: bool = False  # end a replay where the strategy leaves the site; otherwise only note where
    in_flight: int = 1  # visits at once; see `InFlightWeb`


class ReplayClock:
    """A clock that only `sleep` moves, so that a replay never depends on the machine.

    Who sleeps is woken in the order of time, one by one, when nobody else has anything to do. What takes time beside the
    clock, because it waits for a process, is done while the clock stands still.
    """

    def __init__(self) -> None:
        self._now = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = count()
        self._waking: asyncio.Task[None] | None = None
        self._still = 0
        self._moves = asyncio.Event()

    def now(self) -> float:
        """Seconds since the replay began."""
        return self._now

    def date(self) -> float:
        """Seconds since the replay began, which has no date."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Takes no time of the machine."""
        sleeper: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now + seconds, next(self._order), sleeper))
        if self._waking is None or self._waking.done():
            self._waking = asyncio.ensure_future(self._wake())
        await sleeper

    @contextmanager
    def stand_still(self) -> Iterator[None]:
        """Nobody is woken meanwhile."""
        self._still += 1
        try:
            yield
        finally:
            self._still -= 1
            self._moves.set()

    async def _wake(self) -> None:
        while self._sleepers:
            for _ in range(TURNS):
                await asyncio.sleep(0)
            if self._still:
                self._moves.clear()
                await self._moves.wait()
                continue
            at, _, sleeper = heapq.heappop(self._sleepers)
            if not sleeper.done():  # cancelled
                self._now = max(self._now, at)
                sleeper.set_result(None)


class InFlightWeb:
    """Makes a replay like a crawl of the live web: answers take time, hosts rest, and several visits are in flight.

    Reading a page takes no time. With one visit at a time, everything is there at once, and each page is read before the
    next is chosen.
    """

    def __init__(self, fetcher: Fetcher, analyser: Analyser, clock: ReplayClock, in_flight: int = 1) -> None:
        self._fetcher, self._analyser, self._clock, self._in_flight = fetcher, analyser, clock, in_flight

    async def fetch(self, link: Link) -> Capture | Skip:
        """Some hosts are slower than others, and so are some pages, the same at each run."""
        if self._in_flight > 1:
            host, page = (crc32(name.encode()) % 1000 / 1000 for name in (link.url.host, link.url))
            await self._clock.sleep(QUICKEST + SPREAD * (host + page))
        return await self._fetcher.fetch(link)

    async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        with self._clock.stand_still():
            return await self._analyser.analyse(capture, index=index)

    @property
    def politeness(self) -> Politeness:
        return Politeness(delay=1.0 if self._in_flight > 1 else 0.0)

    def settings(self, **others: Any) -> LoopSettings:
        return LoopSettings(parallel=self._in_flight, waiting=most_waiting(self._in_flight), probe=False, **others)


@asynccontextmanager
async def opened_replay(
    archives: Sequence[Path],
    *,
    cache: Path | None = None,
    one_site: Sequence[Sequence[str]] = (),
    languages: Sequence[Language] = (),
) -> AsyncIterator["Replay"]:
    """Archives that can be replayed any number of times. Each page is analysed once; with a `cache`, once for all runs.

    A folder stands for the WARC files in it. `languages` are those that a crawl would be told.
    """
    files = warc_files(archives)
    async with AsyncExitStack() as stack:
        folder = cache or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bitrawl-")))
        analyses = Analyses(folder, files, languages)
        stack.callback(analyses.close)
        opened = stack.enter_context(Archives(files))
        reader = partial(page_reader, tuple(languages))
        analyser = await stack.enter_async_context(SandboxedAnalyser(reader, AnalysisSection(workers=1)))
        yield Replay(opened, RememberedAnalyses(analyser, analyses), Sites(one_site))


class Replay:
    """Archives that replace the web, to try strategies on."""

    def __init__(self, archives: Archives, analyser: RememberedAnalyses, sites: Sites) -> None:
        self._archives = archives
        self.fetcher = RememberedAnswers(ReplayFetcher(archives))
        self.analyser = analyser
        self._sites = sites
        self._scopes: dict[tuple[Url, ...], RememberedScope] = {}
        self._references: dict[tuple[tuple[Url, ...], bool, int], ReplayRun] = {}

    def home_pages(self) -> list[Url]:
        """Where a replay starts if you name no seeds."""
        return home_pages(self._archives)

    def archived(self, seeds: Iterable[Url]) -> dict[Url, Url | None]:
        """The seeds as they are archived, with http or https; None for those that are not."""
        return {url: self._archives.archived_as(url) for url in seeds}

    def holds(self, pairs: Iterable[UrlPair]) -> int:
        """How many of the pairs have both pages in the archives."""
        return sum(all(self._archives.archived_as(url) == url for url in pair) for pair in pairs)

    async def landed(self, pairs: frozenset[UrlPair]) -> frozenset[UrlPair]:
        """The pairs with the URLs under which the pages are archived."""
        return frozenset([in_order((await landed(self.fetcher, a), await landed(self.fetcher, b))) for a, b in pairs])

    async def found_pairs(self, languages: Sequence[Language]) -> list[PagePair]:
        """The pairs that bitrawl finds when it has read the archives completely."""
        sites: dict[str, list[Page]] = {}
        for page in await self.pages():
            sites.setdefault(self._sites.of(page.url.host), []).append(page)
        pairer = Pairing()
        pairs: list[PagePair] = []
        for pages in sites.values():
            sitemaps = await self.sitemaps(pages)
            pairs += pairer.pairs(list(without_template(partial(iter, pages))), languages, sitemaps).pairs
        return sorted(pairs, key=lambda pair: (pair.url_a, pair.url_b))

    async def pages(self) -> list[Page]:
        """Every archived page that a crawl would keep, sorted by URL."""
        outcomes = [await self._outcome(url) for url in sorted(self._archives.urls())]
        return [page for page in outcomes if isinstance(page, Page) and not _UNKEPT & set(page.directives)]

    async def page(self, url: Url) -> Page | None:
        """One archived page; None where it redirects, or is no page."""
        outcome = await self._outcome(url)
        return outcome if isinstance(outcome, Page) else None

    async def sitemaps(self, pages: Iterable[Page]) -> list[Sitemap]:
        """The sitemaps of these pages' hosts: at the usual places, and those that these sitemaps name."""
        sitemaps: dict[Url, Sitemap] = {}
        waiting = [Url.parse(f"{origin}/sitemap.xml") for origin in dict.fromkeys(page.url.origin for page in pages)]
        while waiting:
            url = waiting.pop()
            outcome = await self._outcome(url, index=True)
            if isinstance(outcome, Sitemap):
                sitemaps[url] = outcome
                links = (link for part in outcome.parts() for link in part.links)
                waiting += [link.url for link in links if link.kind is LinkKind.INDEX and link.url not in sitemaps]
        return list(sitemaps.values())

    async def trials(
        self,
        settings: ReplaySettings,
        truth: Truth,
        seeds: Sequence[Url],
        tell: Callable[[str, str], None] = lambda *_: None,
    ) -> list[SiteTrials]:
        """Try every strategy on every site of the seeds.

        `tell` gets the site and the strategy before each trial begins.
        """
        sites: dict[str, list[Url]] = {}
        for seed in seeds:
            sites.setdefault(self._sites.of(seed.host), []).append(self._archives.archived_as(seed) or seed)
        if not sites:
            raise ConfigError("the archives contain no page to start from; name other seeds with --seeds-file")
        return [
            await self._site(site, tuple(urls), settings, truth.of(site, self._sites.of), tell)
            for site, urls in sites.items()
        ]

    async def _site(
        self,
        site: str,
        seeds: tuple[Url, ...],
        settings: ReplaySettings,
        truth: Truth,
        tell: Callable[[str, str], None],
    ) -> SiteTrials:
        tell(site, "exhaustively")
        reference = await self._reference(seeds, settings)
        figures = []
        for name in settings.strategies:
            tell(site, name)
            run = reference
            if name != Strategy.BREADTH_FIRST:
                scorer = self.strategy(name, settings)
                run = await run_trial(name, scorer, self.prepared(seeds, settings))
            figures.append(measure(run, truth, reference))
        length = len(reference.kept)
        pages = sum(url is not None for url in reference.kept)
        reachable = measure(reference, truth, reference).pairs
        best = best_harvest(truth.pairs, length)
        return SiteTrials(site, truth, length, pages, reachable, best, tuple(figures), reference.languages)

    def strategy(self, name: str, settings: ReplaySettings) -> LinkScorer:
        """A new strategy, built as the settings ask."""
        return strategy(name, StrategyInputs(settings.languages, models=settings.models, weights=settings.weights))

    async def _reference(self, seeds: tuple[Url, ...], settings: ReplaySettings) -> ReplayRun:
        """Exhaustive breadth-first, which does not depend on the languages."""
        key = (seeds, settings.alternates, settings.in_flight)
        if key not in self._references:
            run = await run_trial(Strategy.BREADTH_FIRST, BreadthFirst(), self.prepared(seeds, settings))
            self._references[key] = run
        return self._references[key]

    def prepared(self, seeds: Sequence[Url], settings: ReplaySettings) -> Callable[[LinkScorer], Replayed]:
        """A function that makes a crawl of those seeds for any strategy."""
        analyser: Analyser = self.analyser if settings.alternates else _WithoutAlternates(self.analyser)
        scope = self._scopes.setdefault(tuple(seeds), RememberedScope(self._sites, seeds))

        def prepare(scorer: LinkScorer) -> Replayed:
            clock, ledger, counted = ReplayClock(), ReplayLedger(self._sites.of), CountingFetcher(self.fetcher)
            web = InFlightWeb(counted, analyser, clock, settings.in_flight)
            robots = RobotsFetcher(web, clock, web.politeness.to_archives)
            crawl = Crawl(
                Frontier(MemoryQueue(), clock, self._sites.of, web.politeness),
                PageSource(robots, web, robots.sitemaps),
                scorer=scorer,
                ledger=ledger,
                scope=scope,
                settings=web.settings(exhaustive=settings.exhaustive, leave=settings.stop),
            )
            crawl.seed([Link(url, LinkKind.SEED) for url in seeds])
            return Replayed(crawl, ledger, counted)

        return prepare

    async def _outcome(self, url: Url, *, index: bool = False) -> Page | Sitemap | Skip:
        answer = await self.fetcher.fetch(Link(url, LinkKind.ARCHIVE))
        if isinstance(answer, Skip) or answer.status >= 300:
            return answer if isinstance(answer, Skip) else Skip(url, Stage.FETCH, Reason.REDIRECT)
        return await self.analyser.analyse(answer, index=index)


class _WithoutAlternates:
    """Hides that pages and sitemaps declare translations. Their links remain, as ordinary links."""

    def __init__(self, inner: Analyser) -> None:
        self._inner = inner

    async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        outcome = await self._inner.analyse(capture, index=index)
        if isinstance(outcome, Skip):
            return outcome
        if isinstance(outcome, Sitemap):
            listed = [_undeclared(link, LinkKind.SITEMAP) for part in outcome.parts() for link in part.links]
            return Sitemap.of(outcome.url, listed)
        links = tuple(_undeclared(link, LinkKind.PAGE) for link in outcome.links)
        return msgspec.structs.replace(outcome, links=links, alternates=())


def _undeclared(link: Link, kind: LinkKind) -> Link:
    if link.kind is not LinkKind.ALTERNATE and not link.hreflang:
        return link
    return msgspec.structs.replace(link, kind=kind if link.kind is LinkKind.ALTERNATE else link.kind, hreflang="")


async def landed(fetcher: Fetcher, url: Url) -> Url:
    """Where a URL leads. A truth file may name a page by a URL that redirects to it."""
    for _ in range(MAX_REDIRECTS):
        answer = await fetcher.fetch(Link(url, LinkKind.PAGE))
        if isinstance(answer, Skip) or not 300 <= answer.status < 400:
            return url
        try:
            url = answer.redirect_target()
        except UrlError:
            return url
    return url
