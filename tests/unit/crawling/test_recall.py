"""What a resumed crawl tells its strategy, and what the loop does with a strategy's advice."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import pytest
from table_site import moved, page, site, url

from bitrawl.crawling import Crawl, Frontier, LoopSettings, PageSource, Politeness, Scope, ScopeRules, Sites
from bitrawl.model import (
    Advice,
    Alternate,
    AlternateSource,
    Capture,
    Language,
    Link,
    LinkKind,
    Page,
    SiteKnowledge,
    Sitemap,
    Skip,
    Visit,
)
from bitrawl.protocols import LinkScorer
from bitrawl.reasons import Reason, Stage
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_queue import LedgerQueue
from bitrawl.strategies import Adaptive
from bitrawl.testing import FakeClock, FakeWeb
from bitrawl.url import Url

NAME = "site.test"


class Job:
    """A crawl of a table of pages, kept in a folder; made again it resumes, as `assemble` does it."""

    def __init__(
        self,
        folder: Path,
        scorer: LinkScorer,
        pages: Mapping[Url, Page | Sitemap | Capture],
        *seeds: str,
        **asked: bool,
    ) -> None:
        self._pages = pages
        first = [url(seed) for seed in seeds or ["/"]]
        sites, clock = Sites(), FakeClock()
        table = {one: made if isinstance(made, Capture) else "<p>" for one, made in pages.items()}
        self.web = FakeWeb(table)
        self.ledger = Ledger(folder / "job.sqlite", site_of=sites.of)
        queue = LedgerQueue(self.ledger, sites.of)
        exhaustive = asked.get("exhaustive", False)
        frontier = Frontier(queue, clock, sites.of, Politeness(delay=0))
        if not exhaustive:
            frontier.left.update((known.site, known.left) for known in self.ledger.sites() if known.left)
        self.crawl = Crawl(
            frontier,
            PageSource(self.web, self),
            scorer=scorer,
            ledger=self.ledger,
            scope=Scope(sites, first, ScopeRules(exclude=["/secret/"])),
            settings=LoopSettings(
                parallel=1, probe=False, sitemaps=url("/sitemap.xml") in pages, exhaustive=exhaustive
            ),
        )
        self.crawl.seed([Link(one, LinkKind.SEED) for one in first])
        self.crawl.recall(self.ledger.visits(), queue.links())
        self.crawl.frontier.wake(queue.hosts())

    async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        """As `protocols.Analyser`."""
        found = self._pages[capture.url]
        assert isinstance(found, Sitemap) is index
        return found  # type: ignore[return-value]

    async def run(self, visits: int = 10**9) -> list[str]:
        """So many, or all: what was asked for, in order."""
        self.crawl.observers.append(lambda _: self.crawl.stop() if len(self.web.asked) >= visits else None)
        await self.crawl.run()
        self.ledger.close()
        return self.web.asked


def everything() -> dict[Url, Page | Sitemap | Capture]:
    """All that a crawl can bring: pairs, hidden partners, redirects, a sitemap, missing pages, pages that object."""
    english = [f"/en/p-{number}" for number in range(24)]
    french = [name.replace("/en/", "/fr/") for name in english]
    listed = [f"/en/listed-{number}" for number in range(4)] + [f"/fr/listed-{number}" for number in range(4)]
    legal = [f"/{code}/legal-{number}" for number in range(8) for code in ("en", "fr")]
    home = page("/", "en", [*english[:12], "/old", "/gone", "/secret/x", *french[:8], *legal, "/more", "/dead-end"])
    more = page("/more", "en", [*english[12:], "/en/p-0?b=1&a=2", "/en/p-0?a=2&b=1"])
    dead_end = page("/dead-end", "en", "/en/only-here /fr/only-here")
    links = tuple(Link(url(name), LinkKind.SITEMAP) for name in listed)
    group = tuple(Alternate(url(f"/{code}/listed-1"), code, AlternateSource.SITEMAP) for code in ("en", "fr"))
    pages = site(
        home,
        msgspec.structs.replace(more, directives=("noindex",)),
        msgspec.structs.replace(dead_end, directives=("nofollow",)),
        *(page(name, name[1:3], "/ /more") for name in [*english, *french, *listed]),
        *(page(name, "en") for name in [*legal, "/new"]),
    )
    redirect = moved("/old", "/new")
    return {**pages, redirect.url: redirect, url("/sitemap.xml"): Sitemap(url("/sitemap.xml"), links, (group,))}


def adaptive() -> Adaptive:
    return Adaptive([Language("en"), Language("fr")])


@pytest.mark.parametrize("killed_after", range(1, 72, 5))
async def test_a_crawl_that_resumes_goes_on_as_if_it_had_not_been_stopped(tmp_path: Path, killed_after: int):
    whole = await Job(tmp_path / "whole", adaptive(), everything(), exhaustive=True).run()
    assert {url("/new"), url("/fr/p-20"), url("/fr/listed-3")} <= set(whole)
    first = await Job(tmp_path / "parts", adaptive(), everything(), exhaustive=True).run(killed_after)
    rest = await Job(tmp_path / "parts", adaptive(), everything(), exhaustive=True).run()
    assert len(first) == killed_after < len(whole)
    assert [*first, *rest] == whole


async def test_a_seed_that_had_sunk_is_not_raised_by_a_new_start(tmp_path: Path):
    pages = site(
        page("/", "en", "/en/a /fr/a /en/b /fr/b"), *(page(f"/{code}/{n}", code) for n in "ab" for code in ("en", "fr"))
    )
    seeds = ["/", "/late"]
    sunk = Advice(((url("/late"), 0.1),))
    first = Job(tmp_path, Scribe(sunk), pages, *seeds)
    assert paths(await first.run(2)) == ["/", "/en/a"]
    assert paths(await Job(tmp_path, Scribe(sunk), pages, *seeds).run()) == ["/fr/a", "/en/b", "/fr/b", "/late"]


class Scribe:
    """A strategy that writes down what it is told, and advises what it was made with."""

    def __init__(self, *advice: Advice) -> None:
        self.learned: list[Url] = []
        self.scored: list[Link] = []
        self._advice = list(advice)

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:
        self.scored += links
        return [0.5] * len(links)

    def learn(self, visit: Visit, site: SiteKnowledge) -> None:
        self.learned.append(visit.lease.link.url)

    def advise(self, site: SiteKnowledge) -> Advice:
        return self._advice.pop(0) if self._advice else Advice()


async def test_a_resumed_strategy_is_told_of_the_same_visits_and_of_the_same_links(tmp_path: Path):
    partner = Link(url("/fr/foreseen"), LinkKind.PARTNER, url("/"))
    before = Scribe(Advice(links=(partner,)))
    await Job(tmp_path, before, everything()).run()
    after = Scribe(Advice(links=(partner,)))
    resumed = Job(tmp_path, after, everything())
    resumed.ledger.close()
    assert after.learned == before.learned
    lost = url("/more")  # it was not kept, and what it linked to has been visited since
    told = {link for link in before.scored if link.source != lost and link.kind is not LinkKind.INDEX}
    assert {link for link in after.scored if link.kind is not LinkKind.INDEX} == told


async def test_links_from_a_page_that_was_not_kept_are_told_while_they_wait(tmp_path: Path):
    first = Job(tmp_path, Scribe(), everything(), "/more")
    assert await first.run(2) == [url("/sitemap.xml"), url("/more")]
    after = Scribe()
    Job(tmp_path, after, everything(), "/more").ledger.close()
    assert url("/en/p-20") in {link.url for link in after.scored}


def test_the_ledger_tells_each_visit_once_with_its_last_outcome(tmp_path: Path):
    ledger = Ledger(tmp_path / "job.sqlite")
    queue = LedgerQueue(ledger, Sites().of)
    links = [Link(url(path), LinkKind.PAGE, depth=3) for path in ("/late", "/page", "/gone", "/map", "/waiting")]
    queue.put((link, 0.5) for link in links)
    late, kept, gone, index, waiting = [queue.pop(NAME) for _ in links]
    timeout = Skip(url("/late"), Stage.FETCH, Reason.TIMEOUT)
    ledger.record(Visit(late, timeout), final=False)
    ledger.record(Visit(kept, page("/page", "en", "/x"), 200))
    ledger.record(Visit(gone, Skip(url("/gone"), Stage.FETCH, Reason.HTTP_STATUS, "404", 404), 404))
    ledger.record(Visit(index, Sitemap(url("/map"), (Link(url("/y"), LinkKind.SITEMAP),)), 200))
    ledger.record(Visit(waiting, timeout), final=False)
    queue.give_back(waiting)
    ledger.record(Visit(late, page("/late", "fr"), 200))
    visits = list(ledger.visits())
    assert [visit.lease.link for visit in visits] == [kept.link, gone.link, index.link, late.link]
    assert [visit.status for visit in visits] == [200, 404, 200, 200]
    assert visits[0].outcome == page("/page", "en", "/x")
    assert visits[1].outcome == Skip(url("/gone"), Stage.FETCH, Reason.HTTP_STATUS, "404", 404)
    assert isinstance(visits[2].outcome, Sitemap)
    assert visits[3].outcome == page("/late", "fr")
    ledger.close()


# advice


@pytest.fixture
def plain() -> dict[Url, Page]:
    return site(page("/", "en", "/a /b /c"), *(page(name, "en") for name in ("/a", "/b", "/c", "/hidden")))


def paths(asked: Sequence[str]) -> list[str]:
    return [one.removeprefix(f"http://{NAME}") for one in asked]


async def test_scores_are_followed_also_downwards(tmp_path: Path, plain: dict[Url, Page]):
    advice = Advice(((url("/a"), 0.1), (url("/c"), 0.9), (url("/never"), 1.0)))
    assert paths(await Job(tmp_path, Scribe(advice), plain).run()) == ["/", "/c", "/b", "/a"]


async def test_links_that_no_page_has_are_visited_unless_they_are_out_of_scope(tmp_path: Path, plain: dict[Url, Page]):
    links = [Link(url(path), LinkKind.PARTNER, url("/")) for path in ("/hidden", "/secret/1", "http://other.test/")]
    asked = paths(await Job(tmp_path, Scribe(Advice(links=tuple(links))), plain).run())
    assert asked == ["/", "/a", "/b", "/c", "/hidden"]


async def test_a_site_is_left_when_the_strategy_says_so_and_the_first_reason_is_kept(
    tmp_path: Path, plain: dict[Url, Page]
):
    scorer = Scribe(Advice(), Advice(leave="enough"), Advice(leave="more than enough"))
    job = Job(tmp_path, scorer, plain)
    assert paths(await job.run()) == ["/", "/a"]
    assert job.crawl.frontier.left == {NAME: "enough"}
    again = Job(tmp_path, Scribe(), plain)
    assert await again.run() == []
    assert again.crawl.frontier.left == {NAME: "enough"}


async def test_what_was_left_is_visited_when_all_of_it_is_asked_for(tmp_path: Path, plain: dict[Url, Page]):
    await Job(tmp_path, Scribe(Advice(leave="enough")), plain).run()
    again = Job(tmp_path, Scribe(Advice(leave="enough"), Advice(leave="enough")), plain, exhaustive=True)
    assert paths(await again.run()) == ["/a", "/b", "/c"]
    ledger = Ledger(tmp_path / "job.sqlite", read_only=True)
    assert ledger.knowledge(NAME).left == "enough"
    ledger.close()


# seeds


def test_a_seed_takes_the_place_of_a_link_that_was_never_visited(tmp_path: Path):
    ledger = Ledger(tmp_path / "job.sqlite")
    queue = LedgerQueue(ledger, Sites().of)
    deep, seed = [Link(url("/deep"), kind, depth=depth) for kind, depth in ((LinkKind.PAGE, 9), (LinkKind.SEED, 0))]
    queue.put([(deep, 0.9), (Link(url("/other"), LinkKind.PAGE), 0.5)])
    queue.give_back(queue.pop(NAME))
    assert queue.is_unread(deep.url, ())
    queue.put([(seed, 1.0)])
    assert not queue.is_unread(deep.url, ())
    assert queue.is_unread(deep.url, {deep.url})
    lease = queue.pop(NAME)
    assert (lease.link, lease.attempt) == (seed, 1)
    with ledger.transaction():
        ledger.record(Visit(lease, page("/deep", "en"), 200))
    assert not queue.is_unread(deep.url, {deep.url})
    ledger.close()


@pytest.mark.parametrize("stage", [Stage.SCOPE, Stage.FRONTIER, Stage.FETCH])
def test_a_link_that_was_refused_is_queued_as_a_seed_and_one_that_failed_is_not(tmp_path: Path, stage: Stage):
    ledger = Ledger(tmp_path / "job.sqlite")
    queue = LedgerQueue(ledger, Sites().of)
    link, skip = Link(url("/x"), LinkKind.PAGE), Skip(url("/x"), stage, Reason.TRAP)
    with ledger.transaction():
        ledger.refuse([(link, skip)])
    was_asked = stage is Stage.FETCH
    assert queue.is_unread(link.url, ()) is not was_asked
    queue.put([(Link(link.url, LinkKind.SEED), 1.0)])
    assert (queue.pop(NAME) is None) is was_asked
    ledger.close()


def test_of_a_site_that_was_left_only_what_the_user_names_is_handed_out(tmp_path: Path):
    ledger = Ledger(tmp_path / "job.sqlite")
    queue = LedgerQueue(ledger, Sites().of)
    kinds = {"/map": LinkKind.INDEX, "/seed": LinkKind.SEED, "/page": LinkKind.PAGE}
    queue.put([(Link(url(path), kind), 0.9 if kind is LinkKind.PAGE else 1.0) for path, kind in kinds.items()])
    queue.left = {NAME}
    assert queue.has_more(NAME)
    assert queue.pop(NAME).link.url == url("/seed")
    assert not queue.has_more(NAME)
    assert queue.pop(NAME) is None
    ledger.close()
