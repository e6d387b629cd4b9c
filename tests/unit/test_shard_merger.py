"""Shards of several jobs, merged, are what the pairs of all of them are, merged."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitrawl.errors import StoreError
from bitrawl.model import Segment, SegmentPair, TranslationUnit, pack
from bitrawl.store.shard import data_file, keys_file, shard_counts, shard_writer
from bitrawl.store.shard_merger import Groups, grouped
from bitrawl.store.unit_keys import keyed
from bitrawl.store.unit_merger import merged
from bitrawl.url import Url

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
        assert merged_parts(Path(folder), parts, bucket_rows) == list(merged(whole))


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
