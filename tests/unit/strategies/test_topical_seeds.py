"""`adaptive` in a job with a topic."""

from collections.abc import Sequence

from unit.strategies.test_topical_adaptive import FR, Addresses

from bitrawl.model import Language, Lease, Link, LinkKind, Page, Relevance, SiteKnowledge, Skip, Visit
from bitrawl.reasons import Reason, Stage
from bitrawl.strategies import TopicalAdaptive
from bitrawl.url import Url

EN = Language("en")
SITE = SiteKnowledge("a.example")


class Doubtful:
    """Nothing is about the topic."""

    def judge(self, pages: Sequence[Page]) -> list[Relevance]:
        return [Relevance(0.0, relevant=False)] * len(pages)

    def weigh(self, texts: Sequence[str], language: Language) -> list[float]:
        return [-1.0] * len(texts)

    def learn(self, page: Page, *, relevant: bool) -> None:
        pass

    def revised(self) -> list[tuple[Url, float]]:
        return []


def test_a_seed_stays_first_whatever_earlier_visits_brought():
    strategy = TopicalAdaptive([EN], Doubtful(), str)
    seeds = [Link(Url.parse(f"https://{host}.example/"), LinkKind.SEED) for host in "abc"]
    assert strategy.score(seeds, None, SITE) == [1.0, 1.0, 1.0]
    first = seeds[0].url
    links = tuple(Link(Url.parse(f"https://a.example/{n}"), LinkKind.PAGE, source=first) for n in range(5))
    page = Page(first, EN, links=links, relevance=Relevance(0.0, relevant=False))
    strategy.score(links, page, SITE)
    strategy.learn(Visit(Lease(seeds[0], 1.0), page), SITE)
    lowered = {url for url, _ in strategy.advise(SITE).scores}
    assert not lowered & {seed.url for seed in seeds}


def hub_of(strategy: TopicalAdaptive, *links: Link) -> dict[str, float]:
    """The scores of links that a page about the topic has."""
    hub = Link(Url.parse("https://hub.example/"), LinkKind.SEED)
    page = Page(hub.url, EN, links=links, relevance=Relevance(0.9, relevant=True))
    strategy.score([hub], None, SITE)
    strategy.learn(Visit(Lease(hub, 1.0), page), SITE)
    return dict(zip([link.url for link in links], strategy.score(links, page, SITE), strict=True))


def redirected(strategy: TopicalAdaptive, link: Link, target: str) -> float:
    """The score of where a link leads."""
    visit = Visit(Lease(link, 1.0), Skip(link.url, Stage.FETCH, Reason.REDIRECT, target, 301))
    strategy.learn(visit, SITE)
    return strategy.score([Link(Url.parse(target), LinkKind.REDIRECT, link.url, depth=1)], None, SITE)[0]


def test_a_home_page_behind_a_redirect_is_as_promising_as_the_link_to_it():
    """https://site/index.html mostly leads to https://site/. Its page was fetched after all other homes."""
    strategy = TopicalAdaptive([EN], Addresses(), str)
    link = Link(Url.parse("https://a.example/index.html"), LinkKind.PAGE, depth=1, anchor="All about bees")
    before = hub_of(strategy, link)[link.url]
    assert redirected(strategy, link, "https://a.example/") >= 0.95 * before


def test_redirects_that_lead_out_of_the_site_bring_nothing_to_its_links():
    strategy = TopicalAdaptive([EN], Addresses(), str)
    links = [Link(Url.parse(f"https://a.example/out/{n}"), LinkKind.PAGE, depth=2) for n in range(12)]
    last = links[-1].url
    before = hub_of(strategy, *links)[last]
    for number, link in enumerate(links[:-1]):
        redirected(strategy, link, f"https://b{number}.example/")
    page = Page(Url.parse("https://hub.example/2"), EN, relevance=Relevance(0.9, relevant=True))
    assert strategy.score(links[-1:], page, SITE)[0] < before / 2


def test_a_site_that_names_languages_rightly_is_believed_more_and_more():
    """And its pages in other languages do not speak against the rest of the site."""
    strategy = TopicalAdaptive([EN], Addresses(), str)
    french = [Link(Url.parse(f"https://hub.example/p/{n}"), LinkKind.PAGE, hreflang="fr") for n in range(160)]
    english = Link(Url.parse("https://hub.example/p/en"), LinkKind.PAGE)
    before = hub_of(strategy, *french, english)
    for link in french[:-1]:
        page = Page(link.url, FR, relevance=Relevance(0.0, relevant=False))
        strategy.learn(Visit(Lease(link, 1.0), page), SITE)
    after = dict(strategy.advise(SITE).scores)
    assert after[french[-1].url] < before[french[-1].url] / 2
    assert abs(after.get(english.url, before[english.url]) - before[english.url]) < 0.1
