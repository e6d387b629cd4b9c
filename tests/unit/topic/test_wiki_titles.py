"""Which titles of a wiki are terms."""

import pytest

from bitrawl.model import Language
from bitrawl.topic.wiki_articles import Article
from bitrawl.topic.wiki_topic import Exclusion, as_term, exclusion, needs_lead, without_qualifier

EN, DE, EL, ZH = map(Language, ("en", "de", "el", "zh"))


@pytest.mark.parametrize(
    ("title", "language", "lead", "why"),
    [
        ("Acid rain", EN, "", None),
        ("Personal protective equipment", EN, "", None),
        ("Alzheimer's disease", EN, "Alzheimer's disease is a disease.", None),
        ("Vitamin D deficiency", EN, "", None),
        ("HVAC control system", EN, "", None),
        ("List of birds", EN, "", Exclusion.LIST),
        ("Lists of birds", EN, "", Exclusion.LIST),
        ("Outline of health", EN, "", Exclusion.LIST),
        ("Listeria", EN, "", None),
        ("Liste der Vögel", DE, "", Exclusion.LIST),
        ("Liste des oiseaux", Language("fr"), "", Exclusion.LIST),
        ("Lista de aves", Language("es"), "", Exclusion.LIST),
        ("Список птиц", Language("ru"), "", Exclusion.LIST),
        ("鳥の一覧", Language("ja"), "", Exclusion.LIST),
        ("Front (disambiguation)", EN, "", Exclusion.DISAMBIGUATION),
        ("Front (Begriffsklärung)", DE, "", Exclusion.DISAMBIGUATION),
        ("NIOSH", EN, "", Exclusion.ABBREVIATION),
        ("ISO 45001", EN, "", Exclusion.ABBREVIATION),
        ("PhD", EN, "", Exclusion.ABBREVIATION),
        ("大气污染", ZH, "", None),  # a script without case has neither abbreviations nor names
        ("Health and Safety at Work Act", EN, "", Exclusion.NAME),
        ("Alice Hamilton", EN, "Alice Hamilton was a physician.", Exclusion.NAME),
        ("Bradford Hill criteria", EN, "", Exclusion.NAME),
        ("2013 Savar building collapse", EN, "", Exclusion.NAME),
        ("Οξύτητα", EL, "", None),
        ("Big Data Analysis", EN, "Much is written on big data analysis.", None),
        ("Bhopal", EN, "Bhopal is a city. Many people in Bhopal fell ill.", Exclusion.NAME),
        ("Silicosis", EN, "Silicosis is a disease. People with silicosis cough.", None),
        ("Silicosis", EN, "Silicosis is a disease. Silicosis has no cure.", None),  # at the start of a sentence only
        ("Silicosis", EN, "", None),
        ("Peanut", EN, "The Peanut is a plant of the legume family.", None),  # so do old articles write
        ("Gesetzliche Unfallversicherung", DE, "", None),  # German capitals tell nothing
    ],
)
def test_a_title_is_a_term_or_excluded_for_one_reason(title: str, language: Language, lead: str, why: Exclusion | None):
    assert exclusion(Article(title=title, lead=lead), language) is why


@pytest.mark.parametrize(
    ("article", "why"),
    [
        (Article(title="Acid rain", redirect=True), Exclusion.REDIRECT),
        (Article(title="Mercury", disambiguation=True), Exclusion.DISAMBIGUATION),
        (Article(title="List of birds"), Exclusion.LIST),
        (Article(title="NIOSH"), Exclusion.ABBREVIATION),
        (Article(title="Alice Hamilton"), Exclusion.NAME),
    ],
)
def test_each_exclusion_can_be_switched_off(article: Article, why: Exclusion):
    assert exclusion(article, EN) is why
    assert exclusion(article, EN, {why}) is None
    assert exclusion(article, EN, set(Exclusion) - {why}) is why


@pytest.mark.parametrize(
    ("title", "language", "term"),
    [
        ("Front (weather)", EN, "front"),
        ("Front_(weather)", EN, "front"),
        ("Acid rain", EN, "acid rain"),
        ("X-ray", EN, "X-ray"),
        ("DNA repair", EN, "DNA repair"),
        ("Saurer Regen", DE, "Saurer Regen"),
        ("前線（気象）", Language("ja"), "前線"),
        ("(weather)", EN, "(weather)"),
    ],
)
def test_a_term_is_the_title_as_it_stands_in_a_text(title: str, language: Language, term: str):
    assert as_term(title, language) == term


def test_only_titles_that_a_lead_can_decide_ask_for_one():
    assert needs_lead("Silicosis", EN)
    assert needs_lead("Big Data Analysis", EN)
    assert not needs_lead("Acid rain", EN)
    assert not needs_lead("Silikose", DE)


def test_a_title_of_nothing_but_a_qualifier_stays():
    assert without_qualifier("(weather)") == "(weather)"
