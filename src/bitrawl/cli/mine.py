"""A job and its stages: `bitrawl mine`, `crawl`, `pair` and `export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Option

from bitrawl.cli import flags, many_sites
from bitrawl.cli.console import print_err, print_out, timed_lines
from bitrawl.cli.flags import description_of, job_option, starting_over, with_settings
from bitrawl.cli.many_sites import Bundling, mine_many, show_merged
from bitrawl.cli.status import show_selection, tell
from bitrawl.config import CRAWL, MINE, Group, Job, described
from bitrawl.discover.site_lists import read_sites
from bitrawl.errors import ConfigError
from bitrawl.show import counted

_SITES_HELP = (
    "Mine the sites of this list: hosts or URLs, one per line, or a table, JSON lines or Parquet with a column site."
)


@with_settings(MINE)
def mine(  # noqa: PLR0913 - flags; the other flags are in the table
    seeds: flags.Seeds = None,
    *,
    out: flags.OutOrPlace,
    seeds_file: flags.SeedsFile = None,
    sites: Annotated[Path | None, job_option("--sites", help=_SITES_HELP, metavar="FILE")] = None,
    job_file: flags.JobFile = None,
    bootstrap: flags.Bootstrap = None,
    fresh: flags.Fresh = False,
    delete_archive: flags.DeleteArchive = False,
    refresh: flags.Refresh = False,
    dry_run: flags.DryRun = False,
    quiet: flags.Quiet = False,
    cluster: many_sites.Cluster = None,
    part: many_sites.Part = None,
    bundle_sites: many_sites.BundleSites = None,
    scratch: many_sites.Scratch = None,
    retry_failed: many_sites.RetryFailed = False,
    **settings: Any,
) -> None:
    """Crawl sites and write a corpus of what is translated on them.

    Example: [bold]bitrawl mine https://www.example.org/ --langs en,fr --out jobs/example[/]

    Many sites, as [bold]bitrawl discover[/] found them: [bold]bitrawl mine --sites found/sites.txt --langs en,fr --out jobs/found[/]

    The same in several processes, or on a cluster: [bold]bitrawl mine --sites sites.txt --langs en,fr --out jobs/many --workers 8[/]

    The corpus grows while the crawl runs. One language makes a monolingual corpus. The same command resumes.
    """
    from bitrawl.cli.foreground import Foreground, run_in_foreground
    from bitrawl.cluster.run import asked_job, check_undivided
    from bitrawl.job import OpenedJob, described_job

    start_over = starting_over(fresh=fresh, delete_archive=delete_archive, refresh=refresh)
    inputs = (seeds_file, sites, bootstrap)
    bundling = Bundling(cluster, part, bundle_sites, scratch, retry_failed=retry_failed or None, refresh=refresh)
    if sites or bundling.is_given:
        bundling = bundling._replace(workers=settings.pop("workers"))
    urls = [*(seeds or []), *_listed_sites(sites, quiet=quiet or bundling.is_given)]
    description = description_of(described(settings, MINE), urls, seeds_file, bootstrap)
    if bundling.is_given:
        job = asked_job(description, job_file, refresh=refresh)
        _check_bundling(sites, job, bundling, dry_run=dry_run)
        mine_many(job, out, bundling, inputs=inputs, fresh=start_over, quiet=quiet)
        return
    check_undivided(out)
    folder = OpenedJob(out)
    job = described_job(description, folder.files, file=job_file, inputs=inputs, fresh=start_over)
    run_in_foreground(job, Foreground(folder, quiet=quiet, mines=True), start_over, refresh=refresh, dry_run=dry_run)


def _check_bundling(sites: Path | None, job: Job, bundling: Bundling, *, dry_run: bool) -> None:
    if sites is None and not job.warc:
        raise ConfigError(
            "--cluster, --part, --bundle-sites, --scratch and --retry-failed are for a list of sites (--sites) or WARC files"
            " (--warc); name one of them"
        )
    if dry_run:
        raise ConfigError("--dry-run shows what one process would do; leave out --workers, --cluster and --part")
    if bundling.refresh and bundling.retry_failed:
        raise ConfigError("--refresh tries all sites again, also those that failed; leave out --retry-failed")


def _listed_sites(path: Path | None, *, quiet: bool) -> list[str]:
    if path is None:
        return []
    sites = read_sites(path)
    if not quiet:
        left_out = f"; {counted(sites.left_out, 'row')} left out: not bilingual" if sites.left_out else ""
        print_err(f"{path}: {counted(sites.sites, 'site')}{left_out}.")
    return sites.seeds


@with_settings(CRAWL)
def crawl(  # noqa: PLR0913 - flags; the other flags are in the table
    seeds: flags.Seeds = None,
    *,
    out: flags.Out,
    seeds_file: flags.SeedsFile = None,
    job_file: flags.JobFile = None,
    bootstrap: flags.Bootstrap = None,
    fresh: flags.Fresh = False,
    delete_archive: flags.DeleteArchive = False,
    refresh: flags.Refresh = False,
    dry_run: flags.DryRun = False,
    quiet: flags.Quiet = False,
    **settings: Any,
) -> None:
    """Visit sites and keep their pages.

    Example: [bold]bitrawl crawl https://www.example.org/ --langs en,fr --out jobs/example[/]

    Press Ctrl-C once to finish the pages that are being fetched, twice to stop at once. The same command resumes.
    """
    from bitrawl.cli.foreground import Foreground, run_in_foreground
    from bitrawl.job import OpenedJob, described_job

    folder = OpenedJob(out)
    description = description_of(described(settings, CRAWL), seeds, seeds_file, bootstrap)
    start_over = starting_over(fresh=fresh, delete_archive=delete_archive, refresh=refresh)
    job = described_job(description, folder.files, file=job_file, inputs=(seeds_file, bootstrap), fresh=start_over)
    run_in_foreground(job, Foreground(folder, quiet=quiet), start_over, refresh=refresh, dry_run=dry_run)


@with_settings([Group.PAIRS])
def pair(folder: flags.Folder, **settings: Any) -> None:
    """Pair and align the pages of a job again, with other settings.

    Example: [bold]bitrawl pair jobs/example --methods au[/]

    Nothing is fetched.
    """
    from bitrawl.cli.foreground import mine_in_foreground
    from bitrawl.job import OpenedJob

    mine_in_foreground(OpenedJob(folder), described(settings, [Group.PAIRS]))


_EXPORT_DRY_HELP = "Show how many units would be written and what each threshold leaves out, and write nothing."
_TO_HELP = "Write into this folder and leave the job as it is; it may be running."


@with_settings([Group.CORPUS])
def export(
    folder: flags.CorpusFolder,
    *,
    only: Annotated[
        bool, Option("--only", help="Delete the files of all other formats.", rich_help_panel=Group.CORPUS)
    ] = False,
    to: Annotated[Path | None, Option(help=_TO_HELP, metavar="DIR", rich_help_panel=Group.CORPUS)] = None,
    dry_run: Annotated[bool, Option("--dry-run", help=_EXPORT_DRY_HELP, rich_help_panel=Group.CORPUS)] = False,
    **settings: Any,
) -> None:
    """Write the corpus of a job again, in more formats or with other thresholds.

    Example: [bold]bitrawl export jobs/example --formats moses --min-score 0.9 --to strict[/]

    Example: [bold]bitrawl export jobs/example --anonymise replace --to public[/]

    Nothing is fetched or aligned. Formats that are there already are kept and written again. A threshold applies to
    all files and is kept in the job, unless you write a copy with --to. A merged corpus is merged again from its jobs.
    """
    from bitrawl.cluster.places import open_address
    from bitrawl.job import OpenedJob

    opened, given = open_address(folder), described(settings, [Group.CORPUS])
    if dry_run:
        show_selection(opened, given)
        return
    if warning := opened.replaced(given, to):
        print_err(warning)
    written = opened.export(only=only, to=to, tell=timed_lines(), **settings)
    if to is not None:
        print_out(f"{'corpus':<11}{to}")
    elif isinstance(written, Path):
        tell(OpenedJob(folder))
    else:
        show_merged(written, opened.merged)
