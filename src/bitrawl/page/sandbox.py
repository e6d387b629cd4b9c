"""Untrusted bytes are read in child processes: a page that hangs, dies or lies costs one page."""

import asyncio
import faulthandler
import gc
import hashlib
import json
import logging
import os
import pickle
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Protocol, Self

import msgspec

from bitrawl.errors import AnalysisError
from bitrawl.model import Capture, Page, Reason, Sitemap, Skip, Stage, Unpacker, pack

START_SECONDS = 120.0  # for a child to load its models, on a machine that is busy
MAX_ANSWER = 64 << 20  # bytes; what is said of a page of 20 MB stays far below it
KEPT_INPUTS = 100

log = logging.getLogger(__name__)


class Reader(Protocol):
    """What makes sense of a capture; plain, because it computes."""

    def read(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        """May hang, die or raise: that is what this module is for."""
        ...


class Rejects:
    """Where the input of a failed analysis is kept for whoever mends the analyser; bounded in number."""

    def __init__(self, folder: Path, limit: int = KEPT_INPUTS) -> None:
        self._folder = folder
        self._limit = limit

    def keep(self, capture: Capture, skip: Skip, trace: str) -> None:
        """The body as `<digest>.html` and the circumstances as `<digest>.json`; never raises."""
        name = hashlib.sha256(capture.url.encode() + b"\n" + capture.body).hexdigest()[:16]
        about = {
            "url": capture.url,
            "reason": skip.reason,
            "detail": skip.detail,
            "trace": trace,
            "status": capture.status,
            "media_type": capture.media_type,
            "at": capture.at,
            "headers": capture.headers,
        }
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if sum(1 for _ in self._folder.glob("*.json")) >= self._limit:
                return
            (self._folder / f"{name}.html").write_bytes(capture.body)
            (self._folder / f"{name}.json").write_text(json.dumps(about, indent=1), encoding="utf-8")
        except OSError as error:
            log.warning("%s: the input of a failed analysis cannot be kept: %s", self._folder, error.strerror)


class InlineAnalyser:
    """The same seam without processes: for tests, and for bytes that are trusted."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        """An error costs this page; a hang costs everything."""
        try:
            return self._reader.read(capture, index=index)
        except Exception as error:  # noqa: BLE001 - a parser may raise anything, as in `_answer`
            return Skip(capture.url, Stage.ANALYSE, Reason.ANALYSIS_ERROR, f"{type(error).__name__}: {error}"[:300])


class SandboxedAnalyser:
    """A few children that read pages; each is started when it is first needed, and replaced when it fails.

    `factory` makes the reader, once in each child: it is pickled, so it has to be importable there. `seconds` are for
    one page, by the clock on the wall; `megabytes` are what a child may take beyond what its reader has loaded.
    Enter it (`async with`): leaving ends the children.
    """

    def __init__(
        self,
        factory: Callable[[], Reader],
        *,
        workers: int,
        seconds: float = 20.0,
        megabytes: int = 512,
        rejects: Rejects | None = None,
    ) -> None:
        self._limits = _Limits(seconds, megabytes)
        self._order = pickle.dumps((factory, self._limits))
        self._rejects = rejects
        self._slots = asyncio.Semaphore(workers)
        self._children: set[_Child] = set()
        self._idle: list[_Child] = []  # the last one used is the first to be used again: its caches are warm

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        while self._children:
            self._drop(next(iter(self._children)))

    async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        """Raises `AnalysisError` when a child cannot even be started; to cancel it ends the child at work."""
        request = bytes([index]) + pack(msgspec.structs.replace(capture, payload=b"", request=b""))
        async with self._slots:
            child = await self._take()
            try:
                outcome = await self._ask(child, request, capture)
            except BaseException:
                self._drop(child)
                raise
            if child.usable and not (isinstance(outcome, _Failure) and outcome.fatal):
                self._idle.append(child)
            else:
                self._drop(child)
        if not isinstance(outcome, _Failure):
            return outcome
        skip = Skip(capture.url, Stage.ANALYSE, outcome.reason, outcome.detail)
        if self._rejects is not None:
            self._rejects.keep(capture, skip, outcome.trace)
        return skip

    async def _take(self) -> "_Child":
        while self._idle:
            child = self._idle.pop()
            if child.usable:
                return child
            self._drop(child)  # It died idle: the machine was out of memory, or somebody killed it.
        try:
            child = await _Child.start()
        except OSError as error:
            raise AnalysisError(f"no analysis process can be started: {error}; try fewer workers") from error
        self._children.add(child)
        try:
            async with asyncio.timeout(START_SECONDS):
                await child.ask(self._order)
        except (ConnectionError, TimeoutError) as error:
            end = self._drop(child)
            message = f"the analysis process did not start ({end.cause}); it said: {end.trace or 'nothing'}"
            raise AnalysisError(message) from error
        except BaseException:
            self._drop(child)
            raise
        return child

    async def _ask(self, child: "_Child", request: bytes, capture: Capture) -> "Page | Sitemap | Skip | _Failure":
        try:
            async with asyncio.timeout(self._limits.seconds):
                answer = await child.ask(request)
        except TimeoutError:
            end = child.end(signal.SIGABRT)  # Its fault handler writes where it was.
            return _Failure(Reason.ANALYSIS_TIMEOUT, f"{self._limits.seconds:g} s", end.trace)
        except ConnectionError:
            end = child.end()
            return _Failure(Reason.ANALYSIS_CRASH, end.cause, end.trace)
        return _understood(answer, capture)

    def _drop(self, child: "_Child") -> "_End":
        self._children.discard(child)
        return child.end()


class _Limits(msgspec.Struct, frozen=True):
    seconds: float
    megabytes: int


class _Failure(msgspec.Struct, frozen=True):
    """Why there is no answer."""

    reason: Reason
    detail: str
    trace: str = ""
    fatal: bool = True  # to the child


class _End(msgspec.Struct, frozen=True):
    """How a process ended, and its last words."""

    cause: str
    trace: str


# An answer is a byte that says whether the child retires, one for its kind, and the noun or text.
_PAGE, _SITEMAP, _SKIP, _ERROR, _OUT_OF_MEMORY, _READY = b"P", b"M", b"S", b"E", b"O", b"R"
_KINDS = {Page: _PAGE, Sitemap: _SITEMAP, Skip: _SKIP}
_NOUNS: dict[bytes, Unpacker[Page | Sitemap | Skip]] = {kind: Unpacker(noun) for noun, kind in _KINDS.items()}
_LENGTH = struct.Struct(">I")


def _understood(answer: bytes, capture: Capture) -> Page | Sitemap | Skip | _Failure:
    kind, content = answer[:1], answer[1:]
    if kind in (_ERROR, _OUT_OF_MEMORY):
        trace = content.decode("utf-8", "replace").rstrip()
        if kind == _OUT_OF_MEMORY:
            return _Failure(Reason.ANALYSIS_CRASH, "out of memory", trace)
        return _Failure(Reason.ANALYSIS_ERROR, trace.rpartition("\n")[2][:300], trace, fatal=False)
    try:
        noun = _NOUNS[kind](content)
    except (KeyError, msgspec.MsgspecError) as error:
        return _Failure(Reason.ANALYSIS_ERROR, f"an answer that cannot be read: {error}"[:300])
    if noun.url != capture.url:
        return _Failure(Reason.ANALYSIS_ERROR, f"an answer for another page: {noun.url}"[:300])
    return noun


class _Wire(asyncio.Protocol):
    """Frames of a length and so many bytes, one in answer to each that is sent."""

    def __init__(self) -> None:
        self.transport: asyncio.WriteTransport | None = None
        self._received = bytearray()
        self._answer: asyncio.Future[bytes] | None = None

    async def ask(self, message: bytes) -> bytes:
        """The answer; `ConnectionError` when there will be none."""
        if self.transport is None:
            raise ConnectionResetError
        self._answer = asyncio.get_running_loop().create_future()
        self.transport.write(_LENGTH.pack(len(message)) + message)
        return await self._answer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.WriteTransport):
            self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        if len(self._received) < _LENGTH.size:
            return
        (length,) = _LENGTH.unpack_from(self._received)
        if length > MAX_ANSWER:
            self.connection_lost(None)
        elif len(self._received) >= _LENGTH.size + length:
            answer = bytes(memoryview(self._received)[_LENGTH.size : _LENGTH.size + length])
            self._received = bytearray()
            if self._answer is not None and not self._answer.done():
                self._answer.set_result(answer)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the process's end says more
        if self.transport is not None:
            self.transport.abort()
        self.transport = None
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionResetError())


class _Child:
    """The parent's view of one process."""

    def __init__(self, process: "subprocess.Popen[bytes]", said: BinaryIO, wire: _Wire) -> None:
        self._process = process
        self._said = said  # a file without a name: what the child writes to its stderr
        self._wire = wire
        self._retires = False

    @classmethod
    async def start(cls) -> Self:
        """In a session of its own, so that Ctrl-C is the parent's; with none of our descriptors but its socket."""
        code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; serve()"
        one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        ours, theirs = socket.socketpair()
        said = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `end`
        wire = _Wire()
        await asyncio.get_running_loop().create_unix_connection(lambda: wire, sock=ours)
        with theirs:
            process = subprocess.Popen(  # noqa: ASYNC220, S603 - a few ms, once per child
                [sys.executable, "-c", code],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=said,
                start_new_session=True,
                env={**os.environ, **one_thread},
            )
        return cls(process, said, wire)

    @property
    def usable(self) -> bool:
        """Whether it may be asked again."""
        return not self._retires and self._process.poll() is None and self._wire.transport is not None

    async def ask(self, message: bytes) -> bytes:
        """Its answer; `ConnectionError` when it dies over it."""
        answer = await self._wire.ask(message)
        self._retires = answer[:1] != b"\0"
        return answer[1:]

    def end(self, last: signal.Signals = signal.SIGKILL) -> _End:
        """Kill it, unless it is dead; `last` is what it gets first. May be called again."""
        if self._process.returncode is None:
            self._wait(last)
        self._wire.connection_lost(None)
        return _End(_cause(self._process.returncode), self._last_words())

    def _wait(self, last: signal.Signals) -> None:
        if self._wire.transport is not None:  # else it is on its way out, and its own status is what we want
            self._process.send_signal(last)
        try:
            self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _last_words(self) -> str:
        if self._said.closed:
            return ""
        with self._said as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 4000))
            return file.read().decode("utf-8", "replace").strip()


def _cause(status: int) -> str:
    if status >= 0:
        return f"exit status {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"


# What follows runs in the child.

_GRACE = 5.0  # seconds; the parent ends us before, if it is still there
_MAX_WRITTEN = 1 << 20  # bytes of a file, and so of stderr
_capture: Unpacker[Capture] = Unpacker(Capture)


def serve() -> None:
    """Answer until the parent hangs up, or is gone."""
    wire = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable()
    order = _receive(wire)
    if order is None:
        return
    factory, limits = pickle.loads(order)  # noqa: S301 - our own parent's
    reader = factory()
    gc.collect()
    gc.freeze()  # Models stay: no collection need look at them again.
    tired = _confine(limits)
    _send(wire, b"\0" + _READY)
    while request := _receive(wire):
        # The default action of this signal ends us even inside a library's loop, and with no parent alive.
        signal.setitimer(signal.ITIMER_REAL, limits.seconds + _GRACE)
        answer = _answer(reader, request)
        signal.setitimer(signal.ITIMER_REAL, 0)
        _send(wire, bytes([_data_bytes() > tired]) + answer)


def _answer(reader: Reader, request: bytes) -> bytes:
    try:
        noun = reader.read(_capture(request[1:]), index=bool(request[0]))
        answer = _KINDS[type(noun)] + pack(noun)
        if len(answer) >= MAX_ANSWER:
            raise ValueError(f"an answer of {len(answer)} bytes")  # noqa: TRY301
    except MemoryError:
        return _OUT_OF_MEMORY + traceback.format_exc(limit=-5).encode("utf-8", "replace")
    except Exception:  # noqa: BLE001 - a parser may raise anything
        return _ERROR + traceback.format_exc(limit=-20).encode("utf-8", "replace")
    return answer


def _confine(limits: _Limits) -> int:
    """Set the limits of this process; the bytes at which it had better be replaced by a fresh one."""
    allowance = limits.megabytes << 20
    loaded = _data_bytes()
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, _MAX_WRITTEN)
    # Linux counts heap and anonymous maps here, not the libraries' code or address space that is only reserved.
    _limit(resource.RLIMIT_DATA, loaded + allowance)
    return loaded + allowance // 2


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def _data_bytes() -> int:
    """What RLIMIT_DATA counts; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", "rb", buffering=0) as file:  # noqa: PTH123 - a third of pathlib's time
            return int(file.read().split()[5]) * resource.getpagesize()
    except OSError:
        return 0


def _receive(wire: socket.socket) -> bytes | None:
    """The next frame; None when there will be no more."""
    head = _exactly(wire, _LENGTH.size)
    return _exactly(wire, _LENGTH.unpack(head)[0]) if head else None


def _exactly(wire: socket.socket, size: int) -> bytes | None:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        received = wire.recv_into(view, 0, socket.MSG_WAITALL)
        if not received:
            return None
        view = view[received:]
    return bytes(data)


def _send(wire: socket.socket, answer: bytes) -> None:
    wire.sendall(_LENGTH.pack(len(answer)) + answer)
