import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitrawl.model import Language
from bitrawl.text.words import (
    _ELABORATE,
    _LAST_CODE_POINT,
    _PLAIN,
    _REMEMBERED,
    StemsOfWords,
    _pattern,
    _unspaced,
    is_elaborate,
    is_unspaced,
    plain_words,
    words,
    written_words,
)


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("The Gardens, the garden's WALL", "en", ["the", "garden", "the", "garden", "s", "wall"]),
        ("l'homme d’État", "fr", ["l", "homm", "d", "état"]),
        ("Straße STRASSE", "de", ["strass", "strass"]),
        ("北墙上", "zh", ["北墙", "墙上"]),
        ("他", "zh", ["他"]),
        ("我有iPhone", "zh", ["我有", "iphon"]),
        ("東京へ", "ja", ["東京", "京へ"]),
        ("학교에서 학교를", "ko", ["학교", "학교"]),
        ("something somebody", "tlh", ["somet", "someb"]),
        ("", "en", []),
        ("…!?", "en", []),
    ],
)
def test_words_of_any_script_are_found_and_cut_to_their_stems(text, language, expected):
    assert words(text, Language(language)) == expected


@pytest.mark.parametrize("language", ["hi", "th", "ar", "he", "my", "ta", "am"])
def test_a_word_is_not_torn_at_its_vowel_signs(language):
    text = {
        "hi": "दीवार",
        "th": "ฉันไป",
        "ar": "تُرفع",
        "he": "שָׁלוֹם",
        "my": "သွားသည်",
        "ta": "தமிழ்",
        "am": "ሰላም",
    }[language]
    tokens = words(text, Language(language))
    assert len(tokens) == (len(text) - 1 if language in ("th", "my") else 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,234,567.50", ["1234567.50"]),
        ("1.234.567,50", ["1234567.50"]),
        ("1 234 567", ["1234567"]),
        ("1\u202f234", ["1234"]),
        ("3,5", ["3.5"]),
        ("12.5.1957", ["12", "5", "1957"]),
        ("१२३", ["123"]),
        ("٣٫٥", ["3", "5"]),
        ("1957", ["1957"]),
        ("２０２４", ["2024"]),
    ],
)
def test_a_number_has_one_form_however_it_is_written(text, expected):
    assert words(text, Language("en")) == expected


def test_a_region_or_a_script_does_not_change_the_stemmer():
    assert words("gardens", Language("en-GB")) == words("gardens", Language("en"))
    assert words("hagene", Language("nb")) == words("hagene", Language("no"))


def test_the_plain_pattern_reads_no_text_that_has_marks_or_a_script_without_spaces():
    elaborate = [chr(code) for code in range(0x110000) if _unspaced().match(chr(code))]
    elaborate += [chr(code) for code in range(_LAST_CODE_POINT) if unicodedata.category(chr(code))[0] == "M"]
    assert all(_ELABORATE.match(character) for character in elaborate)


@given(st.text(st.characters(max_codepoint=0x3FFFF, exclude_categories=["Cs"])) | st.text("aéßж1.,'_ -한ʼ"))
def test_the_plain_pattern_finds_what_the_elaborate_one_finds(text: str):
    if not _ELABORATE.search(text):
        assert _PLAIN.findall(text) == _pattern().findall(text)


def test_what_is_remembered_of_a_language_is_bounded():
    stems = StemsOfWords(Language("en"))
    for number in range(_REMEMBERED + 10):
        stems[f"w{number}"]
    assert len(stems) <= _REMEMBERED
    assert stems["a" * 1_000_000]
    assert not any(len(word) > 100 for word in stems)


@given(
    st.lists(st.sampled_from(["Straße 1 234", "北墙上 3.5", "स्थिति", "e\u0301t\u00e9", "\u0301 x", "", "12 345"])).map(
        "\n".join
    )
)
def test_lines_are_read_as_they_are_in_one_text(text: str):
    assert written_words(text) == _pattern().findall(unicodedata.normalize("NFKC", text).casefold())


def test_a_text_that_is_not_elaborate_does_not_become_so():
    plain = (chr(code) for code in range(0x110000) if not is_elaborate(chr(code)) and not 0xD800 <= code < 0xE000)
    assert not any(is_unspaced(piece) for text in plain for word in written_words(text) for piece in word)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Gardens, since 1999", ["the", "gardens", "since"]),
        ("Straße 12", ["strasse"]),
        ("Вечер – «ёж» ведёт 3-й", ["вечер", "ёж", "ведёт", "й"]),
        ("दीवार 5 €", ["दीवार"]),
        ("x\u0327y i\u0307", ["x\u0327y", "i\u0307"]),
        ("北墙上 5 个 iPhones", ["北墙", "墙上", "个", "iphones"]),
    ],
)
def test_plain_words_are_not_stemmed_and_no_numbers(text, expected):
    assert plain_words(text) == expected
