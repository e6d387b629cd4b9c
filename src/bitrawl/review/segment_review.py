"""The segments of two pages as people review them: with verdicts, comments, and texts that somebody wrote anew."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import msgspec

from bitrawl.mining import Rejection, RevisionPlace, RevisionPlaces, Thresholds, joined_text, rejection, rewritten
from bitrawl.model import Language, Revision, SegmentPair, Verdict, segment_key
from bitrawl.store.revisions import Comment, GivenRevision, RevisionHistory, Texts
from bitrawl.store.samples import Samples
from bitrawl.store.verdicts import Judgement, Subject, SubjectKind, VerdictHistory
from bitrawl.text.words import one_line

MOST_CHARACTERS = 20_000  # of a text that somebody writes
_Revisions = Mapping[tuple[str, ...], GivenRevision]  # by the keys of the segments that they replace


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


def subject_of(row: ReadSegment) -> Subject:
    """What a verdict on it is about."""
    return Subject(SubjectKind.SEGMENT, row.key, *row.urls, row.text_a, row.text_b)


def as_corpus_has(row: ReadSegment, segments: Sequence[SegmentPair]) -> SegmentPair:
    """That row of a page pair with all that was measured, from the segments of the pair as they were mined."""
    mined = segments[row.start : row.start + len(row.keys)]
    return rewritten(mined, row.revision.revision)[row.part] if row.revision else mined[0]


def changed_rows(before: Sequence[ReadSegment], after: Sequence[ReadSegment], start: int = -1) -> list[ReadSegment]:
    """The rows of two pages that are new or say something else, with all parts of what was split; and those that begin with
    the segment at `start`.
    """
    known, now = _by_start(before), _by_start(after)
    return [row for row in after if row.start == start or known.get(row.start) != now[row.start]]


def _by_start(rows: Sequence[ReadSegment]) -> dict[int, list[object]]:
    content: dict[int, list[object]] = {}
    for row in rows:
        content.setdefault(row.start, []).append((row.key, row.keys, row.judgement, row.comments, row.revision))
    return content


class Saved(StrEnum):
    """What became of a text that somebody wrote."""

    DONE = "done"
    GONE = "gone"  # the segment is not there any more: the site was mined again
    CHANGED = "changed"  # somebody else has revised it meanwhile
    UNEVEN = "uneven"  # the two sides have another number of lines
    EMPTY = "empty"  # a side has no text
    LONG = "long"
    LAST = "last"  # there is no next one to join it with


def written_lines(texts: tuple[str, str]) -> Texts | Saved:
    """The segments that two texts are, line by line; or why they cannot be any."""
    lines_a, lines_b = ([one_line(line) for line in text.splitlines() if line.strip()] for text in texts)
    if not lines_a or not lines_b:
        return Saved.EMPTY
    if len(lines_a) != len(lines_b):
        return Saved.UNEVEN
    if max(map(len, (*lines_a, *lines_b))) > MOST_CHARACTERS:
        return Saved.LONG
    return tuple(zip(lines_a, lines_b, strict=True))


class Writer(NamedTuple):
    """Who writes, and when."""

    name: str
    at: float  # seconds since the epoch


class OnScreen(NamedTuple):
    """The row that somebody had before them."""

    key: str
    start: int = -1
    part: int = 0

    def place_in(self, rows: Sequence[ReadSegment]) -> "int | Saved":
        """Where it is now: at the same place, or else where the same two texts are. Its key says that they are the same."""
        place = next((row.place for row in rows if self == (row.key, row.start, row.part)), None)
        if place is None:
            place = next((row.place for row in rows if row.key == self.key), None)
        if place is not None:
            return place
        return Saved.CHANGED if any(row.start == self.start or self.key in row.keys for row in rows) else Saved.GONE


class MinedPair(NamedTuple):
    """The segments of two pages as they were mined."""

    segments: Sequence[SegmentPair]
    keys: Sequence[str]  # of all of them
    wanted: Collection[int] | None = None  # the places of those that are asked for; None for all


class SegmentReview:
    """What people make of segments. The methods that change something take the rows of a page pair, as `rows` made them."""

    def __init__(self, path: Path, reader: str = "") -> None:
        """The file of verdicts. The rows are without what others say in a sample that `reader` is judging."""
        self._reader = reader
        self._samples = Samples(path)
        self._verdicts = VerdictHistory(path)
        self._revisions = RevisionHistory(path)

    def rows(self, segments: Sequence[SegmentPair], thresholds: Thresholds) -> tuple[ReadSegment, ...]:
        """The segments of two pages in the order of the text, revisions in the place of what they replace."""
        keys = [segment_key(pair.a.text, pair.b.text) for pair in segments]
        [rows] = self.rows_of([MinedPair(segments, keys)], thresholds)
        return rows

    def rows_of(
        self, pairs: Sequence[MinedPair], thresholds: Thresholds, *, accepted: bool = False
    ) -> list[tuple[ReadSegment, ...]]:
        """The segments of many page pairs, or some of their rows. What people said is read once for all of them.

        With `accepted`, a revision is shown only if it is in the corpus: if people accept one of its texts.
        """
        mined = set(chain.from_iterable(pair.keys for pair in pairs))
        revisions: _Revisions = {given.revision.keys: given for given in self._revisions.standing(mined)}
        places = RevisionPlaces(given.revision for given in revisions.values())
        if accepted:
            revisions = self._accepted(revisions)
        drafts = [_wanted(pair, places, revisions) for pair in pairs]
        wanted = list(chain.from_iterable(drafts))
        people = _People(
            self._judgements({draft.key for draft in wanted}),
            self._revisions.comments(SubjectKind.SEGMENT, {draft.mined[0] for draft in wanted}),
        )
        return [tuple(_row(draft, people, thresholds) for draft in own) for own in drafts]

    def edit(self, rows: Sequence[ReadSegment], at: int, texts: tuple[str, str], by: Writer) -> Saved:
        """Give the segment at that place other texts. A line break on both sides splits it.

        The texts that it was mined with take the revision back.
        """
        lines = written_lines(texts)
        if isinstance(lines, Saved):
            return lines
        row, group = rows[at], _group(rows, at)
        before, after = _texts(group[: row.part]), _texts(group[row.part + 1 :])
        return self._save(group, (*before, *lines, *after), by)

    def join(
        self,
        rows: Sequence[ReadSegment],
        at: int,
        languages: tuple[Language, Language],
        by: Writer,
        *,
        following: str = "",
    ) -> Saved:
        """Make one segment of the one at that place and the next, if that has the key `following`, or none is given."""
        if at + 1 >= len(rows):
            return Saved.LAST
        first, second = rows[at], rows[at + 1]
        if following not in ("", second.key):
            return Saved.CHANGED
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

    def _judgements(self, keys: Iterable[str]) -> dict[str, Judgement]:
        judgements = self._verdicts.judgements(SubjectKind.SEGMENT, keys)
        hidden = self._samples.blind_to(self._reader) if self._reader else frozenset[int]()
        if not hidden:
            return judgements
        return {
            key: Judgement(
                tuple(given for given in judgement.opinions if given.by == self._reader or given.sample not in hidden)
            )
            for key, judgement in judgements.items()
        }

    def _accepted(self, revisions: _Revisions) -> _Revisions:
        """Those with a text that people accept."""
        keys = {own: {segment_key(*texts) for texts in given.revision.texts} for own, given in revisions.items()}
        verdicts = self._verdicts.of(SubjectKind.SEGMENT, chain.from_iterable(keys.values()))
        return {
            own: given
            for own, given in revisions.items()
            if any(verdicts.get(key) is Verdict.ACCEPT for key in keys[own])
        }

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
    mined: tuple[str, ...]  # keys
    start: int
    place: int = 0
    repeat: int = 0
    revision: GivenRevision | None = None
    part: int = 0


class _People(NamedTuple):
    """What they said about segments, by key."""

    judgements: Mapping[str, Judgement]
    comments: Mapping[str, tuple[Comment, ...]]


def _wanted(pair: MinedPair, places: RevisionPlaces, revisions: _Revisions) -> list[_Draft]:
    """All are counted, because the same texts may stand before those that are wanted."""
    if pair.wanted is not None and not revisions:
        chosen = ((n, pair.keys[n]) for n in sorted(pair.wanted) if 0 <= n < len(pair.keys))
        return [_Draft(key, pair.segments[n], (key,), n, n, pair.keys[:n].count(key)) for n, key in chosen]
    earlier: Counter[str] = Counter()
    drafts: list[_Draft] = []
    number = 0
    for place in places.of(pair.keys):
        for draft in _drafts(place, pair, revisions):
            stop = draft.start + len(draft.mined)
            if pair.wanted is None or any(one in pair.wanted for one in range(draft.start, stop)):
                drafts.append(draft._replace(place=number, repeat=earlier[draft.key]))
            earlier[draft.key] += 1
            number += 1
    return drafts


def _drafts(place: RevisionPlace, pair: MinedPair, revisions: _Revisions) -> list[_Draft]:
    start, stop, revision = place
    if revision is None or revision.keys not in revisions:
        return [_Draft(pair.keys[n], pair.segments[n], (pair.keys[n],), n) for n in range(start, stop)]
    new = rewritten(pair.segments[start:stop], revision)
    given = revisions[revision.keys]
    return [
        _Draft(segment_key(one.a.text, one.b.text), one, revision.keys, start, revision=given, part=part)
        for part, one in enumerate(new)
    ]


def _row(draft: _Draft, people: _People, thresholds: Thresholds) -> ReadSegment:
    pair, judgement = draft.pair, people.judgements.get(draft.key, Judgement())
    is_pending = draft.revision is not None and judgement.standing is not Verdict.ACCEPT
    return ReadSegment(
        draft.key,
        draft.place,
        pair.a.text,
        pair.b.text,
        pair.score,
        pair.type,
        pair.flags,
        judgement.standing,
        left_out=Rejection.NOT_ACCEPTED if is_pending else rejection(pair, thresholds),
        repeat=draft.repeat,
        urls=(str(pair.url_a), str(pair.url_b)),
        keys=draft.mined,
        start=draft.start,
        revision=draft.revision,
        part=draft.part,
        judgement=judgement,
        comments=() if draft.part else people.comments.get(draft.mined[0], ()),
    )


def _group(rows: Sequence[ReadSegment], at: int) -> tuple[ReadSegment, ...]:
    """The rows that stand for the same mined segments as that one: several if it was split."""
    return tuple(row for row in rows if row.start == rows[at].start)


def _texts(rows: Sequence[ReadSegment]) -> Texts:
    return tuple((row.text_a, row.text_b) for row in rows)


def _mined_texts(row: ReadSegment) -> Texts:
    return row.revision.originals if row.revision else ((row.text_a, row.text_b),)
