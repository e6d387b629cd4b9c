"""What people do with the corpus of one job, as one object: the way of the web app into this room and the store below it."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from bitrawl.mining import Thresholds
from bitrawl.model import Verdict, segment_key
from bitrawl.review import searching
from bitrawl.review import thresholds as job_thresholds
from bitrawl.review.queue import ReviewOrder, ReviewProgress, ReviewQueue, review_progress, review_queue
from bitrawl.review.results import SampleResults, results
from bitrawl.review.reviewing import Reading, ReadPair
from bitrawl.review.search_query import ANYWHERE, SearchQuery
from bitrawl.review.segment_list import MOST_AT_ONCE, NO_FLAG, SegmentFilter, SegmentList, fitting_rows
from bitrawl.review.segment_review import (
    MOST_CHARACTERS,
    OnScreen,
    ReadSegment,
    Saved,
    Writer,
    changed_rows,
    subject_of,
    written_lines,
)
from bitrawl.review.thresholds import ThresholdSight, version_of
from bitrawl.store.folder import JobFolder
from bitrawl.store.index_reader import LanguageOrder
from bitrawl.store.reading_index import index_signature, is_due
from bitrawl.store.revisions import RevisionHistory
from bitrawl.store.samples import Sample, Samples, SampleUnit
from bitrawl.store.verdicts import GivenVerdict, Judgement, Subject, SubjectKind, VerdictHistory


class JobReview:
    """As one person sees it. Nothing is kept open, so the threads of a server can share it."""

    NO_FLAG = NO_FLAG
    ANYWHERE = ANYWHERE
    MOST_AT_ONCE = MOST_AT_ONCE
    MOST_CHARACTERS = MOST_CHARACTERS
    version_of = staticmethod(version_of)

    def __init__(self, folder: JobFolder, person: str = "", now: Callable[[], float] = time.time) -> None:
        """What others say in a sample that `person` is judging is not told."""
        self.folder = folder
        self.person = person
        self.lists = Reading(folder, person)
        self.segments = SegmentList(self.lists)
        self.samples = Samples(folder.verdicts)
        self.verdicts = VerdictHistory(folder.verdicts)
        self.revisions = RevisionHistory(folder.verdicts)
        self._now = now

    @property
    def is_due(self) -> bool:
        """Whether something was mined since the index was made. Raises `StoreError` where there is no ledger."""
        return is_due(self.folder.path)

    @property
    def has_index(self) -> bool:
        return bool(index_signature(self.folder.reading_index))

    def search(self, query: SearchQuery, offset: int, limit: int) -> searching.HitList:
        """A part of the hits. Raises `FieldError` for a query that cannot be read."""
        return searching.search(self.lists, query, offset=offset, limit=limit)

    def hits(self, query: SearchQuery) -> Iterator[searching.FoundSegment]:
        """All hits, as they are found. Raises `FieldError`."""
        return searching.all_hits(self.lists, query)

    def queue(self, order: ReviewOrder, seed: int, languages: LanguageOrder | None) -> ReviewQueue:
        return review_queue(self.folder, order, seed, languages)

    def progress(self) -> ReviewProgress:
        return review_progress(self.folder)

    def results(self, sample: Sample) -> SampleResults | None:
        """None while somebody is judging: nobody sees what others say before all are through."""
        return results(self.samples, self.verdicts, sample) if sample.is_through else None

    def sight(self, thresholds: Thresholds | None = None, languages: str = "") -> ThresholdSight:
        """What thresholds let in; without any, the job's own. With `languages`, as in "en-fr", of that corpus alone."""
        return ThresholdSight(self.folder, thresholds, languages)

    def keep_thresholds(self, changed: Mapping[str, Any], version: str = "") -> Thresholds:
        """Make these values of the table [judge] the job's. See `thresholds.keep` for what it raises."""
        return job_thresholds.keep(self.folder, changed, version)

    # What this person says and writes

    def say(self, kind: SubjectKind, key: str, within: str, verdict: Verdict) -> bool:
        """A verdict on a page pair, or on a segment of the page pair `within`. False if it is not there (any more)."""
        if kind is SubjectKind.PAIR:
            return self.lists.judge_pair(key, verdict, self.person, self._now())
        return self.lists.judge_segment(within, key, verdict, self.person, self._now())

    def say_all(self, subjects: Sequence[Subject], verdict: Verdict) -> int:
        """One verdict on many things, which can be taken back at once. Returns how many it changed."""
        return self.verdicts.say_all(subjects, verdict, self.person, self._now())

    def undo(self, kind: SubjectKind, key: str) -> tuple[GivenVerdict, ...]:
        return self.verdicts.undo(kind, key, self.person, self._now())

    def undo_last(self, batch: int | None = None) -> tuple[GivenVerdict, ...]:
        """Take back what this person said last, one verdict or all that were given at once; or all of that batch."""
        if batch is None:
            return self.verdicts.undo_last(self.person, self._now())
        return self.verdicts.undo_batch(batch, self.person, self._now())

    def resolve(self, kind: SubjectKind, key: str, verdict: Verdict) -> bool:
        """Decide between people who differ. False if they do not, or do not any more."""
        return self.verdicts.resolve(kind, key, verdict, self.person, self._now())

    def differs_since(self, key: str, verdict: Verdict, at: float) -> bool:
        """Whether somebody else has said the contrary about that page pair since then."""
        opinions = self.verdicts.judgements(SubjectKind.PAIR, [key]).get(key, Judgement()).opinions
        return any(given.by != self.person and given.at > at and given.verdict is not verdict for given in opinions)

    def judge_sample(self, sample: Sample, verdicts: Mapping[SampleUnit, Verdict | None]) -> bool:
        """False if this person does not judge the sample, or has finished it. None takes a verdict back."""
        return self.samples.judge(sample, verdicts, self.person, self._now())

    def finish(self, sample: Sample, *, everybody: bool = False) -> None:
        self.samples.finish(sample, self._now(), person=None if everybody else self.person)

    def remove(self, sample: Sample) -> None:
        self.samples.remove(sample, self.person, self._now())

    def subjects(self, wanted: SegmentFilter, *, within: str = "", keys: Iterable[str] | None = None) -> list[Subject]:
        """Of the segments that a filter shows, on the two pages of `within` or in the whole job. Raises `FieldError`.

        With `keys`, those of them that have one.
        """
        if not within:
            return self.segments.subjects(wanted, keys)
        pair = self.lists.pair(within)
        return [subject_of(row) for row in self.fitting(pair, wanted)] if pair else []

    @staticmethod
    def fitting(pair: ReadPair, wanted: SegmentFilter) -> tuple[ReadSegment, ...]:
        """The rows of two pages that fit. Raises `FieldError`."""
        return fitting_rows(pair.segments, wanted, (pair.pair.row.lang_a, pair.pair.row.lang_b))

    def change(self, act: str, within: str, row: tuple[str, int, int], given: Mapping[str, str]) -> Saved:
        """Write into a segment of two pages: save or accept other texts, join it with the next, restore it, or comment.

        `row` is its key, start and part, as they were on the screen. A join may name the key of the next, `following`.
        Raises `LookupError` for another act.
        """
        pair = self.lists.pair(within)
        if pair is None:
            return Saved.GONE
        at = OnScreen(*row).place_in(pair.segments)
        if isinstance(at, Saved):
            return at
        rows, review, by = pair.segments, self.lists.review, Writer(self.person, self._now())
        match act:
            case "save" | "accept":
                texts = given.get("text_a", ""), given.get("text_b", "")
                saved, lines = review.edit(rows, at, texts, by), written_lines(texts)
                if act == "accept" and saved is Saved.DONE and not isinstance(lines, Saved):
                    urls = rows[at].urls
                    new = [Subject(SubjectKind.SEGMENT, segment_key(*both), *urls, *both) for both in lines]
                    self.verdicts.say_all(new, Verdict.ACCEPT, by.name, by.at)
                return saved
            case "join":
                languages = pair.pair.row.lang_a, pair.pair.row.lang_b
                return review.join(rows, at, languages, by, following=given.get("following", ""))
            case "restore":
                return review.restore(rows[at], by)
            case "comment":
                return review.comment(rows[at], given.get("text", ""), by)
        raise LookupError(act)

    def undo_comment(self, number: int) -> bool:
        """False if it is not this person's, or is gone."""
        return self.revisions.undo_comment(number, self.person, self._now())

    @staticmethod
    def changed(before: ReadPair, after: ReadPair, start: int) -> list[ReadSegment]:
        """The rows that are new or say something else, and those that begin with the segment at `start`."""
        return changed_rows(before.segments, after.segments, start)

    @staticmethod
    def place_of(row: tuple[str, int, int], rows: Sequence[ReadSegment]) -> int | None:
        """Where a row that was on the screen is now: itself, or else what stands for the same segment."""
        place = OnScreen(*row).place_in(rows)
        if not isinstance(place, Saved):
            return place
        return next((other.place for other in rows if other.start == row[1]), None)
