"""People see what thresholds leave out of a job's corpus, and change them."""

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from kept_findings import Aligned, keep_findings
from starlette.testclient import TestClient

from bitrawl.errors import OutdatedError
from bitrawl.job.reporting import gather, is_stale, status
from bitrawl.job.running import export
from bitrawl.mining import Thresholds
from bitrawl.model import Language, PagePair, Segment, SegmentPair, Verdict, segment_key
from bitrawl.review import thresholds
from bitrawl.review.reviewing import Reading
from bitrawl.review.segment_review import ReadSegment, Saved, Writer
from bitrawl.review.thresholds import ThresholdSight, selections
from bitrawl.store import reading_index
from bitrawl.store.database import locked
from bitrawl.store.folder import JobFolder
from bitrawl.store.index_reader import PairFilter
from bitrawl.store.ledger import Ledger
from bitrawl.store.stored_findings import Findings
from bitrawl.url import Url
from bitrawl.web.api.operations import ROOT
from bitrawl.web.app import Serving, application, new_server
from bitrawl.web.commands import CommandRunner

JOB = "0" * 32
URLS = Url.parse("http://s.test/en"), Url.parse("http://s.test/fr")
SCORES = (0.2, 0.4, 0.6, 0.8, 0.95)
UNITS = 6  # of all that was found: two segments are one unit, and one has a flag that is refused
API, PAGE = f"{ROOT}/jobs/{JOB}/thresholds", f"/jobs/{JOB}/thresholds"


def segments() -> Iterator[SegmentPair]:
    for score in SCORES:
        yield SegmentPair(*URLS, Segment(f"Text {score}"), Segment(f"Texte {score}"), score, scores={"words_a": 2.0})
    yield SegmentPair(*URLS, Segment("TEXT 0.8!"), Segment("Texte 0.8 !"), 0.5, type="2:1")
    yield SegmentPair(*URLS, Segment("<b>"), Segment("</b>"), 0.9, flags=("code",))


def mined(folder: JobFolder, langs: str = '"en", "fr"') -> JobFolder:
    folder.path.mkdir(parents=True)
    folder.description.write_text(f'langs = [{langs}]\nseeds = ["http://s.test/"]\n')
    with Ledger(folder.ledger) as ledger:
        pair = PagePair(*URLS, Language("en"), Language("fr"), 0.9, {"u": 0.5})
        keep_findings(Findings(ledger), "s.test", 2, [Aligned(pair, tuple(segments()))])
    reading_index.refresh(folder.path)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> JobFolder:
    folder = mined(JobFolder(tmp_path / "jobs" / JOB))
    export(folder, {})
    return folder


async def written(_runner: CommandRunner, arguments: list[str], *_given: object, **_limits: object) -> str:
    """In place of a process."""
    verb, place = arguments[:2]
    assert verb == "export"
    await asyncio.to_thread(export, JobFolder(Path(place)), {})
    return ""


@pytest.fixture
def client(folder: JobFolder, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setattr(CommandRunner, "run", written)
    with TestClient(application(new_server(Serving(folder.path.parent)), ["testserver"])) as client:
        yield client


def fields_of(page: str) -> dict[str, str]:
    """What its form would send if nothing was changed, but for the boxes."""
    return {
        **dict(re.findall(r'type="hidden" name="(csrf|version)" value="([^"]*)"', page)),
        **dict(re.findall(r'name="(min_\w+)"[^>]* value="([^"]*)"', page)),
    }


def units_in(folder: JobFolder) -> int:
    return sum(pair.units for pair in status(folder).corpora.values())


def wait_for_files(client: TestClient, folder: JobFolder) -> None:
    server = client.app.state.server  # type: ignore[attr-defined]
    while server.writing.is_busy(folder):
        assert client.get(f"/jobs/{JOB}/download").status_code == 200
    assert not is_stale(folder)


@pytest.mark.parametrize(("score", "units"), [(0.0, 5), (0.3, 4), (0.8, 2), (0.81, 1), (1.0, 0)])
def test_the_api_counts_what_an_export_writes(client: TestClient, folder: JobFolder, score: float, units: int):
    answer = client.get(API, params={"min_score": score}).json()
    (corpus,) = answer["corpora"]
    assert (corpus["languages"], corpus["facts"]["units"], corpus["facts"]["found"]) == (["en", "fr"], units, UNITS)
    assert (answer["kept"]["min_score"], answer["chosen"]["min_score"]) == (0.3, score)
    export(folder, {"judge": {"score": score}})
    assert units_in(folder) == units
    assert len(corpus["facts"]["by_score"]) == 101
    assert corpus["facts"]["by_score"][30] == 4


def test_the_api_says_what_each_rule_takes_out(client: TestClient):
    answer = client.get(API, params={"min_score": 0.5, "types": "2:1", "refuse": ["code", "url"]}).json()
    rules = {(one["rule"]["key"], one["rule"]["flag"]): one for one in answer["corpora"][0]["facts"]["rules"]}
    assert answer["corpora"][0]["facts"]["units"] == 1
    assert (rules["types", ""]["takes_out"], rules["types", ""]["alone"]) == (5, 2)
    assert (rules["refuse", "code"]["takes_out"], rules["refuse", "code"]["alone"]) == (1, 0)
    assert (rules["score", ""]["takes_out"], rules["score", ""]["alone"]) == (2, 0)
    assert not rules["refuse", "equal TUVs"]["is_set"]


def test_a_choice_is_kept_as_the_jobs_and_its_files_are_written_again(client: TestClient, folder: JobFolder):
    answer = client.put(API, json={"min_score": 0.7, "refuse": []})
    assert answer.status_code == 200
    assert (answer.json()["before"], answer.json()["units"]) == (4, 3)
    wait_for_files(client, folder)
    judge = folder.job().judge
    assert (judge.score, judge.refuse, judge.words) == (0.7, (), 1)
    assert units_in(folder) == 3
    assert gather(folder.path).asked.judge == judge
    assert "threshold 0.7" in folder.report.read_text()
    assert client.get(API).json()["kept"] == answer.json()["kept"]


def test_who_comes_second_is_told_and_changes_nothing(client: TestClient, folder: JobFolder):
    version = client.get(API).json()["version"]
    assert client.put(API, json={"min_score": 0.7, "version": version}).status_code == 200
    wait_for_files(client, folder)
    late = client.put(API, json={"min_score": 0.9, "version": version})
    assert late.status_code == 409
    assert "Somebody has changed the thresholds" in late.json()["error"]
    assert folder.job().judge.score == 0.7
    assert client.put(API, json={"min_score": 0.9}).status_code == 200  # who names no version wants it anyhow


def test_nothing_is_kept_while_a_process_works_in_the_folder(client: TestClient, folder: JobFolder):
    before = folder.description.read_text()
    page = client.get(PAGE).text
    with locked(folder.ledger):
        answers = client.put(API, json={"min_score": 0.7}), client.post(PAGE, data=fields_of(page) | {"keep": "1"})
        shown = client.get(PAGE).text
    assert [answer.status_code for answer in answers] == [409, 409]
    assert all("is running" in answer.text and str(folder.path) not in answer.text for answer in answers)
    assert re.search(r'name="keep" value="1" disabled', shown)
    assert folder.description.read_text() == before


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"min_score": 2}, "min_score"),
        ({"min_words": 1.5}, "min_words"),
        ({"types": "all"}, "types"),
        ({"refuse": ["x"] * 101}, "refuse"),
        ({"formats": "tmx"}, "formats"),
        ({"score": 0.5}, "score"),
    ],
)
def test_a_wrong_choice_is_refused_by_name(client: TestClient, folder: JobFolder, body: dict[str, object], named: str):
    answer = client.put(API, json=body)
    assert (answer.status_code, list(answer.json()["fields"])) == (422, [named])
    assert folder.job().judge == Thresholds()


def test_what_the_operator_has_set_cannot_be_changed(folder: JobFolder, tmp_path: Path):
    (tmp_path / "serve.toml").write_text('[job.judge]\nscore = 0.3\nrefuse = ["code"]\n')
    serving = Serving(folder.path.parent, settings=tmp_path / "serve.toml")
    with TestClient(application(new_server(serving), ["testserver"])) as client:
        assert client.put(API, json={"min_score": 0.9}).json()["fields"] == {
            "min_score": "only the operator of this server can set min_score"
        }
        page = client.get(PAGE).text
        assert re.search(r'name="min_score"[^>]* disabled', page)
        assert 'type="hidden" name="refuse"' not in page
        fields = {name: value for name, value in fields_of(page).items() if name != "min_score"}
        assert client.post(PAGE, data=fields | {"min_words": "3"}).status_code == 200  # shown, not kept


def test_the_form_keeps_what_it_shows_and_says_what_changed(client: TestClient, folder: JobFolder):
    page = client.get(PAGE).text
    assert re.search(r'data-counts="\[5, ', page)
    fields = fields_of(page) | {"min_score": "0.5", "refuse": ["", "code", "url"], "duplicates": "false", "types": ""}
    shown = client.post(PAGE, data=fields | {"show": "1"})
    assert "csrf" not in str(shown.url)
    assert "Not kept yet: this corpus has 4 units now." in shown.text
    kept = client.post(PAGE, data=fields | {"keep": "1"})
    assert "Kept. The corpus has 3 units instead of 4." in kept.text
    assert (folder.job().judge.score, folder.job().judge.refuse) == (0.5, ("code", "url"))
    wait_for_files(client, folder)
    assert units_in(folder) == 3


def test_the_form_with_a_mistake_comes_back_with_it(client: TestClient, folder: JobFolder):
    fields = fields_of(client.get(PAGE).text) | {"min_score": "1.5", "keep": "1"}
    answer = client.post(PAGE, data=fields)
    assert answer.status_code == 422
    assert "give a number between 0 and 1" in answer.text
    assert 'value="1.5"' in answer.text
    assert folder.job().judge.score == 0.3


def test_what_people_said_wins_and_is_counted(client: TestClient, folder: JobFolder):
    reading = Reading(folder)
    pair = reading.pairs(PairFilter()).pairs[0].row.key
    reading.judge_segment(pair, segment_key("Text 0.2", "Texte 0.2"), Verdict.ACCEPT, "anna", 1.0)
    reading.judge_segment(pair, segment_key("Text 0.95", "Texte 0.95"), Verdict.REJECT, "anna", 1.0)
    facts = client.get(API).json()["corpora"][0]["facts"]
    assert (facts["units"], facts["accepted"], facts["rejected"], facts["let_in"]) == (4, 1, 1, 1)
    assert facts["by_score"][100] == 1
    assert "In only because of a verdict: 1. Out only because of a verdict: 1." in client.get(PAGE).text
    export(folder, {"judge": {"score": 1.0}})
    assert units_in(folder) == 1


def test_texts_that_people_wrote_count_once_they_are_accepted(client: TestClient, folder: JobFolder):
    reading, by = Reading(folder), Writer("anna", 1.0)
    key = reading.pairs(PairFilter()).pairs[0].row.key

    def rows() -> tuple[ReadSegment, ...]:
        pair = reading.pair(key)
        assert pair is not None
        return pair.segments

    # One of two texts that a split makes is accepted, and two segments that are out become one that is in.
    assert reading.review.edit(rows(), 3, ("Text\nTEXT 0.95", "Texte\nTexte 0.95"), by) is Saved.DONE
    assert reading.review.join(rows(), 0, (Language("en"), Language("fr")), by) is Saved.DONE
    assert client.get(API).json()["corpora"][0]["facts"]["units"] == 4  # nobody has accepted them
    for row in rows():
        if row.revision and row.text_a != "Text":
            assert reading.judge_segment(key, row.key, Verdict.ACCEPT, "anna", 2.0)
    for score in (0.0, 0.5, 0.95, 1.0):
        export(folder, {"judge": {"score": score}})
        sight = ThresholdSight(folder)
        assert [corpus.facts.units for corpus in sight.corpora] == [units_in(folder)]
        assert [one.facts for one in selections(folder.job(), folder)] == [one.facts for one in sight.corpora]
    examples = [one.segment.text_a for part in ThresholdSight(folder, Thresholds(score=0.5)).around(5) for one in part]
    assert examples == ["Text 0.6", "TEXT 0.8!"]


def test_the_examples_of_a_rule_are_shown_when_asked_for(client: TestClient):
    assert "&lt;b&gt;" not in client.get(PAGE).text
    page = client.get(PAGE, params={"rule": "refuse:code"}).text
    assert page.count("&lt;b&gt;") == 1
    part = client.get(PAGE, params={"rule": "refuse:code", "part": "1"}).text
    assert part.strip().startswith("<form")


def test_other_thresholds_make_another_export(client: TestClient, folder: JobFolder, monkeypatch: pytest.MonkeyPatch):
    commands: list[list[str]] = []

    async def noted(_runner: CommandRunner, arguments: list[str], **_limits: object) -> str:
        commands.append(arguments)
        (Path(arguments[arguments.index("--to") + 1]) / "en-fr.tmx").write_text(str(len(commands)))
        return ""

    monkeypatch.setattr(CommandRunner, "run", noted)
    downloads = [client.get(f"/jobs/{JOB}/export").text for _ in range(2)]
    thresholds.keep(folder, {"score": 0.9})
    assert [*downloads, client.get(f"/jobs/{JOB}/export").text] == ["1", "1", "2"]


def test_files_are_old_when_somebody_edits_the_thresholds(client: TestClient, folder: JobFolder):
    assert "Write the files again" not in client.get(f"/jobs/{JOB}/download").text
    folder.description.write_text(folder.description.read_text().replace("score = 0.3", "score = 0.6"))
    assert "Write the files again" in client.get(f"/jobs/{JOB}/download").text


def test_a_job_in_one_language_has_no_thresholds_to_choose(tmp_path: Path):
    folder = mined(JobFolder(tmp_path / "jobs" / JOB), '"en"')
    with TestClient(application(new_server(Serving(folder.path.parent)), ["testserver"])) as client:
        assert "no segments to choose from" in client.get(PAGE).text
        assert "/thresholds" not in client.get(f"/jobs/{JOB}/download").text


def test_only_thresholds_that_are_still_there_are_changed(folder: JobFolder):
    version = thresholds.version_of(folder.job().judge)
    assert thresholds.keep(folder, {"score": 0.5}, version).score == 0.3
    with pytest.raises(OutdatedError):
        thresholds.keep(folder, {"words": 3}, version)
    judge = json.loads((folder.corpus / "summary.json").read_text())["en-fr"]["thresholds"]
    assert (judge["score"], folder.job().judge.score, folder.job().judge.words) == (0.3, 0.5, 1)


def test_the_forms_replace_personal_data_unless_somebody_chooses_otherwise(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
):
    commands: list[list[str]] = []

    async def noted(_runner: CommandRunner, arguments: list[str], **_limits: object) -> str:
        commands.append(arguments)
        (Path(arguments[arguments.index("--to") + 1]) / "en-fr.tmx").write_text("")
        return ""

    monkeypatch.setattr(CommandRunner, "run", noted)
    for page in ("/", f"/jobs/{JOB}/download"):
        (options,) = re.findall(r'<select id="anonymise".*?</select>', client.get(page).text, re.DOTALL)
        assert re.findall(r'value="(\w+)"', options) == ["replace", "drop", "off"]
        assert not re.search(r'value="(drop|off)" selected', options)
    for how in ("replace", ""):
        assert client.get(f"/jobs/{JOB}/export", params={"anonymise": how}).status_code == 200
    assert ["--anonymise=replace" in command for command in commands] == [True, False]
    assert client.get(f"/jobs/{JOB}/export", params={"anonymise": "no"}).status_code == 422


def test_what_personal_data_leaves_is_what_an_export_writes(folder: JobFolder):
    pair = PagePair(*URLS, Language("en"), Language("fr"), 0.9, {"u": 0.5})
    texts = [SegmentPair(*URLS, Segment(f"Ask {who}@s.test"), Segment(f"A {who}@s.test"), 0.9) for who in "ab"]
    with Ledger(folder.ledger) as ledger:
        keep_findings(Findings(ledger), "s.test", 2, [Aligned(pair, (*segments(), *texts))])
    reading_index.refresh(folder.path)
    for how, units in (("off", 6), ("replace", 5), ("drop", 4)):
        export(folder, {"export": {"anonymise": how}})
        assert units_in(folder) == units
        assert [corpus.facts.units for corpus in ThresholdSight(folder).corpora] == [units]
        assert [corpus.facts.units for corpus in selections(folder.job(), folder)] == [units]
