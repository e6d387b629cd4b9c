import itertools

import numpy as np
import pytest

from bitrawl.align.dynamic import DELETION, INSERTION, LEAP, Band, best_chain, posteriors

SHAPES = ((1, 1), DELETION, INSERTION, (1, 2), (2, 1))


def whole(size_a, size_b):
    return Band.around(np.linspace(0, size_b, size_a + 1), size_b, size_b + 1)


def random_gains(band, seed=7):
    random = np.random.default_rng(seed)
    return {shape: random.normal(size=(len(band.low), band.width)) for shape in SHAPES}


def every_chain(i, j):
    """All ways to cut i and j sentences into beads: (shape, node) each."""
    if i == j == 0:
        yield ()
    for ka, kb in SHAPES:
        if ka <= i and kb <= j:
            for before in every_chain(i - ka, j - kb):
                yield (*before, ((ka, kb), i, j))


def total(gains, chain):
    return sum(gains[shape][i, j] for shape, i, j in chain)


def test_probabilities_are_those_of_counting_all_chains():
    band = whole(3, 4)
    gains = random_gains(band)
    chains = list(every_chain(3, 4))
    weights = np.exp([total(gains, chain) for chain in chains])
    found = posteriors(band, gains)
    for shape, i, j in itertools.product(SHAPES, range(4), range(5)):
        with_it = sum(w for w, chain in zip(weights, chains, strict=True) if (shape, i, j) in chain)
        assert found[shape][i, j] == pytest.approx(with_it / weights.sum(), abs=1e-9)


@pytest.mark.parametrize("cost", [0.0, 0.3])
def test_the_best_chain_is_the_best_of_all(cost):
    band = whole(3, 4)
    values = posteriors(band, random_gains(band))
    best = max(every_chain(3, 4), key=lambda chain: total(values, chain) - cost * len(chain))
    assert [step[:3] for step in best_chain(band, values, cost)] == list(best)


def test_a_narrow_band_gives_what_a_whole_one_gives_where_the_path_is_inside():
    size = 60
    wide, narrow = whole(size, size), Band.around(np.arange(size + 1.0), size, 15)
    found = []
    for band in (wide, narrow):
        near = np.abs(band.columns() - np.arange(size + 1)[:, None])
        gains = {shape: -2.0 * near - (0.0 if shape == (1, 1) else 6.0) for shape in SHAPES}
        found.append([(step.shape, step.i, step.j) for step in best_chain(band, posteriors(band, gains))])
    assert found[0] == found[1] == [((1, 1), i, i) for i in range(1, size + 1)]


@pytest.mark.parametrize(("size_a", "size_b", "width"), [(5, 90, 10), (90, 5, 4), (1, 1, 1), (40, 40, 9), (30, 61, 7)])
def test_a_band_begins_and_ends_in_the_corners_and_is_connected(size_a, size_b, width):
    band = Band.around(np.linspace(0, size_b, size_a + 1), size_b, width)
    assert band.low[0] == 0
    assert band.low[-1] + band.width == size_b + 1
    assert (np.diff(band.low) >= 0).all()
    assert (np.diff(band.low) < band.width).all()


@pytest.mark.parametrize(("size_a", "size_b", "width"), [(5, 90, 10), (90, 5, 4), (40, 40, 9), (30, 61, 7)])
def test_a_transposed_band_has_every_node(size_a, size_b, width):
    band = Band.around(np.linspace(0, size_b, size_a + 1), size_b, width)
    other = band.transposed()
    nodes = {(i, int(j)) for i, row in enumerate(band.columns()) for j in row}
    exchanged = {(int(i), j) for j, row in enumerate(other.columns()) for i in row}
    assert nodes <= exchanged
    assert max(i for i, _ in exchanged) == size_a


def test_a_band_stays_narrow_however_long_a_gap_is():
    path = np.concatenate([np.arange(1000.0), np.arange(1000.0) + 9000])
    band = Band.around(path, 10_000, 64)
    assert band.width <= 64 + LEAP
    assert (np.diff(band.low) < band.width).all()
    inside = (path >= band.low) & (path < band.low + band.width)
    assert inside.sum() > len(path) - 2 * 8000 / LEAP
