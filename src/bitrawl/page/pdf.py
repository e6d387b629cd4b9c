"""A PDF as paragraphs: PDFium finds the lines of each page, and what belongs together is decided here.

A PDF knows where letters are and nothing else. Lines become paragraphs by their distance, headings by their size, running
heads by repetition. A paragraph that a page break or a hyphen cuts is made whole again.
"""

import ctypes
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pdfwords
import pypdfium2  # type: ignore[import-untyped]
from msgspec import structs
from pypdfium2 import raw

from bitrawl.model import ParagraphKind
from bitrawl.page.document import DocumentBlock, DocumentText, UnreadableError
from bitrawl.page.outline import normalise
from bitrawl.page.pdf_lines import LEADERS, NUMERALS, SMALLER, Boilerplate, Line, Sheet, read_sheets, unlabelled
from bitrawl.reasons import Reason
from bitrawl.text.words import UNSPACED

MAX_PAGES = 2000  # of one document: the rest is left out
_LARGER = 1.12  # a heading's letters, compared with those of the text
_INDENT = 0.7  # font sizes: less is no indent
_NEAR = 1.6  # font sizes from line to line in a paragraph, at most
_CODE_LINES = 3.5  # the same in code, which has empty lines
_EDGE = 3  # lines that end at the same place, where the text ends
_WIDE = 10  # font sizes: a line of a column has more
_TAIL = 1000  # characters
_SHORT = 4  # letters: a shorter part of a word may stand alone without meaning the same
_LONG_HEADING = 200  # characters
_UNREADABLE = 0.3  # of the characters without a meaning: more is no text
_BULLET = re.compile(r"^(?:[•‣⁃∙◦●○▪▫■□–—*·\uf0b7\uf0a7-]|\(?(?:\d{1,3}|[a-z])[.)])\s+(?=\S)")
_HYPHENATED = re.compile(r"([^\W\d_]+)[-‐\u00ad]$")
_ADDRESS = re.compile(r"(?:(?:://|@|\bwww\.)[^\s()]*[-/.?=&_#;:@%~]|\bhttps?:)$")  # one that goes on in the next line
_WORD = re.compile(r"[^\W\d_]+")
_COMPOUND = re.compile(r"[^\W\d_]+[-‐][^\W\d_]+")
_CHAPTER = re.compile(
    r"^(?:[^\W\d_]+\W{0,2})?(?:\d{1,3}|[IVXLC]{1,7}|[A-Z])\W?[^\W\d_]?$"
)  # "Chapter 3", "3", "第 3 章"
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
    is_note: bool = False
    kind: ParagraphKind = ParagraphKind.TEXT

    @property
    def size(self) -> float:
        return max(self.lines, key=lambda line: len(line.text)).size

    @property
    def is_code(self) -> bool:
        return all(line.is_code for line in self.lines)


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
        title, author = normalise(_about(document, "Title")), normalise(_about(document, "Author"))
        date = _date(_about(document, "ModDate") or _about(document, "CreationDate"))
        count = len(document)
    finally:
        document.close()
    opened: Any = pdfwords.open(body)  # type: ignore[no-untyped-call]
    pages = read_sheets(opened, min(count, MAX_PAGES))
    if pages.broken == pages.read:
        raise UnreadableError(Reason.UNREADABLE, "none of its pages can be read")
    lines = [line for sheet in pages.sheets for line in sheet.lines]
    _check_readable(lines)
    blocks = _paragraphs(pages.sheets, lines)
    cut = {
        f"{count - pages.read:,} pages after the first {pages.read:,}": count - pages.read,
        f"pages that cannot be read: {pages.broken:,}": pages.broken,
        f"lines whose letters have no size: {pages.askew:,}": pages.askew,
    }
    return DocumentText(
        tuple(_titled(blocks, title)),
        tuple(pages.links),
        title,
        author,
        language,
        date,
        "; ".join(text for text, number in cut.items() if number > 0),
    )


def _about(document: pypdfium2.PdfDocument, name: str) -> str:
    try:
        return str(document.get_metadata_value(name))
    except UnicodeDecodeError:  # half a character
        return ""


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
    code = 0
    for line in lines:
        sizes[line.size] += len(line.text)
        code += line.is_code * len(line.text)
    if code * 2 > sizes.total():  # all is typed: no line is code because of its letters
        for line in lines:
            line.is_code = False
    usual = sizes.most_common(1)[0][0]
    boilerplate = Boilerplate(sheets)
    drafts = [draft for sheet in sheets for draft in _of_sheet(sheet, boilerplate, usual)]
    whole = _notes_last(_across_pages(drafts, usual))
    spelled = _Spelling(lines)
    return [paragraph for draft in whole if (paragraph := _block(draft, spelled)) is not None]


def _of_sheet(sheet: Sheet, boilerplate: Boilerplate, usual: float) -> list[_Draft]:
    """The paragraphs of a page, as far as the page alone tells."""
    notes, edges = _notes_start(sheet, usual), _edges(sheet)
    drafts: list[_Draft] = []
    for block in sheet.blocks:
        for part in _parts(block, notes, edges):
            draft = _Draft(part, sheet.number, boilerplate.covers(part, sheet), part[0].top >= notes)
            draft.kind = _kind(draft, usual)
            if drafts and _is_one(drafts[-1], draft, edges):
                drafts[-1].lines += draft.lines
                drafts[-1].kind = draft.kind if drafts[-1].kind is ParagraphKind.HEADING else drafts[-1].kind
            else:
                drafts.append(draft)
    defined = frozenset(round(draft.lines[0].left) for draft in drafts if draft.lines[0].term and _hangs(draft))
    return [split for draft in drafts for split in _without_term(draft, defined)]


def _edges(sheet: Sheet) -> list[int]:
    """Where several lines of a page end that are no single words: full lines, in one of its columns."""
    counts = Counter(round(line.right) for line in sheet.lines if line.right - line.left > _WIDE * line.size)
    return sorted(edge for edge, count in counts.items() if count >= _EDGE)


def _notes_start(sheet: Sheet, usual: float) -> float:
    """The height at which the footnotes of a page begin: a numbered line of small letters, and no text below it."""
    lines = [line for line in sheet.lines if line.size > SMALLER * usual and not NUMERALS.match(line.text.strip())]
    end = max((line.top for line in lines), default=0.0)
    notes = [line for line in sheet.lines if line.label and line.size <= SMALLER * usual and line.top > end]
    last = ""
    for line in notes:
        if last.isdigit() and line.label.isdigit() and int(line.label) != int(last) + 1:
            line.label = ""  # a number in the text of a note
        last = line.label or last
    return min((line.top for line in notes), default=sheet.height)


def _parts(block: list[Line], notes: float, edges: Sequence[int]) -> Iterator[list[Line]]:
    """Paragraphs: a list item, a cell beside another one, other letters and an indented line each begin a new one."""
    part: list[Line] = []
    left, right = min(line.left for line in block), max(line.right for line in block)
    right = max((edge for edge in edges if left < edge <= right + 1), default=right)
    for line in block:
        is_note = line.top >= notes
        if part and (line.label != "" if is_note else _begins(part, line, left, right)):
            yield part
            part = []
        part.append(line)
    if part:
        yield part


def _begins(part: Sequence[Line], line: Line, left: float, right: float) -> bool:
    """Whether a line is the first of another paragraph than the lines before it; full lines go from `left` to `right`."""
    before = part[-1]
    if before.is_code and line.is_code:
        return False
    if _BULLET.match(line.text) and line.left <= part[0].left + 1:
        return True
    is_short = right - before.right > 2 * before.size
    is_beside = (
        abs(before.bottom - line.bottom) < 0.5 * line.size or line.right <= before.left or before.right <= line.left
    )
    is_other_size = abs(line.size - before.size) > 0.08 * before.size
    is_ended = is_short or _SENTENCE_END.search(before.text) is not None
    is_other_weight = is_ended and (
        line.is_bold != all(each.is_bold for each in part) or line.is_code != all(each.is_code for each in part)
    )
    is_apart = line.top - before.bottom > line.size
    is_indented = len(part) == 1 and is_short and left + _INDENT * line.size < line.left <= before.left + 1
    is_other = is_beside or is_other_size or is_other_weight or is_apart or is_indented
    return is_other or LEADERS.search(before.text) is not None or _has_room(part, line, right)


def _has_room(part: Sequence[Line], line: Line, right: float) -> bool:
    """Whether the first word of a line would have had its place in the line before: then a paragraph ends there.

    Lines beside a figure are short too, but equally.
    """
    before = part[-1]
    if NUMERALS.match(before.text.strip()) or before.is_bold or before.is_code or _HYPHENATED.search(before.text):
        return False
    is_usual = any(abs(before.right - each.right) < before.size for each in (*part[-2:-1], line))
    return not is_usual and before.right + _word_width(line) + before.size < right


def _word_width(line: Line) -> float:
    """How wide the first word of a line is, about."""
    text = line.text.strip()
    return (line.right - line.left) * len(text.split(maxsplit=1)[0]) / len(text)


def _is_one(last: _Draft, draft: _Draft, edges: Sequence[int]) -> bool:
    """Whether what PDFium took apart belongs together: lines of code, notes, hanging lines, a chapter's number and its title."""
    end, start = last.lines[-1], draft.lines[0]
    distance = start.bottom - end.bottom
    if last.is_boilerplate or draft.is_boilerplate or distance <= 0 or last.is_note != draft.is_note:
        return False
    if draft.is_note:
        return not start.label
    if end.is_code and last.lines[0].is_code and draft.is_code:
        return distance < _CODE_LINES * start.size
    if last.kind is draft.kind is ParagraphKind.HEADING:
        is_below = (
            abs(end.left - start.left) < end.size or abs(end.left + end.right - start.left - start.right) < end.size
        )
        return is_below and len(last.lines) == 1 and _CHAPTER.match(normalise(end.text)) is not None
    is_near = distance < _NEAR * start.size and abs(start.size - end.size) <= 0.08 * end.size
    return is_near and not draft.is_code and draft.kind is ParagraphKind.TEXT and _is_broken(last, start, edges)


def _is_broken(last: _Draft, start: Line, edges: Sequence[int]) -> bool:
    """Whether a paragraph goes on in the line below it, which may hang."""
    end = last.lines[-1]
    right = min((edge for edge in edges if edge > end.right - 1), default=end.right)
    is_full = end.right + _word_width(start) > right - 1
    is_open = is_full and not (end.is_bold or _SENTENCE_END.search(end.text))
    if start.left - end.left > _INDENT * end.size:
        return len(last.lines) == 1 and (is_open or (is_full and end.term > 0))
    return is_open and not start.is_bold and normalise(start.text)[:1].islower()


def _without_term(draft: _Draft, defined: frozenset[int]) -> Iterator[_Draft]:
    """A bold term before its definition is a paragraph of its own, as in a list of definitions on the web.

    Lines that hang below the term tell so, or others of the page that do so below one at the same place (`defined`).
    """
    first = draft.lines[0]
    if not first.term or draft.is_boilerplate or draft.is_note:
        yield draft
        return
    if not (_hangs(draft) or (len(draft.lines) == 1 and round(first.left) in defined)):
        yield draft
        return
    term, text = first.text[: first.term], first.text[first.term :]
    yield replace(draft, lines=[structs.replace(first, text=term, term=0)])
    yield replace(draft, lines=[structs.replace(first, text=text, is_bold=False, term=0), *draft.lines[1:]])


def _hangs(draft: _Draft) -> bool:
    return len(draft.lines) > 1 and draft.lines[1].left - draft.lines[0].left > _INDENT * draft.lines[0].size


def _notes_last(drafts: Sequence[_Draft]) -> list[_Draft]:
    """Footnotes come after their chapter: where a page ends, and with it the text above them, differs between languages."""
    sizes = Counter(round(draft.size) for draft in drafts if draft.kind is ParagraphKind.HEADING)
    chapter = max((size for size, count in sizes.items() if count > 1), default=0)
    ordered: list[_Draft] = []
    notes: list[_Draft] = []
    for draft in drafts:
        if draft.is_note:
            notes.append(draft)
            continue
        if draft.kind is ParagraphKind.HEADING and round(draft.size) >= chapter:
            ordered += notes
            notes = []
        ordered.append(draft)
    return ordered + notes


def _kind(draft: _Draft, usual: float) -> ParagraphKind:
    text = " ".join(line.text for line in draft.lines)
    if draft.is_boilerplate or draft.is_code:
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
    if last.is_code or draft.is_code:
        return last.is_code and draft.is_code
    if _SENTENCE_END.search(end.text):
        return False
    first = normalise(start.text)[:1]
    if first.islower() or (not first.isupper() and not first.isdigit() and bool(_UNSPACED_START.match(first))):
        return True
    is_full = len(last.lines) > 1 and end.right > max(line.right for line in last.lines) - end.size
    is_indented = len(draft.lines) > 1 and start.left - draft.lines[1].left > _INDENT * start.size
    return is_full and first.isalnum() and not is_indented


class _Spelling:
    """How the words of a document are written within its lines."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._compounds = {word.casefold() for line in lines for word in _COMPOUND.findall(line.text)}
        self._words: set[str] = set()
        before = ""
        for line in lines:
            text = line.text.rstrip()
            start = _WORD.match(text) if _HYPHENATED.search(before) else None
            self._words.update(_WORD.findall(_HYPHENATED.sub("", text[start.end() if start else 0 :])))
            before = text

    def has_hyphen(self, first: str, second: str) -> bool:
        """Whether two parts around the end of a line are a compound, and no word that the line end cuts."""
        if f"{first}-{second}".casefold() in self._compounds:
            return True
        is_word = first + second in self._words or min(len(first), len(second)) < _SHORT
        return not is_word and first in self._words and second in self._words


def _block(draft: _Draft, spelled: _Spelling) -> DocumentBlock | None:
    text = unlabelled(draft.lines[0]) if draft.is_note else draft.lines[0].text
    done: list[str] = []
    for line in draft.lines[1:]:
        text = f"{text} {line.text}" if line.is_code else _joined(text.rstrip(), line.text.lstrip(), spelled)
        if len(text) > _TAIL:  # only the end of what is there decides how the next line is joined
            done.append(text[:-_TAIL])
            text = text[-_TAIL:]
    text = normalise("".join(done) + text)
    if draft.kind is ParagraphKind.LISTITEM:
        text = _BULLET.sub("", text)
    return DocumentBlock(text, draft.kind, draft.is_boilerplate) if text else None


def _joined(text: str, line: str, spelled: _Spelling) -> str:
    """Two lines as one text. A hyphen at the end of a line goes, unless it is one of the word."""
    if _ADDRESS.search(text) and not (text.endswith(".") and line[:1].isupper()):
        return text.removesuffix("/-") + "/" * text.endswith("/-") + line
    cut = _HYPHENATED.search(text)
    if cut is not None and _LOWER_START.match(line) and line[:1].islower():
        second = _WORD.match(line)
        is_compound = second is not None and text[-1] != "\u00ad" and spelled.has_hyphen(cut[1], second[0])
        return text + line if is_compound else text[:-1] + line
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
