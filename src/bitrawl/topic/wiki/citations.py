"""External links of articles as seeds: which sites a subject's articles cite, and how many of them do."""

import re
from collections import Counter
from collections.abc import Iterable

import msgspec

from bitrawl.errors import UrlError
from bitrawl.url import Url

# Wikimedia's own projects: "links to URLs outside wikipedia.org" (Papavassiliou, section 4), and its sisters.
_WIKIMEDIA = frozenset(
    {"wikipedia.org", "wikimedia.org", "wikidata.org", "wiktionary.org", "wikisource.org", "wikiquote.org", "wikinews.org",
     "wikibooks.org", "wikiversity.org", "wikivoyage.org", "wikispecies.org", "mediawiki.org", "toolforge.org", "wmflabs.org"}
)  # fmt: skip
# What articles on any subject cite: resolvers of identifiers, catalogues, archives, shops for books and social networks.
# Judgement, from the references that Wikipedia's citation templates and authority control write.
_ANY_SUBJECT = frozenset(
    {"doi.org", "handle.net", "worldcat.org", "viaf.org", "isni.org", "orcid.org", "loc.gov", "d-nb.info", "bnf.fr", "idref.fr",
     "ndl.go.jp", "nkp.cz", "nli.org.il", "jstor.org", "semanticscholar.org", "crossref.org", "arxiv.org", "issn.org",
     "archive.org", "archive.today", "archive.is", "archive.ph", "archive-it.org", "webcitation.org", "ghostarchive.org",
     "books.google.com", "google.com", "amazon.com", "openlibrary.org", "goodreads.com", "geonames.org", "geohack.org",
     "youtube.com", "youtu.be", "facebook.com", "twitter.com", "x.com", "instagram.com", "linkedin.com", "flickr.com",
     "openstreetmap.org", "imdb.com", "musicbrainz.org", "quora.com", "reddit.com", "pinterest.com", "t.me", "bit.ly"}
)  # fmt: skip
_ARCHIVED = re.compile(r"https?://web\.archive\.org/web/[^/]+/(.+)", re.IGNORECASE)


class CitedSite(msgspec.Struct, frozen=True):
    """A site outside the wiki, and where its pages are cited."""

    site: str
    articles: int  # that cite any of its pages
    urls: tuple[Url, ...]  # the pages cited most come first


class Citations(msgspec.Struct, frozen=True):
    sites: tuple[CitedSite, ...]  # those that most articles cite come first
    any_subject: int = 0  # links to sites that articles on any subject cite: left out


def cited_sites(links: Iterable[tuple[str, str]], own: Iterable[Url]) -> Citations:
    """From pairs of an article and a link on it. `own` are addresses of the wiki itself, whose sites are left out."""
    wiki = {url.site for url in own} | _WIKIMEDIA
    articles: dict[str, set[str]] = {}
    pages: dict[str, Counter[Url]] = {}
    left_out = 0
    for article, raw in dict.fromkeys(links):
        url = _outside(raw)
        if url is None or url.site in wiki:
            continue
        if url.site in _ANY_SUBJECT:
            left_out += 1
            continue
        articles.setdefault(url.site, set()).add(article)
        pages.setdefault(url.site, Counter())[url] += 1
    ranked = sorted(articles, key=lambda site: (-len(articles[site]), site))
    return Citations(tuple(CitedSite(site, len(articles[site]), _most_cited(pages[site])) for site in ranked), left_out)


def _outside(raw: str) -> Url | None:
    """The address on the web; None for mail, news, and what is no address. An archived page counts as the page."""
    raw = f"https:{raw}" if raw.startswith("//") else raw
    archived = _ARCHIVED.fullmatch(raw)
    if archived:
        raw = archived[1] if "://" in archived[1] else f"http://{archived[1]}"
    try:
        return Url.parse(raw)
    except UrlError:
        return None


def _most_cited(pages: Counter[Url]) -> tuple[Url, ...]:
    return tuple(sorted(pages, key=lambda url: (-pages[url], url)))
