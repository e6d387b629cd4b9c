"""p, i, d: pages with the same rare images and the same digit sequences (Papavassiliou et al., section 3.9)."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from rapidfuzz.distance import Indel

from bitrawl.pair.evidence import Evidence, Known, PageNumbers, best_few, both_ends, pair_keys
from bitrawl.pair.rows import Ints
from bitrawl.pair.site import Site

# Judgements, except where a line names its evidence.
COMMON_SHARE = 0.1  # Papavassiliou: an image on more than 10 % of the pages is common, whatever the density says.
MAX_HOLDERS = 100  # Pages that have an image which candidates are looked up by: it bounds the time.
FEW = 10  # Candidates that share images with a page, in a language.
RARE = 3  # Pages of each language that have a number which is looked up.
MIN_NUMBERS = 3  # Fewer digit sequences are alike by chance.
_GRID = 512  # Points at which a density is estimated.


class ImageDetector:
    """Pages that share rare images: Jaccard's coefficient of their lists, each image weighted by its rarity."""

    def propose(self, site: Site, known: Known) -> Evidence:  # noqa: ARG002
        """The best of the pairs that share a rare image."""
        rare = RareImages(site)
        holders: dict[int, list[int]] = defaultdict(list)
        for number, images in rare.shown.items():
            for image in images:
                holders[image].append(number)
        some = (numbers for numbers in holders.values() if len(numbers) <= MAX_HOLDERS)
        pairs = {pair for numbers in some for pair in across(site, numbers)}
        return best_few(site, Evidence.of({pair: rare.jaccard(pair) for pair in pairs}), FEW)


class RareImages:
    """The images below the threshold, with what each is worth: one that two pages have says more than one of ten."""

    def __init__(self, site: Site) -> None:
        images, counts = np.unique(site.images.flat, return_counts=True)
        limit = min(
            density_threshold(np.sort(counts).tolist()), max(COMMON_SHARE * len(site.summaries), len(site.languages))
        )
        few = (counts > 1) & (counts <= limit)
        worth = [1 / math.log2(1 + count) for count in counts[few].tolist()]
        self.worth = dict(zip(images[few].tolist(), worth, strict=True))
        rows = site.images.kept(np.isin(site.images.flat, images[few]))
        self.shown = {number: frozenset(rows[number].tolist()) for number in np.flatnonzero(rows.lengths()).tolist()}

    def jaccard(self, pair: PageNumbers) -> float:
        """Of the rare images of two pages, by weight; 0 where one has none."""
        a, b = (self.shown.get(number, frozenset()) for number in pair)
        if not a or not b:
            return 0.0
        return math.fsum(self.worth[image] for image in a & b) / math.fsum(self.worth[image] for image in a | b)


def density_threshold(frequencies: Sequence[int]) -> float:
    """The minimum just after the main lobe of the estimated density of image frequencies.

    A Gaussian kernel with the normal-optimal bandwidth of Bowman and Azzalini (1997), the spread being the median
    absolute deviation; infinity where the density has one lobe only.
    """
    if len(frequencies) < 3:
        return math.inf
    sample = np.asarray(frequencies, float)
    deviation = float(np.median(np.abs(sample - np.median(sample)))) / 0.6745
    bandwidth = max((deviation or float(sample.std()) or 1.0) * (4 / (3 * len(sample))) ** 0.2, 0.5)
    values, counts = np.unique(sample, return_counts=True)
    grid = np.linspace(values[0] - bandwidth, values[-1] + bandwidth, _GRID)
    density = np.exp(-0.5 * ((grid[:, None] - values) / bandwidth) ** 2) @ counts
    lobe = int(np.argmax(density))
    rising = np.diff(density[lobe:]) > 0
    return float(grid[lobe + int(np.argmax(rising))]) if rising.any() else math.inf


class DigitDetector:
    """Pages whose digit sequences are alike: candidates share a rare number, then the order counts too."""

    def propose(self, site: Site, known: Known) -> Evidence:  # noqa: ARG002
        """Pairs that share two numbers which few pages have."""
        keys, counts = np.unique(_sharing_rare_numbers(site), return_counts=True)
        keys = keys[counts > 1]
        a, b = both_ends(keys)
        values = np.array([digits(site, pair) for pair in zip(a.tolist(), b.tolist(), strict=True)], float)
        return Evidence(keys[values > 0], values[values > 0])


def _sharing_rare_numbers(site: Site) -> Ints:
    """The pairs of pages in two languages that have a number which few pages have, as often as they share one."""
    owners = site.numbers.owners().astype(np.int64)
    held = np.unique(site.numbers.flat.astype(np.int64) << 32 | owners)  # by number, each page once
    numbers, pages = both_ends(held)
    _, group, sizes = np.unique(numbers, return_inverse=True, return_counts=True)
    rare = sizes[group] <= RARE * len(site.languages)
    numbers, pages = numbers[rare], pages[rare]
    found = [np.zeros(0, np.int64)]
    for step in range(1, RARE * len(site.languages)):
        a, b = pages[:-step], pages[step:]
        both = (numbers[:-step] == numbers[step:]) & (site.spoken[a] != site.spoken[b])
        if not len(both):
            break
        found.append(pair_keys(a[both], b[both]))
    return np.concatenate(found)


def digits(site: Site, pair: PageNumbers) -> float:
    """What share of the digit sequences of two pages stands in the same order on both; 0 for too few."""
    a, b = (site.numbers[number] for number in pair)
    if min(len(a), len(b)) < MIN_NUMBERS or 3 * min(len(a), len(b)) < max(len(a), len(b)):
        return 0.0
    return float(Indel.normalized_similarity(a.tolist(), b.tolist()))


def across(site: Site, numbers: Sequence[int]) -> Iterable[PageNumbers]:
    """The pairs of those summaries that are in two languages; `numbers` ascend."""
    for place, a in enumerate(numbers):
        language = site.summaries[a].language
        for b in numbers[place + 1 :]:
            if site.summaries[b].language != language:
                yield a, b
