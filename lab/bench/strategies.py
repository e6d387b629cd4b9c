"""Strategies on frozen sites with known pairs: how soon each completes the pairs, and what it costs.

    python -m lab.bench.strategies                              # all sites below ../shared/sites, all strategies
    python -m lab.bench.strategies apisix lilypond              # these
    python -m lab.bench.strategies --strategies adaptive --langs en,fr
    python -m lab.bench.strategies --ignore-alternates --no-models    # what each kind of evidence is worth

    python -m lab.bench.strategies --small                  # ten small sites, cut from these (small_sites.py)
    python -m lab.bench.strategies --train                  # the weights of `adaptive` that were trained without each site
    python -m lab.bench.strategies --reach                  # the pages that each strategy reaches with --exhaustive

`adaptive` is measured with weights that were trained without the site (adaptive-left-out.json beside this file, which
--train writes). `python -m lab.train adaptive` makes those that the package ships.

How it is counted: docs/reference/simulate.md. Each language pair with English that has at least 30 true pairs is a
simulation of its own, from the seeds of site.json, once with as many visits in flight as users have and once one at a time
(--in-flight; on a site of one host it is the same); a site's figure is the mean over its language pairs, the last line
the mean over sites. Of doubtful.tsv `language`, `partial` and `short` count neither for nor against a strategy. Pages
are analysed once and kept in BITRAWL_BENCH_CACHE (by default below the temporary folder); after a change to page/ run
with --fresh.

--reach compares the pages that each strategy visits when it has to visit all with what a plain walk over the links of the
archive finds, which knows neither strategies nor trap rules. `adaptive` may visit more: partners that no page links to.
"""

import argparse
import asyncio
import json
import os
import shutil
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import product
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from bitrawl.crawling import Politeness, RobotsFetcher, Scope, Sites
from bitrawl.errors import UrlError
from bitrawl.model import Capture, Directive, Language, Link, LinkKind, Page, Sitemap
from bitrawl.papers.measure import SiteTrials, TrialFigures
from bitrawl.papers.replay import Replay, ReplayClock, ReplaySettings, opened_replay
from bitrawl.papers.trial import Truth, run_trial
from bitrawl.strategies import UNFOCUSED, Strategy
from bitrawl.url import Url
from lab.bench.in_flight import USUAL, add_option, least_ratio, ratio, shown
from lab.bench.small_sites import CUTS, Cut, opened_cut
from lab.train.adaptive import LEAST_PAIRS, fit, named, traces
from lab.train.folds import without as others
from lab.train.site_packs import SitePack

SITES = Path(__file__).parents[3] / "shared" / "sites"
CACHE = Path(os.environ.get("BITRAWL_BENCH_CACHE", Path(tempfile.gettempdir()) / "sitejobs")) / "simulate"
MOST_MISSED = 10  # pages that --reach names
LEFT_OUT = Path(__file__).parent / "adaptive-left-out.json"


class Asked(NamedTuple):
    """What of the command line a site needs."""

    strategies: tuple[Strategy, ...]
    langs: str
    alternates: bool
    models: bool
    in_flight: tuple[int, ...] = (USUAL,)

    def settings(self, site: str, languages: tuple[Language, ...]) -> list[ReplaySettings]:
        """One for each number in flight, with weights that have not seen the site; breadth-first is always beside."""
        return [
            ReplaySettings(
                weights=without(site),
                languages=languages,
                strategies=tuple(dict.fromkeys([Strategy.BREADTH_FIRST, *self.strategies])),
                alternates=self.alternates,
                models=self.models,
                in_flight=number,
            )
            for number in self.in_flight
        ]


class Line(NamedTuple):
    """The figures of one strategy on one language pair, with so many visits in flight."""

    site: str
    languages: str
    strategy: str
    in_flight: int
    figures: TrialFigures
    least: float | None  # pairs beside breadth-first, at the worst point
    true: int
    reachable: int
    length: int


class Column(NamedTuple):
    """A figure of the table, and what issue 4, point 10, asks of `adaptive` as the mean over sites."""

    head: str
    style: str
    target: str


COLUMNS = {
    "area": Column("area", ".3f", ">= .88"),
    "area_reachable": Column("of reach", ".3f", ""),
    "until_per_page": Column("95% cost", ".2f", "<= 1.25"),
    "examined_per_pair": Column("examined", ".2f", "<= 1.20"),
    "precision": Column("precis.", ".3f", ">= .98"),
    "stop_loss": Column("lost", ".3f", "<= .02"),
    "stop_saving": Column("saved", ".3f", ""),
}


def language_pairs(pack: SitePack, langs: str) -> list[tuple[Language, ...]]:
    """With English, and worth a figure; or the one that was asked for, where the site has it."""
    if langs:
        asked = tuple(Language(code) for code in langs.split(","))
        return [asked] if set(asked) <= set(pack.languages) else []
    return list(pack.pairs_with_english(LEAST_PAIRS))


async def simulate_cut(cut: Cut, asked: Asked) -> list[Line]:
    async with opened_cut(cut, SITES, CACHE) as small:
        lines: list[Line] = []
        for settings in asked.settings(cut.site, cut.languages):
            (trials,) = await small.replay.trials(settings, small.truth, small.seeds)
            lines += lines_of(f"{cut.site}/{trials.length}/{trials.reachable}", trials, settings)
        return lines


def lines_of(name: str, trials: SiteTrials, settings: ReplaySettings) -> list[Line]:
    about = (len(trials.truth.pairs), trials.reachable, trials.length)
    languages, number, plain = "-".join(settings.languages), settings.in_flight, trials.figures[0].curve
    return [
        Line(name, languages, one.strategy, number, one, least_ratio(one.curve, plain), *about)
        for one in trials.figures
    ]


async def simulate_site(name: str, asked: Asked) -> list[Line]:
    pack = SitePack.open(SITES / name)
    return await simulate_pairs(pack, language_pairs(pack, asked.langs), asked)


async def simulate_pairs(pack: SitePack, pairs: Iterable[tuple[Language, ...]], asked: Asked) -> list[Line]:
    uncounted = pack.uncounted_pairs()
    lines: list[Line] = []
    async with opened_replay([pack.archive], cache=CACHE) as replay:
        for languages in pairs:
            truth = Truth(pack.true_pairs(languages), uncounted)
            for settings in asked.settings(pack.name, languages):
                for trials in await replay.trials(settings, truth, pack.seeds):
                    lines += lines_of(pack.name, trials, settings)
    return lines


class Reach(NamedTuple):
    """The pages that one strategy visited of those that can be reached."""

    strategy: str
    reached: int
    reachable: int
    unlinked: int  # pages beyond those
    missed: tuple[Url, ...]


async def reach(name: str, asked: Asked) -> list[Reach]:
    pack = SitePack.open(SITES / name)
    lines = []
    async with opened_replay([pack.archive], cache=CACHE) as replay:
        seeds = [url or seed for seed, url in replay.archived(pack.seeds).items()]
        expected = await linked_pages(replay, seeds)
        settings = ReplaySettings(
            languages=language_pairs(pack, asked.langs)[0], weights=without(name), exhaustive=True
        )
        for strategy in asked.strategies:
            run = await run_trial(strategy, replay.strategy(strategy, settings), replay.prepared(seeds, settings))
            kept = {url for url in run.kept if url is not None}
            missed = tuple(sorted(expected - kept))
            lines.append(Reach(strategy, len(expected & kept), len(expected), len(kept - expected), missed))
    return lines


async def linked_pages(replay: Replay, seeds: Sequence[Url]) -> set[Url]:
    """Every page inside the scope that links and sitemaps lead to, in the plainest way: one page after another."""
    scope = Scope(Sites(), seeds)
    robots = RobotsFetcher(replay.fetcher, ReplayClock(), Politeness(delay=0.0))
    pages: set[Url] = set()
    waiting = deque([Link(url, LinkKind.SEED) for url in seeds])
    met, origins = {*seeds}, set[str]()
    while waiting:
        link = waiting.popleft()
        answer = await robots.fetch(link)
        found: list[Link] = []
        if link.url.origin not in origins:
            origins.add(link.url.origin)
            named = [Url.parse(f"{link.url.origin}/sitemap.xml"), *robots.sitemaps(link.url.origin)]
            found += [Link(url, LinkKind.INDEX) for url in named]
        if isinstance(answer, Capture) and 300 <= answer.status < 400:
            with suppress(UrlError):
                found.append(Link(answer.redirect_target(), LinkKind.REDIRECT, link.url))
        elif isinstance(answer, Capture):
            outcome = await replay.analyser.analyse(answer, index=link.kind is LinkKind.INDEX)
            if isinstance(outcome, Sitemap):
                found += [one for part in outcome.parts() for one in part.links]
            elif isinstance(outcome, Page):
                found += [] if Directive.NOFOLLOW in outcome.directives else outcome.links
                if outcome.objection(opt_outs=True) is None:
                    pages.add(link.url)
        for one in found:
            if one.url not in met and scope.refusal(one) is None:
                met.add(one.url)
                waiting.append(one)
    return pages


def print_reach(name: str, lines: Sequence[Reach]) -> None:
    for line in lines:
        share = f"{line.reached:>7,} of {line.reachable:>7,}"
        more = f", and {line.unlinked:,} that no page links to" if line.unlinked else ""
        print(f"{name:<26}{line.strategy:<16}{share}{more}", flush=True)
        for url in line.missed[:MOST_MISSED]:
            print(f"{'':<42}missed {url}")


def without(site: str) -> dict[str, float]:
    """The weights that have not seen the site."""
    weights: dict[str, float] = json.loads(LEFT_OUT.read_text())[site]
    return weights


def train_without_each(names: Sequence[str]) -> None:
    """Each site's traces are of replays with the weights of before that have not seen it."""
    seen = {}
    for name in names:
        print(f"replaying {name}", flush=True)
        seen[name] = traces(SitePack.open(SITES / name), cache=CACHE, weights=without(name))
    left_out = {name: named(fit(others(name, seen))) for name in names}
    LEFT_OUT.write_text(json.dumps(left_out, indent=1) + "\n")


def figure(line: Line, name: str) -> float | None:
    """Stopping early as shares: of the pairs that would have come, and of the fetches."""
    of = line.figures
    if name == "stop_loss":
        return None if of.stop_lost is None else of.stop_lost / max(of.pairs, 1)
    if name == "stop_saving":
        return None if of.stop_saved is None else of.stop_saved / max(of.fetched, 1)
    value: float | None = getattr(of, name)
    return value


class Mean(NamedTuple):
    """Over those that have a figure, and how many have none."""

    value: float | None
    missing: int

    @classmethod
    def of(cls, values: Iterable[float | None]) -> "Mean":
        every = list(values)
        known = [value for value in every if value is not None]
        return cls(mean(known) if known else None, len(every) - len(known))

    def shown(self, style: str) -> str:
        if self.value is None:
            return "-"
        return format(self.value, style) + (f"({self.missing}-)" if self.missing else "")


class Run(NamedTuple):
    """Which simulation of a site it is: a row of the table."""

    strategy: str
    in_flight: int

    @classmethod
    def of(cls, line: Line) -> "Run":
        return cls(line.strategy, line.in_flight)


Means = dict[str, Mean]
"""The figures of a row, by column."""


def table(lines: Sequence[Line], *, detailed: bool) -> None:
    sites = list(dict.fromkeys(line.site for line in lines))
    runs = list(dict.fromkeys(map(Run.of, lines)))
    if detailed:
        print(_head("site"))
        for line in lines:
            print(_row(f"{line.site} {line.languages}", Run.of(line), _means([line]), [line]))
        print()
    means: dict[tuple[str, Run], Means] = {}
    print(_head("site"))
    for site, run in product(sites, runs):
        of_site = [line for line in lines if (line.site, Run.of(line)) == (site, run)]
        means[site, run] = _means(of_site)
        print(_row(site, run, means[site, run], of_site))
    print()
    over = {run: {n: Mean.of(means[site, run][n].value for site in sites) for n in COLUMNS} for run in runs}
    for run in runs:
        behind = max(_area(means[site, one]) - _area(means[site, run]) for site in sites for one in runs)
        of_run = [line for line in lines if Run.of(line) == run]
        print(f"{_row(f'mean of {len(sites)} sites', run, over[run], of_run)}   {behind:.3f} behind the best at worst")
    targets = "".join(f"{column.target:>12}" for column in COLUMNS.values())
    print(f"{'target for adaptive':<26}{'':<18}{targets}{'>= .9':>8}   0.020")
    for run in runs:
        if run.in_flight != runs[0].in_flight:
            usual = run._replace(in_flight=runs[0].in_flight)
            ratios = [_area(means[site, usual]) / (_area(means[site, run]) or 1) for site in sites]
            told = ratio([_area(over[usual])], [_area(over[run])])
            print(f"area {usual.in_flight} / {run.in_flight}, {run.strategy:<16}{told}, at least {min(ratios):.3f}")
    print(
        "(n-): n without a figure are not in the mean: nothing examined, no stop, or 95 % of the pairs never reached."
    )
    print("least: the pairs at the worst point of the crawl, beside breadth-first with as many visits in flight.")


def _means(lines: Sequence[Line]) -> Means:
    return {name: Mean.of(figure(line, name) for line in lines) for name in COLUMNS}


def _area(means: Means) -> float:
    return means["area"].value or 0.0


def _head(site: str) -> str:
    columns = "".join(f"{column.head:>12}" for column in COLUMNS.values())
    return f"{site:<26}{'strategy, in flight':<18}{columns[1:]}{'least':>8}"


def _row(site: str, run: Run, values: Means, lines: Sequence[Line]) -> str:
    columns = "".join(f"{values[name].shown(column.style):>12}" for name, column in COLUMNS.items())
    least = min((line.least for line in lines if line.least is not None), default=None)
    return f"{site:<26}{run.strategy:<15}{run.in_flight:3}{columns}{shown(least):>8}"


def simulate_here(name: str, asked: Asked) -> list[Line]:
    return asyncio.run(simulate_site(name, asked))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m lab.bench.strategies")
    parser.add_argument("sites", nargs="*")
    parser.add_argument("--strategies", default="all")
    parser.add_argument("--langs", default="", help="only this pair, as en,fr")
    parser.add_argument("--ignore-alternates", action="store_true")
    parser.add_argument("--no-models", action="store_true")
    parser.add_argument("--detailed", action="store_true", help="each language pair too")
    parser.add_argument("--fresh", action="store_true", help="analyse all pages again")
    parser.add_argument("--jobs", type=int, choices=(1, 2), default=1, help="processes")
    parser.add_argument("--train", action="store_true", help="write the weights without each site, and nothing else")
    parser.add_argument("--reach", action="store_true", help="the pages reached with --exhaustive, and nothing else")
    parser.add_argument("--small", action="store_true", help="small sites, cut from these")
    add_option(parser)
    given = parser.parse_args()
    if not SITES.exists():
        print(f"strategies: {SITES} is not here (frozen copies of the sites that src/bitrawl/models/pairs.md names)")
        print("on an archive of your own: bitrawl simulate site.warc.gz --langs en,fr")
        return
    if given.fresh and CACHE.exists():
        shutil.rmtree(CACHE)
    strategies = UNFOCUSED if given.strategies == "all" else tuple(map(Strategy, given.strategies.split(",")))
    asked = Asked(strategies, given.langs, not given.ignore_alternates, not given.no_models, tuple(given.in_flight))
    names = given.sites or sorted(path.name for path in SITES.iterdir() if path.is_dir())
    began = time.perf_counter()
    if given.train:
        train_without_each(names)
        return
    if given.reach:
        for name in names:
            print_reach(name, asyncio.run(reach(name, asked)))
        return
    if given.small:
        cuts = [cut for cut in CUTS if cut.site in names]
        found = [asyncio.run(simulate_cut(cut, asked)) for cut in cuts]
        table([line for lines in found for line in lines], detailed=False)
        print("after the name of a site: its pages, and the pairs that links lead to")
        return
    if given.jobs == 1:
        found = [simulate_here(name, asked) for name in names]
    else:
        with ProcessPoolExecutor(given.jobs) as pool:
            found = list(pool.map(partial(simulate_here, asked=asked), names))
    table([line for lines in found for line in lines], detailed=given.detailed or len(names) == 1)
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
