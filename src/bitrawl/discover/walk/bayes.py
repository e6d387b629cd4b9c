"""A naive Bayes classifier over sets of words, learned one example at a time."""

from collections import Counter
from collections.abc import Collection
from math import exp, fsum, log
from typing import NamedTuple

SMOOTHING = 0.5  # of a word's counts (Krichevsky and Trofimov)
LEAST_SUPPORT = 2  # examples with a word, before it is shown as learned; judgement


class Learned(NamedTuple):
    """What a classifier has learned of a word."""

    word: str
    odds: float  # logarithm; positive if it speaks for a relevant link
    examples: int


class NaiveBayes:
    """Whether a link is relevant, by its words. It says nothing (odds of 0) before it has seen both kinds."""

    def __init__(self) -> None:
        self._words: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
        self._examples = {True: 0, False: 0}

    def __len__(self) -> int:
        return self._examples[True] + self._examples[False]

    def learn(self, words: Collection[str], *, relevant: bool) -> None:
        self._words[relevant].update(words)
        self._examples[relevant] += 1

    def odds(self, words: Collection[str], *, own: bool | None = None) -> float:
        """The sum of the words' odds, without those of the classes.

        With `own`, as if the classifier had not learned this example, whose answer that was.
        """
        yes, no = self._examples[True] - (own is True), self._examples[False] - (own is False)
        if yes <= 0 or no <= 0:
            return 0.0
        found = []
        for word in words:
            for_it, against = self._words[True][word] - (own is True), self._words[False][word] - (own is False)
            if for_it + against > 0:
                found.append(_odds(for_it, yes) - _odds(against, no))
        return fsum(found)  # The order of a set differs from process to process, and with `sum` the last digits would.

    def probability(self, words: Collection[str]) -> float:
        """That the link is relevant; the share of relevant ones where the words say nothing."""
        yes, no = self._examples[True], self._examples[False]
        odds = self.odds(words) + log((yes + SMOOTHING) / (no + SMOOTHING))
        return 1 / (1 + exp(-max(-30.0, min(30.0, odds))))

    def top(self, most: int, *, relevant: bool = True) -> list[Learned]:
        """The words that say most, by how much they would change the odds and how often they were seen."""
        yes, no = self._examples[True], self._examples[False]
        if not yes or not no:
            return []
        found = [
            Learned(word, _odds(self._words[True][word], yes) - _odds(self._words[False][word], no), seen)
            for word in set(self._words[True]) | set(self._words[False])
            if (seen := self._words[True][word] + self._words[False][word]) >= LEAST_SUPPORT
        ]
        sign = 1 if relevant else -1
        found = [one for one in found if sign * one.odds > 0]
        return sorted(found, key=lambda one: (-sign * one.odds * log(1 + one.examples), one.word))[:most]


def _odds(count: int, examples: int) -> float:
    return log((count + SMOOTHING) / (examples + 2 * SMOOTHING))
