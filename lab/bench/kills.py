"""Whether a job whose children are killed at random ends with the corpus that it would have had.

    python -m lab.bench.kills                          # 30 runs of `bitrawl mine` on the bundled web, each with one or two kills
    python -m lab.bench.kills --runs 5 --seed 7 --most 4

Each run is the command that a user types, in a folder of its own. At moments that the seed chooses, one of its children gets
SIGKILL: one that starts, reads a page, pairs, learns, aligns, writes the corpus or waits. Half of the moments are after a number
of requests, the other half after a time since the last one, so that a busy machine does not shift them. If a run ends with another corpus than
an undisturbed one, or with an error, the same command is given again. Corpora are compared byte by byte, apart from the date in
the TMX file and the card, which has the hashes of the others.
"""

import argparse
import asyncio
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from bitrawl import demo
from bitrawl.demo import Served
from bitrawl.errors import StoreError
from bitrawl.store.ledger import Ledger
from lab.bench.memory import children

LATEST = 0.9  # of the time that an undisturbed run takes after its last request: then the interpreter ends
YOUNG = 0.5  # seconds: a child that is younger is most likely loading its models
WAIT = 0.005  # seconds between two looks for a child
SAME, AGAIN = "the same corpus", "the same corpus when the command was given again"


class Kill(NamedTuple):
    at: float  # seconds after the start
    doing: str  # what the job was doing


class Pace(NamedTuple):
    """Of an undisturbed run."""

    requests: int
    mining: float  # seconds from the last request to the end


class Run(NamedTuple):
    status: int
    said: str  # on stderr
    corpus: dict[str, bytes]
    pace: Pace
    kills: list[Kill]


def command(web: Served, out: Path) -> list[str]:
    reached = ["--connect-to", f"*.test={demo.LOOPBACK}:{web.port}", "--allow-private", "--delay", "0"]
    asked = [*map(str, demo.seeds()), "--langs", "en,fr", "--exhaustive", "--quiet", "--out", str(out)]
    return [sys.executable, "-m", "bitrawl", "mine", *asked, *reached]


async def run(web: Served, out: Path, moments: list[Pace], dice: random.Random) -> Run:
    began, earlier = time.monotonic(), len(web.visits)
    process = await asyncio.create_subprocess_exec(*command(web, out), stderr=asyncio.subprocess.PIPE)
    ended = asyncio.ensure_future(process.communicate())
    kills = []
    for moment in sorted(moments):
        while len(web.visits) - earlier < moment.requests and not ended.done():  # noqa: ASYNC110 - of another process
            await asyncio.sleep(WAIT)
        await asyncio.wait([ended], timeout=moment.mining)
        if victim := await _victim(process.pid, ended, dice):
            kills.append(Kill(time.monotonic() - began, _doing(out, victim)))
            os.kill(victim, 9)
    _, said = await ended
    assert process.returncode is not None
    pace = Pace(len(web.visits) - earlier, time.monotonic() - web.visits[-1].at)
    return Run(process.returncode, said.decode(), corpus(out), pace, kills)


async def _victim(parent: int, ended: "asyncio.Future[tuple[bytes, bytes]]", dice: random.Random) -> int | None:
    """The first child that there is; None if the command ended before."""
    while not ended.done():
        if alive := sorted(children(parent)):
            return dice.choice(alive)
        await asyncio.sleep(WAIT)
    return None


def _doing(out: Path, child: int) -> str:
    try:
        ledger = Ledger(out / "job.sqlite", read_only=True)
        step = str(ledger.last_run().doing or "crawling").partition(" (")[0]
        ledger.close()
    except StoreError:
        step = "crawling"
    words = re.sub(r"( words from)? \S+\.test.*", "", step)
    return f"{words}, a new child" if _age(child) < YOUNG else words


def _age(process: int) -> float:
    """Seconds since it began; proc(5), field 22 of stat."""
    began = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19])
    return float(Path("/proc/uptime").read_text().split()[0]) - began / os.sysconf("SC_CLK_TCK")


def corpus(folder: Path) -> dict[str, bytes]:
    paths = [path for path in (folder / "corpus").rglob("*") if path.is_file() and path.name != "README.md"]
    return {
        str(path.relative_to(folder)): re.sub(rb'creationdate="\w+"', b"", path.read_bytes()) for path in sorted(paths)
    }


async def experiment(runs: int, seed: int, most: int) -> int:
    """The number of runs that did not end as they should."""
    dice = random.Random(seed)
    outcomes: Counter[str] = Counter()
    struck: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        async with demo.serve() as web:
            pace, expected = await _undisturbed(web, Path(folder), dice)
            while outcomes.total() < runs:
                moments = [_moment(pace, dice) for _ in range(dice.randint(1, most))]
                outcome, kills = await _disturbed(web, Path(tempfile.mkdtemp(dir=folder)), moments, dice, expected)
                if not kills and outcome == SAME:
                    continue  # It ended before its moment, so it does not count.
                outcomes[outcome.partition(":")[0]] += 1
                struck.update(kill.doing for kill in kills)
                told = "; ".join(f"{kill.doing} ({kill.at:.1f} s)" for kill in kills)
                print(f"{outcomes.total():3} {outcome}; killed while {told}", flush=True)
    print(f"{runs} runs: " + ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common()))
    print(f"{struck.total()} kills: " + ", ".join(f"{count} {doing}" for doing, count in struck.most_common()))
    return runs - outcomes[SAME] - outcomes[AGAIN]


def _moment(pace: Pace, dice: random.Random) -> Pace:
    if dice.random() < 0.5:
        return Pace(dice.randint(0, pace.requests), 0.0)
    return Pace(pace.requests, dice.uniform(0, LATEST * pace.mining))


async def _undisturbed(web: Served, folder: Path, dice: random.Random) -> tuple[Pace, dict[str, bytes]]:
    """How it goes, and its corpus, which is that of two runs."""
    first, second = [await run(web, folder / f"undisturbed{n}", [], dice) for n in range(2)]
    if differs := difference(second.corpus, first.corpus) or first.said or second.said:
        sys.exit(f"two undisturbed runs differ, so there is nothing to compare with: {differs}")
    units = len(first.corpus["corpus/en-fr.sentences.jsonl"].splitlines())
    pace = Pace(min(first.pace.requests, second.pace.requests), min(first.pace.mining, second.pace.mining))
    print(f"undisturbed: {units} units after {pace.requests} requests and {pace.mining:.1f} s", flush=True)
    return pace, first.corpus


async def _disturbed(
    web: Served, out: Path, moments: list[Pace], dice: random.Random, expected: dict[str, bytes]
) -> tuple[str, list[Kill]]:
    first = await run(web, out, moments, dice)
    if not first.status and first.corpus == expected:
        return SAME, first.kills
    if not first.status and "left out" not in first.said:
        return f"another corpus, and nothing said: {difference(first.corpus, expected)}", first.kills
    again = await run(web, out, [], dice)
    healed = not again.status and again.corpus == expected
    failed = f"another corpus after all: {again.said} {difference(again.corpus, expected)}"
    return AGAIN if healed else failed, first.kills


def difference(found: dict[str, bytes], expected: dict[str, bytes]) -> str:
    """The first line that differs, in the first file that does; empty if none does."""
    for name in sorted({*found, *expected}):
        lines = zip_longest(found.get(name, b"").splitlines(), expected.get(name, b"").splitlines())
        for number, (line, other) in enumerate(lines, 1):
            if line != other:
                return f"{name}, line {number}: {line!r:.300} instead of {other!r:.300}"
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=2, help="kills in one run")
    given = parser.parse_args()
    sys.exit(asyncio.run(experiment(given.runs, given.seed, given.most)))


if __name__ == "__main__":
    main()
