"""`bitrawl mine --sites` in bundles: side by side in processes, on a cluster, or one part of the list."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.live import Live
from rich.table import Table
from rich.text import Text

from bitrawl.cli.console import complain, duration, err, out, size
from bitrawl.cli.merge import Progress, show_merged
from bitrawl.cluster.bundle_process import mine_bundle
from bitrawl.cluster.bundles import PARTS
from bitrawl.cluster.executor import Executor, InlineExecutor, ProcessExecutor
from bitrawl.cluster.run import MERGED, Run, RunRequest, Tally, merge_run, plan, read_share
from bitrawl.config import Job
from bitrawl.errors import ConfigError
from bitrawl.show.wording import counted

if TYPE_CHECKING:
    from bitrawl.cluster.executor import DaskExecutor

MANY = "Many sites"
LOCAL = "local"
REDRAW_EVERY, LINE_EVERY = 1.0, 10.0  # seconds
SHOWN = 10  # failed sites that are printed; judgement

Cluster = Annotated[
    str | None,
    typer.Option(
        help="Mine the sites on the Dask cluster with this scheduler, tcp://HOST:PORT; local starts one here, with --workers"
        " processes (extra cluster).",
        metavar="ADDRESS",
        rich_help_panel=MANY,
    ),
]
Part = Annotated[
    str | None,
    typer.Option(
        help="Mine one part of the sites, the first of three with 0/3; each part can run on another machine.",
        metavar="I/N",
        rich_help_panel=MANY,
    ),
]
BundleSites = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Mine about this many sites in one process; sites with the same address stay together.",
        show_default="50, or fewer if there are few sites",
        metavar="N",
        rich_help_panel=MANY,
    ),
]
Scratch = Annotated[
    Path | None,
    typer.Option(
        help="Keep unfinished work in this folder, on the local disk of each machine.",
        show_default="in the folder for temporary files",
        metavar="DIR",
        rich_help_panel=MANY,
    ),
]

RetryFailed = Annotated[
    bool,
    typer.Option(
        "--retry-failed",
        help="Visit the sites again that brought no page. Sites that a fault of a machine stopped are always tried again.",
        rich_help_panel=MANY,
    ),
]


class Many(NamedTuple):
    """Flags that divide the sites of a list; None means not given."""

    cluster: str | None = None
    part: str | None = None
    bundle_sites: int | None = None
    scratch: Path | None = None
    workers: int | None = None
    retry_failed: bool | None = None

    @property
    def is_asked(self) -> bool:
        return any(flag is not None for flag in self)


def mine_many(job: Job, to: str, many: Many, *, fresh: bool, quiet: bool) -> None:
    """Mine the sites of the job in bundles, and leave with an exit code."""
    with _signals(), _executor(many, quiet=quiet) as (executor, at_once):
        share = read_share(many.part) if many.part else None
        asked = RunRequest(to, at_once * (share.parts if share else 1), size=many.bundle_sites, scratch=many.scratch)
        asked = asked._replace(retry_failed=bool(many.retry_failed))
        run = plan(job, asked._replace(share=share) if share else asked, fresh=fresh)
        with _Drawn(run, executor, quiet=quiet):
            run.finish(executor, complain)
    _leave(run, to, quiet=quiet)
    if share is None or share.parts == 1:
        _merge(to, quiet=quiet)
    elif not quiet:
        err.print(f"When all parts are done: bitrawl merge {to} --out DIR", markup=False)


@contextmanager
def _executor(many: Many, *, quiet: bool) -> Iterator[tuple[Executor, int]]:
    """What mines the bundles, and how many at once."""
    if many.cluster is None:
        workers = many.workers or 1
        executor: Executor = InlineExecutor(mine_bundle) if workers == 1 else ProcessExecutor(mine_bundle, workers)
    else:
        executor, workers = _dask(many, quiet=quiet)
    try:
        yield executor, workers
    finally:
        executor.close()


def _dask(many: Many, *, quiet: bool) -> tuple[Executor, int]:
    from bitrawl.cluster.executor import DaskExecutor  # noqa: PLC0415 - an extra

    if many.cluster == LOCAL:
        executor = DaskExecutor(mine_bundle, workers=many.workers or 2)
    elif many.workers is not None:
        raise ConfigError("--workers is for this machine; a cluster has the workers that were started for it")
    else:
        executor = DaskExecutor(mine_bundle, str(many.cluster))
    if not quiet:
        err.print(f"Dask's dashboard: {executor.dashboard}", markup=False)
    return executor, _first_workers(executor)


def _first_workers(executor: "DaskExecutor") -> int:
    """How many workers there are, once there is one: their number decides how the sites are divided."""
    said_at = time.monotonic()
    try:
        while not (workers := executor.workers()):
            waiting = executor.waiting()
            if waiting and time.monotonic() - said_at >= LINE_EVERY:
                said_at = time.monotonic()
                err.print(waiting, markup=False)
            time.sleep(REDRAW_EVERY)
    except BaseException:
        executor.close()
        raise
    return workers


@contextmanager
def _signals() -> Iterator[None]:
    """Every signal that ends us leaves no process behind, and says so in one line."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, _stop) for number in numbers}
    try:
        yield
    except _StoppedError as stopped:
        err.print(f"Stopped by {stopped.by.name}. Nothing is lost: resume with the same command.", markup=False)
        raise typer.Exit(128 + stopped.by) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _StoppedError(BaseException):
    """As `KeyboardInterrupt`, with the signal."""

    def __init__(self, by: signal.Signals) -> None:
        super().__init__()
        self.by = by


def _stop(number: int, _frame: FrameType | None) -> None:
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)  # Processes are being ended: that takes a moment, and must not be cut off.
    raise _StoppedError(signal.Signals(number))


class _Drawn:
    """How the run is going: a table on a terminal, a line now and then elsewhere; drawn by a thread."""

    def __init__(self, run: Run, executor: Executor, *, quiet: bool) -> None:
        self._run = run
        self._executor = executor
        self._quiet = quiet
        self._began = time.monotonic()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._draw, daemon=True)

    def __enter__(self) -> None:
        tally = self._run.tally
        if not self._quiet:
            before = f", {counted(tally.finished.sites, 'site')} done before" if tally.bundles else ""
            err.print(
                f"{counted(tally.sites, 'site')}; {counted(self._run.todo, 'bundle')} to do{before}.", markup=False
            )
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join()

    def _draw(self) -> None:
        if self._quiet or not err.is_terminal:
            self._print_lines()
            return
        with Live(console=err, auto_refresh=False, transient=True) as live:
            while not self._ending.wait(REDRAW_EVERY):
                live.update(self._table(), refresh=True)

    def _print_lines(self) -> None:
        """That nobody is there to do the work is said even to those who want no progress."""
        line_at = waiting_at = self._began
        while not self._ending.wait(REDRAW_EVERY):
            now, waiting = time.monotonic(), self._executor.waiting()
            if waiting and now - waiting_at >= LINE_EVERY:
                waiting_at = now
                err.print(waiting, markup=False)
            elif not waiting and not self._quiet and now - line_at >= LINE_EVERY:
                line_at = now
                err.print("; ".join(f"{value} {label}" for label, value in self._rows()), markup=False)

    def _rows(self) -> list[tuple[str, str]]:
        tally, seconds = self._run.tally, time.monotonic() - self._began
        figures = tally.finished + self._run.running()
        now = figures.sites - tally.earlier.sites
        rows = [
            ("sites", f"{figures.sites} of {tally.sites}"),
            ("pages", f"{figures.pages}"),
            ("pages/s", f"{max(0, figures.pages - tally.earlier.pages) / max(seconds, 0.001):.1f}"),
            ("fetched", size(figures.bytes)),
            ("page pairs", f"{figures.pairs}"),
            ("units", f"{figures.units}"),
            ("failed", f"{len(tally.failed)}"),
            ("so far", duration(seconds)),
        ]
        if waiting := self._executor.waiting():
            rows.append(("now", waiting))
        elif now > 0:
            rows.append(("left", f"about {duration(seconds / now * (tally.sites - figures.sites))}"))
        return rows

    def _table(self) -> Table:
        table = Table.grid(padding=(0, 2))
        for label, value in self._rows():
            table.add_row(Text(label, style="bold cyan"), Text(value))
        return table


def show_run(run: Run, to: str) -> None:
    """How far it is."""
    tally = run.tally
    figures = tally.finished + run.running()
    out.print(
        f"{figures.sites} of {counted(tally.sites, 'site')} done: {counted(figures.pages, 'page')},"
        f" {counted(figures.pairs, 'page pair')}, {counted(figures.units, 'unit')} before merging.",
        markup=False,
    )
    for site in tally.failed[:SHOWN]:
        out.print(f"failed     {site.site}: {site.failed}", markup=False)
    if len(tally.failed) > SHOWN:
        out.print(f"… and {len(tally.failed) - SHOWN} more sites without a page", markup=False)
    if tally.failed:
        out.print("To try the failed sites again, add --retry-failed to the command.", markup=False)
    for line in _not_done(tally):
        out.print(f"not done   {line}", markup=False)
    out.print(f"parts      {to.rstrip('/')}/{PARTS}", markup=False)


def _not_done(tally: Tally) -> list[str]:
    """Which sites a fault of a machine stopped, and why."""
    stopped: dict[str, list[str]] = {}
    for record in tally.faults.values():
        stopped.setdefault(record.reason, []).extend(record.sites)
    return [f"{', '.join(names[:SHOWN])}{_more(len(names) - SHOWN)}: {why}" for why, names in stopped.items()]


def _more(count: int) -> str:
    return f" and {counted(count, 'more site')}" if count > 0 else ""


def _leave(run: Run, to: str, *, quiet: bool) -> None:
    tally = run.tally
    if not quiet:
        show_run(run, to)
    elif tally.faults:
        for line in _not_done(tally):
            err.print(f"not done: {line}", markup=False)
    if tally.faults:
        err.print(
            f"Nothing is lost: the same command goes on. To merge what is done: bitrawl merge {to} --out DIR",
            markup=False,
        )
    if tally.faults or not tally.finished.pages:
        raise typer.Exit(1)


def _merge(to: str, *, quiet: bool) -> None:
    """When all is done, the parts become one corpus."""
    facts = merge_run(to, {}, Progress().tell if not quiet else lambda _what: None)
    if not quiet:
        show_merged(facts, f"{to.rstrip('/')}/{MERGED}")
