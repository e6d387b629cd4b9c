import pytest

from bitrawl.corpus.naming import paragraph_id
from bitrawl.model import Segment, SegmentPair, TranslationUnit, UnitSource
from bitrawl.store.unit_merger import merged
from bitrawl.url import Url


def pair(a: str, b: str, page: int = 0, score: float = 0.5, paragraph: int = 0) -> SegmentPair:
    urls = (Url.parse(f"https://a.org/en/{page}"), Url.parse(f"https://a.org/fr/{page}"))
    return SegmentPair(*urls, Segment(a, paragraph), Segment(b, paragraph), score)


def test_a_pair_found_once_is_a_unit_with_one_source():
    one = pair("Good morning", "Bonjour")
    assert list(merged([one])) == [TranslationUnit(one, (UnitSource.of(one),))]


def test_equal_pairs_merge_into_the_best_scored_and_keep_all_sources():
    pairs = [pair("A", "B", 1, 0.4), pair("C", "D", 1), pair("A", "B", 2, 0.9), pair("A", "B", 3, 0.6)]
    first, second = merged(pairs)
    assert first.pair == pairs[2]
    assert [source.url_a[-1] for source in first.sources] == ["2", "1", "3"]
    assert second.pair == pairs[1]


def test_one_text_with_two_translations_is_two_units():
    assert len(list(merged([pair("bank", "banque"), pair("bank", "rive")]))) == 2


def test_the_same_place_counts_once():
    (unit,) = merged([pair("A", "B"), pair("A", "B")])
    assert len(unit.sources) == 1


@pytest.mark.parametrize(
    ("other", "count"),
    [
        (("CHAPTER 1, TEA", "chapitre 1, thé"), 1),
        (("Chapter 1 : tea!", "« Chapitre 1 : thé » !"), 1),
        (("Chapter 2: tea", "Chapitre 2 : thé"), 2),
        (("Chapter 1: tea", "Chapitre 1 : les thés"), 2),
        (("Chapter 1.1: tea", "Chapitre 11 : thé"), 2),
        (("Chapter 1: tea €", "Chapitre 1 : thé €"), 2),
    ],
)
def test_the_best_of_nearly_equal_pairs_represents_all(other, count):
    units = list(merged([pair("Chapter 1: tea", "Chapitre 1 : thé", 1, 0.5), pair(*other, page=2, score=0.8)]))
    assert len(units) == count
    assert units[-1].pair.a.text == other[0]
    assert sum(len(unit.sources) for unit in units) == 2
    assert sum(unit.variants for unit in units) == 2 - count


def test_nearly_equal_pairs_give_one_unit_at_the_place_of_the_first_with_all_sources():
    pairs = [pair("Tea", "Thé", 1, 0.5), pair("Milk", "Lait", 1), pair("Tea!", "Thé !", 2, 0.9), pair("Tea", "Thé", 3)]
    first, second = merged(pairs)
    assert (first.pair, second.pair) == (pairs[2], pairs[1])
    assert [source.url_a[-1] for source in first.sources] == ["2", "1", "3"]
    assert (first.variants, second.variants) == (1, 0)


@pytest.mark.parametrize(
    ("one", "other"),
    [(("12.5", "12,5"), ("13.7", "13,7")), (("1.5 cm", "1,5 cm"), ("15 cm", "15 cm")), (("कि है", "x"), ("की है", "x"))],
)
def test_what_differs_in_figures_or_vowel_signs_is_not_nearly_equal(one, other):
    assert len(list(merged([pair(*one), pair(*other)]))) == 2


def test_kept_duplicates_are_flagged_in_the_words_of_ilsp_fc():
    pairs = [pair("Tea", "Thé", 1, 0.9), pair("Tea", "Thé", 2, 0.5), pair("TEA!", "Thé !", 3, 0.8)]
    assert [unit.pair.flags for unit in merged(pairs, keep_duplicates=True)] == [
        (),
        ("duplicate",),
        ("near-duplicate",),
    ]


def test_paragraphs_count_from_one():
    assert [paragraph_id(0), paragraph_id(11), paragraph_id(-1)] == ["p1", "p12", ""]
