"""What detectors return: a number between 0 and 1 for two pages, by method."""

from collections.abc import Mapping
from typing import Protocol

from bitrawl.model import Language, Method
from bitrawl.pair.site import Site

PageNumbers = tuple[int, int]
"""Two pages of a site by their numbers, the smaller first."""

Evidence = dict[PageNumbers, float]


ALL = frozenset(Method)

METHODS_OF: Mapping[str, frozenset[Method]] = {
    "declared": frozenset({Method.DECLARED}),
    "url": frozenset({Method.URL}),
    "images": frozenset({Method.IMAGES, Method.IMAGES_AND_DIGITS}),
    "digits": frozenset({Method.DIGITS, Method.IMAGES_AND_DIGITS}),
    "structure": frozenset({Method.HIGH, Method.MEDIUM, Method.LOW}),
    "kept": frozenset({Method.CONTENT}),
    "parents": frozenset({Method.PARENTS}),
    "mutual": frozenset({Method.MUTUAL}),
    "bridge": frozenset({Method.BRIDGE}),
}
"""What is measured, and the methods that need it."""


class Known:
    """The pairs that are certain so far. Some detectors learn from them."""

    def __init__(self, pairs: Mapping[PageNumbers, float] | None = None, site: Site | None = None) -> None:
        self.pairs = dict(pairs or {})
        self.partners: dict[int, dict[Language, int]] = {}
        if site is not None:
            for a, b in self.pairs:
                self.partners.setdefault(a, {})[site.summaries[b].language] = b
                self.partners.setdefault(b, {})[site.summaries[a].language] = a

    def __bool__(self) -> bool:
        return bool(self.pairs)


class Detector(Protocol):
    """One method. It turns the pages of a site, and the pairs that are certain so far, into evidence."""

    def propose(self, site: Site, known: Known) -> Evidence:
        """Pairs of pages in two languages, each with a number above 0. Never all pairs of a site."""
        ...


def page_numbers(a: int, b: int) -> PageNumbers:
    """The two numbers in the order that evidence uses."""
    return (a, b) if a < b else (b, a)
