"""Weights learned from traces of replays: what they separate, and that every site counts the same."""

import numpy as np
import pytest
from table_site import Walk, page, site, url

from bitrawl.model import Language
from bitrawl.strategies import Adaptive, column_weights
from bitrawl.strategies.adaptive.link_table import LinkColumn
from lab.train.adaptive import Recorded, Trace, fit, named


def trace(links: int, telling: LinkColumn, *, seed: int, sign: int = 1, noise: float = 0.1) -> Trace:
    """Links of which one column tells what they led to, mostly; the others are chance."""
    chance = np.random.default_rng(seed)
    known = chance.random((links, len(LinkColumn))).round()
    known[:, LinkColumn.BIAS] = 1.0
    paired = known[:, telling] if sign > 0 else 1 - known[:, telling]
    return known, np.where(chance.random(links) < noise, 1 - paired, paired)


def test_a_predictive_column_gets_the_weight():
    weights = fit([[trace(400, LinkColumn.PARTNER_VISITED, seed=1)], [trace(400, LinkColumn.PARTNER_VISITED, seed=2)]])
    others = np.delete(weights, [LinkColumn.BIAS, LinkColumn.PARTNER_VISITED])
    assert weights[LinkColumn.PARTNER_VISITED] > 2
    assert np.abs(others).max() < 0.5


def test_a_column_that_predicts_no_pair_gets_a_negative_weight():
    assert fit([[trace(400, LinkColumn.TWIN_VISITED, seed=1, sign=-1)]])[LinkColumn.TWIN_VISITED] < -2


def test_a_large_site_counts_as_much_as_a_small_one():
    large, small = trace(4000, LinkColumn.LISTED, seed=1), trace(200, LinkColumn.DEPTH, seed=2)
    weights = fit([[large], [small]])
    assert weights[LinkColumn.DEPTH] == pytest.approx(weights[LinkColumn.LISTED], rel=0.3)


def test_replaying_a_site_more_often_does_not_make_it_count_more():
    one, another = trace(300, LinkColumn.LISTED, seed=1), trace(300, LinkColumn.DEPTH, seed=2)
    assert fit([[one, one, one], [another]]) == pytest.approx(fit([[one], [another]]), abs=0.02)


def test_a_constant_column_and_constant_labels_can_be_fitted():
    known, _ = trace(100, LinkColumn.LISTED, seed=1)
    known[:, LinkColumn.SILENT] = 0.0
    for label in (0.0, 1.0):
        weights = fit([[(known, np.full(100, label))]])
        assert np.isfinite(weights).all()
        assert weights[LinkColumn.SILENT] == pytest.approx(0.0, abs=1e-6)
        assert (weights[LinkColumn.BIAS] > 0) == bool(label)


def test_the_weights_are_written_by_name_and_read_back():
    weights = fit([[trace(300, LinkColumn.BY_PLACE, seed=1)]])
    assert column_weights(named(weights)) == pytest.approx(weights, abs=1e-4)
    assert set(named(weights)) == {column.name.lower() for column in LinkColumn}


async def test_what_was_known_of_each_link_when_it_was_visited_is_recorded():
    pages = site(page("/en/", "en", "/en/a /fr/a /gone"), page("/en/a", "en"), page("/fr/a", "fr"))
    recorded, plain = (Adaptive([Language("en"), Language("fr")]) for _ in range(2))
    watched = Recorded(recorded)
    asked = await Walk(watched, pages, ["/en/"]).run()
    assert asked == await Walk(plain, pages, ["/en/"]).run()
    assert [one for one, _ in watched.known] == [url(name) for name in asked]
    known = dict(watched.known)
    first, second = sorted(known[url(name)][LinkColumn.PARTNER_VISITED] for name in ("/en/a", "/fr/a"))
    assert (first, second) == (0.0, 1.0)
