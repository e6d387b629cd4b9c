"""How much likelier two runs of sentences are as translations than as strangers: by lengths and by words, in nats.

`Text` and `Document` are what an aligner sees of texts. `path` tells where to look in long texts, along words that both have.
"""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import lgamma
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.mining.beads import Lattices, Shape
from bitrawl.model import Bead, Language
from bitrawl.text.arrays import Floats, Ints, bounds, firsts, in_order, ranges
from bitrawl.text.words import sentence_words


class WordRuns(NamedTuple):
    """The sentences of many texts in one language, or their blocks, as numbered words in flat arrays."""

    word: Ints
    begin: Ints  # where the words of each sentence begin, and the end of the last
    lengths: Floats  # of each sentence, in characters

    @classmethod
    def of(cls, words: Sequence[Sequence[int]], lengths: Floats) -> "WordRuns":
        sizes = np.fromiter(map(len, words), np.int64, len(words))
        return cls(np.fromiter(chain.from_iterable(words), np.int64), bounds(sizes), lengths)


class Cut:
    """Some sentences in a row, for each lattice: where they begin among all of their language, and how many they are."""

    def __init__(self, first: Ints, size: Ints) -> None:
        self.first, self.size = first, size

    @classmethod
    def of(cls, sizes: Sequence[int]) -> "Cut":
        size = np.array(sizes, np.int64)
        return cls(np.cumsum(size) - size, size)

    @classmethod
    def joined(cls, cuts: Sequence["Cut"]) -> "Cut":
        return cls(np.concatenate([cut.first for cut in cuts]), np.concatenate([cut.size for cut in cuts]))

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
    def of(cls, runs: WordRuns, cut: Cut) -> "Bags":
        sentences = ranges(cut.first, cut.first + cut.size)
        begin, end = runs.begin[sentences], runs.begin[sentences + 1]
        lattice = np.repeat(np.arange(len(cut.size)), cut.size)
        sentence = np.repeat(np.arange(len(sentences)), end - begin)
        place = sentences - cut.first[lattice]
        return cls(runs.word[ranges(begin, end)], sentence, lattice, place, end - begin, len(cut.size))


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
        return (length_b - self.ratio * length_a) ** 2 / self.scale(length_a, length_b)

    def scale(self, length_a: Floats, length_b: Floats) -> Floats:
        """What the variance is proportional to; the longer side, lest a short one seem to be certain."""
        return self.ratio * (np.maximum(self.ratio * length_a, length_b) + _SHORT)


_SHORT = 5.0  # characters; judgement: so much varies even where there is next to nothing to translate


class Strangers(NamedTuple):
    """How long the sentences of b are in each document, whatever they translate."""

    mean: Floats
    variance: Floats

    @classmethod
    def of(cls, lengths: Floats, cut: Cut) -> "Strangers":
        """The mean and the variance of each document, which must have a sentence."""
        sums, squares = bounds(lengths), bounds(lengths**2)
        end = cut.first + cut.size
        mean = (sums[end] - sums[cut.first]) / cut.size
        return cls(mean, np.maximum((squares[end] - squares[cut.first]) / cut.size - mean**2, 0.0))

    def log_density(self, lengths: Floats, count: int, model: LengthModel) -> Floats:
        """Of the sum of a few sentences' lengths, in rows of documents.

        A gamma distribution: a normal one would give the long ones no chance.
        """
        # Whoever knows the original cannot know less of the length: in texts of a few sentences chance may say so.
        variance = np.maximum(self.variance, model.spread * model.ratio * (self.mean + _SHORT))
        shape, scale = count * self.mean**2 / variance, variance / self.mean
        constant = np.array([lgamma(s) for s in shape.tolist()]) + shape * np.log(scale)
        lengths = np.maximum(lengths, 1.0)
        return (shape[:, None] - 1) * np.log(lengths) - lengths / scale[:, None] - constant[:, None]

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
    of_b: dict[int, tuple[Floats, Floats]] = {}
    gains = {}
    for ka, kb in shapes:
        if kb not in of_b:
            length = runs[1].of(kb)
            alone = np.exp(-np.maximum(strangers.log_density(length, kb, model), -_MOST_ODD))
            of_b[kb] = lattices.at_columns(length), lattices.at_columns(alone)
        length_b, odds = of_b[kb]
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
        gains[ka, kb] = np.log(together, out=together)
    return gains


_MOST_ODD = 80.0  # nats: keeps the exponential finite


class RunLengths:
    """For every lattice and node, the length of the k sentences of one language that end there."""

    def __init__(self, runs: WordRuns, cut: Cut) -> None:
        place = np.minimum(np.arange(int(cut.size.max()) + 1), cut.size[:, None])
        ends = bounds(runs.lengths)
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
    a, b = (_Places(side) for side in bags)
    of_b = _Direction(a, b, translations[0], lattices, turned=False)
    of_a = _Direction(b, a, translations[1], lattices, turned=True)
    tables_b = [of_b.gains(k) for k in range(1, most_a + 1)]
    tables_a = [of_a.gains(k) for k in range(1, most_b + 1)]
    gains = {}
    for ka, kb in shapes:
        total = tables_b[ka - 1] + tables_a[kb - 1]
        for d in range(1, kb):
            total += lattices.moved(tables_b[ka - 1], 0, d, 0.0)
        for d in range(1, ka):
            total += lattices.moved(tables_a[kb - 1], d, 0, 0.0)
        total *= 0.5
        gains[ka, kb] = total
    return gains


class _Direction:
    """Log-odds of the words of b's sentences given runs of a's.

    IBM Model 1 against the unigram distribution, which also has the probability that the known translations of a word
    leave: where nothing is known of the words of a, nothing is held against those of b.
    """

    def __init__(
        self, of_a: "_Places", of_b: "_Places", translation: Translation, lattices: Lattices, *, turned: bool
    ) -> None:
        a, b = of_a.bags, of_b.bags
        self._a, self._lattices, self._turned = a, lattices, turned
        self._translation = translation
        self._places = of_b
        self._spread = _spread(of_a, translation, of_b)
        self._left = np.bincount(a.sentence, translation.left[a.word], len(a.sizes)) + 1.0 * (a.sizes == 0)
        self._length = np.maximum(a.sizes, 1).astype(np.float64)
        b_sizes = np.zeros((a.lattices, (lattices.sizes_a if turned else lattices.sizes_b).max() + 1))
        b_sizes[b.lattice, b.place + 1] = b.sizes
        self._b_sizes = b_sizes
        # The number of a node is the sum of what a sentence of a and a place of b say.
        _, total, width = lattices.shape
        rows, columns = (of_b.place + 1, a.place + 1) if turned else (a.place + 1, of_b.place + 1)
        down: Ints = rows * (total * width) - lattices.low[rows]
        self._of_place: Ints = down if turned else columns
        self._of_sentence: Ints = (columns if turned else down) + a.lattice * width

    def gains(self, k: int) -> Floats:
        """Of the words of sentence j, given the k sentences of a that end with i."""
        a = self._a
        length, left = (_summed(values, a.place, k) for values in (self._length, self._left))
        left = np.maximum(left / length, _LEAST_LEFT)
        group, last, expected = _over_runs(self._spread, a, k)
        gain = np.log1p(expected / ((length * left)[last] * self._translation.unigram[self._places.words[group]]))
        gains = self._unexplained(np.log(left))
        self._scatter(gains, group, last, gain)
        return gains

    def _unexplained(self, left: Floats) -> Floats:
        a, lattices = self._a, self._lattices
        rows = np.zeros((a.lattices, (lattices.sizes_b if self._turned else lattices.sizes_a).max() + 1))
        rows[a.lattice, a.place + 1] = left
        down, across = (self._b_sizes, rows) if self._turned else (rows, self._b_sizes)
        gains: Floats = np.multiply(down.T[:, :, None], lattices.at_columns(across), order="C")
        return gains

    def _scatter(self, gains: Floats, group: Ints, last: Ints, gain: Floats) -> None:
        """Add the gains of words after sentence i to the nodes wherever sentences of b have them."""
        begin, end = self._in_band(group, last)
        node = self._of_place[ranges(begin, end)]
        node += np.repeat(self._of_sentence[last], end - begin)
        np.add.at(gains.reshape(-1), node, np.repeat(gain, end - begin))  # a view, as the table is in C order

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


_LEAST_LEFT = 1e-3  # keeps the logarithm finite


class _Places:
    """In which sentences of its lattice each word stands; words are numbered by lattice and word: groups."""

    def __init__(self, bags: Bags) -> None:
        self.bags = bags
        self._size = int(bags.word.max(initial=0)) + 1
        key, order = in_order(bags.lattice[bags.sentence] * self._size + bags.word)
        first = firsts(key)
        self._keys = key[first]
        self.words = self._keys % self._size
        self.begin = np.append(first, len(key))
        self.place = bags.place[bags.sentence[order]]
        self.group = np.empty(len(order), np.int64)  # of each word of the bags
        self.group[order] = np.repeat(np.arange(len(first)), np.diff(self.begin))
        # A small table that says of most words that stand nowhere that they do: looking those up would cost most.
        self._maybe = np.zeros(_SIEVE, np.bool_)
        self._maybe[self._keys & (_SIEVE - 1)] = True

    @property
    def lattices(self) -> Ints:
        """Of each group."""
        return self._keys // self._size

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
        same = self._keys[at] == key[which] if len(self._keys) else np.zeros(0, np.bool_)
        return which[same], at[same]


_SIEVE = 1 << 20


class _Spread(NamedTuple):
    """Groups of words of b that sentences of a translate to, and how many times they are expected; ordered by `key`."""

    key: Ints  # the group times the number of sentences, plus the sentence
    expected: Floats


def _spread(a: _Places, translation: Translation, b: _Places) -> _Spread:
    begin, end = translation.begin[a.words], translation.begin[a.words + 1]
    link = ranges(begin, end)
    source = np.repeat(np.arange(len(begin)), end - begin)
    which, target = b.find(a.lattices[source], translation.target[link])
    probability = translation.probability[link[which]]
    # What is found of a word of a lattice holds wherever it stands there.
    of_group = bounds(np.bincount(source[which], minlength=len(begin)))
    begin, end = of_group[a.group], of_group[a.group + 1]
    found = ranges(begin, end)
    key = target[found] * len(a.bags.sizes)
    key += np.repeat(a.bags.sentence, end - begin)
    return _added_up(key, probability[found])


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
    key, order = in_order(key)
    first = firsts(key)
    return _Spread(key[first], np.add.reduceat(expected[order], first) if len(first) else expected)


def _summed(values: Floats, place: Ints, k: int) -> Floats:
    """Each with the k - 1 before it in its lattice."""
    summed = values.copy()
    for d in range(1, k):
        summed[d:] += np.where(place[d:] >= d, values[:-d], 0.0)
    return summed


# Marks that a translation mostly keeps, each a word of its sentence; full stops and commas are in all of them.
_MARK = re.compile(r"[?!:;\"()…«»“”„%§&*/–—-]")

_ENDLESS = 1000  # words: of a "sentence" that has more, each counts once


class Text(NamedTuple):
    """What an aligner sees of one text of a document: its sentences, their words and the blocks they stand in."""

    sentences: tuple[str, ...]
    tokens: tuple[tuple[str, ...], ...]  # of each sentence
    lengths: Floats  # in characters
    blocks: Ints  # the number of the block that each sentence stands in, never falling
    markup: tuple[tuple[str, ...], ...] = ()  # of each block: what its place in the page tells; none for plain text

    @classmethod
    def plain(cls, sentences: Sequence[str], language: Language) -> "Text":
        """Sentences without any markup, all in one block."""
        return cls.marked(sentences, language, [0] * len(sentences), ())

    @classmethod
    def marked(
        cls, sentences: Sequence[str], language: Language, blocks: Sequence[int], markup: Sequence[Sequence[str]]
    ) -> "Text":
        """The sentences of a page, with the number of the block that each stands in, and the markup of each block."""
        return cls(
            tuple(sentences),
            tuple(_sentence_tokens(sentence, language) for sentence in sentences),
            np.array([len(sentence.strip()) + 1.0 for sentence in sentences], np.float64),
            np.array(blocks, np.int64),
            tuple(tuple(marks) for marks in markup),
        )

    def run(self, end: int, count: int) -> list[str]:
        """The words of so many sentences before that one."""
        return list(chain.from_iterable(self.tokens[end - count : end]))


class Document(NamedTuple):
    """Two texts that are held to be translations of each other."""

    a: Text
    b: Text

    @classmethod
    def plain(cls, a: Sequence[str], b: Sequence[str], languages: tuple[Language, Language]) -> "Document":
        return cls(Text.plain(a, languages[0]), Text.plain(b, languages[1]))


def one_sided(document: Document) -> list[Bead]:
    """Where one text is empty, each sentence of the other stands alone."""
    alone = [Bead((i,), (), 1.0) for i in range(len(document.a.tokens))]
    return alone + [Bead((), (j,), 1.0) for j in range(len(document.b.tokens))]


def _sentence_tokens(sentence: str, language: Language) -> tuple[str, ...]:
    """Its words, and those of its marks that a translation keeps."""
    return (*sentence_words(sentence, language), *_MARK.findall(unicodedata.normalize("NFKC", sentence)))


class AlignVocabulary(NamedTuple):
    """The words of many texts in one language, numbered, and how common each is."""

    ids: Mapping[str, int]
    counts: Floats

    @classmethod
    def of(cls, texts: Iterable[Text], before: "AlignVocabulary | None" = None) -> "AlignVocabulary":
        """Markup counts as words, so that what is on every page says little. Words that were there keep their numbers."""
        counts: Counter[str] = Counter()
        if before:
            counts.update(dict(zip(before.ids, before.counts.tolist(), strict=True)))
        for text in texts:
            counts.update(chain.from_iterable(text.tokens))
            counts.update(chain.from_iterable(text.markup))
        frequency = np.fromiter(counts.values(), np.float64, len(counts))
        return cls({word: number for number, word in enumerate(counts)}, frequency)

    @classmethod
    def of_words(cls, words: Iterable[str]) -> "AlignVocabulary":
        """A vocabulary of words that were not seen in a text."""
        ids = {word: number for number, word in enumerate(dict.fromkeys(words))}
        return cls(ids, np.zeros(len(ids)))

    def unigram(self, least: float = 1.0) -> Floats:
        """How common each word is, as if the texts had at least so many words."""
        frequency = self.counts + 0.5
        return frequency / max(float(frequency.sum()), least)


class NumberedTexts(NamedTuple):
    """Many texts in one language by the numbers of their words: sentences, their blocks, and where each text begins."""

    sentences: WordRuns
    documents: Cut
    block: Ints  # of each sentence, within its document
    blocks: WordRuns  # as if they were sentences
    block_documents: Cut

    @classmethod
    def of(cls, texts: Sequence[Text], ids: Sequence[Mapping[str, int]], marked: Sequence[bool]) -> "NumberedTexts":
        """`ids` are the numbers of each text's words. Texts that are not `marked` are one block."""
        sentences: list[list[int]] = []
        blocks: list[list[int]] = []
        counts, block, block_lengths = [], [], []
        for text, numbers, has_blocks in zip(texts, ids, marked, strict=True):
            numbered = [
                [numbers[token] for token in (tokens if len(tokens) <= _ENDLESS else dict.fromkeys(tokens))]
                for tokens in text.tokens
            ]
            sentences += numbered
            own = [[numbers[mark] for mark in marks] for marks in text.markup] if has_blocks else [[]]
            if has_blocks:
                for place, tokens in zip(text.blocks.tolist(), numbered, strict=True):
                    own[place] += tokens
            blocks += own
            counts.append(len(own))
            block.append(text.blocks if has_blocks else 0 * text.blocks)
            block_lengths.append(np.bincount(block[-1], text.lengths, len(own)))
        return cls(
            WordRuns.of(sentences, np.concatenate([text.lengths for text in texts])),
            Cut.of([len(text.tokens) for text in texts]),
            np.concatenate(block),
            WordRuns.of(blocks, np.concatenate(block_lengths)),
            Cut.of(counts),
        )


@lru_cache(maxsize=1 << 17)
def folded(word: str) -> str:
    """The word without accents."""
    if word.isascii():
        return word
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))


Point = tuple[int, int]

# Judgements.
_RARE = 3  # occurrences of a word that may anchor
_NEAR, _STRAY = 40, 12  # An anchor is believed when another within so many sentences agrees with it so closely.


def path(document: Document, translations: Mapping[str, Sequence[str]] | None = None) -> Floats:
    """For each number of sentences of a, about how many of b correspond: by anchors, and by length between them.

    `translations` are words of a with those that are known to translate them.
    """
    ends_a, ends_b = bounds(document.a.lengths), bounds(document.b.lengths)
    anchors = _believed(_increasing(_shared_rare_words(document, translations or {})))
    at_a = [0.0, *(ends_a[i] + document.a.lengths[i] / 2 for i, _ in anchors), ends_a[-1]]
    at_b = [0.0, *(ends_b[j] + document.b.lengths[j] / 2 for _, j in anchors), ends_b[-1]]
    reached: Floats = np.interp(np.interp(ends_a, at_a, at_b), ends_b, np.arange(len(ends_b)))
    return reached


def _shared_rare_words(document: Document, translations: Mapping[str, Sequence[str]]) -> list[Point]:
    """Sentences with a word that both texts have equally rarely."""
    places_a, places_b = _places(document.a), _places(document.b)
    points: set[Point] = set()
    for word, places in places_a.items():
        for other in (folded(word), *translations.get(word, ())):
            if len(places) == len(places_of_other := places_b.get(other, ())) <= _RARE:
                points.update(zip(places, places_of_other, strict=True))
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
    def agree(point: Point, following: Point) -> bool:
        across, down = following[0] - point[0], following[1] - point[1]
        return across <= _NEAR and down <= _NEAR and abs(across - down) <= _STRAY

    neighbours = zip([None, *chain[:-1]], chain, [*chain[1:], None], strict=True) if chain else ()
    return [
        point
        for previous, point, following in neighbours
        if (previous and agree(previous, point)) or (following and agree(point, following))
    ]
