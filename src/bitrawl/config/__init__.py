"""A job's description: typed, closed, and the same whether it comes from flags or from a TOML file.

Each table of a job file is a value of the room that it sets up; only this room knows them all.
"""

from bitrawl.config.job_file import merged, public_text_of, read, text_of, write
from bitrawl.config.resolving import continues, converted, resolve, typed
from bitrawl.config.schema import Job

__all__ = [
    "Job", "continues", "converted", "merged", "public_text_of", "read", "resolve", "text_of", "typed", "write",
]  # fmt: skip
