"""`bitrawl discover`: find bilingual sites that nobody listed."""

from typing import Annotated, Any

import typer

from bitrawl.cli.console import err
from bitrawl.cli.console import out as console
from bitrawl.cli.crawl import Bootstrap, Fresh, Out, Quiet
from bitrawl.cli.discover_check import check
from bitrawl.cli.discover_graph import app as graph
from bitrawl.cli.flags import Seeds, SeedsFile, seeds_of, with_settings
from bitrawl.cli.foreground import Foreground, leave
from bitrawl.cli.help import HelpfulCommand, HelpfulGroup
from bitrawl.cli.progress import Progress
from bitrawl.config import Job, Walk
from bitrawl.config.settings import DISCOVER, Group, described, listed
from bitrawl.discover.site_lists import SiteVerdict
from bitrawl.job.bootstrapping import from_bootstrap
from bitrawl.job.crawl_wiring import described_job
from bitrawl.job.folder import JobFolder
from bitrawl.job.running import mine as run_mine
from bitrawl.job.site_search import MINED, SEEDS, SITES_TABLE, Discovered, mining_job
from bitrawl.job.site_search import discover as run_discover

SEARCH = "sites"  # the command that a first word stands for that is no command
SHOWN = 20  # sites that are printed; judgement


class SearchByDefault(HelpfulGroup):
    """`bitrawl discover URL …` searches; `bitrawl discover check …` and `… graph …` are commands of their own."""

    by_default = SEARCH

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = [self.by_default, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    name="discover",
    cls=SearchByDefault,
    rich_markup_mode="rich",
    add_completion=False,
    no_args_is_help=True,
    help="Find bilingual sites that nobody listed, check sites, and make link graphs.\n\n"
    "Example: [bold]bitrawl discover https://www.example.org/ --langs en,fr --backlinks graph/ --out found[/]\n\n"
    "[bold]bitrawl discover sites --help[/] lists the flags of the search. The word sites can be left out.",
)

app.command(cls=HelpfulCommand)(check)
app.add_typer(graph)


@app.callback()
def _discover() -> None:
    """One command alone would lose its name."""


@app.command(SEARCH, cls=HelpfulCommand)
@with_settings(DISCOVER)
def sites(  # noqa: PLR0913 - flags; the other flags are in the table
    seeds: Seeds = None,
    *,
    langs: Annotated[
        str | None,
        typer.Option(help="Languages, as ISO 639 or BCP 47 codes: en,fr", metavar="CODES", rich_help_panel=Group.JOB),
    ] = None,
    out: Out,
    seeds_file: SeedsFile = None,
    bootstrap: Bootstrap = None,
    strategy: Annotated[
        Walk | None,
        typer.Option(
            help="Visit sites in this order: by which sites are cited together (cocitation), or as one of the crawlers of Barbosa et al. 2011.",
            show_default="cocitation",
            rich_help_panel=Group.DISCOVERY,
        ),
    ] = None,
    then_mine: Annotated[
        bool,
        typer.Option("--then-mine", help=f"Mine the sites found, into {MINED}/.", rich_help_panel=Group.DISCOVERY),
    ] = False,
    fresh: Fresh = False,
    quiet: Quiet = False,
    **settings: Any,
) -> None:
    """Find bilingual sites, starting from a few sites or from a topic.

    Example: [bold]bitrawl discover https://www.example.org/ --langs en,fr --backlinks graph/ --out found[/]

    The list grows while the search runs: sites.jsonl, sites.tsv, and sites.txt for [bold]bitrawl mine --sites[/]. The same
    command resumes.
    """
    where = JobFolder(out)
    job = _job(where, seeds_of(seeds, seeds_file), langs, strategy, settings, bootstrap, fresh=fresh)
    progress = Progress(where, quiet=quiet)
    foreground = Foreground(progress)

    def found(verdict: SiteVerdict) -> None:
        progress.note(f"found {verdict.site}: {', '.join(verdict.languages)}")

    discovered = foreground.run(
        lambda: run_discover(
            job,
            where,
            observe=progress.visited,
            started=foreground.started,
            found=found,
            tell=progress.note,
            fresh=fresh,
        )
    )
    if not quiet:
        _show(discovered, where)
    if then_mine and discovered.sites:
        _mine(job, discovered, where, quiet=quiet)
    leave(discovered.ending)


def _job(  # noqa: PLR0913 - what the command line gave
    folder: JobFolder,
    seeds: list[str] | None,
    langs: str | None,
    strategy: Walk | None,
    settings: dict[str, Any],
    bootstrap: Any,
    *,
    fresh: bool,
) -> Job:
    given: dict[str, Any] = {"seeds": seeds, **described(settings, DISCOVER)}
    if langs is not None:
        given["langs"] = listed(langs)
    held = None if fresh or not folder.description.exists() else folder.job().discovery.walk
    given["discovery"] = {**given.get("discovery", {}), "walk": (strategy or held or Walk.COCITATION).value}
    if bootstrap is not None:
        given = from_bootstrap(bootstrap, given)
    return described_job(given, folder, fresh=fresh)


def _show(discovered: Discovered, folder: JobFolder) -> None:
    facts = discovered.facts
    for site in discovered.sites[:SHOWN]:
        console.print(f"{site.probability:.2f}  {site.site}  {', '.join(site.languages)}", markup=False)
    if len(discovered.sites) > SHOWN:
        console.print(f"… and {len(discovered.sites) - SHOWN} more in {folder.path / SITES_TABLE}", markup=False)
    judged = sum(facts.answers.values())
    err.print(
        f"{facts.found} bilingual sites beside {facts.bilingual_seeds} among the seeds; {judged} judged, {facts.downloads} downloads.",
        markup=False,
    )
    err.print(discovered.why, markup=False)
    for note in facts.notes:
        err.print(note, markup=False)
    if discovered.sites:
        langs = ",".join(facts.languages)
        err.print(
            f"Mine them: bitrawl mine --sites {folder.path / SEEDS} --langs {langs} --out {folder.path / MINED}",
            markup=False,
        )


def _mine(job: Job, discovered: Discovered, folder: JobFolder, *, quiet: bool) -> None:
    mined = JobFolder(folder.path / MINED)
    progress = Progress(mined, quiet=quiet)
    foreground = Foreground(progress)
    leave(
        foreground.run(
            lambda: run_mine(
                mining_job(job, discovered),
                mined,
                observe=progress.visited,
                started=foreground.started,
                watch=progress.mining,
            )
        )
    )
