import pytest

from bitrawl.model import Language
from bitrawl.text.sentences import sentences


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", ["Dr. Smith paid $3.50 for it.", '"Really?" she asked.', "Yes!"]),
        ("de", ["Er kam am 3. Mai 1957 nach Bern.", "Das ist z.B. die Firma von Dr. Müller.", "Warum?"]),
        ("fr", ["M. Dupont est arrivé.", "Il a dit : « Bonjour ! » et partit."]),
        ("hi", ["वह गया।", "क्या हुआ?", "हाँ।"]),
        ("ar", ["ذهب إلى المدرسة.", "هل هذا صحيح؟", "نعم!"]),
        ("ur", ["وہ گیا۔", "کیا؟", "ہاں۔"]),
        ("el", ["Πού πας;", "Δεν ξέρω."]),
        ("hy", ["Նա գնաց։", "Այո։"]),
        ("sw", ["Alikwenda.", "Je, ni kweli?"]),
        ("km", ["សារមន្ទីរបើករាល់ថ្ងៃ។", "កុមារបង់តម្លៃ ផ្លែឈើ។ល។", "ពាក់កណ្តាល។", "គាត់ទៅហើយ៕"]),
        ("bo", ["སློབ་མས་རིན་གོང་ཕྱེད་ཀ་སྤྲོད་དགོས།", "འདི་དེབ་རེད། །", "དེ་ཡང་ཡིན།"]),
        ("my", ["ကျွန်ုပ်တို့၏ စာကြည့်တိုက်သည် စာအုပ်၊ သတင်းစာကို ငှားရမ်းသည်။", "ကျောင်းသစ် ရှိသည်။"]),
        ("sr", ["Град је основан 1957. године у долини.", "Године 1961. град је порастао.", "Крај."]),
        ("sr-Latn", ["Most je obnovljen posle poplave 1802. godine.", "To je sve."]),
        ("cs", ["Přišel 3. května do Prahy.", "Bylo to v roce 1957.", "Pak odešel."]),
    ],
)
def test_sentences_are_told_apart_in_spaced_scripts(language, expected):
    assert sentences(" ".join(expected), Language(language)) == expected


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("zh", ["他走了！", "真的吗？", "是的。"]),
        ("zh-Hant", ["他走了！", "真的嗎？"]),
        ("ja", ["彼は行った。", "「本当？」と聞いた。", "はい！"]),
        ("th", ["วันนี้อากาศดีมาก ฉันไปตลาด เขาไม่มา"]),
    ],
)
def test_sentences_are_told_apart_where_no_space_follows(language, expected):
    assert sentences("".join(expected), Language(language)) == expected


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", ["Running ./easyrsa build-ca makes it.", "Then read README.Debian and go."]),
        ("en", ["#! /bin/bash is the first line."]),
        ("en", ["5.4.4. dpkg's Log File"]),
        ("fr", ["5.4.4. Le journal de dpkg"]),
        ("de", ["IV. Ergebnisse"]),
        ("de", ["A.1. Anhang zum Text.", "Noch einer."]),
        ("fa", ["۳. نتیجه‌گیری"]),
        ("en", ["It was built in 1957.", "12 men did it."]),
        ("en", ["He left.[1]", "She came.[2]", "They met."]),
    ],
)
def test_paths_names_and_numbers_of_headings_are_not_cut(language, expected):
    assert sentences(" ".join(expected), Language(language)) == expected


def test_ascii_marks_end_a_sentence_of_a_script_without_spaces():
    assert sentences("真的吗?是的!好。", Language("zh")) == ["真的吗?", "是的!", "好。"]


def test_a_quotation_mark_that_is_never_closed_swallows_nothing():
    text = "“The wall is old. " + "It was built by hand in a wet year, stone upon stone. " * 12
    assert len(sentences(text, Language("en"))) == 13


def test_lines_are_sentences_of_their_own_and_nothing_is_lost():
    text = "Opening hours\nMonday to Friday. Closed on Sundays\n\n"
    found = sentences(text, Language("en"))
    assert found == ["Opening hours", "Monday to Friday.", "Closed on Sundays"]


@pytest.mark.parametrize("text", ["", " ", "\n\n", "...", "?!"])
def test_an_empty_text_raises_nothing(text):
    assert "".join(sentences(text, Language("en"))) == text.strip()
