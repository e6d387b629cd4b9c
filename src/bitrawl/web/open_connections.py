"""Connections that say nothing are closed: a request has some seconds to be sent, and an address has so many connections.

uvicorn bounds only how long a connection rests after an answer. Who opens a thousand and sends nothing would keep all others
away. Here the newest connection is always taken, and the one that has said nothing for longest makes room for it.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_log = logging.getLogger(__name__)

HEAD_SECONDS = 10.0  # for the head of a request
BODY_SECONDS = 10.0  # before the rate of a body counts
BODY_RATE = 1000  # bytes a second, in the mean: below that of the worst lines
LINGER_SECONDS = 2.0  # for who still sends a body that was refused: closed at once, the answer could be lost
CHECK_SECONDS = 2.0  # between two looks at a connection
MOST_OF_ADDRESS = 128  # connections; a browser has six, and many people may share an address
MOST = 512  # connections; the system allows a process 1,024 files as a rule
LOG_SECONDS = 60.0  # between two lines about all this


class Closed(StrEnum):
    """Why a connection was closed."""

    HEAD = "had sent no request after 10 seconds"
    BODY = "sent a request too slowly"
    REFUSED = "went on sending what was refused"
    MANY = "were more than one address, or all together, may have"


class OpenConnections:
    """All connections of one server, the oldest first, and why others were closed."""

    def __init__(self, *, of_address: int = MOST_OF_ADDRESS, most: int = MOST) -> None:
        self._of_address = of_address
        self._most = most
        self._connections: dict[PatientProtocol, str] = {}  # with the address
        self._closed: Counter[tuple[Closed, str]] = Counter()

    def add(self, connection: "PatientProtocol", address: str) -> None:
        """It makes room if there are too many: by the oldest of those that have said nothing, or else by itself."""
        self._connections[connection] = address
        crowd = [other for other, its_address in self._connections.items() if its_address == address]
        if len(crowd) <= self._of_address:
            crowd = list(self._connections)
            if len(crowd) <= self._most:
                return
        leaving = next((other for other in crowd if other.says_nothing), connection)
        leaving.close(Closed.MANY)

    def remove(self, connection: "PatientProtocol") -> None:
        self._connections.pop(connection, None)

    def note(self, why: Closed, address: str, later: Callable[[float, Callable[[], None]], object]) -> None:
        """Count it. `later` is how the line is written in a minute."""
        if not self._closed:
            later(LOG_SECONDS, self._write)
        self._closed[why, address] += 1

    def _write(self) -> None:
        reasons: Counter[Closed] = Counter()
        for (why, _), count in self._closed.items():
            reasons[why] += count
        (_, address), most = self._closed.most_common(1)[0]
        listed = "; ".join(f"{count} {why}" for why, count in reasons.most_common())
        _log.warning("connections closed in a minute: %s (%d of them from %s)", listed, most, address)
        self._closed.clear()


class PatientProtocol(H11Protocol):
    """One connection, with an end to our patience."""

    def __init__(self, *args: Any, connections: OpenConnections, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._open = connections
        self._address = ""
        self._since = 0.0  # when we began to wait for what the other side has to send now
        self._read = 0  # bytes since then
        self._awaited: object = None  # that state of h11
        self._timer: asyncio.TimerHandle | None = None

    @property
    def says_nothing(self) -> bool:
        """Whether it has not sent a whole head, the first or the next."""
        return self.conn.their_state is h11.IDLE

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's
        super().connection_made(transport)
        self._address = self.client[0] if self.client else ""
        self._wait_anew()
        self._timer = self.loop.call_later(CHECK_SECONDS, self._check)
        self._open.add(self, self._address)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._open.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._read += len(data)
        super().data_received(data)
        if self.conn.their_state is not self._awaited:
            self._wait_anew()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait_anew()

    def close(self, why: Closed) -> None:
        self._open.remove(self)
        self._open.note(why, self._address, self.loop.call_later)
        self.transport.abort()

    def _wait_anew(self) -> None:
        self._since, self._read, self._awaited = self.loop.time(), 0, self.conn.their_state

    def _check(self) -> None:
        if self.transport.is_closing():
            return
        why = self._overdue(self.loop.time() - self._since)
        if why is not None:
            self.close(why)
            return
        self._timer = self.loop.call_later(CHECK_SECONDS, self._check)

    def _overdue(self, seconds: float) -> Closed | None:
        if self.says_nothing:
            return Closed.HEAD if seconds >= HEAD_SECONDS else None
        if self.conn.their_state is not h11.SEND_BODY:
            return None  # it is our turn
        if self.cycle.response_complete:
            return Closed.REFUSED if seconds >= LINGER_SECONDS else None
        if self.cycle.body or self.flow.read_paused:  # we have not taken yet what it sent
            self._wait_anew()
            return None
        return Closed.BODY if seconds >= BODY_SECONDS and self._read < seconds * BODY_RATE else None


def patient_protocol() -> Any:
    """What uvicorn calls for each connection of one server."""
    return partial(PatientProtocol, connections=OpenConnections())
