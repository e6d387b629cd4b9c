"""Pairs merged into units: from one stream, and from the shards of several jobs."""

import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitrawl.corpus.export import paragraph_id
from bitrawl.corpus.merger import Groups, grouped
from bitrawl.corpus.shards import Block, UnitKeys, data_file, keyed, keys_file, shard_counts, shard_writer
from bitrawl.errors import StoreError
from bitrawl.model import Segment, SegmentPair, TranslationUnit, UnitSource, pack
from bitrawl.url import Url
from lab.bench.merge import merged


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


TEXT = st.sampled_from(["Tea", "tea!", "TEA", "Milk", "1.5", "15", "1,5", "…", ""])
PAIR = st.builds(
    lambda a, b, page, score: SegmentPair(
        Url.parse(f"https://a.org/en/{page}"), Url.parse(f"https://a.org/fr/{page}"), Segment(a), Segment(b), score
    ),
    TEXT,
    TEXT,
    st.integers(0, 5),
    st.sampled_from([0.3, 0.5, 0.9]),
)


def shard(path: Path, pairs: Sequence[SegmentPair]) -> Path:
    with shard_writer(path) as write:
        for pair, keys in keyed(pairs):
            write(keys, pair.score, pack(pair))
    return path


def in_memory(pairs: Sequence[SegmentPair]) -> list[TranslationUnit]:
    """The same by the definition: among nearly equal pairs, the first of the best scored represents all."""
    groups: dict[int, list[tuple[SegmentPair, UnitKeys]]] = {}
    for pair, keys in keyed(pairs):
        groups.setdefault(keys.near, []).append((pair, keys))
    units = []
    for members in groups.values():
        best = max((pair for pair, _ in members), key=lambda pair: pair.score)
        sources = dict.fromkeys([UnitSource.of(best), *(UnitSource.of(pair) for pair, _ in members)])
        units.append(TranslationUnit(best, tuple(sources), len({keys.exact for _, keys in members}) - 1))
    return units


def merged_parts(folder: Path, parts: Sequence[Sequence[SegmentPair]], bucket_rows: int) -> list[TranslationUnit]:
    paths = [shard(folder / str(number), pairs) for number, pairs in enumerate(parts)]
    with grouped(paths, folder / "scratch", bucket_rows) as groups:
        units = list(groups.units())
        _counts_agree(groups, units, parts)
    return units


def _counts_agree(groups: Groups, units: list[TranslationUnit], parts: Sequence[Sequence[SegmentPair]]) -> None:
    counts = groups.counts
    assert counts.rows == sum(map(len, parts))
    assert counts.near == len(units) == sum(groups.represented(groups.shards.starts[:-1]))
    assert counts.exact - counts.near == sum(unit.variants for unit in units)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(PAIR, max_size=12), min_size=1, max_size=4), st.sampled_from([1, 3, 1000]))
def test_parts_merged_are_the_whole_merged_whatever_the_buckets(parts: list[list[SegmentPair]], bucket_rows: int):
    with tempfile.TemporaryDirectory() as folder:
        whole = [pair for part in parts for pair in part]
        assert merged_parts(Path(folder), parts, bucket_rows) == in_memory(whole) == list(merged(whole))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(PAIR, max_size=8), min_size=1, max_size=4), st.sampled_from([1, 3, 1000]), st.randoms())
def test_blocks_of_shards_are_merged_in_their_order(parts: list[list[SegmentPair]], bucket_rows: int, dice: Random):
    cuts = [sorted({0, len(part), *(dice.randint(0, len(part)) for _ in range(3))}) for part in parts]
    blocks = [Block(number, *ends) for number, places in enumerate(cuts) for ends in pairwise(places)]
    dice.shuffle(blocks)
    whole = [pair for number, first, last in blocks for pair in parts[number][first:last]]
    with tempfile.TemporaryDirectory() as folder:
        paths = [shard(Path(folder, str(number)), pairs) for number, pairs in enumerate(parts)]
        with grouped(paths, Path(folder, "scratch"), bucket_rows, blocks=blocks) as groups:
            assert list(groups.units()) == in_memory(whole)


def test_blocks_that_are_not_all_rows_are_damage(tmp_path: Path):
    url = Url.parse("https://a.org/")
    path = shard(tmp_path / "en-fr", [SegmentPair(url, url, Segment("Tea"), Segment("Thé"), 0.5)] * 2)
    with pytest.raises(StoreError, match="merge again"), grouped([path], tmp_path, blocks=[Block(0, 0, 1)]):
        pass


def test_the_sizes_of_a_shard_tell_equal_from_nearly_equal_texts(tmp_path: Path):
    url = Url.parse("https://a.org/")
    texts = ["Tea", "Tea", "tea!", "Milk"]
    path = shard(tmp_path / "en-fr", [SegmentPair(url, url, Segment(text), Segment("x"), 0.5) for text in texts])
    assert shard_counts(path) == (4, 3, 2)


@pytest.mark.parametrize("file", [data_file, keys_file])
def test_a_shard_that_was_cut_off_is_named(tmp_path: Path, file):
    url = Url.parse("https://a.org/")
    path = shard(tmp_path / "en-fr", [SegmentPair(url, url, Segment("Tea"), Segment("Thé"), 0.5)])
    file(path).write_bytes(file(path).read_bytes()[:-1])
    with pytest.raises(StoreError, match="en-fr"), grouped([path], tmp_path / "scratch"):
        pass


def test_more_shards_than_files_that_may_be_open(tmp_path: Path):
    url = Url.parse("https://a.org/")
    parts = [[SegmentPair(url, url, Segment(text), Segment("x"), 0.5)] for n in range(100) for text in ("Tea", str(n))]
    assert len(merged_parts(tmp_path, parts, 1000)) == 101
