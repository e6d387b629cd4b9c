"""Where to look: a path through long texts along words that both have."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from bitrawl.align.cognates import folded
from bitrawl.align.documents import Document, Text

Floats = NDArray[np.float64]
Point = tuple[int, int]

# Judgements.
_RARE = 3  # occurrences of a word that may anchor
_NEAR, _STRAY = 40, 12  # An anchor is believed when another within so many sentences agrees with it so closely.


def path(document: Document, translations: Mapping[str, Sequence[str]] | None = None) -> Floats:
    """For each number of sentences of a, about how many of b correspond: by anchors, and by length between them.

    `translations` are words of a with those that are known to translate them.
    """
    ends_a = np.append(0.0, np.cumsum(document.a.lengths))
    ends_b = np.append(0.0, np.cumsum(document.b.lengths))
    anchors = _believed(_increasing(_shared_rare_words(document, translations or {})))
    at_a = [0.0, *(ends_a[i] + document.a.lengths[i] / 2 for i, _ in anchors), ends_a[-1]]
    at_b = [0.0, *(ends_b[j] + document.b.lengths[j] / 2 for _, j in anchors), ends_b[-1]]
    found: Floats = np.interp(np.interp(ends_a, at_a, at_b), ends_b, np.arange(len(ends_b)))
    return found


def _shared_rare_words(document: Document, translations: Mapping[str, Sequence[str]]) -> list[Point]:
    """Sentences with a word that both texts have equally rarely."""
    places_a, places_b = _places(document.a), _places(document.b)
    points: set[Point] = set()
    for word, places in places_a.items():
        for other in (folded(word), *translations.get(word, ())):
            if len(places) == len(found := places_b.get(other, ())) <= _RARE:
                points.update(zip(places, found, strict=True))
    return sorted(points)


def _places(text: Text) -> dict[str, list[int]]:
    """The sentences of each rare word; one letter or mark anchors nothing."""
    counts: Counter[str] = Counter()
    for word, count in Counter(chain.from_iterable(text.tokens)).items():
        counts[folded(word)] += count
    rare = {word for word, count in counts.items() if count <= _RARE}
    places: dict[str, list[int]] = defaultdict(list)
    for number, tokens in enumerate(text.tokens):
        for token in tokens:
            if len(token) > 1 and (plain := folded(token)) in rare:
                places[plain].append(number)
    return places


def _increasing(points: Sequence[Point]) -> list[Point]:
    """The longest chain in which both numbers grow, by patience sorting."""
    tops: list[int] = []
    top_points: list[int] = []
    before: list[int] = []
    # Of several points in a row the last column first: no two of them are in one chain.
    ordered = sorted(points, key=lambda point: (point[0], -point[1]))
    for number, (_, j) in enumerate(ordered):
        pile = bisect_left(tops, j)
        before.append(top_points[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [j]
        top_points[pile : pile + 1] = [number]
    chain = []
    at = top_points[-1] if top_points else -1
    while at >= 0:
        chain.append(ordered[at])
        at = before[at]
    return chain[::-1]


def _believed(chain: Sequence[Point]) -> list[Point]:
    def agree(one: Point, other: Point) -> bool:
        across, down = other[0] - one[0], other[1] - one[1]
        return across <= _NEAR and down <= _NEAR and abs(across - down) <= _STRAY

    neighbours = zip([None, *chain[:-1]], chain, [*chain[1:], None], strict=True) if chain else ()
    return [
        point
        for previous, point, following in neighbours
        if (previous and agree(previous, point)) or (following and agree(point, following))
    ]
