"""A date that jumps in mid-crawl: it changes the dates that are shown, and nothing else."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bitrawl.cli import app as command
from bitrawl.crawling import (
    Budget,
    Crawl,
    Frontier,
    LoopSettings,
    PageSource,
    Politeness,
    RobotsFetcher,
    Scope,
    Sites,
    Spending,
)
from bitrawl.job import WiredCrawl
from bitrawl.job.fetching import LedgerRobots, SystemClock
from bitrawl.job.running import COUNT_EVERY, finished
from bitrawl.model import Capture, Link, LinkKind, Skip, Visit
from bitrawl.page.analyser import page_reader
from bitrawl.reasons import Reason, Stage
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_facts import log
from bitrawl.store.ledger_queue import LedgerQueue
from bitrawl.strategies import BreadthFirst
from bitrawl.testing import FakeClock, FakeWeb, InlineAnalyser
from bitrawl.url import Url

HOUR, DAY, NOW = 3600.0, 86400.0, 1.8e9
DELAY = 60.0
HOME = "http://a.org/"
PAGES = 30


class Web(FakeWeb):
    """Remembers when it was asked what, and sets the date at some questions. Some answers fail at first."""

    def __init__(self, clock: FakeClock, dates: dict[int, float], robots: Callable[[float], str]) -> None:
        body = "".join(f"<a href=/{number}>{number}</a> " for number in range(PAGES))
        super().__init__({HOME: body, **{f"http://a.org/{number}": f"page {number}" for number in range(PAGES)}})
        self.clock, self.dates, self.robots = clock, dates, robots
        self.times: list[tuple[float, str]] = []

    async def fetch(self, link: Link) -> Capture | Skip:
        self.times.append((self.clock.now(), link.url))
        if len(self.times) in self.dates:
            self.clock.set_date(self.dates[len(self.times)])
        if link.url == "http://a.org/7" and self.asked.count(link.url) < 2:
            await super().fetch(link)
            return Skip(link.url, Stage.FETCH, Reason.RATE_LIMITED, "slow down", 429, 90.0)
        if link.kind is LinkKind.ROBOTS:
            self.pages[f"{HOME}robots.txt"] = self.robots(self.clock.now())
        return await super().fetch(link)


def parts(folder: Path, clock: FakeClock, web: Web, budget: Budget, delay: float = DELAY) -> WiredCrawl:
    sites = Sites()
    ledger = Ledger(folder / "job.sqlite", site_of=sites.of)
    queue = LedgerQueue(ledger, sites.of)
    robots = RobotsFetcher(web, clock, Politeness(opt_outs=False), LedgerRobots(ledger))
    crawl = Crawl(
        Frontier(queue, clock, sites.of, Politeness(delay=delay), robots.crawl_delay, Spending(budget)),
        PageSource(robots, InlineAnalyser(page_reader())),
        scorer=BreadthFirst(),
        ledger=ledger,
        scope=Scope(sites, [Url.parse(HOME)]),
        settings=LoopSettings(probe=False, sitemaps=False),
    )
    crawl.frontier.spending.job.seconds = float(ledger.recall("seconds") or 0)
    crawl.seed([Link(Url.parse(HOME), LinkKind.SEED)])
    crawl.frontier.wake(queue.hosts())
    return WiredCrawl(crawl, ledger, queue, learns=False)


async def crawled(
    folder: Path,
    dates: dict[int, float],
    budget: Budget,
    robots: Callable[[float], str] = lambda _now: "",
    delay: float = DELAY,
) -> tuple[list[tuple[float, str]], list[tuple[str, str]], str]:
    """What was asked when, what became of it, and how it ended."""
    clock = FakeClock()
    web = Web(clock, dates, robots)
    made = parts(folder, clock, web, budget, delay)
    await finished(made)
    lines = [(line.url, line.outcome) for line in log(made.ledger)]
    ended = str(made.ledger.last_run().ended)
    made.ledger.close()
    return web.times, lines, ended


@pytest.mark.parametrize("date", [NOW - DAY, 0.0, NOW + 20 * 365 * DAY])
@pytest.mark.parametrize("budget", [Budget(), Budget(minutes=20)])
async def test_a_crawl_asks_the_same_at_the_same_times_whatever_the_date_is_set_to(
    tmp_path: Path, budget: Budget, date: float
):
    plain = await crawled(tmp_path / "plain", {}, budget)
    # Once for good; and there and back again.
    assert await crawled(tmp_path / "once", {9: date}, budget) == plain
    assert await crawled(tmp_path / "back", {5: date, 12: NOW, 13: date, 20: NOW}, budget) == plain
    assert ("The limit of 20 minutes" if budget.minutes else "Nothing is left") in plain[2]


async def test_robots_txt_is_obeyed_as_it_is_a_day_later_whatever_the_date_is_set_to(tmp_path: Path):
    def robots(now: float) -> str:
        paths = ("/3", "/29") if now < FakeClock().now() + DAY else ("/28",)
        return "\n".join(["User-agent: *", *(f"Disallow: {path}$" for path in paths)])

    plain = await crawled(tmp_path / "plain", {}, Budget(), robots, delay=HOUR)
    outcomes = {url.removeprefix(HOME): outcome for url, outcome in plain[1]}
    # Of what had not been visited by then, /28 was allowed and is refused; /29 was refused and is allowed. /3 stays refused.
    assert [outcomes[page] for page in ("2", "3", "27", "28", "29")] == ["page", "robots", "page", "robots", "page"]
    assert [url for _, url in plain[0]].count(f"{HOME}robots.txt") == 2
    for number, date in enumerate((NOW - DAY, 0.0, NOW + DAY)):
        assert await crawled(tmp_path / str(number), {4: date}, Budget(), robots, delay=HOUR) == plain


async def test_what_a_killed_run_spent_of_its_minutes_is_spent(tmp_path: Path):
    clock = FakeClock()
    web = Web(clock, {6: 0.0}, lambda _now: "")
    made = parts(tmp_path / "first", clock, web, Budget(minutes=20))
    began, killed = clock.now(), tmp_path / "killed"

    def kill(_visit: Visit) -> None:
        if len(web.times) == 12:
            shutil.copytree(made.ledger.path.parent, killed)  # what is on the disk at this moment

    made.crawl.observers.append(kill)
    await finished(made)
    made.ledger.close()
    again = parts(killed, clock, web, Budget(minutes=20))
    spent = web.times[11][0] - began
    assert spent - 2 * DELAY - COUNT_EVERY <= again.crawl.frontier.spending.job.seconds <= spent
    again.ledger.close()


FORWARD, BACK = 1806195600.0, 1824944400.0  # 2027-03-28 and 2027-10-31, 01:00 UTC: daylight saving in Central Europe


@pytest.mark.parametrize("change", [FORWARD, BACK])
async def test_daylight_saving_in_mid_crawl_changes_nothing_that_is_done_or_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: float
):
    async def shown(zone: str) -> tuple[object, str]:
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        folder = tmp_path / zone[:3]
        done = await crawled(folder, {1: change - 10 * DELAY}, Budget())
        return done, CliRunner().invoke(command, ["log", str(folder)]).output

    try:
        plain = await shown("UTC0")
        assert await shown("CET-1CEST,M3.5.0,M10.5.0/3") == plain
    finally:
        monkeypatch.undo()
        time.tzset()
    times = [line.split()[1] for line in plain[1].splitlines()[1:]]  # The first visit began before the date was set.
    assert times == sorted(times)
    assert times[0] < "01:00:00" < times[-1]


def test_the_clock_of_the_system_passes_whatever_the_date_says(monkeypatch: pytest.MonkeyPatch):
    clock = SystemClock()
    began = clock.now()
    monkeypatch.setattr("time.time", lambda: 0.0)  # Somebody sets the date.
    assert clock.date() == 0
    assert 0 <= clock.now() - began < 60
