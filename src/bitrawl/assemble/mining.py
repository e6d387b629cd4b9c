"""From a job's pages to a corpus: in a process of its own, so that a crawl goes on meanwhile."""

import asyncio
import multiprocessing
import platform
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import msgspec

from bitrawl import __version__, config, report
from bitrawl.align.pages import SiteAligner
from bitrawl.assemble.crawling import Ending, Started, finished, opened
from bitrawl.cleaning import without_template
from bitrawl.config import Job
from bitrawl.corpus.card import CardFacts, Side, card
from bitrawl.corpus.export import BILINGUAL, MONOLINGUAL, Format, Item, exporting
from bitrawl.corpus.files import drafting
from bitrawl.corpus.judging import Judge, Refusal, accepted
from bitrawl.corpus.units import Head, TranslationUnit, merged
from bitrawl.errors import ConfigError
from bitrawl.mining import Miner
from bitrawl.model import Language, Page, PagePair, SegmentPair, Unpacker, Visit, pack
from bitrawl.pair.content import Lexicons
from bitrawl.pair.evidence import ALL, Method
from bitrawl.pair.pairing import Pairing, PairingSettings
from bitrawl.store.findings import Findings, SiteFindings
from bitrawl.store.ledger import Ledger
from bitrawl.store.summary import summarise
from bitrawl.text.codes import same_language
from bitrawl.text.language import NgramLanguageIdentifier
from bitrawl.text.lexicon import read_dictionary
from bitrawl.text.words import words

LOOK_EVERY = 2.0  # seconds
FIRST = 50  # pages of a site before it is mined for the first time
GROWTH = 1.5  # of a site since it was mined last: all runs together cost three times the last one


async def mine(job: Job, folder: Path, observe: Callable[[Visit], None], started: Started = lambda *_: None) -> Ending:
    """Crawl, and mine each site while it grows: what is found so far is in corpus/ at any time."""
    grown: Counter[str] = Counter()

    def watched(visit: Visit) -> None:
        if isinstance(visit.outcome, Page):
            grown[parts.crawl.scope.sites.of(visit.outcome.url.host)] += 1
        observe(visit)

    async with opened(job, folder, watched) as parts:
        with _one_process() as pool:
            mill = _Mill(job, folder, parts.ledger, pool)
            grinding = asyncio.ensure_future(mill.grind_while_it_grows(grown))
            started(parts.crawl, lambda: len(parts.queue))
            try:
                ending = await finished(parts)
            finally:
                grinding.cancel()
                await asyncio.gather(grinding, return_exceptions=True)
            await mill.grind_all()
            return ending


async def mine_again(job: Job, folder: Path) -> None:
    """Pair, align and export what a job has, with other settings, without fetching."""
    ledger = Ledger(folder / "job.sqlite")
    try:
        with _one_process() as pool:
            await _Mill(job, folder, ledger, pool).grind_all(again=True)
    finally:
        ledger.close()


class _Mill:
    """Has sites mined one after the other in another process, and keeps what comes of it."""

    def __init__(self, job: Job, folder: Path, ledger: Ledger, pool: ProcessPoolExecutor) -> None:
        self._job = job
        self._folder = folder
        self._ledger = ledger
        self._findings = Findings(ledger)
        self._pool = pool
        self._unpack: Unpacker[SiteFindings] = Unpacker(SiteFindings)

    async def grind_while_it_grows(self, grown: Counter[str]) -> None:
        """Until cancelled; `grown` counts the pages that came since a site was looked at."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            for site in [site for site, count in grown.items() if count]:
                grown[site] = 0
                known, mined = self._ledger.knowledge(site).pages, self._findings.mined_pages(site)
                if known >= max(FIRST, GROWTH * mined):
                    await self._grind(site)
                    await self._write()

    async def grind_all(self, *, again: bool = False) -> None:
        """What has not been mined as it is now, and the corpus."""
        for known in list(self._ledger.sites()):
            if again or known.pages != self._findings.mined_pages(known.site):
                await self._grind(known.site)
        await self._write()

    async def _grind(self, site: str) -> None:
        loop = asyncio.get_running_loop()
        packed = await loop.run_in_executor(self._pool, _mine_site, self._job, self._folder, site)
        self._findings.replace(self._unpack(packed))

    async def _write(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._pool, write_corpus, self._job, self._folder)


def _one_process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))


def _mine_site(job: Job, folder: Path, site: str) -> bytes:
    """In the other process: everything from pages to judged segments."""
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    try:
        miner = Miner(job.languages(), pairing(job), partial(_align, NgramLanguageIdentifier()))
        return pack(miner.mine(site, partial(ledger.pages, site=site), ledger.sitemaps(site)))
    finally:
        ledger.close()


def _align(
    identifier: NgramLanguageIdentifier, pairs: Sequence[tuple[Page, Page]], languages: tuple[Language, Language]
) -> list[list[SegmentPair]]:
    aligner = SiteAligner(languages)
    aligned = aligner.align(pairs)
    judge = Judge(languages, identifier, aligner.lexicon)
    return [judge.judge(segments) for segments in aligned]


def pairing(job: Job) -> Pairing:
    """As the job file asks; raises `ConfigError`."""
    try:
        methods = frozenset(map(Method, job.pair.methods)) or ALL
    except ValueError as error:
        raise ConfigError(f"{error}; the methods are {', '.join(sorted(Method))}") from error
    settings = PairingSettings(
        methods=methods,
        threshold=job.pair.threshold,
        url_pairs=tuple(_url_pair(raw) for raw in job.pair.url_pairs),
        keep_machine_translated=job.pair.machine_translated,
    )
    return Pairing(settings, lexicons=_lexicons(job))


def _url_pair(raw: str) -> tuple[str, str]:
    a, mark, b = raw.partition("=")
    if not (a and mark and b):
        raise ConfigError(f"the URL pair {raw!r} is not understood; write it as en=fr")
    return a, b


def _lexicons(job: Job) -> Lexicons | None:
    """A dictionary is for the first two languages asked for."""
    languages = job.languages()
    if not job.pair.dictionary or len(languages) < 2:
        return None
    both = (languages[0], languages[1])
    return Lexicons({both: read_dictionary(Path(job.pair.dictionary), both)})


def write_corpus(job: Job, folder: Path) -> None:
    """All that was found, in the formats asked for, and its card; each file is replaced when it is complete."""
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    try:
        findings = Findings(ledger)
        corpora = findings.language_pairs() if len(job.languages()) > 1 else [(job.languages()[0],)]
        cards = [_write(job, folder / "corpus", ledger, findings, languages) for languages in corpora]
        if cards:
            with drafting(folder / "corpus" / "card.md") as file:
                file.write("\n---\n\n".join(cards).encode())
    finally:
        ledger.close()
    report.write(folder)


def _write(job: Job, corpus: Path, ledger: Ledger, findings: Findings, languages: Sequence[Language]) -> str:
    """One corpus, of two languages or of one; its card."""
    head = Head(tuple(languages), time.time())
    tally = _Tally(languages)
    known = MONOLINGUAL if len(languages) == 1 else BILINGUAL
    formats = [name for name in job.export.formats if name in known] or [Format.TEXT]
    with exporting(corpus, head, formats, compress=job.export.compress) as write:
        for item in _items(job, ledger, findings, languages, tally):
            tally.count(item)
            write(item)
    return card(_facts(job, corpus, ledger, findings, tally, head))


def _items(
    job: Job, ledger: Ledger, findings: Findings, languages: Sequence[Language], tally: "_Tally"
) -> Iterator[Item]:
    """Pairs, then pages where a format wants them, then units."""
    if len(languages) == 1:
        repeated = findings.duplicates()
        for page in _pages(ledger):
            if page.url not in repeated and same_language(page.language, languages[0]):
                yield page
        return
    lang_a, lang_b = languages
    paired = set()
    for pair in findings.pairs(lang_a, lang_b):
        paired |= {pair.url_a, pair.url_b}
        yield pair
    if Format.XCES in job.export.formats:
        yield from (page for page in _pages(ledger) if page.url in paired)
    good = accepted(findings.segments(lang_a, lang_b), job.judge, tally.refused)
    yield from merged(good, keep_duplicates=job.judge.duplicates)


def _pages(ledger: Ledger) -> Iterator[Page]:
    for site in [known.site for known in ledger.sites()]:
        yield from without_template(partial(ledger.pages, site=site))


class _Tally:
    """What the card counts, while the items pass by."""

    def __init__(self, languages: Sequence[Language]) -> None:
        self.languages = languages
        self.refused: Counter[Refusal] = Counter()
        self.methods: Counter[str] = Counter()
        self.flags: Counter[str] = Counter()
        self.sites: Counter[str] = Counter()
        self.pairs = self.units = self.occurrences = 0
        self.urls: tuple[set[str], set[str]] = (set(), set())
        self.words = [0, 0]
        self.characters = [0, 0]

    def count(self, item: Item) -> None:
        """One more."""
        match item:
            case PagePair():
                self.pairs += 1
                self.methods.update(item.evidence)
                for side, url in enumerate((item.url_a, item.url_b)):
                    if url not in self.urls[side]:
                        self.urls[side].add(url)
                        self.sites[url.site] += 1
            case TranslationUnit():
                self.units += 1
                self.occurrences += len(item.sources)
                self.flags.update(item.pair.flags)
                self._measure(0, item.pair.a.text)
                self._measure(1, item.pair.b.text)
            case Page() if len(self.languages) == 1:
                self.urls[0].add(item.url)
                self.sites[item.url.site] += 1
                for paragraph in item.paragraphs:
                    if not paragraph.boilerplate:
                        self._measure(0, paragraph.text)

    def _measure(self, side: int, text: str) -> None:
        self.words[side] += len(words(text, self.languages[side]))
        self.characters[side] += len(text)

    def sides(self) -> tuple[Side, ...]:
        """One for each language."""
        return tuple(
            Side(language, len(self.urls[n]), self.units, self.words[n], self.characters[n])
            for n, language in enumerate(self.languages)
        )


def _facts(job: Job, corpus: Path, ledger: Ledger, findings: Findings, tally: _Tally, head: Head) -> CardFacts:
    skips = summarise(ledger).skips
    first, last = ledger.connection.execute("SELECT coalesce(min(at), 0), coalesce(max(at), 0) FROM fetches").fetchone()
    return CardFacts(
        name=head.name,
        at=head.at,
        versions={"bitrawl": __version__, "python": platform.python_version()},
        sides=tally.sides(),
        document_pairs=tally.pairs,
        units=tally.units,
        occurrences=tally.occurrences,
        first_fetch=first,
        last_fetch=last,
        sites=tally.sites,
        methods=tally.methods,
        flags=tally.flags,
        refused={str(reason): count for reason, count in tally.refused.items()},
        thresholds=msgspec.to_builtins(job.judge),
        opt_outs=skips.get("robots: opt-out", 0),
        robots=skips.get("robots: robots", 0),
        duplicate_pages=len(findings.duplicates()),
        machine_translated=findings.refusals().get("machine-translated", 0),
        job=config.text_of(job),
        files=tuple(sorted(path.name for path in corpus.glob(f"{head.name}.*"))),
    )
