"""A run over many bundles, with an executor that does what the test says."""

from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path

from bitrawl import config
from bitrawl.cluster.bundle_process import BundleOrder
from bitrawl.cluster.bundles import (
    Bundle,
    BundledSite,
    Died,
    Done,
    Figures,
    LeftBundle,
    MachineFault,
    Outcome,
    PartState,
    SiteOutcome,
    checkpoint,
    done,
    mark_done,
    undone,
    written_bundles,
)
from bitrawl.cluster.executor import Ended, InlineExecutor
from bitrawl.cluster.places import Place, place
from bitrawl.cluster.run import MOST_FAULTS, Run, RunRequest, existing_run, plan, retry_failed

JOB = config.resolve({"langs": ["en", "fr"], "seeds": ["http://a.org/"]})


def bundles(*sizes: int) -> list[Bundle]:
    return [
        Bundle(f"{number:05}", [BundledSite(f"s{number}x{at}.org", []) for at in range(size)])
        for number, size in enumerate(sizes)
    ]


class Machines:
    """Mines bundles by a function; counts how often each was mined, and marks it as done as a worker does."""

    def __init__(self, out: Place, behave: Callable[[Bundle], Outcome | None] = lambda _bundle: None) -> None:
        self.mined: Counter[str] = Counter()
        self._out = out
        self._behave = behave
        self.executor = InlineExecutor(lambda order, _wanted: self._mine(order))

    def _mine(self, order: BundleOrder) -> Outcome:
        self.mined[order.bundle.name] += 1
        outcome = self._behave(order.bundle)
        if outcome is None:
            sites = [SiteOutcome(site.site, pages=1) for site in order.bundle.sites]
            figures, again = Figures(sites=len(sites), pages=len(sites)), order.bundle.apart
            outcome = Done(order.bundle.name, PartState.MINED, sites, figures, again=again, round=order.round)
            mark_done(self._out, outcome)
        return outcome


def run(out: Place, asked: list[Bundle], number: int = 1) -> Run:
    return Run(out, asked, lambda bundle: BundleOrder(str(out), "", "run", JOB, bundle, number), number=number)


def test_what_is_finished_is_not_done_again(tmp_path: Path):
    out = place(str(tmp_path))
    first = Machines(out)
    run(out, bundles(2, 3)[:1]).finish(first.executor)
    again = Machines(out)
    resumed = run(out, bundles(2, 3))
    assert resumed.todo == 1
    resumed.finish(again.executor)
    assert again.mined == {"00001": 1}
    assert resumed.tally.finished.pages == 5
    assert resumed.tally.earlier.pages == 2


def test_a_poison_site_is_found_by_halving_and_fails_alone_with_its_reason(tmp_path: Path):
    out = place(str(tmp_path))
    poison = "s0x37.org"

    def behave(bundle: Bundle) -> Outcome | None:
        return Died("killed by SIGSEGV") if poison in {site.site for site in bundle.sites} else None

    machines = Machines(out, behave)
    over = run(out, bundles(50, 10))
    over.finish(machines.executor)
    assert [(site.site, site.failed) for site in over.tally.failed] == [(poison, "killed by SIGSEGV")]
    assert over.tally.finished.pages == 59
    assert over.tally.left == 0
    assert max(machines.mined.values()) == 1
    resumed = run(out, bundles(50, 10))
    assert resumed.todo == 0
    assert resumed.tally.finished == over.tally.finished
    assert resumed.tally.failed == over.tally.failed


def test_a_fault_of_a_machine_is_tried_again_and_never_counts_against_the_bundle(tmp_path: Path):
    out = place(str(tmp_path))
    faults = deque([MachineFault("no space left")])
    machines = Machines(out, lambda _bundle: faults.popleft() if faults else None)
    over = run(out, bundles(3))
    over.finish(machines.executor)
    assert machines.mined == {"00000": 2}
    assert not over.tally.faults
    assert over.tally.finished.sites == 3


def test_a_bundle_that_stays_undone_is_told_and_the_next_run_does_it(tmp_path: Path):
    out = place(str(tmp_path))
    machines = Machines(out, lambda bundle: MachineFault("the store is gone") if bundle.name == "00000" else None)
    over = run(out, bundles(1, 1))
    over.finish(machines.executor)
    assert over.tally.faults == {"00000": LeftBundle("00000", ["s0x0.org"], "the store is gone")}
    assert done(out, "00000") is None
    resumed = run(out, bundles(1, 1))
    assert (resumed.todo, resumed.tally.faults) == (1, over.tally.faults)
    resumed.finish(Machines(out).executor)
    assert not resumed.tally.faults
    assert not undone(out)


def killed(_bundle: Bundle) -> Outcome:
    return MachineFault("its process was killed by SIGKILL", killed=True)


def test_a_site_whose_process_is_killed_is_never_final_and_keeps_its_checkpoint(tmp_path: Path):
    out = place(str(tmp_path))
    saved = checkpoint(out, "00000") / "checkpoint.json"
    saved.write(b"{}")
    for _ in range(3):
        over = run(out, bundles(1))
        over.finish(Machines(out, killed).executor)
        assert list(over.tally.faults) == ["00000"]
        assert not over.tally.failed
        assert saved.read() is not None
    healed = run(out, bundles(1))
    healed.finish(Machines(out).executor)
    assert healed.tally.left == 0
    assert not healed.tally.faults


def test_a_bundle_that_is_killed_keeps_its_checkpoint_and_only_a_second_run_halves_it(tmp_path: Path):
    out = place(str(tmp_path))
    greedy = "s0x1.org"
    saved = checkpoint(out, "00000") / "checkpoint.json"
    saved.write(b"{}")

    def behave(bundle: Bundle) -> Outcome | None:
        return killed(bundle) if greedy in {site.site for site in bundle.sites} else None

    over = run(out, bundles(4))
    over.finish(Machines(out, behave).executor)
    assert over.tally.faults["00000"].sites == [f"s0x{at}.org" for at in range(4)]
    assert saved.read() is not None
    again = run(out, bundles(4))
    again.finish(Machines(out, behave).executor)
    assert saved.read() is None
    assert again.tally.finished.sites == 2  # A half that is killed for the first time is left as a whole.
    last = run(out, bundles(4))
    last.finish(Machines(out, behave).executor)
    assert [record.sites for record in last.tally.faults.values()] == [[greedy]]
    assert last.tally.finished.sites == 3


def test_bundles_that_are_killed_do_not_stop_the_others(tmp_path: Path):
    out = place(str(tmp_path))
    over = run(out, bundles(*[1] * 20))
    over.finish(Machines(out, lambda bundle: killed(bundle) if bundle.name < "00010" else None).executor)
    assert len(over.tally.faults) == over.tally.finished.sites == 10


def test_sites_that_failed_are_tried_again_when_asked_and_no_others(tmp_path: Path):
    out = place(str(tmp_path))
    silent = {"s0x1.org", "s1x0.org"}

    def behave(bundle: Bundle) -> Outcome | None:
        sites = [SiteOutcome(each.site, failed="no answer" if each.site in silent else "") for each in bundle.sites]
        how = Done(bundle.name, PartState.MINED, sites, Figures(sites=len(sites)))
        mark_done(out, how)
        return how

    asked = bundles(3, 1)
    run(out, asked).finish(Machines(out, behave).executor)
    retry_failed(out, asked)
    silent.discard("s1x0.org")
    machines = Machines(out, behave)
    over = run(out, asked)
    assert (over.todo, over.tally.left) == (2, 2)
    over.finish(machines.executor)
    assert machines.mined == {"00000-again": 1, "00001": 1}
    assert [site.site for site in over.tally.failed] == ["s0x1.org"]
    retry_failed(out, asked)
    silent.clear()
    last = run(out, asked)
    last.finish(Machines(out, behave).executor)
    assert not last.tally.failed
    assert (last.tally.left, last.tally.finished.sites) == (0, 4)
    retry_failed(out, asked)
    assert run(out, asked).todo == 0


def test_when_every_machine_has_faults_the_run_ends_soon(tmp_path: Path):
    out = place(str(tmp_path))
    machines = Machines(out, lambda _bundle: MachineFault("no space left"))
    over = run(out, bundles(*[1] * 100))
    told: list[str] = []
    over.finish(machines.executor, told.append)
    assert machines.mined.total() == MOST_FAULTS == len(told)
    assert told[0] == "bundle 00000: no space left"
    assert len(over.tally.faults) == 100
    assert {record.reason for record in over.tally.faults.values()} == {"no space left"}


def test_progress_counts_what_is_done_and_what_the_bundles_under_way_told(tmp_path: Path):
    out = place(str(tmp_path))
    seen: list[Figures] = []
    over = run(out, bundles(1, 1))

    def behave(bundle: Bundle) -> Outcome | None:
        (out / "progress" / f"{bundle.name}.json").write(b'{"pages": 7}')
        seen.append(over.tally.finished + over.running())
        (out / "progress" / f"{bundle.name}.json").delete()
        return None

    over.finish(Machines(out, behave).executor)
    assert [figures.pages for figures in seen] == [7, 8]


def test_a_run_can_be_looked_at_while_a_driver_somewhere_works_on_it(tmp_path: Path):
    out = place(str(tmp_path))
    assert existing_run(str(tmp_path)) is None
    asked = bundles(1, 1)
    written_bundles(out, lambda: asked, JOB)
    run(out, asked[:1]).finish(Machines(out).executor)
    (out / "progress/00001.json").write(b'{"pages": 7}')
    looked = existing_run(str(tmp_path))
    assert looked is not None
    assert (looked.todo, looked.tally.finished.pages, looked.running().pages) == (1, 1, 7)


def test_an_outcome_belongs_to_its_order():
    orders = [BundleOrder("out", "", "run", JOB, bundle) for bundle in bundles(1, 1)]
    executor = InlineExecutor(lambda order, _wanted: Died(order.bundle.name))
    for order in orders:
        executor.submit(order)
    assert [executor.ended(), executor.ended()] == [Ended(order, Died(order.bundle.name)) for order in orders]


def test_a_round_goes_on_until_all_is_done_and_only_then_can_the_next_one_begin(tmp_path: Path):
    out = place(str(tmp_path / "out"))
    job = config.resolve({"langs": ["en", "fr"], "seeds": [f"http://{name}.test/" for name in "abc"]})
    asked = RunRequest(str(out), 1, size=1)
    again = asked._replace(refresh=True)
    plan(job, again).finish(Machines(out).executor)  # There is nothing to visit again: this is the first round.
    checkpoint(out, "00000").write(b"left by a kill after the delivery")
    assert [(planned.tally.round, planned.todo) for planned in (plan(job, asked), plan(job, again))] == [(1, 0), (2, 3)]
    assert checkpoint(out, "00000").read() is None
    machines = Machines(out, lambda bundle: MachineFault("the store is gone") if bundle.name == "00001" else None)
    plan(job, again).finish(machines.executor)
    for request in (asked, again):
        planned = plan(job, request)
        assert (planned.tally.round, planned.todo, planned.tally.finished.sites) == (2, 1, 2)
    planned.finish(Machines(out).executor)
    assert [(planned.tally.round, planned.todo) for planned in (plan(job, asked), plan(job, again))] == [(2, 0), (3, 3)]


def test_a_site_that_was_tried_again_is_visited_once_in_a_further_round(tmp_path: Path):
    out, asked = place(str(tmp_path)), bundles(3)
    outcomes = [SiteOutcome("s0x0.org", failed="dns"), SiteOutcome("s0x1.org", 1), SiteOutcome("s0x2.org", 1)]
    mark_done(out, Done("00000", PartState.MINED, outcomes, Figures(sites=3, pages=2)))
    retry_failed(out, asked)
    run(out, asked).finish(Machines(out).executor)
    visited: list[str] = []

    def behave(bundle: Bundle) -> None:
        visited.extend(site.site for site in bundle.sites)

    for number in (2, 3):
        visited.clear()
        over = run(out, asked, number)
        assert (over.todo, over.tally.finished.sites) == (2, 0)
        over.finish(Machines(out, behave).executor)
        assert sorted(visited) == ["s0x0.org", "s0x1.org", "s0x2.org"]
        assert over.tally.finished == Figures(sites=3, pages=3)


def test_a_part_that_breaks_in_a_further_round_is_halved_and_its_halves_stay(tmp_path: Path):
    out, asked = place(str(tmp_path)), bundles(2)
    run(out, asked).finish(Machines(out).executor)
    seen: list[str] = []

    def behave(bundle: Bundle) -> Outcome | None:
        seen.append(bundle.name)
        return Died("killed by SIGSEGV") if bundle.name == "00000" else None

    for number in (2, 3):
        over = run(out, asked, number)
        over.finish(Machines(out, behave).executor)
        assert over.tally.finished.sites == 2
    assert seen == ["00000", "00000-1", "00000-2", "00000-1", "00000-2"]
