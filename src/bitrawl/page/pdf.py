"""A PDF as paragraphs: PDFium finds the lines of each page, and what belongs together is decided here.

A PDF knows where letters are and nothing else. Lines become paragraphs by their distance, headings by their size, running
heads by repetition. A paragraph that a page break or a hyphen cuts is made whole again.
"""

import ctypes
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import msgspec
import pdfwords
import pypdfium2  # type: ignore[import-untyped]
from pypdfium2 import raw

from bitrawl.model import ParagraphKind
from bitrawl.page.document import DocumentBlock, DocumentLink, DocumentText, UnreadableError
from bitrawl.page.outline import normalise
from bitrawl.reasons import Reason
from bitrawl.text.words import UNSPACED

MAX_PAGES = 2000  # of one document: the rest is left out
MAX_LINES = 200_000  # of one document: what follows the page that reaches it is left out
_MARGIN = 0.12  # of a page's height, above and below: where running heads are
_REPEATED = 3  # pages on which a running head must be, at least
_MOST_PAGES = 0.5  # that have a line at the same height, apart from the text: it is a running head, whatever it says
_GAP = 1.6  # font sizes between two lines side by side: less is a space, more is another cell
_APART = 0.8  # font sizes between a running head and the text
_LARGER = 1.12  # a heading's letters, compared with those of the text
_SMALLER = 0.92  # a footnote's
_LONG_HEADING = 200  # characters
_UNREADABLE = 0.3  # of the characters without a meaning: more is no text
_BULLET = re.compile(r"^(?:[•‣⁃∙◦●○▪▫■□–—*·\uf0b7\uf0a7-]|\(?(?:\d{1,3}|[a-z])[.)])\s+(?=\S)")
_LEADERS = re.compile(r"(?:[.…·]\s?){4,}\s*[\divxlc]*\s*$", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")
_NUMERALS = re.compile(r"^[\W\d_]*(?:[ivxlcdm]+[\W\d_]*)?$", re.IGNORECASE)
_HYPHENATED = re.compile(r"([^\W\d_]+)[-‐\u00ad]$")
_ADDRESS = re.compile(r"(?:://|@|\bwww\.)\S*[-/.?=&_]$")  # one that goes on in the next line
_COMPOUND = re.compile(r"[^\W\d_]+[-‐][^\W\d_]+")
_LOWER_START = re.compile(r"^[^\W\d_A-Z]")
_SENTENCE_END = re.compile(r"[.!?:;。！？：；…؟۔।»”\"')\]]\s*$")
_NO_MEANING = re.compile("[\ufffd\ufffe\uffff\ue000-\uf8ff\x00-\x08\x0e-\x1f]")
_UNSPACED_END, _UNSPACED_START = re.compile(f"[{UNSPACED}\u3000-\u303f\uff00-\uffef]$"), re.compile(f"^[{UNSPACED}]")


class _Line(msgspec.Struct, gc=False):
    """Words in a row. Coordinates are points from the upper left corner of the page."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    size: float  # of most of its letters
    is_bold: bool


@dataclass(slots=True)
class _Draft:
    """A paragraph that may still grow."""

    lines: list[_Line]
    page: int
    is_boilerplate: bool = False
    kind: ParagraphKind = ParagraphKind.TEXT

    @property
    def size(self) -> float:
        return max(self.lines, key=lambda line: len(line.text)).size


class _SheetOfPaper(NamedTuple):
    """A page of the document."""

    number: int
    width: float
    height: float
    blocks: list[list[_Line]]


def read_pdf(body: bytes) -> DocumentText:
    """Raises `UnreadableError` for a file that is damaged, encrypted, or has no text."""
    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        is_locked = "password" in str(error).lower() or getattr(error, "err_code", None) == raw.FPDF_ERR_PASSWORD
        detail = "it is protected by a password" if is_locked else "it is damaged"
        raise UnreadableError(Reason.UNREADABLE, detail) from error
    try:
        language = _language(document)
        about = document.get_metadata_dict(skip_empty=True)
        count = len(document)
    finally:
        document.close()
    opened: Any = pdfwords.open(body)  # type: ignore[no-untyped-call]
    sheets, links = _read(opened, min(count, MAX_PAGES))
    lines = [line for sheet in sheets for block in sheet.blocks for line in block]
    _check_readable(lines)
    blocks = _paragraphs(sheets, lines)
    title = normalise(about.get("Title", ""))
    return DocumentText(
        tuple(_titled(blocks, title)),
        tuple(links),
        title,
        normalise(about.get("Author", "")),
        language,
        _date(about.get("ModDate") or about.get("CreationDate") or ""),
        f"{count - len(sheets):,} pages after the first {len(sheets):,}" if count > len(sheets) else "",
    )


def _language(document: pypdfium2.PdfDocument) -> str:
    """That the document says it is in, such as "en-US"; empty if it says nothing."""
    length = raw.FPDFCatalog_GetLanguage(document, None, 0)
    if not 2 < length < 100:
        return ""
    buffer = ctypes.create_string_buffer(length)
    raw.FPDFCatalog_GetLanguage(document, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), length)
    return buffer.raw.decode("utf-16-le", "replace").rstrip("\0")


def _date(text: str) -> str:
    """From "D:20240131…" to 2024-01-31; empty if it is nothing of the kind."""
    match = re.match(r"D:(\d{4})(\d{2})(\d{2})", text)
    return "-".join(match.groups()) if match else ""


def _read(document: Any, pages: int) -> tuple[list[_SheetOfPaper], list[DocumentLink]]:
    sheets: list[_SheetOfPaper] = []
    links: list[DocumentLink] = []
    lines = 0
    for number in range(pages):
        page = document[number]
        content = page.get_text("dict", sort="xycut", links=True)
        blocks = [_lines(block) for block in content["blocks"] if block.get("lines")]
        links += _links(content)
        lines += sum(map(len, blocks))
        sheets.append(_SheetOfPaper(number, content["width"], content["height"], [b for b in blocks if b]))
        if lines > MAX_LINES:
            break
    return sheets, links


def _lines(block: dict[str, Any]) -> list[_Line]:
    """The lines of a block in reading order; those that stand side by side with little between them are one."""
    lines: list[_Line] = []
    for each in block["lines"]:
        line = _line(each)
        if line is None:
            continue
        before = lines[-1] if lines else None
        if before is not None and _continues(before, line):
            space = "" if before.text.endswith(" ") or line.left - before.right < 0.1 * line.size else " "
            before.text += space + line.text
            before.right = max(before.right, line.right)
        else:
            lines.append(line)
    return lines


_SUPERSCRIPT, _BOLD = 1, 16


def _line(line: dict[str, Any]) -> _Line | None:
    """None for one without text. The marks of footnotes are left out."""
    spans = [s for s in line["spans"] if not (s["flags"] & _SUPERSCRIPT and _NUMERALS.match(s["text"].strip()))]
    text = "".join(span["text"] for span in spans)
    if not text.strip():
        return None
    sizes: Counter[float] = Counter()
    bold = 0
    for span in spans:
        sizes[round(span["size"], 1)] += len(span["text"])
        bold += len(span["text"]) if span["flags"] & _BOLD else 0
    left, top, right, bottom = line["bbox"]
    return _Line(text, left, top, right, bottom, sizes.most_common(1)[0][0], bold * 2 > len(text))


def _continues(before: _Line, line: _Line) -> bool:
    """Whether a line goes on to the right of the one before it, on the same height."""
    overlap = min(before.bottom, line.bottom) - max(before.top, line.top)
    is_level = overlap > 0.5 * min(before.bottom - before.top, line.bottom - line.top)
    return is_level and -0.2 * line.size <= line.left - before.right <= _GAP * line.size


def _links(content: dict[str, Any]) -> Iterator[DocumentLink]:
    """Each address once per place: the spans under one link follow each other."""
    spans = (span for block in content["blocks"] for line in block.get("lines", ()) for span in line["spans"])
    for address, under in groupby(spans, key=lambda span: str(span.get("url") or "")):
        if address:
            yield DocumentLink(address, normalise("".join(span["text"] for span in under)))


def _check_readable(lines: Sequence[_Line]) -> None:
    letters = sum(len(line.text) for line in lines)
    if not letters:
        raise UnreadableError(Reason.NO_TEXT_LAYER, "it has no text")
    if sum(len(_NO_MEANING.findall(line.text)) for line in lines) > _UNREADABLE * letters:
        raise UnreadableError(Reason.NO_TEXT_LAYER, "its fonts do not say which letters they draw")


def _paragraphs(sheets: Sequence[_SheetOfPaper], lines: Sequence[_Line]) -> list[DocumentBlock]:
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    usual = sizes.most_common(1)[0][0]
    heads, places = _running_heads(sheets), _head_places(sheets)
    drafts: list[_Draft] = []
    for sheet in sheets:
        at_head = [line for line in _outermost(sheet) if _place(line) in places] if places else []
        for block in sheet.blocks:
            for part in _parts(block):
                is_head = all(line in at_head for line in part)
                draft = _Draft(part, sheet.number, is_boilerplate=is_head or _is_margin(part, sheet, heads))
                draft.kind = _kind(draft, usual)
                drafts.append(draft)
    whole = _across_pages(drafts, usual)
    compounds = Counter(word.casefold() for line in lines for word in _COMPOUND.findall(line.text))
    return [paragraph for draft in whole if (paragraph := _block(draft, compounds)) is not None]


def _running_heads(sheets: Sequence[_SheetOfPaper]) -> frozenset[str]:
    """Lines that stand at the edge of several pages, whatever their numbers."""
    seen: Counter[str] = Counter()
    for sheet in sheets:
        edges = {_masked(line) for block in sheet.blocks for line in block if _is_at_edge(line, sheet)}
        seen.update(edges)
    return frozenset(text for text, count in seen.items() if count >= _REPEATED)


def _head_places(sheets: Sequence[_SheetOfPaper]) -> frozenset[int]:
    """The heights at which most pages have a line at their edge, apart from the text: titles of chapters and sections."""
    seen = Counter(place for sheet in sheets for place in {_place(line) for line in _outermost(sheet)})
    least = max(_REPEATED, _MOST_PAGES * len(sheets))
    places = {place for place in seen if sum(seen[place + by] for by in (-1, 0, 1)) >= least}
    return frozenset(place + by for place in places for by in (-1, 0, 1))


def _place(line: _Line) -> int:
    return round(line.bottom)


def _outermost(sheet: _SheetOfPaper) -> list[_Line]:
    """The first and the last row of a page, where they stand at its edge and apart from the others."""
    lines = sorted((line for block in sheet.blocks for line in block), key=lambda line: line.top)
    if not lines:
        return []
    first = [line for line in lines if line.top < lines[0].bottom]
    lowest = max(lines, key=lambda line: line.bottom)
    last = [line for line in lines if line.bottom > lowest.top]
    below = min((line.top for line in lines if line not in first), default=0.0)
    above = max((line.bottom for line in lines if line not in last), default=sheet.height)
    rows = []
    if below - max(line.bottom for line in first) > _APART * lines[0].size:
        rows += first
    if min(line.top for line in last) - above > _APART * lowest.size:
        rows += last
    return [line for line in rows if _is_at_edge(line, sheet)]


def _masked(line: _Line) -> str:
    return _DIGITS.sub("0", normalise(line.text))


def _is_at_edge(line: _Line, sheet: _SheetOfPaper) -> bool:
    return line.bottom < _MARGIN * sheet.height or line.top > (1 - _MARGIN) * sheet.height


def _is_margin(lines: Sequence[_Line], sheet: _SheetOfPaper, heads: frozenset[str]) -> bool:
    return all(
        _is_at_edge(line, sheet) and (_masked(line) in heads or _NUMERALS.match(line.text.strip()) is not None)
        for line in lines
    ) or _is_of_contents(lines)


def _is_of_contents(lines: Sequence[_Line]) -> bool:
    """Lines with dots that lead to a page number; the number may stand alone."""
    others = [line for line in lines if not _LEADERS.search(line.text)]
    return len(others) < len(lines) and all(_NUMERALS.match(line.text.strip()) for line in others)


def _parts(block: list[_Line]) -> Iterator[list[_Line]]:
    """Paragraphs: a list item, a cell beside another one, other letters and an indented line each begin a new one."""
    part: list[_Line] = []
    right = max(line.right for line in block)
    for line in block:
        if part and _begins(part, line, right):
            yield part
            part = []
        part.append(line)
    if part:
        yield part


def _begins(part: Sequence[_Line], line: _Line, right: float) -> bool:
    """Whether a line is the first of another paragraph than the lines before it; `right` is where full lines end."""
    before = part[-1]
    if _BULLET.match(line.text) and line.left <= part[0].left + 1:
        return True
    is_beside = min(before.bottom, line.bottom) - max(before.top, line.top) > 0.5 * line.size
    is_other_size = abs(line.size - before.size) > 0.08 * before.size
    is_ended = right - before.right > 2 * before.size or _SENTENCE_END.search(before.text) is not None
    is_other_weight = is_ended and line.is_bold != all(each.is_bold for each in part)
    is_apart = line.top - before.bottom > line.size
    return is_beside or is_other_size or is_other_weight or is_apart or _LEADERS.search(before.text) is not None


def _kind(draft: _Draft, usual: float) -> ParagraphKind:
    text = " ".join(line.text for line in draft.lines)
    if draft.is_boilerplate:
        return ParagraphKind.TEXT
    is_large = draft.size >= _LARGER * usual
    is_bold_line = all(line.is_bold for line in draft.lines) and not _SENTENCE_END.search(text)
    if (is_large or (is_bold_line and draft.size >= usual)) and len(text) <= _LONG_HEADING:
        return ParagraphKind.HEADING
    return ParagraphKind.LISTITEM if _BULLET.match(text) else ParagraphKind.TEXT


def _across_pages(drafts: Sequence[_Draft], usual: float) -> list[_Draft]:
    """A paragraph that goes on after a page break, or in the next column, is one."""
    whole: list[_Draft] = []
    last: _Draft | None = None  # of the text, without what stands between it and the next page
    for draft in drafts:
        is_text = not draft.is_boilerplate and draft.size > _SMALLER * usual
        if last is not None and is_text and _goes_on(last, draft):
            last.lines += draft.lines
            last.page = draft.page
            continue
        whole.append(draft)
        last = draft if is_text else last
    return whole


def _goes_on(last: _Draft, draft: _Draft) -> bool:
    end, start = last.lines[-1], draft.lines[0]
    is_broken = draft.page == last.page + 1 or (draft.page == last.page and start.top < end.top - end.size)
    is_same = draft.kind is ParagraphKind.TEXT and abs(end.size - start.size) <= 0.08 * end.size
    if not is_broken or not is_same or last.kind is ParagraphKind.HEADING or end.is_bold != start.is_bold:
        return False
    if _SENTENCE_END.search(end.text):
        return False
    first = normalise(start.text)[:1]
    return first.islower() or (not first.isupper() and not first.isdigit() and bool(_UNSPACED_START.match(first)))


def _block(draft: _Draft, compounds: Counter[str]) -> DocumentBlock | None:
    text = draft.lines[0].text
    for line in draft.lines[1:]:
        text = _joined(text.rstrip(), line.text.lstrip(), compounds)
    text = normalise(text)
    if draft.kind is ParagraphKind.LISTITEM:
        text = _BULLET.sub("", text)
    return DocumentBlock(text, draft.kind, draft.is_boilerplate) if text else None


def _joined(text: str, line: str, compounds: Counter[str]) -> str:
    """Two lines as one text. A hyphen at the end of a line goes, unless the document has that word with one elsewhere."""
    if _ADDRESS.search(text):
        return text.removesuffix("/-") + "/" * text.endswith("/-") + line
    cut = _HYPHENATED.search(text)
    if cut is not None and _LOWER_START.match(line) and line[:1].islower():
        second = re.match(r"[^\W\d_]+", line)
        compound = f"{cut[1]}-{second[0]}".casefold() if second else ""
        return text + line if compounds[compound] and text[-1] != "\u00ad" else text[:-1] + line
    if text[-1:] in "-‐/" and not text.endswith((" -", "--")):
        return text + line
    return text + ("" if _UNSPACED_END.search(text) and _UNSPACED_START.match(line) else " ") + line


def _titled(blocks: Sequence[DocumentBlock], title: str) -> Iterator[DocumentBlock]:
    """The first heading that is in the document's title, or the title in it, is the title."""
    wanted, is_missing = title.casefold(), bool(title)
    for block in blocks:
        text = block.text.casefold()
        if is_missing and block.kind is ParagraphKind.HEADING and (text in wanted or wanted in text):
            is_missing = False
            yield block._replace(kind=ParagraphKind.TITLE)
        else:
            yield block
