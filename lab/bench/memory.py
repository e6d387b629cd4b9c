"""The resident memory of one crawl while it grows: flat, when it is bounded by the hosts in flight and not by the pages."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from lab.bench.web import BenchWeb

PAGES = 20_000
POINTS = (1000, 2500, 5000, 10_000, 15_000, 20_000)  # the claim is about 5,000 and 20,000
NEAR = 250  # pages around a point whose samples count for it
BETWEEN = 0.25  # seconds from one sample to the next
MEGABYTE = 1024  # kB, as /proc counts


class Sample(NamedTuple):
    pages: int
    crawl: float  # MB of the process that crawls
    readers: float  # MB of its children together


def resident(pid: int) -> float:
    """MB; 0 for a process that has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / MEGABYTE


def sample(pid: int, pages: int) -> Sample:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return Sample(pages, resident(pid), sum(resident(int(child)) for child in children))


def watch(process: "subprocess.Popen[bytes]", web: BenchWeb) -> list[Sample]:
    samples = []
    while process.poll() is None:
        try:
            samples.append(sample(process.pid, web.fetched().pages))
        except (FileNotFoundError, ProcessLookupError):
            break
        time.sleep(BETWEEN)
    if process.wait():
        sys.exit(f"the crawl failed with status {process.returncode}")
    return samples


def at(point: int, samples: list[Sample]) -> Sample:
    """The highest of what was seen about there, for each."""
    close = [s for s in samples if abs(s.pages - point) <= NEAR and s.crawl]
    if not close:
        sys.exit(f"nothing was seen about {point:,} pages: the crawl ended at {samples[-1].pages:,}, or was too fast")
    return Sample(point, max(s.crawl for s in close), max(s.readers for s in close))


def main() -> None:
    print(f"memory: resident MB in one crawl of {PAGES:,} pages of about 17 kB")
    options = f"--langs en,fr --delay 0 --allow-private --max-pages {PAGES} --quiet"
    environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    with BenchWeb(PAGES) as web, tempfile.TemporaryDirectory() as folder:
        command = [str(Path(sys.executable).parent / "bitrawl"), "crawl", f"{web.url}/", *options.split()]
        process = subprocess.Popen([*command, "--out", f"{folder}/job"], env=environment)
        try:
            samples = watch(process, web)
        finally:
            process.kill()
            process.wait()
    print(f"{'pages':>7}{'crawl':>9}{'readers':>9}")
    for point in POINTS:
        seen = at(point, samples)
        print(f"{point:>7,}{seen.crawl:>9.0f}{seen.readers:>9.0f}")
    early, late = at(5000, samples), at(20_000, samples)
    print(
        f"20,000 pages against 5,000: crawl {late.crawl / early.crawl:.2f}, readers {late.readers / early.readers:.2f}"
    )


if __name__ == "__main__":
    main()
