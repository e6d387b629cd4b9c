"""What the words of links have brought so far: a weight for each word of their texts and addresses, learned from visits.

The judge of pages knows the words that texts about the topic have. Links have words of their own ("lesson", "clinic", "vin-rouge"):
which of them lead to the topic, only visits can tell (Chakrabarti et al. 2002, "Accelerated focused crawling").
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Language
from bitrawl.text.frequencies import word_keys

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]

FIRST_ROWS = 1024  # judgement: rows of a new table; it doubles when they are full
MOST_WORDS = 12  # of a link; judgement
PLACES = 1 << 16  # of hashed words; judgement: two of a thousand words share a place
_MASK = np.int32(PLACES - 1)
_NO_WORD = 0  # a place that stays empty


class LinkWords:
    """The words of each link. Rows are those of `LinkRelevance`."""

    def __init__(self) -> None:
        self._words = np.full((FIRST_ROWS, MOST_WORDS), _NO_WORD, np.int32)
        self._sizes = np.zeros(FIRST_ROWS, np.int32)

    def add(self, row: int, text: str, language: Language) -> None:
        """Words that the link has too; those that do not fit are left out."""
        while row >= len(self._words):
            self._words = np.concatenate([self._words, np.full_like(self._words, _NO_WORD)])
            self._sizes = np.concatenate([self._sizes, np.zeros_like(self._sizes)])
        size = int(self._sizes[row])
        if not text or size == MOST_WORDS:
            return
        self._include(row, (word_keys(text, language) & _MASK).tolist())

    def move(self, old: int, new: int) -> None:
        """A link has the words of another."""
        self._include(new, self._words[old, : self._sizes[old]].tolist())

    def _include(self, row: int, places: Sequence[int]) -> None:
        size = int(self._sizes[row])
        known = {_NO_WORD, *self._words[row, :size].tolist()}
        new = [place for place in dict.fromkeys(places) if place not in known][: MOST_WORDS - size]
        self._words[row, size : size + len(new)] = new
        self._sizes[row] += len(new)

    def of(self, rows: Rows) -> NDArray[np.int32]:
        """A place for each word of each link, and the place that stays empty for those that it has not."""
        return self._words[rows]

    def sizes(self, rows: Rows) -> NDArray[np.int32]:
        """How many words each link has."""
        return self._sizes[rows]


class WordWeights:
    """What the words of links have brought, of one thing that visits tell."""

    def __init__(self, words: LinkWords, step: float) -> None:
        self._words = words
        self._step = np.float32(step)
        self._weights = np.zeros(PLACES, np.float32)

    def odds(self, rows: Rows) -> Floats:
        """What the words add to the log-odds of each link; 0 before anything was learned."""
        sizes = np.maximum(self._words.sizes(rows), 1)
        found: Floats = self._weights[self._words.of(rows)].sum(axis=1) / np.sqrt(sizes)
        return found

    def correct(self, row: int, error: float) -> None:
        """One step of logistic regression, by what a visit brought beyond what was expected."""
        rows = np.array([row])
        size = int(self._words.sizes(rows)[0])
        if size:
            self._weights[self._words.of(rows)[0, :size]] += self._step * np.float32(error / size**0.5)
