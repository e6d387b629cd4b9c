"""`bitrawl sample`: some units of a corpus, to read."""

import shlex
from enum import StrEnum
from typing import Annotated

import msgspec
import typer
from rich.text import Text

from bitrawl.cli.console import err, out
from bitrawl.cli.flags import Folder
from bitrawl.cli.help import HelpfulCommand
from bitrawl.corpus.sampling import sampled
from bitrawl.files import cell
from bitrawl.job.exporting import corpus_units
from bitrawl.job.folder import JobFolder
from bitrawl.model import TranslationUnit

app = typer.Typer(rich_markup_mode="rich", add_completion=False)


class Format(StrEnum):
    """For people or for programs."""

    TEXT = "text"
    TSV = "tsv"
    JSONL = "jsonl"


@app.command(cls=HelpfulCommand)
def sample(
    folder: Folder,
    *,
    size: Annotated[int, typer.Option("-n", "--size", min=1, help="Print this many units.", metavar="N")] = 50,
    seed: Annotated[int, typer.Option(help="Choose other units with another number.", metavar="N")] = 0,
    style: Annotated[Format, typer.Option("--format", help="Print text, or TSV or JSON lines.")] = Format.TEXT,
) -> None:
    """Print some units of a corpus, to read.

    Example: [bold]bitrawl sample jobs/example -n 50[/]

    The sample is even over sites and scores. The same command prints the same units.
    """
    where = JobFolder(folder)
    units = (unit for _header, unit in corpus_units(where.job(), where.path))
    chosen = sampled(units, size, seed=seed)
    for unit in chosen:
        _print(unit, style)
    if not chosen:
        err.print(
            f"The corpus of {folder} is empty. To see why, run: bitrawl status {shlex.quote(str(folder))}", markup=False
        )


def _print(unit: TranslationUnit, style: Format) -> None:
    pair = unit.pair
    if style is Format.JSONL:
        line = {"score": pair.score, "text_a": pair.a.text, "text_b": pair.b.text, "flags": pair.flags}
        typer.echo(msgspec.json.encode(line | {"url_a": str(pair.url_a), "url_b": str(pair.url_b)}).decode())
    elif style is Format.TSV:
        texts = (cell(" ".join(text.split())) for text in (pair.a.text, pair.b.text))
        typer.echo("\t".join((f"{pair.score:.3f}", *texts)))
    else:
        flags = f"  [{', '.join(pair.flags)}]" if pair.flags else ""
        out.print(Text(f"{pair.score:.3f}  {pair.url_a}  {pair.url_b}{flags}", style="dim"))
        out.print(Text(f"       {pair.a.text}\n       {pair.b.text}\n"))
