"""Write docs/reference/commands.md from the program: every verb, argument and flag, in the words of its own help.

python -m lab.tools.command_reference
"""

import re
from collections.abc import Iterator
from enum import EnumType
from pathlib import Path
from typing import Any, get_args

import typer

from bitrawl.cli import app

PAGE = Path(__file__).parents[2] / "docs/reference/commands.md"
HEAD = """\
<!-- Written by lab/tools/command_reference.py from the program. Do not edit: change the help text and run `make reference`. -->

# Command line

This page repeats what `bitrawl --help` and `bitrawl VERB --help` print. The [how-to guides](../how-to/index.md) show the
commands at work, [exit codes](exit-codes.md) lists what a command returns to the shell, and most flags of `mine` and
`crawl` are also keys of the [job file](job-file.md).
"""
Command = Any  # typer carries its own copy of click, whose types are not public


def rendered() -> str:
    """The whole page. It does not depend on the terminal, its width or its colours."""
    root = typer.main.get_command(app)
    return "\n".join([HEAD, *_described("bitrawl", root)]).rstrip() + "\n"


def _described(name: str, command: Command) -> Iterator[str]:
    below = {one: command.get_command(None, one) for one in getattr(command, "commands", {})}
    yield f"## `{name}`\n"
    yield f"```text\n{_usage(name, command)}\n```\n"
    yield _prose(command.help or command.callback.__doc__ or "") + "\n"
    arguments = [one for one in command.params if one.param_type_name == "argument" and not one.hidden]
    if arguments:
        yield _table("Arguments", "Argument", arguments)
    panels: dict[str, list[Any]] = {}
    for one in command.params:
        if one.param_type_name == "option" and not one.hidden:
            panels.setdefault(getattr(one, "rich_help_panel", None) or "Options", []).append(one)
    for title, options in panels.items():
        yield _table(title, "Option", options)
    if below:
        rows = [f"| [`{one}`](#{_anchor(f'{name} {one}')}) | {_cell(_first(sub))} |" for one, sub in below.items()]
        yield "\n".join(["**Commands**\n", "| Command | What it does |", "|---|---|", *rows, ""])
    for one, sub in below.items():
        yield from _described(f"{name} {one}", sub)


def _usage(name: str, command: Command) -> str:
    parts = [name, "[OPTIONS]"]
    for one in command.params:
        if one.param_type_name == "argument":
            value = _value(one)
            more = "..." if one.nargs == -1 and " " not in value and not value.endswith("...") else ""
            parts.append((value if one.required else f"[{value}]") + more)
    if getattr(command, "commands", {}):
        parts.append("COMMAND [ARGS]...")
    return " ".join(parts)


def _table(title: str, column: str, parameters: list[Any]) -> str:
    rows = [f"| {_named(one)} | {_meaning(one)} |" for one in parameters]
    return "\n".join([f"**{title}**\n", f"| {column} | What it does |", "|---|---|", *rows, ""])


def _named(one: Any) -> str:
    if one.param_type_name == "argument":
        return _code(_value(one))
    names = [name + ("" if one.is_flag else f" {_value(one)}") for name in one.opts]
    return ", ".join(_code(name) for name in [*names, *one.secondary_opts])


def _code(text: str) -> str:
    """In a cell of a table; a pipe in backticks is read differently by different Markdown readers."""
    return f"<code>{text.replace('|', '&#124;')}</code>" if "|" in text else f"`{text}`"


def _meaning(one: Any) -> str:
    notes = []
    if one.required:
        notes.append("Required.")
    if choices := _choices(one):
        notes.append(f"One of {', '.join(f'`{choice}`' for choice in choices)}.")
    if (default := _default(one)) is not None:
        notes.append(f"Default: {default}.")
    told = _cell(one.help or "")
    if getattr(one, "multiple", False) and "several times" not in told:
        notes.append("May be given several times.")
    return " ".join(filter(None, [told + "." if notes and told and told[-1] not in ".!?" else told, *notes]))


def _default(one: Any) -> str | None:
    if one.show_default is False:
        return None
    if isinstance(one.show_default, str):
        return f"`{one.show_default}`" if re.fullmatch(r"[\w.,-]+", one.show_default) else _cell(one.show_default)
    value = getattr(one.default, "value", one.default)
    if value is None or value is False or value == "" or callable(value):
        return None
    return f"`{value}`"


def _value(one: Any) -> str:
    """What stands for the value in a usage line."""
    if one.metavar:
        return str(one.metavar)
    if one.param_type_name == "argument":
        return str(one.name).upper() + ("..." if one.nargs == -1 else "")
    if _choices(one):
        return "NAME"
    kinds = {"int": "N", "float": "NUMBER", "Path": "PATH"}
    return next((word for kind, word in kinds.items() if kind in _kinds(one)), "TEXT")


def _choices(one: Any) -> list[str]:
    return [str(member.value) for kind in _types(_annotation(one)) if isinstance(kind, EnumType) for member in kind]


def _kinds(one: Any) -> set[str]:
    return {getattr(kind, "__name__", "") for kind in _types(_annotation(one))}


def _annotation(one: Any) -> Any:
    return getattr(getattr(one, "type_descriptor", None), "annotation", None)


def _types(annotation: Any) -> list[Any]:
    """The bare types inside `list[Path] | None` and its like."""
    inner = get_args(annotation)
    return [kind for part in inner for kind in _types(part)] if inner else [annotation]


def _first(command: Command) -> str:
    return (command.help or "").strip().split("\n\n")[0]


def _prose(text: str) -> str:
    """Help text as Markdown: paragraphs on one line each, commands in bold as code."""
    return "\n\n".join(_marked(" ".join(part.split())) for part in text.strip().split("\n\n"))


def _cell(text: str) -> str:
    return _marked(" ".join(text.split())).replace("|", r"\|")


def _marked(text: str) -> str:
    """Rich markup as Markdown; what Markdown would read as markup of its own is escaped."""
    pieces = re.split(r"\[bold\](.*?)\[/(?:bold)?\]", text)
    plain = [re.sub(r"([*_<])", r"\\\1", re.sub(r"\[/?[a-z ]*\]", "", piece)) for piece in pieces[::2]]
    code = [f"`{piece}`" for piece in pieces[1::2]]
    return "".join(part for both in zip(plain, [*code, ""], strict=True) for part in both)


def _anchor(name: str) -> str:
    return name.replace(" ", "-")


if __name__ == "__main__":
    PAGE.write_text(rendered(), "utf-8")
