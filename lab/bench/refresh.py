"""Whether a job that is visited again ends with the corpus of a fresh one, and what that costs.

    python -m lab.bench refresh
    python -m lab.bench.refresh --articles 60 --rounds 3 --seed 7 --dates

A made-up bilingual site lives for ten rounds. In each of them 2 % of its articles are new, 3 % have another text and 1 % are
gone. The job is visited again by the command that a user types, which gets SIGKILL after a random number of requests, at most
twice in a round, and is given again. Beside it, a fresh job mines the site as it is then. Compared are the pages with their
texts, the page pairs and the texts of all units, which must be the same; how far the scores of units differ; and requests and
bytes as the server sent them. After the last round, `bitrawl pair` aligns everything again: then the two corpora must be the
same byte by byte.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import NamedTuple

from bitrawl.store.ledger import Ledger
from lab.bench.changing_site import HOST, ChangingSite, Request

MOST_KILLS = 2  # in a round


class Corpus(NamedTuple):
    """What two jobs are compared by."""

    pages: dict[str, str]  # their digests by address
    pairs: set[tuple[str, str]]
    units: dict[tuple[str, str], float]  # their scores by their texts

    @classmethod
    def of(cls, folder: Path) -> "Corpus":
        with Ledger(folder / "job.sqlite", read_only=True) as ledger:
            pages = {str(page.url): page.digest for page in ledger.pages()}
        pairs, units = (_lines(folder / "corpus" / f"en-fr.{name}.jsonl") for name in ("documents", "sentences"))
        return cls(
            pages,
            {(str(line["url_a"]), str(line["url_b"])) for line in pairs},
            {(str(line["text_a"]), str(line["text_b"])): float(str(line["score"])) for line in units},
        )


class Cost(NamedTuple):
    requests: int
    bytes: int
    kills: int = 0

    @classmethod
    def of(cls, requests: list[Request], kills: int = 0) -> "Cost":
        return cls(len(requests), sum(request.bytes for request in requests), kills)


def command(site: ChangingSite, out: Path, *more: str) -> list[str]:
    reached = ["--connect-to", f"*.test=127.0.0.1:{site.port}", "--allow-private", "--delay", "0"]
    asked = [f"{HOST}/", "--langs", "en,fr", "--exhaustive", "--quiet", "--out", str(out), "--formats", "jsonl,tmx"]
    return [sys.executable, "-m", "bitrawl", "mine", *asked, *reached, *more]


def run(site: ChangingSite, out: Path, *more: str, dice: random.Random | None = None) -> Cost:
    """Until it ends by itself. With dice, it is killed before that."""
    moments = [dice.randint(1, 2 * len(site.articles)) for _ in range(dice.randint(0, MOST_KILLS))] if dice else []
    requests: list[Request] = []
    kills = 0
    for moment in [*moments, 0]:
        process = subprocess.Popen(command(site, out, *more), stdout=subprocess.DEVNULL)
        reached = threading.Event()
        site.after_request = lambda count, moment=moment, reached=reached: reached.set() if count == moment else None
        threading.Thread(target=_kill, args=(process, reached), daemon=True).start()
        status = process.wait()
        site.after_request = lambda _count: None
        requests += site.asked()
        kills += status == -9
        more = () if kills else more  # the round goes on without being asked for
        if status == 0:
            break
        if status != -9:
            sys.exit(f"{' '.join(command(site, out, *more))} ended with status {status}")
    return Cost.of(requests, kills)


def _kill(process: "subprocess.Popen[bytes]", reached: threading.Event) -> None:
    reached.wait()
    process.kill()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--articles", type=int, default=150, help="in each language, to begin with")
    parser.add_argument("--rounds", type=int, default=10, help="after the first")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dates", action="store_true", help="the sitemap says when pages changed")
    asked = parser.parse_args(arguments or [])
    site, dice = ChangingSite(asked.articles, seed=asked.seed, dates=asked.dates), random.Random(asked.seed)
    with tempfile.TemporaryDirectory() as folder, site.served():
        wrong = _rounds(site, Path(folder), asked.rounds, dice)
    sys.exit(wrong)


def _rounds(site: ChangingSite, folder: Path, rounds: int, dice: random.Random) -> int:
    """The number of rounds that did not end as they should."""
    job, wrong, fresh = folder / "job", 0, folder / "job"
    run(site, job)
    print("round  pages  pairs  units  kills   requests (fresh)   kB (fresh)   share   the same   scores differ by")
    costs: list[tuple[Cost, Cost]] = []
    for number in range(2, rounds + 2):
        site.advance()
        again = run(site, job, "--refresh", dice=dice)
        fresh = folder / f"fresh-{number}"
        costs.append((again, run(site, fresh)))
        mine, other = Corpus.of(job), Corpus.of(fresh)
        same = mine.pages == other.pages and mine.pairs == other.pairs and mine.units.keys() == other.units.keys()
        wrong += not same
        apart = max(
            (abs(mine.units[key] - other.units[key]) for key in mine.units.keys() & other.units.keys()), default=0
        )
        print(
            f"{number:>5}{len(mine.pages):>7}{len(mine.pairs):>7}{len(mine.units):>7}{again.kills:>7}"
            f"{again.requests:>11} ({costs[-1][1].requests}){again.bytes / 1000:>11.1f} ({costs[-1][1].bytes / 1000:.1f})"
            f"{again.bytes / costs[-1][1].bytes:>8.3f}   {'yes' if same else 'NO':<9}{apart:>8.3f}",
            flush=True,
        )
    share = sum(again.bytes for again, _ in costs) / sum(whole.bytes for _, whole in costs)
    kills = sum(again.kills for again, _ in costs)
    print(f"all: {share:.3f} of the bytes of fresh jobs, {kills} kills, {wrong} rounds with another corpus")
    subprocess.run([sys.executable, "-m", "bitrawl", "pair", str(job)], stdout=subprocess.DEVNULL, check=True)
    exact = _files(job) == _files(fresh)
    print(f"after `bitrawl pair`: the last corpus is {'' if exact else 'NOT '}the same byte by byte")
    return wrong + (not exact)


def _lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "corpus").glob("*.jsonl")}


if __name__ == "__main__":
    main(sys.argv[1:])
