"""Methods p, i and d: pages with the same rare images and digit sequences (Papavassiliou et al., section 3.9)."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from rapidfuzz.distance import Indel

from bitrawl.pair.evidence import Evidence, Known, PageNumbers
from bitrawl.pair.site import PageSummary, Site

# Judgements, except where a line names its evidence.
COMMON_SHARE = 0.1  # Papavassiliou: an image on more than 10 % of the pages is common, whatever the density says.
MAX_NUMBERS = 400  # Numbers of a page that are compared; the time is quadratic.
RARE = 3  # A number is looked up if at most this many pages of each language have it.
MIN_NUMBERS = 3  # Fewer digit sequences may be alike by chance.
_GRID = 512  # Points at which a density is estimated.


class ImageDetector:
    """Pages that share rare images: the Jaccard coefficient of their lists, each image weighted by its rarity."""

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
    """The images below the threshold, with their weights: an image on two pages tells more than an image on ten."""
    counts = Counter(image for summary in summaries for image in summary.images)
    languages = len({summary.language for summary in summaries})
    limit = min(density_threshold(sorted(counts.values())), max(COMMON_SHARE * len(summaries), languages))
    return {image: 1 / math.log2(1 + count) for image, count in counts.items() if 1 < count <= limit}


def jaccard(site: Site, pair: PageNumbers, rare: Mapping[str, float]) -> float:
    """The weighted Jaccard coefficient of the rare images of two pages; 0 if one has none."""
    a, b = (site.summaries[number].images & rare.keys() for number in pair)
    if not a or not b:
        return 0.0
    # Exact sums, because the order of a set of texts differs between processes.
    return math.fsum(rare[image] for image in a & b) / math.fsum(rare[image] for image in a | b)


def density_threshold(frequencies: Sequence[int]) -> float:
    """The minimum just after the main lobe of the estimated density of image frequencies.

    A Gaussian kernel with the normal-optimal bandwidth of Bowman and Azzalini (1997); the spread is the median absolute
    deviation. Infinity if the density has only one lobe.
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
    """Pages with similar digit sequences. Candidates share a rare number; then the order counts too."""

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
    """The share of the digit sequences of two pages that are in the same order on both; 0 if there are too few."""
    a, b = (site.summaries[number].numbers[:MAX_NUMBERS] for number in pair)
    if min(len(a), len(b)) < MIN_NUMBERS or 3 * min(len(a), len(b)) < max(len(a), len(b)):
        return 0.0
    return float(Indel.normalized_similarity(a, b))


def across(site: Site, numbers: Sequence[int]) -> Iterable[PageNumbers]:
    """The pairs of those summaries that are in two languages. `numbers` must ascend."""
    for place, a in enumerate(numbers):
        language = site.summaries[a].language
        for b in numbers[place + 1 :]:
            if site.summaries[b].language != language:
                yield a, b
