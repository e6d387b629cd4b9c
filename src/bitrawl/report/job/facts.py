"""The figures and samples of a job, gathered from its ledger in one pass over what was found."""

import sqlite3
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from bitrawl.errors import StoreError
from bitrawl.languages import same_language
from bitrawl.model import Language, PagePair, SegmentPair
from bitrawl.report.job.counting import BINS, Bins, Histogram, Order, Points, Reservoir, Steps
from bitrawl.store.findings import Findings
from bitrawl.store.ledger import SKIPPED, Ledger
from bitrawl.store.summary import HostSummary, Summary, summarise

PAIR_SAMPLES, SEGMENT_SAMPLES = 4, 5  # of each two languages
SAMPLED = 8  # language pairs, those with the most pairs
ROWS = 10  # of a table whose rows come from the web


class Asked(msgspec.Struct, frozen=True):
    """What the job's file says, as far as a reader wants to know."""

    langs: list[str] = []
    seeds: list[str] = []
    strategy: str = ""
    replay: list[str] = []
    warc: list[str] = []
    budget: dict[str, float] = {}


class Curve(msgspec.Struct, frozen=True):
    """How something grew with the number of answers fetched."""

    name: str
    points: Points


class LanguagePair(msgspec.Struct, frozen=True):
    """What was found for two languages."""

    lang_a: Language
    lang_b: Language
    pairs: int
    segments: int


class MethodCount(msgspec.Struct, frozen=True):
    """How many pairs a method speaks for."""

    letter: str
    pairs: int
    alone: int  # pairs for which no other method speaks


class SkipCount(msgspec.Struct, frozen=True):
    """Links that left the line at one place for one reason, and the first of them."""

    stage: str
    reason: str
    count: int
    tried: int  # of those, addresses that no page names: sitemaps and what cannot exist, asked for at a venture
    url: str
    detail: str


class RefusalCount(msgspec.Struct, frozen=True):
    """Pairs refused for one reason, and one of them."""

    reason: str
    count: int
    url_a: str
    url_b: str


class SiteCount(msgspec.Struct, frozen=True):
    """One site of a job."""

    site: str
    pages: int
    pairs: int
    left: str = ""  # why the strategy held it to be exhausted
    patterns: dict[str, int] = {}


class PairSample(msgspec.Struct, frozen=True):
    """A pair drawn at random, with the titles of its pages."""

    pair: PagePair
    title_a: str
    title_b: str


class SegmentSample(msgspec.Struct, frozen=True):
    """A segment pair drawn at random."""

    lang_a: Language
    lang_b: Language
    segment: SegmentPair


class Crawled(msgspec.Struct, frozen=True):
    """What the ledger says of the crawl."""

    summary: Summary
    began: float  # the first fetch, seconds since the epoch; 0 when there was none
    finished: float
    growth: tuple[Curve, ...]  # pages by language
    skips: tuple[SkipCount, ...]
    slowest: tuple[HostSummary, ...]
    off_site: dict[str, int]  # links by the site that they lead to
    declared_off_site: dict[str, int]  # of those, declared translations


class Mined(msgspec.Struct, frozen=True):
    """What the ledger says of pairs and segments; all empty where the job was only crawled."""

    begun: bool = False
    language_pairs: tuple[LanguagePair, ...] = ()
    harvest: tuple[Curve, ...] = ()  # pairs complete, by language pair
    methods: tuple[MethodCount, ...] = ()
    pair_scores: Histogram = (0,) * BINS
    segment_scores: dict[str, Histogram] = {}  # by name: score, length_ratio, coverage
    flags: dict[str, int] = {}
    flagged: int = 0  # segments with any flag
    types: dict[str, int] = {}
    refusals: tuple[RefusalCount, ...] = ()
    duplicates: int = 0
    duplicate_samples: tuple[tuple[str, str], ...] = ()
    sites: tuple[SiteCount, ...] = ()
    pair_samples: tuple[PairSample, ...] = ()
    segment_samples: tuple[SegmentSample, ...] = ()

    @property
    def pairs(self) -> int:
        """Of pages."""
        return sum(found.pairs for found in self.language_pairs)

    @property
    def segments(self) -> int:
        """Pairs of segments, before any threshold."""
        return sum(found.segments for found in self.language_pairs)


class CorpusCount(msgspec.Struct, frozen=True):
    """What was written of one corpus, as `corpus/summary.json` has it: units of two languages, or documents of one."""

    units: int = 0
    occurrences: int = 0  # that the units stand for
    refused: dict[str, int] = {}  # pairs of segments by the threshold that kept them out
    documents: int = 0
    paragraphs: int = 0
    words: int = 0

    @property
    def merged(self) -> int:
        """Occurrences that are no unit of their own."""
        return self.occurrences - self.units


class Facts(msgspec.Struct, frozen=True):
    """All that a report says."""

    folder: str
    asked: Asked
    crawled: Crawled
    mined: Mined
    corpora: dict[str, CorpusCount] = {}  # by name: "en-fr"; empty before the first is written

    @property
    def languages(self) -> dict[str, int]:
        """Pages by language that was asked for, each page once."""
        asked = dict.fromkeys(self.asked.langs, 0)
        for found, count in self.crawled.summary.languages.items():
            if (wanted := self.asked_as(found)) is not None:
                asked[wanted] += count
        return asked

    def asked_as(self, found: str) -> str | None:
        """Which of the languages asked for takes a page in that one; None for a language that nobody asked for."""
        return next((code for code in self.asked.langs if same_language(Language(found), Language(code))), None)


def gather(folder: Path) -> Facts:
    """The facts of the job in that folder, running or ended; memory grows by 16 bytes a page."""
    asked, corpora = _asked(folder / "job.toml"), _corpora(folder / "corpus" / "summary.json")
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    try:
        findings = Findings(ledger)
        ledger.connection.execute("BEGIN")  # One moment of a job that may go on: the sums add up.
        crawled = _crawled(ledger)
        return Facts(str(folder), asked, crawled, _mined(ledger, findings, crawled.summary.fetches), corpora)
    except sqlite3.Error as error:
        raise StoreError(f"{ledger.path} cannot be read: {error}") from error
    finally:
        ledger.close()


def _asked(path: Path) -> Asked:
    try:
        return msgspec.convert(tomllib.loads(path.read_text("utf-8")), Asked)
    except FileNotFoundError:
        return Asked()  # A job that a program has run: it may have no file.
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from error


def _corpora(path: Path) -> dict[str, CorpusCount]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, CorpusCount])
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from error


def _crawled(ledger: Ledger) -> Crawled:
    query = ledger.connection.execute
    summary = summarise(ledger, hosts=1)
    began, finished = query("SELECT coalesce(min(at), 0), coalesce(max(at), 0) FROM fetches").fetchone()
    return Crawled(
        summary=summary,
        began=began,
        finished=finished,
        growth=_growth(ledger, summary),
        skips=tuple(SkipCount(*row[:-1]) for row in query(_SKIPS, (SKIPPED,))),
        slowest=tuple(HostSummary(*row) for row in query(_SLOWEST, (ROWS,))),
        off_site=dict(query(_OFF_SITE, (SKIPPED, ROWS)).fetchall()),
        declared_off_site=dict(query(_DECLARED_OFF_SITE, (SKIPPED, ROWS)).fetchall()),
    )


# SQLite takes the other columns from the row that has the minimum: the first link of each, one of a page's if there is any.
_SKIPS = """
SELECT stage, reason, count(*), sum(kind IN ('probe', 'index')), url, coalesce(detail, ''),
    min((kind IN ('probe', 'index')) * (1 << 60) + id)
FROM links WHERE state = ? GROUP BY stage, reason ORDER BY 3 DESC, 1, 2
"""
_SLOWEST = """
SELECT links.host, count(*), sum(fetches.outcome = 'page'), avg(fetches.took)
FROM fetches JOIN links USING (url) GROUP BY links.host ORDER BY 4 DESC, 1 LIMIT ?
"""
_OFF_SITE = """
SELECT site, count(*) FROM links WHERE state = ? AND reason = 'off-site' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?
"""
_DECLARED_OFF_SITE = """
SELECT site, count(*) FROM links WHERE state = ? AND reason = 'off-site' AND kind = 'alternate'
GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?
"""


def _curves(steps: Steps) -> tuple[Curve, ...]:
    return tuple(Curve(name, points) for name, points in steps.curves().items())


def _growth(ledger: Ledger, summary: Summary) -> tuple[Curve, ...]:
    steps = Steps(summary.fetches)
    for language, seq in ledger.connection.execute("SELECT language, seq FROM fetches WHERE outcome = 'page'"):
        steps.add(language, seq)
    return _curves(steps)


class _Pairs:
    """What is counted of pairs while they stream by."""

    def __init__(self, order: Callable[[str], int], steps: Steps) -> None:
        self._order = order
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
    """What is counted of segments while they stream by."""

    def __init__(self) -> None:
        self.scores: dict[str, Bins] = {"score": Bins()}
        self.flags: Counter[str] = Counter()
        self.types: Counter[str] = Counter()
        self.flagged = 0
        self.samples: dict[tuple[Language, Language], Reservoir[SegmentPair]] = {}

    def count(self, languages: tuple[Language, Language], segments: Iterable[SegmentPair]) -> int:
        sample = self.samples[languages] = Reservoir[SegmentPair](SEGMENT_SAMPLES)
        total = 0
        for segment in segments:
            total += 1
            sample.offer(segment)
            self.flags.update(segment.flags)
            self.flagged += bool(segment.flags)
            self.types[segment.type] += 1
            self._measure(segment)
        return total

    def _measure(self, segment: SegmentPair) -> None:
        scores = segment.scores
        self.scores["score"].add(segment.score)
        if "length_ratio" in scores:
            self.scores.setdefault("length_ratio", Bins()).add(scores["length_ratio"])
        if "coverage_a" in scores and "coverage_b" in scores:
            coverage = (scores["coverage_a"] + scores["coverage_b"]) / 2
            self.scores.setdefault("coverage", Bins()).add(coverage)


def _mined(ledger: Ledger, findings: Findings, fetches: int) -> Mined:
    query = ledger.connection.execute
    if not findings.begun():
        return Mined()
    pairs, segments = _Pairs(Order(ledger, fetches), Steps(fetches)), _Segments()
    found = []
    for languages in findings.language_pairs():
        count = pairs.count(languages, findings.pairs(*languages))
        found.append(LanguagePair(*languages, count, segments.count(languages, findings.segments(*languages))))
    found.sort(key=lambda one: -one.pairs)
    sampled = [(one.lang_a, one.lang_b) for one in found[:SAMPLED]]
    duplicates = query("SELECT count(*) FROM duplicates").fetchone()[0]
    samples = query("SELECT url, repeats FROM duplicates ORDER BY url LIMIT 5").fetchall()
    return Mined(
        begun=True,
        language_pairs=tuple(found),
        harvest=_curves(pairs.steps),
        methods=pairs.counts(),
        pair_scores=pairs.scores.histogram(),
        segment_scores={name: bins.histogram() for name, bins in segments.scores.items()},
        flags=dict(segments.flags.most_common()),
        flagged=segments.flagged,
        types=dict(segments.types.most_common()),
        refusals=tuple(RefusalCount(*row) for row in query(_REFUSALS, (2 * ROWS,))),
        duplicates=duplicates,
        duplicate_samples=tuple(samples),
        sites=tuple(
            SiteCount(site, pages, paired, ledger.knowledge(site).left, findings.patterns(site))
            for site, pages, paired in query(_SITES, (2 * ROWS,)).fetchall()
        ),
        pair_samples=_titled(ledger, [pair for key in sampled for pair in pairs.samples[key].items]),
        segment_samples=tuple(SegmentSample(*key, one) for key in sampled for one in segments.samples[key].items),
    )


_REFUSALS = "SELECT reason, count(*), min(url_a), url_b FROM refusals GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?"
_SITES = """
SELECT site, (SELECT count(*) FROM pages WHERE pages.site = mined.site), count(pairs.id)
FROM mined LEFT JOIN pairs USING (site) GROUP BY site ORDER BY 3 DESC, 2 DESC, 1 LIMIT ?
"""


def _titled(ledger: Ledger, pairs: Sequence[PagePair]) -> tuple[PairSample, ...]:
    def title(url: str) -> str:
        row = ledger.connection.execute("SELECT title FROM pages WHERE url = ?", (url,)).fetchone()
        return str(row[0]) if row else ""

    return tuple(PairSample(pair, title(pair.url_a), title(pair.url_b)) for pair in pairs)
