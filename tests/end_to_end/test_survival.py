"""A crawl of the bundled web by the real command, killed, starved and interrupted: nothing is lost, nothing repeated."""

import asyncio
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from forked_command import NO_CHILDREN, start_forked
from inline_children import inline_children

from bitrawl import aio, demo
from bitrawl.demo import Served
from bitrawl.endings import Ending
from bitrawl.facts import CrawlSummary
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_facts import log, summarise

KILLS = 20
RULES = ("/robots.txt", "/.well-known/tdmrep.json")  # asked for by the robots wrapper, within a visit
SLOTS = 16  # --parallel's default: what can be in flight


def command(web: Served, out: Path) -> list[str]:
    """Without `bitrawl`."""
    asked = ["crawl", *map(str, demo.seeds()), "--langs", "en,fr", "--out", str(out), "--exhaustive", "--delay", "0"]
    return [*asked, "--workers", "1", "--connect-to", f"*.test={demo.LOOPBACK}:{web.port}", "--allow-private"]


async def start(web: Served, out: Path, **options: object) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    arguments = (sys.executable, "-m", "bitrawl", *command(web, out))
    return await asyncio.create_subprocess_exec(*arguments, stdout=pipe, stderr=pipe, **options)  # type: ignore[arg-type]


async def requests_reach(web: Served, count: int, has_ended: Callable[[], bool]) -> bool:
    """Until the server has been asked so often; False when the crawl ended before."""
    while len(web.visits) < count:
        if has_ended():
            return False
        await asyncio.sleep(0.001)
    return True


def outcome(folder: Path) -> tuple[dict[str, str], CrawlSummary]:
    """Pages with their language, and the figures."""
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    pages = {str(page.url): str(page.language) for page in ledger.pages()}
    summary = summarise(ledger)
    ledger.close()
    return pages, summary


def concluded(folder: Path) -> set[str]:
    if not (folder / "job.sqlite").exists():
        return set()
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    urls = {line.url for line in log(ledger)}
    ledger.close()
    return urls


async def crawl_here(web: Served, out: Path, **settings: object) -> Ending:
    """The same in this process."""
    where = {"connect_to": f"*.test={demo.LOOPBACK}:{web.port}", "allow_private": True, "delay": 0}
    with inline_children():
        job = await aio.crawl(demo.seeds(), langs="en,fr", out=out, exhaustive=True, **where, **settings)
    return job.ending


@pytest.fixture(scope="module")
def undisturbed_job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    async def crawl(folder: Path) -> Ending:
        async with demo.serve() as web:
            return await crawl_here(web, folder)

    folder = tmp_path_factory.mktemp("undisturbed")
    assert asyncio.run(crawl(folder)) is Ending.DONE
    return folder


@pytest.fixture(scope="module")
def undisturbed(undisturbed_job: Path) -> dict[str, str]:
    pages, summary = outcome(undisturbed_job)
    assert summary.links == summary.pages + summary.skipped
    assert set(pages) == set(map(str, demo.pages()))
    return pages


@pytest.mark.long("the command starts 21 times")
async def test_killed_twenty_times_a_crawl_ends_with_the_same_pages_and_repeats_only_what_was_in_flight(
    tmp_path: Path, undisturbed: dict[str, str]
):
    random = Random(20261115)
    asked_before: set[str] = set()
    repeated: list[int] = []
    async with demo.serve() as web:
        for _ in range(KILLS):
            done, seen = concluded(tmp_path), len(web.visits)
            crawl = start_forked(*command(web, tmp_path), first=NO_CHILDREN)
            alive = await requests_reach(web, seen + random.randint(1, 12), lambda: crawl.exitcode is not None)  # noqa: B023
            crawl.kill()
            await asyncio.to_thread(crawl.join)
            asked = [visit.url for visit in web.visits[seen:]]
            assert not done & set(asked), "a page with a verdict was fetched again"
            repeated.append(len({url for url in asked if url in asked_before and not url.endswith(RULES)}))
            asked_before.update(asked)
            assert alive, "it was done before it could be killed twenty times: the moments are too far apart"
        process = await start(web, tmp_path)
        out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    pages, summary = outcome(tmp_path)
    assert pages == undisturbed
    assert summary.queued == 0
    assert summary.links == summary.pages + summary.skipped
    assert max(repeated) <= SLOTS
    assert b"Nothing is left" in out


async def test_a_full_disk_stops_the_job_cleanly_and_the_same_command_goes_on(
    tmp_path: Path, undisturbed: dict[str, str]
):
    def little_space() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))

    async with demo.serve() as web:
        starved = await start(web, tmp_path, preexec_fn=little_space)
        _, err = await starved.communicate()
        assert starved.returncode == 1
        assert b"run the same command again" in err
        assert b"Traceback" not in err
        before = concluded(tmp_path)
        assert before
        seen = len(web.visits)
        assert await crawl_here(web, tmp_path) is Ending.DONE
    assert outcome(tmp_path)[0] == undisturbed
    assert not before & {visit.url for visit in web.visits[seen:]}


async def test_ctrl_c_finishes_what_is_in_flight_and_the_same_command_goes_on(
    tmp_path: Path, undisturbed: dict[str, str]
):
    async with demo.serve() as web:
        process = await start(web, tmp_path)
        assert await requests_reach(web, 60, lambda: process.returncode is not None)
        process.send_signal(signal.SIGINT)
        out, err = await process.communicate()
        assert process.returncode == 130
        assert b"To go on, run the same command again." in out
        assert b"Finishing" in err
        asked = {visit.url for visit in web.visits if not visit.url.endswith(RULES)}
        assert asked == concluded(tmp_path), "what was in flight was not finished"
        seen = len(web.visits)
        assert await crawl_here(web, tmp_path) is Ending.DONE
    assert outcome(tmp_path)[0] == undisturbed
    assert not asked & {visit.url for visit in web.visits[seen:]}


async def test_ctrl_c_twice_stops_now_and_the_same_command_goes_on(tmp_path: Path, undisturbed: dict[str, str]):
    async with demo.serve() as web:
        process = await start(web, tmp_path)
        assert await requests_reach(web, 60, lambda: process.returncode is not None)
        process.send_signal(signal.SIGINT)
        await asyncio.wait_for(process.stderr.readuntil(b"Finishing"), 30)
        process.send_signal(signal.SIGINT)
        await process.communicate()
        assert process.returncode == 130
        assert await crawl_here(web, tmp_path) is Ending.DONE
    assert outcome(tmp_path)[0] == undisturbed


async def test_a_second_crawl_in_the_same_folder_is_refused(tmp_path: Path):
    first = Ledger(tmp_path / "job.sqlite")
    async with demo.serve() as web:
        _, err = await (second := await start(web, tmp_path)).communicate()
    first.close()
    assert second.returncode == 1
    assert b"another bitrawl process is using" in err
    assert not web.visits


async def test_what_was_fetched_is_archived_and_the_archive_replays_as_the_web(
    tmp_path: Path, undisturbed_job: Path, undisturbed: dict[str, str]
):
    async with demo.serve() as web:
        archives = sorted((undisturbed_job / "warc").glob("*.warc.gz"))
        assert await crawl_here(web, tmp_path, probe=False, replay=archives) is Ending.DONE
        assert not web.visits
    assert outcome(tmp_path)[0] == undisturbed
