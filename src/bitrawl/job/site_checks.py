"""Checks many sites at once, each as politely as a crawl: what a `SiteCheck` wants is fetched, what comes is told."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import NamedTuple

import msgspec

from bitrawl.archive.archived_web import Archives, ReplayFetcher, home_pages
from bitrawl.crawling import Politeness, RobotsFetcher, visit
from bitrawl.discover.site_check import CheckSettings, DeclaredSiteCheck, site_judges
from bitrawl.discover.site_lists import SiteAnswer, SiteCheck, SiteVerdict
from bitrawl.folder_files import warc_files
from bitrawl.job import fetching
from bitrawl.job.fetching import POLITE, FetchPolicy
from bitrawl.model import OPT_OUTS, Language, Link, LinkKind, Page, Visit
from bitrawl.protocols import Analyser, Clock, Fetcher
from bitrawl.url import Url

PARALLEL = 16  # sites at once; as many pages as a crawl visits by default

MakeCheck = Callable[[Link], SiteCheck]


class SiteChecks:
    """Runs checks over a fetcher that respects robots.txt."""

    def __init__(
        self,
        fetcher: Fetcher,
        analyser: Analyser,
        clock: Clock,
        *,
        politeness: Politeness | None = None,
        crawl_delay: Callable[[str], float] = lambda _host: 0.0,
        opt_outs: bool = True,
    ) -> None:
        self._fetcher = fetcher
        self._analyser = analyser
        self._clock = clock
        self._politeness = politeness or Politeness()
        self._crawl_delay = crawl_delay  # that the host's robots.txt asks for
        self._opt_outs = opt_outs

    async def verdicts(self, entries: Sequence[Url], make: MakeCheck) -> AsyncIterator[SiteVerdict]:
        """As they come. Of several entry pages of a host, the first is taken."""
        first = {entry.host: entry for entry in reversed(entries)}
        slots = asyncio.Semaphore(PARALLEL)

        async def judged(entry: Url) -> SiteVerdict:
            async with slots:
                return await self.run(make(Link(entry, LinkKind.SEED)))

        tasks = [asyncio.create_task(judged(first[host])) for host in dict.fromkeys(entry.host for entry in entries)]
        try:
            for done in asyncio.as_completed(tasks):
                yield await done
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def run(self, check: SiteCheck) -> SiteVerdict:
        """One check to its end, with a pause after each request."""
        has_asked = False
        while check.verdict is None:
            links = check.wanted()
            if not links:
                break
            for link in links:
                if has_asked:
                    await self.rest(link.url)
                has_asked = True
                check.saw(await self.visit(link))
                if check.verdict is not None:
                    break
        return check.verdict or SiteVerdict("", SiteAnswer.UNKNOWN, detail="the check ended without a verdict")

    async def rest(self, url: Url) -> None:
        """Before another request to that host."""
        await self._clock.sleep(self._politeness.delay_after(0.0, asked=self._crawl_delay(url.host)))

    async def visit(self, link: Link) -> Visit:
        """One request. A site that does not want to be mined is no candidate. A page with noindex may lead to others."""
        made = await visit(link, self._fetcher, self._analyser)
        page = made.outcome
        if isinstance(page, Page) and self._opt_outs and OPT_OUTS & set(page.directives):
            made = msgspec.structs.replace(made, outcome=page.objection(opt_outs=True) or page)
        return made


class SiteQuestion(NamedTuple):
    """Which sites are to be checked, and how."""

    urls: tuple[Url, ...]
    languages: tuple[Language, ...]
    replay: tuple[Path, ...] = ()  # archives in place of the web
    max_downloads: int = CheckSettings().max_downloads
    policy: FetchPolicy = POLITE


async def check_sites(question: SiteQuestion) -> AsyncIterator[SiteVerdict]:
    """One verdict for each host, as they come. With archives and no URLs, the home pages in them are checked."""
    async with AsyncExitStack() as stack:
        urls, delay = question.urls, question.policy.delay
        if question.replay:
            files = warc_files(list(question.replay))
            archives = stack.enter_context(Archives(files))
            web: Fetcher = ReplayFetcher(archives)
            urls, delay = urls or tuple(home_pages(archives)), 0.0
            robots = RobotsFetcher(web, fetching.SystemClock(), Politeness(delay=0.0))
        else:
            live, wrap = fetching.loose_web(question.policy)
            robots = wrap(await stack.enter_async_context(live))
        judges = site_judges(robots.sitemaps)
        settings = CheckSettings(max_downloads=question.max_downloads)
        checks = SiteChecks(
            robots,
            await stack.enter_async_context(fetching.loose_analyser()),
            fetching.SystemClock(),
            politeness=Politeness(delay=delay),
            crawl_delay=(lambda _host: 0.0) if question.replay else robots.crawl_delay,
        )
        async for verdict in checks.verdicts(
            urls, lambda entry: DeclaredSiteCheck(entry, question.languages, judges, settings)
        ):
            yield verdict
