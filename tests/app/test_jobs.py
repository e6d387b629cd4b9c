"""A person starts a job, watches it, pauses and resumes it; servers and jobs are killed meanwhile."""

import os
import re
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from app.app import App, family, fetched_pages, pid_of, units
from app.held_web import HeldWeb
from app.watched import QUIET, Watched
from end_to_end.test_signals import all_end
from inline_children import inline_children
from playwright.sync_api import Browser, BrowserContext, Page, expect

import bitrawl
from bitrawl import demo

MOST_LOOKS = 5  # that a tab needs to show what has changed: it looks every 1.5 or 2 s


def start(page: Page, host: str, languages: tuple[str, str] = ("English", "fr")) -> str:
    """A job from the form; the address of its page."""
    page.goto("/")
    page.get_by_label("Site", exact=True).fill(f"http://{host}/")
    page.get_by_label("First language").fill(languages[0])
    page.get_by_label("Second language").fill(languages[1])
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator("#live")).to_be_visible()
    return page.url


def tile(page: Page, label: str = "pages"):
    return page.locator(".tile").filter(has=page.get_by_text(label, exact=True)).locator("b")


def looks(watched: Watched) -> int:
    """How often tabs have asked for the state of a job."""
    return sum(url.endswith("/live") for url in watched.asked)


@pytest.fixture(autouse=True)
def nothing_held(web: HeldWeb) -> Iterator[None]:
    yield
    web.release_all()


def test_from_the_form_to_the_first_pages_without_a_reload(page: Page, watched: Watched, web: HeldWeb):
    web.hold("www.beekeepers.test", 3)
    start(page, "www.beekeepers.test")
    loads = len(watched.loads)
    expect(tile(page)).to_have_text("3")
    expect(page.locator(".state.running")).to_be_visible()
    page.get_by_text("The latest visits").click()
    expect(page.locator(".log")).to_contain_text("http://www.beekeepers.test/")
    expect(page).to_have_title(re.compile("^3 · "))
    web.release("www.beekeepers.test")
    expect(page.locator(".state.ended")).to_be_visible()
    expect(tile(page, "page pairs")).to_have_text("5")
    expect(page.locator(".log")).to_be_visible()  # what was opened stays open
    assert len(watched.loads) == loads


def test_focus_selected_text_and_what_is_open_stay_while_figures_change(page: Page, web: HeldWeb):
    host = "www.beekeepers.test"
    web.hold(host, 3)
    start(page, host)
    expect(tile(page)).to_have_text("3")
    page.get_by_text("The latest visits").click()
    button = page.get_by_role("button", name="Pause")
    button.focus()
    label = page.locator(".tile span").first
    label.evaluate("one => { window.pressed = document.activeElement; getSelection().selectAllChildren(one); }")
    web.hold(host, 5)
    expect(tile(page)).to_have_text("5")
    expect(page.locator(".log")).to_be_visible()
    expect(button).to_be_focused()
    assert page.evaluate("window.pressed === document.activeElement")
    assert page.evaluate("getSelection().toString()") == "pages"


def test_more_tabs_than_a_browser_has_connections_stay_live(page: Page, context: BrowserContext, web: HeldWeb):
    host = "www.mountain-rescue.test"
    web.hold(host, 2)
    address = start(page, host)
    tabs = [page, *(context.new_page() for _ in range(7))]  # six connections to a host
    for tab in tabs[1:]:
        tab.goto(address)
    for tab in tabs:
        expect(tile(tab)).to_have_text("2")
    web.hold(host, 5)
    for tab in tabs:
        expect(tile(tab)).to_have_text("5")


@pytest.fixture
def own_app(held_web: tuple[HeldWeb, int], tmp_path: Path) -> Iterator[App]:
    """A server that the test may end."""
    app = App(tmp_path, held_web[1])
    yield app
    if app.process.returncode is None:
        app.end()


@pytest.mark.long("two servers and a job")
def test_a_job_outlives_the_server_and_the_open_tab_finds_the_next_one(browser: Browser, web: HeldWeb, own_app: App):
    host, app = "docs.tidewatch.test", own_app
    context = browser.new_context(base_url=app.base, **QUIET)
    watched = Watched(context, app.base)
    page = context.new_page()
    web.hold(host, 3)
    folder = app.folder(start(page, host))
    expect(tile(page)).to_have_text("3")
    loads, worker = len(watched.loads), pid_of(folder)
    for pages, number in ((4, signal.SIGTERM), (5, signal.SIGKILL)):
        app.end(number)
        expect(page.locator("#lost")).to_be_visible()
        web.hold(host, pages)
        web.wait_for_visits(host, pages + 1)  # the job has gone on without a server
        app.start()
        before = looks(watched)
        expect(page.locator("#lost")).to_be_hidden()
        assert looks(watched) - before <= MOST_LOOKS
        expect(tile(page)).to_have_text(str(pages))
        assert pid_of(folder) == worker
    web.release(host)
    expect(page.locator(".state.ended")).to_be_visible()
    assert len(watched.loads) == loads
    assert watched.foreign == []
    watched.expect_said("net::ERR_CONNECTION_REFUSED", "net::ERR_EMPTY_RESPONSE", "net::ERR_CONNECTION_RESET")
    context.close()
    fetched = fetched_pages(folder)
    assert len(fetched) == len(set(fetched)) == len([url for url in demo.pages() if url.host == host])


@pytest.mark.long("a job is paused and resumed behind the page")
def test_pause_and_resume_fetch_nothing_twice(page: Page, app: App, web: HeldWeb):
    host = "www.arden-observatory.test"
    web.hold(host, 4)
    folder = app.folder(start(page, host, ("en", "español")))
    web.wait_for_visits(host, 5)
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".state.pausing")).to_be_visible()
    web.release(host)
    expect(page.locator(".state.paused")).to_be_visible()
    assert 4 < len(fetched_pages(folder)) < 12
    page.get_by_role("button", name="Go on", exact=True).click()
    expect(page.locator(".state.ended")).to_be_visible()
    fetched = fetched_pages(folder)
    assert len(fetched) == len(set(fetched)) == 12
    assert len(web.visits(host)) == len(set(web.visits(host)))


@pytest.mark.long("a job is killed and resumed behind the page")
def test_a_killed_job_shows_as_interrupted_leaves_nothing_behind_and_resumes_to_the_same_units(
    page: Page, app: App, watched: Watched, web: HeldWeb, uninterrupted: list[tuple[str, str]]
):
    host = "www.wend-gazette.test"
    web.hold(host, 4)
    folder = app.folder(start(page, host))
    expect(tile(page)).to_have_text("4")
    leader = pid_of(folder)
    left = family(leader)
    assert len(left) > 1  # it has children at work
    before = looks(watched)
    os.kill(leader, signal.SIGKILL)
    expect(page.locator(".state.interrupted")).to_be_visible()
    assert looks(watched) - before <= MOST_LOOKS
    assert all_end(left)
    web.release(host)
    page.get_by_role("button", name="Go on", exact=True).click()
    expect(page.locator(".state.ended")).to_be_visible()
    assert units(folder) == uninterrupted
    assert len(uninterrupted) > 10


@pytest.fixture
def uninterrupted(held_web: tuple[HeldWeb, int], tmp_path: Path) -> list[tuple[str, str]]:
    """The units of a job that was left alone, in this process."""
    where = {"connect_to": f"*.test=127.0.0.1:{held_web[1]}", "allow_private": True, "delay": 0}

    def mined() -> None:
        with inline_children():
            bitrawl.mine("http://www.wend-gazette.test/", langs="en,fr", out=tmp_path / "job", **where)

    with ThreadPoolExecutor(1) as thread:  # in this one is the event loop of Playwright
        thread.submit(mined).result()
    return units(tmp_path / "job")


def test_without_scripts_a_job_can_be_started_watched_and_downloaded(browser: Browser, app: App, web: HeldWeb):
    context = browser.new_context(base_url=app.base, java_script_enabled=False, **QUIET)
    page = context.new_page()
    host = "www.cloud-tea.test"
    web.hold(host, 2)
    address = start(page, host, ("en", "中文"))
    web.wait_for_visits(host, 3)
    while tile(page).inner_text() == "0":  # the figures are a second old at most
        page.reload()
    expect(page.locator(".state.running")).to_be_visible()
    process = os.pidfd_open(pid_of(app.folder(address)))
    web.release(host)
    assert all_end([process])
    page.reload()
    expect(page.locator(".state.ended")).to_be_visible()
    page.get_by_role("link", name="Download").click()
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Download").click()
    text = downloading.value.path().read_text("utf-8")
    assert downloading.value.suggested_filename.endswith(".tmx")
    assert text.count("<tu ") + text.count("<tu>") == len(units(app.folder(address), "en-zh")) > 10
    context.close()
