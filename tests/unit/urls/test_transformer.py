"""What is ours of the transformers for URLs, without torch: tests/neural runs a real one."""

import sys

import numpy as np
import pytest

from bitrawl import config
from bitrawl.errors import ConfigError
from bitrawl.model import Language
from bitrawl.protocols import StrategyInputs
from bitrawl.strategies import Strategy, strategy
from bitrawl.url import Url
from bitrawl.urls import load_pair_transformer
from bitrawl.urls.transformers import (
    TransformerUrlLanguageModel,
    TransformerUrlPairModel,
    batches,
    load_language_transformer,
    url_text,
)


class FakeClassifier:
    """Gives each text the logits of its first word, and remembers what it was asked."""

    name = "fake"

    def __init__(self, labels, logits):
        self.labels = tuple(labels)
        self._logits = logits
        self.asked = []

    def logits(self, texts):
        self.asked += texts
        return np.array([self._logits.get(text[0].split()[0], [0.0] * len(self.labels)) for text in texts], np.float32)


def urls(*hosts):
    return [Url.parse(f"http://{host}/") for host in hosts]


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("https://es.wikipedia.org/wiki/Halo_3", "es . wikipedia . org / wiki / Halo _ 3"),
        ("http://example.org/", "example . org"),
        ("http://example.org/a//b/?q=x%20y&l=fr", "example . org / a // b /? q = x y & l = fr"),
        ("http://example.org/%D7%A9%D7%9C", "example . org / של"),
        ("http://example.org/%FF", "example . org /\\ xff"),
        ("http://example.org/%3C%2Fs%3E[SEP]", "example . org /</ s >[ SEP ]"),
        ("http://example.org/\ud800", "example . org /?"),
    ],
)
def test_a_url_is_read_as_the_published_models_read_it(url, text):
    assert url_text(url) == text


def test_labels_are_languages_in_any_spelling_and_the_rest_is_und():
    labels = ["unk", "eng", "French", "cmn", "zho", "LABEL_5"]
    model = TransformerUrlLanguageModel(FakeClassifier(labels, {"x": [9.0, 1.0, 1.0, 1.0, 1.0, 9.0]}))
    assert model.languages == ("en", "fr", "zh", "und")
    row = model.distribution(urls("x.test"))[0]
    assert row.sum() == pytest.approx(1)
    assert row[3] > 0.99
    assert row[2] == pytest.approx(2 * row[0])


def test_a_model_without_languages_is_refused():
    with pytest.raises(ConfigError, match="its labels are LABEL_0, LABEL_1"):
        TransformerUrlLanguageModel(FakeClassifier(["LABEL_0", "LABEL_1"], {}))


@pytest.mark.parametrize(
    ("labels", "logits", "chance"),
    [
        (["parallel"], [2.0], 0.881),
        (["LABEL_0"], [2.0], 0.881),
        (["negative", "positive"], [0.0, 2.0], 0.881),
        (["LABEL_0", "LABEL_1"], [0.0, 2.0], 0.881),
        (["parallel", "other"], [2.0, 0.0], 0.881),
    ],
)
def test_the_probability_is_that_of_the_parallel_class_and_the_mean_of_both_orders(labels, logits, chance):
    model = TransformerUrlPairModel(FakeClassifier(labels, {"a": logits}))
    a, b = urls("a.test", "b.test")
    found = model.parallel([(a, b), (b, a)])
    assert found.dtype == np.float32
    assert found.tolist() == pytest.approx([(chance + 0.5) / 2] * 2, abs=1e-3)


def test_a_model_of_many_classes_is_none_of_pairs():
    with pytest.raises(ConfigError, match="3 labels"):
        TransformerUrlPairModel(FakeClassifier("abc", {}))


def test_a_url_is_asked_about_once_until_the_memory_is_full():
    classifier = FakeClassifier(["en", "fr"], {"a": [3.0, 0.0]})
    model = TransformerUrlLanguageModel(classifier, room=2)
    for hosts in (["a", "b", "a"], ["a", "c"], ["a"], ["b"]):
        model.distribution(urls(*hosts))
    assert [text for (text,) in classifier.asked] == ["a", "b", "a", "c", "b"]


def test_a_pair_is_asked_about_once_in_both_orders():
    classifier = FakeClassifier(["parallel"], {})
    model = TransformerUrlPairModel(classifier)
    a, b = urls("a", "b")
    model.parallel([(a, b)])
    model.parallel([(b, a), (a, b)])
    assert classifier.asked == [("a", "b"), ("b", "a")]


def test_no_urls_give_no_rows():
    assert TransformerUrlLanguageModel(FakeClassifier(["en"], {})).distribution([]).shape == (0, 2)
    assert TransformerUrlPairModel(FakeClassifier(["parallel"], {})).parallel([]).shape == (0,)


def test_batches_go_by_length_and_miss_none():
    tokens = [[0] * length for length in (5, 1, 4, 2, 3)]
    assert list(batches(tokens, 2)) == [[1, 3], [4, 2], [0]]


@pytest.mark.parametrize("load", [load_language_transformer, load_pair_transformer])
@pytest.mark.parametrize("missing", ["torch", "transformers"])
def test_without_the_extra_the_error_names_it(monkeypatch, load, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ConfigError, match=r"bitrawl\[neural\]"):
        load("any")


@pytest.mark.parametrize(
    ("name", "named"),
    [
        (Strategy.BREADTH_FIRST, {"url_language_model": "any"}),
        (Strategy.URL_PATTERNS, {"url_pair_model": "any"}),
        (Strategy.ADAPTIVE, {"url_pair_model": "any"}),
    ],
)
def test_a_model_that_the_strategy_never_asks_is_refused(name, named):
    with pytest.raises(ConfigError, match=f"the strategy {name} does not use url_"):
        strategy(name, StrategyInputs([Language("en"), Language("fr")], **named))


def test_the_job_keeps_the_whole_path_of_a_model_and_the_name_of_a_public_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    described = {"langs": ["en", "fr"], "seeds": ["http://x.test/"], "url_language_model": "model"}
    job = config.resolve(described | {"url_pair_model": "some/model"})
    assert (job.url_language_model, job.url_pair_model) == (str(tmp_path / "model"), "some/model")
