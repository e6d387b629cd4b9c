"""`bitrawl mine`: the whole job, from a site to a corpus."""

from typing import Any

import typer

from bitrawl.cli.crawl import Bootstrap, DryRun, Fresh, JobFile, Out, Quiet
from bitrawl.cli.flags import Seeds, SeedsFile, seeds_of, with_settings
from bitrawl.cli.foreground import Foreground, leave
from bitrawl.cli.help import HelpfulCommand
from bitrawl.cli.previews import show_previews
from bitrawl.cli.progress import Progress
from bitrawl.cli.status import show, tell
from bitrawl.jobs.bootstrap import from_bootstrap
from bitrawl.jobs.folder import JobFolder, asked
from bitrawl.jobs.mining import mine as run_mine
from bitrawl.jobs.preview import preview
from bitrawl.jobs.settings import MINE, described

app = typer.Typer(rich_markup_mode="rich", add_completion=False)


@app.command(cls=HelpfulCommand)
@with_settings(MINE)
def mine(  # noqa: PLR0913 - flags; the other flags are in the table
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
    """Crawl sites and write a corpus of what is translated on them.

    Example: [bold]bitrawl mine https://www.example.org/ --langs en,fr --out jobs/example[/]

    The corpus grows while the crawl runs. One language makes a monolingual corpus. The same command resumes.
    """
    folder = JobFolder(out)
    given = {"seeds": seeds_of(seeds, seeds_file), **described(settings, MINE)}
    if bootstrap is not None:
        given = from_bootstrap(bootstrap, given)
    job = asked(given, folder, file=job_file, fresh=fresh)
    foreground = Foreground(Progress(folder, quiet=quiet))
    if dry_run:
        show_previews(foreground.run(lambda: preview(job)), job)
        return
    progress = foreground.progress
    ending = foreground.run(
        lambda: run_mine(
            job, folder, observe=progress.visited, started=foreground.started, watch=progress.mining, fresh=fresh
        )
    )
    if not quiet:
        show(folder, advise=False)
        tell(folder)
    leave(ending)
