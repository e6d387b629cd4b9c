"""Who is asking: users and their tokens, and the sessions of their browsers."""

import hmac
import ipaddress
import os
import secrets
import time
from collections import deque
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote, urlsplit

from starlette.datastructures import FormData, Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bitrawl.files import write_fault
from bitrawl.web.messages import RequestError, message
from bitrawl.web.operator_settings import SINGLE_USER, User, UserSection, hashed

SESSION_DAYS = 30
COOKIE = "bitrawl"
LOGIN_ATTEMPTS = 10  # a minute and address
MEGABYTE = 1 << 20
MOST_FIELDS = 200  # of a form
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

    def __init__(self, users: Mapping[str, UserSection], secret: bytes, *, token: str = "") -> None:
        self._secret = secret
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
        return self._users[name] if time.time() - int(at) < SESSION_DAYS * 86400 else None

    def csrf_of(self, cookie: str) -> str:
        """What a form of this session carries; a foreign site cannot know it."""
        return hmac.new(self._secret, f"form\0{cookie}".encode(), sha256).hexdigest()[:40]

    def _signed(self, issued: str, name: str) -> str:
        return hmac.new(self._secret, f"session\0{issued}\0{self._hashes.get(name, '')}".encode(), sha256).hexdigest()


def secret_of(jobs: Path) -> bytes:
    """The key of this app's sessions, made once; only its owner can read it. Raises `StoreError`."""
    path = jobs / ".secret"
    try:
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            if len(secret := path.read_bytes()) >= 32:
                return secret
            descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC)
        secret = secrets.token_bytes(32)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secret)
    except OSError as error:
        raise write_fault(path, error) from error
    return secret


class RateLimit:
    """So many requests a minute from one user or address."""

    MOST_KEYS = 10_000  # addresses that are remembered

    def __init__(self, per_minute: int) -> None:
        self._most = per_minute
        self._times: dict[str, deque[float]] = {}

    def wait(self, key: str, now: float) -> float:
        """Count one request; how many seconds to wait if there were too many, otherwise 0."""
        if len(self._times) > self.MOST_KEYS:
            self._times = {other: times for other, times in self._times.items() if times and now - times[-1] < 60}
        times = self._times.setdefault(key, deque())
        while times and now - times[0] >= 60:
            times.popleft()
        if len(times) >= self._most:
            return 60 - (now - times[0])
        times.append(now)
        return 0.0


class Guard:
    """Checks the host, the origin, the size, the rate and the user, before anything else looks at a request."""

    def __init__(self, app: ASGIApp, users: Users, hosts: Iterable[str], *, per_minute: int, megabytes: int) -> None:
        self._app = app
        self._users = users
        self._hosts = frozenset(hosts)
        self._requests = RateLimit(per_minute)
        self._logins = RateLimit(LOGIN_ATTEMPTS)
        self._most_bytes = megabytes * MEGABYTE

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope.setdefault("state", {})
        answer = self._refused(scope)
        app: ASGIApp = self._app if answer is None else answer
        await app(scope, _bounded(receive, self._most_bytes), _with_headers(send, self._session(scope)))

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
        headers = Headers(scope=scope)
        if (host := _host_name(headers.get("host", ""))) not in self._hosts:
            return _plain(421, f"This server does not go by the name {host}. Its operator may add it with --name.")
        if scope["method"] not in SAFE and _is_foreign(headers):
            return _plain(403, "This request came from another site.")
        if int(headers.get("content-length") or 0) > self._most_bytes:
            return _plain(413, f"That is more than {self._most_bytes // MEGABYTE} MB.")
        user, by_token = self._identified(headers)
        scope["state"] |= {"user": user, "by_token": by_token}
        if wait := self._wait(scope, user):
            return _plain(429, "Too many requests. Try again in a moment.", {"Retry-After": f"{wait:.0f}"})
        if user is None and (by_token or not scope["path"].startswith(PUBLIC)):
            return _asks_for_token(scope)
        return None

    def _wait(self, scope: Scope, user: User | None) -> float:
        """How many seconds the asker must wait. Tokens that are not known cost more, so that nobody can guess one."""
        address, now = (scope.get("client") or ("", 0))[0], time.monotonic()
        is_login = scope["path"] == "/login" and scope["method"] == "POST"
        if (is_login or (scope["state"]["by_token"] and user is None)) and (wait := self._logins.wait(address, now)):
            return wait
        return self._requests.wait(f"user {user.name}" if user else address, now)

    def _identified(self, headers: Headers) -> tuple[User | None, bool]:
        """The user, and whether the request came with a token instead of a cookie."""
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return self._users.by_token(token.strip()), True
        if self._users.open is not None:
            return self._users.open, False
        return self._users.by_session(cookie_of(headers)), False


def cookie_of(headers: Headers) -> str:
    for part in headers.get("cookie", "").split(";"):
        name, _, value = part.strip().partition("=")
        if name == COOKIE:
            return value
    return ""


def set_cookie(value: str, *, secure: bool) -> str:
    """The header of a session; an empty value ends it."""
    age = SESSION_DAYS * 86400 if value else 0
    return f"{COOKIE}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Strict{'; Secure' if secure else ''}"


def csrf_of(request: Request) -> str:
    """For the forms of this page."""
    users: Users = request.app.state.server.users
    return users.csrf_of(request.state.cookie)


async def posted(request: Request) -> FormData:
    """The form of a request that its own page sent."""
    form = await request.form(max_files=20, max_fields=MOST_FIELDS, max_part_size=4 * MEGABYTE)
    if request.state.by_token:
        return form
    secret = request.headers.get("x-csrf-token") or str(form.get("csrf", ""))
    cookie = cookie_of(request.headers)
    users: Users = request.app.state.server.users
    # Compared as text: a wrong one costs a try, and there are 2^160 of them.
    if not cookie or secret != users.csrf_of(cookie):
        raise RequestError(403, message("This form is out of date. Open the page again, then send it again."))
    return form


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


def _host_name(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() and ":" in host else host


def _is_foreign(headers: Headers) -> bool:
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return True
    origin = headers.get("origin")
    return origin is not None and (origin == "null" or urlsplit(origin).netloc != headers.get("host"))


def _asks_for_token(scope: Scope) -> Response:
    if scope["path"].startswith("/api/") or scope["method"] not in SAFE or scope["state"]["by_token"]:
        wrong = "This token is not known." if scope["state"]["by_token"] else "This needs a token."
        return _plain(401, f"{wrong} Send one with: -H 'Authorization: Bearer TOKEN'", {"WWW-Authenticate": "Bearer"})
    query = f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else ""
    return RedirectResponse(f"/login?next={quote(scope['path'] + query)}", 303)


def _plain(status: int, text: str, headers: dict[str, str] | None = None) -> Response:
    return Response(text + "\n", status, headers, media_type="text/plain")


def _bounded(receive: Receive, most: int) -> Receive:
    """A body without a stated length ends with an error as well."""
    read = 0

    async def bounded() -> Message:
        nonlocal read
        event = await receive()
        read += len(event.get("body", b""))
        if read > most:
            raise RequestError(413, message("That is more than {most} MB.", most=most // MEGABYTE))
        return event

    return bounded


def _with_headers(send: Send, cookie: str) -> Send:
    async def sending(event: Message) -> None:
        if event["type"] == "http.response.start":
            headers = MutableHeaders(scope=event)
            if cookie and headers.get("content-type", "").startswith("text/html"):
                headers.append("Set-Cookie", cookie)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(event)

    return sending
