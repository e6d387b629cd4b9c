"""What people ask a job in SQL: read-only, of the views that the ledger and the file of verdicts have, and of its units."""

import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from bitrawl.corpus import CorpusUnit
from bitrawl.errors import ConfigError
from bitrawl.file_names import VERDICTS
from bitrawl.store.database import Database, address, storable
from bitrawl.store.verdicts import VerdictHistory

TABLES = "pages, page_pairs, units, skips, verdicts and rounds"
_REFUSED = ("not authorized", "attempt to write a readonly database")
_UNITS = (
    "CREATE TEMP TABLE units (lang_a TEXT, lang_b TEXT, text_a TEXT, text_b TEXT, score REAL, type TEXT, flags TEXT,"
    " url_a TEXT, url_b TEXT)"
)
_NO_VERDICTS = (
    "CREATE TEMP TABLE verdicts (kind TEXT, verdict TEXT, by TEXT, given_at TEXT, url_a TEXT, url_b TEXT, text_a TEXT,"
    " text_b TEXT)"
)


class SqlAnswer(NamedTuple):
    """The columns that a question names, and its rows, which are read as they are used."""

    columns: tuple[str, ...]
    rows: Iterator[tuple[str | float | bytes | None, ...]]


@contextmanager
def answered(ledger: Path, question: str, units: Iterable[CorpusUnit]) -> Iterator[SqlAnswer]:
    """Ask one thing; `units` are read if the question names them. Raises `ConfigError` for wrong SQL."""
    Database(ledger, read_only=True, verified=False).close()  # Whatever is wrong with it is said as everywhere.
    verdicts = ledger.with_name(VERDICTS)
    has_verdicts = VerdictHistory(verdicts).changes() > 0
    with closing(sqlite3.connect(address(ledger), uri=True, isolation_level=None)) as connection:
        if has_verdicts:
            connection.execute("ATTACH ? AS reviewed", (address(verdicts),))
        else:
            connection.execute(_NO_VERDICTS)
        if re.search(r"\bunits\b", question, re.IGNORECASE):
            connection.execute(_UNITS)
            connection.executemany("INSERT INTO units VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", map(_row, units))
        connection.execute("PRAGMA query_only = ON")
        connection.set_authorizer(_only_here)
        try:
            cursor = connection.execute(question)
            columns = tuple(column[0] for column in cursor.description or ())
            yield SqlAnswer(columns, cursor)
        except (sqlite3.Error, sqlite3.Warning) as error:
            why = "only SELECT is allowed" if str(error) in _REFUSED else str(error).rstrip(".")
            raise ConfigError(f"this SQL cannot be answered: {why}. The tables are {TABLES}") from error


def _row(unit: CorpusUnit) -> tuple[str | float, ...]:
    texts = (unit.lang_a, unit.lang_b, storable(unit.text_a), storable(unit.text_b))
    return (*texts, unit.score, unit.type, msgspec.json.encode(unit.flags).decode(), unit.url_a, unit.url_b)


def _only_here(action: int, *_: str | None) -> int:
    """A question opens no other file, and does not allow itself to write."""
    refused = (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH, sqlite3.SQLITE_PRAGMA)
    return sqlite3.SQLITE_DENY if action in refused else sqlite3.SQLITE_OK
