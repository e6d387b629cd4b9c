"""Which pages a browser draws, by running their scripts, and whether what it drew takes the place of what was fetched.

A page says itself that scripts draw it (`Page.drawn_by`). Whether that is worth a browser is decided once for each kind of
address of a site, by the first pages of it that are drawn, and looked at again now and then. crawlee's adaptive crawler
decides so, too; it compares every tenth page, also on sites that need no browser.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AsyncExitStack
from typing import NamedTuple

import msgspec

from bitrawl.bodies import HTML
from bitrawl.crawling.fetch import FetchSettings, HttpFetcher
from bitrawl.crawling.resources import Resources
from bitrawl.crawling.robots import RobotsFetcher
from bitrawl.crawling.scope import Sites
from bitrawl.crawling.settings import RenderSection
from bitrawl.crawling.traps import KINDS, Recent, kind_of
from bitrawl.model import Capture, DrawnBy, Page, Sitemap, Skip, Visit, WarcPosition
from bitrawl.protocols import Analyser, Clock, Renderer
from bitrawl.reasons import Reason
from bitrawl.url import Url

# Judgement, all of these; python -m lab.bench rendering prints what they cost and lose.
TRIALS = 3  # pages of one kind that are drawn before anything is decided
CHECKED = 20  # of the pages that are not drawn, every so manyth is drawn after all
MORE_TEXT = 1.2  # times the letters, and ...
MORE_LETTERS = 100  # ... so many more, are worth a browser ...
MORE_LINKS = 3  # ... or so many new links


async def open_rendering(  # noqa: PLR0913 - collaborators
    section: RenderSection,
    fetching: FetchSettings,
    robots: RobotsFetcher,
    sites: Sites,
    keep: Callable[[Capture], WarcPosition],
    *,
    clock: Clock,
    stack: AsyncExitStack,
    labels: Callable[[], Callable[[str], str]],
) -> "Rendering | None":
    """What draws pages with a browser; None where no scripts are run.

    Where the user asked for a browser, a lack of one is a `ConfigError` before the first request. Otherwise it is looked
    for when a page needs it. `labels` makes `ChromiumRenderer`'s `language_of`.
    """
    if not section.runs_scripts:
        return None

    async def chromium() -> Renderer:
        from bitrawl.crawling.browser import ChromiumRenderer  # noqa: PLC0415 - an extra

        fetcher = await stack.enter_async_context(HttpFetcher(Resources.fetching(fetching, section.tabs), clock))
        resources = Resources(fetcher, robots.refusal, sites.of)
        renderer = ChromiumRenderer(section, fetching, resources, clock, labels())
        await stack.enter_async_context(renderer)
        if section.is_asked_for:
            await renderer.start()
        return renderer

    renderer = LateRenderer(chromium)
    if section.is_asked_for:
        await renderer.made()
    return Rendering(renderer, sites.of, keep, always=section.draws_all)


class LateRenderer:
    """A `Renderer` that is made for the first page that needs it: few jobs do, and Playwright takes long to load."""

    def __init__(self, make: Callable[[], Awaitable[Renderer]]) -> None:
        self._make = make
        self._making = asyncio.Lock()
        self._renderer: Renderer | None = None

    async def made(self) -> Renderer:
        async with self._making:
            if self._renderer is None:
                self._renderer = await self._make()
        return self._renderer

    async def render(self, answer: Capture) -> tuple[Capture | Skip | None, int]:
        return await (await self.made()).render(answer)


class Drawn(NamedTuple):
    """What a page is after a browser was asked to draw it."""

    outcome: Page | Sitemap | Skip
    bytes: int  # that were fetched for it
    place: WarcPosition | None = None  # of what the browser drew; None if that was not taken


class Rendering:
    """Decides, asks the renderer, and keeps what it drew: `keep` puts it into the archive and says where it is."""

    def __init__(
        self,
        renderer: Renderer,
        site_of: Callable[[str], str],
        keep: Callable[[Capture], WarcPosition | None],
        *,
        always: bool = False,
    ) -> None:
        self._renderer = renderer
        self._site_of = site_of
        self._keep = keep
        self._always = always
        self._kinds: Recent[tuple[str, bool], _Record] = Recent(KINDS)
        self._sites: Recent[str, _Record] = Recent(KINDS)

    async def read(self, answer: Capture, outcome: Page | Sitemap | Skip, analyser: Analyser) -> Drawn | None:
        """What a page is as a browser draws it, if that is more; None if no browser was asked."""
        if not (_may_be_drawn(answer, outcome) and self._is_worth_it(answer.url, outcome)):
            return None
        capture, size = await self._renderer.render(answer)
        if not isinstance(capture, Capture):
            return Drawn(capture or _undrawn(outcome), size)
        drawn = await analyser.analyse(capture)
        if isinstance(drawn, Skip) and drawn.reason is Reason.KILLED:  # Nothing is kept in its place.
            return Drawn(drawn, size)
        is_empty = isinstance(drawn, Skip) and drawn.reason is Reason.EMPTY
        if isinstance(drawn, Skip) and (refused := capture.header(_REFUSED)):
            drawn = msgspec.structs.replace(drawn, detail=drawn.detail or f"refused {refused}")
        gained = _is_more(drawn, outcome)
        if isinstance(drawn, Page) or is_empty:  # A reader that failed says nothing about the page.
            self._learn(answer.url, outcome, gained=gained)
        is_as_good = isinstance(drawn, Page) and self._always and not _is_more(outcome, drawn)
        if gained or is_as_good or (is_empty and isinstance(outcome, Skip)):
            return Drawn(drawn, size, self._keep(capture))
        return Drawn(outcome, size)

    def remember(self, visits: Iterable[Visit]) -> None:
        """Decide once more what was decided at these visits: a resumed job knows where a browser brought something.

        What a page was before it was drawn is not kept. It is taken for one that had a sign; nearly all have.
        """
        for url, outcome in ((visit.lease.link.url, visit.outcome) for visit in visits):
            if (isinstance(outcome, Page) and outcome.type != "html") or not _has_sign(outcome):
                continue
            if self._is_worth_it(url, outcome):
                self._learn(url, outcome, gained=isinstance(outcome, Page) and outcome.drawn_by is DrawnBy.BROWSER)

    def _is_worth_it(self, url: Url, outcome: Page | Sitemap | Skip) -> bool:
        if self._always:
            return True
        site, has_sign = self._site(url), _has_sign(outcome)
        if not has_sign and not site.gained:  # No browser is started for a site that shows no sign.
            return False
        kind = self._kind(url, has_sign=has_sign)
        if kind.gained and kind.is_good:
            return True
        untried = kind.tried < TRIALS and (site.gained > 0 or site.tried < 2 * TRIALS)
        return (untried and has_sign) or kind.is_due()

    def _learn(self, url: Url, outcome: Page | Sitemap | Skip, *, gained: bool) -> None:
        has_sign = _has_sign(outcome)
        self._kind(url, has_sign=has_sign).count(gained=gained)
        if has_sign:
            self._site(url).count(gained=gained)

    def _site(self, url: Url) -> "_Record":
        name = self._site_of(url.host)
        return self._sites.note(name, self._sites.get(name) or _Record())

    def _kind(self, url: Url, *, has_sign: bool) -> "_Record":
        """Addresses in one folder, numbers aside, are one kind."""
        key = kind_of(url).rpartition("/")[0], has_sign
        return self._kinds.note(key, self._kinds.get(key) or _Record())


class _Record:
    """What drawing brought."""

    __slots__ = ("gained", "passed", "tried")

    def __init__(self) -> None:
        self.tried = self.gained = self.passed = 0

    @property
    def is_good(self) -> bool:
        return 2 * self.gained >= self.tried

    def count(self, *, gained: bool) -> None:
        if self.tried >= CHECKED:  # what was long ago counts less
            self.tried, self.gained = self.tried // 2, self.gained // 2
        self.tried += 1
        self.gained += gained

    def is_due(self) -> bool:
        """Whether one of those that are not drawn is to be drawn now."""
        self.passed += 1
        return self.passed % CHECKED == 0


def rendered(answer: Capture, html: str, at: float, took: float, *, refused: int = 0) -> Capture:
    """A page as a browser drew it. What its server said about it in HTTP headers still holds.

    `refused` is how many requests for data it made by POST.
    """
    told = ((_REFUSED, f"{refused} request{'s' * (refused > 1)} by POST"),) if refused else ()
    kept = [(name, value) for name, value in answer.headers if not name.lower().startswith(_OF_THE_BODY)]
    return msgspec.structs.replace(
        answer,
        headers=(("Content-Type", "text/html; charset=utf-8"), *told, *kept),
        body=html.encode("utf-8", "replace"),
        at=at,
        took=took,
        media_type=HTML,
        rendered=True,
    )


_REFUSED = "Bitrawl-Refused"
_OF_THE_BODY = ("content-type", "content-length", "content-encoding", "content-md5", "transfer-", "etag", "digest")


def _may_be_drawn(answer: Capture, outcome: Page | Sitemap | Skip) -> bool:
    if answer.rendered or answer.media_type != HTML or not 200 <= answer.status < 300:
        return False
    return isinstance(outcome, Page) or (
        isinstance(outcome, Skip) and outcome.reason in (Reason.SCRIPTED, Reason.EMPTY)
    )


def _undrawn(outcome: Page | Sitemap | Skip) -> Page | Sitemap | Skip:
    """What a page is that a browser could not draw."""
    if isinstance(outcome, Skip) and outcome.reason is Reason.SCRIPTED:
        return msgspec.structs.replace(outcome, reason=Reason.UNDRAWN)
    return outcome


def _has_sign(outcome: Page | Sitemap | Skip) -> bool:
    if isinstance(outcome, Page):
        return outcome.drawn_by is not None
    return isinstance(outcome, Skip) and outcome.reason is Reason.SCRIPTED


def _is_more(drawn: Page | Sitemap | Skip, before: Page | Sitemap | Skip) -> bool:
    """Whether the first has more to read, or to follow, than the second."""
    if not isinstance(drawn, Page) or not isinstance(before, Page):
        return isinstance(drawn, Page)
    letters = len(before.text)
    if len(drawn.text) >= MORE_TEXT * letters + MORE_LETTERS:
        return True
    new = {link.url for link in drawn.links} - {link.url for link in before.links}
    return len(new) >= MORE_LINKS and 2 * len(drawn.text) >= letters
