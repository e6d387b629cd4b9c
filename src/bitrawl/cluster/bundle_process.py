"""Mine one bundle, on the machine that was given it: a process of its own, then the upload of its part.

The process mines an ordinary job in scratch on the local disk, where what an interrupted one has left is taken up again.
It reads the job from standard input, writes how far it is into `progress.json` beside the job folder, and how it ended into
`outcome.json`. Why it failed, it says on standard error: that is a pipe, since a full disk must not turn one failure into
another. It dies with its parent.

`done.json` is looked at first and written last, so no bundle is done twice. Now and then, the unfinished job is saved to the
place: if this machine is lost, another one goes on from there. In a further round the part is taken back to scratch, where
its job is visited again; the part stays until it is replaced. A process that dies is started again. A bundle whose process
breaks by itself three times is for the caller to halve. If it was killed, or if the machine failed, what it has done is kept.
"""

import asyncio
import hashlib
import logging
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from bitrawl import files
from bitrawl.cluster.bundles import (
    DONE,
    Bundle,
    BundledSite,
    Died,
    Done,
    Figures,
    MachineFault,
    Outcome,
    PartState,
    SiteOutcome,
    checkpoint,
    done,
    mark_done,
    part,
    progress_file,
)
from bitrawl.cluster.checkpoint import Checkpoints, restore
from bitrawl.cluster.places import LocalPlace, Place, place
from bitrawl.config import Job
from bitrawl.endings import seed_skips
from bitrawl.errors import (
    BitrawlError,
    ChildError,
    DamagedError,
    DiskFullError,
    StoreError,
    UnwantedError,
    lacks_memory,
)
from bitrawl.facts import JobFacts
from bitrawl.file_names import LOCK, VERDICTS
from bitrawl.folder_files import files_below
from bitrawl.job import JobFolder, OpenedJob, WiredCrawl, mine
from bitrawl.model import Skip
from bitrawl.process import Death, Running
from bitrawl.url import Url

JOB, PROGRESS_FILE, OUTCOME = "job", "progress.json", "outcome.json"
# Exit statuses: a fault of the machine or of the job's description; a full disk; a fault in us, perhaps because of a site
FAULT, FULL, BROKEN = 3, 4, 5
TELL_EVERY = 3.0  # seconds
ATTEMPTS = 3  # a process may die for reasons of its machine, such as too little memory
LOOK_EVERY = 0.5  # seconds between two looks at the process, and at whether it is still wanted
LOCK_PATIENCE = 30.0  # seconds for a killed process to let go of its folder
DELIVERY_PAUSES = (2.0, 10.0, 60.0)  # seconds before a store that did not answer is tried again
LOG = "run.log"

_log = logging.getLogger(__name__)

Wanted = Callable[[], bool]
"""Whether somebody still waits for the outcome."""


class BundleOrder(msgspec.Struct, frozen=True):
    """All that a machine must know to mine a bundle."""

    out: str  # the address of a place
    scratch: str  # a folder of the machine that mines; empty for its folder of temporary files
    run: str
    job: Job
    bundle: Bundle
    round: int = 1  # of the run


class Work(msgspec.Struct, frozen=True):
    """What the process has to do."""

    folder: str
    job: Job
    bundle: Bundle


def mine_bundle(order: BundleOrder, wanted: Wanted = lambda: True) -> Outcome:
    """Raises `UnwantedError` when the bundle is not wanted any more; what was done so far stays in scratch."""
    try:
        out = place(order.out)
        how = done(out, order.bundle.name)
        return how if how is not None and how.round >= order.round else _mine(order, out, wanted)
    except UnwantedError:
        raise
    except DiskFullError as error:
        return MachineFault(f"the disk is full: {error}")
    except BitrawlError as error:
        return MachineFault(str(error))


def _mine(order: BundleOrder, out: Place, wanted: Wanted) -> Outcome:
    folder = scratch_folder(order)
    whole, _, _ = folder.name.rpartition("-")
    if whole:
        files.discard(folder.with_name(whole))  # of the bundle that this is a half of
    ends: list[Died | MachineFault] = []
    while (outcome := _outcome(folder)) is None and len(ends) < ATTEMPTS:
        ends.append(_run(order, folder, out, wanted))
    if outcome is not None:
        outcome = msgspec.structs.replace(outcome, round=order.round)
        _deliver(outcome, folder, out, wanted)
        return outcome
    progress_file(out, order.bundle.name).delete()
    killed = [end for end in ends if isinstance(end, MachineFault)]
    if killed:
        return killed[-1]
    files.discard(folder)
    checkpoint(out, order.bundle.name).delete()
    return ends[-1]


def scratch_folder(order: BundleOrder) -> Path:
    """Where this machine mines the bundle, each time: a process that was killed goes on where it was."""
    base = Path(order.scratch) if order.scratch else Path(tempfile.gettempdir()) / f"bitrawl-{os.getuid()}"
    run = f"{order.run}-{order.round}" if order.round > 1 else order.run
    word = hashlib.blake2b(f"{order.out}\n{run}".encode(), digest_size=8).hexdigest()
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
    files.discard(folder / JOB / LOCK)
    if outcome.round > 1:
        _make_room(target, folder / JOB, checkpoint(out, outcome.bundle))
    else:
        target.delete()  # what a delivery that was cut off has left
    target.upload(folder / JOB)
    mark_done(out, outcome)
    progress_file(out, outcome.bundle).delete()
    checkpoint(out, outcome.bundle).delete()
    files.discard(folder)


def _make_room(target: Place, job: Path, saved: Place) -> None:
    """Remove what an earlier round has left, once it cannot be lost with this machine. What people put there stays."""
    Checkpoints(job, saved).save()
    (target / DONE).delete()  # first: without it there is no part
    ours = JobFolder(job).own_files
    if isinstance(target, LocalPlace):
        ours.delete(target.path)
        left = list(files_below(target.path))
    else:
        names = list(_names_below(target))
        left = [name for name in names if not ours.is_made(name)]
        for name in set(names).difference(left):
            (target / name).delete()
    for name in left:
        files.discard(job / name)  # the copy that this round began with


def _names_below(folder: Place, above: str = "") -> Iterator[str]:
    for name in folder.names():
        yield from list(_names_below(folder / name, f"{above}{name}/")) or [f"{above}{name}"]


def _run(order: BundleOrder, folder: Path, out: Place, wanted: Wanted) -> Died | MachineFault:
    """Run the process to its end. Why there is no outcome, unless there is one.

    Raises `StoreError` or `ChildError` where the machine is the reason, so that to try again at once would not help.
    """
    _make_private(folder, order)
    _wait_for_lock(JobFolder(folder / JOB))
    _take_up(order, JobFolder(folder / JOB), out)
    work = Work(str(folder), _job_of(order), order.bundle)
    with Running.start(__name__) as process:
        process.give(msgspec.json.encode(work))
        _watch(process, order.bundle.name, folder, out, wanted)
    return _end(process.end(), folder)


def _end(death: Death, folder: Path) -> Died | MachineFault:
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
        return MachineFault(f"its process was {reason}; check how much memory is free", killed=True)
    if death.status in (0, BROKEN) or death.status < 0:
        return Died(reason)
    raise ChildError(f"the process in {folder} could not begin ({reason})")


def _take_up(order: BundleOrder, job: JobFolder, out: Place) -> None:
    """What another machine had done of the bundle before it was lost, unless this one has done something itself.

    Else the part of an earlier round, whose job begins the next round: here or not at all.
    """
    name = order.bundle.name
    if job.ledger.exists():
        return
    files.discard(job.path)
    try:
        if restore(checkpoint(out, name), job.path):
            verdicts = (part(out, name) / VERDICTS).read()  # It has no copy of them.
            if verdicts is not None:
                files.write(job.verdicts, verdicts)
            return
    except DiskFullError:
        raise
    except StoreError as error:
        _log.warning("the bundle begins anew: %s", error)
    if done(out, name) is None or job.ledger.name not in part(out, name).names():
        return
    with files.replacing_folder(job.path) as draft:
        part(out, name).download(draft)
        files.discard(draft / DONE)
        OpenedJob(draft).begin_round(_job_of(order), without=order.bundle.apart)
        files.discard(draft / LOCK)


def _job_of(order: BundleOrder) -> Job:
    """Its machine has other bundles to mine at the same time: one process for pages, and one for pairs, unless asked."""
    job, replace = order.job, msgspec.structs.replace
    return replace(
        job,
        seeds=order.bundle.seeds,
        warc=order.bundle.archives,
        analysis=replace(job.analysis, workers=job.analysis.workers or 1),
        mining=replace(job.mining, workers=job.mining.workers or 1),
    )


def _make_private(folder: Path, order: BundleOrder) -> None:
    """With its parents; where temporary files are, another user may have been faster to take the name."""
    base = folder.parents[1]
    try:
        for directory in (base, folder.parent, folder):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
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
    reported = b""
    checkpoints = Checkpoints(folder / JOB, checkpoint(out, name))
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.popen.wait(timeout=LOOK_EVERY)
            return
        if not wanted():
            raise UnwantedError(f"nobody waits for bundle {name} any more")
        figures = _figures(folder)
        if figures and figures != reported:
            _tell(out, name, figures)
            reported = figures
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
        progress_file(out, name).write(figures)
    except DiskFullError:  # What it finds could not be delivered either. It is kept in scratch.
        raise
    except StoreError as error:  # Nobody sees how far it is; it goes on all the same.
        _log.warning("bundle %s: %s", name, error)


def _figures(folder: Path) -> bytes:
    try:
        return (folder / PROGRESS_FILE).read_bytes()
    except OSError:
        return b""


# What follows runs in the process of the bundle.


def main() -> None:
    work = msgspec.json.decode(sys.stdin.buffer.read(), type=Work)
    try:
        asyncio.run(_mine_job(work))
    except Exception as error:  # noqa: BLE001 - whatever it is, its parent must tell it from a process that could not begin
        fault = _machine_fault(error, Path(work.folder))
        if fault is None:
            traceback.print_exc()
            sys.exit(BROKEN)
        print(fault, file=sys.stderr)  # noqa: T201 - its parent reads this
        sys.exit(FULL if isinstance(fault, DiskFullError) else FAULT)


def _machine_fault(error: Exception, folder: Path) -> BitrawlError | None:
    """What is wrong with the machine, in one line; None if it may be one of the sites."""
    if isinstance(error, BitrawlError):
        return error
    if lacks_memory(error):
        return ChildError("there is too little memory; try fewer --workers, or a machine with more")
    if not isinstance(error, OSError) or isinstance(error, ConnectionError | TimeoutError):
        return None
    fault = files.write_fault(folder, error)
    return fault if isinstance(fault, DiskFullError) else ChildError(f"the machine refused something: {error}")


async def _mine_job(work: Work) -> None:
    job = OpenedJob(Path(work.folder) / JOB)
    telling: list[asyncio.Task[None]] = []

    def started(wired: WiredCrawl) -> None:
        telling.append(asyncio.ensure_future(_tell_now_and_then(work, job, wired)))

    await mine(work.job, job.files, started=started)
    for task in telling:
        task.cancel()
    files.write(Path(work.folder) / OUTCOME, msgspec.json.encode(_job_outcome(work.bundle, job)))


async def _tell_now_and_then(work: Work, job: OpenedJob, wired: WiredCrawl) -> None:
    """Tell how far the bundle is until cancelled."""
    sites = {site.site for site in work.bundle.sites}
    while True:
        await asyncio.sleep(TELL_EVERY)
        busy = {wired.crawl.scope.sites.of(host) for host in wired.queue.hosts()}
        with suppress(DamagedError):  # in a corpus of an earlier run, which is written again
            figures = _job_figures(job.status(), len(sites - busy))
            files.write(Path(work.folder) / PROGRESS_FILE, msgspec.json.encode(figures))


def _job_figures(now: JobFacts, sites: int) -> Figures:
    corpora = now.corpora.values()
    return Figures(
        sites=sites,
        pages=now.crawl.pages,
        fetches=now.crawl.fetches,
        bytes=now.crawl.bytes,
        pairs=sum(corpus.pairs for corpus in corpora),
        segments=sum(corpus.segments for corpus in corpora),
        units=sum(corpus.units for corpus in corpora),
    )


def _job_outcome(bundle: Bundle, job: OpenedJob) -> Done:
    now = job.status()
    with job.files.writing() as ledger:  # A writer that closes leaves one file, with nothing beside it to be copied.
        job.write_shards(ledger)
        pages = {knowledge.site: knowledge.pages for knowledge in ledger.sites()}
        pairs = {site.site: site.pairs for site in job.sites_visited(len(pages))}
        seeded = [site for site in bundle.sites if site.seeds]  # What is in an archive shows when it has been read.
        why = _why_nothing([site for site in seeded if not pages.get(site.site)], job, ledger.skip_of)
        sites = [
            why.get(site, SiteOutcome(site, pages.get(site, 0), pairs.get(site, 0)))
            for site in ([site.site for site in seeded] if seeded else pages)
        ]
    figures = _job_figures(now, len(bundle.sites))
    return Done(bundle.name, PartState.MINED, sites, figures, now.ended, again=bundle.apart)


def _why_nothing(
    sites: list[BundledSite], job: OpenedJob, skip_of: Callable[[Url], Skip | None]
) -> dict[str, SiteOutcome]:
    """What became of the first seed of each site: why it was skipped, or what its last fetch brought."""
    firsts = {site.seeds[0]: site.site for site in sites}
    fetched = {line.url: line.outcome for line in job.log() if line.url in firsts} if firsts else {}
    outcomes = {}
    for seed, site in firsts.items():
        skips = seed_skips([Url.known(seed)], skip_of)
        why = _reason(skips[0].skip) if skips else fetched.get(seed) or "it was not visited"
        outcomes[site] = SiteOutcome(site, failed=why, reason=skips[0].skip.reason if skips else None)
    return outcomes


def _reason(skip: Skip) -> str:
    return f"{skip.reason}, {skip.detail}" if skip.detail else skip.reason
