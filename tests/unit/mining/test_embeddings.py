import sys

import numpy as np
import pytest
from prose_site import WordEncoder, prose
from small_site import EN, FR, page

from bitrawl.errors import ConfigError
from bitrawl.mining import PairSection, page_embeddings
from bitrawl.mining.evidence import ALL, pair_key
from bitrawl.mining.page_embeddings import EmbeddingSpace, page_vectors
from bitrawl.mining.pairing import Pairing
from bitrawl.mining.site import condense
from bitrawl.model import Method
from bitrawl.text.arrays import RememberedRows
from bitrawl.text.encoder import Transformer, load_encoder


def test_without_the_extra_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ConfigError, match=r"bitrawl\[neural\]"):
        load_encoder("any")


class Raw:
    """As a model of sentence-transformers answers: rows of any length, also for what says nothing."""

    def encode(self, texts, **options):
        assert all(text.encode("utf-8") for text in texts)
        return [[3.0, 4.0] if text != "bad" else [float("nan")] * 2 for text in texts]


def test_rows_have_length_one_and_those_of_empty_texts_are_zero():
    rows = Transformer(Raw()).encode(["word", " ", "\ud800", "bad"])
    assert np.linalg.norm(rows, axis=1).tolist() == pytest.approx([1, 0, 1, 0])
    assert rows.dtype == np.float32


def test_a_text_is_encoded_once():
    encoder = WordEncoder()
    memory = RememberedRows(encoder.encode, room=3)
    first = memory.rows(["boat", "bread", "boat"])
    again = memory.rows(["bread", "boat", "salt"])
    assert encoder.asked == ["boat", "bread", "salt"]
    assert np.array_equal(first[:2], again[1::-1])


def test_a_memory_that_is_full_forgets_all():
    encoder = WordEncoder()
    memory = RememberedRows(encoder.encode, room=2)
    for texts in (["boat", "bread"], ["boat", "salt"], ["boat"], ["bread"]):
        assert np.array_equal(memory.rows(texts), WordEncoder().encode(texts))
    assert encoder.asked == ["boat", "bread", "boat", "salt", "bread"]


def test_a_sentence_of_many_pages_says_less_of_each_than_its_own():
    common, own = "harbour boat winter bread", ["bridge church market", "garden morning child", "letter window street"]
    pages = [page(f"http://s.test/{n}", EN, [common, text]) for n, text in enumerate(own)]
    encoder = WordEncoder()
    vectors = page_vectors(condense(pages, [EN]), encoder)
    assert ((vectors * encoder.encode(own)).sum(axis=1) > vectors @ encoder.encode([common])[0]).all()


def test_each_sentence_of_a_site_is_encoded_once():
    pages, _ = prose(4)
    encoder = WordEncoder()
    page_vectors(condense(pages + prose(4)[0], [EN, FR]), encoder)
    assert len(encoder.asked) == len(set(encoder.asked))


@pytest.mark.parametrize("batch", [1, 7, 1024])
def test_the_translation_is_among_the_nearest_however_many_are_compared_at_a_time(batch, monkeypatch):
    monkeypatch.setattr(page_embeddings, "BATCH", batch)
    monkeypatch.setattr(page_embeddings, "COMPARED", batch)
    pages, _ = prose(20)
    space = EmbeddingSpace(condense(pages, [EN, FR]), WordEncoder())
    found = space.candidates()
    assert {pair_key((n, n + 1)) for n in range(0, 40, 2)} <= set(found.tolist())
    assert len(found) <= 2 * page_embeddings.NEAREST * 20


def similarity(space, pair):
    return space.similarities(np.array([pair_key(pair)]))[0]


@pytest.mark.parametrize("bias", [0.0, 1.0, 3.0])
def test_a_similarity_means_the_same_with_any_encoder(bias):
    """Of two sentences that have nothing to do with each other the cosine is 0, 0.5 and 0.9 here, of two pages more."""
    pages, _ = prose(20)
    space = EmbeddingSpace(condense(pages, [EN, FR]), WordEncoder(bias))
    true = [similarity(space, (n, n + 1)) for n in range(0, 40, 2)]
    false = [similarity(space, (n, n + 3)) for n in range(0, 36, 2)]
    assert min(true) > 0.8
    assert max(false) < 0.4
    assert np.mean(false) < 0.1


def test_pages_that_are_all_alike_are_no_evidence():
    texts = ["the old boat carries bread and salt before winter. " * 3]
    pages = [page(f"http://s.test/{n}", language, texts) for n, language in enumerate([EN, FR] * 6)]
    space = EmbeddingSpace(condense(pages, [EN, FR]), WordEncoder())
    assert all(similarity(space, (0, other)) == 0 for other in range(1, 12, 2))


@pytest.mark.parametrize("texts", [[], [""], ["..."]])
def test_a_page_without_words_has_no_neighbours(texts):
    pages = [page("http://s.test/1", EN, texts), page("http://s.test/2", FR, ["roi reine lettre fenêtre"])]
    space = EmbeddingSpace(condense(pages, [EN, FR]), WordEncoder())
    assert space.candidates().tolist() == []
    assert similarity(space, (0, 1)) == 0


def found(pages, encoder=None, **settings):
    result = Pairing(PairSection(**settings), encoder=encoder).pairs(pages, [EN, FR])
    return {(str(pair.url_a), str(pair.url_b)) for pair in result.pairs}


def test_an_encoder_pairs_what_nothing_else_tells_apart():
    pages, pairs = prose(20)
    assert found(pages) < pairs  # by the words that ship, and not all of them
    assert found(pages, WordEncoder()) == pairs


def test_an_encoder_does_not_pair_unrelated_pages():
    english = [made for made in prose(20)[0] if made.language == EN]
    french = [made for made in prose(20, seed=2)[0] if made.language == FR]
    assert not found([*english, *french], WordEncoder())


def test_an_encoder_is_evidence_for_the_method_content_only():
    pages, _ = prose(20)
    encoder = WordEncoder()
    found(pages, encoder, methods=ALL - {Method.CONTENT})
    assert not encoder.asked
    result = Pairing(encoder=encoder).pairs(pages, [EN, FR])
    assert all(pair.evidence["c"] > 0.8 for pair in result.pairs)
