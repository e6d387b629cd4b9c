"""What docs/how-to/sql.md promises: its views, its ten questions, and that nothing can be changed."""

import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from kept_findings import Aligned, keep_findings

from bitrawl import config
from bitrawl.errors import ConfigError
from bitrawl.job import asked
from bitrawl.mining.findings import RefusedPair
from bitrawl.model import (
    Answer,
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

GUIDE = (Path(__file__).parents[3] / "docs/how-to/sql.md").read_text()
QUESTIONS = dict(re.findall(r"^([A-Z].*\?)\n\n```sql\n([^`]*)```", GUIDE, re.MULTILINE))
EN, FR = Language("en"), Language("fr")


def url(path: str) -> Url:
    return Url.parse(f"https://s.test/{path}")


PAIR = PagePair(url("en/port"), url("fr/port"), EN, FR, 0.9, {"u": 0.95})
SEGMENTS = (
    SegmentPair(PAIR.url_a, PAIR.url_b, Segment("The harbour is old."), Segment("Le port est vieux."), 0.9),
    SegmentPair(PAIR.url_a, PAIR.url_b, Segment("The harbour sleeps."), Segment("La rade dort."), 0.8),
)


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sql") / "job"
    folder.mkdir()
    config.write(config.resolve({"langs": ["en", "fr"], "seeds": ["https://s.test/"]}), folder / "job.toml")
    with Ledger(folder / "job.sqlite") as ledger:
        for path, language in (("en/port", EN), ("fr/port", FR), ("fr/alone", FR)):
            page = Page(url(path), language, title=path, paragraphs=(Paragraph("A text."),))
            with ledger.transaction():
                ledger.record(
                    Visit(
                        Lease(Link(page.url, LinkKind.PAGE), 1.0),
                        page,
                        at=86400.0,
                        status=200,
                        bytes=7,
                        answer=Answer(at=86400.0),
                    )
                )
        with ledger.transaction():
            away = Link(url("away"), LinkKind.PAGE)
            ledger.refuse([(away, Skip(away.url, Stage.SCOPE, Reason.OFF_SITE))])
        refused = RefusedPair(url("en/port"), url("fr/alone"), "untranslated")
        keep_findings(Findings(ledger), "s.test", 3, [Aligned(PAIR, SEGMENTS)], refusals=(refused,))
    VerdictHistory(folder / "verdicts.sqlite").say(Subject.of_segment(SEGMENTS[0]), Verdict.ACCEPT, "anna", 86400.0)
    return folder


ANSWERS = {
    "How many pages are there in each language?": [("fr", 2), ("en", 1)],
    "Which French pages have no partner?": [("https://s.test/fr/alone", "fr/alone")],
    "How good are the pairs of each directory?": [("https://s.test/en/", 1, 0.9, 2)],
    "Which rules refused most?": [("scope", "off-site", 1), ("pair", "untranslated", 1)],
    "What did one rule refuse?": [("https://s.test/en/port", "https://s.test/fr/alone", "")],
    "Which pairs did only one method find?": [("https://s.test/en/port", "https://s.test/fr/port", '{"u":0.95}')],
    "Which sites bring most segments?": [("s.test", 1, 0, 2)],
    "Where is a word translated in another way?": [("The harbour sleeps.", "La rade dort.", "https://s.test/fr/port")],
    "How much has each person judged?": [("anna", "segment", "accept", 1)],
    "How much changed from round to round?": [(1, "1970-01-02 00:00:00", 3, 0, 0)],
}


def test_the_guide_has_ten_questions():
    assert QUESTIONS.keys() == ANSWERS.keys()


@pytest.mark.parametrize("question", ANSWERS)
def test_a_job_answers_each_question_of_the_guide(question: str, job: Path):
    with asked(job, QUESTIONS[question]) as answer:
        assert sorted(answer.rows, key=repr) == sorted(ANSWERS[question], key=repr)


@pytest.mark.parametrize("question", [name for name, sql in QUESTIONS.items() if not re.search("units|verdicts", sql)])
def test_the_ledger_answers_it_in_any_other_program(question: str, job: Path):
    with closing(sqlite3.connect(job / "job.sqlite")) as plain:
        assert sorted(plain.execute(QUESTIONS[question]), key=repr) == sorted(ANSWERS[question], key=repr)


@pytest.mark.parametrize("view", ["pages", "page_pairs", "skips", "rounds", "verdicts", "units"])
def test_the_columns_are_those_of_the_guide(view: str, job: Path):
    (told,) = re.findall(rf"^- `{view}`: (.*)$", GUIDE, re.MULTILINE)
    with asked(job, f"SELECT * FROM {view}") as answer:
        assert list(answer.columns) == re.findall(r"`(\w+)`", told)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("SELEC", "syntax error"),
        ("DELETE FROM pairs", "only SELECT is allowed"),
        ("ATTACH 'other.sqlite' AS other", "only SELECT is allowed"),
        ("PRAGMA writable_schema = ON", "only SELECT is allowed"),
        ("SELECT 1; SELECT 2", "one statement at a time"),
        ("SELECT neighbour FROM pages", "no such column: neighbour"),
    ],
)
def test_wrong_sql_is_refused_with_the_reason_and_the_tables(wrong: str, why: str, job: Path):
    with pytest.raises(ConfigError, match=f"{why}.*pages, page_pairs, units") as raised, asked(job, wrong):
        pass
    assert "\n" not in str(raised.value)


def test_a_job_that_nobody_judged_has_no_verdicts(job: Path, tmp_path: Path):
    (tmp_path / "job.toml").write_bytes((job / "job.toml").read_bytes())
    Ledger(tmp_path / "job.sqlite").close()
    with asked(tmp_path, "SELECT * FROM verdicts") as answer:
        assert list(answer.rows) == []


@pytest.mark.parametrize(
    ("style", "told"),
    [
        ("table", "language  n\nen        1\n"),
        ("csv", "language,n\nen,1\n"),
        ("jsonl", '{"language":"en","n":1}\n'),
    ],
)
def test_the_command_prints_tables_for_people_and_programs(style: str, told: str, job: Path):
    question = "SELECT language, count(*) AS n FROM pages WHERE language = 'en' GROUP BY 1"
    command = [sys.executable, "-m", "bitrawl", "sql", str(job), question, "--format", style]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "".join(f"{line.rstrip()}\n" for line in printed.splitlines()) == told


def test_a_folder_without_a_job_is_named(tmp_path: Path):
    with pytest.raises(ConfigError, match=re.escape(str(tmp_path))), asked(tmp_path, "SELECT 1"):
        pass
