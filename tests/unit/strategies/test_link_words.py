"""What the words of links have brought so far."""

import numpy as np

from bitrawl.model import Language
from bitrawl.strategies.adaptive.link_relevance import MOST_WORDS, LinkWordTable, WordWeights

EN = Language("en")


def table(*texts: str) -> LinkWordTable:
    words = LinkWordTable()
    for row, text in enumerate(texts):
        words.add(row, text, EN)
    return words


def weights(*texts: str) -> WordWeights:
    return WordWeights(table(*texts), step=0.3)


def test_words_say_nothing_before_a_visit():
    assert weights("red wine", "contact").odds(np.arange(2)).tolist() == [0.0, 0.0]


def test_a_link_gains_by_the_words_of_links_that_brought_more_than_expected():
    words = weights("red wine", "white wines", "contact")
    words.correct(0, 0.8)
    red, white, contact = words.odds(np.arange(3)).tolist()
    assert red > white > contact == 0.0
    words.correct(1, -0.9)
    assert words.odds(np.array([1]))[0] < white


def test_a_word_that_a_link_has_twice_counts_once():
    twice = table("wine")
    twice.add(0, "wine wines", EN)
    words, once = WordWeights(twice, step=0.3), weights("wine")
    for one in (words, once):
        one.correct(0, 0.5)
    assert words.odds(np.array([0])) == once.odds(np.array([0]))


def test_a_link_keeps_a_bounded_number_of_words_and_any_number_of_links_fit():
    links = table(" ".join(f"word{chr(97 + i)}" for i in range(2 * MOST_WORDS)), "")
    links.add(5000, "wine", EN)
    words = WordWeights(links, step=0.3)
    for row in (0, 1, 5000):
        words.correct(row, 1.0)
    assert words.odds(np.array([1])) == 0.0
    assert (words.odds(np.array([0, 5000])) > 0).all()
