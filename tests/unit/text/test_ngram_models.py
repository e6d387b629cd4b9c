import gzip
import math
import random
import tracemalloc
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitrawl.errors import ConfigError
from bitrawl.text.ngram_models import END, START, UNKNOWN, read_arpa, sequences, train

TEXTS = st.lists(st.lists(st.sampled_from("abcdef"), max_size=7), min_size=1, max_size=12)
SMALL = settings(max_examples=30, deadline=None)
# Training takes at most this much memory: per distinct n-gram of the highest order, and for a block of text.
MOST_BYTES_A_NGRAM, MOST_BYTES_BESIDE = 250, 100_000_000


class Reference:
    """Modified Kneser-Ney of Chen and Goodman, from dictionaries, one word at a time: slow, and easy to check."""

    def __init__(self, texts, order):
        self.order = order
        raw = [Counter() for _ in range(order + 1)]
        for text in texts:
            words = [START, *text, END]
            for n in range(1, order + 1):
                for i in range(len(words) - n + 1):
                    raw[n][tuple(words[i : i + n])] += 1
        self.vocabulary = {gram[0] for gram in raw[1]} - {START} | {UNKNOWN, END}
        self.counts = [Counter() for _ in range(order + 1)]
        self.counts[order] = raw[order]
        for n in range(1, order):
            before = Counter(gram[1:] for gram in raw[n + 1])
            self.counts[n] = Counter({g: c if g[0] == START else before[g] for g, c in raw[n].items()})
        del raw, self.counts[1][(START,)]
        self.discounts = [self.discount(Counter(counts.values())) for counts in self.counts]
        self.following = defaultdict(list)
        for counts in self.counts[1:]:
            for gram, count in counts.items():
                self.following[gram[:-1]].append(count)

    @staticmethod
    def discount(n):
        fallback = [0, 0.5, 1, 1.5]
        if not (n[1] and n[2] and n[3]):
            return fallback
        y = n[1] / (n[1] + 2 * n[2])
        found = [0, *(k - (k + 1) * y * n[k + 1] / n[k] for k in (1, 2, 3))]
        return found if all(1e-6 < d <= k for k, d in enumerate(found) if k) else fallback

    def probability(self, word, history):
        history = tuple(history)[-(self.order - 1) :] if self.order > 1 else ()
        shorter = self.probability(word, history[1:]) if history else 1 / len(self.vocabulary)
        counts = self.following.get(history)
        if not counts:
            return shorter
        discounts = self.discounts[len(history) + 1]
        count = self.counts[len(history) + 1][(*history, word)]
        kept = (count - discounts[min(count, 3)]) / sum(counts)
        return kept + sum(discounts[min(c, 3)] for c in counts) / sum(counts) * shorter

    def log10(self, texts):
        return [
            math.log10(self.probability(word, words[:i]))
            for words in ([START, *(w if w in self.vocabulary else UNKNOWN for w in text), END] for text in texts)
            for i, word in enumerate(words)
            if i
        ]


def made_up_texts(number, words=300, seed=1):
    """Words that are drawn by Zipf's law and follow each other more or less."""
    chance = random.Random(seed)
    weights = [1 / rank for rank in range(1, words + 1)]
    texts = []
    for _ in range(number):
        drawn = chance.choices(range(words), weights, k=chance.randint(1, 20))
        texts.append(
            [f"w{(word + drawn[i - 1]) % words if chance.random() < 0.5 else word}" for i, word in enumerate(drawn)]
        )
    return texts


@pytest.mark.parametrize("order", [1, 2, 3, 5, 6])
@pytest.mark.parametrize("number", [3, 1500])  # so few that the discounts fall back, and enough for real ones
def test_a_trained_model_has_the_probabilities_of_a_plain_implementation(order, number):
    texts, others = made_up_texts(number), made_up_texts(40, words=400, seed=2)
    model, reference = train(texts, order), Reference(texts, order)
    for asked in (texts[:40], others):
        assert model.log10(asked) == pytest.approx(reference.log10(asked), abs=1e-5)


@SMALL
@given(TEXTS, st.integers(1, 6), st.lists(st.sampled_from("abcdefg"), max_size=6))
def test_the_probabilities_of_all_words_after_any_history_sum_to_1(texts, order, history):
    model = train(texts, order)
    endings = [[*history, word] for word in model.words if word not in (START, END)]
    asked = model.log10(endings).reshape(len(endings), -1)
    total = (10 ** asked[:, len(history)]).sum() + 10 ** model.log10([history])[-1]
    assert total == pytest.approx(1, abs=1e-5)


def test_a_text_in_many_blocks_is_counted_as_in_one():
    texts = made_up_texts(400)
    whole = train(texts)
    parts = train(texts, block=100)
    for one, other in zip(whole.levels, parts.levels, strict=True):
        for a, b in zip(one, other, strict=True):
            assert np.array_equal(a, b)


def peak_of_training(texts):
    tracemalloc.start()
    model = train(texts, block=1 << 14)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak, model


def test_training_takes_no_more_memory_than_stated():
    texts = made_up_texts(4000, words=3000)
    peak, model = peak_of_training(texts)
    block = MOST_BYTES_BESIDE * (1 << 14) / (1 << 19)
    assert peak < MOST_BYTES_A_NGRAM * len(model.levels[-1].keys) + block
    repeated, _ = peak_of_training(text for _ in range(4) for text in texts)
    assert repeated < 1.2 * peak


def test_there_must_be_text():
    with pytest.raises(ConfigError, match="no text"):
        train([])


def test_marks_in_the_text_are_no_words():
    assert train([["a", START, "b", UNKNOWN]], 2).words == train([["a", "b"]], 2).words


def test_words_that_the_model_does_not_know_are_scored_as_unknown():
    model = train([["a", "b", "c"]] * 3 + [["b", "a"]])
    assert model.log10([["x", "y"]]) == pytest.approx(model.log10([[UNKNOWN, UNKNOWN]]))
    assert model.log10([]).shape == (0,)
    assert model.perplexity([]) == math.inf
    assert model.perplexity([["x", "y"]]) > model.perplexity([["b", "a"]]) > 1


# A pruned model: "a b c" is listed without "b c", and "c a b" without its history "c a".
PRUNED = """made by hand

\\data\\
ngram 1=5
ngram 2=2
ngram 3=2

\\1-grams:
-99\t<s>\t-0.5
-1.0\t</s>
-0.6\ta\t-0.4
-0.7\tb\t-0.3
-0.8\tc\t-0.2

\\2-grams:
-0.2\ta b\t-0.1
-0.3\t<s> a

\\3-grams:
-0.05\ta b c
-0.06\tc a b

\\end\\
"""


def test_a_pruned_model_is_read_as_its_file_says(tmp_path):
    path = tmp_path / "pruned.arpa"
    path.write_text(PRUNED, "utf-8")
    model = read_arpa(path)
    assert model.log10([["a", "b", "c"]]) == pytest.approx([-0.3, -0.2, -0.05, -0.2 - 1.0])
    assert model.log10([["c", "a", "b"]]) == pytest.approx([-0.5 - 0.8, -0.2 - 0.6, -0.06, -0.1 - 0.3 - 1.0])
    assert model.log10([["b", "c", "x"]]) == pytest.approx([-0.5 - 0.7, -0.3 - 0.8, -0.2 - 100, -1.0])


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("\\data\\", "data", 23, "not an ARPA file"),
        ("ngram 2=2", "ngram 2", 5, "expected `ngram 2=COUNT`"),
        ("ngram 2=2", "ngram 3=2", 5, "expected `ngram 2=COUNT`"),
        ("\\2-grams:", "\\3-grams:", 15, "expected"),
        ("-0.2\ta b\t-0.1", "-0.2\ta", 16, "2 words"),
        ("-0.2\ta b\t-0.1", "-0.2\ta b c d e", 16, "2 words"),
        ("-0.2\ta b\t-0.1", "high\ta b\t-0.1", 16, "expected log10"),
        ("-0.2\ta b\t-0.1", "0.2\ta b\t-0.1", 16, "expected log10"),
        ("-0.2\ta b\t-0.1", "-0.2\ta b\tnan", 16, "expected log10"),
        ("-0.2\ta b\t-0.1", "-0.2\ta d\t-0.1", 16, "'d' is not among the 1-grams"),
        ("-0.3\t<s> a\n", "", 18, "announces 2 2-grams, but 1 are listed"),
        ("-0.3\t<s> a", "-0.3\ta b", 17, "second time"),
        ("\\end\\\n", "", 21, "cut off"),
        ("ngram 3=2\n", "", 18, "expected"),
        ("ngram 3=2\n", "ngram 3=2\nngram 4=1\n", 24, "fewer are listed"),
    ],
)
def test_a_malformed_arpa_file_is_refused_with_its_line(tmp_path, old, new, line, message):
    assert PRUNED.count(old) == 1
    path = tmp_path / "bad.arpa"
    path.write_text(PRUNED.replace(old, new), "utf-8")
    with pytest.raises(ConfigError) as caught:
        read_arpa(path)
    assert f"bad.arpa, line {line}: " in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(PRUNED.encode(), mtime=0)[:-30], "damaged or cut off"),
        (PRUNED.encode().replace(b"<s> a", b"<s> \xff"), "line 17: not UTF-8"),
        (b"", "not an ARPA file"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path, content, message):
    path = tmp_path / "bad.arpa.gz"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        read_arpa(path)


def test_a_missing_file_is_named():
    with pytest.raises(ConfigError, match=r"nowhere\.arpa cannot be read"):
        read_arpa(Path("nowhere.arpa"))


def test_sequences_are_sentences_of_five_words_without_numbers_and_punctuation():
    text = "In 1999, the OLD cat slept well! Then she left. (It was 10.5 degrees “outside the old house.”) Why?"
    assert sequences(text) == [
        ["in", "the", "old", "cat", "slept", "well"],
        ["it", "was", "degrees", "outside", "the", "old", "house"],
    ]
    assert sequences("我们今天去学校。他们不去。") == [["我们", "们今", "今天", "天去", "去学", "学校"]]
