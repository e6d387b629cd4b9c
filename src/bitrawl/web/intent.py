"""What the app wants of a job, in a file of the job's folder, so that it outlives the server."""

from enum import StrEnum
from pathlib import Path

import msgspec

from bitrawl import files
from bitrawl.errors import StoreError
from bitrawl.files import NO_JSON

NAME = "intent.json"
VERSION = 1


class Wish(StrEnum):
    """What somebody asked for last."""

    WAITING = "waiting"  # to be started when there is room
    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"


class Verb(StrEnum):
    """The commands that the app runs."""

    MINE = "mine"
    CRAWL = "crawl"
    DISCOVER = "discover"
    BOOTSTRAP = "bootstrap"
    PAIR = "pair"
    ALIGN = "align"
    EXPORT = "export"
    SIMULATE = "simulate"


AGAIN = frozenset((Verb.PAIR, Verb.ALIGN, Verb.EXPORT, Verb.SIMULATE))
"""What is done with a job that has been crawled. It asks no site for anything."""


class Command(msgspec.Struct, frozen=True, omit_defaults=True):
    """A verb with its flags; the folder is added when it is run."""

    verb: Verb
    arguments: tuple[str, ...] = ()


class Prepared(msgspec.Struct, frozen=True):
    """A job whose files are in its folder."""

    command: Command
    sites: tuple[str, ...] = ()  # that it visits, as far as its seeds tell


class Process(msgspec.Struct, frozen=True):
    """One process of one boot of the machine: a number alone may belong to another process later."""

    pid: int
    started: int  # in hundredths of a second since the boot
    boot: str


class Intent(msgspec.Struct, frozen=True, kw_only=True):
    """Written by the app and by nobody else; the job's process does not know of it."""

    version: int = VERSION
    owner: str
    created: float  # seconds since the epoch
    command: Command
    intent: Wish
    name: str = ""  # what the owner calls the job
    sites: tuple[str, ...] = ()  # that the job visits, as far as its seeds tell
    again: Command | None = None  # what is to be run now instead of the command
    since: float = 0.0  # when it was asked to run: who asked first starts first
    process: Process | None = None  # that was started last
    gone: float = 0.0  # when a server saw that this process had ended; 0 while none has
    exit: int | None = None  # of that process; None where no server has learned it
    interrupted: bool = False  # SIGINT was sent to that process
    kill_at: float = (
        0.0  # when that process is killed, in seconds since the boot, if it has not ended by then; 0 for never
    )
    remove: bool = False  # the folder goes as soon as no process works in it

    @property
    def current(self) -> Command:
        """What is run now, or was run last."""
        return self.again or self.command


def read(folder: Path) -> Intent | None:
    """None if the folder has none: the job was started from the command line. Raises `StoreError`."""
    path = folder / NAME
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from error
    try:
        intent = msgspec.json.decode(content, type=Intent)
    except NO_JSON as error:
        raise StoreError(f"{path} is not what the app wrote: {error}") from error
    if intent.version != VERSION:
        raise StoreError(f"{path} was written by another version of bitrawl (format {intent.version})")
    return intent


def write(folder: Path, intent: Intent) -> None:
    files.write(folder / NAME, msgspec.json.format(msgspec.json.encode(intent)))
