"""What a page asks for while a browser draws it: which requests are answered, and with what.

The browser itself reaches no network. Each of its requests comes here, and what is needed to draw text is fetched as pages
are: by the same fetcher, with the same address guard, proxy and User-Agent, after robots.txt, and within limits.
"""

import asyncio
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple
from weakref import WeakValueDictionary

import msgspec

from bitrawl.bodies import HTML, JSON, MIB, TEXT, XML
from bitrawl.crawling.fetch import FetchSettings
from bitrawl.errors import UrlError
from bitrawl.model import MAX_REDIRECTS, Capture, Link, LinkKind, Skip
from bitrawl.protocols import Fetcher
from bitrawl.url import Url

# Judgement, all of these.
MAX_REQUESTS = 200  # of one page that are answered
MAX_BYTES = 20 * MIB  # that one page may fetch
MAX_CACHED = 64 * MIB  # of scripts that are kept for the next pages of the run

SCRIPTS = frozenset(
    (
        "text/javascript",
        "application/javascript",
        "application/x-javascript",
        "text/ecmascript",
        "application/ecmascript",
    )
)
_DATA = "ld+json hal+json vnd.api+json problem+json geo+json manifest+json graphql-response+json rss+xml atom+xml"
RESOURCE_TYPES = SCRIPTS | {
    *(HTML, TEXT, XML, JSON, "text/xml", "text/json", "text/x-component", "text/markdown", "text/csv"),
    *(f"application/{name}" for name in _DATA.split()),
}
"""What is fetched for a browser: scripts, and the data that they draw."""
_FETCHED = frozenset(("script", "fetch", "xhr"))  # Playwright's names
_UNSTYLED = "stylesheet"

_SCRIPT_TAG = re.compile(rb"<(?:script|link)\b([^<>]{1,2000})>", re.IGNORECASE)
_ADDRESS = re.compile(rb"""\b(?:src|href)\s{0,9}=\s{0,9}["']?([^"'\s<>]{1,2000})""", re.IGNORECASE)
_LATER = re.compile(rb"\basync\b", re.IGNORECASE)
_MODULE = re.compile(rb"""\b(?:type|rel)\s{0,9}=\s{0,9}["']?module""", re.IGNORECASE)
_MOST_TAGS = 500
_CLOSED_TREE = re.compile(rb"""(<template\b[^<>]{0,500}\bshadowrootmode\s{0,9}=\s{0,9}["']?)closed""", re.IGNORECASE)


class Resource(NamedTuple):
    """What the browser gets."""

    status: int
    media_type: str
    body: bytes


_NO_STYLE = Resource(200, "text/css", b"")
_STAY = Resource(204, TEXT, b"")  # A refusal would show an error page in the place of the document.


class Resources:
    """Fetches for all pages of a run. Scripts that many pages load are fetched once."""

    def __init__(
        self, fetcher: Fetcher, refusal: Callable[[Url], Awaitable[Skip | None]], site_of: Callable[[str], str]
    ) -> None:
        """`refusal` says why robots.txt forbids a URL; None if it does not."""
        self._fetcher = fetcher
        self._refusal = refusal
        self.site_of = site_of
        self._scripts: OrderedDict[Url, Capture] = OrderedDict()
        self._cached = 0
        self._locks: WeakValueDictionary[Url, asyncio.Lock] = WeakValueDictionary()

    @staticmethod
    def fetching(settings: FetchSettings, tabs: int) -> FetchSettings:
        """As pages are fetched, but for what the pages of so many tabs load."""
        return msgspec.structs.replace(settings, media_types=RESOURCE_TYPES, accept="*/*", connections=6 * tabs)

    async def fetch(self, url: Url, source: Url, *, is_script: bool) -> Capture | Skip:
        """One hop. An answer that costs no request has no payload."""
        lock = self._locks.setdefault(url, asyncio.Lock())
        async with lock:
            if is_script and (cached := self._scripts.get(url)) is not None:
                self._scripts.move_to_end(url)
                return cached
            refusal = await self._refusal(url)
            if refusal is not None:
                return refusal
            answer = await self._fetcher.fetch(Link(url, LinkKind.PAGE, source))
            if is_script and isinstance(answer, Capture):
                self._remember(url, msgspec.structs.replace(answer, payload=b"", request=b""))
            return answer

    def _remember(self, url: Url, script: Capture) -> None:
        self._scripts[url] = script
        self._cached += len(script.body)
        while self._cached > MAX_CACHED:
            _, oldest = self._scripts.popitem(last=False)
            self._cached -= len(oldest.body)


class PageRequests:
    """The requests of one page, from the first to the last.

    The page itself is answered with what was fetched before. Scripts and data are fetched by GET, from the page's own
    site and from the origins of scripts that the page names without `async`: frameworks are loaded so, and trackers are
    not. Stylesheets are answered with nothing, since some scripts wait for them. All else is refused: images, media, fonts,
    frames (which the crawl visits as pages), other documents, beacons, forms, sockets.
    """

    def __init__(self, page: Capture, resources: Resources) -> None:
        self._page = page
        self._resources = resources
        self._site = resources.site_of(page.url.host)
        self._origins = named_origins(page)
        self.pending = 0  # requests that the browser waits for
        self.bytes = 0
        self.refused = 0  # requests by POST for data of the page's own: they may ask for more than an answer
        self.begin()

    def begin(self) -> None:
        """Before the first request, and before the first of another try."""
        self._served = False
        self._answered = self.refused = 0

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """While the browser waits for an answer."""
        self.pending += 1
        try:
            yield
        finally:
            self.pending -= 1

    async def answer(self, address: str, kind: str, method: str = "GET") -> Resource | None:
        """None if the request is refused. `kind` is what Playwright calls it."""
        if kind == "document":
            return self._document()
        if kind == _UNSTYLED:
            return _NO_STYLE
        if kind not in _FETCHED or self._answered >= MAX_REQUESTS or self.bytes >= MAX_BYTES:
            return None
        try:
            url = Url.parse(address)
            if method != "GET":
                self.refused += method == "POST" and self._is_needed(url)
                return None
            self._answered += 1
            return await self._fetched(url, is_script=kind == "script")
        except UrlError:
            return None

    def _document(self) -> Resource:
        """The page, once: a script that leads elsewhere and a frame get nothing."""
        if self._served:
            return _STAY
        self._served = True
        return Resource(self._page.status, _with_charset(self._page), _CLOSED_TREE.sub(rb"\1open", self._page.body))

    async def _fetched(self, url: Url, *, is_script: bool) -> Resource | None:
        for _ in range(1 + MAX_REDIRECTS):
            if not self._is_needed(url):
                return None
            answer = await self._resources.fetch(url, self._page.url, is_script=is_script)
            if isinstance(answer, Skip):
                return Resource(answer.status, TEXT, b"") if answer.status else None
            self.bytes += len(answer.payload)
            if not 300 <= answer.status < 400:
                return Resource(answer.status, answer.header("content-type"), answer.body)
            url = answer.redirect_target()
        return None

    def _is_needed(self, url: Url) -> bool:
        return self._resources.site_of(url.host) == self._site or url.origin in self._origins


def _with_charset(page: Capture) -> str:
    """The type of a page. Where it says nothing of a charset, Chromium would not take UTF-8 for what it is."""
    declared = page.header("content-type") or HTML
    if "charset" in declared.lower():
        return declared
    try:
        page.body.decode()
    except UnicodeDecodeError:
        return declared
    return f"{declared}; charset=utf-8"


def named_origins(page: Capture) -> frozenset[str]:
    """Of the scripts that a page names itself and waits for."""
    origins = set()
    for count, tag in enumerate(_SCRIPT_TAG.finditer(page.body)):
        address = _ADDRESS.search(tag[1])
        is_script = tag[0][1:7].lower() == b"script"
        is_module = bool(_MODULE.search(tag[1]))
        if (
            count >= _MOST_TAGS
            or address is None
            or not (is_module if not is_script else is_module or not _LATER.search(tag[1]))
        ):
            continue
        try:
            origins.add(Url.parse(address[1].decode("ascii", "replace"), base=page.url).origin)
        except UrlError:
            continue
    return frozenset(origins)
