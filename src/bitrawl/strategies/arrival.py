"""Links in the order of arrival: what comes before any of them, and what is left of a strategy that fails."""

import logging
from collections.abc import Callable, Sequence

from bitrawl.errors import lacks_memory
from bitrawl.model import Advice, Link, LinkKind, Page, SiteKnowledge, Skip, Visit
from bitrawl.protocols import LinkScorer, StrategyInputs
from bitrawl.reasons import Reason, Stage
from bitrawl.url import Url

FIRST = frozenset({LinkKind.SEED, LinkKind.INDEX, LinkKind.PROBE})  # visited before any link of a page
ARRIVAL = 0.5  # any score below 1 will do, because all links have the same

_log = logging.getLogger(__name__)


def by_arrival(links: Sequence[Link]) -> list[float]:
    return [1.0 if link.kind in FIRST else ARRIVAL for link in links]


class BreadthFirst:
    """The baseline of every paper. All links have equal scores, so the queue keeps its own order: first come, first visited."""

    is_stateless = True

    def __init__(self, _inputs: StrategyInputs | None = None) -> None:
        pass

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:  # noqa: ARG002
        return by_arrival(links)

    def learn(self, visit: Visit, site: SiteKnowledge) -> None:
        pass

    def advise(self, site: SiteKnowledge) -> Advice:  # noqa: ARG002
        return Advice()


class GuardedScorer:
    """Passes everything on to the strategy inside. One that fails costs its own advice, and no page.

    `failed` is told of what it raises, once for each site.
    """

    def __init__(self, inner: LinkScorer, failed: Callable[[str, Skip], None]) -> None:
        self._inner = inner
        self._failed = failed
        self._told: set[str] = set()

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:
        try:
            return self._inner.score(links, found_on, site)
        except Exception as error:  # noqa: BLE001 - whatever a strategy breaks, the page is kept
            self._tell(site.site, error)
            return by_arrival(links)

    def learn(self, visit: Visit, site: SiteKnowledge) -> None:
        try:
            self._inner.learn(visit, site)
        except Exception as error:  # noqa: BLE001
            self._tell(site.site, error)

    def advise(self, site: SiteKnowledge) -> Advice:
        try:
            return self._inner.advise(site)
        except Exception as error:  # noqa: BLE001
            self._tell(site.site, error)
            return Advice()

    def _tell(self, site: str, error: Exception) -> None:
        if lacks_memory(error):  # a fault of this machine, not of the strategy
            raise error
        if site in self._told:
            return
        self._told.add(site)
        _log.error("the strategy failed on %s", site, exc_info=error)
        detail = f"{type(error).__name__}: {error}"[:500]
        self._failed(site, Skip(Url.known(f"http://{site}/"), Stage.STRATEGY, Reason.INTERNAL, detail))
