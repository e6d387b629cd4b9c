"""The two baselines of every paper: arrival, and arrival among pages in the languages asked for."""

from collections.abc import Callable, Sequence

from bitrawl.model import UNDETERMINED, Advice, Language, Link, LinkKind, Page, SiteKnowledge, Visit

ARRIVAL = 0.5
NO_ADVICE = Advice()


class Unlearning:
    """What a strategy does that never changes its mind."""

    def learn(self, visit: Visit, site: SiteKnowledge) -> None:
        """Nothing to learn."""

    def advise(self, site: SiteKnowledge) -> Advice:  # noqa: ARG002
        """Nothing to change."""
        return NO_ADVICE


class BreadthFirst(Unlearning):
    """Equal scores: the queue's own order, first come, first visited."""

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:  # noqa: ARG002
        """As `protocols.LinkScorer`."""
        return [_first_or(ARRIVAL, link) for link in links]


class LanguageFilter(Unlearning):
    """Links only from pages in the languages asked for, and from those without a language (García-Romero, section 5)."""

    def __init__(self, wanted: Callable[[Language], bool]) -> None:
        self._wanted = wanted

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:  # noqa: ARG002
        """As `protocols.LinkScorer`."""
        if found_on is None or found_on.language == UNDETERMINED or self._wanted(found_on.language):
            return [_first_or(ARRIVAL, link) for link in links]
        return [0.0 for _ in links]


def _first_or(score: float, link: Link) -> float:
    return 1.0 if link.kind in (LinkKind.SEED, LinkKind.INDEX, LinkKind.PROBE) else score
