"""Merges segment pairs into translation units: each text once, with every place where it was found."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing

import msgspec

from bitrawl.model import SegmentPair, TranslationUnit, UnitSource, Unpacker, pack
from bitrawl.store.unit_keys import keyed

DUPLICATE, NEAR_DUPLICATE = "duplicate", "near-duplicate"  # flags, with ILSP-FC's names


def merged(
    pairs: Iterable[SegmentPair],
    *,
    keep_duplicates: bool = False,
    preferred: Callable[[SegmentPair], bool] | None = None,
) -> Iterator[TranslationUnit]:
    """Units in the order in which they were first found. The best scored of equal pairs represents all of them.

    A preferred pair, such as one that a person accepted, is better than any score.

    Equal means the same texts. Nearly equal means the same letters, digits and symbols: case, punctuation and spaces do
    not count. The best scored of nearly equal pairs represents all of them too. Its unit has the places of all. With
    `keep_duplicates` each pair is a unit of its own and all but the best are flagged, as with ILSP-FC's -keepdup and
    -keepneardup.

    Memory stays bounded: the pairs are in a temporary SQLite database, which spills to disk and is deleted at the end.
    """
    with closing(sqlite3.connect("", isolation_level=None)) as database:
        _gather(database, pairs, preferred)
        unpack: Unpacker[SegmentPair] = Unpacker(SegmentPair)
        for seq, data, near, best, best_near, first, count in database.execute(_IN_ORDER):
            if keep_duplicates:
                flag = "" if seq == best_near else NEAR_DUPLICATE if seq == best else DUPLICATE
                yield TranslationUnit.alone(_flagged(unpack(data), flag))
            elif seq == first:
                pair = unpack(data if seq == best_near else _pair(database, best_near))
                yield _of_all(database, near, pair, unpack) if count > 1 else TranslationUnit.alone(pair)


_IN_ORDER = (
    "SELECT f.seq, f.pair, f.near, e.best, n.best, n.first, n.count FROM found f"
    " JOIN exact e ON e.key = f.exact JOIN near n ON n.key = f.near ORDER BY f.seq"
)
_GROUPED = (  # by the exact texts, then by the nearly equal ones
    "INSERT INTO {0} SELECT f.{0}, (SELECT seq FROM found g WHERE g.{0} = f.{0} ORDER BY score DESC, seq LIMIT 1),"
    " min(seq), count(*) FROM found f GROUP BY f.{0}"
)


def _gather(
    database: sqlite3.Connection, pairs: Iterable[SegmentPair], preferred: Callable[[SegmentPair], bool] | None
) -> None:
    database.execute("PRAGMA journal_mode = OFF")
    database.execute("PRAGMA cache_size = -65536")  # 64 MB (judgement); the rest goes to the temporary file
    database.execute("CREATE TABLE found (seq INTEGER PRIMARY KEY, exact INT, near INT, score REAL, pair BLOB)")
    database.execute("BEGIN")
    rows = (
        (keys.exact, keys.near, pair.score + (preferred is not None and preferred(pair)), pack(pair))
        for pair, keys in keyed(pairs)
    )
    database.executemany("INSERT INTO found (exact, near, score, pair) VALUES (?, ?, ?, ?)", rows)
    for name in ("exact", "near"):
        database.execute(f"CREATE INDEX by_{name} ON found ({name}, score DESC, seq)")
        database.execute(f"CREATE TABLE {name} (key INTEGER PRIMARY KEY, best INT, first INT, count INT)")
        database.execute(_GROUPED.format(name))
    database.execute("COMMIT")


def _flagged(pair: SegmentPair, flag: str) -> SegmentPair:
    return msgspec.structs.replace(pair, flags=(*pair.flags, flag)) if flag else pair


def _pair(database: sqlite3.Connection, seq: int) -> bytes:
    row = database.execute("SELECT pair FROM found WHERE seq = ?", (seq,)).fetchone()
    return bytes(row[0])


def _of_all(
    database: sqlite3.Connection, near: int, best: SegmentPair, unpack: Unpacker[SegmentPair]
) -> TranslationUnit:
    rows = database.execute("SELECT pair, exact FROM found WHERE near = ? ORDER BY seq", (near,)).fetchall()
    sources = dict.fromkeys([UnitSource.of(best), *(UnitSource.of(unpack(data)) for data, _ in rows)])
    return TranslationUnit(best, tuple(sources), variants=len({exact for _, exact in rows}) - 1)
