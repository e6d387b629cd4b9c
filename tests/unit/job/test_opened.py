"""What `bitrawl.open` reads: exactly the corpus, entry by entry, of a job or of a merge."""

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
from kept_findings import Aligned, keep_findings

import bitrawl
from bitrawl import config
from bitrawl.endings import CrawlEnd, EndKind
from bitrawl.job import OpenedCopy, OpenedJob
from bitrawl.job.exporting import write_corpus
from bitrawl.mining import SiteFindings
from bitrawl.model import (
    Language,
    Lease,
    Link,
    LinkKind,
    Page,
    PagePair,
    Paragraph,
    Segment,
    SegmentPair,
    Skip,
    Verdict,
    Visit,
)
from bitrawl.reasons import Reason, Stage
from bitrawl.store.ledger import Ledger
from bitrawl.store.stored_findings import Findings
from bitrawl.store.verdicts import Subject, VerdictHistory
from bitrawl.url import Url

SEGMENTS = [
    ("The museum is open every day.", "Le musée est ouvert tous les jours.", 0.93214567),
    ("The museum is open every day", "Le musée est ouvert tous les jours", 0.71),  # nearly the same
    ("Tickets are sold at the door.", "Les billets se vendent à l'entrée.", 0.55),
    ("Bicycles may be left outside.", "Les vélos peuvent rester dehors.", 0.25),  # below the usual threshold
    ("const x = { y: 1 };", "const x = { y: 1 };", 0.97),  # code
]


def address(site: str, language: str, number: int = 0) -> Url:
    return Url.parse(f"https://www.{site}/{language}/{number}")


def job(folder: Path, langs: str = "en,fr", site: str = "example.org", **tables: Any) -> Path:
    """A job folder as a crawl and a miner leave it, with the same segments for each pair of its languages."""
    folder.mkdir()
    codes = langs.split(",")
    asked = {"langs": codes, "seeds": [f"https://www.{site}/"], "export": {"formats": ["jsonl"]}}
    config.write(config.resolve(asked | tables), folder / "job.toml")
    pairs = [(Language(a), Language(b)) for number, a in enumerate(codes) for b in codes[number + 1 :]]
    with Ledger(folder / "job.sqlite") as ledger:
        keep_findings(Findings(ledger), site, 10, [aligned(site, *pair) for pair in pairs])
        ledger.remember("ended", CrawlEnd(kind=EndKind.DONE))
    return folder


def aligned(site: str, lang_a: Language, lang_b: Language) -> Aligned:
    urls = address(site, lang_a), address(site, lang_b)
    segments = tuple(
        SegmentPair(
            *urls, Segment(a, n, n), Segment(b, n, n), score, "1:1", {"alignment": score}, ("code",) * ("{" in a)
        )
        for n, (a, b, score) in enumerate(SEGMENTS)
    )
    return Aligned(PagePair(*urls, lang_a, lang_b, 0.9, {"a": 0.4}), segments)


def written(folder: Path, name: str) -> list[dict[str, Any]]:
    """The JSON lines of a corpus."""
    return [json.loads(line) for line in (folder / "corpus" / name).read_text().splitlines()]


def records(opened: OpenedJob | OpenedCopy, langs: str = "") -> list[dict[str, Any]]:
    return [json.loads(msgspec.json.encode(unit)) for unit in opened.units(langs)]


def export(folder: Path) -> Path:
    write_corpus(config.resolve(config.read(folder / "job.toml")), folder)
    return folder


@pytest.mark.parametrize(
    ("tables", "count"),
    [
        ({}, 2),
        ({"judge": {"score": 0.6}}, 1),
        ({"judge": {"score": 0.0}}, 3),
        ({"judge": {"score": 0.0, "refuse": [], "duplicates": True}}, 5),
    ],
)
def test_units_are_the_json_lines_of_the_corpus_record_by_record(tmp_path: Path, tables: dict[str, Any], count: int):
    folder = export(job(tmp_path / "job", **tables))
    units = records(bitrawl.open(folder))
    assert units == written(folder, "en-fr.sentences.jsonl")
    assert len(units) == count


def test_units_follow_the_verdicts_of_people(tmp_path: Path):
    folder = job(tmp_path / "job")
    [*_, low, _code] = aligned("example.org", Language("en"), Language("fr")).segments
    good = aligned("example.org", Language("en"), Language("fr")).segments[2]
    for segment, verdict in ((low, Verdict.ACCEPT), (good, Verdict.REJECT)):
        VerdictHistory(folder / "verdicts.sqlite").say(Subject.of_segment(segment), verdict, "anna", 1e9)
    units = records(bitrawl.open(export(folder)))
    assert units == written(folder, "en-fr.sentences.jsonl")
    assert [unit["score"] for unit in units] == [pytest.approx(0.93214567, abs=1e-4), 0.25]


def test_several_languages_come_in_the_order_of_the_files_or_one_pair_alone(tmp_path: Path):
    folder = export(job(tmp_path / "job", "en,fr,de"))
    names = ("en-fr", "en-de", "fr-de")
    files = {name: written(folder, f"{name}.sentences.jsonl") for name in names}
    opened = bitrawl.open(folder)
    assert records(opened) == [line for name in names for line in files[name]]
    assert records(opened, "de,en") == files["en-de"]
    with pytest.raises(bitrawl.ConfigError, match="has no corpus in en and es; choose one of en-fr, en-de, fr-de"):
        opened.units("en,es")


def page(number: int, text: str) -> Page:
    paragraphs = (Paragraph("Menu", boilerplate=True), Paragraph(f"{text} Number {number}."))
    return Page(address("example.org", "en", number), Language("en"), 0.9, "A page", paragraphs=paragraphs)


def monolingual(folder: Path) -> Path:
    folder.mkdir()
    asked = {"langs": ["en"], "seeds": ["https://www.example.org/"], "export": {"formats": ["jsonl"]}}
    config.write(config.resolve(asked), folder / "job.toml")
    pages = [page(n, "The museum is open every day of the week and on holidays.") for n in range(3)]
    with Ledger(folder / "job.sqlite") as ledger:
        for one in pages:
            link = Link(one.url, LinkKind.PAGE)
            with ledger.transaction():
                ledger.refuse([(link, Skip(one.url, Stage.SCOPE, Reason.OFF_SITE))])
                ledger.record(Visit(Lease(link, 1.0), one, 200, 1000, at=1e9, took=0.1))
        copies = {str(pages[2].url): str(pages[0].url)}
        Findings(ledger).replace(SiteFindings("example.org", 3, duplicates=copies), [])
    return export(folder)


def test_units_of_one_language_are_its_pages(tmp_path: Path):
    folder = monolingual(tmp_path / "job")
    opened = bitrawl.open(folder)
    assert records(opened) == written(folder, "en.documents.jsonl")
    assert [page.text for page in opened.units()] == [
        f"The museum is open every day of the week and on holidays. Number {n}." for n in range(2)
    ]
    assert len(opened.sample(1)) == 1
    with pytest.raises(bitrawl.ConfigError, match="is a job in one language"):
        opened.units("en,fr")


@pytest.mark.parametrize("compress", [False, True])
def test_a_merged_folder_has_the_units_of_its_files(tmp_path: Path, *, compress: bool):
    jobs = [job(tmp_path / "one"), job(tmp_path / "two", "en,fr,de", "example.net")]
    result = bitrawl.merge(jobs, out=tmp_path / "merged", formats="jsonl", compress=compress)
    opened = result.open()
    units = records(opened)
    assert [unit["lang_b"] for unit in units] == ["fr", "fr", "de", "de", "de", "de"]
    assert len(units[0]["sources"]) == 4
    assert records(bitrawl.open(tmp_path / "merged"), "fr,en") == units[:2]
    if not compress:
        names = ("en-fr", "en-de", "fr-de")
        assert units == [line for name in names for line in written(tmp_path / "merged", f"{name}.sentences.jsonl")]
    assert {unit.url_a.split("/")[2] for unit in opened.sample(4, langs="en,de")} == {"www.example.net"}
    for read in (opened.pages, opened.pairs):
        with pytest.raises(bitrawl.ConfigError, match=r"is a merged corpus; open one of its jobs: .*one, .*two"):
            read()
    assert opened.status().jobs == [str(folder) for folder in jobs]
    opened.export(formats="tsv", min_score=0.9)
    assert len(list((tmp_path / "merged/corpus").glob("en-fr.tsv*"))) == 1
    assert [unit["score"] >= 0.9 for unit in records(opened)] == [True] * 3


def test_the_merged_corpus_of_a_run_over_many_sites_is_opened_by_the_folder_of_the_run(tmp_path: Path):
    merged = bitrawl.merge(job(tmp_path / "one"), out=tmp_path / "run" / "merged", langs="en,fr").open()
    (tmp_path / "run/bundles.jsonl").touch()
    assert records(bitrawl.open(tmp_path / "run")) == records(merged) != []


def test_a_merged_corpus_without_json_lines_says_what_to_do(tmp_path: Path):
    result = bitrawl.merge([job(tmp_path / "one")], out=tmp_path / "merged", formats=["tmx"])
    with pytest.raises(
        bitrawl.ConfigError, match=r"has no JSONL files to read\. Run: bitrawl export .*merged --formats jsonl"
    ):
        result.open().units()


def test_a_job_that_was_only_crawled_has_no_units_and_says_so(tmp_path: Path):
    (tmp_path / "job.toml").write_text('langs = ["en", "fr"]\nseeds = ["https://www.example.org/"]\n')
    Ledger(tmp_path / "job.sqlite").close()
    with pytest.raises(bitrawl.ConfigError, match=r"has not been mined yet\. Run: bitrawl pair"):
        bitrawl.open(tmp_path).units()


class Frame:
    """Stands for a data frame of pandas, and for a data set of Hugging Face."""

    def __init__(self, rows: Any, columns: Any = None) -> None:
        self.rows = rows if isinstance(rows, list) else rows.to_pylist()
        self.columns = list(columns or rows.column_names)


@pytest.mark.parametrize(
    ("method", "package", "kind"), [("to_pandas", "pandas", "DataFrame"), ("to_dataset", "datasets", "Dataset")]
)
def test_data_frames_and_data_sets_have_the_columns_and_values_of_the_json_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, package: str, kind: str
):
    module = ModuleType(package)
    setattr(module, kind, Frame)
    monkeypatch.setitem(sys.modules, package, module)
    folder = export(job(tmp_path / "job"))
    lines = written(folder, "en-fr.sentences.jsonl")
    frame = getattr(bitrawl.open(folder), method)("en,fr")
    assert set(frame.columns) == set(lines[0])
    measured = [{name: value for name, value in row["scores"].items() if value is not None} for row in frame.rows]
    assert [{**row, "scores": scores} for row, scores in zip(frame.rows, measured, strict=True)] == [
        {"sources": [], **line} for line in lines
    ]
    pages = monolingual(tmp_path / "pages")
    assert getattr(bitrawl.open(pages), method)().rows == written(pages, "en.documents.jsonl")


@pytest.mark.parametrize(("method", "package"), [("to_pandas", "pandas"), ("to_dataset", "datasets")])
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, package: str
):
    monkeypatch.setitem(sys.modules, package, None)
    opened = bitrawl.open(job(tmp_path / "job"))
    with pytest.raises(bitrawl.ConfigError, match=f"Run: pip install {package}"):
        getattr(opened, method)()


def test_samples_and_terms_are_functions_too(tmp_path: Path):
    folder = job(tmp_path / "job")
    assert bitrawl.sample(folder, 1, seed=3) == bitrawl.open(folder).sample(1, seed=3) != []
    assert bitrawl.terms(folder, "fr,en", most=5) == bitrawl.open(folder).terms(["fr", "en"], most=5)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> OpenedJob:
    return bitrawl.open(job(tmp_path_factory.mktemp("opened") / "job"))


@pytest.mark.parametrize(
    ("method", "given", "says"),
    [
        ("units", {"langs": 5}, "langs is 5; give codes, as in 'en,fr' or ['en', 'fr']"),
        ("units", {"langs": "en"}, "langs is 'en'; give two languages"),
        ("to_pandas", {"langs": ["en", 5]}, "langs is ['en', 5]; give codes"),
        ("to_dataset", {"langs": None}, "langs is None; give codes"),
        ("sample", {"size": "ten"}, "size is 'ten'; give a whole number of at least 1"),
        ("sample", {"size": 0}, "size is 0; give a whole number of at least 1"),
        ("sample", {"seed": 0.5}, "seed is 0.5; give a whole number"),
        ("terms", {"langs": "en,de"}, "choose one of en-fr"),
        ("terms", {"most": True}, "most is True; give a whole number of at least 1"),
        ("terms", {"min_score": "high"}, "min_score is 'high'; give a number from 0 to 1"),
        ("export", {"only": "tmx"}, "only is 'tmx'; give True or False"),
        ("export", {"formats": 5}, "formats (--formats) is 5; give a text, or a list of texts"),
        ("export", {"delay": 5}, "there is no setting 'delay'"),
    ],
)
def test_a_wrong_argument_of_a_job_is_named_with_what_it_takes(
    opened: OpenedJob, method: str, given: dict[str, Any], says: str
):
    with pytest.raises(bitrawl.ConfigError) as refused:
        getattr(opened, method)(**given)
    assert says in str(refused.value)
