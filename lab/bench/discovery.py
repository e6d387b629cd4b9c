"""Finding bilingual sites: how many each configuration finds after 100 and 500 downloads, on a frozen web with a link graph.

    python -m lab.bench.discovery                               # en-fr, all configurations, ten sets of seeds, both webs
    python -m lab.bench.discovery --strategies cocitation,obfc --sets 3 --langs en,es
    python -m lab.bench.discovery --counts                      # and ours with a simulated index of languages
    python -m lab.bench.discovery --check truth                 # sites are judged by the truth, which costs as much
    python -m lab.bench papers barbosa                          # draws them as curves, beside figure 3 of Barbosa et al.

Each set of seeds has four bilingual sites, eight sites of any kind and eight citing pages, as ../shared/discovery/seeds.txt. All
configurations get the same graph and the same links. Every request counts as a download, also redirects, errors and what the check
of a site asks for. Sites of the seeds are not counted. A second web has the same hubs, which cite at random: the targets of the
generated hubs are drawn anew. The topic of focused is what the bilingual seeds are about. The index of languages is simulated: it
counts half of the web's pages, drawn at random, by their language. Each walk is made with as many visits in flight as users have,
and one at a time (--in-flight); the last row of a configuration is the ratio of the two. false: sites held to be bilingual that are not, without thin and unknown ones.
"""

import argparse
import asyncio
import csv
import gzip
import os
import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from statistics import mean, stdev
from typing import NamedTuple

import msgspec

from bitrawl.config import Job
from bitrawl.discover.graph_files import without_www
from bitrawl.discover.graph_index import HostLanguages
from bitrawl.discover.settings import Walk as Strategy
from bitrawl.discover.site_lists import SiteAnswer, SiteVerdict
from bitrawl.errors import UrlError
from bitrawl.job.site_search import open_backlinks
from bitrawl.job.topics import Examples, topic_judge
from bitrawl.model import Capture, Language, Link, LinkKind, Page, Sitemap, Skip, Visit
from bitrawl.papers.discovery import WALKS, SimulatedSearch, WalkTrial, run_walk
from bitrawl.papers.replay import Replay, opened_replay
from bitrawl.protocols import Analyser, BacklinkSource
from bitrawl.topic.judge import TopicJudge
from bitrawl.topic.settings import TopicSection
from bitrawl.url import Url
from lab.bench.in_flight import add_option, ratio

WEB = Path(__file__).parents[3] / "shared" / "discovery"
CACHE = Path(os.environ.get("BITRAWL_BENCH_CACHE", Path(tempfile.gettempdir()) / "sitejobs")) / "discovery"
MARKS = (100, 300, 500)


class Row(NamedTuple):
    """A link of links.tsv.gz."""

    source: Url
    target: Url
    anchor: str
    context: str
    origin: str


class Truth(NamedTuple):
    """Hosts of the web, for one pair of languages."""

    bilingual: frozenset[str]
    left_out: frozenset[str]  # thin or unknown
    entries: dict[str, Url]


class Web(NamedTuple):
    """A graph, and what the hubs link to."""

    name: str
    rows: list[Row]
    analyser: Analyser
    source: BacklinkSource


class Configuration(NamedTuple):
    """What is compared."""

    name: str
    strategy: Strategy
    counted: HostLanguages | None = None


class Walked(NamedTuple):
    """Which walk of a configuration it is: a row of the table."""

    name: str
    in_flight: int


class Trial(NamedTuple):
    """One walk."""

    walked: WalkTrial
    false: int
    seconds: float


Compared = dict[Walked, list[Trial]]
"""The walks of each configuration and number in flight, one for each set of seeds."""


def main(arguments: Sequence[str] | None = None) -> None:
    asyncio.run(compared(arguments))


async def compared(arguments: Sequence[str] | None = None) -> dict[str, Compared]:
    """Print a table for each web, and return what it was made of, by the name of the web."""
    asked = _asked(arguments)
    languages = [Language(code) for code in asked.langs.split(",")]
    truth, rows = _truth(languages), _rows()
    by_web = {}
    async with opened_replay([WEB / "web.warc.gz"], cache=CACHE) as replay:
        tried = [Configuration(name, Strategy(name)) for name in asked.strategies.split(",")]
        if asked.counts:
            counted = _simulated_counts(await replay.pages(), languages)
            tried.append(Configuration("with counts", Strategy.COCITATION, counted))
        for name in asked.webs.split(","):
            async with _web(name, rows, replay.analyser) as web:
                by_web[name] = await _table_of(replay, web, truth, tried, asked)
    return by_web


def _asked(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--langs", default="en,fr")
    parser.add_argument("--strategies", default=",".join((Strategy.FC, Strategy.FOCUSED, *WALKS[1:])))
    parser.add_argument("--counts", action="store_true", help="ours with a simulated index of languages too")
    parser.add_argument("--sets", type=int, default=10, help="sets of seeds")
    parser.add_argument("--downloads", type=int, default=max(MARKS))
    parser.add_argument("--check", choices=("site", "truth"), default="site")
    parser.add_argument("--webs", default="real,random")
    add_option(parser)
    return parser.parse_args(arguments)


async def _table_of(
    replay: Replay, web: Web, truth: Truth, tried: Sequence[Configuration], asked: argparse.Namespace
) -> Compared:
    by_walk: Compared = {}
    print(f"{asked.langs}, hubs cite {'as they do' if web.name == 'real' else 'at random'}")
    print(f"{'':12}{'in flight':>10}" + "".join(f"{f'at {mark}':>16}" for mark in MARKS) + f"{'false':>8}{'s each':>8}")
    for one in tried:
        rows = [Walked(one.name, in_flight) for in_flight in asked.in_flight]
        for row in rows:
            searches = (
                _trial(replay, web, truth, one, number, asked, in_flight=row.in_flight) for number in range(asked.sets)
            )
            by_walk[row] = [await search for search in searches]
            _print(row, by_walk[row])
        for row in rows[1:]:
            cells = [ratio(*(_sites(by_walk[which], mark) for which in (rows[0], row))) for mark in MARKS]
            numbers = f"{rows[0].in_flight} / {row.in_flight}"
            print(f"{one.name:12}{numbers:>10}" + "".join(f"{cell:>16}" for cell in cells), flush=True)
    return by_walk


def _sites(trials: Sequence[Trial], mark: int) -> list[int]:
    return [trial.walked.sites_at(mark) for trial in trials]


def _print(row: Walked, trials: Sequence[Trial]) -> None:
    cells = []
    for mark in MARKS:
        found = _sites(trials, mark)
        spread = f" ± {stdev(found):.1f}" if len(found) > 1 else ""
        cells.append(f"{mean(found):.1f}{spread}")
    false = sum(trial.false for trial in trials) / max(1, sum(len(trial.walked.held) for trial in trials))
    print(
        f"{row.name:12}{row.in_flight:10}"
        + "".join(f"{cell:>16}" for cell in cells)
        + f"{false:8.3f}{mean(t.seconds for t in trials):8.1f}",
        flush=True,
    )


async def _trial(  # noqa: PLR0913 - what is searched, and how
    replay: Replay,
    web: Web,
    truth: Truth,
    tried: Configuration,
    number: int,
    asked: argparse.Namespace,
    *,
    in_flight: int,
) -> Trial:
    started = time.process_time()
    languages = [Language(code) for code in asked.langs.split(",")]
    seeds = _seeds(truth, web.rows, number)
    search = SimulatedSearch(
        languages,
        seeds,
        web.source,
        downloads=asked.downloads,
        in_flight=in_flight,
        check=partial(TruthfulCheck, truth=truth) if asked.check == "truth" else None,
        analyser=web.analyser,
        counted=tried.counted,
        new_judge=partial(_topic, languages, seeds, truth),
    )
    walked = await run_walk(replay, search, tried.strategy)
    if walked.faults:
        print(f"  {tried.name} {number}: {walked.faults} faults", file=sys.stderr)
    wrong = [
        host for host in map(without_www, walked.held) if host not in truth.bilingual and host not in truth.left_out
    ]
    return Trial(walked, len(wrong), time.process_time() - started)


def _topic(languages: Sequence[Language], seeds: Sequence[Url], truth: Truth) -> TopicJudge:
    like = [str(url) for url in seeds if without_www(url.host) in truth.bilingual]
    others = [str(url) for url in seeds]
    topic = TopicSection(like=like, hub=True)
    return topic_judge(Job(langs=list(languages), seeds=others, topic=topic), Examples())


def _simulated_counts(pages: Iterable[Page], languages: Sequence[Language]) -> HostLanguages:
    """As Common Crawl's columnar index would have them, had it seen half of the pages."""
    chosen = random.Random(12)
    counts: dict[str, list[int]] = defaultdict(lambda: [0] * (len(languages) + 1))
    for page in pages:
        if chosen.random() < 0.5:
            row = counts[without_www(page.url.host)]
            row[-1] += 1
            for place, language in enumerate(languages):
                row[place] += page.language == language
    return HostLanguages(languages, counts)


class TruthfulCheck:
    """Knows the answer, and costs what a good check costs: the entry page, and one more of a bilingual site."""

    def __init__(self, entry: Link, *, truth: Truth) -> None:
        self.verdict: SiteVerdict | None = None
        self._wanted = [entry]
        self._truth = truth
        self._host = without_www(entry.url.host)
        self._pages = 0

    def wanted(self) -> list[Link]:
        wanted, self._wanted = self._wanted, []
        return wanted

    def saw(self, visit: Visit) -> None:
        if isinstance(visit.outcome, Skip) and visit.outcome.reason == "redirect":
            self._host = without_www(Url.known(visit.outcome.detail).host)
            return
        self._pages += 1
        if self._pages == 1 and self._host in self._truth.bilingual and isinstance(visit.outcome, Page):
            self._wanted = [Link(Url.parse("/another-page", base=visit.lease.link.url), LinkKind.PARTNER)]
            return
        answer = SiteAnswer.BILINGUAL if self._pages > 1 else SiteAnswer.NO
        self.verdict = SiteVerdict(self._host, answer, float(answer is SiteAnswer.BILINGUAL))


@asynccontextmanager
async def _web(name: str, rows: list[Row], analyser: Analyser) -> AsyncIterator[Web]:
    if name == "random":
        rows = _drawn_anew(rows)
        analyser = _OtherLinks(analyser, [row for row in rows if row.origin == "hub"])
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "links.tsv"
        lines = ("\t".join(" ".join(cell.split()) for cell in row[:4]) for row in rows)
        table.write_text("source\ttarget\tanchor\tcontext\n" + "".join(f"{line}\n" for line in lines), encoding="utf-8")
        async with open_backlinks([str(table)]) as source:
            yield Web(name, rows, analyser, source)


def _drawn_anew(rows: Sequence[Row]) -> list[Row]:
    """The targets of hub links, each cited host as probable as any other."""
    chosen = random.Random(11)
    by_host = {row.target.host: row for row in rows if row.origin == "hub"}
    targets = [by_host[host] for host in sorted(by_host)]
    drawn = []
    for row in rows:
        if row.origin == "hub":
            other = chosen.choice(targets)
            row = row._replace(target=other.target, anchor=other.anchor, context=other.context)  # noqa: PLW2901
        drawn.append(row)
    return drawn


class _OtherLinks:
    """Pages of hubs with the links that were drawn for them."""

    def __init__(self, inner: Analyser, rows: Iterable[Row]) -> None:
        self._inner = inner
        self._links: dict[Url, list[Link]] = defaultdict(list)
        for row in rows:
            self._links[row.source].append(Link(row.target, LinkKind.PAGE, row.source, row.anchor, row.context))

    async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        outcome = await self._inner.analyse(capture, index=index)
        if isinstance(outcome, Page) and outcome.url in self._links:
            inside = [link for link in outcome.links if link.url.site == outcome.url.site]
            return msgspec.structs.replace(outcome, links=(*inside, *self._links[outcome.url]))
        return outcome


def _seeds(truth: Truth, rows: Sequence[Row], number: int) -> list[Url]:
    chosen = random.Random(number)
    hubs = sorted({row.source for row in rows if row.origin != "real"})
    sites = [*chosen.sample(sorted(truth.bilingual), 4), *chosen.sample(sorted(truth.entries), 8)]
    return list(dict.fromkeys([*(truth.entries[host] for host in sites), *chosen.sample(hubs, 8)]))


def _rows() -> list[Row]:
    found = []
    with gzip.open(WEB / "links.tsv.gz", "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            try:
                ends = Url.parse(row["source"]), Url.parse(row["target"])
            except UrlError:
                continue
            found.append(Row(*ends, row["anchor"], row["context"], row["origin"]))
    return found


def _truth(languages: Sequence[Language]) -> Truth:
    verdicts = _table("verdicts.tsv", lambda row: row["pair"] in ("-".join(languages), "-".join(reversed(languages))))
    hosts = {without_www(row["host"]): Url.parse(row["entry"]) for row in _table("truth.tsv")}
    bilingual = {without_www(row["host"]) for row in verdicts if row["verdict"] == "yes"}
    left_out = {without_www(row["host"]) for row in verdicts if row["verdict"] in ("thin", "unknown")}
    return Truth(frozenset(bilingual), frozenset(left_out), hosts)


def _table(name: str, keep: Callable[[dict[str, str]], bool] = lambda _row: True) -> list[dict[str, str]]:
    with (WEB / name).open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if keep(row)]


if __name__ == "__main__":
    main()
