"""Methods h, m and l: pages with a similar structure (Papavassiliou et al., section 3.9; Liu et al., section 4)."""

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Indel, Levenshtein

from bitrawl.model import Method
from bitrawl.pair.evidence import Evidence, Known, PageNumbers
from bitrawl.pair.images import across
from bitrawl.pair.site import Site

Floats = NDArray[np.float64]
# Judgements, except where a line names its evidence.
MAX_BUCKET = 40  # Pages with one structure. If there are more, they are form letters and tell nothing about each other.
MIN_BLOCKS = 4  # A fingerprint of fewer paragraphs fits any page.
HIGH, MEDIUM, LOW = 0.85, 0.7, 0.5  # Similarity from which a pair is h, m or l.
COMPARED = 500  # Paragraphs of a page whose structure is compared.
COMPARABLE = 0.2  # Below this ratio of lengths, one page is a placeholder of the other.
LENGTH_LIMIT = 0.4  # ILSP-FC: below this ratio of paragraphs or of lengths, two pages are not compared.


class StructureDetector:
    """Candidates are pages with the same tag sequence, or with the same fingerprint when lengths are ignored."""

    def propose(self, site: Site, known: Known) -> Evidence:  # noqa: ARG002
        """Only pairs with at least low similarity."""
        buckets: dict[str, list[int]] = defaultdict(list)
        for summary in site.summaries:
            if len(summary.fingerprint) >= MIN_BLOCKS:
                buckets[summary.tags].append(summary.number)
                buckets[coarse(summary.fingerprint)].append(summary.number)
        pairs = {pair for numbers in buckets.values() if len(numbers) <= MAX_BUCKET for pair in across(site, numbers)}
        likeness = ((pair, similarity(site, pair)) for pair in pairs)
        return {pair: value for pair, value in likeness if value >= LOW}


def coarse(fingerprint: str) -> str:
    """The kinds of the paragraphs, and whether each is short or long."""
    return "".join(chr((ord(letter) - 48) // 16 * 2 + 65 + ((ord(letter) - 48) % 16 > 6)) for letter in fingerprint)


def measures(site: Site, pair: PageNumbers) -> tuple[float, float, float, float]:
    """The ratio of fingerprint lengths, the ratio of text weights, the similarity of fingerprints and of tag sequences."""
    a, b = site.summaries[pair[0]], site.summaries[pair[1]]
    blocks = _ratio(len(a.fingerprint), len(b.fingerprint))
    lengths = _ratio(a.weight, b.weight)
    prints = float(Levenshtein.normalized_similarity(a.fingerprint[:COMPARED], b.fingerprint[:COMPARED]))
    tags = float(Indel.normalized_similarity(a.tags, b.tags))
    return blocks, lengths, prints, tags


def similarity(site: Site, pair: PageNumbers) -> float:
    """One number for the four measures; 0 if the lengths differ too much to compare."""
    return combined(measures(site, pair))


def combined(measured: tuple[float, float, float, float]) -> float:
    """The mean similarity of fingerprints and tag sequences, reduced by the ratios of lengths."""
    blocks, lengths, prints, tags = measured
    if min(blocks, lengths) < LENGTH_LIMIT:
        return 0.0
    return (prints + tags) / 2 * min(1.0, 0.5 + lengths / 1.2)  # reduced below a ratio of 0.6: judgement


def _ratio(a: int, b: int) -> float:
    return min(a, b) / max(a, b) if a and b else 0.0


def comparable(site: Site, pair: PageNumbers) -> bool:
    """Whether the lengths are close enough for a translation. A placeholder is not one, whoever declares it."""
    a, b = site.summaries[pair[0]], site.summaries[pair[1]]
    return min(a.weight, b.weight) >= COMPARABLE * max(a.weight, b.weight)


def selected(value: float, methods: frozenset[Method]) -> float:
    """The similarity, if its class was selected; otherwise 0."""
    letter = letter_of(value)
    return value if letter is not None and letter in methods else 0.0


def letter_of(value: float) -> Method | None:
    """The letter of the class of a similarity; None if it is below all classes."""
    if value >= HIGH:
        return Method.HIGH
    if value >= MEDIUM:
        return Method.MEDIUM
    return Method.LOW if value >= LOW else None
