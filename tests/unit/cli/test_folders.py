"""Which verb does what with which folder: it works, or it says what the folder is, and what can be done with it."""

import gc
import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest
from prose_site import visit
from rich.console import Console
from small_site import EN, page
from typer.testing import CliRunner

from bitrawl import config
from bitrawl.cli import app, folder_verbs
from bitrawl.cluster import run
from bitrawl.cluster.bundles import Done, Figures, PartState, SiteOutcome, mark_done
from bitrawl.cluster.places import open_address, place
from bitrawl.cluster.run import RunRequest, plan
from bitrawl.discover.walk import WalkFacts
from bitrawl.endings import CrawlEnd, EndKind
from bitrawl.errors import BitrawlError
from bitrawl.job.exporting import write_shards
from bitrawl.mining import SiteFindings
from bitrawl.model import Language, Method, PagePair, Segment, SegmentPair
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger
from bitrawl.store.stored_findings import Findings, PackedAlignment
from bitrawl.url import Url

A, B = Url.parse("https://example.org/en"), Url.parse("https://example.org/fr")
PLACES = ("lake lac", "forest forêt", "city ville", "river rivière", "valley vallée", "garden jardin")
SEGMENTS = tuple(
    SegmentPair(A, B, Segment(a, n, 0), Segment(b, n, 0), score)
    for n, (en, fr) in enumerate(name.split() for name in PLACES)
    for a, b, score in (
        (f"The acid rain falls on the {en}.", f"Les pluies acides tombent sur la {fr}.", 0.95),
        (f"We have seen snow and acid rain in the {en} today.", f"Neige et pluies acides dans la {fr}.", 0.6),
        (f"We live in the {en} now.", f"Nous vivons maintenant dans la {fr}.", 0.6),
    )
)
UNITS = len(SEGMENTS)


def bitrawl(*arguments: str | Path) -> tuple[int, str]:
    """Its exit code and all that it says, in one line."""
    result = CliRunner().invoke(app, [*map(str, arguments)])
    if isinstance(result.exception, BitrawlError):
        return 2, " ".join(str(result.exception).split())
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(result.output.split())


def made(folder: Path, langs: str = '"en", "fr"', *, mined: bool = True) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "job.toml").write_text(f'langs = [{langs}]\nseeds = ["https://example.org/"]\n')
    with Ledger(folder / "job.sqlite") as ledger:
        visit(ledger, [page(str(A), EN, ["Acid rain", *(segment.a.text for segment in SEGMENTS)])])
        ledger.remember("ended", CrawlEnd(kind=EndKind.DONE))
        if mined:
            findings = Findings(ledger)
            pairs = (
                (PagePair(A, B, Language("en"), Language("fr"), 0.9, {Method.DECLARED: 1.0}),) if "," in langs else ()
            )
            findings.aligned("example.org", b"key", PackedAlignment.of(SEGMENTS))
            findings.replace(SiteFindings("example.org", 2, pairs), [b"key" for _ in pairs])
    if mined:
        assert bitrawl("export", folder)[0] == 0
    return folder


def made_run(folder: Path, langs: Sequence[str] = ("en", "fr")) -> Path:
    """A run of one bundle, which is done and not merged."""
    job = config.resolve({"langs": list(langs), "seeds": ["https://example.org/"]})
    plan(job, RunRequest(str(folder), 1))
    part = JobFolder(made(folder / "parts/00000", ", ".join(f'"{code}"' for code in langs)))
    with part.reading() as ledger:
        write_shards(part.job(), ledger, part.path / "shard")
    sites = [SiteOutcome("example.org", pages=1)]
    mark_done(place(str(folder)), Done("00000", PartState.MINED, sites, Figures(sites=1, pages=1)))
    return folder


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of each kind."""
    here = tmp_path_factory.mktemp("kinds")
    job = made(here / "job")
    made(here / "crawled", mined=False)
    made(here / "one-language", '"en"')
    made_run(here / "unmerged")
    made_run(here / "run-in-english", ["en"])
    shutil.copytree(here / "unmerged", here / "run")
    assert bitrawl("export", here / "run")[0] == 0
    assert bitrawl("merge", job, here / "run", "--out", here / "merged")[0] == 0
    assert bitrawl("export", job, "--to", here / "copy")[0] == 0
    made(here / "search", mined=False)
    walk = WalkFacts(
        strategy="cocitation", languages=("en", "fr"), downloads=0, candidates=0, seeds=1, bilingual_seeds=0, answers={},
        found=0, curve=(), hubs=(), learned={},
    )  # fmt: skip
    (here / "search/discovery.json").write_bytes(msgspec.json.encode(walk))
    (here / "search/sites.jsonl").write_text("")
    for name in ("bootstrapped", "empty", "other/things"):
        (here / name).mkdir(parents=True)
    (here / "bootstrapped/bootstrap.toml").write_text("")
    (here / "other/notes.txt").write_text("mine")
    (here / "file").write_text("text")
    return here


@pytest.fixture
def kinds(kept: Path, tmp_path: Path) -> Callable[[str], Path]:
    """A copy of one of them, beside those that it was made from."""

    def copied(name: str) -> Path:
        for each in {name, "job", "run"} if name == "merged" else {name}:
            if (kept / each).is_dir():
                shutil.copytree(kept / each, tmp_path / each)
            elif (kept / each).exists():
                shutil.copy(kept / each, tmp_path / each)
        return tmp_path / name

    return copied


UNMINED = "crawled has not been mined yet. Run: bitrawl pair crawled"
UNMERGED = "unmerged has not been merged yet. Run: bitrawl export unmerged"
SEARCH = "search is a search for sites, and has no corpus; to mine the sites found: bitrawl mine --sites search/sites.txt --langs en,fr --out search/mined"
RUN = "run holds a run over many sites, not one job; sample, terms, export, status, diff, report, check and merge work on it. For other verbs, name its parts: run/parts/00000"
MERGED = "merged is a merged corpus, not a job; sample, terms, export, status, report and check work on it. For other verbs, name the jobs that it was merged from: "
COPY = "copy is a corpus without its job; sample, terms, status and check work on it. For other verbs, name the job that it comes from"
START = "start one with: bitrawl mine URL --langs en,fr --out"
NO_JOB = {
    "bootstrapped": "bootstrapped holds a topic, not a job; to mine with it: bitrawl mine --bootstrap bootstrapped --out DIR",
    "empty": f"empty holds no job: it is empty; {START} empty",
    "file": "file holds no job: it is a file; name a folder",
    "other": f"other holds no job; {START} other",
    "missing": f"missing holds no job: there is no such folder; {START} missing",
}
NEEDS_JOB = NO_JOB | {"run": RUN, "merged": MERGED, "copy": COPY}
REFUSED = {
    "sample": NO_JOB | {"crawled": UNMINED, "unmerged": UNMERGED, "search": SEARCH},
    "terms": NO_JOB
    | {
        "crawled": UNMINED,
        "unmerged": UNMERGED,
        "search": SEARCH,
        "one-language": "one-language has a corpus in one language (en); bilingual terms need two. For the terms of one language: bitrawl topic learn one-language --lang en",
    },
    "export": NO_JOB
    | {
        "crawled": UNMINED,
        "search": SEARCH,
        "copy": COPY,
        "run-in-english": "bitrawl export run-in-english/parts/NUMBER",
    },
    "status": NO_JOB,
    "report": NO_JOB
    | {
        "unmerged": UNMERGED,
        "copy": "copy is a corpus without its job, and has no report; copy/README.md describes it",
    },
    "check": NO_JOB,
    "log": NEEDS_JOB,
    "pair": NEEDS_JOB,
    "tune": NO_JOB | {"merged": MERGED, "copy": COPY},
    "merge --out new": NEEDS_JOB
    | {"crawled": UNMINED, "search": SEARCH, "one-language": "only corpora of two languages are merged"},
}
del REFUSED["merge --out new"]["run"]
WORKS = {
    "sample": {"job": "acid rain", "run": "pluies acides", "merged": "acid rain", "copy": "acid rain",
               "one-language": "https://example.org/en", "run-in-english": "acid rain"},
    "terms": dict.fromkeys(("job", "run", "merged", "copy"), "acid rain pluies acides"),
    "export": {"job": "units written", "one-language": "1 document written", "run": f"{UNITS} units from", "merged": f"{UNITS} units from",
               "unmerged": f"{UNITS} units from"},
    "status": {"job": f"{UNITS} units in the corpus", "crawled": "1 page", "one-language": "19 paragraphs", "run": f"{UNITS} units",
               "unmerged": "1 of 1 site done", "merged": f"run/parts/00000 en-fr 1 page pair, {UNITS} units",
               "copy": f"a corpus without its job en-fr 1 page pair, {UNITS} units", "search": "1 page"},
    "report": {"job": "job/report.html", "crawled": "crawled/report.html", "one-language": "report.html", "run": "run/merged/report.html",
               "merged": "merged/report.html", "search": "search/report.html"},
    "check": dict.fromkeys(("job", "one-language", "run", "merged", "copy"), "files, as written"),
    "log": dict.fromkeys(("job", "crawled", "one-language", "search"), "https://example.org/en"),
    "merge --out new": dict.fromkeys(("job", "run", "unmerged"), f"{UNITS} units from"),
}  # fmt: skip


@pytest.mark.parametrize("verb", REFUSED)
def test_what_a_verb_cannot_do_with_a_folder_it_says_with_what_can(
    verb: str, kept: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(kept)
    name, *flags = verb.split()
    for kind, says in REFUSED[verb].items():
        code, said = bitrawl(name, kind, *flags)
        assert (code, says in said) == (2, True), (verb, kind, said)
    assert not (kept / "missing").exists()
    assert not (kept / "new").exists()


@pytest.mark.parametrize("verb", WORKS)
def test_a_verb_works_on_whatever_folder_has_what_it_needs(
    verb: str, kinds: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    name, *flags = verb.split()
    for kind, says in WORKS[verb].items():
        kinds(kind)
        code, said = bitrawl(name, kind, *flags)
        said = said.replace(f"{tmp_path}/", "")
        assert (code, says in said) == (0, True), (verb, kind, said)
        for path in tmp_path.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def test_every_verb_that_takes_a_folder_is_tried_on_every_kind():
    kinds = {*"job crawled one-language run unmerged run-in-english merged copy search".split(), *NO_JOB}
    for verb in ("sample", "terms", "export", "status", "report", "check"):
        tried = {*REFUSED[verb], *WORKS.get(verb, ())}
        assert kinds - tried <= {"run-in-english", "crawled", "unmerged", "search"}, verb


@pytest.mark.parametrize(
    ("name", "kind"),
    [("job", "job"), ("run", "run"), ("merged", "merged corpus"), ("copy", "copy of a corpus"), ("search", "search")],
)
def test_a_folder_is_opened_as_what_it_is(kept: Path, name: str, kind: str):
    opened = open_address(str(kept / name))
    assert opened.kind == kind
    assert [part.name for part in opened.check() if part.condition == "damaged"] == []


def test_the_corpus_of_a_run_elsewhere_is_read_from_a_copy_that_does_not_stay(
    kept: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(run, "is_here", lambda _address: False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    opened = open_address(str(kept / "run"))
    assert len(list(opened.units())) == UNITS
    assert len(list(tmp_path.iterdir())) == 1
    del opened
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_a_sample_of_paragraphs_has_a_line_for_each_in_every_format(kept: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(kept)
    runner = CliRunner()
    rows = [
        runner.invoke(app, ["sample", "one-language", "-n", "5", "--format", style]).stdout.splitlines()
        for style in ("jsonl", "tsv")
    ]
    assert [len(lines) for lines in rows] == [5, 5]
    texts = [(line["url"], line["text"]) for line in map(json.loads, rows[0])]
    assert texts == [tuple(line.split("\t")) for line in rows[1]]


def units(folder: Path, name: str = "en-fr.sentences.jsonl") -> int:
    return len((folder / name).read_text().splitlines())


def test_a_merged_corpus_is_written_again_in_more_formats_and_with_another_threshold(
    kinds: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    merged = kinds("merged")
    monkeypatch.chdir(tmp_path)
    assert bitrawl("export", "merged", "--formats", "moses")[0] == 0
    assert {path.suffix for path in (merged / "corpus").glob("en-fr.*")} == {
        ".tmx",
        ".tsv",
        ".jsonl",
        ".en",
        ".fr",
        ".ids",
    }
    code, said = bitrawl("export", "merged", "--min-score", "0.9")
    assert code == 0
    assert said.startswith("All files in merged/corpus are written again with the threshold, which the corpus keeps;")
    assert (units(merged / "corpus"), units(merged / "corpus", "en-fr.en")) == (6, 6)
    assert bitrawl("export", "merged")[0] == 0
    assert units(merged / "corpus") == 6
    assert bitrawl("check", "job")[0] == 0
    shutil.rmtree(tmp_path / "job")
    code, said = bitrawl("export", "merged")
    assert (code, "merged was merged from jobs that no longer exist: job" in said) == (2, True), said
    assert units(merged / "corpus") == 6


def test_a_run_keeps_the_threshold_of_its_corpus_and_its_parts_keep_theirs(
    kinds: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    run = kinds("run")
    monkeypatch.chdir(tmp_path)
    assert bitrawl("export", "run", "--min-score", "0.9", "--to", "strict")[0] == 0
    assert (units(tmp_path / "strict"), units(run / "merged/corpus")) == (6, UNITS)
    for _ in range(2):
        assert bitrawl("export", "run", "--min-score", "0.9")[0] == 0
        assert units(run / "merged/corpus") == 6
    assert bitrawl("merge", "run", "--out", "all")[0] == 0
    assert units(tmp_path / "all/corpus") == UNITS


def test_a_threshold_that_changes_the_files_and_the_job_is_told_before(kinds: Callable[[str], Path], tmp_path: Path):
    job = kinds("job")
    code, said = bitrawl("export", job, "--min-score", "0.9")
    assert code == 0
    assert said.startswith(
        f"All files in {job}/corpus are written again with --min-score 0.9 (it was 0.3), which the job keeps;"
        " to leave them as they are and write a copy, use --to DIR."
    )
    assert units(job / "corpus") == 6
    for flags in (["--min-score", "0.9"], ["--formats", "moses"], ["--min-score", "0.3", "--to", str(tmp_path / "to")]):
        assert "written again" not in bitrawl("export", job, *flags)[1]
    assert (units(job / "corpus"), units(tmp_path / "to")) == (6, UNITS)


def test_what_a_threshold_would_leave_out_is_shown_before_anything_is_written(kinds: Callable[[str], Path]):
    job = kinds("job")
    before = {path: path.read_bytes() for path in job.rglob("*") if path.is_file()}
    code, said = bitrawl("export", job, "--min-score", "0.9", "--dry-run")
    assert (code, said) == (0, "en-fr 6 of 18 units, instead of 18 left out 12 score = 0.9 (12 by this alone)")
    assert {path: path.read_bytes() for path in job.rglob("*") if path.is_file()} == before
    assert "thresholds" not in bitrawl("status", job)[1]
    assert bitrawl("export", job, "--min-score", "0.9")[0] == 0
    assert bitrawl("export", job, "--dry-run")[1].startswith("en-fr 6 of 18 units left out 12")
    assert "6 units in the corpus thresholds score = 0.9" in bitrawl("status", job)[1]


@pytest.mark.parametrize(
    ("kind", "says"),
    [("merged", "give the folder of a job"), ("run", "give the folder of a job"), ("crawled", "bitrawl pair")],
)
def test_only_a_job_that_was_mined_shows_what_its_thresholds_leave_out(
    kinds: Callable[[str], Path], kind: str, says: str
):
    code, said = bitrawl("export", kinds(kind), "--dry-run")
    assert (code, says in said) == (2, True), said


def test_a_copy_gets_more_formats_and_keeps_those_that_it_has(kinds: Callable[[str], Path], tmp_path: Path):
    job, to = kinds("job"), tmp_path / "to"
    assert bitrawl("export", job, "--to", to, "--formats", "moses")[0] == 0
    code, output = bitrawl("export", job, "--to", to, "--formats", "tsv", "--min-score", "0.9")
    assert (code, output.startswith(f"All files in {to} are written again with --min-score 0.9. ")) == (0, True)
    assert (units(to, "en-fr.tsv"), units(to, "en-fr.en")) == (1 + 6, 6)  # a header
    assert bitrawl("export", job, "--to", to, "--formats", "tmx", "--only")[0] == 0
    assert {path.name for path in to.iterdir()} == {"en-fr.tmx", "README.md", "summary.json"}


@pytest.mark.parametrize(
    ("kind", "says"), [("file", "is a file"), ("crawled", "holds a job"), ("merged", "holds a merged corpus")]
)
def test_a_copy_is_not_written_over_something_else(kinds: Callable[[str], Path], kind: str, says: str):
    job = kinds("merged").with_name("job")
    to = job.with_name("merged") if kind == "merged" else kinds(kind)
    code, said = bitrawl("export", job, "--to", to)
    assert (code, said) == (2, f"{to} {says}; choose another --to")


def test_no_terms_are_an_empty_list_for_a_program_and_a_sentence_for_people(kept: Path, tmp_path: Path):
    flags = ("--min-score", "1", "--output", tmp_path / "terms.jsonl", "--format")
    status, words = bitrawl("terms", kept / "job", *flags, "tsv")
    assert (status, "has no terms that score at least 1" in words) == (2, True)
    assert not (tmp_path / "terms.jsonl").exists()
    assert bitrawl("terms", kept / "job", *flags, "jsonl")[0] == 0
    assert (tmp_path / "terms.jsonl").read_bytes() == b""


def test_terms_are_a_short_table_at_a_terminal_and_tsv_elsewhere(
    kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert bitrawl("terms", kept / "job")[1].partition(" lang_a lang_b term_a term_b score")[1]
    monkeypatch.setattr(folder_verbs, "out", Console(force_terminal=True, width=60, color_system=None))
    folder_verbs.terms(str(kept / "job"), min_score=0.0, most=2)
    shown = capsys.readouterr()
    head, *rows = shown.out.splitlines()
    assert head.split() == ["en", "fr", "score", "count"]
    assert rows[0].split() == ["acid", "rain", "pluies", "acides", "0.75", "12"]
    assert len(rows) <= 2
    assert f"bitrawl terms {kept}/job --output terms.tsv" in " ".join(shown.err.split())
