"""Checksums beside what bitrawl wrote, a database or a corpus: they tell whether it is still as bitrawl left it.

SQLite notices damage to the structure of its file, and none to a text in it. So a database gets a seal when it is closed,
and loses it when it is opened for writing. The log of one that was killed has checksums of its own.
"""

import shlex
import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from struct import Struct
from typing import TypeVar

import msgspec

from bitrawl.errors import DamagedError, StoreError
from bitrawl.files import NO_JSON, checked, checksum, discard, with_sum, write

SEAL = ".seal"
_LOG_HEAD, _FRAME_HEAD = Struct(">8I"), Struct(">6I")
_LAST_FRAME = Struct("=I")  # in the index of the log, which is in the order of this machine
_LAST_FRAME_AT = 16
Kind = TypeVar("Kind")


class Seal(msgspec.Struct, frozen=True):
    """What a file was when it was closed."""

    size: int
    crc: int


class SealedFiles(msgspec.Struct, frozen=True):
    """The files that were written into a folder, each with its checksum."""

    files: dict[str, str]


def seal_files(folder: Path, sums: Mapping[str, str]) -> None:
    """Beside the folder, so that what damages its files leaves their list."""
    write(_seal_of(folder), with_sum(msgspec.json.encode(SealedFiles(dict(sums)))))


def sealed_files(folder: Path) -> dict[str, str]:
    """Nothing if the list itself is missing or damaged."""
    sealed = _read(folder, SealedFiles)
    return sealed.files if sealed is not None else {}


def seal(path: Path) -> None:
    """Only the holder of its lock may, with no log left. A seal that cannot be written is none."""
    with suppress(OSError, StoreError):
        write(_seal_of(path), with_sum(msgspec.json.encode(_measured(path))))


def unseal(path: Path) -> None:
    discard(_seal_of(path))


def is_sealed(path: Path) -> bool:
    """A seal that is damaged itself is none, and so is that of a file to which something was added since."""
    return _read(path, Seal) is not None and not _size(log_of(path))


def verify_seal(path: Path) -> None:
    """Raise `DamagedError` if the file is not what was sealed; one that a process opens for writing meanwhile is sound."""
    sealed = _read(path, Seal)
    while sealed is not None and _measured(path) != sealed:
        before, sealed = sealed, _read(path, Seal)
        if sealed == before:
            advice = f"if you changed it yourself, delete {_seal_of(path)}"
            raise damaged(path, f"its content is not what bitrawl wrote; {advice}")


def verify_log(path: Path) -> None:
    """Raise `DamagedError` if SQLite reads less of a database's log than was written; a log that ends early is right.

    SQLite ignores a log from the first frame on whose checksum is wrong.
    """
    log = log_of(path)
    size = _size(log)
    if size <= _LOG_HEAD.size:
        return
    read = _frames_read(path)
    with log.open("rb") as file:
        head = file.read(_LOG_HEAD.size)
        numbers = _LOG_HEAD.unpack(head)
        if _log_checksum(head[:24], little=not numbers[0] & 1) != numbers[6:]:
            raise damaged(log, "its head is not what was written, so none of it can be read")
        width = numbers[2] + _FRAME_HEAD.size  # of a page and its head
        for place in range(_LOG_HEAD.size + read * width, size - width + 1, width):
            file.seek(place)
            _, commits, *salts = _FRAME_HEAD.unpack(file.read(_FRAME_HEAD.size))[:4]
            if commits and tuple(salts) == numbers[4:6]:
                raise damaged(log, f"the last {-(-(size - place) // 1000)} kB of what was written cannot be read")


def damaged(path: Path, why: object) -> DamagedError:
    """The error to raise for a file of a job's folder."""
    return DamagedError(
        f"{path} is damaged: {why}. Nothing was changed."
        f" To see what is lost and how to repair it, run: bitrawl check {shlex.quote(str(path.parent))}"
    )


def log_of(path: Path) -> Path:
    """Where a database that was not closed keeps what was written last."""
    return path.with_name(path.name + "-wal")


def _frames_read(path: Path) -> int:
    """How much of the log SQLite accepts: it says so in the index of the log, for as long as somebody reads."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            with path.with_name(path.name + "-shm").open("rb") as index:
                index.seek(_LAST_FRAME_AT)
                return int(_LAST_FRAME.unpack(index.read(_LAST_FRAME.size))[0])
    except (sqlite3.Error, OSError) as error:
        raise damaged(path, error) from error


def _log_checksum(data: bytes, *, little: bool) -> tuple[int, int]:
    """As SQLite computes it, of its file format, section 4.2."""
    numbers = Struct(f"{'<' if little else '>'}{len(data) // 4}I").unpack(data)
    first = second = 0
    for a, b in zip(numbers[::2], numbers[1::2], strict=True):
        first = (first + a + second) & 0xFFFFFFFF
        second = (second + b + first) & 0xFFFFFFFF
    return first, second


def _measured(path: Path) -> Seal:
    return Seal(path.stat().st_size, checksum(path))


def _read(path: Path, kind: type[Kind]) -> Kind | None:
    try:
        return msgspec.json.decode(checked(_seal_of(path).read_bytes()), type=kind)
    except (OSError, ValueError, *NO_JSON):
        return None


def _seal_of(path: Path) -> Path:
    return path.with_suffix(SEAL)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
