"""Segments that people wrote anew: which ones of a page pair a revision replaces, and what stands in their place."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import msgspec

from bitrawl.mining.judging import Flag, length_ratio
from bitrawl.model import Revision, SegmentPair, Verdict, Verdicts, segment_key


class RevisionPlace(NamedTuple):
    """Segments in a row of two pages, and the revision of all of them together; without one, it is a single segment."""

    start: int
    stop: int
    revision: Revision | None = None


class RevisionPlaces:
    """Where revisions apply: wherever the segments that they replace stand in a row, as a verdict is about two texts
    wherever they stand. Of several that begin at a segment, the longest applies.
    """

    def __init__(self, revisions: Iterable[Revision]) -> None:
        self._by_first: dict[str, list[Revision]] = {}
        for revision in sorted(revisions, key=lambda revision: -len(revision.keys)):
            self._by_first.setdefault(revision.keys[0], []).append(revision)

    def of(self, keys: Sequence[str]) -> Iterator[RevisionPlace]:
        """All segments of two pages, in the order of the text."""
        at = 0
        while at < len(keys):
            beginning = self._by_first.get(keys[at], ())
            revision = next((r for r in beginning if tuple(keys[at : at + len(r.keys)]) == r.keys), None)
            end = at + (len(revision.keys) if revision else 1)
            yield RevisionPlace(at, end, revision)
            at = end


def revised(segments: Iterable[SegmentPair], verdicts: Verdicts) -> Iterator[SegmentPair]:
    """The segments, with accepted revisions in the place of what they replace; the parts that nobody accepted are left out.

    A revision of which no part is accepted changes nothing.
    """
    if not verdicts.revisions:
        yield from segments
        return
    places = RevisionPlaces(verdicts.revisions)
    for _, of_pages in groupby(segments, key=lambda pair: (pair.url_a, pair.url_b)):
        pairs = list(of_pages)
        for start, stop, revision in places.of([segment_key(pair.a.text, pair.b.text) for pair in pairs]):
            new = rewritten(pairs[start:stop], revision) if revision else ()
            accepted = [pair for pair in new if verdicts.of_segment(pair) is Verdict.ACCEPT]
            yield from accepted or pairs[start:stop]


def rewritten(originals: Sequence[SegmentPair], revision: Revision) -> tuple[SegmentPair, ...]:
    """Segments with the texts of a revision, flagged as edited.

    Their scores are those of the worst original, since nothing is measured anew but the length. What was noted of the texts
    as they were is dropped.
    """
    worst, replace = min(originals, key=lambda pair: pair.score), msgspec.structs.replace
    kind = _kind(originals) if len(revision.texts) == 1 else "1:1"
    partial = [flag for flag in worst.flags if flag == Flag.PARTIAL]
    return tuple(
        replace(
            worst,
            a=replace(originals[0].a, text=a),
            b=replace(originals[0].b, text=b),
            type=kind,
            scores={**worst.scores, "length_ratio": length_ratio(a, b)},
            flags=(*partial, str(Flag.EDITED)),
        )
        for a, b in revision.texts
    )


def _kind(originals: Sequence[SegmentPair]) -> str:
    """How many sentences of each side are in them."""
    sides = zip(*(pair.type.split(":") for pair in originals), strict=True)
    return ":".join(str(sum(map(int, side))) for side in sides)
