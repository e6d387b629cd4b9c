"""Which sites of a frozen web are bilingual: our check, the detector of Barbosa et al. 2011, a list of words.

    python -m lab.bench.detector                  # en-fr, en-es and en-de pooled, on ../shared/discovery
    python -m lab.bench papers barbosa            # table 1 of the paper: likelihoods 0 to 0.9
    python -m lab.bench.detector --web ../shared/other --pairs en-fr --show

A site is one entry page. The link predictor is trained anew without the hosts that it is measured on, in five folds. clicks:
how far the second language is from the entry page; "unlinked": no link leads there. A thin site has one translated page of
many: it counts as a false one, and apart. Downloads: pages and sitemaps fetched beyond the entry page, also those that were not
there; redirects and robots.txt do not count. Sites whose truth is unknown, or whose robots.txt refuses us, are left out.
"""

import argparse
import asyncio
import csv
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from bitrawl.crawling import Politeness, RobotsFetcher
from bitrawl.discover.site_check import DeclaredSiteCheck, site_judges
from bitrawl.discover.site_lists import SiteAnswer, SiteCheck, SiteVerdict
from bitrawl.discover.suggestions import LinkPredictor, SiteJudges
from bitrawl.job.site_checks import SiteChecks
from bitrawl.model import Language, Link, LinkKind, Page, Skip
from bitrawl.papers.replay import Replay, ReplayClock, opened_replay
from bitrawl.reasons import Stage
from bitrawl.text.language_names import spaced
from bitrawl.url import Url
from bitrawl.urls import language_spellings
from lab.bench.paper_check import PaperSiteCheck
from lab.train.folds import fold_of
from lab.train.link_predictor import FOLDS, fitted, gathered

WEB = Path(__file__).parents[3] / "shared" / "discovery"
CACHE = Path(os.environ.get("BITRAWL_BENCH_CACHE", Path(tempfile.gettempdir()) / "sitejobs")) / "detector"
PAIRS = ("en-fr", "en-es", "en-de")
DISTANCES = ("one click", "two or more", "unlinked")


class Site(NamedTuple):
    """One host asked for one pair of languages, with the truth."""

    host: str
    entry: Url
    languages: tuple[Language, ...]
    verdict: str  # yes, thin or no
    distance: str = ""  # of the second language; empty where the verdict is no


class Judged(NamedTuple):
    """What a detector said."""

    site: Site
    said: bool
    downloads: int  # beyond the entry page


Make = Callable[[Link, Site], SiteCheck]


def read_sites(web: Path, pairs: Sequence[str]) -> list[Site]:
    known = {(row["host"], row["pair"]): row for row in _rows(web / "verdicts.tsv")}
    sites = []
    for row in _rows(web / "truth.tsv"):
        for pair in pairs:
            told = known.get((row["host"], pair))
            verdict = told["verdict"] if told else ("unknown" if row["bilingual"] == "unknown" else "no")
            languages = tuple(map(Language, pair.split("-")))
            distance = _distance(told["clicks"]) if told and verdict in ("yes", "thin") else ""
            if verdict != "unknown":
                sites.append(Site(row["host"], Url.parse(row["entry"]), languages, verdict, distance))
    return sites


def _distance(clicks: str) -> str:
    return "unlinked" if clicks == "-" else "one click" if clicks == "1" else "two or more"


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


class RememberedLikelihoods:
    """A predictor that reads each page once, because each likelihood of the table asks again."""

    def __init__(self, inner: LinkPredictor) -> None:
        self._inner = inner
        self._known: dict[tuple[Url, Language], list[float]] = {}

    def likelihoods(self, links: Sequence[Link], page: Page, wanted: Language) -> list[float]:
        key = (page.url, wanted)
        if key not in self._known:
            self._known[key] = self._inner.likelihoods(links, page, wanted)
        return self._known[key]


class Bench:
    """An archived web, its sites, and a predictor for each fold of its hosts."""

    def __init__(self, replay: Replay, sites: Sequence[Site], predictors: Sequence[LinkPredictor]) -> None:
        self.sites = sites
        self.replay = replay
        self._predictors = [RememberedLikelihoods(one) for one in predictors]
        self._folds = fold_of({site.host for site in sites}, FOLDS)
        clock = ReplayClock()
        self.robots = RobotsFetcher(replay.fetcher, clock, Politeness(delay=0.0))
        self._checks = SiteChecks(self.robots, replay.analyser, clock, politeness=Politeness(delay=0.0))

    def predictor(self, host: str) -> RememberedLikelihoods:
        return self._predictors[self._folds[host]]

    async def judged(self, make: Make) -> list[tuple[Site, SiteVerdict]]:
        return [(site, await self._checks.run(make(Link(site.entry, LinkKind.SEED), site))) for site in self.sites]

    async def entry(self, site: Site) -> Page | None:
        return await self.replay.page(site.entry)


async def allowed(replay: Replay, sites: Sequence[Site]) -> list[Site]:
    """The sites whose robots.txt lets us read the entry page."""
    robots = RobotsFetcher(replay.fetcher, ReplayClock(), Politeness(delay=0.0))
    answers = {entry: await robots.fetch(Link(entry, LinkKind.SEED)) for entry in {site.entry for site in sites}}
    refused = {url for url, one in answers.items() if isinstance(one, Skip) and one.stage is Stage.ROBOTS}
    return [site for site in sites if site.entry not in refused]


async def predictors(hosts: Iterable[str]) -> list[LinkPredictor]:
    """One for each fold, trained on the hosts of the others, and on the site packs that are no hosts of this fold."""
    examples = await gathered(WEB, cache=CACHE)
    folds = fold_of(hosts, FOLDS)
    return [fitted([one for one in examples if folds.get(one.host) != fold]) for fold in range(FOLDS)]


def ours(bench: Bench) -> Make:
    judges = site_judges(bench.robots.sitemaps)

    def make(entry: Link, site: Site) -> SiteCheck:
        own = SiteJudges(judges.are_translations, judges.url_languages, bench.predictor(site.host), judges.sitemaps_of)
        return DeclaredSiteCheck(entry, site.languages, own)

    return make


def paper(bench: Bench, likelihood: float = 0.4) -> Make:
    return lambda entry, site: PaperSiteCheck(entry, site.languages, bench.predictor(site.host), likelihood)


async def by_words(bench: Bench) -> list[Judged]:
    """Zhang et al. 2006: links whose text, or image's text, is a language's name, for two of the languages."""
    judged = []
    for site in bench.sites:
        page = await bench.entry(site)
        texts = {
            spaced(text) for link in (page.links if page else ()) for text in (link.anchor, link.image_alt) if text
        }
        named = [language for language in site.languages if texts & language_spellings(language)]
        judged.append(Judged(site, len(named) == len(site.languages), 0))
    return judged


def as_judged(verdicts: Iterable[tuple[Site, SiteVerdict]]) -> list[Judged]:
    return [
        Judged(site, verdict.verdict is SiteAnswer.BILINGUAL, max(verdict.downloads - 1, 0))
        for site, verdict in verdicts
    ]


class Figures(NamedTuple):
    precision: float
    precision_without_thin: float
    downloads_bilingual: float
    downloads_other: float


def figures(judged: Sequence[Judged]) -> Figures:
    right, wrong, thin = (
        sum(one.said for one in judged if one.site.verdict == verdict) for verdict in ("yes", "no", "thin")
    )
    return Figures(
        right / max(1, right + wrong + thin),
        right / max(1, right + wrong),
        _mean(one.downloads for one in judged if one.site.verdict == "yes"),
        _mean(one.downloads for one in judged if one.site.verdict != "yes"),
    )


def _mean(values: Iterable[int]) -> float:
    found = list(values)
    return mean(found) if found else 0.0


def recalls(judged: Sequence[Judged]) -> list[float]:
    """Of the bilingual sites, by distance."""
    bilingual = [one for one in judged if one.site.verdict == "yes"]
    return [_mean(one.said for one in bilingual if one.site.distance == distance) for distance in DISTANCES]


def line(name: str, judged: Sequence[Judged]) -> str:
    told = [*recalls(judged), *figures(judged)]
    return f"{name:34}" + "".join(f"{value:13.2f}" if value >= 1.005 else f"{value:13.3f}" for value in told)


def shown(verdicts: Sequence[tuple[Site, SiteVerdict]]) -> Iterator[str]:
    for site, verdict in verdicts:
        said = verdict.verdict is SiteAnswer.BILINGUAL
        if said != (site.verdict == "yes"):
            evidence = " ".join(f"{key}={value:.2f}" for key, value in verdict.evidence.items())
            pair = "-".join(site.languages)
            yield f"  {site.host} {pair} {site.verdict} {site.distance}: {verdict.verdict}, {verdict.detail} ({evidence})"


@asynccontextmanager
async def opened_bench(web: Path, pairs: Sequence[str]) -> AsyncIterator[Bench]:
    """With the sites that let us in."""
    cache = CACHE / ("web" if web == WEB else web.name)
    async with opened_replay([web / "web.warc.gz"], cache=cache) as replay:
        sites = await allowed(replay, read_sites(web, pairs))
        yield Bench(replay, sites, await predictors({site.host for site in sites}))


async def run(asked: argparse.Namespace) -> None:
    async with opened_bench(asked.web, asked.pairs) as bench:
        bilingual = [site for site in bench.sites if site.verdict == "yes"]
        counts = {distance: sum(site.distance == distance for site in bilingual) for distance in DISTANCES}
        print(f"{len(bench.sites)} sites and pairs of languages; bilingual: {counts}")
        heads = [*DISTANCES, "precision", "without thin", "downloads", "on others"]
        print(f"{'':34}" + "".join(f"{head:>13}" for head in heads), flush=True)
        verdicts = await bench.judged(ours(bench))
        print(line("ours", as_judged(verdicts)), flush=True)
        print(line("Barbosa 2011, likelihood 0.4", as_judged(await bench.judged(paper(bench)))), flush=True)
        print(line("Zhang 2006, a list of words", await by_words(bench)), flush=True)
        print("\n".join(shown(verdicts)) if asked.show else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--web", type=Path, default=WEB, help="a folder as ../shared/discovery")
    parser.add_argument("--pairs", type=lambda raw: raw.split(","), default=PAIRS, help="en-fr,en-es")
    parser.add_argument("--show", action="store_true", help="list the sites that were judged wrongly")
    asked = parser.parse_args()
    if not (asked.web / "verdicts.tsv").is_file():
        raise SystemExit(
            f"{asked.web} is not there: this benchmark needs the frozen web (docs/reference/benchmarks.md)"
        )
    asyncio.run(run(asked))


if __name__ == "__main__":
    main()
