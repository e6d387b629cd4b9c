"""What is read of a document that is no web page: paragraphs, links, and what the file says about itself."""

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from bitrawl.model import ParagraphKind
from bitrawl.reasons import Reason


class DocumentBlock(NamedTuple):
    """A paragraph."""

    text: str  # normalised
    kind: ParagraphKind = ParagraphKind.TEXT
    is_boilerplate: bool = False


class DocumentLink(NamedTuple):
    """An address as it is written, and the text that leads there."""

    address: str
    text: str


class DocumentText(NamedTuple):
    """A document that could be read."""

    blocks: tuple[DocumentBlock, ...]
    links: tuple[DocumentLink, ...] = ()
    title: str = ""
    author: str = ""
    language: str = ""
    date: str = ""
    cut: str = ""  # what was left out because there is too much of it, or because it is broken


class UnreadableError(Exception):
    """The document cannot be read: it is one skip."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


# A reader is loaded when the first document of its kind comes: most jobs have none.
_READERS = {
    "application/pdf": "bitrawl.page.pdf:read_pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "bitrawl.page.office:read_docx",
    "application/vnd.oasis.opendocument.text": "bitrawl.page.office:read_odt",
    "application/epub+zip": "bitrawl.page.office:read_epub",
    "application/rtf": "bitrawl.page.office:read_rtf",
}


def is_document(media_type: str) -> bool:
    """Whether there is a reader for that type."""
    return media_type in _READERS


def document_reader(media_type: str) -> Callable[[bytes], DocumentText]:
    """What reads documents of that type, and raises `UnreadableError`."""
    module, _, name = _READERS[media_type].partition(":")
    reader: Callable[[bytes], DocumentText] = getattr(import_module(module), name)
    return reader
