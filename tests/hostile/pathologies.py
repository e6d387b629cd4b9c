"""A server with one route for each way in which the web misbehaves.

    async with pathology_server() as base:      # base is a str, "http://127.0.0.1:PORT"
        await client.get(f"{base}/drip")
        assert len(base.asked("/drip")) == 1    # and it remembers what was asked of it

`python -m hostile.pathologies --port 8081` serves it in the foreground (with `tests` on PYTHONPATH). Nothing here is
random. A route that never ends is ended by the client; it ends too when the server is left.

The route, and what it does:

    /                         a good page that links to /ok
    /ok                       a good page
    /drip                     headers, then one byte at a time for ever            ?every=0.02
    /drip/headers             one byte of the headers at a time for ever           ?every=0.02
    /silent                   takes the request and never answers
    /endless                  a chunked body without an end
    /endless/plain            the same without chunks or length
    /big                      a body of exactly that many bytes, said so           ?bytes=1000000
    /bomb/gzip                small on the wire, hundreds of MB expanded           ?mb=300
    /bomb/deflate             the same                                             ?mb=300
    /bomb/br                  the same                                             ?mb=300
    /bomb/zstd                the same                                             ?mb=300
    /bomb/nested              gzip within gzip, a few hundred bytes on the wire    ?mb=300
    /bomb/frames              tiny frames of zstd within gzip: not large, but slow ?mb=9
    /encoded/gzip             an honest page, compressed
    /encoded/deflate          an honest page, zlib-wrapped
    /encoded/raw-deflate      an honest page, deflate without the zlib wrapper
    /encoded/br               an honest page, compressed
    /encoded/zstd             an honest page, compressed
    /encoded/nested           an honest page, gzip within gzip
    /encoded/large            an honest page of that many MB, zstd within gzip     ?mb=15
    /encoded/lie              says gzip, is plain
    /encoded/unknown          says Content-Encoding: x-rot13
    /encoded/cut              gzip that stops in the middle, with the right length
    /truncated/chunk          a chunk that announces more than comes, then the end
    /truncated/no-last-chunk  good chunks, but the last one is missing
    /truncated/length         Content-Length longer than the body
    /overlong                 Content-Length shorter than the body
    /unasked                  an answer, and at once another that nobody asked for; the connection stays open
    /bad-chunk                a chunk whose size is no number
    /garbage                  an answer that is not HTTP
    /empty                    closes without an answer
    /reset                    resets the connection in the middle of the body
    /reset/at-once            resets the connection before any answer
    /charset/utf8-as-latin1   header says iso-8859-1, the body is UTF-8
    /charset/cp1251-as-utf8   header says utf-8, the body is windows-1251
    /charset/meta-only        no charset in the header, windows-1252 in the meta element
    /charset/none             no charset anywhere, the body is Shift_JIS
    /charset/utf16            UTF-16 with a BOM, header says utf-8
    /charset/unknown          header says charset=no-such-charset, the body is UTF-8
    /type/html-as-binary      HTML as application/octet-stream
    /type/html-as-nothing     HTML without a Content-Type
    /type/pdf-as-html         a PDF as text/html
    /type/png-as-html         a PNG as text/html
    /type/pdf                 a PDF that says so
    /429/seconds              429 with Retry-After in seconds                      ?after=7
    /429/date                 429 with Retry-After as an HTTP date                 ?after=7
    /429/bare                 429 without Retry-After
    /429/then-200             429 (Retry-After) so many times, then a good page    ?times=1&after=1
    /503/then-200             503 so many times, then a good page                  ?times=1
    /503/always               503 with Retry-After                                 ?after=7
    /status                   that status                                          ?code=404
    /headers/huge             one header of that many bytes                        ?bytes=1000000
    /headers/many             that many headers                                    ?count=20000
    /headers/endless          headers without an end
    /deep                     nested elements                                      ?depth=100000
    /nul                      NULs and other control characters in the body
    /calendar                 every day links to the next and to the previous      ?day=2024-02-28
    /session                  every link carries a fresh session id                ?page=1&sid=…
    /shop                     every page links to more sorts and filters           ?sort=…&filter=…
    /maze/…                   relative links: /maze/a/b/a/b/… for ever
    /soft404/…                any path below answers 200 and the same "not found" page
    /redirect/loop            to /redirect/loop/back and from there to here
    /redirect/loop/back       the other half of the loop
    /redirect/self            to itself
    /redirect/endless         to a place that is always new                        ?n=1
    /redirect/chain           that many hops, then /ok                             ?hops=3
    /redirect/private         to http://10.0.0.1/
    /redirect/metadata        to http://169.254.169.254/latest/meta-data/
    /redirect/file            to file:///etc/passwd
    /redirect/javascript      to javascript:alert(1)
    /redirect/nowhere         302 without a Location
    /redirect/to              to that URL with that status                         ?url=/ok&code=302
    /xrobots                  X-Robots-Tag with that value                         ?say=noindex
    /xrobots/other            X-Robots-Tag: somebot: noindex, which is not for us
    /meta                     meta robots with that value                          ?name=robots&say=noindex
    /tdm/header               TDM-Reservation: 1
    /tdm/meta                 the same in a meta element
    /tdm/no                   TDM-Reservation: 0
    /cookie                   sets a cookie, redirects to /cookie/check
    /cookie/check             says in its text whether a cookie came back
    /link-header              translations declared in the HTTP Link header only
    /requests                 what was asked so far, as JSON

And by virtual host (`base.at("robots-404")` is http://robots-404.test:PORT; every one has /, /open and /closed):

    robots-404.test           no robots.txt
    robots-403.test           robots.txt is forbidden: RFC 9309 allows all
    robots-500.test           robots.txt fails: RFC 9309 disallows all
    robots-429.test           robots.txt is rate limited (Retry-After: 7)
    robots-reset.test         robots.txt resets the connection
    robots-redirect.test      robots.txt is behind a redirect
    robots-loop.test          robots.txt redirects to itself
    robots-huge.test          600 KiB: /closed stands at its head, /open beyond the limit of 500 KiB
    robots-delay.test         Crawl-delay: 2, and /closed disallowed
    robots-deny.test          all disallowed
    robots-html.test          an HTML page where robots.txt should be
    tdmrep.test               /.well-known/tdmrep.json reserves /closed
    *.endless.test            any name answers with a text of its own, and links to 500 other names
    *.alike.test              any name answers with the same text, and links to the next name
    sitemap.test              a sitemap of 20,000 pages, each with its translations: 10 MB
    soft404.test              every unknown path answers 200 and the same "not found" page
"""

import argparse
import asyncio
import contextlib
import datetime as dt
import functools
import gzip
import hashlib
import html
import inspect
import json
import socket
import struct
import time
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from typing import Self, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

import brotli

from bitrawl.files import zstd

MIB = 1 << 20


@dataclass(frozen=True)
class Request:
    """What was asked, and when."""

    method: str
    target: str  # path and query
    host: str  # without the port
    headers: tuple[tuple[str, str], ...]
    at: float  # time.monotonic()
    nth: int  # how many times this target was asked of this host, this time included

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    def header(self, name: str) -> str:
        return ", ".join(value for key, value in self.headers if key.lower() == name.lower())

    def ask(self, name: str, default: str) -> str:
        return dict(parse_qsl(self.target.partition("?")[2])).get(name, default)


class Base(str):
    """The server's address as a string, and the record of what was asked of it."""

    __slots__ = ("port", "requests", "times")

    def __new__(cls, port: int) -> Self:
        base = super().__new__(cls, f"http://127.0.0.1:{port}")
        base.port = port
        base.requests: list[Request] = []
        base.times: Counter[tuple[str, str]] = Counter()
        return base

    def at(self, name: str) -> str:
        """The address of a virtual host; the client must resolve *.test to 127.0.0.1, or use this server as proxy."""
        return f"http://{name}.test:{self.port}"

    def asked(self, path: str, *, host: str | None = None) -> list[Request]:
        """The requests for that path, in order, whatever their query."""
        return [each for each in self.requests if each.path == path and host in (None, each.host)]

    def record(self, method: str, target: str, headers: tuple[tuple[str, str], ...]) -> Request:
        host = next((value for name, value in headers if name.lower() == "host"), "")
        if not target.startswith("/"):  # absolute form, as a proxy is asked
            parts = urlsplit(target)
            host, target = parts.netloc, (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        host = host.partition(":")[0].lower()
        self.times[host, target] += 1
        request = Request(method, target, host, headers, time.monotonic(), self.times[host, target])
        self.requests.append(request)
        return request


@dataclass(frozen=True)
class Answer:
    """A well-formed answer; what is wrong with it is what it says."""

    body: bytes = b""
    status: int = 200
    type: str | None = "text/html; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)

    def head(self) -> bytes:
        lines = [f"HTTP/1.1 {self.status} {_phrase(self.status)}", f"Content-Length: {len(self.body)}"]
        lines += [f"Content-Type: {self.type}"] if self.type else []
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


@dataclass(frozen=True)
class Wire:
    """The connection itself, for what no well-formed answer can do."""

    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def start(self, *lines: str) -> None:
        await self.send("\r\n".join(["HTTP/1.1 200 OK", "Content-Type: text/html", *lines, "", ""]).encode())

    def reset(self) -> None:
        """An RST rather than a FIN: unsent data is thrown away at once."""
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Tame = Callable[[Request], Answer]
Wild = Callable[[Request, Wire], Awaitable[bool | None]]
Route = Answer | Tame | Wild

ROUTES: dict[str, Route] = {}
HOSTS: dict[str, dict[str, Route]] = {}

AnyHandler = TypeVar("AnyHandler", Tame, Wild)


def route(path: str) -> Callable[[AnyHandler], AnyHandler]:
    """A plain function makes an `Answer`; a coroutine has the wire, and the connection is closed unless it says True."""

    def register(handler: AnyHandler) -> AnyHandler:
        ROUTES[path] = handler
        return handler

    return register


@contextlib.asynccontextmanager
async def pathology_server(port: int = 0) -> AsyncIterator[Base]:
    """Serves on loopback until left; connections that are open then are dropped."""
    tasks: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(_converse(base, reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(connected, "127.0.0.1", port)
    base = Base(server.sockets[0].getsockname()[1])
    try:
        yield base
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


async def _converse(base: Base, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while await _exchange(base, reader, Wire(writer)):
            pass
        writer.close()
        await writer.wait_closed()
    except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        pass  # the client has had enough, which is what it should do here
    finally:
        writer.transport.abort()  # after a close, nothing; otherwise what the client never read goes with it


async def _exchange(base: Base, reader: asyncio.StreamReader, wire: Wire) -> bool:
    """One request and its answer; true when the connection can be used again."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = head[0].split(" ", 2)
    headers = tuple((name, value.strip()) for name, _, value in (line.partition(":") for line in head[1:] if line))
    request = base.record(method, target, headers)
    route = _route(request)
    if inspect.iscoroutinefunction(route):
        return bool(await route(request, wire))
    answer = _so_far(base) if request.path == "/requests" else route if isinstance(route, Answer) else route(request)
    await wire.send(answer.head() + (b"" if method == "HEAD" else answer.body))
    return request.header("Connection").lower() != "close"


def _route(request: Request) -> Route:
    host = HOSTS.get(request.host) or HOSTS.get(f"*.{request.host.partition('.')[2]}")
    if host is not None:
        return host.get(request.path) or host.get("*") or NOT_FOUND
    exact = ROUTES.get(request.path)
    if exact is not None:
        return exact
    below = next((path for path in ROUTES if path.endswith("/…") and request.path.startswith(path[:-1])), None)
    return ROUTES[below] if below else NOT_FOUND


NOT_FOUND = Answer(b"<title>404</title><p>Not here.</p>", 404)


def _so_far(base: Base) -> Answer:
    rows = [
        {"target": each.target, "host": each.host, "headers": each.headers, "at": each.at} for each in base.requests
    ]
    return Answer(json.dumps(rows).encode(), type="application/json")


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


# What the good pages say: real sentences, so that language identification has something to go by.
PROSE = (
    "The lighthouse on the northern pier was lit for the first time in 1847, and its keeper climbed two hundred and "
    "twelve steps every evening to trim the lamp. When the light was made automatic, the stairs stayed open to "
    "visitors, who come for the view over the estuary and for the small exhibition in the old oil store."
)


def page(*paragraphs: str, title: str = "A page", head: str = "", links: tuple[str, ...] = ()) -> str:
    """An ordinary HTML page; paragraphs and head are markup, links are addresses."""
    items = "".join(f'<li><a href="{html.escape(link)}">{html.escape(link)}</a></li>' for link in links)
    body = "".join(f"<p>{each}</p>" for each in paragraphs or (PROSE,))
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><title>{title}</title>{head}</head>'
        f"<body><h1>{title}</h1>{body}<ul>{items}</ul></body></html>\n"
    )


def _good(*paragraphs: str, **more: object) -> Answer:
    return Answer(page(*paragraphs, **more).encode())  # type: ignore[arg-type]


ROUTES |= {
    "/": _good(title="Home", links=("/ok",)),
    "/ok": _good(title="All is well"),
}


# Slow and endless. The pauses are the server's; a test sets the client's limits below them.


@route("/drip")
async def drip(request: Request, wire: Wire) -> None:
    await wire.start("Content-Length: 100000000")
    await _trickle(request, wire, b"a")


@route("/drip/headers")
async def drip_headers(request: Request, wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    await _trickle(request, wire, b"a")


async def _trickle(request: Request, wire: Wire, drop: bytes) -> None:
    every = float(request.ask("every", "0.02"))
    while True:
        await wire.send(drop)
        await asyncio.sleep(every)


@route("/silent")
async def silent(request: Request, wire: Wire) -> None:
    await asyncio.Event().wait()


@route("/endless")
async def endless(request: Request, wire: Wire) -> None:
    await wire.start("Transfer-Encoding: chunked")
    await _flood(wire, _chunk(b"<p>" + PROSE.encode() + b"</p>\n"))


@route("/endless/plain")
async def endless_plain(request: Request, wire: Wire) -> None:
    await wire.start("Connection: close")
    await _flood(wire, b"<p>" + PROSE.encode() + b"</p>\n")


async def _flood(wire: Wire, data: bytes) -> None:
    block = data * (65536 // len(data) + 1)
    while True:
        await wire.send(block)
        await asyncio.sleep(0)  # drain() returns at once while there is room: let the client have its turn


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


@route("/big")
def big(request: Request) -> Answer:
    return Answer(b"<p>" + b"x" * (int(request.ask("bytes", "1000000")) - 3))


# Compressed.


def _bombs(encoding: str) -> Tame:
    return lambda request: _bomb(encoding, int(request.ask("mb", "300")))


ROUTES |= {
    "/bomb/gzip": _bombs("gzip"),
    "/bomb/deflate": _bombs("deflate"),
    "/bomb/br": _bombs("br"),
    "/bomb/zstd": _bombs("zstd"),
    "/bomb/nested": _bombs("gzip, gzip"),
}


@route("/bomb/frames")
def frames(request: Request) -> Answer:
    some = b"".join(zstd.compress(b"word %d " % number) for number in range(500))
    many = some * (int(request.ask("mb", "9")) * MIB // len(some))
    return Answer(gzip.compress(many, 1, mtime=0), headers={"Content-Encoding": "zstd, gzip"})


@functools.cache
def _bomb(encoding: str, mib: int) -> Answer:
    return Answer(_compressed_zeros(encoding, mib), headers={"Content-Encoding": encoding})


def _compressed_zeros(encoding: str, mib: int) -> bytes:
    if encoding == "gzip, gzip":
        return gzip.compress(_compressed_zeros("gzip", mib), mtime=0)
    if encoding in ("gzip", "deflate"):
        return _deflated_zeros(encoding, mib)
    if encoding == "br":
        packer = brotli.Compressor(quality=2, lgwin=24)
        return b"".join([*(packer.process(bytes(MIB)) for _ in range(mib)), packer.finish()])
    return zstd.compress(bytes(MIB * mib), level=1)


def _deflated_zeros(encoding: str, mib: int) -> bytes:
    """After a full flush a block stands alone: one is compressed, and repeated. Ten times faster than the honest way."""
    packer = zlib.compressobj(9, wbits=-15)
    block = packer.compress(bytes(MIB)) + packer.flush(zlib.Z_FULL_FLUSH)
    body = block * mib + zlib.compressobj(wbits=-15).flush()
    checksum = functools.reduce(lambda sum_, _: zlib.crc32(bytes(MIB), sum_), range(mib), 0)
    if encoding == "gzip":
        return b"\x1f\x8b\x08" + bytes(6) + b"\xff" + body + struct.pack("<II", checksum, MIB * mib & 0xFFFFFFFF)
    # Adler-32 of n zeros: the low half stays 1, the high half counts them.
    return b"\x78\x9c" + body + struct.pack(">HH", MIB * mib % 65521, 1)


_HONEST = page(title="Compressed honestly").encode()
_GZIPPED = gzip.compress(_HONEST, mtime=0)


ROUTES |= {
    "/encoded/gzip": Answer(_GZIPPED, headers={"Content-Encoding": "gzip"}),
    "/encoded/deflate": Answer(zlib.compress(_HONEST), headers={"Content-Encoding": "deflate"}),
    "/encoded/raw-deflate": Answer(zlib.compress(_HONEST, wbits=-15), headers={"Content-Encoding": "deflate"}),
    "/encoded/br": Answer(brotli.compress(_HONEST), headers={"Content-Encoding": "br"}),
    "/encoded/zstd": Answer(zstd.compress(_HONEST), headers={"Content-Encoding": "zstd"}),
    "/encoded/nested": Answer(gzip.compress(_GZIPPED, mtime=0), headers={"Content-Encoding": "gzip, gzip"}),
    "/encoded/lie": Answer(_HONEST, headers={"Content-Encoding": "gzip"}),
    "/encoded/unknown": Answer(_HONEST, headers={"Content-Encoding": "x-rot13"}),
    "/encoded/cut": Answer(_GZIPPED[: len(_GZIPPED) // 2], headers={"Content-Encoding": "gzip"}),
}


@route("/encoded/large")
def large(request: Request) -> Answer:
    rows = b"".join(b"<tr><td>%d<td>%d</tr>" % (n, n * n) for n in range(int(request.ask("mb", "15")) * 33_000))
    body = gzip.compress(zstd.compress(b"<table>" + rows), 1, mtime=0)
    return Answer(body, headers={"Content-Encoding": "zstd, gzip"})


# Broken off and malformed.


@route("/truncated/chunk")
async def truncated_chunk(request: Request, wire: Wire) -> None:
    await wire.start("Transfer-Encoding: chunked")
    await wire.send(b"ffff\r\n" + _HONEST)


@route("/truncated/no-last-chunk")
async def truncated_no_last_chunk(request: Request, wire: Wire) -> None:
    await wire.start("Transfer-Encoding: chunked")
    await wire.send(_chunk(_HONEST))


@route("/truncated/length")
async def truncated_length(request: Request, wire: Wire) -> None:
    await wire.start(f"Content-Length: {len(_HONEST) + 5000}")
    await wire.send(_HONEST)


@route("/overlong")
async def overlong(request: Request, wire: Wire) -> None:
    await wire.start(f"Content-Length: {len(_HONEST) - 20}")
    await wire.send(_HONEST)


SMUGGLED = b"This text was never asked for."


@route("/unasked")
async def unasked(request: Request, wire: Wire) -> bool:
    await wire.send(Answer(_HONEST).head() + _HONEST)
    await wire.send(Answer(SMUGGLED).head() + SMUGGLED)
    return True


@route("/bad-chunk")
async def bad_chunk(request: Request, wire: Wire) -> None:
    await wire.start("Transfer-Encoding: chunked")
    await wire.send(b"zz\r\n" + _HONEST + b"\r\n0\r\n\r\n")


@route("/garbage")
async def garbage(request: Request, wire: Wire) -> None:
    await wire.send(b"\x16\x03\x01\x00this was never HTTP\r\n\r\n" + bytes(range(256)))


@route("/empty")
async def empty(request: Request, wire: Wire) -> None:
    """The connection is closed after it, which is all."""


@route("/reset")
async def reset(request: Request, wire: Wire) -> None:
    await wire.start(f"Content-Length: {len(_HONEST) + 5000}")
    await wire.send(_HONEST)
    wire.reset()


@route("/reset/at-once")
async def reset_at_once(request: Request, wire: Wire) -> None:
    wire.reset()


# What a page says of its bytes.

FRENCH = "Le phare fut allumé à l’été 1847 ; le gardien, très âgé, gravissait chaque soir deux cent douze marches."
RUSSIAN = "Маяк впервые зажгли в 1847 году, и смотритель каждый вечер поднимался по двумстам двенадцати ступеням."
JAPANESE = "灯台は一八四七年に初めて灯され、灯台守は毎晩二百十二段の階段を上って灯りの手入れをした。"


ROUTES |= {
    "/charset/utf8-as-latin1": Answer(page(FRENCH).encode(), type="text/html; charset=iso-8859-1"),
    "/charset/cp1251-as-utf8": Answer(page(RUSSIAN).encode("cp1251"), type="text/html; charset=utf-8"),
    "/charset/meta-only": Answer(page(FRENCH, head='<meta charset="windows-1252">').encode("cp1252"), type="text/html"),
    "/charset/none": Answer(page(JAPANESE).encode("shift_jis"), type="text/html"),
    "/charset/utf16": Answer(page(FRENCH).encode("utf-16")),
    "/charset/unknown": Answer(page(FRENCH).encode(), type="text/html; charset=no-such-charset"),
    "/type/html-as-binary": Answer(_HONEST, type="application/octet-stream"),
    "/type/html-as-nothing": Answer(_HONEST, type=None),
}


_PDF = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
_PNG = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"
    + bytes(200)
)


ROUTES |= {
    "/type/pdf-as-html": Answer(_PDF),
    "/type/png-as-html": Answer(_PNG),
    "/type/pdf": Answer(_PDF, type="application/pdf"),
}


# Not now.


@route("/429/seconds")
def too_many_seconds(request: Request) -> Answer:
    return Answer(status=429, headers={"Retry-After": request.ask("after", "7")})


@route("/429/date")
def too_many_date(request: Request) -> Answer:
    return Answer(
        status=429, headers={"Retry-After": formatdate(time.time() + float(request.ask("after", "7")), usegmt=True)}
    )


ROUTES["/429/bare"] = Answer(status=429)


@route("/429/then-200")
def too_many_then_ok(request: Request) -> Answer:
    if request.nth <= int(request.ask("times", "1")):
        return Answer(status=429, headers={"Retry-After": request.ask("after", "1")})
    return _good(title="Patience rewarded")


@route("/503/then-200")
def unavailable_then_ok(request: Request) -> Answer:
    return Answer(status=503) if request.nth <= int(request.ask("times", "1")) else _good(title="Back again")


@route("/503/always")
def unavailable(request: Request) -> Answer:
    return Answer(status=503, headers={"Retry-After": request.ask("after", "7")})


@route("/status")
def status(request: Request) -> Answer:
    return Answer(page(title="As you wish").encode(), status=int(request.ask("code", "404")))


# Headers.


@route("/headers/huge")
async def huge_header(request: Request, wire: Wire) -> None:
    await wire.start("X-Huge: " + "h" * int(request.ask("bytes", "1000000")), f"Content-Length: {len(_HONEST)}")
    await wire.send(_HONEST)


@route("/headers/many")
async def many_headers(request: Request, wire: Wire) -> None:
    count = int(request.ask("count", "20000"))
    await wire.start(*(f"X-{n}: {n}" for n in range(count)), f"Content-Length: {len(_HONEST)}")
    await wire.send(_HONEST)


@route("/headers/endless")
async def endless_headers(request: Request, wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 200 OK\r\n")
    await _flood(wire, b"X-And-On: and on and on\r\n")


# Bodies that hurt a parser.


@route("/deep")
def deep(request: Request) -> Answer:
    depth = int(request.ask("depth", "100000"))
    return Answer(b"<title>Deep</title>" + b"<div>" * depth + b"<p>" + PROSE.encode() + b"</p>" + b"</div>" * depth)


ROUTES["/nul"] = _good(PROSE.replace("lamp", "la\0mp"), "A bell\x07, an escape\x1b and a lone\x00 NUL.", title="N\0UL")


# Traps: each page is good, and there is always one more.


@route("/calendar")
def calendar(request: Request) -> Answer:
    day = dt.date.fromisoformat(request.ask("day", "2024-02-28"))
    one = dt.timedelta(days=1)
    near = tuple(f"/calendar?day={each}" for each in (day - one, day + one))
    return _good(f"Nothing is planned for {day:%A}, {day.day} {day:%B %Y}.", title=f"Calendar: {day}", links=near)


@route("/session")
def session(request: Request) -> Answer:
    """Five pages; each visit hands out ids that were never seen before."""
    number = int(request.ask("page", "1"))
    seed = f"{request.target}#{request.nth}"
    links = tuple(
        f"/session?page={n}&sid={hashlib.sha256(f'{seed}#{n}'.encode()).hexdigest()[:32]}" for n in range(1, 6)
    )
    return _good(f"This is page {number} of five. {PROSE}", title=f"Page {number}", links=links)


@route("/shop")
def shop(request: Request) -> Answer:
    chosen = parse_qsl(request.target.partition("?")[2])
    more = [
        ("sort", "price"),
        ("sort", "name"),
        ("sort", "age"),
        ("filter", "red"),
        ("filter", "blue"),
        ("view", "grid"),
    ]
    more += [("page", str(len(chosen) + 1)), ("per", str(10 * len(chosen) + 10))]
    links = tuple(f"/shop?{urlencode([*chosen, each])}" for each in more)
    return _good("Our lamps, lanterns and lenses, all from the same three makers.", title="Shop", links=links)


ROUTES |= {
    "/maze/…": _good(title="A turning", links=("a/", "b/")),
    "/soft404/…": _good(
        "We are sorry: the page that you asked for cannot be found. Try the search, or go home.", title="Oops"
    ),
}


# Redirects.


def _redirect(target: str, code: int = 302, **headers: str) -> Answer:
    return Answer(status=code, headers={"Location": target, **headers})


ROUTES |= {
    "/redirect/loop": _redirect("/redirect/loop/back"),
    "/redirect/loop/back": _redirect("/redirect/loop"),
    "/redirect/self": _redirect("/redirect/self"),
}


@route("/redirect/endless")
def ever_new(request: Request) -> Answer:
    return _redirect(f"/redirect/endless?n={int(request.ask('n', '1')) + 1}")


@route("/redirect/chain")
def chain(request: Request) -> Answer:
    hops = int(request.ask("hops", "3"))
    return _redirect(f"/redirect/chain?hops={hops - 1}" if hops > 1 else "/ok")


ROUTES |= {
    "/redirect/private": _redirect("http://10.0.0.1/"),
    "/redirect/metadata": _redirect("http://169.254.169.254/latest/meta-data/"),
    "/redirect/file": _redirect("file:///etc/passwd"),
    "/redirect/javascript": _redirect("javascript:alert(1)"),
    "/redirect/nowhere": Answer(status=302),
}


@route("/redirect/to")
def redirect_to(request: Request) -> Answer:
    return _redirect(request.ask("url", "/ok"), int(request.ask("code", "302")))


# What a page asks of robots.


@route("/xrobots")
def x_robots(request: Request) -> Answer:
    return Answer(page(links=("/ok",)).encode(), headers={"X-Robots-Tag": request.ask("say", "noindex")})


ROUTES["/xrobots/other"] = Answer(page(links=("/ok",)).encode(), headers={"X-Robots-Tag": "somebot: noindex, nofollow"})


@route("/meta")
def meta(request: Request) -> Answer:
    name, say = html.escape(request.ask("name", "robots")), html.escape(request.ask("say", "noindex"))
    return _good(head=f'<meta name="{name}" content="{say}">', links=("/ok",))


ROUTES |= {
    "/tdm/header": Answer(
        page().encode(), headers={"TDM-Reservation": "1", "TDM-Policy": "https://example.org/policy.json"}
    ),
    "/tdm/meta": _good(head='<meta name="tdm-reservation" content="1">'),
    "/tdm/no": Answer(page().encode(), headers={"TDM-Reservation": "0"}),
    "/cookie": _redirect("/cookie/check", **{"Set-Cookie": "visitor=42; Path=/"}),
}


@route("/cookie/check")
def cookie_check(request: Request) -> Answer:
    return _good("A cookie came back." if request.header("Cookie") else "No cookie came back.")


@route("/link-header")
def link_header(request: Request) -> Answer:
    header = '</link-header>; rel="alternate"; hreflang="en", </ok?lang=fr>; rel="alternate"; hreflang="fr"'
    return Answer(page().encode(), headers={"Link": header})


ROUTES["/requests"] = Answer()  # the record is filled in by _exchange


# Virtual hosts.


def _robots(text: str, code: int = 200, **headers: str) -> Answer:
    return Answer(text.encode(), code, "text/plain; charset=utf-8", headers)


def _site(**at: Route) -> dict[str, Route]:
    pages: dict[str, Route] = {
        "/": _good(title="Home", links=("/open", "/closed")),
        "/open": _good(title="Open"),
        "/closed": _good(title="Closed"),
    }
    return pages | at


@functools.cache
def _sitemap_entries(origin: str) -> bytes:
    entries = []
    for number in range(5_000):
        pages = {code: f"{origin}/{code}/a-page-with-a-rather-long-name-{number}" for code in ("en", "fr", "de", "es")}
        links = "".join(f'<x:link rel="alternate" hreflang="{code}" href="{page}"/>' for code, page in pages.items())
        entries += [f"<url><loc>{page}</loc>{links}</url>\n" for page in pages.values()]
    return "".join(entries).encode()


def _long_sitemap(request: Request) -> Answer:
    entries = _sitemap_entries(f"http://{request.header('Host')}")
    return Answer(b'<urlset xmlns:x="http://www.w3.org/1999/xhtml">' + entries + b"</urlset>", type="text/xml")


def _endless(request: Request) -> Answer:
    name, _, domain = request.header("Host").partition(".")
    links = tuple(f"http://{hashlib.sha256(f'{name}{n}'.encode()).hexdigest()[:8]}.{domain}/" for n in range(500))
    letters = hashlib.sha256(name.encode()).hexdigest().translate(str.maketrans("0123456789", "ghijklmnop"))
    return _good(" ".join(letters[at : at + 5] for at in range(0, 60, 4)), title="A host", links=links)


def _alike(request: Request) -> Answer:
    name, _, domain = request.header("Host").partition(".")
    return _good(title="A host", links=(f"http://{hashlib.sha256(name.encode()).hexdigest()[:8]}.{domain}/",))


_CLOSED = "User-agent: *\nDisallow: /closed\n"
_PADDING = "# " + "x" * 77 + "\n"

HOSTS |= {
    "robots-404.test": _site(),
    "robots-403.test": _site(**{"/robots.txt": _robots("no", 403)}),
    "robots-500.test": _site(**{"/robots.txt": _robots("oh dear", 500)}),
    "robots-429.test": _site(**{"/robots.txt": _robots("later", 429, **{"Retry-After": "7"})}),
    "robots-reset.test": _site(**{"/robots.txt": reset_at_once}),
    "robots-redirect.test": _site(
        **{
            "/robots.txt": _redirect("/elsewhere/robots.txt", 301),
            "/elsewhere/robots.txt": _robots(_CLOSED),
        }
    ),
    "robots-loop.test": _site(**{"/robots.txt": _redirect("/robots.txt")}),
    "robots-huge.test": _site(
        **{"/robots.txt": _robots(_CLOSED + _PADDING * (600 * 1024 // len(_PADDING)) + "Disallow: /open\n")}
    ),
    "robots-delay.test": _site(**{"/robots.txt": _robots("User-agent: *\nCrawl-delay: 2\nDisallow: /closed\n")}),
    "robots-deny.test": _site(**{"/robots.txt": _robots("User-agent: *\nDisallow: /\n")}),
    "robots-html.test": _site(**{"/robots.txt": _good(title="Welcome")}),
    "tdmrep.test": _site(
        **{
            "/.well-known/tdmrep.json": Answer(
                json.dumps([{"location": "/closed", "tdm-reservation": 1}]).encode(), type="application/json"
            )
        }
    ),
    "*.endless.test": {"/": _endless, "/robots.txt": NOT_FOUND},
    "*.alike.test": {"/": _alike, "/robots.txt": NOT_FOUND},
    "sitemap.test": _site(**{"/sitemap.xml": _long_sitemap}),
    "soft404.test": _site(**{"*": ROUTES["/soft404/…"], "/robots.txt": NOT_FOUND}),
}


async def _forever(port: int) -> None:
    async with pathology_server(port) as base:
        print(base, flush=True)  # noqa: T201 - the one thing that a parent process needs to know
        await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Serve the pathologies on loopback.")
    parser.add_argument("--port", type=int, default=0)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_forever(parser.parse_args().port))
