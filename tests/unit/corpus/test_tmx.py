"""TMX by the rules of its DTD, checked without a TMX library."""

import xml.etree.ElementTree as ET

from bitrawl.corpus import CorpusHeader
from bitrawl.corpus.tmx import tmx
from bitrawl.model import Language, Segment, SegmentPair, TranslationUnit, UnitSource
from bitrawl.url import Url

HEAD = CorpusHeader((Language("en"), Language("zh-Hant")), at=1_800_000_000.0)
LANG = "{http://www.w3.org/XML/1998/namespace}lang"
# tmx14.dtd: children in order, and the attributes that are required.
CHILDREN = {
    "tmx": "header body",
    "body": "tu*",
    "header": "prop*",
    "tu": "prop* tuv*",
    "tuv": "prop* seg",
    "prop": "",
    "seg": "",
}
REQUIRED = {
    "tmx": {"version"},
    "header": {"creationtool", "creationtoolversion", "segtype", "o-tmf", "adminlang", "srclang", "datatype"},
    "tuv": {LANG},
    "prop": {"type"},
}


def unit(*sources: tuple[str, int, str, int]) -> TranslationUnit:
    places = tuple(UnitSource(Url.known(a), Url.known(b), pa, pb) for a, pa, b, pb in sources)
    first = places[0]
    pair = SegmentPair(
        first.url_a,
        first.url_b,
        Segment("Tea & cake"),
        Segment("茶和蛋糕"),
        0.87654,
        "1:2",
        {"length_ratio": 0.83333},
        ("url", "equal TUVs"),
    )
    return TranslationUnit(pair, places)


def written(tmp_path, *units: TranslationUnit) -> ET.Element:
    with tmx(tmp_path, HEAD) as write:
        for one in units:
            write(one)
    return ET.fromstring((tmp_path / "en-zh-Hant.tmx").read_bytes())


def valid(element: ET.Element) -> bool:
    left = [child.tag for child in element]
    for wanted in CHILDREN[element.tag].split():
        name, many = wanted.rstrip("*"), wanted.endswith("*")
        if not many and left[:1] != [name]:
            return False
        taken = next((i for i, tag in enumerate(left) if tag != name), len(left)) if many else 1
        left = left[taken:]
    return not left and set(element.keys()) >= REQUIRED.get(element.tag, set()) and all(map(valid, element))


def props(element: ET.Element) -> list[tuple[str, str]]:
    return [(prop.get("type"), prop.text) for prop in element.findall("prop")]


def test_it_is_valid_by_the_dtd(tmp_path):
    root = written(
        tmp_path,
        unit(("https://a.org/en", 0, "https://a.org/zh", 1)),
        unit(("https://a.org/2", -1, "https://a.org/3", -1)),
    )
    assert valid(root)
    assert (root.get("version"), [tu.get("tuid") for tu in root.iter("tu")]) == ("1.4", ["1", "2"])


def test_the_header_says_what_cat_tools_ask_for(tmp_path):
    header = written(tmp_path).find("header")
    wanted = {
        "srclang": "en",
        "adminlang": "en",
        "segtype": "sentence",
        "datatype": "plaintext",
        "creationdate": "20270115T080000Z",
    }
    assert {name: header.get(name) for name in wanted} == wanted


def test_a_unit_has_its_measures_as_properties(tmp_path):
    tu = written(tmp_path, unit(("https://a.org/en", 0, "https://a.org/zh", 1))).find("body/tu")
    assert props(tu) == [
        ("score", "0.8765"),
        ("type", "1:2"),
        ("length_ratio", "0.8333"),
        ("flags", "url | equal TUVs"),
    ]
    assert [(tuv.get(LANG), tuv.findtext("seg")) for tuv in tu.findall("tuv")] == [
        ("en", "Tea & cake"),
        ("zh-Hant", "茶和蛋糕"),
    ]


def test_each_url_is_one_source_document_with_its_paragraphs(tmp_path):
    merged = unit(
        ("https://a.org/en", 0, "https://a.org/zh", 1),
        ("https://a.org/en", 4, "https://a.org/zh", 1),
        ("https://a.org/en2", -1, "https://a.org/zh2", 2),
    )
    first, second = written(tmp_path, merged).iter("tuv")
    assert props(first) == [
        ("source-document", "https://a.org/en"),
        ("paragraph-id", "p1 p5"),
        ("source-document", "https://a.org/en2"),
    ]
    assert props(second) == [
        ("source-document", "https://a.org/zh"),
        ("paragraph-id", "p2"),
        ("source-document", "https://a.org/zh2"),
        ("paragraph-id", "p3"),
    ]
