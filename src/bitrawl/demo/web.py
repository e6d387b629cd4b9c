"""The bundled web: every URL and its answer, and the true pairs, which are known because we made them."""

import gzip
import html
from collections.abc import Iterable
from functools import cache
from itertools import combinations
from typing import NamedTuple

import msgspec

from bitrawl.demo.content import Declared, DemoArticle, DemoSite, SitemapKind, render, sites, words
from bitrawl.demo.layouts import LAYOUTS, DemoAnchor, View, printed
from bitrawl.model import Language
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
    pages: dict[
        Url, Language
    ]  # every page that a well-behaved crawler reaches from the seeds; the language of its text
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
    for site in sites().values():
        for article, code in site.each():
            for url, document in _renderings(site, article, code).items():
                documents[url] = document
                pages[url] = _language_of(article, code)
            duplicates |= _duplicates(site, article, code)
        documents |= _around(site)
    every = sites().values()
    return Web(
        documents=documents,
        pages=pages,
        truth=tuple(pair for site in every for article in site.page for pair in _pairs(site, article)),
        duplicates=duplicates,
        forbidden=frozenset(Url.parse(url) for site in every for url in site.forbidden),
        seeds=tuple(start for site in every for start in _start_pages(site)),
    )


def _language_of(article: DemoArticle, code: str) -> Language:
    return Language(code if code in article.version else "en")


def _pairs(site: DemoSite, article: DemoArticle) -> Iterable[TruePair]:
    for a, b in combinations(sorted(article.version), 2):
        yield TruePair(site.address(article, a), site.address(article, b), Language(a), Language(b))


def _duplicates(site: DemoSite, article: DemoArticle, code: str) -> dict[Url, Url]:
    original = site.address(article, code)
    found = {}
    if code not in article.version:
        found[original] = site.address(article, "en")
    elif article.version[code].also:
        found[Url.parse(article.version[code].also)] = original
    if article.print:
        found[site.print_address(article, code)] = original
    return found


def _start_pages(site: DemoSite) -> list[Url]:
    """One per host: where a visitor arrives who knows only the host's name."""
    doors: dict[str, Url] = {}
    home = site.page[0]
    for code in site.language:
        also = site.version(home, code).also
        door = Url.parse(also) if also else site.address(home, code)
        doors.setdefault(door.host, door)
    return list((doors | {Url.parse(url).host: Url.parse(url) for url in site.redirect}).values())


# One page


def _renderings(site: DemoSite, article: DemoArticle, code: str) -> dict[Url, DemoDocument]:
    """The page, and the same page again under its second URL and as a print version."""
    view = _view(site, article, code)
    url = site.address(article, code)
    layout = LAYOUTS[site.template]
    made = {url: _document(site, article, code, layout(view))}
    also = site.version(article, code).also
    if also:
        made[Url.parse(also)] = made[url]
    if article.print:
        made[site.print_address(article, code)] = _document(site, article, code, printed(view))
    return made


def _document(site: DemoSite, article: DemoArticle, code: str, text: str) -> DemoDocument:
    charset = site.charset_of(code)
    # The Chinese pages of the tea garden state their charset only in the page.
    media_type = "text/html" if site.language[code].charset else f"text/html; charset={charset}"
    headers: tuple[tuple[str, str], ...] = (("Content-Language", code),) if site.template == "portal" else ()
    if site.declares is Declared.HEADER:
        value = ", ".join(
            f'<{url}>; rel="alternate"; hreflang="{lang}"' for lang, url in _declared(site, article, code)
        )
        headers += (("Link", value),)
    return DemoDocument(text.encode(charset), media_type, headers=headers)


def _view(site: DemoSite, article: DemoArticle, code: str) -> View:
    here = site.address(article, code)
    version, edition = site.version(article, code), site.language[code]
    by_key = {each.key: each for each in site.page}
    row = [each for each in site.page if code in site.languages_of(each) and not each.unlinked]
    at = row.index(article) if article in row else 0

    def to(other: DemoArticle) -> DemoAnchor:
        return DemoAnchor(_href(site.address(other, code), here), site.version(other, code).title)

    printable = site.print_address(article, code) if article.print else None
    return View(
        edition=edition,
        words=words()[code],
        language=code,
        html_lang=_html_lang(site, code),
        colour=site.colour,
        title=version.title,
        body=render(version.text, lambda key: _href(site.address(by_key[key], code), here)),
        image=f"/images/{article.image}.svg",
        alt=version.alt,
        head=_head(site, article, code),
        home=DemoAnchor(_href(site.address(site.page[0], code), here), edition.name),
        canonical=here,
        menu=(*map(to, row[1:]), *_seconds(site, article, code), *_hosts(site, article, code)),
        switch=_switch(site, article, code),
        previous=to(row[at - 1]) if at > 0 else None,
        next=to(row[at + 1]) if at + 1 < len(row) else None,
        printable=DemoAnchor(_href(printable, here), words()[code].printable) if printable else None,
        closed=_closed(site, here, code),
    )


def _html_lang(site: DemoSite, code: str) -> str:
    said = site.html_lang or code
    return "" if said == "none" else f' lang="{said}"'


def _head(site: DemoSite, article: DemoArticle, code: str) -> str:
    charset = site.charset_of(code)
    old = site.template in ("table", "newspaper")
    meta = (
        f'<meta http-equiv="Content-Type" content="text/html; charset={charset}">'
        if old
        else f'<meta charset="{charset}">'
    )
    links = ""
    if site.declares is Declared.LINK:
        links = "".join(
            f'<link rel="alternate" hreflang="{lang}" href="{html.escape(url)}">\n'
            for lang, url in _declared(site, article, code)
        )
    return f"{meta}\n{links}"


def _declared(site: DemoSite, article: DemoArticle, code: str) -> list[tuple[str, Url]]:
    """Languages and URLs as the site declares them, which is not always right."""
    declared = []
    for lang in site.languages_of(article):
        wrong = article.misdeclared and lang != code
        declared.append((lang, site.address(site.page[0] if wrong else article, lang)))
    if site.template == "wordpress":
        declared.append(("x-default", declared[0][1]))
    return declared


def _hosts(site: DemoSite, article: DemoArticle, code: str) -> tuple[DemoAnchor, ...]:
    """On the hub: the start pages of each site, and the home pages of its other languages."""
    if site.template != "hub":
        return ()
    here = site.address(article, code)
    anchors: dict[Url, str] = {}
    for other in sites().values():
        if other is not site:
            first, *rest = other.language
            anchors |= dict.fromkeys(_start_pages(other), other.language[first].name)
            anchors |= {other.address(other.page[0], lang): other.language[lang].name for lang in rest}
    return tuple(DemoAnchor(_href(url, here), name) for url, name in anchors.items())


def _seconds(site: DemoSite, article: DemoArticle, code: str) -> tuple[DemoAnchor, ...]:
    """From the home page, the second URLs of other pages."""
    if article is not site.page[0]:
        return ()
    here = site.address(article, code)
    versions = (site.version(each, code) for each in site.page[1:] if code in each.version)
    return tuple(DemoAnchor(_href(Url.parse(each.also), here), each.title) for each in versions if each.also)


def _switch(site: DemoSite, article: DemoArticle, code: str) -> tuple[DemoAnchor, ...]:
    if not site.switcher and article is not site.page[0]:
        return ()
    here = site.address(article, code)
    return tuple(
        DemoAnchor(
            _href(site.address(article, lang), here), words()[lang].language, lang, site.declares is Declared.ANCHOR
        )
        for lang in site.languages_of(article)
        if lang != code
    )


def _closed(site: DemoSite, here: Url, code: str) -> DemoAnchor | None:
    urls = (Url.parse(url) for url in site.forbidden)
    url = next((each for each in urls if each.host == here.host), None)
    return DemoAnchor(_href(url, here), words()[code].closed) if url else None


def _href(url: Url, here: Url) -> str:
    """Absolute for another host.

    On the same host, relative for flat sites (all files in one folder), else from the root.
    """
    if url.host != here.host:
        return url
    path = url.path + (f"?{url.query}" if url.query else "")
    return (
        path[1:] or "./" if path.endswith((".html", ".htm")) and path.count("/") == here.path.count("/") == 1 else path
    )


# What a host has besides its pages


def _around(site: DemoSite) -> dict[Url, DemoDocument]:
    hosts = dict.fromkeys(site.address(site.page[0], code).origin for code in site.language)
    made: dict[Url, DemoDocument] = {}
    for origin in hosts:
        if site.robots is not None:
            made[Url.parse(f"{origin}/robots.txt")] = DemoDocument(
                site.robots.lstrip().encode(), "text/plain; charset=utf-8"
            )
        for article in site.page:
            made[Url.parse(f"{origin}/images/{article.image}.svg")] = _picture(article.image, site.colour)
        made |= _sitemaps(site, origin)
    for url, target in site.redirect.items():
        made[Url.parse(url)] = DemoDocument(b"", "text/plain", 302, (("Location", target),))
    for url, text in site.forbidden.items():
        made[Url.parse(url)] = DemoDocument(
            f"<!DOCTYPE html><title>403</title><p>{html.escape(text)}</p>".encode(), "text/html; charset=utf-8"
        )
    return made


def _picture(name: str, colour: str) -> DemoDocument:
    drawn = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="480" height="200"><rect width="480" height="200" fill="{colour}"/>'
        f'<text x="240" y="110" fill="#fff" font-size="28" text-anchor="middle">{name}</text></svg>'
    )
    return DemoDocument(drawn.encode(), "image/svg+xml")


def _sitemaps(site: DemoSite, origin: str) -> dict[Url, DemoDocument]:
    listed = [(article, code) for article, code in site.each() if site.address(article, code).origin == origin]
    if site.sitemap is SitemapKind.PLAIN:
        return {Url.parse(f"{origin}/sitemap.xml"): DemoDocument(_urlset(site, listed), "application/xml")}
    if site.sitemap is SitemapKind.NONE:
        return {}
    made: dict[Url, DemoDocument] = {}
    for code in site.language:
        packed = gzip.compress(_urlset(site, [each for each in listed if each[1] == code]), mtime=0)
        made[Url.parse(f"{origin}/sitemaps/{code}.xml.gz")] = DemoDocument(packed, "application/x-gzip")
    files = "".join(f"<sitemap><loc>{url}</loc></sitemap>\n" for url in made)
    index = f'{_XML}<sitemapindex xmlns="{_SITEMAP}">\n{files}</sitemapindex>\n'
    return made | {Url.parse(f"{origin}/sitemap_index.xml"): DemoDocument(index.encode(), "application/xml")}


_XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
_SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"


def _urlset(site: DemoSite, listed: list[tuple[DemoArticle, str]]) -> bytes:
    entries = []
    for article, code in listed:
        alternates = ""
        if site.declares is Declared.SITEMAP:
            alternates = "".join(
                f'<xhtml:link rel="alternate" hreflang="{lang}" href="{html.escape(url)}"/>'
                for lang, url in _declared(site, article, code)
            )
        entries.append(f"<url><loc>{html.escape(site.address(article, code))}</loc>{alternates}</url>\n")
    head = f'<urlset xmlns="{_SITEMAP}" xmlns:xhtml="http://www.w3.org/1999/xhtml">'
    return f"{_XML}{head}\n{''.join(entries)}</urlset>\n".encode()
