"""From pairs of pages to pairs of segments: main text only, split into sentences, each with its place.

`align_texts` does the same with two plain texts, and judges the result.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, Protocol

import msgspec

from bitrawl.mining.align_evidence import Document, Text
from bitrawl.mining.judging import Judge
from bitrawl.mining.lexical_aligner import LexicalAligner
from bitrawl.mining.settings import AlignSection
from bitrawl.model import Bead, Language, Page, Paragraph, Segment, SegmentPair
from bitrawl.text.known_words import Dictionary, known_words
from bitrawl.text.language import NgramLanguageIdentifier
from bitrawl.text.lexicon import Lexicon
from bitrawl.text.sentences import LEVELS, LINE_END, clauses, is_long, sentences, shortened
from bitrawl.text.words import is_unspaced_language
from bitrawl.url import Url

# Tags before a paragraph's place in the tag sequence that tell where it stands.
_CONTEXT = 3
# A sentence that is so many times too long is split before it is aligned. Its translation is too long as well, whatever
# the languages: so if only one of them is split, this is noticed. Shorter ones are aligned whole, then split together.
_FAR = 4
_SHORT_TEXT = 1000  # characters of a paragraph whose sentences are remembered: at most 40 MB
_CHARACTERS = AlignSection().characters
NOWHERE = Url.known("http://localhost/")
"""Of a text that comes from no page."""

Languages = tuple[Language, Language]


class DocumentAligner(Protocol):
    """What a `SiteAligner` needs: many documents at once, one lexicon or model for all."""

    @property
    def lexicon(self) -> Lexicon:
        """Learned from what was aligned so far."""
        ...

    def align_documents(self, documents: Sequence[Document]) -> list[list[Bead]]:
        """The beads of each; every sentence is in exactly one."""
        ...

    def knowing(self) -> "DocumentAligner":
        """Aligns with what was learned so far, and learns nothing more."""
        ...


class Sentence(NamedTuple):
    """A sentence of a page, the number of its paragraph in it, and what stands between it and the one before there."""

    text: str
    paragraph: int
    space: str = ""

    @property
    def line(self) -> str:
        """Its text, with spaces for the ends of lines."""
        return self.text.replace(LINE_END, " ")


class PlacedSentences(NamedTuple):
    """Sentences, or parts of them, in a row, and the number in their page of the sentence that each is or is a part of."""

    sentences: Sequence[Sentence]
    numbers: Sequence[int]

    def lines(self) -> list[str]:
        return [sentence.line for sentence in self.sentences]

    def part(self, begin: int, end: int) -> "PlacedSentences":
        return PlacedSentences(self.sentences[begin:end], self.numbers[begin:end])

    def split(self, level: int) -> "PlacedSentences":
        """At the marks up to that level of `clauses`."""
        split = [_within(sentence, clauses(sentence.text, level)) for sentence in self.sentences]
        numbers = [number for number, parts in zip(self.numbers, split, strict=True) for _ in parts]
        return PlacedSentences([part for parts in split for part in parts], numbers)


BothTexts = tuple[PlacedSentences, PlacedSentences]
TooLong = Callable[[int, SegmentPair], None]
"""Is told of which pair of pages a segment is left out because it is too long, and the segment."""


class SiteAligner:
    """Aligns the pairs of one site and one pair of languages, as many at a time as there are.

    Give all pairs at once where they are known: they teach each other. Later ones profit from those before. A segment has
    at most `most` characters, half as many in a script without spaces between words.
    """

    def __init__(
        self,
        languages: tuple[Language, Language],
        aligner: DocumentAligner | None = None,
        *,
        characters: int = _CHARACTERS,
    ) -> None:
        self._languages = languages
        self._aligner = aligner or LexicalAligner(prior=known_words(*languages))
        self._characters = characters

    @property
    def lexicon(self) -> Lexicon:
        """Learned from what was aligned so far; its words are those of `sentence_words`."""
        return self._aligner.lexicon

    def size(self, pair: tuple[Page, Page]) -> tuple[int, int]:
        """How many sentences the two pages have."""
        a, b = self._sentences([pair])[0]
        return len(a.sentences), len(b.sentences)

    def documents(self, pairs: Sequence[tuple[Page, Page]]) -> list[Document]:
        """The pairs as an aligner sees them."""
        return [self._document(pair, both) for pair, both in zip(pairs, self._sentences(pairs), strict=True)]

    def align(self, pairs: Sequence[tuple[Page, Page]], too_long: TooLong | None = None) -> list[list[SegmentPair]]:
        """For each pair of pages its segments in order; what has no counterpart or is too long is left out."""
        texts = self._sentences(pairs)
        documents = [self._document(pair, both) for pair, both in zip(pairs, texts, strict=True)]
        aligned = self._aligner.align_documents(documents)
        segments_of: list[list[SegmentPair]] = [[] for _ in pairs]
        long: list[tuple[int, BothTexts]] = []
        for number, (both, beads) in enumerate(zip(texts, aligned, strict=True)):
            long += ((number, region) for region in self._sort(pairs[number], both, beads, segments_of[number]))
        for level in range(LEVELS):
            long = self._split(pairs, long, level, segments_of)
        for number, (a, b) in long:
            if too_long:
                whole = Bead(tuple(range(len(a.sentences))), tuple(range(len(b.sentences))), 0.0)
                too_long(number, self._segment_pair(pairs[number], (a, b), whole))
        return [
            sorted(segments, key=lambda segment: (segment.a.sentence, segment.b.sentence)) for segments in segments_of
        ]

    def _split(
        self,
        pairs: Sequence[tuple[Page, Page]],
        long: Sequence[tuple[int, BothTexts]],
        level: int,
        segments_of: Sequence[list[SegmentPair]],
    ) -> list[tuple[int, BothTexts]]:
        """Split both texts, align the parts, and add those that are not too long to `segments_of`. Returns the others."""
        if not long:
            return []
        split = [(number, (a.split(level), b.split(level))) for number, (a, b) in long]
        documents = [Document.plain(a.lines(), b.lines(), self._languages) for _, (a, b) in split]
        aligned = self._aligner.knowing().align_documents(documents)
        return [
            (number, region)
            for (number, both), beads in zip(split, aligned, strict=True)
            for region in self._sort(pairs[number], both, beads, segments_of[number])
        ]

    def _sort(
        self, pages: tuple[Page, Page], both: BothTexts, beads: Sequence[Bead], segments: list[SegmentPair]
    ) -> Iterator[BothTexts]:
        """Adds to `found` what is not too long. The rest is returned with what has no counterpart next to it.

        That may belong to it: a long text without an end has more counterparts than an aligner joins into one.
        """
        waiting: list[Bead] = []  # since the last bead that is not too long
        for bead in beads:
            segment = self._segment_pair(pages, both, bead) if bead.a and bead.b else None
            if (
                segment is None
                or is_long(segment.a.text, self._characters)
                or is_long(segment.b.text, self._characters)
            ):
                waiting.append(bead)
                continue
            segments.append(segment)
            yield from _regions(both, waiting)
            waiting = []
        yield from _regions(both, waiting)

    def _sentences(self, pairs: Sequence[tuple[Page, Page]]) -> list[BothTexts]:
        split = ([page_sentences(pair[n], self._languages[n], self._characters) for n in (0, 1)] for pair in pairs)
        return [(PlacedSentences(a, range(len(a))), PlacedSentences(b, range(len(b)))) for a, b in split]

    def _document(self, pages: tuple[Page, Page], both: BothTexts) -> Document:
        return Document(*(_text(pages[n], both[n].sentences, self._languages[n]) for n in (0, 1)))

    def _segment_pair(self, pages: tuple[Page, Page], both: BothTexts, bead: Bead) -> SegmentPair:
        return _segment_pair((pages[0].url, pages[1].url), both, bead, self._languages)


def _regions(both: BothTexts, beads: Sequence[Bead]) -> Iterator[BothTexts]:
    """The sentences of these beads in a row, if any of them has some of both texts."""
    if any(bead.a and bead.b for bead in beads):
        a, b = [n for bead in beads for n in bead.a], [n for bead in beads for n in bead.b]
        yield both[0].part(min(a), max(a) + 1), both[1].part(min(b), max(b) + 1)


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


def page_sentences(page: Page, language: Language, most: int = _CHARACTERS) -> list[Sentence]:
    """Those of its main text. What is far longer than `most` is split, if it has marks to split it at."""
    split: list[Sentence] = []
    for number, paragraph in enumerate(page.paragraphs):
        if not paragraph.boilerplate:
            for sentence in placed(paragraph.text, paragraph=number, language=language):
                far = is_long(sentence.text, _FAR * most)
                split += _within(sentence, shortened(sentence.text, most)) if far else [sentence]
    return split


def placed(text: str, *, paragraph: int, language: Language) -> list[Sentence]:
    """The sentences of a paragraph, with its number."""
    split = _remembered_sentences if len(text) <= _SHORT_TEXT else sentences
    return _within(Sentence(text, paragraph), split(text, language))


@lru_cache(maxsize=1 << 14)
def _remembered_sentences(text: str, language: Language) -> tuple[str, ...]:
    """Pages that teach words are split three times: to count, to learn, and to align."""
    return tuple(sentences(text, language))


def _within(sentence: Sentence, parts: Iterable[str]) -> list[Sentence]:
    """Its parts, which stand in it in this order, with the space between them."""
    split: list[Sentence] = []
    end = 0
    for part in parts:
        begin = sentence.text.index(part, end)
        space = sentence.text[end:begin] if split else sentence.space + sentence.text[:begin]
        split.append(Sentence(part, sentence.paragraph, space))
        end = begin + len(part)
    return split


def _text(page: Page, split: Sequence[Sentence], language: Language) -> Text:
    paragraphs = list(dict.fromkeys(sentence.paragraph for sentence in split))
    block = {paragraph: number for number, paragraph in enumerate(paragraphs)}
    return Text.marked(
        [sentence.line for sentence in split],
        language,
        [block[sentence.paragraph] for sentence in split],
        [_markup(page, page.paragraphs[paragraph]) for paragraph in paragraphs],
    )


def _markup(page: Page, paragraph: Paragraph) -> list[str]:
    """Its kind, and the tags before it in the page; angle brackets keep them apart from words."""
    tags = page.tags[max(paragraph.position - _CONTEXT, 0) : paragraph.position] if paragraph.position > 0 else ()
    return [f"<{paragraph.kind}>", *(f"<{tag}>" for tag in tags)]


def joined(row: Sequence[Sentence], language: Language) -> str:
    """One text of sentences in a row: as it stands on the page, where all of it is in one paragraph."""
    text = row[0].text if row else ""
    for before, sentence in pairwise(row):
        is_one_paragraph = sentence.paragraph == before.paragraph
        text = text + sentence.space + sentence.text if is_one_paragraph else joined_text(text, sentence.text, language)
    return text.replace(LINE_END, " ")


def joined_text(text: str, following: str, language: Language) -> str:
    """One text of two that do not stand in one paragraph."""
    return text + ("" if is_unspaced_language(language) else " ") + following


def _segment_pair(urls: tuple[Url, Url], both: BothTexts, bead: Bead, languages: Languages) -> SegmentPair:
    a, b = (_segment(both[n], numbers, languages[n]) for n, numbers in enumerate((bead.a, bead.b)))
    return SegmentPair(*urls, a, b, bead.score, f"{len(bead.a)}:{len(bead.b)}")


def _segment(text: PlacedSentences, numbers: Sequence[int], language: Language) -> Segment:
    row = [text.sentences[n] for n in numbers]
    return Segment(joined(row, language), row[0].paragraph, text.numbers[numbers[0]]) if row else Segment("")


class TextPair(NamedTuple):
    """Sentences of two texts that are translations of each other; one side is empty where the other has no counterpart."""

    text_a: str
    text_b: str
    score: float | None  # how probably they are translations, from 0 to 1, as in a corpus; None where one side is empty
    type: str  # sentences on either side: "1:1", "2:1", "0:1"


BothSentences = tuple[Sequence[Sentence], Sequence[Sentence]]
"""Those of two texts."""


def align_sentences(
    texts: Sequence[BothSentences],
    languages: Languages,
    aligner: DocumentAligner | None = None,
    *,
    dictionary: Dictionary | None = None,
) -> list[list[tuple[Bead, TextPair]]]:
    """For each two texts, in order; every sentence of both is in exactly one bead. All share a lexicon.

    Without an `aligner`, words are known from those that ship and a `dictionary`, and learned from these texts. Scores are
    those of a corpus (`Judge`).
    """
    aligner = aligner or LexicalAligner(prior=known_words(*languages, dictionary))
    documents = [Document.plain([s.line for s in a], [s.line for s in b], languages) for a, b in texts]
    aligned = aligner.align_documents(documents)
    judge = Judge(languages, NgramLanguageIdentifier(asked=languages), aligner.lexicon)
    return [_scored(both, beads, judge, languages) for both, beads in zip(texts, aligned, strict=True)]


def _scored(
    texts: BothSentences, beads: Sequence[Bead], judge: Judge, languages: Languages
) -> list[tuple[Bead, TextPair]]:
    a, b = (PlacedSentences(text, range(len(text))) for text in texts)
    pairs = [_segment_pair((NOWHERE, NOWHERE), (a, b), bead, languages) for bead in beads]
    scores = iter(judge.judge([pair for pair in pairs if pair.a.text and pair.b.text]))
    return [
        (
            bead,
            TextPair(pair.a.text, pair.b.text, next(scores).score if pair.a.text and pair.b.text else None, pair.type),
        )
        for bead, pair in zip(beads, pairs, strict=True)
    ]


def align_texts(
    text_a: str, text_b: str, languages: Languages, aligner: DocumentAligner | None = None
) -> list[TextPair]:
    """The sentences of two texts side by side. Each line of a text is a paragraph."""
    texts = text_sentences(text_a, languages[0]), text_sentences(text_b, languages[1])
    return [pair for _bead, pair in align_sentences([texts], languages, aligner)[0]]


def listed_sentences(sentences: Iterable[str], language: Language) -> list[Sentence]:
    """Sentences that somebody else has split. Their paragraphs are not known."""
    space = "" if is_unspaced_language(language) else " "
    return [Sentence(sentence, -1, space) for sentence in sentences]


def text_sentences(text: str, language: Language) -> list[Sentence]:
    """Those of each line; whatever Unicode calls a line break ends one."""
    return [
        sentence
        for number, line in enumerate(text.splitlines())
        for sentence in placed(line, paragraph=number, language=language)
    ]
