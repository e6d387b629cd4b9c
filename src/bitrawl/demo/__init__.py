"""A small web that we wrote ourselves, with known pairs, for the demo, for tests and to try things out.

    async with serve() as served:                     # 127.0.0.1, by virtual host, and as a proxy
        ...                                           # crawl seeds() through served.proxy, compare with truth()

docs/reference/bundled-web.md lists its conventions.
"""

from bitrawl.demo.loopback import LOOPBACK, DemoVisit, Served, serve
from bitrawl.demo.web import DemoDocument, TruePair, Web, bundled
from bitrawl.model import Language
from bitrawl.url import Url

__all__ = [
    "LOOPBACK",
    "DemoDocument",
    "DemoVisit",
    "Served",
    "TruePair",
    "Web",
    "bundled",
    "duplicates",
    "hosts",
    "pages",
    "seeds",
    "serve",
    "truth",
]


def truth() -> list[TruePair]:
    """The true pairs of all language pairs, each page once per pair. Duplicates are not listed."""
    return list(bundled().truth)


def hosts() -> list[str]:
    """All hosts end in .test. The hub's host comes first."""
    return list(bundled().hosts)


def seeds() -> list[Url]:
    """The hub, then the start page of every host."""
    return list(bundled().seeds)


def pages() -> dict[Url, Language]:
    """Every page that a well-behaved crawler reaches from the seeds, and the language of its text."""
    return dict(bundled().pages)


def duplicates() -> dict[Url, Url]:
    """Print versions, second URLs and untranslated pages, each with the page that it repeats."""
    return dict(bundled().duplicates)
