"""Serves the bundled web on loopback, by virtual host, and as a proxy for clients that cannot map hosts."""

import contextlib
import re
import time
from collections.abc import AsyncIterator

import msgspec
from aiohttp import web as http

from bitrawl.demo.web import DemoDocument, Web, bundled
from bitrawl.errors import UrlError
from bitrawl.url import Url

LOOPBACK = "127.0.0.1"
# Browsers resolve *.localhost by themselves: http://www.saltholm.test.localhost:8080/ needs no set-up.
_BROWSER = ".localhost"
_HOST = re.compile(rb"http://([a-z0-9.-]+\.test)(?=/)")
_MISSING = DemoDocument(b"<!DOCTYPE html><title>404</title><p>There is no such page.</p>", "text/html", 404)


class DemoVisit(msgspec.Struct, frozen=True):
    """One request as it was received."""

    url: str
    method: str
    headers: tuple[tuple[str, str], ...]
    at: float  # time.monotonic()


class Served(msgspec.Struct):
    """The web while it is being served."""

    web: Web
    port: int
    visits: list[DemoVisit]  # in order, including robots.txt

    @property
    def proxy(self) -> str:
        """For `--proxy` and `http_proxy`."""
        return f"http://{LOOPBACK}:{self.port}"


@contextlib.asynccontextmanager
async def serve(port: int = 0) -> AsyncIterator[Served]:
    """Serve until the context ends. Port 0 takes a free one."""
    served = Served(bundled(), port, [])

    async def answer(request: http.BaseRequest) -> http.StreamResponse:
        return _answer(served, request)

    runner = http.ServerRunner(http.Server(answer), shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = http.TCPSite(runner, LOOPBACK, port)
        await site.start()
        served.port = runner.addresses[0][1]
        yield served
    finally:
        await runner.cleanup()


def _answer(served: Served, request: http.BaseRequest) -> http.StreamResponse:
    host = request.headers.get("Host", "").partition(":")[0].lower()
    in_browser = host.endswith(_BROWSER)
    if host in (LOOPBACK, "localhost") and request.raw_path.startswith("/"):
        raise http.HTTPFound(f"http://{served.web.hosts[0]}{_BROWSER}:{served.port}/")
    # A proxy request is in absolute form, with the host in the request line.
    raw = (
        f"http://{host.removesuffix(_BROWSER)}{request.raw_path}"
        if request.raw_path.startswith("/")
        else request.raw_path
    )
    served.visits.append(DemoVisit(raw, request.method, tuple(request.headers.items()), time.monotonic()))
    document = _find(served.web, raw)
    body = document.body
    if in_browser and document.type.startswith("text/html"):
        body = _HOST.sub(rb"http://\1%b:%d" % (_BROWSER.encode(), served.port), body)
    response = http.Response(
        body=body, status=document.status, headers=[*document.headers, ("Content-Type", document.type)]
    )
    if document.type.startswith("text/"):
        response.enable_compression()
    return response


def _find(web: Web, raw: str) -> DemoDocument:
    try:
        return web.documents.get(Url.parse(raw), _MISSING)
    except UrlError:
        return _MISSING
