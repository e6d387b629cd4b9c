"""From what a job has mined to the files of its corpus, their card and their figures."""

import platform
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from bitrawl import config, files, report
from bitrawl.config import Job
from bitrawl.config.choices import corpus_format
from bitrawl.corpus.card import card
from bitrawl.corpus.card_facts import CardFacts, CorpusFacts, Origin
from bitrawl.corpus.checksums import file_facts
from bitrawl.corpus.counting import CorpusCounter, summary
from bitrawl.corpus.export import Item, exporting, file_names, remove_files
from bitrawl.corpus.judging import PageUrls, ThresholdFilter
from bitrawl.corpus.naming import CorpusHeader, corpus_headers
from bitrawl.languages import same_language
from bitrawl.model import Language, Page, Reason, SegmentPair, TranslationUnit, Verdict, Verdicts
from bitrawl.store.findings import Findings
from bitrawl.store.ledger import Ledger
from bitrawl.store.statistics import FetchTimes, fetch_times
from bitrawl.store.summary import summarise
from bitrawl.store.unit_merger import merged
from bitrawl.store.verdicts import VERDICTS, VerdictHistory
from bitrawl.text.clauses import bounded
from bitrawl.text.template import without_template
from bitrawl.url import Url
from bitrawl.version import __version__


def write_corpus(job: Job, folder: Path, to: Path | None = None) -> None:
    """All that was found, in the formats asked for, and its card; each file is replaced when it is complete.

    With more than two languages, pairs for which nothing was found have no files. A job in one language or in two always
    has them, also when nothing was found. What an earlier run found is not there.
    With `to` the corpus goes into that folder, and nothing in the job's folder changes.
    """
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    try:
        mined = _Mined(job, ledger, Findings(ledger), VerdictHistory(folder / VERDICTS).standing())
        corpus, now = to or folder / "corpus", time.time()
        headers = corpus_headers(job.languages(), now)
        written = [_write(mined, corpus, header, needed=len(headers) == 1) for header in headers]
        figures = {one.facts.name: summary(one.facts) for one in written}
        files.write(corpus / "summary.json", msgspec.json.format(msgspec.json.encode(figures)))
        files.write(corpus / "card.md", card(_facts(mined, written, now)))
    finally:
        ledger.close()
    if to is None:
        report.write(folder)


def corpus_units(
    job: Job, folder: Path, languages: Sequence[Language] = ()
) -> Iterator[tuple[CorpusHeader, TranslationUnit]]:
    """The units that the corpora of a job hold, by the thresholds of that job; one in memory at a time.

    With `languages`, in any order, only those of that pair.
    """
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    try:
        mined = _Mined(job, ledger, Findings(ledger), VerdictHistory(folder / VERDICTS).standing())
        for header in corpus_headers(job.languages(), 0.0):
            if len(header.languages) == 2 and (not languages or set(header.languages) == set(languages)):
                for unit in _units(mined, header.languages, mined.filter()):
                    yield header, unit
    finally:
        ledger.close()


class _Mined(NamedTuple):
    """Where all that is written comes from."""

    job: Job
    ledger: Ledger
    findings: Findings
    verdicts: Verdicts

    def filter(self) -> ThresholdFilter:
        """What gets into one corpus."""
        return ThresholdFilter(self.job.judge, self.verdicts, accepted_only=self.job.export.accepted_only)

    def is_accepted(self, segment: SegmentPair) -> bool:
        """By a person."""
        return self.verdicts.of_segment(segment) is Verdict.ACCEPT


class _Written(NamedTuple):
    """One corpus in its files: its figures, its pages, and those of them whose texts are in it."""

    facts: CorpusFacts
    urls: set[Url]
    sources: set[Url]


def _write(mined: _Mined, corpus: Path, header: CorpusHeader, *, needed: bool) -> _Written:
    """One corpus, of two languages or of one; an empty one only if it is `needed`."""
    asked = mined.job.export
    counter, good_enough = CorpusCounter(header), mined.filter()
    items = _items(mined, header.languages, good_enough)
    first = list(islice(items, 1))
    if first or needed:
        with exporting(corpus, header, asked.formats, compress=asked.compress) as write:
            for item in chain(first, items):
                counter.count(item)
                write(item)
        names = file_names(header, asked.formats, compress=asked.compress)
    else:
        remove_files(corpus, header)
        names = []
    facts = counter.facts(good_enough.rejections, file_facts(corpus, names), good_enough.rejected_pairs)
    return _Written(facts, set().union(*counter.urls), counter.sources)


def _items(mined: _Mined, languages: Sequence[Language], good_enough: ThresholdFilter) -> Iterator[Item]:
    """Pairs, then pages where a format wants them, then units."""
    ledger, findings = mined.ledger, mined.findings
    if len(languages) == 1:
        repeated = findings.duplicates()
        for page in _pages(ledger):
            if page.is_on_topic and page.url not in repeated and same_language(page.language, languages[0]):
                yield bounded(page, mined.job.align.characters)[0]
        return
    lang_a, lang_b = languages
    spoken: dict[Url, Language] = {}
    for pair in good_enough.accepted_pairs(findings.pairs(lang_a, lang_b), _needed(mined, languages)):
        spoken |= {pair.url_a: lang_a, pair.url_b: lang_b}
        yield pair
    if any(corpus_format(name).has_pages for name in mined.job.export.formats):
        yield from (_in_language(page, spoken[page.url]) for page in _pages(ledger) if page.url in spoken)
    yield from _units(mined, languages, good_enough)


def _needed(mined: _Mined, languages: Sequence[Language]) -> set[PageUrls]:
    """Page pairs that nobody accepted, but that hold an accepted segment. Only asked where all others stay out."""
    if not mined.job.export.accepted_only or not mined.verdicts.segments:
        return set()
    found = mined.findings.segments(languages[0], languages[1])
    return {(one.url_a, one.url_b) for one in mined.filter().accepted(found) if mined.is_accepted(one)}


def _units(mined: _Mined, languages: Sequence[Language], good_enough: ThresholdFilter) -> Iterator[TranslationUnit]:
    good = good_enough.accepted(mined.findings.segments(languages[0], languages[1]))
    preferred = mined.is_accepted if mined.verdicts.segments else None
    yield from merged(good, keep_duplicates=mined.job.judge.duplicates, preferred=preferred)


def _pages(ledger: Ledger) -> Iterator[Page]:
    for site in [known.site for known in ledger.sites()]:
        yield from without_template(ledger.view(site).pages)


def _in_language(page: Page, language: Language) -> Page:
    """A pair may know better than the page's text: a page of code is in the language that it claims to be."""
    return page if same_language(page.language, language) else msgspec.structs.replace(page, language=language)


def _facts(mined: _Mined, written: Sequence[_Written], now: float) -> CardFacts:
    job, ledger, findings, _ = mined
    skips, times = summarise(ledger), fetch_times(ledger)
    sources = set[Url]().union(*(one.sources for one in written))
    origin = Origin.ARCHIVE if job.warc else Origin.REPLAY if job.replay else Origin.CRAWL
    if origin is not Origin.CRAWL:
        times = FetchTimes(0.0, 0.0)  # when the archives were read; when they were made the ledger does not know
    return CardFacts(
        at=now,
        versions={"bitrawl": __version__, "python": platform.python_version()},
        corpora=tuple(one.facts for one in written),
        origin=origin,
        first_fetch=times.first,
        last_fetch=times.last,
        sites=Counter(url.site for url in set().union(*(one.urls for one in written))),
        thresholds=msgspec.to_builtins(job.judge) | ({"accepted_only": True} if job.export.accepted_only else {}),
        source_pages=len(sources),
        licences=ledger.licences(sources),
        opt_outs=skips.skipped_for(Reason.OPT_OUT),
        robots=skips.skipped_for(Reason.ROBOTS),
        duplicate_pages=len(findings.duplicates()),
        machine_translated=findings.refusals().get("machine-translated", 0),
        job=config.public_text_of(job),
    )
