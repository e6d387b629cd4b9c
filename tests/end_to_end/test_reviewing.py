"""A person reads what a job has found, says yes or no, and mines it again."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from prose_site import keep
from small_site import articles

from bitrawl.job import reading_index
from bitrawl.job.folder import JobFolder
from bitrawl.job.reviewing import PairFilter, Reading, ReadPair
from bitrawl.job.search_query import SearchQuery
from bitrawl.job.searching import search
from bitrawl.job.verdicts import SubjectKind
from bitrawl.model import Verdict

Command = Callable[..., tuple[int, str, str]]


def written(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (folder / "corpus/en-fr.sentences.jsonl").read_text().splitlines()]


def first_pair(folder: Path) -> ReadPair:
    reading = Reading(JobFolder(folder))
    read = reading.pair(reading.pairs(PairFilter(limit=1)).pairs[0].row.key)
    assert read is not None
    return read


@pytest.mark.usefixtures("no_children")
def test_what_people_said_survives_mining_again(bitrawl: Command, tmp_path: Path):
    keep(tmp_path, articles(6, "http://s.test/en/page{}", "http://s.test/fr/page{}")[0])
    assert bitrawl("pair", tmp_path)[0] == 0
    folder, reading = JobFolder(tmp_path), Reading(JobFolder(tmp_path))
    assert reading_index.refresh(tmp_path) is not None
    read = first_pair(tmp_path)
    key, segment = read.pair.row.key, read.segments[0]
    assert segment.text_b in {hit.segment.text_b for hit in search(reading, SearchQuery(text=segment.text_b[:80])).hits}
    reading.judge_pair(key, Verdict.REJECT, "anna", 1.0)
    reading.undo_last("anna", 2.0)
    reading.judge_pair(key, Verdict.REJECT, "anna", 3.0)
    before = len(written(tmp_path))

    assert bitrawl("pair", tmp_path, "--methods", "u")[0] == 0  # another fingerprint: all of it is mined again
    reading_index.refresh(tmp_path)
    again = reading.pair(key)
    assert again is not None
    assert again.pair.verdict is Verdict.REJECT
    assert not any(line["url_a"] == read.pair.row.url_a for line in written(tmp_path))
    assert 0 < len(written(tmp_path)) < before
    tmx = (tmp_path / "corpus/en-fr.tmx").read_text()
    assert read.pair.row.url_a not in tmx
    assert "rejected by a person" in (tmp_path / "corpus/README.md").read_text()

    reading.undo(SubjectKind.PAIR, key, "anna", 4.0)
    reading.judge_segment(key, segment.key, Verdict.ACCEPT, "anna", 5.0)
    assert bitrawl("export", tmp_path, "--accepted-only")[0] == 0
    assert [line["text_a"] for line in written(tmp_path)] == [segment.text_a]
    assert "accepted_only = true" in folder.description.read_text()
    code, sampled, _ = bitrawl("sample", tmp_path, "--format", "jsonl")
    assert (code, [json.loads(line)["text_a"] for line in sampled.splitlines()]) == (0, [segment.text_a])
    assert bitrawl("export", tmp_path, "--no-accepted-only")[0] == 0
    assert len(written(tmp_path)) > 1
