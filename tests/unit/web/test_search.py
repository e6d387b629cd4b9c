"""The search of the web app and of the API: what it finds, shows, saves and refuses."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from kept_findings import Aligned, keep_findings
from starlette.testclient import TestClient

from bitrawl.corpus.tmx import read_tmx
from bitrawl.model import Language, PagePair, Segment, SegmentPair, Verdict, pair_key, segment_key
from bitrawl.review.reviewing import Reading
from bitrawl.store import reading_index
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger
from bitrawl.store.stored_findings import Findings
from bitrawl.url import Url
from bitrawl.web.api.operations import ROOT
from bitrawl.web.app import Serving, application, new_server

JOB = "0" * 32
URLS = Url.parse("http://s.test/en"), Url.parse("http://s.test/fr")
TEXTS = [
    ("The layer is locked.", "Le calque est verrouillé."),
    ("Each layer is thin.", "Chaque couche est fine."),
    ("=A layer of <b>paint</b>", "Une couche de peinture"),
    ("Nothing else", "Rien d'autre"),
]


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    jobs = tmp_path_factory.mktemp("jobs")
    folder = JobFolder(jobs / JOB)
    folder.path.mkdir()
    folder.description.write_text('langs = ["en", "fr"]\nseeds = ["http://s.test/"]\n')
    segments = tuple(
        SegmentPair(*URLS, Segment(a), Segment(b), 0.9 - number / 10) for number, (a, b) in enumerate(TEXTS)
    )
    pair = PagePair(*URLS, Language("en"), Language("fr"), 0.9, {"u": 0.5})
    with Ledger(folder.ledger) as ledger:
        keep_findings(Findings(ledger), "s.test", 2, [Aligned(pair, segments)])
    reading_index.refresh(folder.path)
    key = segment_key(*TEXTS[1])
    assert Reading(folder).judge_segment(pair_key(*URLS), key, Verdict.REJECT, "anna", 1.0)
    return jobs


@pytest.fixture
def client(jobs: Path, tmp_path: Path) -> Iterator[TestClient]:
    shutil.copytree(jobs, tmp_path / "jobs")
    with TestClient(application(new_server(Serving(tmp_path / "jobs")), ["testserver"])) as client:
        yield client


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ({"q": "layer"}, [0, 1, 2]),
        ({"q": "layer", "other": "calque"}, [0]),
        ({"q": "layer", "without": "calque"}, [1, 2]),
        ({"q": "lay*", "side": "a", "languages": "en-fr"}, [0, 1, 2]),
        ({"q": "locked layer", "near": "1"}, [0]),
        ({"q": "paint lay*", "near": "any"}, [2]),
        ({"q": "layer", "sort": "left"}, [2, 1, 0]),
        ({"q": "locked", "translated": "true"}, [0]),
        ({"q": "layer", "offset": "1", "limit": "1"}, [1]),
        ({}, []),
    ],
)
def test_the_api_finds_what_a_query_asks_for(client: TestClient, question: dict[str, str], places: list[int]):
    answer = client.get(f"{ROOT}/jobs/{JOB}/search", params=question)
    assert answer.status_code == 200, answer.text
    assert [hit["segment"]["place"] for hit in answer.json()["hits"]] == places


@pytest.mark.parametrize(
    ("question", "field", "fix"),
    [
        ({"q": "l*r"}, "q", "pag*"),
        ({"q": "layer", "without": "!"}, "without", "at least one letter"),
        ({"q": '"layer', "near": "3"}, "q", '"old port" museum'),
        ({"q": "layer", "near": "few"}, "near", "number of words, or any"),
        ({"q": "layer", "side": "c"}, "side", "a, b, both"),
    ],
)
def test_a_wrong_query_is_refused_with_the_fix_in_the_api_the_page_and_the_file(
    client: TestClient, question: dict[str, str], field: str, fix: str
):
    answer = client.get(f"{ROOT}/jobs/{JOB}/search", params=question)
    assert answer.status_code == 422
    assert fix in answer.json()["fields"][field]
    assert client.get(f"{ROOT}/jobs/{JOB}/hits", params=question).status_code == 422
    page = client.get(f"/jobs/{JOB}/search", params=question)
    assert f'id="{field}-problem"' in page.text


def test_all_hits_are_saved_as_a_table_with_their_verdicts(client: TestClient):
    answer = client.get(f"/jobs/{JOB}/hits", params={"q": "layer", "view": "lines", "format": "tsv"})
    assert answer.headers["content-type"] == "text/tab-separated-values; charset=utf-8"
    names, *rows = (line.split("\t") for line in answer.text.splitlines())
    table = [dict(zip(names, row, strict=True)) for row in rows]
    assert [(row["text_b"], row["verdict"]) for row in table] == [
        (TEXTS[0][1], ""),
        (TEXTS[1][1], "reject"),
        (TEXTS[2][1], ""),
    ]
    assert table[2]["text_a"] == "'=A layer of <b>paint</b>"  # A spreadsheet would take it for a formula.
    assert (table[0]["lang_a"], table[0]["lang_b"], table[0]["url_b"]) == ("en", "fr", URLS[1])


@pytest.mark.parametrize("languages", ["", "en-fr"])
def test_all_hits_that_nobody_rejected_are_saved_as_a_translation_memory(
    client: TestClient, tmp_path: Path, languages: str
):
    question = {"q": "layer", "languages": languages, "format": "tmx"}
    answer = client.get(f"{ROOT}/jobs/{JOB}/hits", params=question)
    (tmp_path / "hits.tmx").write_bytes(answer.content)
    with (tmp_path / "hits.tmx").open("rb") as file:
        units = list(read_tmx(file, tmp_path / "hits.tmx"))
    assert units == [(("en", "fr"), TEXTS[0]), (("en", "fr"), TEXTS[2])]


def test_the_help_beside_the_field_has_an_example_that_works(client: TestClient):
    page = client.get(f"/jobs/{JOB}/search", params={"q": "pag*"})
    assert "pag* finds page" in page.text
    assert page.status_code == 200
