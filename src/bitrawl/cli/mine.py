"""`bitrawl mine`: the whole job, from a site to a corpus."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bitrawl.cli.console import err
from bitrawl.cli.crawl import Bootstrap, DryRun, Fresh, JobFile, Quiet
from bitrawl.cli.flags import Seeds, SeedsFile, SitesFile, seeds_of, with_settings
from bitrawl.cli.foreground import Foreground, leave
from bitrawl.cli.help import HelpfulCommand
from bitrawl.cli.many_sites import BundleSites, Cluster, Many, Part, RetryFailed, Scratch, mine_many
from bitrawl.cli.previews import show_previews
from bitrawl.cli.progress import Progress
from bitrawl.cli.status import show, tell, tell_of_kills
from bitrawl.cluster.run import asked_job, check_undivided
from bitrawl.config import Job
from bitrawl.config.settings import MINE, Group, described
from bitrawl.discover.site_lists import read_sites
from bitrawl.errors import ConfigError
from bitrawl.job.bootstrapping import from_bootstrap
from bitrawl.job.crawl_wiring import described_job
from bitrawl.job.folder import JobFolder
from bitrawl.job.running import mine as run_mine
from bitrawl.job.running import preview

app = typer.Typer(rich_markup_mode="rich", add_completion=False)

Out = Annotated[
    str,
    typer.Option(
        help="Keep the job in this folder. The same folder resumes.", metavar="DIR", rich_help_panel=Group.JOB
    ),
]


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
    cluster: Cluster = None,
    part: Part = None,
    bundle_sites: BundleSites = None,
    scratch: Scratch = None,
    retry_failed: RetryFailed = False,
    **settings: Any,
) -> None:
    """Crawl sites and write a corpus of what is translated on them.

    Example: [bold]bitrawl mine https://www.example.org/ --langs en,fr --out jobs/example[/]

    Many sites, as [bold]bitrawl discover[/] found them: [bold]bitrawl mine --sites found/sites.txt --langs en,fr --out jobs/found[/]

    The same in several processes, or on a cluster: [bold]bitrawl mine --sites sites.txt --langs en,fr --out jobs/many --workers 8[/]

    The corpus grows while the crawl runs. One language makes a monolingual corpus. The same command resumes.
    """
    many = Many(cluster, part, bundle_sites, scratch, retry_failed=retry_failed or None)
    if sites or many.is_asked:
        many = many._replace(workers=settings.pop("workers"))
    folder = JobFolder(Path(out))
    started_from = seeds_of([*(seeds or []), *_listed(sites, quiet=quiet or many.is_asked)], seeds_file)
    given = {"seeds": started_from, **described(settings, MINE)}
    if bootstrap is not None:
        given = from_bootstrap(bootstrap, given)
    if many.is_asked:
        divided = asked_job(given, job_file)
        _check_many(sites, divided, dry_run=dry_run)
        mine_many(divided, out, many, fresh=fresh, quiet=quiet)
        return
    check_undivided(out)
    job = described_job(given, folder, file=job_file, fresh=fresh)
    foreground = Foreground(Progress(folder, quiet=quiet), mines=True)
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
    tell_of_kills(folder)
    leave(ending, quiet_in=folder if quiet else None)


def _check_many(sites: Path | None, job: Job, *, dry_run: bool) -> None:
    if sites is None and not job.warc:
        raise ConfigError(
            "--cluster, --part, --bundle-sites, --scratch and --retry-failed are for a list of sites (--sites) or WARC files"
            " (--warc); name one of them"
        )
    if dry_run:
        raise ConfigError("--dry-run shows what one process would do; leave out --workers, --cluster and --part")


def _listed(path: Path | None, *, quiet: bool) -> list[str]:
    """The seeds of a list of sites."""
    if path is None:
        return []
    listed = read_sites(path)
    if not quiet:
        left_out = f"; {listed.left_out} rows that are not bilingual are left out" if listed.left_out else ""
        err.print(f"{path}: {listed.sites} site{'s' * (listed.sites != 1)}{left_out}.", markup=False)
    return listed.seeds
