"""The command in a process that has loaded its modules already, for tests that start and kill it again and again."""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Self

import inline_children  # noqa: F401

from bitrawl.cli import main

NO_CHILDREN = "import bitrawl.children, inline_children; bitrawl.children.Child = inline_children.InlineChild"
"""To run first, in tests that are not about the processes that a command starts."""

_CONTEXT = get_context("forkserver")
# What takes most of a second to load. Not this module, which loads them: a server of Python before 3.13 has not our `sys.path`, and
# says nothing of a module that it does not find.
_CONTEXT.set_forkserver_preload(
    ["bitrawl.cli.foreground", "bitrawl.cli.mine", "bitrawl.job.running", "bitrawl.page.analyser", "pytest"]
)


def start_forked(*arguments: str, first: str = "") -> ForkServerProcess:
    """A process of its own, with its own page readers, that says nothing. It runs the code `first` before the command."""
    process = _CONTEXT.Process(target=_run, args=(arguments, first))
    process.start()
    return process


def _run(arguments: tuple[str, ...], first: str, *pipes: Connection) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    output, errors = (pipe.fileno() for pipe in pipes) if pipes else (nowhere, nowhere)
    for descriptor, target in enumerate((nowhere, output, errors)):
        os.dup2(target, descriptor)
    for pipe in pipes:
        pipe.close()
    sys.stdout, sys.stderr = (os.fdopen(descriptor, "w", buffering=1, closefd=False) for descriptor in (1, 2))
    exec(first, {})
    sys.argv = ["bitrawl", *arguments]
    main()


class ForkedCommand:
    """Such a process that says something, for tests that serve a web meanwhile. It looks like one of asyncio."""

    def __init__(self, process: ForkServerProcess, output: Connection, errors: Connection) -> None:
        self._process = process
        self._output, self._errors = output, errors
        assert process.pid is not None
        self.pid = process.pid

    @classmethod
    def start(cls, *arguments: str | Path, first: str = "", environment: Mapping[str, str] | None = None) -> Self:
        """In a session of its own; the environment is that of the first command that was ever started, and this."""
        (output, out), (errors, err) = _CONTEXT.Pipe(duplex=False), _CONTEXT.Pipe(duplex=False)
        before = f"import os; os.setsid(); os.environ.update({dict(environment or {})!r})\n{first}"
        process = _CONTEXT.Process(target=_run, args=(tuple(map(str, arguments)), before, out, err))
        process.start()
        out.close()
        err.close()
        return cls(process, output, errors)

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()

    def send_signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    async def wait(self) -> int:
        await asyncio.to_thread(self._process.join)
        return self.returncode or 0

    def done(self) -> tuple[int, str, str]:
        """Its exit status, what it has said and what went wrong."""
        with ThreadPoolExecutor(2) as threads:
            output, errors = threads.map(_all_of, (self._output, self._errors))
        self._process.join()
        return self.returncode or 0, output.decode(), errors.decode()

    async def communicate(self) -> tuple[bytes, bytes]:
        """What it has said and what went wrong."""
        told = await asyncio.gather(*(asyncio.to_thread(_all_of, pipe) for pipe in (self._output, self._errors)))
        await self.wait()
        return told[0], told[1]


def _all_of(pipe: Connection) -> bytes:
    with os.fdopen(os.dup(pipe.fileno()), "rb") as file:
        return file.read()
