"""The command in a process that has loaded its modules already, for tests that start and kill it again and again."""

import os
import sys
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess

import bitrawl.cli.foreground
import bitrawl.cli.mine  # noqa: F401 - and the one before: what takes most of a second to load
from bitrawl.cli import main

_CONTEXT = get_context("forkserver")
_CONTEXT.set_forkserver_preload([__name__])


def start_forked(*arguments: str, first: str = "") -> ForkServerProcess:
    """A process of its own, with its own page readers, that says nothing. It runs the code `first` before the command."""
    process = _CONTEXT.Process(target=_run, args=(arguments, first))
    process.start()
    return process


def _run(arguments: tuple[str, ...], first: str) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    exec(first, {})
    sys.argv = ["bitrawl", *arguments]
    main()
