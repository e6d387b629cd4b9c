"""The default aligner: lengths, look-alikes and a lexicon that it learns from the texts themselves, pass by pass."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.align import anchors
from bitrawl.align.cognates import cognates
from bitrawl.align.documents import Document, Numbers, Text, Vocabulary, one_sided
from bitrawl.align.dynamic import DELETION, INSERTION, Shape
from bitrawl.align.evidence import Cut, LengthModel, Side, Translation, ranges
from bitrawl.align.search import LONG, Beads, Corpus, Known, Paths, Pieces, Rough
from bitrawl.model import Bead, Language
from bitrawl.text.lexicon import DICTIONARY_WEIGHT, WINDOW, Lexicon, TokenPair, WordBags, windows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Progress = Callable[[int, int], None]

PRIOR: Mapping[Shape, float] = {
    (1, 1): 0.75, DELETION: 0.03, INSERTION: 0.03, (1, 2): 0.07, (2, 1): 0.07, (2, 2): 0.02, (1, 3): 0.015,
    (3, 1): 0.015, (2, 3): 0.005, (3, 2): 0.005, (1, 4): 0.005, (4, 1): 0.005, (3, 3): 0.002, (1, 5): 0.002,
    (5, 1): 0.002,
}  # fmt: skip
PRIOR_WEIGHT = 5.0  # beads a document: many pages have no more than a few
LEAST_PRIOR = 1e-3  # Of a shape that was hardly seen.
PASSES = 8  # At the most.
STEADY = 0.002  # share of beads that still change when another pass is not worth its time
UNTRANSLATED = 0.2
UNSTEADY = 0.05
SAMPLE = 4000
LEAST_LINK, LEAST_LIFT = 0.02, 2.0

log = logging.getLogger(__name__)


class LexicalAligner:
    def __init__(self, *, dictionary: Iterable[TokenPair] = (), memory: int = 20_000) -> None:
        self._dictionary, self._memory = list(dictionary), memory
        self._lexicon = Lexicon.learn([], dictionary=self._dictionary)

    @property
    def lexicon(self) -> Lexicon:
        return self._lexicon

    def align(self, a: Sequence[str], b: Sequence[str], languages: tuple[Language, Language]) -> list[Bead]:
        return self.align_documents([Document(Text.plain(a, languages[0]), Text.plain(b, languages[1]))])[0]

    def align_documents(self, documents: Sequence[Document]) -> list[list[Bead]]:
        whole = [document for document in documents if document.a.tokens and document.b.tokens]
        found = iter(self._align(whole)) if whole else iter(())
        return [
            next(found) if document.a.tokens and document.b.tokens else one_sided(document) for document in documents
        ]

    def _align(self, documents: Sequence[Document]) -> list[list[Bead]]:
        passes = _Passes(documents)
        passes.run(self._lexicon)
        self._lexicon = passes.lexicon
        return passes.beads_of_documents()


class _Passes:
    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        self._vocabularies = Vocabulary.of(d.a for d in documents), Vocabulary.of(d.b for d in documents)
        ids_a, ids_b = (vocabulary.ids for vocabulary in self._vocabularies)
        a = Numbers.of([d.a for d in documents], [ids_a] * len(documents))
        b = Numbers.of([d.b for d in documents], [ids_b] * len(documents))
        marked = np.array([bool(d.a.markup and d.b.markup) for d in documents])
        self._corpus = Corpus(a, b, marked)
        self._look_alike = cognates(list(ids_a), list(ids_b))
        self._prior = dict(PRIOR)
        self._length = LengthModel(float(b.sentences.lengths.sum() / a.sentences.lengths.sum()))

    def run(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        sample, rest = _sampled(self._corpus.a.documents.size)
        rough = self._rough(sample, self._anchored(sample))
        self._learn(rough.teaching(), rough.counts)
        rough = self._rough(sample, rough.paths(LONG))
        sure, pieces = rough.cut()
        sure, beads, teaching = self._passes(sure, pieces, learning=True)
        found, lessons = [sure, beads], [teaching]
        if len(rest):
            sure, pieces = self._rough(rest, self._anchored(rest)).cut()
            sure, beads, teaching = self._passes(sure, pieces, learning=False)
            found += [sure, beads]
            lessons.append(teaching)
            self._learn(Beads.joined(lessons), None)
        self.beads = Beads.joined(found)

    def _passes(self, sure, pieces, *, learning):
        before, beads, teaching = None, Beads.none(), sure
        for number in range(1, PASSES):
            if not pieces.count:
                break
            beads, found = self._corpus.fine(self._known(), pieces)
            teaching = Beads.joined([sure.where((sure.ka > 0) & (sure.kb > 0)), found.teaching()])
            if not learning:
                break
            counts = dict(found.counts)
            for shape in ((1, 1), DELETION, INSERTION):
                counts[shape] += float(((sure.ka == shape[0]) & (sure.kb == shape[1])).sum())
            self._learn(teaching, counts)
            now = set(zip(*(column.tolist() for column in beads[1:5]), strict=True))
            changed = len(now - before) if before is not None else UNSTEADY * len(now)
            if changed <= STEADY * (len(sure.a) + len(beads.a)):
                break
            before = now
            if number < PASSES - 1:
                more, rest = found.cut()
                sure = Beads.joined([sure, more._replace(document=pieces.document[more.document])])
                pieces = rest._replace(document=pieces.document[rest.document])
        log.info("pass %d sure %d pieces %d beads %d", number, len(sure.a), pieces.count, len(beads.a))
        return sure, beads, teaching

    def _anchored(self, which: Ints) -> Paths:
        sure = _sure(self.lexicon)
        long = [d for d in which.tolist() if max(len(text.tokens) for text in self._documents[d]) > LONG]
        return {d: anchors.path(self._documents[d], sure) for d in long}

    def _rough(self, which: Ints, paths: Paths) -> Rough:
        known = self._known()
        self._corpus.align_blocks(known, which)
        return self._corpus.rough(known, which, paths)

    def _known(self) -> Known:
        return Known(self._translations(self.lexicon), self._length, self._prior)

    def _learn(self, beads: Beads, counts: Mapping[Shape, float]) -> None:
        a, b = self._corpus.a.sentences, self._corpus.b.sentences
        ids = tuple(vocabulary.ids for vocabulary in self._vocabularies)
        self.lexicon = Lexicon.of_numbers(ids, _bags(a, beads.a, beads.ka), _bags(b, beads.b, beads.kb), beads.probability)
        sure = beads.probability > 0.5
        if sure.sum() > 20:
            length_a, length_b = (
                np.add.reduceat(side.lengths[ranges(first, first + count)], np.cumsum(count) - count)
                for side, first, count in ((a, beads.a[sure], beads.ka[sure]), (b, beads.b[sure], beads.kb[sure]))
            )
            model = LengthModel(float(length_b.sum() / length_a.sum()))
            self._length = model._replace(spread=max(float(model.error(length_a, length_b).mean()), 1.0))
        if counts is None:
            return
        known = {shape: PRIOR_WEIGHT * len(self._documents) * PRIOR[shape] + count for shape, count in counts.items()}
        share = sum(PRIOR[shape] for shape in counts) / sum(known.values())
        self._prior = {shape: max(known[shape] * share, LEAST_PRIOR) if shape in known else PRIOR[shape] for shape in PRIOR}

    def beads_of_documents(self) -> list[list[Bead]]:
        beads = self.beads.where(np.lexsort((self.beads.b + self.beads.kb, self.beads.a + self.beads.ka, self.beads.document)))
        first_a, first_b = self._corpus.a.documents.first, self._corpus.b.documents.first
        found: list[list[Bead]] = [[] for _ in self._documents]
        for d, a, ka, b, kb, p in zip(
            beads.document.tolist(),
            (beads.a - first_a[beads.document]).tolist(),
            beads.ka.tolist(),
            (beads.b - first_b[beads.document]).tolist(),
            beads.kb.tolist(),
            np.clip(beads.probability, 0, 1).round(4).tolist(),
            strict=True,
        ):
            found[d].append(Bead(tuple(range(a, a + ka)), tuple(range(b, b + kb)), p))
        return found

    def _translations(self, lexicon: Lexicon) -> tuple[Translation, Translation]:
        ids_a, ids_b = (vocabulary.ids for vocabulary in self._vocabularies)
        a, b = lexicon.links.a, lexicon.links.b
        if lexicon.ids_a is not ids_a:
            to_a = np.array([ids_a.get(word, -1) for word in lexicon.names_a], np.int64)
            to_b = np.array([ids_b.get(word, -1) for word in lexicon.names_b], np.int64)
            a, b = (to[side] if len(to) else side for to, side in ((to_a, a), (to_b, b)))
        known = (a >= 0) & (b >= 0)
        like_a, like_b, likeness = self._look_alike
        a, b = np.append(a[known], like_a), np.append(b[known], like_b)
        forward = np.append(lexicon.links.forward[known], likeness)
        backward = np.append(lexicon.links.backward[known], likeness)
        u, v = (vocabulary.unigram for vocabulary in self._vocabularies)
        return _translation(a, b, forward, u, v), _translation(b, a, backward, v, u)


def _sampled(sizes: Ints) -> tuple[Ints, Ints]:
    """Documents to learn from, from everywhere, and the rest."""
    total = int(sizes.sum())
    if total <= 2 * SAMPLE:
        return np.arange(len(sizes)), np.zeros(0, np.int64)
    ends = np.cumsum(sizes)
    step = total // SAMPLE
    order = np.concatenate([np.arange(first, len(sizes), step) for first in range(step)])
    count = int(np.searchsorted(np.cumsum(sizes[order]), SAMPLE)) + 1
    return np.sort(order[:count]), np.sort(order[count:])


def _bags(side: Side, first: Ints, count: Ints) -> WordBags:
    """The different words of each run of sentences."""
    begin, end = side.begin[first], side.begin[first + count]
    bag = np.repeat(np.arange(len(first)), end - begin)
    size = int(side.word.max(initial=0)) + 1
    key = np.sort(bag * size + side.word[ranges(begin, end)])
    key = key[np.append(True, key[1:] != key[:-1])[: len(key)]]
    return WordBags(key % size, np.searchsorted(key, np.arange(len(first) + 1) * size))


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
    begin = np.searchsorted(source, np.arange(len(unigram_source) + 1))
    return Translation(begin, target, probability, left, unigram)


def _sure(lexicon: Lexicon) -> dict[str, list[str]]:
    links = lexicon.links
    sure = np.minimum(links.forward, links.backward) > 0.3
    found: dict[str, list[str]] = {}
    for a, b in zip(links.a[sure].tolist(), links.b[sure].tolist(), strict=True):
        found.setdefault(lexicon.names_a[a], []).append(lexicon.names_b[b])
    return found
