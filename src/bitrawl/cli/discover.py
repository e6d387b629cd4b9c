"""`bitrawl discover`: find bilingual sites that nobody listed, `check` sites, and make or read a link `graph`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from typer import Argument, Option

from bitrawl.cli import HelpfulCommand, HelpfulGroup, flags, group
from bitrawl.cli.console import complain, err, print_err, print_out
from bitrawl.cli.flags import TableFormat, confirm, description_of, job_option, starting_over, with_settings
from bitrawl.config import DISCOVER, Group, described, listed
from bitrawl.discover.settings import HUB_LINKS, REFERRERS, Walk
from bitrawl.discover.site_lists import SiteAnswer, SiteVerdict
from bitrawl.errors import ConfigError, UrlError
from bitrawl.file_names import MINED_SITES
from bitrawl.languages import parse_language, two_languages
from bitrawl.model import Language, Link
from bitrawl.show import counted
from bitrawl.url import Url, with_scheme

if TYPE_CHECKING:
    from bitrawl.discover.walk import WalkFacts
    from bitrawl.job import FetchPolicy, OpenedSearch, SiteQuestion

SEARCH = "sites"  # the command that a first word stands for that is no command
SHOWN = 20  # sites that are printed
_COUNTED = 1000  # hosts that a page links to; more are not counted


class SearchByDefault(HelpfulGroup):
    """`bitrawl discover URL …` searches; `bitrawl discover check …` and `… graph …` are commands of their own."""

    by_default = SEARCH

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = [self.by_default, *args]
        return super().parse_args(ctx, args)


discover = group(
    "discover",
    "Find bilingual sites that nobody listed, check sites, and make link graphs.\n\n"
    "Example: [bold]bitrawl discover https://www.example.org/ --langs en,fr --backlinks graph/ --out found[/]\n\n"
    "[bold]bitrawl discover sites --help[/] lists the flags of the search. The word sites can be left out.",
    SearchByDefault,
)
graph = group(
    "graph",
    "Build the index of a downloaded link graph, or show who links to a host.\n\n"
    "Example: [bold]bitrawl discover graph build cc-graph --around seeds.txt --out graph[/]",
)
discover.add_typer(graph)


@discover.command(cls=HelpfulCommand)
def check(  # noqa: PLR0913 - flags
    urls: Annotated[
        list[str] | None,
        Argument(
            help="The entry page of each site, usually its home page, or a host. With --replay, none means all home pages.",
            metavar="URL",
            show_default=False,
        ),
    ] = None,
    *,
    langs: Annotated[str, Option(help="Two languages or more, as ISO 639 or BCP 47 codes: en,fr", metavar="CODES")],
    replay: Annotated[
        list[Path] | None,
        Option(help="Read these WARC files, or folders of them, in place of the web.", metavar="PATH"),
    ] = None,
    style: Annotated[
        TableFormat, Option("--format", help="Print a table, or one JSON object per line.")
    ] = TableFormat.TABLE,
    max_downloads: Annotated[
        int, Option(min=1, max=20, help="Fetch at most this many pages of a site.", metavar="N")
    ] = 5,
    delay: Annotated[
        float, Option(min=0, help="Wait this many seconds between two requests to a host.", metavar="SECONDS")
    ] = 1.0,
    contact: Annotated[
        str, Option(help="Tell webmasters this e-mail address or page, in the User-Agent.", metavar="TEXT")
    ] = "",
    allow_private: flags.AllowPrivate = False,
) -> None:
    """Tell whether sites are bilingual, from a handful of pages of each.

    Example: [bold]bitrawl discover check https://www.example.org/ --langs en,fr[/]

    A site is bilingual if two of its pages are translations of each other. The verdicts are bilingual, thin (only a
    page or two are translated), no, and unknown (the site did not answer, or asks to be left alone). The exit code is 1 if
    any site is unknown.
    """
    from bitrawl.job import FetchPolicy, SiteQuestion

    question = SiteQuestion(
        _entry_pages(urls or [], replay=bool(replay)),
        _languages(langs),
        tuple(replay or ()),
        max_downloads,
        FetchPolicy(contact, delay, allow_private),
    )
    answers = asyncio.run(_print_verdicts(question, style))
    if not answers:
        complain("no site was checked: the archives have no home page. Name the entry pages")
    unread = [url.host for url in question.urls if answers.get(url.host) is SiteAnswer.UNKNOWN]
    without = (raw for raw in urls or [] if "://" not in raw and with_scheme(raw).startswith("https"))
    if bare := [raw for raw in without if Url.parse(with_scheme(raw)).host in unread]:
        complain(f"{', '.join(bare)}: https was tried; if the site does not offer it, write http://{bare[0]}")
    if not answers or SiteAnswer.UNKNOWN in answers.values():
        raise typer.Exit(1)


async def _print_verdicts(question: SiteQuestion, style: TableFormat) -> dict[str, SiteAnswer]:
    """The answers, by host."""
    from bitrawl.job import check_sites

    answers = {}
    async for verdict in check_sites(question):
        answers[verdict.site] = verdict.verdict
        as_json = style is TableFormat.JSONL
        print_out(msgspec.json.encode(verdict, enc_hook=str).decode() if as_json else _verdict_line(verdict))
    return answers


def _verdict_line(verdict: SiteVerdict) -> str:
    """Site, verdict, probability, languages, downloads, estimated pages, and why."""
    evidence = ", ".join(f"{name} {value:.2f}" for name, value in verdict.evidence.items())
    cells = [
        f"{verdict.site:32}",
        f"{verdict.verdict:10}",
        f"{verdict.probability:.2f}" if verdict.verdict is not SiteAnswer.UNKNOWN else "   -",
        f"{','.join(verdict.languages) or '-':8}",
        f"{verdict.downloads} fetched",
        f"about {counted(verdict.pages, 'page')}" if verdict.pages else "size unknown",
        f"{verdict.detail}{f' ({evidence})' if evidence else ''}",
    ]
    pages = f"\n    {verdict.url_a}\n    {verdict.url_b}" if verdict.url_a and verdict.url_b else ""
    return "  ".join(cells) + pages


def _entry_pages(raw: list[str], *, replay: bool) -> tuple[Url, ...]:
    if not raw and not replay:
        raise ConfigError("name at least one site: bitrawl discover check https://www.example.org/ --langs en,fr")
    urls = []
    for text in raw:
        try:
            urls.append(Url.parse(with_scheme(text)))
        except UrlError as error:
            raise ConfigError(str(error)) from error
    return tuple(urls)


def _languages(raw: str) -> tuple[Language, ...]:
    languages = tuple(dict.fromkeys(parse_language(code) for code in listed(raw)))
    if len(languages) < 2:
        both = two_languages(raw)
        hint = f"{both[0]},{both[1]}" if both else "en,fr"
        raise ConfigError(f"a site is bilingual in two languages; name both, with a comma: --langs {hint}")
    return languages


_WALK_HELP = "Visit sites in this order: by which sites are cited together (cocitation), or as one of the crawlers of Barbosa et al. 2011."


@discover.command(SEARCH, cls=HelpfulCommand)
@with_settings(DISCOVER)
def sites(  # noqa: PLR0913 - flags; the other flags are in the table
    seeds: flags.Seeds = None,
    *,
    langs: Annotated[
        str | None, job_option(help="Languages, as ISO 639 or BCP 47 codes: en,fr", metavar="CODES")
    ] = None,
    out: flags.Out,
    seeds_file: flags.SeedsFile = None,
    bootstrap: flags.Bootstrap = None,
    strategy: Annotated[
        Walk | None, Option(help=_WALK_HELP, show_default="cocitation", rich_help_panel=Group.DISCOVERY)
    ] = None,
    then_mine: Annotated[
        bool, Option("--then-mine", help=f"Mine the sites found, into {MINED_SITES}/.", rich_help_panel=Group.DISCOVERY)
    ] = False,
    fresh: flags.Fresh = False,
    delete_archive: flags.DeleteArchive = False,
    quiet: flags.Quiet = False,
    **settings: Any,
) -> None:
    """Find bilingual sites, starting from a few sites or from a topic.

    Example: [bold]bitrawl discover https://www.example.org/ --langs en,fr --backlinks graph/ --out found[/]

    The list grows while the search runs: sites.jsonl, sites.tsv, and sites.txt for [bold]bitrawl mine --sites[/]. The same
    command resumes.
    """
    from bitrawl.cli.foreground import Foreground, leave
    from bitrawl.job import OpenedSearch, described_job
    from bitrawl.job import discover as run_discover

    folder = OpenedSearch(out)
    files, tables = folder.files, described(settings, DISCOVER)
    if langs is not None:
        tables["langs"] = listed(langs)
    earlier = None if fresh or not files.description.exists() else files.job().discovery.walk
    walk = (strategy or earlier or Walk.COCITATION).value
    tables["discovery"] = {**tables.get("discovery", {}), "walk": walk}
    description = description_of(tables, seeds, seeds_file, bootstrap)
    start_over = starting_over(fresh=fresh, delete_archive=delete_archive)
    job = described_job(description, files, inputs=(seeds_file, bootstrap), fresh=start_over)
    mined = folder.mined
    if then_mine and not start_over:
        mined.files.check_writable()
    if files.holds_job:
        confirm(out, start_over, "the sites that it found and what was mined there")
    foreground = Foreground(folder, quiet=quiet)
    progress = foreground.progress
    discovered = foreground.run(
        lambda: run_discover(
            job,
            files,
            observe=progress.visited,
            started=foreground.started,
            found=lambda verdict: progress.note(f"found {verdict.site}: {', '.join(verdict.languages)}"),
            tell=progress.note,
            fresh=start_over,
        )
    )
    if not quiet:
        _show_sites(discovered.sites, discovered.facts, discovered.why, folder)
    if then_mine and discovered.sites:
        mining = Foreground(mined, quiet=quiet)
        leave(mining.run(lambda: mining.mine(discovered.mining_job(job))))
    leave(discovered.ending)


def _show_sites(sites: Sequence[SiteVerdict], facts: WalkFacts, why: str, folder: OpenedSearch) -> None:
    for site in sites[:SHOWN]:
        print_out(f"{site.probability:.2f}  {site.site}  {', '.join(site.languages)}")
    if len(sites) > SHOWN:
        print_out(f"… and {len(sites) - SHOWN} more in {folder.table}")
    judged = sum(facts.answers.values())
    print_err(
        f"{counted(facts.found, 'bilingual site')} found, besides {facts.bilingual_seeds} among the seeds;"
        f" {counted(judged, 'site')} judged with {counted(facts.downloads, 'download')}."
    )
    for line in (why, *facts.notes):
        print_err(line)
    if sites:
        langs = ",".join(facts.languages)
        print_err(f"Mine them: bitrawl mine --sites {folder.sites} --langs {langs} --out {folder.mined.folder}")


@graph.command(cls=HelpfulCommand)
def build(
    folder: Annotated[Path, Argument(help="The vertices and edges, as Common Crawl publishes them.", metavar="DIR")],
    *,
    target: Annotated[Path, Option("-o", "--out", help="Write the index into this folder.", metavar="DIR")],
    around: Annotated[
        Path | None,
        Option(
            help="Keep only what lies around the hosts or URLs listed in this file: who links to them, and what those "
            "link to.",
            metavar="FILE",
            show_default="the whole graph",
        ),
    ] = None,
    max_links: Annotated[
        int, Option(min=1, help="With --around, keep this many links of a host that links to many.", metavar="N")
    ] = HUB_LINKS,
    max_referrers: Annotated[
        int,
        Option(min=1, help="With --around, keep about this many hosts that link to a popular one.", metavar="N"),
    ] = REFERRERS,
    quiet: Annotated[bool, Option("-q", "--quiet", help="Print errors only.")] = False,
) -> None:
    """Make an index of a link graph, to ask who links to a host.

    Example: [bold]bitrawl discover graph build cc-graph --around seeds.txt --out graph[/]

    The files are read once. The index replaces an earlier one when it is complete, so you can stop at any time.
    """
    from bitrawl.discover.graph_index import Caps
    from bitrawl.job import build_index

    columns = (TextColumn("reading"), BarColumn(), TaskProgressColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True, disable=quiet) as bar:
        task = bar.add_task("reading", total=None)
        meta = build_index(
            folder,
            target,
            around=around,
            caps=Caps(max_links, max_referrers),
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    if not quiet:
        what = "domains" if meta.domains else "hosts"
        near = f" around {meta.given} of them" if meta.given else ""
        print_out(f"{meta.hosts:,} {what} and {meta.edges:,} links{near}, of {meta.edges_read:,} read ({target})")
    if meta.missing:
        more = " and others" if len(meta.missing) >= 20 else ""
        complain(f"not in the graph: {', '.join(meta.missing)}{more}")


@graph.command(cls=HelpfulCommand)
def show(
    targets: Annotated[list[str], Argument(help="Hosts, or URLs of pages.", metavar="HOST|URL")],
    *,
    backlinks: Annotated[
        list[str],
        Option(
            help="Where to look: the index of a graph, a table of links, a job folder, a WAT or WARC file, or the URL of a "
            "service with {url} in it. May be given several times.",
            metavar="DIR|FILE|URL",
        ),
    ],
    limit: Annotated[int, Option(min=1, help="Show at most this many for each.", metavar="N")] = 20,
    contact: Annotated[
        str, Option(help="Tell the operator of a service this e-mail address or page.", metavar="EMAIL|URL")
    ] = "",
    allow_private: flags.AllowPrivate = False,
) -> None:
    """Show who links to a host or a page.

    Example: [bold]bitrawl discover graph show www.example.org --backlinks graph[/]

    Prints a table separated by tabs: the page linked to, the page that links, its anchor, and how many hosts that page links to.
    The most informative pages come first.
    """
    from bitrawl.job import FetchPolicy

    pages = [Url.parse(target) if "://" in target else target for target in targets]
    if not asyncio.run(_print_links(pages, backlinks, limit, FetchPolicy(contact, allow_private=allow_private))):
        raise typer.Exit(1)


async def _print_links(targets: list[str | Url], places: list[str], limit: int, policy: FetchPolicy) -> bool:
    """Whether there are any."""
    from bitrawl.job import open_backlinks

    any_links = False
    async with open_backlinks(places, policy=policy, tell=print_err) as source:
        if not len(source):
            raise ConfigError(f"there are no links between hosts in {', '.join(places)}")
        await source.prefetch(targets, limit)
        typer.echo("to\tfrom\tanchor\thosts it links to")
        for target in targets:
            links = source.referrers(target, limit)
            any_links = any_links or bool(links)
            if not links:
                complain(f"no links to {target} are known")
            for link in links:
                typer.echo(_link_line(link, len(source.cites(link.source or "", _COUNTED))))
    return any_links


def _link_line(link: Link, hosts: int) -> str:
    anchor = " ".join((link.anchor or link.image_alt).split())
    return "\t".join((link.url, link.source or "", anchor, str(hosts or "")))
