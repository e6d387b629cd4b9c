"""The facts of a job, computed once from its ledger and its findings: what `status` asks often, and what a report reads."""

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from bitrawl import files
from bitrawl.errors import StoreError
from bitrawl.facts import (
    AskedJob,
    CrawlFacts,
    JobFacts,
    LanguagePair,
    MethodCount,
    MiningFacts,
    PairSample,
    SegmentSample,
    WrittenCorpus,
)
from bitrawl.files import NO_JSON
from bitrawl.jobs.folder import JobFolder
from bitrawl.jobs.topic_facts import TopicOfJob, gather_topic
from bitrawl.mine.judging import ThresholdFilter
from bitrawl.model import Language, PagePair, SegmentPair, Verdict, Verdicts
from bitrawl.show.job_report import render
from bitrawl.store import facts as tables
from bitrawl.store.facts import Bins, FetchOrder, Reservoir, SpreadSample, Steps
from bitrawl.store.findings import Findings
from bitrawl.store.ledger import Ledger
from bitrawl.store.verdicts import VerdictHistory

PAIR_SAMPLES = 4  # per language pair; judgement
SEGMENT_SAMPLES = 30  # of the whole corpus: enough to see a fault that one in ten has
SAMPLED = 8  # language pairs with samples, those with the most pairs; judgement
ROWS = 10  # of a table whose rows come from the web; judgement


def status(folder: JobFolder) -> JobFacts:
    """What costs little. Raises `StoreError` where there is no job."""
    running = folder.is_running  # before the ledger is read: a job that ends meanwhile has not been interrupted
    with _reading(folder) as ledger:
        return JobFacts(
            folder=str(folder.path),
            running=running,
            crawled=CrawlFacts(summary=tables.summarise(ledger), faults=tables.fault_counts(ledger)),
            mined=MiningFacts(begun=Findings(ledger).begun(), language_pairs=_language_pairs(folder, ledger)),
            killed=tables.killed_count(ledger),
        )


def found_so_far(folder: JobFolder) -> dict[str, LanguagePair]:
    """By name of the corpus; nothing where there is no job yet."""
    try:
        with _reading(folder) as ledger:
            return {pair.name: pair for pair in _language_pairs(folder, ledger)}
    except StoreError:
        return {}


def written_units(folder: JobFolder) -> dict[str, int]:
    """In the corpus as it was written last, by languages; nothing where none was written."""
    try:
        written = msgspec.json.decode((folder.corpus / "summary.json").read_bytes(), type=dict[str, dict[str, object]])
    except (OSError, *NO_JSON):
        return {}
    return {name: units for name, corpus in written.items() if isinstance(units := corpus.get("units"), int)}


def gather(folder: Path) -> JobFacts:
    """All that a report says of a job, running or ended. Memory grows by 16 bytes per page."""
    where, asked = JobFolder(folder), _asked(folder / "job.toml")
    with _reading(where) as ledger:
        counts = tables.crawl_counts(ledger, hosts=1)
        fetches = counts.summary.fetches
        crawled = CrawlFacts(
            summary=counts.summary,
            faults=tables.fault_counts(ledger),
            growth=tables.growth(ledger, fetches),
            skips=tables.with_statuses(ledger, counts.skips),
            slowest=tuple(tables.slowest_hosts(ledger, ROWS)),
            off_site=tables.sites_linked_to(ledger, ROWS),
            declared_off_site=tables.sites_linked_to(ledger, ROWS, declared=True),
        )
        mined = _mined(where, ledger, asked, fetches)
        job = TopicOfJob(asked.topic, asked.strategy, tuple(asked.langs), tuple(asked.seeds))
        topic, killed = gather_topic(ledger, job, fetches), tables.killed_count(ledger)
    return JobFacts(
        folder=str(folder),
        running=where.is_running,
        crawled=crawled,
        mined=mined,
        written=_written(where.corpus / "summary.json"),
        killed=killed,
        asked=asked,
        files=_files(where.corpus),
        topic=topic,
    )


def write_report(folder: Path) -> Path:
    """Write the job's report completely or not at all."""
    path = JobFolder(folder).report
    files.write(path, render(gather(folder)))
    return path


@contextmanager
def _reading(folder: JobFolder) -> Iterator[Ledger]:
    """All that is read belongs to one moment."""
    ledger = folder.reading()
    try:
        with ledger.snapshot():
            yield ledger
    finally:
        ledger.close()


def _language_pairs(folder: JobFolder, ledger: Ledger) -> tuple[LanguagePair, ...]:
    units = written_units(folder)
    pairs = tables.language_pairs(ledger)
    return tuple(msgspec.structs.replace(pair, units=units.get(pair.name, 0)) for pair in pairs)


def _asked(path: Path) -> AskedJob:
    try:
        return msgspec.convert(tomllib.loads(path.read_text("utf-8")), AskedJob)
    except FileNotFoundError:
        return AskedJob()  # A job that was run from Python may have no file.
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from error


def _written(path: Path) -> dict[str, WrittenCorpus]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, WrittenCorpus])
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

    def count(self, languages: tuple[Language, Language], pairs: Iterable[PagePair]) -> None:
        sample = self.samples[languages] = Reservoir[PagePair](PAIR_SAMPLES)
        for pair in pairs:
            if self._verdicts.of_pair(pair) is not Verdict.REJECT:
                sample.offer(pair)
            self.scores.add(pair.score)
            self.methods.update(pair.evidence.keys())
            if len(pair.evidence) == 1:
                self.alone.update(pair.evidence.keys())
            self.steps.add("-".join(languages), max(self._order(pair.url_a), self._order(pair.url_b)))

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

    def count(self, languages: tuple[Language, Language], segments: Iterable[SegmentPair]) -> None:
        for segment in segments:
            self.flags.update(segment.flags)
            self.flagged += bool(segment.flags)
            self.types[segment.type] += 1
            self._measure(segment)
            if self._chosen.rejection(segment) is None:
                sample = SegmentSample(*languages, segment)
                self.samples.offer(sample, (languages, segment.url_a.site), segment.score)

    def _measure(self, segment: SegmentPair) -> None:
        scores = segment.scores
        self.scores["score"].add(segment.score)
        if "length_ratio" in scores:
            self.scores.setdefault("length_ratio", Bins()).add(scores["length_ratio"])
        if "coverage_a" in scores and "coverage_b" in scores:
            coverage = (scores["coverage_a"] + scores["coverage_b"]) / 2
            self.scores.setdefault("coverage", Bins()).add(coverage)


def _mined(folder: JobFolder, ledger: Ledger, asked: AskedJob, fetches: int) -> MiningFacts:
    findings, verdicts = Findings(ledger), VerdictHistory(folder.verdicts).standing()
    if not findings.begun():
        return MiningFacts()
    chosen = ThresholdFilter(asked.judge, verdicts, accepted_only=asked.export.accepted_only)
    pairs, segments = _Pairs(FetchOrder(ledger, fetches), Steps(fetches), verdicts), _Segments(chosen)
    by_languages = sorted(_language_pairs(folder, ledger), key=lambda pair: -pair.pairs)
    for languages in findings.language_pairs():
        pairs.count(languages, findings.pairs(*languages))
        segments.count(languages, findings.segments(*languages))
    samples = [pairs.samples[pair.lang_a, pair.lang_b].items for pair in by_languages[:SAMPLED]]
    return MiningFacts(
        begun=True,
        language_pairs=tuple(by_languages),
        harvest=pairs.steps.curves(),
        methods=pairs.counts(),
        pair_scores=pairs.scores.histogram(),
        segment_scores={name: bins.histogram() for name, bins in segments.scores.items()},
        flags=dict(segments.flags.most_common()),
        flagged=segments.flagged,
        types=dict(segments.types.most_common()),
        refusals=tuple(tables.refusal_counts(ledger, 2 * ROWS)),
        duplicates=tables.duplicate_count(ledger),
        duplicate_samples=tuple(tables.duplicate_samples(ledger, ROWS // 2)),
        sites=tuple(
            msgspec.structs.replace(site, left=ledger.knowledge(site.site).left, patterns=findings.patterns(site.site))
            for site in tables.site_counts(ledger, 2 * ROWS)
        ),
        pair_samples=_titled(ledger, [pair for sample in samples for pair in sample]),
        segment_samples=tuple(sorted(segments.samples.items(_texts), key=lambda sample: -sample.segment.score)),
    )


def _texts(sample: SegmentSample) -> tuple[str, str]:
    return sample.segment.a.text, sample.segment.b.text


def _titled(ledger: Ledger, pairs: Sequence[PagePair]) -> tuple[PairSample, ...]:
    def title(url: str) -> str:
        return tables.page_title(ledger, url)

    return tuple(PairSample(pair, title(pair.url_a), title(pair.url_b)) for pair in pairs)
