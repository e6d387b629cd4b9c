import numpy as np
import pytest

from bitrawl.mining.align_evidence import Cut, Document, Text
from bitrawl.mining.align_search import CELLS, LARGE, DocumentParts, Passed, Pieces, batches
from bitrawl.mining.beads import Lattices, Posteriors
from bitrawl.mining.lexical_aligner import Knowledge, LexicalAligner, _frozen, translations
from bitrawl.model import Language

EN, FR = Language("en"), Language("fr")


def page(language, blocks):
    sentences = [sentence for _, texts in blocks for sentence in texts]
    numbers = [number for number, (_, texts) in enumerate(blocks) for _ in texts]
    return Text.marked(sentences, language, numbers, [markup for markup, _ in blocks])


def test_blocks_belong_together_by_their_tags_and_length():
    body = ["A wall of old stones stands in the garden, and moss grows on it in wet years."]
    corps = ["Un mur de vieilles pierres se dresse au jardin, où la mousse pousse les années humides."]
    a = page(EN, [(("<heading>", "<h1>"), ["Moss"]), (("<text>", "<p>"), body), (("<listitem>", "<li>"), ["Tea"])])
    b = page(
        FR,
        [
            (("<heading>", "<h1>"), ["Mousse"]),
            (("<text>", "<p>", "<blockquote>"), ["Une citation que l'autre page n'a pas, d'un auteur connu."]),
            (("<text>", "<p>"), corps),
            (("<listitem>", "<li>"), ["Thé"]),
        ],
    )
    knowledge = LexicalAligner().knowledge
    known, corpus = _frozen([Document(a, b)], knowledge, translations(knowledge))
    corpus.align_blocks(known, np.array([0]), {})
    together = corpus._blocks._together.at(np.arange(3)[:, None], np.arange(4)[None, :])
    assert together[0].argmax() == 0
    assert together[2].argmax() == 3
    assert together[0, 3] < together[0, 0] - 2


def test_batches_have_every_piece_once_and_stay_small():
    random = np.random.default_rng(3)
    sizes_a, sizes_b = random.integers(0, 200, 500), random.integers(0, 500, 500)
    found = list(batches(sizes_a, sizes_b, 320))
    assert sorted(np.concatenate([batch for batch, _ in found]).tolist()) == list(range(500))
    for batch, lattices in found:
        assert len(batch) == 1 or np.prod(lattices.shape) <= CELLS
        assert (lattices.sizes_a == sizes_a[batch]).all()
        assert (lattices.sizes_a < lattices.shape[0]).all()


@pytest.mark.parametrize("size", [1, 31, 32, 33, 48, 49, 1000])
def test_the_parts_of_a_document_follow_each_other(size):
    documents = Pieces(np.array([7]), Cut(np.array([100]), np.array([size])), Cut(np.array([50]), np.array([2 * size])))
    parts = DocumentParts.of(documents, {7: np.linspace(0, 2 * size, size + 1)})
    first, last = (parts.pieces.a.first + core - 100 for core in parts.core)
    assert first[0] == 0
    assert last[-1] == size
    assert (first[1:] == last[:-1]).all()
    assert (parts.pieces.b.first >= 50).all()
    assert (parts.pieces.b.first + parts.pieces.b.size <= 50 + 2 * size).all()


def passed(sizes, nodes, bead):
    """A document of which these nodes are passed."""
    a, b = sizes
    pieces = Pieces(np.array([0]), Cut(np.array([0]), np.array([a])), Cut(np.array([0]), np.array([b])))
    found = Passed(pieces, [(1, 1)])
    lattices = Lattices.whole(np.array([a]), np.array([b]))
    table = np.zeros(lattices.shape)
    for (i, j), probability in nodes.items():
        table[i, 0, j] = probability
    beads = np.where(table > 0, bead, 0.0)
    found.add(pieces, lattices, Posteriors({(1, 1): beads}, table))
    return found


def covered(beads, pieces):
    runs = [*zip(beads.a, beads.ka, beads.b, beads.kb, strict=True)]
    runs += [*zip(pieces.a.first, pieces.a.size, pieces.b.first, pieces.b.size, strict=True)]
    runs.sort()
    a = [n for first, count, _, _ in runs for n in range(first, first + count)]
    b = [n for _, _, first, count in runs for n in range(first, first + count)]
    return a, b


def test_a_document_that_is_sure_everywhere_is_all_beads():
    found = passed((9, 9), {(n, n): 1.0 for n in range(10)}, 1.0)
    beads, pieces = found.cut()
    assert pieces.total == 0
    assert beads.a.tolist() == beads.b.tolist() == list(range(9))


def test_what_is_unsure_takes_its_neighbours_with_it():
    nodes = {(n, n): 1.0 for n in range(21) if n != 10}
    beads, pieces = passed((20, 20), nodes, 1.0).cut()
    assert pieces.total == 1
    assert pieces.a.first[0] < 9
    assert pieces.a.first[0] + pieces.a.size[0] > 11
    assert covered(beads, pieces) == (list(range(20)), list(range(20)))


@pytest.mark.parametrize("sizes", [(900, 900), (900, 3), (3, 900), (500, 999)])
@pytest.mark.parametrize("every", [0, 50, 200])
def test_no_piece_is_large_even_where_nothing_is_likely(sizes, every):
    steps = range(every, min(sizes), every) if every else ()
    beads, pieces = passed(sizes, {(n, n): 0.6 for n in steps}, 0.1).cut()
    assert covered(beads, pieces) == (list(range(sizes[0])), list(range(sizes[1])))
    assert (pieces.a.size + pieces.b.size).max() <= 3 * LARGE


def test_nodes_that_no_chain_can_pass_one_after_the_other_do_no_harm():
    beads, pieces = passed((100, 100), {(20, 60): 0.9, (40, 30): 0.9, (80, 80): 0.9}, 0.1).cut()
    assert covered(beads, pieces) == (list(range(100)), list(range(100)))


def test_knowledge_has_what_a_search_needs():
    assert isinstance(LexicalAligner().knowledge, Knowledge)
