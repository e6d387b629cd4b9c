"""One page has one translation in each language: the best pairs first, each page once for each two languages."""

import numpy as np

from bitrawl.pair.evidence import Evidence, PageNumbers, both_ends
from bitrawl.pair.site import Site


def match(site: Site, scores: Evidence, threshold: float) -> dict[PageNumbers, float]:
    """Greedy by score; equal scores in the order of the pages, so that the same pages give the same pairs."""
    enough = scores.values_array >= threshold
    keys, values = scores.keys_array[enough], scores.values_array[enough]
    order = np.lexsort((keys, -values))
    a, b = both_ends(keys[order])
    ends = a * len(site.languages) + site.spoken[b], b * len(site.languages) + site.spoken[a]
    taken: set[int] = set()
    matched: dict[PageNumbers, float] = {}
    rows = zip(a.tolist(), b.tolist(), ends[0].tolist(), ends[1].tolist(), values[order].tolist(), strict=True)
    for first, second, end, other, score in rows:
        if end not in taken and other not in taken:
            taken.update((end, other))
            matched[first, second] = score
    return matched
