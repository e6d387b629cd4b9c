"""The buckets of the strategy perplexity: how the pages of a job fall into them, and where they could be."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from bitrawl import config
from bitrawl.config import Strategy
from bitrawl.errors import ConfigError
from bitrawl.jobs.folder import JobFolder
from bitrawl.store.facts import perplexities
from bitrawl.topic.judge import boundaries


class Buckets(NamedTuple):
    """Remus, section 3.3."""

    boundaries: tuple[float, float]
    counts: tuple[int, int, int]  # pages: HIGH, MEDIUM, NORMAL
    proposed: tuple[float, float]  # by the pages so far


def tune_job(folder: JobFolder, settings: Mapping[str, Any]) -> None:
    """Write other boundaries into the job file. A crawl that runs there reads them after its next visit."""
    job = folder.changed(settings)
    _check(job.strategy)
    config.write(job, folder.description)


def buckets_of(folder: JobFolder) -> Buckets:
    job = folder.job()
    _check(job.strategy)
    ledger = folder.reading()
    found = perplexities(ledger)
    ledger.close()
    high, medium = job.topic.buckets
    counts = (sum(one <= high for one in found), sum(high < one <= medium for one in found))
    proposed = tuple(boundaries(found))
    return Buckets((high, medium), (*counts, len(found) - sum(counts)), (proposed[0], proposed[1]))


def _check(strategy: str) -> None:
    if strategy != Strategy.PERPLEXITY:
        raise ConfigError(f"this job has the strategy {strategy}; only the strategy perplexity has buckets")
