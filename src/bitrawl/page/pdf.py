"""A PDF as paragraphs: PDFium finds the lines of each page, and what belongs together is decided here.

A PDF knows where letters are and nothing else. Lines become paragraphs by their distance, headings by their size, running
heads by repetition. A paragraph that a page break or a hyphen cuts is made whole again.
"""

import ctypes
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pdfwords
import pypdfium2  # type: ignore[import-untyped]
from pypdfium2 import raw

from bitrawl.model import ParagraphKind
from bitrawl.page.document import DocumentBlock, DocumentText, UnreadableError
from bitrawl.page.outline import normalise
from bitrawl.page.pdf_boilerplate import LEADERS, Boilerplate
from bitrawl.page.pdf_lines import SMALLER, Line, Sheet, read_sheets
from bitrawl.reasons import Reason
from bitrawl.text.words import UNSPACED

MAX_PAGES = 2000  # of one document: the rest is left out
_LARGER = 1.12  # a heading's letters, compared with those of the text
_LONG_HEADING = 200  # characters
_UNREADABLE = 0.3  # of the characters without a meaning: more is no text
_BULLET = re.compile(r"^(?:[•‣⁃∙◦●○▪▫■□–—*·\uf0b7\uf0a7-]|\(?(?:\d{1,3}|[a-z])[.)])\s+(?=\S)")
_HYPHENATED = re.compile(r"([^\W\d_]+)[-‐\u00ad]$")
_ADDRESS = re.compile(r"(?:://|@|\bwww\.)\S*[-/.?=&_]$")  # one that goes on in the next line
_COMPOUND = re.compile(r"[^\W\d_]+[-‐][^\W\d_]+")
_LOWER_START = re.compile(r"^[^\W\d_A-Z]")
_SENTENCE_END = re.compile(r"[.!?:;。！？：；…؟۔।»”\"')\]]\s*$")
_NO_MEANING = re.compile("[\ufffd\ufffe\uffff\ue000-\uf8ff\x00-\x08\x0e-\x1f]")
_UNSPACED_END, _UNSPACED_START = re.compile(f"[{UNSPACED}\u3000-\u303f\uff00-\uffef]$"), re.compile(f"^[{UNSPACED}]")


@dataclass(slots=True)
class _Draft:
    """A paragraph that may still grow."""

    lines: list[Line]
    page: int
    is_boilerplate: bool = False
    kind: ParagraphKind = ParagraphKind.TEXT

    @property
    def size(self) -> float:
        return max(self.lines, key=lambda line: len(line.text)).size


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
    sheets, links = read_sheets(opened, min(count, MAX_PAGES))
    lines = [line for sheet in sheets for line in sheet.lines]
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


def _check_readable(lines: Sequence[Line]) -> None:
    letters = sum(len(line.text) for line in lines)
    if not letters:
        raise UnreadableError(Reason.NO_TEXT_LAYER, "it has no text")
    if sum(len(_NO_MEANING.findall(line.text)) for line in lines) > _UNREADABLE * letters:
        raise UnreadableError(Reason.NO_TEXT_LAYER, "its fonts do not say which letters they draw")


def _paragraphs(sheets: Sequence[Sheet], lines: Sequence[Line]) -> list[DocumentBlock]:
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    usual = sizes.most_common(1)[0][0]
    boilerplate = Boilerplate(sheets)
    drafts: list[_Draft] = []
    for sheet in sheets:
        for block in sheet.blocks:
            for part in _parts(block):
                draft = _Draft(part, sheet.number, is_boilerplate=boilerplate.covers(part, sheet))
                draft.kind = _kind(draft, usual)
                drafts.append(draft)
    whole = _across_pages(drafts, usual)
    compounds = Counter(word.casefold() for line in lines for word in _COMPOUND.findall(line.text))
    return [paragraph for draft in whole if (paragraph := _block(draft, compounds)) is not None]


def _parts(block: list[Line]) -> Iterator[list[Line]]:
    """Paragraphs: a list item, a cell beside another one, other letters and an indented line each begin a new one."""
    part: list[Line] = []
    right = max(line.right for line in block)
    for line in block:
        if part and _begins(part, line, right):
            yield part
            part = []
        part.append(line)
    if part:
        yield part


def _begins(part: Sequence[Line], line: Line, right: float) -> bool:
    """Whether a line is the first of another paragraph than the lines before it; `right` is where full lines end."""
    before = part[-1]
    if _BULLET.match(line.text) and line.left <= part[0].left + 1:
        return True
    is_beside = min(before.bottom, line.bottom) - max(before.top, line.top) > 0.5 * line.size
    is_other_size = abs(line.size - before.size) > 0.08 * before.size
    is_ended = right - before.right > 2 * before.size or _SENTENCE_END.search(before.text) is not None
    is_other_weight = is_ended and line.is_bold != all(each.is_bold for each in part)
    is_apart = line.top - before.bottom > line.size
    return is_beside or is_other_size or is_other_weight or is_apart or LEADERS.search(before.text) is not None


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
        is_text = not draft.is_boilerplate and draft.size > SMALLER * usual
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
