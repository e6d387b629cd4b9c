"""A long job on thousands of hosts, with a fault every ten seconds: is its corpus that of an undisturbed one?

    python -m lab.bench.soak                                   # 5,000 hosts, an hour
    python -m lab.bench.soak --hosts 200 --minutes 3 --seed 7

First the job runs undisturbed. Then it runs with faults that the seed chooses: a child or the command itself gets SIGKILL, the
disk is full for some seconds, the date jumps, hosts are dead, hosts answer 429, memory is short. When the command ends, it is
given again; a job that is done is followed by another one. In the end, the same command runs once more in each folder without a
fault, with one more attempt for what hosts refused in the meantime. Then corpora are compared byte by byte, and nothing may be
left over: no file, no process. A full disk needs root, for a small file system in memory; without it, files cannot grow.
"""

import argparse
import asyncio
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from bitrawl.store.ledger import Ledger
from lab.bench.dates import DAY, environment, set_offset
from lab.bench.kills import corpus, difference
from lab.bench.memory import MEGABYTE, children, used, used_by_children
from lab.bench.web import ManyHosts, Server, response

LINKS = 3  # to new articles, on each page
LASTING = 6.0  # seconds of a fault that passes: less than the pause before the last attempt
DEAD = 0.05  # of all hosts
SPARE = 8 * MEGABYTE  # of address space, while memory is short
DISK = 1536  # MB
DESCRIPTORS = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
POINTS = 10
TROUBLE = b"<!DOCTYPE html><title>429</title><p>Later, please."


@dataclass
class Weather:
    """What the hosts do now. A host is among so many of all by its name and the salt."""

    salt: str = ""
    dead: float = 0.0
    silent: float = 0.0
    busy: float = 0.0
    asked: Counter[str] = field(default_factory=Counter)

    def strikes(self, share: float, host: str) -> bool:
        return crc32(f"{self.salt}{host}".encode()) % 1000 < 1000 * share


class FairOrFoul(Server):
    """A server under that weather."""

    def __init__(self, web: ManyHosts, weather: Weather) -> None:
        super().__init__(web, set(), [0])
        self._weather = weather

    def answer(self, host: str, path: str) -> bytes:
        weather = self._weather
        if weather.strikes(weather.dead, host):
            self._transport.abort()  # type: ignore[attr-defined]
            return b""
        if weather.strikes(weather.silent, host):
            return b""
        if weather.strikes(weather.busy, host):
            return response(TROUBLE, "text/html", "429 Too Many Requests\r\nRetry-After: 2")
        weather.asked[host + path] += 1
        return super().answer(host, path)


class Sample(NamedTuple):
    at: float  # seconds since the first
    requests: int
    main: float  # MB
    readers: float
    descriptors: int


class Run(NamedTuple):
    """One command, from its start to its end."""

    status: int
    said: str


class Soak:
    """A job that is given again and again, and what is seen of it."""

    def __init__(self, disk: Path, ours: Path, port: int, weather: Weather, hosts: int) -> None:
        self.disk, self._ours, self.weather = disk, ours, weather
        self.offset, self._scratch = ours / "offset", disk / "scratch"
        self._scratch.mkdir()
        set_offset(self.offset, 0)
        self._environment = environment(ours, self.offset, None) | {"TMPDIR": str(self._scratch)}
        seeds = ours / "seeds.txt"
        seeds.write_text("".join(f"http://h{number}.bench/\n" for number in range(hosts)))
        self._asked = ["--seeds-file", str(seeds), "--langs", "en,fr", "--exhaustive", "--quiet", "--delay", "0.1"]
        self._asked += ["--connect-to", f"*.bench=127.0.0.1:{port}", "--allow-private"]
        self.pid: int | None = None
        self.runs: list[Run] = []
        self.samples: list[Sample] = []

    async def run(self, folder: Path, attempts: int = 3) -> Run:
        described = self._ours / "job.toml"
        described.write_text(f"[politeness]\nattempts = {attempts}\n")
        command = ["mine", *self._asked, "--job", str(described), "--out", str(folder)]
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bitrawl", *command, env=self._environment, stderr=asyncio.subprocess.PIPE
        )
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (1024, DESCRIPTORS))  # as most systems have
        self.pid = process.pid
        _, said = await process.communicate()
        self.pid = None
        self.runs.append(Run(process.returncode or 0, said.decode(errors="replace").strip()))
        return self.runs[-1]

    async def sampled(self) -> None:
        began = time.monotonic()
        while True:
            if self.pid and (main := used(self.pid).megabytes):
                asked, readers = self.weather.asked.total(), used_by_children(self.pid).megabytes
                with suppress(OSError):
                    descriptors = len([*Path(f"/proc/{self.pid}/fd").iterdir()])
                    self.samples.append(Sample(time.monotonic() - began, asked, main, readers, descriptors))
            await asyncio.sleep(0.5)

    def left_over(self) -> list[str]:
        """Temporary files, and processes that outlived their command."""
        files = [str(path.relative_to(self._scratch)) for path in self._scratch.rglob("*")]
        return files + [f"process {pid}" for pid in _processes() if self._is_ours(pid)]

    def _is_ours(self, pid: int) -> bool:
        try:
            return f"TMPDIR={self._scratch}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            return False

    def table(self) -> str:
        last = self.samples[-1].at if self.samples else 0.0
        lines = [f"{'minute':>8}{'requests':>10}{'main MB':>9}{'children':>9}{'files':>7}"]
        for point in range(POINTS):
            part = [each for each in self.samples if point * last <= POINTS * each.at < (point + 1) * last]
            if part:
                most = [max(each[column] for each in part) for column in range(2, 5)]
                lines.append("{:>8.1f}{:>10,}{:>9.0f}{:>9.0f}{:>7}".format(part[-1].at / 60, part[-1].requests, *most))
        return "\n".join(lines)


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


class Faults:
    """One of them at a time, as the seed chooses."""

    def __init__(self, soak: Soak, seed: int) -> None:
        self._soak, self._dice = soak, random.Random(seed)
        self.counts: Counter[str] = Counter()
        self._kinds: dict[str, Callable[[], Awaitable[None]]] = {
            "a child was killed": self.child,
            "the command was killed": self.command,
            "the disk was full": self.disk,
            "the date jumped": self.date,
            "hosts were dead": self.dead,
            "hosts said nothing": self.silent,
            "hosts were busy (429)": self.busy,
            "the command had no memory": self.memory,
            "a child had no memory": self.child_memory,
        }

    async def strike(self) -> None:
        name = self._dice.choice(sorted(self._kinds))
        self.counts[name] += 1
        with suppress(ProcessLookupError):  # it ended in the meantime
            await self._kinds[name]()

    def _child(self) -> int | None:
        alive = sorted(children(self._soak.pid)) if self._soak.pid else []
        return self._dice.choice(alive) if alive else None

    async def child(self) -> None:
        if pid := self._child():
            os.kill(pid, 9)

    async def command(self) -> None:
        if self._soak.pid:
            os.kill(self._soak.pid, 9)

    async def disk(self) -> None:
        if not self._soak.disk.is_mount():
            await self._limited(self._soak.pid, resource.RLIMIT_FSIZE, 4096)
            return
        ballast = self._soak.disk / "ballast"
        try:
            with suppress(OSError), ballast.open("wb", buffering=0) as file:
                while file.write(bytes(MEGABYTE)) == MEGABYTE:
                    pass
            await asyncio.sleep(LASTING)
        finally:
            ballast.unlink()

    async def date(self) -> None:
        set_offset(self._soak.offset, self._dice.choice([-DAY, 3650 * DAY, DAY - int(time.time()), 0]))

    async def dead(self) -> None:
        await self._weather(dead=DEAD)

    async def silent(self) -> None:
        await self._weather(silent=DEAD)

    async def busy(self) -> None:
        await self._weather(busy=0.5)

    async def _weather(self, **shares: float) -> None:
        weather = self._soak.weather
        weather.salt = str(self._dice.random())
        vars(weather).update(shares)
        await asyncio.sleep(LASTING)
        vars(weather).update(dict.fromkeys(shares, 0.0))

    async def memory(self) -> None:
        await self._limited(self._soak.pid, resource.RLIMIT_AS, SPARE)

    async def child_memory(self) -> None:
        await self._limited(self._child(), resource.RLIMIT_AS, SPARE)

    async def _limited(self, pid: int | None, what: int, spare: int) -> None:
        """For some seconds; of address space, so much more than it has."""
        if pid is None:
            return
        before = resource.prlimit(pid, what)
        size = int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * resource.getpagesize()
        resource.prlimit(pid, what, (spare + (size if what == resource.RLIMIT_AS else 0), before[1]))
        await asyncio.sleep(LASTING)
        resource.prlimit(pid, what, before)


async def disturbed(soak: Soak, faults: Faults, seconds: float, every: float) -> list[Path]:
    """The folders of the jobs, the last of which may not be done."""
    until, folders = time.monotonic() + seconds, [soak.disk / "job1"]

    async def struck() -> None:
        while time.monotonic() < until:
            next_one = time.monotonic() + every
            await faults.strike()
            await asyncio.sleep(max(next_one - time.monotonic(), 0.0))

    striking = asyncio.ensure_future(struck())
    while not striking.done():
        run = asyncio.ensure_future(soak.run(folders[-1]))
        await asyncio.wait([run, striking], return_when=asyncio.FIRST_COMPLETED)
        if not run.done():
            break
        if not run.result().status and time.monotonic() < until - every:
            folders.append(soak.disk / f"job{len(folders) + 1}")
    await striking
    await run
    set_offset(soak.offset, 0)
    return folders


def shape(folder: Path) -> set[str]:
    """The names of all files but for numbers: an archive has a file for each run."""
    return {re.sub(r"\d+", "N", str(path.relative_to(folder))) for path in folder.rglob("*") if path.is_file()}


def verdicts(folder: Path) -> dict[str, str]:
    """Of all links: the reason if it brought no page."""
    with Ledger(folder / "job.sqlite", read_only=True) as ledger:
        return dict(ledger.database.query("SELECT url, coalesce(reason, state) FROM links"))


def compared(folder: Path, right: Path) -> list[str]:
    """What is not as it should be."""
    found = [text] if (text := difference(corpus(folder), corpus(right))) else []
    ends, expected = verdicts(folder), verdicts(right)
    changed = Counter(
        (expected.get(url), ends.get(url)) for url in {*ends, *expected} if ends.get(url) != expected.get(url)
    )
    found += [f"{count} links ended as {end}, and not as {before}" for (before, end), count in changed.items()]
    found += [f"left over: {name}" for name in sorted(shape(folder) ^ shape(right))]
    checked = subprocess.run(
        [sys.executable, "-m", "bitrawl", "check", folder], capture_output=True, text=True, check=False
    )
    return found + ([f"check: {checked.stdout[-500:]}{checked.stderr[-500:]}"] if checked.returncode else [])


async def experiment(disk: Path, ours: Path, given: argparse.Namespace) -> int:
    weather, web = Weather(), ManyHosts(LINKS, given.articles)
    server = await asyncio.get_running_loop().create_server(
        lambda: FairOrFoul(web, weather), "127.0.0.1", 0, backlog=2000
    )
    soak = Soak(disk, ours, server.sockets[0].getsockname()[1], weather, given.hosts)
    sampling = asyncio.ensure_future(soak.sampled())
    began, right = time.monotonic(), disk / "undisturbed"
    if (first := await soak.run(right)).status or first.said:
        sys.exit(f"the undisturbed job failed: {first.said}")
    units = corpus(right)["corpus/en-fr.sentences.jsonl"].count(b"\n")
    print(f"undisturbed: {len(verdicts(right)):,} links, {units:,} units, {weather.asked.total():,} requests", end="")
    print(f" in {time.monotonic() - began:.0f} s\n{soak.table()}", flush=True)
    weather.asked.clear()
    soak.runs.clear()
    soak.samples.clear()
    faults, began = Faults(soak, given.seed), time.monotonic()
    folders = await disturbed(soak, faults, 60 * given.minutes, given.every)
    calm = [await soak.run(folder, attempts=4) for folder in folders]
    sampling.cancel()
    print(f"with faults: {len(folders)} jobs, {len(soak.runs)} commands, {weather.asked.total():,} requests", end="")
    print(f" in {time.monotonic() - began:.0f} s\n{soak.table()}")
    return judged(soak, faults, calm, {folder.name: compared(folder, right) for folder in folders})


def judged(soak: Soak, faults: Faults, calm: list[Run], differences: dict[str, list[str]]) -> int:
    print(
        f"{faults.counts.total()} faults: "
        + ", ".join(f"{count} {name}" for name, count in faults.counts.most_common())
    )
    ends = Counter(
        f"{run.status}: {re.sub(r'/[^ ]+|[0-9]+', '*', run.said.splitlines()[-1] if run.said else '')}"
        for run in soak.runs
    )
    print("\n".join(f"{count:6} ended with {end}" for end, count in ends.most_common()))
    wrong = [f"{name}: {what}" for name, found in differences.items() for what in found]
    wrong += [f"left over: {name}" for name in soak.left_over()]
    wrong += [f"exit {run.status} without a fault: {run.said}" for run in calm if run.status]
    wrong += [f"a traceback: {run.said[-2000:]}" for run in soak.runs if "Traceback" in run.said]
    print("\n".join(wrong) or "the same pages and the same corpora, byte by byte; nothing is left over")
    return len(wrong)


@contextmanager
def place(out: Path | None) -> Iterator[Path]:
    """A folder on a small file system of its own, if we may; `out` instead."""
    if out:
        out.mkdir(parents=True)
        yield out
        return
    with tempfile.TemporaryDirectory() as folder:
        mounting = ["mount", "-t", "tmpfs", "-o", f"size={DISK}m", "tmpfs", folder]
        mounted = subprocess.run(mounting, capture_output=True, check=False).returncode == 0
        try:
            yield Path(folder)
        finally:
            if mounted:
                subprocess.run(["umount", "--lazy", folder], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=5000)
    parser.add_argument("--articles", type=int, default=4, help="of each host, in two languages")
    parser.add_argument(
        "--minutes", type=float, default=60.0, help="with faults; the calm before and after comes on top"
    )
    parser.add_argument("--every", type=float, default=10.0, help="seconds from one fault to the next")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="keep all here, and limit files instead of filling a disk")
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))  # a connection for each host
    with place(given.out) as disk, tempfile.TemporaryDirectory() as ours:
        sys.exit(bool(asyncio.run(experiment(disk, Path(ours), given))))


if __name__ == "__main__":
    main()
