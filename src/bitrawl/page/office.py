"""Office documents and e-books as paragraphs: DOCX and ODT (zipped XML), EPUB (zipped web pages) and RTF."""

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from urllib.parse import unquote
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from selectolax.lexbor import LexborHTMLParser
from striprtf.striprtf import rtf_to_text

from bitrawl.model import ParagraphKind
from bitrawl.page.decode import decode, shallow
from bitrawl.page.document import DocumentBlock, DocumentLink, DocumentText, UnreadableError
from bitrawl.page.outline import normalise, outline
from bitrawl.reasons import Reason

MAX_MEMBER = 50 * 1024 * 1024  # bytes of one file in an archive, unpacked
MAX_UNPACKED = 100 * 1024 * 1024  # bytes of all that is read of one document
MAX_MEMBERS = 5000
MAX_CHAPTERS = 1000  # of an e-book: the rest is left out

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_TEXT, _TABLE = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}", "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_FO, _XLINK = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}", "{http://www.w3.org/1999/xlink}href"
_DC, _OPF = "{http://purl.org/dc/elements/1.1/}", "{http://www.idpf.org/2007/opf}"
_HEADING_STYLE = re.compile(r"^(?:heading|title)\b", re.IGNORECASE)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_BROKEN = (zipfile.BadZipFile, zlib.error, KeyError, NotImplementedError, RuntimeError, EOFError, OSError)


def read_docx(body: bytes) -> DocumentText:
    archive = _Archive(body)
    document = archive.tree("word/document.xml")
    if document is None:
        raise UnreadableError(Reason.UNREADABLE, "it has no text in the place of a DOCX file")
    styles, relations = archive.tree("word/styles.xml"), archive.tree("word/_rels/document.xml.rels")
    headings = {
        str(style.get(f"{_WORD}styleId"))
        for style in (styles if styles is not None else ())
        if _HEADING_STYLE.match(_attribute(style, f"{_WORD}name", f"{_WORD}val"))
        or style.find(f"{_WORD}pPr/{_WORD}outlineLvl") is not None
    }
    targets = {str(each.get("Id")): str(each.get("Target")) for each in (relations if relations is not None else ())}
    blocks = [_word_block(paragraph, headings) for paragraph in document.iter(f"{_WORD}p")]
    links = [
        DocumentLink(targets.get(str(link.get(_RELATION)), ""), normalise(_word_text(link)))
        for link in document.iter(f"{_WORD}hyperlink")
    ]
    language = _attribute(styles, f"{_WORD}docDefaults//{_WORD}lang", f"{_WORD}val") if styles is not None else ""
    return _described(archive.tree("docProps/core.xml"), blocks, links, language)


def read_odt(body: bytes) -> DocumentText:
    archive = _Archive(body)
    content = archive.tree("content.xml")
    if content is None:
        raise UnreadableError(Reason.UNREADABLE, "it has no text in the place of an ODT file")
    text = content.find(f"{_OFFICE}body/{_OFFICE}text")
    blocks: list[DocumentBlock] = []
    for element, in_list in _odf_paragraphs(text if text is not None else content, in_list=False):
        line = normalise(_odf_text(element))
        kind = ParagraphKind.LISTITEM if in_list else ParagraphKind.TEXT
        blocks.append(DocumentBlock(line, ParagraphKind.HEADING if element.tag == f"{_TEXT}h" else kind))
    links = [DocumentLink(str(link.get(_XLINK, "")), normalise(_odf_text(link))) for link in content.iter(f"{_TEXT}a")]
    styles = archive.tree("styles.xml")
    language = next(
        (code for each in (styles.iter() if styles is not None else ()) if (code := each.get(f"{_FO}language"))), ""
    )
    return _described(archive.tree("meta.xml"), blocks, links, language)


def read_epub(body: bytes) -> DocumentText:
    """The chapters in the order of the spine. Their menus and notes are text too: an e-book has no template."""
    archive = _Archive(body)
    container = archive.tree("META-INF/container.xml")
    root = (
        next((str(each.get("full-path")) for each in container.iter() if each.get("full-path")), "")
        if container is not None
        else ""
    )
    package = archive.tree(root) if root else None
    if package is None:
        raise UnreadableError(Reason.UNREADABLE, "it has no list of its chapters")
    files = {str(item.get("id")): str(item.get("href")) for item in package.iter(f"{_OPF}item")}
    chapters = [
        files[str(ref.get("idref"))] for ref in package.iter(f"{_OPF}itemref") if str(ref.get("idref")) in files
    ]
    blocks: list[DocumentBlock] = []
    for name in chapters[:MAX_CHAPTERS]:
        content = archive.read(posixpath.normpath(posixpath.join(posixpath.dirname(root), unquote(name))))
        if content is not None:
            tree = LexborHTMLParser(shallow(decode(content, "").text))
            blocks += [DocumentBlock(block.text, block.kind) for block in outline(tree).blocks]
    left_out = len(chapters) - MAX_CHAPTERS
    cut = f"{left_out:,} chapters after the first {MAX_CHAPTERS:,}" if left_out > 0 else ""
    return _described(package, blocks, [], "")._replace(cut=cut)


def read_rtf(body: bytes) -> DocumentText:
    text: str = rtf_to_text(body.decode("latin-1"), errors="ignore")  # type: ignore[no-untyped-call]
    return _described(None, [DocumentBlock(normalise(line)) for line in text.splitlines()], [], "")


class _Archive:
    """A zip file from the web: what it says about its sizes is not believed."""

    def __init__(self, body: bytes) -> None:
        self._left = MAX_UNPACKED
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(body))
            members = len(self._zip.infolist())
        except (*_BROKEN, ValueError) as error:
            raise UnreadableError(Reason.UNREADABLE, "it is damaged") from error
        if members > MAX_MEMBERS:
            raise UnreadableError(Reason.BOMB, f"it has {members:,} files")

    def read(self, name: str) -> bytes | None:
        """None if it has no such file."""
        try:
            with self._zip.open(name) as file:
                content = file.read(min(MAX_MEMBER, self._left) + 1)
        except KeyError:
            return None
        except (*_BROKEN, ValueError) as error:
            raise UnreadableError(Reason.UNREADABLE, "it is damaged, or protected by a password") from error
        self._left -= len(content)
        if len(content) > MAX_MEMBER or self._left < 0:
            raise UnreadableError(Reason.BOMB, f"more than {MAX_MEMBER >> 20} MB when unpacked")
        return content

    def tree(self, name: str) -> Element | None:
        """None if it has no such file."""
        content = self.read(name)
        if content is None:
            return None
        builder = TreeBuilder()
        parser = expat.ParserCreate(namespace_separator="}")
        parser.buffer_text = True
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.EntityDeclHandler = _refuse_entity
        parser.StartElementHandler = lambda tag, values: builder.start(
            _named(tag), {_named(name): value for name, value in values.items()}
        )
        parser.EndElementHandler = lambda tag: builder.end(_named(tag))
        parser.CharacterDataHandler = builder.data
        try:
            parser.Parse(content, True)
            return builder.close()
        except (expat.ExpatError, AssertionError, LookupError, ValueError) as error:
            raise UnreadableError(Reason.UNREADABLE, "its XML is broken") from error


def _named(name: str) -> str:
    """A name with its namespace, as ElementTree writes it."""
    return "{" + name if "}" in name else name


def _refuse_entity(*_: object) -> None:
    raise UnreadableError(Reason.BOMB, "it declares entities")


def _attribute(element: Element, path: str, name: str) -> str:
    child = element.find(path)
    return str(child.get(name, "")) if child is not None else ""


def _word_block(paragraph: Element, headings: set[str]) -> DocumentBlock:
    properties = paragraph.find(f"{_WORD}pPr")
    kind = ParagraphKind.TEXT
    if properties is not None:
        if _attribute(properties, f"{_WORD}pStyle", f"{_WORD}val") in headings:
            kind = ParagraphKind.HEADING
        elif properties.find(f"{_WORD}numPr") is not None:
            kind = ParagraphKind.LISTITEM
    return DocumentBlock(normalise(_word_text(paragraph)), kind)


def _word_text(element: Element) -> str:
    """What was deleted, and the codes of fields, are no text; a paragraph within it (a text box) stands for itself."""
    parts: list[str] = []
    for child in element:
        if child.tag == f"{_WORD}t":
            parts.append(child.text or "")
        elif child.tag in (f"{_WORD}tab", f"{_WORD}br", f"{_WORD}cr"):
            parts.append(" ")
        elif child.tag == f"{_WORD}noBreakHyphen":
            parts.append("-")
        elif child.tag not in (f"{_WORD}p", f"{_WORD}del", f"{_WORD}moveFrom"):
            parts.append(_word_text(child))
    return "".join(parts)


_ODF_UNSEEN = frozenset((f"{_TEXT}tracked-changes", f"{_OFFICE}annotation", f"{_OFFICE}forms", f"{_TEXT}note-citation"))


def _odf_paragraphs(element: Element, *, in_list: bool) -> Iterator[tuple[Element, bool]]:
    """Headings and paragraphs in the order of the text, and whether each is in a list."""
    for child in element:
        if child.tag in (f"{_TEXT}p", f"{_TEXT}h"):
            yield child, in_list
            for note in child.iter(f"{_TEXT}note-body"):
                yield from _odf_paragraphs(note, in_list=False)
        elif child.tag not in _ODF_UNSEEN:
            yield from _odf_paragraphs(child, in_list=in_list or child.tag == f"{_TEXT}list-item")


def _odf_text(element: Element) -> str:
    parts = [element.text or ""]
    for child in element:
        if child.tag == f"{_TEXT}s" or child.tag in (f"{_TEXT}tab", f"{_TEXT}line-break"):
            parts.append(" ")
        elif child.tag not in _ODF_UNSEEN and child.tag != f"{_TEXT}note":
            parts.append(_odf_text(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _described(
    about: Element | None, blocks: list[DocumentBlock], links: list[DocumentLink], language: str
) -> DocumentText:
    """With what the document says about itself in Dublin Core, which all of these formats use."""
    texts = tuple(block for block in blocks if block.text)
    if not texts:
        raise UnreadableError(Reason.NO_TEXT_LAYER, "it has no text")
    values = {each.tag: normalise(each.text or "") for each in (about.iter() if about is not None else ())}
    modified = next((value for tag, value in values.items() if tag.endswith("}modified")), "") or values.get(
        f"{_DC}date", ""
    )
    day = _DAY.match(modified)
    return DocumentText(
        texts,
        tuple(link for link in links if link.address),
        values.get(f"{_DC}title", ""),
        values.get(f"{_DC}creator", ""),
        values.get(f"{_DC}language", "") or language,
        day[0] if day else "",
    )
