"""A whole crawl, side by side: CPU seconds for 1,000 pages, of the command and all of its processes.

Ours analyses every page, keeps it in the ledger and archives it as WARC; Scrapy only follows links; wget writes files.
Each crawls the same web to its end, in turns, and its best round counts: whatever else the machine does only adds.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from lab.bench.web import BenchWeb, Fetched

PAGES, ROUNDS = 3000, 2
OURS, PEER = "bitrawl", "scrapy"
BIN = Path(sys.executable).parent


class Run(NamedTuple):
    cpu: float  # seconds, user and system
    wall: float
    fetched: Fetched


def commands(url: str, folder: Path) -> dict[str, list[str]]:
    ours = f"crawl {url}/ --langs en,fr --out {folder} --delay 0 --allow-private --max-pages {PAGES} --quiet"
    spider = Path(__file__).with_name("spider.py")
    return {
        OURS: [str(BIN / "bitrawl"), *ours.split()],
        PEER: [str(BIN / "scrapy"), "runspider", str(spider), "-a", f"start={url}/", "-s", "LOG_LEVEL=WARNING"],
        "wget": ["wget", "-q", "-r", "-l", "inf", "-P", str(folder), f"{url}/"],
    }


def present() -> list[str]:
    """Ours and the peers that are here; says how to get those that are not."""
    missing = {
        PEER: "" if importlib.util.find_spec("scrapy") else "pip install scrapy",
        "wget": "" if shutil.which("wget") else "apt install wget",
    }
    for name, remedy in missing.items():
        if remedy:
            print(f"{name} is not here: {remedy}")
    return [OURS, *(name for name, remedy in missing.items() if not remedy)]


def run(name: str, web: BenchWeb) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        command = commands(web.url, Path(folder) / name)[name]
        environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
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
    print(f"crawl: {PAGES:,} interlinked pages of about 17 kB, best of {ROUNDS} rounds")
    best: dict[str, Run] = {}
    names = present()
    with BenchWeb(PAGES) as web:
        for _ in range(ROUNDS):
            for name in names:
                new = run(name, web)
                best[name] = min(best.get(name, new), new)
    print(f"{'':<10}{'CPU s/1000 pages':>18}{'of Scrapy':>11}{'wall s':>9}{'pages':>8}{'requests':>10}")
    for name, (cpu, wall, fetched) in best.items():
        ratio = f"{cpu / best[PEER].cpu:.2f}" if PEER in best else "?"
        rate = cpu / PAGES * 1000
        print(f"{name:<10}{rate:>18.2f}{ratio:>11}{wall:>9.1f}{fetched.pages:>8,}{fetched.requests:>10,}")
    if any(fetched.pages != PAGES for _, _, fetched in best.values()):
        sys.exit(f"not all of them fetched {PAGES:,} pages: the figures do not compare")


if __name__ == "__main__":
    main()
