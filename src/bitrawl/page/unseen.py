"""Which parts of a page no reader sees, by its attributes, its inline styles and its own style elements.

External style sheets and scripts are not read. So a text counts as hidden only if the page itself says so, and nothing in
it shows how a reader or a script could make it appear: see docs/decisions/unseen-text.md.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from bitrawl.page.styles import (
    AWAY,
    CLEAR,
    FAR,
    TINY,
    WHITE,
    Block,
    Colour,
    Compound,
    Declarations,
    Rule,
    blocks,
    colour,
    declared,
    look_alike,
    names_of,
    on_screen,
    pixels,
    rules,
    share,
    squeeze,
)


class Way(StrEnum):
    """A way to hide a text."""

    DISPLAY = "display"
    VISIBILITY = "visibility"
    OPACITY = "opacity"
    SIZE = "size"
    INDENT = "indent"
    CLIP = "clip"
    PLACE = "place"
    BOX = "box"
    INK = "ink"


# What decides each way: the properties as they begin in a squeezed style sheet.
_DECIDING: dict[Way, tuple[bytes, ...]] = {
    Way.DISPLAY: (b"display:", b"content-visibility:"),
    Way.VISIBILITY: (b"visibility:",),
    Way.OPACITY: (b"opacity", b"transform:"),
    Way.SIZE: (b"font-size:", b"font:"),
    Way.INDENT: (b"text-indent:", b"overflow"),
    Way.CLIP: (b"clip", b"position:"),
    Way.PLACE: (b"position:", b"left:", b"right:", b"top:", b"bottom:", b"inset:", b"margin:", b"trans", b"scale:"),
    Way.BOX: (b"width:", b"height:", b"overflow", b"padding"),
    Way.INK: (b"color:", b"background", b"text-", b"position:"),
}
_MOVING = (b"transition", b"animation", b"will-change")
# Passed on to what is inside, which may undo it; the other ways hide all that is inside.
_INHERITED = frozenset((Way.VISIBILITY, Way.SIZE, Way.INK))

# A block of a style sheet without any of these hides nothing.
_HINTS = (
    *(
        b"y:none",
        b"y:hidden",
        b"y:collapse",
        b"opacity:0",
        b"opacity:.0",
        b"opacity(0",
        b"size:0",
        b"size:.",
        b"size:1px",
    ),
    *(
        b"font:0",
        b"indent:",
        b"clip",
        b"left:9",
        b"left:1000",
        b"top:9",
        b"translate",
        b"scale",
        b":transparent",
        b"rgba(",
    ),
    *(
        b"dth:0",
        b"dth:1px",
        b"ght:0",
        b"ght:1px",
        b"left:-",
        b"right:-",
        b"top:-",
        b"bottom:-",
        b"margin:-",
        b"inset:-",
    ),
)
# What may hide an element, in a block without white space. What its other declarations and other rules add to it is
# asked only about elements that it concerns.
_WAYS = re.compile(
    rb"(?P<display>display:none|content-visibility:hidden)|(?P<visibility>visibility:(?:hidden|collapse))"
    rb"|(?P<opacity>opacity:0?(?:\.0[01]?\d*)?(?![\d.])|opacity\(0)"
    rb"|(?P<size>font-size:(?:0|\.\d|1px)|font:(?:[a-z]+ )?0)"
    rb"|(?P<indent>text-indent:(?:-\d+r?em|-\d{2,}v|[+-]?\d{3,}))"
    rb"|(?P<clip>(?<!-)clip:rect|clip-path:[^;]*\()"
    rb"|(?P<place>(?:left|right|top|bottom|inset|margin):-\d{2}|(?:left|top):\d{4}"
    rb"|translate[^;]*\d{3}|scale(?:x|y|3d)?\(0|scale:0)"
    rb"|(?P<box>(?:(?<!-)|(?<=max-))(?:width|height):[01](?:px)?(?![\w.%]))"
    rb"|(?P<ink>color:transparent|(?<!-)color:rgba\([^)]*,0?\.?0*\)|(?<!-)color:#(?:[\da-f]{3}0|[\da-f]{6}00)(?![\da-f]))"
)
_INK = re.compile(rb"(?:^|;)color:([^;!]+)")
_GROUND = re.compile(rb"background(?:-color)?:([^;!]+)")
_SEARCHED = "style,[style],[hidden],dialog,font"
_OPENERS = "[aria-controls],[data-target],[data-bs-target],[data-toggle],label[for],a[href^='#']"
_INLINE = frozenset(
    (
        *("a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "em", "font", "i", "ins", "kbd", "mark", "q", "s"),
        *("small", "span", "strong", "sub", "sup", "tt", "u", "var"),
    )
)
_PLAIN = _INLINE | frozenset(
    ("p", "div", "li", "ul", "ol", "dl", "dd", "dt", "section", "article", "main", "blockquote")
)
_LONG_ENOUGH = 3  # letters of a name that a script would hardly contain by chance; judgement

NOTHING: frozenset[int] = frozenset()
# What one page may cost, in looks at one element or one rule (judgement). What is left then counts as seen.
MAX_STEPS = 100_000
MANY_BLOCKS = 200  # of a style sheet: then the colours behind a text are not followed through its rules
SEARCH = 100  # Steps for a search over the tree,
CHARACTERS = 2000  # and one for so many characters of a text that is searched.

Attributes = dict[str, str | None]


def unseen(tree: LexborHTMLParser) -> frozenset[int]:
    """The `mem_id` of elements, and of single texts, that no reader sees. All that is inside such an element is hidden."""
    nodes = tree.css(_SEARCHED)
    if not nodes:
        return NOTHING
    page = _Styled(tree)
    page.read(nodes)
    return page.hidden()


@dataclass(slots=True)
class _Suspect:
    """An element that something may hide."""

    node: LexborNode
    names: frozenset[str]  # what a rule that shows it would name
    ways: set[Way]


class _Hint(NamedTuple):
    """What a block of declarations may hide, without white space."""

    ways: frozenset[Way]
    ink: str  # the colour of the text, if it is declared
    ground: str


def _hint(small: bytes) -> _Hint:
    ways = frozenset(Way(match.lastgroup or "") for match in _WAYS.finditer(small))
    ink = _INK.search(small) if b"color:" in small else None
    ground = _GROUND.search(small) if b"background" in small else None
    said = _Hint(ways, ink[1].decode() if ink else "", ground[1].decode() if ground else "")
    if said.ink and said.ground and _are_alike(said.ink, said.ground):
        return said._replace(ways=ways | {Way.INK})
    return said


def _are_alike(ink: str, ground: str) -> bool:
    one, other = colour(ink), colour(ground)
    return ink == ground if one is None or other is None else look_alike(one, other)


@lru_cache(maxsize=4096)
def _hint_of_style(style: str) -> _Hint:
    return _hint(squeeze(style))


@lru_cache(maxsize=32)  # the pages of a site have the same style elements
def _sheet(css: str) -> tuple[tuple[Block, ...], tuple[tuple[int, _Hint], ...]]:
    """The blocks of a style sheet, and which of them may hide something or set the colour of a text or its ground."""
    found = blocks(css)
    whole = b"}".join([block.squeezed for block in found])
    present = [hint for hint in _HINTS if hint in whole]
    hinted = []
    for number, block in enumerate(found):
        small = block.squeezed
        if b"color:" in small or b"background" in small:
            hinted.append((number, _hint(small)))
            continue
        for hint in present:
            if hint in small:
                hinted.append((number, _hint(small)))
                break
    return found, tuple(hinted)


class _Styled:
    """A page with what its own styles say."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self.tree = tree
        self.suspects: dict[int, _Suspect] = {}
        self.blocks: list[Block] = []
        self.hinted: list[tuple[Block, _Hint]] = []
        self.inks: list[tuple[LexborNode, str]] = []  # elements with a colour of their own
        self.page_grounds: set[str] = set()
        self.certain: set[int] = set()
        self.index: dict[str, list[tuple[int, Rule]]] = {}  # by name or tag; with the place of the rule in the page
        self.matches: dict[int, list[tuple[int, Rule]]] = {}  # by element
        self.searched: dict[str, list[LexborNode]] = {}
        self.read_attributes: dict[int, Attributes] = {}
        self.visited: set[int] = set()
        self.grounds: dict[int, Colour | None] = {}
        self.mentioned: dict[tuple[bool, str], bool] = {}
        self.ways: set[Way] = set()
        self.is_complete = False  # whether the index has the rules about every element
        self.steps = 0

    def read(self, nodes: Iterable[LexborNode]) -> None:
        """Collect the style sheets, and the elements that may be hidden."""
        last = 0
        for node in nodes:
            if node.mem_id == last:  # once for each part of the selector
                continue
            last = node.mem_id
            attributes = node.attributes
            if node.tag == "style":
                self.read_sheet(node, attributes)
            else:
                self.read_attributes_of(node, attributes)
        if self.inks or self.hinted:
            self.read_inks()
        for block, hint in self.hinted:
            if hint.ways:
                self.suspect_all(block, hint.ways)

    def read_sheet(self, node: LexborNode, attributes: Attributes) -> None:
        css = node.text()
        media = on_screen(attributes.get("media") or "")
        if media is None or not css:
            return
        found, hinted = _sheet(css)
        if media and not _is_in_noscript(node):
            self.blocks += found
            self.hinted += [(found[number], hint) for number, hint in hinted if found[number].certain]
        else:  # holds for some readers: it can show a text, and hides none
            self.blocks += [block._replace(certain=False) for block in found]

    def read_attributes_of(self, node: LexborNode, attributes: Attributes) -> None:
        tag, style = node.tag or "", attributes.get("style")
        if _is_closed(tag, attributes):
            self.certain.add(node.mem_id)
            return
        if style:
            hint = _hint_of_style(style)
            if Way.DISPLAY in hint.ways:
                self.certain.add(node.mem_id)
                return
            if hint.ways:
                self.suspect(node, names_of(attributes), hint.ways)
            if hint.ground:
                self.page_grounds.add(hint.ground)
            if hint.ink:
                self.inks.append((node, hint.ink))
        if tag in _COLOURED and (ink := _presented(tag, attributes).get("color")):
            self.inks.append((node, ink))

    def read_inks(self) -> None:
        """Suspect the texts whose colour is also the colour of a ground of this page.

        The sheets of other files may give an element a ground. Then only grounds count that elements themselves have.
        """
        if self.has_foreign_styles and not self.inks:
            return
        grounds = set(self.page_grounds)
        if b"bgcolor" in self.source or b"BGCOLOR" in self.source:
            grounds.update(raw.decode("ascii", "replace") for raw in _BGCOLOR.findall(self.source))
        known = [found for raw in grounds if (found := colour(_legacy(raw))) is not None]
        if not self.has_foreign_styles:
            known += [WHITE, *(found for _, hint in self.hinted if (found := colour(hint.ground)) is not None)]
            for block, hint in self.hinted:
                if hint.ink and _is_one_of(hint.ink, known):
                    self.suspect_all(block, {Way.INK})
        for node, ink in self.inks:
            if _is_one_of(ink, known):
                self.suspect(node, names_of(self.attributes(node)), {Way.INK})

    def suspect_all(self, block: Block, ways: Iterable[Way]) -> None:
        for rule in rules(block):
            if rule.certain:
                for node in self.found(rule):
                    self.suspect(node, rule.subject.called, ways)

    def suspect(self, node: LexborNode, names: frozenset[str], ways: Iterable[Way]) -> None:
        if node.tag in _NO_TEXT:
            return
        known = self.suspects.setdefault(node.mem_id, _Suspect(node, names, set()))
        known.names |= names
        known.ways.update(ways)

    def found(self, rule: Rule) -> list[LexborNode]:
        """The elements that the rule is about."""
        names = [*rule.subject.names, *(name for _, compound in rule.above for name in compound.names)]
        if not all(self.is_mentioned(name[1:], in_script=False) for name in names):
            return []
        nodes = self.search(rule.subject)
        return [node for node in nodes if self.fits(node, rule)] if self.can_spend(len(nodes)) else []

    def fits(self, node: LexborNode, rule: Rule) -> bool:
        return rule.subject.fits(node.tag or "", self.attributes(node)) and self.is_below(node, rule.above)

    def search(self, subject: Compound) -> list[LexborNode]:
        """The elements with the rarest of its conditions."""
        name = min(subject.names, default="")  # ids come before classes
        key = f'[{"id" if name[0] == "#" else "class"}~="{name[1:]}"]' if name else subject.tag
        key = key or (f"[{subject.attributes[0][0]}]" if subject.attributes else "")
        if key not in self.searched:
            if not key or '"' in name or "\\" in name or not self.can_spend(SEARCH):
                return []
            try:
                self.searched[key] = self.tree.css(key)
            except (SelectolaxError, ValueError):
                self.searched[key] = []
        return self.searched[key]

    def is_below(self, node: LexborNode, above: Sequence[tuple[str, Compound]]) -> bool:
        """Whether the elements around it fit. The nearest that fits is taken, and left only if its parent has to fit too."""
        place, parent = 0, node.parent
        again: tuple[int, LexborNode] | None = None
        while place < len(above):
            if parent is None or not parent.is_element_node or not self.can_spend(1):
                return False
            how, compound = above[place]
            if compound.fits(parent.tag or "", self.attributes(parent)):
                again = (place, parent) if how == " " else again
                place, parent = place + 1, parent.parent
            elif how == " ":
                parent = parent.parent
            elif again is None:
                return False
            else:
                place, parent = again[0], again[1].parent
        return True

    def can_spend(self, steps: int) -> bool:
        self.steps += steps
        return self.steps <= MAX_STEPS

    def is_mentioned(self, name: str, *, in_script: bool) -> bool:
        """Whether the page, or a script of it, has the name. Most names of a large style sheet are on other pages."""
        found = self.mentioned.get((in_script, name))
        if found is None:
            raw = name.encode("utf-8", "replace")
            source = self.script if in_script else self.source
            found = self.can_spend(1 + len(source) // CHARACTERS) and raw in source
            if found and in_script:
                found = re.search(rb"[\"'.#\s]%b[\"'\s.:,>\[]" % re.escape(raw), source) is not None
            self.mentioned[in_script, name] = found
        return found

    def attributes(self, node: LexborNode) -> Attributes:
        found = self.read_attributes.get(node.mem_id)
        if found is None:
            found = self.read_attributes[node.mem_id] = node.attributes
        return found

    def hidden(self) -> frozenset[int]:
        """What the elements themselves say, and what rules say unless most of the page would then be hidden."""
        doubtful: set[int] = set()
        if self.suspects:
            suspects = self.suspects.values()
            self.ways = set().union(*(suspect.ways for suspect in suspects))
            self.index_rules(
                self.ways, {name for one in suspects for name in (*one.names, *names_of(self.attributes(one.node)))}
            )
        passed_on = []
        for mem_id, suspect in self.suspects.items():
            if ways := self.verdict(suspect):
                into = self.certain if self.is_plain(suspect) else doubtful
                if ways - _INHERITED:
                    into.add(mem_id)
                else:
                    passed_on.append((suspect.node, ways, into))
        for node, ways, into in passed_on:
            into.update(self.texts_inside(node, ways))
        if doubtful and self.has_scripts and not self.is_mostly_seen(self.certain | doubtful):
            doubtful.clear()
        return frozenset(self.certain | doubtful)

    def index_rules(self, ways: set[Way], names: set[str] | None = None) -> None:
        """Index the rules that decide these ways; if names are given, only those that may be about one of them."""
        telling = sorted({start for way in ways for start in _DECIDING[way]})
        if ways - {Way.DISPLAY}:
            telling += _MOVING
        self.index.clear()
        for order, block in enumerate(self.blocks):
            small, selectors = block.squeezed, block.selectors
            for start in telling:
                if start in small:
                    if names is None or _may_name(selectors, names):
                        for rule in rules(block):
                            for name in rule.subject.called or ("",):
                                self.index.setdefault(name, []).append((order, rule))
                    break

    def index_all(self) -> None:
        """What is inside or around an element needs the rules about every element."""
        if not self.is_complete:
            self.is_complete = True
            self.index_rules(self.ways | _INHERITED)

    def matched(self, node: LexborNode) -> list[tuple[int, Rule]]:
        """The rules that apply to an element, the weakest first."""
        found = self.matches.get(node.mem_id)
        if found is None:
            names = ("", node.tag or "", *names_of(self.attributes(node)))
            candidates = [one for name in names for one in self.index.get(name, ()) if one[1].certain]
            if not self.can_spend(len(candidates)):
                candidates = []
            fitting = [(order, rule) for order, rule in candidates if self.fits(node, rule)]
            found = self.matches[node.mem_id] = sorted(fitting, key=lambda one: (one[1].weight, one[0]))
        return found

    def computed(self, node: LexborNode) -> dict[str, str]:
        """The declarations that win for an element."""
        attributes, matched = self.attributes(node), self.matched(node)
        normal, important = declared(attributes.get("style") or "")
        values = _presented(node.tag or "", attributes)
        for _, rule in matched:
            values.update(rule.declarations)
        values.update(normal)
        for _, rule in matched:
            values.update(rule.important)
        values.update(important)
        return values

    def verdict(self, suspect: _Suspect) -> set[Way]:
        """The ways in which an element is hidden, and stays so."""
        if suspect.node.tag in ("html", "body") and self.has_scripts:
            return set()  # until the script is ready
        values = self.computed(suspect.node)
        ways = _hiding(values)
        if not ways and Way.INK in suspect.ways:
            still = Way.INK not in self.moved(suspect.node, values)
            return {Way.INK} if still and self.has_the_colour_of_its_ground(suspect.node, values) else ways
        if not ways or self.is_plain(suspect):
            return ways
        ways -= self.moved(suspect.node, values)
        if ways and (self.can_be_shown(suspect, values, ways) or self.is_opened(suspect)):
            return set()
        return ways

    def is_plain(self, suspect: _Suspect) -> bool:
        """Whether the element itself says that it is invisible. That is believed, as for one that is not displayed."""
        return Way.VISIBILITY in _hint_of_style(self.attributes(suspect.node).get("style") or "").ways

    def moved(self, node: LexborNode, values: Declarations) -> set[Way]:
        """The ways that an animation, or a script that fades in what the reader scrolls to, will undo."""
        if any(values.get(name, "none") != "none" for name in ("animation", "animation-name")):
            return _MOVED
        if not self.has_scripts:
            return set()
        if any(values.get(name, "none") not in _STILL for name in ("transition", "transition-property", "will-change")):
            return _MOVED
        fades = (
            any(name.startswith("data-") for name in self.attributes(node)) or values.get("transform", "none") != "none"
        )
        return {Way.OPACITY} if fades else set()

    def can_be_shown(self, suspect: _Suspect, values: Declarations, ways: set[Way]) -> bool:
        """Whether a rule of the page shows the element in another state of the page, or on another screen."""
        applied = {order for order, _ in self.matched(suspect.node)}
        showing = [one for name in suspect.names for one in self.index.get(name, ())]
        if not self.can_spend(len(showing)):
            return True
        for order, rule in showing:
            if order in applied or (rule.certain and not self.has_scripts):
                continue
            changed = {**values, **rule.declarations, **rule.important}
            if changed != values and not ways & _hiding(changed):
                return True
        return False

    def is_opened(self, suspect: _Suspect) -> bool:
        """Whether a script refers to the element by its name, or a button that opens it."""
        if not self.has_scripts:
            return False
        if self.attributes(suspect.node).get("id") in self.opened:
            return True
        names = [name[1:] for name in suspect.names if name[0] in ".#"]
        return any(len(name) >= _LONG_ENOUGH and self.is_mentioned(name, in_script=True) for name in names)

    def is_mostly_seen(self, hidden: set[int]) -> bool:
        """Whether more text is seen than hidden. If not, a script shows the page when it is ready."""
        lengths = {True: 0, False: 0}
        if self.tree.body is not None:
            for text, is_hidden in _texts(self.tree.body, hidden):
                lengths[is_hidden] += len(text)
        return lengths[False] >= lengths[True]

    def texts_inside(self, root: LexborNode, ways: set[Way]) -> Iterator[int]:
        """The texts in an element that is hidden in a way that elements inside may undo, unless they do."""
        self.index_all()
        stack = [root.first_child]
        while stack:
            node = stack.pop()
            if node is None:
                continue
            stack.append(node.next)
            if node.is_text_node:
                yield node.mem_id
            elif node.is_element_node and node.mem_id not in self.visited and not self.undoes(node, ways):
                self.visited.add(node.mem_id)
                stack.append(node.first_child)

    def undoes(self, node: LexborNode, ways: set[Way]) -> bool:
        values, attributes = self.computed(node), self.attributes(node)
        if Way.VISIBILITY in ways:
            return values.get("visibility") == "visible"
        if self.has_foreign_styles and ("class" in attributes or "id" in attributes or node.tag not in _INLINE):
            return True
        if Way.SIZE in ways:
            size = values.get("font-size", "")
            return bool(size) and (size.endswith("rem") or not size.endswith(("em", "%"))) and not _is_no_size(size)
        is_link = node.tag == "a" and "href" in attributes
        return is_link or not {"color", "background-color", "background-image"}.isdisjoint(values)

    def has_the_colour_of_its_ground(self, node: LexborNode, values: Declarations) -> bool:
        ink = colour(values.get("color", ""))
        if ink is None or not ink[3] or not {"text-shadow", "text-stroke", "text-fill-color"}.isdisjoint(values):
            return False
        self.index_all()
        ground = self.ground(node)
        return ground is not None and look_alike(ink, ground)

    def ground(self, node: LexborNode) -> Colour | None:
        """The colour behind an element; None if the page alone does not tell."""
        passed = []
        above: LexborNode | None = node
        answer: Colour | None = None if self.has_foreign_styles else WHITE
        while above is not None and above.is_element_node:
            if above.mem_id in self.grounds:
                answer = self.grounds[above.mem_id]
                break
            passed.append(above.mem_id)
            if self.is_ground(above):
                answer = _opaque(self.computed(above))
                break
            above = above.parent
        self.grounds.update(dict.fromkeys(passed, answer))
        return answer

    def is_ground(self, node: LexborNode) -> bool:
        """Whether the element has a ground of its own, or may have one that the page does not tell."""
        values, attributes = self.computed(node), self.attributes(node)
        if values.get("position") in _LIFTED or values.get("background-image", "none") != "none":
            return True
        if values.get("background-color", "transparent") not in _NO_GROUND:
            return True
        if not self.has_foreign_styles or self.matched(node):
            return False
        return "class" in attributes or "id" in attributes or node.tag not in _PLAIN

    @cached_property
    def has_foreign_styles(self) -> bool:
        """Whether the ground of an element may come from a file that was not read, or from one of many rules."""
        if len(self.blocks) > MANY_BLOCKS:
            return True
        links = self.tree.css("link[rel]")
        sheets = any("stylesheet" in (node.attributes.get("rel") or "").lower() for node in links)
        return sheets or b"@import" in self.tree.raw_html

    @cached_property
    def scripts(self) -> list[LexborNode]:
        return [node for node in self.tree.css("script") if _is_program(node.attributes)]

    @property
    def has_scripts(self) -> bool:
        return bool(self.scripts)

    @cached_property
    def source(self) -> bytes:
        return self.tree.raw_html

    @cached_property
    def script(self) -> bytes:
        return "\n".join(node.text() for node in self.scripts).encode("utf-8", "replace")

    @cached_property
    def opened(self) -> frozenset[str]:
        """The ids that buttons and links refer to."""
        found: set[str] = set()
        for node in self.tree.css(_OPENERS):
            for name, value in node.attributes.items():
                if value and (name in ("aria-controls", "for") or value[0] == "#"):
                    found.update(part.lstrip("#") for part in value.split())
        return frozenset(found)


_STILL = ("none", "all 0s", "0s", "auto")
_MOVED = set(Way) - {Way.DISPLAY, Way.INDENT}
_LIFTED = ("absolute", "fixed", "sticky")  # what is behind is not what is around
_NO_GROUND = ("transparent", "none", "initial", "unset", "inherit")
_NO_TEXT = frozenset(
    ("head", "script", "style", "link", "meta", "title", "template", "noscript", "img", "svg", "input")
)
_COLOURED = ("font", "body")
_BGCOLOR = re.compile(rb"(?i)bgcolor=[\"']?(#?\w+)")


def _may_name(selectors: str, names: set[str]) -> bool:
    if "." not in selectors and "#" not in selectors:
        return True
    return any(name in selectors for name in names)


def _is_one_of(ink: str, grounds: Iterable[Colour]) -> bool:
    found = colour(ink)
    return found is not None and found[3] > 0 and any(look_alike(found, ground) for ground in grounds)


def _texts(root: LexborNode, hidden: set[int]) -> Iterator[tuple[str, bool]]:
    """Each text that is no program, and whether it is in one of those elements."""
    stack = [(root.first_child, False)]
    while stack:
        node, is_hidden = stack.pop()
        if node is None:
            continue
        stack.append((node.next, is_hidden))
        is_hidden = is_hidden or node.mem_id in hidden
        if node.is_text_node:
            yield (node.text_content or "").strip(), is_hidden
        elif node.tag not in _NO_TEXT:
            stack.append((node.first_child, is_hidden))


def _opaque(values: Declarations) -> Colour | None:
    """The colour of a ground that has one colour; None if it has more, or lets something through."""
    if values.get("position") in _LIFTED or values.get("background-image", "none") != "none":
        return None
    found = colour(values.get("background-color", ""))
    return found if found is not None and found[3] == 1 else None


def _is_program(attributes: Attributes) -> bool:
    kind = (attributes.get("type") or "").strip().lower()
    return kind in ("", "module") or "javascript" in kind or "ecmascript" in kind


def _is_in_noscript(node: LexborNode) -> bool:
    return node.parent is not None and node.parent.tag == "noscript"


def _is_closed(tag: str, attributes: Attributes) -> bool:
    """A text that is hidden until it is searched for can be read, as in a closed <details>."""
    if tag == "dialog" and "open" not in attributes:
        return True
    return "hidden" in attributes and (attributes["hidden"] or "").strip().lower() != "until-found"


def _presented(tag: str, attributes: Attributes) -> dict[str, str]:
    """What the attributes of HTML say about the look of an element, which every rule overrides."""
    values = {}
    if _is_closed(tag, attributes):
        values["display"] = "none"
    if ink := attributes.get({"font": "color", "body": "text"}.get(tag, "")):
        values["color"] = _legacy(ink)
    if ground := attributes.get("bgcolor"):
        values["background-color"] = _legacy(ground)
    if attributes.get("background"):
        values["background-image"] = "url()"
    return values


def _legacy(value: str) -> str:
    """The attributes of old HTML allow a colour without its `#`."""
    value = value.strip().lower()
    return f"#{value}" if re.fullmatch(r"[0-9a-f]{6}", value) else value


def _hiding(values: Declarations) -> set[Way]:
    """The ways in which an element with these declarations is hidden, apart from the colour of what is behind it."""
    return {way for way, test in _TESTS.items() if test(values)}


def _not_displayed(values: Declarations) -> bool:
    return values.get("display") == "none" or values.get("content-visibility") == "hidden"


def _invisible(values: Declarations) -> bool:
    return values.get("visibility") in ("hidden", "collapse")


def _opaque_to_nobody(values: Declarations) -> bool:
    raw = values.get("opacity", "")
    amount = pixels(raw) if raw else None
    percent = share(raw)
    if percent is not None:
        amount = percent / 100
    if amount is not None and amount < _FAINT:
        return True
    return _NO_OPACITY.search(values.get("filter", "")) is not None


_FAINT = 0.02  # of 1; judgement
_NO_OPACITY = re.compile(r"opacity\(\s*0*\.?0*%?\s*\)")


def _is_no_size(size: str) -> bool:
    length = pixels(size)
    return (length is not None and length <= TINY) or share(size) == 0


def _without_size(values: Declarations) -> bool:
    return _is_no_size(values.get("font-size", ""))


def _indented_away(values: Declarations) -> bool:
    raw = values.get("text-indent", "")
    length, percent = pixels(raw), share(raw)
    if length is not None:
        return length <= AWAY or length >= FAR
    return percent is not None and (percent <= -100 or (percent >= 100 and values.get("overflow") == "hidden"))


_RECT = re.compile(r"rect\(([^()]*)\)")
_NO_SHAPE = re.compile(
    r"inset\(\s*(?:100|[5-9]\d)(?:\.\d+)?%\s*(?:round[^)]*)?\)|(?:circle|ellipse)\(\s*0(?:px|%)?[\s)]"
    r"|polygon\(\s*0(?:px|%)?\s+0(?:px|%)?(?:\s*,\s*0(?:px|%)?\s+0(?:px|%)?)*\s*\)"
)


def _clipped_away(values: Declarations) -> bool:
    if _NO_SHAPE.search(values.get("clip-path", "")):
        return True
    match = _RECT.search(values.get("clip", "")) or _RECT.search(values.get("clip-path", ""))
    if match is None or ("clip" in values and values.get("position") not in ("absolute", "fixed")):
        return False
    edges = [pixels(part) for part in re.split(r"[\s,]+", match[1].strip()) if part]
    if len(edges) != 4 or None in edges:
        return False
    top, right, bottom, left = (edge or 0.0 for edge in edges)
    return bottom - top <= TINY or right - left <= TINY


_TRANSLATED = re.compile(r"translate(?:x|y|3d)?\(([^()]*)\)")
_SHRUNK = re.compile(r"scale(?:x|y|3d)?\(\s*0*\.?0*\s*[,)]")


def _placed_away(values: Declarations) -> bool:
    if any((pixels(values.get(name, "")) or 0) <= AWAY for name in ("margin-left", "margin-top")):
        return True
    if values.get("position") in ("absolute", "fixed", "relative"):
        for name in ("left", "right", "top", "bottom"):
            length = pixels(values.get(name, "")) or 0
            if length <= AWAY or length >= FAR:
                return True
    transform = values.get("transform", "")
    moves = [values.get("translate", ""), *(match[1] for match in _TRANSLATED.finditer(transform))]
    for move in moves:
        for part in re.split(r"[\s,]+", move.strip()):
            length = pixels(part) or 0
            if length <= AWAY or length >= FAR:
                return True
    return bool(_SHRUNK.search(transform)) or values.get("scale") == "0"


def _boxed_away(values: Declarations) -> bool:
    if values.get("overflow") != "hidden":
        return False
    if any(
        (pixels(values.get(name, "")) or share(values.get(name, "")) or 0) > 0
        for name in ("padding-top", "padding-bottom")
    ):
        return False  # a box of a given shape, with a film or a map in it
    lengths = (pixels(values.get(name, "")) for name in ("width", "height", "max-width", "max-height"))
    return any(length is not None and length <= TINY for length in lengths)


def _without_ink(values: Declarations) -> bool:
    if values.get("background-clip") == "text" or "text-shadow" in values or "text-stroke" in values:
        return False
    raw = values.get("text-fill-color") or values.get("color", "")
    ink = colour(raw)
    if ink is not None and ink[3] == CLEAR[3]:
        return True
    ground = values.get("background-color", "")
    if not raw or not ground or values.get("background-image", "none") != "none":
        return False
    behind = colour(ground)
    if ink is None or behind is None:
        return raw == ground and raw not in ("inherit", "initial", "unset", "currentcolor")
    return behind[3] == 1 and look_alike(ink, behind)


_TESTS = {
    Way.DISPLAY: _not_displayed,
    Way.VISIBILITY: _invisible,
    Way.OPACITY: _opaque_to_nobody,
    Way.SIZE: _without_size,
    Way.INDENT: _indented_away,
    Way.CLIP: _clipped_away,
    Way.PLACE: _placed_away,
    Way.BOX: _boxed_away,
    Way.INK: _without_ink,
}
