"""How probably a segment pair is a translation: boosted trees over what its two texts share, in two looks.

The second look also sees the scores that the first gave to the pairs beside it.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log1p, log10
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from bitrawl.model import SegmentPair
from bitrawl.model_files import model_file
from bitrawl.text.arrays import Floats32, Ints, Trees
from bitrawl.text.lexicon import DISCOUNT, EMPTY
from bitrawl.text.numbers import NumberAgreement

DIRECTIONS = {
    "alignment": 1,  # the aligner's own probability
    "coverage_least": 1,  # by the lexicon, the worse and the better of the two ways
    "coverage_most": 1,
    "lexicon": 0,  # its size: 0 for none, 1 for tens of links, 4 for ten thousands
    "coverage_here": 0,  # the mean of the page: how much the lexicon knows at all
    "coverage_beyond": 1,  # how far above that mean
    "weakest_least": 1,  # of short texts, by the word that is covered least, on the worse and on the better side
    "weakest_most": 1,
    "length_error": -1,  # of the lengths, in standard deviations from the page's own ratio
    "length_ratio": 1,
    "numbers_shared": 1,
    "numbers_different": -1,
    "kept_shared": 1,  # identifiers, addresses, names: what a translation leaves as it is
    "kept_different": -1,
    "look_alike": 1,  # words that begin alike
    "ending": 1,  # both end as a sentence, a question, a heading, or not
    "marks": -1,  # how far brackets, quotes, colons differ in number
    "language_least": 1,
    "words_least": 0,
    "words_most": 0,
    "equal": -1,
    "sentences": 0,
    "sentences_beyond": -1,  # how many more one side has
    "known_least": 0,  # of which share of the words a translation was known before anything was learned
    "told_least": 1,  # how far those words have theirs in the other text, on the worse and on the better side
    "told_most": 1,
    "follows": 1,  # nothing was left out between it and the pair before it, the pair after it
    "precedes": 1,
    "opens": 1,  # both sides go on in the paragraph of the pair before, or neither does
    "closes": 1,
}
"""The features of a pair, and whether more of one may only speak for it (1), against it (-1), or either (0)."""

NEIGHBOURHOOD = {"alone": 1, "nearest": 1, "near": 1, "neighbours": 0}
"""What the second look adds: the first score of the pair, the least of the two beside it, the mean of four, how many."""

SHORT = 3  # words; what ILSP-FC and Bitextor call very short
REACH = 2  # pairs on either side that count as neighbours
# Variance of a translation's length per character: Gale and Church 1993 have 6.8, for a standard deviation.
_SPREAD = 2.6
_PRIOR_LENGTH = 200.0  # characters on either side that a page is taken to have beside its own
_NO_NEIGHBOUR = 0.5  # what stands alone is neither supported nor contradicted
_OWN = 23  # features of a pair that need nothing of its page
_MOST_ERROR = 20.0  # beyond it, all are alike
_UNTOLD = 0.3  # how far words have their translations where no word was known: a little more than those of strangers do
_NOTHING_LEFT = 4  # pairs of words that share one sighting: each gets a half, which is what the lexicon discounts
_PREFIX = 4  # letters in which words look alike
_ASCII_TOKEN = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_./:@+#\\-]*[A-Za-z0-9_])?", re.ASCII)
_PLAIN = re.compile(r"[A-Za-z]?[a-z]*|\d+", re.ASCII)  # a word or a number, without structure
_STRUCTURED = re.compile(r"[._/:@+#\\0-9]|.[A-Z]")
# Letters from Greek on, but for Latin Extended Additional and the punctuation and symbols after it.
_OTHER_SCRIPT = re.compile("[\u0370-\u1dff\u2e80-\ua71f\uac00-\ud7ff\uf900-\ufaff]")
_CLOSING = " \t\n\"'”’»)]}」』）】"
_ENDINGS = {mark: kind for kind, marks in enumerate((".。．।۔…", "?？؟;", "!！", ":：", ",，、،"), 1) for mark in marks}
_MARK_KINDS = ("?？؟", "!！", ":：", "(（)）", '"“”„«»「」『』', "[]", "<>")
_MARK_OF = {mark: kind for kind, marks in enumerate(_MARK_KINDS) for mark in marks}
_MARKS = re.compile("[" + re.escape("".join(_MARK_KINDS)) + "]")


class Measured(NamedTuple):
    """A pair and what `Judge` has found out about it."""

    pair: SegmentPair
    scores: dict[str, float]
    words: tuple[Sequence[str], Sequence[str]]
    numbers: NumberAgreement
    equal: bool  # its letters and digits
    links: int  # of the lexicon
    lengths: tuple[int, int]  # in characters, those of dense scripts counted three
    wrong_script: bool = False  # of either text
    weakest: tuple[float, float] | None = (
        None  # of short texts, how far the lexicon covers the word that it covers least
    )
    known: tuple[float, float] = (0.0, 0.0)  # words of either text that a translation was known of before
    told: tuple[float, float] = (0.0, 0.0)  # how many of these have one in the other text

    def of(self, pair: SegmentPair, languages: tuple[float, float]) -> "Measured":
        """The same of a pair of the same texts, with the scores of its own."""
        own = {"language_a": languages[0], "language_b": languages[1]}
        own["alignment"] = pair.scores.get("alignment", pair.score)
        return self._replace(pair=pair, scores=own | self.scores)


def table(page: Sequence[Measured]) -> Floats32:
    """A row for each pair, a column for each of `DIRECTIONS`; all pairs are of one pair of pages, in order."""
    rows = np.array([_alone(measured) for measured in page], np.float32).reshape(-1, _OWN)
    coverage = (rows[:, 1] + rows[:, 2]) / 2
    here = np.full(len(page), coverage.mean() if len(page) else 0.0, np.float32)
    own = np.column_stack([rows[:, :4], here, coverage - here, rows[:, 4:6], _length_errors(page), rows[:, 6:]])
    return np.column_stack([own, _places([measured.pair for measured in page])]).astype(np.float32)


def neighbourhood(alone: Floats32) -> Floats32:
    """A row for each pair of a page, a column for each of `NEIGHBOURHOOD`, by the scores of a first look."""
    count = len(alone)
    padded = np.full(count + 2 * REACH, np.nan, np.float32)
    padded[REACH : REACH + count] = alone
    beside = np.stack([padded[REACH + step : REACH + step + count] for step in range(-REACH, REACH + 1) if step])
    present = ~np.isnan(beside)
    number = present.sum(axis=0)
    near = np.where(present, beside, 0).sum(axis=0) / np.maximum(number, 1)
    next_to = beside[REACH - 1 : REACH + 1]
    nearest = np.where(np.isnan(next_to), 1.0, next_to).min(axis=0, initial=1.0)
    lonely = number == 0
    nearest, near = (np.where(lonely, _NO_NEIGHBOUR, values) for values in (nearest, near))
    return np.column_stack([alone, nearest, near, number]).astype(np.float32)


def _alone(measured: Measured) -> list[float]:
    a, b = measured.pair.a.text, measured.pair.b.text
    coverage = _coverage(measured)
    shared, different = _kept(a, b)
    sizes = sorted(log1p(len(words)) for words in measured.words)
    sentences = _sentence_counts(measured.pair)
    return [
        measured.scores["alignment"],
        *sorted(coverage),
        float(round(log10(1 + measured.links))),
        *sorted(_weakest(measured, coverage)),
        measured.scores["length_ratio"],
        log1p(measured.numbers.shared),
        float(min(measured.numbers.different, 4)),
        log1p(shared),
        log1p(different),
        _look_alike(*measured.words),
        float(_ending(a) == _ending(b)),
        _marks_apart(a, b),
        min(measured.scores["language_a"], measured.scores["language_b"]),
        *sizes,
        float(measured.equal),
        float(min(sum(sentences), 10)),
        float(min(abs(sentences[0] - sentences[1]), 5)),
        min(known / max(1, len(words)) for known, words in zip(measured.known, measured.words, strict=True)),
        *sorted((told + _UNTOLD) / (known + 1) for known, told in zip(measured.known, measured.told, strict=True)),
    ]


def _sentence_counts(pair: SegmentPair) -> list[int]:
    return [int(count) if count.isdecimal() else 1 for count in pair.type.partition(":")[::2]]


def _coverage(measured: Measured) -> tuple[float, float]:
    """By the lexicon; where there is none, by the words that are the same.

    The lexicon has learned from the pair itself: what one sighting is worth does not count.
    """
    if "coverage_a" in measured.scores:
        return _without_own((measured.scores["coverage_a"], measured.scores["coverage_b"]), measured)
    same = set(measured.words[0]) & set(measured.words[1])
    covered = [sum(word in same for word in text) / max(1, len(text)) for text in measured.words]
    return covered[0], covered[1]


def _weakest(measured: Measured, coverage: tuple[float, float]) -> tuple[float, float]:
    """1 for long texts, of which it would say nothing: some word of them has no translation."""
    if measured.weakest is not None:
        return _without_own(measured.weakest, measured)
    return coverage if min(map(len, measured.words)) <= SHORT else (1.0, 1.0)


def _without_own(covered: tuple[float, float], measured: Measured) -> tuple[float, float]:
    own = _one_sighting(*(len(set(words)) for words in measured.words))
    a, b = (max(0.0, share - seen) / (1 - seen) for share, seen in zip(covered, own, strict=True))
    return a, b


def _one_sighting(count_a: int, count_b: int) -> tuple[float, float]:
    """The coverage of two texts by a lexicon that has seen nothing but them, once: none from two words on either side on."""
    if not 0 < count_a * count_b < _NOTHING_LEFT:
        return 0.0, 0.0
    seen = (count_a * count_b) ** -0.5
    a, b = (count * (seen - DISCOUNT) / (count * seen + EMPTY) for count in (count_b, count_a))
    return a, b


def _kept(a: str, b: str) -> tuple[int, int]:
    """How many tokens that a translation leaves alone both texts have, and how many only one.

    Where one text is not in Latin script, any Latin word in it is such a token.
    """
    tokens_a, tokens_b = set(_ASCII_TOKEN.findall(a)), set(_ASCII_TOKEN.findall(b))
    both = {token for token in tokens_a & tokens_b if len(token) > 1 and not token.isdecimal()}
    latin = _is_latin(a) and _is_latin(b)
    shared = sum(1 for token in both if not latin or token[0].isupper() or _is_structured(token))
    apart = [token for token in tokens_a ^ tokens_b if not _PLAIN.fullmatch(token)]
    return shared, sum(map(_is_structured, apart))


def _is_structured(token: str) -> bool:
    """With marks or digits in it, or capitals after the first letter."""
    if token.isalpha():
        return len(token) > 1 and not token[1:].islower()
    return bool(_STRUCTURED.search(token))


def _is_latin(text: str) -> bool:
    """Whether a word of ASCII is at home there."""
    return text.isascii() or not _OTHER_SCRIPT.search(text)


def _look_alike(a: Sequence[str], b: Sequence[str]) -> float:
    starts_a, starts_b = ({word[:_PREFIX] for word in text if len(word) >= _PREFIX} for text in (a, b))
    return len(starts_a & starts_b) / max(1, min(len(starts_a), len(starts_b)))


def _ending(text: str) -> int:
    return _ENDINGS.get(text.rstrip(_CLOSING)[-1:], 0)


def _marks_apart(a: str, b: str) -> float:
    marks_a, marks_b = ([_MARK_OF[mark] for mark in _MARKS.findall(text)] for text in (a, b))
    different = Counter(marks_a)
    different.subtract(marks_b)
    return sum(map(abs, different.values())) / (1 + len(marks_a) + len(marks_b))


def _length_errors(page: Sequence[Measured]) -> Floats32:
    """Gale and Church's, with the ratio of the page itself, held to 1 where there is little of it."""
    lengths = np.array([measured.lengths for measured in page], np.float64).reshape(-1, 2)
    total = lengths.sum(axis=0) + _PRIOR_LENGTH
    ratio = total[1] / total[0]
    error = (lengths[:, 1] - ratio * lengths[:, 0]) / np.sqrt(_SPREAD * (lengths.mean(axis=1) + 1))
    bounded: Floats32 = np.minimum(np.abs(error), _MOST_ERROR).astype(np.float32)
    return bounded


def _places(pairs: Sequence[SegmentPair]) -> Floats32:
    """follows, precedes, opens, closes: 1 or 0 each; 0.5 at the ends of a page and where places are not known."""
    count = len(pairs)
    result = np.full((count, 4), 0.5, np.float32)
    for number in range(1, count):
        before, here = pairs[number - 1], pairs[number]
        if min(before.a.sentence, before.b.sentence) >= 0:
            size_a, size_b = _sentence_counts(before)
            follows = here.a.sentence == before.a.sentence + size_a and here.b.sentence == before.b.sentence + size_b
            result[number, 0] = result[number - 1, 1] = follows
        if min(before.a.paragraph, before.b.paragraph) >= 0:
            alike = (here.a.paragraph == before.a.paragraph) == (here.b.paragraph == before.b.paragraph)
            result[number, 2] = result[number - 1, 3] = alike
    return result


_EDGE = 1e-6
_WORDS = list(DIRECTIONS).index("words_least")
KNOWN = "known."  # before the names of arrays


def length_classes(rows: Floats32) -> Ints:
    """0 for pairs with a side of one word, 1 for short ones, 2 for all others: the shorter, the less there is to tell by."""
    return np.searchsorted(np.log1p(np.array([1, SHORT])) + _EDGE, rows[:, _WORDS])


@dataclass(frozen=True, slots=True)
class SegmentScore:
    """First each pair by itself, then with the first scores of its neighbours; then what it takes to mean what it says."""

    alone: Trees
    in_place: Trees
    calibration: Floats32  # slope and bias of the logit, a row for each of `length_classes`

    @classmethod
    def load(cls, path: Path, *, known: bool = False) -> Self:
        """One of the two models of a file: for texts of whose words something was known beforehand, and for others."""
        kind = KNOWN if known else ""
        with np.load(path) as arrays:
            alone, in_place = (Trees.named(f"{kind}{look}", arrays) for look in ("alone", "in_place"))
            return cls(alone, in_place, arrays[f"{kind}calibration"])

    @classmethod
    def load_known(cls, path: Path) -> Self:
        """The model for texts of whose words something was known beforehand."""
        return cls.load(path, known=True)

    def scores(self, page: Sequence[Measured]) -> Floats32:
        """Of the pairs of one pair of pages, in order; 0–1."""
        return self.of_table(table(page)) if page else np.zeros(0, np.float32)

    def of_table(self, rows: Floats32) -> Floats32:
        """A pair without neighbours keeps its first score: the second look trusts its place, and it has none.

        Of 800 lone pairs each of Text+Berg, Orwell and MAC dev, half of them wrong and of the same length (2026-11), the
        area under the curve is .911, .777, .600 by the first look, and .900, .759, .593 by the second, which gives most
        wrong pairs of Orwell and MAC 0.7 to 0.8. The first gives them 0.4 to 0.5.
        """
        classes = length_classes(rows)
        alone = self.alone.probability(rows)
        if len(rows) == 1:
            return self.calibrated(alone, classes)
        return self.calibrated(self.in_place.probability(np.column_stack([rows, neighbourhood(alone)])), classes)

    def calibrated(self, raw: Floats32, classes: Ints) -> Floats32:
        inner = np.clip(raw.astype(np.float64), _EDGE, 1 - _EDGE)
        slope, bias = self.calibration[classes].T
        logits = slope * np.log(inner / (1 - inner)) + bias
        chances: Floats32 = (1 / (1 + np.exp(-logits))).astype(np.float32)
        return chances


def segment_score(*, known: bool) -> SegmentScore:
    """The model in use, loaded once."""
    return _loaded(model_file("segments.npz"), known=known)


@lru_cache(maxsize=4)
def _loaded(path: Path, *, known: bool) -> SegmentScore:
    return SegmentScore.load(path, known=known)
