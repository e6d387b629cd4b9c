"""From a lexicon and look-alikes to the probabilities that alignment needs, by the numbers of a vocabulary."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.align.documents import Vocabulary
from bitrawl.align.evidence import Translation
from bitrawl.text.lexicon import Lexicon

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Of a word's occurrences, so many are translated by nothing that we know, however well we know the word. Swept 0.1–0.45 on
# Text+Berg and MAC dev (2026-11): half a point between best and worst.
UNTRANSLATED = 0.2
# A link that is weaker, or hardly likelier than chance, costs time and says little. F1 (2026-11) on Text+Berg is half a
# point lower with 0.005, in twice the time; on MAC dev it is 0.7 points lower with 0.05.
LEAST_LINK, LEAST_LIFT = 0.02, 2.0


class Similar(NamedTuple):
    """Words that look alike in two languages, by their numbers."""

    a: Ints
    b: Ints
    likeness: Floats

    @classmethod
    def none(cls) -> "Similar":
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))

    @classmethod
    def joined(cls, some: Sequence["Similar"]) -> "Similar":
        return cls(*(np.concatenate(column) for column in zip(*some, strict=True)))

    def numbered(self, ids_a: Mapping[str, int], ids_b: Mapping[str, int]) -> "Similar":
        """From places in these tables to the numbers that stand there."""
        numbers_a, numbers_b = (np.fromiter(ids.values(), np.int64, len(ids)) for ids in (ids_a, ids_b))
        return Similar(numbers_a[self.a], numbers_b[self.b], self.likeness)

    def where(self, which: NDArray[np.bool_]) -> "Similar":
        return Similar(self.a[which], self.b[which], self.likeness[which])


def translations(
    lexicon: Lexicon, look_alikes: Similar, vocabularies: tuple[Vocabulary, Vocabulary]
) -> tuple[Translation, Translation]:
    """Both ways."""
    a, b = (
        _renumbered(links, ids, vocabulary.ids)
        for links, ids, vocabulary in zip(
            (lexicon.links.a, lexicon.links.b), (lexicon.ids_a, lexicon.ids_b), vocabularies, strict=True
        )
    )
    known = (a >= 0) & (b >= 0)
    a, b = np.append(a[known], look_alikes.a), np.append(b[known], look_alikes.b)
    forward = np.append(lexicon.links.forward[known], look_alikes.likeness)
    backward = np.append(lexicon.links.backward[known], look_alikes.likeness)
    u, v = (vocabulary.unigram for vocabulary in vocabularies)
    return _translation(a, b, forward, (u, v)), _translation(b, a, backward, (v, u))


def extended(
    translation: Translation, source: Ints, target: Ints, likeness: Floats, unigrams: tuple[Floats, Floats]
) -> Translation:
    """With look-alikes among words that have no number in it yet; those that have one keep what they know."""
    size = len(unigrams[0])
    kept = likeness > np.maximum(LEAST_LINK, LEAST_LIFT * unigrams[1][target])
    source, target, likeness = source[kept], target[kept], likeness[kept]
    # A known word stands in many documents, and what one of them adds must not change it in the others.
    new = source >= len(translation.left)
    total = np.bincount(source[new], likeness[new], size)
    probability = likeness * (1 - UNTRANSLATED) / np.maximum(total, 1.0)[source]
    left = np.ones(size)
    left[: len(translation.left)] = translation.left
    left -= np.bincount(source[new], probability[new], size)
    before = np.repeat(np.arange(len(translation.left)), np.diff(translation.begin))
    source = np.append(before, source)
    order = np.argsort(source, kind="stable")
    return Translation(
        np.searchsorted(source[order], np.arange(size + 1)),
        np.append(translation.target, target)[order],
        np.append(translation.probability, probability)[order],
        left,
        unigrams[1],
    )


def _renumbered(words: Ints, before: Mapping[str, int], after: Mapping[str, int]) -> Ints:
    """-1 for words that are not there."""
    if before is after:
        return words
    numbers = np.array([after.get(word, -1) for word in before], np.int64)
    return numbers[words] if len(numbers) else words


def _translation(source: Ints, target: Ints, probability: Floats, unigrams: tuple[Floats, Floats]) -> Translation:
    """Of links that are there twice the better; so scaled that something is left of every word."""
    size = len(unigrams[0])
    order = np.lexsort((-probability, target, source))
    source, target, probability = source[order], target[order], probability[order]
    first = np.append(True, (np.diff(source) != 0) | (np.diff(target) != 0))[: len(source)]
    kept = first & (probability > np.maximum(LEAST_LINK, LEAST_LIFT * unigrams[1][target]))
    source, target, probability = source[kept], target[kept], probability[kept]
    total = np.bincount(source, probability, size)
    probability = probability * ((1 - UNTRANSLATED) / np.maximum(total, 1.0))[source]
    left = 1.0 - np.bincount(source, probability, size).astype(np.float64)
    return Translation(np.searchsorted(source, np.arange(size + 1)), target, probability, left, unigrams[1])
