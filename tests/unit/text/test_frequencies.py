"""General frequencies: common words are common in each language, and a language without a table says nothing."""

import numpy as np
import pytest

from bitrawl.model import Language
from bitrawl.text.frequencies import EQUAL_RATE, UNSEEN_RATE, known, rate
from bitrawl.text.words import words

# A very common word, a word that everybody knows, and a word of a trade.
COMMON_TO_RARE = {
    "en": "the weather photosynthesis",
    "fr": "les voiture photosynthèse",
    "de": "der Wetter Photosynthese",
    "es": "los coche fotosíntesis",
    "ru": "что погода фотосинтез",
    "el": "και αυτοκίνητο φωτοσύνθεση",
    "fi": "on talo fotosynteesi",
    "sr": "је кућа фотосинтеза",
    "hr": "je kuća fotosinteza",
    "nn": "og bil fotosyntese",
    "zh-Hans": "我们 天气 叶绿",
    "ja": "です 天気 葉緑",
}


@pytest.mark.parametrize(("code", "text"), COMMON_TO_RARE.items())
def test_rates_fall_from_common_to_rare_words(code: str, text: str):
    language = Language(code)
    assert known(language)
    first, second, third = (rate(words(word, language), language).max() for word in text.split())
    assert first > 3 * second > 3 * third >= 3 * UNSEEN_RATE


def test_rates_of_english_are_those_that_are_published():
    # word_frequency of wordfreq 3.1.1: "the" 53,700 a million, "coffee" 72.4, "coffees" 1.05
    the, coffee = rate(words("the coffee", Language("en")), Language("en"))
    assert the == pytest.approx(53_700, rel=0.05)
    assert coffee == pytest.approx(73.5, rel=0.06)


def test_a_language_without_a_table_has_equally_rare_stems():
    assert not known(Language("eu"))
    assert set(rate(["eta", "fotosintesia"], Language("eu"))) == {np.float32(EQUAL_RATE)}


def test_a_number_is_as_frequent_as_all_numbers_of_its_length():
    rates = rate(["1957", "3861", "2026"], Language("en"))
    assert len(set(rates)) == 1
    assert rates[0] > 100


def test_no_stems_have_no_rates():
    assert rate([], Language("en")).shape == (0,)
    assert rate([], Language("eu")).shape == (0,)
