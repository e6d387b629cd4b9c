"""`adaptive` with one language, on sites given as tables."""

import msgspec
import pytest
from table_site import Walk, page, site, url

from bitrawl.model import Language, Link, LinkKind, Page, SiteKnowledge, Sitemap
from bitrawl.protocols import StrategyInputs
from bitrawl.strategies import strategy

SITE = SiteKnowledge("site.test")


def linking(made: Page, **targets: str) -> Page:
    """With links that declare a language."""
    links = tuple(Link(url(path), LinkKind.ALTERNATE, made.url, hreflang=code) for code, path in targets.items())
    return msgspec.structs.replace(made, links=(*made.links, *links))


async def visited(*pages: Page, seed: str = "/", code: str = "de", sitemap: Sitemap | None = None) -> list[str]:
    return await Walk(
        strategy("adaptive", StrategyInputs([Language(code)])), site(*pages), [seed], sitemap=sitemap
    ).run()


@pytest.mark.parametrize("code", ["de", "ja", "ar"])
async def test_a_declared_alternate_is_followed_from_a_page_in_another_language(code: str):
    home = linking(page("/", "en", "/about /contact"), **{code: "/x"}, es="/y")
    asked = await visited(home, page("/x", code, "/z"), page("/z", code), code=code)
    assert asked == ["/", "/x", "/z"]


async def test_an_address_that_names_the_language_is_followed_from_a_page_in_another():
    asked = await visited(page("/", "en", "/en/a /de/a /b"), page("/de/a", "de", "/b"), page("/b", "de"))
    assert asked == ["/", "/de/a", "/b"]


async def test_from_a_page_without_a_language_all_is_followed_and_other_languages_come_last():
    home = linking(page("/", "und", "/about"), es="/y", fr="/fr/", de="/x")
    pages = page("/about", "und"), page("/y", "es", "/z"), page("/fr/", "fr"), page("/x", "de", "/w"), page("/w", "de")
    assert await visited(home, *pages) == ["/", "/about", "/x", "/w", "/y", "/fr/"]


async def test_of_a_sitemap_the_languages_that_addresses_name_come_last():
    listed = tuple(Link(url(path), LinkKind.SITEMAP) for path in ("/en/a", "/a", "/de/a"))
    pages = page("/", "de"), page("/en/a", "en"), page("/a", "de"), page("/de/a", "de")
    asked = await visited(*pages, sitemap=Sitemap(url("/sitemap.xml"), listed))
    assert asked == ["/sitemap.xml", "/", "/a", "/de/a", "/en/a"]
