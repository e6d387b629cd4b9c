"""A job and its stages: `bitrawl mine`, `crawl`, `pair` and `export`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from bitrawl.cli.console import print_err, print_out, timed_lines
from bitrawl.cli.flags import (
    Bootstrap,
    CorpusFolder,
    DeleteArchive,
    DryRun,
    Folder,
    Fresh,
    JobFile,
    Out,
    OutOrPlace,
    Quiet,
    Refresh,
    Seeds,
    SeedsFile,
    confirm,
    job_option,
    seeds_of,
    starting_over,
    with_settings,
)
from bitrawl.cli.many_sites import (
    BundleSites,
    Bundling,
    Cluster,
    Part,
    RetryFailed,
    Scratch,
    mine_many,
    show_merged,
)
from bitrawl.cli.status import show, show_selection, tell, tell_of_kills
from bitrawl.config import Job
from bitrawl.config.settings import CRAWL, MINE, Group, described
from bitrawl.discover.site_lists import read_sites
from bitrawl.errors import ConfigError
from bitrawl.file_names import MERGED
from bitrawl.show.wording import counted
from bitrawl.store.folder_kinds import FolderKind, kind_of, no_corpus_of_search, no_job

if TYPE_CHECKING:
    from bitrawl.store.folder import JobFolder

_SITES_HELP = (
    "Mine the sites of this list: hosts or URLs, one per line, or a table, JSON lines or Parquet with a column site."
)


@with_settings(MINE)
def mine(  # noqa: PLR0913 - flags; the other flags are in the table
    seeds: Seeds = None,
    *,
    out: OutOrPlace,
    seeds_file: SeedsFile = None,
    sites: Annotated[Path | None, job_option("--sites", help=_SITES_HELP, metavar="FILE")] = None,
    job_file: JobFile = None,
    bootstrap: Bootstrap = None,
    fresh: Fresh = False,
    delete_archive: DeleteArchive = False,
    refresh: Refresh = False,
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
    from bitrawl.cli.foreground import Foreground, leave, show_previews
    from bitrawl.cluster.run import asked_job, check_undivided
    from bitrawl.job.crawl_wiring import described_job
    from bitrawl.job.running import preview
    from bitrawl.store.folder import JobFolder

    start_over = starting_over(fresh=fresh, delete_archive=delete_archive, refresh=refresh)
    inputs = (seeds_file, sites, bootstrap)
    bundling = Bundling(cluster, part, bundle_sites, scratch, retry_failed=retry_failed or None, refresh=refresh)
    if sites or bundling.is_given:
        bundling = bundling._replace(workers=settings.pop("workers"))
    urls = [*(seeds or []), *_listed_sites(sites, quiet=quiet or bundling.is_given)]
    description = {"seeds": seeds_of(urls, seeds_file), **described(settings, MINE)}
    if bootstrap is not None:
        from bitrawl.job.bootstrapping import from_bootstrap

        description = from_bootstrap(bootstrap, description)
    if bundling.is_given:
        job = asked_job(description, job_file)
        _check_bundling(sites, job, bundling, dry_run=dry_run)
        mine_many(job, out, bundling, inputs=inputs, fresh=start_over, quiet=quiet)
        return
    check_undivided(out)
    folder = JobFolder(Path(out))
    job = described_job(description, folder, file=job_file, inputs=inputs, fresh=start_over)
    foreground = Foreground(folder, quiet=quiet, mines=True)
    if dry_run:
        show_previews(foreground.run(lambda: preview(job)), job)
        return
    if folder.holds_job:
        confirm(out, start_over)
    ending = foreground.run(lambda: foreground.mine(job, folder, fresh=start_over, refresh=refresh))
    if not quiet:
        tell(folder, ended=True)
    tell_of_kills(folder)
    leave(ending, quiet_in=folder if quiet else None)


def _check_bundling(sites: Path | None, job: Job, bundling: Bundling, *, dry_run: bool) -> None:
    if sites is None and not job.warc:
        raise ConfigError(
            "--cluster, --part, --bundle-sites, --scratch and --retry-failed are for a list of sites (--sites) or WARC files"
            " (--warc); name one of them"
        )
    if dry_run:
        raise ConfigError("--dry-run shows what one process would do; leave out --workers, --cluster and --part")
    if bundling.refresh:
        from bitrawl.job.refreshing import check_refresh

        check_refresh(job)
        if bundling.retry_failed:
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
    seeds: Seeds = None,
    *,
    out: Out,
    seeds_file: SeedsFile = None,
    job_file: JobFile = None,
    bootstrap: Bootstrap = None,
    fresh: Fresh = False,
    delete_archive: DeleteArchive = False,
    refresh: Refresh = False,
    dry_run: DryRun = False,
    quiet: Quiet = False,
    **settings: Any,
) -> None:
    """Visit sites and keep their pages.

    Example: [bold]bitrawl crawl https://www.example.org/ --langs en,fr --out jobs/example[/]

    Press Ctrl-C once to finish the pages that are being fetched, twice to stop at once. The same command resumes.
    """
    from bitrawl.cli.foreground import Foreground, leave, show_previews
    from bitrawl.job.crawl_wiring import described_job
    from bitrawl.job.running import crawl as run_crawl
    from bitrawl.job.running import preview
    from bitrawl.store.folder import JobFolder

    folder = JobFolder(out)
    description = {"seeds": seeds_of(seeds, seeds_file), **described(settings, CRAWL)}
    if bootstrap is not None:
        from bitrawl.job.bootstrapping import from_bootstrap

        description = from_bootstrap(bootstrap, description)
    start_over = starting_over(fresh=fresh, delete_archive=delete_archive, refresh=refresh)
    job = described_job(description, folder, file=job_file, inputs=(seeds_file, bootstrap), fresh=start_over)
    foreground = Foreground(folder, quiet=quiet)
    watch, started = foreground.progress.visited, foreground.started
    if dry_run:
        show_previews(foreground.run(lambda: preview(job)), job)
        return
    if folder.holds_job:
        confirm(out, start_over)
    ending = foreground.run(
        lambda: run_crawl(job, folder, observe=watch, started=started, fresh=start_over, refresh=refresh)
    )
    if not quiet:
        show(folder)
    tell_of_kills(folder)
    leave(ending, quiet_in=folder if quiet else None)


@with_settings([Group.PAIRS])
def pair(folder: Folder, **settings: Any) -> None:
    """Pair and align the pages of a job again, with other settings.

    Example: [bold]bitrawl pair jobs/example --methods au[/]

    Nothing is fetched.
    """
    from bitrawl.cli.foreground import mine_in_foreground
    from bitrawl.store.folder import JobFolder

    job_folder = JobFolder(folder)
    mine_in_foreground(job_folder.changed(described(settings, [Group.PAIRS])), job_folder)


_EXPORT_DRY_HELP = "Show how many units would be written and what each threshold leaves out, and write nothing."
_TO_HELP = "Write into this folder and leave the job as it is; it may be running."


@with_settings([Group.CORPUS])
def export(
    folder: CorpusFolder,
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
    from bitrawl.cluster.places import is_run
    from bitrawl.job.running import export as write_again
    from bitrawl.job.running import export_copy
    from bitrawl.store.folder import JobFolder

    given = described(settings, [Group.CORPUS])
    path = Path(folder)
    if is_run(folder) or kind_of(path) is FolderKind.MERGED:
        if dry_run:
            raise ConfigError("--dry-run shows what the thresholds of one job leave out; give the folder of a job")
        _export_merged(folder, given, only=only, to=to)
        return
    if kind_of(path) is FolderKind.SEARCH:
        raise no_corpus_of_search(path)
    if kind_of(path) is FolderKind.COPY:
        raise no_job(path)
    job_folder = JobFolder(path)
    job = job_folder.changed(given)
    if dry_run:
        show_selection(job, job_folder)
        return
    if to is not None:
        if kind_of(to) is FolderKind.COPY:  # its threshold may be that of an earlier command
            print_err(f"All files in {to} are written again with --min-score {job.judge.score:g}.")
        export_copy(job, job_folder, to, only=only)
        print_out(f"{'corpus':<11}{to}")
        return
    _warn_of_thresholds(given, job_folder)
    write_again(job_folder, given, only=only)
    tell(job_folder)


def _warn_of_thresholds(given: Mapping[str, Any], folder: JobFolder) -> None:
    """Before the files that are there get smaller or larger, and the setting of the job another one."""
    before = folder.job()
    scores = before.judge.score, given.get("judge", {}).get("score", before.judge.score)
    accepted = given.get("export", {}).get("accepted_only", before.export.accepted_only)
    changes = [f"--min-score {scores[1]:g} (it was {scores[0]:g})"] if scores[0] != scores[1] else []
    if accepted != before.export.accepted_only:
        changes.append("only what a person accepted" if accepted else "also what no person has judged")
    hidden = given.get("export", {}).get("anonymise", before.export.anonymise)
    if hidden != before.export.anonymise:
        changes.append(f"--anonymise {hidden} (it was {before.export.anonymise})")
    if changes:
        print_err(
            f"All files in {folder.corpus} are written again with {' and '.join(changes)}, which the job keeps;"
            " to leave them as they are and write a copy, use --to DIR."
        )


def _export_merged(address: str, given: Mapping[str, Any], *, only: bool, to: Path | None) -> None:
    from bitrawl.cluster.places import is_run
    from bitrawl.cluster.run import merge_run
    from bitrawl.job.exporting import selecting
    from bitrawl.job.job_merge import merge_again

    path, lines = Path(address), timed_lines()
    is_bundled = is_run(address)
    where = f"{address.rstrip('/')}/{MERGED}" if is_bundled else address
    if to is None and selecting(given):
        print_err(
            f"All files in {where}/corpus are written again with the threshold, which the corpus keeps; to leave them as they"
            " are and write a copy, use --to DIR."
        )
    facts = (
        merge_run(address, given, lines, only=only, to=to)
        if is_bundled
        else merge_again(path, given, only=only, to=to, tell=lines)
    )
    if to is None:
        show_merged(facts, where)
    else:
        print_out(f"{'corpus':<11}{to}")
