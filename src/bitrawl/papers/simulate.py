"""`bitrawl simulate`: archived sites under several strategies, or searches for sites, side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec.structs import replace
from rich.box import SIMPLE
from rich.table import Table
from typer import Argument, Option

from bitrawl.cli.console import err, print_err, print_out
from bitrawl.cli.console import out as console
from bitrawl.discover.settings import Walk
from bitrawl.errors import ConfigError
from bitrawl.languages import language_name, parse_language
from bitrawl.model import Language
from bitrawl.papers import SIMULATED_DOWNLOADS
from bitrawl.show import counted
from bitrawl.strategies import FOCUSED, STRATEGIES, UNFOCUSED
from bitrawl.url import Url, seeds_from
from bitrawl.version import install_command

if TYPE_CHECKING:
    from bitrawl.papers.discovery import SimulatedSearch
    from bitrawl.papers.measure import SiteTrials
    from bitrawl.papers.replay import Replay, ReplaySettings
    from bitrawl.papers.trial import UrlPair

_TRUTH_HELP = "A TSV file of the true pairs, with the columns url_a, url_b, lang_a, lang_b."
_BACKLINKS_HELP = "With --discover: the link graph that says who cites a site. May be given several times."
_DOWNLOADS_HELP = "With --discover: end each walk after this many downloads."


def simulate(  # noqa: PLR0913 (flags)
    archives: Annotated[list[Path], Argument(help="WARC files, or folders of them, to replay.", metavar="WARC")],
    *,
    langs: Annotated[str, Option(help="Languages to pair, as ISO 639 or BCP 47 codes: en,fr", metavar="CODES")],
    truth: Annotated[
        Path | None,
        Option(help=_TRUTH_HELP, metavar="FILE", show_default="pairs that bitrawl finds in the whole archive"),
    ] = None,
    strategies: Annotated[str, Option(help="Compare these strategies, separated by commas.", metavar="NAMES")] = "all",
    seeds_file: Annotated[
        Path | None,
        Option(help="A file of URLs to start from, one per line.", metavar="FILE", show_default="the home pages found"),
    ] = None,
    one_site: Annotated[
        list[str] | None,
        Option(help="Treat these hosts as one site: example.org,exemple.org", metavar="HOSTS"),
    ] = None,
    ignore_alternates: Annotated[
        bool, Option("--ignore-alternates", help="Ignore translations that pages and sitemaps declare.")
    ] = False,
    no_models: Annotated[bool, Option("--no-models", help="Do not use the trained models of the package.")] = False,
    stop: Annotated[bool, Option("--stop", help="End each replay where the strategy would leave the site.")] = False,
    discover: Annotated[
        bool,
        Option("--discover", help="Replay the search for bilingual sites instead, under each of its walks."),
    ] = False,
    backlinks: Annotated[list[str] | None, Option(help=_BACKLINKS_HELP, metavar="PATH")] = None,
    max_downloads: Annotated[
        int | None, Option(help=_DOWNLOADS_HELP, metavar="N", min=1, show_default=str(SIMULATED_DOWNLOADS))
    ] = None,
    out: Annotated[
        Path | None, Option(help="Write CSV files, plots and a report into this folder.", metavar="DIR")
    ] = None,
    cache: Annotated[
        Path | None,
        Option(help="Keep analysed pages in this folder, so that the next run is quick.", metavar="DIR"),
    ] = None,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Replay archived sites under several strategies and compare them.

    Example: [bold]bitrawl simulate site.warc.gz --langs en,fr --truth truth.tsv --out simulated[/]

    The figures tell how soon each strategy completes the pairs. The same command always gives the same figures.

    Nothing is fetched from the web: a page that the archives do not hold is missing.
    """
    from bitrawl.papers.discovery import SimulatedSearch
    from bitrawl.papers.replay import ReplaySettings, opened_replay
    from bitrawl.papers.results import check_target, missing_languages, write
    from bitrawl.show.harvest import can_draw_png

    if out is not None:
        check_target(out, [*archives, *(path for path in (truth, seeds_file) if path is not None), *(backlinks or ())])
    seeds = [Url.parse(raw) for raw in _lines(seeds_file)] if seeds_file else []
    hosts = [group.split(",") for group in one_site or []]
    if discover:
        useless = {"--truth": truth, "--one-site": hosts, "--ignore-alternates": ignore_alternates}
        _refuse("has no effect with --discover", {**useless, "--no-models": no_models, "--stop": stop})
        search = SimulatedSearch(_languages(langs), seeds, None, max_downloads or SIMULATED_DOWNLOADS)
        asyncio.run(_discover(archives, search, _walks(strategies), backlinks or [], cache=cache, out=out, quiet=quiet))
        return
    _refuse("needs --discover", {"--backlinks": backlinks, "--max-downloads": max_downloads})
    settings = ReplaySettings(
        languages=_languages(langs),
        strategies=_strategies(strategies),
        alternates=not ignore_alternates,
        models=not no_models,
        stop=stop,
    )

    async def run() -> list[SiteTrials]:
        async with opened_replay(archives, cache=cache, one_site=hosts, languages=settings.languages) as replay:
            return await _trials(replay, settings, truth, seeds, out=out, quiet=quiet)

    results = asyncio.run(run())
    for trials in results:
        _show(trials)
    for language in missing_languages(results, settings.languages):
        _warn(f"no page in {language_name(language)} was found; check --langs")
    if out is not None:
        write(out, results)
        print_out(f"written to {out}")
        if not can_draw_png():
            print_err(f"For the charts as PNG files too, run: {install_command('png')}")


async def _trials(
    replay: Replay, settings: ReplaySettings, truth: Path | None, seeds: list[Url], *, out: Path | None, quiet: bool
) -> list[SiteTrials]:
    from bitrawl.papers.trial import Truth, in_order, read_pairs, write_pairs

    with err.status("", spinner="line") as status:
        if quiet:
            status.stop()
        seeds = _archived(replay, seeds)
        if truth is not None:
            pairs = await replay.landed(read_pairs(truth, settings.languages))
            _check_truth(replay, truth, pairs)
        else:
            status.update("pairing the whole archive, because there is no --truth")
            page_pairs = await replay.found_pairs(settings.languages)
            pairs = frozenset(in_order((pair.url_a, pair.url_b)) for pair in page_pairs)
            if out is not None:
                write_pairs(out / "truth.tsv", page_pairs)
        starts = seeds or replay.home_pages()
        return await replay.trials(settings, Truth(pairs), starts, lambda site, name: status.update(f"{site}: {name}"))


async def _discover(  # noqa: PLR0913 (flags)
    archives: list[Path],
    search: SimulatedSearch,
    walks: tuple[Walk, ...],
    backlinks: list[str],
    *,
    cache: Path | None,
    out: Path | None,
    quiet: bool,
) -> None:
    from bitrawl.job import open_backlinks
    from bitrawl.papers.discovery import table, walk_trials
    from bitrawl.papers.discovery import write as write_walks
    from bitrawl.papers.replay import opened_replay

    if not search.seeds:
        raise ConfigError("a search needs seeds; name a file of a few sites with --seeds-file")
    for place in backlinks:
        if "://" in place:
            raise ConfigError(f"{place} is a service on the web, which a replay does not query; name files or folders")
    async with AsyncExitStack() as stack:
        status = stack.enter_context(err.status("", spinner="line"))
        if quiet:
            status.stop()
        replay = await stack.enter_async_context(opened_replay(archives, cache=cache, languages=search.languages))
        search = replace(search, seeds=_archived(replay, list(search.seeds)))
        if backlinks:
            hosts = [url.host for url in search.seeds]
            opening = open_backlinks(backlinks, seeds=hosts, tell=status.update)
            search = replace(search, source=await stack.enter_async_context(opening))
        trials = await walk_trials(replay, search, walks, status.update)
    heads, lines = table(trials)
    print_out("Bilingual sites found, without the seeds")
    _print_table(heads, lines)
    for trial in trials:
        if trial.faults:
            _warn(f"{trial.walk}: a bug ended {counted(trial.faults, 'visit')}; see the log")
    if out is not None:
        write_walks(out, trials)
        print_out(f"written to {out}")


def _refuse(why: str, flags: dict[str, object]) -> None:
    for flag, value in flags.items():
        if value:
            raise ConfigError(f"{flag} {why}")


def _archived(replay: Replay, seeds: list[Url]) -> list[Url]:
    """The seeds as they are archived, with a warning for each that is not."""
    archived = replay.archived(seeds)
    for seed, url in archived.items():
        if url is None:
            _warn(f"the seed {seed} is not in the archives")
    urls = list(dict.fromkeys(url for url in archived.values() if url is not None))
    if seeds and not urls:
        raise ConfigError("none of the seeds is in the archives; without --seeds-file, the home pages found are used")
    return urls


def _check_truth(replay: Replay, path: Path, pairs: frozenset[UrlPair]) -> None:
    """Warn where most of the pairs cannot be found at all."""
    held = replay.holds(pairs)
    if not pairs:
        _warn(f"{path} has no pair in these languages; check --langs")
    elif not held:
        _warn(f"{path} lists {counted(len(pairs), 'pair')}, none of which is in the archives; is it for another site?")
    elif held < len(pairs) / 2:
        _warn(f"the archives hold only {held} of the {len(pairs)} pairs of {path}")


def _warn(message: str) -> None:
    print_err(f"warning: {message}")


def _show(trials: SiteTrials) -> None:
    from bitrawl.papers.results import MEASURES, cells, headline, remarks

    print_out(headline(trials))
    names = (figures.strategy.replace("-", "-\n") for figures in trials.figures)  # Five of them fit a terminal.
    _print_table(("", *names), zip(MEASURES, *map(cells, trials.figures), strict=True))
    for remark in remarks(trials):
        print_out(remark)


def _print_table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    grid = Table(box=SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    grid.add_column(heads[0], no_wrap=True)
    for head in heads[1:]:
        grid.add_column(head, justify="right")
    for line in lines:
        grid.add_row(*line)
    console.print(grid, soft_wrap=False)


def _languages(raw: str) -> tuple[Language, ...]:
    languages = tuple(dict.fromkeys(parse_language(code) for code in raw.split(",") if code.strip()))
    if len(languages) < 2:
        raise ConfigError("a pair needs two languages; write them as --langs en,fr")
    return languages


def _strategies(raw: str) -> tuple[str, ...]:
    choices = [name for name in STRATEGIES.names() if name not in FOCUSED]
    return UNFOCUSED if raw.strip() == "all" else _chosen(raw, choices, FOCUSED, "strategy")


def _walks(raw: str) -> tuple[Walk, ...]:
    from bitrawl.papers.discovery import WALKS

    return WALKS if raw.strip() == "all" else tuple(map(Walk, _chosen(raw, WALKS, [Walk.FOCUSED], "walk")))


def _chosen(raw: str, choices: Sequence[str], with_topic: Sequence[str], noun: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in raw.split(",")))
    for name in names:
        if name not in choices:
            why = "needs a topic and cannot be simulated" if name in with_topic else f"is not a {noun}"
            raise ConfigError(f"{name!r} {why}; choose from {', '.join(choices)}")
    return names


def _lines(path: Path) -> list[str]:
    try:
        return seeds_from(path.read_bytes(), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
