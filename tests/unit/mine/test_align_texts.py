"""Two plain texts in, sentences side by side out, in any script."""

import pytest

from bitrawl.mine.aligned_pages import align_texts
from bitrawl.model import Language

ENGLISH = """\
The library opens at nine. It closes at six. On Mondays it stays closed.
In 1957 the roof was repaired. Did anybody notice? Nobody did.
There are 48 seats in the reading room."""
TEXTS = {
    "fr": """\
La bibliothèque ouvre à neuf heures. Elle ferme à six heures. Le lundi, elle reste fermée.
En 1957, on répara le toit. Quelqu'un l'a-t-il remarqué ? Personne.
Il y a 48 places dans la salle de lecture.""",
    "el": """\
Η βιβλιοθήκη ανοίγει στις εννέα. Κλείνει στις έξι. Τη Δευτέρα μένει κλειστή.
Το 1957 επισκευάστηκε η στέγη. Το πρόσεξε κανείς; Κανείς.
Υπάρχουν 48 θέσεις στο αναγνωστήριο.""",
    "zh": """\
图书馆九点开门。六点关门。星期一不开放。
1957年修理了屋顶。有人注意到吗？没有人。
阅览室有48个座位。""",
    "ar": """\
تفتح المكتبة في التاسعة. وتغلق في السادسة. وتبقى مغلقة يوم الاثنين.
في عام 1957 تم إصلاح السقف. هل لاحظ أحد ذلك؟ لا أحد.
يوجد 48 مقعدًا في قاعة القراءة.""",
}


def found(a, b, language="fr"):
    return align_texts(a, b, (Language("en"), Language(language)))


@pytest.mark.parametrize("language", TEXTS)
def test_sentences_stand_beside_their_translations_in_any_script(language):
    pairs = found(ENGLISH, TEXTS[language], language)
    assert [pair.type for pair in pairs] == ["1:1"] * 7
    assert pairs[0].text_a == "The library opens at nine."
    assert "1957" in pairs[3].text_a
    assert "1957" in pairs[3].text_b
    assert "48" in pairs[6].text_b
    assert all(0 <= pair.score <= 1 for pair in pairs)


@pytest.mark.parametrize("language", TEXTS)
def test_no_sentence_is_lost_or_told_twice(language):
    pairs = found(ENGLISH, TEXTS[language], language)
    bare = ["".join(text.split()) for text in (ENGLISH, TEXTS[language])]
    assert ["".join("".join(side).split()) for side in zip(*(pair[:2] for pair in pairs), strict=True)] == bare


@pytest.mark.parametrize("line_break", ["\r\n", "\r", "\n\n", "\u2028", " \n \t\n"])
def test_any_line_break_ends_a_paragraph(line_break):
    assert found(ENGLISH.replace("\n", line_break), TEXTS["fr"]) == found(ENGLISH, TEXTS["fr"])


def test_an_empty_text_leaves_the_other_alone():
    assert found("", "") == []
    assert found(" \n\n", "\t") == []
    alone = found("One. Two.", "\n")
    assert [(pair.text_a, pair.text_b, pair.type) for pair in alone] == [("One.", "", "1:0"), ("Two.", "", "1:0")]
    assert [pair.type for pair in found("", "Un.")] == ["0:1"]


@pytest.mark.parametrize(("a", "b", "language"), [("Welcome", "Bienvenue", "fr"), ("Welcome", "欢迎", "zh")])
def test_one_word_is_a_sentence(a, b, language):
    assert [(pair.text_a, pair.text_b) for pair in found(a, b, language)] == [(a, b)]


def test_two_sentences_that_became_one_are_joined_as_their_language_does():
    english = "The boats left at dawn in 1957 with 318 sailors, and nobody ever saw any of the 42 captains again."
    chinese = "1957年黎明时分，船只载着318名水手出发了。从此再也没有人见过那42位船长中的任何一位。"
    [pair] = found(english, chinese, "zh")
    assert pair.type == "1:2"
    assert pair.text_b == chinese
    [apart] = found(english, chinese.replace("。从", "。\n从"), "zh")
    assert apart.text_b == chinese
