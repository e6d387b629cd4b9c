"""Whether a job whose children are killed at random ends with the corpus that it would have had.

    python -m benchmarks.kills                          # 30 runs of `bitrawl mine` on the bundled web, each with one or two kills
    python -m benchmarks.kills --runs 5 --seed 7 --most 4

Each run is the command that a user types, in a folder of its own. At moments that the seed chooses, one of its children gets
SIGKILL: one that starts, reads a page, pairs, learns, aligns, writes the corpus or waits. If a run ends with another corpus than
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

LATEST = 0.95  # of the time that an undisturbed run takes; what is left is the end of the interpreter
YOUNG = 1.0  # seconds: a child that is younger is most likely starting
WAIT = 0.005  # seconds between two looks for a child


class Kill(NamedTuple):
    at: float  # seconds after the start
    doing: str  # what the job was doing


class Run(NamedTuple):
    status: int
    said: str  # on stderr
    corpus: dict[str, bytes]
    seconds: float
    kills: list[Kill]


def command(web: Served, out: Path) -> list[str]:
    reached = ["--connect-to", f"*.test={demo.LOOPBACK}:{web.port}", "--allow-private", "--delay", "0"]
    asked = [*map(str, demo.seeds()), "--langs", "en,fr", "--exhaustive", "--quiet", "--out", str(out)]
    return [sys.executable, "-m", "bitrawl", "mine", *asked, *reached]


async def run(web: Served, out: Path, moments: list[float], dice: random.Random) -> Run:
    began = time.monotonic()
    process = await asyncio.create_subprocess_exec(*command(web, out), stderr=asyncio.subprocess.PIPE)
    ended = asyncio.ensure_future(process.communicate())
    kills = []
    for moment in sorted(moments):
        await asyncio.wait([ended], timeout=max(began + moment - time.monotonic(), 0))
        if victim := await _victim(process.pid, ended, dice):
            kills.append(Kill(time.monotonic() - began, _doing(out, victim)))
            os.kill(victim, 9)
    _, said = await ended
    assert process.returncode is not None
    return Run(process.returncode, said.decode(), corpus(out), time.monotonic() - began, kills)


async def _victim(parent: int, ended: "asyncio.Future[object]", dice: random.Random) -> int | None:
    """The first child that there is; None if the command ended before."""
    while not ended.done():
        children = Path(f"/proc/{parent}/task/{parent}/children")
        if alive := sorted(map(int, children.read_text().split())) if children.exists() else []:
            return dice.choice(alive)
        await asyncio.sleep(WAIT)
    return None


def _doing(out: Path, child: int) -> str:
    try:
        ledger = Ledger(out / "job.sqlite", read_only=True)
        step = str(ledger.recall("mining") or "crawling").partition(" (")[0]
        ledger.close()
    except StoreError:
        step = "crawling"
    age = time.time() - Path(f"/proc/{child}").stat().st_mtime
    words = re.sub(r" \S+\.test.*", "", step)
    return f"{words}, as a child started" if age < YOUNG else words


def corpus(folder: Path) -> dict[str, bytes]:
    paths = [path for path in (folder / "corpus").rglob("*") if path.is_file() and path.name != "card.md"]
    return {
        str(path.relative_to(folder)): re.sub(rb'creationdate="\w+"', b"", path.read_bytes()) for path in sorted(paths)
    }


async def experiment(runs: int, seed: int, most: int) -> int:
    """The number of runs that did not end as they should."""
    dice = random.Random(seed)
    outcomes: Counter[str] = Counter()
    struck: Counter[str] = Counter()
    async with demo.serve() as web:
        with tempfile.TemporaryDirectory() as folder:
            undisturbed = [await run(web, Path(folder, f"undisturbed{n}"), [], dice) for n in range(2)]
            expected = undisturbed[0].corpus
            if differs := _difference(undisturbed[1].corpus, expected) or "".join(one.said for one in undisturbed):
                sys.exit(f"two undisturbed runs differ, so there is nothing to compare with: {differs}")
            seconds = min(one.seconds for one in undisturbed)
            units = len(expected["corpus/en-fr.sentences.jsonl"].splitlines())
            print(f"undisturbed: {units} units in {seconds:.1f} s", flush=True)
            number = 0
            while outcomes.total() < runs:
                number += 1
                moments = [dice.uniform(0, LATEST * seconds) for _ in range(dice.randint(1, most))]
                outcome, kills = await _disturbed(web, Path(folder, str(number)), moments, dice, expected)
                if not kills and outcome == SAME:
                    seconds *= LATEST  # It ended before its moment: the machine has become faster. It does not count.
                    continue
                outcomes[outcome] += 1
                struck.update(kill.doing for kill in kills)
                print(
                    f"{outcomes.total():3} {outcome}; killed " + "; ".join(f"{k.doing} ({k.at:.1f} s)" for k in kills),
                    flush=True,
                )
    print(f"{runs} runs: " + ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common()))
    print(f"{struck.total()} kills: " + ", ".join(f"{count} {doing}" for doing, count in struck.most_common()))
    return runs - outcomes[SAME] - outcomes[AGAIN]


SAME, AGAIN = "the same corpus", "the same corpus when the command was given again"


async def _disturbed(
    web: Served, out: Path, moments: list[float], dice: random.Random, expected: dict[str, bytes]
) -> tuple[str, list[Kill]]:
    first = await run(web, out, moments, dice)
    if not first.status and first.corpus == expected:
        return SAME, first.kills
    if not first.status and "left out" not in first.said:
        return f"another corpus, and nothing said: {_difference(first.corpus, expected)}", first.kills
    again = await run(web, out, [], dice)
    healed = not again.status and again.corpus == expected
    failed = f"another corpus after all: {again.said} {_difference(again.corpus, expected)}"
    return AGAIN if healed else failed, first.kills


def _difference(found: dict[str, bytes], expected: dict[str, bytes]) -> str:
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
