"""The parts of lab/bench/papers/garcia.py that decide what is measured. They need no frozen sites."""

import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from made_up_pack import write_pack

from bitrawl.model import Language
from bitrawl.show import Series
from bitrawl.url import Url
from bitrawl.urls import RuleUrlPairModel
from lab.bench.papers import garcia
from lab.bench.papers.garcia import (
    LinkedSite,
    LinkTest,
    chosen_elsewhere,
    link_test,
    rank_correlation,
    result,
    rule_told,
)
from lab.bench.papers.panels import Curve, Lines, Two, dumbbells, lines

EN, FR, DE = map(Language, ("en", "fr", "de"))
ENGLISH, OTHER_ENGLISH, FRENCH, OTHER_FRENCH, GERMAN, COPY = (
    Url.parse(f"https://a.org/{path}") for path in ("en/x", "en/y", "fr/x", "fr/y", "de/x", "fr/copy")
)
SITE = LinkedSite(
    {ENGLISH: EN, OTHER_ENGLISH: EN, FRENCH: FR, OTHER_FRENCH: FR, GERMAN: DE, COPY: EN},
    {
        ENGLISH: [ENGLISH, FRENCH, GERMAN, OTHER_ENGLISH, COPY],
        FRENCH: [OTHER_FRENCH],
        OTHER_ENGLISH: [ENGLISH, COPY],
        GERMAN: [OTHER_FRENCH],
    },
)
TRUE = frozenset({(ENGLISH, FRENCH), (OTHER_ENGLISH, OTHER_FRENCH)})


def labelled(test: LinkTest) -> dict[tuple[Url, Url], bool]:
    return dict(zip(test.pairs, test.true.tolist(), strict=True))


def test_the_true_pairs_of_two_languages_stand_against_all_other_links_of_their_pages():
    assert labelled(link_test("a", SITE, (EN, FR), TRUE, frozenset())) == {
        (ENGLISH, FRENCH): True,
        (OTHER_ENGLISH, OTHER_FRENCH): True,  # no page links to it
        (ENGLISH, OTHER_ENGLISH): False,
        (ENGLISH, COPY): False,
        (FRENCH, OTHER_FRENCH): False,
        (OTHER_ENGLISH, COPY): False,
    }


def test_links_to_other_languages_and_pairs_that_nobody_can_judge_are_left_out():
    test = link_test("a", SITE, (EN, FR), TRUE, {(ENGLISH, COPY)})
    assert (ENGLISH, COPY) not in test.pairs
    assert not any(GERMAN in pair for pair in test.pairs)


def test_the_test_set_of_the_paper_has_only_pages_that_link_to_their_translation():
    test = link_test("a", SITE, (EN, FR), TRUE, frozenset())
    linked = {pair for pair, linked in zip(test.pairs, test.linked, strict=True) if linked}
    assert linked == {(ENGLISH, FRENCH), (ENGLISH, OTHER_ENGLISH), (ENGLISH, COPY)}


async def test_the_links_of_a_page_are_read_from_its_archived_html(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(garcia, "CACHE", tmp_path / "cache")
    pack = write_pack(tmp_path / "museum", articles=3)
    site = await garcia.linked_site(pack)
    page = Url.parse("http://museum.test/en/0.html")
    assert list(site.links[page]) == [Url.parse(f"http://museum.test/{path}.html") for path in ("fr/0", "en/1", "en/2")]
    assert site.languages[page] == EN


def answered(true: int, found: int, others: int, wrong: int) -> tuple[LinkTest, np.ndarray]:
    """A test with so many true pairs and others, and answers that find some of each."""
    labels = np.array([True] * true + [False] * others)
    answers = np.array([True] * found + [False] * (true - found) + [True] * wrong + [False] * (others - wrong))
    return LinkTest("a", (EN, FR), [(ENGLISH, FRENCH)] * len(labels), labels, np.ones(len(labels), bool)), answers


def test_macro_f1_is_the_mean_of_both_classes_and_each_language_pair_counts_the_same():
    large, small = answered(100, 50, 100, 0), answered(30, 30, 30, 0)
    measured = result([large[0], small[0]], [large[1], small[1]])
    halves = (2 * 0.5 / 1.5 + 2 * (100 / 150) / (100 / 150 + 1)) / 2
    assert measured.by_test[:, garcia.MACRO_F1] == pytest.approx([halves, 1.0])
    together = (2 * (80 / 130) / (80 / 130 + 1) + 2 * (130 / 180) / (130 / 180 + 1)) / 2
    assert measured.together[garcia.MACRO_F1] == pytest.approx(together)


def test_few_linked_pairs_give_no_figure_of_their_own():
    enough, few = answered(30, 30, 5, 0), answered(29, 29, 5, 0)
    measured = result([enough[0], few[0]], [enough[1], few[1]])
    assert (len(measured.by_test), len(measured.linked)) == (2, 1)


def test_a_rule_that_is_told_the_languages_refuses_the_mark_of_a_third():
    test = link_test("a", SITE._replace(languages=SITE.languages | {GERMAN: EN}), (EN, FR), TRUE, frozenset())
    place = test.pairs.index((GERMAN, ENGLISH))
    assert RuleUrlPairModel().parallel([test.pairs[place]]) == [1]
    assert not rule_told(test)[place]
    assert rule_told(test)[test.pairs.index((ENGLISH, FRENCH))]


def test_the_combination_of_a_site_is_chosen_on_other_sites():
    test, every = answered(30, 30, 30, 0)
    _, few = answered(30, 10, 30, 0)
    tests = [test, test._replace(site="b")]
    results = {(1,): result(tests, [every, few]), (2,): result(tests, [few, every])}
    worse = results[1,].by_test[1, garcia.MACRO_F1]
    assert chosen_elsewhere(tests, results) == pytest.approx(worse)


def test_ranks_are_correlated_not_values():
    assert rank_correlation([1, 2, 3], [10, 20, 1000]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3], [9, 4, 1]) == pytest.approx(-1)


def test_there_are_63_combinations_and_the_best_of_the_paper_is_the_one_that_it_names():
    assert len(garcia.PAPER_MACRO_F1) == 63
    assert max(garcia.PAPER_MACRO_F1, key=lambda chosen: garcia.PAPER_MACRO_F1[chosen]) == garcia.PAPER_BEST


def test_figures_are_drawn_as_svg_with_every_label():
    curve = Curve(Series("breadth-first", ((0, 0), (50, 40), (100, 90))), [(50, 30, 50)])
    drawings = (
        lines("Pairs", [Lines("English and French", [curve])] * 3, x="% of the fetches", y="% of the pairs"),
        dumbbells("F1", [Two("fr", "French", 40, 90)], names=("rules", "model"), y="F1"),
    )
    texts = ["".join(ET.fromstring(drawing).itertext()) for drawing in drawings]
    assert texts[0].count("English and French") == 3
    assert texts[0].count("breadth-first, 50 %: 30 to 50") == 3
    assert all(text in texts[1] for text in ("fr", "French: rules 40, model 90"))


def test_the_names_of_a_legend_stand_apart():
    names = ("breadth-first", "language-filter", "url-models", "url-patterns", "plain-queue", "adaptive")
    curves = [Curve(Series(name, ((0, 0), (100, 80))), []) for name in names]
    drawn = ET.fromstring(lines("Pairs", [Lines("English and French", curves)], x="fetches", y="pairs"))
    places = [(float(text.get("y", "")), float(text.get("x", ""))) for text in drawn.iter() if text.text in names]
    assert len(places) == len(names)
    pixels = 8 * max(map(len, names))  # a wide letter has eight
    for (y, x), (other_y, other_x) in pairwise(sorted(places)):
        assert other_y - y >= 12 or other_x - x >= pixels
