"""Papavassiliou, section 3.5, on pages that can be counted by hand."""

import pytest

from bitrawl.model import Language, Metadata, Page, Paragraph
from bitrawl.topic.term_list import Term, TermList
from bitrawl.topic.term_relevance import TermPlace, TermRelevance, TermThresholds
from bitrawl.url import Url

EN, FR = Language("en"), Language("fr")
URL = Url.parse("https://www.example.org/")
LIST = TermList(
    (
        Term("acid rain", 50.0, ("pollution",), EN),
        Term("forest", 30.0, ("nature",), EN),
        Term("tree", 10.0, ("nature",), EN),
        Term("acid jazz", -40.0, ("music",), EN),
        Term("pluie acide", 80.0, (), FR),
        Term("forêt", 20.0, (), FR),
    )
)
MODEL = TermRelevance(LIST, [EN, FR])


def page(*texts: str, language: Language = EN, title: str = "", description: str = "", keywords: str = "") -> Page:
    paragraphs = tuple(Paragraph(text, language=language) for text in texts)
    return Page(URL, language, 1.0, title, metadata=Metadata(description, keywords), paragraphs=paragraphs)


def test_each_place_has_its_weight():
    one = page("Forests, and a forest.", title="Acid rain", description="forest", keywords="tree, forest")
    (relevance,) = MODEL.judge([one])
    assert relevance.weight == 10 * 50 + 4 * 30 + 2 * (10 + 30) + 2 * 30
    counts = {(one.term.text, one.place): (one.count, one.weight) for one in MODEL.explained(one).counts}
    assert counts[("forest", TermPlace.TEXT)] == (2, 60.0)
    assert counts[("acid rain", TermPlace.TITLE)] == (1, 500.0)


def test_distinct_terms_are_those_of_the_main_content():
    (relevance,) = MODEL.judge([page("A forest.", title="Acid rain on trees")])
    assert relevance.terms == 1
    assert not relevance.relevant


def test_negative_terms_subtract_and_are_no_distinct_terms():
    (relevance,) = MODEL.judge([page("acid jazz in the forest")])
    assert (relevance.weight, relevance.terms, relevance.score) == (-10.0, 1, 0.0)
    assert MODEL.explained(page("x")).threshold == 2 * 30  # the median of 50, 30 and 10


def test_a_page_needs_weight_distinct_terms_and_density():
    enough = "Acid rain harms the forest. "
    assert MODEL.judge([page(enough)])[0].relevant
    assert not MODEL.judge([page("Acid rain, acid rain, acid rain.")])[0].relevant
    assert not MODEL.judge([page("A tree in the forest.")])[0].relevant
    assert not MODEL.judge([page(enough, *["nothing of that kind stands here"] * 100)])[0].relevant
    lenient = TermRelevance(LIST, [EN], TermThresholds(1.0, 1, 0.0))
    assert lenient.judge([page("acid rain", *["nothing of that kind stands here"] * 100)])[0].relevant


def test_the_score_is_one_half_at_the_threshold_and_rises_with_the_weight():
    scores = [one.score for one in MODEL.judge([page("forest " * n + "tree") for n in (0, 1, 2, 5, 50)])]
    assert scores == sorted(scores)
    assert 0 <= scores[0] < 0.5 < scores[-1] < 1
    assert MODEL.judge([page("forest forest")])[0].score == 0.5


def test_classes_have_a_fifth_of_the_weight_the_heaviest_first():
    assert MODEL.judge([page("acid rain, acid rain, forest, acid jazz")])[0].classes == ("pollution", "nature")
    assert MODEL.judge([page("acid rain, acid rain, tree")])[0].classes == ("pollution",)


def test_each_language_has_its_own_list_and_threshold():
    french = page("La pluie acide tombe sur les forêts.", language=FR)
    assert MODEL.judge([french])[0].weight == 100.0
    assert MODEL.explained(french).threshold == 2 * 50
    assert MODEL.weigh(["pluie acide", "acid rain"], FR) == [80.0, 0.0]


@pytest.mark.parametrize("language", ["de", "und"])
def test_a_page_in_no_language_of_the_job_is_not_relevant(language: str):
    (relevance,) = MODEL.judge([page("acid rain forest", language=Language(language), title="forest")])
    assert (relevance.score, relevance.relevant, relevance.weight) == (0.0, False, 0.0)


def test_boilerplate_and_other_languages_count_for_nothing():
    paragraphs = (
        Paragraph("forest", boilerplate=True),
        Paragraph("forest", language=FR),
        Paragraph("Forests of acid rain and a forest"),
    )
    one = Page(URL, EN, 1.0, paragraphs=paragraphs)
    assert MODEL.judge([one])[0].weight == 110.0
    assert [p.terms for p in MODEL.annotated(one).paragraphs] == [(), (), ("forest", "acid rain")]


def test_a_page_without_terms_stays_what_it_is():
    one = page("Nothing.")
    assert MODEL.annotated(one) is one
    MODEL.learn(one, relevant=True)
    assert MODEL.judge([one])[0].score == 0.0


def test_short_texts_weigh_what_their_terms_weigh():
    assert MODEL.weigh(["forest of trees, forest", "acid jazz", ""], EN) == [70.0, -40.0, 0.0]
