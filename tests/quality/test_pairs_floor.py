"""Floors of pairing on the bundled web; they are raised with it, and never lowered without saying so."""

from collections import defaultdict
from functools import cache

import pytest

from bitrawl import demo
from bitrawl.crawling import Sites
from bitrawl.mining import PairSection
from bitrawl.mining.evidence import ALL
from bitrawl.mining.pairing import Pairing
from bitrawl.model import Capture, Language, Method, Page, Sitemap
from bitrawl.page.analyser import page_reader
from bitrawl.text.template import without_template
from bitrawl.url import Url

EN, FR = Language("en"), Language("fr")
LANGUAGES = [Language(code) for code in ("en", "es", "fr", "zh")]
UNDECLARED = ALL - {Method.DECLARED, Method.URL, Method.MUTUAL}


SITES = Sites([["harbour-museum.test", "musee-du-port.test"]])  # one publisher with two domains


@cache
def web() -> tuple[list[Page], list[Sitemap]]:
    """Its pages and sitemaps, read as a crawl reads them."""
    analyser = page_reader()
    read = []
    for url, document in demo.bundled().documents.items():
        if document.status == 200 and (url in demo.pages() or "sitemap" in url):
            headers = (("Content-Type", document.type), *document.headers)
            media = "text/html" if url in demo.pages() else "application/xml"
            capture = Capture(url, 200, headers, document.body, 0.0, media_type=media)
            read.append(analyser.read(capture, index="sitemap" in url))
    return [page for page in read if isinstance(page, Page)], [one for one in read if isinstance(one, Sitemap)]


@pytest.mark.parametrize(
    ("methods", "precision", "recall"), [(ALL, 0.99, 0.99), (UNDECLARED, 0.97, 0.93)], ids=["all", "undeclared"]
)
def test_the_bundled_webs_pairs_are_found(methods, precision, recall):
    found = found_with(PairSection(methods="".join(methods)), LANGUAGES)
    true = {frozenset((pair.url_a, pair.url_b)) for pair in demo.truth()}
    assert len(found & true) >= precision * len(found)
    assert len(found & true) >= recall * len(true)


def test_all_pairs_that_the_demo_asks_for_are_found_and_no_others():
    """Two languages of four: what the others have of a site's template must not make the rest look unlike."""
    found = found_with(PairSection(), [EN, FR])
    assert found == {
        frozenset((pair.url_a, pair.url_b)) for pair in demo.truth() if {pair.lang_a, pair.lang_b} == {EN, FR}
    }


def found_with(settings: PairSection, languages: list[Language]) -> set[frozenset[Url]]:
    pages, sitemaps = web()
    by_site: dict[str, list[Page]] = defaultdict(list)
    for page in pages:
        by_site[SITES.of(page.url.host)].append(page)
    return {
        frozenset((pair.url_a, pair.url_b))
        for site in by_site.values()
        for pair in Pairing(settings).pairs(without_template(site.__iter__), languages, sitemaps).pairs
    }
