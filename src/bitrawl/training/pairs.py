"""Training of the score, on sites whose pairs are known."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Language, Method, Page, Sitemap
from bitrawl.pair.evidence import ALL, PageNumbers, page_numbers
from bitrawl.pair.features import Candidates
from bitrawl.pair.pairing import PairingSettings, Rounds
from bitrawl.pair.scoring import TERMS, ScoreModel, Weights, expanded
from bitrawl.pair.site import Site, condense
from bitrawl.url import Url

Floats = NDArray[np.float64]
Sample = tuple[Floats, Floats, Floats]
"""Terms, labels and weights of the candidates of one lesson."""

CONTENT_ONLY = ALL - {Method.DECLARED, Method.URL, Method.MUTUAL}
"""What is left when nobody says which pages are translations: neither markup, nor URLs, nor switchers."""
VIEWS = (ALL, CONTENT_ONLY)
SPARED = 5
PENALTY = 1e-4  # On the squares of the weights.


@dataclass(frozen=True, slots=True)
class LabelledSite:
    """The pages of a site and what is known of their pairs: the true ones, and those that nobody can judge."""

    name: str
    pages: Sequence[Page]
    languages: Sequence[Language]
    true: frozenset[tuple[Url, Url]]
    doubtful: frozenset[tuple[Url, Url]] = frozenset()
    sitemaps: tuple[Sitemap, ...] = ()


@dataclass
class Lesson:
    """One site seen with some of the methods: its rounds, and what is true."""

    rounds: Rounds
    first: Candidates
    true: set[PageNumbers]
    doubtful: set[PageNumbers]

    @classmethod
    def of(cls, labelled: LabelledSite, site: Site, methods: frozenset[Method]) -> "Lesson":
        """With the first round surveyed."""
        rounds = Rounds(site, PairingSettings(methods=methods))
        return cls(rounds, rounds.survey(), numbered(site, labelled.true), numbered(site, labelled.doubtful))

    def samples(self, candidates: Candidates) -> Sample:
        """Terms, labels, and weights that make every site count the same."""
        labels = np.array([pair in self.true for pair in candidates.pairs], float)
        taken = np.array([pair not in self.doubtful for pair in candidates.pairs])
        # Most candidates are plainly wrong: one in `SPARED` speaks for all of them.
        taken &= (labels == 1) | (np.arange(len(labels)) % SPARED == 0)
        weights = np.where(labels == 1, 1.0, SPARED) / max(len(self.true), 1)
        return expanded(candidates)[taken], labels[taken], weights[taken]

    def later(self, first: Weights) -> Candidates:
        """The candidates of the second round, after a first one with those weights."""
        self.rounds.candidates = self.first
        self.rounds.settle(first.probabilities(self.first))
        return self.rounds.survey()


def numbered(site: Site, pairs: Iterable[tuple[Url, Url]]) -> set[PageNumbers]:
    """Those of which both pages are there."""
    known = [(site.by_url.get(a), site.by_url.get(b)) for a, b in pairs]
    return {page_numbers(a, b) for a, b in known if a is not None and b is not None and a != b}


def lessons(labelled: Iterable[LabelledSite]) -> dict[str, list[Lesson]]:
    """For each site, one with every view."""
    made = {}
    for one in labelled:
        site = condense(sorted(one.pages, key=lambda page: page.url), one.languages, one.sitemaps)
        made[one.name] = [Lesson.of(one, site, view) for view in VIEWS]
    return made


def fit(taught: Sequence[Lesson]) -> ScoreModel:
    """First the weights of the first round, then with the pairs that they find those of the later ones."""
    first = _fitted([lesson.samples(lesson.first) for lesson in taught])
    return ScoreModel(first, _fitted([lesson.samples(lesson.later(first)) for lesson in taught]))


def fit_without_each(taught: Mapping[str, Sequence[Lesson]]) -> dict[str, ScoreModel]:
    """For each site a model that was fitted to the others.

    What a site's later rounds look like is surveyed once, after a first round with weights that have not seen it.
    """
    seen = {name: [lesson.samples(lesson.first) for lesson in made] for name, made in taught.items()}
    firsts = {name: _fitted(_others(seen, name)) for name in taught}
    later = {name: [lesson.samples(lesson.later(firsts[name])) for lesson in made] for name, made in taught.items()}
    return {name: ScoreModel(firsts[name], _fitted(_others(later, name))) for name in taught}


def _others(samples: Mapping[str, Sequence[Sample]], left_out: str) -> list[Sample]:
    return [sample for name, made in samples.items() if name != left_out for sample in made]


def train(labelled: Iterable[LabelledSite], out: Path) -> ScoreModel:
    """Write the model file; returns it."""
    model = fit([lesson for views in lessons(labelled).values() for lesson in views])
    model.save(out)
    return model


def _fitted(samples: Sequence[Sample]) -> Weights:
    """Logistic regression in which evidence may only speak for a pair, and what is missing only against it.

    Ten sites are few: without the signs, what is peculiar to one of them (declared placeholders, say) turns evidence
    into its opposite.
    """
    from scipy.optimize import minimize  # type: ignore[import-untyped]  # noqa: PLC0415 (the extra "train")

    rows = np.concatenate([rows for rows, _, _ in samples])
    labels = np.concatenate([labels for _, labels, _ in samples])
    weights = np.concatenate([weights for _, _, weights in samples])
    weights = weights / weights.sum()
    scale = rows.std(axis=0)
    scale[scale == 0] = 1.0
    scaled = rows / scale

    def loss(parameters: Floats) -> tuple[float, Floats]:
        logits = scaled @ parameters[:-1] + parameters[-1]
        error = weights * (1 / (1 + np.exp(-logits)) - labels)
        value = float(weights @ np.logaddexp(0, logits) - (weights * labels) @ logits)
        gradient = np.append(scaled.T @ error, error.sum())
        gradient[:-1] += PENALTY * parameters[:-1]
        return value + PENALTY / 2 * float(parameters[:-1] @ parameters[:-1]), gradient

    start = np.zeros(len(TERMS) + 1)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[*map(_bounds, TERMS), (None, None)])
    return Weights(found.x[:-1] / scale, float(found.x[-1]))


def _bounds(term: str) -> tuple[float | None, float | None]:
    if term.endswith(("_differ", "_absent")) or term in ("shared", "small"):
        return None, 0.0
    return (None, None) if term.endswith("_unknown") else (0.0, None)
