"""Files in folders: those that a command made, which alone are deleted or written over, and those that it reads."""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from bitrawl.errors import ArchiveError, ConfigError, StoreError

GIVEN = "given"
"""The folder of what was uploaded to the web app for a job, in the job's own."""
_NAMED = 5  # folders or files that a message names
_SUFFIXES = (".warc", ".warc.gz")


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


def warc_files(paths: Iterable[Path]) -> list[Path]:
    """The files as given. A folder stands for the *.warc and *.warc.gz files in it, sorted by name."""
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        try:
            archives = sorted(entry for entry in path.iterdir() if entry.name.lower().endswith(_SUFFIXES))
        except OSError as error:
            raise ArchiveError(f"{path} cannot be read: {error.strerror}") from error
        if not archives:
            raise ArchiveError(f"{path} contains no WARC files; their names end in .warc or .warc.gz")
        files += archives
    return list(dict.fromkeys(files))


def named(names: Iterable[str]) -> str:
    """The first of them, and how many more there are."""
    listed = list(names)
    return ", ".join(listed[:_NAMED]) + (f" and {len(listed) - _NAMED} more" if len(listed) > _NAMED else "")
