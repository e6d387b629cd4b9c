"""Which pages make one site: a registrable domain, or several whose pages declare each other translations."""

from collections import defaultdict
from collections.abc import Callable, Iterable

from bitrawl.model import Page
from bitrawl.url import Url


def joined_sites(pages: Iterable[Page], site_of: Callable[[Url], str] = lambda url: url.site) -> dict[str, str]:
    """For each site the one that stands for it: two whose pages declare each other are one.

    One-way declarations join nothing: anybody can declare anything.
    """
    declared: set[tuple[str, str]] = set()
    found: dict[str, str] = {}
    for page in pages:
        own = site_of(page.url)
        found[own] = own
        declared.update((own, site_of(alternate.url)) for alternate in page.alternates)
    for a, b in sorted(declared):
        if a < b and (b, a) in declared and a in found and b in found:
            found[_root(found, b)] = _root(found, a)
    return {site: _root(found, site) for site in found}


def by_site(pages: Iterable[Page], site_of: Callable[[Url], str] = lambda url: url.site) -> dict[str, list[Page]]:
    """The pages of each site, joined where they declare it."""
    kept = list(pages)
    joined = joined_sites(kept, site_of)
    groups: dict[str, list[Page]] = defaultdict(list)
    for page in kept:
        groups[joined[site_of(page.url)]].append(page)
    return dict(groups)


def _root(found: dict[str, str], site: str) -> str:
    while found[site] != site:
        site = found[site]
    return site
