"""Alignment by sentence embeddings, after Thompson and Koehn 2019 (Vecalign): the extra `neural`."""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from bitrawl.mining import align_evidence
from bitrawl.mining.align_evidence import Document, one_sided
from bitrawl.mining.beads import DELETION, INSERTION, Lattices, Shape, best_chains, posteriors
from bitrawl.model import Bead
from bitrawl.protocols import Encoder
from bitrawl.text.arrays import Floats, Floats32
from bitrawl.text.lexicon import Lexicon, TokenPair

# Priors of beads beside 1-1, in nats: for each sentence more, and for a sentence alone. All judgements.
_PER_SENTENCE = 2.0
_SKIP = -4.0
_APART = 0.1  # Between the cosines of strangers and of translations, at least: else there is nothing to go by.
_STEEPEST = 40.0  # Log-odds for a cosine higher by 1.
_NEIGHBOURS = 16  # strangers of a sentence
SHAPES: tuple[Shape, ...] = ((1, 1), DELETION, INSERTION, (1, 2), (2, 1), (2, 2), (1, 3), (3, 1))
_COUNTS = sorted({count for shape in SHAPES for count in shape if count})
_WIDTH = 320  # nodes to a row, as in align_search.py
_SURE = 0.5  # probability of a bead that the lexicon learns from


class EmbeddingAligner:
    """Beads by the cosine of their texts, against that of random pairs of the same texts."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._pairs: list[TokenPair] = []

    @property
    def lexicon(self) -> Lexicon:
        """Learned from the beads found so far: not needed here, but for judging them."""
        return Lexicon.learn(self._pairs)

    def align_documents(self, documents: Sequence[Document]) -> list[list[Bead]]:
        """Each document by itself; every sentence is in exactly one bead."""
        return [self._align(document) for document in documents]

    def knowing(self) -> "EmbeddingAligner":
        """One with a lexicon of its own: that of this one stays as it is."""
        return EmbeddingAligner(self._encoder)

    def _align(self, document: Document) -> list[Bead]:
        a, b = document.a.sentences, document.b.sentences
        if not a or not b:
            return one_sided(document)
        band = Lattices.around(align_evidence.path(document), len(b), _WIDTH)
        gains = {shape: table[:, None, :] for shape, table in self._gains(a, b, band).items()}
        chains = best_chains(band, posteriors(band, gains).beads)
        beads = []
        for ka, kb, i, j, probability in zip(*(column.tolist() for column in chains[1:]), strict=True):
            score = round(min(max(probability, 0.0), 1.0), 4)
            beads.append(Bead(tuple(range(i - ka, i)), tuple(range(j - kb, j)), score))
            if ka and kb and probability > _SURE:
                self._pairs.append((document.a.run(i, ka), document.b.run(j, kb)))
        return beads

    def _gains(self, a: Sequence[str], b: Sequence[str], band: Lattices) -> dict[Shape, Floats]:
        runs_a, runs_b = self._run_vectors(a, b)
        single = _banded(runs_a[1], runs_b[1], band)
        measure = Measure.of(_strangers(runs_a[1], runs_b[1]), _mutual(single, band))
        gains = {}
        for ka, kb in SHAPES:
            if ka and kb:
                like = single if ka == kb == 1 else _banded(runs_a[ka], runs_b[kb], band)
                gains[ka, kb] = measure.log_odds(like) - _PER_SENTENCE * (ka + kb - 2)
            else:
                gains[ka, kb] = np.full((len(band.low), band.width), _SKIP)
        return gains

    def _run_vectors(self, *texts: Sequence[str]) -> list[dict[int, Floats32]]:
        """For each text, by a number of sentences, the vectors of each sentence with so many up to it.

        All in one go: a model is fastest when it may sort many texts by length.
        """
        runs = [
            [" ".join(sentences[max(i - count, 0) : i]) for i in range(1, len(sentences) + 1)]
            for sentences in texts
            for count in _COUNTS
        ]
        rows = self._encoder.encode(list(chain.from_iterable(runs)))
        parts = iter(np.split(rows, np.cumsum([len(run) for run in runs])[:-1]))
        return [{count: next(parts) for count in _COUNTS} for _ in texts]


class Measure(NamedTuple):
    """What a cosine says, by the texts themselves: encoders differ in those of strangers and of translations."""

    middle: float
    slope: float

    @classmethod
    def of(cls, strangers: Floats, matches: Floats) -> "Measure":
        """From some cosines of either kind: two normal distributions of one variance."""
        if not len(strangers) or not len(matches):
            return cls(0.5, _STEEPEST)
        # Of short texts some strangers are none: quartiles mind that less than a mean.
        lower, low, upper = np.quantile(strangers, [0.25, 0.5, 0.75]).tolist()
        high = max(float(matches.mean()), low + _APART)
        variance = (((upper - lower) / 1.349) ** 2 + float(matches.var())) / 2
        return cls((low + high) / 2, min((high - low) / max(variance, 1e-6), _STEEPEST))

    def log_odds(self, cosines: Floats) -> Floats:
        """How much likelier each cosine is one of translations than one of strangers."""
        return self.slope * (cosines - self.middle)


def _strangers(a: Floats32, b: Floats32) -> Floats:
    """The cosines of sentences that have nothing to do with each other: those far apart."""
    shifts = [len(b) * (n + 1) // (_NEIGHBOURS + 2) for n in range(_NEIGHBOURS)]
    at = np.arange(len(a)) * len(b) // len(a)
    cosines = [(a * b[(at + shift) % len(b)]).sum(axis=1) for shift in shifts if shift]
    return np.concatenate(cosines).astype(np.float64) if cosines else np.zeros(0)


def _mutual(table: Floats, band: Lattices) -> Floats:
    """The cosines of sentences that are each other's nearest in the band."""
    columns, size_b = band.columns()[1:], int(band.sizes_b[0])
    nearest = table[1:].max(axis=1, initial=-1.0)
    best = np.full(size_b + 1, -1.0)
    np.maximum.at(best, np.minimum(columns, size_b), np.where(columns <= size_b, table[1:], -1.0))
    at = columns[np.arange(len(columns)), table[1:].argmax(axis=1)]
    mutual: Floats = nearest[(nearest >= best[np.minimum(at, size_b)]) & (nearest > 0)]
    return mutual


def _banded(a: Floats32, b: Floats32, band: Lattices) -> Floats:
    table = np.zeros((len(band.low), band.width))
    for i in range(1, len(band.low)):
        low = max(int(band.low[i]), 1)
        high = int(band.low[i]) + band.width
        table[i, low - int(band.low[i]) :] = b[low - 1 : high - 1] @ a[i - 1]
    return table
