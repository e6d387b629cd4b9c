"""What every verb says of itself."""

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from bitrawl.cli import app, verbs

TYPES = re.compile(
    r"<(?:bool|int|float|str|path|list\[|int range|float range)"
)  # Python's, which mean nothing to users


def commands() -> Iterator[tuple[str, Any]]:
    root = typer.main.get_command(app)
    yield "bitrawl", root
    for name in verbs():
        verb = root.get_command(None, name)
        yield f"bitrawl {name}", verb
        for below in getattr(verb, "commands", {}):
            yield f"bitrawl {name} {below}", verb.get_command(None, below)


COMMANDS = dict(commands())


@pytest.mark.parametrize("name", COMMANDS)
def test_no_help_shows_the_types_of_python(name: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as end:
        COMMANDS[name].main(["--help"], prog_name=name)
    shown = capsys.readouterr().out
    assert end.value.code == 0
    assert "--help" in shown
    assert not TYPES.search(shown)


@pytest.mark.parametrize("name", ["bitrawl mine", "bitrawl crawl"])
def test_help_shows_the_usual_flags_and_help_all_every_flag(name: str, capsys: pytest.CaptureFixture[str]):
    shown = {}
    for flag in ("--help", "--help-all"):
        with pytest.raises(SystemExit) as end:
            typer.main.get_command(app).main([name.split()[1], flag], prog_name="bitrawl")
        assert end.value.code == 0
        shown[flag] = set(re.findall(r"--[a-z][a-z-]+", capsys.readouterr().out))
    assert {"--out", "--langs", "--max-pages", "--help-all"} < shown["--help"]
    assert len(shown["--help"]) < 25
    every = {word for one in COMMANDS[name].params for word in one.opts if word.startswith("--")}
    assert every <= shown["--help-all"]


@pytest.mark.parametrize("verb", verbs())
def test_the_list_of_verbs_repeats_the_first_line_of_each_verbs_own_help(verb: str):
    command = COMMANDS[f"bitrawl {verb}"]
    assert command.help.strip().partition("\n")[0] == verbs()[verb].help


@pytest.mark.parametrize("verb", verbs())
def test_every_verb_has_an_example_of_itself(verb: str):
    assert f"Example: [bold]bitrawl {verb}" in COMMANDS[f"bitrawl {verb}"].help


def defaults() -> dict[str, str]:
    return {one.opts[0]: one.show_default for one in COMMANDS["bitrawl mine"].params}


@pytest.mark.parametrize(("flag", "default"), [("--delay", "1"), ("--per-host", "1"), ("--min-score", "0.3")])
def test_a_default_of_one_is_shown_as_any_other(flag: str, default: str):
    assert defaults()[flag] == default


HEAVY = "numpy", "aiohttp", "sqlite3", "selectolax", "jinja2"
LOADED = f"""
import sys
from typer.main import get_command
from bitrawl.cli import app, verbs

root = get_command(app)
for name in verbs():
    root.get_command(None, name)
    for module in {HEAVY!r}:
        if module in sys.modules:
            sys.exit(f"bitrawl {{name}} --help loads {{module}}")
"""


def test_the_help_of_no_verb_loads_what_the_verb_runs():
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (0, "")
