"""The files of corpora, their card and their figures, from the shards of one job or of many: an export is a merge of one."""

import platform
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import msgspec

from bitrawl import config, files
from bitrawl.config import Job
from bitrawl.config.choices import corpus_format
from bitrawl.corpus.card import card
from bitrawl.corpus.card_facts import CardFacts, CorpusFacts, Origin
from bitrawl.corpus.checksums import FileFacts, file_facts
from bitrawl.corpus.counting import CorpusCounter, most_first, pages_by_site, summary
from bitrawl.corpus.export import Item, exporting, file_names, remove_files
from bitrawl.corpus.merge_facts import JobPart, MergedCounts
from bitrawl.corpus.merger import Groups, grouped
from bitrawl.corpus.naming import CorpusHeader, corpus_headers
from bitrawl.jobs.facts import write_report
from bitrawl.jobs.shards import Sharded, shard_corpora, turned_pages, turned_unit
from bitrawl.languages import same_language
from bitrawl.model import Language, Page, TranslationUnit
from bitrawl.store.findings import Findings
from bitrawl.store.ledger import Ledger
from bitrawl.text.sentences import bounded
from bitrawl.text.template import without_template
from bitrawl.url import Url
from bitrawl.version import __version__

SCRATCH = ".merging"

Tell = Callable[[str], None]


class CorpusPlan(NamedTuple):
    """What is written."""

    headers: Sequence[CorpusHeader]
    formats: Sequence[str]
    compress: bool
    sites: dict[str, int]  # the number of each site, given when it is met
    keep_duplicates: bool = False
    pages: Callable[[Mapping[Url, Language]], Iterator[Page]] | None = None  # of the pairs, where a format wants them


class WrittenCorpus(NamedTuple):
    """One corpus in its files."""

    facts: CorpusFacts
    counter: CorpusCounter
    units: Mapping[tuple[str, str], int] = {}  # that each site of each job represents


def write_corpus(job: Job, folder: Path, to: Path | None = None) -> None:
    """All that was found, in the formats asked for, and its card; each file is replaced when it is complete.

    With more than two languages, pairs for which nothing was found have no files. A job in one language or in two always
    has them, also when nothing was found. What an earlier run found is not there.
    With `to` the corpus goes into that folder, and nothing in the job's folder changes.
    """
    ledger, corpus, asked = Ledger(folder / "job.sqlite", read_only=True), to or folder / "corpus", job.export
    headers = corpus_headers(job.languages(), time.time())
    pages = partial(_pages_in, ledger) if any(corpus_format(name).has_pages for name in asked.formats) else None
    plan = CorpusPlan(headers, asked.formats, asked.compress, {}, job.judge.duplicates, pages)
    scratch = corpus / SCRATCH
    files.discard(scratch)
    try:
        part = shard_corpora(job, ledger, scratch)
        if len(job.languages()) == 1:
            written, part = _write_pages(job, ledger, plan, corpus, part)
        else:
            whole = Sharded(str(folder), scratch, part)
            written = [_alone(write_merged([whole], header, plan, corpus, scratch), part) for header in headers]
        facts = card_facts([part], plan, written)
        accepted_only = {"accepted_only": True} if asked.accepted_only else {}
        thresholds = {**facts.thresholds, **accepted_only}
        write_about(corpus, msgspec.structs.replace(facts, thresholds=thresholds, job=config.public_text_of(job)))
    finally:
        ledger.close()
        files.discard(scratch)
    if to is None:
        write_report(folder)


def corpus_units(
    job: Job, folder: Path, languages: Sequence[Language] = ()
) -> Iterator[tuple[CorpusHeader, TranslationUnit]]:
    """The units that the corpora of a job hold, by the thresholds of that job; one in memory at a time.

    With `languages`, in any order, only those of that pair.
    """
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    try:
        with tempfile.TemporaryDirectory(prefix="bitrawl-units-") as scratch:
            one = Sharded(str(folder), Path(scratch), shard_corpora(job, ledger, Path(scratch), languages))
            for header in corpus_headers(job.languages(), 0.0):
                in_order = _sorted(header)
                if len(header.languages) == 2 and one.part.corpus(in_order):
                    shard, duplicates = one.segments(in_order), job.judge.duplicates
                    with grouped([shard], Path(scratch), keep_duplicates=duplicates) as segments:
                        for unit in _units(segments, header, lambda _: None):
                            yield header, unit
    finally:
        ledger.close()


def write_merged(
    parts: Sequence[Sharded],
    header: CorpusHeader,
    plan: CorpusPlan,
    folder: Path,
    scratch: Path,
    tell: Tell = lambda _: None,
) -> WrittenCorpus:
    """One corpus of two languages, from all of these jobs. An empty one has no files among others."""
    languages = _sorted(header)
    jobs = {one.name: one for one in parts if one.part.corpus(languages)}
    found = {name: corpus for name, one in jobs.items() if (corpus := one.part.corpus(languages))}
    wanted = len(plan.headers) == 1 or any(one.page_pairs or one.segment_pairs for one in found.values())
    tell(f"{header.name}: comparing the segments of {len(found)} jobs")
    with (
        grouped([one.page_pairs(languages) for one in jobs.values()], scratch / "page_pairs") as pairs,
        grouped(
            [one.segments(languages) for one in jobs.values()],
            scratch / "segments",
            keep_duplicates=plan.keep_duplicates,
        ) as segments,
    ):
        counter, written = _write(_items(pairs, segments, header, plan, tell), header, plan, folder, wanted=wanted)
        rows, exact, near = segments.counts
        counts = MergedCounts(header.languages, found, rows, rows - exact, exact - near, near, pairs.counts.near)
        sites = [(name, site) for name, corpus in found.items() for site in corpus.sites]
        starts = [0, *accumulate(site.segment_pairs for _, site in sites)][: len(sites)]
        represented = segments.represented(starts) if sites else []
    rejected = sum((Counter(corpus.rejected) for corpus in found.values()), Counter[str]())
    units = {(name, site.site): count for (name, site), count in zip(sites, represented, strict=True)}
    return WrittenCorpus(counter.facts(rejected, written, counts), counter, units)


def card_facts(jobs: Sequence[JobPart], plan: CorpusPlan, written: Sequence[WrittenCorpus]) -> CardFacts:
    licences = sum((Counter(job.licences) for job in jobs), Counter[str]())
    origins = {Origin(job.origin) for job in jobs}
    origin = next(one for one in (Origin.CRAWL, Origin.REPLAY, Origin.ARCHIVE) if one in origins)
    # When archives were read says nothing; when they were made the ledger does not know.
    fetched = [job for job in jobs if job.first_fetch] if origin is Origin.CRAWL else []
    return CardFacts(
        at=plan.headers[0].at,
        versions={"bitrawl": __version__, "python": platform.python_version()},
        corpora=tuple(one.facts for one in written),
        origin=origin,
        first_fetch=min((job.first_fetch for job in fetched), default=0.0),
        last_fetch=max((job.last_fetch for job in fetched), default=0.0),
        sites=pages_by_site([one.counter for one in written], plan.sites),
        thresholds=_thresholds(jobs),
        source_pages=sum(job.source_pages for job in jobs),
        licences=licences,
        opt_outs=sum(job.opt_outs for job in jobs),
        robots=sum(job.robots for job in jobs),
        machine_translated=sum(job.machine_translated for job in jobs),
        duplicate_pages=sum(job.duplicate_pages for job in jobs),
    )


def write_about(folder: Path, facts: CardFacts) -> None:
    """The figures and the card."""
    figures = {corpus.name: summary(corpus) for corpus in facts.corpora}
    files.write(folder / "summary.json", msgspec.json.format(msgspec.json.encode(figures)))
    files.write(folder / "card.md", card(facts))


def _alone(written: WrittenCorpus, part: JobPart) -> WrittenCorpus:
    """Without what only a merge of several jobs tells."""
    counts = written.facts.merged
    corpus = part.corpus(_sorted(counts)) if counts else None
    rejected_pairs = most_first(corpus.rejected_pairs) if corpus else {}
    return written._replace(facts=msgspec.structs.replace(written.facts, merged=None, rejected_pairs=rejected_pairs))


def _sorted(corpus: CorpusHeader | MergedCounts) -> tuple[str, str]:
    first, second = sorted(corpus.languages)
    return first, second


def _write_pages(
    job: Job, ledger: Ledger, plan: CorpusPlan, folder: Path, part: JobPart
) -> tuple[list[WrittenCorpus], JobPart]:
    """The corpus of one language, and the part with what its pages state."""
    (header,) = plan.headers
    repeated, sources = Findings(ledger).duplicates(), set[Url]()

    def pages() -> Iterator[Page]:
        for page in _pages(ledger):
            if page.is_on_topic and page.url not in repeated and same_language(page.language, header.languages[0]):
                sources.add(page.url)
                yield bounded(page, job.align.characters)[0]

    counter, written = _write(pages(), header, plan, folder, wanted=True)
    part = msgspec.structs.replace(part, source_pages=len(sources), licences=dict(ledger.licences(sources)))
    return [WrittenCorpus(counter.facts({}, written), counter)], part


def _write(
    items: Iterable[Item], header: CorpusHeader, plan: CorpusPlan, folder: Path, *, wanted: bool
) -> tuple[CorpusCounter, list[FileFacts]]:
    counter = CorpusCounter(header, plan.sites)
    if not wanted:
        remove_files(folder, header)
        return counter, []
    with exporting(folder, header, plan.formats, compress=plan.compress) as write:
        for item in items:
            counter.count(item)
            write(item)
    return counter, file_facts(folder, file_names(header, plan.formats, compress=plan.compress))


def _items(pairs: Groups, segments: Groups, header: CorpusHeader, plan: CorpusPlan, tell: Tell) -> Iterator[Item]:
    """Pairs, then pages where a format wants them, then units."""
    languages: dict[Url, Language] = {}
    for stored in pairs.page_pairs():
        pair = stored if header.languages == _sorted(header) else turned_pages(stored)
        if plan.pages is not None:
            languages |= {pair.url_a: pair.lang_a, pair.url_b: pair.lang_b}
        yield pair
    if plan.pages is not None:
        yield from plan.pages(languages)
    rows = len(segments.shards)
    yield from _units(segments, header, lambda done: tell(f"{header.name}: {done:,} of {rows:,} segment pairs written"))


def _units(segments: Groups, header: CorpusHeader, told: Callable[[int], None]) -> Iterator[TranslationUnit]:
    units = segments.units(told)
    return units if header.languages == _sorted(header) else map(turned_unit, units)


def _pages_in(ledger: Ledger, languages: Mapping[Url, Language]) -> Iterator[Page]:
    """A pair may know better than the page's text: a page of code is in the language that it claims to be."""
    for page in _pages(ledger):
        language = languages.get(page.url)
        if language is not None:
            same = same_language(page.language, language)
            yield page if same else msgspec.structs.replace(page, language=language)


def _pages(ledger: Ledger) -> Iterator[Page]:
    for site in [known.site for known in ledger.sites()]:
        yield from without_template(ledger.view(site).pages)


def _thresholds(jobs: Sequence[JobPart]) -> dict[str, object]:
    """A threshold that differs between jobs is given with all of its values."""
    values: dict[str, list[object]] = {}
    for job in jobs:
        for name, value in job.thresholds.items():
            known = values.setdefault(name, [])
            if value not in known:
                known.append(value)
    return {name: several[0] if len(several) == 1 else {"by job": several} for name, several in values.items()}
