"""Pairing takes any pages: none, odd ones, many of the same; it holds few of them, and reads them few times."""

import random
import weakref

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_site import EN, FR, alternate, articles, images, links, page

from bitrawl.mining import PairSection
from bitrawl.mining.detectors import UrlDetector
from bitrawl.mining.evidence import KnownPairs
from bitrawl.mining.pairing import Pairing
from bitrawl.mining.site import MAX_TEXT, condense
from bitrawl.model import Language, Page, Sitemap
from bitrawl.url import Url
from bitrawl.urls import LIKELY

DE = Language("de")
ODD = {
    "no paragraphs": [],
    "an empty paragraph": [""],
    "spaces": ["   ", "\u3000"],
    "a million words": [" ".join([*map("word{}".format, range(5000))] * 200)],
    "all digits": ["1234567890 " * 500, "٣٤٥ ६७८ 9" * 50, "9" * 5000],
    "all emoji": ["😀🎉👩‍👩‍👧" * 300],
    "punctuation": ["... --- !!! ???" * 40],
    "one long word": ["x" * 100_000],
    "broken characters": ["\ud800 broken \udfff " * 20],
    "combining marks only": ["\u0301\u0302\u0e31" * 200],
    "a paragraph for each letter": list("abcdefgh" * 300),
}


@pytest.mark.parametrize("odd", ODD)
def test_odd_pages_are_no_fault_and_change_no_other_pair(odd):
    pages, pairs = articles(12, "http://s.test/en/{}.html", "http://s.test/fr/{}.html")
    strange = [page("http://s.test/en/odd", EN, ODD[odd]), page("http://s.test/fr/odd", FR, ODD[odd])]
    found = {(str(p.url_a), str(p.url_b)) for p in Pairing().pairs([*pages, *strange], [EN, FR]).pairs}
    assert pairs <= found
    assert len(found) <= len(pairs) + 1


@pytest.mark.parametrize("odd", ODD)
def test_a_site_of_nothing_but_odd_pages_is_no_fault(odd):
    pages = [page(f"http://s.test/{language}/{n}", language, ODD[odd]) for n in range(3) for language in (EN, FR)]
    result = Pairing().pairs(pages, [EN, FR])
    assert all(pair.lang_a != pair.lang_b for pair in result.pairs)


def test_a_site_in_one_language_has_no_pairs():
    pages, _ = articles(30, "http://s.test/a{}", "http://s.test/b{}")
    english = [one for one in pages if one.language == EN]
    assert Pairing().pairs(english, [EN, FR]).pairs == []
    assert Pairing().pairs(english, [EN]).pairs == []
    assert Pairing().pairs(english, []).pairs == []


def test_ten_thousand_pages_with_the_same_text_are_one_page():
    """Each page looks at a few others: with each looking at all, this would take hours."""
    text = [
        "The harbour opens before the winter, and the boat sees the storm from far away." * 3,
        "In 1957, 318 boats.",
    ]
    french = [
        "Le port ouvre avant l'hiver, et le bateau voit la tempête de très loin, comme toujours." * 3,
        "318 en 1957.",
    ]
    pages = [page(f"http://s.test/en/{n}", EN, text, images=images("a.png")) for n in range(5_000)]
    pages += [page(f"http://s.test/fr/x{n}", FR, french, images=images("a.png")) for n in range(5_000)]
    assert len(Pairing().pairs(pages, [EN, FR]).pairs) <= 1


def test_a_thousand_pages_whose_addresses_differ_in_case_are_no_versions_of_each_other():
    def name(number):
        return "".join(letter.upper() if number >> place & 1 else letter for place, letter in enumerate("skeletonly"))

    pages = [page(f"http://s.test/{name(n)}", (EN, FR)[n % 2], [f"text {n} of its own " * 10]) for n in range(1_000)]
    site = condense(pages, [EN, FR])
    said = UrlDetector().propose(site, KnownPairs())
    assert len(said) < 50
    assert all(value < LIKELY for value in said.values())
    assert len(Pairing().pairs(pages, [EN, FR]).refusals) < 1_000


def test_a_picture_that_a_tenth_of_a_large_site_has_proposes_few_pairs():
    pages = [
        page(f"http://s.test/{n}", (EN, FR)[n % 2], [f"{n} " * 60], images=images(f"{n % 11}.png"))
        for n in range(2_200)
    ]
    assert len(Pairing().pairs(pages, [EN, FR]).pairs) <= 1_100


def test_addresses_without_any_mark_are_no_fault():
    pages, pairs = articles(14, "http://{}a.test/", "http://10.0.0.1:80{:02}/?q")
    assert {(str(p.url_a), str(p.url_b)) for p in Pairing().pairs(pages, [EN, FR]).pairs} <= pairs


class Counting:
    """Pages that are made when they are asked for: how often, and how many are alive at a time."""

    def __init__(self, pages):
        self._pages = pages
        self.passes = self.most = 0
        self.alive = weakref.WeakSet()
        self.read_again = []

    def __call__(self):
        self.passes += 1
        for one in self._pages:
            yield self._fresh(one)

    def page_of(self, url):
        self.read_again.append(url)
        return self._fresh(next(one for one in self._pages if one.url == url))

    def _fresh(self, one):
        made = Alive(one)
        self.alive.add(made)
        self.most = max(self.most, len(self.alive))
        return made


class Alive:
    """A page that can be referred to weakly."""

    def __init__(self, one):
        self._one = one

    def __getattr__(self, name):
        return getattr(self._one, name)


def test_pages_are_read_twice_and_held_one_at_a_time():
    pages, pairs = articles(40, "http://s.test/{}a9", "http://s.test/b{}x")
    source = Counting(pages)
    result = Pairing().pairs(source, [EN, FR], page_of=source.page_of)
    assert {(str(p.url_a), str(p.url_b)) for p in result.pairs} == pairs
    assert source.passes == 2
    assert source.most <= 2  # the next is made while a loop's variable still has the last
    assert source.read_again  # by the lexicon


def test_a_stream_gives_what_a_list_gives_in_any_order():
    pages, _ = articles(40, "http://s.test/{}a9", "http://s.test/b{}x")
    shuffled = random.Random(3).sample(pages, len(pages))
    listed, streamed = Pairing().pairs(pages, [EN, FR]), Pairing().pairs(lambda: iter(shuffled), [EN, FR])
    assert streamed == listed


def test_a_page_that_comes_or_goes_between_two_readings_is_no_fault():
    pages, _ = articles(14, "http://s.test/en/{}", "http://s.test/fr/{}")
    readings = iter([pages[2:], pages[:-2]])
    result = Pairing().pairs(lambda: iter(next(readings)), [EN, FR], page_of=lambda _url: None)
    urls = {str(one.url) for one in pages[2:-2]}
    assert result.pairs
    assert all({str(pair.url_a), str(pair.url_b)} <= urls for pair in result.pairs)


def test_what_is_kept_of_a_page_does_not_grow_with_it():
    def size(words):
        texts = [f"word{n} number {n} and image {n}" for n in range(words)]
        more = {"links": links("http://s.test/1", [f"http://s.test/{n}" for n in range(words)]), "tags": ("p",) * words}
        site = condense([page("http://s.test/1", EN, texts, **more), page("http://s.test/2", FR, texts)], [EN, FR])
        rows = (site.prose, site.term_rows, site.words, site.numbers, site.images, site.links, site.alternates)
        one = site.summaries[0]
        return sum(row.flat.nbytes + row.values.nbytes for row in rows) + len(one.tags) + len(one.fingerprint)

    assert size(12_000) == size(6_000) < 20 * MAX_TEXT


TEXTS = st.lists(st.text(max_size=80), max_size=6)
MADE = st.builds(
    lambda name, language, texts, targets, pictures: page(
        f"http://s.test/{name}",
        language,
        texts,
        links=links("http://s.test/", [f"http://s.test/{target}" for target in targets]),
        alternates=tuple(alternate(f"http://s.test/{target}", "fr") for target in targets),
        images=images(*pictures),
    ),
    st.sampled_from(["a", "b", "c", "en/x", "fr/x", "x?lang=fr", "x_en.html", "x_fr.html"]),
    st.sampled_from([EN, FR, DE, Language("und")]),
    TEXTS,
    st.lists(st.sampled_from(["a", "b", "en/x", "fr/x"]), max_size=4),
    st.lists(st.sampled_from(["1.png", "2.png"]), max_size=2),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pages=st.lists(MADE, max_size=14), keep=st.booleans())
def test_whatever_the_pages_a_page_has_one_partner_in_a_language(pages: list[Page], keep):
    groups = tuple((alternate(one.url, str(one.language)), alternate(pages[0].url, "en")) for one in pages)
    sitemap = Sitemap(Url.parse("http://s.test/sitemap.xml"), alternates=groups)
    result = Pairing(PairSection(threshold=0.1, machine_translated=keep)).pairs(pages, [EN, FR, DE], [sitemap])
    ends = [(url, other) for p in result.pairs for url, other in ((p.url_a, p.lang_b), (p.url_b, p.lang_a))]
    assert len(ends) == len(set(ends))
    for pair in result.pairs:
        assert pair.lang_a != pair.lang_b
        assert 0 <= pair.score <= 1
        assert all(0 < value <= 1 for value in pair.evidence.values())
