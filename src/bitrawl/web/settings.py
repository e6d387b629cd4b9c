"""What the operator of a server decides: users, limits, and settings that every job gets (serve.toml)."""

import difflib
import re
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec

from bitrawl import config
from bitrawl.errors import ConfigError

SINGLE_USER = "you"
_HASH = re.compile(r"[0-9a-f]{64}")
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
    """How much the users may have. The figures are judgement: a small server with a few users."""

    running: Count = 4  # jobs at once, of all users
    user_running: Count = 2  # jobs at once, of one user
    user_jobs: Count = 100  # jobs of one user, ended or not
    pages: Count = 20_000  # the budget of one job at most; also the budget of a job that names none
    megabytes: Amount = 2000.0
    minutes: Amount = 720.0
    disk_megabytes: Amount = 50_000.0  # of all jobs; no job starts above it
    free_megabytes: Amount = 500.0  # of the disk; no job starts below it
    requests: Count = 600  # of one user, in a minute


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole serve.toml."""

    users: dict[str, UserSection] = {}
    limits: LimitsSection = LimitsSection()
    job: dict[str, Any] = {}  # tables of a job file; users cannot change what is set here

    def single_user(self) -> User | None:
        """The one user of an app without users, who sees everything; None where users are named."""
        return None if self.users else User(SINGLE_USER, admin=True)


def read(path: Path) -> Settings:
    """Raises `ConfigError`, which names the key."""
    described = config.read(path, what="settings file")
    try:
        return _checked(msgspec.convert(described, Settings))
    except msgspec.ValidationError as error:
        raise ConfigError(f"{path}: {_explain(str(error))}") from error
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def _checked(settings: Settings) -> Settings:
    for name, user in settings.users.items():
        if not _NAME.fullmatch(name):
            raise ConfigError(f"[users.{name}]: a name has letters, digits, dots, dashes and underscores, at most 64")
        if not _HASH.fullmatch(user.token_sha256):
            raise ConfigError(
                f"[users.{name}]: token_sha256 is no SHA-256 hash, which has 64 digits from 0 to f."
                " Make one with: bitrawl serve --new-token"
            )
    hashes = [user.token_sha256 for user in settings.users.values()]
    if len(set(hashes)) < len(hashes):
        raise ConfigError("[users]: two users have the same token_sha256; give each a token of their own")
    try:
        config.typed(settings.job)
    except ConfigError as error:
        raise ConfigError(f"[job]: {error}") from error
    return settings


def _explain(error: str) -> str:
    """The message of msgspec, with the nearest known key."""
    parts = error.split("`")
    if "unknown field" not in error or len(parts) < 2:
        return error.replace(" - at `$.", " at `")
    table = parts[3].removeprefix("$").removeprefix(".") if len(parts) > 3 else ""
    sections: dict[str, type[msgspec.Struct]] = {"": Settings, "limits": LimitsSection}
    keys = [field.name for field in msgspec.structs.fields(sections.get(table, UserSection))]
    near = difflib.get_close_matches(parts[1], keys, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(keys)}"
    return f"unknown key {parts[1]!r}{f' in [{table}]' if table else ''}; {hint}"
