"""A review goes from one page pair that nobody has judged to the next, and back."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from kept_findings import Aligned, keep_findings
from starlette.testclient import TestClient

from bitrawl.model import Language, PagePair, Segment, SegmentPair, Verdict, pair_key
from bitrawl.review.queue import ReviewOrder, ReviewQueue, review_queue
from bitrawl.review.reviewing import Reading
from bitrawl.store import reading_index
from bitrawl.store.folder import JobFolder
from bitrawl.store.index_reader import LanguageOrder, PairFilter
from bitrawl.store.ledger import Ledger
from bitrawl.store.stored_findings import Findings
from bitrawl.url import Url
from bitrawl.web.app import Serving, application, new_server

JOB = "0" * 32
SCORES = {("b.test", 1, "fr"): 0.9, ("b.test", 2, "fr"): 0.6, ("a.test", 3, "fr"): 0.8, ("a.test", 4, "zh"): 0.7}


def page_pair(site: str, number: int, other: str, score: float) -> PagePair:
    urls = (Url.parse(f"http://{site}/{language}/{number}") for language in ("en", other))
    return PagePair(*urls, Language("en"), Language(other), score, {"u": 0.5})


PAIRS = {number: page_pair(site, number, other, score) for (site, number, other), score in SCORES.items()}
KEYS = {number: pair_key(pair.url_a, pair.url_b) for number, pair in PAIRS.items()}
NUMBERS = {key: number for number, key in KEYS.items()}


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A job with four page pairs of two sites."""
    folder = JobFolder(tmp_path_factory.mktemp("jobs") / JOB)
    folder.path.mkdir()
    folder.description.write_text('langs = ["en", "fr", "zh"]\nseeds = ["http://a.test/", "http://b.test/"]\n')
    with Ledger(folder.ledger) as ledger:
        for site in ("a.test", "b.test"):
            pairs = [pair for pair in PAIRS.values() if pair.url_a.host == site]
            segment = Segment("A text"), Segment("Un texte"), 0.9
            aligned = [Aligned(pair, (SegmentPair(pair.url_a, pair.url_b, *segment),)) for pair in pairs]
            keep_findings(Findings(ledger), site, len(pairs), aligned)
    reading_index.refresh(folder.path)
    return folder.path.parent


@pytest.fixture
def folder(jobs: Path, tmp_path: Path) -> JobFolder:
    shutil.copytree(jobs, tmp_path / "jobs")
    return JobFolder(tmp_path / "jobs" / JOB)


@pytest.fixture
def client(folder: JobFolder) -> Iterator[TestClient]:
    with TestClient(application(new_server(Serving(folder.path.parent)), ["testserver"])) as client:
        yield client


def judge(folder: JobFolder, *numbers: int) -> None:
    for number in numbers:
        assert Reading(folder).judge_pair(KEYS[number], Verdict.ACCEPT, "anna", 1.0)


def opened(client: TestClient, query: str = "") -> int:
    """The number of the page pair that a review opens."""
    answer = client.get(f"/jobs/{JOB}/review{query}")
    assert answer.status_code == 200
    return NUMBERS[answer.url.path.rpartition("/")[2]]


def verdict(client: TestClient, page: str, verdict: str) -> str:
    """Send the form of the bar; the page that it leads to."""
    form = page[page.index("data-whole") :]
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form[: form.index("</form>")]))
    fields["review"] = fields["review"].replace("&amp;", "&")
    return client.post(f"/jobs/{JOB}/verdicts", data=fields | {"verdict": verdict}).text


def number_of(page: str) -> int:
    return NUMBERS[page.partition('name="within" value="')[2].partition('"')[0]]


def link(page: str, key: str) -> str:
    address = re.search(rf'href="([^"]+)" rel="\w+" data-key="{key}"', page)
    return address[1].replace("&amp;", "&") if address else ""


@pytest.mark.parametrize(
    ("order", "numbers"),
    [
        (ReviewOrder.UNCERTAIN, [2, 4, 3, 1]),
        (ReviewOrder.SITE, [4, 3, 2, 1]),
        (ReviewOrder.PAGE, [3, 4, 1, 2]),
    ],
)
def test_each_order_is_what_it_says(folder: JobFolder, order: ReviewOrder, numbers: list[int]):
    assert [NUMBERS[key] for key in review_queue(folder, order).keys] == numbers


def test_a_random_order_depends_on_its_seed_alone(folder: JobFolder):
    orders = [review_queue(folder, ReviewOrder.RANDOM, seed).keys for seed in range(20)]
    assert {frozenset(keys) for keys in orders} == {frozenset(NUMBERS)}
    assert len(set(orders)) > 5
    assert review_queue(folder, ReviewOrder.RANDOM, 7).keys == orders[7]


def test_only_the_chosen_languages_are_in_the_queue(folder: JobFolder):
    chosen = LanguageOrder(Language("en"), Language("zh"))
    assert review_queue(folder, ReviewOrder.SITE, languages=chosen).keys == (KEYS[4],)


def test_pages_translated_in_part_are_not_in_the_queue(folder: JobFolder):
    with Ledger(folder.ledger) as ledger:
        partial = msgspec.structs.replace(page_pair("c.test", 9, "fr", 0.5), partial=True)
        keep_findings(Findings(ledger), "c.test", 1, [Aligned(partial)])
    reading_index.refresh(folder.path)
    assert Reading(folder).pairs(PairFilter()).partial == 1
    assert set(review_queue(folder, ReviewOrder.SITE).keys) == set(NUMBERS)


def test_what_somebody_judged_is_passed_over_and_counted(folder: JobFolder):
    judge(folder, 4, 3)
    queue = review_queue(folder, ReviewOrder.UNCERTAIN)
    assert (len(queue.judged), queue.left) == (2, 2)
    assert queue.following(KEYS[2]) == KEYS[1]
    assert queue.previous(KEYS[1]) == KEYS[3]  # judged or not


def test_after_the_last_comes_the_first_that_was_skipped():
    queue = ReviewQueue(("a", "b", "c"), frozenset("b"))
    assert queue.following("c") == "a"
    assert queue.following("gone") == "a"
    assert queue.previous("a") is None
    assert queue.previous("gone") is None
    assert ReviewQueue(("a", "b"), frozenset("b")).following("a") is None


def test_a_verdict_opens_the_next_pair_until_none_is_left(client: TestClient):
    page = client.get(f"/jobs/{JOB}/review?order=uncertain").text
    numbers = []
    for left in (4, 3, 2, 1):
        assert f"{4 - left} of 4 judged, {left} left" in page
        numbers.append(number_of(page))
        page = verdict(client, page, "accept" if left % 2 else "reject")
    assert numbers == [2, 4, 3, 1]
    assert "Every page pair here is judged." in page
    assert "4 of 4 judged, 0 left" in page
    assert number_of(client.get(link(page, "b")).text) == 1


def test_back_leads_to_where_one_was_and_taking_a_verdict_back_stays(client: TestClient, folder: JobFolder):
    judge(folder, 4)
    page = verdict(client, client.get(f"/jobs/{JOB}/review?order=uncertain").text, "accept")
    assert number_of(page) == 3
    page = client.get(link(page, "b")).text
    assert number_of(page) == 2  # and not 4, which somebody else has judged
    page = verdict(client, page, "undo")
    assert number_of(page) == 2
    assert "1 of 4 judged, 3 left" in page
    assert link(page, "b") == ""
    assert number_of(client.get(link(page, "n")).text) == 3


def test_a_review_goes_on_where_one_was(client: TestClient):
    assert opened(client) == 2
    assert opened(client, f"?order=site&after={KEYS[4]}") == 3
    assert opened(client) == 3
    page = client.get(f"/jobs/{JOB}/review").text
    client.get(f"/jobs/{JOB}/pairs/{KEYS[1]}")  # reading another pair is no review
    assert opened(client) == 3
    verdict(client, page, "reject")
    assert opened(client) == 2
    client.cookies.clear()
    assert opened(client) == 2


def test_a_random_review_has_its_seed_in_the_address(client: TestClient, folder: JobFolder):
    for query in ("?order=random", "?order=random&seed=0"):
        answer = client.get(f"/jobs/{JOB}/review{query}")
        seed = answer.url.params["seed"]
        assert f"order=random&seed={seed}&" in link(answer.text, "n")
        keys = review_queue(folder, ReviewOrder.RANDOM, int(seed)).keys
        assert [number_of(answer.text), number_of(client.get(link(answer.text, "n")).text)] == [
            NUMBERS[key] for key in keys[:2]
        ]


@pytest.mark.parametrize(
    "query", ["?order=nothing", "?order=random&seed=" + "9" * 5000, "?order=site&languages=%ff-x&after=%00"]
)
def test_odd_addresses_open_a_pair(client: TestClient, query: str):
    assert opened(client, query) in KEYS


def test_a_choice_without_pairs_says_so(client: TestClient):
    assert opened(client, "?order=site&languages=en-zh") == 4
    answer = client.get(f"/jobs/{JOB}/review?order=site&languages=fr-zh").text
    assert "There are no page pairs to review yet." in answer
