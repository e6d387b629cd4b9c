"""The publishers of the bundled web, as content/*.toml describes them, and their articles' markup as HTML."""

import html
import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from functools import cache
from importlib.resources import files

import msgspec
from markupsafe import Markup

from bitrawl.url import Url


class Declared(StrEnum):
    """Where a site declares its translations."""

    LINK = "link"  # link elements in the head
    HEADER = "header"  # the HTTP Link header
    SITEMAP = "sitemap"  # xhtml:link in the sitemap
    ANCHOR = "anchor"  # hreflang on the links of the switcher
    NONE = "none"


class SitemapKind(StrEnum):
    """Which sitemap a host has."""

    PLAIN = "plain"  # /sitemap.xml
    INDEX = "index"  # /sitemap_index.xml, one gzip file for each language
    NONE = "none"


class DemoWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words of a layout in one language."""

    language: str
    home: str
    next: str
    previous: str
    printable: str
    also: str
    search: str
    cookies: str
    top: str
    closed: str


class Edition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A site in one language: where its pages are, and what surrounds their text."""

    home: str
    page: str  # with a placeholder {slug}
    name: str
    tagline: str
    aside: str
    footer: str
    print: str = ""  # with a placeholder {slug}
    charset: str = ""  # the site's, if empty


class Version(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An article in one language."""

    title: str
    alt: str
    text: str  # paragraphs, "## headings", "- items" and [links](key), with blank lines between blocks
    slug: str = ""  # the article's key, if empty
    also: str = ""  # a second URL of the same page


class DemoArticle(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The same page in all languages in which it exists."""

    key: str
    image: str
    version: dict[str, Version]
    print: bool = False
    unlinked: bool = False  # only a sitemap lists it
    misdeclared: bool = False  # the home pages are declared as its translations
    untranslated: tuple[str, ...] = ()  # languages whose URL shows the English text


class DemoSite(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One publisher: a way of publishing translations, and the articles."""

    template: str
    declares: Declared
    sitemap: SitemapKind
    colour: str
    language: dict[str, Edition]
    page: tuple[DemoArticle, ...]
    robots: str | None = None  # None means that there is no robots.txt
    charset: str = "utf-8"
    html_lang: str = ""  # empty: the true language; "none": no attribute; a code: that code, true or not
    switcher: bool = False  # every page links to its translations; otherwise only the home pages do
    redirect: dict[str, str] = {}
    forbidden: dict[str, str] = {}  # linked from every page of the host, but disallowed in robots.txt

    def languages_of(self, article: DemoArticle) -> list[str]:
        """The marks under which an article exists, as a true translation or not, in the site's order."""
        return [code for code in self.language if code in article.version or code in article.untranslated]

    def version(self, article: DemoArticle, language: str) -> Version:
        """What that URL shows: for an untranslated page, the English text."""
        return article.version.get(language) or article.version["en"]

    def address(self, article: DemoArticle, language: str) -> Url:
        """The URL of an article under that language's mark."""
        edition = self.language[language]
        if article.key == "home":
            return Url.parse(edition.home)
        return Url.parse(edition.page.format(slug=self._slug(article, language)))

    def print_address(self, article: DemoArticle, language: str) -> Url:
        """The URL of its print version."""
        return Url.parse(self.language[language].print.format(slug=self._slug(article, language)))

    def _slug(self, article: DemoArticle, language: str) -> str:
        return self.version(article, language).slug or article.key

    def each(self) -> Iterator[tuple[DemoArticle, str]]:
        """Every article under every mark."""
        return ((article, code) for article in self.page for code in self.languages_of(article))


@cache
def sites() -> dict[str, DemoSite]:
    """All sites by the name of their file, the hub first."""
    names = sorted(
        (entry.name for entry in _FOLDER.iterdir() if entry.name.endswith(".toml") and entry.name != "words.toml"),
        key=lambda name: (name != "hub.toml", name),
    )
    return {name.removesuffix(".toml"): msgspec.toml.decode(_read(name), type=DemoSite) for name in names}


@cache
def words() -> dict[str, DemoWords]:
    """The words of the layouts, by language."""
    return msgspec.toml.decode(_read("words.toml"), type=dict[str, DemoWords])


def render(text: str, link: Callable[[str], str]) -> Markup:
    """An article as HTML. `link` returns the href for an article's key."""
    return Markup("\n".join(_block(block, link) for block in re.split(r"\n\s*\n", text.strip())))  # noqa: S704 (our own text)


_FOLDER = files("bitrawl.demo") / "content"
_LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


def _read(name: str) -> str:
    return (_FOLDER / name).read_text("utf-8")


def _block(block: str, link: Callable[[str], str]) -> str:
    if block.startswith("## "):
        return f"<h2>{html.escape(block[3:], quote=False)}</h2>"
    if block.startswith("- "):
        items = "".join(f"<li>{_inline(item[2:], link)}</li>\n" for item in block.split("\n"))
        return f"<ul>\n{items}</ul>"
    return f"<p>{_inline(block, link)}</p>"


def _inline(text: str, link: Callable[[str], str]) -> str:
    escaped = html.escape(text, quote=False)
    return _LINK.sub(lambda match: f'<a href="{html.escape(link(match[2]))}">{match[1]}</a>', escaped)
