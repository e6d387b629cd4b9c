"""Mining, one site at a time: clean, pair, align, judge, keep."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from itertools import groupby

import msgspec

from bitrawl.align.embeddings import EmbeddingAligner
from bitrawl.align.pages import SiteAligner
from bitrawl.corpus.duplicates import duplicates
from bitrawl.corpus.judging import Judge
from bitrawl.languages import same_language
from bitrawl.model import Language, Page, PagePair, Sitemap
from bitrawl.pair.pairing import Pairing, PairingResult
from bitrawl.protocols import Encoder, LanguageIdentifier
from bitrawl.store.findings import PairFindings, RefusedPair, SiteFindings
from bitrawl.text.template import without_template
from bitrawl.url import Url
from bitrawl.urls.patterns import learn

MOST_PATTERNS = 5  # per site and language pair, for the report; judgement


class Step(StrEnum):
    CLEANING = "cleaning"
    PAIRING = "pairing"
    ALIGNING = "aligning"
    JUDGING = "judging"
    WRITING = "writing the corpus"


class Doing(msgspec.Struct, frozen=True):
    """What mining is doing now, and how far it has come."""

    step: Step
    site: str = ""
    what: str = ""  # what `done` and `total` count: "pages", "en-fr pairs"
    done: int = 0
    total: int = 0

    def __str__(self) -> str:
        counted = f" ({self.done} of {self.total} {self.what})" if self.done else f" ({self.total} {self.what})"
        return f"{self.step} {self.site}".strip() + (counted if self.total else "")


class Miner:
    """Makes page pairs and segment pairs from the pages of one site.

    Mining can be repeated: with more pages of the same site, new findings replace the old ones. The order of the crawl
    does not matter.
    """

    def __init__(
        self,
        languages: Sequence[Language],
        pairing: Pairing,
        identifier: LanguageIdentifier,
        *,
        encoder: Encoder | None = None,
        report: Callable[[Doing], None] = lambda _doing: None,
    ) -> None:
        self._languages = languages
        self._pairing = pairing
        self._identifier = identifier
        self._encoder = encoder
        self._report = report

    def mine(
        self,
        site: str,
        pages: Callable[[], Iterable[Page]],
        sitemaps: Iterable[Sitemap],
        *,
        known: PairingResult | None = None,
    ) -> SiteFindings:
        """Run all five steps. `known` pairs from an earlier run are only aligned again, not paired again."""
        self._report(Doing(Step.CLEANING, site))
        clean = sorted(without_template(pages), key=lambda page: page.url)
        paired = known or self._pair(site, clean, sitemaps)
        found = {url for pair in paired.pairs for url in (pair.url_a, pair.url_b)}
        repeated = duplicates(clean, protected=found)
        kept = {page.url: page for page in clean if page.url in found or self._is_kept(page, repeated)}
        return SiteFindings(
            site,
            len(clean),
            tuple(self._align_and_judge(site, paired.pairs, kept)),
            tuple(RefusedPair(no.url_a, no.url_b, no.reason) for no in paired.refusals),
            {str(url): str(first) for url, first in repeated.items()},
            Counter(page.metadata.licence for page in kept.values() if page.metadata.licence),
            _patterns(paired.pairs),
        )

    def _pair(self, site: str, pages: Sequence[Page], sitemaps: Iterable[Sitemap]) -> PairingResult:
        self._report(Doing(Step.PAIRING, site, "pages", total=len(pages)))
        return self._pairing.pairs(pages, self._languages, sitemaps)

    def _is_kept(self, page: Page, repeated: dict[Url, Url]) -> bool:
        """Whether the page goes into a monolingual corpus."""
        one = len(self._languages) == 1
        return one and page.url not in repeated and same_language(page.language, self._languages[0])

    def _align_and_judge(self, site: str, pairs: Sequence[PagePair], pages: dict[Url, Page]) -> Iterable[PairFindings]:
        """The pairs of two languages share one lexicon."""
        for languages, group in groupby(sorted(pairs, key=_languages), key=_languages):
            some = list(group)
            self._report(Doing(Step.ALIGNING, site, f"{'-'.join(languages)} pairs", total=len(some)))
            aligner = SiteAligner(languages, EmbeddingAligner(self._encoder) if self._encoder else None)
            aligned = aligner.align([(pages[pair.url_a], pages[pair.url_b]) for pair in some])
            judge = Judge(languages, self._identifier, aligner.lexicon)
            for pair, segments in zip(some, aligned, strict=True):
                yield PairFindings(pair, tuple(judge.judge(segments)))


def _languages(pair: PagePair) -> tuple[Language, Language]:
    return pair.lang_a, pair.lang_b


def _patterns(pairs: Sequence[PagePair]) -> dict[str, int]:
    """A few patterns that explain how the URLs of the pairs differ, with the number of pairs that show each."""
    by_languages: dict[str, list[tuple[Url, Url]]] = {}
    for pair in pairs:
        by_languages.setdefault(f"{pair.lang_a}-{pair.lang_b}", []).append((pair.url_a, pair.url_b))
    return {
        f"{languages} {pattern}": pattern.support
        for languages, urls in by_languages.items()
        for pattern in learn(urls)[:MOST_PATTERNS]
    }
