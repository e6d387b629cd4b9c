"""What a body is, from its first bytes; the Content-Type header is a witness, not the judge."""

import re

SNIFFED = 2048
"""Bytes that are looked at; the WHATWG standard reads 1,445, and some pages begin with a long comment."""

HTML, TEXT, XML, JSON, GZIP, PDF, SVG, BINARY = (
    "text/html",
    "text/plain",
    "application/xml",
    "application/json",
    "application/gzip",
    "application/pdf",
    "image/svg+xml",
    "application/octet-stream",
)


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
_MAGIC: tuple[tuple[bytes, str], ...] = (
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
    (b"PK\x03\x04", "application/zip"),  # .docx, .epub and .jar too
    (b"PK\x05\x06", "application/zip"),
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
    return next((name for magic, name in _MAGIC if head.startswith(magic)), "")


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
