"""PDFs as pages: what is read, what is left out, and what a broken file costs."""

import pytest
from pdf_files import Words, paragraph, pdf

from bitrawl.model import Capture, LinkKind, Page, ParagraphKind, Skip
from bitrawl.page.analyser import page_reader
from bitrawl.page.document import UnreadableError
from bitrawl.page.pdf import read_pdf
from bitrawl.reasons import Reason
from bitrawl.url import Url

FULL = "The committee met in the morning and spoke about the harbour and its old"
HEADING, TEXT, ITEM, TITLE = ParagraphKind.HEADING, ParagraphKind.TEXT, ParagraphKind.LISTITEM, ParagraphKind.TITLE


def texts(body: bytes) -> list[str]:
    return [block.text for block in read_pdf(body).blocks if not block.is_boilerplate]


def kinds(body: bytes) -> list[tuple[str, ParagraphKind]]:
    return [(block.text, block.kind) for block in read_pdf(body).blocks if not block.is_boilerplate]


def test_lines_become_paragraphs_and_larger_ones_headings():
    page = [
        Words("The harbour", y=760, size=18, font="F2"),
        *paragraph([FULL, "lighthouse, which was built long ago."], y=720),
        *paragraph(["Nobody knows the names of those who built it."], y=660),
    ]
    body = pdf([page], about={"Title": "The harbour", "Author": "Ann"})
    assert kinds(body) == [
        ("The harbour", TITLE),
        (f"{FULL} lighthouse, which was built long ago.", TEXT),
        ("Nobody knows the names of those who built it.", TEXT),
    ]


def test_a_word_that_a_line_end_cuts_is_whole_again_and_a_compound_keeps_its_hyphen():
    lines = ["The well-known committee spoke about the light-", "house and about its well-", "known keeper."]
    assert texts(pdf([paragraph(lines)])) == [
        "The well-known committee spoke about the lighthouse and about its well-known keeper."
    ]


def test_columns_are_read_one_after_the_other():
    left = [f"Left column line {n} goes on and on here" for n in range(8)]
    right = [f"Right column line {n} goes on and on too" for n in range(8)]
    [whole] = [" ".join(texts(pdf([[*paragraph(left, x=50), *paragraph(right, x=320)]])))]
    assert whole.index("Left column line 7") < whole.index("Right column line 0")


def test_what_stands_at_the_edge_of_several_pages_is_boilerplate():
    def sheet(number: int) -> list[Words]:
        text = paragraph([f"This is the text of sheet number {number}, and of no other."])
        return [Words("Annual report", y=815), *text, Words(f"{number} / 4", x=290, y=25)]

    blocks = read_pdf(pdf([sheet(number) for number in range(1, 5)])).blocks
    assert {block.text for block in blocks if block.is_boilerplate} == {
        "Annual report",
        *(f"{number} / 4" for number in range(1, 5)),
    }
    assert sum(not block.is_boilerplate for block in blocks) == 4


def test_a_running_head_that_names_its_section_is_boilerplate_and_cuts_no_sentence():
    names = ["The harbour", "The lighthouse", "The keeper", "The storm"]
    ends = ["lighthouse, which was built long ago."] * 3 + ["bridge."]
    sheets = [
        [Words(name, y=815), *paragraph([end, f"Sheet {number} has this line. {FULL}"], y=740)]
        for number, (name, end) in enumerate(zip(names, ends, strict=True))
    ]
    blocks = read_pdf(pdf(sheets)).blocks
    assert [block.text for block in blocks if block.is_boilerplate] == names
    assert f"Sheet 0 has this line. {FULL} lighthouse, which" in " ".join(texts(pdf(sheets)))


def test_a_table_of_contents_is_boilerplate_also_with_page_numbers_on_lines_of_their_own():
    lines = ["11.1 Paper sizes . . . . . . . . . . . 47", "47", "11.2 Printers . . . . . . . . . . . . 48"]
    assert texts(pdf([[*paragraph(lines, y=700), *paragraph([f"{FULL} bridge."], y=400)]])) == [f"{FULL} bridge."]


def test_a_paragraph_goes_on_after_a_page_break():
    first = [*paragraph([FULL], y=80), Words("1", x=290, y=25)]
    second = [*paragraph(["lighthouse, which was built long ago."], y=760), Words("2", x=290, y=25)]
    assert texts(pdf([first, second])) == [f"{FULL} lighthouse, which was built long ago."]


def test_items_of_a_list_lose_their_marks():
    lines = ["• the first thing", "• the second thing"]
    assert kinds(pdf([paragraph(lines)])) == [("the first thing", ITEM), ("the second thing", ITEM)]


def test_chinese_lines_are_joined_without_spaces():
    page = [Words("这是第一行文字", y=700, font="F3"), Words("还有第二行文字。", y=688, font="F3")]
    assert texts(pdf([page])) == ["这是第一行文字还有第二行文字。"]


def test_a_table_of_contents_is_boilerplate():
    entries = [f"Chapter {number} . . . . . . . . . . . . . {number}" for number in range(1, 6)]
    body = pdf([paragraph(entries), paragraph(["The first chapter tells of the harbour."])])
    assert texts(body) == ["The first chapter tells of the harbour."]


@pytest.mark.parametrize("body", [b"%PDF-1.7\n", b"%PDF-1.7\n" + b"\0" * 5000, pdf([paragraph(["Text."])])[:300]])
def test_a_damaged_file_is_unreadable(body: bytes):
    with pytest.raises(UnreadableError) as raised:
        read_pdf(body)
    assert raised.value.reason is Reason.UNREADABLE


def test_pages_without_text_have_no_text_layer():
    with pytest.raises(UnreadableError) as raised:
        read_pdf(pdf([[], []]))
    assert raised.value.reason is Reason.NO_TEXT_LAYER


def test_a_pdf_is_a_page_with_language_links_and_metadata():
    link = Words("the French version", y=640)
    english = [FULL, "lighthouse, which was built long ago by people of whom we know little."]
    body = pdf(
        [[*paragraph(english), link]],
        about={"Title": "The harbour", "Author": "Ann", "ModDate": "D:20240131120000"},
        language="en-GB",
        links=[("rapport.fr.pdf", link), ("mailto:ann@a.test", link)],
    )
    url = Url.parse("http://a.test/docs/report.pdf")
    page = page_reader().read(Capture(url, 200, (), body, at=0.0, media_type="application/pdf"))
    assert isinstance(page, Page)
    assert (page.title, page.language, page.metadata.author, page.metadata.date) == (
        "The harbour",
        "en",
        "Ann",
        "2024-01-31",
    )
    links = [(link.url, link.kind, link.anchor) for link in page.links]
    assert links == [("http://a.test/docs/rapport.fr.pdf", LinkKind.PAGE, "the French version")]
    assert page.tags == ("p", "#text", "p", "#text")
    assert len(page.fingerprint) == 2


def test_a_pdf_without_text_is_a_skip():
    url = Url.parse("http://a.test/scan.pdf")
    skip = page_reader().read(Capture(url, 200, (), pdf([[]]), at=0.0, media_type="application/pdf"))
    assert isinstance(skip, Skip)
    assert skip.reason is Reason.NO_TEXT_LAYER
