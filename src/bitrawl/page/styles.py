"""What the style elements and style attributes of a page say: the part of CSS that can hide a text or show it.

The ways in which a page hides a text, and which declarations of its styles do it.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import NamedTuple

Declarations = Mapping[str, str]

# Judgements about lengths.
AWAY = -900.0  # Pixels to the left or above: no reader scrolls there. Pages write -999em, -1000px, -9999px.
FAR = 5000.0  # Pixels to the right or below; the slides of a slide show stand nearer.
TINY = 1.0  # Pixels
SAME_INK = 8  # The most by which the red, green or blue of two colours may differ that look the same.

_PIXELS = {"px": 1.0, "": 1.0, "em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0}
_PIXELS |= {"cm": 37.8, "mm": 3.78, "vw": 10.0, "vh": 10.0, "vmin": 10.0, "vmax": 10.0}
_LENGTH = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+))([a-z]*)(?![\w%.])")
_SHARE = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+))%")
_PREFIX = re.compile(r"^-(?:webkit|moz|ms|o)-")

Colour = tuple[int, int, int, float]
CLEAR: Colour = (0, 0, 0, 0.0)
WHITE: Colour = (255, 255, 255, 1.0)
# The names of HTML 4. Of the other names of CSS, bitrawl knows only whether two of them are equal.
_NAMES = {
    "black": "#000",
    "silver": "#c0c0c0",
    "gray": "#808080",
    "white": "#fff",
    "maroon": "#800000",
    "red": "#f00",
    "purple": "#800080",
    "fuchsia": "#f0f",
    "green": "#008000",
    "lime": "#0f0",
    "olive": "#808000",
    "yellow": "#ff0",
    "navy": "#000080",
    "blue": "#00f",
    "teal": "#008080",
    "aqua": "#0ff",
}
_HEX = re.compile(r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$")
_RGB = re.compile(r"rgba?\(([^()]*)\)$")


Attributes = Mapping[str, str | None]


@lru_cache(maxsize=4096)
def _class_names(classes: str) -> frozenset[str]:
    return frozenset(f".{name}" for name in classes.split())


class Compound(NamedTuple):
    """The conditions of a selector on one element."""

    tag: str  # or nothing
    names: frozenset[str]  # classes and id, each with its `.` or `#`
    attributes: tuple[tuple[str, str, str], ...]  # name, operator, value

    @property
    def key(self) -> str:
        """The name that the fewest elements have: an id before a class. Nothing if it has none."""
        return min(self.names, default="")

    @property
    def called(self) -> frozenset[str]:
        """Its names; if it has none, its tag."""
        return self.names or frozenset(filter(None, (self.tag,)))

    def fits(self, tag: str, names: frozenset[str], attributes: Attributes) -> bool:
        if (self.tag and self.tag != tag) or not self.names <= names:
            return False
        return not self.attributes or all(_fits(attributes, *condition) for condition in self.attributes)


class Rule(NamedTuple):
    """A selector of a style sheet with its declarations."""

    subject: Compound
    above: tuple[tuple[str, Compound], ...]  # the elements around it, from the inside: ">" or " ", and its conditions
    weight: tuple[int, int, int, int]  # the later, the stronger: outside layers, then ids, classes and tags
    declarations: Declarations
    important: Declarations
    certain: bool  # holds on every screen, and whatever the reader points at


class StyleBlock(NamedTuple):
    """Selectors and declarations as written."""

    selectors: str
    body: str
    certain: bool  # holds on every screen
    layered: bool


_SQUEEZE = bytes(range(256)).lower()
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
# At-rules that hold no rules for elements.
_NO_RULES = ("@keyframes", "@font-face", "@page", "@property", "@counter-style", "@font-feature-values")
_SCREEN = re.compile(r"^\s*(?:only\s+)?(?:all|screen)?\s*$", re.IGNORECASE)
_PRINT = re.compile(r"^\s*(?:only\s+)?(?:print|speech|aural|braille|embossed)\b", re.IGNORECASE)


def squeeze(css: str) -> bytes:
    """Without white space, in lower case. It is searched in a fraction of the time."""
    return css.encode("utf-8", "replace").translate(_SQUEEZE, b" \t\r\n\f")


class Sheet:
    """A style sheet. Its blocks are read when they are asked for: most are about nothing that matters here."""

    def __init__(self, css: str) -> None:
        if "/*" in css:
            css = _COMMENT.sub(" ", css)
        self._css = css.replace("<!--", "").replace("-->", "") if "<!--" in css else css
        self.squeezed = squeeze(self._css)

    @cached_property
    def _chunks(self) -> list[str]:
        return self._css.split("}")

    @cached_property
    def bodies(self) -> list[bytes]:
        """The declarations of each block, without white space and in lower case."""
        return [small[small.rfind(b"{") + 1 :] for small in self.squeezed.split(b"}")]

    def having(self, starts: Iterable[bytes], places: Iterable[int] = ()) -> list[int]:
        """The blocks that have one of these texts, or that are at one of these places, of the squeezed sheet."""
        small, found = self.squeezed, list(places)
        for start in starts:
            place = small.find(start)
            while place >= 0:
                found.append(place)
                place = small.find(start, place + 1)
        numbers: list[int] = []
        number = before = 0
        for place in sorted(found):
            number += small.count(b"}", before, place)
            before = place
            if not numbers or numbers[-1] != number:
                numbers.append(number)
        return numbers

    @cached_property
    def _around(self) -> tuple[list[int], list[tuple[str, ...]]]:
        """Where what is around a block changes, and what it is then: the at-rules, from the outside.

        Most chunks are a rule that opens and closes its own block. The others open or close what is around rules.
        """
        places: list[int] = [0]
        found: list[tuple[str, ...]] = [()]
        around: list[str] = []
        for number in [n for n, chunk in enumerate(self._chunks) if chunk.count("{") != 1 or "@" in chunk]:
            openings = self._chunks[number].split("{")[:-1]
            around.extend(opening.rpartition(";")[2].strip() for opening in openings[:-1])
            places += (number, number + 1)
            found.append(tuple(around[:_DEEPEST]) if openings else _NOWHERE)
            if not openings and around:
                around.pop()
            found.append(tuple(around[:_DEEPEST]))
        return places, found

    def block(self, number: int) -> StyleBlock | None:
        """A block; None if it is about no element on a screen."""
        places, found = self._around
        around = found[bisect_right(places, number) - 1]
        opening, brace, body = self._chunks[number].rpartition("{")
        selectors = opening.rpartition("{")[2].rpartition(";")[2].strip()
        certain = _when(around) if brace and not selectors.startswith("@") else None
        if certain is None:
            return None
        return StyleBlock(selectors, body, certain, any(rule.startswith("@layer") for rule in around))


_NOWHERE = ("}",)  # no at-rule, so nothing inside it counts
_DEEPEST = 8  # at-rules around a block; judgement


def _when(around: Sequence[str]) -> bool | None:
    """Whether what is inside these at-rules always holds on a screen; None if it never does."""
    certain = True
    for rule in around:
        name, _, condition = _PREFIX.sub("", rule.removeprefix("@")).partition(" ")
        name = name.lower()
        if not rule.startswith("@") or f"@{name}" in _NO_RULES:
            return None
        if name == "media":
            media = on_screen(condition)
            if media is None:
                return None
            certain = certain and media
        elif name != "layer":
            certain = False
    return certain


def on_screen(media: str) -> bool | None:
    """Whether a list of media includes every screen; None if it includes no screen."""
    queries = media.split(",")
    if any(_SCREEN.match(query) for query in queries):
        return True
    return None if all(_PRINT.match(query) for query in queries) else False


_ARGUMENTS = re.compile(r"\([^()]*\)")
_COMMA = re.compile(r",(?![^(\[]*[)\]])")
_COMBINATOR = re.compile(r"\s*([>+~\s])\s*")
_COMPOUND = re.compile(r"(\*|[a-zA-Z][\w-]*)?((?:[.#](?:\\.|[\w-])+|\[[^\]]*\])*)((?::.*)?)", re.DOTALL)
_NAME = re.compile(r"[.#](?:\\.|[\w-])+")
_CONDITION = re.compile(r"\[\s*([\w-]+)\s*(?:([~^$*|]?=)\s*[\"']?([^\"'\]]*)[\"']?\s*)?\]")
MAX_SELECTOR = 300  # Characters; judgement.


def rules(block: StyleBlock, wanted: Callable[[str], bool] = bool) -> Iterator[Rule]:
    """The rules of a block with a selector that is wanted.

    A selector that bitrawl cannot read in full is not certain: it hides nothing.
    """
    selectors = _COMMA.split(block.selectors) if "," in block.selectors else (block.selectors,)
    selectors = [selector for selector in selectors if wanted(selector)]
    normal, important = declared(block.body) if selectors else ({}, {})
    for selector in selectors:
        rule = _selected(selector.strip())
        if rule is not None:
            weight = (0 if block.layered else 1, *rule.weight[1:])
            yield rule._replace(
                weight=weight, declarations=normal, important=important, certain=block.certain and rule.certain
            )


@lru_cache(maxsize=4096)
def _selected(selector: str) -> Rule | None:
    """What a selector alone says, as a rule without declarations. None if it is about no element."""
    if not selector or len(selector) > MAX_SELECTOR or "::" in selector:
        return None
    bare = selector
    while (shorter := _ARGUMENTS.sub("", bare)) != bare:
        bare = shorter
    certain = bare == selector
    first, *rest = _COMBINATOR.split(bare)
    compounds, combinators = [first, *rest[1::2]], [one.strip() or " " for one in rest[::2]]
    read = [_compound(text) for text in compounds]
    subject = read[-1]
    if subject is None or not (subject.tag or subject.names or subject.attributes):
        return None
    steps = [(how, one) for how, one in zip(combinators, read, strict=False) if one is not None]
    # A pseudo-class is a state that the reader or a script changes, or a place among others.
    certain = certain and ":" not in bare and ".no-js" not in bare and ".nojs" not in bare
    certain = certain and len(steps) == len(combinators) and not {"+", "~"} & set(combinators)
    every = [one for one in read if one is not None]
    weight = (
        1,
        sum(name[0] == "#" for one in every for name in one.names),
        sum(name[0] == "." for one in every for name in one.names) + sum(len(one.attributes) for one in every),
        sum(bool(one.tag) for one in every),
    )
    return Rule(subject, tuple(reversed(steps)), weight, {}, {}, certain)


def _compound(text: str) -> Compound | None:
    match = _COMPOUND.fullmatch(text)
    if match is None:
        return None
    tag = (match[1] or "").lower().removeprefix("*")
    conditions = tuple((one[0].lower(), one[1], one[2]) for one in _CONDITION.findall(match[2]))
    if len(conditions) != match[2].count("["):
        return None
    plain = _CONDITION.sub("", match[2])
    return Compound(tag, frozenset(name.replace("\\", "") for name in _NAME.findall(plain)), conditions)


def names_of(attributes: Attributes) -> frozenset[str]:
    """Classes and id, as selectors write them."""
    names = _class_names(attributes.get("class") or "")
    identity = attributes.get("id")
    return names | {f"#{identity}"} if identity else names


def _fits(attributes: Attributes, name: str, operator: str, value: str) -> bool:
    if name not in attributes:
        return False
    actual = attributes[name] or ""
    tests = {
        "": True,
        "=": actual == value,
        "~=": value in actual.split(),
        "^=": bool(value) and actual.startswith(value),
        "$=": bool(value) and actual.endswith(value),
        "*=": bool(value) and value in actual,
        "|=": actual == value or actual.startswith(f"{value}-"),
    }
    return tests[operator]


@lru_cache(maxsize=4096)
def declared(text: str) -> tuple[Declarations, Declarations]:
    """The declarations of a block or of a style attribute: the usual ones, and those that are important."""
    normal: dict[str, str] = {}
    important: dict[str, str] = {}
    for part in text.lower().split(";"):
        name, colon, value = part.partition(":")
        name = _PREFIX.sub("", name.strip())
        if colon and name in _KNOWN:
            value, mark, _ = value.partition("!")
            _KNOWN[name](important if mark else normal, name, value.strip())
    return normal, important


def _plain(into: dict[str, str], name: str, value: str) -> None:
    into[name] = value


def _background(into: dict[str, str], _: str, value: str) -> None:
    into["background-image"] = value if "(" in _RGB_VALUE.sub("", value) else "none"
    colours = [part for part in _PART.findall(value) if colour(part) is not None]
    into["background-color"] = colours[0] if colours else ("none" if value in ("none", "0", "0 0") else value)
    if "text" in value.split():
        into["background-clip"] = "text"


_RGB_VALUE = re.compile(r"(?:rgba?|hsla?)\([^()]*\)")
_PART = re.compile(r"[\w#.%-]+\([^()]*\)|[^\s()]+")


def _font(into: dict[str, str], _: str, value: str) -> None:
    into["font-size"] = "0" if _NO_SIZE.search(value) else "medium"


_NO_SIZE = re.compile(r"(?:^|\s)0(?:px|em|rem|pt|%)?(?:/|\s)")


def _overflow(into: dict[str, str], _: str, value: str) -> None:
    into["overflow"] = "hidden" if "hidden" in value or "clip" in value else value


def _sides(into: dict[str, str], name: str, value: str) -> None:
    parts = value.split() or [""]
    before = "" if name == "inset" else f"{name}-"
    for number, side in enumerate(("top", "right", "bottom", "left")):
        into[before + side] = parts[number] if number < len(parts) else parts[number % 2 if len(parts) > 1 else 0]


_KNOWN = dict.fromkeys(
    (
        *("display", "visibility", "opacity", "filter", "font-size", "text-indent", "clip", "clip-path"),
        *("position", "left", "right", "top", "bottom", "transform", "translate", "scale", "content-visibility"),
        *("margin-left", "margin-top", "width", "height", "max-width", "max-height"),
        *("padding-top", "padding-bottom", "color", "background-color", "background-image", "background-clip"),
        *("text-fill-color", "text-shadow", "text-stroke", "transition", "transition-property", "animation"),
        *("animation-name", "will-change"),
    ),
    _plain,
) | {
    "background": _background,
    "font": _font,
    "overflow": _overflow,
    "overflow-x": _overflow,
    "overflow-y": _overflow,
    "margin": _sides,
    "padding": _sides,
    "inset": _sides,
}


def pixels(value: str) -> float | None:
    """A length in pixels, roughly; None for a share, a word or a formula."""
    match = _LENGTH.match(value)
    if match is None:
        return None
    size = float(match[1])
    return size * _PIXELS[match[2]] if match[2] in _PIXELS else None


def share(value: str) -> float | None:
    match = _SHARE.match(value)
    return float(match[1]) if match else None


@lru_cache(maxsize=1024)
def colour(value: str) -> Colour | None:
    """None for what is no colour, or for a colour that bitrawl does not know."""
    if value == "transparent":
        return CLEAR
    if match := _HEX.match(_NAMES.get(value, value)):
        return _from_hex(match[1])
    if match := _RGB.match(value):
        return _from_numbers([part for part in re.split(r"[\s,/]+", match[1].strip()) if part])
    return None


def _from_hex(digits: str) -> Colour:
    if len(digits) < 6:
        digits = "".join(digit * 2 for digit in digits)
    red, green, blue, *alpha = (int(digits[i : i + 2], 16) for i in range(0, len(digits), 2))
    return red, green, blue, alpha[0] / 255 if alpha else 1.0


def _from_numbers(parts: list[str]) -> Colour | None:
    try:
        values = [float(part[:-1]) * 2.55 if part.endswith("%") else float(part) for part in parts]
    except ValueError:
        return None
    if len(values) not in (3, 4):
        return None
    alpha = values[3] / 255 if len(values) > 3 and parts[3].endswith("%") else (*values, 1.0)[3]
    return round(values[0]), round(values[1]), round(values[2]), alpha


def look_alike(ink: Colour, ground: Colour) -> bool:
    return all(abs(a - b) <= SAME_INK for a, b in zip(ink[:3], ground[:3], strict=True))


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
DECIDING: dict[Way, tuple[bytes, ...]] = {
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
MOVING = (b"transition", b"animation", b"will-change")
# Passed on to what is inside, which may undo it; the other ways hide all that is inside.
INHERITED = frozenset((Way.VISIBILITY, Way.SIZE, Way.INK))

# What may hide an element: a declaration without white space. What the other declarations and other rules add to it is asked
# only about elements that it concerns.
_WAYS = re.compile(
    rb"(?:-[a-z]+-)?(?:(?P<display>display:none|content-visibility:hidden)|(?P<visibility>visibility:(?:hidden|collapse))"
    rb"|(?P<opacity>opacity:0?(?:\.0[01]?\d*)?%?(?![\d.])|filter:.*opacity\(0)"
    rb"|(?P<size>font-size:(?:0|\.\d|1px)|font:[^/]*?0(?:px|em|rem|pt|%)?/)"
    rb"|(?P<indent>text-indent:(?:-\d+r?em|-\d{2,}v|[+-]?\d{3,}))"
    rb"|(?P<clip>clip:rect|clip-path:.*\()"
    rb"|(?P<place>(?:left|right|top|bottom|inset|margin(?:-left|-top)?):(?:.*-(?:\d{3}|\d\d(?:r?em|v))|\d{4})|(?:transform|translate):.*\d{3}"
    rb"|transform:.*scale(?:x|y|3d)?\([0.]|scale:0)"
    rb"|(?P<box>(?:max-)?(?:width|height):[01](?:px|em|rem|pt|%)?(?:!.*)?\Z)"
    rb"|(?P<ink>(?:text-fill-)?color:(?:transparent|rgba?\(.*[,/]0?\.?0*%?\)|#(?:[\da-f]{3}0|[\da-f]{6}00)(?![\da-f]))))"
)
_INK = re.compile(rb"(?:^|;)color:([^;!]+)")
_GROUND = re.compile(rb"background(?:-color)?:([^;!]+)")


class Hint(NamedTuple):
    """What a block of declarations may hide, without white space."""

    ways: frozenset[Way]
    ink: str  # the colour of the text, if it is declared
    ground: str


def hint(small: bytes) -> Hint:
    ways = [way for part in small.split(b";") if (way := _way(part))]
    if b"color:" not in small and b"background" not in small:
        return Hint(frozenset(ways), "", "")
    ink, ground = colours(small)
    if ink and ground and _are_alike(ink, ground):
        ways.append(Way.INK)
    return Hint(frozenset(ways), ink, ground)


@lru_cache(maxsize=16384)  # pages write the same few thousand declarations
def _way(declaration: bytes) -> Way | None:
    match = _WAYS.match(declaration)
    return Way(match.lastgroup or "") if match else None


def colours(small: bytes) -> tuple[str, str]:
    """The colours of the text and of its ground, as far as they are declared."""
    ink = _INK.search(small) if b"color:" in small else None
    ground = _GROUND.search(small) if b"background" in small else None
    return ink[1].decode("utf-8", "replace") if ink else "", ground[1].decode("utf-8", "replace") if ground else ""


def _are_alike(ink: str, ground: str) -> bool:
    one, other = colour(ink), colour(ground)
    return ink == ground if one is None or other is None else look_alike(one, other)


@lru_cache(maxsize=4096)
def hint_of_style(style: str) -> Hint:
    return hint(squeeze(style))


# Where a block may hide something: what begins so is looked for in a whole style sheet.
_STARTS = (
    *(b"display:none", b"visibility:hidden", b"opacity:0", b"opacity:.0", b"opacity(0", b"visibility:collapse"),
    *(b"font-size:0", b"font-size:.", b"font-size:1px", b"font:"),
    *(b"indent:", b"clip:rect", b"clip-path:", b"translate", b"scale", b"left:9", b"left:1000", b"top:9", b"height:0"),
    *(b"height:1px", b"width:0", b"width:1px", b"color:transparent", b"color:rgba("),
)
_COLOURS = (b";color:", b"{color:")
_FAR_AWAY = re.compile(rb":-\d\d(?:\d|r?em|v)")
FEW_CHARACTERS = 4000  # of a style sheet: then the colours of each block are compared; judgement


@lru_cache(maxsize=64)  # the pages of a site have the same style elements
def sheet(css: str) -> tuple[Sheet, tuple[tuple[int, frozenset[Way]], ...]]:
    """A style sheet, and which of its blocks may hide something, and how."""
    found = Sheet(css)
    starts = [*_STARTS, *(_COLOURS if len(css) <= FEW_CHARACTERS else ())]
    away = [match.start() for match in _FAR_AWAY.finditer(found.squeezed)]
    hinted = []
    for number in found.having(starts, away):
        block = found.block(number)
        if block is not None and (ways := _possible(hint(squeeze(block.body)).ways, block.body)):
            hinted.append((number, ways))
    return found, tuple(hinted)


def _possible(ways: frozenset[Way], body: str) -> frozenset[Way]:
    """Those of the ways in which the block can hide an element, whatever else is declared for it."""
    if not ways - {Way.DISPLAY, Way.VISIBILITY, Way.INK}:
        return ways
    normal, important = declared(body)
    values = {name: value for name, value in {**normal, **important}.items() if not name.startswith("padding")}
    return ways & (hiding({"position": "absolute", "overflow": "hidden", **values}) | {Way.INK})


def hiding(values: Declarations) -> set[Way]:
    """The ways in which an element with these declarations is hidden, apart from the colour of what is behind it."""
    return {way for way, test in _TESTS.items() if test(values)}


def _not_displayed(values: Declarations) -> bool:
    return values.get("display") == "none" or values.get("content-visibility") == "hidden"


def _invisible(values: Declarations) -> bool:
    return values.get("visibility") in ("hidden", "collapse")


def _transparent(values: Declarations) -> bool:
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


def is_no_size(size: str) -> bool:
    length = pixels(size)
    return (length is not None and length <= TINY) or share(size) == 0


def _without_size(values: Declarations) -> bool:
    return is_no_size(values.get("font-size", ""))


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
    Way.OPACITY: _transparent,
    Way.SIZE: _without_size,
    Way.INDENT: _indented_away,
    Way.CLIP: _clipped_away,
    Way.PLACE: _placed_away,
    Way.BOX: _boxed_away,
    Way.INK: _without_ink,
}
