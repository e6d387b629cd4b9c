"""The words that ship: packed and read again, turned, and by way of English."""

import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from bitrawl.model import Language
from bitrawl.text.known_words import Dictionary, known_words
from bitrawl.text.lexicon import Lexicon, Links

EN = Language("en")


def lexicon(links: dict[tuple[str, str], tuple[float, float]]) -> Lexicon:
    a, b = (list(dict.fromkeys(names)) for names in zip(*links, strict=True))
    numbered = sorted((a.index(first), b.index(second), *both) for (first, second), both in links.items())
    columns = [np.array(column) for column in zip(*numbered, strict=True)]
    ids_a, ids_b = ({name: number for number, name in enumerate(names)} for names in (a, b))
    return Lexicon(ids_a, ids_b, Links(*columns))


DACH = lexicon({("dach", "roof"): (0.9, 0.8), ("dach", "top"): (0.1, 0.1), ("haus", "hous"): (1.0, 1.0)})


def test_a_lexicon_turned_says_the_same_the_other_way_round():
    turned = DACH.back
    assert turned.translations("roof") == [("dach", 0.8)]
    assert turned.back.translations("dach") == DACH.translations("dach")


def test_two_lexicons_that_share_a_language_translate_through_it_less_surely():
    toit = lexicon({("roof", "toit"): (0.5, 0.5), ("top", "haut"): (1.0, 1.0)})
    through = Lexicon(DACH.ids_a, toit.ids_b, DACH.links.through(toit.links, 0.8))
    assert through.translations("dach") == [("toit", pytest.approx(0.36)), ("haut", pytest.approx(0.08))]
    assert through.translations("haus") == []


def test_a_language_without_words_and_a_language_with_itself_have_none():
    assert known_words(Language("tlh"), EN) is None
    assert known_words(EN, EN) is None


@pytest.fixture
def own_words(tmp_path: Path) -> Path:
    path = tmp_path / "words.tsv"
    path.write_text("Haus\tgraznak\nblorp\tship\n", "utf-8")
    return path


def test_a_dictionary_is_added_to_the_words_that_ship_whichever_way_it_is_written(own_words: Path):
    de = Language("de")
    dictionary = Dictionary.of(str(own_words), (de, EN))
    both, shipped = known_words(de, EN, dictionary), known_words(de, EN)
    assert both
    assert shipped
    assert {*dict(shipped.translations("haus")), "graznak"} == set(dict(both.translations("haus")))
    assert both.translations("blorp")[0][0] == "ship"
    assert both.translations("hund") == shipped.translations("hund")
    turned = known_words(EN, de, dictionary)
    assert turned
    assert "blorp" in dict(turned.translations("ship"))


def test_a_dictionary_is_of_two_languages_alone_also_of_those_that_have_no_words(own_words: Path):
    tlh, dictionary = Language("tlh"), Dictionary.of(str(own_words), (Language("tlh"), EN))
    words = known_words(tlh, EN, dictionary)
    assert words
    assert len(words) == 2
    assert known_words(Language("de"), EN, dictionary).translations("blorp") == []
    assert known_words(tlh, Language("de"), dictionary) is None
    assert Dictionary.of("", (tlh, EN)) is None


def test_a_dictionary_is_learned_once_and_again_when_it_changes(own_words: Path):
    languages = Language("tlh"), EN
    first, second = (known_words(*languages, Dictionary.of(str(own_words), languages)) for _ in range(2))
    assert first is second
    assert pickle.loads(pickle.dumps(first)) is first  # in the same process; another one learns it from the file
    own_words.write_text("blorp\tboat\n", "utf-8")
    os.utime(own_words, ns=(1, 1))
    changed = known_words(*languages, Dictionary.of(str(own_words), languages))
    assert changed.translations("blorp")[0][0] == "boat"


def test_a_prior_speaks_until_the_texts_do():
    prior = lexicon({("bow", "bogen"): (1.0, 1.0), ("hull", "rumpf"): (1.0, 1.0)})
    none = Lexicon.learn([], prior=prior)
    assert none.coverage(["bow"], ["bogen"]) == (1.0, 1.0)
    ships = [(["bow", name], ["bug", name]) for name in "abcdefghijklmnopqrstuvwxyz"]
    few, many = Lexicon.learn(ships[:3], prior=prior), Lexicon.learn(ships, prior=prior)
    assert best(few)[0][0] == "bogen" or best(few)[0][1] < 0.7
    assert best(many)[0][0] == "bug"
    assert many.coverage(["hull"], ["rumpf"]) == (1.0, 1.0)  # a word that the texts do not have


def test_only_words_that_have_translations_are_linked():
    beside = lexicon({("bow", "bogen"): (1.0, 1.0)})
    assert beside.linked(["bow", "hull"], ["rumpf", "bogen"]) == ({"bow"}, {"bogen"})
    assert Lexicon.learn([]).linked(["bow"], ["bogen"]) == (set(), set())


def test_a_prior_helps_to_find_what_two_sentences_alone_cannot_tell():
    pairs = [(["the", "old", "bow"], ["der", "alte", "bogen"])]
    prior = lexicon({("bow", "bogen"): (0.9, 0.9), ("old", "alte"): (0.9, 0.9)})
    assert dict(Lexicon.learn(pairs, prior=prior).translations("the"))["der"] > 0.2
    assert best(Lexicon.learn(pairs, prior=prior))[0] == ("bogen", pytest.approx(0.9, abs=0.15))


def best(learned: Lexicon) -> list[tuple[str, float]]:
    return learned.translations("bow")
