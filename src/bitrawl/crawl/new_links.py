"""Which new links a visit brings: a page's, a sitemap's, the target of a redirect; and what a host is asked first."""

import hashlib
from collections.abc import Callable, Iterable, Iterator

import msgspec

from bitrawl.model import Directive, Link, LinkKind, Page, Reason, Sitemap, Skip, Stage
from bitrawl.url import Url

MAX_SITEMAP_DEPTH = 3  # judgement: sitemaps.org allows an index of sitemaps, not an index of indexes
MAX_SITEMAPS = 500  # files per site; judgement: at 50,000 URLs a file, more than a polite crawl visits in a year


class NewLinks:
    """Remembers the sitemaps that each site has named."""

    def __init__(self, site_of: Callable[[str], str], *, probe: bool, sitemaps: bool) -> None:
        self._site_of = site_of
        self._probe = probe
        self._sitemaps = sitemaps
        self._sitemaps_named: dict[str, set[Url]] = {}

    def found(self, link: Link, outcome: Page | Sitemap | Skip) -> list[Link]:
        """What the answer to that link leads to."""
        if isinstance(outcome, Page):
            return [_deeper(link, found) for found in _as_asked(outcome)]
        if isinstance(outcome, Sitemap):
            return [msgspec.structs.replace(found, source=link.url, depth=link.depth + 1) for found in outcome.links]
        if outcome.target is not None and link.kind is not LinkKind.PROBE:
            return [_redirected(link, outcome.target)]
        return []

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
