"""Who is asking: users and their tokens, and the sessions of their browsers."""

import hmac
import os
import secrets
import time
from collections import deque
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from bitrawl.files import write_fault
from bitrawl.web.settings import SINGLE_USER, User, UserSection

SESSION_DAYS = 30  # judgement


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
        given, found = hashed(token), None
        for name, known in self._hashes.items():
            if hmac.compare_digest(given, known):
                found = self._users[name]
        return found

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


def hashed(token: str) -> str:
    """As it stands in serve.toml: a token is random, so a plain hash is enough."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def secret_of(jobs: Path) -> bytes:
    """The key of this app's sessions, made once; only its owner can read it. Raises `StoreError`."""
    path = jobs / ".secret"
    try:
        return _read_or_made(path)
    except OSError as error:
        raise write_fault(path, error) from error


def _read_or_made(path: Path) -> bytes:
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

    MOST_KEYS = 10_000  # addresses that are remembered; judgement

    def __init__(self, per_minute: int) -> None:
        self._most = per_minute
        self._times: dict[str, deque[float]] = {}

    def wait(self, key: str, now: float) -> float:
        """Count one request; how many seconds to wait if there were too many, otherwise 0."""
        if len(self._times) > self.MOST_KEYS:
            self._times = {one: times for one, times in self._times.items() if times and now - times[-1] < 60}
        times = self._times.setdefault(key, deque())
        while times and now - times[0] >= 60:
            times.popleft()
        if len(times) >= self._most:
            return 60 - (now - times[0])
        times.append(now)
        return 0.0
