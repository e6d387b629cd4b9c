"""The bilingual terms of a job: its segments, the pair of languages that is meant, and what goes wrong."""

from pathlib import Path
from typing import Any

import pytest

from bitrawl.corpus import TermPair, term_pairs
from bitrawl.errors import ConfigError, StoreError
from bitrawl.job import open_folder
from bitrawl.mining import SiteFindings
from bitrawl.model import Language, Method, PagePair, Segment, SegmentPair
from bitrawl.store.ledger import Ledger
from bitrawl.store.stored_findings import Findings, PackedAlignment
from bitrawl.url import Url

A, B = Url.parse("https://example.org/en"), Url.parse("https://example.org/fr")
PLACES = ("lake lac", "forest forêt", "city ville", "river rivière", "valley vallée", "garden jardin")
SEGMENTS = tuple(
    SegmentPair(A, B, Segment(a, n, 0), Segment(b, n, 0), 0.9)
    for n, (en, fr) in enumerate(place.split() for place in PLACES)
    for a, b in (
        (f"The acid rain falls on the {en}.", f"Les pluies acides tombent sur la {fr}."),
        (f"We have seen snow and acid rain in the {en} today.", f"Neige et pluies acides dans la {fr} aujourd'hui."),
        (f"We live in the {en} now.", f"Nous vivons maintenant dans la {fr}."),
    )
)


def job(
    folder: Path, langs: str = '"en", "fr"', *, segments: tuple[SegmentPair, ...] = SEGMENTS, mined: bool = True
) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "job.toml").write_text(f'langs = [{langs}]\nseeds = ["https://example.org/"]\n')
    ledger = Ledger(folder / "job.sqlite")
    findings = Findings(ledger)
    if mined:
        findings.aligned("example.org", b"key", PackedAlignment.of(segments))
        pair = PagePair(A, B, Language("en"), Language("fr"), 0.9, {Method.DECLARED: 1.0})
        findings.replace(SiteFindings("example.org", 2, (pair,)), [b"key"])
    ledger.close()
    return folder


def terms_of(folder: Path, name: str = "", **how: Any) -> list[TermPair]:
    return open_folder(folder).term_pairs(name, **how)


def test_terms_have_examples_with_their_pages(tmp_path: Path):
    (acid,) = [one for one in terms_of(job(tmp_path)) if one.term_a == "acid rain"]
    assert (acid.term_b, acid.lang_a, acid.lang_b) == ("pluies acides", "en", "fr")
    assert (acid.count_a, acid.count_b, acid.count_together) == (12, 12, 12)
    assert len(acid.examples) == 3
    for one in acid.examples:
        assert "acid rain" in one.text_a
        assert "pluies acides" in one.text_b
        assert (one.url_a, one.url_b) == (A, B)


def test_the_other_order_swaps_everything(tmp_path: Path):
    there, back = terms_of(job(tmp_path), "en-fr"), terms_of(tmp_path, "fr-en")
    assert {(one.term_a, one.term_b) for one in there} == {(one.term_b, one.term_a) for one in back}
    assert all(one.lang_a == "fr" and one.examples[0].url_a == B for one in back)


def test_the_only_pair_that_was_found_is_meant(tmp_path: Path):
    assert terms_of(job(tmp_path, '"en", "fr", "de"'))


def test_a_large_corpus_is_read_in_part(tmp_path: Path):
    told: list[str] = []
    corpora = open_folder(job(tmp_path)).corpora()
    term_pairs.bilingual_terms(corpora, tmp_path, "", 1, min_score=0.0, tell=told.append, most_segments=9)
    assert told == ["reading one in 2 of the corpus, which has 18 segments", "looking for terms in 9 segments"]


@pytest.mark.parametrize(
    ("langs", "asked", "says"),
    [
        ('"en"', "", "one language"),
        ('"en", "fr"', "en-de", "choose one of en-fr"),
        ('"en", "fr"', "../x", "choose one of en-fr"),
    ],
)
def test_a_pair_that_is_not_there_is_refused(tmp_path: Path, langs: str, asked: str, says: str):
    with pytest.raises(ConfigError, match=says):
        terms_of(job(tmp_path, langs), asked)


@pytest.mark.parametrize("asked", ["EN-FR", "en,fr", "En-fr"])
def test_a_pair_may_be_named_in_any_case(tmp_path: Path, asked: str):
    folder = job(tmp_path)
    assert terms_of(folder, asked) == terms_of(folder, "en-fr")


def test_several_pairs_have_to_be_chosen_from(tmp_path: Path):
    with pytest.raises(ConfigError, match="--languages: en-fr, en-de, fr-de"):
        terms_of(job(tmp_path, '"en", "fr", "de"', segments=()))


def test_a_job_that_was_not_mined_says_what_to_run(tmp_path: Path):
    with pytest.raises(ConfigError, match="has not been mined yet"):
        terms_of(job(tmp_path, mined=False))


def test_a_folder_without_a_job_is_refused(tmp_path: Path):
    with pytest.raises((ConfigError, StoreError)):
        terms_of(tmp_path)


def test_a_corpus_without_terms_has_none(tmp_path: Path):
    assert terms_of(job(tmp_path, segments=SEGMENTS[:2])) == []
