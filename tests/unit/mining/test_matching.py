from small_site import EN, FR, page

from bitrawl.mining.evidence import Evidence
from bitrawl.mining.pairing import match
from bitrawl.mining.site import condense
from bitrawl.model import Language

DE = Language("de")


def site(*languages):
    return condense([page(f"http://s.test/{n}", lang, [str(n)]) for n, lang in enumerate(languages)], [EN, FR, DE])


def test_a_page_has_one_translation_in_a_language():
    made = site(EN, FR, FR, EN)
    assert match(made, Evidence.of({(0, 1): 0.9, (0, 2): 0.95, (2, 3): 0.92, (1, 3): 0.6}), 0.5) == {
        (0, 2): 0.95,
        (1, 3): 0.6,
    }


def test_a_page_has_a_translation_in_each_language():
    assert match(site(EN, FR, DE), Evidence.of({(0, 1): 0.9, (0, 2): 0.8, (1, 2): 0.7}), 0.5).keys() == {
        (0, 1),
        (0, 2),
        (1, 2),
    }


def test_what_is_below_the_threshold_is_no_pair():
    assert match(site(EN, FR), Evidence.of({(0, 1): 0.4}), 0.5) == {}


def test_the_order_of_equal_scores_is_that_of_the_pages():
    made = site(EN, FR, FR)
    assert match(made, Evidence.of({(0, 2): 0.9, (0, 1): 0.9}), 0.5) == {(0, 1): 0.9}
    assert match(made, Evidence.of({(0, 1): 0.9, (0, 2): 0.9}), 0.5) == {(0, 1): 0.9}
