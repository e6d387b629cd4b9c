"""Which pages a browser draws, what becomes of them, and that an archive needs no browser to have them again."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bitrawl.archive.archived_web import Archives, KeptFetcher, ReplayFetcher, warc_records
from bitrawl.archive.writing import ArchivingFetcher, WarcArchive, answers
from bitrawl.config import Job
from bitrawl.crawling import (
    Crawl,
    Frontier,
    LoopSettings,
    PageSource,
    Politeness,
    Reach,
    Render,
    RenderSection,
    Scope,
    ScopeRules,
    Sites,
)
from bitrawl.crawling.rendering import CHECKED, TRIALS, Rendering, rendered
from bitrawl.errors import ConfigError
from bitrawl.job import described
from bitrawl.model import Capture, DrawnBy, Lease, Link, LinkKind, Page, Sitemap, Skip, Visit
from bitrawl.page.analyser import page_reader
from bitrawl.reasons import Reason, Stage
from bitrawl.show import looks_scripted
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_facts import summarise
from bitrawl.store.ledger_queue import LedgerQueue
from bitrawl.strategies import BreadthFirst
from bitrawl.testing import FakeClock, FakeWeb, InlineAnalyser
from bitrawl.url import Url

SENTENCE = "The old harbour wakes before the sun, and the boats come in with the tide. "
SHELL = '<html lang="en"><body><div id="root"></div><script src="/app.js"></script></body></html>'
READER = InlineAnalyser(page_reader())
NO_FOLLOW = (("Content-Type", "text/html"), ("X-Robots-Tag", "nofollow"), ("Content-Length", "9"))


def capture(url: str, html: str = SHELL, headers: tuple[tuple[str, str], ...] = NO_FOLLOW) -> Capture:
    return Capture(Url.parse(url), 200, headers, html.encode(), at=1e9, media_type="text/html")


def drawn_page(url: str, links: str = "") -> str:
    return f'<html lang="en"><body><main><h1>{url}</h1><p>{SENTENCE * 5}</p><p>{url} {SENTENCE}</p></main>{links}</body></html>'


class FakeRenderer:
    """Draws what a function says, and remembers what it was asked. What is `deadly` kills it each time."""

    def __init__(self, draw: Callable[[str], str | None] = drawn_page) -> None:
        self._draw = draw
        self.asked: list[str] = []
        self.deadly: str | None = None

    async def render(self, answer: Capture) -> tuple[Capture | Skip | None, int]:
        self.asked.append(answer.url)
        if answer.url == self.deadly:
            return Skip(answer.url, Stage.ANALYSE, Reason.KILLED), 1000
        html = self._draw(answer.url)
        return (rendered(answer, html, 1e9 + 1, 0.5) if html is not None else None), 1000


def rendering(renderer: FakeRenderer, *, always: bool = False) -> Rendering:
    return Rendering(renderer, lambda host: host, lambda _capture: None, always=always)


async def outcome_of(rendering: Rendering, url: str, html: str = SHELL) -> Page | Skip:
    answer = capture(url, html)
    outcome = await READER.analyse(answer)
    drawn = await rendering.read(answer, outcome, READER)
    outcome = outcome if drawn is None else drawn.outcome
    assert isinstance(outcome, Page | Skip)
    return outcome


async def test_a_page_that_scripts_draw_is_read_as_a_browser_draws_it() -> None:
    page = await outcome_of(rendering(FakeRenderer()), "http://a.org/x")

    assert isinstance(page, Page)
    assert SENTENCE.strip() in page.text
    assert page.drawn_by is DrawnBy.BROWSER


async def test_no_browser_is_asked_for_an_ordinary_page() -> None:
    renderer = FakeRenderer()
    decided = rendering(renderer)

    for number in range(3 * CHECKED):
        await outcome_of(decided, f"http://a.org/{number}/x", drawn_page("x"))
    assert renderer.asked == []


async def test_a_kind_of_address_where_drawing_brings_nothing_is_asked_about_only_now_and_then() -> None:
    renderer = FakeRenderer(lambda _url: SHELL)
    decided = rendering(renderer)

    for number in range(TRIALS + 2 * CHECKED):
        await outcome_of(decided, f"http://a.org/news/{number}")
    assert len(renderer.asked) == TRIALS + 2


async def test_a_kind_of_address_where_drawing_brings_something_is_always_drawn() -> None:
    renderer = FakeRenderer()
    decided = rendering(renderer)

    for number in range(30):
        await outcome_of(decided, f"http://a.org/news/{number}")
    assert len(renderer.asked) == 30


async def test_one_folder_of_a_site_says_nothing_about_another() -> None:
    renderer = FakeRenderer(lambda url: drawn_page(url) if "/app/" in url else SHELL)
    decided = rendering(renderer)

    for number in range(10):
        await outcome_of(decided, f"http://a.org/app/{number}")
        await outcome_of(decided, f"http://a.org/old/{number}")
    assert sum("/app/" in url for url in renderer.asked) == 10
    assert sum("/old/" in url for url in renderer.asked) == TRIALS


async def test_a_site_where_drawing_never_brought_anything_is_not_tried_folder_by_folder() -> None:
    renderer = FakeRenderer(lambda _url: SHELL)
    decided = rendering(renderer)

    for folder in range(30):
        await outcome_of(decided, f"http://a.org/{chr(97 + folder % 26)}{chr(97 + folder // 26)}/x")
    assert len(renderer.asked) == 2 * TRIALS


async def test_on_a_site_that_needs_a_browser_pages_without_a_sign_are_checked_too() -> None:
    plain = f'<html lang="en"><body><p>{SENTENCE * 5}</p><a href="/">Home</a></body></html>'
    renderer = FakeRenderer(lambda url: drawn_page(url) if "/app/" in url else plain + f"<p>{SENTENCE * 20}</p>")
    decided = rendering(renderer)

    await outcome_of(decided, "http://a.org/app/1")
    for number in range(CHECKED + 5):
        await outcome_of(decided, f"http://a.org/more/{number}", plain)
    assert sum("/more/" in url for url in renderer.asked) == 6  # the one that was checked, and all after it


async def test_a_resumed_job_knows_where_a_browser_brought_something_and_where_not() -> None:
    state = '<script type="application/json">' + json.dumps({"body": SENTENCE * 5}) + "</script>"
    little = f'<html lang="en"><body><div id="root"></div>{state}</body></html>'
    renderer = FakeRenderer(lambda url: drawn_page(url, drawn_page(url)) if "/app/" in url else drawn_page(url))
    first, resumed = rendering(renderer), rendering(renderer)
    addresses = [f"http://a.org/{folder}/{number}" for number in range(TRIALS + 2) for folder in ("app", "old")]
    outcomes = [await outcome_of(first, address, little) for address in addresses]
    renderer.asked.clear()
    resumed.remember(
        Visit(Lease(Link(Url.parse(address), LinkKind.PAGE), 0.0), outcome)
        for address, outcome in zip(addresses, outcomes, strict=True)
    )
    for address in ("http://a.org/app/99", "http://a.org/old/99"):
        await outcome_of(resumed, address, little)
    assert renderer.asked == ["http://a.org/app/99"]


async def test_what_a_browser_could_not_draw_is_named_and_says_nothing_about_its_kind() -> None:
    renderer = FakeRenderer(lambda _url: None)
    decided = rendering(renderer)

    outcomes = [await outcome_of(decided, f"http://a.org/news/{number}") for number in range(TRIALS + 5)]
    assert {outcome.reason for outcome in outcomes if isinstance(outcome, Skip)} == {Reason.UNDRAWN}
    assert len(renderer.asked) == TRIALS + 5


@pytest.mark.parametrize("html", [SHELL, drawn_page("http://a.org/x")])
async def test_nothing_is_kept_of_a_page_whose_browser_was_killed_each_time(html: str) -> None:
    renderer = FakeRenderer()
    renderer.deadly = "http://a.org/x"
    outcome = await outcome_of(rendering(renderer, always=True), "http://a.org/x", html)

    assert isinstance(outcome, Skip)
    assert outcome.reason is Reason.KILLED


async def test_nothing_is_kept_of_a_page_whose_reader_was_killed_once_it_was_drawn() -> None:
    class DeadlyReader:
        async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
            assert not index
            return Skip(capture.url, Stage.ANALYSE, Reason.KILLED)

    answer = capture("http://a.org/x")
    drawn = await rendering(FakeRenderer()).read(answer, await READER.analyse(answer), DeadlyReader())
    assert drawn is not None
    assert isinstance(drawn.outcome, Skip)
    assert drawn.outcome.reason is Reason.KILLED


async def test_an_empty_page_that_stays_empty_is_empty() -> None:
    outcome = await outcome_of(rendering(FakeRenderer(lambda _url: SHELL)), "http://a.org/x")

    assert isinstance(outcome, Skip)
    assert outcome.reason is Reason.EMPTY


async def test_a_page_that_stays_empty_and_asks_by_post_says_so() -> None:
    class RefusingRenderer(FakeRenderer):
        async def render(self, answer: Capture) -> tuple[Capture | Skip | None, int]:
            return rendered(answer, SHELL, 1e9 + 1, 0.5, refused=2), 1000

    outcome = await outcome_of(rendering(RefusingRenderer()), "http://a.org/x")

    assert isinstance(outcome, Skip)
    assert (outcome.reason, outcome.detail) == (Reason.EMPTY, "refused 2 requests by POST")


async def test_always_draws_every_page_but_keeps_what_a_script_has_emptied() -> None:
    renderer = FakeRenderer(lambda url: "<p>Sorry" if "gone" in url else drawn_page(url))
    decided = rendering(renderer, always=True)

    ordinary = await outcome_of(decided, "http://a.org/x", drawn_page("http://a.org/x"))
    emptied = await outcome_of(decided, "http://a.org/gone", drawn_page("http://a.org/gone"))
    assert len(renderer.asked) == 2
    assert isinstance(ordinary, Page)
    assert ordinary.drawn_by is DrawnBy.BROWSER
    assert isinstance(emptied, Page)
    assert SENTENCE.strip() in emptied.text


# In a job: ledger, archive, replay


class RenderedJob:
    """A crawl of a.org with a browser, in a folder. Made again it resumes."""

    def __init__(self, folder: Path, renderer: FakeRenderer | None) -> None:
        sites, clock = Sites(), FakeClock()
        home = '<div id="root"></div><script src="/a.js"></script>'
        self.web = FakeWeb({"http://a.org/": home, "http://a.org/x": home})
        self.archive = WarcArchive(folder / "warc", clock=clock)
        self.ledger = Ledger(folder / "job.sqlite", site_of=sites.of)
        queue = LedgerQueue(self.ledger, sites.of)
        for reason in (Reason.KILLED, Reason.SCRIPTED):  # as when render.mode has changed
            queue.try_again(reason)
        frontier = Frontier(queue, clock, sites.of, Politeness())
        seeds = [Url.parse("http://a.org/")]
        self.crawl = Crawl(
            frontier,
            PageSource(
                ArchivingFetcher(self.web, self.archive),
                READER,
                rendering=Rendering(renderer, sites.of, self.archive.write) if renderer else None,
            ),
            scorer=BreadthFirst(),
            ledger=self.ledger,
            scope=Scope(sites, seeds, ScopeRules(reach=Reach.DOMAIN)),
            settings=LoopSettings(probe=False, sitemaps=False),
        )
        frontier.wake(queue.hosts())
        self.crawl.seed([Link(url, LinkKind.SEED) for url in seeds])

    async def run(self) -> None:
        try:
            await self.crawl.run()
        finally:
            self.archive.close()

    def pages(self) -> dict[str, str]:
        return {page.url: page.text for page in self.ledger.pages()}


def with_links(url: str) -> str:
    return drawn_page(url, '<a href="/x">The other page</a>')


@pytest.fixture
async def crawled(tmp_path: Path):
    job = RenderedJob(tmp_path, FakeRenderer(with_links))
    await job.run()
    yield job
    job.ledger.close()


async def test_links_of_a_drawn_page_are_followed_and_the_report_counts_it(crawled: RenderedJob) -> None:
    summary = summarise(crawled.ledger)

    assert set(crawled.pages()) == {"http://a.org/", "http://a.org/x"}
    assert (summary.rendered, summary.scripted) == (2, 0)
    assert summary.bytes > 2000  # what the browser fetched counts


async def test_without_a_browser_the_report_counts_what_looks_drawn_by_scripts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = RenderedJob(tmp_path, None)
    await job.run()

    summary = summarise(job.ledger)
    assert (summary.rendered, summary.scripted) == (0, 1)
    told = looks_scripted(summary, RenderSection(when=Render.NEVER))
    assert told.startswith("1 page looks drawn by scripts")
    assert "--render auto" in told
    for tried in (Render.AUTO, Render.ALWAYS):
        told = looks_scripted(summary, RenderSection(when=tried))
        assert told.startswith("1 page looks drawn by scripts; a browser brought nothing more")
        assert "not run" not in told
        assert "--render" not in told
    monkeypatch.setattr("bitrawl.crawling.settings.find_spec", lambda _name: None)
    assert "'bitrawl[browser]'" in looks_scripted(summary, RenderSection())
    job.ledger.close()


async def test_pages_that_a_killed_browser_cost_are_drawn_by_the_next_run_and_no_count_says_otherwise(
    tmp_path: Path,
) -> None:
    renderer = FakeRenderer(with_links)
    renderer.deadly = "http://a.org/x"
    killed = RenderedJob(tmp_path, renderer)
    await killed.run()
    summary = summarise(killed.ledger)
    assert (summary.rendered, summary.scripted, summary.skipped_for(Reason.KILLED)) == (1, 0, 1)
    assert looks_scripted(summary, RenderSection(when=Render.ALWAYS)) == ""
    killed.ledger.close()

    resumed = RenderedJob(tmp_path, FakeRenderer(with_links))
    await resumed.run()
    summary = summarise(resumed.ledger)
    assert (summary.rendered, summary.scripted, summary.skipped) == (2, 0, 0)
    resumed.ledger.close()


async def test_what_was_drawn_after_all_does_not_count_as_undrawn_any_more(tmp_path: Path) -> None:
    first = RenderedJob(tmp_path, None)
    await first.run()
    assert summarise(first.ledger).scripted == 1
    first.ledger.close()

    second = RenderedJob(tmp_path, FakeRenderer(with_links))
    await second.run()
    summary = summarise(second.ledger)
    assert (summary.rendered, summary.scripted) == (2, 0)
    second.ledger.close()


async def test_an_archive_has_what_the_browser_drew_and_needs_no_browser(crawled: RenderedJob, tmp_path: Path) -> None:
    with Archives([*(tmp_path / "warc").iterdir()]) as archives:
        answer = await ReplayFetcher(archives).fetch(Link(Url.parse("http://a.org/"), LinkKind.SEED))
        listed = list(archives.urls())

    assert isinstance(answer, Capture)
    assert answer.rendered
    assert answer.body.decode() == with_links("http://a.org/")
    assert listed == ["http://a.org/", "http://a.org/x"]
    page = await READER.analyse(answer)
    assert isinstance(page, Page)
    assert page.text == crawled.pages()["http://a.org/"]


async def test_a_job_that_lost_its_ledger_draws_nothing_again(crawled: RenderedJob, tmp_path: Path) -> None:
    renderer = FakeRenderer()
    with Archives([*(tmp_path / "warc").iterdir()]) as archives:
        answer = await KeptFetcher(FakeWeb({}), archives).fetch(Link(Url.parse("http://a.org/"), LinkKind.SEED))

    assert isinstance(answer, Capture)
    assert await rendering(renderer, always=True).read(answer, await READER.analyse(answer), READER) is None


async def test_a_job_killed_while_a_page_was_drawn_visits_it_again(tmp_path: Path) -> None:
    begun = asyncio.Event()

    class EndlessRenderer(FakeRenderer):
        async def render(self, answer: Capture) -> tuple[Capture | Skip | None, int]:
            begun.set()
            await asyncio.Event().wait()
            raise AssertionError(answer)

    killed = RenderedJob(tmp_path, EndlessRenderer())
    run = asyncio.create_task(killed.run())
    await begun.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    killed.ledger.close()

    resumed = RenderedJob(tmp_path, FakeRenderer(with_links))
    await resumed.run()
    assert set(resumed.pages()) == {"http://a.org/", "http://a.org/x"}
    resumed.ledger.close()


def test_the_record_of_a_drawn_page_refers_to_the_answer_and_keeps_its_headers(tmp_path: Path) -> None:
    with WarcArchive(tmp_path, clock=FakeClock()) as archive:
        answer = capture("http://a.org/")
        place = archive.write(answer)
        drawn = rendered(Capture(**{**_fields(answer), "place": place}), "<p>Drawn é", 1e9 + 1, 0.5)
        archive.write(drawn)
        archive.write(capture("http://a.org/other"))
    with Archives([*tmp_path.iterdir()]) as archives:
        read = archives.answer(Url.parse("http://a.org/"))

    assert isinstance(read, Capture)
    assert read.body.decode() == "<p>Drawn é"
    assert dict(read.headers) == {"Content-Type": "text/html; charset=utf-8", "X-Robots-Tag": "nofollow"}
    records = [record.headers.asdict() for record in warc_records(next(tmp_path.iterdir()))]
    named = {record["WARC-Type"]: record for record in reversed(records) if "WARC-Target-URI" in record}
    assert named["conversion"]["WARC-Refers-To"] == named["response"]["WARC-Record-ID"]
    assert named["conversion"]["Content-Type"] == "text/html; charset=utf-8"
    copied = list(answers(next(tmp_path.iterdir()), lambda url: url == "http://a.org/"))
    assert len(copied) == 2  # a bundle of the archive has both


def _fields(capture: Capture) -> dict[str, object]:
    return {name: getattr(capture, name) for name in Capture.__struct_fields__}


def test_a_later_answer_goes_before_what_was_drawn_of_an_earlier_one(tmp_path: Path) -> None:
    with WarcArchive(tmp_path, clock=FakeClock()) as archive:
        archive.write(rendered(capture("http://a.org/"), "<p>Drawn", 1e9 + 1, 0.5))
        archive.write(Capture(**{**_fields(capture("http://a.org/", "<p>Later")), "at": 1e9 + 2}))
    with Archives([*tmp_path.iterdir()]) as archives:
        read = archives.answer(Url.parse("http://a.org/"))

    assert isinstance(read, Capture)
    assert (read.body, read.rendered) == (b"<p>Later", False)


# The setting


def test_pages_are_drawn_by_default_only_where_the_extra_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert RenderSection().mode is Render.AUTO
    monkeypatch.setattr("bitrawl.crawling.settings.find_spec", lambda _name: None)
    assert RenderSection().mode is Render.NEVER
    assert RenderSection(when=Render.ALWAYS).mode is Render.ALWAYS


def test_asking_for_a_browser_without_the_extra_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(described, "find_spec", lambda _name: None)
    job = Job(langs=["en", "fr"], seeds=["http://a.org/"], render=RenderSection(when=Render.AUTO))

    with pytest.raises(ConfigError, match=r"bitrawl\[browser\]"):
        described.check(job)
