"""The default plan: candidates by who cites them with whom, hubs by what a download of them is expected to bring.

`CandidateValue` says how probably a candidate is bilingual, weighed by what has come true so far in the walk.
"""

from collections.abc import Callable, Iterable, Sequence
from math import log, log1p, log2, sqrt

import msgspec
import numpy as np
from numpy.typing import NDArray

from bitrawl.discover.graph_files import without_www
from bitrawl.discover.walk_plan import (
    Citations,
    ForwardPool,
    LearnedWord,
    NaiveBayes,
    Neighbourhood,
    SiteCandidate,
    WalkStep,
)
from bitrawl.model import Link, LinkKind, Page
from bitrawl.url import Url

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
# What is believed before anything is seen, as weights of the features; the walk replaces them by what it learns.
PRIOR = np.array([-2.5, 0.3, 0.8, 0.5, 0.5, 0.0, 1.0])
# How firmly each is believed, as in ridge regression: that of all candidates together moves easily.
STRENGTH = np.array([1.0, 5.0, 5.0, 5.0, 5.0, 2.0, 5.0])
PRIOR_HUB = 2.0  # candidates that a hub counts as having yielded what the average hub does
MOST_ODDS = 4.0  # of one feature
ROUNDS = 6  # of Newton's method
MOST_EXAMPLES = 1000  # the latest


FIT_EVERY = 3  # verdicts
CANDIDATES_PER_VERDICT = 300  # that are valued anew, all in all, for each verdict
NEW_PER_HUB = 5.0  # candidates that a page is expected to bring, before any was read
MIN_CHANGE = 0.02  # of a value, before the frontier hears of it
PROOF = 2  # downloads of a bilingual site: its entry page and one more


class Weight(msgspec.Struct, frozen=True):
    """What a walk has learned of a feature."""

    feature: str
    before: float
    now: float


class Cocitation:
    """Updated after each verdict. What a graph says of a hub's links needs no download; other hubs are read when it pays."""

    def __init__(self, near: Neighbourhood, language_evidence: Callable[[str], float] | None = None) -> None:
        """`language_evidence` says of a host how far an index of languages speaks for it."""
        self.notes: list[str] = []
        self._near = near
        self._words, self._hub_words = NaiveBayes(), NaiveBayes()
        self._value = CandidateValue(near.citations, self._words, language_evidence)
        self._open: dict[str, SiteCandidate] = {}  # not queued yet
        self._chances: dict[str, float] = {}  # by host
        self._hubs: dict[Url, Link] = {}  # pages to read
        self._expanded: set[str] = set()
        self._read: dict[Url, tuple[frozenset[str], int]] = {}  # hubs: words, and candidates that they brought
        self._pool = ForwardPool(near)
        self._stale = self._since_fit = 0
        self._was_dry = False

    def read(self, step: WalkStep, page: Page) -> None:
        """Any page that is read cites, not only hubs: without a link graph these are all the citations there are."""
        new = self._near.read(page.url, page.links)
        self._add(new)
        if step.link.kind is LinkKind.BACKLINK:
            self._read[page.url] = (self._near.words.of(step.link), len(new))
            self._hub_words.learn(self._read[page.url][0], relevant=self._near.citations.bilingual[page.url] > 1)
        else:
            self._pool.add(page.links)
        self._touch(host for host in self._near.citations.cites.get(page.url, ()))

    def judged(self, candidate: SiteCandidate) -> None:
        self._open.pop(candidate.host, None)
        self._words.learn(candidate.words, relevant=candidate.is_bilingual)
        self._value.judged(candidate)
        if candidate.is_bilingual:
            self._expand(candidate.host)
        self._since_fit += 1
        self._stale += 1
        if self._since_fit >= FIT_EVERY:
            self._since_fit = 0
            self._value.fit()
        if self._stale * CANDIDATES_PER_VERDICT >= len(self._open):
            self._stale = 0
            self._touch(self._open)
        else:
            self._touch(sorted(self._near.citations.neighbours(candidate.host)))

    def steps(self, most: int, *, idle: bool) -> list[WalkStep]:
        best = sorted(self._open.values(), key=lambda candidate: -self._chances[candidate.host])[: 2 * most]
        unseen = [candidate for candidate in best if not candidate.looked_up]
        for candidate in unseen:
            self._near.look_up(candidate)
        self._touch(candidate.host for candidate in unseen)
        steps = [WalkStep(candidate.entry, self._worth(candidate.host), candidate) for candidate in best]
        steps += [WalkStep(link, self._hub_worth(link)) for link in self._hubs.values()]
        steps = sorted(steps, key=lambda step: -step.value)[:most]
        for step in steps:
            if step.candidate is not None:
                del self._open[step.candidate.host]
            else:
                del self._hubs[step.link.url]
        if steps or not idle:
            return steps
        return self.steps(most, idle=True) if self._expand_seeds() else self._forwards(most)

    def values(self, queued: Sequence[WalkStep]) -> Iterable[tuple[Url, float]]:
        candidates = [step.candidate for step in queued if step.candidate is not None]
        chances = dict(
            zip(
                [candidate.host for candidate in candidates],
                self._value.probabilities(candidates).tolist(),
                strict=True,
            )
        )
        self._chances.update(chances)
        for step in queued:
            value = self._worth(step.candidate.host) if step.candidate else self._hub_worth(step.link)
            if abs(value - step.value) > MIN_CHANGE * max(value, step.value):
                yield step.link.url, value

    def learned(self, most: int) -> dict[str, list[LearnedWord]]:
        return {"Back": self._hub_words.top(most), "Forward": self._words.top(most)}

    def weights(self) -> list[Weight]:
        return self._value.weights()

    def _add(self, candidates: Iterable[SiteCandidate]) -> None:
        new = {
            candidate.host: candidate
            for candidate in candidates
            if not candidate.is_queued and candidate.verdict is None
        }
        self._open.update(new)
        self._touch(new)

    def _expand(self, host: str) -> None:
        """Who cites the bilingual site, and what they cite besides, as far as the source knows."""
        for link in self._near.referrers(host):
            if link.source is None or (hub := without_www(link.source.host)) in self._expanded:
                continue
            self._expanded.add(hub)
            if self._near.expand(hub):
                cited = (self._near.candidates[cited_host] for cited_host in self._near.citations.cites[hub])
                self._add(candidate for candidate in cited if candidate.host not in self._open)
                self._touch(self._near.citations.cites[hub])
            elif link.source not in self._near.visited:
                self._hubs[link.source] = Link(link.source, LinkKind.BACKLINK, None, link.anchor, link.context)

    def _expand_seeds(self) -> bool:
        """Who cites the seeds, bilingual or not: better than any page. True if that brought candidates or pages to read."""
        for host in [candidate.host for candidate in self._near.candidates.values() if candidate.is_seed]:
            self._expand(host)
        return bool(self._open or self._hubs)

    def _touch(self, hosts: Iterable[str]) -> None:
        """Value these candidates anew."""
        changed = [self._open[host] for host in hosts if host in self._open]
        self._chances.update(
            zip([candidate.host for candidate in changed], self._value.probabilities(changed).tolist(), strict=True)
        )

    def _worth(self, host: str) -> float:
        """Bilingual sites per download."""
        chance = self._chances[host]
        return chance / (1 + (PROOF - 1) * chance)

    def _hub_worth(self, link: Link) -> float:
        """Bilingual sites per download when a page is read and what it cites is checked."""
        brought = [new for _, new in self._read.values()]
        new = (sum(brought) + NEW_PER_HUB) / (len(brought) + 1)
        rate = self._value.base_rate
        if self._near.citations.bilingual:
            yields = [self._value.hub_yield(hub) for hub in self._read]
            rate = (sum(yields) + 2 * rate) / (len(yields) + 1)
        odds = np.clip(self._hub_words.odds(self._near.words.of(link)), -2, 2)
        rate = min(rate * float(np.exp(odds / 4)), 0.9)
        return new * rate / (1 + new * (1 + (PROOF - 1) * rate))

    def _forwards(self, most: int) -> list[WalkStep]:
        steps = self._pool.take(most)
        if steps and not self._was_dry:
            self._was_dry = True
            self.notes.append(
                "Every site that is known to be cited with others was judged, so the walk followed forward links at random. "
                "More bilingual seeds would lead further."
            )
        return steps


class CandidateValue:
    """A logistic model over few features, fitted again and again to the candidates judged so far."""

    def __init__(
        self, citations: Citations, words: NaiveBayes, language_evidence: Callable[[str], float] | None = None
    ) -> None:
        self._language_evidence = language_evidence
        self._citations = citations
        self._words = words
        self._weights = PRIOR.copy()
        self._judged: list[SiteCandidate] = []
        self._bilingual = 0

    @property
    def base_rate(self) -> float:
        """The share of bilingual sites among the candidates judged so far."""
        return (self._bilingual + 0.5) / (len(self._judged) + 5)

    def weights(self) -> list[Weight]:
        return [Weight(*row) for row in zip(FEATURES, PRIOR.tolist(), self._weights.tolist(), strict=True)]

    def judged(self, candidate: SiteCandidate) -> None:
        self._judged.append(candidate)
        self._bilingual += candidate.is_bilingual

    def probabilities(self, candidates: Sequence[SiteCandidate]) -> Floats:
        if not candidates:
            return np.empty(0)
        return _logistic(np.array([self._features(candidate) for candidate in candidates]) @ self._weights)

    def fit(self) -> None:
        """Each example is seen as if its own verdict were not known yet: what a hub yields must not include it."""
        examples = [example for example in self._judged[-MOST_EXAMPLES:] if example.host in self._citations.cited_by]
        if len({example.is_bilingual for example in examples}) < 2:
            return
        features = np.array([self._features(example, own=example.is_bilingual) for example in examples])
        answers = np.array([example.is_bilingual for example in examples], float)
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

    def _features(self, candidate: SiteCandidate, *, own: bool | None = None) -> tuple[float, ...]:
        hubs = self._citations.cited_by.get(candidate.host, {})
        bilingual, cites = self._citations.bilingual, self._citations.cites
        together = sum(2 / log2(2 + len(cites[hub])) for hub in hubs if bilingual[hub] - (own is True) > 0)
        base = self.base_rate
        yields = sum(log(max(self.hub_yield(hub, own=own), 1e-3) / base) for hub in hubs) / sqrt(1 + len(hubs))
        words = self._words.odds(candidate.words, own=own) / sqrt(1 + len(candidate.words))
        counted = self._language_evidence(candidate.host) if self._language_evidence else 0.0
        odds = (_bounded(yields), _bounded(words), float(candidate.guessed), _bounded(counted))
        return 1.0, log1p(len(hubs)), log1p(together), *odds


def _bounded(odds: float) -> float:
    return max(-MOST_ODDS, min(MOST_ODDS, odds))


def _logistic(odds: Floats) -> Floats:
    answer: Floats = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
    return answer
