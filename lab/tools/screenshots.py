"""Draws the pages of the web app, for README and docs: python -m lab.tools.screenshots [FOLDER]

It needs chromium (apt-get install chromium) and `pip install playwright`. The job is mined from the web that the package
carries. With --all it also draws every page on a phone, in the dark and in the other languages.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
SETTINGS = """
[job.fetch]
allow_private = true
contact = "corpora@example.org"
connect_to = {{ "*.test" = "127.0.0.1:{port}" }}
[job.politeness]
delay = 0.0
"""
DESKTOP, PHONE = {"width": 1280, "height": 860}, {"width": 320, "height": 740}


@contextmanager
def running(*arguments: str) -> Iterator[str]:
    """A program of the package, until the block ends; the first line that it says."""
    command = [sys.executable, "-m", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # noqa: S603 - ours
    try:
        assert process.stdout is not None
        yield process.stdout.readline()
    finally:
        process.terminate()
        process.wait(10)


def address_in(line: str) -> str:
    return next(word.rstrip(";/") for word in line.split() if word.startswith("http://"))


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw the pages of the web app.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("docs/images"))
    parser.add_argument("--all", action="store_true", help="also on a phone, in the dark, in other languages")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, running("bitrawl.demo", "--port", "0") as served:
        settings = Path(place, "serve.toml")
        settings.write_text(SETTINGS.format(port=address_in(served).rpartition(":")[2]))
        arguments = ("serve", "--jobs", f"{place}/jobs", "--port", "0", "--settings", str(settings))
        with running("bitrawl", *arguments) as said, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM)
            draw(browser, address_in(said), asked.folder, every=asked.all)
            browser.close()


def draw(browser: Browser, base: str, folder: Path, *, every: bool) -> None:
    page = browser.new_page(viewport=DESKTOP)
    page.goto(base)
    page.screenshot(path=folder / "web-start.png")
    job = start(page)
    expect(page.locator(".tile b").first).not_to_have_text("0", timeout=60_000)
    page.screenshot(path=folder / "web-watch.png")
    expect(page.locator(".state.ended")).to_be_visible(timeout=600_000)
    pages = {"overview": job, "read": f"{job}/pairs", "search": f"{job}/search?q=museum", "download": f"{job}/download"}
    page.goto(f"{job}/pairs")
    expect(page.locator(".pairs tbody tr").first).to_be_visible(timeout=60_000)
    pages["pair"] = base + str(page.locator(".pairs tbody a").first.get_attribute("href"))
    page.goto(f"{job}/terms")
    with suppress(AssertionError):
        expect(page.locator(".terms tbody tr").first).to_be_visible(timeout=120_000)
    pages |= {
        "segments": f"{job}/segments",
        "thresholds": f"{job}/thresholds",
        "terms": f"{job}/terms",
        "compare": f"{job}/compare",
        "tools": f"{base}/tools/align",
    }
    for name, address in pages.items():
        page.goto(address)
        if name == "pair":
            edit(page)
        page.screenshot(path=folder / f"web-{name}.png")
    if every:
        pages |= {"start": base, "discover": f"{base}/discover", "topic": f"{base}/topic", "api": f"{base}/api"}
        draw_all(browser, pages, folder)


def edit(page: Page) -> None:
    """Open the second segment of a page pair for editing, as a reader does."""
    page.locator("[data-row]").nth(1).focus()
    page.keyboard.press("e")


def draw_all(browser: Browser, pages: dict[str, str], folder: Path) -> None:
    looks = {
        "phone": {"viewport": PHONE},
        "dark": {"viewport": DESKTOP, "color_scheme": "dark"},
        **{code: {"viewport": DESKTOP, "locale": code} for code in ("fr", "es", "zh")},
        **{f"phone-{code}": {"viewport": PHONE, "locale": code} for code in ("fr", "es", "zh")},
    }
    for look, options in looks.items():
        context = browser.new_context(**options)
        page = context.new_page()
        for name, address in pages.items():
            page.goto(address)
            page.screenshot(path=folder / f"web-{name}-{look}.png", full_page=look.startswith("phone"))
        context.close()


def start(page: Page) -> str:
    """The address of a new job."""
    page.fill("#seeds", "http://www.saltholm.test/\nhttp://www.cooking-school.test/\nhttp://www.town-library.test/")
    page.fill("#language_a", "en")
    page.fill("#language_b", "French")
    page.click("button.main")
    expect(page.locator("#live")).to_be_visible()
    return page.url


if __name__ == "__main__":
    main()
