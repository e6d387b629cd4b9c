"""Which links lead to a translation, by what they say."""

import pytest

from bitrawl.discover.suggestions import LinkPredictor, TokenLanguages, features
from bitrawl.model import Language, Link, LinkKind, Page
from bitrawl.url import Url

HOME = Url.parse("https://a.test/")
EN, FR, PL, JA, EU = map(Language, ("en", "fr", "pl", "ja", "eu"))


def link(path: str, **said: str) -> Link:
    return Link(Url.parse(path, base=HOME), LinkKind.PAGE, HOME, **said)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def predictor() -> LinkPredictor:
    return LinkPredictor.load()


@pytest.mark.parametrize(
    ("own", "wanted", "to"),
    [
        (EN, FR, link("/fr/", anchor="Français")),
        (EN, PL, link("/pl/", anchor="Polski")),
        (FR, EN, link("/en/index.html", anchor="English")),
        (EN, EU, link("/eu/", anchor="Euskara")),
        (EN, JA, link("/ja/", anchor="日本語")),
    ],
)
def test_a_switcher_is_likelier_than_any_other_link(
    predictor: LinkPredictor, own: Language, wanted: Language, to: Link
):
    others = [link("/contact/", anchor="Contact"), link("/2020/", anchor="2020"), link("/it/", anchor="IT")]
    page = Page(HOME, own)
    best, *rest = predictor.likelihoods([to, *others], page, wanted)
    assert best > 0.4
    assert max(rest) < 0.2


def test_no_link_no_likelihood(predictor: LinkPredictor):
    assert predictor.likelihoods([], Page(HOME, EN), FR) == []


def test_the_features_do_not_depend_on_which_languages_are_asked_for():
    a = set(features(link("/fr/", anchor="Français"), TokenLanguages(EN, FR)))
    b = set(features(link("/pl/", anchor="Polski"), TokenLanguages(EN, PL)))
    assert a == b
    assert any("wanted" in feature for feature in a)


def test_a_short_word_of_a_sentence_is_no_code():
    said = set(features(link("/x", anchor="la ville de Paris"), TokenLanguages(EN, Language("de"))))
    assert "anchor de" in said
    assert not any(feature.startswith("anchor says") for feature in said)


def test_the_five_contexts_are_kept_apart():
    said = " ".join(
        features(link("/x", image_alt="Français", image_src="/img/fr.png", context="Français"), TokenLanguages(EN, FR))
    )
    assert all(f"{context} wanted" in said for context in ("alt", "src", "around"))
    assert "anchor wanted" not in said
