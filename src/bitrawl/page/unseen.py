"""Which parts of a page no reader sees, by its attributes, its inline styles and its own style elements.

External style sheets and scripts are not read. So a text counts as hidden only if the page itself says so, and nothing in
it shows how a reader or a script could make it appear: see docs/decisions/unseen-text.md. Of a page that a browser has drawn,
what it computed takes the place of the rules; whether a reader or a script could undo that is judged in the same way.

The elements that one declaration may hide are collected first, as suspects. Only for them are the rules of the page weighed
against each other.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from bitrawl.model import COMPUTED
from bitrawl.page.styles import (
    INHERITED,
    NAME,
    WHITE,
    Colour,
    Declarations,
    Hint,
    StyleBlock,
    StyleRule,
    Way,
    blocks,
    colour,
    colours,
    deciding,
    declared,
    hiding,
    hint_of_style,
    hints,
    is_no_size,
    look_alike,
    names_of,
    on_screen,
    rules,
    squeezed,
)

# What one page may cost, in looks at one element or one rule. What is left then counts as seen.
MAX_STEPS = 100_000
SEARCH = 50  # steps for a name that is searched over the tree,
CHARACTERS = 2000  # and one for so many characters of a script
# Characters of a style element, and of all that are read. Longer ones are the look of a whole site. Reading them
# too took 13 % of the time of analysis on trafilatura's pages.
MAX_SHEET, MAX_SHEETS = 8_000, 16_000
LONG_NAME = 3  # letters of a name that a script hardly contains by chance

_PROGRAMS = 'script:not([type]),script[type=""],script[type*="javascript" i],script[type="module" i]'
_OPENERS = "[aria-controls],[data-target],[data-bs-target],label[for],a[href^='#']"
_NO_TEXT = frozenset("head script style link meta title template noscript img svg input".split())
_INLINE = frozenset(
    "a abbr b bdi bdo big cite code em font i ins kbd mark q s small span strong sub sup tt u var".split()
)
# Elements that hardly have a ground unless a name says so.
_PLAIN = _INLINE | set("p div li ul ol dl dd dt section article main blockquote".split())
_STILL = ("none", "all 0s", "0s", "auto")
_LIFTED = ("absolute", "fixed", "sticky")  # what is behind is not what is around
# What rules still say of a page that a browser has drawn: colours, and what changes by itself.
_RULED = (
    "color",
    "background",
    "text-shadow",
    "text-stroke",
    "text-fill",
    "position",
    "transition",
    "animation",
    "will-",
)
_NO_GROUND = ("transparent", "none", "initial", "unset", "inherit")
_BGCOLOR = re.compile(rb"(?i)bgcolor=[\"']?(#?\w+)")
_LAST_PART = re.compile(r"([^\s>+~]*)\s*\Z")
_USUAL_NAME = re.compile(r"[.#][A-Za-z_][A-Za-z0-9_-]*")


class Unseen(NamedTuple):
    """The `mem_id` of elements, and of single texts, that no reader sees. All that is inside such an element is hidden."""

    certain: frozenset[int] = frozenset()
    doubtful: frozenset[int] = frozenset()  # if they hold most of the text, a script shows it when it is ready
    doubtful_characters: int = 0  # 0 if the page has no script


def unseen(tree: LexborHTMLParser, *, drawn: bool = False) -> Unseen:
    page = _Styled(tree, drawn=drawn)
    page.read()
    return page.hidden() if page.suspects else Unseen(frozenset(page.certain))


class _Element:
    """What rules ask about an element, read once."""

    __slots__ = ("attributes", "hidden_by", "id", "matched", "names", "node", "shown_by", "tag", "ways")

    def __init__(self, node: LexborNode) -> None:
        self.id = node.mem_id
        self.node = node
        self.tag = node.tag or ""
        self.attributes = node.attributes
        self.names = names_of(self.attributes)
        self.matched: list[tuple[int, StyleRule]] | None = None  # the rules about it, the weakest first
        self.ways: set[Way] = set()  # in which it may be hidden
        self.shown_by: set[str] = set()  # the names that a rule that shows it would have
        self.hidden_by: set[str] = set()  # those of the rules that hide it

    @property
    def is_invisible(self) -> bool:
        """Whether the element says so itself. That is believed, as for one that is not displayed."""
        return "visibility" in hint_of_style(self.attributes.get("style") or "").ways


class _Styled:
    """A page with what its own styles say."""

    def __init__(self, tree: LexborHTMLParser, *, drawn: bool = False) -> None:
        self.tree = tree
        self.is_computed = drawn and tree.root is not None and COMPUTED in tree.root.attributes
        self.elements: dict[int, _Element] = {}
        self.suspects: dict[int, _Element] = {}
        self.certain: set[int] = set()  # hidden by what the element itself says
        self.sheets: list[tuple[str, bool]] = []  # and whether it holds for all readers
        self.unread: list[str] = []
        self.untold: list[str] = []  # of a page that was computed
        self.inks: dict[str, list[LexborNode]] = {}  # elements with a colour of their own
        self.inline_grounds: set[str] = set()
        self.index: dict[
            str, list[tuple[int, StyleRule]]
        ] = {}  # by name or tag; with the place of the rule in the page
        self.mentioned: dict[str, bool] = {}
        self.grounds: dict[int, Colour | None] = {}
        self.visited: set[int] = set()
        self.steps = 0

    # Collecting suspects

    def read(self) -> None:
        """Collect the style sheets, and the elements that attributes, rules or colours may hide."""
        last = 0
        for node in self.tree.css(
            f"style,[style],[hidden],[{COMPUTED}]" if self.is_computed else "style,[style],[hidden]"
        ):
            if node.mem_id == last:  # once for each part of the selector
                continue
            last, attributes = node.mem_id, node.attributes
            if node.tag == "style":
                self.read_sheet(node)
            # A text that is hidden until it is searched for can be read, as in a closed <details>.
            elif "hidden" in attributes and (attributes["hidden"] or "").strip().lower() != "until-found":
                self.certain.add(last)
            elif style := attributes.get("style"):
                self.read_style(node, hint_of_style(style))
            if self.is_computed and (ways := hint_of_style(attributes.get(COMPUTED) or "").ways):
                self.suspect(node, ways)
        if not self.has_links:
            for node in self.tree.css("font[color]"):
                self.inks.setdefault(_legacy(node.attributes["color"] or ""), []).append(node)
        suspicious = [pair for css, is_certain in self.sheets if is_certain for pair in hints(css)]
        self.suspect_all(suspicious + (self.suspect_inks() if self.inks or self.sheets else []))

    def read_sheet(self, node: LexborNode) -> None:
        media, css = on_screen(node.attributes.get("media") or ""), node.text()
        if media is None:
            return
        is_told = self.is_computed and COMPUTED in node.attributes  # by the browser: all rules about what is hidden
        if len(css) > (
            MAX_SHEETS if is_told else min(MAX_SHEET, MAX_SHEETS - sum(len(sheet) for sheet, _ in self.sheets))
        ):
            (self.untold if is_told else self.unread).append(css)
        else:  # What holds for some readers only can show a text, and hides none.
            self.sheets.append((css, media and (node.parent is None or node.parent.tag != "noscript")))

    def read_style(self, node: LexborNode, hint: Hint) -> None:
        if "display" in hint.ways:
            self.certain.add(node.mem_id)
            return
        if hint.ways:
            self.suspect(node, hint.ways)
        if hint.ground:
            self.inline_grounds.add(hint.ground)
        if hint.ink:
            self.inks.setdefault(hint.ink, []).append(node)

    def suspect_inks(self) -> list[tuple[StyleBlock, frozenset[Way]]]:
        """Suspect the elements whose colour is that of a ground of this page, and return the blocks that have one.

        Style sheets that are not read may give an element a ground. Then only grounds count that elements declare.
        """
        grounds = {colour(ground) for ground in self.inline_grounds}
        coloured: list[tuple[StyleBlock, str, str]] = []
        if not self.has_foreign_styles:
            coloured = [(block, *colours(block.declarations)) for css, _ in self.sheets for block in blocks(css)]
            grounds |= {WHITE, *(colour(ground) for _, _, ground in coloured)}
            if b"bgcolor" in self.source or b"BGCOLOR" in self.source:
                grounds |= {colour(_legacy(raw.decode("ascii", "replace"))) for raw in _BGCOLOR.findall(self.source)}
        for ink, nodes in self.inks.items():
            if _is_one_of(ink, grounds):
                for node in nodes:
                    self.suspect(node, ("ink",))
        ways: frozenset[Way] = frozenset(("ink",))
        return [(block, ways) for block, ink, _ in coloured if block.certain and _is_one_of(ink, grounds)]

    def suspect_all(self, suspicious: Iterable[tuple[StyleBlock, frozenset[Way]]]) -> None:
        """Suspect the elements of the rules of these blocks. All their names are searched at once."""
        wanted: dict[str, list[tuple[StyleRule, frozenset[Way]]]] = {}
        for block, ways in suspicious:
            for rule in rules(block):
                if rule.certain and (key := _key(rule)) and self.can_spend(1 if key in wanted else SEARCH):
                    wanted.setdefault(key, []).append((rule, ways))
        for node in self.tree.css(",".join(map(_query, wanted))) if wanted else ():
            element = self.element(node)
            for name in (*element.names, element.tag, *(f"[{name}]" for name in element.attributes)):
                for rule, ways in wanted.get(name, ()):
                    if not self.can_spend(1):
                        return
                    self.suspect_by_rule(element, rule, ways)

    def suspect_by_rule(self, element: _Element, rule: StyleRule, ways: Iterable[Way]) -> None:
        """Suspect the element, or what the rule is about inside it."""
        subject, nodes = rule.subject, [element.node]
        if not subject.key and any(compound.key for _, compound in rule.above):
            nodes = element.node.css(subject.tag or f"[{subject.attributes[0][0]}]")
        for node in nodes:
            if self.can_spend(1) and self.fits(self.element(node), rule):
                self.suspect(node, ways, subject.called)
                self.element(node).hidden_by |= subject.called

    def suspect(self, node: LexborNode, ways: Iterable[Way], names: frozenset[str] | None = None) -> None:
        element = self.element(node)
        if element.id in self.suspects or (
            element.tag not in _NO_TEXT and element.id not in self.certain and node.text().strip()
        ):
            self.suspects[element.id] = element
            element.ways.update(ways)
            element.shown_by |= element.names if names is None else names
            if self.is_computed:  # A browser does not say which rule hides it.
                element.shown_by |= element.names or {element.tag}
                element.hidden_by |= element.names

    # The rules of an element

    def element(self, node: LexborNode) -> _Element:
        element = self.elements.get(node.mem_id)
        if element is None:
            element = self.elements[node.mem_id] = _Element(node)
        return element

    def can_spend(self, steps: int) -> bool:
        self.steps += steps
        return self.steps <= MAX_STEPS

    def fits(self, element: _Element, rule: StyleRule) -> bool:
        """Whether the rule is about the element.

        Of the elements around it, the nearest that fits is taken. It is left for another only if its own parent has to
        fit too, and does not. So this takes no more steps than there are elements around, for each part of the selector.
        lexbor tries all ways: five nested parts take minutes on a page that nests deep.
        """
        if not rule.subject.fits(element.tag, element.names, element.attributes):
            return False
        above, place, again = rule.above, 0, None
        parent = element.node.parent
        while place < len(above):
            if parent is None or not parent.is_element_node or not self.can_spend(1):
                return False
            around = self.element(parent)
            how, compound = above[place]
            if compound.fits(around.tag, around.names, around.attributes):
                again = (place, parent) if how == " " else again
                place, parent = place + 1, parent.parent
            elif how == " ":
                parent = parent.parent
            elif again is None:
                return False
            else:
                place, parent = again[0], again[1].parent
        return True

    def fill_index(self) -> None:
        """Index the rules that decide whether a suspect is hidden, by the names and tags that they are about.

        If the page itself says all about its look, also those about what is inside and around the suspects.
        """
        suspects = self.suspects.values()
        ways = {way for element in suspects for way in element.ways}
        names = {name for element in suspects for name in (*element.names, *element.shown_by)}
        tags = {element.tag for element in suspects}
        is_whole = not self.has_foreign_styles
        starts = deciding(ways | INHERITED if is_whole else ways)
        order = 0
        for css, is_certain in self.sheets:
            for block in blocks(css):
                if not any(start in block.small for start in starts):
                    continue
                order += 1
                for rule in rules(
                    block if is_certain else block._replace(certain=False),
                    lambda selector: is_whole or _may_name(selector, names, tags),
                ):
                    for name in rule.subject.called or ("",):
                        self.index.setdefault(name, []).append((order, rule))

    def matched(self, element: _Element) -> list[tuple[int, StyleRule]]:
        if element.matched is None:
            names = ("", element.tag, *element.names)
            pairs = [pair for name in names for pair in self.index.get(name, ()) if pair[1].certain]
            fitting = [pair for pair in pairs if self.fits(element, pair[1])] if self.can_spend(len(pairs)) else []
            element.matched = sorted(fitting, key=lambda pair: (pair[1].weight, pair[0]))
        return element.matched

    def computed(self, element: _Element) -> dict[str, str]:
        """The declarations that win for an element."""
        normal, important = declared(element.attributes.get("style") or "")
        matched = [rule for _, rule in self.matched(element)]
        values = _presented(element)
        for declarations in (*(rule.declarations for rule in matched), normal, *(rule.important for rule in matched)):
            values.update(declarations)
        values.update(important)
        if self.is_computed:
            values = {name: value for name, value in values.items() if name.startswith(_RULED)}
            values.update(declared(element.attributes.get(COMPUTED) or "")[0])
        return values

    # Judging

    def hidden(self) -> Unseen:
        """What elements say of themselves, and what rules say."""
        suspects = self.suspects.values()
        self.fill_index()
        verdicts = [(element, ways) for element in suspects if (ways := self.verdict(element))]
        doubtful: set[int] = set()
        for element, ways in verdicts:
            into = self.certain if element.is_invisible else doubtful
            into.update((element.id,) if ways - INHERITED else self.texts_inside(element, ways))
        characters = 0
        if doubtful and self.has_scripts:
            outermost = (element for element, _ in verdicts if not self.is_inside(element, doubtful))
            characters = sum(len(element.node.text()) for element in outermost)
        return Unseen(frozenset(self.certain), frozenset(doubtful), characters)

    def is_inside(self, element: _Element, hidden: set[int]) -> bool:
        parent = element.node.parent
        while parent is not None and self.can_spend(1):
            if parent.mem_id in hidden or parent.mem_id in self.certain:
                return True
            parent = parent.parent
        return False

    def verdict(self, element: _Element) -> set[Way]:
        """The ways in which an element is hidden, and stays so."""
        values = self.computed(element)
        ways = hiding(values)
        is_page = element.tag in ("html", "body")
        if is_page and self.has_scripts:
            return set()  # until the script is ready
        if is_page:
            ways.discard("ink")  # then something else is behind all of the page
        elif not ways and "ink" in element.ways and self.has_the_colour_of_its_ground(element, values):
            ways = {"ink"}
        if not ways or element.is_invisible:
            return ways
        ways -= self.moved(element, values)
        if ways and (self.can_be_shown(element, values, ways) or self.is_opened(element) or self.is_unread(element)):
            return set()
        return ways

    def moved(self, element: _Element, values: Declarations) -> frozenset[Way]:
        """The ways that an animation, or a script that fades in what the reader scrolls to, will undo."""
        is_animated = any(values.get(name, "none") != "none" for name in ("animation", "animation-name"))
        changes = ("transition", "transition-property", "will-change") if self.has_scripts else ()
        if is_animated or any(values.get(name, "none") not in _STILL for name in changes):
            return frozenset(("visibility", "opacity", "size", "clip", "place", "box", "ink"))
        fades = (
            any(name.startswith("data-") for name in element.attributes) or values.get("transform", "none") != "none"
        )
        return frozenset(("opacity",)) if self.has_scripts and fades else frozenset()

    def can_be_shown(self, element: _Element, values: Declarations, ways: set[Way]) -> bool:
        """Whether a rule of the page shows the element in another state of the page, or on another screen."""
        applied = {order for order, _ in self.matched(element)}
        showing = [pair for name in element.shown_by for pair in self.index.get(name, ())]
        if not self.can_spend(len(showing)):
            return True
        for order, rule in showing:
            if order in applied or (rule.certain and not self.has_scripts):
                continue
            changed = {**values, **rule.declarations, **rule.important}
            if changed != values and not ways & hiding(changed) and ways != {"ink"}:
                return True
        return False

    def is_opened(self, element: _Element) -> bool:
        """Whether a button opens the element, or a script refers to it by its name."""
        if not self.has_scripts:
            return False
        names = [name[1:] for name in element.shown_by if name[0] in ".#"]
        ids = {element.attributes.get("id")}
        if self.is_computed and self.opened and self.can_spend(SEARCH):  # What is opened may be inside what is hidden.
            ids.update(node.attributes["id"] for node in element.node.css("[id]"))
        return not ids.isdisjoint(self.opened) or any(
            len(name) >= LONG_NAME and self.is_mentioned(name) for name in names
        )

    def is_mentioned(self, name: str) -> bool:
        """Whether a script of the page has the name."""
        if name not in self.mentioned:
            word = rb"[\"'.#\s]%b[\"'\s.:,>\[]" % re.escape(name.encode("utf-8", "replace"))
            self.mentioned[name] = not self.can_spend(1 + len(self.source) // CHARACTERS) or (
                self.tree.scripts_contain(name) and re.search(word, self.script) is not None
            )
        return self.mentioned[name]

    def is_unread(self, element: _Element) -> bool:
        """Whether a style sheet that is not read has a rule with the name of the rule that hides the element."""
        unread = self.untold if self.is_computed else self.unread
        return any(name in css for css in unread for name in element.hidden_by if name[0] in ".#")

    def texts_inside(self, root: _Element, ways: set[Way]) -> Iterator[int]:
        """The texts in an element that is hidden in a way that elements inside may undo, unless they do."""
        stack = [root.node.first_child]
        while stack:
            node = stack.pop()
            if node is None:
                continue
            stack.append(node.next)
            if node.is_text_node:
                yield node.mem_id
            elif node.is_element_node and node.mem_id not in self.visited and not self.undoes(self.element(node), ways):
                self.visited.add(node.mem_id)
                stack.append(node.first_child)

    def undoes(self, element: _Element, ways: set[Way]) -> bool:
        values = self.computed(element)
        if "visibility" in ways:
            return values.get("visibility") == "visible"
        if self.has_foreign_styles and (element.names or element.tag not in _INLINE):
            return True
        if "size" in ways:
            size = values.get("font-size", "")
            return bool(size) and (size.endswith("rem") or not size.endswith(("em", "%"))) and not is_no_size(size)
        is_link = element.tag == "a" and "href" in element.attributes
        return is_link or not {"color", "background-color", "background-image"}.isdisjoint(values)

    def has_the_colour_of_its_ground(self, element: _Element, values: Declarations) -> bool:
        ink = colour(values.get("color", ""))
        if ink is None or not ink[3] or not {"text-shadow", "text-stroke", "text-fill-color"}.isdisjoint(values):
            return False
        ground = self.ground(element)
        return ground is not None and look_alike(ink, ground)

    def ground(self, element: _Element) -> Colour | None:
        """The colour behind an element; None if the page alone does not tell."""
        passed = []
        node: LexborNode | None = element.node
        answer = None if self.has_foreign_styles else WHITE
        while node is not None and node.is_element_node:
            if node.mem_id in self.grounds:
                answer = self.grounds[node.mem_id]
                break
            passed.append(node.mem_id)
            around = self.element(node)
            values = self.computed(around)
            is_unknown = values.get("position") in _LIFTED or values.get("background-image", "none") != "none"
            # A style sheet that is not read may give it a ground.
            may_have_one = self.has_foreign_styles and (around.names or around.tag not in _PLAIN)
            if is_unknown or may_have_one or values.get("background-color", "transparent") not in _NO_GROUND:
                behind = None if is_unknown else colour(values.get("background-color", ""))
                answer = behind if behind is not None and behind[3] == 1 else None
                break
            node = node.parent
        self.grounds.update(dict.fromkeys(passed, answer))
        return answer

    # What else the page has

    @cached_property
    def source(self) -> bytes:
        return self.tree.raw_html

    @cached_property
    def has_foreign_styles(self) -> bool:
        """Whether the look of an element may come from a style sheet that is not read."""
        return bool(self.unread) or self.has_links or any(b"@import" in squeezed(css) for css, _ in self.sheets)

    @cached_property
    def has_links(self) -> bool:
        """Whether the page names style sheets in other files."""
        return self.tree.css_first('link[rel~="stylesheet" i]') is not None

    @cached_property
    def has_scripts(self) -> bool:
        return self.tree.css_first(_PROGRAMS) is not None

    @cached_property
    def script(self) -> bytes:
        return "\n".join(node.text() for node in self.tree.css(_PROGRAMS)).encode("utf-8", "replace")

    @cached_property
    def opened(self) -> frozenset[str]:
        """The ids that buttons and links refer to."""
        values = [
            value
            for node in self.tree.css(_OPENERS)
            for name, value in node.attributes.items()
            if value and (name in ("aria-controls", "for") or value[0] == "#")
        ]
        return frozenset(part.lstrip("#") for value in values for part in value.split())


def _may_name(selector: str, names: set[str], tags: set[str]) -> bool:
    """Whether what the selector is about, its last part, may be an element with one of these names or tags."""
    last = _LAST_PART.search(selector)
    if "\\" in selector or "(" in selector or last is None:
        return True
    if part_names := NAME.findall(last[1]):
        return not names.isdisjoint(part_names)
    tag = last[1].partition(":")[0].lower()
    return not tag or "[" in tag or tag in tags


def _key(rule: StyleRule) -> str:
    """What is searched to find the elements of a rule: a name if it has any, or a tag, or an attribute."""
    above = next((compound.key for _, compound in rule.above if compound.key), "")
    key = rule.subject.key or above or rule.subject.tag
    if '"' in key or "\\" in key:
        return ""
    return key or (f"[{rule.subject.attributes[0][0]}]" if rule.subject.attributes else "")


def _query(key: str) -> str:
    """In a form that lexbor accepts, whatever the characters of a name."""
    if key[0] not in ".#" or _USUAL_NAME.fullmatch(key):
        return key
    return f'[{"id" if key[0] == "#" else "class"}~="{key[1:]}"]'


def _presented(element: _Element) -> dict[str, str]:
    """What the attributes of HTML say about the look of an element, which every rule overrides."""
    attributes, values = element.attributes, {}
    if ink := attributes.get({"font": "color", "body": "text"}.get(element.tag, "")):
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


def _is_one_of(ink: str, grounds: Iterable[Colour | None]) -> bool:
    front = colour(ink)
    return front is not None and front[3] > 0 and any(ground and look_alike(front, ground) for ground in grounds)
