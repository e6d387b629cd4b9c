import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from publicsuffixlist import PublicSuffixList

from bitrawl.errors import UrlError
from bitrawl.url import MAX_LENGTH, Url, has_credentials, public_suffixes, with_scheme, without_credentials

SHARED = Path(__file__).parents[2].parent / "shared"

CANONICAL = {
    "HTTP://EXAMPLE.org:80/a/../b": "http://example.org/b",
    "https://example.org:443": "https://example.org/",
    "https://example.org:8443/": "https://example.org:8443/",
    "http://exämple.org/ü": "http://xn--exmple-cua.org/%C3%BC",
    "http://a.org/%7euser/%c3%a9": "http://a.org/~user/%C3%A9",
    "http://a.org/x#part": "http://a.org/x",
    "http://me:secret@a.org/": "http://a.org/",
    "http://a.org/?utm_source=x&b=2&fbclid=9&a=1": "http://a.org/?b=2&a=1",
    "http://a.org/p?utm_source=x": "http://a.org/p",
    "http://a.org/x;jsessionid=AB12?q=1": "http://a.org/x?q=1",
    "http://a.org/x/..;sid=1/y": "http://a.org/y",
    "http://a.org/?PHPSESSID=0123456789abcdef&lang=fr": "http://a.org/?lang=fr",
    "http://a.org/?s=climate+change": "http://a.org/?s=climate+change",
    "http://a.org/?sid=7": "http://a.org/?sid=7",
    "http://a.org/?b=1&a=2&b=3": "http://a.org/?b=1&a=2&b=3",
    "http://0x7f.1/": "http://127.0.0.1/",
    "http://2130706433/": "http://127.0.0.1/",
}


@pytest.mark.parametrize(("raw", "canonical"), CANONICAL.items())
def test_different_spellings_of_a_page_are_one_url(raw, canonical):
    assert Url.parse(raw) == canonical


@pytest.mark.parametrize(
    "raw", ["", "example.org", "ftp://a.org/", "javascript:alert(1)", "file:///etc/passwd", "http://", "http://a b/"]
)
def test_what_is_no_web_address_is_refused(raw):
    with pytest.raises(UrlError):
        Url.parse(raw)


def test_an_endless_url_is_refused():
    with pytest.raises(UrlError):
        Url.parse("http://a.org/" + "x" * MAX_LENGTH)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("../c", "http://a.org/c"),
        ("?q=1", "http://a.org/b/page?q=1"),
        ("//b.org/x", "http://b.org/x"),
        ("https:x", "https://x/"),
        ("\thttp://c.org\n", "http://c.org/"),
    ],
)
def test_links_are_read_as_browsers_read_them(raw, expected):
    assert Url.parse(raw, base=Url.parse("http://a.org/b/page")) == expected


@pytest.mark.parametrize(
    ("raw", "host", "site"),
    [
        ("http://www.example.co.uk/", "www.example.co.uk", "example.co.uk"),
        ("http://example.org:8080/", "example.org:8080", "example.org"),
        ("http://me.github.io/", "me.github.io", "me.github.io"),
        ("http://127.0.0.1:8000/", "127.0.0.1:8000", "127.0.0.1:8000"),
        ("http://[::1]:8000/", "[::1]:8000", "[::1]:8000"),
        ("http://localhost/", "localhost", "localhost"),
        ("http://www.bücher.example/", "www.xn--bcher-kva.example", "xn--bcher-kva.example"),
    ],
)
def test_a_url_knows_its_host_and_its_site_without_a_network_call(raw, host, site):
    url = Url.parse(raw)
    assert (url.host, url.site) == (host, site)


def test_path_query_and_origin_are_its_parts():
    url = Url.parse("https://a.org:8443/x/y?q=1&r=2")
    assert (url.origin, url.path, url.query) == ("https://a.org:8443", "/x/y", "q=1&r=2")


pieces = st.text(st.characters(codec="utf-8"), max_size=20) | st.sampled_from(
    ["..", ".", "%2e", "%", "%7", "%7E", ";sid=1", "//", "\\", "?", "&", "=", "#", "utm_source=a", "@", ":"]
)


@given(st.lists(pieces, max_size=8))
def test_parsing_a_canonical_url_changes_nothing(parts):
    try:
        url = Url.parse("http://example.org/" + "".join(parts))
    except UrlError:
        return
    assert Url.parse(url) == url
    assert "#" not in url
    assert url.startswith("http://example.org/")


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_a_url_or_refused(raw, base):
    try:
        url = Url.parse(raw, base=Url.parse("https://example.org/" + base))
    except UrlError:
        return
    assert url.startswith(("http://", "https://"))
    assert url.host
    assert url.site
    assert url.path.startswith("/")


@pytest.mark.skipif(not SHARED.exists(), reason="needs the WPT cases (web-platform-tests/wpt, url/resources)")
def test_the_web_platform_tests_agree_where_they_apply():
    cases = json.loads((SHARED / "data/formats/urltestdata.json").read_text())
    differ, agree = [], 0
    for case in (case for case in cases if isinstance(case, dict)):
        try:
            base = Url.parse(case["base"]) if case.get("base") not in (None, "about:blank") else None
        except UrlError:
            continue
        href = case.get("href") or ""
        expected = href.partition("#")[0] if href.startswith(("http://", "https://")) else None
        try:
            found = Url.parse(case["input"], base=base)
        except UrlError:
            found = None
        # Credentials are dropped and escapes normalised (RFC 3986): the two ways in which we differ on purpose.
        if found == expected or (expected and found == Url.parse(expected) and ("@" in expected or "%" in expected)):
            agree += 1
        else:
            differ.append((case["input"], expected, found))
    assert not differ
    assert agree > 700


@pytest.mark.parametrize(
    ("raw", "holds"),
    [("https://me:secret@a.org/", True), ("https://secret@a.org/", True), ("https://a.org/@me", False)],
)
def test_credentials_are_recognised_and_dropped(raw, holds):
    assert has_credentials(raw) is holds
    assert "secret" not in Url.parse(raw)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("/fr/page.html#part", "http://a.org/fr/page.html"),
        ("page.html", "http://a.org/en/page.html"),
        ("..page/.x", "http://a.org/en/..page/.x"),
        ("../page.html", "http://a.org/page.html"),
        ("sub/./page.html", "http://a.org/en/sub/page.html"),
        ("//b.org/page.html", "http://b.org/page.html"),
        ("page.html?sid=1", "http://a.org/en/page.html?sid=1"),
    ],
)
def test_a_relative_url_is_resolved_against_the_folder(raw, expected):
    assert Url.parse(raw, base=Url.known("http://a.org/en/index.html?next=/x/y")) == expected


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "no way to http://me:secret@a.org:1/x and http://b.org/?q=x@y",
            "no way to http://…@a.org:1/x and http://b.org/?q=x@y",
        ),
        ("write to me@a.org about https://a.org/", "write to me@a.org about https://a.org/"),
    ],
)
def test_a_message_shows_no_password(text, shown):
    assert without_credentials(text) == shown


@pytest.mark.parametrize(
    "raw",
    [
        "https://me:secret@a b/",
        "ftp://me:secret@a.org/",
        "me:secret@a.org",
        "//me:secret@a.org",
        "https://me:sec ret@a b",
    ],
)
def test_an_error_about_a_url_shows_no_password(raw):
    with pytest.raises(UrlError) as caught:
        Url.parse(raw)
    assert "sec" not in str(caught.value)


HOSTS = st.from_regex(r"[a-zA-Z0-9.-]{1,20}(\.(org|com|fr|xn--p1ai|1|0x2))?(:80|:8080)?", fullmatch=True)
PATHS = st.from_regex(r"(/(\.|\.\.|[A-Za-z0-9._~;%-]{0,8})){0,5}(\?[a-z]=1)?", fullmatch=True)


@given(st.sampled_from(["http", "https", "HTTP"]), HOSTS, PATHS)
def test_the_short_way_for_canonical_addresses_gives_what_the_long_way_gives(scheme, host, path):
    def parsed(raw):
        try:
            return Url.parse(raw)
        except UrlError:
            return None

    raw = f"{scheme}://{host}{path}"
    assert parsed(raw) == parsed(f"{raw}#fragment")  # which only the long way takes


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("www.example.org", "https://www.example.org/"),
        ("example.org/a?b=c#d", "https://example.org/a?b=c"),
        ("example.org:443/a", "https://example.org/a"),
        ("example.org:8080", "http://example.org:8080/"),
        ("bücher.example/ä", "https://xn--bcher-kva.example/%C3%A4"),
        ("пример.рф", "https://xn--e1afmkfd.xn--p1ai/"),
        ("localhost:8000", "http://localhost:8000/"),
        ("LOCALHOST", "http://localhost/"),
        ("127.0.0.1/a", "http://127.0.0.1/a"),
        ("[::1]:80", "http://[::1]/"),
        ("intranet:8080", "http://intranet:8080/"),
        ("museum.test/en", "https://museum.test/en"),
        ("wiki.corp:8080", "http://wiki.corp:8080/"),
        ("firm.co.za/en", "https://firm.co.za/en"),  # "za" alone is no rule of the list
        ("x.org/@me", "https://x.org/@me"),
        ("http://example.org", "http://example.org/"),
    ],
)
def test_a_host_as_people_type_it_is_https_unless_it_is_local_or_has_a_port(typed: str, url: str):
    assert Url.parse(with_scheme(typed)) == url


@pytest.mark.parametrize(
    "typed",
    [
        "example",
        "sites.txt",
        "page.html",
        "1.5",
        "https//x",
        "me@x.org",
        "./x.org",
        "a b.org",
        "-x.org",
        "",
        "mailto:a@b.c",
    ],
)
def test_what_is_no_host_gets_no_scheme(typed: str):
    assert with_scheme(typed) == typed


def test_the_public_suffixes_are_those_that_the_library_reads():
    assert vars(public_suffixes()) == vars(PublicSuffixList())
