"""The index of what a reader of a job lists, sorts and searches: derived from the ledger, and deleted at no loss.

`python -m bitrawl.store.reading_index FOLDER` brings it up to date, beside the job or after it: it reads what is new, and
removes what is gone. `reviewing.py` asks it.
"""

import os
import sqlite3
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from functools import cached_property
from hashlib import blake2b
from math import inf
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from bitrawl.corpus import Anonymise, Anonymiser, keyed
from bitrawl.errors import BitrawlError, DamagedError, StoreError
from bitrawl.file_names import INDEX, LEDGER
from bitrawl.files import discard
from bitrawl.mining import Measures, SegmentKind, as_written
from bitrawl.model import Language, SegmentPair, pair_key, segment_key
from bitrawl.store.database import (
    Layout,
    connected,
    fault,
    is_locked,
    locked,
    reading,
    storable,
    structural_fault,
    transaction,
    version_of,
)
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_facts import FetchOrder, page_title
from bitrawl.store.stored_findings import PAIR, AlignmentKey, Findings, stored_pair
from bitrawl.text.search_words import folded, search_words

"""Its name in a job folder."""

# A segment's number is that of its alignment, then its place in it: at most a million segments in a page pair.
POSITION_BITS = 20
_NUMBER_BITS = 49
ROW = np.dtype([
    ("near", "<i8"), ("public", "<i8"), ("key", "<i8"), ("score", "<f8"), ("coverage", "<f8"), ("length_ratio", "<f8"), ("language", "<f8"),
    ("words_a", "<f4"), ("words_b", "<f4"), ("characters_a", "<i4"), ("characters_b", "<i4"), ("kind", "<i4"),
])  # fmt: skip

Rows = npt.NDArray[np.void]
LEFT_OUT = np.iinfo(np.int64).min  # in place of a key
_LEVELS = 100  # of scores: more make the index larger, and slower to write
# `words` has what `search_words` makes of the texts, with a space after each, and the two languages as one word. Its rows
# have the level of the score before the segment's number, so that SQLite finds the best first and need not sort.
# `alignments.rows` is what segments are counted and filtered by (`review/selection.py`): a row of numbers for each, of which
# one is that of its kind.
LAYOUT = Layout(
    """
CREATE TABLE facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE pairs (
    id INTEGER PRIMARY KEY, digest INTEGER NOT NULL UNIQUE, key TEXT NOT NULL,
    lang_a TEXT NOT NULL, lang_b TEXT NOT NULL, site TEXT NOT NULL, url_a TEXT NOT NULL, url_b TEXT NOT NULL,
    title_a TEXT NOT NULL, title_b TEXT NOT NULL, score REAL NOT NULL, evidence TEXT NOT NULL, completed INTEGER NOT NULL,
    segments INTEGER NOT NULL, mean_score REAL NOT NULL, flagged INTEGER NOT NULL,
    alignment INTEGER, methods TEXT NOT NULL, searched TEXT NOT NULL, partial INTEGER NOT NULL
);
CREATE INDEX pair_keys ON pairs (key);
CREATE INDEX pair_alignments ON pairs (alignment);
CREATE INDEX pair_completions ON pairs (lang_a, lang_b, completed);
CREATE INDEX pair_order ON pairs (lang_a, lang_b, site, url_a, url_b, key, alignment);
CREATE TABLE alignments (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE,
    segments INTEGER NOT NULL, mean_score REAL NOT NULL, flagged INTEGER NOT NULL, rows BLOB NOT NULL
);
CREATE TABLE kinds (id INTEGER PRIMARY KEY, kind TEXT NOT NULL UNIQUE);
CREATE VIRTUAL TABLE words USING fts5 (a, b, languages, tokenize = 'ascii', columnsize = 0);
INSERT INTO words (words, rank) VALUES ('automerge', 8)
""",
    6,
    derived=True,
)

# Page pairs in a transaction. A kill repeats no more than these, and readers and writers wait for no more.
_BATCH = 100
_NOT_BROKEN = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN")
_NICE = 10  # crawling, mining and the web app come first


def check_index(path: Path) -> str:
    """What is wrong with it; empty if SQLite finds nothing."""
    try:
        with reading(path, LAYOUT) as database:
            if version_of(database) != LAYOUT.version:
                return "it has another format"
            database.execute("SELECT count(*) FROM words WHERE words MATCH 'a'").fetchone()
            return structural_fault(database)
    except StoreError as error:
        return str(error).partition(" is damaged: ")[2].partition(" Nothing was changed.")[0] or str(error)


def _level(score: float) -> int:
    """0 for the best."""
    return _LEVELS - round(_LEVELS * min(max(score, 0.0), 1.0))


def _row_of_words(segment: int, score: float) -> int:
    """The number of a segment in `words`: the better the score, the smaller."""
    return _level(score) << _NUMBER_BITS | segment


SEGMENT_BITS = (1 << _NUMBER_BITS) - 1
"""Of the number of a row of `words`: those that are the number of its segment."""


def rows_of(
    pairs: Iterable[SegmentPair], kind_number: Callable[[SegmentKind], int], languages: Sequence[Language] = ()
) -> Rows:
    """A row for each segment pair, in order. `kind_number` gives equal kinds the same number.

    With their languages, a pair with personal data has two different keys: that of its texts, and that of placeholders in
    their place, `public`, or `LEFT_OUT`.
    """
    rows = []
    written = list(map(as_written, listed := list(pairs)))
    public = _public_keys(written, languages) if languages else {}
    for number, (pair, (_, keys)) in enumerate(zip(listed, keyed(written), strict=True)):
        measures, words = Measures.of(pair), (pair.scores.get(f"words_{side}", inf) for side in "ab")
        key = signed(segment_key(pair.a.text, pair.b.text))
        characters = len(pair.a.text), len(pair.b.text)
        near = keys.near, public.get(number, keys.near)
        rows.append((*near, key, *measures[:4], *words, *characters, kind_number(SegmentKind.of(pair))))
    return np.array(rows, dtype=ROW)


def _public_keys(pairs: Sequence[SegmentPair], languages: Sequence[Language]) -> dict[int, int]:
    """By the number of a pair with personal data."""
    hide = Anonymiser(Anonymise.REPLACE)
    public = {number: hide.public(pair, languages) for number, pair in enumerate(pairs)}
    left_out = {number: LEFT_OUT for number, pair in public.items() if pair is None}
    replaced = {number: pair for number, pair in public.items() if pair is not None and pair is not pairs[number]}
    keys = zip(replaced, keyed(replaced.values()), strict=True)
    return left_out | {number: keys.near for number, (_, keys) in keys}


def signed(key: str) -> int:
    """A key of 16 hexadecimal digits as a number of 64 bits."""
    return int.from_bytes(bytes.fromhex(key), "big", signed=True)


def written_key(number: int) -> str:
    """The key that `signed` made that number of."""
    return f"{number & (1 << 64) - 1:016x}"


def keys_in(rows: bytes) -> list[str]:
    """The keys of the segments of an alignment, from its column `rows`."""
    return [written_key(key) for key in np.frombuffer(rows, dtype=ROW)["key"].tolist()]


def language_word(lang_a: str, lang_b: str) -> str:
    """Two languages as one word of ASCII letters and digits."""
    return "0".join("".join(filter(str.isalnum, lang.lower())) for lang in (lang_a, lang_b))


class Refreshed(msgspec.Struct, frozen=True):
    """What a refresh changed."""

    pairs: int = 0  # that are new or changed
    alignments: int = 0  # that were read
    removed: int = 0  # page pairs that are gone or were replaced


def refresh(folder: Path, *, batch: int = _BATCH) -> Refreshed | None:
    """So many page pairs in a transaction. None if another process is doing the same now. An index that is broken or of another version is made again."""
    path = folder / INDEX
    if is_locked(path):
        return None
    with locked(path), Ledger(folder / LEDGER, read_only=True) as ledger:
        try:
            return _refreshed(ledger, path, batch)
        except sqlite3.Error as error:
            raise fault(path, error) from error


def is_due(folder: Path) -> bool:
    """Whether something was mined since the last refresh began."""
    with Ledger(folder / LEDGER, read_only=True, verified=False) as ledger:
        try:
            return ledger_signature(ledger) != index_signature(folder / INDEX)
        except DamagedError:
            return True  # A refresh makes a damaged index again, and says so of a ledger.


def index_signature(path: Path) -> str:
    """What the ledger looked like when the last refresh began; empty if none was completed."""
    with reading(path, LAYOUT) as index:
        row = index.execute("SELECT value FROM facts WHERE name = 'signature'").fetchone()
        return str(row[0]) if row else ""


def ledger_signature(ledger: Ledger) -> str:
    """It changes when a site was mined. Costs a millisecond or two."""
    pairs = ledger.database.one("SELECT count(*), max(id) FROM pairs")
    digest = blake2b(repr(pairs).encode(), digest_size=8)
    for row in ledger.database.query("SELECT site, pages, settings FROM mined ORDER BY site"):
        digest.update(repr(row).encode())
    return digest.hexdigest()


def _refreshed(ledger: Ledger, path: Path, batch: int) -> Refreshed:
    try:
        with closing(connected(path, LAYOUT)) as index:
            return _Refresh(ledger, index).run(batch)
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorname", "").startswith(_NOT_BROKEN):
            raise
    for ending in ("", "-wal", "-shm"):
        discard(path.with_name(path.name + ending))
    with closing(connected(path, LAYOUT)) as index:
        return _Refresh(ledger, index).run(batch)


class _Refresh:
    """One refresh. Each batch is a transaction of its own: after a kill the next refresh goes on where this one was.

    Mining replaces the pairs of a site as a whole, and gives old numbers to new rows. So a row is known by a digest of its
    content. Texts are known by the key of their alignment, and are not read again when only the score of a pair changes.
    """

    def __init__(self, ledger: Ledger, index: sqlite3.Connection) -> None:
        self._ledger = ledger
        self._findings = Findings(ledger)
        self._index = index
        self._words: list[tuple[int, str, str, str]] = []
        self._kinds: dict[SegmentKind, int] = {}
        self._pairs = self._alignments = self._removed = 0

    def run(self, batch: int) -> Refreshed:
        signature = self._list_what_is_there()
        last = 0
        while rows := self._new_rows(last, batch):
            with transaction(self._index):
                for number, digest in rows:
                    self._take(number, digest)
                self._write_words()
            last = rows[-1][0]
        with transaction(self._index):
            gone = "DELETE FROM pairs WHERE digest NOT IN (SELECT digest FROM temp.there)"
            self._removed += self._index.execute(gone).rowcount
        self._drop_unused_texts(batch)
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

    def _new_rows(self, after: int, batch: int) -> list[tuple[int, int]]:
        rows = self._index.execute(
            "SELECT number, digest FROM temp.there WHERE number > ? AND digest NOT IN (SELECT digest FROM pairs)"
            " ORDER BY number LIMIT ?",
            (after, batch),
        )
        return rows.fetchall()

    def _take(self, number: int, digest: int) -> None:
        """A row that was replaced since it was listed is left to the next refresh."""
        row = self._ledger.database.one(f"{_ROWS} WHERE pairs.id = ?", (number,))
        if row is None or _digest(*row[1:]) != digest:
            return
        _, alignment, count, site, *columns = row
        pair = stored_pair(self._ledger.path, columns)
        key = pair_key(pair.url_a, pair.url_b)
        replaced = "DELETE FROM pairs WHERE key = ? AND digest NOT IN (SELECT digest FROM temp.there)"
        self._removed += self._index.execute(replaced, (key,)).rowcount
        titles = [storable(page_title(self._ledger, url)) for url in (pair.url_a, pair.url_b)]
        number_of_texts = self._alignment(alignment, count, (pair.lang_a, pair.lang_b)) if count >= 0 else None
        searched = "\n".join(folded(text) for text in (pair.url_a, pair.url_b, *titles))
        self._index.execute(
            "INSERT OR IGNORE INTO pairs SELECT NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, coalesce(segments, 0),"
            " coalesce(mean_score, 0), coalesce(flagged, 0), id, ?, ?, ? FROM (SELECT ? AS wanted) LEFT JOIN alignments ON id = wanted",
            (
                *(digest, key, pair.lang_a, pair.lang_b, site, str(pair.url_a), str(pair.url_b), *titles, pair.score),
                *(msgspec.json.encode(pair.evidence).decode(), max(self._order(pair.url_a), self._order(pair.url_b))),
                *("".join(pair.evidence), searched, pair.partial, number_of_texts),
            ),
        )
        self._pairs += 1

    def _alignment(self, key: AlignmentKey, count: int, languages: tuple[Language, Language]) -> int:
        """The number of the texts with that key, which are read if they are new."""
        row = self._index.execute("SELECT id, segments FROM alignments WHERE key = ?", (key,)).fetchone()
        if row is not None:
            if row[1] == min(count, 1 << POSITION_BITS):
                return int(row[0])
            self._drop(row[0])
        segments = self._findings.segments_of(key)[: 1 << POSITION_BITS]
        mean = sum(segment.score for segment in segments) / (len(segments) or 1)
        flagged = sum(bool(segment.flags) for segment in segments)
        rows = rows_of(segments, self._kind_number, languages).tobytes()
        number = self._index.execute(
            "INSERT INTO alignments VALUES (NULL, ?, ?, ?, ?, ?)", (key, len(segments), mean, flagged, rows)
        ).lastrowid
        assert number is not None
        both = language_word(*languages)
        for at, segment in enumerate(segments, number << POSITION_BITS):
            text_a, text_b = segment.a.text, segment.b.text
            a, b = search_words(text_a, languages[0]), search_words(text_b, languages[1])
            self._words.append((_row_of_words(at, segment.score), " ".join(a), " ".join(b), both))
        self._alignments += 1
        return number

    def _kind_number(self, kind: SegmentKind) -> int:
        """There are few kinds. Those that no segment has any more stay."""
        if kind not in self._kinds:
            text = storable(msgspec.json.encode(kind).decode())
            self._index.execute("INSERT OR IGNORE INTO kinds VALUES (NULL, ?)", (text,))
            (self._kinds[kind],) = self._index.execute("SELECT id FROM kinds WHERE kind = ?", (text,)).fetchone()
        return self._kinds[kind]

    def _write_words(self) -> None:
        """In the order of their numbers: FTS5 writes to disk whenever a smaller one follows, which doubles the time."""
        statement = "INSERT INTO words (rowid, a, b, languages) VALUES (?, ?, ?, ?)"
        self._index.executemany(statement, sorted(self._words))
        self._words.clear()

    def _drop_unused_texts(self, batch: int) -> None:
        last = 0
        unused = (
            "SELECT id FROM alignments WHERE id > ? AND id NOT IN (SELECT alignment FROM pairs WHERE alignment NOT NULL)"
            " ORDER BY id LIMIT ?"
        )
        while rows := self._index.execute(unused, (last, batch)).fetchall():
            with transaction(self._index):
                for (number,) in rows:
                    self._drop(number)
            last = rows[-1][0]

    def _drop(self, number: int) -> None:
        self._write_words()
        (blob,) = self._index.execute("SELECT rows FROM alignments WHERE id = ?", (number,)).fetchone()
        scores = enumerate(np.frombuffer(blob, dtype=ROW)["score"].tolist(), number << POSITION_BITS)
        self._index.executemany("DELETE FROM words WHERE rowid = ?", [(_row_of_words(*row),) for row in scores])
        self._index.execute("DELETE FROM alignments WHERE id = ?", (number,))

    @cached_property
    def _order(self) -> FetchOrder:
        """Read when the first new pair is met: 16 bytes for each page."""
        (last,) = self._ledger.database.one("SELECT coalesce(max(seq), 0) FROM fetches")
        return FetchOrder(self._ledger, last)


_ROWS = (
    f"SELECT pairs.id, alignment, coalesce(count, -1), pairs.site, {PAIR}"
    " FROM pairs LEFT JOIN alignments ON alignments.key = pairs.alignment"
)


def _digest(*row: object) -> int:
    return int.from_bytes(blake2b(repr(row).encode(), digest_size=8).digest(), "big", signed=True)


def main() -> int:
    """0 when the index is up to date or somebody else is at it, 1 for a folder that cannot be read, 2 for misuse."""
    _, *arguments = sys.argv
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m bitrawl.store.reading_index FOLDER\n")
        return 2
    os.nice(_NICE)
    try:
        done = refresh(Path(arguments[0]))
    except BitrawlError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(
        "another process is refreshing this index\n"
        if done is None
        else f"{done.pairs} page pairs are new, {done.removed} are gone; {done.alignments} alignments were read\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
