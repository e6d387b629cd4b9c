"""Alignment by sentence embeddings, after Thompson and Koehn 2019 (Vecalign): the extra `neural`."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bitrawl.align import anchors
from bitrawl.align.documents import Document, Text, one_sided
from bitrawl.align.dynamic import DELETION, INSERTION, Band, Shape, as_bead, best_chain, posteriors
from bitrawl.errors import ConfigError
from bitrawl.model import Bead, Language
from bitrawl.text.lexicon import Lexicon, TokenPair

Floats = NDArray[np.float64]

# Priors of beads beside 1-1, in nats for each sentence more; and what makes a similarity a probability. Judgements
# after Vecalign, whose cost of a bead grows with its number of sentences; not swept, for want of a model here.
_PER_SENTENCE = 1.0
_SHARPNESS = 12.0
_SKIP = -2.0
_NEIGHBOURS = 16  # random sentences that a similarity is measured against
SHAPES: tuple[Shape, ...] = ((1, 1), DELETION, INSERTION, (1, 2), (2, 1), (2, 2), (1, 3), (3, 1))
_WIDTH = 320
_SURE = 0.5  # probability of a bead that the lexicon learns from


class Encoder(Protocol):
    """As sentence-transformers has it."""

    def encode(self, sentences: list[str], **options: Any) -> Any:
        """A row for each."""
        ...


def load_encoder(model: str) -> Encoder:
    """A model of sentence-transformers by its name or path ("sentence-transformers/LaBSE"); raises `ConfigError`."""
    try:
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415 an extra, and seconds to import
    except ImportError as error:
        raise ConfigError('embeddings need the extra "neural": pip install "bitrawl[neural]"') from error
    try:
        encoder: Encoder = SentenceTransformer(model)
    except (OSError, ValueError) as error:
        raise ConfigError(f"the model {model} cannot be loaded: {error}") from error
    return encoder


class EmbeddingAligner:
    """Beads by the cosine of their texts, against that of random pairs of the same texts."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._pairs: list[TokenPair] = []

    @property
    def lexicon(self) -> Lexicon:
        """Learned from the beads found so far: not needed here, but for judging them."""
        return Lexicon.learn(self._pairs)

    def align(self, a: Sequence[str], b: Sequence[str], languages: tuple[Language, Language]) -> list[Bead]:
        """Every sentence is in exactly one bead, in order."""
        return self.align_documents([Document(Text.plain(a, languages[0]), Text.plain(b, languages[1]))])[0]

    def align_documents(self, documents: Sequence[Document]) -> list[list[Bead]]:
        """Each alone."""
        return [self._align(document) for document in documents]

    def _align(self, document: Document) -> list[Bead]:
        a, b = document.a.sentences, document.b.sentences
        if not a or not b:
            return one_sided(document)
        band = Band.around(anchors.path(document), len(b), _WIDTH)
        chain = best_chain(band, posteriors(band, self._gains(a, b, band)))
        beads = [as_bead(step) for step in chain]
        sure = [step for step in chain if all(step.shape) and step.probability > _SURE]
        self._pairs += [(document.a.run(step.i, step.shape[0]), document.b.run(step.j, step.shape[1])) for step in sure]
        return beads

    def _gains(self, a: Sequence[str], b: Sequence[str], band: Band) -> dict[Shape, Floats]:
        runs_a = {k: self._embedded(a, k) for k in {ka for ka, _ in SHAPES if ka}}
        runs_b = {k: self._embedded(b, k) for k in {kb for _, kb in SHAPES if kb}}
        strangers = _strangers(runs_a[1], runs_b[1])
        gains = {}
        for ka, kb in SHAPES:
            if ka and kb:
                like = _banded(runs_a[ka], runs_b[kb], band)
                # Vecalign's normalisation: a cosine says something only beside that of strangers.
                gains[ka, kb] = _SHARPNESS * (like - (1 + strangers) / 2) / (1 - strangers) - _PER_SENTENCE * (
                    ka + kb - 2
                )
            else:
                gains[ka, kb] = np.full((len(band.low), band.width), _SKIP)
        return gains

    def _embedded(self, sentences: Sequence[str], count: int) -> Floats:
        """Each sentence with those before it, as one text."""
        texts = [" ".join(sentences[max(i - count, 0) : i]) for i in range(1, len(sentences) + 1)]
        rows = np.asarray(self._encoder.encode(texts), np.float64)
        embedded: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return embedded


def _strangers(a: Floats, b: Floats) -> float:
    """The mean cosine of sentences that have nothing to do with each other: those far apart."""
    shifts = [len(b) * (n + 1) // (_NEIGHBOURS + 2) for n in range(_NEIGHBOURS)]
    rows = np.arange(len(a))
    at = rows * len(b) // len(a)
    cosines = [(a * b[(at + shift) % len(b)]).sum(axis=1).mean() for shift in shifts if shift]
    return min(float(np.mean(cosines)), 0.9) if cosines else 0.0


def _banded(a: Floats, b: Floats, band: Band) -> Floats:
    table = np.zeros((len(band.low), band.width))
    for i in range(1, len(band.low)):
        low = max(int(band.low[i]), 1)
        high = int(band.low[i]) + band.width
        table[i, low - int(band.low[i]) :] = b[low - 1 : high - 1] @ a[i - 1]
    return table
