"""Where answers come from: the web, an archive that stands for it, and what reads them."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
from yarl import URL

from bitrawl.archive.archived_web import Archives, KeptFetcher, ReplayFetcher, first_record, home_pages
from bitrawl.archive.writing import ArchivingFetcher, WarcArchive, archive_files
from bitrawl.bodies import JSON
from bitrawl.config import Job
from bitrawl.crawling import FetchSettings, HttpFetcher, Politeness, RobotsFetcher, Sites, most_waiting
from bitrawl.crawling.preview import Previewer
from bitrawl.crawling.robots import RobotsRecord
from bitrawl.file_names import ARCHIVE
from bitrawl.folder_files import warc_files
from bitrawl.job.described import scope
from bitrawl.model import Capture, Language, WarcPosition, pack
from bitrawl.page import AnalysisSection, Rejects, SandboxedAnalyser, page_reader
from bitrawl.protocols import (
    Fetcher,
)
from bitrawl.store.database import Blobs
from bitrawl.store.ledger import Ledger
from bitrawl.url import Url

_REREAD = "reread"  # a fact of the job
# Both go on while the machine sleeps: robots.txt ages then, too. CLOCK_BOOTTIME is Linux only; elsewhere CLOCK_MONOTONIC does it.
ELAPSED = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class SystemClock:
    def now(self) -> float:
        """Seconds since the machine was started, whatever its date is set to."""
        return time.clock_gettime(ELAPSED)

    def date(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class LedgerRobots:
    """A memory for `RobotsFetcher` that outlives the process."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._unpack: Blobs[RobotsRecord] = Blobs(RobotsRecord, ledger.path)

    def load(self, origin: str) -> RobotsRecord | None:
        record = self._ledger.robots_of(origin)
        return self._unpack(record) if record is not None else None

    def save(self, record: RobotsRecord) -> None:
        self._ledger.keep_robots(record.origin, pack(record))


def archives(job: Job, stack: AsyncExitStack) -> Archives | None:
    """What stands for the web; None for the web itself. Raises `ArchiveError` for a file that is no archive."""
    names = job.replay or job.warc
    if not names:
        return None
    return stack.enter_context(Archives(warc_files([Path(name) for name in names])))


def seeds_of(job: Job, archives: Archives | None) -> list[Url]:
    """Without seeds: the home pages of an archive that replaces the web, or every page of an archive that is read as a whole.

    Pages that the topic is like are seeds as well, except where the whole archive is read.
    """
    if archives is None or job.seeds or (job.replay and job.topic.like):
        return job.seed_urls()
    return home_pages(archives) if job.replay else list(archives.urls())


class WebSource(NamedTuple):
    """What answers a crawl."""

    fetcher: Fetcher
    keep: Callable[[Capture], WarcPosition] | None = None  # into the archive of the answers; None where there is none


async def web(
    job: Job, folder: Path, ledger: Ledger, archives: Archives | None, stack: AsyncExitStack, clock: SystemClock
) -> WebSource:
    """The live web, with an archive of its answers, or an archive that replaces it."""
    if archives is not None:
        return WebSource(ReplayFetcher(archives))
    live = await stack.enter_async_context(HttpFetcher(fetch_settings(job), clock, ledger.rounds.earlier))
    info = {"robots": "classic", "format": "WARC File Format 1.1"}
    archive = stack.enter_context(WarcArchive(folder / ARCHIVE, clock=clock, info=info, known=ledger.last_places()))
    fetcher = ArchivingFetcher(live, archive, ledger.rounds.earlier)
    earlier_files = _earlier_archive(folder / ARCHIVE, ledger)
    kept = KeptFetcher(fetcher, stack.enter_context(Archives(earlier_files))) if earlier_files else fetcher
    return WebSource(kept, archive.write)


def _earlier_archive(folder: Path, ledger: Ledger) -> list[Path]:
    """The archive of a job whose ledger is new: somebody has set aside a damaged one. Otherwise nothing."""
    if ledger.rounds.number > 1 or not (ledger.recall(_REREAD) or ledger.is_new()):
        return []
    readable = [path for path in archive_files(folder) if first_record(path) is not None]
    if readable:
        ledger.remember(_REREAD, 1)  # also when this run is killed
    return readable


def fetch_settings(job: Job) -> FetchSettings:
    return FetchSettings(
        **msgspec.structs.asdict(job.fetch),
        languages=tuple(job.languages()),
        media_types=frozenset(name for kind in job.scope.types for name in kind.media_types),
        connections=job.politeness.parallel + most_waiting(job.politeness.parallel),
        per_host=job.politeness.per_host,
    ).here()


class FetchPolicy(msgspec.Struct, frozen=True):
    """Who asks the web, how often, and whether private addresses may be asked, where no job says so."""

    contact: str = ""  # for webmasters, in the User-Agent
    delay: float = Politeness().delay  # seconds between two requests to one site
    allow_private: bool = False
    private_apis: tuple[Url, ...] = ()  # whose addresses may be private all the same, at their ports only

    @classmethod
    def of(cls, job: Job) -> "FetchPolicy":
        return cls(job.fetch.contact, job.politeness.delay, job.fetch.allow_private)

    def settings(self) -> FetchSettings:
        return FetchSettings(
            contact=self.contact,
            allow_private=self.allow_private,
            trusted=frozenset((api.host or "", api.port or 0) for api in map(URL, self.private_apis)),
        ).here()


POLITE = FetchPolicy()


def loose_web(policy: FetchPolicy) -> tuple[HttpFetcher, Callable[[HttpFetcher], RobotsFetcher]]:
    """A fetcher without a job, to be entered as a context, and a function that wraps it to respect robots.txt."""
    clock = SystemClock()
    settings = msgspec.structs.replace(policy.settings(), trusted=frozenset())  # its APIs are no sites
    return HttpFetcher(settings, clock), lambda live: RobotsFetcher(live, clock, Politeness(delay=policy.delay))


def api_web(policy: FetchPolicy, media_types: frozenset[str] = frozenset({JSON})) -> HttpFetcher:
    """A fetcher of JSON, to be entered as a context. It asks without robots.txt: see `topic.wiki_api.WikiClient`."""
    return HttpFetcher(msgspec.structs.replace(policy.settings(), media_types=media_types), SystemClock())


def loose_analyser(asked: Sequence[Language] = (), *, markdown: bool = False) -> SandboxedAnalyser:
    """Reads pages without a job, or before there is one. `asked`: as a crawl for these languages reads them."""
    return SandboxedAnalyser(partial(page_reader, tuple(asked), markdown=markdown), AnalysisSection(workers=1))


def job_analyser(job: Job, folder: Path) -> SandboxedAnalyser:
    return SandboxedAnalyser(
        partial(page_reader, tuple(job.languages())),
        job.analysis,
        rejects=Rejects(folder / "rejected"),
    )


async def previewer(job: Job, archives: Archives | None, stack: AsyncExitStack) -> Previewer:
    """Asks the seeds' hosts a few questions, or the archives that replace them. It stores nothing."""
    clock = SystemClock()
    web: Fetcher
    if archives is not None:
        web = ReplayFetcher(archives)
    else:
        web = await stack.enter_async_context(HttpFetcher(fetch_settings(job), clock))
    politeness = job.politeness if archives is None else job.politeness.to_archives
    return Previewer(
        RobotsFetcher(web, clock, politeness),
        await stack.enter_async_context(loose_analyser(job.languages())),
        scope(job, Sites(job.scope.one_site), seeds_of(job, archives)),
        clock,
        politeness,
    )
