"""WARC files that mix many sites, split by site in one pass. Memory depends on neither their size nor their number.

`out/` gets a WARC file for each site, or for each group of sites. `out/partition/` has a marker for each file that is
done, and, of the file in work, how long the others were before it: a killed run is undone to there.
"""

import hashlib
import os
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Self
from urllib.parse import quote

import msgspec

from bitrawl.archive.writing import answers
from bitrawl.errors import ConfigError, StoreError
from bitrawl.files import write, writing
from bitrawl.folder_files import check_inputs, warc_files
from bitrawl.store.database import locked
from bitrawl.url import Url

# Well below the usual limit of 1,024 open files. Opening one again costs about as much as a small write.
MOST_OPEN = 256
_LONGEST_NAME = 200  # characters; file systems allow 255 bytes
_STATE, _SETTINGS, _DONE, _UNDO = "partition", "settings.json", ".done.json", ".undo"


class Grouping(msgspec.Struct, frozen=True):
    """Which file a site goes into. The same on all machines, so that files of the same name belong together."""

    groups: int = 0  # how many files; 0 means one for each site
    sites: frozenset[str] | None = None  # all others are left out; None takes all

    def file_of(self, site: str) -> str:
        if self.groups:
            return f"{_number(site) % self.groups:05}.warc.gz"
        name = quote(site, safe="")
        if len(name) > _LONGEST_NAME:
            name = f"{name[:_LONGEST_NAME]}-{_number(site):016x}"
        return f"{name}.warc.gz"

    def takes(self, url: Url) -> bool:
        return self.sites is None or url.site in self.sites

    def fingerprint(self) -> str:
        described = msgspec.json.encode([self.groups, None if self.sites is None else sorted(self.sites)])
        return hashlib.blake2b(described, digest_size=16).hexdigest()


class SplitFile(msgspec.Struct, frozen=True):
    """What one input file gave."""

    path: str
    size: int  # of the input
    answers: int = 0
    bytes: int = 0  # written


class Inputs(NamedTuple):
    done: list[SplitFile]
    before: int  # files that an earlier run had done


def partition(
    paths: Iterable[Path],
    out: Path,
    *,
    groups: int = 0,
    sites: frozenset[str] | None = None,
    beside: Iterable[Path] = (),
    watch: Callable[[SplitFile], None] = lambda _: None,
) -> Inputs:
    """Split these files, and those in these folders, into `out`. The same call goes on with the files that are not done.

    There are so many `groups` of sites, by default one for each site; only these `sites` are taken, by default all.
    `beside` are other files that the caller has read: none may lie in `out`.

    Raises `ArchiveError` if one is no WARC file, `StoreError` if a file changed since it was done, or if another process
    works in `out`, and `ConfigError` if `out` was split by another grouping.
    """
    paths = list(paths)
    check_inputs(out, [*paths, *beside])
    files, grouping = warc_files(paths), Grouping(groups, sites)
    with locked(out / _STATE):
        state = out / _STATE
        _check_grouping(state, grouping)
        _undo(state, out)
        done, before = [], 0
        for path in files:
            if _is_done(state, path):
                before += 1
                continue
            done.append(_split(path, out, grouping))
            watch(done[-1])
    return Inputs(done, before)


def _split(path: Path, out: Path, grouping: Grouping) -> SplitFile:
    undo = _mark(out / _STATE, path, _UNDO)
    share = SplitFile(str(path.absolute()), path.stat().st_size if path.exists() else 0)
    with _Appending(out, undo) as files:
        for url, member in answers(path, grouping.takes):
            files.append(grouping.file_of(url.site), member)
        share = msgspec.structs.replace(share, answers=files.members, bytes=files.bytes)
    write(_mark(out / _STATE, path, _DONE), msgspec.json.encode(share))
    undo.unlink(missing_ok=True)
    return share


class _Appending:
    """Appends to any number of files, of which few are open, and notes how long each was before."""

    def __init__(self, out: Path, undo: Path, most_open: int = MOST_OPEN) -> None:
        self._out = out
        self._path = undo
        self._most_open = most_open
        self._open: OrderedDict[str, int] = OrderedDict()
        self._noted: set[str] = set()
        self.members = self.bytes = 0

    def __enter__(self) -> Self:
        with writing(self._path):
            self._undo = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        return self

    def __exit__(self, *_error: object) -> None:
        for file in (*self._open.values(), self._undo):
            os.close(file)

    def append(self, name: str, data: bytes) -> None:
        with writing(self._out / name):
            file = self._file(name)
            if name not in self._noted:
                self._note(name, os.fstat(file).st_size)
            _write_all(file, data)
        self.members += 1
        self.bytes += len(data)

    def _file(self, name: str) -> int:
        if name in self._open:
            self._open.move_to_end(name)
            return self._open[name]
        if len(self._open) >= self._most_open:
            os.close(self._open.popitem(last=False)[1])
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._open[name] = os.open(self._out / name, flags, 0o644)
        return self._open[name]

    def _note(self, name: str, size: int) -> None:
        """Before anything is appended to that file."""
        _write_all(self._undo, f"{size} {name}\n".encode())
        self._noted.add(name)


def _write_all(file: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]


def _undo(state: Path, out: Path) -> None:
    """What a killed run has appended, of a file that it did not finish."""
    with writing(out):
        for undo in sorted(state.glob(f"*{_UNDO}")):
            if not undo.with_name(undo.name.removesuffix(_UNDO) + _DONE).exists():
                # A line that the kill cut off is of a file to which nothing was appended.
                for line in undo.read_text("utf-8").split("\n")[:-1]:
                    size, _, name = line.partition(" ")
                    _cut(out / name, int(size))
            undo.unlink()


def _cut(path: Path, size: int) -> None:
    with suppress(FileNotFoundError):
        if size:
            os.truncate(path, size)
        else:
            path.unlink()


def _is_done(state: Path, path: Path) -> bool:
    marker = _mark(state, path, _DONE)
    if not marker.exists():
        return False
    share = msgspec.json.decode(marker.read_bytes(), type=SplitFile)
    if path.exists() and path.stat().st_size != share.size:
        raise StoreError(f"{path} has changed since it was split into {state.parent}; choose another --out")
    return True


def _check_grouping(state: Path, grouping: Grouping) -> None:
    settings, wanted = state / _SETTINGS, msgspec.json.encode({"grouping": grouping.fingerprint()})
    if not settings.exists():
        write(settings, wanted)
    elif settings.read_bytes() != wanted:
        raise ConfigError(f"{state.parent} was made with another --groups or --sites; choose another --out")


def _mark(state: Path, path: Path, kind: str) -> Path:
    return state / f"{path.name[:_LONGEST_NAME]}-{_number(str(path.absolute())):016x}{kind}"


def _number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
