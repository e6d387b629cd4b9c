import signal
import subprocess
import threading
from pathlib import Path

import pytest

from bitrawl import process
from bitrawl.errors import ChildError, OutOfMemoryError, StoreError, lacks_memory
from bitrawl.process import Death, FailureKind, Running


@pytest.mark.parametrize(
    ("death", "cause", "kind"),
    [
        (Death(-signal.SIGKILL), "killed by SIGKILL", FailureKind.KILLED),
        (Death(-signal.SIGTERM), "killed by SIGTERM", FailureKind.KILLED),
        (Death(-signal.SIGBUS), "killed by SIGBUS", FailureKind.KILLED),  # the disk below a file in memory is full
        (Death(-signal.SIGSEGV), "killed by SIGSEGV", FailureKind.CRASH),
        (Death(-signal.SIGPROF), "killed by SIGPROF", FailureKind.TIMEOUT),  # our timer of the time that it had itself
        (Death(-signal.SIGALRM), "killed by SIGALRM", FailureKind.KILLED),  # the other one: the machine stood still
        (Death(-200), "killed by signal 200", FailureKind.KILLED),
        (Death(1, "Traceback\nMemoryError: none left"), "out of memory", FailureKind.KILLED),
        (Death(3, "Traceback\nKeyError: 7"), "exit status 3", FailureKind.CRASH),
        (Death(0), "exit status 0", FailureKind.CRASH),
    ],
)
def test_a_death_says_whether_the_process_or_its_machine_is_to_blame(death: Death, cause: str, kind: FailureKind):
    assert (death.cause, death.failure.kind) == (cause, kind)


def test_a_process_whose_listener_cannot_be_started_is_ended_and_told(monkeypatch: pytest.MonkeyPatch):
    started: list[subprocess.Popen[bytes]] = []

    def no_thread(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    def spawn(*arguments: object, **options: object) -> "subprocess.Popen[bytes]":
        started.append(plain(*arguments, **options))
        return started[-1]

    plain = process.spawn
    monkeypatch.setattr(process, "spawn", spawn)
    monkeypatch.setattr(threading.Thread, "start", no_thread)
    before = len([*Path("/proc/self/fd").iterdir()]) if Path("/proc/self/fd").exists() else 0
    with pytest.raises(ChildError, match="can't start new thread"):
        Running.start("bitrawl.process", stdin=subprocess.DEVNULL)
    assert [each.returncode for each in started] == [-signal.SIGKILL]
    assert not before or len([*Path("/proc/self/fd").iterdir()]) == before


@pytest.mark.parametrize(
    ("error", "lacks"),
    [
        (MemoryError(), True),
        (OutOfMemoryError("none left"), True),
        (ChildError("did not start: MemoryError"), True),
        (SystemError("returned NULL without setting an exception"), True),
        (OSError(12, "anything"), True),
        (OSError(2, "No such file"), False),
        (RuntimeError("dictionary changed size"), False),
        (ValueError("a page says: can't start new thread"), False),  # what the web says decides nothing
        (StoreError("cannot allocate memory"), False),
        (None, False),
    ],
    ids=repr,
)
def test_a_lack_of_memory_is_told_from_other_errors(error: Exception | None, *, lacks: bool):
    assert lacks_memory(error) is lacks


def test_an_error_that_came_from_a_lack_of_memory_is_one():
    error = StoreError("the ledger cannot be read")
    error.__cause__ = MemoryError()
    assert lacks_memory(error)
