"""A job that is ended from outside: clean words, no traceback, no child left behind, and the same command resumes."""

import asyncio
import os
import select
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from prose_site import job_folder
from typer.testing import CliRunner

from bitrawl.cli import app

PAGES = 60  # of each language: enough that mining is under way when the signal comes
PATIENCE = 60_000  # milliseconds; a dead child is seen at once


@pytest.fixture
async def mining(tmp_path: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """`bitrawl pair`, in a session of its own, with a child that is at work."""
    job_folder(tmp_path, PAGES)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bitrawl", "pair", str(tmp_path)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    await process.stderr.readuntil(b"pairing")
    while not children(process.pid):  # noqa: ASYNC110 (another process is waited for)
        await asyncio.sleep(0.001)
    yield process
    if process.returncode is None:
        process.kill()
        await process.wait()


def children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task")
    return [int(child) for task in tasks.iterdir() for child in (task / "children").read_text().split()]


def all_end(descriptors: list[int]) -> bool:
    """Whether the processes behind these descriptors all end."""
    ends = select.poll()
    for descriptor in descriptors:
        ends.register(descriptor, select.POLLIN)
    alive = set(descriptors)
    while alive:
        ended = ends.poll(PATIENCE)
        if not ended:
            return False
        for descriptor, _ in ended:
            ends.unregister(descriptor)
            alive.discard(descriptor)
    return True


def watched(pid: int) -> list[int]:
    found = children(pid)
    assert found, "no child is at work"
    return [os.pidfd_open(child) for child in found]


@pytest.mark.parametrize("whole_group", [False, True], ids=["process", "group"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda number: number.name)
async def test_a_signal_ends_mining_with_one_line_and_no_child_is_left(
    mining: asyncio.subprocess.Process, number: signal.Signals, *, whole_group: bool
):
    descriptors = watched(mining.pid)
    (os.killpg if whole_group else os.kill)(mining.pid, number)
    _, said = await mining.communicate()
    assert mining.returncode == 128 + number, said.decode()
    assert b"Traceback" not in said
    assert f"Stopped by {number.name}. Nothing is lost: resume with the same command.".encode() in said
    assert all_end(descriptors)


async def test_a_parent_that_is_killed_takes_its_children_with_it_and_status_says_so(
    mining: asyncio.subprocess.Process, tmp_path: Path
):
    descriptors = watched(mining.pid)
    mining.kill()
    await mining.wait()
    assert all_end(descriptors), "a child outlives its parent"
    said = CliRunner().invoke(app, ["status", str(tmp_path)]).stdout
    assert f"interrupted (resume with: bitrawl pair {tmp_path})" in " ".join(said.split())
