"""`bitrawl status` and `bitrawl log`: what a job has done, while it runs or after."""

import datetime as dt
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.text import Text

from bitrawl.cli.console import duration, out, size
from bitrawl.report.wording import ADVICE
from bitrawl.store.ledger import Ledger
from bitrawl.store.summary import Summary, summarise
from bitrawl.store.summary import log as fetches

Folder = Annotated[Path, typer.Argument(help="The job's folder, as given to --out.", metavar="DIR")]


class Format(StrEnum):
    """For people or for programs."""

    TABLE = "table"
    JSONL = "jsonl"


class StatusFormat(StrEnum):
    """For people or for programs."""

    TABLE = "table"
    JSON = "json"


def status(
    folder: Folder,
    *,
    style: Annotated[
        StatusFormat, typer.Option("--format", help="table for people, json for programs.")
    ] = StatusFormat.TABLE,
) -> None:
    """Show how far a job is: pages, languages, queue, and why links were skipped.

    Example: [bold]bitrawl status jobs/example[/]
    """
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    summary = summarise(ledger)
    ledger.close()
    if style is StatusFormat.JSON:
        typer.echo(msgspec.json.encode(summary).decode())
    else:
        show(summary, folder)


def show(summary: Summary, folder: Path) -> None:
    """The summary for a person."""
    state = summary.ended or "running, or ended without a word (the same command resumes)"
    if summary.mining:
        killed = "or ended without a word (the same command resumes)"
        crawled = f", the crawl is over: {summary.ended}" if summary.ended else ", the crawl goes on"
        state = f"mining: {summary.mining}{crawled}; {killed}"
    rows = [
        ("job", f"{folder}: {state}"),
        ("links", f"{summary.links} = {summary.pages} pages + {summary.skipped} skipped + {summary.queued} queued"),
        ("fetched", f"{summary.fetches} answers, {size(summary.bytes)}, in {duration(summary.seconds)}"),
        (
            "languages",
            "   ".join(f"{name} {count}" for name, count in list(summary.languages.items())[:12]) or "none yet",
        ),
    ]
    rows += [("hosts" if n == 0 else "", _host(host)) for n, host in enumerate(summary.hosts[:5])]
    rows += [
        ("skipped" if n == 0 else "", f"{count:>6}  {why}") for n, (why, count) in enumerate(summary.skips.items())
    ]
    for label, value in rows:
        out.print(Text.assemble((f"{label:<11}", "bold cyan"), value))
    for hint in hints(summary):
        out.print(f"→ {hint}", markup=False)


def hints(summary: Summary) -> list[str]:
    """What to try when a job that has ended found nothing."""
    if summary.pages or not summary.ended:
        return []
    reasons = [why.rpartition(" ")[2] for why in summary.skips]
    found = [f"{reason}: {ADVICE[reason]}" for reason in reasons if reason in ADVICE]
    return found or ["Look at the log for what the hosts answered."]


def _host(host: object) -> str:
    name, fetched, pages, seconds = msgspec.structs.astuple(host)  # type: ignore[arg-type]
    return f"{name}  {pages} pages of {fetched} fetches, {seconds * 1000:.0f} ms each"


def log(
    folder: Folder,
    *,
    style: Annotated[Format, typer.Option("--format", help="table for people, jsonl for programs.")] = Format.TABLE,
    after: Annotated[int, typer.Option(help="Only fetches with a greater number than this.")] = 0,
) -> None:
    """List the fetches in the order in which they were made.

    Example: [bold]bitrawl log jobs/example --format jsonl | head[/]
    """
    ledger = Ledger(folder / "job.sqlite", read_only=True)
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
