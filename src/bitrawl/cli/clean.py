"""`bitrawl clean`: the main text of pages, apart from any job."""

import asyncio
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from bitrawl.cli.console import complain
from bitrawl.cli.help import HelpfulCommand
from bitrawl.corpus.plain_text import markdown
from bitrawl.job.fetching import FetchPolicy
from bitrawl.job.pages import loose_pages
from bitrawl.model import Page, Skip

app = typer.Typer(rich_markup_mode="rich", add_completion=False)


class Format(StrEnum):
    """For people or for programs."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSONL = "jsonl"


@app.command(cls=HelpfulCommand)
def clean(
    sources: Annotated[
        list[str],
        typer.Argument(
            help="Files, folders of HTML files, job folders or URLs; - reads standard input.", metavar="FILE|DIR|URL"
        ),
    ],
    *,
    style: Annotated[
        Format,
        typer.Option(
            "--format",
            help="Print the main text, plain or as Markdown, or every paragraph with its label as JSON lines.",
        ),
    ] = Format.TEXT,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Visit private and loopback addresses.")
    ] = False,
) -> None:
    """Print the main text of pages, or every paragraph with its label.

    Example: [bold]bitrawl clean page.html[/], or [bold]bitrawl clean --format jsonl https://www.example.org/[/]

    The pages of a folder are taken for one site: what recurs on them is template. A job's folder gives the pages of the job.
    """
    failed = asyncio.run(_clean(sources, style, FetchPolicy(allow_private=allow_private)))
    if failed:
        raise typer.Exit(1)


async def _clean(sources: list[str], style: Format, policy: FetchPolicy) -> int:
    failed = 0
    several = len(sources) > 1 or Path(sources[0]).is_dir()
    async for source, page in loose_pages(sources, sys.stdin.buffer, policy=policy):
        if isinstance(page, Skip):
            complain(f"{source}: {page.reason}{f' ({page.detail})' if page.detail else ''}")
            failed += 1
        elif style is Format.JSONL:
            _print_paragraphs(source, page)
        else:
            if several:
                typer.echo(f"==> {source}")
            text = "\n".join(p.text for p in page.paragraphs if not p.boilerplate)
            typer.echo(markdown(page).rstrip("\n") if style is Format.MARKDOWN else text)
    return failed


def _print_paragraphs(source: str, page: Page) -> None:
    for paragraph in page.paragraphs:
        line = {"source": source, **msgspec.to_builtins(paragraph)}
        # Defaults are left out of our own files; whoever reads these lines wants each key on each of them.
        line |= {"kind": paragraph.kind, "boilerplate": paragraph.boilerplate, "content": paragraph.content}
        line |= {"language": paragraph.language, "confidence": paragraph.confidence}
        typer.echo(msgspec.json.encode(line).decode())
