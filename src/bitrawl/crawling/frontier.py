"""Which link next: order, per-host delay, retries and budgets."""

import asyncio
import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import count
from typing import NamedTuple

import msgspec

from bitrawl.choices import MEGABYTE
from bitrawl.crawling.settings import Budget, Politeness
from bitrawl.endings import Failing, Limit, LimitUnit, ParkReason, SiteBudget
from bitrawl.model import Lease, Link, Skip
from bitrawl.protocols import FIRST, Clock, Queue
from bitrawl.reasons import LeaveReason
from bitrawl.url import Url

BACKOFF_CEILING = 300.0  # seconds
MOST_COMPARED = 30  # hosts of a site that are compared; with more, each takes its turn, because comparing costs time
# A host waits while a rival has a link so much better: its own score is less than this share of the rival's. Without
# such a rule some sites spent half of their fetches on hosts that had nothing (lab/notes/frontier-and-queue.md).
MUCH_BETTER = 0.5
# The same of all hosts where links are ranked and a number of pages or downloads is set: pages are scarce, not time. Tried
# 0.5, 0.8 and 0.9 in virtual time (lab/notes/frontier-and-queue.md).
SCARCE = 0.95
TURN = 8  # visits for each one that goes to a host that should wait: nothing starves, and nothing is believed for ever
LOOSE_TURN = 2  # the same where no such number is set, and time is what is scarce
READ_FIRST = 10  # visits that were read, for each that may be unread where links are ranked
WORTH_WAITING = 30.0  # seconds; a host that rests for longer (Crawl-delay, Retry-After) keeps nobody waiting
MOST_STALE = 4  # places in the ranking for each host that has one, before old ones are removed
PATIENCE = 1.0  # seconds without an answer after which a visit only waits, and another may work
QUICK_FIRST = 4  # visits to hosts that answer quickly, before one to another host
SILENCE = 5.0  # seconds without an answer after which nobody waits for a host any more, nor any budget


class InFlight(msgspec.Struct, frozen=True):
    """How many visits may be under way at once, over all hosts. A visit works, or it only waits for an answer."""

    working: int | None = None  # None is no limit
    # More that only wait. 0: a visit that waits takes the place of one that works. Hosts that have never answered get
    # at most three quarters, or as many as work where the best link goes first: else the ranking would mean little.
    waiting: int = 0

    def new(self, *, ranked: bool) -> int:
        """How many hosts that have never answered may be waited for."""
        return min(self.working or self.waiting, self.waiting) if ranked else -(-3 * self.waiting // 4)


@dataclass
class Spent:
    """What was spent so far, of one site or of the job, earlier runs included."""

    pages: int = 0
    bytes: int = 0
    seconds: float = 0.0  # in earlier runs
    started: float | None = None  # in this run
    in_flight: int = 0
    silent: int = 0  # of what is in flight: without an answer for long
    downloads: int = 0

    def minutes(self, now: float) -> float:
        return (self.seconds + (now - self.started if self.started is not None else 0.0)) / 60

    def limit(self, budget: Budget, now: float, downloads: int | None = None) -> Limit | None:
        """Which limit is reached, counting what is in flight; None when none is. A silent host brings no page."""
        if budget.pages is not None and self.pages + self.in_flight - self.silent >= budget.pages:
            return Limit(LimitUnit.PAGES, budget.pages)
        if downloads is not None and self.downloads + self.in_flight >= downloads:
            return Limit(LimitUnit.DOWNLOADS, downloads)
        if budget.megabytes is not None and self.bytes >= budget.megabytes * MEGABYTE:
            return Limit(LimitUnit.MEGABYTES, budget.megabytes)
        if budget.minutes is not None and self.minutes(now) >= budget.minutes:
            return Limit(LimitUnit.MINUTES, budget.minutes)
        return None


@dataclass
class Spending:
    """What may be spent, and what was: by the whole job, and by each site."""

    budget: Budget = field(default_factory=Budget)
    downloads: int | None = None  # where to stop: requests for pages and sitemaps, whatever they brought
    job: Spent = field(default_factory=Spent)
    sites: dict[str, Spent] = field(default_factory=dict)

    @property
    def is_scarce(self) -> bool:
        """Whether a number of pages or downloads is set: then they are scarce, otherwise time is."""
        return self.budget.pages is not None or self.downloads is not None

    @classmethod
    def resumed(
        cls, budget: Budget, downloads: int | None, sites: Iterable[tuple[str, int, int]], seconds: float
    ) -> "Spending":
        """After earlier runs, which took so many seconds, and the pages and bytes of each site."""
        spent = {site: Spent(pages, size) for site, pages, size in sites}
        pages, size = sum(each.pages for each in spent.values()), sum(each.bytes for each in spent.values())
        return cls(budget, downloads, Spent(pages, size, seconds), spent)

    def on(self, site: str) -> Spent:
        return self.sites.setdefault(site, Spent())

    def limit(self, now: float) -> Limit | None:
        """Which limit of the job is reached; None while none is."""
        return self.job.limit(self.budget, now, self.downloads)

    def site_limit(self, site: str, now: float) -> Limit | None:
        return self.on(site).limit(self.budget.of_site(), now)


class HostRules(msgspec.Struct, frozen=True, kw_only=True):
    """How hosts are compared, and when one is given up."""

    ranked: bool = False  # All hosts are compared, and the one with the best link comes next; else each takes its turn.
    # The strategy chooses itself what is tried out. In a search for sites, turns of others cost a sixth of the sites.
    explores: bool = False
    returns: bool = False  # to sites that were left, once, when nothing else is queued
    # Scores that are worth waiting for: a link below one waits while a host that rests has a link above it.
    steps: tuple[float, ...] = ()
    # What a page brings may change the order. Then, where a host need not rest, its next link waits for that page.
    orders: bool = False
    failures: int = 8  # in a row, before a host is left for this run; its links stay queued
    first_failures: int = 3  # the same of a host that never answered


class Pace(IntEnum):
    """How a host answers, as far as we know."""

    QUICK = 0
    SLOW = 1  # it needed more than `PATIENCE`, or failed
    NEW = 2  # it has never answered


@dataclass
class Host:
    """What the frontier knows of a host with work."""

    name: str
    site: str
    ready_at: float = 0.0
    busy: int = 0
    failures: int = 0
    answered: bool = False
    took: float = 0.0  # its last answer, in seconds
    silent: int = 0  # visits that have waited so long that nobody waits for the host any more
    waiting: bool = False  # in the heap, or ready
    parked: ParkReason | None = None  # why it is not to be visited in this run

    @property
    def pace(self) -> Pace:
        if not self.answered:
            return Pace.NEW
        return Pace.SLOW if self.failures or self.took > PATIENCE else Pace.QUICK

    def is_awaited(self, now: float) -> bool:
        """Whether others may have to wait for its links."""
        if self.failures or self.silent or self.parked or self.ready_at > now + WORTH_WAITING:
            return False
        return self.waiting or self.busy > 0


@dataclass(eq=False)
class Flight:
    """A link that was handed out and has not finished."""

    host: Host
    since: float
    pace: Pace  # of its host, when it was handed out
    score: float = 1.0  # of its link
    busy: bool = True  # it still counts as a connection of its host
    answered: bool = False
    waits: bool = False  # it takes no place of those that work
    late: bool = False  # so late that nobody waits for what it brings
    silent: bool = False


class FrontierPlace(NamedTuple):
    """Of a host that may be visited now: the best score first, then the host that has waited longest."""

    cost: float  # the score of its best link, negated; 0 where hosts take turns
    turn: int
    host: str
    pace: Pace


@dataclass
class Frontier:
    """Hands out one link at a time, so that no host is hit too often, none starves the rest, and the best come first.

    A host with work lies in a heap by the time it may be visited; `take` waits for the first.
    The links themselves are the queue's. All methods belong to one event loop.

    What is scarce is spent on what is best. A host waits, even if a place is free, while a rival that may be visited soon
    has a link that is much better, or while a page is being read whose link was. Rivals are all hosts where links are
    `ranked`, otherwise those of a site; `steps` say what is much better in another way. Where links are ranked, one visit
    in eight goes to the host that has waited for longest (in two where time is what is scarce) unless the strategy
    `explores` itself, and only a tenth as many visits are unread as were read. What a host is asked first, and seeds, wait for nothing.
    """

    queue: Queue
    clock: Clock
    site_of: Callable[[str], str]  # from a host to its site
    politeness: Politeness = field(default_factory=Politeness)
    crawl_delay: Callable[[str], float] = lambda _host: 0.0
    spending: Spending = field(default_factory=Spending)
    rules: HostRules = field(default_factory=HostRules)
    has_more: Callable[[str], bool] = lambda _host: False  # although its site was left: what is to be visited again

    def __post_init__(self) -> None:
        self.left: dict[str, LeaveReason] = {}  # sites that are not visited any more, and why
        self._hosts: dict[str, Host] = {}
        self._heap: list[tuple[float, int, str]] = []
        self._order = count()
        self._ready: dict[str, FrontierPlace] = {}  # hosts that may be visited now
        # Of them, by pace; a place that a host has no longer is passed over.
        self._rankings: dict[Pace, list[FrontierPlace]] = {pace: [] for pace in Pace}
        self._blocked: dict[str, set[str]] = {}  # hosts by site that wait until something of it has finished
        self._of_site: dict[str, set[str]] = {}  # hosts with work, by site
        self._best: dict[str, float] = {}  # the score of what a host would give next, where it is known
        self._leased: dict[Url, Flight] = {}
        self._limits = InFlight()
        self._waiting = dict.fromkeys(Pace, 0)  # visits that only wait, by the pace of their hosts
        self._quick_in_a_row = 0
        # A heap of all hosts by score, where they are ranked; see `_best_rival`.
        self._rivals: list[tuple[float, str]] = []
        self._read = self.spending.job.pages  # visits that have ended
        self._since_turn = 0  # visits since one went to a host that should have waited
        self._unanswered: list[tuple[float, int, Flight]] = []  # a heap by the time to look at each again
        self._changed = asyncio.Event()
        self._stopped = False
        self._returned: set[str] = set()  # sites that were left, and gone back to

    def add(self, scored: Sequence[tuple[Link, float]]) -> None:
        """Queue new links; a known one is raised when its new score is higher."""
        self.wake(self.queue.put(scored))

    def wake(self, names: set[str]) -> None:
        """Note that those hosts have work; at the start of a resumed run, once for each."""
        for name in sorted(names):  # a set's own order differs from run to run
            self._schedule(self._host(name))
            self._rank_anew(name)

    async def take(self, limits: InFlight | None = None) -> Lease | None:
        """The next link; waits while all hosts are resting. None: nothing is queued and nothing is leased.

        Also None when a budget is spent or `stop` was called, and nothing is in flight any more but visits to hosts
        that have been silent for long: whoever made them may end them, for their links are not finished.
        """
        self._limits = limits or self._limits
        while True:
            lease = self._next()
            if lease is not None:
                return lease
            self._changed.clear()
            if not self._is_over():
                await self._wait()
            elif self._stopped or self.budget_reached() or not self._return():
                return None

    def fetched(self, lease: Lease, *, took: float, failed: Skip | None = None, retry_after: float = 0.0) -> None:
        """The connection is free again: the host rests from now on, while the answer is still being analysed.

        `failed` says why there was no answer that counts as one.
        """
        host = self._host(lease.link.url.host)
        host.failures = 0 if failed is None else host.failures + 1
        host.answered = host.answered or failed is None
        host.took = took
        self._compare(host)
        most = self.rules.failures if host.answered else self.rules.first_failures
        if failed is not None and host.failures >= most:
            host.parked = Failing(failed.reason, host.failures, failed.detail)
        rest = self.politeness.delay_after(took, asked=max(self.crawl_delay(host.name), retry_after))
        if failed is not None:
            rest = max(rest, min(self.politeness.backoff * 2 ** (host.failures - 1), BACKOFF_CEILING))
        host.ready_at = max(host.ready_at, self.clock.now() + rest)
        self._answered(lease)
        if rest or not self.rules.orders:
            self._release(lease)
        self._schedule(host)

    def welcome(self, lease: Lease) -> bool:
        """Whether there is still room for its page. What others have used up while a host was silent is gone."""
        flight = self._leased.get(lease.link.url)
        if flight is None or not flight.silent:
            return True
        now = self.clock.now()
        return not (self.spending.limit(now) or self.spending.site_limit(flight.host.site, now))

    def finish(self, lease: Lease, *, pages: int = 0, size: int = 0, downloads: int = 0, retry: bool = False) -> None:
        """The lease ends: with its verdict recorded, or to be tried again.

        Without `fetched` before it no request was made, and the host need not rest.
        """
        self._answered(lease)
        self._release(lease)
        flight = self._leased.pop(lease.link.url, None)
        if flight is None:
            return
        host = self._host(lease.link.url.host)
        self._read += not retry
        for spent in (self.spending.job, self.spending.on(host.site)):
            spent.in_flight -= 1
            spent.pages += pages
            spent.bytes += size
            spent.downloads += downloads
        if retry:
            self.queue.give_back(lease)
            self._rank_anew(host.name)
        self._schedule(host)
        self._unblock(host.site)
        self._changed.set()

    def rescore(self, scores: Iterable[tuple[Url, float]]) -> None:
        """New scores, also lower ones, for what is queued."""
        scores = list(scores)
        self.queue.rescore(scores)
        for host in sorted({url.host for url, _ in scores}):
            self._rank_anew(host)

    def compare(self, steps: tuple[float, ...]) -> None:
        """From now on by these steps."""
        self.rules = msgspec.structs.replace(self.rules, steps=steps)

    def leave(self, site: str, why: LeaveReason) -> None:
        """Hand out nothing more of that site; its links stay queued.

        With `returns` it is gone back to once, when nothing else is queued: until it is left again.
        """
        self.left[site] = why

    def come_back(self, site: str) -> None:
        """To a site that was left."""
        del self.left[site]
        self.wake(set(self._of_site.get(site, ())))

    def stop(self) -> None:
        """Hand out nothing more; `take` answers None once what is in flight has finished."""
        self._stopped = True
        self._changed.set()

    def budget_reached(self) -> Limit | None:
        """Which limit of the job is reached; None while none is."""
        return self.spending.limit(self.clock.now())

    def pause(self) -> tuple[str, float] | None:
        """The host that is waited for, and for how many seconds more; None while something is in flight."""
        if self._leased or not self._heap:
            return None
        return self._heap[0][2], max(0.0, self._heap[0][0] - self.clock.now())

    def parked(self) -> dict[str, ParkReason]:
        """Hosts that were left for this run with links still queued, and why."""
        return {host.name: host.parked for host in self._hosts.values() if host.parked}

    def _is_over(self) -> bool:
        if self._stopped or self.budget_reached():
            return all(flight.silent for flight in self._leased.values())
        return not (self._leased or self._heap or self._ready)

    def _return(self) -> bool:
        """Nothing better is queued: go back to the sites that were left, once. Whether there was one."""
        sites = [site for site in self.left if self.rules.returns and site not in self._returned]
        self._returned.update(sites)
        for site in sites:
            self.come_back(site)
        return bool(sites)

    def _next(self) -> Lease | None:
        now = self.clock.now()
        self._lose_patience(now)
        if self._stopped or self.budget_reached():
            return None
        while self._heap and self._heap[0][0] <= now:
            self._rank(heapq.heappop(self._heap)[2], next(self._order))
        while host := self._best_ready():
            if lease := self._lease_of(host, now):
                return lease
        return None

    def _lose_patience(self, now: float) -> None:
        """What has had no answer for long gives its place to others; after some time more, nobody waits for it."""
        while self._unanswered and self._unanswered[0][0] <= now:
            flight = heapq.heappop(self._unanswered)[2]
            if flight.answered:
                continue
            flight.late = True
            if not flight.waits and sum(self._waiting.values()) < self._limits.waiting:
                flight.waits = True
                self._waiting[flight.pace] += 1
            if not flight.silent and now >= flight.since + SILENCE:
                self._mark_silent(flight, by=1)
                self._unblock(flight.host.site)
            if not (flight.waits and flight.silent):
                self._look_again(flight, now)

    def _look_again(self, flight: Flight, now: float) -> None:
        at = max(now + PATIENCE, flight.since + SILENCE) if flight.waits and flight.late else now + PATIENCE
        heapq.heappush(self._unanswered, (at, next(self._order), flight))

    def _mark_silent(self, flight: Flight, by: int) -> None:
        flight.silent = by > 0
        flight.host.silent += by
        for spent in (self.spending.job, self.spending.on(flight.host.site)):
            spent.silent += by

    def _answered(self, lease: Lease) -> None:
        """From now on the visit works."""
        flight = self._leased.get(lease.link.url)
        if flight is None or flight.answered:
            return
        flight.answered = True
        if flight.silent:
            self._mark_silent(flight, by=-1)
            self._compare(flight.host)
        if flight.waits:
            flight.waits = False
            self._waiting[flight.pace] -= 1
            self._changed.set()

    def _has_room(self, pace: Pace) -> bool:
        limits, waiting = self._limits, sum(self._waiting.values())
        if limits.working is not None and len(self._leased) - waiting >= limits.working:
            return False
        if not limits.waiting or pace is Pace.QUICK:
            return True
        new = pace is not Pace.NEW or self._waiting[Pace.NEW] < limits.new(ranked=self.rules.ranked)
        return new and waiting < limits.waiting

    def _lease_of(self, host: Host, now: float) -> Lease | None:
        """Its best link; None if the host may not be visited now after all."""
        host.waiting = False
        if not self._may_visit(host, now):
            if host.parked:
                self._unblock(host.site)
            return None
        if host.ready_at > now:  # it was put off after it had been queued
            self._schedule(host)
            return None
        if not self.rules.ranked and self._has_better(host):
            self._blocked.setdefault(host.site, set()).add(host.name)
            return None
        lease = self.queue.pop(host.name)
        self._best.pop(host.name, None)
        if lease is None:
            self._forget_if_idle(host)
            self._unblock(host.site)
            return None
        self._lend(lease, host, now)
        return lease

    def _best_ready(self) -> Host | None:
        """Of the hosts that may be visited now, the one with the best link; None too if a better one is to be waited for."""
        tops = [top for pace in Pace if self._has_room(pace) and (top := self._top(pace))]
        if not tops:
            return None
        if self.rules.ranked:
            best = self._ranked_next(min(tops))
        else:  # Visits follow the hosts that answer, and the others get their share.
            quick, others = tops[: tops[0].pace is Pace.QUICK], tops[tops[0].pace is Pace.QUICK :]
            best = min(quick if quick and self._quick_in_a_row < QUICK_FIRST else others or quick)
        if best is None:
            return None
        del self._ready[best.host]
        return self._hosts[best.host]

    def _ranked_next(self, best: FrontierPlace) -> FrontierPlace | None:
        """The best of all that may be visited now; nothing if something better is awaited, and it is not its turn."""
        if not 0 < -best.cost < FIRST:  # what is asked first, or a host that has no link any more
            return best
        unread = [flight.score for flight in self._leased.values() if flight.score < FIRST and not flight.late]
        if len(unread) >= max(1, self._read // READ_FIRST):
            return None
        if not self._is_much_better(max(self._best_rival(), *unread, 0.0), -best.cost):
            return best
        if (
            self.rules.steps
            or self.rules.explores
            or self._since_turn < (TURN if self.spending.is_scarce else LOOSE_TURN) - 1
        ):
            return None
        self._since_turn = -1  # with this visit: 0
        return min(
            (place for place in self._ready.values() if self._has_room(place.pace)), key=lambda place: place.turn
        )

    def _best_rival(self) -> float:
        """The score of the best link of all hosts that are awaited, where hosts are ranked."""
        now, rivals = self.clock.now(), self._rivals
        while rivals:
            cost, name = rivals[0]
            host = self._hosts.get(name)
            if host is not None and -cost == self._score(name) and self._is_rival(host, now):
                return -cost
            heapq.heappop(rivals)
        return 0.0

    def _is_rival(self, host: Host, now: float) -> bool:
        """Whether others may have to wait for it. What a host is asked first says nothing of its worth.

        One that may be visited now is no rival: either it comes next, or there is no room for hosts of its pace.
        """
        if host.name in self._ready or host.site in self.left or not host.is_awaited(now):
            return False
        if self._score(host.name) >= FIRST:
            return False
        return not self.spending.site_limit(host.site, now)

    def _compare(self, host: Host) -> None:
        """It may be a rival from now on, or have another score."""
        if self.rules.ranked:
            heapq.heappush(self._rivals, (-self._score(host.name), host.name))
            if len(self._rivals) > MOST_STALE * len(self._hosts) + 100:
                self._rivals = sorted((-self._score(name), name) for name in self._hosts)

    def _is_much_better(self, rival: float, score: float) -> bool:
        """With steps: on a higher one."""
        if self.rules.steps:
            return any(score < step <= rival for step in self.rules.steps)
        return rival * (SCARCE if self.rules.ranked and self.spending.is_scarce else MUCH_BETTER) > score

    def _top(self, pace: Pace) -> FrontierPlace | None:
        ranking = self._rankings[pace]
        while ranking and self._ready.get(ranking[0].host) != ranking[0]:
            heapq.heappop(ranking)
        return ranking[0] if ranking else None

    def _rank_anew(self, name: str) -> None:
        """What the host would give next has changed."""
        self._best.pop(name, None)
        if name in self._hosts:
            self._compare(self._hosts[name])
        if self.rules.ranked and name in self._ready and -self._score(name) != self._ready[name].cost:
            self._rank(name, self._ready[name].turn)

    def _rank(self, name: str, turn: int) -> None:
        self._compare(self._hosts[name])
        pace = self._hosts[name].pace if self._limits.waiting else Pace.QUICK  # else no visit only waits
        place = self._ready[name] = FrontierPlace(-self._score(name) if self.rules.ranked else 0.0, turn, name, pace)
        heapq.heappush(self._rankings[pace], place)
        if len(self._rankings[pace]) > MOST_STALE * len(self._ready) + 100:
            self._rankings[pace] = sorted(place for place in self._ready.values() if place.pace is pace)

    def _may_visit(self, host: Host, now: float) -> bool:
        if host.site in self.left and not self.has_more(host.name):
            return False
        limit = self.spending.site_limit(host.site, now)
        if limit and self.spending.on(host.site).in_flight:
            self._blocked.setdefault(host.site, set()).add(host.name)
        elif limit:
            host.parked = SiteBudget(limit)
        return not host.parked and not limit and host.busy < self._connections(host)

    def _has_better(self, host: Host) -> bool:
        """Whether another host of the site has something so much better that this one waits for its turn to end.

        A site is as good as its best pages: that one of its hosts rests is no reason to fetch what nobody wants.
        """
        names = self._of_site[host.site]
        if not 1 < len(names) <= MOST_COMPARED:
            return False
        now = self.clock.now()
        rivals = [name for name in names if name != host.name and self._hosts[name].is_awaited(now)]
        return any(self._is_much_better(self._score(name), self._score(host.name)) for name in rivals)

    def _unblock(self, site: str) -> None:
        for name in sorted(self._blocked.pop(site, ())):
            self._schedule(self._host(name))

    def _score(self, name: str) -> float:
        if name not in self._best:
            self._best[name] = self.queue.best(name)
        return self._best[name]

    def _lend(self, lease: Lease, host: Host, now: float) -> None:
        host.busy += 1
        flight = self._leased[lease.link.url] = Flight(host, now, host.pace, lease.score)
        self._since_turn += 1
        self._rank_anew(host.name)
        self._quick_in_a_row = self._quick_in_a_row + 1 if flight.pace is Pace.QUICK else 0
        if self._limits.waiting:
            if flight.pace is not Pace.QUICK:
                flight.waits = True
                self._waiting[flight.pace] += 1
            self._look_again(flight, now)
        for spent in (self.spending.job, self.spending.on(host.site)):
            spent.in_flight += 1
            if spent.started is None:
                spent.started = now
        self._schedule(host)

    def _release(self, lease: Lease) -> None:
        """The host may be visited again, as far as this visit is concerned."""
        flight = self._leased.get(lease.link.url)
        if flight is not None and flight.busy:
            flight.busy = False
            flight.host.busy -= 1

    def _schedule(self, host: Host) -> None:
        if not host.waiting and not host.parked and host.busy < self._connections(host):
            host.waiting = True
            heapq.heappush(self._heap, (host.ready_at, next(self._order), host.name))
            self._changed.set()

    def _connections(self, host: Host) -> int:
        """One to begin with, whatever is allowed: the first answer tells how the host is to be treated."""
        return self.politeness.per_host if host.answered else 1

    def _forget_if_idle(self, host: Host) -> None:
        """Memory is bounded by the hosts with work; one that still rests is remembered until it is asked again."""
        if not host.busy and not host.failures and host.ready_at <= self.clock.now():
            del self._hosts[host.name]
            self._of_site[host.site].discard(host.name)
            self._best.pop(host.name, None)

    def _host(self, name: str) -> Host:
        host = self._hosts.get(name)
        if host is None:
            # Not before those that rest: else ever new hosts would keep a seed's own from its turn.
            host = self._hosts[name] = Host(name, self.site_of(name), ready_at=self.clock.now())
            self._of_site.setdefault(host.site, set()).add(name)
        return host

    async def _wait(self) -> None:
        """Until something changed, the first host is ready, a visit has waited for long, or the time is up."""
        times = [due[0][0] for due in (self._unanswered, self._heap) if due]
        if self._stopped or self.budget_reached():
            times = [at for at, *_ in self._unanswered[:1]]
        elif times and (minutes := self.spending.budget.minutes) is not None:
            now = self.clock.now()
            times.append(now + 60 * (minutes - self.spending.job.minutes(now)))
        if not times:
            await self._changed.wait()
            return
        alarm = asyncio.ensure_future(self.clock.sleep(max(0.0, min(times) - self.clock.now())))
        alarm.add_done_callback(lambda alarm: None if alarm.cancelled() else self._changed.set())
        try:
            await self._changed.wait()
        finally:
            alarm.cancel()
