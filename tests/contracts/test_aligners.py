"""What every aligner holds, whatever it knows of languages."""

import hashlib

import numpy as np
import pytest

from bitrawl.mining.align_evidence import Document
from bitrawl.mining.embedding_aligner import EmbeddingAligner
from bitrawl.mining.lexical_aligner import LexicalAligner
from bitrawl.model import Language

LANGUAGES = (Language("en"), Language("fr"))
TEXT = [
    f"The {word} stands in the garden number {n}."
    for n, word in enumerate(["wall", "tree", "well", "gate", "stone", "pond"])
]


class HashingEncoder:
    """Words as random directions: identical texts have identical embeddings, and nothing else is known."""

    def encode(self, texts):
        rows = np.array([self._row(text) for text in texts], np.float32)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)

    def _row(self, sentence):
        row = np.zeros(64)
        for word in sentence.split():
            seed = int.from_bytes(hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()[:4], "big")
            row += np.random.default_rng(seed).normal(size=64)
        return row


ALIGNERS = {"lexical": LexicalAligner, "embeddings": lambda: EmbeddingAligner(HashingEncoder())}


@pytest.fixture(params=ALIGNERS)
def aligner(request):
    return ALIGNERS[request.param]()


CASES = {
    "both empty": ([], []),
    "a empty": ([], TEXT),
    "b empty": (TEXT, []),
    "one each": (TEXT[:1], TEXT[:1]),
    "one against many": (TEXT[:1], TEXT),
    "many against one": (TEXT, TEXT[:1]),
    "identical": (TEXT, TEXT),
    "empty sentences": (["", TEXT[0], ""], ["", "", TEXT[0]]),
    "all empty sentences": ([""] * 4, [""] * 3),
    "marks only": (["...", "!!!"], ["—", "?"]),
    "strangers": (TEXT, ["Καλημέρα σας.", "今天下雨。", "ماذا؟"] * 4),
    "very unequal": (TEXT, TEXT * 30),
    "one endless sentence": ([" ".join(TEXT * 50)], TEXT),
    "surrogates and controls": (["\ud800", "\x00 a"], ["\ud800", "b"]),
}


@pytest.mark.parametrize("case", CASES)
def test_every_sentence_is_in_exactly_one_bead_in_order(aligner, case):
    a, b = CASES[case]
    beads = aligner.align_documents([Document.plain(a, b, LANGUAGES)])[0]
    assert [i for bead in beads for i in bead.a] == list(range(len(a)))
    assert [j for bead in beads for j in bead.b] == list(range(len(b)))
    assert all(bead.a or bead.b for bead in beads)
    assert all(0.0 <= bead.score <= 1.0 for bead in beads)


def test_identical_texts_are_aligned_one_to_one(aligner):
    beads = aligner.align_documents([Document.plain(TEXT, TEXT, LANGUAGES)])[0]
    assert [(bead.a, bead.b) for bead in beads] == [((n,), (n,)) for n in range(len(TEXT))]


def test_a_sentence_that_only_one_text_has_stays_alone(aligner):
    extra = "Nobody translated what is written 1234 here about zebras."
    beads = aligner.align_documents([Document.plain([*TEXT[:3], extra, *TEXT[3:]], TEXT, LANGUAGES)])[0]
    assert ((3,), ()) in [(bead.a, bead.b) for bead in beads]


def test_the_same_texts_give_the_same_beads(aligner):
    kind = type(aligner)
    first = aligner.align_documents([Document.plain(TEXT, TEXT[::-1], LANGUAGES)])[0]
    again = (kind() if kind is LexicalAligner else EmbeddingAligner(HashingEncoder())).align_documents(
        [Document.plain(TEXT, TEXT[::-1], LANGUAGES)]
    )[0]
    assert first == again


def test_what_was_aligned_can_be_judged_by_a_lexicon(aligner):
    aligner.align_documents([Document.plain(TEXT, TEXT, LANGUAGES)])
    assert aligner.lexicon.coverage(["wall"], ["wall"]) == (1.0, 1.0)
