"""Rates of groups in a tree: what the young ones take from those above, and what counting does. And when a site is left."""

import numpy as np
import pytest

from bitrawl.model import Language
from bitrawl.reasons import FewPairs, LeaveReason
from bitrawl.strategies.adaptive.rates import OldestTurns, Rates, Stopping
from bitrawl.url import Url

PRIOR = 0.3


def counted(*visits: tuple[str, float]) -> Rates:
    """Each visit of a path, written with slashes, and what it gained."""
    rates = Rates(PRIOR)
    for path, gain in visits:
        rates.count(rates.group(path.split("/")), 1.0, gain)
    return rates


def rate(rates: Rates, path: str) -> float:
    return rates.rate(rates.group(path.split("/")))


def test_a_group_that_was_never_visited_has_its_parents_rate():
    rates = counted(*[("a/x", 1.0)] * 10)
    assert rate(counted(), "a/b/c") == pytest.approx(PRIOR)
    assert rate(rates, "a/new") == pytest.approx(rate(rates, "a"))
    assert rate(rates, "b") == pytest.approx(PRIOR)


def test_a_path_names_one_group_whoever_asks():
    rates = Rates(PRIOR)
    assert rates.group(("a", "b")) == rates.group(["a", "b"])
    assert len({rates.group(path) for path in (("a",), ("a", "b"), ("b",), ("b", "a"), ("a", "b", "c"))}) == 5


@pytest.mark.parametrize(("gain", "sign"), [(1.0, 1), (0.0, -1)])
def test_each_visit_moves_the_rate_towards_what_it_brought(gain: float, sign: int):
    told = [rate(counted(*[("a", gain)] * visits), "a") for visits in range(30)]
    assert told == sorted(told, reverse=sign < 0)
    assert told[-1] == pytest.approx(gain, abs=0.1)


def test_many_visits_of_a_group_outweigh_its_parents_rate():
    rates = counted(*[("a/good", 1.0), *[("a/bad", 0.0)] * 20] * 20)
    assert rate(rates, "a/good") > 0.8
    assert rate(rates, "a/new") < 0.2


def test_a_counted_gain_can_be_corrected():
    rates = counted(("a/x", 0.5), ("a/y", 1.0))
    rates.count(rates.group(["a", "x"]), 0.0, -0.5)
    plain = counted(("a/x", 0.0), ("a/y", 1.0))
    assert [rate(rates, path) for path in ("a", "a/x", "a/y")] == [rate(plain, path) for path in ("a", "a/x", "a/y")]


def test_the_rate_of_one_and_the_rates_of_all_are_the_same():
    rates = counted(("a/x", 1.0), ("b", 0.0), ("a/x/1", 0.5), ("a/y/1", 0.0), ("c/d/e/f", 1.0), ("a", 1.0))
    numbers = np.arange(rates.group(("c", "d", "e", "f")) + 1)
    told = rates.rates(numbers).tolist()
    assert told == pytest.approx([rates.rate(number) for number in numbers.tolist()], rel=1e-5)
    assert all(0 < one < 1 for one in told)


def test_rates_have_the_shape_of_the_groups():
    rates = counted(("a/x", 1.0), ("b", 0.0), ("a/y/1", 0.5))
    numbers = np.array([[rates.group(["a", "x"]), rates.group(["b"])], [rates.group(["a", "y", "1"])] * 2])
    told = rates.rates(numbers)
    assert told.shape == numbers.shape
    assert told.ravel().tolist() == pytest.approx([rates.rate(number) for number in numbers.ravel()], rel=1e-5)
    assert rates.rates(np.zeros((0, 5), np.int64)).shape == (0, 5)


def test_groups_are_added_and_counted_after_they_were_asked_for():
    rates = counted(("a", 1.0))
    before = rates.rates(np.array([rates.group(["a"])]))
    rates.count(rates.group(["a", "later"]), 1.0, 0.0)
    assert rate(rates, "a") < before[0]


def test_a_group_is_new_until_it_is_visited_and_less_so_where_its_siblings_gained_nothing():
    rates = counted(("a/x", 0.0), ("a/y", 0.0), ("b/x", 1.0), ("b/y", 0.0))
    groups = np.array([rates.group(path.split("/")) for path in ("a/x", "a/new", "b/new", "c/new")])
    assert rates.novelty(groups).tolist() == pytest.approx([0.0, 1 / 3, 2 / 3, 1.0])


def test_a_gain_that_is_taken_back_no_longer_speaks_for_the_siblings():
    rates = counted(("a/x", 0.5))
    rates.count(rates.group(["a", "x"]), 0.0, -0.5)
    assert rates.novelty(np.array([rates.group(["a", "new"])])).tolist() == pytest.approx([1 / 2])


def test_a_host_that_gained_nothing_is_less_worth_a_look_with_each_visit_whatever_its_new_directories_are():
    rates = counted(*[("marks/fr/poor/a", 0.0)] * 3, ("marks/fr/rich/a", 0.0), ("marks/fr/rich", 1.0))
    asked = ("marks/fr/poor/new/new", "marks/fr/rich/new/new", "marks/fr/unknown/new", "marks/fr/unknown")
    groups = np.array([rates.group(path.split("/")) for path in asked])
    assert rates.novelty(groups).tolist() == pytest.approx([1 / 4, 1.0, 1.0, 2 / 3])


def reason(*, pairs: int, since: int, queued: int, score: float = 0.0) -> LeaveReason:
    """Of a site whose every third fetch completed a pair, until the last fetches, which completed none."""
    stopping = Stopping()
    for fetch in range(3 * pairs + since):
        stopping.fetched()
        stopping.arrived(int(fetch < 3 * pairs and fetch % 3 == 0))
    stopping.saw([Language("en"), Language("ko")])
    return stopping.reason(pairs, queued, lambda most: np.full(min(most, queued), score, np.float32))


def test_a_site_is_left_when_what_is_queued_promises_nothing():
    assert reason(pairs=50, since=80, queued=1000) == FewPairs(50, 230, 80, 0, 1000, 20, 0.0)


@pytest.mark.parametrize(
    ("pairs", "since", "queued"),
    [(112, 264, 50), (112, 264, 299), (13, 81, 170), (40, 77, 1000), (300, 400, 5000)],
    ids=["little is queued", "a third is queued", "a small site", "a recent pair", "a pair in the last third"],
)
def test_a_site_is_not_left_when(pairs: int, since: int, queued: int):
    assert reason(pairs=pairs, since=since, queued=queued) == ""


def test_a_visit_of_a_site_that_brought_much_is_worth_it_for_less_than_of_one_that_brought_nothing():
    assert reason(pairs=100, since=200, queued=1000, score=0.01) == ""
    assert reason(pairs=0, since=500, queued=1000, score=0.01) != ""
    assert reason(pairs=0, since=500, queued=1000, score=0.03) == ""


LINKS = [Url.parse(f"http://a.org/{n}") for n in range(400)]


def turns_of(own: float, oldest: float, promised: float) -> str:
    """400 visits: o for those of oldest links."""
    turns, visits = OldestTurns(), ""
    for link in LINKS:
        turn = turns.next(lambda link=link: link)
        visits += "o" if turn else "."
        turns.visited(link, oldest if turn else own, promised)
    return visits


def test_a_strategy_that_keeps_what_it_promises_gives_no_turns():
    assert turns_of(own=0.6, oldest=0.9, promised=0.8).count("o") == 0


def test_a_strategy_that_brings_nothing_where_old_links_do_becomes_breadth_first():
    assert turns_of(own=0.05, oldest=0.5, promised=0.8).count("o") > 350


def test_oldest_links_that_bring_no_more_cost_a_logarithm_of_the_visits():
    assert turns_of(own=0.2, oldest=0.1, promised=0.8).count("o") <= 7


def test_a_turn_that_never_comes_is_given_up():
    turns = OldestTurns()
    for link in LINKS[:16]:
        turns.visited(link, 0.0, 0.8)
    waiting = LINKS[399]
    for link in LINKS[16:80]:
        if not turns.next(lambda: waiting):
            break
        turns.visited(link, 0.0, 0.8)
    else:
        pytest.fail("it waits for ever")
