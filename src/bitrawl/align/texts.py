"""From two plain texts to their sentences, side by side."""

from typing import NamedTuple

from bitrawl.align.documents import Document, Text
from bitrawl.align.lexical import LexicalAligner
from bitrawl.align.pages import DocumentAligner, Sentence, joined, placed
from bitrawl.model import Language


class TextPair(NamedTuple):
    """Sentences of two texts that are translations of each other; one side is empty where the other has no counterpart."""

    text_a: str
    text_b: str
    score: float  # 0–1, higher is better
    type: str  # sentences on either side: "1:1", "2:1", "0:1"


def align_texts(
    text_a: str, text_b: str, languages: tuple[Language, Language], aligner: DocumentAligner | None = None
) -> list[TextPair]:
    """In order; every sentence of both texts is in exactly one pair. Each line of a text is a paragraph.

    Without an `aligner`, words are learned from the two texts alone.
    """
    a, b = (text_sentences(text, language) for text, language in zip((text_a, text_b), languages, strict=True))
    document = Document(
        *(
            Text.plain([sentence.text for sentence in found], language)
            for found, language in zip((a, b), languages, strict=True)
        )
    )
    [beads] = (aligner or LexicalAligner()).align_documents([document])
    return [
        TextPair(
            joined([a[number] for number in bead.a], languages[0]),
            joined([b[number] for number in bead.b], languages[1]),
            bead.score,
            f"{len(bead.a)}:{len(bead.b)}",
        )
        for bead in beads
    ]


def text_sentences(text: str, language: Language) -> list[Sentence]:
    """Those of each line; whatever Unicode calls a line break ends one."""
    return [
        sentence
        for number, line in enumerate(text.splitlines())
        for sentence in placed(line, paragraph=number, language=language)
    ]
