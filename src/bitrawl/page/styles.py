"""The part of CSS that can hide a text or show it: blocks, selectors, declarations, and the ways to hide a text.

A style sheet is passed around as its text. What is read from it is remembered, because the pages of a site share their
style elements.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple, cast

Attributes = Mapping[str, str | None]
Declarations = Mapping[str, str]
Colour = tuple[int, int, int, float]  # red, green, blue, and from 0 (clear) to 1 how much it covers
WHITE: Colour = (255, 255, 255, 1.0)

Way = Literal["display", "visibility", "opacity", "size", "indent", "clip", "place", "box", "ink"]
"""A way to hide a text."""
# Passed on to what is inside, which may undo it; the other ways hide all that is inside.
INHERITED: frozenset[Way] = frozenset(("visibility", "size", "ink"))

# Judgements about lengths.
AWAY = -900.0  # Pixels to the left or above: no reader scrolls there. Pages write -999em, -1000px, -9999px.
FAR = 5000.0  # Pixels to the right or below; the slides of a slide show stand nearer.
TINY = 1.0  # Pixels
FAINT = 0.02  # The opacity below which nobody reads.
SAME_INK = 8  # The most by which the red, green or blue of two colours may differ that look the same.
FEW_CHARACTERS = 4000  # of a style sheet: then the colours of each block are compared
MAX_SELECTOR = 300  # Characters
_DEEPEST = 8  # at-rules around a block that are read


# Blocks


class StyleBlock(NamedTuple):
    """Selectors and declarations as written."""

    selectors: str
    body: str
    certain: bool  # holds on every screen
    layered: bool
    small: bytes  # the whole block, squeezed

    @property
    def declarations(self) -> bytes:
        """The body without white space and in lower case."""
        return self.small[self.small.rfind(b"{") + 1 :]


_LOWER = bytes(range(256)).lower()
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_PREFIX = re.compile(r"^-(?:webkit|moz|ms|o)-")
_NO_RULES = frozenset("keyframes font-face page property counter-style font-feature-values".split())
_SCREEN = re.compile(r"^\s*(?:only\s+)?(?:all|screen)?\s*$", re.IGNORECASE)
_PRINT = re.compile(r"^\s*(?:only\s+)?(?:print|speech|aural|braille|embossed)\b", re.IGNORECASE)


@lru_cache(maxsize=64)
def blocks(css: str) -> tuple[StyleBlock, ...]:
    """The blocks of a style sheet that are about elements on a screen."""
    result: list[StyleBlock] = []
    around: list[str] = []  # the at-rules that are open
    for chunk, small in zip(_without_comments(css).split("}"), squeezed(css).split(b"}"), strict=True):
        *openings, body = chunk.split("{")
        if not openings:
            del around[-1:]
            continue
        around.extend(opening.rpartition(";")[2].strip() for opening in openings[:-1])
        selectors = openings[-1].rpartition(";")[2].strip()
        certain = _when(around[:_DEEPEST]) if around else True
        if certain is not None and not selectors.startswith("@"):
            layered = any(rule.startswith("@layer") for rule in around[:_DEEPEST]) if around else False
            result.append(StyleBlock(selectors, body, certain, layered, small))
    return tuple(result)


@lru_cache(maxsize=64)
def squeezed(css: str) -> bytes:
    """A style sheet without comments and white space, in lower case. So it is searched in a fraction of the time."""
    return _squeeze(_without_comments(css))


def _without_comments(css: str) -> str:
    if "/*" in css:
        css = _COMMENT.sub(" ", css)
    return css.replace("<!--", "").replace("-->", "") if "<!--" in css else css


def _squeeze(css: str) -> bytes:
    return css.encode("utf-8", "replace").translate(_LOWER, b" \t\r\n\f")


def _when(around: list[str]) -> bool | None:
    """Whether what is inside these at-rules always holds on a screen; None if it never does."""
    certain = True
    for rule in around:
        name, _, condition = _PREFIX.sub("", rule.removeprefix("@")).partition(" ")
        holds = on_screen(condition) if name.lower() == "media" else name.lower() == "layer"
        if not rule.startswith("@") or name.lower() in _NO_RULES or holds is None:
            return None
        certain = certain and holds
    return certain


def on_screen(media: str) -> bool | None:
    """Whether a list of media includes every screen; None if it includes no screen."""
    queries = media.split(",")
    if any(_SCREEN.match(query) for query in queries):
        return True
    return None if all(_PRINT.match(query) for query in queries) else False


# Selectors


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
        return all(
            name in attributes and _OPERATORS[operator](attributes[name] or "", value)
            for name, operator, value in self.attributes
        )


_OPERATORS: dict[str, Callable[[str, str], bool]] = {
    "": lambda _actual, _value: True,
    "=": lambda actual, value: actual == value,
    "~=": lambda actual, value: value in actual.split(),
    "^=": lambda actual, value: bool(value) and actual.startswith(value),
    "$=": lambda actual, value: bool(value) and actual.endswith(value),
    "*=": lambda actual, value: bool(value) and value in actual,
    "|=": lambda actual, value: actual == value or actual.startswith(f"{value}-"),
}


class StyleRule(NamedTuple):
    """A selector of a style sheet with its declarations."""

    subject: Compound
    above: tuple[tuple[str, Compound], ...]  # the elements around it, from the inside: ">" or " ", and its conditions
    weight: tuple[int, int, int, int]  # the later, the stronger: outside layers, then ids, classes and tags
    declarations: Declarations
    important: Declarations
    certain: bool  # holds on every screen, and whatever the reader points at


NAME = re.compile(r"[.#](?:\\.|[\w-])+")
_ARGUMENTS = re.compile(r"\([^()]*\)")
_COMMA = re.compile(r",(?![^(\[]*[)\]])")
_COMBINATOR = re.compile(r"\s*([>+~\s])\s*")
_COMPOUND = re.compile(r"(\*|[a-zA-Z][\w-]*)?((?:[.#](?:\\.|[\w-])+|\[[^\]]*\])*)((?::.*)?)", re.DOTALL)
_CONDITION = re.compile(r"\[\s*([\w-]+)\s*(?:([~^$*|]?=)\s*[\"']?([^\"'\]]*)[\"']?\s*)?\]")
# A pseudo-class is a state that the reader or a script changes, or a place among others.
_STATE = re.compile(r":|\.no-?js")


def rules(block: StyleBlock, wanted: Callable[[str], bool] = bool) -> Iterator[StyleRule]:
    """The rules of a block with a selector that is wanted.

    A selector that bitrawl cannot read in full is not certain: it hides nothing.
    """
    selectors = _COMMA.split(block.selectors) if "," in block.selectors else (block.selectors,)
    for selector in selectors:
        rule = _selected(selector.strip()) if wanted(selector) else None
        if rule is not None:
            weight = (0 if block.layered else 1, *rule.weight[1:])
            yield StyleRule(rule.subject, rule.above, weight, *declared(block.body), block.certain and rule.certain)


@lru_cache(maxsize=4096)
def _selected(selector: str) -> StyleRule | None:
    """What a selector alone says, as a rule without declarations. None if it is about no element."""
    if not selector or len(selector) > MAX_SELECTOR or "::" in selector:
        return None
    bare = selector
    while (shorter := _ARGUMENTS.sub("", bare)) != bare:
        bare = shorter
    first, *rest = _COMBINATOR.split(bare)
    combinators = [mark.strip() or " " for mark in rest[::2]]
    compounds = [_compound(text) for text in (first, *rest[1::2])]
    subject, readable = compounds[-1], [compound for compound in compounds if compound is not None]
    if subject is None or not any(subject):
        return None
    above = [(how, outer) for how, outer in zip(combinators, compounds, strict=False) if outer is not None]
    certain = bare == selector and len(readable) == len(compounds) and not _STATE.search(bare)
    marks = [name[0] for compound in readable for name in compound.names]
    conditions = sum(len(compound.attributes) for compound in readable)
    weight = (1, marks.count("#"), marks.count(".") + conditions, sum(bool(compound.tag) for compound in readable))
    return StyleRule(subject, tuple(reversed(above)), weight, {}, {}, certain and not {"+", "~"} & set(combinators))


def _compound(text: str) -> Compound | None:
    match = _COMPOUND.fullmatch(text)
    if match is None:
        return None
    conditions = tuple((name.lower(), operator, value) for name, operator, value in _CONDITION.findall(match[2]))
    if len(conditions) != match[2].count("["):
        return None
    names = NAME.findall(_CONDITION.sub("", match[2]))
    tag = (match[1] or "").lower().removeprefix("*")
    return Compound(tag, frozenset(name.replace("\\", "") for name in names), conditions)


def names_of(attributes: Attributes) -> frozenset[str]:
    """Classes and id, as selectors write them."""
    names = _class_names(attributes.get("class") or "")
    identity = attributes.get("id")
    return names | {f"#{identity}"} if identity else names


@lru_cache(maxsize=4096)
def _class_names(classes: str) -> frozenset[str]:
    return frozenset(f".{name}" for name in classes.split())


# Declarations


@lru_cache(maxsize=4096)
def declared(text: str) -> tuple[Declarations, Declarations]:
    """The declarations of a block or of a style attribute: the usual ones, and those that are important."""
    normal: dict[str, str] = {}
    important: dict[str, str] = {}
    for part in text.lower().split(";"):
        name, colon, value = part.partition(":")
        name = _PREFIX.sub("", name.strip())
        if not colon or (name not in _PLAIN and name not in _SHORTHANDS):
            continue
        value, mark, _ = value.partition("!")
        value = value.strip()
        into = important if mark else normal
        into.update({name: value} if name in _PLAIN else _SHORTHANDS[name](name, value))
    return normal, important


_PLAIN = frozenset(
    "display visibility opacity filter font-size text-indent clip clip-path position left right top bottom transform "
    "translate scale content-visibility margin-left margin-top width height max-width max-height padding-top "
    "padding-bottom color background-color background-image background-clip text-fill-color text-shadow text-stroke "
    "transition transition-property animation animation-name will-change".split()
)
_NO_SIZE = re.compile(r"(?:^|\s)0(?:px|em|rem|pt|%)?(?:/|\s)")
_COLOUR_FUNCTION = re.compile(r"(?:rgba?|hsla?)\([^()]*\)")
_PART = re.compile(r"[\w#.%-]+\([^()]*\)|[^\s()]+")


def _background(_: str, value: str) -> dict[str, str]:
    colours = [part for part in _PART.findall(value) if colour(part) is not None]
    ground = colours[0] if colours else ("none" if value in ("none", "0", "0 0") else value)
    image = value if "(" in _COLOUR_FUNCTION.sub("", value) else "none"
    clip = {"background-clip": "text"} if "text" in value.split() else {}
    return {"background-image": image, "background-color": ground, **clip}


def _font(_: str, value: str) -> dict[str, str]:
    return {"font-size": "0" if _NO_SIZE.search(value) else "medium"}


def _overflow(_: str, value: str) -> dict[str, str]:
    return {"overflow": "hidden" if "hidden" in value or "clip" in value else value}


def _edges(name: str, value: str) -> dict[str, str]:
    parts = value.split() or [""]
    places = {1: (0, 0, 0, 0), 2: (0, 1, 0, 1), 3: (0, 1, 2, 1)}.get(len(parts), (0, 1, 2, 3))
    prefix = "" if name == "inset" else f"{name}-"
    return {prefix + edge: parts[at] for edge, at in zip(("top", "right", "bottom", "left"), places, strict=True)}


_SHORTHANDS: dict[str, Callable[[str, str], dict[str, str]]] = {
    "background": _background,
    "font": _font,
    **dict.fromkeys(("overflow", "overflow-x", "overflow-y"), _overflow),
    **dict.fromkeys(("margin", "padding", "inset"), _edges),
}


# Values

_PIXELS = {"px": 1.0, "": 1.0, "em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0}
_PIXELS |= {"cm": 37.8, "mm": 3.78, "vw": 10.0, "vh": 10.0, "vmin": 10.0, "vmax": 10.0}
_LENGTH = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+))([a-z]*)(?![\w%.])")
_SHARE = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+))%")
_SEPARATOR = re.compile(r"[\s,/]+")
# The names of HTML 4. Of the other names of CSS, bitrawl knows only whether two of them are equal.
_COLOUR_NAMES = dict(
    pair.split()
    for pair in (
        "black #000,silver #c0c0c0,gray #808080,white #fff,maroon #800000,red #f00,purple #800080,fuchsia #f0f,"
        "green #008000,lime #0f0,olive #808000,yellow #ff0,navy #000080,blue #00f,teal #008080,aqua #0ff,"
        "transparent #0000"
    ).split(",")
)
_HEX = re.compile(r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$")
_RGB = re.compile(r"rgba?\(([^()]*)\)$")


def pixels(value: str) -> float | None:
    """A length in pixels, roughly; None for a share, a word or a formula."""
    match = _LENGTH.match(value)
    return float(match[1]) * _PIXELS[match[2]] if match and match[2] in _PIXELS else None


def share(value: str) -> float | None:
    match = _SHARE.match(value)
    return float(match[1]) if match else None


@lru_cache(maxsize=1024)
def colour(value: str) -> Colour | None:
    """None for what is no colour, or for a colour that bitrawl does not know."""
    if match := _HEX.match(_COLOUR_NAMES.get(value, value)):
        digits = match[1] if len(match[1]) >= 6 else "".join(2 * digit for digit in match[1])
        red, green, blue, cover = bytes.fromhex(digits.ljust(8, "f"))
        return red, green, blue, cover / 255
    match = _RGB.match(value)
    parts = [part for part in _SEPARATOR.split(match[1].strip()) if part] if match else []
    try:
        values = [float(part[:-1]) * 2.55 if part.endswith("%") else float(part) for part in parts]
        r, g, b, alpha = values if len(values) == 4 else (*values, 1.0)
        return round(r), round(g), round(b), alpha / 255 if len(parts) == 4 and parts[3].endswith("%") else alpha
    except (ValueError, OverflowError):  # not three or four numbers
        return None


def look_alike(ink: Colour, ground: Colour) -> bool:
    return all(abs(a - b) <= SAME_INK for a, b in zip(ink[:3], ground[:3], strict=True))


# Hints: what may hide an element is found in the text of its styles. What other declarations and other rules add to it is
# asked only about the elements that it concerns.

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
# Where a block may hide something: what begins so is looked for in a whole style sheet.
_STARTS = (
    b"display:none visibility:hidden opacity:0 opacity:.0 opacity(0 visibility:collapse font-size:0 font-size:. "
    b"font-size:1px font: indent: clip:rect clip-path: translate scale left:9 left:1000 top:9 height:0 height:1px "
    b"width:0 width:1px color:transparent color:rgba("
).split()
_COLOURS = [b";color:", b"{color:"]
_FAR_AWAY = re.compile(rb":-\d\d(?:\d|r?em|v)")


class Hint(NamedTuple):
    """What declarations may hide."""

    ways: frozenset[Way]
    ink: str  # the colour of the text, if it is declared
    ground: str


@lru_cache(maxsize=4096)
def hint_of_style(style: str) -> Hint:
    """What a style attribute may hide."""
    return _hint(_squeeze(style))


@lru_cache(maxsize=64)
def hints(css: str) -> tuple[tuple[StyleBlock, frozenset[Way]], ...]:
    """The blocks of a style sheet that may hide something on every screen, and how."""
    small = squeezed(css)
    starts = [start for start in _STARTS + _COLOURS * (len(css) <= FEW_CHARACTERS) if start in small]
    if not starts and not _FAR_AWAY.search(small):
        return ()
    suspicious = (
        block
        for block in blocks(css)
        if block.certain and (any(start in block.small for start in starts) or _FAR_AWAY.search(block.small))
    )
    pairs = ((block, _possible(_hint(block.declarations).ways, block.body)) for block in suspicious)
    return tuple((block, ways) for block, ways in pairs if ways)


def colours(small: bytes) -> tuple[str, str]:
    """The colours of the text and of its ground, as far as they are declared."""
    ink = _INK.search(small) if b"color:" in small else None
    ground = _GROUND.search(small) if b"background" in small else None
    return ink[1].decode("utf-8", "replace") if ink else "", ground[1].decode("utf-8", "replace") if ground else ""


def _hint(small: bytes) -> Hint:
    ways = {way for part in small.split(b";") if (way := _way(part))}
    ink, ground = colours(small)
    if ink and ground:
        front, behind = colour(ink), colour(ground)
        if ink == ground if front is None or behind is None else look_alike(front, behind):
            ways.add("ink")
    return Hint(frozenset(ways), ink, ground)


@lru_cache(maxsize=16384)  # pages write the same few thousand declarations
def _way(declaration: bytes) -> Way | None:
    match = _WAYS.match(declaration)
    return cast("Way", match.lastgroup) if match else None


def _possible(ways: frozenset[Way], body: str) -> frozenset[Way]:
    """Those of the ways in which the block can hide an element, whatever else is declared for it."""
    if ways <= {"display", "visibility", "ink"}:
        return ways
    normal, important = declared(body)
    values = {name: value for name, value in {**normal, **important}.items() if not name.startswith("padding")}
    return ways & (hiding({"position": "absolute", "overflow": "hidden", **values}) | {"ink"})


# Verdicts


def hiding(values: Declarations) -> set[Way]:
    """The ways in which an element with these declarations is hidden, apart from the colour of what is behind it."""
    return {way for way, (hides, _) in _TABLE.items() if hides(values)}


def deciding(ways: set[Way]) -> list[bytes]:
    """What a block without white space contains if it decides one of these ways, or moves the element."""
    moving = b"transition animation will-change" if ways - {"display"} else b""
    return sorted({start for way in ways for start in _TABLE[way][1].split()}) + moving.split()


_NO_OPACITY = re.compile(r"opacity\(\s*0*\.?0*%?\s*\)")
_RECT = re.compile(r"rect\(([^()]*)\)")
_NO_SHAPE = re.compile(
    r"inset\(\s*(?:100|[5-9]\d)(?:\.\d+)?%\s*(?:round[^)]*)?\)|(?:circle|ellipse)\(\s*0(?:px|%)?[\s)]"
    r"|polygon\(\s*0(?:px|%)?\s+0(?:px|%)?(?:\s*,\s*0(?:px|%)?\s+0(?:px|%)?)*\s*\)"
)
_TRANSLATED = re.compile(r"translate(?:x|y|3d)?\(([^()]*)\)")
_SHRUNK = re.compile(r"scale(?:x|y|3d)?\(\s*0*\.?0*\s*[,)]")


def is_no_size(size: str) -> bool:
    length = pixels(size)
    return (length is not None and length <= TINY) or share(size) == 0


def _is_transparent(values: Declarations) -> bool:
    raw = values.get("opacity", "")
    percent = share(raw)
    opacity = pixels(raw) if percent is None else percent / 100
    return (opacity is not None and opacity < FAINT) or bool(_NO_OPACITY.search(values.get("filter", "")))


def _is_indented_away(values: Declarations) -> bool:
    raw = values.get("text-indent", "")
    percent = share(raw)
    if percent is None:
        return _is_away(raw)
    return percent <= -100 or (percent >= 100 and values.get("overflow") == "hidden")


def _is_clipped_away(values: Declarations) -> bool:
    if _NO_SHAPE.search(values.get("clip-path", "")):
        return True
    match = _RECT.search(values.get("clip", "")) or _RECT.search(values.get("clip-path", ""))
    if match is None or ("clip" in values and values.get("position") not in ("absolute", "fixed")):
        return False
    edges = [edge for part in re.split(r"[\s,]+", match[1].strip()) if part and (edge := pixels(part)) is not None]
    if len(edges) != 4:
        return False
    top, right, bottom, left = edges
    return bottom - top <= TINY or right - left <= TINY


def _is_placed_away(values: Declarations) -> bool:
    if any((pixels(values.get(name, "")) or 0) <= AWAY for name in ("margin-left", "margin-top")):
        return True
    is_moved = values.get("position") in ("absolute", "fixed", "relative")
    places = [values.get(name, "") for name in ("left", "right", "top", "bottom")] if is_moved else []
    transform = values.get("transform", "")
    moves = [values.get("translate", ""), *_TRANSLATED.findall(transform)]
    places += [part for move in moves for part in re.split(r"[\s,]+", move.strip())]
    return any(map(_is_away, places)) or bool(_SHRUNK.search(transform)) or values.get("scale") == "0"


def _is_away(value: str) -> bool:
    length = pixels(value)
    return length is not None and not AWAY < length < FAR


def _is_boxed_away(values: Declarations) -> bool:
    paddings = [values.get(name, "") for name in ("padding-top", "padding-bottom")]
    # With a padding, it is a box of a given shape, with a film or a map in it.
    if values.get("overflow") != "hidden" or any((pixels(size) or share(size) or 0) > 0 for size in paddings):
        return False
    lengths = (pixels(values.get(name, "")) for name in ("width", "height", "max-width", "max-height"))
    return any(length is not None and length <= TINY for length in lengths)


def _is_without_ink(values: Declarations) -> bool:
    if values.get("background-clip") == "text" or "text-shadow" in values or "text-stroke" in values:
        return False
    raw, ground = values.get("text-fill-color") or values.get("color", ""), values.get("background-color", "")
    ink, behind = colour(raw), colour(ground)
    if ink is not None and not ink[3]:
        return True
    if not raw or not ground or values.get("background-image", "none") != "none":
        return False
    if ink is None or behind is None:
        return raw == ground and raw not in ("inherit", "initial", "unset", "currentcolor")
    return behind[3] == 1 and look_alike(ink, behind)


# For each way, whether declarations hide an element so, and how the properties begin that decide it.
_TABLE: dict[Way, tuple[Callable[[Declarations], bool], bytes]] = {
    "display": (
        lambda values: values.get("display") == "none" or values.get("content-visibility") == "hidden",
        b"display: content-visibility:",
    ),
    "visibility": (lambda values: values.get("visibility") in ("hidden", "collapse"), b"visibility:"),
    "opacity": (_is_transparent, b"opacity transform:"),
    "size": (lambda values: is_no_size(values.get("font-size", "")), b"font-size: font:"),
    "indent": (_is_indented_away, b"text-indent: overflow"),
    "clip": (_is_clipped_away, b"clip position:"),
    "place": (_is_placed_away, b"position: left: right: top: bottom: inset: margin: trans scale:"),
    "box": (_is_boxed_away, b"width: height: overflow padding"),
    "ink": (_is_without_ink, b"color: background text- position:"),
}
