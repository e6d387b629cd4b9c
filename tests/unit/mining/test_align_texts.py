"""Two plain texts in, sentences side by side out, in any script."""

from statistics import mean

import pytest

from bitrawl.mining import align_sentences, listed_sentences
from bitrawl.mining.aligned_pages import NOWHERE, align_texts
from bitrawl.mining.judging import Judge
from bitrawl.mining.lexical_aligner import LexicalAligner
from bitrawl.model import Language, Segment, SegmentPair
from bitrawl.text.language import NgramLanguageIdentifier

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


HARBOUR = """\
The harbour office is open from eight to five on weekdays.
Please keep your dog on a lead near the lighthouse.
The ferry to the island leaves every forty minutes.
Children under six travel free when accompanied by an adult.
In winter the northern footpath may be closed because of ice.
Our bakery sells fresh rye bread and three kinds of honey."""
PORT = """\
La capitainerie est ouverte de huit heures à dix-sept heures en semaine.
Veuillez tenir votre chien en laisse à proximité du phare.
Le bac pour l'île part toutes les quarante minutes.
Les enfants de moins de six ans voyagent gratuitement s'ils sont accompagnés d'un adulte.
En hiver, le sentier nord peut être fermé à cause du verglas.
Notre boulangerie vend du pain de seigle frais et trois sortes de miel."""
KITCHEN = """\
Le comité a reporté le vote sur le budget à l'automne prochain.
Faites revenir les oignons avant d'ajouter la farine.
Les satellites de Jupiter ont été observés par Galilée.
Le code source est distribué sous une licence libre.
La chorale répète le mardi dans la salle paroissiale.
Ce modèle de perceuse n'est plus fabriqué."""


def test_a_sentence_without_a_counterpart_has_no_score():
    assert [pair.score for pair in found("One. Two.", "")] == [None, None]
    pairs = found(ENGLISH, TEXTS["fr"].rpartition("\n")[0])
    assert [(pair.text_b, pair.score) for pair in pairs if "48 seats" in pair.text_a] == [("", None)]
    assert all(pair.score is not None for pair in pairs if pair.text_a and pair.text_b)


def test_translations_score_higher_than_texts_that_are_none():
    right = [pair.score for pair in found(HARBOUR, PORT)]
    wrong = [pair.score or 0.0 for pair in found(HARBOUR, KITCHEN)]
    assert min(right) > max(wrong)
    assert mean(right) > mean(wrong) + 0.6


def test_of_one_sentence_the_words_that_ship_tell_which_is_its_translation():
    right, wrong = (
        [pair.score for a, b in zip(HARBOUR.splitlines(), other.splitlines(), strict=True) for pair in found(a, b)]
        for other in (PORT, KITCHEN)
    )
    assert min(right) > 0.95 > max(wrong)


def test_without_words_nothing_is_known_of_one_sentence_but_what_both_share():
    lines = zip(HARBOUR.splitlines(), KITCHEN.splitlines(), strict=True)
    pairs = [align_texts(a, b, (Language("en"), Language("fr")), LexicalAligner()) for a, b in lines]
    assert all(0.3 < pair.score < 0.8 for [pair] in pairs)
    [named] = found("RFC 9309 of 2022 replaces 3 drafts.", "La RFC 9309 de 2022 remplace 3 brouillons.")
    [other] = found("RFC 9309 of 2022 replaces 3 drafts.", "La boulangerie ferme à 18 heures.")
    assert (named.score > 0.9, other.score < 0.3) == (True, True)


def test_the_score_is_the_one_that_a_corpus_has():
    languages, aligner = (Language("en"), Language("fr")), LexicalAligner()
    a, b = (listed_sentences(text.splitlines(), language) for text, language in ((HARBOUR, "en"), (PORT, "fr")))
    [aligned] = align_sentences([(a, b)], languages, aligner)
    pairs = [
        SegmentPair(NOWHERE, NOWHERE, Segment(pair.text_a, -1, n), Segment(pair.text_b, -1, n), bead.score)
        for n, (bead, pair) in enumerate(aligned)
    ]
    judged = Judge(languages, NgramLanguageIdentifier(), aligner.lexicon).judge(pairs)
    assert [pair.score for _, pair in aligned] == [pair.score for pair in judged]
