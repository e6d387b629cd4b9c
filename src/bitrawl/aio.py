"""The front door for code that runs in an event loop: `mine` and `crawl` of `bitrawl`, to be awaited."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from functools import partial, wraps
from inspect import signature
from pathlib import Path
from typing import Any, ParamSpec, Self, TypeVar

import msgspec

import bitrawl
from bitrawl import arguments
from bitrawl.config import CRAWL, MINE, described
from bitrawl.endings import Doing, Ending
from bitrawl.errors import ConfigError, NothingFoundError
from bitrawl.facts import JobFacts
from bitrawl.job import OpenedJob, StartOver, WiredCrawl, described_job
from bitrawl.job import crawl as crawl_job
from bitrawl.job import mine as mine_job
from bitrawl.model import Page, Visit

Result = TypeVar("Result")
Given = ParamSpec("Given")


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


def _to_await(function: Callable[Given, JobResult]) -> Callable[Given, Coroutine[Any, Any, JobResult]]:
    """A function of the package, to be awaited: its arguments and its docstring are the same."""

    @wraps(function)
    async def call(*args: Given.args, **named: Given.kwargs) -> JobResult:
        given = signature(function).bind(*args, **named)
        given.apply_defaults()
        return await _run(function.__name__, **given.arguments)

    return call


mine = _to_await(bitrawl.mine)
crawl = _to_await(bitrawl.crawl)


async def _run(  # noqa: PLR0913 - those of `bitrawl.mine`
    verb: str, seeds: Any, langs: Any, out: Any, progress: Any, settings: dict[str, Any], *, fresh: Any, refresh: Any
) -> JobResult:
    """Raises `ConfigError` for wrong types."""
    addresses = arguments.texts("seeds", seeds, "a URL, or a list of URLs")
    codes = arguments.languages("langs", langs)
    tables = described({"langs": codes, **settings}, MINE if verb == "mine" else CRAWL)
    opened = OpenedJob(arguments.folder_path("out", out))
    with _Watching(progress, opened) as watching:
        refresh, fresh = arguments.yes_or_no("refresh", refresh), arguments.yes_or_no("fresh", fresh)
        if fresh and refresh:
            raise ConfigError("fresh deletes what refresh would visit again; choose one of them")
        job = described_job({"seeds": addresses or None, **tables}, opened.files, fresh=fresh)
        work = partial(mine_job, watch=watching.mining) if verb == "mine" else crawl_job
        ways = {"fresh": StartOver.KEEP_ARCHIVE if fresh else StartOver.NO, "refresh": refresh}
        ending = await work(job, opened.files, observe=watching.visited, started=watching.started, **ways)
        status = opened.status()
        if ending is Ending.FAILED:
            raise NothingFoundError(f"{opened.folder}: {status.ended}")
        return JobResult(opened.folder, ending, status)


class _Watching:
    """Passes on what happens: to the display of the command line, or to the caller's function."""

    def __init__(self, progress: bool | Callable[[JobProgress], None], folder: OpenedJob) -> None:  # noqa: FBT001
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

    def started(self, wired: WiredCrawl) -> None:
        if self._display is not None:
            self._display.watch(wired)
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
