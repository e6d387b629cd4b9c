"""What the documentation shows is true: its Python runs, and its commands have no flag that the program does not know.

A Python block that cannot run here has `<!-- not executed: why -->` on the line before it; it is compiled all the same.
"""

import ast
import asyncio
import inspect
import re
import shlex
from collections.abc import Iterator
from enum import EnumType
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, get_args

import pytest
import typer

from bitrawl.cli import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SHELL = {"sh", "console"}
BETWEEN = {"|", "<", ">", ">>", "&&", ";"}  # commands, and what they read and write

# Documented before they are built: (command, flag), (command, flag, value) or (command,). To be empty at a release.
COMING: set[tuple[str, ...]] = set()
# Flags of benchmarks and of dask, in the running text.
OTHERS = {
    flag for path in (ROOT / "lab/bench").glob("*.py") for flag in re.findall(r'"(--[a-z-]+)"', path.read_text())
} | {"--good", "--silent", "--slow", "--refused", "--nthreads", "--memory-limit", "--check"}

_BLOCK = re.compile(
    r"^(?P<skip> *<!-- not executed: [^\n]+ -->\n)?(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)
_INLINE = re.compile(r"`(bitrawl [^`]+)`")


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def python_blocks(path: Path) -> list[tuple[str, bool]]:
    """Each with whether it is to be executed."""
    return [
        (inspect.cleandoc("\n" + found["text"]), not found["skip"])
        for found in _BLOCK.finditer(path.read_text("utf-8"))
        if found["language"] == "python"
    ]


def compiled(text: str, name: str) -> Any:
    return compile(text, name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@pytest.mark.usefixtures("no_children")
@pytest.mark.parametrize("path", [page for page in PAGES if python_blocks(page)], ids=named)
def test_the_python_of_a_page_runs_from_top_to_bottom(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "documented_example"}
    with asyncio.Runner() as runner:
        for number, (text, executed) in enumerate(python_blocks(path), 1):
            code = compiled(text, f"{named(path)}, Python block {number}")
            if not executed:
                continue
            if code.co_flags & inspect.CO_COROUTINE:
                runner.run(eval(code, names))
            else:
                exec(code, names)


def commands(path: Path) -> Iterator[list[str]]:
    """The words of each bitrawl command on a page, in its shell blocks and in its running text."""
    text = path.read_text("utf-8")
    blocks = [found["text"] for found in _BLOCK.finditer(text) if found["language"] in SHELL]
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    for line in [*lines, *_INLINE.findall(_BLOCK.sub("", text))]:
        words = shlex.split(line.strip().removeprefix("$ "), comments=True)
        for between, part in groupby(words, key=BETWEEN.__contains__):
            command = list(part)
            if not between and "bitrawl" in command:
                yield command[command.index("bitrawl") :]


def flags(command: Any) -> dict[str, Any]:
    options = [one for one in command.params if one.param_type_name == "option"]
    return {name: one for one in options for name in (*one.opts, *one.secondary_opts)}


def choices(parameter: Any) -> set[str]:
    def types(annotation: Any) -> list[Any]:
        inner = get_args(annotation)
        return [kind for part in inner for kind in types(part)] if inner else [annotation]

    kinds = types(getattr(getattr(parameter, "type_descriptor", None), "annotation", None))
    return {str(member.value) for kind in kinds if isinstance(kind, EnumType) for member in kind}


def unknown(words: list[str]) -> list[tuple[str, ...]]:
    """What of a command the program does not know: its verb, its flags, the values that are one of a few."""
    command, name, rest = typer.main.get_command(app), words[0], words[1:]
    while rest and not rest[0].startswith("-") and hasattr(command, "commands"):
        if rest[0].isupper():  # a placeholder: bitrawl VERB --help
            return []
        if rest[0] not in command.commands and hasattr(command, "by_default"):
            break
        name = f"{name} {rest[0]}"
        if rest[0] not in command.commands:
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


@pytest.mark.parametrize("path", [page for page in PAGES if any(commands(page))], ids=named)
def test_no_documented_command_has_an_unknown_verb_or_flag(path: Path):
    wrong = {one for words in commands(path) for one in unknown(words)} - COMING
    assert not wrong, f"{named(path)} shows {sorted(' '.join(one) for one in wrong)}"


def every_flag(command: Any) -> set[str]:
    return set(flags(command)).union(
        *(every_flag(one) for one in [command.get_command(None, name) for name in getattr(command, "commands", {})])
    )


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_every_flag_in_the_running_text_is_a_flag_of_some_command(path: Path):
    known = every_flag(typer.main.get_command(app)) | {one[1] for one in COMING if len(one) > 1} | OTHERS
    told = set(re.findall(r"`(--[a-z][a-z-]+)[^`]*`", _BLOCK.sub("", path.read_text("utf-8"))))
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
    assert {one for words in commands(page) for one in unknown(words)} == {
        ("bitrawl status", "--colour"),
        ("bitrawl urls pairs", "--lang"),
        ("bitrawl min",),
        ("bitrawl log", "--format", "xml"),
    }
