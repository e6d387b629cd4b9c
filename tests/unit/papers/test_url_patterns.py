"""The strategy of Liu et al., sections 2 to 5, on sites of a few pages."""

from math import inf

import pytest
from table_site import Walk, moved, page, site, url

from bitrawl.model import Language, Page
from bitrawl.papers.url_patterns import (
    DISTRUSTED,
    MAX_EMPTY_SORTS,
    PERIOD,
    TRUSTED,
    PatternRules,
    UrlPatterns,
    pattern_of,
    plain_queue,
)
from bitrawl.protocols import StrategyInputs
from bitrawl.reasons import NoHomes, NoPattern
from bitrawl.url import Url

EN, FR, DE = Language("en"), Language("fr"), Language("de")
HOMES = ["/en/", "/fr/"]


def both(names: str, links: str = "", **more: int) -> list[Page]:
    """The same pages in English and in French, with the same links in their own language."""
    return [
        page(f"/{code}/{name}", code, [f"/{code}/{target}" for target in links.split()], **more)
        for name in names.split()
        for code in ("en", "fr")
    ]


def homes(english: str, french: str) -> list[Page]:
    return [page("/en/", "en", english), page("/fr/", "fr", french)]


def numbered(names: str, count: int) -> str:
    return " ".join(f"{name}{number}" for number in range(count) for name in names.split())


@pytest.mark.parametrize(
    ("a", "b", "pathname", "basename"),
    [
        ("www.td.gov.hk/en/t/index_1_e.html", "www.td.gov.hk/gb/t/index_1_c.html", [("en", "gb")], [("e", "c")]),
        ("un.org/zh/documents/x", "un.org/ga/search/x", [("zh/documents", "ga/search")], []),
        ("un.org/chinese/x", "un.org/x", [("chinese", "")], []),
        ("un.org/x", "un.org/chinese/x", [("", "chinese")], []),
        ("sc.a.hk/gb/www.a.hk/b5/x", "www.a.hk/en/x", [("sc.a.hk/gb", ""), ("b5", "en")], []),
        ("a.hk/x?id=2&lang=zh", "a.hk/x?id=2&lang=en", [], [("zh", "en")]),
        ("a.hk/x", "a.hk/x", [], []),
    ],
)
def test_a_pattern_is_what_differs_in_pathname_and_basename(a, b, pathname, basename):
    found = pattern_of(Url.parse(f"http://{a}"), Url.parse(f"https://{b}"))
    assert found == (tuple(pathname), tuple(basename))


async def test_both_versions_are_walked_side_by_side_and_nothing_else_is_followed():
    english = [page("/en/", "en", "/en/a /en/b /same"), page("/en/a", "en", "/en/a/1"), page("/en/b", "en")]
    french = [page("/fr/", "fr", "/fr/a /fr/b /same /fr/rest"), page("/fr/a", "fr", "/fr/a/1"), page("/fr/b", "fr")]
    deeper = [page("/en/a/1", "en"), page("/fr/a/1", "fr"), page("/same", "en"), page("/fr/rest", "fr")]
    scorer = UrlPatterns((EN, FR))
    asked = await Walk(scorer, site(*english, *french, *deeper), HOMES).run()
    assert asked == ["/en/", "/fr/", "/fr/a", "/en/a", "/fr/b", "/en/b", "/fr/a/1", "/en/a/1"]
    assert scorer.pairs == {(url(f"/en/{name}"), url(f"/fr/{name}")) for name in ("", "a", "b", "a/1")}
    assert scorer.examined == 3


@pytest.mark.parametrize(
    ("seed", "first"),
    [
        (page("/", "en", "/francais.html", hreflang="fr-CA"), ["/", "/francais.html"]),
        (page("/", "en", "/about /fr/ /de/"), ["/"]),
        (page("/", "und", "/about /fr/ /en/"), ["/", "/fr/", "/en/"]),
        (page("/index.html", "en", "/a /index.fr.html"), ["/index.html", "/index.fr.html"]),
    ],
)
async def test_from_one_seed_its_versions_are_looked_for(seed, first):
    others = [page("/fr/", "fr"), page("/en/", "en"), page("/index.fr.html", "fr"), page("/francais.html", "fr")]
    scorer = UrlPatterns((EN, FR))
    asked = await Walk(scorer, site(seed, *others), [seed.url]).run()
    assert asked[: len(first)] == first
    assert "/about" not in asked
    assert "/de/" not in asked
    assert len(scorer.pairs) == 1


async def test_a_home_page_is_in_the_language_that_its_address_names():
    pages = site(page("/en/", "en", "/en/a"), page("/fr/", "en", "/fr/a"), *both("a"))
    assert await Walk(UrlPatterns((EN, FR)), pages, HOMES).run() == ["/en/", "/fr/", "/fr/a", "/en/a"]


async def test_without_two_home_pages_there_is_nothing_to_walk_and_it_says_so():
    walk = Walk(UrlPatterns((EN, FR)), site(page("/", "en", "/a /b"), page("/a", "en")), ["/"])
    assert await walk.run() == ["/"]
    assert walk.left == NoHomes()


@pytest.mark.parametrize(
    ("french", "is_pair", "examined"),
    [
        (page("/fr/a", "fr", "/fr/b"), True, 2),
        (page("/fr/a", "en", "/fr/b"), False, 0),
        (page("/fr/a", "und", "/fr/b"), False, 0),
        (page("/fr/a", "fr", "/fr/b", size=20), False, 1),
        (page("/fr/a", "fr", "/fr/b", size=0), False, 1),
        (page("/fr/a", "fr", "/fr/b " + numbered("/fr/x", 30)), False, 1),
    ],
)
async def test_links_of_pages_that_do_not_verify_are_not_followed(french, is_pair, examined):
    scorer = UrlPatterns((EN, FR))
    pages = site(*homes("/en/a", "/fr/a"), page("/en/a", "en", "/en/b"), french, *both("b"))
    asked = await Walk(scorer, pages, HOMES).run()
    assert ("/fr/b" in asked) == is_pair
    assert scorer.examined == examined
    assert len(scorer.pairs) == 1 + 2 * is_pair


async def test_a_page_in_another_language_costs_no_fetch_of_its_partner():
    """English pages in the place of French ones: the pages of the language that has failed more often come first."""
    names = numbered("a", 4 * PERIOD).split()
    english, french = ([f"/{code}/{name}" for name in names] for code in ("en", "fr"))
    pages = site(*homes(" ".join(english), " ".join(french)), *(page(name, "en") for name in (*english, *french)))
    for languages, first in (((EN, FR), 0), ((FR, EN), PERIOD)):
        asked = await Walk(UrlPatterns(languages), pages, HOMES).run()
        assert set(french) <= set(asked)
        assert len(set(english) & set(asked)) == first


@pytest.mark.parametrize(
    ("known", "trust", "more", "is_pair"),
    [
        (TRUSTED - 1, TRUSTED, 0, False),
        (TRUSTED, TRUSTED, 0, True),
        (TRUSTED, TRUSTED, 30, False),
        (TRUSTED, inf, 30, True),
        (TRUSTED - 1, inf, 0, False),
    ],
)
async def test_a_pattern_that_is_trusted_needs_less_evidence(known, trust, more, is_pair):
    """The last page is much shorter than its partner, and may have many links that its partner has not."""
    names = numbered("a", known - 1)  # the home pages are a pair too
    english = " ".join(f"/en/{name}" for name in [*names.split(), "last"])
    last = [page("/en/last", "en", "/en/b"), page("/fr/last", "fr", "/fr/b " + numbered("/fr/x", more), size=30)]
    pages = site(*homes(english, english.replace("/en/", "/fr/")), *both(names), *last, *both("b"))
    asked = await Walk(UrlPatterns((EN, FR), rules=PatternRules(trust=trust)), pages, HOMES).run()
    assert "/fr/last" in asked
    assert ("/fr/b" in asked) == is_pair


async def test_candidates_of_a_trusted_pattern_are_fetched_first():
    """Chance puts 40 addresses side by side, and the pages of the pattern that they are queued before come first."""
    names = numbered("a", TRUSTED)
    odd = [(f"/en/n{number}", f"/fr/m{number}") for number in range(40)]
    english = [*(f"/en/{name}" for name in names.split()), *(a for a, _ in odd), "/en/hub"]
    french = [*(f"/fr/{name}" for name in names.split()), *(b for _, b in odd), "/fr/hub"]
    pages = site(
        page("/en/", "en", english),
        page("/fr/", "fr", french),
        *both(names),
        *both("hub", numbered("z", 20)),
        *both(numbered("z", 20)),
    )
    asked = await Walk(UrlPatterns((EN, FR)), pages, HOMES, exhaustive=True).run()
    places = [asked.index(f"/fr/z{number}") for number in range(20)]
    assert max(places) < min(asked.index(b) for _, b in odd[20:])


async def test_a_site_is_left_when_the_queue_holds_no_pattern_five_times():
    odd = 12 * MAX_EMPTY_SORTS
    english = [f"/en/{'x' * number}n" for number in range(odd)]
    french = [f"/fr/{'y' * number}m" for number in range(odd)]
    pages = site(page("/en/", "en", english), page("/fr/", "fr", french))
    walk = Walk(UrlPatterns((EN, FR)), pages, HOMES)
    asked = await walk.run()
    assert isinstance(walk.left, NoPattern)
    assert walk.left.times == MAX_EMPTY_SORTS
    assert len(asked) < 2 * odd
    assert len(await Walk(UrlPatterns((EN, FR)), pages, HOMES, exhaustive=True).run()) == 2 + odd
    unstopped = Walk(UrlPatterns((EN, FR), rules=PatternRules(stops=False)), pages, HOMES)
    assert len(await unstopped.run()) == 2 + odd
    assert not unstopped.left


async def test_a_pattern_that_has_brought_nothing_does_not_keep_the_walk_going():
    """The menus of two versions: the link to a third language beside that to a fourth, on every page."""
    count = DISTRUSTED + 12 * MAX_EMPTY_SORTS
    english, french = ([f"/{code}/{number}" for number in range(count)] for code in ("de", "it"))
    pages = site(*homes(" ".join(english), " ".join(french)), *(page(name, "de") for name in english))
    walk = Walk(UrlPatterns((EN, FR)), pages, HOMES)
    assert len(await walk.run()) < 2 + count
    assert isinstance(walk.left, NoPattern)


async def test_the_plain_queue_examines_what_it_found_first_and_never_leaves():
    names = numbered("a", TRUSTED)
    odd = [(f"/en/{'x' * number}n", f"/fr/{'y' * number}m") for number in range(12 * MAX_EMPTY_SORTS)]
    english = [*(f"/en/{name}" for name in names.split()), *(a for a, _ in odd), "/en/hub"]
    french = [*(f"/fr/{name}" for name in names.split()), *(b for _, b in odd), "/fr/hub"]
    pages = site(page("/en/", "en", english), page("/fr/", "fr", french), *both(names), *both("hub", "z"), *both("z"))
    scorer = plain_queue(StrategyInputs((EN, FR)))
    walk = Walk(scorer, pages, HOMES)
    asked = await walk.run()
    assert [name for name in asked if name in french] == french
    assert asked[-2:] == ["/fr/z", "/en/z"]
    assert not walk.left
    assert scorer.opened == scorer.examined == TRUSTED + 2


async def test_a_page_has_one_version_in_each_language():
    pages = site(
        *homes("/en/a /en/b", "/fr/a /fr/b"),
        *(page(f"/en/{name}", "en", "/en/a /en/b") for name in "ab"),
        *(page(f"/fr/{name}", "fr", "/fr/b /fr/a") for name in "ab"),
    )
    scorer = UrlPatterns((EN, FR))
    await Walk(scorer, pages, HOMES).run()
    assert scorer.pairs == {(url(f"/en/{name}"), url(f"/fr/{name}")) for name in ("", "a", "b")}
    assert scorer.examined == 2


async def test_three_languages_are_walked_two_by_two():
    codes = ("en", "fr", "de")
    pages = site(
        *(page(f"/{code}/", code, f"/{code}/a") for code in codes), *(page(f"/{code}/a", code) for code in codes)
    )
    scorer = UrlPatterns((EN, FR, DE))
    await Walk(scorer, pages, [f"/{code}/" for code in codes]).run()
    assert len(scorer.pairs) == 6


@pytest.mark.parametrize(
    ("to", "is_pair"), [("/x", True), ("/fr/a", False), ("http://elsewhere.test/", False), ("mailto:x", False)]
)
async def test_a_redirect_leads_on_or_ends_its_pair(to, is_pair):
    pages = site(*homes("/en/a /en/b", "/fr/a /fr/b"), page("/en/a", "en"), page("/x", "fr"), *both("b"))
    scorer = UrlPatterns((EN, FR))
    asked = await Walk(scorer, pages, HOMES, redirects=[moved("/fr/a", to)]).run()
    assert ((url("/en/a"), url("/x")) in scorer.pairs) == is_pair
    assert (url("/en/b"), url("/fr/b")) in scorer.pairs
    assert len(asked) == len(set(asked))


async def test_redirects_in_a_circle_end():
    pages = site(*homes("/en/a", "/fr/a"), page("/en/a", "en"))
    circle = [moved("/fr/a", "/fr/b"), moved("/fr/b", "/fr/a")]
    assert "/fr/b" in await Walk(UrlPatterns((EN, FR)), pages, HOMES, redirects=circle).run()


async def test_a_seed_that_redirects_is_where_it_leads():
    pages = site(*homes("/en/a", "/fr/a"), *both("a"))
    asked = await Walk(UrlPatterns((EN, FR)), pages, ["/", "/fr/"], redirects=[moved("/", "/en/")]).run()
    assert sorted(asked) == ["/", "/en/", "/en/a", "/fr/", "/fr/a"]
