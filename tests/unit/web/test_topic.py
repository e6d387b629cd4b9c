from pathlib import Path

import msgspec
import pytest

from bitrawl.endings import State
from bitrawl.errors import WikiError
from bitrawl.job.bootstrapping import BilingualSite, BootstrapProgress, BootstrapStep, BootstrapSummary, ProgressFile
from bitrawl.job.folder import JobFolder
from bitrawl.show.diagnosis import Diagnosis, Point
from bitrawl.web.job_list import ServedJob
from bitrawl.web.job_state import JobState
from bitrawl.web.messages import catalogues, quoted
from bitrawl.web.pages.job_page import TopicView, _topic_text, _without_path, topic_view

WORDS = catalogues()
PLENTY = BootstrapSummary(
    category="Rain",
    articles=9,
    categories=1,
    terms={"en": 5, "it": 4},
    excluded={"name": 2, "list": 1},
    edited=False,
    seeds=7,
    cited=3,
    checked=3,
    sites=(BilingualSite("https://a.example/", ("en", "it"), 2),),
)


def topic(summary: BootstrapSummary | None = None, progress: BootstrapProgress | None = None) -> TopicView:
    return TopicView(progress, summary, [], [])


@pytest.fixture
def job(tmp_path: Path) -> ServedJob:
    return ServedJob("x", JobFolder(tmp_path), None)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"terms": {"en": 5, "it": 0}}, "No article has a title in Italian."),
        ({"complete": False}, "more articles than were read"),
        ({"cited": 0, "checked": 0, "sites": ()}, "cite no site"),
        ({"sites": ()}, "No cited site has translated pages"),
    ],
)
def test_what_is_missing_is_told_with_what_to_try(changed: dict[str, object], said: str):
    assert topic(PLENTY).advice(WORDS["en"], State.ENDED) == []
    (line,) = topic(msgspec.structs.replace(PLENTY, **changed)).advice(WORDS["en"], State.ENDED)
    assert said in line
    (french,) = topic(msgspec.structs.replace(PLENTY, **changed)).advice(WORDS["fr"], State.ENDED)
    assert french != line


def test_sites_that_nobody_asked_to_check_are_not_missing():
    assert topic(msgspec.structs.replace(PLENTY, checked=0, sites=())).advice(WORDS["en"], State.ENDED) == []


@pytest.mark.parametrize("step", BootstrapStep)
def test_a_failure_is_told_with_what_to_try_at_every_step(step: BootstrapStep):
    (line,) = topic(progress=BootstrapProgress(step, "wiki.example")).advice(WORDS["en"], State.FAILED)
    assert line.endswith(".")
    assert topic(progress=BootstrapProgress(step, "wiki.example")).doing(WORDS["zh"], "")


def test_why_it_failed_is_told_without_what_to_type_and_where_the_folder_is(tmp_path: Path):
    notes = ProgressFile(tmp_path, "wiki.example")
    notes.fail(WikiError(f"wiki.example does not answer {tmp_path}/x", advice=". Check --wiki"))
    failed = topic_view(JobFolder(tmp_path))
    state = JobState(State.FAILED, quoted("wiki.example does not answer. Check --wiki"))
    assert _topic_text(WORDS["en"], state, failed, "").detail == "wiki.example does not answer x"
    of_an_earlier_version = topic(progress=BootstrapProgress(BootstrapStep.ASKING, "wiki.example"))
    assert _topic_text(WORDS["en"], state, of_an_earlier_version, "").detail == str(state.message)


def test_a_folder_with_nothing_in_it_yet_is_shown(tmp_path: Path):
    empty = topic_view(JobFolder(tmp_path))
    assert (empty.tiles(WORDS["en"]), empty.excluded(WORDS["en"]), empty.doing(WORDS["en"], "")) == ([], {}, "")
    (tmp_path / "progress.json").write_text('{"step": "resting"}')
    (tmp_path / "found.json").write_text("{}")
    assert topic_view(JobFolder(tmp_path)) == empty


def test_a_diagnosis_does_not_tell_where_the_folder_is(job: ServedJob, tmp_path: Path):
    why = Diagnosis(
        "Nothing", (Point(f"{tmp_path}/given/terms.txt has no term", f"look at {tmp_path}/given/terms.txt"),)
    )
    assert _without_path(why, job).points == (Point("given/terms.txt has no term", "look at given/terms.txt"),)
