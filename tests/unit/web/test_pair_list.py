"""The list of page pairs: what a row shows, how a heading sorts, and what a long list costs."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from kept_findings import Aligned, keep_findings
from starlette.testclient import TestClient

from bitrawl.model import Language, Lease, Link, LinkKind, Method, Page, PagePair, Segment, SegmentPair, Verdict, Visit
from bitrawl.review.reviewing import Reading
from bitrawl.store import reading_index
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger
from bitrawl.store.stored_findings import Findings
from bitrawl.url import Url
from bitrawl.web.app import Serving, application, new_server

JOB = "0" * 32
EN, FR, ZH = Language("en"), Language("fr"), Language("zh")
PAIRS = 60  # more than one page of rows


def address(code: str, number: int) -> Url:
    return Url.parse(f"http://s.test/{code}/{number}")


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    jobs = tmp_path_factory.mktemp("jobs")
    folder = JobFolder(jobs / JOB)
    folder.path.mkdir()
    folder.description.write_text('langs = ["en", "fr", "zh"]\nseeds = ["http://s.test/"]\n')
    with Ledger(folder.ledger) as ledger:
        kept = []
        with ledger.transaction():
            for number in range(PAIRS):
                other = ZH if number % 2 else FR
                urls = address("en", number), address(other, number)
                for url, title in zip(urls, (f"Page {PAIRS - number:03}", f"Autre <i>{number}</i>"), strict=True):
                    visit = Visit(
                        Lease(Link(url, LinkKind.PAGE), 1.0), Page(url, EN, title=title), 200, 9, at=1e9, took=0.1
                    )
                    ledger.record(visit)
                pair = PagePair(*urls, EN, other, number / PAIRS, {Method.URL: 0.5})
                texts = SegmentPair(*urls, Segment(f"a {number}"), Segment(f"b {number}"), 0.9)
                kept.append(Aligned(pair, (texts,) * (number % 3 + 1)))
        keep_findings(Findings(ledger), "s.test", 2 * PAIRS, kept)
    reading_index.refresh(folder.path)
    return jobs


@pytest.fixture
def client(jobs: Path) -> Iterator[TestClient]:
    with TestClient(application(new_server(Serving(jobs)), ["testserver"])) as client:
        yield client


def rows(client: TestClient, query: str = "") -> list[str]:
    page = client.get(f"/jobs/{JOB}/pairs{query}").text
    return re.findall(r"<tr>\n<th scope=\"row\">.*?</tr>", page, re.DOTALL)


def test_a_row_has_titles_and_addresses_of_both_sides_languages_evidence_in_words_and_the_verdict(
    client: TestClient, jobs: Path
):
    reading = Reading(JobFolder(jobs / JOB))
    key = client.get(f"/jobs/{JOB}/pairs").text.split(f"/jobs/{JOB}/pairs/")[1].split('"')[0]
    assert reading.judge_pair(key, Verdict.REJECT, "anna", 1.0)
    first, *_ = rows(client)
    for text in ("Page 001", "http://s.test/en/59", "Autre &lt;i&gt;59&lt;/i&gt;", "http://s.test/zh/59", "0.98"):
        assert text in first
    assert "English – Chinese" in first
    assert f'<span class="tag">{Method.URL.key}</span>' in first
    assert "rejected" in first


def test_a_list_in_two_languages_names_them_once(client: TestClient):
    assert "English – Chinese</td>" in rows(client)[0]
    assert "English – Chinese</td>" not in rows(client, "?languages=en-zh")[0]


@pytest.mark.parametrize(
    ("heading", "clicks"),
    [
        ("Score", [("ascending", "http://s.test/en/0<"), ("descending", "http://s.test/en/59<")]),
        ("Pages", [("ascending", "http://s.test/en/59<"), ("descending", "http://s.test/en/0<")]),
        ("Segments", [("descending", "http://s.test/en/2<"), ("ascending", "http://s.test/en/0<")]),
    ],
)
def test_a_heading_sorts_by_its_column_and_again_the_other_way_round(
    client: TestClient, heading: str, clicks: list[tuple[str, str]]
):
    there = f"/jobs/{JOB}/pairs?text=s.test"
    for direction, first in clicks:
        [link] = re.findall(rf'<th[^>]*><a href="([^"]+)">{heading}\b', client.get(there).text)
        there = link.replace("&amp;", "&")
        page = client.get(there).text
        assert f'aria-sort="{direction}"><a href' in page
        assert page.count("aria-sort") == 1
        assert "text=s.test" in there
        assert first in re.findall(r"<tr>\n<th scope=\"row\">.*?</tr>", page, re.DOTALL)[0]


def test_a_long_list_comes_in_pages_of_rows(client: TestClient):
    assert (len(rows(client)), len(rows(client, "?offset=50"))) == (50, PAIRS - 50)
