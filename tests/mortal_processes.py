"""The children of a job, each of which is killed in time; importable there. They load all that a job's own children load."""

import os
import signal
from collections.abc import Sequence
from pathlib import Path

import msgspec
from hostile_readers import die_once_more

from bitrawl.child import Report, Service
from bitrawl.config import Job
from bitrawl.jobs.worker import mining_service
from bitrawl.model import Capture, Language, Page, Sitemap, Skip
from bitrawl.page.analyser import page_reader
from bitrawl.page.sandbox import Reader


def mortal_reader(marks: Path, asked: Sequence[Language]) -> Reader:
    """The reader of a crawl, killed at its first start and at the first page whose URL ends with each of some digits."""
    die_once_more(marks, "reader")
    return _Mortal(marks, page_reader(asked))


class _Mortal:
    def __init__(self, marks: Path, inner: Reader) -> None:
        self._marks = marks
        self._inner = inner

    def read(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        if capture.url[-1] in "357" or index:
            die_once_more(self._marks, capture.url[-1] if not index else "index")
        if (self._marks / "poison").exists() and capture.url.endswith((self._marks / "poison").read_text()):
            os.kill(os.getpid(), signal.SIGKILL)
        return self._inner.read(capture, index=index)


def mortal_mining(marks: Path, job: Job, folder: Path) -> Service:
    """The service of a mining process, killed at its first start and at the first request of each kind."""
    die_once_more(marks, "miner")
    serve = mining_service(job, folder)

    def mortal(request: bytes, report: Report) -> bytes:
        answer = serve(request, report)  # All is done, and nobody learns of it.
        die_once_more(marks, msgspec.msgpack.decode(request)["type"])
        return answer

    return mortal
