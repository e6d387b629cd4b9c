"""All bundles of a run, until each has a part: what is finished stays, what dies is halved, what fails is told."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import msgspec

from bitrawl.cluster.bundles import Bundle
from bitrawl.cluster.executor import Executor
from bitrawl.cluster.mining import Order
from bitrawl.cluster.parts import (
    Died,
    Done,
    Fault,
    Figures,
    SiteOutcome,
    State,
    done,
    failed,
    mark_done,
    progress,
)
from bitrawl.cluster.places import Place

TRIES = 2  # for a bundle whose machine had a fault; judgement
MOST_FAULTS = 5  # in a row: then it is not one machine, and going on would help nobody; judgement


class Tally(msgspec.Struct):
    """How far a run is."""

    sites: int  # all
    finished: Figures = Figures()  # of the bundles that are done
    earlier: Figures = Figures()  # what of that was done before this run
    failed: list[SiteOutcome] = []  # sites without a page
    bundles: int = 0  # done, without those that were halved
    faults: dict[str, str] = {}  # why bundles are not done, by name

    def add(self, how: Done) -> None:
        if how.state is State.HALVED:
            return
        self.bundles += 1
        self.finished += how.figures
        self.failed = [*self.failed, *(site for site in how.sites if site.failed)]

    @property
    def left(self) -> int:
        """Sites that are not done."""
        return self.sites - self.finished.sites


class Run:
    """One driver's view of a run: what it was asked to do, and how far that is."""

    def __init__(self, out: Place, bundles: Sequence[Bundle], order: Callable[[Bundle], Order]) -> None:
        self.tally = Tally(sites=sum(len(bundle.sites) for bundle in bundles))
        self._out = out
        self._order = order
        self._faults: Counter[str] = Counter()
        self._under_way = {left.name: left for bundle in bundles for left in self._unfinished(bundle)}
        self.tally.earlier = self.tally.finished

    @property
    def todo(self) -> int:
        """Bundles that are not done yet."""
        return len(self._under_way)

    def finish(self, executor: Executor, changed: Callable[[], None] = lambda: None) -> None:
        """Do what is left. Bundles that stay undone are in `tally.faults`; the same command tries them again."""
        self._submit(executor, list(self._under_way.values()))
        in_a_row = 0
        while self._under_way:
            order, outcome = executor.ended()
            bundle = self._under_way.pop(order.bundle.name)
            in_a_row = in_a_row + 1 if isinstance(outcome, Fault) else 0
            self._submit(executor, self._next(bundle, outcome))
            changed()
            if in_a_row >= MOST_FAULTS:
                reason = self.tally.faults.get(bundle.name) or str(outcome)
                self.tally.faults.update(dict.fromkeys(self._under_way, reason))
                return

    def running(self) -> Figures:
        """What the bundles that are not done have brought so far, as far as they told."""
        told = (progress(self._out, name) for name in list(self._under_way))
        return sum((figures for figures in told if figures is not None), Figures())

    def _unfinished(self, bundle: Bundle) -> Iterable[Bundle]:
        """The bundle, or what is left of its halves; what is done is counted."""
        how = done(self._out, bundle.name)
        if how is None:
            return [bundle]
        self.tally.add(how)
        if how.state is not State.HALVED:
            return []
        return [left for half in bundle.halves() for left in self._unfinished(half)]

    def _submit(self, executor: Executor, bundles: Iterable[Bundle]) -> None:
        for bundle in bundles:
            self._under_way[bundle.name] = bundle
            executor.submit(self._order(bundle))

    def _next(self, bundle: Bundle, outcome: Done | Died | Fault) -> Iterable[Bundle]:
        """Count what ended; what is to be done now because of it."""
        if isinstance(outcome, Fault):
            self._faults[bundle.name] += 1
            if self._faults[bundle.name] < TRIES:
                return [bundle]
            self.tally.faults[bundle.name] = outcome.reason
            return []
        if isinstance(outcome, Done):
            self.tally.add(outcome)
            return bundle.halves() if outcome.state is State.HALVED else []
        if len(bundle.sites) == 1:
            how = failed(bundle, outcome.reason)
        else:
            how = Done(bundle.name, State.HALVED, ended=outcome.reason)
        mark_done(self._out, how)
        return self._next(bundle, how)
