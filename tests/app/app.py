"""`bitrawl serve` as a process of its own, and the folders of jobs that it shows."""

import json
import os
import re
import secrets
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from bitrawl.web.job_list import INTENT, Command, Intent, JobVerb, Wish, write_intent

SETTINGS = """
[limits]
running = 20
user_running = 20
requests = 100000
[job.fetch]
allow_private = true
contact = "corpora@example.org"
connect_to = {{ "*.test" = "127.0.0.1:{port}" }}
timeout = 600.0
[job.politeness]
delay = 0.0
"""
USERS = """
[users.anna]
token_sha256 = "{anna}"
[users.ben]
token_sha256 = "{ben}"
"""


class App:
    """A server that can be ended, and started again on the same port."""

    def __init__(self, folder: Path, web_port: int, more: str = "", *, settings: str = SETTINGS) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.jobs = folder / "jobs"
        self._settings = folder / "serve.toml"
        self._settings.write_text(settings.format(port=web_port) + more, "utf-8")
        self._log = folder / "serve.log"
        self._port = 0
        self.base = ""
        self.start()

    def start(self) -> None:
        flags = ["--jobs", str(self.jobs), "--port", str(self._port), "--settings", str(self._settings)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bitrawl", "serve", *flags], stderr=subprocess.PIPE, text=True
        )
        assert self.process.stderr is not None
        message = self.process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", message)
        assert found, message + self.process.stderr.read()
        self.base, self._port = found[0], int(found[1])

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        self.process.send_signal(number)
        self.process.wait()
        assert self.process.stderr is not None
        message = self.process.stderr.read()
        self.process.stderr.close()
        assert "Traceback" not in message, message

    def add(self, folder: Path, name: str, owner: str = "you") -> str:
        """A copy of a finished job, as if somebody had started it here; its id."""
        job_id = secrets.token_hex(16)
        draft = self.jobs / f".{job_id}"
        shutil.copytree(folder, draft)
        mined = Intent(owner=owner, created=1e9, command=Command(JobVerb.MINE), wish=Wish.RUNNING, name=name, exit=0)
        write_intent(draft, mined)
        draft.rename(self.jobs / job_id)
        return job_id

    def address(self, job_id: str, path: str = "") -> str:
        return f"{self.base}/jobs/{job_id}{path}"

    def folder(self, address: str) -> Path:
        """Of the job behind the address of its page."""
        return self.jobs / address.split("/jobs/")[1].split("/", maxsplit=1)[0]


def pid_of(folder: Path) -> int:
    """Of the process that the app started last for this job."""
    return int(json.loads((folder / INTENT).read_text("utf-8"))["process"]["pid"])


def family(leader: int) -> list[int]:
    """Descriptors of that process, of all that it has started, and of all in its session."""
    parents = {}
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            parents[int(entry.name)] = leader if int(fields[3]) == leader else int(fields[1])
    found = [leader] if leader in parents else []
    for one in found:  # it grows meanwhile
        found += [child for child, parent in parents.items() if parent == one and child not in found]
    descriptors = []
    for one in found:
        with suppress(ProcessLookupError):
            descriptors.append(os.pidfd_open(one))
    return descriptors


def fetched_pages(folder: Path) -> list[str]:
    """The pages of a job's fetches, in order, as often as they were fetched."""
    with sqlite3.connect(f"file:{folder}/job.sqlite?mode=ro", uri=True) as ledger:
        rows = ledger.execute("SELECT url FROM fetches WHERE outcome = 'page' ORDER BY seq").fetchall()
    ledger.close()
    return [url for (url,) in rows]


def units(folder: Path, languages: str = "en-fr") -> list[tuple[str, str]]:
    """What the corpus of a job holds, in alphabetical order."""
    lines = (folder / f"corpus/{languages}.sentences.jsonl").read_text("utf-8").splitlines()
    return sorted((unit["text_a"], unit["text_b"]) for unit in map(json.loads, lines))
