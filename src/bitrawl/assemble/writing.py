"""From what a job has mined to the files of its corpus, their card and their figures."""

import platform
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import msgspec

from bitrawl import __version__, config, report
from bitrawl.cleaning import without_template
from bitrawl.config import Job
from bitrawl.corpus.card import CardFacts, CorpusFacts, Origin, Side, card
from bitrawl.corpus.export import Format, Item, exporting, files
from bitrawl.corpus.files import drafting
from bitrawl.corpus.judging import Refusal, accepted
from bitrawl.corpus.units import Head, TranslationUnit, merged
from bitrawl.languages import same_language
from bitrawl.model import Language, Page, PagePair, Reason
from bitrawl.store.findings import Findings
from bitrawl.store.ledger import Ledger
from bitrawl.store.statistics import FetchTimes, fetch_times
from bitrawl.store.summary import summarise
from bitrawl.text.words import words
from bitrawl.url import Url


def write_corpus(job: Job, folder: Path) -> None:
    """All that was found, in the formats asked for, and its card; each file is replaced when it is complete.

    Each pair of the job's languages has its files, also when nothing was found: what an earlier run found is not there.
    """
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    try:
        mined = _Mined(job, ledger, Findings(ledger))
        corpus, now = folder / "corpus", time.time()
        heads = [Head(languages, now) for languages in _corpora(job.languages())]
        tallies = [_write(mined, corpus, head) for head in heads]
        with drafting(corpus / "summary.json") as file:
            file.write(msgspec.json.format(msgspec.json.encode({tally.name: tally.summary() for tally in tallies})))
        with drafting(corpus / "card.md") as file:
            file.write(card(_facts(mined, tallies, now)).encode())
    finally:
        ledger.close()
    report.write(folder)


class _Mined(NamedTuple):
    """Where all that is written comes from."""

    job: Job
    ledger: Ledger
    findings: Findings


def _corpora(languages: Sequence[Language]) -> Iterable[tuple[Language, ...]]:
    return combinations(languages, 2) if len(languages) > 1 else [(languages[0],)]


def _write(mined: _Mined, corpus: Path, head: Head) -> "_Tally":
    """One corpus, of two languages or of one."""
    asked = mined.job.export
    tally = _Tally(head, files(head, asked.formats, compress=asked.compress))
    with exporting(corpus, head, asked.formats, compress=asked.compress) as write:
        for item in _items(mined, head.languages, tally.refused):
            tally.count(item)
            write(item)
    return tally


def _items(mined: _Mined, languages: Sequence[Language], refused: Counter[Refusal]) -> Iterator[Item]:
    """Pairs, then pages where a format wants them, then units."""
    job, ledger, findings = mined
    if len(languages) == 1:
        repeated = findings.duplicates()
        for page in _pages(ledger):
            if page.url not in repeated and same_language(page.language, languages[0]):
                yield page
        return
    lang_a, lang_b = languages
    spoken: dict[Url, Language] = {}
    for pair in findings.pairs(lang_a, lang_b):
        spoken |= {pair.url_a: lang_a, pair.url_b: lang_b}
        yield pair
    if Format.XCES in job.export.formats:
        yield from (_in_language(page, spoken[page.url]) for page in _pages(ledger) if page.url in spoken)
    good = accepted(findings.segments(lang_a, lang_b), job.judge, refused)
    yield from merged(good, keep_duplicates=job.judge.duplicates)


def _pages(ledger: Ledger) -> Iterator[Page]:
    for site in [known.site for known in ledger.sites()]:
        yield from without_template(partial(ledger.pages, site=site))


def _in_language(page: Page, language: Language) -> Page:
    """A pair may know better than the page's text: a page of code is in the language that it claims to be."""
    return page if same_language(page.language, language) else msgspec.structs.replace(page, language=language)


class _Tally:
    """What is said of a corpus, counted while its items pass by."""

    def __init__(self, head: Head, names: Sequence[str]) -> None:
        self.name = head.name
        self.refused: Counter[Refusal] = Counter()
        self.urls: tuple[set[Url], set[Url]] = (set(), set())
        self._languages = head.languages
        self._files = names
        self._methods: Counter[str] = Counter()
        self._flags: Counter[str] = Counter()
        self._pairs = self._units = self._occurrences = self._near_duplicates = 0
        self._segments = [0, 0]
        self._words = [0, 0]
        self._characters = [0, 0]

    def count(self, item: Item) -> None:
        """One more."""
        match item:
            case PagePair():
                self._pairs += 1
                self._methods.update(item.evidence.keys())
                self.urls[0].add(item.url_a)
                self.urls[1].add(item.url_b)
            case TranslationUnit():
                self._units += 1
                self._occurrences += len(item.sources)
                self._near_duplicates += item.variants
                self._flags.update(item.pair.flags)
                self._measure(0, item.pair.a.text)
                self._measure(1, item.pair.b.text)
            case Page() if len(self._languages) == 1:
                self.urls[0].add(item.url)
                for paragraph in item.paragraphs:
                    if not paragraph.boilerplate:
                        self._measure(0, paragraph.text)

    def _measure(self, side: int, text: str) -> None:
        self._segments[side] += 1
        self._words[side] += len(words(text, self._languages[side]))
        self._characters[side] += len(text)

    def summary(self) -> dict[str, object]:
        """For programs: `summary.json`."""
        if len(self._languages) == 1:
            return {"documents": len(self.urls[0]), "paragraphs": self._segments[0], "words": self._words[0]}
        return {
            "units": self._units,
            "occurrences": self._occurrences,
            "pairs": self._pairs,
            "refused": dict(self.refused.most_common()),
            "near_duplicates": self._near_duplicates,
        }

    def facts(self) -> CorpusFacts:
        """For people: the card."""
        return CorpusFacts(
            name=self.name,
            sides=tuple(
                Side(language, len(self.urls[n]), self._segments[n], self._words[n], self._characters[n])
                for n, language in enumerate(self._languages)
            ),
            document_pairs=self._pairs,
            units=self._units,
            occurrences=self._occurrences,
            near_duplicates=self._near_duplicates,
            methods=self._methods,
            flags=self._flags,
            refused={str(reason): count for reason, count in self.refused.items()},
            files=tuple(self._files),
        )


def _facts(mined: _Mined, tallies: Sequence[_Tally], now: float) -> CardFacts:
    job, ledger, findings = mined
    summary, times = summarise(ledger), fetch_times(ledger)
    origin = Origin.ARCHIVE if job.warc else Origin.REPLAY if job.replay else Origin.CRAWL
    if origin is not Origin.CRAWL:
        times = FetchTimes(0.0, 0.0)  # when the archives were read; when they were made the ledger does not know
    return CardFacts(
        at=now,
        versions={"bitrawl": __version__, "python": platform.python_version()},
        corpora=tuple(tally.facts() for tally in tallies),
        origin=origin,
        first_fetch=times.first,
        last_fetch=times.last,
        sites=Counter(url.site for url in set().union(*(urls for tally in tallies for urls in tally.urls))),
        thresholds=msgspec.to_builtins(job.judge),
        licences=findings.licences(),
        opt_outs=summary.skipped_for(Reason.OPT_OUT),
        robots=summary.skipped_for(Reason.ROBOTS),
        duplicate_pages=len(findings.duplicates()),
        machine_translated=findings.refusals().get("machine-translated", 0),
        job=config.text_of(job),
    )
