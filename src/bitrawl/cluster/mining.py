"""Mine one bundle, on the machine that was given it: a process of its own, then the upload of its part.

The process works in scratch on the local disk, where what an interrupted one has left is taken up again. `done.json` is
looked at first and written last, so no bundle is done twice. Now and then, the unfinished job is saved to the place: if
this machine is lost, another one goes on from there. A process that dies is started once more; a bundle whose
process dies again is for the caller to halve.
"""

import hashlib
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from bitrawl import files
from bitrawl.child import cause
from bitrawl.cluster.bundle_process import FAULT, JOB, OUTCOME, PROGRESS, Work
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
from bitrawl.jobs.folder import JobFolder

ATTEMPTS = 2  # a process may die for reasons of its machine, such as too little memory; judgement
LOOK_EVERY = 0.5  # seconds between two looks at the process, and at whether it is still wanted; judgement
LOCK_PATIENCE = 30.0  # seconds for a killed process to let go of its folder; judgement
DELIVERY_PAUSES = (2.0, 10.0, 60.0)  # seconds before a store that did not answer is tried again; judgement
LOG = "run.log"
SAID = 2000  # the last bytes of the log that may become a reason

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
    except BitrawlError as error:
        return Fault(str(error))


def _mine(order: Order, out: Place, wanted: Wanted) -> Outcome:
    folder = scratch_folder(order)
    reason = ""
    for _ in range(ATTEMPTS):
        if (outcome := _outcome(folder)) is None:
            reason = _run(order, folder, out, wanted)
            outcome = _outcome(folder)
        if outcome is not None:
            _deliver(outcome, folder, out, wanted)
            return outcome
    files.discard(folder)
    forget_progress(out, order.bundle.name)
    checkpoint(out, order.bundle.name).delete()
    return Died(reason)


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
    """Upload the part. A store that does not answer is asked again: another machine would have to mine the bundle anew."""
    for pause in DELIVERY_PAUSES:
        try:
            _upload(outcome, folder, out)
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


def _run(order: Order, folder: Path, out: Place, wanted: Wanted) -> str:
    """Run the process to its end. Why there is no outcome; raises `StoreError` where that is no fault of the bundle."""
    _make_private(folder, order)
    _wait_for_lock(JobFolder(folder / JOB))
    _take_up(JobFolder(folder / JOB), checkpoint(out, order.bundle.name))
    work = Work(str(folder), _job_of(order), order.bundle)
    with _process(folder, msgspec.json.encode(work)) as process:
        status = _watched(process, order.bundle.name, folder, out, wanted)
    said = _last_words(folder / LOG)
    if status == FAULT:
        raise StoreError(said.rpartition("\n")[2] or f"the process of bundle {order.bundle.name} had a fault")
    return f"{cause(status)}{f': {said.rpartition(chr(10))[2][:300]}' if said else ''}"


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


@contextmanager
def _process(folder: Path, work: bytes) -> Iterator["subprocess.Popen[bytes]"]:
    """In a session of its own, with a lifeline: a pipe that closes when we die. Ended when the block is left."""
    lifeline, held = os.pipe()
    code = f"import sys; sys.path[:] = {sys.path!r}; from bitrawl.cluster.bundle_process import main; main({lifeline})"
    try:
        with (folder / LOG).open("ab") as log:
            process = subprocess.Popen(  # noqa: S603 - our own code
                [sys.executable, "-c", code],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=(lifeline,),
                start_new_session=True,
            )
    except OSError as error:
        os.close(held)
        raise ChildError(f"no process can be started for {folder}: {error}") from error
    finally:
        os.close(lifeline)
    try:
        _hand_over(process, work)
        yield process
    finally:
        os.close(held)  # It ends itself, and its own children after it.
        process.wait()


def _hand_over(process: "subprocess.Popen[bytes]", work: bytes) -> None:
    if process.stdin is None:
        return
    try:
        with process.stdin:
            process.stdin.write(work)
    except BrokenPipeError:
        return  # It died already, and its status says why.


def _watched(process: "subprocess.Popen[bytes]", name: str, folder: Path, out: Place, wanted: Wanted) -> int:
    """Its exit status. Its figures are passed on when they change."""
    told = b""
    checkpoints = Checkpoints(folder / JOB, checkpoint(out, name))
    while True:
        try:
            return process.wait(timeout=LOOK_EVERY)
        except subprocess.TimeoutExpired:
            pass
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
    except StoreError as error:  # Nobody sees how far it is; it goes on all the same.
        _log.warning("bundle %s: %s", name, error)


def _figures(folder: Path) -> bytes:
    try:
        return (folder / PROGRESS).read_bytes()
    except OSError:
        return b""


def _last_words(log: Path) -> str:
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - SAID))
            return file.read().decode("utf-8", "replace").strip()
    except OSError:
        return ""
