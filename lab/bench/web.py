"""A web to measure crawlers on: interlinked pages of about 17 kB in English and French, none like another.

`with BenchWeb(3000) as web` serves it from a process of its own, whose CPU time is nobody's. Prose is drawn from the
vocabulary of the bundled web, by Zipf's law, with a tail of coined words: no text recurs that would not recur on a
real site, so that nobody's caches flatter him. Images and styles are on another host: wget would fetch them.

`BenchWeb(links=50)` has any number of hosts instead, with small pages that cost the server little: `ManyHosts`.
"""

import asyncio
import json
import math
import random
import re
import resource
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import accumulate
from typing import NamedTuple, Protocol, Self
from zlib import crc32

from bitrawl.demo.sites import sites

LANGUAGES = ("en", "fr")
CHILDREN = 10  # links of each page that no page before it has
VOCABULARY = 20_000
KEPT = 4096  # rendered pages, about 70 MB: all of those that are crawled more than once
SECTIONS = 8
NAMES = 10_000

ASSETS = "https://static.bench.example"
FETCHED, FORGET = "/.fetched", "/.forget"  # what the benchmarks ask; no page links there


class Fetched(NamedTuple):
    """What a crawler took since it was last forgotten."""

    pages: int  # different ones
    requests: int  # for anything: robots.txt, sitemaps, and pages that do not exist too


class BenchWeb:
    """The server's process, from `with` to the end of it."""

    def __init__(self, pages: int = 0, *, links: int = 0) -> None:
        """One host of so many pages, or any number of hosts whose pages have so many new links."""
        self._pages, self._links = pages, links

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "lab.bench.web", str(self._pages), str(self._links)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def fetched(self) -> Fetched:
        return Fetched(*json.loads(_get(self.url + FETCHED)))

    def forget(self) -> None:
        _get(self.url + FORGET)


class Vocabulary(NamedTuple):
    words: list[str]  # the most frequent first
    weights: list[float]  # cumulative


class Article(NamedTuple):
    """A page before it is rendered: all that another page needs to link to it."""

    path: str
    title: str


class Served(Protocol):
    """A web that can be served."""

    def find(self, host: str, path: str) -> bytes | None: ...


class Web:
    """Articles in a tree, ten below each, each in two languages that declare each other; `pages` is even."""

    def __init__(self, pages: int) -> None:
        self.articles = pages // len(LANGUAGES)

    @lru_cache(maxsize=KEPT)  # noqa: B019 (one web a process)
    def page(self, language: str, number: int) -> bytes:
        dice = random.Random(f"{language} {number}")
        return _Writer(self, language, number, dice).page().encode()

    @cache  # noqa: B019 (one web a process)
    def article(self, language: str, number: int) -> Article:
        dice = random.Random(f"title {language} {number}")
        words = dice.choices(vocabulary(language).words[60:6000], k=dice.randint(4, 9))
        if number == 0:
            return Article("/" if language == LANGUAGES[0] else f"/{language}/", " ".join(words).capitalize())
        slug = re.sub(r"[^a-z]+", "-", " ".join(words[:5]).lower()).strip("-")
        return Article(f"/{language}/{number % SECTIONS}/{slug}-{number}.html", " ".join(words).capitalize())

    def find(self, host: str, path: str) -> bytes | None:  # noqa: ARG002 (one host)
        for language in LANGUAGES:
            if path == self.article(language, 0).path:
                return self.page(language, 0)
        matched = re.fullmatch(r"/(\w\w)/\d/[a-z-]*?(\d+)\.html", path)
        if matched is None or matched[1] not in LANGUAGES or int(matched[2]) >= self.articles:
            return None
        language, number = matched[1], int(matched[2])
        return self.page(language, number) if path == self.article(language, number).path else None


class Place(NamedTuple):
    """Where a page of `ManyHosts` is."""

    language: str
    number: int

    @property
    def is_translated(self) -> bool:
        return self.number % 10 != 9

    @classmethod
    def of(cls, path: str) -> "Place | None":
        if path == "/":
            return cls(LANGUAGES[0], 0)
        matched = re.fullmatch(r"/(\w\w)/[^/]*?(\d+)\.html", path)
        place = cls(matched[1], int(matched[2])) if matched and matched[1] in LANGUAGES else None
        return place if place and (place.is_translated or place.language == LANGUAGES[0]) else None


class ManyHosts:
    """Any number of hosts. On each, articles in a tree without an end, or so many, with so many links to new ones on each; nine
    of ten are in two languages.

    The sentences are those of the bundled web, each with a name and a number that hardly any other has. Every second
    translation is declared.
    """

    def __init__(self, links: int, articles: float = math.inf) -> None:
        self._links, self._articles = links, articles
        self._names = [word.capitalize() for word in vocabulary(LANGUAGES[0]).words[-NAMES:]]
        self._sentences = translated_sentences()

    def find(self, host: str, path: str) -> bytes | None:
        place = Place.of(path)
        exists = place is not None and place.number < self._articles and path == self._path(host, place)
        return self._page(host, place).encode() if place and exists else None

    def _page(self, host: str, here: Place) -> str:
        dice = random.Random(f"{host} {here.number}")
        prose = "".join(
            f"<p>{' '.join(self._sentence(here, dice) for _ in range(2))}</p>\n" for _ in range(dice.randint(2, 5))
        )
        first = here.number * self._links + 1
        menu = self._list(host, here, (0, *range(1, SECTIONS + 1), max(here.number - 1, 0) // self._links))
        below = self._list(host, here, range(first, first + self._links))
        twin = Place(next(code for code in LANGUAGES if code != here.language), here.number)
        declared = switcher = ""
        if here.is_translated:
            if here.number % 2 == 0:
                declared = f'<link rel="alternate" hreflang="{twin.language}" href="{self._path(host, twin)}">'
            switcher = f'<a href="{self._path(host, twin)}">{twin.language.upper()}</a>'
        title = self._title(host, here)
        return (
            f'<!DOCTYPE html><html lang="{here.language}"><head><meta charset="utf-8"><title>{title}</title>{declared}</head>\n'
            f"<body><nav>{menu}{switcher}</nav><main><h1>{title}</h1>\n{prose}</main>{below}</body></html>"
        )

    def _sentence(self, here: Place, dice: random.Random) -> str:
        name, number = dice.choice(self._names), dice.randrange(100, 100_000)
        return f"{dice.choice(self._sentences)[here.language][:-1]} ({name} {number})."

    def _list(self, host: str, here: Place, numbers: Iterable[int]) -> str:
        places = [Place(here.language, number) for number in numbers]
        links = (
            f'<li><a href="{self._path(host, place)}">{self._title(host, place)}</a></li>'
            for place in places
            if place.number < self._articles and (place.is_translated or place.language == LANGUAGES[0])
        )
        return f"<ul>{''.join(links)}</ul>\n"

    def _title(self, host: str, place: Place) -> str:
        chosen = crc32(f"{host}{place.number}".encode())
        words = self._sentences[chosen % len(self._sentences)][place.language].split()[:5]
        return f"{self._names[chosen % NAMES]}: {' '.join(words)}"

    def _path(self, host: str, place: Place) -> str:
        if place == (LANGUAGES[0], 0):
            return "/"
        slug = re.sub(r"[^a-z]+", "-", self._title(host, place).lower())
        return f"/{place.language}/{slug}-{place.number}.html"


@cache
def vocabulary(language: str) -> Vocabulary:
    """What the bundled web's prose says, the frequent first, and after it words coined from its letters."""
    prose = " ".join(article.version[language].text for article in _articles(language))
    counted = Counter(re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?", prose))
    words = [word for word, _ in counted.most_common() if word.islower()]
    dice = random.Random(language)
    following: dict[str, list[str]] = {}
    for word in words:
        spelt = f"^^{word}$"
        for at in range(2, len(spelt)):
            following.setdefault(spelt[at - 2 : at], []).append(spelt[at])
    known = set(words)
    while len(words) < VOCABULARY:
        coined = "^^"
        while not coined.endswith("$") and len(coined) < 16:
            coined += dice.choice(following[coined[-2:]])
        word = coined.strip("^$")
        if len(word) > 3 and word not in known:
            known.add(word)
            words.append(word)
    return Vocabulary(words, list(accumulate(1 / (rank + 2) for rank in range(len(words)))))


def translated_sentences() -> list[dict[str, str]]:
    """By language, where the paragraphs of the bundled web have as many sentences in each."""
    found = []
    for article in _articles(LANGUAGES[0]):
        versions = [
            article.version[language].text.splitlines() for language in LANGUAGES if language in article.version
        ]
        if len(versions) == len(LANGUAGES) and len({len(lines) for lines in versions}) == 1:
            for lines in zip(*versions, strict=True):
                split = [re.split(r"(?<=[.!?]) ", line) for line in lines if re.match(r"[^\W\d_].*[.!?]$", line)]
                if len(split) == len(LANGUAGES) and len({len(sentences) for sentences in split}) == 1:
                    found += [dict(zip(LANGUAGES, sentences, strict=True)) for sentences in zip(*split, strict=True)]
    return found


class _Writer:
    """One page, rendered; the same dice give the same page."""

    def __init__(self, web: Web, language: str, number: int, dice: random.Random) -> None:
        self._web, self._language, self._number, self._dice = web, language, number, dice
        self._article = web.article(language, number)
        self._words = vocabulary(language)

    def page(self) -> str:
        body = f"{self._header()}<div class=layout>{self._main()}{self._aside()}</div>{self._footer()}"
        return f'<!DOCTYPE html>\n<html lang="{self._language}">\n{self._head()}\n<body class="article">\n{body}</body>\n</html>\n'

    def _head(self) -> str:
        title, summary = self._article.title, self._sentence()
        alternates = "\n".join(
            f'<link rel="alternate" hreflang="{code}" href="{self._web.article(code, self._number).path}">'
            for code in LANGUAGES
        )
        about = json.dumps(
            {"@context": "https://schema.org", "@type": "NewsArticle", "headline": title, "inLanguage": self._language}
        )
        return f"""<head>
<meta charset="utf-8">
<title>{title} | The Bench</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="{summary}">
<meta name="keywords" content="{", ".join(self._choose(6))}">
<meta name="author" content="{self._name()}">
<meta property="og:title" content="{title}">
<meta property="og:type" content="article">
<meta property="og:image" content="{ASSETS}/img/{self._number}.jpg">
<meta property="article:published_time" content="{self._date()}T08:{self._dice.randint(10, 59)}:00Z">
<link rel="canonical" href="{self._article.path}">
{alternates}
<link rel="stylesheet" href="{ASSETS}/css/site.css">
<script>window.layer=window.layer||[];function track(){{layer.push(arguments)}}track('js',new Date());</script>
<script type="application/ld+json">{about}</script>
</head>"""

    def _header(self) -> str:
        home = self._web.article(self._language, 0)
        other = next(code for code in LANGUAGES if code != self._language)
        twin = self._web.article(other, self._number)
        sections = "".join(f"<li>{self._link(number)}</li>" for number in range(1, SECTIONS + 1))
        return (
            f'<header class="site-header"><a class="logo" href="{home.path}"><img src="{ASSETS}/logo.svg" alt="The Bench"></a>'
            f'<nav class="main-menu"><ul>{sections}</ul></nav><a class="lang" hreflang="{other}" href="{twin.path}">{other.upper()}</a></header>\n'
        )

    def _main(self) -> str:
        parts = [f'<p class="lead">{self._sentence()}</p>']
        for at in range(self._dice.randint(16, 24)):
            if at % 6 == 5:
                parts.append(f"<h2>{' '.join(self._choose(5)).capitalize()}</h2>")
            if at % 9 == 4:
                parts.append(self._figure())
            parts.append(f"<p>{self._paragraph()}</p>")
        items = "".join(f"<li>{self._sentence()}</li>" for _ in range(self._dice.randint(4, 7)))
        crumbs = f'<nav class="breadcrumbs">{self._link(0)} › {self._link(1 + self._number % SECTIONS)}</nav>'
        byline = (
            f'<p class="byline"><span>{self._name()}</span>, <time datetime="{self._date()}">{self._date()}</time></p>'
        )
        return (
            f"<main>{crumbs}<article><h1>{self._article.title}</h1>{byline}\n"
            + "\n".join(parts)
            + f"<ul>{items}</ul></article>{self._related()}</main>\n"
        )

    def _related(self) -> str:
        first = self._number * CHILDREN + 1
        numbers = range(first, min(first + CHILDREN, self._web.articles))
        cards = "".join(
            f'<div class="card"><h3>{self._link(number)}</h3><p>{self._sentence()}</p></div>\n' for number in numbers
        )
        return f'<section class="related">{cards}</section>'

    def _aside(self) -> str:
        lists = "".join(
            f'<div class="widget"><h4>{self._words.words[self._dice.randint(80, 900)]}</h4><ul>{self._known(11)}</ul></div>\n'
            for _ in range(3)
        )
        return f'<aside class="sidebar">{lists}</aside>'

    def _footer(self) -> str:
        elsewhere = "".join(
            f'<li><a href="https://www.{word}.example/" rel="noopener">{word}</a></li>'
            for word in ("forum", "shop", "jobs")
        )
        return f'<footer class="site-footer"><ul>{elsewhere}{self._known(3)}</ul><p>© The Bench. {self._sentence()}</p></footer>\n'

    def _paragraph(self) -> str:
        sentences = [self._sentence() for _ in range(self._dice.randint(2, 5))]
        if self._dice.random() < 0.6:
            sentences.insert(
                1, f"{self._words.words[self._dice.randint(80, 900)]} {self._link(self._seen())}.".capitalize()
            )
        return " ".join(sentences)

    def _sentence(self) -> str:
        words = self._choose(self._dice.randint(6, 20))
        if len(words) > 12:
            words[6] += ","
        return f"{' '.join(words).capitalize()}."

    def _figure(self) -> str:
        source = f"{ASSETS}/img/{self._number}-{self._dice.randint(1, 99)}.jpg"
        return f'<figure><img src="{source}" alt="{" ".join(self._choose(5))}" width="800" height="450"><figcaption>{self._sentence()}</figcaption></figure>'

    def _known(self, count: int) -> str:
        return "".join(f"<li>{self._link(self._seen())}</li>" for _ in range(count))

    def _seen(self) -> int:
        """An article that a crawler in breadth has met before this one, or at the same time."""
        return self._dice.randrange(min(self._number + 60, self._web.articles))

    def _link(self, number: int) -> str:
        path, title = self._web.article(self._language, min(number, self._web.articles - 1))
        return f'<a href="{path}">{title}</a>'

    def _choose(self, count: int) -> list[str]:
        return self._dice.choices(self._words.words, cum_weights=self._words.weights, k=count)

    def _name(self) -> str:
        return " ".join(word.capitalize() for word in self._dice.choices(self._words.words[4000:], k=2))

    def _date(self) -> str:
        return f"20{10 + self._number % 15}-{1 + self._number % 12:02}-{1 + self._number % 28:02}"


class Server(asyncio.Protocol):
    """As much of HTTP/1.1 as crawlers use."""

    def __init__(self, web: Served, seen: set[str], requests: list[int]) -> None:
        self._web, self._seen, self._requests, self._received = web, seen, requests, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        *heads, self._received = (self._received + data).split(b"\r\n\r\n")
        for head in heads:
            host = head.lower().partition(b"\r\nhost:")[2].split(b"\r\n", 1)[0].strip()
            self._transport.write(self.answer(host.decode(), head.split(b" ", 2)[1].decode()))  # type: ignore[attr-defined]

    def answer(self, host: str, path: str) -> bytes:
        if path == FORGET:
            self._seen.clear()
            self._requests[0] = 0
        if path in (FETCHED, FORGET):
            return response(json.dumps([len(self._seen), self._requests[0]]).encode(), "application/json")
        self._requests[0] += 1
        if path == "/robots.txt":
            return response(b"User-agent: *\nAllow: /\n", "text/plain")
        body = self._web.find(host, path)
        if body is None:
            return response(b"<!DOCTYPE html><title>404</title><p>There is no such page.", "text/html", "404 Not Found")
        self._seen.add(host + path)
        return response(body, "text/html; charset=utf-8")


def response(body: bytes, media_type: str, status: str = "200 OK") -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\nServer: bench\r\nDate: Tue, 03 Nov 2026 08:00:00 GMT\r\nContent-Type: {media_type}\r\n"
        f"Content-Length: {len(body)}\r\nCache-Control: max-age=600\r\nX-Content-Type-Options: nosniff\r\n\r\n"
    )
    return head.encode() + body


def _articles(language: str) -> Iterator:
    return (article for site in sites().values() for article in site.page if language in article.version)


def _get(url: str) -> bytes:
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url) as answer:
        return answer.read()


def prepared(pages: int) -> Web:
    """While nobody waits."""
    web = Web(pages)
    for number in range(min(web.articles, KEPT // len(LANGUAGES))):
        for language in LANGUAGES:
            web.page(language, number)
    return web


async def serve(web: Served) -> None:
    seen, requests = set[str](), [0]
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a connection for each host
    server = await asyncio.get_running_loop().create_server(
        lambda: Server(web, seen, requests), "127.0.0.1", 0, backlog=2000
    )
    port = server.sockets[0].getsockname()[1]
    print(f"http://127.0.0.1:{port}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    pages, links = map(int, sys.argv[1:])
    asyncio.run(serve(prepared(pages) if pages else ManyHosts(links)))
