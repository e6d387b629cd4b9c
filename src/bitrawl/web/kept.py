"""Files that are made when somebody asks for them, and kept for a while: the same question has the same answer."""

import asyncio
import shutil
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from bitrawl.job.folder import JobFolder
from bitrawl.job.verdicts import VERDICTS

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
