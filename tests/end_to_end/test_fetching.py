"""The promises about fetching, each kept against a server that does its worst.

One test for each; where the promise needs no wire it is kept in tests/unit (addresses, decompress, sniff, robots).
"""

import asyncio
import base64
import contextlib
import socket
import ssl
import threading
import time
import tracemalloc

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey
from hostile.pathologies import ROUTES, SMUGGLED, pathology_server

from bitrawl import __version__
from bitrawl.bodies import MIB
from bitrawl.crawling import FetchSettings, HttpFetcher, Politeness, RobotsFetcher, Routes
from bitrawl.crawling.connections import GuardedResolver, Proxies
from bitrawl.crawling.fetch import failure
from bitrawl.errors import ConfigError, UrlError
from bitrawl.model import Capture, Link, LinkKind, Skip
from bitrawl.reasons import Reason, Stage
from bitrawl.testing import FakeClock
from bitrawl.url import Url

KEY = ConnectionKey("a.org", 80, False, True, None, None, None)


class Clock:
    def now(self):
        return time.monotonic()

    def date(self):
        return time.time()

    async def sleep(self, seconds):
        assert seconds == 0


def settings(base, **more):
    return FetchSettings(allow_private=True, connect_to={"*.test": f"127.0.0.1:{base.port}"}, **more)


@contextlib.asynccontextmanager
async def fetching(**more):
    """The server, and a function from a path or an address to what the fetcher makes of it."""
    async with pathology_server() as base, HttpFetcher(settings(base, **more), Clock()) as fetcher:

        async def fetch(target, kind=LinkKind.PAGE):
            return await fetcher.fetch(Link(Url.parse(target, base=Url.parse(base)), kind))

        yield base, fetch


async def outcome(target, **more):
    async with fetching(**more) as (_, fetch):
        return await fetch(target)


# One page costs one page.

IMPATIENT = {"timeout": 0.4, "read_time": 0.2}


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/drip", Reason.TIMEOUT),
        ("/drip/headers", Reason.TIMEOUT),
        ("/silent", Reason.TIMEOUT),
        ("/endless", Reason.TOO_LARGE),
        ("/endless/plain", Reason.TOO_LARGE),
        ("/big?bytes=10100000", Reason.TOO_LARGE),
        ("/bomb/gzip?mb=64", Reason.BOMB),
        ("/bomb/deflate?mb=64", Reason.BOMB),
        ("/bomb/br?mb=64", Reason.BOMB),
        ("/bomb/zstd?mb=64", Reason.BOMB),
        ("/bomb/nested?mb=64", Reason.BOMB),
        ("/encoded/lie", Reason.CONTENT_ENCODING),
        ("/encoded/cut", Reason.CONTENT_ENCODING),
        ("/truncated/chunk", Reason.CONNECTION),
        ("/truncated/no-last-chunk", Reason.CONNECTION),
        ("/truncated/length", Reason.CONNECTION),
        ("/bad-chunk", Reason.HTTP_ERROR),
        ("/garbage", Reason.HTTP_ERROR),
        ("/empty", Reason.CONNECTION),
        ("/reset", Reason.CONNECTION),
        ("/reset/at-once", Reason.CONNECTION),
        ("/headers/huge", Reason.HTTP_ERROR),
        ("/headers/many", Reason.HTTP_ERROR),
        ("/headers/endless", Reason.HTTP_ERROR),
        ("/type/png-as-html", Reason.CONTENT_TYPE),
        ("/redirect/nowhere", Reason.HTTP_STATUS),
        ("http://nobody.invalid/", Reason.DNS),
        ("http://127.0.0.1:1/", Reason.CONNECTION),
    ],
)
async def test_whatever_the_server_does_costs_one_page_and_has_a_reason(path, reason):
    more = IMPATIENT if reason is Reason.TIMEOUT else {}
    async with fetching(**more) as (_, fetch):
        answer = await fetch(path)
        assert isinstance(answer, Skip)
        assert (answer.stage, answer.reason) == (Stage.FETCH, reason)
        assert isinstance(await fetch("/ok"), Capture)


@pytest.mark.parametrize("path", [path.replace("…", "x") for path in ROUTES])
async def test_no_route_raises(path):
    answer = await outcome(path, **IMPATIENT)
    assert isinstance(answer, Capture | Skip)


@pytest.mark.parametrize("path", ["/endless", "/headers/endless", "/bomb/br?mb=64"])
async def test_memory_stays_small_whatever_comes(path):
    async with fetching() as (_, fetch):
        await fetch(path)  # the server makes its bomb once
        tracemalloc.start()
        try:
            await fetch(path)
            assert tracemalloc.get_traced_memory()[1] < 40 * MIB
        finally:
            tracemalloc.stop()


async def test_the_bodies_of_one_host_are_expanded_in_slices_between_those_of_others(monkeypatch):
    async with fetching() as (_, fetch):
        turns = []
        sleep = asyncio.sleep
        monkeypatch.setattr(asyncio, "sleep", lambda seconds: sleep(turns.append(seconds) or seconds))
        answer = await fetch("/encoded/large?mb=15")
    assert len(answer.body) > 10 * MIB
    assert turns.count(0) >= len(answer.body) // (2 * MIB)


async def test_a_slow_drip_ends_with_the_timeout():
    started = time.monotonic()
    answer = await outcome("/drip?every=0.01", timeout=0.3, read_time=10)
    assert answer.reason is Reason.TIMEOUT
    assert time.monotonic() - started < 3


async def test_a_cancellation_passes():
    asked = asyncio.Event()

    async def silent(reader, writer):
        asked.set()
        await reader.read()
        writer.close()

    async with own_server(silent) as port, fetching() as (_, fetch):
        task = asyncio.create_task(fetch(f"http://127.0.0.1:{port}/"))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_what_cannot_be_used_is_not_downloaded():
    async def flood(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n\x89PNG\r\n\x1a\n")
        with contextlib.suppress(ConnectionError):
            while sum(sent) < 50 * MIB:
                writer.write(bytes(65536))
                sent.append(65536)
                await writer.drain()
        writer.close()

    sent = []
    async with own_server(flood) as port:
        answer = await outcome(f"http://127.0.0.1:{port}/")
    assert (answer.reason, answer.detail) == (Reason.CONTENT_TYPE, "image/png")
    assert sum(sent) < 10 * MIB


@contextlib.asynccontextmanager
async def own_server(converse, **options):
    server = await asyncio.start_server(converse, "127.0.0.1", 0, **options)
    async with server:
        yield server.sockets[0].getsockname()[1]


def says_once(head):
    """A conversation: any request has that answer."""

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head + b"\r\n\r\n")
        writer.close()

    return answer


# What was sent unasked is no answer.


class Smuggler:
    """A conversation: an answer to each request, and more than that on the first connection, `when` it is told."""

    FIRST, SECOND = b"the first", b"the second"
    UNASKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n\r\nsmuggled"

    def __init__(self, with_the_answer=b"", before_the_next=b""):
        self.writers = []
        self._with_the_answer = with_the_answer
        self._before_the_next = before_the_next

    async def __call__(self, reader, writer):
        self.writers.append(writer)
        first = len(self.writers) == 1
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            for body in (self.FIRST if first else self.SECOND, self.SECOND, self.SECOND):
                await reader.readuntil(b"\r\n\r\n")
                before = self._before_the_next if first and body == self.SECOND else b""
                head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % len(body)
                writer.write(before + head + body + (self._with_the_answer if first else b""))
        writer.close()

    def send_unasked(self):
        self.writers[0].write(self.UNASKED)

    @contextlib.asynccontextmanager
    async def serving(self):
        """And a function that asks it for a page."""
        async with own_server(self) as port, fetching() as (_, fetch):
            yield lambda path: fetch(f"http://127.0.0.1:{port}{path}")
            for writer in self.writers:
                writer.close()
                with contextlib.suppress(ConnectionError):
                    await writer.wait_closed()


@pytest.mark.parametrize("turns", [0, 5])
async def test_an_answer_that_nobody_asked_for_is_not_that_of_the_next_request(turns):
    """With no turn of the event loop in between it lies in the kernel, with some it has been read."""
    server = Smuggler()
    async with server.serving() as fetch:
        assert (await fetch("/1")).body == server.FIRST
        server.send_unasked()
        for _ in range(turns):
            await asyncio.sleep(0)
        assert (await fetch("/2")).body == server.SECOND
        assert (await fetch("/3")).body == server.SECOND
    assert len(server.writers) == 3  # one request per connection, once it was caught


@pytest.mark.parametrize(
    ("with_the_answer", "before_the_next"),
    [(Smuggler.UNASKED, b""), (Smuggler.UNASKED[:-5], b""), (Smuggler.UNASKED[:30], Smuggler.UNASKED[30:])],
    ids=["whole", "without its end", "half a head"],
)
async def test_what_comes_in_one_packet_with_an_answer_is_not_part_of_the_next(with_the_answer, before_the_next):
    server = Smuggler(with_the_answer, before_the_next)
    async with server.serving() as fetch:
        answers = [await fetch(f"/{n}") for n in range(3)]
    assert [each.body for each in answers] == [server.FIRST, server.SECOND, server.SECOND]


async def test_pages_of_a_host_that_sends_more_than_it_was_asked_for_are_its_own():
    async with fetching() as (base, fetch):
        pages = [await fetch(path) for path in ("/unasked", "/ok", "/unasked?again", "/", "/ok?again")]
        assert [each.path for each in base.requests] == ["/unasked", "/ok", "/unasked", "/", "/ok"]
    assert not any(SMUGGLED in each.body for each in pages)
    assert b"All is well" in pages[1].body


# What comes back is what was sent.


@pytest.mark.parametrize("coding", ["gzip", "deflate", "raw-deflate", "br", "zstd", "nested", "unknown"])
async def test_a_compressed_page_is_expanded_and_its_payload_kept_as_sent(coding):
    answer = await outcome(f"/encoded/{coding}")
    assert b"<title>Compressed honestly</title>" in answer.body
    assert (answer.payload == answer.body) == (coding == "unknown")
    assert len(answer.payload) == int(answer.header("Content-Length"))


@pytest.mark.parametrize(
    "path",
    ["/type/html-as-binary", "/type/html-as-nothing", "/charset/utf16", "/charset/none", "/nul", "/deep?depth=1000"],
)
async def test_html_is_a_page_whatever_its_header_says(path):
    assert (await outcome(path)).media_type == "text/html"


async def test_headers_are_kept_in_order_and_the_request_as_sent():
    async with fetching(languages=("fr", "en")) as (base, fetch):
        answer = await fetch("/tdm/header?q=%C3%A9")
        (asked,) = base.requests
    names = [name for name, _ in answer.headers]
    assert names == ["Content-Length", "Content-Type", "TDM-Reservation", "TDM-Policy"]
    head = answer.request.decode().split("\r\n")
    assert head[0] == "GET /tdm/header?q=%C3%A9 HTTP/1.1"
    assert head[1:-2] == [f"{name}: {value}" for name, value in asked.headers]
    assert head[-2:] == ["", ""]
    assert answer.ip == "127.0.0.1"
    assert answer.at > 0


# An honest visitor.


async def test_the_user_agent_is_honest_and_has_a_contact():
    async with fetching(contact="me@example.org") as (base, fetch):
        await fetch("/ok")
        assert base.requests[0].header("User-Agent") == f"bitrawl/{__version__} (+me@example.org)"
    async with fetching() as (base, fetch):
        await fetch("/ok")
        assert base.requests[0].header("User-Agent").startswith(f"bitrawl/{__version__} (+https://")


@pytest.mark.parametrize("contact", [" ", "a\r\nX-Injected: 1", "(x)"])
async def test_a_contact_that_cannot_be_sent_is_refused_before_the_first_request(contact):
    with pytest.raises(ConfigError, match="contact"):
        await outcome("/ok", contact=contact)


async def test_the_languages_asked_for_are_named_in_their_order():
    async with fetching(languages=("fr", "sr-Latn", "en")) as (base, fetch):
        await fetch("/ok")
        assert base.requests[0].header("Accept-Language") == "fr, sr-Latn;q=0.9, en;q=0.8, *;q=0.1"
        assert base.requests[0].header("Accept-Encoding") == "gzip, deflate, br, zstd"


@pytest.mark.parametrize("cookies", [False, True])
async def test_cookies_are_off_unless_asked_for(cookies):
    async with fetching(cookies=cookies) as (base, fetch):
        host = base.at("www")  # aiohttp keeps no cookies of an address
        await fetch(f"{host}/cookie")
        answer = await fetch(f"{host}/cookie/check")
    assert (b"A cookie came back." in answer.body) is cookies


async def test_a_host_has_one_connection_at_a_time():
    now, most = 0, 0

    async def answer(reader, writer):
        nonlocal now, most
        now += 1
        most = max(most, now)
        with contextlib.suppress(asyncio.IncompleteReadError):
            while await reader.readuntil(b"\r\n\r\n"):
                await asyncio.sleep(0)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok")
        now -= 1
        writer.close()

    async with own_server(answer) as port, fetching() as (_, fetch):
        answers = await asyncio.gather(*(fetch(f"http://127.0.0.1:{port}/{n}") for n in range(8)))
    assert [each.body for each in answers] == [b"ok"] * 8
    assert most == 1


# Not now, and not at all.


@pytest.mark.parametrize(
    ("path", "reason", "status", "after"),
    [
        ("/429/seconds?after=7", Reason.RATE_LIMITED, 429, 7),
        ("/429/date?after=90", Reason.RATE_LIMITED, 429, 90),
        ("/429/bare", Reason.RATE_LIMITED, 429, 0),
        ("/429/seconds?after=soon", Reason.RATE_LIMITED, 429, 0),
        ("/429/seconds?after=Wed, 21 Oct 20159000449111 07:28:00 GMT", Reason.RATE_LIMITED, 429, 0),
        ("/503/always?after=7", Reason.RATE_LIMITED, 503, 7),
        ("/503/then-200", Reason.SERVER_ERROR, 503, 0),
        ("/status?code=500", Reason.SERVER_ERROR, 500, 0),
        ("/status?code=502", Reason.SERVER_ERROR, 502, 0),
        ("/status?code=501", Reason.HTTP_STATUS, 501, 0),
        ("/status?code=404", Reason.HTTP_STATUS, 404, 0),
        ("/status?code=410", Reason.HTTP_STATUS, 410, 0),
        ("/status?code=206", Reason.HTTP_STATUS, 206, 0),
        ("/status?code=999", Reason.HTTP_STATUS, 999, 0),
    ],
)
async def test_a_status_becomes_its_reason_and_retry_after_its_seconds(path, reason, status, after):
    answer = await outcome(path)
    assert (answer.reason, answer.status) == (reason, status)
    assert answer.retry_after == pytest.approx(after, abs=2)


@pytest.mark.parametrize("date", [0.0, 1.8e9, 4e9])
@pytest.mark.parametrize(
    ("headers", "after"),
    [
        ("Date: Sun, 01 Mar 2026 12:00:00 GMT\r\nRetry-After: Sun, 01 Mar 2026 12:00:40 GMT", 40.0),
        ("Date: Sun, 01 Mar 2026 12:00:00 GMT\r\nRetry-After: 30", 30.0),
        ("Date: nonsense\r\nRetry-After: Sun, 01 Mar 2026 12:00:40 GMT", None),
    ],
)
async def test_how_long_to_wait_is_told_by_the_dates_of_the_server_and_not_by_ours(headers, after, date):
    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 429 Slow\r\n{headers}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
        writer.close()

    clock = FakeClock()
    clock.set_date(date)
    async with own_server(answer) as port, HttpFetcher(FetchSettings(allow_private=True), clock) as fetcher:
        skip = await fetcher.fetch(Link(Url.parse(f"http://127.0.0.1:{port}/"), LinkKind.PAGE))
    assert skip.retry_after == after if after else skip.retry_after <= 24 * 3600


async def test_a_short_error_page_does_not_cost_the_connection():
    ports = set()

    async def answer(reader, writer):
        ports.add(writer.get_extra_info("peername"))
        with contextlib.suppress(asyncio.IncompleteReadError):
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone")
        writer.close()

    async with own_server(answer) as port, fetching() as (_, fetch):
        for n in range(3):
            await fetch(f"http://127.0.0.1:{port}/{n}")
    assert len(ports) == 1


# Redirects are answers.


async def test_a_redirect_is_returned_and_not_followed():
    async with fetching() as (base, fetch):
        answer = await fetch("/redirect/chain?hops=1")
        assert answer.status == 302
        assert answer.redirect_target() == f"{base}/ok"
        assert [each.path for each in base.requests] == ["/redirect/chain"]


@pytest.mark.parametrize("path", ["/redirect/file", "/redirect/javascript"])
async def test_a_redirect_to_what_is_not_http_leads_nowhere(path):
    answer = await outcome(path)
    with pytest.raises(UrlError):
        answer.redirect_target()


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/caf\xc3\xa9", "http://x.org/caf%C3%A9"),  # UTF-8 bytes, read as Latin-1
        ("/caf\xe9", "http://x.org/caf%C3%A9"),
        ("../b c", "http://x.org/b%20c"),
        ("//y.org", "http://y.org/"),
    ],
)
def test_a_location_is_read_as_browsers_do(location, target):
    capture = Capture(Url.parse("http://x.org/a/"), 302, (("location", location),), b"", 0.0)
    assert capture.redirect_target() == target


# No way in.


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/ok",
        "http://localhost:{port}/ok",
        "http://2130706433:{port}/ok",
        "http://0x7f.1:{port}/ok",
        "http://[::1]:{port}/ok",
        "http://[::ffff:127.0.0.1]:{port}/ok",
        "http://0:{port}/ok",
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.1/",
        "http://metadata.google.internal/",
        "http://[fd00:ec2::254]/",
    ],
)
async def test_private_addresses_are_refused_on_every_hop_without_a_packet(url):
    async with pathology_server() as base, HttpFetcher(FetchSettings(), Clock()) as fetcher:
        answer = await fetcher.fetch(Link(Url.parse(url.format(port=base.port)), LinkKind.REDIRECT))
        assert (answer.stage, answer.reason) == (Stage.FETCH, Reason.PRIVATE_ADDRESS)
        assert base.requests == []


async def test_a_name_that_resolves_to_a_private_address_is_refused(monkeypatch):
    """The guard looks at what the name became, and the connection goes there and nowhere else."""
    async with pathology_server() as base:
        answers = iter(["127.0.0.1", "8.8.8.8"])  # a name server that tells each who asks something else

        def rebinding(host, port, **_):
            return [(2, 1, 6, "", (next(answers), port))]

        monkeypatch.setattr(socket, "getaddrinfo", rebinding)
        async with HttpFetcher(FetchSettings(), Clock()) as fetcher:
            answer = await fetcher.fetch(Link(Url.parse(f"http://rebind.example.org:{base.port}/ok"), LinkKind.PAGE))
        assert answer.reason is Reason.PRIVATE_ADDRESS
        assert next(answers) == "8.8.8.8"  # it was asked once
        assert base.requests == []


async def test_connect_to_reaches_a_host_elsewhere_under_its_own_name():
    async with fetching() as (base, fetch):
        answer = await fetch("http://www.lighthouse.test/ok")
        assert answer.url == "http://www.lighthouse.test/ok"
        assert [(each.host, each.header("Host")) for each in base.requests] == [("www.lighthouse.test",) * 2]


# Proxies.


async def test_a_proxy_is_asked_for_the_whole_address_with_its_password_and_the_archive_does_not_learn_it():
    async with pathology_server() as base:
        proxies = Proxies.for_all(f"http://me:secret@127.0.0.1:{base.port}")
        async with HttpFetcher(FetchSettings(proxies=proxies), Clock()) as fetcher:
            answer = await fetcher.fetch(Link(Url.parse("http://www.example.org/ok"), LinkKind.PAGE))
            private = await fetcher.fetch(Link(Url.parse("http://10.0.0.1/ok"), LinkKind.PAGE))
        (asked,) = base.requests
    assert isinstance(answer, Capture)
    assert (asked.host, asked.path) == ("www.example.org", "/ok")
    assert asked.header("Proxy-Authorization") == "Basic " + base64.b64encode(b"me:secret").decode()
    assert b"Proxy-Authorization" not in answer.request
    assert private.reason is Reason.PRIVATE_ADDRESS


async def test_the_proxy_itself_is_no_way_in():
    async with pathology_server() as base:
        proxies = Proxies(http=f"http://127.0.0.1:{base.port}", bypass="127.0.0.1")
        async with HttpFetcher(FetchSettings(proxies=proxies), Clock()) as fetcher:
            answer = await fetcher.fetch(Link(Url.parse(f"{base}/ok"), LinkKind.PAGE))
        assert (answer.reason, base.requests) == (Reason.PRIVATE_ADDRESS, [])


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(
    ("proxy", "says"),
    [
        ("http://me:secret@127.0.0.1:1", "the proxy http://127.0.0.1:1 cannot be reached: connection refused"),
        (
            "me:secret@proxy.invalid:3128",
            "the proxy http://proxy.invalid:3128 cannot be reached: proxy.invalid has no address (DNS)",
        ),
    ],
)
async def test_a_proxy_that_is_down_is_named_without_its_password(scheme, proxy, says):
    async with HttpFetcher(FetchSettings(proxies=Proxies.for_all(proxy)), Clock()) as fetcher:
        answer = await fetcher.fetch(Link(Url.parse(f"{scheme}://www.example.org/"), LinkKind.PAGE))
    assert (answer.reason, answer.detail, answer.status) == (Reason.PROXY, says, 0)


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_proxy_that_wants_a_password_is_no_answer_of_the_host(scheme):
    async with own_server(says_once(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0")) as port:
        proxies = Proxies.for_all(f"http://me:secret@127.0.0.1:{port}")
        async with HttpFetcher(FetchSettings(proxies=proxies), Clock()) as fetcher:
            answer = await fetcher.fetch(Link(Url.parse(f"{scheme}://www.example.org/"), LinkKind.PAGE))
    assert (answer.reason, answer.status) == (Reason.PROXY, 0)
    assert "(407)" in answer.detail
    assert "secret" not in repr(answer) + repr(proxies)


async def test_a_proxy_that_cannot_reach_the_host_says_so():
    async with own_server(says_once(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0")) as port:
        proxies = Proxies.for_all(f"http://127.0.0.1:{port}")
        async with HttpFetcher(FetchSettings(proxies=proxies), Clock()) as fetcher:
            answer = await fetcher.fetch(Link(Url.parse("https://www.example.org/"), LinkKind.PAGE))
    assert answer.reason is Reason.PROXY
    assert answer.detail.endswith("could not connect to the host (502 Bad Gateway)")


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://www.exmaple.invalid/", "www.exmaple.invalid has no address (DNS)"),
        ("http://127.0.0.1:1/", "no connection to 127.0.0.1:1: connection refused"),
        ("/empty", "the connection to HOST broke off (Server disconnected)"),
        ("/truncated/length", "the connection to HOST broke off before the end of the answer"),
        ("/silent", "no complete answer from HOST in time"),
        ("/garbage", "the answer of HOST is not valid HTTP (Bad status line)"),
    ],
)
async def test_where_no_answer_came_the_skip_says_why(url, says):
    async with fetching(**(IMPATIENT if url == "/silent" else {})) as (base, fetch):
        answer = await fetch(url)
    assert answer.detail == says.replace("HOST", f"127.0.0.1:{base.port}")
    assert answer.status == 0


@pytest.mark.parametrize(
    ("error", "reason", "says"),
    [
        (
            OSError(101, "Network is unreachable"),
            Reason.CONNECTION,
            "no connection to a.org: the network is unreachable",
        ),
        (
            aiohttp.ClientConnectorDNSError(KEY, socket.gaierror(socket.EAI_AGAIN, "Temporary failure")),
            Reason.DNS,
            "the address of a.org could not be looked up: no name server answered (DNS)",
        ),
        (aiohttp.ConnectionTimeoutError("https://me:secret@x"), Reason.TIMEOUT, "no connection to a.org in time"),
        (
            aiohttp.InvalidURL("http://me:secret@x/"),
            Reason.HTTP_ERROR,
            "the answer of a.org is not valid HTTP (http://…@x/)",
        ),
    ],
)
def test_errors_that_loopback_cannot_have_are_told_in_words_too(error, reason, says):
    skip = failure(Url.parse("http://a.org/"), error, None)
    assert (skip.reason, skip.detail) == (reason, says)


# TLS.


@contextlib.asynccontextmanager
async def tls_server(tmp_path, pem=None):
    """Its certificate is for tls.test, and signed by itself."""
    file = tmp_path / "tls.pem"
    file.write_text(pem or PEM)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)

    async def answer(reader, writer):
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nsecret")
        writer.close()

    async with own_server(answer, ssl=context) as port:
        yield port


async def tls_answer(port, host, dates=(1.8e9,)):
    """On the first date, after somebody has set it to each of the others."""
    reached, clock = FetchSettings(connect_to={"*.test": f"127.0.0.1:{port}"}), FakeClock()
    clock.set_date(dates[0])
    async with HttpFetcher(reached, clock) as fetcher:
        for date in dates[1:]:
            clock.set_date(date)
        return await fetcher.fetch(Link(Url.parse(f"https://{host}/"), LinkKind.PAGE))


async def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path):
    async with tls_server(tmp_path) as port:
        refused = await tls_answer(port, "tls.test")
    assert refused.reason is Reason.TLS
    assert (
        refused.detail
        == "no secure connection to tls.test (TLS): the certificate is not valid: self-signed certificate"
    )


async def test_a_certificate_is_believed_for_its_own_name_only(tmp_path, monkeypatch):
    async with tls_server(tmp_path) as port:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "tls.pem"))
        assert (await tls_answer(port, "tls.test")).body == b"secret"
        assert (await tls_answer(port, "other.test")).reason is Reason.TLS


THEN, LATER = 1.579e9, 1.8e9  # when the certificate was valid, and a date after that


@pytest.mark.parametrize(
    ("dates", "believed"),
    [
        ((LATER,), False),
        ((THEN, 0), True),
        ((THEN, 4e9), True),
        ((LATER, THEN), True),
        ((LATER, 0), False),
        ((THEN, 0, THEN), False),  # Nobody has set it, after all: OpenSSL goes by the date of this machine.
    ],
)
async def test_a_certificate_is_judged_by_our_date_and_once_it_was_set_also_by_what_it_would_be(
    tmp_path, monkeypatch, dates, believed
):
    async with tls_server(tmp_path, EXPIRED) as port:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "tls.pem"))
        answer = await tls_answer(port, "tls.test", dates)
        assert isinstance(answer, Capture) is believed
        assert believed or answer.detail.endswith("certificate has expired")
        assert (await tls_answer(port, "other.test", dates)).reason is Reason.TLS


async def test_https_from_a_server_that_speaks_http_is_a_tls_failure():
    async def plain(reader, writer):
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async with own_server(plain) as port:
        assert (await tls_answer(port, "www.test")).reason is Reason.TLS


# Sitemaps and rules.


@pytest.mark.parametrize(
    ("path", "kind", "expected"),
    [
        ("/big?bytes=12000000", LinkKind.INDEX, Reason.CONTENT_TYPE),  # a page where a sitemap should be
        ("/ok", LinkKind.INDEX, Reason.CONTENT_TYPE),
        ("/endless", LinkKind.ROBOTS, 500 * 1024),
        ("/bomb/gzip?mb=64", LinkKind.ROBOTS, 500 * 1024),
        ("/type/png-as-html", LinkKind.ROBOTS, None),
    ],
)
async def test_the_kind_of_a_link_says_what_is_welcome(path, kind, expected):
    async with fetching() as (_, fetch):
        answer = await fetch(path, kind)
    if isinstance(expected, Reason):
        assert answer.reason is expected
    else:
        assert len(answer.body) <= 500 * 1024
        assert expected is None or len(answer.body) == expected


@pytest.mark.parametrize("size", [12, 60])
async def test_a_sitemap_may_be_larger_than_a_page_and_not_without_limit(size):
    async def sitemap(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\n\r\n<?xml version='1.0'?><urlset>")
        with contextlib.suppress(ConnectionError):
            for _ in range(size):
                writer.write(b" " * MIB)
                await writer.drain()
        writer.close()

    async with own_server(sitemap) as port, fetching() as (_, fetch):
        answer = await fetch(f"http://127.0.0.1:{port}/sitemap.xml", LinkKind.INDEX)
    if size == 12:
        assert (answer.media_type, len(answer.body)) == ("application/xml", 12 * MIB + 29)
    else:
        assert answer.reason is Reason.TOO_LARGE


@pytest.mark.parametrize(
    ("host", "opened", "closed"),
    [
        ("robots-404", "page", "page"),
        ("robots-403", "page", "page"),
        ("robots-500", Reason.ROBOTS_UNREACHABLE, Reason.ROBOTS_UNREACHABLE),
        ("robots-429", Reason.ROBOTS_UNREACHABLE, Reason.ROBOTS_UNREACHABLE),
        ("robots-reset", Reason.ROBOTS_UNREACHABLE, Reason.ROBOTS_UNREACHABLE),
        ("robots-redirect", "page", Reason.ROBOTS),
        ("robots-loop", "page", "page"),
        ("robots-huge", "page", Reason.ROBOTS),
        ("robots-delay", "page", Reason.ROBOTS),
        ("robots-deny", Reason.ROBOTS, Reason.ROBOTS),
        ("robots-html", "page", "page"),
        ("tdmrep", "page", Reason.OPT_OUT),
    ],
)
async def test_robots_txt_is_obeyed_as_rfc_9309_says(host, opened, closed):
    async with pathology_server() as base, HttpFetcher(settings(base), Clock()) as http:
        fetcher = RobotsFetcher(http, Clock(), Politeness(delay=0))
        answers = [
            await fetcher.fetch(Link(Url.parse(base.at(host) + path), LinkKind.PAGE)) for path in ("/open", "/closed")
        ]
        assert [each.reason if isinstance(each, Skip) else "page" for each in answers] == [opened, closed]
        assert fetcher.crawl_delay(f"{host}.test:{base.port}") == (2.0 if host == "robots-delay" else 0.0)
        fetched = [path for path, verdict in (("/open", opened), ("/closed", closed)) if verdict == "page"]
        assert [each.path for each in base.requests if each.path in ("/open", "/closed")] == fetched
        assert len(base.asked("/.well-known/tdmrep.json")) <= 1


PEM = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgXwyP0zdz0R27rq3g
ay77Frkbl0FNuxcQ6lvt2/Fz9JWhRANCAAR4t5y8ByArsZCSZ5Z12pAOOFZgdUeL
keuPIpRWQKh+0orqK64emCXoFz6EZPZSN16Hn4lCulljWMPE4icEPDUf
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBojCCAUigAwIBAgIUJTpk80DCaYjnrstyRt1LBYmDA/AwCgYIKoZIzj0EAwIw
EzERMA8GA1UEAwwIdGxzLnRlc3QwIBcNMjYxMTE1MjEwMTE4WhgPMjEyNjEwMjIy
MTAxMThaMBMxETAPBgNVBAMMCHRscy50ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAEeLecvAcgK7GQkmeWddqQDjhWYHVHi5HrjyKUVkCoftKK6iuuHpgl6Bc+
hGT2Ujdeh5+JQrpZY1jDxOInBDw1H6N4MHYwHQYDVR0OBBYEFPExCB0gGRztPl6D
fTMLaTYC0JWYMB8GA1UdIwQYMBaAFPExCB0gGRztPl6DfTMLaTYC0JWYMBMGA1Ud
EQQMMAqCCHRscy50ZXN0MA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgKE
MAoGCCqGSM49BAMCA0gAMEUCIQCLgM3mZxb9alqSkDCZpHHX2p1mv6lGRJPKv5lQ
QaxaLwIgN6J7+1BTug0my/78ft6QQSpoCzqfMEPABsaVmjP7a4A=
-----END CERTIFICATE-----
"""


EXPIRED = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgJPO0sYbqNTvRb8Xl
MnplXrf+xsdKNxJrokXo43wHo92hRANCAAQd3oGpIgRyXuKrksE5C1lxD/r5+Naa
Eb7GFpwuXp3bAcVw57Qor8k8p5Oz3KHLR5a+CtnohOAclAj1dqOU2ckE
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBXjCCAQSgAwIBAgIUCdQ1q03V61sSiXYL51KB4qTGoJwwCgYIKoZIzj0EAwIw
EzERMA8GA1UEAwwIdGxzLnRlc3QwHhcNMjAwMTAxMDAwMDAwWhcNMjAwMTMxMDAw
MDAwWjATMREwDwYDVQQDDAh0bHMudGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABB3egakiBHJe4quSwTkLWXEP+vn41poRvsYWnC5endsBxXDntCivyTynk7Pc
octHlr4K2eiE4ByUCPV2o5TZyQSjNjA0MBMGA1UdEQQMMAqCCHRscy50ZXN0MB0G
A1UdDgQWBBQDDhgJvLZfnvE1CRLSDGjWSos0wTAKBggqhkjOPQQDAgNIADBFAiEA
yOjC6wS3t9HIDkmgobV1WTVjAmReX6HJn7oWE5C8xecCID8j8OtqYnmw0ENULBGR
O0CGTm/UZmYjbe47p79rLjig
-----END CERTIFICATE-----
"""  # in January 2020


async def test_connections_that_are_kept_for_later_are_bounded_however_many_hosts_there_are():
    open_now: set[asyncio.StreamWriter] = set()
    most = in_use = at_last = 0
    all_in_use = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal most, in_use, at_last
        open_now.add(writer)
        most = max(most, len(open_now))
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                if b"slow" in head:
                    in_use += 1
                    if in_use == 20:
                        at_last = len(open_now)
                        all_in_use.set()
                    await all_in_use.wait()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi")
        open_now.discard(writer)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    asked = FetchSettings(connect_to={"*.test": f"127.0.0.1:{port}"}, connections=20)
    async with server, HttpFetcher(asked, Clock()) as fetcher:
        for n in range(150):
            link = Link(Url.parse(f"http://h{n}.test/"), LinkKind.PAGE)
            assert isinstance(await fetcher.fetch(link), Capture)
        assert 20 < most <= 20 * 3 // 2 + 1  # one that the server has not seen closed yet
        slow = (Link(Url.parse(f"http://slow{n}.test/"), LinkKind.PAGE) for n in range(20))
        await asyncio.gather(*map(fetcher.fetch, slow))
    assert 20 <= at_last <= 20 * 3 // 2 + 1  # all that may be in use, after so many were kept


async def test_a_name_server_that_says_nothing_keeps_no_other_name_waiting():
    held = threading.Event()

    def lookup(host: str, port: int, _family: int) -> list:
        if host.startswith("dead"):
            held.wait()
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("8.8.8.8", port))]

    resolver = GuardedResolver(Routes({}), at_once=101, lookup=lookup)
    dead = [asyncio.ensure_future(resolver.resolve(f"dead{n}.org", 80)) for n in range(100)]
    try:
        assert (await resolver.resolve("good.org", 80))[0]["host"] == "8.8.8.8"
    finally:
        held.set()
        await asyncio.gather(*dead)
        await resolver.close()
