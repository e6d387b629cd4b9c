import itertools

import numpy as np
import pytest

from bitrawl.mining.beads import DELETION, INSERTION, LEAP, Lattices, best_chains, posteriors

SHAPES = ((1, 1), DELETION, INSERTION, (1, 2), (2, 1))


SIZES_A, SIZES_B = np.array([3, 2, 4]), np.array([4, 4, 1])


def random_gains(lattices, seed=7):
    random = np.random.default_rng(seed)
    return {shape: random.normal(size=lattices.shape) for shape in SHAPES}


def every_chain(i, j):
    """All ways to cut i and j sentences into beads: (shape, node) each."""
    if i == j == 0:
        yield ()
    for ka, kb in SHAPES:
        if ka <= i and kb <= j:
            for before in every_chain(i - ka, j - kb):
                yield (*before, ((ka, kb), i, j))


def total(gains, chain, number):
    return sum(gains[shape][i, number, j] for shape, i, j in chain)


def chain_of(chains, number):
    columns = (column[chains.lattice == number].tolist() for column in (chains.ka, chains.kb, chains.i, chains.j))
    return [((ka, kb), i, j) for ka, kb, i, j in zip(*columns, strict=True)]


def test_probabilities_are_those_of_counting_all_chains():
    lattices = Lattices.whole(SIZES_A, SIZES_B)
    gains = random_gains(lattices)
    found = posteriors(lattices, gains)
    for number, (size_a, size_b) in enumerate(zip(SIZES_A, SIZES_B, strict=True)):
        chains = list(every_chain(size_a, size_b))
        weights = np.exp([total(gains, chain, number) for chain in chains])
        for shape, i, j in itertools.product(SHAPES, range(size_a + 1), range(size_b + 1)):
            with_it = sum(w for w, chain in zip(weights, chains, strict=True) if (shape, i, j) in chain)
            assert found.beads[shape][i, number, j] == pytest.approx(with_it / weights.sum(), abs=1e-9)


def test_every_chain_passes_the_beginning_and_the_end():
    lattices = Lattices.whole(SIZES_A, SIZES_B)
    nodes = posteriors(lattices, random_gains(lattices)).nodes
    each = np.arange(len(SIZES_A))
    assert nodes[0, each, 0] == pytest.approx(1.0)
    assert nodes[SIZES_A, each, SIZES_B] == pytest.approx(1.0)
    assert nodes.max() < 1.0 + 1e-9


@pytest.mark.parametrize("cost", [0.0, 0.3])
def test_the_best_chain_is_the_best_of_all(cost):
    lattices = Lattices.whole(SIZES_A, SIZES_B)
    values = posteriors(lattices, random_gains(lattices)).beads
    chains = best_chains(lattices, values, cost)
    for number, (size_a, size_b) in enumerate(zip(SIZES_A, SIZES_B, strict=True)):
        every = every_chain(size_a, size_b)
        best = max(every, key=lambda chain: total(values, chain, number) - cost * len(chain))
        assert chain_of(chains, number) == list(best)


def test_what_a_lattice_gives_does_not_depend_on_those_beside_it():
    together = Lattices.whole(SIZES_A, SIZES_B)
    gains = random_gains(together)
    beside = posteriors(together, gains)
    for number, (size_a, size_b) in enumerate(zip(SIZES_A, SIZES_B, strict=True)):
        alone = Lattices.whole(SIZES_A[[number]], SIZES_B[[number]])
        own = {shape: gain[: size_a + 1, [number], : size_b + 1] for shape, gain in gains.items()}
        found = posteriors(alone, own)
        assert (found.nodes[:, 0] == beside.nodes[: size_a + 1, number, : size_b + 1]).all()


@pytest.mark.parametrize("much", [1.0, 60.0, 5000.0])
def test_a_chain_that_is_much_worse_than_another_at_first_may_still_be_the_best(much):
    """A moved section: what is gained by following it is less than what is lost in the end."""
    size = 40
    lattices = Lattices.whole(np.array([2 * size]), np.array([2 * size]))
    gains = {shape: np.full(lattices.shape, -3.0) for shape in SHAPES}
    at = np.arange(1, size + 1)
    gains[1, 1][at, 0, at + size] = much
    gains[1, 1][at + size, 0, at] = 1.1 * much
    found = posteriors(lattices, gains)
    assert all(np.isfinite(table).all() for table in found.beads.values())
    assert found.nodes[0, 0, 0] == pytest.approx(1.0, abs=1e-6) or much > 1000
    chain = chain_of(best_chains(lattices, found.beads), 0)
    assert sum(shape[0] for shape, _, _ in chain) == sum(shape[1] for shape, _, _ in chain) == 2 * size


def test_sections_in_another_order_do_not_overflow():
    size, chunk = 600, 50
    lattices = Lattices.whole(np.array([size]), np.array([size]))
    gains = {shape: np.full(lattices.shape, -20.0 if all(shape) else -3.5) for shape in SHAPES}
    at = np.arange(1, chunk + 1)
    for number, place in enumerate(np.random.default_rng(0).permutation(size // chunk).tolist()):
        gains[1, 1][at + number * chunk, 0, at + place * chunk] = 20.0
    with np.errstate(over="raise", invalid="raise"):
        found = posteriors(lattices, gains)
    assert all(np.isfinite(table).all() for table in found.beads.values())


def test_a_long_lattice_of_equal_beads_does_not_overflow():
    lattices = Lattices.whole(np.array([3000]), np.array([40]))
    found = posteriors(lattices, {shape: np.full((1, 1, 1), -1.0) for shape in SHAPES})
    assert np.isfinite(found.nodes).all()
    assert found.nodes[0, 0, 0] == pytest.approx(1.0)


def test_a_narrow_band_gives_what_a_whole_one_gives_where_the_path_is_inside():
    size = 60
    path = np.arange(size + 1.0)
    found = []
    for band in (Lattices.around(path, size, size + 1), Lattices.around(path, size, 15)):
        near = np.abs(band.columns() - np.arange(size + 1)[:, None])[:, None, :]
        gains = {shape: -2.0 * near - (0.0 if shape == (1, 1) else 6.0) for shape in SHAPES}
        found.append(chain_of(best_chains(band, posteriors(band, gains).beads), 0))
    assert found[0] == found[1] == [((1, 1), i, i) for i in range(1, size + 1)]


@pytest.mark.parametrize(("size_a", "size_b", "width"), [(5, 90, 10), (90, 5, 4), (1, 1, 1), (40, 40, 9), (30, 61, 7)])
def test_a_band_begins_and_ends_in_the_corners_and_is_connected(size_a, size_b, width):
    band = Lattices.around(np.linspace(0, size_b, size_a + 1), size_b, width)
    assert band.low[0] == 0
    assert band.low[-1] + band.width == size_b + 1
    assert (np.diff(band.low) >= 0).all()
    assert (np.diff(band.low) < band.width).all()


def test_a_band_stays_narrow_however_long_a_gap_is():
    path = np.concatenate([np.arange(1000.0), np.arange(1000.0) + 9000])
    band = Lattices.around(path, 10_000, 64)
    assert band.width <= 64 + LEAP
    assert (np.diff(band.low) < band.width).all()
    inside = (path >= band.low) & (path < band.low + band.width)
    assert inside.sum() > len(path) - 2 * 8000 / LEAP
