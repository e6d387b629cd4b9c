"""How a strategy's way through a site is measured."""

import asyncio
import random
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from made_up_pack import write_pack

from bitrawl.archive.archived_web import Archives
from bitrawl.crawling import (
    Crawl,
    Frontier,
    HostRules,
    LoopSettings,
    PageSource,
    Politeness,
    Reach,
    RobotsFetcher,
    Scope,
    ScopeRules,
    Sites,
)
from bitrawl.errors import ConfigError
from bitrawl.model import Advice, Capture, Language, Link, LinkKind, Page, SiteKnowledge, Sitemap, Skip, Visit
from bitrawl.page.analyser import page_reader
from bitrawl.papers.measure import best_harvest, harvest, measure
from bitrawl.papers.replay import InFlightWeb, RememberedAnalyses, Replay, ReplayClock, ReplaySettings, landed
from bitrawl.papers.trial import (
    CountingFetcher,
    MemoryQueue,
    Replayed,
    ReplayLedger,
    ReplayRun,
    Stop,
    Truth,
    in_order,
    read_pairs,
    run_trial,
)
from bitrawl.store.analyses import Analyses
from bitrawl.strategies import BreadthFirst, Strategy
from bitrawl.testing import FakeClock, FakeWeb, InlineAnalyser
from bitrawl.url import Url

EN, FR = Language("en"), Language("fr")


def url(name: str) -> Url:
    return Url.parse(f"http://site.test/{name}")


def pairs(*names: str) -> frozenset[tuple[Url, Url]]:
    """`ab` is the pair of the pages a and b."""
    return frozenset(in_order((url(a), url(b))) for a, b in names)


def kept(names: str) -> tuple[Url | None, ...]:
    """A letter is a page, a dot a fetch that brought none."""
    return tuple(None if name == "." else url(name) for name in names)


def run(names: str, **more: object) -> ReplayRun:
    return ReplayRun("some", kept(names), {}, **more)


@pytest.mark.parametrize(
    ("fetched", "true", "length", "curve"),
    [
        ("ab", ["ab"], 2, (0, 1)),
        ("a.b.", ["ab"], 4, (0, 0, 1, 1)),
        ("ab", ["ab"], 4, (0, 1, 1, 1)),
        ("acbd", ["ab", "cd"], 4, (0, 0, 1, 2)),
        ("abc", ["ab", "ac"], 3, (0, 1, 2)),
        ("ab", ["cd"], 2, (0, 0)),
        ("abcd", ["ab", "cd"], 3, (0, 1, 1)),
    ],
)
def test_a_pair_counts_from_the_fetch_that_completes_it(
    fetched: str, true: list[str], length: int, curve: tuple[int, ...]
):
    assert harvest(kept(fetched), pairs(*true), length) == curve


@pytest.mark.parametrize(
    ("true", "length", "curve"),
    [
        (["ab", "cd"], 6, (0, 1, 1, 2, 2, 2)),
        (["ab", "cd"], 3, (0, 1, 1)),
        (["ab", "ac", "ad", "ef"], 6, (0, 1, 2, 3, 3, 4)),
        ([], 2, (0, 0)),
    ],
)
def test_no_order_beats_the_best_one(true: list[str], length: int, curve: tuple[int, ...]):
    assert best_harvest(pairs(*true), length) == curve


def test_the_best_order_has_an_area_of_one_and_any_other_less():
    truth, reference = Truth(pairs("ab", "cd")), run("xyabcd")
    assert measure(run("abcdxy"), truth, reference).area == 1.0
    assert measure(run("acbdxy"), truth, reference).area == pytest.approx(7 / 8)  # 0 0 1 2 2 2 of 0 1 1 2 2 2
    assert measure(reference, truth, reference).area == pytest.approx(4 / 8)


def test_an_unreachable_pair_counts_in_the_area_but_not_in_the_cost_of_almost_all():
    truth, reference = Truth(pairs("ab", "cq")), run("abc.")
    figures = measure(reference, truth, reference)
    assert figures.area == pytest.approx(3 / 4)  # 0 1 1 1 of 0 1 1 2
    assert figures.area_reachable == 1.0
    assert (figures.until_almost_all, figures.until_per_page) == (2, 1.0)


def test_a_strategy_that_never_gets_almost_all_has_no_figure_for_it():
    truth, reference = Truth(pairs("ab", "cd")), run("abcd")
    figures = measure(run("ab"), truth, reference)
    assert figures.until_almost_all is None
    assert figures.at_marks == (0, 0, 0, 1, 1, 1)


def test_a_stop_is_measured_by_lost_pairs_and_saved_fetches():
    truth, reference = Truth(pairs("ab", "cd")), run("abxycd")
    figures = measure(run("abxycd", stop=Stop(3, "enough")), truth, reference)
    assert (figures.stopped_at, figures.stop_lost, figures.stop_saved) == (3, 1, 3)
    assert figures.pairs == 2  # it went on, to know


def test_a_stop_that_was_made_is_compared_with_breadth_first():
    truth, reference = Truth(pairs("ab", "cd")), run("abxycd")
    figures = measure(run("abx", stop=Stop(3, "enough"), stopped=True), truth, reference)
    assert (figures.stopped_at, figures.stop_lost, figures.stop_saved) == (3, 1, 3)


def test_pairs_that_nobody_can_judge_count_neither_for_nor_against():
    truth = Truth(pairs("ab", "cd"), uncounted=pairs("ef"))
    reported = {"examined": 5, "reported": pairs("ab", "cd", "ef", "xy")}
    figures = measure(run("abcdefxy", **reported), truth, run("abcdefxy"))
    assert figures.precision == pytest.approx(2 / 3)
    assert figures.examined_per_pair == pytest.approx(4 / 2)


def test_a_strategy_that_examines_nothing_has_no_figures_for_it():
    figures = measure(run("ab"), Truth(pairs("ab")), run("ab"))
    assert (figures.examined_per_pair, figures.precision, figures.stopped_at) == (None, None, None)


def test_a_site_without_pairs_has_no_area():
    figures = measure(run("ab", stop=Stop(1, "not bilingual")), Truth(frozenset()), run("ab"))
    assert (figures.area, figures.until_almost_all, figures.stop_lost, figures.stop_saved) == (None, None, 0, 1)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_only_pairs_of_the_languages_asked_for_are_true(tmp_path: Path):
    truth = write(
        tmp_path / "truth.tsv",
        "url_a\turl_b\tlang_a\tlang_b\n"
        "http://SITE.test/b\thttp://site.test/a#top\ten\tfr-CA\n"
        "http://site.test/c\thttp://site.test/d\ten\tde\n"
        "http://site.test/e\thttp://site.test/f\ten\ten\n",
    )
    assert read_pairs(truth, (EN, FR)) == pairs("ab")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a\tb\nx\ty\n", "url_a"),
        ("url_a\turl_b\tlang_a\tlang_b\nhttp://a.test/\tnothing\ten\tfr\n", "line 2"),
        ("url_a\turl_b\tlang_a\tlang_b\nhttp://a.test/\thttp://b.test/\ten\n", "line 2"),
    ],
)
def test_a_truth_file_that_is_none_is_refused_by_what_is_wrong(tmp_path: Path, text: str, told: str):
    with pytest.raises(ConfigError, match=told):
        read_pairs(write(tmp_path / "truth.tsv", text), (EN, FR))


class TableOfPages:
    """An analyser that knows what each address says; what it does not know is an empty page."""

    def __init__(self, links: dict[str, str]) -> None:
        self._links = links

    async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        targets = self._links.get(capture.url.path[1:], "")
        links = tuple(Link(url(name), LinkKind.PAGE, capture.url) for name in targets)
        return Page(capture.url, links=links, signature=hash(capture.url) % (1 << 64))


class Enough(BreadthFirst):
    """Has enough after so many pages, and has looked at pairs on the way."""

    def __init__(self, pages: int) -> None:
        self._left = pages
        self.examined = 0
        self.pairs: set[tuple[Url, Url]] = set()

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:
        self.examined += len(links)
        return super().score(links, found_on, site)

    def learn(self, visit: Visit, site: SiteKnowledge) -> None:
        if isinstance(visit.outcome, Page):
            self._left -= 1
            self.pairs.add((visit.outcome.url, url("b")))

    def advise(self, site: SiteKnowledge) -> Advice:
        return Advice(leave=f"enough of {site.site}" if self._left <= 0 else "")


LINKS = {"a": "bcdz", "b": "ae", "c": "f"}
RULES = "User-agent: *\nDisallow: /d\n"


def prepared(made: list[Replayed], *, exhaustive: bool = True) -> Callable[[object], Replayed]:
    def prepare(scorer: object) -> Replayed:
        clock, sites = FakeClock(), Sites()
        web = CountingFetcher(FakeWeb({url(name): "<p>text" for name in "abcdef"} | {url("robots.txt"): RULES}))
        robots = RobotsFetcher(web, clock, Politeness(delay=0.0))
        diary = ReplayLedger(sites.of)
        crawl = Crawl(
            Frontier(MemoryQueue(), clock, sites.of, Politeness(delay=0)),
            PageSource(robots, TableOfPages(LINKS)),
            scorer=scorer,  # type: ignore[arg-type]
            ledger=diary,
            scope=Scope(sites, [url("a")]),
            settings=LoopSettings(parallel=1, probe=False, leave=not exhaustive),
        )
        crawl.seed([Link(url("a"), LinkKind.SEED)])
        made.append(Replayed(crawl, diary, web))
        return made[-1]

    return prepare


async def test_what_is_missing_costs_a_fetch_and_what_robots_forbids_does_not():
    found = await run_trial("breadth-first", BreadthFirst(), prepared([]))
    assert found.kept == kept("abc.ef")  # z is missing; d is forbidden
    assert found.apart == {"robots": 2, "index": 1, "probe": 0}
    assert (found.stop, found.examined, found.reported, found.faults) == (None, None, None, 0)


async def test_where_a_strategy_would_stop_is_noted_and_the_replay_goes_on():
    found = await run_trial("enough", Enough(2), prepared([]))
    assert found.stop == Stop(2, "The rest of site.test was left out: enough of site.test.")
    assert len(found.kept) == 6
    assert found.examined
    assert found.reported is not None
    assert in_order((url("a"), url("b"))) in found.reported


async def test_a_replay_can_end_where_the_strategy_stops():
    found = await run_trial("enough", Enough(2), prepared([], exhaustive=False))
    assert found.kept == kept("ab")
    assert found.stopped


async def test_a_bug_in_a_strategy_is_counted_and_not_hidden():
    class Broken(BreadthFirst):
        def learn(self, visit: Visit, site: SiteKnowledge) -> None:
            if visit.lease.link.url == url("c"):
                raise KeyError(visit.lease.link.url)

    found = await run_trial("broken", Broken(), prepared([]))
    assert found.faults == 1
    assert found.kept == kept("abc.e")  # the links of c are lost with it


async def test_a_replay_knows_the_site_as_a_crawl_would():
    made: list[Replayed] = []
    await run_trial("breadth-first", BreadthFirst(), prepared(made))
    known = made[0].ledger.knowledge("site.test")
    assert known.pages == 5
    assert known.fetched == 8  # the forbidden page and the missing sitemap are verdicts too
    assert known.languages == {"und": 5}


async def test_a_true_page_may_be_named_by_an_address_that_redirects_to_it():
    def moved(to: str) -> Capture:
        return Capture(url("old"), 301, (("Location", to),), b"", at=0.0)

    web = FakeWeb({url("old"): moved("/new"), url("new"): "<p>text", url("round"): moved("/round")})
    assert await landed(web, url("old")) == url("new")
    assert await landed(web, url("nowhere")) == url("nowhere")
    assert await landed(web, url("round")) == url("round")


# Several visits in flight


class SlowReader:
    """Reads pages in some other order than they came, if it is let."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    async def analyse(self, capture: Capture, *, index: bool = False) -> Page:
        for _ in range(self._chance.randrange(500)):
            await asyncio.sleep(0)
        links = tuple(Link(Url.parse(raw), LinkKind.PAGE, capture.url) for raw in capture.body.decode().split())
        return Page(capture.url, EN, links=links, digest=capture.url)


def several_hosts() -> FakeWeb:
    """Each page links to the next of its host and to the same of the next host."""
    hosts, pages = "abcdef", "opqrstuv"
    return FakeWeb(
        {
            f"http://{host}.test/{page}": f"http://{host}.test/{following} http://{next_host}.test/{page}"
            for host, next_host in zip(hosts, hosts[1:] + hosts[0], strict=True)
            for page, following in zip(pages, pages[1:] + pages[0], strict=True)
        }
    )


async def replayed(in_flight: int, seed: int) -> list[Url]:
    """The pages in the order in which they came."""
    clock, sites, seeds = ReplayClock(), Sites(), [Url.parse("http://a.test/o")]
    web, ledger = InFlightWeb(several_hosts(), SlowReader(seed), clock, in_flight), ReplayLedger(sites.of)
    crawl = Crawl(
        Frontier(MemoryQueue(), clock, sites.of, web.politeness, rules=HostRules(ranked=True)),
        PageSource(web, web),
        scorer=BreadthFirst(),
        ledger=ledger,
        scope=Scope(sites, seeds, ScopeRules(reach=Reach.WEB)),
        settings=web.settings(sitemaps=False),
    )
    crawl.seed([Link(url, LinkKind.SEED) for url in seeds])
    await crawl.run()
    return [url for url in ledger.kept if url is not None]


@pytest.mark.parametrize("in_flight", [1, 16])
async def test_a_reader_that_is_slow_now_and_then_does_not_change_the_order_of_a_replay(in_flight: int):
    orders = [await replayed(in_flight, seed) for seed in range(3)]
    assert len(orders[0]) == 48
    assert orders[1:] == orders[:1] * 2


@pytest.mark.parametrize("name", [Strategy.BREADTH_FIRST, Strategy.ADAPTIVE])
async def test_the_order_on_one_host_is_the_same_however_many_visits_are_in_flight(tmp_path: Path, name: Strategy):
    pack = write_pack(tmp_path / "pack", articles=12)
    orders = []
    with Archives([pack.archive]) as archives, closing(Analyses(tmp_path / "cache", [pack.archive])) as analyses:
        replay = Replay(archives, RememberedAnalyses(InlineAnalyser(page_reader()), analyses), Sites())
        for in_flight in (1, 16):
            settings = ReplaySettings(languages=(EN, FR), in_flight=in_flight)
            made = replay.prepared(list(pack.seeds), settings)
            orders.append((await run_trial(name, replay.strategy(name, settings), made)).kept)
    assert len(orders[0]) == 26
    assert orders[0] == orders[1]
