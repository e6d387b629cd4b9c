"""`crawl` and `mine` ended from outside while they visit the bundled web: one line, no child left, and both resume."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from end_to_end.test_signals import all_end, children, watched
from inline_children import inline_children
from typer.testing import CliRunner

from bitrawl import config, demo
from bitrawl.cli import app
from bitrawl.demo import Served
from bitrawl.endings import Ending
from bitrawl.job.running import crawl, mine
from bitrawl.store.folder import JobFolder

SEED = "http://www.beekeepers.test/"
PAGES = 15  # of that site
Process = asyncio.subprocess.Process


async def start(verb: str, web: Served, out: Path) -> Process:
    reach = ("--allow-private", "--connect-to", f"*.test={demo.LOOPBACK}:{web.port}", "--delay", "1")
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bitrawl", verb, SEED, "--langs", "en,fr", "--out", str(out), *reach, "--exhaustive"),
        stdout=pipe,
        stderr=pipe,
        start_new_session=True,
    )


def status_of(out: Path, *flags: str) -> str:
    return CliRunner().invoke(app, ["status", str(out), *flags]).stdout


@pytest.fixture
async def web() -> AsyncIterator[Served]:
    async with demo.serve() as served:
        yield served


@pytest.fixture(params=["crawl", "mine"])
def verb(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def waiting(verb: str, web: Served, out: Path) -> Process:
    """A job with a child at work, and with a pause of a second before each of its pages still to come."""
    process = await start(verb, web, out)
    while not (web.visits and children(process.pid)):
        assert process.returncode is None
        await asyncio.sleep(0.01)
    return process


async def resumed(verb: str, out: Path) -> None:
    """The same job goes on to the end, in this process, and finds all of the site."""
    job = config.resolve(config.read(out / "job.toml") | {"politeness": {"delay": 0}})
    with inline_children():
        assert await {"crawl": crawl, "mine": mine}[verb](job, JobFolder(out)) is Ending.DONE
    status = json.loads(status_of(out, "--format", "json"))
    assert (status["state"], status["pages"], status["queued"]) == ("ended", PAGES, 0)
    assert ("en-fr" in status["corpora"]) is (verb == "mine")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
async def test_a_signal_ends_it_with_one_line_and_the_job_can_be_resumed(
    verb: str, number: signal.Signals, web: Served, tmp_path: Path
):
    process = await waiting(verb, web, tmp_path)
    descriptors = watched(process.pid)
    os.killpg(process.pid, number)
    _, err = await process.communicate()
    assert process.returncode == 128 + number, err.decode()
    assert b"Traceback" not in err
    assert err.decode().splitlines()[-1] == f"Stopped by {number.name}. Nothing is lost: resume with the same command."
    assert all_end(descriptors)
    assert f"interrupted (resume with: bitrawl {verb} --out {tmp_path})" in status_of(tmp_path)
    await resumed(verb, tmp_path)


async def test_ctrl_c_once_or_twice_ends_mine_and_the_job_can_be_resumed(web: Served, tmp_path: Path):
    process = await waiting("mine", web, tmp_path)
    descriptors = watched(process.pid)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of its processes
    await process.stderr.readuntil(b"Finishing what is in flight.")
    os.killpg(process.pid, signal.SIGINT)
    _, err = await process.communicate()
    assert (process.returncode, b"Traceback" in err) == (130, False), err.decode()
    assert all_end(descriptors)
    await resumed("mine", tmp_path)


async def test_when_the_parent_is_killed_its_children_end_and_what_status_names_resumes(
    verb: str, web: Served, tmp_path: Path
):
    process = await waiting(verb, web, tmp_path)
    descriptors = watched(process.pid)
    process.kill()
    await process.wait()
    assert all_end(descriptors), "a child outlives its parent"
    hint = status_of(tmp_path).partition("resume with: bitrawl ")[2].partition(")")[0]
    assert hint == f"{verb} --out {tmp_path}"
    again = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bitrawl", *hint.split(), "--delay", "0", "--quiet"
    )
    await again.wait()
    status = json.loads(status_of(tmp_path, "--format", "json"))
    assert (status["state"], status["pages"]) == ("ended", PAGES)
