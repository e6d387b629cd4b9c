"""The figures and samples of a job, collected from its ledger in one pass over what was found."""

import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from bitrawl.config import ExportSection, Thresholds, TopicSection
from bitrawl.errors import StoreError
from bitrawl.languages import asked_language
from bitrawl.mine.judging import ThresholdFilter
from bitrawl.model import Language, PagePair, SegmentPair, Verdict, Verdicts
from bitrawl.report.job.counting import BINS, Bins, Histogram, Points, Reservoir, SpreadSample, Steps
from bitrawl.report.job.topic_facts import TopicFacts, TopicOfJob, gather_topic
from bitrawl.store import statistics
from bitrawl.store.database import is_locked
from bitrawl.store.findings import Findings
from bitrawl.store.ledger import Ledger
from bitrawl.store.statistics import FetchOrder, RefusalCount, SkipCount
from bitrawl.store.summary import HostSummary, Summary, summarise
from bitrawl.store.verdicts import VERDICTS, VerdictHistory

PAIR_SAMPLES = 4  # per language pair; judgement
SEGMENT_SAMPLES = 30  # of the whole corpus: enough to see a fault that one in ten has
SAMPLED = 8  # language pairs with samples, those with the most pairs; judgement
ROWS = 10  # of a table whose rows come from the web; judgement


class Asked(msgspec.Struct, frozen=True):
    """The part of the job file that a reader wants to know."""

    langs: list[str] = []
    seeds: list[str] = []
    strategy: str = ""
    replay: list[str] = []
    warc: list[str] = []
    budget: dict[str, float] = {}
    judge: Thresholds = Thresholds()
    export: ExportSection = ExportSection()
    topic: TopicSection = TopicSection()


class Curve(msgspec.Struct, frozen=True):
    """How something grew with the number of fetches."""

    name: str
    points: Points


class LanguagePair(msgspec.Struct, frozen=True):
    """What was found for two languages."""

    lang_a: Language
    lang_b: Language
    pairs: int
    segments: int


class MethodCount(msgspec.Struct, frozen=True):
    """The number of pairs with evidence by one method."""

    letter: str
    pairs: int
    alone: int  # pairs with no evidence by another method


class SiteFacts(msgspec.Struct, frozen=True):
    site: str
    pages: int
    pairs: int
    left: str = ""  # why the strategy left it
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


class CrawlFacts(msgspec.Struct, frozen=True):
    """What the ledger says about the crawl."""

    summary: Summary
    began: float  # the first fetch, in seconds since the epoch; 0 if there was none
    finished: float
    growth: tuple[Curve, ...]  # pages by language
    skips: tuple[SkipCount, ...]
    faults: tuple[SkipCount, ...]  # what could not be mined
    slowest: tuple[HostSummary, ...]
    off_site: dict[str, int]  # links by the site that they lead to
    declared_off_site: dict[str, int]  # declared translations among these links

    @property
    def lost(self) -> int:
        """How many things could not be mined."""
        return sum(fault.count for fault in self.faults)


class MiningFacts(msgspec.Struct, frozen=True):
    """What the ledger says about pairs and segments. Everything is empty if the job was only crawled."""

    begun: bool = False
    language_pairs: tuple[LanguagePair, ...] = ()
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
        return sum(found.pairs for found in self.language_pairs)

    @property
    def segments(self) -> int:
        """The number of segment pairs, before any threshold."""
        return sum(found.segments for found in self.language_pairs)


class CorpusCount(msgspec.Struct, frozen=True):
    """What was written of one corpus, by `corpus/summary.json`: units of two languages, or documents of one."""

    pairs: int = 0  # of pages
    units: int = 0
    occurrences: int = 0  # how many occurrences the units represent
    refused: dict[str, int] = {}  # segment pairs by what kept them out: a threshold, or a person
    documents: int = 0
    paragraphs: int = 0
    words: int = 0

    @property
    def merged(self) -> int:
        """Occurrences that are not units of their own."""
        return self.occurrences - self.units


class Facts(msgspec.Struct, frozen=True):
    """Everything that a report says."""

    folder: str
    asked: Asked
    crawled: CrawlFacts
    mined: MiningFacts
    corpora: dict[str, CorpusCount] = {}  # by name: "en-fr"; empty before the first is written
    files: dict[str, int] = {}  # in the folder corpus/, by name: bytes, 0 for a folder
    running: bool = False  # A process is working in the folder now.
    topic: TopicFacts | None = None  # None in a job without one

    @property
    def without_files(self) -> list[str]:
        """The names of the corpora for which nothing was found, if there are several."""
        several = len(self.corpora) > 1
        return [name for name, one in self.corpora.items() if several and not one.pairs and not one.units]

    @property
    def languages(self) -> dict[str, int]:
        """Pages by requested language, each page once."""
        asked = dict.fromkeys(self.asked.langs, 0)
        for found, count in self.crawled.summary.languages.items():
            if (wanted := self.asked_as(found)) is not None:
                asked[wanted] += count
        return asked

    @property
    def relevant_languages(self) -> dict[str, int]:
        """Pages about the topic by requested language; all pages in a job without a topic."""
        if self.topic is None:
            return self.languages
        asked = dict.fromkeys(self.asked.langs, 0)
        for found, share in self.topic.languages.items():
            if (wanted := self.asked_as(found)) is not None:
                asked[wanted] += share.relevant
        return asked

    def asked_as(self, found: str) -> str | None:
        """Which requested language accepts a page in that language; None if none does."""
        return asked_language(Language(found), [Language(code) for code in self.asked.langs])


def gather(folder: Path) -> Facts:
    """The facts of the job in that folder, running or ended. Memory grows by 16 bytes per page."""
    asked, corpus = _asked(folder / "job.toml"), folder / "corpus"
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    try:
        with ledger.snapshot():
            crawled = _crawled(ledger)
            mined = _mined(ledger, asked, VerdictHistory(folder / VERDICTS).standing(), crawled.summary.fetches)
            job = TopicOfJob(asked.topic, asked.strategy, tuple(asked.langs), tuple(asked.seeds))
            topic = gather_topic(ledger, job, crawled.summary.fetches)
    finally:
        ledger.close()
    running = is_locked(folder / "job.sqlite")
    return Facts(str(folder), asked, crawled, mined, _corpora(corpus / "summary.json"), _files(corpus), running, topic)


def _asked(path: Path) -> Asked:
    try:
        return msgspec.convert(tomllib.loads(path.read_text("utf-8")), Asked)
    except FileNotFoundError:
        return Asked()  # A job that was run from Python may have no file.
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from error


def _corpora(path: Path) -> dict[str, CorpusCount]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, CorpusCount])
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from error


def _files(corpus: Path) -> dict[str, int]:
    try:
        entries = sorted(corpus.iterdir())
        drafts = (".new", ".old")  # of a corpus that is being written
        return {
            entry.name: 0 if entry.is_dir() else entry.stat().st_size for entry in entries if entry.suffix not in drafts
        }
    except FileNotFoundError:
        return {}  # nothing is written yet, or it is being replaced right now
    except OSError as error:
        raise StoreError(f"{corpus} cannot be read: {error.strerror}") from error


def _crawled(ledger: Ledger) -> CrawlFacts:
    summary, times = summarise(ledger, hosts=1), statistics.fetch_times(ledger)
    return CrawlFacts(
        summary=summary,
        began=times.first,
        finished=times.last,
        growth=_growth(ledger, summary),
        skips=tuple(statistics.skip_counts(ledger)),
        faults=tuple(statistics.fault_counts(ledger)),
        slowest=tuple(statistics.slowest_hosts(ledger, ROWS)),
        off_site=statistics.sites_linked_to(ledger, ROWS),
        declared_off_site=statistics.sites_linked_to(ledger, ROWS, declared=True),
    )


def _curves(steps: Steps) -> tuple[Curve, ...]:
    return tuple(Curve(name, points) for name, points in steps.curves().items())


def _growth(ledger: Ledger, summary: Summary) -> tuple[Curve, ...]:
    steps = Steps(summary.fetches)
    for language, seq in statistics.pages_in_order(ledger):
        steps.add(language, seq)
    return _curves(steps)


class _Pairs:
    """Counts pairs as they are read."""

    def __init__(self, order: FetchOrder, steps: Steps, verdicts: Verdicts) -> None:
        self._order = order
        self._verdicts = verdicts
        self.steps = steps
        self.scores = Bins()
        self.methods: Counter[str] = Counter()
        self.alone: Counter[str] = Counter()
        self.samples: dict[tuple[Language, Language], Reservoir[PagePair]] = {}

    def count(self, languages: tuple[Language, Language], pairs: Iterable[PagePair]) -> int:
        sample = self.samples[languages] = Reservoir[PagePair](PAIR_SAMPLES)
        total = 0
        for pair in pairs:
            total += 1
            if self._verdicts.of_pair(pair) is not Verdict.REJECT:
                sample.offer(pair)
            self.scores.add(pair.score)
            self.methods.update(pair.evidence.keys())
            if len(pair.evidence) == 1:
                self.alone.update(pair.evidence.keys())
            self.steps.add("-".join(languages), max(self._order(pair.url_a), self._order(pair.url_b)))
        return total

    def counts(self) -> tuple[MethodCount, ...]:
        return tuple(MethodCount(letter, count, self.alone[letter]) for letter, count in self.methods.most_common())


class _Segments:
    """Counts segment pairs as they are read."""

    def __init__(self, chosen: ThresholdFilter) -> None:
        self._chosen = chosen
        self.scores: dict[str, Bins] = {"score": Bins()}
        self.flags: Counter[str] = Counter()
        self.types: Counter[str] = Counter()
        self.flagged = 0
        self.samples: SpreadSample[SegmentSample] = SpreadSample(SEGMENT_SAMPLES)

    def count(self, languages: tuple[Language, Language], segments: Iterable[SegmentPair]) -> int:
        total = 0
        for segment in segments:
            total += 1
            self.flags.update(segment.flags)
            self.flagged += bool(segment.flags)
            self.types[segment.type] += 1
            self._measure(segment)
            if self._chosen.rejection(segment) is None:
                sample = SegmentSample(*languages, segment)
                self.samples.offer(sample, (languages, segment.url_a.site), segment.score)
        return total

    def _measure(self, segment: SegmentPair) -> None:
        scores = segment.scores
        self.scores["score"].add(segment.score)
        if "length_ratio" in scores:
            self.scores.setdefault("length_ratio", Bins()).add(scores["length_ratio"])
        if "coverage_a" in scores and "coverage_b" in scores:
            coverage = (scores["coverage_a"] + scores["coverage_b"]) / 2
            self.scores.setdefault("coverage", Bins()).add(coverage)


def _mined(ledger: Ledger, asked: Asked, verdicts: Verdicts, fetches: int) -> MiningFacts:
    findings = Findings(ledger)
    if not findings.begun():
        return MiningFacts()
    chosen = ThresholdFilter(asked.judge, verdicts, accepted_only=asked.export.accepted_only)
    pairs, segments = _Pairs(FetchOrder(ledger, fetches), Steps(fetches), verdicts), _Segments(chosen)
    found = []
    for languages in findings.language_pairs():
        count = pairs.count(languages, findings.pairs(*languages))
        found.append(LanguagePair(*languages, count, segments.count(languages, findings.segments(*languages))))
    found.sort(key=lambda one: -one.pairs)
    sampled = [(one.lang_a, one.lang_b) for one in found[:SAMPLED]]
    return MiningFacts(
        begun=True,
        language_pairs=tuple(found),
        harvest=_curves(pairs.steps),
        methods=pairs.counts(),
        pair_scores=pairs.scores.histogram(),
        segment_scores={name: bins.histogram() for name, bins in segments.scores.items()},
        flags=dict(segments.flags.most_common()),
        flagged=segments.flagged,
        types=dict(segments.types.most_common()),
        refusals=tuple(statistics.refusal_counts(ledger, 2 * ROWS)),
        duplicates=statistics.duplicate_count(ledger),
        duplicate_samples=tuple(statistics.duplicate_samples(ledger, ROWS // 2)),
        sites=tuple(
            SiteFacts(one.site, one.pages, one.pairs, ledger.knowledge(one.site).left, findings.patterns(one.site))
            for one in statistics.site_counts(ledger, 2 * ROWS)
        ),
        pair_samples=_titled(ledger, [pair for key in sampled for pair in pairs.samples[key].items]),
        segment_samples=tuple(sorted(segments.samples.items(_texts), key=lambda one: -one.segment.score)),
    )


def _texts(sample: SegmentSample) -> tuple[str, str]:
    return sample.segment.a.text, sample.segment.b.text


def _titled(ledger: Ledger, pairs: Sequence[PagePair]) -> tuple[PairSample, ...]:
    def title(url: str) -> str:
        return statistics.page_title(ledger, url)

    return tuple(PairSample(pair, title(pair.url_a), title(pair.url_b)) for pair in pairs)
