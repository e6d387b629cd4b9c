"""Marks of machine translation: that this page is one, not that its site offers some."""

import re
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser

from bitrawl.page.head import Head

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
_COPIERS = (
    "gtranslate",
    "weglot",
    "transposh",
    "bablic",
    "linguise",
    "conveythis",
    "autoglot",
    "localizejs",
    "clonable",
)
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
    found = {name for name, selector in _TRACES.items() if traced and tree.css_first(selector) is not None}
    host = urlsplit(head.url).hostname or ""
    if host.endswith(_PROXIES):
        found.add("proxy")
    if head.first("translation-stats"):
        found.add("translation-stats")
    if head.first("ms.translationtype").upper() == "MT" or head.first("x-translated-by"):
        found.add("declared")
    if (copier := _copier(head, tree)) and _is_copy(head, html):
        found.add(copier)
    return tuple(sorted(found))


def _copier(head: Head, tree: LexborHTMLParser) -> str:
    """The service, if the URL of a script or style sheet, or a script itself, names it.

    The text of a page may just be about it.
    """
    addresses = " ".join((*head.scripts, *(link.get("href", "") for link in head.links))).lower()
    for name in _COPIERS:
        if name in addresses or tree.scripts_contain(name):
            return name
    return ""


def _is_copy(head: Head, html: str) -> bool:
    """Whether the page is not in the language that the service translates from, or its default version is elsewhere."""
    if (original := _ORIGINAL.search(html)) and head.language:
        return original[1].lower() != re.split(r"[-_]", head.language.lower())[0]
    defaults = [head.resolve(link["href"]) for link in head.related("alternate") if link.get("hreflang") == "x-default"]
    return bool(defaults) and head.url not in defaults
