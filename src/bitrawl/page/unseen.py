"""Which parts of a page no reader sees, by its attributes, its inline styles and its own style elements.

External style sheets and scripts are not read. So a text counts as hidden only if the page itself says so, and nothing in
it shows how a reader or a script could make it appear: see docs/decisions/unseen-text.md.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from bitrawl.page.styles import (
    DECIDING,
    INHERITED,
    MOVING,
    WHITE,
    Attributes,
    Colour,
    Declarations,
    Hint,
    Rule,
    Sheet,
    StyleBlock,
    Way,
    colour,
    colours,
    declared,
    hiding,
    hint_of_style,
    is_no_size,
    look_alike,
    names_of,
    on_screen,
    rules,
    sheet,
)

# What one page may cost, in looks at one element or one rule (judgement). What is left then counts as seen.
MAX_STEPS = 100_000
SEARCH = 50  # steps for a name that is searched over the tree,
CHARACTERS = 2000  # and one for so many characters of a script
# Characters of a style element, and of all that are read (judgement). Longer ones are the look of a whole site. Reading them
# too took 13 % of the time of analysis on trafilatura's pages.
MAX_SHEET, MAX_SHEETS = 8_000, 16_000
LONG_NAME = 3  # letters of a name that a script hardly contains by chance; judgement

_SEARCHED = "style,[style],[hidden]"
_PROGRAMS = 'script:not([type]),script[type=""],script[type*="javascript" i],script[type="module" i]'
_OPENERS = "[aria-controls],[data-target],[data-bs-target],label[for],a[href^='#']"
_NO_TEXT = frozenset(
    ("head", "script", "style", "link", "meta", "title", "template", "noscript", "img", "svg", "input")
)
_INLINE = frozenset(
    (
        *("a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "em", "font", "i", "ins", "kbd", "mark", "q", "s"),
        *("small", "span", "strong", "sub", "sup", "tt", "u", "var"),
    )
)
# Elements that hardly have a ground unless a name says so.
_PLAIN = _INLINE | {"p", "div", "li", "ul", "ol", "dl", "dd", "dt", "section", "article", "main", "blockquote"}
_MOVED = frozenset(Way) - {Way.DISPLAY, Way.INDENT}
_STILL = ("none", "all 0s", "0s", "auto")
_LIFTED = ("absolute", "fixed", "sticky")  # what is behind is not what is around
_NO_GROUND = ("transparent", "none", "initial", "unset", "inherit")
_BGCOLOR = re.compile(rb"(?i)bgcolor=[\"']?(#?\w+)")


class Unseen(NamedTuple):
    """The `mem_id` of elements, and of single texts, that no reader sees. All that is inside such an element is hidden."""

    certain: frozenset[int] = frozenset()
    doubtful: frozenset[int] = frozenset()  # if they hold most of the text, a script shows it when it is ready
    doubtful_characters: int = 0  # 0 if the page has no script


def unseen(tree: LexborHTMLParser) -> Unseen:
    page = _Styled(tree)
    page.read(tree.css(_SEARCHED))
    if not page.has_links:
        page.read_fonts(tree.css("font[color]"))
    page.find_suspects()
    return page.hidden()


class _Element:
    """What rules ask about an element, read once."""

    __slots__ = ("attributes", "hidden_by", "id", "matched", "names", "node", "shown_by", "tag", "ways")

    def __init__(self, node: LexborNode) -> None:
        self.id = node.mem_id
        self.node = node
        self.tag = node.tag or ""
        self.attributes: Attributes = node.attributes
        self.names = names_of(self.attributes)
        self.matched: list[tuple[int, Rule]] | None = None  # the rules about it, the weakest first
        self.ways: set[Way] = set()  # in which it may be hidden
        self.shown_by: set[str] = set()  # the names that a rule that shows it would have
        self.hidden_by: frozenset[str] = frozenset()  # those of the rules that hide it


class _Styled:
    """A page with what its own styles say."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self.tree = tree
        self.elements: dict[int, _Element] = {}
        self.suspects: dict[int, _Element] = {}
        self.certain: set[int] = set()  # hidden by what the element itself says
        self.sheets: list[tuple[Sheet, bool]] = []  # and whether it holds for all readers
        self.unread: list[str] = []
        self.characters = 0  # of the sheets that were read
        self.hinted: list[tuple[StyleBlock, frozenset[Way]]] = []
        self.inks: dict[str, list[LexborNode]] = {}  # elements with a colour of their own
        self.inline_grounds: set[str] = set()
        self.index: dict[str, list[tuple[int, Rule]]] = {}  # by name or tag; with the place of the rule in the page
        self.is_complete = False  # whether the index has the rules about every element
        self.mentioned: dict[str, bool] = {}
        self.grounds: dict[int, Colour | None] = {}
        self.visited: set[int] = set()
        self.steps = 0

    # Reading

    def read(self, nodes: Iterable[LexborNode]) -> None:
        """Collect the style sheets, and the elements that their own attributes may hide."""
        last = 0
        for node in nodes:
            if node.mem_id == last:  # once for each part of the selector
                continue
            last = node.mem_id
            tag, attributes = node.tag or "", node.attributes
            if tag == "style":
                self.read_sheet(node)
            elif _is_closed(attributes):
                self.certain.add(last)
            elif (style := attributes.get("style")) and any(said := hint_of_style(style)):
                self.read_style(node, attributes, said)

    def read_fonts(self, nodes: Iterable[LexborNode]) -> None:
        for node in nodes:
            self.inks.setdefault(_legacy(node.attributes["color"] or ""), []).append(node)

    def find_suspects(self) -> None:
        """Find the elements that rules or colours may hide."""
        if self.inks or self.sheets:
            self.read_inks()
        self.suspect_all(self.hinted)

    def read_sheet(self, node: LexborNode) -> None:
        media = on_screen(node.attributes.get("media") or "")
        if media is None:
            return
        css = node.text()
        if len(css) > MAX_SHEET or self.characters + len(css) > MAX_SHEETS:
            self.unread.append(css)
            return
        self.characters += len(css)
        found, hinted = sheet(css)
        certain = media and (node.parent is None or node.parent.tag != "noscript")
        self.sheets.append((found, certain))
        if certain:  # else it holds for some readers: it can show a text, and hides none
            blocks = ((found.block(number), ways) for number, ways in hinted)
            self.hinted += [(block, ways) for block, ways in blocks if block is not None and block.certain]

    def read_style(self, node: LexborNode, attributes: Attributes, said: Hint) -> None:
        if Way.DISPLAY in said.ways:
            self.certain.add(node.mem_id)
            return
        if said.ways:
            self.suspect(node, names_of(attributes), said.ways)
        if said.ground:
            self.inline_grounds.add(said.ground)
        if said.ink:
            self.inks.setdefault(said.ink, []).append(node)

    def read_inks(self) -> None:
        """Suspect the texts that have the colour of a ground of this page.

        Style sheets that are not read may give an element a ground. Then only grounds count that elements declare.
        """
        grounds = {colour(ground) for ground in self.inline_grounds}
        if not self.has_foreign_styles:
            if b"bgcolor" in self.source or b"BGCOLOR" in self.source:
                grounds |= {colour(_legacy(one.decode("ascii", "replace"))) for one in _BGCOLOR.findall(self.source)}
            coloured = [
                (found, number, *colours(body)) for found, _ in self.sheets for number, body in enumerate(found.bodies)
            ]
            grounds |= {WHITE, *(colour(ground) for _, _, _, ground in coloured if ground)}
            blocks = [found.block(number) for found, number, ink, _ in coloured if ink and _is_one_of(ink, grounds)]
            self.hinted += [(block, frozenset((Way.INK,))) for block in blocks if block is not None and block.certain]
        for ink, nodes in self.inks.items():
            if _is_one_of(ink, grounds):
                for node in nodes:
                    self.suspect(node, names_of(node.attributes), {Way.INK})

    def suspect_all(self, hinted: Iterable[tuple[StyleBlock, frozenset[Way]]]) -> None:
        """Suspect the elements of these rules. All their names are searched at once."""
        wanted: dict[str, list[tuple[Rule, frozenset[Way]]]] = {}
        for block, ways in hinted:
            for rule in rules(block):
                if rule.certain and (key := _key(rule)) and self.can_spend(1 if key in wanted else SEARCH):
                    wanted.setdefault(key, []).append((rule, ways))
        if not wanted:
            return
        for node in self.tree.css(",".join(map(_query, wanted))):
            element = self.element(node)
            for name in (*element.names, element.tag, *(f"[{name}]" for name in element.attributes)):
                for rule, ways in wanted.get(name, ()):
                    if not self.can_spend(1):
                        return
                    self.suspect_found(element, rule, ways)

    def suspect_found(self, element: _Element, rule: Rule, ways: Iterable[Way]) -> None:
        """Suspect the element, or what the rule is about inside it."""
        if rule.subject.key or not any(compound.key for _, compound in rule.above):
            if self.fits(element, rule):
                self.suspect(element.node, rule.subject.called, ways)
                element.hidden_by |= rule.subject.called
            return
        for node in element.node.css(rule.subject.tag or f"[{rule.subject.attributes[0][0]}]"):
            if self.can_spend(1) and self.fits(self.element(node), rule):
                self.suspect(node, rule.subject.called, ways)
                self.element(node).hidden_by |= rule.subject.called

    def suspect(self, node: LexborNode, names: Iterable[str], ways: Iterable[Way]) -> None:
        element = self.element(node)
        if element.id in self.suspects or (
            element.tag not in _NO_TEXT and element.id not in self.certain and node.text().strip()
        ):
            self.suspects[element.id] = element
            element.ways.update(ways)
            element.shown_by.update(names)

    # Finding the elements of a rule, and the rules of an element

    def element(self, node: LexborNode) -> _Element:
        found = self.elements.get(node.mem_id)
        if found is None:
            found = self.elements[node.mem_id] = _Element(node)
        return found

    def can_spend(self, steps: int) -> bool:
        self.steps += steps
        return self.steps <= MAX_STEPS

    def fits(self, element: _Element, rule: Rule) -> bool:
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

    def is_mentioned(self, name: str) -> bool:
        """Whether a script of the page has the name."""
        found = self.mentioned.get(name)
        if found is None:
            found = not self.can_spend(1 + len(self.source) // CHARACTERS)
            if not found and self.tree.scripts_contain(name):
                word = rb"[\"'.#\s]%b[\"'\s.:,>\[]" % re.escape(name.encode("utf-8", "replace"))
                found = re.search(word, self.script) is not None
            self.mentioned[name] = found
        return found

    def index_rules(self, ways: Iterable[Way]) -> None:
        """Index the rules that decide these ways for one of the suspects."""
        suspects = self.suspects.values()
        names = {name for one in suspects for name in (*one.names, *one.shown_by)}
        tags = {one.tag for one in suspects}
        self.fill_index(ways, lambda selector: _may_name(selector, names, tags))

    def index_all(self) -> None:
        """Index the rules about every element, for what is inside and around the suspects."""
        if not self.is_complete and not self.has_foreign_styles:
            self.fill_index(INHERITED | {way for one in self.suspects.values() for way in one.ways}, bool)
        self.is_complete = True

    def fill_index(self, ways: Iterable[Way], wanted: Callable[[str], bool]) -> None:
        telling = sorted({start for way in ways for start in DECIDING[way]})
        if set(ways) - {Way.DISPLAY}:
            telling += MOVING
        self.index.clear()
        order = 0
        for found, is_certain in self.sheets:
            for number in found.having(telling):
                order += 1
                block = found.block(number)
                if block is None:
                    continue
                for rule in rules(block if is_certain else block._replace(certain=False), wanted):
                    for name in rule.subject.called or ("",):
                        self.index.setdefault(name, []).append((order, rule))

    def matched(self, element: _Element) -> list[tuple[int, Rule]]:
        if element.matched is None:
            names = ("", element.tag, *element.names)
            candidates = [one for name in names for one in self.index.get(name, ()) if one[1].certain]
            fitting = (
                [one for one in candidates if self.fits(element, one[1])] if self.can_spend(len(candidates)) else []
            )
            element.matched = sorted(fitting, key=lambda one: (one[1].weight, one[0]))
        return element.matched

    def computed(self, element: _Element) -> dict[str, str]:
        """The declarations that win for an element."""
        normal, important = declared(element.attributes.get("style") or "")
        values = _presented(element)
        matched = self.matched(element)
        for _, rule in matched:
            values.update(rule.declarations)
        values.update(normal)
        for _, rule in matched:
            values.update(rule.important)
        values.update(important)
        return values

    # Judging

    def hidden(self) -> Unseen:
        """What elements say of themselves, and what rules say."""
        if not self.suspects:
            return Unseen(frozenset(self.certain))
        self.index_rules({way for one in self.suspects.values() for way in one.ways})
        verdicts = [(element, ways) for element in self.suspects.values() if (ways := self.verdict(element))]
        doubtful: set[int] = set()
        for element, ways in verdicts:
            into = self.certain if _is_invisible(element) else doubtful
            if ways - INHERITED:
                into.add(element.id)
            else:
                into.update(self.texts_inside(element, ways))
        characters = 0
        if doubtful and self.has_scripts:
            outermost = (one for one, _ in verdicts if not self.is_inside(one, doubtful))
            characters = sum(len(one.node.text()) for one in outermost)
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
            ways.discard(Way.INK)  # then something else is behind all of the page
        elif not ways and Way.INK in element.ways and self.has_the_colour_of_its_ground(element, values):
            ways = {Way.INK}
        if not ways or _is_invisible(element):
            return ways
        ways -= self.moved(element, values)
        if ways and (self.can_be_shown(element, values, ways) or self.is_opened(element) or self.is_unread(element)):
            return set()
        return ways

    def moved(self, element: _Element, values: Declarations) -> frozenset[Way]:
        """The ways that an animation, or a script that fades in what the reader scrolls to, will undo."""
        if any(values.get(name, "none") != "none" for name in ("animation", "animation-name")):
            return _MOVED
        if not self.has_scripts:
            return frozenset()
        if any(values.get(name, "none") not in _STILL for name in ("transition", "transition-property", "will-change")):
            return _MOVED
        fades = any(name.startswith("data-") for name in element.attributes)
        return frozenset((Way.OPACITY,)) if fades or values.get("transform", "none") != "none" else frozenset()

    def can_be_shown(self, element: _Element, values: Declarations, ways: set[Way]) -> bool:
        """Whether a rule of the page shows the element in another state of the page, or on another screen."""
        applied = {order for order, _ in self.matched(element)}
        showing = [one for name in element.shown_by for one in self.index.get(name, ())]
        if not self.can_spend(len(showing)):
            return True
        for order, rule in showing:
            if order in applied or (rule.certain and not self.has_scripts):
                continue
            changed = {**values, **rule.declarations, **rule.important}
            if changed != values and not ways & hiding(changed) and ways != {Way.INK}:
                return True
        return False

    def is_unread(self, element: _Element) -> bool:
        """Whether a style sheet that is not read has a rule with the name of the rule that hides the element."""
        named = [name for name in element.hidden_by if name[0] in ".#"] if self.unread else []
        return any(name in css for css in self.unread for name in named)

    def is_opened(self, element: _Element) -> bool:
        """Whether a button opens the element, or a script refers to it by its name."""
        if not self.has_scripts:
            return False
        identity = element.attributes.get("id")
        if identity and identity in self.opened:
            return True
        names = [name[1:] for name in element.shown_by if name[0] in ".#"]
        return any(len(name) >= LONG_NAME and self.is_mentioned(name) for name in names)

    def texts_inside(self, root: _Element, ways: set[Way]) -> Iterator[int]:
        """The texts in an element that is hidden in a way that elements inside may undo, unless they do."""
        self.index_all()
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
        if Way.VISIBILITY in ways:
            return values.get("visibility") == "visible"
        if self.has_foreign_styles and (element.names or element.tag not in _INLINE):
            return True
        if Way.SIZE in ways:
            size = values.get("font-size", "")
            return bool(size) and (size.endswith("rem") or not size.endswith(("em", "%"))) and not is_no_size(size)
        is_link = element.tag == "a" and "href" in element.attributes
        return is_link or not {"color", "background-color", "background-image"}.isdisjoint(values)

    def has_the_colour_of_its_ground(self, element: _Element, values: Declarations) -> bool:
        ink = colour(values.get("color", ""))
        if ink is None or not ink[3] or not {"text-shadow", "text-stroke", "text-fill-color"}.isdisjoint(values):
            return False
        self.index_all()
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
            if self.is_ground(around, values):
                answer = _one_colour(values)
                break
            node = node.parent
        self.grounds.update(dict.fromkeys(passed, answer))
        return answer

    def is_ground(self, element: _Element, values: Declarations) -> bool:
        """Whether the element has a ground of its own, or may have one that the page does not tell."""
        if values.get("position") in _LIFTED or values.get("background-image", "none") != "none":
            return True
        if values.get("background-color", "transparent") not in _NO_GROUND:
            return True
        return self.has_foreign_styles and (bool(element.names) or element.tag not in _PLAIN)

    # What else the page has

    @cached_property
    def source(self) -> bytes:
        return self.tree.raw_html

    @cached_property
    def has_foreign_styles(self) -> bool:
        """Whether the look of an element may come from a style sheet that is not read."""
        if self.unread or any(b"@import" in found.squeezed for found, _ in self.sheets):
            return True
        return self.has_links

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
        found: set[str] = set()
        for node in self.tree.css(_OPENERS):
            for name, value in node.attributes.items():
                if value and (name in ("aria-controls", "for") or value[0] == "#"):
                    found.update(part.lstrip("#") for part in value.split())
        return frozenset(found)


def _is_closed(attributes: Attributes) -> bool:
    """A text that is hidden until it is searched for can be read, as in a closed <details>."""
    return "hidden" in attributes and (attributes["hidden"] or "").strip().lower() != "until-found"


def _is_invisible(element: _Element) -> bool:
    """Whether the element says so itself. That is believed, as for one that is not displayed."""
    return Way.VISIBILITY in hint_of_style(element.attributes.get("style") or "").ways


_NAME = re.compile(r"[.#](?:\\.|[\w-])+")
_LAST_PART = re.compile(r"([^\s>+~]*)\s*\Z")
_USUAL_NAME = re.compile(r"[.#][A-Za-z_][A-Za-z0-9_-]*")


def _may_name(selector: str, names: set[str], tags: set[str]) -> bool:
    """Whether what the selector is about, its last part, may be an element with one of these names or tags."""
    if "\\" in selector or "(" in selector:
        return True
    last = _LAST_PART.search(selector)
    part = last[1] if last else ""
    if found := _NAME.findall(part):
        return not names.isdisjoint(found)
    tag = part.partition(":")[0].lower()
    return not tag or "[" in tag or tag in tags


def _key(rule: Rule) -> str:
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
    if ink := attributes.get("color" if element.tag == "font" else "text" if element.tag == "body" else ""):
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
    found = colour(ink)
    return found is not None and found[3] > 0 and any(one is not None and look_alike(found, one) for one in grounds)


def _one_colour(values: Declarations) -> Colour | None:
    """The colour of a ground; None if it has several, or lets something through."""
    if values.get("position") in _LIFTED or values.get("background-image", "none") != "none":
        return None
    found = colour(values.get("background-color", ""))
    return found if found is not None and found[3] == 1 else None
