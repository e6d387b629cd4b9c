"""Checkpoints of a job folder that this test writes itself."""

import gzip
import os
import sqlite3
from pathlib import Path

import pytest

from bitrawl.cluster.checkpoint import Checkpoints, check_checkpoint, restore
from bitrawl.cluster.places import LocalPlace
from bitrawl.errors import StoreError
from bitrawl.store.ledger import Ledger

ARCHIVE = "bitrawl-00001-20261116120000.warc.gz"


@pytest.fixture
def job(tmp_path):
    """A job that is running: its ledger is open."""
    folder = tmp_path / "job"
    (folder / "warc").mkdir(parents=True)
    (folder / "job.toml").write_text('langs = ["en", "fr"]\n')
    ledger = Ledger(folder / "job.sqlite")
    yield folder, ledger
    ledger.close()


@pytest.fixture
def there(tmp_path):
    return LocalPlace(tmp_path / "there")


def remembered(folder: Path) -> str | None:
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    value = ledger.recall("note")
    ledger.close()
    return value


def note(ledger: Ledger, value: str) -> None:
    ledger.remember("note", value)


def member(number: int) -> bytes:
    return gzip.compress(f"record {number}".encode() + os.urandom(200), mtime=0)


def test_a_running_job_is_restored_as_it_was(job, there, tmp_path):
    folder, ledger = job
    note(ledger, "before")
    whole = member(1) + member(2)
    (folder / "warc" / ARCHIVE).write_bytes(whole + member(3)[:-5])

    assert Checkpoints(folder, there).save()
    note(ledger, "after")
    assert restore(there, tmp_path / "back")

    assert sorted(path.name for path in (tmp_path / "back").iterdir()) == ["job.sqlite", "job.toml", "warc"]
    assert remembered(tmp_path / "back") == "before"
    assert (tmp_path / "back" / "warc" / ARCHIVE).read_bytes() == whole
    assert (tmp_path / "back" / "job.toml").read_text() == 'langs = ["en", "fr"]\n'
    assert not list(folder.glob("checkpoint-*"))


def test_a_later_checkpoint_adds_only_what_is_new(job, there, tmp_path):
    folder, ledger = job
    archive = folder / "warc" / ARCHIVE
    checkpoints = Checkpoints(folder, there)
    archive.write_bytes(member(1))
    checkpoints.save()
    (first,) = (there.path / "warc" / ARCHIVE).iterdir()
    first_time = first.stat().st_mtime_ns
    archive.write_bytes(archive.read_bytes() + member(2))
    (folder / "warc" / ARCHIVE.replace("00001", "00002")).write_bytes(member(3))
    note(ledger, "later")
    checkpoints.save()
    checkpoints.save()

    restore(there, tmp_path / "back")

    pieces = list((there.path / "warc" / ARCHIVE).iterdir())
    assert len(pieces) == 2
    assert first.stat().st_mtime_ns == first_time
    assert sum(piece.stat().st_size for piece in pieces) == archive.stat().st_size
    assert len([name for name in there.names() if name.startswith("ledger")]) == 1
    assert remembered(tmp_path / "back") == "later"
    for path in (folder / "warc").iterdir():
        assert (tmp_path / "back" / "warc" / path.name).read_bytes() == path.read_bytes()


def test_large_archives_are_saved_in_pieces(job, there, tmp_path):
    folder, _ = job
    content = b"".join(map(member, range(5)))
    (folder / "warc" / ARCHIVE).write_bytes(content)

    Checkpoints(folder, there, piece=100).save()
    restore(there, tmp_path / "back")

    assert len(list((there.path / "warc" / ARCHIVE).iterdir())) > 5
    assert (tmp_path / "back" / "warc" / ARCHIVE).read_bytes() == content


def test_a_restored_job_goes_on_being_saved(job, there, tmp_path):
    folder, _ = job
    (folder / "warc" / ARCHIVE).write_bytes(member(1))
    Checkpoints(folder, there).save()
    restore(there, tmp_path / "second")
    archive = tmp_path / "second" / "warc" / ARCHIVE
    archive.write_bytes(archive.read_bytes() + member(2))

    Checkpoints(tmp_path / "second", there).save()
    restore(there, tmp_path / "third")

    assert (tmp_path / "third" / "warc" / ARCHIVE).read_bytes() == archive.read_bytes()
    assert len(list((there.path / "warc" / ARCHIVE).iterdir())) == 2


def test_a_machine_that_was_given_up_cannot_damage_the_checkpoint_of_the_other(job, there, tmp_path):
    folder, _ = job
    archive = folder / "warc" / ARCHIVE
    archive.write_bytes(member(1))
    given_up = Checkpoints(folder, there)
    given_up.save()
    restore(there, tmp_path / "second")
    second = tmp_path / "second" / "warc" / ARCHIVE
    archive.write_bytes(archive.read_bytes() + member(2))
    second.write_bytes(second.read_bytes() + member(3))
    other = Checkpoints(tmp_path / "second", there)

    given_up.save()
    other.save()

    restore(there, tmp_path / "third")
    assert (tmp_path / "third" / "warc" / ARCHIVE).read_bytes() == second.read_bytes()
    given_up.save()
    restore(there, tmp_path / "fourth")
    assert (tmp_path / "fourth" / "warc" / ARCHIVE).read_bytes() == archive.read_bytes()


@pytest.mark.parametrize("grown", [0, 300])
def test_an_archive_whose_end_was_cut_off_meanwhile_is_saved_anew(job, there, tmp_path, grown):
    folder, _ = job
    archive = folder / "warc" / ARCHIVE
    checkpoints = Checkpoints(folder, there)
    kept = member(1)
    archive.write_bytes(kept + member(2))
    checkpoints.save()

    content = kept + (gzip.compress(os.urandom(grown), mtime=0) if grown else b"")
    archive.write_bytes(content)
    checkpoints.save()
    restore(there, tmp_path / "back")

    assert (tmp_path / "back" / "warc" / ARCHIVE).read_bytes() == content


def test_a_damaged_archive_is_saved_as_it_is(job, there, tmp_path):
    folder, _ = job
    content = member(1) + b"damage" + member(2)
    (folder / "warc" / ARCHIVE).write_bytes(content)

    Checkpoints(folder, there).save()
    restore(there, tmp_path / "back")

    assert (tmp_path / "back" / "warc" / ARCHIVE).read_bytes() == content


def test_a_checkpoint_that_is_not_finished_leaves_the_earlier_one(job, there, tmp_path, monkeypatch):
    folder, ledger = job
    (folder / "warc" / ARCHIVE).write_bytes(member(1))
    checkpoints = Checkpoints(folder, there)
    note(ledger, "first")
    checkpoints.save()
    note(ledger, "second")
    whole = (folder / "warc" / ARCHIVE).read_bytes()
    (folder / "warc" / ARCHIVE).write_bytes(whole + member(2))
    real = LocalPlace.write

    def unreachable(place, content):
        if place.path.name == "checkpoint.json":
            raise StoreError("the store does not answer")
        real(place, content)

    monkeypatch.setattr(LocalPlace, "write", unreachable)
    with pytest.raises(StoreError, match="does not answer"):
        checkpoints.save()
    monkeypatch.undo()
    restore(there, tmp_path / "back")
    assert remembered(tmp_path / "back") == "first"
    assert (tmp_path / "back" / "warc" / ARCHIVE).read_bytes() == whole

    checkpoints.save()
    restore(there, tmp_path / "again")
    assert remembered(tmp_path / "again") == "second"


def test_a_checkpoint_with_a_missing_part_makes_no_folder(job, there, tmp_path):
    folder, _ = job
    (folder / "warc" / ARCHIVE).write_bytes(member(1))
    Checkpoints(folder, there).save()
    (there / "warc").delete()

    with pytest.raises(StoreError, match="is not a whole checkpoint"):
        restore(there, tmp_path / "back")
    assert not (tmp_path / "back").exists()
    assert not (tmp_path / "back.new").exists()


@pytest.mark.parametrize("keep", [0.5, 0.99])
def test_a_ledger_that_was_cut_off_is_not_restored(job, there, tmp_path, keep):
    folder, ledger = job
    note(ledger, "something")
    Checkpoints(folder, there).save()
    [packed] = (tmp_path / "there").rglob("job.sqlite.zst")
    packed.write_bytes(packed.read_bytes()[: int(packed.stat().st_size * keep)])

    for attempt in (lambda: check_checkpoint(there), lambda: restore(there, tmp_path / "back")):
        with pytest.raises(StoreError, match="is damaged: ledger"):
            attempt()
    assert not (tmp_path / "back").exists()


def test_nothing_is_saved_before_there_is_a_job_and_nothing_restored(there, tmp_path):
    assert not Checkpoints(tmp_path / "job", there).save()
    assert not restore(there, tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_a_folder_that_exists_is_not_replaced(job, there):
    folder, _ = job
    Checkpoints(folder, there).save()

    with pytest.raises(StoreError, match="exists already"):
        restore(there, folder)


def test_what_is_no_manifest_is_named(there, tmp_path):
    (there / "checkpoint.json").write(b"[]")

    with pytest.raises(StoreError, match=r"is damaged: checkpoint\.json"):
        restore(there, tmp_path / "back")


def test_the_copy_of_the_ledger_is_sound(job, there, tmp_path):
    folder, _ = job
    Checkpoints(folder, there).save()
    restore(there, tmp_path / "back")

    with sqlite3.connect(tmp_path / "back" / "job.sqlite") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


@pytest.mark.parametrize(("took", "rest"), [(1.0, 60.0), (100.0, 900.0)])
def test_saving_takes_a_tenth_of_the_time_at_most(job, there, took, rest):
    times = [0.0]
    checkpoints = Checkpoints(job[0], there, now=lambda: times[0])
    assert not checkpoints.is_due
    times[0] = 60.0
    assert checkpoints.is_due

    moments = iter([60.0, 60.0 + took])
    checkpoints._now = lambda: next(moments)
    checkpoints.save()
    checkpoints._now = lambda: times[0]

    times[0] = 60.0 + took + rest - 1
    assert not checkpoints.is_due
    times[0] += 1
    assert checkpoints.is_due
