"""Flags of commands: those of the one table of settings, and the few that several commands share."""

from __future__ import annotations

import inspect
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from typer import Argument, Option

from bitrawl.cli.console import print_err
from bitrawl.config import Group, Setting, flags, value_of
from bitrawl.errors import ConfigError
from bitrawl.url import seeds_from

if TYPE_CHECKING:
    from bitrawl.job import StartOver

Command = TypeVar("Command", bound=Callable[..., None])

TableFormat = StrEnum("TableFormat", ["TABLE", "JSONL"])
job_option = partial(Option, rich_help_panel=Group.JOB)

_CORPUS_HELP = "The folder of a job, of a run over many sites, or of a merged or exported corpus."
CorpusFolder = Annotated[str, Argument(help=_CORPUS_HELP, metavar="DIR", show_default=False)]
Folder = Annotated[Path, Argument(help="The job folder, as given to --out.", metavar="DIR", show_default=False)]
_SEEDS_HELP = "URLs to start from. A host alone means https; localhost, an IP address or a port means http."
Seeds = Annotated[list[str] | None, Argument(help=_SEEDS_HELP, metavar="URL", show_default=False)]
SeedsFile = Annotated[
    Path | None,
    job_option(help="Read seed URLs from this file, one per line; - reads standard input.", metavar="FILE"),
]
_OUT_HELP = "Keep the job in this folder. The same folder resumes."
Out = Annotated[Path, job_option(help=_OUT_HELP, metavar="DIR")]
OutOrPlace = Annotated[str, job_option(help=_OUT_HELP, metavar="DIR")]
JobFile = Annotated[Path | None, job_option("--job", help="Read a TOML job file. Flags override it.", metavar="FILE")]
_BOOTSTRAP_HELP = "Take the topic and the seeds from this folder, made by bitrawl bootstrap."
Bootstrap = Annotated[Path | None, Option(help=_BOOTSTRAP_HELP, metavar="DIR", rich_help_panel=Group.TOPIC)]
_FRESH_HELP = "Replace the job in the folder. What was fetched is set aside, in warc-1/."
Fresh = Annotated[bool, job_option("--fresh", help=_FRESH_HELP)]
_DELETE_HELP = "With --fresh: delete what was fetched too."
DeleteArchive = Annotated[bool, job_option("--delete-archive", help=_DELETE_HELP)]
_REFRESH_HELP = "Visit a finished job again, as one more round: ask for what has changed, is new or is gone."
Refresh = Annotated[bool, job_option("--refresh", help=_REFRESH_HELP)]
_DRY_HELP = "Show what would be done: ask each seed's host for its rules, the seed and a sitemap, and stop."
DryRun = Annotated[bool, job_option("--dry-run", help=_DRY_HELP)]
Quiet = Annotated[bool, job_option("--quiet", "-q", help="Show no progress.")]
PRIVATE_HELP = "Visit private and loopback addresses."
AllowPrivate = Annotated[bool, Option("--allow-private", help=PRIVATE_HELP)]


def starting_over(*, fresh: bool, delete_archive: bool = False, refresh: bool = False) -> StartOver:
    """What the flags mean together."""
    from bitrawl.job import StartOver

    if fresh and refresh:
        raise ConfigError("--fresh deletes what --refresh would visit again; choose one of them")
    if delete_archive and not fresh:
        raise ConfigError("--delete-archive is for a job that starts over; add --fresh, or leave it out")
    return StartOver.DELETE_ARCHIVE if delete_archive else StartOver.KEEP_ARCHIVE if fresh else StartOver.NO


def confirm(place: str | Path, fresh: StartOver, what: str = "its pages, pairs and corpus") -> None:
    """Ask before something is deleted, where somebody can answer, and say where the archive goes."""
    from bitrawl.job import OpenedJob, StartOver

    if not fresh:
        return
    archive = " and what was fetched" if fresh is StartOver.DELETE_ARCHIVE else ""
    question = f"Delete what {place} holds ({what}{archive}), and start over?"
    if sys.stdin.isatty() and sys.stderr.isatty() and not typer.confirm(question, err=True):
        print_err("Nothing was changed.")
        raise typer.Exit(1)
    if fresh is StartOver.KEEP_ARCHIVE and (aside := OpenedJob(place).set_aside()):
        print_err(f"What was fetched before is set aside in {aside}.")


def with_settings(groups: Iterable[Group]) -> Callable[[Command], Command]:
    """Let a command take the settings of these groups, in place of its `**settings`."""

    def decorate(command: Command) -> Command:
        own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.kind is not p.VAR_KEYWORD]
        parameters = [*own, *(_parameter(name, setting) for name, setting in flags(groups).items())]
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return command

    return decorate


def _parameter(name: str, setting: Setting) -> inspect.Parameter:
    value = value_of(setting)
    kind: Any = list[value.kind] if value.several else value.kind  # type: ignore[name-defined]
    on = kind is bool and value.default is True and setting.read is None  # unless it is switched off
    switch = on or setting.reversible
    option = Option(
        f"{setting.flag}/--no-{setting.flag.removeprefix('--')}" if switch else setting.flag,
        help=setting.shown_help(),
        show_default=("on" if on else "off" if switch else setting.default or _shown(value.default)) or False,
        metavar=setting.metavar or ("N" if kind in (int, float) else None),
        min=value.least,
        max=value.most,
        rich_help_panel=setting.group,
    )
    annotation = Annotated[kind | None, option]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _shown(default: Any) -> str:
    if default is None or isinstance(default, bool):
        return ""
    return f"{default:g}" if isinstance(default, float) else str(default)


def description_of(
    tables: Mapping[str, Any], urls: list[str] | None, seeds_file: Path | None, bootstrap: Path | None
) -> dict[str, Any]:
    """The job that the command line describes, with its seeds, and with what a bootstrap has found."""
    description = {"seeds": _seeds_of(urls, seeds_file), **tables}
    if bootstrap is None:
        return description
    from bitrawl.job import BootstrapFolder

    return BootstrapFolder(bootstrap).described(description)


def _seeds_of(urls: list[str] | None, file: Path | None) -> list[str] | None:
    """The seeds of the command line and of a file; None when neither has any."""
    for raw in urls or []:
        if "://" not in raw and Path(raw).is_file():
            raise ConfigError(
                f"{raw} is a file; to read seeds from it: --seeds-file {shlex.quote(raw)}. For the site of that name,"
                f" write https://{raw}"
            )
    return [*(urls or []), *(_seeds_in(file) if file else [])] or None


def _seeds_in(path: Path) -> list[str]:
    if str(path) == "-":
        return seeds_from(sys.stdin.buffer.read(), "standard input")
    try:
        return seeds_from(path.read_bytes(), str(path))
    except OSError as error:
        raise ConfigError(f"the seeds cannot be read from {path}: {error.strerror}") from error
