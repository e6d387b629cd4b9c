"""One link, one HTTP request, one answer: a `Capture`, or a `Skip` that says in words why there is none.

All that reads pages from the web does it by `visit`, or by `HttpFetcher.fetch` and `understand`.
"""

import errno
import os
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import partial
from http import HTTPStatus
from typing import Self

import aiohttp
import msgspec
from aiohttp.connector import Connection
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

from bitrawl.bodies import (
    GZIP,
    MIB,
    SNIFFED,
    TEXT,
    XML,
    Expansion,
    content_codings,
    expand_in_slices,
    media_type,
    prefix,
)
from bitrawl.crawling.connections import (
    Attempt,
    CleanConnector,
    Endpoint,
    GuardedResolver,
    PrivateAddressError,
    Proxies,
    Routes,
    is_private_host,
    noting_reuse,
    proxy_name,
)
from bitrawl.crawling.settings import FetchSection, Politeness
from bitrawl.errors import ConfigError, UrlError
from bitrawl.model import (
    MAX_REDIRECTS,
    Answer,
    Capture,
    DocumentType,
    Language,
    Lease,
    Link,
    LinkKind,
    Page,
    Sitemap,
    Skip,
    Visit,
)
from bitrawl.protocols import Analyser, Clock, Fetcher
from bitrawl.reasons import Reason, Stage
from bitrawl.url import Url, without_credentials
from bitrawl.version import __version__

FOREIGN = (aiohttp.ClientError, HttpProcessingError, OSError, ValueError, EOFError)
"""What aiohttp and the socket raise for what the web does."""

MAX_DETAIL = 200  # characters: a line or two of a terminal

PAGE_TYPES = frozenset(name for kind in DocumentType for name in kind.media_types)
INDEX_TYPES = frozenset({XML, GZIP, TEXT})
LATEST = 24 * 3600.0
"""Seconds; the longest wait until a date that is compared with our own. Judgement: our date may be wrong by years."""
SET = 3600.0  # seconds by which the date may differ from the time that passed, before somebody has set it; judgement
NO_CHECK_TIME = 0x200000  # X509_V_FLAG_NO_CHECK_TIME of OpenSSL, which Python gives no name
GONE = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
MAX_RULES = 500 * 1024
"""What is read of robots.txt and its like: RFC 9309, section 2.5."""


class FetchSettings(FetchSection, frozen=True, kw_only=True):
    """What a job says about fetching, with what follows from its other settings. Sizes in bytes, times in seconds."""

    languages: tuple[Language, ...] = ()  # asked for, most wanted first
    proxies: Proxies = Proxies()  # where the job names none
    trusted: frozenset[Endpoint] = frozenset()  # hosts with their ports that may be private all the same
    media_types: frozenset[str] = PAGE_TYPES  # what is downloaded whole; anything else after its first bytes is not
    accept: str = "text/html,application/xhtml+xml,application/xml;q=0.9,text/plain;q=0.8,*/*;q=0.1"
    connections: int = 64
    per_host: int = Politeness().per_host

    # Judgement where no standard is named.
    connect_time: float = 15.0
    read_time: float = 20.0  # between two arrivals of data
    max_index: int = 50 * MIB  # a sitemap, expanded: sitemaps.org allows 50 MB
    max_header: int = 32 * 1024  # one header line; aiohttp's 8 KiB refuses policies (CSP) that browsers accept
    max_headers: int = 256

    def here(self) -> Self:
        """With the proxies that the environment names; raises `ConfigError`."""
        return msgspec.structs.replace(self, proxies=Proxies.of_environment(os.environ))

    def check(self) -> None:
        """Raise `ConfigError` for mistakes that only show when a fetcher is built."""
        user_agent(self.public_contact)
        Routes(self.connect_to)
        Proxies.for_all(self.proxy) if self.proxy else Proxies.of_environment(os.environ)


def user_agent(contact: str) -> str:
    """Who we are, and whom to ask; raises `ConfigError`."""
    if not contact.strip() or not contact.isprintable() or not contact.isascii() or set(contact) & set("()"):
        message = f"the contact {contact!r} cannot be sent; give a page or an e-mail address"
        raise ConfigError(message)
    return f"bitrawl/{__version__} (+{contact.strip()})"


def accept_language(languages: Sequence[Language]) -> str:
    """In the order asked for, and whatever there is after that; empty when none is asked for."""
    wanted = list(languages)[:9]  # a weight has one digit here, and 0.1 is for all others
    weighed = [f"{code};q={1 - 0.1 * rank:.1f}" if rank else code for rank, code in enumerate(wanted)]
    return ", ".join([*weighed, "*;q=0.1"]) if wanted else ""


async def visit(link: Link, fetcher: Fetcher, analyser: Analyser) -> Visit:
    """One request. A redirect is not followed: it is a skip that names its target (`Skip.target`)."""
    answer = await fetcher.fetch(link)
    outcome = answer if isinstance(answer, Skip) else await understand(link, answer, analyser)
    return Visit(Lease(link, 1.0), outcome, answer.status)


async def understand(link: Link, answer: Capture, analyser: Analyser) -> Page | Sitemap | Skip:
    """What the answer to that link is: understood, or the redirect that ends the link."""
    if 300 <= answer.status < 400:
        return _redirect(link, answer)
    return await analyser.analyse(answer, index=link.kind is LinkKind.INDEX)


def _redirect(link: Link, answer: Capture) -> Skip:
    """The end of a link that redirects; the detail is where it leads, or why that is no page."""
    try:
        target = answer.redirect_target()
    except UrlError as error:
        return Skip(link.url, Stage.FETCH, Reason.REDIRECT, str(error), answer.status)
    reason = Reason.TOO_MANY_REDIRECTS if link.redirects >= MAX_REDIRECTS else Reason.REDIRECT
    return Skip(link.url, Stage.FETCH, reason, target, answer.status)


class HttpFetcher:
    """The web. Enter it (`async with`) before the first fetch.

    A redirect is returned, not followed: its target has to pass scope, robots, politeness and the address guard
    as any other link. With a proxy, names are resolved by the proxy and only what a host says by itself (a literal
    address, "localhost") is judged here.

    Once somebody has set the date of this machine by more than an hour, a host's certificate may be valid on that date or on
    the one that it would be else: a wrong date would refuse every page of the web for good. OpenSSL knows one date only, so
    those of the authorities behind it are not checked then. All else is.
    """

    def __init__(
        self, settings: FetchSettings, clock: Clock, earlier: Callable[[Url], Answer | None] = lambda _url: None
    ) -> None:
        """`earlier` knows what an address answered in the last round: it is asked whether that has changed."""
        self._settings = settings
        self._clock = clock
        self._earlier = earlier
        self._began_at = clock.date() - clock.now()
        self._trusts_the_date = True
        self._tls = ssl.create_default_context()
        self._routes = Routes(settings.connect_to)
        self._proxies = Proxies.for_all(settings.proxy) if settings.proxy else settings.proxies
        self._proxy_endpoints = self._proxies.endpoints()

    async def __aenter__(self) -> Self:
        settings = self._settings
        self._resolver = GuardedResolver(
            self._routes,
            allow_private=settings.allow_private,
            trusted=self._proxy_endpoints | settings.trusted,
            seconds=settings.connect_time,
            at_once=settings.connections,
        )
        self._connector = CleanConnector(
            limit=settings.connections,
            limit_per_host=settings.per_host,
            ttl_dns_cache=300,  # seconds: a common lifetime of a name's address
            ssl=self._tls,
            resolver=self._resolver,
        )
        self._session = _session(settings, self._connector)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()
        await self._resolver.close()  # aiohttp closes only a resolver of its own

    async def fetch(self, link: Link) -> Capture | Skip:
        """Never raises for what the server does; a cancellation passes."""
        at, began = self._clock.date(), self._clock.now()
        self._trust_the_date(at - began)
        proxy = None
        try:
            url = URL(link.url, encoded=True)
            proxy = self._proxy_for(url)
            if self._is_private(url, proxied=proxy is not None):
                return Skip(link.url, Stage.FETCH, Reason.PRIVATE_ADDRESS, url.host or "")
            earlier = None if link.kind is LinkKind.ROBOTS else self._earlier(link.url)
            response = await self._request(url, proxy, _conditions(earlier))
            async with response:
                if not self._is_valid(response):
                    return _failure_skip(link.url, Reason.TLS, _no_tls(link.url.host, _EXPIRED))
                if proxy is not None and response.status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
                    return proxy_refusal(link.url, proxy)
                known = earlier is not None and response.status in (HTTPStatus.NOT_MODIFIED, *GONE)
                answer = await (_read_short(link, response) if known else self._read(link, response))
        except FOREIGN as error:
            return failure(link.url, error, proxy)
        if isinstance(answer, Skip):
            return answer
        peer = response.peer if isinstance(response, _Response) and not proxy else ""
        return msgspec.structs.replace(answer, at=at, took=self._clock.now() - began, ip=peer)

    def _trust_the_date(self, zero: float) -> None:
        trusted = abs(zero - self._began_at) <= SET
        if trusted is not self._trusts_the_date:
            self._trusts_the_date = trusted
            checks = self._tls.verify_flags & ~NO_CHECK_TIME
            self._tls.verify_flags = checks if trusted else checks | NO_CHECK_TIME

    def _is_valid(self, response: aiohttp.ClientResponse) -> bool:
        """False for a certificate that OpenSSL did not compare with the date, and that is not valid on any that may be right."""
        tls = response.tls if isinstance(response, _Response) and not self._trusts_the_date else None
        certificate = tls.getpeercert() if tls is not None else None
        if not certificate:
            return True
        begins, ends = (ssl.cert_time_to_seconds(str(certificate[name])) for name in ("notBefore", "notAfter"))
        return any(begins <= date <= ends for date in (self._clock.date(), self._began_at + self._clock.now()))

    async def _request(self, url: URL, proxy: URL | None, headers: Mapping[str, str]) -> aiohttp.ClientResponse:
        attempt = Attempt()
        ask = partial(self._session.get, url, proxy=proxy, headers=headers, allow_redirects=False)
        try:
            return await ask(trace_request_ctx=attempt)
        except aiohttp.ClientResponseError:
            # What is no HTTP on a connection used before may be the rest of something that was sent unasked.
            if not attempt.reused or not self._connector.distrust(url.host or ""):
                raise
            return await ask(trace_request_ctx=Attempt())

    def _proxy_for(self, url: URL) -> URL | None:
        direct = self._routes.find(url.host or "") or (url.host, url.port) in self._settings.trusted
        return None if direct else self._proxies.find(url)

    def _is_private(self, url: URL, *, proxied: bool) -> bool:
        host = url.host or ""
        trusted = (host, url.port) in self._settings.trusted
        if self._settings.allow_private or trusted or self._routes.find(host):
            return False
        to_the_proxy_itself = not proxied and (host, url.port) in self._proxy_endpoints
        return to_the_proxy_itself or is_private_host(host)

    async def _read(self, link: Link, response: aiohttp.ClientResponse) -> Capture | Skip:
        refusal = _refusal_by_status(link.url, response, self._clock.date())
        if refusal is not None:
            await _remainder(response)
            return refusal
        if response.status in _REDIRECTS:
            payload = await _remainder(response)
            return _capture(link.url, response, payload, payload)
        if link.kind is LinkKind.ROBOTS:
            payload = await _beginning(response, MAX_RULES)
            body = prefix(payload, _codings(response) or (), MAX_RULES)
            return _capture(link.url, response, payload, body, TEXT)
        return await self._read_whole(link, response)

    async def _read_whole(self, link: Link, response: aiohttp.ClientResponse) -> Capture | Skip:
        payload = await self._payload(link, response)
        if isinstance(payload, Skip):
            return payload
        codings = _codings(response)
        body = await expand_in_slices(payload, codings or (), self._expansion(link))
        if isinstance(body, Reason):
            return _answer_skip(link.url, response, body, f"{len(payload)} bytes of {_encoding(response)}")
        kind = media_type(body, response.headers.get("Content-Type", ""))
        if kind not in self._welcome(link):
            # A coding that nobody knows is no coding where the body reads without it ("utf-8" is often met there).
            reason = Reason.CONTENT_TYPE if codings is not None else Reason.CONTENT_ENCODING
            return _answer_skip(link.url, response, reason, kind if codings is not None else _encoding(response))
        return _capture(link.url, response, payload, body, kind)

    async def _payload(self, link: Link, response: aiohttp.ClientResponse) -> bytes | Skip:
        """The body as sent; given up as soon as its first bytes or its length say that it is not for us."""
        limit = self._max_payload(link)
        chunks: list[bytes] = []
        size = 0
        judged = False
        while chunk := await response.content.readany():
            chunks.append(chunk)
            size += len(chunk)
            if size > limit:
                return _answer_skip(link.url, response, Reason.TOO_LARGE, f"more than {limit} bytes")
            if not judged and size >= SNIFFED and not response.content.at_eof():
                judged = True
                refusal = self._refusal_by_start(link, response, b"".join(chunks))
                if refusal is not None:
                    return refusal
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def _refusal_by_start(self, link: Link, response: aiohttp.ClientResponse, start: bytes) -> Skip | None:
        # A compressed body is short, and seldom an image: it is read whole, and judged expanded.
        if not _encoding(response):
            kind = media_type(start, response.headers.get("Content-Type", ""))
            if kind not in self._welcome(link):
                return _answer_skip(link.url, response, Reason.CONTENT_TYPE, kind)
        if (response.content_length or 0) > self._max_payload(link):
            return _answer_skip(link.url, response, Reason.TOO_LARGE, f"{response.content_length} bytes")
        return None

    def _welcome(self, link: Link) -> frozenset[str]:
        return INDEX_TYPES if link.kind is LinkKind.INDEX else self._settings.media_types

    def _max_payload(self, link: Link) -> int:
        return self._settings.max_index if link.kind is LinkKind.INDEX else self._settings.most_bytes

    def _expansion(self, link: Link) -> Expansion:
        return Expansion(self._settings.max_index if link.kind is LinkKind.INDEX else 2 * self._settings.most_bytes)


def _session(settings: FetchSettings, connector: CleanConnector) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=connector,
        trace_configs=[noting_reuse()],
        headers=_request_headers(settings),
        auto_decompress=False,  # the archive wants the bytes as sent, and we want to stop a bomb
        cookie_jar=aiohttp.CookieJar() if settings.cookies else aiohttp.DummyCookieJar(),
        response_class=_Response,
        timeout=aiohttp.ClientTimeout(
            total=settings.timeout, sock_connect=settings.connect_time, sock_read=settings.read_time
        ),
        max_line_size=settings.max_header,
        max_field_size=settings.max_header,
        max_headers=settings.max_headers,
    )


class _Response(aiohttp.ClientResponse):
    """Remembers server and certificate, which aiohttp forgets with the connection as soon as the body is in."""

    peer = ""
    tls: ssl.SSLObject | None = None

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        if connection.transport is not None:
            self.tls = connection.transport.get_extra_info("ssl_object")
            peer = connection.transport.get_extra_info("peername")
            self.peer = peer[0] if peer else ""
        return await super().start(connection)


_REDIRECTS = frozenset({301, 302, 303, 307, 308})
# Faults that come and go; 520 to 527 and 530 are what a large cache (Cloudflare) says when the site behind it is down.
_SERVER_FAULTS = frozenset({408, 425, 500, 502, 503, 504, *range(520, 528), 530})
_MAX_REMAINDER = 64 * 1024  # of a body that nobody reads: so much is cheaper than a new connection


def _request_headers(settings: FetchSettings) -> dict[str, str]:
    headers = {
        "User-Agent": user_agent(settings.public_contact),
        "Accept": settings.accept,
        "Accept-Encoding": "gzip, deflate, br, zstd",
    }
    languages = accept_language(settings.languages)
    return headers | {"Accept-Language": languages} if languages else headers


def _conditions(earlier: Answer | None) -> dict[str, str]:
    """Ask for the page only if it has changed: RFC 9110, section 13.1."""
    if earlier is None:
        return {}
    named = {"If-None-Match": earlier.etag, "If-Modified-Since": earlier.last_modified}
    return {name: value for name, value in named.items() if value}


async def _read_short(link: Link, response: aiohttp.ClientResponse) -> Capture:
    """An answer that says only that a page is as it was, or gone. The archive keeps it."""
    payload = await _remainder(response)
    unchanged = response.status == HTTPStatus.NOT_MODIFIED
    return msgspec.structs.replace(_capture(link.url, response, payload, payload), unchanged=unchanged)


def _refusal_by_status(url: Url, response: aiohttp.ClientResponse, date: float) -> Skip | None:
    status = response.status
    if status in _REDIRECTS and response.headers.get("Location", "").strip():
        return None
    if 200 <= status < 300 and status != 206:  # we never ask for a part
        return None
    after = _seconds(response.headers.get("Retry-After", ""), response.headers.get("Date", ""), date)
    if status == 429 or (status == 503 and after):
        return Skip(url, Stage.FETCH, Reason.RATE_LIMITED, response.reason or "", status, after)
    reason = Reason.SERVER_ERROR if status in _SERVER_FAULTS else Reason.HTTP_STATUS
    return Skip(url, Stage.FETCH, reason, response.reason or "", status, after)


def _seconds(retry_after: str, sent: str, date: float) -> float:
    """RFC 9110, section 10.2.3: a number of seconds or a date; 0 for anything else.

    A date is compared with the one that the server `sent` its answer at, by the same clock; with ours if there is none.
    """
    text = retry_after.strip()
    if text.isdecimal() and text.isascii():
        return float(text[:9])
    until, since = _timestamp(text), _timestamp(sent)
    if until is None:
        return 0.0
    return max(0.0, until - since if since is not None else min(until - date, LATEST))


def _timestamp(text: str) -> float | None:
    try:
        date = parsedate_to_datetime(text)
        return date.replace(tzinfo=date.tzinfo or UTC).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):  # what the parser raises for dates that are none
        return None


async def _remainder(response: aiohttp.ClientResponse) -> bytes:
    """A short body to its end, so that the connection can be used again; nothing of a longer or broken one."""
    try:
        body = await _beginning(response, _MAX_REMAINDER)
    except FOREIGN:
        return b""
    return body if response.content.at_eof() else b""


async def _beginning(response: aiohttp.ClientResponse, size: int) -> bytes:
    body = bytearray()
    while len(body) < size and (chunk := await response.content.readany()):
        body += chunk
    return bytes(body)


def _encoding(response: aiohttp.ClientResponse) -> str:
    return ", ".join(response.headers.getall("Content-Encoding", []))


def _codings(response: aiohttp.ClientResponse) -> tuple[str, ...] | None:
    encoding = _encoding(response)
    return content_codings(encoding) if encoding else ()


def _answer_skip(url: Url, response: aiohttp.ClientResponse, reason: Reason, detail: str) -> Skip:
    return Skip(url, Stage.FETCH, reason, detail[:200], response.status)


def _capture(url: Url, response: aiohttp.ClientResponse, payload: bytes, body: bytes, kind: str = "") -> Capture:
    return Capture(
        url=url,
        status=response.status,
        headers=tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.raw_headers),
        body=body,
        at=0.0,
        media_type=kind,
        request=_request_head(response.request_info),
        payload=payload,
    )


def _request_head(request: aiohttp.RequestInfo) -> bytes:
    """As sent, but for the password of a proxy, which is not for the archive."""
    lines = [f"{name}: {value}" for name, value in request.headers.items() if name.lower() != "proxy-authorization"]
    return "\r\n".join([f"{request.method} {request.url.raw_path_qs} HTTP/1.1", *lines, "", ""]).encode()


# Why no answer came


def failure(url: Url, error: Exception, proxy: URL | None) -> Skip:
    """What that error means for that URL, asked for through that proxy."""
    if proxy is not None and (fault := _of_the_proxy(error, proxy)):
        return _failure_skip(url, Reason.PROXY, f"the proxy {proxy_name(proxy)} {fault}")
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(cause, PrivateAddressError):
        return _failure_skip(url, Reason.PRIVATE_ADDRESS, str(cause))
    reason = next((reason for kinds, reason in _REASONS if isinstance(error, kinds)), Reason.HTTP_ERROR)
    return _failure_skip(url, reason, _in_words(url, reason, error, cause))


def proxy_refusal(url: Url, proxy: URL) -> Skip:
    """The proxy answered 407 in place of the host."""
    return _failure_skip(url, Reason.PROXY, f"the proxy {proxy_name(proxy)} {_WANTS_A_PASSWORD}")


_EXPIRED = "the certificate is not valid: certificate has expired"  # as OpenSSL says it
_WANTS_A_PASSWORD = "wants a user name and a password, or different ones from those given (407)"  # noqa: S105

# The first that fits.
_REASONS: tuple[tuple[tuple[type[Exception], ...], Reason], ...] = (
    ((TimeoutError,), Reason.TIMEOUT),
    ((aiohttp.ClientSSLError, ssl.SSLError), Reason.TLS),
    ((aiohttp.ClientConnectorDNSError,), Reason.DNS),
    ((aiohttp.ClientResponseError, HttpProcessingError, aiohttp.InvalidURL), Reason.HTTP_ERROR),
    ((aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, OSError, EOFError), Reason.CONNECTION),
)
_NO_ROUTE = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN})


def _of_the_proxy(error: Exception, proxy: URL) -> str:
    """What the proxy did; empty where the error is not about it."""
    if isinstance(error, aiohttp.ClientHttpProxyError):
        answer = f"{error.status} {error.message}".strip()
        return _WANTS_A_PASSWORD if error.status == 407 else f"could not connect to the host ({answer})"
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return "did not answer in time"
    if not isinstance(error, aiohttp.ClientConnectorError) or error.host != proxy.host:
        return ""
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"cannot be reached: {_unresolved(proxy.host or '', error.os_error)}"
    return f"cannot be reached: {_plain(error.os_error)}"


def _in_words(url: Url, reason: Reason, error: Exception, cause: Exception) -> str:
    host = url.host
    if reason is Reason.DNS:
        return _unresolved(host.partition(":")[0], cause)
    if reason is Reason.TLS:
        return _no_tls(host, _tls(error))
    if reason is Reason.TIMEOUT:
        got_through = not isinstance(error, aiohttp.ConnectionTimeoutError)
        return f"no complete answer from {host} in time" if got_through else f"no connection to {host} in time"
    if reason is Reason.HTTP_ERROR:
        return f"the answer of {host} is not valid HTTP{_in_brackets(getattr(cause, 'message', '') or cause)}"
    return _unconnected(host, cause)


def _unconnected(host: str, cause: Exception) -> str:
    if isinstance(cause, OSError) and (cause.errno in _NO_ROUTE or isinstance(cause, ConnectionRefusedError)):
        return f"no connection to {host}: {_plain(cause)}"
    before_the_end = isinstance(cause, aiohttp.ClientPayloadError)
    return f"the connection to {host} broke off{' before the end of the answer' if before_the_end else _in_brackets(cause)}"


def _unresolved(name: str, cause: Exception) -> str:
    if isinstance(cause, socket.gaierror) and cause.errno == socket.EAI_AGAIN:
        return f"the address of {name} could not be looked up: no name server answered (DNS)"
    if isinstance(cause, OSError) and cause.errno is None:  # of our own resolver, in words
        return f"{cause.strerror} (DNS)"
    return f"{name} has no address (DNS)"


def _plain(cause: OSError) -> str:
    if isinstance(cause, ConnectionRefusedError):
        return "connection refused"
    if cause.errno in _NO_ROUTE:
        return "the network is unreachable"
    return (cause.strerror or str(cause) or type(cause).__name__).lower()


def _no_tls(host: str, why: str) -> str:
    return f"no secure connection to {host} (TLS): {why}"


def _tls(error: Exception) -> str:
    cause = getattr(error, "certificate_error", None) or getattr(error, "os_error", None) or error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"the certificate is not valid: {cause.verify_message}"
    return str(getattr(cause, "reason", "") or cause).replace("_", " ").lower()


def _in_brackets(error: object) -> str:
    text = str(error).partition("\n")[0].strip(" :")
    return f" ({text})" if text else ""


def _failure_skip(url: Url, reason: Reason, detail: str) -> Skip:
    return Skip(url, Stage.FETCH, reason, without_credentials(" ".join(detail.split()))[:MAX_DETAIL])
