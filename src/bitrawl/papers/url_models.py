"""García-Romero et al. 2024, section 4: links by their URLs alone, and the two baselines of section 5.

The score is P(in the other language) × P(parallel with the page that has the link). Comments mark the steps that the paper does
not describe: sitemaps, redirects, pages in an undetermined language, and jobs with one language or with more than two.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bitrawl.languages import same_language
from bitrawl.model import UNDETERMINED, Advice, Language, Link, LinkKind, Page, SiteKnowledge, Skip, Visit
from bitrawl.protocols import StrategyInputs, UrlLanguageModel, UrlPairModel
from bitrawl.reasons import Reason
from bitrawl.strategies import FIRST, by_arrival
from bitrawl.url import Url
from bitrawl.urls import (
    RuleUrlLanguageModel,
    RuleUrlPairModel,
    TreeUrlPairModel,
    load_pair_transformer,
    url_language_model,
)

# The paper has none of these three. They only define an order, so each is a judgement.
HIGHEST = 0.999  # just below the seeds
LOWEST = 1e-6  # the paper queues every link of a page that it keeps, however unlikely; 0 would skip it
# times the language's probability: links of a sitemap are on no page, and come after those that are
SITEMAP_FACTOR = 1e-3

Floats = NDArray[np.float32]


class LanguageFilter:
    """Skips every link of a page in another language."""

    is_stateless = True

    def __init__(self, inputs: StrategyInputs) -> None:
        self._languages = tuple(inputs.languages)

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:  # noqa: ARG002
        if found_on is None or is_kept(found_on.language, self._languages):
            return by_arrival(links)
        return [0.0 for _ in links]

    def learn(self, visit: Visit, site: SiteKnowledge) -> None:
        pass

    def advise(self, site: SiteKnowledge) -> Advice:  # noqa: ARG002
        return Advice()


def is_kept(language: Language, wanted: Sequence[Language]) -> bool:
    """Whether links of a page in that language are followed.

    Links of a page with an undetermined language are followed, because a page that only lets you choose a language has
    no text to identify.
    """
    return language == UNDETERMINED or any(same_language(language, other) for other in wanted)


def url_models(inputs: StrategyInputs) -> "UrlModels":
    """With the models that are named, those that ship, or the rules that the paper compares with."""
    languages, pair_model = inputs.languages, inputs.url_pair_model
    if not inputs.models:
        return UrlModels(languages, RuleUrlLanguageModel(languages), RuleUrlPairModel())
    two = (languages[0], languages[1]) if len(languages) == 2 else None
    pairs: UrlPairModel = load_pair_transformer(pair_model) if pair_model else TreeUrlPairModel(languages=two)
    return UrlModels(languages, url_language_model(inputs.url_language_model), pairs)


class UrlModels:
    """Seeds come first.

    Pages in other languages add nothing. The queue raises a link's priority and never lowers it.
    """

    def __init__(
        self, languages: Sequence[Language], language_model: UrlLanguageModel, pair_model: UrlPairModel
    ) -> None:
        self._languages = tuple(languages)
        self._language_model = language_model
        self._pair_model = pair_model
        self._columns = [_columns(language_model.languages, wanted) for wanted in languages]
        self._best: dict[Url, float] = {}  # the priority of each link; that of a visited link cannot be raised
        self._moved: dict[Url, float] = {}  # the priority of a page that has moved, until the target gets it

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:  # noqa: ARG002
        rest = list(dict.fromkeys(link.url for link in links if link.kind not in FIRST))
        if found_on is not None and not is_kept(found_on.language, self._languages):
            return [self._first_or(0.0, link) for link in links]
        self._raise(rest, found_on)
        return [self._first_or(self._best.get(link.url, 0.0), link) for link in links]

    def learn(self, visit: Visit, site: SiteKnowledge) -> None:  # noqa: ARG002
        """A page that has moved keeps its place in the queue."""
        self._best[visit.lease.link.url] = HIGHEST
        if isinstance(visit.outcome, Skip) and visit.outcome.reason is Reason.REDIRECT:
            self._moved[visit.lease.link.url] = visit.lease.score

    def advise(self, site: SiteKnowledge) -> Advice:  # noqa: ARG002
        """Forget what moved out of scope."""
        self._moved.clear()
        return Advice()

    def _first_or(self, score: float, link: Link) -> float:
        if link.kind in FIRST:
            return 1.0
        if link.kind is LinkKind.REDIRECT and link.source in self._moved:
            return self._moved[link.source]
        return score

    def _raise(self, urls: Sequence[Url], found_on: Page | None) -> None:
        """Compute the product only if it could raise a priority: links that are on every page are visited soon."""
        unsure = [url for url in urls if self._best.get(url, 0.0) < HIGHEST]
        if not unsure:
            return
        chance = self._chance(unsure, UNDETERMINED if found_on is None else found_on.language)
        if found_on is None:
            chance *= SITEMAP_FACTOR
        raised = [place for place, url in enumerate(unsure) if max(chance[place], LOWEST) > self._best.get(url, 0.0)]
        if found_on is not None and raised and len(self._languages) > 1:  # one language has no translations
            chance[raised] *= self._pair_model.parallel([(found_on.url, unsure[place]) for place in raised])
        for place in raised:
            priority = min(max(float(chance[place]), LOWEST), HIGHEST)
            self._best[unsure[place]] = max(priority, self._best.get(unsure[place], 0.0))

    def _chance(self, urls: Sequence[Url], source: Language) -> Floats:
        """The probability that they are in the other language.

        With several others, the likeliest counts; if the source is in none of the languages, the likeliest of all.
        """
        distribution = self._language_model.distribution(urls)
        others = [
            columns
            for wanted, columns in zip(self._languages, self._columns, strict=True)
            if len(self._languages) == 1 or not same_language(source, wanted)
        ]
        # Two languages that accept each other (no and nb) leave no other.
        best: Floats = np.max([distribution[:, columns].sum(axis=1) for columns in others or self._columns], axis=0)
        return best


def _columns(known: Sequence[Language], wanted: Language) -> list[int]:
    """The model's columns for that language. If it has none, the last column, which stands for all others."""
    return [number for number, column in enumerate(known) if same_language(column, wanted)] or [len(known) - 1]
