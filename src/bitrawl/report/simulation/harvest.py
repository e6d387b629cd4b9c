"""Harvest curves of several strategies: as a report, and as pictures for a paper (SVG, PNG)."""

import io
import re
from collections.abc import Iterator, Sequence
from itertools import cycle, pairwise
from math import hypot
from typing import TYPE_CHECKING

import msgspec

from bitrawl.report.document import document
from bitrawl.report.markup import Html, escaped, fill, joined
from bitrawl.report.plots import (
    BOTTOM,
    COLOURS,
    DASHES,
    HEIGHT,
    LEFT,
    RIGHT,
    RING,
    STROKE,
    TOP,
    WIDTH,
    Series,
    lines,
    stroke,
    ticks,
)
from bitrawl.report.style import STYLE
from bitrawl.report.wording import number
from bitrawl.version import __version__

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

X, Y = "fetches", "complete pairs"
MOST_POINTS = 150  # of a curve: about 3 pixels apart; more would not be visible
LEGEND_STEP = 18  # pixels
SCALE = 3  # A PNG has three times the width of its SVG: 300 dots per inch in a column of a paper.
SMOOTH = 2  # It is drawn at twice its size and then reduced, which smooths the edges.
_LEGEND_WIDTH = 36  # pixels of a line in the legend
_PALETTE = tuple(re.findall(r"--c\d: (#\w{6})", STYLE)[:COLOURS])
_INK, _QUIET, _RULE = "#23262b", "#6b7078", "#e3e1da"
_FOOTER = "Written by bitrawl {version}. The reference of bitrawl simulate explains how it counts."


class Panel(msgspec.Struct, frozen=True):
    """One site: its curves and its table."""

    title: str
    about: str
    curves: tuple[Series, ...]
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    remarks: tuple[str, ...] = ()


def curve(name: str, counts: Sequence[int], stop: int | None = None) -> Series:
    """A curve from the count after each fetch, with as many points as a picture can show.

    The first and the last point are always included. `stop` is the number of fetches after which the strategy stops or
    has nothing left to fetch; None if neither happens.
    """
    step = max(1, len(counts) // MOST_POINTS)
    shown = [*range(step, len(counts), step), len(counts)] if counts else []
    ring = (stop, counts[stop - 1]) if stop and stop <= len(counts) else None
    return Series(name, ((0, 0), *((fetches, counts[fetches - 1]) for fetches in shown)), ring)


def render(title: str, lead: str, panels: Sequence[Panel]) -> str:
    """A page that opens offline, runs no script and loads nothing."""
    body = joined(_panel(panel) for panel in panels)
    return document(title, lead, body, fill(_FOOTER, version=__version__))


def svg(panel: Panel, *, x: str = X, y: str = Y) -> str:
    """The chart alone, as a file of its own. `x` and `y` say what the axes count."""
    drawn = lines(panel.title, panel.curves, x=x, y=y)
    inner = drawn[drawn.index(">", drawn.index("<svg")) + 1 : drawn.index("</svg>")]
    legend = joined(
        fill(
            '{line}<text x="{text}" y="{base}">{name}</text>',
            line=stroke(place, LEFT, LEFT + _LEGEND_WIDTH, HEIGHT + LEGEND_STEP * place + 8),
            text=LEFT + _LEGEND_WIDTH + 8,
            base=HEIGHT + LEGEND_STEP * place + 12,
            name=f"{one.name}{_stop_note(one)}",
        )
        for place, one in enumerate(panel.curves[:COLOURS])
    )
    return fill(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 -20 {width} {height}" width="{width}" height="{height}"'
        ' font-family="system-ui, sans-serif"><style>{style}</style><rect class="paper" y="-20" width="100%"'
        ' height="100%"/><text class="title" x="0" y="-6">{title}</text>{inner}{legend}</svg>\n',
        width=WIDTH,
        height=_height(panel),
        style=_svg_style(),
        title=panel.title,
        inner=Html(inner),
        legend=legend,
    )


def png(panel: Panel) -> bytes:
    """The same chart as PNG."""
    from PIL import Image, ImageDraw  # noqa: PLC0415 (only if a picture is requested: 60 ms)

    scale = SCALE * SMOOTH
    image = Image.new("RGB", (WIDTH * scale, _height(panel) * scale), "white")
    _PngChart(ImageDraw.Draw(image), scale).draw(panel)
    image = image.resize((WIDTH * SCALE, _height(panel) * SCALE), Image.Resampling.LANCZOS)
    packed = io.BytesIO()
    image.save(packed, "PNG", optimize=True)
    return packed.getvalue()


class _PngChart:
    """The chart drawn with Pillow, with the dimensions of the SVG."""

    def __init__(self, canvas: "ImageDraw", scale: int) -> None:
        from PIL import ImageFont  # noqa: PLC0415

        self._canvas = canvas
        self._scale = scale
        self._font = ImageFont.load_default(12 * scale)
        self._title = ImageFont.load_default(14 * scale)

    def draw(self, panel: Panel) -> None:
        shown = panel.curves[:COLOURS]
        right = max((point[0] for one in shown for point in one.points), default=0) or 1
        top = max((point[1] for one in shown for point in one.points), default=0)
        high = ticks(top)[-1] or 1

        def place(x: float, y: float) -> tuple[float, float]:
            across, up = (WIDTH - LEFT - RIGHT) * x / right, (HEIGHT - TOP - BOTTOM) * y / high
            return LEFT + across, HEIGHT - BOTTOM - up

        for value in ticks(top):
            self._line([place(0, value), place(right, value)], _RULE, 1)
            self._text((LEFT - 6, place(0, value)[1]), number(value), "rm")
        for value in ticks(right):
            if value <= right:
                self._text((place(value, 0)[0], HEIGHT - BOTTOM + 12), number(value), "mm")
        self._text((WIDTH - RIGHT, HEIGHT - 8), X, "rm")
        self._text((0, 10), Y, "lm")
        self._canvas.text((0, 0), panel.title, fill=_INK, font=self._title, anchor="la")
        for number_, one in enumerate(shown):
            colour, y = _PALETTE[number_], HEIGHT + LEGEND_STEP * number_ + 8
            for piece in dashed([place(*point) for point in one.points], DASHES[number_]):
                self._line(piece, colour, 2)
            for piece in dashed([(LEFT, y), (LEFT + _LEGEND_WIDTH, y)], DASHES[number_]):
                self._line(piece, colour, 2)
            self._text((LEFT + _LEGEND_WIDTH + 8, y), f"{one.name}{_stop_note(one)}", "lm")
        for number_, one in enumerate(shown):
            if one.stop:
                self._ring(place(*one.stop), _PALETTE[number_])

    def _line(self, points: Sequence[tuple[float, float]], colour: str, width: int) -> None:
        at = [(x * self._scale, (y + 20) * self._scale) for x, y in points]
        self._canvas.line(at, fill=colour, width=width * self._scale, joint="curve")

    def _ring(self, at: tuple[float, float], colour: str) -> None:
        x, y, radius = at[0] * self._scale, (at[1] + 20) * self._scale, RING * self._scale
        box = (x - radius, y - radius, x + radius, y + radius)
        self._canvas.ellipse(box, fill="white", outline=colour, width=2 * self._scale)

    def _text(self, at: tuple[float, float], text: str, anchor: str) -> None:
        place = (at[0] * self._scale, (at[1] + 20) * self._scale)
        self._canvas.text(place, text, fill=_QUIET, font=self._font, anchor=anchor)


Point = tuple[float, float]


def dashed(points: Sequence[Point], pattern: Sequence[float]) -> Iterator[list[Point]]:
    """A line cut into strokes and gaps of those lengths, like SVG's stroke-dasharray.

    Without a pattern, the whole line.
    """
    if not pattern:
        yield list(points)
        return
    lengths = cycle(pattern)
    drawing, left, piece = True, next(lengths), list(points[:1])
    for (x0, y0), (x1, y1) in pairwise(points):
        length, done = hypot(x1 - x0, y1 - y0), 0.0
        while length - done > left:
            done += left
            at = (x0 + (x1 - x0) * done / length, y0 + (y1 - y0) * done / length)
            if drawing:
                yield [*piece, at]
            drawing, left, piece = not drawing, next(lengths), [at]
        left -= length - done
        piece.append((x1, y1))
    if drawing and len(piece) > 1:
        yield piece


def _stop_note(series: Series) -> str:
    return f" (stops after {number(series.stop[0])})" if series.stop else ""


def _panel(panel: Panel) -> Html:
    head = joined(fill('<th scope="col" class="n">{head}</th>', head=head) for head in panel.heads)
    rows = joined(
        fill(
            '<tr><th scope="row">{name}</th>{cells}</tr>',
            name=row[0],
            cells=joined(fill('<td class="n">{cell}</td>', cell=cell) for cell in row[1:]),
        )
        for row in panel.rows
    )
    return fill(
        '<h2>{title}</h2><p>{about}</p>{chart}<div class="card space"><table><thead><tr><th></th>{head}</tr></thead>'
        "<tbody>{rows}</tbody></table>{remarks}</div>",
        title=panel.title,
        about=panel.about,
        chart=lines("Complete pairs after each fetch", panel.curves, x=X, y=Y),
        head=head,
        rows=rows,
        remarks=joined(fill("<p>{remark}</p>", remark=remark) for remark in panel.remarks),
    )


def _height(panel: Panel) -> int:
    return HEIGHT + 20 + LEGEND_STEP * len(panel.curves[:COLOURS]) + 8


def _svg_style() -> Html:
    """Light only: a picture in a paper has no dark mode."""
    colours = "".join(f".line.c{place},.stop.c{place}{{stroke:{colour}}}" for place, colour in enumerate(_PALETTE))
    return escaped(
        f".paper{{fill:#fff}}text{{font-size:12px;fill:{_QUIET}}}.title{{font-size:14px;fill:{_INK}}}"
        f".axis{{font-style:italic}}.grid{{stroke:{_RULE}}}.line{{fill:none;stroke-width:{STROKE}}}.stop{{fill:#fff;stroke-width:{STROKE}}}"
        f".dot{{fill:transparent}}{colours}"
    )
