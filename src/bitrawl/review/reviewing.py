"""What a reader asks of a job, while it runs or after: page pairs, their segments, and verdicts.

What is listed comes from the index (`reading_index.py`), segments from the ledger.
"""

from collections.abc import Collection, Sequence
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from bitrawl.config import Job
from bitrawl.mining import Thresholds
from bitrawl.model import Language, PagePair, SegmentPair, Verdict, segment_key
from bitrawl.review.segment_review import (
    MinedPair,
    OnScreen,
    ReadSegment,
    Saved,
    SegmentReview,
    Writer,
    subject_of,
    written_lines,
)
from bitrawl.store.database import reading, storable
from bitrawl.store.folder import JobFolder
from bitrawl.store.reading_index import LAYOUT, keys_in
from bitrawl.store.stored_findings import AlignmentKey, Findings
from bitrawl.store.verdicts import Batch, GivenVerdict, Judgement, Subject, SubjectKind, VerdictHistory
from bitrawl.text.search_words import folded
from bitrawl.url import Url

MOST_ROWS = 1000  # of one part of a list
_SITES = 100  # sites to choose from
_POINTS = 200  # of a harvest curve: a screen shows no more
_PAIR = "key, lang_a, lang_b, site, url_a, url_b, title_a, title_b, score, evidence, completed, segments, mean_score, flagged, partial"
WITH_ALIGNMENT = (
    f"SELECT pairs.{_PAIR.replace(', ', ', pairs.')}, alignments.key, alignments.id"
    " FROM pairs LEFT JOIN alignments ON alignments.id = pairs.alignment"
)

_Values = list[str | float]


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


class ListedPair(msgspec.Struct, frozen=True):
    """A page pair, and what was said about it."""

    row: PairRow
    verdict: Verdict | None = None  # that stands
    judgement: Judgement = Judgement()


class PairList(msgspec.Struct, frozen=True):
    """A part of the list, and the length of all of it."""

    pairs: tuple[ListedPair, ...]
    total: int
    partial: int = 0  # of these: translated in part, so no page pairs anywhere else

    @property
    def page_pairs(self) -> int:
        return self.total - self.partial


class ReadPair(msgspec.Struct, frozen=True):
    """Two aligned pages."""

    pair: ListedPair
    segments: tuple[ReadSegment, ...]  # in the order of the text

    def place_of(self, anchor: str) -> int | None:
        """The place of the segment with that anchor; if its repeat is gone, of the first with the same texts, or of the one
        that stands for them.
        """
        key = anchor.partition("-")[0]
        places = {segment.anchor: segment.place for segment in self.segments if segment.key == key}
        stand_in = next((segment.place for segment in self.segments if key in segment.keys), None)
        return places.get(anchor, places.get(key, stand_in))


class PairCount(NamedTuple):
    """The page pairs of a site, or of two languages ("en-fr")."""

    name: str
    pairs: int


class Choices(msgspec.Struct, frozen=True):
    """What page pairs can be filtered by, the most frequent first."""

    languages: tuple[PairCount, ...]
    sites: tuple[PairCount, ...]


class PairHarvestPoint(msgspec.Struct, frozen=True):
    """How many page pairs were complete after so many fetches."""

    fetches: int
    pairs: int


class Reading:
    """What is listed and searched is as new as the last refresh of the index. Without an index nothing is found.

    Nothing is kept open, so the threads of a server can share it.
    """

    def __init__(self, folder: JobFolder, reader: str = "") -> None:
        """`reader` is who reads: what others say in a sample that this person is judging is not told."""
        self.folder = folder
        self.index = folder.reading_index
        self.review = SegmentReview(folder.verdicts, reader)
        self._verdicts = VerdictHistory(folder.verdicts)

    def pairs(self, wanted: PairFilter) -> PairList:
        where, values = self._conditions(wanted)
        direction = "ASC" if wanted.ascending else "DESC"
        with reading(self.index, LAYOUT) as index:
            if index is None:
                return PairList((), 0)
            counts = f"SELECT count(*), coalesce(sum(partial), 0) FROM pairs WHERE {where}"
            total, partial = index.execute(counts, values).fetchone()
            rows = index.execute(  # Sort the numbers only, then read the rows.
                f"SELECT {_PAIR} FROM (SELECT id AS chosen FROM pairs WHERE {where}"
                f" ORDER BY {wanted.order} {direction}, id LIMIT ? OFFSET ?)"
                f" JOIN pairs ON id = chosen ORDER BY {wanted.order} {direction}, id",
                (*values, *bounded_part(wanted.limit, wanted.offset)),
            )
            pairs = [_pair_row(row) for row in rows]
        return PairList(tuple(self.listed(pairs)), total, partial)

    def pair(self, key: str) -> ReadPair | None:
        """Two pages side by side; None if there is no such page pair (any more)."""
        place = self._place_of(key)
        if place is None:
            return None
        [pair] = self.listed([place.pair])
        [segments] = self.segments([place.alignment])
        return ReadPair(pair, self.review.rows(segments, self.thresholds()))

    def choices(self) -> Choices:
        return Choices(self._counts("lang_a || '-' || lang_b", -1), self._counts("site", _SITES))

    def harvest(self, languages: LanguageOrder | None) -> tuple[PairHarvestPoint, ...]:
        """How many page pairs of two languages, or of all, were complete after so many fetches."""
        where, values = self._conditions(PairFilter(languages=languages))
        total, points = 0, list[PairHarvestPoint]()
        with reading(self.index, LAYOUT) as index:
            rows = index and index.execute(
                f"SELECT max(completed), count(*) FROM pairs WHERE {where} AND NOT partial"
                " GROUP BY completed / (1 + (SELECT max(completed) FROM pairs) / ?) ORDER BY 1",
                (*values, _POINTS),
            )
            for completed, count in rows or ():
                total += count
                points.append(PairHarvestPoint(completed, total))
        return tuple(points)

    def judge_pair(self, key: str, verdict: Verdict, by: str, at: float) -> bool:
        """False if there is no such page pair."""
        place = self._place_of(key)
        if place is None:
            return False
        row = place.pair
        pair = PagePair(Url.known(row.url_a), Url.known(row.url_b), row.lang_a, row.lang_b, row.score)
        self._verdicts.say(Subject.of_pair(pair), verdict, by, at)
        return True

    def judge_segment(self, pair_key: str, key: str, verdict: Verdict, by: str, at: float) -> bool:
        """A segment of that page pair. False if there is none with that key."""
        pair = self.pair(pair_key)
        row = next((row for row in pair.segments if row.key == key), None) if pair else None
        if row is None:
            return False
        self._verdicts.say(subject_of(row), verdict, by, at)
        return True

    def differs_since(self, key: str, verdict: Verdict, by: str, at: float) -> bool:
        """Whether somebody else has said the contrary about that page pair since then."""
        judgement = self._verdicts.judgements(SubjectKind.PAIR, [key]).get(key, Judgement())
        return any(said.by != by and said.at > at and said.verdict is not verdict for said in judgement.opinions)

    def decide(self, kind: SubjectKind, key: str, verdict: Verdict, by: str, at: float) -> bool:
        """Decide between people who differ. False if they do not, or do not any more."""
        return self._verdicts.resolve(kind, key, verdict, by, at)

    def judge_all(self, subjects: Sequence[Subject], verdict: Verdict, by: str, at: float) -> int:
        """The same about many things, to be taken back at once. Returns how many it changed."""
        return self._verdicts.say_all(subjects, verdict, by, at)

    def edit(self, pair_key: str, row: OnScreen, texts: tuple[str, str], by: Writer, *, accept: bool = False) -> Saved:
        """Give a segment of that page pair other texts, and accept them all if asked to."""
        found = self._on_screen(pair_key, row)
        if isinstance(found, Saved):
            return found
        pair, at = found
        saved, lines = self.review.edit(pair.segments, at, texts, by), written_lines(texts)
        if saved is Saved.DONE and accept and not isinstance(lines, Saved):
            urls = pair.segments[at].urls
            subjects = [Subject(SubjectKind.SEGMENT, segment_key(*both), *urls, *both) for both in lines]
            self._verdicts.say_all(subjects, Verdict.ACCEPT, by.name, by.at)
        return saved

    def join(self, pair_key: str, row: OnScreen, following: str, by: Writer) -> Saved:
        """Make one segment of that one and the next, which has the key `following`."""
        found = self._on_screen(pair_key, row)
        if isinstance(found, Saved):
            return found
        pair, at = found
        if at + 1 < len(pair.segments) and following not in ("", pair.segments[at + 1].key):
            return Saved.CHANGED
        return self.review.join(pair.segments, at, (pair.pair.row.lang_a, pair.pair.row.lang_b), by)

    def restore(self, pair_key: str, row: OnScreen, by: Writer) -> Saved:
        """Take back the revision that the segment has."""
        found = self._on_screen(pair_key, row)
        return found if isinstance(found, Saved) else self.review.restore(found[0].segments[found[1]], by)

    def comment(self, pair_key: str, row: OnScreen, text: str, by: Writer) -> Saved:
        found = self._on_screen(pair_key, row)
        return found if isinstance(found, Saved) else self.review.comment(found[0].segments[found[1]], text, by)

    def _on_screen(self, pair_key: str, row: OnScreen) -> "tuple[ReadPair, int] | Saved":
        """The page pair as it is now, and the place of the row in it."""
        pair = self.pair(pair_key)
        if pair is None:
            return Saved.GONE
        at = row.place_in(pair.segments)
        return at if isinstance(at, Saved) else (pair, at)

    def last_batch(self, by: str) -> Batch | None:
        """What this person said last, if it was about many things."""
        return self._verdicts.last_batch(by)

    def undo_batch(self, number: int, by: str, at: float) -> tuple[GivenVerdict, ...]:
        """Take back all that this person gave at once under that number."""
        return self._verdicts.undo_batch(number, by, at)

    def undo(self, kind: SubjectKind, key: str, by: str, at: float) -> tuple[GivenVerdict, ...]:
        """Take back this person's last verdict about that thing; nothing if there is none."""
        return self._verdicts.undo(kind, key, by, at)

    def undo_last(self, by: str, at: float) -> tuple[GivenVerdict, ...]:
        """Take back what this person said last: one verdict, or all that were given at once."""
        return self._verdicts.undo_last(by, at)

    def said(self, most: int) -> list[GivenVerdict]:
        """What people said, the latest first, undone or not."""
        return self._verdicts.history(most)

    def _conditions(self, wanted: PairFilter) -> tuple[str, _Values]:
        listed = self._verdict_keys(wanted.verdict)
        conditions: list[tuple[bool, str, _Values]] = [
            (wanted.languages is not None, "lang_a = ? AND lang_b = ?", [*(wanted.languages or ())]),
            (bool(wanted.site), "site = ?", [wanted.site]),
            (bool(wanted.text.strip()), "instr(searched, ?)", [folded(wanted.text.strip())]),
            (bool(wanted.method), "instr(methods, ?)", [wanted.method]),
            (wanted.least > 0, "score >= ?", [wanted.least]),
            (wanted.most < 1, "score <= ?", [wanted.most]),
            (wanted.verdict is VerdictState.NONE, "key NOT IN (SELECT value FROM json_each(?))", [listed]),
            (
                bool(listed) and wanted.verdict is not VerdictState.NONE,
                "key IN (SELECT value FROM json_each(?))",
                [listed],
            ),
        ]
        given = [(condition, values) for is_given, condition, values in conditions if is_given]
        where = " AND ".join(condition for condition, _ in given) or "1"
        return where, storable_values([value for _, values in given for value in values])

    def _verdict_keys(self, state: VerdictState | None) -> str:
        """As JSON: of the page pairs in that state, or, if nothing was said, of all others; empty for any state."""
        if state is None:
            return ""
        verdicts = {VerdictState.ACCEPTED: [Verdict.ACCEPT], VerdictState.REJECTED: [Verdict.REJECT]}
        keys = [
            key for verdict in verdicts.get(state, Verdict) for key in self._verdicts.keys(SubjectKind.PAIR, verdict)
        ]
        return msgspec.json.encode(keys).decode()

    def _counts(self, column: str, most: int) -> tuple[PairCount, ...]:
        statement = f"SELECT {column}, count(*) FROM pairs GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?"
        with reading(self.index, LAYOUT) as index:
            return tuple(PairCount(*row) for row in (index.execute(statement, (most,)) if index else ()))

    def _place_of(self, key: str) -> "IndexedPair | None":
        """The page pair with that key, and its alignment; None if it is not indexed."""
        statement = f"{WITH_ALIGNMENT} WHERE pairs.key = ? LIMIT 1"
        with reading(self.index, LAYOUT) as index:
            row = index and index.execute(statement, (storable(key),)).fetchone()
            return indexed_pair(row) if row else None

    def listed(self, rows: Sequence[PairRow]) -> list[ListedPair]:
        judgements = self._verdicts.judgements(SubjectKind.PAIR, {row.key for row in rows})
        said = [judgements.get(row.key, Judgement()) for row in rows]
        return [ListedPair(row, judgement.standing, judgement) for row, judgement in zip(rows, said, strict=True)]

    def rows_at(
        self, places: Sequence[tuple["IndexedPair", Collection[int]]], *, accepted: bool = False
    ) -> list["RowsAndSegments"]:
        """Of each page pair the rows that stand for the segments at these places; none if it was mined again meanwhile."""
        texts = self.segments([pair.alignment for pair, _ in places])
        keys = self._keys([pair.number for pair, _ in places])
        mined = [
            MinedPair(segments, own if len(own) == len(segments) else (), wanted)
            for segments, own, (_, wanted) in zip(texts, keys, places, strict=True)
        ]
        rows = self.review.rows_of(mined, self.thresholds(), accepted=accepted)
        return list(map(RowsAndSegments, rows, texts))

    def segments(self, alignments: Sequence[AlignmentKey]) -> list[tuple[SegmentPair, ...]]:
        with self.folder.reading(verified=False) as ledger:
            findings = Findings(ledger)
            segments = {key: findings.segments_of(key) for key in set(alignments)}
        return [segments[key] for key in alignments]

    def _keys(self, alignments: Sequence[int]) -> list[list[str]]:
        """Of all segments of these alignments."""
        listed = msgspec.json.encode(alignments).decode()
        statement = "SELECT id, rows FROM alignments WHERE id IN (SELECT value FROM json_each(?))"
        with reading(self.index, LAYOUT) as index:
            rows = dict(index.execute(statement, (listed,))) if index else {}
        keys = {number: keys_in(blob) for number, blob in rows.items()}
        return [keys.get(number, []) for number in alignments]

    def job(self) -> Job:
        """The job's description. Reading it takes as long as a search, so it is read when it has changed."""
        if not self.folder.description.exists():
            return self.folder.job()
        state = self.folder.description.stat()
        return _job(self.folder.path, state.st_mtime_ns, state.st_ino, state.st_size)

    def thresholds(self) -> Thresholds:
        return self.job().judge


@lru_cache(maxsize=64)
def _job(path: Path, *_state: int) -> Job:
    return JobFolder(path).job()


class IndexedPair(NamedTuple):
    """A page pair, and where its segments are."""

    pair: PairRow
    alignment: AlignmentKey
    number: int  # of its alignment in the index


class RowsAndSegments(NamedTuple):
    """Rows of a page pair, and all of its segments as they were mined."""

    rows: tuple[ReadSegment, ...]
    segments: tuple[SegmentPair, ...]


def storable_values(values: Sequence[str | float]) -> list[str | float]:
    return [storable(value) if isinstance(value, str) else value for value in values]


def bounded_part(limit: int, offset: int) -> tuple[int, int]:
    """SQLite takes no larger numbers, and would take a negative limit for none."""
    return min(max(limit, 0), MOST_ROWS), min(max(offset, 0), 1 << 40)


def indexed_pair(row: Sequence[Any]) -> IndexedPair:
    *pair, alignment, number = row
    return IndexedPair(_pair_row(pair), alignment or b"", number or 0)


def _pair_row(row: Sequence[object]) -> PairRow:
    fields = dict(zip(PairRow.__struct_fields__, row, strict=True))
    return PairRow(
        **{**fields, "evidence": msgspec.json.decode(str(fields["evidence"])), "partial": bool(fields["partial"])}
    )
