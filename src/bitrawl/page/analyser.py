"""From a capture to a page, with one parse. Most aspects are modules of their own, which this one calls.

It identifies the languages itself, of each paragraph and of the whole; what markup and URL claim is a prior, never a
verdict. It also makes the fingerprints that tell whether two pages are the same.
"""

import codecs
import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import cache
from threading import Lock
from typing import NamedTuple, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from bitrawl.languages import base_language, claimed_language, same_language
from bitrawl.model import (
    UNDETERMINED,
    Capture,
    DocumentType,
    DrawnBy,
    Language,
    Link,
    LinkKind,
    MarkdownBlock,
    Metadata,
    Page,
    Paragraph,
    ParagraphKind,
    Sitemap,
    Skip,
)
from bitrawl.page.alternates import LanguageNames, header_alternates, read_alternates
from bitrawl.page.assembled import assemble
from bitrawl.page.boilerplate import THRESHOLD, BoilerplateClassifier
from bitrawl.page.decode import Decoded, decode, shallow, whole_notices
from bitrawl.page.document import DocumentText, UnreadableError, document_reader, is_document
from bitrawl.page.head import Head, bare_head, canonical, directives, machine_translation, read_head, read_metadata
from bitrawl.page.links import MAX_LINKS, read_anchors, read_images, read_links
from bitrawl.page.markdown import markdown_blocks
from bitrawl.page.outline import TEXT, Block, Outline, in_lines, normalise, outline
from bitrawl.page.scripted import LITTLE, ORDINARY, RENDERED, Article, Scripted, article, scripted
from bitrawl.page.sitemap import read_sitemap
from bitrawl.protocols import LanguageIdentifier
from bitrawl.reasons import Reason, Stage
from bitrawl.text.language import NgramLanguageIdentifier
from bitrawl.text.words import weight
from bitrawl.url import Url
from bitrawl.urls import address_languages

HTML_TYPES = frozenset(("text/html", "application/xhtml+xml"))
MAX_PARAGRAPHS = 20_000  # It limits what one page may cost.
NOWHERE = Url.known("http://localhost/")  # The URL of a page that has none.

_BLANK_LINE = re.compile(r"\n[ \t\r\f\v]*\n\s*")


class ContentClassifier(Protocol):
    """Tells which blocks of a page are its main text."""

    def probabilities(self, outline: Outline) -> list[float]:
        """The probability of each block to be main text."""
        ...


class PageAnalyser:
    """Synchronous; runs in a child process. Not thread-safe, because its classifier is not."""

    def __init__(
        self,
        identifier: LanguageIdentifier,
        classifier: ContentClassifier,
        names: LanguageNames | None = None,
        *,
        markdown: bool = False,
    ) -> None:
        self._classifier = classifier
        self._names = names or LanguageNames.load()
        self._languages = LanguageReader(identifier, self._names)
        self._markdown = markdown

    def read(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        """Directives are reported, not obeyed. `index` asks to read the body as a sitemap, whatever its type."""
        if index:
            return read_sitemap(capture.url, capture.body)
        media_type = (capture.media_type or capture.header("content-type").partition(";")[0]).strip().lower()
        if media_type in HTML_TYPES:
            page = self._html(capture)
        elif media_type == "text/plain":
            page = self._text(capture)
        elif is_document(media_type):
            try:
                page = self._document(capture, document_reader(media_type)(capture.body))
                kind = next(kind for kind in DocumentType if media_type in kind.media_types)
                page = msgspec.structs.replace(page, type=str(kind))
            except UnreadableError as error:
                return Skip(capture.url, Stage.ANALYSE, error.reason, str(error), capture.status)
        else:
            return Skip(capture.url, Stage.ANALYSE, Reason.CONTENT_TYPE, media_type, capture.status)
        is_undrawn = page.drawn_by not in (None, DrawnBy.BROWSER) and len(page.text) < LITTLE
        if not page.links and (is_undrawn or not page.paragraphs):  # "Loading…" alone is no text of a page
            reason = Reason.SCRIPTED if is_undrawn else Reason.EMPTY
            return Skip(capture.url, Stage.ANALYSE, reason, status=capture.status)
        return page

    def _html(self, capture: Capture) -> Page:
        text, charset = _decoded(capture)
        tree = LexborHTMLParser(_markup(capture.body, text, charset), options=LexborDocumentOptions.WO_EVENTS)
        assemble(tree, capture.body)
        head = read_head(tree, capture)
        skeleton = outline(tree, detailed=self._markdown, drawn=capture.rendered)
        metadata = read_metadata(head, tree, capture)
        anchors = read_anchors(skeleton, head)
        alternates = read_alternates(head, anchors, self._names)
        content = self._classifier.probabilities(skeleton)
        claims = metadata.content_language, metadata.locale
        drawing = RENDERED if capture.rendered else _scripted(tree, skeleton, content, claimed(head, *claims))
        untold = None if capture.rendered or drawing.texts else _untold(tree, skeleton, content)
        if untold is not None:
            content = [
                0.0 if untold.has(block.text) else chance
                for block, chance in zip(skeleton.blocks, content, strict=True)
            ]
        waiting = drawing.texts if untold is None else untold.blocks
        for drawn, kind, _ in waiting:
            _append(skeleton, drawn, kind)
        understood = self._understood(skeleton, [*content, *[1.0] * len(waiting)], head, *claims)
        return msgspec.structs.replace(
            understood,
            drawn_by=drawing.sign,
            title=skeleton.title or normalise(head.first("og:title", "twitter:title", "dc.title")),
            charset=charset,
            metadata=metadata,
            links=read_links(head, anchors, alternates),
            alternates=alternates,
            images=read_images(skeleton, head),
            canonical=canonical(head),
            directives=directives(head, capture),
            machine_translation=machine_translation(head, tree, text),
            markdown=self._blocks(skeleton, head) if self._markdown else (),
        )

    def _blocks(self, skeleton: Outline, head: Head) -> tuple[MarkdownBlock, ...]:
        return tuple(block for block in markdown_blocks(skeleton, head) if block.end <= MAX_PARAGRAPHS)

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
        return msgspec.structs.replace(_with_headers(understood, head, capture), charset=charset)

    def _document(self, capture: Capture, document: DocumentText) -> Page:
        """Blocks are in reading order; a document that is no web page has boilerplate only where its reader says so."""
        head = bare_head(capture)
        skeleton = Outline(title=document.title)
        for text, kind, _ in document.blocks:
            _append(skeleton, text, kind)
        content = [0.0 if block.is_boilerplate else 1.0 for block in document.blocks]
        claims = capture.header("content-language"), document.language
        understood = _with_headers(self._understood(skeleton, content, head, *claims), head, capture)
        written = (
            Link(url, LinkKind.PAGE, capture.url, anchor=link.text)
            for link in document.links
            if (url := head.resolve(link.address)) is not None and url != capture.url
        )
        links = {link.url: link for link in (*written, *understood.links)}  # what HTTP declares counts more
        metadata = Metadata(author=document.author, date=document.date, content_language=document.language)
        return msgspec.structs.replace(
            understood,
            title=document.title,
            metadata=metadata,
            links=tuple(links.values())[:MAX_LINKS],
            cut="; ".join(filter(None, (document.cut, understood.cut))),
        )

    def _understood(self, skeleton: Outline, content: list[float], head: Head, *claims: str) -> Page:
        """What follows from the text: paragraphs, languages, fingerprints."""
        blocks, content = skeleton.blocks[:MAX_PARAGRAPHS], content[:MAX_PARAGRAPHS]
        main = [chance >= THRESHOLD for chance in content]
        languages = self._languages.read([block.text for block in blocks], main, claimed(head, *claims))
        paragraphs = _paragraphs(blocks, content, languages.paragraphs)
        main_texts = [block.text for block, is_main in zip(blocks, main, strict=True) if is_main]
        text = "\n".join(main_texts or (block.text for block in blocks))
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


_DOCUMENT_TAGS = {
    ParagraphKind.TITLE: "h1",
    ParagraphKind.HEADING: "h2",
    ParagraphKind.LISTITEM: "li",
    ParagraphKind.TEXT: "p",
}


def _append(skeleton: Outline, text: str, kind: ParagraphKind) -> None:
    """A paragraph that stands in no tree."""
    skeleton.tags.append(_DOCUMENT_TAGS[kind])
    skeleton.blocks.append(Block(text, kind, len(skeleton.tags), -1))
    skeleton.tags.append(TEXT)


def _scripted(tree: LexborHTMLParser, skeleton: Outline, content: list[float], language: Language | None) -> Scripted:
    main = everything = 0
    for block, chance in zip(skeleton.blocks, content, strict=True):
        everything += len(block.text)
        main += len(block.text) if chance >= THRESHOLD else 0
        if main > LITTLE:  # an ordinary page, after a few of its paragraphs
            return ORDINARY
    return scripted(tree, main, everything, language)


def _untold(tree: LexborHTMLParser, skeleton: Outline, content: list[float]) -> Article | None:
    """The article of which the page itself has less than half: a teaser."""
    untold = article(tree)
    if untold is None or untold.is_in(" ".join(block.text for block in skeleton.blocks)):
        return None
    main = sum(len(block.text) for block, chance in zip(skeleton.blocks, content, strict=True) if chance >= THRESHOLD)
    return untold if sum(len(block.text) for block in untold.blocks) > 2 * max(main, LITTLE) else None


def _with_headers(page: Page, head: Head, capture: Capture) -> Page:
    """A page without markup: what it declares is in its HTTP headers."""
    alternates = tuple(header_alternates(head))
    links = tuple(
        Link(a.url, LinkKind.ALTERNATE, capture.url, rel="alternate", hreflang=a.language) for a in alternates
    )
    return msgspec.structs.replace(
        page, links=links, alternates=alternates, canonical=canonical(head), directives=directives(head, capture)
    )


def _paragraphs(blocks: list[Block], content: list[float], verdicts: "list[Verdict]") -> tuple[Paragraph, ...]:
    # All are rounded at once: `round` takes half a microsecond for each.
    chances, confidences = np.array([content, [confidence for _, confidence in verdicts]]).round(3).tolist()
    return tuple(
        Paragraph(
            block.lines or block.text, block.kind, chance < THRESHOLD, rounded, language, confidence, block.position
        )
        for block, chance, rounded, (language, _), confidence in zip(
            blocks, content, chances, verdicts, confidences, strict=True
        )
    )


def _cut(skeleton: Outline) -> str:
    counts = {"links": (len(skeleton.anchors), MAX_LINKS), "paragraphs": (len(skeleton.blocks), MAX_PARAGRAPHS)}
    return "; ".join(
        f"{count - most:,} {what} after the first {most:,}" for what, (count, most) in counts.items() if count > most
    )


def page_reader(languages: Sequence[Language] = (), *, markdown: bool = False) -> PageAnalyser:
    """A reader with the package's models, for pages in these languages; with their Markdown if asked for.

    It can be imported alone, so that a child process loads nothing else.
    """
    identifier = NgramLanguageIdentifier(asked=languages, brief=True)
    return PageAnalyser(identifier, BoilerplateClassifier.load(), markdown=markdown)


def read_html(html: str | bytes, url: Url = NOWHERE) -> Page:
    """Read a page in this process; a hostile page may take long. A page without text gives an empty `Page`.

    The charset of bytes is detected as for a fetched page; a str needs none, whatever its markup claims. Links are
    resolved against `url`. The models are loaded at the first call, and kept.
    """
    body = html if isinstance(html, bytes) else codecs.BOM_UTF8 + html.encode("utf-8", "replace")
    reader, turn = _shared_reader()
    with turn:
        page = reader.read(Capture(url, 200, (), body, at=0.0, media_type="text/html"))
    return page if isinstance(page, Page) else Page(url, UNDETERMINED)


@cache
def _shared_reader() -> tuple[PageAnalyser, Lock]:
    """The lock is needed because a reader is not thread-safe."""
    return page_reader(), Lock()


def _decoded(capture: Capture) -> Decoded:
    return decode(capture.body, capture.header("content-type"))


def _markup(body: bytes, text: str, charset: str) -> str | bytes:
    """What is parsed. The parser reads UTF-8: a body from which nothing was lost need not be encoded again."""
    markup = shallow(whole_notices(text) if b"<noscript" in body.lower() else text)
    is_lossless = charset == "utf-8" and "\ufffd" not in text and not body.startswith(codecs.BOM_UTF8)
    return body if is_lossless and markup is text else markup


Verdict = tuple[Language, float]

MIN_LETTERS = 24  # Fewer letters identify no language; about six words, or eight characters of Chinese.
MUCH_TEXT = 500  # Characters after which lists of languages are not looked for.
MAX_PAGE_TEXT = 6000  # Characters of the main text that the page's language is identified from.
CLEAR = 0.8  # A language with this share of the paragraphs needs no second opinion.
_NO_VERDICT: Verdict = UNDETERMINED, 0.0


class PageLanguages(NamedTuple):
    """The verdicts for one page, in the order of its paragraphs."""

    page: Verdict
    paragraphs: list[Verdict]


class LanguageReader:
    """The language of a page, and those of its paragraphs as far as anybody needs them."""

    def __init__(self, identifier: LanguageIdentifier, names: LanguageNames) -> None:
        self._identifier = identifier
        self._names = names

    def read(self, texts: Sequence[str], main: Sequence[bool], claim: Language | None) -> PageLanguages:
        """`main` says which of the texts are main text. If none is, all of them count for the page, but for lists of languages.

        If the page is in the language that it claims, and most of its text is main text, nobody asks for the languages of
        the other texts, and they stay undetermined.
        """
        counted = [text for text, is_main in zip(texts, main, strict=True) if is_main]
        others = [text for text, is_main in zip(texts, main, strict=True) if not is_main] if counted else []
        counted = self._telling(counted or texts)
        verdicts = self._identified(counted, claim)
        votes: dict[Language, float] = {}
        total = 0
        for text in counted:
            language, confidence = verdicts[text]
            size = weight(text)
            total += size
            votes[language] = votes.get(language, 0.0) + size * confidence
        shares = {language: vote / total for language, vote in votes.items()}
        page = self._page(shares, "\n".join(counted)[:MAX_PAGE_TEXT], claim)
        is_all_told = claim is not None and same_language(page[0], claim) and total > sum(map(weight, others))
        if not is_all_told:
            verdicts |= self._identified([text for text in others if text not in verdicts], claim)
        return PageLanguages(page, [verdicts.get(text, _NO_VERDICT) for text in texts])

    def _telling(self, texts: Sequence[str]) -> list[str]:
        """Without lists of languages, which are in none. Where there is much else, they change nothing."""
        telling: list[str] = []
        size = 0
        for text in texts:
            if size > MUCH_TEXT or not self._names.fill(text):
                telling.append(text)
                size += len(text)
        return telling

    def _identified(self, texts: Sequence[str], claim: Language | None) -> dict[str, Verdict]:
        different = list(dict.fromkeys(texts))
        return dict(zip(different, self._identifier.identify(different, prior=claim), strict=True)) if texts else {}

    def _page(self, shares: dict[Language, float], text: str, claim: Language | None) -> Verdict:
        """The paragraphs vote, weighted by length and confidence. If they disagree, the whole main text decides.

        Paragraphs show that a page is in two languages, where the whole shows only one of them. The whole shows the
        language of a page of short lines, where each line alone says little.
        """
        if _letters(text[:60]) < MIN_LETTERS and _letters(text[:500]) < MIN_LETTERS:  # mostly the first are enough
            return _NO_VERDICT
        scores = {language: share for language, share in shares.items() if language != UNDETERMINED}
        if max(scores.values(), default=0.0) < CLEAR:
            language, confidence = self._identifier.identify([text], prior=claim)[0]
            scores[language] = scores.get(language, 0.0) + max(0.0, 1.0 - sum(shares.values())) * confidence
            scores.pop(UNDETERMINED, None)
        best = max(scores, key=lambda code: scores[code], default=UNDETERMINED)
        return best, min(1.0, scores.get(best, 0.0))


def _letters(text: str) -> int:
    return weight("".join(filter(str.isalpha, text)))


def claimed(head: Head, content_language: str, locale: str) -> Language | None:
    """The language that the page claims, if its claims agree; None if there is none, or if they contradict each other."""
    texts = [head.language, "" if "," in content_language else content_language, locale, *address_languages(head.url)]
    texts += [text for record in head.records if isinstance(text := record.get("inLanguage"), str)][:1]
    claims = {claim for text in texts if text and (claim := claimed_language(text)) != UNDETERMINED}
    if len({base_language(claim) for claim in claims}) != 1:
        return None
    return max(sorted(claims), key=len)  # the same in every process


SHINGLE = 8
"""Characters of one SimHash feature: about a word and a half, or four words of Chinese. A power of two."""

_LONGEST = 20_000  # Characters that a signature reads: it limits the time.
_KINDS = {kind: i for i, kind in enumerate(ParagraphKind)}
_LETTERS = "abcdefghijklmABCDEFGHIJKLMnopqrstuvwxyzNOPQRSTUVWXYZ"
_LENGTHS = len(_LETTERS) // len(_KINDS)
_TOPICAL = str.maketrans({letter: chr(0x100 + number) for number, letter in enumerate(_LETTERS)})
_DIGITS = re.compile(r"\d+")
# From the second character on, some are folded or digits, and so few texts have them that they are not in the table.
# Between the first and the second, none is.
_SIMPLE, _END_OF_SIMPLE = 0x2E80, 0xA620
_ZERO, _DROPPED, _RARE = ord("0"), 0xFFFF_FFFE, 0xFFFF_FFFF


def structure(paragraphs: Iterable[Paragraph]) -> str:
    """One letter for each paragraph of the main text: its kind, and its length in thirteen steps.

    After Papavassiliou et al., section 3.9, where it is a sequence of integers: a mark for title, heading or list item,
    then the length in characters. Translations never have equal lengths, so lengths are quantised (each step is twice
    the previous one), and an edit distance over the letters compares kinds and lengths at once. A paragraph with terms
    of the topic, marked -5 in the paper, has a letter of another alphabet.
    """
    return "".join(_letter(p) for p in paragraphs if not p.boilerplate and p.text)


def _letter(paragraph: Paragraph) -> str:
    steps = min(weight(paragraph.text).bit_length() - 1, _LENGTHS - 1)
    letter = _LETTERS[_KINDS[paragraph.kind] * _LENGTHS + steps]
    return letter.translate(_TOPICAL) if paragraph.terms else letter


def digest(text: str) -> str:
    """Equal digests mean the same text. Empty if there is none."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest() if text else ""


def signature(text: str) -> int:
    """SimHash (Charikar 2002) over character shingles, 64 bits; 0 for a text that is too short.

    Case, digits and spaces are ignored: pages that differ in a date, a price or a counter have near signatures.
    """
    codes = _simplified(text[:_LONGEST].replace("ß", "ss"))  # the only usual character that becomes two
    if len(codes) < SHINGLE:
        return 0
    hashes = _mixed(_polynomial(codes))
    majority = _count_bits(hashes) * 2 > len(hashes)
    return int(np.packbits(majority).view("<u8")[0])


def _simplified(text: str) -> NDArray[np.uint64]:
    """The characters of a text, folded, without spaces, and with one 0 for each number."""
    codes: NDArray[np.uint32] = _folding().take(_codes(text), mode="clip")
    if np.maximum.reduce(codes, initial=0) == _RARE:
        codes = _codes(_DIGITS.sub("0", text.casefold().replace(" ", "").replace("\n", "")))
        return codes.astype(np.uint64)
    codes = codes.take((codes != _DROPPED).nonzero()[0])
    is_kept = codes != _ZERO
    is_kept[1:] |= is_kept[:-1].copy()  # a 0 after another one is not
    is_kept[:1] = True
    kept: NDArray[np.uint64] = codes.take(is_kept.nonzero()[0]).astype(np.uint64)
    return kept


def _codes(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


@cache
def _folding() -> NDArray[np.uint32]:
    """What stands for each character in a signature, if that is one character. Built once, in about 2 ms."""
    table = np.arange(_END_OF_SIMPLE + 1, dtype=np.uint32)
    folded = [chr(code).casefold() for code in range(_SIMPLE)]
    table[:_SIMPLE] = [_RARE if len(to) > 1 else _ZERO if to.isdecimal() else ord(to) for to in folded]
    table[[ord(" "), ord("\n")]] = _DROPPED
    table[_END_OF_SIMPLE] = _RARE
    return table


def _count_bits(hashes: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """How often each of the 64 bits is set, from the highest bit of each byte. A byte counts one bit, and all bytes of a row are added at once, at most 255 times."""
    width = -(-len(hashes) // 255)
    rows = -(-len(hashes) // width)
    padded = np.zeros(rows * width, "<u8")
    padded[: len(hashes)] = hashes
    bits = np.unpackbits(padded.view(np.uint8)).view(np.uint64).reshape(rows, -1)
    return np.add.reduce(np.add.reduce(bits).view(np.uint8).reshape(width, 64), dtype=np.uint32)  # type: ignore[no-any-return]


def _polynomial(codes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A hash of each shingle: from characters to pairs of them, to pairs of pairs, and so on."""
    total, width = codes, 1
    while width < SHINGLE:
        total = total[:-width] * np.uint64(pow(0x100000001B3, width, 1 << 64)) + total[width:]
        width *= 2
    return total


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64: every bit of the input affects every bit of the output."""
    mixed = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed
