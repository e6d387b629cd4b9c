"""How often the interval of a precision holds the truth, if score bands are sampled and weighted: ours and two published ones.

`python -m lab.bench.review_intervals`; docs/decisions/review.md has the extremes.
"""

from collections.abc import Callable, Sequence
from math import sqrt
from random import Random

from bitrawl.review.statistics import Stratum, Z, estimate, wilson

TRIALS = 4000
Interval = tuple[float, float]
# Sizes of the bands, the precision of each, and how many of each are judged; 0 draws so many in all, without regard to bands.
CORPORA: dict[str, tuple[list[int], list[float], list[int]]] = {
    "steep": ([5, 5, 10, 20, 60], [0.4, 0.6, 0.8, 0.95, 0.99], [20] * 5),
    "mostly doubtful": ([50, 20, 10, 10, 10], [0.6, 0.8, 0.9, 0.95, 0.99], [20] * 5),
    "good": ([5, 5, 10, 20, 60], [0.9, 0.95, 0.98, 0.99, 0.995], [20] * 5),
    "few judged": ([5, 5, 10, 20, 60], [0.5, 0.7, 0.9, 0.97, 0.99], [10] * 5),
    "best band is bad": ([10, 10, 10, 10, 60], [0.99, 0.99, 0.99, 0.99, 0.7], [30] * 5),
    "as large as the bands": ([5, 5, 10, 20, 60], [0.4, 0.6, 0.8, 0.95, 0.99], [5, 5, 10, 20, 60]),
    "simple random": ([2, 5, 10, 20, 63], [0.4, 0.6, 0.8, 0.95, 0.99], []),
}
RANDOM_UNITS = 100  # of the sample without regard to bands


def ours(strata: Sequence[Stratum]) -> Interval:
    found = estimate(strata)
    assert found is not None
    return found.low, found.high


def square_and_add(strata: Sequence[Stratum]) -> Interval:
    """Zou, Huang and Zhang 2009, with Wilson's limits."""
    low = high = middle = 0.0
    for weight, share, part in _weighted(strata):
        least, most = wilson(share, part.judged)
        middle += weight * share
        low += (weight * (share - least)) ** 2
        high += (weight * (most - share)) ** 2
    return middle - sqrt(low), middle + sqrt(high)


def stratified_wilson(strata: Sequence[Stratum]) -> Interval:
    """Yan and Su 2010, with the weights of the strata."""
    parts = _weighted(strata)
    spread = sqrt(sum(weight**2 / part.judged for weight, _, part in parts))
    z = Z * spread / sum(weight / sqrt(part.judged) for weight, _, part in parts)
    low = high = 0.0
    for weight, share, part in parts:
        n = part.judged
        centre = (share + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        low, high = low + weight * (centre - half), high + weight * (centre + half)
    return low, high


def _weighted(strata: Sequence[Stratum]) -> list[tuple[float, float, Stratum]]:
    parts = [part for part in strata if part.judged]
    total = sum(part.size for part in parts)
    return [(part.size / total, part.accepted / part.judged, part) for part in parts]


INTERVALS: dict[str, Callable[[Sequence[Stratum]], Interval]] = {
    "ours": ours,
    "square-and-add": square_and_add,
    "stratified Wilson": stratified_wilson,
}


def drawn(random: Random, sizes: list[int], truth: list[float], judged: list[int]) -> list[Stratum]:
    if not judged:
        bands = random.choices(range(len(sizes)), sizes, k=RANDOM_UNITS)
        judged = [bands.count(band) for band in range(len(sizes))]
    rows = zip(sizes, truth, judged, strict=True)
    return [Stratum(size, n, sum(random.random() < right for _ in range(n))) for size, right, n in rows]


def main() -> None:
    random = Random(1)
    print(f"share of {TRIALS} intervals that hold the truth, and their mean width")
    for name, (sizes, truth, judged) in CORPORA.items():
        share = sum(size * right for size, right in zip(sizes, truth, strict=True)) / sum(sizes)
        hits, widths = dict.fromkeys(INTERVALS, 0), dict.fromkeys(INTERVALS, 0.0)
        for _ in range(TRIALS):
            strata = drawn(random, sizes, truth, judged)
            for kind, interval in INTERVALS.items():
                low, high = interval(strata)
                hits[kind] += low <= share <= high
                widths[kind] += high - low
        row = "  ".join(f"{kind} {hits[kind] / TRIALS:.3f} {widths[kind] / TRIALS:.3f}" for kind in INTERVALS)
        print(f"{name:24} precision {share:.3f}  {row}")


if __name__ == "__main__":
    main()
