"""How a crawl is going: a live table on a terminal, a line now and then elsewhere."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from bitrawl.cli.console import duration, err, size
from bitrawl.mining import Doing
from bitrawl.model import OWN_REQUESTS, Page, Skip, Visit

LINE_EVERY = 10.0  # seconds, where there is no terminal
REDRAW_EVERY = 0.25
COUNT_EVERY = 2.0
TELL_EVERY = 2.0


class Progress:
    """Counts what the loop reports; drawing never touches the ledger but for the length of the queue."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self._started = time.monotonic()
        self.pages = 0
        self.fetches = 0
        self.bytes = 0
        self.languages: Counter[str] = Counter()
        self.skips: Counter[str] = Counter()
        self.hosts: Counter[str] = Counter()
        self.count_queue: Callable[[], int] = lambda: 0
        self._queued, self._counted = 0, 0.0
        self._mining, self._told = "", 0.0
        self._live = Live(console=err, auto_refresh=False, transient=True) if err.is_terminal and not quiet else None

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def visited(self, visit: Visit) -> None:
        """One more fetch."""
        self.fetches += 1
        self.bytes += visit.bytes
        self.hosts[visit.lease.link.url.host] += 1
        if isinstance(visit.outcome, Page):
            self.pages += 1
            self.languages[visit.outcome.language] += 1
        elif isinstance(visit.outcome, Skip) and visit.lease.link.kind not in OWN_REQUESTS:
            self.skips[visit.outcome.reason] += 1

    def note(self, message: str) -> None:
        """A line that stays."""
        if not self.quiet:
            err.print(message, markup=False)

    def mining(self, doing: Doing | None) -> None:
        """What is mined now, None for nothing; without a terminal a line each, if they do not come too fast."""
        self._mining = what = str(doing or "")
        if what and self._live is None and time.monotonic() - self._told > TELL_EVERY:
            self._told = time.monotonic()
            self.note(f"{duration(self._told - self._started)}  {what}")

    def rate(self) -> float:
        """Pages a second since the start."""
        return self.pages / max(time.monotonic() - self._started, 0.001)

    @property
    def queued(self) -> int:
        """Links that wait; counted now and then, since counting a million takes a while."""
        if time.monotonic() - self._counted > COUNT_EVERY:
            self._queued, self._counted = self.count_queue(), time.monotonic()
        return self._queued

    async def draw_now_and_then(self, pause: Callable[[], tuple[str, float] | None]) -> None:
        """Until cancelled; `pause` tells for which host a crawl waits that does nothing else."""
        while not self.quiet:
            await asyncio.sleep(LINE_EVERY if self._live is None else REDRAW_EVERY)
            waited_for = pause()
            waits = f"waiting {waited_for[1]:.0f} s for {waited_for[0]}" if waited_for and waited_for[1] >= 1 else ""
            if self._live is not None:
                self._live.update(self._table(waits), refresh=True)
            else:
                err.print("; ".join(filter(None, (self._line(), waits, self._mining))), markup=False)

    def _line(self) -> str:
        languages = ", ".join(f"{language} {count}" for language, count in self.languages.most_common(5))
        return (
            f"{duration(time.monotonic() - self._started)}  {self.pages} pages, {self.rate():.1f}/s, "
            f"{self.queued} queued, {size(self.bytes)}; {languages}; {sum(self.skips.values())} fetches brought no page"
        )

    def _table(self, waits: str) -> Group:
        table = Table.grid(padding=(0, 2))
        for label, value in (
            ("pages", f"{self.pages}   {self.rate():.1f}/s   {size(self.bytes)}"),
            ("queue", f"{self.queued} links on {len(self.hosts)} hosts"),
            ("languages", _top(self.languages)),
            ("no page", _top(self.skips)),
            ("hosts", _top(self.hosts, 4)),
            ("now", waits),
            ("mining", self._mining),
        ):
            table.add_row(Text(label, style="bold cyan"), Text(value))
        elapsed = duration(time.monotonic() - self._started)
        return Group(Text(f"bitrawl  {elapsed}   Ctrl-C stops; the same command resumes", style="dim"), table)


def _top(counts: Counter[str], most: int = 6) -> str:
    return "   ".join(f"{name} {count}" for name, count in counts.most_common(most))
