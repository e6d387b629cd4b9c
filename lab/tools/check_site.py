"""Fail if a page of the built documentation would load anything from another host.

Links that a reader may click are fine; scripts, styles, images, fonts and frames must be in the site itself.

python -m lab.tools.check_site site
"""

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

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


if __name__ == "__main__":
    found = list(foreign(Path(sys.argv[1])))
    for where, what in found:
        sys.stderr.write(f"{where} loads {what}\n")
    sys.exit(1 if found else 0)
