"""Crawls that stay with a subject, on frozen webs with known subjects: how soon each strategy finds its pages.

    python -m lab.bench.domain                                  # both webs below ../shared/domain, all subjects, all strategies
    python -m lab.bench.domain web/health wiki/birds            # these
    python -m lab.bench.domain --strategies adaptive --seeds 1,2,3
    python -m lab.bench.domain --first 200                      # relevant pages among the first 200, beside breadth-first
    python -m lab.bench.domain web --first 200 --homes all      # where home pages say nothing of their sites
    python -m lab.bench.domain web --first 100 --texts 1        # from one text
    python -m lab.bench.domain web --first 100 --like           # from one page

Each subject is tried twice: from ten texts about it alone (texts), and with five of its pages as seeds besides (examples). The
texts come from the other web where it has the subject, otherwise from the same web; pages that were shown to the model are not
counted, and neither are neutral ones (home pages, contact). A page is relevant when its subject, or the second one, is the
subject, and it is in the language that most pages on the subject are in. The crawl starts at the directory of `web`, and at one article about something else in `wiki`.

area: the area under the recall, of all fetches, relative to that of the best order. at 100: the share of relevant pages among
the first 100 pages that count.

--first ends each crawl after so many pages, as `bitrawl crawl --max-pages` does: sites may be left. It is from texts alone, and all pages
count. --homes is for webs with a directory page (lab/bench/homes.py says what is there).
"""

import argparse
import asyncio
import csv
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from itertools import product
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import msgspec

from bitrawl.config import Job, Reach, Strategy, TopicModel, TopicSection
from bitrawl.crawl.frontier import Budget, Frontier
from bitrawl.crawl.loop import Crawl
from bitrawl.crawl.scope import Scope, ScopeRules, Sites
from bitrawl.job.crawl_wiring import Topic, strategy
from bitrawl.job.topics import Examples, learned_terms, topic_judge
from bitrawl.model import Language, Link, LinkKind, Page, Relevance
from bitrawl.simulation.replay import InFlightWeb, Replay, ReplayClock, opened_replay
from bitrawl.simulation.trial import MemoryQueue, ReplayLedger
from bitrawl.url import Url
from lab.bench.homes import HOMES, HomesWeb, homes_web

DOMAIN = Path(__file__).parents[3] / "shared" / "domain"
CACHE = Path(os.environ.get("BITRAWL_BENCH_CACHE", Path(tempfile.gettempdir()) / "sitejobs")) / "domain"
SUBJECTS = {
    "web": ("environment", "health", "it-services", "programming", "travel", "wine"),
    "wiki": ("astronomy", "birds", "environment", "food", "health", "law", "programming"),
}
STARTS = {"web": "https://directory.example/", "wiki": "https://schools.wikipedia.example/wiki/London"}
STRATEGIES = (Strategy.BREADTH_FIRST, Strategy.TERMS, Strategy.PERPLEXITY, Strategy.ADAPTIVE)
TEXTS, EXAMPLES = 10, 5
RARE = 0.1  # share of the pages of a web; subjects up to it are rare


class Truth(NamedTuple):
    """What is known of the pages of a web."""

    relevant: frozenset[Url]
    counted: frozenset[Url]


class Row(NamedTuple):
    """The figures of one crawl."""

    area: float
    at: tuple[float, ...]  # the share of relevant pages among the first so many
    seconds: float  # of CPU


FIRST = (100, 200, 500)


def read_truth(web: str) -> dict[Url, dict[str, str]]:
    with (DOMAIN / web / "truth.tsv").open(encoding="utf-8", newline="") as file:
        return {Url.parse(row["url"]): row for row in csv.DictReader(file, delimiter="\t")}


def is_about(row: dict[str, str], subject: str) -> bool:
    return subject in (row["topic"], row["also"])


def measured(order: Sequence[Url], truth: Truth, reachable: frozenset[Url], seconds: float) -> Row:
    wanted = truth.relevant & reachable
    counted = [url in wanted for url in order if url in truth.counted]
    found = best = area = ideal = 0
    for hit in counted:
        found += hit
        best = min(best + 1, len(wanted))
        area += found
        ideal += best
    return Row(area / max(ideal, 1), tuple(mean(counted[:first]) for first in FIRST), seconds)


class Trial(NamedTuple):
    """One subject of one web, with what the crawl is told of it."""

    web: str
    language: Language
    texts: dict[Url, Page]
    examples: tuple[Url, ...]  # empty: only the texts are known
    truth: Truth


async def crawl(  # noqa: PLR0913 - what is crawled, and how
    replay: Replay | HomesWeb,
    trial: Trial,
    name: Strategy,
    folder: Path,
    *,
    oracle: bool,
    first: int | None = None,
    in_flight: int = 1,
) -> tuple[list[Url], float]:
    """The pages in the order in which they were fetched, and the CPU time. `first`: end after so many, or sooner."""
    seeds = [Url.parse(STARTS[trial.web]), *trial.examples]
    sites, clock = Sites(), ReplayClock()
    ledger = ReplayLedger(sites.of)
    model = TopicModel(name) if name in (Strategy.TERMS, Strategy.PERPLEXITY) else TopicModel.LEARNED
    section = TopicSection(
        texts=[str(folder)], model=model, hub=True, max_perplexity=1e12, like=[str(url) for url in trial.examples]
    )
    if model is TopicModel.TERMS:
        section = TopicSection(terms=str(term_list(trial, folder)), model=model, hub=True, like=section.like)
    began = time.process_time()
    job = Job(langs=[trial.language], seeds=[STARTS[trial.web]], strategy=name, topic=section)
    shown = Examples({trial.language: [text_of(page) for page in trial.texts.values()]} if trial.texts else {})
    judge = TrueJudge(trial.truth) if oracle else topic_judge(job, shown)
    scorer = strategy(name, job.languages(), topic=Topic(judge.model, section, sites.of, judge.terms))
    focused = name is not Strategy.BREADTH_FIRST
    web = InFlightWeb(replay.fetcher, clock, in_flight)
    made = Crawl(
        Frontier(
            MemoryQueue(),
            clock,
            sites.of,
            web.politeness,
            ranked=focused,
            returns=focused,
            budget=Budget(pages=first),
        ),
        fetcher=web,
        analyser=replay.analyser,
        scorer=scorer,
        ledger=ledger,
        scope=Scope(sites, seeds, ScopeRules(reach=Reach.WEB)),
        clock=clock,
        settings=web.settings(sitemaps=False, leave=first is not None),
        judge=judge,
    )
    made.seed([Link(url, LinkKind.SEED) for url in seeds])
    await made.run()
    return [url for url in ledger.kept if url is not None], time.process_time() - began


class Oracle:
    """Knows the truth of pages, and nothing of links: what a strategy can do with a perfect judge."""

    def judge(self, pages: Sequence[Page]) -> list[Relevance]:
        raise NotImplementedError

    def weigh(self, texts: Sequence[str], language: Language) -> list[float]:  # noqa: ARG002
        return [0.0] * len(texts)

    def learn(self, page: Page, *, relevant: bool) -> None:
        pass

    def revised(self) -> Sequence[tuple[Url, float]]:
        return []


class TrueJudge:
    """Judges pages by the truth."""

    def __init__(self, truth: Truth) -> None:
        self.model, self.terms = Oracle(), None
        self._truth = truth

    def __call__(self, link: Link, page: Page) -> Page:  # noqa: ARG002
        relevant = page.url in self._truth.relevant
        return msgspec.structs.replace(page, relevance=Relevance(0.99 if relevant else 0.01, relevant=relevant))


class Web(NamedTuple):
    """An archived web, analysed."""

    name: str
    truth: dict[Url, dict[str, str]]
    pages: dict[Url, Page]

    def about(self, subject: str, language: Language, *, also: bool) -> list[Url]:
        """Pages on the subject that count; `also` those that it is the second subject of."""
        return sorted(
            url
            for url, row in self.truth.items()
            if (is_about(row, subject) if also else row["topic"] == subject)
            and row["lang"] == language
            and row["neutral"] == "0"
            and url in self.pages
        )

    def language(self, subject: str) -> Language:
        """That most of its pages are in."""
        counts = Counter(
            row["lang"] for row in self.truth.values() if row["topic"] == subject and row["neutral"] == "0"
        )
        return Language(counts.most_common(1)[0][0])


async def opened_web(stack: AsyncExitStack, name: str) -> tuple[Web, Replay]:
    replay = await stack.enter_async_context(opened_replay([DOMAIN / name / "site.warc.gz"], cache=CACHE / name))
    return Web(name, read_truth(name), {page.url: page for page in await replay.pages()}), replay


class Chosen(NamedTuple):
    """A web, the other one, and the subjects that were asked for."""

    name: str
    web: Web
    replay: Replay
    other: Web
    wanted: list[str]


async def chosen(stack: AsyncExitStack, asked: argparse.Namespace) -> AsyncIterator[Chosen]:
    webs = {name: await opened_web(stack, name) for name in SUBJECTS}
    for name, subjects in SUBJECTS.items():
        other = next(web for one, (web, _) in webs.items() if one != name)
        wanted = [one for one in subjects if not asked.rows or {name, f"{name}/{one}"} & set(asked.rows)]
        yield Chosen(name, *webs[name], other, wanted)


async def run(asked: argparse.Namespace) -> list[tuple[str, str, Row]]:
    rows = []
    async with AsyncExitStack() as stack:
        async for name, web, replay, other, wanted in chosen(stack, asked):
            for subject, seed in product(wanted, asked.seeds):
                language = web.language(subject)
                shown = other if other.about(subject, language, also=False) else web
                for kind, trial in trials(web, shown, subject, seed).items():
                    rows += await run_trial(replay, trial, f"{name}/{subject} {language} {kind} {seed}", asked)
    return rows


class FirstPages(NamedTuple):
    """Relevant pages among the first ones, of one subject and draw."""

    what: str
    share: float  # of the pages of the web that are relevant
    counts: dict[Strategy, int]


async def run_first(asked: argparse.Namespace) -> list[FirstPages]:
    rows = []
    async with AsyncExitStack() as stack:
        async for name, web, replay, other, wanted in chosen(stack, asked):
            kinds = (HOMES if "all" in asked.homes else asked.homes) if name == "web" and wanted else ()
            served: dict[str, Replay | HomesWeb] = {"": replay} if "all" in asked.homes or not asked.homes else {}
            for kind in kinds:
                directory = Url.parse(STARTS[name])
                served[kind] = await homes_web(replay.fetcher, replay.analyser, directory, web.pages, kind)
            for subject, seed, kind in product(wanted, asked.seeds, served):
                language = web.language(subject)
                shown = other if other.about(subject, language, also=False) else web
                drawn = trials(web, shown, subject, seed, asked.texts)
                one = drawn["examples"]._replace(texts={}, examples=drawn["examples"].examples[:1])
                trial = moved_trial(one if asked.like else drawn["texts"], served[kind])
                what = f"{name}/{subject} {language} {kind} {seed}"
                rows.append(await first_pages(served[kind], trial, what, len(web.pages), asked))
    return rows


def moved_trial(trial: Trial, served: Replay | HomesWeb) -> Trial:
    """With home pages where they are now."""
    moved = served.moved if isinstance(served, HomesWeb) else {}
    relevant, counted = (frozenset(moved.get(url, url) for url in urls) for urls in trial.truth)
    return trial._replace(truth=Truth(relevant, counted))


async def first_pages(
    served: Replay | HomesWeb, trial: Trial, what: str, pages: int, asked: argparse.Namespace
) -> FirstPages:
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in dict.fromkeys([Strategy.BREADTH_FIRST, *asked.strategies]):
            order, _ = await crawl(served, trial, name, Path(folder), oracle=asked.oracle, first=asked.first)
            counts[name] = len(trial.truth.relevant & set(order))
    row = FirstPages(what, len(trial.truth.relevant) / pages, counts)
    print(f"{what:34}{row.share:8.3f}" + "".join(f"{count:15}" for count in counts.values()), flush=True)
    return row


def print_first(rows: Sequence[FirstPages]) -> None:
    """Each strategy beside breadth-first: where it finds fewer, and how many times as many in the mean."""
    rare = [row for row in rows if row.share <= RARE]
    for name in rows[0].counts:
        behind = [row.what for row in rows if row.counts[name] < row.counts[Strategy.BREADTH_FIRST]]
        times = [row.counts[name] / max(row.counts[Strategy.BREADTH_FIRST], 1) for row in rare]
        print(
            f"{name:15} mean {mean(row.counts[name] for row in rows):6.1f}; of subjects that are a tenth or less"
            f" {mean(times) if times else 0:5.1f} times breadth-first; behind it on {len(behind)} of {len(rows)}: {behind}"
        )


async def run_trial(replay: Replay, trial: Trial, what: str, asked: argparse.Namespace) -> list[tuple[str, str, Row]]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        reachable = frozenset((await crawl(replay, trial, Strategy.BREADTH_FIRST, Path(folder), oracle=True))[0])
        for name in asked.strategies:
            order, seconds = await crawl(replay, trial, name, Path(folder), oracle=asked.oracle)
            row = measured(order, trial.truth, reachable, seconds)
            rows.append((what, name, row))
            print(line(what, name, row), flush=True)
    return rows


def trials(web: Web, shown: Web, subject: str, seed: int, most: int = TEXTS) -> dict[str, Trial]:
    """From texts alone, and with examples as seeds; the same texts in both."""
    draw, language = random.Random(f"{web.name}/{subject}/{seed}"), web.language(subject)
    candidates = shown.about(subject, language, also=False)
    texts = draw.sample(candidates, min(most, len(candidates) // 2))
    rest = [url for url in web.about(subject, language, also=True) if url not in set(texts)]
    examples = tuple(draw.sample(rest, EXAMPLES))
    counted = {url for url, row in web.truth.items() if row["neutral"] == "0" and url in web.pages}
    made = {}
    for kind, seeds in (("texts", ()), ("examples", examples)):
        known = {*texts, *seeds, Url.parse(STARTS[web.name])}
        truth = Truth(frozenset(rest) - known, frozenset(counted - known))
        made[kind] = Trial(web.name, language, {url: shown.pages[url] for url in texts}, seeds, truth)
    return made


def text_of(page: Page) -> str:
    return "\n\n".join([page.title, *(p.text for p in page.paragraphs if not p.boilerplate)])


def term_list(trial: Trial, folder: Path) -> Path:
    """Out of the texts, as `bitrawl topic learn` makes it."""
    path = folder / "terms.list"
    learned_terms([text_of(page) for page in trial.texts.values()], trial.language).write(path)
    return path


def line(what: str, name: str, row: Row) -> str:
    shares = "".join(f"{share:9.2f}" for share in row.at)
    return f"{what:34}{name:15}{row.area:8.3f}{shares}{row.seconds:9.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", help="web/subject")
    parser.add_argument(
        "--strategies", type=lambda raw: [Strategy(name) for name in raw.split(",")], default=STRATEGIES
    )
    parser.add_argument(
        "--seeds", type=lambda raw: [int(one) for one in raw.split(",")], default=[1], help="draws of texts"
    )
    parser.add_argument(
        "--oracle", action="store_true", help="judge pages by the truth: what the order of links alone is worth"
    )
    parser.add_argument("--first", type=int, help="end after so many pages, and count the relevant ones among them")
    parser.add_argument(
        "--homes", type=lambda raw: raw.split(","), default=[], help=f"with --first: all, or some of {', '.join(HOMES)}"
    )
    parser.add_argument("--like", action="store_true", help="with --first: one page as the only example, and as a seed")
    parser.add_argument("--texts", type=int, default=TEXTS, help="with --first: how many are shown")
    asked = parser.parse_args()
    if not DOMAIN.is_dir():
        raise SystemExit(f"{DOMAIN} is not there: this benchmark needs the frozen webs (docs/reference/benchmarks.md)")
    if asked.first:
        names = dict.fromkeys([Strategy.BREADTH_FIRST, *asked.strategies])
        print(f"{'web/subject, homes, draw':34}{'share':>8}" + "".join(f"{name:>15}" for name in names))
        print_first(asyncio.run(run_first(asked)))
        return
    print(
        f"{'web/subject, known, draw':34}{'strategy':15}{'area':>8}"
        + "".join(f"{f'at {n}':>9}" for n in FIRST)
        + f"{'CPU s':>9}"
    )
    rows = asyncio.run(run(asked))
    print()
    for kind in ("texts", "examples"):
        for name in asked.strategies:
            some = [row for what, strategy_name, row in rows if f" {kind} " in what and strategy_name == name]
            if some:
                average = Row(
                    mean(row.area for row in some),
                    tuple(mean(row.at[place] for row in some) for place in range(len(FIRST))),
                    mean(row.seconds for row in some),
                )
                print(line(f"mean, {kind}", name, average))


if __name__ == "__main__":
    main()
