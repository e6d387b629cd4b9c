"""The children of a job are killed by real signals. The job ends with the corpus that it would have had, or says so."""

import asyncio
import re
from functools import partial
from pathlib import Path

import pytest
from mortal_processes import POISON, mortal_mining, mortal_reader, mortal_writing
from small_site import articles
from topic_web import Served, serve

from bitrawl import config
from bitrawl.cli.status import tell_of_kills
from bitrawl.config import Job
from bitrawl.endings import Ending
from bitrawl.job import OpenedJob, fetching, workers
from bitrawl.job.reporting import status
from bitrawl.job.running import crawl, mine
from bitrawl.reasons import Reason
from bitrawl.store.folder import JobFolder
from bitrawl.store.own_files import SHARED

HOST = "http://harbour.test"


def web() -> dict[str, str]:
    pages, _ = articles(9, f"{HOST}/en/a{{}}", f"{HOST}/fr/a{{}}")
    links = "".join(f'<li><a href="{page.url}">{page.title}</a>' for page in pages)
    texts = {str(page.url): "".join(f"<p>{paragraph.text}</p>" for paragraph in page.paragraphs) for page in pages}
    texts[f"{HOST}/"] = ""
    return {url: f"<html><body><main>{text}</main><ul>{links}</ul></body></html>" for url, text in texts.items()}


def job(served: Served, miners: int = 1) -> Job:
    asked = {
        "langs": ["en", "fr"],
        "seeds": [f"{HOST}/"],
        "politeness": {"delay": 0},
        "scope": {"probe": False, "sitemaps": False},
        "analysis": {"workers": 1},
        "mining": {"workers": miners},
        "export": {"formats": ["jsonl", "tmx", "tsv", "moses", "xces"]},
        "fetch": {"connect_to": {"*.test": f"127.0.0.1:{served.port}"}, "allow_private": True},
    }
    return config.resolve(asked)


def mined(served: Served, folder: Path, miners: int = 1) -> dict[str, bytes]:
    """The files of the corpus after one run of the job, without the dates in them."""
    assert asyncio.run(mine(job(served, miners), JobFolder(folder))) is Ending.DONE
    paths = [path for path in (folder / "corpus").rglob("*") if path.is_file() and path.name != "README.md"]
    return {path.name: re.sub(rb'creationdate="\d{8}T\d{6}Z"', b"", path.read_bytes()) for path in paths}


@pytest.fixture(scope="module")
def served():
    with serve(web()) as running:
        yield running


@pytest.fixture(scope="module")
def undisturbed(served: Served, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    found = mined(served, tmp_path_factory.mktemp("undisturbed"))
    assert len(found["en-fr.documents.jsonl"].splitlines()) == 9
    return found


@pytest.fixture
def marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the children note that they are about to be killed."""
    marks = tmp_path / "marks"
    marks.mkdir()
    monkeypatch.setattr(fetching, "page_reader", partial(mortal_reader, marks))
    monkeypatch.setattr(workers, "mining_service", partial(mortal_mining, marks))
    monkeypatch.setattr(workers, "writing_service", partial(mortal_writing, marks))
    return marks


@pytest.mark.long("a child starts anew after each of many kills")
def test_children_killed_at_their_start_at_a_page_and_at_each_step_of_mining_change_no_byte_of_the_corpus(
    served: Served, undisturbed: dict[str, bytes], marks: Path, tmp_path: Path
):
    assert mined(served, tmp_path / "job", miners=2) == undisturbed
    steps = {"PairSite", "PassPages", "LearnWords", "AlignPairs"}
    assert {path.name for path in marks.iterdir()} == {"reader", "page", "miner", "writer", "corpus"} | steps
    assert not list((tmp_path / "job").glob(f"{SHARED}*"))
    now = status(JobFolder(tmp_path / "job"))
    assert (now.killed, now.faults) == (0, {})


def test_a_page_whose_readers_are_killed_each_time_is_told_and_read_by_the_next_run(
    served: Served, marks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = JobFolder(tmp_path / "job")
    (marks / POISON).write_text("/fr/a4")
    asyncio.run(crawl(job(served), folder))
    now = status(folder)
    assert now.killed == now.crawl.skipped_for(Reason.KILLED) == 1
    assert now.crawl.pages == 18
    tell_of_kills(OpenedJob(folder.path))
    said = capsys.readouterr().err
    assert "1 page, page pair or site is left out" in said
    assert f"To try them again: bitrawl crawl --out {folder.path}" in said
    (marks / POISON).write_text("/no page")
    asyncio.run(crawl(job(served), folder))
    now = status(folder)
    assert (now.killed, now.crawl.pages) == (0, 19)
    tell_of_kills(OpenedJob(folder.path))
    assert not capsys.readouterr().err
