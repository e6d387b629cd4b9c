"""A text as hashed counts: the form in which topics are learned and pages judged."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Language
from bitrawl.text.frequencies import rate_of_keys
from bitrawl.text.word_keys import word_keys

Keys = NDArray[np.int32]
Floats = NDArray[np.float32]

FEATURE_BITS = 18  # 262,144 places, 1 MB of weights for a language; a page takes about 1,500 of them
FEATURES = 1 << FEATURE_BITS
_MULTIPLIER = np.uint32(2654435761)  # Knuth's, 2^32 divided by the golden ratio: mixes the two keys of a pair
# How much more a rare word counts than a frequent one: the power of its rarity, 0 to 1. Swept 1–4 on the tuning subjects
# (2026-11): from wiki texts to web pages 4 is best (AUC .806; 3: .792; 1: .720), on the Ebola pages 3 (.992).
RARITY_POWER = 3
LINEAR_RARITY_POWER = 2  # the same for the linear model, which learns weights of its own; judgement
PAIR_WEIGHT = 0.5  # of a pair of stems beside a single one; judgement
LOWEST_RATE = 0.25


class Document(NamedTuple):
    """Counts of one text. All arrays but the last two have one entry for each distinct stem."""

    keys: Keys
    counts: Floats  # log(1 + occurrences)
    rates: Floats  # in general language, per million
    unit: Floats  # counts × rarity, of length 1
    features: Keys  # stems and pairs of stems as places in a table of FEATURES
    values: Floats  # of length 1
    words: int

    @property
    def size(self) -> int:
        return len(self.keys)

    @property
    def places(self) -> Keys:
        """Of the stems alone."""
        return self.keys & np.int32(FEATURES - 1)


def document(text: str, language: Language) -> Document:
    """Of the stems of a text. Numbers and single letters are left out, because they are about nothing."""
    return counted(word_keys(text, language), language)


def counted(row: Keys, language: Language) -> Document:
    """Of words of which only their keys are known, in a row."""
    keys, occurrences = np.unique(row, return_counts=True)
    counts = np.log1p(occurrences).astype(np.float32)
    rates = rate_of_keys(keys, language)
    mixed = row.astype(np.uint32)
    pairs, pair_counts = np.unique((mixed[:-1] * _MULTIPLIER ^ mixed[1:] * np.uint32(40503)) >> 8, return_counts=True)
    values = np.concatenate(
        (counts * rarity(rates, LINEAR_RARITY_POWER), PAIR_WEIGHT * np.log1p(pair_counts).astype(np.float32))
    )
    features = (np.concatenate((keys, pairs.astype(np.int32))) & np.int32(FEATURES - 1)).astype(np.int32)
    return Document(keys, counts, rates, _unit(counts * rarity(rates, RARITY_POWER)), features, _unit(values), len(row))


def rarity(rates: Floats, power: int) -> Floats:
    """0 for a word that is every second one, 1 for one that general language hardly has."""
    steps = np.log(1e6 / np.maximum(rates, LOWEST_RATE)) / np.log(1e6 / LOWEST_RATE)
    return np.asarray(np.clip(steps, 0, 1) ** power, np.float32)


def _unit(values: Floats) -> Floats:
    return np.asarray(values / max(float(np.linalg.norm(values)), 1e-9), np.float32)
