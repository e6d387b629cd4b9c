"""Markdown as a renderer that is not ours reads it."""

from html import escape

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bitrawl.model import UNDETERMINED, Capture, Page, Paragraph, ParagraphKind
from bitrawl.page.analyser import PageAnalyser
from bitrawl.page.markdown import MOST_COLUMNS, as_markdown, escaped
from bitrawl.text.words import one_line
from bitrawl.url import Url

URL = Url.parse("https://a.org/")
READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def blocks(text: str) -> list[tuple[str, str]]:
    """The tag of each block, and its text."""
    tokens = READER.parse(text)
    tags = [token.tag for token in tokens]
    found = []
    for number, token in enumerate(tokens):
        if token.type == "inline":
            shown = "".join(
                child.content if child.type in {"text", "text_special"} else "?" for child in token.children
            )
            tag = "li" if number > 1 and tags[number - 2] == "li" else tags[number - 1]
            found.append((tag, shown))
    return found


def page(*paragraphs: tuple[ParagraphKind, str], title: str = "") -> Page:
    return Page(URL, title=title, paragraphs=tuple(Paragraph(text, kind) for kind, text in paragraphs))


def test_each_kind_of_paragraph_is_a_block_of_its_own():
    text = as_markdown(
        page(
            (ParagraphKind.TITLE, "The museum"),
            (ParagraphKind.TEXT, "It is open."),
            (ParagraphKind.HEADING, "Tickets"),
            (ParagraphKind.LISTITEM, "Adults: 5 €"),
            (ParagraphKind.LISTITEM, "Children: free"),
            (ParagraphKind.TEXT, "See you."),
            title="The museum - Home",
        )
    )
    assert text == "# The museum\n\nIt is open.\n\n## Tickets\n\n- Adults: 5 €\n- Children: free\n\nSee you.\n"
    assert [tag for tag, _ in blocks(text)] == ["h1", "p", "h2", "li", "li", "p"]


def test_the_title_of_the_page_stands_in_for_one_that_its_text_lacks():
    assert as_markdown(page((ParagraphKind.TEXT, "Open."), title="Museum *")) == "# Museum \\*\n\nOpen.\n"


def test_boilerplate_is_left_out_and_a_page_without_text_is_empty():
    menu = Paragraph("Menu", boilerplate=True)
    assert as_markdown(Page(URL, paragraphs=(menu, Paragraph(" "), Paragraph("Text.")))) == "Text.\n"
    assert as_markdown(Page(URL, paragraphs=(menu,))) == ""


@pytest.mark.parametrize(
    "text",
    [
        "# not a heading",
        "- not an item",
        "+ nor this",
        "1. nor that",
        "12) nor this",
        "1957. A year",
        "---",
        "===",
        "***",
        "___",
        "> no quote",
        "    no code",
        "```",
        "~~~ ~~gone~~",
        "*a* _b_ __c__ **d** `e`",
        "[x](javascript:alert(1)) ![y](z) [a]: b",
        "<script>alert(1)</script> <https://a.org>",
        "&amp; &lt; &#35;",
        "back\\slash \\* \\",
        "a | b",
        "snake_case_name and _ alone_",
        "two  spaces  and a trail  ",
        "2.5 km, -3 °C, 1.",
    ],
)
@pytest.mark.parametrize("kind", ParagraphKind)
def test_markup_in_the_text_is_shown_and_not_obeyed(text, kind):
    (found,) = blocks(as_markdown(page((kind, text))))
    tag = {ParagraphKind.TITLE: "h1", ParagraphKind.HEADING: "h2", ParagraphKind.LISTITEM: "li"}.get(kind, "p")
    assert found == (tag, one_line(text))


def test_a_name_with_underscores_is_left_alone():
    assert escaped("snake_case") == "snake_case"


@given(st.text(alphabet="ab1 .)(#-+=*_`~[]<>&;|\\!:'\"/éя中", min_size=1, max_size=30).filter(one_line))
def test_any_text_comes_back_as_it_was(text):
    assert blocks(as_markdown(page((ParagraphKind.TEXT, text)))) == [("p", one_line(text))]


# Pages with their markup


class NoLanguage:
    def identify(self, texts, prior=None):
        return [(UNDETERMINED, 0.0)] * len(texts)


class AllContent:
    def probabilities(self, outline):
        return [1.0] * len(outline.blocks)


ANALYSER = PageAnalyser(NoLanguage(), AllContent(), markdown=True)
PLACE = Url.parse("https://a.org/dir/page.html")


def read(html: str, url: Url = PLACE) -> Page:
    body = f"<!doctype html><meta charset=utf-8>{html}".encode()
    return ANALYSER.read(Capture(url, 200, (), body, at=0.0, media_type="text/html"))


def rendered(html: str, url: Url = PLACE) -> str:
    return as_markdown(read(html, url))


def inline_text(token) -> str:
    return "".join(
        "\n" if child.type in {"softbreak", "hardbreak"} else child.content for child in token.children or ()
    )


def tables(text: str) -> list[list[list[str]]]:
    """Each table as rows of cells, the head first."""
    found = []
    for token, following in zip(tokens := READER.parse(text), [*tokens[1:], None], strict=True):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type in {"th_open", "td_open"}:
            found[-1][-1].append(inline_text(following))
    return found


def links(text: str) -> list[tuple[str, str]]:
    """The text and the target of each."""
    found = []
    for token in READER.parse(text):
        inside = None
        for child in token.children or ():
            if child.type == "link_open":
                inside = [child.attrs["href"], ""]
            elif child.type == "link_close":
                found.append((inside[1], inside[0]))
                inside = None
            elif inside is not None:
                inside[1] += child.content
    return found


def fences(text: str) -> list[tuple[str, str]]:
    return [(token.info, token.content) for token in READER.parse(text) if token.type == "fence"]


def letters(text: str) -> str:
    """All that a reader sees, without spaces."""
    shown = []
    for token in READER.parse(text):
        shown.append(token.content if token.type in {"fence", "code_block"} else "")
        shown += [child.content for child in token.children or () if child.type != "html_inline"]
    return "".join("".join(shown).split())


def seen(page: Page) -> str:
    return "".join("".join(p.text for p in page.paragraphs).split())


def row(*cells: str, tag: str = "td") -> str:
    return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"


def test_a_table_is_a_table_with_its_head():
    text = rendered(
        f"<p>Prices:</p><table>{row('Who', 'Price', tag='th')}{row('Adults', '5 €')}{row('', 'free')}</table>"
    )
    assert text == "Prices:\n\n| Who | Price |\n| --- | --- |\n| Adults | 5 € |\n|  | free |\n"
    assert tables(text) == [[["Who", "Price"], ["Adults", "5 €"], ["", "free"]]]


def test_a_table_without_a_head_has_an_empty_one():
    assert tables(rendered(f"<table>{row('a', 'b')}{row('c', 'd')}</table>")) == [[["", ""], ["a", "b"], ["c", "d"]]]


@pytest.mark.parametrize(
    "cell", ["a|b", "\\|", "||", "`a|b`", "[x](y)", "<b>", "&amp;|", "- a", "# b", "a\\", "*|*", "1. x"]
)
def test_markup_in_a_cell_is_shown_and_breaks_no_row(cell):
    text = rendered(f"<table>{row('a', 'b')}{row(escape(cell), 'd')}</table>")
    assert tables(text)[0][2] == [cell, "d"]


def test_cells_that_span_leave_others_empty():
    html = f"<table>{row('a', 'b', 'c')}<tr><td colspan=2 rowspan=2>d</td><td>e</td></tr>{row('f')}{row('g', 'h', 'i')}</table>"
    assert tables(rendered(html))[0][1:] == [["a", "b", "c"], ["d", "", "e"], ["", "", "f"], ["g", "h", "i"]]


def test_a_cell_with_some_paragraphs_has_a_line_for_each():
    text = rendered(f"<table>{row('a', '<p>b</p><ul><li>c</li></ul>')}{row('d', 'e')}</table>")
    assert "| a | b<br>c |" in text


@pytest.mark.parametrize(
    ("html", "inner"),
    [
        (f"<table>{row('menu', f'<table>{row(1, 2)}{row(3, 4)}</table>')}{row('foot', 'note')}</table>", 1),
        (f"<table>{row('menu', '<h2>News</h2><p>Text.</p>')}{row('foot', 'note')}</table>", 0),
        (f"<table>{row('menu', '<pre>x = 1</pre>')}{row('foot', 'note')}</table>", 0),
        (f"<table>{row('menu', '<p>a<p>b<p>c<p>d<p>e')}{row('foot', 'note')}</table>", 0),
        (f"<table role=presentation>{row('a', 'b')}{row('c', 'd')}</table>", 0),
        (f"<table>{row('a', 'b')}{row('c', 'd')}<caption>below</caption></table>", 0),
        (f"<table>{row('only', 'row')}</table>", 0),
        (f"<table>{row('only')}{row('column')}</table>", 0),
        (f"<table>{row(*range(MOST_COLUMNS + 1))}{row('x', 'y')}</table>", 0),
        ("<table><tr><td colspan=999999999>a<td rowspan=-5>b<tr><td rowspan=99999999999>c</table>", 0),
    ],
    ids=["nested", "heading", "code", "long", "presentation", "stray", "row", "column", "wide", "spans"],
)
def test_a_table_that_arranges_a_page_is_none_and_no_text_is_lost(html, inner):
    page = read(html)
    assert len(tables(as_markdown(page))) == inner
    assert letters(as_markdown(page)) == seen(page)


def test_a_table_is_whole_or_not_there():
    page = read(f"<p>Text.</p><table>{row('a', 'b')}{row('c', 'd')}</table>")
    first, *cells = page.paragraphs
    labelled = [msgspec.structs.replace(cell, boilerplate=number > 0) for number, cell in enumerate(cells)]
    assert tables(as_markdown(msgspec.structs.replace(page, paragraphs=(first, *labelled))))[0][1:] == [
        ["a", "b"],
        ["c", "d"],
    ]
    labelled = [msgspec.structs.replace(cell, boilerplate=True) for cell in cells]
    assert as_markdown(msgspec.structs.replace(page, paragraphs=(first, *labelled))) == "Text.\n"


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("See <a href='b.html'>this</a>.", [("this", "https://a.org/dir/b.html")]),
        ("<base href='https://b.org/'>See <a href='/c'>this</a>.", [("this", "https://b.org/c")]),
        ("In 2021, note <a href='/n'>1</a> of 1", [("1", "https://a.org/n")]),
        ("<a href='/x'>a</a> <a href='/y'>a</a>", [("a", "https://a.org/x"), ("a", "https://a.org/y")]),
        ("<a href='/w_(x)?q=\"&amp;copy;'>wiki</a>", [("wiki", "https://a.org/w_(x)?q=%22&copy;")]),
        ("<a href='/a b|c\\d'>odd</a>", [("odd", "https://a.org/a%20b%7Cc/d")]),
        ("<a href='/x'>[a] *b* `c` &lt;i&gt;</a>", [("[a] *b* `c` <i>", "https://a.org/x")]),
        ("<a href='/x'><b>bold</b> and <i>not</i></a>", [("bold and not", "https://a.org/x")]),
        ("<a href='/x'>  spaces \n here </a>after", [("spaces here", "https://a.org/x")]),
        ("<li>An <a href='/x'>item</a>", [("item", "https://a.org/x")]),
        ("<h2><a href='/x'>Heading</a></h2>", [("Heading", "https://a.org/x")]),
        ("<a href='/x'><p>First.</p><p>Second.</p></a>", [("First.", "https://a.org/x")]),
        ("<a href='/x'>1. not a list</a>", [("1. not a list", "https://a.org/x")]),
        ("Empty <a href='/x'></a>, <a href='/x'> </a> and <a href='/x'><img src=y.png alt=z></a>.", []),
        ("<a href='javascript:alert(1)'>js</a> <a href='mailto:a@b.c'>mail</a> <a href='#top'>up</a> <a>none</a>", []),
        ("<a href='data:text/html,x'>data</a> <a href='http://'>broken</a> <a href=''>self</a>", []),
        ("<a href='/x'>seen<span style='display:none'>hidden</span></a>", [("seen", "https://a.org/x")]),
        ("<a href='/x'>se<span style='display:none'>hidden</span>en</a>", []),
    ],
)
def test_links_are_absolute_and_others_are_text(html, found):
    page = read(f"<div>{html}</div>")
    text = as_markdown(page)
    assert links(text) == found
    assert letters(text) == seen(page)
    assert "hidden" not in text


def test_links_of_a_file_stay_as_they_are_written():
    url = Url.parse("http://localhost/home/me/page.html")
    text = rendered(
        "<p><a href='../b c.html'>one</a> <a href='https://b.org/'>two</a> <a href='javascript:x'>no</a></p>", url
    )
    assert links(text) == [("one", "../b%20c.html"), ("two", "https://b.org/")]


def test_a_cell_has_its_links():
    text = rendered(f"<table>{row('a|b', '<a href=/x|y>c|d</a>')}{row('e', 'f')}</table>")
    assert links(text) == [("c|d", "https://a.org/x%7Cy")]
    assert tables(text)[0][1][0] == "a|b"


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<pre>CODE</pre>", ""),
        ("<pre><code class='language-python'>CODE</code></pre>", "python"),
        ("<pre class='line-numbers lang-c++ x'><code>CODE</code></pre>", "c++"),
        ("<div class='highlight highlight-source-shell'><pre>CODE</pre></div>", "shell"),
        ("<div class='highlight-rust notranslate'><div class=highlight><pre>CODE</pre></div></div>", "rust"),
        ("<pre class='brush: java; toolbar: false'>CODE</pre>", "java"),
        ("<div class='highlight-default notranslate'><pre>CODE</pre></div>", ""),
        ("<pre class='language-`x` lang-<b>'>CODE</pre>", ""),
        ("<pre class='mylanguage-x'>CODE</pre>", ""),
    ],
)
def test_code_stands_in_a_fence_with_its_language(html, language):
    code = "def f(x):\n    return  x*2 # **not bold**\n\n\n- a | b"
    text = rendered(f"<p>So:</p>{html.replace('CODE', code)}<p>Done.</p>")
    assert fences(text) == [(language, code + "\n")]
    assert [tag for tag, _ in blocks(text)] == ["p", "p"]


@pytest.mark.parametrize("code", ["```", "a ```` b", "~~~", "    ```\n", "`", "```\n# x\n```", "|a|b|\n|-|-|"])
def test_ticks_in_code_do_not_end_it(code):
    text = rendered(f"<pre>x\n{escape(code)}\ny</pre><p>After.</p>")
    assert fences(text) == [("", f"x\n{code}\ny\n")]
    assert blocks(text) == [("p", "After.")]


def test_lines_of_code_in_elements_of_their_own_are_lines():
    html = "<pre><div>a = 1</div><div>  b = 2</div><span>c<br>d</span></pre>"
    assert fences(rendered(html)) == [("", "a = 1\n  b = 2\nc\nd\n")]


def test_what_no_reader_sees_is_not_in_a_fence():
    text = rendered("<pre>seen\x1b[31m\u202e<span hidden>unseen</span> here</pre>")
    assert "unseen" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "here" in text


WORDS = st.text(alphabet="ab1 .)(#-+=*_`~[]<>&;|\\\\!:'\"/éя中", min_size=1, max_size=12).filter(
    lambda text: text.strip()
)


@settings(max_examples=40)
@given(st.lists(st.lists(WORDS, min_size=2, max_size=3), min_size=2, max_size=3))
def test_any_cells_come_back_as_they_were(cells):
    page = read(f"<table>{''.join(row(*map(escape, line)) for line in cells)}</table>")
    texts = [[" ".join(cell.split()) for cell in line] for line in cells]
    width = max(map(len, texts))
    assert tables(as_markdown(page))[0][1:] == [line + [""] * (width - len(line)) for line in texts]


@settings(max_examples=40)
@given(WORDS, WORDS, WORDS)
def test_any_text_around_any_link_comes_back_as_it_was(before, inside, after):
    page = read(f"<p>{escape(before)}<a href='/x'>{escape(inside)}</a>{escape(after)}</p>")
    text = as_markdown(page)
    assert letters(text) == seen(page)
    assert [target for _, target in links(text)] == ["https://a.org/x"]


TREES = st.recursive(
    st.sampled_from(["one", "two `three`", "a|b", "<br>", "<img alt=x>", "[x]"]),
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag.split()[0]}>",
        st.sampled_from([*"div p table tr td th ul li pre code h2 span caption".split(), "a href=/x", "td colspan=2"]),
        st.lists(inner, max_size=3),
    ),
    max_leaves=15,
)


@settings(max_examples=40)
@given(TREES)
@example("<pre><pre>one</pre>two</pre>")
def test_whatever_the_markup_all_of_the_text_is_there_once(html):
    page = read(f"<body>{html}<p>End.")
    assert letters(as_markdown(page)) == seen(page)


def test_a_long_page_takes_no_longer_than_it_has_to():
    """Each of these would take minutes if a table or a paragraph were looked through for each of its parts."""
    column = f"<table>{''.join(row(n) for n in range(1500))}</table>"
    many = "<p>" + "".join(f"word <a href='/{n}'>{n}</a> " for n in range(1500)) + "</p>"
    assert len(links(rendered(column + many))) == 1500
