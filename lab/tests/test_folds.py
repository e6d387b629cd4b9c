"""Cross-validation by site."""

import pytest

from lab.train.folds import fold_of, permuted, shuffled, splits, without

SITES = [f"site{number % 13}.test" for number in range(60)]


@pytest.mark.parametrize("shuffle", [shuffled, permuted])
def test_no_site_is_learned_from_and_measured_on(shuffle):
    measured = []
    for learn, measure in splits(SITES, 4, shuffle):
        assert not {SITES[place] for place in learn} & {SITES[place] for place in measure}
        assert sorted(learn + measure) == list(range(len(SITES)))
        measured += measure
    assert sorted(measured) == list(range(len(SITES)))


@pytest.mark.parametrize("shuffle", [shuffled, permuted])
def test_folds_depend_on_nothing_but_the_names(shuffle):
    assert fold_of(SITES, 4, shuffle) == fold_of(reversed(SITES), 4, shuffle)
    sizes = [list(fold_of(SITES, 4, shuffle).values()).count(fold) for fold in range(4)]
    assert max(sizes) - min(sizes) <= 1


def test_one_site_is_left_out():
    assert without("b", {"a": 1, "b": 2, "c": 3}) == [1, 3]
