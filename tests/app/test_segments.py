"""A translator works through segments in the browser: by key, by click and by thumb."""

import re

from app.app import App
from app.test_reading import download, open_pair
from app.watched import Watched
from playwright.sync_api import FloatRect, Locator, Page, expect

ACCEPTED, REJECTED = re.compile(r"\baccept\b"), re.compile(r"\breject\b")


def rows(page: Page) -> Locator:
    return page.locator(".segment[data-row]")


def boxes(page: Page) -> list[FloatRect | None]:
    """Of every cell of the grid."""
    return [cell.bounding_box() for cell in page.locator(".columns > *, .segment > *").all()]


def write(page: Page, row: Locator, *texts: str) -> None:
    """Type into the fields that `e` opens in a row."""
    row.focus()
    page.keyboard.press("e")
    fields = page.locator(".editing textarea")
    expect(fields.first).to_be_focused()
    for field, text in zip(fields.all(), texts, strict=True):
        field.fill(text)


def test_the_grid_does_not_shift_when_a_verdict_comes_and_goes(page: Page, app: App, own_job: str):
    open_pair(page, app.address(own_job))
    before = boxes(page)
    first = rows(page).first
    first.get_by_role("button", name="Accept").click()
    expect(first).to_have_class(ACCEPTED)
    assert boxes(page) == before
    first.get_by_role("button", name="Reject").click()
    expect(first).to_have_class(REJECTED)
    assert boxes(page) == before
    # Each answer is waited for: while a row is being replaced, its cells have no boxes.
    first.get_by_role("button", name="Take back").click()
    expect(first).to_have_class(ACCEPTED)
    first.get_by_role("button", name="Take back").click()
    expect(first).not_to_have_class(ACCEPTED)
    assert boxes(page) == before
    columns = page.locator(".columns > *").all()
    for row in rows(page).all():
        cells = row.locator("> .number, > .text, > .score, > .flags, > .act").all()
        for cell, column in zip(cells, columns, strict=True):
            here, head = cell.bounding_box(), column.bounding_box()
            assert here
            assert head
            assert (here["x"], here["width"]) == (head["x"], head["width"])


def test_a_text_is_edited_by_key_and_reaches_the_corpus(page: Page, app: App, own_job: str):
    there = app.address(own_job)
    open_pair(page, there)
    row = rows(page).nth(1)
    before = row.locator(".text > p").first.inner_text()
    write(page, row, "Something else", "Autre chose")
    page.keyboard.press("Escape")
    expect(row).to_be_focused()
    expect(row.locator(".text > p").first).to_have_text(before)
    write(page, row, f"{before} Indeed.", "Autre chose, en effet.")
    page.keyboard.press("Control+Enter")
    expect(row).to_have_class(ACCEPTED)
    expect(row).to_be_focused()
    expect(row.locator("ins").first).to_have_text(" Indeed.")
    expect(row.locator(".original").first).to_contain_text(before)
    expect(row.locator(".flags")).to_have_text("edited")
    exported = download(page, there, format="tsv")
    [line] = [line for line in exported.splitlines() if "Autre chose, en effet." in line]
    assert f"{before} Indeed." in line
    assert "edited" in line
    page.go_back()
    row.get_by_role("button", name="Restore the original").click()
    expect(row.locator(".text > p").first).to_have_text(before)


def test_a_segment_is_split_by_a_line_break_and_neighbours_are_joined_by_key(page: Page, app: App, own_job: str):
    open_pair(page, app.address(own_job))
    count = rows(page).count()
    third = rows(page).nth(3).locator(".text > p").first.inner_text()
    row = rows(page).nth(2)
    write(page, row, "One\nTwo", "Un")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".editing .problem")).to_contain_text("different numbers of lines")
    expect(page.locator(".editing textarea").first).to_have_value("One\nTwo")
    page.locator(".editing textarea").last.fill("Un\nDeux")
    page.get_by_role("button", name="Save and accept").click()
    expect(rows(page)).to_have_count(count + 1)
    expect(rows(page).nth(2)).to_be_focused()
    expect(page.locator(".segment .number").nth(3)).to_have_text("3.2")
    expect(rows(page).nth(4).locator(".text > p").first).to_have_text(third)
    rows(page).nth(3).focus()
    page.keyboard.press("m")
    expect(rows(page)).to_have_count(count)
    expect(rows(page).nth(3).locator(".text > p").first).to_have_text(f"Two {third}")
    expect(rows(page).nth(3)).to_be_focused()
    page.reload()
    expect(rows(page).nth(3).locator(".text > p").first).to_have_text(f"Two {third}")


def test_a_comment_is_written_by_key_and_taken_back(page: Page, app: App, own_job: str):
    open_pair(page, app.address(own_job))
    row = rows(page).first
    row.focus()
    page.keyboard.press("c")
    expect(page.locator(".editing textarea")).to_be_focused()
    page.keyboard.type("Is this the right word?")  # the keys of the grid are letters here
    page.keyboard.press("Control+Enter")
    expect(row.locator(".comment")).to_contain_text("you")
    expect(row.locator(".said")).to_have_text("Is this the right word?")
    expect(row).to_be_focused()
    row.locator(".comment").get_by_role("button", name="Take back").click()
    expect(page.locator(".comment")).to_have_count(0)


def test_all_that_a_filter_shows_are_rejected_after_a_question_and_undone(page: Page, app: App, own_job: str):
    page.goto(f"{app.address(own_job)}/segments")
    page.get_by_label("Languages").select_option("en-fr")
    page.get_by_label("Length to").fill("4")
    page.get_by_role("button", name="Show").click()
    shown = int(re.sub(r"\D", "", page.locator(".bulk p").inner_text()))
    assert shown > 2
    reject = page.get_by_role("button", name="Reject all")
    page.evaluate("window.confirm = (question) => { window.asked = question; return false; }")
    reject.click()
    assert page.evaluate("asked") == f"Reject all {shown} segments that this filter shows? You can undo this."
    expect(page.locator(".segment.reject")).to_have_count(0)
    page.reload()
    reject.click()  # and the question is answered with yes
    expect(page.locator(".bulk")).to_contain_text("You rejected")
    expect(page.locator(".segment.reject")).to_have_count(min(shown, 50))
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".segment.reject")).to_have_count(0)
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)


def test_a_filter_narrows_two_pages_and_a_row_of_the_list_leads_to_its_place(page: Page, app: App, own_job: str):
    there = app.address(own_job)
    open_pair(page, there)
    word = rows(page).nth(1).locator(".text > p").first.inner_text().split()[0]
    count = rows(page).count()
    page.get_by_text("Filter").click()
    page.get_by_label("Words in English").fill(word)
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text("Filter (1)")).to_be_visible()
    assert 0 < rows(page).count() < count
    for text in rows(page).locator(".text:nth-child(2) > p").all_inner_texts():
        assert word.casefold() in text.casefold()
    page.get_by_role("link", name="Show all").click()
    expect(rows(page)).to_have_count(count)
    page.goto(f"{there}/segments?languages=en-fr&sort=best")
    first = rows(page).first
    text = first.locator(".text > p").first.inner_text()
    first.locator(".where a").click()
    expect(page.locator(".segment:target .text > p").first).to_have_text(text)


def test_a_verdict_in_the_list_leaves_the_row_where_it_is(page: Page, app: App, own_job: str):
    page.goto(f"{app.address(own_job)}/segments?state=none&sort=best")
    first = rows(page).first
    text = first.locator(".text > p").first.inner_text()
    page.keyboard.press("j")
    page.keyboard.press("r")
    expect(first).to_have_class(REJECTED)
    expect(first.locator(".text > p").first).to_have_text(text)
    expect(first.locator(".where a")).to_be_visible()
    expect(first).to_be_focused()


def test_right_to_left_texts_are_written_from_the_right(page: Page, app: App, own_job: str):
    open_pair(page, app.address(own_job), "", "en-ar")
    rows(page).nth(1).focus()
    page.keyboard.press("e")
    field = page.locator('.editing textarea[lang="ar"]')
    expect(field).to_have_attribute("dir", "rtl")
    page.locator('.editing textarea[lang="en"]').fill("A museum")
    field.fill("متحف")
    page.keyboard.press("Control+Enter")
    expect(rows(page).nth(1).locator('p[lang="ar"]')).to_have_text("متحف")
    expect(rows(page).nth(1).locator('.original[lang="ar"]')).to_have_attribute("dir", "rtl")


def test_on_a_phone_a_row_stacks_and_its_buttons_suit_a_thumb(page: Page, app: App, own_job: str):
    page.set_viewport_size({"width": 360, "height": 740})
    open_pair(page, app.address(own_job))
    row = rows(page).nth(1)
    first, second = (row.locator(".text").nth(number).bounding_box() for number in (0, 1))
    assert first
    assert second
    assert second["y"] >= first["y"] + first["height"]
    for name in ("Accept", "Reject"):
        box = row.get_by_role("button", name=name).bounding_box()
        assert box
        assert box["height"] >= 44
        assert box["width"] >= 44
    row.get_by_role("link", name="Edit").click()
    expect(page.locator(".editing textarea").first).to_be_focused()
    page.get_by_role("link", name="Cancel").click()
    expect(row).to_be_focused()


def test_what_somebody_writes_stays_when_it_cannot_be_sent(page: Page, watched: Watched, app: App, own_job: str):
    open_pair(page, app.address(own_job))
    write(page, rows(page).first, "My words", "Mes mots")
    page.context.set_offline(True)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#lost")).to_be_visible()
    expect(page.locator(".editing textarea").first).to_have_value("My words")
    watched.expect_said("ERR_INTERNET_DISCONNECTED")
    page.context.set_offline(False)
    page.keyboard.press("Control+Enter")
    expect(rows(page).first).to_have_class(ACCEPTED)
