"""Visit sites until nothing is left, a budget is spent or somebody stops it."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from enum import Enum

from bitrawl import assemble, config
from bitrawl.assemble import Parts
from bitrawl.config import Job
from bitrawl.crawl.loop import Crawl
from bitrawl.jobs.folder import JobFolder
from bitrawl.model import Visit
from bitrawl.store.ledger import Ledger
from bitrawl.store.queue import LedgerQueue
from bitrawl.strategies.breadth_first import Unlearning


class Ending(Enum):
    """How a run came to its end."""

    DONE = "done"  # nothing left, or a budget spent
    FAILED = "failed"  # no host has answered
    STOPPED = "stopped"  # by the user, with all in flight finished


Started = Callable[[Parts], None]
"""Is handed the parts of a crawl before it begins: to stop it by, or to watch it."""


async def crawl(
    job: Job,
    folder: JobFolder,
    *,
    observe: Callable[[Visit], None] = lambda _visit: None,
    started: Started = lambda _parts: None,
    fresh: bool = False,
) -> Ending:
    """Visit what the job asks for; the same job in the same folder resumes.

    `fresh` removes what the folder held; that, and job.toml, happen when all is ready to begin.
    """
    async with opened(job, folder, observe, fresh=fresh) as parts:
        started(parts)
        return await finished(parts)


@asynccontextmanager
async def opened(
    job: Job, folder: JobFolder, observe: Callable[[Visit], None], *, fresh: bool = False
) -> AsyncIterator[Parts]:
    """A crawl that has not begun, with what earlier runs left of it; the folder's job is this one from now on."""
    if fresh:
        folder.start_over()
    async with AsyncExitStack() as stack:
        parts = await assemble.crawl(job, folder.path, stack, observe)
        config.write(job, folder.description)
        for word in ("ended", "mining"):
            parts.ledger.remember(word, "")
        if not isinstance(parts.crawl.scorer, Unlearning):
            parts.crawl.recall(parts.ledger.visits(), parts.queue.links())
        parts.crawl.frontier.wake(parts.queue.hosts())
        yield parts


async def finished(parts: Parts) -> Ending:
    """Run it to its end, and write down how it ended."""
    crawl, ledger, queue = parts
    began = crawl.clock.now()
    try:
        await crawl.run()
    finally:
        ledger.remember("seconds", float(ledger.recall("seconds") or 0) + crawl.clock.now() - began)
    ending, why = _ending(crawl, ledger, queue)
    ledger.remember("ended", why)
    return ending


def _ending(crawl: Crawl, ledger: Ledger, queue: LedgerQueue) -> tuple[Ending, str]:
    left = f"; {waiting} links are still queued" if (waiting := len(queue)) else ""
    if crawl.stopped:
        return Ending.STOPPED, f"stopped by the user{left}; the same command resumes"
    if spent := crawl.frontier.spent():
        return Ending.DONE, f"the budget of {spent} is spent{left}"
    if crawl.frontier.left and waiting:
        site, why = next(iter(crawl.frontier.left.items()))
        others = f", and {len(crawl.frontier.left) - 1} other sites" if len(crawl.frontier.left) > 1 else ""
        said = f"{site} left: {why}{others}{left}; --exhaustive goes on"
    elif parked := crawl.frontier.parked():
        host, why = next(iter(parked.items()))
        others = f" and {len(parked) - 1} other hosts" if len(parked) > 1 else ""
        said = f"{host}{others} left: {why}{left}; the same command tries again"
    else:
        said = "done: nothing is left to visit"
    return (Ending.DONE if ledger.answered() else Ending.FAILED), said
