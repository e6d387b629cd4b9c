"""What a new user types, and what comes back: mistakes, secrets, odd terminals, and figures that agree."""

import base64
import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bitrawl import demo
from bitrawl.cli import status as status_verb
from bitrawl.endings import State
from bitrawl.job.reporting import gather
from bitrawl.show import brief
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger

pytestmark = pytest.mark.usefixtures("no_children")
Bitrawl = Callable[..., tuple[int, str, str]]
GREEK, CHINESE = "Η θάλασσα είναι ήρεμη σήμερα.", "今天海面很平静。"


@pytest.fixture(scope="module")
def mined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The demo's job, made by the real command."""
    folder = tmp_path_factory.mktemp("demo") / "job"
    command = [sys.executable, "-m", "bitrawl", "demo", "--out", str(folder), "--langs", "en,fr,zh"]
    subprocess.run(command, check=True, capture_output=True)
    return folder


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ("mine https//x --langs en,fr --out OUT", 2, "did you mean https://x ?"),
        ("mine https://a.org --out OUT", 2, "no languages are named; say which, as in --langs en,fr"),
        ("mine https://a.org --langs en,fr --out OUT --min-score 7", 2, "--min-score"),
        ("mine https://a.org --langs en,fr --out OUT --max-minutes 0", 2, "--max-minutes"),
        ("mine https://me:geheim@a.org/ --langs en,fr --out OUT", 2, "write it without"),
        ("mine --job BINARY --out OUT", 2, "is not a text file in UTF-8"),
        ("mine --seeds-file BINARY --langs en,fr --out OUT", 2, "is not a text file in UTF-8"),
        ("mine --sites BINARY --langs en,fr --out OUT", 2, "is not a text file in UTF-8"),
        ("mine --sites EMPTY/sites.tsv --langs en,fr --out OUT", 2, "sites.tsv: No such file or directory"),
        ("mine --replay BINARY --langs en,fr --out OUT", 1, "is not a WARC file"),
        ("mine --warc BINARY --langs en,fr --out OUT", 1, "is not a WARC file"),
        ("mine --warc EMPTY --langs en,fr --out OUT", 1, "contains no WARC files"),
        ("mine https://a.org --langs en,fr --out BINARY", 2, "is a file; choose a folder for --out"),
        ("mine https://a.org --langs en,fr --out BINARY/job", 1, "cannot be written: Not a directory"),
        ("mine https://a.org --langs en,fr --out /proc/job", 1, "cannot be written"),
        ("status BINARY", 1, "holds no job"),
        ("demo --langs en,de --out OUT", 2, "the demo has no pages in de; it has en, fr, es, zh"),
        ("urls language BINARY", 2, "is not a text file; write one URL per line"),
        ("urls pairs BINARY --langs en,fr", 2, "is not a text file; write one URL per line"),
        ("urls language EMPTY", 2, "cannot be read: Is a directory"),
    ],
)
def test_a_refused_command_says_what_to_type_and_leaves_nothing_behind(
    bitrawl: Bitrawl, tmp_path: Path, arguments: str, code: int, says: str
):
    (tmp_path / "binary").write_bytes(b"\xc4\0\xff\n" * 20)
    (tmp_path / "empty").mkdir()
    before = files_below(tmp_path)
    for name, path in (("OUT", "job"), ("BINARY", "binary"), ("EMPTY", "empty")):
        arguments = arguments.replace(name, str(tmp_path / path))
    status, out, err = bitrawl(*arguments.split())
    assert status == code, err
    assert says in " ".join(err.split())
    assert "geheim" not in out + err
    assert "Traceback" not in err
    assert files_below(tmp_path) == before


def test_an_archive_that_cannot_be_read_does_not_cost_the_job_that_fresh_would_replace(
    bitrawl: Bitrawl, mined: Path, tmp_path: Path
):
    (tmp_path / "binary").write_bytes(b"no archive")
    before = {path: path.stat().st_mtime_ns for path in mined.rglob("*.jsonl")}
    assert bitrawl("mine", "--fresh", "--replay", tmp_path / "binary", "--langs", "en,fr", "--out", mined)[0] == 1
    assert {path: path.stat().st_mtime_ns for path in mined.rglob("*.jsonl")} == before
    assert bitrawl("status", mined)[0] == 0


def test_a_seeds_file_may_begin_with_a_mark_and_languages_may_have_spaces(
    bitrawl: Bitrawl, mined: Path, tmp_path: Path
):
    (tmp_path / "seeds.txt").write_bytes(b"\xef\xbb\xbfhttps://www.beekeepers.test/\r\n")  # archived as http
    seeds = ("--seeds-file", tmp_path / "seeds.txt", "--replay", mined / "warc", "--langs", "en fr")
    assert bitrawl("crawl", *seeds, "--out", tmp_path / "job", "--quiet")[0] == 0
    status = json.loads(bitrawl("status", tmp_path / "job", "--format", "json")[1])
    assert status["pages"] > 5
    assert [host["host"] for host in status["hosts"]] == ["www.beekeepers.test"]


def test_the_bilingual_sites_of_a_search_are_mined_and_the_others_are_counted(
    bitrawl: Bitrawl, mined: Path, tmp_path: Path
):
    rows = ["www.beekeepers.test\tbilingual", "www.orchard.test\tno", "www.town-library.test\tunknown"]
    (tmp_path / "sites.tsv").write_text("\n".join(["site\tverdict", *rows]) + "\n", encoding="utf-8")
    sites = ("--sites", tmp_path / "sites.tsv", "--replay", mined / "warc", "--langs", "en,fr")
    code, out, err = bitrawl("mine", *sites, "--out", tmp_path / "job")
    assert code == 0
    labels = [line[:11].strip() for line in out.splitlines()]
    assert [label for label in labels if label] == ["job", "found", "left out", "corpus", "report", "next"]
    assert len(labels) <= 10
    assert f"bitrawl sample {tmp_path}/job, bitrawl terms {tmp_path}/job, bitrawl export {tmp_path}/job" in out
    assert "1 site; 2 rows left out: not bilingual" in " ".join(err.split())
    status = json.loads(bitrawl("status", tmp_path / "job", "--format", "json")[1])
    assert [host["host"] for host in status["hosts"]] == ["www.beekeepers.test"]
    assert (tmp_path / "job/corpus/en-fr.sentences.jsonl").stat().st_size > 0


def test_a_dry_run_of_an_archive_shows_each_home_page_and_writes_nothing(bitrawl: Bitrawl, mined: Path, tmp_path: Path):
    code, out, _ = bitrawl(
        "mine", "--replay", mined / "warc", "--langs", "en,fr", "--out", tmp_path / "job", "--dry-run"
    )
    assert code == 0
    assert {url.host for url in demo.seeds()} <= set(out.split())
    assert not (tmp_path / "job").exists()


@pytest.mark.parametrize(("flags", "hosts", "paths"), [
    (["--same-host"], {"www.town-library.test"}, "/"),
    (["--under", "/fr/"], {"www.town-library.test"}, "/fr/"),
])  # fmt: skip
def test_scope_can_be_said_in_words(
    bitrawl: Bitrawl, mined: Path, tmp_path: Path, flags: list[str], hosts: set[str], paths: str
):
    seed = "http://www.town-library.test/fr/"
    replay = ("--replay", mined / "warc", "--langs", "en,fr", "--out", tmp_path / "job", "--quiet", *flags)
    assert bitrawl("crawl", seed, *replay)[0] == 0
    ledger = JobFolder(tmp_path / "job").reading()
    urls = [page.url for page in ledger.pages()]
    ledger.close()
    assert {url.host for url in urls} == hosts
    assert all(url.path.startswith(paths) for url in urls)


def test_a_crawl_of_an_archive_begins_at_the_pages_that_the_topic_is_like(
    bitrawl: Bitrawl, mined: Path, tmp_path: Path
):
    ledger = JobFolder(mined).reading()
    like = str(max(page.url for page in ledger.pages() if page.url.host == "www.beekeepers.test"))
    ledger.close()
    replay = ("--replay", mined / "warc", "--langs", "en", "--out", tmp_path / "job", "--max-pages", "1")
    bitrawl("crawl", "--like", like, *replay)
    visits = [json.loads(line) for line in bitrawl("log", tmp_path / "job", "--format", "jsonl")[1].splitlines()]
    assert [visit["url"] for visit in visits if visit["kind"] == "seed"] == [like]


@pytest.mark.parametrize("arguments", ["log JOB", "status JOB", "sample JOB", "--help"])
def test_a_reader_that_goes_away_is_told_by_the_exit_code(mined: Path, arguments: str):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "bitrawl", *arguments.replace("JOB", str(mined)).split()]
    ended = subprocess.run(command, check=False, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (141, b"")


def test_a_password_in_an_address_is_not_repeated(bitrawl: Bitrawl):
    code, out, err = bitrawl("clean", "https://me:geheim@no-such-host.invalid/")
    assert (code, "geheim" in out + err) == (1, False)
    assert "https://no-such-host.invalid/" in err


def test_figures_agree_wherever_they_are_shown(bitrawl: Bitrawl, mined: Path):
    status = json.loads(bitrawl("status", mined, "--format", "json")[1])
    table = bitrawl("status", mined)[1]
    written = json.loads((mined / "corpus/summary.json").read_text())
    facts = gather(mined)
    said = "\n".join(brief(facts).lines)
    card, page = (mined / "corpus/README.md").read_text("utf-8"), (mined / "report.html").read_text("utf-8")
    assert f"{status['pages']} pages of {status['answers']} answers" in said
    assert f"{status['skipped']} links skipped" in said
    assert (
        f"{status['links']} = {status['pages']} pages + {status['skipped']} skipped + {status['queued']} queued"
        in table
    )
    assert set(status["corpora"]) == set(written)
    for name, one in status["corpora"].items():
        assert (one["pairs"], one["units"]) == (written[name]["pairs"], written[name]["units"])
        lines = (mined / f"corpus/{name}.sentences.jsonl").read_text("utf-8").splitlines()
        assert len(lines) == one["units"]
        assert f"{one['pairs']} {name}" in said
        assert f"{name}: {one['units']} units written" in said
        assert re.search(rf"\b{one['units']}\b", card)
        assert re.search(rf"\b{one['units']}\b", page)
        assert (
            f"{one['pairs']} page pairs, {one['segments']} segment pairs, {one['units']} units in the corpus" in table
        )
    assert sum(one["segments"] for one in status["corpora"].values()) == facts.mined.segments


def test_watching_ends_when_the_job_ends(bitrawl: Bitrawl, mined: Path, monkeypatch: pytest.MonkeyPatch):
    running = Ledger(mined / "job.sqlite")  # holds the lock, as a job that runs
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            running.close()

    monkeypatch.setattr(status_verb, "_wait", wait)
    code, out, _ = bitrawl("status", mined, "--watch", "--format", "json")
    states = [json.loads(line)["state"] for line in out.splitlines()]
    assert (code, len(waits)) == (0, 3)
    assert states == [State.RUNNING] * 3 + [State.ENDED]
    assert json.loads(out.splitlines()[-1])["ended"] in bitrawl("status", mined)[1].splitlines()[0]


ONE_AFTER_THE_OTHER = """
import sys
from bitrawl.cli import main

for arguments in {commands!r}:
    sys.argv = ["bitrawl", *arguments.split()]
    try:
        main()
    except SystemExit as end:
        assert not end.code, (arguments, end.code)
"""


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "utf-8"])
def test_any_script_is_printed_in_any_locale(mined: Path, tmp_path: Path, encoding: str):
    (tmp_path / "a").write_text(GREEK, "utf-8")
    (tmp_path / "b").write_text(CHINESE, "utf-8")
    texts = f"{tmp_path / 'a'} {tmp_path / 'b'} --langs el,zh --format tmx"
    commands = [f"align {texts}", f"sample {mined} -n 300", f"log {mined}", f"export {mined}"]
    done = subprocess.run(
        [sys.executable, "-c", ONE_AFTER_THE_OTHER.format(commands=commands)],
        env=os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr.decode()
    assert GREEK.encode() in done.stdout


@pytest.mark.parametrize("words", ["bitrawl mine --lan", "bitrawl crawl --same-", "bitrawl urls lang", "bitrawl sta"])
def test_the_shell_completes_verbs_and_their_flags(bitrawl: Bitrawl, monkeypatch: pytest.MonkeyPatch, words: str):
    monkeypatch.setenv("_BITRAWL_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    _, out, err = bitrawl()
    last = words.rsplit(maxsplit=1)[-1]
    assert out.split(), err
    assert all(word.startswith(last) for word in out.split())


@pytest.mark.parametrize("given", ["flag", "environment"])
def test_a_password_of_a_proxy_stands_nowhere_afterwards(
    bitrawl: Bitrawl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
):
    secret = "geheim-word"
    (tmp_path / "my.toml").write_text(
        'langs = ["en"]\nseeds = ["http://a.test/"]\n[politeness]\nattempts = 1\nbackoff = 0\ndelay = 0\n'
    )
    asked = ["--job", tmp_path / "my.toml", "--out", tmp_path / "job", "--contact", "me@private.example"]
    if given == "flag":
        asked += ["--proxy", f"http://me:{secret}@127.0.0.1:1"]
    else:
        monkeypatch.setenv("http_proxy", f"http://me:{secret}@127.0.0.1:1")
        monkeypatch.setenv("HTTP_PROXY", f"http://me:{secret}@127.0.0.1:1")
    code, out, err = bitrawl("mine", *asked)
    assert (code, "the proxy http://127.0.0.1:1 cannot be reached: connection refused" in out) == (1, True)
    token = base64.b64encode(f"me:{secret}".encode()).decode()
    assert secret not in out + err
    files = [path for path in (tmp_path / "job").rglob("*") if path.is_file()]
    assert {"job.toml", "job.sqlite", "README.md", "report.html"} <= {path.name for path in files}
    for path in files:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        assert secret.encode() not in data, path
        assert token.encode() not in data, path
    assert "private.example" not in (tmp_path / "job/corpus/README.md").read_text("utf-8")
