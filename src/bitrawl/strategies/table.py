"""The table of strategies: ours, and those that other packages add by an entry point."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Annotated, Any, Self

import msgspec

from bitrawl.choices import Added, loaded


class Strategy(StrEnum):
    """What orders the frontier."""

    # A row has its name, which is its label and a key of the catalogues, what makes it, and whether it needs a topic.
    maker: str  # called with the languages; empty where it needs more, which `assemble` knows
    needs_topic: bool

    def __new__(cls, name: str, maker: str = "", needs_topic: bool = False) -> Self:  # noqa: FBT001, FBT002
        row = str.__new__(cls, name)
        row._value_, row.maker, row.needs_topic = name, maker, needs_topic
        return row

    BREADTH_FIRST = "breadth-first"
    LANGUAGE_FILTER = ("language-filter", "bitrawl.strategies.papers.url_models:LanguageFilter")
    URL_MODELS = "url-models"
    URL_PATTERNS = ("url-patterns", "bitrawl.strategies.papers.url_patterns:UrlPatterns")
    PLAIN_QUEUE = ("plain-queue", "bitrawl.strategies.papers.url_patterns:plain_queue")
    TERMS = ("terms", "", True)
    PERPLEXITY = ("perplexity", "", True)
    ADAPTIVE = "adaptive"


FOCUSED = tuple(name for name in Strategy if name.needs_topic)
"""Strategies that need a topic."""
UNFOCUSED = tuple(name for name in Strategy if not name.needs_topic)
"""Strategies that work without one."""

STRATEGIES = Added("bitrawl.strategies", "strategy", "strategies", tuple(Strategy))
"""An entry of another package is called with the job's languages, and returns a `LinkScorer`."""
StrategyName = Annotated[str, msgspec.Meta(extra={"names": STRATEGIES.names})]


def strategy_maker(name: str) -> Callable[[Sequence[str]], Any] | None:
    """What makes it of the languages; None where it needs more. Raises `ConfigError` if nobody has it, or if the package
    that adds it cannot be used.
    """
    STRATEGIES.check_one(name)
    if name in set(Strategy):
        return loaded(Strategy(name).maker) if Strategy(name).maker else None
    return STRATEGIES.blamed(name, STRATEGIES.loaded(name))
