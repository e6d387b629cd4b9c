"""Where the work of many machines goes: a folder on a disk or on NFS, or a prefix of an S3 bucket.

A place has no locks and no database. It only promises that a file under its name is complete.
"""

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol, Self

from bitrawl.errors import ConfigError, StoreError
from bitrawl.files import NEW, discard, replacing, write_fault

_BLOCK = 1 << 20  # bytes; judgement


class Place(Protocol):
    """A file or a folder, here or elsewhere. Its text is its address. All of its methods raise `StoreError`.

    It can be pickled, so that a task can carry it to another machine.
    """

    def __truediv__(self, name: str) -> "Place": ...

    def read(self) -> bytes | None:
        """The content of a file; None if there is none."""

    def write(self, content: bytes) -> None:
        """A whole file or nothing, even if several machines write it. An earlier file is replaced."""

    def write_new(self, content: bytes) -> bool:
        """The same, unless the file is there already: then nothing changes, and the answer is False.

        Of several machines that write it at once, one gets True.
        """

    def names(self) -> list[str]:
        """The entries of a folder, sorted; empty if there is no such folder."""

    def upload(self, folder: Path) -> None:
        """Copy all files below the folder to here. Each of them is complete, or absent."""

    def download(self, folder: Path) -> None:
        """Copy all files below this place into the folder. Nothing happens if there are none."""

    def delete(self) -> None:
        """Remove the file, or the folder with all that is in it; nothing happens if there is none."""


def place(address: str) -> Place:
    """The place with that address: a path, `file://…`, or `s3://bucket/prefix`. Raises `ConfigError`."""
    kind, separator, rest = address.partition("://")
    if not address.strip():
        raise ConfigError("the address of a place is empty; give a folder, or s3://bucket/prefix")
    if not separator:
        return LocalPlace(Path(address).expanduser().absolute())
    if kind == "file":
        return LocalPlace(Path("/" + rest.lstrip("/")))
    if kind != "s3":
        raise ConfigError(f"{address}: {kind}:// is not supported; give a folder, or s3://bucket/prefix")
    from bitrawl.cluster.s3 import s3_place  # noqa: PLC0415 - an extra

    return s3_place(address)


class LocalPlace(NamedTuple):
    """A path. It may be on NFS: a rename is atomic there for all who look."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def __truediv__(self, name: str) -> Self:
        return self._replace(path=self.path / name)

    def read(self) -> bytes | None:
        try:
            return self.path.read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except OSError as error:
            raise _unreadable(self.path, error) from error

    def write(self, content: bytes) -> None:
        with replacing(self.path, shared=True) as file:
            file.write(content)

    def write_new(self, content: bytes) -> bool:
        draft = self.path.with_name(f"{self.path.name}.{uuid.uuid4().hex}{NEW}")
        try:
            with replacing(draft) as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.link(draft, self.path)  # Unlike a rename, it fails if the name is taken, also on NFS.
        except FileExistsError:
            return False
        except OSError as error:
            raise write_fault(self.path, error) from error
        finally:
            discard(draft)
        return True

    def names(self) -> list[str]:
        try:
            return sorted(path.name for path in self.path.iterdir() if not path.name.endswith(NEW))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise _unreadable(self.path, error) from error

    def upload(self, folder: Path) -> None:
        for path in files_below(folder):
            _copy(path, self.path / path.relative_to(folder), shared=True)

    def download(self, folder: Path) -> None:
        for path in files_below(self.path):
            _copy(path, folder / path.relative_to(self.path))

    def delete(self) -> None:
        try:
            if self.path.is_dir() and not self.path.is_symlink():
                shutil.rmtree(self.path)
            else:
                self.path.unlink(missing_ok=True)
        except NotADirectoryError:
            return
        except OSError as error:
            raise StoreError(f"{self.path} cannot be deleted: {error.strerror or error}") from error


def files_below(folder: Path) -> Iterator[Path]:
    """Sorted, without the drafts that a killed process may have left."""
    try:
        found = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(NEW))
    except OSError as error:
        raise _unreadable(folder, error) from error
    return iter(found)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """An `OSError` inside means that this file cannot be read."""
    try:
        yield
    except OSError as error:
        raise _unreadable(path, error) from error


def _copy(source: Path, target: Path, *, shared: bool = False) -> None:
    with reading(source):
        file = source.open("rb")
    with file, replacing(target, shared=shared) as copy:
        shutil.copyfileobj(file, copy, _BLOCK)


def _unreadable(path: Path, error: OSError) -> StoreError:
    return StoreError(f"{path} cannot be read: {error.strerror or error}; check its permissions, or choose another")
