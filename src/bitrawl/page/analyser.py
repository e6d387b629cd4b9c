"""From a capture to a page, with one parse. Each aspect is a module of its own; this module calls them all."""

import codecs
import re
from collections.abc import Sequence
from functools import cache
from threading import Lock
from typing import Protocol

import msgspec
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from bitrawl.model import (
    UNDETERMINED,
    Capture,
    Language,
    Link,
    LinkKind,
    Page,
    Paragraph,
    ParagraphKind,
    Reason,
    Sitemap,
    Skip,
    Stage,
)
from bitrawl.page.alternates import header_alternates, read_alternates
from bitrawl.page.boilerplate import THRESHOLD, BoilerplateClassifier
from bitrawl.page.decode import Decoded, decode
from bitrawl.page.depth import shallow
from bitrawl.page.directives import directives
from bitrawl.page.fingerprints import digest, signature, structure
from bitrawl.page.head import Head, bare_head, read_head
from bitrawl.page.language_names import LanguageNames
from bitrawl.page.languages import LanguageReader, claimed
from bitrawl.page.links import MAX_LINKS, read_anchors, read_images, read_links
from bitrawl.page.machine_translation import machine_translation
from bitrawl.page.metadata import canonical, read_metadata
from bitrawl.page.outline import TEXT, Block, Outline, in_lines, normalise, outline
from bitrawl.page.sitemap import read_sitemap
from bitrawl.protocols import LanguageIdentifier
from bitrawl.text.language import NgramLanguageIdentifier
from bitrawl.url import Url

HTML_TYPES = frozenset(("text/html", "application/xhtml+xml"))
MAX_PARAGRAPHS = 20_000  # Judgement: it limits what one page may cost.
NOWHERE = Url.known("http://localhost/")  # The URL of a page that has none.

_BLANK_LINE = re.compile(r"\n[ \t\r\f\v]*\n\s*")


class ContentClassifier(Protocol):
    """Tells which blocks of a page are its main text."""

    def probabilities(self, outline: Outline) -> list[float]:
        """The probability of each block to be main text."""
        ...


class PageAnalyser:
    """Synchronous; runs in a child process. Not thread-safe, because it remembers the languages of recurring texts."""

    def __init__(
        self,
        identifier: LanguageIdentifier,
        classifier: ContentClassifier,
        names: LanguageNames | None = None,
    ) -> None:
        self._languages = LanguageReader(identifier)
        self._classifier = classifier
        self._names = names or LanguageNames.load()

    def read(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        """Directives are reported, not obeyed. `index` asks to read the body as a sitemap, whatever its type."""
        if index:
            return read_sitemap(capture.url, capture.body)
        media_type = (capture.media_type or capture.header("content-type").partition(";")[0]).strip().lower()
        if media_type in HTML_TYPES:
            page = self._html(capture)
        elif media_type == "text/plain":
            page = self._text(capture)
        else:
            return Skip(capture.url, Stage.ANALYSE, Reason.CONTENT_TYPE, media_type, capture.status)
        if not page.paragraphs and not page.links:
            return Skip(capture.url, Stage.ANALYSE, Reason.EMPTY, status=capture.status)
        return page

    def _html(self, capture: Capture) -> Page:
        text, charset = _decoded(capture)
        tree = LexborHTMLParser(shallow(text), options=LexborDocumentOptions.WO_EVENTS)
        head = read_head(tree, capture)
        skeleton = outline(tree)
        metadata = read_metadata(head, tree, capture)
        anchors = read_anchors(skeleton, head)
        alternates = read_alternates(head, anchors, self._names)
        understood = self._understood(
            skeleton, self._classifier.probabilities(skeleton), head, metadata.content_language, metadata.locale
        )
        return msgspec.structs.replace(
            understood,
            title=skeleton.title or normalise(head.first("og:title", "twitter:title", "dc.title")),
            charset=charset,
            metadata=metadata,
            links=read_links(head, anchors, alternates),
            alternates=alternates,
            images=read_images(skeleton, head),
            canonical=canonical(head),
            directives=directives(head, capture),
            machine_translation=machine_translation(head, tree, text),
        )

    def _text(self, capture: Capture) -> Page:
        """Paragraphs are separated by blank lines, and all of them are main text."""
        text, charset = _decoded(capture)
        head = bare_head(capture)
        skeleton = Outline()
        for part in _BLANK_LINE.split(text):
            if line := normalise(part):
                lines = in_lines(part, line)
                skeleton.blocks.append(Block(line, ParagraphKind.TEXT, len(skeleton.tags), -1, lines=lines))
                skeleton.tags.append(TEXT)
        understood = self._understood(
            skeleton, [1.0] * len(skeleton.blocks), head, capture.header("content-language"), ""
        )
        alternates = tuple(header_alternates(head))
        links = tuple(
            Link(a.url, LinkKind.ALTERNATE, capture.url, rel="alternate", hreflang=a.language) for a in alternates
        )
        return msgspec.structs.replace(
            understood,
            charset=charset,
            links=links,
            alternates=alternates,
            canonical=canonical(head),
            directives=directives(head, capture),
        )

    def _understood(self, skeleton: Outline, content: list[float], head: Head, *claims: str) -> Page:
        """What follows from the text: paragraphs, languages, fingerprints."""
        blocks = skeleton.blocks[:MAX_PARAGRAPHS]
        main = [chance >= THRESHOLD for chance in content[:MAX_PARAGRAPHS]]
        languages = self._languages.read([block.text for block in blocks], main, claimed(head, *claims))
        paragraphs = tuple(
            Paragraph(
                block.lines or block.text,
                block.kind,
                not is_main,
                round(chance, 3),
                language,
                round(confidence, 3),
                block.position,
            )
            for block, is_main, chance, (language, confidence) in zip(
                blocks, main, content, languages.paragraphs, strict=False
            )
        )
        kept = [block.text for block, is_main in zip(blocks, main, strict=False) if is_main]
        text = "\n".join(kept or (block.text for block in blocks))
        language, confidence = languages.page
        return Page(
            head.url,
            language,
            round(confidence, 3),
            paragraphs=paragraphs,
            tags=tuple(skeleton.tags),
            fingerprint=structure(paragraphs),
            digest=digest(text),
            signature=signature(text),
            cut=_cut(skeleton),
        )


def _cut(skeleton: Outline) -> str:
    counts = {"links": (len(skeleton.anchors), MAX_LINKS), "paragraphs": (len(skeleton.blocks), MAX_PARAGRAPHS)}
    return "; ".join(
        f"{count - most:,} {what} after the first {most:,}" for what, (count, most) in counts.items() if count > most
    )


def page_reader(asked: Sequence[Language] = ()) -> PageAnalyser:
    """A reader with the package's models, for pages in the languages asked for.

    It can be imported alone, so that a child process loads nothing else.
    """
    return PageAnalyser(NgramLanguageIdentifier(asked=asked), BoilerplateClassifier.load())


def read_html(html: str | bytes, url: Url = NOWHERE) -> Page:
    """Read a page in this process; a hostile page may take long. A page without text gives an empty `Page`.

    The charset of bytes is detected as for a fetched page; a str needs none, whatever its markup claims. Links are
    resolved against `url`. The models are loaded at the first call, and kept.
    """
    body = html if isinstance(html, bytes) else codecs.BOM_UTF8 + html.encode("utf-8", "replace")
    reader, turn = _shared_reader()
    with turn:
        found = reader.read(Capture(url, 200, (), body, at=0.0, media_type="text/html"))
    return found if isinstance(found, Page) else Page(url, UNDETERMINED)


@cache
def _shared_reader() -> tuple[PageAnalyser, Lock]:
    """The lock is needed because a reader is not thread-safe."""
    return page_reader(), Lock()


def _decoded(capture: Capture) -> Decoded:
    return decode(
        capture.body, capture.header("content-type"), tld=capture.url.host.partition(":")[0].rpartition(".")[2]
    )
