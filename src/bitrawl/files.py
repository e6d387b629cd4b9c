"""Writes files so that they are complete under their name, or absent: under another name first, and renamed at the end.

`cell` and `from_cell` are for tables that a spreadsheet may open: no text of the web becomes a formula there. `xml_parser` is
how XML of others is read.
"""

import errno
import io
import os
import re
import shutil
import socket
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO
from xml.parsers import expat

import msgspec

from bitrawl.errors import DiskFullError, StoreError

if sys.version_info >= (3, 14):
    from compression import zstd as zstd  # noqa: PLC0414 - public here
else:
    from backports import zstd as zstd  # noqa: PLC0414 - the same module for earlier Pythons

NO_JSON = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What msgspec raises for content that is not what it should be: also for text that is no UTF-8, and for deep nesting."""

NEW, OLD = ".new", ".old"
"""What a killed process may leave beside a name: what it was writing, and the earlier content of a folder."""

_SUM = re.compile(rb'\{"sum":"([0-9a-f]{8})",')
_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})  # the last one occurs if file sizes are limited
# Measured on 32 MB of sentences.jsonl (2026-11): igzip 2 reaches 384 MB/s and a ratio of .317, gzip 6 36 MB/s and .290.
_LEVEL = 2
_CHECKED = 1 << 20  # bytes that are read at once for a checksum
_BUFFER = 1 << 18  # few system calls, and little memory for the dozen files of a corpus


@contextmanager
def replacing(path: Path, *, compress: bool = False, shared: bool = False) -> Iterator[IO[bytes]]:
    """Write to a file that replaces `path` when the block ends without error. Until then, the old file stays.

    The folder is created if necessary. `compress` gzips. The same content gives the same bytes, because the gzip header
    contains neither time nor name. `shared` is for folders that several machines write into: no two of them write the
    same draft, and the content is on the disk before it gets its name. Raises `StoreError`; for a full disk,
    `DiskFullError`.
    """
    draft = path.with_name(f"{path.name}.{socket.gethostname()}-{os.getpid()}{NEW}" if shared else path.name + NEW)
    with _discarding(draft, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("wb", buffering=_BUFFER) as raw:
            if compress:
                with _gzipped(raw) as packed:
                    yield packed
            else:
                yield raw
            if shared:
                raw.flush()
                os.fsync(raw.fileno())
        draft.replace(path)


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """Write to a folder that replaces the one at `path` when the block ends without error.

    It takes two renames, because no portable system call swaps folders. A kill between them leaves the earlier folder
    under `.old`, and the next call puts it back.
    """
    draft, earlier = path.with_name(path.name + NEW), path.with_name(path.name + OLD)
    with _discarding(draft, path):
        if earlier.exists() and not path.exists():
            earlier.rename(path)
        discard(draft)
        draft.mkdir(parents=True)
        yield draft
        discard(earlier)
        with suppress(FileNotFoundError):
            path.rename(earlier)
        draft.rename(path)
        discard(earlier)


def write(path: Path, content: str | bytes) -> None:
    """Write a whole file at once, text as UTF-8."""
    with replacing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def with_sum(content: bytes) -> bytes:
    """A JSON object with a checksum of itself as its first key, so that a digit that changes on a disk is noticed."""
    body = content[content.index(b"{") + 1 :]
    return b'{"sum":"%08x",%b' % (zlib.crc32(body), body)


def checked(content: bytes) -> bytes:
    """What `with_sum` made, as it is. Raises `ValueError` if it has changed. Content without a checksum passes."""
    sum_ = _SUM.match(content)
    if sum_ and int(sum_[1], 16) != zlib.crc32(content[sum_.end() :]):
        raise ValueError("its checksum is wrong")
    return content


def checksum(path: Path) -> int:
    """CRC-32 of the content of a file. Raises `OSError`."""
    from isal import isal_zlib  # noqa: PLC0415 (26 GB/s; zlib does 4; few commands need it)

    crc = 0
    with path.open("rb") as file:
        while block := file.read(_CHECKED):
            crc = isal_zlib.crc32(block, crc)
    return crc


def zstd_options(level: int) -> dict[int, int]:
    """Each frame ends in a checksum, which is compared when it is read: 4 bytes, and no time that could be measured."""
    return {zstd.CompressionParameter.compression_level: level, zstd.CompressionParameter.checksum_flag: 1}


def compressor(level: int = 3) -> Callable[[bytes], bytes]:
    """Makes a frame of zstd of each text; `zstd.decompress` reads it. One that is kept saves 10 microseconds a frame."""
    compress = zstd.ZstdCompressor(options=zstd_options(level)).compress
    return partial(compress, mode=zstd.ZstdCompressor.FLUSH_FRAME)


def discard(path: Path) -> None:
    """Remove that file or folder, if it exists and can be removed. What a link leads to is not ours and stays."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        path.unlink(missing_ok=True)


def write_fault(path: Path, error: OSError) -> StoreError:
    """The error to raise if that path could not be written."""
    if error.errno in _NO_SPACE:
        return DiskFullError(f"{path}: no space left on the disk; free some and run the same command again")
    return StoreError(
        f"{path} cannot be written: {error.strerror or error}; check its permissions, or choose another folder"
    )


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """For a block that writes to that path: raises `StoreError` where it cannot."""
    try:
        yield
    except OSError as error:
        raise write_fault(path, error) from error


@contextmanager
def _discarding(draft: Path, path: Path) -> Iterator[None]:
    """No draft is left behind, whatever goes wrong."""
    try:
        yield
    except OSError as error:
        discard(draft)
        raise write_fault(path, error) from error
    except BaseException:
        discard(draft)
        raise


@contextmanager
def _gzipped(raw: IO[bytes]) -> Iterator[IO[bytes]]:
    from isal import igzip  # noqa: PLC0415 (its import costs more than everything else in a short command)

    packed = igzip.IGzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=raw, mtime=0)  # type: ignore[no-untyped-call]
    with packed, io.BufferedWriter(packed, _BUFFER) as buffered:
        yield buffered


# What a spreadsheet takes for the beginning of a formula. Apostrophes before it count, so that what was written is read.
_FORMULA = re.compile("'*[=+@-]")
_QUOTED = re.compile("'+[=+@-]")


def xml_parser(
    start: Callable[[str, dict[str, str]], object],
    end: Callable[[str], object],
    characters: Callable[[str], object],
    *,
    refuse: Callable[[], object],
    separator: str | None = None,
) -> expat.XMLParserType:
    """Loads nothing from elsewhere, and calls `refuse`, which raises, where an entity is declared: it may be a bomb.

    With a `separator`, names have their namespace before it.
    """
    parser = expat.ParserCreate(namespace_separator=separator)
    parser.buffer_text = True
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    parser.EntityDeclHandler = lambda *_: refuse()
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    return parser


def cell(text: str) -> str:
    """The text as it is written into a table: with an apostrophe in front, if it would begin a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def from_cell(written: str) -> str:
    """The text of a cell that `cell` wrote."""
    return written[1:] if _QUOTED.match(written) else written
