"""Small sites, cut from the site packs along their links: most of the web is small, and a small site forgives nothing.

A cut begins at a page of a true pair and follows the links from there, first come first taken. A page brings its
translation with it, as far as it has one. Only pages in the two languages are taken, until there are enough. What leads
out of the cut is taken out of its pages, so that a cut is a whole site. The cuts depend on nothing but the packs.
"""

from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from bitrawl.archive.archived_web import Archives
from bitrawl.crawling import Sites
from bitrawl.languages import same_language
from bitrawl.model import Capture, Language, Page, Sitemap, Skip
from bitrawl.page import AnalysisSection, SandboxedAnalyser
from bitrawl.page.analyser import page_reader
from bitrawl.papers.replay import RememberedAnalyses, Replay
from bitrawl.papers.trial import Truth, UrlPair
from bitrawl.reasons import Reason, Stage
from bitrawl.store.analyses import Analyses
from bitrawl.url import Url
from lab.train.site_packs import SitePack


class Cut(NamedTuple):
    """Where to begin, and when there is enough."""

    site: str
    language: str  # beside English
    pages: int
    place: float  # of the page that it begins with, among the pages of true pairs by address
    seeds: int = 1  # 2 where no page links to another language: the first page, and its translation

    @property
    def languages(self) -> tuple[Language, Language]:
        return Language("en"), Language(self.language)


CUTS = (
    Cut("wet-styleguide", "fr", 20, 0.0),
    Cut("installation-guide", "de", 30, 0.5, 2),
    Cut("webgl-fundamentals", "ja", 40, 0.0),
    Cut("apisix", "zh", 50, 0.3),
    Cut("gimp-help", "fr", 60, 0.0, 2),
    Cut("openbsd-2009", "de", 70, 0.0),
    Cut("debian-handbook", "es", 90, 0.0, 2),
    Cut("lilypond", "fr", 110, 0.5),
    Cut("debian-manuals", "fr", 130, 0.5, 2),
    Cut("apache-httpd", "fr", 150, 0.0),
)


class SmallSite(NamedTuple):
    """A cut, ready to be replayed."""

    replay: Replay
    seeds: tuple[Url, ...]
    truth: Truth


@asynccontextmanager
async def opened_cut(cut: Cut, sites: Path, cache: Path) -> AsyncIterator[SmallSite]:
    pack = SitePack.open(sites / cut.site)
    async with AsyncExitStack() as stack:
        analyses = Analyses(cache, [pack.archive])
        stack.callback(analyses.close)
        archives = stack.enter_context(Archives([pack.archive]))
        child = await stack.enter_async_context(SandboxedAnalyser(page_reader, AnalysisSection(workers=1)))
        analyser = RememberedAnalyses(child, analyses)
        pairs = pack.true_pairs(cut.languages)
        urls = await _taken(cut, archives, analyser, pairs)
        inside = frozenset(urls)
        replay = Replay(
            CutArchives(archives, inside),  # type: ignore[arg-type] # as `Archives`, as far as a replay asks
            CutAnalyser(analyser, inside),  # type: ignore[arg-type]
            Sites(),
        )
        truth = Truth(frozenset(pair for pair in pairs if inside.issuperset(pair)), pack.uncounted_pairs())
        yield SmallSite(replay, tuple(urls[: cut.seeds]), truth)


async def _taken(cut: Cut, archives: Archives, analyser: RememberedAnalyses, pairs: Iterable[UrlPair]) -> list[Url]:
    partners = {one: other for a, b in sorted(pairs) for one, other in ((a, b), (b, a))}
    waiting = deque([sorted(partners)[int(cut.place * (len(partners) - 1))]])
    taken: dict[Url, None] = {}
    seen = set(waiting)
    while waiting and len(taken) < cut.pages:
        url = waiting.popleft()
        page = await _page(url, archives, analyser)
        if page is None or not any(same_language(page.language, wanted) for wanted in cut.languages):
            continue
        taken[url] = None
        if url in partners:
            taken[partners[url]] = None
        for link in page.links:
            if link.url not in seen and link.url.site == url.site:
                seen.add(link.url)
                waiting.append(link.url)
    return list(taken)


async def _page(url: Url, archives: Archives, analyser: RememberedAnalyses) -> Page | None:
    answer = archives.answer(url)
    if isinstance(answer, Skip) or answer.status >= 300:
        return None
    outcome = await analyser.analyse(answer)
    return outcome if isinstance(outcome, Page) else None


class CutArchives:
    """Archives without the pages outside the cut."""

    def __init__(self, inner: Archives, inside: frozenset[Url]) -> None:
        self._inner = inner
        self._inside = inside

    def answer(self, url: Url) -> Capture | Skip:
        if url not in self._inside:
            return Skip(url, Stage.FETCH, Reason.HTTP_STATUS, status=404)
        return self._inner.answer(url)

    def archived_as(self, url: Url) -> Url | None:
        return url if url in self._inside else None


class CutAnalyser:
    """An analyser that does not see links out of the cut."""

    def __init__(self, inner: RememberedAnalyses, inside: frozenset[Url]) -> None:
        self._inner = inner
        self._inside = inside

    async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        outcome = await self._inner.analyse(capture, index=index)
        if not isinstance(outcome, Page):
            return outcome
        return msgspec.structs.replace(
            outcome,
            links=tuple(link for link in outcome.links if link.url in self._inside),
            alternates=tuple(one for one in outcome.alternates if one.url in self._inside),
        )
