"""The ways in which a page hides a text, and which declarations of its styles do it."""

import re
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from bitrawl.page.styles import (
    AWAY,
    CLEAR,
    FAR,
    TINY,
    Declarations,
    Sheet,
    colour,
    declared,
    look_alike,
    pixels,
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
