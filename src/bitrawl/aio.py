"""The front door for code that runs in an event loop: `mine` and `crawl` of `bitrawl`, to be awaited."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import ExitStack
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec

from bitrawl.config import arguments
from bitrawl.config.settings import CRAWL, MINE, Group, described
from bitrawl.crawling.ending import Ending
from bitrawl.endings import Doing
from bitrawl.errors import ConfigError
from bitrawl.facts import JobFacts
from bitrawl.job import OpenedJob, running, status
from bitrawl.job.crawl_wiring import Parts, described_job
from bitrawl.model import Page, Visit
from bitrawl.store.folder import JobFolder, StartOver

Result = TypeVar("Result")


class JobProgress(msgspec.Struct, frozen=True):
    """How far a job is; told after each fetch and each step of mining."""

    fetches: int
    pages: int
    url: str  # that was fetched last
    doing: str  # what is being mined now; empty when nothing is


class JobResult(msgspec.Struct, frozen=True):
    """How a job ended, and where its folder is."""

    folder: Path
    ending: Ending
    status: JobFacts

    def open(self) -> OpenedJob:
        """What the job has found."""
        return OpenedJob(self.folder)


async def mine(
    seeds: str | Iterable[str] = (),
    *,
    langs: str | Sequence[str],
    out: str | PathLike[str],
    fresh: bool = False,
    refresh: bool = False,
    progress: bool | Callable[[JobProgress], None] = False,
    **settings: Any,
) -> JobResult:
    """Crawl sites and write a corpus of their translations, like `bitrawl mine`.

    The same call resumes the job; `fresh` starts over, `refresh` visits a finished job again. `progress` shows a display
    (True), or is called at each step.
    Settings are the long flags of the command, with underscores: `max_pages=200`, `delay=0`, `replay=["site.warc.gz"]`.
    Raises `ConfigError` before anything is fetched or written if a setting is wrong.
    """
    settings, folder = _checked(seeds, langs, out, settings, MINE)
    with _Watching(progress, folder) as watching:
        work = partial(running.mine, observe=watching.visited, started=watching.started, watch=watching.mining)
        again = arguments.yes_or_no("refresh", refresh)
        return await _done(work, settings, folder, fresh=arguments.yes_or_no("fresh", fresh), refresh=again)


async def crawl(
    seeds: str | Iterable[str] = (),
    *,
    langs: str | Sequence[str],
    out: str | PathLike[str],
    fresh: bool = False,
    refresh: bool = False,
    progress: bool | Callable[[JobProgress], None] = False,
    **settings: Any,
) -> JobResult:
    """Visit sites and keep their pages, like `bitrawl crawl`. The arguments are those of `mine`."""
    settings, folder = _checked(seeds, langs, out, settings, CRAWL)
    with _Watching(progress, folder) as watching:
        work = partial(running.crawl, observe=watching.visited, started=watching.started)
        again = arguments.yes_or_no("refresh", refresh)
        return await _done(work, settings, folder, fresh=arguments.yes_or_no("fresh", fresh), refresh=again)


def _checked(
    seeds: str | Iterable[str],
    langs: str | Sequence[str],
    out: str | PathLike[str],
    settings: dict[str, Any],
    groups: Iterable[Group],
) -> tuple[dict[str, Any], JobFolder]:
    """The settings as the tables of a job file, and the folder; raises `ConfigError` for wrong types."""
    addresses = arguments.texts("seeds", seeds, "a URL, or a list of URLs")
    codes = arguments.languages("langs", langs)
    tables = described({"langs": codes, **settings}, groups)
    return {"seeds": addresses or None, **tables}, JobFolder(arguments.folder_path("out", out))


async def _done(
    work: Callable[..., Awaitable[Ending]],
    settings: dict[str, Any],
    folder: JobFolder,
    *,
    fresh: bool,
    refresh: bool,
) -> JobResult:
    if fresh and refresh:
        raise ConfigError("fresh deletes what refresh would visit again; choose one of them")
    job = described_job(settings, folder, fresh=fresh)
    ending = await work(job, folder, fresh=StartOver.KEEP_ARCHIVE if fresh else StartOver.NO, refresh=refresh)
    return JobResult(folder.path, ending, status(folder))


class _Watching:
    """Passes on what happens: to the display of the command line, or to the caller's function."""

    def __init__(self, progress: bool | Callable[[JobProgress], None], folder: JobFolder) -> None:  # noqa: FBT001
        if not isinstance(progress, bool) and not callable(progress):
            raise arguments.wrong("progress", progress, "True for a display, or a function")
        self._tell = progress if callable(progress) else None
        self._stack = ExitStack()
        self._display = None
        self._drawing: asyncio.Future[None] | None = None
        self._now = JobProgress(0, 0, "", "")
        if progress is True:
            from bitrawl.cli.foreground import ProgressDisplay  # noqa: PLC0415 - rich takes a while to load

            self._display = ProgressDisplay(folder)

    def __enter__(self) -> Self:
        if self._display is not None:
            self._stack.enter_context(self._display)
        return self

    def __exit__(self, *error: object) -> None:
        if self._drawing is not None:
            self._drawing.cancel()
        self._stack.close()

    def started(self, parts: Parts) -> None:
        if self._display is not None:
            self._display.watch(parts)
            self._drawing = asyncio.ensure_future(self._display.draw_now_and_then())

    def visited(self, visit: Visit) -> None:
        if self._display is not None:
            self._display.visited(visit)
        now = self._now
        pages = now.pages + isinstance(visit.outcome, Page)
        self._changed(JobProgress(now.fetches + 1, pages, visit.lease.link.url, now.doing))

    def mining(self, doing: Doing | None) -> None:
        if self._display is not None:
            self._display.mining(doing)
        self._changed(msgspec.structs.replace(self._now, doing=str(doing or "")))

    def _changed(self, now: JobProgress) -> None:
        self._now = now
        if self._tell is not None:
            self._tell(now)


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Until it is done, also where a loop is running already, as in Jupyter: then in a thread with a loop of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    outcome: list[Result | BaseException] = []
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)

    def drive() -> None:
        try:
            outcome.append(loop.run_until_complete(task))
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            outcome.append(error)
        finally:
            loop.close()

    thread = threading.Thread(target=drive, name="bitrawl")
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]
