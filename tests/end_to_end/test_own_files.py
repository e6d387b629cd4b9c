"""What bitrawl did not make, it neither deletes nor writes over; and what a command reads is never where it writes."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bitrawl import config
from bitrawl.cli import flags
from bitrawl.cluster.run import RunRequest, check_place, plan
from bitrawl.errors import ConfigError
from bitrawl.job import StartOver
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger

Bitrawl = Callable[..., tuple[int, str, str]]
SEED = "http://127.0.0.1:9/"
ARCHIVE = "warc/bitrawl-00001-20261117120000.warc.gz"
MINE = ["mine", SEED, "--langs", "en,fr", "--quiet"]


def held(folder: Path) -> dict[str, bytes]:
    """All files below the folder, but for those of SQLite, which come and go with readers."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".sqlite-wal", ".sqlite-shm"))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def write(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"this is {name}")


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """The folder of a job, with a file of each kind that jobs write."""
    folder = tmp_path / "job"
    folder.mkdir()
    config.write(config.resolve({"langs": ["en", "fr"], "seeds": [SEED]}), folder / "job.toml")
    Ledger(folder / "job.sqlite").close()
    write(folder, ARCHIVE, "report.html", "index.sqlite", "shard/part.json", "shard/en-fr.documents.keys")
    write(folder, "corpus/en-fr.tmx", "corpus/en-fr.tsv.gz", "corpus/summary.json")
    (folder / "corpus/README.md").write_text("written by bitrawl")
    write(folder, "corpus/xces/en-fr/en-3f2a.xml", "rejected/0a1b.html", "rejected/0a1b.json")
    return folder


@pytest.mark.parametrize(
    "foreign",
    ["corpus/thesis.txt", "corpus/cv.doc", "corpus/README.md", "warc/mine.warc.gz", "notes/a.txt", "rejected/x"],
)
def test_fresh_refuses_a_folder_that_also_holds_files_of_others_and_names_them(
    bitrawl: Bitrawl, job: Path, foreign: str
):
    write(job, foreign)
    before = held(job)
    code, _, err = bitrawl(*MINE, "--out", job, "--fresh")
    assert (code, foreign in err, held(job)) == (2, True, before)


@pytest.mark.parametrize("foreign", ["corpus/thesis.txt", "report.html", "notes.txt"])
def test_fresh_refuses_a_folder_that_never_held_a_job(bitrawl: Bitrawl, tmp_path: Path, foreign: str):
    write(tmp_path / "mine", foreign)
    code, _, err = bitrawl(*MINE, "--out", tmp_path / "mine", "--fresh")
    assert (code, foreign in err) == (2, True)
    assert list(held(tmp_path / "mine")) == [foreign]


@pytest.mark.parametrize("foreign", ["corpus/thesis.txt", "report.html", "warc/x.warc.gz", "sites.tsv"])
def test_a_job_does_not_begin_where_it_would_write_over_files_of_others(bitrawl: Bitrawl, tmp_path: Path, foreign: str):
    write(tmp_path / "mine", foreign)
    for command in (MINE, ["crawl", *MINE[1:]], ["discover", *MINE[1:]]):
        code, _, err = bitrawl(*command, "--out", tmp_path / "mine")
        assert (code, foreign in err) == (2, True), command
    assert list(held(tmp_path / "mine")) == [foreign]


def test_starting_over_deletes_what_a_job_made_and_keeps_its_archive_and_what_people_said(job: Path):
    write(job, "verdicts.sqlite", "given/terms.txt", ".DS_Store", "corpus/.DS_Store")
    write(job / "mined", "job.toml", ARCHIVE)
    JobFolder(job).start_over()
    kept = {"verdicts.sqlite", "given/terms.txt", ".DS_Store", "corpus/.DS_Store"}
    aside = {ARCHIVE.replace("warc/", "warc-1/"), "mined/" + ARCHIVE.replace("warc/", "warc-1/")}
    assert set(held(job)) == {*kept, *aside, "job.lock"}
    write(job, ARCHIVE)
    JobFolder(job).start_over(delete_archive=True)
    assert set(held(job)) == {*kept, *aside, "job.lock"}, "what was set aside earlier stays"


def test_starting_over_removes_a_link_and_not_what_it_leads_to(job: Path, tmp_path: Path):
    write(tmp_path / "large disk", "en-fr.tmx", "thesis.txt")
    for path in sorted((job / "corpus").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (job / "corpus").rmdir()
    (job / "corpus").symlink_to(tmp_path / "large disk")
    JobFolder(job).start_over(delete_archive=True)
    assert set(held(job)) == {"job.lock"}
    assert set(held(tmp_path / "large disk")) == {"en-fr.tmx", "thesis.txt"}


@pytest.mark.parametrize(
    "arguments",
    [
        "mine --warc JOB/warc --langs en,fr --out JOB --fresh",
        "mine --warc JOB/warc --langs en,fr --out JOB",
        f"mine --warc JOB/{ARCHIVE} --langs en,fr --out JOB --workers 2",
        "mine --warc LINK/warc --langs en,fr --out JOB --fresh",
        "mine --warc JOB/warc --langs en,fr --out LINK --fresh",
        "mine --replay JOB/warc --langs en,fr --out JOB",
        "mine --sites JOB/sites.txt --langs en,fr --out JOB",
        "mine --sites JOB/sites.txt --langs en,fr --out JOB --workers 2",
        "mine --seeds-file JOB/sites.txt --langs en,fr --out JOB",
        f"mine {SEED} --topic JOB/topic.txt --langs en,fr --out JOB",
        f"mine {SEED} --dictionary JOB/topic.txt --langs en,fr --out JOB",
        "mine --job JOB/job.toml --langs en,de --out JOB --fresh",
        "mine --job JOB/my.toml --out JOB",
        "crawl --seeds-file JOB/sites.txt --langs en,fr --out JOB",
        f"discover {SEED} --backlinks JOB --langs en,fr --out JOB",
        "merge JOB JOB/other --out JOB",
        "merge JOB/merged/one --out JOB/merged",
        f"simulate JOB/{ARCHIVE} --langs en,fr --out JOB/warc",
        "simulate x.warc.gz --truth JOB/sites.txt --langs en,fr --out JOB",
        f"partition JOB/{ARCHIVE} --out JOB/warc",
        "bootstrap Bees --langs en,fr --dump JOB/warc --out JOB",
        "discover graph build JOB/graph --out JOB",
    ],
)
def test_what_a_command_reads_is_refused_where_it_writes(bitrawl: Bitrawl, job: Path, arguments: str):
    link = job.with_name("link")
    link.symlink_to(job)
    (job / "sites.txt").write_text(f"{SEED}\n")
    (job / "topic.txt").write_text("bee\n")
    (job / "my.toml").write_text(f'langs = ["en"]\nseeds = ["{SEED}"]\n')
    before = held(job)
    code, _, err = bitrawl(*(word.replace("JOB", str(job)).replace("LINK", str(link)) for word in arguments.split()))
    assert (code, "lies in the folder that it writes" in err, "--fresh" in err) == (2, True, False), err
    assert held(job) == before


def test_the_job_file_of_the_folder_itself_goes_on_with_its_job(bitrawl: Bitrawl, job: Path):
    code, _, err = bitrawl("mine", "--job", job / "job.toml", "--langs", "en,de", "--out", job)
    assert (code, "holds a job with langs" in err) == (2, True)


def test_an_export_leaves_a_folder_of_others_alone(bitrawl: Bitrawl, job: Path, tmp_path: Path):
    write(tmp_path / "thesis", "README.md", "en-fr.tmx", "chapter.txt")
    for folder, says in (
        (tmp_path / "thesis", "README.md, en-fr.tmx"),
        (job, "holds a job"),
        (job / "corpus", "is a part of a job"),
    ):
        code, _, err = bitrawl("export", job, "--to", folder)
        assert (code, says in err, "--to" in err) == (2, True, True), err


def test_a_simulation_and_a_topic_leave_a_folder_of_others_alone(bitrawl: Bitrawl, tmp_path: Path):
    write(tmp_path / "gold", "truth.tsv", "terms.tsv")
    for command, says in (
        (["simulate", tmp_path / "a.warc.gz", "--langs", "en,fr"], "truth.tsv"),
        (["bootstrap", "Bees", "--langs", "en,fr"], "terms.tsv"),
        (["bootstrap", "Bees", "--langs", "en,fr", "--fresh"], "terms.tsv"),
    ):
        code, _, err = bitrawl(*command, "--out", tmp_path / "gold")
        assert (code, says in err) == (2, True), err
    assert set(held(tmp_path / "gold")) == {"truth.tsv", "terms.tsv"}


def test_the_demo_does_not_delete_another_job(bitrawl: Bitrawl, job: Path):
    before = held(job)
    code, _, err = bitrawl("demo", "--out", job)
    assert (code, "holds another job" in err, held(job)) == (2, True, before)


@pytest.mark.parametrize(("answer", "goes_on"), [(b"y\n", True), (b"n\n", False), (b"\n", False)])
def test_at_a_terminal_it_asks_before_it_deletes(monkeypatch: pytest.MonkeyPatch, answer: bytes, *, goes_on: bool):
    master, terminal = os.openpty()
    os.write(master, answer)
    with os.fdopen(terminal) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        monkeypatch.setattr("sys.stderr.isatty", lambda: True)
        try:
            flags.confirm("jobs/a", StartOver.KEEP_ARCHIVE)
        except flags.typer.Exit:
            assert not goes_on
        else:
            assert goes_on
    os.close(master)


def test_delete_archive_is_nothing_without_fresh():
    with pytest.raises(ConfigError, match="add --fresh"):
        flags.starting_over(fresh=False, delete_archive=True)


def test_a_run_over_many_sites_starts_over_without_what_was_fetched_and_leaves_files_of_others(tmp_path: Path):
    asked = config.resolve({"langs": ["en", "fr"], "seeds": [SEED], "fetch": {"connect_to": {"*": "127.0.0.1:9"}}})
    folder, request = tmp_path / "run", RunRequest(str(tmp_path / "run"), 1)
    plan(asked, request)
    begun = {"job.toml", "bundles.jsonl"}
    assert set(held(folder)) == begun
    write(
        folder / "parts/00000", "done.json", "job.toml", "job.sqlite", ARCHIVE, "shard/part.json", "corpus/summary.json"
    )
    write(
        folder, "merged/merge.json", "merged/corpus/en-fr.tmx", "merged/failed.tsv", "progress/00001.json", "thesis.txt"
    )
    with pytest.raises(ConfigError, match=r"files that bitrawl did not make: thesis\.txt"):
        check_place(asked, str(folder), [], fresh=StartOver.KEEP_ARCHIVE)
    (folder / "thesis.txt").unlink()
    check_place(asked, str(folder), [], fresh=StartOver.KEEP_ARCHIVE)
    plan(asked, request, fresh=StartOver.KEEP_ARCHIVE)
    assert set(held(folder)) == {*begun, "warc-1/00000/" + ARCHIVE.partition("/")[2]}
