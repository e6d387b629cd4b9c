import gzip
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitrawl.errors import ConfigError
from bitrawl.text.ngram_models import END, START, read_arpa, train
from lab.train.ngram_files import train_on_counts, write_arpa

TEXTS = st.lists(st.lists(st.sampled_from("abcdef"), max_size=7), min_size=1, max_size=12)
SMALL = settings(max_examples=30, deadline=None)


@SMALL
@given(TEXTS, st.integers(1, 5), TEXTS)
def test_a_model_comes_back_from_an_arpa_file(tmp_path_factory, texts, order, asked):
    model, folder = train(texts, order), tmp_path_factory.mktemp("arpa")
    for name in ("model.arpa", "model.arpa.gz"):
        write_arpa(model, folder / name)
        again = read_arpa(folder / name)
        assert again.log10(asked) == pytest.approx(model.log10(asked), abs=1e-5)
        assert (set(again.words), again.order) == (set(model.words), order)
    assert (folder / "model.arpa.gz").read_bytes()[:2] == b"\x1f\x8b"


def counted(texts, order, *, shorter=True):
    counts = Counter()
    for text in texts:
        words = [START, *text, END]
        for n in range(1 if shorter else order, order + 1):
            counts.update(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
    return "".join(f"{' '.join(gram)}\t{count}\n" for gram, count in counts.items())


@SMALL
@given(TEXTS, st.integers(1, 5), TEXTS)
def test_counts_of_n_grams_make_the_model_of_their_text(tmp_path_factory, texts, order, asked):
    order = min(order, max(map(len, texts)) + 2)  # the counts of a text that is shorter say no more
    path = tmp_path_factory.mktemp("counts") / "counts.gz"
    path.write_bytes(gzip.compress(counted(texts, order).encode()))
    assert train_on_counts([path]).log10(asked) == pytest.approx(train(texts, order).log10(asked), abs=1e-5)


def test_counts_without_sequence_marks_make_a_model_too(tmp_path):
    path = tmp_path / "counts"
    path.write_text("the old cat\t3\nold cat sleeps\t2\ncat sleeps well\t1\n", "utf-8")
    model = train_on_counts([path])
    assert model.order == 3
    expected = train([["the", "old", "cat", "sleeps", "well"]], 3)
    assert set(model.words) == set(expected.words)
    assert model.perplexity([["the", "old", "cat"]]) < model.perplexity([["cat", "the", "old"]])
    total = sum(10 ** model.log10([["the", "old", word]])[2] for word in model.words if word not in (START, END))
    assert total + 10 ** model.log10([["the", "old"]])[-1] == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("line", ["a b", "a b\tmany", "\t4", "a b\t-4", "a b\t"])
def test_a_malformed_line_of_counts_is_named(tmp_path, line):
    path = tmp_path / "counts"
    path.write_text(f"a b\t1\n\n{line}\n", "utf-8")
    with pytest.raises(ConfigError, match=r"counts, line 3: expected"):
        train_on_counts([path])
