import pytest
from small_site import EN, FR, articles, page

from bitrawl.mining.detectors import StructureDetector, combined, letter_of, measures, selected
from bitrawl.mining.evidence import KnownPairs
from bitrawl.mining.site import condense
from bitrawl.model import Method


def test_translations_are_built_alike_and_other_pages_less():
    pages, _ = articles(6, "http://s.test/e{}", "http://s.test/f{}")
    site = condense(pages, [EN, FR])
    for number in range(0, 12, 2):
        true = combined(measures(site, (number, number + 1)))
        assert all(combined(measures(site, (number, other))) <= true for other in range(1, 12, 2))


def test_measures_are_ratios():
    pages, _ = articles(2, "http://s.test/e{}", "http://s.test/f{}")
    site = condense(pages, [EN, FR])
    assert all(0 <= value <= 1 for value in measures(site, (0, 3)))
    assert measures(site, (0, 0)) == (1.0, 1.0, 1.0, 1.0)


def test_a_placeholder_is_not_comparable_with_the_page_that_it_stands_for():
    site = condense([page("http://s.test/1", EN, ["word " * 200]), page("http://s.test/2", FR, ["bientôt"])], [EN, FR])
    assert combined(measures(site, (0, 1))) == 0


@pytest.mark.parametrize(
    ("value", "letter"), [(0.95, Method.HIGH), (0.75, Method.MEDIUM), (0.55, Method.LOW), (0.1, None)]
)
def test_similarity_has_three_classes(value, letter):
    assert letter_of(value) == letter
    if letter:
        assert selected(value, frozenset({letter})) == value
    assert selected(value, frozenset({Method.URL})) == 0


def test_pages_with_a_very_common_structure_are_not_proposed():
    pages = [page(f"http://s.test/{n}", EN if n % 2 else FR, ["x" * 30] * 5) for n in range(60)]
    assert StructureDetector().propose(condense(pages, [EN, FR]), KnownPairs()) == {}
