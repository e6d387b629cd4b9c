"""Write docs/reference/commands/ from the program: a page for each verb, in the words of its own help.

python -m lab.tools.command_reference
"""

import re
from collections.abc import Iterable, Iterator
from enum import EnumType
from pathlib import Path
from typing import Any, NamedTuple, get_args

import typer

from bitrawl.cli import app, verbs

FOLDER = Path(__file__).parents[2] / "docs/reference/commands"
NOTE = "<!-- Written by lab/tools/command_reference.py from the program. Do not edit: change the help text and run `make reference`. -->"
FRONT = """\
# Command line

What `bitrawl --help` and `bitrawl VERB --help` print, a page for each verb. An option that several verbs share is explained on
the page of the first of them, and the others name it. Options of `mine` are also keys of the [job file](../job-file.md).
See also the [how-to guides](../../how-to/index.md) and [exit codes](../exit-codes.md).
"""
Command = Any  # typer carries its own copy of click, whose types are not public


class Home(NamedTuple):
    """Where an option is explained."""

    command: str
    page: str


def rendered() -> dict[str, str]:
    """The pages by file name. They do not depend on the terminal, its width or its colours."""
    root = typer.main.get_command(app)
    homes: dict[str, Home] = {}
    pages = {"index.md": "\n".join([NOTE, "", FRONT, *_front(root, homes)])}
    for verb in verbs():
        described = _described(f"bitrawl {verb}", root.get_command(None, verb), f"{verb}.md", homes)
        pages[f"{verb}.md"] = "\n".join([NOTE, "", *described])
    return {name: text.rstrip() + "\n" for name, text in pages.items()}


def _front(root: Command, homes: dict[str, Home]) -> Iterator[str]:
    """What the program says of itself, and its verbs in its own order."""
    yield _prose(root.help) + "\n"
    rows = [f"| [`{verb}`]({verb}.md) | {_marked(lazy.help)} |" for verb, lazy in verbs().items()]
    yield "\n".join(["| Verb | What it does |", "|---|---|", *rows, ""])
    yield from _parameters(root, Home("bitrawl", "index.md"), homes)


def _described(name: str, command: Command, page: str, homes: dict[str, Home], level: int = 1) -> Iterator[str]:
    """A verb and those below it. `homes` says where an option has been explained already."""
    below = {verb: command.get_command(None, verb) for verb in getattr(command, "commands", {})}
    yield f"{'#' * level} `{name}`\n\n`{_usage(name, command)}`\n"
    yield _prose(_own_words(command, below.values())) + "\n"
    yield from _parameters(command, Home(name, page), homes)
    for verb, sub in below.items():
        yield from _described(f"{name} {verb}", sub, page, homes, level + 1)


def _own_words(command: Command, below: Iterable[Command]) -> str:
    """Its help, without the example that one of the verbs below it has too."""
    theirs = {part for sub in below for part in sub.help.split("\n\n")}
    return "\n\n".join(part for part in command.help.split("\n\n") if part not in theirs)


def _parameters(command: Command, home: Home, homes: dict[str, Home]) -> Iterator[str]:
    shown = [one for one in command.params if not one.hidden and (one.help or one.param_type_name == "option")]
    new = [one for one in shown if homes.setdefault(_item(one), home) == home]
    if arguments := [_item(one) for one in new if one.param_type_name == "argument"]:
        yield "\n".join([*arguments, ""])
    yield from _panels([one for one in new if one.param_type_name == "option"])
    yield from _shared([one for one in shown if homes[_item(one)] != home], home.page, homes)


def _panels(options: list[Any]) -> Iterator[str]:
    panels: dict[str, list[str]] = {}
    for one in options:
        panels.setdefault(getattr(one, "rich_help_panel", None) or "Options", []).append(_item(one))
    for title, items in panels.items():
        heading = [f"**{title}**\n"] if len(panels) > 1 else []
        yield "\n".join([*heading, *items, ""])


def _shared(options: list[Any], page: str, homes: dict[str, Home]) -> Iterator[str]:
    """The names of options that another verb has explained, perhaps on the same page."""
    by_home: dict[Home, list[str]] = {}
    for one in options:
        names = (*one.opts, *one.secondary_opts) if one.param_type_name == "option" else (_value(one),)
        by_home.setdefault(homes[_item(one)], []).append(", ".join(map(_code, names)))
    for (command, there), names in by_home.items():
        address = f"#{_anchor(command)}" if there == page or command.count(" ") > 1 else ""
        yield f"As for [`{command}`]({'' if there == page else there}{address}): {', '.join(names)}.\n"


def _usage(name: str, command: Command) -> str:
    parts = [name]
    for one in command.params:
        if one.param_type_name == "argument":
            value = _value(one)
            more = "..." if one.nargs == -1 and " " not in value and not value.endswith("...") else ""
            parts.append((value if one.required else f"[{value}]") + more)
    if getattr(command, "commands", {}):
        parts.append("COMMAND [ARGS]...")
    return " ".join(parts)


def _item(one: Any) -> str:
    return f"- {_named(one)}: {_meaning(one)}"


def _named(one: Any) -> str:
    if one.param_type_name == "argument":
        return _code(_value(one))
    names = [name + ("" if one.is_flag else f" {_value(one)}") for name in one.opts]
    return ", ".join(_code(name) for name in [*names, *one.secondary_opts])


def _code(text: str) -> str:
    return f"`{text}`"


def _meaning(one: Any) -> str:
    notes = []
    if one.required and one.param_type_name == "option":
        notes.append("Required.")
    told = _marked(" ".join((one.help or "").split()))
    choices = _choices(one)
    if not all(choice in told for choice in choices):
        notes.append(f"One of {', '.join(f'`{choice}`' for choice in choices)}.")
    if (default := _default(one)) is not None:
        notes.append(f"Default: {default}.")
    if getattr(one, "multiple", False) and "several times" not in told:
        notes.append("Repeatable.")
    return " ".join(filter(None, [told + "." if notes and told and told[-1] not in ".!?" else told, *notes]))


def _default(one: Any) -> str | None:
    if one.show_default is False:
        return None
    if isinstance(one.show_default, str):
        return f"`{one.show_default}`" if re.fullmatch(r"[\w.,-]+", one.show_default) else _marked(one.show_default)
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


def _prose(text: str) -> str:
    """Help text as Markdown: paragraphs on one line each, an example as a block, other commands in bold as code."""
    paragraphs = (_marked(" ".join(part.split())) for part in text.strip().split("\n\n"))
    return "\n\n".join(re.sub(r"^(Example: )?`([^`]+)`$", r"```sh\n\2\n```", paragraph) for paragraph in paragraphs)


def _marked(text: str) -> str:
    """Rich markup as Markdown; what Markdown would read as markup of its own is escaped."""
    pieces = re.split(r"\[bold\](.*?)\[/(?:bold)?\]", text)
    plain = [re.sub(r"([*_<])", r"\\\1", re.sub(r"\[/?[a-z ]*\]", "", piece)) for piece in pieces[::2]]
    code = [f"`{piece}`" for piece in pieces[1::2]]
    return "".join(part for both in zip(plain, [*code, ""], strict=True) for part in both)


def _anchor(name: str) -> str:
    return name.replace(" ", "-")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    pages = rendered()
    for stale in {path.name for path in FOLDER.iterdir()} - set(pages):
        (FOLDER / stale).unlink()
    for name, text in pages.items():
        (FOLDER / name).write_text(text, "utf-8")
