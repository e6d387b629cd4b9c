"""`bitrawl bootstrap` against a real MediaWiki in two languages, and sites beside it."""

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from recorded_wiki import Served, recorded_wiki
from wiki.mediawiki import wikis

from bitrawl.errors import ConfigError
from bitrawl.job import fetching
from bitrawl.job.bootstrapping import BootstrapFolder, BootstrapRequest, BootstrapSummary, bootstrap
from bitrawl.job.fetching import FetchPolicy
from bitrawl.topic.wiki_api import AnswerCache, WikiClient
from bitrawl.url import Url

AT_ONCE = FetchPolicy(allow_private=True, delay=0.0, contact="test@example.org")


@pytest.fixture(scope="module")
def sites() -> Iterator[Served]:
    with recorded_wiki() as served:
        yield served


@pytest.fixture(scope="module")
def apis(sites: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    addresses = {name: sites.addresses[name] for name in ("bilingual", "single", "home")}
    with wikis(Path(os.environ["MEDIAWIKI"]), tmp_path_factory.mktemp("wikis"), addresses) as running:
        yield running


async def run(apis: dict[str, str], folder: Path, category: str, langs: str, wiki: str = "en") -> BootstrapSummary:
    asked = BootstrapRequest(category=category, langs=tuple(langs.split(",")), wiki=apis[wiki])
    return await bootstrap(asked, folder, policy=AT_ONCE)


async def test_the_real_wiki_answers_as_the_recorded_one(apis: dict[str, str], sites: Served, tmp_path: Path):
    """All that the tests with recorded answers assert rests on this."""
    await run(apis, tmp_path / "real", "Health and safety at work", "en,de")
    recorded = BootstrapRequest(category="Health and safety at work", langs=("en", "de"), wiki=sites.api())
    await bootstrap(recorded, tmp_path / "recorded", policy=AT_ONCE)
    for name in ("topic.txt", "terms.tsv", "seeds.txt", "sites.txt"):
        assert (tmp_path / "real" / name).read_text("utf-8") == (tmp_path / "recorded" / name).read_text("utf-8")


async def test_a_category_becomes_topic_seeds_and_sites(apis: dict[str, str], sites: Served, tmp_path: Path):
    summary = await run(apis, tmp_path, "occupational safety & health", "en,de")
    assert (summary.articles, summary.categories) == (15, 4)
    assert summary.terms == {"en": 8, "de": 7}
    assert summary.excluded == {"name": 2, "disambiguation": 2, "abbreviation": 2, "list": 2, "redirect": 1}
    assert BootstrapFolder(tmp_path).read().sites == [sites.addresses["bilingual"], sites.addresses["home"]]


async def test_the_other_edition_can_be_the_first(apis: dict[str, str], tmp_path: Path):
    summary = await run(apis, tmp_path, "Kategorie:Arbeitsschutz", "en,de", wiki="de")
    assert summary.category == "Arbeitsschutz"
    topic = (tmp_path / "topic.txt").read_text("utf-8")
    assert "100:Gefährdungsbeurteilung=Arbeitsschutz>de" in topic
    assert "100:risk assessment=Arbeitsschutz>en" in topic
    assert "33:asbestosis=Occupational diseases>en" in topic  # only the English category has it


@pytest.mark.parametrize(
    ("category", "message"),
    [
        ("Occupational deseases", 'Similar names: "Occupational diseases"'),
        ("Empty shelf", "is empty"),
        ("Xylophone", "none like it"),
    ],
)
async def test_a_category_that_is_not_there_is_said(apis: dict[str, str], tmp_path: Path, category: str, message: str):
    with pytest.raises(ConfigError, match=message):
        await run(apis, tmp_path, category, "de")


async def test_no_titles_in_a_language_is_said(apis: dict[str, str], tmp_path: Path):
    summary = await run(apis, tmp_path, "Occupational safety and health", "it")
    assert summary.terms == {"it": 0}
    assert "No article has a title in Italian" in summary.advice[0]


async def test_an_answer_in_parts_is_whole(apis: dict[str, str], tmp_path: Path):
    """Two members a call, one link a call: the wiki goes on in both ways."""
    asked = {
        "generator": "categorymembers",
        "gcmtitle": "Category:Occupational safety and health",
        "gcmtype": "page",
        "prop": "extlinks",
    }
    found = {}
    async with fetching.api_web(AT_ONCE) as web:
        client = WikiClient(Url.parse(apis["en"]), web, AnswerCache(tmp_path), fetching.SystemClock())
        for name, limits in {
            "parts": {"gcmlimit": 2, "ellimit": 1},
            "whole": {"gcmlimit": "max", "ellimit": "max"},
        }.items():
            links: dict[str, set[str]] = {}
            answers = 0
            async for query in client.all({**asked, **limits}):  # type: ignore[dict-item]
                answers += 1
                for page in query.pages:
                    links.setdefault(page.title, set()).update(link.url for link in page.extlinks)
            found[name] = (links, answers)
    assert found["parts"][0] == found["whole"][0]
    assert found["parts"][1] > 5 > found["whole"][1] == 1


def test_the_web_app_gathers_a_topic_from_it_and_visits_no_private_site(
    apis: dict[str, str], sites: Served, tmp_path: Path
):
    """The operator has allowed the private addresses of the wiki, and of nothing else."""
    (tmp_path / "serve.toml").write_text(SERVE.format(**apis), "utf-8")
    visited = len(sites.asked)
    with running_app(tmp_path) as base:
        job = told(f"{base}/topics", {"category": "Health and safety at work", "languages": "en,de"})["id"]
        while (state := told(f"{base}/jobs/{job}")["state"]) in ("waiting", "running"):
            os.sched_yield()
        assert state == "ended"
        found, body = told(f"{base}/jobs/{job}/topic"), told(f"{base}/jobs/{job}/next")
    assert found["terms"] == {"en": 8, "de": 7}
    assert (found["checked"], found["sites"]) == (3, [])
    assert body["languages"] == ["en", "de"]
    assert sites.addresses["bilingual"] in "\n".join(body["seeds"])
    assert "100:risk assessment=Occupational safety and health>en" in body["terms"]
    assert len(sites.asked) == visited


SERVE = """
[limits]
requests = 1000000
[wiki]
allow_private = true
[wiki.editions]
en = "{en}"
de = "{de}"
"""


@contextmanager
def running_app(folder: Path) -> Iterator[str]:
    """The address of the API of `bitrawl serve`."""
    flags = ["--jobs", str(folder / "jobs"), "--port", "0", "--settings", str(folder / "serve.toml")]
    process = subprocess.Popen([sys.executable, "-m", "bitrawl", "serve", *flags], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        said = process.stderr.readline()
        yield next(word.rstrip(";/") for word in said.split() if word.startswith("http://")) + "/api/v1"
    finally:
        process.terminate()
        process.communicate()


def told(address: str, body: dict[str, str] | None = None) -> dict[str, Any]:
    content = json.dumps(body).encode() if body else None
    request = urllib.request.Request(address, content, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)
