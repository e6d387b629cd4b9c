"""What every queue promises, and the frontier on top of it: memory and SQLite alike."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bitrawl.crawling import Budget, Frontier, HostRules, Politeness, Sites, Spending
from bitrawl.crawling.frontier import InFlight, Spent
from bitrawl.endings import Failing
from bitrawl.model import Lease, Link, LinkKind, Skip
from bitrawl.papers.trial import MemoryQueue
from bitrawl.protocols import Queue
from bitrawl.reasons import Reason, Stage
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_queue import LedgerQueue
from bitrawl.testing import FakeClock
from bitrawl.url import Url


def link(address: str) -> Link:
    return Link(Url.parse(f"http://{address}"), LinkKind.PAGE)


TIMEOUT = Skip(Url.parse("http://dead.org/"), Stage.FETCH, Reason.TIMEOUT, "no complete answer in time")
UNKNOWN_HOST = Skip(Url.parse("http://dead.org/"), Stage.FETCH, Reason.DNS)

MakeQueue = Callable[[], Queue]


@pytest.fixture(params=["memory", "sqlite"])
def make_queue(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeQueue]:
    ledgers: list[Ledger] = []

    def make() -> Queue:
        sites = Sites()
        if request.param == "memory":
            return MemoryQueue()
        ledgers.append(Ledger(tmp_path / f"{len(ledgers)}.sqlite"))
        return LedgerQueue(ledgers[-1], sites.of)

    yield make
    for ledger in ledgers:
        ledger.close()


@pytest.fixture
def make_frontier(make_queue: MakeQueue) -> Callable[..., Frontier]:
    def make(**settings: object) -> Frontier:
        def taken(names: Iterable[str]) -> dict[str, object]:
            return {name: settings.pop(name) for name in names if name in settings}

        spending = Spending(**taken(("budget", "downloads", "job", "sites")))  # type: ignore[arg-type]
        rules = HostRules(**taken(HostRules.__struct_fields__))  # type: ignore[arg-type]
        return Frontier(make_queue(), FakeClock(), Sites().of, spending=spending, rules=rules, **settings)  # type: ignore[arg-type]

    return make


async def drain(frontier: Frontier, took: float = 0.0) -> list[tuple[str, float]]:
    """Visits everything, one after the other: the URLs and the times at which they were handed out."""
    visited = []
    while (lease := await frontier.take()) is not None:
        visited.append((str(lease.link.url), frontier.clock.now() - 1_000_000.0))
        frontier.fetched(lease, took=took)
        frontier.finish(lease, pages=1)
    return visited


async def test_the_best_link_of_a_host_comes_first_and_equals_in_order_of_arrival(make_frontier):
    frontier = make_frontier()
    frontier.add([(link("a.org/1"), 0.2), (link("a.org/2"), 0.9), (link("a.org/3"), 0.2)])
    assert [url for url, _ in await drain(frontier)] == ["http://a.org/2", "http://a.org/1", "http://a.org/3"]


async def test_a_new_score_raises_a_known_link_and_never_lowers_it(make_frontier):
    frontier = make_frontier()
    frontier.add([(link("a.org/1"), 0.5), (link("a.org/2"), 0.6)])
    frontier.add([(link("a.org/1"), 0.9), (link("a.org/2"), 0.1)])
    assert [url for url, _ in await drain(frontier)] == ["http://a.org/1", "http://a.org/2"]


async def test_rescore_lowers_too_and_passes_over_what_is_not_queued(make_frontier):
    frontier = make_frontier()
    frontier.add([(link("a.org/1"), 0.9), (link("a.org/2"), 0.5), (link("b.org/1"), 0.9), (link("b.org/2"), 0.5)])
    frontier.rescore([(link("a.org/1").url, 0.1), (link("c.org/1").url, 0.7)])
    visited = [url for url, _ in await drain(frontier)]
    assert visited.index("http://a.org/2") < visited.index("http://a.org/1")
    assert visited.index("http://b.org/1") < visited.index("http://b.org/2")
    assert len(visited) == 4


async def test_what_was_lowered_can_be_raised_again(make_frontier):
    frontier = make_frontier()
    frontier.add([(link("a.org/1"), 0.9), (link("a.org/2"), 0.5)])
    frontier.rescore([(link("a.org/1").url, 0.1)])
    frontier.add([(link("a.org/1"), 0.3)])
    assert frontier.queue.best("a.org") == 0.5
    frontier.add([(link("a.org/1"), 0.7)])
    assert [url for url, _ in await drain(frontier)] == ["http://a.org/1", "http://a.org/2"]


async def test_a_site_that_is_left_keeps_its_links_and_gives_none_of_them(make_frontier):
    frontier = make_frontier()
    frontier.add([(link("a.org/1"), 0.9), (link("b.org/1"), 0.9)])
    frontier.leave("a.org", "nothing more is expected")
    assert [url for url, _ in await drain(frontier)] == ["http://b.org/1"]
    assert frontier.left == {"a.org": "nothing more is expected"}


async def test_what_was_visited_is_never_handed_out_again(make_frontier):
    frontier = make_frontier()
    frontier.add([(link("a.org/1"), 0.5)])
    first = await drain(frontier)
    frontier.add([(link("a.org/1"), 1.0)])
    assert (len(first), await drain(frontier)) == (1, [])


async def test_what_is_leased_is_not_handed_out_a_second_time(make_frontier):
    frontier = make_frontier(politeness=Politeness(delay=0))
    frontier.add([(link("a.org/1"), 0.5)])
    lease = await frontier.take()
    frontier.fetched(lease, took=0.0)
    frontier.add([(link("a.org/1"), 1.0)])
    frontier.finish(lease)
    assert await frontier.take() is None


async def test_a_host_rests_for_a_second_between_fetches(make_frontier):
    frontier = make_frontier()
    frontier.add([(link(f"a.org/{n}"), 0.5) for n in range(3)])
    assert [at for _, at in await drain(frontier)] == [0.0, 1.0, 2.0]


async def test_no_host_is_visited_sooner_than_its_crawl_delay(make_frontier):
    frontier = make_frontier(crawl_delay=lambda host: 7.0 if host == "a.org" else 0.0)
    frontier.add([(link(f"a.org/{n}"), 0.5) for n in range(2)])
    assert [at for _, at in await drain(frontier)] == [0.0, 7.0]


async def test_a_slow_server_is_given_as_much_rest_as_it_needed(make_frontier):
    frontier = make_frontier()
    frontier.add([(link(f"a.org/{n}"), 0.5) for n in range(2)])
    assert [at for _, at in await drain(frontier, took=4.0)] == [0.0, 4.0]


async def test_no_host_is_visited_sooner_than_its_retry_after(make_frontier):
    frontier = make_frontier()
    frontier.add([(link("a.org/1"), 0.5)])
    lease = await frontier.take()
    frontier.fetched(lease, took=0.1, failed=TIMEOUT, retry_after=120.0)
    frontier.finish(lease, retry=True)
    again = await frontier.take()
    assert (again.attempt, frontier.clock.now()) == (2, 1_000_120.0)


async def test_one_resting_host_never_starves_the_others(make_frontier):
    frontier = make_frontier(crawl_delay=lambda host: 60.0 if host == "slow.org" else 0.0)
    frontier.add([(link(f"slow.org/{n}"), 1.0) for n in range(3)])
    frontier.add([(link(f"quick{n}.org/"), 0.1) for n in range(5)])
    visited = await drain(frontier)
    assert all(at == 0.0 for url, at in visited if "quick" in url)
    assert [at for url, at in visited if "slow" in url] == [0.0, 60.0, 120.0]


async def test_a_host_has_one_connection_at_a_time(make_frontier):
    frontier = make_frontier(politeness=Politeness(delay=0))
    frontier.add([(link("a.org/1"), 0.5), (link("a.org/2"), 0.5)])
    lease = await frontier.take()
    second = asyncio.ensure_future(frontier.take())
    for _ in range(10):
        await asyncio.sleep(0)
    assert not second.done()
    frontier.fetched(lease, took=0.0)
    assert (await second).link.url == "http://a.org/2"


async def test_a_failed_link_waits_behind_the_others_of_its_host(make_frontier):
    frontier = make_frontier()
    frontier.add([(link("a.org/1"), 0.9), (link("a.org/2"), 0.1)])
    lease = await frontier.take()
    frontier.fetched(lease, took=0.0, failed=TIMEOUT)
    frontier.finish(lease, retry=True)
    assert [url for url, _ in await drain(frontier)] == ["http://a.org/2", "http://a.org/1"]


async def test_a_host_that_keeps_failing_is_left_with_its_links_still_queued(make_frontier):
    frontier = make_frontier(first_failures=3)
    frontier.add([(link(f"dead.org/{n}"), 0.5) for n in range(9)])
    taken = 0
    while (lease := await frontier.take()) is not None:
        taken += 1
        frontier.fetched(lease, took=0.0, failed=TIMEOUT)
        frontier.finish(lease, retry=True)
    assert (taken, frontier.parked()) == (3, {"dead.org": Failing(Reason.TIMEOUT, 3, TIMEOUT.detail)})
    assert frontier.queue.pop("dead.org") is not None


async def test_take_waits_while_something_is_leased_and_none_means_the_end(make_frontier):
    frontier = make_frontier()
    frontier.add([(link("a.org/1"), 0.5)])
    lease = await frontier.take()
    waiting = asyncio.ensure_future(frontier.take())
    for _ in range(10):
        await asyncio.sleep(0)
    assert not waiting.done()
    frontier.fetched(lease, took=0.0)
    frontier.add([(link("b.org/found"), 0.5)])
    frontier.finish(lease)
    found = await waiting
    assert found.link.url == "http://b.org/found"
    frontier.finish(found)
    assert await frontier.take() is None


@pytest.mark.parametrize("limits", [{"budget": Budget(pages=3)}, {"budget": Budget(site_pages=3)}])
async def test_a_budget_of_three_pages_gives_three_pages_even_with_many_in_flight(make_frontier, limits):
    frontier = make_frontier(politeness=Politeness(delay=0, per_host=8), **limits)
    frontier.add([(link(f"a.org/{n}"), 0.5) for n in range(10)])
    first = await frontier.take()
    frontier.fetched(first, took=0.0)
    frontier.finish(first)
    pages, flying = 0, []
    flying = [await frontier.take() for _ in range(3)]
    frontier.finish(flying[0])  # it was no page after all: room for one more
    flying.append(await frontier.take())
    for lease in flying[1:]:
        frontier.finish(lease, pages=1)
        pages += 1
    assert (pages, await frontier.take()) == (3, None)


async def test_the_budget_of_one_site_leaves_the_others_alone(make_frontier):
    frontier = make_frontier(budget=Budget(site_pages=2), politeness=Politeness(delay=0))
    frontier.add([(link(f"{host}/{n}"), 0.5) for n in range(4) for host in ("a.org", "www.a.org", "b.org")])
    visited = [url for url, _ in await drain(frontier)]
    assert (sum("a.org" in url for url in visited), sum("b.org" in url for url in visited)) == (2, 2)


async def test_time_is_a_budget_even_while_all_hosts_rest(make_frontier):
    frontier = make_frontier(budget=Budget(minutes=1), crawl_delay=lambda _: 50.0)
    frontier.add([(link(f"a.org/{n}"), 0.5) for n in range(9)])
    assert [at for _, at in await drain(frontier)] == [0.0, 50.0]
    assert frontier.clock.now() == 1_000_060.0


async def test_bytes_are_a_budget(make_frontier):
    frontier = make_frontier(budget=Budget(megabytes=0.001), politeness=Politeness(delay=0))
    frontier.add([(link(f"a.org/{n}"), 0.5) for n in range(9)])
    for _ in range(2):
        frontier.finish(await frontier.take(), size=600)
    assert await frontier.take() is None


async def test_stop_hands_out_nothing_more_and_waits_for_what_is_in_flight(make_frontier):
    frontier = make_frontier(politeness=Politeness(delay=0))
    frontier.add([(link(f"a.org/{n}"), 0.5) for n in range(3)])
    lease = await frontier.take()
    frontier.stop()
    ending = asyncio.ensure_future(frontier.take())
    for _ in range(10):
        await asyncio.sleep(0)
    assert not ending.done()
    frontier.finish(lease)
    assert await ending is None


async def test_a_visit_that_ends_without_a_fetch_costs_its_host_no_rest(make_frontier):
    frontier = make_frontier()
    frontier.add([(link("a.org/1"), 0.5), (link("a.org/2"), 0.5)])
    frontier.finish(await frontier.take())
    await frontier.take()
    assert frontier.clock.now() == 1_000_000.0


# several hosts of one site


RICH, POOR = "rich.a.org", "poor.a.org"


def two_hosts(count: int = 3) -> list[tuple[Link, float]]:
    return [(link(f"{host}/{n}"), score) for n in range(count) for host, score in ((POOR, 0.1), (RICH, 0.9))]


def hosts(visited: list[tuple[str, float]]) -> list[str]:
    return [Url.parse(url).host for url, _ in visited]


async def test_a_poor_host_waits_while_a_rich_one_of_its_site_has_work_and_is_visited_in_the_end(make_frontier):
    frontier = make_frontier()
    frontier.add(two_hosts())
    visited = await drain(frontier)
    assert hosts(visited) == [RICH] * 3 + [POOR] * 3
    assert [at for _, at in visited][:3] == [0.0, 1.0, 2.0]


async def test_a_host_that_is_nearly_as_good_is_visited_while_the_other_rests(make_frontier):
    frontier = make_frontier()
    frontier.add([(link(f"{host}/{n}"), score) for n in range(3) for host, score in ((RICH, 0.9), (POOR, 0.6))])
    visited = await drain(frontier)
    assert [at for url, at in visited if POOR in url] == [at for url, at in visited if RICH in url] == [0.0, 1.0, 2.0]


async def test_hosts_of_different_sites_do_not_wait_for_each_other(make_frontier):
    frontier = make_frontier()
    frontier.add([(link(f"{host}/{n}"), score) for n in range(3) for host, score in (("a.org", 0.9), ("b.org", 0.01))])
    visited = await drain(frontier)
    assert [at for url, at in visited if "b.org" in url] == [0.0, 1.0, 2.0]


async def test_a_poor_host_goes_first_once_the_scores_have_turned(make_frontier):
    frontier = make_frontier()
    frontier.add(two_hosts())
    lease = await frontier.take()
    assert lease.link.url.host == RICH
    frontier.fetched(lease, took=0.0)
    frontier.rescore([(link(f"{RICH}/{n}").url, 0.01) for n in range(3)])
    frontier.finish(lease)
    assert hosts(await drain(frontier)) == [POOR] * 3 + [RICH] * 2


async def test_a_poor_host_waits_for_what_is_found_on_the_rich_one(make_frontier):
    frontier = make_frontier(politeness=Politeness(delay=0))
    frontier.add(two_hosts(1))
    lease = await frontier.take()
    waiting = asyncio.ensure_future(frontier.take())
    frontier.fetched(lease, took=0.0)
    frontier.add([(link(f"{RICH}/found"), 0.9)])
    frontier.finish(lease)
    assert (await waiting).link.url == f"http://{RICH}/found"


async def test_a_rich_host_that_fails_keeps_nobody_waiting(make_frontier):
    frontier = make_frontier(first_failures=2)
    frontier.add(two_hosts())
    taken = []
    while (lease := await frontier.take()) is not None:
        host = lease.link.url.host
        taken.append((host, frontier.clock.now() - 1_000_000.0))
        frontier.fetched(lease, took=0.0, failed=TIMEOUT if host == RICH else None, retry_after=3600.0 * (host == RICH))
        frontier.finish(lease, retry=host == RICH)
    assert taken == [(RICH, 0.0), (POOR, 0.0), (POOR, 1.0), (POOR, 2.0), (RICH, 3600.0)]
    assert list(frontier.parked()) == [RICH]


async def test_what_waits_behind_a_failure_in_flight_is_handed_out_when_it_has_failed(make_frontier):
    frontier = make_frontier(first_failures=1)
    frontier.add(two_hosts(1))
    lease = await frontier.take()
    waiting = asyncio.ensure_future(frontier.take())
    for _ in range(10):
        await asyncio.sleep(0)
    assert not waiting.done()
    frontier.fetched(lease, took=0.0, failed=UNKNOWN_HOST)
    frontier.finish(lease, retry=True)
    assert (await asyncio.wait_for(waiting, 5)).link.url.host == POOR


@pytest.mark.parametrize("limits", [{"budget": Budget(pages=2)}, {"budget": Budget(site_pages=2)}], ids=["job", "site"])
async def test_a_spent_budget_ends_the_wait_of_a_poor_host(make_frontier, limits):
    frontier = make_frontier(**limits)
    frontier.add([*two_hosts(), (link("b.org/1"), 0.01)])
    visited = await asyncio.wait_for(drain(frontier), 5)
    assert POOR not in hosts(visited)
    assert len(visited) == (2 if limits["budget"].pages else 3)


async def test_a_site_that_is_left_ends_the_wait_of_its_poor_host(make_frontier):
    frontier = make_frontier()
    frontier.add([*two_hosts(), (link("z.org/1"), 0.01)])
    lease = await frontier.take()
    frontier.fetched(lease, took=0.0)
    frontier.leave("a.org", "enough")
    frontier.finish(lease)
    assert hosts(await asyncio.wait_for(drain(frontier), 5)) == ["z.org"]


# hosts in the order of their best links


RANKED = {"ranked": True, "politeness": Politeness(delay=0)}


async def ending(frontier: Frontier) -> list[tuple[str, float]]:
    """As `drain`, and a frontier that waits for ever fails."""
    return await asyncio.wait_for(drain(frontier), 20)


async def test_the_host_with_the_best_link_comes_first(make_frontier):
    frontier = make_frontier(**RANKED)
    frontier.add([(link("a.org/1"), 0.2), (link("b.org/1"), 0.9), (link("c.org/1"), 0.5), (link("b.org/2"), 0.4)])
    assert [url for url, _ in await ending(frontier)] == [
        "http://b.org/1", "http://c.org/1", "http://b.org/2", "http://a.org/1"
    ]  # fmt: skip


def best_and_others(count: int) -> list[tuple[Link, float]]:
    best = [(link(f"best.org/{n}"), 0.9) for n in range(count)]
    return best + [(link(f"{host}.org/{n}"), 0.1) for n in range(count) for host in "abcd"]


async def test_one_visit_in_eight_goes_to_a_host_that_waits_for_one_that_rests(make_frontier):
    frontier = make_frontier(ranked=True, budget=Budget(pages=32))
    frontier.add(best_and_others(40))
    visited = await ending(frontier)
    assert hosts(visited) == (["best.org"] * 7 + ["a.org"] + ["best.org"] * 7 + ["b.org"]) + (
        ["best.org"] * 7 + ["c.org"] + ["best.org"] * 7 + ["d.org"]
    )


async def test_where_the_strategy_explores_itself_all_others_wait_for_the_best(make_frontier):
    frontier = make_frontier(ranked=True, explores=True, budget=Budget(pages=32))
    frontier.add(best_and_others(20))
    assert hosts(await ending(frontier))[:20] == ["best.org"] * 20


async def test_without_a_number_of_pages_every_second_visit_goes_to_a_host_that_waits(make_frontier):
    frontier = make_frontier(ranked=True)
    frontier.add(best_and_others(10))
    assert hosts(await ending(frontier))[:6] == ["best.org", "a.org", "best.org", "b.org", "best.org", "c.org"]


async def test_where_pages_are_scarce_a_host_waits_for_a_little_better_one(make_frontier):
    near = [(link(f"{host}.org/{n}"), score) for n in range(3) for host, score in (("a", 0.9), ("b", 0.87), ("c", 0.8))]
    for budget, others in ((Budget(), [0.0, 1.0, 2.0]), (Budget(pages=50), [2.0, 3.0, 4.0])):
        frontier = make_frontier(ranked=True, budget=budget)
        frontier.add(near)
        visited = await ending(frontier)
        assert [at for url, at in visited if "b.org" in url] == [0.0, 1.0, 2.0]
        assert [at for url, at in visited if "c.org" in url] == others


async def test_what_has_no_rival_goes_on_at_once(make_frontier):
    frontier = make_frontier(ranked=True, budget=Budget(pages=50))
    frontier.add([(link(f"{host}.org/{n}"), 0.01) for n in range(3) for host in "abc"])
    assert [at for _, at in await ending(frontier)] == [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0]


async def test_a_host_that_rests_for_long_keeps_nobody_waiting(make_frontier):
    frontier = make_frontier(
        ranked=True, budget=Budget(pages=50), crawl_delay=lambda host: 3600.0 * (host == "best.org")
    )
    frontier.add(best_and_others(2))
    visited = await ending(frontier)
    assert [at for url, at in visited if "best.org" not in url] == [0.0] * 4 + [1.0] * 4


async def test_a_link_waits_for_a_page_in_flight_that_was_much_better(make_frontier):
    frontier = make_frontier(ranked=True, budget=Budget(pages=500), job=Spent(pages=100))
    frontier.add([(link("best.org/1"), 0.9), (link("a.org/1"), 0.83), (link("b.org/1"), 0.87)])
    best, near = await given_out(frontier)
    assert names([best, near]) == ["best.org", "b.org"]
    answer(frontier, best)
    assert names(await given_out(frontier)) == ["a.org"]


async def test_at_most_a_tenth_of_the_visits_so_far_is_unread(make_frontier):
    frontier = make_frontier(politeness=Politeness(delay=0), ranked=True, job=Spent(pages=40))
    frontier.add([(link(f"h{n}.org/"), 0.5) for n in range(20)])
    leases = await given_out(frontier, InFlight())
    assert len(leases) == 4
    frontier.fetched(leases[0], took=0.0)
    assert await given_out(frontier, InFlight()) == []  # it is answered, and not yet read
    frontier.finish(leases[0])
    assert len(await given_out(frontier, InFlight())) == 1


async def test_new_hosts_for_which_there_is_no_room_keep_nobody_waiting(make_frontier):
    frontier = make_frontier(politeness=HASTE, ranked=True, budget=Budget(pages=500), job=Spent(pages=100))
    await heard(frontier, "a.org")
    frontier.add([(link(f"new{n}.org/"), 0.9) for n in range(20)] + [(link("a.org/1"), 0.1)])
    assert len(names(await given_out(frontier))) == 2  # as many as work
    frontier.clock.advance(1.0)
    assert names(await given_out(frontier)) == ["a.org"]


async def test_seeds_wait_for_nothing(make_frontier):
    frontier = make_frontier(ranked=True, budget=Budget(pages=500))
    frontier.add([(link(f"h{n}.org/"), 1.0) for n in range(20)])
    assert len(await given_out(frontier, InFlight())) == 20


async def test_new_scores_and_new_links_change_the_ranking(make_frontier):
    frontier = make_frontier(**RANKED)
    frontier.add([(link("a.org/1"), 0.9), (link("b.org/1"), 0.5), (link("c.org/1"), 0.4), (link("d.org/1"), 0.3)])
    lease = await frontier.take()  # all are ready now, and ranked
    assert lease.link.url.host == "a.org"
    frontier.rescore([(link("b.org/1").url, 0.1), (link("c.org/1").url, 0.35)])
    frontier.add([(link("d.org/1"), 0.6), (link("e.org/1"), 0.7)])
    frontier.finish(lease)
    assert hosts(await ending(frontier)) == ["e.org", "d.org", "c.org", "b.org"]


async def test_a_link_that_failed_does_not_lift_its_host(make_frontier):
    frontier = make_frontier(ranked=True, politeness=Politeness(delay=0, backoff=0))
    frontier.add([(link("a.org/1"), 0.9), (link("a.org/2"), 0.1), (link("b.org/1"), 0.5)])
    lease = await frontier.take()
    frontier.fetched(lease, took=0.0, failed=TIMEOUT)
    frontier.finish(lease, retry=True)
    assert [url for url, _ in await ending(frontier)] == ["http://b.org/1", "http://a.org/2", "http://a.org/1"]


async def test_hosts_with_equal_scores_take_turns(make_frontier):
    frontier = make_frontier(**RANKED)
    frontier.add([(link(f"{host}.org/{n}"), 0.5) for host in "abc" for n in range(3)])
    assert hosts(await ending(frontier)) == ["a.org", "b.org", "c.org"] * 3


async def test_a_host_to_which_every_page_links_takes_no_extra_turn(make_frontier):
    frontier = make_frontier(**RANKED)
    frontier.add([(link(f"{host}.org/{n}"), 0.5) for host in "abc" for n in range(4)])
    visited = []
    while (lease := await frontier.take()) is not None:
        visited.append(lease.link.url.host)
        if len(visited) <= 6:
            frontier.add([(link(f"b.org/found-{len(visited)}"), 0.5)])
        frontier.fetched(lease, took=0.0)
        frontier.finish(lease)
    assert visited[:12] == ["a.org", "b.org", "c.org"] * 4
    assert visited[12:] == ["b.org"] * 6


async def test_the_ranking_does_not_grow_with_the_number_of_new_scores(make_frontier):
    frontier = make_frontier(**RANKED)
    frontier.add([(link(f"{host}.org/1"), 0.5) for host in "abc"])
    lease = await frontier.take()
    for n in range(2000):
        frontier.rescore([(link(f"{host}.org/1").url, 0.1 + n / 10_000) for host in "bc"])
    assert sum(map(len, frontier._rankings.values())) < 200  # memory, which nothing else shows
    frontier.finish(lease)
    assert len(await ending(frontier)) == 2


@pytest.mark.parametrize("ranked", [False, True])
@pytest.mark.parametrize("limits", [{"budget": Budget(pages=3)}, {"budget": Budget(site_pages=3)}], ids=["job", "site"])
async def test_a_ranking_keeps_the_budgets(make_frontier, ranked, limits):
    frontier = make_frontier(ranked=ranked, politeness=Politeness(delay=0, per_host=4), **limits)
    frontier.add([(link(f"{host}/{n}"), 0.1 * n + 0.1) for n in range(5) for host in ("a.org", "www.a.org")])
    assert len(await ending(frontier)) == 3


async def test_a_ranking_goes_back_to_a_site_that_was_left_when_nothing_else_is_queued(make_frontier):
    frontier = make_frontier(**RANKED, returns=True)
    frontier.add([(link(f"{host}/{n}"), score) for n in range(2) for host, score in (("a.org", 0.9), ("b.org", 0.1))])
    lease = await frontier.take()
    frontier.leave("a.org", "enough")
    frontier.finish(lease)
    assert hosts(await ending(frontier)) == ["b.org", "b.org", "a.org"]
    assert not frontier.left


async def test_a_ranking_goes_back_only_once(make_frontier):
    frontier = make_frontier(**RANKED, returns=True)
    frontier.add([(link(f"a.org/{n}"), 0.9) for n in range(5)])
    for _ in range(2):
        lease = await frontier.take()
        frontier.leave("a.org", "enough")
        frontier.finish(lease)
    assert await frontier.take() is None
    assert frontier.left == {"a.org": "enough"}


async def test_a_ranking_parks_a_host_that_keeps_failing(make_frontier):
    frontier = make_frontier(ranked=True, politeness=Politeness(delay=0, backoff=0), first_failures=2)
    frontier.add([(link(f"dead.org/{n}"), 0.9) for n in range(5)] + [(link("b.org/1"), 0.1)])
    taken = []
    while (lease := await asyncio.wait_for(frontier.take(), 20)) is not None:
        dead = lease.link.url.host == "dead.org"
        taken.append(lease.link.url.host)
        frontier.fetched(lease, took=0.0, failed=TIMEOUT if dead else None)
        frontier.finish(lease, retry=dead)
    assert taken == ["dead.org", "dead.org", "b.org"]
    assert list(frontier.parked()) == ["dead.org"]


# steps: links that are worth waiting for


async def test_a_host_with_lower_links_waits_for_one_that_rests_on_a_higher_step(make_frontier):
    frontier = make_frontier(ranked=True, steps=(0.8, 0.4))
    frontier.add([(link(f"high.org/{n}"), 0.9) for n in range(3)])
    frontier.add([(link(f"medium.org/{n}"), 0.5) for n in range(2)] + [(link("low.org/1"), 0.1)])
    visited = await ending(frontier)
    assert hosts(visited) == ["high.org"] * 3 + ["medium.org"] * 2 + ["low.org"]
    assert [at for _, at in visited] == [0.0, 1.0, 2.0, 2.0, 3.0, 3.0]


async def test_hosts_on_the_same_step_do_not_wait_for_each_other(make_frontier):
    frontier = make_frontier(ranked=True, steps=(0.8, 0.4))
    frontier.add([(link(f"{host}.org/{n}"), score) for n in range(2) for host, score in (("a", 0.79), ("b", 0.41))])
    visited = await ending(frontier)
    assert [at for url, at in visited if "b.org" in url] == [0.0, 1.0]


async def test_steps_can_be_moved_while_the_crawl_runs(make_frontier):
    frontier = make_frontier(ranked=True, steps=(0.8, 0.4))
    frontier.add([(link(f"high.org/{n}"), 0.9) for n in range(3)] + [(link("low.org/1"), 0.1)])
    lease = await frontier.take()
    frontier.fetched(lease, took=0.0)
    frontier.compare((0.99, 0.95))
    frontier.finish(lease)
    assert hosts(await ending(frontier)) == ["low.org", "high.org", "high.org"]


async def test_a_step_is_not_waited_for_on_a_host_that_fails(make_frontier):
    frontier = make_frontier(ranked=True, steps=(0.8,), first_failures=9)
    frontier.add([(link("high.org/1"), 0.9), (link("low.org/1"), 0.1)])
    lease = await frontier.take()
    assert lease.link.url.host == "high.org"
    frontier.fetched(lease, took=0.0, failed=TIMEOUT, retry_after=3600)
    frontier.finish(lease, retry=True)
    visited = await ending(frontier)
    assert [(Url.parse(url).host, at) for url, at in visited] == [("low.org", 0.0), ("high.org", 3600.0)]


async def test_a_step_is_not_waited_for_on_a_site_that_was_left(make_frontier):
    frontier = make_frontier(ranked=True, returns=True, steps=(0.8,), crawl_delay=lambda _: 3600.0)
    frontier.add([(link(f"high.org/{n}"), 0.9) for n in range(2)] + [(link("low.org/1"), 0.1)])
    lease = await frontier.take()
    frontier.fetched(lease, took=0.0)
    frontier.leave("high.org", "enough")
    frontier.finish(lease)
    visited = [(Url.parse(url).host, at) for url, at in await ending(frontier)]
    assert visited == [("low.org", 0.0), ("high.org", 3600.0)]


async def test_a_step_is_not_waited_for_where_the_budget_of_a_site_is_spent(make_frontier):
    frontier = make_frontier(ranked=True, steps=(0.8,), budget=Budget(site_pages=1), crawl_delay=lambda _: 3600.0)
    frontier.add([(link(f"high.org/{n}"), 0.9) for n in range(2)] + [(link("low.org/1"), 0.1)])
    assert [(Url.parse(url).host, at) for url, at in await ending(frontier)] == [("high.org", 0.0), ("low.org", 0.0)]


async def test_a_step_is_waited_for_while_a_page_of_it_is_in_flight(make_frontier):
    frontier = make_frontier(ranked=True, steps=(0.8,), politeness=Politeness(delay=0))
    frontier.add([(link("high.org/1"), 0.9), (link("high.org/2"), 0.9), (link("low.org/1"), 0.1)])
    lease = await frontier.take()
    waiting = asyncio.ensure_future(frontier.take())
    for _ in range(10):
        await asyncio.sleep(0)
    assert not waiting.done()
    frontier.fetched(lease, took=0.0)
    frontier.finish(lease)
    assert (await asyncio.wait_for(waiting, 5)).link.url == "http://high.org/2"


async def test_what_the_last_page_of_a_step_brings_is_waited_for(make_frontier):
    frontier = make_frontier(ranked=True, steps=(0.8,))
    frontier.add([(link("high.org/1"), 0.9), (link("low.org/1"), 0.1)])
    lease = await frontier.take()
    waiting = asyncio.ensure_future(frontier.take())
    frontier.fetched(lease, took=0.0)
    frontier.add([(link("high.org/found"), 0.9)])
    frontier.finish(lease)
    assert (await asyncio.wait_for(waiting, 5)).link.url == "http://high.org/found"


operations = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "rescore", "take", "take", "end", "fail", "leave"]),
        st.sampled_from(["x.a.org", "y.a.org", "b.org", "c.org", "d.org"]),
        st.integers(0, 4),
        st.floats(0.01, 1),
    ),
    max_size=60,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    asked=operations, steps=st.sampled_from([(), (0.7, 0.3)]), width=st.integers(1, 3), delay=st.sampled_from([0, 1])
)
async def test_a_ranking_loses_nothing_and_hands_out_nothing_twice(  # noqa: C901 - one branch for each operation
    make_frontier, asked, steps, width, delay
):
    """Whatever is added, rescored, failed and left in whatever order: at the end all other links were visited once."""
    politeness = Politeness(delay=delay, per_host=width, backoff=1)
    frontier = make_frontier(ranked=True, steps=steps, politeness=politeness, failures=100, first_failures=100)
    added, done, flying, left = set(), [], [], set()

    def end(lease: Lease, *, failed: bool = False) -> None:
        frontier.fetched(lease, took=0.0, failed=TIMEOUT if failed else None)
        frontier.finish(lease, retry=failed)
        done.extend([] if failed else [lease.link.url])

    async def take() -> bool:
        """False if all that can be had is in flight, or nothing is left."""
        taking = asyncio.ensure_future(frontier.take())
        for _ in range(300):
            await asyncio.sleep(0)
        if not taking.done():
            taking.cancel()
            await asyncio.gather(taking, return_exceptions=True)
            return False
        if (lease := taking.result()) is None:
            return False
        assert lease.link.url not in {*done, *(one.link.url for one in flying)}
        flying.append(lease)
        return True

    for action, host, number, score in asked:
        if action == "add":
            added.add(link(f"{host}/{number}").url)
            frontier.add([(link(f"{host}/{number}"), score)])
        elif action == "rescore":
            frontier.rescore([(link(f"{host}/{number}").url, score)])
        elif action == "take" and added:
            await take()
        elif action in ("end", "fail") and flying:
            end(flying.pop(0), failed=action == "fail")
        elif action == "leave" and number == 0:
            left.add(Sites().of(host))
            frontier.leave(Sites().of(host), "enough")
    while await take() or flying:
        if flying:
            end(flying.pop(0))
    assert await asyncio.wait_for(frontier.take(), 5) is None
    expected = {url for url in added if Sites().of(Url.parse(url).host) not in left}
    assert len(done) == len(set(done))
    assert expected <= set(done) <= added


siblings = st.lists(
    st.tuples(st.sampled_from(["x.a.org", "y.a.org", "z.a.org", "b.org"]), st.floats(0.01, 1), st.booleans()),
    min_size=1,
    max_size=25,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(asked=siblings, width=st.integers(1, 4))
async def test_whatever_hosts_a_site_has_every_link_is_handed_out(make_frontier, asked, width):
    """Some fail once, some wait for others; several are in flight, and the oldest ends first."""
    frontier = make_frontier(failures=100, first_failures=100)
    frontier.add([(link(f"{host}/{number}"), score) for number, (host, score, _) in enumerate(asked)])
    fails = {f"http://{host}/{number}" for number, (host, _, fail) in enumerate(asked) if fail}
    done, flying = [], []

    def end(lease: Lease) -> None:
        failed = lease.attempt == 1 and lease.link.url in fails
        frontier.fetched(lease, took=0.0, failed=TIMEOUT if failed else None)
        frontier.finish(lease, retry=failed)
        done.extend([] if failed else [lease.link.url])

    while True:
        taking = asyncio.ensure_future(frontier.take())
        for _ in range(300):
            if taking.done():
                break
            await asyncio.sleep(0)
        while flying and (not taking.done() or len(flying) >= width):
            end(flying.pop(0))
            await asyncio.sleep(0)
        lease = await asyncio.wait_for(taking, 5)
        if lease is None:
            break
        flying.append(lease)
    assert sorted(done) == sorted(f"http://{host}/{number}" for number, (host, _, _) in enumerate(asked))


actions = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 5), st.floats(0.01, 1), st.sampled_from(["add", "visit", "fail"])),
    max_size=40,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions=actions)
async def test_every_link_is_visited_once_and_the_best_of_its_host_first(make_queue, actions):
    queue = make_queue()
    queued: dict[str, tuple[int, float, int]] = {}  # url -> attempt, -score, arrival: the order promised
    done: set[str] = set()
    for arrival, (host, number, score, action) in enumerate(actions):
        url = f"http://{host}.org/{number}"
        if action == "add":
            queue.put([(link(f"{host}.org/{number}"), score)])
            if url not in done:
                attempt, known, first = queued.get(url, (1, -score, arrival))
                queued[url] = (attempt, min(known, -score), first)
            continue
        lease: Lease | None = queue.pop(f"{host}.org")
        mine = {known: rank for known, rank in queued.items() if f"//{host}." in known}
        assert (lease.link.url if lease else None) == (min(mine, key=mine.get) if mine else None)
        if lease is not None and action == "fail":
            queue.give_back(lease)
            attempt, known, first = queued[lease.link.url]
            queued[lease.link.url] = (attempt + 1, known, first)
        elif lease is not None:
            del queued[lease.link.url]
            done.add(lease.link.url)


# hosts that do not answer


HASTE = Politeness(delay=0)
FEW = InFlight(working=2, waiting=8)


async def given_out(frontier: Frontier, limits: InFlight = FEW) -> list[Lease]:
    """All that the frontier hands out without the passing of time."""
    leases: list[Lease] = []
    now = frontier.clock.now()
    while True:
        taking = asyncio.ensure_future(frontier.take(limits))
        for _ in range(50):  # fewer turns than a fake clock waits before it jumps
            await asyncio.sleep(0)
        if not taking.done():
            taking.cancel()
            assert frontier.clock.now() == now
            return leases
        lease = taking.result()
        if lease is None:
            return leases
        leases.append(lease)


def names(leases: list[Lease]) -> list[str]:
    return [lease.link.url.host for lease in leases]


def answer(frontier: Frontier, lease: Lease, took: float = 0.0) -> None:
    frontier.fetched(lease, took=took)
    frontier.finish(lease, pages=1)


async def heard(frontier: Frontier, *hosts: str, took: float = 0.0) -> None:
    """Those hosts have answered once."""
    frontier.add([(link(f"{host}/first"), 0.9) for host in hosts])
    for lease in await given_out(frontier, InFlight()):
        answer(frontier, lease, took)


async def test_hosts_that_were_never_heard_of_take_no_place_of_those_that_answer(make_frontier):
    frontier = make_frontier(politeness=HASTE)
    await heard(frontier, "a.org", "b.org")
    frontier.add([(link(f"silent{n}.org/"), 0.9) for n in range(20)])
    frontier.add([(link(f"{host}.org/{n}"), 0.5) for n in range(50) for host in "ab"])
    visited = []
    for _ in range(10):
        leases = await given_out(frontier)
        working = [lease for lease in leases if "silent" not in lease.link.url.host]
        visited += names(working)
        for lease in working:
            answer(frontier, lease)
    assert visited == ["a.org", "b.org"] * 10


async def test_only_so_many_visits_wait_however_many_hosts_are_silent(make_frontier):
    frontier = make_frontier(politeness=HASTE)
    frontier.add([(link(f"silent{n}.org/"), 0.9) for n in range(100)])
    assert len(await given_out(frontier)) == 6  # of eight: two are for hosts that have answered, and are slow
    frontier.clock.advance(3600)
    assert await given_out(frontier) == []


async def test_a_visit_that_waits_for_a_second_makes_room_for_another(make_frontier):
    frontier = make_frontier(politeness=HASTE)
    await heard(frontier, "a.org", "b.org", "c.org")
    frontier.add([(link(f"{host}.org/1"), 0.5) for host in "abc"])
    assert names(await given_out(frontier)) == ["a.org", "b.org"]
    frontier.clock.advance(1.0)
    assert names(await given_out(frontier)) == ["c.org"]


async def test_a_host_that_was_slow_takes_no_place_of_those_that_are_quick(make_frontier):
    frontier = make_frontier(politeness=HASTE)
    frontier.add([(link(f"slow{n}.org/{page}"), 0.5) for page in range(2) for n in range(3)])
    for lease in await given_out(frontier):
        answer(frontier, lease, took=3.0)
    assert len(await given_out(frontier)) == 3
    await heard(frontier, "a.org", "b.org")
    frontier.add([(link(f"{host}.org/1"), 0.5) for host in "ab"])
    assert names(await given_out(frontier)) == ["a.org", "b.org"]


async def test_answers_that_all_come_at_once_are_read_before_anything_new_is_asked(make_frontier):
    frontier = make_frontier(politeness=HASTE)
    frontier.add([(link(f"h{n}.org/"), 0.9) for n in range(20)])
    leases = await given_out(frontier)
    for lease in leases:
        frontier.fetched(lease, took=0.5)
    assert await given_out(frontier) == []
    for lease in leases[1:]:
        frontier.finish(lease, pages=1)
    assert len(await given_out(frontier)) == 6


async def test_without_room_to_wait_a_visit_that_waits_keeps_its_place(make_frontier):
    frontier = make_frontier(politeness=HASTE)
    frontier.add([(link(f"h{n}.org/"), 0.9) for n in range(20)])
    assert len(await given_out(frontier, InFlight(working=2))) == 2
    frontier.clock.advance(60)
    assert await given_out(frontier, InFlight(working=2)) == []


async def test_hosts_that_answer_and_others_take_turns_four_to_one(make_frontier):
    frontier = make_frontier(politeness=HASTE)
    await heard(frontier, "a.org")
    frontier.add([(link(f"new{n}.org/"), 0.9) for n in range(3)] + [(link(f"a.org/{n}"), 0.5) for n in range(12)])
    visited = []
    while (lease := await frontier.take(FEW)) is not None:
        visited.append(lease.link.url.host[:3])
        answer(frontier, lease)
    assert visited == [*["a.o"] * 4, "new"] * 3


async def test_the_best_new_hosts_are_asked_first_and_not_more_than_work(make_frontier):
    frontier = make_frontier(politeness=HASTE, ranked=True)
    frontier.add([(link(f"h{n}.org/"), 0.5 + n / 100) for n in range(1, 21)])
    assert names(await given_out(frontier)) == ["h20.org"]
    frontier.clock.advance(1.0)  # nobody waits any longer for what it brings
    assert names(await given_out(frontier)) == ["h19.org"]
    frontier.clock.advance(1.0)
    assert names(await given_out(frontier)) == []


@pytest.mark.parametrize("limits", [{"budget": Budget(pages=3)}, {"budget": Budget(site_pages=3)}], ids=["job", "site"])
async def test_a_silent_host_keeps_no_page_of_the_budget_and_never_overdraws_it(make_frontier, limits):
    frontier = make_frontier(politeness=HASTE, **limits)
    frontier.add([(link(f"silent{n}.a.org/"), 0.5) for n in range(2)])
    late, later = await given_out(frontier)
    frontier.add([(link(f"good.a.org/{n}"), 0.5) for n in range(3)])
    answer(frontier, (await given_out(frontier))[0])
    assert await given_out(frontier) == []  # one page, and two that may come
    frontier.clock.advance(5.0)
    answer(frontier, (await given_out(frontier))[0])
    assert frontier.welcome(late)
    answer(frontier, late)
    assert not frontier.welcome(later)


async def test_a_spent_budget_ends_the_crawl_whatever_is_silent(make_frontier):
    frontier = make_frontier(politeness=HASTE, budget=Budget(pages=1))
    frontier.add([(link("a-silent.org/"), 0.9), (link("good.org/"), 0.5)])
    assert names(await given_out(frontier)) == ["a-silent.org"]
    answer(frontier, await frontier.take(FEW))  # once the clock has passed over the silence
    assert await frontier.take(FEW) is None


async def test_nobody_of_its_site_waits_for_a_host_that_is_silent(make_frontier):
    frontier = make_frontier()
    frontier.add(two_hosts())
    assert names([await frontier.take(FEW)]) == [RICH]
    assert names([await asyncio.wait_for(frontier.take(FEW), 5)]) == [POOR]
    assert frontier.clock.now() == 1_000_005.0


async def test_no_step_is_waited_for_on_a_host_that_is_silent(make_frontier):
    frontier = make_frontier(ranked=True, steps=(0.5,))
    frontier.add([(link("high.org/1"), 0.9), (link("high.org/2"), 0.9), (link("low.org/1"), 0.1)])
    assert names([await frontier.take(FEW)]) == ["high.org"]
    assert names([await asyncio.wait_for(frontier.take(FEW), 5)]) == ["low.org"]
    assert frontier.clock.now() == 1_000_005.0


# the order of links where a host need not rest


async def test_the_next_link_waits_for_the_page_before_it_where_a_strategy_orders_and_nobody_rests(make_frontier):
    frontier = make_frontier(politeness=HASTE, orders=True)
    frontier.add([(link("a.org/1"), 0.9), (link("a.org/2"), 0.5)])
    lease = await frontier.take()
    frontier.fetched(lease, took=0.0)
    assert await given_out(frontier) == []
    frontier.add([(link("a.org/better"), 0.8)])
    frontier.finish(lease)
    assert [lease.link.url for lease in await given_out(frontier)] == ["http://a.org/better"]


async def test_other_hosts_do_not_wait_for_a_page_that_is_being_read(make_frontier):
    frontier = make_frontier(politeness=HASTE, orders=True)
    frontier.add([(link(f"{host}.org/{n}"), 0.5) for n in range(2) for host in "abc"])
    leases = await given_out(frontier, InFlight())
    assert names(leases) == ["a.org", "b.org", "c.org"]
    for lease in leases:
        frontier.fetched(lease, took=0.0)
    frontier.finish(leases[1])
    assert names(await given_out(frontier, InFlight())) == ["b.org"]


async def test_a_host_that_has_rested_does_not_wait_for_a_page_that_is_still_being_read(make_frontier):
    frontier = make_frontier(orders=True)
    frontier.add([(link("a.org/1"), 0.9), (link("a.org/2"), 0.5)])
    frontier.fetched(await frontier.take(), took=0.0)
    assert (await frontier.take()).link.url == "http://a.org/2"
