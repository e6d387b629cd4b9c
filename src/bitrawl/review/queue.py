"""The order in which people review page pairs, which of them nobody has judged yet, and how far people are."""

from enum import StrEnum
from hashlib import blake2b

import msgspec

from bitrawl.store.folder import JobFolder
from bitrawl.store.index_reader import LanguageOrder, opened_index
from bitrawl.store.verdicts import PersonProgress, SubjectKind, VerdictCounts, VerdictHistory

_DAYS = 14  # with verdicts, the last ones


class ReviewOrder(StrEnum):
    """Which page pair comes first. Equal ones come in the order of their keys, which stays when a site is mined again."""

    UNCERTAIN = "uncertain"  # the lowest score
    SITE = "site"  # all of one site, then the next; of each the lowest score
    PAGE = "page"  # by the address of the first page
    RANDOM = "random"  # another order for each seed


class ReviewQueue(msgspec.Struct, frozen=True):
    """The page pairs of a job in the order in which somebody reviews them."""

    keys: tuple[str, ...]
    judged: frozenset[str] = frozenset()  # those that somebody has accepted or rejected

    @property
    def left(self) -> int:
        return len(self.keys) - len(self.judged)

    def following(self, key: str) -> str | None:
        """The next one that nobody has judged, after the last the first; None if there is no other than this one.

        A key that is not in the queue stands before all others.
        """
        at = self._place(key)
        others = (*self.keys[at + 1 :], *self.keys[: max(at, 0)])
        return next((other for other in others if other not in self.judged), None)

    def previous(self, key: str) -> str | None:
        """The one before, whether it is judged or not; None before the first."""
        at = self._place(key)
        return self.keys[at - 1] if at > 0 else None

    def _place(self, key: str) -> int:
        return self.keys.index(key) if key in self.keys else -1


def review_queue(
    folder: JobFolder, order: ReviewOrder, seed: int = 0, languages: LanguageOrder | None = None
) -> ReviewQueue:
    """As new as the last refresh of the index. Pages that are translated in part are no page pairs, so not included."""
    with opened_index(folder.reading_index) as index:
        keys = index.queued(languages, _COLUMNS[order])
    if order is ReviewOrder.RANDOM:
        keys.sort(key=lambda key: (blake2b(f"{seed} {key}".encode(), digest_size=8).digest(), key))
    return ReviewQueue(tuple(keys), VerdictHistory(folder.verdicts).judged(SubjectKind.PAIR).intersection(keys))


_COLUMNS = {
    ReviewOrder.UNCERTAIN: ("score",),
    ReviewOrder.SITE: ("site", "score"),
    ReviewOrder.PAGE: ("url_a", "url_b"),
    ReviewOrder.RANDOM: (),
}


class ReviewProgress(msgspec.Struct, frozen=True):
    """How far the review of a job is, by person."""

    total_pairs: int
    pairs: VerdictCounts
    total_segments: int  # as often as they occur, while a verdict is about all occurrences
    segments: VerdictCounts
    not_sampled: VerdictCounts  # segments that people chose to judge: no random sample
    people: tuple[PersonProgress, ...]  # who said something last comes first
    days: dict[str, int]  # verdicts of all people by day (UTC), the earliest first


def review_progress(folder: JobFolder) -> ReviewProgress:
    """How far people are, as new as the last refresh of the index."""
    with opened_index(folder.reading_index) as index:
        totals = index.totals()
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
