"""What bitrawl archives, read by warcio and replayed by pywb.

A site is crawled in two rounds: its answers are compressed, some are redirects or errors, and most are unchanged the second time.
"""

import asyncio
import gzip
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from fastwarc.warc import ArchiveIterator

from bitrawl import aio
from lab.bench.changing_site import HOST, ChangingSite
from lab.peers.suites import Case

LOOPBACK = "127.0.0.1"
PATIENCE = 60  # seconds, for pywb to start
Bodies = dict[tuple[str, str], bytes]  # what stood at a URL at a time


def archived(folder: Path, pause: Callable[[float], object] = time.sleep) -> tuple[list[Path], Bodies]:
    """The files, and what each answer in them was. `pause` keeps the rounds apart: replay knows seconds."""
    site, bodies = ChangingSite(9, sentences=12), Bodies()
    with site.served():
        for is_second in (False, True):
            route = f"*.test={LOOPBACK}:{site.port}"
            crawl = aio.crawl(
                f"{HOST}/", langs="en,fr", out=folder, refresh=is_second, delay=0, exhaustive=True, connect_to=route
            )
            asyncio.run(crawl)
            for url, moment in _answers(folder):
                bodies.setdefault((url, moment), site.answer(url.removeprefix(HOST)) or b"")
            site.advance()
            pause(0 if is_second else 1.1)
    return sorted((folder / "warc").glob("*.warc.gz")), {key: body for key, body in bodies.items() if body}


def _answers(folder: Path) -> Iterator[tuple[str, str]]:
    for path in (folder / "warc").glob("*.warc.gz"):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, parse_http=False):
                if record.headers["WARC-Type"] in ("response", "revisit"):
                    moment = "".join(filter(str.isdigit, (record.headers["WARC-Date"] or "").partition(".")[0]))
                    yield record.headers["WARC-Target-URI"] or "", moment


def checked(files: list[Path]) -> Iterator[Case]:
    """By `warcio check`: structure and digests."""
    for number, path in enumerate(files, 1):
        command = [sys.executable, "-m", "warcio.cli", "check", "-v", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        said = (done.stdout + done.stderr).strip()
        passed = done.returncode == 0 and "digest pass" in said and "fail" not in said
        yield Case(f"file {number}", "sound", "sound" if passed else said)


def replayed(files: list[Path], bodies: Bodies, wayback: Path, folder: Path) -> Iterator[Case]:
    """By pywb: at the time of each answer, its bytes."""
    manager = wayback.with_name("wb-manager")
    for command in (["init", "job"], ["add", "job", *map(str, files)]):
        subprocess.run([manager, *command], cwd=folder, check=True, capture_output=True)
    with _serving(wayback, folder) as origin:
        for number, ((url, moment), body) in enumerate(sorted(bodies.items()), 1):
            found = _shown(f"{origin}/job/{moment}id_/{url}")
            yield Case(f"{number} {url.removeprefix(HOST)}", body.decode(), found)


@contextmanager
def _serving(wayback: Path, folder: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind((LOOPBACK, 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [wayback, "-b", LOOPBACK, "-p", str(port)], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    origin = f"http://{LOOPBACK}:{port}"
    try:
        last = time.monotonic() + PATIENCE
        while _shown(f"{origin}/") == "" and time.monotonic() < last and process.poll() is None:
            time.sleep(0.2)
        yield origin
    finally:
        process.terminate()
        process.wait()


def _shown(url: str) -> str:
    """The text; empty if nobody answers."""
    try:
        with urlopen(url) as answer:
            body = answer.read()
            return (gzip.decompress(body) if answer.headers.get("Content-Encoding") == "gzip" else body).decode()
    except HTTPError as error:
        return f"status {error.code}"
    except URLError:
        return ""
