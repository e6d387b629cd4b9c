"""Texts as an aligner sees them: words and lengths of their sentences, and the blocks that they stand in."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.align.evidence import Cut, Side
from bitrawl.model import Bead, Language
from bitrawl.text.words import words

# Marks that a translation mostly keeps, each a word of its sentence; full stops and commas are in all of them.
_MARK = re.compile(r"[?!:;\"()…«»“”„%§&*/–—-]")

_ENDLESS = 1000  # words; judgement: of a "sentence" that has more, each counts once


class Text(NamedTuple):
    """One side of a document."""

    sentences: tuple[str, ...]
    tokens: tuple[tuple[str, ...], ...]  # of each sentence
    lengths: NDArray[np.float64]  # in characters
    blocks: NDArray[np.int64]  # the number of the block that each sentence stands in, never falling
    markup: tuple[tuple[str, ...], ...] = ()  # of each block: what its place in the page tells; none for plain text

    @classmethod
    def plain(cls, sentences: Sequence[str], language: Language) -> "Text":
        """All in one block."""
        return cls.marked(sentences, language, [0] * len(sentences), ())

    @classmethod
    def marked(
        cls, sentences: Sequence[str], language: Language, blocks: Sequence[int], markup: Sequence[Sequence[str]]
    ) -> "Text":
        """Of a page."""
        return cls(
            tuple(sentences),
            tuple(sentence_words(sentence, language) for sentence in sentences),
            np.array([len(sentence.strip()) + 1.0 for sentence in sentences], np.float64),
            np.array(blocks, np.int64),
            tuple(tuple(marks) for marks in markup),
        )

    def run(self, end: int, count: int) -> list[str]:
        """The words of so many sentences before that one."""
        return list(chain.from_iterable(self.tokens[end - count : end]))


class Document(NamedTuple):
    """Two texts that are held to be translations of each other."""

    a: Text
    b: Text


def one_sided(document: Document) -> list[Bead]:
    """Where one text is empty, each sentence of the other stands alone."""
    alone = [Bead((i,), (), 1.0) for i in range(len(document.a.tokens))]
    return alone + [Bead((), (j,), 1.0) for j in range(len(document.b.tokens))]


def sentence_words(sentence: str, language: Language) -> tuple[str, ...]:
    """Its words, and those of its marks that a translation keeps."""
    return (*words(sentence, language), *_MARK.findall(unicodedata.normalize("NFKC", sentence)))


class Vocabulary(NamedTuple):
    """The words of one side of many documents, numbered, and how common each is."""

    ids: Mapping[str, int]
    counts: NDArray[np.float64]

    @classmethod
    def of(cls, texts: Iterable[Text], before: "Vocabulary | None" = None) -> "Vocabulary":
        """Markup counts as words, so that what is on every page says little. Words that were there keep their numbers."""
        counts: Counter[str] = Counter()
        if before:
            counts.update(dict(zip(before.ids, before.counts.tolist(), strict=True)))
        for text in texts:
            counts.update(chain.from_iterable(text.tokens))
            counts.update(chain.from_iterable(text.markup))
        frequency = np.fromiter(counts.values(), np.float64, len(counts))
        return cls({word: number for number, word in enumerate(counts)}, frequency)

    @classmethod
    def of_words(cls, words: Iterable[str]) -> "Vocabulary":
        """That were not seen in a text."""
        ids = {word: number for number, word in enumerate(dict.fromkeys(words))}
        return cls(ids, np.zeros(len(ids)))

    @property
    def unigram(self) -> NDArray[np.float64]:
        frequency = self.counts + 0.5
        return frequency / max(float(frequency.sum()), 1.0)


class Numbers(NamedTuple):
    """One side of many documents by the numbers of its words: sentences, the blocks that they stand in, and where each document begins."""

    sentences: Side
    documents: Cut
    block: NDArray[np.int64]  # of each sentence, within its document
    blocks: Side  # as if they were sentences
    block_documents: Cut

    @classmethod
    def of(cls, texts: Sequence[Text], ids: Sequence[Mapping[str, int]], marked: Sequence[bool]) -> "Numbers":
        """`ids` are the numbers of each text's words. Texts that are not `marked` are one block."""
        words: list[int] = []
        sizes: list[int] = []
        blocks: list[list[int]] = []
        for text, numbers, has_blocks in zip(texts, ids, marked, strict=True):
            numbered = [
                [numbers[token] for token in (tokens if len(tokens) <= _ENDLESS else dict.fromkeys(tokens))]
                for tokens in text.tokens
            ]
            words += chain.from_iterable(numbered)
            sizes += map(len, numbered)
            own = [[numbers[mark] for mark in marks] for marks in text.markup] if has_blocks else [[]]
            if has_blocks:
                for block, tokens in zip(text.blocks.tolist(), numbered, strict=True):
                    own[block] += tokens
            blocks += own
        counts = [len(text.markup) if has_blocks else 1 for text, has_blocks in zip(texts, marked, strict=True)]
        block = [text.blocks if has_blocks else 0 * text.blocks for text, has_blocks in zip(texts, marked, strict=True)]
        lengths = [np.bincount(own, text.lengths, count) for own, text, count in zip(block, texts, counts, strict=True)]
        return cls(
            Side.of(np.array(words, np.int64), sizes, np.concatenate([text.lengths for text in texts])),
            Cut.of([len(text.tokens) for text in texts]),
            np.concatenate(block),
            Side.of(
                np.fromiter(chain.from_iterable(blocks), np.int64), list(map(len, blocks)), np.concatenate(lengths)
            ),
            Cut.of(counts),
        )
