"""A small web that we wrote ourselves, with known pairs: for the demo, the tests and the curious.

    async with serve() as served:                     # 127.0.0.1, by virtual host, and as a proxy
        ...                                           # crawl seeds() through served.proxy, compare with truth()

Its conventions are listed in docs/reference/bundled-web.md.
"""

from bitrawl.demo.server import LOOPBACK, Served, Visit, serve
from bitrawl.demo.web import Document, TruePair, Web, bundled
from bitrawl.model import Language
from bitrawl.url import Url

__all__ = [
    "LOOPBACK",
    "Document",
    "Served",
    "TruePair",
    "Visit",
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
    """The true pairs of all language pairs, each page once for a pair; duplicates are not listed."""
    return list(bundled().truth)


def hosts() -> list[str]:
    """All under .test; the hub's first."""
    return list(bundled().hosts)


def seeds() -> list[Url]:
    """The hub, then the front door of every host."""
    return list(bundled().seeds)


def pages() -> dict[Url, Language]:
    """Every page that a well-behaved crawler reaches from the seeds, and the language that its text is in."""
    return dict(bundled().pages)


def duplicates() -> dict[Url, Url]:
    """Print versions, second addresses and untranslated pages, with the page that each repeats."""
    return dict(bundled().duplicates)
