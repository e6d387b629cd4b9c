import pytest

from bitrawl.url import Url
from bitrawl.urls import language_by_rules


@pytest.mark.parametrize(
    ("url", "language"),
    [
        ("https://example.org/page?lang=fr", "fr"),
        ("https://example.org/page?id=3&hl=fra", "fr"),
        ("https://example.org/docs/de/page.html", "de"),
        ("https://example.org/ger/page.html", "de"),
        ("https://example.org/CA/", "ca"),
        ("https://example.org/ceb/", "ceb"),
        ("https://example.pl/", "pl"),
        ("https://pt.example.org/about", "pt"),
        ("https://www.eu.example.org/about", "eu"),
        ("https://example.org/nb/", "nb"),
    ],
)
def test_a_component_that_is_a_code_names_its_language(url, language):
    assert language_by_rules(Url.parse(url)) == language


@pytest.mark.parametrize(
    ("url", "language"),
    [
        ("https://de.example.pl/fr/page?lang=es", "es"),
        ("https://de.example.pl/fr/page", "fr"),
        ("https://de.example.pl/page", "pl"),
        ("https://de.example.org/page", "de"),
    ],
)
def test_parameters_go_before_directories_before_the_suffix_before_the_subdomain(url, language):
    assert language_by_rules(Url.parse(url)) == language


@pytest.mark.parametrize(
    "url",
    [
        "https://www.example.org/about-us",
        "https://example.org/en-us/about",
        "https://example.co.uk/about",
        "https://example.org/index.fr.html",
        "https://example.org/francais/",
        "https://192.168.7.1/",
        "https://[2001:db8::1]/",
        "https://example.org/und/zxx/mul?lang=",
    ],
)
def test_what_is_no_code_by_itself_names_none(url):
    assert language_by_rules(Url.parse(url)) == "und"
