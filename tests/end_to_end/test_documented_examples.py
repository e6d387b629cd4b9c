"""What the documentation shows is true: its Python and its commands run, with the flags that are printed.

Everything runs in this process, against a web on loopback that stands for example.org and Wikipedia. A Python block that cannot
run here has `<!-- not executed: why -->` on the line before it; it is compiled all the same. `NOT_HERE` has such commands: they
are parsed.
"""

import ast
import asyncio
import inspect
import io
import json
import re
import shutil
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer
from documented_commands import (
    BLOCK,
    PAGES,
    ROOT,
    Command,
    Example,
    commands_in_words,
    of_help_texts,
    of_page,
    parsed,
)
from example_web import example_web
from one_process import commands_stay_here
from readers_folder import REFRESHED, TUNED, mine_jobs, write_files

from bitrawl.cli import app

NOT_HERE = {
    "--encoder": "needs the extra neural, and a model of gigabytes",
    "--cluster": "needs the scheduler of a Dask cluster",
    "s3://": "needs a store that several machines share",
    "$": "needs what SLURM or Kubernetes sets",
}
"""What a command has that cannot run here, and why."""
MENTIONS = {"bitrawl discover", "bitrawl mine --refresh", "bitrawl mine --sites"}
"""Named in a help text, and not shown as something to type."""

STANDS_FOR = {"diff": REFRESHED, "tune": TUNED}
"""By verb, the job that any other stands for."""

# Documented before they are built: (command, flag), (command, flag, value) or (command,). To be empty at a release.
COMING: set[tuple[str, ...]] = set()
# Flags of benchmarks and of dask, in the running text.
OTHERS = {
    flag for path in (ROOT / "lab/bench").glob("*.py") for flag in re.findall(r'"(--[a-z-]+)"', path.read_text())
} | {"--good", "--silent", "--slow", "--refused", "--nthreads", "--memory-limit", "--check"}


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.fixture
def port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_children: None) -> Iterator[int]:
    """Of the web that all commands and all Python see."""
    certificate = tmp_path / "certificate.pem"
    with example_web(certificate) as served:
        commands_stay_here(monkeypatch, tmp_path, served, certificate)
        yield served


class Reader(NamedTuple):
    """Types what the documentation shows, in a folder that has what it names."""

    bitrawl: Callable[..., tuple[int, str, str]]
    patch: pytest.MonkeyPatch
    folder: Path
    untouched: Path  # the same folder before the first command
    port: int

    def types(self, example: Example) -> Iterator[str]:
        """What goes wrong."""
        for command in example.commands():
            try:
                if any(mark in word for mark in NOT_HERE for word in command.arguments):
                    parsed(command.arguments)
                else:
                    yield from (f"{example.where}: {example.line}\n{why}" for why in self._done(command, example.shows))
            except Exception:  # noqa: BLE001 - whatever a user would see as a traceback
                yield f"{example.where}: {example.line}\n{traceback.format_exc(limit=-3)}"

    def _done(self, command: Command, shows: Iterable[str]) -> Iterator[str]:
        self._put_back(command)
        self.patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(self._input(command))))
        code, out, err = self.bitrawl(*map(self._here, command.arguments))
        if command.writes:
            (self.folder / command.writes).write_text(out)
        if code or "Traceback" in err:
            yield f"ends with {code}: {err[-1000:]}"
        elif command.mines and not any(self._corpus(command)):
            yield f"writes an empty corpus: {out}"
        if missing := [line for line in shows if not re.search(_pattern(line), f"{out}\n{err}", re.MULTILINE)]:
            yield f"does not print {missing}, but: {out}{err}"

    def _put_back(self, command: Command) -> None:
        """The files and jobs that a command names are as they were at first; what it makes is not there yet."""
        for name in (*command.arguments, command.reads):
            before, now = self.untouched / name, self.folder / name
            if name.startswith("jobs/") and (other := STANDS_FOR.get(command.arguments[0])):
                before = self.untouched / other
            if name and before.is_dir():
                shutil.rmtree(now, ignore_errors=True)
                shutil.copytree(before, now)
            elif name and before.is_file():
                now.parent.mkdir(exist_ok=True)
                shutil.copy(before, now)
        if not command.resumes and (made := command.value("--out")):
            shutil.rmtree(self.folder / made, ignore_errors=True)

    def _here(self, word: str) -> str:
        return word.replace("127.0.0.1:8000", f"127.0.0.1:{self.port}").replace("/tmp/", f"{self.folder}/tmp/")

    def _input(self, command: Command) -> bytes:
        return (self.folder / command.reads).read_bytes() if command.reads else b""

    def _corpus(self, command: Command) -> Iterator[int]:
        files = (self.folder / command.value("--out")).rglob("corpus/*.sentences.jsonl")
        return (path.stat().st_size for path in files)


def _pattern(line: str) -> str:
    """A word with dots, or with seconds, stands for one that differs each time, and any port for that of the page."""
    words = re.sub(r"\d+(?:\.\d)? m?s\b", "TIME", line).split()
    words = [r"\S+" if "…" in word else re.escape(word).replace(":8000/", r":\d+/") for word in words]
    words = [r"\S+(?:\s+m?s\S*)?" if "TIME" in word else word for word in words]  # 848 ms, 3.0 s or 1:02
    return r"\s+".join(words)


def test_every_command_of_the_help_texts_and_of_the_pages_runs(
    bitrawl: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, port: int
):
    reader = Reader(bitrawl, monkeypatch, tmp_path / "reader", tmp_path / "untouched", port)
    reader.untouched.mkdir()
    write_files(reader.untouched)
    mine_jobs(reader.untouched, bitrawl)
    shutil.copytree(reader.untouched, reader.folder)
    monkeypatch.chdir(reader.folder)
    examples = each_once([*of_help_texts(), *(example for page in PAGES for example in of_page(page))])
    wrong = [trouble for example in examples for trouble in reader.types(example)]
    assert len(examples) > 70
    assert not wrong, "\n\n".join(wrong)
    assert home_page_units() <= demo_units(reader.folder / "demo")


Units = set[tuple[str, str]]


def home_page_units() -> Units:
    rows = re.findall(r"^\| (.+) \| (.+) \| [01]\.\d\d \|$", (ROOT / "docs/index.md").read_text("utf-8"), re.MULTILINE)
    assert rows
    return set(rows)


def demo_units(folder: Path) -> Units:
    lines = (folder / "corpus/en-fr.sentences.jsonl").read_text("utf-8").splitlines()
    return {(unit["text_a"], unit["text_b"]) for unit in map(json.loads, lines)}


def each_once(examples: Iterable[Example]) -> list[Example]:
    """What several pages show is typed once, and prints what any of them says."""
    kept: dict[tuple[Command, ...], Example] = {}
    for example in examples:
        if example.line not in MENTIONS:
            commands = tuple(example.commands())
            before = kept.get(commands, example._replace(shows=()))
            kept[commands] = before._replace(shows=(*before.shows, *example.shows))
    return list(kept.values())


@pytest.mark.parametrize("path", [page for page in PAGES if "```python" in page.read_text("utf-8")], ids=named)
def test_the_python_of_a_page_runs_from_top_to_bottom(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, port: int
):
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "documented_example"}
    with asyncio.Runner() as runner:
        for number, (text, executed) in enumerate(python_blocks(path), 1):
            code = compile(text, f"{named(path)}, block {number}", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            if not executed:
                continue
            if code.co_flags & inspect.CO_COROUTINE:
                runner.run(eval(code, names))
            else:
                exec(code, names)


def python_blocks(path: Path) -> list[tuple[str, bool]]:
    """Each with whether it is to be executed."""
    return [
        (inspect.cleandoc("\n" + found["text"]), not found["skip"])
        for found in BLOCK.finditer(path.read_text("utf-8"))
        if found["language"] == "python"
    ]


@cache
def program() -> Any:
    """All verbs, made once: that takes 0.02 s, and most tests here need no more than that."""
    return typer.main.get_command(app)


def flags(command: Any) -> dict[str, Any]:
    options = [one for one in command.params if one.param_type_name == "option"]
    return {name: one for one in options for name in (*one.opts, *one.secondary_opts)}


def choices(parameter: Any) -> set[str]:
    return {str(choice) for choice in getattr(parameter.type, "choices", ())}


def unknown(words: list[str]) -> list[tuple[str, ...]]:
    """What of a command the program does not know: its verb, its flags, the values that are one of a few."""
    command, name, rest = program(), words[0], words[1:]
    while rest and not rest[0].startswith("-") and hasattr(command, "commands"):
        if rest[0].isupper():  # a placeholder: bitrawl VERB --help
            return []
        if rest[0] not in command.list_commands(None) and hasattr(command, "by_default"):
            break
        name = f"{name} {rest[0]}"
        if rest[0] not in command.list_commands(None):
            return [(name,)]
        command, rest = command.get_command(None, rest[0]), rest[1:]
    if hasattr(command, "by_default"):
        command = command.get_command(None, command.by_default)
    known, found = flags(command), []
    for word, after in pairwise([*rest, ""]):
        flag, _, value = word.partition("=")
        if not re.match(r"-{1,2}[a-z]", flag) or flag == "--help":
            continue
        if flag not in known:
            found.append((name, flag))
        elif (allowed := choices(known[flag])) and (value or after) not in allowed:
            found.append((name, flag, value or after))
    return found


@pytest.mark.parametrize("path", [page for page in PAGES if any(commands_in_words(page))], ids=named)
def test_no_documented_command_has_an_unknown_verb_or_flag(path: Path):
    wrong = {one for words in commands_in_words(path) for one in unknown(words)} - COMING
    assert not wrong, f"{named(path)} shows {sorted(' '.join(one) for one in wrong)}"


@cache
def every_flag(command: Any) -> frozenset[str]:
    return frozenset(flags(command)).union(
        *(every_flag(one) for one in [command.get_command(None, name) for name in getattr(command, "commands", {})])
    )


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_every_flag_in_the_running_text_is_a_flag_of_some_command(path: Path):
    known = every_flag(program()) | {one[1] for one in COMING if len(one) > 1} | OTHERS
    told = set(re.findall(r"`(--[a-z][a-z-]+)[^`]*`", BLOCK.sub("", path.read_text("utf-8"))))
    assert not told - known - {"--help"}


def test_what_is_coming_has_not_arrived_yet():
    arrived = {one for one in COMING if one not in unknown(" ".join(one).split())}
    assert not arrived, f"take these out of COMING: {sorted(arrived)}"


def test_an_unknown_flag_is_found_wherever_it_stands(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text(
        "Run `bitrawl status DIR --colour`.\n\n```sh\ncat x | bitrawl urls pairs --lang en,fr # wrong\n```\n\n"
        "- a list\n\n    ```console\n    $ bitrawl min --out x\n    ```\n\n```sh\nbitrawl log DIR --format xml | head\n```\n"
    )
    assert {one for words in commands_in_words(page) for one in unknown(words)} == {
        ("bitrawl status", "--colour"),
        ("bitrawl urls pairs", "--lang"),
        ("bitrawl min",),
        ("bitrawl log", "--format", "xml"),
    }
