"""Links by the terms around them: s = c + p/L + Σ n·w, Papavassiliou et al. 2013, section 3.6.

p is the weight of the terms on the source page, L the number of its links, n·w the weight of the terms in the link's own
text and in the text around it. c is added in jobs with several languages, to links that name another of them. Links of
pages that are not about the topic are followed too, at their score.
"""

from collections.abc import Sequence
from math import log1p

from bitrawl.errors import ConfigError
from bitrawl.languages import claimed_language, same_language
from bitrawl.model import Advice, Link, Page, SiteKnowledge, Visit
from bitrawl.protocols import StrategyInputs
from bitrawl.strategies import FIRST

# The paper's "high positive value". ILSP-FC adds up to 10,000 times the weight that a page needs; with weights of up to
# 100, that is more than any text around a link can reach.
TRANSLATION = 1e6
HIGHEST = 1e9  # a link of this sum gets a score of 1
# The score of a sum of 0. It is low, so that links without terms wait for those of other hosts that have some.
NOTHING = 0.1


class Terms:
    """Seeds come first. A link that several pages have gets the highest of its scores."""

    def __init__(self, inputs: StrategyInputs) -> None:
        if inputs.topic is None:
            raise ConfigError("the strategy terms needs a topic")
        self._languages = tuple(inputs.languages)
        self._model = inputs.topic.model

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:  # noqa: ARG002
        language = found_on.language if found_on else self._languages[0]
        around = self._model.weigh([f"{link.anchor} {link.context}" for link in links], language)
        weight = found_on.relevance.weight if found_on and found_on.relevance else 0.0
        shared = weight / max(len(found_on.links), 1) if found_on else 0.0
        return [
            1.0 if link.kind in FIRST else _between_0_and_1(self._translation(link, found_on) + shared + terms)
            for link, terms in zip(links, around, strict=True)
        ]

    def learn(self, visit: Visit, site: SiteKnowledge) -> None:
        """Nothing: the list is fixed."""

    def advise(self, site: SiteKnowledge) -> Advice:  # noqa: ARG002
        return Advice()

    def _translation(self, link: Link, found_on: Page | None) -> float:
        """c: whether a page in one of the languages has a link that names another of them."""
        if found_on is None or not link.hreflang or len(self._languages) < 2:
            return 0.0
        here = [language for language in self._languages if same_language(found_on.language, language)]
        named = [language for language in self._languages if same_language(claimed_language(link.hreflang), language)]
        return TRANSLATION if here and named and here != named else 0.0


def _between_0_and_1(total: float) -> float:
    """In the same order; none is 0, which would drop the link."""
    size = min(log1p(abs(total)) / log1p(HIGHEST), 0.999)
    return NOTHING + (1 - NOTHING) * size if total >= 0 else NOTHING * (1 - size)
