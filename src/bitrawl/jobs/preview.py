"""What a job would meet: a few requests to each seed's host, and nothing written. For `--dry-run`."""

from contextlib import AsyncExitStack

from bitrawl.assemble import crawling, fetching
from bitrawl.config import Job
from bitrawl.crawl.preview import Preview
from bitrawl.model_files import models_from


async def preview(job: Job) -> list[Preview]:
    """One for each host of the seeds, in their order."""
    async with AsyncExitStack() as stack:
        stack.enter_context(models_from(job.models))
        archives = fetching.archives(job, stack)
        previewer = await crawling.previewer(job, archives, stack)
        return await previewer.preview(fetching.seeds_of(job, archives))
