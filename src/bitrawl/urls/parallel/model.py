"""The probability that two URLs name versions of one page, from what they share and how they differ."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Language
from bitrawl.model_files import model_file
from bitrawl.text.lexicon import Lexicon
from bitrawl.url import Url
from bitrawl.urls.marked_tokens import marked_tokens
from bitrawl.urls.parallel.comparison import FEATURES, Comparison, compare
from bitrawl.urls.trees import Trees

Floats = NDArray[np.float32]

_UNTRANSLATED = tuple(FEATURES.index(name) for name in ("words", "loose_words", "changed"))
_WRONG = FEATURES.index("wrong_language")
# What is left of a probability if a mark names a language that was not requested: sites do mislabel pages, and 7 of
# 1624 pairs of WMT16 have such a mark. The value itself is a judgement.
_THIRD = 0.05
# Paths with no number and no beginning of a word in common, like most links of a page and the page itself, are not
# compared further, which saves most of the time. Judgement: a probability below every threshold, but not 0.
_NOTHING_SHARED = 0.01
_ALIKE = tuple(FEATURES.index(name) for name in ("similarity", "ngrams", "cognates"))


class TreeUrlPairModel:
    """The default model; see models/url-pairs.md.

    If the two requested languages are given, marks of other languages count against a pair. With a lexicon (from the
    first of the languages to the second), words that it translates count as the same.
    """

    def __init__(
        self,
        trees: Trees | None = None,
        *,
        languages: tuple[Language, Language] | None = None,
        lexicon: Lexicon | None = None,
    ) -> None:
        self._trees = trees or _trees(model_file("url-pairs.npz"))
        self._languages, self._lexicon = languages, lexicon

    def parallel(self, pairs: Sequence[tuple[Url, Url]]) -> Floats:
        chances = np.full(len(pairs), _NOTHING_SHARED, np.float32)
        places = [place for place, (a, b) in enumerate(pairs) if self._lexicon is not None or _share_something(a, b)]
        rows = np.array([self._row(*pairs[place]) for place in places], np.float32).reshape(-1, len(FEATURES))
        known = self._trees.probability(rows)
        if self._languages is not None:
            known[rows[:, _WRONG] > 0] *= _THIRD
        chances[places] = known
        return chances

    def _row(self, a: Url, b: Url) -> tuple[float, ...]:
        comparison = compare(marked_tokens(min(a, b)), marked_tokens(max(a, b)), self._languages)
        return comparison.values if self._lexicon is None else _translated(comparison, self._lexicon)


def load_trees(path: Path | None = None) -> Trees:
    """The trees for a single pair, from the package's file or from another trained one."""
    with np.load(path or model_file("url-pairs.npz")) as arrays:
        return Trees.named("pair", arrays)


@lru_cache(maxsize=2)
def _trees(path: Path) -> Trees:
    return load_trees(path)


def _share_something(a: Url, b: Url) -> bool:
    """Whether a word of one begins like a word of the other, or one of them has no words."""
    heads_a, heads_b = marked_tokens(a).heads, marked_tokens(b).heads
    return not heads_a or not heads_b or not heads_a.isdisjoint(heads_b)


def feature_rows(pairs: Sequence[tuple[Url, Url]]) -> Floats:
    """What the model learns from: one row per pair."""
    values = [compare(marked_tokens(min(a, b)), marked_tokens(max(a, b))).values for a, b in pairs]
    return np.array(values, np.float32).reshape(len(pairs), len(FEATURES))


def _translated(comparison: Comparison, lexicon: Lexicon) -> tuple[float, ...]:
    """The features when the changed words that the lexicon translates, in either direction, count as equal."""
    a, b = comparison.words_a, comparison.words_b
    if not a or not b:
        return comparison.values
    share = max(min(lexicon.coverage(a, b)), min(lexicon.coverage(b, a)))
    values = list(comparison.values)
    for place in _UNTRANSLATED:
        values[place] = round(values[place] * (1 - share))
    for place in _ALIKE:
        values[place] = max(values[place], share)
    return tuple(values)
