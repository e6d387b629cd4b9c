import pytest
from selectolax.lexbor import LexborHTMLParser

from bitrawl.model import Alternate, AlternateSource, Capture, LinkKind
from bitrawl.page.head import read_head
from bitrawl.page.links import MAX_LINKS, read_anchors, read_images, read_links
from bitrawl.page.outline import outline
from bitrawl.url import Url

HERE = Url.parse("https://example.org/dir/page")


def links(html: str, *alternates: Alternate):
    tree = LexborHTMLParser(html)
    head = read_head(tree, Capture(HERE, 200, (), b"", 0.0))
    return read_links(head, read_anchors(outline(tree), head), alternates)


def images(html: str):
    tree = LexborHTMLParser(html)
    return read_images(outline(tree), read_head(tree, Capture(HERE, 200, (), b"", 0.0)))


def test_a_link_has_its_anchor_and_the_text_around_it():
    (link,) = links("<p>We sail <a href='/boats' rel='Author NoFollow'>our  boats</a> every day of the year.</p>")
    assert (link.url, link.kind, link.source) == ("https://example.org/boats", LinkKind.PAGE, HERE)
    assert (link.anchor, link.context, link.rel) == ("our boats", "We sail every day of the year.", "author nofollow")
    assert link.position >= 0


def test_the_context_is_that_of_the_right_occurrence_and_bounded():
    html = f"<p>{'x' * 300} <a href=/1>more</a> one <a href=/2>more</a> two {'y' * 300}</p>"
    first, second = links(html)
    assert "x one more two y" in first.context
    assert "x more one two y" in second.context
    assert max(len(first.context), len(second.context)) <= 161


def test_a_link_has_the_text_of_its_image():
    (link,) = links("<a href='/fr/'><span><img src='/flags/fr.png' alt=' Français '></span></a>")
    assert (link.image_alt, link.image_src, link.anchor) == ("Français", "/flags/fr.png", "")


def test_an_image_map_has_links():
    (link,) = links("<map><area href='/fr/' alt='Français'></map>")
    assert (link.url, link.anchor) == ("https://example.org/fr/", "Français")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<a href='sub'>x</a>", ["https://example.org/dir/sub"]),
        ("<a href='http-caching.html'>x</a>", ["https://example.org/dir/http-caching.html"]),
        ("<base href='/other/'><a href='sub'>x</a>", ["https://example.org/other/sub"]),
        ("<base href='https://cdn.org/'><base href='/no/'><a href='/sub'>x</a>", ["https://cdn.org/sub"]),
        ("<base href='javascript:x'><a href='/sub'>x</a>", ["https://example.org/sub"]),
        ("<a href='#top'>x</a><a href='page#s'>y</a><a href=''>z</a><a>w</a>", []),
        ("<a href='mailto:a@b.org'>x</a><a href='javascript:void(0)'>y</a><a href='tel:1'>z</a>", []),
        ("<a href='http://[bad'>x</a><a href='/ok'>y</a>", ["https://example.org/ok"]),
        ("<a href=' /a\n'>x</a>", ["https://example.org/a"]),
        ("<meta http-equiv=refresh content=\"0; URL='/new'\">", ["https://example.org/new"]),
        ("<meta http-equiv=refresh content='30'>", []),
        ("<iframe src='/inner'></iframe>", ["https://example.org/inner"]),
        ("<frameset><frame src='/left'></frameset>", ["https://example.org/left"]),
        ("<link rel=canonical href='/real'>", ["https://example.org/real"]),
        ("<link rel=canonical href='/dir/page'>", []),
        ("<link rel=next href='?p=2'>", ["https://example.org/dir/page?p=2"]),
        ("<link rel=stylesheet href='/s.css'><script src='/s.js'></script>", []),
        ("<a href='/file.zip'>x</a>", ["https://example.org/file.zip"]),
    ],
)
def test_every_way_of_linking_is_found(html, expected):
    assert [link.url for link in links(html)] == expected


def test_one_url_is_one_link_and_later_occurrences_add_what_is_missing():
    html = "<a href='/a'><img src='/i.png' alt=''></a> <a href='/b'>b</a> <a href='/a' hreflang='FR'>Read more</a>"
    first, second = links(html)
    assert (first.url, first.anchor, first.hreflang) == ("https://example.org/a", "Read more", "fr")
    assert first.image_src == "/i.png"
    assert first.position < second.position


@pytest.mark.parametrize(
    ("rels", "expected"),
    [
        (("nofollow", ""), ""),
        (("", "nofollow"), ""),
        (("nofollow", "nofollow"), "nofollow"),
        (("a", "nofollow b"), "a b"),
    ],
)
def test_a_link_that_may_be_followed_once_may_be_followed(rels, expected):
    (link,) = links("".join(f"<a href='/a' rel='{rel}'>x</a>" for rel in rels))
    assert link.rel == expected


def test_a_declared_alternate_is_of_that_kind_and_keeps_its_anchor():
    declared = Alternate(Url.parse("https://example.org/fr"), "fr", AlternateSource.LINK)
    (link,) = links("<a href='/fr'>Français</a>", declared)
    assert (link.kind, link.hreflang, link.anchor) == (LinkKind.ALTERNATE, "fr", "Français")


def test_an_alternate_that_no_anchor_leads_to_is_a_link_too():
    declared = Alternate(Url.parse("https://example.org/fr"), "fr", AlternateSource.OPTION)
    (link,) = links("<p>x", declared)
    assert (link.kind, link.hreflang) == (LinkKind.ALTERNATE, "fr")


def test_links_beyond_the_cap_are_left_out():
    assert len(links("".join(f"<a href='/{i}'>x</a>" for i in range(MAX_LINKS + 50)))) == MAX_LINKS


def test_images_are_found_where_scripts_load_them_later():
    html = (
        "<img src='data:image/gif;base64,x' data-src='/lazy.jpg'><img src='/a.png' alt='A  b'><img><img src='data:,x'>"
    )
    assert [(image.src, image.alt) for image in images(html)] == [
        ("https://example.org/lazy.jpg", ""),
        ("https://example.org/a.png", "A b"),
    ]
