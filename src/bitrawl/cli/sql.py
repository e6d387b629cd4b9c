"""`bitrawl sql`: ask a job in SQL, and print the answer."""

from __future__ import annotations

import csv
import sys
from enum import StrEnum
from typing import Annotated

import msgspec
import typer
from rich.table import Table
from rich.text import Text
from typer import Argument, Option

from bitrawl.cli.console import out
from bitrawl.cli.flags import Folder

AnswerFormat = StrEnum("AnswerFormat", ["TABLE", "CSV", "JSONL"])


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
                csv.writer(sys.stdout, lineterminator="\n").writerows((columns, *map(_texts, rows)))
            case AnswerFormat.JSONL:
                for row in rows:
                    typer.echo(msgspec.json.encode(dict(zip(columns, row, strict=True))).decode())
            case AnswerFormat.TABLE:
                table = Table(box=None, pad_edge=False)
                for name in columns:
                    table.add_column(name, overflow="fold")
                for row in rows:
                    table.add_row(*map(Text, _texts(row)))
                out.print(table)


def _texts(row: tuple[object, ...]) -> list[str]:
    return ["" if value is None else value.hex() if isinstance(value, bytes) else str(value) for value in row]
