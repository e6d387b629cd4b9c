"""What the views of the web app cost: python -m lab.bench.web_app

Serves 50 finished jobs and one of 100,000 pages (both made up), asks for each view, and prints the server's CPU time for each
and its memory. The first request of each view warms it up and is not counted.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from bitrawl import config
from bitrawl.config import Job
from bitrawl.crawling import Budget
from bitrawl.model import SiteKnowledge, pack
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger
from lab.bench.reading import make, refresh

ROUNDS = 5
TICKS = os.sysconf("SC_CLK_TCK")
JOB = Job(langs=["en", "fr", "zh"], seeds=["https://s0.test/"], budget=Budget(pages=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=50)
    parser.add_argument("--pages", type=int, default=100_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        jobs = Path(place, "jobs")
        _made(jobs / "large", asked.pages // 2, 50)
        _made(jobs / "small0", 20, 2)
        for number in range(1, asked.jobs):
            shutil.copytree(jobs / "small0", jobs / f"small{number}")
        _measure(jobs)


def _made(folder: Path, pairs: int, sites: int) -> None:
    folder.mkdir(parents=True)
    job = JobFolder(folder)
    make(job, pairs, 6, sites)
    config.write(JOB, job.description)
    ledger = Ledger(job.ledger)
    each = 2 * pairs // sites
    with ledger.transaction():
        for number in range(sites):
            known = SiteKnowledge(f"s{number}.test", each, each, each * 20_000, {"en": each // 2, "fr": each // 2})
            ledger.database.query("INSERT INTO sites VALUES (?, ?)", (known.site, pack(known)))
    ledger.remember("ended", "done: nothing is left to visit")
    ledger.close()
    refresh(job, folder.name)


def _measure(jobs: Path) -> None:
    command = [sys.executable, "-m", "bitrawl", "serve", "--jobs", str(jobs), "--port", "0"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        base = next(word for word in server.stderr.readline().split() if word.startswith("http"))
        large = f"{base}jobs/large"
        pair = _get(f"{large}/pairs").split("/jobs/large/pairs/", 1)[1].split('"', 1)[0]
        views = {
            "list of jobs": base,
            "list of jobs, live": f"{base}live",
            "overview": large,
            "overview, live": f"{large}/live",
            "pairs": f"{large}/pairs",
            "pairs, filtered and sorted": f"{large}/pairs?languages=en-fr&text=page&sort=segments&offset=20000",
            "two pages": f"{large}/pairs/{pair}",
            "search": f"{large}/search?q=mari",
            "search, Chinese": f"{large}/search?q=%E5%A4%A7%E5%AD%A6&side=b",
            "download": f"{large}/download",
            "thresholds": f"{large}/thresholds?min_score=0.5",
            "compare": f"{large}/compare",
            "API: job": f"{base}api/v1/jobs/large",
            "API": f"{base}api",
        }
        for name, address in views.items():
            _get(address)
            before = _cpu(server.pid)
            for _ in range(ROUNDS):
                _get(address)
            print(f"{name:<28}{1000 * (_cpu(server.pid) - before) / ROUNDS:6.0f} ms of CPU")
        print(f"memory of the server {_memory(server.pid):.0f} MB at most")
    finally:
        server.terminate()
        server.wait()


def _get(address: str) -> str:
    with urllib.request.urlopen(address) as answer:
        return str(answer.read().decode())


def _cpu(pid: int) -> float:
    """Of the server itself; what it starts is not counted."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _memory(pid: int) -> float:
    peak = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(peak.split()[1]) / 1024


if __name__ == "__main__":
    main()
