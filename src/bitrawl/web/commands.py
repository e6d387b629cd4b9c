"""Short `bitrawl` commands whose answer a page waits for, and what they make: reading indexes, exports, term lists.

The server itself loads no model and does no long work.
"""

import asyncio
import shutil
import subprocess
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from bitrawl.errors import BitrawlError
from bitrawl.job.folder import JobFolder
from bitrawl.job.reading_index import index_signature, is_due
from bitrawl.job.verdicts import VERDICTS
from bitrawl.process import Running
from bitrawl.web.messages import quoted, said

ERRAND_SECONDS = 60.0  # judgement
ERRANDS_AT_ONCE = 2
MOST_OUTPUT = 8 << 20  # bytes of an errand; judgement
# Proxies and everything else that may hold a secret of the server are left out.
_KEPT = frozenset(("PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV"))
_KEPT_BEGINNINGS = ("LC_", "SSL_CERT_")


class ErrandError(BitrawlError):
    """What the command said when it failed."""


class Errands:
    """Short commands, a few at a time, with limits. They end with the server."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._room = asyncio.Semaphore(ERRANDS_AT_ONCE)

    async def run(
        self,
        arguments: Sequence[str],
        given: bytes = b"",
        *,
        seconds: float = ERRAND_SECONDS,
        module: str = "bitrawl.cli",
    ) -> str:
        """Its output. Raises `ErrandError` with its last line if it fails or takes too long."""
        async with self._room:
            with Running.start(module, *arguments, stdout=subprocess.PIPE, environment=self._environment) as process:
                try:
                    out = await asyncio.to_thread(_output, process.popen, given, seconds)
                except subprocess.TimeoutExpired:
                    raise ErrandError(said("That took too long. Try with less.")) from None
        death = process.end()
        if death.status:
            raise ErrandError(quoted(death.last_line) if death.words else said("That could not be done."))
        return out[:MOST_OUTPUT].decode("utf-8", "replace")


def _output(popen: "subprocess.Popen[bytes]", given: bytes, seconds: float) -> bytes:
    with popen:
        try:
            return popen.communicate(given, seconds)[0]
        except subprocess.TimeoutExpired:
            popen.kill()
            raise


def clean(environment: Mapping[str, str]) -> dict[str, str]:
    """What a job may see of the server's environment."""
    return {name: value for name, value in environment.items() if name in _KEPT or name.startswith(_KEPT_BEGINNINGS)}


REST = 5.0  # seconds after a refresh before the next one of the same job; judgement
INDEX_SECONDS = 3600.0  # for one refresh of a large job
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
        if fault is not None and not index_signature(folder.reading_index):
            raise fault

    async def _refresh(self, folder: JobFolder) -> None:
        self._faults.pop(folder.path.name, None)
        try:
            await self._errands.run([str(folder.path)], module="bitrawl.job.reading_index", seconds=INDEX_SECONDS)
        except BitrawlError as error:
            self._faults[folder.path.name] = error
        finally:
            self._rested[folder.path.name] = self._now() + REST
            self._refreshing.pop(folder.path.name, None)


KEPT = ".kept"
"""The folder for them, beside the jobs."""
SECONDS = 3600.0  # that a file is kept, so that a broken download can go on; judgement
AS_NEW = 60.0  # seconds that a file about a running job is taken for new; judgement

Make = Callable[[Path], Awaitable[None]]


class KeptFiles:
    """Each is a folder, made once by whoever asks first; others wait for it."""

    def __init__(self, shelf: Path, now: Callable[[], float] = time.time) -> None:
        self._folder = shelf / KEPT
        self._now = now
        self._making: dict[Path, asyncio.Task[Path]] = {}

    def is_ready(self, folder: JobFolder, question: Sequence[str]) -> bool:
        """Whether the answer is there, or could not be made."""
        place = self._place(folder, question)
        making = self._making.get(place)
        return place.exists() or (making is not None and making.done())

    async def made(self, folder: JobFolder, question: Sequence[str], make: Make) -> Path:
        """The folder with the answer. What `make` raises is raised to all who wait."""
        place = self._place(folder, question)
        if place.exists():
            return place
        self.begin(folder, question, make)
        making = self._making[place]
        try:
            return await asyncio.shield(making)
        finally:
            if making.done():
                self._making.pop(place, None)

    def begin(self, folder: JobFolder, question: Sequence[str], make: Make) -> None:
        """The same without waiting. Ask `made` for the result, or the fault, when it is ready."""
        place = self._place(folder, question)
        if not place.exists() and place not in self._making:
            self._making[place] = asyncio.ensure_future(self._make(place, make))

    def forget(self, folder: JobFolder) -> None:
        """A job that is deleted."""
        shutil.rmtree(self._folder / folder.path.name, ignore_errors=True)

    async def _make(self, place: Path, make: Make) -> Path:
        draft = place.with_suffix(".draft")
        await asyncio.to_thread(self._forget_old)
        try:
            draft.mkdir(parents=True, exist_ok=True, mode=0o700)
            await make(draft)
            draft.rename(place)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        return place

    def _place(self, folder: JobFolder, question: Sequence[str]) -> Path:
        asked = [*question, *self._version(folder)]
        return self._folder / folder.path.name / blake2b("\0".join(asked).encode(), digest_size=12).hexdigest()

    def _version(self, folder: JobFolder) -> list[str]:
        """Of what the answer is made from; of a running job, the minute."""
        ledger = folder.ledger
        sources = [folder.path / VERDICTS, folder.path / f"{VERDICTS}-wal"]
        if folder.is_running:
            return [f"{self._now() // AS_NEW:.0f}"]
        return [str(_written(path)) for path in (ledger, ledger.with_name(f"{ledger.name}-wal"), *sources)]

    def _forget_old(self) -> None:
        for folder in self._folder.glob("*/*"):
            with suppress(OSError):
                if self._now() - folder.stat().st_mtime > SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)


def _written(path: Path) -> int:
    """A log of SQLite without content says nothing: it comes and goes with those who read."""
    try:
        found = path.stat()
    except OSError:
        return 0
    return found.st_mtime_ns if found.st_size else 0
