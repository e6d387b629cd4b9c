"""Keeps the reading index of a job up to date while somebody reads there, in a process of its own."""

import asyncio
import time
from collections.abc import Callable

from bitrawl.errors import BitrawlError
from bitrawl.job.folder import JobFolder
from bitrawl.job.reading_index import ReadingIndex, is_due
from bitrawl.web.processes import Errands

REST = 5.0  # seconds after a refresh before the next one of the same job; judgement
SECONDS = 3600.0  # for one refresh of a large job
PATIENCE = 2.0  # seconds that a page waits for a refresh: enough for most jobs


class Indexing:
    """One refresh at a time for each job."""

    def __init__(self, errands: Errands, now: Callable[[], float] = time.monotonic) -> None:
        self._errands = errands
        self._now = now
        self._refreshing: dict[str, asyncio.Task[None]] = {}
        self._rested: dict[str, float] = {}
        self._faults: dict[str, BitrawlError] = {}

    async def is_fresh(self, folder: JobFolder, *, wait: float = PATIENCE) -> bool:
        """Whether the index has all that was mined. If not, a refresh begins, and is waited for a little.

        If the index cannot be made, so that there is nothing to show, it raises what the refresh said; not to those who
        do not wait.
        """
        key = folder.path.name
        if key not in self._refreshing:
            try:
                if not await asyncio.to_thread(is_due, folder.path):
                    return True
            except BitrawlError:  # there is no ledger yet
                return True
            if self._now() < self._rested.get(key, 0.0):
                if wait:
                    self._complain(folder)
                return False
            self._refreshing[key] = asyncio.ensure_future(self._refresh(folder))
        if wait:
            await asyncio.wait([self._refreshing[key]], timeout=wait) if key in self._refreshing else None
            self._complain(folder)
        return key not in self._refreshing

    def _complain(self, folder: JobFolder) -> None:
        fault = self._faults.get(folder.path.name)
        if fault is not None and not ReadingIndex(folder.reading_index).signature():
            raise fault

    async def _refresh(self, folder: JobFolder) -> None:
        self._faults.pop(folder.path.name, None)
        try:
            await self._errands.run([str(folder.path)], module="bitrawl.job.reading_index", seconds=SECONDS)
        except BitrawlError as error:
            self._faults[folder.path.name] = error
        finally:
            self._rested[folder.path.name] = self._now() + REST
            self._refreshing.pop(folder.path.name, None)
