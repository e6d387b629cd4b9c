"""The facts of a job, computed once from its ledger and its findings: what `status` asks often, and what a report reads."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from bitrawl import config, files
from bitrawl.config import Job
from bitrawl.corpus import Anonymiser
from bitrawl.errors import DamagedError, StoreError
from bitrawl.facts import (
    JobFacts,
    LanguagePair,
    MethodCount,
    MiningFacts,
    PairSample,
    SegmentSample,
    WrittenCorpus,
)
from bitrawl.file_names import SUMMARY
from bitrawl.files import NO_JSON
from bitrawl.job.topic_facts import PAGES_READ, topic_facts
from bitrawl.mining import ThresholdFilter, revised
from bitrawl.model import Language, PagePair, SegmentPair, Verdict, Verdicts
from bitrawl.review import SpreadSample, human_reviews
from bitrawl.show import report_of_job
from bitrawl.store import ledger_facts as tables
from bitrawl.store.database import is_locked
from bitrawl.store.folder import JobFolder
from bitrawl.store.folder_kinds import export_command
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_facts import Bins, FetchOrder, Steps
from bitrawl.store.seal import sealed_files
from bitrawl.store.stored_findings import Findings
from bitrawl.store.verdicts import VerdictHistory

PAIR_SAMPLES = 4  # per language pair
SEGMENT_SAMPLES = 30  # of the whole corpus: enough to see a fault that one in ten has
SAMPLED = 8  # language pairs with samples, those with the most pairs
ROWS = 10  # of a table whose rows come from the web


def status(folder: JobFolder) -> JobFacts:
    """What costs little. Raises `StoreError` where there is no job."""
    running = folder.is_running  # before the ledger is read: a job that ends meanwhile has not been interrupted
    with _reading(folder) as ledger:
        found = JobFacts(
            folder=str(folder.path),
            running=running,
            crawled=tables.crawl_facts(ledger),
            mined=MiningFacts(begun=Findings(ledger).begun(), language_pairs=tuple(tables.language_pairs(ledger))),
            killed=tables.killed_count(ledger),
            rounds=ledger.rounds.facts(),
        )
    return _with_corpus(found, folder)


def sound(facts: JobFacts) -> JobFacts:
    """Raises `DamagedError` where a figure would be wrong."""
    if facts.damage:
        raise DamagedError(facts.damage)
    return facts


def found_so_far(folder: JobFolder) -> dict[str, LanguagePair]:
    """What was found so far, by the name of the corpus; nothing where there is no job yet."""
    try:
        with _reading(folder) as ledger:
            pairs = tuple(tables.language_pairs(ledger))
    except StoreError:
        return {}
    return {pair.name: pair for pair in _with_units(pairs, written_corpora(folder)[0])}


def written_figures(corpus: Path) -> dict[str, dict[str, object]]:
    """What stands in the figures of a corpus folder, by the names of its corpora; nothing where none was written.

    Raises `DamagedError`, which names what writes them again. A job that is running may be about to seal them.
    """
    path, running = corpus / SUMMARY, is_locked(JobFolder(corpus.parent).ledger)
    advice = f"To write it again, run: {export_command(corpus)}"
    try:
        content = path.read_bytes()
        figures = msgspec.json.decode(content, type=dict[str, dict[str, object]])
        msgspec.convert(figures, dict[str, WrittenCorpus])
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from error
    except NO_JSON as error:
        raise DamagedError(f"{path} is damaged: {error}. {advice}") from error
    if not running and sealed_files(corpus).get(SUMMARY, sha256 := hashlib.sha256(content).hexdigest()) != sha256:
        raise DamagedError(f"{path} is damaged: it is not what was written. {advice}")
    return figures


def written_corpora(folder: JobFolder) -> tuple[dict[str, WrittenCorpus], str]:
    """What was written last, and if that cannot be read, why."""
    try:
        return msgspec.convert(written_figures(folder.corpus), dict[str, WrittenCorpus]), ""
    except StoreError as error:
        return {}, str(error)


def is_stale(folder: JobFolder) -> bool:
    """Whether the corpus has to be written again: verdicts or thresholds have changed since, or its figures are damaged."""
    written, damage = written_corpora(folder)
    if damage:
        return True
    changes = VerdictHistory(folder.verdicts).changes()
    now: dict[str, object] = {}
    if folder.description.exists():
        now = msgspec.json.decode(msgspec.json.encode(folder.job().judge))
    return any(
        corpus.verdicts != changes or any(now.get(key, value) != value for key, value in corpus.thresholds.items())
        for corpus in written.values()
    )


def gather(folder: Path, *, pages_read: int = PAGES_READ) -> JobFacts:
    """All that a report says of a job, running or ended; `pages_read` for the terms on them. Memory grows by 16 bytes per page."""
    where, request = JobFolder(folder), job_asked(JobFolder(folder))
    with _reading(where) as ledger:
        crawl = tables.crawl_facts(ledger, hosts=1)
        fetches = crawl.summary.fetches
        crawled = msgspec.structs.replace(
            crawl,
            growth=tables.growth(ledger, fetches),
            skips=tables.with_statuses(ledger, crawl.skips),
            slowest=tuple(tables.slowest_hosts(ledger, ROWS)),
            off_site=tables.sites_linked_to(ledger, ROWS),
            declared_off_site=tables.sites_linked_to(ledger, ROWS, declared=True),
        )
        found = JobFacts(
            folder=str(folder),
            running=where.is_running,
            crawled=crawled,
            mined=_mining(where, ledger, request, fetches),
            reviewed=human_reviews(where.verdicts),
            killed=tables.killed_count(ledger),
            asked=request,
            topic=topic_facts(ledger, request, fetches, pages_read),
            rounds=ledger.rounds.facts(),
        )
    return _with_corpus(found, where)


def write_report(folder: Path, gathered: JobFacts | None = None) -> Path:
    """Write the job's report completely or not at all; of what was `gathered` while the corpus was being written."""
    path = JobFolder(folder).report
    facts = sound(_with_corpus(gathered, JobFolder(folder)) if gathered else gather(folder))
    hosts = [*(site.site for site in facts.mined.sites), *(host.host for host in facts.crawl.hosts)]
    hide = Anonymiser(facts.asked.export.anonymise, list(map(Language, facts.asked.langs)))
    files.write(path, report_of_job(hide.everywhere(facts, hosts)))
    return path


def _with_corpus(facts: JobFacts, folder: JobFolder) -> JobFacts:
    """With the corpus as it is now."""
    written, damage = written_corpora(folder)
    mined = msgspec.structs.replace(facts.mined, language_pairs=_with_units(facts.mined.language_pairs, written))
    files = _files(folder.corpus)
    return msgspec.structs.replace(facts, mined=mined, written=written, damage=damage, files=files)


def _with_units(pairs: tuple[LanguagePair, ...], written: Mapping[str, WrittenCorpus]) -> tuple[LanguagePair, ...]:
    units = {name: corpus.units for name, corpus in written.items()}
    return tuple(msgspec.structs.replace(pair, units=units.get(pair.name, 0)) for pair in pairs)


@contextmanager
def _reading(folder: JobFolder) -> Iterator[Ledger]:
    """All that is read belongs to one moment."""
    with folder.reading() as ledger, ledger.snapshot():
        yield ledger


def job_asked(folder: JobFolder) -> Job:
    """What its file says, whether it could be run now or not. A job that was run from Python may have none."""
    return config.typed(config.read(folder.description)) if folder.description.exists() else Job(strategy="")


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
        self.samples: dict[tuple[Language, Language], SpreadSample[PagePair]] = {}

    def count(self, languages: tuple[Language, Language], pairs: Iterable[PagePair]) -> None:
        sample = self.samples[languages] = SpreadSample[PagePair](PAIR_SAMPLES)
        for pair in pairs:
            if pair.partial:
                continue
            if self._verdicts.of_pair(pair) is not Verdict.REJECT:
                sample.offer(pair, "", 0.0, (pair.url_a, pair.url_b))
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
                group, texts = f"{'-'.join(languages)} {segment.url_a.site}", (segment.a.text, segment.b.text)
                self.samples.offer(sample, group, segment.score, texts)

    def _measure(self, segment: SegmentPair) -> None:
        scores = segment.scores
        self.scores["score"].add(segment.score)
        if "length_ratio" in scores:
            self.scores.setdefault("length_ratio", Bins()).add(scores["length_ratio"])
        if "coverage_a" in scores and "coverage_b" in scores:
            coverage = (scores["coverage_a"] + scores["coverage_b"]) / 2
            self.scores.setdefault("coverage", Bins()).add(coverage)


def _mining(folder: JobFolder, ledger: Ledger, request: Job, fetches: int) -> MiningFacts:
    findings, verdicts = Findings(ledger), VerdictHistory(folder.verdicts).standing()
    if not findings.begun():
        return MiningFacts()
    chosen = ThresholdFilter(request.judge, verdicts, accepted_only=request.export.accepted_only)
    pairs, segments = _Pairs(FetchOrder(ledger, fetches), Steps(fetches), verdicts), _Segments(chosen)
    by_languages = sorted(tables.language_pairs(ledger), key=lambda pair: -pair.pairs)
    for languages in findings.language_pairs():
        pairs.count(languages, findings.pairs(*languages))
        segments.count(languages, revised(findings.segments(*languages), verdicts))
    samples = [pairs.samples[pair.lang_a, pair.lang_b].entries() for pair in by_languages[:SAMPLED]]
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
        pair_samples=tuple(
            PairSample(pair, tables.page_title(ledger, pair.url_a), tables.page_title(ledger, pair.url_b))
            for sample in samples
            for pair in sample
        ),
        segment_samples=tuple(sorted(_public(segments.samples, request), key=lambda sample: -sample.segment.score)),
    )


def _public(samples: SpreadSample[SegmentSample], request: Job) -> Iterator[SegmentSample]:
    """A corpus without personal data has a report without it."""
    hide = Anonymiser(request.export.anonymise)
    for sample in samples.entries():
        segment = hide.public(sample.segment, (sample.lang_a, sample.lang_b))
        if segment is not None:
            yield msgspec.structs.replace(sample, segment=segment)
