"""A person moves the threshold, sees what it leaves out, and keeps it."""

import json
import re

from app.app import App
from playwright.sync_api import Page, expect

from bitrawl import config


def units(page: Page) -> int:
    return int(page.locator(".units b").inner_text().replace(",", ""))


def written(app: App, job: str) -> int:
    figures = json.loads((app.jobs / job / "corpus/summary.json").read_text())
    return sum(corpus["units"] for corpus in figures.values())


def test_the_slider_follows_the_keys_and_what_is_kept_is_written(page: Page, app: App, own_job: str):
    page.goto(f"{app.address(own_job)}/download")
    page.get_by_role("link", name="See what is left out").click()
    slider, keep = page.get_by_role("slider", name="Minimum score"), page.get_by_role("button", name="Keep").first
    expect(slider).to_have_value("0.3")
    before = written(app, own_job)
    assert units(page) == before
    counts = json.loads(page.locator(".units b").get_attribute("data-counts") or "[]")
    lower = next(step for step, count in enumerate(counts) if count < before - 3)  # the first with fewer units
    slider.focus()
    for _ in range(lower - 30):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#min_score")).to_have_value(f"{lower / 100:g}")
    expect(page.locator(".units b")).to_have_text(f"{counts[lower]:,}")  # before the server is asked
    expect(page).to_have_url(re.compile(rf"min_score={lower / 100:g}"))  # when the rest is there
    expect(slider).to_be_focused()
    expect(page.get_by_text(f"Not kept yet: this corpus has {before} units now.")).to_be_visible()
    inside, outside = page.locator(".examples").nth(0), page.locator(".examples").nth(1)
    expect(inside.locator(".example")).to_have_count(5)
    assert min(map(float, inside.locator(".score").all_inner_texts())) >= lower / 100
    assert max(map(float, outside.locator(".score").all_inner_texts())) <= lower / 100
    assert 4 <= outside.locator(".example").count() <= 5
    keep.click()
    expect(page.get_by_text(f"Kept. The corpus has {counts[lower]} units instead of {before}.")).to_be_visible()
    expect(page.get_by_text("being written again")).to_have_count(0)  # any more
    assert written(app, own_job) == counts[lower]
    assert config.read(app.jobs / own_job / "job.toml")["judge"]["score"] == lower / 100


def test_a_rule_shows_its_examples_and_what_it_would_take_out(page: Page, app: App, own_job: str):
    page.goto(f"{app.address(own_job)}/thresholds?languages=en-fr")
    before = units(page)
    short = page.get_by_role("row", name="very short").first
    would = int(re.sub(r"\D", "", short.locator("td.n").first.inner_text()))
    short.get_by_role("button", name="Examples").click()
    expect(page.locator(".shown .example").first).to_be_visible()
    assert 1 <= page.locator(".shown .example").count() <= min(3, would)
    short.get_by_role("checkbox").check()
    expect(page.locator(".units b")).to_have_text(f"{before - would:,}")
    expect(short.get_by_role("checkbox")).to_be_checked()
    short.get_by_role("checkbox").uncheck()
    expect(page.locator(".units b")).to_have_text(f"{before:,}")


def test_the_page_works_without_scripts(app: App, own_job: str, page: Page):
    browser = page.context.browser
    assert browser is not None
    context = browser.new_context(base_url=app.base, java_script_enabled=False)
    plain = context.new_page()
    plain.goto(f"{app.address(own_job)}/thresholds")
    before = units(plain)
    expect(plain.get_by_role("slider")).to_be_hidden()
    plain.get_by_role("spinbutton", name="Minimum score").fill("0.97")
    plain.get_by_role("button", name="Show").first.click()
    assert "csrf" not in plain.url
    fewer = units(plain)
    assert fewer < before
    plain.get_by_role("button", name="Keep").first.click()
    expect(plain.get_by_text(f"Kept. The corpus has {fewer} units instead of {before}.")).to_be_visible()
    context.close()


def test_who_keeps_a_choice_second_is_told_of_the_first(page: Page, app: App, own_job: str):
    there = f"{app.address(own_job)}/thresholds"
    page.goto(there)
    other = page.context.new_page()
    other.goto(there)
    other.locator("#min_score").fill("0.8")
    other.get_by_role("button", name="Keep").first.click()
    expect(other.get_by_text("Kept.")).to_be_visible()
    expect(other.get_by_text("being written again")).to_have_count(0)
    page.locator("#min_score").fill("0.6")  # which asks for its figures
    expect(page.get_by_role("alert")).to_contain_text(
        "Somebody has changed the thresholds of this job meanwhile; its minimum score is 0.8."
    )
    expect(page.locator("#min_score")).to_have_value("0.6")
    page.get_by_role("button", name="Keep").first.click()
    expect(page.get_by_text("Kept.")).to_be_visible()
    assert config.read(app.jobs / own_job / "job.toml")["judge"]["score"] == 0.6
