"""Damaged files: a flipped bit at 50 places of each kind of file, and each cut off at 10.

    python -m lab.bench.damage                        # all kinds: about half an hour
    python -m lab.bench.damage ledger log --flips 10  # some of them

A job on a site of the bundled web is mined once. Then each case copies its folder, damages one file and gives the
commands that read it. A command may end with a sentence, or with what it says of the whole folder: the same corpus, byte
by byte but for dates. A traceback, another corpus or another sample is a failure. `pair` and `mine` start processes of
their own, which takes seconds, so they are given in every tenth case. In every tenth case, the folder is also
repaired and mined again (`bitrawl check --repair`, then `bitrawl mine`): it must end with the corpus of the whole one.
"""

import argparse
import io
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from bitrawl.cli import VERBS
from bitrawl.cli import main as bitrawl_main
from bitrawl.cluster.checkpoint import Checkpoints, restore
from bitrawl.cluster.places import place
from bitrawl.demo import LOOPBACK, seeds
from bitrawl.errors import BitrawlError
from bitrawl.model import Verdict
from bitrawl.packages import loaded
from bitrawl.store import reading_index
from bitrawl.store.ledger import Ledger
from bitrawl.store.stored_findings import Findings
from bitrawl.store.verdicts import Subject, VerdictHistory

DATES = re.compile(rb'\d{8}T\d{6}Z|"at": ?[\d.]+')
EVERY = 10  # cases after which slow commands are given
LATER = ("pair", "mine", "many-mine")


class Ended(NamedTuple):
    status: int
    out: bytes
    err: str


class Kind(NamedTuple):
    """A kind of file: the folder that has one, and the commands that read it."""

    folder: str
    pattern: str
    commands: tuple[str, ...] = (
        "status",
        "log",
        "report",
        "sample",
        "terms",
        "export",
        "merge",
        "check",
        "pair",
        "mine",
    )


KINDS = {
    "ledger": Kind("whole", "job.sqlite"),
    "killed": Kind("killed", "job.sqlite"),
    "log": Kind("killed", "job.sqlite-wal"),
    "seal": Kind("whole", "job.seal"),
    "verdicts": Kind("judged", "verdicts.sqlite"),
    "index": Kind("judged", "index.sqlite", ("status", "export", "index", "check", "pair", "mine")),
    "archive": Kind("whole", "warc/*.warc.gz"),
    "keys": Kind("whole", "shard/*.keys", ("merge", "check")),
    "data": Kind("whole", "shard/*.data", ("merge", "check")),
    "part": Kind("whole", "shard/part.json", ("merge", "check")),
    "corpus": Kind("whole", "corpus/*.tmx", ("status", "sample", "check")),
    "done": Kind("many", "parts/*/done.json", ("many-status", "many-merge", "check", "many-mine")),
    "bundles": Kind("many", "bundles.jsonl", ("many-status", "many-merge", "check", "many-mine")),
    "manifest": Kind("saved", "checkpoint.json", ("restore",)),
    "saved": Kind("saved", "ledger-*/job.sqlite.zst", ("restore",)),
    "piece": Kind("saved", "warc/*/*", ("restore",)),
}


def given(*arguments: str) -> Ended:
    """The command in a process of its own, without the time that imports take."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if not child:
            status = 1
            try:
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                sys.argv = ["bitrawl", *arguments]
                bitrawl_main()
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else 0
            except BaseException:  # noqa: BLE001 - this is what is looked for
                traceback.print_exc()
                status = 70
            finally:
                with suppress(Exception):
                    sys.stdout.flush()
                    sys.stderr.flush()
                os._exit(status)
        _, ended = os.waitpid(child, 0)
        out.seek(0)
        err.seek(0)
        return Ended(os.waitstatus_to_exitcode(ended), out.read(), err.read().decode("utf-8", "replace"))


def warm_up(folder: Path) -> None:
    """Load what commands load when they run, once for all processes: a command takes an eighth of the time then."""
    for command in ("status", "sample", "export", "check"):
        sys.argv = ["bitrawl", command, str(folder)]
        with suppress(SystemExit), redirect_stdout(io.StringIO()):
            bitrawl_main()


class Trial:
    """The folders to damage, and what the commands say of them."""

    def __init__(self, base: Path, port: int) -> None:
        self.base = base
        self._site = str(seeds()[1])
        self._flags = ["--langs", "en,fr", "--connect-to", f"*.test={LOOPBACK}:{port}", "--allow-private"]
        self._flags += ["--delay", "0", "--formats", "tmx,jsonl,tsv"]
        self.expected: dict[str, dict[str, bytes]] = {}
        self.prepare()

    def mine(self, folder: Path) -> list[str]:
        return ["mine", self._site, *self._flags, "--out", str(folder)]

    def prepare(self) -> None:
        whole = self.base / "whole"
        ended = given(*self.mine(whole))
        assert ended.status == 0, ended.err
        given("merge", str(whole), "--out", str(self.base / "merged"))
        for name in ("killed", "judged"):
            shutil.copytree(whole, self.base / name)
        leave_log(self.base / "killed" / "job.sqlite")
        judge(self.base / "judged")
        reading_index.refresh(self.base / "judged")
        given("export", str(self.base / "judged"))
        self.prepare_many()
        self.prepare_saved(whole)
        with self.copied("whole") as folder:
            warm_up(folder)
        for name in ("whole", "killed", "judged", "many", "saved"):
            self.expected[name] = self.looked_at(name)

    def prepare_many(self) -> None:
        many = self.base / "many"
        (self.base / "sites.txt").write_text("".join(f"{seed}\n" for seed in seeds()[1:3]))
        ended = given(*self.mine_many(many))
        assert ended.status == 0, ended.err

    def mine_many(self, folder: Path) -> list[str]:
        scratch = ["--scratch", str(self.base / "scratch")]
        return [
            "mine",
            "--sites",
            str(self.base / "sites.txt"),
            "--workers",
            "1",
            *scratch,
            *self._flags,
            "--out",
            str(folder),
        ]

    def prepare_saved(self, whole: Path) -> None:
        Checkpoints(whole, place(str(self.base / "saved")), name="trial").save()

    def looked_at(self, name: str) -> dict[str, bytes]:
        """What each command that shows something shows of the whole folder."""
        commands = dict.fromkeys(command for kind in KINDS.values() if kind.folder == name for command in kind.commands)
        shown = {}
        for command in commands:
            with self.copied(name) as folder:
                ended, product = self.run(command, folder)
                assert ended.status == 0, (name, command, ended)
                shown[command] = product
        return shown

    @contextmanager
    def copied(self, name: str) -> Iterator[Path]:
        folder = self.base / "case" / name
        shutil.rmtree(folder.parent, ignore_errors=True)
        shutil.copytree(self.base / name, folder)
        yield folder
        shutil.rmtree(folder.parent, ignore_errors=True)

    def run(self, command: str, folder: Path) -> tuple[Ended, bytes]:  # noqa: PLR0911 - one for each command
        """How it ended, and what it made: to be compared."""
        where, to = str(folder), folder.parent / "made"
        shutil.rmtree(to, ignore_errors=True)
        match command:
            case "mine":
                return given(*self.mine(folder)), corpus(folder / "corpus")
            case "merge" | "many-merge":
                ended = given("merge", *([where] if command == "merge" else parts(folder)), "--out", str(to))
                return ended, corpus(to)
            case "many-mine":
                return given(*self.mine_many(folder)), corpus(folder / "merged")
            case "many-status":
                ended = given("status", where)
                return ended, ended.out
            case "export" | "pair":
                ended = given(command, where)
                return ended, corpus(folder / "corpus")
            case "sample" | "terms":
                ended = given(command, where)
                return ended, ended.out
            case "restore":
                return restored(folder, to)
            case "index":
                return indexed(folder)
            case _:
                return given(command, where), b""


def corpus(folder: Path) -> bytes:
    files = sorted(folder.glob("*.tmx")) + sorted(folder.glob("*.jsonl")) + sorted(folder.glob("*.tsv"))
    return b"\n".join(path.name.encode() + DATES.sub(b"", path.read_bytes()) for path in files)


def parts(folder: Path) -> list[str]:
    return [str(path) for path in sorted((folder / "parts").iterdir())]


def restored(folder: Path, to: Path) -> tuple[Ended, bytes]:
    try:
        restore(place(str(folder)), to)
        ledger = Ledger(to / "job.sqlite", read_only=True)
        pages = [repr(page).encode() for page in ledger.pages()]
        ledger.close()
    except BitrawlError as error:
        return Ended(1, b"", str(error)), b""
    archives = b"".join(path.read_bytes() for path in sorted((to / "warc").iterdir()))
    return Ended(0, b"", ""), b"".join(pages) + archives


def indexed(folder: Path) -> tuple[Ended, bytes]:
    """What the web app does before it lists page pairs."""
    try:
        if reading_index.is_due(folder):
            reading_index.refresh(folder)
    except BitrawlError as error:
        return Ended(1, b"", str(error)), b""
    return Ended(0, b"", ""), b""


def judge(folder: Path) -> None:
    """People refuse every second segment."""
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    findings, history = Findings(ledger), VerdictHistory(folder / "verdicts.sqlite")
    for languages in findings.language_pairs():
        for number, segment in enumerate(findings.segments(*languages)):
            if number % 2:
                history.say(Subject.of_segment(segment), Verdict.REJECT, "Ana", 1.0 + number)
    ledger.close()


def leave_log(path: Path) -> None:
    """As a process leaves it that is killed while it writes: nothing is lost, and much of it is only in the log."""
    child = os.fork()
    if not child:
        try:
            ledger = Ledger(path)
            for (url,) in ledger.database.query("SELECT url FROM stored_pages").fetchall():
                for title in ("title || '.'", "substr(title, 1, length(title) - 1)"):
                    with ledger.transaction():
                        ledger.database.query(f"UPDATE stored_pages SET title = {title} WHERE url = ?", (url,))
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)


def damages(size: int, flips: int, cuts: int, chance: random.Random) -> Iterator[tuple[str, Callable[[Path], None]]]:
    for _ in range(flips):
        place, bit = chance.randrange(size), chance.randrange(8)
        yield f"bit {bit} of byte {place}", lambda path, place=place, bit=bit: flip(path, place, bit)
    for _ in range(cuts):
        place = chance.randrange(size)
        yield f"cut at {place}", lambda path, place=place: os.truncate(path, place)


def flip(path: Path, place: int, bit: int) -> None:
    with path.open("r+b") as file:
        file.seek(place)
        (byte,) = file.read(1)
        file.seek(place)
        file.write(bytes([byte ^ 1 << bit]))


class Tally(NamedTuple):
    """What came of the commands of one kind."""

    counts: Counter[str]
    failures: list[str]

    def add(self, what: str, command: str, ended: Ended, product: bytes, expected: bytes) -> None:
        if "Traceback" in ended.err or ended.status not in (0, 1, 2):
            self.counts["tracebacks"] += 1
            self.failures.append(f"{what}: {command}: exit {ended.status}: {ended.err.strip()[-600:]}")
        elif ended.status == 0 and command != "check" and product != expected:
            self.counts["wrong"] += 1
            self.failures.append(f"{what}: {command}: another result; {ended.err.strip()[-300:]}")
        else:
            self.counts["sentences" if ended.status else "right"] += 1


def tried(trial: Trial, name: str, kind: Kind, flips: int, cuts: int) -> Tally:
    tally, chance = Tally(Counter(), []), random.Random(name)
    files = sorted((trial.base / kind.folder).glob(kind.pattern))
    path = max(files, key=lambda file: file.stat().st_size).relative_to(trial.base / kind.folder)
    size = (trial.base / kind.folder / path).stat().st_size
    cases = list(damages(size, flips, cuts, chance))
    for number, (what, damage) in enumerate(cases):
        expected = trial.expected[kind.folder]
        for command in kind.commands:
            if command in LATER and number % EVERY:
                continue
            with trial.copied(kind.folder) as folder:
                damage(folder / path)
                tally.add(f"{path} {what}", command, *trial.run(command, folder), expected[command])
        if number % EVERY == 0 and kind.folder in ("whole", "killed", "judged"):
            repair(trial, f"{path} {what}", kind, path, damage, tally)
    return tally


def repair(trial: Trial, what: str, kind: Kind, path: Path, damage: Callable[[Path], None], tally: Tally) -> None:
    with trial.copied(kind.folder) as folder:
        damage(folder / path)
        repaired = given("check", str(folder), "--repair")
        if "Traceback" in repaired.err:
            tally.failures.append(f"{what}: check --repair: {repaired.err[-600:]}")
        ended, product = trial.run("mine", folder)
        if kind.folder == "judged":  # lost verdicts are said to be lost
            product = trial.expected[kind.folder]["mine"] if ended.status == 0 else b""
        tally.counts["repaired"] += product == trial.expected[kind.folder]["mine"]
        if product != trial.expected[kind.folder]["mine"]:
            tally.failures.append(f"{what}: after check --repair and mine: exit {ended.status} {ended.err[-300:]}")


@contextmanager
def served() -> Iterator[int]:
    with socket.socket() as free:
        free.bind((LOOPBACK, 0))
        port = int(free.getsockname()[1])
    command = [sys.executable, "-m", "bitrawl.demo", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        server.stdout.readline()
        try:
            yield port
        finally:
            server.terminate()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.bench.damage", description="Damage each kind of file.")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--flips", type=int, default=50)
    parser.add_argument("--cuts", type=int, default=10)
    asked = parser.parse_args()
    failed = 0
    for command in ("status", "log", "report", "sample", "terms", "export", "merge", "check", "pair", "mine"):
        loaded(VERBS[command].function)  # once, and not in each of the processes
    import_module("bitrawl.cli.foreground")  # the same
    with served() as port, tempfile.TemporaryDirectory() as base:
        trial = Trial(Path(base), port)
        sys.stdout.write(f"{'kind':<10}{'right':>7}{'sentences':>11}{'wrong':>7}{'tracebacks':>12}{'repaired':>10}\n")
        for name in asked.kinds or KINDS:
            began = time.monotonic()
            tally = tried(trial, name, KINDS[name], asked.flips, asked.cuts)
            numbers = [tally.counts[what] for what in ("right", "sentences", "wrong", "tracebacks", "repaired")]
            sys.stdout.write("{:<10}{:>7}{:>11}{:>7}{:>12}{:>10}".format(name, *numbers))
            sys.stdout.write(f"   {time.monotonic() - began:.0f} s\n" + "".join(f"  {one}\n" for one in tally.failures))
            sys.stdout.flush()
            failed += len(tally.failures)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
