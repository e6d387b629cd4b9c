"""Connections that are used again only while the server has sent nothing that nobody asked for."""

import os
import socket
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from types import SimpleNamespace
from weakref import WeakSet

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ClientRequest, ConnectionKey
from aiohttp.connector import Connection
from aiohttp.tracing import Trace


class CleanConnector(aiohttp.TCPConnector):
    """Bytes that came before a request can never be its answer.

    aiohttp asks whether a pooled connection is open, and not whether something lies unread on it: an answer that the
    server sent unasked would be taken for that of the next request. Here such a connection is closed, and the request
    goes over a new one. A host that did so gets one request per connection from then on, so that nothing it sends late
    can be mistaken either.

    aiohttp limits the connections in use, and not those that are kept open for a next request. Here at most half as many
    more are open as may be in use, so that thousands of hosts cannot use up the file descriptors of the process: before
    another is opened, the one that has been kept longest is closed.
    """

    def __init__(self, *, limit: int, **options: object) -> None:
        super().__init__(limit=limit, **options)  # type: ignore[arg-type]
        self._most_open = limit * 3 // 2
        self._used: WeakSet[ResponseHandler] = WeakSet()
        self._once: set[str] = set()  # hosts that get one request per connection

    async def connect(
        self,
        req: ClientRequest,
        traces: list[Trace],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 (it is the parent class that says so)
    ) -> Connection:
        while True:
            self._make_room(req.connection_key)
            connection = await super().connect(req, traces, timeout)
            protocol = connection.protocol
            if protocol is None or protocol not in self._used:
                break
            found = _leftover(protocol)
            if found is Leftover.NOTHING:
                break
            if found is Leftover.BYTES:
                self.distrust(req.host)
            connection.close()
        if protocol is not None:
            self._used.add(protocol)
            if req.host in self._once:
                protocol.force_close()
        return connection

    def _make_room(self, wanted: ConnectionKey) -> None:
        if wanted in self._conns:
            return
        too_many = 1 + len(self._acquired) + sum(map(len, self._conns.values())) - self._most_open
        for key in islice([*self._conns], max(0, too_many)):
            kept = self._conns[key]
            kept.popleft()[0].close()
            if not kept:
                del self._conns[key]

    def distrust(self, host: str) -> bool:
        """From now on one request per connection; False when that was so before."""
        new = host not in self._once
        self._once.add(host)
        return new


class Leftover(Enum):
    """What lies on a connection between an answer and the next request."""

    NOTHING = "nothing"
    BYTES = "bytes"  # that nobody asked for
    UNKNOWN = "unknown"  # its end, or bytes of TLS that may be no more than its own


def _leftover(protocol: ResponseHandler) -> Leftover:
    if protocol.should_close:
        return Leftover.BYTES
    transport = protocol.transport
    if transport is None:
        return Leftover.UNKNOWN
    # The event loop may not have read yet what has arrived.
    handle = transport.get_extra_info("socket").fileno()
    with socket.socket(fileno=os.dup(handle)) as peeked:
        try:
            waiting = peeked.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return Leftover.NOTHING
        except OSError:
            return Leftover.UNKNOWN
    plain = transport.get_extra_info("ssl_object") is None
    return Leftover.BYTES if waiting and plain else Leftover.UNKNOWN


@dataclass
class Attempt:
    """One request, and whether its connection had been used before."""

    reused: bool = False


def noting_reuse() -> aiohttp.TraceConfig:
    """For a session whose requests carry an `Attempt` as their `trace_request_ctx`."""

    async def reused(_session: aiohttp.ClientSession, context: SimpleNamespace, _: object) -> None:
        context.trace_request_ctx.reused = True

    trace = aiohttp.TraceConfig()
    trace.on_connection_reuseconn.append(reused)
    return trace
