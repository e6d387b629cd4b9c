"""The table of strategies: ours, and those that other packages add by an entry point."""

from enum import StrEnum
from typing import Annotated, Self

import msgspec

from bitrawl.packages import Added


class Strategy(StrEnum):
    """What orders the frontier."""

    # A row has its name, which is its label and a key of the catalogues, what makes it, and whether it needs a topic. Those of
    # the papers are made by entry points, as those of other packages are.
    maker: str
    needs_topic: bool

    def __new__(cls, name: str, maker: str = "", needs_topic: bool = False) -> Self:  # noqa: FBT001, FBT002
        row = str.__new__(cls, name)
        row._value_, row.maker, row.needs_topic = name, maker, needs_topic
        return row

    BREADTH_FIRST = ("breadth-first", "bitrawl.strategies.arrival:BreadthFirst")
    LANGUAGE_FILTER = "language-filter"
    URL_MODELS = "url-models"
    URL_PATTERNS = "url-patterns"
    PLAIN_QUEUE = "plain-queue"
    TERMS = ("terms", "", True)
    PERPLEXITY = ("perplexity", "", True)
    ADAPTIVE = ("adaptive", "bitrawl.strategies.making:adaptive")


FOCUSED = tuple(name for name in Strategy if name.needs_topic)
"""Strategies that need a topic."""
UNFOCUSED = tuple(name for name in Strategy if not name.needs_topic)
"""Strategies that work without one."""

STRATEGIES = Added("bitrawl.strategies", "strategy", "strategies", tuple(Strategy))
"""An entry is called with `StrategyInputs`, and returns a `LinkScorer`."""
StrategyName = Annotated[str, msgspec.Meta(extra={"names": STRATEGIES.names})]
