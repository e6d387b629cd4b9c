"""The words of a text as numbers: the keys of their stems, by which tables of hashed words know them."""

from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Language
from bitrawl.text.frequencies import key_of
from bitrawl.text.words import is_unspaced, stems_of, written_words

REMEMBERED, LONGEST_REMEMBERED = 50_000, 50  # words of a language, letters of a word: at most 10 MB; judgement


def word_keys(text: str, language: Language) -> NDArray[np.int32]:
    """In order. Numbers and single letters are left out, because they are about nothing."""
    keys = _keys_of_words(language)
    return np.fromiter(chain.from_iterable(map(keys.__getitem__, written_words(text))), np.int32)


def meaningful(stem: str) -> bool:
    """No number, and no single letter of the alphabet."""
    return not stem[0].isdecimal() and (len(stem) > 1 or not stem.isascii())


class KeysOfWords(dict[str, tuple[int, ...]]):
    """The keys of the stems of written words, made when they are asked for."""

    def __init__(self, language: Language) -> None:
        self._stems = stems_of(language)

    def __missing__(self, written: str) -> tuple[int, ...]:
        keys = tuple(map(key_of, filter(meaningful, self._stems[written])))
        if len(written) <= LONGEST_REMEMBERED and not is_unspaced(written[0]):
            if len(self) >= REMEMBERED:
                self.clear()
            self[written] = keys
        return keys


@lru_cache(maxsize=8)  # a job has two or three languages
def _keys_of_words(language: Language) -> KeysOfWords:
    return KeysOfWords(language)
