"""One page has one translation in each language: the best pairs first, each page once for each two languages."""

from collections.abc import Mapping

from bitrawl.model import Language
from bitrawl.pair.evidence import Pair
from bitrawl.pair.site import Site


def match(site: Site, scores: Mapping[Pair, float], threshold: float) -> dict[Pair, float]:
    """Greedy by score; equal scores in the order of the pages, so that the same pages give the same pairs."""
    taken: set[tuple[int, Language]] = set()
    matched: dict[Pair, float] = {}
    for (a, b), score in sorted(scores.items(), key=lambda item: (-item[1], item[0])):
        if score < threshold:
            break
        ends = ((a, site.sheets[b].language), (b, site.sheets[a].language))
        if taken.isdisjoint(ends):
            taken.update(ends)
            matched[a, b] = score
    return matched
