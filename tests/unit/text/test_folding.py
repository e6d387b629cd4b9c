import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitrawl.text.words import folded, places


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


@given(st.text(st.characters(), max_size=50), st.text(st.characters(), max_size=5))
def test_marks_are_inside_the_text(text: str, phrase: str):
    assert all(0 <= start < end <= len(text) for start, end in places(text, phrase))


@pytest.mark.parametrize(
    ("text", "phrase", "marked"),
    [
        ("Un Été à la mer", "ete", ["Été"]),
        ("An e\u0301te\u0301 here", "été", ["e\u0301te\u0301"]),
        ("Straße und Strasse", "strasse", ["Straße", "Strasse"]),
        ("A port, of course", "port of", ["port, of"]),
        ("support port", "port", ["port"]),
        ("我们的大学大学", "大学", ["大学", "大学"]),
        ("使用Linux内核", "Linux内核", ["Linux内核"]),
        ("nothing", "!?", []),
        ("nothing", "", []),
    ],
)
def test_a_phrase_is_marked_as_it_is_written(text: str, phrase: str, marked: list[str]):
    found = [text[start:end] for start, end in places(text, phrase)]
    assert [one.rstrip("\u0301") for one in found] == [one.rstrip("\u0301") for one in marked]
