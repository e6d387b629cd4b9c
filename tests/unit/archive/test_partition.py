import gzip
import os
from itertools import chain, islice
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator

from bitrawl.archive import warc_split as module
from bitrawl.archive.warc_split import Grouping, partition
from bitrawl.errors import ArchiveError, ConfigError, DiskFullError, StoreError

PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>page</p>"


def record(url: str, kind: str = "response", block: bytes = PAGE) -> bytes:
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:0>\r\nWARC-Target-URI: {url}\r\n"
        f"WARC-Date: 2024-05-01T00:00:00Z\r\nContent-Type: application/http; msgtype={kind}\r\n"
        f"Content-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def packed(*records: bytes) -> bytes:
    return b"".join(gzip.compress(one, mtime=0) for one in records)


def urls(path: Path) -> list[str]:
    with path.open("rb") as file:
        return [one.headers["WARC-Target-URI"] for one in ArchiveIterator(file, parse_http=False)]


def split(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(out.glob("*.warc.gz"))}


@pytest.fixture
def mixed(tmp_path) -> list[Path]:
    """Three files with pages of the same twenty sites."""
    paths = [tmp_path / "segments" / f"{number}.warc.gz" for number in range(3)]
    paths[0].parent.mkdir()
    for number, path in enumerate(paths):
        path.write_bytes(packed(*(record(f"https://www.site{n % 20}.org/{number}/{n}") for n in range(60))))
    return paths


def test_each_site_has_a_file_with_its_members_as_they_were(tmp_path):
    one, two, three = (packed(record(url)) for url in ("http://a.org/", "https://b.org/x", "http://www.a.org/fr/"))
    (tmp_path / "in.warc.gz").write_bytes(one + two + three)

    inputs = partition([tmp_path / "in.warc.gz"], tmp_path / "out")

    assert split(tmp_path / "out") == {"a.org.warc.gz": one + three, "b.org.warc.gz": two}
    assert inputs.done[0].answers == 3
    assert inputs.done[0].bytes == len(one + two + three)


def test_what_is_no_answer_of_the_web_is_left_out(tmp_path):
    answer = packed(record("http://a.org/"))
    others = [record("http://a.org/", kind) for kind in ("request", "metadata", "revisit", "resource")]
    (tmp_path / "in.warc.gz").write_bytes(
        packed(record("dns:a.org"), others[0])
        + answer
        + packed(*others[1:], record("ftp://a.org/"), record("nonsense"))
    )

    partition([tmp_path / "in.warc.gz"], tmp_path / "out")

    assert split(tmp_path / "out") == {"a.org.warc.gz": answer}


@pytest.mark.parametrize(
    "content",
    [
        b"".join(record(f"http://{name}.org/") for name in "abab"),
        gzip.compress(b"".join(record(f"http://{name}.org/") for name in "abab"), mtime=0),
        packed(record("http://a.org/")) + packed(b"".join(record(f"http://{name}.org/") for name in "bab")),
    ],
    ids=["not compressed", "compressed as a whole", "several records in a member"],
)
def test_files_that_are_packed_otherwise_are_split_too(tmp_path, content):
    (tmp_path / "in.warc.gz").write_bytes(content)

    partition([tmp_path / "in.warc.gz"], tmp_path / "out")

    assert urls(tmp_path / "out" / "a.org.warc.gz") == ["http://a.org/"] * 2
    assert urls(tmp_path / "out" / "b.org.warc.gz") == ["http://b.org/"] * 2


def test_what_follows_a_damaged_place_is_kept(tmp_path):
    first, last = packed(record("http://a.org/1")), packed(record("http://a.org/2"), record("http://b.org/"))
    broken = bytearray(packed(record("http://a.org/broken", block=PAGE + os.urandom(500))))
    broken[100:140] = b"\xff" * 40
    (tmp_path / "in.warc.gz").write_bytes(first + bytes(broken) + last)

    partition([tmp_path / "in.warc.gz"], tmp_path / "out")

    assert urls(tmp_path / "out" / "b.org.warc.gz") == ["http://b.org/"]
    assert (tmp_path / "out" / "a.org.warc.gz").read_bytes().startswith(first)
    assert packed(record("http://a.org/2")) in (tmp_path / "out" / "a.org.warc.gz").read_bytes()


def test_groups_hold_whole_sites(tmp_path, mixed):
    partition(mixed, tmp_path / "sites")
    partition(mixed, tmp_path / "groups", groups=4)

    assert len(split(tmp_path / "sites")) == 20
    assert len(split(tmp_path / "groups")) <= 4
    found = [urls(path) for path in (tmp_path / "groups").glob("*.warc.gz")]
    assert sorted(chain(*found)) == sorted(chain(*map(urls, mixed)))
    hosts = [{url.split("/")[2] for url in group} for group in found]
    assert sum(map(len, hosts)) == 20


def test_only_the_listed_sites_are_kept(tmp_path, mixed):
    partition(mixed, tmp_path / "out", sites=frozenset({"site3.org", "site7.org"}))

    assert list(split(tmp_path / "out")) == ["site3.org.warc.gz", "site7.org.warc.gz"]


def test_more_sites_than_open_files_are_split_alike(tmp_path, mixed, monkeypatch):
    partition(mixed, tmp_path / "many")
    monkeypatch.setattr(module._Appending.__init__, "__defaults__", (2,))
    partition(mixed, tmp_path / "few")

    assert split(tmp_path / "few") == split(tmp_path / "many")


@pytest.mark.parametrize("after", [0, 1, 30, 59])
def test_a_run_that_was_cut_off_is_continued_as_if_nothing_had_been(tmp_path, mixed, monkeypatch, after):
    partition(mixed, tmp_path / "whole")
    real = module.answers

    def cut_off(path, wanted):
        if path == mixed[1]:
            yield from islice(real(path, wanted), after)
            raise KeyboardInterrupt
        yield from real(path, wanted)

    monkeypatch.setattr(module, "answers", cut_off)
    with pytest.raises(KeyboardInterrupt):
        partition(mixed, tmp_path / "out")
    (undo,) = (tmp_path / "out" / "partition").glob("*.undo")
    undo.write_bytes(undo.read_bytes() + b"12")  # killed while it noted the next file
    monkeypatch.undo()
    inputs = partition(mixed, tmp_path / "out")

    assert split(tmp_path / "out") == split(tmp_path / "whole")
    assert inputs.before == 1
    assert [Path(share.path) for share in inputs.done] == mixed[1:]


def test_a_kill_after_the_marker_undoes_nothing(tmp_path, mixed):
    partition(mixed, tmp_path / "out")
    whole = split(tmp_path / "out")
    (done, *_) = (tmp_path / "out" / "partition").glob("*.done.json")
    (done.parent / done.name.replace(".done.json", ".undo")).write_text("0 site1.org.warc.gz\n")

    partition(mixed, tmp_path / "out")

    assert split(tmp_path / "out") == whole


def test_a_full_disk_is_named_and_the_same_call_goes_on(tmp_path, mixed, monkeypatch):
    real, written = module._write_all, []

    def full(file, data):
        written.append(1)
        if len(written) == 50:
            real(file, data[:10])
            raise OSError(28, "No space left on device")
        real(file, data)

    monkeypatch.setattr(module, "_write_all", full)
    with pytest.raises(DiskFullError, match="run the same command again"):
        partition(mixed, tmp_path / "out")
    monkeypatch.undo()
    partition(mixed, tmp_path / "out")
    partition(mixed, tmp_path / "whole")

    assert split(tmp_path / "out") == split(tmp_path / "whole")


def test_a_folder_that_was_split_otherwise_is_refused(tmp_path, mixed):
    partition(mixed, tmp_path / "out")

    with pytest.raises(ConfigError, match="another --groups or --sites"):
        partition(mixed, tmp_path / "out", groups=4)


def test_an_input_that_changed_is_refused(tmp_path, mixed):
    partition(mixed, tmp_path / "out")
    mixed[0].write_bytes(mixed[0].read_bytes() + packed(record("http://a.org/")))

    with pytest.raises(StoreError, match="has changed since"):
        partition(mixed, tmp_path / "out")


def test_what_is_no_archive_is_named(tmp_path):
    (tmp_path / "in.warc.gz").write_bytes(b"<html>")

    with pytest.raises(ArchiveError, match="is not a WARC file"):
        partition([tmp_path / "in.warc.gz"], tmp_path / "out")
    with pytest.raises(ArchiveError, match="cannot be read"):
        partition([tmp_path / "nothing.warc.gz"], tmp_path / "out")


@pytest.mark.parametrize("site", ["[2001:db8::1]:8080", "127.0.0.1", "a" * 240 + ".org", "xn--e1afmkfd.xn--p1ai"])
def test_any_site_is_the_name_of_a_file(tmp_path, site):
    (tmp_path / Grouping().file_of(site)).write_bytes(b"")

    assert Grouping().file_of(site) != Grouping().file_of(f"{site}0")
