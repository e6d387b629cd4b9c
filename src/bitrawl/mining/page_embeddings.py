"""c with a sentence encoder: pages as weighted means of their sentences' vectors, compared across languages."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from bitrawl.mining.evidence import both_ends, pair_keys
from bitrawl.mining.site import Rows, RowWriter, Site
from bitrawl.model import Language
from bitrawl.protocols import Encoder
from bitrawl.text.arrays import Floats, Floats32, Ints, places_in
from bitrawl.text.sentences import sentences
from bitrawl.text.words import text_key, weight

# Judgements, except where a line names its evidence.
ENCODED_TEXT = 5_000  # Characters of a page that are encoded: as many as the lexicon looks at.
BATCH = 1_024  # Sentences that are encoded at a time.
COMPARED = 1 << 22  # Cosines of pages that are looked at at a time: 16 MB.
NEAREST = 5  # Candidates of a page in another language, and the neighbours that a similarity is measured against ...
ALL_NEAREST = 15  # ... and the candidates in all languages, where there are many; at least two in each.
CENTRED = 10  # Pages that have a centre: their mean.
# Judgements, for pages with no neighbours, and for those that are all alike: their differences are noise.
ALONE = 0.5
LEAST_ROOM = 0.05
LEAST_LENGTH = 0.01


class EmbeddingSpace:
    """The pages of a site as vectors, and for each page how near its nearest in each other language are."""

    def __init__(self, site: Site, encoder: Encoder) -> None:
        self._site = site
        self._vectors = centred(site, page_vectors(site, encoder))
        spoken = self._vectors.any(axis=1)
        of_language = [np.flatnonzero(spoken & (site.spoken == place)) for place in range(len(site.languages))]
        self._nearest = np.full((len(of_language), len(site.summaries), NEAREST + 1), -1, np.int32)
        self._cosines = np.zeros(self._nearest.shape, np.float32)
        for own in of_language:
            for place, theirs in enumerate(of_language):
                if own is not theirs and len(own) and len(theirs):
                    self._compare(own, theirs, place)
        languages = sum(len(own) > 0 for own in of_language)
        self._few = max(2, min(NEAREST, ALL_NEAREST // max(languages - 1, 1)))

    def candidates(self) -> Ints:
        """The nearest few of each page in each other language."""
        near = self._nearest[:, :, : self._few]
        _, pages, _ = np.nonzero(near >= 0)
        return np.unique(pair_keys(pages, near[near >= 0]))

    def similarities(self, keys: Ints) -> Floats:
        """How much of the way from its pages' neighbours to identity each pair has come, squared: 0 to 1.

        Encoders differ in what cosine they give to strangers. The neighbours take that out, after the margin of Artetxe
        and Schwenk 2019, and the scale becomes that of the terms that translations keep: 0 for pages with nothing of
        their own in common, 1 for the same. Squared, because the nearest of many strangers is some way from the others:
        0.3 to 0.45 on pages of random words, where terms of strangers have 0.1 to 0.2.
        """
        a, b = both_ends(keys)
        values = np.zeros(len(keys))
        for start in range(0, len(keys), BATCH):
            batch = slice(start, start + BATCH)
            cosines = np.einsum("ij,ij->i", self._vectors[a[batch]], self._vectors[b[batch]]).astype(float)
            around = (self._neighbourhoods(a[batch], b[batch]) + self._neighbourhoods(b[batch], a[batch])) / 2
            values[batch] = np.clip((cosines - around) / np.maximum(1 - around, LEAST_ROOM), 0.0, 1.0) ** 2
        return values

    def _neighbourhoods(self, pages: Ints, partners: Ints) -> Floats:
        """The mean cosine of each page's nearest in its partner's language, the partner left out."""
        languages = self._site.spoken[partners]
        near, cosines = self._nearest[languages, pages], self._cosines[languages, pages].astype(float)
        others = (near >= 0) & (near != partners[:, None])
        others &= np.cumsum(others, axis=1) <= NEAREST
        counts = others.sum(axis=1)
        return np.where(counts > 0, (cosines * others).sum(axis=1) / np.maximum(counts, 1), ALONE)

    def _compare(self, own: Ints, theirs: Ints, language: int) -> None:
        """For each of the first pages the nearest of the second, with their cosines, the nearest first.

        Time grows with the product of the two; memory does not.
        """
        others = self._vectors[theirs]
        few = min(NEAREST + 1, len(theirs))
        step = max(1, COMPARED // len(theirs))
        for start in range(0, len(own), step):
            pages = own[start : start + step]
            cosines = self._vectors[pages] @ others.T
            places = np.argpartition(cosines, len(theirs) - few, axis=1)[:, len(theirs) - few :]
            best = np.take_along_axis(cosines, places, axis=1)
            order = np.lexsort((theirs[places], best), axis=1)[:, ::-1]
            self._nearest[language, pages, :few] = np.take_along_axis(theirs[places], order, axis=1)
            self._cosines[language, pages, :few] = np.take_along_axis(best, order, axis=1)


def page_vectors(site: Site, encoder: Encoder) -> Floats32:
    """A row of length 1 for each page, in order; zeros where it has no text.

    Sentences count by their length and by how few pages of their language have them; each is encoded once. The pages
    are read twice: the first time their sentences are counted, by hash.
    """
    written = RowWriter("Q")
    for number, texts in site.texts.each():
        written.write(number, [text_key(text) for text in _sentences(texts, site.summaries[number].language)])
    rows = written.rows(len(site.summaries))
    keys, worths = _rarities(site, rows)
    order = np.argsort(rows.flat, kind="stable")
    pages, starts = rows.owners()[order], np.searchsorted(rows.flat[order], keys)
    ends = np.append(starts[1:], len(order))
    vectors = np.zeros((len(site.summaries), 1), np.float32)
    for batch, places in _batches(site, keys):
        encoded = encoder.encode(batch)
        if vectors.shape[1] != encoded.shape[1]:
            vectors = np.zeros((len(site.summaries), encoded.shape[1]), np.float32)
        for text, place, vector in zip(batch, places, encoded, strict=True):
            size = weight(text)
            for row in pages[starts[place] : ends[place]].tolist():
                vectors[row] += size * worths[site.spoken[row], place] * vector
    return _unit(vectors)


def _rarities(site: Site, rows: Rows) -> tuple[NDArray[np.uint64], Floats]:
    """All sentences, ascending, and for each language how rare each is among its pages."""
    keys = np.unique(rows.flat)
    worths = np.zeros((len(site.languages), len(keys)), np.float64)
    sizes = np.bincount(site.spoken, minlength=len(site.languages))
    for number in range(len(rows)):
        worths[site.spoken[number], np.searchsorted(keys, np.unique(rows[number]))] += 1
    return keys, np.log(1 + sizes[:, None] / np.maximum(worths, 1))


def _batches(site: Site, keys: NDArray[np.uint64]) -> Iterator[tuple[list[str], list[int]]]:
    """All sentences of the site, each once, with their places among the known."""
    seen = np.zeros(len(keys), bool)
    texts: list[str] = []
    places: list[int] = []
    for number, paragraphs in site.texts.each():
        for text in _sentences(paragraphs, site.summaries[number].language):
            place = int(places_in(keys, np.array([text_key(text)], np.uint64))[0])
            if place < 0 or seen[place]:
                continue
            seen[place] = True
            texts.append(text)
            places.append(place)
            if len(texts) == BATCH:
                yield texts, places
                texts, places = [], []
    if texts:
        yield texts, places


def centred(site: Site, vectors: Floats32) -> Floats32:
    """Without what all pages of a language have in common: the site's subject, the language, the encoder's own bias.

    A mean of sentences has more of that than a sentence, where it adds up and the rest does not.
    """
    if len(vectors) < CENTRED:
        return vectors
    rows = [np.flatnonzero(site.spoken == place) for place in range(len(site.languages))]
    means = [vectors[own].mean(axis=0) for own in rows]
    middle = np.mean(means, axis=0)
    moved = np.array(vectors)
    for own, mean in zip(rows, means, strict=True):
        moved[own] -= mean if len(own) >= CENTRED else middle
    moved[~vectors.any(axis=1) | (np.linalg.norm(moved, axis=1) < LEAST_LENGTH)] = 0.0
    return _unit(moved)


def _unit(vectors: Floats32) -> Floats32:
    unit: Floats32 = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return unit


def _sentences(texts: Sequence[str], language: Language) -> list[str]:
    room, split = ENCODED_TEXT, []
    for paragraph in texts:
        if room <= 0:
            break
        split += sentences(paragraph[:room], language)
        room -= len(paragraph)
    return split
