"""Which segments a reader wants to see, on two pages or in a whole job, and one verdict on all of them.

What is filtered by is in the index (`reading_index.py`). Segments that people wrote anew are not: they replace what they
were made from in a table that lives as long as a question.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import NamedTuple

import msgspec

from bitrawl.errors import FieldError
from bitrawl.job.database import attach, reading
from bitrawl.job.reading_index import LAYOUT, PLACE_BITS, SEGMENT_BITS, joined_flags, segments_of_alignment
from bitrawl.job.reviewing import (
    WITH_ALIGNMENT,
    IndexedPair,
    LanguageOrder,
    ListedPair,
    Reading,
    bounded_part,
    indexed_pair,
    storable_values,
)
from bitrawl.job.revisions import RevisionHistory
from bitrawl.job.search_query import Search, SearchedSide, SearchQuery, read_query
from bitrawl.job.searching import hits_condition, query_languages
from bitrawl.job.segment_review import ReadSegment, subject_of
from bitrawl.job.verdicts import CONFLICT, Subject, SubjectKind
from bitrawl.job.verdicts import LAYOUT as VERDICTS_LAYOUT
from bitrawl.mine.revising import RevisionPlaces, rewritten
from bitrawl.model import Language, Revision, Segment, SegmentPair, Verdict, segment_key
from bitrawl.text.search_words import search_words
from bitrawl.url import Url

NO_FLAG = "none"
"""Instead of a flag: only segments without any."""
MOST_AT_ONCE = 100_000  # verdicts
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
    """Of texts. In a script without spaces between words, each character counts as a word."""

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


class ListedSegment(msgspec.Struct, frozen=True):
    """A segment in a list, and the page pair that it is in."""

    pair: ListedPair
    segment: ReadSegment


class SegmentPart(msgspec.Struct, frozen=True):
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
    a, b = search_words(row.text_a, languages[0]), search_words(row.text_b, languages[1])
    by_characters = wanted.unit is LengthUnit.CHARACTERS
    lengths = (len(row.text_a), len(row.text_b)) if by_characters else (len(a), len(b))
    return (
        wanted.least <= row.score <= wanted.most
        and (not wanted.flag or (not row.flags if wanted.flag == NO_FLAG else wanted.flag in row.flags))
        and (wanted.state is None or wanted.state in _states(row))
        and wanted.shortest <= min(lengths)
        and (wanted.longest is None or max(lengths) <= wanted.longest)
        and (search is None or search.matched_side(a, b) is not None)
    )


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
        self._revisions = RevisionHistory(library.folder.verdicts)

    def part(self, wanted: SegmentFilter, order: SegmentOrder, offset: int = 0, limit: int = 50) -> SegmentPart:
        """Raises `FieldError` for words that cannot be searched for."""
        with self._asked(wanted) as question:
            if question is None:
                return SegmentPart((), 0)
            total, places = question.count(), question.places(order, *bounded_part(limit, offset))
            pairs = question.pairs(places)
        return SegmentPart(tuple(self._read(places, pairs)), total)

    def count(self, wanted: SegmentFilter) -> int:
        """How many fit. Raises `FieldError`."""
        with self._asked(wanted) as question:
            return question.count() if question else 0

    def subjects(self, wanted: SegmentFilter, keys: Sequence[str] | None = None) -> list[Subject]:
        """Of verdicts on all that fit, or on those of them that have one of these keys. Raises `FieldError`."""
        with self._asked(wanted, keys) as question:
            if question is None:
                return []
            places = question.places(SegmentOrder.PAGE, MOST_AT_ONCE, 0)
            pairs = question.pairs(places)
        parts = (places[start : start + _READ_AT_ONCE] for start in range(0, len(places), _READ_AT_ONCE))
        return [subject_of(listed.segment) for part in parts for listed in self._read(part, pairs)]

    @contextmanager
    def _asked(self, wanted: SegmentFilter, keys: Sequence[str] | None = None) -> Iterator["_Question | None"]:
        """None if there is no index."""
        revisions = [given.revision for given in self._revisions.standing()]
        with reading(self._library.index, LAYOUT) as index:
            if index is None:
                yield None
                return
            is_reviewed = attach(index, self._library.folder.verdicts, VERDICTS_LAYOUT, "people")
            where, values = _conditions(wanted, keys, is_reviewed=is_reviewed)
            yield _Question(index, wanted, revisions, (where, values))

    def _read(self, places: "Sequence[_Place]", pairs: Mapping[int, IndexedPair]) -> Iterator[ListedSegment]:
        """In the same order; those that were mined again since the refresh are left out."""
        starts: dict[int, set[int]] = {}
        for place in places:
            if place.alignment in pairs:
                starts.setdefault(place.alignment, set()).add(place.start)
        read = self._library.rows_at([(pairs[number], own) for number, own in starts.items()])
        rows = {
            (number, row.start, row.part): row for number, (own, _) in zip(starts, read, strict=True) for row in own
        }
        listed = dict(zip(starts, self._library.listed([pairs[number].pair for number in starts]), strict=True))
        for place in places:
            row = rows.get((place.alignment, place.start, place.part))
            if row is not None:
                yield ListedSegment(listed[place.alignment], row)


class _Place(NamedTuple):
    """Where a row is: the number of the first segment that it stands for, and which part of a split it is."""

    id: int
    part: int

    @property
    def alignment(self) -> int:
        return self.id >> PLACE_BITS

    @property
    def start(self) -> int:
        return self.id & ((1 << PLACE_BITS) - 1)


_COLUMNS = "id, key, score, flags, least_characters, most_characters, least_words, most_words"
_ORDERS = {
    SegmentOrder.WORST: "score, id, part",
    SegmentOrder.BEST: "score DESC, id, part",
    SegmentOrder.PAGE: "id, part",
}
_AMONG = "IN (SELECT value FROM json_each(?))"


class _Question:
    """The rows that fit a filter, in one connection to the index."""

    def __init__(
        self,
        index: sqlite3.Connection,
        wanted: SegmentFilter,
        revisions: Sequence[Revision],
        conditions: tuple[str, list[str | float]],
    ) -> None:
        self._index = index
        self._languages = wanted.languages
        search = wanted.search(query_languages(index, wanted.query))
        source, values = self._source(search, revisions)
        where, more = conditions
        index.execute(
            f"CREATE TEMP TABLE found AS SELECT id, part, score FROM ({source}) WHERE {where}",
            storable_values([*values, *more]),
        )

    def count(self) -> int:
        return int(self._index.execute("SELECT count(*) FROM temp.found").fetchone()[0])

    def places(self, order: SegmentOrder, limit: int, offset: int) -> list[_Place]:
        statement = f"SELECT id, part FROM temp.found ORDER BY {_ORDERS[order]} LIMIT ? OFFSET ?"
        return [_Place(*row) for row in self._index.execute(statement, (limit, offset))]

    def pairs(self, places: Iterable[_Place]) -> dict[int, IndexedPair]:
        """The page pairs that have them, by the numbers of their alignments. Of several with the same texts, one."""
        pairs = {}
        for number in {place.alignment for place in places}:
            if pair := self._pair(number, self._languages):
                pairs[number] = pair
        return pairs

    def _pair(self, alignment: int, languages: LanguageOrder | None) -> IndexedPair | None:
        only = " AND pairs.lang_a = ? AND pairs.lang_b = ?" if languages else ""
        statement = f"{WITH_ALIGNMENT} WHERE pairs.alignment = ?{only} ORDER BY pairs.id LIMIT 1"
        row = self._index.execute(statement, storable_values([alignment, *(languages or ())])).fetchone()
        return indexed_pair(row) if row else None

    def _source(self, search: Search | None, revisions: Sequence[Revision]) -> tuple[str, tuple[str, ...]]:
        """All segments with the words that were asked for: as they were mined, or else as they were written anew."""
        where, values = "1", tuple[str, ...]()
        if search is not None:
            hits, values = hits_condition(self._index, search, self._languages)
            where = f"id IN (SELECT rowid & {SEGMENT_BITS} FROM words WHERE {hits})"
        mined = f"SELECT {_COLUMNS}, key AS mined, 0 AS part, 0 AS edited FROM segments WHERE {where}"
        if not revisions:
            return mined, values
        self._write_revised(search, revisions)
        written = f"SELECT {_COLUMNS}, mined, part, 1 FROM temp.revised"
        return f"{mined} AND id NOT IN (SELECT id FROM temp.replaced) UNION ALL {written}", values

    def _write_revised(self, search: Search | None, revisions: Sequence[Revision]) -> None:
        """What stands in the place of mined segments, and which segments these are."""
        execute, executemany = self._index.execute, self._index.executemany
        execute(f"CREATE TEMP TABLE revised ({_COLUMNS}, mined, part)")
        execute("CREATE TEMP TABLE replaced (id INTEGER PRIMARY KEY)")
        places = RevisionPlaces(revisions)
        keys = _listed(key for revision in revisions for key in revision.keys)
        numbers = f"SELECT DISTINCT id >> {PLACE_BITS} FROM segments WHERE key {_AMONG}"
        for (number,) in execute(numbers, (keys,)).fetchall():
            pair = self._pair(number, None)
            if pair is None:
                continue
            languages = pair.pair.lang_a, pair.pair.lang_b
            own = "SELECT key, score, flags FROM segments WHERE id BETWEEN ? AND ? ORDER BY id"
            mined = [_Mined(*row) for row in execute(own, segments_of_alignment(number))]
            for start, stop, revision in places.of([segment.key for segment in mined]):
                if revision is not None:
                    first = segments_of_alignment(number)[0] + start
                    executemany("INSERT INTO replaced VALUES (?)", [(first + n,) for n in range(stop - start)])
                    rows = _revised_rows(revision, mined[start:stop], languages, search)
                    executemany(
                        f"INSERT INTO revised VALUES ({', '.join('?' * 10)})",
                        [(first, *row) for row in rows],
                    )


class _Mined(NamedTuple):
    """What the index has of a segment that was revised."""

    key: str
    score: float
    flags: str


def _revised_rows(
    revision: Revision, mined: Sequence[_Mined], languages: tuple[Language, Language], search: Search | None
) -> Iterator[tuple[str | float, ...]]:
    """The values of `_COLUMNS` after the first, the key of the first mined segment, and the number of the part."""
    nowhere = Url.known("")
    originals = [
        SegmentPair(nowhere, nowhere, Segment(""), Segment(""), one.score, flags=tuple(one.flags.split("\n")))
        for one in mined
    ]
    for part, pair in enumerate(rewritten(originals, revision)):
        text_a, text_b = pair.a.text, pair.b.text
        a, b = search_words(text_a, languages[0]), search_words(text_b, languages[1])
        if search is None or search.matched_side(a, b) is not None:
            lengths = (*sorted((len(text_a), len(text_b))), *sorted((len(a), len(b))))
            flags = joined_flags(pair.flags)
            yield (segment_key(text_a, text_b), pair.score, flags, *lengths, mined[0].key, part)


# What people did is in the database of verdicts, which is attached as `people`.
_JUDGED = f"SELECT key FROM people.standing WHERE kind = '{SubjectKind.SEGMENT}'"
_STATES = {
    SegmentState.NONE: f"key NOT IN ({_JUDGED})",
    SegmentState.ACCEPTED: f"key IN ({_JUDGED} AND verdict = '{Verdict.ACCEPT}')",
    SegmentState.REJECTED: f"key IN ({_JUDGED} AND verdict = '{Verdict.REJECT}')",
    SegmentState.CONFLICT: f"key IN ({_JUDGED} AND verdict = '{CONFLICT}')",
    SegmentState.EDITED: "edited",
    SegmentState.COMMENTED: (
        f"part = 0 AND mined IN (SELECT key FROM people.comments WHERE kind = '{SubjectKind.SEGMENT}' AND undone_at IS NULL)"
    ),
}


def _conditions(
    wanted: SegmentFilter, keys: Sequence[str] | None, *, is_reviewed: bool
) -> tuple[str, list[str | float]]:
    """What holds of the rows that fit. Without `is_reviewed` nobody has said anything yet."""
    state = wanted.state or SegmentState.NONE
    in_state = _STATES[state] if is_reviewed else str(int(state is SegmentState.NONE))
    least, most = f"least_{wanted.unit}", f"most_{wanted.unit}"
    conditions: list[tuple[bool, str, Sequence[str | float]]] = [
        (
            wanted.languages is not None,
            f"id >> {PLACE_BITS} IN (SELECT alignment FROM pairs WHERE lang_a = ? AND lang_b = ?)",
            [*(wanted.languages or ())],
        ),
        (wanted.least > 0, "score >= ?", [wanted.least]),
        (wanted.most < 1, "score <= ?", [wanted.most]),
        (wanted.flag == NO_FLAG, "flags = ''", []),
        (wanted.flag not in ("", NO_FLAG), "instr(flags, ?)", [joined_flags([wanted.flag])]),
        (wanted.shortest > 0, f"{least} >= ?", [wanted.shortest]),
        (wanted.longest is not None, f"{most} <= ?", [wanted.longest or 0]),
        (wanted.state is not None, in_state, []),
        (keys is not None, f"key {_AMONG}", [_listed(keys or ())]),
    ]
    given = [(condition, values) for is_given, condition, values in conditions if is_given]
    return " AND ".join(condition for condition, _ in given) or "1", [value for _, own in given for value in own]


def _listed(keys: Iterable[str]) -> str:
    return msgspec.json.encode(list(keys)).decode()
