"""p, i, d: pages with the same rare images and the same digit sequences (Papavassiliou et al., section 3.9)."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from rapidfuzz.distance import Indel

from bitrawl.pair.evidence import Evidence, Known, PageNumbers
from bitrawl.pair.site import PageSummary, Site

# Judgements, except where a line names its evidence.
COMMON_SHARE = 0.1  # Papavassiliou: an image on more than 10 % of the pages is common, whatever the density says.
MAX_NUMBERS = 400  # Of a page, that are compared: the time grows with the square.
RARE = 3  # Pages of each language that have a number which is looked up.
MIN_NUMBERS = 3  # Fewer digit sequences are alike by chance.
_GRID = 512  # Points at which a density is estimated.


class ImageDetector:
    """Pages that share rare images: Jaccard's coefficient of their lists, each image weighted by its rarity."""

    def propose(self, site: Site, known: Known) -> Evidence:  # noqa: ARG002
        """All pairs that share a rare image."""
        rare = rare_images(site.summaries)
        holders: dict[str, list[int]] = defaultdict(list)
        for summary in site.summaries:
            for image in summary.images & rare.keys():
                holders[image].append(summary.number)
        pairs = {(a, b) for numbers in holders.values() for a, b in across(site, numbers)}
        return {pair: jaccard(site, pair, rare) for pair in pairs}


def rare_images(summaries: Sequence[PageSummary]) -> dict[str, float]:
    """The images below the threshold, with what each is worth: one that two pages have says more than one of ten."""
    counts = Counter(image for summary in summaries for image in summary.images)
    languages = len({summary.language for summary in summaries})
    limit = min(density_threshold(sorted(counts.values())), max(COMMON_SHARE * len(summaries), languages))
    return {image: 1 / math.log2(1 + count) for image, count in counts.items() if 1 < count <= limit}


def jaccard(site: Site, pair: PageNumbers, rare: Mapping[str, float]) -> float:
    """Of the rare images of two pages, by weight; 0 where one has none."""
    a, b = (site.summaries[number].images & rare.keys() for number in pair)
    if not a or not b:
        return 0.0
    # Exact sums: a set of texts has another order in each process.
    return math.fsum(rare[image] for image in a & b) / math.fsum(rare[image] for image in a | b)


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
        holders: dict[int, list[int]] = defaultdict(list)
        for summary in site.summaries:
            for number in set(summary.numbers):
                holders[number].append(summary.number)
        languages = len({summary.language for summary in site.summaries})
        shared = Counter(
            pair for numbers in holders.values() if len(numbers) <= RARE * languages for pair in across(site, numbers)
        )
        likeness = ((pair, digits(site, pair)) for pair, count in shared.items() if count > 1)
        return {pair: value for pair, value in likeness if value > 0}


def digits(site: Site, pair: PageNumbers) -> float:
    """What share of the digit sequences of two pages stands in the same order on both; 0 for too few."""
    a, b = (site.summaries[number].numbers[:MAX_NUMBERS] for number in pair)
    if min(len(a), len(b)) < MIN_NUMBERS or 3 * min(len(a), len(b)) < max(len(a), len(b)):
        return 0.0
    return float(Indel.normalized_similarity(a, b))


def across(site: Site, numbers: Sequence[int]) -> Iterable[PageNumbers]:
    """The pairs of those summaries that are in two languages; `numbers` ascend."""
    for place, a in enumerate(numbers):
        language = site.summaries[a].language
        for b in numbers[place + 1 :]:
            if site.summaries[b].language != language:
                yield a, b
