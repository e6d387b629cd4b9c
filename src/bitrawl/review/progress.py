"""How far people are with a review, together and each."""

import sqlite3
from collections.abc import Iterator

import msgspec

from bitrawl.model import Verdict
from bitrawl.store.database import reading
from bitrawl.store.folder import JobFolder
from bitrawl.store.reading_index import LAYOUT as INDEX_LAYOUT
from bitrawl.store.verdicts import LAYOUT, SubjectKind

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
    with reading(folder.reading_index, INDEX_LAYOUT) as index:
        totals = "SELECT count(DISTINCT key) FILTER (WHERE NOT partial), coalesce(sum(segments), 0) FROM pairs"
        pairs, segments = index.execute(totals).fetchone() if index else (0, 0)
    nothing = VerdictCounts()
    with reading(folder.verdicts, LAYOUT) as database:
        if database is None:
            return ReviewProgress(pairs, nothing, segments, nothing, nothing, (), {})
        return ReviewProgress(
            total_pairs=pairs,
            pairs=_standing(database, SubjectKind.PAIR),
            total_segments=segments,
            segments=_standing(database, SubjectKind.SEGMENT),
            not_sampled=_standing(database, SubjectKind.SEGMENT, f" AND key NOT IN ({_SAMPLED})"),
            people=tuple(sorted(_people(database), key=lambda person: (-person.last_at, person.name))),
            days=dict(reversed(database.execute(_BY_DAY, (_DAYS,)).fetchall())),
        )


_SAMPLED = "SELECT key FROM said WHERE sample > 0 AND undone_at IS NULL"
_BY_DAY = "SELECT date(at, 'unixepoch'), count(*) FROM said WHERE undone_at IS NULL GROUP BY 1 ORDER BY 1 DESC LIMIT ?"
_BY_PERSON = """
    SELECT by, kind, verdict, count(*), max(at) FROM said WHERE id IN (
        SELECT max(id) FROM said WHERE undone_at IS NULL GROUP BY by, kind, key
    ) GROUP BY by, kind, verdict
"""


def _standing(database: sqlite3.Connection, kind: SubjectKind, more: str = "") -> VerdictCounts:
    statement = f"SELECT verdict, count(*) FROM standing WHERE kind = ?{more} GROUP BY verdict"
    counts = dict(database.execute(statement, (kind,)).fetchall())
    accepted, rejected = (counts.pop(str(verdict), 0) for verdict in (Verdict.ACCEPT, Verdict.REJECT))
    return VerdictCounts(accepted, rejected, sum(counts.values()))


def _people(database: sqlite3.Connection) -> Iterator[PersonProgress]:
    counts: dict[str, dict[tuple[str, str], int]] = {}
    last: dict[str, float] = {}
    for by, kind, verdict, count, at in database.execute(_BY_PERSON):
        counts.setdefault(by, {})[kind, verdict] = count
        last[by] = max(at, last.get(by, 0.0))
    for name, own in counts.items():
        pairs, segments = (
            VerdictCounts(own.get((kind, Verdict.ACCEPT), 0), own.get((kind, Verdict.REJECT), 0))
            for kind in SubjectKind
        )
        yield PersonProgress(name, pairs, segments, last[name])
