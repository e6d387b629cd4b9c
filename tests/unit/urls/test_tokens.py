import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitrawl.model import Language
from bitrawl.url import Url
from bitrawl.urls import address_languages, host_name, readable_words, renamed, runs, skeleton, versions
from bitrawl.urls.tokens import HostName, UrlParts, locales, parameters, pieces, raw_tokens, without, words

TEXTS = st.text(st.sampled_from("aBzÉé9٣_-./=&? हि中"), max_size=30)


@given(TEXTS)
def test_nothing_is_lost_in_cutting(text: str):
    assert "".join(pieces(text)) == "".join(runs(text)) == text


@given(TEXTS)
def test_a_finer_way_of_cutting_cuts_wherever_a_coarser_one_does(text: str):
    assert places(words(text), text) <= places(runs(text), text) <= places(pieces(text), text)


def places(tokens: list[str], text: str) -> set[int]:
    """Where tokens begin or end."""
    found, at = set(), 0
    for token in tokens:
        at = text.index(token, at)
        found |= {at, at + len(token)}
        at += len(token)
    return found


def test_a_pattern_can_put_a_url_together_again_from_its_tokens():
    url = Url.parse("https://www.example.org:8080/a_b/c1.html?x=%C3%A9&y")
    assert "".join(raw_tokens(url)) == url
    assert raw_tokens(url)[:3] == ("https", "://", "www")


@pytest.mark.parametrize(
    ("text", "fine", "coarse"),
    [
        ("FirstNations2-fra", "First Nations 2 - fra", "FirstNations 2 - fra"),
        ("horn15EN", "horn 15 EN", "horn 15 EN"),
        ("HTMLPage", "HTML Page", "HTMLPage"),
        ("AboutFR", "About FR", "AboutFR"),
    ],
)
def test_capitals_cut_pieces_and_not_runs(text: str, fine: str, coarse: str):
    assert (" ".join(pieces(text)), " ".join(runs(text))) == (fine, coarse)


def test_vowel_signs_do_not_end_a_readable_word():
    assert readable_words("हिन्दी-में") == ["हिन्दी", "में"]


@pytest.mark.parametrize(
    ("text", "found"),
    [("x_en-GB.html", ["en-GB"]), ("zh_Hant/es-419", ["zh_Hant", "es-419"]), ("garden-by", []), ("a1en-us", [])],
)
def test_locales_stand_by_themselves(text: str, found: list[str]):
    assert locales(text) == found


def test_what_is_dropped_takes_its_separator_along():
    assert without("news_fr-CA.fr.v2", lambda token: token.startswith("fr")) == "news.v2"


@pytest.mark.parametrize(
    ("host", "parts"),
    [
        ("www.example.co.uk", HostName(("www",), "example", "co.uk")),
        ("example.org:8080", HostName((), "example", "org")),
        ("fr.m.example.org.", HostName(("fr", "m"), "example", "org")),
        ("localhost:80", HostName((), "localhost", "")),
        ("127.0.0.1", HostName((), "127.0.0.1", "")),
    ],
)
def test_a_host_is_cut_at_what_was_registered(host: str, parts: HostName):
    assert host_name(host) == parts


def test_the_dot_at_the_end_of_a_host_tells_no_pages_apart():
    with_dot, without_dot = (Url.known(f"http://{host}/a") for host in ("example.org.", "example.org"))
    assert skeleton(with_dot, Language("fr")) == skeleton(without_dot, Language("fr"))


def test_parts_are_as_written():
    parts = UrlParts.of(Url.parse("http://example.org:81/a%2Fb//c/?x=1&&y&z=a%26b"))
    assert parts == ("example.org:81", ("a%2Fb", "", "c", ""), "x=1&&y&z=a%26b")
    assert parameters(parts.query) == [("x", "1"), ("y", ""), ("z", "a%26b")]


@pytest.mark.parametrize(
    ("path", "own", "other", "expected"),
    [
        ("/en/", "en", "fr", ["/fr/"]),
        ("/en/docs/start.html", "en", "fr", ["/fr/", "/fr/docs/start.html"]),
        ("/en-US/x", "en", "fr", ["/fr-FR/", "/fr-FR/x", "/fr/", "/fr/x"]),
        ("/zh_cn/", "zh", "ja", ["/ja_jp/", "/ja/"]),
        ("/index.en.html", "en", "th", ["/index.th.html"]),
        ("/index.html.ko", "ko", "en", ["/index.html.en"]),
        ("/a_eng.php", "en", "fr", ["/a_fra.php"]),
        ("/?id=en&lang=ar", "ar", "he", ["/?id=en&lang=he"]),
        ("/english/a", "en", "fr", ["/french/", "/french/a"]),
        ("/deutsch/", "de", "fr", ["/francais/"]),
        ("/日本語/頁", "ja", "zh", ["/中文/", "/中文/頁"]),
        ("/العربية/", "ar", "fa", ["/فارسی/"]),
        ("/en/", "en", "gsw", ["/gsw/"]),
        ("/it-services/", "en", "fr", []),  # "it" does not name the language of the page
        ("/made-in-en-route", "en", "fr", []),
        ("/about.html", "en", "fr", []),
    ],
)
def test_another_language_is_named_in_an_address_as_its_own_is(path: str, own: str, other: str, expected: list[str]):
    made = renamed(Url.parse(f"http://a.test{path}"), Language(own), Language(other))
    assert list(dict.fromkeys(made)) == [Url.parse(f"http://a.test{path}") for path in expected]


@pytest.mark.parametrize(
    ("path", "language", "expected"),
    [
        ("/", "fr", ["/fr/", "/index.fr.html", "/?lang=fr", "/francais/"]),
        ("/", "zh", ["/zh/", "/index.zh.html", "/?lang=zh", "/中文/"]),
        ("/", "zh-Hant", ["/zh/", "/index.zh.html", "/?lang=zh", "/繁体中文/"]),
        ("/home.php", "ar", ["/ar/", "/home.ar.php", "/home.php?lang=ar", "/العربية/", "/ar/home.php"]),
        ("/docs/?v=2", "th", ["/docs/th/", "/docs/index.th.html", "/docs/?v=2&lang=th", "/docs/ไทย/", "/th/docs/?v=2", "/th/"]),
        ("/about", "nb", ["/nb/", "/about?lang=nb", "/nb/about"]),
    ],
)  # fmt: skip
def test_where_an_address_names_no_language_the_usual_ones_are_tried(path: str, language: str, expected: list[str]):
    made = versions(Url.parse(f"http://a.test{path}"), Language(language), ".html")
    assert list(dict.fromkeys(made)) == [Url.parse(f"http://a.test{path}") for path in expected]


def test_no_address_is_made_that_is_too_long_to_be_one():
    long = Url.parse("http://a.test/en/" + "a" * 2066)
    assert renamed(long, Language("en"), Language("gsw")) == [Url.parse("http://a.test/gsw/")]


@pytest.mark.parametrize(
    ("path", "expected", "without_countries"),
    [
        ("/faq/pf/filter.html", {"fr"}, set()),  # a packet filter, and French Polynesia
        ("/de/a", {"de"}, {"de"}),
        ("/jp/a", {"ja"}, set()),
        ("/pt-br/a", {"pt-br"}, {"pt-br"}),
        ("/deu/a", {"de"}, {"de"}),
    ],
)
def test_a_code_of_a_country_names_a_language_unless_only_those_of_languages_count(
    path: str, expected: set[str], without_countries: set[str]
):
    url = Url.parse(f"http://a.test{path}")
    assert address_languages(url) == expected
    assert address_languages(url, countries=False) == without_countries
