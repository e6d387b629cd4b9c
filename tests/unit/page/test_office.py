"""Office documents and e-books: what is read of them, and that a bomb costs one page."""

import io
import zipfile
from collections.abc import Mapping

import pytest

from bitrawl.crawl.bodies import SNIFFED, media_type
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


def zipped(files: Mapping[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content, zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def docx(body: str) -> bytes:
    r = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    styles = (
        f'<w:styles {W}><w:docDefaults><w:rPrDefault><w:rPr><w:lang w:val="fr-FR"/></w:rPr></w:rPrDefault></w:docDefaults>'
        '<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style></w:styles>'
    )
    relations = '<R xmlns="http://x"><Relationship Id="r1" Target="http://a.test/fr"/></R>'
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "word/document.xml": f"<w:document {W} {r}><w:body>{body}</w:body></w:document>",
            "word/styles.xml": styles,
            "word/_rels/document.xml.rels": relations,
            "docProps/core.xml": CORE,
        }
    )


DOCX_BODY = (
    '<w:p><w:pPr><w:pStyle w:val="berschrift1"/></w:pPr><w:r><w:t>The harbour</w:t></w:r></w:p>'
    "<w:p><w:r><w:t>It is </w:t></w:r><w:del><w:r><w:delText>very </w:delText></w:r></w:del><w:r><w:t>old.</w:t></w:r>"
    '<w:hyperlink r:id="r1"><w:r><w:t>French</w:t></w:r></w:hyperlink></w:p>'
    "<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>one</w:t><w:tab/><w:t>two</w:t></w:r></w:p>"
    "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>cell</w:t></w:r></w:p></w:tc></w:tr></w:tbl><w:p/>"
)
ODT_BODY = (
    '<o:document-content xmlns:o="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    ' xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
    ' xmlns:xlink="http://www.w3.org/1999/xlink"><o:body><o:text>'
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
FILES = {
    DOCX: docx(DOCX_BODY),
    ODT: zipped({"mimetype": ODT, "content.xml": ODT_BODY, "meta.xml": CORE}),
    EPUB: zipped(
        {
            "mimetype": EPUB,
            "META-INF/container.xml": '<c><rootfiles><rootfile full-path="O/p.opf"/></rootfiles></c>',
            "O/p.opf": OPF,
            "O/a.xhtml": "<html><body><h1>The harbour</h1><p>It is old.</p></body></html>",
            "O/b b.xhtml": "<html><body><p>The end.</p></body></html>",
        }
    ),
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
    with pytest.raises((UnreadableError, RecursionError)):
        office.read_odt(zipped({"content.xml": "<a>" * 100_000 + "</a>" * 100_000}))
