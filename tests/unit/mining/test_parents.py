import numpy as np
from small_site import EN, FR, links, page

from bitrawl.mining.evidence import KnownPairs, pair_key
from bitrawl.mining.parents import BridgeDetector, ParentDetector, Relatives, aligned_links
from bitrawl.mining.site import condense
from bitrawl.model import Language

ENGLISH = [f"http://s.test/e{n}" for n in range(5)]
FRENCH = [f"http://s.test/f{n}" for n in range(5)]


def site():
    """Two home pages that link to four pages each, in the same order, under opaque addresses."""
    pages = [page(ENGLISH[0], EN, ["home"] * 8, links=links(ENGLISH[0], ENGLISH[1:]))]
    pages += [page(FRENCH[0], FR, ["accueil"] * 8, links=links(FRENCH[0], FRENCH[1:]))]
    pages += [page(url, EN, [url]) for url in ENGLISH[1:]] + [page(url, FR, [url]) for url in FRENCH[1:]]
    return condense(pages, [EN, FR])


CHILDREN = {(2 + n, 6 + n) for n in range(4)}


def test_links_at_aligned_places_of_paired_parents_pair_their_targets():
    made = site()
    known = KnownPairs({(0, 1): 1.0}, made)
    assert set(aligned_links(made, known, 0, 1)) == CHILDREN
    evidence = ParentDetector().propose(made, known)
    assert set(evidence) == CHILDREN
    assert all(0 < value < 1 for value in evidence.values())


def test_without_known_pairs_there_is_nothing_to_align():
    assert ParentDetector().propose(site(), KnownPairs()) == {}


def test_relatives_are_shared_by_translations_only():
    made = site()
    relatives = Relatives(made, KnownPairs(dict.fromkeys(CHILDREN, 1.0), made))
    assert relatives.similarities(np.array([pair_key((0, 1)), pair_key((2, 6))])).tolist() == [1.0, -1.0]


def test_two_pages_paired_with_the_same_third_are_bridged():
    german = Language("de")
    pages = [page(f"http://s.test/{n}", language, [str(n)]) for n, language in enumerate((EN, FR, german))]
    made = condense(pages, [EN, FR, german])
    evidence = BridgeDetector().propose(made, KnownPairs({(0, 1): 1.0, (1, 2): 1.0}, made))
    assert evidence == {(0, 2): 0.5}
