"""Analysed pages and sitemaps of an archive, on disk, so that the next replay need not analyse them again."""

import hashlib
import sqlite3
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from bitrawl.errors import ArchiveError, StoreError
from bitrawl.files import compressor, zstd
from bitrawl.model import Language, Page, Sitemap, Skip, Unpacker, pack
from bitrawl.url import Url
from bitrawl.version import __version__

_SCHEMA = """
CREATE TABLE IF NOT EXISTS outcomes (
    url TEXT NOT NULL, asked_as_index INTEGER NOT NULL, kind TEXT NOT NULL, outcome BLOB NOT NULL,
    PRIMARY KEY (url, asked_as_index)
) WITHOUT ROWID;
"""


class Analyses:
    """One SQLite file for a set of archives in their current state, analysed by this version of the package.

    And for these languages, because the identifier prefers the languages of the job.
    """

    def __init__(self, folder: Path, archives: Sequence[Path], languages: Sequence[Language] = ()) -> None:
        path = folder / f"{_identity(archives, languages)}.sqlite"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with ExitStack() as on_error:
                connection = sqlite3.connect(path, isolation_level=None)  # each outcome is stored at once
                self._connection = on_error.enter_context(closing(connection))
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = OFF")  # It can be made again.
                self._connection.executescript(_SCHEMA)
                on_error.pop_all()
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"{path} cannot be used: {error}; choose another --cache") from error
        self._compress = compressor()
        self._unpack: dict[str, Unpacker[Page | Sitemap | Skip]] = {
            kind.__name__: Unpacker(kind) for kind in (Page, Sitemap, Skip)
        }

    def close(self) -> None:
        self._connection.close()

    def get(self, url: Url, *, index: bool) -> Page | Sitemap | Skip | None:
        """None if the URL has not been analysed."""
        row = self._connection.execute(
            "SELECT kind, outcome FROM outcomes WHERE url = ? AND asked_as_index = ?", (url, index)
        ).fetchone()
        return self._unpack[row[0]](zstd.decompress(row[1])) if row else None

    def put(self, url: Url, outcome: Page | Sitemap | Skip, *, index: bool) -> None:
        """Replaces an earlier outcome."""
        row = (url, index, type(outcome).__name__, self._compress(pack(outcome)))
        try:
            self._connection.execute("INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?, ?)", row)
        except sqlite3.Error as error:
            raise StoreError(f"the cache of analysed pages cannot be written: {error}") from error


def _identity(archives: Sequence[Path], languages: Sequence[Language]) -> str:
    """It changes with the files, the languages and the version, so that nothing outdated is ever used."""
    digest = hashlib.blake2b(__version__.encode(), digest_size=12)
    for path in archives:
        try:
            stat = path.stat()
        except OSError as error:
            raise ArchiveError(f"{path} cannot be read: {error.strerror}") from error
        digest.update(f"\n{path.absolute()}\t{stat.st_size}\t{stat.st_mtime_ns}".encode())
    if languages:
        digest.update("\n".join(["", *sorted(languages)]).encode())
    return digest.hexdigest()
