"""One page has one translation in each language: the best pairs first, each page once for each two languages."""

from collections.abc import Iterable

import numpy as np

from bitrawl.pair.evidence import Evidence, PageNumbers, both_ends
from bitrawl.pair.site import Site


def match(
    site: Site, scores: Evidence, threshold: float, before: Iterable[PageNumbers] = ()
) -> dict[PageNumbers, float]:
    """Greedy by score; equal scores in the order of the pages, so that the same pages give the same pairs.

    A page that is in a pair of `before` is not matched with another one in the same language.
    """
    enough = scores.values_array >= threshold
    keys, values = scores.keys_array[enough], scores.values_array[enough]
    order = np.lexsort((keys, -values))
    a, b = both_ends(keys[order])
    count, spoken = len(site.languages), site.spoken
    ends = a * count + spoken[b], b * count + spoken[a]
    taken = {int(one * count + spoken[other]) for pair in before for one, other in (pair, pair[::-1])}
    matched: dict[PageNumbers, float] = {}
    rows = zip(a.tolist(), b.tolist(), ends[0].tolist(), ends[1].tolist(), values[order].tolist(), strict=True)
    for first, second, end, other, score in rows:
        if end not in taken and other not in taken:
            taken.update((end, other))
            matched[first, second] = score
    return matched
