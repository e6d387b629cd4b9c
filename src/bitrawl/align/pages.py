"""From pairs of pages to pairs of segments: main text only, split into sentences, each with its place."""

from collections.abc import Callable, Container, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

import msgspec

from bitrawl.align.documents import Document, Text
from bitrawl.align.lexical import LexicalAligner
from bitrawl.model import Bead, Language, Page, Paragraph, Segment, SegmentPair
from bitrawl.text.lexicon import Lexicon
from bitrawl.text.sentences import sentences

# Tags before a paragraph's place in the tag sequence that tell where it stands: judgement.
_CONTEXT = 3
_UNSPACED = frozenset(("zh", "ja", "th", "lo", "km", "my", "yue", "wuu"))


class DocumentAligner(Protocol):
    """What a `SiteAligner` needs: many documents at once, one lexicon or model for all."""

    @property
    def lexicon(self) -> Lexicon:
        """Learned from what was aligned so far."""
        ...

    def align_documents(
        self, documents: Sequence[Document], *, progress: Callable[[int, int], None] | None = None
    ) -> list[list[Bead]]:
        """The beads of each; every sentence is in exactly one. `progress` is told how many of how many are final."""
        ...


class Sentence(NamedTuple):
    """A sentence of a page, the number of its paragraph in it, and what stands between it and the one before there."""

    text: str
    paragraph: int
    space: str = ""


class SiteAligner:
    """Aligns the pairs of one site and one pair of languages, as many at a time as there are.

    Give all pairs at once where they are known: they teach each other. Later ones profit from those before.
    """

    def __init__(self, languages: tuple[Language, Language], aligner: DocumentAligner | None = None) -> None:
        self._languages = languages
        self._aligner = aligner or LexicalAligner()

    @property
    def lexicon(self) -> Lexicon:
        """Learned from what was aligned so far; its words are those of `documents.sentence_words`."""
        return self._aligner.lexicon

    def documents(self, pairs: Sequence[tuple[Page, Page]]) -> list[Document]:
        """The pairs as an aligner sees them."""
        return [self._document(pair, found) for pair, found in zip(pairs, self._sentences(pairs), strict=True)]

    def align(
        self, pairs: Sequence[tuple[Page, Page]], progress: Callable[[int, int], None] | None = None
    ) -> list[list[SegmentPair]]:
        """For each pair of pages its segments in order; what has no counterpart is left out."""
        sides = self._sentences(pairs)
        documents = [self._document(pair, found) for pair, found in zip(pairs, sides, strict=True)]
        aligned = self._aligner.align_documents(documents, progress=progress)
        return [
            [self._segment_pair(pair, found, bead) for bead in beads if bead.a and bead.b]
            for pair, found, beads in zip(pairs, sides, aligned, strict=True)
        ]

    def _sentences(self, pairs: Sequence[tuple[Page, Page]]) -> list[list[list[Sentence]]]:
        return [[page_sentences(page, self._languages[side]) for side, page in enumerate(pair)] for pair in pairs]

    def _document(self, pages: tuple[Page, Page], found: Sequence[Sequence[Sentence]]) -> Document:
        return Document(*(_text(pages[side], found[side], self._languages[side]) for side in (0, 1)))

    def _segment_pair(self, pages: tuple[Page, Page], found: Sequence[Sequence[Sentence]], bead: Bead) -> SegmentPair:
        a, b = (_segment(found[side], numbers, self._languages[side]) for side, numbers in enumerate((bead.a, bead.b)))
        return SegmentPair(pages[0].url, pages[1].url, a, b, bead.score, f"{len(bead.a)}:{len(bead.b)}")


def translated_part(pages: tuple[Page, Page]) -> tuple[Page, Page]:
    """Two pages, with the paragraphs that stand word for word on both labelled boilerplate.

    For pages of which only a part is translated: what is the same on both is no translation. It would teach the aligner
    that words translate themselves.
    """
    a, b = ({paragraph.text for paragraph in page.paragraphs if not paragraph.boilerplate} for page in pages)
    return _without(pages[0], a & b), _without(pages[1], a & b)


def _without(page: Page, texts: Container[str]) -> Page:
    paragraphs = (
        msgspec.structs.replace(paragraph, boilerplate=True) if paragraph.text in texts else paragraph
        for paragraph in page.paragraphs
    )
    return msgspec.structs.replace(page, paragraphs=tuple(paragraphs))


def page_sentences(page: Page, language: Language) -> list[Sentence]:
    """Those of its main text."""
    return [
        sentence
        for number, paragraph in enumerate(page.paragraphs)
        if not paragraph.boilerplate
        for sentence in placed(paragraph.text, paragraph=number, language=language)
    ]


def placed(text: str, *, paragraph: int, language: Language) -> Iterator[Sentence]:
    """The sentences of a paragraph, with its number."""
    end = 0
    for sentence in sentences(text, language):
        begin = text.index(sentence, end)
        yield Sentence(sentence, paragraph, text[end:begin])
        end = begin + len(sentence)


def _text(page: Page, found: Sequence[Sentence], language: Language) -> Text:
    paragraphs = list(dict.fromkeys(sentence.paragraph for sentence in found))
    block = {paragraph: number for number, paragraph in enumerate(paragraphs)}
    return Text.marked(
        [sentence.text for sentence in found],
        language,
        [block[sentence.paragraph] for sentence in found],
        [_markup(page, page.paragraphs[paragraph]) for paragraph in paragraphs],
    )


def _markup(page: Page, paragraph: Paragraph) -> list[str]:
    """Its kind, and the tags before it in the page; angle brackets keep them apart from words."""
    tags = page.tags[max(paragraph.position - _CONTEXT, 0) : paragraph.position] if paragraph.position > 0 else ()
    return [f"<{paragraph.kind}>", *(f"<{tag}>" for tag in tags)]


def joined(found: Sequence[Sentence], language: Language) -> str:
    """One text of sentences in a row: as it stands on the page, where all of it is in one paragraph."""
    between = "" if language.split("-")[0] in _UNSPACED else " "
    text = found[0].text if found else ""
    for before, sentence in pairwise(found):
        text += (sentence.space if sentence.paragraph == before.paragraph else between) + sentence.text
    return text


def _segment(found: Sequence[Sentence], numbers: Sequence[int], language: Language) -> Segment:
    return Segment(joined([found[n] for n in numbers], language), found[numbers[0]].paragraph, numbers[0])
