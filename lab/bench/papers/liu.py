"""Liu et al. repeated: a queue that is ordered by URL patterns against the plain queue, and what their corpora are worth.

    python -m lab.bench papers liu                               # all of it; the figure goes to docs/images
    python -m lab.bench.papers.liu --parts queues --sites apisix lilypond
    python -m lab.bench.papers.liu --parts corpora               # tables 6 and 7; needs sil-thot and sacrebleu
    python -m lab.bench.papers.liu --train                       # the weights of section 4 without each site, and nothing else

It needs the site packs of ../shared/sites. The weights of the features are those that were learned without the site that is
measured (liu-left-out.json beside this file, which --train writes; the last row, `all`, is what the package ships).

queues: tables 4 and 5, figures 6 and 7. As in lab.bench.strategies, each language pair with English that has at least 30
true pairs is a walk of its own; a figure is the mean over the language pairs of a site, then over sites. `verified` are
candidates of which both pages were read and in their languages, `opened` also those that were given up after a page in
another language. The paper counts them for each pair that was accepted; `by true` counts those verified for each true one.

corpora: of the sites and languages of lab.bench.translation, what the pairs of each queue give: sentences, and BLEU of a
translator. As there, a fifth of the known pairs is held out for tests. `all` are the segments as aligned, without equal ones,
which is what the paper does; `judged` those that a job would export.
"""

import argparse
import asyncio
import importlib.util
import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.mining import Thresholds
from bitrawl.model import Advice, Language, Link, Page, SegmentPair, SiteKnowledge, Visit
from bitrawl.papers.replay import Replay, ReplaySettings, opened_replay
from bitrawl.papers.trial import Truth, UrlPair, in_order, run_trial
from bitrawl.papers.url_patterns import DEFAULT, PatternRules, UrlPatterns
from bitrawl.papers.verification import ReadPage, Verification, Weights
from bitrawl.show import Series
from bitrawl.text.words import text_key
from lab.bench.papers.panels import Curve, Lines, lines
from lab.bench.strategies import CACHE, SITES
from lab.bench.translation import (
    ALL_SEGMENTS,
    MOST_TESTED,
    RUNS,
    Figures,
    Split,
    certain_segments,
    corpus,
    held_out,
    opened,
    segments,
    translated,
    without_leaks,
)
from lab.bench.translation import figures as translation_figures
from lab.bench.translator import tokens
from lab.train.adaptive import LEAST_PAIRS
from lab.train.folds import without
from lab.train.site_packs import SitePack, open_packs

Floats = NDArray[np.float64]
Languages = tuple[Language, Language]

PARTS = ("queues", "corpora")
IMAGES = Path(__file__).parents[3] / "docs" / "images"
LEFT_OUT = Path(__file__).parent / "liu-left-out.json"
ALL = "all"
TWO, THREE = "two features", "three features"
PENALTY = 1e-3  # on the squares of the weights; judgement: 3e-4 and 2e-3 give the same precision to .002
STEPS, LEAST_STEP = 60, 1e-7  # of Newton's method


class Queue(NamedTuple):
    """A way to walk, and by what it verifies."""

    rules: PatternRules
    features: str = THREE


PLAIN, PATTERNS = "plain queue", "patterns, early stop"
QUEUES = {
    PLAIN: Queue(PatternRules(patterns=False, stops=False)),
    "patterns, no early stop": Queue(PatternRules(stops=False)),
    PATTERNS: Queue(DEFAULT),
    "the same, two features": Queue(DEFAULT, TWO),
    "the same, blind trust": Queue(PatternRules(trust=math.inf)),
}
PAPER = {  # www.un.org and www.gov.hk: processed for each accepted pair, and precision
    PLAIN: ((4.466, 0.82), (2.468, 0.84)),
    PATTERNS: ((1.197, 0.98), (1.206, 0.99)),
}


def today() -> str:
    return datetime.now(UTC).date().isoformat()


# The weights of section 4


class Example(NamedTuple):
    """Two pages that were compared."""

    features: tuple[float, float, float]
    is_pair: bool


class Labelled(Verification):
    """Knows the true pairs, and remembers what was compared: each candidate, and each pair's page with the partner of
    the pair before it, because a walk with this knowledge meets few wrong candidates.
    """

    def __init__(self, languages: Languages, truth: Truth, examples: list[Example]) -> None:
        super().__init__(languages)
        self._truth = truth
        self._examples = examples
        self._last: ReadPage | None = None

    def score(self, a: ReadPage, b: ReadPage) -> float:
        is_judged = super().score(a, b) > 0  # an untranslated copy needs no weights
        pair = in_order((a.url, b.url))
        if is_judged and pair not in self._truth.uncounted:
            self._examples.append(Example(self.features(a, b), pair in self._truth.pairs))
        return float(pair in self._truth.pairs or pair in self._truth.uncounted)

    def add(self, a: ReadPage, b: ReadPage) -> None:
        if self._last is not None:
            self._examples.append(Example(self.features(a, self._last), is_pair=False))
        self._last = b
        super().add(a, b)


def train() -> None:
    sites = {}
    for pack in open_packs(SITES):
        sites[pack.name] = asyncio.run(examples_of(pack))
        counts = [sum(one.is_pair == wanted for some in sites[pack.name] for one in some) for wanted in (True, False)]
        print(f"{pack.name}: {counts[0]} pairs, {counts[1]} others", flush=True)
    left_out = {
        features: {name: fit(without(name, sites), features) for name in (*sites, ALL)} for features in (TWO, THREE)
    }
    LEFT_OUT.write_text(json.dumps(left_out, indent=1) + "\n")


async def examples_of(pack: SitePack) -> list[list[Example]]:
    """A list for each language pair."""
    found: list[list[Example]] = []
    async with opened_replay([pack.archive], cache=CACHE) as replay:
        for languages in pack.pairs_with_english(LEAST_PAIRS):
            truth = Truth(pack.true_pairs(languages), pack.uncounted_pairs())
            found.append([])

            def labelled(two: Languages, truth: Truth = truth) -> Verification:
                return Labelled(two, truth, found[-1])

            await walked(replay, pack, UrlPatterns(languages, labelled), languages)
    return found


def fit(sites: Sequence[Sequence[Sequence[Example]]], features: str) -> list[float]:
    """A logistic regression. Every site counts the same, and within a site every language pair."""
    examples = [(one, 1 / len(some) / len(site) / len(sites)) for site in sites for some in site for one in some]
    columns = np.array([(1.0, *one.features) for one, _ in examples])
    if features == TWO:
        columns[:, 3] = 0.0
    labels = np.array([one.is_pair for one, _ in examples], float)
    share = np.array([share for _, share in examples])
    penalty = np.array([0.0, PENALTY, PENALTY, PENALTY])
    weights = np.zeros(4)
    for _ in range(STEPS):  # Newton's method
        chance = 1 / (1 + np.exp(-columns @ weights))
        slope = columns.T @ (share * (chance - labels)) + penalty * weights
        bend = (columns * (share * chance * (1 - chance))[:, None]).T @ columns + np.diag(penalty)
        step = np.linalg.solve(bend, slope)
        weights -= step
        if np.abs(step).max() < LEAST_STEP:
            break
    return [round(float(weight), 3) for weight in weights]


def left_out(site: str, features: str) -> Weights:
    """The weights that have not seen the site."""
    return Weights(*json.loads(LEFT_OUT.read_text())[features][site])


# Tables 4 and 5, figures 6 and 7


class Timed:
    """Notes after how many visits a strategy accepted each pair."""

    def __init__(self, inner: UrlPatterns) -> None:
        self._inner = inner
        self._visits = 0
        self.accepted: dict[UrlPair, int] = {}

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:
        return self._inner.score(links, found_on, site)

    def learn(self, visit: Visit, site: SiteKnowledge) -> None:
        self._visits += 1
        self._inner.learn(visit, site)

    def advise(self, site: SiteKnowledge) -> Advice:
        advice = self._inner.advise(site)
        for pair in self._inner.pairs:
            self.accepted.setdefault(pair, self._visits)
        return advice


class Walked(NamedTuple):
    """What one walk did, and where it ended."""

    accepted: Mapping[UrlPair, int]  # the page in the first language first
    fetches: int
    opened: int
    verified: int
    stopped: bool


async def walked(replay: Replay, pack: SitePack, strategy: UrlPatterns, languages: Languages) -> Walked:
    seeds = [url or seed for seed, url in replay.archived(pack.seeds).items()]
    timed = Timed(strategy)
    run = await run_trial("", timed, replay.prepared(seeds, ReplaySettings(languages=languages, stop=True)))
    return Walked(timed.accepted, len(run.kept), strategy.opened, strategy.examined, run.stop is not None)


class Row(NamedTuple):
    """The figures of a walk."""

    opened: float  # for each accepted pair
    verified: float  # for each accepted pair
    verified_true: float  # for each true pair
    precision: float
    found: float  # share of the true pairs
    fetches: float  # for each page of a true pair
    stopped: float


class Trial(NamedTuple):
    """One queue on one language pair of a site."""

    site: str
    languages: Languages
    queue: str
    walk: Walked
    truth: Truth
    length: int  # fetches of the plain queue

    def row(self) -> Row:
        walk = self.walk
        counted = set(map(in_order, walk.accepted)) - self.truth.uncounted
        right = len(counted & self.truth.pairs)
        uncounted = len(walk.accepted) - len(counted)
        return Row(
            (walk.opened - uncounted) / max(len(counted), 1),
            (walk.verified - uncounted) / max(len(counted), 1),
            (walk.verified - uncounted) / max(right, 1),
            right / max(len(counted), 1),
            right / len(self.truth.pairs),
            walk.fetches / max(2 * right, 1),
            float(walk.stopped),
        )

    def curve(self) -> Floats:
        """The percentage of the true pairs that were accepted, at each percentage of the plain queue's fetches."""
        times = np.sort([time for pair, time in self.walk.accepted.items() if in_order(pair) in self.truth.pairs])
        marks = np.arange(101) * self.length / 100
        return 100 * np.searchsorted(times, marks, side="right") / len(self.truth.pairs)


async def trials(pack: SitePack) -> list[Trial]:
    found = []
    async with opened_replay([pack.archive], cache=CACHE) as replay:
        for languages in pack.pairs_with_english(LEAST_PAIRS):
            truth = Truth(pack.true_pairs(languages), pack.uncounted_pairs())
            walks = {
                name: await walked(replay, pack, strategy_of(pack.name, queue, languages), languages)
                for name, queue in QUEUES.items()
            }
            length = walks[PLAIN].fetches
            found += [Trial(pack.name, languages, name, walk, truth, length) for name, walk in walks.items()]
    return found


def strategy_of(site: str, queue: Queue, languages: Languages) -> UrlPatterns:
    weights = left_out(site, queue.features)
    return UrlPatterns(languages, lambda two: Verification(two, weights=weights), queue.rules)


def queues(names: Sequence[str], folder: Path) -> None:
    found: list[Trial] = []
    print(f"{today()}, tables 4 and 5: means over language pairs, then over sites")
    print(f"{'':46}{'opened':>9}{'verified':>9}{'by true':>9}{'precis.':>9}{'found':>8}{'fetches':>9}{'stops':>7}")
    for name in names:
        found += asyncio.run(trials(SitePack.open(SITES / name)))
        for queue in QUEUES:
            print_row(name, queue, site_row(found, name, queue))
    print()
    for queue in QUEUES:
        print_row(f"mean of {len(names)}", queue, averaged([site_row(found, name, queue) for name in names]))
    for queue, sites in PAPER.items():
        shown = "; ".join(f"{ratio:.2f} and {precision:.0%}" for ratio, precision in sites)
        print(f"the paper, {queue}: processed for each accepted pair and precision, www.un.org; www.gov.hk: {shown}")
    path = folder / "liu-queues.svg"
    path.write_text(drawn(found, names), encoding="utf-8")
    print(f"\nfigures 6 and 7: {path}\n", flush=True)


def averaged(rows: Sequence[Row]) -> Row:
    return Row(*(mean(values) for values in zip(*rows, strict=True)))


def site_row(found: Sequence[Trial], site: str, queue: str) -> Row:
    return averaged([trial.row() for trial in found if (trial.site, trial.queue) == (site, queue)])


def print_row(site: str, queue: str, row: Row) -> None:
    numbers = f"{row.opened:9.2f}{row.verified:9.2f}{row.verified_true:9.2f}{row.precision:9.3f}{row.found:8.3f}"
    print(f"{site:<20}{queue:<26}{numbers}{row.fetches:9.2f}{row.stopped:7.0%}", flush=True)


def drawn(found: Sequence[Trial], names: Sequence[str]) -> str:
    """All sites, and the three where the plain queue opens most candidates."""
    most = sorted(names, key=lambda name: -site_row(found, name, PLAIN).opened)[:3]
    groups = {f"Mean of {len(names)} sites": names, **{name: [name] for name in most}}
    panels = []
    for title, sites in groups.items():
        curves = []
        for queue in (PATTERNS, PLAIN):
            of_sites = [mean_curve(found, site, queue) for site in sites]
            shares = np.mean(of_sites, axis=0)
            points = tuple((mark, round(float(shares[mark]), 1)) for mark in range(0, 101, 4))
            curves.append(Curve(Series(queue.split(",")[0], points), ()))
        panels.append(Lines(title, curves))
    heading = f"True pairs that were accepted, by fetches ({today()})"
    return lines(heading, panels, x="% of the plain queue's fetches", y="% of the true pairs")


def mean_curve(found: Sequence[Trial], site: str, queue: str) -> Floats:
    return np.mean([one.curve() for one in found if (one.site, one.queue) == (site, queue)], axis=0)


# Tables 6 and 7


class Kind(NamedTuple):
    """Which of the pairs of a queue make a corpus, and what of it is kept."""

    thresholds: Thresholds
    share: float = 1.0  # of the fetches after which the queue with patterns ends


KINDS = {"all": Kind(ALL_SEGMENTS), "judged": Kind(Thresholds()), "half of the fetches": Kind(ALL_SEGMENTS, 0.5)}
SYSTEMS = {"patterns": PATTERNS, "plain queue": PLAIN}
COMPARED = "patterns, all"  # with which lab.bench.translation compares the others, as "ours"


def corpora(runs: Sequence[str]) -> None:
    if missing := [name for name in ("thot", "sacrebleu") if importlib.util.find_spec(name) is None]:
        print(f"papers liu: {' and '.join(missing)} not installed: pip install sil-thot sacrebleu")
        return
    print(
        f"{today()}, tables 6 and 7: segments without equal ones, BLEU, and p of the difference to {COMPARED!r} by paired bootstrap"
    )
    splits: list[Split] = []
    bleus: list[Mapping[str, Figures]] = []
    for run in runs:
        site, _, language = run.partition(":")
        splits.append(compared(SitePack.open(SITES / site), (Language("en"), Language(language))))
        bleus.append(translation_figures(splits[-1:]))
        print(f"\n{site}, en-{language}: {len(splits[-1].sources)} test segments")
        print_corpora(splits[-1:], bleus[-1:])
    print(f"\nmean of {len(splits)}")
    print_corpora(splits, bleus)


def print_corpora(splits: Sequence[Split], bleus: Sequence[Mapping[str, Figures]]) -> None:
    """Of one site, or the means of several."""
    print(f"{'':32}{'page pairs':>11}{'segments':>10}{'BLEU':>8}{'±':>6}{'p':>8}")
    for system in splits[0].corpora:
        name = COMPARED if system == "ours" else system
        page_pairs = mean(split.page_pairs[system] for split in splits)
        size = mean(len(split.corpora[system]) for split in splits)
        some = [found[system] for found in bleus]
        spread = f"{some[0].spread:>6.2f}{some[0].p:>8}" if len(some) == 1 else ""
        print(f"{name:<32}{page_pairs:>11.0f}{size:>10.0f}{mean(one.bleu for one in some):>8.2f}{spread}", flush=True)


def compared(pack: SitePack, languages: Languages) -> Split:
    """The corpora of the pairs of each queue, without the pages that are held out."""
    site = opened(pack, languages)
    held = held_out(site.known, 0)
    rest = site.without(frozenset(url for pair in held for url in pair))
    walks = {name: asyncio.run(walk_of(pack, QUEUES[queue], languages)) for name, queue in SYSTEMS.items()}
    last = max(walks["patterns"].accepted.values())
    pairs, found = {}, {}
    aligned: dict[tuple[UrlPair, ...], list[SegmentPair]] = {}
    for kind, (thresholds, share) in KINDS.items():
        for name, walk in walks.items():
            system = "ours" if f"{name}, {kind}" == COMPARED else f"{name}, {kind}"
            in_time = (pair for pair, time in walk.accepted.items() if share == 1 or time <= share * last)
            some = tuple(sorted(pair for pair in in_time if rest.pages.keys() >= set(pair)))
            if some not in aligned:
                aligned[some] = segments(rest, some)
            pairs[system], found[system] = len(some), corpus(aligned[some], thresholds)
    certain = certain_segments(segments(site, held))
    tests = sorted(without_leaks(certain, found.values()), key=lambda two: text_key(two[0]))[:MOST_TESTED]
    sources, references = ([" ".join(tokens(two[side])) for two in tests] for side in (0, 1))
    translations: dict[str, list[str]] = {}
    for name, texts in found.items():
        same = next((other for other in translations if found[other] == texts), None)
        translations[name] = translations[same] if same else translated(texts, sources)
    return Split(found, pairs, sources, references, translations)


async def walk_of(pack: SitePack, queue: Queue, languages: Languages) -> Walked:
    async with opened_replay([pack.archive], cache=CACHE) as replay:
        return await walked(replay, pack, strategy_of(pack.name, queue, languages), languages)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m lab.bench.papers.liu")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--sites", nargs="+", help="of the part queues")
    parser.add_argument("--runs", nargs="+", default=RUNS, help="of the part corpora: site:language")
    parser.add_argument("--draw", type=Path, default=IMAGES, help="the folder for the figure")
    parser.add_argument("--train", action="store_true", help="write the weights without each site, and nothing else")
    asked = parser.parse_args()
    if not SITES.exists():
        print(f"papers liu: {SITES} is not here (frozen copies of the sites that src/bitrawl/models/pairs.md names)")
    elif asked.train:
        train()
    else:
        if "queues" in asked.parts:
            queues(asked.sites or [pack.name for pack in open_packs(SITES)], asked.draw)
        if "corpora" in asked.parts:
            corpora(asked.runs)


if __name__ == "__main__":
    main()
