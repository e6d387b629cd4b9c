"""Content-decoding with a limit on what comes out, whatever went in."""

import asyncio
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence

import brotli
import msgspec
import zstandard

from bitrawl.model import Reason

MIB = 1 << 20


class Expansion(msgspec.Struct, frozen=True):
    """How far a body may grow; at most one piece more (2 MiB, with zstd 8 MiB) is ever in memory.

    The most compressible HTML that is still a page, 2.7 MB of table rows that differ in a running number only, reaches
    16 (gzip), 44 (br) and 71 (zstd -19); tests/unit/test_decompress.py holds it. Zeros reach 229 (gzip -1), 1,000
    (gzip -9), 30,000 (zstd) and 600,000 (br).
    """

    size: int = 20 * MIB
    ratio: int = 200
    ratio_from: int = MIB  # below it no ratio hurts, and a small page of one repeated row may have any


def expand(payload: bytes, codings: Sequence[str], limits: Expansion) -> bytes | Reason:
    """The body under its content codings, listed in the order in which they were applied.

    A body that is cut short, or is not what it says, is CONTENT_ENCODING; rubbish after its end is ignored, as
    browsers do.
    """
    work = slices(payload, codings, limits)
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


async def expand_in_slices(payload: bytes, codings: Sequence[str], limits: Expansion) -> bytes | Reason:
    """The same, with a turn for the other tasks after each slice: no host waits for another's body."""
    work = slices(payload, codings, limits)
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        await asyncio.sleep(0)


def slices(payload: bytes, codings: Sequence[str], limits: Expansion) -> "Slices":
    """The work of `expand` in small parts: what it yields is the bytes read and written since the last yield."""
    if len(codings) > MAX_CODINGS:
        return Reason.CONTENT_ENCODING
    body = payload
    for coding in reversed(codings):
        layer = yield from _layer(body, coding, limits)
        if isinstance(layer, Reason):
            return layer
        body = layer
    return body


def prefix(payload: bytes, codings: Sequence[str], size: int) -> bytes:
    """The first bytes of a body of which only a part is at hand; what cannot be decoded is left out."""
    body = payload
    for coding in reversed(codings[:MAX_CODINGS]):
        start = bytearray()
        try:
            for _, piece in _DECODERS[coding](body):
                start += piece
                if len(start) >= size:
                    break
        except _BROKEN:
            pass
        body = bytes(start[:size])
    return body[:size]


def content_codings(header: str) -> tuple[str, ...] | None:
    """The codings that a Content-Encoding header names, without "identity"; None when one of them is unknown."""
    named = (name.strip().lower().removeprefix("x-") for name in header.split(","))
    codings = tuple(name for name in named if name not in ("", "identity"))
    return codings if all(name in _DECODERS for name in codings) else None


MAX_CODINGS = 3  # judgement: one is usual, two are met where a proxy compresses again
_STEP = 1 << 16  # bytes of input given to zlib at a time: it copies what it has not used yet
_PIECE = MIB  # bytes of output taken from zlib and brotli at a time
# A zstd block is at least 4 bytes and at most 128 KiB (RFC 8878, section 3.1.1.2): 256 bytes in, 8 MiB out at most.
_ZSTD_STEP = 256
_ZSTD_WINDOW = 8 * MIB  # RFC 9659
# Members of one gzip body, frames of one zstd body; judgement: each costs a copy of the input at hand, or a decoder.
# 2 million empty frames fit into 100 kB of zstd within gzip, and kept us busy for seconds.
MAX_MEMBERS = 1000
# Bytes read and written before the other tasks have a turn: the slowest MiB (many members) takes some 20 ms. What one
# step of a decoder gives comes on top, with zstd 8 MiB (about 5 ms).
SLICE = MIB
_BROKEN = (zlib.error, brotli.error, zstandard.ZstdError, EOFError)


Slices = Generator[int, None, bytes | Reason]
"""Yields how many bytes each slice has read and written; returns the body, or why there is none."""


def _layer(body: bytes, coding: str, limits: Expansion) -> Slices:
    pieces: list[bytes] = []
    size = told = 0
    try:
        for eaten, piece in _DECODERS[coding](body):
            size += len(piece)
            if size > limits.ratio_from and size > limits.ratio * eaten:
                return Reason.BOMB
            if size > limits.size:
                return Reason.TOO_LARGE
            pieces.append(piece)
            if eaten + size - told >= SLICE:
                yield eaten + size - told
                told = eaten + size
    except _BROKEN:
        return Reason.CONTENT_ENCODING
    yield max(0, len(body) + size - told)
    return b"".join(pieces)


Pieces = Iterator[tuple[int, bytes]]
"""How much of the input has been given to the decoder so far, and what came out of it next."""


def _gunzip(data: bytes) -> Pieces:
    return _inflate(data, wbits=31)


def _deflated(data: bytes) -> Pieces:
    """RFC 9110 says zlib; some servers send the bare stream, and browsers take both."""
    wrapped = len(data) > 1 and data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
    return _inflate(data, wbits=15 if wrapped else -15)


def _inflate(data: bytes, *, wbits: int) -> Pieces:
    stream = zlib.decompressobj(wbits)
    members = 1
    for eaten, given in _steps(data, _STEP):
        step = given
        while True:
            if stream.eof:
                members += 1
                if wbits != 31 or not step.startswith(b"\x1f") or members > MAX_MEMBERS:
                    return
                stream = zlib.decompressobj(wbits)
            piece = stream.decompress(step, _PIECE)
            yield eaten, piece
            step = stream.unconsumed_tail or stream.unused_data
            if not step and len(piece) < _PIECE:
                break
    if data and not stream.eof:
        raise EOFError


def _unbrotli(data: bytes) -> Pieces:
    stream = brotli.Decompressor()
    for eaten, given in _steps(data, _STEP):
        step = given
        while not stream.is_finished():
            piece = stream.process(step, output_buffer_limit=_PIECE)
            yield eaten, piece
            step = b""
            # It "can accept more" while it still holds output back (brotli 1.2.1): only silence means done.
            if not piece and stream.can_accept_more_data():
                break
    if data and not stream.is_finished():
        raise EOFError


def _unzstd(data: bytes) -> Pieces:
    decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
    stream = decompressor.decompressobj()
    frames = 1
    for eaten, given in _steps(data, _ZSTD_STEP):
        step = given
        while step:
            if stream.eof:  # one more frame
                frames += 1
                if frames > MAX_MEMBERS:
                    return
                stream = decompressor.decompressobj()
            yield eaten, stream.decompress(step)
            step = stream.unused_data if stream.eof else b""
    if data and not stream.eof:
        raise EOFError


def _steps(data: bytes, size: int) -> Pieces:
    for start in range(0, len(data), size):
        step = data[start : start + size]
        yield start + len(step), step


_DECODERS: dict[str, Callable[[bytes], Pieces]] = {
    "gzip": _gunzip,
    "deflate": _deflated,
    "br": _unbrotli,
    "zstd": _unzstd,
}
