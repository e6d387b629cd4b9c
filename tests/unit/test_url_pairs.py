import pytest
from small_site import EN, FR, page

from bitrawl.pair.condensing import condense
from bitrawl.pair.evidence import Known, page_numbers
from bitrawl.pair.url_pairs import UrlDetector, by_marks, by_replacements, same_language_versions
from bitrawl.url import Url
from bitrawl.urls.patterns import difference, learn
from bitrawl.urls.tokens import raw_tokens


def site_of(*urls):
    return condense([page(url, language, [url]) for url, language in urls], [EN, FR])


def test_marks_on_both_sides_are_worth_more_than_on_one_and_one_more_than_none():
    both = by_marks(site_of(("http://s.test/en/x", EN), ("http://s.test/fr/x", FR)))
    one = by_marks(site_of(("http://s.test/x", EN), ("http://s.test/fr/x", FR)))
    none = by_marks(site_of(("http://s.test/x.html", EN), ("http://s.test/x.php", FR)))
    assert both[0, 1] > one[0, 1] > none[0, 1] > 0


@pytest.mark.parametrize(
    ("english", "french"),
    [
        ("http://s.test/index_{}_e.html", "http://s.test/index_{}_f.html"),
        ("http://s.test/english-news/{}", "http://s.test/actualites/{}"),
        ("http://one.test/v/{}", "http://deux.test/v/{}"),
    ],
)
def test_a_pattern_that_three_known_pairs_show_finds_the_others(english, french):
    urls = [(english.format(n + 10), EN) for n in range(8)] + [(french.format(n + 10), FR) for n in range(8)]
    site = site_of(*urls)
    known = Known({(n, n + 8): 1.0 for n in range(4)}, site)
    evidence = UrlDetector().propose(site, known)
    assert all(evidence.get((n, n + 8), 0) > 0.5 for n in range(8))


def test_numbers_that_differ_by_a_constant_are_a_pattern():
    urls = [(f"http://s.test/article{100 + n}", EN) for n in range(8)]
    urls += [(f"http://s.test/article{200 + n}", FR) for n in range(8)]
    site = site_of(*urls)
    detector = UrlDetector()
    evidence = detector.propose(site, Known({(n, n + 8): 1.0 for n in range(4)}, site))
    assert all(evidence[n, n + 8] > 0.5 for n in range(8))
    assert [str(pattern) for pattern in detector.patterns[EN, FR]] == ["{+100}"]


def test_two_pairs_are_no_pattern():
    pairs = [(Url.parse(f"http://s.test/a{n}"), Url.parse(f"http://s.test/b{n}")) for n in range(2)]
    assert learn(pairs) == []


def test_a_pattern_leads_from_one_address_to_the_other():
    a, b = Url.parse("http://s.test/x/news.html"), Url.parse("http://s.test/fr/x/news.html")
    (pattern,) = learn([(a, b)] * 3)
    assert b in pattern.apply(a)
    assert difference(raw_tokens(a), raw_tokens(a)) == ()


def test_the_users_replacement_is_certain():
    site = site_of(("http://s.test/uk/x", EN), ("http://s.test/q/x", FR))
    assert by_replacements(site, [("/uk/", "/q/")]) == {(0, 1): 1.0}


def test_a_page_in_the_wrong_language_is_known_by_its_address():
    site = site_of(("http://s.test/en/x", EN), ("http://s.test/fr/x", EN))
    assert same_language_versions(site) == {page_numbers(0, 1)}
