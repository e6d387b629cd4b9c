"""When to visit which page again: our order, Nutch's adaptive schedule and a uniform one, at the same number of visits.

    python -m lab.bench schedules

Made-up sites with known changes live for some months. Every day, each schedule may visit the same number of pages, and learns
of a visit only whether the page has changed since the last one, as a job does. Freshness is the share of pages whose copy is
current, over all pages and all the time (Cho and Garcia-Molina, Effective page refresh policies, 2003). The kinds of sites
differ in how their changes come; no constant of ours was chosen on them. `known rates` is no schedule but a bound: it orders by
the gain in freshness and is told how often each page changes.
"""

import argparse
import math
import random
import sys
from bisect import bisect_right
from collections.abc import Callable, Sequence
from statistics import mean
from typing import NamedTuple, Protocol

from bitrawl.store.rounds import ChangeRates, RevisitedPage

DAY = 86_400.0  # seconds
DAYS = 90
PAGES, DIRECTORIES = 300, 15
BUDGETS = (0.02, 0.05, 0.2)  # of the pages, each day
SEEDS = (1, 2, 3)


class SitePage(NamedTuple):
    url: str
    changes: list[float]  # their times, ascending
    rate: float  # in a second, on average

    def has_changed(self, since: float, until: float) -> bool:
        return bisect_right(self.changes, until) > bisect_right(self.changes, since)

    def fresh(self, visited: float, until: float) -> float:
        """Seconds until then that a copy made at the visit is current."""
        following = bisect_right(self.changes, visited)
        return min(self.changes[following], until) - visited if following < len(self.changes) else until - visited


class Schedule(Protocol):
    """Which pages come next, by number."""

    def next(self, now: float, count: int) -> Sequence[int]: ...

    def visited(self, page: int, now: float, *, changed: bool) -> None: ...


class Uniform:
    """One after the other."""

    def __init__(self, pages: Sequence[SitePage]) -> None:
        self._pages = len(pages)
        self._at = 0

    def next(self, _now: float, count: int) -> Sequence[int]:
        first, self._at = self._at, (self._at + count) % self._pages
        return [(first + step) % self._pages for step in range(count)]

    def visited(self, page: int, now: float, *, changed: bool) -> None: ...


class Nutch:
    """AdaptiveFetchSchedule with the values of nutch-default.xml; what is due first comes first, whether it is due or not."""

    FIRST, LEAST, MOST = 30 * DAY, 60.0, 365 * DAY
    INC_RATE, DEC_RATE, SYNC_DELTA_RATE = 0.4, 0.2, 0.3

    def __init__(self, pages: Sequence[SitePage]) -> None:
        self._interval = [self.FIRST] * len(pages)
        self._due = [self.FIRST] * len(pages)
        self._modified = [0.0] * len(pages)

    def next(self, _now: float, count: int) -> Sequence[int]:
        return sorted(range(len(self._due)), key=self._due.__getitem__)[:count]

    def visited(self, page: int, now: float, *, changed: bool) -> None:
        if changed:
            self._modified[page] = now
        since = now - self._modified[page]
        interval = self._interval[page] * (1 - self.DEC_RATE if changed else 1 + self.INC_RATE)
        self._interval[page] = min(max(interval, since, self.LEAST), self.MOST)
        self._due[page] = now - since * self.SYNC_DELTA_RATE + self._interval[page]


class Ours:
    """As a round orders what is due: by the gain in freshness, of estimated rates."""

    measure = staticmethod(ChangeRates.gain)

    def __init__(self, pages: Sequence[SitePage]) -> None:
        self._known = [RevisitedPage(page.url, 0, 0, 0.0, 0.0) for page in pages]

    def next(self, now: float, count: int) -> Sequence[int]:
        rates = ChangeRates(self._known)
        order = [(-self.measure(rates, page, now), number) for number, page in enumerate(self._known)]
        return [number for _, number in sorted(order)[:count]]

    def visited(self, page: int, now: float, *, changed: bool) -> None:
        url, visits, changes, span, last = self._known[page]
        self._known[page] = RevisitedPage(url, visits + 1, changes + changed, span + now - last, now)


class KnownRates:
    """By the gain in freshness, of the true rates."""

    def __init__(self, pages: Sequence[SitePage]) -> None:
        self._rates = [page.rate for page in pages]
        self._last = [0.0] * len(pages)

    def next(self, now: float, count: int) -> Sequence[int]:
        pages = zip(self._rates, self._last, strict=True)
        gains = [(-_gain(rate, now - last), number) for number, (rate, last) in enumerate(pages)]
        return [number for _, number in sorted(gains)[:count]]

    def visited(self, page: int, now: float, *, changed: bool) -> None:
        del changed
        self._last[page] = now


def _gain(rate: float, age: float) -> float:
    expected = rate * age
    return (1 - math.exp(-expected) * (1 + expected)) / rate if rate else 0.0


class LikelyFirst(Ours):
    """As ours was: by the probability of a change."""

    measure = staticmethod(ChangeRates.likelihood)


SCHEDULES: dict[str, Callable[[Sequence[SitePage]], Schedule]] = {
    "uniform": Uniform,
    "Nutch": Nutch,
    "likely first": LikelyFirst,
    "ours": Ours,
    "known rates": KnownRates,
}


def freshness(pages: Sequence[SitePage], schedule: Schedule, budget: float) -> tuple[float, float]:
    """The share of the time that copies are current, and the share of visits that found a change."""
    last, fresh, found, visits = [0.0] * len(pages), 0.0, 0, 0
    for day in range(1, DAYS):
        now = day * DAY
        for number in schedule.next(now, round(budget * len(pages))):
            page = pages[number]
            changed = page.has_changed(last[number], now)
            fresh += page.fresh(last[number], now)
            last[number], found, visits = now, found + changed, visits + 1
            schedule.visited(number, now, changed=changed)
    fresh += sum(page.fresh(visited, DAYS * DAY) for page, visited in zip(pages, last, strict=True))
    return fresh / (len(pages) * DAYS * DAY), found / visits


def _poisson(dice: random.Random, rate: float) -> list[float]:
    times, now = list[float](), 0.0
    while rate and (now := now + dice.expovariate(rate)) < DAYS * DAY:
        times.append(now)
    return times


def _log_uniform(dice: random.Random) -> float:
    """From four changes a day to one a year."""
    return math.exp(dice.uniform(math.log(1 / 365), math.log(4))) / DAY


Made = list[tuple[list[float], float]]
"""Of each page, the times of its changes, and how many come in a second."""
Kind = Callable[[random.Random], Made]


def by_directory(dice: random.Random) -> Made:
    """The pages of a directory change about equally often."""
    rates = [_log_uniform(dice) for _ in range(DIRECTORIES)]
    paged = [rates[number % DIRECTORIES] * dice.lognormvariate(0, 0.3) for number in range(PAGES)]
    return [(_poisson(dice, rate), rate) for rate in paged]


def by_page(dice: random.Random) -> Made:
    """Directories say nothing."""
    return [(_poisson(dice, rate), rate) for rate in (_log_uniform(dice) for _ in range(PAGES))]


def few(dice: random.Random) -> Made:
    """One page in ten changes every other day, the others never."""
    rates = [0.5 / DAY if dice.random() < 0.1 else 0.0 for _ in range(PAGES)]
    return [(_poisson(dice, rate), rate) for rate in rates]


def regular(dice: random.Random) -> Made:
    """Each page changes at the same distance: a day, a week or a month."""
    made = []
    for _ in range(PAGES):
        distance = dice.choice((1, 7, 30)) * DAY
        first = dice.uniform(0, distance)
        made.append(([first + step * distance for step in range(math.ceil(DAYS * DAY / distance))], 1 / distance))
    return made


def bursts(dice: random.Random) -> Made:
    """Quiet for about a month, then a change every day for about a week."""
    made = []
    for _ in range(PAGES):
        times, now = list[float](), dice.expovariate(1 / (30 * DAY))
        while now < DAYS * DAY:
            end = now + dice.expovariate(1 / (7 * DAY))
            while (now := now + dice.expovariate(1 / DAY)) < end:
                times.append(now)
            now = end + dice.expovariate(1 / (30 * DAY))
        made.append((times, len(times) / (DAYS * DAY)))
    return made


KINDS: tuple[Kind, ...] = (by_directory, by_page, few, regular, bursts)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args(arguments or [])
    print("share of pages that are current (share of visits that found a change)")
    print(f"{'kind':<14}{'visits a day':>12}   " + "".join(f"{name:>16}" for name in SCHEDULES))
    all_shares: dict[str, list[float]] = {name: [] for name in SCHEDULES}
    for kind in KINDS:
        sites = [site(kind, seed) for seed in SEEDS]
        for budget in BUDGETS:
            cells = []
            for name, make in SCHEDULES.items():
                shares = [freshness(pages, make(pages), budget) for pages in sites]
                all_shares[name] += [fresh for fresh, _ in shares]
                cells.append(f"{mean(fresh for fresh, _ in shares):.3f} ({mean(found for _, found in shares):.2f})")
            print(f"{kind.__name__:<14}{budget:>11.0%}    " + "".join(f"{cell:>16}" for cell in cells), flush=True)
    print(f"{'mean':<29}" + "".join(f"{mean(shares):>9.3f}       " for shares in all_shares.values()))
    ours = all_shares["ours"]
    for name in ("uniform", "Nutch", "likely first"):
        ahead = sum(mine > other for mine, other in zip(ours, all_shares[name], strict=True))
        print(f"ours is ahead of {name} in {ahead} of {len(ours)} (kind, visits, seed)")


def site(kind: Kind, seed: int) -> list[SitePage]:
    dice = random.Random(f"{kind.__name__} {seed}")
    return [
        SitePage(f"http://a.test/{number % DIRECTORIES}/{number}", times, rate)
        for number, (times, rate) in enumerate(kind(dice))
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
