"""Where more bilingual sites are: the words of links, the classifiers, the value of candidates, and the walk over a made-up web."""

import asyncio
from collections.abc import Sequence
from itertools import permutations

import pytest

from bitrawl.crawling import (
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
    Spending,
)
from bitrawl.discover.cocitation import PRIOR, CandidateValue
from bitrawl.discover.graph_index import HostLanguages
from bitrawl.discover.settings import Walk as Strategy
from bitrawl.discover.site_lists import SiteAnswer, SiteVerdict
from bitrawl.discover.walk import MOST_PAGES, DiscoveryWalk, gather, new_walk
from bitrawl.discover.walk_plan import Citations, NaiveBayes, Neighbourhood, PlacedLinkWords, SiteCandidate
from bitrawl.model import Capture, Language, Link, LinkKind, Page, Skip, Visit
from bitrawl.papers.barbosa import BackAndForth
from bitrawl.papers.discovery import SimulatedSearch, WalkTrial, run_walk
from bitrawl.papers.replay import ReplayClock
from bitrawl.papers.trial import MemoryQueue, ReplayLedger
from bitrawl.reasons import Reason, Stage
from bitrawl.url import Url
from lab.bench.focused import Fetching

EN, FR = Language("en"), Language("fr")


def link(url: str, anchor: str = "", context: str = "", kind: LinkKind = LinkKind.PAGE) -> Link:
    return Link(Url.parse(url), kind, anchor=anchor, context=context)


# Words and classifiers


def test_words_keep_their_place_are_stemmed_and_stop_words_are_out():
    words = PlacedLinkWords([EN, FR]).of(
        link("http://www.hotel.es/links/page.php", "The hotels of Lyon", "and the hotels")
    )
    assert {"host:hotel", "host:es", "url:links", "anchor:hotel", "around:hotel"} <= words
    assert not {"anchor:the", "around:and", "anchor:of", "host:www"} & words


def test_a_classifier_says_nothing_before_it_has_seen_both_kinds():
    classifier = NaiveBayes()
    classifier.learn({"host:es"}, relevant=True)
    assert classifier.odds({"host:es"}) == 0
    assert classifier.top(3) == []


def test_the_order_of_the_words_does_not_change_the_odds():
    """Sets have another order in each process, and a search must not depend on it."""
    classifier = NaiveBayes()
    words = [f"url:{number}" for number in range(6)]
    for number in range(40):
        seen = [word for place, word in enumerate(words, 2) if number % place == 0]
        classifier.learn(seen, relevant=number % 3 == 0)
    assert len({classifier.odds(order) for order in permutations(words)}) == 1


def test_a_classifier_tells_relevant_words_from_others():
    classifier = NaiveBayes()
    for _ in range(5):
        classifier.learn({"host:es", "url:shop"}, relevant=True)
        classifier.learn({"host:com", "url:shop"}, relevant=False)
    assert classifier.probability({"host:es"}) > 0.8
    assert classifier.probability({"host:com"}) < 0.2
    assert classifier.odds({"url:shop"}) == 0
    assert [one.word for one in classifier.top(5)] == ["host:es"]


def test_an_example_does_not_speak_for_itself():
    classifier = NaiveBayes()
    for name in "abc":
        classifier.learn({f"host:{name}"}, relevant=True)
        classifier.learn({f"host:{name}{name}"}, relevant=False)
    assert classifier.odds({"host:a"}) > 0
    assert classifier.odds({"host:a"}, own=True) == 0


# Citations and values


def test_what_a_hub_yielded_is_counted_once_whatever_comes_first():
    citations = Citations()
    citations.judge("a.org", bilingual=True)
    citations.add("hub.org", ["a.org", "b.org"])
    citations.add("hub.org", ["a.org", "b.org"])
    citations.judge("b.org", bilingual=False)
    citations.judge("b.org", bilingual=False)
    assert citations.best_hubs(3) == [("hub.org", 2, 2, 1)]
    assert citations.neighbours("a.org") == {"a.org", "b.org"}


def judged(host: str, answer: SiteAnswer) -> SiteCandidate:
    entry = link(f"http://{host}/")
    return SiteCandidate(host, entry, frozenset(), verdict=SiteVerdict(host, answer))


def valued(*, hubs_tell: bool) -> CandidateValue:
    """Thirty judged candidates: hubs cite bilingual sites together, or at random."""
    citations = Citations()
    value = CandidateValue(citations, NaiveBayes())
    for number in range(60):
        is_bilingual = number % 3 == 0
        hub = ("good" if is_bilingual else "bad") if hubs_tell else f"hub{number % 7}"
        citations.add(f"{hub}{number % 4}.org", [f"site{number}.org"])
        citations.judge(f"site{number}.org", bilingual=is_bilingual)
        value.judged(judged(f"site{number}.org", SiteAnswer.BILINGUAL if is_bilingual else SiteAnswer.NO))
    citations.add("good1.org" if hubs_tell else "hub1.org", ["new.org"])
    citations.add("bad1.org" if hubs_tell else "hub2.org", ["other.org"])
    value.fit()
    return value


def test_a_site_cited_with_bilingual_sites_is_worth_more():
    value = valued(hubs_tell=True)
    new, other = value.probabilities(
        [SiteCandidate(h, link(f"http://{h}/"), frozenset()) for h in ("new.org", "other.org")]
    )
    assert new > 3 * other


def test_where_citations_tell_nothing_their_weights_shrink():
    telling, silent = valued(hubs_tell=True).weights(), valued(hubs_tell=False).weights()
    together = 2
    assert telling[together].feature == "hubs that cite a bilingual site too"
    assert silent[together].now < PRIOR[together] < telling[together].now + 1
    assert silent[together].now < telling[together].now


# The walk


class LinkTable:
    """A backlink source over pairs of addresses."""

    def __init__(self, links: Sequence[tuple[str, str]], *, knows_hubs: bool = True) -> None:
        self._links = [(Url.parse(source), Url.parse(target)) for source, target in links]
        self._knows_hubs = knows_hubs

    def referrers(self, target: Url | str, limit: int) -> list[Link]:
        found = [Link(to, LinkKind.BACKLINK, source) for source, to in self._links if to.host == target]
        return found[:limit]

    def cites(self, target: Url | str, limit: int) -> list[str]:
        return [to.host for source, to in self._links if source.host == target and self._knows_hubs][:limit]


class MarkedCheck:
    """A page whose title is "bilingual" belongs to a bilingual site, after one more download."""

    def __init__(self, entry: Link) -> None:
        self.verdict: SiteVerdict | None = None
        self._wanted = [entry]
        self._is_second = False

    def wanted(self) -> list[Link]:
        wanted, self._wanted = self._wanted, []
        return wanted

    def saw(self, visit: Visit) -> None:
        url, outcome = visit.lease.link.url, visit.outcome
        if isinstance(outcome, Skip) and outcome.reason is Reason.REDIRECT:
            return
        if isinstance(outcome, Page) and outcome.title == "bilingual" and not self._is_second:
            self._is_second = True
            self._wanted = [Link(Url.parse("/fr", base=url), LinkKind.PARTNER)]
            return
        answer = (
            SiteAnswer.BILINGUAL
            if self._is_second
            else SiteAnswer.NO
            if isinstance(outcome, Page)
            else SiteAnswer.UNKNOWN
        )
        self.verdict = SiteVerdict(url.host, answer, float(self._is_second), (EN, FR) if self._is_second else ())


class PagesOfWords:
    """Fetcher and analyser of a web whose pages are a title and links."""

    def __init__(self, pages: dict[str, tuple[str, list[str]] | Skip]) -> None:
        self._pages = pages
        self.asked: list[str] = []

    async def fetch(self, asked: Link) -> Capture | Skip:
        self.asked.append(asked.url)
        page = self._pages.get(asked.url)
        if isinstance(page, Skip):
            return page
        if page is None:
            return Skip(asked.url, Stage.FETCH, Reason.HTTP_STATUS, "Not Found", 404)
        if page[0].startswith("http"):
            return Capture(asked.url, 301, (("Location", page[0]),), b"", 0.0)
        return Capture(asked.url, 200, (), page[0].encode(), 0.0)

    async def analyse(self, capture: Capture, *, index: bool = False) -> Page:
        title, links = self._pages[capture.url]  # type: ignore[misc]
        found = tuple(Link(Url.parse(raw), LinkKind.PAGE, capture.url) for raw in links)
        return Page(capture.url, language=EN, title=title, links=found)


def small_web() -> dict[str, tuple[str, list[str]] | Skip]:
    """Two hubs of bilingual sites, and many that cite anything."""
    pages: dict[str, tuple[str, list[str]] | Skip] = {}
    for number in range(12):
        pages[f"http://good{number}.org/"] = ("bilingual", [])
        pages[f"http://good{number}.org/fr"] = ("français", [])
    for number in range(60):
        pages[f"http://bad{number}.org/"] = ("English", [f"http://bad{number + 1}.org/"])
    for number in range(20):
        cited = [f"http://bad{(7 * number + step) % 60}.org/" for step in range(6)] + ["http://good0.org/"]
        pages[f"http://list{number}.org/links"] = ("list", cited)
    pages["http://hub1.org/links"] = ("hub", [f"http://good{number}.org/" for number in range(8)])
    pages["http://hub2.org/links"] = ("hub", [f"http://good{number}.org/" for number in range(4, 12)])
    return pages


def links_of(pages: dict[str, tuple[str, list[str]] | Skip]) -> list[tuple[str, str]]:
    return [
        (source, target)
        for source, page in pages.items()
        if not isinstance(page, Skip) and not page[0].startswith("http")
        for target in page[1]
    ]


def crawl_of(walk: DiscoveryWalk, web: PagesOfWords, seeds: list[str], downloads: int | None = None) -> Crawl:
    clock, sites = ReplayClock(), Sites()
    urls = [Url.parse(raw) for raw in seeds]
    crawl = Crawl(
        Frontier(
            MemoryQueue(),
            clock,
            sites.of,
            Politeness(delay=0),
            spending=Spending(downloads=downloads),
            rules=HostRules(ranked=True),
        ),
        PageSource(web, web),
        scorer=walk,
        ledger=ReplayLedger(sites.of),
        scope=Scope(sites, urls, ScopeRules(reach=Reach.WEB)),
        settings=LoopSettings(parallel=1, attempts=1, probe=False, sitemaps=False),
    )
    crawl.seed([Link(url, LinkKind.SEED) for url in urls])
    return crawl


def walked(
    strategy: Strategy,
    pages: dict[str, tuple[str, list[str]] | Skip],
    seeds: list[str],
    *,
    source: LinkTable | None = None,
    downloads: int | None = None,
) -> tuple[DiscoveryWalk, PagesOfWords]:
    walk, web = new_walk(strategy, [EN, FR], source, MarkedCheck), PagesOfWords(pages)
    crawl = crawl_of(walk, web, seeds, downloads)
    asyncio.run(crawl.run())
    assert crawl.ledger.faults == 0  # type: ignore[attr-defined]
    return walk, web


@pytest.mark.parametrize("strategy", [Strategy.COCITATION, Strategy.OBFC, Strategy.COBFC])
def test_all_that_the_hubs_cite_is_found(strategy: Strategy):
    pages = small_web()
    walk, _ = walked(strategy, pages, ["http://good0.org/"], source=LinkTable(links_of(pages)))
    assert {one.site for one in walk.found} == {f"good{number}.org" for number in range(12)}
    assert walk.sites == 11  # a seed is not found


def test_cocitation_finds_sites_before_the_others_do():
    pages = small_web()
    source = LinkTable(links_of(pages))
    found = {
        name: walked(name, pages, ["http://good0.org/"], source=source, downloads=40)[0].sites
        for name in (Strategy.COCITATION, Strategy.OBFC)
    }
    assert found[Strategy.COCITATION] >= 9
    assert found[Strategy.COCITATION] > 2 * found[Strategy.OBFC]


def searched(name: Strategy, downloads: int, in_flight: int) -> tuple[WalkTrial, list[str]]:
    """In virtual time: the walk, and the pages in the order in which they were asked for."""
    pages = small_web()
    web, source, seeds = PagesOfWords(pages), LinkTable(links_of(pages)), [Url.parse("http://good0.org/")]
    search = SimulatedSearch([EN, FR], seeds, source, downloads=downloads, in_flight=in_flight, check=MarkedCheck)
    return asyncio.run(run_walk(Fetching(web, web), search, name)), web.asked  # type: ignore[arg-type] # as a replay


def test_with_many_visits_in_flight_a_search_finds_what_it_finds_one_at_a_time_and_more_than_the_others():
    one, many = (searched(Strategy.COCITATION, 40, in_flight)[0].sites_at(40) for in_flight in (1, 16))
    assert many >= 0.95 * one
    assert many >= 9 > 2 * searched(Strategy.OBFC, 40, 16)[0].sites_at(40)


@pytest.mark.parametrize("in_flight", [1, 4, 16, 64])
def test_a_search_has_the_same_order_each_time(in_flight: int):
    orders = [searched(Strategy.COCITATION, 40, in_flight)[1] for _ in range(5)]
    assert len(orders[0]) > 40
    assert orders[1:] == orders[:1] * 4


def test_hosts_with_pages_in_both_languages_by_an_index_are_visited_first():
    """One hub cites all, so nothing else tells the sites apart."""
    pages = small_web()
    cited = [f"http://{kind}{number}.org/" for number in range(12) for kind in ("bad", "good")]
    source = LinkTable([("http://all.org/", url) for url in cited])
    counts = {f"good{number}.org": (9, 5, 14) for number in range(12)} | {
        f"bad{number}.org": (9, 0, 9) for number in range(12)
    }
    found = {}
    for counted in (None, HostLanguages([EN, FR], counts)):
        walk = new_walk(Strategy.COCITATION, [EN, FR], source, MarkedCheck, counted)
        asyncio.run(crawl_of(walk, PagesOfWords(pages), ["http://good0.org/"], 14).run())
        found[counted is not None] = walk.sites
    assert found[True] == 6 > found[False]


def test_a_graph_that_does_not_know_what_hubs_cite_has_them_read():
    pages = small_web()
    source = LinkTable(links_of(pages), knows_hubs=False)
    walk, web = walked(Strategy.COCITATION, pages, ["http://good0.org/"], source=source)
    assert "http://hub1.org/links" in web.asked
    assert walk.sites == 11


def test_forward_links_of_forward_pages_are_not_followed_back_and_forth():
    """Algorithm 1: only what backlink pages cite."""
    pages = {
        "http://good0.org/": ("bilingual", []),
        "http://good0.org/fr": ("français", []),
        "http://hub1.org/": ("hub", ["http://good0.org/", "http://bad0.org/"]),
        "http://bad0.org/": ("English", ["http://far.org/"]),
        "http://far.org/": ("bilingual", []),
    }
    source = LinkTable([("http://hub1.org/", "http://good0.org/")], knows_hubs=False)
    _, web = walked(Strategy.OBFC, pages, ["http://good0.org/"], source=source, downloads=4)
    assert web.asked == ["http://good0.org/", "http://good0.org/fr", "http://hub1.org/", "http://bad0.org/"]


def test_without_a_bilingual_seed_the_walk_says_so_and_goes_forward():
    pages = small_web()
    pages["http://bad0.org/"] = ("English", ["http://hub1.org/links"])
    for strategy in (Strategy.OBFC, Strategy.COBFC):
        walk, _ = walked(strategy, pages, ["http://bad0.org/"], source=LinkTable(links_of(pages)))
        assert walk.sites > 0
        assert "ran dry" in walk.plan.notes[0]
        assert any("No seed is a bilingual site" in note for note in gather(walk, strategy, ("en", "fr")).notes)


def test_without_a_link_graph_citing_pages_as_seeds_lead_on():
    pages = small_web()
    walk, _ = walked(Strategy.COCITATION, pages, ["http://hub1.org/links", "http://list1.org/links"])
    assert {f"good{number}.org" for number in range(8)} <= {one.site for one in walk.found}
    assert any("Without a link graph" in note for note in gather(walk, "cocitation", ("en", "fr")).notes)


def test_a_forward_crawl_takes_a_handful_of_pages_from_each_site():
    pages: dict[str, tuple[str, list[str]] | Skip] = {
        f"http://big.org/{number}": ("English", [f"http://big.org/{step}" for step in range(100)])
        for number in range(100)
    }
    _, web = walked(Strategy.FC, pages, ["http://big.org/0"])
    assert len(web.asked) <= MOST_PAGES


def test_a_host_that_opts_out_is_not_asked_again():
    pages = small_web()
    skip = Skip(Url.parse("http://good1.org/"), Stage.ROBOTS, Reason.OPT_OUT, "tdm-reservation")
    pages["http://good1.org/"] = skip
    walk, web = walked(Strategy.COCITATION, pages, ["http://good0.org/"], source=LinkTable(links_of(pages)))
    assert [raw for raw in web.asked if "good1.org" in raw] == ["http://good1.org/"]
    assert "good1.org" in walk.refused
    verdict = next(one for one in walk.verdicts if one.site == "good1.org")
    assert verdict.verdict is SiteAnswer.UNKNOWN
    assert "left alone" in verdict.detail


def test_two_names_of_a_site_are_judged_once():
    pages = small_web()
    pages["http://old.org/"] = ("http://good1.org/", [])
    pages["http://hub1.org/links"][1].append("http://old.org/")  # type: ignore[index]
    walk, web = walked(Strategy.COCITATION, pages, ["http://good0.org/"], source=LinkTable(links_of(pages)))
    assert web.asked.count("http://good1.org/") == 1
    assert sum(one.site == "good1.org" for one in walk.found) == 1


def test_all_downloads_are_counted_and_the_budget_holds():
    pages = small_web()
    walk, web = walked(Strategy.OBFC, pages, ["http://good0.org/"], source=LinkTable(links_of(pages)), downloads=25)
    assert walk.downloads == len(web.asked) == 25


def test_a_walk_that_is_told_its_visits_again_knows_what_it_knew():
    pages = small_web()
    source = LinkTable(links_of(pages))
    visits: list[Visit] = []
    first, web = new_walk(Strategy.COCITATION, [EN, FR], source, MarkedCheck), PagesOfWords(pages)
    crawl = crawl_of(first, web, ["http://good0.org/"], 30)
    crawl.observers.append(visits.append)
    asyncio.run(crawl.run())
    second = new_walk(Strategy.COCITATION, [EN, FR], source, MarkedCheck)
    again = crawl_of(second, web, ["http://good0.org/"])
    again.recall(visits)
    assert second.verdicts == first.verdicts
    assert (second.downloads, second.sites) == (first.downloads, first.sites)
    assert second.plan.learned(5) == first.plan.learned(5)


def test_both_classifiers_are_learned_again_and_again_and_reorder_the_queues():
    pages = small_web()
    near = Neighbourhood(PlacedLinkWords([EN, FR]), LinkTable(links_of(pages)))
    walk = DiscoveryWalk(near, BackAndForth(near, classifiers=True, learn_every=10), MarkedCheck)
    asyncio.run(crawl_of(walk, PagesOfWords(pages), ["http://good0.org/"]).run())
    learned = walk.plan.learned(3)
    assert learned["Back"][0].word == "host:hub"
    assert learned["Forward"][0].word == "host:good"
    assert walk.sites == 11


def test_a_name_that_only_a_graph_knows_is_tried_with_www_too():
    near = Neighbourhood(PlacedLinkWords([EN, FR]), LinkTable([("http://hub.org/", "http://a.org/")]))
    assert near.expand("hub.org")
    assert near.candidates["a.org"].guessed
    pages: dict[str, tuple[str, list[str]] | Skip] = {
        "http://good0.org/": ("bilingual", []),
        "http://good0.org/fr": ("français", []),
        "http://a.org/": Skip(Url.parse("http://a.org/"), Stage.FETCH, Reason.TLS, "no such name"),
        "https://www.a.org/": ("bilingual", []),
    }
    table = LinkTable([("http://hub.org/", "http://good0.org/"), ("http://hub.org/", "http://a.org/")])
    walk, _ = walked(Strategy.COCITATION, pages, ["http://good0.org/"], source=table)
    assert "www.a.org" in {one.site for one in walk.found}


def failed_guess(linked: str, *, late: bool) -> tuple[DiscoveryWalk, PagesOfWords]:
    """A graph names a.org, whose home page is not there. A page links to another address, read before or after that is known."""
    links = [linked, "http://a.org/two"]
    pages: dict[str, tuple[str, list[str]] | Skip] = {
        "http://good0.org/": ("bilingual", []),
        "http://good1.org/": ("bilingual", [] if late else links),
        "http://good2.org/": ("bilingual", links if late else []),
        "http://good3.org/": ("bilingual", ["http://a.org/three"]),
        "http://a.org/start": ("bilingual", []),
        **{f"http://{host}.org/fr": ("français", []) for host in ("good0", "good1", "good2", "good3", "a")},
    }
    table = [("http://hub.org/", f"http://{host}/") for host in ("good0.org", "good1.org", "a.org")]
    table += [(f"http://hub{at}.org/", f"http://good{at + step}.org/") for at in (1, 2) for step in (0, 1)]
    return walked(Strategy.COCITATION, pages, ["http://good0.org/"], source=LinkTable(table))


@pytest.mark.parametrize("late", [False, True])
def test_a_host_that_failed_at_a_made_up_address_is_tried_where_a_page_links_to_it(late: bool):  # noqa: FBT001
    walk, web = failed_guess("http://a.org/start", late=late)
    assert [one.verdict for one in walk.verdicts if one.site == "a.org"] == [SiteAnswer.UNKNOWN] * late + [
        SiteAnswer.BILINGUAL
    ]
    assert [one.verdict for one in walk.standing if one.site == "a.org"] == [SiteAnswer.BILINGUAL]
    assert gather(walk, "cocitation", ("en", "fr")).answers == {"bilingual": 5}
    citations = walk.near.citations
    assert citations.bilingual["hub.org"] == citations.judged["hub.org"] == 3
    assert walk.sites == 4
    asked = [raw for raw in web.asked if raw.startswith("http://a.org/")]
    assert asked[:3] == ["http://a.org/", "http://a.org/start", "http://a.org/fr"]


@pytest.mark.parametrize("late", [False, True])
def test_a_host_is_tried_once_more_and_not_again(late: bool):  # noqa: FBT001
    walk, web = failed_guess("http://a.org/gone", late=late)
    asked = [raw for raw in web.asked if raw.startswith("http://a.org/")]
    assert asked[:2] == ["http://a.org/", "http://a.org/gone"]
    assert [one.verdict for one in walk.verdicts if one.site == "a.org"] == [SiteAnswer.UNKNOWN] * (1 + late)
    assert [one.verdict for one in walk.standing if one.site == "a.org"] == [SiteAnswer.UNKNOWN]
