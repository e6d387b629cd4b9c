"""How much likelier two runs of sentences are as translations than as strangers: by lengths and by words, in nats."""

from collections.abc import Iterable, Sequence
from math import lgamma
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.align.dynamic import Lattices, Shape

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Side(NamedTuple):
    """One side of many documents: its sentences, or its blocks, as numbered words in flat arrays."""

    word: Ints
    begin: Ints  # where the words of each sentence begin, and the end of the last
    lengths: Floats  # of each sentence, in characters

    @classmethod
    def of(cls, word: Ints, sizes: Sequence[int], lengths: Floats) -> "Side":
        return cls(word, np.append(0, np.cumsum(np.array(sizes, np.int64))), lengths)


class Cut:
    """Some sentences in a row, for each lattice: where they begin in their side, and how many they are."""

    def __init__(self, first: Ints, size: Ints) -> None:
        self.first, self.size = first, size

    @classmethod
    def of(cls, sizes: Sequence[int]) -> "Cut":
        size = np.array(sizes, np.int64)
        return cls(np.cumsum(size) - size, size)

    @classmethod
    def joined(cls, some: Sequence["Cut"]) -> "Cut":
        return cls(np.concatenate([cut.first for cut in some]), np.concatenate([cut.size for cut in some]))

    def where(self, which: NDArray[Any]) -> "Cut":
        return Cut(self.first[which], self.size[which])


class Bags(NamedTuple):
    """The sentences of the lattices, one lattice after the other, as numbered words."""

    word: Ints
    sentence: Ints  # of each word
    lattice: Ints  # of each sentence
    place: Ints  # of each sentence in its lattice
    sizes: Ints  # words of each sentence
    lattices: int

    @classmethod
    def of(cls, side: Side, cut: Cut) -> "Bags":
        sentences = ranges(cut.first, cut.first + cut.size)
        begin, end = side.begin[sentences], side.begin[sentences + 1]
        lattice = np.repeat(np.arange(len(cut.size)), cut.size)
        sentence = np.repeat(np.arange(len(sentences)), end - begin)
        place = sentences - cut.first[lattice]
        return cls(side.word[ranges(begin, end)], sentence, lattice, place, end - begin, len(cut.size))


class Translation(NamedTuple):
    """p(target | source) for pairs of numbered words, ordered by the source word; those of a word sum to at most 1."""

    begin: Ints  # by source word, where its targets begin, and the end of the last
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


class Strangers(NamedTuple):
    """How long the sentences of b are in each document, whatever they translate."""

    mean: Floats
    variance: Floats

    @classmethod
    def of(cls, lengths: Floats, cut: Cut) -> "Strangers":
        """Every document has a sentence."""
        one, two = (np.append(0.0, np.cumsum(lengths**power)) for power in (1, 2))
        end = cut.first + cut.size
        mean = (one[end] - one[cut.first]) / cut.size
        return cls(mean, np.maximum((two[end] - two[cut.first]) / cut.size - mean**2, 0.0))

    def log_density(self, lengths: Floats, count: int, model: LengthModel) -> Floats:
        """Of the sum of a few sentences' lengths, in rows of documents.

        A gamma distribution: a normal one would give the long ones no chance.
        """
        # Whoever knows the original cannot know less of the length: in texts of a few sentences chance may say so.
        variance = np.maximum(self.variance, model.spread * model.ratio * (self.mean + _SHORT))
        shape, scale = count * self.mean**2 / variance, variance / self.mean
        constant = np.array([lgamma(s) for s in shape.tolist()]) + shape * np.log(scale)
        lengths = np.maximum(lengths, 1.0)
        density: Floats = (shape[:, None] - 1) * np.log(lengths) - lengths / scale[:, None] - constant[:, None]
        return density

    def where(self, documents: Ints) -> "Strangers":
        return Strangers(self.mean[documents], self.variance[documents])


def length_gains(
    runs: tuple["RunLengths", "RunLengths"],
    strangers: Strangers,
    model: LengthModel,
    lattices: Lattices,
    shapes: Iterable[Shape],
) -> dict[Shape, Floats]:
    """Log-odds of the lengths of every bead, in characters: as the model has it against any sentences of b."""
    known_b: dict[int, tuple[Floats, Floats]] = {}
    found = {}
    for ka, kb in shapes:
        if kb not in known_b:
            length = runs[1].of(kb)
            alone = np.exp(-np.maximum(strangers.log_density(length, kb, model), -_MOST_ODD))
            known_b[kb] = lattices.at_columns(length), lattices.at_columns(alone)
        length_b, odds = known_b[kb]
        expected = model.ratio * runs[0].of(ka).T[:, :, None]
        variance = np.maximum(expected, length_b)
        variance += _SHORT
        variance *= model.spread * model.ratio
        together = length_b - expected
        together *= together
        together /= variance
        together *= -0.5
        together = np.exp(together, out=together)
        together /= np.sqrt(variance, out=variance)
        together *= odds
        together *= (1 - model.odd) / np.sqrt(2 * np.pi)
        together += model.odd
        found[ka, kb] = np.log(together, out=together)
    return found


_MOST_ODD = 80.0  # nats: keeps the exponential finite


class RunLengths:
    """For every lattice and node of one side, the length of the k sentences that end there."""

    def __init__(self, side: Side, cut: Cut) -> None:
        place = np.minimum(np.arange(int(cut.size.max()) + 1), cut.size[:, None])
        ends = np.append(0.0, np.cumsum(side.lengths))
        self._ends = ends[cut.first[:, None] + place]

    def of(self, count: int) -> Floats:
        runs = self._ends.copy()
        runs[:, count:] -= self._ends[:, :-count]
        runs[:, :count] -= self._ends[:, :1]
        return runs


def lexical_gains(
    bags: tuple[Bags, Bags], translations: tuple[Translation, Translation], lattices: Lattices, shapes: Sequence[Shape]
) -> dict[Shape, Floats]:
    """Log-odds of the words of every bead: the mean of both directions."""
    most_a, most_b = (max(counts) for counts in zip(*shapes, strict=True))
    a, b = bags
    of_b = _Direction(a, b, translations[0], lattices, turned=False)
    of_a = _Direction(b, a, translations[1], lattices, turned=True)
    tables_b = [of_b.gains(k) for k in range(1, most_a + 1)]
    tables_a = [of_a.gains(k) for k in range(1, most_b + 1)]
    found = {}
    for ka, kb in shapes:
        total = tables_b[ka - 1] + tables_a[kb - 1]
        for d in range(1, kb):
            total += lattices.moved(tables_b[ka - 1], 0, d, 0.0)
        for d in range(1, ka):
            total += lattices.moved(tables_a[kb - 1], d, 0, 0.0)
        total *= 0.5
        found[ka, kb] = total
    return found


class _Direction:
    """Log-odds of the words of b's sentences given runs of a's.

    IBM Model 1 against the unigram distribution, which also has the probability that the known translations of a word
    leave: where nothing is known of the words of a, nothing is held against those of b.
    """

    def __init__(self, a: Bags, b: Bags, translation: Translation, lattices: Lattices, *, turned: bool) -> None:
        self._a, self._b, self._lattices, self._turned = a, b, lattices, turned
        self._translation = translation
        self._places = _Places(b)
        self._spread = _spread(a, translation, self._places)
        self._left = np.bincount(a.sentence, translation.left[a.word], len(a.sizes)) + 1.0 * (a.sizes == 0)
        self._length = np.maximum(a.sizes, 1).astype(np.float64)
        b_sizes = np.zeros((a.lattices, (lattices.sizes_a if turned else lattices.sizes_b).max() + 1))
        b_sizes[b.lattice, b.place + 1] = b.sizes
        self._b_sizes = b_sizes

    def gains(self, k: int) -> Floats:
        """Of the words of sentence j, given the k sentences of a that end with i."""
        a = self._a
        length, left = (_summed(values, a.place, k) for values in (self._length, self._left))
        left = np.maximum(left / length, _LEAST_LEFT)
        group, last, expected = _over_runs(self._spread, a, k)
        gain = np.log1p(expected / ((length * left)[last] * self._translation.unigram[self._places.words[group]]))
        found: Floats = self._scattered(group, last, gain) + self._unexplained(np.log(left))
        return found

    def _unexplained(self, left: Floats) -> Floats:
        a, lattices = self._a, self._lattices
        rows = np.zeros((a.lattices, (lattices.sizes_b if self._turned else lattices.sizes_a).max() + 1))
        rows[a.lattice, a.place + 1] = left
        down, across = (self._b_sizes, rows) if self._turned else (rows, self._b_sizes)
        found: Floats = down.T[:, :, None] * lattices.at_columns(across)
        return found

    def _scattered(self, group: Ints, last: Ints, gain: Floats) -> Floats:
        """The gains of words after sentence i, added up in the nodes wherever sentences of b have them."""
        lattices, a, places = self._lattices, self._a, self._places
        begin, end = self._in_band(group, last)
        count = end - begin
        i = np.repeat(a.place[last] + 1, count)
        j = places.place[ranges(begin, end)] + 1
        lattice = np.repeat(a.lattice[last], count)
        row, column = (j, i) if self._turned else (i, j)
        gain = np.repeat(gain, count)
        rows, total, width = lattices.shape
        node = (row * total + lattice) * width + column - lattices.low[row]
        return np.bincount(node, gain, rows * total * width).astype(np.float64, copy=False).reshape(lattices.shape)

    def _in_band(self, group: Ints, last: Ints) -> tuple[Ints, Ints]:
        """The places of those words that can be met from those sentences."""
        places, lattices = self._places, self._lattices
        if lattices.straight:
            return places.begin[group], places.begin[group + 1]
        node = self._a.place[last] + 1
        if self._turned:
            first = np.searchsorted(lattices.low + lattices.width, node, side="right") - 1
            beyond = np.searchsorted(lattices.low, node, side="right") - 1
        else:
            first = lattices.low[node] - 1
            beyond = first + lattices.width
        return places.search(group, np.maximum(first, 0)), places.search(group, beyond)


_LEAST_LEFT = 1e-3  # Judgement: keeps the logarithm finite.


class _Places:
    """In which sentences of its lattice each word stands; words are numbered by lattice and word: groups."""

    def __init__(self, bags: Bags) -> None:
        self._size = int(bags.word.max(initial=0)) + 1
        key = bags.lattice[bags.sentence] * self._size + bags.word
        order = np.argsort(key, kind="stable")
        key = key[order]
        first = np.flatnonzero(np.append(True, key[1:] != key[:-1])[: len(key)])
        self._keys = key[first]
        self.words = self._keys % self._size
        self.begin = np.append(first, len(key))
        self.place = bags.place[bags.sentence[order]]
        # A small table that says of most words that stand nowhere that they do: looking those up would cost most.
        self._maybe = np.zeros(_SIEVE, np.bool_)
        self._maybe[self._keys & (_SIEVE - 1)] = True

    def search(self, group: Ints, place: Ints) -> Ints:
        """Where the places of the group begin that are not before this one."""
        groups = np.repeat(np.arange(len(self.words)), np.diff(self.begin))
        size = int(self.place.max(initial=0)) + 2
        return np.searchsorted(groups * size + self.place, group * size + np.minimum(place, size - 1))

    def find(self, lattice: Ints, word: Ints) -> tuple[Ints, Ints]:
        """Which of those stand somewhere, and their groups."""
        key = lattice * self._size + word
        which = np.flatnonzero(self._maybe[key & (_SIEVE - 1)] & (word < self._size))
        at = np.searchsorted(self._keys, key[which])
        at[at == len(self._keys)] = 0
        found = self._keys[at] == key[which] if len(self._keys) else np.zeros(0, np.bool_)
        return which[found], at[found]


_SIEVE = 1 << 20


class _Spread(NamedTuple):
    """Groups of words of b that sentences of a translate to, and how many times they are expected; ordered by `key`."""

    key: Ints  # the group times the number of sentences, plus the sentence
    expected: Floats


def _spread(a: Bags, translation: Translation, places: _Places) -> _Spread:
    begin, end = translation.begin[a.word], translation.begin[a.word + 1]
    link = ranges(begin, end)
    sentence = np.repeat(a.sentence, end - begin)
    which, group = places.find(a.lattice[sentence], translation.target[link])
    return _added_up(group * len(a.sizes) + sentence[which], translation.probability[link[which]])


def _over_runs(spread: _Spread, a: Bags, k: int) -> tuple[Ints, Ints, Floats]:
    """Groups, the last of k sentences, and how many times the word is expected of all k."""
    total = len(a.sizes)
    if k > 1:
        sentence = spread.key % total
        left = np.bincount(a.lattice, minlength=a.lattices)[a.lattice] - a.place  # to the end of the lattice
        inside = [left[sentence] > d for d in range(k)]
        key = np.concatenate([spread.key[ok] + d for d, ok in enumerate(inside)])
        spread = _added_up(key, np.concatenate([spread.expected[ok] for ok in inside]))
    return spread.key // max(total, 1), spread.key % max(total, 1), spread.expected


def _added_up(key: Ints, expected: Floats) -> _Spread:
    # A stable sort is a merge of what is in order already; np.unique would take five times as long.
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.append(True, key[1:] != key[:-1])[: len(key)])
    return _Spread(key[first], np.add.reduceat(expected[order], first) if len(first) else expected)


def _summed(values: Floats, place: Ints, k: int) -> Floats:
    """Each with the k - 1 before it in its lattice."""
    summed = values.copy()
    for d in range(1, k):
        summed[d:] += np.where(place[d:] >= d, values[:-d], 0.0)
    return summed


def ranges(starts: Ints, ends: Ints) -> Ints:
    """All numbers from each start to its end, one range after the other."""
    counts = ends - starts
    offsets = np.cumsum(counts) - counts
    return np.repeat(starts - offsets, counts) + np.arange(counts.sum())
