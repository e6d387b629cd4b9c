"""What people do with a corpus: they list, search and judge it, write texts anew, draw samples, and choose thresholds."""

from typing import TYPE_CHECKING

from bitrawl.doors import door

if TYPE_CHECKING:
    from bitrawl.review.job_review import JobReview
    from bitrawl.review.queue import ReviewOrder, ReviewProgress
    from bitrawl.review.results import SampleResults, SpreadSample, human_reviews
    from bitrawl.review.reviewing import ListedPair, PairList, ReadPair
    from bitrawl.review.search_query import SearchQuery
    from bitrawl.review.searching import FoundSegment, Hit, HitList
    from bitrawl.review.segment_list import LengthUnit, SegmentFilter, SegmentOrder, SegmentRows, SegmentState
    from bitrawl.review.segment_review import ReadSegment, Saved
    from bitrawl.review.selection import Rule, RuleFacts
    from bitrawl.review.statistics import ReviewerAgreement
    from bitrawl.review.thresholds import CorpusSelection, selections
    from bitrawl.store.index_reader import LanguageOrder, PairFilter, PairOrder, VerdictState
    from bitrawl.store.samples import Sample, SampleRequest
    from bitrawl.store.verdicts import GivenVerdict, Judgement, SubjectKind
else:
    __getattr__ = door(__name__)
