"""Words and phrases that are more frequent in some texts than in the language in general."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Language
from bitrawl.text import frequencies
from bitrawl.text.phrases import BREAK, MIN_PHRASE_COUNT, Floats, Ints, Phrases
from bitrawl.text.words import words

Rates = Callable[[Sequence[str], Language], NDArray[np.floating]]
"""Expected occurrences of each stem in a million words of the language, whatever the subject."""

# A term must be beyond chance (p < 0.0001 of the chi-squared distribution), and twice as frequent as expected: a large
# sample finds significance in any difference.
MIN_LIKELIHOOD, MIN_RATIO = 15.13, 2.0
MIN_COUNT = 3  # and in two texts, where there are several; judgement
MIN_ASSOCIATION = 10.83  # likelihood ratio of the weakest link of a phrase: p < 0.001
STOP_RATE = (
    1000.0  # Occurrences in a million words from which a word says nothing. English: "new", "people"; judgement.
)
# Judgement: a word spends about a tenth of its occurrences beside one and the same neighbour.
NEIGHBOUR_SHARE = 0.1
NESTED_SHARE = 0.9  # A term that occurs in a longer one this often is a part of it; judgement.
_PIECES, _PIECE = 8, 150  # spread is measured over as many texts of as many words, or over pieces; judgement
_SHORT = 3  # letters of a stem that is a function word if half of the texts have it; judgement
_NEW_NEIGHBOURS, _WIDE = 0.5, 0.4  # shares of its places, and of the texts: see `_guessed_rates`
_EQUAL_RATE = 50.0  # of a word whose language is not known; judgement


def general_rates(language: Language) -> Rates | None:
    """How frequent words are in general; None where that is not known: then their spread over the texts decides."""
    return frequencies.rate if frequencies.known(language) else None


class Keyness:
    """How much more frequent each phrase is than `background` and the texts of `against` lead to expect.

    Without a background, words that all texts have, beside any other word, are taken for those of every subject.
    """

    def __init__(self, phrases: Phrases, background: Rates | None, against: Sequence[str] = ()) -> None:
        self.phrases = phrases
        self._general = background
        self._against = Counter(chain.from_iterable(words(text, phrases.texts.language) for text in against))
        self._total_against = sum(self._against.values())
        language, stems = phrases.texts.language, phrases.stems
        known = background is not None and stems
        general = (
            np.asarray(background(stems, language), np.float64) if background and known else _guessed_rates(phrases)
        )
        self.word_rates: Floats = np.maximum(general, self._rates_against(stems))

    def _rates_against(self, stems: Sequence[str]) -> Floats:
        return np.array([self._against[stem] * 1e6 / max(1, self._total_against) for stem in stems], np.float64)

    @cached_property
    def expected(self) -> Floats:
        """Occurrences of each phrase; of longer ones, a share of what their rarest word has."""
        phrases = self.phrases
        rates = np.append(self.word_rates, np.zeros(len(phrases) - len(self.word_rates)))
        share = np.where(phrases.length > 1, NEIGHBOUR_SHARE, 1.0)
        for length in range(2, len(phrases.at) + 1):
            these = np.flatnonzero(phrases.length == length)
            rates[these] = np.minimum(rates[phrases.begin[these]], rates[phrases.end[these]])
            if length == 2:
                pairs = these[phrases.is_run[these]]
                rates[pairs] = self._rates_of_pairs(pairs, rates[pairs])
                share[pairs] = NEIGHBOUR_SHARE if self._general is None else 1.0
        return np.maximum(rates * share * phrases.words / 1e6, 1e-6)

    def _rates_of_pairs(self, pairs: Ints, of_characters: Floats) -> Floats:
        """Two characters of a script without spaces are a word of the background."""
        phrases = self.phrases
        written = ["".join(phrases.units_of(pair)) for pair in pairs.tolist()]
        if not written:
            return of_characters
        rates = self._rates_against(written)
        if self._general is not None:
            rates = np.maximum(rates, self._general(written, phrases.texts.language))
        return np.where(rates > 0, rates, of_characters)

    @cached_property
    def ratios(self) -> Floats:
        return self.phrases.count / self.expected

    @cached_property
    def likelihoods(self) -> Floats:
        """Dunning's log-likelihood (1993), 0 for what is less frequent than expected."""
        count = self.phrases.count
        found = 2 * (count * np.log(np.maximum(self.ratios, 1.0)) - (count - self.expected))
        return np.where(self.ratios > 1, found, 0.0)

    @cached_property
    def stop_words(self) -> NDArray[np.bool_]:
        """Whether each word says so little that no term begins or ends with it."""
        short = np.array([len(stem) < 2 or stem[0].isdecimal() for stem in self.phrases.stems], np.bool_)
        stop: NDArray[np.bool_] = ~self.phrases.unspaced & (short | (self.word_rates >= STOP_RATE))
        return stop

    @cached_property
    def units(self) -> NDArray[np.bool_]:
        """Whether a phrase can be a term, key or not: frequent enough, held together, no stop word at its edges."""
        phrases, length = self.phrases, self.phrases.length
        # A repeated sentence gives many long phrases; a term of three words comes up as often as one of one.
        often = phrases.count >= np.where(length == 2, MIN_PHRASE_COUNT, MIN_COUNT)
        edges = self.stop_words[phrases.first_word] | self.stop_words[phrases.last_word]
        one_character = (length == 1) & phrases.is_run
        units: NDArray[np.bool_] = often & ~edges & ~one_character & (phrases.associations() >= MIN_ASSOCIATION)
        return units

    @cached_property
    def key(self) -> NDArray[np.bool_]:
        """Whether a phrase can be a term, and is far more frequent than expected."""
        return self.units & (self.ratios >= MIN_RATIO) & (self.likelihoods >= MIN_LIKELIHOOD)


def unnested(phrases: Phrases, wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The wanted ones without parts of longer ones that hardly occur elsewhere."""
    return wanted & (phrases.inside(wanted) < NESTED_SHARE * phrases.count)


def _guessed_rates(phrases: Phrases) -> Floats:
    """Where the language is not known: words that most texts have and that have ever new neighbours say nothing.

    All others are taken for equally rare. On ten of the Ebola pages (2026-11), three in four function words have new
    neighbours in half of their places or more, and three in ten words of the subject have.
    """
    numbers, begins, kinds = phrases.at[0], phrases.texts.begins, len(phrases.stems)
    rates = np.full(kinds, _EQUAL_RATE)
    words_at = np.flatnonzero(numbers != BREAK)
    pieces = np.searchsorted(begins, words_at, "right") - 1
    if len(begins) < _PIECES or phrases.words < _PIECE * len(begins):
        pieces = np.arange(len(words_at)) // _PIECE
    if not len(pieces):
        return rates
    seen = np.unique(pieces * kinds + numbers[words_at]) % kinds
    spread = np.bincount(seen, minlength=kinds) / (pieces[-1] + 1)
    neighbours = _neighbours(numbers, kinds)
    count = phrases.count[:kinds]
    various = (neighbours >= 2 * _NEW_NEIGHBOURS * count) & (spread >= _WIDE) & (count >= MIN_COUNT)
    short = np.array([len(stem) <= _SHORT for stem in phrases.stems])
    rates[(various | (short & (spread >= 0.5))) & ~phrases.unspaced] = STOP_RATE
    return rates


def _neighbours(numbers: NDArray[np.int32], kinds: int) -> Ints:
    """In how many different pairs of neighbours each word is."""
    shifted = numbers.astype(np.int64) + 1  # BREAK is a neighbour too
    pairs = np.unique(shifted[:-1] * (kinds + 1) + shifted[1:])
    both = np.concatenate([pairs // (kinds + 1), pairs % (kinds + 1)])
    return np.bincount(both, minlength=kinds + 1)[1:].astype(np.int64)
