"""How probably a candidate is bilingual: by who cites it with whom and by its words, weighed by what has come true so far."""

from collections.abc import Callable, Sequence
from math import log, log1p, log2, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.discover.walk.bayes import NaiveBayes
from bitrawl.discover.walk.citations import Citations
from bitrawl.discover.walk.neighbourhood import Candidate

Floats = NDArray[np.float64]

FEATURES = (
    "any candidate",
    "hubs that cite it",
    "hubs that cite a bilingual site too",
    "yield of its hubs",
    "words",
    "its address is a guess",
    "languages of its pages, by an index",
)
# What is believed before anything is seen, as weights of the features; the walk replaces them by what it learns. Judgement.
PRIOR = np.array([-2.5, 0.3, 0.8, 0.5, 0.5, 0.0, 1.0])
# How firmly each is believed, as in ridge regression: that of all candidates together moves easily. Judgement.
STRENGTH = np.array([1.0, 5.0, 5.0, 5.0, 5.0, 2.0, 5.0])
PRIOR_HUB = 2.0  # candidates that a hub counts as having yielded what the average hub does; judgement
MOST_ODDS = 4.0  # of one feature; judgement
ROUNDS = 6  # of Newton's method; judgement
MOST_EXAMPLES = 1000  # the latest; judgement


class Weight(NamedTuple):
    """What a walk has learned of a feature."""

    feature: str
    before: float
    now: float


class CandidateValue:
    """A logistic model over few features, fitted again and again to the candidates judged so far."""

    def __init__(
        self, citations: Citations, words: NaiveBayes, language_evidence: Callable[[str], float] | None = None
    ) -> None:
        self._language_evidence = language_evidence
        self._citations = citations
        self._words = words
        self._weights = PRIOR.copy()
        self._judged: list[Candidate] = []
        self._bilingual = 0

    @property
    def base_rate(self) -> float:
        """Of the candidates judged so far."""
        return (self._bilingual + 0.5) / (len(self._judged) + 5)

    def weights(self) -> list[Weight]:
        return [Weight(*row) for row in zip(FEATURES, PRIOR.tolist(), self._weights.tolist(), strict=True)]

    def judged(self, candidate: Candidate) -> None:
        self._judged.append(candidate)
        self._bilingual += candidate.is_bilingual

    def probabilities(self, candidates: Sequence[Candidate]) -> Floats:
        if not candidates:
            return np.empty(0)
        return _logistic(np.array([self._features(one) for one in candidates]) @ self._weights)

    def fit(self) -> None:
        """Each example is seen as if its own verdict were not known yet: what a hub yields must not include it."""
        examples = [one for one in self._judged[-MOST_EXAMPLES:] if one.host in self._citations.cited_by]
        if len({one.is_bilingual for one in examples}) < 2:
            return
        features = np.array([self._features(one, own=one.is_bilingual) for one in examples])
        answers = np.array([one.is_bilingual for one in examples], float)
        weights = PRIOR.copy()
        for _ in range(ROUNDS):
            chance = _logistic(features @ weights)
            slope = features.T @ (chance - answers) + STRENGTH * (weights - PRIOR)
            bend = (features * (chance * (1 - chance))[:, None]).T @ features + np.diag(STRENGTH)
            weights = weights - np.linalg.solve(bend, slope)
        self._weights = weights

    def hub_yield(self, hub: str, *, own: bool | None = None) -> float:
        """The share of bilingual sites among those that the hub cites; `own` is the verdict that is left out."""
        bilingual = self._citations.bilingual[hub] - (own is True)
        judged = self._citations.judged[hub] - (own is not None)
        return (bilingual + PRIOR_HUB * self.base_rate) / (judged + PRIOR_HUB)

    def _features(self, candidate: Candidate, *, own: bool | None = None) -> tuple[float, ...]:
        hubs = self._citations.cited_by.get(candidate.host, {})
        bilingual, cites = self._citations.bilingual, self._citations.cites
        together = sum(2 / log2(2 + len(cites[hub])) for hub in hubs if bilingual[hub] - (own is True) > 0)
        base = self.base_rate
        yields = sum(log(max(self.hub_yield(hub, own=own), 1e-3) / base) for hub in hubs) / sqrt(1 + len(hubs))
        words = self._words.odds(candidate.words, own=own) / sqrt(1 + len(candidate.words))
        counted = self._language_evidence(candidate.host) if self._language_evidence else 0.0
        told = (_bounded(yields), _bounded(words), float(candidate.guessed), _bounded(counted))
        return 1.0, log1p(len(hubs)), log1p(together), *told


def _bounded(odds: float) -> float:
    return max(-MOST_ODDS, min(MOST_ODDS, odds))


def _logistic(odds: Floats) -> Floats:
    answer: Floats = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
    return answer
