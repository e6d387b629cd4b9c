"""The parts of lab/bench/translation.py that decide what is measured: they need neither site packs nor sil-thot."""

from pathlib import Path

from small_site import alternate

import lab.bench
from bitrawl.model import Language, Link, LinkKind, Page
from bitrawl.url import Url
from bitrawl.urls import rule_pairs
from lab.bench.__main__ import names
from lab.bench.translation import (
    RUNS,
    SiteCopy,
    Split,
    differences,
    held_out,
    translated,
    with_hidden_urls,
    without_leaks,
)
from lab.bench.translator import LanguageModel, Translator, phrase_pairs, tokens

EN, FR = Language("en"), Language("fr")
PAIRS = [(Url.parse(f"https://a.org/en/{n}"), Url.parse(f"https://a.org/fr/{n}")) for n in range(1000)]

RED_HOUSE = (("the", "red", "house"), ("la", "maison", "rouge"))
CROSSED = [(0, 0), (1, 2), (2, 1)]
BOOK = (("the", "book"), ("le", "livre"))
STRAIGHT = [(0, 0), (1, 1)]


def test_a_split_holds_out_about_its_share_of_the_pairs():
    assert 150 < len(held_out(PAIRS, 0)) < 250


def test_whether_a_pair_is_held_out_depends_on_nothing_but_the_pair_and_the_split():
    held = held_out(PAIRS, 0)
    assert held_out(PAIRS[::-1], 0) == held[::-1]
    assert held_out(PAIRS[:10] + held, 0)[-len(held) :] == held
    assert held_out(PAIRS, 1) != held


def test_a_held_out_page_is_on_the_site_no_more_and_in_none_of_its_pairs():
    a, b = PAIRS[0]
    other = Url.parse("https://a.org/fr/other")
    site = SiteCopy("a", (EN, FR), dict.fromkeys((a, b, other)), (), ((a, b), (a, other)))  # type: ignore[arg-type]
    rest = site.without(frozenset((a, b)))
    assert list(rest.pages) == [other]
    assert rest.known == ()


def test_hidden_urls_say_nothing_and_still_lead_to_the_same_pages():
    a, b = PAIRS[0]
    pages = {a: Page(a, EN, links=(Link(b, LinkKind.PAGE, a),), alternates=(alternate(b, "fr"),)), b: Page(b, FR)}
    hidden = with_hidden_urls(SiteCopy("a", (EN, FR), pages, (), ((a, b),)))
    [(one, two)] = hidden.known
    assert list(hidden.pages) == [one, two]
    page = hidden.pages[one]
    assert [page.url, page.links[0].url, page.links[0].source, page.alternates[0].url] == [one, two, one, two]
    assert (one.host, one.path.strip("/").isdigit()) == ("a.org", True)
    assert rule_pairs(hidden.pages, EN, FR) == []


def test_who_has_learned_nothing_leaves_every_word_as_it_is():
    assert translated([], ["the red house"]) == ["the red house"]


def test_a_test_segment_of_which_one_side_was_taught_to_any_system_is_dropped():
    tests = [("Open the file.", "Ouvrez le fichier."), ("Close it.", "Fermez-le."), ("Save it now.", "Enregistrez.")]
    corpora = [[("open the file", "something else")], [("something else", "FERMEZ-LE !")]]
    assert without_leaks(tests, corpora) == [tests[2]]


def test_a_test_segment_that_is_there_twice_counts_once():
    tests = [("Save it now.", "Enregistrez."), ("save it now", "Sauvegardez.")]
    assert without_leaks(tests, []) == tests[:1]


def test_phrases_never_cut_a_link():
    found = set(phrase_pairs(*RED_HOUSE, CROSSED))
    assert (("red", "house"), ("maison", "rouge")) in found
    assert (("red",), ("rouge",)) in found
    assert not any(source == ("the", "red") for source, _ in found)


def test_a_word_without_a_link_may_join_its_neighbour():
    found = set(phrase_pairs(("museum",), ("le", "musée", "!"), [(0, 1)]))
    assert {target for _, target in found} == {("musée",), ("le", "musée"), ("musée", "!"), ("le", "musée", "!")}


def test_the_probabilities_of_a_language_model_sum_to_one():
    model = LanguageModel([RED_HOUSE[1], BOOK[1]])
    words = {"la", "maison", "rouge", "le", "livre", "</s>"}
    for history in (("<s>", "<s>"), ("la", "maison"), ("never", "seen")):
        total = sum(model._probability((*history, word)) for word in words)
        unknown = model._probability((*history, "unknown"))
        assert abs(total + unknown - 1) < 1e-9


def test_the_translator_reorders_within_phrases_and_leaves_unknown_words():
    translator = Translator([RED_HOUSE, BOOK], [CROSSED, STRAIGHT])
    assert translator.translate(tokens("The red house")) == ("la", "maison", "rouge")
    assert translator.translate(tokens("the book GIMP")) == ("le", "livre", "gimp")
    assert translator.translate(()) == ()


def test_the_language_model_decides_between_translations():
    corpus = [*[(("a",), ("x",))] * 2, (("a", "b"), ("y", "z")), (("b",), ("z",))]
    links = [[(0, 0)], [(0, 0)], STRAIGHT, [(0, 0)]]
    assert Translator(corpus, links).translate(("a", "b")) == ("y", "z")


def test_han_characters_are_words_of_their_own():
    assert tokens("打开File上 x_1.txt") == ("打", "开", "file", "上", "x_1", ".", "txt")


def test_each_benchmark_can_be_run_by_its_name():
    folder = Path(lab.bench.__file__).parent
    assert [
        name for name in names() if "\ndef main(" not in (folder / f"{name.replace('.', '/')}.py").read_text()
    ] == []


def test_the_runs_name_a_site_and_a_language():
    assert all(run.count(":") == 1 for run in RUNS)


def test_a_difference_over_sites_is_certain_where_each_segment_is_better_and_nothing_where_all_are_the_same():
    lines = [f"the red house number {n} is old" for n in range(30)]
    worse = [f"the red house number {n} was small" for n in range(30)]
    systems = {"ours": lines, "known": lines, "rules": worse}
    split = Split({system: [] for system in systems}, dict.fromkeys(systems, 1), lines, lines, systems)
    found = differences([[split], [split]])
    assert found["known"] == (0.0, 0.0, 0.0)
    assert 0 < found["rules"].low <= found["rules"].bleu <= found["rules"].high
