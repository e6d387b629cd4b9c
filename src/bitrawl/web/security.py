"""Who is asking, and for how much: users and their tokens, the sessions of their browsers, the bounds of a request."""

import hmac
import ipaddress
import os
import secrets
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AsyncExitStack
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec
from starlette.datastructures import FormData, Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bitrawl import files
from bitrawl.choices import MEGABYTE
from bitrawl.files import writing
from bitrawl.web.api.shapes import ApiError
from bitrawl.web.messages import RequestError, message, shortened
from bitrawl.web.operator_settings import SINGLE_USER, User, UserSection, hashed
from bitrawl.web.turns import Turns

SESSION_DAYS = 30
COOKIE = "bitrawl"
LOGIN_ATTEMPTS = 10  # a minute and address
MOST_FIELDS = 200  # of a form
MOST_FILES = 20  # of a form
MOST_BODY = 4 * MEGABYTE  # of a request without files, and of what is typed into a form with files
SMALL_BODY = 256 << 10  # bytes that are read at once, whoever sends them
LARGE_AT_ONCE = 2  # larger bodies in memory: an odd one takes 30 times its size while it is read
UPLOADS_AT_ONCE = 4
LEAST_PACKED = 1000  # bytes of an answer that is worth packing
PACKING = 5  # of gzip: within a few per cent of the best, in a third of the time
_AS_IT_IS = "identity"
UPLOADS = ("/jobs", "/discover")
"""The forms that have files."""
PUBLIC = ("/login", "/static/", "/favicon.ico", "/health", "/language", "/openapi.json")
"""Paths that need no token."""
SAFE = ("GET", "HEAD", "OPTIONS")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""For report.html, which carries its own style and text from the web: no scripts, no forms, an origin of its own."""

_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}


class Users:
    """All who may use the app. Without users and without a token there is one user, who needs no token."""

    def __init__(
        self, users: Mapping[str, UserSection], secret: bytes, *, token: str = "", ended: Path | None = None
    ) -> None:
        """`ended` is the file of the sessions that somebody has ended, so that they stay so."""
        self._secret = secret
        self._ended_file = ended
        self._ended = _read_ended(ended) if ended is not None else {}
        self._hashes = {name: user.token_sha256.lower() for name, user in users.items()}
        self._users = {name: User(name, user.admin) for name, user in users.items()}
        if token:
            self._hashes[SINGLE_USER] = hashed(token)
        if token or not users:
            self._users[SINGLE_USER] = User(SINGLE_USER, admin=True)

    @property
    def open(self) -> User | None:
        """Who everybody is, where no token is asked for."""
        return None if self._hashes else self._users[SINGLE_USER]

    def __iter__(self) -> Iterator[User]:
        """All of them, in alphabetical order."""
        return iter(sorted(self._users.values()))

    def by_token(self, token: str) -> User | None:
        """Each token is compared, so that the time tells nothing."""
        digest = hashed(token)
        names = [name for name, expected in self._hashes.items() if hmac.compare_digest(digest, expected)]
        return self._users[names[-1]] if names else None

    def new_session(self, user: User) -> str:
        """The value of a cookie. It ends when the user's token changes."""
        issued = f"{user.name}.{int(time.time())}.{secrets.token_urlsafe(9)}"
        return f"{issued}.{self._signed(issued, user.name)}"

    def by_session(self, cookie: str) -> User | None:
        issued, _, signature = cookie.rpartition(".")
        name, at, _ = (*issued.rsplit(".", 2), "", "")[:3]  # a name may have dots
        if name not in self._users or not at.isdecimal():
            return None
        if not hmac.compare_digest(signature.encode(), self._signed(issued, name).encode()):
            return None
        if _session_key(cookie) in self._ended:
            return None
        return self._users[name] if time.time() - int(at) < SESSION_DAYS * 86400 else None

    def end_session(self, cookie: str) -> None:
        """Whoever has a copy of the cookie cannot use it any more. Raises `StoreError`."""
        if self.by_session(cookie) is None:
            return
        oldest = time.time() - SESSION_DAYS * 86400
        self._ended = {key: at for key, at in self._ended.items() if at > oldest}
        self._ended[_session_key(cookie)] = int(time.time())
        if self._ended_file is not None:
            lines = [f"{key} {at}\n" for key, at in self._ended.items()]
            files.write(self._ended_file, "".join(lines).encode())

    def csrf_of(self, cookie: str) -> str:
        """What a form of this session carries; a foreign site cannot know it."""
        return hmac.new(self._secret, f"form\0{cookie}".encode(), sha256).hexdigest()[:40]

    def _signed(self, issued: str, name: str) -> str:
        return hmac.new(self._secret, f"session\0{issued}\0{self._hashes.get(name, '')}".encode(), sha256).hexdigest()


def _session_key(cookie: str) -> str:
    """As it is kept of a session that has ended; the cookie itself is a secret."""
    return sha256(cookie.encode("utf-8", "surrogatepass")).hexdigest()


def _read_ended(path: Path) -> dict[str, int]:
    """When each ended, by key."""
    try:
        lines = [line.split() for line in path.read_text("ascii").splitlines()]
    except (OSError, ValueError):
        return {}
    return {line[0]: int(line[1]) for line in lines if len(line) == 2 and line[1].isdecimal()}


def secret_of(jobs: Path) -> bytes:
    """The key of this app's sessions, made once; only its owner can read it. Raises `StoreError`."""
    path = jobs / ".secret"
    with writing(path):
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            if len(secret := path.read_bytes()) >= 32:
                return secret
            descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC)
        secret = secrets.token_bytes(32)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secret)
    return secret


class RateLimit:
    """So many requests a minute from one user or address."""

    def __init__(self, per_minute: int, most_keys: int = 10_000) -> None:
        """`most_keys` are remembered."""
        self._most = per_minute
        self._most_keys = most_keys
        self._times: dict[str, deque[float]] = {}

    def wait(self, key: str, now: float) -> float:
        """Count one request; how many seconds to wait if there were too many, otherwise 0."""
        if len(self._times) > self._most_keys:
            self._times = {other: times for other, times in self._times.items() if times and now - times[-1] < 60}
        times = self._times.setdefault(key, deque())
        while times and now - times[0] >= 60:
            times.popleft()
        if len(times) >= self._most:
            return 60 - (now - times[0])
        times.append(now)
        return 0.0


class Compression:
    """Packs answers, but no downloads, which can go on from any byte, and none that another site has asked for.

    By the length of packed answers, a page that could ask often enough would learn secrets (BREACH, Gluck et al. 2013).
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._packing = GZipMiddleware(self._marking, LEAST_PACKED, PACKING)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        plain = scope["type"] != "http" or "range" in headers or _comes_from_another_site(headers)
        await (self._app if plain else self._packing)(scope, receive, send)

    async def _marking(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(event: Message) -> None:
            if event["type"] == "http.response.start":
                headers = MutableHeaders(scope=event)
                if "content-disposition" in headers:
                    headers["Content-Encoding"] = _AS_IT_IS  # the packing leaves alone what has one
            await send(event)

        await self._app(scope, receive, sending)


class Guard:
    """Checks the host, the origin, the size, the rate and the user, before anything else looks at a request."""

    def __init__(self, app: ASGIApp, users: Users, hosts: Iterable[str], *, per_minute: int, megabytes: int) -> None:
        self._app = app
        self._users = users
        self._hosts = frozenset(host.lower() for host in hosts)
        self._requests = RateLimit(per_minute)
        self._logins = RateLimit(LOGIN_ATTEMPTS)
        self._most_uploaded = megabytes * MEGABYTE
        self._large = Turns(LARGE_AT_ONCE, of_one=1)
        self._uploads = Turns(UPLOADS_AT_ONCE, of_one=1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope.setdefault("state", {})
        answer = self._refused(scope)
        app: ASGIApp = self._app if answer is None else answer
        async with AsyncExitStack() as at_end:
            scope["state"]["at_end"] = at_end
            bounded = self._bounded(scope, receive, at_end)
            await app(scope, bounded, _with_headers(send, self._session(scope)))

    def _bounded(self, scope: Scope, receive: Receive, at_end: AsyncExitStack) -> Receive:
        """A body is counted while it is read, whatever it says of its length. A large one waits for its turn."""
        most, read, has_place = self._most_bytes(scope), 0, False
        turns, free = (self._uploads, 0) if _has_files(scope) else (self._large, SMALL_BODY)

        async def bounded() -> Message:
            nonlocal read, has_place
            event = await receive()
            read += len(event.get("body", b""))
            if read > most:
                raise RequestError(413, message("That is more than {most} MB.", most=most // MEGABYTE))
            if read > free and not has_place:
                has_place = True
                await at_end.enter_async_context(turns.turn(_person(scope)))
            return event

        return bounded

    def _most_bytes(self, scope: Scope) -> int:
        return self._most_uploaded if scope["path"] in UPLOADS and _has_files(scope) else MOST_BODY

    def _session(self, scope: Scope) -> str:
        """A cookie to set, where everybody is the same user; the forms of a page are bound to it."""
        headers, state = Headers(scope=scope), scope["state"]
        state["cookie"] = cookie_of(headers)
        user = self._users.open
        if user is None or state.get("by_token") or self._users.by_session(state["cookie"]) is not None:
            return ""
        state["cookie"] = self._users.new_session(user)
        return set_cookie(state["cookie"], secure=scope["scheme"] == "https")

    def _refused(self, scope: Scope) -> Response | None:
        headers, most = Headers(scope=scope), self._most_bytes(scope)
        if (host := _host_name(headers.get("host", ""))) not in self._hosts:
            why = f"This server does not go by the name {shortened(host)}. Its operator may add it with --name."
            return _refusal(scope, 421, why)
        if scope["method"] not in SAFE and _is_foreign(headers):
            return _refusal(scope, 403, "This request came from another site.")
        if int(headers.get("content-length") or 0) > most:
            return _refusal(scope, 413, f"That is more than {most // MEGABYTE} MB.")
        user, by_token = self._identified(headers)
        scope["state"] |= {"user": user, "by_token": by_token}
        if wait := self._wait(scope, user):
            headers_of_answer = {"Retry-After": f"{wait:.0f}"}
            return _refusal(scope, 429, "Too many requests. Try again in a moment.", headers_of_answer)
        if user is None and (by_token or not scope["path"].startswith(PUBLIC)):
            return _asks_for_token(scope)
        return None

    def _wait(self, scope: Scope, user: User | None) -> float:
        """How many seconds the asker must wait. Tokens that are not known cost more, so that nobody can guess one."""
        address, now = (scope.get("client") or ("", 0))[0], time.monotonic()
        is_login = scope["path"] == "/login" and scope["method"] == "POST"
        if (is_login or (scope["state"]["by_token"] and user is None)) and (wait := self._logins.wait(address, now)):
            return wait
        return self._requests.wait(_person(scope), now)

    def _identified(self, headers: Headers) -> tuple[User | None, bool]:
        """The user, and whether the request came with a token instead of a cookie."""
        if self._users.open is not None:  # a token that nobody asked for is no mistake
            return self._users.open, False
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return self._users.by_token(token.strip()), True
        return self._users.by_session(cookie_of(headers)), False


def cookie_of(headers: Headers) -> str:
    for part in headers.get("cookie", "").split(";"):
        name, _, value = part.strip().partition("=")
        if name == COOKIE:
            return value
    return ""


def set_cookie(value: str, *, secure: bool) -> str:
    """The header of a session; an empty value ends it.

    It comes with links from other sites too. What they could do by it is checked by origin and by the secret of a form.
    """
    age = SESSION_DAYS * 86400 if value else 0
    return f"{COOKIE}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Lax{'; Secure' if secure else ''}"


def csrf_of(request: Request) -> str:
    """For the forms of this page."""
    users: Users = request.app.state.server.users
    return users.csrf_of(request.state.cookie)


async def posted(request: Request) -> FormData:
    """The form of a request that its own page sent."""
    form = await _form(request)
    if request.state.by_token:
        return form
    secret = request.headers.get("x-csrf-token") or str(form.get("csrf", ""))
    cookie = cookie_of(request.headers)
    users: Users = request.app.state.server.users
    # Compared as text: a wrong one costs a try, and there are 2^160 of them.
    if not cookie or secret != users.csrf_of(cookie):
        raise RequestError(403, message("This form is out of date. Open the page again, then send it again."))
    return form


async def _form(request: Request) -> FormData:
    if not _has_files(request.scope):
        return await request.form(max_fields=MOST_FIELDS, max_part_size=MOST_BODY)
    parser = _FormWithFiles(request.headers, request.stream(), max_files=MOST_FILES, max_fields=MOST_FIELDS)
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise HTTPException(400, error.message) from error
    request.state.at_end.push_async_callback(form.close)
    return form


class _FormWithFiles(MultiPartParser):
    """All that was typed is bounded together, and files are soon on the disk."""

    spool_max_size = 64 << 10

    def __init__(self, *args: Any, **limits: Any) -> None:
        super().__init__(*args, max_part_size=MOST_BODY, **limits)
        self._typed = 0

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        if self._current_part.file is None:
            self._typed += end - start
        if self._typed > MOST_BODY:
            why = message(
                "You typed more than {most} MB. Put it into a file, and send that.", most=MOST_BODY // MEGABYTE
            )
            raise RequestError(413, why)
        super().on_part_data(data, start, end)


def host_names(bound: str, names: Iterable[str]) -> set[str]:
    """What the Host header may say: a page that names itself otherwise is an attack by DNS rebinding."""
    local = {"localhost", "127.0.0.1", "::1"}
    return {*local, *names, *([bound] if bound not in ("0.0.0.0", "::") else [])}  # noqa: S104 - no address to bind


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _has_files(scope: Scope) -> bool:
    return Headers(scope=scope).get("content-type", "").strip().lower().startswith("multipart/")


def _person(scope: Scope) -> str:
    """Whose request it is: a user's, or else an address's."""
    user = scope["state"].get("user")
    return f"user {user.name}" if user else str((scope.get("client") or ("", 0))[0])


def _host_name(host: str) -> str:
    host = host.lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() and ":" in host else host


def _comes_from_another_site(headers: Headers) -> bool:
    return headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")


def _is_foreign(headers: Headers) -> bool:
    if _comes_from_another_site(headers):
        return True
    origin = headers.get("origin")
    return origin is not None and (
        origin == "null" or urlsplit(origin.lower()).netloc != headers.get("host", "").lower()
    )


def _asks_for_token(scope: Scope) -> Response:
    if scope["path"].startswith("/api/") or scope["method"] not in SAFE or scope["state"]["by_token"]:
        wrong = "This token is not known." if scope["state"]["by_token"] else "This needs a token."
        why = f"{wrong} Send one with: -H 'Authorization: Bearer TOKEN'"
        return _refusal(scope, 401, why, {"WWW-Authenticate": "Bearer"})
    query = f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else ""
    return RedirectResponse(f"/login?next={quote(scope['path'] + query)}", 303)


def _refusal(scope: Scope, status: int, text: str, headers: dict[str, str] | None = None) -> Response:
    """In the shape of the API's errors, or as a line of text."""
    if scope["path"].startswith("/api/"):
        return Response(msgspec.json.encode(ApiError(text)), status, headers, media_type="application/json")
    return Response(text + "\n", status, headers, media_type="text/plain")


def _with_headers(send: Send, cookie: str) -> Send:
    async def sending(event: Message) -> None:
        if event["type"] == "http.response.start":
            headers = MutableHeaders(scope=event)
            if cookie and headers.get("content-type", "").startswith("text/html"):
                headers.append("Set-Cookie", cookie)
            if headers.get("content-encoding") == _AS_IT_IS:
                del headers["Content-Encoding"]
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(event)

    return sending
