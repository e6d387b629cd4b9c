import pytest
from selectolax.lexbor import LexborHTMLParser

from bitrawl.model import Capture
from bitrawl.page.head import (
    canonical,
    directives,
    header_links,
    iso_date,
    machine_translation,
    read_head,
    read_metadata,
)
from bitrawl.url import Url

HERE = Url.parse("https://example.org/fr/page")


def capture(*headers: tuple[str, str], url: Url = HERE) -> Capture:
    return Capture(url, 200, headers, b"", 0.0, media_type="text/html")


def metadata(html: str, *headers: tuple[str, str]):
    tree = LexborHTMLParser(html)
    answer = capture(*headers)
    return read_metadata(read_head(tree, answer), tree, answer)


def head(html: str, *headers: tuple[str, str]):
    return read_head(LexborHTMLParser(html), capture(*headers))


@pytest.mark.parametrize(
    ("html", "field", "expected"),
    [
        ('<meta name="Description" content=" A  port. ">', "description", "A port."),
        ('<meta property="og:description" content="A port.">', "description", "A port."),
        ('<meta name="keywords" content="sea, boats">', "keywords", "sea, boats"),
        (
            '<meta property="article:tag" content="sea"><meta property="article:tag" content="fish">',
            "keywords",
            "sea, fish",
        ),
        ('<meta name="author" content="Ana Lima">', "author", "Ana Lima"),
        ('<script type="application/ld+json">{"author":{"name":"Ana Lima"}}</script>', "author", "Ana Lima"),
        ('<script type="application/ld+json">{"author":[{"name":"Ana"},{"name":"B"}]}</script>', "author", "Ana"),
        (
            '<meta property="article:published_time" content="2024-03-05T10:00:00+01:00">',
            "date",
            "2024-03-05T10:00:00+01:00",
        ),
        (
            '<script type="application/ld+json">{"@graph":[{"datePublished":"2024-03-05"}]}</script>',
            "date",
            "2024-03-05",
        ),
        ("<article><time datetime='2024-03-05'>yesterday</time></article>", "date", "2024-03-05"),
        ("<meta name=DC.date content=20240305>", "date", "2024-03-05"),
        ('<a rel="nofollow license" href="/terms">terms</a>', "licence", "https://example.org/terms"),
        (
            '<a href="https://creativecommons.org/licenses/by/4.0/">CC</a>',
            "licence",
            "https://creativecommons.org/licenses/by/4.0/",
        ),
        ('<a href="https://creativecommons.org/about">about</a>', "licence", ""),
        ('<script type="application/ld+json">{"license":"https://x.org/l"}</script>', "licence", "https://x.org/l"),
        ('<meta name="dc.rights" content="All rights reserved">', "licence", "All rights reserved"),
        ('<html lang=" pt-BR "><p>x', "html_lang", "pt-BR"),
        ('<meta http-equiv="Content-Language" content="fr">', "content_language", "fr"),
        ('<meta property="og:locale" content="fr_FR">', "locale", "fr_FR"),
        (
            '<meta property="og:locale:alternate" content="en_GB"><meta property="og:locale:alternate" content="de_DE">',
            "other_locales",
            ("en_GB", "de_DE"),
        ),
    ],
)
def test_a_page_says_of_itself(html, field, expected):
    assert getattr(metadata(html), field) == expected


def test_the_language_header_comes_before_its_meta():
    html = '<meta http-equiv="Content-Language" content="fr">'
    assert metadata(html, ("Content-Language", "de")).content_language == "de"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-03-05 10:00:00", "2024-03-05T10:00:00"),
        ("2024-03-05T10:00:00.123Z", "2024-03-05T10:00:00Z"),
        ("2024-03", "2024-03"),
        ("2024/03/05", "2024-03-05"),
        ("5.3.2024", "2024-03-05"),
        ("Tue, 05 Mar 2024 10:00:00 GMT", "2024-03-05T10:00:00+00:00"),
        ("03/05/2024", "03/05/2024"),
        ("2024/13/45", "2024/13/45"),
        ("last Tuesday", "last Tuesday"),
    ],
)
def test_a_date_is_iso_where_it_can_be_read_without_guessing(text, expected):
    assert iso_date(text) == expected


@pytest.mark.parametrize(
    ("html", "headers", "expected"),
    [
        ('<link rel="Canonical" href="/a">', [], "https://example.org/a"),
        ('<base href="https://other.org/x/"><link rel=canonical href="a">', [], "https://other.org/x/a"),
        ("", [("Link", '<https://example.org/a>; rel="canonical"')], "https://example.org/a"),
        ('<link rel="canonical" href="">', [], None),
        ('<link rel="canonical" href="javascript:x">', [], None),
    ],
)
def test_the_canonical_address_is_read(html, headers, expected):
    assert canonical(head(html, *headers)) == expected


@pytest.mark.parametrize(
    ("html", "headers", "expected"),
    [
        ('<meta name="robots" content="NOINDEX, nofollow">', [], ("nofollow", "noindex")),
        ('<meta name="ROBOTS" content="none">', [], ("nofollow", "noindex")),
        ('<meta name="robots" content="index, follow, max-snippet:-1">', [], ()),
        ('<meta name="googlebot" content="noindex">', [], ()),
        ('<meta name="bitrawl" content="noindex">', [], ("noindex",)),
        ('<meta name="robots" content="noai, noimageai">', [], ("noai",)),
        ('<meta name="robots" content="noimageai">', [], ()),
        ('<meta name="tdm-reservation" content="1">', [], ("tdm-reservation",)),
        ('<meta name="tdm-reservation" content="0">', [], ()),
        ("", [("TDM-Reservation", "1")], ("tdm-reservation",)),
        ("", [("X-Robots-Tag", "noindex")], ("noindex",)),
        ("", [("x-robots-tag", "googlebot: noindex, nofollow")], ()),
        ("", [("x-robots-tag", "googlebot: noindex, bitrawl: nofollow, noai")], ("noai", "nofollow")),
        ("", [("x-robots-tag", "googlebot: none"), ("x-robots-tag", "noai")], ("noai",)),
        ("", [("x-robots-tag", "unavailable_after: 25 Jun 2030 15:00:00 PST, noindex")], ("noindex",)),
    ],
)
def test_directives_are_normalised(html, headers, expected):
    assert directives(head(html, *headers), capture(*headers)) == expected


def test_the_http_link_header_is_read_with_commas_and_quotes_in_it():
    value = '<https://example.org/a,b>; rel="alternate"; hreflang=de, </c>; rel=next; title="x, <y>; z"'
    first, second = header_links(capture(("Link", value)))
    assert (first["href"], first["rel"], first["hreflang"]) == ("https://example.org/a,b", "alternate", "de")
    assert (second["href"], second["rel"], second["title"]) == ("/c", "next", "x, <y>; z")


def test_a_quoted_pair_in_the_link_header_ends_nothing():
    value = r'</a>; title="a \"quoted\" \\ word"; rel=alternate; hreflang=de, </b>; rel=next'
    first, second = header_links(capture(("Link", value)))
    assert (first["title"], first["hreflang"], second["rel"]) == ('a "quoted" \\ word', "de", "next")


@pytest.mark.parametrize(
    ("anchor", "is_ours"),
    [
        ("", True),
        ("; anchor=", True),
        ('; anchor="{}"', True),
        ('; anchor="/other"', False),
        ('; anchor="#note"', False),
    ],
)
def test_a_link_of_another_page_in_the_link_header_is_not_one_of_this_page(anchor, is_ours):
    answer = capture()
    answer = capture(("Link", "</fr>; rel=alternate; hreflang=fr" + anchor.format(answer.url.path)))
    assert bool(header_links(answer)) is is_ours


@pytest.mark.parametrize(
    "script",
    [
        "{",
        "[" * 100_000,
        "",
        "null",
        '"x"',
        "[1,2,{}]",
        '{"author": {"name": 5}}',
        '{"license": [[]]}',
        '{"a":"\\ud800"}',
    ],
)
def test_broken_json_ld_costs_nothing(script):
    assert metadata(f'<script type="application/ld+json">{script}</script>').author == ""


def test_json_ld_in_a_comment_or_cdata_is_read():
    for script in ('<!-- {"author":"Ana"} -->', '//<![CDATA[\n{"author":"Ana"}\n//]]>'):
        assert metadata(f'<script type="application/ld+json">{script}</script>').author == "Ana"


GTRANSLATE = """<html lang="fr"><script src="https://cdn.gtranslate.net/w.js"></script>
<script>window.gtranslateSettings={"default_language":"en"}</script>"""
WEGLOT = """<html lang="fr"><script src="https://cdn.weglot.com/weglot.min.js"></script>
<link rel="alternate" hreflang="x-default" href="/page">"""


def marks(html: str, url: str = HERE) -> tuple[str, ...]:
    tree = LexborHTMLParser(html)
    return machine_translation(read_head(tree, capture(url=Url.parse(url))), tree, html)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<html lang="fr" class="js translated-ltr">', ("google-translate",)),
        (
            '<p><font style="vertical-align: inherit;"><font style="vertical-align: inherit;">Salut',
            ("google-translate",),
        ),
        ('<link rel="alternate machine-translated-from" hreflang="en" href="/en">', ("machine-translated-from",)),
        ('<meta name="translation-stats" content="x">', ("translation-stats",)),
        ('<meta name="ms.translationtype" content="MT">', ("declared",)),
        (GTRANSLATE, ("gtranslate",)),
        (WEGLOT, ("weglot",)),
    ],
)
def test_a_machine_translated_page_is_marked(html, expected):
    assert marks(html) == expected


@pytest.mark.parametrize(
    "html",
    [
        "<html lang=fr><p class='notranslate'>Nous avons essayé Weglot et GTranslate.",
        '<script src="//translate.google.com/translate_a/element.js?cb=googleTranslateElementInit"></script>',
        '<html lang="en"><script>window.gtranslateSettings={"default_language":"en"}</script>',
        WEGLOT.replace("/page", "/fr/page"),
        '<meta name="ms.translationtype" content="HT">',
    ],
)
def test_an_offer_to_translate_is_no_mark_of_translation(html):
    assert marks(html) == ()


def test_a_translation_proxy_is_known_by_its_address():
    assert marks("<p>x", "https://example-org.translate.goog/a") == ("proxy",)
