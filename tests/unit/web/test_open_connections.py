"""Connections that say nothing, or too little, are closed; the others are not."""

import asyncio
import logging
from collections.abc import Callable

import pytest
import uvicorn
from uvicorn.server import ServerState

from bitrawl.web.open_connections import (
    BODY_RATE,
    BODY_SECONDS,
    CHECK_SECONDS,
    HEAD_SECONDS,
    LOG_SECONDS,
    OpenConnections,
    PatientProtocol,
)

HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"


class Clock:
    """The parts of a loop that a connection uses, with a time of its own."""

    def __init__(self) -> None:
        self.now = 0.0
        self._calls: list[tuple[float, Callable[[], None]]] = []
        self.tasks: list[object] = []

    def time(self) -> float:
        return self.now

    def call_later(self, seconds: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        self._calls.append((self.now + seconds, call))
        return asyncio.TimerHandle(0, lambda: None, [], asyncio.get_running_loop())

    def create_task(self, work) -> "asyncio.Task[None]":
        return asyncio.get_running_loop().create_task(work)

    def move(self, seconds: float) -> None:
        end = self.now + seconds
        while due := [call for call in self._calls if call[0] <= end]:
            call = min(due, key=lambda call: call[0])
            self._calls.remove(call)
            self.now = call[0]
            call[1]()
        self.now = end


class Wire(asyncio.Transport):
    """A connection to nobody."""

    def __init__(self, address: str) -> None:
        super().__init__({"peername": (address, 1), "sockname": ("127.0.0.1", 2)})
        self.closed = False

    def abort(self) -> None:
        self.closed = True

    close = abort

    def is_closing(self) -> bool:
        return self.closed

    def write(self, data: bytes) -> None:
        pass

    def pause_reading(self) -> None:
        pass

    resume_reading = pause_reading


async def read_all(_scope, receive, send) -> None:
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"ok"})


class Connecting:
    def __init__(self, *, of_address: int = 10, most: int = 100) -> None:
        self.clock = Clock()
        self._open = OpenConnections(of_address=of_address, most=most)
        self._config = uvicorn.Config(read_all, log_level="error")
        self._config.load()

    def __call__(self, address: str = "192.0.2.1") -> tuple[PatientProtocol, Wire]:
        protocol = PatientProtocol(self._config, ServerState(), {}, self.clock, connections=self._open)
        wire = Wire(address)
        protocol.connection_made(wire)
        return protocol, wire


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.fixture
def connecting() -> Connecting:
    return Connecting()


async def test_who_sends_no_head_in_time_is_closed(connecting: Connecting):
    (_, silent), (slow, drops) = connecting(), connecting()
    for letter in b"GET / HTTP/1":
        connecting.clock.move((HEAD_SECONDS - CHECK_SECONDS) / 12)
        slow.data_received(bytes([letter]))
    assert not silent.closed
    connecting.clock.move(2 * CHECK_SECONDS)
    assert silent.closed
    assert drops.closed


async def test_a_body_that_comes_too_slowly_is_closed_and_a_slow_one_is_not(connecting: Connecting):
    (first, too_slow), (second, slow) = connecting(), connecting()
    for protocol in (first, second):
        protocol.data_received(HEAD)
    for _ in range(int(2 * BODY_SECONDS)):
        connecting.clock.move(1)
        first.data_received(b"a" * (BODY_RATE // 2))
        second.data_received(b"a" * (BODY_RATE * 2))
        await settled()
    assert too_slow.closed
    assert not slow.closed


async def test_a_body_that_we_do_not_read_is_not_too_slow(connecting: Connecting):
    protocol, wire = connecting()
    protocol.data_received(HEAD + b"a")  # the app gets no chance to take it
    connecting.clock.move(100)
    assert not wire.closed
    await settled()


async def test_an_answer_may_take_long(connecting: Connecting):
    protocol, wire = connecting()
    protocol.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    connecting.clock.move(600)
    assert not wire.closed
    await settled()


async def test_of_too_many_connections_the_oldest_silent_one_goes(connecting: Connecting):
    busy, kept = connecting()
    busy.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    _, other = connecting("192.0.2.2")
    wires = [connecting()[1] for _ in range(1100)]
    assert not kept.closed
    assert not other.closed
    assert [wire.closed for wire in wires] == [True] * (1100 - 9) + [False] * 9
    await settled()


async def test_where_all_are_busy_the_new_one_goes():
    connecting = Connecting(of_address=2)
    busy = [connecting() for _ in range(2)]
    for protocol, _ in busy:
        protocol.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert connecting()[1].closed
    assert not any(wire.closed for _, wire in busy)
    await settled()


async def test_all_addresses_together_have_a_bound():
    connecting = Connecting(most=3)
    wires = [connecting(f"192.0.2.{n}")[1] for n in range(5)]
    assert [wire.closed for wire in wires] == [True, True, False, False, False]


async def test_the_log_gets_one_line_a_minute(connecting: Connecting, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.WARNING)
    for _ in range(500):
        connecting()
    connecting.clock.move(LOG_SECONDS + HEAD_SECONDS + CHECK_SECONDS)
    assert len(caplog.messages) == 1
    assert "490 were more than one address" in caplog.messages[0]
    assert "10 had sent no request after 10 seconds" in caplog.messages[0]
    assert "from 192.0.2.1" in caplog.messages[0]
    connecting.clock.move(10 * LOG_SECONDS)
    assert len(caplog.messages) == 1
