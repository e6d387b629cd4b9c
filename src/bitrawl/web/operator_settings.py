"""What the operator of a server decides: users, limits, and settings that every job gets (serve.toml)."""

import re
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from bitrawl import config
from bitrawl.crawling import is_private_host
from bitrawl.errors import ConfigError, UrlError
from bitrawl.languages import parse_language
from bitrawl.url import Url, has_credentials, without_credentials

SINGLE_USER = "you"
_HASH = re.compile(r"[0-9a-f]{64}")
_EDITION = 'en = "https://wiki.example.org/w/api.php"'
_INTERVAL = re.compile(r"([1-9][0-9]{0,3})([hdw])")
_UNIT_SECONDS = {"h": 3600.0, "d": 86400.0, "w": 604800.0}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

Count = Annotated[int, msgspec.Meta(ge=1)]
Amount = Annotated[float, msgspec.Meta(gt=0)]


class User(NamedTuple):
    """Somebody who uses the app. An admin sees all jobs, also those that the command line made."""

    name: str
    admin: bool = False


class UserSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Somebody who may use the app, by a token whose hash stands here."""

    token_sha256: str
    admin: bool = False


class LimitsSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much the users may have: enough for a small server with a few users."""

    running: Count = 4  # jobs at once, of all users
    user_running: Count = 2  # jobs at once, of one user
    user_jobs: Count = 100  # jobs of one user, ended or not
    pages: Count = 20_000  # the budget of one job at most; also the budget of a job that names none
    megabytes: Amount = 2000.0
    minutes: Amount = 720.0
    disk_megabytes: Amount = 50_000.0  # of all jobs; no job starts above it
    free_megabytes: Amount = 500.0  # of the disk; no job starts below it
    requests: Count = 600  # of one user, in a minute


class WikiSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The MediaWiki that topics come from, in place of Wikipedia."""

    editions: dict[str, str]  # by language, the address of its api.php; the first is the default
    name: str = ""  # for users; the host of the first edition if empty
    allow_private: bool = False  # these hosts may have private addresses; the sites that the wiki cites may not

    @property
    def title(self) -> str:
        return self.name or Url.parse(next(iter(self.editions.values()))).host


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole serve.toml."""

    users: dict[str, UserSection] = {}
    limits: LimitsSection = LimitsSection()
    wiki: WikiSection | None = None  # None is Wikipedia
    every: str = ""  # how long after its end a finished job is visited again: "7d"; empty for never
    docs: str = ""  # the address of the documentation that pages link to; empty for the project's page
    job: dict[str, Any] = {}  # tables of a job file; users cannot change what is set here


def hashed(token: str) -> str:
    """As it stands in serve.toml: a token is random, so a plain hash is enough."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def interval(text: str) -> float:
    """The seconds of "12h", "7d" or "2w". Raises `ConfigError`."""
    parts = _INTERVAL.fullmatch(text)
    if parts is None:
        raise ConfigError(f"every: {text!r} is not a length of time; give hours, days or weeks, such as 12h, 7d or 2w")
    return int(parts[1]) * _UNIT_SECONDS[parts[2]]


def read(path: Path) -> Settings:
    """Raises `ConfigError`, which names the key."""
    described = config.read(path, what="settings file")
    try:
        return _checked(config.converted(described, Settings))
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def _checked(settings: Settings) -> Settings:
    for name, user in settings.users.items():
        if not _NAME.fullmatch(name):
            raise ConfigError(f"[users.{name}]: a name has letters, digits, dots, dashes and underscores, at most 64")
        if not _HASH.fullmatch(user.token_sha256):
            raise ConfigError(
                f"[users.{name}]: token_sha256 is not a SHA-256 hash, which has 64 digits from 0 to f."
                " Make one with: bitrawl serve --new-token"
            )
    hashes = [user.token_sha256 for user in settings.users.values()]
    if len(set(hashes)) < len(hashes):
        raise ConfigError("[users]: two users have the same token_sha256; give each a token of their own")
    if settings.docs and not (settings.docs.startswith(("http://", "https://")) and settings.docs.endswith("/")):
        raise ConfigError(
            'docs: give the address of a folder, with a slash at its end: docs = "https://docs.example.org/"'
        )
    if settings.every:
        interval(settings.every)
    if settings.wiki is not None:
        _check_wiki(settings.wiki, settings.job)
    try:
        config.typed(settings.job)
    except ConfigError as error:
        raise ConfigError(f"[job]: {error}") from error
    return settings


def _check_wiki(wiki: WikiSection, job: dict[str, Any]) -> None:
    if not wiki.editions:
        raise ConfigError(f"[wiki.editions] is empty; name a wiki by its language: {_EDITION}")
    for code, address in wiki.editions.items():
        if str(parse_language(code)) != code:
            raise ConfigError(f"[wiki.editions] {code}: write the language as {str(parse_language(code))!r}")
        try:
            url = Url.parse(address)
        except UrlError as error:
            raise ConfigError(f"[wiki.editions] {code}: {error}") from error
        if not url.path.endswith("/api.php") or url.query or has_credentials(address):
            raise ConfigError(
                f"[wiki.editions] {code}: {without_credentials(address)} is not the address of an api.php;"
                f" the wiki's page Special:Version names it. Write it like this: {_EDITION}"
            )
        open_to_all = job.get("fetch", {}).get("allow_private", False)
        if is_private_host(urlsplit(url).hostname or "") and not (wiki.allow_private or open_to_all):
            raise ConfigError(
                f"[wiki.editions] {code}: {url.host} is a private address; add to [wiki]: allow_private = true"
            )
