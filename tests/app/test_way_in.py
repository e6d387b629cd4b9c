"""An empty app, its demo, and the list of pairs on a desk and on a phone."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from app.app import App
from app.watched import QUIET, Watched, scrolls_sideways
from playwright.sync_api import Browser, Page, expect

PHONE, DESK = {"width": 360, "height": 740}, {"width": 1280, "height": 900}


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[App]:
    """An app without jobs, whose operator allows few pages and no private address."""
    app = App(tmp_path, 0, settings="[limits]\npages = 24\n[job.politeness]\ndelay = 5.0\n")
    yield app
    app.end()


@pytest.mark.long("the whole demo runs behind the page")
def test_the_demo_is_one_click_from_an_empty_app_and_outlives_the_server(browser: Browser, empty: App):
    context = browser.new_context(base_url=empty.base, viewport=PHONE, **QUIET)
    watched, page = Watched(context, empty.base), context.new_page()
    page.goto("/")
    assert not scrolls_sideways(page)
    page.get_by_role("button", name="Start the demo").click()
    expect(page.locator(".state.running")).to_be_visible()
    empty.end(signal.SIGKILL)
    empty.start()
    page.goto(page.url)
    expect(page.locator(".state.ended")).to_be_visible()
    page.goto(f"{page.url}/pairs")
    expect(page.locator(".pairs tbody tr").first).to_be_visible()
    assert watched.foreign == []
    context.close()


def test_the_filters_fold_away_on_a_phone_and_stand_open_on_a_desk(page: Page, app: App, job: str):
    page.set_viewport_size(PHONE)
    page.goto(f"{app.address(job)}/pairs?text=library&verdict=none")
    assert page.title() == "Read · The town library · bitrawl"
    expect(page.locator(".filter")).to_be_hidden()
    page.get_by_text("Filter (2)").click()
    expect(page.get_by_label("In address or title")).to_have_value("library")
    assert not scrolls_sideways(page)
    page.set_viewport_size(DESK)
    expect(page.locator(".filter")).to_be_visible()
    expect(page.locator(".fold > summary")).to_be_hidden()


def test_app_and_report_lead_to_each_other(page: Page, app: App, job: str):
    page.goto(f"{app.address(job)}/download")
    page.get_by_role("link", name="Report").click()
    page.get_by_role("link", name="← The town library").click()
    expect(page).to_have_url(app.address(job))


def test_a_row_of_the_list_shows_the_same_on_a_phone_as_on_a_desk_and_headings_sort_it(page: Page, app: App, job: str):
    page.goto(f"{app.address(job)}/pairs")
    for size in (DESK, PHONE):
        page.set_viewport_size(size)
        row = page.locator(".pairs tbody tr").first
        expect(row.locator(".address")).to_have_count(2)
        for part in ("a", ".address >> nth=1", ".tag >> nth=0", "[data-label=Score]", "[data-label=Segments]"):
            expect(row.locator(part)).to_be_visible()
        assert not scrolls_sideways(page)
    page.locator(".pairs thead").get_by_role("link", name="Pages").click()
    expect(page.locator("[aria-sort=ascending]")).to_contain_text("Pages")
    titles = page.locator(".pairs tbody th > a").all_inner_texts()
    assert titles == sorted(titles, key=str.lower)
