"""A small phrase-based translator, to measure what a corpus teaches: the same settings for every corpus, nothing tuned.

Words are aligned in both directions by sil-thot's fast_align and symmetrised (grow-diag-final-and), phrases of up to four words
are extracted (Koehn, Och and Marcu 2003), and a beam search without reordering weighs them with a trigram model of the
corpus's own target side.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from heapq import nlargest
from math import log
from typing import NamedTuple

import numpy as np

Words = tuple[str, ...]
Links = Collection[tuple[int, int]]

LONGEST_PHRASE = 4  # words
LONGEST_SENTENCE = 60  # words; a longer one teaches nothing
OPTIONS, BEAM = 8, 12  # translations of a phrase, hypotheses that cover as many words; judgement: more changes little
# Judgement: the usual order of magnitude of tuned weights (Moses' defaults), the same for every corpus.
WEIGHTS = {"forward": 0.3, "backward": 0.3, "language model": 0.5, "word": 0.6, "phrase": -0.2}
ROUNDS = 5  # of training; fast_align's default
DISCOUNT = 0.5  # of each count of a phrase pair: one that was seen once is worth less (Foster et al. 2006)
UNKNOWN = -10.0  # of a word that no phrase covers and that stays as it is
_UNSPACED = r"\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+|[^\w\s]")


def tokens(text: str) -> Words:
    """Lower-cased words and signs; each Han character and each kana is a word."""
    return tuple(_TOKEN.findall(text.lower()))


class LanguageModel:
    """Trigrams, interpolated as Witten and Bell do it."""

    def __init__(self, sentences: Iterable[Words]) -> None:
        self._counts: Counter[Words] = Counter()
        for sentence in sentences:
            padded = ("<s>", "<s>", *sentence, "</s>")
            for end in range(3, len(padded) + 1):
                self._counts.update(padded[end - size : end] for size in (1, 2, 3))
        self._totals: Counter[Words] = Counter()
        self._kinds: Counter[Words] = Counter()
        for gram, count in self._counts.items():
            self._totals[gram[:-1]] += count
            self._kinds[gram[:-1]] += 1
        self._known: dict[Words, float] = {}

    def log_probability(self, gram: Words) -> float:
        """Of the last word after the two before it."""
        if gram not in self._known:
            self._known[gram] = log(self._probability(gram))
        return self._known[gram]

    def _probability(self, gram: Words) -> float:
        if not gram:
            return 1 / (self._kinds[()] + 1)
        history, lower = gram[:-1], self._probability(gram[1:])
        if not self._totals[history]:
            return lower
        kinds = self._kinds[history]
        return (self._counts[gram] + kinds * lower) / (self._totals[history] + kinds)


def phrase_pairs(source: Words, target: Words, links: Links) -> Iterator[tuple[Words, Words]]:
    """All that are consistent with the links: no word of either is linked to a word outside the other."""
    of_source: list[list[int]] = [[] for _ in source]
    of_target: list[list[int]] = [[] for _ in target]
    for i, j in links:
        of_source[i].append(j)
        of_target[j].append(i)
    for first in range(len(source)):
        inside: list[int] = []
        for last in range(first, min(first + LONGEST_PHRASE, len(source))):
            inside += of_source[last]
            if not inside:
                continue
            low, most = min(inside), max(inside)
            if most - low >= LONGEST_PHRASE:
                break
            if any(not first <= i <= last for j in range(low, most + 1) for i in of_target[j]):
                continue
            while True:  # a neighbour without a link may belong to the phrase
                high = most
                while high - low < LONGEST_PHRASE:
                    yield source[first : last + 1], target[low : high + 1]
                    high += 1
                    if high >= len(target) or of_target[high]:
                        break
                low -= 1
                if low < 0 or of_target[low]:
                    break


class Option(NamedTuple):
    """A translation of a phrase, and all of its score but the language model's part."""

    target: Words
    score: float


class _Hypothesis(NamedTuple):
    score: float
    words: Words


class Translator:
    """Knows what one corpus has taught."""

    def __init__(self, corpus: Sequence[tuple[Words, Words]], links: Sequence[Links]) -> None:
        self._model = LanguageModel(target for _, target in corpus)
        counts = Counter(
            pair
            for (source, target), of_pair in zip(corpus, links, strict=True)
            for pair in phrase_pairs(source, target, of_pair)
        )
        self.options = _options(counts)

    def translate(self, source: Words) -> Words:
        stacks: list[dict[Words, _Hypothesis]] = [{} for _ in range(len(source) + 1)]
        stacks[0]["<s>", "<s>"] = _Hypothesis(0.0, ())
        for start in range(len(source)):
            kept = nlargest(BEAM, stacks[start].items(), key=lambda one: one[1].score)
            for end in range(start + 1, min(start + LONGEST_PHRASE, len(source)) + 1):
                for option in self._options_of(source[start:end]):
                    for state, hypothesis in kept:
                        self._extend(stacks[end], state, hypothesis, option)
        finished = ((self._with_end(state, one), one.words) for state, one in stacks[-1].items())
        return max(finished)[1]

    def _options_of(self, phrase: Words) -> Sequence[Option]:
        return self.options.get(phrase) or ([Option(phrase, UNKNOWN)] if len(phrase) == 1 else [])

    def _extend(self, stack: dict[Words, _Hypothesis], state: Words, old: _Hypothesis, option: Option) -> None:
        score, history = old.score + option.score, state
        for word in option.target:
            score += WEIGHTS["language model"] * self._model.log_probability((*history, word))
            history = (history[1], word)
        if history not in stack or stack[history].score < score:
            stack[history] = _Hypothesis(score, old.words + option.target)

    def _with_end(self, state: Words, one: _Hypothesis) -> float:
        return one.score + WEIGHTS["language model"] * self._model.log_probability((*state, "</s>"))


def _options(counts: Counter[tuple[Words, Words]]) -> dict[Words, list[Option]]:
    sources: Counter[Words] = Counter()
    targets: Counter[Words] = Counter()
    for (source, target), count in counts.items():
        sources[source] += count
        targets[target] += count
    options: defaultdict[Words, list[Option]] = defaultdict(list)
    for (source, target), count in counts.items():
        score = (
            WEIGHTS["forward"] * log((count - DISCOUNT) / sources[source])
            + WEIGHTS["backward"] * log((count - DISCOUNT) / targets[target])
            + WEIGHTS["word"] * len(target)
            + WEIGHTS["phrase"]
        )
        options[source].append(Option(target, score))
    return {source: nlargest(OPTIONS, some, key=lambda one: one.score) for source, some in options.items()}


def word_links(corpus: Sequence[tuple[Words, Words]]) -> list[Links]:
    """Of each sentence pair, by fast_align in both directions. Needs sil-thot."""
    from thot.alignment import FastAlignModel, SymmetrizationHeuristic, SymmetrizedAligner  # noqa: PLC0415

    directions = [FastAlignModel(), FastAlignModel()]
    for source, target in corpus:
        directions[0].add_sentence_pair(source, target)
        directions[1].add_sentence_pair(target, source)
    for model in directions:
        model.start_training()
        for _ in range(ROUNDS):
            model.train()
        model.end_training()
    both = SymmetrizedAligner(*directions)
    both.heuristic = SymmetrizationHeuristic.GROW_DIAG_FINAL_AND
    found = both.get_best_alignments([source for source, _ in corpus], [target for _, target in corpus])
    return [[(i, j) for i, j in np.argwhere(matrix.to_numpy()).tolist()] for _, matrix in found]


def trained(corpus: Iterable[tuple[str, str]]) -> Translator:
    """From pairs of texts. Needs sil-thot."""
    pairs = [(tokens(source), tokens(target)) for source, target in corpus]
    short = [pair for pair in pairs if all(1 <= len(side) <= LONGEST_SENTENCE for side in pair)]
    return Translator(short, word_links(short))
