"""Which segments a reader wants to see, on two pages or in a whole job.

Those of a job are filtered by the rows of numbers that the index has for them (`selection.py`). Segments that people
wrote anew have none there: they are added when somebody asks.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from bitrawl.errors import FieldError
from bitrawl.mining import RevisionPlaces, SegmentKind, rewritten
from bitrawl.model import Language, Revision, Segment, SegmentPair, Verdict, segment_key
from bitrawl.review.reviewing import ListedSegment, Reading
from bitrawl.review.search_query import Search, SearchedSide, SearchQuery, read_query
from bitrawl.review.searching import query_languages, word_search
from bitrawl.review.segment_review import ReadSegment, subject_of
from bitrawl.review.selection import by_kind
from bitrawl.store.index_reader import MOST_ROWS, IndexedPair, IndexReader, LanguageOrder, opened_index
from bitrawl.store.reading_index import POSITION_BITS, ROW, signed, written_key
from bitrawl.store.revisions import RevisionHistory
from bitrawl.store.verdicts import Subject, SubjectKind, VerdictHistory
from bitrawl.text.search_words import search_words
from bitrawl.text.words import words
from bitrawl.url import Url

NO_FLAG = "none"
"""Instead of a flag: only segments without any."""
MOST_AT_ONCE = 100_000  # verdicts
_KEY = re.compile("[0-9a-f]{16}")
_READ_AT_ONCE = 1000  # segments that are read for a verdict on all


class SegmentState(StrEnum):
    """What people did with a segment."""

    NONE = "none"  # nobody has judged it
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    CONFLICT = "conflict"
    EDITED = "edited"
    COMMENTED = "commented"


class SegmentOrder(StrEnum):
    """How segments are sorted. Equal ones come page by page."""

    WORST = "worst"  # the lowest score first
    BEST = "best"
    PAGE = "page"


class LengthUnit(StrEnum):
    """Of texts. In a script without spaces between words, a pair of neighbouring characters is a word."""

    WORDS = "words"
    CHARACTERS = "characters"


class SegmentFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which segments to show. Lengths are those of both texts."""

    languages: LanguageOrder | None = None
    least: float = 0.0  # of the score
    most: float = 1.0
    flag: str = ""
    state: SegmentState | None = None
    unit: LengthUnit = LengthUnit.WORDS
    shortest: int = 0
    longest: int | None = None
    words_a: str = ""  # a phrase in the first text; pag* stands for all words that begin so
    words_b: str = ""

    def has_flag(self, flags: tuple[str, ...]) -> bool:
        """Whether a segment with these flags fits."""
        return not self.flag or (not flags if self.flag == NO_FLAG else self.flag in flags)

    @property
    def query(self) -> SearchQuery:
        """Its words as a search."""
        if self.words_a.strip():
            return SearchQuery(text=self.words_a, other=self.words_b, side=SearchedSide.A, languages=self.languages)
        return SearchQuery(text=self.words_b, side=SearchedSide.B, languages=self.languages)

    def search(self, languages: Sequence[Language]) -> Search | None:
        """None if it asks for no words. Raises `FieldError`, which names the field."""
        fields = {"q": "words_a" if self.words_a.strip() else "words_b", "other": "words_b"}
        try:
            return read_query(self.query, languages)
        except FieldError as error:
            raise FieldError({fields[name]: why for name, why in error.fields.items()}) from error


class SegmentRows(msgspec.Struct, frozen=True):
    """A part of a list of segments, and the length of all of it."""

    segments: tuple[ListedSegment, ...]
    total: int


def fitting_rows(
    rows: Sequence[ReadSegment], wanted: SegmentFilter, languages: tuple[Language, Language]
) -> tuple[ReadSegment, ...]:
    """Those of the rows of two pages in these languages that fit. Raises `FieldError`."""
    search = wanted.search(languages)
    return tuple(row for row in rows if _fits(row, wanted, search, languages))


def _fits(row: ReadSegment, wanted: SegmentFilter, search: Search | None, languages: tuple[Language, Language]) -> bool:
    texts = row.text_a, row.text_b
    lengths = _lengths(texts, languages, wanted.unit) if wanted.shortest or wanted.longest is not None else (0, 0)
    return (
        wanted.least <= row.score <= wanted.most
        and wanted.has_flag(row.flags)
        and (wanted.state is None or wanted.state in _states(row))
        and wanted.shortest <= min(lengths)
        and (wanted.longest is None or max(lengths) <= wanted.longest)
        and (search is None or _is_hit(search, texts, languages))
    )


def _lengths(texts: tuple[str, str], languages: tuple[Language, Language], unit: LengthUnit) -> tuple[int, int]:
    a, b = texts
    if unit is LengthUnit.CHARACTERS:
        return len(a), len(b)
    return len(words(a, languages[0])), len(words(b, languages[1]))


def _is_hit(search: Search, texts: tuple[str, str], languages: tuple[Language, Language]) -> bool:
    a, b = (search_words(text, language) for text, language in zip(texts, languages, strict=True))
    return search.matched_side(a, b) is not None


def _states(row: ReadSegment) -> set[SegmentState]:
    verdicts = {Verdict.ACCEPT: SegmentState.ACCEPTED, Verdict.REJECT: SegmentState.REJECTED}
    states = {
        SegmentState.NONE: not row.judgement.opinions,
        SegmentState.CONFLICT: row.judgement.is_conflict,
        SegmentState.EDITED: row.revision is not None,
        SegmentState.COMMENTED: bool(row.comments),
    }
    return {state for state, is_so in states.items() if is_so} | ({verdicts[row.verdict]} if row.verdict else set())


class SegmentList:
    """The segments of a job. As new as the last refresh of the index; verdicts, comments and edits as they are now."""

    def __init__(self, library: Reading) -> None:
        self._library = library
        self._verdicts = VerdictHistory(library.folder.verdicts)
        self._revisions = RevisionHistory(library.folder.verdicts)

    def part(self, wanted: SegmentFilter, order: SegmentOrder, offset: int = 0, limit: int = 50) -> SegmentRows:
        """Raises `FieldError` for words that cannot be searched for."""
        start, most = max(offset, 0), min(max(limit, 0), MOST_ROWS)
        with opened_index(self._library.index) as index:
            rows = self._fitting(index, wanted)
            positions = rows.positions(order, slice(start, start + most))
            pairs = index.aligned_pairs((row.alignment for row in positions), wanted.languages)
        return SegmentRows(tuple(self._read(positions, pairs)), len(rows.chosen))

    def count(self, wanted: SegmentFilter) -> int:
        """How many fit. Raises `FieldError`."""
        with opened_index(self._library.index) as index:
            return len(self._fitting(index, wanted).chosen)

    def subjects(self, wanted: SegmentFilter, keys: Iterable[str] | None = None) -> list[Subject]:
        """Of verdicts on all that fit, or on those of them that have one of these keys. Raises `FieldError`."""
        with opened_index(self._library.index) as index:
            rows = self._fitting(index, wanted)
            if keys is not None:
                rows = rows.narrowed(np.isin(rows.rows["key"], _numbers(filter(_KEY.fullmatch, keys))))
            positions = rows.positions(SegmentOrder.PAGE)
            pairs = index.aligned_pairs((row.alignment for row in positions), wanted.languages)
        parts = (positions[start : start + _READ_AT_ONCE] for start in range(0, len(positions), _READ_AT_ONCE))
        return [subject_of(listed.segment) for part in parts for listed in self._read(part, pairs)]

    def _fitting(self, index: IndexReader, wanted: SegmentFilter) -> "_Chosen":
        search = wanted.search(query_languages(index, wanted.query))
        mined = _MinedRows(index, wanted.languages)
        rows, has_words = mined.rows, np.ones(len(mined.rows), dtype=np.bool_)
        if search is not None:
            hits = index.segments_with(word_search(search, wanted.languages))
            has_words = np.isin(rows["number"], np.fromiter(hits, dtype=np.int64))
        if revisions := [given.revision for given in self._revisions.standing()]:
            new, replaced = mined.revised(index, revisions, search)
            has_words = np.append(has_words & ~np.isin(rows["number"], replaced), np.ones(len(new), dtype=np.bool_))
            rows = np.concatenate((rows, new))
        fits = has_words & _is_fitting(rows, wanted, mined.kinds) & self._is_in_state(rows, wanted.state)
        return _Chosen(rows, np.flatnonzero(fits))

    def _is_in_state(self, rows: "_Rows", state: SegmentState | None) -> "_Truth":
        kind = SubjectKind.SEGMENT
        match state:
            case None:
                return np.ones(len(rows), dtype=np.bool_)
            case SegmentState.EDITED:
                return np.asarray(rows["edited"])
            case SegmentState.COMMENTED:
                commented = np.isin(rows["mined"], _numbers(self._revisions.commented(kind)))
                return np.asarray(commented & (rows["part"] == 0))
            case SegmentState.NONE:
                return np.isin(rows["key"], _numbers(self._verdicts.judged(kind)), invert=True)
        verdict = {SegmentState.ACCEPTED: Verdict.ACCEPT, SegmentState.REJECTED: Verdict.REJECT}.get(state)
        return np.isin(rows["key"], _numbers(self._verdicts.keys(kind, verdict)))

    def _read(self, positions: "Sequence[_RowPosition]", pairs: Mapping[int, IndexedPair]) -> Iterator[ListedSegment]:
        """In the same order; those that were mined again since the refresh are left out."""
        starts: dict[int, set[int]] = {}
        for position in positions:
            if position.alignment in pairs:
                starts.setdefault(position.alignment, set()).add(position.start)
        read = self._library.rows_at([(pairs[number], own) for number, own in starts.items()])
        rows = {
            (number, row.start, row.part): row for number, (own, _) in zip(starts, read, strict=True) for row in own
        }
        listed = dict(zip(starts, self._library.listed([pairs[number].pair for number in starts]), strict=True))
        for position in positions:
            row = rows.get((position.alignment, position.start, position.part))
            if row is not None:
                yield ListedSegment(listed[position.alignment], row)


class _RowPosition(NamedTuple):
    """Where a row is: the number of the first segment that it stands for, and which part of a split it is."""

    number: int
    part: int

    @property
    def alignment(self) -> int:
        return self.number >> POSITION_BITS

    @property
    def start(self) -> int:
        return self.number & ((1 << POSITION_BITS) - 1)


_Rows = npt.NDArray[np.void]
_Truth = npt.NDArray[np.bool_]
_Numbers = npt.NDArray[np.int64]
# What rows are filtered by. `mined` is the key of the first segment that a row stands for.
_LISTED = np.dtype([
    ("number", "<i8"), ("part", "<i4"), ("key", "<i8"), ("mined", "<i8"), ("score", "<f8"), ("kind", "<i4"), ("edited", "?"),
    ("characters_a", "<i4"), ("characters_b", "<i4"), ("words_a", "<f4"), ("words_b", "<f4"),
])  # fmt: skip


class _Chosen(NamedTuple):
    """Some rows of many."""

    rows: _Rows
    chosen: _Numbers

    def narrowed(self, fits: _Truth) -> "_Chosen":
        return self._replace(chosen=self.chosen[fits[self.chosen]])

    def positions(self, order: SegmentOrder, part: slice = slice(None)) -> list[_RowPosition]:
        """In that order. Rows that people wrote stand after all others here, and among them there."""
        rows, chosen = self.rows, self.chosen
        if rows["edited"].any():
            chosen = chosen[np.lexsort((rows["part"][chosen], rows["number"][chosen]))]
        if order is not SegmentOrder.PAGE:
            scores = rows["score"][chosen]
            chosen = chosen[np.argsort(scores if order is SegmentOrder.WORST else -scores, kind="stable")]
        chosen = chosen[part]
        return list(map(_RowPosition, rows["number"][chosen].tolist(), rows["part"][chosen].tolist()))


class _MinedRows:
    """The rows of all segments in the index, as they were mined."""

    def __init__(self, index: IndexReader, languages: LanguageOrder | None) -> None:
        self._blobs = index.rows(languages)
        stored = np.frombuffer(b"".join(self._blobs.values()), dtype=ROW)
        self.rows = np.zeros(len(stored), dtype=_LISTED)
        for name in ("key", "score", "kind", "characters_a", "characters_b", "words_a", "words_b"):
            self.rows[name] = stored[name]
        self.rows["mined"] = stored["key"]
        counts = [len(blob) // ROW.itemsize for blob in self._blobs.values()]
        first = np.array([*self._blobs], dtype=np.int64) << POSITION_BITS
        starts = np.cumsum([0, *counts[:-1]]) if counts else np.empty(0, dtype=np.int64)
        self.rows["number"] = np.arange(len(stored)) + np.repeat(first - starts, counts)
        self.kinds = index.kinds()

    def revised(
        self, index: IndexReader, revisions: Sequence[Revision], search: Search | None
    ) -> tuple[_Rows, _Numbers]:
        """Rows of the texts that stand in the place of mined segments, with the words of a search; and which segments these
        are.
        """
        among = np.isin(self.rows["key"], _numbers(key for revision in revisions for key in revision.keys))
        revised, replaced, new = RevisionPlaces(revisions), list[int](), list[tuple[Any, ...]]()
        for alignment in np.unique(self.rows["number"][among] >> POSITION_BITS).tolist():
            pair = index.aligned_pair(alignment, None)
            own = np.frombuffer(self._blobs[alignment], dtype=ROW)
            keys = [written_key(key) for key in own["key"].tolist()]
            for start, stop, revision in revised.of(keys):
                if pair is not None and revision is not None:
                    number = (alignment << POSITION_BITS) + start
                    replaced += range(number, number + stop - start)
                    languages = pair.pair.lang_a, pair.pair.lang_b
                    new += self._rewritten(revision, number, own[start:stop], languages, search)
        return np.array(new, dtype=_LISTED), np.array(replaced, dtype=np.int64)

    def _rewritten(
        self,
        revision: Revision,
        number: int,
        mined: _Rows,
        languages: tuple[Language, Language],
        search: Search | None,
    ) -> Iterator[tuple[Any, ...]]:
        nowhere = Url.known("")
        originals = [
            SegmentPair(
                nowhere, nowhere, Segment(""), Segment(""), score, self.kinds[kind].type, flags=self.kinds[kind].flags
            )
            for score, kind in zip(mined["score"].tolist(), mined["kind"].tolist(), strict=True)
        ]
        for part, pair in enumerate(rewritten(originals, revision)):
            texts = pair.a.text, pair.b.text
            if search is not None and not _is_hit(search, texts, languages):
                continue
            lengths = (_lengths(texts, languages, unit) for unit in (LengthUnit.CHARACTERS, LengthUnit.WORDS))
            numbers = {kind: number for number, kind in self.kinds.items()}
            kind = numbers.setdefault(SegmentKind.of(pair), max(self.kinds, default=0) + 1)
            self.kinds[kind] = SegmentKind.of(pair)
            key = signed(segment_key(*texts))
            first = int(mined["key"][0])
            yield (number, part, key, first, pair.score, kind, True, *(length for both in lengths for length in both))


def _is_fitting(rows: _Rows, wanted: SegmentFilter, kinds: Mapping[int, SegmentKind]) -> _Truth:
    fits = (rows["score"] >= wanted.least) & (rows["score"] <= wanted.most)
    if wanted.flag:
        fits &= by_kind(rows["kind"], kinds, lambda kind: wanted.has_flag(kind.flags))
    lengths = rows[f"{wanted.unit}_a"], rows[f"{wanted.unit}_b"]
    if wanted.shortest:
        fits &= np.minimum(*lengths) >= wanted.shortest
    if wanted.longest is not None:
        fits &= np.maximum(*lengths) <= wanted.longest
    return np.asarray(fits)


def _numbers(keys: Iterable[str]) -> _Numbers:
    """What `signed` makes of each."""
    return np.frombuffer(bytes.fromhex("".join(keys)), dtype=">i8").astype(np.int64)
