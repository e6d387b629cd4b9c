"""Frozen sites with known pairs: what is read of them, and what is said of a folder that is none."""

from pathlib import Path

import pytest
from made_up_pack import write_pack

from bitrawl.errors import ConfigError
from bitrawl.model import Language
from lab.train.site_packs import FILES, SitePack, known_pairs, open_packs

EN, FR, DE = map(Language, ("en", "fr", "de"))


def test_a_pack_tells_its_pairs_and_where_to_begin(tmp_path: Path):
    pack = write_pack(tmp_path / "museum", articles=12)
    assert pack.name == "museum"
    assert pack.archive.is_file()
    assert [*map(str, pack.seeds)] == ["http://museum.test/en/", "http://museum.test/fr/"]
    assert pack.languages == (EN, FR)
    assert len(pack.true_pairs()) == len(pack.true_pairs((FR, EN))) == 8
    assert not pack.true_pairs((EN, DE))
    assert all(a < b for a, b in pack.true_pairs())


def test_what_was_never_translated_is_wrong_and_what_nobody_can_judge_is_left_out(tmp_path: Path):
    pack = write_pack(tmp_path / "museum", articles=12)
    assert {row.reason for row in known_pairs(pack.folder / "doubtful.tsv")} == {"same-text", "short"}
    assert len(pack.uncounted_pairs()) == 2


def test_only_language_pairs_with_english_and_enough_pairs_are_taken(tmp_path: Path):
    pack = write_pack(tmp_path / "museum", articles=3)
    pack = pack._replace(pair_counts={"en-fr": 40, "en-zh-TW": 30, "en-de": 29, "de-fr": 90})
    assert pack.pairs_with_english(30) == [(EN, FR), (EN, Language("zh-TW"))]


def test_packs_come_in_the_order_of_their_names(tmp_path: Path):
    for name in ("b", "a"):
        write_pack(tmp_path / name, articles=1)
    (tmp_path / "README.md").write_text("no pack")
    assert [pack.name for pack in open_packs(tmp_path)] == ["a", "b"]


@pytest.mark.parametrize("name", FILES)
def test_a_pack_that_lacks_a_file_is_refused_with_its_name(tmp_path: Path, name: str):
    pack = write_pack(tmp_path / "museum", articles=1)
    (pack.folder / name).unlink()
    with pytest.raises(ConfigError, match=name):
        SitePack.open(pack.folder)


def test_a_folder_without_packs_is_refused_and_the_files_are_named(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"truth\.tsv"):
        open_packs(tmp_path)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("site.json", "{}", "site.json cannot be read"),
        ("site.json", "no json", "site.json cannot be read"),
        ("truth.tsv", "a\tb\nhttp://a.test/\thttp://b.test/\n", "no column 'url_a'"),
        ("truth.tsv", "url_a\turl_b\tlang_a\tlang_b\nnothing\thttp://b.test/\ten\tfr\n", "truth.tsv cannot be read"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, name: str, text: str, message: str):
    pack = write_pack(tmp_path / "museum", articles=1)
    (pack.folder / name).write_text(text)
    with pytest.raises(ConfigError, match=message):
        SitePack.open(pack.folder).true_pairs()
