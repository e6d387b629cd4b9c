"""Pages that scripts draw: what shows it, and the texts that are there without running them."""

import json
from time import process_time

import pytest

from bitrawl.model import Capture, DrawnBy, Page, ParagraphKind, Skip
from bitrawl.page.analyser import page_reader
from bitrawl.page.markdown import as_markdown
from bitrawl.page.scripted import MAX_LETTERS
from bitrawl.reasons import Reason
from bitrawl.url import Url

HERE = Url.parse("https://example.org/harbour")
SENTENCE = "The old harbour wakes before the sun, and the boats come in with the tide."
SECOND = "Read about the boats of our fishermen, who know the coast and its weather very well."
READER = page_reader()


def read(html: str, *, rendered: bool = False) -> Page | Skip:
    capture = Capture(HERE, 200, (), html.encode(), at=0.0, media_type="text/html", rendered=rendered)
    outcome = READER.read(capture)
    assert isinstance(outcome, Page | Skip)
    return outcome


def page_of(html: str) -> Page:
    page = read(html)
    assert isinstance(page, Page)
    return page


def shell(state: str = "", body: str = '<div id="root"></div><a href="/en/">Home</a>', language: str = "en") -> str:
    return f'<html lang="{language}"><title>Harbour</title><body>{body}{state}<script src="/app.js"></script></body></html>'


def texts(html: str) -> list[str]:
    return [paragraph.text for paragraph in page_of(html).paragraphs if paragraph.text != "Home"]


def as_data(value: object, attributes: str = 'type="application/json"') -> str:
    return f"<script {attributes}>{json.dumps(value)}</script>"


@pytest.mark.parametrize(
    ("html", "sign"),
    [
        (shell(), DrawnBy.ROOT),
        (shell(body="<app-root>Loading…</app-root><a href='/x'>x</a>"), DrawnBy.ROOT),
        (shell(body="<noscript>Bitte JavaScript einschalten.</noscript><a href='/x'>x</a>"), DrawnBy.NOTICE),
        (shell(as_data({"text": [SENTENCE * 3, SECOND * 3]}), body="<a href='/x'>x</a>"), DrawnBy.STATE),
        (shell(body=f"<div id='root'></div><main>{f'<p>{SENTENCE}</p>' * 9}</main>"), None),
        (shell(body="<p>A short page.</p><a href='/x'>x</a>"), None),
        ("<html><body><div id='root'></div><a href='/x'>x</a></body></html>", None),  # no script could fill it
    ],
)
def test_the_sign_of_a_page_that_scripts_draw(html: str, sign: DrawnBy | None) -> None:
    assert page_of(html).drawn_by is sign


def test_a_page_of_scripts_alone_is_skipped_as_drawn_by_scripts() -> None:
    skip = read("<html><body><script src='/app.js'></script></body></html>")

    assert isinstance(skip, Skip)
    assert skip.reason is Reason.SCRIPTED


def test_an_empty_page_without_scripts_is_only_empty() -> None:
    skip = read("<html><body></body></html>")

    assert isinstance(skip, Skip)
    assert skip.reason is Reason.EMPTY


def test_what_a_browser_has_drawn_is_not_drawn_again() -> None:
    html = shell(as_data({"text": SENTENCE}))
    page = read(html, rendered=True)

    assert isinstance(page, Page)
    assert page.drawn_by is DrawnBy.BROWSER
    assert SENTENCE not in page.text


@pytest.mark.parametrize(
    "state",
    [
        as_data({"@type": "Article", "headline": "The harbour", "articleBody": SENTENCE}, 'type="application/ld+json"'),
        as_data({"props": {"pageProps": {"text": SENTENCE}}}, 'id="__NEXT_DATA__" type="application/json"'),
        as_data([["Reactive", 1], {"data": 2}, 3, SENTENCE], 'type="application/json" id="__NUXT_DATA__"'),
        as_data({"status": 200, "body": json.dumps({"post": {"html": f"<p>{SENTENCE}</p>"}})}),
        f"<script>window.__INITIAL_STATE__ = {json.dumps({'a': {'content': SENTENCE}})};(function(){{}}())</script>",
        f"<script>self['__data']=JSON.parse({json.dumps(json.dumps({'a': SENTENCE}))});</script>",
    ],
    ids=["JSON-LD", "Next", "Nuxt", "SvelteKit", "assigned", "parsed"],
)
def test_texts_of_state_objects_are_paragraphs_of_the_page(state: str) -> None:
    page = page_of(shell(state))

    assert SENTENCE in page.text
    assert page.language == "en"
    assert page.drawn_by is DrawnBy.ROOT


TEASER = "Before dawn the old harbour is a quiet place, and only the lamp at the end of the pier is lit. " * 4
BODY = [TEASER.strip(), *(f"{number}. {SENTENCE} {SECOND}" for number in range(9))]


def linked(body: str, **more: object) -> str:
    article = {"@type": "NewsArticle", "headline": "Harbour", "articleBody": body, **more}
    return as_data({"@graph": [{"@type": "WebPage"}, article]}, 'type="application/ld+json"')


def main_text(html: str) -> list[str]:
    return [paragraph.text for paragraph in page_of(html).paragraphs if not paragraph.boilerplate]


@pytest.mark.parametrize("teaser", [TEASER, TEASER.strip().rstrip(".") + "…", TEASER[:320] + "..."])
@pytest.mark.parametrize("joint", ["\n", "\n\n", "\r\n"])
def test_a_teaser_does_not_keep_out_the_article_of_the_metadata(teaser: str, joint: str) -> None:
    html = f"<html lang=en><body><main><h1>At the harbour</h1><p>{teaser}</p></main>{linked(joint.join(BODY))}</body></html>"

    assert [text for text in main_text(html) if text != "At the harbour"] == BODY


def test_an_article_in_one_line_is_one_paragraph_and_its_teaser_is_not_doubled() -> None:
    html = f"<html lang=en><body><main><p>{TEASER}</p></main>{linked(' '.join(BODY))}</body></html>"

    assert main_text(html) == [" ".join(BODY)]


def test_an_article_with_markup_and_entities_is_read_as_text() -> None:
    marked = "".join(f"<p>{text.replace('old', '<b>old</b>')}</p>" for text in BODY)
    html = f"<html lang=en><body><main><p>{TEASER}</p></main>{linked(marked)}</body></html>"
    assert main_text(html) == BODY

    entities = "\n".join(BODY).replace("harbour", "p&ocirc;rt")
    html = f"<html lang=en><body><main><p>{TEASER}</p></main>{linked(entities)}</body></html>"
    assert BODY[1].replace("harbour", "pôrt") in main_text(html)


@pytest.mark.parametrize("shown", [10, 7])
def test_an_article_that_the_page_shows_is_not_doubled(shown: int) -> None:
    text = "".join(f"<p>{text}</p>" for text in BODY[:shown])
    html = f"<html lang=en><body><main>{text}</main>{linked(chr(10).join(BODY))}</body></html>"

    assert main_text(html) == BODY[:shown]


@pytest.mark.parametrize(
    ("teaser", "rest"),
    [
        (
            "昔の港は日の出前に目を覚まし、船は潮とともに戻ってくる。" * 12,
            "桟橋の端の灯りだけが、静かな夜明けの海を照らしている。" * 30,
        ),
        (
            "يستيقظ الميناء القديم قبل شروق الشمس وتعود القوارب مع المد. " * 8,
            "لا يضيء سوى المصباح في نهاية الرصيف عند الفجر الهادئ. " * 24,
        ),
        ("ท่าเรือเก่าตื่นก่อนพระอาทิตย์ขึ้นและเรือกลับมาพร้อมน้ำขึ้น " * 8, "มีเพียงโคมไฟที่ปลายสะพานเท่านั้นที่ส่องสว่างยามเช้า " * 24),
    ],
)
def test_an_article_in_any_script_is_read_once(teaser: str, rest: str) -> None:
    article = [teaser.strip(), rest.strip()]
    html = f"<html><body><main><p>{teaser}</p></main>{linked(chr(10).join(article))}</body></html>"

    assert main_text(html) == article


@pytest.mark.parametrize(
    "more",
    [
        {"isAccessibleForFree": False},
        {"isAccessibleForFree": "False"},
        {"isAccessibleForFree": "http://schema.org/False"},
        {"hasPart": {"@type": "WebPageElement", "isAccessibleForFree": False, "cssSelector": ".paid"}},
        {"hasPart": [{"isAccessibleForFree": "false"}]},
    ],
)
@pytest.mark.parametrize("teaser", [TEASER, "Before dawn."])
def test_an_article_that_one_must_pay_for_is_not_read(more: dict[str, object], teaser: str) -> None:
    html = f"<html lang=en><body><main><p>{teaser}</p></main><div id=app></div><a href=/>Home</a>{linked(chr(10).join(BODY), **more)}</body></html>"

    assert SENTENCE not in "".join(texts(html))


def test_of_a_list_of_articles_none_is_read() -> None:
    several = linked("\n".join(BODY)) + linked("\n".join(BODY[1:]))
    html = f"<html lang=en><body><main><p>{TEASER}</p></main>{several}</body></html>"

    assert main_text(html) == [TEASER.strip()]


def test_headings_and_markup_of_a_state_object_keep_their_kind_and_order() -> None:
    state = {"title": "The old harbour", "html": f"<p>{SENTENCE}</p><ul><li>{SECOND}</li></ul>"}
    page = page_of(shell(as_data(state)))

    kept = [(p.text, p.kind) for p in page.paragraphs if p.text != "Home"]
    assert kept == [
        ("The old harbour", ParagraphKind.HEADING),
        (SENTENCE, ParagraphKind.TEXT),
        (SECOND, ParagraphKind.LISTITEM),
    ]


def test_the_markdown_of_a_page_has_its_waiting_texts() -> None:
    html = shell(as_data({"title": "The old harbour", "text": SENTENCE}))
    page = page_reader(markdown=True).read(Capture(HERE, 200, (), html.encode(), at=0.0, media_type="text/html"))

    assert isinstance(page, Page)
    assert SENTENCE in as_markdown(page)


@pytest.mark.parametrize(
    "value",
    [
        "https://example.org/a path with many words in it",
        "function () { return window.location.href; }",
        "color: red; background: url(/a.png); margin: 0 auto",
        "a1b2c3d4 e5f6 7788 9900 1234",
        "btn btn-primary",
        "M10 20 L30 40 C50 60 70 80 90 100",
    ],
)
def test_code_addresses_and_names_are_no_texts(value: str) -> None:
    assert texts(shell(as_data({"x": value, "text": SENTENCE}))) == [SENTENCE]


def test_of_texts_in_several_languages_only_that_of_the_page_is_read() -> None:
    french = "Le vieux port se réveille avant le soleil, et les bateaux rentrent avec la marée."
    state = as_data({"i18n": {"en": {"intro": SENTENCE}, "fr-FR": {"intro": french}}})

    assert texts(shell(state)) == [SENTENCE]
    assert texts(shell(state, language="fr")) == [french]
    assert texts(shell(state, language="de")) == []


def test_a_page_with_text_of_its_own_takes_none_from_its_scripts() -> None:
    body = f"<main>{''.join(f'<p>{number}. {SENTENCE}</p>' for number in range(9))}</main>"

    assert SECOND not in page_of(shell(as_data({"text": SECOND}), body=body)).text


def test_an_ordinary_list_of_links_takes_no_texts_from_its_data() -> None:
    links = "".join(f'<li><a href="/{number}">Number {number} of the list</a></li>' for number in range(60))

    page = page_of(shell(as_data({"description": SECOND}), body=f"<ul>{links}</ul>"))
    assert page.drawn_by is None
    assert SECOND not in page.text


@pytest.mark.parametrize(
    "state",
    [
        "[" * 100_000,
        "[" * 900 + "]" * 900,
        json.dumps({"a": "x" * 3_000_000}),
        json.dumps([SENTENCE] * 100_000),
        json.dumps([f"{number} {SENTENCE}" for number in range(20_000)]),
        json.dumps({"a": "<div>" * 30_000}),
        json.dumps({"a": json.dumps({"b": json.dumps({"c": json.dumps({"d": json.dumps({"e": "[" * 5000})})})})}),
        '{"a": "\\ud800 ' + SENTENCE + '"}',
        "window.a={" * 10_000,
    ],
    ids=["open", "deep", "long", "repeated", "many", "tags", "nested", "surrogate", "assigned"],
)
def test_a_hostile_state_object_costs_little(state: str) -> None:
    for attributes in ('type="application/json"', ""):
        started = process_time()
        page = page_of(
            shell(
                f"<script {attributes}>window.a = {state}</script>"
                if not attributes
                else f"<script {attributes}>{state}</script>"
            )
        )
        assert process_time() - started < 5
        assert len(page.text) < 2 * MAX_LETTERS
