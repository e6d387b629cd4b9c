"""Mining one bundle on a worker, without its process: what is looked at before, and what is done after."""

import errno
import os
import shutil
import signal
from collections import deque
from pathlib import Path

import msgspec
import pytest

from bitrawl import config
from bitrawl.cluster import bundle_process
from bitrawl.cluster.bundle_process import BROKEN, FAULT, FULL, JOB, OUTCOME, BundleOrder, mine_bundle, scratch_folder
from bitrawl.cluster.bundles import (
    Bundle,
    BundledSite,
    Died,
    Done,
    Figures,
    MachineFault,
    PartState,
    checkpoint,
    done,
    finished_jobs,
    mark_done,
)
from bitrawl.cluster.places import Place, place
from bitrawl.errors import ChildError, DiskFullError, StoreError, UnwantedError
from bitrawl.process import Death
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger

ASKED = config.resolve({"langs": ["en", "fr"], "seeds": ["http://a.org/"]})
DONE = Done("00000", PartState.MINED, figures=Figures(sites=1, pages=3))


@pytest.fixture
def order(tmp_path: Path) -> BundleOrder:
    bundle = Bundle("00000", [BundledSite("a.org", ["http://a.org/"])])
    return BundleOrder(str(tmp_path / "out"), str(tmp_path / "scratch"), "run", ASKED, bundle)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The processes that were started; none of them finishes its bundle."""
    started: list[str] = []

    def run(given: BundleOrder, folder: Path, *_: object) -> Died:
        folder.mkdir(parents=True, exist_ok=True)
        started.append(given.bundle.name)
        return Died("killed by SIGSEGV")

    monkeypatch.setattr(bundle_process, "_run", run)
    return started


def mined(order: BundleOrder, ledger: bytes = b"the ledger") -> Path:
    """What a process leaves that has finished its bundle, just before it was delivered."""
    folder = scratch_folder(order)
    (folder / JOB).mkdir(parents=True)
    (folder / JOB / "job.sqlite").write_bytes(ledger)
    (folder / OUTCOME).write_bytes(msgspec.json.encode(DONE))
    return folder


def test_a_bundle_that_is_done_is_not_mined_again(order: BundleOrder, runs: list[str]):
    mark_done(place(order.out), DONE)
    assert mine_bundle(order) == DONE
    assert not runs


def test_what_a_killed_worker_has_mined_is_delivered_and_not_mined_again(order: BundleOrder, runs: list[str]):
    folder = mined(order)
    out = place(order.out)
    (out / "parts" / "00000" / "stale").write(b"of a delivery that was cut off")
    assert mine_bundle(order) == DONE == done(out, "00000")
    assert (out / "parts" / "00000").names() == ["done.json", "job.sqlite"]
    assert finished_jobs(out) == ["00000"]
    assert not folder.exists()
    assert not runs


class Lost(BaseException):
    """The machine is gone."""


@pytest.mark.parametrize("anywhere", ["folder", "s3 in memory"], indirect=True)
def test_a_part_is_not_lost_with_the_machine_that_was_replacing_it(
    order: BundleOrder, runs: list[str], monkeypatch: pytest.MonkeyPatch, anywhere: str
):
    order, out = msgspec.structs.replace(order, out=anywhere), place(anywhere)
    kind = type(out)
    upload = kind.upload
    Ledger(mined(order, b"") / JOB / "job.sqlite").close()
    assert mine_bundle(order) == DONE
    (out / "parts" / "00000" / "verdicts.sqlite").write(b"what people said since then")
    again = msgspec.structs.replace(order, round=2)
    job = mined(again, b"") / JOB
    with Ledger(job / "job.sqlite") as ledger:
        ledger.remember("round", "2")
    (job / "job.toml").write_text(config.text_of(ASKED))

    def lost(target: Place, folder: Path) -> None:
        if str(target).endswith("/parts/00000"):
            raise Lost
        upload(target, folder)

    monkeypatch.setattr(kind, "upload", lost)
    with pytest.raises(Lost):
        mine_bundle(again)
    monkeypatch.setattr(kind, "upload", upload)
    shutil.rmtree(scratch_folder(again))
    assert finished_jobs(out) == []
    bundle_process._take_up(again, JobFolder(job), out)
    with Ledger(job / "job.sqlite") as ledger:
        assert ledger.recall("round") == "2"
    assert JobFolder(job).verdicts.read_bytes() == b"what people said since then"
    (job.parent / OUTCOME).write_bytes(msgspec.json.encode(DONE))
    assert mine_bundle(again) == msgspec.structs.replace(DONE, round=2)
    assert (out / "parts" / "00000" / "verdicts.sqlite").read() == b"what people said since then"
    assert not (out / "checkpoints").names()
    assert not runs


def test_a_store_that_cannot_be_written_is_a_fault_and_costs_no_work(
    order: BundleOrder, runs: list[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(bundle_process, "DELIVERY_PAUSES", (0.0, 0.0))
    folder = mined(order)
    parts = Path(order.out) / "parts"
    parts.parent.mkdir()
    parts.write_bytes(b"a file where a folder should be")
    assert isinstance(mine_bundle(order), MachineFault)
    assert (folder / OUTCOME).exists()
    parts.unlink()
    assert mine_bundle(order) == DONE
    assert not runs


def test_a_store_that_answers_again_gets_the_part(order: BundleOrder, runs: list[str], monkeypatch: pytest.MonkeyPatch):
    mined(order)
    parts = Path(order.out) / "parts"
    parts.parent.mkdir()
    parts.write_bytes(b"a file where a folder should be")
    monkeypatch.setattr(bundle_process, "_pause", lambda _seconds, _wanted: parts.unlink())
    assert mine_bundle(order) == DONE
    assert not runs


def test_a_part_that_is_not_wanted_any_more_is_not_tried_again(order: BundleOrder, runs: list[str]):
    mined(order)
    Path(order.out).mkdir()
    (Path(order.out) / "parts").write_bytes(b"a file where a folder should be")
    with pytest.raises(UnwantedError):
        mine_bundle(order, lambda: False)


def test_a_process_that_breaks_by_itself_is_started_three_times_before_its_bundle_is_given_up(
    order: BundleOrder, runs: list[str]
):
    assert mine_bundle(order) == Died("killed by SIGSEGV")
    assert runs == ["00000"] * 3
    assert not scratch_folder(order).exists()


def test_a_bundle_whose_process_was_killed_keeps_its_scratch_and_its_checkpoint(
    order: BundleOrder, monkeypatch: pytest.MonkeyPatch
):
    ends = deque([Died("killed by SIGSEGV"), MachineFault("killed", killed=True), Died("killed by SIGSEGV")])

    def run(_given: BundleOrder, folder: Path, *_: object) -> Died | MachineFault:
        (folder / JOB).mkdir(parents=True, exist_ok=True)
        return ends.popleft()

    monkeypatch.setattr(bundle_process, "_run", run)
    saved = checkpoint(place(order.out), "00000") / "checkpoint.json"
    saved.write(b"{}")
    assert mine_bundle(order) == MachineFault("killed", killed=True)
    assert not ends
    assert (scratch_folder(order) / JOB).exists()
    assert saved.read() is not None


@pytest.mark.parametrize(
    ("status", "end"),
    [
        (
            -signal.SIGKILL,
            MachineFault("its process was killed by SIGKILL; check how much memory is free", killed=True),
        ),
        (-signal.SIGSEGV, Died("killed by SIGSEGV")),
        (BROKEN, Died(f"exit status {BROKEN}: KeyError: 7")),
        (FAULT, StoreError("KeyError: 7")),
        (FULL, DiskFullError("KeyError: 7")),
        (1, ChildError("could not begin")),  # what Python itself says when it has no memory, or no bitrawl
    ],
)
def test_how_a_process_ended_says_whether_the_machine_failed_or_we(
    tmp_path: Path, status: int, end: Died | MachineFault | Exception
):
    death = Death(status, "Traceback\nKeyError: 7" if status > 0 else "")
    if isinstance(end, Exception):
        with pytest.raises(type(end), match=str(end)):
            bundle_process._end(death, tmp_path)
    else:
        assert bundle_process._end(death, tmp_path) == end


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "too little memory"),
        (RuntimeError("can't start new thread"), "too little memory"),
        (OSError(errno.ENOSPC, "No space left on device"), "/scratch: no space left on the disk"),
        (OSError(errno.EMFILE, "Too many open files"), "Too many open files"),
        (StoreError("the ledger is locked"), "the ledger is locked"),
        (ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"), ""),  # Sites do such things.
        (KeyError(7), ""),
    ],
)
def test_what_a_process_could_not_do_is_a_fault_of_the_machine_or_perhaps_of_a_site(error: Exception, said: str):
    fault = bundle_process._machine_fault(error, Path("/scratch"))
    assert said in str(fault) if said else fault is None


def test_the_reason_of_a_process_does_not_need_room_on_the_disk(tmp_path: Path):
    (tmp_path / bundle_process.LOG).mkdir()  # nothing can be written there
    assert bundle_process._end(Death(BROKEN, "KeyError: 7"), tmp_path) == Died(f"exit status {BROKEN}: KeyError: 7")


def no_room(_descriptor: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_of_the_place_is_said_at_once_when_a_part_is_delivered(
    order: BundleOrder, runs: list[str], monkeypatch: pytest.MonkeyPatch
):
    folder = mined(order)
    monkeypatch.setattr(bundle_process, "_pause", lambda *_: pytest.fail("it waits"))
    monkeypatch.setattr(os, "fsync", no_room)
    outcome = mine_bundle(order)
    assert isinstance(outcome, MachineFault)
    assert outcome.reason.startswith(f"the disk is full: {order.out}/")
    monkeypatch.undo()
    assert (folder / OUTCOME).exists()
    assert mine_bundle(order) == DONE
    assert not runs


def test_a_full_disk_of_the_place_is_said_at_once_while_a_bundle_is_mined(
    order: BundleOrder, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(os, "fsync", no_room)
    with pytest.raises(DiskFullError, match=r"00000\.json"):
        bundle_process._tell(place(order.out), "00000", b'{"pages": 7}')


def test_a_half_frees_the_disk_of_what_its_bundle_left(order: BundleOrder, runs: list[str]):
    folder = scratch_folder(order)
    (folder / JOB).mkdir(parents=True)
    mine_bundle(msgspec.structs.replace(order, bundle=Bundle("00000-1", order.bundle.sites)))
    assert runs
    assert not folder.exists()


def test_a_fault_of_the_machine_leaves_scratch_as_it_is(order: BundleOrder, monkeypatch: pytest.MonkeyPatch):
    def full(_order: BundleOrder, folder: Path, *_: object) -> str:
        (folder / JOB).mkdir(parents=True)
        raise StoreError("no space left on the disk")

    monkeypatch.setattr(bundle_process, "_run", full)
    assert mine_bundle(order) == MachineFault("no space left on the disk")
    assert (scratch_folder(order) / JOB).exists()


def test_another_run_never_takes_up_what_an_earlier_one_left(order: BundleOrder):
    assert scratch_folder(order) != scratch_folder(msgspec.structs.replace(order, run="another"))
