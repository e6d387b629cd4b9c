"""From a site to a corpus, on the bundled web whose pairs are known."""

import asyncio
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from forked_command import NO_CHILDREN, ForkedCommand
from inline_children import inline_children

from bitrawl import config, demo
from bitrawl.config import Job
from bitrawl.demo import Served
from bitrawl.endings import Ending
from bitrawl.job.exporting import write_corpus
from bitrawl.job.reporting import status
from bitrawl.job.running import export, mine, mine_again
from bitrawl.mining import Thresholds
from bitrawl.model import Language, Verdict
from bitrawl.review.reviewing import Reading
from bitrawl.review.thresholds import ThresholdSight, selections
from bitrawl.store import reading_index
from bitrawl.store.folder import JobFolder
from bitrawl.store.index_reader import PairFilter
from bitrawl.store.ledger import Ledger
from bitrawl.store.stored_findings import Findings

ONE_SITE = [["harbour-museum.test", "musee-du-port.test"]]


def job(web: Served, langs: list[str], **more: object) -> Job:
    asked = {
        "langs": langs,
        "seeds": [str(url) for url in demo.seeds()],
        "politeness": {"delay": 0},
        "scope": {"one_site": ONE_SITE},
        "analysis": {"workers": 1},
        "fetch": {"connect_to": {"*.test": f"{demo.LOOPBACK}:{web.port}"}, "allow_private": True},
    }
    return config.resolve(asked | more)


def pairs_of(folder: Path, lang_a: str, lang_b: str) -> set[frozenset[str]]:
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    repeats = demo.duplicates()
    found = {
        frozenset(repeats.get(url, url) for url in (pair.url_a, pair.url_b))
        for pair in Findings(ledger).pairs(Language(lang_a), Language(lang_b))
    }
    ledger.close()
    return found


def truth(lang_a: str, lang_b: str) -> set[frozenset[str]]:
    return {frozenset(pair[:2]) for pair in demo.truth() if {pair.lang_a, pair.lang_b} == {lang_a, lang_b}}


@pytest.fixture(scope="module")
def mined(tmp_path_factory: pytest.TempPathFactory) -> Path:
    async def run(folder: Path) -> Ending:
        async with demo.serve() as web:
            asked = job(web, ["en", "fr", "es", "zh"])
            config.write(asked, folder / "job.toml")
            return await mine(asked, JobFolder(folder))

    folder = tmp_path_factory.mktemp("mined")
    with inline_children():
        assert asyncio.run(run(folder)) is Ending.DONE
    return folder


@pytest.mark.parametrize(("lang_a", "lang_b"), [("en", "fr"), ("en", "es"), ("en", "zh"), ("fr", "es")])
def test_the_pairs_of_the_bundled_web_are_found(mined: Path, lang_a: str, lang_b: str):
    found, true = pairs_of(mined, lang_a, lang_b), truth(lang_a, lang_b)
    assert len(found & true) >= 0.9 * len(true), true - found
    assert len(found - true) <= 0.05 * len(found), found - true


def test_the_corpus_is_written_and_readable(mined: Path):
    corpus = mined / "corpus"
    documents = [json.loads(line) for line in (corpus / "en-fr.documents.jsonl").read_text().splitlines()]
    assert {"url_a", "url_b", "lang_a", "lang_b", "score", "evidence"} <= set(documents[0])
    assert {(document["lang_a"], document["lang_b"]) for document in documents} == {("en", "fr")}
    sentences = [json.loads(line) for line in (corpus / "en-fr.sentences.jsonl").read_text().splitlines()]
    assert {"url_a", "url_b", "text_a", "text_b", "score", "type", "flags"} <= set(sentences[0])
    assert len(sentences) > 3 * len(documents)
    units = ET.parse(corpus / "en-fr.tmx").getroot().findall("body/tu")
    assert len(units) == len(sentences)
    assert "English" in (corpus / "README.md").read_text()
    assert "<svg" in (mined / "report.html").read_text()


@pytest.mark.usefixtures("no_children")
async def test_stages_repeat_without_fetching(mined: Path, tmp_path: Path):
    for name in ("job.toml", "job.sqlite"):
        (tmp_path / name).write_bytes((mined / name).read_bytes())
    before = pairs_of(tmp_path, "en", "fr")
    asked = config.resolve(config.read(tmp_path / "job.toml") | {"pair": {"methods": "a"}})
    await mine_again(asked, JobFolder(tmp_path))
    declared = pairs_of(tmp_path, "en", "fr")
    assert 0 < len(declared) < len(before)
    write_corpus(config.resolve(config.read(tmp_path / "job.toml") | {"judge": {"score": 0.99}}), tmp_path)
    strict = len((tmp_path / "corpus/en-fr.sentences.jsonl").read_text().splitlines())
    write_corpus(config.resolve(config.read(tmp_path / "job.toml")), tmp_path)
    assert strict < len((tmp_path / "corpus/en-fr.sentences.jsonl").read_text().splitlines())


def test_the_units_seen_at_a_threshold_are_those_that_an_export_writes(mined: Path, tmp_path: Path):
    folder = JobFolder(tmp_path)
    for name in ("job.toml", "job.sqlite"):
        (tmp_path / name).write_bytes((mined / name).read_bytes())
    reading_index.refresh(tmp_path)
    pair = Reading(folder).pairs(PairFilter(limit=1)).pairs[0].row.key
    Reading(folder).judge_pair(pair, Verdict.REJECT, "anna", 1.0)
    doubtful = ThresholdSight(folder, Thresholds(score=0.9)).around(1)[1][0]
    Reading(folder).judge_segment(doubtful.pair.row.key, doubtful.segment.key, Verdict.ACCEPT, "anna", 1.0)
    seen = {corpus.name: corpus.facts.by_score for corpus in ThresholdSight(folder).corpora}
    assert len(seen) == 6
    chosen = [{"score": step / 100} for step in (0, 60, 95)]
    for judge in [*chosen, {"score": 0.8, "words": 4, "refuse": ["very short"]}, {"duplicates": True, "coverage": 0.5}]:
        export(folder, {"judge": judge, "export": {"formats": ["jsonl"]}}, only=True)
        written = {name: corpus.units for name, corpus in status(folder).corpora.items()}
        sight = ThresholdSight(folder)
        assert sight.kept == folder.job().judge
        assert {corpus.name: corpus.facts.units for corpus in sight.corpora} == written
        assert [corpus.facts for corpus in selections(folder.job(), folder)] == [
            corpus.facts for corpus in sight.corpora
        ]
        if judge in chosen:
            assert written == {name: counts[round(100 * judge["score"])] for name, counts in seen.items()}
            for corpus in sight.corpora:
                assert corpus.facts.words == words_of(tmp_path / f"corpus/{corpus.name}.sentences.jsonl")


def words_of(path: Path) -> tuple[int, ...]:
    """Of both sides of a corpus."""
    units = [json.loads(line)["scores"] for line in path.read_text().splitlines()]
    return tuple(sum(int(unit[f"words_{side}"]) for unit in units) for side in "ab")


@pytest.mark.usefixtures("no_children")
async def test_one_language_makes_a_monolingual_corpus(tmp_path: Path):
    async with demo.serve() as web:
        asked = job(web, ["fr"], seeds=["http://www.town-library.test/"], export={"formats": ["text", "jsonl"]})
        config.write(asked, tmp_path / "job.toml")
        assert await mine(asked, JobFolder(tmp_path)) is Ending.DONE
    text = (tmp_path / "corpus/fr.txt").read_text()
    assert " les " in text
    assert " the " not in text.lower()


async def test_what_was_found_before_a_kill_is_found_after_it(mined: Path, tmp_path: Path):
    async with demo.serve() as web:
        config.write(job(web, ["en", "fr", "es", "zh"]), tmp_path / "job.toml")
        command = ("mine", "--out", tmp_path, "--quiet")
        process = ForkedCommand.start(*command, first=NO_CHILDREN)
        while len(web.visits) < 120 and process.returncode is None:  # noqa: ASYNC110 (another process is waited for)
            await asyncio.sleep(0.001)
        process.kill()
        await process.wait()
        assert await ForkedCommand.start(*command, first=NO_CHILDREN).wait() == 0
    assert pairs_of(tmp_path, "en", "fr") == pairs_of(mined, "en", "fr")
