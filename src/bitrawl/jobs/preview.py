"""What a job would meet: a few requests to each seed's host, and nothing written. For `--dry-run`."""

from contextlib import AsyncExitStack

from bitrawl import assemble
from bitrawl.config import Job
from bitrawl.crawl.preview import Preview


async def preview(job: Job) -> list[Preview]:
    """One for each host of the seeds, in their order."""
    async with AsyncExitStack() as stack:
        archives = assemble.archives(job, stack)
        previewer = await assemble.previewer(job, archives, stack)
        return await previewer.preview(assemble.seeds_of(job, archives))
