"""Transformers for URLs with a real model: made here, fine-tuned here, loaded from where it was saved."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from neural.tiny_xlm import LONGEST, save_base
from table_site import page

from bitrawl.errors import ConfigError
from bitrawl.model import Language, SiteKnowledge
from bitrawl.protocols import StrategyInputs
from bitrawl.strategies import Strategy, strategy
from bitrawl.url import Url
from bitrawl.urls import load_pair_transformer
from bitrawl.urls.transformers import load_classifier, load_language_transformer, url_text
from lab.train.url_transformers import Epoch, Settings, _classifier, _layers, train_languages, train_pairs

WORDS = {
    "en": ["about", "news", "contact", "history", "school", "garden", "winter", "house"],
    "fr": ["propos", "actualites", "contact", "histoire", "ecole", "jardin", "hiver", "maison"],
    "de": ["ueber", "nachrichten", "kontakt", "geschichte", "schule", "garten", "winter", "haus"],
}
# The papers' but for what a model of so few numbers needs: a higher rate and more warm-up, smaller batches, an end.
QUICK = Settings(rate=3e-3, batch=16, warm_up=3.0, epochs=15, growth=150)


def address(rng: random.Random, site: int, language: str) -> str:
    return f"http://site{site}.test/{language}/{'-'.join(rng.choices(WORDS[language], k=2))}"


class Trained(NamedTuple):
    folder: str
    history: list[Epoch]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Threads that wait for each other over so few numbers cost twenty times what they save on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    words = [word for some in WORDS.values() for word in some]
    texts = [url_text(f"http://site{n}.test/{'/'.join([*WORDS, *words])}_?x=y-") for n in range(40)]
    return save_base(tmp_path_factory.mktemp("base"), [*texts, "- / . : = ?"])


@pytest.fixture(scope="module")
def languages(base: str, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    folder = tmp_path_factory.mktemp("languages")
    rng = random.Random(1)
    lines = [f"{address(rng, site, code)}\t{code}" for site in range(40) for code in [*WORDS, *WORDS]]
    (folder / "data.tsv").write_text("\n".join(["url\tlanguage", *lines]))
    return Trained(str(folder / "model"), train_languages(folder / "data.tsv", folder / "model", base, QUICK))


@pytest.fixture(scope="module")
def pairs(base: str, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Parallel is what has a French side, little as that is: two layers of 32 learn it from 160 lines."""
    folder = tmp_path_factory.mktemp("pairs")
    rng = random.Random(2)
    lines = []
    for site in range(40):
        en, fr, de, other = (address(rng, site, code) for code in ("en", "fr", "de", "en"))
        lines += [f"{en}\t{fr}\t1", f"{fr}\t{de}\t1", f"{en}\t{de}\t0", f"{en}\t{other}\t0"]
    (folder / "data.tsv").write_text("\n".join(lines))
    return Trained(str(folder / "model"), train_pairs(folder / "data.tsv", folder / "model", base, QUICK))


def test_fine_tuning_learns_the_languages_of_sites_that_it_has_not_seen(languages: Trained):
    assert languages.history[-1].loss < languages.history[0].loss / 2
    assert max(epoch.macro_f1 for epoch in languages.history) > 0.95
    model = load_language_transformer(languages.folder)
    assert model.languages == ("de", "en", "fr", "und")
    rng = random.Random(3)
    asked = [(address(rng, 99, code), code) for code in list(WORDS) * 20]
    rows = model.distribution([Url.parse(url) for url, _ in asked])
    assert rows.sum(axis=1) == pytest.approx(1, abs=1e-5)
    right = [model.languages[best] == code for best, (_, code) in zip(rows.argmax(axis=1), asked, strict=True)]
    assert np.mean(right) > 0.95


def test_fine_tuning_learns_pairs_in_either_order(pairs: Trained):
    assert pairs.history[-1].loss < pairs.history[0].loss / 2
    model = load_pair_transformer(pairs.folder)
    rng = random.Random(4)
    two = [(Url.parse(address(rng, 99, "en")), Url.parse(address(rng, 99, "fr"))) for _ in range(20)]
    one = [(Url.parse(address(rng, 99, "en")), Url.parse(address(rng, 99, "en"))) for _ in range(20)]
    found = model.parallel([*two, *one])
    assert np.mean((found > 0.5) == ([True] * 20 + [False] * 20)) > 0.9
    assert np.array_equal(found, load_pair_transformer(pairs.folder).parallel([(b, a) for a, b in [*two, *one]]))


def test_the_best_epoch_is_kept_and_patience_ends_the_training(base: str, tmp_path: Path):
    rng = random.Random(5)
    lines = [f"{address(rng, site, code)}\t{code}" for site in range(10) for code in ("en", "fr")]
    (tmp_path / "data.tsv").write_text("\n".join(lines))
    # Nothing is learned at a rate of nothing.
    settings = Settings(rate=0.0, patience=2)
    history = train_languages(tmp_path / "data.tsv", tmp_path / "model", base, settings)
    assert len(history) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.tsv", "model"]
    with pytest.raises(ConfigError, match="there already"):
        train_languages(tmp_path / "data.tsv", tmp_path / "model", base, settings)


def test_negatives_are_made_where_there_are_none(base: str, tmp_path: Path):
    rng = random.Random(6)
    lines = [f"{address(rng, site, 'en')}\t{address(rng, site, 'fr')}" for site in range(20) for _ in range(3)]
    (tmp_path / "data.tsv").write_text("\n".join(lines))
    history = train_pairs(tmp_path / "data.tsv", tmp_path / "model", base, QUICK._replace(epochs=2))
    # All parallel would be a macro F1 of 1 at once.
    assert 0 < history[0].macro_f1 < 1


def test_only_the_top_layer_begins_anew(base: str):
    renewed, kept = (_classifier(base, ["a", "b"], Settings(renewed=number)).model for number in (1, 0))
    same = [
        all(np.array_equal(a.detach(), b.detach()) for a, b in zip(one.parameters(), other.parameters(), strict=True))
        for one, other in zip(_layers(renewed), _layers(kept), strict=True)
    ]
    assert same == [True, False]


@pytest.mark.parametrize("batch", [1, 7, 64])
def test_a_batch_answers_as_one_by_one(languages: Trained, batch: int):
    rng = random.Random(7)
    urls = [Url.parse(address(rng, site, code) + "/x" * site) for site in range(9) for code in WORDS]
    whole = load_language_transformer(languages.folder, batch=batch).distribution(urls)
    model = load_language_transformer(languages.folder)
    single = np.concatenate([model.distribution([url]) for url in urls])
    assert whole == pytest.approx(single, abs=1e-5)


def test_two_urls_have_one_separator_between_and_a_long_one_leaves_room_for_the_other(pairs: Trained):
    classifier = load_classifier(pairs.folder)
    begin, end = classifier.tokenizer.cls_token_id, classifier.tokenizer.sep_token_id
    short, long = classifier.tokens([("en / news", "fr"), ("en " * 300, "fr / jardin")])
    assert [short[0], short.count(end), len(short)] == [begin, 2, 7]
    assert short[4] == short[-1] == end
    assert len(long) <= LONGEST
    assert long[-4:-1] == classifier.tokenizer("fr / jardin", add_special_tokens=False)["input_ids"]
    assert np.isfinite(classifier.logits([("en " * 300, "fr " * 300), ("", "")])).all()


def test_what_was_asked_before_is_not_computed_again(languages: Trained, monkeypatch: pytest.MonkeyPatch):
    model = load_language_transformer(languages.folder)
    urls = [Url.parse(f"http://site1.test/en/{word}") for word in WORDS["en"]]
    first = model.distribution(urls)
    monkeypatch.setattr(model._classifier, "outputs", None)
    assert np.array_equal(model.distribution(urls[::-1]), first[::-1])


def test_a_base_model_is_refused_as_a_classifier(base: str):
    with pytest.raises(ConfigError, match="not trained to classify"):
        load_language_transformer(base)


def test_a_model_of_pairs_is_refused_as_one_of_languages_and_the_other_way_round(languages: Trained, pairs: Trained):
    with pytest.raises(ConfigError, match="labels are parallel"):
        load_language_transformer(pairs.folder)
    with pytest.raises(ConfigError, match="3 labels"):
        load_pair_transformer(languages.folder)


@pytest.mark.parametrize("content", [None, "{}", "{"])
def test_a_folder_without_a_model_is_a_fault_that_names_the_fix(tmp_path: Path, content: str | None):
    folder = tmp_path / "model"
    if content is not None:
        folder.mkdir()
        (folder / "config.json").write_text(content)
    with pytest.raises(ConfigError, match="Transducens/xlm-roberta-base-url2lang"):
        load_language_transformer(str(folder))
    lines = [f"http://{site}.test/\t{code}" for site in "ab" for code in ("en", "fr")]
    (tmp_path / "data.tsv").write_text("\n".join(lines))
    with pytest.raises(ConfigError, match="xlm-roberta-base, which is downloaded"):
        train_languages(tmp_path / "data.tsv", tmp_path / "out", str(folder))


def test_a_strategy_asks_the_models_that_are_named(languages: Trained, pairs: Trained):
    wanted = [Language("en"), Language("fr")]
    named = {"url_language_model": languages.folder, "url_pair_model": pairs.folder}
    scorer = strategy(Strategy.URL_MODELS, StrategyInputs(wanted, **named))
    rng = random.Random(8)
    found_on = page(address(rng, 99, "en"), "en", [address(rng, 99, code) for code in ("fr", "fr", "de", "en")])
    urls = [link.url for link in found_on.links]
    model = load_language_transformer(languages.folder)
    french = model.distribution(urls)[:, model.languages.index("fr")]
    parallel = load_pair_transformer(pairs.folder).parallel([(found_on.url, url) for url in urls])
    assert scorer.score(found_on.links, found_on, SiteKnowledge("site99.test")) == pytest.approx(french * parallel)


def test_the_default_strategy_takes_a_model_of_languages(languages: Trained):
    scorer = strategy(
        Strategy.ADAPTIVE, StrategyInputs([Language("en"), Language("fr")], url_language_model=languages.folder)
    )
    rng = random.Random(9)
    found_on = page(address(rng, 99, "en"), "en", [address(rng, 99, code) for code in ("fr", "de")])
    french, german = scorer.score(found_on.links, found_on, SiteKnowledge("site99.test"))
    assert french > german
