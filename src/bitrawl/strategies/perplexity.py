"""Links by the perplexity of the page that has them: Remus and Biemann 2016, section 3.

A page that agrees with the language model of the domain has a low perplexity, and its links come first. Links of a page
beyond the maximum are dropped. The three buckets of section 3.3 are steps of the frontier: a host whose best link is in a
lower bucket waits, even if that delays the crawl.
"""

from collections.abc import Sequence
from math import log

from bitrawl.model import Advice, Link, LinkKind, Page, Reason, SiteKnowledge, Skip, Visit
from bitrawl.strategies.breadth_first import FIRST
from bitrawl.url import Url

HIGHEST = 1e10  # judgement: beyond the perplexity of a text in which no word is known, which is 10^7 in the paper
NO_TEXT = 1e20  # from there on it is no perplexity: the page has no text (topic/perplexity.py)
LEAST = 1e-6  # judgement: of a page without text, whose links are followed last; 0 would drop them


class Perplexity:
    """A redirect keeps the priority of its link. Links that stand on no page come last."""

    def __init__(self) -> None:
        self._moved: dict[Url, float] = {}

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:  # noqa: ARG002
        judged = found_on.relevance if found_on else None
        beyond = judged is not None and not judged.relevant and 0 < judged.perplexity < NO_TEXT
        priority = 0.0 if beyond else score_of(judged.perplexity or NO_TEXT if judged else NO_TEXT)
        return [
            1.0
            if link.kind in FIRST
            else self._moved.get(link.source, priority)
            if link.kind is LinkKind.REDIRECT and link.source
            else priority
            for link in links
        ]

    def learn(self, visit: Visit, site: SiteKnowledge) -> None:  # noqa: ARG002
        if isinstance(visit.outcome, Skip) and visit.outcome.reason is Reason.REDIRECT:
            self._moved[visit.lease.link.url] = visit.lease.score

    def advise(self, site: SiteKnowledge) -> Advice:  # noqa: ARG002
        self._moved.clear()
        return Advice()


def score_of(perplexity: float) -> float:
    """Higher for a lower perplexity, the lowest for a page that has none; none is 0, which would drop the link."""
    return LEAST if not perplexity else max(LEAST, 0.999 * (1 - log(perplexity) / log(HIGHEST)))
