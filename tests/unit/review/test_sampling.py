import random
from collections import Counter
from collections.abc import Iterable

import pytest

from bitrawl.model import Segment, SegmentPair, TranslationUnit
from bitrawl.review import SpreadSample
from bitrawl.review.results import Place
from bitrawl.url import Url


def place(unit: TranslationUnit) -> Place:
    pair = unit.pair
    return pair.url_a.site, pair.score, (pair.url_a, pair.url_b, pair.a.text, pair.b.text)


def sampled(units: Iterable[TranslationUnit], size: int, seed: int = 0) -> list[TranslationUnit]:
    return SpreadSample.drawn(units, size, place, seed=seed)


def unit(site: str, number: int, score: float) -> TranslationUnit:
    urls = (Url.parse(f"https://www.{site}/en/{number}"), Url.parse(f"https://www.{site}/fr/{number}"))
    return TranslationUnit.alone(SegmentPair(*urls, Segment(f"Text {number}"), Segment(f"Texte {number}"), score))


def site_of(one: TranslationUnit) -> str:
    return one.pair.url_a.site


LARGE = [unit("large.org", n, 0.5 + n % 500 / 1000) for n in range(3000)]
SMALL = [unit("small.org", n, 0.95) for n in range(4)]


def test_sites_and_score_ranges_are_drawn_alike_however_many_units_they_have():
    middle = [unit("middle.org", n, 0.65) for n in range(100)]
    found = Counter((site_of(one), int(one.pair.score * 10)) for one in sampled([*LARGE, *middle, *SMALL], 49))
    assert found.pop(("small.org", 9)) == 4  # all that it has
    assert sum(found.values()) == 45
    assert set(found.values()) <= {7, 8}
    assert len(found) == 6  # five ranges of the large site, one of the middle one


def test_the_order_of_the_units_changes_nothing_and_another_seed_does():
    shuffled = [*LARGE, *SMALL]
    random.Random(3).shuffle(shuffled)
    assert sampled(shuffled, 30) == sampled([*LARGE, *SMALL], 30)
    assert sampled(shuffled, 30, seed=1) != sampled(shuffled, 30)
    assert sampled(shuffled, 30, seed=-1) == sampled(shuffled, 30, seed=-1)


def test_of_more_sites_than_places_some_are_drawn_each_once():
    many = [unit(f"site{n % 200}.org", n, 0.9) for n in range(4000)]
    found = sampled(many, 20)
    assert len({site_of(one) for one in found}) == len(found) == 20
    many.reverse()
    assert sampled(many, 20) == found


def test_every_unit_of_a_stratum_has_the_same_chance():
    few = [unit("a.org", n, 0.9) for n in range(10)]
    drawn = Counter(one.pair.url_a for seed in range(400) for one in sampled(few, 3, seed=seed))
    assert len(drawn) == 10
    assert all(80 < times < 165 for times in drawn.values())  # 120 each, the same in every run


@pytest.mark.parametrize(("size", "count"), [(0, 0), (1, 1), (4, 4), (50, 4)])
def test_no_more_than_asked_for_and_no_more_than_there_are(size, count):
    assert len(sampled(SMALL, size)) == count
    assert sampled([], size) == []


def test_what_is_drawn_is_sorted_by_site_and_score():
    found = sampled([*SMALL, *LARGE], 40)
    assert found == sorted(found, key=lambda one: (site_of(one), one.pair.score))


def test_no_more_than_the_sample_is_kept_in_memory():
    alive = 0

    class Counted(TranslationUnit, frozen=True):
        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    most = 0

    def stream():
        nonlocal alive, most
        for one in LARGE:
            alive += 1
            most = max(most, alive)
            yield Counted(one.pair, one.sources)

    assert len(sampled(stream(), 25)) == 25
    assert most <= 28


def test_a_sample_is_of_all_sites_and_scores_and_no_two_entries_are_alike():
    entries = [("large", 0.95, number) for number in range(5000)]
    for number, score in enumerate((0.05, 0.5, 0.95)):
        entries += [("small", score, number), ("large", score, number), ("large", score, number)]
    drawn = SpreadSample.drawn(entries, 30, lambda entry: (entry[0], entry[1], tuple(map(str, entry))))
    assert len(drawn) == len(set(drawn)) == 30
    assert {entry[:2] for entry in drawn} == {
        (site, score) for site in ("large", "small") for score in (0.05, 0.5, 0.95)
    }
