"""A damaged job folder: a sentence or the right corpus, and `bitrawl check` knows what to do. lab/bench/damage.py is more of it."""

import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from kept_findings import Aligned, keep_findings
from prose_site import keep, prose

from bitrawl import config, demo
from bitrawl.archive.writing import WarcArchive
from bitrawl.job.running import crawl
from bitrawl.model import Capture, Language, PagePair, Segment, SegmentPair, Verdict
from bitrawl.review.reviewing import Reading
from bitrawl.review.segment_review import ReadSegment, Saved, Writer
from bitrawl.store import reading_index
from bitrawl.store.folder import JobFolder
from bitrawl.store.index_reader import PairFilter
from bitrawl.store.ledger import Ledger
from bitrawl.store.stored_findings import Findings
from bitrawl.store.verdicts import Subject, VerdictHistory
from bitrawl.testing import FakeClock
from bitrawl.url import Url

Bitrawl = Callable[..., tuple[int, str, str]]
# Python would cut off the bytecode of modules that it writes, and every later process would fail to read it.
STARVED = {"COLUMNS": "999", "PYTHONDONTWRITEBYTECODE": "1"}
READING = ("status", "log", "report", "sample", "terms", "export", "check")
SENTENCE = re.compile(r"bitrawl: .*(?:damaged|cannot|no pages|not been mined|no terms|no TOML)", re.DOTALL)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A job that was mined, with an archive, verdicts, an index and shards."""
    folder = tmp_path_factory.mktemp("whole") / "job"
    folder.mkdir()
    pages, pairs = prose(12)
    keep(folder, pages)
    texts = {str(page.url): page for page in pages}
    ledger = Ledger(folder / "job.sqlite")
    found = []
    for a, b in sorted(pairs):
        sides = zip(texts[a].paragraphs, texts[b].paragraphs, strict=True)
        urls = Url.parse(a), Url.parse(b)
        pair = PagePair(*urls, Language("en"), Language("fr"), 0.9, {"a": 0.9})
        scores = {"words_a": 9.0, "words_b": 9.0, "alignment": 0.9}
        segments = tuple(SegmentPair(*urls, Segment(x.text), Segment(y.text), 0.9, "1:1", scores, ()) for x, y in sides)
        found.append(Aligned(pair, segments))
    keep_findings(Findings(ledger), "s.test", len(pages), found)
    ledger.close()
    history = VerdictHistory(folder / "verdicts.sqlite")
    for number, one in enumerate(found):
        history.say(Subject.of_segment(one.segments[0]), Verdict.REJECT, "Ana", float(number))
    with WarcArchive(folder / "warc", clock=FakeClock()) as archive, Ledger(folder / "job.sqlite") as ledger:
        for page in pages:
            body = " ".join(paragraph.text for paragraph in page.paragraphs).encode()
            place = archive.write(Capture(page.url, 200, (("Content-Type", "text/html"),), body, 1e9))
            with ledger.transaction():
                where = (place.file, place.offset, page.url)
                ledger.database.query("UPDATE fetches SET file = ?, offset = ? WHERE url = ?", where)
    reading_index.refresh(folder)
    return folder


@pytest.fixture
def job(whole: Path, tmp_path: Path, bitrawl: Bitrawl) -> Path:
    if not (whole / "corpus").exists():
        assert bitrawl("export", whole, "--formats", "tsv,jsonl")[0] == 0
        assert bitrawl("merge", whole, "--out", whole.parent / "merged")[0] == 0
    return Path(shutil.copytree(whole, tmp_path / "job"))


def damaged(path: Path, number: int) -> None:
    """One of several ways: a flipped bit, or an end that is missing."""
    chance = random.Random(f"{path.name} {number}")
    data = bytearray(path.read_bytes())
    place = chance.randrange(len(data))
    data[place] ^= 1 << chance.randrange(8)
    path.write_bytes(data if number else data[:place])


def shown(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "corpus").iterdir() if path.suffix in (".tsv", ".jsonl")}


KINDS = ["job.sqlite", "job.seal", "verdicts.sqlite", "index.sqlite", "warc/*", "shard/part.json", "corpus/*.tsv"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_costs_a_sentence_and_never_another_corpus(kind: str, job: Path, bitrawl: Bitrawl):
    right, (path,) = shown(job), job.glob(kind)
    sample = bitrawl("sample", job)[1]
    content = path.read_bytes()
    for number in range(2):
        damaged(path, number)
        for command in READING:
            status, out, err = bitrawl(command, job)
            assert "Traceback" not in err
            assert status == 0 or command == "check" or SENTENCE.match(err), err
            assert command != "sample" or status or out == sample
            assert command != "export" or status or shown(job) == right
        path.write_bytes(content)
        assert bitrawl("export", job)[0] == 0


@pytest.mark.parametrize(
    "card", [b"", bytes(900), None, 0.3, 0.7], ids=["empty", "zeros", "no card", "a third", "most"]
)
@pytest.mark.parametrize("kind", ["job", "merged", "copy"])
def test_a_card_that_is_damaged_hides_no_other_damage_and_is_written_again(
    kind: str, card: bytes | float | None, job: Path, bitrawl: Bitrawl
):
    folder, again = {
        "job": (job, ("export", job)),
        "merged": (job.parent / "merged", ("merge", job, "--out", job.parent / "merged")),
        "copy": (job.parent / "copy", ("export", job, "--to", job.parent / "copy")),
    }[kind]
    assert bitrawl(*again)[0] == 0
    assert bitrawl("check", folder)[0] == 0
    corpus = folder if kind == "copy" else folder / "corpus"
    right = (corpus / "en-fr.tsv").read_bytes()
    for whole in (True, False):
        content = (corpus / "README.md").read_bytes()
        (corpus / "README.md").unlink()
        if card is not None:
            (corpus / "README.md").write_bytes(content[: int(card * len(content))] if isinstance(card, float) else card)
        if not whole:
            (corpus / "en-fr.tsv").write_bytes(right[: len(right) // 2])
        status, out, _ = bitrawl("check", folder)
        # A copy has nothing but its card, which may be edited: what matters is its list.
        assert status == 1 or (whole and kind == "copy" and card == 0.7), out
        assert not status or whole or kind == "copy" or "en-fr.tsv" in out
        assert not status or ("bitrawl export" in out and ("README.md" in out or "en-fr.tsv" in out))
        assert bitrawl(*again)[0] == 0
        assert bitrawl("check", folder)[0] == 0
        assert (corpus / "en-fr.tsv").read_bytes() == right


def test_a_corpus_that_is_deleted_is_missed(job: Path, bitrawl: Bitrawl):
    assert bitrawl("export", job)[0] == 0
    shutil.rmtree(job / "corpus")
    status, out, _ = bitrawl("check", job)
    assert (status, "en-fr.tsv is missing" in " ".join(out.split())) == (1, True), out


def test_the_card_of_a_copy_may_be_edited(job: Path, bitrawl: Bitrawl):
    copy = job.parent / "copy"
    assert bitrawl("export", job, "--to", copy)[0] == 0
    card = (copy / "README.md").read_text("utf-8")
    (copy / "README.md").write_text(f"{card}\n## Our own remarks\n\n한국어, العربية, ไทย\n", "utf-8")
    assert bitrawl("check", copy)[0] == 0


@pytest.mark.parametrize("share", [0.0, 0.5, None], ids=["empty", "half", "deleted"])
def test_answers_that_the_ledger_names_and_the_archive_has_lost_are_missed(
    share: float | None, job: Path, bitrawl: Bitrawl
):
    (path,) = (job / "warc").iterdir()
    content = path.read_bytes()
    path.unlink() if share is None else path.write_bytes(content[: int(share * len(content))])
    status, out, _ = bitrawl("check", job)
    out = " ".join(out.split())
    assert status == 1, out
    assert f"damaged warc/{path.name}" in out
    assert "24 answers" in out or share == 0.5
    assert "http://s.test/" in out
    assert "--fresh" in out
    assert bitrawl("check", job, "--repair")[0] == 1, "a repair cannot bring them back"
    path.write_bytes(content)
    assert bitrawl("check", job)[0] == 0


def test_the_log_of_a_killed_job_that_is_damaged_is_named_and_repaired(job: Path, bitrawl: Bitrawl):
    right = shown(job)
    code = (
        f"import sys; sys.path[:] = {sys.path!r}\nimport os\nfrom pathlib import Path\nfrom bitrawl.store.ledger import Ledger\n"
        f"ledger = Ledger(Path({str(job / 'job.sqlite')!r}))\n"
        "for number in range(9): ledger.remember(f'fact {number}', 'x' * 3000)\nos.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    log = job / "job.sqlite-wal"
    data = bytearray(log.read_bytes())
    data[9000] ^= 4
    log.write_bytes(data)
    status, _, err = bitrawl("export", job)
    assert status == 1
    assert f"{log} is damaged" in err.replace("\n", "")
    assert f"bitrawl check {job}" in err.replace("\n", " ")
    assert bitrawl("check", job)[0] == 1
    status, out, _ = bitrawl("check", job, "--repair")
    assert status == 0
    assert "repaired job.sqlite" in out
    assert bitrawl("export", job)[0] == 0
    assert shown(job) == right
    assert (job / "damaged" / "job.sqlite-wal").read_bytes() == bytes(data)


def test_a_ledger_that_is_lost_is_set_aside_and_the_archive_says_how_much_is_safe(job: Path, bitrawl: Bitrawl):
    damaged(job / "job.sqlite", 3)
    content = (job / "job.sqlite").read_bytes()
    status, out, _ = bitrawl("check", job)
    assert status == 1
    assert "damaged  job.sqlite" in out
    assert (job / "job.sqlite").read_bytes() == content
    status, out, _ = bitrawl("check", job, "--repair")
    assert status == 0
    assert "24 answers from the archive" in " ".join(out.split())
    assert (job / "damaged" / "job.sqlite").read_bytes() == content
    assert not (job / "job.sqlite").exists()
    status, _, err = bitrawl("status", job)
    assert (status, f"bitrawl mine --out {job}" in err.replace("\n", " ")) == (1, True)


@pytest.mark.usefixtures("no_children")
async def test_a_job_without_its_ledger_asks_its_archive_before_the_web(tmp_path: Path):
    folder = JobFolder(tmp_path / "job")
    async with demo.serve() as web:
        asked = {
            "langs": ["en", "fr"],
            "seeds": ["http://www.beekeepers.test/"],
            "politeness": {"delay": 0.0},
            "fetch": {"allow_private": True, "connect_to": {"*.test": f"{demo.LOOPBACK}:{web.port}"}},
        }
        job = config.resolve(asked)
        await crawl(job, folder)
        first, requests = pages(folder), len(web.visits)
        for name in ("job.sqlite", "job.seal"):
            (folder.path / name).unlink()
        await crawl(job, folder)
        assert pages(folder) == first
        # Answers with an error status are not archived, and are asked for again.
        assert {visit.url for visit in web.visits[requests:]} & set(first) == set()
        assert len(web.visits) - requests < 5


def pages(folder: JobFolder) -> dict[str, str]:
    ledger = folder.reading()
    try:
        return {str(page.url): page.digest for page in ledger.pages()}
    finally:
        ledger.close()


def test_what_is_derived_is_deleted_by_a_repair_and_made_again(job: Path, bitrawl: Bitrawl):
    for name in ("index.sqlite", "shard/part.json"):
        (job / name).write_bytes(b"no such thing")
    status, out, _ = bitrawl("check", job, "--repair")
    assert status == 0
    assert out.count("Nothing is lost.") == 2
    assert bitrawl("merge", job, "--out", job.parent / "merged")[0] == 0
    assert reading_index.is_due(job)
    assert bitrawl("check", job)[0] == 0


def test_verdicts_that_can_be_read_survive_a_repair(job: Path, bitrawl: Bitrawl):
    path = job / "verdicts.sqlite"
    with sqlite3.connect(path) as verdicts:
        verdicts.execute("UPDATE said SET verdict = 'rejecu' WHERE id = 3")
    verdicts.close()
    assert bitrawl("export", job)[0] == 1
    assert bitrawl("check", job, "--repair")[0] == 0
    assert len(VerdictHistory(path).standing().segments) == 11
    assert bitrawl("export", job)[0] == 0


def test_edits_comments_and_samples_survive_the_repair_of_damaged_verdicts(job: Path, bitrawl: Bitrawl):
    path = job / "verdicts.sqlite"
    library = Reading(JobFolder(job))
    reading_index.refresh(job)
    [first, second, *_] = (pair.row.key for pair in library.pairs(PairFilter()).pairs)
    for key in (first, second):
        rows = rows_of(library, key)
        assert library.review.edit(rows, 0, ("Written anew", "Récrit"), Writer("anna", 1.0)) is Saved.DONE
        assert library.review.comment(rows[1], "Why?", Writer("anna", 2.0)) is Saved.DONE
    with sqlite3.connect(path) as verdicts:
        names = [name for _, name, *_ in verdicts.execute("PRAGMA table_info(samples)") if name != "id"]
        verdicts.execute(f"INSERT INTO samples ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})", names)
        verdicts.execute("UPDATE revised SET originals = replace(originals, 'e', 'f') WHERE id = 2")
    verdicts.close()
    assert bitrawl("check", job)[0] == 1
    status, out, _ = bitrawl("check", job, "--repair")
    assert status == 0
    assert "12 verdicts, 1 edit, 2 comments could be read and were kept." in out
    assert rows_of(library, first)[0].text_a == "Written anew"
    assert [len(rows_of(library, key)[1].comments) for key in (first, second)] == [1, 1]
    with sqlite3.connect(path) as verdicts:
        assert verdicts.execute("SELECT count(*) FROM samples").fetchone() == (1,)
    verdicts.close()
    assert bitrawl("check", job)[0] == 0


def rows_of(library: Reading, key: str) -> tuple[ReadSegment, ...]:
    pair = library.pair(key)
    assert pair is not None
    return pair.segments


def test_a_part_of_a_job_that_is_a_link_is_replaced_and_what_it_leads_to_stays(job: Path):
    elsewhere = job.parent / "elsewhere"
    (job / "corpus").rename(elsewhere)
    (job / "corpus").symlink_to(elsewhere)
    kept = {path.name for path in elsewhere.iterdir()}
    JobFolder(job).start_over()
    assert {path.name for path in elsewhere.iterdir()} == kept
    assert not (job / "job.sqlite").exists()
    assert not (job / "corpus").is_symlink()


def test_what_a_killed_export_was_writing_goes_with_the_next_command_and_nothing_else_does(job: Path, bitrawl: Bitrawl):
    ours = ["corpus/en-fr.tmx.new", "corpus/README.md.new", "report.html.new", "shard/en-fr.keys.new"]
    theirs = ["corpus/my notes.new", "corpus/en-fr.sorted.new", "notes.new"]
    for name in ours + theirs:
        (job / name).write_text("half")
    assert bitrawl("status", job)[0] == 0
    assert [name for name in ours if (job / name).exists()] == []
    assert [name for name in theirs if (job / name).exists()] == theirs


def test_a_disk_with_no_room_for_the_index_of_a_log_is_called_full(tmp_path: Path):
    code = (
        f"import sys, resource; sys.path[:] = {sys.path!r}\nresource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nfrom bitrawl.cli import main\n"
        f"sys.argv = ['bitrawl', 'crawl', 'http://127.0.0.1:9/', '--langs', 'en,fr', '--out', {str(tmp_path / 'job')!r}]\nmain()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, env={**os.environ, **STARVED}
    )
    assert ended.returncode == 1
    assert "no space left" in ended.stderr


def test_a_full_disk_under_the_web_app_is_said_and_the_app_goes_on(whole: Path, tmp_path: Path):
    shelf = tmp_path / "jobs"
    shutil.copytree(whole, shelf / "j1", ignore=shutil.ignore_patterns("index.*"))
    (shelf / ".secret").write_bytes(os.urandom(32))
    server = subprocess.Popen(
        [sys.executable, "-m", "bitrawl", "serve", "--jobs", shelf, "--port", "0"],
        stderr=subprocess.PIPE,
        env={**os.environ, **STARVED, "PYTHONPATH": os.pathsep.join(sys.path)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),  # noqa: PLW1509 - no threads here
    )
    try:
        assert server.stderr is not None
        address = server.stderr.readline().split()[1].decode().rstrip("/")
        asked = b'{"seeds": "http://127.0.0.1:9/", "languages": "en,fr"}'
        status, said = answer(f"{address}/api/v1/jobs", asked)
        assert (status, "no space left" in said) == (409, True), said
        status, said = answer(f"{address}/api/v1/jobs/j1/pairs")
        assert (status >= 400, "no space left" in said) == (True, True), said
        assert [answer(f"{address}{path}")[0] for path in ("/", "/jobs/j1")] == [200, 200]
        assert sorted(path.name for path in shelf.iterdir() if not path.name.startswith(".")) == ["j1"]
        assert server.poll() is None
    finally:
        server.terminate()
        server.communicate()


def answer(url: str, content: bytes | None = None) -> tuple[int, str]:
    request = urllib.request.Request(url, content, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
