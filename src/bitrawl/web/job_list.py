"""The jobs of one directory, and what the app wants of each. No path is ever made from what a request says.

What the app wants of a job stands in a file of the job's folder (intent.json), so that it outlives the server, and so
does who was asked to review it (reviewers.json).
"""

import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec

from bitrawl import files
from bitrawl.errors import StoreError
from bitrawl.file_names import LEDGER
from bitrawl.files import NO_JSON, writing
from bitrawl.job import FolderKind, JobFolder, kind_of
from bitrawl.review import JobReview
from bitrawl.web.operator_settings import User

INTENT = "intent.json"
REVIEWERS = "reviewers.json"
VERSION = 1
UPLOADS = ".uploads"
_REMOVED = ".removed-"
_OWN_ID = re.compile(r"[0-9a-f]{32}")


class Wish(StrEnum):
    """What somebody asked for last."""

    WAITING = "waiting"  # to be started when there is room
    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"


class JobVerb(StrEnum):
    """The commands that the app runs as jobs."""

    MINE = "mine"
    DEMO = "demo"  # the same, on the bundled web, which its process serves
    DISCOVER = "discover"
    BOOTSTRAP = "bootstrap"
    PAIR = "pair"
    SIMULATE = "simulate"
    ALIGN = "align"  # two texts, without a crawl


OFFLINE = frozenset((JobVerb.PAIR, JobVerb.SIMULATE, JobVerb.ALIGN))
"""What asks no site for anything."""
_FOUND_KINDS = {FolderKind.RUN: "run", FolderKind.TOPIC: "topic", FolderKind.SEARCH: "discover"}
_KINDS = {JobVerb.DISCOVER: "discover", JobVerb.BOOTSTRAP: "topic", JobVerb.ALIGN: "align"}
TEXTS = "texts.tsv"
"""The list of the two texts of a job that aligns them."""
ALIGNED = "aligned"
"""The folder that such a job writes, in its own."""


class Command(msgspec.Struct, frozen=True, omit_defaults=True):
    """A verb with its flags; the folder is added when it is run."""

    verb: JobVerb
    arguments: tuple[str, ...] = ()


VISIT_AGAIN = Command(JobVerb.MINE, ("--refresh",))
"""One more round of a job that has come to its end."""


class Prepared(NamedTuple):
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
    wish: Wish = msgspec.field(name="intent")
    name: str = ""  # what the owner calls the job
    sites: tuple[str, ...] = ()  # that the job visits, as far as its seeds tell
    again: Command | None = None  # what is to be run now instead of the command
    since: float = 0.0  # when it was asked to run: who asked first starts first
    process: Process | None = None  # that was started last
    gone: float = 0.0  # when a server saw that this process had ended; 0 while none has
    exit: int | None = None  # of that process; None where no server has learned it
    interrupted: bool = False  # SIGINT was sent to that process
    kill_at: float = 0.0  # when that process is killed if it has not ended, in seconds since the boot; 0 for never
    remove: bool = False  # the folder goes as soon as no process works in it

    @property
    def current(self) -> Command:
        """What is run now, or was run last."""
        return self.again or self.command


def read_intent(folder: Path) -> Intent | None:
    """None if the folder has none: the job was started from the command line. Raises `StoreError`."""
    path = folder / INTENT
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


def write_intent(folder: Path, intent: Intent) -> None:
    files.write(folder / INTENT, msgspec.json.format(msgspec.json.encode(intent)))


class ServedJob(NamedTuple):
    """A job folder of the directory. The name of the folder is the job's id."""

    id: str
    folder: JobFolder
    intent: Intent | None  # None for a job of the command line
    fault: str = ""  # why its intent cannot be read
    reviewers: tuple[str, ...] = ()  # users who may read it and judge what it found, and nothing else

    @property
    def name(self) -> str:
        if self.intent is None:
            return self.id
        return self.intent.name or ", ".join(self.intent.sites[:3]) or self.id[:8]

    @property
    def kind(self) -> str:
        """One of "mine", "discover", "topic", "align", and "run" for many sites in bundles."""
        if self.intent is not None:
            return _KINDS.get(self.intent.command.verb, "mine")
        return _FOUND_KINDS.get(kind_of(self.folder.path), "mine")

    @property
    def is_demo(self) -> bool:
        """Whether it mines the bundled web, which is there only while the job runs."""
        return self.intent is not None and self.intent.command.verb is JobVerb.DEMO

    @property
    def has_web(self) -> bool:
        """Whether the app mines sites there that can be visited again: no archives, and not the bundled web."""
        return self.intent is not None and self.intent.command.verb is JobVerb.MINE and bool(self.intent.sites)

    def review(self, person: str = "") -> JobReview:
        """What that person reads and says of what it found."""
        return JobReview(self.folder, person)

    def belongs_to(self, user: User) -> bool:
        """Jobs of the command line belong to admins. What is being deleted belongs to nobody any more."""
        if self.intent is not None and self.intent.remove:
            return False
        return user.admin or (self.intent is not None and self.intent.owner == user.name)

    def is_open_to(self, user: User) -> bool:
        """Whether that user may read it: it is theirs, or they review it."""
        is_removed = self.intent is not None and self.intent.remove
        return self.belongs_to(user) or (user.name in self.reviewers and not is_removed)


class JobList:
    """The directory of `bitrawl serve --jobs DIR`. Iterating gives all jobs, by id."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._intents: dict[str, tuple[tuple[int, int, int], Intent]] = {}  # by id, with what the file looked like
        with writing(path):
            path.mkdir(parents=True, exist_ok=True)

    def __iter__(self) -> Iterator[ServedJob]:
        """A link to a folder elsewhere is no job."""
        ids = set()
        for name in self._folders():
            folder = JobFolder(self.path / name)
            if any(mark.exists() for mark in (folder.path / INTENT, folder.description, folder.topic)):
                ids.add(name)
                yield self._job(name)
        for name in self._intents.keys() - ids:
            del self._intents[name]

    def of(self, user: User) -> list[ServedJob]:
        """The jobs that are that user's, or that they review."""
        return [job for job in self if job.is_open_to(user)]

    def find(self, job_id: str, user: User) -> ServedJob | None:
        """The job of that id; None if there is none, and if that user neither owns nor reviews it."""
        return next((job for job in self if job.id == job_id and job.is_open_to(user)), None)

    def add(self) -> tuple[str, Path]:
        """A new folder under an id that nobody can guess. It is no job before it has an intent or a description."""
        job_id = secrets.token_hex(16)
        folder = self.path / job_id
        with writing(folder):
            folder.mkdir(mode=0o700)
        return job_id, folder

    def upload_path(self) -> Path:
        """Where an upload can be written before its job exists. Whoever writes it removes it or moves it."""
        folder = self.path / UPLOADS
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder / secrets.token_hex(16)

    def take_down(self, job_id: str) -> Path:
        """Rename a job's folder to a hidden name, under which nothing finds it; `sweep` removes it.

        Raises `StoreError` for what is no job folder.
        """
        if job_id not in {job.id for job in self}:
            raise StoreError("there is no job of that id")
        folder, hidden = self.path / job_id, self.path / f"{_REMOVED}{secrets.token_hex(8)}"
        with writing(folder):
            folder.rename(hidden)
        return hidden

    def sweep(self) -> None:
        """Remove what was taken down, now or before a server was killed. It may take a while."""
        for entry in list(os.scandir(self.path)):
            if entry.name.startswith(_REMOVED) and entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)

    def sweep_drafts(self) -> None:
        """Remove uploads and new folders that a killed server left before they became jobs. Only when none is being made."""
        shutil.rmtree(self.path / UPLOADS, ignore_errors=True)
        ids = {job.id for job in self}
        for name in self._folders():
            if _OWN_ID.fullmatch(name) and name not in ids and not (self.path / name / LEDGER).exists():
                shutil.rmtree(self.path / name, ignore_errors=True)

    def write(self, job_id: str, intent: Intent) -> None:
        """Replace what the app wants of a job."""
        write_intent(self.path / job_id, intent)
        self._intents.pop(job_id, None)

    def write_reviewers(self, job_id: str, names: Iterable[str]) -> None:
        """Replace the list of those who may review a job."""
        files.write(self.path / job_id / REVIEWERS, msgspec.json.encode(sorted(set(names))))

    def size(self) -> int:
        """Bytes of all that is in the directory, also of what is hidden."""
        return sum(_size(Path(place, name)) for place, _, names in os.walk(self.path) for name in names)

    def free(self) -> int:
        """Bytes that the disk has left."""
        return shutil.disk_usage(self.path).free

    def _folders(self) -> list[str]:
        with os.scandir(self.path) as entries:
            folders = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        return sorted(name for name in folders if not name.startswith("."))

    def _job(self, name: str) -> ServedJob:
        folder = self.path / name
        reviewers = _reviewers(folder)
        try:
            return ServedJob(name, JobFolder(folder), self._intent(name, folder), reviewers=reviewers)
        except StoreError as error:
            return ServedJob(name, JobFolder(folder), None, str(error), reviewers)

    def _intent(self, name: str, folder: Path) -> Intent | None:
        """Read again only if the file has changed: the jobs are asked for often."""
        try:
            file = (folder / INTENT).lstat()
        except OSError:
            return None
        stamp = (file.st_mtime_ns, file.st_ino, file.st_size)
        cached = self._intents.get(name)
        if cached is not None and cached[0] == stamp:
            return cached[1]
        intent = read_intent(folder)
        if intent is not None:
            self._intents[name] = (stamp, intent)
        return intent


def _reviewers(folder: Path) -> tuple[str, ...]:
    """Nobody, where the file is not there or was damaged."""
    try:
        return msgspec.json.decode((folder / REVIEWERS).read_bytes(), type=tuple[str, ...])
    except (OSError, *NO_JSON):
        return ()


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:  # a job has removed it meanwhile
        return 0
