"""`kill -9` of bundle processes and of Dask workers while they work: does a run over many sites end with the same corpus?

    python -m lab.bench.cluster_kills              # 40 kills: 20 of bundle processes, 20 of Dask workers
    python -m lab.bench.cluster_kills --kills 4 --seed 7

The sites are those of the bundled web. Each run gets four kills, at random moments, of a process that is at work. If the
command ends with status 1, it is given again. Its merged corpus is compared with that of an undisturbed run.
"""

import argparse
import asyncio
import os
import random
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bitrawl import demo
from bitrawl.demo import Served

KILLS_OF_A_RUN = 4
DELAY = 0.3  # seconds between two visits to a host: a run takes long enough to be killed four times
SIZE = 3  # sites of a bundle
LONGEST_PAUSE = 6.0  # seconds between two kills
RULES = ("/robots.txt", "/.well-known/tdmrep.json")  # asked for by each process that visits the host
ENGINES = {"bundle process": ["--workers", "2"], "Dask worker": ["--cluster", "local", "--workers", "2"]}
MOST_COMMANDS = 10  # for one run; judgement


class Ended(NamedTuple):
    kills: int
    commands: int
    corpus: bytes
    repeated: int  # pages that were fetched more than once


def command(web: Served, folder: Path, flags: Sequence[str]) -> list[str]:
    sites = folder / "sites.txt"
    sites.write_text("".join(f"{seed}\n" for seed in demo.seeds()))
    route = f"*.test={demo.LOOPBACK}:{web.port}"
    where = ["--sites", str(sites), "--out", str(folder / "out"), "--scratch", str(folder / "scratch")]
    crawl = ["--langs", "en,fr", "--allow-private", "--connect-to", route, "--delay", str(DELAY), "--exhaustive"]
    return [sys.executable, "-m", "bitrawl", "mine", *where, *crawl, "--bundle-sites", str(SIZE), "--quiet", *flags]


def at_work(driver: int, kind: str) -> list[int]:
    """The bundle processes of a driver, or the Dask workers that have one."""
    found = []
    for child in _children(driver):
        if b"bundle_process" in _command(child):
            found.append(child if kind == "bundle process" else driver)
        else:
            found += at_work(child, kind)
    return found


def _children(pid: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


class Killer:
    """Kills some process of a driver that is at work, again and again, until it has no kills left."""

    def __init__(self, kind: str, kills: int, dice: random.Random) -> None:
        self.left = kills
        self._kind = kind
        self._dice = dice

    async def watch(self, driver: int) -> None:
        while self.left:
            await asyncio.sleep(self._dice.uniform(0, LONGEST_PAUSE))
            if found := at_work(driver, self._kind):
                os.kill(self._dice.choice(found), signal.SIGKILL)
                self.left -= 1


async def run(web: Served, folder: Path, kind: str, kills: int, dice: random.Random) -> Ended:
    web.visits.clear()
    killer, commands, status = Killer(kind, kills, dice), 0, 1
    while status == 1 and commands < MOST_COMMANDS:
        commands += 1
        driver = await asyncio.create_subprocess_exec(
            *command(web, folder, ENGINES[kind]), stderr=asyncio.subprocess.PIPE, start_new_session=True
        )
        killing = asyncio.ensure_future(killer.watch(driver.pid))
        _, err = await driver.communicate()
        killing.cancel()
        status = driver.returncode or 0
        if status not in (0, 1) or b"Traceback" in err:
            sys.exit(f"status {status} after {kills - killer.left} kills:\n{err.decode()}")
    corpus = (folder / "out/merged/corpus/en-fr.tsv").read_bytes() if status == 0 else b""
    visits = Counter(visit.url for visit in web.visits if not visit.url.endswith(RULES))
    return Ended(kills - killer.left, commands, corpus, sum(count > 1 for count in visits.values()))


async def measure(kills: int, seed: int) -> bool:
    dice = random.Random(seed)
    same = True
    async with demo.serve() as web:
        with tempfile.TemporaryDirectory() as folder:
            undisturbed = await run(web, Path(folder), "bundle process", 0, dice)
        lines = sorted(undisturbed.corpus.splitlines())
        print(
            f"cluster_kills: {len(demo.hosts())} hosts, bundles of {SIZE} sites; undisturbed {len(lines)} lines of TSV"
        )
        print(f"{'killed':<16}{'kills':>7}{'commands':>10}{'fetched twice':>15}  corpus")
        for kind in ENGINES:
            left = kills // len(ENGINES)
            while left > 0:
                with tempfile.TemporaryDirectory() as folder:
                    ended = await run(web, Path(folder), kind, min(left, KILLS_OF_A_RUN), dice)
                left -= max(1, ended.kills)
                equal = sorted(ended.corpus.splitlines()) == lines
                how = "same bytes" if ended.corpus == undisturbed.corpus else "same lines" if equal else "DIFFERENT"
                print(f"{kind:<16}{ended.kills:>7}{ended.commands:>10}{ended.repeated:>15}  {how}", flush=True)
                same = same and equal
    return same


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=40, help="half of bundle processes, half of Dask workers")
    parser.add_argument("--seed", type=int, default=20)
    given = parser.parse_args()
    sys.exit(0 if asyncio.run(measure(given.kills, given.seed)) else 1)


if __name__ == "__main__":
    main()
