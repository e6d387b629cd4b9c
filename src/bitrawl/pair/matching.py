"""One page has one translation in each language: the best pairs first, each page once per language pair."""

from collections.abc import Mapping

from bitrawl.model import Language
from bitrawl.pair.evidence import PageNumbers
from bitrawl.pair.site import Site


def match(site: Site, scores: Mapping[PageNumbers, float], threshold: float) -> dict[PageNumbers, float]:
    """Greedy by score. Equal scores are ordered by page, so that the same pages give the same pairs."""
    taken: set[tuple[int, Language]] = set()
    matched: dict[PageNumbers, float] = {}
    for (a, b), score in sorted(scores.items(), key=lambda item: (-item[1], item[0])):
        if score < threshold:
            break
        ends = ((a, site.summaries[b].language), (b, site.summaries[a].language))
        if taken.isdisjoint(ends):
            taken.update(ends)
            matched[a, b] = score
    return matched
