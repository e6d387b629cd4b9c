"""Markdown as a renderer that is not ours reads it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bitrawl.corpus.plain_text import escaped, markdown
from bitrawl.model import Page, Paragraph, ParagraphKind
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
    text = markdown(
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
    assert markdown(page((ParagraphKind.TEXT, "Open."), title="Museum *")) == "# Museum \\*\n\nOpen.\n"


def test_boilerplate_is_left_out_and_a_page_without_text_is_empty():
    menu = Paragraph("Menu", boilerplate=True)
    assert markdown(Page(URL, paragraphs=(menu, Paragraph(" "), Paragraph("Text.")))) == "Text.\n"
    assert markdown(Page(URL, paragraphs=(menu,))) == ""


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
    (found,) = blocks(markdown(page((kind, text))))
    tag = {ParagraphKind.TITLE: "h1", ParagraphKind.HEADING: "h2", ParagraphKind.LISTITEM: "li"}.get(kind, "p")
    assert found == (tag, one_line(text))


def test_a_name_with_underscores_is_left_alone():
    assert escaped("snake_case") == "snake_case"


@given(st.text(alphabet="ab1 .)(#-+=*_`~[]<>&;|\\!:'\"/éя中", min_size=1, max_size=30).filter(one_line))
def test_any_text_comes_back_as_it_was(text):
    assert blocks(markdown(page((ParagraphKind.TEXT, text)))) == [("p", one_line(text))]
