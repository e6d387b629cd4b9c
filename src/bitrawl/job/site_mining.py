"""Mine one site: pair its pages, align the pairs in batches on all workers, and survive whatever one of them breaks.

`SiteMiner` gives the orders, in the job's own process. `MiningWorkers` are the child processes that follow them, so that
a crawl goes on meanwhile; `mining_service` and what it calls runs there. What a worker is killed at from outside is no
verdict: it is recorded, and nothing is kept in its place. So the next run tries again.
"""

import hashlib
import logging
import pickle
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import chain, groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import msgspec

from bitrawl.config import Job
from bitrawl.endings import Doing, MiningStep
from bitrawl.errors import ChildError
from bitrawl.file_names import LEDGER
from bitrawl.files import discard
from bitrawl.job.exporting import write_files
from bitrawl.job.reporting import gather, write_report
from bitrawl.mining import SiteFindings
from bitrawl.mining.aligned_pages import translated_part
from bitrawl.mining.content import Lexicons
from bitrawl.mining.judging import from_partial_pages
from bitrawl.mining.pairing import Pairing
from bitrawl.mining.stages import AlignedPair, Miner, PagePass, PairedSite, PassedPages
from bitrawl.model import Language, Page, PagePair, Skip, Unpacker, pack
from bitrawl.page import Rejects
from bitrawl.process import ATTEMPTS, Failure, FailureKind, Limits, Report, Service
from bitrawl.protocols import (
    Clock,
    Encoder,
)
from bitrawl.reasons import Reason, Stage
from bitrawl.store.ledger import Ledger
from bitrawl.store.own_files import SHARED
from bitrawl.store.stored_findings import NOTHING_ALIGNED, AlignmentKey, Findings, Lesson, PackedAlignment, made_from
from bitrawl.text.encoder import load_encoder
from bitrawl.text.language import NgramLanguageIdentifier
from bitrawl.text.template import Template, relabel
from bitrawl.url import Url

if TYPE_CHECKING:
    from asyncio import Future

# Words are learned from so many pairs: judgement; alignment on the development sets gains nothing from more than some
# hundred pages.
SAMPLE = 200
STILL_TAUGHT = 0.5  # of the sample that taught an earlier round: with less, words are learned anew; judgement
BATCH = 32  # pairs: a batch of pages of 50 kB needs some 100 MB; judgement
LAST = 4  # batches that are halved
MANY = 200  # pages of a site with which a second worker helps: that takes as long to start as eighty take to pair
PART = 32  # pages that are passed together; at most one part is passed twice

Watch = Callable[[Doing | None], None]
"""Is told what is being done; None when nothing is."""

_REASONS = {
    FailureKind.TIMEOUT: Reason.MINING_TIMEOUT,
    FailureKind.CRASH: Reason.MINING_CRASH,
    FailureKind.KILLED: Reason.KILLED,
    FailureKind.ERROR: Reason.MINING_ERROR,
}

_log = logging.getLogger(__name__)

Languages = tuple[Language, Language]


class LoadModels(msgspec.Struct, frozen=True, tag=True):
    """Load what the job names; a model that cannot be loaded is a `ConfigError`."""


class PairSite(msgspec.Struct, frozen=True, tag=True):
    """Clean and pair one site; or take the pairs that it has."""

    site: str
    known_pairs: bool = False


class PassPages(msgspec.Struct, frozen=True, tag=True):
    """Help a worker that pairs a site with the passing of its pages: see `_passed`."""

    place: str


class LearnWords(msgspec.Struct, frozen=True, tag=True):
    """Learn from a sample of the pairs of a site."""

    languages: Languages
    pairs: list[PagePair]
    template: Template


class AlignPairs(msgspec.Struct, frozen=True, tag=True):
    """Align and judge some pairs of a site with what was learned from a sample; without it, they teach each other."""

    languages: Languages
    pairs: list[PagePair]
    template: Template
    learned: bytes = b""


class WriteCorpus(msgspec.Struct, frozen=True, tag=True):
    """Write the corpus and its card."""


class GatherFacts(msgspec.Struct, frozen=True, tag=True):
    """All that a report says, as far as it is known before the corpus is written."""


class WriteReport(msgspec.Struct, frozen=True, tag=True):
    """Write the report when the corpus is written."""

    facts: bytes


Request = LoadModels | PairSite | PassPages | LearnWords | AlignPairs | WriteCorpus | GatherFacts | WriteReport

_encode = msgspec.msgpack.Encoder(enc_hook=str).encode
_request: Unpacker[Request] = Unpacker(Request)
_paired: Unpacker[PairedSite] = Unpacker(PairedSite)
_aligned: Unpacker[list[PackedAlignment]] = Unpacker(list[PackedAlignment])


class MiningWorkers:
    """Enter it (`async with`): leaving ends the children at once. A failure is a value, a fault is raised."""

    def __init__(self, job: Job, folder: Path, *, workers: int = 1) -> None:
        from bitrawl.children import Children  # noqa: PLC0415 - a child needs no event loop

        limits = Limits(seconds=job.mining.seconds, megabytes=job.mining.megabytes)
        self._children = Children(partial(mining_service, job, folder), limits, workers=workers)
        self._helping: set[Future[None]] = set()

    async def __aenter__(self) -> Self:
        await self._children.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        import asyncio  # noqa: PLC0415 - as above

        for task in self._helping:
            task.cancel()
        await asyncio.gather(*self._helping, return_exceptions=True)
        await self._children.__aexit__(*error)

    async def load_models(self) -> None:
        """Raises `ConfigError` for a model that cannot be loaded."""
        await self._needed(LoadModels())

    def get_ready(self, count: int) -> None:
        """So many workers will soon be needed, if there may be that many."""
        self._children.get_ready(count)

    async def pair(self, site: str, *, known_pairs: bool = False) -> PairedSite | Failure:
        """From the pages that the ledger has of a site now; a second worker helps with a large one."""
        places: list[str] = []  # a worker that is killed leaves its own, and the one that helped it goes on there

        def help_in(place: str) -> None:
            places.append(place)
            self._help(place)

        try:
            answer = await self._children.ask(_encode(PairSite(site, known_pairs)), help_in)
        finally:
            for place in places:
                discard(Path(place))
        return answer if isinstance(answer, Failure) else _paired(answer)

    async def learn(self, languages: Languages, pairs: Sequence[PagePair], template: Template) -> bytes | Failure:
        """What `align` may be given."""
        return await self._children.ask(_encode(LearnWords(languages, list(pairs), template)))

    async def align(
        self, languages: Languages, pairs: Sequence[PagePair], template: Template, learned: bytes = b""
    ) -> list[PackedAlignment] | Failure:
        """One for each pair. A batch that a worker dies at is better halved than tried as often as a single pair."""
        request = _encode(AlignPairs(languages, list(pairs), template, learned))
        answer = await self._children.ask(request, attempts=ATTEMPTS if len(pairs) == 1 else 1)
        return answer if isinstance(answer, Failure) else _aligned(answer)

    async def write_corpus(self) -> None:
        """From what the ledger has now; then the report, whose facts are gathered meanwhile."""
        import asyncio  # noqa: PLC0415 - a child needs no event loop

        written, facts = await asyncio.gather(
            self._needed(WriteCorpus()), self._needed(GatherFacts()), return_exceptions=True
        )  # A report that cannot be written costs no corpus.
        if isinstance(written, BaseException):
            raise written
        if isinstance(facts, BaseException):
            raise facts
        await self._needed(WriteReport(facts))

    def _help(self, place: str) -> None:
        """Have another worker pass pages too. Nobody waits for it, and what goes wrong with it costs nothing."""
        from asyncio import ensure_future  # noqa: PLC0415 - a child needs no event loop

        async def ask() -> None:
            with suppress(ChildError):
                await self._children.ask(_encode(PassPages(place)), attempts=0)

        task = ensure_future(ask())
        self._helping.add(task)
        task.add_done_callback(self._helping.discard)

    async def _needed(self, request: Request) -> bytes:
        answer = await self._children.ask(_encode(request))
        if isinstance(answer, Failure):
            raise ChildError(
                f"{type(request).__name__} failed ({answer.kind}: {answer.detail})\n{answer.trace}".rstrip()
            )
        return answer


async def together(work: Iterable[Awaitable[Any]]) -> list[Any]:
    """What each of them gives, in their order. If one fails, the others are cancelled."""
    import asyncio  # noqa: PLC0415 - as above

    tasks = [asyncio.ensure_future(part) for part in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


class MinedSite(NamedTuple):
    """What was found, with the key of each pair's segments, and what was lost on the way; None if pairing failed."""

    found: SiteFindings | None
    alignments: list[AlignmentKey]
    faults: list[Skip]


class SiteMiner:
    """Sites may be mined side by side: each call has its own state."""

    def __init__(  # noqa: PLR0913 - collaborators
        self,
        ledger: Ledger,
        workers: MiningWorkers,
        clock: Clock,
        *,
        settings: str,
        rejected: Path,
        watch: Watch,
        learns_anew: bool = False,
    ) -> None:
        """`learns_anew`: do not align with what an earlier round has learned."""
        self._learns_anew = learns_anew
        self._ledger = ledger
        self._findings = Findings(ledger)
        self._workers = workers
        self._clock = clock
        self._settings = settings
        self._rejects = Rejects(rejected)
        self._watch = watch

    async def mine(self, site: str, *, known_pairs: bool = False) -> MinedSite:
        """Everything from pages to judged segments; the segments are in the ledger when this returns."""
        pages = self._ledger.knowledge(site).pages
        self._watch(Doing(MiningStep.PAIRING, site, "pages", total=pages))
        if pages >= MANY:
            self._workers.get_ready(2)
        paired = await self._workers.pair(site, known_pairs=known_pairs)
        if isinstance(paired, Failure):
            _log.warning("pairing %s failed: %s %s", site, paired.kind, paired.detail)
            return MinedSite(None, [], [self._fault(_home(site), Stage.PAIR, paired)])
        faults: list[Skip] = []
        for url, left_out in paired.too_long.items():
            faults.append(Skip(Url.known(url), Stage.ALIGN, Reason.SEGMENT_TOO_LONG, left_out))
        groups = [list(group) for _, group in groupby(paired.findings.pairs, key=_languages)]
        lost: list[list[Skip]] = [[] for _ in groups]  # of each by itself: whichever is aligned first
        work = (self._aligned(_languages(some[0]), some, paired, of) for some, of in zip(groups, lost, strict=True))
        keys = [key for some in await together(work) for key in some]
        faults += chain.from_iterable(lost)
        findings = msgspec.structs.replace(paired.findings, made_from=self._made_from(paired, faults))
        return MinedSite(findings, keys, faults)

    def _made_from(self, paired: PairedSite, faults: Sequence[Skip]) -> str:
        """That of a site of which something was lost by a kill equals no other: it is mined again by the next run."""
        whole = made_from(self._settings, paired.extent)
        lost = [f"{fault.url} {fault.detail}".encode() for fault in faults if fault.reason is Reason.KILLED]
        return f"{whole} without {_hash(*lost).hex()}" if lost else whole

    async def _aligned(
        self, languages: Languages, pairs: Sequence[PagePair], paired: PairedSite, faults: list[Skip]
    ) -> list[AlignmentKey]:
        """The keys of the pairs' segments, in their order.

        All are aligned with what one sample of them teaches, which their URLs choose. So it does not matter which batch a
        pair is in, whether that was halved, and what was aligned before the job was interrupted. If a part of the sample
        cannot be learned from, the keys are those of the rest: other segments have other keys. A further round goes on
        with what was learned before it, so that what has not changed need not be aligned again.
        """
        site = paired.findings.site
        sample = sorted(pairs, key=lambda pair: _hash(f"{pair.url_a} {pair.url_b}".encode()))[:SAMPLE]
        work = self._lesson_before(languages, pairs, paired) or _Work(languages, paired)
        if not work.learned:
            work = work._replace(context=self._context(work, sample))
        keys, aligned_before, missing = self._earlier(pairs, work)
        if missing and not work.learned:
            self._watch(Doing(MiningStep.LEARNING, site, f"{'-'.join(languages)} pairs", total=len(sample)))
            if len(missing) > BATCH:
                self._workers.get_ready(2)
            learned, taught = await self._learned(site, sample, work, faults)
            work = work._replace(learned=learned, context=self._context(work, taught))
            self._findings.learned(site, languages, self._lesson(work, taught))
            keys, aligned_before, missing = self._earlier(pairs, work)
        faults += self._findings.faults_of(site, aligned_before)
        progress = _Progress(site, languages, len(pairs), len(aligned_before), self._clock, self._watch)
        progress.tell()

        async def batch(some: Sequence[PagePair]) -> None:
            for pair, aligned, lost in await self._batch(some, work):
                faults.extend(lost)
                if any(fault.reason is Reason.KILLED for fault in lost):
                    continue  # Nothing is known of it: what is kept now would stay.
                self._findings.aligned(site, keys[pair.url_a, pair.url_b], aligned, lost)
            progress.add(len(some))

        await together(map(batch, _batches(missing) if work.learned else ([pair] for pair in missing)))
        return list(keys.values())

    def _earlier(self, pairs: Sequence[PagePair], work: "_Work") -> "_Earlier":
        keys = {(pair.url_a, pair.url_b): self._key(pair, work) for pair in pairs}
        earlier = _Earlier(keys, [], [])
        for pair in pairs:
            is_aligned = self._findings.is_aligned(keys[pair.url_a, pair.url_b])
            (earlier.aligned if is_aligned else earlier.missing).append(pair)
        return earlier

    async def _learned(
        self, site: str, sample: Sequence[PagePair], work: "_Work", faults: list[Skip]
    ) -> tuple[bytes, Sequence[PagePair]]:
        """What the sample teaches without the pairs of it that break a worker, and the others; nothing if all of them do."""
        answer = await self._workers.learn(work.languages, sample, work.template)
        if not isinstance(answer, Failure):
            return answer, sample
        _log.warning("learning from %d pairs failed: %s %s", len(sample), answer.kind, answer.detail)
        half = len(sample) // 2
        good = [*await self._teaching(sample[:half], work, faults), *await self._teaching(sample[half:], work, faults)]
        if len(good) == len(sample):  # None breaks it, but all are too much.
            good = good[:half]
            about = f"words were learned from {half} page pairs instead of {len(sample)}: "
            faults.append(self._fault(_home(site), Stage.ALIGN, answer, about))
        return await self._learned(site, good, work, faults) if good else (b"", ())

    async def _teaching(self, pairs: Sequence[PagePair], work: "_Work", faults: list[Skip]) -> list[PagePair]:
        """Those that a worker can learn from."""
        answer = await self._workers.learn(work.languages, pairs, work.template) if pairs else b""
        if not isinstance(answer, Failure):
            return list(pairs)
        if len(pairs) == 1:
            about = f"no words were learned from it and {pairs[0].url_b}: "
            faults.append(self._fault(pairs[0].url_a, Stage.ALIGN, answer, about))
            return []
        half = len(pairs) // 2
        return [*await self._teaching(pairs[:half], work, faults), *await self._teaching(pairs[half:], work, faults)]

    async def _batch(self, pairs: Sequence[PagePair], work: "_Work") -> list["_Aligned"]:
        """A batch that fails is halved until the pair is found that breaks it: that one is lost, and no other."""
        answer = await self._workers.align(work.languages, pairs, work.template, work.learned)
        if not isinstance(answer, Failure):
            return [_Aligned(pair, aligned, _lost(pair, aligned)) for pair, aligned in zip(pairs, answer, strict=True)]
        if len(pairs) > 1:
            half = len(pairs) // 2
            return [*await self._batch(pairs[:half], work), *await self._batch(pairs[half:], work)]
        [pair] = pairs
        self._keep_input(pair, answer)
        return [_Aligned(pair, NOTHING_ALIGNED, [self._fault(pair.url_a, Stage.ALIGN, answer, f"with {pair.url_b}: ")])]

    def _fault(self, url: Url, stage: Stage, failure: Failure, about: str = "") -> Skip:
        return Skip(url, stage, _REASONS[failure.kind], f"{about}{failure.detail}"[:500])

    def _keep_input(self, pair: PagePair, failure: Failure) -> None:
        about = {"url_a": pair.url_a, "url_b": pair.url_b, "detail": failure.detail, "trace": failure.trace}
        pages = (self._ledger.page(pair.url_a), self._ledger.page(pair.url_b))
        body = pack(tuple(page for page in pages if page is not None))
        self._rejects.keep(f"{_hash(f'{pair.url_a} {pair.url_b}'.encode()).hex()}.pages", body, about)

    def _lesson_before(self, languages: Languages, pairs: Sequence[PagePair], paired: PairedSite) -> "_Work | None":
        """What was learned in an earlier round, if it was with these settings and most that taught it is as it was."""
        lesson = None if self._learns_anew else self._findings.lesson(paired.findings.site, languages)
        work = _Work(languages, paired)
        if lesson is None or lesson.context != self._context_of(work, lesson.sample):
            return None
        now = {self._key(pair, work) for pair in pairs}
        if len(now.intersection(lesson.sample)) < STILL_TAUGHT * len(lesson.sample):
            return None
        return work._replace(context=lesson.context, learned=lesson.learned)

    def _lesson(self, work: "_Work", taught: Sequence[PagePair]) -> Lesson:
        bare = work._replace(context=b"")
        return Lesson(work.context, tuple(self._key(pair, bare) for pair in taught), work.learned)

    def _context(self, work: "_Work", sample: Sequence[PagePair]) -> bytes:
        """Of all that the segments of a pair depend on but the pair."""
        return self._context_of(work, self._lesson(work, sample).sample)

    def _context_of(self, work: "_Work", sample: Sequence[AlignmentKey]) -> bytes:
        return _hash(self._settings.encode(), "-".join(work.languages).encode(), *sample)

    def _key(self, pair: PagePair, work: "_Work") -> AlignmentKey:
        urls = (pair.url_a, pair.url_b)
        texts = [self._ledger.digest(url).encode() + work.paired.texts.get(url, b"") for url in urls]
        partial = b"partial" if pair.partial else b""
        return _hash(*(url.encode() for url in urls), *texts, partial, work.context)


def _batches(pairs: Sequence[PagePair]) -> Iterator[Sequence[PagePair]]:
    """The last ones are smaller, so that all workers end at about the same time."""
    first = 0
    while rest := pairs[first:]:
        size = BATCH if len(rest) > LAST * BATCH else BATCH // 2
        yield rest[:size]
        first += size


class _Earlier(NamedTuple):
    """The key of each pair's segments by its URLs, the pairs whose segments are in the ledger under it, and the others."""

    keys: dict[tuple[Url, Url], AlignmentKey]
    aligned: list[PagePair]
    missing: list[PagePair]


class _Aligned(NamedTuple):
    """A pair, its segments, and what was lost of it."""

    pair: PagePair
    aligned: PackedAlignment
    lost: list[Skip]


def _languages(pair: PagePair) -> Languages:
    return pair.lang_a, pair.lang_b


def _home(site: str) -> Url:
    return Url.known(f"http://{site}/")


def _lost(pair: PagePair, aligned: PackedAlignment) -> list[Skip]:
    about = f"with {pair.url_b}: "
    lost = [Skip(pair.url_a, Stage.JUDGE, Reason.MINING_ERROR, f"{about}{fault}") for fault in aligned.faults]
    if aligned.too_long:
        lost.append(Skip(pair.url_a, Stage.ALIGN, Reason.SEGMENT_TOO_LONG, f"{about}{aligned.too_long}"))
    return lost


class _Work(NamedTuple):
    """What all batches of a site and two languages share."""

    languages: Languages
    paired: PairedSite
    context: bytes = b""  # see `SiteMiner._context`
    learned: bytes = b""

    @property
    def template(self) -> Template:
        return self.paired.template


class _Progress:
    """How many pairs of a site are aligned, and how long the rest will take."""

    def __init__(self, site: str, languages: Languages, total: int, done: int, clock: Clock, watch: Watch) -> None:
        self._site = site
        self._what = f"{'-'.join(languages)} pairs"
        self._total = total
        self._done = self._before = done
        self._clock = clock
        self._began = clock.now()
        self._watch = watch

    def add(self, count: int) -> None:
        self._done += count
        self.tell()

    def tell(self) -> None:
        made = self._done - self._before
        rate = (self._clock.now() - self._began) / made if made else 0.0
        left = rate * (self._total - self._done)
        self._watch(Doing(MiningStep.ALIGNING, self._site, self._what, self._done, self._total, left))


def _hash(*parts: bytes) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()


# What follows runs in a child.


def mining_service(job: Job, folder: Path) -> Service:
    """Answers requests with findings; faults pass through."""
    miner = wired_miner(job) if not job.encoder else None  # an encoder is loaded when it is asked for

    def serve(request: bytes, report: Report) -> bytes:
        nonlocal miner
        order = _request(request)
        match order:
            case WriteCorpus():
                write_files(job, folder)
                return b""
            case GatherFacts():
                return pickle.dumps(gather(folder))
            case WriteReport(facts):
                write_report(folder, pickle.loads(facts))  # noqa: S301 - our own, see above
                return b""
        miner = miner or wired_miner(job)
        if isinstance(order, LoadModels):
            return b""
        with Ledger(folder / LEDGER, read_only=True) as ledger:
            return _answered(miner, ledger, order, report)

    return serve


def _answered(
    miner: Miner, ledger: Ledger, order: PairSite | PassPages | LearnWords | AlignPairs, report: Report
) -> bytes:
    match order:
        case PairSite(site, known_pairs):
            return pack(_pair(miner, ledger, site, report, known_pairs=known_pairs))
        case PassPages(place):
            with suppress(OSError):  # nothing is needed there any more
                _help_passing(ledger, Path(place))
            return b""
        case LearnWords(languages, pairs, template):
            return miner.learn(languages, _PairPages(ledger, pairs, template))
        case AlignPairs(languages, pairs, template, learned):
            found = miner.align(languages, list(_PairPages(ledger, pairs, template)), learned)
            return pack(tuple(packed_pair(*both) for both in zip(pairs, found, strict=True)))


def packed_pair(pair: PagePair, found: AlignedPair) -> PackedAlignment:
    """What was found of a pair, as the ledger keeps it. Segments of pages that are translated in part bear a flag."""
    segments = from_partial_pages(found.segments) if pair.partial else found.segments
    return PackedAlignment.of(segments, found.faults, found.too_long)


def _pair(miner: Miner, ledger: Ledger, site: str, report: Report, *, known_pairs: bool) -> PairedSite:
    view = ledger.view(site)
    passing = partial(_passed, ledger, view.numbers, report)
    if not known_pairs:
        paired = miner.pair(site, view.pages, view.sitemaps(), page_of=ledger.page, passing=passing)
        return msgspec.structs.replace(paired, extent=view.extent)
    pairs, refusals = Findings(ledger).recorded(site)
    paired = miner.pair(site, view.pages, (), known_pairs=pairs, passing=passing)
    findings = msgspec.structs.replace(paired.findings, refusals=tuple(refusals))
    return msgspec.structs.replace(paired, findings=findings, extent=view.extent)


def _passed(ledger: Ledger, numbers: Sequence[int], report: Report, work: PagePass) -> Iterator[PassedPages]:
    """The pages of a site, from the first part on. Of a large one, another worker takes the last parts.

    What it has not made when its turn comes is made here. So nothing depends on that worker, which may die or never come.
    """
    parts = _parts(numbers)
    if len(numbers) < MANY:
        yield from (work.of(ledger.numbered_pages(part)) for part in parts)
        return
    with TemporaryDirectory(prefix=SHARED, dir=ledger.path.parent, ignore_cleanup_errors=True) as place:
        (Path(place) / "work").write_bytes(pickle.dumps((numbers, work)))
        report(place)
        for number, part in enumerate(parts):
            (Path(place) / f"{number}.begun").touch()
            made = Path(place) / str(number)
            if made.exists():
                yield pickle.loads(made.read_bytes())  # noqa: S301 - made by `_help_passing`
            else:
                yield work.of(ledger.numbered_pages(part))


def _help_passing(ledger: Ledger, place: Path) -> None:
    """From the last part on, until the other worker is met; `OSError` if that has done all meanwhile."""
    numbers, work = pickle.loads((place / "work").read_bytes())  # noqa: S301 - made by `_passed`
    for number, part in reversed(list(enumerate(_parts(numbers)))):
        if (place / f"{number}.begun").exists():
            return
        draft = place / f"{number}.new"
        draft.write_bytes(pickle.dumps(work.of(ledger.numbered_pages(part))))
        draft.rename(place / str(number))


def _parts(numbers: Sequence[int]) -> list[Sequence[int]]:
    return [numbers[first : first + PART] for first in range(0, len(numbers), PART)]


class _PairPages(Sequence[tuple[Page, Page]]):
    """What is to be aligned of each pair; read when it is asked for."""

    def __init__(self, ledger: Ledger, pairs: Sequence[PagePair], template: Template) -> None:
        self._ledger, self._pairs, self._template = ledger, pairs, template

    def __len__(self) -> int:
        return len(self._pairs)

    def __getitem__(self, number: int) -> tuple[Page, Page]:  # type: ignore[override]  # no slices
        pair = self._pairs[number]
        pages = _page(self._ledger, pair.url_a, self._template), _page(self._ledger, pair.url_b, self._template)
        return translated_part(pages) if pair.partial else pages


def _page(ledger: Ledger, url: Url, template: Template) -> Page:
    page = ledger.page(url)
    if page is None:
        raise LookupError(f"the ledger has no page {url}")
    return relabel(page, template)


def wired_miner(job: Job) -> Miner:
    """The miner for the sites of a job. It loads the job's encoder once per process."""
    sentences = encoder(job)
    return Miner(
        job.languages(),
        pairing(job, sentences),
        NgramLanguageIdentifier(asked=job.languages()),
        encoder=sentences,
        characters=job.align.characters,
    )


def encoder(job: Job) -> Encoder | None:
    """Raises `ConfigError` if the encoder cannot be loaded."""
    return _load_encoder_once(job.encoder) if job.encoder else None


# Once per process, because every site needs it, and again as the site grows.
_load_encoder_once = cache(load_encoder)


def pairing(job: Job, sentences: Encoder | None = None) -> Pairing:
    """The pairing that the job asks for. Raises `ConfigError`."""
    return Pairing(job.pair, lexicons=Lexicons.read(job.pair.dictionary, job.languages()), encoder=sentences)
