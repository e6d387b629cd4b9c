"""Many sites: what an engine costs beside a plain loop over the same bundles, and how much sooner two workers are done.

The sites are those of the bundled web, visited politely. CPU is that of each command and of all of its processes.
"""

import asyncio
import importlib.util
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bitrawl import config, demo
from bitrawl.cluster.bundles import bundled, sites_of

DELAY = 0.5  # seconds between two visits to a host
SIZE = 4  # sites of a bundle
LOOP = "plain loop"
ENGINES = {
    "one after the other": ["--workers", "1"],
    "two processes": ["--workers", "2"],
    "Dask, one worker": ["--cluster", "local", "--workers", "1"],
    "Dask, two workers": ["--cluster", "local", "--workers", "2"],
}
# The same processes in the loop as in a bundle
JOB = "[analysis]\nworkers = 1\n[mining]\nworkers = 1\n"


class Used(NamedTuple):
    cpu: float  # seconds, user and system
    wall: float
    units: int

    def __add__(self, other: object) -> "Used":
        if not isinstance(other, Used):
            return NotImplemented
        return Used(self.cpu + other.cpu, self.wall + other.wall, self.units + other.units)


@contextmanager
def served() -> Iterator[int]:
    """The bundled web, from a thread whose CPU time is not counted."""
    port: list[int] = []
    ready, over = threading.Event(), threading.Event()

    async def serve() -> None:
        async with demo.serve() as web:
            port.append(web.port)
            ready.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    ready.wait()
    try:
        yield port[0]
    finally:
        over.set()
        thread.join()


def run(arguments: list[str], out: Path) -> Used:
    command = [sys.executable, "-m", "bitrawl", "mine", *arguments, "--out", str(out), "--quiet"]
    began = time.perf_counter()
    process = os.posix_spawn(sys.executable, command, os.environ)
    _, status, used = os.wait4(process, 0)
    wall = time.perf_counter() - began
    if status:
        sys.exit(f"{' '.join(command)} failed with status {os.waitstatus_to_exitcode(status)}")
    found = sum(len(path.read_bytes().splitlines()) for path in out.rglob("corpus/en-fr.sentences.jsonl"))
    return Used(used.ru_utime + used.ru_stime, wall, found)


def measured(folder: Path, port: int) -> tuple[dict[str, Used], int]:
    """By engine, and the number of bundles."""
    sites, described = folder / "sites.txt", folder / "job.toml"
    sites.write_text("".join(f"{seed}\n" for seed in demo.seeds()))
    described.write_text(JOB)
    route = f"*.test={demo.LOOPBACK}:{port}"
    usual = ["--langs", "en,fr", "--job", str(described), "--connect-to", route, "--allow-private"]
    usual += ["--delay", str(DELAY)]
    job = config.resolve({"langs": ["en", "fr"], "seeds": list(map(str, demo.seeds()))})
    bundles = bundled(sites_of(job), SIZE, list)
    loop = Used(0, 0, 0)
    for bundle in bundles:
        loop += run([*bundle.seeds, *usual], folder / "loop" / bundle.name)
    found = {LOOP: loop}
    listed = ["--sites", str(sites), "--bundle-sites", str(SIZE), "--scratch", str(folder / "scratch")]
    for name, flags in ENGINES.items():
        if "--cluster" in flags and not importlib.util.find_spec("distributed"):
            print(f"{name}: Dask is not here: pip install 'bitrawl[cluster]'")
            continue
        found[name] = run([*listed, *usual, *flags], folder / name)
    return found, len(bundles)


def main() -> None:
    print(f"cluster: {len(demo.hosts())} hosts, {DELAY} s between two visits to a host, bundles of {SIZE} sites")
    with tempfile.TemporaryDirectory() as folder, served() as port:
        found, bundles = measured(Path(folder), port)
    loop = found[LOOP]
    print(f"{'':<22}{'CPU s':>8}{'of the loop':>13}{'more, a bundle':>16}{'wall s':>9}{'speed':>8}{'units':>8}")
    for name, used in found.items():
        more = f"{(used.cpu - loop.cpu) / bundles:+.2f} s"
        print(
            f"{name:<22}{used.cpu:>8.1f}{used.cpu / loop.cpu:>13.2f}{more:>16}{used.wall:>9.1f}"
            f"{loop.wall / used.wall:>8.2f}{used.units:>8}"
        )


if __name__ == "__main__":
    main()
