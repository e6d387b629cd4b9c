"""Links by the perplexity of the page that has them: Remus and Biemann 2016, section 3.

A page that agrees with the language model of the domain has a low perplexity, and its links come first. Links of a page
beyond the maximum are dropped. The three buckets of section 3.3 are steps of the frontier: a host whose best link is in a
lower bucket waits, even if that delays the crawl.
"""

from collections.abc import Sequence
from math import log

from bitrawl.languages import asked_language, claimed_language
from bitrawl.model import UNDETERMINED, Advice, Link, LinkKind, Page, SiteKnowledge, Skip, Visit
from bitrawl.protocols import StrategyInputs
from bitrawl.reasons import Reason
from bitrawl.strategies import FIRST
from bitrawl.url import Url
from bitrawl.urls import address_languages

HIGHEST = 1e10  # beyond the perplexity of a text in which no word is known, which is 10^7 in the paper
NO_TEXT = 1e20  # from there on it is no perplexity: the page has no text (topic/judge.py)
LEAST = 1e-6  # of a link that nothing is known of, which is followed last; 0 would drop it
# What the links of a page without a perplexity have of its own priority: those that name one of the languages, others of a page
# without running text, and others of a page in another language, which mostly lead to more of it. Judgement: after a seed, what a
# page without text leads to comes before text in which no word is known, and what a page in another language leads to after it.
NAMED, PASSED_ON, FOREIGN = 0.99, 0.8, 0.25


class Perplexity:
    """A redirect keeps the priority of its link. Links that stand on no page come last.

    The links of a seed are never dropped: a hub need not be about the topic. A page without running text, or in a language without a
    model, has no perplexity: its links have a share of the priority that it had itself, and those that name one of the languages have
    nearly all of it, so that a page for choosing the language does not close its site.
    """

    def __init__(self, inputs: StrategyInputs) -> None:
        self._languages = tuple(inputs.languages)
        self._moved: dict[Url, float] = {}  # redirects, and pages without a perplexity

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:  # noqa: ARG002
        perplexity = _perplexity(found_on) if found_on else NO_TEXT
        if found_on is not None and found_on.relevance is not None and perplexity >= NO_TEXT:
            passed = self._moved.get(found_on.url, 0.0)
            shares = [self._share(link, found_on) for link in links]
            return [
                self._priority(link, max(LEAST, share * passed), beyond=False)
                for link, share in zip(links, shares, strict=True)
            ]
        beyond = found_on is not None and not found_on.is_on_topic
        return [self._priority(link, score_of(perplexity), beyond=beyond and link.depth > 1) for link in links]

    def steps(self, perplexities: Sequence[float]) -> tuple[float, ...]:
        """The boundaries of the buckets, section 3.3."""
        return tuple(map(score_of, perplexities))

    def _priority(self, link: Link, priority: float, *, beyond: bool) -> float:
        if link.kind in FIRST:
            return 1.0
        if link.kind is LinkKind.REDIRECT and link.source in self._moved:
            return self._moved[link.source]
        return 0.0 if beyond else priority

    def _share(self, link: Link, found_on: Page) -> float:
        named = [link.hreflang] if link.hreflang else address_languages(link.url, found_on.url)
        if any(asked_language(claimed_language(code), self._languages) is not None for code in named):
            return NAMED
        return PASSED_ON if found_on.language == UNDETERMINED else FOREIGN

    def learn(self, visit: Visit, site: SiteKnowledge) -> None:  # noqa: ARG002
        outcome = visit.outcome
        if isinstance(outcome, Skip) and outcome.reason is Reason.REDIRECT:
            self._moved[visit.lease.link.url] = visit.lease.score
        elif isinstance(outcome, Page) and _perplexity(outcome) >= NO_TEXT:
            self._moved[outcome.url] = visit.lease.score

    def advise(self, site: SiteKnowledge) -> Advice:  # noqa: ARG002
        self._moved.clear()
        return Advice()


def _perplexity(page: Page) -> float:
    return (page.relevance.perplexity if page.relevance else 0.0) or NO_TEXT


def score_of(perplexity: float) -> float:
    """Higher for a lower perplexity; none is 0, which would drop the link."""
    return max(LEAST, 0.999 * (1 - log(perplexity) / log(HIGHEST)))
