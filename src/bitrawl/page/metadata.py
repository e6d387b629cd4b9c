"""What a page says about itself: description, author, date, licence, languages."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from bitrawl.model import Capture, Metadata
from bitrawl.page.head import Head
from bitrawl.url import Url

MAX_TEXT = 2000  # Characters of a description or a list of keywords that are kept; judgement.

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
    for link in head.related("canonical"):
        if url := head.resolve(link["href"]):
            return url
    return None


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
    said = head.first("author", "article:author", "dc.creator", "dcterms.creator", "citation_author", "parsely-author")
    if said and not said.startswith(("http://", "https://")):
        return said
    return _said(head, "author", "creator") or said


def _date(head: Head, tree: LexborHTMLParser) -> str:
    said = head.first(*_DATES[:1]) or _said(head, "datePublished") or head.first(*_DATES[1:])
    if not said:
        marked = tree.css_first("time[pubdate],time[itemprop=datePublished],[itemprop=datePublished][content]")
        node = marked or tree.css_first("article time[datetime],time[datetime]")
        if node is not None:
            said = node.attributes.get("datetime") or node.attributes.get("content") or node.text()
    return iso_date(said) if said else ""


def _licence(head: Head) -> str:
    for link in (*head.related("license"), *head.related("licence")):
        return str(head.resolve(link["href"]) or link["href"])
    if said := head.first("dcterms.license", "dc.license") or _said(head, "license"):
        return said
    for node, attributes in head.marked:
        href = attributes.get("href", "")
        if node.tag == "a" and href and ("license" in attributes.get("rel", "").lower().split() or _CC.match(href)):
            return str(head.resolve(href) or href)
    return head.first("dcterms.rights", "dc.rights")


def _said(head: Head, *keys: str) -> str:
    """The first text, or name or URL of an object, that JSON-LD has under one of the keys."""
    for key in keys:
        for record in head.records:
            if text := _text(record.get(key)):
                return text
    return ""


def _text(value: Any) -> str:
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, dict):
        value = value.get("name") or value.get("url") or value.get("@id") or value.get("@value")
    return " ".join(value.split()) if isinstance(value, str) else ""
