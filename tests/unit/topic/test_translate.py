"""Terms translated by a small corpus."""

import pytest

from bitrawl.errors import ConfigError
from bitrawl.model import Language
from bitrawl.topic.term_list import Term, TermList, read_terms
from bitrawl.topic.translate import propose, proposed_list

EN, FR = Language("en"), Language("fr")
PLACES = {"lake": "lac", "forest": "forêt", "city": "ville", "river": "rivière", "field": "champ", "garden": "jardin"}
PAIRS = [
    pair
    for en, fr in PLACES.items()
    for pair in (
        (f"Acid rain falls on the {en}.", f"La pluie acide tombe sur le {fr}."),
        (f"In the {en}, rain is good.", f"Dans le {fr}, la pluie est bonne."),
        (f"The {en} is acid.", f"Le {fr} est acide."),
        (f"The conservation of fish in the {en}.", f"La conservation de la pêche dans le {fr}."),
        (f"Fish from the {en}!", f"La pêche du {fr} !"),
        (f"Conservation is for the {en}.", f"La conservation est pour le {fr}."),
        (f"We like the {en}.", f"Nous aimons le {fr}."),
    )
]
LIST = TermList(
    (
        Term("acid rains", 50.0, ("weather",), EN),
        Term("conservation of fish", 40.0, (), EN),
        Term("forests", 30.0, (), EN),
        Term("zeppelin", 20.0, (), EN),
        Term("autre", 10.0, (), FR),
    )
)


def test_words_and_phrases_are_translated():
    proposals = propose(PAIRS, LIST, (EN, FR))
    assert {one.term.text: one.candidates[0].text for one in proposals if one.candidates} == {
        "acid rains": "pluie acide",
        "conservation of fish": "conservation de la pêche",
        "forests": "forêt",
    }
    rain = proposals[0]
    assert (rain.occurrences, rain.candidates[0].count) == (6, 6)
    assert rain.candidates[0].probability == 1.0
    assert rain.candidates[0].example in PAIRS


def test_the_proposed_list_can_be_read_and_says_what_is_missing(tmp_path):
    text = proposed_list(propose(PAIRS, LIST, (EN, FR)), FR)
    (tmp_path / "fr.txt").write_text(text, "utf-8")
    assert read_terms(tmp_path / "fr.txt", [FR]).terms[0] == Term("pluie acide", 50.0, ("weather",), FR)
    assert "# zeppelin: not in the corpus" in text
    assert "# acid rains: 100% of 6" in text


def test_a_script_without_spaces_is_translated_into():
    zh = Language("zh")
    places = {"lake": "湖泊", "city": "城市", "field": "田野", "garden": "花园"}
    pairs = [(f"Acid rain in the {en}.", f"{to}的酸雨。") for en, to in places.items()]
    pairs += [(f"I see the {en}.", f"我看见{to}。") for en, to in places.items()] * 2
    (proposal,) = propose(pairs, TermList((Term("acid rain", 1.0, (), EN),)), (EN, zh))
    assert "酸雨" in proposal.candidates[0].text


def test_a_corpus_without_the_terms_is_refused():
    with pytest.raises(ConfigError, match="order of --langs"):
        propose([(b, a) for a, b in PAIRS], TermList((Term("zeppelin", 1.0, (), EN),)), (EN, FR))
