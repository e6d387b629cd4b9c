"""Arguments in, printed lines out; what is done lies below."""

import sys

import typer

from bitrawl import __version__
from bitrawl.cli.align import align
from bitrawl.cli.clean import clean
from bitrawl.cli.console import complain
from bitrawl.cli.crawl import crawl
from bitrawl.cli.demo import demo
from bitrawl.cli.mine import export, mine, pair, report_
from bitrawl.cli.simulate import simulate
from bitrawl.cli.status import log, status
from bitrawl.cli.train import train
from bitrawl.cli.urls import urls
from bitrawl.errors import BitrawlError, ConfigError

app = typer.Typer(
    name="bitrawl",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="A focused crawler for parallel and domain corpora.\n\n"
    "Begin with [bold]bitrawl demo[/], or with a site:\n\n"
    "[bold]bitrawl mine https://www.example.org/ --langs en,fr --out jobs/example[/]",
)
app.command()(mine)
app.command()(crawl)
app.command()(pair)
app.command()(align)
app.command()(export)
app.command("report")(report_)
app.command()(status)
app.command()(log)
app.command()(clean)
app.command()(simulate)
app.add_typer(urls, name="urls")
app.command()(demo)
app.add_typer(train, name="train")


def _version(*, show: bool) -> None:
    if show:
        typer.echo(f"bitrawl {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    *,
    version: bool = typer.Option(False, "--version", callback=lambda value: _version(show=value), is_eager=True),
) -> None:
    """See the help of each verb."""


def main() -> None:
    """The `bitrawl` command: a fault is one line that names the fix, and an exit code."""
    try:
        app()
    except BitrawlError as error:
        complain(str(error))
        sys.exit(2 if isinstance(error, ConfigError) else 1)
    except BrokenPipeError:  # the reader of our output had enough, as in `bitrawl log DIR | head`
        sys.stderr.close()
        sys.exit(141)
