"""Checkpoints of a running job: enough to go on elsewhere when its machine is lost.

A checkpoint is the ledger as it was at one moment, and the archive at least up to that moment: a fetch is archived
before it is recorded, so the ledger is copied first. Each checkpoint adds only what the archive has grown.
`checkpoint.json` is written last and names the files that belong to it. So a checkpoint is there as a whole, or the
one before it is.
"""

import io
import os
import shutil
import tempfile
import time
import uuid
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from bitrawl.cluster.places import Place
from bitrawl.errors import DamagedError, StoreError
from bitrawl.file_names import LEDGER
from bitrawl.files import NO_JSON, checked, replacing_folder, with_sum, writing, zstd, zstd_options
from bitrawl.job import JobFolder, OpenedJob

VERSION = 1
SHORTEST_REST = 60.0  # seconds between two checkpoints: so much work may be lost
REST = 9  # times as long as saving took it is not saved again: a ledger of gigabytes is copied as a whole each time
_MANIFEST, _LEDGER, _ARCHIVE = "checkpoint.json", "job.sqlite.zst", "warc"
_PIECE = 32 << 20  # bytes of the archive to hold at once
_BLOCK = 1 << 20  # bytes of the ledger to hold at once
_LEVEL = 1  # of zstd; pages are compressed in the ledger already


class ArchivePiece(msgspec.Struct, frozen=True):
    """A stretch of one file of the archive."""

    file: str
    start: int
    end: int
    name: str  # where it is
    sum: int | None = None  # a checksum of its content


class Manifest(msgspec.Struct, frozen=True):
    """What belongs to a checkpoint."""

    version: int
    description: str  # job.toml
    ledger: str
    pieces: tuple[ArchivePiece, ...] = ()


class Checkpoints:
    """Saves a job folder to a place, again and again, also while the job runs.

    Two of them may save to one place, as when a machine that was given up goes on: each writes files of its own, and the
    last manifest is the checkpoint.
    """

    def __init__(
        self, folder: Path, place: Place, *, now: Callable[[], float] = time.monotonic, piece: int = _PIECE
    ) -> None:
        """`now` tells seconds; `piece` is how much of the archive is held at once."""
        self._opened = OpenedJob(folder)
        self._place = place
        self._name = uuid.uuid4().hex[:12]  # tells the files of this object from those of all others
        self._count = 0
        self._now = now
        self._piece = piece
        self._due = now() + SHORTEST_REST
        try:
            self._saved = _manifest(place)
        except DamagedError:
            self._saved = None  # The next one replaces it.

    @property
    def is_due(self) -> bool:
        """Whether it is time to save again. Saving takes a tenth of the time at most."""
        return self._now() >= self._due

    def save(self) -> bool:
        """Whether there is a job to save already. Raises `StoreError`; then the checkpoint before this one stays."""
        began = self._now()
        try:
            return self._save()
        finally:
            ended = self._now()
            self._due = ended + max(SHORTEST_REST, REST * (ended - began))

    def _save(self) -> bool:
        job = self._opened.files
        if not job.ledger.exists() or not job.description.exists():
            return False
        self._count += 1
        description = job.description.read_text("utf-8")
        ledger = self._save_ledger()
        pieces = tuple(self._save_archive())
        earlier, self._saved = self._saved, Manifest(VERSION, description, ledger, pieces)
        (self._place / _MANIFEST).write(with_sum(msgspec.json.encode(self._saved)))
        if earlier is not None and earlier.ledger != ledger:
            (self._place / earlier.ledger).delete()
        return True

    def _save_ledger(self) -> str:
        name = f"ledger-{self._name}-{self._count}"
        with tempfile.TemporaryDirectory(dir=self._opened.files.path, prefix="checkpoint-") as folder:
            copy, packed = Path(folder, LEDGER), Path(folder, "packed", _LEDGER)
            with writing(packed):
                self._opened.files.back_up(copy)
                packed.parent.mkdir()
                with copy.open("rb") as source, zstd.open(packed, "wb", options=zstd_options(_LEVEL)) as target:
                    shutil.copyfileobj(source, target, _BLOCK)
            (self._place / name).upload(packed.parent)
        return name

    def _save_archive(self) -> Iterator[ArchivePiece]:
        """The pieces that are saved already, and what each file has grown since."""
        earlier = self._saved.pieces if self._saved else ()
        for path, start, end in self._opened.archive_growth({piece.file: piece.end for piece in earlier}):
            yield from (piece for piece in earlier if piece.file == path.name and start)
            yield from (self._save_piece(path, *stretch) for stretch in _stretches(start, end, self._piece))

    def _save_piece(self, path: Path, start: int, end: int) -> ArchivePiece:
        name = f"{_ARCHIVE}/{path.name}/{start:013}-{self._name}-{self._count}"
        with path.open("rb") as file:
            content = os.pread(file.fileno(), end - start, start)
        (self._place / name).write(content)
        return ArchivePiece(path.name, start, end, name, zlib.crc32(content))


def restore(place: Place, folder: Path) -> bool:
    """Make the job folder that was saved there, whole or not at all. False if nothing was saved.

    `bitrawl mine` goes on in it. Raises `StoreError` if the folder exists, or if a part of the checkpoint is missing.
    """
    manifest = _manifest(place)
    if manifest is None:
        return False
    if folder.exists():
        raise StoreError(f"{folder} exists already; a checkpoint is restored into a new folder")
    with replacing_folder(folder) as draft:
        job = JobFolder(draft)
        for piece in manifest.pieces:
            _append(draft / _ARCHIVE / piece.file, piece, place)
        packed = draft / "packed"
        (place / manifest.ledger).download(packed)
        if not (packed / _LEDGER).exists():
            raise StoreError(f"{place} is not a whole checkpoint: {manifest.ledger} is missing; start the job over")
        try:
            with zstd.open(packed / _LEDGER) as source, job.ledger.open("wb") as target:
                shutil.copyfileobj(source, target, _BLOCK)
        except (zstd.ZstdError, EOFError) as error:
            raise _damaged(place, manifest.ledger, error) from error
        (packed / _LEDGER).unlink()
        packed.rmdir()
        job.description.write_text(manifest.description, "utf-8")
    return True


def save_archive(place: Place, folder: Path) -> None:
    """Write what was fetched until then into that folder, as WARC files; nothing where nothing was saved."""
    manifest = _manifest(place)
    for piece in manifest.pieces if manifest is not None else ():
        _append(folder / piece.file, piece, place)


def check_checkpoint(place: Place) -> None:
    """Raise `StoreError` if it cannot be restored. Without one there is nothing to check."""
    manifest = _manifest(place)
    if manifest is not None:
        for piece in manifest.pieces:
            _content(piece, place)
        _check_ledger(place, manifest.ledger)


def _check_ledger(place: Place, name: str) -> None:
    packed = (place / name / _LEDGER).read()
    if packed is None:
        raise StoreError(f"{place} is not a whole checkpoint: {name} is missing; start the job over")
    try:
        with zstd.open(io.BytesIO(packed)) as ledger:
            while ledger.read(_BLOCK):
                pass
    except (zstd.ZstdError, EOFError) as error:
        raise _damaged(place, name, error) from error


def _append(path: Path, piece: ArchivePiece, place: Place) -> None:
    content = _content(piece, place)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(content)


def _content(piece: ArchivePiece, place: Place) -> bytes:
    content = (place / piece.name).read()
    if content is None or len(content) != piece.end - piece.start:
        raise StoreError(f"{place} is not a whole checkpoint: {piece.name} is missing; start the job over")
    if piece.sum not in (None, zlib.crc32(content)):
        raise _damaged(place, piece.name, "its checksum is wrong")
    return content


def _stretches(start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    for first in range(start, end, size):
        yield first, min(first + size, end)


def _damaged(place: Place, name: str, why: object) -> DamagedError:
    return DamagedError(f"the checkpoint {place} is damaged: {name}: {why}; start the job over")


def _manifest(place: Place) -> Manifest | None:
    """None if nothing was saved."""
    content = (place / _MANIFEST).read()
    if content is None:
        return None
    try:
        manifest = msgspec.json.decode(checked(content), type=Manifest)
    except (ValueError, *NO_JSON) as error:
        raise _damaged(place, _MANIFEST, error) from error
    if manifest.version != VERSION:
        raise StoreError(f"{place} was saved by another version of bitrawl; start the job over")
    return manifest
