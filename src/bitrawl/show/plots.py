"""Small charts as inline SVG: what they show, and where each value stands. `templates/plots.html` draws them."""

from collections.abc import Callable, Mapping, Sequence
from math import ceil, floor, log10
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import msgspec

from bitrawl.show.templating import drawing, short
from bitrawl.show.wording import number, share

if TYPE_CHECKING:
    from markupsafe import Markup

DASHES = ((), (9, 4), (2, 3), (12, 3, 2, 3), (5, 2), (12, 3, 2, 3, 2, 3), (16, 5), (1, 5))
"""Strokes and gaps of the lines, in pixels, so that lines can be told apart without colour. The first is solid."""

COLOURS = len(DASHES)
"""Lines have the colours c0 to c7 of the page's style. More could not be told apart."""

MOST_BARS = 16


class Series(msgspec.Struct, frozen=True):
    """A line of a chart."""

    name: str
    points: tuple[tuple[float, float], ...]
    stop: tuple[int, int] | None = None  # a point on the line that gets a ring
    spread: tuple[
        tuple[float, float, float], ...
    ] = ()  # x, lowest and highest y: a pale area behind the line; not in PNG

    @property
    def outline(self) -> list[tuple[float, float]]:
        """Of that area: there along the highest values, and back along the lowest."""
        return [*((x, high) for x, _, high in self.spread), *((x, low) for x, low, _ in reversed(self.spread))]


class Bar(msgspec.Struct, frozen=True):
    """A row of a bar chart."""

    label: str
    value: int
    note: str = ""  # what the label means; shown under it
    part: int | None = None  # the part of the value that is drawn solid; the rest is pale


class Range(msgspec.Struct, frozen=True):
    """A row of a chart of shares, with the interval of each."""

    label: str
    written: str  # the share and its interval in words
    low: float = 0.0
    middle: float | None = None  # None if it is not known: then nothing is drawn
    high: float = 1.0
    note: str = ""  # shown under the label


class Written(NamedTuple):
    """How a chart writes numbers; another language writes them otherwise."""

    number: Callable[[float], str] = number
    share: Callable[[float, float], str] = share
    others: Callable[[int], str] = "{} others".format
    fraction: Callable[[float], str] = "{:g}".format
    threshold: Callable[[float], str] = "threshold {:g}".format


ENGLISH = Written()


class Frame(msgspec.Struct, frozen=True):
    """Turns values from 0 to the largest into positions in the picture, in pixels."""

    width: ClassVar[int] = 520
    height: ClassVar[int] = 250
    left: ClassVar[int] = 52  # margins, for the axes
    right: ClassVar[int] = 30  # half of a label such as 1,000,000
    top: ClassVar[int] = 24
    bottom: ClassVar[int] = 42

    largest_x: float
    largest_y: float

    def x(self, value: float) -> float:
        return self.left + (self.width - self.left - self.right) * value / self.largest_x

    def y(self, value: float) -> float:
        return self.height - self.bottom - (self.height - self.top - self.bottom) * value / self.largest_y

    def path(self, points: Sequence[tuple[float, float]]) -> str:
        return " ".join(f"{short(self.x(x))},{short(self.y(y))}" for x, y in points)


class LineChart(msgspec.Struct, frozen=True):
    """Lines from the origin. `x` and `y` say what the axes count."""

    dashes: ClassVar[tuple[tuple[int, ...], ...]] = DASHES
    ring: ClassVar[int] = 5  # radius of the ring that marks where a line stops

    series: Sequence[Series]
    x: str
    y: str
    written: Written
    frame: Frame
    ticks_along: list[float]
    ticks_up: list[float]


def line_chart(series: Sequence[Series], x: str, y: str, written: Written = ENGLISH) -> LineChart:
    """A chart of curves, with as many lines as can be told apart."""
    drawn = series[:COLOURS]
    right = max((point[0] for line in drawn for point in line.points), default=0)
    up = ticks(max((point[1] for line in drawn for point in (*line.points, *line.outline)), default=0))
    along = [value for value in ticks(right) if value <= right]
    return LineChart(drawn, x, y, written, Frame(right or 1, up[-1] or 1), along, up)


def thinned(points: Sequence[tuple[int, int]], most: int) -> tuple[tuple[int, int], ...]:
    """About so many of them, and the last."""
    step = max(1, -(-len(points) // most))
    return (*points[:-1:step], *points[-1:])


def lines(title: str, series: Sequence[Series], *, x: str, y: str, written: Written = ENGLISH) -> "Markup":
    """Lines from the origin, with a legend. A ring marks where a line stops."""
    return drawing("lines", title, line_chart(series, x, y, written))


class Histogram(msgspec.Struct, frozen=True):
    """Columns over the range from 0 to 1. Those below the threshold `mark`, which is a line, are pale."""

    counts: Sequence[int]
    x: str
    y: str
    mark: float | None
    written: Written
    frame: Frame
    ticks_up: list[float]


def histogram(
    title: str, counts: Sequence[int], *, x: str, y: str, mark: float | None = None, written: Written = ENGLISH
) -> "Markup":
    up = ticks(max(counts, default=0))
    return drawing("histogram", title, Histogram(counts, x, y, mark, written, Frame(1.0, up[-1] or 1), up))


def bars(
    rows: Sequence[Bar] | Mapping[str, int], *, total: int = 0, most: int = MOST_BARS, written: Written = ENGLISH
) -> "Markup":
    """A table of horizontal bars.

    If there are more than `most`, the last ones are summed up. Shares are of `total`, if it is given.
    """
    chart = [Bar(label, value) for label, value in rows.items()] if isinstance(rows, Mapping) else list(rows)
    if len(chart) > most:
        rest = chart[most - 1 :]
        chart[most - 1 :] = [Bar(written.others(len(rest)), sum(row.value for row in rest))]
    longest = max((row.value for row in chart), default=0) or 1
    return drawing("bars", chart, longest, total, written)


def ranges(rows: Sequence[Range]) -> "Markup":
    """A table of shares from 0 to 1: a dot for each, on the line of its interval."""
    return drawing("ranges", rows)


CHARTS = {"lines": lines, "histogram": histogram, "bars": bars}
"""For templates that draw charts."""


def ticks(top: float, most: int = 5) -> list[float]:
    """From 0 to `top` or a little more, in steps of 1, 2 or 5 times a power of ten. Whole numbers only."""
    if top <= 0:
        return [0]
    rough = max(top / most, 1)
    power = 10 ** floor(log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    return [step * place for place in range(ceil(top / step) + 1)]
