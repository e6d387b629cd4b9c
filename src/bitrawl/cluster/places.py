"""Where the parts of a run are kept: a folder that every machine sees."""

import os
import shutil
from pathlib import Path
from secrets import token_hex
from typing import Protocol

from bitrawl import files
from bitrawl.errors import ConfigError, StoreError


class Place(Protocol):
    """A file or a folder, here or far away. All methods raise `StoreError`."""

    def __truediv__(self, name: str) -> "Place": ...

    def read(self) -> bytes | None:
        """The content of a file; None if it is not there."""

    def write(self, content: bytes) -> None:
        """The whole file or nothing."""

    def write_new(self, content: bytes) -> bool:
        """The same, unless the file is there already: then nothing changes, and the answer is False."""

    def names(self) -> list[str]:
        """What a folder holds, in order; nothing if it is not there."""

    def upload(self, folder: Path) -> None:
        """Copy all files below that folder to here."""

    def download(self, folder: Path) -> None:
        """Copy all files below here to that folder."""

    def delete(self) -> None:
        """Remove it with all that is below, if it is there."""


def place(address: str) -> Place:
    """Raises `ConfigError` for a kind of address that is not known."""
    scheme, mark, _ = address.partition("://")
    if mark:
        raise ConfigError(f"--out {address}: there are no places of the kind {scheme}://; give a folder")
    return LocalPlace(Path(address).absolute())


class LocalPlace:
    """A folder of this machine, or of a network file system."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __str__(self) -> str:
        return str(self._path)

    def __truediv__(self, name: str) -> "LocalPlace":
        return LocalPlace(self._path / name)

    def read(self) -> bytes | None:
        try:
            return self._path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StoreError(f"{self._path} cannot be read: {error.strerror or error}") from error

    def write(self, content: bytes) -> None:
        files.write(self._path, content)

    def write_new(self, content: bytes) -> bool:
        draft = self._path.with_name(f"{self._path.name}.{token_hex(8)}{files.NEW}")  # for this writer alone
        files.write(draft, content)
        try:
            os.link(draft, self._path)
        except FileExistsError:
            return False
        except OSError as error:
            raise files.write_fault(self._path, error) from error
        finally:
            files.discard(draft)
        return True

    def names(self) -> list[str]:
        try:
            return sorted(entry.name for entry in self._path.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise StoreError(f"{self._path} cannot be read: {error.strerror or error}") from error

    def upload(self, folder: Path) -> None:
        _copy(folder, self._path)

    def download(self, folder: Path) -> None:
        _copy(self._path, folder)

    def delete(self) -> None:
        try:
            if self._path.is_dir():
                shutil.rmtree(self._path)
            else:
                self._path.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"{self._path} cannot be removed: {error}") from error


def _copy(source: Path, target: Path) -> None:
    try:
        shutil.copytree(source, target, dirs_exist_ok=True)
    except shutil.Error as error:
        raise StoreError(f"{target} cannot be written: {error.args[0][0][2]}") from error
    except OSError as error:
        raise files.write_fault(target, error) from error
