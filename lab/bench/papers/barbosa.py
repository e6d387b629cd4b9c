"""Barbosa et al. 2011 repeated: figure 3, bilingual sites that each strategy finds, and table 1, the bilingual site detector.

    python -m lab.bench papers barbosa                          # all of it; the figures go to docs/images
    python -m lab.bench.papers.barbosa --parts detector
    python -m lab.bench.papers.barbosa --parts walks --sets 3 --draw /tmp

walks: the searches of lab/bench/discovery.py, which says how sites and downloads are counted, on the linked and on the random web. The
curves are means over the sets of seeds, the pale areas one standard deviation to both sides. All strategies start from the same sets, so
the last table says in how many of them `cobfc` and `cocitation` are ahead of `obfc`.

detector: a site is bilingual by the rule of the paper, one pair of parallel pages, so thin sites count as bilingual. The paper has a
hundred bilingual sites and a hundred others, we have many more others. So precision and downloads are weighed as if both were
equally many. The predictor is trained anew without the hosts that it is measured on, in five folds. "all": also sites whose entry page
has no link to the second language.
"""

import argparse
import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, stdev
from typing import NamedTuple

from bitrawl.discover.settings import Walk
from bitrawl.discover.suggestions import links_inside
from bitrawl.papers.discovery import WalkTrial
from bitrawl.show import Series
from bitrawl.show.harvest import Panel, svg
from lab.bench.detector import PAIRS, Bench, Judged, Make, Site, as_judged, opened_bench, ours, paper
from lab.bench.discovery import MARKS, WEB, Compared, compared
from lab.bench.in_flight import USUAL

PARTS = ("walks", "detector")
IMAGES = Path(__file__).parents[3] / "docs" / "images"
WEBS = {"real": "linked web", "random": "random web"}
NEAR = "one click"
STEP = 25  # downloads between two points of a curve
PAPER_SITES = {Walk.OBFC: 3894, Walk.COBFC: 6598}  # after 100,000 pages; the bars of the others have no numbers


class Detection(NamedTuple):
    """How good a detector is, if half of the sites are bilingual."""

    recall: float
    precision: float
    f: float
    downloads: float = 0.0  # beyond the entry page


PAPER_TABLE = {  # by the least likelihood of a link: the link predictor alone, and the detector
    0.0: (Detection(1, 0.5, 0.66), Detection(0.86, 0.73, 0.79, 29.1)),
    0.1: (Detection(0.97, 0.55, 0.7), Detection(0.75, 0.84, 0.79, 6.5)),
    0.2: (Detection(0.94, 0.61, 0.8), Detection(0.74, 0.89, 0.8, 4.5)),
    0.3: (Detection(0.88, 0.68, 0.76), Detection(0.71, 0.93, 0.8, 3.6)),
    0.4: (Detection(0.85, 0.72, 0.78), Detection(0.7, 0.93, 0.8, 3.1)),
    0.5: (Detection(0.84, 0.75, 0.79), Detection(0.67, 0.95, 0.78, 2.8)),
    0.6: (Detection(0.84, 0.75, 0.79), Detection(0.67, 0.95, 0.78, 2.6)),
    0.7: (Detection(0.83, 0.76, 0.79), Detection(0.67, 0.95, 0.78, 2.4)),
    0.8: (Detection(0.81, 0.78, 0.79), Detection(0.67, 0.95, 0.78, 2.2)),
    0.9: (Detection(0.77, 0.8, 0.78), Detection(0.66, 0.97, 0.78, 2)),
}


# Figure 3


async def walks(sets: int, folder: Path) -> None:
    by_web = {
        web: walked(trials)
        for web, trials in (await compared(["--sets", str(sets), "--in-flight", str(USUAL)])).items()
    }
    for web, by_name in by_web.items():
        today = datetime.now(UTC).date()
        title = f"{WEBS[web].capitalize()}: mean and spread of {sets} sets of seeds ({today})"
        panel = Panel(title, "", tuple(curve(name, trials) for name, trials in by_name.items()))
        path = folder / f"barbosa-{WEBS[web].replace(' ', '-')}.svg"
        path.write_text(svg(panel, x="downloads", y="bilingual sites"), encoding="utf-8")
        print(f"drawn: {path}")
    print("\n".join(advantages(by_web)), flush=True)


Walks = Mapping[str, Sequence[WalkTrial]]
"""By strategy, one for each set of seeds."""


def walked(by_walk: Compared) -> Walks:
    return {one.name: [trial.walked for trial in trials] for one, trials in by_walk.items()}


def curve(name: str, trials: Sequence[WalkTrial]) -> Series:
    """The mean of the sites found, and one standard deviation to both sides."""
    points, spread = [], []
    for at in range(0, max(MARKS) + 1, STEP):
        found = [trial.sites_at(at) for trial in trials]
        middle, around = mean(found), stdev(found) if len(found) > 1 else 0.0
        points.append((at, middle))
        spread.append((at, max(0.0, middle - around), middle + around))
    return Series(name, tuple(points), spread=tuple(spread))


def advantages(by_web: Mapping[str, Walks]) -> Iterator[str]:
    """How many times the sites of `obfc`, and from how many of the sets of seeds more."""
    marks = [(web, mark) for web in by_web for mark in MARKS]
    heads = "".join(f"{f'{WEBS[web]}, {mark}':>22}" for web, mark in marks)
    yield f"{'times obfc, ahead in':20}{'paper, 100,000 pages':>22}{heads}"
    for name in (Walk.COBFC, Walk.COCITATION):
        told = f"{PAPER_SITES[name] / PAPER_SITES[Walk.OBFC]:.2f}" if name in PAPER_SITES else "-"
        cells = [ahead(by_web[web][name], by_web[web][Walk.OBFC], mark) for web, mark in marks]
        yield f"{name:20}{told:>22}" + "".join(f"{cell:>22}" for cell in cells)


def ahead(trials: Sequence[WalkTrial], others: Sequence[WalkTrial], mark: int) -> str:
    """The ratio of the means, and how many of the sets of seeds have more sites, as in "2.00, 9 of 10"."""
    found, found_by_others = ([trial.sites_at(mark) for trial in some] for some in (trials, others))
    more = sum(one > other for one, other in zip(found, found_by_others, strict=True))
    return f"{sum(found) / max(1, sum(found_by_others)):.2f}, {more} of {len(found)}"


# Table 1


async def detector() -> None:
    async with opened_bench(WEB, PAIRS) as bench:
        near = sum(is_bilingual(site) and site.distance == NEAR for site in bench.sites)
        count = sum(map(is_bilingual, bench.sites))
        print(f"\n{len(bench.sites)} sites and pairs of languages, {count} bilingual, {near} of them by one click")
        print(f"{'likelihood':12}" + "".join(f"{name:<33}" for name in ("the paper", f"here, {NEAR}", "here, all")))
        print(f"{'':12}" + f"{'recall':>7}{'precision':>10}{'F':>6}{'downloads':>10}" * 3)
        print("link predictor alone")
        for likelihood, (told, _) in PAPER_TABLE.items():
            print(row(str(likelihood), told, await predicted(bench, likelihood)), flush=True)
        print("detector")
        for likelihood, (_, told) in PAPER_TABLE.items():
            print(row(str(likelihood), told, await judged(bench, paper(bench, likelihood))), flush=True)
        print(row("bitrawl", None, await judged(bench, ours(bench))))


def row(name: str, told: Detection | None, found: Sequence[Judged]) -> str:
    close = [one for one in found if not is_bilingual(one.site) or one.site.distance == NEAR]
    return f"{name:12}" + "".join(map(cells, (told, detection(close), detection(found))))


def cells(detected: Detection | None) -> str:
    if detected is None:
        return f"{'-':>33}"
    downloads = f"{detected.downloads:.2f}" if detected.downloads else ""
    return f"{detected.recall:7.2f}{detected.precision:10.2f}{detected.f:6.2f}{downloads:>10}"


def is_bilingual(site: Site) -> bool:
    """By the rule of the paper: one pair of pages is enough."""
    return site.verdict != "no"


def detection(found: Sequence[Judged]) -> Detection:
    """As if there were as many bilingual sites as others."""
    bilingual, others = ([one for one in found if is_bilingual(one.site) is kind] for kind in (True, False))
    recall, false = (mean(one.said for one in some) for some in (bilingual, others))
    precision = recall / (recall + false) if recall else 0.0
    f = 2 * precision * recall / (precision + recall) if recall else 0.0
    return Detection(recall, precision, f, mean(mean(one.downloads for one in some) for some in (bilingual, others)))


async def predicted(bench: Bench, likelihood: float) -> list[Judged]:
    """By the link predictor alone: a site counts if one of its links does."""
    found = []
    for site in bench.sites:
        page = await bench.entry(site)
        inside = links_inside(page) if page else []
        best = 0.0
        for language in site.languages:
            if page and page.language != language:
                best = max([best, *bench.predictor(site.host).likelihoods(inside, page, language)])
        found.append(Judged(site, bool(inside) and best >= likelihood, 0))
    return found


async def judged(bench: Bench, make: Make) -> list[Judged]:
    return as_judged(await bench.judged(make))


async def run(asked: argparse.Namespace) -> None:
    if "walks" in asked.parts:
        await walks(asked.sets, asked.draw)
    if "detector" in asked.parts:
        await detector()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", type=lambda raw: raw.split(","), default=PARTS, help=f"of {', '.join(PARTS)}")
    parser.add_argument("--sets", type=int, default=10, help="sets of seeds")
    parser.add_argument("--draw", type=Path, default=IMAGES, help="write the figures into this folder")
    asked = parser.parse_args()
    if not WEB.is_dir():
        raise SystemExit(f"{WEB} is not there: this benchmark needs the frozen web (lab/notes/benchmarks.md)")
    asyncio.run(run(asked))


if __name__ == "__main__":
    main()
