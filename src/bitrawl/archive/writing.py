"""The WARC archive of what was fetched, which survives `kill -9` and a full disk.

`answers` copies the answers of a WARC file of any origin, as bytes to append to another.
"""

import base64
import hashlib
import io
import logging
import mmap
import os
import re
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO, NamedTuple, Self

import msgspec
from fastwarc.warc import WarcRecord, WarcRecordType
from isal import igzip_lib

from bitrawl.archive.archived_web import (
    ANSWERED,
    MAX_BLOCK,
    STARTS,
    is_drawn_page,
    opened_archive,
    target_of,
    warc_records,
)
from bitrawl.files import writing
from bitrawl.model import Answer, Capture, Link, Skip, WarcPosition
from bitrawl.protocols import Clock, Fetcher
from bitrawl.reasons import Reason, Stage
from bitrawl.url import Url
from bitrawl.version import __version__

MAX_BYTES = 1 << 30  # The size that the WARC guidelines recommend for one file.
# Measured on 400 pages of 8–30 kB (2026-11), milliseconds per page and compressed size: igzip 1 .050 .325, igzip 3 .107
# .316, zlib 1 .211 .331, zlib 6 .343 .298.
_LEVEL = 1
_REMEMBERED = 1000  # answers whose record a later one may refer to
# Members are shorter than this. With a larger buffer, each would copy more of the data that follows it.
_READ_BYTES = 1 << 15
_MEMBER = b"\x1f\x8b\x08"
_KEPT = re.compile(rb"\r\nWARC-Type: (?:response|revisit|conversion)\r\n")  # what a fetch may have been kept as
_BLOCK = 1 << 16
_FILE_NAME = re.compile(r"bitrawl-\d{5,}-\d{14}\.warc\.gz")
_PHRASES = {int(status): status.phrase for status in HTTPStatus}
_PROFILE = "http://netpreserve.org/warc/1.1/revisit/{}"
_SPEAKING = frozenset(("content-language", "link", "tdm-policy", "tdm-reservation", "x-robots-tag"))
_FOLD = re.compile(r"[\r\n]+\s*")

log = logging.getLogger(__name__)


class WarcArchive:
    """A folder of WARC/1.1 files with one gzip member per record. The newest file is appended to until it is full.

    When `write` returns, the operating system has the data: killing this process cannot lose it.
    """

    def __init__(
        self,
        folder: Path,
        *,
        clock: Clock,
        info: Mapping[str, str] | None = None,
        max_bytes: int = MAX_BYTES,
        known: Iterable[WarcPosition] = (),
    ) -> None:
        """`info` adds fields to each warcinfo record. `known` holds places of records that are certainly complete.

        The last place of each file is enough: what comes before it is not read again.
        """
        self._folder = folder
        self._clock = clock
        self._info = dict(info or {})
        self._max_bytes = max_bytes
        self._file = -1
        self._path = folder
        self._size = 0
        self._warcinfo = ""
        self._written: dict[WarcPosition, str] = {}  # the latest answers, and the names of their records
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._resume({place.file: place.offset for place in sorted(known, key=lambda place: place.offset)})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Nothing is buffered: this only closes the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def write(self, capture: Capture, same_as: Answer | None = None) -> WarcPosition:
        """Append the answer and, if it is known, the request. Returns the place of the answer.

        What a browser made of an answer is a conversion of it, and refers to its record. With `same_as` only the fact that
        the answer is the same as that earlier one is written: a revisit record.
        """
        with writing(self._path):
            if self._file < 0 or self._size >= self._max_bytes:
                self._rotate()
            if not self._warcinfo:
                self._append(self._warcinfo_record())
            place = WarcPosition(self._path.name, self._size)
            if capture.rendered:
                origin = self._written.get(capture.place, "") if capture.place is not None else ""
                self._append(_conversion(capture, self._warcinfo, origin))
            else:
                ids = _Ids(self._warcinfo, self._name(place))
                self._append(_records(capture, ids, same_as))
        return place

    def _name(self, place: WarcPosition) -> str:
        if len(self._written) >= _REMEMBERED:
            del self._written[next(iter(self._written))]
        return self._written.setdefault(place, _new_id())

    def _resume(self, complete: Mapping[str, int]) -> None:
        files = archive_files(self._folder)
        if files and repair(files[-1], complete.get(files[-1].name, 0)):
            self._open(files[-1], os.O_WRONLY)

    def _rotate(self) -> None:
        self.close()
        newest = max(map(_number, archive_files(self._folder)), default=0)
        stamp = datetime.fromtimestamp(self._clock.date(), UTC).strftime("%Y%m%d%H%M%S")
        # The number keeps the order whatever the clock does. The time tells apart the files of two jobs in one folder.
        path = self._folder / f"bitrawl-{newest + 1:05}-{stamp}.warc.gz"
        self._open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)

    def _open(self, path: Path, flags: int) -> None:
        self._file = os.open(path, flags | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self._path = path
        self._size = os.fstat(self._file).st_size
        self._warcinfo = ""

    def _warcinfo_record(self) -> bytes:
        fields = {
            "software": f"bitrawl/{__version__}",
            "format": "WARC File Format 1.1",
            "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
            **self._info,
        }
        self._warcinfo = _new_id()  # of the open file; empty until this run has written it
        headers = {
            "WARC-Type": "warcinfo",
            "WARC-Record-ID": self._warcinfo,
            "WARC-Date": _date(self._clock.date()),
            "WARC-Filename": self._path.name,
            "Content-Type": "application/warc-fields",
        }
        return _member(headers, b"".join(_header_line(name, value) for name, value in fields.items()))

    def _append(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError:
            self._cut_to(self._size)
            raise
        self._size += len(data)

    def _cut_to(self, size: int) -> None:
        try:
            os.ftruncate(self._file, size)
        except OSError:
            self.close()  # Nothing may follow half a record. If there is another write, it begins a new file.


class ArchivingFetcher:
    """Archives every capture of the inner fetcher before passing it on: pages, redirects, robots.txt and the like.

    In a further round it is told that a page is as it was, or gone, and archives that too. Other errors are no captures: the
    ledger has their status. They would add nothing, because what an archive does not have does not exist in a replay, and
    here the latest record of a URL counts: a 403 that will pass would hide the page (`Archives`).
    """

    def __init__(
        self, inner: Fetcher, archive: WarcArchive, earlier: Callable[[Url], Answer | None] = lambda _url: None
    ) -> None:
        """`earlier` knows what an address answered in the last round."""
        self._inner = inner
        self._archive = archive
        self._earlier = earlier

    async def fetch(self, link: Link) -> Capture | Skip:
        """The returned capture has its place in the archive. It no longer has the parts that only the archive needs."""
        answer = await self._inner.fetch(link)
        if isinstance(answer, Skip):
            return answer
        answer, earlier = msgspec.structs.replace(answer, digest=payload_digest(answer)), self._earlier(link.url)
        is_page = HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES
        same = answer.unchanged or (earlier is not None and is_page and earlier.digest == answer.digest)
        place = self._archive.write(answer, earlier if same else None)
        if answer.status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
            reason = HTTPStatus(answer.status).phrase
            return Skip(answer.url, Stage.FETCH, Reason.HTTP_STATUS, reason, answer.status)
        # What the headers say of a page is not in its payload: it is read again.
        unchanged = answer.unchanged or (same and not any(name.lower() in _SPEAKING for name, _ in answer.headers))
        return msgspec.structs.replace(answer, place=place, payload=b"", request=b"", unchanged=unchanged)


def payload_digest(capture: Capture) -> str:
    """The digest of a body as a WARC file writes it."""
    return _digest(capture.payload or capture.body)


def archive_files(folder: Path) -> list[Path]:
    """The files that a `WarcArchive` has written there, oldest first."""
    files = [path for path in folder.iterdir() if _FILE_NAME.fullmatch(path.name)]
    return sorted(files, key=_number)


def repair(path: Path, start: int = 0) -> bool:
    """Cut off an incomplete last record. False if the file is damaged in another way; then it is left alone.

    `start` is the offset of a record that is known to be complete.
    """
    size = path.stat().st_size
    end = complete_end(path, start if start <= size else 0)
    if end is None:
        log.warning("%s is damaged after byte %d; starting a new file", path, start)
        return False
    if end < size:
        log.warning("%s ended in the middle of a record; removed the last %d bytes", path, size - end)
        os.truncate(path, end)
    return True


def complete_end(path: Path, start: int) -> int | None:
    """Where the last complete member ends, of those from `start` on. None if the file is not gzip at that place."""
    with path.open("rb") as file:
        file.seek(start)
        end = start
        decompressor = zlib.decompressobj(31)
        position = start
        while block := file.read(_READ_BYTES):
            position += len(block)
            while block:
                try:
                    decompressor.decompress(block)
                except zlib.error:
                    return None
                if not decompressor.eof:
                    break
                block = decompressor.unused_data
                end = position - len(block)
                decompressor = zlib.decompressobj(31)
    return end


def growth(folder: Path, before: Mapping[str, int]) -> Iterator[tuple[Path, int, int]]:
    """From where to where each file of an archive has grown since it was so long; from 0 if it is another one now."""
    for path in archive_files(folder) if folder.exists() else []:
        start, size = before.get(path.name, 0), path.stat().st_size
        end = size if size == start else complete_end(path, start) if size > start else None
        if end is None and path.name in before:  # It is not the file that was saved: a full disk had cut off its end.
            start, end = 0, complete_end(path, 0)
        # Damaged in the middle, it is taken whole: the job appends nothing to such a file.
        yield path, start, size if end is None else end


class ArchiveFacts(msgspec.Struct, frozen=True):
    """What is in an archive file of ours."""

    answers: int = 0  # that can be read
    last: int = -1  # where the last of them begins
    damaged: tuple[int, ...] = ()  # where something begins that cannot be read
    cut: int = 0  # bytes of an incomplete record at the end
    offsets: frozenset[int] = frozenset()  # where a record of a fetch begins that can be read


def archive_facts(path: Path) -> ArchiveFacts:
    """Read every record of a file that is compressed record by record, with its checksums. Raises `OSError`."""
    with path.open("rb") as file, _mapped(file) as data:
        offset, answers, last, damaged, offsets = 0, 0, -1, list[int](), set[int]()
        while 0 <= offset < len(data):
            member = _member_at(data, offset)
            if member is None:
                following = data.find(_MEMBER, offset + 1)
                while following >= 0 and _member_at(data, following) is None:
                    following = data.find(_MEMBER, following + 1)
                if following < 0 and _is_cut_off(data, offset):
                    return ArchiveFacts(answers, last, tuple(damaged), len(data) - offset, frozenset(offsets))
                damaged.append(offset)
                offset = following
                continue
            if b"\r\nWARC-Type: response\r\n" in member.head:
                answers, last = answers + 1, offset
            if _KEPT.search(member.head):
                offsets.add(offset)
            offset = member.end
    return ArchiveFacts(answers, last, tuple(damaged), offsets=frozenset(offsets))


class _Member(NamedTuple):
    head: bytes
    end: int


def _member_at(data: "mmap.mmap | bytes", offset: int) -> _Member | None:
    """A complete gzip member with the right checksum; None if there is none."""
    decompressor, position, head = zlib.decompressobj(31), offset, b""
    try:
        while not decompressor.eof and position < len(data):
            block = data[position : position + _BLOCK]
            content = decompressor.decompress(block)
            head = head or content[:4096]
            position += len(block)
    except zlib.error:
        return None
    return _Member(head, position - len(decompressor.unused_data)) if decompressor.eof else None


def _is_cut_off(data: "mmap.mmap | bytes", offset: int) -> bool:
    """Whether what begins there is right as far as it goes."""
    decompressor = zlib.decompressobj(31)
    try:
        for position in range(offset, len(data), _BLOCK):
            decompressor.decompress(data[position : position + _BLOCK])
    except zlib.error:
        return False
    return not decompressor.eof


@contextmanager
def _mapped(file: BinaryIO) -> "Iterator[mmap.mmap | bytes]":
    """An empty file cannot be mapped."""
    if not os.fstat(file.fileno()).st_size:
        yield b""
        return
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        yield data


def _number(path: Path) -> int:
    return int(path.name.split("-")[1])


class _Ids(NamedTuple):
    warcinfo: str
    response: str


def _records(capture: Capture, ids: _Ids, same_as: Answer | None) -> bytes:
    """The response comes first: if only a part reaches the disk, it is the part that matters."""
    payload, head = _http_response(capture)
    common = _common(capture, ids.warcinfo)
    if capture.ip:
        common["WARC-IP-Address"] = capture.ip
    response = {
        "WARC-Type": "revisit" if same_as else "response",
        "WARC-Record-ID": ids.response,
        **common,
        "WARC-Payload-Digest": same_as.digest if same_as else capture.digest or _digest(payload),
        "Content-Type": "application/http; msgtype=response",
    }
    not_modified = bool(same_as) and capture.status == HTTPStatus.NOT_MODIFIED
    if same_as:
        response["WARC-Profile"] = _PROFILE.format(
            "server-not-modified" if not_modified else "identical-payload-digest"
        )
        response["WARC-Refers-To-Target-URI"] = str(capture.url)
        response["WARC-Refers-To-Date"] = _date(same_as.at)
    elif capture.media_type:
        response["WARC-Identified-Payload-Type"] = capture.media_type
    if not_modified:
        # What a record holds is what a reader is shown (WARC 1.1, "Profile: Server Not Modified"): pywb would show an empty
        # page with the status 304. With nothing in it, the earlier answer is shown, headers and all.
        data = _member(response, b"")
    else:
        data = _member(response, head) if same_as else _member(response, head, payload)
    if not capture.request:
        return data
    request = {
        "WARC-Type": "request",
        "WARC-Record-ID": _new_id(),
        **common,
        "WARC-Concurrent-To": ids.response,
        "Content-Type": "application/http; msgtype=request",
    }
    return data + _member(request, capture.request)


def _conversion(capture: Capture, warcinfo: str, origin: str) -> bytes:
    """The page as drawn, as plain HTML that any reader of WARC understands, with the HTTP headers of the answer beside it.

    `origin` is the record of that answer; empty if an earlier run wrote it.
    """
    headers = {
        "WARC-Type": "conversion",
        "WARC-Record-ID": _new_id(),
        **_common(capture, warcinfo),
        "WARC-Payload-Digest": _digest(capture.body),
        "Content-Type": capture.header("content-type"),
    }
    if origin:
        headers["WARC-Refers-To"] = origin
    for name, value in capture.headers:
        if name.lower() != "content-type":
            key = f"{ANSWERED}{name}"
            headers[key] = f"{headers[key]}, {value}" if key in headers else value
    return _member(headers, capture.body)


def _common(capture: Capture, warcinfo: str) -> dict[str, str]:
    common = {"WARC-Target-URI": str(capture.url), "WARC-Date": _date(capture.at)}
    return common | {"WARC-Warcinfo-ID": warcinfo} if warcinfo else common


def _http_response(capture: Capture) -> tuple[bytes, bytes]:
    """Payload and head. The head is corrected for a payload that is no longer chunked.

    A header that would mislead a reader keeps its value under the name that archives use for it.
    """
    payload = capture.payload or capture.body
    untrue = {"transfer-encoding"} if capture.payload or not capture.body else {"transfer-encoding", "content-encoding"}
    lines = [f"HTTP/1.1 {capture.status} {_PHRASES.get(capture.status, '')}\r\n".encode()]
    length = str(len(payload))
    has_length = False
    for name, value in capture.headers:
        key = name.lower()
        if key in untrue or (key == "content-length" and value != length):
            name = f"{ANSWERED}{name}"  # noqa: PLW2901
        has_length = has_length or name.lower() == "content-length"
        lines.append(_http_line(name, value))
    if not has_length:
        lines.append(_header_line("Content-Length", length))
    lines.append(b"\r\n")
    return payload, b"".join(lines)


def _member(headers: Mapping[str, str], *block: bytes) -> bytes:
    """A record; its block is given in pieces, because a copy of a sitemap may take 50 MB."""
    lines = [_header_line(name, value) for name, value in headers.items()]
    lines.append(_header_line("WARC-Block-Digest", _digest(*block)))
    lines.append(_header_line("Content-Length", str(sum(map(len, block)))))
    record = b"".join((b"WARC/1.1\r\n", *lines, b"\r\n", *block, b"\r\n\r\n"))
    return igzip_lib.compress(record, _LEVEL, igzip_lib.COMP_GZIP)


def _http_line(name: str, value: str) -> bytes:
    """A capture's headers are the received bytes decoded as Latin-1. They are written back unchanged."""
    try:
        return _header_line(name, value, "latin-1")
    except UnicodeEncodeError:
        return _header_line(name, value)


def _header_line(name: str, value: str, encoding: str = "utf-8") -> bytes:
    """One line, whatever the value contains."""
    if "\n" in value or "\r" in value:
        value = _FOLD.sub(" ", value)
    return f"{name}: {value}\r\n".encode(encoding)


def _digest(*pieces: bytes) -> str:
    # SHA-1 in base 32 is what CDX indexes and the other crawlers' archives compare by.
    sum_ = hashlib.sha1(usedforsecurity=False)
    for piece in pieces:
        sum_.update(piece)
    return "sha1:" + base64.b32encode(sum_.digest()).decode()


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _new_id() -> str:
    return f"<urn:uuid:{uuid.uuid4()}>"


_GZIP = STARTS[0]


class ArchivedAnswer(NamedTuple):
    """One HTTP answer: a whole record, as a gzip member."""

    url: Url
    member: bytes


class _Held(NamedTuple):
    """An answer whose end is not known before the next record begins."""

    url: Url
    start: int


def answers(path: Path, wanted: Callable[[Url], bool]) -> Iterator[ArchivedAnswer]:
    """HTTP answers of http(s) URLs that are wanted, in the order of the file. Raises `ArchiveError`.

    A member that is one record is copied as it is. Otherwise its records are compressed again.
    """
    held: _Held | None = None
    previous = -1
    with opened_archive(path) as file:
        for record in warc_records(path, parse_http=False):
            start = record.stream_pos
            if start <= previous or not os.pread(file.fileno(), 5, start).startswith(STARTS):
                yield from _rewritten(path, max(previous, 0), wanted)
                return
            if held is not None:
                yield _copied(file.fileno(), held, start)
            held, previous = _wanted(record, start, wanted), start
        if held is not None:
            yield _copied(file.fileno(), held, os.fstat(file.fileno()).st_size)


def _wanted(record: WarcRecord, start: int, wanted: Callable[[Url], bool]) -> _Held | None:
    """What replay reads as a page at all: not larger than its limit."""
    is_answer = record.record_type == WarcRecordType.response or is_drawn_page(record)
    if not is_answer or record.content_length > MAX_BLOCK:
        return None
    url = target_of(record)
    return _Held(url, start) if url is not None and wanted(url) else None


def _copied(file: int, held: _Held, end: int) -> ArchivedAnswer:
    # After a damaged place, what lies before the next record is not the record's: no record compresses to more than this.
    data = os.pread(file, min(end - held.start, MAX_BLOCK + (1 << 20)), held.start)
    return ArchivedAnswer(held.url, data if data.startswith(_GZIP) else _packed(data))


def _rewritten(path: Path, start: int, wanted: Callable[[Url], bool]) -> Iterator[ArchivedAnswer]:
    """For files that are compressed as a whole, or several records at a time."""
    for record in warc_records(path, start=start, parse_http=False):
        held = _wanted(record, start, wanted)
        if held is not None:
            buffer = io.BytesIO()
            record.write(buffer)
            yield ArchivedAnswer(held.url, _packed(buffer.getvalue()))


def _packed(data: bytes) -> bytes:
    return igzip_lib.compress(data, _LEVEL, igzip_lib.COMP_GZIP)
