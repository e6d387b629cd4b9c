"""Intervals and kappa, against values that were published."""

from random import Random

import pytest

from bitrawl.model import Verdict
from bitrawl.review.statistics import Stratum, agreement, estimate, wilson

ACCEPT, REJECT = Verdict.ACCEPT, Verdict.REJECT


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilsons_interval_is_that_of_newcombe_1998(successes: int, n: int, low: float, high: float):
    assert wilson(successes / n, n) == pytest.approx((low, high), abs=0.00005)
    one = estimate([Stratum(1000, n, successes)])
    assert one is not None
    assert (one.low, one.high) == pytest.approx((low, high), abs=0.00005)
    assert one.judged == n


def said(both: int, first: int, second: int, neither: int) -> list[tuple[Verdict, Verdict]]:
    """How often both accept, only the first, only the second, neither."""
    kinds = [(ACCEPT, ACCEPT), (ACCEPT, REJECT), (REJECT, ACCEPT), (REJECT, REJECT)]
    return [kind for kind, times in zip(kinds, (both, first, second, neither), strict=True) for _ in range(times)]


@pytest.mark.parametrize(
    ("counts", "share", "kappa"),
    [
        ((20, 5, 10, 15), 0.70, 0.4),
        ((45, 15, 25, 15), 0.60, 0.1304),
        ((25, 35, 5, 35), 0.60, 0.2593),
        ((40, 9, 6, 45), 0.85, 0.70),  # Feinstein and Cicchetti 1990: balanced
        ((80, 10, 5, 5), 0.85, 0.32),  # and the paradox: the same agreement
    ],
)
def test_kappa_is_that_of_published_examples(counts: tuple[int, int, int, int], share: float, kappa: float):
    both = agreement("anna", "ben", said(*counts))
    assert both.share == share
    assert both.kappa == pytest.approx(kappa, abs=0.005)


def test_kappa_is_not_given_where_chance_explains_everything():
    both = agreement("anna", "ben", said(60, 0, 0, 0))
    assert (both.share, both.kappa, both.is_one_sided, both.is_few) == (1.0, None, True, False)
    nobody = agreement("anna", "ben", [])
    assert (nobody.share, nobody.kappa, nobody.is_few, nobody.is_one_sided) == (0.0, None, True, False)


def test_few_units_and_one_sided_verdicts_are_marked():
    assert agreement("anna", "ben", said(20, 2, 2, 20)).is_few
    assert not agreement("anna", "ben", said(30, 5, 5, 30)).is_few
    assert agreement("anna", "ben", said(95, 2, 3, 0)).is_one_sided
    assert not agreement("anna", "ben", said(40, 9, 6, 45)).is_one_sided


def test_strata_count_by_their_size_not_by_what_was_judged():
    both = estimate([Stratum(900, 50, 50), Stratum(100, 50, 25)])
    assert both is not None
    assert both.share == pytest.approx(0.95)
    assert both.low < 0.95 < both.high < 1


def test_a_stratum_that_nobody_judged_counts_with_the_next():
    assert estimate([Stratum(10, 0, 0), Stratum(90, 20, 10), Stratum(50, 0, 0)]) == estimate([Stratum(150, 20, 10)])
    assert estimate([Stratum(10, 0, 0)]) is None
    assert estimate([]) is None


@pytest.mark.parametrize(
    ("sizes", "truth", "judged"),
    [
        ([5, 5, 10, 20, 60], [0.4, 0.6, 0.8, 0.95, 0.99], 20),
        ([50, 20, 10, 10, 10], [0.6, 0.8, 0.9, 0.95, 0.99], 20),
        ([5, 5, 10, 20, 60], [0.9, 0.95, 0.98, 0.99, 0.995], 10),
    ],
)
def test_the_interval_of_several_strata_holds_the_truth_often_enough(sizes: list[int], truth: list[float], judged: int):
    random, trials, hits = Random(1), 600, 0
    share = sum(size * chance for size, chance in zip(sizes, truth, strict=True)) / sum(sizes)
    for _ in range(trials):
        strata = [
            Stratum(size, judged, sum(random.random() < chance for _ in range(judged)))
            for size, chance in zip(sizes, truth, strict=True)
        ]
        found = estimate(strata)
        assert found is not None
        hits += found.low <= share <= found.high
    assert hits / trials > 0.93  # 95 % are promised; 600 trials tell 1 % from it
