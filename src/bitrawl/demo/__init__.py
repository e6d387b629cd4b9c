"""A small web that we wrote ourselves, with known pairs, for the demo, for tests and to try things out.

    async with serve() as served:                     # 127.0.0.1, by virtual host, and as a proxy
        ...                                           # crawl seeds() through served.proxy, compare with truth()

docs/reference/bundled-web.md lists its conventions.
"""

from collections.abc import Sequence
from typing import Any

from bitrawl.demo.web import LOOPBACK, DemoDocument, DemoVisit, Served, TruePair, Web, bundled, serve
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
    "described",
    "duplicates",
    "hosts",
    "pages",
    "route",
    "seeds",
    "serve",
    "truth",
]


ONE_SITE = [["harbour-museum.test", "musee-du-port.test"]]  # one publisher with two domains


def described(langs: Sequence[str], port: int) -> dict[str, Any]:
    """A job on this web, as in a job file. It is impatient, since nobody else uses this web, and reaches nothing but it."""
    return {
        "langs": list(langs),
        "seeds": [str(url) for url in seeds()],
        "politeness": {"delay": 0.0},
        "scope": {"one_site": ONE_SITE},
        **route(port),
    }


def route(port: int) -> dict[str, Any]:
    """Where a job finds this web. What a route names may be on this machine: `allow_private` stays off."""
    return {"fetch": {"connect_to": {"*.test": f"{LOOPBACK}:{port}"}}}


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
