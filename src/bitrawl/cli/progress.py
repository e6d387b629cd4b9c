"""How a job is going: a live table on a terminal, a line now and then elsewhere."""

import asyncio
import time
from collections import Counter
from types import TracebackType
from typing import Self

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from bitrawl.cli.console import duration, err, size
from bitrawl.cli.status import found
from bitrawl.facts import Doing, LanguagePair
from bitrawl.job.crawl_wiring import Parts
from bitrawl.job.folder import JobFolder
from bitrawl.job.reporting import found_so_far
from bitrawl.model import OWN_REQUESTS, Page, Skip, Visit
from bitrawl.show.wording import counted

LINE_EVERY = 10.0  # seconds, where there is no terminal
REDRAW_EVERY = 0.25
COUNT_EVERY = 2.0
TELL_EVERY = 2.0


class Progress:
    """Counts what the loop reports; drawing touches the ledger every few seconds only."""

    def __init__(self, folder: JobFolder | None = None, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self._started = time.monotonic()
        self.pages = 0
        self.fetches = 0
        self.bytes = 0
        self.languages: Counter[str] = Counter()
        self.skips: Counter[str] = Counter()
        self.hosts: Counter[str] = Counter()
        self._folder = folder
        self._crawl: Parts | None = None
        self._queued, self._corpora, self._counted = 0, dict[str, LanguagePair](), 0.0
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

    def watch(self, parts: Parts) -> None:
        """A crawl is about to begin."""
        self._crawl = parts

    def _count(self) -> None:
        """Now and then, since counting a million takes a while."""
        if time.monotonic() - self._counted > COUNT_EVERY:
            self._queued = len(self._crawl.queue) if self._crawl else 0
            self._corpora = found_so_far(self._folder) if self._folder else {}
            self._counted = time.monotonic()

    async def draw_now_and_then(self) -> None:
        """Until cancelled."""
        while not self.quiet:
            await asyncio.sleep(LINE_EVERY if self._live is None else REDRAW_EVERY)
            self._count()
            if self._live is not None:
                self._live.update(self._table(), refresh=True)
            elif self._crawl:
                parts = (self._line(), *self._found(), self._waits(), self._mining)
                err.print("; ".join(filter(None, parts)), markup=False)

    def _waits(self) -> str:
        """For which host a crawl waits that does nothing else."""
        waited_for = self._crawl.crawl.frontier.pause() if self._crawl else None
        return f"waiting {waited_for[1]:.0f} s for {waited_for[0]}" if waited_for and waited_for[1] >= 1 else ""

    def _line(self) -> str:
        without_page = sum(self.skips.values())
        pages = f"{counted(self.pages, 'page')}, {self.rate():.1f}/s"
        parts = (
            f"{duration(time.monotonic() - self._started)}  {pages}, {self._queued} queued, {size(self.bytes)}",
            ", ".join(f"{language} {count}" for language, count in self.languages.most_common(5)),
            f"{without_page} fetch{'' if without_page == 1 else 'es'} brought no page" if without_page else "",
        )
        return "; ".join(filter(None, parts))

    def _visited(self) -> list[tuple[str, str]]:
        if not self._crawl:
            return []
        return [
            ("pages", f"{self.pages}   {self.rate():.1f}/s   {size(self.bytes)}"),
            ("queue", counted(self._queued, "link")),
            ("languages", _top(self.languages)),
            ("no page", _top(self.skips)),
            ("hosts", _top(self.hosts, 4)),
            ("now", self._waits()),
        ]

    def _found(self) -> list[str]:
        return [f"{name}: {found(one)}" for name, one in self._corpora.items()]

    def _table(self) -> Group:
        table = Table.grid(padding=(0, 2))
        for label, value in (*self._visited(), ("found", "\n".join(self._found())), ("mining", self._mining)):
            if value:
                table.add_row(Text(label, style="bold cyan"), Text(value))
        elapsed = duration(time.monotonic() - self._started)
        return Group(Text(f"bitrawl  {elapsed}   Ctrl-C stops; the same command resumes", style="dim"), table)


def _top(counts: Counter[str], most: int = 6) -> str:
    return "   ".join(f"{name} {count}" for name, count in counts.most_common(most))
