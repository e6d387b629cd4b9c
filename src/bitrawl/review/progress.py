"""How far people are with a review, together and each."""

import msgspec

from bitrawl.store.folder import JobFolder
from bitrawl.store.index_reader import PairTotals, opened_index
from bitrawl.store.verdicts import PersonProgress, VerdictCounts, VerdictHistory

_DAYS = 14  # with verdicts, the last ones


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
        pairs=figures.pairs,
        total_segments=totals.segments,
        segments=figures.segments,
        not_sampled=figures.not_sampled,
        people=tuple(sorted(figures.people, key=lambda person: (-person.last_at, person.name))),
        days=figures.days,
    )
