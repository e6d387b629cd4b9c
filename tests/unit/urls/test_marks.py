import pytest

from bitrawl.model import UNDETERMINED, Language
from bitrawl.url import Url
from bitrawl.urls import mark_language, named_languages, skeleton


@pytest.mark.parametrize(
    ("token", "language"),
    [
        ("fr", "fr"),
        ("fra", "fr"),
        ("fre", "fr"),
        ("jp", "ja"),
        ("cz", "cs"),
        ("pt-br", "pt-BR"),
        ("zh_CN", "zh-CN"),
        ("zh-hant", "zh-Hant"),
        ("english", "en"),
        ("Francais", "fr"),
        ("fran%C3%A7ais", "fr"),
        ("русский", "ru"),
        ("deutsch", "de"),
        ("日本語", "ja"),
    ],
)
def test_a_token_names_a_language_by_code_country_or_name(token, language):
    assert mark_language(token) == language


@pytest.mark.parametrize("token", ["pf", "gm", "zzz", "x", "", "2024", "news", "amd64", "a" * 100])
def test_what_is_no_language_names_none(token):
    assert mark_language(token) == UNDETERMINED


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (("https://example.org/fr/news.html", "fr"), ("https://example.org/en/news.html", "en")),
        (("https://example.org/fr/news.html", "fr"), ("https://example.org/news.html", "en")),
        (("https://fr.example.org/news", "fr"), ("https://www.example.org/news", "en")),
        (("https://example.fr/news", "fr"), ("https://example.com/news", "en")),
        (("https://example.org/news.fr.html", "fr"), ("https://example.org/news.html", "en")),
        (("https://example.org/news_cn.htm", "zh"), ("https://example.org/news_en.htm", "en")),
        (("https://example.org/start.zh-cn.html", "zh"), ("https://example.org/start.ru.html", "ru")),
        (("https://example.org/browse/fr-FR/stable/x", "fr"), ("https://example.org/browse/en-US/stable/x", "en")),
        (("https://example.org/manual/fr.amd64/", "fr"), ("https://example.org/manual/en.amd64/index.html", "en")),
        (("https://example.org/?p=3&lang=es", "es"), ("https://example.org/?lang=en&p=3", "en")),
        (("https://example.org/faq/pf/fr/nat.html", "fr"), ("https://example.org/faq/pf/nat.html", "en")),
        (("https://example.org/francais/a.html", "fr"), ("https://example.org/english/a.html", "en")),
    ],
)
def test_versions_of_a_page_have_one_skeleton(a, b):
    assert skeleton(Url.parse(a[0]), Language(a[1])) == skeleton(Url.parse(b[0]), Language(b[1]))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (("https://example.org/fr/a.html", "fr"), ("https://example.org/en/b.html", "en")),
        (("https://example.org/it/a.html", "fr"), ("https://example.org/en/a.html", "en")),
        (("https://example.org/?id=1&lang=fr", "fr"), ("https://example.org/?id=2&lang=en", "en")),
    ],
)
def test_other_pages_have_other_skeletons(a, b):
    assert skeleton(Url.parse(a[0]), Language(a[1])) != skeleton(Url.parse(b[0]), Language(b[1]))


def test_a_url_names_the_language_of_its_mark_only():
    assert named_languages(Url.parse("https://example.org/fr/x.html")) == {"fr"}
