"""Harvest curves of several strategies: as a report, and as pictures to put into a paper (SVG, PNG)."""

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from bitrawl.report.document import document
from bitrawl.report.markup import Html, escaped, fill, joined
from bitrawl.report.plots import BOTTOM, COLOURS, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Series, lines, ticks
from bitrawl.report.style import STYLE
from bitrawl.report.wording import number
from bitrawl.version import __version__

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

X, Y = "fetches", "pairs complete"
MOST_POINTS = 150  # of a curve: more would not be seen
LEGEND_STEP = 18  # pixels
SCALE = 3  # A PNG is drawn so much larger than its SVG ...
SMOOTH = 2  # ... and, before it is made smaller, so much larger again.
_PALETTE = tuple(re.findall(r"--c\d: (#\w{6})", STYLE)[:COLOURS])
_INK, _QUIET, _RULE = "#23262b", "#6b7078", "#e3e1da"
_FOOTER = "Written by bitrawl {version}. How it is counted: docs/reference/simulate.md."


class Panel(msgspec.Struct, frozen=True):
    """One site: its curves and its table."""

    title: str
    about: str
    curves: tuple[Series, ...]
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    remarks: tuple[str, ...] = ()


def curve(name: str, counts: Sequence[int]) -> Series:
    """Of the count after each fetch as many points as a picture can show, the first and the last among them."""
    step = max(1, len(counts) // MOST_POINTS)
    shown = [*range(step, len(counts), step), len(counts)] if counts else []
    return Series(name, ((0, 0), *((fetches, counts[fetches - 1]) for fetches in shown)))


def render(title: str, lead: str, panels: Sequence[Panel]) -> str:
    """A page that opens offline, runs no script and loads nothing."""
    body = joined(_panel(panel) for panel in panels)
    return document(title, lead, body, fill(_FOOTER, version=__version__))


def svg(panel: Panel) -> str:
    """The chart alone, in a file of its own."""
    drawn = lines(panel.title, panel.curves, x=X, y=Y)
    inner = drawn[drawn.index(">", drawn.index("<svg")) + 1 : drawn.index("</svg>")]
    legend = joined(
        fill(
            '<line class="line c{place}" x1="{left}" x2="{right}" y1="{y}" y2="{y}"/><text x="{text}" y="{base}">{name}</text>',
            place=place,
            left=LEFT,
            right=LEFT + 20,
            text=LEFT + 28,
            y=HEIGHT + LEGEND_STEP * place + 8,
            base=HEIGHT + LEGEND_STEP * place + 12,
            name=one.name,
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
    """The same for those who cannot use SVG."""
    from PIL import Image, ImageDraw  # noqa: PLC0415 (only where a picture is asked for: 60 ms)

    scale = SCALE * SMOOTH
    image = Image.new("RGB", (WIDTH * scale, _height(panel) * scale), "white")
    _Sketch(ImageDraw.Draw(image), scale).draw(panel)
    image = image.resize((WIDTH * SCALE, _height(panel) * SCALE), Image.Resampling.LANCZOS)
    packed = io.BytesIO()
    image.save(packed, "PNG", optimize=True)
    return packed.getvalue()


class _Sketch:
    """The chart with Pillow, in the measures of the SVG."""

    def __init__(self, canvas: "ImageDraw", scale: int) -> None:
        from PIL import ImageFont  # noqa: PLC0415

        self._canvas = canvas
        self._scale = scale
        self._font = ImageFont.load_default(12 * scale)
        self._title = ImageFont.load_default(14 * scale)

    def draw(self, panel: Panel) -> None:
        """Axes, curves, legend."""
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
            self._line([place(*point) for point in one.points], colour, 2)
            self._line([(LEFT, y), (LEFT + 20, y)], colour, 2)
            self._text((LEFT + 28, y), one.name, "lm")

    def _line(self, points: Sequence[tuple[float, float]], colour: str, width: int) -> None:
        at = [(x * self._scale, (y + 20) * self._scale) for x, y in points]
        self._canvas.line(at, fill=colour, width=width * self._scale, joint="curve")

    def _text(self, at: tuple[float, float], text: str, anchor: str) -> None:
        place = (at[0] * self._scale, (at[1] + 20) * self._scale)
        self._canvas.text(place, text, fill=_QUIET, font=self._font, anchor=anchor)


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
        chart=lines("Pairs complete, fetch by fetch", panel.curves, x=X, y=Y),
        head=head,
        rows=rows,
        remarks=joined(fill("<p>{remark}</p>", remark=remark) for remark in panel.remarks),
    )


def _height(panel: Panel) -> int:
    return HEIGHT + 20 + LEGEND_STEP * len(panel.curves[:COLOURS]) + 8


def _svg_style() -> Html:
    """By day only: a picture in a paper does not turn dark."""
    colours = "".join(f".line.c{place}{{stroke:{colour}}}" for place, colour in enumerate(_PALETTE))
    return escaped(
        f".paper{{fill:#fff}}text{{font-size:12px;fill:{_QUIET}}}.title{{font-size:14px;fill:{_INK}}}"
        f".axis{{font-style:italic}}.grid{{stroke:{_RULE}}}.line{{fill:none;stroke-width:2.2}}"
        f".dot{{fill:transparent}}{colours}"
    )
