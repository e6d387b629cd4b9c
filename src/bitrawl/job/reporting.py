"""The facts of a job, computed once from its ledger and its findings: what `status` asks often, and what a report reads."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import msgspec

from bitrawl import config, files
from bitrawl.config import Job
from bitrawl.corpus import Anonymiser
from bitrawl.errors import ConfigError, DamagedError, StoreError
from bitrawl.facts import (
    LITTLE_RELEVANT,
    Border,
    Histogram,
    JobFacts,
    LanguagePair,
    ListFacts,
    MethodCount,
    MiningFacts,
    PairSample,
    Points,
    SegmentSample,
    SiteFacts,
    SiteShare,
    TermPages,
    TermsRead,
    TopicExample,
    TopicFacts,
    TopicShare,
    TopicSource,
    WrittenCorpus,
)
from bitrawl.file_names import SUMMARY
from bitrawl.files import NO_JSON
from bitrawl.languages import same_language
from bitrawl.mining import ThresholdFilter, revised
from bitrawl.model import UNDETERMINED, Language, Page, PagePair, Relevance, SegmentPair, Verdict, Verdicts
from bitrawl.reasons import Reason
from bitrawl.review import SpreadSample, human_reviews
from bitrawl.show import report_of_job
from bitrawl.store import ledger_facts as tables
from bitrawl.store.database import is_locked
from bitrawl.store.folder import JobFolder
from bitrawl.store.folder_kinds import export_command
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_facts import Bins, FetchOrder, JudgedPage, Steps, visited_sites
from bitrawl.store.seal import sealed_files
from bitrawl.store.stored_findings import Findings
from bitrawl.store.verdicts import VerdictHistory
from bitrawl.text.language import NgramLanguageIdentifier
from bitrawl.topic.settings import TopicModel
from bitrawl.topic.term_list import TermList, read_terms
from bitrawl.topic.term_relevance import TermMatcher
from bitrawl.url import Url

PAIR_SAMPLES = 4  # per language pair
SEGMENT_SAMPLES = 30  # of the whole corpus: enough to see a fault that one in ten has
SAMPLED = 8  # language pairs with samples, those with the most pairs
ROWS = 10  # of a table whose rows come from the web
PAGES_READ = 3000  # for the terms on them: 0.7 s of CPU where a page has 40 paragraphs and 150 links (2026-11)
TERMS = 20
EXAMPLES = 5  # of each kind
SITES = 10
TERMS_OF_EXAMPLE = 8
HALF = 0.5  # the score of a page that just reaches the weight of terms, or the highest perplexity
_BOILERPLATE_PAGES = 200  # in which terms are looked for again
_EXAMPLES_CHECKED = 50  # of the pages that the user named
_SURE = 0.8  # of the language of a term list; judgement
_LIST_CHARACTERS = 3000  # from which that language is told
_MOST_FILES = 10_000  # of texts that are counted


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


def sites_visited(folder: JobFolder, most: int) -> list[SiteFacts]:
    """What each site has brought so far, those with the most pairs first; nothing where the ledger cannot be read now."""
    try:
        with folder.reading(verified=False) as ledger:
            return visited_sites(ledger, most)
    except StoreError:
        return []


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
        mining = _mining(where, ledger, request, fetches)
        topic, killed = _topic(ledger, request, fetches, pages_read), tables.killed_count(ledger)
        rounds = ledger.rounds.facts()
    found = JobFacts(
        folder=str(folder),
        running=where.is_running,
        crawled=crawled,
        mined=mining,
        reviewed=human_reviews(where.verdicts),
        killed=killed,
        asked=request,
        topic=topic,
        rounds=rounds,
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


# The topic: which pages are about it, what says so and, if hardly any is, the evidence


def _topic(ledger: Ledger, job: Job, fetches: int, pages_read: int) -> TopicFacts | None:
    """None in a job without a topic."""
    languages = tables.relevant_by_language(ledger)
    if not languages and not job.topic.is_set:
        return None
    model = job.topic_model() or TopicModel.LEARNED
    threshold = job.topic.threshold if model is TopicModel.LEARNED else HALF
    growth, scores = _over_fetches(ledger, fetches)
    judged = sum(share.pages for share in languages.values())
    read = _read_terms(ledger.some_pages(pages_read), job, judged)
    return TopicFacts(
        asked=job.topic,
        model=model,
        threshold=threshold,
        languages=languages,
        growth=growth,
        scores=scores,
        lowest_perplexity=min(tables.perplexities(ledger), default=None),
        read=read,
        examples=_examples(ledger, threshold),
        refused=tuple(_example(ledger, page) for page in tables.refused_relevant_pages(ledger, EXAMPLES)),
        paid=_sites(ledger, LITTLE_RELEVANT, 2.0),
        unpaid=_sites(ledger, 0.0, LITTLE_RELEVANT),
        given=_given(ledger, job),
        listed=_listed(ledger, job, read) if read.pages and not _is_complete(job, languages) else None,
    )


def _over_fetches(ledger: Ledger, fetches: int) -> tuple[tuple[Points, Points], Histogram]:
    pages, relevant_pages, scores = Steps(fetches), Steps(fetches), Bins()
    for seq, score, relevant in tables.judged_in_order(ledger):
        pages.add("", seq)
        scores.add(score)
        if relevant:
            relevant_pages.add("", seq)
    return (pages.points(""), relevant_pages.points("")), scores.histogram()


def _read_terms(pages_read: Iterable[Page], job: Job, judged: int) -> TermsRead:
    pages, relevant, classes, missed = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    read = with_terms = refused = 0
    for page in pages_read:
        if page.relevance is None:
            continue
        read += 1
        terms = _terms_of(page)
        with_terms += bool(terms or page.relevance.weight)  # A term may stand in the title only.
        pages.update(terms)
        classes.update(page.relevance.classes)
        if page.relevance.relevant:
            relevant.update(terms)
        elif (terms or page.relevance.weight) and _wants(job, page.language):
            refused += 1
            missed.update(_thresholds_missed(page.relevance, job))
    return TermsRead(
        pages=read,
        whole=read >= judged,
        with_terms=with_terms,
        terms=tuple(TermPages(term, count, relevant[term]) for term, count in _most(pages, TERMS)),
        different=len(pages),
        classes=dict(_most(classes, TERMS)),
        refused=refused,
        missed=dict(_most(missed, TERMS)),
    )


def _wants(job: Job, language: Language) -> bool:
    return any(same_language(language, Language(code)) for code in job.langs)


def _most(counts: Counter[str], most: int) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most]


def _terms_of(page: Page) -> tuple[str, ...]:
    return tuple(dict.fromkeys(term for paragraph in page.paragraphs for term in paragraph.terms))


def _thresholds_missed(relevance: Relevance, job: Job) -> list[str]:
    """The names of the thresholds in the job file that keep the page out."""
    if job.topic_model() in (None, TopicModel.LEARNED):
        return ["threshold"]
    if job.topic_model() is TopicModel.PERPLEXITY:
        return ["max_perplexity"]
    missed = ["content_terms"] if relevance.score < HALF else []
    if relevance.terms < job.topic.distinct_terms:
        missed.append("distinct_terms")
    return missed or ["density"]


def _examples(ledger: Ledger, threshold: float) -> dict[Border, tuple[TopicExample, ...]]:
    shown: set[str] = set()
    examples = {}
    for border in (Border.BEST, Border.JUST_RELEVANT, Border.JUST_NOT, Border.DESPITE_SCORE):
        least = 0.0 if border in (Border.BEST, Border.JUST_RELEVANT) else threshold
        pages = [page for page in tables.judged_pages(ledger, border, least, 2 * EXAMPLES) if page.url not in shown]
        examples[border] = tuple(_example(ledger, page) for page in pages[:EXAMPLES])
        shown.update(page.url for page in examples[border])
    return examples


def _example(ledger: Ledger, judged: JudgedPage) -> TopicExample:
    why, other = judged.reason, judged.other
    page = ledger.page(Url.known(judged.url))
    relevance = (page.relevance if page else None) or Relevance(judged.score, relevant=False)
    if page is None:
        return TopicExample(judged.url, "", UNDETERMINED, relevance, (), why, other)
    terms = _terms_of(page)[:TERMS_OF_EXAMPLE]
    return TopicExample(judged.url, page.title, page.language, relevance, terms, why, other)


def _sites(ledger: Ledger, at_least: float, below: float) -> tuple[SiteShare, ...]:
    shares = tables.relevant_by_site(ledger, SITES, from_share=at_least, below_share=below)
    return tuple(SiteShare(site, share, ledger.knowledge(site).left) for site, share in shares.items())


def _given(ledger: Ledger, job: Job) -> TopicSource:
    sizes = [path.stat().st_size for path in islice(_text_files(job.topic.texts), _MOST_FILES)]
    named = tuple(dict.fromkeys([*job.topic.like, *(() if job.topic.hub else job.seeds)]))
    if job.topic_model() not in (None, TopicModel.LEARNED):
        named = ()  # the other models do not learn from pages
    unread = {url: why for url in named[:_EXAMPLES_CHECKED] if (why := _why_unread(ledger, job, Url.known(url)))}
    return TopicSource(len(sizes), sum(sizes), len(named), unread)


def _text_files(names: Sequence[str]) -> Iterator[Path]:
    """Those that are still there."""
    for path in map(Path, names):
        yield from filter(Path.is_file, path.rglob("*") if path.is_dir() else [path])


def _why_unread(ledger: Ledger, job: Job, url: Url) -> str:
    """Why a page taught nothing; empty if it did, or if it has not been visited yet."""
    if (page := ledger.page(url)) is not None:
        return "" if _wants(job, page.language) else f"in {page.language}"
    skip = ledger.skip_of(url)
    return "" if skip is None or skip.reason is Reason.REDIRECT else str(skip.reason)


def _is_complete(job: Job, shares: Mapping[str, TopicShare]) -> bool:
    """Whether each language of the job has relevant pages."""
    relevant = [Language(code) for code, share in shares.items() if share.relevant]
    return all(any(same_language(code, Language(wanted)) for code in relevant) for wanted in job.langs)


def _listed(ledger: Ledger, job: Job, read: TermsRead) -> ListFacts | None:
    """None without a list, or if it cannot be read any more."""
    if not job.topic.terms:
        return None
    try:
        listed = read_terms(Path(job.topic.terms))
    except ConfigError:
        return None
    only = Language(job.langs[0]) if len(job.langs) == 1 else UNDETERMINED
    terms = TermList(
        tuple(
            msgspec.structs.replace(term, language=only) if term.language == UNDETERMINED else term
            for term in listed.terms
        )
    )
    searched, found = (0, 0) if read.with_terms else _search_boilerplate(ledger, terms)
    languages = Counter(str(term.language) for term in terms.terms)
    return ListFacts(dict(_most(languages, TERMS)), _looks_like(terms), searched, found)


def _search_boilerplate(ledger: Ledger, terms: TermList) -> tuple[int, int]:
    """How many pages were searched, and how many have terms in their boilerplate."""
    matchers: dict[Language, TermMatcher] = {}
    searched = with_terms = 0
    for page in ledger.some_pages(_BOILERPLATE_PAGES):
        searched += 1
        if page.language not in matchers:
            matchers[page.language] = TermMatcher(terms.of(page.language), page.language)
        find = matchers[page.language].find
        with_terms += any(find(paragraph.text).numbers for paragraph in page.paragraphs if paragraph.boilerplate)
    return searched, with_terms


def _looks_like(terms: TermList) -> dict[str, str]:
    """Terms are short, so only a language that is beyond doubt is named."""
    codes = [code for code in terms.languages if code != UNDETERMINED]
    texts = [". ".join(term.text for term in terms.terms if term.language == code)[:_LIST_CHARACTERS] for code in codes]
    guesses = NgramLanguageIdentifier().identify(texts)
    return {
        str(code): str(seems)
        for code, (seems, confidence) in zip(codes, guesses, strict=True)
        if confidence >= _SURE and seems != UNDETERMINED and not same_language(seems, code)
    }
