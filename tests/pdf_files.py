"""Small PDF files for tests, written by hand: lines of text at places of a page, links, and what the file says about itself."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Words(NamedTuple):
    """A line of text. `x` and `y` are points from the lower left corner of an A4 page."""

    text: str
    x: float = 72
    y: float = 700
    size: float = 10
    font: str = "F1"  # F1 is plain, F2 bold, F3 Chinese, F4 of a typewriter


def paragraph(lines: Sequence[str], *, x: float = 72, y: float = 700, size: float = 10) -> list[Words]:
    """Lines below each other."""
    return [Words(line, x, y - 1.2 * size * number, size) for number, line in enumerate(lines)]


def pdf(
    pages: Sequence[Sequence[Words]],
    *,
    about: Mapping[str, str] | None = None,
    language: str = "",
    links: Sequence[tuple[str, Words]] = (),
) -> bytes:
    """Links are on the first page, over the words that they are given with."""
    objects: list[bytes] = []

    def add(content: bytes) -> int:
        objects.append(content)
        return len(objects)

    fonts = [
        add(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"),
        add(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>"),
    ]
    descendant = add(
        b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light"
        b" /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 4 >> /DW 1000 >>"
    )
    fonts.append(
        add(
            b"<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H"
            b" /DescendantFonts [%d 0 R] >>" % descendant
        )
    )
    fonts.append(add(b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>"))
    annotations = [add(_link(address, words)) for address, words in links]
    parent = len(objects) + 2 * len(pages) + 1
    kids = []
    for number, words in enumerate(pages):
        stream = b"\n".join(map(_drawn, words))
        content = add(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        named = b" ".join(b"/F%d %d 0 R" % (n, font) for n, font in enumerate(fonts, 1))
        notes = b" ".join(b"%d 0 R" % each for each in annotations) if not number else b""
        kids.append(
            add(
                b"<< /Type /Page /Parent %d 0 R /MediaBox [0 0 595 842] /Contents %d 0 R"
                b" /Resources << /Font << %s >> >> /Annots [%s] >>" % (parent, content, named, notes)
            )
        )
    listed = b" ".join(b"%d 0 R" % kid for kid in kids)
    assert add(b"<< /Type /Pages /Kids [%s] /Count %d >>" % (listed, len(kids))) == parent
    lang = b" /Lang (%s)" % language.encode() if language else b""
    catalog = add(b"<< /Type /Catalog /Pages %d 0 R%s >>" % (parent, lang))
    values = b" ".join(b"/%s %s" % (name.encode(), _text(value)) for name, value in (about or {}).items())
    info = add(b"<< %s >>" % values)
    return _file(objects, catalog, info)


def _text(value: str) -> bytes:
    return b"<FEFF" + value.encode("utf-16-be").hex().encode() + b">"


def _drawn(words: Words) -> bytes:
    encoded = words.text.encode("utf-16-be") if words.font == "F3" else words.text.encode("cp1252")
    return f"BT /{words.font} {words.size} Tf {words.x} {words.y} Td <{encoded.hex()}> Tj ET".encode()


def _link(address: str, words: Words) -> bytes:
    box = (words.x, words.y - 2, words.x + 0.6 * words.size * len(words.text), words.y + words.size)
    place = " ".join(f"{each:.1f}" for each in box)
    return f"<< /Type /Annot /Subtype /Link /Rect [{place}] /A << /S /URI /URI ({address}) >> >>".encode()


def _file(objects: Sequence[bytes], catalog: int, info: int) -> bytes:
    body, places = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    return body + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root %d 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (size, table, size, catalog, info, len(body))
    )
