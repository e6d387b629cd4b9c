"""What detectors say: a number between 0 and 1 for two pages, under the letter of the method."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from bitrawl.model import Language
from bitrawl.pair.site import Site

Pair = tuple[int, int]
"""Two sheets of a site by their numbers, the smaller first."""

Evidence = dict[Pair, float]


class Method(StrEnum):
    """The letters that ILSP-FC's users know, and three of ours (c, t and those after them)."""

    DECLARED = "a"
    URL = "u"
    IMAGES_AND_DIGITS = "p"
    DIGITS = "d"
    IMAGES = "i"
    HIGH = "h"  # structure
    MEDIUM = "m"
    LOW = "l"
    CONTENT = "c"
    PARENTS = "t"
    MUTUAL = "r"
    BRIDGE = "b"


ALL = frozenset(Method)


class Known:
    """The pairs that are held for certain so far: what detectors that learn from pairs learn from."""

    def __init__(self, pairs: Mapping[Pair, float] | None = None, site: Site | None = None) -> None:
        self.pairs = dict(pairs or {})
        self.partners: dict[int, dict[Language, int]] = {}
        if site is not None:
            for a, b in self.pairs:
                self.partners.setdefault(a, {})[site.sheets[b].language] = b
                self.partners.setdefault(b, {})[site.sheets[a].language] = a

    def __bool__(self) -> bool:
        return bool(self.pairs)


class Detector(Protocol):
    """One method: from the pages of a site, and the pairs that are certain by now, to evidence."""

    def propose(self, site: Site, known: Known) -> Evidence:
        """Pairs of pages in two languages, each with a number above 0; never all pairs of a site."""
        ...


def pair_of(a: int, b: int) -> Pair:
    """In the order that evidence is kept in."""
    return (a, b) if a < b else (b, a)
