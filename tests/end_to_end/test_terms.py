"""`bitrawl terms` as a terminologist meets it."""

from collections.abc import Callable
from pathlib import Path

from bitrawl.corpus.term_pairs import COLUMNS
from bitrawl.topic.term_list import read_terms
from tests.unit.job.test_terms import job

Bitrawl = Callable[..., tuple[int, str, str]]


def test_terms_are_printed_or_written(bitrawl: Bitrawl, tmp_path: Path):
    folder = job(tmp_path / "job")
    status, out, err = bitrawl("terms", folder)
    assert status == 0, err
    lines = [line.split("\t") for line in out.splitlines()]
    assert tuple(lines[0]) == COLUMNS
    assert ["acid rain", "pluies acides"] in [line[2:4] for line in lines]
    assert "looking for terms in 18 segments" in err

    target = tmp_path / "terms.tbx"
    status, out, err = bitrawl("terms", folder, "--format", "tbx", "--output", target, "--most", "1")
    assert (status, out) == (0, "")
    assert f"1 pair of terms: {target}" in err
    assert len(read_terms(target).terms) == 2


def test_a_corpus_without_terms_says_what_to_do(bitrawl: Bitrawl, tmp_path: Path):
    status, out, err = bitrawl("terms", job(tmp_path / "job"), "--min-score", "1")
    assert (status, out) == (2, "")
    assert "lower --min-score, or crawl more pages" in err
