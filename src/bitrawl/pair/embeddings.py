"""Method c with a sentence encoder: pages as weighted means of their sentence vectors, compared across languages."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Language
from bitrawl.pair.evidence import PageNumbers, page_numbers
from bitrawl.pair.site import PageSummary, Site
from bitrawl.protocols import Encoder
from bitrawl.text.sentences import sentences
from bitrawl.text.weight import weight

Rows = NDArray[np.float32]
Item = TypeVar("Item")

# Judgements, except where a line names its evidence.
ENCODED_TEXT = 5_000  # Characters of a page that are encoded: as many as the lexicon reads.
BATCH = 1_024  # Sentences that are encoded at a time, and pages that are compared with all others at a time.
NEAREST = 5  # Candidates for a page in one other language, and the neighbours that a similarity is measured against ...
ALL_NEAREST = 15  # ... and the candidates in all languages, if there are many; at least two in each.
CENTRED = 10  # Pages that are needed for a centre: their mean.
# Judgements, for pages without neighbours, and for pages that are all alike, whose differences are noise.
ALONE = 0.5
LEAST_ROOM = 0.05
LEAST_LENGTH = 0.01


class EmbeddingSpace:
    """The pages of a site as vectors, and how near the nearest pages in each other language are to each page."""

    def __init__(self, site: Site, encoder: Encoder) -> None:
        self._site = site
        self._vectors = centred(site.summaries, page_vectors(site.summaries, encoder))
        self._nearest: dict[tuple[int, Language], list[tuple[float, int]]] = {}
        numbers: dict[Language, list[int]] = defaultdict(list)
        for summary in site.summaries:
            if self._vectors[summary.number].any():
                numbers[summary.language].append(summary.number)
        for language, own in numbers.items():
            for other, theirs in numbers.items():
                if other != language:
                    self._nearest.update(((n, other), near) for n, near in _nearest(self._vectors, own, theirs))
        self._few = max(2, min(NEAREST, ALL_NEAREST // max(len(numbers) - 1, 1)))

    def candidates(self) -> set[PageNumbers]:
        """The nearest few pages in each other language, for each page."""
        return {page_numbers(n, other) for (n, _), near in self._nearest.items() for _, other in near[: self._few]}

    def similarity(self, pair: PageNumbers) -> float:
        """How far the pair has come from its pages' neighbours towards identity, squared: 0 to 1.

        Encoders differ in the cosine that they give to unrelated pages. The neighbours correct for that, after the
        margin of Artetxe and Schwenk 2019, and the scale becomes that of the terms that translations keep: 0 for pages
        with nothing of their own in common, 1 for the same. It is squared because the nearest of many unrelated pages
        is some way from the others: 0.3 to 0.45 on pages of random words, where the terms of unrelated pages have 0.1
        to 0.2.
        """
        a, b = pair
        cosine = float(self._vectors[a] @ self._vectors[b])
        around = (self._neighbourhood(a, b) + self._neighbourhood(b, a)) / 2
        return min(max((cosine - around) / max(1 - around, LEAST_ROOM), 0.0), 1.0) ** 2

    def _neighbourhood(self, number: int, partner: int) -> float:
        """The mean cosine of the page's nearest pages in the partner's language, without the partner."""
        near = self._nearest.get((number, self._site.summaries[partner].language), ())
        others = [value for value, other in near if other != partner][:NEAREST]
        return float(np.mean(others)) if others else ALONE


def page_vectors(summaries: Sequence[PageSummary], encoder: Encoder) -> Rows:
    """One row of length 1 for each page, in order; zeros for a page without text.

    Sentences are weighted by their length and by how few pages of their language have them. Each is encoded once.
    """
    texts = [_sentences(summary) for summary in summaries]
    holders = Counter(
        (summary.language, text) for summary, own in zip(summaries, texts, strict=True) for text in set(own)
    )
    sizes = Counter(summary.language for summary in summaries)
    places: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for row, (summary, own) in enumerate(zip(summaries, texts, strict=True)):
        for text in own:
            rarity = math.log(1 + sizes[summary.language] / holders[summary.language, text])
            places[text].append((row, weight(text) * rarity))
    vectors = np.zeros((len(summaries), 1), np.float32)
    for batch in _batches(list(places)):
        encoded = encoder.encode(batch)
        if vectors.shape[1] != encoded.shape[1]:
            vectors = np.zeros((len(summaries), encoded.shape[1]), np.float32)
        for text, vector in zip(batch, encoded, strict=True):
            for row, worth in places[text]:
                vectors[row] += worth * vector
    return _unit(vectors)


def centred(summaries: Sequence[PageSummary], vectors: Rows) -> Rows:
    """Without what all pages of a language have in common: the site's subject, the language, the encoder's own bias.

    A mean of sentences has more of that than one sentence, because it adds up and the rest does not.
    """
    if len(summaries) < CENTRED:
        return vectors
    rows = defaultdict(list)
    for row, summary in enumerate(summaries):
        rows[summary.language].append(row)
    means = {language: vectors[own].mean(axis=0) for language, own in rows.items()}
    middle = np.mean(list(means.values()), axis=0)
    moved = np.array(vectors)
    for language, own in rows.items():
        moved[own] -= means[language] if len(own) >= CENTRED else middle
    moved[~vectors.any(axis=1) | (np.linalg.norm(moved, axis=1) < LEAST_LENGTH)] = 0.0
    return _unit(moved)


def _unit(vectors: Rows) -> Rows:
    unit: Rows = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return unit


def _sentences(summary: PageSummary) -> list[str]:
    room, found = ENCODED_TEXT, []
    for paragraph in summary.paragraphs:
        if room <= 0:
            break
        found += sentences(paragraph[:room], summary.language)
        room -= len(paragraph)
    return found


def _nearest(vectors: Rows, own: Sequence[int], theirs: Sequence[int]) -> Iterator[tuple[int, list[tuple[float, int]]]]:
    """For each of the first pages, the nearest of the second with their cosines, the nearest first.

    Time grows with the product of the two numbers, memory only with the second.
    """
    others = vectors[theirs]
    few = min(NEAREST + 1, len(theirs))
    for batch in _batches(own):
        cosines = vectors[batch] @ others.T
        places = np.argpartition(-cosines, few - 1, axis=1)[:, :few]
        for number, row, at in zip(batch, cosines, places, strict=True):
            yield number, sorted(((float(row[place]), theirs[place]) for place in at), reverse=True)


def _batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), BATCH):
        yield items[start : start + BATCH]
