"""The topic in one language: what examples say about it, and what the crawl adds."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bitrawl.model import Language
from bitrawl.text.frequencies import typical_keys
from bitrawl.topic.hashed import FEATURES, Document, Floats, Keys, of_keys

GENERAL_WEIGHT = 2000.0  # general language counts as this many words beside the examples. Swept 500–8000: flat
EXAMPLE_WORDS = 500.0  # each example counts as this many words, however long it is
SHORT = 20.0  # in summed log counts: a shorter page is held to be undecided for the rest; judgement
COMMON = 300.0  # per million: words from here on stay when a text about nothing in particular is made of an example
MADE_UP = 20  # such texts
GAIN = 4.0  # logits between the two means, on either scale
WINDOW = 600  # judged pages that are kept to learn from
FIRST_FIT, NEXT_FIT = 20, 1.3  # after this many judged pages, then each time that they have grown by this factor
MOST_SURE = 0.1  # share of the judged pages that may become examples: the best ones
LEAST_SURE = 0.5  # share that may become counter-examples: the worst ones
SURE_RELEVANT, SURE_IRRELEVANT = 0.8, 0.35  # and their prior must say so
LEAST_NEGATIVES = 10  # for a linear model
EPOCHS, STEP = 12, 4.0
GUARD = 0.9  # share of pairs (example left out, counter-example) that a fit must rank rightly, or it is dropped
LINEAR_SHARE = 0.5


class Scale(NamedTuple):
    """From a score to a logit."""

    middle: float
    half: float  # from the middle to the mean of the examples

    def logit(self, score: float) -> float:
        return GAIN * (score - self.middle) / self.half / 2


class Subject:
    def __init__(self, language: Language) -> None:
        self._language = language
        self._examples: list[Document] = []
        self._against: list[Document] = []
        self._window: list[tuple[Document, float]] = []
        self._seen, self._next = 0, FIRST_FIT
        self._domain = np.zeros(FEATURES, np.float32)
        self._centre = np.zeros(FEATURES, np.float32)
        self._scales: tuple[Scale, Scale] | None = None
        self._linear: Floats | None = None
        self._bias = 0.0
        self._stale = False

    @property
    def taught(self) -> bool:
        return bool(self._examples)

    def learn(self, read: Document, *, relevant: bool) -> None:
        if not relevant:
            self._against.append(read)
        else:
            self._examples.append(read)
            np.add.at(self._domain, read.places, _share(read))
            np.add.at(self._centre, read.places, read.unit)
            self._scales = None
        self._stale = True

    def logit(self, read: Document) -> float:
        prior = self.prior(read)
        if self._stale:
            self._fit()
        if self._linear is None:
            return prior
        linear = float(self._linear[read.features] @ read.values) + self._bias
        return (1 - LINEAR_SHARE) * prior + LINEAR_SHARE * linear

    def prior(self, read: Document) -> float:
        if self._scales is None:
            self._scales = self._scaled()
        difference, cosine = self._scales
        return (difference.logit(self._difference(read)) + cosine.logit(self._cosine(read))) / 2

    def observe(self, read: Document, score: float) -> None:
        """Learn from a judged page, if it turns out to be certain."""
        if self._seen < WINDOW:
            self._window.append((read, self.prior(read)))
        else:
            self._window[self._seen % WINDOW] = (read, self.prior(read))
        self._seen += 1
        if self._seen >= self._next:
            self._next = int(self._seen * NEXT_FIT)
            self._fit()

    def inherit(self, read: Document, score: float) -> None:
        """Learn from a page whose translation has been judged, if that was certain."""
        if score >= SURE_RELEVANT or score <= 1 - SURE_RELEVANT:
            self.learn(read, relevant=score >= SURE_RELEVANT)

    def _difference(self, read: Document, own: Floats | float = 0.0, total: float | None = None) -> float:
        total = EXAMPLE_WORDS * len(self._examples) if total is None else total
        general = GENERAL_WEIGHT * read.rates * 1e-6
        weights = np.log((np.maximum(self._domain[read.places] - own, 0) + general) / general) - np.log1p(
            total / GENERAL_WEIGHT
        )
        return float(read.counts @ weights) / max(float(read.counts.sum()), SHORT)

    def _cosine(self, read: Document) -> float:
        return float(self._centre[read.places] @ read.unit) / len(self._examples)

    def _scaled(self) -> tuple[Scale, Scale]:
        count = len(self._examples)
        others = max(count - 1, 1)
        made = self._made_up()
        left_out = [self._difference(one, _share(one), EXAMPLE_WORDS * others) for one in self._examples]
        cosines = [(self._cosine(one) * count - float(one.unit @ one.unit)) / others for one in self._examples]
        return (
            _scale(left_out, [self._difference(one) for one in made]),
            _scale(cosines, [self._cosine(one) for one in made]),
        )

    def _made_up(self) -> list[Document]:
        """Texts with the frequent words of examples, and otherwise with words as general language has them."""
        random = np.random.default_rng(0)
        made = []
        for number in range(MADE_UP):
            example = self._examples[number % len(self._examples)]
            occurrences = np.rint(np.expm1(example.counts)).astype(np.int64)
            row = np.repeat(example.keys, occurrences)
            typical = typical_keys(int(occurrences[example.rates < COMMON].sum()), self._language, random)
            if len(typical):
                row = row.copy()
                row[np.repeat(example.rates < COMMON, occurrences)] = typical
            made.append(of_keys(row, self._language))
        return made

    def _fit(self) -> None:
        self._stale = False
        scores = np.array([self._window_logit(read, prior) for read, prior in self._window])
        order = np.argsort(-scores, kind="stable")
        most, least = int(MOST_SURE * len(order)), int(LEAST_SURE * len(order))
        sure = [self._window[i][0] for i in order[:most] if self._window[i][1] > _logit(SURE_RELEVANT)]
        unsure = [
            self._window[i][0] for i in order[len(order) - least :] if self._window[i][1] < _logit(SURE_IRRELEVANT)
        ]
        negatives = self._against + unsure
        if len(negatives) < LEAST_NEGATIVES:
            return
        checked = self._examples[::3]
        weights, bias = _fitted([one for i, one in enumerate(self._examples) if i % 3] + sure, negatives)
        ranks = [_margin(weights, bias, one) > _margin(weights, bias, other) for one in checked for other in negatives]
        if np.mean(ranks) < GUARD:
            return
        self._linear, self._bias = _fitted(self._examples + sure, negatives)

    def _window_logit(self, read: Document, prior: float) -> float:
        if self._linear is None:
            return prior
        return (1 - LINEAR_SHARE) * prior + LINEAR_SHARE * _margin(self._linear, self._bias, read)

    def weigh(self, read: Document) -> float:
        if not read.size or not self.taught:
            return 0.0
        return self.logit(read)

    def weights(self, read: Document, keys: Keys) -> Floats:
        return np.zeros(len(keys), np.float32)


def _fitted(positives: Sequence[Document], negatives: Sequence[Document]) -> tuple[Floats, float]:
    weights, bias = np.zeros(FEATURES, np.float32), 0.0
    rows = [(one, 1.0, 0.5 / len(positives)) for one in positives] + [
        (one, 0.0, 0.5 / len(negatives)) for one in negatives
    ]
    order = np.random.default_rng(0).permutation(len(rows))
    for epoch in range(EPOCHS):
        step = STEP * len(rows) / (1 + epoch)
        for i in order:
            read, label, weight = rows[i]
            error = label - 1 / (1 + np.exp(-_margin(weights, bias, read)))
            change = np.float32(step * weight * error)
            weights[read.features] += change * read.values
            bias += 0.1 * float(change)
    return weights, bias


def _margin(weights: Floats, bias: float, read: Document) -> float:
    return float(weights[read.features] @ read.values) + bias


def _share(read: Document) -> Floats:
    return np.asarray(read.counts * (EXAMPLE_WORDS / max(float(read.counts.sum()), 1e-9)), np.float32)


def _scale(relevant: Sequence[float], irrelevant: Sequence[float]) -> Scale:
    high, low = float(np.median(relevant)), float(np.mean(irrelevant))
    return Scale((high + low) / 2, max((high - low) / 2, 1e-3))


def _logit(probability: float) -> float:
    return float(np.log(probability / (1 - probability)))
