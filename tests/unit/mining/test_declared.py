import pytest
from small_site import EN, FR, alternate, links, page

from bitrawl.mining.detectors import DeclaredDetector, MutualDetector, claims
from bitrawl.mining.evidence import KnownPairs
from bitrawl.mining.site import condense

A, B, C = (f"http://site.test/{name}" for name in ("a", "b", "c"))


def site(*pages):
    return condense(pages, [EN, FR])


def declared(*pages):
    return DeclaredDetector().propose(site(*pages), KnownPairs())


def test_a_declaration_that_is_returned_is_worth_more_than_one_that_is_not():
    one_way = declared(page(A, EN, ["a"], alternates=(alternate(B, "fr"),)), page(B, FR, ["b"]))
    both = declared(
        page(A, EN, ["a"], alternates=(alternate(B, "fr"),)), page(B, FR, ["b"], alternates=(alternate(A, "en"),))
    )
    assert 0 < one_way[0, 1] < both[0, 1] <= 1


def test_a_page_that_is_not_in_the_declared_language_is_no_translation():
    pages = (page(A, EN, ["a"], alternates=(alternate(B, "fr"),)), page(B, EN, ["b"]))
    assert declared(*pages) == {}
    assert claims(site(*pages)) == {(0, 1)}


def test_a_page_that_many_declare_their_translation_is_nobodys():
    pages = [page(f"{A}{n}", EN, ["a"], alternates=(alternate(B, "fr"),)) for n in range(3)]
    assert declared(*pages, page(B, FR, ["b"])) == {}


@pytest.mark.parametrize("language", ["", "x-default"])
def test_a_declaration_without_a_language_counts_for_what_the_page_is(language):
    assert (0, 1) in declared(page(A, EN, ["a"], alternates=(alternate(B, language),)), page(B, FR, ["b"]))


def test_pages_that_link_to_each_other_are_evidence_and_several_share_it():
    alone = site(page(A, EN, ["a"] * 4, links=links(A, [B])), page(B, FR, ["b"] * 4, links=links(B, [A])))
    several = site(
        page(A, EN, ["a"] * 4, links=links(A, [B, C])),
        page(B, FR, ["b"] * 4, links=links(B, [A])),
        page(C, FR, ["c"] * 4, links=links(C, [A])),
    )
    assert MutualDetector().propose(alone, KnownPairs()) == {(0, 1): 1.0}
    assert MutualDetector().propose(several, KnownPairs()) == {(0, 1): 0.5, (0, 2): 0.5}
