"""What a page declares outside its text: metadata, what it asks of robots, and marks of machine translation.

`read_head` collects the declarations in one search over the document. The other functions read them.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

import msgspec
from selectolax.lexbor import LexborHTMLParser, LexborNode

from bitrawl.errors import UrlError
from bitrawl.model import Capture, Directive, Metadata
from bitrawl.url import Url

MAX_JSON = 512 * 1024  # Characters of one JSON-LD script. Longer ones are shop catalogues.
MAX_RECORDS = 2000  # JSON-LD records per page.

# Possessive quantifiers, because white space could be split in quadratically many ways.
_LINK_VALUE = re.compile(
    r'<([^<>]*+)>((?:\s*+;\s*+[\w!#$&+\-.^`|~*]++\s*+(?:=\s*+(?:"(?:[^"\\]|\\.)*+"|[^\s",;]*+))?+)*+)'
)
_LINK_PARAMETER = re.compile(r';\s*+([\w\-*]++)\s*+(?:=\s*+(?:"((?:[^"\\]|\\.)*+)"|([^\s",;]*+)))?')
_QUOTED_PAIR = re.compile(r"\\(.)")
_WRAPPED = re.compile(r"^\s*(?:<!--|/\*\s*<!\[CDATA\[\s*\*/|//\s*<!\[CDATA\[|<!\[CDATA\[)|(?://\s*)?(?:-->|\]\]>)\s*$")
# The usual URLs that lead to no page. An image within a page can be a megabyte long.
_FROM_ROOT = ("/", "http://", "https://")
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
_LANGUAGE_DATA = frozenset(("data-lang", "data-hreflang", "data-language", "data-locale", "data-href", "data-url"))


@dataclass(frozen=True, slots=True)
class Head:
    """Declarations in document order, wherever in the document they are."""

    url: Url
    base: Url  # what relative URLs are relative to
    language: str  # html lang
    metas: dict[str, list[str]]  # by name, property, itemprop or http-equiv in lower case; no empty ones
    links: tuple[Attributes, ...]  # link elements, then those of the HTTP header, which have "header" set
    relations: dict[str, list[Attributes]]  # those of the links that lead somewhere, by their relations in lower case
    records: tuple[dict[str, Any], ...]  # every object of every JSON-LD script
    scripts: tuple[str, ...] = ()  # URLs of scripts
    code: str = ""  # of scripts in the page
    marked: tuple[tuple[LexborNode, Attributes], ...] = ()
    """Selects, frames, and elements whose attributes may name a language, a licence or a translation service."""

    def first(self, *names: str) -> str:
        """The content of the first meta element that has any, in the order of the names."""
        return next((self.metas[name][0] for name in names if name in self.metas), "")

    def all(self, name: str) -> tuple[str, ...]:
        return tuple(self.metas.get(name, ()))

    def related(self, relation: str) -> list[Attributes]:
        return self.relations.get(relation, [])

    def resolve(self, raw: str) -> Url | None:
        """The URL that a browser would follow; None if it is not http(s)."""
        return resolve(raw, self.base)


def read_head(tree: LexborHTMLParser, capture: Capture) -> Head:
    elements: dict[str, list[tuple[LexborNode, Attributes]]] = {"meta": [], "link": [], "base": [], "script": []}
    marked: list[tuple[LexborNode, Attributes]] = []
    last = 0
    for node in tree.css(_SEARCHED):
        if node.mem_id == last:  # once for each part of the selector
            continue
        last = node.mem_id
        attributes = written(node.attributes)
        tag = node.tag or ""
        if tag in elements:
            elements[tag].append((node, attributes))
        if tag not in elements or not _LANGUAGE_DATA.isdisjoint(attributes):
            marked.append((node, attributes))
    bases = [attributes["href"] for _, attributes in elements["base"] if "href" in attributes]
    inline = [node for node, attributes in elements["script"] if not attributes.get("src") and _is_json_ld(attributes)]
    root = tree.css_first("html")
    declared = root.attributes if root is not None else {}
    links = (*(attributes for _, attributes in elements["link"]), *header_links(capture))
    return Head(
        capture.url,
        (resolve(bases[0], capture.url) if bases else None) or capture.url,
        (declared.get("lang") or declared.get("xml:lang") or "").strip()[:40],
        _metas(attributes for _, attributes in elements["meta"]),
        links,
        _relations(links),
        tuple(islice((record for node in inline for record in _records(node.text())), MAX_RECORDS)),
        tuple(source for _, attributes in elements["script"] if (source := attributes.get("src"))),
        "\n".join([node.text() for node, _ in elements["script"]]),
        tuple(marked),
    )


def written(attributes: dict[str, str | None]) -> Attributes:
    """An attribute without a value is empty. Few elements have one."""
    if not all(attributes.values()) and None in attributes.values():
        return {key: value or "" for key, value in attributes.items()}
    return attributes  # type: ignore[return-value]  # a call of `cast` takes as long as all the rest


def _is_json_ld(attributes: Attributes) -> bool:
    return attributes.get("type", "").strip().lower().startswith("application/ld+json")


def bare_head(capture: Capture) -> Head:
    """The head of a document without markup: what HTTP says."""
    links = tuple(header_links(capture))
    return Head(capture.url, capture.url, "", {}, links, _relations(links), ())


def header_links(capture: Capture) -> list[Attributes]:
    """The links of this page in the HTTP Link header (RFC 8288), in the form of link elements, marked by a key "header".

    A link with an `anchor` is one of another page, or of a part of this one, and is left out.
    """
    links = []
    for value in (value for key, value in capture.headers if key.lower() == "link"):
        for match in _LINK_VALUE.finditer(value[:65536]):
            link = {"href": match[1].strip(), "header": "1"}
            for name, quoted, bare in _LINK_PARAMETER.findall(match[2]):
                link.setdefault(name.lower(), _QUOTED_PAIR.sub(r"\1", quoted) or bare)
            anchor = link.get("anchor", "")
            if not anchor or resolve(anchor, capture.url) == capture.url:
                links.append(link)
    return links


def resolve(raw: str, base: Url) -> Url | None:
    """The URL that a browser would follow; None if it is not http(s)."""
    raw = raw.strip()
    # A URL that starts at the root is the same on all pages of a host, and most of a site's links are in its template.
    # So is an absolute one; "http-caching.html" is not absolute.
    if raw.startswith(_FROM_ROOT) or raw[:8].lower().startswith(_FROM_ROOT):
        return _resolve(raw, _root(base))
    if not raw or raw.startswith("#") or _NOT_WEB.match(raw):
        return None
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


def _metas(elements: Iterable[Attributes]) -> dict[str, list[str]]:
    metas: dict[str, list[str]] = {}
    for attributes in elements:
        if content := " ".join(attributes.get("content", "").split()):
            for key in ("name", "property", "itemprop", "http-equiv"):
                if name := attributes.get(key):
                    metas.setdefault(name.strip().lower(), []).append(content)
    return metas


def _relations(links: Iterable[Attributes]) -> dict[str, list[Attributes]]:
    relations: dict[str, list[Attributes]] = {}
    for link in links:
        if link.get("href"):
            for relation in dict.fromkeys(link.get("rel", "").lower().split()):
                relations.setdefault(relation, []).append(link)
    return relations


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


MAX_TEXT = 2000  # Characters of a description or a list of keywords that are kept.

_DATES = (
    *("article:published_time", "og:published_time", "datepublished", "dc.date.issued", "dcterms.issued"),
    *("dcterms.created", "dc.date.created", "dc.date", "dcterms.date", "citation_publication_date", "citation_date"),
    *("parsely-pub-date", "sailthru.date", "article.published", "publish-date", "publishdate", "publication_date"),
    *("pubdate", "date", "datecreated", "og:updated_time", "article:modified_time", "dcterms.modified"),
)
_ISO = re.compile(
    r"(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)?\s*(Z|[+-]\d{2}:?\d{2})?)?)?)?"
)
_YEAR_FIRST = re.compile(r"(\d{4})[/.]?(\d{2})[/.]?(\d{2})(?!\d)")
_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\d)")  # where dots are used, the day comes first
_CC = re.compile(r"https?://(?:www\.)?creativecommons\.org/(?:licenses|publicdomain)/", re.IGNORECASE)


def read_metadata(head: Head, tree: LexborHTMLParser, capture: Capture) -> Metadata:
    """Metadata as the page states it. If it states a thing twice, the more specific way wins."""
    return Metadata(
        description=head.first("description", "og:description", "twitter:description", "dc.description")[:MAX_TEXT],
        keywords=(head.first("keywords", "news_keywords") or ", ".join(head.all("article:tag")))[:MAX_TEXT],
        author=_author(head)[:MAX_TEXT],
        date=_date(head, tree),
        licence=_licence(head)[:MAX_TEXT],
        html_lang=head.language,
        content_language=(
            capture.header("content-language") or head.first("content-language", "language", "dc.language")
        )[:200],
        locale=head.first("og:locale"),
        other_locales=tuple(dict.fromkeys(head.all("og:locale:alternate"))),
    )


def canonical(head: Head) -> Url | None:
    """The URL that the page declares as its own. The first valid one counts."""
    return next((url for link in head.related("canonical") if (url := head.resolve(link["href"]))), None)


def iso_date(text: str) -> str:
    """ISO 8601 if the order of day and month is clear; otherwise the text as it is."""
    text = " ".join(text.split())[:100]
    if match := _ISO.fullmatch(text):
        day = "-".join(part for part in match.groups()[:3] if part)
        return f"{day}T{match[4]}{match[5] or ''}" if match[4] else day
    if match := _YEAR_FIRST.match(text):
        return _real(match[1], match[2], match[3]) or text
    if match := _DOTTED.match(text):
        return _real(match[3], match[2], match[1]) or text
    try:
        return parsedate_to_datetime(text).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return text


def _real(year: str, month: str, day: str) -> str:
    try:
        return datetime(int(year), int(month), int(day), tzinfo=UTC).date().isoformat()
    except ValueError:
        return ""


def _author(head: Head) -> str:
    author = head.first(
        "author", "article:author", "dc.creator", "dcterms.creator", "citation_author", "parsely-author"
    )
    if author and not author.startswith(("http://", "https://")):
        return author
    return _from_json_ld(head, "author", "creator") or author


def _date(head: Head, tree: LexborHTMLParser) -> str:
    date = head.first(*_DATES[:1]) or _from_json_ld(head, "datePublished") or head.first(*_DATES[1:])
    if not date:
        marked = tree.css_first("time[pubdate],time[itemprop=datePublished],[itemprop=datePublished][content]")
        node = marked or tree.css_first("article time[datetime],time[datetime]")
        if node is not None:
            date = node.attributes.get("datetime") or node.attributes.get("content") or node.text()
    return iso_date(date) if date else ""


def _licence(head: Head) -> str:
    for link in (*head.related("license"), *head.related("licence")):
        return str(head.resolve(link["href"]) or link["href"])
    if licence := head.first("dcterms.license", "dc.license") or _from_json_ld(head, "license"):
        return licence
    for node, attributes in head.marked:
        href = attributes.get("href", "")
        if node.tag == "a" and href and ("license" in attributes.get("rel", "").lower().split() or _CC.match(href)):
            return str(head.resolve(href) or href)
    return head.first("dcterms.rights", "dc.rights")


def _from_json_ld(head: Head, *keys: str) -> str:
    """The first text, or name or URL of an object, that JSON-LD has under one of the keys."""
    return next((text for key in keys for record in head.records if (text := _text(record.get(key)))), "")


def _text(value: Any) -> str:
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, dict):
        value = value.get("name") or value.get("url") or value.get("@id") or value.get("@value")
    return " ".join(value.split()) if isinstance(value, str) else ""


AGENT = "bitrawl"
"""The name that a directive uses to address this crawler."""

_MEANINGS = {
    "noindex": (Directive.NOINDEX,),
    "nofollow": (Directive.NOFOLLOW,),
    "none": (Directive.NOINDEX, Directive.NOFOLLOW),
    "noai": (Directive.NOAI,),
}
# Directives with a value of their own. Here the colon does not follow an agent's name.
_VALUED = frozenset(("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"))
_AGENT = re.compile(r"\s*([\w\-]+)\s*:\s*(.*)", re.DOTALL)


def directives(head: Head, capture: Capture) -> tuple[Directive, ...]:
    """Sorted by name. Whether to obey them is decided elsewhere."""
    headers = [(key.lower(), value) for key, value in capture.headers]
    result = {meaning for key, value in headers if key == "x-robots-tag" for meaning in _addressed(value)}
    result |= {meaning for name in ("robots", AGENT) for value in head.all(name) for meaning in _meanings(value)}
    reservations = [value.strip() for key, value in headers if key == Directive.TDM_RESERVATION]
    if "1" in (*reservations, *head.all(Directive.TDM_RESERVATION)):
        result.add(Directive.TDM_RESERVATION)
    return tuple(sorted(result))


def _addressed(value: str) -> set[Directive]:
    """The directives of one header line that apply to everybody or to us.

    An agent's name applies until the next one.
    """
    result: set[Directive] = set()
    agent = AGENT
    for part in value.split(","):
        directive = part
        match = _AGENT.fullmatch(part)
        if match and match[1].lower() not in _VALUED:
            agent, directive = match[1].lower(), match[2]
        if agent in (AGENT, "*"):
            result |= _meanings(directive)
    return result


def _meanings(content: str) -> set[Directive]:
    return {meaning for word in re.split(r"[\s,;]+", content.lower()) for meaning in _MEANINGS.get(word, ())}


# URLs under which translation services show other people's pages.
_PROXIES = (
    *(".translate.goog", "translate.googleusercontent.com", "translate.google.com", "translated.turbopages.org"),
    *("translate.yandex.net", "translatoruser-int.com", "translatetheweb.com", "microsofttranslator.com"),
)
# Traces in a document that went through Google Translate, in a browser or through its older proxy.
_TRACES = {
    "google-translate": 'html[class~="translated-ltr"],html[class~="translated-rtl"],body[class~="translated-ltr"],'
    'body[class~="translated-rtl"],span.google-src-text,font[style*="vertical-align: inherit"] > font',
    "machine-translated-from": '[rel~="machine-translated-from"]',
    "transposh": "span.tr_[data-source=auto],span.tr_[source='1']",
}
_TRACED = frozenset(("html", "body", "span", "font"))
# Services that publish a translated copy of each page under the site's own URLs. Their script is also on the original,
# so it counts only if the page is known not to be the original.
_COPIERS = "gtranslate weglot transposh bablic linguise conveythis autoglot localizejs clonable".split()
_ORIGINAL = re.compile(
    r"[\"']?(?:default_?language|original_?language|language_?from|source_?language)[\"']?"
    r"\s*[:=]\s*[\"']([a-z]{2,3})\b",
    re.IGNORECASE,
)


def machine_translation(head: Head, tree: LexborHTMLParser, html: str) -> tuple[str, ...]:
    """The marks found, sorted. Empty for a page that a person may have written."""
    traced = any(node.tag in _TRACED or "rel" in attributes for node, attributes in head.marked) or any(
        "machine-translated-from" in link.get("rel", "").lower() for link in head.links
    )
    marks = {name for name, selector in _TRACES.items() if traced and tree.css_first(selector) is not None}
    if (urlsplit(head.url).hostname or "").endswith(_PROXIES):
        marks.add("proxy")
    if head.first("translation-stats"):
        marks.add("translation-stats")
    if head.first("ms.translationtype").upper() == "MT" or head.first("x-translated-by"):
        marks.add("declared")
    if (copier := _copier(head)) and _is_copy(head, html):
        marks.add(copier)
    return tuple(sorted(marks))


def _copier(head: Head) -> str:
    """The service, if the URL of a script or style sheet, or a script itself, names it.

    The text of a page may just be about it.
    """
    addresses = " ".join((*head.scripts, *(link.get("href", "") for link in head.links))).lower()
    return next((name for name in _COPIERS if name in addresses or name in head.code), "")


def _is_copy(head: Head, html: str) -> bool:
    """Whether the page is not in the language that the service translates from, or its default version is elsewhere."""
    if (original := _ORIGINAL.search(html)) and head.language:
        return original[1].lower() != re.split(r"[-_]", head.language.lower())[0]
    defaults = [head.resolve(link["href"]) for link in head.related("alternate") if link.get("hreflang") == "x-default"]
    return bool(defaults) and head.url not in defaults
