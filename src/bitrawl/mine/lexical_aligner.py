"""The default aligner: lengths, look-alikes and a lexicon that it learns from the texts themselves, pass by pass.

What beads teach: the words of either side, and the lengths.

From a lexicon and look-alikes to the probabilities that alignment needs, by the numbers of a vocabulary.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.mine import align_evidence
from bitrawl.mine.align_evidence import (
    AlignSide,
    Document,
    LengthModel,
    NumberedSide,
    SideVocabulary,
    Text,
    Translation,
    cognates,
    one_sided,
    ranges,
)
from bitrawl.mine.align_search import LONG, AlignKnowledge, Beads, Corpus, Paths, Pieces
from bitrawl.mine.beads import DELETION, INSERTION, Shape
from bitrawl.model import Bead, Language
from bitrawl.text.lexicon import DICTIONARY_WEIGHT, WINDOW, Lexicon, TokenPair, WordBags, windows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Lessons(NamedTuple):
    """Bags of words of either language that translate each other, and how probably."""

    a: WordBags
    b: WordBags
    weights: Floats

    @classmethod
    def none(cls) -> "Lessons":
        return cls(WordBags.of([]), WordBags.of([]), np.zeros(0))

    @classmethod
    def of_entries(cls, entries: Sequence[TokenPair], vocabularies: tuple[SideVocabulary, SideVocabulary]) -> "Lessons":
        """Of a dictionary whose words are in the vocabularies."""
        a, b = (
            WordBags.of([sorted({vocabularies[side].ids[word] for word in entry[side]}) for entry in entries])
            for side in (0, 1)
        )
        return cls(a, b, np.full(len(entries), DICTIONARY_WEIGHT))

    @classmethod
    def joined(cls, some: Sequence["Lessons"]) -> "Lessons":
        return cls(
            WordBags.joined([each.a for each in some]),
            WordBags.joined([each.b for each in some]),
            np.concatenate([each.weights for each in some]),
        )

    def last(self, count: int) -> "Lessons":
        """So many of them."""
        first = max(len(self.weights) - count, 0)
        return Lessons(self.a.since(first), self.b.since(first), self.weights[first:])


def lessons(corpus: Corpus, beads: Beads) -> Lessons:
    """Long beads are cut into windows."""
    beads = beads.of_both()
    a, b = corpus.a.sentences, corpus.b.sentences
    words_a = a.begin[beads.a + beads.ka] - a.begin[beads.a]
    words_b = b.begin[beads.b + beads.kb] - b.begin[beads.b]
    long = np.maximum(words_a, words_b) // WINDOW > 2
    short = beads.where(~long)
    found = [Lessons(_bags(a, short.a, short.ka), _bags(b, short.b, short.kb), short.probability)]
    for begin_a, end_a, begin_b, end_b, weight in zip(
        *(column[long].tolist() for column in (a.begin[beads.a], a.begin[beads.a + beads.ka])),
        *(column[long].tolist() for column in (b.begin[beads.b], b.begin[beads.b + beads.kb])),
        beads.probability[long].tolist(),
        strict=True,
    ):
        cut = windows(a.word[begin_a:end_a].tolist(), b.word[begin_b:end_b].tolist())
        bags_a, bags_b = (WordBags.of([sorted(set(pair[side])) for pair in cut]) for side in (0, 1))
        found.append(Lessons(bags_a, bags_b, np.full(len(cut), weight)))
    return Lessons.joined(found)


def lengths(corpus: Corpus, beads: Beads) -> tuple[Floats, Floats]:
    """In characters, of either side of each bead."""
    beads = beads.of_both()
    ends_a, ends_b = (np.append(0.0, np.cumsum(side.sentences.lengths)) for side in (corpus.a, corpus.b))
    return ends_a[beads.a + beads.ka] - ends_a[beads.a], ends_b[beads.b + beads.kb] - ends_b[beads.b]


def _bags(side: AlignSide, first: Ints, count: Ints) -> WordBags:
    """The different words of each run of sentences."""
    begin, end = side.begin[first], side.begin[first + count]
    bag = np.repeat(np.arange(len(first)), end - begin)
    size = int(side.word.max(initial=0)) + 1
    key = np.sort(bag * size + side.word[ranges(begin, end)])
    key = key[np.append(True, key[1:] != key[:-1])[: len(key)]]
    return WordBags(key % size, np.searchsorted(key, np.arange(len(first) + 1) * size))


# Of a word's occurrences, so many are translated by nothing that we know, however well we know the word. Swept 0.1–0.45 on
# Text+Berg and MAC dev (2026-11): half a point between best and worst.
UNTRANSLATED = 0.2
# A link that is weaker, or hardly likelier than chance, costs time and says little. F1 (2026-11) on Text+Berg is half a
# point lower with 0.005, in twice the time; on MAC dev it is 0.7 points lower with 0.05.
LEAST_LINK, LEAST_LIFT = 0.02, 2.0


class Similar(NamedTuple):
    """Words that look alike in two languages, by their numbers."""

    a: Ints
    b: Ints
    likeness: Floats

    @classmethod
    def none(cls) -> "Similar":
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))

    @classmethod
    def joined(cls, some: Sequence["Similar"]) -> "Similar":
        return cls(*(np.concatenate(column) for column in zip(*some, strict=True)))

    def numbered(self, ids_a: Mapping[str, int], ids_b: Mapping[str, int]) -> "Similar":
        """From places in these tables to the numbers that stand there."""
        numbers_a, numbers_b = (np.fromiter(ids.values(), np.int64, len(ids)) for ids in (ids_a, ids_b))
        return Similar(numbers_a[self.a], numbers_b[self.b], self.likeness)

    def where(self, which: NDArray[np.bool_]) -> "Similar":
        return Similar(self.a[which], self.b[which], self.likeness[which])


def translations(
    lexicon: Lexicon, look_alikes: Similar, vocabularies: tuple[SideVocabulary, SideVocabulary]
) -> tuple[Translation, Translation]:
    """Both ways."""
    a, b = (
        _renumbered(links, ids, vocabulary.ids)
        for links, ids, vocabulary in zip(
            (lexicon.links.a, lexicon.links.b), (lexicon.ids_a, lexicon.ids_b), vocabularies, strict=True
        )
    )
    known = (a >= 0) & (b >= 0)
    a, b = np.append(a[known], look_alikes.a), np.append(b[known], look_alikes.b)
    forward = np.append(lexicon.links.forward[known], look_alikes.likeness)
    backward = np.append(lexicon.links.backward[known], look_alikes.likeness)
    u, v = (vocabulary.unigram for vocabulary in vocabularies)
    return _translation(a, b, forward, (u, v)), _translation(b, a, backward, (v, u))


def extended(
    translation: Translation, source: Ints, target: Ints, likeness: Floats, unigrams: tuple[Floats, Floats]
) -> Translation:
    """With look-alikes among words that have no number in it yet; those that have one keep what they know."""
    size = len(unigrams[0])
    kept = likeness > np.maximum(LEAST_LINK, LEAST_LIFT * unigrams[1][target])
    source, target, likeness = source[kept], target[kept], likeness[kept]
    # A known word stands in many documents, and what one of them adds must not change it in the others.
    new = source >= len(translation.left)
    total = np.bincount(source[new], likeness[new], size)
    probability = likeness * (1 - UNTRANSLATED) / np.maximum(total, 1.0)[source]
    left = np.ones(size)
    left[: len(translation.left)] = translation.left
    left -= np.bincount(source[new], probability[new], size)
    before = np.repeat(np.arange(len(translation.left)), np.diff(translation.begin))
    source = np.append(before, source)
    order = np.argsort(source, kind="stable")
    return Translation(
        np.searchsorted(source[order], np.arange(size + 1)),
        np.append(translation.target, target)[order],
        np.append(translation.probability, probability)[order],
        left,
        unigrams[1],
    )


def _renumbered(words: Ints, before: Mapping[str, int], after: Mapping[str, int]) -> Ints:
    """-1 for words that are not there."""
    if before is after:
        return words
    numbers = np.array([after.get(word, -1) for word in before], np.int64)
    return numbers[words] if len(numbers) else words


def _translation(source: Ints, target: Ints, probability: Floats, unigrams: tuple[Floats, Floats]) -> Translation:
    """Of links that are there twice the better; so scaled that something is left of every word."""
    size = len(unigrams[0])
    order = np.lexsort((-probability, target, source))
    source, target, probability = source[order], target[order], probability[order]
    first = np.append(True, (np.diff(source) != 0) | (np.diff(target) != 0))[: len(source)]
    kept = first & (probability > np.maximum(LEAST_LINK, LEAST_LIFT * unigrams[1][target]))
    source, target, probability = source[kept], target[kept], probability[kept]
    total = np.bincount(source, probability, size)
    probability = probability * ((1 - UNTRANSLATED) / np.maximum(total, 1.0))[source]
    left = 1.0 - np.bincount(source, probability, size).astype(np.float64)
    return Translation(np.searchsorted(source, np.arange(size + 1)), target, probability, left, unigrams[1])


Progress = Callable[[int, int], None]
"""Is told how many documents have their final beads, and how many there are."""

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
PASSES = 8  # At the most. With 5, F1 on MAC dev is two points lower (2026-11).
STEADY = 0.002  # share of beads that still change when another pass is not worth its time
# Where so few beads are less probable than this, one pass is enough: on three sites of ../shared/sites a second changed
# two beads of a thousand (2026-11).
DOUBTFUL, EASY = 0.9, 0.02
# Sentences of a that the lexicon is learned from. Where there are twice as many, the others are aligned in one pass.
SAMPLE = 4000
FIRST = 2000  # beads that the first lexicon is learned from. With all 6,500 of Orwell, F1 is the same (2026-11).
TAUGHT = 10_000  # beads that the last lexicon is learned from, where a sample taught the others: bounds memory
SLICE = 10_000  # sentences of a that are aligned at once: bounds memory
ANCHORED = 240  # sentences of a document that is searched along anchors until its path is known

log = logging.getLogger(__name__)


class Knowledge(NamedTuple):
    """What was learned of two languages. With it, a document's beads do not depend on the documents beside it.

    It can be pickled: several processes may align with the same.
    """

    vocabularies: tuple[SideVocabulary, SideVocabulary]
    look_alikes: Similar
    lexicon: Lexicon
    length: LengthModel
    prior: Mapping[Shape, float]


class LexicalAligner:
    """Needs nothing but the texts; documents that are aligned together share their lexicon.

    What it has learned it keeps for the documents to come, up to `memory` beads.
    """

    def __init__(
        self, *, dictionary: Iterable[TokenPair] = (), memory: int = 20_000, knowledge: Knowledge | None = None
    ) -> None:
        entries = [(list(a), list(b)) for a, b in dictionary if a and b]
        vocabularies = tuple(SideVocabulary.of_words(chain.from_iterable(side)) for side in zip(*entries, strict=True))
        empty = SideVocabulary.of_words(())
        self._memory = memory
        self._lessons = Lessons.none()
        self._knowledge = knowledge or Knowledge(
            (vocabularies[0], vocabularies[1]) if vocabularies else (empty, empty),
            Similar.none(),
            Lexicon.learn([], dictionary=entries),
            LengthModel(),
            PRIOR,
        )
        self._dictionary = (
            Lessons.of_entries(entries, self._knowledge.vocabularies) if not knowledge else Lessons.none()
        )

    @property
    def lexicon(self) -> Lexicon:
        """Learned from what was aligned so far, and the dictionary."""
        return self._knowledge.lexicon

    @property
    def knowledge(self) -> Knowledge:
        """For `align_documents` without learning, here or in another aligner."""
        return self._knowledge

    def align(self, a: Sequence[str], b: Sequence[str], languages: tuple[Language, Language]) -> list[Bead]:
        """Every sentence is in exactly one bead, in order."""
        return self.align_documents([Document(Text.plain(a, languages[0]), Text.plain(b, languages[1]))])[0]

    def learn(self, documents: Sequence[Document]) -> Knowledge:
        """From documents like those to come; a few thousand sentences are enough, and no more are looked at."""
        whole = [document for document in documents if document.a.tokens and document.b.tokens]
        sample, _ = _sampled(np.array([len(document.a.tokens) for document in whole], np.int64))
        if len(sample):
            self._learning([whole[number] for number in sample.tolist()], _unheard)
        return self._knowledge

    def align_documents(
        self, documents: Sequence[Document], *, learning: bool = True, progress: Progress | None = None
    ) -> list[list[Bead]]:
        """All with one lexicon: learned from these documents too, or as it is."""
        whole = [document for document in documents if document.a.tokens and document.b.tokens]
        empty = len(documents) - len(whole)

        def done(count: int) -> None:
            if progress:
                progress(empty + count, len(documents))

        done(0)
        if not whole:
            return [one_sided(document) for document in documents]
        found = iter(self._learning(whole, done) if learning else self._as_it_is(whole, done))
        return [
            next(found) if document.a.tokens and document.b.tokens else one_sided(document) for document in documents
        ]

    def knowing(self) -> "KnowingAligner":
        """With what was learned so far."""
        return KnowingAligner(self._knowledge)

    def _learning(self, documents: Sequence[Document], done: Callable[[int], None]) -> list[list[Bead]]:
        passes = _Passes(documents, self._knowledge, Lessons.joined([self._dictionary, self._lessons]))
        beads, taught = passes.run(done)
        self._lessons = Lessons.joined([self._lessons, taught]).last(self._memory)
        self._knowledge = passes.knowledge
        log.info("aligned %d documents, %d words linked", len(documents), len(self.lexicon))
        return beads

    def _as_it_is(self, documents: Sequence[Document], done: Callable[[int], None]) -> list[list[Bead]]:
        found: list[list[Bead]] = []
        for which in _slices(np.array([len(document.a.tokens) for document in documents], np.int64)):
            some = [documents[number] for number in which.tolist()]
            known, corpus = _frozen(some, self._knowledge)
            beads, _ = _once(corpus, known, np.arange(len(some)), _anchored(some, self.lexicon))
            found += _by_document(beads, corpus)
            done(len(found))
        return found


class KnowingAligner:
    """Aligns with what was learned before, and learns nothing more: the documents of a batch do not matter to each other."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._aligner = LexicalAligner(knowledge=knowledge)

    @property
    def lexicon(self) -> Lexicon:
        return self._aligner.lexicon

    def align_documents(self, documents: Sequence[Document], *, progress: Progress | None = None) -> list[list[Bead]]:
        return self._aligner.align_documents(documents, learning=False, progress=progress)

    def knowing(self) -> "KnowingAligner":
        return self


def _unheard(_count: int) -> None:
    pass


def _frozen(documents: Sequence[Document], knowledge: Knowledge) -> tuple[AlignKnowledge, Corpus]:
    """Words that are not known yet are known in their own document only, so that it depends on no other."""
    sides = [
        _Unknown(vocabulary, texts)
        for vocabulary, texts in zip(knowledge.vocabularies, zip(*documents, strict=True), strict=True)
    ]
    a, b = sides
    like = Similar.joined(
        [
            a_like_b.numbered(ids_a, ids_b)
            for ids_a, ids_b in zip(a.ids, b.ids, strict=True)
            for a_like_b in [Similar(*cognates(list(ids_a), list(ids_b)))]
        ]
    )
    known = translations(knowledge.lexicon, knowledge.look_alikes, knowledge.vocabularies)
    sizes = len(knowledge.vocabularies[0].ids), len(knowledge.vocabularies[1].ids)
    new = like.where((like.a >= sizes[0]) | (like.b >= sizes[1]))
    both = (
        extended(known[0], new.a, new.b, new.likeness, (a.unigram, b.unigram)),
        extended(known[1], new.b, new.a, new.likeness, (b.unigram, a.unigram)),
    )
    return AlignKnowledge(both, knowledge.length, knowledge.prior), _corpus(documents, a.ids, b.ids)


class _Unknown:
    """The words of texts by their numbers, those that a vocabulary lacks with numbers of their own in each text."""

    def __init__(self, vocabulary: SideVocabulary, texts: Sequence[Text]) -> None:
        size = len(vocabulary.ids)
        self.ids: list[dict[str, int]] = []
        count = size
        for text in texts:
            ids: dict[str, int] = {}
            for word in dict.fromkeys(chain(chain.from_iterable(text.tokens), chain.from_iterable(text.markup))):
                number = vocabulary.ids.get(word)
                if number is None:
                    number, count = count, count + 1
                ids[word] = number
            self.ids.append(ids)
        rare = 1.5 / max(float((vocabulary.counts + 0.5).sum()), 1.0)  # as of a word that was seen once
        self.unigram = np.append(vocabulary.unigram, np.full(count - size, rare))


def _corpus(
    documents: Sequence[Document], ids_a: Sequence[Mapping[str, int]], ids_b: Sequence[Mapping[str, int]]
) -> Corpus:
    marked = [bool(document.a.markup and document.b.markup) for document in documents]
    return Corpus(
        NumberedSide.of([document.a for document in documents], ids_a, marked),
        NumberedSide.of([document.b for document in documents], ids_b, marked),
        np.array(marked),
    )


class _Passes:
    """What is known of the documents, better with each pass."""

    def __init__(self, documents: Sequence[Document], knowledge: Knowledge, before: Lessons) -> None:
        self._documents, self._before = documents, before
        a, b = (
            SideVocabulary.of(texts, vocabulary)
            for texts, vocabulary in zip(zip(*documents, strict=True), knowledge.vocabularies, strict=True)
        )
        self._corpus = _corpus(documents, [a.ids] * len(documents), [b.ids] * len(documents))
        length_a, length_b = (float(side.sentences.lengths.sum()) for side in (self._corpus.a, self._corpus.b))
        self.knowledge = Knowledge(
            (a, b),
            Similar(*cognates(list(a.ids), list(b.ids))),
            knowledge.lexicon,
            LengthModel(length_b / length_a),
            PRIOR,
        )

    def run(self, done: Callable[[int], None]) -> tuple[list[list[Bead]], Lessons]:
        """The beads of each document, and what they teach."""
        sample, rest = _sampled(self._corpus.a.documents.size)
        found, taught = self._learned_from(sample, done)
        all_found, all_taught = [found], [taught]
        count = len(sample)
        done(count)
        for some in _slices(self._corpus.a.documents.size[rest]):
            which = rest[some]
            paths = _anchored(self._documents, self.knowledge.lexicon, which)
            found, taught = _once(self._corpus, self._known(), which, paths)
            all_found.append(found)
            all_taught.append(taught)
            count += len(which)
            done(count)
        last = lessons(self._corpus, _some(Beads.joined(all_taught), TAUGHT))
        if len(rest):
            self._learn_words(last)
        return _by_document(Beads.joined(all_found), self._corpus), last

    def _learned_from(self, sample: Ints, done: Callable[[int], None]) -> tuple[Beads, Beads]:
        """The beads, and those that teach."""
        paths = _anchored(self._documents, self.knowledge.lexicon, sample)
        rough = self._corpus.rough(self._known(), sample, paths)
        self._learn(_some(rough.teaching(), FIRST), rough.counts())
        sure, pieces = _cut(self._corpus, self._known(), sample, rough.paths(LONG))
        done(len(sample) - len(np.unique(pieces.document)))
        beads, taught, before = Beads.none(), sure, set[tuple[int, ...]]()
        for number in range(1, PASSES):
            beads, found = self._corpus.fine(self._known(), pieces)
            taught = Beads.joined([sure.of_both(), found.teaching()])
            self._learn(taught, _with(found.counts(), sure))
            now = set(zip(*(column.tolist() for column in beads[1:5]), strict=True))
            total = len(sure.a) + len(beads.a)
            if (beads.probability < DOUBTFUL).sum() <= EASY * total or (
                number > 1 and len(now - before) <= STEADY * total
            ):
                break
            if number < PASSES - 1:
                before = now
                more, parts = found.cut()
                sure = Beads.joined([sure, more._replace(document=pieces.document[more.document])])
                pieces = parts._replace(document=pieces.document[parts.document])
        log.info("learned in %d passes from %d documents", number + 1, len(sample))
        return Beads.joined([sure, beads]), taught

    def _known(self) -> AlignKnowledge:
        knowledge = self.knowledge
        both = translations(knowledge.lexicon, knowledge.look_alikes, knowledge.vocabularies)
        return AlignKnowledge(both, knowledge.length, knowledge.prior)

    def _learn(self, beads: Beads, counts: Mapping[Shape, float]) -> None:
        """The lexicon, the model of lengths and how common each shape is."""
        self._learn_words(lessons(self._corpus, beads))
        length_a, length_b = lengths(self._corpus, beads.where(beads.probability > 0.5))
        if len(length_a) > 20:
            model = LengthModel(float(length_b.sum() / length_a.sum()))
            model = model._replace(spread=max(float(model.error(length_a, length_b).mean()), 1.0))
            self.knowledge = self.knowledge._replace(length=model)
        seen = {shape: PRIOR_WEIGHT * len(self._documents) * PRIOR[shape] + count for shape, count in counts.items()}
        # The shapes that were not looked for stay as common as they were.
        share = sum(PRIOR[shape] for shape in counts) / sum(seen.values())
        prior = {shape: max(seen[shape] * share, LEAST_PRIOR) if shape in seen else PRIOR[shape] for shape in PRIOR}
        self.knowledge = self.knowledge._replace(prior=prior)

    def _learn_words(self, taught: Lessons) -> None:
        a, b = self.knowledge.vocabularies
        every = Lessons.joined([self._before, taught])
        lexicon = Lexicon.of_numbers((a.ids, b.ids), every.a, every.b, every.weights)
        self.knowledge = self.knowledge._replace(lexicon=lexicon)


def _cut(corpus: Corpus, known: AlignKnowledge, which: Ints, paths: Paths) -> tuple[Beads, Pieces]:
    corpus.align_blocks(known, which, paths)
    return corpus.rough(known, which, paths).cut()


def _once(corpus: Corpus, known: AlignKnowledge, which: Ints, paths: Paths) -> tuple[Beads, Beads]:
    """The beads of these documents, and those that teach."""
    sure, pieces = _cut(corpus, known, which, paths)
    beads, found = corpus.fine(known, pieces)
    return Beads.joined([sure, beads]), Beads.joined([sure.of_both(), found.teaching()])


def _some(beads: Beads, most: int) -> Beads:
    """No more than so many, from everywhere."""
    if len(beads.a) <= most:
        return beads
    return beads.where(np.linspace(0, len(beads.a) - 1, most).astype(np.int64))


def _with(counts: Mapping[Shape, float], sure: Beads) -> dict[Shape, float]:
    return {
        shape: count + float(((sure.ka == shape[0]) & (sure.kb == shape[1])).sum()) for shape, count in counts.items()
    }


def _anchored(documents: Sequence[Document], lexicon: Lexicon, which: Ints | None = None) -> Paths:
    """The paths of long documents."""
    numbers = range(len(documents)) if which is None else which.tolist()
    long = [number for number in numbers if max(len(text.tokens) for text in documents[number]) > ANCHORED]
    sure = _sure(lexicon) if long else {}
    return {number: align_evidence.path(documents[number], sure) for number in long}


def _sure(lexicon: Lexicon) -> dict[str, list[str]]:
    """Words with translations that translate back."""
    links = lexicon.links
    sure = np.minimum(links.forward, links.backward) > 0.3
    found: dict[str, list[str]] = {}
    for a, b in zip(links.a[sure].tolist(), links.b[sure].tolist(), strict=True):
        found.setdefault(lexicon.names_a[a], []).append(lexicon.names_b[b])
    return found


def _sampled(sizes: Ints) -> tuple[Ints, Ints]:
    """Documents to learn from, taken from everywhere, and the rest."""
    total = int(sizes.sum())
    if total <= 2 * SAMPLE:
        return np.arange(len(sizes)), np.zeros(0, np.int64)
    step = total // SAMPLE
    order = np.concatenate([np.arange(first, len(sizes), step) for first in range(step)])
    count = int(np.searchsorted(np.cumsum(sizes[order]), SAMPLE)) + 1
    return np.sort(order[:count]), np.sort(order[count:])


def _slices(sizes: Ints) -> Iterator[Ints]:
    """Documents in order, as many at a time as have so many sentences together."""
    number = (np.cumsum(sizes) - sizes) // SLICE
    for value in np.unique(number).tolist():
        yield np.flatnonzero(number == value)


def _by_document(beads: Beads, corpus: Corpus) -> list[list[Bead]]:
    """Each document's own, in order, with its own numbers."""
    beads = beads.where(np.lexsort((beads.b + beads.kb, beads.a + beads.ka, beads.document)))
    document, a, ka, b, kb, probability = beads
    found: list[list[Bead]] = [[] for _ in range(len(corpus.marked))]
    for number, i, i_count, j, j_count, score in zip(
        document.tolist(),
        (a - corpus.a.documents.first[document]).tolist(),
        ka.tolist(),
        (b - corpus.b.documents.first[document]).tolist(),
        kb.tolist(),
        np.clip(probability, 0.0, 1.0).round(4).tolist(),
        strict=True,
    ):
        found[number].append(Bead(tuple(range(i, i + i_count)), tuple(range(j, j + j_count)), score))
    return found
