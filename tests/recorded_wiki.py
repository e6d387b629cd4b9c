"""Two wikis and three sites on loopback: the wikis answer what a real MediaWiki answered (tests/wiki/record.py)."""

import gzip
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from lab.loopback import QuietHandler, Reply, listening

ANSWERS = Path(__file__).parent / "unit" / "topic" / "wiki_answers.json"

ENGLISH = (
    "<p>Safety at work protects the health of everybody who works in a factory or in an office, every day.</p>" * 3
)
GERMAN = "<p>Der Arbeitsschutz schützt die Gesundheit aller, die in einer Fabrik oder in einem Büro arbeiten.</p>" * 3


def page(language: str, body: str) -> str:
    return f"<!doctype html><html lang={language}><title>Safety</title><body>{body}</body></html>"


# The first and the third have a home page in two languages; the second is English.
SITES = {
    "bilingual": {
        "/": page("en", f'{ENGLISH}<a hreflang="de" href="/de/">Deutsch</a>'),
        "/de/": page("de", f'{GERMAN}<a hreflang="en" href="/">English</a>'),
        "/en/safety.html": page("en", ENGLISH),
        "/de/sicherheit.html": page("de", GERMAN),
    },
    "single": {"/risk.html": page("en", ENGLISH), "/": page("en", ENGLISH)},
    "home": {
        "/lung/": page("en", ENGLISH),
        "/arzt/": page("de", GERMAN),
        "/": page("en", f'{ENGLISH}<ul class="language-switcher"><li><a href="/de/">Deutsch</a><li><a href="/">English</a></ul>'),
        "/de/": page("de", f'{GERMAN}<ul class="language-switcher"><li><a href="/de/">Deutsch</a><li><a href="/">English</a></ul>'),
    },
}  # fmt: skip


class Served(NamedTuple):
    """Where everything is, and what was asked."""

    addresses: dict[str, str]  # by name: en, de, bilingual, single, home
    asked: list[tuple[str, str]]  # the name, and the path with its question
    agents: set[str]
    before: list[Callable[[str, str], None]]  # is called with each of them, before the answer

    def api(self, language: str = "en") -> str:
        return f"{self.addresses[language]}w/api.php"

    def questions(self) -> list[tuple[str, str]]:
        """To the wikis."""
        return [(name, path) for name, path in self.asked if name in ("en", "de")]


Sites = Mapping[str, Mapping[str, str]]
"""By the names that the wiki cites, the pages by path."""


@contextmanager
def recorded_wiki(sites: Sites = SITES) -> Iterator[Served]:
    answers: dict[str, dict[str, str]] = json.loads(ANSWERS.read_text("utf-8"))
    served = Served({}, [], set(), [])

    def answer(name: str, path: str) -> tuple[str, str] | None:
        if name in sites:
            body = sites[name].get(path)
            return (body, "text/html; charset=utf-8") if body else None
        known = answers[name].get(path.partition("?")[2])
        if known is None:
            return None
        for each, address in served.addresses.items():
            known = known.replace(f"http://{each}.test/", address)
        return known, "application/json; charset=utf-8"

    with ExitStack() as stack:
        for name in ("en", "de", *sites):
            served.addresses[name] = stack.enter_context(_server(name, answer, served))
        yield served


@contextmanager
def _server(name: str, answer: Callable[[str, str], tuple[str, str] | None], served: Served) -> Iterator[str]:
    class Handler(QuietHandler):
        def do_GET(self) -> None:  # noqa: N802 - its name in the standard library
            served.asked.append((name, self.path))
            served.agents.add(self.headers.get("User-Agent", ""))
            for each in served.before:
                each(name, self.path)
            found = answer(name, self.path)
            body, kind = found or (f"{name} has no {self.path}", "text/plain")
            packed = gzip.compress(body.encode())
            self.reply(Reply(200 if found else 404, kind, packed, (("Content-Encoding", "gzip"),)))

    with listening(Handler) as port:
        yield f"http://127.0.0.1:{port}/"
