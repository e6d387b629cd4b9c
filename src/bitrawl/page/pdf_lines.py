"""The lines of a PDF's pages, and which of them are no text: running heads, page numbers, tables of contents, indexes.

PDFium finds the lines, and what it reads wrong is put right here: marks of footnotes are taken out, accents that were drawn on
their own get their place, and lines that run over the edge of the page are read to their end.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import msgspec

from bitrawl.page.document import DocumentLink
from bitrawl.page.outline import normalise

MAX_LINES = 200_000  # of one document: what follows the page that reaches it is left out
SMALLER = 0.92  # the letters of a footnote, compared with those of the text
NUMERALS = re.compile(r"^[\W\d_]*(?:[ivxlcdm]+[\W\d_]*)?$", re.IGNORECASE)
_FAR = 1e6  # points: 350 meters
_GAP = 1.6  # font sizes between two lines side by side: less is a space, more is another cell
_SUPERSCRIPT, _MONOSPACED, _BOLD = 1, 8, 16
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_LABEL = re.compile(r"\s*([\d⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}(?:[.)]\s)?|[*†‡§]{1,3})\s*(?=[^\W\d_]|[\"'«“„(\[/])")
_WRAPPED = re.compile(r"\s*[←↩↪↵⏎]-?$")  # printed where a line of code was cut
_LETTER = re.compile(r"[^\W\d_]")
_ACCENTS = {"\u0300": "`", "\u0301": "´", "\u0302": "^", "\u0303": "~", "\u0308": "¨"}
_ACCENT = re.compile("[" + "".join(_ACCENTS) + "]")


class Line(msgspec.Struct, gc=False):
    """Words in a row. Coordinates are points from the upper left corner of the page."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    size: float  # of most of its letters
    is_bold: bool = False
    is_code: bool = False  # all of its letters are equally wide
    term: int = 0  # letters at its start that are bold, if those after them are not
    label: str = ""  # the number of the footnote that begins here


class Sheet(NamedTuple):
    """A page of the document."""

    number: int
    width: float
    height: float
    blocks: list[list[Line]]

    @property
    def lines(self) -> list[Line]:
        return [line for block in self.blocks for line in block]


class Sheets(NamedTuple):
    """The pages of a document, as far as they can be read."""

    sheets: list[Sheet]
    links: list[DocumentLink]
    broken: int  # pages that cannot be read
    askew: int  # lines without a place or a size
    read: int  # pages, with the broken ones


def read_sheets(document: Any, pages: int) -> Sheets:
    sheets: list[Sheet] = []
    links: list[DocumentLink] = []
    broken = askew = lines = read = 0
    for number in range(pages):
        read += 1
        try:
            content = document[number].get_text("rawdict", sort="xycut", links=True, clip=False)
        except (RuntimeError, ValueError, ArithmeticError):  # PDFium's, and what its odd numbers make of a calculation
            broken += 1
            continue
        askew += _drop_askew(content)
        sheet = _sheet(number, content)
        sheets.append(sheet)
        links += _links(content)
        lines += sum(map(len, sheet.blocks))
        if lines > MAX_LINES:
            break
    return Sheets(sheets, links, broken, askew, read)


def _drop_askew(content: dict[str, Any]) -> int:
    """Drop lines whose letters have no size, or a negative one: PDFium's words are none there. Return how many."""
    dropped = 0
    for block in content["blocks"]:
        lines = block.get("lines", [])
        block["lines"] = [line for line in lines if _has_place(line)]
        dropped += len(lines) - len(block["lines"])
    return dropped


def _has_place(line: dict[str, Any]) -> bool:
    left, top, right, bottom = line["bbox"]
    sizes = (span["size"] for span in line["spans"])
    return -_FAR < left <= right < _FAR and -_FAR < top < bottom < _FAR and all(0 < size < _FAR for size in sizes)


def _sheet(number: int, content: dict[str, Any]) -> Sheet:
    width, height = content["width"], content["height"]
    sizes: Counter[float] = Counter()
    for span in _spans(content):
        sizes[span["size"]] += len(span["text"])
    usual = sizes.most_common(1)[0][0] if sizes else 0.0
    labels = frozenset(
        filter(None, (_label(line, usual) for block in content["blocks"] for line in block.get("lines", ())))
    )
    here = f"#page={number + 1}"

    def read(line: dict[str, Any]) -> Line | None:
        left, top, right, bottom = line["bbox"]
        if left >= width or top >= height or right <= 0 or bottom <= 0:
            return None
        if _ACCENT.search("".join(span["text"] for span in line["spans"])):
            place_accents(line["spans"])
        label = _label(line, usual) if labels else ""
        return _line(line, [span for span in line["spans"] if not _is_mark(span, labels, here)], label)

    blocks = [_joined_cells(map(read, block.get("lines", ()))) for block in content["blocks"]]
    return Sheet(number, width, height, [block for block in blocks if block])


def _spans(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return (span for block in content["blocks"] for line in block.get("lines", ()) for span in line["spans"])


def unlabelled(line: Line) -> str:
    """The text of the first line of a footnote, without its number."""
    match = _LABEL.match(line.text)
    return line.text[match.end() :] if match and _plain(match[1]) == line.label else line.text


def _plain(label: str) -> str:
    return label.strip(". )").translate(_RAISED)


def _label(line: dict[str, Any], usual: float) -> str:
    """The number or the sign with which a line of small letters begins; empty if there is none."""
    spans = line["spans"]
    if max((span["size"] for span in spans if span["text"].strip()), default=usual) > SMALLER * usual:
        return ""
    match = _LABEL.match("".join(span["text"] for span in spans))
    return _plain(match[1]) if match else ""


def _is_mark(span: dict[str, Any], labels: frozenset[str], here: str) -> bool:
    """Whether a span only points to a footnote: raised, or a link to one of this page."""
    text = span["text"].strip()
    if span["flags"] & _SUPERSCRIPT:
        return bool(text) and NUMERALS.match(text) is not None
    plain = text.translate(_RAISED)
    return plain in labels and (span["url"] == here or plain != text)


def _line(line: dict[str, Any], spans: Sequence[dict[str, Any]], label: str) -> Line | None:
    """None for one without text."""
    text = "".join(span["text"] for span in spans)
    if not text.strip():
        return None
    sizes: Counter[float] = Counter()
    bold = code = 0
    for span in spans:
        letters = len(span["text"])
        sizes[round(span["size"], 1)] += letters
        bold += letters if span["flags"] & _BOLD else 0
        code += letters if span["flags"] & _MONOSPACED else 0
    term = _term(spans) if bold else 0
    is_code = code == len(text)
    if wrapped := code and _WRAPPED.search(text):
        text, is_code = text[: wrapped.start()], code >= wrapped.start()
    left, top, right, bottom = line["bbox"]
    size = sizes.most_common(1)[0][0]
    return Line(text, left, top, right, bottom, size, bold * 2 > len(text), is_code, term, label)


def _term(spans: Sequence[dict[str, Any]]) -> int:
    term = ""
    for span in spans:
        if not span["flags"] & _BOLD and span["text"].strip():
            return len(term) if _LETTER.search(term) else 0
        term += span["text"]
    return 0


def place_accents(spans: Sequence[dict[str, Any]]) -> None:
    """An accent far from the letter that it follows was drawn on its own: it goes where it stands.

    That is over what ends where the accent begins. Over a space, it is a sign of its own, such as a backquote. One of another line is left out.
    """
    chars = [char for span in spans for char in span["chars"]]
    letters = [char for char in chars if char["c"] not in _ACCENTS]
    for before, char in zip([None, *chars], chars, strict=False):
        start = char["bbox"][0]
        if char["c"] not in _ACCENTS or (before and not before["c"].isspace() and abs(before["bbox"][2] - start) < 1):
            continue
        accent, char["c"] = char["c"], ""
        near = start + 0.05 * (char["bbox"][3] - char["bbox"][1])
        under = max(
            (letter for letter in letters if letter["bbox"][2] <= near), key=lambda c: c["bbox"][2], default=None
        )
        if under is None:
            char["c"] = "" if letters else _ACCENTS[accent]
            for first in letters[:1]:
                first["c"] = _ACCENTS[accent] + first["c"]
        elif abs(under["origin"][1] - char["origin"][1]) < 0.5 * (char["bbox"][3] - char["bbox"][1]):
            under["c"] = _ACCENTS[accent] if under["c"].isspace() else under["c"] + accent
    for span in spans:
        span["text"] = "".join(char["c"] for char in span["chars"])


def _joined_cells(lines: Iterator[Line | None]) -> list[Line]:
    """Lines in reading order; those that stand side by side with little between them are one, and so is a row of code."""
    joined: list[Line] = []
    for line in lines:
        if line is None:
            continue
        before = joined[-1] if joined else None
        if before is not None and _continues(before, line):
            space = "" if before.text.endswith(" ") or line.left - before.right < 0.1 * line.size else " "
            before.term = len(before.text) if before.is_bold and not before.term and not line.is_bold else before.term
            before.text += space + line.text
            before.right = max(before.right, line.right)
            before.is_bold, before.is_code = before.is_bold and line.is_bold, before.is_code and line.is_code
        else:
            joined.append(line)
    return joined


def _continues(before: Line, line: Line) -> bool:
    """Whether a line goes on to the right of the one before it, on the same height."""
    overlap = min(before.bottom, line.bottom) - max(before.top, line.top)
    is_level = overlap > 0.5 * min(before.bottom - before.top, line.bottom - line.top)
    gap = line.left - before.right
    return is_level and -0.2 * line.size <= gap and (gap <= _GAP * line.size or (before.is_code and line.is_code))


def _links(content: dict[str, Any]) -> Iterator[DocumentLink]:
    """Each address once per place: the spans under one link follow each other."""
    for address, under in groupby(_spans(content), key=lambda span: str(span.get("url") or "")):
        if address:
            yield DocumentLink(address, normalise("".join(span["text"] for span in under)))


LEADERS = re.compile(r"(?:[.…·]\s?){4,}\s*[\divxlc]*\s*$", re.IGNORECASE)
_DOTS_AND_PAGE = re.compile(r"(?:[.…·]\s?){4,}\s*(?:\d+|[ivxlc]+)\s*$", re.IGNORECASE)
_MARGIN = 0.12  # of a page's height, above and below: where running heads are
_REPEATED = 3  # pages on which a running head must be, at least
_MOST_PAGES = 0.5  # that have a line at the same height, apart from the text: it is a running head, whatever it says
_APART = 0.8  # font sizes between a running head and the text
_ENTRIES = 4  # rows with dots and page numbers that a first page of contents has, at least
_UNDOTTED_ENTRIES = 6  # without dots
_INDEX_ENTRIES, _INDEX_SHARE = 10, 0.6  # lines that end with page numbers, on a page of an index
_INDEX_ENTRY = re.compile(r"[^\W_][^,]*,\s*\d{1,4}(?:\s*[,–-]\s*\d{1,4})*$")
_DIGITS = re.compile(r"\d+")


class Boilerplate:
    """What of one document is no text."""

    def __init__(self, sheets: Sequence[Sheet]) -> None:
        self._heads = _running_heads(sheets)
        outermost = {sheet.number: _outermost(sheet) for sheet in sheets}
        places = _head_places(list(outermost.values()))
        self._at_head = {n: [line for line in lines if _place(line) in places] for n, lines in outermost.items()}
        self._contents: dict[int, tuple[float, float]] = {}
        for sheet in sheets:
            if place := _contents(sheet, is_continued=sheet.number - 1 in self._contents):
                self._contents[sheet.number] = place
        self._indexes = {sheet.number for sheet in sheets if _is_index(sheet)}

    def covers(self, lines: Sequence[Line], sheet: Sheet) -> bool:
        """Whether these lines of a page, which follow each other, are no text."""
        top, bottom = self._contents.get(sheet.number, (0.0, 0.0))
        if sheet.number in self._indexes or all(top <= line.top and line.bottom <= bottom for line in lines):
            return True
        is_head = all(line in self._at_head[sheet.number] for line in lines)
        return is_head or all(self._is_repeated(line, sheet) for line in lines) or _is_of_contents(lines)

    def _is_repeated(self, line: Line, sheet: Sheet) -> bool:
        is_known = _masked(line) in self._heads or NUMERALS.match(line.text.strip()) is not None
        return is_known and _is_at_edge(line, sheet)


def _running_heads(sheets: Sequence[Sheet]) -> frozenset[str]:
    """Lines that stand at the edge of several pages, whatever their numbers."""
    seen: Counter[str] = Counter()
    for sheet in sheets:
        seen.update({_masked(line) for line in sheet.lines if _is_at_edge(line, sheet)})
    return frozenset(text for text, count in seen.items() if count >= _REPEATED)


def _head_places(outermost: Sequence[list[Line]]) -> frozenset[int]:
    """The heights at which most pages have a line at their edge, apart from the text: titles of chapters and sections."""
    seen = Counter(place for lines in outermost for place in {_place(line) for line in lines})
    least = max(_REPEATED, _MOST_PAGES * len(outermost))
    places = {place for place in seen if sum(seen[place + by] for by in (-1, 0, 1)) >= least}
    return frozenset(place + by for place in places for by in (-1, 0, 1))


def _place(line: Line) -> int:
    return round(line.bottom)


def _outermost(sheet: Sheet) -> list[Line]:
    """The first and the last row of a page, where they stand at its edge and apart from the others."""
    lines = sorted(sheet.lines, key=lambda line: line.top)
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


def _masked(line: Line) -> str:
    return _DIGITS.sub("0", normalise(line.text))


def _is_at_edge(line: Line, sheet: Sheet) -> bool:
    return line.bottom < _MARGIN * sheet.height or line.top > (1 - _MARGIN) * sheet.height


def _is_of_contents(lines: Sequence[Line]) -> bool:
    """Lines with dots that lead to a page number; the number may stand alone."""
    others = [line for line in lines if not LEADERS.search(line.text)]
    return len(others) < len(lines) and all(NUMERALS.match(line.text.strip()) for line in others)


def _contents(sheet: Sheet, *, is_continued: bool) -> tuple[float, float] | None:
    """From where to where a page has entries of a table of contents, if it has.

    Dots lead to a page number in some of them, or the numbers of all stand below each other and grow.
    """
    rows = _rows(sheet)
    dotted = [row for row in rows if _DOTS_AND_PAGE.search(" ".join(line.text for line in row))]
    if len(dotted) < (1 if is_continued else _ENTRIES):
        dotted = []
    edge = max((row[-1].right for row in dotted or rows), default=0.0)
    kept = {id(row) for row in dotted}
    entries = [row for row in rows if id(row) in kept or (len(row) > 1 and _ends_with_page(row[-1], edge))]
    if not dotted and not _grow([row[-1].text.strip() for row in entries]):
        return None
    return min(line.top for line in entries[0]), max(line.bottom for line in entries[-1])


def _grow(numbers: Sequence[str]) -> bool:
    """Whether these may be the pages of a table of contents."""
    pages = [int(number) for number in numbers if number.isdigit()]
    return len(pages) == len(numbers) >= _UNDOTTED_ENTRIES and pages == sorted(pages) and pages[0] < pages[-1]


def _rows(sheet: Sheet) -> list[list[Line]]:
    """Lines on the same height, from left to right."""
    rows: list[list[Line]] = []
    for line in sorted(sheet.lines, key=lambda line: (round(line.bottom), line.left)):
        if rows and abs(rows[-1][-1].bottom - line.bottom) < 0.3 * line.size:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda line: line.left) for row in rows]


def _ends_with_page(line: Line, edge: float) -> bool:
    return NUMERALS.match(line.text.strip()) is not None and abs(line.right - edge) < line.size


def _is_index(sheet: Sheet) -> bool:
    """Whether most lines of a page are words with the pages on which they stand."""
    lines = sheet.lines
    entries = sum(_INDEX_ENTRY.search(line.text.strip()) is not None for line in lines)
    return entries >= max(_INDEX_ENTRIES, _INDEX_SHARE * len(lines))
