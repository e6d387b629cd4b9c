"""The outline of a page: one walk over its tree finds the tag sequence, the paragraphs, and the anchors and images."""

import re
import unicodedata
from dataclasses import dataclass, field

import msgspec
from selectolax.lexbor import LexborHTMLParser, LexborNode

from bitrawl.model import UNDETERMINED, ParagraphKind
from bitrawl.page.unseen import unseen
from bitrawl.text.sentences import LINE_END, sentences

MAX_TAGS = 20_000  # Later positions are -1. The longest of 99 news pages had 12,308.
ENDLESS = 500  # Characters without the end of a sentence: the shortest usual bound of a segment.
TEXT = "#text"
"""Marks the beginning of a paragraph in the tag sequence, as in Liu et al., section 4."""


class Block(msgspec.Struct, gc=False):
    """A paragraph of visible text, and what the walk found in it."""

    text: str
    kind: ParagraphKind
    position: int  # of its TEXT in the tag sequence; -1 beyond MAX_TAGS
    container: int  # index into `Containers`: the innermost element that bounds it
    links: int = 0
    link_chars: int = 0
    marked_chars: int = 0  # in b, strong, i, em, ... outside links
    lines: str = ""  # the text with its line ends, if they are needed


class TreePosition(msgspec.Struct, gc=False):
    """Where an anchor is."""

    node: LexborNode
    attributes: dict[str, str | None]
    position: int  # in the tag sequence; -1 beyond MAX_TAGS
    block: int = -1  # that it is in, or -1
    start: int = -1  # how many letters of that block come before it; only of a detailed outline


@dataclass(slots=True)
class Containers:
    """The elements with text that bound paragraphs, in document order, as columns."""

    tags: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)  # always a smaller index; -1 for the root
    words: list[str] = field(default_factory=list)  # class, id, role and itemprop as written
    first: list[int] = field(default_factory=list)  # blocks[first:end] are inside
    end: list[int] = field(default_factory=list)
    nodes: list[LexborNode] = field(default_factory=list)  # only of a detailed outline


@dataclass(slots=True)
class Outline:
    """The structure of a page, in document order."""

    title: str = ""  # of the document's head
    tags: list[str] = field(default_factory=list)
    """Start tags of elements that bound paragraphs, of links and of images, and TEXT.

    Spans and type styles are left out, because they follow the wording of a language and not the structure of the page.
    """
    blocks: list[Block] = field(default_factory=list)
    containers: Containers = field(default_factory=Containers)
    anchors: list[TreePosition] = field(default_factory=list)
    """a[href] and area[href], including hidden ones."""
    images: list[tuple[LexborNode, int]] = field(default_factory=list)
    """img, including hidden ones: node, position in the tag sequence."""


def outline(tree: LexborHTMLParser, *, detailed: bool = False, drawn: bool = False) -> Outline:
    """Time and memory are linear in the number of nodes, however deep they nest. `detailed`: also what Markdown needs.

    `drawn` by a browser, which has told what it computed.
    """
    hidden, walk = unseen(tree, drawn=drawn), _DetailedWalk if detailed else _Walk
    page = _walked(tree, hidden.certain | hidden.doubtful, walk)
    if hidden.doubtful and hidden.doubtful_characters > sum(len(block.text) for block in page.blocks):
        page = _walked(tree, hidden.certain, walk)
    title = page.title.casefold()
    for block in page.blocks:  # The first heading that repeats the document's title becomes the page's title.
        if block.kind is ParagraphKind.HEADING and title and block.text.casefold() in title:
            block.kind = ParagraphKind.TITLE
            break
    return page


def _walked(tree: LexborHTMLParser, hidden: frozenset[int], walk: type["_Walk"]) -> Outline:
    node = tree.head.first_child if tree.head is not None else None
    while node is not None and node.tag != "title":
        node = node.next
    page = Outline(title=normalise(node.text()) if node is not None else "")
    if tree.root is not None:
        walk(page, tree.root).run(tree.root, hidden)
        _cap(page)
    return page


def normalise(text: str) -> str:
    """Single spaces, no characters that cannot be seen, NFC.

    Such characters stay where a script needs them, one at a time: joiners between Persian and Indic letters and in emoji,
    marks of direction in a text with right-to-left letters, the tags of a flag, and the zero-width space that separates
    words in Thai, Khmer, Lao and Burmese.
    """
    if not text:
        return ""
    is_printable = text.isprintable()
    if not is_printable or "  " in text or text.strip() != text:
        text = " ".join(text.split())
        is_printable = is_printable or text.isprintable()
    if is_printable and text.isascii():
        return text
    if not is_printable:  # accepts only U+0020 as a space, and no character of the categories Cc, Cf, Zl and Zp
        marks = r"\1" if _RIGHT_TO_LEFT.search(text) else ""
        text = " ".join(_MARKS.sub(marks, _JUNK.sub("", text)).split())
    # Only a string with a character beyond U+FFFF takes four bytes for each. The search is slow, and most texts have none.
    if "\u3164" in text or "\uffa0" in text or text.__sizeof__() > 4 * len(text):
        text = " ".join(_UNSEEN_LETTERS.sub("", text).split())
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def seen_lines(raw: str) -> list[str]:
    """The lines of a text in which spaces count, without characters that cannot be seen."""
    return [_UNSEEN_LETTERS.sub("", _JUNK.sub("", line)).replace("\x1f", " ").rstrip() for line in raw.splitlines()]


LINE_ENDS = "\n\r" + LINE_END
"""Where lines are kept as they are: in <pre>, and in plain text."""


def in_lines(raw: str, text: str, ends: str = LINE_ENDS) -> str:
    """The normalised text of a paragraph with its line breaks, if it has hardly any ends of sentences; else nothing.

    So a long list, a poem or a table that is only broken into lines can be split there, if it has to be. Elsewhere, a
    line break says nothing about the text.
    """
    if len(text) <= ENDLESS or not any(end in raw.strip() for end in ends):
        return ""
    if max(map(len, sentences(text, UNDETERMINED))) <= ENDLESS:
        return ""
    return LINE_END.join(filter(None, map(normalise, re.split(f"[{ends}]", raw))))


_SEA = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\ua9e0-\ua9ff\uaa60-\uaa7f"
_JUNK = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u202a-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a]"
    # A joiner belongs after a letter of a script that joins, or after a sign.
    "|(?<![\u0600-\u1cff\u2190-\u2bff\u3030\u303d\ua800-\uabff\ufb50-\ufdff\ufe0f\ufe70-\ufefc\U00010000-\U0001ffff])[\u200c\u200d]"
    f"|(?<![{_SEA}\u200b])\u200b+|\u200b+(?![{_SEA}\u200b])|\u200b(?=\u200b)"
    "|(?<![\u1820-\u18aa])\u180e"
    # Tags spell the region of a black flag, such as gbsct, and nothing else.
    "|(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0000-\U000e007f]+"
    "|(?<=\U0001f3f4)(?![\U000e0030-\U000e007a]{3,6}\U000e007f)[\U000e0000-\U000e007f]+"
)
_MARKS = re.compile("([\u061c\u200e\u200f])[\u061c\u200e\u200f]*")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
# Letters and marks, by their category, that nobody sees: blanks of Hangul, more than one selector of a variant, and selectors
# of variants of ideographs after another character.
_UNSEEN_LETTERS = re.compile(
    "[\u3164\uffa0]|(?<![\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef]+|(?<=[\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0f\U000e0100-\U000e01ef]+"
)


# What a note is called by where the text refers to it, and where it leads back: 1, [12], (a), iv, *, ↩; several of them; after
# a few words for people who cannot see it ("Footnote 1").
_SIGN = r"[\[(]?\s*(?:\d{1,3}|[a-z]|[ivx]{2,5}|[*†‡§¶^↑↩⏎⁎]{1,3}[\ufe0e\ufe0f]?)\s*[\])]?\.?"
_NEXT_SIGN = rf"(?:[\s,]+|(?<=[\])])(?=[\[(])){_SIGN}"
_NOTE_MARK = re.compile(rf"\s*(?:[^\W\d_]+\s+){{0,6}}{_SIGN}(?:{_NEXT_SIGN})*\s*", re.IGNORECASE)
_BARE_MARK = re.compile(r"\s*(?:\[\s*\w{1,3}\s*\]|\(\s*\w{1,3}\s*\)|\d{1,3}|[*†‡§¶⁎]{1,3})\s*")
_ARROW = re.compile(r"\s*[\[(]?[^↑↩⏎]?[\^↑↩⏎]+[\ufe0e\ufe0f]?[\])]?\s*")
_LONGEST_MARK = 40
_NOTE_ROLES = ("doc-noteref", "doc-backlink", "noteref", "backlink")  # of ARIA, and of EPUB
_NOTE_CLASS = re.compile("foot-?note|end-?note|note-?ref|fn-?ref", re.IGNORECASE)


def is_raised_mark(node: LexborNode) -> bool:
    """Whether a superscript is the mark of a note: it leads to a place of a page, or is called so. That of m² does not."""
    text = node.text()
    if len(text) > _LONGEST_MARK or not _NOTE_MARK.fullmatch(text):
        return False
    return _is_called_note(node.attributes) or node.css_first('a[href*="#"]') is not None


def _is_called_note(attributes: dict[str, str | None]) -> bool:
    role = f"{attributes.get('role') or ''} {attributes.get('epub:type') or ''}"
    return any(name in _NOTE_ROLES for name in role.split()) or bool(
        _NOTE_CLASS.search(f"{attributes.get('class') or ''} {attributes.get('rel') or ''}")
    )


class NoteMarks:
    """Which links of a page are marks of notes. They are no words, and would stick to the word before them."""

    def __init__(self, root: LexborNode) -> None:
        self._root = root
        self._targets: frozenset[str] | None = None

    def is_mark(self, node: LexborNode, attributes: dict[str, str | None]) -> bool:
        """Whether a link to a place of a page is one: raised, called so, an arrow back, or something else leads back to it."""
        text = node.text()
        if len(text) > _LONGEST_MARK or not text:
            return False
        if _ARROW.fullmatch(text):
            return True
        if not _NOTE_MARK.fullmatch(text):
            return False
        name = attributes.get("id") or attributes.get("name")
        return (
            _is_called_note(attributes)
            or (node.first_child is not None and node.css_first("sup") is not None)
            or (name is not None and bool(_BARE_MARK.fullmatch(text)) and name in self._linked())
        )

    def _linked(self) -> frozenset[str]:
        """The names of places that links of the page lead to."""
        if self._targets is None:
            links = (link.attributes.get("href") or "" for link in self._root.css('a[href^="#"]'))
            self._targets = frozenset(link[1:] for link in links)
        return self._targets


# What the walk does at a node. These are plain integers because an IntEnum compares slowly in the innermost loop.
_CHARACTERS, _SKIP, _MUTE, _BLOCK, _INLINE, _MARKED, _ANCHOR, _AREA, _IMAGE, _BREAK, _RAISED = range(11)


_ROLES = {  # any other tag bounds paragraphs
    tag: role
    for role, tags in {
        _CHARACTERS: "-text",
        # rt and rp are the readings above a Japanese text. Mixed into the text, they would garble it.
        _SKIP: "-comment -document -doctype head script style template svg math iframe noembed noframes rt rp",
        # their text is ignored, but links in them count
        _MUTE: "noscript select datalist textarea object video audio canvas",
        _INLINE: "span font small big sub abbr acronym cite q dfn bdi bdo ins del s strike tt code kbd samp var time "
        "data label wbr ruby rb rbc rtc nobr output meter progress input picture source map slot",
        _MARKED: "b strong i em u mark",
        _ANCHOR: "a",
        _AREA: "area",
        _IMAGE: "img",
        _BREAK: "br",
        _RAISED: "sup",
    }.items()
    for tag in tags.split()
}
# The innermost element that implies a kind decides it, through at most three elements that imply none.
_KINDS = (ParagraphKind.TEXT, *[ParagraphKind.HEADING] * 4, *[ParagraphKind.LISTITEM] * 4)
_NEXT = (0, 0, 1, 2, 3, 0, 5, 6, 7)
_STATES = {"h1": 4, "h2": 4, "h3": 4, "h4": 4, "h5": 4, "h6": 4, "li": 8, "dt": 8, "dd": 8}
_NAMING = ("class", "id", "role", "itemprop")


class _Walk:
    """The state of a walk: where it is, and the paragraph that is being collected."""

    __slots__ = (
        *("anchor", "container", "link_chars", "marked_chars", "marks", "page", "parts", "position", "states"),
        "waiting",
    )

    def __init__(self, page: Outline, root: LexborNode) -> None:
        self.page = page
        self.marks = NoteMarks(root)
        self.container = -1
        self.states: list[int] = []  # what each container makes of its text: see `_KINDS`
        self.anchor = -1  # index of the open anchor
        self.waiting: list[int] = []  # indices of the anchors that belong to no paragraph yet
        self.parts: list[str] = []  # of the paragraph; never starts with white space only
        self.position = -1
        self.link_chars = 0
        self.marked_chars = 0

    def run(self, root: LexborNode, hidden: frozenset[int]) -> None:  # noqa: C901, PLR0912, PLR0915
        """One loop with few calls. With a method for each kind of node, the walk took 1.4 times as long."""
        # first_child and next cost no more than selectolax's own traverse, and show when an element ends.
        stack: list[tuple[LexborNode, int]] = []
        roles: dict[int, int] = {}  # by tag id; within one document, an id stands for one name
        names: dict[int, str] = {}
        fresh: list[tuple[LexborNode, str]] = []  # open elements whose attributes have not been needed yet
        tags, parts, waiting, ends = self.page.tags, self.parts, self.waiting, self.page.containers.end
        blocks, parents = self.page.blocks, self.page.containers.parents
        muted = -1  # height of the stack at the outermost element that hides its text
        marked = breaks = 0
        node: LexborNode | None = root
        while True:
            if node is None:
                if not stack:
                    break
                node, role = stack.pop()
                if muted >= 0 and len(stack) == muted:
                    muted = -1
                if role == _BLOCK:
                    if parts or waiting:
                        self.end()
                    if fresh:
                        fresh.pop()
                    else:
                        ends[self.container] = len(blocks)
                        self.container = parents[self.container]
                elif role == _ANCHOR:
                    self.anchor = -1
                elif role == _MARKED:
                    marked -= 1
                node = node.next if stack else None
                continue
            tag_id = node.tag_id
            role = roles.get(tag_id, -1)
            if role < 0:
                names[tag_id] = tag = node.tag or "-comment"
                role = roles[tag_id] = _ROLES.get(tag, _BLOCK)
                if tag == "dialog":
                    hidden |= {closed.mem_id for closed in root.css("dialog:not([open])")}
            if hidden and muted < 0 and node.mem_id in hidden:
                if role == _CHARACTERS:
                    node = node.next
                    continue
                if role != _SKIP:
                    muted = len(stack)
            if role == _CHARACTERS:
                if muted < 0:
                    data = node.text_content or ""
                    if data.isspace():
                        if parts:
                            parts.append(" ")
                    else:
                        if fresh:
                            self.open(fresh)
                            fresh.clear()
                        breaks = 0
                        if not parts:
                            self.position = len(tags)
                            tags.append(TEXT)
                        if self.anchor >= 0:
                            self.link_chars += len(data.strip())
                        elif marked:
                            self.marked_chars += len(data.strip())
                        parts.append(data)
            elif role != _SKIP:
                if role == _BLOCK:
                    if parts or waiting:
                        self.end()
                    tags.append(names[tag_id])
                    fresh.append((node, names[tag_id]))
                elif role == _MARKED:
                    marked += 1
                elif role == _BREAK:
                    if parts and muted < 0:
                        parts.append(LINE_END)
                        breaks += 1
                        if breaks > 1:  # two in a row start a new paragraph
                            self.end()
                elif role == _RAISED:
                    if muted < 0 and is_raised_mark(node):
                        muted = len(stack)
                        self.close_up(node)
                elif role != _INLINE:
                    tags.append(names[tag_id])
                    if role != _MUTE:
                        is_mark = self.point(node, role)
                        if is_mark and muted < 0:
                            muted = len(stack)
                            self.close_up(node)
                    elif muted < 0:
                        muted = len(stack)
                stack.append((node, role))
                node = node.first_child  # None for a node without children, which is then left at once
                continue
            node = node.next if stack else None
        self.end()

    def open(self, fresh: list[tuple[LexborNode, str]]) -> None:
        containers, first, container = self.page.containers, len(self.page.blocks), self.container
        states = self.states
        for node, tag in fresh:
            attributes = node.attributes
            words = ""
            if attributes:
                words = attributes.get("class") or ""
                if len(attributes) > 1 or not words:  # mostly a class and nothing else
                    words = " ".join([value for name in _NAMING if (value := attributes.get(name))])
            states.append(_STATES.get(tag) or (_NEXT[states[container]] if states else 0))
            containers.tags.append(tag)
            containers.parents.append(container)
            containers.words.append(words)
            containers.first.append(first)
            container = len(containers.end)
            containers.end.append(-1)
        self.container = container

    def point(self, node: LexborNode, role: int) -> bool:
        """Record a link or an image, whose tag was recorded last. True if it is only the mark of a note."""
        page = self.page
        position = len(page.tags) - 1
        if role == _IMAGE:
            page.images.append((node, position))
        elif "href" in (attributes := node.attributes):
            if role == _ANCHOR:
                self.anchor = len(page.anchors)
                self.waiting.append(self.anchor)
            page.anchors.append(TreePosition(node, attributes, position))
            return "#" in (attributes["href"] or "") and self.marks.is_mark(node, attributes)
        return False

    def close_up(self, mark: LexborNode) -> None:
        """No space is left between a word and the full stop after a mark that is left out: "word [1]."."""
        following = mark.next or (mark.parent.next if mark.parent is not None else None)
        after = (following.text_content or "")[:1] if following is not None and following.tag == "-text" else ""
        if self.parts and after and after in ".,;:!?)":
            self.parts[-1] = self.parts[-1].rstrip()

    def end(self) -> None:
        """End the paragraph, if there is one."""
        parts, waiting = self.parts, self.waiting
        if parts:
            raw = parts[0] if len(parts) == 1 else "".join(parts)
            text = normalise(raw)
            lines = in_lines(raw, text, self.line_ends()) if len(text) > ENDLESS else ""
            parts.clear()
            if text:
                self.keep(text, lines)
                waiting.clear()
            self.link_chars = self.marked_chars = 0
        if waiting:
            waiting[:] = [self.anchor] if self.anchor in waiting else []

    def line_ends(self) -> str:
        """The characters that end a line here."""
        containers, container = self.page.containers, self.container
        while container >= 0:
            if containers.tags[container] == "pre":
                return LINE_ENDS
            container = containers.parents[container]
        return LINE_END

    def keep(self, text: str, lines: str) -> None:
        """Add a block. The waiting anchors are in it."""
        blocks, anchors = self.page.blocks, self.page.anchors
        for i in self.waiting:
            anchors[i].block = len(blocks)
        kind, links = _KINDS[self.states[self.container]], len(self.waiting) or (1 if self.link_chars else 0)
        # without the removed spaces
        linked, marked = min(self.link_chars, len(text)), min(self.marked_chars, len(text))
        blocks.append(Block(text, kind, self.position, self.container, links, linked, marked, lines))


class _DetailedWalk(_Walk):
    """Also notes where in its paragraph an anchor begins, and the elements that bound paragraphs."""

    __slots__ = ("counted", "letters")

    def __init__(self, page: Outline, root: LexborNode) -> None:
        super().__init__(page, root)
        self.counted = self.letters = 0  # parts of the paragraph, and the letters in them

    def open(self, fresh: list[tuple[LexborNode, str]]) -> None:
        super().open(fresh)
        self.page.containers.nodes += [node for node, _ in fresh]

    def point(self, node: LexborNode, role: int) -> bool:
        anchors, before = self.page.anchors, len(self.page.anchors)
        is_mark = super().point(node, role)
        if len(anchors) > before and not is_mark:
            self.letters += sum(len("".join(normalise(part).split())) for part in self.parts[self.counted :])
            self.counted = len(self.parts)
            anchors[-1].start = self.letters
        return is_mark

    def end(self) -> None:
        super().end()
        self.counted = self.letters = 0


def _cap(page: Outline) -> None:
    if len(page.tags) <= MAX_TAGS:
        return
    del page.tags[MAX_TAGS:]
    places: list[Block | TreePosition] = [*page.blocks, *page.anchors]
    for place in places:
        if place.position >= MAX_TAGS:
            place.position = -1
    page.images = [(node, position if position < MAX_TAGS else -1) for node, position in page.images]
