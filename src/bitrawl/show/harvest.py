"""Harvest curves of several strategies: as a report, and as pictures for a paper (SVG, PNG)."""

import io
import re
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import cycle, pairwise
from math import hypot
from typing import TYPE_CHECKING

import msgspec

from bitrawl.show.plots import COLOURS, DASHES, LineChart, Series, line_chart, lines
from bitrawl.show.templating import document, style_sheet
from bitrawl.show.wording import number

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

X, Y = "fetches", "complete pairs"
MOST_POINTS = 150  # of a curve: about 3 pixels apart; more would not be visible
LEGEND_STEP = 18  # pixels
SCALE = 3  # A PNG has three times the width of its SVG: 300 dots per inch in a column of a paper.
SMOOTH = 2  # It is drawn at twice its size and then reduced, which smooths the edges.
_LEGEND_WIDTH = 36  # pixels of a line in the legend
_TITLE_HEIGHT = 20
_INK, _QUIET, _RULE = "#23262b", "#6b7078", "#e3e1da"

Point = tuple[float, float]


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
    places = [*range(step, len(counts), step), len(counts)] if counts else []
    ring = (stop, counts[stop - 1]) if stop and stop <= len(counts) else None
    return Series(name, ((0, 0), *((fetches, counts[fetches - 1]) for fetches in places)), ring)


def render(title: str, lead: str, panels: Sequence[Panel]) -> str:
    """A page that opens offline, runs no script and loads nothing."""
    return document("harvest.html", title=title, lead=lead, panels=panels, x=X, y=Y, lines=lines)


def svg(panel: Panel, *, x: str = X, y: str = Y) -> str:
    """The chart alone, as a file of its own. `x` and `y` say what the axes count."""
    chart = line_chart(panel.curves, x, y)
    return document(
        "harvest.svg",
        title=panel.title,
        chart=chart,
        height=_height(chart),
        names=list(map(_legend, chart.series)),
        legend_step=LEGEND_STEP,
        legend_width=_LEGEND_WIDTH,
        palette=_palette(),
        ink=_INK,
        quiet=_QUIET,
        rule=_RULE,
    )


def can_draw_png() -> bool:
    """Whether Pillow is installed, which the extra `png` brings: 22 MB that nothing else needs."""
    return find_spec("PIL") is not None


def png(panel: Panel) -> bytes:
    """The chart of a panel as PNG. Needs the extra `png`."""
    from PIL import Image, ImageDraw  # noqa: PLC0415 (only if a picture is requested: 60 ms)

    chart, scale = line_chart(panel.curves, X, Y), SCALE * SMOOTH
    width, height = chart.frame.width, _height(chart)
    image = Image.new("RGB", (width * scale, height * scale), "white")
    _PngChart(ImageDraw.Draw(image), scale).draw(panel.title, chart)
    image = image.resize((width * SCALE, height * SCALE), Image.Resampling.LANCZOS)
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

    def draw(self, title: str, chart: LineChart) -> None:
        frame, palette = chart.frame, _palette()
        self._axes(chart)
        self._canvas.text((0, 0), title, fill=_INK, font=self._title, anchor="la")
        for place, series in enumerate(chart.series):
            y = frame.height + LEGEND_STEP * place + 8
            legend = [(frame.left, y), (frame.left + _LEGEND_WIDTH, y)]
            for points in ([(frame.x(x), frame.y(y)) for x, y in series.points], legend):
                for piece in dashed(points, DASHES[place]):
                    self._line(piece, palette[place], 2)
            self._text((frame.left + _LEGEND_WIDTH + 8, y), _legend(series), "lm")
        for place, series in enumerate(chart.series):
            if series.stop:
                self._ring((frame.x(series.stop[0]), frame.y(series.stop[1])), chart.ring, palette[place])

    def _axes(self, chart: LineChart) -> None:
        frame = chart.frame
        for value in chart.ticks_up:
            self._line([(frame.left, frame.y(value)), (frame.x(frame.largest_x), frame.y(value))], _RULE, 1)
            self._text((frame.left - 6, frame.y(value)), number(value), "rm")
        for value in chart.ticks_along:
            self._text((frame.x(value), frame.height - frame.bottom + 12), number(value), "mm")
        self._text((frame.width - frame.right, frame.height - 8), chart.x, "rm")
        self._text((0, 10), chart.y, "lm")

    def _line(self, points: Sequence[Point], colour: str, width: int) -> None:
        self._canvas.line(list(map(self._at, points)), fill=colour, width=width * self._scale, joint="curve")

    def _ring(self, centre: Point, radius: int, colour: str) -> None:
        (x, y), around = self._at(centre), radius * self._scale
        box = (x - around, y - around, x + around, y + around)
        self._canvas.ellipse(box, fill="white", outline=colour, width=2 * self._scale)

    def _text(self, point: Point, text: str, anchor: str) -> None:
        self._canvas.text(self._at(point), text, fill=_QUIET, font=self._font, anchor=anchor)

    def _at(self, point: Point) -> Point:
        return point[0] * self._scale, (point[1] + _TITLE_HEIGHT) * self._scale


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


def _legend(series: Series) -> str:
    return f"{series.name} (stops after {number(series.stop[0])})" if series.stop else series.name


def _height(chart: LineChart) -> int:
    return chart.frame.height + _TITLE_HEIGHT + LEGEND_STEP * len(chart.series) + 8


def _palette() -> list[str]:
    """The colours of the lines on a light page."""
    return re.findall(r"--c\d: (#\w{6})", style_sheet())[:COLOURS]
