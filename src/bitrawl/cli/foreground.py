"""Run a job in the foreground: its progress, the signals that end it, and the exit code."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import typer

from bitrawl.cli.console import complain, err
from bitrawl.cli.progress import Progress
from bitrawl.crawl.ending import Ending
from bitrawl.job.crawl_wiring import Parts
from bitrawl.job.folder import JobFolder
from bitrawl.job.reporting import status as status_of

Result = TypeVar("Result")

EXIT_CODES = {Ending.DONE: 0, Ending.FAILED: 1, Ending.STOPPED: 130}


class Foreground:
    """The first Ctrl-C finishes what is in flight, where that can be done; every other signal ends the job at once."""

    def __init__(self, progress: Progress, *, mines: bool = False) -> None:
        self.progress = progress
        self._mines = mines  # what was fetched, also after the first Ctrl-C
        self._parts: Parts | None = None
        self._task: asyncio.Future[Any] | None = None
        self._ended_by: signal.Signals | None = None

    def run(self, main: Callable[[], Awaitable[Result]]) -> Result:
        """Until it is done; a signal that ends it at once ends this program too, with one line."""
        with self.progress:
            try:
                return asyncio.run(self._run(main))
            except asyncio.CancelledError:
                ended_by = self._ended_by or signal.SIGINT
        err.print(f"Stopped by {ended_by.name}. Nothing is lost: resume with the same command.", markup=False)
        raise typer.Exit(128 + ended_by)

    def started(self, parts: Parts) -> None:
        """A crawl is about to begin: the first Ctrl-C finishes what is in flight."""
        self._parts = parts
        self.progress.watch(parts)

    async def _run(self, main: Callable[[], Awaitable[Result]]) -> Result:
        task = asyncio.ensure_future(main())
        self._task = task
        drawing = asyncio.ensure_future(self.progress.draw_now_and_then())
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._signalled, number)
        try:
            return await task
        finally:
            drawing.cancel()

    def _signalled(self, number: signal.Signals) -> None:
        if number is signal.SIGINT and self._parts is not None and not self._parts.crawl.stopped:
            then = " Then what was fetched is paired, aligned and written." if self._mines else ""
            self.progress.note(f"Finishing what is in flight.{then} Press Ctrl-C again to stop now.")
            self._parts.crawl.stop()
        elif self._task is not None:
            self._ended_by = number
            self._task.cancel()


def leave(ending: Ending, *, quiet_in: JobFolder | None = None) -> None:
    """With the exit code of that ending. A command that has shown nothing of its job says why it failed."""
    if ending is Ending.FAILED and quiet_in is not None:
        complain(f"{quiet_in.path}: {status_of(quiet_in).ended}")
    if EXIT_CODES[ending]:
        raise typer.Exit(EXIT_CODES[ending])
