"""What a reader asks of a job, while it runs or after: page pairs, their segments, a phrase in context; and verdicts."""

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from bitrawl.config import Thresholds
from bitrawl.job.findings import AlignmentKey, Findings
from bitrawl.job.folder import JobFolder
from bitrawl.job.ledger import Ledger
from bitrawl.job.reading_index import (
    MOST_HITS,
    HitPlace,
    Languages,
    PairCount,
    PairQuestion,
    PairRow,
    ReadingIndex,
    Side,
)
from bitrawl.job.verdicts import Kind, Saying, Subject, VerdictHistory
from bitrawl.mine.judging import Rejection, rejection
from bitrawl.model import PagePair, SegmentPair, Verdict, segment_key
from bitrawl.text.words import places
from bitrawl.url import Url

_SITES = 100  # sites to choose from; judgement
_POINTS = 200  # of a harvest curve: a screen shows no more (judgement)


class VerdictState(StrEnum):
    """What a person has said about a page pair, if anything."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    NONE = "none"


class PairFilter(PairQuestion, frozen=True, kw_only=True):
    """Which page pairs to list, also by what was said about them."""

    verdict: VerdictState | None = None


class ListedPair(msgspec.Struct, frozen=True):
    """A page pair, and what was said about it."""

    row: PairRow
    verdict: Verdict | None = None


class PairList(msgspec.Struct, frozen=True):
    """A part of the list, and the length of all of it."""

    pairs: tuple[ListedPair, ...]
    total: int


class ReadSegment(msgspec.Struct, frozen=True):
    """A segment of a page pair."""

    key: str
    place: int  # its number in the page pair
    text_a: str
    text_b: str
    score: float
    type: str
    flags: tuple[str, ...]
    verdict: Verdict | None = None
    left_out: Rejection | None = None  # why the job's thresholds keep it out of the corpus, unless somebody accepts it


class ReadPair(msgspec.Struct, frozen=True):
    """Two aligned pages."""

    pair: ListedPair
    segments: tuple[ReadSegment, ...]  # in the order of the text


class Mark(msgspec.Struct, frozen=True):
    """Where a phrase begins and ends in a text, in characters."""

    start: int
    end: int


class Hit(msgspec.Struct, frozen=True):
    """A segment that has the phrase, with its neighbours."""

    pair: ListedPair
    segment: ReadSegment
    marks_a: tuple[Mark, ...] = ()
    marks_b: tuple[Mark, ...] = ()
    previous: ReadSegment | None = None
    following: ReadSegment | None = None


class HitList(msgspec.Struct, frozen=True):
    """A part of the hits, and the number of all."""

    hits: tuple[Hit, ...]
    total: int

    @property
    def is_cut(self) -> bool:
        """Whether there may be more than `total`."""
        return self.total >= MOST_HITS


class Choices(msgspec.Struct, frozen=True):
    """What page pairs can be filtered by, the most frequent first."""

    languages: tuple[PairCount, ...]
    sites: tuple[PairCount, ...]


class HarvestPoint(msgspec.Struct, frozen=True):
    """How many page pairs were complete after so many fetches."""

    fetches: int
    pairs: int


class Reading:
    """What is listed and searched is as new as the last refresh of the index; segments come from the ledger.

    Nothing is kept open, so the threads of a server can share it.
    """

    def __init__(self, folder: JobFolder) -> None:
        self._folder = folder
        self._index = ReadingIndex(folder.reading_index)
        self._verdicts = VerdictHistory(folder.verdicts)

    def pairs(self, wanted: PairFilter) -> PairList:
        found = self._index.pairs(self._question(wanted))
        return PairList(tuple(self._listed(found.rows)), found.total)

    def pair(self, key: str) -> ReadPair | None:
        """Two pages side by side; None if there is no such page pair (any more)."""
        place = self._index.pair(key)
        if place is None:
            return None
        [pair] = self._listed([place.pair])
        [segments] = self._segments([place.alignment])
        return ReadPair(pair, tuple(self._judged(segments)))

    def choices(self) -> Choices:
        return Choices(tuple(self._index.languages()), tuple(self._index.sites(_SITES)))

    def harvest(self, languages: Languages | None) -> tuple[HarvestPoint, ...]:
        """Of two languages, or of all."""
        return tuple(HarvestPoint(*point) for point in self._index.curve(languages, _POINTS))

    def search(
        self,
        phrase: str,
        side: Side = Side.BOTH,
        languages: Languages | None = None,
        *,
        offset: int = 0,
        limit: int = 20,
    ) -> HitList:
        """Segments that have the phrase on that side, the best scored first. The phrase is data: it has no syntax."""
        found = self._index.hits(phrase, side, languages, offset=offset, limit=limit)
        pairs = self._listed([hit.pair for hit in found.hits])
        texts = self._segments([hit.alignment for hit in found.hits])
        around = [
            segments[max(hit.place - 1, 0) : hit.place + 2] for hit, segments in zip(found.hits, texts, strict=True)
        ]
        verdicts = self._said([segment for some in around for segment in some])
        thresholds = self._folder.job().judge
        hits = [
            _hit(
                phrase,
                side,
                hit,
                pair,
                [_read(one, hit.place - min(hit.place, 1) + n, verdicts, thresholds) for n, one in enumerate(some)],
            )
            for hit, pair, some in zip(found.hits, pairs, around, strict=True)
            if len(some) > min(hit.place, 1)  # otherwise it was mined again since the refresh
        ]
        return HitList(tuple(hits), found.total)

    def judge_pair(self, key: str, verdict: Verdict, by: str, at: float) -> bool:
        """False if there is no such page pair."""
        place = self._index.pair(key)
        if place is None:
            return False
        row = place.pair
        pair = PagePair(Url.known(row.url_a), Url.known(row.url_b), row.lang_a, row.lang_b, row.score)
        self._verdicts.say(Subject.of_pair(pair), verdict, by, at)
        return True

    def judge_segment(self, pair_key: str, key: str, verdict: Verdict, by: str, at: float) -> bool:
        """A segment of that page pair. False if there is none with that key."""
        place = self._index.pair(pair_key)
        [segments] = self._segments([place.alignment if place else b""])
        segment = next((one for one in segments if segment_key(one.a.text, one.b.text) == key), None)
        if segment is None:
            return False
        self._verdicts.say(Subject.of_segment(segment), verdict, by, at)
        return True

    def undo(self, kind: Kind, key: str, by: str, at: float) -> Saying | None:
        """Take back the last verdict about that thing; None if nothing stands."""
        return self._verdicts.undo(kind, key, by, at)

    def undo_last(self, by: str, at: float) -> Saying | None:
        """Take back the last thing that this person said; None if there is nothing to take back."""
        return self._verdicts.undo_last(by, at)

    def said(self, most: int) -> list[Saying]:
        """What people said, the latest first, undone or not."""
        return self._verdicts.history(most)

    def _question(self, wanted: PairFilter) -> PairQuestion:
        if wanted.verdict is None:
            return wanted
        if wanted.verdict is VerdictState.NONE:
            judged = [key for verdict in Verdict for key in self._verdicts.keys(Kind.PAIR, verdict)]
            return msgspec.structs.replace(wanted, without=judged)
        verdict = Verdict.ACCEPT if wanted.verdict is VerdictState.ACCEPTED else Verdict.REJECT
        return msgspec.structs.replace(wanted, keys=self._verdicts.keys(Kind.PAIR, verdict))

    def _listed(self, rows: Sequence[PairRow]) -> list[ListedPair]:
        verdicts = self._verdicts.of(Kind.PAIR, {row.key for row in rows})
        return [ListedPair(row, verdicts.get(row.key)) for row in rows]

    def _segments(self, alignments: Sequence[AlignmentKey]) -> list[tuple[SegmentPair, ...]]:
        ledger: Ledger = self._folder.reading(verified=False)
        try:
            findings = Findings(ledger)
            known = {key: findings.segments_of(key) for key in set(alignments)}
        finally:
            ledger.close()
        return [known[key] for key in alignments]

    def _judged(self, segments: Sequence[SegmentPair]) -> list[ReadSegment]:
        verdicts, thresholds = self._said(segments), self._folder.job().judge
        return [_read(segment, place, verdicts, thresholds) for place, segment in enumerate(segments)]

    def _said(self, segments: Sequence[SegmentPair]) -> dict[str, Verdict]:
        if not self._folder.verdicts.exists():
            return {}
        return self._verdicts.of(Kind.SEGMENT, {segment_key(one.a.text, one.b.text) for one in segments})


def _read(segment: SegmentPair, place: int, verdicts: dict[str, Verdict], thresholds: Thresholds) -> ReadSegment:
    key = segment_key(segment.a.text, segment.b.text)
    return ReadSegment(
        key,
        place,
        segment.a.text,
        segment.b.text,
        segment.score,
        segment.type,
        segment.flags,
        verdicts.get(key),
        rejection(segment, thresholds),
    )


def _hit(phrase: str, side: Side, hit: HitPlace, pair: ListedPair, around: Sequence[ReadSegment]) -> Hit:
    by_place = {one.place: one for one in around}
    segment = by_place[hit.place]
    return Hit(
        pair,
        segment,
        _marks(segment.text_a, phrase) if side is not Side.B else (),
        _marks(segment.text_b, phrase) if side is not Side.A else (),
        by_place.get(hit.place - 1),
        by_place.get(hit.place + 1),
    )


def _marks(text: str, phrase: str) -> tuple[Mark, ...]:
    return tuple(Mark(start, end) for start, end in places(text, phrase))
