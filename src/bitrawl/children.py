"""Child processes that answer requests, as their parent sees them: how many there are, what is asked, and what their death means.

A child that dies tells little about its request: the system kills what is large when memory is short. So `Children` asks
again, with nothing beside it, and only what is then fatal several times is a failure. The same holds for one that gives no
answer, if it is not its own work that takes so long. Apart from `process.py`, because a
child need not load what waits for it.
"""

import asyncio
import os
import pickle
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Self

from bitrawl import errors, process
from bitrawl.errors import BitrawlError, ChildError
from bitrawl.model_files import models_folder
from bitrawl.process import (
    ANSWER,
    ATTEMPTS,
    FAULT,
    LENGTH,
    OUT_OF_MEMORY,
    REPORT,
    Death,
    Failure,
    FailureKind,
    Limits,
    Report,
    Running,
    Service,
    room_needed,
)

START_SECONDS = 120.0  # for a child to load its models on a busy machine
PATIENCE = 3.0  # starts of a child, in time, that requests wait before a second one is started: judgement


class Children:
    """A few children with the same service; each is started when it is first needed, and replaced when it fails.

    There is only one until requests have waited for it, all together, `PATIENCE` times as long as its start took: a small job
    ends before another could be of use. Who knows that there is much to do has more of them started (`get_ready`). Enter it
    (`async with`): leaving ends the children.
    """

    def __init__(self, factory: Callable[[], Service], limits: Limits, *, workers: int) -> None:
        self._factory = factory
        self._limits = limits
        self._workers = workers
        self._slots = asyncio.Semaphore(workers)
        self._clearing = asyncio.Lock()  # two that wait for all slots would each hold some of them
        self._children: set[Child] = set()
        self._idle: list[Child] = []  # the last one used is the first to be used again: its caches are warm
        self._starting = 0
        self._beginning: set[asyncio.Future[None]] = set()  # those that nobody waits for yet
        self._patience: float | None = None  # seconds that requests will wait yet; not known before the first start
        self._change = asyncio.Event()  # a child has become idle, was started or is gone

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._beginning:
            task.cancel()
        await asyncio.gather(*self._beginning, return_exceptions=True)
        while self._children:
            self._drop(next(iter(self._children)))

    def get_ready(self, count: int) -> None:
        """So many will soon be needed, as far as there may be: those that are missing are started when the loop goes on.

        That one cannot be started is told to who needs it.
        """
        for _ in range(count):
            task = asyncio.ensure_future(self._begin(min(count, self._workers)))
            self._beginning.add(task)
            task.add_done_callback(self._beginning.discard)

    async def _begin(self, count: int) -> None:
        """Start one, unless there are so many by now: a request may have come first."""
        if len(self._children) + self._starting < count:
            with suppress(ChildError):
                self._idle.append(await self._start())

    async def ask(
        self, request: bytes, report: Report = lambda _text: None, *, attempts: int = ATTEMPTS
    ) -> bytes | Failure:
        """The answer, or why there is none. If a child dies, the same is asked again alone, up to so many times.

        Raises `ChildError` when a child cannot even be started, and the `BitrawlError` that the service raised. To
        cancel it ends the child at work.
        """
        async with self._slots:
            answer = await self._asked(request, report)
        if attempts and _died(answer):
            async with self._alone():
                for _ in range(attempts):
                    answer = await self._asked(request, report)
                    if not _died(answer):
                        break
        if isinstance(answer, ChildError):
            raise answer
        return answer

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """No other child is at work, and none holds memory."""
        async with self._clearing, AsyncExitStack() as slots:
            for _ in range(self._workers):
                await slots.enter_async_context(self._slots)
            while self._idle:
                self._drop(self._idle.pop())
            yield

    async def _asked(self, request: bytes, report: Report) -> "bytes | Failure | ChildError":
        try:
            child = await self._take()
        except ChildError as error:
            return error
        try:
            return await child.ask(request, report)
        finally:
            if child.usable:
                self._idle.append(child)
            else:
                self._drop(child)
            self._tell_waiting()

    async def _take(self) -> "Child":
        while True:
            while self._idle:
                child = self._idle.pop()
                if child.usable:
                    return child
                self._drop(child)  # It died idle: the machine was out of memory, or somebody killed it.
            there = len(self._children) + self._starting
            if not there or (self._patience == 0 and there < self._workers):
                return await self._start()
            await self._wait()

    async def _start(self) -> "Child":
        began = time.monotonic()
        self._starting += 1
        try:
            child = await Child.start(self._factory, self._limits)
            self._children.add(child)
        finally:
            self._starting -= 1
            self._tell_waiting()
        if self._patience is None:
            self._patience = PATIENCE * (time.monotonic() - began)
        return child

    async def _wait(self) -> None:
        began, patience = time.monotonic(), self._patience
        with suppress(TimeoutError):
            async with asyncio.timeout(patience or None):  # With no patience left, all that there may be are there.
                await self._change.wait()
        if patience is not None and self._patience is not None:
            self._patience = max(0.0, self._patience - (time.monotonic() - began))

    def _tell_waiting(self) -> None:
        self._change.set()
        self._change = asyncio.Event()

    def _drop(self, child: "Child") -> None:
        self._children.discard(child)
        child.end()


def _died(answer: "bytes | Failure | ChildError") -> bool:
    """Whether there is no answer because a child died, or did not start."""
    if isinstance(answer, Failure):
        return answer.kind in (FailureKind.CRASH, FailureKind.KILLED)
    return isinstance(answer, ChildError)


class Child:
    """The parent's view of one child process. Start it with `Child.start`; end it with `end`."""

    def __init__(self, running: Running, wire: "_Wire", limits: Limits) -> None:
        self._process = running
        self._wire = wire
        self._limits = limits
        self._retires = False

    @classmethod
    async def start(cls, factory: Callable[[], Service], limits: Limits) -> Self:
        """Wait until its service is ready; raise `ChildError` when it cannot be started."""
        order = pickle.dumps((factory, limits, models_folder()))
        child = await cls._launch(limits)
        try:
            async with asyncio.timeout(START_SECONDS):
                await child._wire.ask(order)  # noqa: SLF001 - of our own class
        except (ConnectionError, TimeoutError) as error:
            death = child.end()
            raise ChildError(f"a child process did not start ({death.cause}): {death.words or 'no message'}") from error
        except BaseException:
            child.end()
            raise
        return child

    @classmethod
    async def _launch(cls, limits: Limits) -> Self:
        one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        with room_needed():
            ours, theirs = socket.socketpair()
        try:
            with theirs:
                environment = {**os.environ, **one_thread}
                running = Running.start(process.__name__, stdin=theirs.fileno(), environment=environment)
        except ChildError:
            ours.close()
            raise
        wire = _Wire(limits.answer)
        child = cls(running, wire, limits)
        try:
            await asyncio.get_running_loop().create_unix_connection(lambda: wire, sock=ours)
        except BaseException:
            child.end()
            raise
        return child

    @property
    def usable(self) -> bool:
        """Whether it may be asked again."""
        return not self._retires and self._process.popen.poll() is None and self._wire.transport is not None

    async def ask(self, request: bytes, report: Report = lambda _text: None) -> "bytes | Failure":
        """Its answer, or why there is none. To cancel it ends the child."""
        try:
            async with asyncio.timeout(self._limits.patience):
                frame = await self._wire.ask(request, report)
        except TimeoutError:
            death = self.end(signal.SIGABRT)  # Its fault handler writes where it was.
            return Failure(FailureKind.KILLED, f"no answer in {self._limits.patience:g} s", death.words)
        except ConnectionError:
            failure = self.end().failure
            spent = failure.kind is FailureKind.TIMEOUT
            return failure._replace(detail=f"{self._limits.seconds:g} s") if spent else failure
        except BaseException:
            self.end()
            raise
        kind, self._retires, content = frame[:1], frame[1:2] != b"\0", frame[2:]
        if kind == ANSWER:
            return content
        if kind == FAULT:
            raise _fault(content)
        trace = content.decode("utf-8", "replace").rstrip()
        if kind == OUT_OF_MEMORY:
            self.end()
            return Failure(FailureKind.KILLED, "out of memory", trace)
        return Failure(FailureKind.ERROR, trace.rpartition("\n")[2][:300], trace)

    def end(self, last: signal.Signals = signal.SIGKILL) -> Death:
        """Kill it, unless it is dead; `last` is the signal that it gets first. May be called again."""
        on_its_way_out = self._wire.transport is None  # then its own status is what we want
        death = self._process.end(None if on_its_way_out else last)
        self._wire.connection_lost(None)
        return death


def _fault(content: bytes) -> BitrawlError:
    """What the service raised on purpose."""
    name, _, message = content.decode("utf-8", "replace").partition("\n")
    kind = getattr(errors, name, BitrawlError)
    return kind(message) if issubclass(kind, BitrawlError) else BitrawlError(message)


class _Wire(asyncio.Protocol):
    """The parent's end: one answer to each request, and reports before it."""

    def __init__(self, largest: int) -> None:
        self.transport: asyncio.WriteTransport | None = None
        self._largest = largest
        self._received = bytearray()
        self._answer: asyncio.Future[bytes] | None = None
        self._report: Report = lambda _text: None

    async def ask(self, message: bytes, report: Report = lambda _text: None) -> bytes:
        """The frame of the answer; `ConnectionError` when there will be none."""
        if self.transport is None:
            raise ConnectionResetError
        self._report = report
        self._answer = asyncio.get_running_loop().create_future()
        self.transport.writelines((LENGTH.pack(len(message)), message))
        return await self._answer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.WriteTransport):
            self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while len(self._received) >= LENGTH.size:
            (length,) = LENGTH.unpack_from(self._received)
            if length > self._largest:
                self.connection_lost(None)
                return
            if len(self._received) < LENGTH.size + length:
                return
            frame = bytes(memoryview(self._received)[LENGTH.size : LENGTH.size + length])
            del self._received[: LENGTH.size + length]
            self._understand(frame)

    def _understand(self, frame: bytes) -> None:
        if frame[:1] == REPORT:
            self._report(frame[1:].decode("utf-8", "replace"))
        elif self._answer is not None and not self._answer.done():
            self._answer.set_result(frame)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the process's end says more
        if self.transport is not None:
            self.transport.abort()
        self.transport = None
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionResetError())
