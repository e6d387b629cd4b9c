"""Which cited sites are bilingual: a page and the home page of each, and what they announce (Papavassiliou, section 4)."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence

import msgspec

from bitrawl.files import NO_JSON
from bitrawl.jobs.site_checks import PARALLEL, SiteChecks
from bitrawl.languages import claimed_language, same_language
from bitrawl.model import TRANSIENT, UNDETERMINED, Language, Link, LinkKind, Page, Reason, Sitemap, Skip, Stage
from bitrawl.topic.wiki_api import KeptAnswers
from bitrawl.topic.wiki_topic import CitedSite
from bitrawl.url import Url


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


class CitedSites:
    """Asks many sites at once, by `SiteChecks`. What was learned is kept."""

    def __init__(self, checks: SiteChecks, kept: KeptAnswers) -> None:
        self._checks = checks
        self._kept = kept

    async def check(
        self, sites: Sequence[CitedSite], wanted: Sequence[Language], note: Callable[[], None] = lambda: None
    ) -> list[CheckedSite]:
        """In the order of the sites. `note` is called after each."""
        slots = asyncio.Semaphore(PARALLEL)

        async def checked(site: CitedSite) -> CheckedSite:
            async with slots:
                found = self._known(site) or await self._visited(site, wanted)
                note()
                return found

        return list(await asyncio.gather(*map(checked, sites)))

    def _known(self, site: CitedSite) -> CheckedSite | None:
        kept = self._kept.load(site.urls[0])
        try:
            return msgspec.json.decode(kept, type=CheckedSite) if kept else None
        except NO_JSON:
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
            await self._checks.rest(home)
            yield await self._page(Link(home, LinkKind.SEED))

    async def _page(self, link: Link) -> Page | Skip:
        outcome = (await self._checks.visit(link)).outcome
        if isinstance(outcome, Skip) and (target := outcome.target) is not None:
            await self._checks.rest(target)
            return await self._page(Link(target, LinkKind.REDIRECT, redirects=link.redirects + 1))
        return Skip(link.url, Stage.ANALYSE, Reason.SITEMAP) if isinstance(outcome, Sitemap) else outcome


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
