"""A web server on loopback, in threads of this process: for tests and benchmarks that make their own web."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Reply(NamedTuple):
    status: int
    type: str
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


class QuietHandler(BaseHTTPRequestHandler):
    """Says nothing on standard error, and keeps connections open."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def reply(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in (*reply.headers, ("Content-Type", reply.type), ("Content-Length", str(len(reply.body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, *_: object) -> None: ...


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), OSError):  # A client that was killed breaks off.
            super().handle_error(request, client_address)  # type: ignore[arg-type]


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    """The port."""
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def answering(answer: Callable[[str], Reply]) -> Iterator[int]:
    """The port of a server for any host, also as a proxy. `answer` is given the whole address, without a port."""

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            path = self.path if self.path.startswith("/") else "/" + self.path.split("/", 3)[3]
            self.reply(answer(f"http://{self.headers.get('Host', '').partition(':')[0]}{path}"))

    with listening(Handler) as port:
        yield port
