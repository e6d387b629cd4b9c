"""One calibrated score for two pages: all that is measured of them as a row of numbers, and the trees that weigh it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bitrawl.mining import detectors
from bitrawl.mining.content import LexiconSpace, TermSpace, WordIndex
from bitrawl.mining.detectors import (
    DeclaredDetector,
    DigitDetector,
    ImageDetector,
    MutualDetector,
    ParagraphLengths,
    RareImages,
    StructureDetector,
    UrlDetector,
    digits,
)
from bitrawl.mining.evidence import METHODS_OF, Detector, Evidence, KnownPairs, PageNumbers, UntranslatedText, both_ends
from bitrawl.mining.page_embeddings import EmbeddingSpace
from bitrawl.mining.parents import BridgeDetector, PairNeighbours, ParentDetector, Relatives
from bitrawl.mining.site import Site
from bitrawl.model import Method
from bitrawl.model_files import model_file
from bitrawl.protocols import Encoder
from bitrawl.text.arrays import Bools, Floats, Floats32, Ints, Trees, distinct, places_in
from bitrawl.text.known_words import Dictionary

# Judgements.
MANY_NUMBERS = 5  # Digit sequences of a page whose absence from the other says something ...
FEW_SHARED = 0.3  # ... where less than this share of them is on both.
SMALL = 300  # Weight of a page of which little can be measured.
STRONG = 0.8  # Evidence that counts when it is asked how many pages of a site have some.
# What a URL or a declaration must say of a copy: marks of languages do, a common change that print versions follow does not.
STATED = 0.9

_BLOCK = 1 << 14  # Candidates that are measured at a time.

# Evidence that is compared with that of the rivals: other candidates of either page in the other's language.
RIVALLED = ("declared", "url", "kept", "lexicon", "parents", "structure", "paragraphs")
ADDRESSED = ("declared", "url")  # Of these, what tells a page from its copies.
_MEASURED = (
    "images", "images_differ", "digits", "digits_differ", "blocks", "lengths", "prints", "tags", "structure", "paragraphs",
)  # fmt: skip
FIXED = (*_MEASURED, "shared", "same", "kept", "small")  # what two pages alone tell
NAMES = (
    "declared", "url", *_MEASURED, "kept", "lexicon", "lexicon_unknown", "parents", "relatives", "relatives_unknown",
    "mutual", "bridge", "bridge_absent", "shared", "same", "small", "url_absent", "declared_absent",
    *(f"{name}_margin" for name in RIVALLED),
)  # fmt: skip
COLUMN = {name: place for place, name in enumerate(NAMES)}


class Candidates:
    """Pairs that some method proposes, in their order, a row of features for each."""

    def __init__(self, keys: Ints, rows: NDArray[np.floating]) -> None:
        self.keys, self.rows = keys, rows

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def pairs(self) -> list[PageNumbers]:
        a, b = both_ends(self.keys)
        return list(zip(a.tolist(), b.tolist(), strict=True))

    def column(self, name: str) -> Floats:
        return self.rows[:, COLUMN[name]].astype(np.float64)


class Surveyor:
    """Measures the candidates of one site, again whenever more pairs are known; what cannot change is kept."""

    def __init__(
        self,
        site: Site,
        methods: frozenset[Method],
        *,
        url: UrlDetector,
        dictionary: Dictionary | None = None,
        encoder: Encoder | None = None,
        left_out: Collection[int] = (),
    ) -> None:
        self._site = site
        self._taken = np.ones(len(site.summaries), bool)
        self._taken[np.fromiter(left_out, np.int64)] = False
        self._methods = methods
        self.url = url
        self._dictionary = dictionary
        self._terms = TermSpace(site)
        self._embedded = EmbeddingSpace(site, encoder) if encoder and Method.CONTENT in methods else None
        self._words = WordIndex(site)
        self._rare = RareImages(site)
        self.untranslated = UntranslatedText(site)
        self._lengths = ParagraphLengths(site)
        self._sizes = np.bincount(site.spoken, minlength=len(site.languages))
        self._measured = Candidates(np.zeros(0, np.int64), np.zeros((0, len(FIXED)), np.float32))
        self._first = self._static_evidence()
        self._original = np.arange(len(site.summaries))

    def without_evidence(self, copied: Mapping[int, int]) -> set[int]:
        """Those of the copies of a page that neither URLs nor declarations pair: they are left out from now on.

        By content a page and its copies are the same, so nothing else can tell which one a translation belongs to.
        """
        both = [self._first["declared"], self._of("url", self.url, KnownPairs())]
        strong = np.concatenate([evidence.keys_array[evidence.values_array >= STATED] for evidence in both])
        paired = set(np.concatenate(both_ends(self._comparable(strong))).tolist())
        for copy, original in copied.items():
            self._original[copy] = original
        unpaired = copied.keys() - paired
        self._taken[np.fromiter(unpaired, np.int64)] = False
        return unpaired

    def survey(self, known_pairs: KnownPairs) -> Candidates:
        """All features of all candidates, given the pairs that are known."""
        evidence = {
            **self._first,
            "url": self._of("url", self.url, known_pairs),
            "parents": self._of("parents", ParentDetector(), known_pairs),
            "bridge": self._of("bridge", BridgeDetector(), known_pairs),
        }
        again = len(self._measured) > 0  # the trees of the first round were taught without a lexicon
        lexicon = (
            LexiconSpace(self._words, known_pairs, self._dictionary, shipped=again) if self._asked("kept") else None
        )
        proposed = [by_method.keys_array for by_method in evidence.values()]
        keys = self._comparable(distinct(np.concatenate([*proposed, *([lexicon.candidates()] if lexicon else [])])))
        rows = np.zeros((len(keys), len(NAMES)), np.float32)
        for name in ("declared", "url", "parents", "bridge", "mutual"):
            rows[:, COLUMN[name]] = evidence[name].at(keys)
        self._measure_new(keys)
        rows[:, [COLUMN[name] for name in FIXED]] = self._measured.rows
        _set_known(rows, "lexicon", lexicon.similarities(keys) if lexicon else -np.ones(len(keys)))
        relatives = (
            Relatives(self._site, known_pairs, self._neighbours) if known_pairs and self._asked("parents") else None
        )
        _set_known(rows, "relatives", relatives.similarities(keys) if relatives else -np.ones(len(keys)))
        self.fill_context(keys, rows, known_pairs)
        return Candidates(keys, rows)

    @cached_property
    def _neighbours(self) -> PairNeighbours:
        return PairNeighbours(self._site)

    def _comparable(self, keys: Ints) -> Ints:
        """Without pages that are left out, and without those of which one is a placeholder of the other."""
        a, b = both_ends(keys)
        weights = self._site.weights
        near = np.minimum(weights[a], weights[b]) >= detectors.COMPARABLE * np.maximum(weights[a], weights[b])
        return keys[near & self._taken[a] & self._taken[b]]

    def _static_evidence(self) -> dict[str, Evidence]:
        nothing = KnownPairs()
        return {
            "declared": self._of("declared", DeclaredDetector(), nothing),
            "mutual": self._of("mutual", MutualDetector(), nothing),
            "images": self._of("images", ImageDetector(), nothing),
            "digits": self._of("digits", DigitDetector(), nothing),
            "structure": self._of("structure", StructureDetector(), nothing),
            "kept": _only(self._terms.candidates() if self._asked("kept") else np.zeros(0, np.int64)),
            "embedded": _only(self._embedded.candidates() if self._embedded else np.zeros(0, np.int64)),
        }

    def _of(self, name: str, detector: Detector, known_pairs: KnownPairs) -> Evidence:
        return detector.propose(self._site, known_pairs) if self._asked(name) else Evidence.of({})

    def _asked(self, name: str) -> bool:
        """Whether a method that was selected measures this."""
        return not self._methods.isdisjoint(METHODS_OF[name])

    def _measure_new(self, keys: Ints) -> None:
        """What two pages alone tell, whatever else is known: of each candidate, as the last round had it or anew."""
        places = places_in(self._measured.keys, keys)
        rows = np.empty((len(keys), len(FIXED)), np.float32)
        rows[places >= 0] = self._measured.rows[places[places >= 0]]
        new = np.flatnonzero(places < 0)
        for start in range(0, len(new), _BLOCK):
            block = new[start : start + _BLOCK]
            rows[block] = self._fixed(keys[block])
        self._measured = Candidates(keys, rows)

    def _fixed(self, keys: Ints) -> Floats:
        """The columns that are called `FIXED`."""
        a, b = both_ends(keys)
        rows = np.array([self._measure(pair) for pair in zip(a.tolist(), b.tolist(), strict=True)])
        likeness = self._terms.cosines(keys) if self._asked("kept") else np.zeros(len(keys))
        if self._embedded:  # on the same scale, so that the score needs no other weights
            likeness = np.maximum(likeness, self._embedded.similarities(keys))
        small = np.minimum(self._site.weights[a], self._site.weights[b]) < SMALL
        return np.column_stack([rows, likeness, small])

    def _measure(self, pair: PageNumbers) -> list[float]:
        site, methods = self._site, self._methods
        images = self._rare.jaccard(pair) if self._asked("images") else 0.0
        both = all(number in self._rare.of_page for number in pair)
        digit = digits(site, pair) if self._asked("digits") else 0.0
        many = max(len(site.numbers[number]) for number in pair) >= MANY_NUMBERS
        measured = detectors.measures(site, pair)
        return [
            images,
            float(both and not images and self._asked("images")),
            digit,
            float(many and digit < FEW_SHARED and self._asked("digits")),
            *measured,
            detectors.selected(detectors.combined(measured), methods),
            self._lengths.evidence(pair) if self._asked("structure") else 0.0,
            *self.untranslated.measures(pair),
        ]

    def fill_context(self, keys: Ints, rows: Floats32, known_pairs: KnownPairs) -> None:
        """What the rivals have, and what is missing though the rest of the site has it."""
        if not len(keys):
            return
        groups = self._groups(keys)
        free = self._free(keys, known_pairs)
        a, b = both_ends(keys)
        pages, originals = np.array([b, a]), np.array([self._original[b], self._original[a]])
        for name in RIVALLED:
            values = rows[:, COLUMN[name]]
            others = pages if name in ADDRESSED else originals
            rows[:, COLUMN[f"{name}_margin"]] = values - best_rivals(groups, values, free, others)
        for name in ("url", "declared"):
            values = rows[:, COLUMN[name]]
            rows[:, COLUMN[f"{name}_absent"]] = (values == 0) * self._coverage(keys, values)
        bridged = rows[:, COLUMN["bridge"]]
        rows[:, COLUMN["bridge_absent"]] = (bridged == 0) * best_rivals(groups, bridged, np.ones_like(free), pages)

    def _groups(self, keys: Ints) -> Ints:
        """Two rows: for each candidate, a number for its first page with the other's language, and for its second."""
        a, b = both_ends(keys)
        spoken, count = self._site.spoken, len(self._site.languages)
        _, groups = np.unique(np.concatenate([a * count + spoken[b], b * count + spoken[a]]), return_inverse=True)
        return groups.reshape(2, len(keys))

    def _free(self, keys: Ints, known_pairs: KnownPairs) -> Bools:
        """Two rows: whether the second page of each candidate has no certain partner but the first, and the other way.

        A page that is certainly somebody else's translation is no rival. On a large site, some page out of thousands is
        by chance nearer than the true one; most of these have partners of their own.
        """
        a, b = both_ends(keys)
        count, spoken = len(self._site.languages), self._site.spoken
        partners = np.full(len(self._site.summaries) * count, -1, np.int64)
        for first, second in known_pairs.pairs:
            partners[first * count + spoken[second]] = second
            partners[second * count + spoken[first]] = first
        of_b, of_a = partners[b * count + spoken[a]], partners[a * count + spoken[b]]
        return np.array([(of_b < 0) | (of_b == a), (of_a < 0) | (of_a == b)])

    def _coverage(self, keys: Ints, values: Floats32) -> Floats:
        """For each candidate, how many of the pages of its rarer language have such evidence of high value."""
        a, b = (self._site.spoken[end] for end in both_ends(keys))
        both = np.minimum(a, b) * len(self._site.languages) + np.maximum(a, b)
        counts = np.bincount(both, values >= STRONG)
        shares: Floats = counts[both] / np.minimum(self._sizes[a], self._sizes[b])
        return np.minimum(1.0, shares)


def _only(keys: Ints) -> Evidence:
    """Candidates that nothing more is said of."""
    return Evidence(keys, np.ones(len(keys)))


def _set_known(rows: Floats32, name: str, values: Floats) -> None:
    """A column, and the one beside it that says where it is unknown: below 0."""
    rows[:, COLUMN[name]] = np.maximum(values, 0)
    rows[:, COLUMN[f"{name}_unknown"]] = values < 0


def best_rivals(groups: Ints, values: NDArray[np.floating], free: Bools, others: Ints) -> Floats:
    """For each candidate, the highest value of the free other candidates of either page in the other's language.

    Both rows at once: a page is the first of some of its candidates and the second of others, as the pages happen to
    be numbered. `others` are the pages at the other end: one is no rival of itself, under whatever address.
    """
    rivals = _best_rival(groups.ravel(), np.where(free.ravel(), np.tile(values, 2), 0.0), others.ravel())
    return np.maximum(rivals[: len(values)], rivals[len(values) :])


def _best_rival(groups: Ints, values: NDArray[np.floating], others: Ints) -> Floats:
    """For each element, the highest value in its group with another page at the other end; 0 where there is none."""
    size = int(groups.max()) + 1
    top, second, holder = np.zeros(size), np.zeros(size), np.full(size, -1, np.int64)
    np.maximum.at(top, groups, values)
    highest = values == top[groups]
    holder[groups[highest]] = others[highest]
    rest = others != holder[groups]
    np.maximum.at(second, groups[rest], values[rest])
    return np.where(rest, top[groups], second[groups])


@dataclass(frozen=True, slots=True)
class ScoreModel:
    """Trees for the first round, when nothing is known of the site, and for those after it."""

    first: Trees
    later: Trees

    @classmethod
    def load(cls, path: Path | None = None) -> Self:
        """The model of the package, or one that `python -m lab.train pairs` made. Raises `ValueError` if it is of other features."""
        source = path or model_file("pairs.npz")
        with np.load(source) as arrays:
            if arrays["names"].tolist() != list(NAMES):
                raise ValueError(
                    f"{source} was trained on other features; make it again in a clone of bitrawl: python -m lab.train pairs"
                )
            return cls(Trees.named("first", arrays), Trees.named("later", arrays))


def probabilities(trees: Trees, candidates: Candidates) -> Floats:
    """That each is a pair of translations."""
    return trees.probability(candidates.rows.astype(np.float32, copy=False)).astype(np.float64)
