"""The beads of many documents with what is known of their words and lengths: first roughly, then where that is unsure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
from bitrawl.align.documents import Numbers
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
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Weight of the words beside the lengths, below 1 because words do not come independently: it is what makes
# probabilities honest. Swept 0.3–1.0 on Text+Berg and MAC dev (2026-11): F1 flat from 0.45 to 0.8.
LEXICAL_WEIGHT = 0.6
LEAST_LEARNED = 0.2  # probability of a bead that the lexicon learns from
ROUGH: tuple[Shape, ...] = ((1, 1), DELETION, INSERTION, (1, 2), (2, 1))
WIDE, NARROW = 320, 64
MARGIN = 8  # A path so near to the edge of its band may have wanted to leave it: again, twice as wide.
LOST = 0.4  # And so may one on which so many sentences have no counterpart.
MOST = 4_000_000  # nodes, 32 MB a table: no band of a long text is widened beyond it
CELLS = 200_000  # nodes of a batch
OVERHEAD = 1500  # nodes that could be computed in the time that a row costs by itself
SURE = 0.999  # probability of a node where a document is cut
SURE_BEAD = 0.99
LARGE = 36  # sentences of a piece that is cut also where it is less sure
LESS_SURE = 0.5
AROUND = 2
CROSSED = 3.0
LONG, STEP, CONTEXT = 96, 48, 24
ASTRAY = 2
BLOCK_PRIOR: Mapping[Shape, float] = {
    (1, 1): 0.8, DELETION: 0.06, INSERTION: 0.06, (1, 2): 0.03, (2, 1): 0.03, (2, 2): 0.02
}  # fmt: skip
BLOCK_WIDTH = 400
APART = 0.02


Paths = Mapping[int, Floats]


class Known(NamedTuple):
    """What beads are judged by."""

    translations: tuple[Translation, Translation]
    length: LengthModel
    prior: Mapping[Shape, float]


class Beads(NamedTuple):
    """Of many documents, as arrays: sentences of either side by where they begin and how many they are."""

    document: Ints
    a: Ints
    ka: Ints
    b: Ints
    kb: Ints
    probability: Floats

    @classmethod
    def joined(cls, some: Sequence["Beads"]) -> "Beads":
        return cls(*(np.concatenate(column) for column in zip(*some, strict=True))) if some else cls.none()

    @classmethod
    def none(cls) -> "Beads":
        return cls(*(np.zeros(0, np.int64) for _ in range(5)), np.zeros(0))

    def where(self, which: NDArray[np.bool_] | Ints) -> "Beads":
        return Beads(*(column[which] for column in self))


class Pieces(NamedTuple):
    """Parts of documents that are aligned by themselves."""

    document: Ints
    a: Cut
    b: Cut

    @classmethod
    def joined(cls, some: Sequence["Pieces"]) -> "Pieces":
        return cls(
            np.concatenate([p.document for p in some]),
            *(
                Cut(np.concatenate([c.first for c in cuts]), np.concatenate([c.size for c in cuts]))
                for cuts in ([p.a for p in some], [p.b for p in some])
            ),
        )

    def where(self, which: Ints) -> "Pieces":
        return Pieces(self.document[which], self.a.of_lattices(which), self.b.of_lattices(which))

    @property
    def count(self) -> int:
        return len(self.document)


class Corpus:
    """Documents, each with sentences on either side, as arrays."""

    def __init__(self, a: Numbers, b: Numbers, marked: NDArray[np.bool_]) -> None:
        self.a, self.b, self.marked = a, b, marked
        self._strangers = Strangers.of(b.sentences.lengths, b.documents)
        self._block_strangers = Strangers.of(b.blocks.lengths, b.block_documents)
        sizes = a.block_documents.size * b.block_documents.size
        self._offset = np.cumsum(sizes) - sizes
        self._together = np.zeros(int(sizes.sum()))

    def documents(self) -> Pieces:
        return Pieces(np.arange(len(self.marked)), self.a.documents, self.b.documents)

    # blocks

    def align_blocks(self, known: Known, which: Ints) -> None:
        """For each block of a and of b, the log of the probability that they belong together, by words, length, place.

        Tags and kinds are words of a block that translate themselves: the common ones say little, a rare one anchors.
        """
        which = which[self.marked[which]]
        a, b = self.a.block_documents.of_lattices(which), self.b.block_documents.of_lattices(which)
        for batch, lattices in batches(a.size, b.size, BLOCK_WIDTH):
            gains = _gains(
                (self.a.blocks, self.b.blocks),
                (a.of_lattices(batch), b.of_lattices(batch)),
                self._block_strangers_of(which[batch]),
                known._replace(prior=BLOCK_PRIOR),
                lattices,
                tuple(BLOCK_PRIOR),
            )
            self._put_together(which[batch], lattices, posteriors(lattices, gains))

    def _block_strangers_of(self, documents: Ints) -> Strangers:
        return Strangers(*(column[documents] for column in self._block_strangers))

    def _put_together(self, documents: Ints, lattices: Lattices, found: Posteriors) -> None:
        width = self.b.block_documents.size[documents]
        size = self.a.block_documents.size[documents] * width
        offset = np.cumsum(size) - size
        together = np.zeros(int(size.sum()))
        for (ka, kb), probability in found.beads.items():
            i, lattice, column = np.nonzero(probability > APART / 2)
            value = probability[i, lattice, column]
            j = column + lattices.low[i]
            for down in range(ka):
                for back in range(kb):
                    place = offset[lattice] + (i - 1 - down) * width[lattice] + j - 1 - back
                    np.add.at(together, place, value)
        target = np.repeat(self._offset[documents] - offset, size) + np.arange(len(together))
        self._together[target] = np.log(np.clip(together, APART, 1.0))

    # sentences

    def gains(self, pieces: Pieces, known: Known, lattices: Lattices, shapes: Sequence[Shape]) -> dict[Shape, Floats]:
        strangers = Strangers(*(column[pieces.document] for column in self._strangers))
        gains = _gains(
            (self.a.sentences, self.b.sentences), (pieces.a, pieces.b), strangers, known, lattices, shapes
        )
        if self.marked[pieces.document].any():
            self._add_blocks(gains, pieces, lattices)
        return gains

    def _add_blocks(self, gains: dict[Shape, Floats], pieces: Pieces, lattices: Lattices) -> None:
        """A bead is held to the worse of its two ends, and pays for each block that it goes on into."""
        blocks_a, blocks_b = _at_nodes(self.a.block, pieces.a), _at_nodes(self.b.block, pieces.b)
        row = self._offset[pieces.document][:, None] + blocks_a * self.b.block_documents.size[pieces.document][:, None]
        together = self._together[row.T[:, :, None] + lattices.at_columns(blocks_b)]
        for ka, kb in gains:
            if not ka or not kb:
                continue
            gain = gains[ka, kb]
            if ka == kb == 1:
                gain += together
                continue
            gain += np.minimum(together, lattices.moved(together, ka - 1, kb - 1, 0.0))
            gain -= CROSSED * (_crossed(blocks_a, ka).T[:, :, None] + lattices.at_columns(_crossed(blocks_b, kb)))

    def rough(self, known: Known, which: Ints, paths: Paths) -> "Rough":
        """All of these documents, with the commonest shapes only.

        Those with a path are cut along it into parts that overlap. Where two parts do not agree, the path was wrong,
        and the document is searched in a band.
        """
        documents = self.documents().where(which)
        result = Rough(documents, ROUGH)
        parts = Parts.of(documents, {place: paths[d] for place, d in enumerate(which.tolist()) if d in paths})
        agreed = self._rough_parts(known, documents, parts, result)
        rest = documents.where(np.flatnonzero(~np.isin(np.arange(len(which)), agreed)))
        for batch, lattices in batches(rest.a.size, rest.b.size, WIDE, {p: paths[d] for p, d in enumerate(rest.document.tolist()) if d in paths}):
            some = rest.where(batch)
            lattices, found = self._within(known, some, lattices)
            result.add(some, lattices, found)
        return result

    def _rough_parts(self, known: Known, documents: Pieces, parts: "Parts", result: "Rough") -> Ints:
        """The documents whose parts agree."""
        met = np.zeros((2, parts.pieces.count), np.int64)
        some_found = []
        for batch, lattices in batches(parts.pieces.a.size, parts.pieces.b.size, WIDE):
            some = parts.pieces.where(batch)
            found = posteriors(lattices, self.gains(some, known, lattices, ROUGH))
            first, last = parts.core[0][batch], parts.core[1][batch]
            for side, row in enumerate((first, last)):
                met[side, batch] = some.b.first + found.nodes[row, np.arange(len(batch))].argmax(axis=1)
            rows = np.arange(lattices.shape[0])[:, None]
            outside = (rows <= first) | (rows > last)
            for table in found.beads.values():
                table[outside] = 0.0
            found.nodes[((rows < first) | (rows > last))] = 0.0
            some_found.append((some, lattices, found))
        same = parts.pieces.document[1:] == parts.pieces.document[:-1]
        apart = np.abs(met[1, :-1] - met[0, 1:]) > ASTRAY
        bad = np.unique(parts.pieces.document[1:][same & apart])
        for some, lattices, found in some_found:
            good = np.flatnonzero(~np.isin(some.document, bad))
            if len(good):
                result.add(some, lattices, found, good)
        return np.flatnonzero(np.isin(documents.document, np.setdiff1d(parts.pieces.document, bad)))

    def _within(self, known: Known, some: Pieces, lattices: Lattices) -> tuple[Lattices, Posteriors]:
        """Within a band that is widened until the path keeps clear of its edges."""
        while True:
            found = posteriors(lattices, self.gains(some, known, lattices, ROUGH))
            if lattices.straight:
                return lattices, found
            band = _wider(lattices, best_chains(lattices, found.beads))
            if band is None:
                return lattices, found
            lattices = Lattices.banded(band)

    def fine(self, known: Known, pieces: Pieces) -> tuple[Beads, "Rough"]:
        """All shapes."""
        shapes = tuple(known.prior)
        beads = []
        numbered = pieces._replace(document=np.arange(pieces.count))
        result = Rough(numbered, shapes)
        for batch, lattices in batches(pieces.a.size, pieces.b.size, WIDE):
            found = posteriors(lattices, self.gains(pieces.where(batch), known, lattices, shapes))
            beads.append(_placed(pieces.where(batch), best_chains(lattices, found.beads)))
            result.add(numbered.where(batch), lattices, found)
        return Beads.joined(beads), result


def _crossed(blocks: Ints, count: int) -> Ints:
    crossed = np.zeros(blocks.shape, np.int64)
    crossed[:, count:] = blocks[:, count:] - blocks[:, 1 : blocks.shape[1] - count + 1]
    return crossed


def _at_nodes(values: Ints, cut: Cut) -> Ints:
    """Of the sentence before each node, by lattice; of the first before the first."""
    place = np.clip(np.arange(int(cut.size.max()) + 1) - 1, 0, cut.size[:, None] - 1)
    return values[cut.first[:, None] + place]


def _gains(
    sides: tuple[Side, Side],
    cuts: tuple[Cut, Cut],
    strangers: Strangers,
    known: Known,
    lattices: Lattices,
    shapes: Sequence[Shape],
) -> dict[Shape, Floats]:
    both = [shape for shape in shapes if all(shape)]
    bags = Bags.of(sides[0], cuts[0]), Bags.of(sides[1], cuts[1])
    gains = lexical_gains(bags, known.translations, lattices, both)
    runs = RunLengths(sides[0], cuts[0]), RunLengths(sides[1], cuts[1])
    for shape in both:
        gain = gains[shape]
        gain *= LEXICAL_WEIGHT
        gain += length_gains(runs, strangers, known.length, lattices, shape)
        gain += np.log(known.prior[shape])
    for shape in (DELETION, INSERTION):
        gains[shape] = np.full((1, 1, 1), np.log(known.prior[shape]))
    return gains


class Parts(NamedTuple):
    """Parts of long documents, each with some sentences more on either side than it is there for."""

    pieces: Pieces
    core: tuple[Ints, Ints]  # from which row to which each is there for

    @classmethod
    def of(cls, documents: Pieces, paths: Paths) -> "Parts":
        rows = []
        for place, path in paths.items():
            size = len(path) - 1
            low = np.arange(0, size, STEP)
            high = np.minimum(low + STEP, size)
            if size - low[-1] < STEP // 2 and len(low) > 1:
                low, high = low[:-1], np.append(high[:-2], size)
            begin, end = np.maximum(low - CONTEXT, 0), np.minimum(high + CONTEXT, size)
            j = np.round(path).astype(np.int64)
            j[0], j[-1] = 0, documents.b.size[place]
            if (j[end] - j[begin]).max() > WIDE:
                continue
            full = np.ones(len(low), np.int64)
            rows.append(np.array([
                documents.document[place] * full, documents.a.first[place] + begin, end - begin,
                documents.b.first[place] + j[begin], j[end] - j[begin], low - begin, high - begin,
            ]))
        found = np.concatenate(rows, axis=1) if rows else np.zeros((7, 0), np.int64)
        document, a, size_a, b, size_b, first, last = found
        return cls(Pieces(document, Cut(a, size_a), Cut(b, size_b)), (first, last))


class Nodes(NamedTuple):
    """Where chains pass with some probability."""

    document: Ints
    i: Ints  # sentences of a before it, from the beginning of the side
    j: Ints
    probability: Floats
    bead: Floats  # of the 1-1 bead that ends there

    def where(self, which: NDArray[np.bool_] | Ints) -> "Nodes":
        return Nodes(*(column[which] for column in self))


class Rough:
    """What the first search found: where documents are cut, and the beads that are sure already."""

    def __init__(self, documents: Pieces, shapes: Sequence[Shape]) -> None:
        self._documents = documents
        self._nodes: list[Nodes] = []
        self._teaching: list[Beads] = []
        self.counts = dict.fromkeys(shapes, 0.0)

    def add(self, pieces: Pieces, lattices: Lattices, found: Posteriors, which: Ints | None = None) -> None:
        if which is not None and len(which) < pieces.count:
            pieces = pieces.where(which)
            lattices = lattices._replace(sizes_a=lattices.sizes_a[which], sizes_b=lattices.sizes_b[which])
            beads = {shape: table[:, which] for shape, table in found.beads.items()}
            found = Posteriors(beads, found.nodes[:, which])
        for shape, table in found.beads.items():
            self.counts[shape] += float(table.sum())
        self._teaching.append(_teaching(pieces, lattices, found))
        i, lattice, column = np.nonzero(found.nodes > LESS_SURE)
        j = column + lattices.low[i]
        self._nodes.append(
            Nodes(
                pieces.document[lattice],
                pieces.a.first[lattice] + i,
                pieces.b.first[lattice] + j,
                found.nodes[i, lattice, column],
                found.beads[1, 1][i, lattice, column],
            )
        )

    def teaching(self) -> Beads:
        return Beads.joined(self._teaching)

    def _ordered(self) -> Nodes:
        nodes = Nodes(*(np.concatenate(column) for column in zip(*self._nodes, strict=True)))
        # The beginning of a part has no bead: the same node in another part has.
        order = np.lexsort((-nodes.bead, nodes.j, nodes.i, nodes.document))
        nodes = Nodes(*(column[order] for column in nodes))
        new = (np.diff(nodes.i) != 0) | (np.diff(nodes.j) != 0) | (np.diff(nodes.document) != 0)
        return Nodes(*(column[np.append(True, new)] for column in nodes))

    def paths(self, longest: int) -> dict[int, Floats]:
        """Of documents of more sentences: the j at which each i is reached."""
        nodes = self._ordered()
        begin = np.searchsorted(nodes.document, self._documents.document)
        end = np.searchsorted(nodes.document, self._documents.document, side="right")
        a, b = self._documents.a, self._documents.b
        found = {}
        for place in np.flatnonzero(np.maximum(a.size, b.size) > longest).tolist():
            here = slice(begin[place], end[place])
            i, j = nodes.i[here] - a.first[place], nodes.j[here] - b.first[place]
            i, first = np.unique(i, return_index=True)
            found[int(self._documents.document[place])] = np.interp(np.arange(a.size[place] + 1), i, j[first])
        return found

    def cut(self) -> tuple[Beads, Pieces]:
        """Beads that are sure, and what lies between them."""
        nodes = self._ordered()
        ends = np.append(True, np.diff(nodes.document) != 0)
        ends |= np.append(ends[1:], True)
        nodes = nodes.where(_split(nodes, _kept(nodes, (nodes.probability >= SURE) | ends, ends)))
        same = np.diff(nodes.document) == 0
        group, first_a, first_b = nodes.document[1:][same], nodes.i[:-1][same], nodes.j[:-1][same]
        da, db = np.diff(nodes.i)[same], np.diff(nodes.j)[same]
        bead = nodes.bead[1:][same]
        one = (da == 1) & (db == 1) & (bead >= SURE_BEAD)
        alone = da + db == 1
        probability = np.where(one, bead, np.minimum(nodes.probability[1:], nodes.probability[:-1])[same])
        beads = Beads(group, first_a, da, first_b, db, np.minimum(probability, 1.0)).where(one | alone)
        rest = np.flatnonzero(~(one | alone))
        return beads, Pieces(group, Cut(first_a, da), Cut(first_b, db)).where(rest)


def _kept(nodes: Nodes, sure: NDArray[np.bool_], ends: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The sure ones that have sure beads around them."""
    at = np.flatnonzero(sure)
    one = (np.diff(nodes.i[at]) == 1) & (np.diff(nodes.j[at]) == 1) & (nodes.bead[at[1:]] >= SURE_BEAD)
    one |= np.diff(nodes.document[at]) != 0
    unsure = np.append(0, np.cumsum(~one))  # before each of them
    number = np.arange(len(at))
    # Beyond an end there is nothing to be unsure of.
    end = np.flatnonzero(ends[at])
    begin = end[np.searchsorted(end, number, side="right") - 1]
    finish = end[np.minimum(np.searchsorted(end, number), len(end) - 1)]
    near = unsure[np.minimum(number + AROUND, finish)] - unsure[np.maximum(number - AROUND, begin)]
    kept = np.zeros(len(sure), np.bool_)
    kept[at] = (near == 0) | ends[at]
    return kept


def _split(nodes: Nodes, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """What is kept, and between two that are far apart the likeliest ones."""
    at = np.flatnonzero(kept)
    far = (np.maximum(np.diff(nodes.i[at]), np.diff(nodes.j[at])) > LARGE) & (np.diff(nodes.document[at]) == 0)
    kept = kept.copy()
    for low, high in zip(at[:-1][far].tolist(), at[1:][far].tolist(), strict=True):
        here = low
        reached = nodes.i + nodes.j
        while reached[high] - reached[here] > 2 * LARGE:
            first, last = np.searchsorted(reached[low:high], reached[here] + [LARGE // 2, 2 * LARGE]) + low
            if first == last:
                break
            here = first + int(nodes.probability[first:last].argmax())
            kept[here] = True
    return kept


def _teaching(pieces: Pieces, lattices: Lattices, found: Posteriors) -> Beads:
    some = []
    for (ka, kb), table in found.beads.items():
        if ka and kb:
            i, lattice, column = np.nonzero(table > LEAST_LEARNED)
            j = column + lattices.low[i]
            full = np.ones(len(i), np.int64)
            some.append(
                Beads(
                    pieces.document[lattice],
                    pieces.a.first[lattice] + i - ka,
                    ka * full,
                    pieces.b.first[lattice] + j - kb,
                    kb * full,
                    table[i, lattice, column],
                )
            )
    return Beads.joined(some)


def _placed(pieces: Pieces, chains: Chains) -> Beads:
    lattice = chains.lattice
    return Beads(
        pieces.document[lattice],
        pieces.a.first[lattice] + chains.i - chains.ka,
        chains.ka,
        pieces.b.first[lattice] + chains.j - chains.kb,
        chains.kb,
        chains.probability,
    )


def batches(
    sizes_a: Ints, sizes_b: Ints, width: int, paths: Paths | None = None
) -> Iterator[tuple[Ints, Lattices]]:
    """Numbers of lattices that are about as large, searched whole; and those that are too large, each in a band."""
    large = sizes_b > width
    for number in np.flatnonzero(large).tolist():
        path = (paths or {}).get(number)
        if path is None:
            path = np.linspace(0, sizes_b[number], sizes_a[number] + 1)
        yield np.array([number]), Lattices.banded(Band.around(path, int(sizes_b[number]), width))
    order = np.flatnonzero(~large)
    order = order[np.lexsort((-sizes_b[order], -sizes_a[order]))]
    batch: list[int] = []
    rows = columns = 0
    for number, a, b in zip(order.tolist(), (sizes_a[order] + 1).tolist(), (sizes_b[order] + 1).tolist(), strict=True):
        wider = max(columns, b)
        more = rows * ((len(batch) + 1) * wider - len(batch) * columns)
        if batch and (more > a * (OVERHEAD + b) or rows * wider * (len(batch) + 1) > CELLS):
            yield _whole(batch, sizes_a, sizes_b)
            batch = []
        if not batch:
            rows, columns = a, b
        batch.append(number)
        columns = max(columns, b)
    if batch:
        yield _whole(batch, sizes_a, sizes_b)


def _whole(batch: list[int], sizes_a: Ints, sizes_b: Ints) -> tuple[Ints, Lattices]:
    which = np.array(batch)
    return which, Lattices.whole(sizes_a[which], sizes_b[which])


def _wider(lattices: Lattices, chains: Chains) -> Band | None:
    """A wider band, where the path comes near the edge of this one or loses too much."""
    size_a, size_b = int(lattices.sizes_a[0]), int(lattices.sizes_b[0])
    widest = max(WIDE, MOST // (size_a + 1))
    low = lattices.low[chains.i]
    near_low = (chains.j - low < MARGIN) & (low > 0)
    near_high = (low + lattices.width - chains.j <= MARGIN) & (low + lattices.width <= size_b)
    lost = float(((chains.ka == 0) | (chains.kb == 0)).mean()) > LOST
    if lattices.width > size_b or lattices.width >= widest or not (lost or (near_low | near_high).any()):
        return None
    return Band.around(path(chains, size_a), size_b, min((4 if lost else 2) * lattices.width, widest))


def path(chains: Chains, size: int) -> Floats:
    """The j at which each i is reached."""
    i, first = np.unique(np.append(0, chains.i), return_index=True)
    return np.interp(np.arange(size + 1), i, np.append(0, chains.j)[first])
