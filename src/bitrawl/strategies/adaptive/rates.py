"""What visits have brought: how often links of a kind led to a page of a pair, and when to leave a site."""

from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Language
from bitrawl.reasons import FewPairs, LeaveReason, OneLanguage
from bitrawl.url import Url

Floats = NDArray[np.float32]
Groups = NDArray[np.integer]

PARENT_VISITS = 3.0  # judgement: visits that a parent's rate counts for
_ROOT = 0  # above all groups; its rate is the prior
MAX_FOLDERS = 5  # judgement: directories of an address that have a rate of their own
HOST_DEPTH = 3  # steps from the root to a host in the paths that `novelty` is asked about ("marks", fr, host)

MONOLINGUAL_AFTER = 8  # judgement: pages after which a site without a sign of a second language is left
# A site is left when a recent fetch and a fetch of the best queued links together bring less than MIN_SHARE of what a fetch
# of this site has brought on average. Where that average is below MIN_PAIRS_PER_FETCH, they must bring less than that. The
# rest must be worth leaving, too: half as many links as were fetched, and of a site of MIN_KNOWN. Chosen on five site
# packs, confirmed on five others (lab/notes/adaptive.md, "Leaving must be worth it").
MIN_SHARE = 0.01
MIN_PAIRS_PER_FETCH = 0.02
MIN_FETCHES = 120
MIN_KNOWN = 300  # links, fetched or queued; judgement: of a smaller site, all are fetched
MIN_LEFT = 0.5  # queued links, for each fetch; judgement: a third of what is known
RECENT = 80  # fetches, or a third of all
BEST = 20  # queued links
# When the oldest link comes next; judgements. Tried without TRUSTED on ten site packs, too: 2 to 4 % of the area of small
# sites, .002 of large ones (lab/notes/adaptive.md, "A strategy that is wrong").
TRUSTED = 0.5  # a strategy whose visits bring this share of what it promised gives no turns
LITTLE = 0.1  # neither does one that promises no more
FIRST_TURN, MOST_TURNS = 4, -4  # powers of two: the first after sixteen visits, at most sixteen in a row
REMEMBERED = 16.0  # visits of the strategy, and a quarter of them of turns, that the averages are of
OVERDUE = 32  # visits after which nobody waits for a turn any more
NEXT = 0.97  # the score of a link that comes next, whatever else is known of it


class Rates:
    """Groups in a tree; a visit counts for a group and for all above it."""

    def __init__(self, prior: float) -> None:
        self._prior = prior
        self._numbers: dict[Hashable, int] = {}
        # By number, where numpy can read them: a visit changes a few, and few are asked for.
        self._parents = array("i", [_ROOT])
        self._visits = array("f", [0.0])
        self._gains = array("f", [0.0])
        self._depths = array("B", [0])  # steps from the root, as far as they matter
        self._hosts = array("i", [_ROOT])  # the group at HOST_DEPTH on the path to each
        self._visited_below = array("f", [0.0])  # groups directly below that have visits
        self._gaining_below = array("f", [0.0])  # those of them that gained something

    def group(self, path: Sequence[Hashable]) -> int:
        """The group at the end of a path from the root: its number, by which it is asked for and counted."""
        number = _ROOT
        for name in path:
            key = (number, name)
            group = self._numbers.get(key)
            if group is None:
                group = self._numbers[key] = self.below(number)
            number = group
        return number

    def below(self, parent: int) -> int:
        """A new group without a name, for whoever remembers its number."""
        number = len(self._parents)
        depth = min(self._depths[parent] + 1, HOST_DEPTH + 1)
        self._parents.append(parent)
        self._depths.append(depth)
        self._hosts.append(number if depth == HOST_DEPTH else self._hosts[parent])
        for counts in (self._visits, self._gains, self._visited_below, self._gaining_below):
            counts.append(0.0)
        return number

    def count(self, group: int, visits: float, gain: float) -> None:
        """Add visits and what they gained; either may be negative, to correct what was counted before."""
        while group != _ROOT:
            parent = self._parents[group]
            visited, gained = self._visits[group] > 0, self._gains[group] > 0
            self._visits[group] += visits
            self._gains[group] += gain
            self._visited_below[parent] += (self._visits[group] > 0) - visited
            self._gaining_below[parent] += (self._gains[group] > 0) - gained
            group = parent

    def rate(self, group: int) -> float:
        if group == _ROOT:
            return self._prior
        above = PARENT_VISITS * self.rate(self._parents[group])
        return (self._gains[group] + above) / (self._visits[group] + PARENT_VISITS)

    def visits(self, groups: Groups) -> Floats:
        """How many were counted, of each group."""
        values: Floats = np.frombuffer(self._visits, np.float32)[groups]
        return values

    def gains(self, groups: Groups) -> Floats:
        """What they brought, of each group."""
        values: Floats = np.frombuffer(self._gains, np.float32)[groups]
        return values

    def novelty(self, groups: Groups) -> Floats:
        """0 for a group with visits. For one without, the share of its visited siblings that gained something, of 1 at first.

        Divided by the visits of its host as long as that has gained nothing: a host has directories without end, and a
        few of them tell what the others are worth.
        """
        visits, gains, visited, gaining = (
            np.frombuffer(counts, np.float32)
            for counts in (self._visits, self._gains, self._visited_below, self._gaining_below)
        )
        values: Floats = np.zeros(len(groups), np.float32)
        new = np.flatnonzero(visits[groups] == 0)
        parents, hosts = (np.frombuffer(numbers, np.int32)[groups[new]] for numbers in (self._parents, self._hosts))
        share = (1 + gaining[parents]) / (1 + visited[parents])
        values[new] = share / np.where(gains[hosts] > 0, np.float32(1), 1 + visits[hosts])
        return values

    def rates(self, groups: Groups, then: Callable[[Floats], Floats] = lambda rates: rates) -> Floats:
        """In the shape of what is asked for; the other groups cost next to nothing, however many they are.

        `then` is applied to the rate of each group once, however often that is asked for.
        """
        wanted = np.zeros(len(self._parents), bool)
        wanted[groups] = True
        rates = np.empty(len(wanted), np.float32)
        some = np.flatnonzero(wanted)
        rates[some] = then(self._from_the_root(some))
        values: Floats = rates[groups]
        return values

    def _from_the_root(self, groups: Groups) -> Floats:
        """As `rate`, a level at a time for all groups. The root has neither visits nor gains, so its rate stays the prior."""
        parents = np.frombuffer(self._parents, np.int32)
        visits, gains = (np.frombuffer(counts, np.float32) for counts in (self._visits, self._gains))
        levels = [groups]
        while np.count_nonzero(above := parents[levels[-1]]):
            levels.append(above)
        numbers = np.array(levels[::-1])
        rates = np.full(len(groups), self._prior, np.float32)
        for gained, visited in zip(gains[numbers], visits[numbers] + PARENT_VISITS, strict=True):
            rates = (gained + PARENT_VISITS * rates) / visited
        return rates


class Stopping:
    """What fetches of one site brought, and which of the languages asked for it showed any sign of."""

    def __init__(self) -> None:
        self._completed: list[int] = []  # pairs that each fetch completed
        self._pages = 0
        self._signs: set[Language] = set()

    def fetched(self) -> None:
        """One fetch more, whatever comes of it."""
        self._completed.append(0)

    def arrived(self, completed: int) -> None:
        """The last fetch brought a page, which completed so many pairs."""
        self._completed[-1] = completed
        self._pages += 1

    def saw(self, languages: Iterable[Language]) -> None:
        """Something hints at these languages: a text, a declaration, an address."""
        self._signs.update(languages)

    def reason(self, pairs: int, queued: int, best: Callable[[int], Floats]) -> LeaveReason:
        """Why to leave the site, which has brought so many pairs; empty while there is no reason.

        `best` tells the highest scores of what is queued.
        """
        if self._pages >= MONOLINGUAL_AFTER and len(self._signs) < 2:
            return OneLanguage(self._pages, min(self._signs, default=""))
        fetches = len(self._completed)
        if fetches < MIN_FETCHES or queued < max(MIN_LEFT * fetches, MIN_KNOWN - fetches):
            return ""
        average = pairs / fetches
        least = MIN_PAIRS_PER_FETCH if average < MIN_PAIRS_PER_FETCH else MIN_SHARE * average
        window = max(RECENT, fetches // 3)
        recent = sum(islice(reversed(self._completed), window))
        if recent / window >= least:
            return ""
        promised = float(best(BEST).sum())
        if recent / window + promised / BEST >= least:
            return ""
        return FewPairs(pairs, fetches, window, recent, int(queued), BEST, round(promised, 1))


class OldestTurns:
    """When the oldest queued link comes next, as breadth-first would have it, whatever the strategy says of it.

    Only where the strategy's visits bring much less than it promised. Then each turn that brings less than its own visits
    halves the share of turns, and each that brings more doubles it: a strategy that is wrong about a site becomes breadth-first.
    """

    def __init__(self) -> None:
        self._turn: Url | None = None  # whose turn it is
        self._power = (
            FIRST_TURN  # of two: visits of the strategy for each turn, or turns for each visit if it is negative
        )
        self._visits = 0  # since the last turn, or the turns in a row
        self._own = self._promised = self._oldest = (
            0.0  # what visits of the strategy bring and promise, and what turns bring
        )

    def visited(self, url: Url, gain: float, promised: float) -> None:
        """A visit brought that. What it promised was known before it."""
        self._visits += 1
        if url == self._turn:
            self._oldest += (gain - self._oldest) * 4 / REMEMBERED
            self._end_turn(1 if self._oldest <= self._own else -1)
            return
        self._own += (gain - self._own) / REMEMBERED
        self._promised += (promised - self._promised) / REMEMBERED
        if self._turn is not None and self._visits > OVERDUE:  # it may be a trap
            self._end_turn(1)

    def next(self, oldest: Callable[[], Url | None]) -> tuple[tuple[Url, float], ...]:
        """The link whose turn it is, with its score. To be asked after each visit."""
        if self._turn is None and self._is_due():
            self._turn = oldest()
        return () if self._turn is None else ((self._turn, NEXT),)

    def _is_due(self) -> bool:
        if self._own > TRUSTED * self._promised or self._promised < LITTLE:
            return False
        if self._power >= 0:
            return self._visits >= 1 << self._power
        in_a_row = self._visits < 1 << -self._power
        self._visits = self._visits if in_a_row else 0
        return in_a_row

    def _end_turn(self, by: int) -> None:
        self._turn = None
        self._power = max(MOST_TURNS, self._power + by)
        self._visits = self._visits if self._power < 0 else 0


def largest(values: Floats, count: int) -> Floats:
    """So many of them, in any order."""
    return values if len(values) <= count else np.partition(values, -count)[-count:]


def folders(url: Url) -> list[str]:
    """The directories of an address that have a rate of their own."""
    return url.path.split("/")[1:-1][:MAX_FOLDERS]
