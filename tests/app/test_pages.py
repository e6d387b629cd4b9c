"""Every page, in light and dark, on a desk and on the narrowest phone."""

from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from app.app import USERS, App
from app.held_web import HeldWeb
from app.watched import PATIENCE, QUIET, Watched, scrolls_sideways
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

DESK = {"width": 1280, "height": 720}
NARROW = {"width": 320, "height": 640}  # WCAG 2.2, 1.4.10 Reflow
REFUSED = "the server responded with a status of"  # what a browser says about each answer from 400 on


def check(page: Page) -> None:
    """No violation that axe knows, and nothing beyond the edge."""
    page.evaluate(Axe().axe_script)
    assert violations(page, "{resultTypes: ['violations']}") == []
    page.emulate_media(color_scheme="dark")
    assert violations(page, "{runOnly: ['color-contrast']}") == []
    page.set_viewport_size(NARROW)
    assert not scrolls_sideways(page)


def violations(page: Page, options: str) -> list[str]:
    found = page.evaluate(f"axe.run(document, {options}).then(results => results.violations)")
    return [f"{one['id']}: {node['html']} {node['failureSummary']}" for one in found for node in one["nodes"]]


def mistakes(page: Page, there: str, button: str, **fields: str) -> None:
    page.goto(there)
    for name, value in fields.items():
        page.locator(f"[name={name}]").fill(value)
    page.get_by_role("button", name=button).click()
    expect(page.locator(".problem").first).to_be_visible()


def filled(page: Page, there: str, button: str, **fields: str) -> None:
    page.goto(there)
    for name, value in fields.items():
        page.locator(f"[name={name}]").fill(value)
    page.get_by_role("button", name=button).click()
    expect(page.locator("main table, main .cleaned").first).to_be_visible()


def opened(page: Page, there: str) -> None:
    page.goto(there)
    for summary in page.locator("main summary").all():
        summary.click()


def judged(page: Page, there: str) -> None:
    page.goto(f"{there}/pairs?languages=en-ar")
    page.locator(".pairs tbody a").first.click()
    page.get_by_role("button", name="Yes").click()
    for key, state in (("a", "accept"), ("r", "reject")):
        page.keyboard.press("j")
        page.keyboard.press(key)
        expect(page.locator(f".segment.{state}")).to_be_visible()


def written(page: Page, there: str) -> None:
    """An edit, a comment, the fields of another edit, and a filter."""
    judged(page, there)
    page.get_by_text("Filter").click()
    rows = page.locator(".segment[data-row]")
    for key, text in (("e", "Words"), ("c", "Why?")):
        rows.nth(2).focus()
        page.keyboard.press(key)
        expect(page.locator(".editing textarea").first).to_be_focused()
        for field in page.locator(".editing textarea").all():
            field.fill(text)
        page.keyboard.press("Control+Enter")
        expect(page.locator(".editing")).to_have_count(0)
    expect(page.locator(".comment")).to_be_visible()
    rows.nth(3).focus()
    page.keyboard.press("e")
    expect(page.locator(".editing")).to_be_visible()


def a_segment(page: Page, there: str) -> None:
    """As a page of its own."""
    page.goto(f"{there}/segments?languages=en-ar")
    edit = page.get_by_role("link", name="Edit").first.get_attribute("href")
    assert edit is not None
    page.goto(edit)


def gathered(page: Page, there: str) -> None:
    page.goto(f"{there}/terms")
    expect(page.locator("main > div[data-live]")).to_have_count(0)
    expect(page.locator("main .terms, main > p").last).to_be_visible()


def compared(page: Page, there: str) -> None:
    page.goto(f"{there}/compare")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("main table")).to_be_visible()


def examples_shown(page: Page, there: str) -> None:
    page.goto(there)
    page.get_by_role("button", name="Examples").first.click()
    expect(page.locator(".shown .example").first).to_be_visible()


SENTENCES = "The museum is open.\nA ticket costs 7 euros."
VIEWS: dict[str, Callable[[Page, str], object]] = {
    "start": lambda page, _: opened(page, "/"),
    "start, with mistakes": lambda page, _: mistakes(
        page, "/", "Start", seeds="ftp://x", language_a="Klingonese", contact="?"
    ),
    "start, with mistakes below": lambda page, _: [opened(page, "/"), mistakes_below(page)],
    "search for sites": lambda page, _: page.goto("/discover"),
    "search for sites, with mistakes": lambda page, _: mistakes(page, "/discover", "Search", downloads="-1"),
    "search for a topic": lambda page, _: page.goto("/topic"),
    "search for a topic, with mistakes": lambda page, _: mistakes(page, "/topic", "Gather", wiki="?", depth="99"),
    "align": lambda page, _: filled(
        page, "/tools/align", "Align", language_a="en", language_b="fr", text_a=SENTENCES, text_b=SENTENCES
    ),
    "align, with mistakes": lambda page, _: mistakes(page, "/tools/align", "Align", language_a="en"),
    "clean": lambda page, _: filled(page, "/tools/clean", "Clean", html=f"<title>x</title><p>{SENTENCES * 9}</p>"),
    "clean, with mistakes": lambda page, _: mistakes(page, "/tools/clean", "Clean", url="http://"),
    "languages of addresses": lambda page, _: filled(page, "/tools/urls", "Identify", urls="http://x.org/fr/accueil"),
    "API": lambda page, _: page.goto("/api"),
    "overview": opened,
    "list of pairs": lambda page, there: page.goto(f"{there}/pairs"),
    "list without pairs": lambda page, there: page.goto(f"{there}/pairs?text=nowhere"),
    "two pages": judged,
    "two pages, written on": written,
    "segments": lambda page, there: page.goto(f"{there}/segments"),
    "no segments, with mistakes": lambda page, there: page.goto(f"{there}/segments?words_a=p*t&least=2"),
    "a segment": a_segment,
    "review": lambda page, there: opened(page, f"{there}/review"),
    "search": lambda page, there: page.goto(f"{there}/search?q=museum"),
    "search in lines": lambda page, there: page.goto(f"{there}/search?q=muse*&view=lines&sort=right"),
    "terms": gathered,
    "download": lambda page, there: page.goto(f"{there}/download"),
    "thresholds": lambda page, there: examples_shown(page, f"{there}/thresholds?min_score=0.9"),
    "thresholds, with wrong values": lambda page, there: page.goto(f"{there}/thresholds?min_score=7&types=x"),
    "compare": compared,
    "no such page": lambda page, there: page.goto(f"{there}/nothing"),
}

CHANGING = ("two pages", "two pages, written on", "compare")  # views in which the test changes the job


def mistakes_below(page: Page) -> None:
    page.get_by_label("Maximum pages").fill("0")
    page.get_by_label("Scope").select_option("web")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator("#pages-problem")).to_be_visible()


@pytest.fixture(scope="module")
def tab(browser: Browser, app: App) -> Iterator[tuple[Page, Watched]]:
    """One tab for all views: each begins as if it were new."""
    context = browser.new_context(base_url=app.base, **QUIET)
    context.set_default_timeout(PATIENCE)
    watched = Watched(context, app.base)
    yield context.new_page(), watched
    context.close()


@pytest.mark.parametrize("view", VIEWS)
def test_a_page_is_accessible_in_light_and_dark_and_fits_a_phone(
    tab: tuple[Page, Watched], app: App, request: pytest.FixtureRequest, view: str
):
    page, watched = tab
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(DESK)
    page.goto("about:blank")
    shown = request.getfixturevalue("own_job" if view in CHANGING else "job")
    VIEWS[view](page, app.address(shown))
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator("main [data-live$='/index']")).to_have_count(0)  # the page loads again when the index is ready
    check(page)
    if ("mistake" in view and "segments" not in view) or "such" in view:
        watched.expect_said(REFUSED)
    assert (watched.foreign, watched.said) == ([], [])


def test_the_report_runs_nothing_and_fits_a_phone(page: Page, app: App, job: str):
    answer = page.goto(f"{app.address(job)}/report")
    assert answer is not None
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    expect(page.locator("h1")).to_be_visible()
    page.set_viewport_size(NARROW)
    assert not scrolls_sideways(page)


@pytest.fixture(scope="module")
def guarded(held_web: tuple[HeldWeb, int], tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """An app with users, whose tokens are their names."""
    users = USERS.format(**{name: sha256(name.encode()).hexdigest() for name in ("anna", "ben")})
    app = App(tmp_path_factory.mktemp("guarded"), held_web[1], users)
    yield app
    app.end()


@pytest.fixture
def visitor(browser: Browser, guarded: App) -> Iterator[BrowserContext]:
    context = browser.new_context(base_url=guarded.base, **QUIET)
    yield context
    context.close()


def test_a_user_logs_in_sees_their_own_jobs_and_logs_out(visitor: BrowserContext, guarded: App, mined: Path):
    annas, bens = (guarded.add(mined, f"{name}'s corpus", name) for name in ("anna", "ben"))
    page = visitor.new_page()
    page.goto(f"/jobs/{annas}/search?q=museum")
    expect(page.get_by_label("Token")).to_be_visible()
    check(page)
    page.get_by_label("Token").fill("nobody")
    page.get_by_role("button", name="Log in").click()
    expect(page.locator(".problem")).to_be_visible()
    page.evaluate(Axe().axe_script)
    assert violations(page, "{resultTypes: ['violations']}") == []
    page.get_by_label("Token").fill("anna")
    page.get_by_role("button", name="Log in").click()
    expect(page).to_have_url(f"{guarded.base}/jobs/{annas}/search?q=museum")
    page.goto("/")
    expect(page.locator(".jobs tbody tr")).to_have_count(1)
    expect(page.locator(".jobs")).to_contain_text("anna's corpus")
    answer = page.goto(f"/jobs/{bens}")
    assert answer is not None
    assert answer.status == 404
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_label("Token")).to_be_visible()
    page.goto("/")
    expect(page.get_by_label("Token")).to_be_visible()


def test_a_job_is_deleted_when_the_question_is_answered_with_yes(page: Page, app: App, own_job: str):
    page.goto(app.address(own_job))
    page.get_by_role("button", name="Delete").click()  # `watched` says yes
    expect(page).to_have_url(f"{app.base}/")
    expect(page.locator(f'a[href="/jobs/{own_job}"]')).to_have_count(0)
    assert not (app.jobs / own_job).exists()


def test_a_finished_job_can_be_repeated_with_changes(page: Page, app: App, job: str):
    page.goto(f"{app.address(job)}/download")
    page.get_by_role("link", name="Repeat this job here").click()
    expect(page.locator("#seeds")).to_have_value(
        "http://www.town-library.test/\nhttp://www.hostile.test/\nhttp://www.arabic.test/"
    )
    expect(page.locator("#language_a")).to_have_value("en")
    expect(page.locator("#language_b")).to_have_value("fr")
    expect(page.locator("#further")).to_have_value("zh, ar")
