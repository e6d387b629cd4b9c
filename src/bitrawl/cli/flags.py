"""Flags of commands: those of the one table of settings, and the few that several commands share."""

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from bitrawl import config
from bitrawl.config.settings import Group, Setting, flags, value_of
from bitrawl.errors import ConfigError

Command = TypeVar("Command", bound=Callable[..., None])

Folder = Annotated[Path, typer.Argument(help="The job folder, as given to --out.", metavar="DIR", show_default=False)]
FolderOrPlace = Annotated[
    str,
    typer.Argument(
        help="The job folder, or the place of a run over many sites, as given to --out.",
        metavar="DIR",
        show_default=False,
    ),
]
Seeds = Annotated[list[str] | None, typer.Argument(help="URLs to start from.", metavar="URL", show_default=False)]
SeedsFile = Annotated[
    Path | None,
    typer.Option(
        help="Read seed URLs from this file, one per line; - reads standard input.",
        metavar="FILE",
        rich_help_panel=Group.JOB,
    ),
]
SitesFile = Annotated[
    Path | None,
    typer.Option(
        "--sites",
        help="Mine the sites of this list: hosts or URLs, one per line, or a table, JSON lines or Parquet with a column site.",
        metavar="FILE",
        rich_help_panel=Group.JOB,
    ),
]


def with_settings(groups: Iterable[Group]) -> Callable[[Command], Command]:
    """Let a command take the settings of these groups, in place of its `**settings`."""

    def decorate(command: Command) -> Command:
        own = [p for p in inspect.signature(command).parameters.values() if p.kind is not p.VAR_KEYWORD]
        parameters = [*own, *_parameters(groups)]
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return command

    return decorate


def _parameters(groups: Iterable[Group]) -> Iterator[inspect.Parameter]:
    for name, setting in flags(groups).items():
        yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_annotation(setting))


def _annotation(setting: Setting) -> Any:
    value = value_of(setting)
    kind: Any = list[value.kind] if value.several else value.kind  # type: ignore[name-defined]
    on = kind is bool and value.default is True and setting.read is None  # unless it is switched off
    switch = on or setting.reversible
    option = typer.Option(
        f"{setting.flag}/--no-{setting.flag.removeprefix('--')}" if switch else setting.flag,
        help=setting.shown_help(),
        show_default=("on" if on else "off" if switch else setting.default or _shown(value.default)) or False,
        metavar=setting.metavar or ("N" if kind in (int, float) else None),
        min=value.least,
        max=value.most,
        rich_help_panel=setting.group,
    )
    return Annotated[kind | None, option]


def _shown(default: Any) -> str:
    if default is None or isinstance(default, bool):
        return ""
    return f"{default:g}" if isinstance(default, float) else str(default)


def seeds_of(given: list[str] | None, file: Path | None) -> list[str] | None:
    """The seeds of the command line and of a file; None when neither has any."""
    return [*(given or []), *(_listed(file) if file else [])] or None


def _listed(path: Path) -> list[str]:
    if str(path) == "-":
        return config.seeds_from(sys.stdin.buffer.read(), "standard input")
    try:
        return config.seeds_from(path.read_bytes(), str(path))
    except OSError as error:
        raise ConfigError(f"the seeds cannot be read from {path}: {error.strerror}") from error
