"""From a job's description to objects: the only place that names implementations."""

from bitrawl.assemble.crawling import Ending, Started, check, clean_pages, job_pages, run, start_over
from bitrawl.assemble.mining import mine, mine_again, pairing, write_corpus

__all__ = [
    "Ending",
    "Started",
    "check",
    "clean_pages",
    "job_pages",
    "mine",
    "mine_again",
    "pairing",
    "run",
    "start_over",
    "write_corpus",
]
