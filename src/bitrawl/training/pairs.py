"""Makes pair/models/pairs.json: how strongly each kind of evidence indicates that two pages are translations.

It is learned from site packs (`site_packs`): `bitrawl train pairs --data SITES --out pairs.json`. The same packs give
the same model.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Language, Method, Page, Sitemap
from bitrawl.pair.condensing import condense
from bitrawl.pair.evidence import ALL, PageNumbers, page_numbers
from bitrawl.pair.features import Candidates
from bitrawl.pair.pairing import PairingSettings, Rounds
from bitrawl.pair.scoring import TERMS, ScoreModel, Weights, expanded
from bitrawl.pair.site import Site
from bitrawl.simulation.replay import opened_replay
from bitrawl.text.template import without_template
from bitrawl.training import Tell, silent
from bitrawl.training.folds import without
from bitrawl.training.site_packs import SitePack, open_packs
from bitrawl.url import Url

Floats = NDArray[np.float64]
Sample = tuple[Floats, Floats, Floats]
"""Terms, labels and weights of the candidates of one lesson."""

CONTENT_ONLY = ALL - {Method.DECLARED, Method.URL, Method.MUTUAL}
"""What is left if nothing says which pages are translations: neither markup, nor URLs, nor switchers."""
VIEWS = (ALL, CONTENT_ONLY)
SPARED = 5  # Most candidates are plainly wrong: one in this many represents all of them. Judgement.
PENALTY = 1e-4  # on the squares of the weights; judgement: small, because the signs of the weights are bounded already


@dataclass(frozen=True, slots=True)
class LabelledSite:
    """The pages of a site, its true pairs, and the pairs that nobody can judge."""

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
        """A lesson whose first round is surveyed."""
        rounds = Rounds(site, PairingSettings(methods=methods))
        return cls(rounds, rounds.survey(), numbered(site, labelled.true), numbered(site, labelled.doubtful))

    def samples(self, candidates: Candidates) -> Sample:
        """Terms, labels, and weights that make every site count the same."""
        labels = np.array([pair in self.true for pair in candidates.pairs], float)
        taken = np.array([pair not in self.doubtful for pair in candidates.pairs])
        taken &= (labels == 1) | (np.arange(len(labels)) % SPARED == 0)
        weights = np.where(labels == 1, 1.0, SPARED) / max(len(self.true), 1)
        return expanded(candidates)[taken], labels[taken], weights[taken]

    def later(self, first: Weights) -> Candidates:
        """The candidates of the second round, after a first round with those weights."""
        self.rounds.candidates = self.first
        self.rounds.settle(first.probabilities(self.first))
        return self.rounds.survey()


def train(data: Path, out: Path, *, cache: Path | None = None, tell: Tell = silent) -> None:
    """Write the model that the site packs below `data` give. A `cache` keeps their analysed pages for the next time."""
    taught = lessons(_labelled_sites(open_packs(data), cache, tell))
    tell(f"fitting the weights to {len(taught)} sites")
    fit([lesson for views in taught.values() for lesson in views]).save(out)


def _labelled_sites(packs: Sequence[SitePack], cache: Path | None, tell: Tell) -> Iterator[LabelledSite]:
    for number, pack in enumerate(packs, 1):
        tell(f"{pack.name}, site {number} of {len(packs)}: reading its pages")
        site = labelled_site(pack, cache)
        tell(f"{pack.name}: {len(site.pages)} pages, {len(site.true)} true pairs; comparing the pages")
        yield site


def labelled_site(pack: SitePack, cache: Path | None = None) -> LabelledSite:
    """The pages of a pack, prepared for pairing. They are read from the archive, or from the cache if it has them."""

    async def read() -> LabelledSite:
        async with opened_replay([pack.archive], cache=cache) as replay:
            pages = await replay.pages()
            sitemaps = tuple(await replay.sitemaps(pages))
        clean = list(without_template(partial(iter, pages)))
        return LabelledSite(pack.name, clean, pack.languages, pack.true_pairs(), pack.uncounted_pairs(), sitemaps)

    return asyncio.run(read())


def numbered(site: Site, pairs: Iterable[tuple[Url, Url]]) -> set[PageNumbers]:
    """The pairs with both pages on the site."""
    known = [(site.by_url.get(a), site.by_url.get(b)) for a, b in pairs]
    return {page_numbers(a, b) for a, b in known if a is not None and b is not None and a != b}


def lessons(labelled: Iterable[LabelledSite]) -> dict[str, list[Lesson]]:
    """For each site, one lesson per set of methods."""
    made = {}
    for one in labelled:
        site = condense(sorted(one.pages, key=lambda page: page.url), one.languages, one.sitemaps)
        made[one.name] = [Lesson.of(one, site, view) for view in VIEWS]
    return made


def fit(taught: Sequence[Lesson]) -> ScoreModel:
    """Fit the weights of the first round, then with the pairs that they find those of the later rounds."""
    first = _fitted([lesson.samples(lesson.first) for lesson in taught])
    return ScoreModel(first, _fitted([lesson.samples(lesson.later(first)) for lesson in taught]))


def fit_without_each(taught: Mapping[str, Sequence[Lesson]]) -> dict[str, ScoreModel]:
    """For each site, a model that was fitted to the other sites.

    A site's later rounds are surveyed once, after a first round with weights that have not seen the site.
    """
    seen = {name: [lesson.samples(lesson.first) for lesson in made] for name, made in taught.items()}
    firsts = {name: _fitted(_flat(without(name, seen))) for name in taught}
    later = {name: [lesson.samples(lesson.later(firsts[name])) for lesson in made] for name, made in taught.items()}
    return {name: ScoreModel(firsts[name], _fitted(_flat(without(name, later)))) for name in taught}


def _flat(samples: Iterable[Sequence[Sample]]) -> list[Sample]:
    return [sample for made in samples for sample in made]


def _fitted(samples: Sequence[Sample]) -> Weights:
    """Logistic regression in which evidence can only count for a pair, and missing evidence only against it.

    Ten sites are few: without the bounds on the signs, a peculiarity of one site (such as declared placeholders) turns
    evidence into its opposite.
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
