"""One walk over the HTML tree: tag sequence, paragraphs, and where anchors and images stand."""

import re
import unicodedata
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from bitrawl.model import ParagraphKind

MAX_TAGS = 20_000  # The longest sequences are link farms; two of them are still aligned in a second.
TEXT = "#text"
"""Stands in the tag sequence where a paragraph begins, as in Liu et al., section 4."""


@dataclass(slots=True)
class Block:
    """A paragraph of visible text, and what the walk saw in it."""

    text: str
    kind: ParagraphKind
    position: int  # of its TEXT in the tag sequence; -1 beyond the cap
    container: int  # index into `Containers` of the innermost element that bounds it
    links: int = 0
    link_chars: int = 0
    marked_chars: int = 0  # in b, strong, i, em, ... outside of links


@dataclass(slots=True)
class Containers:
    """The elements that bound paragraphs, in document order, as columns."""

    tags: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)  # always a smaller index; -1 for the root
    words: list[str] = field(default_factory=list)  # class, id, role and itemprop as written
    first: list[int] = field(default_factory=list)  # blocks[first:end] lie within
    end: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Outline:
    """A page's skeleton in document order."""

    title: str = ""  # of the document's head
    tags: list[str] = field(default_factory=list)
    """Start tags of what bounds paragraphs, of links and of images, and TEXT; no spans and no type styles,
    which follow the wording of a language and not the structure of the page."""
    blocks: list[Block] = field(default_factory=list)
    containers: Containers = field(default_factory=Containers)
    anchors: list[tuple[LexborNode, int, int]] = field(default_factory=list)
    """a[href] and area[href], hidden ones too: node, position in the tag sequence, block or -1."""
    images: list[tuple[LexborNode, int]] = field(default_factory=list)
    """img, hidden ones too: node, position in the tag sequence."""


def outline(tree: LexborHTMLParser) -> Outline:
    """Time and memory are linear in the number of nodes, however deep they nest."""
    found = Outline(title=_title(tree))
    if tree.root is not None:
        _Walk(found).run(tree.root)
        _cap(found)
    _mark_title(found)
    return found


def normalise(text: str) -> str:
    """One space for any space, no control or zero-width characters, NFC.

    Joiners stay where a script needs them: Persian and Indic letters, emoji; so does the zero-width space
    that separates words in Thai, Khmer, Lao and Burmese.
    """
    text = " ".join(text.split())
    if text.isascii() and text.isprintable():
        return text
    if not text.isprintable():  # knows only U+0020 as a space, and no character of categories Cc, Cf, Zl, Zp
        text = " ".join(_JUNK.sub("", text).split())
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


_SEA = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\ua9e0-\ua9ff\uaa60-\uaa7f"
_JUNK = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u061c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff]"
    # A joiner belongs behind a letter or sign beyond Hebrew, outside of the General Punctuation block.
    "|(?<![\u0600-\u1fff\u2190-\ud7ff\uf900-\ufdff\ufe70-\ufefc\U00010000-\U0010ffff])[\u200c\u200d]"
    f"|(?<![{_SEA}])\u200b|\u200b(?![{_SEA}])"
)


# What the walk does at a node. Plain integers: an enumeration costs a third of the walk's time.
_CHARACTERS, _SKIP, _MUTE, _BLOCK, _INLINE, _MARKED, _ANCHOR, _AREA, _IMAGE, _BREAK = range(10)


def _roles() -> dict[str, int]:
    table = {
        _CHARACTERS: "-text",
        # rt and rp are the readings above a Japanese text: interleaved they would garble it.
        _SKIP: "-comment -document -doctype head script style template svg math iframe noembed noframes rt rp",
        _MUTE: "noscript select datalist textarea object video audio canvas",  # no text, but links count
        _INLINE: (
            "span font small big sub sup abbr acronym cite q dfn bdi bdo ins del s strike tt code kbd samp var time "
            "data label wbr ruby rb rbc rtc nobr output meter progress input picture source map slot"
        ),
        _MARKED: "b strong i em u mark",
        _ANCHOR: "a",
        _AREA: "area",
        _IMAGE: "img",
        _BREAK: "br",
    }
    return {tag: role for role, tags in table.items() for tag in tags.split()}


_ROLES = _roles()  # any other tag bounds paragraphs
_KINDS = dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), ParagraphKind.HEADING) | dict.fromkeys(
    ("li", "dt", "dd"), ParagraphKind.LISTITEM
)
_NAMING = frozenset(("class", "id", "role", "itemprop"))
_INVISIBLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


class _Walk:
    """The state of a walk: where it is, and the paragraph that is being collected."""

    __slots__ = ("anchor", "container", "found", "link_chars", "marked_chars", "parts", "position", "waiting")

    def __init__(self, found: Outline) -> None:
        self.found = found
        self.container = -1
        self.anchor = -1  # index of the open one
        self.waiting: list[int] = []  # indices of the anchors that no paragraph has claimed yet
        self.parts: list[str] = []  # of the paragraph; begins with more than space
        self.position = -1
        self.link_chars = 0
        self.marked_chars = 0

    def run(self, root: LexborNode) -> None:  # noqa: C901, PLR0912, PLR0915
        """One loop and few calls: as a method per kind of node the same walk took 1.6 times as long."""
        # first_child and next cost no more than selectolax's own traverse, and tell when an element ends.
        stack: list[tuple[LexborNode, int, bool]] = []
        roles: dict[int, tuple[int, str]] = {}  # by tag id, which is one name's within one document
        tags, parts, waiting, ends = self.found.tags, self.parts, self.waiting, self.found.containers.end
        blocks, parents = self.found.blocks, self.found.containers.parents
        muted = marked = breaks = 0
        node: LexborNode | None = root
        while True:
            if node is None:
                if not stack:
                    break
                node, role, hides = stack.pop()
                muted -= hides
                if role == _BLOCK:
                    if parts or waiting:
                        self.end()
                    ends[self.container] = len(blocks)
                    self.container = parents[self.container]
                elif role == _ANCHOR:
                    self.anchor = -1
                elif role == _MARKED:
                    marked -= 1
                node = node.next if stack else None
                continue
            tag_id = node.tag_id
            known = roles.get(tag_id)
            if known is None:
                tag = node.tag or "-comment"
                known = roles[tag_id] = (_ROLES.get(tag, _BLOCK), tag)
            role, tag = known
            if role == _CHARACTERS:
                if not muted:
                    data = node.text_content or ""
                    if not data.isspace():
                        breaks = 0
                        if not parts:
                            self.position = len(tags)
                            tags.append(TEXT)
                        if self.anchor >= 0:
                            self.link_chars += len(data.strip())
                        elif marked:
                            self.marked_chars += len(data.strip())
                        parts.append(data)
                    elif parts:
                        parts.append(" ")
            elif role != _SKIP:
                hides = False
                if role == _BLOCK:
                    if parts or waiting:
                        self.end()
                    tags.append(tag)
                    hides = self.open(node, tag)
                elif role == _MARKED:
                    marked += 1
                elif role == _BREAK:
                    if parts:
                        parts.append(" ")
                        breaks += 1
                        if breaks > 1:  # two in a row stand for a new paragraph
                            self.end()
                elif role != _INLINE:
                    tags.append(tag)
                    hides = role == _MUTE
                    if not hides:
                        self.point(node, role)
                muted += hides
                child = node.first_child
                # What has no child leaves by the same way: None is its first, and its last.
                stack.append((node, role, hides))
                node = child
                continue
            node = node.next if stack else None
        self.end()

    def open(self, node: LexborNode, tag: str) -> bool:
        """Whether this element hides the text inside."""
        found = self.found
        words, hidden = "", False
        attributes = node.attributes
        if attributes:
            words = " ".join([value for name, value in attributes.items() if name in _NAMING and value])
            if "style" in attributes or "hidden" in attributes:
                hidden = "hidden" in attributes or bool(_INVISIBLE.search(attributes["style"] or ""))
        if tag == "dialog" and "open" not in attributes:
            hidden = True
        containers = found.containers
        containers.tags.append(tag)
        containers.parents.append(self.container)
        containers.words.append(words)
        containers.first.append(len(found.blocks))
        self.container = len(containers.end)
        containers.end.append(-1)
        return hidden

    def point(self, node: LexborNode, role: int) -> None:
        """A link or an image, which was recorded as the last tag."""
        found = self.found
        position = len(found.tags) - 1
        if role == _IMAGE:
            found.images.append((node, position))
        elif "href" in node.attributes:
            if role == _ANCHOR:
                self.anchor = len(found.anchors)
                self.waiting.append(self.anchor)
            found.anchors.append((node, position, -1))

    def end(self) -> None:
        """End the paragraph, if there is one."""
        text = normalise("".join(self.parts)) if self.parts else ""
        open_one = self.anchor >= 0 and self.anchor in self.waiting
        if text:
            self.keep(text)
        self.waiting.clear()
        if open_one and not text:
            self.waiting.append(self.anchor)
        self.parts.clear()
        self.link_chars = self.marked_chars = 0

    def keep(self, text: str) -> None:
        """The anchors that waited lie in this block."""
        blocks, anchors = self.found.blocks, self.found.anchors
        for i in self.waiting:
            node, position, _ = anchors[i]
            anchors[i] = (node, position, len(blocks))
        links = len(self.waiting) or int(self.link_chars > 0)
        link_chars = min(self.link_chars, len(text))
        marked_chars = min(self.marked_chars, len(text))
        blocks.append(Block(text, self.kind(), self.position, self.container, links, link_chars, marked_chars))

    def kind(self) -> ParagraphKind:
        """From the innermost element that says it, looking through at most three that say nothing."""
        containers = self.found.containers
        container = self.container
        for _ in range(4):
            if container < 0:
                break
            kind = _KINDS.get(containers.tags[container])
            if kind is not None:
                return kind
            container = containers.parents[container]
        return ParagraphKind.TEXT


def _cap(found: Outline) -> None:
    if len(found.tags) <= MAX_TAGS:
        return
    del found.tags[MAX_TAGS:]
    for block in found.blocks:
        if block.position >= MAX_TAGS:
            block.position = -1
    found.anchors = [(n, place if place < MAX_TAGS else -1, block) for n, place, block in found.anchors]
    found.images = [(n, place if place < MAX_TAGS else -1) for n, place in found.images]


def _title(tree: LexborHTMLParser) -> str:
    node = tree.head.first_child if tree.head is not None else None
    while node is not None:
        if node.tag == "title":
            return normalise(node.text())
        node = node.next
    return ""


def _mark_title(found: Outline) -> None:
    """The first heading that the document's title repeats is the page's title."""
    title = found.title.casefold()
    for block in found.blocks:
        if block.kind is ParagraphKind.HEADING and title and block.text.casefold() in title:
            block.kind = ParagraphKind.TITLE
            return
