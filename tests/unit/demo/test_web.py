"""The bundled web is whole, is what it says, and covers the ways in which translations are published."""

import asyncio
import gzip
import re
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import pytest
from selectolax.lexbor import LexborHTMLParser

from bitrawl import demo
from bitrawl.crawling.robots import RobotsRecord, RobotsRules
from bitrawl.demo.sites import Declared, SitemapKind, sites
from bitrawl.errors import UrlError
from bitrawl.url import Url

WEB = demo.bundled()
COMMON = {
    "en": {"the", "and", "of", "is", "to", "in", "it", "that", "for", "you"},
    "fr": {"le", "la", "les", "et", "des", "une", "est", "du", "à", "il"},
    "es": {"el", "la", "los", "y", "de", "una", "es", "del", "que", "en"},
}


def text_of(url: Url) -> str:
    """The visible text of a page, decoded as its own markup says."""
    body = WEB.documents[url].body
    charset = re.search(rb"charset=\"?([\w-]+)", body)
    assert charset
    root = LexborHTMLParser(body.decode(charset[1].decode())).body
    assert root
    for node in root.css("style, script"):
        node.decompose()
    return root.text(separator=" ")


def crude_language(text: str) -> str:
    words = Counter(re.findall(r"[^\W\d\u4e00-\u9fff]+", text.lower()))
    if len(re.findall(r"[\u4e00-\u9fff]", text)) > words.total():
        return "zh"
    return max(COMMON, key=lambda code: sum(words[word] for word in COMMON[code] - (COMMON["fr"] & COMMON["es"])))


def links_on(url: Url) -> Iterator[Url]:
    """What a page, a sitemap, a redirect or robots.txt leads to."""
    document = WEB.documents[url]
    body = gzip.decompress(document.body) if url.endswith(".gz") else document.body
    raw = [value for name, value in document.headers if name == "Location"]
    raw += re.findall(r"<loc>([^<]+)</loc>", body.decode("latin-1"))
    if document.type.startswith("text/html"):
        raw += [node.attributes.get("href") or "" for node in LexborHTMLParser(body).css("a[href]")]
    for each in raw:
        try:
            yield Url.parse(each.replace("&amp;", "&"), base=url)
        except UrlError:
            continue


def allowed(url: Url) -> bool:
    robots = WEB.documents.get(Url.parse("/robots.txt", base=url))
    return robots is None or RobotsRules(RobotsRecord(url.origin, 200, robots.body, 0.0)).allow(url)


def reachable(start: list[Url]) -> set[Url]:
    """Breadth-first as a polite crawler would; the sitemaps of a host are known once the host is."""
    queue, seen = list(start), set(start)
    while queue:
        url = queue.pop()
        found = list(links_on(url)) if url in WEB.documents else []
        found += [Url.parse(name, base=url) for name in ("/sitemap.xml", "/sitemap_index.xml")]
        for target in found:
            if target.host in WEB.hosts and target not in seen and allowed(target):
                seen.add(target)
                queue.append(target)
    return seen


def test_there_are_enough_pages_in_four_languages():
    assert len(demo.pages()) >= 140
    assert set(demo.pages().values()) == {"en", "es", "fr", "zh"}
    assert min(Counter(demo.pages().values()).values()) >= 15
    assert len(demo.hosts()) >= 10


@pytest.mark.parametrize("start", [demo.seeds(), demo.seeds()[:1]], ids=["seeds", "hub"])
def test_every_page_is_reached_from(start):
    assert set(demo.pages()) <= reachable(start)


def test_nothing_else_is_reached_but_what_belongs_to_a_host():
    pages = {
        url for url in reachable(demo.seeds()) & set(WEB.documents) if WEB.documents[url].type.startswith("text/html")
    }
    assert pages == set(demo.pages())


def test_no_page_has_a_dead_link():
    for page in demo.pages():
        for url in links_on(page):
            assert url in WEB.documents, f"{page} links to {url}"


def test_a_page_that_nothing_links_to_is_found_through_the_sitemap():
    linked = {url for page in demo.pages() for url in links_on(page) if url != page}
    orphans = set(demo.pages()) - linked - set(demo.seeds())
    assert {url.path for url in orphans} == {f"/{code}/local-history" for code in ("en", "fr", "es", "zh")}


def test_forbidden_pages_are_linked_and_disallowed():
    linked = {url for page in demo.pages() for url in links_on(page)}
    assert WEB.forbidden
    assert linked >= WEB.forbidden
    assert not any(allowed(url) for url in WEB.forbidden)


@pytest.mark.parametrize(("url", "language"), sorted(demo.pages().items()))
def test_a_page_is_in_its_language(url, language):
    assert crude_language(text_of(url)) == language


def test_true_pairs_are_pages_in_two_languages_and_no_duplicates():
    known, doubles = demo.pages(), demo.duplicates()
    assert len(demo.truth()) == len(set(demo.truth())) >= 100
    for pair in demo.truth():
        assert (known[pair.url_a], known[pair.url_b]) == (pair.lang_a, pair.lang_b)
        assert pair.lang_a < pair.lang_b
        assert not {pair.url_a, pair.url_b} & doubles.keys()
        assert text_of(pair.url_a) != text_of(pair.url_b)


def test_all_language_pairs_are_there():
    assert {(pair.lang_a, pair.lang_b) for pair in demo.truth()} == {
        *(("en", other) for other in ("es", "fr", "zh")),
        ("es", "fr"),
        ("es", "zh"),
        ("fr", "zh"),
    }


@pytest.mark.parametrize("name", sites())
def test_translations_have_the_same_blocks_and_enough_prose(name):
    for article in sites()[name].page:
        shapes = set()
        for code, version in article.version.items():
            blocks = re.split(r"\n\s*\n", version.text.strip())
            shapes.add(tuple(block[:2] if block.startswith(("##", "- ")) else "" for block in blocks))
            amount = len(version.text) if code == "zh" else len(version.text.split())
            assert 75 <= amount <= 500, (article.key, code)
        assert len(shapes) == 1, article.key


CONVENTIONS = {
    "path mark": ("http://www.town-library.test/en/book-bus", "http://www.town-library.test/zh/book-bus"),
    "dot suffix": ("http://www.beekeepers.test/swarms.en.html", "http://www.beekeepers.test/swarms.fr.html"),
    "dash suffix": ("http://docs.tidewatch.test/install.html", "http://docs.tidewatch.test/install-fr.html"),
    "suffix that is no code": ("http://www.cloud-tea.test/firing.htm", "http://www.cloud-tea.test/firing_cn.htm"),
    "query parameter": (
        "http://www.cooking-school.test/bread.php?lang=en",
        "http://www.cooking-school.test/bread.php?lang=es",
    ),
    "subdomain": ("http://www.wend-railway.test/engine", "http://fr.wend-railway.test/engine"),
    "two domains": (
        "http://www.harbour-museum.test/boatyard.html",
        "http://www.musee-du-port.test/chantier-naval.html",
    ),
    "path mark and translated slug": (
        "http://www.mountain-rescue.test/search-dogs/",
        "http://www.mountain-rescue.test/fr/chiens-de-recherche/",
    ),
    "translated slug without a mark": (
        "http://www.arden-observatory.test/the-year-of-eclipses",
        "http://www.arden-observatory.test/el-a%C3%B1o-de-los-eclipses",
    ),
    "ids off by a constant": (
        "http://www.wend-gazette.test/article104.html",
        "http://www.wend-gazette.test/article204.html",
    ),
}


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_there_is_a_true_pair_by(convention):
    assert CONVENTIONS[convention] in {(pair.url_a, pair.url_b) for pair in demo.truth()}


def test_the_reference_names_every_host_and_gives_the_true_counts():
    told = (Path(__file__).parents[3] / "docs/reference/bundled-web.md").read_text("utf-8")
    for host in demo.hosts():
        assert host in told or host.partition(".")[0] + ".…" in told
    by_language = Counter(demo.pages().values())
    assert f"{len(demo.hosts())} hosts, {len(demo.pages())} pages in English ({by_language['en']})" in told
    assert f"The {len(demo.truth())} true pairs" in told


def test_every_way_to_declare_is_used_and_so_is_none():
    several = [site for site in sites().values() if len(site.language) > 1]
    assert {site.declares for site in several} == set(Declared)
    assert {site.sitemap for site in several} == set(SitemapKind)
    assert any(article.misdeclared for site in several for article in site.page)
    assert any(len(site.language) == 1 for name, site in sites().items() if name != "hub")


def test_declared_translations_stand_where_the_site_says():
    def raw(url: str) -> demo.DemoDocument:
        return WEB.documents[Url.parse(url)]

    assert b'hreflang="fr" href="http://www.musee-du-port.test/' in raw("http://www.harbour-museum.test/").body
    header = dict(raw("http://www.beekeepers.test/honey.en.html").headers)["Link"]
    assert '<http://www.beekeepers.test/honey.es.html>; rel="alternate"; hreflang="es"' in header
    assert b"hreflang" not in raw("http://www.beekeepers.test/honey.en.html").body
    packed = gzip.decompress(raw("http://www.town-library.test/sitemaps/fr.xml.gz").body)
    assert b'<xhtml:link rel="alternate" hreflang="zh" href="http://www.town-library.test/zh/book-bus"/>' in packed
    assert b"hreflang" not in raw("http://www.town-library.test/en/book-bus").body
    assert b'hreflang="zh"' in raw("http://www.cloud-tea.test/firing.htm").body


def test_legacy_charsets_are_used_where_they_matter():
    french = WEB.documents[Url.parse("http://www.wend-gazette.test/article202.html")]
    chinese = WEB.documents[Url.parse("http://www.cloud-tea.test/firing_cn.htm")]
    assert french.type == "text/html; charset=windows-1252"
    assert chinese.type == "text/html"
    for document in (french, chinese):
        with pytest.raises(UnicodeDecodeError):
            document.body.decode()


def test_duplicates_repeat_a_page_of_the_same_language():
    assert len(demo.duplicates()) >= 10
    for url, original in demo.duplicates().items():
        assert demo.pages()[url] == demo.pages()[original]
        assert original not in demo.duplicates()
        theirs = set(re.findall(r"\w{4,}", text_of(original)))
        assert len(theirs & set(re.findall(r"\w{4,}", text_of(url)))) > 0.6 * len(theirs)


@pytest.fixture
async def served() -> AsyncIterator[demo.Served]:
    async with demo.serve() as served:
        yield served


@pytest.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as client:
        yield client


async def test_every_page_answers_200_through_the_proxy_with_its_bytes(served, client):
    for url in demo.pages():
        async with client.get(url, proxy=served.proxy) as answer:
            assert answer.status == 200
            assert await answer.read() == WEB.documents[url].body
    assert [Url.parse(visit.url) for visit in served.visits] == list(demo.pages())


async def test_hosts_are_told_apart_by_the_host_header(served, client):
    bodies = set()
    for host in demo.hosts():
        async with client.get(f"{served.proxy}/images/x.svg", headers={"Host": host}) as answer:
            assert answer.status == 404
        async with client.get(f"{served.proxy}/", headers={"Host": f"{host}:{served.port}"}) as answer:
            bodies.add(await answer.read())
    assert len(bodies) == len(demo.hosts())


async def test_a_redirect_a_missing_page_and_robots_are_what_they_should_be(served, client):
    async with client.get("http://www.town-library.test/", proxy=served.proxy, allow_redirects=False) as answer:
        assert (answer.status, answer.headers["Location"]) == (302, "/en/")
    async with client.get("http://www.town-library.test/nowhere", proxy=served.proxy) as answer:
        assert answer.status == 404
    async with client.get("http://docs.tidewatch.test/robots.txt", proxy=served.proxy) as answer:
        assert answer.status == 404
    async with client.get("http://www.town-library.test/robots.txt", proxy=served.proxy) as answer:
        assert "Sitemap: http://www.town-library.test/sitemap_index.xml" in await answer.text()


async def test_a_browser_needs_no_proxy(served, client):
    name = f"www.saltholm.test.localhost:{served.port}"
    async with client.get(served.proxy, allow_redirects=False) as answer:
        assert answer.headers["Location"] == f"http://{name}/"
    async with client.get(served.proxy, headers={"Host": name}) as answer:
        assert f'href="http://www.cloud-tea.test.localhost:{served.port}/"' in await answer.text()


async def test_python_m_bitrawl_demo_serves_it(client):
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bitrawl.demo", "--port", "0", stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout
    address = re.search(r"http://127\.0\.0\.1:\d+", (await process.stdout.readline()).decode())
    assert address
    async with client.get(demo.seeds()[0], proxy=address[0]) as answer:
        assert answer.status == 200
    process.terminate()
    await process.wait()
