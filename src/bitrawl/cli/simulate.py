"""`bitrawl simulate`: archived sites under several strategies, side by side."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE
from rich.table import Table

from bitrawl.cli.console import err
from bitrawl.cli.console import out as console
from bitrawl.config import Strategy, seeds_from
from bitrawl.errors import ConfigError
from bitrawl.languages import parse_language
from bitrawl.model import Language
from bitrawl.simulation.measure import SiteTrials, Truth, in_order, read_pairs, write_pairs
from bitrawl.simulation.replay import Replay, Settings, opened_replay
from bitrawl.simulation.results import MEASURES, cells, headline, remarks, write
from bitrawl.url import Url

app = typer.Typer(rich_markup_mode="rich", add_completion=False)


@app.command()
def simulate(  # noqa: PLR0913 (flags)
    archives: Annotated[list[Path], typer.Argument(help="WARC files that stand for the web.", metavar="WARC...")],
    *,
    langs: Annotated[str, typer.Option(help="Languages, any ISO 639 or BCP 47 codes: en,fr")],
    truth: Annotated[
        Path | None,
        typer.Option(
            help="The true pairs: a TSV file with url_a, url_b, lang_a, lang_b.", show_default="what is found"
        ),
    ] = None,
    strategies: Annotated[str, typer.Option(help="all, or names with commas.")] = "all",
    seeds: Annotated[
        Path | None, typer.Option(help="A file of URLs to begin with, one a line.", show_default="the home pages")
    ] = None,
    seed_url: Annotated[list[str] | None, typer.Option(help="A URL to begin with.")] = None,
    one_site: Annotated[list[str] | None, typer.Option(help="Hosts that are one site: example.org,exemple.org")] = None,
    ignore_alternates: Annotated[
        bool, typer.Option("--ignore-alternates", help="As if nothing were declared a translation.")
    ] = False,
    no_models: Annotated[
        bool, typer.Option("--no-models", help="Without models that were trained beforehand.")
    ] = False,
    stop: Annotated[bool, typer.Option("--stop", help="Leave a site where a strategy would leave it.")] = False,
    out: Annotated[Path | None, typer.Option(help="A folder for the CSV files, the plots and the report.")] = None,
    cache: Annotated[Path | None, typer.Option(help="A folder for analysed pages: the next run is quick.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Replay archived sites under several strategies, and compare how soon each completes the pairs.

    Example: [bold]bitrawl simulate site.warc.gz --langs en,fr --truth truth.tsv --out simulated[/]

    Nothing is fetched from the web; what the archives do not hold is missing. The same command gives the same figures.
    """
    settings = Settings(
        languages=_languages(langs),
        strategies=_strategies(strategies),
        alternates=not ignore_alternates,
        models=not no_models,
        stop=stop,
    )
    begin = [Url.parse(raw) for raw in [*(_lines(seeds) if seeds else []), *(seed_url or [])]]
    hosts = [group.split(",") for group in one_site or []]

    async def run() -> list[SiteTrials]:
        async with opened_replay(archives, cache=cache, one_site=hosts) as replay:
            return await _trials(replay, settings, truth, begin, out=out, quiet=quiet)

    results = asyncio.run(run())
    for trials in results:
        _show(trials)
    if out is not None:
        write(out, results)
        console.print(f"written to {out}", markup=False)


async def _trials(
    replay: Replay, settings: Settings, truth: Path | None, seeds: list[Url], *, out: Path | None, quiet: bool
) -> list[SiteTrials]:
    with err.status("", spinner="line") as status:
        if quiet:
            status.stop()
        if truth is not None:
            pairs = await replay.landed(read_pairs(truth, settings.languages))
        else:
            status.update("pairing the whole archive, as there is no --truth")
            found = await replay.found_pairs(settings.languages)
            pairs = frozenset(in_order((pair.url_a, pair.url_b)) for pair in found)
            if out is not None:
                write_pairs(out / "truth.tsv", found)
        return await replay.trials(
            settings,
            Truth(pairs),
            seeds or replay.home_pages(),
            lambda site, name: status.update(f"{site}: {name}"),
        )


def _show(trials: SiteTrials) -> None:
    table = Table(box=SIMPLE)
    table.add_column("", no_wrap=True)
    for figures in trials.figures:
        table.add_column(figures.strategy, justify="right")
    for line in zip(MEASURES, *map(cells, trials.figures), strict=True):
        table.add_row(*line)
    console.print(headline(trials), markup=False)
    console.print(table, soft_wrap=False)
    for remark in remarks(trials):
        console.print(remark, markup=False)


def _languages(raw: str) -> tuple[Language, ...]:
    languages = tuple(dict.fromkeys(parse_language(code) for code in raw.split(",") if code.strip()))
    if len(languages) < 2:
        raise ConfigError("pairs are of two languages; write them as --langs en,fr")
    return languages


def _strategies(raw: str) -> tuple[Strategy, ...]:
    if raw.strip() == "all":
        return tuple(Strategy)
    try:
        return tuple(dict.fromkeys(Strategy(name.strip()) for name in raw.split(",")))
    except ValueError as error:
        raise ConfigError(f"{error}; the strategies are {', '.join(Strategy)}") from error


def _lines(path: Path) -> list[str]:
    try:
        return seeds_from(path.read_bytes(), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
