"""The straight line, one site at a time: pages, duplicates, pairs, segments, judgement."""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Protocol

from bitrawl.cleaning import without_template
from bitrawl.corpus.duplicates import duplicates
from bitrawl.model import Language, Page, PagePair, SegmentPair, Sitemap
from bitrawl.pair.pairing import PairingResult
from bitrawl.store.findings import PairFindings, Refusal, SiteFindings


class Pairer(Protocol):
    """Which pages of a site are translations of each other."""

    def pairs(
        self, pages: Iterable[Page], languages: Sequence[Language], sitemaps: Iterable[Sitemap] = ()
    ) -> PairingResult:
        """All pairs of two of those languages."""
        ...


AlignAll = Callable[[Sequence[tuple[Page, Page]], tuple[Language, Language]], list[list[SegmentPair]]]
"""The segments of many pairs of pages, judged, with one lexicon for all of them."""


class Miner:
    """From the pages of one site to what they have in common."""

    def __init__(self, languages: Sequence[Language], pairer: Pairer, align: AlignAll) -> None:
        self._languages = languages
        self._pairer = pairer
        self._align = align

    def mine(self, site: str, pages: Callable[[], Iterable[Page]], sitemaps: Iterable[Sitemap]) -> SiteFindings:
        """Repeatable: more pages of the same site give its findings anew."""
        clean = sorted(without_template(pages), key=lambda page: page.url)  # whatever order the crawl took
        result = self._pairer.pairs(clean, self._languages, sitemaps)
        paired = {url for pair in result.pairs for url in (pair.url_a, pair.url_b)}
        return SiteFindings(
            site,
            len(clean),
            tuple(self._aligned(result.pairs, {page.url: page for page in clean if page.url in paired})),
            tuple(Refusal(no.url_a, no.url_b, no.reason) for no in result.refusals),
            {str(url): str(first) for url, first in duplicates(clean, protected=paired).items()},
        )

    def _aligned(self, pairs: Sequence[PagePair], pages: dict[str, Page]) -> Iterable[PairFindings]:
        def languages(pair: PagePair) -> tuple[Language, Language]:
            return pair.lang_a, pair.lang_b

        for both, group in groupby(sorted(pairs, key=languages), key=languages):
            some = list(group)
            found = self._align([(pages[pair.url_a], pages[pair.url_b]) for pair in some], both)
            for pair, segments in zip(some, found, strict=True):
                yield PairFindings(pair, tuple(segments))
