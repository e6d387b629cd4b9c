import math

import pytest
from small_site import EN, FR, images, page

from bitrawl.mining.detectors import DigitDetector, ImageDetector, RareImages, density_threshold, digits
from bitrawl.mining.evidence import KnownPairs
from bitrawl.mining.site import condense, hashed


def test_the_threshold_is_the_minimum_after_the_main_lobe():
    rare, common = [2] * 40 + [3] * 20 + [1] * 20, [90] * 5 + [95] * 4
    assert 4 < density_threshold(rare + common) < 85


@pytest.mark.parametrize("frequencies", [[], [2], [2, 2], [2] * 30])
def test_without_a_second_lobe_no_image_is_common(frequencies):
    assert density_threshold(frequencies) == math.inf


def illustrated(count=20):
    pages = []
    for number in range(count):
        shown = images("logo.png", f"photo{number}.jpg")
        pages.append(page(f"http://s.test/en/{number}", EN, [f"page {number}"], images=shown))
        pages.append(page(f"http://s.test/q/{number}", FR, [f"feuille {number}"], images=shown))
    return condense(pages, [EN, FR])


def test_a_rare_image_pairs_two_pages_and_the_logo_none():
    site = illustrated()
    assert hashed("logo.png") not in RareImages(site).worth
    evidence = ImageDetector().propose(site, KnownPairs())
    assert evidence == {(2 * number, 2 * number + 1): 1.0 for number in range(20)}


def test_images_are_the_same_by_their_name_whatever_their_folder():
    pages = [
        page("http://s.test/1", EN, ["a"], images=images("en/x.png")),
        page("http://s.test/2", FR, ["b"], images=images("fr/x.png")),
    ]
    site = condense(pages, [EN, FR])
    assert site.images[0].tolist() == site.images[1].tolist() == [hashed("x.png")]


def test_digit_sequences_count_in_their_order():
    pages = [
        page("http://s.test/1", EN, ["In 1957 there were 318 boats and 42 houses in 1961"]),
        page("http://s.test/2", FR, ["En 1957 il y avait 318 bateaux et 42 maisons en 1961"]),
        page("http://s.test/3", FR, ["1961, 42, 318, 1957"]),
    ]
    site = condense(pages, [EN, FR])
    assert digits(site, (0, 1)) == 1.0
    assert digits(site, (0, 2)) < 0.5
    assert DigitDetector().propose(site, KnownPairs())[0, 1] == 1.0


def test_one_or_two_numbers_say_nothing():
    pages = [page("http://s.test/1", EN, ["In 1957"]), page("http://s.test/2", FR, ["En 1957"])]
    assert DigitDetector().propose(condense(pages, [EN, FR]), KnownPairs()) == {}
