"""The topic in one language: what the examples say about it, and what the judged pages add.

A text is learned from and judged as hashed counts, a `TopicDocument`.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Language
from bitrawl.text.frequencies import known, rate_of_keys, typical_keys, word_keys
from bitrawl.url import Url

Keys = NDArray[np.int32]
Floats = NDArray[np.float32]

FEATURE_BITS = 18  # 262,144 places, 1 MB of weights for a language; a page takes about 1,500 of them
FEATURES = 1 << FEATURE_BITS
_MULTIPLIER = np.uint32(2654435761)  # Knuth's, 2^32 divided by the golden ratio: mixes the two keys of a pair
# How much more a rare word counts than a frequent one: the power of its rarity, 0 to 1. Swept 1–4 on the tuning subjects
# (2026-11): from wiki texts to web pages 4 is best (AUC .806; 3: .792; 1: .720), on the Ebola pages 3 (.992).
RARITY_POWER = 3
LINEAR_RARITY_POWER = 2  # the same for the linear model, which learns weights of its own; judgement
PAIR_WEIGHT = 0.5  # of a pair of stems beside a single one; judgement
LOWEST_RATE = 0.25


class TopicDocument(NamedTuple):
    """Counts of one text. All arrays but the last two have one entry for each distinct stem."""

    keys: Keys
    counts: Floats  # log(1 + occurrences)
    rates: Floats  # in general language, per million
    unit: Floats  # counts × rarity, of length 1
    features: Keys  # stems and pairs of stems as places in a table of FEATURES
    values: Floats  # of length 1
    words: int

    @property
    def size(self) -> int:
        return len(self.keys)

    @property
    def places(self) -> Keys:
        """The places of the single stems in the table of features, without pairs of stems."""
        return self.keys & np.int32(FEATURES - 1)


def document(text: str, language: Language) -> TopicDocument:
    """A text as its stems. Numbers and single letters are left out, because they are about nothing."""
    return counted(word_keys(text, language), language)


def counted(row: Keys, language: Language) -> TopicDocument:
    """A text as a row of words of which only the keys are known."""
    keys, occurrences = np.unique(row, return_counts=True)
    counts = np.log1p(occurrences).astype(np.float32)
    rates = rate_of_keys(keys, language)
    mixed = row.astype(np.uint32)
    pairs, pair_counts = np.unique((mixed[:-1] * _MULTIPLIER ^ mixed[1:] * np.uint32(40503)) >> 8, return_counts=True)
    values = np.concatenate(
        (counts * rarity(rates, LINEAR_RARITY_POWER), PAIR_WEIGHT * np.log1p(pair_counts).astype(np.float32))
    )
    features = (np.concatenate((keys, pairs.astype(np.int32))) & np.int32(FEATURES - 1)).astype(np.int32)
    return TopicDocument(
        keys, counts, rates, _unit(counts * rarity(rates, RARITY_POWER)), features, _unit(values), len(row)
    )


def rarity(rates: Floats, power: int) -> Floats:
    """0 for a word that is every second one, 1 for one that general language hardly has."""
    steps = np.log(1e6 / np.maximum(rates, LOWEST_RATE)) / np.log(1e6 / LOWEST_RATE)
    return np.asarray(np.clip(steps, 0, 1) ** power, np.float32)


def _unit(values: Floats) -> Floats:
    return np.asarray(values / max(float(np.linalg.norm(values)), 1e-9), np.float32)


# Constants that were swept were swept on the tuning half of lab/bench/relevance.py (2026-11). The others are judgements.
GENERAL_WEIGHT = 2000.0  # General language counts as this many words beside the examples. Swept 500–8000: flat.
EXAMPLE_WORDS = 500.0  # Each example counts as this many words, so that a long one does not outweigh the others.
SHORT = 20.0  # in summed log counts; what a shorter page lacks counts as undecided
COMMON = 300.0  # per million; more frequent words are not replaced in texts about nothing in particular
# Share of running words that are replaced in a language without a table, where nobody knows which are common. Judgement,
# and only tried on the made-up Basque of tests/unit/topic/test_learned.py.
RARE_SHARE = 0.25
MADE_UP = 20  # such texts
# Real pages about something else are less like the examples than made-up texts: on 20 trials (2026-11) their mean cosine
# was 0.3 to 1.5 times that of made-up texts, 0.5 in the median. The mean difference of the two models was about the same.
MADE_UP_COSINE = 0.6
# Where one half is between made-up texts (0) and examples that were left out (1). By the difference of the models, web
# pages about the subject of encyclopaedia articles are at 0.34 to 0.47, others at -0.05 to 0.1 with a deviation of 0.2 to
# 0.3. Swept 0.42–0.5: less raises the recall across genres, and costs precision within one.
MIDDLE = 0.46
GAIN = 5.0  # logits from made-up texts to examples
# Of the prior; the rest is the cosine's. Swept 0.5–0.7: more helps across genres, less the Ebola pages.
DIFFERENCE_SHARE = 0.6
LINEAR_SHARE = 0.5  # of the logit, once there is a linear model; the rest is the prior's

WINDOW = 600  # judged pages that are kept to learn from, about 12 kB each
FIRST_FIT, NEXT_FIT = 20, 1.5  # judged pages until the first fit; then each time that they have grown by this factor
MOST_SURE, LEAST_SURE = 0.1, 0.5  # shares of the window that may become examples (the best) and counter-examples
SURE_RELEVANT, SURE_IRRELEVANT = 1.4, -0.6  # logits that the prior must reach besides
LEAST_AGAINST = 10  # counter-examples for a linear model
EPOCHS, STEP = 12, 4.0  # of gradient descent
CHECKED = 3  # every third example is left out of a fit to check it
# Share of the pairs of such an example and a counter-example that the fit must rank rightly. Otherwise it is dropped.
GUARD = 0.9
# From so few texts nobody can tell how unlike each other pages about the topic are: parts of one article are much more alike. So
# a page is also compared with the others of the crawl, in their deviations from the median of both scores (`Subject._spreads`).
FEW_TEXTS = 5
RELATIVE_MIDDLE = 1.5  # deviations above the median that are a chance of one half; judgement
RELATIVE_SLOPE = 2.0  # logits of one deviation; judgement: a page that is 2.2 deviations above is sure
LEAST_INHERITED = 5  # certain translations of relevant pages, before a language without examples is judged by itself


class Scale(NamedTuple):
    """Turns a score into a logit."""

    middle: float  # the score of one half
    slope: float

    def logit(self, score: float) -> float:
        return self.slope * (score - self.middle)


class Observed(NamedTuple):
    """A judged document, with the scores of the prior."""

    read: TopicDocument
    difference: float
    cosine: float
    url: Url


class Fit(NamedTuple):
    """A linear model of stems and pairs of stems."""

    weights: Floats
    bias: float

    def logit(self, read: TopicDocument) -> float:
        return float(self.weights[read.features] @ read.values) + self.bias


class TopicSubject:
    """Judges documents of one language. It keeps all examples, and the last judged documents."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._examples: list[TopicDocument] = []
        self._against: list[TopicDocument] = []
        self._inherited: list[TopicDocument] = []
        self._window: list[Observed] = []
        self._relative: tuple[Scale, Scale] | None = None  # by the spread of the window
        self._is_revised = False
        self.texts = 0  # that the examples are from: parts of one text are one; 0 if that is not known
        self._observed, self._next_fit = 0, FIRST_FIT
        self._domain = np.zeros(FEATURES, np.float32)  # words of the examples, each of EXAMPLE_WORDS
        self._centre = np.zeros(FEATURES, np.float32)  # sum of their unit vectors
        self._scales: tuple[Scale, Scale] | None = None
        self._fit: Fit | None = None
        self._stale = False

    @property
    def taught(self) -> bool:
        """Whether it has examples. Without any, nothing below can be asked."""
        return bool(self._examples)

    def learn(self, read: TopicDocument, *, relevant: bool) -> None:
        self._stale = True
        if not relevant:
            self._against.append(read)
            return
        self._examples.append(read)
        np.add.at(self._domain, read.places, _words(read))
        np.add.at(self._centre, read.places, read.unit)
        self._scales = None

    def inherit(self, read: TopicDocument, logit: float) -> None:
        """Learn from a document whose translation has that logit. A few relevant ones are waited for."""
        if logit <= -SURE_RELEVANT:
            self._against.append(read)
        elif logit >= SURE_RELEVANT:
            self._inherited.append(read)
        if len(self._inherited) >= LEAST_INHERITED:
            for translation in self._inherited:
                self.learn(translation, relevant=True)
            self._inherited.clear()

    def logit(self, read: TopicDocument) -> float:
        if self._stale:
            self._refit()
        return self._mixed(read, self._prior_of(self._difference(read), self._cosine(read)))

    def observe(self, read: TopicDocument, url: Url) -> None:
        """Remember a judged document. From time to time, the certain ones among them are learned from."""
        entry = Observed(read, self._difference(read), self._cosine(read), url)
        if len(self._window) < WINDOW:
            self._window.append(entry)
        else:
            self._window[self._observed % WINDOW] = entry
        self._observed += 1
        self._relative = None
        if self._observed >= self._next_fit:
            self._next_fit = int(self._observed * NEXT_FIT)
            self._refit()
            self._is_revised = self._knows_few_texts

    def revised(self) -> list[tuple[Url, float]]:
        """The logits of judged documents as they are now. Once after each fit from few texts, which changes them much."""
        if not self._is_revised:
            return []
        self._is_revised = False
        return [
            (entry.url, self._mixed(entry.read, self._prior_of(entry.difference, entry.cosine)))
            for entry in self._window
        ]

    def weigh(self, read: TopicDocument) -> float:
        """For a few words. Those that the examples do not have say nothing."""
        if not read.size:
            return 0.0
        seen = self._domain[read.places] > 0
        differences = np.where(seen, self._differences(read), 0) * rarity(read.rates, RARITY_POWER)
        linear = self._fit.logit(read) - self._fit.bias if self._fit else 0.0
        return float(read.counts @ differences) / float(np.sqrt(read.size)) + LINEAR_SHARE * linear

    def _prior_of(self, difference: float, cosine: float) -> float:
        by_difference, by_cosine = self._scaled()
        prior = DIFFERENCE_SHARE * by_difference.logit(difference) + (1 - DIFFERENCE_SHARE) * by_cosine.logit(cosine)
        if not self._knows_few_texts or len(self._window) < FIRST_FIT:
            return prior
        by_difference, by_cosine = self._spreads()
        return max(prior, (by_difference.logit(difference) + by_cosine.logit(cosine)) / 2)

    @property
    def _knows_few_texts(self) -> bool:
        return 0 < self.texts < FEW_TEXTS

    def _spreads(self) -> tuple[Scale, Scale]:
        """Scales by what the pages of the crawl get, all hosts weighing the same: most of them are not about the topic."""
        if self._relative is None:
            hosts = Counter(entry.url.host for entry in self._window)
            weights = np.array([1 / hosts[entry.url.host] for entry in self._window])
            differences = np.array([entry.difference for entry in self._window])
            cosines = np.array([entry.cosine for entry in self._window])
            self._relative = (_relative_scale(differences, weights), _relative_scale(cosines, weights))
        return self._relative

    def _mixed(self, read: TopicDocument, prior: float) -> float:
        return (1 - LINEAR_SHARE) * prior + LINEAR_SHARE * self._fit.logit(read) if self._fit else prior

    def _difference(self, read: TopicDocument, *, left_out: bool = False) -> float:
        """Moore and Lewis (2010), with log counts. `left_out`: as if the document were not among the examples."""
        return float(read.counts @ self._differences(read, left_out=left_out)) / max(float(read.counts.sum()), SHORT)

    def _differences(self, read: TopicDocument, *, left_out: bool = False) -> Floats:
        """How much likelier each stem is in the examples than in general language, as a logarithm."""
        occurrences = self._domain[read.places] - (_words(read) if left_out else 0)
        total = EXAMPLE_WORDS * (len(self._examples) - left_out)
        general = GENERAL_WEIGHT * 1e-6 * read.rates
        return np.asarray(np.log1p(np.maximum(occurrences, 0) / general) - np.log1p(total / GENERAL_WEIGHT), np.float32)

    def _cosine(self, read: TopicDocument, *, left_out: bool = False) -> float:
        """The mean cosine to the examples."""
        total = float(self._centre[read.places] @ read.unit) - left_out
        return total / max(len(self._examples) - left_out, 1)

    def _scaled(self) -> tuple[Scale, Scale]:
        if self._scales is None:
            made_up = self._made_up()
            low = float(np.mean([self._difference(text) for text in made_up]))
            high = float(np.median([self._difference(example, left_out=True) for example in self._examples]))
            low_cosine = MADE_UP_COSINE * float(np.mean([self._cosine(text) for text in made_up]))
            high_cosine = float(np.median([self._cosine(example, left_out=True) for example in self._examples]))
            self._scales = (_scale(low, high), _scale(low_cosine, high_cosine))
        return self._scales

    def _made_up(self) -> list[TopicDocument]:
        """Texts about nothing in particular: the frequent words of an example, and words of general language."""
        random = np.random.default_rng(0)
        made = []
        for number in range(MADE_UP):
            example = self._examples[number % len(self._examples)]
            occurrences = np.rint(np.expm1(example.counts)).astype(np.int64)
            row, rare = np.repeat(example.keys, occurrences), np.repeat(example.rates < COMMON, occurrences)
            if not known(self._language):
                rare = random.random(len(row)) < RARE_SHARE
            row[rare] = typical_keys(int(rare.sum()), self._language, random)
            made.append(counted(row, self._language))
        return made

    def _refit(self) -> None:
        """Keep the earlier linear model if there is too little to tell the examples from, or if the check fails."""
        self._stale = False
        sure, against = self._certain()
        against = self._against + against
        if len(against) < LEAST_AGAINST:
            return
        checked, others = (
            self._examples[::CHECKED],
            [example for i, example in enumerate(self._examples) if i % CHECKED],
        )
        if others or sure:
            trial = _fitted(others + sure, against)
            ranked = np.searchsorted(
                np.sort([trial.logit(text) for text in against]), [trial.logit(example) for example in checked]
            )
            if ranked.mean() < GUARD * len(against):
                return
        self._fit = _fitted(self._examples + sure, against)

    def _certain(self) -> tuple[list[TopicDocument], list[TopicDocument]]:
        """The documents of the window that are relevant, and that are not, beyond doubt.

        The prior, which never learns from judged documents, has to agree: so what is learned cannot confirm itself.
        """
        priors = [self._prior_of(entry.difference, entry.cosine) for entry in self._window]
        logits = np.array([self._mixed(entry.read, prior) for entry, prior in zip(self._window, priors, strict=True)])
        order = np.argsort(-logits, kind="stable")
        best, worst = order[: int(MOST_SURE * len(order))], order[len(order) - int(LEAST_SURE * len(order)) :]
        sure = [self._window[i].read for i in best if priors[i] >= SURE_RELEVANT]
        return sure, [self._window[i].read for i in worst if priors[i] <= SURE_IRRELEVANT]


def _words(read: TopicDocument) -> Floats:
    return np.asarray(read.counts * (EXAMPLE_WORDS / float(read.counts.sum())), np.float32)


def _scale(low: float, high: float) -> Scale:
    span = max(high - low, 0.1 * abs(high), 1e-3)  # Examples that have nothing in common must not divide by zero.
    return Scale(low + MIDDLE * span, GAIN / span)


def _relative_scale(scores: NDArray[np.float64], weights: NDArray[np.float64]) -> Scale:
    """By the lower half, which pages about the topic are not in."""
    order = np.argsort(scores, kind="stable")
    ranks = np.cumsum(weights[order]) / weights.sum()
    low, middle = scores[order[np.searchsorted(ranks, [0.16, 0.5])]]  # one deviation below the median, and the median
    deviation = max(float(middle - low), 1e-6)
    return Scale(float(middle) + RELATIVE_MIDDLE * deviation, RELATIVE_SLOPE / deviation)


def _fitted(relevant: Sequence[TopicDocument], against: Sequence[TopicDocument]) -> Fit:
    """Logistic regression by gradient descent. Both classes weigh the same, whatever their sizes."""
    weights, bias = np.zeros(FEATURES, np.float32), 0.0
    rows = [(text, 1.0, 0.5 / len(relevant)) for text in relevant] + [
        (text, 0.0, 0.5 / len(against)) for text in against
    ]
    order = np.random.default_rng(0).permutation(len(rows))
    for epoch in range(EPOCHS):
        step = STEP * len(rows) / (1 + epoch)
        for number in order:
            read, label, weight = rows[number]
            logit = float(weights[read.features] @ read.values) + bias
            change = step * weight * (label - 1 / (1 + np.exp(-logit)))
            weights[read.features] += np.float32(change) * read.values
            bias += 0.1 * change  # The bias moves slowly, because it is in every document.
    return Fit(weights, float(bias))
