"""Short `bitrawl` commands whose answer a page waits for, and what they make: reading indexes, exports, term lists.

The server itself loads no model and does no long work.
"""

import asyncio
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from math import inf
from pathlib import Path
from typing import Any

from bitrawl.errors import BitrawlError, DiskFullError
from bitrawl.job import JobFolder
from bitrawl.process import Running
from bitrawl.review import JobReview
from bitrawl.web.job_state import without_place
from bitrawl.web.messages import message, quoted
from bitrawl.web.turns import Turns

COMMAND_SECONDS = 60.0
COMMANDS_AT_ONCE = 4
LONG_AT_ONCE = 3  # of these, what may take longer than `COMMAND_SECONDS`; two of one person
MOST_OUTPUT = 8 << 20  # bytes of a command
INDEX_REST = 5.0  # seconds after a refresh before the next one of the same job
INDEX_PATIENCE = 2.0  # seconds that a page waits for a refresh: enough for most jobs
WORK_SECONDS = 3600.0  # for the index of a large job, or all files of a large corpus
EXPORTS = ".kept"  # the folder for exports, beside the jobs
EXPORT_SECONDS = 3600.0  # that a file stays after it was asked for, so that a broken download can go on
EXPORT_IS_NEW = 60.0  # seconds that a file about a running job is taken for new
# Proxies and everything else that may hold a secret of the server are left out.
_PUBLIC = frozenset(("PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV"))
_PUBLIC_BEGINNINGS = ("LC_", "SSL_CERT_")

Make = Callable[[Path], Coroutine[Any, Any, None]]


class CommandError(BitrawlError):
    """The message of a command that failed."""


class CommandRunner:
    """Runs a few commands at a time, with limits. People take turns. They end with the server."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._turns = Turns(COMMANDS_AT_ONCE, most_long=LONG_AT_ONCE, long_of_one=2)

    async def run(
        self,
        arguments: Sequence[str],
        given: bytes = b"",
        *,
        person: str = "",
        seconds: float = COMMAND_SECONDS,
        module: str = "bitrawl.cli",
    ) -> str:
        """Its output, for that person. Raises `CommandError` with its last line if it fails or takes too long."""
        async with self._turns.turn(person, is_long=seconds > COMMAND_SECONDS):
            with Running.start(module, *arguments, stdout=subprocess.PIPE, environment=self._environment) as process:
                begun = threading.Event()
                try:
                    output = await asyncio.to_thread(_output, process.popen, given, seconds, begun)
                except subprocess.TimeoutExpired:
                    raise CommandError(message("That took too long. Try with less.")) from None
                finally:
                    if not begun.is_set():  # cancelled before a thread was free: nobody else closes the pipes
                        _close(process.popen)
        death = process.end()
        if death.status:
            why = _without_places(arguments, death.last_line)
            raise CommandError(quoted(why) if death.words else message("That could not be done."))
        return output[:MOST_OUTPUT].decode("utf-8", "replace")


def _without_places(arguments: Sequence[str], text: str) -> str:
    """Without the paths on this server that the command was given."""
    for argument in arguments:
        path = Path(argument.rpartition("=")[2])
        text = without_place(path, text) if path.is_absolute() else text
    return text


def _close(popen: "subprocess.Popen[bytes]") -> None:
    for pipe in (popen.stdin, popen.stdout):
        if pipe is not None:
            pipe.close()


def _output(popen: "subprocess.Popen[bytes]", given: bytes, seconds: float, begun: threading.Event) -> bytes:
    begun.set()
    with popen:
        try:
            return popen.communicate(given, seconds)[0]
        except subprocess.TimeoutExpired:
            popen.kill()
            raise


def clean(environment: Mapping[str, str]) -> dict[str, str]:
    """What a command may see of the server's environment."""
    return {
        name: value for name, value in environment.items() if name in _PUBLIC or name.startswith(_PUBLIC_BEGINNINGS)
    }


def with_proxy(environment: Mapping[str, str], proxy: str) -> dict[str, str]:
    """With the operator's proxy, for commands that have no job file; in their arguments all users would see its password."""
    return {**environment, "all_proxy": proxy} if proxy else dict(environment)


class FolderWork:
    """A command that writes something into the folders of jobs: an index, a sample, the files of a corpus again.

    One at a time for each job. Nobody need wait for it.
    """

    def __init__(self, commands: CommandRunner, *arguments: str, module: str = "bitrawl.cli") -> None:
        """The command, to which the folder is added."""
        self._commands = commands
        self._arguments = arguments
        self._module = module
        self._tasks: dict[str, asyncio.Task[None]] = {}  # by the name of the job's folder, as the next
        self._results: dict[str, str | BitrawlError] = {}  # of the last time
        self._ended: dict[str, float] = {}

    def begin(self, folder: JobFolder, given: bytes = b"", *, person: str) -> bool:
        """`given` is what the command reads. False if another is not done yet: then nothing begins."""
        key = folder.path.name
        if key in self._tasks:
            return False
        self._results.pop(key, None)
        self._tasks[key] = asyncio.ensure_future(self._work(folder, given, person))
        return True

    async def wait(self, folder: JobFolder, seconds: float) -> None:
        """Until it is done, but no longer than that."""
        if task := self._tasks.get(folder.path.name):
            await asyncio.wait([task], timeout=seconds)

    def is_busy(self, folder: JobFolder) -> bool:
        return folder.path.name in self._tasks

    def idle_seconds(self, folder: JobFolder) -> float:
        """Since the last time; infinite if there was none."""
        return time.monotonic() - self._ended.get(folder.path.name, -inf)

    def fault(self, folder: JobFolder) -> BitrawlError | None:
        """Why it could not be done the last time."""
        result = self._results.get(folder.path.name)
        return result if isinstance(result, BitrawlError) else None

    def output(self, folder: JobFolder) -> str:
        """What it said when it was done; empty before. Raises what went wrong."""
        if fault := self.fault(folder):
            raise fault
        return str(self._results.get(folder.path.name, ""))

    async def _work(self, folder: JobFolder, given: bytes, person: str) -> None:
        key, arguments = folder.path.name, [*self._arguments, str(folder.path)]
        try:
            self._results[key] = await self._commands.run(
                arguments, given, person=person, seconds=WORK_SECONDS, module=self._module
            )
        except BitrawlError as error:
            self._results[key] = error
        finally:
            self._ended[key] = time.monotonic()
            self._tasks.pop(key, None)


class Indexing:
    """Keeps the reading index of a job up to date while somebody reads there."""

    def __init__(self, commands: CommandRunner) -> None:
        self._refreshes = FolderWork(commands, module="bitrawl.store.reading_index")

    async def is_fresh(self, folder: JobFolder, person: str, *, wait: float = INDEX_PATIENCE) -> bool:
        """Whether the index has all that was mined. If not, a refresh begins, and is waited for a little.

        If the index cannot be made, so that there is nothing to show, it raises the error of the refresh; not to those
        who do not wait.
        """
        is_resting = False
        if not self._refreshes.is_busy(folder):
            try:
                if not await asyncio.to_thread(lambda: JobReview(folder).is_due):
                    return True
            except DiskFullError:  # SQLite cannot even read then
                if wait:
                    raise
                return False
            except BitrawlError:  # there is no ledger yet
                return True
            is_resting = self._refreshes.idle_seconds(folder) < INDEX_REST
            if not is_resting:
                self._refreshes.begin(folder, person=person)
        if wait:
            await self._refreshes.wait(folder, wait)
            fault = self._refreshes.fault(folder)
            if fault is not None and not JobReview(folder).has_index:
                raise fault
        return not is_resting and not self._refreshes.is_busy(folder)


class ExportCache:
    """Folders of files that are made when somebody asks for them, and stay for a while.

    The same question has the same answer. Whoever asks first has it made; others wait for it.
    """

    def __init__(self, jobs: Path, now: Callable[[], float] = time.time) -> None:
        self._folder = jobs / EXPORTS
        self._now = now
        self._tasks: dict[Path, asyncio.Task[Path]] = {}

    def is_ready(self, folder: JobFolder, question: Sequence[str]) -> bool:
        """Whether the answer is there, or could not be made."""
        answer = self._answer_of(folder, question)
        task = self._tasks.get(answer)
        return _is_kept(answer) or (task is not None and task.done())

    async def get(self, folder: JobFolder, question: Sequence[str], make: Make) -> Path:
        """The folder with the answer. What `make` raises is raised to all who wait."""
        answer = self._answer_of(folder, question)
        if _is_kept(answer):
            return answer
        self.begin(folder, question, make)
        task = self._tasks[answer]
        try:
            return await asyncio.shield(task)
        finally:
            if task.done():
                self._tasks.pop(answer, None)

    def begin(self, folder: JobFolder, question: Sequence[str], make: Make) -> None:
        """Have the answer made, without waiting. `get` has it, or the fault, when it is ready."""
        answer = self._answer_of(folder, question)
        if not _is_kept(answer) and answer not in self._tasks:
            self._tasks[answer] = asyncio.ensure_future(self._make(answer, make))

    def forget(self, folder: JobFolder) -> None:
        """Remove the exports of a job that is deleted."""
        shutil.rmtree(self._folder / folder.path.name, ignore_errors=True)

    async def _make(self, answer: Path, make: Make) -> Path:
        draft = answer.with_suffix(".draft")
        await asyncio.to_thread(self._forget_old)
        try:
            draft.mkdir(parents=True, exist_ok=True, mode=0o700)
            await make(draft)
            draft.rename(answer)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        return answer

    def _answer_of(self, folder: JobFolder, question: Sequence[str]) -> Path:
        """By the question and the version of what the answer is made from; of a running job, the minute."""
        if folder.is_running:
            version = [f"{self._now() // EXPORT_IS_NEW:.0f}"]
        else:
            sources = [folder.description, folder.ledger, folder.verdicts]
            logs = [path.with_name(f"{path.name}-wal") for path in sources]
            version = [str(_written_at(path)) for pair in zip(sources, logs, strict=True) for path in pair]
        key = blake2b("\0".join([*question, *version]).encode(), digest_size=12).hexdigest()
        return self._folder / folder.path.name / key

    def _forget_old(self) -> None:
        for folder in self._folder.glob("*/*"):
            with suppress(OSError):
                if self._now() - folder.stat().st_mtime > EXPORT_SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)


def _is_kept(answer: Path) -> bool:
    """Whether it is there. It stays for a while from now on, so that nobody removes it before it is read."""
    try:
        os.utime(answer)
    except OSError:
        return False
    return True


def _written_at(path: Path) -> int:
    """A log of SQLite without content says nothing: it comes and goes with those who read."""
    try:
        status = path.stat()
    except OSError:
        return 0
    return status.st_mtime_ns if status.st_size else 0
