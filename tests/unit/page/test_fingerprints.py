import random

import pytest

from bitrawl.model import Paragraph, ParagraphKind
from bitrawl.page.analyser import digest, signature, structure

ENGLISH = "The old harbour wakes before the sun. Boats come in with the tide, and the market opens on the quay. " * 3
CHINESE = "港口在日出之前就醒来了。船随着潮水回来，集市在码头上开张，人们一边喝茶一边谈论天气。" * 3


def prose(seed: int, words: int = 400) -> str:
    rng = random.Random(seed)
    return " ".join("".join(rng.choices("abcdefghijklmnop", k=rng.randint(2, 9))) for _ in range(words))


def distance(a: str, b: str) -> int:
    return (signature(a) ^ signature(b)).bit_count()


def test_structure_has_one_letter_for_each_paragraph_of_the_main_text():
    paragraphs = [
        Paragraph("The harbour", ParagraphKind.TITLE),
        Paragraph("Home | About", boilerplate=True),
        Paragraph(ENGLISH),
        Paragraph("Boats", ParagraphKind.HEADING),
        Paragraph("Nets", ParagraphKind.LISTITEM),
    ]
    assert len(structure(paragraphs)) == 4
    assert len(set(structure(paragraphs))) == 4


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("x" * 100, "x" * 120),
        ("港口在日出之前就醒来了", "The harbour wakes before the sun is up"),
        ("항구는 해가 뜨기 전에 깨어난다", "The harbour is awake before the sun rises"),
    ],
)
def test_structure_does_not_tell_translations_of_about_the_same_length_apart(a, b):
    assert structure([Paragraph(a)]) == structure([Paragraph(b)])


def test_structure_tells_a_line_from_a_long_paragraph():
    assert structure([Paragraph("x" * 20)]) != structure([Paragraph("x" * 400)])


@pytest.mark.parametrize("length", [1, 10**6])
@pytest.mark.parametrize("kind", list(ParagraphKind))
def test_structure_takes_any_length(length, kind):
    assert len(structure([Paragraph("x" * length, kind)])) == 1


def test_digest_is_equal_for_equal_text_only():
    assert digest("a") == digest("a") != digest("b")
    assert digest("") == ""
    assert digest("\ud800")


def test_signature_does_not_change_with_digits_case_and_spaces():
    assert signature("Page 1 of 20, " + ENGLISH) == signature("PAGE 17 of 3,\n " + ENGLISH)
    assert signature("Page 1 of 20, " + ENGLISH) == signature("Page ١٧ of ３, " + ENGLISH)


@pytest.mark.parametrize("text", [prose(1), CHINESE + "猫" * 20])
def test_signature_of_nearly_the_same_text_is_near(text):
    assert distance(text, text[: len(text) // 2] + " news " + text[len(text) // 2 :]) <= 8


def test_signatures_of_different_texts_are_far():
    assert distance(prose(1), prose(2)) > 12
    assert distance(ENGLISH, CHINESE) > 12


@pytest.mark.parametrize("text", ["", "a", "1234567890123", "\ud800" * 20, "\U0001f600" * 50])
def test_signature_takes_any_text(text):
    assert 0 <= signature(text) < 2**64


def test_structure_knows_a_paragraph_with_terms_from_one_without():
    plain, topical = structure([Paragraph("Acid rain")]), structure([Paragraph("Acid rain", terms=("acid rain",))])
    assert plain != topical
    assert len(plain) == len(topical) == 1
    assert structure([Paragraph("Acid rain", ParagraphKind.TITLE, terms=("rain",))]) != topical
