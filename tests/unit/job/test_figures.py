"""One number for one thing: each figure of a job, at every place that shows it."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from kept_findings import Aligned, keep_findings
from starlette.testclient import TestClient
from typer.testing import CliRunner

from bitrawl import config
from bitrawl.cli import app
from bitrawl.endings import CrawlEnd, EndKind
from bitrawl.errors import BitrawlError
from bitrawl.facts import JobFacts, Live
from bitrawl.job.exporting import write_corpus
from bitrawl.job.folder_check import check
from bitrawl.job.job_merge import merge
from bitrawl.job.live_facts import Sampler
from bitrawl.job.reporting import gather, is_stale, write_report
from bitrawl.job.running import export_copy
from bitrawl.mining import RefusedPair
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
from bitrawl.review.reviewing import PairList, Reading
from bitrawl.show import brief, size
from bitrawl.store.folder import JobFolder
from bitrawl.store.index_reader import PairFilter
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_queue import LedgerQueue
from bitrawl.store.reading_index import refresh
from bitrawl.store.stored_findings import Findings
from bitrawl.store.verdicts import SubjectKind
from bitrawl.url import Url
from bitrawl.web.api.operations import ROOT
from bitrawl.web.app import Serving, application, new_server

EN, FR = Language("en"), Language("fr")
SEGMENTS = [("Tea is served at four.", 0.9), ("Tea is served at four!", 0.8), ("Milk", 0.7), ("Noise", 0.1)]


def url(language: str, number: int) -> Url:
    return Url.parse(f"https://www.example.org/{language}/{number}")


def visit(ledger: Ledger, link: Link, outcome: Page | Skip, status: int, *, final: bool = True) -> None:
    with ledger.transaction():
        ledger.refuse([(link, Skip(link.url, Stage.SCOPE, Reason.OFF_SITE))])
        ledger.record(Visit(Lease(link, 1.0), outcome, status, 1000 if status else 0, 1e9, 0.1), final=final)


def crawl(ledger: Ledger) -> None:
    """Pages, and visits of every other kind: our own, repeated, forbidden, unanswered, refused by the server."""
    for language in (EN, FR):
        for number in range(6):
            page = Page(url(language, number), language, paragraphs=(Paragraph(f"Text {number} in {language}."),))
            visit(ledger, Link(page.url, LinkKind.PAGE), page, 200)
    odd = [url("odd", number) for number in range(5)]
    visit(ledger, Link(odd[0], LinkKind.INDEX), Skip(odd[0], Stage.FETCH, Reason.HTTP_STATUS), 404)
    visit(ledger, Link(odd[1], LinkKind.PROBE), Skip(odd[1], Stage.FETCH, Reason.PROBE), 404)
    visit(ledger, Link(odd[2], LinkKind.PAGE), Skip(odd[2], Stage.ROBOTS, Reason.ROBOTS), 0)
    unavailable = Skip(odd[3], Stage.FETCH, Reason.HTTP_STATUS)
    visit(ledger, Link(odd[3], LinkKind.PAGE), unavailable, 503, final=False)
    visit(ledger, Link(odd[3], LinkKind.PAGE), unavailable, 503)
    visit(ledger, Link(odd[4], LinkKind.PAGE), Skip(odd[4], Stage.FETCH, Reason.TIMEOUT), 0)
    far = [url("far", number) for number in range(4)]
    ledger.refuse((Link(each, LinkKind.PAGE), Skip(each, Stage.SCOPE, Reason.OFF_SITE)) for each in far)
    ledger.remember("ended", CrawlEnd(kind=EndKind.DONE))


def mine(ledger: Ledger) -> None:
    """Four page pairs and one that is translated only in part; a duplicate page; a refused pair."""
    aligned = []
    for number, (text, score) in enumerate([*SEGMENTS, ("Half of it", 0.9)]):
        urls = (url(EN, number), url(FR, number))
        pair = PagePair(*urls, EN, FR, 0.9, {"a": 0.4}, partial=number == len(SEGMENTS))
        scores = {"words_a": 3.0, "words_b": 3.0, "length_ratio": 0.9}
        segment = SegmentPair(*urls, Segment(text, 0, 0), Segment(f"{text} ?", 0, 0), score, "1:1", scores)
        aligned.append(Aligned(pair, (segment,)))
    keep_findings(
        Findings(ledger),
        "example.org",
        12,
        aligned,
        duplicates={url(EN, 5): url(EN, 4)},
        refusals=(RefusedPair(url(EN, 5), url(FR, 5), "untranslated"),),
    )


class Shown(NamedTuple):
    """All that is shown of one job."""

    facts: JobFacts
    status: str
    status_json: dict[str, Any]
    end: str  # of `bitrawl mine`
    report: str
    card: str
    summary: dict[str, Any]
    check: str
    app: Live  # and the API
    pair_list: PairList
    lines: dict[str, int]  # of the files


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    path = tmp_path_factory.mktemp("figures")
    job = config.resolve({"langs": ["en", "fr"], "seeds": ["https://www.example.org/"]})
    config.write(job, path / "job.toml")
    with Ledger(path / "job.sqlite") as ledger:
        crawl(ledger)
        mine(ledger)
    write_corpus(job, path)
    refresh(path)
    folder, facts = JobFolder(path), gather(path)
    run = CliRunner().invoke
    return Shown(
        facts=facts,
        status=run(app, ["status", str(path)]).output,
        status_json=json.loads(run(app, ["status", str(path), "--format", "json"]).output),
        end="\n".join(brief(facts).lines),
        report=re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", folder.report.read_text("utf-8"))),
        card=(folder.corpus / "README.md").read_text("utf-8"),
        summary=json.loads((folder.corpus / "summary.json").read_text())["en-fr"],
        check="\n".join(part.found for part in check(folder)),
        app=msgspec.json.decode(msgspec.json.encode(Sampler(lambda: 1e9).sample(folder)), type=Live),
        pair_list=Reading(folder).pairs(PairFilter()),
        lines={p.name: len(p.read_text("utf-8").splitlines()) for p in folder.corpus.iterdir()},
    )


def mined_job(path: Path) -> JobFolder:
    """With its corpus."""
    path.mkdir()
    job = config.resolve({"langs": ["en", "fr"], "seeds": ["https://www.example.org/"]})
    config.write(job, path / "job.toml")
    with Ledger(path / "job.sqlite") as ledger:
        mine(ledger)
    write_corpus(job, path)
    return JobFolder(path)


def bitrawl(*arguments: object) -> tuple[int, str]:
    """The exit code, and what is said there or as an error."""
    result = CliRunner().invoke(app, list(map(str, arguments)))
    said = str(result.exception) if isinstance(result.exception, BitrawlError) else ""
    return result.exit_code, " ".join(f"{result.output} {said}".split())


def number(pattern: str) -> Callable[[str], int]:
    """The one number at that place of a text. Every place that the pattern fits has to say the same."""

    def read(text: str) -> int:
        numbers = set(re.findall(pattern, text))
        assert len(numbers) == 1, (pattern, numbers)
        return int(numbers.pop().replace(",", ""))

    return read


# Each figure: how many there are by `JobFacts`, then what each place says.
FIGURES: dict[str, list[Callable[[Shown], Any]]] = {
    "pages": [
        lambda s: s.facts.crawl.pages,
        lambda s: sum(s.facts.crawl.languages.values()),
        lambda s: s.status_json["pages"],
        lambda s: number(r"= (\d+) pages \+")(s.status),
        lambda s: number(r"^(\d+) pages of")(s.end),
        lambda s: number(r"bitrawl read (\d+) pages")(s.report),
        lambda s: number(r"= (\d+) pages \+")(s.report),
        lambda s: number(r"(\d+) pages, \d+ page pairs")(s.check),
        lambda s: s.app.pages,
        lambda s: sum(s.app.languages.values()),
    ],
    "visits": [
        lambda s: s.facts.crawl.fetches,
        lambda s: s.status_json["fetches"],
        lambda s: number(r"pages of (\d+) visits")(s.status),
        lambda s: number(r"complete after \d+ of (\d+) visits")(s.report),
        lambda s: s.facts.crawled.growth[0].points[-1][0],
        lambda s: s.app.fetches,
        lambda s: s.app.harvest[-1].fetches,
    ],
    "answers": [
        lambda s: s.facts.crawl.answers,
        lambda s: s.status_json["answers"],
        lambda s: number(r"(\d+) answers to \d+ requests")(s.status),
        lambda s: number(r"(\d+) answers to \d+ requests")(s.end),
        lambda s: number(r"(\d+) answers")(s.report),
    ],
    "requests": [
        lambda s: s.facts.crawl.requests,
        lambda s: number(r"answers to (\d+) requests")(s.status),
        lambda s: number(r"answers to (\d+) requests")(s.end),
    ],
    "bytes": [
        lambda s: s.facts.crawl.bytes,
        lambda s: s.status_json["bytes"],
        lambda s: s.app.bytes,
    ],
    "size": [
        lambda s: size(s.facts.crawl.bytes),
        lambda s: re.search(r"requests, ([\d.]+ kB)", s.status)[1],
        lambda s: re.search(r"requests \(([\d.]+ kB)", s.end)[1],
        lambda s: re.search(r"fetched ([\d.]+ kB)", s.report)[1],
    ],
    "links": [
        lambda s: s.facts.crawl.links,
        lambda s: s.status_json["links"],
        lambda s: number(r"links +(\d+) =")(s.status),
        lambda s: number(r"links (\d+) =")(s.report),
    ],
    "skipped links": [
        lambda s: s.facts.crawl.skipped,
        lambda s: s.status_json["skipped"],
        lambda s: number(r"\+ (\d+) skipped")(s.status),
        lambda s: number(r"(\d+) links skipped")(s.end),
        lambda s: number(r"\+ (\d+) skipped")(s.report),
        lambda s: number(r"(\d+) links did not become a page")(s.report),
        lambda s: number(r"(\d+) links skipped")(s.report),
    ],
    "own requests": [
        lambda s: s.facts.crawl.own_requests,
        lambda s: s.status_json["own_requests"],
        lambda s: number(r"(\d+) requests of our own")(s.status),
        lambda s: number(r"own requests (\d+)")(s.report),
    ],
    "page pairs": [
        lambda s: s.facts.mined.pairs,
        lambda s: s.status_json["corpora"]["en-fr"]["pairs"],
        lambda s: number(r"(\d+) page pairs")(s.status),
        lambda s: number(r"^(\d+) page pairs:")(s.end.partition("\n")[2]),
        lambda s: number(r"It found (\d+) page pairs")(s.report),
        lambda s: number(r"(\d+) page pairs \d+ segment pairs")(s.report),
        lambda s: number(r"in (\d+) page pairs")(s.card),
        lambda s: s.summary["pairs"],
        lambda s: number(r"(\d+) page pairs")(s.check),
        lambda s: sum(s.app.pairs.values()),
        lambda s: s.pair_list.page_pairs,
        lambda s: s.lines["en-fr.documents.jsonl"] - s.facts.mined.partial,
    ],
    "partly translated pairs": [
        lambda s: s.facts.mined.partial,
        lambda s: s.status_json["corpora"]["en-fr"]["partial"],
        lambda s: number(r"(\d+) partly translated pair,")(s.status),
        lambda s: number(r"; (\d+) partly translated pair;")(s.end),
        lambda s: number(r"and (\d+) partly translated pair with")(s.report),
        lambda s: number(r"and (\d+) partly translated pair")(s.card),
        lambda s: s.summary["partial"],
        lambda s: number(r"and (\d+) partly translated pair")(s.check),
        lambda s: s.app.partial,
        lambda s: s.pair_list.partial,
    ],
    "segment pairs": [
        lambda s: s.facts.mined.segments,
        lambda s: s.status_json["corpora"]["en-fr"]["segments"],
        lambda s: number(r"(\d+) segment pairs")(s.status),
        lambda s: number(r"(\d+) segment pairs")(s.end),
        lambda s: number(r"with (\d+) segment pairs")(s.report),
        lambda s: s.summary["occurrences"] + sum(s.summary["refused"].values()),
        lambda s: s.app.segments,
    ],
    "units": [
        lambda s: sum(corpus.units for corpus in s.facts.corpora.values()),
        lambda s: s.status_json["corpora"]["en-fr"]["units"],
        lambda s: number(r"(\d+) units in the corpus")(s.status),
        lambda s: number(r"en-fr: (\d+) units written")(s.end),
        lambda s: number(r"(\d+) units in the corpus")(s.report),
        lambda s: number(r"(\d+) translation units")(s.card),
        lambda s: s.summary["units"],
        lambda s: s.app.units["en-fr"],
        lambda s: s.lines["en-fr.sentences.jsonl"],
        lambda s: s.lines["en-fr.tsv"] - 1,
    ],
    "refused segment pairs": [
        lambda s: sum(s.facts.written["en-fr"].refused.values()),
        lambda s: number(r"; (\d+) refused: \d+ score")(s.end),
        lambda s: number(r"score (\d+) Files")(s.report),
        lambda s: number(r"Segment pairs, by threshold or verdict:\n\n.*\n.*\n\| score \| (\d+) \|")(s.card),
        lambda s: s.summary["refused"]["score"],
    ],
    "duplicate pages": [
        lambda s: s.facts.mined.duplicates,
        lambda s: number(r"(\d+) duplicate page")(s.end),
        lambda s: number(r"(\d+) duplicate pages")(s.report),
        lambda s: number(r"Left out as duplicates: (\d+) page")(s.card),
    ],
}


@pytest.mark.parametrize("figure", FIGURES)
def test_a_figure_is_the_same_wherever_it_is_shown(shown: Shown, figure: str):
    values = [read(shown) for read in FIGURES[figure]]
    assert values == [values[0]] * len(values)
    assert values[0]


def test_no_two_of_these_figures_are_the_same_by_chance(shown: Shown):
    """If they were, a figure under a wrong name could pass."""
    often = {"pages", "visits", "answers", "requests", "links", "page pairs", "segment pairs", "units"}
    values = [FIGURES[figure][0](shown) for figure in often]
    assert len(set(values)) == len(values), dict(zip(often, values, strict=True))


def test_a_corpus_is_stale_from_a_verdict_until_it_is_written_again(tmp_path: Path):
    job = config.resolve({"langs": ["en", "fr"], "seeds": ["https://www.example.org/"]})
    config.write(job, tmp_path / "job.toml")
    folder = JobFolder(tmp_path)
    with Ledger(folder.ledger) as ledger:
        mine(ledger)
    assert not is_stale(folder)  # nothing is written
    write_corpus(job, tmp_path)
    assert not is_stale(folder)
    refresh(tmp_path)
    reading = Reading(folder)
    [first, *_] = reading.pairs(PairFilter()).pairs
    reading.judge_pair(first.row.key, Verdict.REJECT, "anna", 1.0)
    assert is_stale(folder)
    write_corpus(job, tmp_path)
    assert not is_stale(folder)
    reading.verdicts.undo(SubjectKind.PAIR, first.row.key, "anna", 2.0)
    assert is_stale(folder)


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "cut off": lambda content: content[: len(content) // 2],
    "another number": lambda content: content.replace(b'"units": 3', b'"units": 7'),
    "empty": lambda _: b"",
}


@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize("kind", ["job", "merged", "copy"])
def test_damaged_figures_are_named_with_what_mends_them_wherever_they_are_read(tmp_path: Path, kind: str, how: str):
    if kind == "copy" and how == "another number":
        return  # A copy has no checksums.
    folder = mined_job(tmp_path / "job").path
    shown, corpus, again = folder, folder / "corpus", ("export", folder)
    if kind == "merged":
        merge([folder], tmp_path / "merged", {}, tell=lambda _: None)
        shown, corpus, again = tmp_path / "merged", tmp_path / "merged/corpus", ("export", tmp_path / "merged")
    elif kind == "copy":
        export_copy(JobFolder(folder).job(), JobFolder(folder), tmp_path / "copy")
        shown = corpus = tmp_path / "copy"
        again = ("export", folder, "--to", corpus)
    (corpus / "summary.json").write_bytes(DAMAGE[how]((corpus / "summary.json").read_bytes()))
    advice = f"bitrawl {' '.join(map(str, again))}".replace(str(folder), "JOB" if kind == "copy" else str(folder))
    commands = [("status",), ("status", "--format", "json"), ("check",), *([("report",)] if kind == "job" else [])]
    for command in commands:
        code, said = bitrawl(*command, shown)
        assert (code, "summary.json" in said, advice in said) == (1, True, True), (command, said)
        assert command != ("check",) or said.startswith(("sound", "damaged")), said
    assert bitrawl(*again)[0] == 0
    assert {command: bitrawl(*command, shown)[0] for command in commands} == dict.fromkeys(commands, 0)


def test_the_app_names_damaged_figures_shows_the_others_and_offers_to_write_them_again(tmp_path: Path):
    folder = mined_job(tmp_path / "job")
    whole = Sampler(lambda: 1e9).sample(folder)
    (folder.corpus / "summary.json").write_bytes(b"{")
    live = Sampler(lambda: 1e9).sample(folder)
    assert "summary.json is damaged" in live.fault
    assert live == msgspec.structs.replace(whole, units={}, fault=live.fault)
    with TestClient(application(new_server(Serving(tmp_path)), ["testserver"])) as client:
        page = client.get("/jobs/job").text
        assert "corpus/summary.json is damaged" in page
        assert "in the corpus" not in page
        assert str(tmp_path) not in page
        assert "Write the files again" in client.get("/jobs/job/download").text


def test_status_report_card_and_app_agree_on_a_job_that_runs(tmp_path: Path):
    folder = mined_job(tmp_path / "job")
    new, *others = (
        Link(url(EN, 100 + n), kind)
        for n, kind in enumerate([LinkKind.PAGE, LinkKind.PAGE, LinkKind.INDEX, LinkKind.PROBE])
    )
    with Ledger(folder.ledger) as ledger:
        queue = LedgerQueue(ledger, str)
        queue.put((link, 0.5) for link in others)
        assert queue.pop("www.example.org")  # in flight is still queued
        visit(ledger, new, Page(new.url, EN, paragraphs=(Paragraph("Milk is served at five."),)), 200)
        with TestClient(application(new_server(Serving(tmp_path)), ["testserver"])) as client:
            app = client.get(f"{ROOT}/jobs/job").json()
        status = json.loads(bitrawl("status", folder.path, "--format", "json")[1])
        report = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", write_report(folder.path).read_text("utf-8")))
        card, live = (folder.corpus / "README.md").read_text("utf-8"), app["figures"]
    assert status["state"] == app["state"] == "running"
    assert "state running" in report
    assert status["pages"] == live["pages"] == number(r"bitrawl read (\d+) page")(report) == 1
    assert status["queued"] == live["queued"] == number(r"skipped \+ (\d+) queued")(report) == 1  # our own are no links
    corpus = status["corpora"]["en-fr"]
    assert corpus["pairs"] == live["pairs"]["en-fr"] == number(r"in (\d+) page pairs")(card) == 4
    assert corpus["segments"] == live["segments"] == number(r"with (\d+) segment pairs")(report)
    assert corpus["units"] == live["units"]["en-fr"] == number(r"(\d+) translation units")(card) == 3
