"""The loop over a fake web with a toy reader: what is followed, what is kept, what ends how."""

import asyncio
import errno
import re
import resource
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec
import pytest

from bitrawl.crawling import (
    Budget,
    Crawl,
    Frontier,
    HostRules,
    LoopSettings,
    PageSource,
    Politeness,
    Reach,
    Scope,
    ScopeRules,
    Sites,
)
from bitrawl.crawling.scope import MAX_SITEMAPS
from bitrawl.errors import DiskFullError, OutOfMemoryError, UrlError
from bitrawl.job.fetching import most_waiting
from bitrawl.model import Capture, Language, Link, LinkKind, Page, Sitemap, Skip, Visit
from bitrawl.papers.url_models import LanguageFilter
from bitrawl.protocols import StrategyInputs
from bitrawl.reasons import Reason, Stage
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_facts import fault_counts, log, summarise
from bitrawl.store.ledger_queue import LedgerQueue
from bitrawl.strategies import BreadthFirst
from bitrawl.testing import FakeClock, FakeWeb
from bitrawl.url import Url

HOME = "http://a.org/"


class ToyReader:
    """`<a href=…>` are links, `<link href=…>` translations, `lang=xx` the language, `meta x` a directive; the text is its own signature."""

    async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        text = capture.body.decode()
        if "bug" in text:
            raise ZeroDivisionError
        links = []
        for tag, raw in re.findall(r"<(\w+) href=(\S+?)>", text):
            try:
                kind = LinkKind.SITEMAP if index else LinkKind.ALTERNATE if tag == "link" else LinkKind.PAGE
                links.append(Link(Url.parse(raw, base=capture.url), kind, capture.url))
            except UrlError:
                continue
        if index:
            return Sitemap(capture.url, tuple(links))
        language = re.search(r"lang=(\w+)", text)
        words = re.sub(r"\d+", "", re.sub(r"<.*?>", "", text))
        return Page(
            capture.url,
            Language(language[1] if language else "und"),
            links=tuple(links),
            directives=tuple(re.findall(r"<meta ([\w-]+)>", text)),
            signature=int.from_bytes(words.encode()[-8:].rjust(8, b"\0"), "big"),
        )


class Job:
    """A crawl of a fake web in a folder; made again it resumes."""

    def __init__(self, folder: Path, pages: Mapping[str, str | Capture | Skip], **changes: object) -> None:
        sites, clock = Sites(), FakeClock()
        self.web = FakeWeb(pages)
        self.ledger = Ledger(folder / "job.sqlite", site_of=sites.of)
        queue = LedgerQueue(self.ledger, sites.of)
        seeds = [Url.parse(HOME)]
        politeness = Politeness(attempts=2, backoff=1.0)
        self.visits: list[Visit] = []
        source = {"fetcher": self.web, "analyser": ToyReader()}
        source |= {name: changes.pop(name) for name in PageSource.__dataclass_fields__ if name in changes}
        parts = {
            "source": PageSource(**source),  # type: ignore[arg-type]
            "scorer": BreadthFirst(),
            "scope": Scope(sites, seeds, ScopeRules(reach=Reach.DOMAIN)),
            "settings": LoopSettings(probe=False, sitemaps=False, attempts=2),
        }
        frontier = Frontier(queue, clock, sites.of, politeness)
        self.crawl = Crawl(frontier, ledger=self.ledger, **parts | changes)  # type: ignore[arg-type]
        self.crawl.observers.append(self.visits.append)
        frontier.wake(queue.hosts())
        self.crawl.seed([Link(url, LinkKind.SEED) for url in seeds])

    async def run(self) -> dict[str, str]:
        """What became of each link: "page", "queued", or a reason."""
        await self.crawl.run()
        return self.verdicts()

    def verdicts(self) -> dict[str, str]:
        rows = self.ledger.database.query("SELECT url, state, reason FROM links")
        return {
            url.removeprefix("http://"): reason or ("queued", "leased", "page")[state] for url, state, reason in rows
        }


@pytest.fixture
def job(tmp_path: Path):
    jobs = []

    def make(pages: Mapping[str, str | Capture | Skip], **changes: object) -> Job:
        jobs.append(Job(tmp_path / str(len(jobs)), pages, **changes))
        return jobs[-1]

    yield make
    for made in jobs:
        made.ledger.close()


def moved(url: str, to: str, status: int = 301) -> Capture:
    return Capture(Url.parse(url), status, (("Location", to),), b"", at=0.0)


async def test_every_link_ends_as_a_page_or_as_a_skip_with_a_reason(job):
    crawl = job(
        {
            HOME: "<a href=/one> <a href=/two> <a href=/gone> <a href=http://b.org/> <a href=mailto:x@a.org>",
            "http://a.org/one": "<a href=/two> <a href=/> first",
            "http://a.org/two": "second",
        }
    )
    assert await crawl.run() == {
        "a.org/": "page",
        "a.org/one": "page",
        "a.org/two": "page",
        "a.org/gone": "http-status",
        "b.org/": "off-site",
    }
    summary = summarise(crawl.ledger)
    assert summary.links == summary.pages + summary.skipped + summary.queued == 5
    assert crawl.web.asked == [HOME, "http://a.org/one", "http://a.org/two", "http://a.org/gone"]
    assert [line.seq for line in log(crawl.ledger)] == [1, 2, 3, 4]


async def test_a_redirect_ends_its_link_and_its_target_is_judged_as_any_other(job):
    pages = {
        HOME: "<a href=/old> <a href=/away> <a href=/script>",
        "http://a.org/old": moved("http://a.org/old", "new"),
        "http://a.org/new": "here",
        "http://a.org/away": moved("http://a.org/away", "http://b.org/x", 302),
        "http://a.org/script": moved("http://a.org/script", "javascript:alert(1)"),
    }
    verdicts = await job(pages).run()
    assert (verdicts["a.org/old"], verdicts["a.org/new"]) == ("redirect", "page")
    assert (verdicts["a.org/away"], verdicts["b.org/x"]) == ("redirect", "off-site")
    assert verdicts["a.org/script"] == "redirect"


async def test_redirects_that_never_end_are_given_up(job):
    pages = {f"http://a.org/{n}": moved(f"http://a.org/{n}", f"/{n + 1}") for n in range(50)}
    verdicts = await job(pages | {HOME: "<a href=/0>"}).run()
    assert sorted(verdicts.values()) == ["page", *["redirect"] * 5, "too-many-redirects"]


@pytest.mark.parametrize(
    ("meta", "verdict", "child"),
    [
        ("noindex", "noindex", "page"),
        ("nofollow", "page", "nofollow"),
        ("noai", "opt-out", "page"),
        ("tdm-reservation", "opt-out", "page"),
    ],
)
async def test_what_a_page_asks_of_robots_is_honoured(job, meta, verdict, child):
    pages = {HOME: "<a href=/x>", "http://a.org/x": f"<meta {meta}> <a href=/child>", "http://a.org/child": "child"}
    verdicts = await job(pages).run()
    assert (verdicts["a.org/x"], verdicts.get("a.org/child")) == (verdict, child)


async def test_a_transient_failure_is_tried_again_and_then_recorded(job):
    down = Skip(Url.parse("http://a.org/x"), Stage.FETCH, Reason.TIMEOUT)
    crawl = job({HOME: "<a href=/x>", "http://a.org/x": down})
    assert (await crawl.run())["a.org/x"] == "timeout"
    assert crawl.web.asked.count("http://a.org/x") == 2
    assert [line.attempt for line in log(crawl.ledger)] == [1, 1, 2]


async def test_a_bug_of_ours_costs_one_page(job):
    pages = {HOME: "<a href=/bad> <a href=/good>", "http://a.org/bad": "bug", "http://a.org/good": "fine"}
    verdicts = await job(pages).run()
    assert (verdicts["a.org/bad"], verdicts["a.org/good"]) == ("internal", "page")


async def test_soft_404s_are_told_by_asking_for_a_page_that_cannot_exist(job):
    class SoftWeb(FakeWeb):
        async def fetch(self, link: Link) -> Capture | Skip:
            answer = await super().fetch(link)
            if isinstance(answer, Skip):
                return Capture(link.url, 200, (), b"Sorry, there is nothing here.", at=0.0)
            return answer

    pages = {HOME: "<a href=/real> <a href=/dead-link> home", "http://a.org/real": "real text"}
    crawl = job(pages, fetcher=SoftWeb(pages), settings=LoopSettings(sitemaps=False))
    verdicts = await crawl.run()
    assert (verdicts["a.org/real"], verdicts["a.org/dead-link"]) == ("page", "soft-404")
    assert sorted(verdicts.values()).count("probe") == 1


async def test_a_probe_whose_readers_were_killed_tells_nothing_about_its_host_and_is_queued_by_the_next_run(job):
    class Killed(ToyReader):
        async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
            if capture.url == HOME:
                return await super().analyse(capture, index=index)
            return Skip(capture.url, Stage.ANALYSE, Reason.KILLED)

    class AnyPage(FakeWeb):
        async def fetch(self, link: Link) -> Capture | Skip:
            return Capture(link.url, 200, (), b"home", at=0.0)

    crawl = job({}, fetcher=AnyPage({}), analyser=Killed(), settings=LoopSettings(sitemaps=False))
    assert sorted((await crawl.run()).values()) == ["killed", "page"]
    assert crawl.ledger.knowledge("a.org").missing == {}
    LedgerQueue(crawl.ledger, Sites().of).try_again(Reason.KILLED)
    assert sorted(crawl.verdicts().values()) == ["page", "queued"]


async def test_a_host_rests_after_a_probe_that_was_redirected(job):
    class HomeForAll(FakeWeb):
        async def fetch(self, link: Link) -> Capture | Skip:
            times.append(crawl.crawl.clock.now())
            return moved(link.url, HOME) if link.kind is LinkKind.PROBE else await super().fetch(link)

    times: list[float] = []
    crawl = job({HOME: "home"}, fetcher=HomeForAll({HOME: "home"}), settings=LoopSettings(sitemaps=False))
    verdicts = await crawl.run()
    assert sorted(verdicts.values()) == ["page", "probe"]
    assert times[1] - times[0] >= 1.0


async def test_sitemaps_are_read_and_those_that_robots_names_too(job):
    pages = {
        HOME: "home",
        "http://a.org/sitemap.xml": "<a href=/listed>",
        "http://a.org/other.xml": "<a href=/named>",
        "http://a.org/listed": "listed page",
        "http://a.org/named": "named page",
    }
    settings = LoopSettings(probe=False)
    named = job(pages, settings=settings, sitemaps_of=lambda _: (Url.parse("http://a.org/other.xml"),))
    verdicts = await named.run()
    assert (verdicts["a.org/listed"], verdicts["a.org/named"]) == ("page", "page")
    assert verdicts["a.org/sitemap.xml"] == "sitemap"


async def test_an_infinite_calendar_ends(job):
    class Calendar(FakeWeb):
        async def fetch(self, link: Link) -> Capture | Skip:
            day = int(link.url.rpartition("/")[2] or 0)
            name = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")[day % 7]
            text = f"<a href=/day/{day + 1}> Nothing happens on day {day}, a {name}"
            self.asked.append(link.url)
            return Capture(link.url, 200, (), text.encode(), at=0.0)

    web = Calendar({})
    verdicts = await job({}, fetcher=web).run()
    assert len(web.asked) < 100
    assert "trap" in verdicts.values()


async def test_the_language_filter_follows_links_only_from_pages_in_the_languages_asked_for(job):
    pages = {
        HOME: "lang=en <a href=/de> <a href=/both>",
        "http://a.org/de": "lang=de <a href=/only-de> <a href=/both>",
        "http://a.org/both": "lang=fr <a href=/later>",
        "http://a.org/later": "lang=en <a href=/revived>",
        "http://a.org/only-de": "lang=de",
        "http://a.org/revived": "lang=en",
    }
    pages["http://a.org/de"] += " <a href=/revived>"
    crawl = job(pages, scorer=LanguageFilter(StrategyInputs([Language("en"), Language("fr")])))
    verdicts = await crawl.run()
    assert verdicts["a.org/only-de"] == "strategy"
    assert verdicts["a.org/revived"] == "page"


async def test_an_exhaustive_crawl_visits_last_what_the_strategy_would_not_follow(job):
    pages = {
        HOME: "lang=en <a href=/de> <a href=/en>",
        "http://a.org/de": "lang=de <a href=/only-de>",
        "http://a.org/en": "lang=en <a href=/later>",
        "http://a.org/later": "lang=en later",
        "http://a.org/only-de": "lang=de only",
    }
    settings = LoopSettings(probe=False, sitemaps=False, exhaustive=True)
    crawl = job(pages, scorer=LanguageFilter(StrategyInputs([Language("en")])), settings=settings)
    assert set((await crawl.run()).values()) == {"page"}
    assert crawl.web.asked[-1] == "http://a.org/only-de"


async def test_a_link_that_one_page_does_not_want_followed_is_followed_from_another(job):
    pages = {
        HOME: "<a href=/closed> <a href=/shop?a=1&b=2&c=3> <a href=/open>",
        "http://a.org/closed": "<meta nofollow> <a href=/x> <a href=/y> closed",
        "http://a.org/shop?a=1&b=2&c=3": "<a href=/shop?a=1&b=2&c=3&d=4> shop",
        "http://a.org/open": "<a href=/x> <a href=/shop?a=1&b=2&c=3&d=4> open",
        "http://a.org/x": "x",
        "http://a.org/shop?a=1&b=2&c=3&d=4": "four",
    }
    verdicts = await job(pages).run()
    assert (verdicts["a.org/x"], verdicts["a.org/y"]) == ("page", "nofollow")
    assert verdicts["a.org/shop?a=1&b=2&c=3&d=4"] == "page"


async def test_sitemaps_that_are_not_read_say_why(job):
    class Index(ToyReader):
        async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
            found = await super().analyse(capture, index=index)
            if not isinstance(found, Sitemap):
                return found
            links = tuple(Link(link.url, LinkKind.INDEX, link.source) for link in found.links)
            return Sitemap(found.url, links)

    pages = {HOME: "home", "http://a.org/sitemap.xml": "".join(f"<a href=/{n}.xml>" for n in range(MAX_SITEMAPS + 1))}
    pages |= {f"http://a.org/{name}.xml": f"<a href=/{name}x.xml>" for name in ("0", "0x", "0xx", "0xxx")}
    verdicts = await job(pages, analyser=Index(), settings=LoopSettings(probe=False)).run()
    assert verdicts[f"a.org/{MAX_SITEMAPS}.xml"] == "trap"
    pages["http://a.org/sitemap.xml"] = "<a href=/0.xml>"
    verdicts = await job(pages, analyser=Index(), settings=LoopSettings(probe=False)).run()
    assert (verdicts["a.org/0xx.xml"], verdicts["a.org/0xxx.xml"]) == ("sitemap", "depth")


class FilesReader(ToyReader):
    """A sitemap may also name others, which end in .xml."""

    async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        found = await super().analyse(capture, index=index)
        if not isinstance(found, Sitemap):
            return found
        named = (LinkKind.INDEX if link.url.endswith(".xml") else link.kind for link in found.links)
        links = (msgspec.structs.replace(link, kind=kind) for link, kind in zip(found.links, named, strict=True))
        return Sitemap(found.url, tuple(links))


def listing(*groups: tuple[str, int, Callable[[int], Iterable[int]]]) -> dict[str, str]:
    """An index of files: for each group its name, the number of files, and which of its pages each lists."""
    files = {
        f"{name}-{n}": [f"{name}/{page}" for page in pages(n)] for name, count, pages in groups for n in range(count)
    }
    web = {HOME: "home", "http://a.org/sitemap.xml": "".join(f"<a href=/{file}.xml>" for file in files)}
    for file, pages in files.items():
        web[f"http://a.org/{file}.xml"] = "".join(f"<a href=/{page}>" for page in pages)
        web |= {f"http://a.org/{page}": f"text of {page}" for page in pages}
    return web


def sitemaps_read(crawl: Job) -> int:
    return sum(url.endswith(".xml") for url in crawl.web.asked) - 1


MANY = {"analyser": FilesReader(), "settings": LoopSettings(probe=False)}


async def test_three_hundred_sitemaps_for_twenty_pages_are_not_all_read_and_say_why(job):
    crawl = job(listing(("x", 300, lambda _: range(20))), **MANY)
    verdicts = Counter((await crawl.run()).values())
    assert verdicts["page"] == 21
    assert sitemaps_read(crawl) == 14  # ten, and one for each five pages
    assert verdicts["trap"] == 300 - 14
    (detail,) = crawl.ledger.database.one("SELECT DISTINCT detail FROM links WHERE reason = 'trap'")
    assert detail == "14 sitemaps of the site were read, and list only 20 addresses"


async def test_sitemaps_that_list_new_pages_are_all_read(job):
    crawl = job(listing(("x", 60, lambda n: range(6 * n, 6 * n + 6))), **MANY)
    verdicts = Counter((await crawl.run()).values())
    assert (sitemaps_read(crawl), verdicts) == (60, {"page": 361, "sitemap": 61})


async def test_a_budget_of_pages_is_one_of_sitemaps_too_and_those_left_wait_for_a_larger_one(job):
    halves = (("en", 150, lambda n: range(40 * n, 40 * n + 40)), ("fr", 150, lambda n: range(40 * n, 40 * n + 40)))
    crawl = job(listing(*halves), **MANY)
    crawl.crawl.frontier.spending.budget = Budget(pages=20)
    verdicts = await crawl.run()
    assert sitemaps_read(crawl) == 14
    read = Counter(url[:2] for url in (url.removeprefix(HOME) for url in crawl.web.asked) if url.endswith(".xml"))
    assert min(read["en"], read["fr"]) >= 5  # though all English files stand before the first French one
    assert sum(verdicts[f"a.org/{name}-{n}.xml"] == "queued" for name in ("en", "fr") for n in range(150)) == 286


async def test_an_exhaustive_crawl_reads_all_sitemaps_after_all_pages(job):
    settings = LoopSettings(probe=False, exhaustive=True)
    crawl = job(listing(("x", 40, lambda _: range(20))), analyser=FilesReader(), settings=settings)
    await crawl.run()
    assert sitemaps_read(crawl) == 40
    assert all(url.endswith(".xml") for url in crawl.web.asked[-26:])


@pytest.mark.parametrize(
    "lack",
    [
        MemoryError(),
        RuntimeError("can't start new thread"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        ImportError("libfoo.so: failed to map segment from shared object"),
    ],
    ids=repr,
)
async def test_a_lack_of_memory_ends_the_run_and_is_no_verdict_about_a_page(tmp_path: Path, lack: Exception):
    class Starved(ToyReader):
        async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
            if capture.url == "http://a.org/1":
                raise lack
            return await super().analyse(capture, index=index)

    pages = {HOME: "<a href=/0> <a href=/1> <a href=/2>", **{f"http://a.org/{n}": f"page {n}" for n in range(3)}}
    starved = Job(tmp_path, pages, analyser=Starved())
    with pytest.raises(OutOfMemoryError):
        await starved.run()
    starved.ledger.close()
    resumed = Job(tmp_path, pages)
    assert set((await resumed.run()).values()) == {"page"}
    resumed.ledger.close()


async def test_what_is_left_out_of_a_page_is_recorded(job):
    class Short(ToyReader):
        async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
            found = await super().analyse(capture, index=index)
            return found if isinstance(found, Skip) else msgspec.structs.replace(found, cut="7 links after the first 9")

    crawl = job({HOME: "home"}, analyser=Short())
    assert await crawl.run() == {"a.org/": "page"}
    (fault,) = fault_counts(crawl.ledger)
    assert (fault.stage, fault.reason, fault.url, fault.detail) == (
        *(Stage.ANALYSE, Reason.TOO_LARGE),
        *(HOME, "7 links after the first 9"),
    )


class Maze(FakeWeb):
    """Every page has the same text, and two links to pages that nobody has seen."""

    async def fetch(self, link: Link) -> Capture | Skip:
        self.asked.append(link.url)
        text = f"<a href={link.url.rstrip('/')}/left> <a href={link.url.rstrip('/')}/right> a turning"
        return Capture(link.url, 200, (), text.encode(), at=0.0)


async def test_a_maze_ends_and_every_turning_has_a_verdict(job):
    web = Maze({})
    crawl = job({}, fetcher=web)
    verdicts = await crawl.run()
    assert len(web.asked) <= 20
    assert set(verdicts.values()) == {"page", "trap"}
    linked = {f"{url.rstrip('/')}/{name}" for url in web.asked for name in ("left", "right")}
    assert {url.removeprefix("http://") for url in linked} <= set(verdicts)


async def test_a_resumed_crawl_of_a_maze_goes_no_further(tmp_path: Path):
    web = Maze({})
    first = Job(tmp_path, {}, fetcher=web)
    first.crawl.observers.append(lambda _visit: first.crawl.stop() if len(web.asked) >= 8 else None)
    await first.run()
    first.ledger.close()
    second = Job(tmp_path, {}, fetcher=web)
    second.crawl.remember(second.ledger.sightings())
    verdicts = await second.run()
    second.ledger.close()
    assert len(web.asked) <= 20
    assert "queued" not in verdicts.values()


async def test_a_full_disk_stops_the_crawl_and_the_next_run_goes_on(tmp_path: Path):
    class FullDisk(FakeWeb):
        full = True

        async def fetch(self, link: Link) -> Capture | Skip:
            if self.full and link.url.endswith("/two"):
                raise DiskFullError("no space left")
            return await super().fetch(link)

    pages = {HOME: "<a href=/one> <a href=/two>", "http://a.org/one": "1", "http://a.org/two": "2"}
    first = Job(tmp_path, pages, fetcher=FullDisk(pages))
    with pytest.raises(DiskFullError):
        await first.crawl.run()
    assert first.verdicts()["a.org/one"] == "page"
    first.ledger.close()
    second = Job(tmp_path, pages)
    verdicts = await second.run()
    second.ledger.close()
    assert set(verdicts.values()) == {"page"}
    assert second.web.asked == ["http://a.org/two"]


async def test_a_resumed_crawl_visits_only_what_is_left(tmp_path: Path):
    pages = {HOME: "".join(f"<a href=/{n}>" for n in range(9))} | {f"http://a.org/{n}": f"page {n}" for n in range(9)}
    first = Job(tmp_path, pages)
    first.crawl.observers.append(lambda visit: first.crawl.stop() if visit.lease.link.url.endswith("/4") else None)
    await first.run()
    first.ledger.close()
    second = Job(tmp_path, pages)
    verdicts = await second.run()
    second.ledger.close()
    assert set(verdicts.values()) == {"page"}
    assert not set(first.web.asked) & set(second.web.asked)
    assert len(first.web.asked) + len(second.web.asked) == 10


async def test_with_following_switched_off_only_the_seeds_are_visited(job):
    crawl = job({HOME: "<a href=/one>", "http://a.org/one": "x"}, settings=LoopSettings(follow=False))
    assert await crawl.run() == {"a.org/": "page"}


class Certain(BreadthFirst):
    """Everything is as good as what a host is asked first."""

    def score(self, links, found_on, site):
        return [1.0 for _ in links]


@pytest.mark.parametrize("scorer", [BreadthFirst, Certain])
async def test_the_first_link_that_is_due_waits_until_its_host_has_been_asked(job, scorer):
    pages = {
        HOME: "<a href=http://b.a.org/one> <a href=http://b.a.org/two>",
        "http://b.a.org/one": "one",
        "http://b.a.org/two": "two",
    }
    crawl = job(pages, scorer=scorer(), settings=LoopSettings(attempts=2))
    verdicts = await crawl.run()
    asked = [url for url in crawl.web.asked if url.startswith("http://b.")]
    assert ["missing" in asked[0], *asked[1:]] == [
        True,
        "http://b.a.org/sitemap.xml",
        "http://b.a.org/one",
        "http://b.a.org/two",
    ]
    assert (verdicts["b.a.org/one"], verdicts["b.a.org/two"]) == ("page", "page")
    assert {visit.lease.attempt for visit in crawl.visits} == {1}


async def test_hosts_beyond_the_budget_are_not_visited_and_those_visited_go_on(job):
    names = [f"http://{name}.a.org" for name in "bcdef"]
    pages = {HOME: " ".join(f"<a href={name}/>" for name in names)}
    pages |= {f"{name}/": f"{name[7]}{name[7]} <a href=/more>" for name in names}
    pages |= {f"{name}/more": f"{name[7]} more" for name in names}
    crawl = job(pages, settings=LoopSettings(probe=False, sitemaps=False, site_hosts=3))
    verdicts = await crawl.run()
    visited = {url.partition("/")[0] for url, verdict in verdicts.items() if verdict == "page"}
    assert set(crawl.ledger.hosts_asked()) == visited  # what a resumed run counts again
    assert [verdict for url, verdict in verdicts.items() if url.endswith(".a.org/")].count("page") == 2
    assert list(verdicts.values()).count("too-many-hosts") == 3
    assert sum(url.endswith("/more") for url in verdicts) == 2


async def test_links_to_a_host_are_followed_once_a_later_page_declares_a_translation_there(job):
    pages = {
        HOME: "<a href=http://voyage.a.org/early> <a href=http://shop.a.org/> <a href=/next>",
        "http://a.org/next": "<link href=http://voyage.a.org/next>",
        "http://voyage.a.org/early": "early",
        "http://voyage.a.org/next": "next <a href=/more>",
        "http://voyage.a.org/more": "more",
        "http://shop.a.org/": "shop",
    }
    crawl = job(pages, scope=Scope(Sites(), [Url.parse(HOME)]))
    verdicts = await crawl.run()
    assert {url for url, verdict in verdicts.items() if verdict != "page"} == {"shop.a.org/"}
    assert verdicts["shop.a.org/"] == "off-host"
    assert len(verdicts) == len(pages)


class Judged:
    """Notes what it is asked to judge, and what redirects."""

    def __init__(self) -> None:
        self.pages: list[str] = []
        self.redirects: list[tuple[str, str]] = []

    def __call__(self, _link: Link, page: Page) -> Page:
        self.pages.append(page.url)
        return page

    def redirected(self, source: Url, target: Url) -> None:
        self.redirects.append((source, target))


async def test_pages_are_judged_unless_their_text_must_not_be_used_and_a_resumed_run_judges_them_again(tmp_path: Path):
    pages = {
        HOME: "<a href=/old> <a href=/noai> <a href=/noindex> home",
        "http://a.org/noai": "<meta noai> one",
        "http://a.org/noindex": "<meta noindex> two",
        "http://a.org/old": moved("http://a.org/old", "http://a.org/older"),
        "http://a.org/older": moved("http://a.org/older", "http://a.org/new"),
        "http://a.org/new": "<a href=/later> new",
    }
    first = Judged()
    crawl = Job(tmp_path, pages, judge=first)
    await crawl.run()
    assert sorted(first.pages) == [HOME, "http://a.org/new", "http://a.org/noindex"]
    assert first.redirects == [("http://a.org/old", "http://a.org/older"), ("http://a.org/older", "http://a.org/new")]
    again = Judged()
    crawl.crawl.judge = again
    crawl.crawl.recall(crawl.ledger.visits())
    assert again.redirects == first.redirects
    assert again.pages == [page for page in first.pages if page != "http://a.org/noindex"]  # what is kept
    crawl.ledger.close()


class SilentWeb(FakeWeb):
    """Hosts that begin with "silent" answer when they are let; until then their visitors wait."""

    def __init__(self, pages: Mapping[str, str | Capture | Skip]) -> None:
        super().__init__(pages)
        self.let = asyncio.Event()

    async def fetch(self, link: Link) -> Capture | Skip:
        if link.url.host.startswith("silent"):
            await self.let.wait()
        return await super().fetch(link)


SILENT = [f"http://silent{n}.a.org/" for n in range(30)]
BUT_FEW = LoopSettings(probe=False, sitemaps=False, parallel=2, waiting=8)


async def test_hosts_that_never_answer_do_not_stop_the_crawl_and_their_links_stay_queued(job):
    links = "".join(f"<a href={url}>" for url in SILENT)
    pages = {HOME: links + "".join(f"<a href=/{n}>" for n in range(20))}
    pages |= {f"http://a.org/{n}": f"number {n * 'x'}" for n in range(20)}
    crawl = job(pages, fetcher=SilentWeb(pages), settings=BUT_FEW)
    crawl.crawl.frontier.spending.budget = Budget(pages=21)
    verdicts = await asyncio.wait_for(crawl.run(), 60)
    assert {url for url, verdict in verdicts.items() if verdict == "page"} == {url[7:] for url in pages}
    assert {verdicts[url[7:]] for url in SILENT} == {"queued", "leased"}
    assert summarise(crawl.ledger).queued == len(SILENT)


async def test_an_answer_that_comes_when_the_budget_is_used_up_leaves_its_link_queued(job):
    class Late(SilentWeb):
        async def fetch(self, link: Link) -> Capture | Skip:
            answer = await super().fetch(link)
            if link.url == "http://a.org/last":
                self.let.set()
                for _ in range(50):
                    await asyncio.sleep(0)
            return answer

    pages = {HOME: f"<a href={SILENT[0]}> <a href=/last>", SILENT[0]: "late", "http://a.org/last": "last"}
    web = Late(pages)
    crawl = job(pages, fetcher=web, settings=BUT_FEW)
    crawl.crawl.frontier.spending.budget = Budget(pages=2)
    verdicts = await asyncio.wait_for(crawl.run(), 60)
    assert SILENT[0] in web.asked
    assert verdicts == {"a.org/": "page", "a.org/last": "page", "silent0.a.org/": "queued"}
    crawl.crawl.frontier.spending.budget = Budget()
    assert (await asyncio.wait_for(crawl.run(), 60))["silent0.a.org/"] == "page"
    assert {visit.lease.attempt for visit in crawl.visits} == {1}


class Uneven(ToyReader):
    """Some pages take longer to read than others."""

    async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        for _ in range(len(capture.url) % 3 * 20):
            await asyncio.sleep(0)
        return await super().analyse(capture, index=index)


class ByDigits(BreadthFirst):
    """An order that what is found later changes."""

    def score(self, links, found_on, site):
        return [int(link.url.rpartition("/")[2] or 0) % 89 / 100 + 0.01 for link in links]


async def test_the_order_of_a_host_that_need_not_rest_is_the_same_however_many_visits_are_in_flight(job):
    pages = {HOME: "".join(f"<a href=/{n}>" for n in range(1, 4))}
    for n in range(1, 200):
        name = "".join(chr(ord("a") + int(digit)) for digit in str(n))
        pages[f"http://a.org/{n}"] = "".join(f"<a href=/{7 * n + k}>" for k in range(3)) + name

    async def order(parallel: int) -> list[str]:
        settings = LoopSettings(probe=False, sitemaps=False, parallel=parallel)
        crawl = job(pages, analyser=Uneven(), scorer=ByDigits(), settings=settings)
        crawl.crawl.frontier.politeness = Politeness(delay=0)
        crawl.crawl.frontier.rules = HostRules(orders=True)
        await crawl.run()
        return crawl.web.asked

    alone = await order(1)
    assert len(alone) > 50
    assert await order(16) == alone


@pytest.mark.parametrize(
    ("parallel", "descriptors", "waiting"),
    [(1, 1024, 0), (2, 1024, 30), (16, 1024, 450), (16, 256, 112), (16, 20, 0), (500, 1_000_000, 524)],
)
def test_visits_that_wait_leave_half_of_the_descriptors_free(monkeypatch, parallel, descriptors, waiting):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (descriptors, descriptors))
    assert most_waiting(parallel) == waiting
