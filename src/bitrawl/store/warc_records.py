"""The records of WARC files, and the HTTP answers in them, whatever a server or an archiver wrote."""

import gzip
import logging
import mmap
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple, Self

import msgspec
from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from bitrawl.errors import ArchiveError, UrlError
from bitrawl.model import Capture, WarcPlace
from bitrawl.url import Url

MAX_BLOCK = 64 << 20  # bytes of one record; nothing larger is a page; judgement
Headers = tuple[tuple[str, str], ...]
STARTS = (b"\x1f\x8b", b"WARC/")  # how a record begins that can be read by itself
_MEMBER = b"\x1f\x8b\x08"
_BLOCK = 1 << 16
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_STATUS_LINE = re.compile(rb"HTTP/\d(?:\.\d)?\s+(\d{3})")
_FOLDED = re.compile(rb"\r?\n[ \t]+")
_CHUNK = re.compile(rb"\s*([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")

log = logging.getLogger(__name__)


class Record(msgspec.Struct, frozen=True):
    """One record, read completely."""

    url: Url
    at: float
    status: int
    headers: Headers
    payload: bytes
    same_as: Url | None  # where the payload is, if it is not here

    @classmethod
    def at_place(cls, path: Path, offset: int) -> Self:
        """Raises `ArchiveError` if there is no complete record."""
        try:
            with path.open("rb") as file:
                file.seek(offset)
                record = next(ArchiveIterator(file, parse_http=False))
                block = record.reader.read(MAX_BLOCK + 1)
        except (OSError, ValueError, StopIteration) as error:
            raise ArchiveError(f"{path} has no readable record at byte {offset}: {error}") from error
        if len(block) > MAX_BLOCK:
            raise ArchiveError(f"{path} has a record of more than {MAX_BLOCK} bytes at byte {offset}")
        if len(block) < record.content_length:
            raise ArchiveError(f"{path} has a record at byte {offset} that is cut off")
        url = target_of(record)
        if url is None:
            raise ArchiveError(f"{path} has a record at byte {offset} that is not a web page")
        return cls._parse(url, record, block)

    @classmethod
    def _parse(cls, url: Url, record: WarcRecord, block: bytes) -> Self:
        status, payload = 200, block
        headers: Headers = (("Content-Type", record.headers.get("Content-Type") or ""),)
        if block.startswith(b"HTTP/"):
            head, payload = _split(block)
            status, headers = _status(head), _headers(head)
            if any(name.lower() == "transfer-encoding" and "chunked" in value.lower() for name, value in headers):
                payload = _dechunked(payload)
        revisit = record.record_type == WarcRecordType.revisit
        same_as = parsed_url(record.headers.get("WARC-Refers-To-Target-URI")) if revisit else None
        return cls(url, seconds_of(record), status, headers, payload, same_as)

    def capture(self, place: WarcPlace | None) -> Capture:
        """The capture, not yet decoded."""
        return Capture(self.url, self.status, self.headers, b"", self.at, payload=self.payload, place=place)


def warc_records(
    path: Path, *, start: int = 0, parse_http: bool = True, report: int = logging.DEBUG
) -> Iterator[WarcRecord]:
    """All records from that byte on, also those after a damaged place. Raises `ArchiveError` if there is none at all."""
    position, damaged, empty = start, -1, True
    with opened_archive(path) as file:
        while position >= 0:
            file.seek(position)
            try:
                for record in ArchiveIterator(file, parse_http=parse_http):
                    position, empty = record.stream_pos, False
                    yield record
                break
            except (OSError, ValueError):
                damaged = position if damaged < 0 else damaged
                position = -1 if empty else _next_start(file, position + 1)
    if empty:
        raise ArchiveError(_no_archive(path))
    if damaged >= 0:
        log.log(report, "%s is damaged, first after byte %d; skipping what cannot be read", path, damaged)


def first_record(path: Path) -> WarcRecord | None:
    """None if the file cannot be read as an archive at all."""
    try:
        return next(warc_records(path, parse_http=False))
    except ArchiveError:
        return None


class ArchiveFacts(msgspec.Struct, frozen=True):
    """What is in an archive file of ours."""

    answers: int = 0  # that can be read
    last: int = -1  # where the last of them begins
    damaged: tuple[int, ...] = ()  # where something begins that cannot be read
    cut: int = 0  # bytes of an incomplete record at the end


def archive_facts(path: Path) -> ArchiveFacts:
    """Read every record of a file that is compressed record by record, with its checksums. Raises `OSError`."""
    with path.open("rb") as file, _mapped(file) as data:
        place, answers, last, damaged = 0, 0, -1, list[int]()
        while 0 <= place < len(data):
            member = _member_at(data, place)
            if member is None:
                following = data.find(_MEMBER, place + 1)
                while following >= 0 and _member_at(data, following) is None:
                    following = data.find(_MEMBER, following + 1)
                if following < 0 and _is_cut_off(data, place):
                    return ArchiveFacts(answers, last, tuple(damaged), len(data) - place)
                damaged.append(place)
                place = following
                continue
            if b"\r\nWARC-Type: response\r\n" in member.head:
                answers, last = answers + 1, place
            place = member.end
    return ArchiveFacts(answers, last, tuple(damaged))


class _Member(NamedTuple):
    head: bytes
    end: int


def _member_at(data: "mmap.mmap | bytes", place: int) -> _Member | None:
    """A complete gzip member with the right checksum; None if there is none."""
    decompressor, position, head = zlib.decompressobj(31), place, b""
    try:
        while not decompressor.eof and position < len(data):
            block = data[position : position + _BLOCK]
            content = decompressor.decompress(block)
            head = head or content[:4096]
            position += len(block)
    except zlib.error:
        return None
    return _Member(head, position - len(decompressor.unused_data)) if decompressor.eof else None


def _is_cut_off(data: "mmap.mmap | bytes", place: int) -> bool:
    """Whether what begins there is right as far as it goes."""
    decompressor = zlib.decompressobj(31)
    try:
        for position in range(place, len(data), _BLOCK):
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


def _next_start(file: BinaryIO, position: int) -> int:
    """Where the next record may begin; -1 if there is none."""
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data[:2] == b"\x1f\x8b":
            return data.find(b"\x1f\x8b\x08", position)
        return data.find(b"\nWARC/1.", position) + 1 or -1


def opened_archive(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise ArchiveError(f"{path} cannot be read: {error.strerror}") from error


def _no_archive(path: Path) -> str:
    with suppress(OSError, EOFError, zlib.error), (gzip.open if _is_gzip(path) else open)(path, "rb") as file:
        if file.read(9) == b"filedesc:":
            return (
                f"{path} is an ARC file, the format before WARC; convert it: warcio recompress {path.name} new.warc.gz"
            )
    return f"{path} is no WARC file, or holds no record"


def _is_gzip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def target_of(record: WarcRecord) -> Url | None:
    """The http(s) URL that it is about; None if it has none."""
    return parsed_url(record.headers.get("WARC-Target-URI"))


def parsed_url(raw: str | None) -> Url | None:
    try:
        return Url.parse(raw.strip().removeprefix("<").removesuffix(">")) if raw else None  # wget writes <brackets>
    except UrlError:
        return None


def seconds_of(record: WarcRecord) -> float:
    """The date of the capture; 0 if it is missing or invalid."""
    date = record.record_date
    return max(date.timestamp(), 0.0) if date is not None else 0.0


def _split(block: bytes) -> tuple[bytes, bytes]:
    end = _HEAD_END.search(block)
    return (block[: end.start()], block[end.end() :]) if end else (block, b"")


def _status(head: bytes) -> int:
    match = _STATUS_LINE.match(head)
    return int(match[1]) if match else 0


def _headers(head: bytes) -> Headers:
    lines = _FOLDED.sub(b" ", head).splitlines()[1:]
    pairs = (line.partition(b":") for line in lines if b":" in line)
    return tuple((name.strip().decode("latin-1"), value.strip().decode("latin-1")) for name, _, value in pairs)


def _dechunked(payload: bytes) -> bytes:
    """The payload without the chunk sizes.

    Many archives only claim that a payload is chunked; then it stays as it is.
    """
    pieces, position = [], 0
    while match := _CHUNK.match(payload, position):
        size = int(match[1], 16)
        position = match.end() + size
        pieces.append(payload[match.end() : position])
        if not size:
            break
    return b"".join(pieces) if pieces else payload
