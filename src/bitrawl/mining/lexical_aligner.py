"""The default aligner: lengths, look-alikes and a lexicon that it learns from the texts themselves, pass by pass.

Each pass aligns the documents with what is known by then (`align_search.py`). The likely beads teach the next one words,
lengths and the shapes of beads.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from math import ceil
from typing import NamedTuple

import numpy as np

from bitrawl.mining import align_evidence
from bitrawl.mining.align_evidence import (
    AlignVocabulary,
    Document,
    LengthModel,
    NumberedTexts,
    Text,
    Translation,
    WordRuns,
    folded,
    one_sided,
)
from bitrawl.mining.align_search import LONG, AlignKnowledge, Beads, Corpus, Paths, Pieces
from bitrawl.mining.beads import DELETION, INSERTION, Shape
from bitrawl.model import Bead
from bitrawl.text.arrays import Floats, Ints, bounds, firsts, ranges
from bitrawl.text.lexicon import DICTIONARY_WEIGHT, WINDOW, Lexicon, Links, TokenPair, WordBags, windows

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
REMEMBERED = 20_000  # beads of earlier documents that an aligner goes on learning from: bounds memory
SLICE = 10_000  # sentences of a that are aligned at once: bounds memory
ANCHORED = 240  # sentences of a document that is searched along anchors until its path is known

log = logging.getLogger(__name__)


class Knowledge(NamedTuple):
    """What was learned of two languages. With it, a document's beads do not depend on the documents beside it.

    It can be pickled: several processes may align with the same.
    """

    vocabularies: tuple[AlignVocabulary, AlignVocabulary]
    look_alikes: "Similar"
    lexicon: Lexicon
    length: LengthModel
    prior: Mapping[Shape, float]


class LexicalAligner:
    """Needs nothing but the texts; documents that are aligned together share their lexicon.

    What it has learned it remembers for the documents to come. One that is given `knowledge` learns nothing more: the
    documents of a batch do not matter to each other.
    """

    def __init__(
        self,
        *,
        dictionary: Iterable[TokenPair] = (),
        knowledge: Knowledge | None = None,
        prior: Lexicon | None = None,
    ) -> None:
        """`prior` is what is known of the two languages before: see `known_words`."""
        entries = [(list(a), list(b)) for a, b in dictionary if a and b]
        a, b = (AlignVocabulary.of_words(chain.from_iterable(entry[n] for entry in entries)) for n in (0, 1))
        self._learns = knowledge is None
        self._examples = BagPairs.none()
        self._knowledge = knowledge or Knowledge(
            (a, b),
            Similar.none(),
            Lexicon.learn([], dictionary=entries, prior=prior),
            LengthModel(),
            PRIOR,
        )
        self._dictionary = (
            BagPairs.of_entries(entries, self._knowledge.vocabularies) if self._learns else BagPairs.none()
        )

    @property
    def lexicon(self) -> Lexicon:
        """Learned from what was aligned so far, and the dictionary."""
        return self._knowledge.lexicon

    @property
    def knowledge(self) -> Knowledge:
        """For another aligner, here or in another process."""
        return self._knowledge

    def learn(self, documents: Sequence[Document]) -> Knowledge:
        """From documents like those to come; a few thousand sentences are enough: see `enough_to_learn`."""
        whole = [document for document in documents if document.a.tokens and document.b.tokens]
        if whole:
            self._learning(whole)
        return self._knowledge

    def align_documents(self, documents: Sequence[Document]) -> list[list[Bead]]:
        """All with one lexicon: learned from these documents too, or as it is."""
        whole = [document for document in documents if document.a.tokens and document.b.tokens]
        if not whole:
            return [one_sided(document) for document in documents]
        beads = iter(self._learning(whole) if self._learns else self._as_it_is(whole))
        return [
            next(beads) if document.a.tokens and document.b.tokens else one_sided(document) for document in documents
        ]

    def knowing(self) -> "LexicalAligner":
        """An aligner with what was learned so far, which learns nothing more."""
        return LexicalAligner(knowledge=self._knowledge) if self._learns else self

    def _learning(self, documents: Sequence[Document]) -> list[list[Bead]]:
        passes = _Passes(documents, self._knowledge, BagPairs.joined([self._dictionary, self._examples]))
        beads, examples = passes.run()
        self._examples = BagPairs.joined([self._examples, examples]).last(REMEMBERED)
        self._knowledge = passes.knowledge
        log.info("aligned %d documents, %d words linked", len(documents), len(self.lexicon))
        return beads

    @cached_property
    def _translations(self) -> tuple[Translation, Translation]:
        """For an aligner that learns nothing more."""
        return translations(self._knowledge)

    def _as_it_is(self, documents: Sequence[Document]) -> list[list[Bead]]:
        beads: list[list[Bead]] = []
        for which in _slices(np.array([len(document.a.tokens) for document in documents], np.int64)):
            batch = [documents[number] for number in which.tolist()]
            model, corpus = _frozen(batch, self._knowledge, self._translations)
            every = corpus.documents.document
            of_batch, _ = _once(corpus, model, every, _anchored(batch, self.lexicon, every))
            beads += _by_document(of_batch, corpus)
        return beads


def enough_to_learn(sizes: Sequence[tuple[int, int]]) -> list[int]:
    """The numbers of the documents to learn from, taken from everywhere; by the sentences of each on either side."""
    whole = [number for number, both in enumerate(sizes) if min(both)]
    sample, _ = _sampled(np.array([sizes[number][0] for number in whole], np.int64))
    return [whole[place] for place in sample.tolist()]


class BagPairs(NamedTuple):
    """Bags of words of two languages that translate each other, and how probably: what a lexicon is learned from."""

    a: WordBags
    b: WordBags
    weights: Floats

    @classmethod
    def none(cls) -> "BagPairs":
        return cls(WordBags.of([]), WordBags.of([]), np.zeros(0))

    @classmethod
    def of_entries(
        cls, entries: Sequence[TokenPair], vocabularies: tuple[AlignVocabulary, AlignVocabulary]
    ) -> "BagPairs":
        """The entries of a dictionary whose words are in the vocabularies."""
        a, b = (
            WordBags.of([sorted({vocabularies[n].ids[word] for word in entry[n]}) for entry in entries]) for n in (0, 1)
        )
        return cls(a, b, np.full(len(entries), DICTIONARY_WEIGHT))

    @classmethod
    def joined(cls, parts: Sequence["BagPairs"]) -> "BagPairs":
        a, b, weights = zip(*parts, strict=True)
        return cls(WordBags.joined(a), WordBags.joined(b), np.concatenate(weights))

    def last(self, count: int) -> "BagPairs":
        first = max(len(self.weights) - count, 0)
        return BagPairs(self.a.since(first), self.b.since(first), self.weights[first:])


def bag_pairs(corpus: Corpus, beads: Beads) -> BagPairs:
    """What the beads teach. Long beads are cut into windows."""
    beads = beads.of_both()
    a, b = corpus.a.sentences, corpus.b.sentences
    words_a = a.begin[beads.a + beads.ka] - a.begin[beads.a]
    words_b = b.begin[beads.b + beads.kb] - b.begin[beads.b]
    long = np.maximum(words_a, words_b) // WINDOW > 2
    short = beads.where(~long)
    parts = [BagPairs(_bags(a, short.a, short.ka), _bags(b, short.b, short.kb), short.probability)]
    for _, i, ka, j, kb, weight in zip(*(column.tolist() for column in beads.where(long)), strict=True):
        words = a.word[a.begin[i] : a.begin[i + ka]].tolist(), b.word[b.begin[j] : b.begin[j + kb]].tolist()
        cut = windows(*words)
        bags_a, bags_b = (WordBags.of([sorted(set(pair[n])) for pair in cut]) for n in (0, 1))
        parts.append(BagPairs(bags_a, bags_b, np.full(len(cut), weight)))
    return BagPairs.joined(parts)


def lengths(corpus: Corpus, beads: Beads) -> tuple[Floats, Floats]:
    """In characters, of either side of each bead."""
    beads = beads.of_both()
    ends_a, ends_b = bounds(corpus.a.sentences.lengths), bounds(corpus.b.sentences.lengths)
    return ends_a[beads.a + beads.ka] - ends_a[beads.a], ends_b[beads.b + beads.kb] - ends_b[beads.b]


def _bags(runs: WordRuns, first: Ints, count: Ints) -> WordBags:
    """The different words of each run of sentences."""
    begin, end = runs.begin[first], runs.begin[first + count]
    bag = np.repeat(np.arange(len(first)), end - begin)
    size = int(runs.word.max(initial=0)) + 1
    key = np.sort(bag * size + runs.word[ranges(begin, end)])
    key = key[firsts(key)]
    return WordBags(key % size, np.searchsorted(key, np.arange(len(first) + 1) * size))


# Of a word's occurrences, so many are translated by nothing that we know, however well we know the word. Swept 0.1–0.45 on
# Text+Berg and MAC dev (2026-11): half a point between best and worst.
UNTRANSLATED = 0.2
# Words that a text is taken to have at least, where words are known before. Of one sentence of FLORES dev and ten others
# (2026-11), the right one is best in 70 % of the cases in Finnish and in 55 % in Arabic without it, with 300 to 5,000 in all. Of strangers, 1,000 keeps the scores lower than 300 does.
ENOUGH = 1000.0
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
    def with_new(cls, ids_a: Mapping[str, int], ids_b: Mapping[str, int], known: tuple[int, int]) -> "Similar":
        """Those among the words of two tables of which at least one is new: its number is not below the known ones."""
        old_a = [word for word, number in ids_a.items() if number < known[0]]
        new_a = [word for word, number in ids_a.items() if number >= known[0]]
        new_b = [word for word, number in ids_b.items() if number >= known[1]]
        parts = []
        for words_a, words_b in ((new_a, list(ids_b)), (old_a, new_b)):
            a, b, likeness = cognates(words_a, words_b)
            numbers_a = np.array([ids_a[words_a[place]] for place in a.tolist()], np.int64)
            numbers_b = np.array([ids_b[words_b[place]] for place in b.tolist()], np.int64)
            parts.append(cls(numbers_a, numbers_b, likeness))
        return cls.joined(parts)

    @classmethod
    def joined(cls, parts: Sequence["Similar"]) -> "Similar":
        return cls._make(map(np.concatenate, zip(*parts, strict=True)))


# Judgements.
_STEM = 4  # letters that must agree, from the first
_LEAST_LIKE = 0.6  # share of the longer word
_INDEXED = 16  # letters of a beginning that words are found by: one of a million letters must not be found by each
# What a look-alike is worth as a translation before anything is learned.
# On Text+Berg and MAC dev (2026-11) 0.9 and 0.8 instead change F1 by 0.1 points.
_IDENTICAL, _SIMILAR = 0.5, 0.5


def cognates(words_a: Sequence[str], words_b: Sequence[str]) -> tuple[Ints, Ints, Floats]:
    """Pairs by their numbers, and how probably one translates the other."""
    plain_a = list(map(folded, words_a))
    # Whatever is like a word begins like it.
    beginnings = [plain[: min(max(_STEM, ceil(_LEAST_LIKE * len(plain))), _INDEXED)] for plain in plain_a]
    by_beginning: dict[str, list[tuple[str, int]]] = {beginning: [] for beginning in beginnings}
    for number, word in enumerate(words_b if words_a else ()):
        plain = folded(word)
        for end in range(min(_STEM, len(plain)), min(len(plain), _INDEXED) + 1):
            if (candidates := by_beginning.get(plain[:end])) is not None:
                candidates.append((plain, number))
    pairs = [
        (number, other, like)
        for number, (plain, beginning) in enumerate(zip(plain_a, beginnings, strict=True))
        for candidate, other in by_beginning[beginning]
        if (like := _likeness(plain, candidate))
    ]
    a, b, likeness = zip(*pairs, strict=True) if pairs else ((), (), ())
    return np.array(a, np.int64), np.array(b, np.int64), np.array(likeness, np.float64)


def _likeness(a: str, b: str) -> float:
    if a == b:
        return _IDENTICAL
    if min(len(a), len(b)) < _STEM or not a[0].isalpha():
        return 0.0
    longest = max(len(a), len(b))
    least = ceil(_LEAST_LIKE * longest)
    if a[:least] != b[:least] or least > min(len(a), len(b)):
        return 0.0
    shared = next((i for i in range(least, min(len(a), len(b))) if a[i] != b[i]), min(len(a), len(b)))
    return _SIMILAR * shared / longest


def translations(knowledge: Knowledge) -> tuple[Translation, Translation]:
    """The probabilities that alignment needs, both ways, by the numbers of the vocabularies."""
    vocabularies, look_alikes, lexicon, *_ = knowledge
    links = lexicon.among(vocabularies[0].ids, vocabularies[1].ids)
    a, b = np.append(links.a, look_alikes.a), np.append(links.b, look_alikes.b)
    forward = np.append(links.forward, look_alikes.likeness)
    backward = np.append(links.backward, look_alikes.likeness)
    u, v = (vocabulary.unigram(_least(lexicon)) for vocabulary in vocabularies)
    beyond = lexicon.beyond(vocabularies[0].ids, vocabularies[1].ids)
    return _translation(a, b, forward, beyond[0], (u, v)), _translation(b, a, backward, beyond[1], (v, u))


def _least(lexicon: Lexicon) -> float:
    """In a text of twenty words each is one of twenty, and no translation seems to be more than chance."""
    return 1.0 if lexicon.prior is None else ENOUGH


def extended(
    translation: Translation,
    source: Ints,
    target: Ints,
    likeness: Floats,
    beyond: Floats,
    unigrams: tuple[Floats, Floats],
) -> Translation:
    """With links of words that have no number in it yet; those that have one keep what they know."""
    size = len(unigrams[0])
    strong = likeness > np.maximum(LEAST_LINK, LEAST_LIFT * unigrams[1][target])
    source, target, likeness = source[strong], target[strong], likeness[strong]
    # A known word stands in many documents, and what one of them adds must not change it in the others.
    new = source >= len(translation.left)
    total = np.bincount(source[new], likeness[new], size) + beyond
    scale = (1 - UNTRANSLATED) / np.maximum(total, 1.0)
    probability = likeness * (1 - UNTRANSLATED) / np.maximum(total, 1.0)[source]
    left = 1.0 - scale * beyond - np.bincount(source[new], probability[new], size)
    left[: len(translation.left)] = translation.left
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


def _translation(
    source: Ints, target: Ints, probability: Floats, beyond: Floats, unigrams: tuple[Floats, Floats]
) -> Translation:
    """Of links that are there twice the better; so scaled that something is left of every word.

    What is `beyond` these texts as a translation of a word is not left: a word that is known speaks against strangers.
    """
    size = len(unigrams[0])
    order = np.lexsort((-probability, target, source))
    source, target, probability = source[order], target[order], probability[order]
    first = np.append(True, (np.diff(source) != 0) | (np.diff(target) != 0))[: len(source)]
    strong = first & (probability > np.maximum(LEAST_LINK, LEAST_LIFT * unigrams[1][target]))
    source, target, probability = source[strong], target[strong], probability[strong]
    total = np.bincount(source, probability, size) + beyond
    scale = (1 - UNTRANSLATED) / np.maximum(total, 1.0)
    probability = probability * scale[source]
    left = 1.0 - scale * beyond - np.bincount(source, probability, size).astype(np.float64)
    return Translation(np.searchsorted(source, np.arange(size + 1)), target, probability, left, unigrams[1])


def _frozen(
    documents: Sequence[Document], knowledge: Knowledge, known: tuple[Translation, Translation]
) -> tuple[AlignKnowledge, Corpus]:
    """Words that are not known yet are known in their own document only, so that it depends on no other."""
    texts = zip(knowledge.vocabularies, zip(*documents, strict=True), strict=True)
    a, b = (_Unknown(vocabulary, side, _least(knowledge.lexicon)) for vocabulary, side in texts)
    sizes = len(knowledge.vocabularies[0].ids), len(knowledge.vocabularies[1].ids)
    unknown = _New(knowledge.lexicon.prior, sizes, (len(a.unigram), len(b.unigram)))
    for ids in zip(a.ids, b.ids, strict=True):
        unknown.add(*ids)
    new = unknown.links()
    both = (
        extended(known[0], new.a, new.b, new.forward, unknown.beyond[0], (a.unigram, b.unigram)),
        extended(known[1], new.b, new.a, new.backward, unknown.beyond[1], (b.unigram, a.unigram)),
    )
    return AlignKnowledge(both, knowledge.length, knowledge.prior), _corpus(documents, a.ids, b.ids)


class _New:
    """Of words that have no number in the vocabularies yet: what they may translate, in their own texts alone.

    The prior says it, else whatever looks like them.
    """

    def __init__(self, prior: Lexicon | None, known: tuple[int, int], counts: tuple[int, int]) -> None:
        self._prior, self._known = prior, known
        self._links: list[Links] = []
        self.beyond = np.zeros(counts[0]), np.zeros(counts[1])

    def add(self, ids_a: Mapping[str, int], ids_b: Mapping[str, int]) -> None:
        """The words of a document."""
        alike = Similar.with_new(ids_a, ids_b, self._known)
        links = {(a, b): (like, like) for a, b, like in zip(*(column.tolist() for column in alike), strict=True)}
        if self._prior is not None:
            for a, b, *both in self._told(self._prior, ids_a, ids_b, 0):
                links[a, b] = both[0], both[1]
            for b, a, *both in self._told(self._prior.back, ids_b, ids_a, 1):
                links[a, b] = both[1], both[0]
        self._links.append(Links.of_numbers(links))

    def links(self) -> Links:
        """Of all documents."""
        return Links.joined(self._links)

    def _told(
        self, prior: Lexicon, ids: Mapping[str, int], others: Mapping[str, int], side: int
    ) -> Iterator[tuple[int, int, float, float]]:
        for word, number in ids.items():
            if number >= self._known[side]:
                for other, both in prior.known_translations(word).items():
                    if (place := others.get(other)) is not None:
                        yield number, place, *both
                    else:
                        self.beyond[side][number] += both[0]


class _Unknown:
    """The words of texts by their numbers, those that a vocabulary lacks with numbers of their own in each text."""

    def __init__(self, vocabulary: AlignVocabulary, texts: Sequence[Text], least: float) -> None:
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
        rare = 1.5 / max(float((vocabulary.counts + 0.5).sum()), least)  # as of a word that was seen once
        self.unigram = np.append(vocabulary.unigram(least), np.full(count - size, rare))


def _corpus(
    documents: Sequence[Document], ids_a: Sequence[Mapping[str, int]], ids_b: Sequence[Mapping[str, int]]
) -> Corpus:
    marked = [bool(document.a.markup and document.b.markup) for document in documents]
    texts_a, texts_b = zip(*documents, strict=True)
    return Corpus(NumberedTexts.of(texts_a, ids_a, marked), NumberedTexts.of(texts_b, ids_b, marked), np.array(marked))


class _Passes:
    """What is known of the documents, better with each pass."""

    def __init__(self, documents: Sequence[Document], knowledge: Knowledge, before: BagPairs) -> None:
        self._documents, self._before = documents, before
        a, b = (
            AlignVocabulary.of(texts, vocabulary)
            for texts, vocabulary in zip(zip(*documents, strict=True), knowledge.vocabularies, strict=True)
        )
        self._corpus = _corpus(documents, [a.ids] * len(documents), [b.ids] * len(documents))
        length_a, length_b = (float(texts.sentences.lengths.sum()) for texts in (self._corpus.a, self._corpus.b))
        self.knowledge = Knowledge(
            (a, b),
            Similar(*cognates(list(a.ids), list(b.ids))),
            knowledge.lexicon,
            LengthModel(length_b / length_a),
            PRIOR,
        )

    def run(self) -> tuple[list[list[Bead]], BagPairs]:
        """The beads of each document, and what they teach."""
        sample, rest = _sampled(self._corpus.a.documents.size)
        parts = [self._learned_from(sample)]
        for places in _slices(self._corpus.a.documents.size[rest]):
            which = rest[places]
            paths = _anchored(self._documents, self.knowledge.lexicon, which)
            parts.append(_once(self._corpus, self._model(), which, paths))
        beads, teaching = map(Beads.joined, zip(*parts, strict=True))
        examples = bag_pairs(self._corpus, _spread(teaching, TAUGHT))
        if len(rest):
            self._learn_words(examples)
        return _by_document(beads, self._corpus), examples

    def _learned_from(self, sample: Ints) -> tuple[Beads, Beads]:
        """The beads of the sample, pass by pass, and those that teach."""
        paths = _anchored(self._documents, self.knowledge.lexicon, sample)
        rough = self._corpus.rough(self._model(), sample, paths)
        self._learn(_spread(rough.teaching(), FIRST), rough.counts)
        sure, pieces = _cut(self._corpus, self._model(), sample, rough.paths(LONG))
        beads, teaching, before = Beads.none(), sure, set[tuple[int, ...]]()
        for number in range(1, PASSES):
            beads, passed = self._corpus.fine(self._model(), pieces)
            teaching = Beads.joined([sure.of_both(), passed.teaching()])
            counts = {
                (ka, kb): count + float(((sure.ka == ka) & (sure.kb == kb)).sum())
                for (ka, kb), count in passed.counts.items()
            }
            self._learn(teaching, counts)
            now = set(zip(*(column.tolist() for column in beads[1:5]), strict=True))
            total = len(sure.a) + len(beads.a)
            if (beads.probability < DOUBTFUL).sum() <= EASY * total or (
                number > 1 and len(now - before) <= STEADY * total
            ):
                break
            if number < PASSES - 1:
                before = now
                more, parts = passed.cut()
                sure = Beads.joined([sure, more._replace(document=pieces.document[more.document])])
                pieces = parts._replace(document=pieces.document[parts.document])
        log.info("learned in %d passes from %d documents", number + 1, len(sample))
        return Beads.joined([sure, beads]), teaching

    def _model(self) -> AlignKnowledge:
        knowledge = self.knowledge
        return AlignKnowledge(translations(knowledge), knowledge.length, knowledge.prior)

    def _learn(self, beads: Beads, counts: Mapping[Shape, float]) -> None:
        """The lexicon, the model of lengths and how common each shape is."""
        self._learn_words(bag_pairs(self._corpus, beads))
        length_a, length_b = lengths(self._corpus, beads.where(beads.probability > 0.5))
        if len(length_a) > 20:
            model = LengthModel(float(length_b.sum() / length_a.sum()))
            model = model._replace(spread=max(float(model.error(length_a, length_b).mean()), 1.0))
            self.knowledge = self.knowledge._replace(length=model)
        total = {shape: PRIOR_WEIGHT * len(self._documents) * PRIOR[shape] + count for shape, count in counts.items()}
        # The shapes that were not looked for stay as common as they were.
        share = sum(PRIOR[shape] for shape in counts) / sum(total.values())
        prior = {shape: max(total[shape] * share, LEAST_PRIOR) if shape in total else PRIOR[shape] for shape in PRIOR}
        self.knowledge = self.knowledge._replace(prior=prior)

    def _learn_words(self, examples: BagPairs) -> None:
        a, b = self.knowledge.vocabularies
        examples = BagPairs.joined([self._before, examples])
        lexicon = Lexicon.of_numbers((a.ids, b.ids), *examples, prior=self.knowledge.lexicon.prior)
        self.knowledge = self.knowledge._replace(lexicon=lexicon)


def _cut(corpus: Corpus, model: AlignKnowledge, which: Ints, paths: Paths) -> tuple[Beads, Pieces]:
    corpus.align_blocks(model, which, paths)
    return corpus.rough(model, which, paths).cut()


def _once(corpus: Corpus, model: AlignKnowledge, which: Ints, paths: Paths) -> tuple[Beads, Beads]:
    """The beads of these documents, and those that teach."""
    sure, pieces = _cut(corpus, model, which, paths)
    beads, passed = corpus.fine(model, pieces)
    return Beads.joined([sure, beads]), Beads.joined([sure.of_both(), passed.teaching()])


def _spread(beads: Beads, most: int) -> Beads:
    """At most so many of them, taken from everywhere."""
    if len(beads.a) <= most:
        return beads
    return beads.where(np.linspace(0, len(beads.a) - 1, most).astype(np.int64))


def _anchored(documents: Sequence[Document], lexicon: Lexicon, which: Ints) -> Paths:
    """The paths of long documents."""
    long = [number for number in which.tolist() if max(len(text.tokens) for text in documents[number]) > ANCHORED]
    sure = _sure(lexicon) if long else {}
    return {number: align_evidence.path(documents[number], sure) for number in long}


def _sure(lexicon: Lexicon) -> dict[str, list[str]]:
    """Words with translations that translate back."""
    links = lexicon.links
    sure = np.minimum(links.forward, links.backward) > 0.3
    words: dict[str, list[str]] = {}
    for a, b in zip(links.a[sure].tolist(), links.b[sure].tolist(), strict=True):
        words.setdefault(lexicon.names_a[a], []).append(lexicon.names_b[b])
    return words


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
    by_document: list[list[Bead]] = [[] for _ in range(len(corpus.marked))]
    for number, i, i_count, j, j_count, score in zip(
        document.tolist(),
        (a - corpus.a.documents.first[document]).tolist(),
        ka.tolist(),
        (b - corpus.b.documents.first[document]).tolist(),
        kb.tolist(),
        np.clip(probability, 0.0, 1.0).round(4).tolist(),
        strict=True,
    ):
        by_document[number].append(Bead(tuple(range(i, i + i_count)), tuple(range(j, j + j_count)), score))
    return by_document
