"""The body of an answer: expanded, with a limit on what comes out whatever went in, and what its first bytes say it is."""

import asyncio
import re
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial

import brotli
import msgspec

from bitrawl.files import zstd
from bitrawl.reasons import Reason

MIB = 1 << 20


class Expansion(msgspec.Struct, frozen=True):
    """How far a body may grow; at most one piece more (2 MiB, with zstd 8 MiB) is ever in memory.

    The most compressible HTML that is still a page, 2.7 MB of table rows that differ in a running number only, reaches
    16 (gzip), 44 (br) and 71 (zstd -19); tests/unit/crawling/test_decompress.py holds it. Zeros reach 229 (gzip -1), 1,000
    (gzip -9), 30,000 (zstd) and 600,000 (br).
    """

    size: int
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
    """As `expand`, but other tasks get a turn after each slice: no host waits for another's body."""
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


MAX_CODINGS = 3  # one is usual, two are met where a proxy compresses again
_STEP = 1 << 16  # bytes of input given to zlib at a time: it copies what it has not used yet
_PIECE = MIB  # bytes of output taken from zlib and brotli at a time
# A zstd block is at least 4 bytes and at most 128 KiB (RFC 8878, section 3.1.1.2): 256 bytes in, 8 MiB out at most.
_ZSTD_STEP = 256
_ZSTD_WINDOW: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 23}  # 8 MiB (RFC 9659)
# Members of one gzip body, frames of one zstd body; judgement: each costs a copy of the input at hand, or a decoder.
# 2 million empty frames fit into 100 kB of zstd within gzip, and kept us busy for seconds.
MAX_MEMBERS = 1000
# Bytes read and written before the other tasks have a turn: the slowest MiB (many members) takes some 20 ms. What one
# step of a decoder gives comes on top, with zstd 8 MiB (about 5 ms).
SLICE = MIB
_BROKEN = (zlib.error, brotli.error, zstd.ZstdError, EOFError)


Slices = Generator[int, None, bytes | Reason]
"""Yields how many bytes each slice has read and written; returns the body, or why there is none."""


def _layer(body: bytes, coding: str, limits: Expansion) -> Slices:
    pieces: list[bytes] = []
    size = counted = 0
    try:
        for eaten, piece in _DECODERS[coding](body):
            size += len(piece)
            if size > limits.ratio_from and size > limits.ratio * eaten:
                return Reason.BOMB
            if size > limits.size:
                return Reason.TOO_LARGE
            pieces.append(piece)
            if eaten + size - counted >= SLICE:
                yield eaten + size - counted
                counted = eaten + size
    except _BROKEN:
        return Reason.CONTENT_ENCODING
    yield max(0, len(body) + size - counted)
    return b"".join(pieces)


Pieces = Iterator[tuple[int, bytes]]
"""How much of the input has been given to the decoder so far, and what came out of it next."""


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
    stream = zstd.ZstdDecompressor(options=_ZSTD_WINDOW)
    frames = 1
    for eaten, given in _steps(data, _ZSTD_STEP):
        step = given
        while step:
            if stream.eof:  # one more frame
                frames += 1
                if frames > MAX_MEMBERS:
                    return
                stream = zstd.ZstdDecompressor(options=_ZSTD_WINDOW)
            yield eaten, stream.decompress(step)
            step = stream.unused_data if stream.eof else b""
    if data and not stream.eof:
        raise EOFError


def _steps(data: bytes, size: int) -> Pieces:
    for start in range(0, len(data), size):
        step = data[start : start + size]
        yield start + len(step), step


_DECODERS: dict[str, Callable[[bytes], Pieces]] = {
    "gzip": partial(_inflate, wbits=31),
    "deflate": _deflated,
    "br": _unbrotli,
    "zstd": _unzstd,
}


SNIFFED = 2048
"""Bytes that are looked at; the WHATWG standard reads 1,445, and some pages begin with a long comment."""

HTML, TEXT, XML, JSON = "text/html", "text/plain", "application/xml", "application/json"
GZIP, PDF, SVG, BINARY = "application/gzip", "application/pdf", "image/svg+xml", "application/octet-stream"
ZIP = "application/zip"
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def media_type(head: bytes, content_type: str) -> str:
    """The media type of a body that starts with `head`, under a Content-Type header that may lie or be empty.

    XHTML is "text/html"; sitemaps, feeds and any other XML are "application/xml". After the WHATWG MIME Sniffing
    Standard, which protects a browser's user from active content; we have nothing to protect, and so let markup
    that is plainly HTML win over any header.
    """
    declared = _declared(content_type)
    text = _ascii(head[:SNIFFED])
    if text is None:
        return _magic(head) or BINARY
    return _markup(text) or _magic(head) or _unmarked(text, declared)


# https://mimesniff.spec.whatwg.org/#identifying-a-resource-with-an-unknown-mime-type, and what else is linked to.
_MAGIC = (
    (b"%PDF-", PDF),
    (b"%!PS-Adobe-", "application/postscript"),
    (b"{\\rtf", "application/rtf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"OggS\x00", "application/ogg"),
    (b"ID3\x03", "audio/mpeg"),
    (b"ID3\x04", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"FLV\x01", "video/x-flv"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"\x1f\x8b", GZIP),
    (b"PK\x03\x04", ZIP),
    (b"PK\x05\x06", ZIP),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),  # .doc, .xls, .ppt, .msi
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
    (b"OTTO", "font/otf"),
    (b"\x00\x01\x00\x00\x00", "font/ttf"),
    (b"\x7fELF", "application/x-executable"),
    (b"MZ\x90\x00", "application/x-executable"),
    (b"\x00asm", "application/wasm"),
)
_FIRST_BYTES = frozenset(magic[0] for magic, _ in _MAGIC)
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wave", b"AVI ": "video/avi"}

# A first tag that only HTML has, or that the standard takes for HTML.
_HTML_START = re.compile(
    r"<(?:!doctype\s+html|(?:html|head|body|title|meta|link|base|script|style|iframe|div|span|p|br|a|b|i|h[1-6]|font|"
    r"table|center|ul|ol|img|form|main|section|article|header|nav|noscript|frameset)(?=[\s/>]))",
    re.IGNORECASE,
)
_HTML_INSIDE = re.compile(r"<(?:html|head|body|title|div|p|br|a|h[1-6]|table|meta)(?=[\s/>])", re.IGNORECASE)
# White space, comments, processing instructions and a document type (with or without an internal subset).
_PROLOGUE = re.compile(
    r"(?:\s+|<!--.*?-->|<\?.*?>|<!doctype\s+(?!html)[^\[>]*(?:\[[^\]]*\]\s*)?>)+", re.IGNORECASE | re.DOTALL
)
_ROOT = re.compile(r"<(?:[\w.-]+:)?([\w.-]+)")
_XML_ROOTS = frozenset({"urlset", "sitemapindex", "rss", "feed", "rdf", "opml", "tei", "tmx", "error"})
_JSON_START = re.compile(r'\s*(?:\{\s*"|\[\s*\{\s*")')
_BINARY = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")  # what no text has; 0x1b starts an ISO 2022 shift
_MAX_BINARY = 0.05  # of the characters; judgement: a stray NUL is a fault of the page, one in ten is not a page

_GENERIC = frozenset({"", BINARY, "application/unknown", "unknown/unknown", "application/x-unknown", "*/*", "text"})


def _declared(content_type: str) -> str:
    name = content_type.partition(";")[0].partition(",")[0].strip().lower()
    if name in _GENERIC:
        return ""
    if name == "application/xhtml+xml":
        return HTML
    if name == "text/xml" or name.endswith("+xml"):
        return SVG if name == SVG else XML
    return name


def _ascii(head: bytes) -> str | None:
    """The bytes as characters of which the ASCII ones are right; None where there are no characters at all."""
    if head.startswith(b"\xef\xbb\xbf"):
        return head[3:].decode("latin-1")
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if head.startswith(mark):
            return head[2:].decode(encoding, "replace")
    if head.startswith((b"<\0", b"\0<")):
        return head.decode("utf-16-le" if head[0] else "utf-16-be", "replace")
    text = head.decode("latin-1")
    if _HTML_START.match(text.lstrip()):
        return text
    return text if len(_BINARY.findall(text)) <= _MAX_BINARY * len(text) else None


def _magic(head: bytes) -> str:
    if head[4:8] == b"ftyp":
        return "video/mp4"  # or an image in the same container
    if head.startswith(b"RIFF"):
        return _RIFF.get(head[8:12], "")
    if not head or head[0] not in _FIRST_BYTES:
        return ""
    kind = next((name for magic, name in _MAGIC if head.startswith(magic)), "")
    return _zipped(head) if kind == ZIP else kind


# ODF and EPUB begin with a file that has their type, not compressed: OpenDocument 1.3 part 2, section 3.3; OCF 3.3, section 4.2.
_NAMED_TYPE = re.compile(rb"PK\x03\x04.{26}mimetype(application/[\w.+-]+)", re.DOTALL)


def _zipped(head: bytes) -> str:
    """What a zip file is, as far as its beginning tells."""
    if named := _NAMED_TYPE.match(head):
        return named[1].partition(b"PK")[0].decode()
    return _WORD if b"[Content_Types].xml" in head and b"word/" in head else ZIP


def _markup(text: str) -> str:
    start = text.lstrip()
    if not start.startswith("<"):
        return ""
    if _HTML_START.match(start):
        return HTML
    rest = start[prologue.end() :] if (prologue := _PROLOGUE.match(start)) else start
    if _HTML_START.match(rest):
        return HTML
    root = _ROOT.match(rest)
    name = root[1].lower() if root else ""
    if name in ("html", "svg"):
        return HTML if name == "html" else SVG
    return XML if name in _XML_ROOTS or start.startswith("<?xml") else ""


def _unmarked(text: str, declared: str) -> str:
    if declared in ("", HTML, TEXT) and _JSON_START.match(text):
        return JSON
    if declared:
        return declared
    return HTML if _HTML_INSIDE.search(text) else TEXT
