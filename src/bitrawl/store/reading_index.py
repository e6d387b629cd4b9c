"""What a reader of a job lists, sorts and searches. It is derived from the ledger and can be deleted at any time."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec

from bitrawl.errors import StoreError
from bitrawl.model import Language
from bitrawl.store.findings import AlignmentKey
from bitrawl.store.side_database import Layout, reading, storable
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
