from pathlib import Path

import msgspec
import pytest

from bitrawl.job import BootstrapProgress, BootstrapStep, BootstrapSummary
from bitrawl.job.bootstrapping import BilingualSite
from bitrawl.store.folder import JobFolder
from bitrawl.web.messages import catalogues
from bitrawl.web.pages.job_page import TopicView, topic_view

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
    assert topic(PLENTY).advice(WORDS["en"]) == []
    (line,) = topic(msgspec.structs.replace(PLENTY, **changed)).advice(WORDS["en"])
    assert said in line
    (french,) = topic(msgspec.structs.replace(PLENTY, **changed)).advice(WORDS["fr"])
    assert french != line


def test_sites_that_nobody_asked_to_check_are_not_missing():
    assert topic(msgspec.structs.replace(PLENTY, checked=0, sites=())).advice(WORDS["en"]) == []


@pytest.mark.parametrize("step", BootstrapStep)
def test_every_step_is_told_in_the_language_of_the_page(step: BootstrapStep):
    view = topic(progress=BootstrapProgress(step, "wiki.example"))
    assert view.doing(WORDS["zh"], "") != view.doing(WORDS["en"], "") != ""


def test_a_folder_with_nothing_in_it_yet_is_shown(tmp_path: Path):
    empty = topic_view(JobFolder(tmp_path))
    assert (empty.tiles(WORDS["en"]), empty.excluded(WORDS["en"]), empty.doing(WORDS["en"], "")) == ([], {}, "")
    (tmp_path / "progress.json").write_text('{"step": "resting"}')
    (tmp_path / "found.json").write_text("{}")
    assert topic_view(JobFolder(tmp_path)) == empty
