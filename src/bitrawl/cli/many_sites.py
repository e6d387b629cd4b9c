"""Many sites: `bitrawl mine --sites` in bundles, `merge` of what several jobs found, and `partition` of their archives."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.live import Live
from typer import Argument, Option

from bitrawl.cli.console import complain, duration, err, labelled, print_err, print_out, size, timed_lines
from bitrawl.cli.flags import confirm, with_settings
from bitrawl.config import Group, Job, described, listed
from bitrawl.discover.site_lists import read_sites
from bitrawl.errors import ConfigError
from bitrawl.show import counted
from bitrawl.url import Url

if TYPE_CHECKING:
    from bitrawl.cluster.executor import DaskExecutor, Executor
    from bitrawl.cluster.run import MinedRun, Run, RunStatus, Tally
    from bitrawl.corpus import MergedCounts, MergeFacts
    from bitrawl.job import StartOver

LOCAL = "local"
REDRAW_EVERY, LINE_EVERY = 1.0, 10.0  # seconds
SHOWN = 10  # failed sites that are printed

_option = partial(Option, rich_help_panel="Many sites")
_CLUSTER_HELP = (
    "Mine the sites on the Dask cluster with this scheduler, tcp://HOST:PORT; local starts one here, with --workers"
    " processes (extra cluster)."
)
_PART_HELP = "Mine one part of the sites: 0/3 is the first of three; each part can run on a different machine."
_RETRY_HELP = (
    "Visit again the sites that brought no page. Sites that were stopped by a machine fault are always tried again."
)
Cluster = Annotated[str | None, _option(help=_CLUSTER_HELP, metavar="ADDRESS")]
Part = Annotated[str | None, _option(help=_PART_HELP, metavar="I/N")]
BundleSites = Annotated[
    int | None,
    _option(
        min=1,
        help="Mine about this many sites in one process; sites with the same address stay together.",
        show_default="50, or fewer if there are few sites",
        metavar="N",
    ),
]
Scratch = Annotated[
    Path | None,
    _option(
        help="Keep unfinished work in this folder, on the local disk of each machine.",
        show_default="in the folder for temporary files",
        metavar="DIR",
    ),
]
RetryFailed = Annotated[bool, _option("--retry-failed", help=_RETRY_HELP)]


class Bundling(NamedTuple):
    """Flags that divide the sites of a list; None means not given."""

    cluster: str | None = None
    part: str | None = None
    bundle_sites: int | None = None
    scratch: Path | None = None
    workers: int | None = None
    retry_failed: bool | None = None
    refresh: bool = False

    @property
    def is_given(self) -> bool:
        return any(flag is not None for flag in self[:-1])


def mine_many(
    job: Job, to: str, bundling: Bundling, *, inputs: Sequence[Path | None], fresh: StartOver, quiet: bool
) -> None:
    """Mine the sites of the job in bundles, and leave with an exit code. `inputs` are read beside what the job names."""
    from bitrawl.cluster.places import is_run
    from bitrawl.cluster.run import MinedRun, RunRequest, check_place, is_monolingual, merge_run, plan, read_share

    check_place(job, to, [path for path in inputs if path is not None], fresh=fresh)
    if is_run(to):
        confirm(to, fresh)
    with _signals(), _executor(bundling, quiet=quiet) as (executor, at_once):
        share = read_share(bundling.part or "0/1")
        request = RunRequest(
            to,
            at_once * share.parts,
            share,
            bundling.bundle_sites,
            bundling.scratch,
            bool(bundling.retry_failed),
            bundling.refresh,
        )
        run = plan(job, request, fresh=fresh)
        with _RunDisplay(run, executor, quiet=quiet):
            run.finish(executor, complain)
    opened = MinedRun(to)
    _leave(run, opened, quiet=quiet)
    if is_monolingual(to):
        if not quiet:
            print_err(f"The corpus of each part is in {opened.parts}; one language is not merged.")
    elif share.parts == 1:  # when all is done, the parts become one corpus
        facts = merge_run(to, {}, (lambda _line: None) if quiet else timed_lines())
        if not quiet:
            show_merged(facts, opened.merged)
    elif not quiet:
        print_err(f"When all parts are done: bitrawl merge {to} --out DIR")


@contextmanager
def _executor(bundling: Bundling, *, quiet: bool) -> Iterator[tuple[Executor, int]]:
    """What mines the bundles, and how many at once."""
    from bitrawl.cluster.bundle_process import mine_bundle
    from bitrawl.cluster.executor import InlineExecutor, ProcessExecutor

    if bundling.cluster is None:
        workers = bundling.workers or 1
        executor: Executor = InlineExecutor(mine_bundle) if workers == 1 else ProcessExecutor(mine_bundle, workers)
    else:
        executor, workers = _dask(bundling, quiet=quiet)
    try:
        yield executor, workers
    finally:
        executor.close()


def _dask(bundling: Bundling, *, quiet: bool) -> tuple[Executor, int]:
    from bitrawl.cluster.bundle_process import mine_bundle
    from bitrawl.cluster.executor import DaskExecutor

    if bundling.cluster == LOCAL:
        executor = DaskExecutor(mine_bundle, workers=bundling.workers or 2)
    elif bundling.workers is not None:
        raise ConfigError("--workers is for this machine; a cluster has the workers that were started for it")
    else:
        executor = DaskExecutor(mine_bundle, str(bundling.cluster))
    if not quiet:
        print_err(f"Dask's dashboard: {executor.dashboard}")
    return executor, _first_workers(executor)


def _first_workers(executor: DaskExecutor) -> int:
    """How many workers there are, once there is one: their number decides how the sites are divided."""
    line_at = time.monotonic()
    try:
        while not (workers := executor.workers()):
            waiting = executor.waiting()
            if waiting and time.monotonic() - line_at >= LINE_EVERY:
                line_at = time.monotonic()
                print_err(waiting)
            time.sleep(REDRAW_EVERY)
    except BaseException:
        executor.close()
        raise
    return workers


@contextmanager
def _signals() -> Iterator[None]:
    """Every signal that ends us leaves no process behind, and says so in one line."""
    handlers = {number: signal.signal(number, _stop) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    except _StoppedError as stopped:
        print_err(f"Stopped by {stopped.by.name}. Nothing is lost: resume with the same command.")
        raise typer.Exit(128 + stopped.by) from None
    finally:
        for number, handler in handlers.items():
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


class _RunDisplay:
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
            print_err(
                f"{_in_round(tally)}{counted(tally.sites, 'site')}; {counted(self._run.todo, 'bundle')} to do{before}."
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
                live.update(labelled(self._rows()), refresh=True)

    def _print_lines(self) -> None:
        """That nobody is there to do the work is told even to those who want no progress."""
        line_at = waiting_at = self._began
        while not self._ending.wait(REDRAW_EVERY):
            now, waiting = time.monotonic(), self._executor.waiting()
            if waiting and now - waiting_at >= LINE_EVERY:
                waiting_at = now
                print_err(waiting)
            elif not waiting and not self._quiet and now - line_at >= LINE_EVERY:
                line_at = now
                print_err("; ".join(f"{value} {label}" for label, value in self._rows()))

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


def show_run(now: RunStatus) -> None:
    """Print how far the run is."""
    tally = now.tally
    figures = tally.finished + now.running
    print_out(
        f"{_in_round(tally)}{figures.sites} of {counted(tally.sites, 'site')} done: {counted(figures.pages, 'page')},"
        f" {counted(figures.pairs, 'page pair')}, {counted(figures.units, 'unit')} before merging."
    )
    for site in tally.failed[:SHOWN]:
        print_out(f"failed     {site.site}: {site.failed}")
    if len(tally.failed) > SHOWN:
        print_out(f"… and {counted(len(tally.failed) - SHOWN, 'more site')} without a page")
    if tally.failed:
        print_out("To try the failed sites again, add --retry-failed to the command.")
    for line in _not_done(tally):
        print_out(f"not done   {line}")
    print_out(f"parts      {now.parts}")


def _in_round(tally: Tally) -> str:
    return f"Round {tally.round}: " if tally.round > 1 else ""


def _not_done(tally: Tally) -> Iterator[str]:
    """Which sites a fault of a machine stopped, and why."""
    sites: dict[str, list[str]] = {}
    for record in tally.faults.values():
        sites.setdefault(record.reason, []).extend(record.sites)
    for why, names in sites.items():
        more = f" and {counted(len(names) - SHOWN, 'more site')}" if len(names) > SHOWN else ""
        yield f"{', '.join(names[:SHOWN])}{more}: {why}"


def _leave(run: Run, opened: MinedRun, *, quiet: bool) -> None:
    from bitrawl.cluster.run import RunStatus

    tally = run.tally
    if not quiet:
        show_run(RunStatus(opened.parts, tally, run.running(), None))
    else:
        for line in _not_done(tally):
            print_err(f"not done: {line}")
    if tally.faults:
        print_err(
            f"Nothing is lost: the same command resumes. To merge what is done: bitrawl merge {opened.address} --out DIR"
        )
    if tally.faults or not tally.finished.pages:
        raise typer.Exit(1)


_JOBS_HELP = "Job folders, as given to --out of mine; also runs over many sites."
_LANGS_HELP = "Merge only the corpora of these two languages: en,fr"


@with_settings([Group.CORPUS])
def merge(
    folders: Annotated[list[str], Argument(help=_JOBS_HELP, metavar="DIR...", show_default=False)],
    *,
    target: Annotated[
        Path, Option("--out", help="Write the merged corpus into this folder.", metavar="DIR", show_default=False)
    ],
    langs: Annotated[str | None, Option(help=_LANGS_HELP, metavar="CODES", rich_help_panel=Group.CORPUS)] = None,
    **settings: Any,
) -> None:
    """Merge the corpora of several jobs into one, each text once.

    Example: [bold]bitrawl merge jobs/one jobs/two --out merged --formats tmx,tsv[/]

    Segments that differ only in case, punctuation or spaces become one unit with all of its sources. Each pair of
    languages is a corpus. The thresholds are those of each job unless you give others. Nothing is fetched or aligned.
    """
    from bitrawl.cluster.run import merge_folders

    languages = listed(langs) if langs else ()
    facts = merge_folders(folders, target, described(settings, [Group.CORPUS]), langs=languages, tell=timed_lines())
    show_merged(facts, str(target))


def show_merged(facts: MergeFacts, target: str) -> None:
    for note in facts.notes:
        print_err(note)
    for counts in facts.corpora:
        print_out(_merged_line(counts))
    failed = sum(bool(site.part.why) for site in facts.sites)
    if failed:
        print_out(f"{counted(failed, 'site')} brought nothing, or something failed there: see sites.tsv")
    print_out(f"corpus in {target}/corpus, report in {target}/report.html")


def _merged_line(counts: MergedCounts) -> str:
    return (
        f"{'-'.join(counts.languages)}: {counted(counts.units, 'unit')} from {counted(counts.segment_pairs, 'segment pair')}"
        f" of {counted(len(counts.parts), 'job')}; removed {counted(counts.duplicates, 'duplicate')} and"
        f" {counted(counts.near_duplicates, 'near duplicate')}"
    )


_MOST_GROUPS = 100_000  # so many files in one folder are still listed in a second
_GROUPS_HELP = "Write at most this many files, with many sites in each, instead of one file for each site."


def partition(
    files: Annotated[list[Path], Argument(help="WARC files, or folders of them.", metavar="FILE|DIR")],
    *,
    out: Annotated[Path, Option(help="Write the split files into this folder.", metavar="DIR")],
    sites: Annotated[
        Path | None, Option(help="Keep only the sites of this list, as mine --sites takes it.", metavar="FILE")
    ] = None,
    groups: Annotated[int, Option(help=_GROUPS_HELP, metavar="N", min=0, max=_MOST_GROUPS, show_default=False)] = 0,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print only what went wrong.")] = False,
) -> None:
    """Split WARC files that mix many sites into one file for each site.

    Example: [bold]bitrawl partition segments/ --groups 200 --out by-site[/], then
    [bold]bitrawl mine --warc by-site/00000.warc.gz --langs en,fr --out jobs/00000[/]

    Keeps the HTTP answers and leaves out everything else. After an interruption, the same command resumes.
    """
    from bitrawl.job import partition as split

    only = None if sites is None else frozenset(Url.parse(seed).site for seed in read_sites(sites).seeds)
    inputs = split(
        files,
        out,
        groups=groups,
        sites=only,
        beside=[sites] if sites else (),
        watch=lambda file: (
            None if quiet else print_err(f"{file.path}: {counted(file.answers, 'answer')}, {size(file.bytes)}")
        ),
    )
    if not quiet:
        earlier = f", {inputs.before} done before" if inputs.before else ""
        total = sum(file.answers for file in inputs.done)
        print_out(f"{counted(len(inputs.done), 'file')} split into {out}: {counted(total, 'answer')}{earlier}.")
