import gzip

import pytest

from bitrawl.model import PART, AlternateSource, LinkKind, pack
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


JSON_FEED = (
    b'{"version": "https://jsonfeed.org/version/1.1", "language": "fr", "items": [{"id": "1", "url": "/a"},'
    b' {"id": "2"}, {"url": "https://example.org/b", "language": "en"}]}'
)


def urlset(*entries: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?><urlset {NAMESPACES}>{"".join(entries)}</urlset>'.encode()


def entry(path: str, more: str = "") -> str:
    return f"<url><loc>\n https://example.org/{path} </loc>{more}</url>"


def urls(sitemap) -> list[str]:
    return [str(link.url) for part in sitemap.parts() for link in part.links]


def versions(number: int, languages: str = "en fr de") -> list[str]:
    """The entries of one page in some languages, each of which names all of them."""
    paths = [f"{language}/{number}" for language in languages.split()]
    links = "".join(
        f'<xhtml:link rel="alternate" hreflang="{path[:2]}" href="https://example.org/{path}"/>' for path in paths
    )
    return [entry(path, links) for path in paths]


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
    sitemap = read_sitemap(HERE, body)
    assert sitemap.size == sum(len(part.links) for part in sitemap.parts()) == MAX_ENTRIES


@pytest.mark.parametrize(
    "body", [b"", b"<", b"\0\0", b"<html><body>Not found</body></html>", b"\x1f\x8b", b"<a>" * 100_000, b"\xff" * 99]
)
def test_what_is_no_sitemap_gives_nothing(body):
    assert read_sitemap(HERE, body).links == ()


def test_addresses_that_are_not_of_the_web_are_left_out():
    body = urlset("<url><loc>javascript:alert(1)</loc></url><url><loc></loc></url>", entry("a"))
    assert urls(read_sitemap(HERE, body)) == ["https://example.org/a"]


def test_a_long_sitemap_comes_in_parts_with_the_alternates_of_their_links():
    sitemap = read_sitemap(HERE, urlset(*(text for number in range(PART) for text in versions(number))))
    parts = list(sitemap.parts())
    assert [len(part.links) for part in parts] == [PART] * 3
    assert sitemap.links == parts[0].links
    assert not any(part.rest for part in parts)
    for part in parts:
        listed = {link.url for link in part.links}
        inside = [group for group in part.alternates if listed.issuperset(each.url for each in group)]
        assert len(inside) >= len(part.alternates) - 1  # one may lie across a border
    assert sum(len(part.alternates) for part in parts) == PART
    assert {link.kind for part in parts for link in part.links} == {LinkKind.SITEMAP}


def test_what_entries_declare_of_each_other_is_kept_once():
    sitemap = read_sitemap(HERE, urlset(*versions(1), *versions(2)))
    assert len(sitemap.alternates) == 2
    assert [a.url for a in sitemap.alternates[0]] == [f"https://example.org/{code}/1" for code in ("en", "fr", "de")]


def test_an_entry_that_its_own_alternates_leave_out_joins_their_group():
    links = '<xhtml:link rel="alternate" hreflang="fr" href="https://example.org/fr/1"/>'
    sitemap = read_sitemap(HERE, urlset(entry("en/1", links), entry("de/1", links)))
    assert [[a.url for a in group] for group in sitemap.alternates] == [
        ["https://example.org/fr/1", "https://example.org/en/1"],
        ["https://example.org/fr/1", "https://example.org/de/1"],
    ]


def test_a_large_sitemap_takes_little_memory_to_hand_over():
    body = urlset(*(text for number in range(6_000) for text in versions(number, "en fr de es it pt nl pl")))
    assert len(body) > 32_000_000
    sitemap = read_sitemap(HERE, body)
    assert sitemap.size == 48_000
    assert len(pack(sitemap)) < len(body) / 20


@pytest.mark.parametrize(
    ("body", "languages"),
    [
        (RSS.replace(b"<channel>", b"<channel><language>fr-FR</language>"), ["fr-FR", "fr-FR"]),
        (ATOM.replace(b"<feed ", b"<feed xml:lang='fr' "), ["fr", "fr"]),
        (JSON_FEED, ["fr", "en"]),
    ],
)
def test_what_a_feed_lists_has_its_language(body: bytes, languages: list[str]):
    links = [link for part in read_sitemap(HERE, body).parts() for link in part.links]
    assert [(link.url, link.hreflang) for link in links] == [
        ("https://example.org/a", languages[0]),
        ("https://example.org/b", languages[1]),
    ]


@pytest.mark.parametrize(
    "body", [b"{", b'{"items": []}', b'{"version": "other", "items": [{"url": "/a"}]}', b"{" * 100_000]
)
def test_other_json_lists_nothing(body: bytes):
    assert urls(read_sitemap(HERE, body)) == []


@pytest.mark.parametrize(
    ("body", "modified", "published"),
    [
        (urlset(entry("/a", "<lastmod>2026-11-18T03:00:00Z</lastmod>")), 1794970800.0, 0.0),
        (urlset(entry("/a", "<lastmod>2026-11-18</lastmod>")), 1795046400.0, 0.0),  # the end of that day
        (urlset(entry("/a", "<lastmod>yesterday</lastmod>")), 0.0, 0.0),
        (
            urlset(entry("/a", "<n:news><n:publication_date>2026-11-18T03:00:00Z</n:publication_date></n:news>")),
            0.0,
            1794970800.0,
        ),
        (
            (
                b"<rss><channel><item><link>http://s.test/a</link><pubDate>Wed, 18 Nov 2026 03:00:00 GMT</pubDate>"
                b"</item></channel></rss>"
            ),
            0.0,
            1794970800.0,
        ),
        (
            (
                b'<feed><entry><link href="http://s.test/a"/><updated>2026-11-18T03:00:00Z</updated>'
                b"<published>2026-11-17T03:00:00Z</published></entry></feed>"
            ),
            1794970800.0,
            1794884400.0,
        ),
        (
            (
                b'{"version": "https://jsonfeed.org/version/1.1", "items": [{"url": "http://s.test/a",'
                b' "date_modified": "2026-11-18T03:00:00Z"}]}'
            ),
            1794970800.0,
            0.0,
        ),
    ],
)
def test_dates_of_entries_are_read(body: bytes, modified: float, published: float):
    [link] = read_sitemap(Url.parse("http://s.test/sitemap.xml"), body).links
    assert (link.modified, link.published) == (modified, published)


@pytest.mark.parametrize(
    ("item", "urls"),
    [
        ("<guid>https://example.org/a</guid>", ["https://example.org/a"]),
        ('<guid isPermaLink="true">https://example.org/a</guid>', ["https://example.org/a"]),
        ("<guid>https://example.org/a</guid><link>/b</link>", ["https://example.org/b"]),
        ("<link>/b</link><guid>https://example.org/a</guid>", ["https://example.org/b"]),
        ('<guid isPermaLink="false">https://example.org/a</guid>', []),
        ("<guid>tag:example.org,2026:a</guid>", []),
        ("<guid>1234</guid>", []),
        ('<link xml:base="https://other.org/x/">b</link>', ["https://other.org/x/b"]),
    ],
)
def test_an_item_without_a_link_is_at_its_permanent_address(item, urls):
    body = f"<rss><channel><item>{item}</item></channel></rss>".encode()
    assert [link.url for link in read_sitemap(Url.parse("https://example.org/feed"), body).links] == urls


def test_addresses_of_atom_are_relative_to_the_base_that_is_declared():
    body = b"""<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://example.org/blog/">
    <entry><link href="one"/><link rel="alternate" hreflang="fr" href="fr/un"/></entry>
    <entry xml:base="2026/"><link href="two"/></entry>
    <entry><link xml:base="/other/" href="three"/></entry>
    <entry xml:base="javascript:x"><link href="four"/></entry></feed>"""
    links = read_sitemap(Url.parse("https://example.org/feed"), body).links
    assert [link.url.partition("example.org")[2] for link in links] == [
        *("/blog/one", "/blog/fr/un", "/blog/2026/two", "/other/three", "/blog/four"),
    ]
