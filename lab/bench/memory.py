"""One crawl while it grows: CPU for each page, memory, disk and `status` at ten points; then mining, report and export.

    python -m lab.bench.memory                                  # 20,000 pages of 200 hosts, a million links queued
    python -m lab.bench.memory --pages 200000 --hosts 2000 --out /tmp/large    # forty minutes on two idle cores, 2 GB
    python -m lab.bench.memory --pages 2000 --hosts 50 --links 20000 --verbs status --strategy breadth-first

The hosts are on loopback (`ManyHosts`), each a site of its own, and the command is what a user types, with its
politeness; flags that we do not know are passed on to it. Flat figures mean that a crawl is bounded by the hosts in
flight and not by what it has seen. In the end all counts are compared with what the server and the ledger have.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bitrawl.store.database import OWN
from bitrawl.store.ledger import Ledger
from bitrawl.store.stored_findings import Findings
from bitrawl.url import Url
from lab.bench.web import BenchWeb, Place

PAGES, HOSTS, LINKS = 20_000, 200, 1_000_000
POINTS = 10
BETWEEN = 0.5  # seconds from one sample to the next
MEGABYTE = 1 << 20
TICKS = os.sysconf("SC_CLK_TCK")
BITRAWL = str(Path(sys.executable).parent / "bitrawl")
VERBS = ("status", "pair", "status", "report", "export")
HEAD = ("pages", "main ms", "readers", "main MB", "readers", "ledger", "log", "archive", "status s", "pages/s")


class Usage(NamedTuple):
    """What processes have used."""

    cpu: float  # seconds
    megabytes: float  # resident

    def __add__(self, other: "Usage") -> "Usage":  # type: ignore[override]
        return Usage(self.cpu + other.cpu, self.megabytes + other.megabytes)


class Command(NamedTuple):
    """What a command has used, with its children."""

    wall: float
    cpu: float
    megabytes: float  # the highest of any of its processes
    output: str


def used(pid: int) -> Usage:
    """Of a process without its children; nothing of one that has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return Usage(0.0, 0.0)
    pages = int(fields[21]) * resource.getpagesize()
    return Usage((int(fields[11]) + int(fields[12])) / TICKS, pages / MEGABYTE)


def children(pid: int) -> list[int]:
    """Those that run now; none of a process that has ended."""
    try:
        return [*map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
    except (FileNotFoundError, ProcessLookupError):
        return []


def used_by_children(pid: int) -> Usage:
    """Of those that run now. Readers that ended are not counted."""
    return sum(map(used, children(pid)), Usage(0.0, 0.0))


def megabytes(path: Path) -> float:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.exists()) / MEGABYTE


def run(*arguments: object) -> Command:
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen([BITRAWL, *map(str, arguments)], env=environment(), stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        if process.returncode:
            sys.exit(f"bitrawl {arguments[0]} failed with status {process.returncode}")
        wall, cpu = time.perf_counter() - began, usage.ru_utime + usage.ru_stime
        return Command(wall, cpu, usage.ru_maxrss * 1024 / MEGABYTE, output.read())


def environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}


class Sample(NamedTuple):
    """The crawl at one moment."""

    at: float
    pages: int
    main: Usage
    readers: Usage


class Growth:
    """The crawl's row of the table at each point, as soon as it is reached."""

    def __init__(self, process: "subprocess.Popen[bytes]", web: BenchWeb, folder: Path) -> None:
        self._process, self._web, self._folder = process, web, folder

    def rows(self, pages: int) -> Iterator[list[float]]:
        """The first begins with the first page: what the command needs to start is not counted."""
        step = max(pages // POINTS, 1)
        while not self._web.fetched().pages and self._process.poll() is None:
            time.sleep(BETWEEN / 10)
        last, most, log = self._sample(), 0.0, 0.0
        before = last
        while self._process.poll() is None:
            now = self._sample()
            if not now.readers.cpu:  # they end before it
                now = now._replace(readers=before.readers)
            before = now
            most, log = max(most, now.main.megabytes), max(log, megabytes(self._folder / "job.sqlite-wal"))
            if now.pages // step > last.pages // step:
                yield self._row(last, now, most, log)
                last, most, log = now, 0.0, 0.0
            time.sleep(BETWEEN)
        if before.pages - last.pages > step / 2:  # it ended before its last page was seen
            yield self._row(last, before, most, log)
        if self._process.wait():
            sys.exit(f"the crawl failed with status {self._process.returncode}")

    def _sample(self) -> Sample:
        pid = self._process.pid
        return Sample(time.perf_counter(), self._web.fetched().pages, used(pid), used_by_children(pid))

    def _row(self, last: Sample, now: Sample, most: float, log: float) -> list[float]:
        pages = now.pages - last.pages
        main = 1000 * (now.main.cpu - last.main.cpu) / pages
        readers = 1000 * (now.readers.cpu - last.readers.cpu) / pages
        sizes = [megabytes(self._folder / "job.sqlite"), log, megabytes(self._folder / "warc")]
        status = run("status", self._folder).cpu
        return [now.pages, main, readers, most, now.readers.megabytes, *sizes, status, pages / (now.at - last.at)]


def crawl(folder: Path, pages: int, hosts: int, links: int, flags: Sequence[str]) -> int:
    """How many pages the server gave."""
    seeds = folder.with_suffix(".txt")
    seeds.write_text("".join(f"http://h{number}.bench/\n" for number in range(hosts)))
    with BenchWeb(links=-(-links // pages) + 1) as web:
        command = [BITRAWL, "crawl", "--seeds-file", str(seeds), "--langs", "en,fr", "--out", str(folder), "--quiet"]
        command += ["--connect-to", f"*.bench={web.url.partition('//')[2]}", "--max-pages", str(pages), *flags]
        process = subprocess.Popen(command, env=environment())
        try:
            rows = []
            for row in Growth(process, web, folder).rows(pages):
                rows.append(row)
                print("{:>9,.0f}{:>9.2f}{:>9.2f}{:>9.0f}{:>9.0f}{:>9.0f}{:>9.0f}{:>9.0f}{:>9.2f}{:>9.0f}".format(*row))
                sys.stdout.flush()
            if len(rows) > 2:
                ratios = ", ".join(f"{rows[-1][place] / rows[1][place]:.2f}" for place in (1, 2, 3))
                print(f"last point against the second: main CPU, readers' CPU, main memory {ratios}")
            return web.fetched().pages
        finally:
            process.kill()
            process.wait()


def measure_commands(folder: Path, verbs: Sequence[str]) -> None:
    print(f"{'':<10}{'wall s':>9}{'CPU s':>9}{'peak MB':>9}")
    for verb in verbs:
        done = run(verb, folder)
        print(f"{verb:<10}{done.wall:>9.1f}{done.cpu:>9.1f}{done.megabytes:>9.0f}", flush=True)


def compare_counts(folder: Path, served: int, hosts: int) -> bool:
    """Whether all add up. Prints what was found of what the server has."""
    told = json.loads(run("status", folder, "--format", "json").output)
    with Ledger(folder / "job.sqlite", read_only=True, verified=False) as ledger:
        stored = [Url.known(url) for (url,) in ledger.database.query("SELECT url FROM stored_pages")]
        (links,) = ledger.database.one(f"SELECT count(*) FROM links WHERE NOT {OWN}")
        pairs = {
            frozenset((pair.url_a, pair.url_b))
            for languages in Findings(ledger).language_pairs()
            for pair in Findings(ledger).pairs(*languages)
        }
    sites, true = Counter(url.site for url in stored), true_pairs(stored)
    few, many = min(sites.values()), max(sites.values())
    print(f"{len(stored):,} pages of {len(sites):,} sites, {few} to {many} of each; {told['queued']:,} links queued")
    print(f"page pairs: {len(true):,} true, {len(pairs):,} found, {len(pairs & true):,} of them right")
    compared = {
        "pages that the server gave": (served, len(stored)),
        "pages by status": (told["pages"], len(stored)),
        "pages by language": (sum(told["languages"].values()), len(stored)),
        "sites": (len(sites), hosts),
        "links by status": (told["queued"] + told["pages"] + told["skipped"], links),
        "skips by reason": (sum(told["skips"].values()), told["skipped"]),
        "page pairs by status": (sum(corpus["pairs"] for corpus in told["corpora"].values()), len(pairs)),
    }
    wrong = {name: counts for name, counts in compared.items() if counts[0] != counts[1]}
    print("\n".join(f"{name}: {a:,}, and not {b:,}" for name, (a, b) in wrong.items()) or "all counts add up")
    return not wrong


def true_pairs(pages: Iterable[Url]) -> set[frozenset[Url]]:
    """Those of which both pages were fetched."""
    versions: dict[tuple[str, int], list[Url]] = {}
    for url in pages:
        place = Place.of(url.path)
        if place is not None:
            versions.setdefault((url.host, place.number), []).append(url)
    return {frozenset(urls) for urls in versions.values() if len(urls) > 1}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m lab.bench.memory", description=__doc__)
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--hosts", type=int, default=HOSTS)
    parser.add_argument("--links", type=int, default=LINKS, help="that stay in the queue; default: 1,000,000")
    parser.add_argument("--out", type=Path, help="keep the job here; default: delete it in the end")
    parser.add_argument("--verbs", nargs="*", default=VERBS, help="to run afterwards; default: all")
    asked, flags = parser.parse_known_args()
    print(f"memory: one crawl of {asked.pages:,} pages of {asked.hosts:,} hosts, {asked.links:,} links queued")
    print("".join(f"{name:>9}" for name in HEAD))
    with tempfile.TemporaryDirectory() as place:
        folder = asked.out or Path(place) / "job"
        served = crawl(folder, asked.pages, asked.hosts, asked.links, flags)
        measure_commands(folder, asked.verbs)
        sound = compare_counts(folder, served, asked.hosts)
    sys.exit(not sound)


if __name__ == "__main__":
    main()
