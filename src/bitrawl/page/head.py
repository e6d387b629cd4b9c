"""What a document declares outside its text, collected once: metas, links, JSON-LD, base, HTTP links."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec
from selectolax.lexbor import LexborHTMLParser, LexborNode

from bitrawl.errors import UrlError
from bitrawl.model import Capture
from bitrawl.url import Url

# Judgements.
MAX_JSON = 512 * 1024  # Characters of one JSON-LD script. Longer ones are shop catalogues.
MAX_RECORDS = 2000  # JSON-LD records per page.

# Possessive quantifiers, because white space could be split in quadratically many ways.
_LINK_VALUE = re.compile(r'<([^<>]*+)>((?:\s*+;\s*+[\w!#$&+\-.^`|~*]++\s*+(?:=\s*+(?:"[^"]*+"|[^\s",;]*+))?+)*+)')
_LINK_PARAMETER = re.compile(r';\s*+([\w\-*]++)\s*+(?:=\s*+(?:"([^"]*+)"|([^\s",;]*+)))?')
_WRAPPED = re.compile(r"^\s*(?:<!--|/\*\s*<!\[CDATA\[\s*\*/|//\s*<!\[CDATA\[|<!\[CDATA\[)|(?://\s*)?(?:-->|\]\]>)\s*$")
# The usual URLs that lead to no page. An image within a page can be a megabyte long.
_NOT_WEB = re.compile(r"(?:data|javascript|mailto|tel|blob|about):", re.IGNORECASE)

Attributes = dict[str, str]

# Everything that the modules of this folder look for anywhere in a document, in one search: each search is a walk over
# the whole tree, and eleven of them took 1.2 ms on an average page of trafilatura's.
_SEARCHED = (
    "meta,link,base,script,select,iframe[src],frame[src],"
    "[data-lang],[data-hreflang],[data-language],[data-locale],[data-href][lang],[data-url][lang],"
    'a[rel~="license"][href],a[href*="creativecommons.org/"],[rel~="machine-translated-from"],'
    "html[class*=translated-],body[class*=translated-],span.google-src-text,span.tr_,font > font"
)
_DECLARING = frozenset(("meta", "link", "base", "script"))
_LANGUAGE_DATA = frozenset(("data-lang", "data-hreflang", "data-language", "data-locale", "data-href", "data-url"))


@dataclass(frozen=True, slots=True)
class Head:
    """Declarations in document order, wherever in the document they are."""

    url: Url
    base: Url  # what relative URLs are relative to
    language: str  # html lang
    metas: tuple[tuple[str, str], ...]  # name, property, itemprop or http-equiv in lower case; content
    links: tuple[Attributes, ...]  # link elements, then those of the HTTP header, which have "header" set
    records: tuple[dict[str, Any], ...]  # every object of every JSON-LD script
    scripts: tuple[str, ...]  # URLs of scripts
    marked: tuple[tuple[LexborNode, Attributes], ...] = ()
    """Selects, frames, and elements whose attributes may name a language, a licence or a translation service."""

    def first(self, *names: str) -> str:
        """The content of the first meta element that has any, in the order of the names."""
        for name in names:
            for key, content in self.metas:
                if key == name and content:
                    return content
        return ""

    def all(self, name: str) -> tuple[str, ...]:
        """The contents of every meta element of that name."""
        return tuple(content for key, content in self.metas if key == name and content)

    def related(self, relation: str) -> list[Attributes]:
        """Links of that relation that have a target."""
        return [link for link in self.links if relation in link.get("rel", "").lower().split() and link.get("href")]

    def resolve(self, raw: str) -> Url | None:
        """The URL that a browser would follow; None if it is not http(s)."""
        return resolve(raw, self.base)


def read_head(tree: LexborHTMLParser, capture: Capture) -> Head:
    metas: list[tuple[str, str]] = []
    links: list[Attributes] = []
    records: list[dict[str, Any]] = []
    scripts: list[str] = []
    marked: list[tuple[LexborNode, Attributes]] = []
    base = capture.url
    seen_base = False
    last = 0
    for node in tree.css(_SEARCHED):
        if node.mem_id == last:  # once for each part of the selector
            continue
        last = node.mem_id
        attributes = {key.lower(): value or "" for key, value in node.attributes.items()}
        tag = node.tag or ""
        if tag not in _DECLARING or not _LANGUAGE_DATA.isdisjoint(attributes):
            marked.append((node, attributes))
        if tag == "meta":
            metas.extend(_meta(attributes))
        elif tag == "link":
            links.append(attributes)
        elif tag == "script":
            if source := attributes.get("src"):
                scripts.append(source)
            elif attributes.get("type", "").strip().lower().startswith("application/ld+json"):
                records.extend(_records(node.text()))
        elif tag == "base" and not seen_base and "href" in attributes:
            seen_base = True
            base = resolve(attributes["href"], base) or base
    links.extend(header_links(capture))
    root = tree.css_first("html")
    declared = root.attributes if root is not None else {}
    language = declared.get("lang") or declared.get("xml:lang") or ""
    return Head(
        capture.url,
        base,
        language.strip()[:40],
        tuple(metas),
        tuple(links),
        tuple(records[:MAX_RECORDS]),
        tuple(scripts),
        tuple(marked),
    )


def bare_head(capture: Capture) -> Head:
    """The head of a document without markup: what HTTP says."""
    return Head(capture.url, capture.url, "", (), tuple(header_links(capture)), (), ())


def header_links(capture: Capture) -> list[Attributes]:
    """The HTTP Link header (RFC 8288) in the form of link elements, marked by a key "header"."""
    found = []
    for value in (value for key, value in capture.headers if key.lower() == "link"):
        for match in _LINK_VALUE.finditer(value[:65536]):
            link = {"href": match[1].strip(), "header": "1"}
            for name, quoted, bare in _LINK_PARAMETER.findall(match[2]):
                link.setdefault(name.lower(), quoted or bare)
            found.append(link)
    return found


def resolve(raw: str, base: Url) -> Url | None:
    """The URL that a browser would follow; None if it is not http(s)."""
    raw = raw.strip()
    if not raw or raw.startswith("#") or _NOT_WEB.match(raw):
        return None
    # A URL that starts at the root is the same on all pages of a host, and most of a site's links are in its template.
    # So is an absolute one; "http-caching.html" is not absolute.
    if raw.startswith("/") or raw[:8].lower().startswith(("http://", "https://")):
        return _resolve(raw, _root(base))
    return _resolve.__wrapped__(raw, base)


@lru_cache(maxsize=64)
def _root(base: Url) -> Url:
    return Url.known(base.origin + "/")


@lru_cache(maxsize=16384)
def _resolve(raw: str, base: Url) -> Url | None:
    try:
        return Url.parse(raw, base=base)
    except UrlError:
        return None


def _meta(attributes: Attributes) -> Iterator[tuple[str, str]]:
    content = " ".join(attributes.get("content", "").split())
    for key in ("name", "property", "itemprop", "http-equiv"):
        if name := attributes.get(key):
            yield name.strip().lower(), content


def _records(text: str) -> Iterator[dict[str, Any]]:
    """Every object of the script, including nested ones. Nothing if it is not JSON."""
    if len(text) > MAX_JSON:
        return
    try:
        stack = [msgspec.json.decode(_WRAPPED.sub("", text))]
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            yield value
            stack.extend(reversed(value.values()))
        elif isinstance(value, list):
            stack.extend(reversed(value))
