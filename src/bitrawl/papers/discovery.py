"""Searches for bilingual sites, replayed on an archived web with a link graph, to compare how soon each walk finds them.

trials = await walk_trials(replay, SimulatedSearch(languages, seeds, source), WALKS)
write(Path("searched"), trials)
"""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from bitrawl import files
from bitrawl.crawling import (
    Crawl,
    Frontier,
    HostRules,
    PageSource,
    Reach,
    RobotsFetcher,
    Scope,
    ScopeRules,
    Sites,
    Spending,
)
from bitrawl.discover.graph_index import HostLanguages
from bitrawl.discover.settings import Walk
from bitrawl.discover.site_check import new_site_check
from bitrawl.discover.walk import NewCheck, WalkMoment, new_walk
from bitrawl.model import Language, Link, LinkKind
from bitrawl.papers import SIMULATED_DOWNLOADS
from bitrawl.papers.replay import InFlightWeb, Replay, ReplayClock
from bitrawl.papers.trial import MemoryQueue, ReplayLedger
from bitrawl.protocols import Analyser, BacklinkSource
from bitrawl.show import Series, harvest
from bitrawl.topic.judge import TopicJudge
from bitrawl.url import Url

WALKS = (Walk.FC, Walk.OBFC, Walk.COBFC, Walk.COCITATION)
"""Walks that need no topic, in the order of figure 3 of Barbosa et al."""

MARKS = (100, 200, 500)  # downloads, the columns of the table
_ANY_HOSTS = 10_000  # hosts of one site: a walk limits the pages of each host itself


class SimulatedSearch(msgspec.Struct, frozen=True):
    """What all walks have in common."""

    languages: Sequence[Language]
    seeds: Sequence[Url]
    source: BacklinkSource | None  # None without a link graph
    downloads: int = SIMULATED_DOWNLOADS
    in_flight: int = 1  # visits at once; see `InFlightWeb`
    check: NewCheck | None = None  # replaces the check that a live search uses
    analyser: Analyser | None = None  # replaces the one of the replay
    counted: HostLanguages | None = None  # which languages hosts have, by an index
    new_judge: Callable[[], TopicJudge] | None = (
        None  # of the topic, for the walk that needs one; it learns, so each has its own
    )


class WalkTrial(msgspec.Struct, frozen=True):
    """One walk of a simulation, with what it found."""

    walk: Walk
    curve: tuple[WalkMoment, ...]  # a point for each verdict
    downloads: int
    held: tuple[str, ...]  # sites that it holds to be bilingual, with those of the seeds
    faults: int  # visits that ended with a bug in bitrawl

    def sites_at(self, downloads: int) -> int:
        """Bilingual sites found until then, without the seeds."""
        return max((moment.sites for moment in self.curve if moment.downloads <= downloads), default=0)


async def walk_trials(
    replay: Replay,
    search: SimulatedSearch,
    walks: Iterable[Walk] = WALKS,
    tell: Callable[[str], None] = lambda _walk: None,
) -> list[WalkTrial]:
    """Each walk from the same seeds. `tell` gets its name before it begins."""
    trials = []
    for name in walks:
        tell(name)
        trials.append(await run_walk(replay, search, name))
    return trials


async def run_walk(replay: Replay, search: SimulatedSearch, name: Walk) -> WalkTrial:
    """Until the downloads are used up, or nothing is left to visit. Every request for a page counts, whatever it brings."""
    clock, sites = ReplayClock(), Sites()
    ledger = ReplayLedger(sites.of)
    web = InFlightWeb(replay.fetcher, search.analyser or replay.analyser, clock, search.in_flight)
    robots = RobotsFetcher(web, clock, web.politeness.to_archives)
    check = search.check or new_site_check(search.languages, robots.sitemaps, search.counted)
    walked = new_walk(name, search.languages, search.source, check, search.counted)
    judge = search.new_judge() if name is Walk.FOCUSED and search.new_judge is not None else None
    crawl = Crawl(
        Frontier(
            MemoryQueue(),
            clock,
            sites.of,
            web.politeness,
            spending=Spending(downloads=search.downloads),
            rules=HostRules(ranked=True, explores=True, returns=True),
        ),
        PageSource(robots, web),
        scorer=walked,
        ledger=ledger,
        scope=Scope(sites, search.seeds, ScopeRules(reach=Reach.WEB)),
        settings=web.settings(attempts=1, sitemaps=False, feeds=False, site_hosts=_ANY_HOSTS),
        judge=judge,
    )
    crawl.seed([Link(url, LinkKind.SEED) for url in search.seeds])
    await crawl.run()
    held = tuple(verdict.site for verdict in walked.found)
    return WalkTrial(name, tuple(walked.curve), walked.downloads, held, ledger.faults)


def table(trials: Sequence[WalkTrial]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Heads and rows: sites after each mark that a walk reached, and in the end. "-" where it ended before."""
    reached = max((trial.downloads for trial in trials), default=0)
    marks = [mark for mark in MARKS if mark < reached]
    heads = ("", *(f"after {mark}" for mark in marks), "in the end", "downloads")
    rows = []
    for trial in trials:
        counts = [str(trial.sites_at(mark)) if mark <= trial.downloads else "-" for mark in marks]
        rows.append((str(trial.walk), *counts, str(trial.sites_at(trial.downloads)), str(trial.downloads)))
    return heads, rows


def write(folder: Path, trials: Sequence[WalkTrial]) -> None:
    """harvest.csv and harvest.svg. The same searches give the same bytes."""
    text = io.StringIO(newline="")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("walk", "downloads", "sites"))
    for trial in trials:
        rows.writerows((trial.walk, *point) for point in _points(trial))
    files.write(folder / "harvest.csv", text.getvalue())
    reached = max((trial.downloads for trial in trials), default=0)
    curves = [
        harvest.curve(
            trial.walk,
            [trial.sites_at(downloads) for downloads in range(1, reached + 1)],
            trial.downloads if trial.downloads < reached else None,
        )
        for trial in trials
    ]
    files.write(folder / "harvest.svg", picture(curves))


def picture(curves: Iterable[Series]) -> str:
    """Figure 3 of Barbosa et al., with lines instead of bars."""
    panel = harvest.Panel("Bilingual sites found", "", tuple(curves))
    return harvest.svg(panel, x="downloads", y="bilingual sites")


def _points(trial: WalkTrial) -> list[WalkMoment]:
    """Where the curve rises, and where it ends."""
    rises: list[WalkMoment] = []
    for moment in trial.curve:
        if moment.sites > (rises[-1].sites if rises else 0):
            rises.append(moment)
    end = WalkMoment(trial.downloads, trial.sites_at(trial.downloads))
    return rises if rises and rises[-1] == end else [*rises, end]
