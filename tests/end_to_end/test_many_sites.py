"""`bitrawl mine --sites` in bundles, by the real command: killed, poisoned and divided, it finds what a plain loop finds."""

import asyncio
import json
import os
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from end_to_end.test_signals import all_end, children

from bitrawl import demo
from bitrawl.cluster.parts import State, done
from bitrawl.cluster.places import place
from bitrawl.demo import Served
from bitrawl.store.ledger import Ledger
from bitrawl.store.summary import log

SITES = (
    "http://www.beekeepers.test/",
    "http://www.town-library.test/",
    "http://www.wend-railway.test/",
    "http://fr.wend-railway.test/",
    "http://www.arden-observatory.test/",
)
BUNDLES = (SITES[:2], SITES[2:])  # with two sites each
DELAY = 0.1  # seconds
RULES = ("/robots.txt", "/.well-known/tdmrep.json")  # asked for by each process that visits the host

Process = asyncio.subprocess.Process
Units = set[str]


@pytest.fixture
async def web() -> AsyncIterator[Served]:
    async with demo.serve() as served:
        yield served


def reached(web: Served, delay: float = 0.0) -> list[str]:
    route = f"*.test={demo.LOOPBACK}:{web.port}"
    return ["--langs", "en,fr", "--allow-private", "--connect-to", route, "--delay", str(delay), "--exhaustive"]


async def bitrawl(*arguments: str | Path, environment: dict[str, str] | None = None) -> Process:
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bitrawl", *map(str, arguments)),
        stdout=pipe,
        stderr=pipe,
        start_new_session=True,
        env={**os.environ, **(environment or {})},
    )


def many(web: Served, folder: Path, *flags: str, sites: Iterable[str] = SITES, delay: float = 0.0) -> list[str | Path]:
    """The command, without `bitrawl`; its output is in `folder`/out."""
    listed = folder / "sites.txt"
    listed.write_text("".join(f"{site}\n" for site in sites))
    where = ("--sites", listed, "--out", folder / "out", "--scratch", folder / "scratch", "--bundle-sites", "2")
    return ["mine", *where, *reached(web, delay), *flags]


async def ended(process: Process) -> tuple[int, str]:
    """Its exit status and all that it said."""
    out, err = await process.communicate()
    return process.returncode or 0, out.decode() + err.decode()


def units(folders: Iterable[Path]) -> Units:
    lines: Units = set()
    for folder in folders:
        lines |= set((folder / "corpus/en-fr.sentences.jsonl").read_text().splitlines())
    return lines


def parts(folder: Path) -> list[Path]:
    return sorted(path for path in (folder / "out/parts").iterdir() if (path / "job.sqlite").exists())


@pytest.fixture(scope="module")
def plain_loop(tmp_path_factory: pytest.TempPathFactory) -> Units:
    """What one job after the other finds."""
    folder = tmp_path_factory.mktemp("loop")

    async def mine() -> None:
        async with demo.serve() as web:
            for number, seeds in enumerate(BUNDLES):
                status, said = await ended(await bitrawl("mine", *seeds, "--out", folder / str(number), *reached(web)))
                assert status == 0, said

    asyncio.run(mine())
    found = units(folder / str(number) for number in range(len(BUNDLES)))
    assert len(found) > 50
    return found


async def until(condition: Callable[[], bool], process: Process) -> None:
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


async def test_two_workers_find_what_a_plain_loop_finds_and_visit_no_host_faster_than_its_delay(
    tmp_path: Path, web: Served, plain_loop: Units
):
    status, said = await ended(await bitrawl(*many(web, tmp_path, "--workers", "2", delay=DELAY)))
    assert status == 0, said
    assert "4 of 4 sites done" in said
    assert units(parts(tmp_path)) == plain_loop
    assert not list((tmp_path / "scratch").rglob("job.sqlite")), "scratch is left behind"
    assert not list((tmp_path / "out/progress").iterdir())
    visits: dict[str, list[float]] = defaultdict(list)
    for folder in parts(tmp_path):
        ledger = Ledger(folder / "job.sqlite", read_only=True)
        for line in log(ledger):
            if line.status:
                visits[str(urlsplit(line.url).hostname)].append(line.at)
        ledger.close()
    gaps = [after - before for at in map(sorted, visits.values()) for before, after in pairwise(at)]
    assert len(gaps) > 40
    assert min(gaps) >= DELAY - 0.002  # the ledger rounds


async def test_two_parts_without_dask_are_the_whole(tmp_path: Path, web: Served, plain_loop: Units):
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nsys.modules['distributed'] = sys.modules['dask'] = None  # as if they were not installed\n"
    )
    without = {"PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    for part in ("0/2", "1/2"):
        status, said = await ended(await bitrawl(*many(web, tmp_path, "--part", part), environment=without))
        assert status == 0, said
    assert [path.name for path in parts(tmp_path)] == ["00000", "00001"]
    assert units(parts(tmp_path)) == plain_loop
    assert not twice(web)
    status, said = await ended(await bitrawl(*many(web, tmp_path, "--cluster", "local"), environment=without))
    assert status == 2
    assert "pip install 'bitrawl[cluster]'" in said


async def test_a_driver_that_is_killed_leaves_no_process_and_the_same_command_goes_on(
    tmp_path: Path, web: Served, plain_loop: Units
):
    command = many(web, tmp_path, "--workers", "1")
    driver = await bitrawl(*command)
    out = place(str(tmp_path / "out"))
    await until(lambda: done(out, "00000") is not None and bool(bundle_processes(driver.pid)), driver)
    seen = len(web.visits)
    await until(lambda: len(web.visits) > seen + 8, driver)
    left = descriptors(below(driver.pid))
    assert left
    driver.kill()
    await driver.wait()
    assert all_end(left)
    before = len(web.visits)
    status, said = await ended(await bitrawl(*command))
    assert status == 0, said
    assert "2 sites done before" in said
    finished = {urlsplit(seed).hostname for seed in BUNDLES[0]}
    assert not finished & {urlsplit(visit.url).hostname for visit in web.visits[before:]}
    assert units(parts(tmp_path)) == plain_loop
    assert len(twice(web)) <= 16  # what was in flight, at most


async def test_ctrl_c_ends_every_process_with_one_line(tmp_path: Path, web: Served):
    driver = await bitrawl(*many(web, tmp_path, "--workers", "2", delay=1.0))
    await until(lambda: len(web.visits) > 1, driver)
    left = descriptors(below(driver.pid))
    driver.send_signal(2)
    status, said = await ended(driver)
    assert status == 130
    assert "Stopped by SIGINT. Nothing is lost: resume with the same command." in said
    assert "Traceback" not in said
    assert all_end(left)


POISON = """
import os, signal, sys

def hook(event, arguments):
    if event == "socket.connect" and arguments[1][1] == 9:
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(hook)
"""


async def test_a_site_that_kills_its_process_fails_alone_with_its_reason(tmp_path: Path, web: Served):
    (tmp_path / "sitecustomize.py").write_text(POISON)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    command = many(web, tmp_path, "--workers", "1", sites=("http://poison.test/", "http://www.saltholm.test/"))
    route = ("--connect-to", f"poison.test={demo.LOOPBACK}:9")
    status, said = await ended(await bitrawl(*command, *route, environment={"PYTHONPATH": path}))
    assert status == 0, said
    assert "poison.test: killed by SIGKILL" in said
    out = place(str(tmp_path / "out"))
    states = {name: how.state for name in (out / "parts").names() if (how := done(out, name))}
    assert states == {"00000": State.HALVED, "00000-1": State.FAILED, "00000-2": State.MINED}
    assert [path.name for path in parts(tmp_path)] == ["00000-2"]


async def test_sites_that_bring_nothing_are_told_with_their_reasons(tmp_path: Path, web: Served):
    described = tmp_path / "job.toml"
    described.write_text("[politeness]\nbackoff = 0\n")
    sites = ("http://silent.test/", "http://www.beekeepers.test/nothing-here")
    command = many(web, tmp_path, "--part", "0/1", "--no-sitemaps", "--job", str(described), sites=sites)
    status, said = await ended(await bitrawl(*command, "--connect-to", f"silent.test={demo.LOOPBACK}:1"))
    assert status == 1
    outcomes = json.loads((tmp_path / "out/parts/00000/done.json").read_text())["sites"]
    why = {one["site"]: one["failed"] for one in outcomes}
    assert why["beekeepers.test"] == "http-status, Not Found"
    assert why["silent.test"] == "robots-unreachable"
    assert all(f"{site}: {reason}" in said for site, reason in why.items())


async def test_a_worker_that_is_killed_costs_nothing(tmp_path: Path, web: Served, plain_loop: Units):
    pytest.importorskip("distributed")
    driver = await bitrawl(*many(web, tmp_path, "--cluster", "local", "--workers", "2", delay=DELAY))
    await until(lambda: len(bundle_processes(driver.pid)) == 2 and len(web.visits) > 20, driver)
    bundle = bundle_processes(driver.pid)[0]
    worker = next(each for each in below(driver.pid) if bundle in children(each))
    left = descriptors([bundle])
    os.kill(worker, 9)
    assert all_end(left)
    status, said = await ended(driver)
    assert status == 0, said
    assert "dashboard" in said
    assert units(parts(tmp_path)) == plain_loop
    assert len(twice(web)) <= 16


async def test_on_a_cluster_a_bundle_ends_when_its_driver_is_gone_and_the_same_command_goes_on(
    tmp_path: Path, web: Served, plain_loop: Units
):
    pytest.importorskip("distributed")
    address = tmp_path / "scheduler.json"
    dask = (sys.executable, "-W", "ignore", "-m", "dask")
    quiet = {"stdout": asyncio.subprocess.DEVNULL, "stderr": asyncio.subprocess.DEVNULL}
    scheduler = await asyncio.create_subprocess_exec(
        *(*dask, "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(address)), **quiet
    )
    worker = await asyncio.create_subprocess_exec(
        *(*dask, "worker", "--scheduler-file", str(address), "--nthreads", "1", "--no-nanny", "--no-dashboard"), **quiet
    )
    try:
        await until(address.exists, scheduler)
        where = json.loads(address.read_text())["address"]
        driver = await bitrawl(*many(web, tmp_path, "--cluster", where, delay=1.0))
        await until(lambda: bool(bundle_processes(worker.pid)) and len(web.visits) > 2, driver)
        left = descriptors(bundle_processes(worker.pid))
        driver.kill()
        await driver.wait()
        assert all_end(left)
        assert worker.returncode is None
        status, said = await ended(await bitrawl(*many(web, tmp_path, "--cluster", where)))
        assert status == 0, said
        assert units(parts(tmp_path)) == plain_loop
    finally:
        for process in (worker, scheduler):
            process.kill()
            await process.wait()
