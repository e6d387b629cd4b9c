"""The child processes that mine sites and write the corpus, so that a crawl goes on meanwhile."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Self

import msgspec

from bitrawl import assemble
from bitrawl.child import Children, Failure, Limits, Report, Service
from bitrawl.config import Job
from bitrawl.errors import ChildError
from bitrawl.jobs.export import write_corpus
from bitrawl.mining import Doing
from bitrawl.model import UNDETERMINED, Unpacker, pack
from bitrawl.pair.pairing import PairingResult
from bitrawl.pair.verification import Refusal, RefusalReason
from bitrawl.store.findings import Findings, SiteFindings
from bitrawl.store.ledger import Ledger

Watch = Callable[[Doing | None], None]
"""Is told what is being done; None when nothing is."""


class LoadModels(msgspec.Struct, frozen=True, tag=True):
    """Load what the job names; a model that cannot be loaded is a `ConfigError`."""


class MineSite(msgspec.Struct, frozen=True, tag=True):
    """Mine one site; or only align its known pairs again."""

    site: str
    known_pairs: bool = False


class WriteCorpus(msgspec.Struct, frozen=True, tag=True):
    """Write the corpus, its card and the report."""


Request = LoadModels | MineSite | WriteCorpus


class MiningWorkers:
    """Enter it (`async with`): leaving ends the children at once."""

    def __init__(self, job: Job, folder: Path, *, workers: int = 1) -> None:
        self._children = Children(partial(mining_service, job, folder), Limits(), workers=workers)
        self._findings: Unpacker[SiteFindings] = Unpacker(SiteFindings)

    async def __aenter__(self) -> Self:
        await self._children.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._children.__aexit__(*error)

    async def load_models(self) -> None:
        """Raises `ConfigError` for a model that cannot be loaded."""
        await self._ask(LoadModels())

    async def mine(self, site: str, watch: Watch, *, known_pairs: bool = False) -> SiteFindings:
        """All that is found in the pages that the ledger has of a site now."""
        return self._findings(await self._ask(MineSite(site, known_pairs), watch))

    async def write_corpus(self) -> None:
        """From what the ledger has now."""
        await self._ask(WriteCorpus())

    async def _ask(self, request: Request, watch: Watch = lambda _doing: None) -> bytes:
        def report(text: str) -> None:
            watch(msgspec.json.decode(text, type=Doing))

        answer = await self._children.ask(msgspec.json.encode(request), report)
        if isinstance(answer, Failure):
            raise ChildError(f"mining failed ({answer.kind}: {answer.detail})\n{answer.trace}".rstrip())
        return answer


# What follows runs in a child.


def mining_service(job: Job, folder: Path) -> Service:
    """Answers requests with findings; faults pass through."""

    def serve(request: bytes, report: Report) -> bytes:
        match msgspec.json.decode(request, type=Request):
            case LoadModels():
                assemble.encoder(job)
            case MineSite(site, known_pairs):
                return _mine(job, folder, site, report, known_pairs=known_pairs)
            case WriteCorpus():
                write_corpus(job, folder)
        return b""

    return serve


def _mine(job: Job, folder: Path, site: str, report: Report, *, known_pairs: bool) -> bytes:
    miner = assemble.miner(job, lambda doing: report(msgspec.json.encode(doing).decode()))
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    try:
        known = _recorded(Findings(ledger), site) if known_pairs else None
        return pack(miner.mine(site, partial(ledger.pages, site=site), ledger.sitemaps(site), known=known))
    finally:
        ledger.close()


def _recorded(findings: Findings, site: str) -> PairingResult:
    """What pairing found of a site the last time."""
    pairs, refusals = findings.recorded(site)
    return PairingResult(
        pairs,
        [Refusal(no.url_a, no.url_b, UNDETERMINED, UNDETERMINED, RefusalReason(no.reason), 0.0) for no in refusals],
    )
