"""The straight line, one site at a time: pages, duplicates, pairs, segments, judgement."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Protocol

from bitrawl.cleaning import without_template
from bitrawl.corpus.duplicates import duplicates
from bitrawl.languages import same_language
from bitrawl.model import Language, Page, PagePair, SegmentPair, Sitemap
from bitrawl.pair.pairing import PairingResult
from bitrawl.store.findings import PairFindings, RefusedPair, SiteFindings
from bitrawl.url import Url
from bitrawl.urls.patterns import learn


class Pairer(Protocol):
    """Which pages of a site are translations of each other."""

    def pairs(
        self, pages: Iterable[Page], languages: Sequence[Language], sitemaps: Iterable[Sitemap] = ()
    ) -> PairingResult:
        """All pairs of two of those languages."""
        ...


AlignAll = Callable[[Sequence[tuple[Page, Page]], tuple[Language, Language]], list[list[SegmentPair]]]
"""The segments of many pairs of pages, judged, with one lexicon for all of them."""


MOST_PATTERNS = 5  # of a site and two languages, for the report


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
        repeated = duplicates(clean, protected=paired)
        used = [
            page for page in clean if page.url in paired or (len(self._languages) == 1 and self._kept(page, repeated))
        ]
        return SiteFindings(
            site,
            len(clean),
            tuple(self._aligned(result.pairs, {page.url: page for page in used})),
            tuple(RefusedPair(no.url_a, no.url_b, no.reason) for no in result.refusals),
            {str(url): str(first) for url, first in repeated.items()},
            Counter(page.metadata.licence for page in used if page.metadata.licence),
            _patterns(result.pairs),
        )

    def _kept(self, page: Page, repeated: Mapping[Url, Url]) -> bool:
        """In a corpus of one language."""
        return page.url not in repeated and same_language(page.language, self._languages[0])

    def _aligned(self, pairs: Sequence[PagePair], pages: dict[str, Page]) -> Iterable[PairFindings]:
        def languages(pair: PagePair) -> tuple[Language, Language]:
            return pair.lang_a, pair.lang_b

        for both, group in groupby(sorted(pairs, key=languages), key=languages):
            some = list(group)
            found = self._align([(pages[pair.url_a], pages[pair.url_b]) for pair in some], both)
            for pair, segments in zip(some, found, strict=True):
                yield PairFindings(pair, tuple(segments))


def _patterns(pairs: Sequence[PagePair]) -> dict[str, int]:
    """How the addresses of the pairs differ, as far as a few patterns say it: with the number of pairs that show each."""
    by_languages: dict[str, list[tuple[Url, Url]]] = {}
    for pair in pairs:
        by_languages.setdefault(f"{pair.lang_a}-{pair.lang_b}", []).append((pair.url_a, pair.url_b))
    return {
        f"{languages} {pattern}": pattern.support
        for languages, urls in by_languages.items()
        for pattern in learn(urls)[:MOST_PATTERNS]
    }
