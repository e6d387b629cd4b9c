"""Starts the jobs of the app as processes, watches them, and tells them what somebody asked for.

The state of a job is read from its folder, and what the app wants of it stands there too. So a server can be killed at
any moment: jobs go on, and the next supervisor takes them over. Call it from one thread. It signals no other process by
mistake.
"""

import logging
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Protocol

import psutil
from msgspec.structs import replace

from bitrawl import config
from bitrawl.errors import BitrawlError, ChildError, ConfigError, RefusedError, StoreError
from bitrawl.facts import State
from bitrawl.job.fetching import SystemClock
from bitrawl.process import spawn
from bitrawl.web.commands import clean
from bitrawl.web.job_list import AGAIN, Command, Intent, Prepared, Process, Shelf, ShelvedJob, Verb, Wish
from bitrawl.web.job_state import LOG, SIMULATED, IdleRuns, JobState, is_done, last_run, state_of
from bitrawl.web.messages import Said, quoted, said
from bitrawl.web.operator_settings import Settings, User

EARLIER = ".1"  # the ending of the log before this one
LOG_BYTES = 1 << 20  # a log that is longer when a process starts is set aside; judgement
NICENESS = 10  # the server answers first; judgement
_TOLERANCE = 100  # hundredths of a second: macOS moves the time of its boot when it sets its clock; judgement


class Processes(Protocol):
    """What the supervisor needs of the machine."""

    def start(self, arguments: Sequence[str], folder: Path) -> Process:
        """Run `bitrawl` with these arguments; its output goes to the folder's log. Raises `ChildError`."""

    def is_alive(self, process: Process) -> bool:
        """Whether just this process is there, and not another one with its number."""

    def signal(self, process: Process, number: signal.Signals) -> None:
        """Nothing happens if just this process is not there any more."""

    def exit_code(self, process: Process) -> int | None:
        """Of a process that has ended; negative if a signal ended it. None if this server did not start it."""


class SystemProcesses:
    """Processes of this machine. Each has a session of its own, and no pipe to the server."""

    def __init__(self, environment: Mapping[str, str] | None = None, *, proxy: str = "") -> None:
        """`proxy` is the operator's, for commands that have no job file; in their arguments all users would see its password."""
        self._environment = clean(os.environ if environment is None else environment)
        if proxy:
            self._environment["all_proxy"] = proxy
        self._children: dict[int, subprocess.Popen[bytes]] = {}

    def start(self, arguments: Sequence[str], folder: Path) -> Process:
        """As `Processes.start`."""
        log = folder / LOG
        _set_aside(log)
        try:
            with log.open("ab") as output:
                child = spawn(["-m", "bitrawl", *arguments], stdout=output, environment=self._environment)
        except OSError as error:
            raise ChildError(f"{log} cannot be written: {error}") from error
        self._children[child.pid] = child
        with suppress(OSError):  # it has ended already
            os.setpriority(os.PRIO_PROCESS, child.pid, NICENESS)  # what it starts later inherits it
        return Process(child.pid, _start_time(child.pid) or 0, _boot())

    def is_alive(self, process: Process) -> bool:
        """As `Processes.is_alive`."""
        started = _start_time(process.pid)
        self._reap()
        return started is not None and process.boot == _boot() and abs(started - process.started) <= _TOLERANCE

    def signal(self, process: Process, number: signal.Signals) -> None:
        """As `Processes.signal`: psutil looks once more whether another process has taken its place."""
        with suppress(psutil.NoSuchProcess):
            target = psutil.Process(process.pid)
            if self.is_alive(process):
                target.send_signal(number)

    def exit_code(self, process: Process) -> int | None:
        """As `Processes.exit_code`. It can be asked for once."""
        self._reap()
        child = self._children.get(process.pid)
        if child is None or child.returncode is None:
            return None
        del self._children[process.pid]
        return child.returncode

    def _reap(self) -> None:
        for child in self._children.values():
            child.poll()


def _set_aside(log: Path) -> None:
    with suppress(FileNotFoundError):
        if log.stat().st_size > LOG_BYTES:
            log.replace(log.with_name(log.name + EARLIER))


def _start_time(pid: int) -> int | None:
    """In hundredths of a second since the boot; None if there is no such process, or if it only waits to be read."""
    boot = psutil.boot_time()  # moves with the date, as the time of creation does: what is between them stays
    try:
        process = psutil.Process(pid)
        ended = process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
        return None if ended else round((process.create_time() - boot) * 100)
    except psutil.Error:
        return None


@cache
def _boot() -> str:
    """What the system calls the time since it was started: Linux in a file, macOS by a command; empty elsewhere."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    with suppress(OSError):
        command = ["/usr/sbin/sysctl", "-n", "kern.bootsessionuuid"]
        return subprocess.run(command, capture_output=True, check=False).stdout.decode("ascii", "replace").strip()  # noqa: S603
    return ""


_log = logging.getLogger(__name__)

STOP_SECONDS = 5.0  # that a process gets to end after SIGTERM, before it is killed
PAUSE_SECONDS = 30.0  # the same for a pause, where nobody is in a hurry; judgement
DISK_SECONDS = 60.0  # between two looks at how much disk the jobs take; judgement
_MEGABYTE = 1_000_000


def _in_background(work: Callable[[], None]) -> None:
    threading.Thread(target=work, daemon=True).start()


_passed = SystemClock().now


class Supervisor:
    """Of the jobs in one directory. Only one may be at work there."""

    def __init__(
        self,
        shelf: Shelf,
        settings: Settings,
        processes: Processes,
        *,
        now: Callable[[], float] = time.time,
        passed: Callable[[], float] = _passed,
        in_background: Callable[[Callable[[], None]], None] = _in_background,
    ) -> None:
        self.shelf = shelf
        self._limits = settings.limits
        self._processes = processes
        self._now = now  # the date
        self._passed = passed  # since the machine was started
        self._in_background = in_background
        self._waits: dict[str, Said] = {}  # by id, what a waiting job waits for
        self._runs = IdleRuns()
        self._disk = (-DISK_SECONDS, 0)  # when it was measured last, and the bytes
        self._described: dict[str, tuple[int, tuple[str, ...]]] = {}  # of command-line jobs: version of job.toml, sites

    # What a person asks for

    def create(self, user: User, prepare: Callable[[Path], Prepared], *, name: str = "") -> str:
        """A new job, which waits for its turn; its id. What `prepare` raises leaves no folder behind."""
        if len(self._own(user.name)) >= self._limits.user_jobs:
            most = self._limits.user_jobs
            raise RefusedError(said("you have {most} jobs, which is the limit; delete one first", most=most))
        job_id, folder = self.shelf.add()
        try:
            prepared = prepare(folder)
            now = self._now()
            intent = Intent(
                owner=user.name,
                created=now,
                since=now,
                name=name,
                command=prepared.command,
                sites=prepared.sites,
                intent=Wish.WAITING,
            )
            self.shelf.write(job_id, intent)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return job_id

    def state(self, job: ShelvedJob) -> JobState:
        if job.fault:
            return JobState(State.FAILED, quoted(job.fault))
        alive, locked = self._is_alive(job.intent), job.folder.is_running
        intent = job.intent if alive or job.intent is None else self._with_exit_code(job, job.intent)
        run = self._runs.of(job.folder)
        return state_of(job.folder, intent, run, alive=alive, locked=locked, waits=self._waits.get(job.id))

    def pause(self, job: ShelvedJob) -> None:
        """Finish what is in flight, and mine nothing: a resume fetches nothing twice."""
        self._end(job, Wish.PAUSED)

    def stop(self, job: ShelvedJob) -> None:
        """Finish what is in flight, and mine what is there. A paused job is mined too."""
        intent = _ours(job)
        if self.state(job).state is State.PAUSED and intent.command.verb is Verb.MINE and last_run(job.folder).verb:
            self._wait(job, replace(intent, again=Command(Verb.PAIR)))
        elif self.state(job).state is State.PAUSED:
            self.shelf.write(job.id, replace(intent, intent=Wish.STOPPED))
        else:
            self._end(job, Wish.STOPPED)

    def stop_now(self, job: ShelvedJob) -> None:
        """End the process at once. Nothing is lost, but what was in flight is fetched again by a resume."""
        intent = _ours(job)
        if intent.process is None or not self._is_alive(intent):
            self._end(job, Wish.STOPPED)
            return
        self._processes.signal(intent.process, signal.SIGTERM)
        self.shelf.write(
            job.id, replace(intent, intent=Wish.STOPPED, interrupted=True, kill_at=self._passed() + STOP_SECONDS)
        )

    def resume(self, job: ShelvedJob) -> None:
        """Go on where it was; also with what has failed, in case the cause is gone."""
        intent, state = _ours(job), self.state(job).state
        self._check_idle(job)
        self._wait(job, replace(intent, again=None) if state is State.FAILED else intent)

    def go_on(self, job: ShelvedJob, changed: Mapping[str, object]) -> None:
        """The same job with other settings, which must be checked already: all of a site, a larger budget."""
        intent = _ours(job)
        self._check_idle(job)
        if intent.command.verb is Verb.BOOTSTRAP:
            raise RefusedError(said("this has no settings to go on with"))
        config.write(job.folder.changed(changed), job.folder.description)
        self._wait(job, replace(intent, again=None))

    def run_again(self, job: ShelvedJob, command: Command) -> None:
        """Pair, align, export or simulate what the job has; the flags must be checked already."""
        if command.verb not in AGAIN:
            raise RefusedError(quoted(f"{command.verb} is not for a job that has been crawled"))
        intent = _ours(job)
        self._check_idle(job)
        if not last_run(job.folder).verb:
            raise RefusedError(said("the job has no pages yet"))
        self._wait(job, replace(intent, again=command))

    def delete(self, job: ShelvedJob, *, stop: bool = False) -> None:
        """Remove the job's folder, and nothing else; `stop` ends its process first, otherwise a running job is refused."""
        intent = _ours(job)
        if self.state(job).is_active:
            if not stop or not self._is_alive(intent):
                raise RefusedError(said("the job is running; stop it first"))
            self.stop_now(job)
            stopping = self._intent(job.id)
            self.shelf.write(job.id, replace(stopping, remove=True))
            return
        self._take_down(job)

    # What the server does by itself

    def recover(self) -> None:
        """When a server starts: jobs that died while nobody watched go on, and what a killed server left is removed."""
        self.shelf.sweep_drafts()
        for job in self.shelf.jobs():
            if job.intent is not None and job.intent.process is not None and not self._is_alive(job.intent):
                self._recover(job, job.intent)
        self._in_background(self.shelf.sweep)

    def tick(self) -> None:
        """About once a second: notice what has ended, send what is due, start what may run."""
        jobs = list(self.shelf.jobs())
        for job in jobs:
            try:
                self._watch(job)
            except BitrawlError as error:
                _log.warning("%s: %s", job.id, error)
        waiting = [job for job in jobs if job.intent is not None and job.intent.intent is Wish.WAITING]
        self._waits = {}
        if waiting:
            self._start_waiting(list(self.shelf.jobs()))

    def _recover(self, job: ShelvedJob, intent: Intent) -> None:
        if intent.remove:
            self._take_down(job)
        elif intent.gone:
            return  # A server saw it end: it goes on when somebody asks for it.
        elif intent.intent is not Wish.RUNNING or is_done(job.folder, intent, last_run(job.folder)):
            self._note_end(job, intent)
        elif not job.folder.is_running:
            self._wait(job, intent)

    def _watch(self, job: ShelvedJob) -> None:
        intent = job.intent
        if intent is None or intent.process is None or intent.gone:
            return
        if not self._is_alive(intent):
            self._note_end(job, intent)
            if intent.remove:
                self._take_down(job)
        elif intent.intent in (Wish.PAUSED, Wish.STOPPED):
            self._press(job, intent)

    def _with_exit_code(self, job: ShelvedJob, intent: Intent) -> Intent:
        """Of a process that has just ended: the next tick may be a second away, and until then it would seem killed."""
        if intent.process is None or intent.gone or intent.remove:
            return intent
        code = self._processes.exit_code(intent.process)
        return intent if code is None else self._note_exit(job, intent, code)

    def _note_end(self, job: ShelvedJob, intent: Intent) -> None:
        """The process is gone."""
        code = self._processes.exit_code(intent.process) if intent.process is not None else None
        self._note_exit(job, intent, code)

    def _note_exit(self, job: ShelvedJob, intent: Intent, code: int | None) -> Intent:
        again = None if code == 0 else intent.again
        ended = replace(intent, gone=self._now(), exit=code, again=again, interrupted=False, kill_at=0.0)
        self.shelf.write(job.id, ended)
        return ended

    def _end(self, job: ShelvedJob, wish: Wish) -> None:
        """Of its own accord: an orderly end of what runs, no start of what waits."""
        intent = _ours(job)
        if self._is_alive(intent):
            self._press(job, replace(intent, intent=wish))
        elif job.folder.is_running:
            raise RefusedError(said("the job was started from the command line; end it there"))
        elif intent.intent is Wish.WAITING:
            self.shelf.write(job.id, replace(intent, intent=wish))
        else:
            raise RefusedError(said("the job is not running"))

    def _press(self, job: ShelvedJob, intent: Intent) -> None:
        """Send what is due: SIGINT, for a pause SIGTERM once the crawl has ended, and at last SIGKILL.

        A process that does not hold the lock yet has fetched nothing: it ends at once. Its handler of SIGINT may not even
        be there, and a server in the background of a shell hands down that SIGINT is ignored.
        """
        now, process = self._passed(), intent.process
        if process is None:
            return
        pausing = intent.intent is Wish.PAUSED
        if intent.kill_at:
            if now >= intent.kill_at:
                self._processes.signal(process, signal.SIGKILL)
        elif not intent.interrupted and job.folder.is_running:
            self._processes.signal(process, signal.SIGINT)
            intent = replace(intent, interrupted=True)
        elif not intent.interrupted or (pausing and last_run(job.folder).ended):
            self._processes.signal(process, signal.SIGTERM)
            intent = replace(intent, interrupted=True, kill_at=now + PAUSE_SECONDS)
        if intent != job.intent:
            self.shelf.write(job.id, intent)

    def _wait(self, job: ShelvedJob, intent: Intent) -> None:
        """For its turn to start."""
        self.shelf.write(
            job.id,
            replace(intent, intent=Wish.WAITING, since=self._now(), process=None, gone=0.0, exit=None),
        )

    def _start_waiting(self, jobs: Iterable[ShelvedJob]) -> None:
        """Who asked first starts first; who must wait for something does not hold up the others."""
        active = [job for job in jobs if self._is_alive(job.intent) or job.folder.is_running]
        waiting = sorted(
            (job.intent.since, job.id, job)
            for job in jobs
            if job.intent is not None and job.intent.intent is Wish.WAITING and job not in active
        )
        no_room = self._no_room() if waiting else None
        for _, _, job in waiting:
            waits = no_room or self._waits_for(job, active)
            if waits is None:
                waits = self._start(job)
            if waits is None:
                active.append(job)
            else:
                self._waits[job.id] = waits

    def _waits_for(self, job: ShelvedJob, active: list[ShelvedJob]) -> Said | None:
        ours = [other for other in active if other.intent is not None]
        intent = _ours(job)
        if len(ours) >= self._limits.running:
            return said("waits for a free place; running jobs: {count}", count=len(ours))
        own = sum(other.intent is not None and other.intent.owner == intent.owner for other in ours)
        if own >= self._limits.user_running:
            return said("waits for your other jobs; running jobs: {count}", count=own)
        taken = {site for other in active for site in self._sites(other)}
        shared = next((site for site in self._sites(job) if site in taken), None)
        return said("waits for another job on {site} to end", site=shared) if shared else None

    def _sites(self, job: ShelvedJob) -> tuple[str, ...]:
        """That the job asks for pages while it runs."""
        if job.intent is not None:
            return () if job.intent.current.verb in AGAIN else job.intent.sites
        try:
            written = job.folder.description.stat().st_mtime_ns
            if self._described.get(job.id, (0, ()))[0] != written:
                self._described[job.id] = (written, sites_of(job.folder.job()))
        except (OSError, ConfigError, StoreError):
            return ()
        return self._described[job.id][1]

    def _no_room(self) -> Said | None:
        """Why no job can start now: the disk."""
        measured, used = self._disk
        if self._passed() - measured >= DISK_SECONDS:
            used = self.shelf.size()
            self._disk = (self._passed(), used)
        if used > self._limits.disk_megabytes * _MEGABYTE:
            return said("waits for disk space: the jobs take {megabytes} MB", megabytes=used // _MEGABYTE)
        free = self.shelf.free()
        if free < self._limits.free_megabytes * _MEGABYTE:
            return said("waits for disk space: {megabytes} MB are free", megabytes=free // _MEGABYTE)
        return None

    def _start(self, job: ShelvedJob) -> Said | None:
        """None if it runs now, otherwise why not."""
        intent = _ours(job)
        try:
            process = self._processes.start(arguments(intent.current, job), job.folder.path)
        except BitrawlError as error:
            _log.warning("%s: %s", job.id, error)
            return said("cannot be started; the log of the server says why")
        try:
            self.shelf.write(
                job.id,
                replace(
                    intent,
                    intent=Wish.RUNNING,
                    process=process,
                    gone=0.0,
                    exit=None,
                    interrupted=False,
                    kill_at=0.0,
                ),
            )
        except StoreError as error:  # nobody could stop it later
            self._processes.signal(process, signal.SIGTERM)
            _log.warning("%s: %s", job.id, error)
            return said("cannot be started; the log of the server says why")
        return None

    def _take_down(self, job: ShelvedJob) -> None:
        self.shelf.take_down(job.id)
        self._waits.pop(job.id, None)
        self._runs.forget(job.folder)
        self._in_background(self.shelf.sweep)

    def _check_idle(self, job: ShelvedJob) -> None:
        state = self.state(job)
        if state.is_active or state.state is State.WAITING:
            raise RefusedError(said("the job is running, or waits for its turn"))

    def _is_alive(self, intent: Intent | None) -> bool:
        return (
            intent is not None
            and intent.process is not None
            and not intent.gone
            and self._processes.is_alive(intent.process)
        )

    def _own(self, name: str) -> list[ShelvedJob]:
        return [job for job in self.shelf.jobs() if job.intent is not None and job.intent.owner == name]

    def _intent(self, job_id: str) -> Intent:
        return next(_ours(job) for job in self.shelf.jobs() if job.id == job_id)


def sites_of(job: config.Job) -> tuple[str, ...]:
    """The sites of a job's seeds; none where archives stand for the web."""
    if job.warc or job.replay:
        return ()
    return tuple(dict.fromkeys(url.site for url in job.seed_urls()))


def arguments(command: Command, job: ShelvedJob) -> list[str]:
    """What `bitrawl` is called with."""
    folder = str(job.folder.path)
    if command.verb in (Verb.PAIR, Verb.ALIGN, Verb.EXPORT):
        return [command.verb, folder, *command.arguments]
    if command.verb is Verb.SIMULATE:
        described = job.folder.job()
        archives = described.replay or described.warc or [f"{folder}/warc"]
        out = ["--langs", ",".join(described.langs), "--out", f"{folder}/{SIMULATED}", "--quiet"]
        return [command.verb, *archives, *out, *command.arguments]
    if command.verb is Verb.BOOTSTRAP:  # it says little, and its words are all that there is to see
        return [command.verb, "--out", folder, *command.arguments]
    verb = [command.verb, "sites"] if command.verb is Verb.DISCOVER else [command.verb]
    return [*verb, "--out", folder, "--quiet", *command.arguments]


def _ours(job: ShelvedJob) -> Intent:
    """Raises `RefusedError` for a job of the command line, which the app only reads."""
    if job.intent is None:
        raise RefusedError(said("the job was started from the command line; use the command line to change it"))
    return job.intent
