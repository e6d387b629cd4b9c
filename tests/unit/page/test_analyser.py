import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from bitrawl.model import (
    AlternateSource,
    Capture,
    Language,
    LinkKind,
    Page,
    ParagraphKind,
    Sitemap,
    Skip,
    Unpacker,
    pack,
)
from bitrawl.page.alternates import LanguageNames
from bitrawl.page.analyser import NOWHERE, PageAnalyser, read_html
from bitrawl.page.outline import Outline
from bitrawl.reasons import Reason
from bitrawl.url import Url

SHARED = Path(__file__).parents[3].parent / "shared"
MUSEUM = Path(__file__).parents[2] / "museum"
HERE = Url.parse("https://example.org/en/harbour")
NAMES = LanguageNames.load()

HTML = """<!doctype html><html lang="en"><head><title>The harbour - Example</title>
<meta name="description" content="Of boats."><meta name="robots" content="noai">
<link rel="canonical" href="/en/harbour"><link rel="alternate" hreflang="fr" href="/fr/port"></head><body>
<nav><a href="/">Home</a> <a href="/fr/port">Français</a></nav>
<h1>The harbour</h1>
<p>The old harbour wakes before the sun. Boats come in with the tide, and the market opens on the quay.</p>
<p>Read about <a href="/en/boats">the boats</a> of our fishermen, who know the coast and its weather very well.</p>
<ul><li>The nets are mended in the afternoon by those who are too old to go out to sea.</li></ul>
<img src="/i.jpg" alt="Boats"></body></html>"""


class Words:
    """Tells English, French and Japanese by a word or a letter of theirs; remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.priors: list[Language | None] = []

    def identify(self, texts: Sequence[str], *, prior: Language | None = None) -> list[tuple[Language, float]]:
        self.asked += texts
        self.priors.append(prior)
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> tuple[Language, float]:
        english, french = text.lower().split().count("the"), text.lower().split().count("la")
        if "の" in text:
            return Language("ja"), 0.9
        if not english and not french:
            return Language("und"), 0.0
        return (Language("en"), 0.9) if english >= french else (Language("fr"), 0.9)


class Length:
    """Content is what is longer than sixty characters."""

    def probabilities(self, outline: Outline) -> list[float]:
        return [float(len(block.text) > 60) for block in outline.blocks]


def analyser(words: Words | None = None) -> PageAnalyser:
    return PageAnalyser(words or Words(), Length(), NAMES)


def capture(body: str | bytes, media_type: str = "text/html", *headers: tuple[str, str], url: Url = HERE) -> Capture:
    body = body.encode() if isinstance(body, str) else body
    return Capture(url, 200, headers, body, 0.0, media_type=media_type)


def read(body: str | bytes, media_type: str = "text/html", *headers: tuple[str, str]) -> Page:
    page = analyser().read(capture(body, media_type, *headers))
    assert isinstance(page, Page)
    return page


def test_a_page_is_understood_in_all_its_aspects():
    page = read(HTML)
    assert (page.url, page.title, page.charset) == (HERE, "The harbour - Example", "utf-8")
    assert page.language == "en"
    assert page.confidence > 0.8
    assert page.metadata.description == "Of boats."
    assert page.canonical == HERE
    assert page.directives == ("noai",)
    assert [(a.url, a.language, a.source) for a in page.alternates] == [
        ("https://example.org/fr/port", "fr", AlternateSource.LINK),
        ("https://example.org/fr/port", "fr", AlternateSource.ANCHOR),
    ]
    assert {str(link.url): link.kind for link in page.links} == {
        "https://example.org/fr/port": LinkKind.ALTERNATE,
        "https://example.org/": LinkKind.PAGE,
        "https://example.org/en/boats": LinkKind.PAGE,
    }
    assert [(image.src, image.alt) for image in page.images] == [("https://example.org/i.jpg", "Boats")]
    assert page.tags
    assert len(page.fingerprint) == 3
    assert page.digest
    assert page.signature


def test_every_paragraph_is_kept_with_its_kind_label_language_and_place():
    page = read(HTML)
    kinds = [(p.kind, p.boilerplate) for p in page.paragraphs if "harbour" in p.text or "nets" in p.text]
    assert kinds == [(ParagraphKind.TITLE, True), (ParagraphKind.TEXT, False), (ParagraphKind.LISTITEM, False)]
    assert all(page.tags[p.position] == "#text" for p in page.paragraphs)
    assert {p.language for p in page.paragraphs if not p.boilerplate} == {"en"}


def test_a_page_survives_the_way_to_another_process():
    page = read(HTML)
    assert Unpacker[Page](Page)(pack(page)) == page


def test_the_text_decides_the_language_and_markup_does_not():
    page = read(HTML.replace('lang="en"', 'lang="de"'))
    assert page.language == "en"


@pytest.mark.parametrize(
    ("lang", "url", "prior"),
    [
        ("en", "https://example.org/a", "en"),
        ("", "https://example.org/fr/a", "fr"),
        ("", "https://fr.example.org/a", "fr"),
        ("", "https://example.org/a?lang=fr", "fr"),
        ("fr-CA", "https://example.org/fr/a", "fr-CA"),
        ("en", "https://example.org/fr/a", None),
        ("", "https://example.org/a", None),
        ("nonsense!", "https://example.org/a", None),
    ],
)
def test_claims_are_a_prior_where_they_agree(lang, url, prior):
    words = Words()
    html = f'<html lang="{lang}"><p>The boats come in with the tide, and the market opens on the quay.</p>'
    analyser(words).read(capture(html, url=Url.parse(url)))
    assert words.priors == [prior]


def test_json_ld_claims_too():
    words = Words()
    script = '<script type="application/ld+json">{"@type":"Article","inLanguage":"fr-FR"}</script>'
    analyser(words).read(capture(f"{script}<p>x", url=Url.parse("https://example.org/a")))
    assert words.priors == ["fr-FR"]


def test_the_majority_of_characters_is_the_pages_language():
    page = read("<p>" + "la mer et la plage " * 20 + "</p><p>" + "the sea and the beach " * 5 + "</p>")
    assert page.language == "fr"
    assert page.confidence < 0.95
    assert [p.language for p in page.paragraphs] == ["fr", "en"]


@pytest.mark.parametrize(
    "text", ["The end", "12345 67890 - 12345 67890 - 12345 67890 - 12345 67890 - 12345 67890 - 1234"]
)
def test_too_little_text_has_no_language(text):
    page = read(f"<p>{text}</p>")
    assert (page.language, page.confidence) == ("und", 0.0)


ENDONYMS = "Deutsch English Español Français Italiano Português"


@pytest.mark.parametrize(
    "names",
    [
        ENDONYMS,
        "日本語 英語 ドイツ語 フランス語 スペイン語 ポルトガル語",
        "العربية الإنجليزية الألمانية الفرنسية الإسبانية الإيطالية",
        "한국어 영어 독일어 프랑스어 스페인어 이탈리아어 포르투갈어",
        "ไทย อังกฤษ เยอรมัน ฝรั่งเศส สเปน",
        "English 日本語 العربية Русский 한국어 中文 Ελληνικά",
    ],
)
@pytest.mark.parametrize("each", ["<li><a href=/{0}/>{0}</a>", "<a href=/{0}/>{0}</a> | ", "<button>{0}</button>"])
@pytest.mark.parametrize("lang", ["", "en"])
def test_a_page_of_names_of_languages_has_no_language(names: str, each: str, lang: str):
    html = f"<html lang='{lang}'><h1>Handbook</h1><p>{''.join(map(each.format, names.split()))}"
    assert read_html(html).language == "und"


@pytest.mark.parametrize(
    ("language", "heading", "sentence"),
    [
        ("de", "Handbuch", "Die Bücherei öffnet um neun Uhr."),
        ("fr", "Bienvenue", "La bibliothèque ouvre à neuf heures."),
        ("ja", "案内", "図書館は朝九時に開きます。"),
        ("zh", "欢迎", "图书馆早上九点开门。"),
        ("ko", "안내", "도서관은 아침 아홉 시에 문을 엽니다."),
        ("th", "ยินดีต้อนรับ", "ห้องสมุดเปิดเวลาเก้าโมงเช้าทุกวัน"),
        ("ar", "مرحبا", "تفتح المكتبة أبوابها في التاسعة صباحا."),
        ("he", "ברוכים הבאים", "הספרייה נפתחת בתשע בבוקר."),
    ],
)
def test_a_heading_and_a_sentence_have_a_language_also_beside_a_switcher(language: str, heading: str, sentence: str):
    switcher = "".join(f"<li><a href=/{name}/>{name}</a>" for name in ENDONYMS.split())
    assert read_html(f"<ul>{switcher}</ul><h1>{heading}</h1><p>{sentence}</p>").language == language


def test_a_little_chinese_or_japanese_is_enough():
    assert read("<p>日本の港の朝は早い。</p>").language == "ja"


def test_one_text_is_asked_for_once():
    words = Words()
    line = "<p>The boats come in with the tide, and the market opens on the quay.</p>"
    analyser(words).read(capture(f'<html lang="fr">{line * 3}<p>the menu</p><p>the menu</p>'))
    assert len(set(words.asked)) == len(words.asked) == 2


@pytest.mark.parametrize(("lang", "menu"), [("en", "und"), ("fr", "en")])
def test_the_language_of_boilerplate_is_asked_for_unless_the_page_is_in_the_language_that_it_claims(lang, menu):
    page = read(
        f'<html lang="{lang}"><p>the menu</p><p>The boats come in with the tide, and the market opens on the quay.</p>'
    )
    assert [(p.boilerplate, p.language) for p in page.paragraphs] == [(True, menu), (False, "en")]


def test_pages_of_short_lines_still_have_a_language_and_a_digest():
    page = read("<p>the boats and the nets</p><p>the sun and the sea</p>")
    assert all(p.boilerplate for p in page.paragraphs)
    assert page.language == "en"
    assert page.digest
    assert page.digest != read("<p>the boats and the nets</p>").digest


def test_plain_text_has_its_paragraphs_between_blank_lines():
    page = read(
        "The boats come in\nwith the tide.\n\n \t\nThe market opens on the quay.\n",
        "text/plain",
        ("Link", '</fr.txt>; rel="alternate"; hreflang="fr"'),
    )
    assert [p.text for p in page.paragraphs] == ["The boats come in with the tide.", "The market opens on the quay."]
    assert page.language == "en"
    assert [(link.url, link.kind) for link in page.links] == [("https://example.org/fr.txt", LinkKind.ALTERNATE)]


@pytest.mark.parametrize("media_type", ["application/zip", "image/png", "application/xml", "application/json", ""])
def test_what_is_no_page_is_skipped_with_its_type(media_type):
    skip = analyser().read(capture("x", media_type))
    assert skip == Skip(HERE, skip.stage, Reason.CONTENT_TYPE, media_type, 200)


@pytest.mark.parametrize("body", ["", "<html></html>", "<img src=/a.png>", " \0 "])
def test_a_page_without_text_and_links_is_empty(body):
    skip = analyser().read(capture(body))
    assert isinstance(skip, Skip)
    assert skip.reason is Reason.EMPTY


def test_a_page_of_links_without_text_is_a_page():
    assert read("<frameset><frame src=/a></frameset>").links


def test_a_sitemap_is_read_on_request():
    body = "<urlset><url><loc>https://example.org/a</loc></url></urlset>"
    sitemap = analyser().read(capture(body, "application/xml"), index=True)
    assert isinstance(sitemap, Sitemap)
    assert [link.url for link in sitemap.links] == ["https://example.org/a"]


@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 100_000 + "deep",
        "<div>" * 100_000 + "deep" + "</div>" * 100_000,
        "<span>" * 20_000 + "</i>" * 20_000 + "deep",
        "<p>x" + "<b>" * 100_000 + "deep",
        "<a href=/x>" * 20_000,
        "<select>" + "<option value=/a>x" * 20_000,
        "<ul>" + "<li><a href=/fr/x>Français</a>" * 20_000,
        "<table>" * 5_000 + "x",
        "<p " + "a=b " * 100_000 + ">x",
        "<p title='" + "x" * 1_000_000 + "'>x",
        "<script type='application/ld+json'>" + "[" * 200_000,
        "<meta charset=" * 10_000,
        "<!--" * 100_000,
        "\0" * 100_000 + "x",
        "&#xD800;" * 1000 + "&#0;x",
        "<p>" + "e\u0301\u0327" * 10_000,
        b"<p>\xff\xfe\xfd\x80 x" * 1000,
    ],
    ids=lambda body: repr(body[:16]),
)
def test_no_markup_however_hostile_breaks_the_analysis(body):
    outcome = analyser().read(capture(body))
    assert isinstance(outcome, Page | Skip)
    assert pack(outcome)


@pytest.mark.skipif(
    not SHARED.exists(), reason="html5lib's snippets are evaluation data, and stay out of the repository"
)
def test_html5libs_snippets_pass_through():
    lines = (SHARED / "data" / "formats" / "malformed-html.jsonl").read_text("utf-8").splitlines()
    reader = analyser()
    assert lines
    for line in lines:
        body = json.loads(line)["html"].encode("utf-8", "surrogatepass")
        assert pack(reader.read(capture(body)))
        assert pack(reader.read(capture(body), index=True))


def test_a_page_that_the_caller_has_is_read_without_a_fetch():
    page = read_html(HTML, HERE)
    assert page.language == "en"
    assert page.title == "The harbour - Example"
    assert any(
        paragraph.text.startswith("The old harbour") for paragraph in page.paragraphs if not paragraph.boilerplate
    )
    assert "https://example.org/en/boats" in {link.url for link in page.links}
    assert page == read_html(HTML.encode(), HERE)


def test_a_text_is_decoded_already_whatever_its_markup_claims():
    text = "Le port s’éveille avant le soleil, et les bateaux rentrent à l’aube."
    page = read_html(f'<meta charset="iso-8859-7"><p>{text}</p>')
    assert [paragraph.text for paragraph in page.paragraphs] == [text]


@pytest.mark.parametrize("html", ["", b"", " \n", "<html></html>", "\ud800", b"\xff\xfe"])
def test_html_without_text_is_an_empty_page(html):
    page = read_html(html)
    assert page.url == NOWHERE
    assert "".join(paragraph.text for paragraph in page.paragraphs) in ("", "?")
