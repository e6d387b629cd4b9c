"""What to visit next. The strategies of the papers are in `papers`."""

from typing import TYPE_CHECKING

from bitrawl.doors import door

if TYPE_CHECKING:
    from bitrawl.strategies.adaptive.site_scorer import Adaptive, column_weights
    from bitrawl.strategies.adaptive.topical import TopicalAdaptive
    from bitrawl.strategies.arrival import FIRST, BreadthFirst, GuardedScorer, by_arrival
    from bitrawl.strategies.making import strategy
    from bitrawl.strategies.table import FOCUSED, STRATEGIES, UNFOCUSED, Strategy, StrategyName
    from bitrawl.strategies.visited_page import VisitedPage, aligned, aligned_links
else:
    __getattr__ = door(__name__)
