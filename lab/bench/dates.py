"""Mines a site of the bundled web while somebody sets the date of the machine, and compares the corpus.

`python -m lab.bench.dates` sets it for Python's `time.time`; with `--library`, for all that its processes and libraries
are told of the date (Linux, with a C compiler). libfaketime 0.9.10 cannot be used: it breaks `time.sleep` of Python 3.11.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bitrawl import demo

DAY = 86400
SITE = "http://www.town-library.test/"
# By the number of requests that the server has seen, how far the date is from the right one.
JUMPS: dict[str, dict[int, int]] = {
    "none": {},
    "a day back": {8: -DAY},
    "to 1970": {8: -(int(time.time()) - DAY)},
    "ten years forward": {8: 3650 * DAY},
    "there and back": {6: -DAY, 12: 3650 * DAY, 18: -(int(time.time()) - DAY), 24: 0},
}
SHIM = """\
import os, time
_right = time.time
def _set():
    with open(os.environ["DATE_OFFSET"]) as file:
        return _right() + float(file.read() or 0)
time.time = _set
"""
LIBRARY = """\
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static long offset(void) {
    long seconds = 0;
    FILE *file = fopen(getenv("DATE_OFFSET"), "r");
    if (file) { if (fscanf(file, "%ld", &seconds) != 1) seconds = 0; fclose(file); }
    return seconds;
}
int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = syscall(SYS_clock_gettime, clock, now);
    if (!failed && clock == CLOCK_REALTIME) now->tv_sec += offset();
    return failed;
}
time_t time(time_t *now) {
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    if (now) *now = found.tv_sec;
    return found.tv_sec;
}
int gettimeofday(struct timeval *now, void *zone) {
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    now->tv_sec = found.tv_sec;
    now->tv_usec = found.tv_nsec / 1000;
    return 0;
}
"""


@dataclass(frozen=True)
class Mined:
    """What a job left behind; dates aside, it should always be the same."""

    code: int | None
    files: Mapping[str, str]
    requests: int
    seconds: float
    said: str


def zones() -> dict[str, str]:
    """Time zones (POSIX TZ) in which daylight saving begins, and in which it ends, a few seconds from now."""
    soon = time.time() + 8
    day, clock = time.strftime("J%j", time.gmtime(soon)), time.strftime("%H:%M:%S", time.gmtime(soon))
    other = "J1" if day != "J001" else "J180"
    return {
        "clocks go forward": f"STD0DST-1,{day}/{clock},{other}/0",
        "clocks go back": f"STD1DST0,{other}/0,{day}/{clock}",
    }


async def mined(folder: Path, jumps: Mapping[int, int], library: Path | None = None, zone: str = "UTC") -> Mined:
    """One job, from its start to its end. `folder` must be new."""
    folder.mkdir()
    offset = folder / "offset"
    set_offset(offset, 0)
    command = [sys.executable, "-m", "bitrawl", "mine", SITE, "--langs", "en,fr", "--out", str(folder / "job")]
    async with demo.serve() as web:
        command += ["--connect-to", f"*.test={demo.LOOPBACK}:{web.port}", "--allow-private"]
        command += ["--delay", "0.02", "--max-minutes", "30"]
        began = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            *command,
            env=environment(folder, offset, library) | {"TZ": zone},
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        ended = asyncio.ensure_future(process.communicate())
        try:
            for count, seconds in jumps.items():
                while len(web.visits) < count and not ended.done():  # noqa: ASYNC110 - the server tells nobody
                    await asyncio.sleep(0.001)
                set_offset(offset, seconds)
            _, said = await ended
        finally:
            if process.returncode is None:
                process.kill()
        corpus = {path.name: path.read_text() for path in sorted((folder / "job" / "corpus").glob("*.jsonl"))}
        return Mined(process.returncode, corpus, len(web.visits), time.monotonic() - began, said.decode())


def set_offset(offset: Path, seconds: int) -> None:
    draft = offset.with_suffix(".new")
    draft.write_text(f"{seconds:+d}\n")
    draft.rename(offset)


def environment(folder: Path, offset: Path, library: Path | None) -> dict[str, str]:
    variables = os.environ | {"DATE_OFFSET": str(offset)}
    if library:
        return variables | {"LD_PRELOAD": str(library)}
    (folder / "sitecustomize.py").write_text(SHIM)
    paths = [str(folder), *filter(None, [variables.get("PYTHONPATH")])]
    return variables | {"PYTHONPATH": os.pathsep.join(paths)}


def _compiled(folder: Path) -> Path:
    (folder / "date.c").write_text(LIBRARY)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "date.c", "-o", "date.so"], cwd=folder, check=True)
    return folder / "date.so"


async def _compare(*, whole: bool) -> int:
    right: Mined | None = None
    different = 0
    with tempfile.TemporaryDirectory() as folder:
        library = _compiled(Path(folder)) if whole else None
        for number, name in enumerate((*JUMPS, *zones())):
            found = await mined(Path(folder, str(number)), JUMPS.get(name, {}), library, zones().get(name, "UTC"))
            right = right or found
            same = found.code == 0 and found.files == right.files
            different += not same
            units = {file: text.count("\n") for file, text in found.files.items()}
            print(f"{name:18} {'same' if same else 'DIFFERENT'} exit {found.code} {found.requests} requests", end=" ")
            print(f"{found.seconds:.1f} s {units}", flush=True)
    return different


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", action="store_true", help="for all libraries; needs a C compiler")
    sys.exit(min(asyncio.run(_compare(whole=parser.parse_args().library)), 1))


if __name__ == "__main__":
    main()
