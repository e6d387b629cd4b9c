"""Where words stand in the texts of a job: page by page with their neighbours, sorted by context, or all of them."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from bitrawl.job.database import reading
from bitrawl.job.reading_index import LAYOUT, PLACE_BITS, language_word, segment_number
from bitrawl.job.reviewing import (
    WITH_ALIGNMENT,
    IndexedPair,
    ListedPair,
    Reading,
    bounded_part,
    indexed_pair,
    read_segments,
    storable_values,
)
from bitrawl.job.search_query import HitOrder, Search, SearchedSide, SearchQuery, read_query
from bitrawl.job.segment_review import ReadSegment
from bitrawl.job.verdicts import Judgement
from bitrawl.model import Language, SegmentPair, Verdict, segment_key
from bitrawl.text.search_words import PlacedWord, placed_words

_BATCH = 200  # hits that are read at once for a file
_CONTEXT = 6  # words that hits are sorted by


class Mark(msgspec.Struct, frozen=True):
    """Where something begins and ends in a text, in characters."""

    start: int
    end: int


class Hit(msgspec.Struct, frozen=True):
    """A segment that was searched for, with its neighbours."""

    pair: ListedPair
    segment: ReadSegment
    side: SearchedSide  # that has the words, the first if both have them
    marks_a: tuple[Mark, ...] = ()
    marks_b: tuple[Mark, ...] = ()
    previous: ReadSegment | None = None
    following: ReadSegment | None = None


class HitList(msgspec.Struct, frozen=True):
    """A part of the hits, and the number of all."""

    hits: tuple[Hit, ...]
    total: int


class FoundSegment(NamedTuple):
    """A hit for a file."""

    pair: ListedPair
    segment: SegmentPair
    verdict: Verdict | None  # about the segment, or else about its page pair


class _HitPlace(NamedTuple):
    """Where a segment is: a page pair, and its number in the alignment."""

    indexed: IndexedPair
    place: int


def search(library: Reading, query: SearchQuery, *, offset: int = 0, limit: int = 20) -> HitList:
    """A part of the hits, in the order asked for. Raises `FieldError` for a query that cannot be read."""
    with reading(library.index, LAYOUT) as index:
        pattern = read_query(query, _languages(index, query))
        if index is None or pattern is None:
            return HitList((), 0)
        rows = _Rows(index, pattern, query)
        places = rows.places(*bounded_part(limit, offset))
        total = rows.count()
    if not places:
        return HitList((), total)
    pairs = library.listed([hit.indexed.pair for hit in places])
    texts = library.segments([hit.indexed.alignment for hit in places])
    around = [
        range(max(hit.place - 1, 0), min(hit.place + 2, len(segments)))
        for hit, segments in zip(places, texts, strict=True)
    ]
    judgements = library.segment_judgements([text[n] for text, near in zip(texts, around, strict=True) for n in near])
    thresholds = library.thresholds()
    hits = [
        _hit(pattern, pair, hit.place, read_segments(text, near, judgements, thresholds))
        for hit, pair, text, near in zip(places, pairs, texts, around, strict=True)
        if hit.place in near  # otherwise it was mined again since the refresh
    ]
    return HitList(tuple(hits), total)


def all_hits(library: Reading, query: SearchQuery) -> Iterator[FoundSegment]:
    """All hits, the best first. Nothing is kept open between two batches, so that a slow reader holds nobody up."""
    last = -1
    while True:
        with reading(library.index, LAYOUT) as index:
            pattern = read_query(query, _languages(index, query))
            if index is None or pattern is None:
                return
            rows = _Rows(index, pattern, query)
            numbers = rows.after(last, _BATCH)
            places = [rows.place(number) for number in numbers]
        if not numbers:
            return
        last = numbers[-1]
        yield from _found(library, [place for place in places if place is not None])


def _found(library: Reading, places: Sequence[_HitPlace]) -> Iterator[FoundSegment]:
    pairs = library.listed([hit.indexed.pair for hit in places])
    texts = library.segments([hit.indexed.alignment for hit in places])
    hits = [
        (pair, segments[hit.place])
        for pair, segments, hit in zip(pairs, texts, places, strict=True)
        if hit.place < len(segments)
    ]
    judgements = library.segment_judgements([segment for _, segment in hits])
    for pair, segment in hits:
        judgement = judgements.get(segment_key(segment.a.text, segment.b.text), Judgement())
        yield FoundSegment(pair, segment, judgement.standing or pair.verdict)


def _languages(index: sqlite3.Connection | None, query: SearchQuery) -> list[Language]:
    """Those of the corpus in which the words of a query may have other forms: ASCII has the same in all of them."""
    if index is None or (query.text + query.other + query.without).isascii():
        return []
    codes, last = set[str](), ("", "")  # A step for each two languages: grouping reads all page pairs.
    following = "SELECT lang_a, lang_b FROM pairs WHERE (lang_a, lang_b) > (?, ?) ORDER BY lang_a, lang_b LIMIT 1"
    while last := index.execute(following, last).fetchone():
        codes.update(last)
    return sorted(map(Language, codes))


class _Rows:
    """The rows of `words` that a search finds: in the order of their numbers, the best first."""

    def __init__(self, index: sqlite3.Connection, search: Search, query: SearchQuery) -> None:
        self._index = index
        self._languages = query.languages
        self._order = query.order
        expression = search.expression()
        if query.languages is not None:
            expression = f'{{languages}} : "{language_word(*query.languages)}" AND ({expression})'
        self._values = (expression,)
        self._where = "words MATCH ?" + ("" if search.is_exact else " AND is_hit(a, b)")
        index.create_function("is_hit", 2, lambda a, b: search.matched_side(a.split(), b.split()) is not None)
        index.create_function("context", 2, lambda a, b: _context(search, a.split(), b.split(), query.order))

    def count(self) -> int:
        return int(self._index.execute(f"SELECT count(*) FROM words WHERE {self._where}", self._values).fetchone()[0])

    def places(self, limit: int, offset: int) -> list[_HitPlace]:
        order = "rowid" if self._order is HitOrder.SCORE else "context(a, b), rowid"
        rows = self._index.execute(
            f"SELECT rowid FROM words WHERE {self._where} ORDER BY {order} LIMIT ? OFFSET ?",
            (*self._values, limit, offset),
        ).fetchall()
        places = [self.place(number) for (number,) in rows]
        return [place for place in places if place is not None]

    def after(self, last: int, limit: int) -> list[int]:
        rows = self._index.execute(
            f"SELECT rowid FROM words WHERE {self._where} AND rowid > ? ORDER BY rowid LIMIT ?",
            (*self._values, last, limit),
        )
        return [number for (number,) in rows]

    def place(self, row: int) -> _HitPlace | None:
        alignment, place = divmod(segment_number(row), 1 << PLACE_BITS)
        statement = f"{WITH_ALIGNMENT} WHERE pairs.alignment = ?"
        if self._languages is not None:
            statement += " AND pairs.lang_a = ? AND pairs.lang_b = ?"
        values = storable_values([alignment, *(self._languages or ())])
        pair = self._index.execute(f"{statement} LIMIT 1", values).fetchone()
        return _HitPlace(indexed_pair(pair), place) if pair else None


def _context(search: Search, a: Sequence[str], b: Sequence[str], order: HitOrder) -> str:
    """The words beside the hit, the nearest first."""
    side = search.matched_side(a, b)
    words = b if side is SearchedSide.B else a
    spans = search.text.spans(words)
    if not spans:
        return ""
    start, end = spans[0]
    near = words[end : end + _CONTEXT] if order is HitOrder.RIGHT else words[max(start - _CONTEXT, 0) : start][::-1]
    return " ".join(near)


def _hit(search: Search, pair: ListedPair, place: int, near: Sequence[ReadSegment]) -> Hit:
    around = {segment.place: segment for segment in near}
    segment, row = around[place], pair.row
    a, b = placed_words(segment.text_a, row.lang_a), placed_words(segment.text_b, row.lang_b)
    side = search.matched_side([word.word for word in a], [word.word for word in b]) or SearchedSide.A
    return Hit(
        pair,
        segment,
        side,
        _marks(search, a, SearchedSide.A, side),
        _marks(search, b, SearchedSide.B, side),
        around.get(place - 1),
        around.get(place + 1),
    )


def _marks(search: Search, placed: Sequence[PlacedWord], own: SearchedSide, matched: SearchedSide) -> tuple[Mark, ...]:
    """The words that were searched for, and on the other side those that it must have."""
    words = [word.word for word in placed]
    spans = search.text.spans(words) if search.side in (own, SearchedSide.BOTH) else []
    if search.other is not None and own is not matched:
        spans = [*spans, *search.other.spans(words)]
    return tuple(Mark(placed[span.start].start, placed[span.end - 1].end) for span in sorted(spans))
