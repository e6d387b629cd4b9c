"""Where words stand in the texts of a job: page by page with their neighbours, sorted by context, or all of them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from bitrawl.model import Language, SegmentPair, Verdict
from bitrawl.review.reviewing import ListedPair, Reading
from bitrawl.review.search_query import HitOrder, Search, SearchedSide, SearchQuery, read_query, translated
from bitrawl.review.segment_review import ReadSegment, as_corpus_has
from bitrawl.store.index_reader import HitPosition, IndexReader, LanguageOrder, WordSearch, opened_index
from bitrawl.text.search_words import PlacedWord, placed_words, search_words

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
    translated: int = 0  # of these, the last: found by a translation of the words


class FoundSegment(NamedTuple):
    """A hit for a file."""

    pair: ListedPair
    segment: SegmentPair
    verdict: Verdict | None  # about the segment, or else about its page pair


def search(library: Reading, query: SearchQuery, *, offset: int = 0, limit: int = 20) -> HitList:
    """A part of the hits, in the order asked for, then by translation. Raises `FieldError` for a query that cannot be read."""
    found, counts = list[tuple[Search, HitPosition]](), list[int]()
    with opened_index(library.index) as index:
        for pattern, wanted in _searches(index, query):
            rows = index.hits(wanted, limit - len(found), offset - sum(counts))
            found += [(pattern, hit) for hit in index.hit_positions(rows, query.languages)]
            counts.append(index.hit_count(wanted))
    pairs = library.listed([hit.indexed.pair for _, hit in found])
    around = library.rows_at(
        [(hit.indexed, range(hit.position - 1, hit.position + 2)) for _, hit in found], accepted=True
    )
    hits = [
        _hit(pattern, pair, hit.position, near.rows)
        for (pattern, hit), pair, near in zip(found, pairs, around, strict=True)
        if near.rows  # otherwise it was mined again since the refresh
    ]
    return HitList(tuple(hits), sum(counts), sum(counts[1:]))


def all_hits(library: Reading, query: SearchQuery) -> Iterator[FoundSegment]:
    """All hits, the best first. Nothing is kept open between two batches, so that a slow reader holds nobody up."""
    last, number, edited = -1, 0, set[tuple[str, str]]()
    while True:
        with opened_index(library.index) as index:
            searches = [wanted for _, wanted in _searches(index, query)]
            if number == len(searches):
                return
            numbers = index.hits(searches[number]._replace(context=None), _BATCH, after=last)
            hits = index.hit_positions(numbers, query.languages)
        last, number = (numbers[-1], number) if numbers else (-1, number + 1)
        yield from _found(library, hits, edited)


def _searches(index: IndexReader, query: SearchQuery) -> list[tuple[Search, WordSearch]]:
    """For the words as they were typed, and for their translations where these are not."""
    pattern = read_query(query, query_languages(index, query))
    if pattern is None:
        return []
    searches = [(pattern, word_search(pattern, query.languages, query.order))]
    if query.translated and pattern.is_exact and pattern.other is None and pattern.without is None:
        pairs = [query.languages] if query.languages else index.language_pairs()
        if other := translated(query, pairs, index.terms):
            expression = f"({other.expression()}) NOT ({pattern.expression()})"
            searches.append((other, WordSearch(expression, query.languages)))
    return searches


def _found(library: Reading, hits: Sequence[HitPosition], edited: set[tuple[str, str]]) -> Iterator[FoundSegment]:
    """`edited` has the rows that people wrote and that were given already: several hits may be one segment now."""
    pairs = library.listed([hit.indexed.pair for hit in hits])
    read = library.rows_at([(hit.indexed, (hit.position,)) for hit in hits], accepted=True)
    for pair, (rows, segments) in zip(pairs, read, strict=True):
        for row in rows:
            where = pair.row.key, row.anchor
            if row.revision is None:
                yield FoundSegment(pair, as_corpus_has(row, segments), row.verdict or pair.verdict)
            elif row.verdict is Verdict.ACCEPT and where not in edited:
                edited.add(where)
                yield FoundSegment(pair, as_corpus_has(row, segments), row.verdict)


def query_languages(index: IndexReader, query: SearchQuery) -> list[Language]:
    """Those of the corpus in which the words of a query may have other forms: ASCII has the same in all of them."""
    return [] if (query.text + query.other + query.without).isascii() else index.languages()


def word_search(search: Search, languages: LanguageOrder | None, order: HitOrder = HitOrder.SCORE) -> WordSearch:
    """A query as the index is asked."""
    is_hit = None if search.is_exact else lambda a, b: search.matched_side(a, b) is not None
    context = None if order is HitOrder.SCORE else lambda a, b: _context(search, a, b, order)
    return WordSearch(search.expression(), languages, is_hit, context)


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


def _hit(search: Search, pair: ListedPair, position: int, near: Sequence[ReadSegment]) -> Hit:
    """`near` are the rows that stand for the segment at that position and for its neighbours."""
    row, languages = pair.row, (pair.row.lang_a, pair.row.lang_b)
    here = [segment for segment in near if segment.start <= position < segment.start + len(segment.keys)]
    # Of a segment that was split, the part that has the words; if the words were edited away, any that is in the corpus.
    segment = max(here, key=lambda one: (_side(search, one, languages) is not None, one.verdict is Verdict.ACCEPT))
    a, b = placed_words(segment.text_a, row.lang_a), placed_words(segment.text_b, row.lang_b)
    side = _side(search, segment, languages) or SearchedSide.A
    around = {one.place: one for one in near}
    return Hit(
        pair,
        segment,
        side,
        _marks(search, a, SearchedSide.A, side),
        _marks(search, b, SearchedSide.B, side),
        around.get(segment.place - 1),
        around.get(segment.place + 1),
    )


def _side(search: Search, row: ReadSegment, languages: tuple[Language, Language]) -> SearchedSide | None:
    """The side that has the words; None if neither has."""
    return search.matched_side(search_words(row.text_a, languages[0]), search_words(row.text_b, languages[1]))


def _marks(search: Search, placed: Sequence[PlacedWord], own: SearchedSide, matched: SearchedSide) -> tuple[Mark, ...]:
    """The words that were searched for, and on the other side those that it must have."""
    words = [word.word for word in placed]
    spans = search.text.spans(words) if search.side in (own, SearchedSide.BOTH) else []
    if search.other is not None and own is not matched:
        spans = [*spans, *search.other.spans(words)]
    return tuple(Mark(placed[span.start].start, placed[span.end - 1].end) for span in sorted(spans))
