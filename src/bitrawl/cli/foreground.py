"""A job in the foreground: how it is going, the signals that end it, its exit code, and what `--dry-run` prints."""

import asyncio
import gc
import os
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Self, TypeVar

import typer
from rich.console import Group
from rich.live import Live
from rich.text import Text

from bitrawl.cli.console import (
    TELL_EVERY,
    complain,
    duration,
    err,
    labelled,
    out,
    print_err,
    print_out,
    size,
    skip_text,
)
from bitrawl.cli.flags import confirm
from bitrawl.cli.status import corpus_figures, show, tell, tell_of_kills
from bitrawl.config import Job
from bitrawl.crawling import Preview, Reach, ScopeRules
from bitrawl.endings import Doing, Ending
from bitrawl.errors import FAULT_FILE
from bitrawl.facts import LanguagePair
from bitrawl.job import OpenedJob, StartOver, WiredCrawl, crawl, mine, mine_again, preview
from bitrawl.message import enumerated
from bitrawl.model import OWN_REQUESTS, Page, Skip, Visit
from bitrawl.show import counted
from bitrawl.url import Url

Result = TypeVar("Result")

EXIT_CODES = {Ending.DONE: 0, Ending.BUDGET: 0, Ending.FAILED: 1, Ending.STOPPED: 130}
LINE_EVERY = 10.0  # seconds, where there is no terminal
REDRAW_EVERY = 0.25
COUNT_EVERY = 2.0
MOST_NAMES = 3  # of hosts in a sentence


class ProgressDisplay:
    """A live table on a terminal, a line now and then elsewhere. It asks the ledger every few seconds only."""

    def __init__(self, folder: OpenedJob | None = None, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self._started = time.monotonic()
        self.pages = 0
        self.bytes = 0
        self.languages: Counter[str] = Counter()
        self.skips: Counter[str] = Counter()
        self.hosts: Counter[str] = Counter()
        self._folder = folder
        self._crawl: WiredCrawl | None = None
        self._queued, self._corpora, self._counted_at = 0, dict[str, LanguagePair](), 0.0
        self._mining, self._line_at = "", 0.0
        self._live = Live(console=err, auto_refresh=False, transient=True) if err.is_terminal and not quiet else None

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def watch(self, wired: WiredCrawl) -> None:
        """A crawl is about to begin."""
        self._crawl = wired

    def visited(self, visit: Visit) -> None:
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
            print_err(message)

    def mining(self, doing: Doing | None) -> None:
        """What is mined now, None for nothing; without a terminal a line each, if they do not come too fast."""
        self._mining = str(doing or "")
        if self._mining and self._live is None and time.monotonic() - self._line_at > TELL_EVERY:
            self._line_at = time.monotonic()
            self.note(f"{self._elapsed()}  {self._mining}")

    async def draw_now_and_then(self) -> None:
        """Draw until cancelled."""
        while not self.quiet:
            await asyncio.sleep(LINE_EVERY if self._live is None else REDRAW_EVERY)
            self._count()
            if self._live is not None:
                self._live.update(self._table(), refresh=True)
            elif self._crawl:
                parts = (self._line(), *self._corpus_lines(), self._waits(), self._mining)
                print_err("; ".join(filter(None, parts)))

    def _count(self) -> None:
        """Now and then, since counting a million takes a while."""
        if time.monotonic() - self._counted_at > COUNT_EVERY:
            self._queued = len(self._crawl.queue) if self._crawl else 0
            self._corpora = self._folder.found() if self._folder else {}
            self._counted_at = time.monotonic()

    def _elapsed(self) -> str:
        return duration(time.monotonic() - self._started)

    def _rate(self) -> str:
        return f"{self.pages / max(time.monotonic() - self._started, 0.001):.1f}/s"

    def _waits(self) -> str:
        """For which host a crawl waits that does nothing else."""
        pause = self._crawl.crawl.frontier.pause() if self._crawl else None
        return f"waiting {pause[1]:.0f} s for {pause[0]}" if pause and pause[1] >= 1 else ""

    def _line(self) -> str:
        without_page = sum(self.skips.values())
        pages = f"{counted(self.pages, 'page')}, {self._rate()}"
        parts = (
            f"{self._elapsed()}  {pages}, {self._queued} queued, {size(self.bytes)}",
            ", ".join(f"{language} {count}" for language, count in self.languages.most_common(5)),
            f"{counted(without_page, 'visit')} brought no page" if without_page else "",
        )
        return "; ".join(filter(None, parts))

    def _corpus_lines(self) -> list[str]:
        return [f"{name}: {corpus_figures(pair)}" for name, pair in self._corpora.items()]

    def _table(self) -> Group:
        rows = [("found", "\n".join(self._corpus_lines())), ("mining", self._mining)]
        if self._crawl:
            rows = [
                ("pages", f"{self.pages}   {self._rate()}   {size(self.bytes)}"),
                ("queue", counted(self._queued, "link")),
                ("languages", _top(self.languages)),
                ("no page", _top(self.skips)),
                ("hosts", _top(self.hosts, 4)),
                ("now", self._waits()),
                *rows,
            ]
        head = Text(f"bitrawl  {self._elapsed()}   Ctrl-C stops; the same command resumes", style="dim")
        return Group(head, labelled((label, value) for label, value in rows if value))


def _top(counts: Counter[str], most: int = 6) -> str:
    return "   ".join(f"{name} {count}" for name, count in counts.most_common(most))


class Foreground:
    """The first Ctrl-C finishes what is in flight, where that can be done; every other signal ends the job at once."""

    def __init__(self, folder: OpenedJob, *, quiet: bool = False, mines: bool = False) -> None:
        self.progress = ProgressDisplay(folder, quiet=quiet)
        self.folder = folder
        self.mines = mines  # what was fetched, also after the first Ctrl-C
        self._wired: WiredCrawl | None = None
        self._task: asyncio.Future[Any] | None = None
        self._signal = signal.SIGINT

    def run(self, main: Callable[[], Awaitable[Result]]) -> Result:
        """Until it is done; a signal that ends it at once ends this program too, with one line."""
        gc.freeze()  # What was imported stays: no collection need look at it again.
        with self.progress:
            try:
                return asyncio.run(self._run(main))
            except asyncio.CancelledError:
                pass
        print_err(f"Stopped by {self._signal.name}. Nothing is lost: resume with the same command.")
        raise typer.Exit(128 + self._signal)

    def started(self, wired: WiredCrawl) -> None:
        """A crawl is about to begin: the first Ctrl-C finishes what is in flight."""
        self._wired = wired
        if wired.crawl.settings.follow:
            self.progress.note(scope_text(wired.crawl.scope.rules, wired.crawl.seeds))
        self.progress.watch(wired)

    async def mine(self, job: Job, *, fresh: StartOver = StartOver.NO, refresh: bool = False) -> Ending:
        """The whole job, shown here."""
        watched = self.progress
        work = partial(mine, observe=watched.visited, started=self.started, watch=watched.mining)
        return await work(job, self.folder.files, fresh=fresh, refresh=refresh)

    async def _run(self, main: Callable[[], Awaitable[Result]]) -> Result:
        task = asyncio.ensure_future(main())
        self._task = task
        drawing = asyncio.ensure_future(self.progress.draw_now_and_then())
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._signalled, number)
        try:
            return await task
        finally:
            drawing.cancel()

    def _signalled(self, number: signal.Signals) -> None:
        if number is signal.SIGINT and self._wired is not None and not self._wired.crawl.stopped:
            then = " Then what was fetched is paired, aligned and written." if self.mines else ""
            self.progress.note(f"Finishing what is in flight.{then} Press Ctrl-C again to stop now.")
            self._wired.crawl.stop()
        elif self._task is not None:
            self._signal = number
            self._task.cancel()


def scope_text(rules: ScopeRules, seeds: Sequence[Url]) -> str:
    """The first line of a crawl: how far it goes, and the flag that changes that."""
    below = f", only below {_some(rules.under)}" if rules.under else ""
    names, domains = _some(url.host for url in seeds), _some(url.site for url in seeds)
    if rules.reach is Reach.WEB:
        return f"Scope: the whole web, beginning at {names}{below}."
    if rules.same_host:
        return f"Scope: {names} only (--same-host){below}."
    if rules.reach is Reach.DOMAIN:
        return f"Scope: every host of {domains}{below}."
    its = "its" if len({url.host for url in seeds}) == 1 else "their"
    wider = [url.site for url in seeds if "." in url.site.rstrip("0123456789.:")]  # an IP address has no other hosts
    if not wider:
        return f"Scope: {names} and the hosts of {its} translations{below}."
    if len(set(wider)) > 1:
        return f"Scope: {names}, and the hosts of their translations within their domains{below}. For all hosts: --scope domain."
    return f"Scope: {names} and the hosts of {its} translations within {domains}{below}. For all of {wider[0]}: --scope domain."


def _some(names: Iterable[str]) -> str:
    first = list(dict.fromkeys(names))
    return enumerated(
        first if len(first) <= MOST_NAMES else [*first[: MOST_NAMES - 1], f"{len(first) - MOST_NAMES + 1} others"]
    )


def run_in_foreground(job: Job, shown: Foreground, fresh: StartOver, *, refresh: bool, dry_run: bool) -> None:
    """Crawl, and mine if that is asked for; show what was found, and leave with an exit code."""
    folder, quiet, watched = shown.folder, shown.progress.quiet, shown.progress
    if dry_run:
        previews = shown.run(lambda: preview(job))
        show_previews(previews, job)
        leave(Ending.FAILED if all(host.skip for host in previews) else Ending.DONE)
        return
    if folder.files.holds_job:
        confirm(folder.folder, fresh)
    if shown.mines:
        ending = shown.run(lambda: shown.mine(job, fresh=fresh, refresh=refresh))
    else:
        work = partial(crawl, observe=watched.visited, started=shown.started)
        ending = shown.run(lambda: work(job, folder.files, fresh=fresh, refresh=refresh))
    if not quiet:
        tell(folder, ended=True) if shown.mines else show(folder)
    tell_of_kills(folder)
    leave(ending, quiet_in=folder if quiet else None)


def mine_in_foreground(job: OpenedJob, settings: Mapping[str, Any], *, known_pairs: bool = False) -> None:
    """Pair and align what a job has with other settings, or only align it, and show what was found."""
    changed, foreground = job.files.changed(settings), Foreground(job)
    watch = foreground.progress.mining
    foreground.run(lambda: mine_again(changed, job.files, known_pairs=known_pairs, watch=watch))
    tell(job)
    tell_of_kills(job)


def leave(ending: Ending, *, quiet_in: OpenedJob | None = None) -> None:
    """With the exit code of that ending. A command that has shown nothing of its job says why it failed.

    The web app does not need that: it reads the same in the ledger.
    """
    if ending is Ending.FAILED and quiet_in is not None and FAULT_FILE not in os.environ:
        complain(f"{quiet_in.folder}: {quiet_in.status().ended}")
    if EXIT_CODES[ending]:
        raise typer.Exit(EXIT_CODES[ending])


def show_previews(previews: Sequence[Preview], job: Job) -> None:
    """One block for each host: its answers to a few questions, and what the job would do with them."""
    for host in previews:
        out.print(Text(host.host, style="bold"))
        for label, value in _preview_rows(host):
            out.print(Text.assemble((f"  {label:<10}", "cyan"), value))
    print_out(f"strategy {job.strategy}, languages {', '.join(job.langs)}; nothing was written")


def _preview_rows(preview: Preview) -> list[tuple[str, str]]:
    rows = [("seed", f"{preview.seed}: {skip_text(preview.skip) if preview.skip else 'allowed'}")]
    if preview.crawl_delay:
        rows.append(("delay", f"robots.txt asks for {preview.crawl_delay:g} s between visits"))
    sitemap = preview.sitemap
    if sitemap is None:
        return rows
    html_lang = f", declared as {preview.html_lang}" if preview.html_lang else ""
    alternates = "   ".join(f"{code} {count}" for code, count in sorted(preview.languages.items())[:12])
    urls = counted(sitemap.urls, "URL") if sitemap.skip is None else f"not read ({sitemap.skip.reason})"
    files = f", the first of {sitemap.files} files" if sitemap.files > 1 else ""
    rows += [
        ("language", f"{preview.language}{html_lang}"),
        ("links", f"{preview.links} in scope on the seed"),
        ("sitemap", f"{sitemap.url}: {urls}{files}"),
        ("declared", alternates or "no translations"),
    ]
    if preview.seconds:
        rows.append(("estimate", f"{counted(sitemap.estimated, 'page')} in about {duration(preview.seconds)}"))
    return rows
