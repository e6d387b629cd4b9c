"""Archives in place of the web: WARC files of any origin, indexed by URL and read one record at a time."""

import hashlib
import logging
import os
import re
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
import numpy as np
import numpy.typing as npt
from fastwarc.warc import WarcRecord, WarcRecordType

from bitrawl.errors import ArchiveError
from bitrawl.model import Capture, Link, LinkKind, Reason, Skip, Stage, WarcPlace
from bitrawl.protocols import Fetcher
from bitrawl.store.warc_records import STARTS, Record, opened_archive, parsed_url, seconds_of, target_of, warc_records
from bitrawl.url import Url

log = logging.getLogger(__name__)
MOST_HOMES = 50  # home pages per host; judgement

_INDEX_PAGE = re.compile(r"/(?:(?:index|default|home)\b[^/]*)?$")
_OFFSET_BITS = 44  # 16 TiB per file, a million files
_SUFFIXES = (".warc", ".warc.gz")
_Numbers = npt.NDArray[np.uint64]
_TEXT = re.compile(r"text/|application/xml")
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_UNTYPED = frozenset({"", "application/octet-stream", "unknown/unknown"})


class Codec(msgspec.Struct, frozen=True):
    """How to decode a payload: the same functions that the live fetcher uses."""

    expand: Callable[[bytes, str], bytes | Reason]  # payload, Content-Encoding header -> body
    sniff: Callable[[bytes, str], str]  # body, Content-Type header -> media type


def open_archives(paths: Iterable[Path], codec: Codec) -> "Archives":
    """Read the files once, for their index. Raises `ArchiveError` if one is not a WARC file at all."""
    return Archives(list(paths), codec)


def warc_files(paths: Iterable[Path]) -> list[Path]:
    """The files as given. A folder stands for the *.warc and *.warc.gz files in it, sorted by name."""
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        try:
            found = sorted(entry for entry in path.iterdir() if entry.name.lower().endswith(_SUFFIXES))
        except OSError as error:
            raise ArchiveError(f"{path} cannot be read: {error.strerror}") from error
        if not found:
            raise ArchiveError(f"{path} contains no WARC files; their names end in .warc or .warc.gz")
        files += found
    return list(dict.fromkeys(files))


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
            place = answer.place and WarcPlace(Path(answer.place.file).name, answer.place.offset)
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

    The index uses 24 bytes per record and stores no text. http and https URLs are different, as on the web.
    """

    def __init__(self, paths: Sequence[Path], codec: Codec) -> None:
        self._codec = codec
        self._unpacked = _Unpacked()
        self._paths: list[Path] = []
        index = _Index()
        try:
            for number, path in enumerate(paths):
                readable, found = self._scan(path, number)
                self._paths.append(readable)
                index.extend(found)
        except BaseException:
            self.close()
            raise
        self._keys, self._places = index.best()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
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
        return capture if isinstance(capture, Skip) else _answer(capture, self._codec)

    def archived_as(self, url: Url) -> Url | None:
        """The URL itself, or its twin with the other scheme (http, https) if only that is archived; None if neither is."""
        scheme, _, rest = url.partition("://")
        other = Url.parse(f"{'http' if scheme == 'https' else 'https'}://{rest}")
        return next((known for known in (url, other) if self._find(known) is not None), None)

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

    def _record(self, packed: int) -> "tuple[Record, WarcPlace | None]":
        path, offset = self._paths[packed >> _OFFSET_BITS], packed & ((1 << _OFFSET_BITS) - 1)
        place = None if path in self._unpacked else WarcPlace(str(path.absolute()), offset)
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


def _answer(capture: Capture, codec: Codec) -> Capture | Skip:
    """The answer that the live fetcher would give, except that no failure is transient.

    The payload is dropped, because it is archived already.
    """
    if capture.status in _REDIRECTS and capture.header("Location").strip():
        return msgspec.structs.replace(capture, body=capture.payload, payload=b"")
    if not 200 <= capture.status < 300 or capture.status == 206:
        return Skip(capture.url, Stage.FETCH, Reason.HTTP_STATUS, status=capture.status)
    body = codec.expand(capture.payload, capture.header("Content-Encoding"))
    if body is Reason.CONTENT_ENCODING and _TEXT.match(codec.sniff(capture.payload, "")):
        # Many archives store a decoded payload with the headers of the encoded one.
        body = capture.payload
    if isinstance(body, Reason):
        return Skip(capture.url, Stage.FETCH, body, status=capture.status)
    media_type = codec.sniff(body, capture.header("Content-Type"))
    return msgspec.structs.replace(capture, body=body, media_type=media_type, payload=b"")


def _index(path: Path, number: int) -> _Index | None:
    """None if the records cannot be read one by one, because the file is compressed as a whole."""
    index, previous = _Index(), -1
    with opened_archive(path) as file:
        for record in warc_records(path, report=logging.WARNING):
            offset = record.stream_pos
            if offset <= previous or not os.pread(file.fileno(), 5, offset).startswith(STARTS):
                return None
            previous = offset
            url = target_of(record)
            rank = _rank(record, url)
            if url is not None and rank is not None:
                index.add(_key(url), _pack(number, offset), rank)
    return index


def _rank(record: WarcRecord, url: Url | None) -> int | None:
    """Ranks the captures of a URL: the best first, then the latest. None if it is not a capture."""
    match record.record_type:
        case WarcRecordType.response if record.http_headers is not None:
            status = record.http_headers.status_code or 0
            value = 3 if 200 <= status < 300 else 1 if 300 <= status < 400 and status != 304 else 0
        case WarcRecordType.response | WarcRecordType.resource:
            value = 3
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
