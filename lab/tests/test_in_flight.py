"""How two crawls are compared, visit by visit."""

import pytest

from lab.bench.in_flight import least_ratio, ratio


@pytest.mark.parametrize(
    ("found", "others", "least"),
    [
        ([1, 2, 3, 4, 4, 6], [0, 1, 4, 5, 5, 5], 0.8),
        ([0, 0, 9], [4, 4, 4], None),  # too few to compare
        ([6], [3, 5, 6, 8], 0.75),  # it had ended
        ([3, 6, 9, 12], [5], 0.6),  # the others had
        ([], [5], 0.0),
        ([5], [], None),
    ],
)
def test_the_least_ratio_is_that_of_the_worst_point_at_which_enough_was_found(
    found: list[int], others: list[int], least: float | None
):
    assert least_ratio(found, others) == least


def test_a_ratio_is_that_of_the_means():
    assert ratio([1, 3], [4, 4]) == "0.500"
    assert ratio([1], [0]) == "-"
