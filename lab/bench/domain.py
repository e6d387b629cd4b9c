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
the first 100 pages that count. least: of all points of the crawl at which breadth-first has found five or more, the least number of
relevant pages relative to breadth-first's, with as many visits in flight. Each crawl is made with as many visits in flight as users
have, and one at a time (--in-flight).

--first ends each crawl after so many pages, as `bitrawl crawl --max-pages` does: sites may be left. It is from texts alone, and all pages
count. same: of the first pages of adaptive, the share that it also has one at a time. --homes is for webs with a directory page (lab/bench/homes.py says what is there).
"""

import argparse
import asyncio
import csv
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack
from itertools import accumulate, product, starmap
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from bitrawl.job.topics import Examples, learned_terms
from bitrawl.model import Language, Page
from bitrawl.papers.replay import Replay, opened_replay
from bitrawl.strategies import Strategy
from bitrawl.topic.settings import TopicModel, TopicSection
from bitrawl.url import Url
from lab.bench.focused import Fetching, crawled, job_for, model_of
from lab.bench.homes import HOMES, HomesWeb, homes_web
from lab.bench.in_flight import ONE, add_option, least_ratio, ratio, shown

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
    least: float | None  # beside breadth-first
    seconds: float  # of CPU


class Crawled(NamedTuple):
    """Which crawl of a trial it is."""

    strategy: Strategy
    in_flight: int

    def __str__(self) -> str:
        return f"{self.strategy:15}{self.in_flight:3}"


FIRST = (100, 200, 500)


def read_truth(web: str) -> dict[Url, dict[str, str]]:
    with (DOMAIN / web / "truth.tsv").open(encoding="utf-8", newline="") as file:
        return {Url.parse(row["url"]): row for row in csv.DictReader(file, delimiter="\t")}


def is_about(row: dict[str, str], subject: str) -> bool:
    return subject in (row["topic"], row["also"])


def measured(order: Sequence[Url], plain: Sequence[Url], truth: Truth, seconds: float) -> Row:
    """`plain` is the order of breadth-first."""
    wanted = truth.relevant & frozenset(plain)
    counted = [url in wanted for url in order if url in truth.counted]
    found = found_so_far(counted)
    ideal = sum(min(at, len(wanted)) for at in range(1, len(counted) + 1))
    plain_found = found_so_far(url in wanted for url in plain if url in truth.counted)
    shares = tuple(mean(counted[:first]) for first in FIRST)
    return Row(sum(found) / max(ideal, 1), shares, least_ratio(found, plain_found), seconds)


def found_so_far(hits: Iterable[bool]) -> list[int]:
    return list(accumulate(map(int, hits)))


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
    in_flight: int,
    first: int | None = None,
) -> tuple[list[Url], float]:
    """The pages in the order in which they were fetched, and the CPU time. `first`: end after so many, or sooner."""
    seeds = [Url.parse(STARTS[trial.web]), *trial.examples]
    section = TopicSection(
        texts=[str(folder)],
        model=model_of(name),
        hub=True,
        max_perplexity=1e12,
        like=[str(url) for url in trial.examples],
    )
    if section.model is TopicModel.TERMS:
        section = TopicSection(terms=str(term_list(trial, folder)), model=section.model, hub=True, like=section.like)
    began = time.process_time()
    pages = await crawled(
        Fetching(replay.fetcher, replay.analyser),
        seeds,
        job_for(name, [trial.language], [Url.parse(STARTS[trial.web])], section),
        Examples({trial.language: [text_of(page) for page in trial.texts.values()]} if trial.texts else {}),
        pages=first,
        in_flight=in_flight,
        leave=first is not None,
        truth=(lambda page: page.url in trial.truth.relevant) if oracle else None,
    )
    return [page.url for page in pages], time.process_time() - began


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


async def run(asked: argparse.Namespace) -> list[tuple[str, Crawled, Row]]:
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
    """Relevant pages among the first ones, of one subject and draw, with so many visits in flight."""

    what: str
    share: float  # of the pages of the web that are relevant
    in_flight: int
    counts: dict[Strategy, int]
    least: float | None  # of adaptive beside breadth-first
    same: float | None = None  # of the pages of adaptive: those that it also has one at a time


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
                rows += await first_pages(served[kind], trial, what, len(web.pages), asked)
    return rows


def moved_trial(trial: Trial, served: Replay | HomesWeb) -> Trial:
    """With home pages where they are now."""
    moved = served.moved if isinstance(served, HomesWeb) else {}
    relevant, counted = (frozenset(moved.get(url, url) for url in urls) for urls in trial.truth)
    return trial._replace(truth=Truth(relevant, counted))


async def first_pages(
    served: Replay | HomesWeb, trial: Trial, what: str, pages: int, asked: argparse.Namespace
) -> list[FirstPages]:
    names = dict.fromkeys([Strategy.BREADTH_FIRST, *asked.strategies])
    orders: dict[Crawled, list[Url]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for which in starmap(Crawled, product(names, asked.in_flight)):
            orders[which], _ = await crawl(
                served,
                trial,
                which.strategy,
                Path(folder),
                oracle=asked.oracle,
                in_flight=which.in_flight,
                first=asked.first,
            )
    found = {which: found_so_far(url in trial.truth.relevant for url in order) for which, order in orders.items()}
    rows = []
    for number in asked.in_flight:
        counts = {name: max(found[Crawled(name, number)], default=0) for name in names}
        row = FirstPages(what, len(trial.truth.relevant) / pages, number, counts, None)
        if (ours := Crawled(Strategy.ADAPTIVE, number)) in orders:
            least = least_ratio(found[ours], found[Crawled(Strategy.BREADTH_FIRST, number)])
            alone = orders.get(Crawled(Strategy.ADAPTIVE, ONE))
            same = len(set(orders[ours]).intersection(alone)) / max(len(alone), 1) if alone is not None else None
            row = row._replace(least=least, same=same)
        cells = "".join(f"{count:15}" for count in counts.values())
        print(f"{what:34}{row.share:8.3f}{number:11}{cells}{shown(row.least):>8}{shown(row.same):>8}", flush=True)
        rows.append(row)
    return rows


def print_first(rows: Sequence[FirstPages], in_flight: Sequence[int]) -> None:
    """Each strategy beside breadth-first: where it finds fewer, and how many times as many in the mean; then beside one at a time."""
    by_number = {number: [row for row in rows if row.in_flight == number] for number in in_flight}
    for name, (number, some) in product(rows[0].counts, by_number.items()):
        behind = [row.what for row in some if row.counts[name] < row.counts[Strategy.BREADTH_FIRST]]
        times = [row.counts[name] / max(row.counts[Strategy.BREADTH_FIRST], 1) for row in some if row.share <= RARE]
        print(
            f"{Crawled(name, number)} mean {mean(row.counts[name] for row in some):6.1f}; of subjects that are a tenth or less"
            f" {mean(times) if times else 0:5.1f} times breadth-first; behind it on {len(behind)} of {len(some)}: {behind}"
        )
    for number, some in by_number.items():
        if least := [row.least for row in some if row.least is not None]:
            print(f"{Crawled(Strategy.ADAPTIVE, number)} at every point at least {min(least):.3f} times breadth-first")
    usual, *others = by_number
    for name, other in product(rows[0].counts, others):
        ratios = [
            row.counts[name] / max(beside.counts[name], 1)
            for row, beside in zip(by_number[usual], by_number[other], strict=True)
        ]
        told = ratio(*([row.counts[name] for row in by_number[number]] for number in (usual, other)))
        print(f"{name:15} {usual} / {other}: {told}, at least {min(ratios):.3f}")
    if same := [row.same for row in by_number[usual] if row.same is not None]:
        print(f"{Strategy.ADAPTIVE:15} {usual} / {ONE}: the same pages {mean(same):.3f}, at least {min(same):.3f}")


async def run_trial(
    replay: Replay, trial: Trial, what: str, asked: argparse.Namespace
) -> list[tuple[str, Crawled, Row]]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for number in asked.in_flight:
            plain, _ = await crawl(replay, trial, Strategy.BREADTH_FIRST, Path(folder), oracle=True, in_flight=number)
            for name in asked.strategies:
                order, seconds = await crawl(replay, trial, name, Path(folder), oracle=asked.oracle, in_flight=number)
                row = measured(order, plain, trial.truth, seconds)
                rows.append((what, Crawled(name, number), row))
                print(line(what, Crawled(name, number), row), flush=True)
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


def line(what: str, which: Crawled, row: Row) -> str:
    shares = "".join(f"{share:9.2f}" for share in row.at)
    return f"{what:34}{which}{row.area:8.3f}{shares}{shown(row.least):>8}{row.seconds:9.1f}"


def print_means(rows: Sequence[tuple[str, Crawled, Row]], in_flight: Sequence[int]) -> None:
    """`least` is the least of all."""
    print()
    by_crawl: dict[tuple[str, Crawled], list[Row]] = {}
    for what, which, row in rows:
        by_crawl.setdefault((what.split()[2], which), []).append(row)
    for (kind, which), some in by_crawl.items():
        average = Row(
            mean(row.area for row in some),
            tuple(map(mean, zip(*(row.at for row in some), strict=True))),
            min((row.least for row in some if row.least is not None), default=None),
            mean(row.seconds for row in some),
        )
        print(line(f"mean, {kind}", which, average))
    for (kind, which), some in by_crawl.items():
        if which.in_flight == in_flight[0]:
            for other in in_flight[1:]:
                told = ratio(
                    *([row.area for row in one] for one in (some, by_crawl[kind, which._replace(in_flight=other)]))
                )
                print(f"{f'{kind}, area {which.in_flight} / {other}':34}{which.strategy:18}{told:>8}")


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
    add_option(parser)
    asked = parser.parse_args()
    if not DOMAIN.is_dir():
        raise SystemExit(f"{DOMAIN} is not there: this benchmark needs the frozen webs (docs/reference/benchmarks.md)")
    if asked.first:
        names = dict.fromkeys([Strategy.BREADTH_FIRST, *asked.strategies])
        heads = "".join(f"{name:>15}" for name in names)
        print(f"{'web/subject, homes, draw':34}{'share':>8}{'in flight':>11}{heads}{'least':>8}{'same':>8}")
        print_first(asyncio.run(run_first(asked)), asked.in_flight)
        return
    marks = "".join(f"{f'at {n}':>9}" for n in FIRST)
    print(f"{'web/subject, known, draw':34}{'strategy, in flight':18}{'area':>7}{marks}{'least':>8}{'CPU s':>9}")
    print_means(asyncio.run(run(asked)), asked.in_flight)


if __name__ == "__main__":
    main()
