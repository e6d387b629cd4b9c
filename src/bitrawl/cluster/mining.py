"""Mine one bundle, on the machine that was given it: a process of its own, then the upload of its part.

The process works in scratch on the local disk, where what an interrupted one has left is taken up again. `done.json` is
looked at first and written last, so no bundle is done twice. Now and then, the unfinished job is saved to the place: if
this machine is lost, another one goes on from there. A process that dies is started again. A bundle whose process breaks by
itself three times is for the caller to halve. If it was killed, or if the machine failed, what it has done is kept.
"""

import hashlib
import logging
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from bitrawl import files
from bitrawl.cluster.bundle_process import BROKEN, FAULT, FULL, JOB, OUTCOME, PROGRESS, Work
from bitrawl.cluster.bundles import Bundle
from bitrawl.cluster.checkpoint import Checkpoints, restore
from bitrawl.cluster.parts import (
    Died,
    Done,
    Fault,
    Outcome,
    checkpoint,
    done,
    forget_progress,
    mark_done,
    part,
    report_progress,
)
from bitrawl.cluster.places import Place, place
from bitrawl.config import Job
from bitrawl.errors import BitrawlError, ChildError, DiskFullError, StoreError, UnwantedError
from bitrawl.job.folder import JobFolder
from bitrawl.process import Death, Running

ATTEMPTS = 3  # a process may die for reasons of its machine, such as too little memory; judgement
LOOK_EVERY = 0.5  # seconds between two looks at the process, and at whether it is still wanted; judgement
LOCK_PATIENCE = 30.0  # seconds for a killed process to let go of its folder; judgement
DELIVERY_PAUSES = (2.0, 10.0, 60.0)  # seconds before a store that did not answer is tried again; judgement
LOG = "run.log"

_log = logging.getLogger(__name__)

Wanted = Callable[[], bool]
"""Whether somebody still waits for the outcome."""


class Order(msgspec.Struct, frozen=True):
    """All that a machine must know to mine a bundle."""

    out: str  # the address of a place
    scratch: str  # a folder of the machine that mines; empty for its folder of temporary files
    run: str
    job: Job
    bundle: Bundle


def mine_bundle(order: Order, wanted: Wanted = lambda: True) -> Outcome:
    """Raises `UnwantedError` when the bundle is not wanted any more; what was done so far stays in scratch."""
    try:
        out = place(order.out)
        finished = done(out, order.bundle.name)
        return finished or _mine(order, out, wanted)
    except UnwantedError:
        raise
    except DiskFullError as error:
        return Fault(f"the disk is full: {error}")
    except BitrawlError as error:
        return Fault(str(error))


def _mine(order: Order, out: Place, wanted: Wanted) -> Outcome:
    folder = scratch_folder(order)
    whole, _, _ = folder.name.rpartition("-")
    if whole:
        files.discard(folder.with_name(whole))  # of the bundle that this is a half of
    ends: list[Died | Fault] = []
    while (outcome := _outcome(folder)) is None and len(ends) < ATTEMPTS:
        ends.append(_run(order, folder, out, wanted))
    if outcome is not None:
        _deliver(outcome, folder, out, wanted)
        return outcome
    forget_progress(out, order.bundle.name)
    killed = [end for end in ends if isinstance(end, Fault)]
    if killed:
        return killed[-1]
    files.discard(folder)
    checkpoint(out, order.bundle.name).delete()
    return ends[-1]


def scratch_folder(order: Order) -> Path:
    """The same for the same bundle on the same machine: a process that was killed goes on where it was."""
    base = Path(order.scratch) if order.scratch else Path(tempfile.gettempdir()) / f"bitrawl-{os.getuid()}"
    word = hashlib.blake2b(f"{order.out}\n{order.run}".encode(), digest_size=8).hexdigest()
    return base / word / order.bundle.name


def _outcome(folder: Path) -> Done | None:
    try:
        return msgspec.json.decode((folder / OUTCOME).read_bytes(), type=Done)
    except FileNotFoundError:
        return None
    except (OSError, *files.NO_JSON) as error:
        raise StoreError(f"{folder / OUTCOME} cannot be read: {error}") from error


def _deliver(outcome: Done, folder: Path, out: Place, wanted: Wanted) -> None:
    """Upload the part. A store that does not answer is asked again: another machine would have to mine the bundle anew.

    A full disk is told at once: somebody has to free some of it.
    """
    for pause in DELIVERY_PAUSES:
        try:
            _upload(outcome, folder, out)
        except DiskFullError:
            raise
        except StoreError as error:
            _log.warning("bundle %s is delivered again in %g s: %s", outcome.bundle, pause, error)
            _pause(pause, wanted)
        else:
            return
    _upload(outcome, folder, out)


def _pause(seconds: float, wanted: Wanted) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not wanted():
            raise UnwantedError("nobody waits for this bundle any more")
        time.sleep(min(LOOK_EVERY, seconds))


def _upload(outcome: Done, folder: Path, out: Place) -> None:
    target = part(out, outcome.bundle)
    target.delete()  # what a delivery that was cut off has left
    files.discard(folder / JOB / "job.lock")
    target.upload(folder / JOB)
    mark_done(out, outcome)
    forget_progress(out, outcome.bundle)
    checkpoint(out, outcome.bundle).delete()
    files.discard(folder)


def _run(order: Order, folder: Path, out: Place, wanted: Wanted) -> Died | Fault:
    """Run the process to its end. Why there is no outcome, unless there is one.

    Raises `StoreError` or `ChildError` where the machine is the reason, so that to try again at once would not help.
    """
    _make_private(folder, order)
    _wait_for_lock(JobFolder(folder / JOB))
    _take_up(JobFolder(folder / JOB), checkpoint(out, order.bundle.name))
    work = Work(str(folder), _job_of(order), order.bundle)
    with Running.start(Work.__module__) as process:
        process.give(msgspec.json.encode(work))
        _watch(process, order.bundle.name, folder, out, wanted)
    return _end(process.end(), folder)


def _end(death: Death, folder: Path) -> Died | Fault:
    """What the exit status of a process and its last words mean."""
    if death.words:
        with suppress(OSError):  # for people; a full disk has no room for it
            (folder / LOG).write_text(death.words, encoding="utf-8")
    reason = f"{death.cause}{f': {death.last_line[:300]}' if death.last_line else ''}"
    if death.status == FULL:
        raise DiskFullError(death.last_line)
    if death.status == FAULT:
        raise StoreError(death.last_line or f"the process in {folder} had a fault")
    if death.status < 0 and death.from_outside:
        return Fault(f"its process was {reason}; check how much memory is free", killed=True)
    if death.status in (0, BROKEN) or death.status < 0:
        return Died(reason)
    raise ChildError(f"the process in {folder} could not begin ({reason})")


def _take_up(job: JobFolder, saved: Place) -> None:
    """What another machine had done of the bundle before it was lost, unless this one has done something itself."""
    if job.ledger.exists():
        return
    files.discard(job.path)
    try:
        restore(saved, job.path)
    except DiskFullError:
        raise
    except StoreError as error:
        _log.warning("the bundle begins anew: %s", error)


def _job_of(order: Order) -> Job:
    """Its machine has other bundles to mine at the same time: one process for pages, and one for pairs, unless asked."""
    job, replace = order.job, msgspec.structs.replace
    return replace(
        job,
        seeds=order.bundle.seeds,
        warc=order.bundle.archives,
        analysis=replace(job.analysis, workers=job.analysis.workers or 1),
        mining=replace(job.mining, workers=job.mining.workers or 1),
    )


def _make_private(folder: Path, order: Order) -> None:
    """With its parents; where temporary files are, another user may have been faster to take the name."""
    base = folder.parents[1]
    try:
        for each in (base, folder.parent, folder):
            each.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not order.scratch and base.stat().st_uid != os.getuid():
            raise StoreError(f"{base} belongs to somebody else; name another folder with --scratch")
    except OSError as error:
        raise files.write_fault(folder, error) from error


def _wait_for_lock(job: JobFolder) -> None:
    """A process that was killed a moment ago may still hold the folder."""
    until = time.monotonic() + LOCK_PATIENCE
    while job.is_running:
        if time.monotonic() > until:
            raise StoreError(f"another process is mining in {job.path}")
        time.sleep(0.05)


def _watch(process: Running, name: str, folder: Path, out: Place, wanted: Wanted) -> None:
    """Until it ends. Its figures are passed on when they change."""
    told = b""
    checkpoints = Checkpoints(folder / JOB, checkpoint(out, name))
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.popen.wait(timeout=LOOK_EVERY)
            return
        if not wanted():
            raise UnwantedError(f"nobody waits for bundle {name} any more")
        figures = _figures(folder)
        if figures and figures != told:
            _tell(out, name, figures)
            told = figures
        if checkpoints.is_due:
            _save(checkpoints)


def _save(checkpoints: Checkpoints) -> None:
    """A checkpoint that fails costs nothing as long as this machine lives."""
    try:
        checkpoints.save()
    except StoreError as error:
        _log.warning("no checkpoint could be saved: %s", error)


def _tell(out: Place, name: str, figures: bytes) -> None:
    try:
        report_progress(out, name, figures)
    except DiskFullError:  # What it finds could not be delivered either. It is kept in scratch.
        raise
    except StoreError as error:  # Nobody sees how far it is; it goes on all the same.
        _log.warning("bundle %s: %s", name, error)


def _figures(folder: Path) -> bytes:
    try:
        return (folder / PROGRESS).read_bytes()
    except OSError:
        return b""
