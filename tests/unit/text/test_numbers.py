"""Numbers of two texts are compared by value."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitrawl.model import Language
from bitrawl.text.numbers import agreement, values

LANGUAGES = [Language(code) for code in ("en", "fr", "zh", "ar", "el", "ja", "hi", "tlh", "und")]
TEXTS = st.one_of(
    st.text(),
    st.text(st.characters(categories=["Nd", "Nl", "No", "Zs", "Po"])),
    st.text(st.characters(categories=["Cs", "So", "Mn", "Nd"])),
    st.text("0123456789.,' /:-IVXLCMpm一二三十百千万亿〇٣٫"),
)


@pytest.mark.parametrize(
    ("a", "b", "languages"),
    [
        ("May 2, 2024", "2024 年 5 月 2 日", "en-zh"),
        ("3 мая 2018", "2018年5月3日", "ru-ja"),
        ("2018. május 3.", "3 May 2018", "hu-en"),
        ("December 25", "十二月二十五日", "en-zh"),
        ("Scenario 2", "场景二", "en-zh"),
        ("in 1990", "一九九〇年", "en-zh"),
        ("1,5", "1.5", "fr-en"),
        ("3.50 euros", "3,5 euros", "en-fr"),
        ("floor ٣", "3", "ar-en"),
        ("１２３", "123", "ja-en"),
        ("2 files", "deux fichiers", "en-fr"),
        ("22 files", "twenty-two", "fr-en"),
        ("99", "noventa y nueve", "en-es"),
        ("1030", "one thousand and thirty", "it-en"),
        ("the 3rd floor", "troisième étage", "en-fr"),
        ("Chapter IV", "Kapitel 4", "en-de"),
        ("room 101", "Camera o sută unu", "en-ro"),
        ("3 times", "трёх вызовов", "en-ru"),
        ("about 50 workers", "une cinquantaine de collaborateurs", "en-fr"),
        ("over 100 interfaces", "plus d'une centaine", "en-fr"),
        ("145 millions", "o sută patruzeci şi cinci de milioane", "en-ro"),
        ("in the 1980s", "nos anos 80", "en-pt"),
        ("a power of 2", "степень двойки", "en-ru"),
        ("enter it twice [62]", "２回入力 [62]", "en-ja"),
        ("0 active clients", "aucun client actif", "en-fr"),
        ("1,234,567.5", "1 234 567,5", "en-fr"),
        ("1,000", "1.000", "en-de"),
        ("In 2020 300 people", "En 2020, 300", "en-fr"),
        ("on 05/12", "le 12.5", "en-fr"),
        ("1.5 million", "150万", "en-zh"),
        ("2 million people", "2 000 000 personnes", "en-fr"),
        ("at 3 pm", "15 h", "en-fr"),
        ("at 3 pm", "下午3点", "en-zh"),
        ("12 m²", "12 mètres carrés", "en-fr"),
        ("one of them", "l'un d'eux", "en-fr"),
        ("You may go", "Vous pouvez partir", "en-fr"),
        ("in a single partition", "1 つのパーティション", "en-ja"),
        ("I18N support", "Поддержка интернационализации", "en-ru"),
    ],
)
def test_numbers_are_equal_however_they_are_written(a, b, languages):
    first, second = map(Language, languages.split("-"))
    assert agreement(a, b, (first, second)).different == 0
    assert agreement(b, a, (second, first)).different == 0


@pytest.mark.parametrize(
    ("a", "b", "languages"),
    [
        ("v4.0.12", "v4.0.13", "en-fr"),
        ("in 1957", "en 1958", "en-fr"),
        ("Section 7.8", "Abschnitt", "en-de"),
        ("Scenario 2", "场景三", "en-zh"),
        ("May 2", "3 мая", "en-ru"),
        ("1.5 million", "15万", "en-zh"),
    ],
)
def test_other_numbers_are_noticed(a, b, languages):
    first, second = map(Language, languages.split("-"))
    assert agreement(a, b, (first, second)).different > 0
    assert agreement(b, a, (second, first)).different > 0


def test_a_small_number_may_be_missing_but_not_be_replaced():
    assert agreement("with 2 lights", "avec des lampes", (Language("en"), Language("fr"))).different == 0
    assert agreement("with 2 lights", "avec 3 lampes", (Language("en"), Language("fr"))).different == 2
    assert agreement("with 2 lights", "avec trois lampes", (Language("en"), Language("fr"))).different == 1


def test_values_are_a_multiset_with_what_is_written_in_words():
    assert values("May 2, 2024, and again 2", Language("en")) == {"2": 2, "2024": 1, "5": 1}
    assert values("", Language("en")) == {}


@settings(deadline=None)  # the first text of a language reads its table
@given(TEXTS, TEXTS, st.sampled_from(LANGUAGES), st.sampled_from(LANGUAGES))
def test_any_text_can_be_compared(a, b, first, second):
    found = agreement(a, b, (first, second))
    assert found.shared >= 0
    assert found.different >= 0
    assert agreement(a, a, (first, first)).different == 0


@pytest.mark.parametrize("text", ["1" * 1_000_000, "a1" * 500_000, "一" * 1_000_000])
def test_a_million_characters_are_read(text):
    assert agreement(text, text, (Language("en"), Language("zh"))).different == 0
    assert agreement(text, "", (Language("en"), Language("zh"))).different >= 0
