"""`bitrawl tune`: the boundaries of a crawl by perplexity, seen and moved."""

from typing import Annotated

import typer

from bitrawl.cli.console import out
from bitrawl.cli.flags import Folder
from bitrawl.cli.help import HelpfulCommand
from bitrawl.config.settings import described
from bitrawl.job.folder import Buckets, JobFolder, buckets_of, tune_job

app = typer.Typer(rich_markup_mode="rich", add_completion=False)


@app.command(cls=HelpfulCommand)
def tune(
    folder: Folder,
    *,
    buckets: Annotated[
        str | None, typer.Option(help="Put the boundaries at these two perplexities: 100,5000", metavar="TWO")
    ] = None,
) -> None:
    """Move the boundaries of a crawl by perplexity, also while it runs.

    Example: [bold]bitrawl tune jobs/example --buckets 100,5000[/]

    Links of pages below the first boundary come first, then those below the second. Without --buckets, the command shows
    how many pages of the job are in each bucket, and proposes boundaries: run a short crawl first.
    """
    where = JobFolder(folder)
    if buckets is not None:
        tune_job(where, described({"buckets": buckets}))
    _show(buckets_of(where))


def _show(found: Buckets) -> None:
    names = ("HIGH", "MEDIUM", "NORMAL")
    limits = (*(f"up to {limit:g}" for limit in found.boundaries), "beyond")
    for name, limit, count in zip(names, limits, found.counts, strict=True):
        out.print(f"{name:<8}{limit:<14}{count:>7} pages", markup=False)
    if found.proposed != found.boundaries:
        proposed = ",".join(f"{one:.4g}" for one in found.proposed)
        out.print(f"By the pages so far, these boundaries would fit: --buckets {proposed}", markup=False)
