"""The children of a job, killed by SIGKILL at moments that a test chooses; importable in them. Each loads only what it needs."""

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from hostile_readers import die_once_more

from bitrawl.model import Capture, Language, Page, Sitemap, Skip

if TYPE_CHECKING:
    from bitrawl.config import Job
    from bitrawl.page.sandbox import Reader
    from bitrawl.process import Report, Service

POISON = "poison"
"""The mark that names the end of a URL: each reader of that page is killed."""


def mortal_reader(marks: Path, asked: Sequence[Language]) -> "Reader":
    """The reader of a crawl, killed at its first start and at the first page whose URL ends with 3."""
    from bitrawl.page.analyser import page_reader  # noqa: PLC0415 - the miner does without

    if not (marks / POISON).exists():
        die_once_more(marks, "reader")
    return _Mortal(marks, page_reader(asked))


class _Mortal:
    def __init__(self, marks: Path, inner: "Reader") -> None:
        self._marks = marks
        self._inner = inner

    def read(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        if (self._marks / POISON).exists():
            if capture.url.endswith((self._marks / POISON).read_text()):
                os.kill(os.getpid(), signal.SIGKILL)
        elif capture.url.endswith("3"):
            die_once_more(self._marks, "page")
        return self._inner.read(capture, index=index)


def mortal_mining(marks: Path, job: "Job", folder: Path) -> "Service":
    """The service of a mining process, killed at its first start and at the first request of each kind.

    A site of a few pages is large enough for two of them.
    """
    from bitrawl.job import workers  # noqa: PLC0415 - the reader does without

    die_once_more(marks, "miner")
    workers.MANY, workers.PART = 4, 2
    serve = workers.mining_service(job, folder)

    def mortal(request: bytes, report: "Report") -> bytes:
        answer = serve(request, report)  # All is done, and nobody learns of it.
        die_once_more(marks, msgspec.msgpack.decode(request)["type"])
        return answer

    return mortal


def mortal_writing(marks: Path, job: "Job", folder: Path) -> "Service":
    """The service of the process that writes the corpus, killed at its first start and when it has written for the first time."""
    from bitrawl.job import workers  # noqa: PLC0415 - the reader does without

    die_once_more(marks, "writer")
    serve = workers.writing_service(job, folder)

    def mortal(request: bytes, report: "Report") -> bytes:
        answer = serve(request, report)
        die_once_more(marks, "corpus")
        return answer

    return mortal
