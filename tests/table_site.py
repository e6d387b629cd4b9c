"""A site given as a table of pages, and the real loop that walks it under a strategy."""

import hashlib
from collections.abc import Iterable, Sequence

from bitrawl.crawling import Crawl, Frontier, LoopSettings, PageSource, Politeness, Scope, Sites
from bitrawl.model import Capture, Language, Link, LinkKind, Page, Paragraph, Sitemap, Skip
from bitrawl.papers.trial import MemoryQueue, ReplayLedger
from bitrawl.protocols import LinkScorer
from bitrawl.reasons import LeaveReason
from bitrawl.testing import FakeClock, FakeWeb
from bitrawl.url import Url

HOST = "http://site.test"


def url(path: str) -> Url:
    return Url.parse(path if "://" in path else HOST + path)


def page(path: str, language: str, targets: str | Sequence[str] = (), *, size: int = 100, hreflang: str = "") -> Page:
    """A list of links, each in its item; `hreflang` makes them declared alternates."""
    names = targets.split() if isinstance(targets, str) else targets
    kind = LinkKind.ALTERNATE if hreflang else LinkKind.PAGE
    links = tuple(
        Link(url(name), kind, url(path), position=3 * place + 1, hreflang=hreflang) for place, name in enumerate(names)
    )
    return Page(
        url(path),
        Language(language),
        paragraphs=(Paragraph("x" * size),),
        links=links,
        tags=("li", "a", "#text") * len(links) + ("p", "#text"),
        signature=int.from_bytes(hashlib.blake2b(path.encode(), digest_size=8).digest()),
    )


def site(*pages: Page) -> dict[Url, Page]:
    return {one.url: one for one in pages}


def moved(path: str, to: str) -> Capture:
    return Capture(url(path), 301, (("Location", to),), b"", at=0.0)


class Walk:
    """One crawl; what is in neither table is missing."""

    def __init__(
        self,
        scorer: LinkScorer,
        pages: dict[Url, Page],
        seeds: Iterable[str],
        *,
        redirects: Iterable[Capture] = (),
        sitemap: Sitemap | None = None,
        exhaustive: bool = False,
    ) -> None:
        self._pages = pages
        self._sitemap = sitemap
        clock, sites = FakeClock(), Sites()
        table: dict[str, str | Capture | Skip] = dict.fromkeys(pages, "<p>")
        if sitemap is not None:
            table[sitemap.url] = "<urlset>"
        self._web = FakeWeb(table | {capture.url: capture for capture in redirects})
        self.diary = ReplayLedger(sites.of)
        self._first = [url(seed) for seed in seeds]
        self._crawl = Crawl(
            Frontier(MemoryQueue(), clock, sites.of, Politeness(delay=0)),
            PageSource(self._web, self),
            scorer=scorer,
            ledger=self.diary,
            scope=Scope(sites, self._first),
            settings=LoopSettings(parallel=1, probe=False, sitemaps=sitemap is not None, leave=not exhaustive),
        )

    async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        """As `protocols.Analyser`."""
        if index and self._sitemap is not None:
            return self._sitemap
        return self._pages[capture.url]

    async def run(self) -> list[str]:
        """The addresses in the order of their fetches, those of the site by their paths."""
        self._crawl.seed([Link(seed, LinkKind.SEED) for seed in self._first])
        await self._crawl.run()
        assert self.diary.faults == 0
        return [asked.removeprefix(HOST) for asked in self._web.asked]

    @property
    def left(self) -> LeaveReason:
        return self.diary.knowledge("site.test").left
