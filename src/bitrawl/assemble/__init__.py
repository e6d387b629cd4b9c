"""From a job's description to objects: the only place that names implementations."""

from bitrawl.assemble.crawling import Ending, check, clean_pages, job_pages, run, start_over

__all__ = ["Ending", "check", "clean_pages", "job_pages", "run", "start_over"]
