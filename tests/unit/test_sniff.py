"""What a body is, whatever its header claims."""

import pytest

from bitrawl.bodies import media_type

HTML = b"<!DOCTYPE html>\n<html><head><title>A page</title></head><body><p>Text.</p></body></html>"
XHTML = b'<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x.dtd">\n<html>'
SITEMAP = b'<?xml version="1.0" encoding="UTF-8"?>\n<?xml-stylesheet href="s.xsl"?>\n<!-- made by us -->\n<urlset xmlns:xhtml="http://www.w3.org/1999/xhtml"><url>'
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(100)
PDF = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj<</Type/Catalog>>endobj"
GZIP = b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + bytes(range(256))


@pytest.mark.parametrize(
    ("head", "header", "found"),
    [
        # the header is right
        (HTML, "text/html; charset=utf-8", "text/html"),
        (b"Just some words.", "text/plain", "text/plain"),
        (b"Words, then <b>more</b> words.", "text/html", "text/html"),
        (SITEMAP, "application/xml", "application/xml"),
        (b"body { color: red }", "text/css", "text/css"),
        (b"a,b\n1,2\n", "text/csv", "text/csv"),
        (b"", "text/html", "text/html"),
        # the header lies
        (HTML, "application/octet-stream", "text/html"),
        (HTML, "image/jpeg", "text/html"),
        (HTML, "application/pdf", "text/html"),
        (HTML, "nonsense", "text/html"),
        (b"\xef\xbb\xbf\n\n" + HTML, "text/plain", "text/html"),
        (PDF, "text/html", "application/pdf"),
        (PNG, "text/html; charset=utf-8", "image/png"),
        (b"PK\x03\x04\x14\0\x06\0" + bytes(50), "text/html", "application/zip"),
        (b"RIFF\x10\0\0\0WEBPVP8 " + bytes(50), "text/html", "image/webp"),
        (b"\0\0\0\x18ftypmp42" + bytes(50), "text/html", "video/mp4"),
        (GZIP, "text/xml", "application/gzip"),
        (SITEMAP, "text/html", "application/xml"),
        (b"<urlset><url/></urlset>", "text/html", "application/xml"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'>", "text/html", "image/svg+xml"),
        (b'{"error": "no such page"}', "text/html", "application/json"),
        (bytes(range(256)) * 4, "text/html", "application/octet-stream"),
        # there is no header
        (HTML, "", "text/html"),
        (b"https://example.org/a\nhttps://example.org/b\n", "", "text/plain"),
        (b"Warning: something in line 3 <br />\n<table>", "", "text/html"),
        (b"\x93\xfa\x96\x7b\x8c\xea", "", "text/plain"),  # Shift_JIS
        # XHTML and the like are pages
        (XHTML, "application/xhtml+xml", "text/html"),
        (b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">', "text/xml", "text/html"),
        (b"<!-- a comment first --><html lang=en>", "", "text/html"),
        # feeds are not
        (b'<?xml version="1.0"?><rss version="2.0">', "application/rss+xml", "application/xml"),
        (b"<feed xmlns='http://www.w3.org/2005/Atom'>", "application/atom+xml", "application/xml"),
        # wide and broken text is still text
        (HTML.decode().encode("utf-16"), "text/html", "text/html"),
        (HTML.decode().encode("utf-16-le"), "text/html", "text/html"),
        (HTML.decode().encode("utf-16-be"), "", "text/html"),
        (HTML.replace(b"Text", b"Te\0xt\x07"), "text/html", "text/html"),
        (b"\0\0" + b"Some text. " * 50, "text/plain", "text/plain"),
        (b"\x1b$B$3$s$K$A$O\x1b(B", "text/html; charset=iso-2022-jp", "text/html"),
    ],
)
def test_the_first_bytes_decide(head, header, found):
    assert media_type(head, header) == found
