"""From a job's pages to a corpus: in a process of its own, so that a crawl goes on meanwhile."""

import asyncio
import hashlib
import multiprocessing
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cache, partial
from importlib.util import find_spec
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path

import msgspec

from bitrawl import __version__, config
from bitrawl.align.embeddings import EmbeddingAligner
from bitrawl.align.pages import SiteAligner
from bitrawl.assemble.crawling import Ending, Started, finished, opened
from bitrawl.assemble.writing import write_corpus
from bitrawl.config import Job
from bitrawl.corpus.export import Format
from bitrawl.corpus.judging import Judge
from bitrawl.errors import ConfigError
from bitrawl.mining import Miner
from bitrawl.model import UNDETERMINED, Language, Page, SegmentPair, Sitemap, Unpacker, Visit, pack
from bitrawl.pair.content import Lexicons
from bitrawl.pair.evidence import ALL, Method
from bitrawl.pair.pairing import Pairing, PairingResult, PairingSettings
from bitrawl.pair.verification import Refusal as PairRefusal
from bitrawl.pair.verification import Refused
from bitrawl.protocols import Encoder
from bitrawl.report.wording import counted
from bitrawl.store.findings import Findings, MinedFrom, SiteFindings
from bitrawl.store.ledger import Ledger
from bitrawl.text.encoder import load_encoder
from bitrawl.text.language import NgramLanguageIdentifier
from bitrawl.text.lexicon import read_dictionary

LOOK_EVERY = 2.0  # seconds
FIRST = 8  # pages of a site before it is mined for the first time
GROWTH = 1.5  # of a site since it was mined last: all runs together cost three times the last one
REST = 5  # as long as writing the corpus took it is not written again: that costs a sixth of the time at most
SHORTEST_REST = 10.0  # seconds

Doing = Callable[[str], None]
"""Is told what is being done: "pairing example.org (635 pages)"."""


async def mine(
    job: Job,
    folder: Path,
    observe: Callable[[Visit], None],
    started: Started = lambda *_: None,
    *,
    fresh: bool = False,
    doing: Doing = lambda _what: None,
) -> Ending:
    """Crawl, and mine each site while it grows: what is found so far is in corpus/ at any time; as `run`."""
    grown: Counter[str] = Counter()
    _check(job)

    def watched(visit: Visit) -> None:
        if isinstance(visit.outcome, Page):
            grown[parts.crawl.scope.sites.of(visit.outcome.url.host)] += 1
        observe(visit)

    async with _one_process() as (pool, heard):
        await _ready(job, pool)
        async with opened(job, folder, watched, fresh=fresh) as parts:
            mill = _Mill(job, folder, parts.ledger, pool, doing=doing)
            heard(mill.tell)
            over = asyncio.Event()
            grinding = asyncio.ensure_future(mill.grind_while_it_grows(grown, over))
            started(parts.crawl, lambda: len(parts.queue))
            try:
                ending = await finished(parts)
                over.set()
                await grinding  # what it is at is kept
                await mill.grind_all()
            finally:
                grinding.cancel()
                await asyncio.gather(grinding, return_exceptions=True)
                heard(lambda _what: None)
                parts.ledger.remember("mining", "")
            return ending


async def mine_again(job: Job, folder: Path, *, keep_pairs: bool = False, doing: Doing = lambda _what: None) -> None:
    """Pair, align and export what a job has, with other settings, without fetching; or only align and export.

    The folder's job is this one from the moment when all is ready to begin.
    """
    _check(job)
    with _held(folder) as ledger:
        if keep_pairs:
            _want_findings(folder, ledger)
        async with _one_process() as (pool, heard):
            await _ready(job, pool)
            config.write(job, folder / "job.toml")
            mill = _Mill(job, folder, ledger, pool, keep_pairs=keep_pairs, doing=doing)
            heard(mill.tell)
            try:
                await mill.grind_all(again=True)
            finally:
                heard(lambda _what: None)
                ledger.remember("mining", "")


def export(job: Job, folder: Path) -> None:
    """Write the corpus of what was mined, with the formats and thresholds of this job, which is the folder's then."""
    _check(job)
    with _held(folder) as ledger:
        _want_findings(folder, ledger)
        write_corpus(job, folder)
        config.write(job, folder / "job.toml")


def _check(job: Job) -> None:
    """Raise `ConfigError` for what would only show when a site is paired or the corpus written."""
    pairing(job)
    if Format.PARQUET in job.export.formats and find_spec("pyarrow") is None:
        raise ConfigError("Parquet needs pyarrow: pip install 'bitrawl[parquet]', or leave the format out")


@contextmanager
def _held(folder: Path) -> Iterator[Ledger]:
    """A job's ledger, with nobody else writing; raises `StoreError` where there is none, and makes none."""
    Ledger(folder / "job.sqlite", read_only=True).close()
    ledger = Ledger(folder / "job.sqlite")
    try:
        yield ledger
    finally:
        ledger.close()


def _want_findings(folder: Path, ledger: Ledger) -> None:
    if not Findings(ledger).begun():
        raise ConfigError(f"nothing of {folder} was mined yet; pair its pages with: bitrawl pair {folder}")


class _Mill:
    """Has sites mined one after the other in another process, and keeps what comes of it."""

    def __init__(
        self,
        job: Job,
        folder: Path,
        ledger: Ledger,
        pool: Executor,
        *,
        keep_pairs: bool = False,
        doing: Doing = lambda _what: None,
    ) -> None:
        self._job = job
        self._folder = folder
        self._ledger = ledger
        self._findings = Findings(ledger)
        self._pool = pool
        self._keep_pairs = keep_pairs
        self._doing = doing
        self._settings = _fingerprint(job)
        self._unpack: Unpacker[SiteFindings] = Unpacker(SiteFindings)
        self._unwritten = False
        self._rest_until = 0.0

    async def grind_while_it_grows(self, grown: Counter[str], over: asyncio.Event) -> None:
        """Until it is over; `grown` counts the pages that came since a site was looked at."""
        while not over.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), LOOK_EVERY)
            for site in [site for site, count in grown.items() if count]:
                if over.is_set():
                    return
                grown[site] = 0
                mined = self._findings.mined(site)
                if self._ledger.knowledge(site).pages >= max(FIRST, GROWTH * (mined.pages if mined else 0)):
                    await self._grind(site)
                await self._write_now_and_then()

    async def grind_all(self, *, again: bool = False) -> None:
        """What has not been mined as it is now and with these settings, and the corpus."""
        for known in list(self._ledger.sites()):
            earlier = self._findings.mined(known.site)
            if (known.pages or earlier) and (again or earlier != MinedFrom(known.pages, self._settings)):
                await self._grind(known.site)
        await self._write()

    def tell(self, what: str) -> None:
        """To whoever watches, and to `status`."""
        self._ledger.remember("mining", what)
        self._doing(what)

    async def _grind(self, site: str) -> None:
        earlier = self._findings.mined(site)
        if self._keep_pairs and earlier is None:
            return  # It has no pairs to keep.
        pages = self._ledger.knowledge(site).pages
        self.tell(f"{'reading' if self._keep_pairs else 'pairing'} {site} ({counted(pages, 'page')})")
        loop = asyncio.get_running_loop()
        packed = await loop.run_in_executor(self._pool, _mine_site, self._job, self._folder, site, self._keep_pairs)
        found = self._unpack(packed)
        # Pairs that are kept were made of those pages, with those settings: mining sees by it what it has to do.
        made = earlier if self._keep_pairs and earlier else MinedFrom(found.pages, self._settings)
        self._findings.replace(msgspec.structs.replace(found, pages=made.pages, settings=made.settings))
        self._unwritten = True

    async def _write_now_and_then(self) -> None:
        if self._unwritten and time.monotonic() >= self._rest_until:
            await self._write()

    async def _write(self) -> None:
        self.tell("writing the corpus")
        began = time.monotonic()
        await asyncio.get_running_loop().run_in_executor(self._pool, write_corpus, self._job, self._folder)
        now = time.monotonic()
        self._rest_until = now + max(SHORTEST_REST, REST * (now - began))
        self._unwritten = False
        self.tell("")


def _fingerprint(job: Job) -> str:
    """Of all that pairs and alignment depend on, but for the pages."""
    words = Path(job.pair.dictionary).read_bytes() if job.pair.dictionary and len(job.languages()) > 1 else b""
    settings = msgspec.json.encode((__version__, job.languages(), job.encoder, job.pair))
    return hashlib.blake2b(settings + words, digest_size=16).hexdigest()


async def _ready(job: Job, pool: Executor) -> None:
    """Raises `ConfigError` for an encoder that cannot be had, before anything is fetched or written."""
    if job.encoder:
        await asyncio.get_running_loop().run_in_executor(pool, _have_encoder, job)


@asynccontextmanager
async def _one_process() -> AsyncIterator[tuple[Executor, Callable[[Doing], None]]]:
    """A process that mines, and a way to hear what it is at; a fault or an interrupt ends it at once."""
    context, loop = multiprocessing.get_context("spawn"), asyncio.get_running_loop()
    ear, mouth = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(1, mp_context=context, initializer=_begin, initargs=(mouth,))
    try:
        _start(pool)
        yield pool, lambda doing: loop.add_reader(ear.fileno(), lambda: doing(ear.recv()))
    except BaseException:
        for process in list((pool._processes or {}).values()):  # noqa: SLF001 (terminate_workers() of Python 3.14)
            process.terminate()
        raise
    finally:
        loop.remove_reader(ear.fileno())
        pool.shutdown(cancel_futures=True)
        ear.close()
        mouth.close()


def _start(pool: Executor) -> None:
    """Ctrl-C reaches all processes of a terminal, and is ours to decide on: the other one inherits that it is blocked."""
    resource_tracker.ensure_running()  # It is started with the first process, and unblocks the signal for us.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        pool.submit(int)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_mouth: list[Connection] = []
"""Of the process that mines: there is no other way to hand its tasks what it was started with."""


def _begin(mouth: Connection) -> None:
    _mouth.append(mouth)


def _say(what: str) -> None:
    for mouth in _mouth:
        mouth.send(what)


def _mine_site(job: Job, folder: Path, site: str, keep_pairs: bool) -> bytes:  # noqa: FBT001 (an executor has no keywords)
    """In the other process: everything from pages to judged segments."""
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    try:
        encoder = _encoder(job.encoder) if job.encoder else None
        align = partial(_align, NgramLanguageIdentifier(), encoder)
        pairer = _RecordedPairs(Findings(ledger), site) if keep_pairs else pairing(job, encoder)
        miner = Miner(job.languages(), pairer, align)
        return pack(miner.mine(site, partial(ledger.pages, site=site), ledger.sitemaps(site)))
    finally:
        ledger.close()


class _RecordedPairs:
    """What pairing found of a site the last time."""

    def __init__(self, findings: Findings, site: str) -> None:
        pairs, refusals = findings.recorded(site)
        self._result = PairingResult(
            pairs,
            [Refused(no.url_a, no.url_b, UNDETERMINED, UNDETERMINED, PairRefusal(no.reason), 0.0) for no in refusals],
        )

    def pairs(
        self,
        pages: Iterable[Page],  # noqa: ARG002
        languages: Sequence[Language],  # noqa: ARG002
        sitemaps: Iterable[Sitemap] = (),  # noqa: ARG002
    ) -> PairingResult:
        """As `mining.Pairer`."""
        return self._result


@cache
def _encoder(model: str) -> Encoder:
    """Loaded once in a process: sites come one after the other, and again as they grow."""
    return load_encoder(model)


def _have_encoder(job: Job) -> None:
    _encoder(job.encoder)


def _align(
    identifier: NgramLanguageIdentifier,
    encoder: Encoder | None,
    pairs: Sequence[tuple[Page, Page]],
    languages: tuple[Language, Language],
) -> list[list[SegmentPair]]:
    _say(f"aligning {'-'.join(languages)} ({counted(len(pairs), 'pair')} of pages)")
    aligner = SiteAligner(languages, EmbeddingAligner(encoder) if encoder else None)
    aligned = aligner.align(pairs)
    judge = Judge(languages, identifier, aligner.lexicon)
    return [judge.judge(segments) for segments in aligned]


def pairing(job: Job, encoder: Encoder | None = None) -> Pairing:
    """As the job file asks; raises `ConfigError`. The encoder that it names is given by who has loaded it."""
    unknown = sorted(set(job.pair.methods) - set(Method))
    if unknown:
        raise ConfigError(f"there is no method {', '.join(unknown)}; the methods are {''.join(sorted(Method))}")
    methods = frozenset(map(Method, job.pair.methods)) or ALL
    settings = PairingSettings(
        methods=methods,
        threshold=job.pair.threshold,
        url_pairs=tuple(_url_pair(raw) for raw in job.pair.url_pairs),
        keep_machine_translated=job.pair.machine_translated,
    )
    return Pairing(settings, lexicons=_lexicons(job), encoder=encoder)


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
