"""Chromium, by Playwright (the extra `browser`): draws a page from what was fetched, and hands out its document.

The browser has no network: each request of a page goes to `PageRequests`, and what does not pass there goes to a proxy that
nobody listens at. A page has a context of its own, so nothing that it stores reaches another page. A tab that hangs, crashes
or takes too much memory costs one page. One that somebody kills tells nothing about its page, nor does a browser that dies: it is
started again, and what was being drawn is drawn again, at last with no other tab beside it.
"""

import asyncio
import logging
import os
import re
import shutil
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Self
from weakref import WeakValueDictionary

from playwright.async_api import Browser, BrowserContext, CDPSession, Error, Page, Playwright, Route, async_playwright

from bitrawl.crawling.document_states import (
    COMPUTE,
    LANGUAGE_BUTTONS,
    OPEN,
    PARAMETER,
    SCROLL,
    SIZE,
    SNAPSHOT,
    TEXT,
    DocumentState,
    alike,
)
from bitrawl.crawling.fetch import FetchSettings, user_agent
from bitrawl.crawling.rendering import rendered
from bitrawl.crawling.resources import PageRequests, Resources
from bitrawl.crawling.settings import RenderSection
from bitrawl.errors import ConfigError, UrlError
from bitrawl.model import COMPUTED, Capture, Skip
from bitrawl.process import ATTEMPTS
from bitrawl.protocols import Clock
from bitrawl.reasons import Reason, Stage

# Judgement, all of these.
LOOK = 0.1  # seconds between two looks at a document that is being drawn
STILL = 3  # looks without a change or a request after which it is drawn
SCROLLS = 10  # times to the end of a list that grows
GRACE = 3.0  # seconds beyond the page's own, for the browser
ALIVE = 20.0  # seconds for a browser to say that it is
MAX_DOCUMENT = 20_000_000  # characters
BUTTONS = 8  # languages of one page that are tried

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_NOWHERE = "http://127.0.0.1:9"  # the port "discard", which nobody listens at
# Beside those that Playwright gives. The omnibox would be two pages of its own beside each page (Chromium 156), the spare renderer
# a process for the next site in a tab that has no next one: together more than half of what a page costs.
FLAGS = (
    "--disable-gpu --disable-sync --no-pings --dns-prefetch-disable --force-webrtc-ip-handling-policy=disable_non_proxied_udp"
    " --disable-features=Translate,MediaRouter,OptimizationHints,Prerender2,SpareRendererForSitePerProcess"
    ",WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup"
)

_ABSENT = re.compile(r"executable doesn't exist|ENOENT|EACCES|exitCode=\d", re.IGNORECASE)
"""How Playwright says that a browser is not there or cannot run, and not that it was killed or is slow."""

_log = logging.getLogger(__name__)


class ChromiumRenderer:
    """A `Renderer`. Enter it (`async with`); the browser starts with the first page, or with `start`."""

    def __init__(
        self,
        settings: RenderSection,
        fetching: FetchSettings,
        resources: Resources,
        clock: Clock,
        language_of: Callable[[str], str] = lambda _label: "",
    ) -> None:
        """`language_of` says which of the job's languages the label of a button names; empty if none.

        Scripts are told what other requests say: who asks, and for which language. Pages of a host count as connections.
        """
        self._settings = settings
        self._fetching = fetching
        self._resources = resources
        self._clock = clock
        self._language_of = language_of
        self._tabs = asyncio.Semaphore(settings.tabs)
        self._hosts: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._starting = asyncio.Lock()
        self._clearing = asyncio.Lock()  # two that wait for all tabs would each hold some of them
        self._playwright: Playwright | None = None
        self._chromium: _Chromium | None = None
        self._has_run = False
        self._is_absent = False
        self._unproven = 0  # browsers started since one has drawn a page
        self._watch: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._end()

    async def start(self) -> None:
        """Raises `ConfigError` if there is no browser, or if it cannot be started."""
        async with self._starting:
            try:
                await self._start()
            except Exception as error:
                raise ConfigError(_unstarted(self._settings.browser, str(error))) from error

    async def _start(self) -> None:
        await self._end()
        try:
            self._playwright = await async_playwright().start()
            self._chromium = await _Chromium.of(await self._opened(self._playwright))
        except BaseException:
            await self._end()
            raise
        self._has_run = True
        if not is_address(self._settings.browser):
            self._watch = asyncio.create_task(self._chromium.watch_memory(self._settings.megabytes))

    async def render(self, answer: Capture) -> tuple[Capture | Skip | None, int]:
        requests = PageRequests(answer, self._resources)
        async with self._place(answer.url.host):
            drawn = await self._tried(answer, requests)
        if isinstance(drawn, Skip):  # Memory may be short, or it died of another page.
            async with self._alone():
                for _ in range(ATTEMPTS if self._unproven <= ATTEMPTS else 1):
                    drawn = await self._tried(answer, requests)
                    if not isinstance(drawn, Skip):
                        break
        return drawn, requests.bytes

    async def _tried(self, answer: Capture, requests: PageRequests) -> Capture | Skip | None:
        """The page as it was drawn; a `Skip` if somebody killed its tab or the browser, None if it could not be drawn."""
        killed = Skip(answer.url, Stage.ANALYSE, Reason.KILLED, "the browser that drew it")
        chromium = await self._running()
        if chromium is None:
            return None if self._is_absent else killed
        requests.begin()
        began, kills = self._clock.now(), chromium.kills
        html = await self._drawn(chromium.browser, answer, requests)
        if html:
            self._unproven = 0
            return rendered(answer, html, self._clock.date(), self._clock.now() - began, refused=requests.refused)
        return None if await chromium.lives() and chromium.kills == kills else killed

    async def _drawn(self, browser: Browser, answer: Capture, requests: PageRequests) -> str:
        """Empty if the page could not be drawn."""
        try:
            async with asyncio.timeout(self._settings.seconds + GRACE):
                return await self._draw(browser, answer, requests)
        except Exception as error:  # noqa: BLE001 - of one page: a driver that has died raises a bare Exception
            _log.debug("%s could not be drawn: %s", answer.url, error)
            return ""

    @asynccontextmanager
    async def _place(self, host: str) -> AsyncIterator[None]:
        """The host first: whoever waits for one takes no tab."""
        places = self._hosts.setdefault(host, asyncio.Semaphore(self._fetching.per_host))
        async with places, self._tabs:
            yield

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """No other page is being drawn."""
        async with self._clearing, AsyncExitStack() as tabs:
            for _ in range(self._settings.tabs):
                await tabs.enter_async_context(self._tabs)
            yield

    async def _running(self) -> "_Chromium | None":
        """None if it cannot be started now, or if there is none."""
        async with self._starting:
            if self._is_absent or (self._chromium is not None and self._chromium.is_alive):
                return self._chromium
            self._unproven += 1
            try:
                await self._start()
            except Exception as error:  # noqa: BLE001 - a driver that was killed raises a bare Exception
                told = _unstarted(self._settings.browser, str(error))
                self._is_absent = not self._has_run and bool(_ABSENT.search(str(error)))
                if self._is_absent:
                    _log.warning("%s Pages that scripts draw are read without them.", told)
                else:
                    _log.debug("%s", told)
            return self._chromium

    async def _opened(self, playwright: Playwright) -> Browser:
        settings = self._settings
        if is_address(settings.browser):
            return await playwright.chromium.connect_over_cdp(settings.browser)
        program = shutil.which(settings.browser) or settings.browser or _program(playwright)
        return await playwright.chromium.launch(
            executable_path=program or None,
            chromium_sandbox=os.geteuid() != 0,  # as root there is no sandbox to be had
            args=[
                *FLAGS.split(),
                "--host-resolver-rules=MAP * ~NOTFOUND",
                f"--js-flags=--max-old-space-size={settings.megabytes}",
            ],
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
        )

    async def _end(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
        chromium, playwright = self._chromium, self._playwright
        self._chromium = self._playwright = self._watch = None
        with suppress(Exception):
            async with asyncio.timeout(GRACE):
                if chromium is not None and not is_address(self._settings.browser):
                    await chromium.browser.close()
        with suppress(Exception):
            async with asyncio.timeout(GRACE):
                if playwright is not None:
                    await playwright.stop()

    async def _draw(self, browser: Browser, answer: Capture, requests: PageRequests) -> str:
        state = DocumentState.of(answer.url)
        async with AsyncExitStack() as stack:
            context = await self._context(browser, requests)
            stack.push_async_callback(_closed, context)
            page = await context.new_page()
            work = asyncio.create_task(self._document(page, state, requests))
            page.on("crash", partial(_cancel, work))
            try:
                await asyncio.wait({work})
            finally:
                work.cancel()
            if work.cancelled():
                raise Error("the tab crashed")
            return work.result()

    async def _context(self, browser: Browser, requests: PageRequests) -> BrowserContext:
        context = await browser.new_context(
            user_agent=user_agent(self._fetching.public_contact),
            locale=next(iter(self._fetching.languages), "en"),
            accept_downloads=False,
            service_workers="block",
            reduced_motion="reduce",
            proxy={"server": _NOWHERE},
        )
        context.on("page", lambda page: asyncio.ensure_future(_no_popup(page)))

        async def answer(route: Route) -> None:
            request = route.request
            with requests.waiting(), suppress(Error):  # of a page that is gone
                given = await requests.answer(request.url, request.resource_type, request.method)
                if given is None:
                    await route.abort("blockedbyclient")
                    return
                headers = {"content-type": given.media_type, "access-control-allow-origin": "*"}
                if origin := request.headers.get("origin"):
                    headers |= {"access-control-allow-origin": origin, "access-control-allow-credentials": "true"}
                await route.fulfill(status=given.status, headers=headers, body=given.body)

        await context.add_init_script(OPEN)
        await context.route("**/*", answer)
        await context.route_web_socket("**/*", lambda socket: socket.close())
        return context

    async def _document(self, page: Page, state: DocumentState, requests: PageRequests) -> str:
        deadline = self._clock.now() + self._settings.seconds
        await page.goto(state.address, wait_until="commit", timeout=1000 * self._settings.seconds)
        await self._settle(page, requests, deadline)
        base_language = str(await page.evaluate("document.documentElement.lang"))[:40]
        if state.language and not await self._press(page, state.language, requests, deadline):
            raise Error(f"there is no button for {state.language}")
        await self._scroll(page, requests, deadline)
        await page.evaluate(COMPUTE, COMPUTED)
        html = str(await page.evaluate(SNAPSHOT, [PARAMETER, MAX_DOCUMENT]))
        if state.language:
            return state.declaring(html, [(base_language or "x-default", state.base.url)])
        if not await page.evaluate("!!document.querySelector('link[hreflang],a[hreflang]')"):
            html = state.declaring(html, await self._languages(page, state, requests, deadline))
        return html

    async def _settle(self, page: Page, requests: PageRequests, deadline: float) -> None:
        """Until nothing changes any more, or the time is up: what is drawn by then counts."""
        size, still = "", 0
        while still < STILL and self._clock.now() < deadline:
            await self._clock.sleep(LOOK)
            now = str(await page.evaluate(SIZE))
            still = still + 1 if now == size and now.startswith("complete") and not requests.pending else 0
            size = now

    async def _scroll(self, page: Page, requests: PageRequests, deadline: float) -> None:
        """To the end of the page, as often as that makes it longer."""
        for _ in range(SCROLLS):
            if self._clock.now() >= deadline or not await page.evaluate(SCROLL):
                return
            await self._settle(page, requests, deadline)

    async def _languages(
        self, page: Page, state: DocumentState, requests: PageRequests, deadline: float
    ) -> list[tuple[str, str]]:
        """Languages that buttons switch to, and the address of the page in each."""
        labels = await page.evaluate(LANGUAGE_BUTTONS, None)
        languages = dict.fromkeys(filter(None, map(self._language_of, labels)))
        if len(languages) < 2:  # one label that looks like a language is no switch
            return []
        found: list[tuple[str, str]] = []
        first, place = await page.evaluate(TEXT), DocumentState.at(page.url)
        for language in list(languages)[:BUTTONS]:
            if not await self._press(page, language, requests, deadline):
                continue
            now, there = await page.evaluate(TEXT), DocumentState.at(page.url)
            if not alike(now, first):
                with suppress(UrlError):
                    found.append((language, there.url if there != place else state.in_language(language).url))
        return found

    async def _press(self, page: Page, language: str, requests: PageRequests, deadline: float) -> bool:
        """Whether there is a button for that language; it is pressed, and what it draws is waited for."""
        labels = await page.evaluate(LANGUAGE_BUTTONS, None)
        number = next((number for number, label in enumerate(labels) if self._language_of(label) == language), None)
        if number is None or self._clock.now() >= deadline:
            return False
        await page.evaluate(LANGUAGE_BUTTONS, number)
        await self._settle(page, requests, deadline)
        return True


class _Chromium:
    """A browser that runs, and how many of its tabs somebody has killed."""

    def __init__(self, browser: Browser, session: CDPSession) -> None:
        self.browser = browser
        self.kills = 0
        self._session = session
        self._answers = True

    @classmethod
    async def of(cls, browser: Browser) -> Self:
        session = await browser.new_browser_cdp_session()
        chromium = cls(browser, session)
        session.on("Target.targetCrashed", chromium._crashed)
        await session.send("Target.setDiscoverTargets", {"discover": True})
        return chromium

    @property
    def is_alive(self) -> bool:
        """As far as is known without asking: its driver may be dead."""
        return self._answers and self.browser.is_connected()

    async def lives(self) -> bool:
        """Ask it. What has become of its tabs until then is known after that."""
        try:
            async with asyncio.timeout(ALIVE):
                await self._session.send("Browser.getVersion")
        except Exception as error:  # noqa: BLE001 - a driver that has died raises a bare Exception
            _log.debug("the browser does not answer: %s", error)
            self._answers = False
        return self.is_alive

    async def watch_memory(self, megabytes: int) -> None:
        """End tabs that take too much; where the system tells nothing about them, Chromium's own limit is left.

        The signal says that it was us: what is killed by any other, such as the kernel's, is tried again.
        """
        with suppress(Error):
            while self.is_alive:
                told = await self._session.send("SystemInfo.getProcessInfo")
                for process in told["processInfo"]:
                    if process["type"] == "renderer" and _megabytes(process["id"]) > megabytes:
                        _log.debug("a tab took more than %d MB", megabytes)
                        with suppress(ProcessLookupError, PermissionError):
                            os.kill(process["id"], signal.SIGABRT)
                await asyncio.sleep(1)

    def _crashed(self, tab: dict[str, object]) -> None:
        self.kills += tab.get("status") == "killed"


def is_address(browser: str) -> bool:
    """Whether it names a browser that runs, and not a program."""
    return browser.startswith(("ws://", "wss://", "http://", "https://"))


def _cancel(work: asyncio.Task[str], _page: Page) -> None:
    work.cancel()


async def _closed(context: BrowserContext) -> None:
    with suppress(Exception):
        async with asyncio.timeout(GRACE):
            await context.close()


async def _no_popup(page: Page) -> None:
    with suppress(Error):
        if await page.opener() is not None:
            await page.close()


def _program(playwright: Playwright) -> str:
    """A Chromium of this machine, if Playwright has not installed one of its own."""
    if Path(playwright.chromium.executable_path).exists():
        return ""
    return next(filter(None, map(shutil.which, PROGRAMS)), "")


def _unstarted(browser: str, error: str) -> str:
    reason = next((line.strip() for line in error.splitlines() if line.strip()), "")
    if not browser and "Executable doesn't exist" in error:
        return "there is no Chromium; run: playwright install chromium, or name one with --browser PATH."
    return f"the browser {browser or 'Chromium'} cannot be started: {reason[:200]}."


def _megabytes(process: int) -> float:
    """What a process has in memory; 0 if the system does not tell."""
    try:
        resident = int(Path(f"/proc/{process}/statm").read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0.0
    return resident * os.sysconf("SC_PAGE_SIZE") / 1e6
