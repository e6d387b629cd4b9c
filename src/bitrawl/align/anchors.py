"""Where to look: a path through long texts along words that both have, and the blocks of two pages that belong together."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bitrawl.align.cognates import folded
from bitrawl.align.documents import Document, Text, Vocabulary
from bitrawl.align.dynamic import DELETION, INSERTION, Band, Shape, posteriors
from bitrawl.align.evidence import LengthModel, Translation, length_gains, lexical_gains

Floats = NDArray[np.float64]
Point = tuple[int, int]

# Judgements.
_RARE = 3  # occurrences of a word that may anchor
_NEAR, _STRAY = 40, 12  # An anchor is believed when another within so many sentences agrees with it so closely.
_WIDTH = 400  # blocks
_BLOCK_PRIOR: Mapping[Shape, float] = {
    (1, 1): 0.8, DELETION: 0.06, INSERTION: 0.06, (1, 2): 0.03, (2, 1): 0.03, (2, 2): 0.02
}  # fmt: skip
# What is left of the odds of two sentences whose blocks do not belong together; a judgement: blocks are merged and
# split by editors, so that a sentence that fits well may still cross.
_APART = 0.02


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
    places: dict[str, list[int]] = defaultdict(list)
    for number, tokens in enumerate(text.tokens):
        for token in tokens:
            # One letter or mark anchors nothing; once too many, always too many.
            if len(token) > 1 and len(found := places[folded(token)]) <= _RARE:
                found.append(number)
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


def block_gains(
    document: Document,
    vocabularies: tuple[Vocabulary, Vocabulary],
    translations: tuple[Translation, Translation],
    model: LengthModel,
    weight: float,
) -> Floats:
    """For each block of a and of b, the log of the probability that they belong together, by words, length and place.

    Tags and kinds are words of a block that translate themselves: the common ones say little, a rare one anchors.
    """
    a, b = (_blocks(text) for text in document)
    band = Band.around(np.linspace(0, len(b.tokens), len(a.tokens) + 1), len(b.tokens), _WIDTH)
    shapes = [shape for shape in _BLOCK_PRIOR if all(shape)]
    bags = vocabularies[0].bags(a.tokens), vocabularies[1].bags(b.tokens)
    lexical = lexical_gains(bags, translations, band, shapes)
    lengths = length_gains(a.lengths, b.lengths, model, band, shapes)
    gains = {
        shape: np.log(prior)
        + (lengths[shape] + weight * lexical[shape] if all(shape) else np.zeros(lengths[1, 1].shape))
        for shape, prior in _BLOCK_PRIOR.items()
    }
    together = np.zeros((len(a.tokens) + 1, len(b.tokens) + 1))
    for (ka, kb), probability in posteriors(band, gains).items():
        i, column = np.nonzero(probability > _APART / 2)
        for down in range(ka):
            for back in range(kb):
                np.add.at(together, (i - down, band.low[i] + column - back), probability[i, column])
    log: Floats = np.log(np.clip(together[1:, 1:], _APART, 1.0))
    return log


def _blocks(text: Text) -> Text:
    """Its blocks as if they were sentences."""
    tokens = [list(markup) for markup in text.markup]
    for block, sentence in zip(text.blocks.tolist(), text.tokens, strict=True):
        tokens[block] += sentence
    lengths = np.bincount(text.blocks, text.lengths, len(tokens)).astype(np.float64)
    return Text((), tuple(map(tuple, tokens)), lengths, np.zeros(len(tokens), np.int64))
