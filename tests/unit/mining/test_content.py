from pathlib import Path

import numpy as np
from small_site import EN, FR, WORDS, articles, page

from bitrawl.mining.content import LexiconSpace, TermSpace, WordIndex
from bitrawl.mining.evidence import Evidence, KnownPairs, pair_key
from bitrawl.mining.site import condense
from bitrawl.text.known_words import Dictionary


def test_names_and_numbers_find_the_translation():
    pages, _ = articles(12, "http://s.test/e{}", "http://s.test/f{}")
    space = TermSpace(condense(pages, [EN, FR]))
    candidates = space.candidates()
    evidence = Evidence(candidates, space.cosines(candidates))
    for number in range(0, 24, 2):
        rivals = {pair: value for pair, value in evidence.items() if pair[0] == number}
        assert max(rivals, key=rivals.__getitem__) == (number, number + 1)


def test_a_lexicon_learned_from_some_pairs_tells_the_others_apart():
    pages, _ = articles(40, "http://s.test/e{}", "http://s.test/f{}")
    site = condense(pages, [EN, FR])
    known = KnownPairs({(n, n + 1): 1.0 for n in range(0, 50, 2)}, site)
    space = LexiconSpace(WordIndex(site), known)
    true = space.similarities(np.array([pair_key((n, n + 1)) for n in range(50, 78, 2)]))
    false = space.similarities(np.array([pair_key((n, n + 3)) for n in range(50, 76, 2)]))
    assert true.min() > false.max()


def test_a_users_dictionary_needs_no_known_pairs(tmp_path: Path):
    pages = [
        page("http://s.test/1", EN, ["harbour boat winter bread"]),
        page("http://s.test/2", FR, ["port bateau hiver pain"]),
        page("http://s.test/3", FR, ["roi reine lettre fenêtre"]),
    ]
    site = condense(pages, [EN, FR])
    nothing = LexiconSpace(WordIndex(site), KnownPairs())
    assert nothing.similarities(np.array([pair_key((0, 1))]))[0] == -1
    (tmp_path / "words.tsv").write_text("".join(f"{b}\t{a}\n" for a, b in WORDS.items()), "utf-8")
    dictionary = Dictionary.of(str(tmp_path / "words.tsv"), (FR, EN))
    space = LexiconSpace(WordIndex(site), KnownPairs(), dictionary)
    right, wrong = space.similarities(np.array([pair_key((0, 1)), pair_key((0, 2))]))
    assert right > 0.3 > wrong


def test_words_that_ship_tell_a_page_of_no_known_pairs():
    pages = [
        page("http://s.test/1", EN, ["the king and the queen wrote a letter by the window"]),
        page("http://s.test/2", FR, ["le roi et la reine écrivaient une lettre à la fenêtre"]),
        page("http://s.test/3", FR, ["le bateau part en hiver avec du pain et du poisson"]),
    ]
    space = LexiconSpace(WordIndex(condense(pages, [EN, FR])), KnownPairs(), shipped=True)
    right, wrong = space.similarities(np.array([pair_key((0, 1)), pair_key((0, 2))]))
    assert right > 0.1
    assert wrong == 0
