"""Which files of a folder bitrawl made, by their names: nothing else is deleted or written over, and never an input."""

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bitrawl import files
from bitrawl.config import Job, with_paths
from bitrawl.corpus.card import is_foreign_card
from bitrawl.corpus.export import ABOUT, CorpusHeader, corpus_headers, corpus_names
from bitrawl.errors import BitrawlError, ConfigError, StoreError
from bitrawl.file_names import (
    ARCHIVE,
    CORPUS,
    DESCRIPTION,
    FOUND_SITES,
    INDEX,
    LEDGER,
    LOCK,
    MINED_SITES,
    REPORT,
    SEARCHED,
    SHARD,
    SITES_JSON,
    SITES_TABLE,
    VERDICTS,
)
from bitrawl.languages import parse_language
from bitrawl.model import Language
from bitrawl.store.folder_kinds import named

GIVEN = "given"
"""The folder of what was uploaded to the web app for a job, in the job's own."""
SHARED = ".pairing-"
"""How the folders begin in which two workers share what they make of the pages of a site."""
_NEW = f"(?:{re.escape(files.NEW)})?"
_LANGUAGES = "[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*"
_PLAIN = "|".join(map(re.escape, (DESCRIPTION, REPORT, SITES_JSON, SITES_TABLE, FOUND_SITES, SEARCHED)))
_LOG = "(?:-wal|-shm|-journal)?"
# What a job writes into its folder beside its corpus. Starting over deletes it, or sets it aside: the archive.
_JOB = re.compile(
    rf"(?:(?:job|corpus)\.seal|{_PLAIN}|(?:{re.escape(LEDGER)}|{re.escape(INDEX)}){_LOG}"
    r"|rejected/[0-9a-f]+\.(?:html|pages|json)"
    rf"|shard/(?:part\.json|{_LANGUAGES}(?:\.documents)?\.(?:keys|data))"
    rf"|corpus/\.merging/.+|{re.escape(SHARED)}\w+/.*"
    r"|warc/bitrawl-\d{5,}-\d{14}\.warc\.gz"
    rf"|(?:corpus|rejected|shard|warc)/){_NEW}"
)
# What starting over leaves there: what people said or gave, what was set aside, and what belongs to the web app.
_KEPT = re.compile(
    rf"\w+\.lock|{re.escape(VERDICTS)}{_LOG}|(?:intent|reviewers)\.json|run\.log(?:\.1)?"
    rf"|(?:{GIVEN}|simulated|damaged|warc-\d+)/.*"
)
_WRITTEN = (
    *(DESCRIPTION, "job.seal", LEDGER, "corpus.seal", REPORT, ARCHIVE, "rejected", CORPUS, SHARD),
    *(SITES_JSON, SITES_TABLE, FOUND_SITES, SEARCHED, INDEX, VERDICTS, MINED_SITES),
)


MARKS = (DESCRIPTION, LEDGER, LOCK)
"""A folder with one of them holds a job, or what is left of one."""


class Contents(NamedTuple):
    """The files below a folder, by whose they are."""

    made: list[str]  # by bitrawl, and made again by it
    foreign: list[str]


class FolderFiles(NamedTuple):
    """What a command writes into a folder."""

    noun: str  # what the folder then holds: "a job"
    marks: tuple[str, ...]  # a folder that has one of them is ours
    written: tuple[str, ...]  # names of files and folders in it
    is_made: Callable[[str], object]  # whether a path below the folder is a file that the command wrote
    is_kept: Callable[[str], object] = lambda _name: False  # the same of what starting over leaves there

    def holds(self, folder: Path) -> bool:
        return any((folder / mark).exists() for mark in self.marks)

    def contents(self, folder: Path) -> Contents:
        """What is hidden, as systems leave it in any folder, is neither."""
        made, foreign = list[str](), list[str]()
        for name in files_below(folder):
            if self.is_made(name):
                made.append(name)
            elif not self.is_kept(name) and not any(part.startswith(".") for part in name.split("/")):
                foreign.append(name)
        return Contents(made, foreign)

    def check_new(self, folder: Path, flag: str = "--out") -> None:
        """Raise `ConfigError` if this command would write over files of others: where it has not written before."""
        if folder.exists() and not folder.is_dir():
            raise ConfigError(f"{folder} is a file; choose a folder for {flag}")
        if self.holds(folder):
            return
        if names := [name for top in self.written for name in _at(folder, top)]:
            raise ConfigError(
                f"{folder} does not hold {self.noun}, but files that this command would overwrite: {named(names)}."
                f" Nothing was changed. Choose another {flag}"
            )

    def check_fresh(self, folder: Path) -> None:
        """Raise `ConfigError` if the folder holds anything but what this command wrote. What is not there is fine."""
        self.check_new(folder)
        if not self.holds(folder):  # It may hold a million files: they are not looked at.
            entries = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
            if names := [name for name in entries if not name.startswith(".") and not self.is_kept(name)]:
                raise ConfigError(
                    f"{folder} does not hold {self.noun} that --fresh could replace, but {named(names)}."
                    " Nothing was changed. Choose another --out"
                )
        elif foreign := self.contents(folder).foreign:
            raise ConfigError(
                f"{folder} also holds files that bitrawl did not make: {named(foreign)}. Nothing was changed."
                " Move them elsewhere, or choose another --out"
            )

    def delete(self, folder: Path) -> None:
        """Remove what this command wrote, and the folders that are empty then. Raises `StoreError`.

        Of a part that is a link, only the link is removed: what it leads to is not in the folder.
        """
        names = self.contents(folder).made
        try:
            for name in names:
                (folder / name.rstrip("/")).unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"{folder} cannot be emptied: {error}") from error
        above = {parent for name in names for parent in Path(name).parents if parent.name}
        for parent in sorted(above, key=lambda path: -len(path.parts)):
            remove_empty(folder / parent)


def files_below(folder: Path) -> Iterator[str]:
    """Their paths in the folder, sorted; a link to another folder is one of them, with a slash at its end."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        below = Path(place).relative_to(folder)
        for name in sorted(names):
            yield (below / name).as_posix()
        for name in folders:
            if Path(place, name).is_symlink():
                yield f"{(below / name).as_posix()}/"


def _at(folder: Path, name: str) -> Iterator[str]:
    """The file of that name in the folder, or the files below the folder of that name."""
    path = folder / name
    if path.is_dir() and not path.is_symlink():
        yield from (f"{name}/{below}" for below in files_below(path))
    elif path.exists() or path.is_symlink():
        yield name


def remove_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return  # It is not empty, or not there.


def job_files(folder: Path) -> FolderFiles:
    """What a job writes: its corpus has the names that its languages give, and no others are taken for ours."""
    corpus = {
        f"{CORPUS}/{name}" for name in (*ABOUT, *(f"{name}{files.NEW}" for name in ABOUT), *_corpus_names(folder))
    }
    corpus -= {f"{CORPUS}/{name}" for name in ABOUT[1:] if is_foreign_card(folder / CORPUS / name)}
    within = tuple(f"{name}/" for name in corpus)
    mined = job_files(folder / MINED_SITES) if _is_job(folder / MINED_SITES) else None

    def is_made(name: str) -> bool:
        if mined is not None and name.startswith(f"{MINED_SITES}/"):
            return bool(mined.is_made(name.removeprefix(f"{MINED_SITES}/")))
        return name in corpus or name.startswith(within) or _JOB.fullmatch(name) is not None

    def is_kept(name: str) -> bool:
        return _KEPT.fullmatch(name.removeprefix(f"{MINED_SITES}/")) is not None

    return FolderFiles("a job", MARKS, _WRITTEN, is_made, is_kept)


def corpus_files(languages: Sequence[Language]) -> FolderFiles:
    """What an export writes into a folder of its own."""
    names = {*ABOUT, *(name for header in corpus_headers(languages, 0.0) for name in corpus_names(header))}
    first = tuple(sorted({name.partition("/")[0] for name in names}))
    return FolderFiles("a corpus of bitrawl", ABOUT[:1], first, names.__contains__)


def is_part_of_job(folder: Path) -> bool:
    """Whether it is the folder of a job, or one that a job writes in its own."""
    place = folder.resolve()
    return _is_job(place) or (_is_job(place.parent) and place.name in _WRITTEN)


def _is_job(folder: Path) -> bool:
    return any((folder / mark).exists() for mark in MARKS)


def _corpus_names(folder: Path) -> Iterator[str]:
    try:
        codes = tomllib.loads((folder / DESCRIPTION).read_text("utf-8")).get("langs", [])
        headers: list[CorpusHeader] = corpus_headers([parse_language(code) for code in codes], 0.0) if codes else []
    except (OSError, ValueError, BitrawlError):
        return  # Then nothing in its corpus counts as ours.
    for header in headers:
        yield from corpus_names(header)


def check_inputs(out: Path, inputs: Iterable[str | Path], flag: str = "--out") -> None:
    """Raise `ConfigError` if an input lies in the folder that is to be written. Links are followed."""
    target = out.resolve()
    for path in inputs:
        place = Path(path).resolve()
        if place.is_relative_to(target) and not place.is_relative_to(target / GIVEN) and str(path) != "-":
            raise ConfigError(
                f"{path} is read by this command, and lies in the folder that it writes to, {out}. Nothing was changed."
                f" Choose another {flag}, or move it elsewhere"
            )


def inputs_of(job: Job) -> list[str]:
    """All files and folders that a job names."""
    names: list[str] = []

    def note(kind: str, name: str) -> str:
        path = name.partition("=")[2] if kind == "file of a language" else name
        if path and "://" not in path and (kind != "folder or model" or Path(path).is_dir()):
            names.append(path)
        return name

    with_paths(job, note)
    return names
