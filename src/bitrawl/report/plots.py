"""Small charts as inline SVG, without scripts.

The page's style sets the colours. Point at a value to see its number.
"""

from collections.abc import Callable, Sequence
from math import ceil, floor, log10
from typing import NamedTuple

import msgspec

from bitrawl.report.markup import Html, escaped, fill, joined
from bitrawl.report.wording import number, share

WIDTH, HEIGHT = 520, 250
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 24, 42  # margins, for the axes
DASHES = ((), (9, 4), (2, 3), (12, 3, 2, 3), (5, 2), (12, 3, 2, 3, 2, 3), (16, 5), (1, 5))
"""Strokes and gaps of the lines, in pixels, so that lines can be told apart without colour. The first is solid."""

COLOURS = len(DASHES)
"""Lines have the colours c0 to c7 of the page's style. More could not be told apart."""

STROKE = 2.2
RING = 5  # radius of the ring that marks where a line stops
MOST_BARS = 16  # judgement


class Series(msgspec.Struct, frozen=True):
    """A line of a chart."""

    name: str
    points: tuple[tuple[int, int], ...]
    stop: tuple[int, int] | None = None  # a point on the line that gets a ring


class Bar(msgspec.Struct, frozen=True):
    """A row of a bar chart."""

    label: str
    value: int
    note: str = ""  # what the label means; shown under it
    part: int | None = None  # the part of the value that is drawn solid; the rest is pale


class Written(NamedTuple):
    """How a chart writes numbers; another language writes them otherwise."""

    number: Callable[[float], str] = number
    share: Callable[[float, float], str] = share
    others: Callable[[int], str] = "{} others".format


ENGLISH = Written()


def lines(title: str, series: Sequence[Series], *, x: str, y: str, written: Written = ENGLISH) -> Html:
    """Lines from the origin, with a legend. `x` and `y` say what the axes count. A ring marks where a line stops."""
    drawn = series[:COLOURS]
    right = max((point[0] for one in drawn for point in one.points), default=0)
    top = max((point[1] for one in drawn for point in one.points), default=0)
    frame = _Frame(right or 1, ticks(top)[-1] or 1)
    along = [value for value in ticks(right) if value <= right]
    body = joined(
        [_axes(frame, along, ticks(top), x, y, written)]
        + [_line(frame, one, place, (x, y), written) for place, one in enumerate(drawn)]
    )
    return _figure(title, body, _legend(drawn) if len(drawn) > 1 else Html())


def _legend(series: Sequence[Series]) -> Html:
    items = [
        fill(
            '<li><svg width="30" height="10" aria-hidden="true">{line}</svg> {name}</li>',
            line=stroke(place, 0, 30, 5),
            name=one.name,
        )
        for place, one in enumerate(series)
    ]
    if any(one.stop for one in series):
        ring = fill('<circle class="stop" cx="15" cy="5" r="{r}"/>', r=RING - 1)
        items.append(
            fill('<li><svg width="30" height="10" aria-hidden="true">{ring}</svg> where it stops</li>', ring=ring)
        )
    return fill('<ul class="legend">{items}</ul>', items=joined(items))


def stroke(place: int, left: float, right: float, y: float) -> Html:
    """A piece of the line with that number, for a legend."""
    return fill(
        '<line class="line c{place}" x1="{left}" x2="{right}" y1="{y}" y2="{y}"{dashes}/>',
        place=place, left=left, right=right, y=y, dashes=_dashes(place),
    )  # fmt: skip


def _dashes(place: int) -> Html:
    return fill(' stroke-dasharray="{dashes}"', dashes=" ".join(map(str, DASHES[place]))) if DASHES[place] else Html()


def histogram(title: str, counts: Sequence[int], *, x: str, y: str, mark: float | None = None) -> Html:
    """Columns over the range from 0 to 1, with a line at the threshold `mark`, if there is one."""
    top = max(counts, default=0)
    frame = _Frame(1.0, ticks(top)[-1] or 1)
    total, width = sum(counts), 1 / len(counts)
    columns = []
    for place, count in enumerate(counts):
        left, up = frame.x(place * width), frame.y(count) - (1 if count else 0)  # A single one is still visible.
        columns.append(
            fill(
                '<rect class="column c0" x="{left}" y="{up}" width="{wide}" height="{high}"><title>{title}</title></rect>',
                left=_short(left + 0.5),
                up=_short(up),
                wide=_short(frame.x(width) - frame.x(0) - 1),
                high=_short(frame.y(0) - up),
                title=f"{place * width:.2f} to {(place + 1) * width:.2f}: {number(count)} ({share(count, total)})",
            )
        )
    axes = _axes(frame, [0, 0.2, 0.4, 0.6, 0.8, 1.0], ticks(top), x, y)
    return _figure(title, joined([axes, *columns, _mark(frame, mark) if mark is not None else Html()]))


def _mark(frame: "_Frame", value: float) -> Html:
    is_right = value > 1 / 2  # The label stands on the side that has room.
    return fill(
        '<line class="mark" x1="{x}" x2="{x}" y1="{top}" y2="{low}"/>'
        '<text x="{beside}" y="{at}" text-anchor="{anchor}">threshold {value}</text>',
        x=_short(frame.x(value)), top=TOP - 8, low=_short(frame.y(0)), at=TOP - 2,
        beside=_short(frame.x(value) + (-6 if is_right else 6)), anchor="end" if is_right else "start", value=f"{value:g}",
    )  # fmt: skip


def bars(rows: Sequence[Bar], *, total: int = 0, most: int = MOST_BARS, written: Written = ENGLISH) -> Html:
    """A table of horizontal bars.

    If there are more than `most`, the last ones are summed up. Shares are of `total`, if it is given.
    """
    if len(rows) > most:
        rest = rows[most - 1 :]
        rows = [*rows[: most - 1], Bar(written.others(len(rest)), sum(row.value for row in rest))]
    longest = max((row.value for row in rows), default=0) or 1
    return fill('<table class="bars">{rows}</table>', rows=joined(_bar(row, longest, total, written) for row in rows))


def _bar(row: Bar, longest: int, total: int, written: Written) -> Html:
    part = Html()
    if row.part:
        part = fill('<rect class="c0" width="{w}%" height="100%" rx="2"/>', w=_short(100 * row.part / longest))
    return fill(
        '<tr><th scope="row"><bdi>{label}</bdi>{note}</th><td class="bar"><svg width="100%" height="14" role="img"'
        ' aria-label="{value}"><title>{label}: {value}</title><rect class="c0{pale}" width="{w}%" height="100%"'
        ' rx="2"/>{part}</svg></td><td class="n">{value}</td><td class="n quiet">{share}</td></tr>',
        label=row.label,
        note=fill("<small>{note}</small>", note=row.note) if row.note else "",
        value=written.number(row.value),
        w=_short(100 * row.value / longest),
        pale="" if row.part is None else " pale",
        part=part,
        share=written.share(row.value, total) if total else "",
    )


class _Frame(msgspec.Struct, frozen=True):
    """Turns values into positions in the picture."""

    right: float
    top: float

    def x(self, value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * value / self.right

    def y(self, value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / self.top


def _figure(title: str, body: Html, after: Html = Html()) -> Html:  # noqa: B008 (a str)
    return fill(
        '<figure><figcaption>{title}</figcaption><svg viewBox="0 0 {width} {height}" role="img" aria-label="{title}">'
        "{body}</svg>{after}</figure>",
        title=title,
        width=WIDTH,
        height=HEIGHT,
        body=body,
        after=after,
    )


def _axes(frame: _Frame, xs: Sequence[float], ys: Sequence[float], x: str, y: str, written: Written = ENGLISH) -> Html:
    low, left = frame.y(0), frame.x(0)
    across = [
        fill(
            '<line class="grid" x1="{left}" x2="{right}" y1="{at}" y2="{at}"/>'
            '<text x="{before}" y="{below}" text-anchor="end">{value}</text>',
            left=left, right=WIDTH - RIGHT, at=_short(frame.y(value)), before=left - 6,
            below=_short(frame.y(value) + 4), value=_tick(value, written),
        )
        for value in ys
    ]  # fmt: skip
    along = [
        fill(
            '<text x="{at}" y="{below}" text-anchor="middle">{value}</text>',
            at=_short(frame.x(value)),
            below=low + 16,
            value=_tick(value, written),
        )
        for value in xs
    ]
    named = fill(
        '<text class="axis" x="{right}" y="{low}" text-anchor="end">{x}</text>'
        '<text class="axis" x="{left}" y="{top}">{y}</text>',
        right=WIDTH - RIGHT, low=HEIGHT - 6, x=f"{x} →", left=0, top=10, y=f"↑ {y}",
    )  # fmt: skip
    return joined([*across, *along, named])


def _line(frame: _Frame, series: Series, place: int, axes: tuple[str, str], written: Written) -> Html:
    at = [(_short(frame.x(x)), _short(frame.y(y))) for x, y in series.points]
    dots = joined(
        fill(
            '<circle class="dot c{place}" cx="{x}" cy="{y}" r="5"><title>{title}</title></circle>',
            place=place,
            x=x,
            y=y,
            title=f"{series.name}: {axes[1]} {written.number(count)}, {axes[0]} {written.number(fetched)}",
        )
        for (x, y), (fetched, count) in zip(at, series.points, strict=True)
    )
    path = " ".join(f"{x},{y}" for x, y in at)
    return fill(
        '<polyline class="line c{place}" points="{path}"{dashes}/>{dots}{ring}',
        place=place,
        path=path,
        dashes=_dashes(place),
        dots=dots,
        ring=_ring(frame, series, place) if series.stop else Html(),
    )


def _ring(frame: _Frame, series: Series, place: int) -> Html:
    x, y = series.stop or (0, 0)
    return fill(
        '<circle class="stop c{place}" cx="{x}" cy="{y}" r="{r}"><title>{title}</title></circle>',
        place=place,
        x=_short(frame.x(x)),
        y=_short(frame.y(y)),
        r=RING,
        title=f"{series.name} stops after {number(x)}, with {number(y)}",
    )


def ticks(top: float, most: int = 5) -> list[float]:
    """From 0 to `top` or a little more, in steps of 1, 2 or 5 times a power of ten. Whole numbers only."""
    if top <= 0:
        return [0]
    rough = max(top / most, 1)
    power = 10 ** floor(log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    return [step * place for place in range(ceil(top / step) + 1)]


def _tick(value: float, written: Written) -> str:
    return written.number(value) if value == int(value) else f"{value:.1f}"


def _short(value: float) -> str:
    """A coordinate. A tenth of a pixel is exact enough."""
    return escaped(f"{value:.1f}".removesuffix(".0"))
