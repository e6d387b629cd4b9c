"""What a reader asks of a job, while it runs or after: page pairs, their segments, and verdicts.

What is listed comes from the index (`reading_index.py`), segments from the ledger.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import msgspec

from bitrawl.mining import Thresholds
from bitrawl.model import PagePair, SegmentPair, Verdict
from bitrawl.review.segment_review import MinedPair, ReadSegment, SegmentReview, subject_of
from bitrawl.store.folder import JobFolder
from bitrawl.store.index_reader import (
    IndexedPair,
    LanguageOrder,
    PairCount,
    PairFilter,
    PairHarvestPoint,
    PairRow,
    VerdictState,
    opened_index,
)
from bitrawl.store.stored_findings import AlignmentKey, Findings
from bitrawl.store.verdicts import Judgement, Subject, SubjectKind, VerdictHistory
from bitrawl.url import Url


class ListedPair(msgspec.Struct, frozen=True):
    """A page pair, and what was said about it."""

    row: PairRow
    verdict: Verdict | None = None  # that stands
    judgement: Judgement = Judgement()


class ListedSegment(msgspec.Struct, frozen=True):
    """A segment in a list, and the page pair that it is in."""

    pair: ListedPair
    segment: ReadSegment


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


class Choices(msgspec.Struct, frozen=True):
    """What page pairs can be filtered by, the most frequent first."""

    languages: tuple[PairCount, ...]
    sites: tuple[PairCount, ...]


class Reading:
    """What is listed and searched is as new as the last refresh of the index. Without an index nothing is found.

    Nothing is kept open, so the threads of a server can share it.
    """

    def __init__(self, folder: JobFolder, reader: str = "") -> None:
        """`reader` is who reads: what others say in a sample that this person is judging is not told."""
        self.folder = folder
        self.index = folder.reading_index
        self.review = SegmentReview(folder.verdicts, reader)
        self.verdicts = VerdictHistory(folder.verdicts)

    def pairs(self, wanted: PairFilter) -> PairList:
        judged = self._judged(wanted.verdict)
        with opened_index(self.index) as index:
            total, partial = index.pair_count(wanted, judged)
            pairs = index.pairs(wanted, judged)
        return PairList(tuple(self.listed(pairs)), total, partial)

    def pair(self, key: str) -> ReadPair | None:
        """Two pages side by side; None if there is no such page pair (any more)."""
        indexed = self._indexed(key)
        if indexed is None:
            return None
        [pair] = self.listed([indexed.pair])
        [segments] = self.segments([indexed.alignment])
        return ReadPair(pair, self.review.rows(segments, self.thresholds()))

    def choices(self) -> Choices:
        with opened_index(self.index) as index:
            return Choices(index.by_languages(), index.by_site())

    def harvest(self, languages: LanguageOrder | None) -> tuple[PairHarvestPoint, ...]:
        """How many page pairs of two languages, or of all, were complete after so many fetches."""
        with opened_index(self.index) as index:
            return tuple(index.harvest(languages))

    def judge_pair(self, key: str, verdict: Verdict, by: str, at: float) -> bool:
        """False if there is no such page pair."""
        indexed = self._indexed(key)
        if indexed is None:
            return False
        row = indexed.pair
        pair = PagePair(Url.known(row.url_a), Url.known(row.url_b), row.lang_a, row.lang_b, row.score)
        self.verdicts.say(Subject.of_pair(pair), verdict, by, at)
        return True

    def judge_segment(self, pair_key: str, key: str, verdict: Verdict, by: str, at: float) -> bool:
        """A segment of that page pair. False if there is none with that key."""
        pair = self.pair(pair_key)
        row = next((row for row in pair.segments if row.key == key), None) if pair else None
        if row is None:
            return False
        self.verdicts.say(subject_of(row), verdict, by, at)
        return True

    def _judged(self, state: VerdictState | None) -> list[str]:
        """The keys of the page pairs in that state; if nothing was said, of all others."""
        if state is None:
            return []
        verdicts = {VerdictState.ACCEPTED: [Verdict.ACCEPT], VerdictState.REJECTED: [Verdict.REJECT]}
        return [
            key for verdict in verdicts.get(state, Verdict) for key in self.verdicts.keys(SubjectKind.PAIR, verdict)
        ]

    def _indexed(self, key: str) -> IndexedPair | None:
        """The page pair with that key, and its alignment; None if it is not indexed."""
        with opened_index(self.index) as index:
            return index.pair(key)

    def listed(self, rows: Sequence[PairRow]) -> list[ListedPair]:
        judgements = self.verdicts.judgements(SubjectKind.PAIR, {row.key for row in rows})
        judged = [judgements.get(row.key, Judgement()) for row in rows]
        return [ListedPair(row, judgement.standing, judgement) for row, judgement in zip(rows, judged, strict=True)]

    def rows_at(
        self, places: Sequence[tuple[IndexedPair, Collection[int]]], *, accepted: bool = False
    ) -> list["RowsAndSegments"]:
        """Of each page pair the rows that stand for the segments at these places; none if it was mined again meanwhile."""
        if not places:
            return []  # where there is no index, there may be no job
        texts = self.segments([pair.alignment for pair, _ in places])
        with opened_index(self.index) as index:
            keys = index.keys(pair.number for pair, _ in places)
        mined = []
        for segments, (pair, wanted) in zip(texts, places, strict=True):
            own = keys.get(pair.number, [])
            mined.append(MinedPair(segments, own if len(own) == len(segments) else (), wanted))
        rows = self.review.rows_of(mined, self.thresholds(), accepted=accepted)
        return list(map(RowsAndSegments, rows, texts))

    def segments(self, alignments: Sequence[AlignmentKey]) -> list[tuple[SegmentPair, ...]]:
        with self.folder.reading(verified=False) as ledger:
            findings = Findings(ledger)
            segments = {key: findings.segments_of(key) for key in set(alignments)}
        return [segments[key] for key in alignments]

    def thresholds(self) -> Thresholds:
        return self.folder.job().judge


class RowsAndSegments(NamedTuple):
    """Rows of a page pair, and all of its segments as they were mined."""

    rows: tuple[ReadSegment, ...]
    segments: tuple[SegmentPair, ...]
