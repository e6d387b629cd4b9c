"""The segments of two pages as people review them: with verdicts, comments, and texts that somebody wrote anew."""

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec

from bitrawl.config import Thresholds
from bitrawl.job.revisions import Comment, GivenRevision, RevisionHistory, Texts
from bitrawl.job.verdicts import Judgement, Subject, SubjectKind, VerdictHistory
from bitrawl.mine.aligned_pages import joined_text
from bitrawl.mine.judging import Rejection, rejection
from bitrawl.mine.revising import Place, RevisionPlaces, rewritten
from bitrawl.model import Language, Revision, SegmentPair, Verdict, segment_key
from bitrawl.text.words import one_line

MOST_CHARACTERS = 20_000  # of a text that somebody writes


class ReadSegment(msgspec.Struct, frozen=True):
    """A segment of a page pair, as it was mined or as somebody wrote it anew."""

    key: str
    place: int  # its number in the page pair
    text_a: str
    text_b: str
    score: float
    type: str
    flags: tuple[str, ...]
    verdict: Verdict | None = None  # that stands
    left_out: Rejection | None = None  # why the corpus is without it, unless somebody accepts it
    repeat: int = 0  # how often the same two texts stand before it on these pages
    urls: tuple[str, str] = ("", "")
    keys: tuple[str, ...] = ()  # of the segments as they were mined, that it stands for
    start: int = -1  # the number of the first of them in the page pair; the parts of a split have the same
    revision: GivenRevision | None = None  # None if its texts are as they were mined
    part: int = 0  # which of the texts of the revision it has
    judgement: Judgement = Judgement()
    comments: tuple[Comment, ...] = ()

    @property
    def anchor(self) -> str:
        """Its name among the segments of the two pages, which stays when they are mined again."""
        return f"{self.key}-{self.repeat}" if self.repeat else self.key


def read_segment(pair: SegmentPair, key: str, place: int, judgement: Judgement, thresholds: Thresholds) -> ReadSegment:
    """A segment, and what people say about its texts."""
    return ReadSegment(
        key,
        place,
        pair.a.text,
        pair.b.text,
        pair.score,
        pair.type,
        pair.flags,
        judgement.standing,
        rejection(pair, thresholds),
        urls=(str(pair.url_a), str(pair.url_b)),
        judgement=judgement,
    )


def subject_of(row: ReadSegment) -> Subject:
    """What a verdict on it is about."""
    return Subject(SubjectKind.SEGMENT, row.key, *row.urls, row.text_a, row.text_b)


class Saved(StrEnum):
    """What became of a text that somebody wrote."""

    DONE = "done"
    GONE = "gone"  # the segment is not there any more: the site was mined again
    CHANGED = "changed"  # somebody else has revised it meanwhile
    UNEVEN = "uneven"  # the two sides have another number of lines
    EMPTY = "empty"  # a side has no text
    LONG = "long"


class Writer(NamedTuple):
    """Who writes, and when."""

    name: str
    at: float  # seconds since the epoch


class SegmentReview:
    """What people make of segments. The methods that change something take the rows of a page pair, as `rows` made them."""

    def __init__(self, path: Path) -> None:
        """The file of verdicts."""
        self._verdicts = VerdictHistory(path)
        self._revisions = RevisionHistory(path)

    def rows(self, segments: Sequence[SegmentPair], thresholds: Thresholds) -> tuple[ReadSegment, ...]:
        """The segments of two pages in the order of the text, revisions in the place of what they replace."""
        keys = [segment_key(pair.a.text, pair.b.text) for pair in segments]
        revisions = {given.revision.keys: given for given in self._revisions.standing(set(keys))}
        places = RevisionPlaces(given.revision for given in revisions.values())
        drafts = [draft for place in places.of(keys) for draft in _drafts(place, segments, revisions)]
        judgements = self._verdicts.judgements(SubjectKind.SEGMENT, {draft.key for draft in drafts})
        comments = self._revisions.comments(SubjectKind.SEGMENT, set(keys))
        earlier: Counter[str] = Counter()
        rows = []
        for number, draft in enumerate(drafts):
            mined = tuple(keys[draft.place.start : draft.place.stop])
            row = read_segment(draft.pair, draft.key, number, judgements.get(draft.key, Judgement()), thresholds)
            is_pending = draft.revision is not None and row.verdict is not Verdict.ACCEPT
            rows.append(
                msgspec.structs.replace(
                    row,
                    left_out=Rejection.NOT_ACCEPTED if is_pending else row.left_out,
                    repeat=earlier[draft.key],
                    keys=mined,
                    start=draft.place.start,
                    revision=draft.revision,
                    part=draft.part,
                    comments=comments.get(mined[0], ()) if not draft.part else (),
                )
            )
            earlier[draft.key] += 1
        return tuple(rows)

    def edit(self, rows: Sequence[ReadSegment], at: int, texts: tuple[str, str], by: Writer) -> Saved:
        """Give the segment at that place other texts. A line break on both sides splits it.

        The texts that it was mined with take the revision back.
        """
        lines_a, lines_b = ([one_line(line) for line in text.splitlines() if line.strip()] for text in texts)
        if not lines_a or not lines_b:
            return Saved.EMPTY
        if len(lines_a) != len(lines_b):
            return Saved.UNEVEN
        if max(map(len, (*lines_a, *lines_b))) > MOST_CHARACTERS:
            return Saved.LONG
        row, group = rows[at], _group(rows, at)
        before, after = _texts(group[: row.part]), _texts(group[row.part + 1 :])
        return self._save(group, (*before, *zip(lines_a, lines_b, strict=True), *after), by)

    def join(self, rows: Sequence[ReadSegment], at: int, languages: tuple[Language, Language], by: Writer) -> Saved:
        """Make one segment of the one at that place and the next."""
        if at + 1 >= len(rows):
            return Saved.GONE
        first, second = rows[at], rows[at + 1]
        texts = zip((first.text_a, first.text_b), (second.text_a, second.text_b), languages, strict=True)
        one_a, one_b = (joined_text(text, following, language) for text, following, language in texts)
        if max(len(one_a), len(one_b)) > MOST_CHARACTERS:
            return Saved.LONG
        group = _group(rows, at)
        whole = group if second.part else (*group, *_group(rows, at + 1))
        before = whole.index(first)
        return self._save(whole, (*_texts(whole[:before]), (one_a, one_b), *_texts(whole[before + 2 :])), by)

    def restore(self, row: ReadSegment, by: Writer) -> Saved:
        """Take back the revision that the segment has: the one before holds again, or the texts as they were mined."""
        if row.revision is None or self._revisions.undo(row.revision.id, by.name, by.at) is None:
            return Saved.CHANGED
        return Saved.DONE

    def comment(self, row: ReadSegment, text: str, by: Writer) -> Saved:
        """An empty text is none."""
        if not text.strip():
            return Saved.EMPTY
        if len(text) > MOST_CHARACTERS:
            return Saved.LONG
        self._revisions.comment(SubjectKind.SEGMENT, row.keys[0], text.strip(), by.name, by.at)
        return Saved.DONE

    def undo_comment(self, number: int, by: Writer) -> bool:
        """False if it is not that person's, or is gone."""
        return self._revisions.undo_comment(number, by.name, by.at)

    def _save(self, group: Sequence[ReadSegment], texts: Texts, by: Writer) -> Saved:
        mined = tuple(key for row in group if not row.part for key in row.keys)
        originals = tuple(text for row in group if not row.part for text in _mined_texts(row))
        seen = group[0].revision
        seen_id = seen.id if seen is not None and seen.revision.keys == mined else 0
        if texts == originals:
            done = not seen_id or self._revisions.undo(seen_id, by.name, by.at) is not None
            return Saved.DONE if done else Saved.CHANGED
        urls = group[0].urls
        number = self._revisions.revise(Revision(mined, texts), originals, urls, by.name, by.at, seen=seen_id)
        return Saved.CHANGED if number is None else Saved.DONE


class _Draft(NamedTuple):
    """A row before people's words are added to it."""

    key: str
    pair: SegmentPair
    place: Place
    revision: GivenRevision | None = None
    part: int = 0


def _drafts(
    place: Place, segments: Sequence[SegmentPair], revisions: Mapping[tuple[str, ...], GivenRevision]
) -> list[_Draft]:
    given = revisions[place.revision.keys] if place.revision else None
    pairs = rewritten(segments[place.start : place.stop], place.revision) if place.revision else [segments[place.start]]
    return [_Draft(segment_key(pair.a.text, pair.b.text), pair, place, given, part) for part, pair in enumerate(pairs)]


def _group(rows: Sequence[ReadSegment], at: int) -> tuple[ReadSegment, ...]:
    """The rows that stand for the same mined segments as that one: several if it was split."""
    return tuple(row for row in rows if row.start == rows[at].start)


def _texts(rows: Sequence[ReadSegment]) -> Texts:
    return tuple((row.text_a, row.text_b) for row in rows)


def _mined_texts(row: ReadSegment) -> Texts:
    return row.revision.originals if row.revision else ((row.text_a, row.text_b),)
