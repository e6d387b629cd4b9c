"""The SQLite files of a job: they survive `kill -9`, have one writer at a time and any number of readers.

`Database` is the job's own file, the ledger: its tables are created when it is opened for writing. The small databases
beside it (`reading`, `writing`) open a connection for each call, so that threads and processes can share the file.
"""

import fcntl
import os
import shlex
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from bitrawl.errors import DamagedError, DiskFullError, StoreError
from bitrawl.files import NO_JSON, zstd
from bitrawl.model import OWN_REQUESTS, Skip, Unpacker
from bitrawl.reasons import Reason, Stage
from bitrawl.store.folder_kinds import FolderKind, kind_of, no_job
from bitrawl.store.seal import damaged, is_sealed, seal, unseal, verify_log, verify_seal
from bitrawl.url import Url

VERSION = 6
"""The version of the format. A ledger of another version is refused with advice, never converted."""

# The state of a link. Each URL has one row, and each row ends as a page or as a skip with its reason.
QUEUED, LEASED, PAGE, SKIPPED = range(4)

OWN = "({})".format(" OR ".join(f"links.kind = '{kind}'" for kind in OWN_REQUESTS))
"""A condition on links: requests that only the crawler itself made."""  # IN would cost each new link 2 µs in its index

# What the crawl writes
_LEDGER = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS links (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL UNIQUE,
    host TEXT NOT NULL,
    site TEXT NOT NULL,
    kind TEXT NOT NULL,
    state INTEGER NOT NULL,
    attempt INTEGER NOT NULL DEFAULT 1,
    score REAL NOT NULL,
    stage TEXT, reason TEXT, detail TEXT,
    link BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS next ON links (host, attempt, score DESC, id) WHERE state = 0;
CREATE INDEX IF NOT EXISTS leases ON links (kind) WHERE state = 1;
CREATE INDEX IF NOT EXISTS skip_reasons ON links (stage, reason, kind) WHERE state = 3;
CREATE INDEX IF NOT EXISTS own_requests ON links (state, host) WHERE OWN;
CREATE TABLE IF NOT EXISTS fetches (
    seq INTEGER PRIMARY KEY,
    url TEXT NOT NULL, kind TEXT NOT NULL, score REAL NOT NULL, attempt INTEGER NOT NULL,
    status INTEGER NOT NULL, bytes INTEGER NOT NULL, at REAL NOT NULL, took REAL NOT NULL,
    language TEXT, outcome TEXT NOT NULL,
    file TEXT, offset INTEGER,
    relevance REAL, relevant INTEGER, perplexity REAL
);
CREATE INDEX IF NOT EXISTS fetch_urls ON fetches (url);
CREATE TABLE IF NOT EXISTS stored_pages (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL UNIQUE,
    site TEXT NOT NULL,
    language TEXT NOT NULL,
    title TEXT NOT NULL,
    digest TEXT NOT NULL,
    signature INTEGER NOT NULL,
    page BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS page_sites ON stored_pages (site, id);
CREATE TABLE IF NOT EXISTS sitemaps (url TEXT PRIMARY KEY, site TEXT NOT NULL, sitemap BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS sitemap_sites ON sitemaps (site);
CREATE TABLE IF NOT EXISTS sites (site TEXT PRIMARY KEY, knowledge BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS robots (origin TEXT PRIMARY KEY, record BLOB NOT NULL) WITHOUT ROWID;
""".replace("OWN", OWN.replace("links.", ""))

# What mining writes
_FINDINGS = """
CREATE TABLE IF NOT EXISTS pairs (
    id INTEGER PRIMARY KEY,
    site TEXT NOT NULL, url_a TEXT NOT NULL, url_b TEXT NOT NULL, lang_a TEXT NOT NULL, lang_b TEXT NOT NULL,
    score REAL NOT NULL, evidence TEXT NOT NULL, partial INTEGER NOT NULL, alignment BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS pair_sites ON pairs (site);
CREATE INDEX IF NOT EXISTS pair_languages ON pairs (lang_a, lang_b, site, id);
CREATE TABLE IF NOT EXISTS alignments (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, site TEXT NOT NULL, count INTEGER NOT NULL, segments BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS alignment_sites ON alignments (site);
CREATE INDEX IF NOT EXISTS alignment_counts ON alignments (count);
CREATE TABLE IF NOT EXISTS faults (
    id INTEGER PRIMARY KEY, site TEXT NOT NULL,
    url TEXT NOT NULL, stage TEXT NOT NULL, reason TEXT NOT NULL, detail TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS fault_sites ON faults (site);
CREATE TABLE IF NOT EXISTS duplicates (url TEXT PRIMARY KEY, site TEXT NOT NULL, repeats TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS duplicate_sites ON duplicates (site);
CREATE TABLE IF NOT EXISTS refusals (
    site TEXT NOT NULL, url_a TEXT NOT NULL, url_b TEXT NOT NULL, reason TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS refusal_sites ON refusals (site);
CREATE TABLE IF NOT EXISTS patterns (site TEXT NOT NULL, pattern TEXT NOT NULL, pairs INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS pattern_sites ON patterns (site);
CREATE TABLE IF NOT EXISTS mined (site TEXT PRIMARY KEY, pages INTEGER NOT NULL, settings TEXT NOT NULL) WITHOUT ROWID;
"""

# What rounds write: see `rounds.py`.
_ROUNDS = """
CREATE TABLE IF NOT EXISTS stored_rounds (
    number INTEGER PRIMARY KEY, began REAL NOT NULL,
    first INTEGER NOT NULL, links INTEGER NOT NULL, seconds REAL NOT NULL, facts TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS answers (
    url TEXT PRIMARY KEY, host TEXT NOT NULL,
    etag TEXT NOT NULL, last_modified TEXT NOT NULL, digest TEXT NOT NULL, at REAL NOT NULL, seq INTEGER NOT NULL,
    round INTEGER NOT NULL, visited REAL NOT NULL, visits INTEGER NOT NULL, changes INTEGER NOT NULL, span REAL NOT NULL,
    missing INTEGER NOT NULL, born INTEGER, changed INTEGER, gone INTEGER,
    due REAL, attempt INTEGER NOT NULL DEFAULT 1,
    claimed INTEGER NOT NULL DEFAULT 0, claims INTEGER NOT NULL DEFAULT 0, lies INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS due ON answers (host, attempt, due DESC) WHERE due IS NOT NULL;
CREATE TABLE IF NOT EXISTS history (
    kind TEXT NOT NULL, key TEXT NOT NULL, about TEXT NOT NULL, born INTEGER NOT NULL, gone INTEGER, PRIMARY KEY (kind, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS lessons (
    site TEXT NOT NULL, languages TEXT NOT NULL, round INTEGER NOT NULL,
    context BLOB NOT NULL, sample BLOB NOT NULL, learned BLOB NOT NULL, PRIMARY KEY (site, languages, round)
) WITHOUT ROWID;
"""

# What people ask in SQL: docs/how-to/sql.md promises these names and columns. They use no functions but SQLite's own.
_VIEWS = f"""
CREATE VIEW IF NOT EXISTS pages AS
SELECT stored_pages.url, site, stored_pages.language, title, digest AS text_digest, status, bytes,
    datetime(at, 'unixepoch') AS fetched_at, relevance, relevant
FROM stored_pages LEFT JOIN fetches ON seq = stored_pages.id;
CREATE VIEW IF NOT EXISTS page_pairs AS
SELECT pairs.site, lang_a, lang_b, url_a, url_b, score, evidence, partial, coalesce(count, 0) AS segments
FROM pairs LEFT JOIN alignments ON alignments.key = alignment;
CREATE VIEW IF NOT EXISTS skips AS
SELECT site, url, '' AS partner, stage, reason, coalesce(detail, '') AS detail FROM links WHERE state = {SKIPPED} AND NOT {OWN}
UNION ALL SELECT site, url, '', stage, reason, detail FROM faults
UNION ALL SELECT site, url_a, url_b, '{Stage.PAIR}', reason, '' FROM refusals
UNION ALL SELECT site, url, repeats, '{Stage.PAIR}', 'duplicate', '' FROM duplicates;
CREATE VIEW IF NOT EXISTS rounds AS
SELECT number, datetime(began, 'unixepoch') AS began,
    (SELECT count(*) FROM answers WHERE born = number) AS new_pages,
    (SELECT count(*) FROM answers WHERE changed = number) AS changed_pages,
    (SELECT count(*) FROM answers WHERE gone = number) AS gone_pages
FROM (SELECT number, began FROM stored_rounds
    UNION ALL SELECT 1, min(at) FROM fetches WHERE NOT EXISTS (SELECT 1 FROM stored_rounds))
WHERE began IS NOT NULL;
"""

SCHEMA = _LEDGER + _ROUNDS + _VIEWS + _FINDINGS

LOCK_ATTEMPTS = 5
_PATIENCE = 10.0  # seconds to wait for another writer; their transactions take milliseconds
_LEAST_SPACE = 1 << 16  # bytes: the index of a log alone takes half of it
_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
_MISREAD = ("Could not decode", "malformed", "no such table", "no such column")
"""What other errors of a database that bitrawl wrote begin with, if its bytes are not those that were written."""
Values = Sequence[str | float | bytes | None]
Noun = TypeVar("Noun")


class Database:
    """A connection to a job's database.

    If it is opened for writing, it holds the folder's lock and completes the schema.
    """

    def __init__(self, path: Path, *, read_only: bool = False, verified: bool = True) -> None:
        """Without `verified`, a damaged file shows when it is read, or never: for those that only look, and often."""
        self.path = path
        self._cursors: type[_Cursor] = type("_CursorOf", (_Cursor,), {"path": path})
        self._lock = None if read_only else _lock(path)
        self._depth = 0
        try:
            if verified and path.exists():
                verify(path, ours=not read_only)
            self._connection = _opened(path) if read_only else _opened_for_writing(path)
        except StoreError:
            self._unlock()
            raise

    def close(self) -> None:
        """A database that was written is sealed, unless somebody is reading it just now."""
        complete = self._lock is not None and self._is_in_one_file()
        self._connection.close()
        if complete:
            seal(self.path)
        self._unlock()

    def query(self, statement: str, values: Values = ()) -> sqlite3.Cursor:
        return self._cursor().execute(statement, values)  # type: ignore[no-any-return]

    def query_many(self, statement: str, rows: Iterable[Values]) -> None:
        self._cursor().executemany(statement, rows)

    def one(self, statement: str, values: Values = ()) -> Any:
        """The first row; None if there is none."""
        return self._cursor().execute(statement, values).fetchone()

    def _cursor(self) -> "_Cursor":
        return self._connection.cursor(self._cursors)

    def _is_in_one_file(self) -> bool:
        """Bring what is in the log into the file itself. False if that cannot be done now."""
        try:
            self._connection.rollback()
            (busy, *_) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.Error:
            return False
        return not busy

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing. A full disk raises `DiskFullError`. An inner transaction is part of the outer one."""
        self._depth += 1
        try:
            yield
            if self._depth == 1:
                self._connection.commit()
        except sqlite3.Error as error:
            self._undo()
            raise fault(self.path, error) from error
        except BaseException:
            self._undo()
            raise
        finally:
            self._depth -= 1

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything read inside belongs to one moment, even while another process writes."""
        try:
            self._connection.execute("BEGIN")
            yield
        except sqlite3.Error as error:
            raise fault(self.path, error) from error
        finally:
            self._undo()

    def _undo(self) -> None:
        with suppress(sqlite3.Error):  # The owner closes a connection that cannot even roll back.
            self._connection.rollback()

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)


class Blobs(Generic[Noun]):
    """Reads back the nouns of a column, packed, and with `compressed` as `compressor` left them. Raises `DamagedError`."""

    def __init__(self, kind: Any, path: Path, *, compressed: bool = False) -> None:
        self._unpack: Unpacker[Noun] = Unpacker(kind)
        self._compressed = compressed
        self._path = path

    def __call__(self, blob: bytes) -> Noun:
        try:
            return self._unpack(zstd.decompress(blob) if self._compressed else blob)
        except (zstd.ZstdError, ValueError, TypeError, *NO_JSON) as error:
            raise damaged(self._path, f"a row cannot be read ({error})") from error


def expanded(path: Path, blob: bytes) -> bytes:
    """What `compressor` left. Raises `DamagedError`."""
    try:
        return zstd.decompress(blob)
    except zstd.ZstdError as error:
        raise damaged(path, f"a row cannot be read ({error})") from error


def stored_skip(path: Path, url: Url, row: Sequence[Any]) -> Skip:
    """A skip from its stage, reason and detail, and the status if there is one. Raises `DamagedError`."""
    stage, reason, detail, *status = row
    try:
        return Skip(url, Stage(stage), Reason(reason), detail or "", *(number or 0 for number in status))
    except ValueError as error:
        raise damaged(path, error) from error


def _naming(method: Callable[..., Any]) -> Callable[..., Any]:
    def call(cursor: "_Cursor", *arguments: Any) -> Any:
        try:
            return method(cursor, *arguments)
        except sqlite3.Error as error:
            raise fault(cursor.path, error) from error

    return call


class _Cursor(sqlite3.Cursor):
    """Its errors name the database. Those of a row that cannot be read come when the row is fetched.

    Each database has a subclass with its path: a visit makes a dozen cursors, and to tell each would take as long again.
    """

    path: Path

    execute = _naming(sqlite3.Cursor.execute)
    executemany = _naming(sqlite3.Cursor.executemany)
    __next__ = _naming(sqlite3.Cursor.__next__)
    fetchone = _naming(sqlite3.Cursor.fetchone)
    fetchall = _naming(sqlite3.Cursor.fetchall)


def verify(path: Path, *, ours: bool = False) -> None:
    """Raise `DamagedError` if a database is not as bitrawl left it; one that another process writes is not looked at.

    A sealed one is compared with its seal. Of one that was not closed, as after a kill, SQLite checks the structure.
    `ours`: we hold its lock.
    """
    if is_sealed(path):
        verify_seal(path)
    elif ours or not is_locked(path):
        try:
            verify_log(path)
        except DamagedError:
            if ours or not is_locked(path):  # otherwise a process has begun to write since we looked
                raise
        _verify_structure(path)


def recovered(path: Path) -> bool:
    """Keep what SQLite accepts of a database and its damaged log, and seal it. False if that is no sound database.

    Only for the holder of its lock.
    """
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            connection.execute("SELECT 1 FROM meta").fetchone()
        _verify_structure(path)
    except (sqlite3.Error, StoreError):
        return False
    seal(path)
    return True


def _verify_structure(path: Path) -> None:
    if not path.stat().st_size:
        return  # a run that was killed before it wrote anything
    try:
        with closing(sqlite3.connect(address(path), uri=True)) as connection:
            wrong = structural_fault(connection)
    except sqlite3.Error as error:
        raise fault(path, error) from error
    if wrong:
        raise damaged(path, wrong)


def structural_fault(connection: sqlite3.Connection) -> str:
    """The first that SQLite finds; empty if it finds none."""
    (answer,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    return "" if answer == "ok" else " ".join(answer.split())


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Nobody else can write into the database's folder meanwhile. Raises `StoreError` if somebody does already."""
    descriptor = _lock(path)
    try:
        yield
    finally:
        os.close(descriptor)


def is_locked(path: Path) -> bool:
    """Whether a process is writing into the database's folder: the job is running, and was not killed."""
    try:
        descriptor = os.open(path.with_suffix(".lock"), os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def back_up(path: Path, copy: Path) -> None:
    """Copy the database as it is at one moment, even while a process writes it; that process does not wait."""
    try:
        with closing(_opened(path)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
    except sqlite3.Error as error:
        raise fault(path, error) from error


def _opened(path: Path) -> sqlite3.Connection:
    """A connection for reading."""
    if not path.exists():
        if not path.with_suffix(".toml").exists() or kind_of(path.parent) is FolderKind.RUN:
            raise no_job(path.parent)
        raise StoreError(
            f"{path} is missing; to make it again from the archive or the web,"
            f" run: bitrawl mine --out {shlex.quote(str(path.parent))}"
        )
    with _connecting(path, address(path), uri=True) as connection:
        _check_version(path, connection)
    return connection


def _opened_for_writing(path: Path) -> sqlite3.Connection:
    unseal(path)
    with _connecting(path, path) as connection:
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
            _check_version(path, connection)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        # 8 MB: a visit of one of 2,000 hosts, in a ledger of 100 MB, takes as long as with 4, 16 and 32 (2026-11-18).
        connection.execute("PRAGMA cache_size = -8192")
        connection.execute("PRAGMA wal_autocheckpoint = 16384")  # pages of 4 kB: 64 MB
        # One transaction: a reader sees all tables or none.
        connection.executescript(
            f"BEGIN; {SCHEMA} INSERT OR IGNORE INTO meta VALUES ('version', {VERSION});"
            # A killed run leaves leases behind. Queue these links again.
            f" UPDATE links SET state = {QUEUED} WHERE state = {LEASED}; COMMIT;"
        )
    return connection


@contextmanager
def _connecting(path: Path, address: Path | str, *, uri: bool = False) -> Iterator[sqlite3.Connection]:
    """A connection that stays open if the block ends without error. An error of SQLite is raised as a `StoreError`."""
    try:
        with ExitStack() as on_error:
            yield on_error.enter_context(closing(sqlite3.connect(address, uri=uri)))
            on_error.pop_all()
    except sqlite3.Error as error:
        raise fault(path, error) from error


def _check_version(path: Path, connection: sqlite3.Connection) -> None:
    row = connection.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
    version = row[0] if row else "unknown"
    if version != VERSION:
        raise StoreError(
            f"{path} was written by another version of bitrawl (format {version}, this one reads {VERSION});"
            " choose another --out, or start over with --fresh"
        )


def fault(path: Path, error: sqlite3.Error) -> StoreError:
    """The error to raise if that database cannot be read or written."""
    if _is_full(path, getattr(error, "sqlite_errorname", "")):
        return DiskFullError(f"no space left for {path}: free some and run the same command again; nothing is lost")
    if getattr(error, "sqlite_errorname", "").startswith(_DAMAGED) or str(error).startswith(_MISREAD):
        return damaged(path, error)
    return StoreError(f"{path} cannot be used: {error}")


def _is_full(path: Path, name: str) -> bool:
    if name in ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMSIZE"):
        return True
    if not name.startswith(("SQLITE_IOERR", "SQLITE_CANTOPEN")):
        return False
    try:
        disk = os.statvfs(path.parent)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < _LEAST_SPACE


def _lock(path: Path) -> int:
    """Two crawls in one folder would visit everything twice. The lock ends with the process."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        message = f"{path.parent} cannot be written: {error.strerror}; choose another --out"
        raise StoreError(message) from error
    for attempt in range(LOCK_ATTEMPTS):  # `is_locked` holds it for a few microseconds
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if attempt + 1 < LOCK_ATTEMPTS:
                time.sleep(0.01)
                continue
            os.close(descriptor)
            message = f"another bitrawl process is using {path.parent}; wait until it ends, or choose another --out"
            raise StoreError(message) from error
        break
    return descriptor


class Layout(NamedTuple):
    """The tables of a database, and the version of their format."""

    tables: str
    version: int
    derived: bool = False  # it can be made again, so a file in another format counts as none


@contextmanager
def reading(path: Path, layout: Layout) -> Iterator[sqlite3.Connection]:
    """To read one moment of it; of empty tables if nothing was written yet."""
    try:
        where = address(path) if path.exists() else ":memory:"
        with closing(sqlite3.connect(where, uri=True, timeout=_PATIENCE)) as connection:
            connection.isolation_level = None
            connection.execute("BEGIN")
            version = version_of(connection)
            if version not in (0, layout.version) and not layout.derived:
                raise _other_format(version, layout)
            if not version and not layout.derived and connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                raise damaged(path, "its version is missing")
            if version == layout.version:
                yield connection
                return
        with closing(sqlite3.connect(":memory:")) as empty:
            empty.executescript(layout.tables)
            yield empty
    except sqlite3.Error as error:
        raise fault(path, error) from error
    except (ValueError, TypeError) as error:  # a word that nobody wrote
        raise damaged(path, error) from error


@contextmanager
def writing(path: Path, layout: Layout) -> Iterator[sqlite3.Connection]:
    """To write in one transaction: all or nothing. The file and its tables are created if they are not there."""
    try:
        with closing(connected(path, layout)) as connection, transaction(connection):
            yield connection
    except sqlite3.Error as error:
        raise fault(path, error) from error


def connected(path: Path, layout: Layout) -> sqlite3.Connection:
    """For several transactions. Raises `sqlite3.DatabaseError` if the file has another format."""
    connection = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        if version_of(connection) != layout.version:
            with transaction(connection):
                _create(connection, layout)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing. Waits for other writers before it begins, never in the middle."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def storable(text: str) -> str:
    """Half of a character pair, which SQLite refuses, becomes a question mark."""
    return text.encode("utf-8", "replace").decode()


def version_of(connection: sqlite3.Connection) -> int:
    """0 if nothing was written yet."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _create(connection: sqlite3.Connection, layout: Layout) -> None:
    """Another process may have done so while we waited."""
    version = version_of(connection)
    if version == layout.version:
        return
    if version:
        raise _other_format(version, layout)
    for statement in layout.tables.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {layout.version}")


def _other_format(version: int, layout: Layout) -> sqlite3.DatabaseError:
    return sqlite3.DatabaseError(f"it has format {version}, and this version of bitrawl reads {layout.version}")


def address(path: Path) -> str:
    """To read it. A process that was killed while it made the file leaves a journal, which only a writer can undo."""
    mode = "rw" if path.with_name(f"{path.name}-journal").exists() else "ro"
    return f"{path.absolute().as_uri()}?mode={mode}"
