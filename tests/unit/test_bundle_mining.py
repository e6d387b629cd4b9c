"""Mining one bundle on a worker, without its process: what is looked at before, and what is done after."""

from pathlib import Path

import msgspec
import pytest

from bitrawl import config
from bitrawl.cluster import mining
from bitrawl.cluster.bundle_process import JOB, OUTCOME
from bitrawl.cluster.bundles import Bundle, BundledSite
from bitrawl.cluster.mining import Order, mine_bundle, scratch_folder
from bitrawl.cluster.parts import Died, Done, Fault, Figures, State, done, finished_jobs, mark_done
from bitrawl.cluster.places import place
from bitrawl.errors import StoreError, UnwantedError

ASKED = config.resolve({"langs": ["en", "fr"], "seeds": ["http://a.org/"]})
DONE = Done("00000", State.MINED, figures=Figures(sites=1, pages=3))


@pytest.fixture
def order(tmp_path: Path) -> Order:
    bundle = Bundle("00000", [BundledSite("a.org", ["http://a.org/"])])
    return Order(str(tmp_path / "out"), str(tmp_path / "scratch"), "run", ASKED, bundle)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The processes that were started; none of them finishes its bundle."""
    started: list[str] = []

    def run(given: Order, folder: Path, *_: object) -> str:
        folder.mkdir(parents=True, exist_ok=True)
        started.append(given.bundle.name)
        return "killed by SIGKILL"

    monkeypatch.setattr(mining, "_run", run)
    return started


def mined(order: Order) -> Path:
    """What a process leaves that has finished its bundle, just before it was delivered."""
    folder = scratch_folder(order)
    (folder / JOB).mkdir(parents=True)
    (folder / JOB / "job.sqlite").write_bytes(b"the ledger")
    (folder / OUTCOME).write_bytes(msgspec.json.encode(DONE))
    return folder


def test_a_bundle_that_is_done_is_not_mined_again(order: Order, runs: list[str]):
    mark_done(place(order.out), DONE)
    assert mine_bundle(order) == DONE
    assert not runs


def test_what_a_killed_worker_has_mined_is_delivered_and_not_mined_again(order: Order, runs: list[str]):
    folder = mined(order)
    out = place(order.out)
    (out / "parts" / "00000" / "stale").write(b"of a delivery that was cut off")
    assert mine_bundle(order) == DONE == done(out, "00000")
    assert (out / "parts" / "00000").names() == ["done.json", "job.sqlite"]
    assert finished_jobs(out) == ["00000"]
    assert not folder.exists()
    assert not runs


def test_a_store_that_cannot_be_written_is_a_fault_and_costs_no_work(
    order: Order, runs: list[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(mining, "DELIVERY_PAUSES", (0.0, 0.0))
    folder = mined(order)
    parts = Path(order.out) / "parts"
    parts.parent.mkdir()
    parts.write_bytes(b"a file where a folder should be")
    assert isinstance(mine_bundle(order), Fault)
    assert (folder / OUTCOME).exists()
    parts.unlink()
    assert mine_bundle(order) == DONE
    assert not runs


def test_a_store_that_answers_again_gets_the_part(order: Order, runs: list[str], monkeypatch: pytest.MonkeyPatch):
    mined(order)
    parts = Path(order.out) / "parts"
    parts.parent.mkdir()
    parts.write_bytes(b"a file where a folder should be")
    monkeypatch.setattr(mining, "_pause", lambda _seconds, _wanted: parts.unlink())
    assert mine_bundle(order) == DONE
    assert not runs


def test_a_part_that_is_not_wanted_any_more_is_not_tried_again(order: Order, runs: list[str]):
    mined(order)
    Path(order.out).mkdir()
    (Path(order.out) / "parts").write_bytes(b"a file where a folder should be")
    with pytest.raises(UnwantedError):
        mine_bundle(order, lambda: False)


def test_a_process_that_dies_is_started_once_more_before_its_bundle_is_given_up(order: Order, runs: list[str]):
    assert mine_bundle(order) == Died("killed by SIGKILL")
    assert runs == ["00000", "00000"]
    assert not scratch_folder(order).exists()


def test_a_fault_of_the_machine_leaves_scratch_as_it_is(order: Order, monkeypatch: pytest.MonkeyPatch):
    def full(_order: Order, folder: Path, *_: object) -> str:
        (folder / JOB).mkdir(parents=True)
        raise StoreError("no space left on the disk")

    monkeypatch.setattr(mining, "_run", full)
    assert mine_bundle(order) == Fault("no space left on the disk")
    assert (scratch_folder(order) / JOB).exists()


def test_another_run_never_takes_up_what_an_earlier_one_left(order: Order):
    assert scratch_folder(order) != scratch_folder(msgspec.structs.replace(order, run="another"))
