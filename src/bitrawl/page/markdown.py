"""A page as Markdown (GitHub's dialect): headings, lists and links, tables as tables, code in fences.

All text is that of the paragraphs, so what no reader sees is not here either. The blocks are made where the page is read,
because they need its tree; `markdown` leaves out those that are boilerplate, which is known only when the site is.
"""

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from bitrawl.model import MarkdownBlock, Page, ParagraphKind
from bitrawl.page.head import Head
from bitrawl.page.links import MAX_LINKS
from bitrawl.page.outline import Outline, TreePosition, normalise, seen_lines
from bitrawl.text.words import one_line

NO_HOST = "localhost"  # that of a page whose address nobody knows
MOST_IN_CELL = 4  # Paragraphs: a table with more in any cell arranges a page, as old sites do.
MOST_COLUMNS = 100  # Of a table that people read. It bounds what a cell may span.
MOST_ROWS = 1000  # That a cell may span.

# Characters that begin or end markup anywhere in a line: CommonMark, and the ~ and | of GitHub's dialect. An underscore
# between letters or digits begins nothing, and names and URLs are full of them.
_ANYWHERE = re.compile(r"[\\`*\[\]<>&~|]|(?<![^\W_])_|_(?![^\W_])")
# What makes a line something other than a paragraph: a heading, a list item, a rule.
_AT_THE_START = re.compile(r"[#+=-]|\d{1,9}(?=[.)](?:\s|$))")
_CODES = {"\\": "%5C", "<": "%3C", ">": "%3E", "|": "%7C"}  # what a URL may have and a link's target may not
_ENTITY = re.compile(r"&(?=#?\w+;)")
_EXCLAMATION = re.compile(r"!\Z")  # before a link, it would make an image of it
_TICKS = re.compile(r"`{3,}")
_NUMBER = re.compile(r"\s*(\d{1,4})")
# Classes that name the language of a program: HTML's own, GitHub's and Sphinx's, SyntaxHighlighter's.
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:lang(?:uage)?-|highlight-(?:source-|text-)?|brush:\s*)([A-Za-z0-9+#.-]{1,30})(?![^\s;])"
)
_NO_LANGUAGE = frozenset("default none text plain plaintext nohighlight notranslate".split())

_PREFIXES = {
    ParagraphKind.TITLE: "# ",
    ParagraphKind.HEADING: "## ",
    ParagraphKind.LISTITEM: "- ",
    ParagraphKind.TEXT: "",
}
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_UNREAD = frozenset("-comment script style template svg math".split())
_LINES = frozenset("div p li tr".split())


def as_markdown(page: Page) -> str:
    """Ends with a newline. Empty if the page has no main text. Markup in its text is escaped."""
    content = [paragraph for paragraph in page.paragraphs if not paragraph.boilerplate and one_line(paragraph.text)]
    if page.markdown:
        parts = page.markdown
        blocks = [part.text for part in parts if any(not p.boilerplate for p in page.paragraphs[part.first : part.end])]
    else:  # it was read without its tree: a text, or a page of a job
        blocks = [_PREFIXES[paragraph.kind] + escaped(paragraph.text) for paragraph in content]
    title = one_line(page.title)
    if title and not any(paragraph.kind is ParagraphKind.TITLE for paragraph in content):
        blocks.insert(0, f"# {escaped(title)}")
    text = ""
    for before, block in zip(["", *blocks], blocks, strict=False):
        in_list = block.startswith("- ") and before.startswith("- ")
        text += ("\n" if in_list else "\n\n" if text else "") + block
    return text + "\n" if text else ""


def escaped(text: str) -> str:
    """One line that Markdown shows unchanged."""
    return _at_the_start(_inline(one_line(text)))


def _inline(text: str) -> str:
    return _ANYWHERE.sub(r"\\\g<0>", text)


def _at_the_start(line: str) -> str:
    start = _AT_THE_START.match(line)
    if not start:
        return line
    at = start.end() if start[0].isdecimal() else 0
    return f"{line[:at]}\\{line[at:]}"


def markdown_blocks(page: Outline, head: Head) -> tuple[MarkdownBlock, ...]:
    """All of a page, of which a detailed outline was made, boilerplate included."""
    return tuple(block for block in _Blocks(page, head) if block.text)


class _Blocks:
    """The blocks of one page. By container: the innermost cell and table and the outermost <pre> that it is in, or -1."""

    def __init__(self, page: Outline, head: Head) -> None:
        self._page = page
        self._head = head
        self._anchors: dict[int, list[TreePosition]] = {}
        for place in page.anchors[:MAX_LINKS]:
            self._anchors.setdefault(place.block, []).append(place)
        self._by_node = {node.mem_id: number for number, node in enumerate(page.containers.nodes)}
        self._cells = self._innermost("td", "th")
        self._tables = self._innermost("table")
        self._codes = self._innermost("pre", outermost=True)  # its text has that of those in it
        self._rows: dict[int, list[LexborNode]] = {}  # by table
        for number, tag in enumerate(page.containers.tags):
            if tag == "tr":
                self._rows.setdefault(self._tables[number], []).append(page.containers.nodes[number])
        self._layouts = self._find_layouts()

    def __iter__(self) -> Iterator[MarkdownBlock]:
        blocks, ends, number = self._page.blocks, self._page.containers.end, 0
        while number < len(blocks):
            container = blocks[number].container
            code, table, text, end = self._codes[container], self._tables[container], "", number + 1
            if code >= 0:
                text, end = self._code(code), ends[code]
            elif table >= 0 and table not in self._layouts and self._cells[container] >= 0:
                text, end = self._table(table), ends[table]
                if not text:
                    self._layouts.add(table)
            end = end if text else number + 1
            yield MarkdownBlock(text or self._paragraph(number), number, end)
            number = end

    def _innermost(self, *tags: str, outermost: bool = False) -> list[int]:
        containers = self._page.containers
        numbers = list[int]()
        for number, (tag, parent) in enumerate(zip(containers.tags, containers.parents, strict=True)):
            above = numbers[parent] if parent >= 0 else -1
            numbers.append(number if tag in tags and (above < 0 or not outermost) else above)
        return [*numbers, -1]  # for the text that no element bounds, whose container is -1

    def _find_layouts(self) -> set[int]:
        """The tables that are not shown as such, because they arrange other things, or hold what a cell cannot."""
        containers, blocks = self._page.containers, self._page.blocks
        layouts = set[int]()
        for tag, parent in zip(containers.tags, containers.parents, strict=True):
            if tag in ("table", "pre", *_HEADINGS):
                layouts.add(self._tables[parent])
        first_cells: dict[int, int] = {}
        for number, block in enumerate(blocks):
            table, cell = self._tables[block.container], self._cells[block.container]
            if cell >= 0:
                first_cells.setdefault(table, number)
                if containers.end[cell] - containers.first[cell] > MOST_IN_CELL:
                    layouts.add(table)
            elif table in first_cells:  # a caption below the rows
                layouts.add(table)
        for table in first_cells:
            role = containers.nodes[table].attributes.get("role") if table >= 0 else ""
            if role in ("presentation", "none") or len(self._rows.get(table, ())) < 2:
                layouts.add(table)
        return layouts

    def _paragraph(self, number: int) -> str:
        block = self._page.blocks[number]
        prefix = _PREFIXES[block.kind]
        if block.kind is ParagraphKind.HEADING:
            prefix = "#" * max(2, self._level(block.container)) + " "
        text = _at_the_start(self._linked(number))
        return prefix + text if text else ""

    def _level(self, container: int) -> int:
        containers = self._page.containers
        while container >= 0 and containers.tags[container] not in _HEADINGS:
            container = containers.parents[container]
        return int(containers.tags[container][1]) if container >= 0 else 2

    def _linked(self, number: int) -> str:
        """The text of a paragraph, with its links. One whose text is not where it should be is left as text."""
        text, anchors = one_line(self._page.blocks[number].text), self._anchors.get(number, ())
        letters = [at for at, letter in enumerate(text) if letter != " "] if anchors else []
        pieces, done = [], 0
        for place in anchors:
            url, name = self._target(place.attributes.get("href") or ""), one_line(normalise(place.node.text()))
            start = letters[place.start] if 0 <= place.start < len(letters) else len(text)
            if not url or not name or start < done:
                continue
            if text.startswith(name, start):
                end = start + len(name)
            elif start + len(name) > len(text) and start < len(text) and name.startswith(text[start:]):
                end = len(text)  # it goes on in the next paragraph
            else:
                continue
            pieces += [_EXCLAMATION.sub(r"\\!", _inline(text[done:start])), f"[{_inline(text[start:end])}]({url})"]
            done = end
        return "".join((*pieces, _inline(text[done:])))

    def _target(self, raw: str) -> str:
        """Where a link leads, as it stands between the brackets of one; empty if that is no page.

        The links of a page without an address, such as a file, stay as they are written.
        """
        url = self._head.resolve(raw)
        if url is None:
            return ""
        target = one_line(raw) if url.host == self._head.base.host == NO_HOST else url
        for mark, code in _CODES.items():
            target = target.replace(mark, code)
        target = _ENTITY.sub("&amp;", target)
        return f"<{target}>" if any(mark in target for mark in "( )") else target

    def _table(self, table: int) -> str:
        """Empty if it has only one column, or very many."""
        rows = list(self._cell_rows(table))
        columns = max(map(len, rows), default=0)
        if not 2 <= columns <= MOST_COLUMNS:
            return ""
        first = [cell.tag for cell in _cells_of(self._rows[table][0])]
        head = rows.pop(0) if set(first) == {"th"} else []
        lines = [[*head, *[""] * (columns - len(head))], ["---"] * columns, *rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def _cell_rows(self, table: int) -> Iterator[list[str]]:
        """A cell that spans others leaves those empty."""
        containers = self._page.containers
        covered: dict[int, int] = {}  # by column: rows that a cell above still covers
        for row in self._rows[table]:
            texts: list[str] = []
            for node in _cells_of(row):
                _skip_covered(texts, covered)
                if len(texts) > MOST_COLUMNS:
                    break
                cell = self._by_node.get(node.mem_id, -1)
                inside = range(containers.first[cell], containers.end[cell]) if cell >= 0 else ()
                width, height = _span(node, "colspan", MOST_COLUMNS), _span(node, "rowspan", MOST_ROWS)
                covered |= dict.fromkeys(range(len(texts), len(texts) + width), height - 1)
                texts += ["<br>".join(map(self._linked, inside)).replace("\\|", "&#124;"), *[""] * (width - 1)]
            _skip_covered(texts, covered)
            yield texts

    def _code(self, container: int) -> str:
        """Its lines as they are; if some of it is not seen, the paragraphs in it."""
        containers, blocks = self._page.containers, self._page.blocks
        node, inside = containers.nodes[container], blocks[containers.first[container] : containers.end[container]]
        lines = seen_lines(_raw(node))
        if _dense("".join(lines)) != _dense("".join(block.text for block in inside)):
            lines = [line for block in inside for line in (block.lines or block.text).splitlines()]
        code = "\n".join(lines).strip("\n")
        fence = "`" * max([3, *(len(ticks) + 1 for ticks in _TICKS.findall(code))])
        return f"{fence}{_language_of(node)}\n{code}\n{fence}" if code else ""


def _skip_covered(texts: list[str], covered: dict[int, int]) -> None:
    while covered.get(len(texts), 0) > 0:
        covered[len(texts)] -= 1
        texts.append("")


def _span(cell: LexborNode, name: str, most: int) -> int:
    number = _NUMBER.match(cell.attributes.get(name) or "")
    return min(max(int(number[1]), 1), most) if number else 1


def _cells_of(row: LexborNode) -> Iterator[LexborNode]:
    node = row.first_child
    while node is not None:
        if node.tag in ("td", "th"):
            yield node
        node = node.next


def _raw(node: LexborNode) -> str:
    """The text below an element with its line ends. An element that bounds a line ends it."""
    parts: list[str] = []
    stack: list[LexborNode | str | None] = [node.first_child]
    while stack:
        inner = stack.pop()
        if isinstance(inner, str):  # the end of a line, unless it has ended
            parts += [inner] if parts and not parts[-1].endswith("\n") else []
            continue
        if inner is None:
            continue
        stack.append(inner.next)
        tag = inner.tag or "-comment"
        if tag == "-text":
            parts.append(inner.text_content or "")
        elif tag == "br":
            parts.append("\n")
        elif tag not in _UNREAD:
            around = ["\n"] if tag in _LINES else []
            stack += [*around, inner.first_child, *around]
    return "".join(parts)


def _dense(text: str) -> str:
    return "".join(normalise(text).split())


def _language_of(node: LexborNode) -> str:
    """By the class of the element, of the code in it, or of the two elements around it."""
    inner = node.first_child
    while inner is not None and inner.tag != "code":
        inner = inner.next
    around = node.parent
    for each in (inner, node, around, around.parent if around is not None else None):
        names = (each.attributes.get("class") or "") if each is not None else ""
        for language in _LANGUAGE.findall(names):
            if language.lower() not in _NO_LANGUAGE:
                return str(language)
    return ""
