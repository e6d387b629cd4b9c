"""The default aligner: lengths, look-alikes and a lexicon that it learns from the texts themselves, pass by pass."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.align import anchors
from bitrawl.align.cognates import cognates
from bitrawl.align.documents import Document, Text, Vocabulary, one_sided
from bitrawl.align.dynamic import DELETION, INSERTION, Band, Shape, Step, as_bead, best_chain, posteriors
from bitrawl.align.evidence import LengthModel, Translation, length_gains, lexical_gains
from bitrawl.model import Bead, Language
from bitrawl.text.lexicon import Lexicon, TokenPair

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Sentences on either side of a bead, and how common such beads are before any are seen: about as in Gale and Church
# 1993, who have none beyond 2-2. On Text+Berg and MAC dev (2026-11) those beyond 3-1 bring two points of F1.
PRIOR: Mapping[Shape, float] = {
    (1, 1): 0.75, DELETION: 0.03, INSERTION: 0.03, (1, 2): 0.07, (2, 1): 0.07, (2, 2): 0.02, (1, 3): 0.015,
    (3, 1): 0.015, (2, 3): 0.005, (3, 2): 0.005, (1, 4): 0.005, (4, 1): 0.005, (3, 3): 0.002, (1, 5): 0.002,
    (5, 1): 0.002,
}  # fmt: skip
# Judgements, except where a line names its evidence.
PRIOR_WEIGHT = 5.0  # beads a document: many pages have no more than a few
LEAST_PRIOR = 1e-3  # Of a shape that was hardly seen.
PASSES = 8  # At the most.
STEADY = 0.002  # share of beads that still change when another pass is not worth its time
# Weight of the words beside the lengths, below 1 because words do not come independently: it is what makes
# probabilities honest. Swept 0.3–1.0 on Text+Berg and MAC dev (2026-11): F1 flat from 0.45 to 0.8.
LEXICAL_WEIGHT = 0.6
# Of a word's occurrences, so many are translated by nothing that we know, however well we know the word. Swept 0.1–0.45 on
# Text+Berg and MAC dev (2026-11): half a point between best and worst.
UNTRANSLATED = 0.2
# A link that is weaker, or hardly likelier than chance, costs time and says little. F1 (2026-11) on Text+Berg is half a
# point lower with 0.005, in twice the time; on MAC dev it is 0.7 points lower with 0.05.
LEAST_LINK, LEAST_LIFT = 0.02, 2.0
LEAST_LEARNED = 0.2  # probability of a bead that the lexicon learns from
# Nodes to a row: until a first pass has found the path, and around it. Texts of fewer sentences are searched whole.
WIDE, NARROW = 320, 64
MARGIN = 8  # A path so near to the edge of its band may have wanted to leave it: again, twice as wide.
LOST = 0.4  # And so may one on which so many sentences have no counterpart.
MOST = 4_000_000  # nodes, 32 MB a table: no band of a long text is widened beyond it
MANY = 300_000  # nodes of a wide band: for more, only the common shapes, which are enough to find the path
# Nats for a bead of a page that goes on into another block; a judgement: one in twenty paragraphs is cut in two.
CROSSED = 3.0
WIDE_SHAPES: tuple[Shape, ...] = ((1, 1), DELETION, INSERTION, (1, 2), (2, 1))

log = logging.getLogger(__name__)


class Learned(NamedTuple):
    """What aligning has taught: words of beads that are probably right, and how probably."""

    pairs: list[TokenPair]
    weights: list[float]


class LexicalAligner:
    """Needs nothing but the texts; documents that are aligned together share their lexicon.

    What it has learned it keeps for the documents to come, up to `memory` beads.
    """

    def __init__(self, *, dictionary: Iterable[TokenPair] = (), memory: int = 20_000) -> None:
        self._dictionary, self._memory = list(dictionary), memory
        self._learned = Learned([], [])
        self._lexicon = Lexicon.learn([], dictionary=self._dictionary)

    @property
    def lexicon(self) -> Lexicon:
        """Learned from what was aligned so far, and the dictionary."""
        return self._lexicon

    def align(self, a: Sequence[str], b: Sequence[str], languages: tuple[Language, Language]) -> list[Bead]:
        """Every sentence is in exactly one bead, in order."""
        return self.align_documents([Document(Text.plain(a, languages[0]), Text.plain(b, languages[1]))])[0]

    def align_documents(self, documents: Sequence[Document]) -> list[list[Bead]]:
        """All with one lexicon."""
        whole = [document for document in documents if document.a.tokens and document.b.tokens]
        found = iter(self._align(whole)) if whole else iter(())
        return [
            [as_bead(step) for step in next(found)] if document.a.tokens and document.b.tokens else one_sided(document)
            for document in documents
        ]

    def _align(self, documents: Sequence[Document]) -> list[list[Step]]:
        passes = _Passes(documents)
        chains: list[list[Step]] = []
        for number in range(PASSES):
            before, chains = chains, passes.run(self._lexicon)
            learned = passes.learned()
            pairs = [*self._learned.pairs, *learned.pairs]
            weights = [*self._learned.weights, *learned.weights]
            self._lexicon = Lexicon.learn(pairs, weights=weights, dictionary=self._dictionary)
            if number and _changed(before, chains) <= STEADY:
                break
        log.info("aligned %d documents in %d passes, %d words linked", len(documents), number + 1, len(self.lexicon))
        self._learned = Learned(pairs[-self._memory :], weights[-self._memory :])
        return chains


class _Passes:
    """What is known of the documents, better with each pass."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        self._vocabularies = Vocabulary.of(d.a for d in documents), Vocabulary.of(d.b for d in documents)
        self._look_alike = cognates(list(self._vocabularies[0].ids), list(self._vocabularies[1].ids))
        self._bands: list[Band | None] = [None] * len(documents)
        self._prior = dict(PRIOR)
        lengths = [sum(float(text.lengths.sum()) for text in side) for side in zip(*documents, strict=True)]
        self._length = LengthModel(lengths[1] / lengths[0])
        self._found: list[tuple[Band, dict[Shape, Floats]]] = []

    def run(self, lexicon: Lexicon) -> list[list[Step]]:
        """The beads of each document."""
        translations = self._translations(lexicon)
        self._found = []
        chains = []
        counts = {shape: PRIOR_WEIGHT * share * len(self._documents) for shape, share in PRIOR.items()}
        for number, document in enumerate(self._documents):
            band, probabilities, chain = self._search(number, document, lexicon, translations)
            self._bands[number] = Band.around(_path(chain, len(document.a.tokens)), len(document.b.tokens), NARROW)
            for shape, probability in probabilities.items():
                counts[shape] += float(probability.sum())
                probability[probability < LEAST_LEARNED] = 0.0
            self._found.append((band, probabilities))
            chains.append(chain)
        total = sum(counts.values())
        self._prior = {shape: max(count / total, LEAST_PRIOR) for shape, count in counts.items()}
        return chains

    def learned(self) -> Learned:
        """From the last pass; the model of lengths is adjusted by the way."""
        pairs: list[TokenPair] = []
        weights, lengths = [], []
        for document, (band, probabilities) in zip(self._documents, self._found, strict=True):
            for (ka, kb), probability in probabilities.items():
                if not ka or not kb:
                    continue
                rows, columns = np.nonzero(probability)
                for i, j, weight in zip(
                    rows.tolist(), (columns + band.low[rows]).tolist(), probability[rows, columns].tolist(), strict=True
                ):
                    pairs.append((document.a.run(i, ka), document.b.run(j, kb)))
                    weights.append(weight)
                    if weight > 0.5:
                        lengths.append((document.a.lengths[i - ka : i].sum(), document.b.lengths[j - kb : j].sum()))
        if len(lengths) > 20:
            a, b = np.array(lengths).T
            model = LengthModel(b.sum() / a.sum())
            self._length = model._replace(spread=max(float(model.error(a, b).mean()), 1.0))
        return Learned(pairs, weights)

    def _search(
        self, number: int, document: Document, lexicon: Lexicon, translations: tuple[Translation, Translation]
    ) -> tuple[Band, dict[Shape, Floats], list[Step]]:
        """Within a band that is widened until the path keeps clear of its edges."""
        size = len(document.b.tokens)
        band = self._bands[number] or Band.around(anchors.path(document, _sure(lexicon)), size, WIDE)
        widest = max(WIDE, MOST // len(band.low))
        while True:
            probabilities = posteriors(band, self._gains(document, band, translations))
            chain = best_chain(band, probabilities)
            if band.whole or band.width >= widest or not _leaves(band, chain):
                return band, probabilities, chain
            width = min((4 if _lost(chain) else 2) * band.width, widest)
            band = Band.around(_path(chain, band.size_a), size, width)

    def _gains(
        self, document: Document, band: Band, translations: tuple[Translation, Translation]
    ) -> dict[Shape, Floats]:
        few = band.width >= WIDE and len(band.low) * band.width > MANY
        shapes = [shape for shape in (WIDE_SHAPES if few else PRIOR) if all(shape)]
        bags = self._vocabularies[0].bags(document.a.tokens), self._vocabularies[1].bags(document.b.tokens)
        gains = lexical_gains(bags, translations, band, shapes)
        lengths = length_gains(document.a.lengths, document.b.lengths, self._length, band, shapes)
        for shape in shapes:
            gains[shape] *= LEXICAL_WEIGHT
            gains[shape] += lengths[shape] + np.log(self._prior[shape])
        for shape in (DELETION, INSERTION):
            gains[shape] = np.full(gains[1, 1].shape, np.log(self._prior[shape]))
        if document.a.markup and document.b.markup:
            self._add_blocks(gains, document, band, translations)
        return gains

    def _add_blocks(
        self,
        gains: dict[Shape, Floats],
        document: Document,
        band: Band,
        translations: tuple[Translation, Translation],
    ) -> None:
        """A bead is held to the worse of its two ends, and pays for each block that it goes on into."""
        together = anchors.block_gains(document, self._vocabularies, translations, self._length, LEXICAL_WEIGHT)
        rows, columns = np.arange(len(band.low))[:, None], band.columns()
        blocks_a, blocks_b = document.a.blocks, document.b.blocks
        for ka, kb in gains:
            if ka and kb:
                first_a, last_a = blocks_a[np.maximum(rows - ka, 0)], blocks_a[rows - 1]
                first_b, last_b = blocks_b[np.maximum(columns - kb, 0)], blocks_b[columns - 1]
                gains[ka, kb] += np.minimum(together[first_a, first_b], together[last_a, last_b])
                gains[ka, kb] -= CROSSED * (last_a - first_a + last_b - first_b)

    def _translations(self, lexicon: Lexicon) -> tuple[Translation, Translation]:
        """The lexicon and the look-alikes by the numbers of these documents, both ways."""
        ids_a, ids_b = (vocabulary.ids for vocabulary in self._vocabularies)
        to_a = np.array([ids_a.get(word, -1) for word in lexicon.names_a], np.int64)
        to_b = np.array([ids_b.get(word, -1) for word in lexicon.names_b], np.int64)
        a, b = (to[side] if len(to) else side for to, side in ((to_a, lexicon.links.a), (to_b, lexicon.links.b)))
        known = (a >= 0) & (b >= 0)
        like_a, like_b, likeness = self._look_alike
        a, b = np.append(a[known], like_a), np.append(b[known], like_b)
        forward = np.append(lexicon.links.forward[known], likeness)
        backward = np.append(lexicon.links.backward[known], likeness)
        u, v = (vocabulary.unigram for vocabulary in self._vocabularies)
        return _translation(a, b, forward, u, v), _translation(b, a, backward, v, u)


def _translation(
    source: Ints, target: Ints, probability: Floats, unigram_source: Floats, unigram: Floats
) -> Translation:
    """Of links that are there twice the better; so scaled that something is left of every word."""
    order = np.lexsort((-probability, target, source))
    source, target, probability = source[order], target[order], probability[order]
    first = np.append(True, (np.diff(source) != 0) | (np.diff(target) != 0))[: len(source)]
    kept = first & (probability > np.maximum(LEAST_LINK, LEAST_LIFT * unigram[target]))
    source, target, probability = source[kept], target[kept], probability[kept]
    total = np.bincount(source, probability, len(unigram_source))
    probability = probability * ((1 - UNTRANSLATED) / np.maximum(total, 1.0))[source]
    left = 1.0 - np.bincount(source, probability, len(unigram_source)).astype(np.float64)
    return Translation(source, target, probability, left, unigram)


def _sure(lexicon: Lexicon) -> dict[str, list[str]]:
    """Words with translations that translate back."""
    links = lexicon.links
    sure = np.minimum(links.forward, links.backward) > 0.3
    found: dict[str, list[str]] = {}
    for a, b in zip(links.a[sure].tolist(), links.b[sure].tolist(), strict=True):
        found.setdefault(lexicon.names_a[a], []).append(lexicon.names_b[b])
    return found


def _path(chain: Sequence[Step], size: int) -> Floats:
    """The j at which each i is reached."""
    reached = {0: 0}
    for step in chain:
        reached.setdefault(step.i, step.j)
    return np.interp(np.arange(size + 1), list(reached), list(reached.values()))


def _leaves(band: Band, chain: Sequence[Step]) -> bool:
    i, j = (np.array(side) for side in zip(*((step.i, step.j) for step in chain), strict=True))
    low = band.low[i]
    near_low = (j - low < MARGIN) & (low > 0)
    near_high = (low + band.width - j <= MARGIN) & (low + band.width <= band.size_b)
    return bool((near_low | near_high).any()) or _lost(chain)


def _lost(chain: Sequence[Step]) -> bool:
    return sum(not all(step.shape) for step in chain) > LOST * len(chain)


def _changed(before: Sequence[Sequence[Step]], after: Sequence[Sequence[Step]]) -> float:
    old = {(number, step[:3]) for number, chain in enumerate(before) for step in chain}
    new = {(number, step[:3]) for number, chain in enumerate(after) for step in chain}
    return len(new - old) / len(new)
