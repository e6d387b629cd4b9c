"""What only one of two texts has, and where it stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitrawl.model import Language
from bitrawl.web.differences import Difference, DifferenceKind, differences

NUMBER, NAME, ENDING, UNPAIRED = DifferenceKind
Marked = list[tuple[DifferenceKind, str]]


def marked(text: str, marks: tuple[Difference, ...]) -> Marked:
    return [(mark.kind, text[mark.start : mark.end]) for mark in marks]


@pytest.mark.parametrize(
    ("a", "b", "languages", "in_a", "in_b"),
    [
        # numbers are compared by value
        ("It costs 1,500 euros in 2024.", "Cela coûte 1 600 euros en 2024.", "en fr", [(NUMBER, "1,500")], [(NUMBER, "1 600")]),
        ("It costs 1,500 euros.", "Cela coûte 1 500 euros.", "en fr", [], []),
        ("On May 2, 2024", "2024 年 5 月 2 日", "en zh", [], []),
        ("Two of the 40 pages", "Deux des pages", "en fr", [(NUMBER, "40")], []),
        ("… and 85 more", "等等", "en zh", [(NUMBER, "85")], []),  # one character that is three when it is compared
        # names
        ("GitHub hosts it.", "GitLab l'héberge.", "en fr", [(NAME, "GitHub")], [(NAME, "GitLab")]),
        ("The IPv6 address", "L'adresse IPv6", "en fr", [], []),
        ("An X.509 certificate", "Un certificat X509", "en fr", [], []),
        ("She lives in London.", "Elle habite à Londres.", "en fr", [], []),
        ("DVDs and CDs", "DVD et CD", "en fr", [], []),
        ("Use the server.", "使用 Nginx 服务器。", "en zh", [], [(NAME, "Nginx")]),
        ("Use Nginx.", "使用 nginx。", "en zh", [], []),
        ("Use Ubuntu.", "使用乌班图。", "en zh", [], []),  # names are written in Chinese too
        ("Нажмите Enter.", "Enter を押す。", "ru ja", [], []),
        # the end
        ("Is it open?", "C'est ouvert.", "en fr", [(ENDING, "?")], [(ENDING, ".")]),
        ("Is it open?", "هل هو مفتوح؟", "en ar", [], []),
        ("Is it open?", "Είναι ανοιχτό;", "en el", [], []),
        ("It is open.", "开着。", "en zh", [], []),
        ("It is open!", "C'est ouvert.", "en fr", [], []),
        ("It is open.", "C'est ouvert", "en fr", [(ENDING, ".")], []),
        ("He said “it is open.”", "Il a dit « c'est ouvert ».", "en fr", [], []),
        ("Open:", "以下。", "en zh", [], []),
        # brackets and quotation marks
        ("The port (old", "Le port (vieux)", "en fr", [(UNPAIRED, "(")], []),
        ("The port", "Le port)", "en fr", [], [(UNPAIRED, ")")]),
        ("a) the port", "a) le port", "en fr", [], []),
        ("The old port", "Le port (vieux)", "en fr", [], []),
        ('The "old port', "Le « vieux » port", "en fr", [(UNPAIRED, '"')], []),
        ("The “old” port", "Der „alte“ Hafen", "en de", [], []),
        ("It's the port", "C'est le port", "en fr", [], []),
        ("", "", "en fr", [], []),
    ],
)  # fmt: skip
def test_what_only_one_text_has_is_marked_in_its_place(a: str, b: str, languages: str, in_a: Marked, in_b: Marked):
    first, second = map(Language, languages.split())
    both = differences(a, b, (first, second))
    assert (marked(a, both.a), marked(b, both.b)) == (in_a, in_b)
    turned = differences(b, a, (second, first))
    assert (turned.b, turned.a) == both


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_texts_have_marks_within_them(a: str, b: str):
    for text, marks in zip((a, b), differences(a, b, (Language("en"), Language("zh"))), strict=True):
        assert all(0 <= mark.start < mark.end <= len(text) for mark in marks)


def test_a_text_that_is_no_segment_is_not_looked_at():
    assert differences("7 " * 5000, "8", (Language("en"), Language("fr"))) == ((), ())
