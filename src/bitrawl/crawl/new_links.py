"""Which new links a visit brings: a page's, a sitemap's, the target of a redirect; and what a host is asked first."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import suppress

import msgspec

from bitrawl.errors import UrlError
from bitrawl.model import Directive, Link, LinkKind, Page, Reason, Sitemap, Skip
from bitrawl.url import Url

MAX_SITEMAP_DEPTH = 3  # judgement: sitemaps.org allows an index of sitemaps, not an index of indexes
MAX_SITEMAPS = 500  # files per site; judgement: at 50,000 URLs a file, more than a polite crawl visits in a year


class NewLinks:
    """Remembers how many sitemaps each site has named."""

    def __init__(self, site_of: Callable[[str], str], *, probe: bool, sitemaps: bool) -> None:
        self._site_of = site_of
        self._probe = probe
        self._sitemaps = sitemaps
        self._sitemaps_named: dict[str, int] = {}

    def found(self, link: Link, outcome: Page | Sitemap | Skip) -> list[Link]:
        """What the answer to that link leads to."""
        if isinstance(outcome, Page):
            return [] if Directive.NOFOLLOW in outcome.directives else [_deeper(link, found) for found in outcome.links]
        if isinstance(outcome, Sitemap):
            return list(self._listed(link, outcome))
        if outcome.reason is Reason.REDIRECT and link.kind is not LinkKind.PROBE:
            with suppress(UrlError):  # it leads nowhere, and the detail says why
                return [_redirected(link, Url.parse(outcome.detail))]
        return []

    def first_asked(self, url: Url) -> Iterator[Link]:
        """What a host is asked before anything else: a page that cannot exist, and the sitemap."""
        if self._probe:
            name = hashlib.blake2b(url.host.encode(), digest_size=8).hexdigest()
            yield Link(Url.parse(f"{url.origin}/bitrawl-asks-for-a-missing-page-{name}"), LinkKind.PROBE)
        if self._sitemaps:
            yield Link(Url.parse(f"{url.origin}/sitemap.xml"), LinkKind.INDEX)

    def _listed(self, link: Link, sitemap: Sitemap) -> Iterator[Link]:
        site = self._site_of(link.url.host)
        for found in sitemap.links:
            if found.kind is LinkKind.INDEX:
                self._sitemaps_named[site] = self._sitemaps_named.get(site, 0) + 1
                if link.depth + 1 > MAX_SITEMAP_DEPTH or self._sitemaps_named[site] > MAX_SITEMAPS:
                    continue
            yield msgspec.structs.replace(found, source=link.url, depth=link.depth + 1)


def _redirected(link: Link, target: Url) -> Link:
    """All that was known of the old address is known of the new one."""
    kind = link.kind if link.kind is LinkKind.INDEX else LinkKind.REDIRECT
    return msgspec.structs.replace(link, url=target, kind=kind, source=link.url, redirects=link.redirects + 1)


def _deeper(source: Link, found: Link) -> Link:
    """A translation is as deep as its original; every other link is one step further."""
    step = 0 if found.kind is LinkKind.ALTERNATE else 1
    return msgspec.structs.replace(found, depth=source.depth + step)
