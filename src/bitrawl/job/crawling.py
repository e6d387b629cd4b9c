"""Visit sites until nothing is left, a budget is spent or somebody stops it.

What a job would meet: a few requests to each seed's host, and nothing written. For `--dry-run`.
"""

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from bitrawl import config
from bitrawl.config import Job, Strategy
from bitrawl.crawl.ending import Ending, crawl_end, ending, seed_skips
from bitrawl.crawl.loop import Crawl
from bitrawl.crawl.preview import Preview
from bitrawl.errors import BitrawlError, ConfigError
from bitrawl.facts import CrawlEnd
from bitrawl.job import crawl_wiring, fetching
from bitrawl.job.crawl_wiring import Parts, bucket_scores
from bitrawl.job.crawl_wiring import crawl as new_crawl
from bitrawl.job.folder import JobFolder
from bitrawl.job.ledger import Ledger, LedgerQueue
from bitrawl.job.ledger_facts import relevant_pages
from bitrawl.job.topics import read_examples, topic_judge
from bitrawl.model import TRANSIENT, Skip, Visit
from bitrawl.model_files import models_from
from bitrawl.protocols import BacklinkSource
from bitrawl.topic.judge import TopicJudge
from bitrawl.url import Url

_log = logging.getLogger(__name__)

COUNT_EVERY = 10.0  # seconds of a budget of minutes that a kill may cost; judgement
WHAT_TO_ADD = "Name a page with a few paragraphs about it with --like, or texts about it with --texts"

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
    async with opened(job, folder, observe, verb="crawl", fresh=fresh) as parts:
        started(parts)
        return await finished(parts)


@asynccontextmanager
async def opened(
    job: Job,
    folder: JobFolder,
    observe: Callable[[Visit], None],
    *,
    verb: str,
    fresh: bool = False,
    backlinks: BacklinkSource | None = None,
) -> AsyncIterator[Parts]:
    """A crawl that has not begun, with what earlier runs left of it; the folder's job is this one from now on.

    The verb is the command that resumes it.
    """
    async with AsyncExitStack() as stack:
        stack.enter_context(models_from(job.models))
        archives = fetching.archives(job, stack)  # One that cannot be read costs neither a new folder nor an old job.
        judge = topic_judge(job, await read_examples(job)) if job.topic.is_set else None
        if fresh:
            folder.start_over()
        parts = await new_crawl(job, folder.path, archives, stack, observe, judge, backlinks)
        folder.discard_drafts()
        config.write(job, folder.description)
        if job.strategy == Strategy.PERPLEXITY:
            follow_tuning(parts, folder)
        if judge is not None and job.topic.is_only_like:
            _expect_examples(parts.crawl, judge, job.topic.like)
        parts.ledger.remember("verb", verb)
        for word in ("ended", "mining"):
            parts.ledger.remember(word, "")
        if parts.learns:
            parts.crawl.recall(parts.ledger.visits(), parts.queue.links())
        if parts.walk is not None:
            parts.crawl.frontier.spent.downloads = parts.walk.downloads
        parts.crawl.frontier.wake(parts.queue.hosts())
        yield parts


def _expect_examples(crawl: Crawl, judge: TopicJudge, like: Sequence[str]) -> None:
    """End the crawl when all pages that the topic is like were visited, and none of them says what the topic is."""
    observe, waiting = crawl.observe, {Url.parse(raw) for raw in like}
    skipped: dict[Url, str] = {}

    def observed(visit: Visit) -> None:
        observe(visit)
        link, outcome = visit.lease.link, visit.outcome
        if link.url not in waiting or judge.learned:
            return
        if isinstance(outcome, Skip):
            if outcome.reason in TRANSIENT and visit.lease.attempt < crawl.settings.attempts:
                return
            skipped[link.url] = f"it could not be read ({outcome.detail or outcome.reason})"
        waiting.discard(link.url)
        if isinstance(outcome, Skip) and outcome.target is not None:
            waiting.add(outcome.target)
            del skipped[link.url]
        if not waiting:
            why = "; ".join(f"{url}: {reason}" for url, reason in (skipped | judge.lacking).items())
            crawl.fail(ConfigError(f"nothing says what the topic is. {why}. {WHAT_TO_ADD}"))

    crawl.observe = observed


def follow_tuning(parts: Parts, folder: JobFolder) -> None:
    """Look at the job file after each visit: its buckets may be moved while the crawl runs (`bitrawl tune`).

    A file that is missing or wrong, as it may be while somebody edits it, changes nothing.
    """
    observe, seen = parts.crawl.observe, _written(folder)

    def observed(visit: Visit) -> None:
        nonlocal seen
        observe(visit)
        if (written := _written(folder)) == seen:
            return
        seen = written
        try:
            parts.crawl.frontier.steps = bucket_scores(folder.job())
        except BitrawlError as error:
            _log.warning("the buckets stay as they are: %s", error)

    parts.crawl.observe = observed


def _written(folder: JobFolder) -> int | None:
    """When the job file was written; None if it is not there."""
    try:
        return folder.description.stat().st_mtime_ns
    except OSError:
        return None


async def finished(parts: Parts) -> Ending:
    """Run it to its end, and write down how it ended."""
    crawl, ledger, queue = parts.crawl, parts.ledger, parts.queue
    count = _counting_time(crawl, ledger)
    try:
        await crawl.run()
    finally:
        count()
    end = _end(crawl, ledger, queue)
    ledger.remember("ended", end)
    return ending(end)


def _counting_time(crawl: Crawl, ledger: Ledger) -> Callable[[], None]:
    """A function that writes down how long all runs took. It is called now and then: a kill leaves what was spent."""
    earlier, began, observe = float(ledger.recall("seconds") or 0), crawl.clock.now(), crawl.observe
    counted = began

    def count() -> None:
        nonlocal counted
        counted = crawl.clock.now()
        ledger.remember("seconds", earlier + counted - began)

    def observed(visit: Visit) -> None:
        observe(visit)
        if crawl.clock.now() - counted >= COUNT_EVERY:
            count()

    crawl.observe = observed
    return count


def _end(crawl: Crawl, ledger: Ledger, queue: LedgerQueue) -> CrawlEnd:
    pages = crawl.frontier.spent.pages
    return crawl_end(
        stopped=crawl.stopped,
        budget=crawl.frontier.budget_reached(),
        queued=len(queue),
        left=crawl.frontier.left,
        parked=crawl.frontier.parked(),
        pages=pages,
        relevant=relevant_pages(ledger),
        seeds=() if pages else seed_skips(crawl.seeds, ledger.skip_of),
    )


async def preview(job: Job) -> list[Preview]:
    """One for each host of the seeds, in their order."""
    async with AsyncExitStack() as stack:
        stack.enter_context(models_from(job.models))
        archives = fetching.archives(job, stack)
        previewer = await crawl_wiring.previewer(job, archives, stack)
        return await previewer.preview(fetching.seeds_of(job, archives))
