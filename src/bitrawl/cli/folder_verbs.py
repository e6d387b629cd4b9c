"""Verbs that read a job's folder and load little: `bitrawl log`, `sample`, `terms`, `tune` and `sql`."""

from __future__ import annotations

import csv
import datetime as dt
import shlex
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.table import Table
from rich.text import Text
from typer import Argument, Option

from bitrawl.arguments import TERM_PAIR_SCORE, TERM_PAIRS
from bitrawl.cli.console import out, print_err, print_out, size
from bitrawl.cli.flags import CorpusFolder, Folder, TableFormat
from bitrawl.config import described
from bitrawl.corpus import TermFormat
from bitrawl.errors import ConfigError
from bitrawl.files import cell, replacing

if TYPE_CHECKING:
    from bitrawl.corpus import CorpusPage, CorpusParagraph, CorpusUnit, TermPair

SHOWN_TERMS = 25  # as many as a terminal shows at once
AnswerFormat = StrEnum("AnswerFormat", ["TABLE", "CSV", "JSONL"])
SampleFormat = StrEnum("SampleFormat", ["TEXT", "TSV", "JSONL"])


def log(
    folder: Folder,
    *,
    style: Annotated[
        TableFormat, Option("--format", help="Print a table, or JSON lines for programs.")
    ] = TableFormat.TABLE,
    after: Annotated[int, Option(help="Print only fetches with a higher number than this.")] = 0,
) -> None:
    """List the fetches of a job in the order in which they were made.

    Example: [bold]bitrawl log jobs/example --format jsonl | head[/]
    """
    from bitrawl.job import OpenedJob

    for line in OpenedJob(folder).log(after=after):
        if style is TableFormat.JSONL:
            typer.echo(msgspec.json.encode(line).decode())
        else:
            at = dt.datetime.fromtimestamp(line.at, tz=dt.UTC).strftime("%H:%M:%S")
            verdict = line.language if line.outcome == "page" else line.outcome
            typer.echo(
                f"{line.seq:>6}  {at}  {line.status or '—':>3}  {size(line.bytes):>9}  {line.kind:<9}  "
                f"{line.score:.2f}  {verdict or 'und':<14}  {line.url}"
            )


def sample(
    folder: CorpusFolder,
    *,
    size: Annotated[int, Option("-n", "--size", min=1, help="Print this many units.", metavar="N")] = 50,
    seed: Annotated[int, Option(help="Choose other units with another number.", metavar="N")] = 0,
    style: Annotated[SampleFormat, Option("--format", help="Print text, TSV or JSON lines.")] = SampleFormat.TEXT,
) -> None:
    """Print some units of a corpus, to read.

    Example: [bold]bitrawl sample jobs/example -n 50[/]

    The sample is spread evenly over sites and scores. The same command prints the same units. For a corpus in one language,
    it prints paragraphs.
    """
    from bitrawl.cluster.places import open_address

    units, paragraphs = open_address(folder).sample_texts(size, seed=seed)
    for unit in units:
        _print_unit(unit, style)
    for page, paragraph in paragraphs:
        _print_paragraph(page, paragraph, style)
    if not units and not paragraphs:
        print_err(f"The corpus of {folder} is empty. To see why, run: bitrawl status {shlex.quote(folder)}")


def _print_unit(unit: CorpusUnit, style: SampleFormat) -> None:
    if style is SampleFormat.JSONL:
        line = {"score": unit.score, "text_a": unit.text_a, "text_b": unit.text_b, "flags": unit.flags}
        typer.echo(msgspec.json.encode(line | {"url_a": unit.url_a, "url_b": unit.url_b}).decode())
    elif style is SampleFormat.TSV:
        texts = (cell(" ".join(text.split())) for text in (unit.text_a, unit.text_b))
        typer.echo("\t".join((f"{unit.score:.3f}", *texts)))
    else:
        flags = f"  [{', '.join(unit.flags)}]" if unit.flags else ""
        out.print(Text(f"{unit.score:.3f}  {unit.url_a}  {unit.url_b}{flags}", style="dim"))
        out.print(Text(f"       {unit.text_a}\n       {unit.text_b}\n"))


def _print_paragraph(page: CorpusPage, paragraph: CorpusParagraph, style: SampleFormat) -> None:
    if style is SampleFormat.JSONL:
        line = {"url": page.url, "kind": paragraph.kind, "text": paragraph.text}
        typer.echo(msgspec.json.encode(line).decode())
    elif style is SampleFormat.TSV:
        typer.echo("\t".join((page.url, cell(" ".join(paragraph.text.split())))))
    else:
        out.print(Text(page.url, style="dim"))
        out.print(Text(f"       {paragraph.text}\n"))


def terms(
    folder: CorpusFolder,
    *,
    style: Annotated[
        TermFormat | None,
        Option(
            "--format",
            help="TSV, CSV for spreadsheets, TBX for term bases, or JSON lines.",
            show_default="a short table at a terminal, TSV elsewhere",
        ),
    ] = None,
    languages: Annotated[
        str, Option(help="The language pair, if the job has several.", metavar="CODES", show_default="the only one")
    ] = "",
    min_score: Annotated[
        float, Option(min=0.0, max=1.0, help="Leave out pairs that score less.", metavar="SCORE")
    ] = TERM_PAIR_SCORE,
    most: Annotated[
        int | None, Option(min=1, help="Write at most this many pairs.", metavar="N", show_default=str(TERM_PAIRS))
    ] = None,
    target: Annotated[
        Path | None,
        Option("-o", "--output", help="Write to this file.", metavar="FILE", show_default="standard output"),
    ] = None,
) -> None:
    """List the terms of a corpus with their translations, and examples of both.

    Example: [bold]bitrawl terms jobs/example --format tbx --output terms.tbx[/]

    The most typical terms come first. The score from 0 to 1 says how likely it is that two terms are translations.
    """
    from bitrawl.cluster.places import open_address
    from bitrawl.corpus import TermPair

    opened = open_address(folder)
    pairs = opened.term_pairs(languages, most or TERM_PAIRS, min_score=min_score, tell=print_err)
    if not pairs and style is not TermFormat.JSONL:  # for a program an empty list is an answer
        raise ConfigError(
            f"{folder} has no terms that score at least {min_score:g}: both must be in at least three segments;"
            " lower --min-score, or crawl more pages"
        )
    if target is None and style is None and out.is_terminal:
        _print_terms(pairs, most or SHOWN_TERMS, folder)
        return
    content = TermPair.as_file(pairs, style or TermFormat.TSV)
    if target is None:
        sys.stdout.buffer.write(content)
    else:
        with replacing(target) as file:
            file.write(content)
    count = "1 pair" if len(pairs) == 1 else f"{len(pairs):,} pairs"
    print_err(f"{count} of terms{f': {target}' if target else ''}")


def _print_terms(pairs: Sequence[TermPair], most: int, folder: str) -> None:
    table = Table(box=None, pad_edge=False)
    for language in (pairs[0].lang_a, pairs[0].lang_b):
        table.add_column(language, overflow="fold")
    for name in ("score", "count"):
        table.add_column(name, justify="right")
    for pair in pairs[:most]:
        table.add_row(Text(pair.term_a), Text(pair.term_b), f"{pair.score:.2f}", str(pair.count_together))
    out.print(table)
    left = f"{len(pairs) - most:,} more, and examples of all" if len(pairs) > most else "examples of all"
    print_err(f"For {left}: bitrawl terms {shlex.quote(folder)} --output terms.tsv")


def tune(
    folder: Folder,
    *,
    buckets: Annotated[
        str | None, Option(help="Put the boundaries at these two perplexities: 100,5000", metavar="TWO")
    ] = None,
) -> None:
    """Move the boundaries of a crawl by perplexity, even while it runs.

    Example: [bold]bitrawl tune jobs/example --buckets 100,5000[/]

    Links of pages below the first boundary come first, then those below the second. Without --buckets, the command shows
    how many pages of the job are in each bucket, and proposes boundaries: run a short crawl first.
    """
    from bitrawl.job import OpenedJob

    job = OpenedJob(folder)
    if buckets is not None:
        job.tune(described({"buckets": buckets}))
    now = job.buckets()
    limits = (*(f"up to {limit:g}" for limit in now.boundaries), "beyond")
    for name, limit, count in zip(("HIGH", "MEDIUM", "NORMAL"), limits, now.counts, strict=True):
        print_out(f"{name:<8}{limit:<14}{count:>7} page{'' if count == 1 else 's'}")
    if now.proposed != now.boundaries:
        proposed = ",".join(f"{boundary:.4g}" for boundary in now.proposed)
        print_out(f"Judging by the pages so far, these boundaries would fit: --buckets {proposed}")


def sql(
    folder: Folder,
    question: Annotated[str, Argument(help="One SELECT statement.", metavar="SQL", show_default=False)],
    *,
    style: Annotated[AnswerFormat, Option("--format", help="Print a table, CSV or JSON lines.")] = AnswerFormat.TABLE,
) -> None:
    """Ask a job in SQL. Nothing can be changed.

    Example: [bold]bitrawl sql jobs/example "SELECT reason, count(*) FROM skips GROUP BY 1"[/]

    The tables are pages, page_pairs, units, skips, verdicts and rounds. docs/how-to/sql.md has their columns.
    """
    from bitrawl.job import asked

    with asked(folder, question) as (columns, rows):
        match style:
            case AnswerFormat.CSV:
                csv.writer(sys.stdout, lineterminator="\n").writerows((columns, *map(_cell_texts, rows)))
            case AnswerFormat.JSONL:
                for row in rows:
                    typer.echo(msgspec.json.encode(dict(zip(columns, row, strict=True))).decode())
            case AnswerFormat.TABLE:
                table = Table(box=None, pad_edge=False)
                for name in columns:
                    table.add_column(name, overflow="fold")
                for row in rows:
                    table.add_row(*map(Text, _cell_texts(row)))
                out.print(table)


def _cell_texts(row: tuple[object, ...]) -> list[str]:
    return ["" if value is None else value.hex() if isinstance(value, bytes) else str(value) for value in row]
