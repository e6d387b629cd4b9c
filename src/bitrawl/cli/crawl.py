"""`bitrawl crawl`: visit sites and keep their pages."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bitrawl.cli.flags import Seeds, SeedsFile, seeds_of, with_settings
from bitrawl.cli.foreground import Foreground, leave
from bitrawl.cli.help import HelpfulCommand
from bitrawl.cli.previews import show_previews
from bitrawl.cli.progress import Progress
from bitrawl.cli.status import show, tell_of_kills
from bitrawl.config.settings import CRAWL, Group, described
from bitrawl.job.bootstrapping import from_bootstrap
from bitrawl.job.crawl_wiring import described_job
from bitrawl.job.folder import JobFolder
from bitrawl.job.running import crawl as run_crawl
from bitrawl.job.running import preview

app = typer.Typer(rich_markup_mode="rich", add_completion=False)

Out = Annotated[
    Path,
    typer.Option(
        help="Keep the job in this folder. The same folder resumes.", metavar="DIR", rich_help_panel=Group.JOB
    ),
]
JobFile = Annotated[
    Path | None,
    typer.Option("--job", help="Read a TOML job file. Flags override it.", metavar="FILE", rich_help_panel=Group.JOB),
]
Bootstrap = Annotated[
    Path | None,
    typer.Option(
        help="Take the topic and the seeds of this folder, made by bitrawl bootstrap.",
        metavar="DIR",
        rich_help_panel=Group.TOPIC,
    ),
]
Fresh = Annotated[
    bool,
    typer.Option("--fresh", help="Delete what the folder holds and start over.", rich_help_panel=Group.JOB),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Show what would be done: ask each seed's host for its rules, the seed and a sitemap, and stop.",
        rich_help_panel=Group.JOB,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.", rich_help_panel=Group.JOB)]


@app.command(cls=HelpfulCommand)
@with_settings(CRAWL)
def crawl(  # noqa: PLR0913 - flags; the other flags are in the table
    seeds: Seeds = None,
    *,
    out: Out,
    seeds_file: SeedsFile = None,
    job_file: JobFile = None,
    bootstrap: Bootstrap = None,
    fresh: Fresh = False,
    dry_run: DryRun = False,
    quiet: Quiet = False,
    **settings: Any,
) -> None:
    """Visit sites and keep their pages.

    Example: [bold]bitrawl crawl https://www.example.org/ --langs en,fr --out jobs/example[/]

    Press Ctrl-C once to finish the pages that are being fetched, twice to stop at once. The same command resumes.
    """
    folder = JobFolder(out)
    given = {"seeds": seeds_of(seeds, seeds_file), **described(settings, CRAWL)}
    if bootstrap is not None:
        given = from_bootstrap(bootstrap, given)
    job = described_job(given, folder, file=job_file, fresh=fresh)
    foreground = Foreground(Progress(folder, quiet=quiet))
    if dry_run:
        show_previews(foreground.run(lambda: preview(job)), job)
        return
    ending = foreground.run(
        lambda: run_crawl(job, folder, observe=foreground.progress.visited, started=foreground.started, fresh=fresh)
    )
    if not quiet:
        show(folder)
    tell_of_kills(folder)
    leave(ending, quiet_in=folder if quiet else None)
