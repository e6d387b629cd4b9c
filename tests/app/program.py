"""The browser that the tests use, if there is one."""

import os
import shutil
import signal
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str:
    """What $CHROMIUM names, otherwise what is installed; empty if there is none."""
    named = os.environ.get("CHROMIUM", "")
    return (shutil.which(named) or "") if named else next(filter(None, map(shutil.which, PROGRAMS)), "")


def what_is_missing() -> str:
    """Empty if the tests can run."""
    missing = [name for name in ("playwright", "axe_playwright_python") if find_spec(name) is None]
    return "no chromium" if not chromium() else f"no {missing[0]}" if missing else ""


def kill(parts: str) -> None:
    """Kill all processes below this one that run a browser, one of its tabs, or the driver of a browser."""
    mark, no_mark = _MARKS[parts]
    waiting = [os.getpid()]
    while waiting:
        parent = waiting.pop()
        with suppress(OSError):
            for task in Path(f"/proc/{parent}/task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
            command = Path(f"/proc/{parent}/cmdline").read_bytes()
            if mark in command and no_mark not in command:
                os.kill(parent, signal.SIGKILL)


_MARKS = {
    "browser": (b"--remote-debugging-pipe", b"--type="),
    "tab": (b"--type=renderer", b"no mark"),
    "driver": (b"run-driver", b"no mark"),
}
