"""Readers that misbehave on demand, importable in the children of a sandbox."""

import os
import re
import resource
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from bitrawl.errors import StoreError
from bitrawl.model import Capture, Page
from bitrawl.url import Url


class Hostile:
    """Does what the page's first word tells it to; what is no command is a page of that title."""

    def __init__(self) -> None:
        self._leaked: list[bytearray] = []

    def read(self, capture: Capture, *, index: bool = False) -> Page:
        word = capture.body.partition(b" ")[0].decode()
        command = getattr(self, f"_{word}", None)
        answer = command(capture, index) if command else capture.body[:100].decode()
        return Page(capture.url, title=answer) if isinstance(answer, str) else answer

    def _hang(self, *_: object) -> None:
        """Inside a library's loop, where Python sees no signal."""
        re.match(r"(a+)+$", "a" * 64 + "b")

    def _starve(self, capture: Capture, _: object) -> str:
        """As on a machine that has no time for it: so many seconds pass, and hardly any of them is its own."""
        time.sleep(float(capture.body.split()[1]))
        return "read"

    def _fault(self, *_: object) -> NoReturn:
        raise StoreError("a fault of one page must not end the job")

    def _exit(self, *_: object) -> NoReturn:
        os._exit(3)

    def _segfault(self, *_: object) -> None:
        os.kill(os.getpid(), signal.SIGSEGV)

    def _hog(self, *_: object) -> None:
        self._leaked = [bytearray(b"x" * (1 << 20)) for _ in range(1 << 20)]

    def _leak(self, capture: Capture, _: object) -> str:
        self._leaked.append(bytearray(b"x" * (20 << 20)))
        return capture.body.decode()

    def _raise(self, *_: object) -> NoReturn:
        raise ZeroDivisionError("the page made me do it")

    def _recurse(self, *arguments: object) -> None:
        self._recurse(*arguments)

    def _surrogate(self, *_: object) -> str:
        return "\ud800"

    def _lie(self, *_: object) -> Page:
        return Page(Url.known("https://bank.example/"))

    def _garble(self, capture: Capture, _: object) -> Page:
        return _packed(Page(capture.url), b"no page")

    def _append(self, capture: Capture, _: object) -> Page:
        page = Page(capture.url)
        return _packed(page, page.packed * 2)

    def _cut(self, capture: Capture, _: object) -> Page:
        page = Page(capture.url, title="half of it")
        return _packed(page, page.packed[:-4])

    def _nothing(self, *_: object) -> None:
        return None

    def _chatter(self, *_: object) -> str:
        os.write(1, b"to stdout")
        os.write(2, b"to stderr")
        return "chatter"

    def _pid(self, *_: object) -> str:
        return str(os.getpid())

    def _megabytes(self, *_: object) -> str:
        return str(resource.getrlimit(resource.RLIMIT_DATA)[0] >> 20)

    def _mortal(self, capture: Capture, _: object) -> str:
        """Killed so many times; then it tells the children that its parent has."""
        _, marks, times = capture.body.decode().split()
        die_once_more(Path(marks), "page", int(times))
        parent = os.getppid()
        return Path(f"/proc/{parent}/task/{parent}/children").read_text()

    def _until(self, capture: Capture, _: object) -> str:
        """Works until that file is there."""
        while not Path(capture.body.decode().split()[1]).exists():
            time.sleep(0.01)
        return str(os.getpid())

    def _echo(self, capture: Capture, index: object) -> str:
        return f"{len(capture.body)} {len(capture.payload)} {len(capture.request)} {index}"

    def _descriptor(self, capture: Capture, _: object) -> str:
        number = capture.body.decode().split()[1]
        return "inherited" if Path(f"/dev/fd/{number}").exists() else "closed"


def noted(folder: Path) -> Hostile:
    """Each that is started leaves its number there."""
    (folder / str(os.getpid())).touch()
    return Hostile()


def broken() -> Hostile:
    raise RuntimeError("the model is missing")


def dying() -> Hostile:
    os._exit(7)


def dying_service() -> Callable[[bytes, object], bytes]:
    """Of a child that dies at its first request."""
    return lambda _request, _report: os._exit(3)


def sleeping_service() -> Callable[[bytes, object], bytes]:
    """Of a child that waits for what never comes."""
    return lambda _request, _report: bytes(threading.Event().wait())


def mortal(marks: Path, starts: int) -> Hostile:
    """Killed at its first starts."""
    die_once_more(marks, "start", starts)
    return Hostile()


def die_once_more(marks: Path, name: str, times: int = 1) -> None:
    """By SIGKILL, as the kernel does it when memory is short; so many times."""
    deaths = marks / name
    before = len(deaths.read_bytes()) if deaths.exists() else 0
    if before < times:
        deaths.write_bytes(b"x" * (before + 1))
        os.kill(os.getpid(), signal.SIGKILL)


def _packed(page: Page, packed: bytes) -> Page:
    vars(page)["packed"] = packed
    return page
