"""What a job is doing, read from its folder: the lock, what its ledger remembers of the last run, and what the app wants of it."""

from pathlib import Path

import msgspec

from bitrawl.errors import StoreError
from bitrawl.facts import CrawlEnd, Doing, EndKind, LastRun, State
from bitrawl.job.bootstrap import DESCRIPTION as BOOTSTRAPPED
from bitrawl.job.folder import JobFolder
from bitrawl.web.intent import Intent, Verb, Wish
from bitrawl.web.processes import last_lines
from bitrawl.web.words import Said, quoted, said

SIMULATED = "simulated"
"""The folder that a comparison of strategies writes, in the job's own."""
_RESULTS = {Verb.EXPORT: "corpus/summary.json", Verb.SIMULATE: f"{SIMULATED}/simulate.html"}  # what each writes last

ACTIVE = frozenset((State.RUNNING, State.PAUSING, State.STOPPING))
"""States in which a process works in the folder."""


class JobState(msgspec.Struct, frozen=True):
    """A state, with what there is to say about it."""

    state: State
    said: Said = Said("")
    doing: Doing | None = None  # what is being mined now
    ended: CrawlEnd | None = None  # if that is what is said

    @property
    def is_active(self) -> bool:
        return self.state in ACTIVE


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
        self._known: dict[str, tuple[tuple[int, ...], LastRun]] = {}

    def of(self, folder: JobFolder) -> LastRun:
        if folder.is_running:  # it may write twice within one tick of the file system's clock
            return last_run(folder)
        stamp = (*_stamp(folder.ledger), *_stamp(folder.path / "job.sqlite-wal"))
        known = self._known.get(str(folder.path))
        if known is None or known[0] != stamp:
            known = self._known[str(folder.path)] = (stamp, last_run(folder))
        return known[1]

    def forget(self, folder: JobFolder) -> None:
        """A job that is deleted."""
        self._known.pop(str(folder.path), None)


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_ino, found.st_mtime_ns, found.st_size


def state_of(
    folder: JobFolder, intent: Intent | None, run: LastRun, *, alive: bool, locked: bool, waits: Said | None = None
) -> JobState:
    """The state of a job.

    `alive` tells whether the app's own process is there, `locked` whether any process works in the folder: look at both
    before you read the last run, or a job that ends meanwhile seems to be interrupted. `waits` is what a waiting job
    waits for.
    """
    if alive or locked:
        wish = intent.intent if intent is not None and alive else Wish.RUNNING
        state = {Wish.PAUSED: State.PAUSING, Wish.STOPPED: State.STOPPING}.get(wish, State.RUNNING)
        return JobState(state, doing=run.doing)
    if intent is None:
        done = run.complete or is_topic(folder)
        return _after(run, State.ENDED if done else State.INTERRUPTED)
    if intent.intent is Wish.WAITING:
        return JobState(State.WAITING, waits or said("starts in a moment"))
    if intent.intent is Wish.PAUSED:
        done = run.complete and run.ended is not None and run.ended.kind is not EndKind.STOPPED
        return _after(run) if done else JobState(State.PAUSED)
    if intent.intent is Wish.STOPPED:
        return _after(run) if run.ended else JobState(State.ENDED, said("stopped by you"))
    return _after_running(folder, intent, run)


def _after_running(folder: JobFolder, intent: Intent, run: LastRun) -> JobState:
    """Nobody asked it to end: it came to its end, could not be run, or was killed."""
    code = intent.exit
    if code == 1 and intent.current.verb is Verb.BOOTSTRAP and is_done(folder, intent, run):
        return JobState(State.ENDED)  # it found no terms, and its folder says why
    if code == 0 or (code is None and is_done(folder, intent, run)) or (code in (1, 130) and run.complete):
        return _after(run)
    if code in (1, 2):
        return JobState(State.FAILED, quoted(_last_said(folder)))
    return JobState(State.INTERRUPTED, said("the job was interrupted; nothing is lost"), run.doing)


def _after(run: LastRun, state: State = State.ENDED) -> JobState:
    """It says how the crawl ended."""
    return JobState(state, quoted(str(run.ended or "")), ended=run.ended)


def is_topic(folder: JobFolder) -> bool:
    """Whether the command line has gathered a topic there, and mined nothing."""
    return (folder.path / BOOTSTRAPPED).exists() and not folder.description.exists()


def is_done(folder: JobFolder, intent: Intent, run: LastRun) -> bool:
    """Whether the folder itself shows that the current command has come to its end."""
    verb = intent.current.verb
    if verb in _RESULTS:
        return _written_since(folder.path / _RESULTS[verb], intent.since)
    if verb is Verb.BOOTSTRAP:
        return (folder.path / BOOTSTRAPPED).exists()
    return run.complete


def _written_since(path: Path, since: float) -> bool:
    try:
        return path.stat().st_mtime >= since
    except OSError:
        return False


def _last_said(folder: JobFolder) -> str:
    """The message that the command ended with."""
    lines = last_lines(folder.path)
    complaints = [number for number, line in enumerate(lines) if line.startswith("bitrawl:")]
    told = " ".join(lines[complaints[-1] if complaints else -1 :]).removeprefix("bitrawl:").strip()
    return without_place(folder, told)[:500]


def without_place(folder: JobFolder, text: str) -> str:
    """Where the folder is, is the operator's business."""
    return text.replace(f"{folder.path}/", "").replace(str(folder.path), "the job's folder")
