import random

import pytest
from small_site import EN, FR, page

from bitrawl.mining.detectors import UrlDetector, by_replacements
from bitrawl.mining.evidence import KnownPairs, page_numbers
from bitrawl.mining.site import condense
from bitrawl.model import Language
from bitrawl.url import Url
from bitrawl.urls import Versions, learn_patterns
from bitrawl.urls.patterns import difference
from bitrawl.urls.tokens import raw_tokens

DE = Language("de")
NAMES = ["harbour", "winter", "museum", "garden", "school", "market", "letters", "music", "energy", "travel"]


def site_of(*urls):
    return condense([page(url, language, [url]) for url, language in urls], [EN, FR, DE])


def said(site, known=None):
    """By the URLs of its two pages, what is said for each pair."""
    urls = [summary.url for summary in site.summaries]
    found = UrlDetector().propose(site, KnownPairs(known, site))
    return {frozenset((urls[a], urls[b])): value for (a, b), value in found.items()}


def test_a_language_mark_says_much_and_one_pair_without_a_mark_shows_no_habit():
    propose = UrlDetector().propose
    both = propose(site_of(("http://s.test/en/x", EN), ("http://s.test/fr/x", FR)), KnownPairs())
    one = propose(site_of(("http://s.test/x", EN), ("http://s.test/fr/x", FR)), KnownPairs())
    none = propose(site_of(("http://s.test/x.html", EN), ("http://s.test/x.php", FR)), KnownPairs())
    other = propose(site_of(("http://s.test/harbour.html", EN), ("http://s.test/museum.html", FR)), KnownPairs())
    assert both[0, 1] >= one[0, 1] > 0.9
    assert len(none) == len(other) == 0


@pytest.mark.parametrize(
    ("english", "french"),
    [
        ("http://s.test/{}_e.html", "http://s.test/{}_f.html"),
        ("http://s.test/english-news/{}", "http://s.test/actualites/{}"),
        ("http://one.s.test/v/{}", "http://deux.s.test/v/{}"),
        ("http://s.test/{}?sel=1", "http://s.test/{}?sel=2"),
    ],
)
def test_a_habit_that_names_no_language_is_found_before_any_pair_is_known(english, french):
    site = site_of(*((english.format(n), EN) for n in NAMES), *((french.format(n), FR) for n in NAMES))
    found = said(site)
    assert all(found.get(frozenset((english.format(n), french.format(n))), 0) > 0.5 for n in NAMES)


def test_known_pairs_teach_by_how_much_numbers_differ():
    numbers = sorted(random.Random(3).sample(range(1000, 1900), 20))
    pairs = [(f"http://s.test/article.php?id={n}", f"http://s.test/article.php?id={n + 3517}") for n in numbers]
    site = site_of(*((a, EN) for a, _ in pairs), *((b, FR) for _, b in pairs))
    before, after = said(site), said(site, {(n, n + 20): 1.0 for n in range(8)})
    assert all(before[frozenset(pair)] < 0.7 for pair in pairs[8:])
    assert all(after[frozenset(pair)] > 0.9 for pair in pairs[8:])


def test_known_pairs_that_contradict_a_habit_make_it_doubtful():
    site = site_of(*((f"http://s.test/a/{n}", EN) for n in NAMES), *((f"http://s.test/b/{n}", FR) for n in NAMES))
    habit = [frozenset((f"http://s.test/a/{n}", f"http://s.test/b/{n}")) for n in NAMES[6:]]
    before, after = said(site), said(site, {(n, 10 + (n + 1) % 6): 1.0 for n in range(6)})
    assert all(after.get(pair, 0) < before[pair] for pair in habit)


def test_a_page_in_the_wrong_language_does_not_come_between_two_versions():
    site = site_of(("http://s.test/x", EN), ("http://s.test/de/x", EN), ("http://s.test/fr/x", FR))
    assert said(site) == {frozenset(("http://s.test/x", "http://s.test/fr/x")): pytest.approx(0.95)}


def test_all_languages_of_a_page_are_versions_of_each_other():
    site = site_of(("http://s.test/x", EN), ("http://s.test/de/x", DE), ("http://s.test/fr/x", FR))
    assert len(said(site)) == 3


def test_numbers_that_differ_by_a_constant_are_a_pattern():
    urls = [(f"http://s.test/article{100 + n}", EN) for n in range(8)]
    urls += [(f"http://s.test/article{200 + n}", FR) for n in range(8)]
    pairs = [(Url.parse(urls[n][0]), Url.parse(urls[n + 8][0])) for n in range(4)]
    assert [str(pattern) for pattern in learn_patterns(pairs)] == ["{+100}"]


def test_two_pairs_are_no_pattern():
    pairs = [(Url.parse(f"http://s.test/a{n}"), Url.parse(f"http://s.test/b{n}")) for n in range(2)]
    assert learn_patterns(pairs) == []


def test_a_pattern_leads_from_one_address_to_the_other():
    a, b = Url.parse("http://s.test/x/news.html"), Url.parse("http://s.test/fr/x/news.html")
    (pattern,) = learn_patterns([(a, b)] * 3)
    assert b in pattern.apply(a)
    assert difference(raw_tokens(a), raw_tokens(a)) == ()


def test_the_users_replacement_is_certain():
    site = site_of(("http://s.test/uk/x", EN), ("http://s.test/q/x", FR))
    assert by_replacements(site, [("/uk/", "/q/")]) == {(0, 1): 1.0}
    assert UrlDetector([("/uk/", "/q/")]).propose(site, KnownPairs()) == {(0, 1): 1.0}


def test_a_page_in_the_wrong_language_is_known_by_its_address():
    site = site_of(("http://s.test/en/x", EN), ("http://s.test/fr/x", EN))
    assert UrlDetector().versions(site) == {page_numbers(0, 1)}


def test_what_the_first_round_said_is_kept_and_changes_nothing():
    words = {EN: ["apples", "pears", "plums"], FR: ["pommes", "poires", "prunes"]}
    pages = [
        (f"http://s.test/{word}-{name}", spoken) for spoken in (EN, FR) for word in words[spoken] for name in NAMES
    ]
    urls = [Url.parse(url) for url, _ in pages]
    known = [(number, number + len(pages) // 2) for number in range(0, len(pages) // 2, 2)]
    asked = Versions(urls, [language for _, language in pages])
    before = asked.scores()
    kept = asked._first[EN, FR]
    after = asked.scores(known)
    assert asked._first[EN, FR] is kept  # the same URLs
    assert after != before  # known pairs are news
    again = Versions(urls, [language for _, language in pages])
    again.scores()
    again._first.clear()
    assert again.scores(known) == after
