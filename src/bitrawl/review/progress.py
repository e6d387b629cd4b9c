"""How far people are with a review, together and each."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from bitrawl.model import Verdict
from bitrawl.store.folder import JobFolder
from bitrawl.store.index_reader import PairTotals, opened_index
from bitrawl.store.verdicts import PersonCount, SubjectKind, VerdictHistory

_DAYS = 14  # with verdicts, the last ones


class VerdictCounts(msgspec.Struct, frozen=True):
    """What was judged, each thing once."""

    accepted: int = 0
    rejected: int = 0
    conflicts: int = 0

    @property
    def judged(self) -> int:
        return self.accepted + self.rejected + self.conflicts


class PersonProgress(msgspec.Struct, frozen=True):
    """What one person says now."""

    name: str
    pairs: VerdictCounts
    segments: VerdictCounts
    last_at: float  # seconds since the epoch


class ReviewProgress(msgspec.Struct, frozen=True):
    """Of a job."""

    total_pairs: int
    pairs: VerdictCounts
    total_segments: int  # as often as they occur, while a verdict is about all occurrences
    segments: VerdictCounts
    not_sampled: VerdictCounts  # segments that people chose to judge: no random sample
    people: tuple[PersonProgress, ...]  # who said something last comes first
    days: dict[str, int]  # verdicts of all people by day (UTC), the earliest first


def review_progress(folder: JobFolder) -> ReviewProgress:
    """As new as the last refresh of the index."""
    with opened_index(folder.reading_index) as index:
        totals = index.totals() if index else PairTotals()
    figures = VerdictHistory(folder.verdicts).figures(_DAYS)
    return ReviewProgress(
        total_pairs=totals.pairs,
        pairs=_counts(figures.pairs),
        total_segments=totals.segments,
        segments=_counts(figures.segments),
        not_sampled=_counts(figures.not_sampled),
        people=tuple(sorted(_people(figures.people), key=lambda person: (-person.last_at, person.name))),
        days=dict(figures.days),
    )


def _counts(counts: Mapping[str, int]) -> VerdictCounts:
    accepted, rejected = counts.get(Verdict.ACCEPT, 0), counts.get(Verdict.REJECT, 0)
    return VerdictCounts(accepted, rejected, sum(counts.values()) - accepted - rejected)


def _people(counts: Iterable[PersonCount]) -> Iterator[PersonProgress]:
    people: dict[str, list[PersonCount]] = {}
    for count in counts:
        people.setdefault(count.by, []).append(count)
    for name, own in people.items():
        said = {kind: {str(count.verdict): count.things for count in own if count.kind is kind} for kind in SubjectKind}
        last_at = max(count.last_at for count in own)
        yield PersonProgress(name, _counts(said[SubjectKind.PAIR]), _counts(said[SubjectKind.SEGMENT]), last_at)
