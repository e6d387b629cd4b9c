"""The process that mines one bundle: an ordinary job in a folder on this machine's disk. It dies with its parent.

It reads the job from standard input, and writes how far it is into `progress.json` beside the job folder, and how it ended
into `outcome.json`. Its parent (`mine/stages.py`) takes both from there. Why it failed, it says on standard error: that is a pipe,
since a full disk must not turn one failure into another.
"""

import asyncio
import sys
import traceback
from pathlib import Path

import msgspec

from bitrawl import files
from bitrawl.cluster.bundles import Bundle, BundledSite
from bitrawl.cluster.parts import Done, Figures, PartState, SiteOutcome
from bitrawl.config import Job
from bitrawl.crawl.ending import seed_skips
from bitrawl.errors import BitrawlError, ChildError, DiskFullError
from bitrawl.facts import JobFacts
from bitrawl.job.crawl_wiring import Parts
from bitrawl.job.exporting import SHARD, write_shards
from bitrawl.job.folder import JobFolder
from bitrawl.job.ledger import Ledger
from bitrawl.job.ledger_facts import log, site_counts
from bitrawl.job.reporting import status
from bitrawl.job.running import mine
from bitrawl.model import Skip
from bitrawl.url import Url

JOB, PROGRESS, OUTCOME = "job", "progress.json", "outcome.json"
# Exit statuses: a fault of the machine or of the job's description; a full disk; a fault in us, perhaps because of a site
FAULT, FULL, BROKEN = 3, 4, 5
TELL_EVERY = 3.0  # seconds; judgement


class Work(msgspec.Struct, frozen=True):
    """What the process has to do."""

    folder: str
    job: Job
    bundle: Bundle


def main() -> None:
    work = msgspec.json.decode(sys.stdin.buffer.read(), type=Work)
    try:
        asyncio.run(_mine(work))
    except Exception as error:  # noqa: BLE001 - whatever it is, its parent must tell it from a process that could not begin
        fault = _machine_fault(error, Path(work.folder))
        if fault is None:
            traceback.print_exc()
            sys.exit(BROKEN)
        print(fault, file=sys.stderr)  # noqa: T201 - its parent reads this
        sys.exit(FULL if isinstance(fault, DiskFullError) else FAULT)


def _machine_fault(error: Exception, folder: Path) -> BitrawlError | None:
    """What is wrong with the machine, in one line; None if it may be one of the sites."""
    if isinstance(error, BitrawlError):
        return error
    if isinstance(error, MemoryError):
        return ChildError("there is too little memory; try fewer --workers, or a machine with more")
    if not isinstance(error, OSError) or isinstance(error, ConnectionError | TimeoutError):
        return None
    fault = files.write_fault(folder, error)
    return fault if isinstance(fault, DiskFullError) else ChildError(f"the machine refused something: {error}")


async def _mine(work: Work) -> None:
    folder = JobFolder(Path(work.folder) / JOB)
    telling: list[asyncio.Task[None]] = []

    def started(parts: Parts) -> None:
        telling.append(asyncio.ensure_future(_tell_now_and_then(work, folder, parts)))

    await mine(work.job, folder, started=started)
    for task in telling:
        task.cancel()
    files.write(Path(work.folder) / OUTCOME, msgspec.json.encode(_outcome(work.bundle, folder)))


async def _tell_now_and_then(work: Work, folder: JobFolder, parts: Parts) -> None:
    """Until cancelled."""
    sites = {site.site for site in work.bundle.sites}
    while True:
        await asyncio.sleep(TELL_EVERY)
        busy = {parts.crawl.scope.sites.of(host) for host in parts.queue.hosts()}
        figures = _figures(status(folder), len(sites - busy))
        files.write(Path(work.folder) / PROGRESS, msgspec.json.encode(figures))


def _figures(now: JobFacts, sites: int) -> Figures:
    corpora = now.corpora.values()
    return Figures(
        sites=sites,
        pages=now.crawl.pages,
        fetches=now.crawl.fetches,
        bytes=now.crawl.bytes,
        pairs=sum(corpus.pairs for corpus in corpora),
        segments=sum(corpus.segments for corpus in corpora),
        units=sum(corpus.units for corpus in corpora),
    )


def _outcome(bundle: Bundle, folder: JobFolder) -> Done:
    now = status(folder)
    with folder.writing() as ledger:  # A writer that closes leaves one file, with nothing beside it to be copied.
        write_shards(folder.job(), ledger, folder.path / SHARD)  # what merging reads, on any machine
        pairs = {one.site: one.pairs for one in site_counts(ledger, most=-1)}
        pages = {known.site: known.pages for known in ledger.sites()}
        asked = [one for one in bundle.sites if one.seeds]  # What is in an archive shows when it has been read.
        why = _why_nothing([one for one in asked if not pages.get(one.site)], ledger)
        sites = [
            SiteOutcome(site, pages.get(site, 0), pairs.get(site, 0), why.get(site, ""))
            for site in ([one.site for one in asked] if asked else pages)
        ]
    return Done(bundle.name, PartState.MINED, sites, _figures(now, len(bundle.sites)), now.ended)


def _why_nothing(sites: list[BundledSite], ledger: Ledger) -> dict[str, str]:
    """What became of the first seed of each site: why it was skipped, or what its last fetch brought."""
    firsts = {site.seeds[0]: site.site for site in sites}
    fetched = {line.url: line.outcome for line in log(ledger) if line.url in firsts} if firsts else {}
    reasons = {}
    for seed, site in firsts.items():
        skips = seed_skips([Url.known(seed)], ledger.skip_of)
        reasons[site] = _reason(skips[0].skip) if skips else fetched.get(seed) or "it was not visited"
    return reasons


def _reason(skip: Skip) -> str:
    return f"{skip.reason}, {skip.detail}" if skip.detail else skip.reason
