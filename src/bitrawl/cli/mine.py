"""`bitrawl mine`: the whole job, from a site to a corpus."""

from pathlib import Path
from typing import Any

import typer

from bitrawl.cli.console import err
from bitrawl.cli.crawl import Bootstrap, DryRun, Fresh, JobFile, Out, Quiet
from bitrawl.cli.flags import Seeds, SeedsFile, SitesFile, seeds_of, with_settings
from bitrawl.cli.foreground import Foreground, leave
from bitrawl.cli.help import HelpfulCommand
from bitrawl.cli.previews import show_previews
from bitrawl.cli.progress import Progress
from bitrawl.cli.status import show, tell
from bitrawl.discover.sites_file import read_sites
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
    sites: SitesFile = None,
    job_file: JobFile = None,
    bootstrap: Bootstrap = None,
    fresh: Fresh = False,
    dry_run: DryRun = False,
    quiet: Quiet = False,
    **settings: Any,
) -> None:
    """Crawl sites and write a corpus of what is translated on them.

    Example: [bold]bitrawl mine https://www.example.org/ --langs en,fr --out jobs/example[/]

    Many sites, as [bold]bitrawl discover[/] found them: [bold]bitrawl mine --sites found/sites.txt --langs en,fr --out jobs/found[/]

    The corpus grows while the crawl runs. One language makes a monolingual corpus. The same command resumes.
    """
    folder = JobFolder(out)
    started_from = seeds_of([*(seeds or []), *_listed(sites, quiet=quiet)], seeds_file)
    given = {"seeds": started_from, **described(settings, MINE)}
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


def _listed(path: Path | None, *, quiet: bool) -> list[str]:
    """The seeds of a list of sites."""
    if path is None:
        return []
    listed = read_sites(path)
    if not quiet:
        left_out = f"; {listed.left_out} rows that are not bilingual are left out" if listed.left_out else ""
        err.print(f"{path}: {listed.sites} site{'s' * (listed.sites != 1)}{left_out}.", markup=False)
    return listed.seeds
