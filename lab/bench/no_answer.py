"""Pages a second where most hosts do not answer, or late, against the hosts that do alone.

    python -m lab.bench.no_answer                                  # 2,000 hosts, two crawls of 90 seconds
    python -m lab.bench.no_answer --good 400 --silent 100 --slow 0 --refused 0

All hosts are on loopback, in a process of their own. A good host answers at once, a slow one after five seconds. A
silent one accepts the connection and says nothing, and the port of the others is closed. One crawl has the good hosts
alone, the other has all of them, in random order. Both run as the command that a user types, with its politeness, for
the same time and at the same time: what else the machine does slows both. Each host has more pages than can be visited
in that time; no two have the same text.
"""

import argparse
import asyncio
import os
import random
import re
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bitrawl.store.ledger import Ledger
from bitrawl.url import Url
from lab.bench.web import vocabulary

KINDS = ("good", "slow", "silent", "refused")
SLOW = 5.0  # seconds before each answer
LINKS = 5  # new ones on each page
WORDS = 150  # of a page
BIN = Path(sys.executable).parent


class Run(NamedTuple):
    pages: Counter[str]  # by kind of host
    asked: Counter[str]  # hosts that were asked anything, by kind
    wall: float  # seconds until the command had ended: with its start, and what it waits for in the end
    cpu: float


def body(host: str, path: str) -> bytes:
    """A page with links to the next ones: a tree without an end."""
    dice = random.Random(f"{host}{path}")
    words = vocabulary("en").words[:5000]
    at = int(path.strip("/") or 0) if re.fullmatch(r"/\d*", path) else 0
    links = "".join(f'<li><a href="/{LINKS * at + n}">{dice.choice(words)}</a>' for n in range(1, LINKS + 1))
    prose = "".join(f"<p>{' '.join(dice.choices(words, k=WORDS // 3)).capitalize()}.</p>" for _ in range(3))
    return f"<html lang=en><title>{dice.choice(words)}</title><ul>{links}</ul>{prose}".encode()


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, wait: float) -> None:
    try:
        while head := (await reader.readuntil(b"\r\n\r\n")).decode():
            await asyncio.sleep(wait)
            path, host = head.split()[1], re.search(r"(?i)^host: *(\S+)", head, re.MULTILINE)
            found = re.fullmatch(r"/\d*", path) is not None
            text = body(host[1] if host else "", path) if found else b""
            status = b"200 OK" if found else b"404 Not Found"
            writer.write(b"HTTP/1.1 %b\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % (status, len(text)))
            writer.write(text)
            await writer.drain()
    except (OSError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def serve() -> None:
    """Prints the port of each kind."""
    waits = {"good": 0.0, "slow": SLOW, "silent": 1e6}
    ports = {}
    for kind, wait in waits.items():
        server = await asyncio.start_server(lambda r, w, s=wait: answer(r, w, s), "127.0.0.1", 0, backlog=2000)
        ports[kind] = server.sockets[0].getsockname()[1]
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound and not listening: nobody else gets the port
        ports["refused"] = closed.getsockname()[1]
        print(*(ports[kind] for kind in KINDS), flush=True)
        await asyncio.Event().wait()


class Crawl:
    """The command at work."""

    def __init__(self, place: Path, counts: dict[str, int], ports: dict[str, str], flags: list[str]) -> None:
        hosts = [f"http://h{n}.{kind}/" for kind, count in counts.items() for n in range(count)]
        random.Random(1).shuffle(hosts)
        seeds = place.with_suffix(".txt")
        seeds.write_text("\n".join(hosts))
        routes = [part for kind, port in ports.items() for part in ("--connect-to", f"*.{kind}=127.0.0.1:{port}")]
        command = [BIN / "bitrawl", "crawl", "--seeds-file", seeds, "--langs", "en,fr", "--out", place, *routes]
        command += ["--strategy", "breadth-first", "--exhaustive", "--quiet", *flags]
        self._folder = place
        self._began = time.perf_counter()
        self._process = subprocess.Popen([*map(str, command)], env=environment())
        self.pid = self._process.pid

    def ended(self) -> Run:
        _, status, used = os.wait4(self._process.pid, 0)
        wall = time.perf_counter() - self._began
        self._process.returncode = os.waitstatus_to_exitcode(status)
        ledger = Ledger(self._folder / "job.sqlite")
        rows = ledger.database.query("SELECT url, outcome FROM fetches").fetchall()
        ledger.close()
        pages = Counter(kind_of(url) for url, outcome in rows if outcome == "page")
        asked = Counter(kind for kind, _ in {(kind_of(url), Url.known(url).host) for url, _ in rows})
        return Run(pages, asked, wall, used.ru_utime + used.ru_stime)


def kind_of(url: str) -> str:
    return Url.known(url).host.rpartition(".")[2]


def environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}


def compare(counts: dict[str, int], ports: dict[str, str], seconds: float, flags: list[str]) -> None:
    names = {"good alone": KINDS[:1], "all": KINDS}
    flags = [*flags, "--max-minutes", str(seconds / 60)]
    with tempfile.TemporaryDirectory() as place:
        crawls = {
            name: Crawl(Path(place) / name, {kind: counts[kind] for kind in kinds}, ports, flags)
            for name, kinds in names.items()
        }
        runs = {name: crawl.ended() for name, crawl in crawls.items()}
    print(f"{'':<12}{'pages/s':>9}{'pages':>8}{'of slow':>9}{'wall s':>8}{'CPU s':>7}  hosts asked")
    for name, run in runs.items():
        hosts = ", ".join(f"{run.asked[kind]:,} {kind}" for kind in names[name])
        pages = run.pages.total()
        print(
            f"{name:<12}{pages / seconds:>9.1f}{pages:>8,}{run.pages['slow']:>9,}{run.wall:>8.1f}{run.cpu:>7.1f}  {hosts}"
        )
    alone, every = runs.values()
    print(f"of the rate of the good hosts alone: {every.pages.total() / alone.pages.total():.0%}")


@contextmanager
def served(descriptors: int) -> Iterator[dict[str, str]]:
    """The port of each kind of host, while a process of its own serves them. From now on we have so many descriptors."""
    server = subprocess.Popen([sys.executable, "-m", "lab.bench.no_answer", "serve"], stdout=subprocess.PIPE, text=True)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, hard))  # after the server, which needs more
    try:
        assert server.stdout is not None
        yield dict(zip(KINDS, server.stdout.readline().split(), strict=True))
    finally:
        server.kill()
        server.communicate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for kind in KINDS:
        parser.add_argument(f"--{kind}", type=int, default=500, help="hosts; default: 500")
    parser.add_argument("--seconds", type=float, default=90.0)
    parser.add_argument(
        "--descriptors", type=int, default=1024, help="of the crawl; default: 1024, as most systems have"
    )
    asked, flags = parser.parse_known_args()
    counts = {kind: getattr(asked, kind) for kind in KINDS}
    with served(asked.descriptors) as ports:
        print(
            f"no_answer: {', '.join(f'{count:,} {kind}' for kind, count in counts.items())} hosts; {asked.seconds:g} s"
        )
        compare(counts, ports, asked.seconds, flags)


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        asyncio.run(serve())
    else:
        main()
