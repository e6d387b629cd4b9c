import pytest

from bitrawl.url import Url
from lab.train.url_negatives import Generator, negatives


def pair(a, b):
    return Url.parse(f"http://s.test/{a}"), Url.parse(f"http://s.test/{b}")


PARALLEL = [
    pair("en/news/2019/report.html", "fr/news/2019/report.html"),
    pair("about_eng.asp", "about_fra.asp"),
    pair("docs/intro.de.html", "docs/intro.ja.html"),
    pair("guide/setup", "es/guide/setup"),
    pair("page?id=4711&lang=en", "page?id=4711&lang=pl"),
]


@pytest.mark.parametrize("generator", Generator)
def test_made_negatives_are_never_pairs_and_keep_their_host(generator):
    made = negatives(PARALLEL, generator)
    assert made
    assert made == negatives(PARALLEL, generator)
    true = {frozenset(two) for two in PARALLEL}
    assert all(frozenset(two) not in true and two[0] != two[1] for two in made)
    assert {url.host for two in made for url in two} == {"s.test"}


def test_the_most_similar_wrong_partner_is_of_the_same_kind():
    known = [pair("en/a/x1.html", "fr/a/x1.html"), pair("en/a/x2.html", "fr/a/x2.html"), pair("en/q", "fr/q")]
    assert (known[0][0], known[1][1]) in negatives(known, Generator.JACCARD)
