"""`bitrawl mine --sites` in bundles, by the real command: killed, poisoned and divided, it finds what a plain loop finds."""

import asyncio
import json
import os
import resource
import signal
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
from end_to_end.test_signals import all_end, children
from forked_command import ForkedCommand
from inline_children import inline_children
from typer.testing import CliRunner

from bitrawl import aio, config, demo
from bitrawl.cli import app
from bitrawl.cluster.bundle_process import BundleOrder, mine_bundle
from bitrawl.cluster.bundles import Bundle, Done, MachineFault, PartState, SiteOutcome, checkpoint, done, sites_of
from bitrawl.cluster.checkpoint import restore
from bitrawl.cluster.places import place
from bitrawl.demo import Served
from bitrawl.endings import Ending
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_facts import log

SITES = (
    "http://www.beekeepers.test/",
    "http://www.town-library.test/",
    "http://www.wend-railway.test/",
    "http://fr.wend-railway.test/",
    "http://www.arden-observatory.test/",
)
BUNDLES = (SITES[:2], SITES[2:])  # with two sites each
DELAY = 0.1  # seconds
IN_FLIGHT = 16  # --parallel's default: what a process that is killed may have to fetch again
RULES = ("/robots.txt", "/.well-known/tdmrep.json")  # asked for by each process that visits the host

Process = asyncio.subprocess.Process
Units = frozenset[str]


@pytest.fixture
async def web() -> AsyncIterator[Served]:
    async with demo.serve() as served:
        yield served


def reached(web: Served, delay: float = 0.0) -> list[str]:
    route = f"*.test={demo.LOOPBACK}:{web.port}"
    return ["--langs", "en,fr", "--allow-private", "--connect-to", route, "--delay", str(delay), "--exhaustive"]


async def bitrawl(*arguments: str | Path) -> Process:
    """The command as a user starts it."""
    command, pipe = (sys.executable, "-m", "bitrawl", *map(str, arguments)), asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe, start_new_session=True)


def many(web: Served, folder: Path, *flags: str, sites: Iterable[str] = SITES, delay: float = 0.0) -> list[str | Path]:
    """The command, without `bitrawl`; its output is in `folder`/out."""
    listed, described = folder / "sites.txt", folder / "job.toml"
    listed.write_text("".join(f"{site}\n" for site in sites))
    described.write_text("[analysis]\nworkers = 1\n[politeness]\nbackoff = 0\n")  # the sites are small
    where = ("--sites", listed, "--out", folder / "out", "--scratch", folder / "scratch", "--bundle-sites", "2")
    return ["mine", *where, "--job", described, *reached(web, delay), *flags]


async def ended(process: Process | ForkedCommand) -> tuple[int, str]:
    """Its exit status and all that it said."""
    out, err = await process.communicate()
    return process.returncode or 0, out.decode() + err.decode()


def units(folders: Iterable[Path]) -> Units:
    texts = ((folder / "corpus/en-fr.sentences.jsonl").read_text() for folder in folders)
    return frozenset(line for text in texts for line in text.splitlines())


def parts(folder: Path) -> list[Path]:
    return sorted(path for path in (folder / "out/parts").iterdir() if (path / "job.sqlite").exists())


@pytest.fixture(scope="module")
def plain_jobs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """One job after the other, one for each bundle."""
    folders = [tmp_path_factory.mktemp("loop") / "job" for _ in BUNDLES]

    async def mine() -> None:
        async with demo.serve() as web:
            where = {"connect_to": f"*.test={demo.LOOPBACK}:{web.port}", "allow_private": True, "delay": 0}
            for folder, seeds in zip(folders, BUNDLES, strict=True):
                job = await aio.mine(seeds, langs="en,fr", out=folder, exhaustive=True, workers=1, **where)
                assert job.ending is Ending.DONE

    with inline_children():
        asyncio.run(mine())
    return folders


@pytest.fixture(scope="module")
def plain_loop(plain_jobs: list[Path]) -> list[Units]:
    """What a plain loop finds, by bundle."""
    found = [units([folder]) for folder in plain_jobs]
    assert min(map(len, found)) > 20
    return found


async def until(condition: Callable[[], bool], process: Process | ForkedCommand) -> None:
    while not condition():
        assert process.returncode is None, await ended(process)
        await asyncio.sleep(0.05)


def below(pid: int) -> list[int]:
    """All processes that a process has started, and those that these have started."""
    try:
        found = children(pid)
    except FileNotFoundError:
        return []
    return [*found, *(deeper for child in found for deeper in below(child))]


def bundle_processes(pid: int) -> list[int]:
    return [each for each in below(pid) if b"bundle_process" in command_of(each)]


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def descriptors(pids: Iterable[int]) -> list[int]:
    return [os.pidfd_open(pid) for pid in pids]


def twice(web: Served) -> list[str]:
    """Pages that were asked for more than once."""
    seen: dict[str, int] = defaultdict(int)
    for visit in web.visits:
        seen[visit.url] += not visit.url.endswith(RULES)
    return [url for url, count in seen.items() if count > 1]


class Run(NamedTuple):
    folder: Path
    said: str


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """All sites, by two processes."""
    folder = tmp_path_factory.mktemp("two")

    async def mine() -> tuple[int, str]:
        async with demo.serve() as web:
            return await ended(await bitrawl(*many(web, folder, "--workers", "2", delay=DELAY)))

    status, said = asyncio.run(mine())
    assert status == 0, said
    return Run(folder, said)


def test_two_workers_find_what_a_plain_loop_finds_and_visit_no_host_faster_than_its_delay(
    two_workers: Run, plain_loop: list[Units]
):
    folder = two_workers.folder
    assert "4 of 4 sites done" in two_workers.said
    assert units(parts(folder)) == frozenset().union(*plain_loop)
    assert not list((folder / "scratch").rglob("job.sqlite")), "scratch is left behind"
    assert not list((folder / "out/progress").iterdir())
    visits: dict[str, list[float]] = defaultdict(list)
    for part in parts(folder):
        ledger = Ledger(part / "job.sqlite", read_only=True)
        for line in log(ledger):
            if line.status:
                visits[str(urlsplit(line.url).hostname)].append(line.at)
        ledger.close()
    gaps = [after - before for at in map(sorted, visits.values()) for before, after in pairwise(at)]
    assert len(gaps) > 40
    assert min(gaps) >= DELAY - 0.002  # the ledger rounds


def with_customised(folder: Path, code: str) -> dict[str, str]:
    """An environment in which every Python begins with that code."""
    (folder / "sitecustomize.py").write_text(code)
    return {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}


NO_DASK = "import sys\nsys.modules['distributed'] = sys.modules['dask'] = None  # as if they were not installed\n"


@pytest.mark.long("three drivers start children for each bundle")
async def test_two_parts_without_dask_are_the_whole_although_a_driver_is_killed(
    tmp_path: Path, web: Served, plain_loop: list[Units]
):
    without = with_customised(tmp_path, NO_DASK)
    status, said = await ended(
        ForkedCommand.start(*many(web, tmp_path, "--part", "0/2"), environment=without, first=NO_DASK)
    )
    assert status == 0, said
    finished = len(web.visits)
    driver = ForkedCommand.start(*many(web, tmp_path, "--part", "1/2"), environment=without, first=NO_DASK)
    await until(lambda: len(web.visits) > finished + 8, driver)
    left = descriptors(below(driver.pid))
    assert left
    driver.kill()
    await driver.wait()
    assert all_end(left), "a process outlives its driver"
    status, said = await ended(
        ForkedCommand.start(*many(web, tmp_path, "--workers", "1"), environment=without, first=NO_DASK)
    )
    assert status == 0, said
    assert "4 sites; 1 bundle to do, 2 sites done before." in said
    assert not hosts(BUNDLES[0]) & hosts(visit.url for visit in web.visits[finished:]), (
        "a finished bundle is mined again"
    )
    assert [path.name for path in parts(tmp_path)] == ["00000", "00001"]
    assert units(parts(tmp_path)) == frozenset().union(*plain_loop)
    assert len(twice(web)) <= IN_FLIGHT


def hosts(urls: Iterable[str]) -> set[str]:
    return {str(urlsplit(url).hostname) for url in urls}


async def test_ctrl_c_ends_every_process_with_one_line(tmp_path: Path, web: Served):
    driver = await bitrawl(*many(web, tmp_path, "--workers", "2", sites=BUNDLES[0], delay=1.0))
    await until(lambda: len(web.visits) > 1, driver)
    left = descriptors(below(driver.pid))
    driver.send_signal(signal.SIGINT)
    status, said = await ended(driver)
    assert status == 130
    assert "Stopped by SIGINT. Nothing is lost: resume with the same command." in said
    assert "Traceback" not in said
    assert all_end(left)


POISON = """
import os, signal, sys

def hook(event, arguments):
    if event == "socket.connect" and arguments[1][1] == 9:
        os.kill(os.getpid(), signal.SIGSEGV)

sys.addaudithook(hook)
"""


ONE_ATTEMPT = "from bitrawl.cluster import bundle_process, run; bundle_process.ATTEMPTS = run.TRIES = 1"


async def test_a_site_that_breaks_its_process_fails_alone_with_its_reason(tmp_path: Path, web: Served):
    command = many(web, tmp_path, "--workers", "1", sites=("http://poison.test/", "http://www.saltholm.test/"))
    route = ("--connect-to", f"poison.test={demo.LOOPBACK}:9")
    poisoned = with_customised(tmp_path, POISON)
    status, said = await ended(ForkedCommand.start(*command, *route, environment=poisoned, first=ONE_ATTEMPT))
    assert status == 0, said
    assert "poison.test: killed by SIGSEGV" in said
    assert "add --retry-failed" in said
    out = place(str(tmp_path / "out"))
    states = {name: how.state for name in (out / "parts").names() if (how := done(out, name))}
    assert states == {"00000": PartState.HALVED, "00000-1": PartState.FAILED, "00000-2": PartState.MINED}
    assert [path.name for path in parts(tmp_path)] == ["00000-2"]


async def test_a_bundle_whose_process_was_killed_is_told_and_the_same_command_finishes_it(
    tmp_path: Path, web: Served, plain_loop: list[Units]
):
    command = many(web, tmp_path, "--workers", "1", "--quiet", sites=BUNDLES[0])
    driver = ForkedCommand.start(*command, first=ONE_ATTEMPT)
    await until(lambda: len(web.visits) > 8, driver)
    os.kill(bundle_processes(driver.pid)[0], signal.SIGKILL)
    status, said = await ended(driver)
    assert status == 1, said
    assert "not done: beekeepers.test, town-library.test: its process was killed by SIGKILL" in said
    status, said = await ended(ForkedCommand.start(*command))
    assert status == 0, said
    assert units(parts(tmp_path)) == plain_loop[0]
    assert len(twice(web)) <= IN_FLIGHT


async def test_sites_that_bring_nothing_are_told_with_their_reasons(tmp_path: Path, web: Served):
    sites = ("http://silent.test/", "http://www.beekeepers.test/nothing-here")
    command = many(web, tmp_path, "--part", "0/1", "--no-sitemaps", sites=sites)
    status, said = await ended(ForkedCommand.start(*command, "--connect-to", f"silent.test={demo.LOOPBACK}:1"))
    assert status == 1
    outcomes = json.loads((tmp_path / "out/parts/00000/done.json").read_text())["sites"]
    why = {one["site"]: one["failed"] for one in outcomes}
    assert why["beekeepers.test"] == "http-status, Not Found"
    assert why["silent.test"] == "robots-unreachable"
    assert all(f"{site}: {reason}" in said for site, reason in why.items())


async def test_a_full_disk_is_no_fault_of_the_bundle_and_nothing_is_fetched_again(tmp_path: Path, web: Served):
    fetch = {"connect_to": {"*.test": f"{demo.LOOPBACK}:{web.port}"}, "allow_private": True}
    job = config.resolve({"langs": ["en", "fr"], "seeds": [SITES[0]], "fetch": fetch, "politeness": {"delay": 0}})
    bundle = Bundle("00000", sites_of(job))
    order = BundleOrder(str(tmp_path / "out"), str(tmp_path / "scratch"), "run", job, bundle)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, before[1]))  # the bundle's process inherits it
    try:
        starved = await asyncio.to_thread(mine_bundle, order)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert isinstance(starved, MachineFault)
    assert starved.reason.startswith("the disk is full: ")
    assert str(tmp_path / "scratch") in starved.reason
    assert web.visits
    how = await asyncio.to_thread(mine_bundle, order)
    assert isinstance(how, Done)
    assert how.sites == [SiteOutcome("beekeepers.test", pages=15, pairs=5)]
    assert len(twice(web)) <= IN_FLIGHT


async def test_archives_are_divided_like_sites(tmp_path: Path, plain_loop: list[Units], plain_jobs: list[Path]):
    archives = tmp_path / "archives"
    archives.mkdir()
    for number, job in enumerate(plain_jobs):
        (archives / f"{number}.warc.gz").write_bytes(b"".join(each.read_bytes() for each in sorted(job.glob("warc/*"))))
    where = ("--out", tmp_path / "out", "--scratch", tmp_path / "scratch")
    status, said = await ended(
        ForkedCommand.start(
            "mine", "--warc", archives, "--langs", "en,fr", *where, "--bundle-sites", "1", "--part", "1/2"
        )
    )
    assert status == 0, said
    how = done(place(str(tmp_path / "out")), "00001")
    assert how is not None
    assert {site.site for site in how.sites if site.pages} == {"wend-railway.test", "arden-observatory.test"}
    assert texts(units(parts(tmp_path))) == texts(plain_loop[1])


def texts(found: Units) -> set[tuple[str, str]]:
    return {(unit["text_a"], unit["text_b"]) for unit in map(json.loads, found)}


@pytest.mark.long("Dask starts two workers, and a third after the kill")
async def test_a_worker_that_is_killed_costs_nothing(tmp_path: Path, web: Served, plain_loop: list[Units]):
    pytest.importorskip("distributed")
    driver = await bitrawl(*many(web, tmp_path, "--cluster", "local", "--workers", "2", sites=BUNDLES[0], delay=DELAY))
    await until(lambda: len(web.visits) > 12, driver)
    bundle = bundle_processes(driver.pid)[0]
    worker = next(each for each in below(driver.pid) if bundle in children(each))
    left = descriptors([bundle])
    os.kill(worker, signal.SIGKILL)
    assert all_end(left), "a process outlives its worker"
    status, said = await ended(driver)
    assert status == 0, said
    assert "Dask's dashboard: http://" in said
    assert units(parts(tmp_path)) == plain_loop[0]
    assert len(twice(web)) <= IN_FLIGHT


async def test_on_a_cluster_a_bundle_ends_when_its_driver_is_killed(tmp_path: Path, web: Served):
    """The workers live on, and the next driver must find nobody on the hosts."""
    pytest.importorskip("distributed")
    address = tmp_path / "scheduler.json"
    to_cluster = ("--scheduler-file", str(address), "--no-dashboard")
    scheduler = await dask("scheduler", "--port", "0", *to_cluster)
    worker = await dask("worker", "--nthreads", "1", "--no-nanny", *to_cluster)
    try:
        await until(address.exists, scheduler)
        where = json.loads(address.read_text())["address"]
        driver = await bitrawl(*many(web, tmp_path, "--cluster", where, sites=SITES[:1], delay=1.0))
        await until(lambda: len(web.visits) > 2, driver)
        left = descriptors(bundle_processes(worker.pid))
        assert left
        driver.kill()
        await driver.wait()
        assert all_end(left), "a process outlives its driver"
        assert worker.returncode is None
    finally:
        for process in (worker, scheduler):
            process.kill()
            await process.wait()


async def dask(*arguments: str) -> Process:
    nothing = asyncio.subprocess.DEVNULL
    command = (sys.executable, "-W", "ignore", "-m", "dask", *arguments)
    return await asyncio.create_subprocess_exec(*command, stdout=nothing, stderr=nothing)


async def test_a_bundle_of_a_machine_that_is_lost_goes_on_elsewhere_from_its_last_checkpoint(
    tmp_path: Path, web: Served, plain_loop: list[Units]
):
    often = "from bitrawl.cluster import checkpoint; checkpoint.SHORTEST_REST = 0.5"
    command = many(web, tmp_path, "--quiet", sites=BUNDLES[0], delay=DELAY)
    process = ForkedCommand.start(*command, first=often)
    saved = checkpoint(place(str(tmp_path / "out")), "00000")

    def has_pages() -> bool:
        return len(web.visits) > 20 and b"warc" in ((saved / "checkpoint.json").read() or b"")

    await until(has_pages, process)
    os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
    (tmp_path / "scratch").rename(tmp_path / "lost")
    assert restore(saved, tmp_path / "copy")
    ledger = Ledger(tmp_path / "copy" / "job.sqlite", read_only=True)
    before = {line.url for line in log(ledger)}
    ledger.close()
    assert before
    seen = len(web.visits)

    status, said = await ended(ForkedCommand.start(*command))

    assert status == 0, said
    asked = {visit.url for visit in web.visits[seen:] if not visit.url.endswith(RULES)}
    assert asked
    assert not asked & before, "a page that the checkpoint had was fetched again"
    assert units(parts(tmp_path)) == plain_loop[0]
    assert not (tmp_path / "out" / "checkpoints" / "00000").exists()


def test_a_run_ends_with_one_corpus_of_all_parts(two_workers: Run, tmp_path: Path, plain_jobs: list[Path]):
    merged = two_workers.folder / "out" / "merged"
    for name, inputs in (("plain", plain_jobs), ("again", [two_workers.folder / "out"])):
        merging = CliRunner().invoke(app, ["merge", *map(str, inputs), "--out", str(tmp_path / name)])
        assert merging.exit_code == 0, merging.output
        assert texts(units([tmp_path / name])) == texts(units([merged]))
    assert "units from" in two_workers.said
    assert (merged / "failed.tsv").read_text() == "site\twhy\n"
