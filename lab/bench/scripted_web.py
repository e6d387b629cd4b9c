"""A bilingual web whose pages are drawn by scripts: one site for each kind, with apps built from npm packages.

The texts are those of the bundled web, in English and French, so the true pairs are known.
"""

import html
import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from bitrawl.crawling.document_states import DocumentState
from bitrawl.demo.sites import Version, sites
from bitrawl.url import Url
from lab.loopback import Reply, answering

PACKAGES = (
    "esbuild react react-dom vue svelte esbuild-svelte lit rxjs tslib @angular/core @angular/common @angular/compiler"
    " @angular/platform-browser"
)
APPS = Path(__file__).parent / "scripted_apps"
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_ROOTS = {
    "vue": '<div id="app"></div>',
    "hash": '<div id="app"></div>',
    "svelte": '<div id="svelte"></div>',
} | dict.fromkeys(("lit", "angular"), "<app-root></app-root>")
_BUNDLES = {"hash": "vue", "buttons": "react", "list": "react", "hydrated": "react"}


class Kind(NamedTuple):
    """One way of drawing pages, on a host of its own."""

    name: str
    about: str
    needs_browser: bool = True

    @property
    def host(self) -> str:
        return f"{self.name}.test"


KINDS = (
    Kind("react", "React, drawn in the browser"),
    Kind("vue", "Vue, drawn in the browser"),
    Kind("svelte", "Svelte, drawn in the browser"),
    Kind("angular", "Angular, drawn in the browser"),
    Kind("lit", "Lit, in a shadow tree"),
    Kind("hash", "Vue, hash routes"),
    Kind("buttons", "React, languages behind buttons"),
    Kind("list", "React, an endless list"),
    Kind("state", "texts in a state object", needs_browser=False),
    Kind("hydrated", "React, drawn by the server", needs_browser=False),
    Kind("plain", "no framework", needs_browser=False),
)


class ScriptedWeb:
    """What each host answers, and the true pairs. `build` holds the bundles."""

    def __init__(self, build: Path, articles: int = 10) -> None:
        self._bundles = {
            name: (build / f"{name}.js").read_bytes() for name in ("react", "vue", "svelte", "lit", "angular")
        }
        every = [article for site in sites().values() for article in site.page]
        both = [
            article.version for article in every if {"en", "fr"} <= article.version.keys() and not article.untranslated
        ]
        self._versions = both[:: max(1, len(both) // articles)][:articles]
        self._drawn = self._by_server(build)

    def truth(self, kind: Kind) -> list[tuple[Url, Url]]:
        return [(self._url(kind, "en", number), self._url(kind, "fr", number)) for number in range(len(self._versions))]

    def seed(self, kind: Kind) -> str:
        return f"http://{kind.host}/" if kind.name in ("hash", "list") else self._url(kind, "en", 0)

    def answer(self, address: str) -> Reply:
        asked = urlsplit(address)
        kind = next((kind for kind in KINDS if kind.host == asked.netloc), None)
        path = unquote(asked.path)
        missing = Reply(404, "text/html; charset=utf-8", b"<h1>Not found</h1>")
        if kind is None:
            return missing
        if path == "/app.js":
            return Reply(200, "text/javascript", self._bundles.get(_BUNDLES.get(kind.name, kind.name), b""))
        if path.startswith("/data/"):
            article = self._article(kind, path.removeprefix("/data").removesuffix(".json"))
            return Reply(200, "application/json", json.dumps(article).encode()) if article else missing
        page = self._page(kind, path)
        return Reply(200, "text/html; charset=utf-8", page.encode()) if page else missing

    def _path(self, kind: Kind, language: str, number: int) -> str:
        name = self._name(language if kind.name != "buttons" else "en", number)
        return f"/{name}" if kind.name == "buttons" else f"/{language}/{name}"

    def _name(self, language: str, number: int) -> str:
        words = re.findall(r"\w+", self._versions[number][language].title.lower())
        return f"{'-'.join(words[:4])}"

    def _url(self, kind: Kind, language: str, number: int) -> Url:
        page = f"http://{kind.host}"
        if kind.name == "hash":
            return DocumentState(f"{page}/", self._path(kind, language, number)).url
        state = DocumentState(page + self._path(kind, language, number))
        return (state.in_language("fr") if kind.name == "buttons" and language == "fr" else state).url

    def _article(self, kind: Kind, path: str) -> dict[str, Any] | None:
        """What an app draws at that path."""
        if path == "/home" and kind.name == "list":
            paths = [(code, number) for number in range(len(self._versions)) for code in ("en", "fr")]
            return {"title": "All articles", "list": True, "language": "en", "links": self._links(kind, paths)}
        path = self._path(kind, "en", 0) if path == "/home" else path
        for number in range(len(self._versions)):
            for code, other in (("en", "fr"), ("fr", "en")):
                own = (
                    f"/{code}{self._path(kind, code, number)}"
                    if kind.name == "buttons"
                    else self._path(kind, code, number)
                )
                if path == own:
                    return self._texts(kind, number, code, other)
        return None

    def _texts(self, kind: Kind, number: int, code: str, other: str) -> dict[str, Any]:
        others = [(code, one) for one in range(len(self._versions)) if kind.name != "list" and one != number]
        (switch,) = self._links(kind, [(other, number)])
        return {
            "title": self._versions[number][code].title,
            "language": code,
            "blocks": blocks(self._versions[number][code]),
            "links": self._links(kind, others) or [{"href": "/", "text": "Home"}],
            "other": {**switch, "text": {"fr": "Français", "en": "English"}[other]},
        }

    def _links(self, kind: Kind, paths: list[tuple[str, int]]) -> list[dict[str, str]]:
        mark = "#" if kind.name == "hash" else ""
        return [
            {"href": mark + self._path(kind, code, number), "text": self._versions[number][code].title}
            for code, number in paths
        ]

    def _page(self, kind: Kind, path: str) -> str:
        is_home = path == "/" and kind.name in ("hash", "list")
        wanted = f"/en{path}" if kind.name == "buttons" else path
        article = self._article(kind, "/home" if is_home else wanted)
        if article is None:
            return ""
        body = _ROOTS.get(kind.name, '<div id="root"></div>')
        data = json.dumps(article).replace("<", "\\u003c")
        if kind.name == "state":
            links = "".join(
                f'<a href="{one["href"]}">{html.escape(one["text"])}</a> '
                for one in (*article["links"], article["other"])
            )
            body = f'<nav>{links}</nav><div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{data}</script>'
        elif kind.name == "hydrated":
            body = f'<div id="root">{self._drawn[path]}</div><script>window.ARTICLE = {data}</script>'
        elif kind.name == "plain":
            body = f"<div>{self._drawn[path]}</div>"
        elif kind.name == "buttons":
            body += "<script>window.OPTIONS = {buttons: true}</script>"
        known = kind.name in ("state", "hydrated", "plain")
        head = (
            f'<html lang="{article["language"]}"><head><title>{html.escape(article["title"])}'
            if known
            else "<html><head><title>App"
        )
        return f'<!doctype html>{head}</title></head><body>{body}<script src="/app.js"></script></body></html>'

    def _by_server(self, build: Path) -> dict[str, str]:
        """The HTML that React makes of each article, by path, on a server."""
        kind = next(kind for kind in KINDS if kind.name == "hydrated")
        paths = [self._path(kind, code, number) for number in range(len(self._versions)) for code in ("en", "fr")]
        source, target = build / "articles.json", build / "pages.json"
        source.write_text(json.dumps({path: self._article(kind, path) for path in paths}))
        subprocess.run(["node", build / "react_server.cjs", source, target], check=True)
        pages: dict[str, str] = json.loads(target.read_text())
        return pages


def blocks(version: Version) -> list[dict[str, str]]:
    kinds = {"#": "h2", "-": "li"}
    parts = [
        part
        for block in version.text.split("\n\n")
        for part in (block.split("\n") if block.startswith("- ") else [block])
    ]
    return [
        {"kind": kinds.get(part[:1], "p"), "text": " ".join(_LINK.sub(r"\1", part).lstrip("#- ").split())}
        for part in parts
        if part.strip()
    ]


def build(folder: Path) -> None:
    """Install the packages and bundle the apps, unless that was done before. Needs node, npm and its registry."""
    if (folder / "react_server.cjs").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"private": true}')
    options = ("--no-audit", "--no-fund", "--silent")
    subprocess.run(["npm", "install", *options, *PACKAGES.split()], cwd=folder, check=True)
    subprocess.run(["node", APPS / "build.mjs", folder], check=True)


@contextmanager
def served(web: ScriptedWeb) -> Iterator[int]:
    """The port on loopback."""
    with answering(web.answer) as port:
        yield port
