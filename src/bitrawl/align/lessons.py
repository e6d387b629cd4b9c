"""What beads teach: the words of either side, and the lengths."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.align.documents import Vocabulary
from bitrawl.align.evidence import Side, ranges
from bitrawl.align.pieces import Beads
from bitrawl.align.search import Corpus
from bitrawl.text.lexicon import DICTIONARY_WEIGHT, WINDOW, TokenPair, WordBags, windows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Lessons(NamedTuple):
    """Bags of words of either language that translate each other, and how probably."""

    a: WordBags
    b: WordBags
    weights: Floats

    @classmethod
    def none(cls) -> "Lessons":
        return cls(WordBags.of([]), WordBags.of([]), np.zeros(0))

    @classmethod
    def of_entries(cls, entries: Sequence[TokenPair], vocabularies: tuple[Vocabulary, Vocabulary]) -> "Lessons":
        """Of a dictionary whose words are in the vocabularies."""
        a, b = (
            WordBags.of([sorted({vocabularies[side].ids[word] for word in entry[side]}) for entry in entries])
            for side in (0, 1)
        )
        return cls(a, b, np.full(len(entries), DICTIONARY_WEIGHT))

    @classmethod
    def joined(cls, some: Sequence["Lessons"]) -> "Lessons":
        return cls(
            WordBags.joined([each.a for each in some]),
            WordBags.joined([each.b for each in some]),
            np.concatenate([each.weights for each in some]),
        )

    def last(self, count: int) -> "Lessons":
        """So many of them."""
        first = max(len(self.weights) - count, 0)
        return Lessons(self.a.since(first), self.b.since(first), self.weights[first:])


def lessons(corpus: Corpus, beads: Beads) -> Lessons:
    """Long beads are cut into windows."""
    beads = beads.of_both()
    a, b = corpus.a.sentences, corpus.b.sentences
    words_a = a.begin[beads.a + beads.ka] - a.begin[beads.a]
    words_b = b.begin[beads.b + beads.kb] - b.begin[beads.b]
    long = np.maximum(words_a, words_b) // WINDOW > 2
    short = beads.where(~long)
    found = [Lessons(_bags(a, short.a, short.ka), _bags(b, short.b, short.kb), short.probability)]
    for begin_a, end_a, begin_b, end_b, weight in zip(
        *(column[long].tolist() for column in (a.begin[beads.a], a.begin[beads.a + beads.ka])),
        *(column[long].tolist() for column in (b.begin[beads.b], b.begin[beads.b + beads.kb])),
        beads.probability[long].tolist(),
        strict=True,
    ):
        cut = windows(a.word[begin_a:end_a].tolist(), b.word[begin_b:end_b].tolist())
        bags_a, bags_b = (WordBags.of([sorted(set(pair[side])) for pair in cut]) for side in (0, 1))
        found.append(Lessons(bags_a, bags_b, np.full(len(cut), weight)))
    return Lessons.joined(found)


def lengths(corpus: Corpus, beads: Beads) -> tuple[Floats, Floats]:
    """In characters, of either side of each bead."""
    beads = beads.of_both()
    ends_a, ends_b = (np.append(0.0, np.cumsum(side.sentences.lengths)) for side in (corpus.a, corpus.b))
    return ends_a[beads.a + beads.ka] - ends_a[beads.a], ends_b[beads.b + beads.kb] - ends_b[beads.b]


def _bags(side: Side, first: Ints, count: Ints) -> WordBags:
    """The different words of each run of sentences."""
    begin, end = side.begin[first], side.begin[first + count]
    bag = np.repeat(np.arange(len(first)), end - begin)
    size = int(side.word.max(initial=0)) + 1
    key = np.sort(bag * size + side.word[ranges(begin, end)])
    key = key[np.append(True, key[1:] != key[:-1])[: len(key)]]
    return WordBags(key % size, np.searchsorted(key, np.arange(len(first) + 1) * size))
