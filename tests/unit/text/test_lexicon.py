import itertools

import pytest

from bitrawl.errors import ConfigError
from bitrawl.model import Language
from bitrawl.text.known_words import Dictionary, known_words
from bitrawl.text.lexicon import WINDOW, Lexicon, read_dictionary, windows

WORDS = {"house": "maison", "red": "rouge", "small": "petite", "garden": "jardin", "old": "vieux", "tree": "arbre"}
PAIRS = [
    ([*sample, "the"], [*(WORDS[word] for word in reversed(sample)), "le"])
    for sample in itertools.permutations(WORDS, 2)
]


def best(found):
    return found[0][0] if found else None


@pytest.mark.parametrize(("word", "translation"), WORDS.items())
def test_words_are_translated_both_ways(word, translation):
    assert best(Lexicon.learn(PAIRS).translations(word)) == translation
    assert best(Lexicon.learn([(b, a) for a, b in PAIRS]).translations(translation)) == word


def test_probabilities_of_a_word_sum_to_no_more_than_one():
    lexicon = Lexicon.learn(PAIRS)
    assert all(sum(p for _, p in lexicon.translations(word)) <= 1.0 for word in [*WORDS, "the"])


def test_a_lexicon_can_be_learned_from_a_long_document():
    a = list(itertools.chain.from_iterable(a for a, _ in PAIRS * 10))
    b = list(itertools.chain.from_iterable(b for _, b in PAIRS * 10))
    names = [(f"name{n}", f"nom{n}") for n in range(40)]
    for n, (one, other) in enumerate(names * 3):
        place = n * n * 7919 % len(a)
        a.insert(place, one)
        b.insert(place, other)
    lexicon = Lexicon.learn([(a, b)])
    right = sum(best(lexicon.translations(one)) == other for one, other in names)
    assert right > len(names) * 0.7


def test_windows_of_a_long_pair_cover_all_of_both():
    a, b = [f"a{n}" for n in range(1000)], [f"b{n}" for n in range(700)]
    found = windows(a, b)
    assert [word for window, _ in found for word in window] == a
    assert {word for _, window in found for word in window} == set(b)
    assert max(len(window) for window, _ in found) <= 2 * WINDOW


def test_what_was_seen_together_once_is_hardly_believed():
    lexicon = Lexicon.learn([*PAIRS, (["zebra", "the"], ["girafe", "le"])])
    once = dict(lexicon.translations("zebra")).get("girafe", 0.0)
    assert once < 0.6 < dict(lexicon.translations("house"))["maison"]


def test_coverage_tells_a_translation_from_another_text():
    lexicon = Lexicon.learn(PAIRS)
    true = lexicon.coverage(["the", "red", "house"], ["le", "maison", "rouge"])
    false = lexicon.coverage(["the", "red", "house"], ["le", "arbre", "vieux"])
    assert min(true) > 2 * max(false)
    assert lexicon.coverage(["2024", "ufo"], ["ufo", "2024"]) == (1.0, 1.0)
    assert lexicon.coverage([], ["le"]) == (0.0, 0.0)


@pytest.mark.parametrize("line", ["moss\tmousse", "mousse @ moss", "  mousse @ moss  "])
def test_a_dictionary_is_read_in_both_formats_and_believed(tmp_path, line):
    path = tmp_path / "dictionary"
    path.write_text(f"{line}\n\n", "utf-8")
    languages = Language("en"), Language("fr")
    entries = read_dictionary(path, languages)
    assert entries == [(["moss"], ["mouss"])]
    own = Dictionary.of(str(path), languages)
    assert own
    assert best(known_words(*languages, own).translations("moss")) == "mouss"


def test_a_line_that_is_no_entry_is_named(tmp_path):
    path = tmp_path / "dictionary"
    path.write_text("moss\tmousse\nwall mur\n", "utf-8")
    with pytest.raises(ConfigError, match="line 2"):
        read_dictionary(path, (Language("en"), Language("fr")))
    with pytest.raises(ConfigError, match="cannot be read"):
        read_dictionary(tmp_path / "absent", (Language("en"), Language("fr")))


def test_an_empty_lexicon_has_no_translations():
    lexicon = Lexicon.learn([])
    assert len(lexicon) == 0
    assert lexicon.translations("house") == []
    assert Lexicon.learn([([], ["le"])]).coverage(["a"], ["b"]) == (0.0, 0.0)
