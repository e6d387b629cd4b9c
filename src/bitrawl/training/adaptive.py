"""Training of the adaptive strategy's weights: logistic regression on what was known of links when they were visited."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Advice, Link, LinkKind, Page, SiteKnowledge, Sitemap, Visit
from bitrawl.strategies.adaptive.link_table import Column
from bitrawl.strategies.adaptive.scorer import Adaptive
from bitrawl.url import Url

Floats = NDArray[np.float64]
Trace = tuple[Floats, Floats]
"""Columns of the links of one replay, in the order of the visits, and whether each led to a page of a true pair."""

PENALTY = 2e-3  # on the squares of the weights, each in the deviation of its column
LEAST_DEVIATION = 0.15  # a column that hardly ever speaks gets no large weight
STEPS = 50


def fit(sites: Sequence[Sequence[Trace]]) -> Floats:
    """The weights; every site counts the same, and of a site every replay."""
    known = np.vstack([columns for traces in sites for columns, _ in traces]).astype(float)
    labels = np.concatenate([paired for traces in sites for _, paired in traces]).astype(float)
    share = np.concatenate(
        [np.full(len(paired), 1 / len(paired) / len(traces)) for traces in sites for _, paired in traces]
    )
    share /= share.sum()
    deviation = np.maximum(known.std(axis=0), LEAST_DEVIATION)
    deviation[Column.BIAS] = 1.0
    known /= deviation
    penalty = np.full(len(Column), PENALTY)
    penalty[Column.BIAS] = 1e-6
    weights = np.zeros(len(Column))
    for _ in range(STEPS):  # Newton's method
        chance = 1 / (1 + np.exp(-known @ weights))
        slope = known.T @ (share * (chance - labels)) + penalty * weights
        bend = (known * (share * chance * (1 - chance))[:, None]).T @ known + np.diag(penalty)
        step = np.linalg.solve(bend, slope)
        weights -= step
        if np.abs(step).max() < 1e-6:
            break
    return np.asarray(weights / deviation, float)


def named(weights: Floats) -> dict[str, float]:
    """As the model file has them."""
    return {column.name.lower(): round(float(weights[column]), 4) for column in Column}


class Recorded:
    """The adaptive strategy, which remembers what was known of each link when it was visited."""

    def __init__(self, inner: Adaptive) -> None:
        self.known: list[tuple[Url, NDArray[np.float32]]] = []  # in the order of the visits, by `Column`
        self._inner = inner

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:
        return self._inner.score(links, found_on, site)

    def learn(self, visit: Visit, site: SiteKnowledge) -> None:
        link = visit.lease.link
        features = self._inner.features(link.url, site)
        if features is not None and link.kind is not LinkKind.PROBE and not isinstance(visit.outcome, Sitemap):
            self.known.append((link.url, features))
        self._inner.learn(visit, site)

    def advise(self, site: SiteKnowledge) -> Advice:
        return self._inner.advise(site)
