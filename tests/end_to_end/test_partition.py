"""Archives that mix sites, split by the command and mined site by site."""

import re
from pathlib import Path

import pytest
from made_up_pack import write_pack

_MEMBER = re.compile(rb"(?=\x1f\x8b\x08\x00\x00\x00\x00\x00)")


@pytest.mark.usefixtures("no_children")
def test_mixed_archives_are_split_and_mined_by_site(bitrawl, tmp_path: Path):
    packs = [write_pack(tmp_path / name, articles=9, seed=seed) for seed, name in enumerate(("one", "two"), 1)]
    whole = [(tmp_path / name / "site.warc.gz").read_bytes() for name in ("one", "two")]
    members = [list(filter(None, _MEMBER.split(content))) for content in whole]
    assert b"".join(members[0]) == whole[0]
    mixed = [member for pair in zip(*members, strict=True) for member in pair]
    (tmp_path / "mixed").mkdir()
    (tmp_path / "mixed" / "1.warc.gz").write_bytes(b"".join(mixed[:15]))
    (tmp_path / "mixed" / "2.warc.gz").write_bytes(b"".join(mixed[15:]))

    code, out, err = bitrawl("partition", tmp_path / "mixed", "--out", tmp_path / "by-site")
    again = bitrawl("partition", tmp_path / "mixed", "--out", tmp_path / "by-site")[1]

    assert code == 0, err
    assert "2 files split" in out
    assert "2 done before" in again
    for name, content in zip(("one", "two"), whole, strict=True):
        assert (tmp_path / "by-site" / f"{name}.test.warc.gz").read_bytes() == content
    archive = tmp_path / "by-site" / "one.test.warc.gz"
    code, *_ = bitrawl("mine", "--warc", archive, "--langs", "en,fr", "--out", tmp_path / "job", "--quiet")
    assert code == 0
    found = (tmp_path / "job" / "corpus" / "en-fr.documents.jsonl").read_text().count("\n")
    assert found >= packs[0].pair_counts["en-fr"] - 1
