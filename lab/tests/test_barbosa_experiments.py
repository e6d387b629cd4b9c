"""What lab/bench/papers/barbosa.py makes of searches and verdicts. It needs no frozen web."""

import pytest

from bitrawl.discover.settings import Walk
from bitrawl.discover.walk import WalkMoment
from bitrawl.model import Language
from bitrawl.papers.discovery import WalkTrial
from bitrawl.url import Url
from lab.bench.__main__ import main, names
from lab.bench.detector import Judged, Site
from lab.bench.papers.barbosa import NEAR, STEP, ahead, curve, detection, row


def walk(*found_after: int) -> WalkTrial:
    """A site found after each of these downloads."""
    moments = tuple(WalkMoment(downloads, sites) for sites, downloads in enumerate(found_after, 1))
    return WalkTrial(Walk.OBFC, moments, 500, (), 0)


def test_a_curve_is_the_mean_of_the_sets_of_seeds_and_its_spread_one_deviation():
    drawn = curve("obfc", [walk(10, 20, 30), walk(10)])
    assert drawn.points[:3] == ((0, 0), (STEP, 1.5), (2 * STEP, 2))
    assert drawn.spread[2] == pytest.approx((2 * STEP, 2 - 2**0.5, 2 + 2**0.5))


def test_a_spread_does_not_reach_below_no_sites():
    low = [lowest for _, lowest, _ in curve("fc", [walk(10, 11, 12), walk(), walk()]).spread]
    assert low == [0] * len(low)


def test_a_strategy_is_ahead_in_the_sets_of_seeds_in_which_it_has_more_sites():
    assert ahead([walk(1, 2), walk(1), walk(1, 2, 3)], [walk(1), walk(1), walk(1)], 100) == "2.00, 2 of 3"


def site(verdict: str, distance: str = "") -> Site:
    return Site("a.example", Url.parse("https://a.example/"), (Language("en"), Language("fr")), verdict, distance)


def judged(verdict: str, said: str, downloads: int = 0, distance: str = NEAR) -> list[Judged]:
    """A site for each letter: y if it was called bilingual."""
    place = site(verdict, distance if verdict != "no" else "")
    return [Judged(place, letter == "y", downloads) for letter in said]


def test_more_sites_that_are_not_bilingual_change_neither_precision_nor_downloads():
    few = detection(judged("yes", "yyyn", 3) + judged("no", "ynnn", 1))
    many = detection(judged("yes", "yyyn", 3) + judged("no", "ynnn" * 10, 1))
    assert few == many
    assert few == pytest.approx((0.75, 0.75, 0.75, 2.0))


def test_a_thin_site_is_bilingual_by_the_rule_of_the_paper():
    assert detection(judged("thin", "yn") + judged("no", "n")).recall == pytest.approx(0.5)


def test_a_detector_that_calls_no_site_bilingual_has_figures_too():
    assert detection(judged("yes", "nn") + judged("no", "nn"))[:3] == (0, 0, 0)


def test_sites_that_no_link_leads_to_count_in_the_last_columns_only():
    cells = row("0.4", None, judged("yes", "y") + judged("yes", "n", distance="unlinked") + judged("no", "n")).split()
    assert [cells[2], cells[5]] == ["1.00", "0.50"]


def test_the_experiments_of_a_paper_are_a_benchmark_of_that_name():
    assert {"papers.barbosa", "papers.papavassiliou", "pairs"} <= set(names())
    assert "papers" not in names()


@pytest.mark.parametrize("arguments", [["papers", "pairs"], ["barbosa"]])
def test_a_paper_is_named_after_papers_and_nothing_else_is(arguments: list[str]):
    with pytest.raises(SystemExit, match="no such benchmark"):
        main(arguments)
