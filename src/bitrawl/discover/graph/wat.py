"""WAT files: what Common Crawl writes of each page, its links among it, as JSON in the records of a WARC file."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from fastwarc.warc import ArchiveIterator, WarcRecordType

from bitrawl.errors import GraphError, UrlError
from bitrawl.files import NO_JSON
from bitrawl.model import Link, LinkKind
from bitrawl.url import Url

_MOST_RECORDS = 5  # that are looked at to tell a WAT file from an archive of pages: warcinfo, then records; judgement
_LARGEST = 16 << 20  # bytes of a record; a page of Common Crawl has 1 MB at most

log = logging.getLogger(__name__)


class _Anchor(msgspec.Struct, frozen=True):
    path: str = ""  # "A@/href"
    url: str = ""
    text: str = ""
    alt: str = ""
    rel: str = ""


class _Head(msgspec.Struct, frozen=True, rename={"base": "Base"}):
    base: str = ""


class _Html(msgspec.Struct, frozen=True, rename={"links": "Links", "head": "Head"}):
    links: list[_Anchor] = []
    head: _Head = _Head()


class _Response(msgspec.Struct, frozen=True, rename={"html": "HTML-Metadata"}):
    html: _Html | None = None


class _Payload(msgspec.Struct, frozen=True, rename={"response": "HTTP-Response-Metadata"}):
    response: _Response | None = None


class _Envelope(msgspec.Struct, frozen=True, rename={"payload": "Payload-Metadata", "header": "WARC-Header-Metadata"}):
    payload: _Payload
    header: dict[str, Any] = {}


class _Record(msgspec.Struct, frozen=True, rename={"envelope": "Envelope"}):
    envelope: _Envelope


def read_wat(path: Path) -> Iterator[Link]:
    """The links of all pages in a WAT file. Records that cannot be read are left out, and counted in the log."""
    unread = 0
    for block in _blocks(path):
        try:
            yield from _links(msgspec.json.decode(block, type=_Record))
        except (*NO_JSON, UrlError):
            unread += 1
    if unread:
        log.warning("%d records of %s cannot be read", unread, path)


def is_wat(path: Path) -> bool:
    """Whether it has records of JSON instead of pages."""
    return any(block.lstrip().startswith(b"{") for block in _blocks(path, most=_MOST_RECORDS))


def _blocks(path: Path, most: int = 0) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            for number, record in enumerate(ArchiveIterator(file, parse_http=False)):
                if most and number >= most:
                    return
                if record.record_type == WarcRecordType.metadata:
                    yield record.reader.read(_LARGEST)
    except (OSError, ValueError) as error:
        raise GraphError(f"{path} cannot be read: {error}; if it is cut off, download it again") from error


def _links(record: _Record) -> Iterator[Link]:
    response = record.envelope.payload.response
    if response is None or response.html is None:
        return
    source = Url.parse(str(record.envelope.header.get("WARC-Target-URI", "")))
    base = Url.parse(response.html.head.base, base=source) if response.html.head.base else source
    for anchor in response.html.links:
        if not anchor.path.upper().startswith(("A@", "AREA@")) or not anchor.url:
            continue
        try:
            url = Url.parse(anchor.url, base=base)
        except UrlError:
            continue
        yield Link(
            url,
            LinkKind.BACKLINK,
            source=source,
            anchor=" ".join(anchor.text.split()),
            image_alt=anchor.alt,
            rel=anchor.rel,
        )
