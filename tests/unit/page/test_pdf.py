"""PDFs as pages: what is read, what is left out, and what a broken file costs."""

import pytest
from pdf_files import Words, paragraph, pdf

from bitrawl.model import Capture, LinkKind, Page, ParagraphKind, Skip
from bitrawl.page.analyser import page_reader
from bitrawl.page.document import UnreadableError
from bitrawl.page.outline import normalise
from bitrawl.page.pdf import read_pdf
from bitrawl.page.pdf_lines import place_accents
from bitrawl.reasons import Reason
from bitrawl.url import Url

NAMES = ["anchor", "bridge", "captain", "dock", "engine", "ferry", "gull", "harbour"]
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


def test_an_entry_of_the_contents_may_take_two_lines():
    dots = " . . . . . . . . . . . "
    lines = [f"Chapter one{dots}1", "What is the difference between the old harbour", f"and the new one?{dots}2"]
    lines += [f"Chapter three{dots}3", f"Chapter four{dots}4"]
    assert texts(pdf([[*paragraph(lines, y=700), *paragraph([f"{FULL} bridge."], y=400)]])) == [f"{FULL} bridge."]


def test_a_table_of_contents_without_dots_is_boilerplate():
    rows = [
        (Words(f"The {name}", y=700 - 14 * n), Words(str(3 * n + 1), x=500, y=700 - 14 * n))
        for n, name in enumerate(NAMES)
    ]
    body = pdf([[words for row in rows for words in row], paragraph([f"{FULL} bridge."])])
    assert texts(body) == [f"{FULL} bridge."]


def test_an_index_is_boilerplate():
    entries = [f"{name}, {number}, {number + 7}" for number, name in enumerate(2 * NAMES)]
    assert texts(pdf([paragraph([f"{FULL} bridge."]), paragraph(entries)])) == [f"{FULL} bridge."]


def test_a_term_and_its_definition_are_two_paragraphs():
    def definition(y: float, term: str, width: float) -> list[Words]:
        rest = Words("is what guides ships into the harbour, on all days of the year and in each", x=72 + width, y=y)
        return [Words(term, y=y, font="F2"), rest, Words("of its nights.", x=97, y=y - 12)]

    rest = "is what guides ships into the harbour, on all days of the year and in each of its nights."
    page = [*definition(700, "Lighthouse", 55), *definition(660, "Foghorn", 45)]
    assert texts(pdf([page])) == ["Lighthouse", rest, "Foghorn", rest]


def test_lines_of_code_are_one_paragraph():
    lines = ["for ship in harbour:", "    if ship.sails:", "        count += 1", "", "print(count)"]
    code = [
        Words(line.lstrip(), x=72 + 6 * (len(line) - len(line.lstrip())), y=660 - 12 * n, font="F4")
        for n, line in enumerate(lines)
    ]
    page = [
        *paragraph([FULL, "lighthouse, and counted the ships:"], y=700),
        *code,
        *paragraph(["There were four."], y=560),
    ]
    assert texts(pdf([page])) == [
        f"{FULL} lighthouse, and counted the ships:",
        "for ship in harbour: if ship.sails: count += 1 print(count)",
        "There were four.",
    ]


def test_footnotes_come_after_their_chapter_and_leave_no_numbers_in_the_text():
    def sheet(number: int, lines: list[str], note: str) -> list[Words]:
        mark = Words(str(number), x=236, y=704, size=6)
        foot = [Words(str(number), x=80, y=103, size=5), *paragraph([note], x=84, y=100, size=7)]
        return [*paragraph(lines[:1], y=700), mark, *paragraph(lines[1:], y=688), *foot]

    first = sheet(1, ["The harbour and its tower are very old", FULL], "Built in 1790 by hands of whom we know little.")
    second = sheet(2, ["lighthouse, which was built long ago.", "It still stands."], "It was painted twice.")
    chapters = [Words("The town", y=760, size=18, font="F2"), *paragraph(["The town is young."], y=700)]
    heading = Words("The harbour", y=760, size=18, font="F2")
    assert texts(pdf([[heading, *first], second, chapters])) == [
        "The harbour",
        "The harbour and its tower are very old",
        f"{FULL} lighthouse, which was built long ago.",
        "It still stands.",
        "Built in 1790 by hands of whom we know little.",
        "It was painted twice.",
        "The town",
        "The town is young.",
    ]


def test_the_number_of_a_chapter_belongs_to_its_title():
    page = [Words("Chapter 3", y=760, size=18, font="F2"), Words("The harbour", y=730, size=22, font="F2")]
    body = pdf([[*page, *paragraph([FULL, "bridge, and about its keeper."], y=690)]])
    assert kinds(body)[0] == ("Chapter 3 The harbour", HEADING)


def test_a_line_that_runs_over_the_edge_of_the_page_is_read_to_its_end():
    words = "The file is /usr/share/harbour/lighthouse/keepers/of/all/the/years/that/we/know/of/and/names.txt"
    assert texts(pdf([[Words(words, x=250)]])) == [words]


def test_what_stands_beside_the_page_is_not_read():
    assert texts(pdf([[*paragraph([f"{FULL} bridge."]), Words("printed on Monday", x=620)]])) == [f"{FULL} bridge."]


def test_a_line_that_leaves_room_for_the_next_word_ends_its_paragraph():
    lines = [
        FULL,
        "bridge, and about its keeper",
        "Nobody knows who built the lighthouse or the mole, nor who paid for them",
    ]
    assert texts(pdf([paragraph(lines)])) == [f"{lines[0]} {lines[1]}", lines[2]]


def test_the_cells_of_a_table_are_paragraphs():
    rows = [
        ("Ship", "Captain of the ship"),
        ("Anna", "the oldest of all captains"),
        ("Berta", "a young man of the town"),
    ]
    cells = [
        Words(text, x=x, y=700 - 12 * n) for n, row in enumerate(rows) for x, text in zip((72, 250), row, strict=True)
    ]
    assert set(texts(pdf([cells]))) == {cell for row in rows for cell in row}


def test_a_hyphen_between_two_words_of_the_document_stays():
    lines = ["The harbour has architecture of its own, and specific needs: architecture-", "specific plans were made."]
    assert texts(pdf([paragraph(lines)])) == [
        "The harbour has architecture of its own, and specific needs: architecture-specific plans were made."
    ]


@pytest.mark.parametrize(("place", "text"), [(26.0, "the `old’ town"), (15.5, "thè \xa0old’ town")])
def test_an_accent_that_was_drawn_on_its_own_goes_where_it_stands(place: float, text: str):
    letters = [(letter, 5.0 * n) for n, letter in enumerate("the \xa0old’ town")]
    chars = [_char(letter, left, 5.0) for letter, left in [*letters, ("\u0300", place)]]
    spans = [{"chars": chars, "text": ""}]
    place_accents(spans)
    assert normalise(spans[0]["text"]) == normalise(text)


def _char(letter: str, left: float, width: float) -> dict[str, object]:
    return {"c": letter, "bbox": (left, 0.0, left + width, 10.0), "origin": (left, 8.0)}


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


SHEETS = [paragraph([f"This is sheet {number}."]) for number in (1, 2, 3)]


def test_a_page_that_cannot_be_loaded_costs_only_that_page_and_is_recorded():
    page, odd = b"/Type /Page /Parent", b"/Type /Odd! /Parent"
    document = read_pdf(pdf(SHEETS).replace(page, odd, 2).replace(odd, page, 1))
    assert [block.text for block in document.blocks] == ["This is sheet 1.", "This is sheet 3."]
    assert document.cut == "pages that cannot be read: 1"


def test_a_document_of_which_no_page_can_be_loaded_is_unreadable():
    with pytest.raises(UnreadableError, match="none of its pages can be read"):
        read_pdf(pdf(SHEETS).replace(b"/Type /Page /Parent", b"/Type /Odd! /Parent"))


def test_letters_of_a_negative_size_cost_their_lines():
    page = [Words("This line stands.", y=700), Words("Odd", y=500, size=-10)]
    document = read_pdf(pdf([SHEETS[0], page]))
    assert [block.text for block in document.blocks] == ["This is sheet 1.", "This line stands."]
    assert document.cut.startswith("lines whose letters have no size: ")


def test_half_a_character_in_a_title_costs_the_title():
    body = pdf(SHEETS[:1], about={"Title": "XY", "Author": "Ann"}).replace(b"<FEFF00580059>", b"<FEFFD83D0059>")
    document = read_pdf(body)
    assert (document.title, document.author) == ("", "Ann")
    assert [block.text for block in document.blocks] == ["This is sheet 1."]
