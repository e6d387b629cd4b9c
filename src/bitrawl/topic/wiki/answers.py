"""Answers of a wiki that are kept in a folder: what was answered once is not asked again."""

import hashlib
from pathlib import Path

from bitrawl import files
from bitrawl.url import Url


class KeptAnswers:
    """One file for each answer, named by a digest of the question. A kill leaves only whole files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, url: Url) -> bytes | None:
        try:
            return self._path(url).read_bytes()
        except OSError:  # not there, or not readable: it is asked again
            return None

    def save(self, url: Url, body: bytes) -> None:
        """Raises `StoreError`."""
        files.write(self._path(url), body)

    def _path(self, url: Url) -> Path:
        return self._folder / f"{hashlib.sha256(url.encode()).hexdigest()[:32]}.json"
