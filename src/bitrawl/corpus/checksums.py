"""The files of a corpus as its card lists them, with size and SHA-256."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

import msgspec


class FileFacts(msgspec.Struct, frozen=True):
    """One file, or a folder of files (XCES)."""

    name: str
    bytes: int = 0
    sha256: str = ""  # for a folder: of what `sha256sum *` prints in it
    members: int = 0  # files in a folder; 0 for a file


def file_facts(folder: Path, names: Iterable[str]) -> list[FileFacts]:
    """The facts about existing files, by their names in that folder."""
    return [_of_folder(folder, name) if (folder / name).is_dir() else _of_file(folder, name) for name in names]


def _of_file(folder: Path, name: str) -> FileFacts:
    path = folder / name
    return FileFacts(name, path.stat().st_size, _sha256(path))


def _of_folder(folder: Path, name: str) -> FileFacts:
    paths = sorted(path for path in (folder / name).iterdir() if path.is_file())
    lines = "".join(f"{_sha256(path)}  {path.name}\n" for path in paths)
    size = sum(path.stat().st_size for path in paths)
    return FileFacts(name, size, hashlib.sha256(lines.encode()).hexdigest(), len(paths))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
