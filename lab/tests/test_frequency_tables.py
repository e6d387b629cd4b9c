"""The tables of general frequencies are made of word lists."""

import gzip
from pathlib import Path

import msgspec
import numpy as np
import pytest

from bitrawl.model import Language
from lab.train.frequencies import packed, read_list, stem_rates, train


def test_a_table_is_made_of_the_lists_of_a_folder(tmp_path: Path):
    listed: list[object] = [{"format": "cB", "version": 1}, ["the"], *[[] for _ in range(399)], ["cat", "cats"]]
    for size in ("small", "large"):
        (tmp_path / f"{size}_en.msgpack.gz").write_bytes(gzip.compress(msgspec.msgpack.encode(listed)))
    train(tmp_path, tmp_path / "made.npz")
    with np.load(tmp_path / "made.npz") as made:
        assert sorted(made.files) == ["en.gaps", "en.steps"]
        assert len(made["en.gaps"]) == 2


def test_words_with_one_stem_add_up():
    rates = stem_rates({"cat": 60.0, "cats": 40.0}, Language("en"))
    assert rates == {"cat": 100.0}
    assert packed(rates)["steps"].tolist() == [120]  # 0.1 * 10 ** (120 / 40)


def test_pairs_across_words_are_counted_where_no_space_is_written():
    assert stem_rates({"我们": 5000.0, "天气": 1000.0}, Language("zh"))["们天"] == pytest.approx(5)


def test_a_list_is_read_by_its_centibels(tmp_path: Path):
    path = tmp_path / "small_xx.msgpack.gz"
    path.write_bytes(gzip.compress(msgspec.msgpack.encode([{"format": "cB"}, [], *[[] for _ in range(98)], [], ["a"]])))
    assert dict(read_list(path)) == {"a": pytest.approx(1e5)}
