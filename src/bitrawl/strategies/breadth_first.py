"""Links in the order of arrival: the baseline of every paper."""

from collections.abc import Sequence

from bitrawl.model import Advice, Link, LinkKind, Page, SiteKnowledge, Visit

FIRST = frozenset({LinkKind.SEED, LinkKind.INDEX, LinkKind.PROBE})  # visited before any link of a page
ARRIVAL = 0.5  # judgement: any score below 1 will do, because all links have the same


class BreadthFirst:
    """All links have equal scores, so the queue keeps its own order: first come, first visited."""

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:  # noqa: ARG002
        return by_arrival(links)

    def learn(self, visit: Visit, site: SiteKnowledge) -> None:
        pass

    def advise(self, site: SiteKnowledge) -> Advice:  # noqa: ARG002
        return Advice()


def by_arrival(links: Sequence[Link]) -> list[float]:
    return [1.0 if link.kind in FIRST else ARRIVAL for link in links]
