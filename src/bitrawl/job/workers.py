"""The child processes of a job, while the crawl goes on: some mine its sites, and one writes its corpus and its report.

`Workers` is the parent's half, `mining_service` and `writing_service` those of the children. A miner does not load what
writes, which takes as long to load as mining does.
"""

import pickle
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Self

import msgspec

from bitrawl.config import Job
from bitrawl.errors import ChildError
from bitrawl.file_names import LEDGER
from bitrawl.files import discard
from bitrawl.mining.aligned_pages import translated_part
from bitrawl.mining.judging import from_partial_pages
from bitrawl.mining.pairing import Pairing
from bitrawl.mining.stages import AlignedPair, Miner, PagePass, PairedSite, PassedPages
from bitrawl.model import Language, Page, PagePair, Unpacker, pack
from bitrawl.process import ATTEMPTS, Failure, Limits, Report, Service
from bitrawl.protocols import Encoder
from bitrawl.store.ledger import Ledger
from bitrawl.store.own_files import SHARED
from bitrawl.store.stored_findings import Findings, PackedAlignment
from bitrawl.text.encoder import load_encoder
from bitrawl.text.known_words import Dictionary
from bitrawl.text.language import NgramLanguageIdentifier
from bitrawl.text.template import Template, relabel
from bitrawl.url import Url

if TYPE_CHECKING:
    from asyncio import Future

    from bitrawl.children import Children

MANY = 200  # pages of a site with which a second worker helps: that takes as long to start as eighty take to pair
PART = 32  # pages that are passed together; at most one part is passed twice
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


Request = LoadModels | PairSite | PassPages | LearnWords | AlignPairs

_encode = msgspec.msgpack.Encoder(enc_hook=str).encode
_request: Unpacker[Request] = Unpacker(Request)
_paired: Unpacker[PairedSite] = Unpacker(PairedSite)
_aligned: Unpacker[list[PackedAlignment]] = Unpacker(list[PackedAlignment])


class Workers:
    """Enter it (`async with`): leaving ends the children at once. A failure is a value, a fault is raised."""

    def __init__(self, job: Job, folder: Path, *, workers: int = 1) -> None:
        from bitrawl.children import Children  # noqa: PLC0415 - a child needs no event loop

        limits = Limits(seconds=job.mining.seconds, megabytes=job.mining.megabytes)
        self._children = Children(partial(mining_service, job, folder), limits, workers=workers)
        self._writer = Children(partial(writing_service, job, folder), limits, workers=1)
        self._helping: set[Future[None]] = set()

    async def __aenter__(self) -> Self:
        await self._children.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        import asyncio  # noqa: PLC0415 - as above

        for task in self._helping:
            task.cancel()
        await asyncio.gather(*self._helping, return_exceptions=True)
        for children in (self._children, self._writer):
            await children.__aexit__(*error)

    async def load_models(self) -> None:
        """Raises `ConfigError` for a model that cannot be loaded."""
        await _needed(self._children, _encode(LoadModels()))

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
        """From what the ledger has now; and the report."""
        await _needed(self._writer, b"")

    def _help(self, place: str) -> None:
        """Have another worker pass pages too. Nobody waits for it, and what goes wrong with it costs nothing."""
        from asyncio import ensure_future  # noqa: PLC0415 - a child needs no event loop

        async def ask() -> None:
            with suppress(ChildError):
                await self._children.ask(_encode(PassPages(place)), attempts=0)

        task = ensure_future(ask())
        self._helping.add(task)
        task.add_done_callback(self._helping.discard)


async def _needed(children: "Children", request: bytes) -> None:
    answer = await children.ask(request)
    if isinstance(answer, Failure):
        raise ChildError(f"a process of this job failed ({answer.kind}: {answer.detail})\n{answer.trace}".rstrip())


# What follows runs in a child.


def writing_service(job: Job, folder: Path) -> Service:
    """Writes the corpus and the report when it is asked."""
    from bitrawl.job.exporting import write_corpus  # noqa: PLC0415 - neither a miner nor the parent writes

    def serve(_request: bytes, _report: Report) -> bytes:
        write_corpus(job, folder)
        return b""

    return serve


def mining_service(job: Job, folder: Path) -> Service:
    """Answers requests with findings; faults pass through."""
    miner = wired_miner(job) if not job.encoder else None  # an encoder is loaded when it is asked for

    def serve(request: bytes, report: Report) -> bytes:
        nonlocal miner
        order = _request(request)
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
    return Pairing(job.pair, dictionary=Dictionary.of(job.pair.dictionary, job.languages()), encoder=sentences)
