"""Addresses, and what is special about folders."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bitrawl import files
from bitrawl.cluster.places import LocalPlace, place
from bitrawl.errors import ConfigError, DiskFullError, StoreError


@pytest.mark.parametrize("address", ["/data/jobs", "file:///data/jobs"])
def test_a_path_is_a_place(address):
    assert place(address) == LocalPlace(Path("/data/jobs"))


def test_a_relative_path_stays_where_it_is_when_a_worker_starts_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert place("jobs") == LocalPlace(tmp_path / "jobs")


@pytest.mark.parametrize("address", ["gs://bucket/a", "http://example.org/"])
def test_an_address_of_an_unknown_kind_is_refused(address):
    with pytest.raises(ConfigError, match="is not supported; give a folder, or s3://bucket/prefix"):
        place(address)


def test_an_empty_address_is_refused():
    with pytest.raises(ConfigError, match="empty"):
        place(" ")


def test_a_full_disk_leaves_the_earlier_file(tmp_path, monkeypatch):
    file = place(str(tmp_path)) / "done.json"
    file.write(b"earlier")

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFullError, match="free some and run the same command again"):
        file.write(b"later")
    monkeypatch.undo()

    assert file.read() == b"earlier"
    assert [path.name for path in tmp_path.iterdir()] == ["done.json"]


def test_two_machines_do_not_write_the_same_draft(tmp_path, monkeypatch):
    with files.replacing(tmp_path / "done.json", shared=True) as first:
        first.write(b"first")
        monkeypatch.setattr(files.socket, "gethostname", lambda: "another")
        with files.replacing(tmp_path / "done.json", shared=True) as second:
            second.write(b"second")
        assert (tmp_path / "done.json").read_bytes() == b"second"

    assert (tmp_path / "done.json").read_bytes() == b"first"


def test_of_several_who_write_a_new_file_one_does(tmp_path):
    there = place(str(tmp_path))
    file = there / "bundles.jsonl"
    with ThreadPoolExecutor(4) as pool:
        wrote = list(pool.map(file.write_new, [b"0", b"1", b"2", b"3"]))

    assert sorted(wrote) == [False, False, False, True]
    assert file.read() == str(wrote.index(True)).encode()
    assert not file.write_new(b"4")
    assert there.names() == ["bundles.jsonl"]


def test_drafts_of_a_killed_process_are_not_entries(tmp_path):
    (tmp_path / "done.json.host-1.new").write_bytes(b"")

    assert place(str(tmp_path)).names() == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_named(tmp_path):
    (tmp_path / "secret").write_bytes(b"")
    (tmp_path / "secret").chmod(0)

    with pytest.raises(StoreError, match="secret cannot be read: Permission denied"):
        place(str(tmp_path / "secret")).read()


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_bytes(b"")

    with pytest.raises(StoreError, match="cannot be written"):
        place(str(tmp_path / "file" / "below")).write(b"")
