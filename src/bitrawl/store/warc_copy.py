"""The answers in a WARC file of any origin as bytes to append to another WARC file: copied, if they can be."""

import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from fastwarc.warc import WarcRecord, WarcRecordType
from isal import igzip_lib

from bitrawl.store.warc_records import MAX_BLOCK, STARTS, opened_archive, target_of, warc_records
from bitrawl.url import Url

_LEVEL = 1  # as archive.py, which measured it
_GZIP = STARTS[0]


class Answer(NamedTuple):
    """One HTTP answer: a whole record, as a gzip member."""

    url: Url
    member: bytes


class _Held(NamedTuple):
    """An answer whose end is not known before the next record begins."""

    url: Url
    start: int


def answers(path: Path, wanted: Callable[[Url], bool]) -> Iterator[Answer]:
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
    if record.record_type != WarcRecordType.response or record.content_length > MAX_BLOCK:
        return None
    url = target_of(record)
    return _Held(url, start) if url is not None and wanted(url) else None


def _copied(file: int, held: _Held, end: int) -> Answer:
    # After a damaged place, what lies before the next record is not the record's: no record compresses to more than this.
    data = os.pread(file, min(end - held.start, MAX_BLOCK + (1 << 20)), held.start)
    return Answer(held.url, data if data.startswith(_GZIP) else _packed(data))


def _rewritten(path: Path, start: int, wanted: Callable[[Url], bool]) -> Iterator[Answer]:
    """For files that are compressed as a whole, or several records at a time."""
    for record in warc_records(path, start=start, parse_http=False):
        held = _wanted(record, start, wanted)
        if held is not None:
            buffer = io.BytesIO()
            record.write(buffer)
            yield Answer(held.url, _packed(buffer.getvalue()))


def _packed(data: bytes) -> bytes:
    return igzip_lib.compress(data, _LEVEL, igzip_lib.COMP_GZIP)
