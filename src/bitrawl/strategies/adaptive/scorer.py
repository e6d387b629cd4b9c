"""The default strategy: all evidence at once, weighed by a model, with rates that each visit updates.

What is estimated of a queued link is the probability that its page is one of a pair. A link whose partner has been
visited completes a pair with one fetch, any other needs two: so half-found pairs come first. docs/decisions/adaptive.md
has the reasons and the figures.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from bitrawl.model import (
    Advice,
    Language,
    Link,
    Page,
    SiteKnowledge,
    Visit,
)
from bitrawl.model_files import model_file
from bitrawl.protocols import UrlLanguageModel
from bitrawl.strategies.adaptive.language_odds import LanguageOdds
from bitrawl.strategies.adaptive.link_table import Column
from bitrawl.strategies.adaptive.site_scorer import Floats, SiteScorer
from bitrawl.url import Url


def column_weights(named: Mapping[str, float]) -> Floats:
    """By the names of the columns, as the model file has them."""
    return np.array([named[column.name.lower()] for column in Column], np.float32)


def read_weights(path: Path | None = None) -> Floats:
    """The package's, or those that `python -m lab.train adaptive` made."""
    content = (path or model_file("adaptive.json")).read_bytes()
    return column_weights(msgspec.json.decode(content, type=dict[str, float]))


class Adaptive:
    """One `SiteScorer` a site: sites share nothing but the languages asked for and the models."""

    def __init__(
        self, languages: Sequence[Language], model: UrlLanguageModel | None = None, weights: Floats | None = None
    ) -> None:
        self._languages = tuple(languages)
        self._odds = LanguageOdds(languages, model)
        self._sites: dict[str, SiteScorer] = {}
        self._weights = read_weights() if weights is None else weights

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:
        return self._site(site).score(links, found_on)

    def learn(self, visit: Visit, site: SiteKnowledge) -> None:
        self._site(site).learn(visit)

    def advise(self, site: SiteKnowledge) -> Advice:
        return self._site(site).advise()

    def features(self, url: Url, site: SiteKnowledge) -> Floats | None:
        """What is known of a link at this moment, by `Column`, to train weights on; None for an unknown address."""
        return self._site(site).features(url)

    @property
    def examined(self) -> int:
        """Candidate pairs that were looked at."""
        return sum(one.partners.examined for one in self._sites.values())

    @property
    def pairs(self) -> set[tuple[Url, Url]]:
        """Those that were believed."""
        return {pair for one in self._sites.values() for pair in one.partners.pairs}

    def _site(self, site: SiteKnowledge) -> "SiteScorer":
        if site.site not in self._sites:
            self._sites[site.site] = SiteScorer(self._languages, self._odds, self._weights)
        return self._sites[site.site]
