"""Office documents and e-books as paragraphs: DOCX and ODT (zipped XML), EPUB (zipped web pages) and RTF."""

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol
from urllib.parse import unquote
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from selectolax.lexbor import LexborHTMLParser

from bitrawl.files import xml_parser
from bitrawl.model import ParagraphKind
from bitrawl.page.decode import decode, shallow
from bitrawl.page.document import DocumentBlock, DocumentLink, DocumentText, UnreadableError
from bitrawl.page.outline import normalise, outline
from bitrawl.reasons import Reason

MAX_MEMBER = 50 * 1024 * 1024  # bytes of one file in an archive, unpacked
MAX_UNPACKED = 100 * 1024 * 1024  # bytes of all that is read of one document
MAX_MEMBERS = 5000
MAX_CHAPTERS = 1000  # of an e-book: the rest is left out
MAX_DEPTH = 200  # of elements; tables within tables have about ten for each

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_ALTERNATIVES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_TEXT, _TABLE = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}", "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_STYLE, _SVG = (
    "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}",
    "{urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0}",
)
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
    styles, relations = archive.part("word/styles.xml"), archive.part("word/_rels/document.xml.rels")
    _drop_unseen(document, _hidden_in_word(styles))
    headings = {
        str(style.get(f"{_WORD}styleId"))
        for style in _each(styles, f"{_WORD}style")
        if _HEADING_STYLE.match(_attribute(style, f"{_WORD}name", f"{_WORD}val"))
        or style.find(f"{_WORD}pPr/{_WORD}outlineLvl") is not None
    }
    targets = {str(each.get("Id")): str(each.get("Target")) for each in _each(relations) if each.get("Id")}
    blocks = [_word_block(paragraph, headings) for paragraph in document.iter(f"{_WORD}p")]
    links = [
        DocumentLink(targets.get(str(link.get(_RELATION)), ""), normalise(_word_text(link)))
        for link in document.iter(f"{_WORD}hyperlink")
    ]
    language = _attribute(styles, f"{_WORD}docDefaults//{_WORD}lang", f"{_WORD}val") if styles is not None else ""
    return _described(archive.part("docProps/core.xml"), blocks, links, language, archive.lost)


def read_odt(body: bytes) -> DocumentText:
    archive = _Archive(body)
    content = archive.tree("content.xml")
    if content is None:
        raise UnreadableError(Reason.UNREADABLE, "it has no text in the place of an ODT file")
    styles = archive.part("styles.xml")
    _drop_unseen(content, _hidden_in_odf(styles, content))
    text = content.find(f"{_OFFICE}body/{_OFFICE}text")
    blocks: list[DocumentBlock] = []
    for element, in_list in _odf_paragraphs(text if text is not None else content, in_list=False):
        line = normalise(_odf_text(element))
        kind = ParagraphKind.LISTITEM if in_list else ParagraphKind.TEXT
        blocks.append(DocumentBlock(line, ParagraphKind.HEADING if element.tag == f"{_TEXT}h" else kind))
    links = [DocumentLink(str(link.get(_XLINK, "")), normalise(_odf_text(link))) for link in content.iter(f"{_TEXT}a")]
    language = next((code for each in _each(styles) if (code := each.get(f"{_FO}language"))), "")
    return _described(archive.part("meta.xml"), blocks, links, language, archive.lost)


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
        content = archive.read_part(posixpath.normpath(posixpath.join(posixpath.dirname(root), unquote(name))))
        if content is not None:
            tree = LexborHTMLParser(shallow(decode(content, "").text))
            blocks += [DocumentBlock(block.text, block.kind) for block in outline(tree).blocks]
    left_out = len(chapters) - MAX_CHAPTERS
    cut = [f"{left_out:,} chapters after the first {MAX_CHAPTERS:,}"] if left_out > 0 else []
    return _described(package, blocks, [], lost=[*cut, *archive.lost])


def read_rtf(body: bytes) -> DocumentText:
    return _described(None, [DocumentBlock(normalise(line)) for line in rtf_text(body).splitlines()], [])


class _Archive:
    """A zip file from the web: what it says about its sizes is not believed."""

    def __init__(self, body: bytes) -> None:
        self._left = MAX_UNPACKED
        self.lost: list[str] = []  # the files that could not be read
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

    def read_part(self, name: str) -> bytes | None:
        """None if it has no such file, or if that file is broken: then the others are read."""
        try:
            return self.read(name)
        except UnreadableError as error:
            self._lose(name, error)
            return None

    def part(self, name: str) -> Element | None:
        """None if it has no such file, or if that file is broken: then the others are read."""
        try:
            return self.tree(name)
        except UnreadableError as error:
            self._lose(name, error)
            return None

    def _lose(self, name: str, error: UnreadableError) -> None:
        if error.reason is Reason.BOMB:
            raise error
        self.lost.append(f"{name[:100]}: {error}")

    def tree(self, name: str) -> Element | None:
        """None if it has no such file."""
        content = self.read(name)
        if content is None:
            return None
        builder = TreeBuilder()
        parser = xml_parser(
            lambda tag, values: builder.start(_named(tag), {_named(name): value for name, value in values.items()}),
            lambda tag: builder.end(_named(tag)),
            builder.data,
            refuse=_refuse_entity,
            separator="}",
        )
        try:
            parser.Parse(content, True)
            return builder.close()
        except (expat.ExpatError, AssertionError, LookupError, ValueError) as error:
            raise UnreadableError(Reason.UNREADABLE, "its XML is broken") from error


def _named(name: str) -> str:
    """A name with its namespace, as ElementTree writes it."""
    return "{" + name if "}" in name else name


def _refuse_entity() -> None:
    raise UnreadableError(Reason.BOMB, "it declares entities")


def _attribute(element: Element, path: str, name: str) -> str:
    child = element.find(path)
    return str(child.get(name, "")) if child is not None else ""


def _each(tree: Element | None, tag: str | None = None) -> Iterator[Element]:
    return tree.iter(tag) if tree is not None else iter(())


class _Hides(Protocol):
    def __call__(self, element: Element, *, around: bool) -> bool | None:
        """Whether the text of an element is hidden, given whether that around it is; None if all is that the element has."""
        ...


def _drop_unseen(root: Element, hides: _Hides) -> None:
    """Take out the text that no reader sees, and what nests too deep."""
    waiting: list[tuple[Element, bool, int]] = [(root, False, 0)]
    while waiting:
        element, is_hidden, depth = waiting.pop()
        here = hides(element, around=is_hidden) if depth < MAX_DEPTH else None
        if here is None:
            del element[:]
        elif element.tag == _ALTERNATIVES:  # the same text for newer and for older programs
            element[:] = [each for each in element if any(text.text for text in each.iter(f"{_WORD}t"))][:1]
        if here is not False:
            element.text = None
            element[:] = [child for child in element if child.text or len(child)]  # spaces are elements without text
            for child in element:
                child.tail = None
        waiting += ((child, here is True, depth + 1) for child in element)


def _hidden_in_word(styles: Element | None) -> _Hides:
    own: dict[str, tuple[bool | None, str]] = {}
    default = ""
    for style in _each(styles, f"{_WORD}style"):
        name = str(style.get(f"{_WORD}styleId"))
        own[name] = _vanishes(style), _attribute(style, f"{_WORD}basedOn", f"{_WORD}val")
        if style.get(f"{_WORD}type") == "paragraph" and style.get(f"{_WORD}default") in _TRUE:
            default = name
    by_style = _inherited(own)

    def hides(element: Element, *, around: bool) -> bool | None:
        is_row = element.tag == f"{_WORD}tr"
        if element.tag in _WORD_UNSEEN or (is_row and element.find(f"{_WORD}trPr/{_WORD}del") is not None):
            return None
        if element.tag == f"{_WORD}p":
            return by_style.get(_attribute(element, f"{_WORD}pPr/{_WORD}pStyle", f"{_WORD}val") or default) is True
        if element.tag != f"{_WORD}r":
            return around
        vanishes = _vanishes(element)
        if vanishes is None:  # the styles of paragraph and characters cancel each other: ISO 29500, 17.7.3
            style = _attribute(element, f"{_WORD}rPr/{_WORD}rStyle", f"{_WORD}val")
            vanishes = around is not (by_style.get(style) is True)
        return None if vanishes else False

    return hides


_TRUE = ("1", "true", "on", "")
_WORD_UNSEEN = (f"{_WORD}del", f"{_WORD}moveFrom")


def _vanishes(element: Element) -> bool | None:
    """None if a run or a style does not say whether its text is hidden."""
    vanish = element.find(f"{_WORD}rPr/{_WORD}vanish")
    return None if vanish is None else vanish.get(f"{_WORD}val", "") in _TRUE


def _hidden_in_odf(styles: Element | None, content: Element) -> _Hides:
    named = styles.find(f"{_OFFICE}styles") if styles is not None else None  # others are of headers and footers
    own: dict[str, tuple[bool | None, str]] = {}
    for style in (*_each(named, f"{_STYLE}style"), *content.iter(f"{_STYLE}style")):
        family, shown = style.get(f"{_STYLE}family"), _attribute(style, f"{_STYLE}text-properties", f"{_TEXT}display")
        parent = f"{family} {style.get(f'{_STYLE}parent-style-name')}"
        own[f"{family} {style.get(f'{_STYLE}name')}"] = {"none": True, "true": False}.get(shown), parent
    by_style = _inherited(own)

    def hides(element: Element, *, around: bool) -> bool | None:
        fields = element.iter(f"{_TEXT}hidden-paragraph") if element.tag in _ODF_PARAGRAPHS else ()
        if (
            element.tag in _ODF_UNSEEN
            or element.get(f"{_TEXT}display") == "none"
            or any(each.get(f"{_TEXT}is-hidden") == "true" for each in (element, *fields))
        ):
            return None
        family = "paragraph" if element.tag in _ODF_PARAGRAPHS else "text"
        by_own = by_style.get(f"{family} {element.get(f'{_TEXT}style-name')}")
        return around if by_own is None else by_own

    return hides


_ODF_PARAGRAPHS = (f"{_TEXT}p", f"{_TEXT}h")
_ODF_UNSEEN = frozenset(
    (f"{_TEXT}tracked-changes", f"{_TEXT}note-citation", f"{_TEXT}script", f"{_OFFICE}annotation", f"{_OFFICE}forms")
) | {f"{_SVG}title", f"{_SVG}desc"}


def _inherited(own: Mapping[str, tuple[bool | None, str]]) -> dict[str, bool | None]:
    """By style, what it or the nearest one that it is based on says; `own` has what each says, and on which it is based."""
    hidden: dict[str, bool | None] = {}
    for first in own:
        name, chain = first, list[str]()
        while name in own and name not in hidden:
            hidden[name], parent = own[name]
            if hidden[name] is not None:
                break
            chain.append(name)
            name = parent
        hidden.update(dict.fromkeys(chain, hidden.get(name)))
    return hidden


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
    """The codes of fields are no text; a paragraph within it (a text box) stands for itself."""
    parts: list[str] = []
    for child in element:
        if child.tag == f"{_WORD}t":
            parts.append(child.text or "")
        elif child.tag in (f"{_WORD}tab", f"{_WORD}br", f"{_WORD}cr"):
            parts.append(" ")
        elif child.tag == f"{_WORD}noBreakHyphen":
            parts.append("-")
        elif child.tag != f"{_WORD}p":
            parts.append(_word_text(child))
    return "".join(parts)


def _odf_paragraphs(element: Element, *, in_list: bool) -> Iterator[tuple[Element, bool]]:
    """Headings and paragraphs in the order of the text, and whether each is in a list."""
    for child in element:
        if child.tag in _ODF_PARAGRAPHS:
            yield child, in_list
            for note in child.iter(f"{_TEXT}note-body"):
                yield from _odf_paragraphs(note, in_list=False)
        else:
            yield from _odf_paragraphs(child, in_list=in_list or child.tag == f"{_TEXT}list-item")


def _odf_text(element: Element) -> str:
    parts = [element.text or ""]
    for child in element:
        if child.tag == f"{_TEXT}s" or child.tag in (f"{_TEXT}tab", f"{_TEXT}line-break"):
            parts.append(" ")
        elif child.tag != f"{_TEXT}note":
            parts.append(_odf_text(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _described(
    about: Element | None,
    blocks: list[DocumentBlock],
    links: list[DocumentLink],
    language: str = "",
    lost: Sequence[str] = (),
) -> DocumentText:
    """With what the document says about itself in Dublin Core, which all of these formats use."""
    texts = tuple(block for block in blocks if block.text)
    if not texts:
        raise UnreadableError(Reason.NO_TEXT_LAYER, "it has no text")
    values = {each.tag: normalise(each.text or "") for each in _each(about)}
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
        "; ".join(lost),
    )


_TOKEN = re.compile(
    rb"\\(?P<word>[A-Za-z]{1,32})(?P<number>-?\d{1,10})? ?|\\'(?P<byte>[0-9A-Fa-f]{2})|\\(?P<sign>[^A-Za-z])"
    rb"|(?P<brace>[{}])|(?P<text>[^\\{}\r\n]+)|[\r\n]+|\\",
    re.DOTALL,
)
_HIDING = frozenset((b"v", b"deleted", b"mvf"))  # hidden, deleted, moved to another place
# Destinations that are not the text of the document. Newer ones have a mark before their name, which tells so.
_UNREAD = frozenset(
    b"annotation colortbl dptxbxtext fldinst fonttbl footer footerf footerl footerr footnote header headerf headerl headerr"
    b" info nonesttables nonshppict objdata pict pntext pntxta pntxtb private revtbl rxe shprslt stylesheet tc txe upr"
    b" xe".split()
)
_SIGNS = {b"~": "\xa0", b"-": "\xad", b"_": "\u2011", b"\n": "\n", b"\r": "\n", b"{": "{", b"}": "}", b"\\": "\\"}
# fmt: off
_WORDS = {
    **dict.fromkeys((b"par", b"sect", b"page", b"column", b"line", b"cell", b"row", b"nestcell", b"nestrow"), "\n"),
    b"tab": "\t", b"emspace": "\u2003", b"enspace": "\u2002", b"qmspace": "\u2005",
    b"emdash": "—", b"endash": "–", b"bullet": "•", b"lquote": "‘", b"rquote": "’", b"ldblquote": "“", b"rdblquote": "”",
    b"zwj": "\u200d", b"zwnj": "\u200c", b"zwbo": "\u200b", b"ltrmark": "\u200e", b"rtlmark": "\u200f",
}
_ENCODINGS = {  # of a font, by the number of its character set; those of the Macintosh that Python lacks have a near one
    0: "cp1252", 77: "mac_roman", 78: "shift_jis", 79: "big5", 80: "euc_kr", 81: "mac_arabic", 82: "cp1255",
    83: "mac_greek", 84: "mac_cyrillic", 85: "gbk", 86: "mac_romanian", 87: "mac_cyrillic", 88: "cp874",
    89: "mac_latin2", 128: "cp932", 129: "cp949", 130: "johab", 134: "cp936", 136: "cp950", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
    238: "cp1250", 254: "cp437", 255: "cp850",
}
# fmt: on


def rtf_text(body: bytes) -> str:
    """Lines are paragraphs and cells."""
    reader, end = _Reader(), 0
    while reader.groups and (token := _TOKEN.match(body, end)):
        end = token.end() + reader.take(token)
    reader.decode()
    # Word writes a character beyond U+FFFF as two halves. A half that stands alone is none.
    return "".join(reader.parts).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")


class _Group(NamedTuple):
    """What holds until a group ends."""

    fallback: int = 1  # characters after one in Unicode, for readers that do not know it
    font: int = -1
    hidden_by: frozenset[bytes] = frozenset()
    is_unread: bool = False


class _Reader:
    def __init__(self) -> None:
        self.parts: list[str] = []
        self.groups = [_Group()]  # the innermost is the last; empty after the end of the document
        self._bytes = bytearray()  # of the text, not decoded yet
        self._left = 0  # characters of a fallback that are still to come
        self._encoding = "cp1252"
        self._encodings: dict[int, str] = {}  # by font

    def take(self, token: re.Match[bytes]) -> int:
        """Read one token, and return how many bytes after it are no RTF."""
        if token.lastgroup == "text":
            self._add(token["text"])
        elif token.lastgroup == "byte":
            self._add(bytes.fromhex(token["byte"].decode()))
        elif token["brace"]:
            self._brace(token["brace"])
        elif token["sign"] == b"*":
            self._set(self.groups[-1]._replace(is_unread=True))
        elif token["sign"]:
            self._write(_SIGNS.get(token["sign"], ""))
        elif token["word"]:
            number = int(token["number"]) if token["number"] else None
            if token["word"] == b"bin":
                return max(0, number or 0)
            self._word(token["word"], number)
        return 0

    def decode(self) -> None:
        if self._bytes:
            encoding = self._encodings.get(self.groups[-1].font if self.groups else -1, self._encoding)
            try:
                self.parts.append(self._bytes.decode(encoding, "ignore"))
            except LookupError:  # it names an encoding that does not exist
                self.parts.append(self._bytes.decode("cp1252", "ignore"))
            self._bytes.clear()

    def _is_seen(self) -> bool:
        return not self.groups[-1].is_unread and not self.groups[-1].hidden_by

    def _add(self, text: bytes) -> None:
        skipped = min(self._left, len(text))
        self._left -= skipped
        if self._is_seen():
            self._bytes += text[skipped:]

    def _write(self, text: str) -> None:
        """Add a character that was written as a sign or a word, unless it belongs to a fallback. No fallback has lines."""
        self._left = 0 if text == "\n" else self._left
        if text and self._left:
            self._left -= 1
        elif text and self._is_seen():
            self.decode()
            self.parts.append(text)

    def _set(self, group: _Group) -> None:
        self.decode()
        self.groups[-1] = group

    def _brace(self, brace: bytes) -> None:
        self.decode()
        self._left = 0
        if brace == b"{":
            self.groups.append(self.groups[-1])
            return
        self.groups.pop()
        if len(self.groups) == 1:  # what follows the document is none of it
            self.groups.clear()

    def _word(self, word: bytes, number: int | None) -> None:
        group = self.groups[-1]
        if word in _HIDING:
            hidden_by = group.hidden_by - {word} if number == 0 else group.hidden_by | {word}
            self._set(group._replace(hidden_by=hidden_by))
        elif word == b"plain":
            self._set(group._replace(hidden_by=frozenset()))
        elif word in _UNREAD:
            self._set(group._replace(is_unread=True))
        elif word == b"f":
            self._set(group._replace(font=-1 if number is None else number))
        elif word == b"uc":
            self._set(group._replace(fallback=1 if number is None else max(0, number)))
        elif word == b"fcharset" and number in _ENCODINGS:
            self._encodings[group.font] = _ENCODINGS[number]
        elif word == b"ansicpg":
            self._encoding = f"cp{number}"
        elif word in (b"mac", b"pc", b"pca"):
            self._encoding = {b"mac": "mac_roman", b"pc": "cp437", b"pca": "cp850"}[word]
        elif word == b"u" and number is not None:
            self._left = 0
            code = number + 0x10000 if number < 0 else number
            self._write(chr(code) if 0 <= code <= 0x10FFFF else "")
            self._left = group.fallback
        else:
            self._write(_WORDS.get(word, ""))
