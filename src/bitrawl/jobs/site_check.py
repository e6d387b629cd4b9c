"""Which cited sites are bilingual: a page and the home page of each, and what they announce (Papavassiliou, section 4)."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence

import msgspec

from bitrawl.crawl.fetch import redirect_target
from bitrawl.crawl.frontier import Politeness
from bitrawl.crawl.loop import MAX_REDIRECTS, objection
from bitrawl.crawl.robots import RobotsFetcher
from bitrawl.errors import UrlError
from bitrawl.languages import claimed_language, same_language
from bitrawl.model import (
    TRANSIENT,
    UNDETERMINED,
    Capture,
    Language,
    Link,
    LinkKind,
    Page,
    Reason,
    Sitemap,
    Skip,
    Stage,
)
from bitrawl.protocols import Analyser, Clock
from bitrawl.topic.wiki.answers import KeptAnswers
from bitrawl.topic.wiki.citations import CitedSite
from bitrawl.url import Url

PARALLEL = 16  # sites at once; as many pages as a crawl visits by default


class CheckedSite(msgspec.Struct, frozen=True, omit_defaults=True):
    """What two pages of a site say of its languages."""

    site: str
    home: str  # a URL
    articles: int  # of the wiki that cite it
    languages: tuple[Language, ...] = ()  # of the text on the two pages
    announced: tuple[Language, ...] = ()  # by links to a translation, hreflang and the like
    skip: str = ""  # why neither page could be read

    def is_candidate(self, wanted: Sequence[Language]) -> bool:
        """Whether it announces a translation, and two of the languages asked for; of a single one, that and another."""
        found = {*self.languages, *self.announced}
        matched = [language for language in wanted if any(same_language(each, language) for each in found)]
        bases = {language.partition("-")[0] for language in found}
        return bool(self.announced) and len(bases) > 1 and len(matched) >= min(2, len(wanted))


class SiteChecker:
    """Asks many sites at once, each of them as politely as a crawl. What was learned is kept."""

    def __init__(
        self, fetcher: RobotsFetcher, analyser: Analyser, clock: Clock, kept: KeptAnswers, politeness: Politeness
    ) -> None:
        self._fetcher = fetcher
        self._analyser = analyser
        self._clock = clock
        self._kept = kept
        self._politeness = politeness

    async def check(self, sites: Sequence[CitedSite], wanted: Sequence[Language]) -> list[CheckedSite]:
        """In the order of the sites."""
        slots = asyncio.Semaphore(PARALLEL)

        async def checked(site: CitedSite) -> CheckedSite:
            async with slots:
                return self._known(site) or await self._visited(site, wanted)

        return list(await asyncio.gather(*map(checked, sites)))

    def _known(self, site: CitedSite) -> CheckedSite | None:
        kept = self._kept.load(site.urls[0])
        try:
            return msgspec.json.decode(kept, type=CheckedSite) if kept else None
        except msgspec.DecodeError:
            return None

    async def _visited(self, site: CitedSite, wanted: Sequence[Language]) -> CheckedSite:
        """The home page is visited only if the cited page does not tell enough."""
        found = CheckedSite(site.site, str(_home(site.urls[0])), site.articles)
        skips: list[Skip] = []
        pages = 0
        async for outcome in self._pages(site.urls[0]):
            if isinstance(outcome, Skip):
                skips.append(outcome)
                continue
            pages += 1
            found = _with(found, outcome)
            if found.is_candidate(wanted):
                break
        if not pages and skips:
            found = msgspec.structs.replace(found, skip=f"{skips[0].reason} {skips[0].detail}".strip())
        if pages or not any(skip.reason in TRANSIENT for skip in skips):
            self._kept.save(site.urls[0], msgspec.json.encode(found))
        return found

    async def _pages(self, cited: Url) -> AsyncIterator[Page | Skip]:
        first = await self._page(Link(cited, LinkKind.SEED))
        yield first
        home = _home(first.url)
        if home not in (cited, first.url):
            await self._rest(home)
            yield await self._page(Link(home, LinkKind.SEED))

    async def _page(self, link: Link) -> Page | Skip:
        for _ in range(1 + MAX_REDIRECTS):
            answer = await self._fetcher.fetch(link)
            if isinstance(answer, Skip):
                return answer
            if not 300 <= answer.status < 400:
                return await self._read(answer)
            try:
                link = Link(redirect_target(answer), LinkKind.REDIRECT)
            except UrlError as error:
                return Skip(link.url, Stage.FETCH, Reason.REDIRECT, str(error), answer.status)
            await self._rest(link.url)
        return Skip(link.url, Stage.FETCH, Reason.TOO_MANY_REDIRECTS)

    async def _read(self, answer: Capture) -> Page | Skip:
        outcome = await self._analyser.analyse(answer)
        if isinstance(outcome, Sitemap):
            return Skip(answer.url, Stage.ANALYSE, Reason.SITEMAP)
        # A site that does not want to be mined is no candidate for mining.
        return outcome if isinstance(outcome, Skip) else objection(outcome, opt_outs=True) or outcome

    async def _rest(self, url: Url) -> None:
        await self._clock.sleep(self._politeness.rest(0.0, asked=self._fetcher.delay(url.host)))


def _home(url: Url) -> Url:
    return Url.parse(f"{url.origin}/")


def _with(found: CheckedSite, page: Page) -> CheckedSite:
    announced = [*(alternate.language for alternate in page.alternates), *page.metadata.other_locales]
    own = page.language.partition("-")[0]
    others = (language for language in map(claimed_language, announced) if language.partition("-")[0] != own)
    return msgspec.structs.replace(
        found,
        home=str(_home(page.url)),
        languages=_told([*found.languages, page.language]),
        announced=_told([*found.announced, *others]),
    )


def _told(languages: Iterable[Language]) -> tuple[Language, ...]:
    return tuple(sorted({language for language in languages if language != UNDETERMINED}))
