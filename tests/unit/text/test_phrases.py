"""Words and phrases counted in arrays."""

import numpy as np
import pytest

from bitrawl.model import Language
from bitrawl.text.frequencies import Phrases, Texts, dunning

EN, ZH = Language("en"), Language("zh")


def named(phrases: Phrases) -> dict[str, int]:
    return {" ".join(phrases.units_of(number)): number for number in range(len(phrases))}


def test_phrases_do_not_cross_punctuation_or_texts():
    phrases = Phrases(Texts(EN, ["acid rain. rain acid", "acid rain", "rain, acid"]))
    found = named(phrases)
    assert phrases.count[found["acid rain"]] == 2
    assert "rain acid" not in found  # once in a text; the others are parted
    assert phrases.words == 8


def test_a_phrase_is_made_of_its_parts():
    phrases = Phrases(Texts(EN, ["layer mask mode"] * 3))
    whole = named(phrases)["layer mask mode"]
    assert [" ".join(phrases.units_of(part)) for part in phrases.parts_of(whole, 2)] == ["layer mask", "mask mode"]
    assert len(phrases.all_parts(whole)) == 6
    assert phrases.stems[phrases.first_word[whole]] == "layer"
    assert phrases.stems[phrases.last_word[whole]] == "mode"


def test_forms_are_the_usual_ones_with_what_stands_between_words():
    texts = Texts(EN, ["Acid-rain falls", "acid rain", "acid rains", "acid rain"])
    phrases = Phrases(texts)
    number = named(phrases)["acid rain"]
    assert phrases.forms(phrases.numbered({number})) == {number: "acid rain"}


def test_what_a_hyphen_ties_to_another_word_is_a_part():
    phrases = Phrases(Texts(EN, ["an x-ray machine", "the x-ray", "x is a ray"]))
    tied = phrases.tied()
    found = named(phrases)
    assert tied[found["ray"]] == pytest.approx(2 / 3)
    assert tied[found["x ray"]] == 0


def test_what_touches_another_word_is_a_part():
    texts = ["Debian GNU/Linux", "see example.org", "Debian GNU/Linux", "an IPv4 address, and IPv6", "Debian or GNU."]
    phrases = Phrases(Texts(EN, texts))
    tied, found = phrases.tied(), named(phrases)
    assert tied[found["gnu"]] == tied[found["debian gnu"]] * 2 / 3 == pytest.approx(2 / 3)
    assert tied[found["ipv"]] == tied[found["org"]] == 1
    assert tied[found["debian"]] == tied[found["address"]] == 0
    assert Phrases(Texts(ZH, ["插件API", "插件API"])).tied().max() == 0


def test_texts_of_a_phrase_are_counted_once():
    phrases = Phrases(Texts(EN, ["rain, rain, rain", "snow", "rain"]))
    wanted = phrases.numbered({named(phrases)["rain"]})
    assert phrases.in_texts(wanted)[0].tolist() == [0, 2]
    assert phrases.in_texts(wanted, np.array([2]))[0].tolist() == [2]
    assert phrases.spread(wanted).max() == 2


def test_characters_of_a_script_without_spaces_are_units():
    phrases = Phrases(Texts(ZH, ["插件配置", "配置插件", "插件配置 API"]))
    found = named(phrases)
    assert phrases.count[found["插 件"]] == 3
    assert phrases.is_run[found["插 件 配 置"]]
    assert phrases.forms(phrases.numbered({found["插 件"]})) == {found["插 件"]: "插件"}


@pytest.mark.parametrize("texts", [[], [""], ["...", "!"], ["one"]])
def test_nearly_nothing_has_no_phrases(texts: list[str]):
    phrases = Phrases(Texts(EN, texts))
    assert phrases.words == len([text for text in texts if text.isalpha()])
    assert not len(phrases.in_texts(np.zeros(len(phrases), np.bool_))[0])
    assert set(phrases.associations()) <= {np.inf}


def test_what_meets_less_than_by_chance_is_not_associated():
    assert dunning(np.array([1, 50]), np.array([50, 50]), np.array([50, 50]), 100).tolist()[0] == 0.0
    assert dunning(np.array([50]), np.array([50]), np.array([50]), 100)[0] == pytest.approx(138.6, abs=0.1)
