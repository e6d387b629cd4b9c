"""What holds for every detector; add yours to DETECTORS."""

import pytest
from small_site import EN, FR, alternate, articles, images, links, page

from bitrawl.mining.content import TermSpace
from bitrawl.mining.detectors import (
    DeclaredDetector,
    DigitDetector,
    ImageDetector,
    MutualDetector,
    StructureDetector,
    UrlDetector,
)
from bitrawl.mining.evidence import Evidence, KnownPairs
from bitrawl.mining.parents import BridgeDetector, ParentDetector
from bitrawl.mining.site import condense
from bitrawl.model import Language


class Kept:
    """What translations keep has no detector of its own: the survey asks its candidates and its similarity."""

    def propose(self, site, known):
        space = TermSpace(site)
        keys = space.candidates()
        return Evidence(keys, space.cosines(keys))


DETECTORS = [
    DeclaredDetector,
    MutualDetector,
    UrlDetector,
    ImageDetector,
    DigitDetector,
    StructureDetector,
    Kept,
    ParentDetector,
    BridgeDetector,
]
DE = Language("de")


def pages(order=1):
    """Translations that declare and link to each other, with images, and a third language."""
    made, _ = articles(10, "http://s.test/en/{}", "http://s.test/fr/{}")
    rich = []
    for number, one in enumerate(made):
        other = made[number ^ 1]
        rich.append(
            page(
                one.url,
                one.language,
                [p.text for p in one.paragraphs],
                alternates=(alternate(other.url, other.language),),
                links=links(one.url, [other.url, made[(number + 2) % 20].url]),
                images=images(f"photo{number // 2}.jpg", "logo.png"),
            )
        )
    rich.append(page("http://s.test/de/0", DE, [p.text for p in made[1].paragraphs]))
    return rich[::order]


def evidence(detector, made):
    site = condense(made, [EN, FR, DE])
    numbers = {summary.url: summary.number for summary in site.summaries}
    known = KnownPairs(
        {tuple(sorted((numbers[f"http://s.test/en/{n}"], numbers[f"http://s.test/fr/{n}"]))): 1.0 for n in range(4)}
        | {tuple(sorted((numbers["http://s.test/fr/0"], numbers["http://s.test/de/0"]))): 1.0},
        site,
    )
    return site, detector().propose(site, known)


@pytest.mark.parametrize("detector", DETECTORS)
def test_it_finds_something_on_a_site_that_has_everything(detector):
    assert evidence(detector, pages())[1]


@pytest.mark.parametrize("detector", DETECTORS)
def test_evidence_is_between_0_and_1_for_two_pages_in_two_languages(detector):
    site, found = evidence(detector, pages())
    for (a, b), value in found.items():
        assert 0 < value <= 1
        assert a < b
        assert site.summaries[a].language != site.summaries[b].language


@pytest.mark.parametrize("detector", DETECTORS)
def test_the_order_of_the_pages_changes_nothing(detector):
    def by_url(made):
        site, found = evidence(detector, made)
        return {frozenset((site.summaries[a].url, site.summaries[b].url)): value for (a, b), value in found.items()}

    assert by_url(pages()) == pytest.approx(by_url(pages(-1)))


@pytest.mark.parametrize("detector", DETECTORS)
def test_an_empty_site_has_no_evidence(detector):
    assert detector().propose(condense([], [EN, FR]), KnownPairs()) == {}
