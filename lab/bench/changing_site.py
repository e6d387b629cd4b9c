"""A made-up bilingual site that changes from round to round, served on loopback: new, changed and missing pages are known."""

import datetime as dt
import gzip
import hashlib
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from lab.loopback import QuietHandler, listening

HOST = "http://www.harbour.test"
SECTIONS = ("history", "nature", "trade", "people", "travel")
LANGUAGES = ("en", "fr")
RULES = (
    "/robots.txt",
    "/.well-known/tdmrep.json",
)  # a host that is down still has these: else nobody would ask for a page
NEW, CHANGED, GONE = 0.02, 0.03, 0.01  # of the articles, in each round

NOUNS = [
    ("harbour", "port"), ("bridge", "pont"), ("church", "église"), ("school", "école"), ("market", "marché"),
    ("garden", "jardin"), ("tower", "tour"), ("museum", "musée"), ("theatre", "théâtre"), ("library", "bibliothèque"),
    ("station", "gare"), ("hospital", "hôpital"), ("castle", "château"), ("mill", "moulin"), ("lighthouse", "phare"),
    ("bakery", "boulangerie"), ("town hall", "mairie"), ("beach", "plage"), ("river", "rivière"), ("forest", "forêt"),
]  # fmt: skip
PEOPLE = ["Anna Weber", "Mikael Strand", "Teodora Lind", "Oskar Blum", "Ines Caldera", "Pavel Novak", "Ruth Aldous"]
SENTENCES = [
    ("The old {a} near the {b} was built in {year} by the family of {who}.",
     "Le bâtiment « {a} » près du lieu « {b} » a été construit en {year} par la famille de {who}."),
    ("In {year} more than {count} visitors came to see the {a} and the {b}.",
     "En {year}, plus de {count} visiteurs sont venus voir : {a} et {b}."),
    ("Every summer {who} opens the {a} to children from the whole region.",
     "Chaque été, {who} ouvre le lieu « {a} » aux enfants de toute la région."),
    ("The council decided to repair the {a} after the storm of {year}.",
     "Le conseil a décidé de réparer le lieu « {a} » après la tempête de {year}."),
    ("About {count} letters about the {a} are kept in the archive of the {b}.",
     "Environ {count} lettres au sujet du lieu « {a} » sont conservées dans les archives du lieu « {b} »."),
    ("{who} wrote a short book about the {a}, which was printed in {year}.",
     "{who} a écrit un petit livre sur le lieu « {a} », qui a été imprimé en {year}."),
    ("Nobody knows why the {a} was closed for {count} days in the winter of {year}.",
     "Personne ne sait pourquoi le lieu « {a} » a été fermé pendant {count} jours au cours de l'hiver {year}."),
    ("A path of {count} metres leads from the {a} to the {b} through the fields.",
     "Un chemin de {count} mètres mène du lieu « {a} » au lieu « {b} » à travers les champs."),
    ("The guide {who} tells the story of the {a} to everybody who asks for it.",
     "Le guide {who} raconte l'histoire du lieu « {a} » à tous ceux qui la demandent."),
    ("Since {year} the water of the spring has been brought to the {a} by a canal.",
     "Depuis {year}, l'eau de la source est amenée au lieu « {a} » par un canal."),
    ("The tickets for the {a} cost {count} crowns and can be bought at the {b}.",
     "Les billets pour le lieu « {a} » coûtent {count} couronnes et peuvent être achetés au lieu « {b} »."),
    ("On the first Sunday in May, {who} and {count} friends walk to the {a}.",
     "Le premier dimanche de mai, {who} et {count} amis marchent vers le lieu « {a} »."),
]  # fmt: skip


class Article(NamedTuple):
    """It stands on one page in each language."""

    number: int
    version: int = 0  # of its text
    round: int = 1  # that it changed in

    @property
    def section(self) -> str:
        return SECTIONS[self.number % len(SECTIONS)]

    def path(self, language: str) -> str:
        return f"/{language}/{self.section}/article-{self.number}"


class Request(NamedTuple):
    path: str
    status: int
    bytes: int  # of the body, as sent


class ChangingSite:
    """Its articles, and what it was asked. `dates`: its sitemap says when each page changed, and that is true.

    A second passes between two rounds, by the dates of the sitemap: all of them are in the past.
    """

    def __init__(
        self, articles: int, *, host: str = HOST, seed: int = 1, sentences: int = 60, dates: bool = False
    ) -> None:
        self.host = host
        self.round = 1
        self.articles = [Article(number) for number in range(articles)]
        self.requests: list[Request] = []
        self.dates = dates
        self.tags = True  # whether answers have an ETag
        self.is_down = False
        self.broken: set[str] = set()  # paths that answer 404 for now, whatever lists them
        self.lists = True  # whether section pages have links to their articles
        self.elsewhere: dict[str, str] = {}  # by address on another host: its page, or the URL that it redirects to
        self.after_request: Callable[[int], None] = lambda _count: None  # told how many there were
        self._began = time.time() - 1000
        self._sentences = sentences
        self._next = articles
        self._dice = random.Random(seed)
        self._port = 0

    def advance(self) -> None:
        """One more round: some articles are new, some have another text, some are gone."""
        self.round += 1
        count = len(self.articles)
        shuffled = self._dice.sample(self.articles, count)
        gone = set(shuffled[: max(1, round(GONE * count))])
        changed = set(shuffled[len(gone) : len(gone) + max(1, round(CHANGED * count))])
        new = range(self._next, self._next + max(1, round(NEW * count)))
        self._next = new.stop
        self.articles = [
            article._replace(version=article.version + 1, round=self.round) if article in changed else article
            for article in self.articles
            if article not in gone
        ] + [Article(number, round=self.round) for number in new]

    def answer(self, path: str) -> bytes | None:
        """What stands there now; None for what does not exist."""
        if path in self.broken:
            return None
        if path == "/sitemap.xml":
            return self._sitemap().encode()
        text = self._home(path) or next(
            (
                self._article(article, code)
                for article in self.articles
                for code in LANGUAGES
                if article.path(code) == path
            ),
            None,
        )
        return text.encode() if text else None

    def _home(self, path: str) -> str | None:
        """One of the pages that list others; None for any other address."""
        if path == "/":
            return _html("en", "Welcome", [], {f"/{code}/": code for code in LANGUAGES})
        for code in LANGUAGES:
            if path == f"/{code}/":
                return _html(code, code, [], {f"/{code}/{name}/": name for name in SECTIONS})
            for section in SECTIONS:
                if path == f"/{code}/{section}/":
                    listed = [article for article in self.articles if self.lists and article.section == section]
                    return _html(
                        code, section, [], {article.path(code): f"{section} {article.number}" for article in listed}
                    )
        return None

    def _article(self, article: Article, language: str) -> str:
        paragraphs = [" ".join(block[LANGUAGES.index(language)]) for block in self._blocks(article)]
        heads = "".join(
            f'<link rel="alternate" hreflang="{code}" href="{self.host}{article.path(code)}">' for code in LANGUAGES
        )
        links = {f"/{language}/{article.section}/": article.section}
        return _html(language, f"{article.section} {article.number}", paragraphs, links, heads)

    def _blocks(self, article: Article) -> Iterator[tuple[list[str], list[str]]]:
        """A new version replaces a third of its paragraphs."""
        for place in range(self._sentences // 3):
            version = article.version if place % 3 == article.version % 3 else 0
            dice = random.Random(f"{article.number} {place} {version}")
            made = [_sentence(dice) for _ in range(3)]
            yield [english for english, _ in made], [french for _, french in made]

    def _sitemap(self) -> str:
        entries = []
        for article in self.articles:
            date = _iso(self._began + article.round)
            lastmod = f"<lastmod>{date}</lastmod>" if self.dates else ""
            entries += [f"<url><loc>{self.host}{article.path(code)}</loc>{lastmod}</url>" for code in LANGUAGES]
        return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{"".join(entries)}</urlset>'

    def asked(self) -> list[Request]:
        """What was asked since the last call."""
        requests, self.requests = self.requests, []
        return requests

    @property
    def port(self) -> int:
        return self._port

    @contextmanager
    def served(self) -> Iterator[None]:
        with listening(type("Handler", (_Handler,), {"site": self})) as self._port:
            yield


class _Handler(QuietHandler):
    site: ChangingSite

    def do_GET(self) -> None:  # noqa: N802 - its name in the standard library
        host = f"http://{self.headers.get('Host')}"
        is_other = any(address.startswith(f"{host}/") for address in self.site.elsewhere)
        other = self.site.elsewhere.get(f"{host}{self.path}", "")
        target = other if other.startswith("http") else ""
        body = (other.encode() or None) if is_other else self.site.answer(self.path)
        is_down = self.site.is_down and self.path not in RULES
        status = 503 if is_down else 404 if body is None else 302 if target else 200
        content = body or b"<title>404</title><p>There is no such page.</p>"
        tag = f'"{hashlib.sha1(content, usedforsecurity=False).hexdigest()[:16]}"'
        if status == 200 and self.site.tags and self.headers.get("If-None-Match") == tag:
            status, content = 304, b""
        payload = gzip.compress(content, 6, mtime=0) if content else b""
        self.site.requests.append(Request(self.path, status, len(payload)))
        self.send_response(status)
        if target:
            self.send_header("Location", target)
        if status in (200, 304) and self.site.tags:
            self.send_header("ETag", tag)
        if payload:
            self.send_header("Content-Type", "application/xml" if self.path.endswith(".xml") else "text/html")
            self.send_header("Content-Encoding", "gzip")
        if status != 304:
            self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)
        self.site.after_request(len(self.site.requests))


def _iso(seconds: float) -> str:
    return dt.datetime.fromtimestamp(seconds, dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _sentence(dice: random.Random) -> tuple[str, str]:
    english, french = dice.choice(SENTENCES)
    a, b = dice.sample(NOUNS, 2)
    values = {"who": dice.choice(PEOPLE), "year": dice.randint(1500, 2020), "count": dice.randint(2, 9000)}
    return english.format(a=a[0], b=b[0], **values), french.format(a=a[1], b=b[1], **values)


def _html(language: str, title: str, paragraphs: list[str], links: dict[str, str], head: str = "") -> str:
    text = "".join(f"<p>{paragraph}</p>\n" for paragraph in paragraphs)
    listed = "".join(f'<li><a href="{target}">{words}</a></li>\n' for target, words in links.items())
    return (
        f'<!doctype html><html lang="{language}"><head><title>{title}</title>{head}</head>'
        f"<body><h1>{title}</h1>\n<main>{text}</main>\n<ul>{listed}</ul></body></html>"
    )
