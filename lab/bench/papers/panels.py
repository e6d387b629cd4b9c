"""Several small charts in one SVG, in the manner of `bitrawl.show`: lines in panels side by side, and two values for each label."""

import re
from collections.abc import Sequence
from math import ceil
from typing import ClassVar, NamedTuple

from markupsafe import escape

from bitrawl.show import Series, harvest
from bitrawl.show.plots import ENGLISH, Frame, LineChart
from bitrawl.show.templating import drawing, short

WIDTH = 720  # pixels, about as wide as the text of a page
TITLE, LEGEND = 30, 24  # heights; that of a row of the legend
NAMES = 4  # in a row of the legend, at most
WHISKER = 4  # pixels between two whiskers
STROKE = 30  # length of a line in the legend
PER_CENT = [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]


class Half(Frame, frozen=True):
    """Two beside each other."""

    width: ClassVar[int] = WIDTH // 2
    height: ClassVar[int] = 214
    left: ClassVar[int] = 34
    right: ClassVar[int] = 12


class Whole(Frame, frozen=True):
    """One in a row."""

    width: ClassVar[int] = WIDTH
    height: ClassVar[int] = 240
    left: ClassVar[int] = 34
    right: ClassVar[int] = 12


class Curve(NamedTuple):
    """A line, and how far the values scatter around it at some places."""

    line: Series
    spread: Sequence[tuple[float, float, float]]  # x, lowest, highest


class Lines(NamedTuple):
    """A panel, with percentages on both axes."""

    title: str
    curves: Sequence[Curve]


class Two(NamedTuple):
    """A label, and two percentages that are compared."""

    label: str
    name: str  # what the label stands for
    first: float
    second: float


def lines(title: str, panels: Sequence[Lines], *, x: str, y: str) -> str:
    """All panels have the same curves, in the same order: one legend serves them all."""
    frame = Half(100.0, 100.0)
    drawn = []
    for number, panel in enumerate(panels):
        row, column = divmod(number, 2)
        chart = LineChart([curve.line for curve in panel.curves], x, y, ENGLISH, frame, PER_CENT, PER_CENT)
        place = f"translate({column * frame.width} {2 * TITLE + row * (frame.height + TITLE)})"
        heading = f'<text class="title" x="{frame.left}" y="-6">{escape(panel.title)}</text>'
        drawn.append(f'<g transform="{place}">{heading}{_whiskers(panel.curves, frame)}{drawing("curves", chart)}</g>')
    bottom = 2 * TITLE + row * (frame.height + TITLE) + frame.height
    rows = ceil(len(chart.series) / NAMES)
    columns = ceil(len(chart.series) / rows)
    for place, series in enumerate(chart.series):
        row, column = divmod(place, columns)
        left, y = column * WIDTH // columns, bottom + (row + 1) * LEGEND
        stroke = drawing("stroke", chart, place, left, left + STROKE, y - 4)
        drawn.append(f'{stroke}<text x="{left + STROKE + 6}" y="{y}">{escape(series.name)}</text>')
    return _document(title, "".join(drawn), bottom + rows * LEGEND + 10)


def _whiskers(curves: Sequence[Curve], frame: Frame) -> str:
    """Side by side, because those of several curves at one place would hide each other."""
    found = []
    for number, curve in enumerate(curves):
        aside = WHISKER * (number - (len(curves) - 1) / 2)
        for x, low, high in curve.spread:
            at = short(frame.x(x) + aside)
            ends = f'x1="{at}" x2="{at}" y1="{short(frame.y(low))}" y2="{short(frame.y(high))}"'
            told = f"{curve.line.name}, {x:.0f} %: {low:.0f} to {high:.0f}"
            found.append(f'<line class="line whisker c{number}" {ends}><title>{escape(told)}</title></line>')
    return "".join(found)


def dumbbells(title: str, rows: Sequence[Two], *, names: tuple[str, str], y: str) -> str:
    """A ring for the first value and a disc for the second, with a line between them."""
    frame = Whole(max(len(rows), 1), 100.0)
    drawn = [f'<g transform="translate(0 {TITLE})">', str(drawing("axes", frame, (), PER_CENT, "language", y, ENGLISH))]
    for place, row in enumerate(rows):
        x = short(frame.x(place + 0.5))
        first, second = short(frame.y(row.first)), short(frame.y(row.second))
        told = f"{row.name}: {names[0]} {row.first:.0f}, {names[1]} {row.second:.0f}"
        drawn += [
            f'<g><title>{escape(told)}</title><line class="grid" x1="{x}" x2="{x}" y1="{first}" y2="{second}" stroke-width="3"/>',
            f'<circle class="stop c1" cx="{x}" cy="{first}" r="5"/><circle class="full c0" cx="{x}" cy="{second}" r="5"/>',
            f'<text x="{x}" y="{short(frame.y(0) + 20)}" text-anchor="middle">{escape(row.label)}</text></g>',
        ]
    bottom = frame.height - 6
    for left, name, mark in ((frame.left, names[0], "stop c1"), (frame.left + WIDTH // 4, names[1], "full c0")):
        drawn.append(f'<circle class="{mark}" cx="{left + 5}" cy="{bottom - 4}" r="5"/>')
        drawn.append(f'<text x="{left + 16}" y="{bottom}">{escape(name)}</text>')
    return _document(title, "".join(drawn) + "</g>", frame.height + TITLE)


def _document(title: str, body: str, height: int) -> str:
    """On paper that is always white, with the style of a harvest curve."""
    plain = harvest.svg(harvest.Panel("", "", ()))
    style = re.search(r"<style>(.*?)</style>", plain, re.DOTALL)
    colours = "".join(
        f".full.c{place}{{fill:{colour}}}"
        for place, colour in enumerate(re.findall(r"--c\d: (#\w{6})", harvest.style_sheet()))
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" font-family="system-ui, sans-serif">'
    paper = '<rect class="paper" width="100%" height="100%"/>'
    heading = f'<text class="title" x="0" y="14">{escape(title)}</text>' if title else ""
    styles = f"{style[1] if style else ''}{colours}.line.whisker{{stroke-width:1.4;stroke-opacity:.55}}"
    return f"{head}<style>{styles}</style>{paper}{heading}{body}</svg>\n"
