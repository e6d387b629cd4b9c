"""What a reader of a job lists, sorts and searches. It is derived from the ledger and can be deleted at any time.

Brings the reading index up to date with the ledger: reads what is new, and removes what is gone.

Brings the reading index of a job up to date: `python -m bitrawl.job.reading_index FOLDER`, beside the job or after it.
"""

import os
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from enum import StrEnum
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import msgspec

from bitrawl.errors import BitrawlError, DamagedError, StoreError
from bitrawl.files import discard
from bitrawl.job.database import Blobs, Layout, connected, fault, is_locked, locked, reading, storable, transaction
from bitrawl.job.findings import AlignmentKey, Findings
from bitrawl.job.ledger import Ledger
from bitrawl.job.ledger_facts import FetchOrder, page_title
from bitrawl.model import Language, PagePair, SegmentPair, pair_key
from bitrawl.text.words import folded, unspaced_count

INDEX = "index.sqlite"
"""Its name in a job folder."""

# A segment's number is that of its alignment, then its place in it: at most a million segments in a page pair (judgement).
PLACE_BITS = 20
# Words are searched in `words`; `grams` has texts in scripts without spaces, where any three characters are searched for.
# Both hold folded texts, which are smaller than what the ledger has, and never shown.
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
CREATE TABLE alignments (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE,
    segments INTEGER NOT NULL, mean_score REAL NOT NULL, flagged INTEGER NOT NULL
);
CREATE TABLE segments (id INTEGER PRIMARY KEY, score REAL NOT NULL);
CREATE VIRTUAL TABLE words USING fts5 (a, b, tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co M*'");
CREATE VIRTUAL TABLE grams USING fts5 (a, b, tokenize = 'trigram');
CREATE VIRTUAL TABLE gram_terms USING fts5vocab (grams, row)
""",
    1,
    derived=True,
)

GRAM = 3  # characters that the trigram index needs
PADDING = " " * (GRAM - 1)
"""What follows each text in `grams`, so that its last characters begin a term of three, too."""
# Judgement: nobody reads more hits of one phrase. Counting and sorting all 200,000 hits of an article takes too long.
MOST_HITS = 1000
_LONGEST_PHRASE = 500  # characters; judgement
_PAIR = "key, lang_a, lang_b, site, url_a, url_b, title_a, title_b, score, evidence, completed, segments, mean_score, flagged, partial"


class Order(StrEnum):
    """How page pairs are sorted."""

    SCORE = "score"
    SEGMENTS = "segments"
    COMPLETED = "completed"  # when the second page was fetched
    MEAN_SCORE = "mean_score"  # of the segments


class Side(StrEnum):
    """In which texts a phrase is searched."""

    A = "a"
    B = "b"
    BOTH = "both"


class Languages(NamedTuple):
    """In the order of the ledger."""

    a: Language
    b: Language


class PairRow(msgspec.Struct, frozen=True):
    """A page pair in a list."""

    key: str
    lang_a: Language
    lang_b: Language
    site: str
    url_a: str
    url_b: str
    title_a: str
    title_b: str
    score: float
    evidence: dict[str, float]  # by the letter of its `Method`
    completed: int  # the number of the fetch that brought the second page
    segments: int
    mean_score: float  # of the segments; 0 if there are none
    flagged: int  # segments with a flag
    partial: bool = False  # translated in part: no page pair, but its segments may be in the corpus

    @property
    def methods(self) -> str:
        """The letters of the methods that found it."""
        return "".join(self.evidence)


class PairQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """Which page pairs to list, and how."""

    languages: Languages | None = None
    site: str = ""
    text: str = ""  # in a URL or a title
    method: str = ""  # the letter of one
    least: float = 0.0  # of the score
    most: float = 1.0
    keys: Sequence[str] | None = None  # only these
    without: Sequence[str] = ()  # but not these
    order: Order = Order.SCORE
    ascending: bool = False
    offset: int = 0
    limit: int = 50


class PairRows(NamedTuple):
    """A part of a list, and how long the list is."""

    rows: list[PairRow]
    total: int


class HitPlace(NamedTuple):
    """Where a segment with the phrase is."""

    pair: PairRow
    alignment: AlignmentKey
    place: int  # its number in the alignment


class HitPlaces(NamedTuple):
    """A part of the hits. `total` is the number of all, or `MOST_HITS` if there may be more."""

    hits: list[HitPlace]
    total: int


class PairCount(NamedTuple):
    """The page pairs of a site, or of two languages ("en-fr")."""

    name: str
    pairs: int


class ReadingIndex:
    """Reads the index. Any number of threads may use it: each call opens the file. Without a file nothing is found."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def signature(self) -> str:
        """What the ledger looked like when the last refresh began; empty if none was completed."""
        with self._database() as database:
            row = database and database.execute("SELECT value FROM facts WHERE name = 'signature'").fetchone()
            return str(row[0]) if row else ""

    def pairs(self, question: PairQuestion) -> PairRows:
        conditions, values = _conditions(question)
        where = " AND ".join(conditions) or "1"
        direction = "ASC" if question.ascending else "DESC"
        with self._database() as database:
            if database is None:
                return PairRows([], 0)
            total = database.execute(f"SELECT count(*) FROM pairs WHERE {where}", values).fetchone()[0]
            rows = database.execute(  # Sort the numbers only, then read the rows.
                f"SELECT {_PAIR} FROM (SELECT id AS chosen FROM pairs WHERE {where}"
                f" ORDER BY {question.order} {direction}, id LIMIT ? OFFSET ?)"
                f" JOIN pairs ON id = chosen ORDER BY {question.order} {direction}, id",
                (*values, *_part(question.limit, question.offset)),
            )
            return PairRows([_pair_row(row) for row in rows], total)

    def pair(self, key: str) -> HitPlace | None:
        """The page pair with that key, and its alignment; None if it is not indexed."""
        with self._database() as database:
            row = (
                database
                and database.execute(f"{_WITH_ALIGNMENT} WHERE pairs.key = ? LIMIT 1", (storable(key),)).fetchone()
            )
            return HitPlace(_pair_row(row[:-1]), row[-1] or b"", 0) if row else None

    def languages(self) -> list[PairCount]:
        """The pairs of languages, those with the most page pairs first."""
        return self._counts("lang_a || '-' || lang_b", -1)

    def sites(self, most: int) -> list[PairCount]:
        """Those with the most page pairs first."""
        return self._counts("site", most)

    def curve(self, languages: Languages | None, points: int) -> list[tuple[int, int]]:
        """How many page pairs were complete after so many fetches, at about that many points."""
        with self._database() as database:
            if database is None:
                return []
            conditions, values = _conditions(PairQuestion(languages=languages))
            where = " AND ".join(conditions) or "1"
            rows = database.execute(
                f"SELECT max(completed), count(*) FROM pairs WHERE {where} AND NOT partial"
                " GROUP BY completed / (1 + (SELECT max(completed) FROM pairs) / ?) ORDER BY 1",
                (*values, points),
            )
            total, curve = 0, []
            for completed, count in rows:
                total += count
                curve.append((completed, total))
            return curve

    def hits(
        self,
        phrase: str,
        side: Side = Side.BOTH,
        languages: Languages | None = None,
        *,
        offset: int = 0,
        limit: int = 20,
    ) -> HitPlaces:
        """Segments that have the phrase on that side, the best scored first. The phrase is data: it has no syntax."""
        phrase = folded(phrase[:_LONGEST_PHRASE]).strip()
        with self._database() as database:
            if database is None or not any(map(str.isalnum, phrase)):
                return HitPlaces([], 0)
            parts, values = _search(database, phrase, "a b" if side is Side.BOTH else str(side), languages)
            found = f"SELECT * FROM ({' UNION '.join(parts)}) LIMIT {MOST_HITS}"
            total = database.execute(f"SELECT count(*) FROM ({found})", values).fetchone()[0]
            numbers = database.execute(
                f"SELECT id FROM segments WHERE id IN ({found}) ORDER BY score DESC, id LIMIT ? OFFSET ?",
                (*values, *_part(limit, offset)),
            ).fetchall()
            hits = [_place(database, number, languages) for (number,) in numbers]
            return HitPlaces([hit for hit in hits if hit is not None], total)

    def _counts(self, column: str, most: int) -> list[PairCount]:
        with self._database() as database:
            if database is None:
                return []
            rows = database.execute(
                f"SELECT {column}, count(*) FROM pairs GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?", (most,)
            )
            return [PairCount(*row) for row in rows]

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection | None]:
        with reading(self._path, LAYOUT) as database:
            yield database


def check_index(path: Path) -> str:
    """What is wrong with it; empty if SQLite finds nothing."""
    try:
        with reading(path, LAYOUT) as database:
            if database is None:
                return "it has another format"
            for table in ("words", "grams"):
                database.execute(f"SELECT count(*) FROM {table} WHERE {table} MATCH 'a'").fetchone()
            (found,) = database.execute("PRAGMA integrity_check(1)").fetchone()
    except StoreError as error:
        return str(error).partition(" is damaged: ")[2].partition(" Nothing was changed.")[0] or str(error)
    return "" if found == "ok" else " ".join(found.split())


def is_spaced(text: str) -> bool:
    """Whether most of it is in a script that puts spaces between words."""
    unspaced = unspaced_count(text)
    return not unspaced or 2 * unspaced < sum(map(str.isalnum, text))


_WITH_ALIGNMENT = (
    f"SELECT pairs.{_PAIR.replace(', ', ', pairs.')}, alignments.key"
    " FROM pairs LEFT JOIN alignments ON alignments.id = pairs.alignment"
)


def _conditions(question: PairQuestion) -> tuple[list[str], list[str | float]]:
    asked: list[tuple[bool, str, list[str | float]]] = [
        (question.languages is not None, "lang_a = ? AND lang_b = ?", [*(question.languages or ())]),
        (bool(question.site), "site = ?", [question.site]),
        (bool(question.text.strip()), "instr(searched, ?)", [folded(question.text.strip())]),
        (bool(question.method), "instr(methods, ?)", [question.method]),
        (question.least > 0, "score >= ?", [question.least]),
        (question.most < 1, "score <= ?", [question.most]),
        (question.keys is not None, "key IN (SELECT value FROM json_each(?))", [_listed(question.keys or ())]),
        (bool(question.without), "key NOT IN (SELECT value FROM json_each(?))", [_listed(question.without)]),
    ]
    given = [(condition, values) for is_given, condition, values in asked if is_given]
    return [condition for condition, _ in given], _storable([value for _, values in given for value in values])


def _storable(values: Sequence[str | float]) -> list[str | float]:
    return [storable(value) if isinstance(value, str) else value for value in values]


def _part(limit: int, offset: int) -> tuple[int, int]:
    """SQLite takes no larger numbers, and would take a negative limit for none."""
    return min(max(limit, 0), MOST_HITS), min(max(offset, 0), 1 << 40)


def _listed(keys: Sequence[str]) -> str:
    return msgspec.json.encode(list(keys)).decode()


class _Search(NamedTuple):
    """Where and how to look for a phrase."""

    table: str
    condition: str
    values: list[str]


def _search(
    database: sqlite3.Connection, phrase: str, columns: str, languages: Languages | None
) -> tuple[list[str], list[str | float]]:
    """The statements that find the numbers of segments, and their values."""
    searches = [_in_grams(database, phrase, columns)]
    if not unspaced_count(phrase):
        searches.append(_Search("words", "words MATCH ?", [f"{{{columns}}} : {_quoted(phrase)}"]))
    only = ""
    if languages is not None:
        pair = f"SELECT 1 FROM pairs WHERE alignment = {{}}.rowid >> {PLACE_BITS} AND lang_a = ? AND lang_b = ?"
        only = f" AND EXISTS ({pair})"
    parts = [
        f"SELECT * FROM (SELECT rowid FROM {table} WHERE {condition}{only.format(table)} LIMIT {MOST_HITS})"
        for table, condition, _ in searches
    ]
    return parts, _storable([value for one in searches for value in (*one.values, *(languages or ()))])


def _in_grams(database: sqlite3.Connection, phrase: str, columns: str) -> _Search:
    """One or two characters are looked up as the beginning of terms. If very many terms begin so, a scan ends soon."""
    if len(phrase) >= GRAM:
        return _Search("grams", "grams MATCH ?", [f"{{{columns}}} : {_quoted(phrase)}"])
    rows = database.execute(
        "SELECT term FROM gram_terms WHERE term >= ? AND term < ? LIMIT ?",
        (phrase, f"{phrase}\U0010ffff", MOST_HITS + 1),
    )
    terms = [_quoted(term) for (term,) in rows]
    if not terms:
        return _Search("grams", "0", [])
    if len(terms) <= MOST_HITS:
        return _Search("grams", "grams MATCH ?", [f"{{{columns}}} : ({' OR '.join(terms)})"])
    inside = [f"instr({column}, ?)" for column in columns.split()]
    return _Search("grams", f"({' OR '.join(inside)})", [phrase] * len(inside))


def _quoted(phrase: str) -> str:
    """As a string of FTS5, in which nothing is syntax."""
    return '"' + phrase.replace('"', '""') + '"'


def _place(database: sqlite3.Connection, number: int, languages: Languages | None) -> HitPlace | None:
    alignment, place = number >> PLACE_BITS, number & ((1 << PLACE_BITS) - 1)
    statement, values = f"{_WITH_ALIGNMENT} WHERE pairs.alignment = ?", [alignment, *(languages or ())]
    if languages is not None:
        statement += " AND pairs.lang_a = ? AND pairs.lang_b = ?"
    row = database.execute(f"{statement} LIMIT 1", _storable(values)).fetchone()
    return HitPlace(_pair_row(row[:-1]), row[-1], place) if row else None


def _pair_row(row: Sequence[object]) -> PairRow:
    fields = dict(zip(PairRow.__struct_fields__, row, strict=True))
    return PairRow(
        **{**fields, "evidence": msgspec.json.decode(str(fields["evidence"])), "partial": bool(fields["partial"])}
    )


# Page pairs in a transaction: judgement. A kill repeats no more than these, and readers and writers wait for no more.
_BATCH = 100
_NOT_BROKEN = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN")


class Refreshed(msgspec.Struct, frozen=True):
    """What a refresh changed."""

    pairs: int = 0  # that are new or changed
    alignments: int = 0  # that were read
    removed: int = 0  # page pairs that are gone or were replaced


def refresh_index(ledger_path: Path, path: Path) -> Refreshed | None:
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


# `JobFolder` knows it too, but importing it costs this short process more than its work does: 0.6 CPU s (2026-11).
LEDGER = "job.sqlite"
_NICE = 10  # judgement: crawling, mining and the web app come first


def refresh(folder: Path) -> Refreshed | None:
    """None if another process is refreshing the same index."""
    return refresh_index(folder / LEDGER, folder / INDEX)


def is_due(folder: Path) -> bool:
    """Whether something was mined since the last refresh began."""
    ledger = Ledger(folder / LEDGER, read_only=True, verified=False)
    try:
        return ledger_signature(ledger) != ReadingIndex(folder / INDEX).signature()
    except DamagedError:
        return True  # A refresh makes a damaged index again, and says so of a ledger.
    finally:
        ledger.close()


def main() -> int:
    """0 when the index is up to date or somebody else is at it, 1 for a folder that cannot be read, 2 for misuse."""
    _, *arguments = sys.argv
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m bitrawl.job.reading_index FOLDER\n")
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
