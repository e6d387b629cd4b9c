"""The beads of many documents, given what is known of their words and lengths: roughly, then exactly where that is unsure.

Documents are cut into pieces that are searched together, at the places where a search is sure of its way.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bitrawl.mining.align_evidence import (
    Bags,
    Cut,
    LengthModel,
    NumberedTexts,
    RunLengths,
    Strangers,
    Translation,
    WordRuns,
    length_gains,
    lexical_gains,
)
from bitrawl.mining.beads import DELETION, INSERTION, Chains, Lattices, Posteriors, Shape, best_chains, posteriors
from bitrawl.text.arrays import Bools, Floats, Ints, ranges

Which = Bools | Ints
Paths = Mapping[int, Floats]
"""For some documents, at each number of sentences of a how many of b are reached."""

# A document is cut at nodes that chains pass with this probability, and whose neighbours on either side are as sure 1-1
# beads. On Text+Berg (2026-11) F1 is .870, as without cuts; without asking the neighbours it is .810 to .838.
SURE, SURE_BEAD, AROUND = 0.999, 0.99, 2
# Sentences of a piece that is cut at its likeliest nodes as well. F1 on MAC dev (2026-11) is .819 with 24, .827 with 36.
LARGE = 36
LIKELY = 0.5  # nodes that are looked at
LEAST_LEARNED = 0.2  # probability of a bead that the lexicon learns from
# Judgements: parts of a long document have so many sentences, and so many more at either end to find their way.
LONG, STEP, CONTEXT = 64, 32, 16
# Nodes of a batch. With 200,000 a fifth of the time goes into getting memory (2026-11); fewer than 25,000 are slower too.
CELLS = 60_000
OVERHEAD = 1500  # nodes that are computed in the time that a row costs however short it is


class Beads(NamedTuple):
    """Of many documents, as arrays: where their sentences begin on either side, and how many they are."""

    document: Ints
    a: Ints
    ka: Ints
    b: Ints
    kb: Ints
    probability: Floats

    @classmethod
    def none(cls) -> "Beads":
        none = np.zeros(0, np.int64)
        return cls(none, none, none, none, none, np.zeros(0))

    @classmethod
    def joined(cls, parts: Sequence["Beads"]) -> "Beads":
        return cls._make(map(np.concatenate, zip(*parts, strict=True))) if parts else cls.none()

    @classmethod
    def of_chains(cls, pieces: "Pieces", chains: Chains) -> "Beads":
        a, b = pieces.a.first[chains.lattice] + chains.i, pieces.b.first[chains.lattice] + chains.j
        document = pieces.document[chains.lattice]
        return cls(document, a - chains.ka, chains.ka, b - chains.kb, chains.kb, chains.probability)

    def where(self, which: Which) -> "Beads":
        return Beads._make(column[which] for column in self)

    def of_both(self) -> "Beads":
        """Those with sentences on both sides."""
        return self.where((self.ka > 0) & (self.kb > 0))


class Pieces(NamedTuple):
    """Parts of documents that are aligned by themselves."""

    document: Ints
    a: Cut
    b: Cut

    @classmethod
    def joined(cls, parts: Sequence["Pieces"]) -> "Pieces":
        documents, a, b = zip(*parts, strict=True)
        return cls(np.concatenate(documents), Cut.joined(a), Cut.joined(b))

    @property
    def total(self) -> int:
        return len(self.document)

    def where(self, which: Which) -> "Pieces":
        return Pieces(self.document[which], self.a.where(which), self.b.where(which))


class DocumentParts(NamedTuple):
    """Documents, the long ones in parts along a path, each with more sentences at either end than it is there for."""

    pieces: Pieces
    core: tuple[Ints, Ints]  # from which row to which each is there for

    @classmethod
    def of(cls, documents: Pieces, paths: Paths) -> "DocumentParts":
        """Those without a path are whole."""
        long = np.isin(documents.document, list(paths))
        parts = [_parts(documents, n, paths[d]) for n, d in enumerate(documents.document.tolist()) if d in paths]
        document, a, size_a, b, size_b, first, last = np.concatenate([np.zeros((7, 0), np.int64), *parts], axis=1)
        whole = documents.where(~long)
        pieces = Pieces.joined([Pieces(document, Cut(a, size_a), Cut(b, size_b)), whole])
        return cls(pieces, (np.append(first, 0 * whole.a.size - 1), np.append(last, whole.a.size)))


def _parts(documents: Pieces, place: int, path: Floats) -> Ints:
    size = len(path) - 1
    first = np.arange(0, max(size - STEP // 2, 1), STEP)
    last = np.append(first[1:], size)
    begin, end = np.maximum(first - CONTEXT, 0), np.minimum(last + CONTEXT, size)
    j = np.clip(np.round(path).astype(np.int64), 0, documents.b.size[place])
    j[0], j[-1] = 0, documents.b.size[place]
    document = np.full(len(first), documents.document[place])
    a, b = documents.a.first[place] + begin, documents.b.first[place] + j[begin]
    return np.array([document, a, end - begin, b, j[end] - j[begin], first - begin, last - begin])


def batches(sizes_a: Ints, sizes_b: Ints, widest: int) -> Iterator[tuple[Ints, Lattices]]:
    """Numbers of pieces that are about as large, to be searched whole; and of those that are too wide, each in a band."""
    for number in np.flatnonzero(sizes_b > widest).tolist():
        size_a, size_b = int(sizes_a[number]), int(sizes_b[number])
        yield np.array([number]), Lattices.around(np.linspace(0, size_b, size_a + 1), size_b, widest)
    order = np.flatnonzero(sizes_b <= widest)
    order = order[np.lexsort((-sizes_b[order], -sizes_a[order]))]
    batch: list[int] = []
    rows = columns = 0
    for number, a, b in zip(order.tolist(), (sizes_a[order] + 1).tolist(), (sizes_b[order] + 1).tolist(), strict=True):
        wider = max(columns, b)
        more = rows * ((len(batch) + 1) * wider - len(batch) * columns)
        if batch and (more > a * (OVERHEAD + b) or rows * wider * (len(batch) + 1) > CELLS):
            yield np.array(batch), Lattices.whole(sizes_a[batch], sizes_b[batch])
            batch = []
        if not batch:
            rows, columns = a, b
        batch.append(number)
        columns = max(columns, b)
    if batch:
        yield np.array(batch), Lattices.whole(sizes_a[batch], sizes_b[batch])


class Nodes(NamedTuple):
    """Where chains pass with some probability, by document and in order."""

    document: Ints
    i: Ints  # sentences of the whole side before it
    j: Ints
    probability: Floats
    bead: Floats  # of the 1-1 bead that ends there

    def where(self, which: Which) -> "Nodes":
        return Nodes._make(column[which] for column in self)


class Passed:
    """What a search has found: the nodes that chains pass, and the beads that teach."""

    def __init__(self, documents: Pieces, shapes: Sequence[Shape]) -> None:
        self._documents = documents
        self._nodes: list[Nodes] = []
        self._teaching: list[Beads] = []
        self.counts = dict.fromkeys(shapes, 0.0)
        """How many beads of each shape are expected."""

    def add(self, pieces: Pieces, lattices: Lattices, tables: Posteriors) -> None:
        for shape, table in tables.beads.items():
            self.counts[shape] += float(table.sum())
        self._teaching.append(_teaching(pieces, lattices, tables))
        i, lattice, column = np.nonzero(tables.nodes > LIKELY)
        self._nodes.append(
            Nodes(
                pieces.document[lattice],
                pieces.a.first[lattice] + i,
                pieces.b.first[lattice] + column + lattices.low[i],
                tables.nodes[i, lattice, column],
                tables.beads[1, 1][i, lattice, column],
            )
        )

    def teaching(self) -> Beads:
        return Beads.joined(self._teaching)

    def paths(self, longest: int) -> dict[int, Floats]:
        """Of documents with more sentences than this."""
        nodes = self._ordered()
        a, b = self._documents.a, self._documents.b
        begin = np.searchsorted(nodes.document, self._documents.document)
        end = np.searchsorted(nodes.document, self._documents.document, side="right")
        paths = {}
        for place in np.flatnonzero(np.maximum(a.size, b.size) > longest).tolist():
            here = nodes.where(np.arange(begin[place], end[place]))
            i, first = np.unique(here.i - a.first[place], return_index=True)
            j = here.j[first] - b.first[place]
            paths[int(self._documents.document[place])] = np.interp(np.arange(a.size[place] + 1), i, j)
        return paths

    def cut(self) -> tuple[Beads, Pieces]:
        """The beads that are sure, and the pieces that lie between them."""
        nodes = self._ordered()
        ends = np.append(True, np.diff(nodes.document) != 0)
        ends |= np.append(ends[1:], True)
        nodes = _split(nodes, _surrounded(nodes, (nodes.probability >= SURE) | ends, ends))
        same = np.diff(nodes.document) == 0
        ka, kb = np.diff(nodes.i)[same], np.diff(nodes.j)[same]
        before, after = nodes.where(np.flatnonzero(same)), nodes.where(np.flatnonzero(same) + 1)
        is_pair = (ka == 1) & (kb == 1) & (after.bead >= SURE_BEAD)
        probability = np.where(is_pair, after.bead, np.minimum(before.probability, after.probability))
        sure = is_pair | (ka + kb == 1)
        beads = Beads(after.document, before.i, ka, before.j, kb, probability)
        pieces = Pieces(after.document, Cut(before.i, ka), Cut(before.j, kb))
        return beads.where(sure), pieces.where(~sure)

    def _ordered(self) -> Nodes:
        """Each once, in order, with the beginning and the end of every document."""
        documents = self._documents
        numbers, a, b = documents
        zeros, ones = np.zeros(documents.total), np.ones(documents.total)
        begin = Nodes(numbers, a.first, b.first, ones, zeros)
        end = Nodes(numbers, a.first + a.size, b.first + b.size, ones, zeros)
        nodes = Nodes._make(map(np.concatenate, zip(*self._nodes, begin, end, strict=True)))
        # Where a part begins its node has no bead; the same node of the part before it has.
        nodes = nodes.where(np.lexsort((-nodes.bead, nodes.j, nodes.i, nodes.document)))
        new = (np.diff(nodes.i) != 0) | (np.diff(nodes.j) != 0) | (np.diff(nodes.document) != 0)
        nodes = nodes.where(np.append(True, new)[: len(nodes.i)])
        # Parts that do not agree may pass nodes that no chain can pass one after the other.
        highest = np.maximum.accumulate(nodes.j)  # of the document too: sentences are numbered through
        return nodes.where(nodes.j >= highest)


def _teaching(pieces: Pieces, lattices: Lattices, tables: Posteriors) -> Beads:
    parts = []
    for (ka, kb), table in tables.beads.items():
        if ka and kb:
            i, lattice, column = np.nonzero(table > LEAST_LEARNED)
            a, b = pieces.a.first[lattice] + i - ka, pieces.b.first[lattice] + column + lattices.low[i] - kb
            counts = np.full(len(i), ka), np.full(len(i), kb)
            parts.append(Beads(pieces.document[lattice], a, counts[0], b, counts[1], table[i, lattice, column]))
    return Beads.joined(parts)


def _surrounded(nodes: Nodes, sure: Bools, ends: Bools) -> Bools:
    """The sure ones that have sure 1-1 beads around them; beyond an end there is nothing to be unsure of."""
    at = np.flatnonzero(sure)
    is_pair = (np.diff(nodes.i[at]) == 1) & (np.diff(nodes.j[at]) == 1) & (nodes.bead[at[1:]] >= SURE_BEAD)
    is_pair |= np.diff(nodes.document[at]) != 0
    unsure = np.append(0, np.cumsum(~is_pair))
    number, end = np.arange(len(at)), np.flatnonzero(ends[at])
    begin = end[np.searchsorted(end, number, side="right") - 1]
    finish = end[np.minimum(np.searchsorted(end, number), len(end) - 1)]
    near = unsure[np.minimum(number + AROUND, finish)] - unsure[np.maximum(number - AROUND, begin)]
    surrounded = np.zeros(len(sure), np.bool_)
    surrounded[at] = (near == 0) | ends[at]
    return surrounded


def _split(nodes: Nodes, cuts: Bools) -> Nodes:
    """What is kept, and between two that are far apart the likeliest ones, or any: pieces stay small."""
    at = np.flatnonzero(cuts)
    far = (np.maximum(np.diff(nodes.i[at]), np.diff(nodes.j[at])) > LARGE) & (np.diff(nodes.document[at]) == 0)
    reached = nodes.i + nodes.j
    cuts, straight = cuts.copy(), []
    for low, high in zip(at[:-1][far].tolist(), at[1:][far].tolist(), strict=True):
        i, j = int(nodes.i[low]), int(nodes.j[low])
        while reached[high] - i - j > 2 * LARGE:
            first, last = np.searchsorted(reached[low:high], np.array([LARGE // 2, 2 * LARGE]) + (i + j)) + low
            if first < last:
                here = first + int(nodes.probability[first:last].argmax())
                cuts[here] = True
                i, j = int(nodes.i[here]), int(nodes.j[here])
            else:  # No way is likely: straight ahead.
                ka, kb = int(nodes.i[last]) - i, int(nodes.j[last]) - j
                i, j = i + LARGE * ka // (ka + kb), j + LARGE * kb // (ka + kb)
                straight.append((int(nodes.document[low]), i, j, 0.0, 0.0))
    nodes = nodes.where(cuts)
    if not straight:
        return nodes
    columns = [np.array(column) for column in zip(*straight, strict=True)]
    nodes = Nodes._make(np.append(*both) for both in zip(nodes, columns, strict=True))
    return nodes.where(np.lexsort((nodes.j, nodes.i, nodes.document)))


# Weight of the words beside the lengths, below 1 because words do not come independently: it is what makes
# probabilities honest. Swept 0.3–1.0 on Text+Berg and MAC dev (2026-11): F1 flat from 0.45 to 0.8.
LEXICAL_WEIGHT = 0.6
ROUGH: tuple[Shape, ...] = ((1, 1), DELETION, INSERTION, (1, 2), (2, 1))
# Judgements.
WIDE = 320  # nodes to a row of a band. Texts of fewer sentences are searched whole.
BLOCK_PRIOR: Mapping[Shape, float] = {
    (1, 1): 0.8, DELETION: 0.06, INSERTION: 0.06, (1, 2): 0.03, (2, 1): 0.03, (2, 2): 0.02
}  # fmt: skip
BLOCK_WIDTH = 400
# What is left of the odds of two sentences whose blocks do not belong together; a judgement: blocks are merged and
# split by editors, so that a sentence that fits well may still cross.
APART = 0.02
# Nats for a bead of a page that goes on into another block; a judgement: one in twenty paragraphs is cut in two.
CROSSED = 3.0


class AlignKnowledge(NamedTuple):
    """What beads are judged by: probabilities of words both ways, a model of lengths, how common each shape is."""

    translations: tuple[Translation, Translation]
    length: LengthModel
    prior: Mapping[Shape, float]


class Corpus:
    """Documents, each with sentences on either side, as arrays."""

    def __init__(self, a: NumberedTexts, b: NumberedTexts, marked: Bools) -> None:
        self.a, self.b, self.marked = a, b, marked
        self.documents = Pieces(np.arange(len(marked)), a.documents, b.documents)
        self._strangers = Strangers.of(b.sentences.lengths, b.documents)
        self._blocks = _Blocks(a, b)

    def align_blocks(self, model: AlignKnowledge, which: Ints, paths: Paths) -> None:
        """Find out which blocks belong together, for the searches that follow."""
        self._blocks.align(model, which[self.marked[which]], paths)

    def rough(self, model: AlignKnowledge, which: Ints, paths: Paths) -> Passed:
        """The documents `which`, with the commonest shapes only.

        Those with a path are cut along it into parts that overlap. Where two parts do not agree, neither is sure of its
        way. A search of such documents whole found no more on long texts with gaps, and less on one whose sections
        stand in another order (2026-11).
        """
        documents = self.documents.where(which)
        passed = Passed(documents, ROUGH)
        pieces, core = DocumentParts.of(documents, paths)
        for batch, lattices in batches(pieces.a.size, pieces.b.size, WIDE):
            batch_pieces = pieces.where(batch)
            tables = posteriors(lattices, self._gains(batch_pieces, model, lattices, ROUGH))
            _keep_core(tables, (core[0][batch], core[1][batch]))
            passed.add(batch_pieces, lattices, tables)
        return passed

    def fine(self, model: AlignKnowledge, pieces: Pieces) -> tuple[Beads, Passed]:
        """The beads of pieces, of all shapes; what was passed is told by the numbers of the pieces."""
        shapes = tuple(model.prior)
        numbered = pieces._replace(document=np.arange(pieces.total))
        passed = Passed(numbered, shapes)
        beads = []
        for batch, lattices in batches(pieces.a.size, pieces.b.size, WIDE):
            batch_pieces = pieces.where(batch)
            tables = posteriors(lattices, self._gains(batch_pieces, model, lattices, shapes))
            beads.append(Beads.of_chains(batch_pieces, best_chains(lattices, tables.beads)))
            passed.add(numbered.where(batch), lattices, tables)
        return Beads.joined(beads), passed

    def _gains(
        self, pieces: Pieces, model: AlignKnowledge, lattices: Lattices, shapes: Sequence[Shape]
    ) -> dict[Shape, Floats]:
        strangers = self._strangers.where(pieces.document)
        gains = bead_gains((self.a.sentences, self.b.sentences), pieces, strangers, model, lattices, shapes)
        if self.marked[pieces.document].any():
            self._blocks.add(gains, pieces, lattices)
        return gains


class _Blocks:
    """For each block of a and of b, the log of the probability that they belong together, by words, length and place.

    Tags and kinds are words of a block that translate themselves: the common ones say little, a rare one anchors.
    """

    def __init__(self, a: NumberedTexts, b: NumberedTexts) -> None:
        self._a, self._b = a, b
        self._strangers = Strangers.of(b.blocks.lengths, b.block_documents)
        self._together = _Rows.of(np.zeros(len(a.blocks.lengths), np.bool_), np.zeros((3, 0)))

    def align(self, model: AlignKnowledge, which: Ints, paths: Paths) -> None:
        """Long documents in parts, along the paths of their sentences."""
        blocks = Pieces(which, self._a.block_documents.where(which), self._b.block_documents.where(which))
        pieces, core = DocumentParts.of(
            blocks, {d: self._path(d, paths[d]) for d in paths.keys() & set(which.tolist())}
        )
        model = model._replace(prior=BLOCK_PRIOR)
        cells = [np.zeros((3, 0))]
        for batch, lattices in batches(pieces.a.size, pieces.b.size, BLOCK_WIDTH):
            batch_pieces = pieces.where(batch)
            both = self._a.blocks, self._b.blocks
            strangers = self._strangers.where(batch_pieces.document)
            tables = posteriors(
                lattices, bead_gains(both, batch_pieces, strangers, model, lattices, tuple(BLOCK_PRIOR))
            )
            _keep_core(tables, (core[0][batch], core[1][batch]))
            cells += self._likely(batch_pieces, lattices, tables)
        told = np.zeros(len(self._a.blocks.lengths), np.bool_)
        told[ranges(blocks.a.first, blocks.a.first + blocks.a.size)] = True
        self._together = _Rows.of(told, np.concatenate(cells, axis=1))

    def add(self, gains: dict[Shape, Floats], pieces: Pieces, lattices: Lattices) -> None:
        """A bead is held to the worse of its two ends, and pays for each block that it goes on into."""
        blocks_a, blocks_b = _at_nodes(self._a.block, pieces.a), _at_nodes(self._b.block, pieces.b)
        row = self._a.block_documents.first[pieces.document][:, None] + blocks_a
        together = self._together.at(row.T[:, :, None], lattices.at_columns(blocks_b))
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
            texts.block[texts.documents.first[document] :][: texts.documents.size[document]]
            for texts in (self._a, self._b)
        )
        ends = np.searchsorted(blocks_a, np.arange(1, int(self._a.block_documents.size[document]) + 1))
        j = np.clip(np.round(path[ends]).astype(np.int64) - 1, 0, len(blocks_b) - 1)
        return np.append(0.0, blocks_b[j] + 1.0)

    def _likely(self, pieces: Pieces, lattices: Lattices, tables: Posteriors) -> Iterator[Floats]:
        """Of likely beads, the blocks: the number of a's among all, of b's in its document, and how probable they are."""
        from_first = pieces.b.first - self._b.block_documents.first[pieces.document]
        for (ka, kb), table in tables.beads.items():
            i, lattice, column = np.nonzero(table > APART / 2)
            row = pieces.a.first[lattice] + i - 1
            end = from_first[lattice] + lattices.low[i] + column - 1
            for down in range(ka):
                for back in range(kb):
                    yield np.array([row - down, end - back, table[i, lattice, column]])


class _Rows(NamedTuple):
    """A table that holds, of each row, only what lies between its first and its last likely cell, with one cell around.

    With all cells, a page of 7,500 paragraphs took 2.3 GB (2026-11).
    """

    low: Ints
    high: Ints
    start: Ints  # where column 0 of a row would be
    values: Floats

    @classmethod
    def of(cls, told: Bools, cells: Floats) -> "_Rows":
        """Of cells by row, column and probability: logarithms in the rows that something is told of, 0 in the others."""
        row, column = cells[:2].astype(np.int64)
        low, high = np.full(len(told), len(told) + column.max(initial=0)), np.full(len(told), -1)
        np.minimum.at(low, row, column - 1)
        np.maximum.at(high, row, column + 1)
        low = np.minimum(low, high)
        sizes = high - low + 1
        start = np.cumsum(sizes) - sizes - low
        values = np.zeros(int(sizes.sum()))
        np.add.at(values, start[row] + column, cells[2])
        values = np.log(np.clip(values, APART, 1.0))
        values[np.repeat(~told, sizes)] = 0.0
        return cls(low, high, start, values)

    def at(self, row: Ints, column: Ints) -> Floats:
        place = np.clip(column, self.low[row], self.high[row])
        place += self.start[row]
        values: Floats = self.values[place]
        return values


def bead_gains(
    texts: tuple[WordRuns, WordRuns],
    pieces: Pieces,
    strangers: Strangers,
    model: AlignKnowledge,
    lattices: Lattices,
    shapes: Sequence[Shape],
) -> dict[Shape, Floats]:
    """The log-odds of every bead."""
    both = [shape for shape in shapes if all(shape)]
    bags = Bags.of(texts[0], pieces.a), Bags.of(texts[1], pieces.b)
    gains = lexical_gains(bags, model.translations, lattices, both)
    runs = RunLengths(texts[0], pieces.a), RunLengths(texts[1], pieces.b)
    lengths = length_gains(runs, strangers, model.length, lattices, both)
    for shape in both:
        gains[shape] *= LEXICAL_WEIGHT
        gains[shape] += lengths[shape]
        gains[shape] += np.log(model.prior[shape])
    for shape in (DELETION, INSERTION):
        gains[shape] = np.full((1, 1, 1), np.log(model.prior[shape]))
    return gains


def _keep_core(tables: Posteriors, core: tuple[Ints, Ints]) -> None:
    """Of parts that overlap, what each is there for."""
    rows = np.arange(len(tables.nodes))[:, None]
    tables.nodes[(rows < core[0]) | (rows > core[1])] = 0.0
    for table in tables.beads.values():
        table[(rows <= core[0]) | (rows > core[1])] = 0.0


def _at_nodes(values: Ints, cut: Cut) -> Ints:
    """Of the sentence before each node, by lattice; of the first before the first."""
    place = np.clip(np.arange(int(cut.size.max()) + 1) - 1, 0, np.maximum(cut.size[:, None] - 1, 0))
    at_nodes: Ints = values[np.minimum(cut.first[:, None] + place, len(values) - 1)]
    return at_nodes


def _crossed(blocks: Ints, count: int) -> Ints:
    """How many blocks the sentences before each node go on into."""
    crossed = np.zeros(blocks.shape, np.int64)
    crossed[:, count:] = blocks[:, count:] - blocks[:, 1 : blocks.shape[1] - count + 1]
    return crossed
