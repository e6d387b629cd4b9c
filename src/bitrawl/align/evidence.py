"""How much likelier two runs of sentences are as translations than as strangers: by lengths and by words, in nats."""

from collections.abc import Iterable, Sequence
from math import lgamma
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.align.dynamic import Band, Shape

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Bags(NamedTuple):
    """Sentences as numbered words, in flat arrays."""

    word: Ints
    sentence: Ints
    total: int  # of sentences

    @property
    def sizes(self) -> Ints:
        """Words of each sentence."""
        return np.bincount(self.sentence, minlength=self.total)


class Translation(NamedTuple):
    """p(target | source) for pairs of numbered words, ordered by the source word; those of a word sum to at most 1."""

    source: Ints
    target: Ints
    probability: Floats
    left: Floats  # by source word, what the sum lacks to 1
    unigram: Floats  # of the target words


class LengthModel(NamedTuple):
    """Gale and Church 1993: a text of l characters becomes `ratio` * l, with a variance that grows with l."""

    ratio: float = 1.0
    spread: float = 6.8  # variance per character, theirs
    odd: float = 0.02  # share of true beads that follow no rule of length

    def error(self, length_a: Floats, length_b: Floats) -> Floats:
        """The squared error in units of the spread."""
        squared: Floats = (length_b - self.ratio * length_a) ** 2 / self.scale(length_a, length_b)
        return squared

    def scale(self, length_a: Floats, length_b: Floats) -> Floats:
        """What the variance is proportional to; the longer side, lest a short one seem to be certain."""
        scale: Floats = self.ratio * (np.maximum(self.ratio * length_a, length_b) + _SHORT)
        return scale


_SHORT = 5.0  # characters; judgement: so much varies even where there is next to nothing to translate


def length_gains(a: Floats, b: Floats, model: LengthModel, band: Band, shapes: Iterable[Shape]) -> dict[Shape, Floats]:
    """Log-odds of the lengths of every bead, in characters: as the model has it against any sentences of b."""
    ends_a, ends_b = _ends(a), _ends(b)
    rows, columns = np.arange(len(band.low))[:, None], band.columns()
    mean = float(b.mean())
    # Whoever knows the original cannot know less of the length: in texts of a few sentences chance may say so.
    variance = max(float(b.var()), model.spread * model.ratio * (mean + _SHORT))
    found = {}
    for ka, kb in shapes:
        length_a = ends_a[rows] - ends_a[np.maximum(rows - ka, 0)]
        length_b = ends_b[columns] - ends_b[np.maximum(columns - kb, 0)]
        variances = model.spread * model.scale(length_a, length_b)
        together = -0.5 * (model.error(length_a, length_b) / model.spread + np.log(2 * np.pi * variances))
        alone = _log_gamma_density(length_b, kb * mean, kb * variance)
        found[ka, kb] = np.logaddexp(np.log1p(-model.odd) + together - alone, np.log(model.odd))
    return found


def lexical_gains(
    bags: tuple[Bags, Bags],
    translations: tuple[Translation, Translation],
    band: Band,
    shapes: Sequence[Shape],
) -> dict[Shape, Floats]:
    """Log-odds of the words of every bead: the mean of both directions."""
    (a, b), (forward, backward) = bags, translations
    exchanged = band.transposed()
    of_words_a, of_words_b = _spread(a, forward), _spread(b, backward)
    of_b = {k: _gains(a, b, forward, of_words_a, band, k) for k in {ka for ka, _ in shapes}}
    of_a = {
        k: _turned(_gains(b, a, backward, of_words_b, exchanged, k), exchanged, band) for k in {kb for _, kb in shapes}
    }
    found = {}
    for ka, kb in shapes:
        total = of_b[ka] + of_a[kb]
        for d in range(1, kb):
            total += band.moved(of_b[ka], 0, d, 0.0)
        for d in range(1, ka):
            total += band.moved(of_a[kb], d, 0, 0.0)
        found[ka, kb] = total / 2
    return found


def _gains(a: Bags, b: Bags, translation: Translation, spread: "_Spread", band: Band, k: int) -> Floats:
    """Log-odds of the words of b's sentence j given the k sentences of a that end with i.

    IBM Model 1 against the unigram distribution, which also has the probability that the known translations of a word
    leave: where nothing is known of the words of a, nothing is held against those of b.
    """
    length = _summed(np.maximum(a.sizes, 1).astype(np.float64), k)
    left = np.bincount(a.sentence, translation.left[a.word], a.total) + (a.sizes == 0)
    left = np.maximum(_summed(left, k) / length, _LEAST_LEFT)
    word, last, total = _over_runs(spread, a.total, k)
    gain = np.log1p(total / (length * left)[last] / translation.unigram[word])
    unexplained: Floats = np.append(0.0, np.log(left))[:, None] * np.append(0, b.sizes)[band.columns()]
    return _scattered(b, band, word, last, gain) + unexplained


_LEAST_LEFT = 1e-3  # Judgement: keeps the logarithm finite.


def _summed(values: Floats, k: int) -> Floats:
    """Each with the k - 1 before it."""
    summed: Floats = np.convolve(values, np.ones(k))[: len(values)]
    return summed


class _Spread(NamedTuple):
    """Words of b that sentences of a translate to, and how many times they are expected; ordered by `key`."""

    key: Ints  # the word times the number of sentences, plus the sentence
    expected: Floats


def _spread(a: Bags, translation: Translation) -> _Spread:
    starts, ends = (np.searchsorted(translation.source, a.word + d) for d in (0, 1))
    which = _ranges(starts, ends)
    key = translation.target[which] * a.total + np.repeat(a.sentence, ends - starts)
    return _added_up(key, translation.probability[which])


def _over_runs(spread: _Spread, total: int, k: int) -> tuple[Ints, Ints, Floats]:
    """Words, the last of k sentences, and how many times the word is expected of all k."""
    if k > 1:
        sentence = spread.key % total
        inside = [sentence + d < total for d in range(k)]
        key = np.concatenate([spread.key[ok] + d for d, ok in enumerate(inside)])
        spread = _added_up(key, np.concatenate([spread.expected[ok] for ok in inside]))
    return spread.key // total, spread.key % total, spread.expected


def _added_up(key: Ints, expected: Floats) -> _Spread:
    # A stable sort is a merge of what is in order already; np.unique would take five times as long.
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.append(True, key[1:] != key[:-1])[: len(key)])
    return _Spread(key[first], np.add.reduceat(expected[order], first) if len(first) else expected)


def _scattered(b: Bags, band: Band, word: Ints, i: Ints, gain: Floats) -> Floats:
    """The gains of words after sentence i, added up in the band's nodes wherever sentences of b have them."""
    order = np.lexsort((b.sentence, b.word))
    keys = b.word[order] * (b.total + 1) + b.sentence[order]
    low = band.low[i + 1] - 1
    starts = np.searchsorted(keys, word * (b.total + 1) + np.maximum(low, 0))
    ends = np.searchsorted(keys, word * (b.total + 1) + low + band.width)
    i = np.repeat(i, ends - starts)
    j = b.sentence[order[_ranges(starts, ends)]]
    node = (i + 1) * band.width + j + 1 - band.low[i + 1]
    flat = np.bincount(node, np.repeat(gain, ends - starts), len(band.low) * band.width)
    return flat.astype(np.float64, copy=False).reshape(len(band.low), band.width)


def _turned(table: Floats, exchanged: Band, band: Band) -> Floats:
    """A table of the exchanged texts in the band's layout."""
    columns = band.columns()
    column = np.arange(len(band.low))[:, None] - exchanged.low[columns]
    turned: Floats = table[columns, np.clip(column, 0, exchanged.width - 1)]
    return turned


def _ranges(starts: Ints, ends: Ints) -> Ints:
    """All numbers from each start to its end, one range after the other."""
    counts = ends - starts
    offsets = np.cumsum(counts) - counts
    return np.repeat(starts - offsets, counts) + np.arange(counts.sum())


def _ends(lengths: Floats) -> Floats:
    return np.append(0.0, np.cumsum(lengths))


def _log_gamma_density(x: Floats, mean: float, variance: float) -> Floats:
    """Of the sum of a few sentences' lengths; a normal distribution would give the long ones no chance."""
    shape, scale = mean * mean / variance, variance / mean
    x = np.maximum(x, 1.0)
    density: Floats = (shape - 1) * np.log(x) - x / scale - lgamma(shape) - shape * np.log(scale)
    return density
