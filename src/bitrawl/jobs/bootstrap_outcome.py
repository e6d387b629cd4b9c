"""How far a bootstrap is, and what it has found: two files of its folder, which others may read at any time."""

from enum import StrEnum
from pathlib import Path

import msgspec

from bitrawl import files
from bitrawl.errors import BitrawlError
from bitrawl.files import NO_JSON
from bitrawl.model import Language

PROGRESS, FOUND = "progress.json", "found.json"


class Step(StrEnum):
    """What a bootstrap is doing. One that has failed tells by its last step what it failed at."""

    ASKING = "asking"  # whether a wiki answers there
    SEARCHING = "searching"  # for the category
    READING = "reading"  # articles, their translations and links
    CHECKING = "checking"  # whether the cited sites are bilingual


class Progress(msgspec.Struct, frozen=True):
    """One moment of it."""

    step: Step
    wiki: str = ""  # its host; empty for a dump
    done: int = 0  # answers of the wiki, or sites that were checked
    total: int = 0  # sites to check
    failed: str = ""  # why it could not go on, without advice for the command line


class BilingualSite(msgspec.Struct, frozen=True):
    """A cited site that probably has translations."""

    home: str  # a URL
    languages: tuple[Language, ...]
    articles: int  # of the wiki that cite it


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it."""

    category: str
    articles: int
    categories: int
    complete: bool = True  # otherwise the category has more articles than were read
    terms: dict[Language, int]
    excluded: dict[str, int]  # titles, by reason
    edited: bool  # whether the topic is made from a table that a person has edited
    seeds: int
    cited: int  # sites
    checked: int
    sites: tuple[BilingualSite, ...] = ()
    advice: tuple[str, ...] = ()  # for the command line

    @property
    def candidates(self) -> int:
        return len(self.sites)


class Notes:
    """Keeps the progress in the folder."""

    def __init__(self, folder: Path, wiki: str = "") -> None:
        self._folder = folder
        self._now = Progress(Step.ASKING, wiki)

    def begin(self, step: Step, total: int = 0) -> None:
        self._now = Progress(step, self._now.wiki, 0, total)
        self._write()

    def count(self) -> None:
        """One more is done."""
        self._now = msgspec.structs.replace(self._now, done=self._now.done + 1)
        self._write()

    def fail(self, error: BitrawlError) -> None:
        self._now = msgspec.structs.replace(self._now, failed=error.without_advice)
        self._write()

    def _write(self) -> None:
        files.write(self._folder / PROGRESS, msgspec.json.encode(self._now))


def write_found(folder: Path, found: Summary) -> None:
    files.write(folder / FOUND, msgspec.json.encode(found))


def read_progress(folder: Path) -> Progress | None:
    """None before it has begun."""
    try:
        return msgspec.json.decode((folder / PROGRESS).read_bytes(), type=Progress)
    except (OSError, *NO_JSON):
        return None


def read_found(folder: Path) -> Summary | None:
    """None before it has ended; also in the folder of an earlier version, which has no such file."""
    try:
        return msgspec.json.decode((folder / FOUND).read_bytes(), type=Summary)
    except (OSError, *NO_JSON):
        return None
