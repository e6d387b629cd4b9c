"""From a job's description to objects: the only place that names implementations."""

from bitrawl.assemble.crawling import Started, check, clean_pages, job_pages, run
from bitrawl.assemble.mining import export, mine, mine_again
from bitrawl.assemble.writing import write_corpus
from bitrawl.crawl.ending import Ending

__all__ = [
    "Ending",
    "Started",
    "check",
    "clean_pages",
    "export",
    "job_pages",
    "mine",
    "mine_again",
    "run",
    "write_corpus",
]
