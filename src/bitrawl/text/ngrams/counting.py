"""Counts n-grams in bounded memory: blocks of word numbers are sorted, and sorted blocks are merged.

At any moment there are one block of text and the distinct n-grams so far, never one object per n-gram or per word.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.text.ngrams.model import END_ID, MARKS, START_ID

Words = NDArray[np.int32]
Integers = NDArray[np.int64]

BLOCK = 1 << 19  # words; judgement: the work on a block of 5-grams takes 60 MB


class Counted(NamedTuple):
    """Distinct n-grams of one length and how often each occurs, sorted from the last word to the first.

    One column per n-gram, its last word in the first row. An n-gram that begins before its sequence does is filled with
    `<s>`.
    """

    grams: Words
    counts: Integers


class Vocabulary(dict[str, int]):
    """Words by number. Asking for a new word adds it."""

    def __init__(self) -> None:
        super().__init__((mark, number) for number, mark in enumerate(MARKS))

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


class NgramCounter:
    """Takes n-grams in blocks and merges them. A sorted run waits until another one is as large."""

    def __init__(self) -> None:
        self._runs: list[Counted] = []

    def add(self, grams: Words, counts: Integers) -> None:
        self._runs.append(distinct(grams, counts))
        while len(self._runs) > 1 and len(self._runs[-2].counts) <= 2 * len(self._runs[-1].counts):
            self._merge(2)

    def counted(self) -> Counted | None:
        """All of them; None if there are none. The counter is empty afterwards."""
        if not self._runs:
            return None
        self._merge(len(self._runs))
        return self._runs.pop()

    def _merge(self, number: int) -> None:
        if number > 1:
            grams = np.concatenate([run.grams for run in self._runs[-number:]], axis=1)
            counts = np.concatenate([run.counts for run in self._runs[-number:]])
            del self._runs[-number:]
            self._runs.append(distinct(grams, counts))


def count(sequences: Iterable[Sequence[str]], order: int, vocabulary: Vocabulary) -> Counted | None:
    """The n-grams that end at each word and at each sequence's end. Marks among the words are skipped."""
    counter, number = NgramCounter(), vocabulary.__getitem__
    before, block, marks = [START_ID] * max(order - 1, 1), [], frozenset(MARKS)
    for sequence in sequences:
        block += before
        block += map(number, sequence if marks.isdisjoint(sequence) else (w for w in sequence if w not in marks))
        block.append(END_ID)
        if len(block) >= BLOCK:
            counter.add(*_windows(np.array(block, dtype=np.int32), order))
            block = []
    if block:
        counter.add(*_windows(np.array(block, dtype=np.int32), order))
    return counter.counted()


def distinct(grams: Words, counts: Integers) -> Counted:
    """Sorted, with the counts of equal n-grams added."""
    order = sorted_order(grams)
    grams, counts = grams[:, order], counts[order]
    starts = np.flatnonzero(shared(grams) < len(grams))
    return Counted(grams[:, starts], np.add.reduceat(counts, starts)) if len(counts) else Counted(grams, counts)


def sorted_order(grams: Words) -> Integers:
    """The stable order by the first row, then by the second, and so on."""
    rows = grams.astype(np.int64)
    keys = [(rows[i] << 32) | rows[i + 1] if i + 1 < len(rows) else rows[i] for i in range(0, len(rows), 2)]
    return np.lexsort(keys[::-1])


def shared(grams: Words) -> NDArray[np.int8]:
    """How many words, from the last one on, each n-gram has in common with the one before it; -1 for the first."""
    common = np.full(grams.shape[1], -1, dtype=np.int8)
    same = np.ones(max(grams.shape[1] - 1, 0), dtype=np.bool_)
    common[1:] = 0
    for row in grams:
        same &= row[1:] == row[:-1]
        common[1:] += same
    return common


def _windows(block: Words, order: int) -> tuple[Words, Integers]:
    ends = np.flatnonzero(block != START_ID)
    return np.stack([block[ends - back] for back in range(order)]), np.ones(len(ends), dtype=np.int64)
