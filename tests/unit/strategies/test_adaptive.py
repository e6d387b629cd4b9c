"""The default strategy on sites given as tables: what it visits first, what it learns, and when it has seen enough."""

from collections.abc import Callable, Iterable, Sequence

import msgspec
import numpy as np
import pytest
from table_site import HOST, Walk, moved, page, site, url

from bitrawl.model import (
    Advice,
    Alternate,
    AlternateSource,
    Language,
    Lease,
    Link,
    LinkKind,
    Page,
    SiteKnowledge,
    Sitemap,
    Skip,
    Visit,
)
from bitrawl.reasons import FewPairs, OneLanguage, Reason, Stage
from bitrawl.strategies import Adaptive, column_weights
from bitrawl.strategies.adaptive.link_table import LinkColumn
from bitrawl.strategies.adaptive.partners import MAX_ALL_TWINS
from bitrawl.strategies.adaptive.rates import MONOLINGUAL_AFTER
from bitrawl.strategies.adaptive.site_scorer import ADDED_PER_VISIT, MAX_ADDED, ROWS_PER_VISIT, TOP, SiteScorer
from bitrawl.url import Url

SITE = SiteKnowledge("site.test")
HOMES = ["/en/", "/fr/"]


class Watched(Adaptive):
    """Keeps what it advised."""

    def __init__(self, codes: str = "en fr") -> None:
        super().__init__([Language(code) for code in codes.split()])
        self.advice: list[Advice] = []

    def advise(self, site: SiteKnowledge) -> Advice:
        self.advice.append(super().advise(site))
        return self.advice[-1]

    def names(self) -> set[frozenset[str]]:
        return {frozenset(one.removeprefix(HOST) for one in pair) for pair in self.pairs}


def declaring(made: Page, **others: str) -> Page:
    """The page with declared alternates, by language."""
    alternates = tuple(Alternate(url(path), code, AlternateSource.LINK) for code, path in others.items())
    links = tuple(Link(one.url, LinkKind.ALTERNATE, made.url, hreflang=one.language) for one in alternates)
    return msgspec.structs.replace(made, alternates=alternates, links=(*made.links, *links))


def numbered(pattern: str, count: int) -> list[str]:
    return [pattern.format(number) for number in range(count)]


def mixed(*groups: Sequence[str]) -> list[str]:
    """One of each in turn: the order of the links on a page says nothing."""
    return [name for row in zip(*groups, strict=True) for name in row]


def pages_of(names: Iterable[str], language: str = "", links: Callable[[str], str] = lambda _: "") -> list[Page]:
    """Each in the language that its directory names, or in the one given."""
    return [page(name, language or name[1:3], links(name)) for name in names]


def other(name: str) -> str:
    """The same page below the other directory."""
    return name.replace("/en/", "/fr/") if "/en/" in name else name.replace("/fr/", "/en/")


def before(asked: Sequence[str], last_of: Iterable[str], those: Iterable[str]) -> int:
    """How many of `those` were fetched before the last of `last_of`."""
    end = max(asked.index(name) for name in last_of)
    return sum(name in asked[:end] for name in those)


# the order


async def test_half_found_pairs_are_completed_first():
    names = mixed(numbered("/en/page-{}", 15), numbered("/en/alone-{}", 15))
    french = numbered("/fr/page-{}", 15)
    pages = site(
        *(page(home, home[1:3], [*names, *french]) for home in HOMES), *pages_of(names), *pages_of(reversed(french))
    )
    asked = await Walk(Watched(), pages, HOMES).run()
    for number in range(15):
        assert abs(asked.index(f"/en/page-{number}") - asked.index(f"/fr/page-{number}")) == 1
    assert before(asked, french, numbered("/en/alone-{}", 15)) <= 3


async def test_what_a_page_declares_comes_before_what_it_links_to():
    plain = numbered("/n{}", 20)
    home = declaring(page("/", "en", plain), fr="/zz")
    asked = await Walk(Watched(), site(home, *pages_of(plain, "en"), page("/zz", "fr")), ["/"]).run()
    assert asked[:2] == ["/", "/zz"]


async def test_what_a_sitemap_declares_comes_before_what_it_lists():
    plain, english, french = numbered("/n{}", 30), numbered("/x{}", 5), numbered("/y{}", 5)
    listed = tuple(Link(url(name), LinkKind.SITEMAP) for name in [*plain, *english, *french])
    groups = tuple(
        tuple(Alternate(url(name), code, AlternateSource.SITEMAP) for code, name in (("en", a), ("fr", b)))
        for a, b in zip(english, french, strict=True)
    )
    pages = site(page("/", "en"), *pages_of([*plain, *english], "en"), *pages_of(french, "fr"))
    walk = Walk(Watched(), pages, ["/"], sitemap=Sitemap(url("/sitemap.xml"), listed, groups))
    asked = await walk.run()
    assert set(asked[2:12]) == {*english, *french}
    for a, b in zip(english, french, strict=True):
        assert abs(asked.index(a) - asked.index(b)) == 1


@pytest.mark.parametrize("declared", [True, False], ids=["said by hreflang", "said by the address"])
async def test_links_marked_as_another_language_come_last(*, declared: bool):
    folder = "" if declared else "{}/"
    groups = {
        code: numbered(f"/{folder.format(code)}p-{{}}{code if declared else ''}", 8) for code in ("de", "en", "fr")
    }
    links = [
        Link(url(name), LinkKind.PAGE, url("/"), hreflang=code * declared) for code in groups for name in groups[code]
    ]
    home = msgspec.structs.replace(page("/", "en"), links=tuple(links))
    pages = site(home, *(made for code in groups for made in pages_of(groups[code], code)))
    asked = await Walk(Watched(), pages, ["/"]).run()
    assert set(asked[-8:]) == set(groups["de"])


async def test_a_switchers_other_languages_come_after_all_that_may_bring_a_pair():
    codes = ("en", "fr", "de", "ja")
    names = {code: numbered(f"/{code}/page-{{}}", 30) for code in codes}
    alone = numbered("/en/docs/old/alone-{}", 150)
    pages = site(
        *(
            declaring(page(f"/{code}/", code, [*names[code], *(alone if code == "en" else ())]), **homes(codes))
            for code in codes
        ),
        *(
            declaring(page(name, code), **{other: name.replace(f"/{code}/", f"/{other}/") for other in codes})
            for code in codes
            for name in names[code]
        ),
        *pages_of(alone),
    )
    asked = await Walk(Watched(), pages, ["/en/"], exhaustive=True).run()
    assert before(asked, [*names["en"], *names["fr"], *alone], [*names["de"], *names["ja"]]) == 0
    assert {one.path for one in pages} <= set(asked)


def homes(codes: Iterable[str]) -> dict[str, str]:
    return {code: f"/{code}/" for code in codes}


async def test_a_second_language_that_only_a_page_in_another_leads_to_is_found():
    english, french = numbered("/en/a-{}", 40), numbered("/fr/a-{}", 40)
    pages = site(
        declaring(page("/en/", "en", english), de="/de/"),
        declaring(page("/de/", "de"), fr="/fr/"),
        page("/fr/", "fr", french),
        *pages_of([*english, *french]),
    )
    walk = Walk(Watched(), pages, ["/en/"])
    asked = await walk.run()
    assert asked.index("/de/") < MONOLINGUAL_AFTER
    assert set(french) <= set(asked)


async def test_marks_that_are_wrong_are_not_held_against_links_once_they_bring_pairs():
    """The English pages of the United Kingdom are below /uk/, where Ukrainian ones should be."""
    wrong, french = numbered("/uk/page-{}", 60), numbered("/fr/page-{}", 60)
    plain = numbered("/blog/{}", 60)
    pages = site(
        declaring(page("/uk/", "en", mixed(plain, wrong)), fr="/fr/"),
        declaring(page("/fr/", "fr", french), en="/uk/"),
        *(declaring(page(name, "en"), fr=name.replace("/uk/", "/fr/")) for name in wrong),
        *pages_of(french),
        *pages_of(plain, "en"),
    )
    asked = await Walk(Watched(), pages, ["/uk/"]).run()
    assert before(asked, wrong[:30], plain) <= 40


async def test_an_unmarked_language_is_learned_from_what_visits_brought():
    english = numbered("/news/{}", 25)
    german, spanish = numbered("/de/news/{}", 25), numbered("/es/news/{}", 25)
    translated = dict(zip(english, numbered("/fr/news/{}", 25), strict=True))
    pages = site(
        page("/", "en", mixed(german, english, spanish)),
        *pages_of(english, "en", lambda name: translated[name]),
        *pages_of([*translated.values(), *german, *spanish]),
    )
    pages |= {made.url: made for made in pages_of(translated.values(), "fr")}
    scorer = Watched()
    asked = await Walk(scorer, pages, ["/"]).run()
    assert len(scorer.pairs) == 25
    assert before(asked, translated.values(), [*german, *spanish]) <= 5


async def test_a_directory_without_pairs_scores_lower_than_one_with_pairs():
    shop, news = numbered("/en/shop/{}", 30), numbered("/en/news/{}", 30)
    pages = site(
        page("/en/", "en", mixed(shop, news)),
        *pages_of(shop, links=other),  # a switcher that leads nowhere
        *pages_of(news, links=other),
        *pages_of(map(other, news)),
    )
    asked = await Walk(Watched(), pages, ["/en/"]).run()
    assert before(asked, map(other, news), shop) <= 6


async def test_a_directory_that_nobody_looked_into_comes_before_the_rest_of_those_without_pairs():
    """Its index alone leads to its translations, as /faq/pf/ of openbsd-2009 does."""
    rest = numbered("/en/rest-{}", 150)
    news, plain, guide = numbered("/en/news/{}", 5), numbered("/en/docs/{}", 150), numbered("/en/docs/guide/{}", 8)
    pages = site(
        page("/en/", "en", [*news, *plain, *rest, "/en/docs/guide/contents"]),
        *pages_of([*plain, *rest, *news], links=other),
        *pages_of(map(other, news)),
        page("/en/docs/guide/contents", "en", [*guide, *map(other, guide)]),
        *pages_of([*guide, *map(other, guide)]),
    )
    asked = await Walk(Watched(), pages, ["/en/"], exhaustive=True).run()
    assert before(asked, map(other, guide), [*plain, *rest]) <= 30


async def test_untranslated_pages_behind_a_foreign_mark_are_no_pairs_and_lower_what_follows():
    legal, news = numbered("/en/legal/{}", 30), numbered("/en/news/{}", 30)
    pages = site(
        *(page(home, home[1:3], mixed(legal, list(map(other, legal)), news, list(map(other, news)))) for home in HOMES),
        *pages_of([*legal, *map(other, legal)], "en"),
        *pages_of([*news, *map(other, news)]),
    )
    scorer = Watched()
    asked = await Walk(scorer, pages, HOMES).run()
    assert scorer.names() == {frozenset((name, other(name))) for name in [*news, "/en/"]}
    assert before(asked, [*news, *map(other, news)], [*legal, *map(other, legal)]) <= 12


@pytest.mark.parametrize("spelling", ["{}/", "{}/index.html", "{}.html"])
async def test_another_spelling_of_a_visited_address_waits(spelling: str):
    english = numbered("/en/n{}", 12)
    french = list(map(other, english))
    spelled = [spelling.format(name) for name in [*english, *french]]
    links = [*spelled, *english, *french]
    pages = site(*(page(home, home[1:3], links) for home in HOMES), *pages_of(links))
    asked = await Walk(Watched(), pages, HOMES).run()
    tails = {name.removesuffix("/").removesuffix("/index.html").removesuffix(".html") for name in asked[2:26]}
    assert len(tails) == 24


async def test_every_language_asked_for_is_completed_together():
    codes = ("de", "en", "fr")
    triples = [[f"/{code}/p{number}" for code in codes] for number in range(10)]
    names = sorted(name for triple in triples for name in triple)
    alone = numbered("/en/alone-{}", 10)
    pages = site(page("/en/", "en", [*alone, *names]), *pages_of([*names, *alone]))
    scorer = Watched("en fr de")
    asked = await Walk(scorer, pages, ["/en/"]).run()
    assert len(scorer.pairs) == 30
    for triple in triples:
        places = [asked.index(name) for name in triple]
        assert max(places) - min(places) == 2


async def test_a_redirect_carries_over_what_was_known():
    home = declaring(page("/", "en", numbered("/n{}", 10)), fr="/go?to=7")
    pages = site(home, *pages_of(numbered("/n{}", 10), "en"), page("/bonjour", "fr"))
    scorer = Watched()
    asked = await Walk(scorer, pages, ["/"], redirects=[moved("/go?to=7", "/bonjour")]).run()
    assert asked[:3] == ["/", "/go?to=7", "/bonjour"]
    assert scorer.names() == {frozenset(("/", "/bonjour"))}


# partners that no page links to


def half_linked(count: int, *, exist: bool) -> dict[Url, Page]:
    """Ten linked pairs, and so many English pages more whose French version nobody links to."""
    english, french = numbered("/en/p-{}", 10 + count), numbered("/fr/p-{}", 10)
    hidden = [other(name) for name in english[10:]] if exist else []
    return site(page("/en/", "en", english), page("/fr/", "fr", french), *pages_of([*english, *french, *hidden]))


async def test_a_partner_that_no_page_links_to_is_suggested_by_the_sites_habit():
    scorer = Watched()
    asked = await Walk(scorer, half_linked(20, exist=True), HOMES).run()
    hidden = {f"/fr/p-{number}" for number in range(10, 30)}
    assert hidden <= set(asked)
    foreseen = [link for advice in scorer.advice for link in advice.links]
    assert {link.kind for link in foreseen} == {LinkKind.PARTNER}
    assert {link.url for link in foreseen} == {url(name) for name in hidden}
    assert all(link.source == url(other(link.url.removeprefix(HOST))) for link in foreseen)


async def test_suggested_partners_that_never_lead_to_pairs_are_no_longer_suggested():
    asked = await Walk(Watched(), half_linked(200, exist=False), HOMES, exhaustive=True).run()
    missing = [name for name in asked if name.startswith("/fr/p-") and int(name[6:]) >= 10]
    assert 0 < len(missing) <= 30
    assert sum(name.startswith("/en/p-") for name in asked) == 210


# scores


class Turns:
    """The loop's calls, made by hand."""

    def __init__(self, scorer: Adaptive) -> None:
        self.scorer = scorer
        self.scores: dict[Url, float] = {}  # of what is queued
        self._visited: set[Url] = set()

    def queue(self, links: Sequence[Link], found_on: Page | None) -> None:
        for link, score in zip(links, self.scorer.score(links, found_on, SITE), strict=True):
            if link.url not in self._visited:
                self.scores[link.url] = max(score, self.scores.get(link.url, 0.0))

    def visit(self, outcome: Page | Skip) -> Advice:
        self.scores.pop(outcome.url, None)
        self._visited.add(outcome.url)
        self.scorer.learn(Visit(Lease(Link(outcome.url, LinkKind.PAGE), 0.5), outcome), SITE)
        if isinstance(outcome, Page):
            self.queue(outcome.links, outcome)
        advice = self.scorer.advise(SITE)
        assert all(0 < score <= 1 for _, score in advice.scores)
        assert {one for one, _ in advice.scores} <= self.scores.keys(), "a score of what is not queued"
        self.scores.update(advice.scores)
        return advice


def gone(name: str) -> Skip:
    return Skip(url(name), Stage.FETCH, Reason.HTTP_STATUS, status=404)


def test_scores_follow_what_visits_brought_also_downwards():
    turns = Turns(Watched())
    good, bad = numbered("/en/good/{}", 12), numbered("/en/bad/{}", 12)
    turns.visit(page("/en/", "en", mixed(good, list(map(other, good)), bad, list(map(other, bad)))))
    first = dict(turns.scores)
    for name in bad[:6]:
        turns.visit(page(name, "en"))
        turns.visit(gone(other(name)))
    assert all(turns.scores[url(name)] < first[url(name)] for name in bad[6:])
    fallen = dict(turns.scores)
    for name in good[:6]:
        turns.visit(page(name, "en"))
        turns.visit(page(other(name), "fr"))
    assert all(turns.scores[url(name)] > fallen[url(name)] for name in good[6:])
    assert all(turns.scores[url(name)] > turns.scores[url(wrong)] for name in good[6:] for wrong in bad[6:])


def test_links_on_every_page_also_lose_score():
    """The queue only raises a link that is found again: it is for advice to lower it."""
    good, bad = numbered("/en/good/{}", 12), numbered("/en/bad/{}", 12)
    menu = mixed(good, list(map(other, good)), bad, list(map(other, bad)))
    turns = Turns(Watched())
    turns.visit(page("/en/", "en", menu))
    first = dict(turns.scores)
    for name in bad[:6]:
        turns.visit(page(name, "en", menu))
        turns.visit(page(other(name), "en", menu))
    assert all(turns.scores[url(other(name))] < first[url(other(name))] for name in bad[6:])


def test_a_partner_that_turns_out_to_be_missing_lowers_its_original():
    turns = Turns(Watched())
    turns.visit(page("/en/", "en", "/en/a /fr/a /en/b /fr/b"))
    raised = turns.scores[url("/en/a")]
    turns.visit(gone("/fr/a"))
    assert turns.scores[url("/en/a")] < raised
    assert turns.scores[url("/en/a")] < turns.scores[url("/en/b")]


def test_a_half_found_pair_comes_next_however_long_the_queue_is_and_whatever_the_visited_page_links_to():
    turns = Turns(Watched())
    half = 2 * ROWS_PER_VISIT  # with so many queued, not all are scored again after each visit
    turns.visit(page("/en/", "en", mixed(numbered("/en/{}", half), numbered("/fr/{}", half))))
    for number in range(6):
        turns.visit(page(f"/en/{number}", "en", "/en/new"))
        assert turns.scores[url(f"/fr/{number}")] == max(turns.scores.values())
        turns.visit(page(f"/fr/{number}", "fr"))


@pytest.mark.parametrize("links", [4000, 20_000])
def test_the_cost_of_advice_does_not_grow_with_the_frontier(monkeypatch: pytest.MonkeyPatch, links: int):
    """A score that many links share is written for all of them when it falls, so the bound is one on the mean."""
    rows = 0
    plain = SiteScorer._expected

    def counted(state: SiteScorer, some: np.ndarray) -> np.ndarray:
        nonlocal rows
        rows += len(some)
        return plain(state, some)

    turns, visits = Turns(Watched()), 60
    names = mixed(*(numbered(f"/{code}/{{}}", links // 4) for code in ("en", "fr", "en/x", "fr/x")))
    turns.visit(page("/en/", "en", names))
    monkeypatch.setattr(SiteScorer, "_expected", counted)
    told = []
    for number in range(visits // 2):
        told.append(len(turns.visit(page(f"/en/{number}", "en")).scores))
        told.append(len(turns.visit(page(f"/fr/{number}", "fr" if number % 2 else "en")).scores))
    assert len(turns.scores) == links - visits
    assert any(told)
    assert rows <= 1.2 * visits * ROWS_PER_VISIT
    assert sum(told) <= visits * ROWS_PER_VISIT
    assert sorted(told)[visits // 2] <= max(TOP, ADDED_PER_VISIT + 1)  # those that waited, and the page's partner


def test_the_links_of_a_very_large_page_are_worked_out_over_the_next_visits():
    scorer = Watched()
    turns = Turns(scorer)
    names = numbered("/en/{}", MAX_ADDED + 2 * ADDED_PER_VISIT + 50)
    turns.queue(page("/en/", "en", names).links, None)
    assert len(turns.scores) == len(names)
    assert scorer.features(url(names[MAX_ADDED - 1]), SITE) is not None
    unknown = [sum(scorer.features(url(name), SITE) is None for name in names)]
    for number in range(3):
        turns.visit(gone(f"/en/gone-{number}"))
        unknown.append(sum(scorer.features(url(name), SITE) is None for name in names))
    assert unknown == [2 * ADDED_PER_VISIT + 50, ADDED_PER_VISIT + 50, 50, 0]


def test_a_link_that_still_waits_counts_when_it_is_visited_or_found_again():
    scorer = Watched()
    turns = Turns(scorer)
    names = numbered("/en/{}", MAX_ADDED + 3 * ADDED_PER_VISIT)
    turns.visit(page("/en/", "en", names))
    assert scorer.features(url(names[-1]), SITE) is None
    turns.visit(page(names[-1], "en", [names[-2], other(names[-1])]))
    assert all(scorer.features(url(name), SITE) is not None for name in names[-2:])
    turns.visit(page(other(names[-1]), "fr"))
    assert scorer.names() == {frozenset((names[-1], other(names[-1])))}


# enough


@pytest.mark.parametrize(("language", "sign"), [("en", "en"), ("de", "")])
async def test_a_site_without_a_sign_of_a_second_language_is_left_within_a_handful_of_pages(language: str, sign: str):
    names = numbered("/n{}", 50)
    walk = Walk(Watched(), site(page("/", language, names), *pages_of(names, language)), ["/"])
    asked = await walk.run()
    assert asked[MONOLINGUAL_AFTER:] == (["/fr/", "/?lang=fr", "/francais/"] if language == "en" else [])
    assert walk.left == OneLanguage(MONOLINGUAL_AFTER, sign)


@pytest.mark.parametrize("codes", ["en fr de it", "zh ja ko th", "ar he fa ur"])
async def test_the_first_language_that_is_found_shows_where_the_others_are(codes: str):
    first, second, *others = codes.split()
    pages = site(
        page("/", first, numbered("/n{}", 20)),
        *pages_of(numbered("/n{}", 20), first),
        *(page(f"/?lang={code}", code) for code in [second, *others]),
    )
    asked = await Walk(Watched(codes), pages, ["/"]).run()
    extra = asked[MONOLINGUAL_AFTER:]
    assert {f"/?lang={code}" for code in [second, *others]} <= set(extra)
    assert sum(url(name) not in pages for name in extra) <= 2 * len(others) + 2


async def test_however_many_languages_are_missing_a_site_is_asked_a_bounded_number_of_times():
    codes = "en fr de it es pt nl da sv fi el cs pl sk sl hu ro bg hr et lv lt mt ga"
    names = numbered("/n{}", 50)
    asked = await Walk(Watched(codes), site(page("/", "en", names), *pages_of(names, "en")), ["/"]).run()
    assert len(asked) == MONOLINGUAL_AFTER + MAX_ALL_TWINS
    assert asked[MONOLINGUAL_AFTER:][:2] == ["/fr/", "/de/"]


async def test_only_hosts_of_seeds_are_asked_and_of_these_the_one_that_a_seed_leads_to():
    names = numbered("/n{}", 6)
    pages = site(page("/home/", "en", [*names, "http://docs.site.test/"]), *pages_of(names, "en"))
    pages |= site(page("http://docs.site.test/", "en"))
    walk = Walk(Watched(), pages, ["/"], redirects=[moved("/", "/home/")])
    assert (await walk.run())[-5:] == ["/home/fr/", "/home/?lang=fr", "/home/francais/", "/fr/home/", "/fr/"]


@pytest.mark.parametrize("sign", ["a link", "a declaration", "a text"])
async def test_a_site_with_a_sign_of_a_second_language_is_not_left_so_soon(sign: str):
    names = numbered("/n{}", 50)
    home = page("/", "en", names)
    if sign == "a link":
        home = page("/", "en", ["/fr/contact", *names])
    elif sign == "a declaration":
        home = declaring(home, fr="/autre")
    texts = [page("/autre", "fr"), page("/n49", "fr")] if sign != "a link" else []
    walk = Walk(Watched(), site(home, *pages_of(names, "en"), *texts), ["/", "/n49"] if sign == "a text" else ["/"])
    assert len(await walk.run()) > 40


def rich_and_poor() -> dict[Url, Page]:
    """Forty pairs, and three hundred English pages beside them; each index page links to ten of each kind."""
    english, junk = numbered("/en/article/{}", 40), numbered("/en/archive/{}", 300)
    links = mixed(*(junk[start::8][:37] for start in range(8)))
    switch = {name: f"{other(name)} {other(english[(n + 1) % 40])}" for n, name in enumerate(english)}
    return site(
        page("/en/", "en", [*english[:20], *links, *english[20:], "/fr/"]),
        page("/fr/", "fr", "/en/ /fr/article/0"),
        *pages_of(english, links=switch.__getitem__),
        *pages_of(map(other, english), links=other),
        *pages_of(junk),
    )


async def test_a_site_is_left_when_nothing_more_is_to_be_expected_and_hardly_a_pair_is_lost():
    pages, scorer = rich_and_poor(), Watched()
    walk = Walk(scorer, pages, HOMES)
    asked = await walk.run()
    assert len(scorer.pairs) >= 39
    assert len(asked) < len(pages) / 2
    assert isinstance(walk.left, FewPairs)
    assert (walk.left.visits, walk.left.pairs) == (len(asked), len(scorer.pairs))


async def test_an_exhaustive_crawl_goes_on_and_knows_where_it_would_have_ended():
    pages = rich_and_poor()
    left = Walk(Watched(), pages, HOMES)
    ended = await left.run()
    walk = Walk(Watched(), pages, HOMES, exhaustive=True)
    asked = await walk.run()
    assert asked[: len(ended)] == ended
    assert len(asked) >= 370
    assert walk.left == left.left


async def test_a_site_with_pairs_to_its_end_is_not_left():
    english = numbered("/en/p{}", 150)
    french = list(map(other, english))
    pages = site(page("/en/", "en", english), page("/fr/", "fr", french), *pages_of([*english, *french]))
    walk = Walk(Watched(), pages, HOMES)
    assert len(await walk.run()) == len(pages)


async def test_sites_share_nothing():
    scorer = Watched()
    for number in range(10):
        scorer.learn(
            Visit(Lease(Link(url(f"/{number}"), LinkKind.PAGE), 0.5), page(f"/{number}", "en")),
            SiteKnowledge("one.test"),
        )
    assert scorer.advise(SiteKnowledge("one.test")).leave
    assert not scorer.advise(SiteKnowledge("two.test")).leave


# the model


def test_every_column_has_a_weight_and_a_missing_one_is_noticed():
    named = {column.name.lower(): float(column) for column in LinkColumn}
    assert column_weights(named).tolist() == [float(column) for column in LinkColumn]
    del named["depth"]
    with pytest.raises(KeyError):
        column_weights(named)


def test_what_is_known_of_a_link_can_be_asked_for_before_its_visit():
    scorer = Watched()
    turns = Turns(scorer)
    turns.visit(page("/en/", "en", "/en/a /fr/a"))
    first = scorer.features(url("/en/a"), SITE)
    turns.visit(page("/en/a", "en"))
    second = scorer.features(url("/fr/a"), SITE)
    assert first is not None
    assert second is not None
    assert first.shape == second.shape == (len(LinkColumn),)
    assert (first[LinkColumn.PARTNER_VISITED], second[LinkColumn.PARTNER_VISITED]) == (0.0, 1.0)
    assert first[LinkColumn.PARTNER_QUEUED] == 1.0
    assert scorer.features(url("/en/"), SITE) is None
    assert scorer.features(url("/never"), SITE) is None
