"""A back-off model of word n-grams, and the probability of whole batches of words under it."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

UNKNOWN, START, END = "<unk>", "<s>", "</s>"
MARKS = (UNKNOWN, START, END)
"""The first three words of each model's vocabulary."""
UNKNOWN_ID, START_ID, END_ID = range(3)
DEFAULT_ORDER = 5  # Remus, section 3.1

WORD_BITS = 32  # of a key; the rest is the index of an n-gram
# Words that are looked up at a time. Swept 2^12–2^20 on lab/bench/ngrams.py (2026-11): the same within 10 % from 2^14
# to 2^18; this keeps what a batch needs under 10 MB.
CHUNK = 1 << 16


class Level(NamedTuple):
    """All n-grams of one length, in the order of their last words, then of the words before them.

    A key is the index of the n-gram without its first word, one level down, and the first word: so an n-gram is found
    from its last word on, with one search a word. The keys of the first level are the words.
    """

    keys: Integers
    log10: NDArray[np.float32]  # of the last word's probability after the others
    backoff: NDArray[np.float32]  # log10 of the weight of shorter histories after this n-gram; 0 if it is no history


class NgramModel:
    """Katz's back-off form, which an ARPA file lists: Kneser–Ney with interpolation fits into it.

    Words that it does not know are `<unk>`.
    """

    def __init__(self, words: Sequence[str], levels: Sequence[Level]) -> None:
        self.words = tuple(words)
        self.levels = tuple(levels)
        self._ids = {word: number for number, word in enumerate(self.words)}

    @property
    def order(self) -> int:
        return len(self.levels)

    def log10(self, sequences: Iterable[Sequence[str]]) -> Floats:
        """log10 of the probability of each word and, after the last word of each sequence, of the sequence's end.

        A sequence of n words has n + 1 numbers. Those of all sequences follow each other.
        """
        parts, batch = [], []
        get = self._ids.get
        for sequence in sequences:
            batch.append(START_ID)
            batch += [get(word, UNKNOWN_ID) for word in sequence]
            batch.append(END_ID)
            if len(batch) > CHUNK:
                parts.append(self._log10(np.array(batch)))
                batch = []
        parts.append(self._log10(np.array(batch, dtype=np.int64)))
        return np.concatenate(parts)

    def perplexity(self, sequences: Iterable[Sequence[str]]) -> float:
        """2 to the cross entropy (Remus, section 3.2), over words and ends of sequences. Infinite without any word."""
        found = self.log10(sequences)
        return float(10 ** -found.mean()) if len(found) else float("inf")

    def _log10(self, words: Integers) -> Floats:
        found: Floats = self.levels[0].log10[words].astype(np.float64)
        length = np.ones(len(words), dtype=np.int8)  # of the longest n-gram of the model that ends here
        backoffs = [self.levels[0].backoff[words]]
        ends, nodes = np.arange(len(words)), words
        for order, level in enumerate(self.levels[1:], 2):
            inside = words[ends - (order - 2)] != START_ID
            ends, nodes = ends[inside], nodes[inside]
            at, known = search(level, nodes, words[ends - (order - 1)])
            ends, nodes = ends[known], at[known]
            found[ends] = level.log10[nodes]
            length[ends] = order
            backoff = np.zeros(len(words), dtype=np.float32)
            backoff[ends] = level.backoff[nodes]
            backoffs.append(backoff)
        for order, backoff in enumerate(backoffs[:-1], 1):
            found[1:] += np.where(length[1:] <= order, backoff[:-1], 0)
        asked: Floats = found[words != START_ID]
        return asked


def search(level: Level, suffixes: Integers, first: Integers) -> tuple[Integers, NDArray[np.bool_]]:
    """Where the n-grams are that consist of a first word and an n-gram of the level below, and which of them exist."""
    wanted = (suffixes << WORD_BITS) | first
    at = np.searchsorted(level.keys, wanted)
    at[at == len(level.keys)] = 0
    return at, (level.keys[at] == wanted if len(level.keys) else np.zeros(len(at), dtype=np.bool_))
