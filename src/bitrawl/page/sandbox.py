"""Untrusted bytes are read in child processes: a page that hangs, kills or lies costs one page."""

import hashlib
import json
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol, Self

import msgspec

from bitrawl import files
from bitrawl.errors import BitrawlError, StoreError
from bitrawl.files import compressor, zstd
from bitrawl.model import Capture, Language, Page, Sitemap, Skip, Unpacker, pack
from bitrawl.page.document import is_document
from bitrawl.page.settings import AnalysisSection
from bitrawl.process import Failure, FailureKind, Limits, Report, Service
from bitrawl.reasons import Reason, Stage

MAX_WORKERS = 4  # a polite crawl never needs more
MAX_ANSWER = 64 << 20  # bytes; what is said of a page of 20 MB stays far below it
MAX_WRITTEN = 1 << 20  # bytes of one file, and so of stderr
KEPT_INPUTS = 100  # enough to mend the analyser, little enough for any disk
DOCUMENT_PATIENCE = 10  # times the seconds of a page: a document may have a thousand

log = logging.getLogger(__name__)


class Reader(Protocol):
    """What makes sense of a capture; plain, because it computes."""

    def read(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        """May hang, die or raise: that is what this module is for."""
        ...


def page_reader(languages: Sequence[Language] = (), *, markdown: bool = False) -> Reader:
    """That of `analyser.py`, which only the child loads: it takes the parent 25 ms."""
    from bitrawl.page import analyser  # noqa: PLC0415

    return analyser.page_reader(languages, markdown=markdown)


class Rejects:
    """Where the input of a failure is kept for whoever mends it; bounded in number."""

    def __init__(self, folder: Path, limit: int = KEPT_INPUTS) -> None:
        self._folder = folder
        self._limit = limit

    def keep(self, name: str, body: bytes, about: Mapping[str, object]) -> None:
        """The input under that name, which has an ending, and the circumstances as JSON beside it; never raises."""
        path = self._folder / name
        try:
            if self._folder.is_dir() and sum(1 for _ in self._folder.glob("*.json")) >= self._limit:
                return
            files.write(path, body)
            files.write(path.with_suffix(".json"), json.dumps(about, indent=1))
        except StoreError as error:
            log.warning("the input of a failure cannot be kept: %s", error)


class SandboxedAnalyser:
    """A few children that read pages; each is started when it is first needed, and replaced when it fails.

    `factory` makes the reader, once in each child: it is pickled, so it has to be importable there. A book of a thousand
    pages has more seconds than a page; the megabytes are what a child may take beyond what its reader has loaded.
    Enter it (`async with`): leaving ends the children.
    """

    def __init__(
        self,
        factory: Callable[[], Reader],
        settings: AnalysisSection | None = None,
        *,
        rejects: Rejects | None = None,
    ) -> None:
        from bitrawl.children import Children  # noqa: PLC0415 - a child needs no event loop

        settings = settings or AnalysisSection()
        limits = Limits(settings.seconds, settings.megabytes, MAX_WRITTEN, MAX_ANSWER)
        workers = settings.workers or min(os.cpu_count() or 1, MAX_WORKERS)
        self._children = Children(partial(_reading, factory), limits, workers=workers)
        patient = limits._replace(seconds=settings.seconds * DOCUMENT_PATIENCE)
        self._readers_of_documents = Children(partial(_reading, factory), patient, workers=1)
        self._rejects = rejects

    async def __aenter__(self) -> Self:
        await self._children.__aenter__()
        await self._readers_of_documents.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._readers_of_documents.__aexit__(*error)
        await self._children.__aexit__(*error)

    def get_ready(self, count: int) -> None:
        """Start so many children, as far as there may be, when the loop goes on."""
        self._children.get_ready(count)

    async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        """Raises `ChildError` when a child cannot even be started; to cancel it ends the child at work."""
        children = self._readers_of_documents if is_document(capture.media_type) and not index else self._children
        answer = await children.ask(_request(capture, index=index))
        outcome = answer if isinstance(answer, Failure) else _understood(answer, capture)
        if not isinstance(outcome, Failure):
            return outcome
        skip = Skip(capture.url, Stage.ANALYSE, _REASONS[outcome.kind], outcome.detail)
        if self._rejects is not None:
            digest = hashlib.sha256(capture.url.encode() + b"\n" + capture.body).hexdigest()[:16]
            self._rejects.keep(f"{digest}.html", capture.body, _about(capture, skip, outcome.trace))
        return skip


def _about(capture: Capture, skip: Skip, trace: str) -> dict[str, object]:
    return {
        "url": capture.url,
        "reason": skip.reason,
        "detail": skip.detail,
        "trace": trace,
        "status": capture.status,
        "media_type": capture.media_type,
        "at": capture.at,
        "headers": capture.headers,
    }


_REASONS = {
    FailureKind.TIMEOUT: Reason.ANALYSIS_TIMEOUT,
    FailureKind.CRASH: Reason.ANALYSIS_CRASH,
    FailureKind.KILLED: Reason.KILLED,
    FailureKind.ERROR: Reason.ANALYSIS_ERROR,
}
_KINDS = {Page: b"P", Sitemap: b"M", Skip: b"S"}  # the first byte of an answer
_page: Unpacker[Page] = Unpacker(Page)
_capture: Unpacker[Capture] = Unpacker(Capture)
_PAGE, _INDEX = b"P", b"I"  # the first byte of a request


def _request(capture: Capture, *, index: bool) -> bytes:
    """A sitemap of 50 MB is compressed: each copy on its way to the child would take as much again."""
    body = compressor(level=1)(capture.body) if index else capture.body
    return (_INDEX if index else _PAGE) + pack(msgspec.structs.replace(capture, body=body, payload=b"", request=b""))


def _asked(request: bytes) -> tuple[Capture, bool]:
    """In the child: the capture, and whether to read it as a sitemap."""
    capture, index = _capture(request[1:]), request[:1] == _INDEX
    body = zstd.decompress(capture.body) if index else capture.body
    return msgspec.structs.replace(capture, body=body), index


def _understood(answer: bytes, capture: Capture) -> Page | Sitemap | Skip | Failure:
    try:
        noun = _NOUNS[answer[:1]](answer[1:])
    except (KeyError, ValueError, msgspec.MsgspecError, zstd.ZstdError) as error:
        return Failure(FailureKind.ERROR, f"an answer that cannot be read: {error}"[:300])
    if noun.url != capture.url:
        return Failure(FailureKind.ERROR, f"an answer for another page: {noun.url}"[:300])
    return noun


def _unpacked_page(packed: bytes) -> Page:
    """The ledger stores what the child has packed: it could be read, and nobody packs it again."""
    frame = zstd.ZstdDecompressor()
    page = _page(frame.decompress(packed, MAX_ANSWER))
    if not frame.eof or frame.unused_data:
        raise ValueError("more or less than a page")
    vars(page)["packed"] = packed
    return page


_NOUNS: dict[bytes, Callable[[bytes], Page | Sitemap | Skip]] = {
    _KINDS[Page]: _unpacked_page,
    _KINDS[Sitemap]: Unpacker(Sitemap),
    _KINDS[Skip]: Unpacker(Skip),
}


def _reading(factory: Callable[[], Reader]) -> Service:
    """In the child: the reader as a service."""
    reader = factory()

    def read(request: bytes, _report: Report) -> bytes:
        try:
            capture, index = _asked(request)
            noun = reader.read(capture, index=index)
        except BitrawlError as error:  # of one page, not of the whole job
            raise RuntimeError(f"{type(error).__name__}: {error}") from error
        return _KINDS[type(noun)] + (noun.packed if isinstance(noun, Page) else pack(noun))

    return read
