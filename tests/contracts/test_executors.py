"""What every executor promises, whatever it runs on."""

import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bitrawl import config
from bitrawl.cluster.bundle_process import BundleOrder, Wanted
from bitrawl.cluster.bundles import Bundle, BundledSite, Died, Done, MachineFault, Outcome, PartState
from bitrawl.cluster.executor import SETTINGS, DaskExecutor, Executor, InlineExecutor, ProcessExecutor, Task
from bitrawl.errors import ConfigError, UnwantedError

JOB = config.resolve({"langs": ["en", "fr"], "seeds": ["http://a.org/"]})
PATIENCE = 60.0  # seconds until a test gives up

Make = Callable[[Task], Executor]


def dask(task: Task) -> Executor:
    cluster = dask_cluster()
    executor = DaskExecutor(task, cluster.scheduler_address)
    executor._cluster = cluster
    return executor


def dask_cluster(workers: int = 2) -> Any:
    """With workers that are threads of this process: what they do is the same, and they start at once."""
    distributed = pytest.importorskip("distributed")
    dask_config = pytest.importorskip("dask").config
    with dask_config.set(SETTINGS):
        return distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=False, memory_limit=0, dashboard_address="127.0.0.1:0"
        )


MAKERS: dict[str, Make] = {
    "inline": InlineExecutor,
    "processes": lambda task: ProcessExecutor(task, 2),
    "dask": dask,
}


@pytest.fixture(params=MAKERS)
def make(request: pytest.FixtureRequest) -> Iterator[Make]:
    made: list[Executor] = []

    def maker(task: Task) -> Executor:
        made.append(MAKERS[request.param](task))
        return made[-1]

    yield maker
    for executor in made:
        executor.close()


def order(name: str, out: str = "out") -> BundleOrder:
    return BundleOrder(out, "", "run", JOB, Bundle(name, [BundledSite("a.org", ["http://a.org/"])]))


def named(given: BundleOrder, _wanted: Wanted) -> Outcome:
    return Done(given.bundle.name, PartState.MINED)


def various(given: BundleOrder, _wanted: Wanted) -> Outcome:
    return Died("killed") if given.bundle.name == "00000" else MachineFault("no space")


def counting(given: BundleOrder, _wanted: Wanted) -> Outcome:
    with Path(given.out).open("a") as file:
        file.write(f"{given.bundle.name}\n")
    return Done(given.bundle.name, PartState.MINED)


def wanting(_given: BundleOrder, wanted: Wanted) -> Outcome:
    return MachineFault("wanted" if wanted() else "not wanted")


def waiting(given: BundleOrder, wanted: Wanted) -> Outcome:
    """Until it is not wanted any more; the file says that it began, and how it ended."""
    Path(given.out).write_text("began")
    for _ in range(int(PATIENCE / 0.05)):
        if not wanted():
            Path(given.out).write_text("given up")
            raise UnwantedError("nobody waits")
        threading.Event().wait(0.05)
    return MachineFault("it was never told")


def test_each_order_ends_once_with_its_own_outcome(make: Make):
    executor = make(named)
    orders = {name: order(name) for name in ("00000", "00001", "00002", "00003", "00004")}
    for each in orders.values():
        executor.submit(each)
    ended = [executor.ended() for _ in orders]
    assert {each.order.bundle.name: each.order for each in ended} == orders
    assert all(each.outcome == Done(each.order.bundle.name, PartState.MINED) for each in ended)


def test_an_order_may_be_submitted_while_others_are_under_way_and_a_second_time(make: Make, tmp_path: Path):
    executor = make(counting)
    log = str(tmp_path / "log")
    executor.submit(order("00000", log))
    executor.submit(order("00001", log))
    first = executor.ended()
    executor.submit(first.order)
    executor.submit(order("00000-1", log))
    for _ in range(3):
        executor.ended()
    expected = sorted(["00000", "00001", "00000-1", first.order.bundle.name])
    assert sorted(Path(log).read_text().split()) == expected


def test_deaths_and_faults_are_outcomes_and_no_exceptions(make: Make):
    executor = make(various)
    executor.submit(order("00000"))
    executor.submit(order("00001"))
    ended = {each.order.bundle.name: each.outcome for each in (executor.ended(), executor.ended())}
    assert ended == {"00000": Died("killed"), "00001": MachineFault("no space")}


def test_an_order_under_way_is_wanted(make: Make):
    executor = make(wanting)
    executor.submit(order("00000"))
    assert executor.ended().outcome == MachineFault("wanted")


@pytest.mark.parametrize("make", ["processes", "dask"], indirect=True)
def test_closing_tells_what_is_under_way_that_nobody_wants_it(make: Make, tmp_path: Path):
    word = tmp_path / "word"
    executor = make(waiting)
    executor.submit(order("00000", str(word)))
    assert comes(word.exists)
    executor.close()
    assert comes(lambda: word.read_text() == "given up")


def comes(condition: Callable[[], bool]) -> bool:
    """Whether it becomes true before the test gives up."""
    pause = threading.Event()
    return any(condition() or pause.wait(0.02) for _ in range(int(PATIENCE / 0.02)))


def test_without_dask_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ConfigError, match=r"install .*'bitrawl\[cluster\]'"):
        DaskExecutor(named, "tcp://127.0.0.1:1")


def broken(_given: BundleOrder, _wanted: Wanted) -> Outcome:
    raise KeyError("a package that is not there")


def test_what_breaks_on_a_worker_of_dask_is_told_in_a_sentence():
    with closing(dask(broken)) as executor:
        executor.submit(order("00000"))
        reason = "a Dask worker could not mine it: KeyError: 'a package that is not there'"
        assert executor.ended().outcome == MachineFault(reason)


def test_without_workers_a_driver_says_so_with_a_count_and_goes_on_when_one_comes(monkeypatch: pytest.MonkeyPatch):
    with (
        closing(dask_cluster(workers=0)) as cluster,
        closing(DaskExecutor(named, cluster.scheduler_address)) as executor,
    ):
        assert executor.workers() == 0
        assert executor.waiting() == "", "it is too early to say so"
        executor.submit(order("00000"))
        monkeypatch.setattr(executor, "_idle", executor._idle._replace(since=executor._idle.since - 12))
        assert (
            f"{cluster.scheduler_address} has no worker: waiting for 12 s, with 1 bundle to do." in executor.waiting()
        )
        cluster.scale(1)
        assert executor.ended().outcome == Done("00000", PartState.MINED)
        assert executor.workers() == 1
        assert executor.waiting() == ""


@pytest.fixture(scope="module")
def restarted_scheduler() -> list[str]:
    """What a driver brings whose scheduler comes back, and what one says whose scheduler does not."""
    pytest.importorskip("distributed")
    command = [sys.executable, "-W", "ignore", str(Path(__file__).parents[1] / "restarted_scheduler.py")]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_a_driver_gives_its_orders_anew_when_the_scheduler_was_restarted(restarted_scheduler: list[str]):
    assert restarted_scheduler[0] == "00000 mined 00001 mined"


def test_a_driver_ends_with_a_sentence_when_the_scheduler_does_not_come_back(restarted_scheduler: list[str]):
    said = restarted_scheduler[1]
    assert re.match(r"the Dask scheduler at tcp://\S+ is gone: .* Nothing is lost\.", said), said
