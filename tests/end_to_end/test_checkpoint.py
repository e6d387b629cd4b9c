"""A job that is saved while it runs, killed, and taken up on another machine."""

import asyncio
from pathlib import Path

import pytest
from forked_command import ForkedCommand

from bitrawl import demo
from bitrawl.cluster.checkpoint import Checkpoints, restore
from bitrawl.cluster.places import Place, place
from bitrawl.demo import Served
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_facts import log

SITES = ("beekeepers", "wend-gazette", "town-library", "harbour-museum", "musee-du-port", "mountain-rescue")
RULES = ("/robots.txt", "/.well-known/tdmrep.json")  # asked for again by each run


def start(web: Served, out: Path) -> ForkedCommand:
    seeds = [f"http://www.{name}.test/" for name in SITES]
    command = ["mine", *seeds, "--langs", "en,fr", "--out", str(out), "--workers", "1"]
    command += ["--delay", "0", "--allow-private", "--quiet", "--connect-to", f"*.test={demo.LOOPBACK}:{web.port}"]
    command += ["--exhaustive", "--one-site", "harbour-museum.test,musee-du-port.test"]
    return ForkedCommand.start(*command)


async def saved_after(web: Served, process: ForkedCommand, folder: Path, there: Place) -> None:
    """Twice: early, and again in the middle of the job."""
    checkpoints = Checkpoints(folder, there)
    for requests in (20, 70):
        while len(web.visits) < requests:
            assert process.returncode is None
            await asyncio.sleep(0.001)
        assert await asyncio.to_thread(checkpoints.save)


def concluded(folder: Path) -> set[str]:
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    urls = {line.url for line in log(ledger)}
    ledger.close()
    return urls


def units(folder: Path) -> list[str]:
    return sorted((folder / "corpus" / "en-fr.tsv").read_text("utf-8").splitlines())


@pytest.mark.parametrize("anywhere", ["folder", "s3"], indirect=True)
@pytest.mark.long("three commands mine the same web")
async def test_a_job_goes_on_elsewhere_from_its_last_checkpoint(tmp_path: Path, anywhere: str):
    there = place(anywhere) / "parts/00001/checkpoint"
    async with demo.serve() as web:
        process = start(web, tmp_path / "first")
        await saved_after(web, process, tmp_path / "first", there)
        process.kill()
        await process.communicate()

        assert restore(there, tmp_path / "second")
        before, seen = concluded(tmp_path / "second"), len(web.visits)
        assert before
        process = start(web, tmp_path / "second")
        _, err = await process.communicate()
        assert process.returncode == 0, err.decode()
        asked = {visit.url for visit in web.visits[seen:] if not visit.url.endswith(RULES)}

        process = start(web, tmp_path / "undisturbed")
        await process.communicate()
    assert asked
    assert not asked & before, "a page that the checkpoint had was fetched again"
    assert concluded(tmp_path / "second") == concluded(tmp_path / "undisturbed")
    assert units(tmp_path / "second") == units(tmp_path / "undisturbed")
    assert len(units(tmp_path / "second")) > 100
