"""`bitrawl partition`: WARC files split by site."""

from pathlib import Path
from typing import Annotated

import typer

from bitrawl.cli.console import err, size
from bitrawl.cli.console import out as printed
from bitrawl.cli.help import HelpfulCommand
from bitrawl.cluster.warc_split import MOST_GROUPS, Grouping, SplitFile
from bitrawl.cluster.warc_split import partition as split
from bitrawl.discover.site_lists import read_sites
from bitrawl.job.archived_web import warc_files
from bitrawl.url import Url

app = typer.Typer(rich_markup_mode="rich", add_completion=False)


@app.command(cls=HelpfulCommand)
def partition(
    files: Annotated[list[Path], typer.Argument(help="WARC files, or folders of them.", metavar="FILE|DIR")],
    *,
    out: Annotated[Path, typer.Option(help="Write the split files into this folder.", metavar="DIR")],
    sites: Annotated[
        Path | None,
        typer.Option(help="Keep only the sites of this list, as mine --sites takes it.", metavar="FILE"),
    ] = None,
    groups: Annotated[
        int,
        typer.Option(
            help="Write at most this many files, with many sites in each, instead of one file for each site.",
            metavar="N",
            min=0,
            max=MOST_GROUPS,
            show_default=False,
        ),
    ] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only what went wrong.")] = False,
) -> None:
    """Split WARC files that mix many sites into one file for each site.

    Example: [bold]bitrawl partition segments/ --groups 200 --out by-site[/], then
    [bold]bitrawl mine --warc by-site/00000.warc.gz --langs en,fr --out jobs/00000[/]

    Keeps the HTTP answers and leaves out everything else. After an interruption, the same command resumes.
    """

    def tell(share: SplitFile) -> None:
        if not quiet:
            err.print(f"{share.path}: {share.answers:,} answers, {size(share.bytes)}", markup=False)

    inputs = split(warc_files(files), out, Grouping(groups, _sites(sites)), watch=tell)
    if not quiet:
        earlier = f", {inputs.before} were done before" if inputs.before else ""
        total = sum(share.answers for share in inputs.done)
        printed.print(f"{len(inputs.done)} files split into {out}: {total:,} answers{earlier}.", markup=False)


def _sites(path: Path | None) -> frozenset[str] | None:
    return None if path is None else frozenset(Url.parse(seed).site for seed in read_sites(path).seeds)
