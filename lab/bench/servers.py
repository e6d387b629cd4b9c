"""A web of analysed pages in memory, on servers of our choosing: parts of a bilingual site become sites of their own."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

import msgspec

from bitrawl.errors import UrlError
from bitrawl.model import Capture, Link, Page, Skip
from bitrawl.papers.replay import landed
from bitrawl.protocols import Fetcher
from bitrawl.reasons import Reason, Stage
from bitrawl.url import Url

ServerOf = Callable[[Url], str | None]
"""From an archived page to the host that serves it now; None for a page that is not served."""


class PagedWeb:
    """Fetches and analyses at once: `Fetcher` and `Analyser`. A page that is not there is not archived."""

    def __init__(self, pages: Iterable[Page]) -> None:
        self.pages = {page.url: page for page in pages}

    async def fetch(self, link: Link) -> Capture | Skip:
        if link.url not in self.pages:
            return Skip(link.url, Stage.FETCH, Reason.NOT_ARCHIVED)
        return Capture(link.url, 200, (), b"", 0.0, media_type="text/html")

    async def analyse(self, capture: Capture, *, index: bool = False) -> Page:  # noqa: ARG002
        return self.pages[capture.url]


class Without:
    """A web without some of its pages."""

    def __init__(self, inner: Fetcher, missing: frozenset[Url]) -> None:
        self._inner, self._missing = inner, missing

    async def fetch(self, link: Link) -> Capture | Skip:
        if link.url in self._missing:
            return Skip(link.url, Stage.FETCH, Reason.NOT_ARCHIVED)
        return await self._inner.fetch(link)


async def redirects(fetcher: Fetcher, pages: Sequence[Page]) -> dict[Url, Url]:
    """Where the links of the pages lead that name no page themselves."""
    known = {page.url for page in pages}
    asked = {link.url for page in pages for link in page.links} - known
    return {url: there for url in sorted(asked) if (there := await landed(fetcher, url)) in known}


def moved(pages: Iterable[Page], server_of: ServerOf, leads_to: Mapping[Url, Url], *, linked: bool) -> PagedWeb:
    """The pages on their servers. With `linked`, links between the servers remain; links to other pages never do."""

    def target(url: Url, source: str) -> Url | None:
        there = leads_to.get(url, url)
        server = server_of(there)
        return on_server(there, server) if server and (linked or server == source) else None

    made = []
    for page in pages:
        server = server_of(page.url)
        if server is None:
            continue
        url = on_server(page.url, server)
        links = tuple(
            msgspec.structs.replace(link, url=there, source=url)
            for link in page.links
            if (there := target(link.url, server))
        )
        alternates = tuple(
            msgspec.structs.replace(one, url=there) for one in page.alternates if (there := target(one.url, server))
        )
        made.append(msgspec.structs.replace(page, url=url, links=links, alternates=alternates))
    return PagedWeb(made)


def on_server(url: Url, server: str) -> Url:
    """The same path on that host."""
    with suppress(UrlError):
        return Url.parse(url.replace(url.host, server, 1))
    return url
