"""Brings the reading index up to date with the ledger: reads what is new, and removes what is gone."""

import sqlite3
from contextlib import closing
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

import msgspec

from bitrawl.files import discard
from bitrawl.model import PagePair, SegmentPair, pair_key
from bitrawl.store.database import Blobs, fault, is_locked, locked
from bitrawl.store.facts import FetchOrder, page_title
from bitrawl.store.findings import AlignmentKey, Findings
from bitrawl.store.ledger import Ledger
from bitrawl.store.reading_index import LAYOUT, PADDING, PLACE_BITS, is_spaced
from bitrawl.store.side_database import connected, storable, transaction
from bitrawl.text.words import folded, unspaced_count

# Page pairs in a transaction: judgement. A kill repeats no more than these, and readers and writers wait for no more.
_BATCH = 100
_NOT_BROKEN = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN")


class Refreshed(msgspec.Struct, frozen=True):
    """What a refresh changed."""

    pairs: int = 0  # that are new or changed
    alignments: int = 0  # that were read
    removed: int = 0  # page pairs that are gone or were replaced


def refresh(ledger_path: Path, path: Path) -> Refreshed | None:
    """None if another process is doing the same now. An index that is broken or of another version is made again."""
    if is_locked(path):
        return None
    with locked(path):
        ledger = Ledger(ledger_path, read_only=True)
        try:
            return _refreshed(ledger, path)
        except sqlite3.Error as error:
            raise fault(path, error) from error
        finally:
            ledger.close()


def ledger_signature(ledger: Ledger) -> str:
    """It changes when a site was mined. Costs a millisecond or two."""
    one, query = ledger.database.one, ledger.database.query
    digest = blake2b(repr(one("SELECT count(*), max(id) FROM pairs")).encode(), digest_size=8)
    for row in query("SELECT site, pages, settings FROM mined ORDER BY site"):
        digest.update(repr(row).encode())
    return digest.hexdigest()


def _refreshed(ledger: Ledger, path: Path) -> Refreshed:
    try:
        with closing(connected(path, LAYOUT)) as index:
            return _Refresh(ledger, index).run()
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorname", "").startswith(_NOT_BROKEN):
            raise
    for ending in ("", "-wal", "-shm"):
        discard(path.with_name(path.name + ending))
    with closing(connected(path, LAYOUT)) as index:
        return _Refresh(ledger, index).run()


class _Refresh:
    """One refresh. Each batch is a transaction of its own: after a kill the next refresh goes on where this one was.

    Mining replaces the pairs of a site as a whole, and gives old numbers to new rows. So a row is known by a digest of its
    content. Texts are known by the key of their alignment, and are not read again when only the score of a pair changes.
    """

    def __init__(self, ledger: Ledger, index: sqlite3.Connection) -> None:
        self._ledger = ledger
        self._findings = Findings(ledger)
        self._index = index
        self._unpack: Blobs[PagePair] = Blobs(PagePair, ledger.path)
        self._pairs = self._alignments = self._removed = 0

    def run(self) -> Refreshed:
        signature = self._list_what_is_there()
        last = 0
        while rows := self._new_rows(last):
            with transaction(self._index):
                for number, digest in rows:
                    self._take(number, digest)
            last = rows[-1][0]
        with transaction(self._index):
            gone = "DELETE FROM pairs WHERE digest NOT IN (SELECT digest FROM temp.there)"
            self._removed += self._index.execute(gone).rowcount
        self._drop_unused_texts()
        with transaction(self._index):
            self._index.execute("INSERT OR REPLACE INTO facts VALUES ('signature', ?)", (signature,))
        return Refreshed(self._pairs, self._alignments, self._removed)

    def _list_what_is_there(self) -> str:
        """The digests of the ledger's pairs, on disk if there are many. Returns the signature of the same moment."""
        self._index.execute("CREATE TEMP TABLE there (digest INTEGER PRIMARY KEY, number INTEGER NOT NULL)")
        with self._ledger.snapshot():
            rows = self._ledger.database.query(_ROWS)
            with transaction(self._index):
                self._index.executemany(
                    "INSERT OR IGNORE INTO temp.there VALUES (?, ?)", ((_digest(*row[1:]), row[0]) for row in rows)
                )
            return ledger_signature(self._ledger)

    def _new_rows(self, after: int) -> list[tuple[int, int]]:
        rows = self._index.execute(
            "SELECT number, digest FROM temp.there WHERE number > ? AND digest NOT IN (SELECT digest FROM pairs)"
            " ORDER BY number LIMIT ?",
            (after, _BATCH),
        )
        return rows.fetchall()

    def _take(self, number: int, digest: int) -> None:
        """A row that was replaced since it was listed is left to the next refresh."""
        row = self._ledger.database.one(f"{_ROWS} WHERE pairs.id = ?", (number,))
        if row is None or _digest(*row[1:]) != digest:
            return
        _, blob, alignment, count, site = row
        pair = self._unpack(blob)
        key = pair_key(pair.url_a, pair.url_b)
        replaced = "DELETE FROM pairs WHERE key = ? AND digest NOT IN (SELECT digest FROM temp.there)"
        self._removed += self._index.execute(replaced, (key,)).rowcount
        titles = [storable(page_title(self._ledger, url)) for url in (pair.url_a, pair.url_b)]
        searched = "\n".join(folded(text) for text in (pair.url_a, pair.url_b, *titles))
        self._index.execute(
            "INSERT OR IGNORE INTO pairs SELECT NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, coalesce(segments, 0),"
            " coalesce(mean_score, 0), coalesce(flagged, 0), id, ?, ?, ? FROM (SELECT ? AS wanted) LEFT JOIN alignments ON id = wanted",
            (
                *(digest, key, pair.lang_a, pair.lang_b, site, str(pair.url_a), str(pair.url_b), *titles, pair.score),
                *(msgspec.json.encode(pair.evidence).decode(), self._completed(pair)),
                *(
                    "".join(pair.evidence),
                    searched,
                    pair.partial,
                    self._alignment(alignment, count) if count >= 0 else None,
                ),
            ),
        )
        self._pairs += 1

    def _alignment(self, key: AlignmentKey, count: int) -> int:
        """The number of the texts with that key, which are read if they are new."""
        row = self._index.execute("SELECT id, segments FROM alignments WHERE key = ?", (key,)).fetchone()
        if row is not None:
            if row[1] == min(count, 1 << PLACE_BITS):
                return int(row[0])
            self._drop(row[0])
        segments = self._findings.segments_of(key)[: 1 << PLACE_BITS]
        mean = sum(one.score for one in segments) / (len(segments) or 1)
        flagged = sum(bool(one.flags) for one in segments)
        number = self._index.execute(
            "INSERT INTO alignments VALUES (NULL, ?, ?, ?, ?)", (key, len(segments), mean, flagged)
        ).lastrowid
        assert number is not None
        for place, segment in enumerate(segments):
            self._keep(number << PLACE_BITS | place, segment)
        self._alignments += 1
        return number

    def _keep(self, number: int, segment: SegmentPair) -> None:
        self._index.execute("INSERT INTO segments VALUES (?, ?)", (number, segment.score))
        texts = [folded(segment.a.text), folded(segment.b.text)]
        spaced = [text if is_spaced(text) else "" for text in texts]
        unspaced = [text + PADDING if unspaced_count(text) else "" for text in texts]
        for table, sides in (("words", spaced), ("grams", unspaced)):
            if any(sides):
                self._index.execute(f"INSERT INTO {table} (rowid, a, b) VALUES (?, ?, ?)", (number, *sides))

    def _drop_unused_texts(self) -> None:
        last = 0
        unused = (
            "SELECT id FROM alignments WHERE id > ? AND id NOT IN (SELECT alignment FROM pairs WHERE alignment NOT NULL)"
            " ORDER BY id LIMIT ?"
        )
        while rows := self._index.execute(unused, (last, _BATCH)).fetchall():
            with transaction(self._index):
                for (number,) in rows:
                    self._drop(number)
            last = rows[-1][0]

    def _drop(self, number: int) -> None:
        first, after = number << PLACE_BITS, (number + 1) << PLACE_BITS
        for table in ("words", "grams", "segments"):
            self._index.execute(f"DELETE FROM {table} WHERE rowid >= ? AND rowid < ?", (first, after))
        self._index.execute("DELETE FROM alignments WHERE id = ?", (number,))

    def _completed(self, pair: PagePair) -> int:
        return max(self._order(pair.url_a), self._order(pair.url_b))

    @cached_property
    def _order(self) -> FetchOrder:
        """Read when the first new pair is met: 16 bytes for each page."""
        (last,) = self._ledger.database.one("SELECT coalesce(max(seq), 0) FROM fetches")
        return FetchOrder(self._ledger, last)


_ROWS = (
    "SELECT pairs.id, pair, alignment, coalesce(count, -1), pairs.site"
    " FROM pairs LEFT JOIN alignments ON alignments.key = pairs.alignment"
)


def _digest(pair: bytes, alignment: AlignmentKey, count: int, site: str) -> int:
    data = b"%b %b %d %b" % (alignment, pair, count, site.encode())
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big", signed=True)
