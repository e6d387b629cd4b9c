import gzip

import pytest

from bitrawl.model import AlternateSource, LinkKind
from bitrawl.page.sitemap import MAX_ENTRIES, read_sitemap
from bitrawl.url import Url

HERE = Url.parse("https://example.org/sitemap.xml")
NAMESPACES = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"'

RSS = (
    b"<rss><channel><link>https://example.org/</link><item><title>t</title><link>https://example.org/a</link></item>"
    b"<item><link>https://example.org/b</link></item></channel></rss>"
)
ATOM = (
    b'<feed xmlns="http://www.w3.org/2005/Atom"><link href="/"/><entry><link rel="enclosure" href="/m.mp3"/>'
    b'<link rel="alternate" href="/a"/></entry><entry><link href="/b"/></entry></feed>'
)


def urlset(*entries: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?><urlset {NAMESPACES}>{"".join(entries)}</urlset>'.encode()


def entry(path: str, more: str = "") -> str:
    return f"<url><loc>\n https://example.org/{path} </loc>{more}</url>"


def urls(sitemap) -> list[str]:
    return [str(link.url) for link in sitemap.links]


def test_a_urlset_gives_its_pages_in_order():
    sitemap = read_sitemap(HERE, urlset(entry("a"), entry("b?x=1&amp;y=2"), entry("a")))
    assert urls(sitemap) == ["https://example.org/a", "https://example.org/b?x=1&y=2"]
    assert {link.kind for link in sitemap.links} == {LinkKind.SITEMAP}
    assert sitemap.links[0].source == HERE


def test_an_index_gives_its_files():
    body = b"<sitemapindex><sitemap><loc>/s1.xml.gz</loc></sitemap><sitemap><loc>/s2.xml</loc></sitemap></sitemapindex>"
    sitemap = read_sitemap(HERE, body)
    assert urls(sitemap) == ["https://example.org/s1.xml.gz", "https://example.org/s2.xml"]
    assert {link.kind for link in sitemap.links} == {LinkKind.INDEX}


def test_alternates_are_kept_with_their_languages_and_the_entry_itself():
    alternates = (
        '<xhtml:link rel="alternate" hreflang="fr-CA" href="https://example.org/fr/a"/>'
        '<xhtml:link rel="alternate" hreflang="x-default" href="https://example.org/"/>'
    )
    sitemap = read_sitemap(HERE, urlset(entry("en/a", alternates), entry("en/b")))
    (group,) = sitemap.alternates
    assert [(a.url, a.language) for a in group] == [
        ("https://example.org/fr/a", "fr-ca"),
        ("https://example.org/", "x-default"),
        ("https://example.org/en/a", ""),
    ]
    assert {a.source for a in group} == {AlternateSource.SITEMAP}
    kinds = {str(link.url): (link.kind, link.hreflang) for link in sitemap.links}
    assert kinds["https://example.org/fr/a"] == (LinkKind.ALTERNATE, "fr-ca")
    assert kinds["https://example.org/en/b"] == (LinkKind.SITEMAP, "")


def test_images_and_videos_are_no_pages():
    more = "<image:image><image:loc>https://example.org/i.png</image:loc></image:image>"
    body = urlset(entry("a", more)).replace(b"<urlset ", b'<urlset xmlns:image="http://i" ')
    assert urls(read_sitemap(HERE, body)) == ["https://example.org/a"]


@pytest.mark.parametrize(
    "body",
    [
        b"https://example.org/a\r\nnot a url\n  https://example.org/b  \nftp://example.org/c\n",
        "\ufeffhttps://example.org/a\nhttps://example.org/b".encode(),
        RSS,
        ATOM,
        b"\n\n" + urlset(entry("a"), entry("b")),
        gzip.compress(urlset(entry("a"), entry("b")), mtime=0),
        urlset(entry("a"), entry("b")).decode().replace("UTF-8", "UTF-16").encode("utf-16"),
    ],
    ids=["text", "text with mark", "rss", "atom", "space before", "gzip", "utf-16"],
)
def test_every_form_of_list_is_read(body):
    assert urls(read_sitemap(HERE, body)) == ["https://example.org/a", "https://example.org/b"]


@pytest.mark.parametrize(
    "body",
    [
        urlset(entry("a"), entry("b"))[:-12],
        urlset(entry("a"), entry("b")).replace(b"</loc></url></urlset>", b"</loc>"),
        urlset(entry("a"), entry("b"), "<url><loc>https://example.org/c"),
        gzip.compress(urlset(entry("a"), entry("b")), mtime=0)[:-10],
        urlset(entry("a"), entry("b"), "<oops>"),
    ],
    ids=["tail", "entry", "cut", "cut gzip", "unbalanced"],
)
def test_a_broken_file_gives_what_was_readable(body):
    assert urls(read_sitemap(HERE, body)) == ["https://example.org/a", "https://example.org/b"]


def test_a_bare_ampersand_and_an_html_entity_are_forgiven():
    body = urlset(entry("a?x=1&y=2"), entry("b&eacute;"))
    assert urls(read_sitemap(HERE, body)) == ["https://example.org/a?x=1&y=2", "https://example.org/b&eacute;"]


@pytest.mark.parametrize(
    "dtd",
    [
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>',
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x [<!ENTITY % p SYSTEM "http://example.org/evil.dtd"> %p;]>',
    ],
)
def test_a_file_that_declares_entities_is_not_read(dtd):
    body = f"<?xml version='1.0'?>{dtd}<urlset><url><loc>https://example.org/&a;</loc></url></urlset>".encode()
    assert urls(read_sitemap(HERE, body)) == []


def test_a_gzip_bomb_costs_no_more_than_the_cap():
    bomb = gzip.compress(b"<urlset>" + b" " * (80 * 1024 * 1024))
    assert read_sitemap(HERE, bomb).links == ()


def test_entries_beyond_the_cap_are_left_out():
    body = urlset(*(entry(str(i)) for i in range(MAX_ENTRIES + 10)))
    assert len(read_sitemap(HERE, body).links) == MAX_ENTRIES


@pytest.mark.parametrize(
    "body", [b"", b"<", b"\0\0", b"<html><body>Not found</body></html>", b"\x1f\x8b", b"<a>" * 100_000, b"\xff" * 99]
)
def test_what_is_no_sitemap_gives_nothing(body):
    assert read_sitemap(HERE, body).links == ()


def test_addresses_that_are_not_of_the_web_are_left_out():
    body = urlset("<url><loc>javascript:alert(1)</loc></url><url><loc></loc></url>", entry("a"))
    assert urls(read_sitemap(HERE, body)) == ["https://example.org/a"]
