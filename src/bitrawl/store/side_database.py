"""Small databases beside the ledger: a connection for each call, so that threads and processes can share the file."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from bitrawl.store.database import fault
from bitrawl.store.seal import damaged

_PATIENCE = 10.0  # seconds to wait for another writer (judgement); their transactions take milliseconds


class Layout(NamedTuple):
    """The tables of a database, and the version of their format."""

    tables: str
    version: int
    derived: bool = False  # it can be made again, so a file in another format counts as none


@contextmanager
def reading(path: Path, layout: Layout) -> Iterator[sqlite3.Connection | None]:
    """To read one moment of it. None if nothing was written yet."""
    if not path.exists():
        yield None
        return
    try:
        with closing(sqlite3.connect(_address(path), uri=True, timeout=_PATIENCE)) as connection:
            connection.isolation_level = None
            connection.execute("BEGIN")
            found = version_of(connection)
            if found not in (0, layout.version) and not layout.derived:
                raise _other_format(found, layout)
            if not found and not layout.derived and connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                raise damaged(path, "its version is missing")
            yield connection if found == layout.version else None
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
    found = version_of(connection)
    if found == layout.version:
        return
    if found:
        raise _other_format(found, layout)
    for statement in layout.tables.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {layout.version}")


def _other_format(found: int, layout: Layout) -> sqlite3.DatabaseError:
    return sqlite3.DatabaseError(f"it has format {found}, and this version of bitrawl knows {layout.version}")


def _address(path: Path) -> str:
    return f"{path.absolute().as_uri()}?mode=ro"
