import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitrawl.model import Language
from bitrawl.url import Url
from bitrawl.urls.tokens import (
    HostName,
    UrlParts,
    host_name,
    locales,
    parameters,
    pieces,
    raw_tokens,
    readable_words,
    runs,
    skeleton,
    without,
    words,
)

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
