"""Archives in place of the web: WARC files of any origin, indexed by URL and read one record at a time.

First the records of a file and the HTTP answers in them, whatever a server or an archiver wrote; then `Archives`.
"""

import gzip
import hashlib
import logging
import mmap
import os
import re
import tempfile
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO, Self

import msgspec
import numpy as np
import numpy.typing as npt
from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from bitrawl.bodies import Expansion, content_codings, expand
from bitrawl.bodies import media_type as sniffed_type
from bitrawl.crawling import FetchSection
from bitrawl.errors import ArchiveError, UrlError
from bitrawl.model import Capture, Link, LinkKind, Skip, WarcPosition
from bitrawl.protocols import Fetcher
from bitrawl.reasons import Reason, Stage
from bitrawl.url import Url

ANSWERED = "X-Archive-Orig-"
"""How archives name what the answer had, and what they write does not have: its HTTP headers."""
MAX_BLOCK = 64 << 20  # bytes of one record; nothing larger is a page
Headers = tuple[tuple[str, str], ...]
STARTS = (b"\x1f\x8b", b"WARC/")  # how a record begins that can be read by itself
_INFO = 1 << 16  # bytes of a warcinfo record that are looked at
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_STATUS_LINE = re.compile(rb"HTTP/\d(?:\.\d)?\s+(\d{3})")
_FOLDED = re.compile(rb"\r?\n[ \t]+")
_CHUNK = re.compile(rb"\s*([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")

MOST_HOMES = 50  # home pages per host

_INDEX_PAGE = re.compile(r"/(?:(?:index|default|home)\b[^/]*)?$")
_OFFSET_BITS = 44  # 16 TiB per file, a million files
_Numbers = npt.NDArray[np.uint64]
_TEXT = re.compile(r"text/|application/xml")
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_UNTYPED = frozenset({"", "application/octet-stream", "unknown/unknown"})

log = logging.getLogger(__name__)


class Record(msgspec.Struct, frozen=True):
    """One record, read completely."""

    url: Url
    at: float
    status: int
    headers: Headers
    payload: bytes
    same_as: Url | None  # where the payload is, if it is not here
    rendered: bool = False  # a browser made it of an answer
    digest: str = ""  # of the payload, as the archive says

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
        drawn = is_drawn_page(record)
        if drawn:
            headers += tuple(
                (name[len(ANSWERED) :], value)
                for name, value in record.headers
                if name.lower().startswith(ANSWERED.lower())
            )
        elif block.startswith(b"HTTP/"):
            head, payload = _split(block)
            status, headers = _status(head), _headers(head)
            if any(name.lower() == "transfer-encoding" and "chunked" in value.lower() for name, value in headers):
                payload = _dechunked(payload)
        revisit = record.record_type == WarcRecordType.revisit
        same_as = parsed_url(record.headers.get("WARC-Refers-To-Target-URI")) if revisit else None
        digest = record.headers.get("WARC-Payload-Digest") or ""
        return cls(url, seconds_of(record), status, headers, payload, same_as, drawn, digest)

    def capture(self, place: WarcPosition | None) -> Capture:
        """The capture, not yet decoded."""
        return Capture(
            *(self.url, self.status, self.headers, b"", self.at),
            payload=self.payload,
            place=place,
            rendered=self.rendered,
            digest=self.digest,
        )


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
    return f"{path} is not a WARC file, or holds no records"


def _is_gzip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def target_of(record: WarcRecord) -> Url | None:
    """The http(s) URL that it is about; None if it has none."""
    return parsed_url(record.headers.get("WARC-Target-URI"))


def is_drawn_page(record: WarcRecord) -> bool:
    """Whether it is what a browser made of an answer. Others convert pages to plain text, which is no page."""
    kind = (record.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    return bool(record.record_type == WarcRecordType.conversion) and kind == "text/html"


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


def home_pages(archives: "Archives") -> list[Url]:
    """Each host's root if it is archived; otherwise its topmost index pages; otherwise its shortest URL."""
    hosts: dict[str, list[Url]] = {}
    for url in archives.urls():
        hosts.setdefault(url.host, []).append(url)
    return [home for urls in hosts.values() for home in _homes(archives, urls)]


def _homes(archives: "Archives", urls: Sequence[Url]) -> list[Url]:
    root = Url.parse(f"{urls[0].origin}/")
    if isinstance(archives.answer(root), Capture):
        return [root]
    # Of ten archived sites, seven have no root, and the shortest URL of one of them is 404.html (2026-11).
    depth = min(url.path.count("/") for url in urls)
    index = sorted(url for url in urls if url.path.count("/") == depth and _INDEX_PAGE.search(url.path))
    return index[:MOST_HOMES] or [min(urls, key=lambda url: (len(url), url))]


class ReplayFetcher:
    """Archives in place of the web. A page that they do not contain does not exist."""

    def __init__(self, archives: "Archives") -> None:
        self._archives = archives

    async def fetch(self, link: Link) -> Capture | Skip:
        """Never raises, whatever the records contain. An error status is final, because the archive does not change.

        A seed that is archived only under the other scheme, http or https, redirects there, as most of the web does.
        """
        answer = self._archives.answer(link.url)
        if isinstance(answer, Skip) and answer.reason is Reason.NOT_ARCHIVED and link.kind is LinkKind.SEED:
            elsewhere = self._archives.archived_as(link.url)
            if elsewhere is not None and elsewhere != link.url:
                return Capture(link.url, HTTPStatus.MOVED_PERMANENTLY, (("Location", elsewhere),), b"", 0.0)
        return answer


class KeptFetcher:
    """The web, of which a job has fetched a part before and has lost its ledger: that part is not asked for again."""

    def __init__(self, inner: Fetcher, archives: "Archives") -> None:
        self._inner = inner
        self._archives = archives

    async def fetch(self, link: Link) -> Capture | Skip:
        """What is archived, unless it cannot be read or was an error that may have passed."""
        answer = self._archives.answer(link.url)
        if isinstance(answer, Capture):
            place = answer.place and WarcPosition(Path(answer.place.file).name, answer.place.offset)
            return msgspec.structs.replace(answer, place=place)
        if (
            answer.reason is Reason.HTTP_STATUS
            and answer.status < 500
            and answer.status != HTTPStatus.TOO_MANY_REQUESTS
        ):
            return answer
        return await self._inner.fetch(link)


class Archives:
    """WARC files with one capture per URL: the latest good one, else the latest redirect, else the latest.

    Of what bitrawl has archived, the latest: a page that was missing in a further round does not exist any more.

    The index uses 24 bytes per record and stores no text. http and https URLs are different, as on the web.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        """Read the files once, for their index. Raises `ArchiveError` if one is not a WARC file at all."""
        self._unpacked = _Unpacked()
        self._paths: list[Path] = []
        index = _Index()
        try:
            for number, path in enumerate(paths):
                readable, file_index = self._scan(path, number)
                self._paths.append(readable)
                index.extend(file_index)
        except BaseException:
            self.close()
            raise
        self._keys, self._places = index.best()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        """The number of URLs that were captured."""
        return len(self._keys)

    def close(self) -> None:
        """Remove the unpacked copies."""
        self._unpacked.close()

    def answer(self, url: Url) -> Capture | Skip:
        """The best capture of that URL, decoded. A `Skip` if there is none that can be read."""
        place = self._find(url)
        if place is None:
            return Skip(url, Stage.FETCH, Reason.NOT_ARCHIVED)
        try:
            capture = self._read(url, place)
        except ArchiveError as error:
            return Skip(url, Stage.FETCH, Reason.HTTP_ERROR, detail=str(error))
        return capture if isinstance(capture, Skip) else _answer(capture)

    def archived_as(self, url: Url) -> Url | None:
        """The URL itself, or its twin with the other scheme (http, https) if only that is archived; None if neither is."""
        scheme, _, rest = url.partition("://")
        other = Url.parse(f"{'http' if scheme == 'https' else 'https'}://{rest}")
        return next((twin for twin in (url, other) if self._find(twin) is not None), None)

    def urls(self) -> Iterator[Url]:
        """All pages, in the order of the files: good answers that are HTML, or may be."""
        for number, path in enumerate(self._paths):
            for record in warc_records(path):
                url = target_of(record)
                if url is not None and self._find(url) == _pack(number, record.stream_pos) and _may_be_page(record):
                    yield url

    def _scan(self, path: Path, number: int) -> "tuple[Path, _Index]":
        """The file and its index.

        If its records cannot be read by their offset, an unpacked copy and the copy's index.
        """
        index = _index(path, number)
        if index is None:
            log.info("unpacking %s, because it is not compressed record by record", path)
            path = self._unpacked.copy(path)
            index = _index(path, number)
        if index is None:
            raise ArchiveError(f"{path} cannot be read record by record; recompress it with `warcio recompress`")
        return path, index

    def _find(self, url: Url) -> int | None:
        key = np.uint64(_key(url))  # numpy would compare a plain int as a float, inexactly.
        at = int(np.searchsorted(self._keys, key))
        return int(self._places[at]) if at < len(self._keys) and self._keys[at] == key else None

    def _read(self, url: Url, packed: int) -> Capture | Skip:
        record, place = self._record(packed)
        if record.url != url:
            return Skip(url, Stage.FETCH, Reason.NOT_ARCHIVED)
        if record.same_as is None:
            return record.capture(place)
        elsewhere = self._find(record.same_as)
        original, place = self._record(elsewhere) if elsewhere is not None else (record, None)
        if original.same_as is not None:
            return Skip(url, Stage.FETCH, Reason.NOT_ARCHIVED, f"the same as {record.same_as}, which is not here")
        return msgspec.structs.replace(original.capture(place), url=url)

    def _record(self, packed: int) -> "tuple[Record, WarcPosition | None]":
        path, offset = self._paths[packed >> _OFFSET_BITS], packed & ((1 << _OFFSET_BITS) - 1)
        place = None if path in self._unpacked else WarcPosition(str(path.absolute()), offset)
        return Record.at_place(path, offset), place


class _Index:
    """Collects the index while files are read: three numbers per record."""

    def __init__(self) -> None:
        self._keys, self._places, self._ranks = array("Q"), array("Q"), array("Q")

    def add(self, key: int, place: int, rank: int) -> None:
        self._keys.append(key)
        self._places.append(place)
        self._ranks.append(rank)

    def extend(self, other: Self) -> None:
        self._keys.extend(other._keys)
        self._places.extend(other._places)
        self._ranks.extend(other._ranks)

    def best(self) -> tuple[_Numbers, _Numbers]:
        """The keys in order, and the best place for each. Of equally good ones, the one that was read last."""
        columns = (self._keys, self._places, self._ranks)
        keys, places, ranks = (np.frombuffer(column, dtype=np.uint64) for column in columns)
        order = np.lexsort((ranks, keys))
        keys, places = keys[order], places[order]
        last = np.ones(len(keys), dtype=bool)
        last[:-1] = keys[1:] != keys[:-1]
        return keys[last], places[last]


class _Unpacked:
    """Unpacked copies of archives that are compressed as a whole, in a temporary folder."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __contains__(self, path: Path) -> bool:
        return self._folder is not None and path.parent == Path(self._folder.name)

    def copy(self, path: Path) -> Path:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="bitrawl-")
        number, name = tempfile.mkstemp(suffix=".warc", dir=self._folder.name)
        try:
            with os.fdopen(number, "wb") as file:
                for record in warc_records(path, parse_http=False):
                    record.write(file)
        except OSError as error:
            raise ArchiveError(f"{path} cannot be unpacked to {name}: {error}; set TMPDIR to a larger disk") from error
        return Path(name)

    def close(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def _answer(capture: Capture) -> Capture | Skip:
    """The answer that the live fetcher would give, except that no failure is transient.

    The payload is dropped, because it is archived already.
    """
    if capture.status in _REDIRECTS and capture.header("Location").strip():
        return msgspec.structs.replace(capture, body=capture.payload, payload=b"")
    if not 200 <= capture.status < 300 or capture.status == 206:
        return Skip(capture.url, Stage.FETCH, Reason.HTTP_STATUS, status=capture.status)
    body = _expanded(capture.payload, capture.header("Content-Encoding"))
    if body is Reason.CONTENT_ENCODING and _TEXT.match(sniffed_type(capture.payload, "")):
        # Many archives store a decoded payload with the headers of the encoded one.
        body = capture.payload
    if isinstance(body, Reason):
        return Skip(capture.url, Stage.FETCH, body, status=capture.status)
    media_type = sniffed_type(body, capture.header("Content-Type"))
    return msgspec.structs.replace(capture, body=body, media_type=media_type, payload=b"")


def _expanded(payload: bytes, header: str) -> bytes | Reason:
    codings = content_codings(header)
    return (
        Reason.CONTENT_ENCODING
        if codings is None
        else expand(payload, codings, Expansion(2 * FetchSection().most_bytes))
    )


def _index(path: Path, number: int) -> _Index | None:
    """None if the records cannot be read one by one, because the file is compressed as a whole."""
    index, previous, ours = _Index(), -1, False
    with opened_archive(path) as file:
        for record in warc_records(path, report=logging.WARNING):
            if record.record_type == WarcRecordType.warcinfo:
                ours = b"software: bitrawl/" in record.reader.read(_INFO)
            offset = record.stream_pos
            if offset <= previous or not os.pread(file.fileno(), 5, offset).startswith(STARTS):
                return None
            previous = offset
            url = target_of(record)
            rank = _rank(record, url, ours=ours)
            if url is not None and rank is not None:
                index.add(_key(url), _pack(number, offset), rank)
    return index


def _rank(record: WarcRecord, url: Url | None, *, ours: bool) -> int | None:
    """Ranks the captures of a URL: the best first, then the latest. None if it is not a capture."""
    if ours and record.record_type == WarcRecordType.response:  # Errors that may pass are not archived.
        return 3 << 62 | int(seconds_of(record) * 1e6)
    match record.record_type:
        case WarcRecordType.response if record.http_headers is not None:
            status = record.http_headers.status_code or 0
            value = 3 if 200 <= status < 300 else 1 if 300 <= status < 400 and status != 304 else 0
        case WarcRecordType.response | WarcRecordType.resource:
            value = 3
        case WarcRecordType.conversion if is_drawn_page(record):
            value = 3  # drawn after the answer that it is made of was fetched, so it is the later one
        case WarcRecordType.revisit:
            same_as = parsed_url(record.headers.get("WARC-Refers-To-Target-URI"))
            if same_as is None or same_as == url:
                return None  # The capture that it repeats answers for this URL anyway.
            value = 2
        case _:
            return None
    return value << 62 | int(seconds_of(record) * 1e6)


def _may_be_page(record: WarcRecord) -> bool:
    if record.http_headers is None:
        declared = record.headers.get("Content-Type") or ""
    elif 200 <= (record.http_headers.status_code or 0) < 300:
        declared = record.http_content_type or ""
    else:
        return False
    declared = declared.partition(";")[0].strip().lower()
    identified = record.headers.get("WARC-Identified-Payload-Type") or ""
    return declared in _UNTYPED or "html" in declared or "html" in identified.lower()


def _key(url: Url) -> int:
    return int.from_bytes(hashlib.blake2b(url.encode(), digest_size=8).digest())


def _pack(number: int, offset: int) -> int:
    return number << _OFFSET_BITS | offset
