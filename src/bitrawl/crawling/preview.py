"""What a crawl would meet: each seed's host asked for its rules, the seed and a sitemap, and for nothing else."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from bitrawl.crawling.fetch import understand
from bitrawl.crawling.robots import RobotsFetcher
from bitrawl.crawling.scope import Scope
from bitrawl.crawling.settings import Politeness
from bitrawl.model import UNDETERMINED, Alternate, Capture, Language, Link, LinkKind, Page, Sitemap, Skip
from bitrawl.protocols import Analyser, Clock
from bitrawl.reasons import NO_ANSWER, Reason, Stage
from bitrawl.url import Url

PARALLEL = 16  # hosts at once; as many as a crawl visits by default


class SitemapPreview(msgspec.Struct, frozen=True):
    """The first sitemap file of a host; of an index, the first file that it names."""

    url: Url
    urls: int = 0  # in scope, that the file lists
    files: int = 1  # that the index names; 1 where there is no index
    skip: Skip | None = None  # why the file was not read

    @property
    def estimated(self) -> int:
        """URLs in all files, if the others are as long as the first."""
        return self.urls * self.files


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What a crawl would meet on one host."""

    host: str
    seed: Url
    skip: Skip | None = None  # why the seed is no page, or is not kept
    crawl_delay: float = 0.0  # seconds, that robots.txt asks for
    language: Language = UNDETERMINED  # of the seed's text
    html_lang: str = ""  # that the seed declares
    languages: dict[str, int] = {}  # URLs by the language that the seed and the sitemap declare for them
    links: int = 0  # in scope, on the seed
    sitemaps_named: tuple[Url, ...] = ()  # in robots.txt
    sitemap: SitemapPreview | None = None  # None where the host did not answer
    seconds_a_visit: float = 0.0  # the fetch and the pause after it

    @property
    def allowed(self) -> bool:
        """Whether robots.txt and the reservations of host and page let us keep the seed."""
        return self.skip is None or self.skip.stage is not Stage.ROBOTS

    @property
    def seconds(self) -> float:
        """How long all URLs of the sitemap would take; 0 where there is no sitemap to go by."""
        return self.sitemap.estimated * self.seconds_a_visit if self.sitemap else 0.0


@dataclass
class Previewer:
    """Asks as politely as the crawl would, and writes nothing."""

    fetcher: RobotsFetcher
    analyser: Analyser
    scope: Scope
    clock: Clock
    politeness: Politeness

    async def preview(self, seeds: Sequence[Url]) -> list[Preview]:
        """One for each host, in the order of the seeds; only the first seed of a host is visited."""
        first = {seed.host: seed for seed in reversed(seeds)}
        slots = asyncio.Semaphore(PARALLEL)

        async def preview(host: str) -> Preview:
            async with slots:
                return await _HostVisit(self, first[host]).preview()

        return list(await asyncio.gather(*map(preview, dict.fromkeys(seed.host for seed in seeds))))


class _HostVisit:
    """The few requests to one host, with the pauses between them."""

    def __init__(self, settings: Previewer, seed: Url) -> None:
        self._settings = settings
        self._seed = seed
        self._took = 0.0  # by the fetch before
        self._is_first = True

    async def preview(self) -> Preview:
        outcome = await self._page(Link(self._seed, LinkKind.SEED))
        page = outcome if isinstance(outcome, Page) else None
        skip = page.objection(opt_outs=self._settings.politeness.opt_outs) if page else outcome
        preview = Preview(host=self._seed.host, seed=self._seed, skip=skip if isinstance(skip, Skip) else None)
        if preview.skip is not None and preview.skip.reason in NO_ANSWER:
            return preview
        seconds = self._took + self._rest()
        origin = (page.url if page else self._seed).origin
        named = self._settings.fetcher.sitemaps(origin)
        read, alternates = await self._sitemap(named[0] if named else Url.parse(f"{origin}/sitemap.xml"))
        return msgspec.structs.replace(
            preview,
            crawl_delay=self._settings.fetcher.crawl_delay(self._seed.host),
            language=page.language if page else UNDETERMINED,
            html_lang=page.metadata.html_lang if page else "",
            languages=_by_language([*(page.alternates if page else ()), *alternates]),
            links=self._in_scope(page.links) if page else 0,
            sitemaps_named=named,
            sitemap=read,
            seconds_a_visit=seconds,
        )

    async def _page(self, link: Link) -> Page | Sitemap | Skip:
        """The seed, or the page that it redirects to while that is in scope."""
        outcome = await self._visit(link)
        if not isinstance(outcome, Skip) or (target := outcome.target) is None:
            return outcome
        redirects = link.redirects + 1
        link = msgspec.structs.replace(link, url=target, kind=LinkKind.REDIRECT, source=link.url, redirects=redirects)
        self._settings.scope.new_hosts([link])
        return self._settings.scope.refusal(link) or await self._page(link)

    async def _sitemap(self, url: Url) -> tuple[SitemapPreview, list[Alternate]]:
        """The first file, and the translations that it declares."""
        read = await self._index(url)
        if isinstance(read, Skip):
            return SitemapPreview(url, skip=read), []
        files = [link.url for part in read.parts() for link in part.links if link.kind is LinkKind.INDEX]
        if files:
            url, read = files[0], await self._index(files[0])
            if isinstance(read, Skip):
                return SitemapPreview(url, files=len(files), skip=read), []
        alternates = [alternate for part in read.parts() for group in part.alternates for alternate in group]
        links = (link for part in read.parts() for link in part.links)
        return SitemapPreview(url, self._in_scope(links), max(1, len(files))), alternates

    async def _index(self, url: Url) -> Sitemap | Skip:
        link = Link(url, LinkKind.INDEX)
        if refusal := self._settings.scope.refusal(link):
            return refusal
        outcome = await self._visit(link)
        return outcome if isinstance(outcome, Sitemap | Skip) else Skip(url, Stage.ANALYSE, Reason.CONTENT_TYPE)

    async def _visit(self, link: Link) -> Page | Sitemap | Skip:
        if not self._is_first:
            await self._settings.clock.sleep(self._rest())
        self._is_first = False
        answer = await self._settings.fetcher.fetch(link)
        self._took = answer.took if isinstance(answer, Capture) else 0.0
        return answer if isinstance(answer, Skip) else await understand(link, answer, self._settings.analyser)

    def _rest(self) -> float:
        return self._settings.politeness.delay_after(
            self._took, asked=self._settings.fetcher.crawl_delay(self._seed.host)
        )

    def _in_scope(self, links: Iterable[Link]) -> int:
        links = list(links)
        self._settings.scope.new_hosts(links)
        refusal = self._settings.scope.refusal
        return len({link.url for link in links if link.kind is not LinkKind.INDEX and refusal(link) is None})


def _by_language(alternates: Sequence[Alternate]) -> dict[str, int]:
    """Most first; x-default and what names no language are left out."""
    urls: dict[str, set[Url]] = {}
    for alternate in alternates:
        if alternate.language and alternate.language != "x-default":
            urls.setdefault(alternate.language, set()).add(alternate.url)
    return {code: len(urls[code]) for code in sorted(urls, key=lambda code: (-len(urls[code]), code))}
