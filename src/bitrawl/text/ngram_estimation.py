"""Learns a model of n-grams: modified Kneser–Ney with interpolation (Chen and Goodman 1998), as KenLM's lmplz does it.

Heafield 2013 describes how lmplz goes through the sorted n-grams of all lengths.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from bitrawl.errors import ConfigError
from bitrawl.text.arrays import Floats, Floats32, Ints, Ints32
from bitrawl.text.ngram_models import (
    DEFAULT_ORDER,
    START_ID,
    WORD_BITS,
    Counted,
    Level,
    NgramModel,
    Vocabulary,
    count,
    search,
    shared,
)

# lmplz's --discount_fallback: for texts so small that no n-gram of a length occurs two, three or four times.
_FALLBACK = np.array([0.0, 0.5, 1.0, 1.5])
_LEAST = 1e-6
_NEVER = -99.0  # log10 of what cannot be, as SRILM writes it: the probability of <s>, which nothing predicts


def train(sequences: Iterable[Sequence[str]], order: int = DEFAULT_ORDER) -> NgramModel:
    """Learn from sequences of words. How often a text repeats itself costs time, but no memory."""
    vocabulary = Vocabulary()
    counted = count(sequences, order, vocabulary)
    if counted is None:
        raise ConfigError("there is no text to train a language model on; give texts with sequences of words")
    return estimated(counted, vocabulary)


class _Adjusted(NamedTuple):
    """n-grams of one length, in the order of `Level`, with their Kneser–Ney counts."""

    suffixes: Ints  # indices one level down
    first: Ints
    counts: Ints  # of words seen before the n-gram; of occurrences if none can be, or at the highest order


def estimated(counted: Counted, vocabulary: Vocabulary) -> NgramModel:
    words = list(vocabulary)
    adjusted = _adjusted(counted, len(words))
    del counted
    levels: list[Level] = []
    probabilities = np.full(1, 1 / (len(words) - 1))  # of a word chosen blindly, from all but <s>
    histories = np.zeros(len(words), dtype=np.int64)
    while adjusted:
        level = adjusted.pop(0)
        keys = (level.suffixes << WORD_BITS) | level.first
        if levels:  # the history a b of a b c is a before b, and b is the history of b c
            histories, _ = search(levels[-1], histories[level.suffixes], level.first)
        probabilities, weights = _interpolated(level, histories, probabilities)
        if levels:
            levels[-1] = levels[-1]._replace(backoff=_logarithms(weights))
        levels.append(Level(keys, _logarithms(probabilities), np.zeros(len(keys), dtype=np.float32)))
    levels[0].log10[START_ID] = _NEVER
    return NgramModel(words, levels)


def _adjusted(counted: Counted, words: int) -> list[_Adjusted]:
    """Of all lengths, the shortest first: one pass over the sorted n-grams for each length, without sorting again."""
    grams, counts = counted
    common, starts = shared(grams), np.arange(grams.shape[1])
    levels: list[_Adjusted] = []
    for order in range(len(grams), 1, -1):
        first, second = grams[order - 1, starts], grams[order - 2, starts]
        real = (first != START_ID) | (second != START_ID)
        begins = common[starts] < order - 1
        suffixes = np.cumsum(begins) - 1
        levels.append(_Adjusted(suffixes[real], first[real].astype(np.int64), counts[real]))
        groups = np.flatnonzero(begins)
        kinds = np.diff(groups, append=len(starts))
        counts = np.where(second[groups] == START_ID, np.add.reduceat(counts, groups), kinds)
        starts = starts[groups]
        levels[-1] = levels[-1]._replace(suffixes=_renumbered(grams, starts, order - 1)[levels[-1].suffixes])
    unigrams = np.zeros(words, dtype=np.int64)
    unigrams[grams[0, starts]] = counts
    levels.append(_Adjusted(np.zeros(words, dtype=np.int64), np.arange(words), unigrams))
    return levels[::-1]


def _renumbered(grams: Ints32, starts: Ints, order: int) -> Ints:
    """Indices of n-grams once those that begin before their sequence are gone. An index of a word is its number."""
    last: Ints = grams[0, starts].astype(np.int64)
    if order == 1:
        return last
    real = (grams[order - 1, starts] != START_ID) | (grams[order - 2, starts] != START_ID)
    return np.cumsum(real, dtype=np.int64) - 1


def _interpolated(level: _Adjusted, histories: Ints, shorter: Floats) -> tuple[Floats, Floats]:
    """Probabilities of n-grams, and for each history the weight of the shorter one; 1 if nothing follows it."""
    discounts = _discounts(level.counts)[np.minimum(level.counts, 3)]
    size = len(shorter)
    total = np.bincount(histories, weights=level.counts, minlength=size)
    taken = np.bincount(histories, weights=discounts, minlength=size)
    weights = np.divide(taken, total, out=np.ones(size), where=total > 0)
    discounted = (level.counts - discounts) / np.maximum(total[histories], 1)
    return discounted + weights[histories] * shorter[level.suffixes], weights


def _discounts(counts: Ints) -> Floats:
    """For n-grams that occur never, once, twice, and more often (Chen and Goodman 1998, equation 26)."""
    n = np.bincount(np.minimum(counts, 5), minlength=6)[:5].astype(np.float64)
    if not n[1:4].all():
        return _FALLBACK
    times = np.arange(1, 4)
    estimated: Floats = times - (times + 1) * n[1] / (n[1] + 2 * n[2]) * n[2:] / n[1:4]
    # lmplz accepts a discount of 0, which leaves nothing for words that were not seen.
    return np.concatenate([[0.0], estimated]) if ((estimated > _LEAST) & (estimated <= times)).all() else _FALLBACK


def _logarithms(probabilities: Floats) -> Floats32:
    return np.log10(np.maximum(probabilities, 10**_NEVER)).astype(np.float32)
