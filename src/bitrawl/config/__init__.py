"""A job's description: typed, closed, and the same whether it comes from flags or from a TOML file.

Each table of a job file is a value of the room that it sets up; only this room knows them all.
"""

from typing import TYPE_CHECKING

from bitrawl.doors import door

if TYPE_CHECKING:
    from bitrawl.config.job_file import inputs_of, merged, public_text_of, read, text_of, write
    from bitrawl.config.resolving import RULES, broken, continues, converted, resolve, typed
    from bitrawl.config.schema import Job
    from bitrawl.config.settings import (
        CRAWL,
        DISCOVER,
        MINE,
        SETTINGS,
        Group,
        Setting,
        described,
        flags,
        keys,
        listed,
        tables,
        value_of,
    )
else:
    __getattr__ = door(__name__)
