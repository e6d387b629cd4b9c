import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kept_findings import Aligned, keep_findings
from starlette.testclient import TestClient

from bitrawl.endings import CrawlEnd, Doing, EndKind, MiningStep
from bitrawl.facts import Live
from bitrawl.job import Sampler
from bitrawl.job import live_facts as live
from bitrawl.model import Language, Lease, Link, LinkKind, Page, PagePair, Relevance, Skip, Visit
from bitrawl.reasons import Reason, Stage
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_facts import log, summarise
from bitrawl.store.reading_index import refresh
from bitrawl.store.stored_findings import Findings
from bitrawl.url import Url
from bitrawl.web.app import Serving, application, new_server
from bitrawl.web.pages import job_page

NOW = 1e9
Poll = Callable[[], tuple[list[str], int]]


class Crawled:
    """A job folder whose fetches the test makes."""

    def __init__(self, path: Path) -> None:
        self.folder = JobFolder(path)
        self.now = NOW
        self.count = 0
        self.sampler = Sampler(lambda: self.now)

    def fetch(self, count: int, *, skip_every: int = 5, site: str = "s.test", topic: bool | None = None) -> None:
        ledger = Ledger(self.folder.ledger)
        with ledger.transaction():
            for _ in range(count):
                self._fetch(ledger, skip_every, site, topic=topic)
        ledger.close()

    def _fetch(self, ledger: Ledger, skip_every: int, site: str, *, topic: bool | None) -> None:
        number = self.count
        self.count += 1
        url = Url.parse(f"http://{site}/{number}")
        link = Link(url, LinkKind.INDEX if number == 0 else LinkKind.PAGE)
        skip = Skip(url, Stage.FETCH, Reason.REDIRECT if number % 2 else Reason.TIMEOUT)
        relevance = None if topic is None else Relevance(0.5, topic)
        page = Page(url, Language("en" if number % 3 else "fr"), 1.0, relevance=relevance)
        ledger.refuse([(link, skip)])
        outcome = skip if number % skip_every == 0 else page
        ledger.record(Visit(Lease(link, 1.0), outcome, 200, 10, at=NOW - 30, took=0.1))

    def look(self, seconds: float = 2.0) -> Live:
        self.now += seconds
        return self.sampler.sample(self.folder)


@pytest.fixture
def crawled(tmp_path: Path) -> Crawled:
    return Crawled(tmp_path)


def test_a_job_without_a_ledger_has_no_figures(crawled: Crawled):
    assert crawled.look() == Live(at=crawled.now)


def test_a_ledger_that_cannot_be_read_is_told(crawled: Crawled):
    crawled.folder.ledger.write_bytes(b"no database" * 100)
    assert "job.sqlite" in crawled.look().fault


def test_the_figures_are_those_of_the_full_summary(crawled: Crawled):
    crawled.fetch(100)
    crawled.fetch(50, site="other.test")
    seen = crawled.look()
    ledger = crawled.folder.reading()
    full = summarise(ledger)
    assert (seen.pages, seen.bytes, seen.languages) == (full.pages, full.bytes, full.languages)
    assert sum(seen.skips.values()) == full.skipped
    assert seen.fetches == full.fetches
    assert seen.sites == 2
    assert [line.seq for line in seen.log] == [line.seq for line in log(ledger)][-live.LOG_LINES :]
    assert seen.rate == 150
    ledger.close()


def test_pages_about_the_topic_are_counted_on_from_the_last_look(crawled: Crawled):
    crawled.fetch(10)
    assert crawled.look().relevant is None
    for topic in (True, False):
        crawled.fetch(10, topic=topic)
        seen = crawled.look()
        ledger = crawled.folder.reading()
        assert seen.relevant == summarise(ledger).relevant == 8
        ledger.close()


def test_two_looks_within_a_second_are_one(crawled: Crawled):
    crawled.fetch(10)
    first = crawled.look()
    crawled.fetch(10)
    assert crawled.look(0.5) is first
    assert crawled.look(0.6).pages > first.pages


def test_a_look_counts_on_from_the_last_one(crawled: Crawled):
    crawled.fetch(400)
    whole = crawled.look()
    crawled.sampler = Sampler(lambda: crawled.now, most_counted=90)
    counted = [crawled.look().counted for _ in range(6)]
    assert counted == [90, 180, 270, 360, 400, 400]
    seen = crawled.look()
    assert (seen.skips, seen.harvest) == (whole.skips, whole.harvest)


@pytest.mark.parametrize("steps", [[1000], [1] * 10 + [990], [199, 1, 1, 799], [500, 500]])
def test_the_harvest_curve_has_few_points_and_ends_with_the_totals(crawled: Crawled, steps: list[int]):
    for step in steps:
        crawled.fetch(step)
        crawled.look()
    points = crawled.look().harvest
    assert len(points) <= live.POINTS
    assert points[-1].fetches == 1000
    assert sum(points[-1].pages.values()) == crawled.look().pages
    ledger = crawled.folder.reading()
    order = [line.seq for line in log(ledger) if line.outcome == "page"]
    ledger.close()
    for point in points:
        assert sum(point.pages.values()) == sum(seq <= point.fetches for seq in order)


def test_with_very_many_sites_the_totals_come_from_the_fetches(crawled: Crawled):
    for number in range(5):
        crawled.fetch(10, site=f"s{number}.test")
    summed = crawled.look()
    crawled.sampler = Sampler(lambda: crawled.now, most_sites=3)
    counted = crawled.look()
    assert (counted.pages, counted.languages) == (summed.pages, summed.languages)


def test_a_job_that_was_started_over_is_counted_anew(crawled: Crawled):
    crawled.fetch(50)
    crawled.look()
    crawled.folder.start_over()
    crawled.fetch(10)
    seen = crawled.look()
    assert seen.counted == 10
    assert sum(seen.skips.values()) == 2


def test_what_the_job_is_doing_and_how_it_ended(crawled: Crawled):
    crawled.fetch(1)
    ledger = Ledger(crawled.folder.ledger)
    ledger.remember("mining", Doing(MiningStep.ALIGNING, "s.test", "en-fr pairs", 3, 10))
    ledger.remember("ended", CrawlEnd(kind=EndKind.DONE))
    ledger.record_fault("s.test", Skip(Url.parse("http://s.test/"), Stage.ALIGN, Reason.TIMEOUT))
    ledger.close()
    seen = crawled.look()
    assert seen.doing == "aligning s.test (3 of 10 en-fr pairs)"
    assert seen.ended == "Nothing is left to visit."
    assert seen.faults == {"align: timeout": 1}


def test_only_so_many_jobs_are_remembered(tmp_path: Path):
    sampler = Sampler(lambda: NOW)
    folders = [JobFolder(tmp_path / str(number)) for number in range(live.REMEMBERED + 2)]
    for folder in folders:
        sampler.sample(folder)
    assert list(sampler._looks) == [str(folder.path) for folder in folders[2:]]
    sampler.forget(folders[-1])
    assert len(sampler._looks) == live.REMEMBERED - 1


@pytest.fixture
def polled(tmp_path: Path) -> Iterator[tuple[Crawled, Poll]]:
    """A job, and what a tab that shows it is sent: the names of the pieces, and how many bytes."""
    job = tmp_path / "jobs/job"
    job.mkdir(parents=True)
    (job / "job.toml").write_text('langs = ["en", "fr"]\nseeds = ["http://s.test/"]\n')
    crawled = Crawled(job)
    server = new_server(Serving(tmp_path / "jobs"))._replace(sampler=crawled.sampler)
    versions: dict[str, str] = {}
    with TestClient(application(server, ["testserver"])) as client:

        def poll() -> tuple[list[str], int]:
            crawled.now += 2
            tags = ", ".join(f'"{version}"' for version in versions.values())
            answer = client.get("/jobs/job/live" if versions else "/jobs/job", headers={"If-None-Match": tags})
            pieces = dict(re.findall(r'data-piece="([^"]+)" data-version="([^"]+)"', answer.text))
            versions.update(pieces)
            assert answer.status_code == (200 if pieces else 304)
            return list(pieces), len(answer.content)

        yield crawled, poll


def test_a_tab_is_sent_the_pieces_that_have_changed_and_nothing_else(polled: tuple[Crawled, Poll]):
    crawled, poll = polled
    crawled.fetch(600)
    names, whole = poll()
    assert poll() == ([], 0)
    crawled.fetch(1)
    changed, size = poll()
    assert changed == [name for name in names if name not in ("now", "found", "messages")]
    assert size < min(16_000, whole)
    assert poll() == ([], 0)


def test_an_index_that_cannot_be_read_costs_a_tab_only_a_curve(polled: tuple[Crawled, Poll]):
    crawled, poll = polled
    crawled.fetch(10)
    crawled.folder.reading_index.mkdir()
    names, _ = poll()
    assert "now" in names
    crawled.fetch(1)
    assert poll()[0]


def test_the_list_of_pairs_has_the_figure_of_the_tile_and_says_what_the_others_are(tmp_path: Path):
    job = tmp_path / "jobs/job"
    job.mkdir(parents=True)
    (job / "job.toml").write_text('langs = ["en", "fr"]\nseeds = ["http://s.test/"]\n')
    urls = [(Url.parse(f"http://s.test/en/{n}"), Url.parse(f"http://s.test/fr/{n}")) for n in range(3)]
    with Ledger(job / "job.sqlite") as ledger:
        pairs = [PagePair(*both, Language("en"), Language("fr"), 0.9, partial=n == 2) for n, both in enumerate(urls)]
        keep_findings(Findings(ledger), "s.test", 6, [Aligned(pair) for pair in pairs])
    refresh(job)
    with TestClient(application(new_server(Serving(tmp_path / "jobs")), ["testserver"])) as client:
        overview, pair_list = client.get("/jobs/job").text, client.get("/jobs/job/pairs").text
    assert "<b>2</b><span>page pairs</span>" in overview
    assert "2 page pairs · partly translated: 1" in pair_list
    assert "They do not count as page pairs" in pair_list


def test_the_curve_of_page_pairs_ends_with_the_figure_of_its_tile():
    points = [(10, 3), (40, 9), (70, 30)]
    figures = Live(fetches=60, pairs={"en-fr": 12, "en-de": 3})
    assert job_page._pairs_by_now(points, figures) == ((0, 0), (10, 3), (40, 9), (60, 15))
    assert job_page._pairs_by_now((), figures) == ((0, 0), (60, 15))
    assert job_page._pairs_by_now(points, Live(fetches=60)) == ()
    many = [(n, n) for n in range(1, 1001)]
    curve = job_page._pairs_by_now(many, Live(fetches=2000, pairs={"en-fr": 1000}))
    assert (len(curve) <= job_page.MOST_POINTS + 2, curve[-1]) == (True, (2000, 1000))
