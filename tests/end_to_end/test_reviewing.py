"""A person reads what a job has found, says yes or no, and mines it again."""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet
import pytest
from prose_site import keep
from small_site import articles

from bitrawl.model import Verdict, segment_key
from bitrawl.review import JobReview, Saved
from bitrawl.review.reviewing import Reading, ReadPair
from bitrawl.review.search_query import SearchQuery
from bitrawl.review.searching import all_hits, search
from bitrawl.store import reading_index
from bitrawl.store.folder import JobFolder
from bitrawl.store.index_reader import PairFilter
from bitrawl.store.verdicts import SubjectKind

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
    reading.verdicts.undo_last("anna", 2.0)
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

    reading.verdicts.undo(SubjectKind.PAIR, key, "anna", 4.0)
    reading.judge_segment(key, segment.key, Verdict.ACCEPT, "anna", 5.0)
    assert bitrawl("export", tmp_path, "--accepted-only")[0] == 0
    assert [line["text_a"] for line in written(tmp_path)] == [segment.text_a]
    assert "accepted_only = true" in folder.description.read_text()
    code, sampled, _ = bitrawl("sample", tmp_path, "--format", "jsonl")
    assert (code, [json.loads(line)["text_a"] for line in sampled.splitlines()]) == (0, [segment.text_a])
    assert bitrawl("export", tmp_path, "--no-accepted-only")[0] == 0
    assert len(written(tmp_path)) > 1


@pytest.mark.usefixtures("no_children")
def test_an_edited_unit_is_marked_in_every_format_that_has_units_and_in_a_search(bitrawl: Command, tmp_path: Path):
    keep(tmp_path, articles(3, "http://s.test/en/page{}", "http://s.test/fr/page{}")[0])
    assert bitrawl("pair", tmp_path)[0] == 0
    assert reading_index.refresh(tmp_path) is not None
    review, read = JobReview(JobFolder(tmp_path), "anna", lambda: 1.0), first_pair(tmp_path)
    key, mined = read.pair.row.key, read.segments[0]
    new = "The words of a translator, \t in full.", "Les mots du traducteur, en entier."
    given = dict(zip(("text_a", "text_b"), new, strict=True))
    assert review.change("accept", key, (mined.key, mined.start, 0), given) is Saved.DONE
    assert bitrawl("export", tmp_path, "--formats", "jsonl,tsv,tmx,moses,parquet,xces")[0] == 0

    corpus, clean = tmp_path / "corpus", "The words of a translator,   in full."
    [row] = [line for line in written(tmp_path) if line["text_a"] == clean]
    assert row["flags"] == ["edited"]
    assert sum("edited" in line["flags"] for line in written(tmp_path)) == 1
    names, *lines = (line.split("\t") for line in (corpus / "en-fr.tsv").read_text().splitlines())
    assert [
        dict(zip(names, line, strict=True))["text_a"] for line in lines if line[names.index("flags")] == "edited"
    ] == [clean]
    [unit] = [unit for unit in (corpus / "en-fr.tmx").read_text().split("<tu ") if clean in unit]
    assert '<prop type="flags">edited</prop>' in unit
    texts = (corpus / "en-fr.en").read_text().splitlines()
    ids = (corpus / "en-fr.ids").read_text().splitlines()
    assert [text for text, places in zip(texts, ids, strict=True) if places.endswith("\tedited")] == [clean]
    table = pyarrow.parquet.read_table(corpus / "en-fr.parquet").to_pylist()
    assert [row["text_a"] for row in table if row["flags"] == ["edited"]] == [clean]
    assert clean not in "".join(path.read_text() for path in (corpus / "xces").rglob("*.xml"))  # pages as they are

    query = SearchQuery(text=" ".join(mined.text_a.split()[:5]))
    hits = [hit.segment for hit in search(review.lists, query).hits if hit.segment.key == segment_key(*new)]
    assert [(hit.text_b, hit.flags) for hit in hits] == [(new[1], ("edited",))]
    assert new[1] in {found.segment.b.text for found in all_hits(review.lists, query)}
    assert mined.text_b not in {
        found.segment.b.text for found in all_hits(review.lists, query) if found.pair.row.key == key
    }
