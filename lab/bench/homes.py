"""A web whose home pages say nothing of their sites: variants of a web with a directory page, made in memory.

The directory names sites by their addresses, and says nothing else of them. A home page is one of these, and what it was before is at another
address, one click away:

- plain: the home page as it is
- splash: a page for choosing a language, without text
- redirect: a redirect to a page in another language, which links to the language of the site
- shell: an empty page with one link
- foreign: a page in another language, with a menu of ten such pages and a link to the language of the site
- hidden: the same, and the link is a picture that says nothing
- other: a page in the language of the site about something else, with a menu of ten such pages and a link that says nothing
"""

import random
import re
from collections.abc import Mapping
from html import escape

import langcodes
import msgspec

from bitrawl.model import Capture, Language, Link, LinkKind, Page, Sitemap, Skip
from bitrawl.page.analyser import page_reader
from bitrawl.papers.replay import landed
from bitrawl.protocols import Analyser, Fetcher
from bitrawl.testing import InlineAnalyser
from bitrawl.url import Url

HOMES = ("plain", "splash", "redirect", "shell", "foreign", "hidden", "other")
MENU = 10  # pages in another language that a home page in another language links to
PARAGRAPHS = 12  # of such a page


class HomesWeb:
    """`Fetcher` and `Analyser` of the web, with other home pages."""

    def __init__(
        self, fetcher: Fetcher, analyser: Analyser, made: Mapping[Url, Capture], moved: Mapping[Url, Url]
    ) -> None:
        """`moved` are the home pages, and where each of them is now."""
        self._fetcher, self._analyser, self._made = fetcher, analyser, made
        self.moved = moved
        self.fetcher = self.analyser = self  # as `Replay` has them
        self._inline = InlineAnalyser(page_reader())
        self._read: dict[Url, Page | Sitemap | Skip] = {}

    async def fetch(self, link: Link) -> Capture | Skip:
        return self._made.get(link.url) or await self._fetcher.fetch(link)

    async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        if capture.url not in self._made:
            return await self._analyser.analyse(capture, index=index)
        if capture.url not in self._read:
            self._read[capture.url] = await self._inline.analyse(capture, index=index)
        return self._read[capture.url]


async def homes_web(
    fetcher: Fetcher, analyser: Analyser, directory: Url, pages: Mapping[Url, Page], kind: str
) -> HomesWeb:
    """`directory` links to the home pages; `pages` are those of the web, whose texts made-up pages have."""
    made: dict[Url, Capture] = {}
    moved: dict[Url, Url] = {}
    homes = {link.url: await landed(fetcher, link.url) for link in pages[directory].links}
    items = "".join(f'<li><a href="{escape(asked)}">{_site(home)}</a></li>' for asked, home in homes.items())
    made[directory] = _html(directory, f"<title>Sites</title><h1>Sites</h1><ul>{items}</ul>")
    for home in homes.values():
        old = await fetcher.fetch(Link(home, LinkKind.PAGE))
        if isinstance(old, Capture) and home in pages and kind != "plain":
            maker = _Home(old, pages, kind)
            made |= maker.made()
            moved[home] = maker.target
    return HomesWeb(fetcher, analyser, made, moved)


class _Home:
    """One home page, and what is there instead."""

    def __init__(self, old: Capture, pages: Mapping[Url, Page], kind: str) -> None:
        self._home = home = old.url
        self._pages, self._old = pages, old
        self._draw = random.Random(home)
        self._language = pages[home].language
        self._kind = kind
        self.target = self._at("main.html" if kind in ("shell", "hidden", "other") else f"{self._language}/start.html")

    def made(self) -> dict[Url, Capture]:
        """What is there instead, and the home page at its new address."""
        base = f'<base href="{escape(self._home)}">'.encode()
        body = re.sub(rb"(<head[^>]*>)", lambda found: found[1] + base, self._old.body, count=1, flags=re.IGNORECASE)
        answers = {self.target: msgspec.structs.replace(self._old, url=self.target, body=body)}
        makers = {"splash": self._splash, "redirect": self._redirect, "shell": self._shell}
        return answers | makers.get(self._kind, self._with_menu)()

    def _splash(self) -> dict[Url, Capture]:
        others = self._draw.sample(self._others(), 2)
        codes = sorted([self._language, *others])
        links = " ".join(
            f'<a href="{self._at(f"{code}/start.html")}">{langcodes.Language.get(code).autonym().title()}</a>'
            for code in codes
        )
        found = {self._home: _html(self._home, f"<title>{_site(self._home)}</title><div>{links}</div>")}
        return found | {page.url: page for code in others for page in [self._text(code, f"{code}/start.html", "")]}

    def _redirect(self) -> dict[Url, Capture]:
        other = self._draw.choice(self._others())
        url = self._at(f"{other}/start.html")
        header = (("location", str(url)),)
        return {
            self._home: Capture(self._home, 301, header, b"", 0.0),
            url: self._text(other, f"{other}/start.html", self._switcher()),
        }

    def _shell(self) -> dict[Url, Capture]:
        return {self._home: _html(self._home, f'<a href="{self.target}">enter</a>')}

    def _with_menu(self) -> dict[Url, Capture]:
        other = self._language if self._kind == "other" else self._draw.choice(self._others())
        names = [f"{other if self._kind == 'foreign' else 'pages'}/{number}.html" for number in range(MENU)]
        subpages = [self._text(other, name, f'<a href="{self._home}">{_site(self._home)}</a>') for name in names]
        titles = [self._title(other) for _ in names]
        menu = "".join(
            f'<li><a href="{page.url}">{escape(title)}</a></li>' for page, title in zip(subpages, titles, strict=True)
        )
        way = self._switcher() if self._kind == "foreign" else f'<a href="{self.target}"><img src="/in.png"></a>'
        home = self._text(other, "", f"<ul>{menu}</ul>{way}", url=self._home)
        return {page.url: page for page in [home, *subpages]}

    def _switcher(self) -> str:
        """Written as sites write it, in one of four ways."""
        code = self._language
        return self._draw.choice(
            [
                f'<a href="{self.target}">{langcodes.Language.get(code).autonym()}</a>',
                f'<a class="lang" href="{self.target}">{code.upper()}</a>',
                f'<link rel="alternate" hreflang="{code}" href="{self.target}">',
                f'<a href="{self.target}"><img src="/flags/{code}.png" alt="{langcodes.Language.get(code).display_name()}"></a>',
            ]
        )

    def _text(self, code: str, name: str, links: str, url: Url | None = None) -> Capture:
        """Of real pages in that language, of other hosts."""
        shown = self._draw.choice(self._in(code))
        main = [one.text for one in shown.paragraphs if not one.boilerplate]
        text = "".join(f"<p>{escape(one)}</p>" for one in main[:PARAGRAPHS])
        return _html(url or self._at(name), f"<title>{escape(shown.title)}</title>{links}<main>{text}</main>", code)

    def _title(self, code: str) -> str:
        return self._draw.choice(self._in(code)).title

    def _in(self, code: str) -> list[Page]:
        pages = [page for page in self._pages.values() if page.language == code and _has_text(page)]
        return [page for page in pages if page.url.host != self._home.host] or pages

    def _others(self) -> list[Language]:
        return sorted({page.language for page in self._pages.values() if len(page.language) == 2} - {self._language})

    def _at(self, name: str) -> Url:
        return Url.parse(name, base=self._home)


def _has_text(page: Page) -> bool:
    return sum(len(one.text) for one in page.paragraphs if not one.boilerplate) > 500


def _site(home: Url) -> str:
    return home.removeprefix("https://").removeprefix("www.").removesuffix("index.html").strip("/")


def _html(url: Url, markup: str, language: str = "") -> Capture:
    attribute = f' lang="{language}"' if language else ""
    body = f"<!doctype html><html{attribute}>{markup}</html>".encode()
    return Capture(url, 200, (("content-type", "text/html; charset=utf-8"),), body, 0.0, media_type="text/html")
