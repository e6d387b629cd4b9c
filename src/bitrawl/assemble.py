"""From a job's description to objects: the only module that names implementations."""

import asyncio
import os
import shutil
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from enum import Enum
from functools import partial
from pathlib import Path

from bitrawl.config import Job, Strategy
from bitrawl.crawl.addresses import Endpoint
from bitrawl.crawl.decompress import Expansion
from bitrawl.crawl.fetch import FetchSettings, HttpFetcher
from bitrawl.crawl.frontier import Budget, Frontier, Politeness, Purse
from bitrawl.crawl.loop import Crawl, LoopSettings
from bitrawl.crawl.robots import RobotsFetcher
from bitrawl.crawl.scope import Scope, Sites
from bitrawl.crawl.scorers import BreadthFirst, LanguageFilter
from bitrawl.crawl.traps import Traps
from bitrawl.errors import ConfigError, StoreError
from bitrawl.model import Language, Link, LinkKind, Visit
from bitrawl.page.analyser import PageAnalyser
from bitrawl.page.boilerplate import BoilerplateClassifier
from bitrawl.page.sandbox import SandboxedAnalyser
from bitrawl.protocols import Fetcher, LinkScorer
from bitrawl.store.archive import ArchivingFetcher, WarcArchive
from bitrawl.store.ledger import Ledger
from bitrawl.store.queue import LedgerQueue
from bitrawl.store.replay import Archives, Codec, ReplayFetcher, open_archives
from bitrawl.text.codes import same_language
from bitrawl.text.language import LanguageModel

MEGABYTE = 1_000_000
MAX_WORKERS = 4  # more than that a polite crawl never needs


class Ending(Enum):
    """How a run came to its end."""

    DONE = "done"  # nothing left, or a budget spent
    STOPPED = "stopped"  # by the user, with all in flight finished
    CANCELLED = "cancelled"  # by the user, at once


class SystemClock:
    """The real time."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """As asyncio does."""
        await asyncio.sleep(seconds)
