"""Rates of groups in a tree: what the young ones take from those above, and what counting does."""

import numpy as np
import pytest

from bitrawl.strategies.adaptive.rates import Yields

PRIOR = 0.3


def counted(*visits: tuple[str, float]) -> Yields:
    """Each visit of a path, written with slashes, and what it gained."""
    yields = Yields(PRIOR)
    for path, gain in visits:
        yields.count(yields.group(path.split("/")), 1.0, gain)
    return yields


def rate(yields: Yields, path: str) -> float:
    return yields.rate(yields.group(path.split("/")))


def test_a_group_that_was_never_visited_has_its_parents_rate():
    yields = counted(*[("a/x", 1.0)] * 10)
    assert rate(counted(), "a/b/c") == pytest.approx(PRIOR)
    assert rate(yields, "a/new") == pytest.approx(rate(yields, "a"))
    assert rate(yields, "b") == pytest.approx(PRIOR)


def test_a_path_names_one_group_whoever_asks():
    yields = Yields(PRIOR)
    assert yields.group(("a", "b")) == yields.group(["a", "b"])
    assert len({yields.group(path) for path in (("a",), ("a", "b"), ("b",), ("b", "a"), ("a", "b", "c"))}) == 5


@pytest.mark.parametrize(("gain", "sign"), [(1.0, 1), (0.0, -1)])
def test_each_visit_moves_the_rate_towards_what_it_brought(gain: float, sign: int):
    rates = [rate(counted(*[("a", gain)] * visits), "a") for visits in range(30)]
    assert rates == sorted(rates, reverse=sign < 0)
    assert rates[-1] == pytest.approx(gain, abs=0.1)


def test_many_visits_of_its_own_outweigh_what_a_group_takes_from_above():
    yields = counted(*[("a/good", 1.0), *[("a/bad", 0.0)] * 20] * 20)
    assert rate(yields, "a/good") > 0.8
    assert rate(yields, "a/new") < 0.2


def test_what_was_believed_can_be_taken_back():
    yields = counted(("a/x", 0.5), ("a/y", 1.0))
    yields.count(yields.group(["a", "x"]), 0.0, -0.5)
    plain = counted(("a/x", 0.0), ("a/y", 1.0))
    assert [rate(yields, path) for path in ("a", "a/x", "a/y")] == [rate(plain, path) for path in ("a", "a/x", "a/y")]


def test_the_rate_of_one_and_the_rates_of_all_are_the_same():
    yields = counted(("a/x", 1.0), ("b", 0.0), ("a/x/1", 0.5), ("a/y/1", 0.0), ("c/d/e/f", 1.0), ("a", 1.0))
    rates = yields.rates()
    numbers = range(len(rates))
    assert rates.tolist() == pytest.approx([yields.rate(number) for number in numbers], rel=1e-5)
    assert all(0 < one < 1 for one in rates.tolist())


def test_rates_are_told_in_the_shape_in_which_they_are_asked_for():
    yields = counted(("a/x", 1.0), ("b", 0.0), ("a/y/1", 0.5))
    numbers = np.array([[yields.group(["a", "x"]), yields.group(["b"])], [yields.group(["a", "y", "1"])] * 2])
    told = yields.rates_of(numbers)
    assert told.shape == numbers.shape
    assert told.ravel().tolist() == pytest.approx([yields.rate(number) for number in numbers.ravel()], rel=1e-5)
    assert yields.rates_of(np.zeros((0, 5), np.int64)).shape == (0, 5)


def test_groups_are_added_and_counted_after_they_were_asked_for():
    yields = counted(("a", 1.0))
    kept = yields.rates()
    yields.count(yields.group(["a", "later"]), 1.0, 0.0)
    assert rate(yields, "a") < kept[yields.group(["a"])]
