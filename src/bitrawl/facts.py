"""What is known about a job, as values; status, report, card, app and cluster only format it.

There are three levels. `Live` is what can be asked each second, however large the job is (`job/live_facts.py`). `JobFacts` as
`status` makes it reads every link; for a report it is filled with what takes a pass over all findings (`job/reporting.py`).
All ask the same questions of the ledger (`store/ledger_facts.py`).
"""

from collections import Counter
from enum import StrEnum

import msgspec

from bitrawl.config import Job
from bitrawl.corpus import HumanReview
from bitrawl.endings import LastRun, State
from bitrawl.languages import asked_language
from bitrawl.model import Language, PagePair, Relevance, SegmentPair
from bitrawl.reasons import LeaveReason, Reason
from bitrawl.topic.settings import TopicModel, TopicSection

LITTLE_RELEVANT = 0.05  # of the pages: a site or a job with a smaller share needs an explanation
MOST_QUEUED = 100_000  # links are counted up to here while somebody watches
BINS = 20  # of a histogram from 0 to 1

Histogram = tuple[int, ...]
"""Counts of values between 0 and 1, in `BINS` bins of the same width."""

Points = tuple[tuple[int, int], ...]
"""The points of a curve: visits so far, count so far."""


class HostCount(msgspec.Struct, frozen=True):
    host: str
    fetches: int
    pages: int
    seconds: float  # mean time of an answer


class RoundFacts(msgspec.Struct, frozen=True):
    """One visit to everything that a job knows, and what it brought. The first crawl of a job is round 1."""

    number: int
    began: float  # seconds since the epoch
    last: float  # the date of its last fetch, so far
    requests: int  # that were answered
    bytes: int  # of the bodies
    unchanged: int  # answers that were as before
    new: int  # pages
    changed: int
    gone: int
    pages: int  # at its end, or now
    pairs: int | None = None  # page pairs, the same; None if they are not known
    units: int | None = None  # of the corpus, the same


class SkipCount(msgspec.Struct, frozen=True):
    """The number of things that were skipped at one stage for one reason, and the first of them."""

    stage: str
    reason: str
    count: int
    url: str
    detail: str
    statuses: dict[int, int] = {}  # how many got each HTTP status; redirects and errors only
    guessed: int = 0  # of them, addresses that the strategy only tried: no page has a link to them

    @property
    def name(self) -> str:
        return f"{self.stage}: {self.reason}"


class CrawlSummary(msgspec.Struct, frozen=True, kw_only=True):
    """Each link is queued, a page, or skipped for a reason: `links` is the sum of the three.

    The crawler's own requests (sitemaps and probes) are not links. `own_requests` counts those that are done, and
    nothing else does.
    """

    queued: int  # waiting or in flight
    pages: int
    skipped: int
    own_requests: int
    languages: dict[str, int]  # pages, the most frequent first
    types: dict[str, int]  # pages by kind of document, the most frequent first
    rendered: int  # pages that a browser has drawn
    scripted: int  # pages and skips that look drawn by scripts, and that no browser has drawn
    skips: dict[str, int]  # by "stage: reason"
    fetches: int  # visits, the lines of the log: requests, and links that robots.txt forbids
    answers: int  # requests that a server answered, with any status
    unanswered: dict[str, int]  # requests without an answer, by reason
    bytes: int
    relevant: int | None  # pages about the topic; None in a job without one
    began: float  # the first fetch, in seconds since the epoch; 0 if there was none
    finished: float  # the last one
    hosts: list[HostCount]  # the busiest
    run: LastRun

    @property
    def requests(self) -> int:
        return self.answers + sum(self.unanswered.values())

    @property
    def links(self) -> int:
        return self.queued + self.pages + self.skipped

    @property
    def ended(self) -> str:
        """Why the last run ended; empty while it runs or if it was killed."""
        return str(self.run.ended or "")

    @property
    def mining(self) -> str:
        """What is being mined; empty if nothing is."""
        return str(self.run.doing or "")

    @property
    def seconds(self) -> float:
        return self.run.seconds

    @property
    def skip_reasons(self) -> dict[Reason, int]:
        """The number of skipped links by reason, from all stages, the most frequent first."""
        counts: Counter[Reason] = Counter()
        for key, count in self.skips.items():
            counts[Reason(key.rpartition(" ")[2])] += count
        return dict(counts.most_common())

    def skipped_for(self, reason: Reason) -> int:
        return self.skip_reasons.get(reason, 0)


class Curve(msgspec.Struct, frozen=True):
    """How something grew with the number of fetches."""

    name: str
    points: Points


class CrawlFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the ledger says about the crawl."""

    summary: CrawlSummary
    faults: tuple[SkipCount, ...] = ()  # what could not be mined
    growth: tuple[Curve, ...] = ()  # pages by language
    skips: tuple[SkipCount, ...] = ()
    slowest: tuple[HostCount, ...] = ()
    off_site: dict[str, int] = {}  # links by the site that they lead to
    declared_off_site: dict[str, int] = {}  # declared translations among these links


class LanguagePair(msgspec.Struct, frozen=True):
    """What was found for two languages."""

    lang_a: Language
    lang_b: Language
    pairs: int  # of pages
    partial: int  # pairs that are translated in part
    segments: int  # aligned, good or not
    units: int = 0  # in the corpus as it was written last

    @property
    def name(self) -> str:
        return f"{self.lang_a}-{self.lang_b}"


class MethodCount(msgspec.Struct, frozen=True):
    """The number of pairs with evidence by one method."""

    letter: str
    pairs: int
    alone: int  # pairs with no evidence by another method


class RefusalCount(msgspec.Struct, frozen=True):
    """The number of pairs that were refused for one reason, and one of them."""

    reason: str
    count: int
    url_a: str
    url_b: str


class SiteFacts(msgspec.Struct, frozen=True):
    """A site that was mined."""

    site: str
    pages: int
    pairs: int
    left: LeaveReason = ""  # why the strategy left it
    patterns: dict[str, int] = {}


class PairSample(msgspec.Struct, frozen=True):
    """A random page pair, with the titles of its pages."""

    pair: PagePair
    title_a: str
    title_b: str


class SegmentSample(msgspec.Struct, frozen=True):
    """A random segment pair of the corpus."""

    lang_a: Language
    lang_b: Language
    segment: SegmentPair


class MiningFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the ledger says about pairs and segments. Everything is empty if the job was only crawled."""

    begun: bool = False
    language_pairs: tuple[LanguagePair, ...] = ()  # those with the most pairs first
    harvest: tuple[Curve, ...] = ()  # complete pairs, by language pair
    methods: tuple[MethodCount, ...] = ()
    pair_scores: Histogram = (0,) * BINS
    segment_scores: dict[str, Histogram] = {}  # by name: score, length_ratio, coverage
    flags: dict[str, int] = {}
    flagged: int = 0  # segments with any flag
    types: dict[str, int] = {}
    refusals: tuple[RefusalCount, ...] = ()
    duplicates: int = 0
    duplicate_samples: tuple[tuple[str, str], ...] = ()
    sites: tuple[SiteFacts, ...] = ()
    pair_samples: tuple[PairSample, ...] = ()
    segment_samples: tuple[SegmentSample, ...] = ()

    @property
    def pairs(self) -> int:
        """The number of page pairs."""
        return sum(languages.pairs for languages in self.language_pairs)

    @property
    def partial(self) -> int:
        """The number of pairs that are translated in part: only their translated segments are in the corpus."""
        return sum(languages.partial for languages in self.language_pairs)

    @property
    def segments(self) -> int:
        """The number of segment pairs, before any threshold."""
        return sum(languages.segments for languages in self.language_pairs)


class Border(StrEnum):
    """Which pages to show of those that were compared with the topic."""

    BEST = "best"
    JUST_RELEVANT = "just-relevant"
    JUST_NOT = "just-not"
    DESPITE_SCORE = "despite-score"  # another threshold refused it


class TopicShare(msgspec.Struct, frozen=True):
    """How many of some pages are about the topic."""

    pages: int
    relevant: int


class TermPages(msgspec.Struct, frozen=True):
    """On how many of the pages that were read a term stands."""

    term: str
    pages: int
    relevant: int


class TopicExample(msgspec.Struct, frozen=True):
    """A page, and what says that it is about the topic or not."""

    url: str
    title: str
    language: str
    relevance: Relevance
    terms: tuple[str, ...]  # the first ones
    why: str = ""  # why it was refused
    other: str = ""  # the other page of the refused pair, or the one that it repeats


class SiteShare(msgspec.Struct, frozen=True):
    site: str
    share: TopicShare
    left: LeaveReason  # why the strategy left it; empty if it did not


class TermsRead(msgspec.Struct, frozen=True):
    """What the pages say that were read for their terms."""

    pages: int = 0
    whole: bool = True  # all pages were read, not only a sample
    with_terms: int = 0
    terms: tuple[TermPages, ...] = ()  # those on the most pages
    different: int = 0  # terms found on any page
    classes: dict[str, int] = {}  # pages
    refused: int = 0  # pages in the languages of the job that have terms and are not relevant
    missed: dict[str, int] = {}  # of these, by the name of the threshold that they do not reach


class ListFacts(msgspec.Struct, frozen=True):
    """What may be wrong with a term list."""

    languages: dict[str, int]  # terms
    looks_like: dict[str, str] = {}  # by the language of the terms, that which they seem to be in, where it differs
    searched: int = 0  # pages; only if no page has a term in its text
    in_boilerplate: int = 0  # pages with terms in their boilerplate


class TopicSource(msgspec.Struct, frozen=True):
    """What the topic was learned from."""

    files: int = 0
    bytes: int = 0
    examples: int = 0  # pages that the user named, seeds among them
    unread: dict[str, str] = {}  # those that taught nothing, and why


class TopicFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the ledger says about the topic."""

    asked: TopicSection
    model: TopicModel
    threshold: float  # of the score
    languages: dict[str, TopicShare] = {}  # by language as found
    growth: tuple[Points, Points] = ((), ())  # all pages, and the relevant ones
    scores: Histogram = (0,) * BINS
    lowest_perplexity: float | None = None
    read: TermsRead = TermsRead()
    examples: dict[Border, tuple[TopicExample, ...]] = {}
    refused: tuple[TopicExample, ...] = ()
    paid: tuple[SiteShare, ...] = ()
    unpaid: tuple[SiteShare, ...] = ()
    given: TopicSource = TopicSource()
    listed: ListFacts | None = None  # only if a language of the job has no relevant page

    @property
    def judged(self) -> int:
        return sum(share.pages for share in self.languages.values())

    @property
    def relevant(self) -> int:
        return sum(share.relevant for share in self.languages.values())


class WrittenCorpus(msgspec.Struct, frozen=True):
    """What was written of one corpus, by `corpus/summary.json`: units of two languages, or documents of one."""

    pairs: int = 0  # of pages
    partial: int = 0  # pairs that are translated in part
    units: int = 0
    occurrences: int = 0  # how many occurrences the units represent
    refused: dict[str, int] = {}  # segment pairs by what kept them out: a threshold, or a person
    documents: int | None = None  # None in a corpus of two languages
    paragraphs: int = 0
    words: int = 0
    verdicts: int = 0  # that people had given and taken back before
    thresholds: dict[str, object] = {}  # by the keys of [judge]
    personal_data: dict[str, int] = {}  # by kind: replaced, or in what was left out

    @property
    def merged(self) -> int:
        """Occurrences that are not units of their own."""
        return self.occurrences - self.units


class LogLine(msgspec.Struct, frozen=True):
    """One fetch. The names of the fields are part of the output format and stay as they are."""

    seq: int
    url: str
    status: int
    language: str | None
    kind: str
    score: float
    bytes: int
    at: float
    took: float
    attempt: int
    outcome: str  # "page", or why it was skipped
    relevance: float | None = None  # 0 to 1; only in jobs with a topic
    relevant: bool | None = None
    perplexity: float | None = None  # only with a language model


class HarvestPoint(msgspec.Struct, frozen=True):
    """The pages of each language after so many fetches."""

    fetches: int
    pages: dict[str, int]


class Live(msgspec.Struct, frozen=True, kw_only=True):
    """What can be had each second of a job of any size. All zero before it has a ledger."""

    at: float = 0.0  # when this was taken, in seconds since the epoch
    fetches: int = 0  # all lines of the log
    pages: int = 0
    bytes: int = 0  # of the fetches that were counted
    sites: int = 0
    languages: dict[str, int] = {}  # pages, the most frequent language first
    relevant: int | None = None  # pages about the topic; None in a job without one
    pairs: dict[str, int] = {}  # of pages, by languages: "en-fr"
    partial: int = 0  # pairs that are translated in part
    segments: int = 0  # aligned, good or not
    units: dict[str, int] = {}  # in the corpus as it was written last, by languages
    queued: int = 0  # waiting or in flight; `MOST_QUEUED` means that many or more
    rate: float = 0.0  # fetches in a minute, over the last minute
    doing: str = ""  # what is being mined now: "aligning example.org (3 of 10 en-fr pairs)"
    ended: str = ""  # how the crawl ended
    seconds: float = 0.0  # that were crawled, in all runs; written down every few seconds
    skips: dict[str, int] = {}  # fetches that brought no page, by reason, the most frequent first
    harvest: tuple[HarvestPoint, ...] = ()
    counted: int = (
        0  # fetches that bytes, skips and harvest tell about; below all of them while the counting catches up
    )
    log: tuple[LogLine, ...] = ()  # the last fetches, the oldest first
    faults: dict[str, int] = {}  # what could not be mined, by "stage: reason"
    fault: str = ""  # what cannot be read, and why: the ledger, or what was written of the corpus


class JobFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One moment of a job. What only a report needs is empty where `status` reads it: that takes a pass over all findings."""

    folder: str
    running: bool  # a process is working in the folder now
    crawled: CrawlFacts
    mined: MiningFacts
    written: dict[str, WrittenCorpus] = {}  # by name: "en-fr"; empty before the first is written
    damage: str = ""  # why nothing is known of what was written, and what to run
    reviewed: dict[str, HumanReview] = {}  # by name; corpora of which no random sample was judged are not included
    killed: int = 0  # pages, page pairs and sites that are left out only until the next run
    asked: Job = Job()
    files: dict[str, int] = {}  # in the folder corpus/, by name: bytes, 0 for a folder
    topic: TopicFacts | None = None  # None in a job without one
    rounds: tuple[RoundFacts, ...] = ()  # empty while the job is in its first

    @property
    def crawl(self) -> CrawlSummary:
        return self.crawled.summary

    @property
    def ended(self) -> str:
        """How the last run ended."""
        return self.crawl.ended

    @property
    def verb(self) -> str:
        """The command that was run last, and that resumes the job."""
        return self.crawl.run.verb

    @property
    def faults(self) -> dict[str, int]:
        """What could not be mined, by "stage: reason"."""
        return {fault.name: fault.count for fault in self.crawled.faults}

    @property
    def state(self) -> State:
        if self.running:
            return State.RUNNING
        return self.crawl.run.state

    @property
    def corpora(self) -> dict[str, LanguagePair]:
        """What was found so far for each pair of languages, by name: "en-fr"."""
        return {pair.name: pair for pair in sorted(self.mined.language_pairs, key=lambda pair: pair.name)}

    @property
    def without_files(self) -> list[str]:
        """The names of the corpora for which nothing was found, if there are several."""
        several = len(self.written) > 1
        return [name for name, corpus in self.written.items() if several and not corpus.pairs and not corpus.units]

    @property
    def languages(self) -> dict[str, int]:
        """Pages by requested language, each page once."""
        return self._by_request(self.crawl.languages)

    @property
    def relevant_languages(self) -> dict[str, int]:
        """Pages about the topic by requested language; all pages in a job without a topic."""
        if self.topic is None:
            return self.languages
        return self._by_request({code: share.relevant for code, share in self.topic.languages.items()})

    def _by_request(self, pages: dict[str, int]) -> dict[str, int]:
        counts = dict.fromkeys(self.asked.langs, 0)
        for language, count in pages.items():
            if (request := self.asked_as(language)) is not None:
                counts[request] += count
        return counts

    def asked_as(self, language: str) -> str | None:
        """Which requested language accepts a page in that language; None if none does."""
        return asked_language(Language(language), [Language(code) for code in self.asked.langs])
