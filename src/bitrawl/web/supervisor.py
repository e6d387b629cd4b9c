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

import psutil
from msgspec.structs import replace

from bitrawl import config
from bitrawl.choices import MEGABYTE
from bitrawl.endings import Fault, FaultSentence, State
from bitrawl.errors import FAULT_FILE, BitrawlError, ChildError, ConfigError, RefusedError, StoreError
from bitrawl.job import SystemClock
from bitrawl.message import Message
from bitrawl.process import spawn
from bitrawl.web.commands import clean, with_proxy
from bitrawl.web.job_list import (
    ALIGNED,
    OFFLINE,
    TEXTS,
    VISIT_AGAIN,
    Command,
    Intent,
    JobList,
    JobVerb,
    Prepared,
    Process,
    ServedJob,
    Wish,
)
from bitrawl.web.job_state import FAULT, LOG, SIMULATED, IdleRuns, JobState, is_done, last_run, state_of
from bitrawl.web.messages import message
from bitrawl.web.operator_settings import Settings, User, interval

_log = logging.getLogger(__name__)

EARLIER = ".1"  # the ending of the log before this one
LOG_BYTES = 1 << 20  # a log that is longer when a process starts is set aside
NICENESS = 10  # the server answers first
STOP_SECONDS = 5.0  # that a process gets to end after SIGTERM, before it is killed
PAUSE_SECONDS = 30.0  # the same for a pause, where nobody is in a hurry
DISK_SECONDS = 60.0  # between two looks at how much disk the jobs take
_TOLERANCE = 100  # hundredths of a second: macOS moves the time of its boot when it sets its clock


class SystemProcesses:
    """Processes of this machine. Each has a session of its own, and no pipe to the server."""

    def __init__(self, environment: Mapping[str, str] | None = None, *, proxy: str = "") -> None:
        """`proxy` is the operator's, for commands that have no job file; in their arguments all users would see its password."""
        self._environment = with_proxy(clean(os.environ if environment is None else environment), proxy)
        self._children: dict[int, subprocess.Popen[bytes]] = {}

    def start(self, arguments: Sequence[str], folder: Path) -> Process:
        """Run `bitrawl` with these arguments; its output goes to the folder's log. Raises `ChildError`."""
        log = folder / LOG
        try:
            if log.exists() and log.stat().st_size > LOG_BYTES:
                log.replace(log.with_name(log.name + EARLIER))
            fault = (folder / FAULT).absolute()
            fault.unlink(missing_ok=True)
            environment = {**self._environment, FAULT_FILE: str(fault)}
            with log.open("ab") as output:
                child = spawn(["-m", "bitrawl", *arguments], stdout=output, environment=environment)
        except OSError as error:
            raise ChildError(f"{log} cannot be written: {error}") from error
        self._children[child.pid] = child
        with suppress(OSError):  # it has ended already
            os.setpriority(os.PRIO_PROCESS, child.pid, NICENESS)  # what it starts later inherits it
        return Process(child.pid, _start_time(child.pid) or 0, _boot())

    def is_alive(self, process: Process) -> bool:
        """Whether just this process is there, and not another one with its number."""
        started = _start_time(process.pid)
        self._reap()
        return started is not None and process.boot == _boot() and abs(started - process.started) <= _TOLERANCE

    def signal(self, process: Process, number: signal.Signals) -> None:
        """Nothing happens if just this process is not there any more: psutil looks once more whether another has its place."""
        with suppress(psutil.NoSuchProcess):
            target = psutil.Process(process.pid)
            if self.is_alive(process):
                target.send_signal(number)

    def exit_code(self, process: Process) -> int | None:
        """Of a process that has ended; negative if a signal ended it. None if this server did not start it.

        It can be asked for once.
        """
        self._reap()
        child = self._children.get(process.pid)
        if child is None or child.returncode is None:
            return None
        del self._children[process.pid]
        return child.returncode

    def _reap(self) -> None:
        for child in self._children.values():
            child.poll()


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


def _in_background(work: Callable[[], None]) -> None:
    threading.Thread(target=work, daemon=True).start()


class Supervisor:
    """Of the jobs in one directory. Only one may be at work there."""

    def __init__(
        self,
        jobs: JobList,
        settings: Settings,
        processes: SystemProcesses,
        *,
        now: Callable[[], float] = time.time,
        passed: Callable[[], float] = SystemClock().now,  # noqa: B008 - has no state
        in_background: Callable[[Callable[[], None]], None] = _in_background,
    ) -> None:
        self._jobs = jobs
        self._limits = settings.limits
        self._every = interval(settings.every) if settings.every else None
        self._processes = processes
        self._now = now  # the date
        self._passed = passed  # since the machine was started
        self._in_background = in_background
        self._waits: dict[str, Message] = {}  # by id, what a waiting job waits for
        self._runs = IdleRuns()
        self._disk = (-DISK_SECONDS, 0)  # when it was measured last, and the bytes
        self._described: dict[str, tuple[int, tuple[str, ...]]] = {}  # of command-line jobs: version of job.toml, sites

    # What a person asks for

    def create(self, user: User, prepare: Callable[[Path], Prepared], *, name: str = "") -> str:
        """A new job, which waits for its turn; its id. What `prepare` raises leaves no folder behind."""
        most = self._limits.user_jobs
        if sum(job.intent is not None and job.intent.owner == user.name for job in self._jobs) >= most:
            raise RefusedError(message("you have reached the limit on jobs ({most}); delete one first", most=most))
        job_id, folder = self._jobs.add()
        try:
            prepared = prepare(folder)
            now = self._now()
            intent = Intent(owner=user.name, name=name, created=now, since=now, wish=Wish.WAITING, **prepared._asdict())
            self._jobs.write(job_id, intent)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return job_id

    def state(self, job: ServedJob) -> JobState:
        if job.fault:
            return JobState(State.FAILED, fault=Fault(FaultSentence.STORE))
        alive, locked = self._is_alive(job.intent), job.folder.is_running
        intent = job.intent if alive or job.intent is None else self._with_exit_code(job, job.intent)
        run = self._runs.of(job.folder)
        return state_of(job.folder, intent, run, alive=alive, locked=locked, waits=self._waits.get(job.id))

    def pause(self, job: ServedJob) -> None:
        """Finish what is in flight, and mine nothing: a resume fetches nothing twice."""
        self._end(job, Wish.PAUSED)

    def stop(self, job: ServedJob) -> None:
        """Finish what is in flight, and mine what is there. A paused job is mined too."""
        intent = _ours(job)
        if self.state(job).state is State.PAUSED and job.kind == "mine" and last_run(job.folder).verb:
            self._wait(job, replace(intent, again=Command(JobVerb.PAIR)))
        elif self.state(job).state is State.PAUSED:
            self._jobs.write(job.id, replace(intent, wish=Wish.STOPPED))
        else:
            self._end(job, Wish.STOPPED)

    def stop_now(self, job: ServedJob) -> None:
        """End the process at once. Nothing is lost, but what was in flight is fetched again by a resume."""
        intent = _ours(job)
        if intent.process is None or not self._is_alive(intent):
            self._end(job, Wish.STOPPED)
            return
        self._processes.signal(intent.process, signal.SIGTERM)
        kill_at = self._passed() + STOP_SECONDS
        self._jobs.write(job.id, replace(intent, wish=Wish.STOPPED, interrupted=True, kill_at=kill_at))

    def resume(self, job: ServedJob) -> None:
        """Go on where it was; also with what has failed, in case the cause is gone."""
        intent, state = _ours(job), self.state(job).state
        self._check_idle(job)
        self._wait(job, replace(intent, again=None) if state is State.FAILED else intent)

    def go_on(self, job: ServedJob, changed: Mapping[str, object]) -> None:
        """The same job with other settings, which must be checked already: all of a site, a larger budget."""
        intent = _ours(job)
        self._check_idle(job)
        if intent.command.verb in (JobVerb.BOOTSTRAP, JobVerb.ALIGN):
            raise RefusedError(message("this has no settings to go on with"))
        config.write(job.folder.changed(changed), job.folder.description)
        self._wait(job, replace(intent, again=None))

    def visit_again(self, job: ServedJob) -> None:
        """Bring a job that has come to its end up to date."""
        intent = _ours(job)
        self._check_idle(job)
        if not (job.has_web and self.state(job).is_finished):
            raise RefusedError(
                message("only a job that has visited sites and has come to its end can visit them again")
            )
        self._wait(job, replace(intent, again=VISIT_AGAIN))

    def run_again(self, job: ServedJob, command: Command) -> None:
        """Pair or simulate what the job has; the flags must be checked already."""
        intent = _ours(job)
        self._check_idle(job)
        if not last_run(job.folder).verb:
            raise RefusedError(message("the job has no pages yet"))
        self._wait(job, replace(intent, again=command))

    def delete(self, job: ServedJob) -> None:
        """Remove the job's folder, and nothing else, as soon as its process has ended. Not if the command line runs it."""
        intent = _ours(job)
        if self.state(job).is_active:
            if not self._is_alive(intent):
                raise RefusedError(message("the job is running; stop it first"))
            self.stop_now(job)
            stopping = next(_ours(other) for other in self._jobs if other.id == job.id)
            self._jobs.write(job.id, replace(stopping, remove=True))
        else:
            self._take_down(job)

    def next_visit(self, job: ServedJob) -> float | None:
        """The date after which the server visits the job again by itself; None if it never will."""
        due = self._due(job)
        return due if due is not None and self.state(job).is_finished else None

    # What the server does by itself

    def recover(self) -> None:
        """When a server starts: jobs that died while nobody watched go on, and what a killed server left is removed."""
        self._jobs.sweep_drafts()
        for job in self._jobs:
            if job.intent is not None and job.intent.process is not None and not self._is_alive(job.intent):
                self._recover(job, job.intent)
        self._in_background(self._jobs.sweep)

    def tick(self) -> None:
        """About once a second: notice what has ended, send what is due, start what may run."""
        jobs = list(self._jobs)
        for job in jobs:
            try:
                self._watch(job)
            except BitrawlError as error:
                _log.warning("%s: %s", job.id, error)
        waiting = [job for job in jobs if job.intent is not None and job.intent.wish is Wish.WAITING]
        self._waits = {}
        if waiting:
            self._start_waiting(list(self._jobs))
        if self._every is not None:
            self._visit_due(jobs)

    def _visit_due(self, jobs: Iterable[ServedJob]) -> None:
        """One job after the other, so that people who ask for something need not wait for all of them."""
        if any(job.intent is not None and self._is_visited_again(job.intent) for job in jobs):
            return
        due = sorted((date, job.id, job) for job in jobs if (date := self._due(job)) and date <= self._now())
        for _, _, job in due:
            if self.state(job).is_finished:
                self.visit_again(job)
                return

    def _is_visited_again(self, intent: Intent) -> bool:
        return intent.current == VISIT_AGAIN and (intent.wish is Wish.WAITING or self._is_alive(intent))

    def _due(self, job: ServedJob) -> float | None:
        """When the next visit is due if the job is finished; None for one that somebody has paused or stopped."""
        intent = job.intent
        if self._every is None or intent is None or not (job.has_web and intent.gone):
            return None
        return intent.gone + self._every if intent.wish is Wish.RUNNING else None

    def _recover(self, job: ServedJob, intent: Intent) -> None:
        if intent.remove:
            self._take_down(job)
        elif intent.gone:
            return  # A server saw it end: it goes on when somebody asks for it.
        elif intent.wish is not Wish.RUNNING or is_done(job.folder, intent, last_run(job.folder)):
            self._note_end(job, intent)
        elif not job.folder.is_running:
            self._wait(job, intent)

    def _watch(self, job: ServedJob) -> None:
        intent = job.intent
        if intent is None or intent.process is None or intent.gone:
            return
        if not self._is_alive(intent):
            self._note_end(job, intent)
            if intent.remove:
                self._take_down(job)
        elif intent.wish in (Wish.PAUSED, Wish.STOPPED):
            self._press(job, intent)

    def _with_exit_code(self, job: ServedJob, intent: Intent) -> Intent:
        """Of a process that has just ended: the next tick may be a second away, and until then it would seem killed."""
        if intent.process is None or intent.gone or intent.remove:
            return intent
        code = self._processes.exit_code(intent.process)
        return intent if code is None else self._note_exit(job, intent, code)

    def _note_end(self, job: ServedJob, intent: Intent) -> None:
        """The process is gone."""
        code = self._processes.exit_code(intent.process) if intent.process is not None else None
        self._note_exit(job, intent, code)

    def _note_exit(self, job: ServedJob, intent: Intent, code: int | None) -> Intent:
        again = None if code == 0 else intent.again
        ended = replace(intent, gone=self._now(), exit=code, again=again, interrupted=False, kill_at=0.0)
        self._jobs.write(job.id, ended)
        return ended

    def _end(self, job: ServedJob, wish: Wish) -> None:
        """Of its own accord: an orderly end of what runs, no start of what waits."""
        intent = _ours(job)
        if self._is_alive(intent):
            self._press(job, replace(intent, wish=wish))
        elif job.folder.is_running:
            raise RefusedError(message("the job was started from the command line; end it there"))
        elif intent.wish is Wish.WAITING:
            self._jobs.write(job.id, replace(intent, wish=wish))
        else:
            raise RefusedError(message("the job is not running"))

    def _press(self, job: ServedJob, intent: Intent) -> None:
        """Send what is due: SIGINT, for a pause SIGTERM once the crawl has ended, and at last SIGKILL.

        A process that does not hold the lock yet has fetched nothing: it ends at once. Its handler of SIGINT may not even
        be there, and a server in the background of a shell hands down that SIGINT is ignored.
        """
        now, process = self._passed(), intent.process
        if process is None:
            return
        pausing = intent.wish is Wish.PAUSED
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
            self._jobs.write(job.id, intent)

    def _wait(self, job: ServedJob, intent: Intent) -> None:
        """For its turn to start."""
        waiting = replace(intent, wish=Wish.WAITING, since=self._now(), process=None, gone=0.0, exit=None)
        self._jobs.write(job.id, waiting)

    def _start_waiting(self, jobs: Iterable[ServedJob]) -> None:
        """Who asked first starts first; who must wait for something does not hold up the others."""
        active = [job for job in jobs if self._is_alive(job.intent) or job.folder.is_running]
        waiting = sorted(
            (job.intent.since, job.id, job)
            for job in jobs
            if job.intent is not None and job.intent.wish is Wish.WAITING and job not in active
        )
        no_room = self._no_room() if waiting else None
        for _, _, job in waiting:
            waits = no_room or self._waits_for(job, active) or self._start(job)
            if waits is None:
                active.append(job)
            else:
                self._waits[job.id] = waits

    def _waits_for(self, job: ServedJob, active: list[ServedJob]) -> Message | None:
        ours = [other for other in active if other.intent is not None]
        intent = _ours(job)
        if len(ours) >= self._limits.running:
            return message("waits for a free place; running jobs: {count}", count=len(ours))
        own = sum(other.intent is not None and other.intent.owner == intent.owner for other in ours)
        if own >= self._limits.user_running:
            return message("waits for your other jobs; running jobs: {count}", count=own)
        taken = {site for other in active for site in self._sites(other)}
        shared = next((site for site in self._sites(job) if site in taken), None)
        return message("waits for another job on {site} to end", site=shared) if shared else None

    def _sites(self, job: ServedJob) -> tuple[str, ...]:
        """That the job asks for pages while it runs."""
        if job.intent is not None:
            return () if job.intent.current.verb in OFFLINE else job.intent.sites
        try:
            written = job.folder.description.stat().st_mtime_ns
            if self._described.get(job.id, (0, ()))[0] != written:
                self._described[job.id] = (written, sites_of(job.folder.job()))
        except (OSError, ConfigError, StoreError):
            return ()
        return self._described[job.id][1]

    def _no_room(self) -> Message | None:
        """Why no job can start now: the disk."""
        measured, used = self._disk
        if self._passed() - measured >= DISK_SECONDS:
            used = self._jobs.size()
            self._disk = (self._passed(), used)
        if used > self._limits.disk_megabytes * MEGABYTE:
            return message("waits for disk space: the jobs take {megabytes} MB", megabytes=used // MEGABYTE)
        free = self._jobs.free()
        if free < self._limits.free_megabytes * MEGABYTE:
            return message("waits for disk space: {megabytes} MB are free", megabytes=free // MEGABYTE)
        return None

    def _start(self, job: ServedJob) -> Message | None:
        """None if it runs now, otherwise why not."""
        intent, process = _ours(job), None
        try:
            process = self._processes.start(arguments(intent.current, job), job.folder.path)
            running = replace(intent, wish=Wish.RUNNING, process=process, gone=0.0, exit=None)
            self._jobs.write(job.id, replace(running, interrupted=False, kill_at=0.0))
        except BitrawlError as error:
            if process is not None:  # nobody could stop it later
                self._processes.signal(process, signal.SIGTERM)
            _log.warning("%s: %s", job.id, error)
            return message("cannot be started; the log of the server says why")
        return None

    def _take_down(self, job: ServedJob) -> None:
        self._jobs.take_down(job.id)
        self._waits.pop(job.id, None)
        self._runs.forget(job.folder)
        self._in_background(self._jobs.sweep)

    def _check_idle(self, job: ServedJob) -> None:
        if self.state(job).is_pending:
            raise RefusedError(message("the job is running, or waiting for its turn"))

    def _is_alive(self, intent: Intent | None) -> bool:
        if intent is None or intent.process is None or intent.gone:
            return False
        return self._processes.is_alive(intent.process)


def sites_of(job: config.Job) -> tuple[str, ...]:
    """The sites of a job's seeds; none where archives stand for the web."""
    if job.warc or job.replay:
        return ()
    return tuple(dict.fromkeys(url.site for url in job.seed_urls()))


def arguments(command: Command, job: ServedJob) -> list[str]:
    """What `bitrawl` is called with."""
    folder = str(job.folder.path)
    if command.verb is JobVerb.PAIR:
        return [command.verb, folder, *command.arguments]
    if command.verb is JobVerb.SIMULATE:
        described = job.folder.job()
        archives = described.replay or described.warc or [f"{folder}/warc"]
        out = ["--langs", ",".join(described.langs), "--out", f"{folder}/{SIMULATED}", "--quiet"]
        return [command.verb, *archives, *out, *command.arguments]
    if command.verb is JobVerb.ALIGN:
        return [command.verb, "--list", f"{folder}/{TEXTS}", "--out", f"{folder}/{ALIGNED}", *command.arguments]
    if command.verb is JobVerb.BOOTSTRAP:  # it says little, and its words are all that there is to see
        return [command.verb, "--out", folder, *command.arguments]
    verb = [command.verb, "sites"] if command.verb is JobVerb.DISCOVER else [command.verb]
    return [*verb, "--out", folder, "--quiet", *command.arguments]


def _ours(job: ServedJob) -> Intent:
    """Raises `RefusedError` for a job of the command line, which the app only reads."""
    if job.intent is None:
        raise RefusedError(message("the job was started from the command line; use the command line to change it"))
    return job.intent
