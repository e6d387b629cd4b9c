"""Inputs that once broke something; README.md tells what each of them did."""

import re
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from bitrawl import config
from bitrawl.bodies import SNIFFED, media_type
from bitrawl.crawling.robots import RobotsRecord, RobotsRules
from bitrawl.discover.backlinks import read_wat
from bitrawl.errors import ConfigError
from bitrawl.job.topics import segment_texts
from bitrawl.mining.aligned_pages import SiteAligner
from bitrawl.mining.judging import Judge
from bitrawl.model import UNDETERMINED, Capture, Language, Page, Segment, SegmentPair
from bitrawl.page.analyser import page_reader
from bitrawl.page.outline import outline
from bitrawl.text.personal_data import personal_data
from bitrawl.text.words import words
from bitrawl.url import Url

MUSEUM = Path(__file__).parent
EN, EL = Language("en"), Language("el")


class Undecided:
    def identify(self, texts, *, prior=None):
        return [(UNDETERMINED, 0.0) for _ in texts]


def test_every_input_is_explained_and_read_by_a_test_that_exists():
    inputs = {path.name for path in MUSEUM.iterdir() if path.is_file()} - {"README.md", Path(__file__).name}
    rows = re.findall(r"^\| `(.+?)` \| .+ \| `(.+?)` \|$", (MUSEUM / "README.md").read_text("utf-8"), re.MULTILINE)
    assert {name for name, _ in rows} == inputs
    assert all(test in globals() for _, test in rows)


def test_a_word_that_is_all_ending_is_still_a_word():
    text = (MUSEUM / "greek-word-without-stem.txt").read_text("utf-8").strip()
    assert {"έωσ", "όταν"} <= set(words(text, EL))  # casefolded, so with a medial sigma
    assert all(words(text, EL))
    pair = SegmentPair(
        Url.parse("https://a.gr/en"),
        Url.parse("https://a.gr/el"),
        Segment("The museum stays open until eight when it does not rain."),
        Segment(text),
        0.9,
    )
    (judged,) = Judge((EN, EL), Undecided()).judge([pair])
    assert judged.scores["words_b"] == 10


def read(name: str) -> Page:
    url = Url.parse(f"https://museum.test/{name}")
    page = page_reader().read(Capture(url, 200, (("content-type", "text/html"),), (MUSEUM / name).read_bytes(), 0.0))
    assert isinstance(page, Page)
    return page


def test_a_list_of_languages_has_no_language():
    assert read("list-of-languages.html").language == UNDETERMINED


def test_big5_that_claims_to_be_gb2312_is_read():
    page = read("big5-that-claims-gb2312.html")
    assert (page.title, page.charset) == ("世界人權宣言", "big5hkscs")


def test_a_page_without_sentence_ends_is_many_segments():
    page = read("page-without-sentence-ends.html")
    (found,) = SiteAligner((EN, EN)).align([(page, page)])
    lines = [one.a.text for one in found]
    assert "Monday 9:00 to 10:00 beginners of group 1 meet in room 109 beside the library" in lines
    assert max(map(len, lines)) < 200


def test_a_compressed_tmx_that_is_cut_off_is_refused():
    with pytest.raises(ConfigError, match="is damaged"):
        list(segment_texts(MUSEUM / "tmx-that-is-cut-off.tmx.gz", (EN, Language("fr"))))


def test_a_wat_record_that_is_no_utf_8_is_left_out():
    assert list(read_wat(MUSEUM / "wat-record-that-is-no-utf-8.wat")) == []


def test_an_odd_job_file_is_refused_or_read():
    for name in ("job-file-with-a-number-of-5000-digits.toml", "job-file-nested-3000-deep.toml"):
        with pytest.raises(ConfigError, match="is not TOML"):
            config.read(MUSEUM / name)
    job = config.resolve(config.read(MUSEUM / "job-file-with-a-model-name-of-5000-letters.toml"))
    assert job.encoder == "x" * 5000


def test_what_the_page_itself_hides_is_not_read():
    texts = [paragraph.text for paragraph in read("text-that-no-reader-sees.html").paragraphs]
    assert not [text for text in texts if "inline-" in text or "element-" in text or "attribute-" in text]
    assert [text for text in texts if text.startswith("Seen paragraph")] == [
        text for text in texts[1:] if text != "More"
    ]
    assert sum(text.startswith("Seen paragraph") for text in texts) == 14


def test_characters_that_nobody_sees_are_removed_and_those_that_scripts_need_stay():
    assert [paragraph.text for paragraph in read("characters-that-nobody-sees.html").paragraphs] == [
        "The boats come in with the tide.",
        "The file is called gnp.exe today.",
        "A zerowidth run in a word.",
        "A smile 😀 that carries letters.",
        "می\u200cخواهم کتاب بخوانم.",
        "क्\u200dष और 👩\u200d💻 तथा ❤\ufe0f\u200d🔥",
        "השפה C++\u200e היא ישנה.",
    ]


def test_a_record_between_two_agents_does_not_end_their_group():
    body = (MUSEUM / "robots-with-a-crawl-delay-between-two-agents.txt").read_bytes()
    rules = RobotsRules(RobotsRecord("https://museum.test", 200, body, 0.0))
    assert not rules.allow(Url.parse("https://museum.test/archive/1"))
    assert (rules.allow(Url.parse("https://museum.test/")), rules.delay) == (True, 20.0)


def test_a_div_that_a_noscript_opens_hides_nothing():
    assert [paragraph.text for paragraph in read("noscript-that-opens-a-div.html").paragraphs] == [
        "The boats come in with the tide.",
        "The market begins when the first boat is in.",
        "魚市場は最初の船が着くと始まります。",
    ]


def test_segments_that_react_streamed_are_read_in_their_places():
    assert [paragraph.text for paragraph in read("segments-that-react-streamed.html").paragraphs] == [
        "Harbour",
        "The boats come in with the tide.",
        "漁船は潮とともに戻る。",
        "A lamp is lit at the end of the pier.",
        "القوارب تعود مع المد",
        "The market begins when the first boat is in.",
    ]


def test_segments_that_solid_and_marko_streamed_are_read_in_their_places():
    assert [paragraph.text for paragraph in read("segments-that-solid-and-marko-streamed.html").paragraphs] == [
        "Harbour",
        "The boats come in with the tide.",
        "漁船は潮とともに戻る。",
        "القوارب تعود مع المد",
        "Loading fish",  # its segment never came
        "A lamp is lit at the end of the pier.",
        "The market begins when the first boat is in.",
    ]


def test_text_in_a_shadow_root_is_read_and_its_slots_are_filled():
    assert [paragraph.text for paragraph in read("text-in-a-shadow-root.html").paragraphs] == [
        "The harbour",
        "The boats come in with the tide.",
        "漁船は潮とともに戻る。",
        "Free for all",
        "A lamp is lit on the pier.",
    ]


def test_what_a_browser_computed_says_what_is_hidden_in_a_page_that_it_drew():
    drawn = outline(LexborHTMLParser((MUSEUM / "page-whose-scripts-make-styles.html").read_bytes()), drawn=True)
    assert [block.text for block in drawn.blocks] == [
        "Harbour",
        "The boats come in with the tide.",
        "القائمة تفتح تحت المؤشر",
        "漁船は潮とともに戻る。",
    ]


def test_a_number_of_an_unknown_county_is_no_personal_data():
    assert personal_data((MUSEUM / "number-of-an-unknown-county.txt").read_text("utf-8")) == []


def read_document(name: str) -> Page:
    """By its first bytes, as what a server gives no type."""
    body = (MUSEUM / name).read_bytes()
    kind = media_type(body[:SNIFFED], "")
    page = page_reader().read(Capture(Url.parse(f"https://museum.test/{name}"), 200, (), body, 0.0, media_type=kind))
    assert isinstance(page, Page)
    return page


def texts(page: Page) -> list[str]:
    return [paragraph.text for paragraph in page.paragraphs]


def test_an_emoji_in_an_rtf_file_is_one_character():
    assert texts(read_document("emoji-as-word-writes-it.rtf")) == [
        "The boats come in 😊 with the tide.",
        "Half of one is none.",
    ]


@pytest.mark.parametrize("ending", ["rtf", "docx", "odt"])
def test_hidden_and_deleted_text_of_a_document_is_not_read(ending: str):
    assert texts(read_document(f"text-that-is-hidden-or-deleted.{ending}")) == ["The boats come in with the tide."]


def test_a_text_box_is_read_once():
    assert texts(read_document("text-box-that-is-written-twice.docx")) == ["The boats come in.", "The market begins."]


@pytest.mark.parametrize("what", ["a-page-that-cannot-be-loaded", "letters-of-a-negative-size"])
def test_a_broken_page_of_a_pdf_costs_only_itself(what: str):
    page = read_document(f"pdf-with-{what}.pdf")
    assert texts(page) == ["This is sheet 1.", "This is sheet 3."]
    assert page.cut


def test_half_a_character_in_a_title_costs_no_text():
    page = read_document("title-that-is-half-a-character.pdf")
    assert (page.title, texts(page)) == ("", ["This is sheet 1."])
