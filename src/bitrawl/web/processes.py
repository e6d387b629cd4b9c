"""The processes of jobs: start them so that they outlive the server, and signal no other process by mistake."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from bitrawl.errors import ChildError, ConfigError
from bitrawl.web.intent import Process

LOG = "run.log"
EARLIER = ".1"  # the ending of the log before this one
LOG_BYTES = 1 << 20  # a log that is longer when a process starts is set aside; judgement
NICENESS = 10  # the server answers first; judgement
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
    """Processes of this machine, which must have /proc. Each has a session of its own, and no pipe to the server."""

    def __init__(self, environment: Mapping[str, str] | None = None, *, proxy: str = "") -> None:
        """`proxy` is the operator's, for commands that have no job file; in their arguments all users would see its password."""
        if not boot_id():
            raise ConfigError("the web app runs jobs on Linux only: it needs /proc")
        self._environment = clean(os.environ if environment is None else environment)
        if proxy:
            self._environment["all_proxy"] = proxy
        self._children: dict[int, subprocess.Popen[bytes]] = {}

    def start(self, arguments: Sequence[str], folder: Path) -> Process:
        """As `Processes.start`."""
        log = folder / LOG
        _set_aside(log)
        command = [sys.executable, "-m", "bitrawl", *arguments]
        try:
            with log.open("ab") as output:
                child = subprocess.Popen(  # noqa: S603 - as above
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=self._environment,
                    start_new_session=True,
                )
        except OSError as error:
            raise ChildError(f"bitrawl cannot be started in {folder}: {error}") from error
        self._children[child.pid] = child
        with suppress(OSError):  # it has ended already
            os.setpriority(os.PRIO_PROCESS, child.pid, NICENESS)  # what it starts later inherits it
        return Process(child.pid, _start_time(child.pid) or 0, boot_id())

    def is_alive(self, process: Process) -> bool:
        """As `Processes.is_alive`."""
        alive = process.boot == boot_id() and _start_time(process.pid) == process.started
        self._reap()
        return alive

    def signal(self, process: Process, number: signal.Signals) -> None:
        """As `Processes.signal`: the descriptor stays with one process, so no other can take its place meanwhile."""
        with suppress(ProcessLookupError):
            descriptor = os.pidfd_open(process.pid)
            try:
                if self.is_alive(process):
                    signal.pidfd_send_signal(descriptor, number)
            finally:
                os.close(descriptor)

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


def clean(environment: Mapping[str, str]) -> dict[str, str]:
    """What a job may see of the server's environment."""
    return {name: value for name, value in environment.items() if name in _KEPT or name.startswith(_KEPT_BEGINNINGS)}


def boot_id() -> str:
    """Of the machine since it was started; empty where it is not told."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""


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
    """In ticks since the boot; None if there is no such process, or if it has ended and only waits to be read."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    state, *fields = stat.rpartition(")")[2].split()  # the name before may hold spaces and parentheses
    return None if state in "ZX" else int(fields[18])
