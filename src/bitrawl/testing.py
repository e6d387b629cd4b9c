"""Fakes for the real parts, for our tests and for the tests of your own parts."""

import asyncio
import heapq
from collections.abc import Mapping
from itertools import count

from bitrawl.model import Capture, Link, Page, Sitemap, Skip
from bitrawl.page import Reader
from bitrawl.reasons import Reason, Stage


class FakeClock:
    """Time that passes only when everybody waits: a test of an hour takes a millisecond."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self._now = now
        self._date = 1.8e9 - now
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = count()

    def now(self) -> float:
        """The time that the test has reached."""
        return self._now

    def date(self) -> float:
        """The date that goes with it."""
        return self._now + self._date

    def set_date(self, seconds: float) -> None:
        """Somebody sets the date, to so many seconds since the epoch. No time passes."""
        self._date = seconds - self._now

    def advance(self, seconds: float) -> None:
        """Let this much time pass, and wake everybody who waited for it."""
        self._now += seconds
        while self._sleepers and self._sleepers[0][0] <= self._now:
            sleeper = heapq.heappop(self._sleepers)[2]
            if not sleeper.done():
                sleeper.set_result(None)

    async def sleep(self, seconds: float) -> None:
        """Jumps to the end of the shortest sleep when nothing else is ready to run."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now + seconds, next(self._order), future))
        jump = asyncio.ensure_future(self._jump_when_idle())
        try:
            await future
        finally:
            jump.cancel()

    async def _jump_when_idle(self) -> None:
        for _ in range(100):  # everybody else gets a hundred turns to act at the current time
            await asyncio.sleep(0)
        while self._sleepers and self._sleepers[0][2].done():  # whoever slept there was cancelled
            heapq.heappop(self._sleepers)
        if self._sleepers:
            self.advance(max(0.0, self._sleepers[0][0] - self._now))


class FakeWeb:
    """A fetcher that answers from a table from URL to HTML, to a whole `Capture`, or to a `Skip`."""

    def __init__(self, pages: Mapping[str, "str | Capture | Skip"]) -> None:
        self.pages = dict(pages)
        self.asked: list[str] = []

    async def fetch(self, link: Link) -> Capture | Skip:
        """What the table says; a 404 for an unknown URL."""
        self.asked.append(link.url)
        await asyncio.sleep(0)
        answer = self.pages.get(link.url)
        if answer is None:
            return Skip(link.url, Stage.FETCH, Reason.HTTP_STATUS, "404", status=404)
        if isinstance(answer, str):
            headers = (("Content-Type", "text/html; charset=utf-8"),)
            return Capture(link.url, 200, headers, answer.encode(), at=0.0, media_type="text/html")
        return answer


class InlineAnalyser:
    """`SandboxedAnalyser` without processes, for bytes that are trusted."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        """An error costs this page; a hang costs everything."""
        try:
            return self._reader.read(capture, index=index)
        except Exception as error:  # noqa: BLE001 - a parser may raise anything, as in `child`
            return Skip(capture.url, Stage.ANALYSE, Reason.ANALYSIS_ERROR, f"{type(error).__name__}: {error}"[:300])
