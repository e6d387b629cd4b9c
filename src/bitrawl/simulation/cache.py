"""Remembers what every strategy asks of an archive, so that it is computed only once."""

from collections.abc import Sequence

from bitrawl.crawl.scope import Scope, Sites
from bitrawl.model import Capture, Link, LinkKind, Page, Reason, Sitemap, Skip
from bitrawl.protocols import Analyser, Fetcher
from bitrawl.store.analyses import Analyses
from bitrawl.url import Url

KEPT_PAGES = 4000  # analysed pages in memory, about 150 kB each; the others are read from the cache on disk
KEPT_BYTES = 256_000_000  # of bodies in memory; the others are read from the archive again; judgement
_MISHAPS = frozenset(
    {Reason.ANALYSIS_TIMEOUT, Reason.ANALYSIS_CRASH, Reason.KILLED}
)  # A busy machine may cause these, so they are never stored on disk.


class RememberedScope(Scope):
    """Decides on each link once, because the links of an archive are the same for all strategies.

    On apisix (1,653 fetches with 132,000 links), a replay takes 1.1 s of CPU instead of 1.5 s (2026-11).
    """

    def __init__(self, sites: Sites, seeds: Sequence[Url]) -> None:
        super().__init__(sites, seeds)
        self._known: dict[tuple[Url, Url | None, LinkKind, str], Skip | None] = {}

    def refusal(self, link: Link) -> Skip | None:
        """Decides as `Scope` does. Where a link was found matters only if it has parameters."""
        key = (link.url, link.source if "?" in link.url else None, link.kind, link.rel)
        if key not in self._known:
            self._known[key] = super().refusal(link)
        return self._known[key]


class RememberedAnswers:
    """Keeps answers in memory as long as they fit, because each strategy asks for them again."""

    def __init__(self, inner: Fetcher) -> None:
        self._inner = inner
        self._answers: dict[Url, Capture | Skip] = {}
        self._bytes = 0

    async def fetch(self, link: Link) -> Capture | Skip:
        known = self._answers.get(link.url)
        if known is not None:
            return known
        answer = await self._inner.fetch(link)
        size = len(answer.body) if isinstance(answer, Capture) else 0
        if self._bytes + size <= KEPT_BYTES:
            self._bytes += size
            self._answers[link.url] = answer
        return answer


class RememberedAnalyses:
    """Analyses each page once. After that it comes from memory, or from the cache on disk."""

    def __init__(self, inner: Analyser, analyses: Analyses) -> None:
        self._inner = inner
        self._analyses = analyses
        self._outcomes: dict[tuple[Url, bool], Page | Sitemap | Skip] = {}

    async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        key = (capture.url, index)
        known = self._outcomes.get(key)
        if known is not None:
            return known
        outcome = self._analyses.get(capture.url, index=index)
        mishap = False
        if outcome is None:
            outcome = await self._inner.analyse(capture, index=index)
            mishap = isinstance(outcome, Skip) and outcome.reason in _MISHAPS
            if not mishap:
                self._analyses.put(capture.url, outcome, index=index)
        if mishap or len(self._outcomes) < KEPT_PAGES:
            self._outcomes[key] = outcome
        return outcome
