"""The frontier at a million URLs on ten thousand hosts: operations a second, and the memory of the process."""

import asyncio
import resource
import tempfile
import time
from pathlib import Path

from bitrawl.crawling import Frontier, Politeness, Sites
from bitrawl.model import Link, LinkKind
from bitrawl.papers.trial import MemoryQueue
from bitrawl.protocols import Queue
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_queue import LedgerQueue
from bitrawl.url import Url

URLS, HOSTS, PER_PAGE, VISITS = 1_000_000, 10_000, 100, 20_000


class Now:
    """No politeness to wait for."""

    def now(self) -> float:
        return time.monotonic()

    def date(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def links(start: int) -> list[tuple[Link, float]]:
    numbers = range(start, start + PER_PAGE)
    source = Url.known(f"http://www.host{start % HOSTS}.org/")
    return [
        (
            Link(Url.known(f"http://www.host{n * 7919 % HOSTS}.org/section/page-{n}.html"), LinkKind.PAGE, source),
            n % 97 / 97,
        )
        for n in numbers
    ]


async def visit(frontier: Frontier, visits: int) -> None:
    for _ in range(visits):
        lease = await frontier.take()
        assert lease is not None
        frontier.fetched(lease, took=0.0)
        frontier.finish(lease, pages=1)


def rate(count: int, started: float) -> str:
    return f"{count / (time.perf_counter() - started):>9,.0f}/s"


def measure(name: str, queue: Queue, site_of: Sites) -> None:
    frontier = Frontier(queue, Now(), site_of.of, Politeness(delay=0))
    started = time.perf_counter()
    for start in range(0, URLS, PER_PAGE):
        frontier.add(links(start))
    new = rate(URLS, started)
    started = time.perf_counter()
    for start in range(0, URLS // 10, PER_PAGE):
        frontier.add(links(start))
    known = rate(URLS // 10, started)
    started = time.perf_counter()
    asyncio.run(visit(frontier, VISITS))
    taken = rate(VISITS, started)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{name:<8} new links {new}   known links {known}   take+finish {taken}   peak memory {memory:,.0f} MB")


def main() -> None:
    print(f"frontier: {URLS:,} URLs on {HOSTS:,} hosts")
    sites = Sites()
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "job.sqlite", site_of=sites.of)
        measure("sqlite", LedgerQueue(ledger, sites.of), sites)  # first: the peak is the process's
        ledger.close()
    measure("memory", MemoryQueue(), sites)


if __name__ == "__main__":
    main()
