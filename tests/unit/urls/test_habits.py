import pytest

from bitrawl.url import Url
from bitrawl.urls import PatternCounts
from bitrawl.urls.patterns import PatternPart, difference
from bitrawl.urls.tokens import raw_tokens


def url(text):
    return Url.parse(f"http://s.test/{text}")


def habits_of(*pairs):
    habits = PatternCounts()
    for a, b in pairs:
        habits.add(url(a), url(b))
    return habits


@pytest.mark.parametrize(
    ("known", "page", "partner"),
    [
        (("en/a.html", "fr/a.html"), "en/news/b.html", "fr/news/b.html"),
        (("a.html", "a_fr.html"), "b.html", "b_fr.html"),
        (("a/b.html", "fr/a/b.html"), "c/d.html", "fr/c/d.html"),
        (("a?id=1&l=1", "a?id=1&l=2"), "b?id=7&l=1", "b?id=7&l=2"),
        (("node/100", "node/350"), "node/120", "node/370"),
        (("en/a_e.html", "fr/a_f.html"), "en/b_e.html", "fr/b_f.html"),
        (("новости/1?язык=ru", "новости/1?язык=uk"), "спорт/2?язык=ru", "спорт/2?язык=uk"),
    ],
)
def test_one_known_pair_leads_from_a_page_never_seen_to_its_partner_and_back(known, page, partner):
    habits = habits_of(known)
    assert habits.partners(url(page))[0][0] == url(partner)
    assert url(page) in dict(habits.partners(url(partner)))


def test_confidence_grows_with_frequency_and_falls_when_a_pattern_misleads():
    once = habits_of(("en/a", "fr/a"))
    often = habits_of(*((f"en/{n}x", f"fr/{n}x") for n in range(20)))
    misled = habits_of(*((f"en/{n}x", f"fr/{n}x") for n in range(20)), *((f"en/p{n}x", f"fr/q{n}y") for n in range(20)))
    page = url("en/z")
    assert dict(once.partners(page))[url("fr/z")] < dict(often.partners(page))[url("fr/z")]
    assert dict(misled.partners(page))[url("fr/z")] < dict(often.partners(page))[url("fr/z")]


def test_the_frequency_of_a_pattern_is_the_number_of_pairs_that_show_it():
    habits = habits_of(("en/a", "fr/a"), ("en/b", "fr/b"), ("c", "c_fr"))
    assert habits.frequency(url("en/new"), url("fr/new")) == 2
    assert habits.frequency(url("en/new"), url("de/new")) == 0


def test_a_change_of_the_directory_is_not_one_of_the_file_name():
    (directory,) = difference(raw_tokens(url("en/x")), raw_tokens(url("fr/x")))
    (file,) = difference(raw_tokens(url("x/en")), raw_tokens(url("x/fr")))
    assert (directory.part, file.part) == (PatternPart.PATHNAME, PatternPart.BASENAME)
    assert habits_of(("en/x", "fr/x")).partners(url("a/en")) == []


def test_nothing_known_predicts_nothing():
    assert PatternCounts().partners(url("en/a")) == []


def test_a_site_without_habits_stays_small_and_quick():
    habits = habits_of(*((f"a{n}/b{n * 7}", f"c{n * 3}/d{n}") for n in range(1500)))
    assert len(habits.patterns()) <= 500
    assert len(habits.partners(url("a3/b9"))) < 60
