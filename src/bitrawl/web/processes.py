"""The `bitrawl` commands that the app runs: jobs, which outlive the server, and errands, whose answer a page waits for.

The server itself loads no model and does no long work. It signals no other process by mistake.
"""

import asyncio
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Protocol

import psutil

from bitrawl.errors import BitrawlError, ChildError
from bitrawl.process import Running, spawn
from bitrawl.web.intent import Process
from bitrawl.web.words import quoted, said

LOG = "run.log"
EARLIER = ".1"  # the ending of the log before this one
LOG_BYTES = 1 << 20  # a log that is longer when a process starts is set aside; judgement
NICENESS = 10  # the server answers first; judgement
ERRAND_SECONDS = 60.0  # judgement
ERRANDS_AT_ONCE = 2
MOST_OUTPUT = 8 << 20  # bytes of an errand; judgement
_TOLERANCE = 100  # hundredths of a second: macOS moves the time of its boot when it sets its clock; judgement
# Proxies and everything else that may hold a secret of the server are left out.
_KEPT = frozenset(("PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV"))
_KEPT_BEGINNINGS = ("LC_", "SSL_CERT_")


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


class ErrandError(BitrawlError):
    """What the command said when it failed."""


class Errands:
    """Short commands, a few at a time, with limits. They end with the server."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._room = asyncio.Semaphore(ERRANDS_AT_ONCE)

    async def run(
        self,
        arguments: Sequence[str],
        given: bytes = b"",
        *,
        seconds: float = ERRAND_SECONDS,
        module: str = "bitrawl.cli",
    ) -> str:
        """Its output. Raises `ErrandError` with its last line if it fails or takes too long."""
        async with self._room:
            with Running.start(module, *arguments, stdout=subprocess.PIPE, environment=self._environment) as process:
                try:
                    out = await asyncio.to_thread(_output, process.popen, given, seconds)
                except subprocess.TimeoutExpired:
                    raise ErrandError(said("That took too long. Try with less.")) from None
        death = process.end()
        if death.status:
            raise ErrandError(quoted(death.last_line) if death.words else said("That could not be done."))
        return out[:MOST_OUTPUT].decode("utf-8", "replace")


def _output(popen: "subprocess.Popen[bytes]", given: bytes, seconds: float) -> bytes:
    with popen:
        try:
            return popen.communicate(given, seconds)[0]
        except subprocess.TimeoutExpired:
            popen.kill()
            raise


def clean(environment: Mapping[str, str]) -> dict[str, str]:
    """What a job may see of the server's environment."""
    return {name: value for name, value in environment.items() if name in _KEPT or name.startswith(_KEPT_BEGINNINGS)}


def last_lines(folder: Path, most: int = 5) -> list[str]:
    """What the job's process said last."""
    try:
        with (folder / LOG).open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - 8192, 0))
            said = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    return [line.strip() for line in said.splitlines() if line.strip()][-most:]


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
