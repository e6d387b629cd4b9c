"""Fine-tuning a transformer, as far as it needs none: tests/neural has the rest."""

import numpy as np
import pytest

from bitrawl.errors import ConfigError
from lab.train.url_transformers import Settings, inverse_root, macro_f1, train_languages, train_pairs


def test_the_rate_rises_to_its_height_in_the_warm_up_and_falls_with_the_root():
    assert [inverse_root(step, 4) for step in (0, 1, 3, 15, 63)] == pytest.approx([0.25, 0.5, 1.0, 0.5, 0.25])


def test_macro_f1_gives_each_class_the_same_weight():
    gold = np.array([0, 0, 0, 1])
    assert macro_f1(gold, np.array([0, 0, 0, 0])) == pytest.approx((6 / 7 + 0) / 2)
    assert macro_f1(gold, gold) == 1.0


def test_the_settings_are_the_papers():
    settings = Settings()
    assert (settings.rate, settings.betas, settings.epsilon, settings.decay) == (1e-5, (0.9, 0.999), 1e-8, 0.01)
    assert (settings.warm_up, settings.patience, settings.renewed, settings.growth) == (0.1, 5, 1, 1_000_000)


@pytest.mark.parametrize(
    ("train", "text", "message"),
    [
        (train_languages, "http://a.test/\ten\nhttp://b.test/\ten\n", "1 languages"),
        (train_languages, "http://a.test/\ten\nhttp://a.test/x\tfr\n", "1 sites"),
        (train_languages, "url\tlang\n", "0 languages"),
        (train_pairs, "http://a.test/\thttp://a.test/fr\tmaybe\n", "'maybe' says nothing"),
        (train_pairs, "http://a.test/\n", "fewer than 2 URLs"),
        (train_pairs, "", "0 sites"),
        (train_pairs, None, "cannot be read"),
    ],
)
def test_data_that_cannot_be_learned_from_is_refused_before_anything_is_loaded(tmp_path, train, text, message):
    data = tmp_path / "data.tsv"
    if text is not None:
        data.write_text(text)
    with pytest.raises(ConfigError, match=message):
        train(data, tmp_path / "out", "no/base")
