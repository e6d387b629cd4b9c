"""`bitrawl discover graph`: the index of a downloaded link graph, and who links to a host."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from bitrawl.cli.console import complain, err, out
from bitrawl.cli.help import HelpfulCommand, HelpfulGroup
from bitrawl.discover.graph_index import Caps, GraphMeta
from bitrawl.errors import ConfigError
from bitrawl.job.fetching import FetchPolicy
from bitrawl.job.site_search import build as build_index
from bitrawl.job.site_search import open_backlinks
from bitrawl.model import Link
from bitrawl.url import Url

app = typer.Typer(
    name="graph",
    cls=HelpfulGroup,
    rich_markup_mode="rich",
    add_completion=False,
    no_args_is_help=True,
    help="Build the index of a downloaded link graph, or show who links to a host.\n\n"
    "Example: [bold]bitrawl discover graph build cc-graph --around seeds.txt --out graph[/]",
)
_COUNTED = 1000  # hosts that one links to; more are not counted
_HEADER = "to\tfrom\tanchor\thosts it links to"


@app.command(cls=HelpfulCommand)
def build(
    folder: Annotated[
        Path, typer.Argument(help="The vertices and edges, as Common Crawl publishes them.", metavar="DIR")
    ],
    *,
    target: Annotated[Path, typer.Option("-o", "--out", help="Write the index into this folder.", metavar="DIR")],
    around: Annotated[
        Path | None,
        typer.Option(
            help="Keep only what lies around the hosts or URLs listed in this file: who links to them, and what these "
            "link to.",
            metavar="FILE",
            show_default="the whole graph",
        ),
    ] = None,
    max_links: Annotated[
        int, typer.Option(min=1, help="With --around, keep this many links of a host that links to many.", metavar="N")
    ] = Caps().links,
    max_referrers: Annotated[
        int,
        typer.Option(min=1, help="With --around, keep about this many hosts that link to a popular one.", metavar="N"),
    ] = Caps().referrers,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print errors only.")] = False,
) -> None:
    """Make an index of a link graph, to ask who links to a host.

    Example: [bold]bitrawl discover graph build cc-graph --around seeds.txt --out graph[/]

    The files are read once. The index replaces an earlier one when it is complete, so you can stop at any time.
    """
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
        _show_built(meta, target)
    if meta.missing:
        complain(_missing(meta))


@app.command(cls=HelpfulCommand)
def show(
    targets: Annotated[list[str], typer.Argument(help="Hosts, or URLs of pages.", metavar="HOST|URL")],
    *,
    backlinks: Annotated[
        list[str],
        typer.Option(
            help="Where to look: the index of a graph, a table of links, a job folder, a WAT or WARC file, or the URL of a "
            "service with {url} in it. May be given several times.",
            metavar="DIR|FILE|URL",
        ),
    ],
    limit: Annotated[int, typer.Option(min=1, help="Show at most this many for each.", metavar="N")] = 20,
    contact: Annotated[
        str, typer.Option(help="Tell the operator of a service this e-mail address or page.", metavar="EMAIL|URL")
    ] = "",
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Visit private and loopback addresses.")
    ] = False,
) -> None:
    """Show who links to a host or a page.

    Example: [bold]bitrawl discover graph show www.example.org --backlinks graph[/]

    Prints a table separated by tabs: the page linked to, the page that links, its anchor, and how many hosts that page links to.
    The most informative pages come first.
    """
    asked = [Url.parse(target) if "://" in target else target for target in targets]
    if not asyncio.run(_show(asked, backlinks, limit, FetchPolicy(contact, allow_private=allow_private))):
        raise typer.Exit(1)


async def _show(targets: list[str | Url], places: list[str], limit: int, policy: FetchPolicy) -> bool:
    """Whether anything was found."""
    found = False
    async with open_backlinks(places, policy=policy, tell=lambda line: err.print(line, markup=False)) as source:
        if not len(source):
            raise ConfigError(f"{', '.join(places)}: there are no links between hosts in it")
        await source.prefetch(targets, limit)
        typer.echo(_HEADER)
        for target in targets:
            links = source.referrers(target, limit)
            found = found or bool(links)
            if not links:
                complain(f"nobody is known to link to {target}")
                continue
            for link in links:
                typer.echo(_line(link, len(source.cites(link.source or "", _COUNTED))))
    return found


def _line(link: Link, cited: int) -> str:
    anchor = " ".join((link.anchor or link.image_alt).split())
    return "\t".join((link.url, link.source or "", anchor, str(cited or "")))


def _show_built(meta: GraphMeta, target: Path) -> None:
    what = "domains" if meta.domains else "hosts"
    around = f" around {meta.given} of them" if meta.given else ""
    out.print(
        f"{meta.hosts:,} {what} and {meta.edges:,} links{around}, of {meta.edges_read:,} read ({target})", markup=False
    )


def _missing(meta: GraphMeta) -> str:
    more = " and others" if len(meta.missing) >= 20 else ""
    return f"not in the graph: {', '.join(meta.missing)}{more}"
