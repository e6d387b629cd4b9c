"""What a job is doing, read from its folder: the lock, what its ledger remembers of the last run, and what the app wants of it.

Runs over many sites (`bitrawl mine --sites` in bundles) are shown beside jobs: the app only looks at them.
"""

import os
import time
from collections import Counter
from pathlib import Path

import msgspec
from msgspec.structs import replace

from bitrawl.cluster.bundles import PROGRESS
from bitrawl.cluster.run import FAILED, existing_run
from bitrawl.endings import CrawlEnd, Doing, EndKind, Fault, HostRest, LastRun, State
from bitrawl.errors import BitrawlError, StoreError
from bitrawl.facts import Live
from bitrawl.file_names import SITES_TABLE
from bitrawl.files import NO_JSON
from bitrawl.job import FolderKind, JobFolder, kind_of
from bitrawl.message import Message
from bitrawl.remedies import Tip
from bitrawl.web.job_list import ALIGNED, Intent, JobVerb, Wish
from bitrawl.web.messages import message

LOG = "run.log"
FAULT = "fault.json"
"""Why the job's process could not do its work, as it wrote that down."""
SIMULATED = "simulated"
"""The folder that a comparison of strategies writes, in the job's own."""
SILENT = 60.0  # seconds without a word of any bundle of a run: then nobody is at work; they report every few seconds


class JobState(msgspec.Struct, frozen=True):
    """A state, with what there is to say about it."""

    state: State
    message: Message = Message("")  # if neither of the next three says more
    doing: Doing | None = None  # what is being mined now
    ended: CrawlEnd | None = None
    fault: Fault | None = None
    resting: HostRest | None = None  # what the crawl waits for, or did a moment ago

    def messages(self, pairs: int = 0) -> tuple[Message, ...]:
        """What there is to say, with the number of page pairs that were found."""
        if self.ended is not None:
            return self.ended.messages(pairs)
        why = self.fault.message if self.fault is not None else self.message
        return (why,) if why.text else ()

    @property
    def tips(self) -> tuple[Tip, ...]:
        """What to try."""
        if self.fault is not None:
            return (self.fault.tip,)
        return self.ended.tips if self.ended is not None and not self.is_pending else ()

    @property
    def is_active(self) -> bool:
        """Whether a process works in the folder."""
        return self.state in (State.RUNNING, State.PAUSING, State.STOPPING)

    @property
    def is_finished(self) -> bool:
        """Whether it came to its end by itself, and found something."""
        return self.state is State.ENDED and not (self.ended and self.ended.kind is EndKind.STOPPED)

    @property
    def is_pending(self) -> bool:
        """Whether a process works in the folder, or will soon."""
        return self.is_active or self.state is State.WAITING


def last_run(folder: JobFolder) -> LastRun:
    """Nothing where there is no ledger yet, or none that can be read."""
    try:
        ledger = folder.reading(verified=False)
    except StoreError:
        return LastRun()
    try:
        return ledger.last_run()
    except StoreError:
        return LastRun()
    finally:
        ledger.close()


class IdleRuns:
    """`last_run` of many jobs, most of them idle: their ledgers are read again only when they have changed."""

    def __init__(self) -> None:
        self._runs: dict[str, tuple[tuple[int, ...], LastRun]] = {}

    def of(self, folder: JobFolder) -> LastRun:
        if folder.is_running:  # it may write twice within one tick of the file system's clock
            return last_run(folder)
        stamp = (*_stamp(folder.ledger), *_stamp(folder.ledger.with_name(f"{folder.ledger.name}-wal")))
        cached = self._runs.get(str(folder.path))
        if cached is None or cached[0] != stamp:
            cached = self._runs[str(folder.path)] = (stamp, last_run(folder))
        return cached[1]

    def forget(self, folder: JobFolder) -> None:
        """A job that is deleted."""
        self._runs.pop(str(folder.path), None)


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_ino, status.st_mtime_ns, status.st_size


def state_of(
    folder: JobFolder, intent: Intent | None, run: LastRun, *, alive: bool, locked: bool, waits: Message | None = None
) -> JobState:
    """The state of a job.

    `alive` tells whether the app's own process is there, `locked` whether any process works in the folder: look at both
    before you read the last run, or a job that ends meanwhile seems to be interrupted. `waits` is what a waiting job
    waits for.
    """
    if alive or locked:
        wish = intent.wish if intent is not None and alive else Wish.RUNNING
        state = {Wish.PAUSED: State.PAUSING, Wish.STOPPED: State.STOPPING}.get(wish, State.RUNNING)
        return JobState(state, doing=run.doing, resting=run.resting)
    if intent is None:
        return JobState(State.ENDED) if kind_of(folder.path) is FolderKind.TOPIC else _after(run, run.state)
    if intent.wish is Wish.WAITING:
        return JobState(State.WAITING, waits or message("starts in a moment"))
    if intent.wish is Wish.PAUSED:
        too_late = run.complete and run.ended is not None and run.ended.kind is not EndKind.STOPPED
        return _after(run) if too_late else JobState(State.PAUSED)
    if intent.wish is Wish.STOPPED:
        return _after(run if run.ended else replace(run, ended=CrawlEnd(kind=EndKind.STOPPED)))
    return _after_running(folder, intent, run)


def _after_running(folder: JobFolder, intent: Intent, run: LastRun) -> JobState:
    """Nobody asked it to end: it came to its end, could not be run, or was killed."""
    code = intent.exit
    if code == 1 and intent.current.verb is JobVerb.BOOTSTRAP and is_done(folder, intent, run):
        return JobState(State.NOTHING_FOUND)  # no terms, and its folder says why
    if code == 0 or (code is None and is_done(folder, intent, run)) or (code in (1, 130) and run.complete):
        in_vain = intent.current.verb is JobVerb.DISCOVER and not _has_found_sites(folder)
        return _after(run, State.NOTHING_FOUND if in_vain and run.end_state is State.ENDED else None)
    if code in (1, 2):
        return JobState(State.FAILED, fault=_fault(folder))
    return JobState(State.INTERRUPTED, message("the job was interrupted; nothing is lost"), run.doing)


def _after(run: LastRun, state: State | None = None) -> JobState:
    """It says how the crawl ended."""
    return JobState(state or run.end_state, ended=run.ended)


def is_done(folder: JobFolder, intent: Intent, run: LastRun) -> bool:
    """Whether the folder itself shows that the current command has come to its end."""
    match intent.current.verb:
        case JobVerb.SIMULATE:
            try:
                return (folder.path / SIMULATED / "simulate.html").stat().st_mtime >= intent.since
            except OSError:
                return False
        case JobVerb.ALIGN:
            return (folder.path / ALIGNED / "1.tsv").exists()
        case JobVerb.BOOTSTRAP:
            return folder.topic.exists()
        case _:
            return run.complete


def _has_found_sites(folder: JobFolder) -> bool:
    try:
        with folder.found_sites.open("rb") as file:
            return any(line.strip() and not line.startswith(b"#") for line in file)
    except OSError:
        return False


def _fault(folder: JobFolder) -> Fault:
    """Which one if it was written down: not where a bug ended the process."""
    try:
        return msgspec.json.decode((folder.path / FAULT).read_bytes(), type=Fault)
    except (OSError, *NO_JSON):
        return Fault()


def without_place(folder: Path, text: str) -> str:
    """Where the folder of a job is, is the operator's business."""
    return text.replace(f"{folder}/", "").replace(str(folder), "the job's folder")


def last_lines(folder: Path, most: int = 5) -> list[str]:
    """The last lines of the log of the job's process."""
    try:
        with (folder / LOG).open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - 8192, 0))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    return [line.strip() for line in text.splitlines() if line.strip()][-most:]


def merged_files(folder: JobFolder) -> list[str]:
    """What merging has written, by paths in the folder of the run."""
    merged = folder.merged
    paths = (*sorted(merged.glob("corpus/*")), merged / SITES_TABLE, merged / FAILED)
    return [str(path.relative_to(folder.path)) for path in paths if path.is_file()]


def state_of_run(folder: JobFolder, now: float | None = None) -> JobState:
    """By what is done, and by when a bundle last reported how far it is."""
    try:
        run = existing_run(str(folder.path))
    except BitrawlError as error:
        return JobState(State.FAILED, fault=Fault.of(error))
    if run is None or not run.tally.left:
        any_pages = run is None or run.tally.finished.pages
        return JobState(State.ENDED if any_pages else State.NOTHING_FOUND, message("all sites are done"))
    reports = [path.stat().st_mtime for path in Path(folder.path, PROGRESS).glob("*.json")]
    date = time.time() if now is None else now
    # A report from the future was written before somebody set the date back.
    state = State.RUNNING if any(abs(date - at) < SILENT for at in reports) else State.INTERRUPTED
    return JobState(state, message("sites left: {left}", left=run.tally.left))


def figures_of_run(folder: JobFolder, now: float) -> Live:
    """Sums over its bundles."""
    try:
        run = existing_run(str(folder.path))
    except BitrawlError as error:
        return Live(at=now, fault=str(error))
    if run is None:
        return Live(at=now)
    sums = run.tally.finished + run.running()
    return Live(
        at=now,
        fetches=sums.fetches,
        pages=sums.pages,
        bytes=sums.bytes,
        sites=sums.sites,
        pairs={"": sums.pairs},
        segments=sums.segments,
        units={"": sums.units},
        skips=dict(Counter(str(site.reason or site.failed) for site in run.tally.failed)),
    )
