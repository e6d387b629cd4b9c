"""What is asked of the reading index: page pairs in a list, where words stand, and the numbers of segments."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from bitrawl.mining import SegmentKind
from bitrawl.model import Language
from bitrawl.store.database import reading, storable
from bitrawl.store.reading_index import LAYOUT, POSITION_BITS, SEGMENT_BITS, keys_in, language_word
from bitrawl.store.stored_findings import AlignmentKey
from bitrawl.text.search_words import folded

MOST_ROWS = 1000  # of one part of a list
_SITES = 100  # sites to choose from
_POINTS = 200  # of a harvest curve: a screen shows no more


class PairOrder(StrEnum):
    """How page pairs are sorted."""

    SCORE = "score"
    SEGMENTS = "segments"
    COMPLETED = "completed"  # when the second page was fetched
    MEAN_SCORE = "mean_score"  # of the segments
    TITLE = "iif(title_a = '', url_a, title_a) COLLATE NOCASE"  # what a list shows


class LanguageOrder(NamedTuple):
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


class VerdictState(StrEnum):
    """What a person has said about a page pair, if anything."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    NONE = "none"


class PairFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which page pairs to list, and how."""

    languages: LanguageOrder | None = None
    site: str = ""
    text: str = ""  # in a URL or a title
    method: str = ""  # the letter of one
    least: float = 0.0  # of the score
    most: float = 1.0
    verdict: VerdictState | None = None
    order: PairOrder = PairOrder.SCORE
    ascending: bool = False
    offset: int = 0
    limit: int = 50


class PairCount(NamedTuple):
    """The page pairs of a site, or of two languages ("en-fr")."""

    name: str
    pairs: int


class PairHarvestPoint(msgspec.Struct, frozen=True):
    """How many page pairs were complete after so many fetches."""

    fetches: int
    pairs: int


class IndexedPair(NamedTuple):
    """A page pair, and where its segments are."""

    pair: PairRow
    alignment: AlignmentKey
    number: int  # of its alignment in the index


class HitPosition(NamedTuple):
    """Where a segment is: a page pair, and its number in the alignment."""

    indexed: IndexedPair
    position: int


class CorpusRows(NamedTuple):
    """The page pairs of two languages in the order of an export: their numbers, their keys, and the rows of their segments."""

    numbers: tuple[int, ...] = ()
    keys: tuple[str, ...] = ()
    rows: tuple[bytes, ...] = ()


class PairTotals(NamedTuple):
    pairs: int = 0  # without those that are translated in part
    segments: int = 0  # as often as they occur


class WordSearch(NamedTuple):
    """Which texts are hits: an expression of FTS5, and what it cannot say."""

    expression: str
    languages: LanguageOrder | None = None
    is_hit: Callable[[Sequence[str], Sequence[str]], bool] | None = None  # None if the expression says all of it
    context: Callable[[Sequence[str], Sequence[str]], str] | None = (
        None  # what to sort by; None for the best score first
    )


@contextmanager
def opened_index(path: Path) -> "Iterator[IndexReader]":
    """One moment of the index; an empty one if there is none yet."""
    with reading(path, LAYOUT) as connection:
        yield IndexReader(connection)


class IndexReader:
    """Answers questions about a job, as new as the last refresh. Entered by `opened_index`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._ask = connection.execute
        self._define = connection.create_function

    def pairs(self, wanted: PairFilter, judged: Sequence[str] = ()) -> list[PairRow]:
        """A part of the list. `judged`: the keys that a filter by verdicts takes, or for `NONE` leaves out."""
        where, values = _conditions(wanted, judged)
        order = f"ORDER BY {wanted.order} {'ASC' if wanted.ascending else 'DESC'}, id"
        rows = self._ask(  # Sort the numbers only, then read the rows.
            f"SELECT {_PAIR} FROM (SELECT id AS chosen FROM pairs WHERE {where} {order} LIMIT ? OFFSET ?)"
            f" JOIN pairs ON id = chosen {order}",
            (*values, *_bounded(wanted.limit, wanted.offset)),
        )
        return [_pair_row(row) for row in rows]

    def pair_count(self, wanted: PairFilter, judged: Sequence[str] = ()) -> tuple[int, int]:
        """The length of all of that list, and how many of it are translated in part."""
        where, values = _conditions(wanted, judged)
        total, partial = self._ask(
            f"SELECT count(*), coalesce(sum(partial), 0) FROM pairs WHERE {where}", values
        ).fetchone()
        return total, partial

    def pair(self, key: str) -> IndexedPair | None:
        """The page pair with that key."""
        return self._pair("pairs.key = ? LIMIT 1", [key])

    def numbered_pairs(self, numbers: Iterable[int]) -> dict[int, IndexedPair]:
        """Those that are still there, by their numbers."""
        found = ((number, self._pair("pairs.id = ?", [number])) for number in numbers)
        return {number: pair for number, pair in found if pair is not None}

    def aligned_pair(self, alignment: int, languages: LanguageOrder | None) -> IndexedPair | None:
        """A page pair that has these segments. Of several with the same texts, the first."""
        only = " AND pairs.lang_a = ? AND pairs.lang_b = ?" if languages else ""
        return self._pair(f"pairs.alignment = ?{only} ORDER BY pairs.id LIMIT 1", [alignment, *(languages or ())])

    def aligned_pairs(self, alignments: Iterable[int], languages: LanguageOrder | None) -> dict[int, IndexedPair]:
        """Such page pairs by the numbers of their alignments, where there are any."""
        found = ((number, self.aligned_pair(number, languages)) for number in set(alignments))
        return {number: pair for number, pair in found if pair is not None}

    def languages(self) -> list[Language]:
        return sorted({code for pair in self.language_pairs() for code in pair})

    def language_pairs(self) -> list[LanguageOrder]:
        pairs, last = list[LanguageOrder](), ("", "")  # A step for each two languages: grouping reads all page pairs.
        following = "SELECT lang_a, lang_b FROM pairs WHERE (lang_a, lang_b) > (?, ?) ORDER BY lang_a, lang_b LIMIT 1"
        while last := self._ask(following, last).fetchone():
            pairs.append(LanguageOrder(*map(Language, last)))
        return pairs

    def terms(self, beginning: str) -> list[str]:
        """The words of texts that begin so."""
        self._ask("CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms USING fts5vocab (main, words, row)")
        terms = "SELECT term FROM temp.terms WHERE term BETWEEN ? AND ?"
        return _column(self._ask(terms, (beginning, f"{beginning}\U0010ffff")))

    def by_languages(self) -> tuple[PairCount, ...]:
        """The most frequent first."""
        return self._counts("lang_a || '-' || lang_b", -1)

    def by_site(self) -> tuple[PairCount, ...]:
        """The most frequent first."""
        return self._counts("site", _SITES)

    def harvest(self, languages: LanguageOrder | None) -> list[PairHarvestPoint]:
        where, values = _conditions(PairFilter(languages=languages), ())
        rows = self._ask(
            f"SELECT max(completed), count(*) FROM pairs WHERE {where} AND NOT partial"
            " GROUP BY completed / (1 + (SELECT max(completed) FROM pairs) / ?) ORDER BY 1",
            (*values, _POINTS),
        )
        points, total = list[PairHarvestPoint](), 0
        for completed, count in rows:
            total += count
            points.append(PairHarvestPoint(completed, total))
        return points

    def queued(self, languages: LanguageOrder | None, order: Sequence[str]) -> list[str]:
        """The keys of all page pairs but those that are translated in part, sorted by these columns, then by the key.

        Two sites may have the same page pair: its first row stands for both.
        """
        only = " AND lang_a = ? AND lang_b = ?" if languages else ""
        rows = self._ask(
            "SELECT key FROM (SELECT key, site, url_a, url_b, score, min(id) FROM pairs"
            f" WHERE NOT partial{only} GROUP BY key) ORDER BY {', '.join((*order, 'key'))}",
            _storable(languages or ()),
        )
        return [key for (key,) in rows]

    def totals(self) -> PairTotals:
        totals = "SELECT count(DISTINCT key) FILTER (WHERE NOT partial), coalesce(sum(segments), 0) FROM pairs"
        return PairTotals(*self._ask(totals).fetchone())

    def keys(self, alignments: Iterable[int]) -> dict[int, list[str]]:
        """The keys of all segments of these alignments."""
        listed = msgspec.json.encode(list(alignments)).decode()
        statement = "SELECT id, rows FROM alignments WHERE id IN (SELECT value FROM json_each(?))"
        return {number: keys_in(blob) for number, blob in self._ask(statement, (listed,))}

    def kinds(self) -> dict[int, SegmentKind]:
        rows = self._ask("SELECT id, kind FROM kinds")
        return {number: msgspec.json.decode(kind, type=SegmentKind) for number, kind in rows}

    def rows(self, languages: LanguageOrder | None) -> dict[int, bytes]:
        """The rows of the segments of each alignment, by its number (see `corpus/selection.py`)."""
        only = " WHERE lang_a = ? AND lang_b = ?" if languages else ""
        statement = f"SELECT id, rows FROM alignments WHERE id IN (SELECT alignment FROM pairs{only}) ORDER BY id"
        return dict(self._ask(statement, _storable(languages or ())).fetchall())

    def corpus_rows(self, languages: tuple[Language, Language]) -> CorpusRows:
        """The first of the best represents a unit. One index of SQLite has all columns of `pairs` that are asked for."""
        rows = self._ask(
            "SELECT pairs.id, pairs.key, rows FROM pairs JOIN alignments ON alignments.id = pairs.alignment"
            " WHERE lang_a = ? AND lang_b = ? ORDER BY site, url_a, url_b",
            languages,
        ).fetchall()
        return CorpusRows(*zip(*rows, strict=True)) if rows else CorpusRows()

    def hit_count(self, search: WordSearch) -> int:
        where, values = self._hits(search)
        return int(self._ask(f"SELECT count(*) FROM words WHERE {where}", values).fetchone()[0])

    def hits(self, search: WordSearch, limit: int, offset: int = 0, *, after: int = -1) -> list[int]:
        """The numbers of rows of words in the order of the search; of those `after` that number."""
        where, values = self._hits(search)
        order = "rowid"
        if context := search.context:
            self._define("context", 2, lambda a, b: context(a.split(), b.split()))
            order = "context(a, b), rowid"
        statement = f"SELECT rowid FROM words WHERE {where} AND rowid > ? ORDER BY {order} LIMIT ? OFFSET ?"
        return _column(self._ask(statement, (*values, after, *_bounded(limit, offset))))

    def segments_with(self, search: WordSearch) -> Iterator[int]:
        """The numbers of the segments that are hits."""
        where, values = self._hits(search)
        return (number for (number,) in self._ask(f"SELECT rowid & {SEGMENT_BITS} FROM words WHERE {where}", values))

    def hit_positions(self, rows: Iterable[int], languages: LanguageOrder | None) -> list[HitPosition]:
        """Which segments these rows of words belong to."""
        places = [divmod(row & SEGMENT_BITS, 1 << POSITION_BITS) for row in rows]
        pairs = self.aligned_pairs((alignment for alignment, _ in places), languages)
        return [HitPosition(pairs[alignment], position) for alignment, position in places if alignment in pairs]

    def _hits(self, search: WordSearch) -> tuple[str, tuple[str]]:
        expression = search.expression
        if search.languages is not None:
            expression = f'{{languages}} : "{language_word(*search.languages)}" AND ({expression})'
        if is_hit := search.is_hit:
            self._define("is_hit", 2, lambda a, b: is_hit(a.split(), b.split()))
        return "words MATCH ?" + (" AND is_hit(a, b)" if is_hit else ""), (expression,)

    def _pair(self, where: str, values: Sequence[str | int]) -> IndexedPair | None:
        row = self._ask(f"{_WITH_ALIGNMENT} WHERE {where}", _storable(values)).fetchone()
        if row is None:
            return None
        *pair, alignment, number = row
        return IndexedPair(_pair_row(pair), alignment or b"", number or 0)

    def _counts(self, column: str, most: int) -> tuple[PairCount, ...]:
        statement = f"SELECT {column}, count(*) FROM pairs GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?"
        return tuple(PairCount(*row) for row in self._ask(statement, (most,)))


_PAIR = "key, lang_a, lang_b, site, url_a, url_b, title_a, title_b, score, evidence, completed, segments, mean_score, flagged, partial"
_WITH_ALIGNMENT = (
    f"SELECT pairs.{_PAIR.replace(', ', ', pairs.')}, alignments.key, alignments.id"
    " FROM pairs LEFT JOIN alignments ON alignments.id = pairs.alignment"
)


def _conditions(wanted: PairFilter, judged: Sequence[str]) -> tuple[str, list[str | float]]:
    among, listed = "NOT IN" if wanted.verdict is VerdictState.NONE else "IN", msgspec.json.encode(judged).decode()
    conditions: list[tuple[bool, str, Sequence[str | float]]] = [
        (wanted.languages is not None, "lang_a = ? AND lang_b = ?", wanted.languages or ()),
        (bool(wanted.site), "site = ?", [wanted.site]),
        (bool(wanted.text.strip()), "instr(searched, ?)", [folded(wanted.text.strip())]),
        (bool(wanted.method), "instr(methods, ?)", [wanted.method]),
        (wanted.least > 0, "score >= ?", [wanted.least]),
        (wanted.most < 1, "score <= ?", [wanted.most]),
        (wanted.verdict is not None, f"key {among} (SELECT value FROM json_each(?))", [listed]),
    ]
    given = [(condition, values) for is_given, condition, values in conditions if is_given]
    where = " AND ".join(condition for condition, _ in given) or "1"
    return where, _storable([value for _, values in given for value in values])


def _storable(values: Iterable[str | float]) -> list[str | float]:
    return [storable(value) if isinstance(value, str) else value for value in values]


def _bounded(limit: int, offset: int) -> tuple[int, int]:
    """SQLite takes no larger numbers, and would take a negative limit for none."""
    return min(max(limit, 0), MOST_ROWS), min(max(offset, 0), 1 << 40)


def _column(rows: Iterable[tuple[Any]]) -> list[Any]:
    return [value for (value,) in rows]


def _pair_row(row: Sequence[object]) -> PairRow:
    fields = dict(zip(PairRow.__struct_fields__, row, strict=True))
    return PairRow(
        **{**fields, "evidence": msgspec.json.decode(str(fields["evidence"])), "partial": bool(fields["partial"])}
    )
