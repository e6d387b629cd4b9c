"""The one way to run another process of ours: its life, its limits, its last words, and what its death means.

`Running` is a process in a session of its own, so that Ctrl-C and the signals of a terminal reach us alone. It dies with us,
even after `kill -9`: it reads a pipe that closes when we are gone. What it says last on stderr is kept.

A child (`children.py`) is one that answers requests, one at a time, under limits of time and memory. It is started with a
factory, which it imports and calls once to make its service: a function from a request to an answer, both bytes. It needs
nothing of the user's main script. While it works it may report what it is doing.
"""

import faulthandler
import gc
import os
import pickle
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from enum import StrEnum
from importlib import import_module
from typing import IO, NamedTuple, Self

from bitrawl.errors import BitrawlError, ChildError, lacks_memory
from bitrawl.model_files import models_from

ATTEMPTS = 3  # deaths of a child that is alone, at the same request, until that counts as failed
WORDS = 4000  # the last bytes that a process said, for its log and for the reason

_TERMINAL = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # what a terminal or a service manager sends to a group
# What a fault in a program brings about. Every other signal comes from outside, as does a bus error: the disk below a file
# that is in memory was full, or is broken.
_OWN = {signal.SIGSEGV, signal.SIGABRT, signal.SIGILL, signal.SIGFPE, signal.SIGSYS, signal.SIGTRAP}

Report = Callable[[str], None]
Service = Callable[[bytes, Report], bytes]


class Limits(NamedTuple):
    """What a child may take; None means no limit."""

    seconds: float | None = None  # of a processor, for one answer: a slow machine changes no verdict
    megabytes: int | None = None  # beyond what its service has loaded
    written: int | None = None  # bytes of one file
    answer: int = 1 << 40  # bytes of one answer

    @property
    def patience(self) -> float | None:
        """Seconds by the clock on the wall in which a child has so much of a processor, unless it sleeps; judgement.

        At load 20 it has a twentieth; two seconds, because what is to work for a moment may have to wait for it. Nobody waits
        for a miner that sleeps for longer than an hour more than it may work.
        """
        return None if self.seconds is None else min(max(20 * self.seconds, 2.0), self.seconds + 3600)


class FailureKind(StrEnum):
    """How a request can fail."""

    TIMEOUT = "timeout"  # the child has worked for as long as it may
    CRASH = "crash"  # the child died by what it did
    KILLED = "killed"  # the child was ended from outside, or the machine had no memory or no time for it: another day it may live
    ERROR = "error"  # the service raised; the child lives on


class Failure(NamedTuple):
    """Why there is no answer."""

    kind: FailureKind
    detail: str
    trace: str = ""


class Death(NamedTuple):
    """How a process ended: its exit status, negative for a signal, and the end of its stderr."""

    status: int
    words: str = ""

    @property
    def last_line(self) -> str:
        return self.words.rpartition("\n")[2]

    @property
    def cause(self) -> str:
        if self._lacked_memory:
            return "out of memory"
        if self.status >= 0:
            return f"exit status {self.status}"
        try:
            return f"killed by {signal.Signals(-self.status).name}"
        except ValueError:
            return f"killed by signal {-self.status}"

    @property
    def from_outside(self) -> bool:
        """Whether it says nothing about what the process did: another day it may live."""
        return self._lacked_memory or (self.status < 0 and -self.status not in _OWN)

    @property
    def failure(self) -> Failure:
        """What that means for the request that the process was working on."""
        if self.status == -signal.SIGPROF:  # the timer of `_serve`
            return Failure(FailureKind.TIMEOUT, self.cause, self.words)
        return Failure(FailureKind.KILLED if self.from_outside else FailureKind.CRASH, self.cause, self.words)

    @property
    def _lacked_memory(self) -> bool:
        return self.status > 0 and self.last_line.startswith("MemoryError")


def spawn(
    command: Sequence[str],
    *,
    stdin: int = subprocess.DEVNULL,
    stdout: int | IO[bytes] = subprocess.DEVNULL,
    stderr: int = subprocess.STDOUT,
    environment: Mapping[str, str] | None = None,
    descriptors: Sequence[int] = (),
) -> "subprocess.Popen[bytes]":
    """Python with these arguments, in a session of its own, with none of our descriptors but those. Raises `ChildError`."""
    with room_needed():
        return subprocess.Popen(  # noqa: S603 - our own code
            [sys.executable, *command],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env=environment,
            pass_fds=descriptors,
            start_new_session=True,
        )


@contextmanager
def room_needed() -> Iterator[None]:
    try:
        yield
    except (OSError, RuntimeError) as error:  # for a process, or for a thread that listens to it
        raise ChildError(
            f"no process can be started: {error}. Try fewer workers, or run the same command again later"
        ) from error


class Running:
    """A process that runs a module of ours. Leaving it (`with`) ends it."""

    def __init__(self, popen: "subprocess.Popen[bytes]", lifeline: int, stderr: int) -> None:
        self.popen = popen
        self._lifeline = lifeline
        self._words = bytearray()
        # A pipe and not a file: that could be on the disk whose end the words tell.
        self._listening = threading.Thread(target=self._listen, args=(stderr,), daemon=True)
        self._listening.start()

    @classmethod
    def start(
        cls,
        module: str,
        *arguments: str,
        stdin: int = subprocess.PIPE,
        stdout: int = subprocess.DEVNULL,
        environment: Mapping[str, str] | None = None,
    ) -> Self:
        """Call `main` of the module. Raises `ChildError` when there is no room for another process."""
        # Between fork and its own session a child is still in our terminal's group: what is sent to that waits.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _TERMINAL)
        with ExitStack() as fault, ExitStack() as always:
            always.callback(signal.pthread_sigmask, signal.SIG_SETMASK, before)
            (lifeline, held), (heard, stderr) = _pipe(always, fault), _pipe(fault, always)
            code = (
                f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import begin; begin({module!r}, {lifeline})"
            )
            popen = spawn(
                ["-c", code, *arguments],
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                environment=environment,
                descriptors=(lifeline,),
            )
            fault.callback(popen.wait)
            fault.callback(popen.kill)
            with room_needed():
                running = cls(popen, held, heard)
            fault.pop_all()
        return running

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def give(self, data: bytes) -> None:
        """All that it reads from stdin. If it is dead already, its status says why."""
        if self.popen.stdin is not None:
            with suppress(BrokenPipeError), self.popen.stdin as stdin:
                stdin.write(data)

    def end(self, last: signal.Signals | None = signal.SIGKILL) -> Death:
        """Kill it, unless it is dead. `last` is the signal that it gets first; None if it is on its way out by itself."""
        if self.popen.returncode is None:
            if last is not None:
                self.popen.send_signal(last)
            try:
                self.popen.wait(timeout=1)
            except subprocess.TimeoutExpired:
                self.popen.kill()
                self.popen.wait()
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1
        self._listening.join(timeout=1)
        return Death(self.popen.returncode, self._words.decode("utf-8", "replace").strip())

    def _listen(self, stderr: int) -> None:
        """Remember the last words of the child until it is gone."""
        while words := os.read(stderr, 1 << 16):
            self._words += words
            del self._words[:-WORDS]
        os.close(stderr)


def _pipe(reading: ExitStack, writing: ExitStack) -> tuple[int, int]:
    """Its two ends, and who closes each."""
    with room_needed():
        ends = os.pipe()
    reading.callback(os.close, ends[0])
    writing.callback(os.close, ends[1])
    return ends


# A frame is its length and so many bytes. Those of the child begin with a byte for their kind; of an answer the second
# byte says whether the child had better be replaced.
ANSWER, FAULT, ERROR, OUT_OF_MEMORY, REPORT = b"A", b"F", b"E", b"O", b"R"
LENGTH = struct.Struct(">Q")


# What follows runs in the child.

_GRACE = 5.0  # seconds; the parent ends us before, if it is still there


def begin(module: str, lifeline: int) -> None:
    """In every process that `Running` starts."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _TERMINAL)
    threading.Thread(target=_die_with_parent, args=(lifeline,), daemon=True).start()
    sys.exit(import_module(module).main())


def _die_with_parent(lifeline: int) -> None:
    os.read(lifeline, 1)  # Nobody writes to it: it ends when the parent does, however that dies.
    os._exit(1)


def main() -> None:
    """In a child: answer until the parent hangs up."""
    wire = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    faulthandler.enable()
    faulthandler.register(signal.SIGPROF, chain=True)  # says where it was, and ends
    order = _receive(wire)
    if order is None:
        return
    gc.disable()  # What is loaded stays: looking for garbage in it took a tenth of the time of loading (2026-11).
    factory, limits, models = pickle.loads(order)  # noqa: S301 - our own parent's
    with models_from(models):
        _serve(wire, factory(), limits)


def _serve(wire: socket.socket, service: Service, limits: Limits) -> None:
    gc.collect()
    gc.freeze()  # Models stay: no collection need look at them again.
    gc.enable()
    tired = _confine(limits)
    _send(wire, ANSWER)
    while (request := _receive(wire)) is not None:
        if limits.seconds is not None and limits.patience is not None:
            # The default action of these signals ends us even inside a library's loop, and with no parent alive.
            signal.setitimer(signal.ITIMER_PROF, limits.seconds)
            signal.setitimer(signal.ITIMER_REAL, limits.patience + _GRACE)
        kind, content = _answered(service, request, wire, limits)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        _send(wire, kind, bytes([tired is not None and _data_bytes() > tired]), content)


def _answered(service: Service, request: bytes, wire: socket.socket, limits: Limits) -> tuple[bytes, bytes]:
    try:
        answer = service(request, lambda text: _send(wire, REPORT, text.encode("utf-8", "replace")))
        if len(answer) + 2 > limits.answer:
            raise ValueError(f"an answer of {len(answer)} bytes")  # noqa: TRY301
    except BitrawlError as error:
        return FAULT, f"{type(error).__name__}\n{error}".encode("utf-8", "replace")
    except Exception as error:  # noqa: BLE001 - a service that meets hostile input may raise anything
        if lacks_memory(error):
            return OUT_OF_MEMORY, traceback.format_exc(limit=-5).encode("utf-8", "replace")
        return ERROR, traceback.format_exc(limit=-20).encode("utf-8", "replace")
    return ANSWER, answer


def _confine(limits: Limits) -> int | None:
    """Set the limits of this process; the bytes at which it had better be replaced by a fresh one."""
    _limit(resource.RLIMIT_CORE, 0)
    if limits.written is not None:
        _limit(resource.RLIMIT_FSIZE, limits.written)
    if limits.megabytes is None:
        return None
    allowance = limits.megabytes << 20
    loaded = _data_bytes()
    # Linux counts heap and anonymous maps here, not the libraries' code or address space that is only reserved. macOS holds
    # nobody to it: there, a child that has become large is only replaced after its answer.
    _limit(resource.RLIMIT_DATA, loaded + allowance)
    return loaded + allowance // 2


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def _data_bytes() -> int:
    """What RLIMIT_DATA counts; where the system does not tell, the most memory that we had."""
    try:
        with open("/proc/self/statm", "rb", buffering=0) as file:  # noqa: PTH123 - a third of pathlib's time
            return int(file.read().split()[5]) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes on macOS


def _receive(wire: socket.socket) -> bytes | None:
    """The next frame; None when there will be no more."""
    head = _exactly(wire, LENGTH.size)
    return _exactly(wire, LENGTH.unpack(head)[0]) if head else None


def _exactly(wire: socket.socket, size: int) -> bytes | None:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        received = wire.recv_into(view, 0, socket.MSG_WAITALL)
        if not received:
            return None
        view = view[received:]
    return bytes(data)


def _send(wire: socket.socket, *parts: bytes) -> None:
    wire.sendall(b"".join((LENGTH.pack(sum(map(len, parts))), *parts)))
