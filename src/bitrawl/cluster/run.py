"""All bundles of a run, until each has a part: what is finished stays, what dies is halved, what fails is told.

A fault of a machine is never final: the bundle is tried once more, then left to the next run, with what it has done.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

import msgspec

from bitrawl.cluster.bundles import Bundle
from bitrawl.cluster.executor import Executor
from bitrawl.cluster.mining import Order
from bitrawl.cluster.parts import (
    DONE,
    Died,
    Done,
    Fault,
    Figures,
    PartState,
    SiteOutcome,
    Undone,
    checkpoint,
    done,
    failed,
    forget_undone,
    mark_done,
    mark_undone,
    part,
    progress,
    undone,
)
from bitrawl.cluster.places import Place
from bitrawl.errors import StoreError

TRIES = 2  # for a bundle whose machine had a fault; judgement
MOST_FAULTS = 5  # in a row: then it is not one machine, and going on would help nobody; judgement


class Tally(msgspec.Struct):
    """How far a run is."""

    sites: int  # all
    finished: Figures = Figures()  # of the bundles that are done
    earlier: Figures = Figures()  # what of that was done before this run
    failed: list[SiteOutcome] = []  # sites without a page, through no fault of the machine
    bundles: int = 0  # done, without those that were halved
    faults: dict[str, Undone] = {}  # bundles that are not done because of the machine, by name

    def add(self, how: Done) -> None:
        if how.state is PartState.HALVED:
            return
        self.bundles += 1
        self.finished += how.figures
        self.failed = [*self.failed, *how.failed]

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
        self._left_before = {name: record for name, record in undone(out).items() if name in self._under_way}
        self.tally.faults = dict(self._left_before)
        self.tally.earlier = self.tally.finished

    @property
    def todo(self) -> int:
        """Bundles that are not done yet."""
        return len(self._under_way)

    def finish(self, executor: Executor, tell: Callable[[str], None] = lambda _fault: None) -> None:
        """Do what is left. Bundles that stay undone are in `tally.faults`; the same command tries them again.

        Faults are told when they happen.
        """
        self.tally.faults = {}
        self._submit(executor, list(self._under_way.values()))
        in_a_row = 0  # Kills do not count: they concern one bundle.
        while self._under_way:
            order, outcome = executor.ended()
            bundle = self._under_way.pop(order.bundle.name)
            self._submit(executor, self._next(bundle, outcome))
            if not isinstance(outcome, Fault):
                in_a_row = 0
                continue
            tell(f"bundle {bundle.name}: {outcome.reason}")
            in_a_row += not outcome.killed
            if in_a_row >= MOST_FAULTS:
                for left in list(self._under_way.values()):
                    self._leave(left, outcome)
                return

    def running(self) -> Figures:
        """What the bundles that are not done have brought so far, as far as they told."""
        told = (progress(self._out, name) for name in list(self._under_way))
        return sum((figures for figures in told if figures is not None), Figures())

    def _unfinished(self, bundle: Bundle) -> Sequence[Bundle]:
        """The bundle, or what is left of its halves; what is done is counted."""
        how = done(self._out, bundle.name)
        if how is None:
            return [bundle]
        self.tally.add(how)
        return [left for other in _others(bundle, how) for left in self._unfinished(other)]

    def _submit(self, executor: Executor, bundles: Iterable[Bundle]) -> None:
        for bundle in bundles:
            self._under_way[bundle.name] = bundle
            executor.submit(self._order(bundle))

    def _next(self, bundle: Bundle, outcome: Done | Died | Fault) -> Sequence[Bundle]:
        """Count what ended; what is to be done now because of it."""
        if isinstance(outcome, Fault):
            return self._after_fault(bundle, outcome)
        if isinstance(outcome, Died):
            return self._halved(bundle, outcome.reason)
        self.tally.add(outcome)
        if bundle.name in self._left_before:
            forget_undone(self._out, bundle.name)
        return _others(bundle, outcome)

    def _after_fault(self, bundle: Bundle, fault: Fault) -> Sequence[Bundle]:
        """A bundle that was killed in an earlier run too is halved: one site of it may take all memory.

        Its halves fetch their pages again, so that is the last resort.
        """
        self._faults[bundle.name] += 1
        if self._faults[bundle.name] < TRIES:
            return [bundle]
        before = self._left_before.get(bundle.name)
        if fault.killed and before and before.killed and len(bundle.sites) > 1:
            checkpoint(self._out, bundle.name).delete()
            return self._halved(bundle, fault.reason)
        self._leave(bundle, fault)
        return []

    def _halved(self, bundle: Bundle, reason: str) -> Sequence[Bundle]:
        """Its halves. A site alone has none: it has failed."""
        is_alone = len(bundle.sites) == 1
        how = failed(bundle, reason) if is_alone else Done(bundle.name, PartState.HALVED, ended=reason)
        mark_done(self._out, how)
        return self._next(bundle, how)

    def _leave(self, bundle: Bundle, fault: Fault) -> None:
        """To the next run."""
        record = Undone(bundle.name, [site.site for site in bundle.sites], fault.reason, fault.killed)
        self.tally.faults[bundle.name] = record
        with suppress(StoreError):  # The place may be what has the fault.
            mark_undone(self._out, record)


def retry_failed(out: Place, bundles: Iterable[Bundle]) -> None:
    """Let the next run mine the sites again that brought nothing through no fault of the machine."""
    for bundle in bundles:
        how = done(out, bundle.name)
        if how is None:
            continue
        retry_failed(out, _others(bundle, how))
        names = [site.site for site in how.failed]
        if names and len(names) == len(how.sites):
            (part(out, bundle.name) / DONE).delete()  # first: without it there is no part
            part(out, bundle.name).delete()
        elif names:
            figures = msgspec.structs.replace(how.figures, sites=how.figures.sites - len(names))
            sites = [site for site in how.sites if not site.failed]
            mark_done(out, msgspec.structs.replace(how, sites=sites, figures=figures, again=names))


def _others(bundle: Bundle, how: Done) -> Sequence[Bundle]:
    """The bundles that have what a part left to them."""
    if how.state is PartState.HALVED:
        return bundle.halves()
    return [bundle.again(how.again)] if how.again else []
