"""Files that are made when somebody asks for them."""

import asyncio
import os
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from bitrawl.errors import BitrawlError
from bitrawl.store.folder import JobFolder
from bitrawl.web.commands import ExportCache
from bitrawl.web.corpus_files import StoredFile


@pytest.fixture
def job(tmp_path: Path) -> JobFolder:
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "job.sqlite").write_bytes(b"")
    return JobFolder(tmp_path / "job")


async def test_the_same_question_is_answered_once(tmp_path: Path, job: JobFolder):
    made = []

    async def make(draft: Path) -> None:
        made.append(draft)
        await asyncio.sleep(0)
        (draft / "answer").write_text("42")

    cache = ExportCache(tmp_path)
    places = await asyncio.gather(*(cache.get(job, ["what"], make) for _ in range(3)))
    assert len(made) == 1
    assert {place / "answer" for place in places} == {places[0] / "answer"}
    assert (places[0] / "answer").read_text() == "42"
    assert await cache.get(job, ["what else"], make) != places[0]


async def test_another_state_of_the_job_is_another_question(tmp_path: Path, job: JobFolder):
    async def make(draft: Path) -> None:
        (draft / "answer").write_text("")

    cache = ExportCache(tmp_path)
    first = await cache.get(job, ["what"], make)
    (job.path / "verdicts.sqlite").write_bytes(b"said")
    assert await cache.get(job, ["what"], make) != first


async def test_a_fault_is_told_to_all_and_forgotten(tmp_path: Path, job: JobFolder):
    async def fail(_draft: Path) -> None:
        raise BitrawlError("no")

    async def make(draft: Path) -> None:
        (draft / "answer").write_text("")

    cache = ExportCache(tmp_path)
    cache.begin(job, ["what"], fail)
    assert not cache.is_ready(job, ["what"])
    with pytest.raises(BitrawlError, match="no"):
        await cache.get(job, ["what"], fail)
    assert (await cache.get(job, ["what"], make) / "answer").exists()


async def test_old_answers_and_those_of_deleted_jobs_go(tmp_path: Path, job: JobFolder):
    async def make(draft: Path) -> None:
        (draft / "answer").write_text("")

    now = [0.0]
    cache = ExportCache(tmp_path, lambda: now[0])
    place = await cache.get(job, ["what"], make)
    now[0] = place.stat().st_mtime + 4000
    other = await cache.get(job, ["what else"], make)
    assert not place.exists()
    cache.forget(job)
    assert not other.exists()


async def test_an_answer_stays_for_a_while_after_it_was_asked_for_last(tmp_path: Path, job: JobFolder):
    async def make(draft: Path) -> None:
        (draft / "answer").write_text("")

    now = [0.0]
    cache = ExportCache(tmp_path, lambda: now[0])
    place = await cache.get(job, ["what"], make)
    os.utime(place, (1e9, 1e9))  # it was made long ago
    assert await cache.get(job, ["what"], make) == place
    now[0] = place.stat().st_mtime + 1
    await cache.get(job, ["what else"], make)  # which removes what is old
    assert (place / "answer").exists()


def test_a_file_that_goes_between_check_and_read_is_not_found(tmp_path: Path):
    (tmp_path / "en-fr.tmx").write_text("<tmx/>")

    async def hand_out(_request: Request) -> Response:
        return StoredFile(tmp_path / "en-fr.tmx", filename="en-fr.tmx")

    client = TestClient(Starlette(routes=[Route("/file", hand_out)]))
    answer = client.get("/file")
    assert (answer.status_code, answer.text) == (200, "<tmx/>")
    (tmp_path / "en-fr.tmx").unlink()
    answer = client.get("/file")
    assert (answer.status_code, answer.text) == (404, "This file is not there any more. Open the page again.")
