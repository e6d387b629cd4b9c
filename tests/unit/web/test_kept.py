"""Files that are made when somebody asks for them."""

import asyncio
from pathlib import Path

import pytest

from bitrawl.errors import BitrawlError
from bitrawl.job.folder import JobFolder
from bitrawl.web.commands import KeptFiles


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

    kept = KeptFiles(tmp_path)
    places = await asyncio.gather(*(kept.made(job, ["what"], make) for _ in range(3)))
    assert len(made) == 1
    assert {place / "answer" for place in places} == {places[0] / "answer"}
    assert (places[0] / "answer").read_text() == "42"
    assert await kept.made(job, ["what else"], make) != places[0]


async def test_another_state_of_the_job_is_another_question(tmp_path: Path, job: JobFolder):
    async def make(draft: Path) -> None:
        (draft / "answer").write_text("")

    kept = KeptFiles(tmp_path)
    first = await kept.made(job, ["what"], make)
    (job.path / "verdicts.sqlite").write_bytes(b"said")
    assert await kept.made(job, ["what"], make) != first


async def test_a_fault_is_told_to_all_and_forgotten(tmp_path: Path, job: JobFolder):
    async def fail(_draft: Path) -> None:
        raise BitrawlError("no")

    async def make(draft: Path) -> None:
        (draft / "answer").write_text("")

    kept = KeptFiles(tmp_path)
    kept.begin(job, ["what"], fail)
    assert not kept.is_ready(job, ["what"])
    with pytest.raises(BitrawlError, match="no"):
        await kept.made(job, ["what"], fail)
    assert (await kept.made(job, ["what"], make) / "answer").exists()


async def test_old_answers_and_those_of_deleted_jobs_go(tmp_path: Path, job: JobFolder):
    async def make(draft: Path) -> None:
        (draft / "answer").write_text("")

    now = [0.0]
    kept = KeptFiles(tmp_path, lambda: now[0])
    place = await kept.made(job, ["what"], make)
    now[0] = place.stat().st_mtime + 4000
    other = await kept.made(job, ["what else"], make)
    assert not place.exists()
    kept.forget(job)
    assert not other.exists()
