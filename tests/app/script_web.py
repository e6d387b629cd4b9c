"""A bilingual site whose pages a script draws."""

import json
from typing import NamedTuple

from bitrawl.demo.sites import Version, sites
from lab.loopback import Reply

HOST = "www.drawn.test"
SHELL = b'<!doctype html><html><head><title>Drawn</title></head><body><div id="root"></div><script src="/app.js"></script></body></html>'
APP = """
const [language, key] = location.pathname.slice(1).split("/");
const draw = (article) => {
  document.documentElement.lang = language;
  document.title = article.title;
  const links = article.keys.map((key) => `<li><a href="/${language}/${key}">${key}</a></li>`).join("");
  const blocks = article.text.map((text) => `<p>${text}</p>`).join("");
  document.getElementById("root").innerHTML =
    `<nav><a href="/en/${key}">English</a> <a href="/fr/${key}">Français</a></nav>` +
    `<main><h1>${article.title}</h1>${blocks}</main><ul>${links}</ul>`;
};
fetch(`/data/${language}/${key}.json`).then((answer) => answer.json()).then(draw);
fetch("http://tracker.test/pixel").catch(() => {});
"""


class Article(NamedTuple):
    title: str
    text: list[str]


def _article(version: Version) -> Article:
    return Article(version.title, [block.lstrip("#- ") for block in version.text.split("\n\n") if "](" not in block])


ARTICLES = {
    article.key: {language: _article(version) for language, version in article.version.items()}
    for article in sites()["library"].page[:4]
}


class Answered:
    """What was asked for, as host and path, in order. `articles` are by key and language."""

    def __init__(self, articles: dict[str, dict[str, Article]] | None = None) -> None:
        self.asked: list[str] = []
        self._articles = ARTICLES if articles is None else articles

    def __call__(self, address: str) -> Reply:
        host, _, path = address.removeprefix("http://").partition("/")
        self.asked.append(f"{host}/{path}")
        if host != HOST:
            return Reply(404, "text/plain", b"")
        if path == "app.js":
            return Reply(200, "text/javascript", APP.encode())
        if path.startswith("data/"):
            _, language, name = path.split("/")
            article = self._articles[name.removesuffix(".json")][language]
            drawn = {"title": article.title, "text": article.text, "keys": list(self._articles)}
            return Reply(200, "application/json", json.dumps(drawn).encode())
        pages = {f"{language}/{key}" for language in ("en", "fr") for key in self._articles}
        return Reply(200, "text/html", SHELL) if path in pages else Reply(404, "text/plain", b"no such page")
