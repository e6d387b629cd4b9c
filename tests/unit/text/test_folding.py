import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitrawl.model import Language
from bitrawl.text.search_words import folded, placed_words, search_words

EN, AR = Language("en"), Language("ar")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Été", "ete"),
        ("E\u0301te\u0301", "été"),
        ("STRASSE", "Straße"),
        ("مُدَرِّس", "مدرس"),
        ("أحمد", "احمد"),
        ("مـــدرس", "مدرس"),
        ("שָׁלוֹם", "שלום"),
        ("ﬁn", "fin"),
        ("Œuvre", "oeuvre"),
        ("Ærø", "aero"),
        ("Łódź", "lodz"),
        ("ｶﾞｲﾄﾞ", "ガイド"),
        ("ភាសា\u200bខ្មែរ", "ភាសាខ្មែរ"),
        ("Donau\u00addampf", "donaudampf"),
        ("Ελλάδα", "ελλαδα"),
    ],
)
def test_what_a_reader_calls_the_same_is_folded_alike(one: str, other: str):
    assert folded(one) == folded(other)


@pytest.mark.parametrize(("one", "other"), [("हिन्दी", "होन्दा"), ("が", "か"), ("กา", "ก่า"), ("각", "가"), ("मेज", "मेज़")])
def test_signs_that_make_another_word_stay(one: str, other: str):
    assert folded(one) != folded(other)


@given(st.text(st.characters(), max_size=50))
def test_any_text_is_folded_to_one_that_sqlite_takes(text: str):
    made = folded(text)
    assert "\0" not in made
    made.encode()


@given(st.text(st.characters(), max_size=50), st.sampled_from([EN, AR]))
def test_words_have_places_inside_the_text(text: str, language: Language):
    placed = placed_words(text, language)
    assert [word.word for word in placed] == search_words(text, language)
    assert all(0 <= word.start < word.end <= len(text) for word in placed)


@pytest.mark.parametrize(
    ("text", "words", "written"),
    [
        ("Un Été à", "un ete a", ["Un", "Été", "à"]),
        ("An e\u0301te\u0301", "an ete", ["An", "e\u0301te\u0301"]),
        ("Straße, co-op_2", "strasse co op 2", ["Straße", "co", "op", "2"]),
        ("Linux™ Donau\u00addampf", "linux donaudampf", ["Linux", "Donau\u00addampf"]),
        ("使用 Linux内核", "使用 用 linux 内核 核", ["使用", "用", "Linux", "内核", "核"]),
        ("ｶﾞｲﾄﾞ", "ガイ イド ド", ["ｶﾞｲ", "ｲﾄﾞ", "ﾄﾞ"]),
        ("北京 大", "北京 京大 大", ["北京", "京 大", "大"]),
        ("nothing!?", "nothing", ["nothing"]),
    ],
)
def test_words_are_found_where_they_are_written(text: str, words: str, written: list[str]):
    assert search_words(text, EN) == words.split()
    assert [text[word.start : word.end] for word in placed_words(text, EN)] == written


@pytest.mark.parametrize("word", ["المدرسة", "والمدرسة", "بالمدرسة", "للمدرسة", "وبالمدرسة"])
def test_an_article_that_is_written_with_its_noun_makes_no_difference(word: str):
    assert search_words(word, AR) == search_words("مدرسة", AR)


@pytest.mark.parametrize(("word", "language"), [("ولد", "ar"), ("الله", "ar"), ("gevaar", "nl"), ("membaca", "id")])
def test_a_beginning_that_belongs_to_the_word_stays(word: str, language: str):
    assert search_words(word, Language(language)) == [word]
