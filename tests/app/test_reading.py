"""A person reads two pages side by side, says yes or no by click and by key, searches, and downloads."""

import re
import subprocess
import sys
from urllib.parse import quote

import pytest
from app.app import App
from app.held_web import TITLES
from playwright.sync_api import Locator, Page, expect


def open_pair(page: Page, job_url: str, text: str = "town-library", languages: str = "en-fr") -> None:
    """The first pair of pages in the list."""
    page.goto(f"{job_url}/pairs?languages={languages}&text={text}")
    page.locator(".pairs tbody a").first.click()
    expect(page.locator(".segment").first).to_be_visible()


def addresses(page: Page) -> list[str]:
    """Of the two pages that are shown side by side."""
    return [link.inner_text() for link in page.locator(".heads a").all()]


def download(page: Page, job_url: str, **chosen: str) -> str:
    page.goto(f"{job_url}/download")
    page.get_by_label("Languages").select_option(chosen.get("languages", "en-fr"))
    page.get_by_label("Format").select_option(chosen.get("format", "tmx"))
    if chosen.get("accepted_only"):
        page.get_by_label("Only what people have accepted").check()
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Download").click()
    return downloading.value.path().read_text("utf-8")


def texts(segment: Locator) -> tuple[str, ...]:
    return tuple(segment.locator("p").all_inner_texts())


def test_keys_judge_segments_and_the_export_obeys(page: Page, app: App, own_job: str):
    there = app.address(own_job)
    open_pair(page, there)
    segments = page.locator(".segment")
    page.keyboard.press("j")
    expect(segments.nth(0)).to_be_focused()
    page.keyboard.press("a")
    expect(segments.nth(0)).to_have_class(re.compile(r"\baccept\b"))
    expect(segments.nth(0)).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("r")
    expect(segments.nth(1)).to_have_class(re.compile(r"\breject\b"))
    page.keyboard.press("j")
    page.keyboard.press("r")
    expect(segments.nth(2)).to_have_class(re.compile(r"\breject\b"))
    page.keyboard.press("u")
    expect(segments.nth(2)).not_to_have_class(re.compile(r"\breject\b"))
    page.keyboard.press("k")
    expect(segments.nth(1)).to_be_focused()
    accepted, rejected, undone = (texts(segments.nth(number)) for number in range(3))
    page.reload()
    expect(segments.nth(1)).to_have_class(re.compile(r"\breject\b"))
    page.keyboard.press("Shift+R")
    expect(page.get_by_role("button", name="No")).to_have_attribute("aria-pressed", "true")
    page.goto(f"{there}/pairs?verdict=reject")
    expect(page.locator(".pairs tbody tr")).to_have_count(1)
    expect(page.locator(".verdict.reject")).to_have_text("rejected")
    page.locator(".pairs tbody a").click()
    page.get_by_role("button", name="Take back").first.click()
    expect(page.get_by_role("button", name="No")).to_have_attribute("aria-pressed", "false")
    everything = download(page, there, format="tsv")
    assert accepted[0] in everything
    assert undone[0] in everything
    assert rejected[0] not in everything
    only = download(page, there, format="tsv", accepted_only="yes")
    assert accepted[0] in only
    assert undone[0] not in only


def test_a_review_goes_by_key_and_by_thumb_and_is_remembered(page: Page, app: App, own_job: str):
    page.goto(app.address(own_job))
    page.get_by_role("link", name="Review").click()
    bar, no = page.locator(".queue"), page.get_by_role("button", name="No")
    expect(bar).to_contain_text("0 of ")
    first = addresses(page)
    page.keyboard.press("Shift+A")
    expect(bar).to_contain_text("1 of ")
    page.wait_for_load_state()
    second, address = addresses(page), page.url
    page.keyboard.down("n")
    expect(page).not_to_have_url(address)
    page.wait_for_load_state()
    third = addresses(page)
    page.keyboard.down("n")  # held down: it goes no further
    page.keyboard.up("n")
    assert len({tuple(pair) for pair in (first, second, third)}) == 3
    page.keyboard.press("b")
    expect(page.locator(".heads a")).to_have_text(second)
    page.keyboard.press("b")
    expect(page.locator(".heads a")).to_have_text(first)
    page.keyboard.press("Shift+U")
    expect(bar).to_contain_text("0 of ")
    expect(page.locator(".heads a")).to_have_text(first)
    page.set_viewport_size({"width": 360, "height": 640})
    for target in (no, bar.get_by_role("link", name="Next")):  # where the thumb is, and large enough for it
        box = target.bounding_box()
        assert box is not None
        assert box["y"] > 320
        assert box["y"] + box["height"] <= 640
        assert box["height"] >= 40
    no.click()
    expect(page.locator(".heads a")).to_have_text(second)
    page.get_by_text("Order:").click()
    page.get_by_label("Order").select_option("random")
    page.get_by_label("Languages").select_option("en-fr")
    page.get_by_role("button", name="Show").click()
    expect(page).to_have_url(re.compile(r"order=random&seed=\d+&languages=en-fr$"))
    there = page.url
    page.goto(f"{app.address(own_job)}/pairs")
    page.get_by_role("link", name="Review").click()
    expect(page).to_have_url(there)


@pytest.mark.long("the job is mined twice")
def test_a_rejected_pair_stays_out_of_the_tmx_when_the_site_is_mined_again(page: Page, app: App, own_job: str):
    there = app.address(own_job)
    open_pair(page, there)
    yes, no = page.get_by_role("button", name="Yes"), page.get_by_role("button", name="No")
    rejected = addresses(page)
    no.click()
    expect(no).to_have_attribute("aria-pressed", "true")
    expect(no).to_be_focused()  # as before the answer came
    page.locator("[data-whole]").get_by_role("button", name="Take back").click()
    expect(no).to_have_attribute("aria-pressed", "false")
    expect(yes).to_have_attribute("aria-pressed", "false")
    assert f">{rejected[0]}<" in download(page, there)
    page.go_back()
    open_pair(page, there)
    assert addresses(page) == rejected
    no.click()
    expect(no).to_have_attribute("aria-pressed", "true")
    assert f">{rejected[0]}<" not in download(page, there)
    again = ("pair", str(app.jobs / own_job), "--methods", "u")  # other methods: nothing can be kept
    subprocess.run([sys.executable, "-m", "bitrawl", *again], check=True, stdout=subprocess.DEVNULL)
    mined_again = download(page, there)
    assert not any(f">{address}<" in mined_again for address in rejected)
    assert mined_again.count("<tu") > 5


def test_the_files_of_the_download_page_follow_the_verdicts_after_one_click(page: Page, app: App, own_job: str):
    there = app.address(own_job)
    button = page.get_by_role("button", name="Write the files again")
    page.goto(f"{there}/download")
    expect(page.get_by_role("link", name="en-fr.tmx")).to_be_visible()
    expect(button).to_have_count(0)
    open_pair(page, there)
    rejected = addresses(page)
    page.get_by_role("button", name="No").click()
    expect(page.get_by_role("button", name="No")).to_have_attribute("aria-pressed", "true")
    page.goto(f"{there}/download")
    button.click()
    expect(page.get_by_text("do not follow the latest verdicts")).to_have_count(0)
    with page.expect_download() as downloading:
        page.get_by_role("link", name="en-fr.tmx").click()
    listed = downloading.value.path().read_text("utf-8")
    assert not any(f">{address}<" in listed for address in rejected)
    assert listed.count("<tu>") == download(page, there).count("<tu>")


PHRASES = {
    "متحف الميناء": ("ar", "rtl"),
    "المتحف": ("ar", "rtl"),
    "图书馆": ("zh", "ltr"),
    "musée du vieux port": ("fr", "ltr"),
    "bibliothèque": ("fr", "ltr"),
    "BIBLIOTHÈQUE": ("fr", "ltr"),
}


def test_a_phrase_is_found_in_its_language_and_direction(page: Page, app: App, job: str):
    for phrase, (language, direction) in PHRASES.items():
        page.goto(f"{app.address(job)}/search")
        page.get_by_label("Phrase").fill(phrase)
        page.get_by_role("button", name="Search").click()
        mark = page.locator(f'.hit p[lang="{language}"] mark').first
        expect(mark).to_be_visible()
        marked = page.locator(f'.hit p[lang="{language}"] mark').all_inner_texts()
        assert phrase.casefold() in map(str.casefold, marked)
        side = page.locator(f'.hit p[lang="{language}"]').first
        expect(side).to_have_attribute("dir", direction)
        assert side.evaluate("one => getComputedStyle(one).direction") == direction
        page.get_by_role("link", name="Read the pages").first.click()
        expect(page.locator(f'.segment p[lang="{language}"][dir="{direction}"]').first).to_be_visible()
        expect(page.locator(f'.heads h2[lang="{language}"][dir="{direction}"]')).to_be_visible()


def test_words_are_searched_on_both_sides_shown_in_lines_and_saved(page: Page, app: App, job: str):
    page.goto(f"{app.address(job)}/search")
    page.get_by_label("Phrase").fill("m*m")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#q-problem")).to_contain_text("pag*")
    page.get_by_label("Phrase").fill("muse*")
    page.get_by_label("The other side has", exact=True).fill("musee")
    page.get_by_label("Sort").select_option("left")
    page.get_by_label("Show").select_option("lines")
    page.get_by_role("button", name="Search").click()
    line = page.locator(".line").first
    expect(line.locator(".concordance mark")).to_have_text(re.compile("^musé?e", re.IGNORECASE))
    expect(line.locator("p:not(.concordance) mark").first).to_have_text(re.compile("^musée$", re.IGNORECASE))
    places = int(page.get_by_role("status").inner_text().split()[0])
    with page.expect_download() as download:
        page.get_by_role("link", name="TSV").click()
    assert len(download.value.path().read_text("utf-8").splitlines()) == places + 1
    page.get_by_label("The other side has", exact=True).fill("")
    page.get_by_label("The other side has not").fill("muse*")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("status")).not_to_have_text(re.compile(f"^{places} "))
    expect(page.locator(".line p:not(.concordance) mark")).to_have_count(0)


def test_markup_from_the_web_stays_text_in_every_view(page: Page, app: App, own_job: str):
    there = app.address(own_job)
    for title in TITLES:
        page.goto(f"{there}/pairs?text=hostile.test")
        row = page.locator(".pairs tbody tr").filter(has_text=title)
        expect(row.locator("a")).to_have_text(title)
        expect_text_only(page)
        row.locator("a").click()
        expect(page.locator(".heads h2").first).to_have_text(title)
        expect(page.locator(".segment p", has_text=title).first).to_be_visible()
        page.keyboard.press("j")
        page.keyboard.press("r")  # the answer replaces a part of the page
        expect(page.locator(".segment.reject").first).to_be_visible()
        expect_text_only(page)
        page.goto(f"{there}/search?q={quote(title)}")
        expect(page.locator(".hit mark").first).to_be_visible()
        expect(page.get_by_label("Phrase")).to_have_value(title)
        expect_text_only(page)
        for view in ("/pairs?text=", "/pairs?sort=", "/pairs?languages=", "/search?side=", "/terms?languages="):
            page.goto(there + view + quote(title))
            expect_text_only(page)
    page.goto(there)
    page.get_by_text("The latest visits").click()
    expect(page.locator(".log")).to_be_visible()
    expect_text_only(page)
    page.goto(f"{there}/terms")
    expect(page.locator("main > div[data-live]")).to_have_count(0)
    expect_text_only(page)
    page.goto(f"{there}/report")
    assert page.evaluate("window.origin") == "null"  # sandboxed: it is of no site, and may read nothing
    expect_text_only(page)
    page.goto(f"{there}/files/README.md")
    expect_text_only(page)


def expect_text_only(page: Page) -> None:
    """Nothing has run, and nothing could: no element was made of what a site wrote."""
    assert page.title() != "run"
    assert page.locator("img, body script, [onerror]").count() == 0


def test_a_link_from_search_shows_its_segment_wherever_it_is_and_a_verdict_marks_its_repeats(
    page: Page, app: App, long_job: str
):
    there = app.address(long_job)
    page.goto(f"{there}/search?q={quote('sentence 330')}")
    page.get_by_role("link", name="Read the pages").click()
    segment = page.locator(".segment:target")
    expect(segment).to_contain_text("Sentence 330")
    bar = page.locator(".sticky").bounding_box()
    box = segment.bounding_box()
    assert bar is not None
    assert box is not None
    assert bar["y"] + bar["height"] <= box["y"] < page.evaluate("innerHeight")
    repeats = page.locator(".segment", has_text="All rights reserved")
    assert repeats.count() > 1
    ids = page.locator(".segment").evaluate_all("all => all.map(one => one.id)")
    assert len(ids) == len(set(ids))
    repeats.last.get_by_role("button", name="Reject").click()
    expect(page.locator(".segment.reject")).to_have_count(repeats.count())
    page.goto(f"{there}/search?q=reserved")
    expect(page.locator(".hit.reject .verdict").first).to_have_text("rejected")
