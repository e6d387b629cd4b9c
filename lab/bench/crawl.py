"""A whole crawl, side by side: CPU seconds for 1,000 pages, of the command and all of its processes.

Ours analyses every page, keeps it in the ledger and archives it as WARC. Scrapy and crawlee, with trafilatura's fast mode,
py3langid and warcio, keep main text, language and WARC: what a user would build instead. Bare Scrapy only follows links;
wget writes files. Each crawls the same web to its end, in turns. A ratio is the median of those of the rounds.
"""

import argparse
import importlib.util
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from lab.bench.web import BenchWeb, Fetched

PAGES, ROUNDS = 3000, 3
OURS, BARE, SCRAPY, CRAWLEE, WGET = "bitrawl", "Scrapy, links only", "Scrapy", "crawlee", "wget"
KEEPING = ("trafilatura", "py3langid", "warcio")
PACKAGES = {BARE: ("scrapy",), SCRAPY: ("scrapy", *KEEPING), CRAWLEE: ("crawlee", "parsel", *KEEPING)}
HERE = Path(__file__).parent


class Run(NamedTuple):
    cpu: float  # seconds, user and system
    wall: float
    fetched: Fetched


def commands(url: str, folder: Path, pages: int) -> dict[str, list[str]]:
    ours = f"crawl {url}/ --langs en,fr --out {folder}/job --delay 0 --allow-private --max-pages {pages} --quiet"
    bare = f"scrapy runspider {HERE}/scrapy_peer.py -a start={url}/ -s LOG_LEVEL=WARNING"
    python = [sys.executable, "-m"]
    return {
        OURS: [*python, "bitrawl", *ours.split()],
        SCRAPY: [*python, *bare.split(), "-a", f"keep={folder}", "-O", f"{folder}/rows.jsonl"],
        CRAWLEE: [*python, "lab.bench.crawlee_peer", f"{url}/"],
        BARE: [*python, *bare.split()],
        WGET: ["wget", "-q", "-r", "-l", "inf", "-P", str(folder), f"{url}/"],
    }


def present() -> list[str]:
    """Ours and the peers that are here; says how to get those that are not."""
    names = [OURS]
    for name, packages in PACKAGES.items():
        missing = [package for package in packages if not importlib.util.find_spec(package)]
        if missing:
            print(f"{name} is not here: pip install {' '.join(missing)}")
        else:
            names.append(name)
    if not shutil.which("wget"):
        print("wget is not here: apt install wget")
        return names
    return [*names, WGET]


def run(name: str, web: BenchWeb, pages: int) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        command = commands(web.url, Path(folder), pages)[name]
        environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
        environment["PYTHONPATH"] = os.pathsep.join(
            (str(HERE.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")]))
        )
        web.forget()
        began = time.perf_counter()
        process = subprocess.Popen(command, env=environment, cwd=folder)
        # Of the command and of the children that it waited for; getrusage would count all of ours together.
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - began
    if process.returncode:
        sys.exit(f"{name} failed with status {process.returncode}")
    return Run(used.ru_utime + used.ru_stime, wall, web.fetched())


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m lab.bench.crawl")
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    asked = parser.parse_args()
    pages: int = asked.pages
    print(f"crawl: {pages:,} interlinked pages of about 17 kB, {asked.rounds} rounds")
    names = present()
    runs: dict[str, list[Run]] = {name: [] for name in names}
    with BenchWeb(pages) as web:
        for _ in range(asked.rounds):
            for name in names:
                runs[name].append(run(name, web, pages))
    print(f"{'':<20}{'CPU s/1000 pages':>18}{'bitrawl to it':>15}{'wall s':>9}{'pages':>8}{'requests':>10}")
    for name, rounds in runs.items():
        rate = statistics.median(round_.cpu for round_ in rounds) / pages * 1000
        ratio = statistics.median(ours.cpu / peer.cpu for ours, peer in zip(runs[OURS], rounds, strict=True))
        wall = statistics.median(round_.wall for round_ in rounds)
        fetched = rounds[-1].fetched
        print(f"{name:<20}{rate:>18.2f}{ratio:>15.2f}{wall:>9.1f}{fetched.pages:>8,}{fetched.requests:>10,}")
    if any(round_.fetched.pages != pages for rounds in runs.values() for round_ in rounds):
        sys.exit(f"not all of them fetched {pages:,} pages: the figures do not compare")


if __name__ == "__main__":
    main()
