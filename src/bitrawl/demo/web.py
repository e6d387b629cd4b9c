"""The bundled web: every URL and its answer, and the true pairs, which are known because we made them."""

import contextlib
import gzip
import html
import re
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple

import msgspec
from aiohttp import web as http

from bitrawl.demo.sites import Declared, DemoArticle, DemoSite, Edition, SitemapKind, Version, render, sites, words
from bitrawl.errors import UrlError
from bitrawl.model import Language
from bitrawl.show import new_environment
from bitrawl.url import Url


class TruePair(NamedTuple):
    """Two pages that are translations of each other. The languages are in alphabetical order."""

    url_a: Url
    url_b: Url
    lang_a: Language
    lang_b: Language


class DemoDocument(msgspec.Struct, frozen=True):
    """The answer of a URL."""

    body: bytes
    type: str
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


class Web(msgspec.Struct, frozen=True):
    documents: dict[Url, DemoDocument]  # pages, robots.txt, sitemaps, images, redirects
    pages: dict[Url, Language]  # every page that a well-behaved crawler reaches, and the language of its text
    truth: tuple[TruePair, ...]
    duplicates: dict[Url, Url]  # print versions, second URLs and untranslated pages, each with the page that it repeats
    forbidden: frozenset[Url]  # linked, but disallowed in robots.txt
    seeds: tuple[Url, ...]  # the hub first, then the start page of every host

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hub's host comes first."""
        return tuple(dict.fromkeys(seed.host for seed in self.seeds))


@cache
def bundled() -> Web:
    """Rendered once: about two hundred small documents."""
    documents: dict[Url, DemoDocument] = {}
    pages: dict[Url, Language] = {}
    duplicates: dict[Url, Url] = {}
    every = sites().values()
    for site in every:
        for page in _pages(site):
            answers = page.answers()
            documents |= answers
            pages |= dict.fromkeys(answers, Language(page.code if page.translated else "en"))
            duplicates |= page.duplicates()
        documents |= _around(site)
    return Web(
        documents=documents,
        pages=pages,
        truth=tuple(pair for site in every for article in site.page for pair in _pairs(site, article)),
        duplicates=duplicates,
        forbidden=frozenset(Url.parse(url) for site in every for url in site.forbidden),
        seeds=tuple(start for site in every for start in _start_pages(site)),
    )


class _Anchor(NamedTuple):
    """A link on a page."""

    href: str
    text: str
    language: str = ""  # of the target, if the link is in the switcher
    declared: bool = False  # with an hreflang attribute


class _DemoPage(NamedTuple):
    """An article of a site under one language's mark."""

    site: DemoSite
    article: DemoArticle
    code: str

    @property
    def url(self) -> Url:
        return self.site.address(self.article, self.code)

    @property
    def version(self) -> Version:
        return self.site.version(self.article, self.code)

    @property
    def edition(self) -> Edition:
        return self.site.language[self.code]

    @property
    def translated(self) -> bool:
        return self.code in self.article.version

    @property
    def is_home(self) -> bool:
        return self.article is self.site.page[0]

    @property
    def charset(self) -> str:
        return self.edition.charset or self.site.charset

    def answers(self) -> dict[Url, DemoDocument]:
        """The page, and the same page again under its second URL and as a print version."""
        values = self._values()
        answers = {self.url: self._document(self.site.template, values)}
        if self.version.also:
            answers[Url.parse(self.version.also)] = answers[self.url]
        if self.article.print:
            answers[self.site.print_address(self.article, self.code)] = self._document("print", values)
        return answers

    def duplicates(self) -> dict[Url, Url]:
        originals = {}
        if not self.translated:
            originals[self.url] = self.site.address(self.article, "en")
        elif self.version.also:
            originals[Url.parse(self.version.also)] = self.url
        if self.article.print:
            originals[self.site.print_address(self.article, self.code)] = self.url
        return originals

    def declared(self) -> list[tuple[str, Url]]:
        """Languages and URLs as the site declares them, which is not always right."""
        declared = []
        for lang in self.site.languages_of(self.article):
            wrong = self.article.misdeclared and lang != self.code
            declared.append((lang, self.site.address(self.site.page[0] if wrong else self.article, lang)))
        if self.site.template == "wordpress":
            declared.append(("x-default", declared[0][1]))
        return declared

    def _document(self, layout: str, values: dict[str, Any]) -> DemoDocument:
        # The Chinese pages of the tea garden state their charset only in the page.
        media_type = "text/html" if self.edition.charset else f"text/html; charset={self.charset}"
        headers: tuple[tuple[str, str], ...] = ()
        if self.site.template == "portal":
            headers += (("Content-Language", self.code),)
        if self.site.declares is Declared.HEADER:
            links = (f'<{url}>; rel="alternate"; hreflang="{lang}"' for lang, url in self.declared())
            headers += (("Link", ", ".join(links)),)
        return DemoDocument(_rendered(f"{layout}.html", **values).encode(self.charset), media_type, headers=headers)

    def _values(self) -> dict[str, Any]:
        """What the layouts show."""
        site, code = self.site, self.code
        by_key = {article.key: article for article in site.page}
        row = [article for article in site.page if code in site.languages_of(article) and not article.unlinked]
        at = row.index(self.article) if self.article in row else 0
        printable = site.print_address(self.article, code) if self.article.print else None
        return {
            "site": site,
            "edition": self.edition,
            "version": self.version,
            "words": words()[code],
            "html_lang": "" if site.html_lang == "none" else site.html_lang or code,
            "charset": self.charset,
            "alternates": self.declared() if site.declares is Declared.LINK else (),
            "canonical": self.url,
            "body": render(self.version.text, lambda key: self._href(site.address(by_key[key], code))),
            "image": self.article.image,
            "home": self._anchor(site.address(site.page[0], code), self.edition.name),
            "menu": [*map(self._to, row[1:]), *self._second_urls(), *self._hosts()],
            "switch": self._switch(),
            "previous": self._to(row[at - 1]) if at > 0 else None,
            "next": self._to(row[at + 1]) if at + 1 < len(row) else None,
            "printable": printable and self._anchor(printable, words()[code].printable),
            "closed": self._closed(),
        }

    def _hosts(self) -> Iterator[_Anchor]:
        """On the hub: the start pages of each site, and the home pages of its other languages."""
        others = sites().values() if self.site.template == "hub" else ()
        anchors: dict[Url, str] = {}
        for other in others:
            if other is not self.site:
                first, *rest = other.language
                anchors |= dict.fromkeys(_start_pages(other), other.language[first].name)
                anchors |= {other.address(other.page[0], lang): other.language[lang].name for lang in rest}
        return (self._anchor(url, name) for url, name in anchors.items())

    def _second_urls(self) -> Iterator[_Anchor]:
        """From the home page, the second URLs of other pages."""
        articles = self.site.page[1:] if self.is_home else ()
        versions = (article.version[self.code] for article in articles if self.code in article.version)
        return (self._anchor(Url.parse(version.also), version.title) for version in versions if version.also)

    def _switch(self) -> list[_Anchor]:
        """The links to the page's translations."""
        languages = self.site.languages_of(self.article) if self.site.switcher or self.is_home else []
        declared = self.site.declares is Declared.ANCHOR
        return [
            _Anchor(self._href(self.site.address(self.article, lang)), words()[lang].language, lang, declared)
            for lang in languages
            if lang != self.code
        ]

    def _closed(self) -> _Anchor | None:
        """The link to what robots.txt forbids on this host."""
        urls = (Url.parse(url) for url in self.site.forbidden)
        closed = next((url for url in urls if url.host == self.url.host), None)
        return self._anchor(closed, words()[self.code].closed) if closed else None

    def _to(self, article: DemoArticle) -> _Anchor:
        return self._anchor(self.site.address(article, self.code), self.site.version(article, self.code).title)

    def _anchor(self, url: Url, text: str) -> _Anchor:
        return _Anchor(self._href(url), text)

    def _href(self, url: Url) -> str:
        """Absolute for another host. On the same one relative for flat sites, whose files are in one folder, else from the root."""
        if url.host != self.url.host:
            return url
        path = url.path + (f"?{url.query}" if url.query else "")
        flat = path.endswith((".html", ".htm")) and path.count("/") == self.url.path.count("/") == 1
        return path[1:] if flat else path


def _pages(site: DemoSite) -> list[_DemoPage]:
    return [_DemoPage(site, article, code) for article, code in site.each()]


def _pairs(site: DemoSite, article: DemoArticle) -> Iterable[TruePair]:
    for a, b in combinations(sorted(article.version), 2):
        yield TruePair(site.address(article, a), site.address(article, b), Language(a), Language(b))


def _start_pages(site: DemoSite) -> list[Url]:
    """One per host: where a visitor arrives who knows only the host's name."""
    doors: dict[str, Url] = {}
    home = site.page[0]
    for code in site.language:
        also = site.version(home, code).also
        door = Url.parse(also) if also else site.address(home, code)
        doors.setdefault(door.host, door)
    return list((doors | {Url.parse(url).host: Url.parse(url) for url in site.redirect}).values())


# What a host has besides its pages


def _around(site: DemoSite) -> dict[Url, DemoDocument]:
    answers: dict[str, DemoDocument] = {}
    for origin in dict.fromkeys(site.address(site.page[0], code).origin for code in site.language):
        if site.robots is not None:
            robots = site.robots.lstrip().encode()
            answers[f"{origin}/robots.txt"] = DemoDocument(robots, "text/plain; charset=utf-8")
        for article in site.page:
            image = _rendered("image.svg", name=article.image, colour=site.colour).rstrip().encode()
            answers[f"{origin}/images/{article.image}.svg"] = DemoDocument(image, "image/svg+xml")
        answers |= _sitemaps(site, origin)
    for url, target in site.redirect.items():
        answers[url] = DemoDocument(b"", "text/plain", 302, (("Location", target),))
    for url, text in site.forbidden.items():
        body = f"<!DOCTYPE html><title>403</title><p>{html.escape(text)}</p>".encode()
        answers[url] = DemoDocument(body, "text/html; charset=utf-8")
    return {Url.parse(url): answer for url, answer in answers.items()}


def _sitemaps(site: DemoSite, origin: str) -> dict[str, DemoDocument]:
    pages = [page for page in _pages(site) if page.url.origin == origin]
    if site.sitemap is SitemapKind.PLAIN:
        return {f"{origin}/sitemap.xml": DemoDocument(_sitemap(pages), "application/xml")}
    if site.sitemap is SitemapKind.NONE:
        return {}
    answers: dict[str, DemoDocument] = {}
    for code in site.language:
        packed = gzip.compress(_sitemap(page for page in pages if page.code == code), mtime=0)
        answers[f"{origin}/sitemaps/{code}.xml.gz"] = DemoDocument(packed, "application/x-gzip")
    index = _rendered("sitemap_index.xml", sitemaps=list(answers)).encode()
    return answers | {f"{origin}/sitemap_index.xml": DemoDocument(index, "application/xml")}


def _sitemap(pages: Iterable[_DemoPage]) -> bytes:
    rows = [(page.url, page.declared() if page.site.declares is Declared.SITEMAP else ()) for page in pages]
    return _rendered("sitemap.xml", pages=rows).encode()


def _rendered(template: str, **values: Any) -> str:
    return _environment().get_template(template).render(values) + "\n"


_environment = cache(lambda: new_environment("bitrawl.demo"))


LOOPBACK = "127.0.0.1"
# Browsers resolve *.localhost by themselves: http://www.saltholm.test.localhost:8080/ needs no set-up.
_BROWSER = ".localhost"
_HOST = re.compile(rb"http://([a-z0-9.-]+\.test)(?=/)")
_MISSING = DemoDocument(b"<!DOCTYPE html><title>404</title><p>There is no such page.</p>", "text/html", 404)


class DemoVisit(msgspec.Struct, frozen=True):
    """One request as it was received."""

    url: str
    method: str
    headers: tuple[tuple[str, str], ...]
    at: float  # time.monotonic()


class Served(msgspec.Struct):
    """The web while it is being served."""

    web: Web
    port: int
    visits: list[DemoVisit]  # in order, including robots.txt

    @property
    def proxy(self) -> str:
        """For `--proxy` and `http_proxy`."""
        return f"http://{LOOPBACK}:{self.port}"


@contextlib.asynccontextmanager
async def serve(port: int = 0) -> AsyncIterator[Served]:
    """Serve until the context ends. Port 0 takes a free one."""
    served = Served(bundled(), port, [])

    async def answer(request: http.BaseRequest) -> http.StreamResponse:
        return _answer(served, request)

    runner = http.ServerRunner(http.Server(answer), shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = http.TCPSite(runner, LOOPBACK, port)
        await site.start()
        served.port = runner.addresses[0][1]
        yield served
    finally:
        await runner.cleanup()


def _answer(served: Served, request: http.BaseRequest) -> http.StreamResponse:
    host = request.headers.get("Host", "").partition(":")[0].lower()
    in_browser = host.endswith(_BROWSER)
    if host in (LOOPBACK, "localhost") and request.raw_path.startswith("/"):
        raise http.HTTPFound(f"http://{served.web.hosts[0]}{_BROWSER}:{served.port}/")
    # A proxy request is in absolute form, with the host in the request line.
    raw = (
        f"http://{host.removesuffix(_BROWSER)}{request.raw_path}"
        if request.raw_path.startswith("/")
        else request.raw_path
    )
    served.visits.append(DemoVisit(raw, request.method, tuple(request.headers.items()), time.monotonic()))
    document = _find(served.web, raw)
    body = document.body
    if in_browser and document.type.startswith("text/html"):
        body = _HOST.sub(rb"http://\1%b:%d" % (_BROWSER.encode(), served.port), body)
    response = http.Response(
        body=body, status=document.status, headers=[*document.headers, ("Content-Type", document.type)]
    )
    if document.type.startswith("text/"):
        response.enable_compression()
    return response


def _find(web: Web, raw: str) -> DemoDocument:
    try:
        return web.documents.get(Url.parse(raw), _MISSING)
    except UrlError:
        return _MISSING
