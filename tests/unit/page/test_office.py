"""Office documents and e-books: what is read of them, and that a bomb costs one page."""

import io
import zipfile
from collections.abc import Mapping

import pytest

from bitrawl.bodies import SNIFFED, media_type
from bitrawl.model import Capture, Page, ParagraphKind, Skip
from bitrawl.page import office
from bitrawl.page.analyser import page_reader
from bitrawl.page.document import UnreadableError, document_reader
from bitrawl.reasons import Reason
from bitrawl.url import Url

HEADING, TEXT, ITEM = ParagraphKind.HEADING, ParagraphKind.TEXT, ParagraphKind.LISTITEM
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
ODT, EPUB, RTF = "application/vnd.oasis.opendocument.text", "application/epub+zip", "application/rtf"
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
CORE = (
    '<p xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">'
    "<dc:title>Harbour</dc:title><dc:creator>Ann</dc:creator><dc:language>en-GB</dc:language>"
    "<dcterms:modified>2024-01-31T10:00:00Z</dcterms:modified></p>"
)


def zipped(files: Mapping[str, str], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content, zipfile.ZIP_STORED if name == "mimetype" else compression)
    return buffer.getvalue()


def docx(body: str, more_styles: str = "", **files: str) -> bytes:
    r = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    styles = (
        f'<w:styles {W}><w:docDefaults><w:rPrDefault><w:rPr><w:lang w:val="fr-FR"/></w:rPr></w:rPrDefault></w:docDefaults>'
        '<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
        f"{more_styles}</w:styles>"
    )
    relations = '<R xmlns="http://x"><Relationship Id="r1" Target="http://a.test/fr"/></R>'
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "word/document.xml": f"<w:document {W} {r}><w:body>{body}</w:body></w:document>",
            "word/styles.xml": styles,
            "word/_rels/document.xml.rels": relations,
            "docProps/core.xml": CORE,
            **files,
        }
    )


DOCX_BODY = (
    '<w:p><w:pPr><w:pStyle w:val="berschrift1"/></w:pPr><w:r><w:t>The harbour</w:t></w:r></w:p>'
    "<w:p><w:r><w:t>It is </w:t></w:r><w:del><w:r><w:delText>very </w:delText></w:r></w:del><w:r><w:t>old.</w:t></w:r>"
    '<w:hyperlink r:id="r1"><w:r><w:t>French</w:t></w:r></w:hyperlink></w:p>'
    "<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>one</w:t><w:tab/><w:t>two</w:t></w:r></w:p>"
    "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>cell</w:t></w:r></w:p></w:tc></w:tr></w:tbl><w:p/>"
)
ODF = (
    'xmlns:o="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
    ' xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:xlink="http://www.w3.org/1999/xlink"'
)
ODT_BODY = (
    f"<o:document-content {ODF}><o:body><o:text>"
    "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>"
    "<text:h>The harbour</text:h><text:p>It is<text:s/>old"
    "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A note.</text:p></text:note-body></text:note>"
    '. <text:a xlink:href="http://a.test/fr">French</text:a></text:p>'
    "<text:list><text:list-item><text:p>one</text:p></text:list-item></text:list>"
    "</o:text></o:body></o:document-content>"
)
OPF = (
    '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
    "<dc:title>Harbour</dc:title><dc:language>en</dc:language></metadata><manifest>"
    '<item id="b" href="b%20b.xhtml"/><item id="a" href="a.xhtml"/></manifest>'
    '<spine><itemref idref="a"/><itemref idref="b"/></spine></package>'
)
EPUB_FILES = {
    "mimetype": EPUB,
    "META-INF/container.xml": '<c><rootfiles><rootfile full-path="O/p.opf"/></rootfiles></c>',
    "O/p.opf": OPF,
    "O/a.xhtml": "<html><body><h1>The harbour</h1><p>It is old.</p></body></html>",
    "O/b b.xhtml": "<html><body><p>The end.</p></body></html>",
}
FILES = {
    DOCX: docx(DOCX_BODY),
    ODT: zipped({"mimetype": ODT, "content.xml": ODT_BODY, "meta.xml": CORE}),
    EPUB: zipped(EPUB_FILES),
    RTF: rb"{\rtf1\ansi{\fonttbl{\f0 Arial;}}\f0 The harbour\par It is caf\'e9 \u8364?.\par}",
}
BLOCKS = {
    DOCX: [("The harbour", HEADING), ("It is old.French", TEXT), ("one two", ITEM), ("cell", TEXT)],
    ODT: [("The harbour", HEADING), ("It is old. French", TEXT), ("A note.", TEXT), ("one", ITEM)],
    EPUB: [("The harbour", HEADING), ("It is old.", TEXT), ("The end.", TEXT)],
    RTF: [("The harbour", TEXT), ("It is café €.", TEXT)],
}


@pytest.mark.parametrize("kind", FILES)
def test_paragraphs_headings_and_items_are_read_in_order(kind: str):
    document = document_reader(kind)(FILES[kind])
    assert [(block.text, block.kind) for block in document.blocks] == BLOCKS[kind]


@pytest.mark.parametrize("kind", FILES)
def test_a_document_is_known_by_its_first_bytes_whatever_the_server_says(kind: str):
    assert media_type(FILES[kind][:SNIFFED], "application/octet-stream") == kind


def test_any_other_archive_is_a_zip_file():
    assert media_type(zipped({"a.txt": "a"}), "") == "application/zip"
    assert media_type(zipped({"[Content_Types].xml": "a", "xl/workbook.xml": "b"}), "") == "application/zip"


@pytest.mark.parametrize("kind", [DOCX, ODT])
def test_links_and_what_the_file_says_of_itself_are_read(kind: str):
    url = Url.parse("http://a.test/report")
    page = page_reader().read(Capture(url, 200, (), FILES[kind], at=0.0, media_type=kind))
    assert isinstance(page, Page)
    assert (page.title, page.metadata.author, page.metadata.date) == ("Harbour", "Ann", "2024-01-31")
    assert page.metadata.content_language == "en-GB"
    assert [(link.url, link.anchor) for link in page.links] == [("http://a.test/fr", "French")]


def read_texts(kind: str, body: bytes) -> list[str]:
    return [block.text for block in document_reader(kind)(body).blocks]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (rb"\u-10179?\u-8694?", "😊"),
        (rb"\uc0\u-10179\u-8694", "😊"),
        (rb"\uc1\u128522?", "😊"),
        (rb"\u-10179?", ""),
        (rb"\u-8694?\u-10179?", ""),
        (rb"\u1105\'b8", "ё"),
        (rb"\u1105\b ?", "ё"),
        (rb"\u8212\emdash", "—"),
        (rb"{\uc2 \u28207\'b8\'db}", "港"),
        (rb"\f1\'ec\'ee\'f0\'e5", "море"),
        (rb"\f2\'8d`", "港"),  # the second byte is a letter of ASCII
        (rb"\f3\'b8\'db\f0\'e9", "港é"),
        (rb"\f4\'c7\'e1", "ال"),
        (rb"\f9\'e9", "é"),
        (rb"\u1605?\zwnj\u1605?", "م\u200cم"),
        (rb"{\pict\bin4 }}}}}x", "x"),
    ],
)
def test_characters_of_an_rtf_file_are_read_as_word_writes_them(written: bytes, text: str):
    fonts = rb"{\fonttbl{\f0 A;}{\f1\fcharset204 B;}{\f2\fcharset128 C;}{\f3\fcharset134 D;}{\f4\fcharset178 E;}}"
    body = rb"{\rtf1\ansi\ansicpg1252\deff0" + fonts + rb"\f0 [" + written + rb"]\par}"
    assert read_texts(RTF, body) == [f"[{text}]"]


def test_a_character_without_a_fallback_ends_no_paragraph():
    assert read_texts(RTF, rb"{\rtf1 one\u1105\par two}") == ["oneё", "two"]


def test_an_unknown_encoding_of_an_rtf_file_costs_no_text():
    assert read_texts(RTF, rb"{\rtf1\ansicpg99999 caf\'e9}") == ["café"]


def test_hidden_deleted_and_moved_text_of_an_rtf_file_is_not_read():
    body = (
        rb"{\rtf1\ansi One{\v hidden} two\v  hidden\v0  three{\deleted deleted\par}{\mvf moved} four\v\plain  five"
        rb"{\v hidden {\b inside} \'41\u65?\emdash} six{\*\unknown {unseen}}{\xe index}.\par}{\v0 behind}"
    )
    assert read_texts(RTF, body) == ["One two three four five six."]


def test_an_address_behind_a_link_is_no_text_of_an_rtf_file():
    body = rb'{\rtf1 See {\field{\*\fldinst{HYPERLINK "http://a.test/"}}{\fldrslt{this page}}}.\cell next\row}'
    assert read_texts(RTF, body) == ["See this page.", "next"]


WORD_STYLES = (
    '<w:style w:type="character" w:styleId="Secret"><w:rPr><w:vanish/></w:rPr></w:style>'
    '<w:style w:type="character" w:styleId="Child"><w:basedOn w:val="Secret"/></w:style>'
    '<w:style w:type="character" w:styleId="Open"><w:basedOn w:val="Secret"/><w:rPr><w:vanish w:val="0"/></w:rPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="Aside"><w:rPr><w:vanish/></w:rPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="A"><w:basedOn w:val="B"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="B"><w:basedOn w:val="A"/></w:style>'
)


def word_run(text: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


def in_style(name: str) -> str:
    return f'<w:rStyle w:val="{name}"/>'


@pytest.mark.parametrize(
    ("runs", "style", "text"),
    [
        (word_run("港口") + word_run("藏", "<w:vanish/>"), "", "港口"),
        (word_run("seen", '<w:vanish w:val="false"/>') + word_run("x", '<w:vanish w:val="on"/>'), "", "seen"),
        (
            word_run("x", in_style("Secret")) + word_run("x", in_style("Child")) + "<w:r><w:t>ميناء</w:t></w:r>",
            "",
            "ميناء",
        ),
        (
            word_run("seen", in_style("Open")) + word_run("too", in_style("Secret") + '<w:vanish w:val="0"/>'),
            "",
            "seentoo",
        ),
        (word_run("x") + word_run("seen", '<w:vanish w:val="0"/>'), "Aside", "seen"),
        (word_run("seen", in_style("Secret")) + word_run("x", in_style("Open")), "Aside", "seen"),
        (word_run("seen"), "A", "seen"),
        (f"<w:del>{word_run('x')}</w:del><w:ins>{word_run('new')}</w:ins>", "", "new"),
        (f"<w:moveFrom>{word_run('x')}</w:moveFrom><w:moveTo>{word_run('here')}</w:moveTo>", "", "here"),
        (word_run("seen", "<w:rPrChange><w:rPr><w:vanish/></w:rPr></w:rPrChange>"), "", "seen"),
    ],
)
def test_hidden_and_deleted_text_of_a_docx_file_is_not_read(runs: str, style: str, text: str):
    body = f'<w:p><w:pPr><w:pStyle w:val="{style}"/><w:rPr><w:vanish/></w:rPr></w:pPr>{runs}</w:p>'
    assert read_texts(DOCX, docx(f"{body}<w:p>{word_run('end')}</w:p>", WORD_STYLES)) == [text, "end"]


def test_a_paragraph_without_a_style_has_the_default_one():
    style = '<w:style w:type="paragraph" w:default="1" w:styleId="N"><w:rPr><w:vanish/></w:rPr></w:style>'
    shown = '<w:vanish w:val="0"/>'
    assert read_texts(DOCX, docx(f"<w:p>{word_run('x')}{word_run('seen', shown)}</w:p>", style)) == ["seen"]


def text_box(text: str, tag: str) -> str:
    return f"<{tag}><w:txbxContent><w:p>{word_run(text)}</w:p></w:txbxContent></{tag}>"


def alternatives(choice: str, fallback: str) -> str:
    mc = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    choice, fallback = f'<mc:Choice Requires="wps">{choice}</mc:Choice>', f"<mc:Fallback>{fallback}</mc:Fallback>"
    return f"<mc:AlternateContent {mc}>{choice}{fallback}</mc:AlternateContent>"


def test_a_text_box_is_read_once_and_not_where_its_anchor_is_hidden_or_deleted():
    box = alternatives(text_box("box", "w:drawing"), text_box("box", "w:pict"))
    hidden = f"<w:r><w:rPr><w:vanish/></w:rPr>{box}</w:r><w:del><w:r>{box}</w:r></w:del>"
    body = f"<w:p>{word_run('seen')}<w:r>{box}</w:r></w:p><w:p>{hidden}{word_run('end')}</w:p>"
    row = f"<w:tbl><w:tr><w:trPr><w:del/></w:trPr><w:tc><w:p>{word_run('x')}</w:p></w:tc></w:tr></w:tbl>"
    assert read_texts(DOCX, docx(body + row)) == ["seen", "box", "end"]


def test_an_emoji_that_older_programs_get_as_text_is_read():
    emoji = alternatives('<w:sym w:char="1F600"/>', "<w:t>😀</w:t>")
    assert read_texts(DOCX, docx(f"<w:p><w:r><w:t>Hi </w:t>{emoji}</w:r></w:p>")) == ["Hi 😀"]


def odt(body: str, styles: str = "", **files: str) -> bytes:
    automatic = f"<o:automatic-styles>{styles}</o:automatic-styles>"
    content = f"<o:document-content {ODF}>{automatic}<o:body><o:text>{body}</o:text></o:body></o:document-content>"
    return zipped({"mimetype": ODT, "content.xml": content, **files})


def odf_style(name: str, family: str, parent: str = "", display: str = "") -> str:
    properties = f'<style:text-properties text:display="{display}"/>' if display else ""
    attributes = f'style:name="{name}" style:family="{family}" style:parent-style-name="{parent}"'
    return f"<style:style {attributes}>{properties}</style:style>"


def test_hidden_and_deleted_text_of_an_odt_file_is_not_read():
    common = f"<o:s {ODF}><o:styles>{odf_style('Secret', 'text', '', 'none')}</o:styles></o:s>"
    styles = (
        odf_style("T1", "text", "Secret")
        + odf_style("T2", "text", "Secret", "true")
        + odf_style("P1", "paragraph", "", "none")
    )
    body = (
        '<text:p>Seen<text:span text:style-name="T1"> x<text:s/>x</text:span>, 港口'
        '<text:span text:style-name="T2"> too</text:span><text:change-start text:change-id="1"/>.</text:p>'
        '<text:p text:style-name="P1">x<text:span text:style-name="T2">Shown</text:span>x</text:p>'
        '<text:section text:display="none"><text:p>x</text:p></text:section>'
        '<text:section text:display="condition" text:is-hidden="true"><text:h>x</text:h></text:section>'
        '<text:p>x<text:hidden-paragraph text:is-hidden="true"/></text:p>'
        '<text:p>A<text:hidden-text text:is-hidden="true">x</text:hidden-text><text:script>x</text:script> b.</text:p>'
        '<text:tracked-changes><text:changed-region><text:deletion><text:p>x <text:a xlink:href="http://a.test/x">x</text:a>'
        "</text:p></text:deletion></text:changed-region></text:tracked-changes>"
        "<text:p>Note<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>ميناء</text:p>"
        "</text:note-body></text:note> end</text:p>"
    )
    body_with_styles = odt(body, styles, **{"styles.xml": common})
    assert read_texts(ODT, body_with_styles) == ["Seen, 港口 too.", "Shown", "A b.", "Note end", "ميناء"]
    assert document_reader(ODT)(body_with_styles).links == ()


def test_a_broken_part_costs_only_that_part_and_is_recorded():
    broken = {"word/styles.xml": "<w:styles>", "docProps/core.xml": "<a"}
    document = document_reader(DOCX)(docx(DOCX_BODY, **broken))
    assert [block.text for block in document.blocks] == [text for text, _ in BLOCKS[DOCX]]
    assert document.cut == "word/styles.xml: its XML is broken; docProps/core.xml: its XML is broken"
    assert document_reader(ODT)(odt("<text:p>Seen</text:p>", **{"meta.xml": "<", "styles.xml": "x"})).cut == (
        "styles.xml: its XML is broken; meta.xml: its XML is broken"
    )


def test_a_broken_chapter_costs_only_that_chapter():
    chapter = b"<html><body><p>The end.</p></body></html>"
    whole = zipped(EPUB_FILES, zipfile.ZIP_STORED)
    assert chapter in whole
    url = Url.parse("http://a.test/book")
    page = page_reader().read(
        Capture(url, 200, (), whole.replace(chapter, chapter[:-1] + b"?"), at=0.0, media_type=EPUB)
    )
    assert isinstance(page, Page)
    assert [paragraph.text for paragraph in page.paragraphs] == ["The harbour", "It is old."]
    assert page.cut == "O/b b.xhtml: it is damaged, or protected by a password"


def test_what_nests_absurdly_deep_is_left_out():
    deep = "<text:section>" * 5000 + "<text:p>deep</text:p>" + "</text:section>" * 5000
    assert read_texts(ODT, odt(f"<text:p>Seen</text:p>{deep}<text:p>end</text:p>")) == ["Seen", "end"]


def bomb() -> bytes:
    return zipped({"mimetype": ODT, "content.xml": "<a>" + " " * (office.MAX_MEMBER + 1) + "</a>"})


HOSTILE = {
    "bomb": (bomb, Reason.BOMB),
    "entities": (lambda: zipped({"content.xml": '<!DOCTYPE a [<!ENTITY b "bb">]><a>&b;</a>'}), Reason.BOMB),
    "many files": (lambda: zipped({f"{n}": "" for n in range(office.MAX_MEMBERS + 1)}), Reason.BOMB),
    "no archive": (lambda: b"PK\x03\x04" + b"\0" * 100, Reason.UNREADABLE),
    "cut": (lambda: FILES[ODT][:-30], Reason.UNREADABLE),
    "no content": (lambda: zipped({"a": "b"}), Reason.UNREADABLE),
    "broken": (lambda: zipped({"content.xml": "<a><b></a>"}), Reason.UNREADABLE),
    "no text": (lambda: zipped({"content.xml": "<a/>"}), Reason.NO_TEXT_LAYER),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_document_is_one_skip(name: str):
    made, reason = HOSTILE[name]
    url = Url.parse("http://a.test/report")
    skip = page_reader().read(Capture(url, 200, (), made(), at=0.0, media_type=ODT))
    assert isinstance(skip, Skip)
    assert skip.reason is reason


def test_a_document_that_nests_deeply_does_not_end_the_reader():
    with pytest.raises(UnreadableError):
        office.read_odt(zipped({"content.xml": "<a>" * 100_000 + "</a>" * 100_000}))
