import xml.etree.ElementTree as ET

import msgspec
import pytest

from bitrawl.corpus import CorpusHeader
from bitrawl.corpus.xces import alignment_name, crawl_info, document_name, xces
from bitrawl.model import Language, Metadata, Method, Page, PagePair, Paragraph, ParagraphKind, Relevance
from bitrawl.url import Url

HEAD = CorpusHeader((Language("en"), Language("sr")), at=1_800_000_000.0)
NS = {"c": "http://www.xces.org/schema/2003"}
LANG = "{http://www.w3.org/XML/1998/namespace}lang"
EN = Url.parse("https://www.example.org/en/../../etc/passwd")
SR = Url.parse("https://www.example.org/sr")
PAGE = Page(
    EN,
    Language("en"),
    title="Acid rain",
    metadata=Metadata(
        keywords="rain, acid ,", author="Ana", date="2024-03-05", licence="https://creativecommons.org/licenses/by/4.0/"
    ),
    paragraphs=(
        Paragraph("Home | About", boilerplate=True),
        Paragraph("Acid rain and what it does", ParagraphKind.TITLE, language=Language("en")),
        Paragraph("Read more", ParagraphKind.LISTITEM),
        Paragraph("La pluie acide est une pluie.", language=Language("fr")),
        Paragraph("Acid rain is rain that is acid.", terms=("acid rain", "rain"), language=Language("en")),
    ),
)


def written(tmp_path, item: Page | PagePair) -> ET.Element:
    with xces(tmp_path, HEAD) as write:
        write(item)
    (path,) = (tmp_path / "xces/en-sr").iterdir()
    return ET.fromstring(path.read_bytes())


def test_paragraphs_carry_what_ilsp_fc_says_of_them(tmp_path):
    root = written(tmp_path, PAGE)
    assert [p.attrib for p in root.iterfind("c:text/c:body/c:p", NS)] == [
        {"id": "p1", "crawlinfo": "boilerplate"},
        {"id": "p2", "type": "title"},
        {"id": "p3", "crawlinfo": "ooi-length", "type": "listitem"},
        {"id": "p4", "crawlinfo": "ooi-lang"},
        {"id": "p5", "topic": "acid rain;rain"},
    ]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("fileDesc/titleStmt/title", "Acid rain"),
        ("fileDesc/titleStmt/respStmt/resp/type", "Crawling and normalization"),
        ("fileDesc/publicationStmt/pubDate", "2027-01-15"),
        ("fileDesc/sourceDesc/biblStruct/monogr/author", "Ana"),
        ("fileDesc/sourceDesc/biblStruct/monogr/imprint/eAddress", EN),
        ("fileDesc/sourceDesc/biblStruct/monogr/imprint/pubDate", "2024-03-05"),
        ("fileDesc/sourceDesc/biblStruct/monogr/imprint/publisher", "www.example.org"),
        (
            "fileDesc/sourceDesc/biblStruct/monogr/imprint/availability/license/@target",
            "https://creativecommons.org/licenses/by/4.0/",
        ),
        ("fileDesc/sourceDesc/biblStruct/monogr/imprint/availability/@status", "free"),
        ("profileDesc/langUsage/language/@iso639", "en"),
        ("profileDesc/textClass/keywords/keyTerm", "rain"),
    ],
)
def test_the_header_has_its_facts_where_xces_has_them(tmp_path, path, expected):
    path, _, attribute = path.partition("/@")
    element = written(tmp_path, PAGE).find("c:cesHeader/" + "/".join(f"c:{name}" for name in path.split("/")), NS)
    assert (element.get(attribute) if attribute else element.text) == expected


def test_a_pair_names_the_files_of_its_pages(tmp_path):
    serbian = Page(SR, Language("sr-Latn"), paragraphs=(Paragraph("Kisela kiša je kisela."),))
    pair = PagePair(EN, SR, Language("en"), Language("sr"), 0.9, {"h": 0.8, "u": 0.9})
    with xces(tmp_path, HEAD) as write:
        for item in (pair, PAGE, serbian):
            write(item)
    folder = tmp_path / "xces/en-sr"
    root = ET.fromstring((folder / alignment_name(pair, HEAD)).read_bytes())
    sides = list(root.iterfind("c:cesHeader/c:profileDesc/c:translations/c:translation", NS))
    assert [(side.get("n"), side.get(LANG), side.get("wsd")) for side in sides] == [
        ("1", "en", "UTF-8"),
        ("2", "sr", "UTF-8"),
    ]
    assert all((folder / side.get("trans.loc")).exists() for side in sides)


@pytest.mark.parametrize(
    ("evidence", "letter"),
    [
        ({"a": 1.0, "u": 1.0}, "a"),
        ({"h": 0.5, "d": 0.5}, "d"),
        ({"c": 0.9}, "c"),
        ({"a": 0.0, "l": 0.1}, "l"),
        ({}, "x"),
    ],
)
def test_the_name_of_a_pair_ends_with_its_most_reliable_method(evidence, letter):
    name = alignment_name(PagePair(EN, SR, Language("en"), Language("sr"), 0.9, evidence), HEAD)
    assert name.endswith(f"_{letter}.xml")


def test_every_method_has_its_place_in_the_order():
    assert "".join(Method) == "aupdihmlctrb"


def test_nothing_of_a_url_gets_into_a_file_name():
    name = document_name(EN, Language("en"), HEAD)
    assert name.startswith("en-")
    assert set(name.removeprefix("en-").removesuffix(".xml")) <= set("0123456789abcdef")


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [("短い", "ja", "ooi-length"), ("これは長い日本語の段落です。", "ja", ""), ("यह हिन्दी का वाक्य है", "hi", "")],
)
def test_length_is_counted_in_any_script(text, language, expected):
    assert crawl_info(Paragraph(text), Page(EN, Language(language))) == expected


def test_a_relevant_page_names_its_classes(tmp_path):
    relevance = Relevance(0.75, relevant=True, classes=("pollution", "weather & climate"))
    text_class = written(tmp_path, msgspec.structs.replace(PAGE, relevance=relevance)).find(".//c:textClass", NS)
    assert text_class.find("c:domain", NS).attrib == {"confidence": "0.7500"}
    assert text_class.findtext("c:domain", namespaces=NS) == "pollution"
    assert text_class.findtext("c:subdomain", namespaces=NS) == "pollution;weather & climate"


@pytest.mark.parametrize("relevance", [None, Relevance(0.1, relevant=False, classes=("pollution",))])
def test_any_other_page_names_none(tmp_path, relevance):
    text_class = written(tmp_path, msgspec.structs.replace(PAGE, relevance=relevance)).find(".//c:textClass", NS)
    assert text_class.find("c:domain", NS).attrib == {}
    assert not text_class.findtext("c:subdomain", namespaces=NS)
