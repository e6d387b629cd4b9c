"""The two baselines of every paper: arrival, and arrival among pages in the languages asked for."""

from collections.abc import Callable, Sequence

from bitrawl.model import UNDETERMINED, Language, Link, LinkKind, Page, SiteKnowledge

ARRIVAL = 0.5


class BreadthFirst:
    """Equal scores: the queue's own order, first come, first visited."""

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:  # noqa: ARG002
        """As `protocols.LinkScorer`."""
        return [_first_or(ARRIVAL, link) for link in links]

    def learn(self, page: Page, reward: float) -> None:
        """Nothing to learn."""


class LanguageFilter:
    """Links only from pages in the languages asked for, and from those without a language (García-Romero, section 5)."""

    def __init__(self, wanted: Callable[[Language], bool]) -> None:
        self._wanted = wanted

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:  # noqa: ARG002
        """As `protocols.LinkScorer`."""
        if found_on is None or found_on.language == UNDETERMINED or self._wanted(found_on.language):
            return [_first_or(ARRIVAL, link) for link in links]
        return [0.0 for _ in links]

    def learn(self, page: Page, reward: float) -> None:
        """Nothing to learn."""


def _first_or(score: float, link: Link) -> float:
    return 1.0 if link.kind in (LinkKind.SEED, LinkKind.INDEX, LinkKind.PROBE) else score
