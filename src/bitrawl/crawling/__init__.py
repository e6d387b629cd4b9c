"""What to visit, and visiting it."""

from typing import TYPE_CHECKING

from bitrawl.doors import door

if TYPE_CHECKING:
    from bitrawl.crawling.connections import Routes, is_private_host, most_waiting
    from bitrawl.crawling.fetch import FetchSettings, HttpFetcher, user_agent, visit
    from bitrawl.crawling.frontier import Frontier, HostRules, Spending
    from bitrawl.crawling.loop import Crawl, LoopSettings, PageSource
    from bitrawl.crawling.preview import Preview
    from bitrawl.crawling.rendering import open_rendering
    from bitrawl.crawling.robots import RobotsFetcher
    from bitrawl.crawling.scope import Scope, Sites
    from bitrawl.crawling.settings import (
        Budget,
        FetchSection,
        Politeness,
        Reach,
        Render,
        RenderSection,
        ScopeRules,
    )
else:
    __getattr__ = door(__name__)
