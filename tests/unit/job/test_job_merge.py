"""From the folders of several jobs to one corpus, without a crawl."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from kept_findings import Aligned, keep_findings
from typer.testing import CliRunner

from bitrawl import config, files
from bitrawl.cli import app
from bitrawl.corpus import MergeFacts
from bitrawl.endings import CrawlEnd, EndKind
from bitrawl.errors import ConfigError, DiskFullError
from bitrawl.job.exporting import corpus_units, write_corpus
from bitrawl.job.job_merge import merge
from bitrawl.model import Language, Lease, Link, LinkKind, Page, PagePair, Segment, SegmentPair, Skip, Visit
from bitrawl.reasons import Reason, Stage
from bitrawl.store.ledger import Ledger
from bitrawl.store.stored_findings import Findings
from bitrawl.url import Url
from lab.bench.merge import merged

ONE = [("Good morning", "Bonjour", 0.9), ("Tea", "Thé", 0.5), ("Tea", "Thé", 0.4)]
TWO = [("Tea!", "Thé !", 0.8), ("Milk", "Lait", 0.7), ("Bad", "Mauvais", 0.1)]


def urls(site: str, number: int, langs: Sequence[str]) -> tuple[Url, Url]:
    a, b = (Url.parse(f"https://www.{site}/{code}/{number}") for code in langs)
    return a, b


def aligned(site: str, texts: Sequence[tuple[str, str, float]], langs: Sequence[str] = ("en", "fr")) -> list[Aligned]:
    """Each segment on a page of its own."""
    found = []
    for number, (a, b, score) in enumerate(texts):
        places = urls(site, number, langs)
        pair = PagePair(*places, Language(langs[0]), Language(langs[1]), 0.9, {"a": 0.4})
        scores = {"words_a": 2.0, "words_b": 3.0, "alignment": score}
        found.append(Aligned(pair, (SegmentPair(*places, Segment(a, 0, 0), Segment(b, 1, 1), score, "1:2", scores),)))
    return found


class Jobs:
    """Makes job folders, as a crawl and a miner leave them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.out = folder / "merged"

    def job(
        self, name: str, sites: dict[str, Sequence[tuple[str, str, float]]], langs: str = "en,fr", **more: object
    ) -> Path:
        path = self.folder / name
        path.mkdir(exist_ok=True)
        asked = {"langs": langs.split(","), "seeds": ["https://www.example.org/"], "export": {"formats": ["jsonl"]}}
        config.write(config.resolve(asked | more), path / "job.toml")
        ledger = Ledger(path / "job.sqlite")
        for site, texts in sites.items():
            keep_findings(Findings(ledger), site, 10, aligned(site, texts, langs.split(",")[:2]))
        ledger.remember("ended", CrawlEnd(kind=EndKind.DONE))
        ledger.close()
        return path

    def merge(self, *folders: Path, langs: Sequence[str] = (), **settings: object) -> MergeFacts:
        return merge(folders, self.out, settings, langs=langs, tell=lambda _: None)

    def rows(self, name: str = "en-fr") -> list[dict[str, object]]:
        lines = (self.out / "corpus" / f"{name}.sentences.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def summary(self, name: str = "en-fr") -> dict[str, object]:
        return json.loads((self.out / "corpus" / "summary.json").read_text())[name]

    def bytes(self) -> dict[str, bytes]:
        return {str(path.relative_to(self.out)): path.read_bytes() for path in self.out.rglob("*") if path.is_file()}


@pytest.fixture
def jobs(tmp_path: Path) -> Jobs:
    return Jobs(tmp_path)


@pytest.fixture
def two(jobs: Jobs) -> tuple[Path, Path]:
    return jobs.job("one", {"a.org": ONE}), jobs.job("two", {"b.org": TWO, "c.org": [("TEA", "THÉ", 0.3)]})


def test_nearly_equal_segments_of_two_jobs_become_one_unit_with_all_sources(jobs, two):
    jobs.merge(*two)
    assert [row["text_a"] for row in jobs.rows()] == ["Good morning", "Tea!", "Milk"]
    tea = jobs.rows()[1]
    assert [source["url_a"].split("/")[2] for source in tea["sources"]] == [
        "www.b.org",
        "www.a.org",
        "www.a.org",
        "www.c.org",
    ]
    assert not (jobs.out / ".merging").exists()


def test_the_merge_is_what_the_segments_of_all_jobs_are_merged(jobs, two):
    jobs.merge(*two, export={"formats": ["tsv", "jsonl"]})
    pairs = []
    for folder in two:
        asked = config.resolve(config.read(folder / "job.toml") | {"judge": {"duplicates": True}})
        found = [unit.pair for _, unit in corpus_units(asked, folder)]
        pairs += [msgspec.structs.replace(pair, flags=()) for pair in found]  # without the flags of duplicates
    whole = list(merged(pairs))
    assert [row["text_b"] for row in jobs.rows()] == [unit.pair.b.text for unit in whole]
    assert [len(row.get("sources", [0])) for row in jobs.rows()] == [len(unit.sources) for unit in whole]


def test_the_sums_of_the_parts_are_what_the_merge_says(jobs, two):
    jobs.merge(*two)
    parts = []
    for folder in two:
        job = config.resolve(config.read(folder / "job.toml"))
        write_corpus(job, folder)
        parts.append(json.loads((folder / "corpus" / "summary.json").read_text())["en-fr"])
    summary = jobs.summary()
    told = summary["merged"]
    assert told["units_of_parts"] == sum(part["units"] for part in parts)
    assert told["page_pairs_of_parts"] == sum(part["pairs"] for part in parts)
    assert summary["refused"] == {"score": 1}
    assert told["segment_pairs"] == 6 == told["units"] + told["duplicates"] + told["near_duplicates"]
    assert told["near_duplicates"] == summary["near_duplicates"] == 2
    assert summary["units"] == told["units"] == told["units_of_parts"] - told["units_in_several_parts"] == 3
    card = (jobs.out / "corpus" / "README.md").read_text()
    assert "| sum | 7 | 6 | 4 |" in card
    assert "from 14 pages of 3 sites" in card


def test_a_page_pair_that_two_jobs_have_is_there_once(jobs):
    one, two = jobs.job("one", {"a.org": ONE}), jobs.job("two", {"a.org": ONE[:2]})
    jobs.merge(one, two)
    assert jobs.summary()["pairs"] == 3
    assert jobs.summary()["merged"]["page_pairs_in_several_parts"] == 2
    assert "sources" not in jobs.rows()[0]


def test_the_same_command_again_gives_the_same_bytes(jobs, two):
    jobs.merge(*two, export={"formats": ["tmx", "tsv", "moses", "jsonl"]})
    first = jobs.bytes()
    jobs.merge(*two, export={"formats": ["tmx", "tsv", "moses", "jsonl"]})
    assert jobs.bytes() == first
    assert {"corpus/en-fr.tmx", "corpus/en-fr.ids", "sites.tsv", "report.html", "corpus/README.md"} <= set(first)


def test_lines_are_in_the_order_of_their_sites_whichever_job_comes_first(jobs, two):
    jobs.merge(*two)
    lines = (jobs.out / "corpus/en-fr.sentences.jsonl").read_bytes()
    jobs.merge(*reversed(two))
    assert (jobs.out / "corpus/en-fr.sentences.jsonl").read_bytes() == lines


def test_shards_are_kept_while_the_job_stays_as_it_is(jobs, two, monkeypatch):
    jobs.merge(*two)
    monkeypatch.setattr("bitrawl.corpus.shards.keyed", None)
    jobs.merge(*two)
    monkeypatch.undo()
    jobs.job("two", {"b.org": [("Water", "Eau", 0.9)]})
    jobs.merge(*two)
    assert [row["text_a"] for row in jobs.rows()] == ["Good morning", "Tea", "Water"]


def test_thresholds_of_the_command_win_over_those_of_the_jobs(jobs, two):
    jobs.merge(*two, judge={"score": 0.75})
    assert [row["text_a"] for row in jobs.rows()] == ["Good morning", "Tea!"]
    jobs.merge(*two)
    assert len(jobs.rows()) == 3


def test_a_job_with_the_languages_in_another_order_is_turned(jobs):
    one = jobs.job("one", {"a.org": [("Bonjour", "Good morning", 0.5)]}, "fr,en")
    two = jobs.job("two", {"b.org": [("Good morning!", "Bonjour !", 0.9), ("Tea", "Thé", 0.9)]})
    jobs.merge(one, two)
    first, second = jobs.rows("fr-en")
    assert (first["text_a"], first["type"], second["text_a"]) == ("Bonjour !", "2:1", "Thé")
    assert first["scores"]["words_a"] == 3.0
    assert [source["url_a"] for source in first["sources"]] == ["https://www.b.org/fr/0", "https://www.a.org/fr/0"]
    assert first["lang_a"] == "fr"
    assert first["paragraph_a"] == "p2"


def test_each_pair_of_languages_is_a_corpus_and_one_language_is_left_out(jobs, two):
    german = jobs.job("three", {"d.org": [("Tee", "Thé", 0.9)]}, "de,fr")
    alone = jobs.job("four", {}, "en", export={})
    facts = jobs.merge(*two, german, alone)
    assert [counts.languages for counts in facts.corpora] == [("en", "fr"), ("de", "fr")]
    assert facts.notes == [f"{alone} is left out: it has one language."]
    facts = jobs.merge(*two, german, langs=["fr", "en"])
    assert facts.notes == [f"de-fr of {german} is left out: it is not in the languages asked for."]
    several = jobs.job("five", {"d.org": [("Thé", "Tee", 0.9)]}, "fr,de,it")
    facts = jobs.merge(*two, several, langs=["fr", "en"])
    assert facts.notes == [f"fr-de, fr-it, de-it of {several} are left out: they are not in the languages asked for."]
    assert not (jobs.out / "corpus" / "de-fr.sentences.jsonl").exists()


def test_pairs_of_languages_that_no_job_has_found_anything_for_have_no_files_and_one_note(jobs):
    many = jobs.job("many", {"one.org": ONE}, "en,fr,de")
    other = jobs.job("other", {"two.org": TWO}, "en,de,fr")
    facts = jobs.merge(many, other)
    names = {path.name for path in (jobs.out / "corpus").iterdir()}
    assert names == {f"{pair}.{kind}.jsonl" for pair in ("en-fr", "en-de") for kind in ("documents", "sentences")} | {
        "README.md",
        "summary.json",
    }
    said = "Nothing was found for fr-de, so there are no files for it."
    assert facts.notes == [said]
    assert said in (jobs.out / "corpus/README.md").read_text()
    assert [one.languages for one in facts.corpora] == [("en", "fr"), ("en", "de")]


def test_files_of_a_pair_of_languages_that_is_empty_in_the_next_merge_go(jobs):
    many, other = jobs.job("many", {"one.org": ONE}, "en,fr,de"), jobs.job("other", {"two.org": TWO}, "en,de,fr")
    jobs.merge(many, other)
    jobs.merge(many)
    assert [path.name for path in (jobs.out / "corpus").glob("en-de*")] == []
    assert (jobs.out / "corpus/en-fr.sentences.jsonl").read_text()


def test_jobs_without_any_result_are_merged_into_a_card(jobs):
    facts = jobs.merge(jobs.job("many", {"one.org": []}, "en,fr,de"))
    assert {path.name for path in (jobs.out / "corpus").iterdir()} == {"README.md", "summary.json"}
    assert facts.notes == ["Nothing was found for en-fr, en-de and fr-de, so there are no files for them."]
    assert facts.corpora == []


def test_codes_with_a_region_keep_it(jobs):
    jobs.merge(jobs.job("one", {"a.org": [("Tea", "茶", 0.9)]}, "en-GB,zh-Hant"))
    assert "(en-GB-zh-Hant)" in (jobs.out / "report.html").read_text()
    assert jobs.rows("en-GB-zh-Hant")[0]["text_b"] == "茶"


def test_a_shard_is_enough_on_another_machine(jobs, two):
    jobs.merge(*two)
    first = jobs.rows()
    for folder in two:
        for path in [path for path in folder.iterdir() if path.name != "shard"]:
            path.unlink()
    jobs.merge(*two)
    assert jobs.rows() == first
    with pytest.raises(ConfigError, match="own thresholds"):
        jobs.merge(*two, judge={"score": 0.5})


def test_a_running_job_is_merged_as_it_is_and_its_folder_is_left_alone(jobs, two):
    ledger = Ledger(two[0] / "job.sqlite")
    try:
        facts = jobs.merge(*two)
    finally:
        ledger.close()
    assert facts.notes == [f"{two[0]} is still running: it is merged as it is now."]
    assert len(jobs.rows()) == 3
    assert not (two[0] / "shard").exists()


def test_a_job_that_is_named_twice_counts_once(jobs, two):
    assert jobs.merge(two[0], two[0]).corpora[0].segment_pairs == 3


def test_sites_are_told_with_their_yield_and_why_they_brought_nothing(jobs, two):
    ledger = Ledger(two[0] / "job.sqlite")
    link = Link(Url.parse("https://www.gone.org/"), LinkKind.SEED)
    with ledger.transaction():
        ledger.refuse([(link, Skip(link.url, Stage.SCOPE, Reason.OFF_SITE))])
        ledger.record(Visit(Lease(link, 1.0), Skip(link.url, Stage.FETCH, Reason.DNS), 0, 0, at=1e9, took=0.1))
    ledger.close()
    jobs.merge(*two)
    lines = [line.split("\t") for line in (jobs.out / "sites.tsv").read_text().splitlines()]
    assert lines[0] == ["site", "job", "pages", "page_pairs", "segment_pairs", "units", "why"]
    rows = {line[0]: line[1:] for line in lines[1:]}
    assert rows["b.org"][2:5] == ["3", "2", "2"]
    assert rows["a.org"][2:5] == ["3", "3", "1"]
    assert rows["c.org"][2:5] == ["1", "1", "0"]
    assert rows["gone.org"][5] == "no pages: dns 1"
    report = (jobs.out / "report.html").read_text()
    assert "no pages: dns 1" in report
    assert "6 segment pairs = 3 units + 1 duplicate + 2 near duplicates." in report


def test_a_site_without_pairs_is_told_with_the_languages_of_its_pages(jobs, two):
    ledger = Ledger(two[0] / "job.sqlite")
    with ledger.transaction():
        for number, language in enumerate(("en", "en", "de")):
            page = Page(Url.parse(f"https://www.lone.org/{number}"), Language(language))
            link = Link(page.url, LinkKind.PAGE)
            ledger.refuse([(link, Skip(link.url, Stage.SCOPE, Reason.OFF_SITE))])
            ledger.record(Visit(Lease(link, 1.0), page, 200, 1000, at=1e9, took=0.1))
    keep_findings(Findings(ledger), "lone.org", 3, [])
    ledger.close()
    jobs.merge(*two)
    assert (
        "lone.org\t" + str(two[0]) + "\t3\t0\t0\t0\tno page pairs; pages: en 2, de 1\n"
        in (jobs.out / "sites.tsv").read_text()
    )


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (lambda out: (out / "job.toml").write_text(""), "holds a job"),
        (lambda out: (out / "thesis.tex").write_text(""), "holds something else"),
    ],
)
def test_a_target_that_holds_something_else_is_left_alone(jobs, two, prepare, message):
    jobs.out.mkdir()
    prepare(jobs.out)
    before = jobs.bytes()
    with pytest.raises(ConfigError, match=message):
        jobs.merge(*two)
    assert jobs.bytes() == before


def test_what_is_no_job_is_named(jobs, two):
    with pytest.raises(ConfigError, match="none holds no job: there is no such folder"):
        jobs.merge(jobs.folder / "none")
    (jobs.folder / "empty").mkdir()
    with pytest.raises(ConfigError, match="empty holds no job: it is empty"):
        jobs.merge(two[0], jobs.folder / "empty")
    assert not jobs.out.exists() or not any(jobs.out.iterdir())
    jobs.merge(*two)
    shutil.copytree(jobs.out, jobs.folder / "copy")
    with pytest.raises(ConfigError, match="copy is a merged corpus"):
        jobs.merge(jobs.folder / "copy")


@pytest.mark.parametrize("name", ["xces", "text", "docx"])
def test_a_format_that_cannot_be_merged_is_refused(jobs, two, name):
    with pytest.raises(ConfigError, match=name):
        jobs.merge(*two, export={"formats": [name]})


def test_xces_of_a_job_is_left_out_and_said_so(jobs):
    one = jobs.job("one", {"a.org": ONE}, export={"formats": ["xces", "tsv"]})
    facts = jobs.merge(one)
    assert facts.notes == ["xces is left out: it has whole pages. Each job has it."]
    assert (jobs.out / "corpus" / "en-fr.tsv").exists()


def test_a_full_disk_leaves_the_earlier_merge_as_it_was(jobs, two, monkeypatch):
    jobs.merge(*two)
    before = jobs.bytes()
    jobs.job("two", {"b.org": [("Water", "Eau", 0.9)]})

    def full(path: Path, count: int):
        raise files.write_fault(path, OSError(28, "No space left on device"))

    monkeypatch.setattr("bitrawl.corpus.merger._numbers", full)
    with pytest.raises(DiskFullError):
        jobs.merge(*two)
    assert jobs.bytes() == before


def test_the_command_says_what_it_wrote_and_what_it_left_out(jobs, two):
    alone = jobs.job("four", {}, "en", export={})
    command = ["merge", *map(str, (*two, alone)), "--out", str(jobs.out), "--formats", "tmx,moses", "--compress"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0
    assert "en-fr: 3 units from 6 segment pairs of 2 jobs; removed 1 duplicate and 2 near duplicates" in done.stdout
    assert f"{alone} is left out" in done.stderr
    assert {"en-fr.tmx.gz", "en-fr.en.gz"} <= {path.name for path in (jobs.out / "corpus").iterdir()}
    again = CliRunner().invoke(app, [*command, "--min-score", "2"])
    assert again.exit_code != 0
