"""What repeats on the pages of a PDF or only leads to other pages: running heads, page numbers, tables of contents, indexes."""

import re
from collections import Counter
from collections.abc import Sequence

from bitrawl.page.outline import normalise
from bitrawl.page.pdf_lines import NUMERALS, Line, Sheet

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
