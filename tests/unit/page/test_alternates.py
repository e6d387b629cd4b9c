import pytest
from selectolax.lexbor import LexborHTMLParser

from bitrawl.model import AlternateSource, Capture
from bitrawl.page.alternates import LanguageNames, Naming, read_alternates
from bitrawl.page.head import read_head
from bitrawl.page.links import read_anchors
from bitrawl.page.outline import outline
from bitrawl.text.language_names import language_code
from bitrawl.url import Url

HERE = "https://example.org/en/page"
NAMES = LanguageNames.load()
PROSE = "<p>The old harbour wakes before the sun, and the boats come in with the tide.</p>"


def alternates(html: str, *headers: tuple[str, str], url: str = HERE, lang: str = "en"):
    tree = LexborHTMLParser(f'<html lang="{lang}"><body>{PROSE}{html}{PROSE}')
    head = read_head(tree, Capture(Url.parse(url), 200, headers, b"", 0.0))
    return read_alternates(head, read_anchors(outline(tree), head), NAMES)


def found(html: str, *headers: tuple[str, str], url: str = HERE, lang: str = "en") -> list[tuple[str, str, str]]:
    declared = alternates(html, *headers, url=url, lang=lang)
    return [(a.url.removeprefix("https://example.org"), a.language, str(a.source)) for a in declared]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<link rel="alternate" hreflang="fr" href="/fr/page">', ("/fr/page", "fr", "link")),
        ('<link rel="Alternate" hreflang="pt_BR" href="/br/page">', ("/br/page", "pt-br", "link")),
        ('<link rel="alternate" hreflang="x-default" href="/">', ("/", "x-default", "link")),
        ('<link rel="alternate" lang="fr" href="/fr/page">', ("/fr/page", "fr", "link")),
        ('<a hreflang="de" href="/d">Hier</a>', ("/d", "de", "anchor")),
        ('<map><area hreflang="de" href="/d"></map>', ("/d", "de", "area")),
        ('<a href="/x1">Français</a>', ("/x1", "fr", "anchor")),
        ('<a href="/x1">日本語</a>', ("/x1", "ja", "anchor")),
        ('<a href="/x1"> العربية </a>', ("/x1", "ar", "anchor")),
        ('<a href="/x1">हिन्दी</a>', ("/x1", "hi", "anchor")),
        ('<a href="/x1"><img src="/f.gif" alt="Deutsch"></a>', ("/x1", "de", "anchor")),
        ('<a href="/fr/page">FR</a>', ("/fr/page", "fr", "anchor")),
        ('<a href="/page?lang=fr">French</a>', ("/page?lang=fr", "fr", "anchor")),
        ('<a href="/pl/strona">Czytaj po polsku</a>', ("/pl/strona", "pl", "anchor")),
        ('<a href="/cn/page">中文版</a>', ("/cn/page", "zh", "anchor")),
        ('<a lang="cy" href="/cy/tudalen">Darllenwch</a>', ("/cy/tudalen", "cy", "anchor")),
        ('<ul class="language-switcher"><li><a href="/x">French</a></li></ul>', ("/x", "fr", "switcher")),
        (
            '<div class="wpml-ls-statics"><ul class="wpml-ls"><li><a href="/x">FR</a></ul></div>',
            ("/x", "fr", "switcher"),
        ),
        ('<ul><li class="lang-item lang-item-fr"><a href="/x">fr</a></li></ul>', ("/x", "fr", "switcher")),
        ('<li class="interlanguage-link"><a href="/x" lang="gsw">Alemannisch</a></li>', ("/x", "gsw", "switcher")),
        ('<ul class="mod-list mod-languages"><li><a href="/x">Eesti</a></li></ul>', ("/x", "et", "switcher")),
        ('<ul id="language_menu"><li class="x"><a href="/x">DA</a></li></ul>', ("/x", "da", "switcher")),
        ('<li class="nav-lang-menu-item"><a href="/x">DA</a></li>', ("/x", "da", "switcher")),
        ('<a class="language-link" href="/x">Suomi</a>', ("/x", "fi", "switcher")),
        ('<div id="lang"><a href="/x"><img src="/flags/fr.png"></a></div>', ("/x", "fr", "switcher")),
        ('<a data-lang="fr" data-href="/fr/page" href="#">x</a>', ("/fr/page", "fr", "data")),
        ('<button data-locale="fr-CA" data-url="/fr/page">x</button>', ("/fr/page", "fr-ca", "data")),
        (
            '<select><option value="/en/page">English<option value="/fr/page">Français</select>',
            ("/fr/page", "fr", "option"),
        ),
        (
            '<select><option>Language<option data-lang=en value="?l=en">1<option data-lang=fr value="?l=fr">2</select>',
            ("/en/page?l=fr", "fr", "option"),
        ),
        (
            '<script type="application/ld+json">{"workTranslation":{"@id":"/fr/page","inLanguage":"fr"}}</script>',
            ("/fr/page", "fr", "json-ld"),
        ),
        (
            '<script type="application/ld+json">{"@graph":[{"translationOfWork":"https://example.org/o"}]}</script>',
            ("/o", "", "json-ld"),
        ),
    ],
)
def test_every_way_to_declare_a_translation_is_found(html, expected):
    assert expected in found(html)


def test_the_http_link_header_declares_too():
    header = (
        "Link",
        '</fr/page>; rel="alternate"; hreflang="fr", </feed>; rel="alternate"; type="application/rss+xml"',
    )
    assert found("", header) == [("/fr/page", "fr", "header")]


@pytest.mark.parametrize(
    ("html", "languages"),
    [
        (
            "<ul><li><a href=/a>English</a><li><a href=/b>Français</a><li><a href=/c>Deutsch</a></ul>",
            {"en", "fr", "de"},
        ),
        ("<a href=/a>EN</a> | <a href=/b>FR</a> | <a href=/c>ES</a>", {"en", "fr", "es"}),
        ("<a href=/a>Inglés</a> <a href=/b>Français</a>", {"en", "fr"}),
        ("<a href=https://a.fr/>Français</a> <a href=https://a.de/>Deutsch</a>", {"fr", "de"}),
        ("<a href=/a>简体中文</a><a href=/b>繁體中文</a>", {"zh-hans", "zh-hant"}),
    ],
)
def test_neighbours_that_name_languages_are_a_switcher(html, languages):
    assert {language for _, language, _ in found(html)} == languages


@pytest.mark.parametrize(
    "html",
    [
        '<link rel="alternate" type="application/rss+xml" href="/feed">',
        '<link rel="alternate" type="application/rss+xml" hreflang="fr" href="/feed">',
        '<link rel="alternate" media="print" href="/print">',
        '<link rel="stylesheet" hreflang="fr" href="/s.css">',
        "<a href=/it>IT</a>".replace("/it", "/support"),
        "<a href=/courses/french>Learn French</a>",
        "<a href=/courses/1>French</a> <a href=/courses/2>German</a> <a href=/courses/3>Spanish</a>",
        "<a href=/no>No</a>".replace("/no", "/reject"),
        "<a href=https://other.net/x>Français</a>",
        "<a href=/english>English</a>",
        "<a href=/a>Polish your boat in ten easy steps</a>",
        "<a href=/a>Home</a><a href=/b>About us</a><a href=/c>Contact</a>",
        "<pre class='lang-python'><a href=/fr/x>fr</a></pre>".replace("fr/x", "x"),
        "<select><option value=/a>Red<option value=/b>Blue<option value=/c>Français</select>",
        "<select><option value=en>English<option value=fr>Français</select>",
        "<a data-lang='python' href='/x'>x</a>",
        "<a class=twitter-share-button data-lang=de data-url=https://example.org/en/page href=https://t.co/>Tweet</a>",
        "<a data-lang=de href=/switch>x</a> <a data-lang=fr href=/switch>y</a>",
        "<p><a hreflang=en href=/news>News</a> <a hreflang=und href=/tags>Tags</a>",
        "<a href=/tag/it/>IT</a><p>of<p><a href=/topics/eu>EU</a>",
        "<a href=/tv/>TV</a>",
        "<a href=/pf/index.html>PF</a>",
        "<a href=/pm/>PM</a>",
        "<a href=/news/dan-lipinski>Dan Lipinski</a>",
        "<a href=https://twitter.com/share?lang=de>Auf Deutsch teilen</a>",
        "<a href='javascript:x'>Français</a>",
        '<script type="application/ld+json">{"workTranslation":{"inLanguage":"fr"}}</script>',
    ],
)
def test_what_declares_no_translation_is_left_alone(html):
    assert found(html) == []


def test_the_url_outweighs_the_name_of_a_country():
    html = "<ul class=languages><li><a href=/en-ie/>Ireland</a><li><a href=/fr-ch/>Suisse (FR)</a></ul>"
    assert {language for _, language, _ in found(html, url="https://example.org/de-de/page", lang="de")} == {
        "en-ie",
        "fr-ch",
    }


def test_self_references_and_regions_are_kept_as_declared():
    html = "".join(
        f'<link rel="alternate" hreflang="{tag}" href="{path}">'
        for tag, path in [("en-GB", "/en/page"), ("en-US", "/us/page"), ("es-419", "/es/page")]
    )
    assert found(html) == [
        ("/en/page", "en-gb", "link"),
        ("/us/page", "en-us", "link"),
        ("/es/page", "es-419", "link"),
    ]


def test_one_target_declared_in_two_places_is_two_declarations():
    html = '<link rel="alternate" hreflang="fr" href="/fr/page"><a href="/fr/page">Français</a>'
    assert {source for _, _, source in found(html)} == {AlternateSource.LINK, AlternateSource.ANCHOR}


@pytest.mark.parametrize(
    ("text", "code", "naming"),
    [
        ("Français", "fr", Naming.ENDONYM),
        ("FRANCAIS", "fr", Naming.ENDONYM),
        ("தமிழ்", "ta", Naming.ENDONYM),
        ("Srpski", "sr", Naming.ENDONYM),
        ("Allemand", "de", Naming.NAME),
        ("英语", "en", Naming.NAME),
        ("(EN)", "en", Naming.CODE),
        ("pt-BR", "pt-br", Naming.CODE),
        ("ENG", "en", Naming.CODE),
        ("Switch to English", "en", Naming.PHRASE),
        ("Version française", "fr", Naming.PHRASE),
        ("По-русски", "ru", Naming.PHRASE),
        ("Українською", "uk", Naming.PHRASE),
        ("magyarul", "hu", Naming.PHRASE),
        ("日本語版", "ja", Naming.PHRASE),
        ("中文（简体）", "zh", Naming.PHRASE),
    ],
)
def test_a_text_names_a_language(text, code, naming):
    assert NAMES.read(text) == (code, naming)


@pytest.mark.parametrize(
    "text", ["", " ", "—", "Home", "Contact", "Next page", "x" * 500, "🙂", "12", "Sign in / Register"]
)
def test_other_texts_name_none(text):
    assert NAMES.read(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Deutsch | English | Français",
        "DeutschEnglishEspañolFrançais",
        "EN FR DE",
        "Nederlands Engels Duits",
        "Español (Latinoamérica), Português (Brasil)",
        "po polsku · по-русски",
        "Norsk bokmål, norsk nynorsk",
        "日本語 英語 ドイツ語",
        "日本語中文한국어",
        "한국어 영어 독일어",
        "العربية الإنجليزية الألمانية",
        "עברית | ไทย | हिन्दी",
    ],
)
def test_a_list_of_languages_is_told_by_its_names(text):
    assert NAMES.fill(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2024 – 2026",
        "Choose your language",
        "English courses in Paris for everybody",
        "Wir lernen Deutsch, weil wir in Wien wohnen.",
        "To be or not to be",
        "日本語を勉強しましょう",
        "나는 한국어를 공부합니다",
        "نتعلم العربية في المدرسة كل يوم",
        "เราเรียนภาษาไทยที่โรงเรียนทุกวัน",
    ],
)
def test_a_text_with_the_name_of_a_language_is_no_list_of_them(text):
    assert not NAMES.fill(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("FR", "fr"),
        ("zh-Hant", "zh-hant"),
        ("jp", "ja"),
        ("cz", "cs"),
        ("gb", "en"),
        ("ger", "de"),
        ("xx", ""),
        ("pdf", ""),
    ],
)
def test_codes_of_languages_and_of_countries_are_read(text, code):
    assert language_code(text) == code
