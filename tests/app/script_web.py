"""A bilingual site whose pages a script draws, and a server for it."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from bitrawl.demo.sites import sites

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
ARTICLES = {article.key: article.version for article in sites()["library"].page[:5]}


class Answered:
    """What was asked for, as host and path, in order."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, address: str) -> tuple[int, str, bytes]:
        self.asked.append(address)
        host, _, path = address.partition("/")
        if host != HOST:
            return 404, "text/plain", b""
        if path == "app.js":
            return 200, "text/javascript", APP.encode()
        if path.startswith("data/"):
            _, language, name = path.split("/")
            return 200, "application/json", article(language, name.removesuffix(".json"))
        pages = {f"{language}/{key}" for language in ("en", "fr") for key in ARTICLES}
        return (200, "text/html", SHELL) if path in pages else (404, "text/plain", b"no such page")


def article(language: str, key: str) -> bytes:
    version = ARTICLES[key][language]
    text = [block.lstrip("#- ") for block in version.text.split("\n\n") if "](" not in block]
    return json.dumps({"title": version.title, "text": text, "keys": list(ARTICLES)}).encode()


@contextmanager
def serving(answer: Callable[[str], tuple[int, str, bytes]]) -> Iterator[int]:
    """The port on loopback. `answer` is given host and path."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, kind, body = answer(self.headers.get("Host", "").partition(":")[0] + self.path)
            with suppress(OSError):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
