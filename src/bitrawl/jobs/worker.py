"""The child processes that mine sites and write the corpus, so that a crawl goes on meanwhile."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Self

import msgspec

from bitrawl.assemble.mining import miner as new_miner
from bitrawl.child import ATTEMPTS, Children, Failure, Limits, Report, Service
from bitrawl.config import Job
from bitrawl.errors import ChildError
from bitrawl.jobs.export import write_corpus
from bitrawl.mine.aligned_pages import translated_part
from bitrawl.mine.stages import AlignedPair, Miner, PairedSite
from bitrawl.model import Language, Page, PagePair, Unpacker, pack
from bitrawl.store.findings import Findings
from bitrawl.store.ledger import Ledger
from bitrawl.text.template import Template, relabel
from bitrawl.url import Url

Languages = tuple[Language, Language]


class LoadModels(msgspec.Struct, frozen=True, tag=True):
    """Load what the job names; a model that cannot be loaded is a `ConfigError`."""


class PairSite(msgspec.Struct, frozen=True, tag=True):
    """Clean and pair one site; or take the pairs that it has."""

    site: str
    known_pairs: bool = False


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
    """Write the corpus, its card and the report."""


Request = LoadModels | PairSite | LearnWords | AlignPairs | WriteCorpus

_encode = msgspec.msgpack.Encoder(enc_hook=str).encode
_request: Unpacker[Request] = Unpacker(Request)
_paired: Unpacker[PairedSite] = Unpacker(PairedSite)
_aligned: Unpacker[list[AlignedPair]] = Unpacker(list[AlignedPair])


class MiningWorkers:
    """Enter it (`async with`): leaving ends the children at once. A failure is a value, a fault is raised."""

    def __init__(self, job: Job, folder: Path, *, workers: int = 1) -> None:
        limits = Limits(seconds=job.mining.seconds, megabytes=job.mining.megabytes)
        self._children = Children(partial(mining_service, job, folder), limits, workers=workers)

    async def __aenter__(self) -> Self:
        await self._children.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._children.__aexit__(*error)

    async def load_models(self) -> None:
        """Raises `ConfigError` for a model that cannot be loaded."""
        await self._needed(LoadModels())

    async def pair(self, site: str, *, known_pairs: bool = False) -> PairedSite | Failure:
        """From the pages that the ledger has of a site now."""
        answer = await self._children.ask(_encode(PairSite(site, known_pairs)))
        return answer if isinstance(answer, Failure) else _paired(answer)

    async def learn(self, languages: Languages, pairs: Sequence[PagePair], template: Template) -> bytes | Failure:
        """What `align` may be given."""
        return await self._children.ask(_encode(LearnWords(languages, list(pairs), template)))

    async def align(
        self, languages: Languages, pairs: Sequence[PagePair], template: Template, learned: bytes = b""
    ) -> list[AlignedPair] | Failure:
        """One for each pair. A batch that a worker dies at is better halved than tried as often as a single pair."""
        request = _encode(AlignPairs(languages, list(pairs), template, learned))
        answer = await self._children.ask(request, attempts=ATTEMPTS if len(pairs) == 1 else 1)
        return answer if isinstance(answer, Failure) else _aligned(answer)

    async def write_corpus(self) -> None:
        """From what the ledger has now."""
        await self._needed(WriteCorpus())

    async def _needed(self, request: Request) -> None:
        answer = await self._children.ask(_encode(request))
        if isinstance(answer, Failure):
            raise ChildError(
                f"{type(request).__name__} failed ({answer.kind}: {answer.detail})\n{answer.trace}".rstrip()
            )


# What follows runs in a child.


def mining_service(job: Job, folder: Path) -> Service:
    """Answers requests with findings; faults pass through."""
    miner = new_miner(job) if not job.encoder else None  # an encoder is loaded when it is asked for

    def serve(request: bytes, _report: Report) -> bytes:
        nonlocal miner
        asked = _request(request)
        if isinstance(asked, WriteCorpus):
            write_corpus(job, folder)
            return b""
        miner = miner or new_miner(job)
        if isinstance(asked, LoadModels):
            return b""
        ledger = Ledger(folder / "job.sqlite", read_only=True)
        try:
            return _answered(miner, ledger, asked)
        finally:
            ledger.close()

    return serve


def _answered(miner: Miner, ledger: Ledger, asked: PairSite | LearnWords | AlignPairs) -> bytes:
    match asked:
        case PairSite(site, known_pairs):
            return pack(_pair(miner, ledger, site, known_pairs=known_pairs))
        case LearnWords(languages, pairs, template):
            return miner.learn(languages, _pages(ledger, pairs, template))
        case AlignPairs(languages, pairs, template, learned):
            return bytes(_encode(miner.align(languages, _pages(ledger, pairs, template), learned)))


def _pair(miner: Miner, ledger: Ledger, site: str, *, known_pairs: bool) -> PairedSite:
    view = ledger.view(site)
    if not known_pairs:
        paired = miner.pair(site, view.pages, view.sitemaps(), page_of=ledger.page)
        return msgspec.structs.replace(paired, extent=view.extent)
    pairs, refusals = Findings(ledger).recorded(site)
    paired = miner.pair(site, view.pages, (), known_pairs=pairs)
    findings = msgspec.structs.replace(paired.findings, refusals=tuple(refusals))
    return msgspec.structs.replace(paired, findings=findings, extent=view.extent)


def _pages(ledger: Ledger, pairs: Sequence[PagePair], template: Template) -> list[tuple[Page, Page]]:
    """What is to be aligned of each pair."""
    both = ((pair, (_page(ledger, pair.url_a, template), _page(ledger, pair.url_b, template))) for pair in pairs)
    return [translated_part(pages) if pair.partial else pages for pair, pages in both]


def _page(ledger: Ledger, url: Url, template: Template) -> Page:
    page = ledger.page(url)
    if page is None:
        raise LookupError(f"the ledger has no page {url}")
    return relabel(page, template)
