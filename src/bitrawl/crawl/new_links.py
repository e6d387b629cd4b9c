"""Which new links a visit brings: a page's, a sitemap's, the target of a redirect; and what a host is asked first."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from zlib import crc32

import msgspec

from bitrawl.model import Directive, Link, LinkKind, Page, Reason, SiteKnowledge, Sitemap, Skip, Stage
from bitrawl.url import Url

MAX_SITEMAP_DEPTH = 3  # judgement: sitemaps.org allows an index of sitemaps, not an index of indexes
MAX_SITEMAPS = 500  # files per site; judgement: at 50,000 URLs a file, more than a polite crawl visits in a year
FIRST_SITEMAPS = 10  # files that a site is asked for, whatever they list; judgement
# A further file costs as much as a page. It is read if each file so far listed five pages that the job may visit. Judgement:
# the sitemaps of a newspaper, one for each day, are read, and those that repeat each other are not.
A_FILE = 5
ENOUGH = A_FILE * (MAX_SITEMAPS - FIRST_SITEMAPS)  # addresses: with so many, all files are read


class NewLinks:
    """Remembers the sitemaps that each site has named."""

    def __init__(self, site_of: Callable[[str], str], *, probe: bool, sitemaps: bool) -> None:
        self._site_of = site_of
        self._probe = probe
        self._sitemaps = sitemaps
        self._sitemaps_named: dict[str, set[Url]] = {}
        self._listed: dict[str, set[int]] = {}  # by site, the addresses in sitemaps that were named, by a checksum

    def found(self, link: Link, outcome: Page | Sitemap | Skip) -> list[Link]:
        """What the answer to that link leads to."""
        if isinstance(outcome, Page):
            return [_deeper(link, found) for found in _as_asked(outcome)]
        if isinstance(outcome, Sitemap):
            listed = [msgspec.structs.replace(found, source=link.url, depth=link.depth + 1) for found in outcome.links]
            return spread(listed)
        if outcome.target is not None and link.kind is not LinkKind.PROBE:
            return [_redirected(link, outcome.target)]
        return []

    def after(self, known: SiteKnowledge, link: Link, sitemap: Sitemap) -> SiteKnowledge:
        """What is known of the site after that part of a sitemap. The same part must not be told twice."""
        if not link.is_named_sitemap or known.listed >= ENOUGH:
            self._listed.pop(known.site, None)
            return known
        listed = self._listed.setdefault(known.site, set())
        before = len(listed)
        listed.update(crc32(found.url.encode()) for found in sitemap.links if found.kind is not LinkKind.INDEX)
        return msgspec.structs.replace(known, listed=known.listed + len(listed) - before)

    def first_asked(self, url: Url) -> Iterator[Link]:
        """What a host is asked before anything else: a page that cannot exist, and the sitemap."""
        if self._probe:
            name = hashlib.blake2b(url.host.encode(), digest_size=8).hexdigest()
            yield Link(Url.parse(f"{url.origin}/bitrawl-asks-for-a-missing-page-{name}"), LinkKind.PROBE)
        if self._sitemaps:
            yield Link(Url.parse(f"{url.origin}/sitemap.xml"), LinkKind.INDEX)

    def refusal(self, link: Link) -> Skip | None:
        """Why a sitemap is not read; None for all other links."""
        if link.kind is not LinkKind.INDEX:
            return None
        if link.depth > MAX_SITEMAP_DEPTH:
            return Skip(link.url, Stage.SCOPE, Reason.DEPTH, f"a sitemap more than {MAX_SITEMAP_DEPTH} sitemaps deep")
        named = self._sitemaps_named.setdefault(self._site_of(link.url.host), set())
        if len(named) >= MAX_SITEMAPS and link.url not in named:
            return Skip(link.url, Stage.SCOPE, Reason.TRAP, f"more than {MAX_SITEMAPS} sitemaps of the site")
        named.add(link.url)
        return None


def sitemaps_allowed(listed: int, pages: int | None = None) -> int:
    """How many named sitemaps of a site are read that have listed so many addresses; `pages` is the budget of the job."""
    return FIRST_SITEMAPS + (listed if pages is None else min(listed, pages)) // A_FILE


def spread(links: list[Link]) -> list[Link]:
    """The same links; if many are sitemaps, in an order of which any beginning is spread over the list.

    The files of one language or one year stand together, and maybe only some are read.
    """
    if sum(link.kind is LinkKind.INDEX for link in links) <= FIRST_SITEMAPS:
        return links
    bits = len(links).bit_length()
    return [links[place] for place in sorted(range(len(links)), key=lambda place: int(f"{place:0{bits}b}"[::-1], 2))]


def _as_asked(page: Page) -> Iterable[Link]:
    """The page's links, none of which is to be followed if the page says so."""
    if Directive.NOFOLLOW not in page.directives:
        return page.links
    return (msgspec.structs.replace(link, rel=f"{link.rel} {Directive.NOFOLLOW}".strip()) for link in page.links)


def _redirected(link: Link, target: Url) -> Link:
    """All that was known of the old address is known of the new one."""
    kind = link.kind if link.kind is LinkKind.INDEX else LinkKind.REDIRECT
    return msgspec.structs.replace(link, url=target, kind=kind, source=link.url, redirects=link.redirects + 1)


def _deeper(source: Link, found: Link) -> Link:
    """A translation is as deep as its original; every other link is one step further."""
    step = 0 if found.kind is LinkKind.ALTERNATE else 1
    return msgspec.structs.replace(found, depth=source.depth + step)
