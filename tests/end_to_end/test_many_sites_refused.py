"""What `bitrawl mine` refuses before it divides sites: one line that names the fix, and nothing is done."""

from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        ("--sites SITES --part 3/3", "the last one 2/3"),
        ("--sites SITES --part first", "the first of three parts is 0/3"),
        ("--sites SITES --part 0/2 --max-pages 9", "--site-pages"),
        ("--sites SITES --part 0/2 --dry-run", "--dry-run"),
        ("--sites SITES --part 0/2 --scope web --texts SITES", "--scope web"),
        ("--sites SITES --workers 2 --out s4://bucket/x", "s4://"),
        ("--sites SITES --cluster tcp://127.0.0.1:1 --workers 2", "--workers is for this machine"),
        ("--sites SITES --part 0/2 --refresh --fresh", "choose one of them"),
        ("--sites SITES --refresh --retry-failed", "leave out --retry-failed"),
        ("--warc SITES --part 0/2 --refresh", "an archive never changes"),
        ("http://a.test/ --part 0/2", "--sites"),
        ("http://a.test/ --retry-failed", "--retry-failed are for a list of sites (--sites)"),
    ],
)
def test_a_run_that_cannot_be_divided_is_refused(bitrawl: Command, tmp_path: Path, flags: str, named: str):
    sites, out = tmp_path / "sites.txt", tmp_path / "out"
    sites.write_text("http://a.test/\n")
    asked = flags.replace("SITES", str(sites)).split()
    where = [] if "--out" in asked else ["--out", out]
    status, said, err = bitrawl("mine", *asked, "--langs", "en,fr", *where, "--connect-to", "*.test=127.0.0.1:1")
    assert status == 2, said + err
    assert named in err.replace("\n", " ")
    assert not (out / "parts").exists()


def test_one_job_does_not_begin_in_the_folder_of_a_run_in_bundles(bitrawl: Command, tmp_path: Path):
    (tmp_path / "bundles.jsonl").write_bytes(b'{"run":"a","listed":"b"}\n')
    status, _, err = bitrawl("mine", "http://a.test/", "--langs", "en,fr", "--out", tmp_path)
    assert status == 2
    assert "holds sites in bundles" in err
    assert [path.name for path in tmp_path.iterdir()] == ["bundles.jsonl"]


def test_bundles_do_not_begin_in_the_folder_of_one_job(bitrawl: Command, tmp_path: Path):
    (tmp_path / "sites.txt").write_text("http://a.test/\n")
    out = tmp_path / "out"
    out.mkdir()
    (out / "job.sqlite").touch()
    (out / "job.toml").write_text('langs = ["en", "fr"]\nseeds = ["http://a.test/"]\n')
    status, _, err = bitrawl(
        "mine", "--sites", tmp_path / "sites.txt", "--workers", "2", "--langs", "en,fr", "--out", out
    )
    assert status == 2
    assert "holds a job of one process" in err
