"""With --exhaustive, every strategy visits the same pages: all that can be reached from the seeds inside the scope."""

import random
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec
import pytest
from hub_web import HOST, hub_web
from small_site import WORDS

from bitrawl import demo
from bitrawl.crawling import Crawl, Frontier, LoopSettings, PageSource, Politeness, RobotsFetcher, Scope, Sites
from bitrawl.model import Capture, Language, Link, LinkKind, Page, Relevance, Sitemap, Skip
from bitrawl.page.analyser import page_reader
from bitrawl.protocols import UNWANTED, StrategyInputs, Topic
from bitrawl.reasons import Reason
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_facts import summarise
from bitrawl.store.ledger_queue import LedgerQueue
from bitrawl.strategies import FOCUSED, Strategy, strategy
from bitrawl.testing import FakeClock, FakeWeb
from bitrawl.topic.term_list import Term, TermList
from bitrawl.topic.term_relevance import TermRelevance
from bitrawl.url import Url

LANGUAGES = (Language("en"), Language("fr"))
Answers = Mapping[str, "str | Capture | Skip"]


class ReadOnce:
    """The real reader. A page is read once for all strategies."""

    def __init__(self) -> None:
        self._reader = page_reader(LANGUAGES)
        self._outcomes: dict[tuple[Url, bool], Page | Sitemap | Skip] = {}

    async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        key = (capture.url, index)
        if key not in self._outcomes:
            self._outcomes[key] = self._reader.read(capture, index=index)
        return self._outcomes[key]


@cache
def reader() -> ReadOnce:
    return ReadOnce()


class HalfOffTopic:
    """Every other page is beyond the maximum of `perplexity`, which follows none of its links."""

    def __call__(self, _link: Link, page: Page) -> Page:
        off = page.signature % 2 == 0
        return msgspec.structs.replace(page, relevance=Relevance(0.1, relevant=not off, perplexity=1e7 if off else 100))

    def redirected(self, source: Url, target: Url) -> None:
        pass


class Job:
    """A crawl of a fake web by one strategy, with a real ledger."""

    def __init__(self, folder: Path, name: Strategy, answers: Answers, seeds: Sequence[Url], **loop: object) -> None:
        sites, clock = Sites(), FakeClock()
        self.web = FakeWeb(answers)
        self.ledger = Ledger(folder / "job.sqlite", site_of=sites.of)
        self.queue = LedgerQueue(self.ledger, sites.of)
        robots = RobotsFetcher(self.web, clock, Politeness(delay=0.0))
        terms = Topic(TermRelevance(TermList((Term("harbour", language=LANGUAGES[0]),)), LANGUAGES))
        self.crawl = Crawl(
            Frontier(self.queue, clock, sites.of, Politeness(delay=0)),
            PageSource(robots, reader(), robots.sitemaps),
            scorer=strategy(name, StrategyInputs(LANGUAGES, terms if name in FOCUSED else None)),
            ledger=self.ledger,
            scope=Scope(sites, seeds),
            settings=LoopSettings(**{"probe": False, "exhaustive": True, **loop}),  # type: ignore[arg-type]
        )
        if name in FOCUSED:
            self.crawl.judge = HalfOffTopic()
        self.crawl.seed([Link(url, LinkKind.SEED) for url in seeds])

    def go_on(self) -> None:
        """What a resumed job does first."""
        self.crawl.remember(self.ledger.sightings())
        self.queue.take_back(Reason.STRATEGY, UNWANTED)
        self.crawl.frontier.wake(self.queue.hosts())

    async def run(self) -> set[str]:
        """The pages that it visited."""
        await self.crawl.run()
        summary = summarise(self.ledger)
        assert summary.queued == 0
        assert summary.links == summary.pages + summary.skipped
        rows = self.ledger.database.query("SELECT url FROM stored_pages").fetchall()
        self.ledger.close()
        return {url for (url,) in rows}


def bundled_answers() -> dict[str, str | Capture | Skip]:
    return {
        url: Capture(url, made.status, (*made.headers, ("Content-Type", made.type)), made.body, at=0.0)
        for url, made in demo.bundled().documents.items()
    }


@pytest.mark.parametrize(("name", "parallel"), [*((name, 16) for name in Strategy), (Strategy.ADAPTIVE, 1)])
async def test_every_strategy_visits_every_page_of_a_web_of_hubs(tmp_path: Path, name: Strategy, parallel: int):
    web = hub_web()
    visited = await Job(tmp_path, name, web, [Url.parse(f"{HOST}/")], parallel=parallel).run()
    assert sorted(set(web) - visited) == []
    assert visited == set(web)


async def test_what_a_strategy_refused_is_visited_when_the_job_goes_on_exhaustively(tmp_path: Path):
    web, seeds = hub_web(), [Url.parse(f"{HOST}/en/")]
    first = await Job(tmp_path, Strategy.LANGUAGE_FILTER, web, seeds, exhaustive=False).run()
    assert first < set(web)
    again = Job(tmp_path, Strategy.LANGUAGE_FILTER, web, seeds)
    again.go_on()
    assert await again.run() == {url for url in web if f"{HOST}/fr/" not in url} - {f"{HOST}/"}


@pytest.mark.parametrize("name", Strategy)
async def test_every_strategy_visits_every_page_of_the_bundled_web(tmp_path: Path, name: Strategy):
    visited = await Job(tmp_path, name, bundled_answers(), demo.seeds()).run()
    assert visited == set(demo.pages())


ROW = "http://row.test"


def chained_web(count: int) -> dict[str, str]:
    """Numbered pages, each of which links to the next and says a fifth of its text alone, as the pages of many generators."""
    template = f"<p>{_words('template', 80)}</p>"
    web = {f"{ROW}/": '<html lang="en"><title>Home</title><a href="/page/1">The first page</a>'}
    for number in range(1, count + 1):
        following = f'<a href="/page/{number + 1}">next</a>' if number < count else ""
        text = f"{template}<p>{_words(f'page {number}', 40)}</p>{template}"
        web[f"{ROW}/page/{number}"] = f'<html lang="en"><title>Page {number}</title>{text}{following}'
    return web


def _words(seed: str, count: int) -> str:
    return " ".join(random.Random(seed).choices(list(WORDS), k=count))


async def test_a_long_row_of_numbered_pages_with_a_template_is_visited_to_its_end(tmp_path: Path):
    web = chained_web(150)
    assert await Job(tmp_path, Strategy.BREADTH_FIRST, web, [Url.parse(f"{ROW}/")], exhaustive=False).run() == set(web)


async def test_a_row_of_numbered_pages_is_visited_to_its_end_by_a_job_that_goes_on(tmp_path: Path):
    web, seeds = chained_web(150), [Url.parse(f"{ROW}/")]
    first = Job(tmp_path, Strategy.BREADTH_FIRST, web, seeds)
    first.crawl.observers.append(lambda _visit: first.crawl.stop() if len(first.web.asked) >= 60 else None)
    await first.crawl.run()
    first.ledger.close()
    again = Job(tmp_path, Strategy.BREADTH_FIRST, web, seeds)
    again.go_on()
    assert await again.run() == set(web)
    assert again.web.asked
