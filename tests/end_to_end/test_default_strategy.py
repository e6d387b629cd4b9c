"""The default strategy by the real command: killed, resumed, ended early, and sent on."""

import asyncio
from collections import defaultdict
from pathlib import Path

import pytest
from forked_command import NO_CHILDREN, ForkedCommand
from typer.testing import CliRunner

from bitrawl import config, demo
from bitrawl.cli import app
from bitrawl.config import Job
from bitrawl.demo import Served
from bitrawl.endings import Ending, left_message
from bitrawl.job.running import crawl
from bitrawl.reasons import LeaveReason, OneLanguage
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_facts import log, summarise
from bitrawl.store.stored_findings import Findings

BILINGUAL = ("http://www.town-library.test/", "http://www.beekeepers.test/")
ENGLISH = "http://www.allotment-diary.test/"


def job(web: Served, *seeds: str, exhaustive: bool = False) -> Job:
    """One visit at a time: what comes next depends on nothing but what was learned."""
    return config.resolve(
        {
            "langs": ["en", "fr"],
            "seeds": list(seeds),
            "exhaustive": exhaustive,
            "politeness": {"delay": 0, "parallel": 1},
            "analysis": {"workers": 1},
            "fetch": {"connect_to": {"*.test": f"{demo.LOOPBACK}:{web.port}"}, "allow_private": True},
        }
    )


async def crawled(asked: Job, folder: Path) -> str:
    """How it says that it ended."""
    assert await crawl(asked, JobFolder(folder)) is Ending.DONE
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    ended = summarise(ledger).ended
    ledger.close()
    return ended


def start(folder: Path, command: str, first: str = "") -> ForkedCommand:
    return ForkedCommand.start(command, "--out", folder, first=first)


def by_host(folder: Path) -> dict[str, list[str]]:
    """The fetches of each host in their order; how hosts take turns depends on when the run began."""
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    fetches = defaultdict(list)
    for line in log(ledger):
        fetches[line.url.split("/")[2]].append(line.url)
    ledger.close()
    return dict(fetches)


def left(folder: Path) -> dict[str, LeaveReason]:
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    found = {known.site: known.left for known in ledger.sites() if known.left}
    ledger.close()
    return found


def ran(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


@pytest.mark.usefixtures("no_children")
async def test_killed_and_resumed_a_crawl_visits_what_it_would_have_visited_in_the_same_order(tmp_path: Path):
    async with demo.serve() as web:
        asked, killed = job(web, *BILINGUAL), tmp_path / "killed"
        await crawled(asked, tmp_path / "undisturbed")
        killed.mkdir()
        config.write(asked, killed / "job.toml")
        seen = len(web.visits)
        process = start(killed, "crawl", NO_CHILDREN)
        while len(web.visits) < seen + 30 and process.returncode is None:  # noqa: ASYNC110 (another process)
            await asyncio.sleep(0.001)
        assert process.returncode is None, "it was done before it could be killed"
        process.kill()
        await process.communicate()
        concluded = {url for urls in by_host(killed).values() for url in urls}
        seen = len(web.visits)
        await crawled(asked, killed)
    assert concluded
    assert not concluded & {visit.url for visit in web.visits[seen:]}, "a page with a verdict was fetched again"
    assert by_host(killed) == by_host(tmp_path / "undisturbed")


@pytest.fixture(scope="module")
def mined(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A bilingual site and one that is not; what the command said."""

    async def mine(folder: Path) -> str:
        async with demo.serve() as web:
            config.write(job(web, BILINGUAL[1], ENGLISH), folder / "job.toml")
            process = start(folder, "mine")
            said, err = await process.communicate()
        assert process.returncode == 0, err.decode()
        return said.decode()

    folder = tmp_path_factory.mktemp("mined")
    return folder, " ".join(asyncio.run(mine(folder)).split())


def test_command_status_and_report_say_why_a_site_was_left(mined: tuple[Path, str]):
    folder, said = mined
    assert list(left(folder)) == ["allotment-diary.test"]
    reason = left(folder)["allotment-diary.test"]
    assert isinstance(reason, OneLanguage)
    assert reason.language == "en"
    why = str(left_message("allotment-diary.test", reason))
    assert "everything points to English alone, so the rest of the site was left out." in why
    assert why in said
    assert "To visit the rest, run the same command with --exhaustive." in said
    assert why in ran("status", str(folder))
    assert why in (folder / "report.html").read_text()


def test_the_report_shows_the_patterns_that_the_site_follows(mined: tuple[Path, str]):
    folder, _ = mined
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    patterns = Findings(ledger).patterns("beekeepers.test")
    pairs = len(Findings(ledger).recorded("beekeepers.test")[0])
    assert Findings(ledger).patterns("allotment-diary.test") == {}
    ledger.close()
    assert patterns
    assert 1 < max(patterns.values()) <= pairs
    assert all(pattern.startswith("en-fr ") for pattern in patterns)
    drawn = (folder / "report.html").read_text()
    assert next(iter(patterns)).split()[0] in drawn
    assert "how the URLs of pairs differ" in drawn


@pytest.mark.usefixtures("no_children")
async def test_a_site_that_was_left_stays_left_until_all_of_it_is_asked_for(tmp_path: Path):
    async with demo.serve() as web:
        assert "of allotment-diary.test were read, and everything points to English alone" in await crawled(
            job(web, ENGLISH), tmp_path
        )
        first, seen = by_host(tmp_path), len(web.visits)
        assert "of allotment-diary.test were read, and everything points to English alone" in await crawled(
            job(web, ENGLISH), tmp_path
        )
        assert (by_host(tmp_path), len(web.visits)) == (first, seen)
        assert "Nothing is left to visit." in await crawled(job(web, ENGLISH, exhaustive=True), tmp_path)
    for host, urls in first.items():
        assert by_host(tmp_path)[host][: len(urls)] == urls
        assert len(set(by_host(tmp_path)[host])) == len(by_host(tmp_path)[host]) > len(urls)
    ledger = Ledger(tmp_path / "job.sqlite", read_only=True)
    assert summarise(ledger).queued == 0
    ledger.close()
