"""The beads of many documents with what is known of their words and lengths: roughly, then exactly where that is unsure."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.align.documents import Numbers
from bitrawl.align.dynamic import (
    DELETION,
    INSERTION,
    Band,
    Chains,
    Lattices,
    Posteriors,
    Shape,
    best_chains,
    posteriors,
)
from bitrawl.align.evidence import (
    Bags,
    Cut,
    LengthModel,
    RunLengths,
    Side,
    Strangers,
    Translation,
    length_gains,
    lexical_gains,
    ranges,
)
from bitrawl.align.pieces import Beads, Parts, Passed, Paths, Pieces, batches

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Weight of the words beside the lengths, below 1 because words do not come independently: it is what makes
# probabilities honest. Swept 0.3–1.0 on Text+Berg and MAC dev (2026-11): F1 flat from 0.45 to 0.8.
LEXICAL_WEIGHT = 0.6
ROUGH: tuple[Shape, ...] = ((1, 1), DELETION, INSERTION, (1, 2), (2, 1))
# Judgements.
WIDE = 320  # nodes to a row of a band. Texts of fewer sentences are searched whole.
MARGIN = 8  # A path so near to the edge of its band may have wanted to leave it: again, twice as wide.
LOST = 0.4  # And so may one on which so many sentences have no counterpart.
MOST = 4_000_000  # nodes, 32 MB a table: no band of a long text has more
ASTRAY = 2  # sentences between the ways of two parts where they meet: their document is searched in a band
BLOCK_PRIOR: Mapping[Shape, float] = {
    (1, 1): 0.8, DELETION: 0.06, INSERTION: 0.06, (1, 2): 0.03, (2, 1): 0.03, (2, 2): 0.02
}  # fmt: skip
BLOCK_WIDTH = 400
# What is left of the odds of two sentences whose blocks do not belong together; a judgement: blocks are merged and
# split by editors, so that a sentence that fits well may still cross.
APART = 0.02
# Nats for a bead of a page that goes on into another block; a judgement: one in twenty paragraphs is cut in two.
CROSSED = 3.0


class Known(NamedTuple):
    """What beads are judged by."""

    translations: tuple[Translation, Translation]
    length: LengthModel
    prior: Mapping[Shape, float]


class Corpus:
    """Documents, each with sentences on either side, as arrays."""

    def __init__(self, a: Numbers, b: Numbers, marked: NDArray[np.bool_]) -> None:
        self.a, self.b, self.marked = a, b, marked
        self.documents = Pieces(np.arange(len(marked)), a.documents, b.documents)
        self._strangers = Strangers.of(b.sentences.lengths, b.documents)
        self._blocks = _Blocks(a, b)

    def align_blocks(self, known: Known, which: Ints, paths: Paths) -> None:
        """For the searches that follow."""
        self._blocks.align(known, which[self.marked[which]], paths)

    def rough(self, known: Known, which: Ints, paths: Paths) -> Passed:
        """The documents `which`, with the commonest shapes only.

        Those with a path are cut along it into parts that overlap. Where two parts do not agree, the path was wrong,
        and the document is searched in a band, if it is not too long for that.
        """
        documents = self.documents.where(which)
        passed = Passed(documents, ROUGH)
        parts = Parts.of(documents, {place: paths[d] for place, d in enumerate(which.tolist()) if d in paths})
        astray = self._search_parts(known, parts, passed)
        astray = astray[self.a.documents.size[astray] * WIDE < MOST]
        passed.forget(astray)
        found = np.setdiff1d(parts.pieces.document, astray)
        rest = documents.where(~np.isin(which, found))
        ways = {place: paths[d] for place, d in enumerate(rest.document.tolist()) if d in paths}
        for batch, lattices in batches(rest.a.size, rest.b.size, WIDE, ways):
            some = rest.where(batch)
            passed.add(some, *self._within(known, some, lattices))
        return passed

    def fine(self, known: Known, pieces: Pieces) -> tuple[Beads, Passed]:
        """The beads of pieces, of all shapes; what was passed is told by the numbers of the pieces."""
        shapes = tuple(known.prior)
        numbered = pieces._replace(document=np.arange(pieces.total))
        passed = Passed(numbered, shapes)
        beads = []
        for batch, lattices in batches(pieces.a.size, pieces.b.size, WIDE):
            some = pieces.where(batch)
            found = posteriors(lattices, self._gains(some, known, lattices, shapes))
            beads.append(Beads.of_chains(some, best_chains(lattices, found.beads)))
            passed.add(numbered.where(batch), lattices, found)
        return Beads.joined(beads), passed

    def _search_parts(self, known: Known, parts: Parts, passed: Passed) -> Ints:
        """The documents whose parts do not agree."""
        pieces = parts.pieces
        met = np.zeros((2, pieces.total), np.int64)
        for batch, lattices in batches(pieces.a.size, pieces.b.size, WIDE):
            some = pieces.where(batch)
            found = posteriors(lattices, self._gains(some, known, lattices, ROUGH))
            core = parts.core[0][batch], parts.core[1][batch]
            for side, row in enumerate(core):
                column = found.nodes[row, np.arange(len(batch))].argmax(axis=1)
                met[side, batch] = some.b.first + column + lattices.low[row]
            _keep_core(found, core)
            passed.add(some, lattices, found)
        same = pieces.document[1:] == pieces.document[:-1]
        apart = np.abs(met[1, :-1] - met[0, 1:]) > ASTRAY
        return np.unique(pieces.document[1:][same & apart])

    def _within(self, known: Known, some: Pieces, lattices: Lattices) -> tuple[Lattices, Posteriors]:
        """Within a band that is widened until the path keeps clear of its edges."""
        while True:
            found = posteriors(lattices, self._gains(some, known, lattices, ROUGH))
            band = None if lattices.straight else _wider(lattices, best_chains(lattices, found.beads))
            if band is None:
                return lattices, found
            lattices = Lattices.banded(band)

    def _gains(self, pieces: Pieces, known: Known, lattices: Lattices, shapes: Sequence[Shape]) -> dict[Shape, Floats]:
        strangers = self._strangers.where(pieces.document)
        gains = bead_gains((self.a.sentences, self.b.sentences), pieces, strangers, known, lattices, shapes)
        if self.marked[pieces.document].any():
            self._blocks.add(gains, pieces, lattices)
        return gains


class _Blocks:
    """For each block of a and of b, the log of the probability that they belong together, by words, length and place.

    Tags and kinds are words of a block that translate themselves: the common ones say little, a rare one anchors.
    """

    def __init__(self, a: Numbers, b: Numbers) -> None:
        self._a, self._b = a, b
        self._strangers = Strangers.of(b.blocks.lengths, b.block_documents)
        self._sizes = a.block_documents.size * b.block_documents.size
        self._offset = np.cumsum(self._sizes) - self._sizes
        self._together = np.zeros(int(self._sizes.sum()))

    def align(self, known: Known, which: Ints, paths: Paths) -> None:
        """Long documents in parts, along the paths of their sentences."""
        blocks = Pieces(which, self._a.block_documents.where(which), self._b.block_documents.where(which))
        ways = {place: self._path(d, paths[d]) for place, d in enumerate(which.tolist()) if d in paths}
        parts = Parts.of(blocks, ways)
        whole = blocks.where(~np.isin(which, parts.pieces.document))
        first, last = (np.append(parts.core[0], 0 * whole.a.size), np.append(parts.core[1], whole.a.size))
        pieces = Pieces.joined([parts.pieces, whole])
        places = ranges(self._offset[which], self._offset[which] + self._sizes[which])
        self._together[places] = 0.0
        known = known._replace(prior=BLOCK_PRIOR)
        for batch, lattices in batches(pieces.a.size, pieces.b.size, BLOCK_WIDTH):
            some = pieces.where(batch)
            sides = self._a.blocks, self._b.blocks
            strangers = self._strangers.where(some.document)
            found = posteriors(lattices, bead_gains(sides, some, strangers, known, lattices, tuple(BLOCK_PRIOR)))
            _keep_core(found, (first[batch], last[batch]))
            self._put(some, lattices, found)
        self._together[places] = np.log(np.clip(self._together[places], APART, 1.0))

    def add(self, gains: dict[Shape, Floats], pieces: Pieces, lattices: Lattices) -> None:
        """A bead is held to the worse of its two ends, and pays for each block that it goes on into."""
        blocks_a, blocks_b = _at_nodes(self._a.block, pieces.a), _at_nodes(self._b.block, pieces.b)
        width = self._b.block_documents.size[pieces.document]
        row = self._offset[pieces.document][:, None] + blocks_a * width[:, None]
        together = self._together[row.T[:, :, None] + lattices.at_columns(blocks_b)]
        for ka, kb in gains:
            if ka == kb == 1:
                gains[ka, kb] += together
            elif ka and kb:
                gains[ka, kb] += np.minimum(together, lattices.moved(together, ka - 1, kb - 1, 0.0))
                gains[ka, kb] -= CROSSED * (
                    _crossed(blocks_a, ka).T[:, :, None] + lattices.at_columns(_crossed(blocks_b, kb))
                )

    def _path(self, document: int, path: Floats) -> Floats:
        """At the end of each block of a, how many of b are reached."""
        blocks_a, blocks_b = (
            side.block[side.documents.first[document] :][: side.documents.size[document]] for side in (self._a, self._b)
        )
        ends = np.searchsorted(blocks_a, np.arange(1, int(self._a.block_documents.size[document]) + 1))
        j = np.clip(np.round(path[ends]).astype(np.int64) - 1, 0, len(blocks_b) - 1)
        return np.append(0.0, blocks_b[j] + 1.0)

    def _put(self, pieces: Pieces, lattices: Lattices, found: Posteriors) -> None:
        document = pieces.document
        a, b = self._a.block_documents, self._b.block_documents
        width = b.size[document]
        start = self._offset[document] + (pieces.a.first - a.first[document]) * width
        start += pieces.b.first - b.first[document]
        for (ka, kb), probability in found.beads.items():
            i, lattice, column = np.nonzero(probability > APART / 2)
            end = start[lattice] + (i - 1) * width[lattice] + column + lattices.low[i] - 1
            for down in range(ka):
                for back in range(kb):
                    np.add.at(self._together, end - down * width[lattice] - back, probability[i, lattice, column])


def bead_gains(
    sides: tuple[Side, Side],
    pieces: Pieces,
    strangers: Strangers,
    known: Known,
    lattices: Lattices,
    shapes: Sequence[Shape],
) -> dict[Shape, Floats]:
    """The log-odds of every bead."""
    both = [shape for shape in shapes if all(shape)]
    bags = Bags.of(sides[0], pieces.a), Bags.of(sides[1], pieces.b)
    gains = lexical_gains(bags, known.translations, lattices, both)
    runs = RunLengths(sides[0], pieces.a), RunLengths(sides[1], pieces.b)
    lengths = length_gains(runs, strangers, known.length, lattices, both)
    for shape in both:
        gains[shape] *= LEXICAL_WEIGHT
        gains[shape] += lengths[shape]
        gains[shape] += np.log(known.prior[shape])
    for shape in (DELETION, INSERTION):
        gains[shape] = np.full((1, 1, 1), np.log(known.prior[shape]))
    return gains


def _keep_core(found: Posteriors, core: tuple[Ints, Ints]) -> None:
    """Of parts that overlap, what each is there for."""
    rows = np.arange(len(found.nodes))[:, None]
    found.nodes[(rows < core[0]) | (rows > core[1])] = 0.0
    for table in found.beads.values():
        table[(rows <= core[0]) | (rows > core[1])] = 0.0


def _at_nodes(values: Ints, cut: Cut) -> Ints:
    """Of the sentence before each node, by lattice; of the first before the first."""
    place = np.clip(np.arange(int(cut.size.max()) + 1) - 1, 0, np.maximum(cut.size[:, None] - 1, 0))
    found: Ints = values[np.minimum(cut.first[:, None] + place, len(values) - 1)]
    return found


def _crossed(blocks: Ints, count: int) -> Ints:
    """How many blocks the sentences before each node go on into."""
    crossed = np.zeros(blocks.shape, np.int64)
    crossed[:, count:] = blocks[:, count:] - blocks[:, 1 : blocks.shape[1] - count + 1]
    return crossed


def _wider(lattices: Lattices, chains: Chains) -> Band | None:
    """Where the path comes near the edge of its band or loses too much."""
    size_a, size_b = int(lattices.sizes_a[0]), int(lattices.sizes_b[0])
    widest = max(WIDE, MOST // (size_a + 1))
    low = lattices.low[chains.i]
    near = (chains.j - low < MARGIN) & (low > 0)
    near |= (low + lattices.width - chains.j <= MARGIN) & (low + lattices.width <= size_b)
    lost = float(((chains.ka == 0) | (chains.kb == 0)).mean()) > LOST
    if lattices.width > size_b or lattices.width >= widest or not (lost or near.any()):
        return None
    i, first = np.unique(np.append(0, chains.i), return_index=True)
    path = np.interp(np.arange(size_a + 1), i, np.append(0, chains.j)[first])
    return Band.around(path, size_b, min((4 if lost else 2) * lattices.width, widest))
