"""`bitrawl log`: the fetches of a job, in order."""

import datetime as dt
from enum import StrEnum
from typing import Annotated

import msgspec
import typer

from bitrawl.cli.console import size
from bitrawl.cli.flags import Folder
from bitrawl.cli.help import HelpfulCommand
from bitrawl.job.folder import JobFolder
from bitrawl.job.ledger_facts import log as fetches

app = typer.Typer(rich_markup_mode="rich", add_completion=False)


class Format(StrEnum):
    """For people or for programs."""

    TABLE = "table"
    JSONL = "jsonl"


@app.command(cls=HelpfulCommand)
def log(
    folder: Folder,
    *,
    style: Annotated[
        Format, typer.Option("--format", help="Print a table, or JSON lines for programs.")
    ] = Format.TABLE,
    after: Annotated[int, typer.Option(help="Print only fetches with a higher number than this.")] = 0,
) -> None:
    """List the fetches of a job in the order in which they were made.

    Example: [bold]bitrawl log jobs/example --format jsonl | head[/]
    """
    ledger = JobFolder(folder).reading()
    for line in fetches(ledger, after=after):
        if style is Format.JSONL:
            typer.echo(msgspec.json.encode(line).decode())
        else:
            at = dt.datetime.fromtimestamp(line.at, tz=dt.UTC).strftime("%H:%M:%S")
            verdict = line.language if line.outcome == "page" else line.outcome
            typer.echo(
                f"{line.seq:>6}  {at}  {line.status or '—':>3}  {size(line.bytes):>9}  {line.kind:<9}  "
                f"{line.score:.2f}  {verdict or 'und':<14}  {line.url}"
            )
    ledger.close()
