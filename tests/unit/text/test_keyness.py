"""Terms learned from small samples."""

from collections.abc import Sequence

import numpy as np
import pytest

from bitrawl.errors import ConfigError
from bitrawl.model import Language
from bitrawl.text.words import words
from bitrawl.topic.term_list import learn_terms

EN = Language("en")
SUBJECTS = ["lake", "forest", "soil", "city", "river", "mountain", "field", "coast", "garden", "valley"]
TEXTS = [
    f"Acid rain falls on the {place}. The people of the {place} say that acid rain is bad for them and for the trees. "
    f"When Acid Rain falls, the pollution of the air gets into the water. Policy of the {place}: less pollution. "
    f"Nobody likes pollution, and most of the people know it. There are 1957 reasons, and the year was 1957."
    for place in SUBJECTS
]
FREQUENT = {
    *["the", "of", "and", "on", "is", "that", "for", "them", "in", "into", "it", "a", "to", "was", "are", "when"],
    *words("people say most year", EN),
}


def general(stems: Sequence[str], language: Language) -> np.ndarray:
    return np.array([5000.0 if stem in FREQUENT else 20.0 for stem in stems])


def test_terms_are_what_the_language_in_general_has_less_of():
    terms = {term.text: term.weight for term in learn_terms(TEXTS, EN, background=general).terms}
    assert {"acid rain", "pollution"} <= terms.keys()
    assert not terms.keys() & {"the", "people", "of the", "1957", "say that", "rain falls on the"}
    assert "acid" not in terms  # it never stands alone
    assert max(terms.values()) == 100.0 or max(terms.values()) > 90
    assert all(1 <= weight <= 100 and weight == int(weight) for weight in terms.values())


def test_a_term_is_written_as_it_is_mostly_written():
    texts = [text.replace("pollution", "Ebola") for text in TEXTS]
    assert {"acid rain", "Ebola"} <= {term.text for term in learn_terms(texts, EN, background=general).terms}


def test_phrases_keep_what_stands_between_their_words():
    texts = [
        f"La politique de l’environnement de {place}, et la politique de l’environnement. " * 5 for place in SUBJECTS
    ]
    stop = {*["la", "de", "l", "et"]}
    terms = learn_terms(
        texts, Language("fr"), background=lambda stems, _: np.array([9000.0 if s in stop else 20.0 for s in stems])
    )
    assert "politique de l’environnement" in {term.text for term in terms.terms}


def test_what_other_texts_have_too_is_no_term():
    others = [f"Less pollution in the {place}, and no pollution of the air anywhere." for place in SUBJECTS] * 5
    terms = {term.text for term in learn_terms(TEXTS, EN, background=general, against=others).terms}
    assert "acid rain" in terms
    assert "pollution" not in terms


def test_without_a_background_the_spread_over_texts_decides():
    texts = [*TEXTS[:5], *(f"Quiet nights in the {place} of the people. " * 12 for place in SUBJECTS[5:])]
    terms = {term.text for term in learn_terms(texts, EN).terms}
    assert "acid rain" in terms
    assert not terms & {"the", "of", "of the"}


@pytest.mark.parametrize(
    ("language", "texts", "expected"),
    [
        (
            "zh",
            [
                "酸雨是指酸性的降水。酸雨会破坏森林。" * 12,
                "气候变化和酸雨都是环境问题。" * 12,
                "湖泊里的鱼因为酸雨死亡。" * 12,
            ],
            "酸雨",
        ),
        ("th", ["ฝนกรด ทำลายป่า " * 30, "มลพิษ และ ฝนกรด " * 30, "ปลา ตาย เพราะ ฝนกรด " * 30], "ฝนกรด"),
    ],
)
def test_scripts_without_spaces_have_terms_too(language: str, texts: list[str], expected: str):
    found = learn_terms(texts, Language(language), background=lambda stems, _: np.full(len(stems), 20.0))
    assert expected in {term.text for term in found.terms}


def test_the_list_is_no_longer_than_asked():
    assert len(learn_terms(TEXTS, EN, background=general, size=2).terms) == 2


@pytest.mark.parametrize(("texts", "says"), [(["Acid rain."], "too few"), ([], "too few"), (["…"] * 50, "too few")])
def test_too_little_text_is_refused(texts: list[str], says: str):
    with pytest.raises(ConfigError, match=says):
        learn_terms(texts, EN, background=general)


def test_texts_without_a_subject_are_refused():
    with pytest.raises(ConfigError, match="one subject"):
        learn_terms(["the people say that it was the year " * 60], EN, background=general)
