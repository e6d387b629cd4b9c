"""Terms in texts, by their stems."""

import time

import pytest

from bitrawl.model import Language
from bitrawl.topic.term_list import Term
from bitrawl.topic.term_relevance import TermMatcher


def found(text: str, language: str, *terms: str) -> list[str]:
    matcher = TermMatcher([Term(term) for term in terms], Language(language))
    return [matcher.terms[number].text for number in matcher.find(text).numbers]


@pytest.mark.parametrize(
    ("text", "language", "terms", "expected"),
    [
        ("Acid rains fell on the forests.", "en", ["acid rain", "forest"], ["acid rain", "forest"]),
        ("acid rain", "en", ["rain", "acid rain", "acid"], ["acid", "acid rain", "rain"]),
        ("rain, rain, RAIN", "en", ["rain"], ["rain"] * 3),
        ("acid. acid acid rain", "en", ["acid rain"], ["acid rain"]),
        ("les politiques de l'environnement", "fr", ["politique de l'environnement"], ["politique de l'environnement"]),
        ("в лесах", "ru", ["лес"], ["лес"]),
        ("大気汚染の原因は酸性雨です", "ja", ["酸性雨", "大気汚染"], ["大気汚染", "酸性雨"]),
        ("酸雨和气候变化", "zh", ["气候变化", "雨", "酸雪"], ["雨", "气候变化"]),
        ("ฝนกรดและมลพิษทางอากาศ", "th", ["มลพิษ", "ฝนกรด"], ["ฝนกรด", "มลพิษ"]),
        ("维生素C很好", "zh", ["维生素C"], ["维生素C"]),
        ("on 12.5.1957", "en", ["12.5.1957"], ["12.5.1957"]),
        ("산성비가 숲을", "ko", ["산성비"], ["산성비"]),
        ("rainy days", "en", ["rai", "ainy"], []),
        ("", "en", ["rain"], []),
    ],
)
def test_a_term_is_found_in_any_form(text: str, language: str, terms: list[str], expected: list[str]):
    assert found(text, language, *terms) == expected


def test_terms_of_the_same_stem_are_one_with_the_rounded_mean_of_their_weights():
    terms = [Term("forest", 50.0, ("a",)), Term("Forests", 61.0, ("b",)), Term("tree", 9.0)]
    matcher = TermMatcher(terms, Language("en"))
    assert matcher.terms == (Term("forest", 56.0, ("a", "b")), Term("tree", 9.0))
    assert matcher.median_weight == 32.5


def test_a_term_without_words_is_never_found():
    assert found("… !", "en", "…", "!") == []


def test_a_long_list_costs_about_what_a_short_one_costs():
    def took(terms: int) -> float:
        matcher = TermMatcher([Term(f"acid{number} rain") for number in range(terms)], Language("en"))
        text = "Acid rain fell on the forests of the north, and acid3 rain too. " * 2000
        matcher.find(text)
        began = time.process_time()
        matcher.find(text)
        return time.process_time() - began

    assert took(20_000) < 3 * max(took(20), took(20))
