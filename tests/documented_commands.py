"""The bitrawl commands of every help text and of every shell block of the pages, as they are printed there."""

import re
import shlex
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import typer

from bitrawl.cli import app

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs/reference/commands"  # the help texts once more
PAGES = [
    *(ROOT / "README.md", ROOT / "CONTRIBUTING.md"),
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent != REFERENCE),
]
SHELL = {"sh", "bash", "console", "yaml"}
PIPE, READS, WRITES = "|", "<", ">"
BETWEEN = {PIPE, "&&", ";"}  # commands

BLOCK = re.compile(
    r"^(?P<skip> *<!-- not executed: [^\n]+ -->\n)?(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)


class Example(NamedTuple):
    """A command where somebody reads it."""

    where: str
    line: str
    shows: tuple[str, ...] = ()  # what the page says that it prints

    def commands(self) -> Iterator["Command"]:
        """Those of bitrawl; what else stands on the line is the shell's."""
        words = shlex.split(self.line, comments=True)
        for between, part in groupby(words, key=BETWEEN.__contains__):
            command = list(part)
            if not between and "bitrawl" in command:
                yield Command.of(command[command.index("bitrawl") + 1 :])


class Command(NamedTuple):
    arguments: tuple[str, ...]
    reads: str = ""
    writes: str = ""

    @classmethod
    def of(cls, words: list[str]) -> "Command":
        targets = {mark: words[words.index(mark) + 1] for mark in (READS, WRITES) if mark in words}
        first = min((words.index(mark) for mark in targets), default=len(words))
        return cls(tuple(words[:first]), targets.get(READS, ""), targets.get(WRITES, ""))

    def value(self, flag: str) -> str:
        """What stands after the flag; nothing where it is not given."""
        return self.arguments[self.arguments.index(flag) + 1] if flag in self.arguments else ""

    @property
    def resumes(self) -> bool:
        """Whether it goes on with a job, because it says nothing of what to begin with."""
        names = {"--sites", "--warc", "--replay", "--bootstrap", "--job", "--like"}
        return self.arguments[0] == "mine" and not names & {*self.arguments} and "://" not in " ".join(self.arguments)

    @property
    def mines(self) -> bool:
        """Whether a corpus is to be expected."""
        return self.arguments[0] == "mine" and "--dry-run" not in self.arguments


def of_help_texts() -> list[Example]:
    return list(_of_command("bitrawl", typer.main.get_command(app)))


def _of_command(name: str, command: Any) -> Iterator[Example]:
    for line in re.findall(r"\[bold\](bitrawl .*?)\[/\]", " ".join(command.help.split())):
        yield Example(f"{name} --help", line)
    for below in getattr(command, "commands", {}):
        yield from _of_command(f"{name} {below}", command.get_command(None, below))


def of_page(path: Path) -> list[Example]:
    """In its blocks; what stands in the running text is named there, and not shown."""
    where = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name
    blocks = [found for found in BLOCK.finditer(path.read_text("utf-8")) if found["language"] in SHELL]
    return [example for found in blocks for example in _of_block(where, found["language"], found["text"])]


def _of_block(where: str, language: str, text: str) -> Iterator[Example]:
    joined = re.sub(r"\\\n|\n +(?=--)", " ", text)  # In YAML, a line that begins with a flag continues a command.
    lines = [line.strip() for line in joined.splitlines()]
    if language != "console":
        yield from (Example(where, line) for line in lines if re.search(r"(?:^|\s)bitrawl [\w-]", line))
        return
    starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        if "bitrawl" in lines[start]:
            yield Example(where, lines[start].removeprefix("$ "), tuple(filter(None, lines[start + 1 : end])))


def commands_in_words(path: Path) -> Iterator[list[str]]:
    """The words of each command on a page, in its shell blocks and in its running text."""
    text = path.read_text("utf-8")
    lines = [example.line for example in of_page(path)] + re.findall(r"`(bitrawl [^`]+)`", BLOCK.sub("", text))
    for line in lines:
        yield from (["bitrawl", *command.arguments] for command in Example(path.name, line).commands())


def parsed(arguments: tuple[str, ...]) -> None:
    """As far as click goes: every verb, flag and value is one that the program takes. Raises click's errors."""
    command, rest = typer.main.get_command(app), list(arguments)
    context = command.make_context("bitrawl", rest)
    while hasattr(command, "commands"):
        _, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])
        context = command.make_context(command.name, list(rest), parent=context)
