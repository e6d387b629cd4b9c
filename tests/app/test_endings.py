"""A person sees how a job ended, in the language of the page, and presses what the advice is about."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from app.app import App, fetched_pages
from app.test_pages import check
from app.watched import QUIET, Watched
from playwright.sync_api import Browser, Page, expect

from bitrawl.store.folder import JobFolder

ONE_LANGUAGE = "www.allotment-diary.test"
TWO_LANGUAGES = "www.beekeepers.test"
NOWHERE = "www.no-such-host.test"


SPANISH = pytest.mark.parametrize("foreign", ["es"], indirect=True)
FRENCH = pytest.mark.parametrize("foreign", ["fr"], indirect=True)


@pytest.fixture
def foreign(request: pytest.FixtureRequest, browser: Browser, app: App) -> Iterator[Page]:
    """A tab of a browser that asks for an interface in that language."""
    context = browser.new_context(base_url=app.base, locale=request.param, **QUIET)
    watched = Watched(context, app.base)
    yield context.new_page()
    context.close()
    assert watched.foreign == []
    assert watched.said == []


def mine(page: Page, host: str, pages: int = 0) -> None:
    """A job from the form, whatever its language is."""
    page.goto("/")
    page.locator("#seeds").fill(f"http://{host}/")
    page.locator("#language_a").fill("en")
    page.locator("#language_b").fill("fr")
    if pages:
        page.locator("#more summary").click()
        page.locator("#pages").fill(str(pages))
    page.locator(".start > button").click()
    expect(page.locator("#live")).to_be_visible()


def job_of(app: App, page: Page) -> Path:
    return app.folder(page.url)


@SPANISH
def test_a_job_that_failed_is_called_so_and_opens_the_form_again(foreign: Page):
    page, label = foreign, "fallido"
    said = f"No se ha encontrado ninguna página. http://{NOWHERE}/ ha respondido con el error 404."
    mine(page, NOWHERE)
    job = page.url.rpartition("/")[2]
    expect(page.locator(".state.failed")).to_have_text(label)
    expect(page.get_by_role("status").first).to_have_text(said)
    expect(page).to_have_title(re.compile(f"^{label} · "))
    expect(page.locator("#live")).not_to_contain_text("No page")
    check(page)
    page.get_by_role("link", name="Empezar de nuevo con cambios").click()
    expect(page.locator("#seeds")).to_have_value(f"http://{NOWHERE}/")
    expect(page.locator("#language_b")).to_have_value("fr")
    expect(page.locator(f'tr:has(a[href="/jobs/{job}"]) .state.failed')).to_have_text(label)


@FRENCH
def test_a_site_that_the_strategy_left_is_visited_to_its_end_by_a_button(foreign: Page, app: App):
    page, button = foreign, "Visiter le reste du site"
    mine(page, ONE_LANGUAGE)
    expect(page.locator(".state.nothing-found")).to_be_visible()
    said = "tout indique une seule langue, anglais ; le reste du site a donc été laissé de côté"
    expect(page.get_by_role("status").first).to_contain_text(said)
    expect(page.locator("#live")).not_to_contain_text("so the rest of the site")
    check(page)
    before = len(fetched_pages(job_of(app, page)))
    page.get_by_role("button", name=button).click()
    expect(page.get_by_role("status").first).to_contain_text("Il ne reste rien à visiter.")
    expect(page.get_by_role("button", name=button)).to_have_count(0)
    assert len(fetched_pages(job_of(app, page))) > before


@SPANISH
def test_a_limit_that_was_reached_is_raised_by_a_button(foreign: Page, app: App):
    page, field = foreign, "Páginas como máximo"
    mine(page, TWO_LANGUAGES, pages=4)
    expect(page.locator(".state.ended")).to_be_visible()
    expect(page.get_by_role("status").first).to_contain_text("Se ha alcanzado el límite de 4 páginas.")
    expect(page.get_by_label(field)).to_have_value("8")
    check(page)
    page.get_by_label(field).fill("6")
    page.get_by_role("button", name="Continuar con este límite").click()
    expect(page.get_by_role("status").first).to_contain_text("Se ha alcanzado el límite de 6 páginas.")
    assert JobFolder(job_of(app, page)).job().budget.pages == 6
    assert len(fetched_pages(job_of(app, page))) == 6
