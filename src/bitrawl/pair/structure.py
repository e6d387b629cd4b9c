"""h, m, l: pages built alike (Papavassiliou et al., section 3.9; Liu et al., section 4)."""

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Indel, Levenshtein

from bitrawl.model import Method
from bitrawl.pair.evidence import Evidence, Known, PageNumbers, best_few
from bitrawl.pair.images import across
from bitrawl.pair.site import Site

Floats = NDArray[np.float64]
# Judgements, except where a line names its evidence.
MAX_BUCKET = 40  # Pages of one form: more than that are a form letter, and say nothing of each other.
MIN_BLOCKS = 4  # A fingerprint of fewer paragraphs is anybody's.
HIGH, MEDIUM, LOW = 0.85, 0.7, 0.5  # Similarity from which on a pair is h, m, l.
FEW = 10  # Candidates that are built like a page, in a language.
COMPARABLE = 0.2  # Ratio of lengths below which a page is a placeholder of the other.
LENGTH_LIMIT = 0.4  # ILSP-FC: ratio of paragraphs and of lengths below which two pages are not compared.


class StructureDetector:
    """Candidates are pages with the same tag sequence, or the same fingerprint up to lengths."""

    def propose(self, site: Site, known: Known) -> Evidence:  # noqa: ARG002
        """The best of what is at least of low similarity."""
        buckets: dict[bytes | int, list[int]] = defaultdict(list)
        for summary in site.summaries:
            if summary.blocks >= MIN_BLOCKS:
                buckets[summary.tags].append(summary.number)
                buckets[summary.form].append(summary.number)
        pairs = {pair for numbers in buckets.values() if len(numbers) <= MAX_BUCKET for pair in across(site, numbers)}
        likeness = ((pair, similarity(site, pair)) for pair in pairs)
        return best_few(site, Evidence.of({pair: value for pair, value in likeness if value >= LOW}), FEW)


def measures(site: Site, pair: PageNumbers) -> tuple[float, float, float, float]:
    """Ratio of fingerprint lengths, of text weights, similarity of fingerprints, and of tag sequences."""
    a, b = site.summaries[pair[0]], site.summaries[pair[1]]
    blocks = _ratio(a.blocks, b.blocks)
    lengths = _ratio(a.weight, b.weight)
    prints = float(Levenshtein.normalized_similarity(a.fingerprint, b.fingerprint))
    tags = float(Indel.normalized_similarity(a.tags, b.tags))
    return blocks, lengths, prints, tags


def similarity(site: Site, pair: PageNumbers) -> float:
    """One number for the four measures; 0 where lengths differ too much to compare."""
    return combined(measures(site, pair))


def combined(measured: tuple[float, float, float, float]) -> float:
    """The mean of what fingerprints and tag sequences say, held down by the ratios of lengths."""
    blocks, lengths, prints, tags = measured
    if min(blocks, lengths) < LENGTH_LIMIT:
        return 0.0
    return (prints + tags) / 2 * min(1.0, 0.5 + lengths / 1.2)  # held down below a ratio of 0.6: judgement


def _ratio(a: int, b: int) -> float:
    return min(a, b) / max(a, b) if a and b else 0.0


def comparable(site: Site, pair: PageNumbers) -> bool:
    """Whether the lengths are near enough for a translation at all: a placeholder is none, whoever declares it."""
    a, b = site.summaries[pair[0]], site.summaries[pair[1]]
    return min(a.weight, b.weight) >= COMPARABLE * max(a.weight, b.weight)


def selected(value: float, methods: frozenset[Method]) -> float:
    """The similarity, where it is of a class that was asked for; 0 elsewhere."""
    letter = letter_of(value)
    return value if letter is not None and letter in methods else 0.0


def letter_of(value: float) -> Method | None:
    """The letter of the class that a similarity is of; None below all."""
    if value >= HIGH:
        return Method.HIGH
    if value >= MEDIUM:
        return Method.MEDIUM
    return Method.LOW if value >= LOW else None
