"""Fail if the built documentation would not work for somebody who opens it from the disk.

Scripts, styles, images, fonts and frames must be in the site itself; links that a reader may click are fine. The search must have
an index that a page on the disk can load. If there is a Chromium, it opens pages at three widths and operates the search.

python -m lab.tools.check_site site
"""

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from bitrawl.cli import verbs

_LOADS = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "object": "data",
}
# A <link> loads what it names, except where it only points to a page.
_POINTS = {"canonical", "next", "prev", "alternate", "author", "license", "help", "search"}
_STYLE = re.compile(r"""(?:url\(\s*["']?|@import\s+["'])((?:https?:)?//[^"')\s]+)""")
WIDTHS = (360, 768, 1280)  # a phone, a tablet, a laptop
OPENED = ("index.html", "how-to/review.html", "reference/commands/mine.html")
SEARCHED = ("review", "Review a corpus")  # what is typed, and the page that must come first
MOST_MEGABYTES = 12


class _Page(HTMLParser):
    """Collects what a browser would load for this page without a click."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        target = given.get(_LOADS.get(tag, ""))
        if tag == "link" and not _POINTS & set((given.get("rel") or "").split()):
            target = given.get("href")
        self.loaded += [one for one in (target, *(given.get("srcset") or "").split()) if one]
        self.loaded += _STYLE.findall(given.get("style") or "")


def foreign(folder: Path) -> Iterator[tuple[Path, str]]:
    """Each file of the site that loads something from another host, with what it loads."""
    for path in sorted(folder.rglob("*.html")):
        page = _Page()
        page.feed(path.read_text("utf-8"))
        yield from ((path, one) for one in page.loaded if re.match(r"(?:https?:)?//", one))
    for path in sorted(folder.rglob("*.css")):
        yield from ((path, one) for one in _STYLE.findall(path.read_text("utf-8")))


def unsearchable(folder: Path) -> Iterator[str]:
    """What the index of the search lacks that a page on the disk loads."""
    try:
        text = (folder / "search/search_index.js").read_text("utf-8")
    except FileNotFoundError:
        yield "there is no search/search_index.js: the search works on a server only"
        return
    titles = {entry["title"] for entry in json.loads(text.removeprefix("var __index = "))["docs"]}
    wanted = {SEARCHED[1], *(f"bitrawl {verb}" for verb in verbs())}
    yield from (f"the search does not know {title}" for title in sorted(wanted - {_plain(title) for title in titles}))


def _plain(title: str) -> str:
    return re.sub(r"<[^>]+>", "", title)


def operated(folder: Path, chromium: str) -> Iterator[str]:
    """What is wrong when a browser opens the pages from the disk."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only where there is a browser

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium)
        for width in WIDTHS:
            page = browser.new_page(viewport={"width": width, "height": 800})
            for name in OPENED:
                page.goto((folder.resolve() / name).as_uri())
                yield from (f"{name} at {width} pixels: {trouble}" for trouble in _looked_at(page))
            page.close()
        browser.close()


def _looked_at(page: Any) -> Iterator[str]:
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        yield "the page is wider than the window"
    if page.evaluate("[...document.querySelectorAll('pre > code')].some(e => e.scrollWidth > e.clientWidth + 1)"):
        yield "a code block runs out of its box"
    button = page.locator("label.md-header__button[for=__search]")
    (button if button.is_visible() else page.locator(".md-search__input")).click()
    page.locator(".md-search__input:focus").wait_for()
    page.keyboard.type(SEARCHED[0])
    first = page.locator(".md-search-result__item h1").first
    try:
        first.wait_for(timeout=60_000)
    except Exception as error:  # noqa: BLE001 - playwright's, whose type is not known without it
        yield f"the search for {SEARCHED[0]!r} finds nothing: {type(error).__name__}"
    else:
        if first.inner_text() != SEARCHED[1]:
            yield f"the search for {SEARCHED[0]!r} finds {first.inner_text()!r} first, and not {SEARCHED[1]!r}"


def main(folder: Path) -> int:
    troubles = [f"{where} loads {what}" for where, what in foreign(folder)]
    troubles += unsearchable(folder)
    megabytes = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
    if megabytes > MOST_MEGABYTES:
        troubles.append(f"the site has {megabytes:.1f} MB, more than {MOST_MEGABYTES}")
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if chromium:
        troubles += operated(folder, chromium)
    else:
        sys.stderr.write("There is no chromium: the search was not operated.\n")
    sys.stderr.writelines(f"{trouble}\n" for trouble in troubles)
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
