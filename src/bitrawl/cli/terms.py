"""`bitrawl terms`: the bilingual terms of a corpus."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from bitrawl.cli.console import err
from bitrawl.cli.flags import Folder
from bitrawl.cli.help import HelpfulCommand
from bitrawl.corpus.term_pairs import TermFormat
from bitrawl.errors import ConfigError
from bitrawl.files import replacing
from bitrawl.job.terms import MIN_SCORE, MOST_TERMS, bilingual_terms, write

app = typer.Typer(rich_markup_mode="rich", add_completion=False)


@app.command(cls=HelpfulCommand)
def terms(
    folder: Folder,
    *,
    style: Annotated[
        TermFormat, typer.Option("--format", help="TSV, CSV for spreadsheets, TBX for term bases, or JSON lines.")
    ] = TermFormat.TSV,
    languages: Annotated[
        str,
        typer.Option(help="The language pair, if the job has several.", metavar="CODES", show_default="the only one"),
    ] = "",
    min_score: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Leave out pairs that score less.", metavar="SCORE")
    ] = MIN_SCORE,
    most: Annotated[int, typer.Option(min=1, help="Write at most this many pairs.", metavar="N")] = MOST_TERMS,
    target: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Write to this file.", metavar="FILE", show_default="standard output"),
    ] = None,
) -> None:
    """List the terms of a corpus with their translations, and examples of both.

    Example: [bold]bitrawl terms jobs/example --format tbx --output terms.tbx[/]

    The most typical terms come first. The score from 0 to 1 says how likely it is that two terms are translations.
    """
    found = bilingual_terms(
        folder, languages, most, min_score=min_score, tell=lambda line: err.print(line, markup=False)
    )
    if not found:
        raise ConfigError(
            f"{folder} has no terms that score {min_score:g}: both must be in at least three segments;"
            " lower --min-score, or crawl more pages"
        )
    content = write(found, style)
    if target is None:
        sys.stdout.buffer.write(content)
    else:
        with replacing(target) as file:
            file.write(content)
    pairs = "1 pair" if len(found) == 1 else f"{len(found):,} pairs"
    err.print(f"{pairs} of terms{f': {target}' if target else ''}", markup=False)
